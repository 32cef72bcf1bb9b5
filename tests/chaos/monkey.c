/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong, see monkey.h. */
#include "chaos/monkey.h"

#include "lib/test.h"

#define MS INT64_C(1000000)
/* So long a fault waits for something to hit. */
#define WORK_NS_MAX (2000 * MS)
/* What a fault has disturbed is well again after so many leases. */
#define AFTERMATH_LEASES 3

static const char *const names[MISCHIEF_COUNT] = {
    [MISCHIEF_KILL] = "killed",
    [MISCHIEF_STOP] = "stopped and started",
    [MISCHIEF_PAUSE] = "paused past the lease",
    [MISCHIEF_HALF] = "paused with half of a request sent",
    [MISCHIEF_MUTE] = "answers to the sender without keys lost",
    [MISCHIEF_CUT] = "cut off",
    [MISCHIEF_CLOCK] = "clock set",
    [MISCHIEF_STORE] = "database restarted",
    [MISCHIEF_LOCKS] = "lock service restarted",
    [MISCHIEF_FAILOVER] = "database failed over to its standby",
};

static int64_t between(struct monkey *m, int64_t least, int64_t most)
{
    return least + (int64_t)(test_random(&m->random) % (uint64_t)(most - least + 1));
}

static void rest(struct monkey *m, int64_t span_ns)
{
    (void)!pawl_env_sleep_until(m->env, pawl_env_monotonic_ns(m->env) + span_ns);
}

static void start(struct monkey *m, struct node *node)
{
    if (!node_runs(node) && !node_start(node))
        m->failed_starts++;
}

static bool set_clock(struct monkey *m, struct node *node)
{
    static const int64_t shifts_s[] = {3600, -3600, 0, 86400 * 400};

    return node_set_clock(node, shifts_s[between(m, 0, 3)]);
}

/* Whether it hit: the node had something to send, and stood still in the middle of it. */
static bool halve(struct monkey *m, unsigned number)
{
    struct node *node = &m->nodes[number];
    bool hit = m->halve(m->ctx, number, (size_t)between(m, 200, 12000));

    if (hit) {
        node_pause(node);
        rest(m, m->lease_ns + between(m, 200 * MS, 1000 * MS));
        node_continue(node);
    }
    m->mend(m->ctx, number);
    return hit;
}

/* Until the promotion nodes meet a standby that only reads; afterwards commits go on at once. */
static void fail_over(struct monkey *m)
{
    m->crash_primary(m->ctx);
    rest(m, between(m, 0, 800 * MS));
    m->promote_standby(m->ctx);
    m->add_standby(m->ctx);
}

/* Injects one fault; it lasts and ends within the call. Whether it happened. */
static bool inject_fault(struct monkey *m, enum mischief what, unsigned number)
{
    struct node *node = &m->nodes[number];

    switch (what) {
    case MISCHIEF_KILL:
        node_kill(node);
        rest(m, between(m, 0, 400 * MS));
        start(m, node);
        break;
    case MISCHIEF_STOP:
        node_stop(node);
        start(m, node);
        break;
    case MISCHIEF_PAUSE:
        node_pause(node);
        rest(m, m->lease_ns + between(m, 200 * MS, 1000 * MS));
        node_continue(node);
        break;
    case MISCHIEF_HALF:
        return halve(m, number);
    case MISCHIEF_MUTE:
        m->mute(m->ctx, true);
        rest(m, m->lease_ns + between(m, 200 * MS, 1000 * MS));
        m->mute(m->ctx, false);
        break;
    case MISCHIEF_CUT:
        m->cut(m->ctx, number);
        rest(m, m->lease_ns + between(m, 200 * MS, 1000 * MS));
        m->mend(m->ctx, number);
        break;
    case MISCHIEF_CLOCK:
        return set_clock(m, node);
    case MISCHIEF_STORE:
        m->restart_store(m->ctx);
        break;
    case MISCHIEF_LOCKS:
        m->restart_locks(m->ctx);
        break;
    case MISCHIEF_FAILOVER:
        fail_over(m);
        break;
    case MISCHIEF_COUNT:
        return false;
    }
    return true;
}

static bool can(const struct monkey *m, enum mischief what)
{
    switch (what) {
    case MISCHIEF_HALF:
        return m->halve != NULL;
    case MISCHIEF_MUTE:
        return m->mute != NULL;
    case MISCHIEF_CUT:
        return m->cut != NULL;
    case MISCHIEF_STORE:
        return m->restart_store != NULL;
    case MISCHIEF_LOCKS:
        return m->restart_locks != NULL;
    case MISCHIEF_FAILOVER:
        return m->crash_primary != NULL;
    case MISCHIEF_CLOCK:
        return m->nodes[0].clock[0] != '\0';
    case MISCHIEF_KILL:
    case MISCHIEF_STOP:
    case MISCHIEF_PAUSE:
    case MISCHIEF_COUNT:
        return true;
    }
    return true;
}

/* From here on it is not the node's fault; and from the end of it on it is again. */
static void disturb(struct monkey *m, enum mischief what, unsigned number, bool both, bool begins)
{
    bool all = what == MISCHIEF_STORE || what == MISCHIEF_FAILOVER;
    int64_t since_ns = begins ? INT64_MAX : pawl_env_monotonic_ns(m->env);

    for (unsigned n = 0; n < NODES; n++)
        if (all || n == number || (both && n == (number + 1) % NODES))
            m->calm_since_ns[n] = since_ns;
}

bool monkey_left_alone(const struct monkey *m, unsigned node, int64_t span_ns)
{
    int64_t since_ns = m->calm_since_ns[node];

    return since_ns != INT64_MAX && pawl_env_monotonic_ns(m->env) - since_ns > span_ns;
}

static int64_t wall_us(const struct monkey *m)
{
    return pawl_env_wall_ns(m->env) / 1000;
}

static void note_span(struct monkey *m, int64_t from_us)
{
    if (m->span_count == MONKEY_SPANS_MAX)
        return;
    m->spans[m->span_count].from_us = from_us;
    m->spans[m->span_count++].to_us = wall_us(m);
}

bool monkey_has_disturbed(const struct monkey *m, int64_t from_us, int64_t to_us)
{
    const int64_t aftermath_us = AFTERMATH_LEASES * m->lease_ns / 1000;

    if (m->span_count == MONKEY_SPANS_MAX)
        return true; /* not all of them are known */
    for (size_t i = 0; i < m->span_count; i++)
        if (m->spans[i].from_us <= to_us && m->spans[i].to_us + aftermath_us >= from_us)
            return true;
    return false;
}

/* A fault that finds nothing under way shows nothing. */
static void await_work(struct monkey *m)
{
    int64_t until_ns = pawl_env_monotonic_ns(m->env) + WORK_NS_MAX;

    while (!m->is_busy(m->busy_ctx) && pawl_env_monotonic_ns(m->env) < until_ns)
        rest(m, 20 * MS);
}

static bool has_least(const struct monkey *m)
{
    for (int what = 0; what < MISCHIEF_COUNT; what++)
        if (can(m, (enum mischief)what) && m->done[what] < m->least)
            return false;
    return true;
}

void monkey_run(struct monkey *m)
{
    for (unsigned i = 0; !m->enough || !has_least(m); i++) {
        /* All kinds in turn, so that a short run has every one of them. When the time is over only
         * those that are still missing. */
        enum mischief what = (enum mischief)(i % MISCHIEF_COUNT);
        int64_t from_us;
        bool is_busy;
        unsigned number = (unsigned)between(m, 0, NODES - 1);
        unsigned second = (number + 1) % NODES;
        bool both = between(m, 0, 2) == 0;

        if (pawl_env_monotonic_ns(m->env) > m->give_up_ns)
            break;
        if (!can(m, what) || (m->enough && m->done[what] >= m->least))
            continue;
        await_work(m);
        disturb(m, what, number, both, true);
        from_us = wall_us(m);
        is_busy = m->is_busy(m->busy_ctx);
        if (both) /* another one dies at the same time */
            node_kill(&m->nodes[second]);
        if (inject_fault(m, what, number))
            (is_busy ? m->done : m->idle)[what]++;
        for (unsigned n = 0; n < NODES; n++)
            start(m, &m->nodes[n]);
        disturb(m, what, number, both, false);
        note_span(m, from_us);
        rest(m, between(m, 50 * MS, 600 * MS));
    }
    for (unsigned n = 0; n < NODES; n++) {
        node_continue(&m->nodes[n]);
        start(m, &m->nodes[n]);
    }
}

void monkey_report(const struct monkey *m)
{
    for (int what = 0; what < MISCHIEF_COUNT; what++)
        if (m->done[what] + m->idle[what] > 0)
            print_message("# %s: %u times, and %u times while nothing was under way\n", names[what],
                          m->done[what], m->idle[what]);
    assert_int_equal(m->failed_starts, 0);
    for (int what = 0; what < MISCHIEF_COUNT; what++)
        if (can(m, (enum mischief)what) && m->done[what] < m->least)
            fail_msg("%s: %u times; at least %u were asked for", names[what], m->done[what],
                     m->least);
}
