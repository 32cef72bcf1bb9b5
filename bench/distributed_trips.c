/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round trips of single calls, counted by the decorators of store and locks: one thread, nothing
 * beside it but the keeper, whose renewals are left out. Now and then there is one more, when the
 * second is over after which definitions are looked at again: what counts is the middle of all
 * repetitions; beside it stand the averages of each kind.
 */
#include "distributed.h"
#include "member.h"
#include "runtime/node/queue_worker.h"
#include "workloads.h"

#define REPETITIONS 100u
#define RESUME_MAX 2.0
#define MEMBERS 3u

enum what { START, START_KNOWN, RESUME, SEND, DELETE, WHAT_COUNT };

static const char *const names[WHAT_COUNT] = {
    "start, new id", "start, id given", "resume a bookmark", "send, and run it", "delete",
};
static const char *const keys[WHAT_COUNT] = {"start", "start_id_given", "resume", "send", "delete"};

struct counted {
    unsigned count;
    double stores[REPETITIONS], locks[REPETITIONS]; /* round trips of each */
    double store, lock;                             /* the middle ones */
    double by[PAWL_STORE_CALL_COUNT];
    double tries, releases;
};

/* ---- calls --------------------------------------------------------------------------------- */

static void start(struct member *member, const char *definition, const char *id,
                  struct pawl_outcome *out)
{
    const struct pawl_start what = {.definition_id = pawl__str(definition),
                                    .instance_id = pawl__str(id)};
    struct pawl_error err = PAWL_ERROR_INIT;

    bench_need(
        pawl__runtime_start(member->node.runtime, &what, out, bench_later(member->node.env), &err),
        &err, "start");
}

static void find_bookmark(struct member *member, const char *instance_id, char *out, size_t size)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_BOOKMARKS, "instance_id"),
        .value = {.text = pawl__str(instance_id)}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_BOOKMARKS, .conditions = &condition, .condition_count = 1, .limit = 2};
    struct pawl_error err = PAWL_ERROR_INIT;
    const struct pawl_bookmark_row *row;
    struct pawl_rows rows = {0};
    struct pawl_arena arena;

    pawl__arena_init(&arena, &member->node.env->alloc, (size_t)1 << 20);
    bench_need(pawl_store_find(member->node.store, &query, &arena, &rows,
                               bench_later(member->node.env), &err),
               &err, "find");
    if (rows.count != 1)
        bench_fail("W2", "an instance has no bookmark, or several");
    row = rows.rows;
    (void)snprintf(out, size, "%.*s", PAWL_STR_ARG(row->id));
    pawl__arena_release(&arena);
}

static void resume(struct member *member, const char *instance_id, const char *bookmark_id)
{
    const struct pawl_run run = {.bookmark_id = pawl__str(bookmark_id)};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_outcome outcome;

    bench_need(pawl__runtime_run(member->node.runtime, pawl__str(instance_id), &run, &outcome,
                                 bench_later(member->node.env), &err),
               &err, "resume");
    if (outcome.sub_status != PAWL_SUB_FINISHED)
        bench_fail("resume", "the instance did not end");
}

/* One look for work, as a pool does it. What is due at once may be due a moment later by the
 * store's clock; it is waited for outside of what is counted. */
static void send(struct member *member, const char *instance_id)
{
    const struct pawl_stimulus to = {.instance_id = pawl__str(instance_id)};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_sent sent;

    bench_need(pawl__runtime_send_event(member->node.runtime, pawl__str("go"), NULL, &to, &sent,
                                        bench_later(member->node.env), &err),
               &err, "event");
    if (sent.resumed != 1)
        bench_fail("event", "it met no bookmark, or several");
}

static void work_once(struct member *member)
{
    struct pawl_env *env = member->node.env;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_queue_turn turn;
    struct pawl_worked worked;

    bench_need(pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + 2000000), NULL, "sleep");
    if (member->queue)
        bench_need(pawl__queue_worker_begin(member->queue, &turn, bench_later(env), &err), &err,
                   "turn");
    bench_need(pawl__runtime_work(member->node.runtime, 1, &worked, bench_later(env), &err), &err,
               "work");
    if (member->queue)
        pawl__queue_worker_end(member->queue, &turn);
    if (worked.done != 1)
        bench_fail("work", "nothing was due");
}

static void delete_one(struct member *member, const char *instance_id)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    bench_need(pawl__runtime_delete(member->node.runtime, pawl__str(instance_id),
                                    bench_later(member->node.env), &err),
               &err, "delete");
}

/* ---- counting ------------------------------------------------------------------------------ */

static void add(struct counted *counted, const struct member_counts *before,
                const struct member_counts *after)
{
    double all = 0;

    for (int i = 0; i < PAWL_STORE_CALL_COUNT; i++) {
        double trips = (double)(after->store.round_trips[i] - before->store.round_trips[i]);

        if (i == PAWL_STORE_CALL_LEASE || i == PAWL_STORE_CALL_STATUS)
            continue; /* the keeper's */
        counted->by[i] += trips / REPETITIONS;
        all += trips;
    }
    counted->stores[counted->count] = all;
    counted->locks[counted->count++] = (double)member_lock_calls(before, after);
    counted->tries +=
        (double)(after->locks.calls[PAWL_LOCK_CALL_TRY] - before->locks.calls[PAWL_LOCK_CALL_TRY]) /
        REPETITIONS;
    counted->releases += (double)(after->locks.calls[PAWL_LOCK_CALL_RELEASE] -
                                  before->locks.calls[PAWL_LOCK_CALL_RELEASE]) /
                         REPETITIONS;
}

/* What is not counted comes before. */
static void count_one(struct member *member, enum what what, unsigned number, const char *prefix,
                      struct counted *counted)
{
    struct pawl_outcome outcome = {.existed = false};
    struct member_counts before, after;
    char id[64], bookmark[128];

    (void)snprintf(id, sizeof id, "%s-%d-%u", prefix, (int)what, number);
    if (what == RESUME || what == SEND || what == DELETE)
        start(member, "w2", "", &outcome);
    if (what == RESUME)
        find_bookmark(member, outcome.instance_id, bookmark, sizeof bookmark);
    member_look(member, &before);
    if (what == START || what == START_KNOWN)
        start(member, "w1", what == START ? "" : id, &outcome);
    else if (what == RESUME)
        resume(member, outcome.instance_id, bookmark);
    else if (what == DELETE)
        delete_one(member, outcome.instance_id);
    if (what == SEND) {
        send(member, outcome.instance_id);
        work_once(member);
    }
    member_look(member, &after);
    add(counted, &before, &after);
}

static void count(struct member *member, enum what what, const char *prefix,
                  struct counted *counted)
{
    struct counted none = {0};

    /* Connections, statements and definitions are there after the first. */
    count_one(member, what, REPETITIONS, prefix, &none);
    *counted = (struct counted){0};
    for (unsigned i = 0; i < REPETITIONS; i++)
        count_one(member, what, i, prefix, counted);
    counted->store = bench_median(counted->stores, REPETITIONS);
    counted->lock = bench_median(counted->locks, REPETITIONS);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void show(const struct counted *c, const char *name)
{
    (void)printf("  %-18s %3.0f %3.0f %3.0f  ", name, c->store + c->lock, c->store, c->lock);
    for (int i = 0; i < PAWL_STORE_CALL_COUNT; i++)
        if (c->by[i] > 0)
            (void)printf(" %s %.2f", pawl__store_call_name((enum pawl_store_call)i), c->by[i]);
    if (c->tries > 0)
        (void)printf(" | lock %.2f, unlock %.2f", c->tries, c->releases);
    (void)printf("\n");
}

bool distributed_trips(struct ground *ground)
{
    static const char *const how[MEMBERS] = {"no locks", "PostgreSQL's own locks",
                                             "locks of Redis"};
    static const char *const how_keys[MEMBERS] = {"local", "postgres", "redis"};
    const struct pawl_store_options options = {.flags = PAWL_STORE_OPEN_CREATE};
    const char *const uris[MEMBERS] = {NULL, ground->store, ground->lock};
    bool met = true;

    (void)printf("\nround trips per call: all, to the store, to the locks\n");
    (void)fprintf(ground->json, "\n    \"round_trips\": {");
    for (unsigned who = 0; who < MEMBERS; who++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_store *store = NULL;
        struct member member;

        bench_need(pawl__postgres_store_open(ground->env, pawl__str(ground->store), &options,
                                             &store, &err),
                   &err, "store");
        member_open(&member, ground->env, store, true, (enum member_locks)who, uris[who]);
        if (who == 0)
            workloads_publish(&member.node);
        (void)printf("%s\n", how[who]);
        (void)fprintf(ground->json, "%s\n      \"%s\": {", who ? "," : "", how_keys[who]);
        for (int what = 0; what < WHAT_COUNT; what++) {
            struct counted c;

            count(&member, (enum what)what, how_keys[who], &c);
            show(&c, names[what]);
            met &= what != RESUME || who != MEMBER_TICKETS || c.store + c.lock <= RESUME_MAX;
            (void)fprintf(ground->json, "%s\"%s\": %.0f", what ? ", " : "", keys[what],
                          c.store + c.lock);
        }
        (void)fprintf(ground->json, "}");
        member_close(&member);
    }
    (void)printf("  resume with PostgreSQL's own locks: <= %.0f %s\n", RESUME_MAX,
                 met ? "met" : "MISSED");
    (void)fprintf(ground->json, "\n    },");
    return met;
}
