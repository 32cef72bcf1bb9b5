/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker of the simulated cluster, as it hears of leases, claims and commits from the ledger
 * and of answers from clients. It trusts neither runtime nor store:
 *
 *   1. Claims, fences and revisions: a claim is granted to nobody while the owner's lease lives,
 *      each commit is the next revision by the owner under the newest fence.
 *   2. What has ended stays ended, as it ended. What was deleted does not come back.
 *   3. An event is noted by an instance at most once, and only if it was delivered to it.
 *   4. Each tick of cron makes the next one and one start, in order; what may be skipped is what
 * was missed. Each of these starts is one instance, or waits, or is a dead letter.
 *   5. The singleton never runs twice at a time.
 *   6. The end of a child is told to its parent once.
 *   7. A key starts one instance, and every answer names that one.
 *   8. An event starts one instance, with a key or without. No state is written that is none.
 *   9. Work is bounded: an instance is not claimed again and again, an event for one correlation id
 *      is not put aside again and again, a cancelled loop stops soon.
 *  10. A node to which nothing was done keeps its lease.
 * What must hold at the end is in cluster_look.c.
 */
#include "sim/cluster_private.h"

#include "base/error.h"
#include "runtime/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECKER_BYTES_MAX ((size_t)64 << 20)
/* A node may know the store's clock from a second ago. */
#define CLOCK_SLACK_US INT64_C(1100000)
/* Claims of one instance within ten seconds. */
#define WINDOW_US INT64_C(10000000)
#define CLAIMS_MAX 250u
/* Of an event for one correlation id. */
#define PARKED_MAX 5u
/* How long a loop may run after its cancellation was asked for, when nothing else goes wrong. */
#define CANCEL_US_MAX INT64_C(2000000)
/* Nodes that die with a row of work before it is given up (runtime/instance/alone.c). */
#define DEATHS_TO_GIVE_UP 4u

void pawl__cluster_checker_init(struct cluster_checker *checker, struct pawl_env *env,
                                const struct pawl_cluster_options *options,
                                struct pawl_cluster_report *report)
{
    struct pawl_map *maps[] = {&checker->instances, &checker->events, &checker->deliveries,
                               &checker->ticks,     &checker->starts, &checker->dead_starts,
                               &checker->keys,      &checker->nodes,  &checker->directs};

    *checker = (struct cluster_checker){.env = env, .options = options, .report = report};
    pawl__arena_init(&checker->arena, &env->alloc, CHECKER_BYTES_MAX);
    pawl__arena_init(&checker->scratch, &env->alloc, CHECKER_BYTES_MAX);
    pawl__packer_init(&checker->packer, &env->alloc);
    pawl__stored_words(&checker->words);
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        pawl__map_init(maps[i], &env->alloc, (struct pawl_hash_seed){i, 1});
}

void pawl__cluster_checker_release(struct cluster_checker *checker)
{
    pawl__map_release(&checker->instances);
    pawl__map_release(&checker->events);
    pawl__map_release(&checker->deliveries);
    pawl__map_release(&checker->ticks);
    pawl__map_release(&checker->starts);
    pawl__map_release(&checker->dead_starts);
    pawl__map_release(&checker->directs);
    pawl__map_release(&checker->keys);
    pawl__map_release(&checker->nodes);
    pawl__packer_release(&checker->packer);
    pawl__arena_release(&checker->scratch);
    pawl__arena_release(&checker->arena);
}

/* ---- saying ------------------------------------------------------------------------------ */

static void say(struct cluster_checker *checker, const char *who, const char *text)
{
    int64_t now_ns = pawl_env_monotonic_ns(checker->env);
    char line[640];

    if (!checker->options->say)
        return;
    (void)snprintf(line, sizeof line, "%lld.%03lld %s %s", (long long)(now_ns / SECOND_NS),
                   (long long)(now_ns % SECOND_NS / MS_NS), who, text);
    checker->options->say(checker->options->say_ctx, line);
}

void pawl__cluster_say(struct cluster_checker *checker, const char *who, const char *format, ...)
{
    char text[512];
    va_list args;

    if (!checker->options->say)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    say(checker, who, text);
}

void pawl__cluster_violation(struct cluster_checker *checker, const char *format, ...)
{
    char text[sizeof checker->report->violation];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (checker->report->violations++ == 0)
        memcpy(checker->report->violation, text, sizeof text);
    say(checker, "VIOLATION", text);
}

/* ---- what is known ----------------------------------------------------------------------- */

static struct pawl_str keep(struct cluster_checker *checker, struct pawl_str text)
{
    struct pawl_str copy = pawl__arena_str(&checker->arena, text);

    if (!copy.ptr) {
        checker->status = PAWL_ENOMEM;
        copy = pawl__str("");
    }
    return copy;
}

/* The value under a key, made of zeroes when there is none; NULL: no memory. */
static void *learn(struct cluster_checker *checker, struct pawl_map *map, struct pawl_str key,
                   size_t size_bytes, bool *is_new)
{
    void *value = pawl__map_get(map, key);

    *is_new = !value;
    if (value)
        return value;
    value = pawl__arena_alloc_zeroed(&checker->arena, size_bytes);
    if (!value || pawl__map_put(map, keep(checker, key), value) != PAWL_OK) {
        checker->status = PAWL_ENOMEM;
        return NULL;
    }
    return value;
}

static struct known_event *learn_event(struct cluster_checker *checker, struct pawl_str key)
{
    bool is_new;
    struct known_event *event =
        learn(checker, &checker->events, key, sizeof(struct known_event), &is_new);

    if (event && is_new)
        event->key = keep(checker, key);
    return event;
}

/* What stands behind `mark` up to the next quotation mark; ptr NULL: nothing. */
static struct pawl_str behind(struct pawl_str text, const char *mark)
{
    size_t len = strlen(mark);

    for (size_t at = pawl__str_find(text, mark[0], 0); at != SIZE_MAX && at + len <= text.len;
         at = pawl__str_find(text, mark[0], at + 1)) {
        if (memcmp(text.ptr + at, mark, len) == 0) {
            size_t end = pawl__str_find(text, '"', at + len);

            return end == SIZE_MAX ? pawl__str_make(NULL, 0) : pawl__str_slice(text, at + len, end);
        }
    }
    return pawl__str_make(NULL, 0);
}

struct known_event *pawl__cluster_event(struct cluster_checker *checker, struct pawl_str payload)
{
    struct pawl_str key = behind(payload, "\"key\":\"");

    return key.ptr ? pawl__map_get(&checker->events, key) : NULL;
}

static struct pawl_str delivery_key(char *out, size_t size, struct pawl_str instance_id,
                                    const struct known_event *event)
{
    (void)snprintf(out, size, "%.*s %.*s", PAWL_STR_ARG(instance_id), PAWL_STR_ARG(event->key));
    return pawl__str(out);
}

struct delivery *pawl__cluster_delivery(struct cluster_checker *checker,
                                        struct pawl_str instance_id,
                                        const struct known_event *event)
{
    char key[256];

    return pawl__map_get(&checker->deliveries, delivery_key(key, sizeof key, instance_id, event));
}

uint32_t pawl__cluster_noted(struct pawl_str notes, struct pawl_str key)
{
    uint32_t count = 0;

    for (size_t at = pawl__str_find(notes, '<', 0); at != SIZE_MAX;
         at = pawl__str_find(notes, '<', at + 1)) {
        size_t end = pawl__str_find(notes, '>', at);

        count += end != SIZE_MAX && pawl__str_equal(pawl__str_slice(notes, at + 1, end), key);
    }
    return count;
}

/* ---- leases and claims ------------------------------------------------------------------- */

/* Rows that others lock are looked for here: these runs have no other pauses than known ones. */
static void lapsed(struct cluster_checker *checker, const struct pawl_lease *lease)
{
    const struct cluster *cluster = checker->cluster;
    int64_t now_ns = pawl_env_monotonic_ns(checker->env);

    if (!(cluster->features & PAWL_CLUSTER_HALF_SENT) ||
        (cluster->features & PAWL_CLUSTER_NAMESAKES))
        return;
    for (uint32_t i = 0; i < cluster->options.nodes; i++) {
        const struct cluster_node *node = &cluster->nodes[i];

        if (pawl__str_is(lease->node_id, node->name) &&
            node->troubled_ns < now_ns - 2 * CLUSTER_LEASE_NS)
            pawl__cluster_violation(checker, "%s lost its lease though nothing was done to it",
                                    node->name);
    }
}

static void leased(void *ctx, const struct pawl_lease *lease)
{
    struct cluster_checker *checker = ctx;
    bool is_new;
    int64_t *node = learn(checker, &checker->nodes, lease->node_id, 2 * sizeof(int64_t), &is_new);

    if (!node)
        return;
    if (lease->kind == PAWL_LEASE_JOIN) {
        if (lease->incarnation <= checker->newest_incarnation)
            pawl__cluster_violation(checker, "%.*s joined as incarnation %lld after %lld",
                                    PAWL_STR_ARG(lease->node_id), (long long)lease->incarnation,
                                    (long long)checker->newest_incarnation);
        checker->newest_incarnation = node[0] = lease->incarnation;
        pawl__cluster_say(checker, "server", "lets %.*s in as incarnation %lld",
                          PAWL_STR_ARG(lease->node_id), (long long)lease->incarnation);
    }
    if (lease->kind == PAWL_LEASE_RENEW && lease->lapsed)
        lapsed(checker, lease);
    if (lease->incarnation == node[0])
        node[1] = lease->kind == PAWL_LEASE_LEAVE ? 0 : lease->now_us + lease->ttl_us;
}

static bool lives(const struct cluster_checker *checker, int64_t incarnation, int64_t now_us)
{
    struct pawl_map_entry *entry;

    PAWL_MAP_FOR_EACH (entry, &checker->nodes) {
        const int64_t *node = entry->value;

        if (node[0] == incarnation)
            return node[1] > now_us;
    }
    return false;
}

bool pawl__cluster_lives(const struct cluster_checker *checker, int64_t incarnation)
{
    return lives(checker, incarnation, pawl_env_wall_ns(checker->env) / 1000);
}

static void count_claim(struct cluster_checker *checker, struct known_instance *instance,
                        int64_t now_us)
{
    if (now_us - instance->window_us > WINDOW_US) {
        instance->window_us = now_us;
        instance->claims = 0;
    }
    if (++instance->claims == CLAIMS_MAX && instance->flow != FLOW_LOOP)
        pawl__cluster_violation(checker, "%.*s was claimed %u times within ten seconds",
                                PAWL_STR_ARG(instance->id), instance->claims);
}

static void claimed(void *ctx, int64_t owner, const struct pawl_claim *claim, int64_t now_us)
{
    struct cluster_checker *checker = ctx;
    struct known_instance *instance = pawl__map_get(&checker->instances, claim->id);

    pawl__cluster_say(checker, "server", "grants %.*s to %lld, fence %lld, revision %lld",
                      PAWL_STR_ARG(claim->id), (long long)owner, (long long)claim->row.fence,
                      (long long)claim->row.revision);
    if (!instance || instance->deleted) {
        pawl__cluster_violation(checker, "%.*s was granted and is not there",
                                PAWL_STR_ARG(claim->id));
        return;
    }
    if (instance->owner != 0 && instance->owner != owner && lives(checker, instance->owner, now_us))
        pawl__cluster_violation(checker, "%.*s was granted to %lld while its owner %lld lives",
                                PAWL_STR_ARG(claim->id), (long long)owner,
                                (long long)instance->owner);
    if (claim->row.fence <= instance->fence || claim->row.revision != instance->revision)
        pawl__cluster_violation(checker,
                                "%.*s was granted with fence %lld at revision %lld; it "
                                "had %lld and %lld",
                                PAWL_STR_ARG(claim->id), (long long)claim->row.fence,
                                (long long)claim->row.revision, (long long)instance->fence,
                                (long long)instance->revision);
    instance->owner = owner;
    instance->fence = claim->row.fence;
    count_claim(checker, instance, now_us);
}

/* ---- commits: instances ------------------------------------------------------------------ */

static void learn_delivery(struct cluster_checker *checker, struct known_instance *instance,
                           struct known_event *event)
{
    struct delivery *delivery;
    char key[256];
    bool is_new;

    delivery = learn(checker, &checker->deliveries,
                     delivery_key(key, sizeof key, instance->id, event), sizeof *delivery, &is_new);
    if (!delivery || !is_new)
        return;
    *delivery = (struct delivery){.instance = instance, .event = event};
    event->matched++;
    checker->report->delivered++;
}

static size_t count_notes(struct pawl_str more)
{
    size_t count = 0;

    for (size_t at = pawl__str_find(more, '<', 0); at != SIZE_MAX;
         at = pawl__str_find(more, '<', at + 1))
        count++;
    return count;
}

/* What an instance notes in a commit that delivers without a row is what it was sent. */
static void learn_noted(struct cluster_checker *checker, struct known_instance *instance,
                        struct pawl_str more)
{
    size_t at = pawl__str_find(more, '<', 0), end = pawl__str_find(more, '>', 0);
    struct known_event *event;

    if (at == SIZE_MAX || end == SIZE_MAX || end < at)
        return;
    event = pawl__map_get(&checker->events, pawl__str_slice(more, at + 1, end));
    if (!event)
        return;
    event->reserved = true;
    learn_delivery(checker, instance, event);
    checker->report->direct++;
}

/* Each key once, and only what was delivered. */
static void check_notes(struct cluster_checker *checker, const struct known_instance *instance)
{
    struct pawl_str notes = instance->notes;

    for (size_t at = pawl__str_find(notes, '<', 0); at != SIZE_MAX;
         at = pawl__str_find(notes, '<', at + 1)) {
        size_t end = pawl__str_find(notes, '>', at);
        struct pawl_str key = pawl__str_slice(notes, at + 1, end == SIZE_MAX ? notes.len : end);
        const struct known_event *event = pawl__map_get(&checker->events, key);

        if (!event || !pawl__cluster_delivery(checker, instance->id, event))
            pawl__cluster_violation(checker, "%.*s noted event %.*s, which was not delivered to it",
                                    PAWL_STR_ARG(instance->id), PAWL_STR_ARG(key));
        if (pawl__cluster_noted(notes, key) > 1)
            pawl__cluster_violation(checker, "%.*s noted event %.*s twice",
                                    PAWL_STR_ARG(instance->id), PAWL_STR_ARG(key));
    }
}

/* An event that starts instances starts one. */
static void check_birth(struct cluster_checker *checker, struct known_instance *instance)
{
    struct pawl_str key = pawl__str_slice(instance->notes, 1, instance->notes.len - 1);
    struct known_event *event = pawl__map_get(&checker->events, key);

    if (!event) {
        pawl__cluster_violation(checker, "%.*s was started by %.*s, which nobody sent",
                                PAWL_STR_ARG(instance->id), PAWL_STR_ARG(key));
        return;
    }
    checker->report->births += !event->birth;
    if (event->birth && event->birth != instance)
        pawl__cluster_violation(checker, "event %.*s started %.*s and %.*s", PAWL_STR_ARG(key),
                                PAWL_STR_ARG(event->birth->id), PAWL_STR_ARG(instance->id));
    event->birth = instance;
}

static void read_notes(struct cluster_checker *checker, struct known_instance *instance,
                       struct pawl_str state)
{
    struct pawl_str text = {NULL, 0}, notes;
    struct pawl_json json;

    pawl__arena_reset(&checker->scratch);
    if (pawl__stored_json(&checker->packer, &checker->words, &checker->scratch, state, &json,
                          NULL) == PAWL_OK)
        text = pawl__runtime_json_text(&checker->scratch, &json);
    if (!text.ptr) {
        pawl__cluster_violation(checker, "%.*s has a state that cannot be read",
                                PAWL_STR_ARG(instance->id));
        return;
    }
    if (pawl__str_is(text, "null"))
        pawl__cluster_violation(checker, "%.*s was written without a state",
                                PAWL_STR_ARG(instance->id));
    notes = behind(text, "\"notes\":\"");
    instance->owes_note = instance->owes_note || checker->is_direct;
    if (!notes.ptr || pawl__str_equal(notes, instance->notes))
        return;
    if (!pawl__str_starts(notes, instance->notes))
        pawl__cluster_violation(checker, "%.*s noted \"%.*s\" after \"%.*s\"",
                                PAWL_STR_ARG(instance->id), PAWL_STR_ARG(notes),
                                PAWL_STR_ARG(instance->notes));
    if (notes.len > instance->notes.len) {
        struct pawl_str more = pawl__str_slice(notes, instance->notes.len, notes.len);

        if (instance->owes_note)
            learn_noted(checker, instance, more);
        instance->owes_note = false;
        if (count_notes(more) > 1)
            checker->report->folds++;
    }
    instance->notes = keep(checker, notes);
    if (instance->flow == FLOW_COUNTER || instance->flow == FLOW_ONCE ||
        instance->flow == FLOW_ORDER)
        check_notes(checker, instance);
    if (instance->flow == FLOW_BIRTH)
        check_birth(checker, instance);
    checker->report->orders += instance->flow == FLOW_ORDER;
    checker->report->answers += instance->flow == FLOW_HTTP;
}

static void check_single(struct cluster_checker *checker, struct known_instance *instance)
{
    bool runs = !instance->finished && !instance->deleted;

    if (instance->flow != FLOW_SINGLE)
        return;
    if (runs && checker->single && checker->single != instance)
        pawl__cluster_violation(checker, "the singleton runs as %.*s and as %.*s",
                                PAWL_STR_ARG(checker->single->id), PAWL_STR_ARG(instance->id));
    if (runs)
        checker->single = instance;
    else if (checker->single == instance)
        checker->single = NULL;
}

static void asked_to_end(struct cluster_checker *checker, struct known_instance *instance)
{
    instance->cancelled = true;
    if (instance->cancel_us == 0)
        instance->cancel_us = pawl_env_wall_ns(checker->env) / 1000;
}

/* Loops are cancelled when nothing else goes wrong any more. */
static void check_cancel(struct cluster_checker *checker, const struct known_instance *instance)
{
    int64_t late_us = pawl_env_wall_ns(checker->env) / 1000 - instance->cancel_us;

    if (instance->flow != FLOW_LOOP || instance->cancel_us == 0)
        return;
    checker->report->loops += instance->finished;
    if (late_us > CANCEL_US_MAX)
        pawl__cluster_violation(checker, "%.*s ran for %lld ms after it was to be cancelled",
                                PAWL_STR_ARG(instance->id), (long long)(late_us / 1000));
}

/* What a commit made of an instance. */
static void moved(struct cluster_checker *checker, struct known_instance *instance,
                  const struct pawl_commit *commit)
{
    const struct pawl_instance_row *row = commit->instance;

    if (commit->flags & PAWL_COMMIT_RELEASE)
        instance->owner = 0;
    if ((commit->flags & PAWL_COMMIT_KEEP) && !(commit->flags & PAWL_COMMIT_END))
        return;
    if (instance->finished && !pawl__str_equal(row->sub_status, instance->sub_status))
        pawl__cluster_violation(checker, "%.*s had ended as %.*s and became %.*s",
                                PAWL_STR_ARG(instance->id), PAWL_STR_ARG(instance->sub_status),
                                PAWL_STR_ARG(row->sub_status));
    instance->finished = pawl__str_is(row->status, "Finished");
    instance->cancelled |= pawl__str_is(row->sub_status, "Cancelled");
    instance->sub_status = keep(checker, row->sub_status);
    if (row->incident_count > 0 && !instance->bereft)
        pawl__cluster_violation(checker, "%.*s has an incident", PAWL_STR_ARG(instance->id));
    if (!(commit->flags & PAWL_COMMIT_KEEP))
        read_notes(checker, instance, row->state);
    else if (!instance->cancelled || instance->cancel_us == 0)
        pawl__cluster_violation(checker, "%.*s was ended without its state and nobody asked for it",
                                PAWL_STR_ARG(instance->id));
    checker->report->ended_beside += (commit->flags & PAWL_COMMIT_END) != 0;
    check_single(checker, instance);
    check_cancel(checker, instance);
}

static struct known_instance *created(struct cluster_checker *checker,
                                      const struct pawl_commit *commit)
{
    const struct pawl_instance_row *row = commit->instance;
    struct known_instance *instance;
    bool is_new;

    PAWL_ASSERT(row);
    instance = learn(checker, &checker->instances, row->id, sizeof *instance, &is_new);

    if (!instance)
        return NULL;
    if (!is_new)
        pawl__cluster_violation(checker, "%.*s was created %s", PAWL_STR_ARG(row->id),
                                instance->deleted ? "after it was deleted" : "twice");
    checker->report->instances++;
    instance->id = keep(checker, row->id);
    instance->parent_id = keep(checker, row->parent_id);
    instance->flow = pawl__flow_by_id(row->definition_id);
    instance->notes = instance->sub_status = pawl__str("");
    instance->created_us = row->created_us;
    instance->owner = row->owner;
    instance->fence = instance->revision = 1;
    checker->report->singles += instance->flow == FLOW_SINGLE;
    moved(checker, instance, commit);
    return instance;
}

/* Of a visit: claimed by the commit, of nobody. */
static void visited(struct cluster_checker *checker, struct known_instance *instance,
                    const struct pawl_instance_row *row)
{
    checker->report->visited++;
    if (instance->owner != 0 || row->fence <= instance->fence)
        pawl__cluster_violation(checker,
                                "%.*s was visited by %lld with fence %lld; it is %lld's under %lld",
                                PAWL_STR_ARG(row->id), (long long)row->owner, (long long)row->fence,
                                (long long)instance->owner, (long long)instance->fence);
    instance->owner = row->owner;
    instance->fence = row->fence;
}

static void advanced(struct cluster_checker *checker, const struct pawl_commit *commit)
{
    const struct pawl_instance_row *row = commit->instance;
    struct known_instance *instance;

    PAWL_ASSERT(row);
    instance = pawl__map_get(&checker->instances, row->id);

    if (!instance || instance->deleted) {
        pawl__cluster_violation(checker, "%.*s was written and is not there",
                                PAWL_STR_ARG(row->id));
        return;
    }
    if (commit->flags & PAWL_COMMIT_VISITED)
        visited(checker, instance, row);
    if (row->owner != instance->owner || row->fence != instance->fence ||
        row->revision != instance->revision)
        pawl__cluster_violation(
            checker,
            "%.*s was written by %lld under fence %lld after revision %lld; it is %lld's "
            "under %lld at %lld",
            PAWL_STR_ARG(row->id), (long long)row->owner, (long long)row->fence,
            (long long)row->revision, (long long)instance->owner, (long long)instance->fence,
            (long long)instance->revision);
    instance->revision++;
    if (commit->kind == PAWL_COMMIT_DELETE) {
        instance->deleted = true;
        check_single(checker, instance);
    } else {
        moved(checker, instance, commit);
    }
}

/* ---- commits: work ----------------------------------------------------------------------- */

/* A tick that was put off stands for the same minute. */
static void learn_tick(struct cluster_checker *checker, const struct pawl_work_row *row,
                       int64_t tick_us)
{
    bool is_new;
    struct known_work *work = learn(checker, &checker->ticks, row->id, sizeof *work, &is_new);

    if (!work)
        return;
    work->id = keep(checker, row->id);
    work->tick_us = tick_us;
}

static void check_next_tick(struct cluster_checker *checker, int64_t tick_us, int64_t next_us)
{
    int64_t now_us = pawl_env_wall_ns(checker->env) / 1000;
    int64_t late_us = now_us - now_us % MINUTE_US + MINUTE_US;

    if (next_us <= tick_us)
        pawl__cluster_violation(checker, "the tick after %lld is %lld", (long long)tick_us,
                                (long long)next_us);
    if (next_us > tick_us + MINUTE_US && next_us > late_us + CLOCK_SLACK_US)
        pawl__cluster_violation(checker, "the tick after %lld is %lld: it skips some",
                                (long long)tick_us, (long long)next_us);
}

/* The row of this kind that a commit keeps; NULL: none. */
static const struct pawl_work_row *kept_work(const struct pawl_commit *commit, const char *kind)
{
    for (size_t i = 0; i < commit->change_count; i++) {
        const struct pawl_change *change = &commit->changes[i];
        const struct pawl_work_row *row = change->row;

        if (change->table == PAWL_TABLE_WORK && change->kind != PAWL_CHANGE_DELETE &&
            change->kind != PAWL_CHANGE_DELETE_OWNED && pawl__str_is(row->kind, kind))
            return row;
    }
    return NULL;
}

static const struct pawl_dead_letter_row *kept_letter(const struct pawl_commit *commit)
{
    for (size_t i = 0; i < commit->change_count; i++) {
        const struct pawl_change *change = &commit->changes[i];

        if (change->table == PAWL_TABLE_DEAD_LETTERS && change->kind != PAWL_CHANGE_DELETE)
            return change->row;
    }
    return NULL;
}

static void learn_start(struct cluster_checker *checker, struct pawl_map *map, struct pawl_str id)
{
    bool is_new;
    struct known_work *work = learn(checker, map, id, sizeof *work, &is_new);

    if (work)
        work->id = keep(checker, id);
}

/* A tick that a commit ends makes the next one and a start, or goes on under another id. */
static void ticked(struct cluster_checker *checker, const struct pawl_commit *commit,
                   struct pawl_str done_id)
{
    const struct known_work *tick = pawl__map_remove(&checker->ticks, done_id);
    const struct pawl_work_row *next = kept_work(commit, "tick");
    const struct pawl_work_row *start = kept_work(commit, "start");

    if (!tick)
        return;
    if (!next) {
        pawl__cluster_violation(checker, "a tick ended without a next one");
    } else if (!start) {
        learn_tick(checker, next, tick->tick_us);
    } else {
        checker->report->ticks++;
        if (tick->tick_us <= checker->last_tick_us)
            pawl__cluster_violation(checker, "the tick of %lld came after that of %lld",
                                    (long long)tick->tick_us, (long long)checker->last_tick_us);
        checker->last_tick_us = tick->tick_us;
        check_next_tick(checker, tick->tick_us, next->due_us);
        learn_tick(checker, next, next->due_us);
        learn_start(checker, &checker->starts, start->id);
    }
}

/* The start that a tick made: an instance, the same start later, or a dead letter. */
static void started(struct cluster_checker *checker, const struct pawl_commit *commit,
                    struct pawl_str done_id)
{
    const struct pawl_dead_letter_row *letter = kept_letter(commit);
    const struct pawl_work_row *again = kept_work(commit, "start");

    if (!pawl__map_remove(&checker->starts, done_id))
        return;
    if (commit->kind == PAWL_COMMIT_CREATE)
        checker->report->tick_starts++;
    else if (again)
        learn_start(checker, &checker->starts, again->id);
    else if (letter)
        learn_start(checker, &checker->dead_starts, letter->id);
    else
        pawl__cluster_violation(checker, "the start %.*s of a tick ended without an instance",
                                PAWL_STR_ARG(done_id));
}

bool pawl__cluster_killed_nodes(const struct pawl_dead_letter_row *letter)
{
    static const char words[] = " nodes in a row died while they did ";

    return memmem(letter->error.ptr, letter->error.len, words, sizeof words - 1) != NULL;
}

/* Nodes die at random, now and then as many in a row as it takes for work to be given up. */
static void given_up(struct cluster_checker *checker, const struct pawl_commit *commit)
{
    const struct pawl_dead_letter_row *letter = kept_letter(commit);
    const struct pawl_work_row *feed = kept_work(commit, "feed");
    struct known_instance *parent;

    if (!letter || !pawl__cluster_killed_nodes(letter))
        return;
    if (checker->report->crashes + checker->report->pauses + checker->report->outages <
        DEATHS_TO_GIVE_UP)
        pawl__cluster_violation(checker, "%.*s was given up, and too few nodes have died",
                                PAWL_STR_ARG(letter->work_id));
    parent = feed ? pawl__map_get(&checker->instances, feed->instance_id) : NULL;
    if (parent)
        parent->bereft = true;
}

/* A dead letter that an operator makes work again. */
static void replayed(struct cluster_checker *checker, const struct pawl_commit *commit)
{
    const struct pawl_dead_letter_row *letter = kept_letter(commit);
    const struct pawl_work_row *again = kept_work(commit, "start");

    if (commit->done_count == 0 && letter && letter->replayed_us != 0 && again &&
        pawl__map_remove(&checker->dead_starts, letter->id))
        learn_start(checker, &checker->starts, again->id);
}

static bool ends_start(const struct cluster_checker *checker, const struct pawl_commit *commit)
{
    for (size_t i = 0; i < commit->done_count; i++)
        if (pawl__map_has(&checker->starts, commit->done[i]))
            return true;
    return false;
}

static void delivered(struct cluster_checker *checker, const struct pawl_work_row *row)
{
    struct known_event *event = pawl__cluster_event(checker, row->payload);
    struct known_instance *instance = pawl__map_get(&checker->instances, row->instance_id);

    if (event)
        event->reserved = true;
    if (event && instance)
        learn_delivery(checker, instance, event);
}

/* A trigger. */
static void matched(struct known_event *event)
{
    event->reserved = true;
    event->matched++;
}

static void stored(struct cluster_checker *checker, const struct pawl_work_row *row)
{
    struct known_event *event = pawl__cluster_event(checker, row->payload);

    if (!event)
        return;
    event->reserved = true;
    if (row->due_us == PAWL_TIME_NEVER && ++event->parked == PARKED_MAX + 1 &&
        row->correlation_id.len > 0)
        pawl__cluster_violation(checker, "event %.*s was put aside %u times",
                                PAWL_STR_ARG(event->key), event->parked);
}

static void told_parent(struct cluster_checker *checker, const struct pawl_commit *commit,
                        const struct pawl_work_row *row)
{
    struct pawl_str child = pawl__str_slice(row->id, 0, pawl__str_find(row->id, '/', 0));
    struct known_instance *instance = pawl__map_get(&checker->instances, child);

    /* Others put it off, or try again. */
    if (!commit->instance || !pawl__str_equal(commit->instance->id, child))
        return;

    checker->report->children++;
    if (!instance)
        pawl__cluster_violation(checker, "a child that is not there has ended");
    else if (instance->child_ends++ > 0)
        pawl__cluster_violation(checker, "the end of %.*s was told twice", PAWL_STR_ARG(child));
}

static void reserved(struct cluster_checker *checker, const struct pawl_commit *commit,
                     const struct pawl_reservation_row *row)
{
    struct known_event *event;
    struct pawl_str key;

    if (pawl__str_starts(row->key, pawl__str("stimulus:"))) {
        event = learn_event(checker, pawl__str_slice(row->key, 9, row->key.len));
        if (event)
            event->reserved = true;
    } else if (pawl__str_starts(row->key, pawl__str("start:"))) {
        key = pawl__str_slice(row->key, 6, row->key.len);
        PAWL_ASSERT(commit->instance);
        if (pawl__map_has(&checker->keys, key))
            pawl__cluster_violation(checker, "key %.*s started two instances", PAWL_STR_ARG(key));
        else if (pawl__map_put(&checker->keys, keep(checker, key),
                               pawl__map_get(&checker->instances, commit->instance->id)) != PAWL_OK)
            checker->status = PAWL_ENOMEM;
    }
}

/* What is replayed later is put aside anew. */
static void died(struct cluster_checker *checker, const struct pawl_dead_letter_row *row)
{
    struct known_event *event = pawl__cluster_event(checker, row->payload);

    checker->report->dead++;
    if (event)
        event->parked = 0;
    pawl__cluster_say(checker, "server", "keeps the dead letter %.*s %.*s of %.*s: %.*s",
                      PAWL_STR_ARG(row->kind), PAWL_STR_ARG(row->id),
                      PAWL_STR_ARG(row->instance_id), PAWL_STR_ARG(row->error));
}

static void changed(struct cluster_checker *checker, const struct pawl_commit *commit,
                    const struct pawl_change *change)
{
    const struct pawl_work_row *work = change->row;

    if (change->kind == PAWL_CHANGE_DELETE || change->kind == PAWL_CHANGE_DELETE_OWNED)
        return;
    if (change->table == PAWL_TABLE_RESERVATIONS) {
        reserved(checker, commit, change->row);
    } else if (change->table == PAWL_TABLE_DEAD_LETTERS) {
        died(checker, change->row);
    } else if (change->table == PAWL_TABLE_WORK) {
        struct known_event *event;

        pawl__cluster_say(checker, "server", "keeps %.*s %.*s for %.*s, due %lld, owner %lld",
                          PAWL_STR_ARG(work->kind), PAWL_STR_ARG(work->id),
                          PAWL_STR_ARG(work->instance_id), (long long)work->due_us,
                          (long long)work->owner);
        if (pawl__str_is(work->kind, "stimulus"))
            stored(checker, work);
        else if (pawl__str_is(work->kind, "resume"))
            delivered(checker, work);
        else if (pawl__str_is(work->kind, "child"))
            told_parent(checker, commit, work);
        else if (pawl__str_is(work->kind, "start") &&
                 (event = pawl__cluster_event(checker, work->payload)) != NULL)
            matched(event);
        else if (pawl__str_is(work->kind, "tick") && commit->done_count == 0)
            learn_tick(checker, work, work->due_us); /* the first, by publishing */
    }
}

/* Whether a commit of an instance holds what was sent to it and never was a row. Learns its id and,
 * if it has one, its key. */
static bool is_direct(struct cluster_checker *checker, const struct pawl_commit *commit)
{
    static const struct pawl_str prefix = PAWL_STR_LIT("commit:");
    bool found = false;

    for (size_t i = 0; i < commit->change_count && commit->kind == PAWL_COMMIT_ADVANCE; i++) {
        const struct pawl_reservation_row *row = commit->changes[i].row;
        struct known_event *event;

        if (commit->changes[i].table != PAWL_TABLE_RESERVATIONS ||
            commit->changes[i].kind != PAWL_CHANGE_INSERT)
            continue;
        if (pawl__str_is(row->value, "direct") && pawl__str_starts(row->key, prefix)) {
            found = true;
            if (pawl__map_put(&checker->directs,
                              keep(checker, pawl__str_slice(row->key, prefix.len, row->key.len)),
                              checker) != PAWL_OK)
                checker->status = PAWL_ENOMEM;
        } else if (pawl__str_starts(row->key, pawl__str("stimulus:"))) {
            event = learn_event(checker, pawl__str_slice(row->key, 9, row->key.len));
            if (event)
                event->matched++;
        }
    }
    return found;
}

static void applied(void *ctx, const struct pawl_commit *commit)
{
    struct cluster_checker *checker = ctx;
    const struct pawl_instance_row *row = commit->instance;
    bool is_tick = ends_start(checker, commit);

    checker->is_direct = is_direct(checker, commit);
    checker->report->commits++;
    if (row)
        pawl__cluster_say(checker, "server", "applies %d to %.*s, fence %lld, after %lld: %.*s%s",
                          (int)commit->kind, PAWL_STR_ARG(row->id), (long long)row->fence,
                          (long long)row->revision, PAWL_STR_ARG(row->sub_status),
                          commit->flags & PAWL_COMMIT_RELEASE ? ", released" : "");
    /* Before what the instance notes: it may be of the same commit. */
    for (size_t i = 0; i < commit->done_count; i++) {
        pawl__cluster_say(checker, "server", "ends %.*s", PAWL_STR_ARG(commit->done[i]));
        ticked(checker, commit, commit->done[i]);
        started(checker, commit, commit->done[i]);
    }
    replayed(checker, commit);
    given_up(checker, commit);
    PAWL_ASSERT(row || commit->kind == PAWL_COMMIT_PLAIN);
    if (commit->kind == PAWL_COMMIT_CREATE && row && !is_tick &&
        pawl__flow_by_id(row->definition_id) == FLOW_CRON)
        pawl__cluster_violation(checker, "%.*s was started by a tick that had started one",
                                PAWL_STR_ARG(row->id));
    if (commit->kind == PAWL_COMMIT_CREATE)
        (void)created(checker, commit);
    else if (commit->kind == PAWL_COMMIT_ADVANCE || commit->kind == PAWL_COMMIT_DELETE)
        advanced(checker, commit);
    else if (commit->kind == PAWL_COMMIT_CANCEL && row &&
             pawl__map_has(&checker->instances, row->id))
        asked_to_end(checker, pawl__map_get(&checker->instances, row->id));
    for (size_t i = 0; i < commit->change_count; i++)
        changed(checker, commit, &commit->changes[i]);
}

/* A claim or a take that no commit had followed. Its fence may be granted again, to anybody. */
static void forgotten(void *ctx, enum pawl_table table, struct pawl_str id, int64_t owner,
                      int64_t fence)
{
    struct cluster_checker *checker = ctx;
    struct known_instance *instance =
        table == PAWL_TABLE_INSTANCES ? pawl__map_get(&checker->instances, id) : NULL;

    checker->report->forgotten++;
    pawl__cluster_say(checker, "server", "forgets who has %.*s: %lld has it, fence %lld",
                      PAWL_STR_ARG(id), (long long)owner, (long long)fence);
    if (!instance)
        return;
    instance->owner = owner;
    instance->fence = fence;
}

struct ledger_hooks pawl__cluster_checker_hooks(struct cluster_checker *checker)
{
    return (struct ledger_hooks){leased, claimed, applied, forgotten, checker};
}

/* ---- what clients were told -------------------------------------------------------------- */

void pawl__cluster_accepted(struct cluster_checker *checker, const char *key, const char *id)
{
    struct known_event *event = learn_event(checker, pawl__str(key));

    if (!event)
        return;
    event->accepted = true;
    /* Not every instance notes what it gets. */
    if (pawl__map_has(&checker->directs, pawl__str(id))) {
        event->reserved = true;
        event->matched += event->matched == 0;
    }
    /* Whether it is in the database is asked at the end: who finds it there by reading may be told
     * before the commit that put it there is told to the checker. */
}

void pawl__cluster_refused(struct cluster_checker *checker, const char *key)
{
    struct known_event *event = learn_event(checker, pawl__str(key));

    if (event)
        event->refused = true;
}

void pawl__cluster_sending(struct cluster_checker *checker, const char *key, bool is_order)
{
    struct known_event *event = learn_event(checker, pawl__str(key));

    if (event)
        event->is_order = is_order;
}

void pawl__cluster_started_plain(struct cluster_checker *checker, const char *instance_id)
{
    if (!pawl__map_has(&checker->instances, pawl__str(instance_id)))
        pawl__cluster_violation(checker, "%s was said to be started and never was", instance_id);
}

void pawl__cluster_started(struct cluster_checker *checker, const char *key,
                           const char *instance_id)
{
    const struct known_instance *instance = pawl__map_get(&checker->keys, pawl__str(key));

    if (!instance || !pawl__str_is(instance->id, instance_id))
        pawl__cluster_violation(checker, "key %s started %.*s and its client was told %s", key,
                                PAWL_STR_ARG(instance ? instance->id : pawl__str("nothing")),
                                instance_id);
}

void pawl__cluster_deleted(struct cluster_checker *checker, const char *instance_id)
{
    const struct known_instance *instance =
        pawl__map_get(&checker->instances, pawl__str(instance_id));

    if (!instance || !instance->deleted)
        pawl__cluster_violation(checker, "%s was said to be deleted and is there", instance_id);
}
