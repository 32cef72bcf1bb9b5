/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the checker of the simulated cluster reads from the database, by a handle of its own.
 *
 * On the way: revisions grow, deleted instances stay away. After the faults (liveness): everything
 * that is due gets done, nobody holds an instance, nothing stands in the middle of a burst, all
 * that can end has ended. At the end (nothing lost, nothing twice): every event that was accepted
 * was matched, or waits, or is a dead letter; every event that was delivered to an instance was
 * applied by it, or waits, or is a dead letter: one of these, and once.
 */
#include "sim/cluster_private.h"

#include "base/error.h"

#include <stdio.h>

static int read_table(struct cluster_checker *checker, struct pawl_store *window,
                      enum pawl_table table, struct pawl_arena *arena, struct pawl_rows *rows,
                      struct pawl_error *err)
{
    const struct pawl_query query = {.table = table, .limit = PAWL_STORE_ROWS_MAX};

    (void)checker;
    return pawl_store_find(window, &query, arena, rows, PAWL_FOREVER, err);
}

/* ---- on the way -------------------------------------------------------------------------- */

/* A clock that is set back by less is not noticed (stores/clock.h). */
#define CLOCK_UNSEEN_US INT64_C(600000)
/* Nodes look for work at least every second. */
#define WORK_LATE_US INT64_C(5000000)

/* What is due at once does not wait, also if the clock was set back since. */
static void look_at_work(struct cluster_checker *checker, const struct pawl_work_row *row)
{
    int64_t now_us = pawl_env_wall_ns(checker->env) / 1000;

    if (row->due_us <= row->created_us && row->due_us > now_us + CLOCK_UNSEEN_US)
        pawl__cluster_violation(checker, "%.*s %.*s is due at once and waits for %lld ms",
                                PAWL_STR_ARG(row->kind), PAWL_STR_ARG(row->id),
                                (long long)((row->due_us - now_us) / 1000));
}

static void look_at(struct cluster_checker *checker, const struct pawl_instance_row *row)
{
    struct known_instance *instance = pawl__map_get(&checker->instances, row->id);

    /* Not known yet: the ledger is about to tell. */
    if (!instance)
        return;
    if (instance->deleted_before)
        pawl__cluster_violation(checker, "%.*s is there and was deleted", PAWL_STR_ARG(row->id));
    if (row->revision < instance->seen_revision)
        pawl__cluster_violation(checker, "%.*s went back from revision %lld to %lld",
                                PAWL_STR_ARG(row->id), (long long)instance->seen_revision,
                                (long long)row->revision);
    instance->seen_revision = row->revision;
}

int pawl__cluster_look(struct cluster_checker *checker, struct pawl_store *window,
                       struct pawl_error *err)
{
    struct pawl_map_entry *entry;
    struct pawl_arena arena;
    struct pawl_rows rows = {0};
    int status;

    /* What is deleted while the rows are read may be among them. */
    PAWL_MAP_FOR_EACH (entry, &checker->instances) {
        struct known_instance *instance = entry->value;

        instance->deleted_before = instance->deleted;
    }
    pawl__arena_init(&arena, &checker->env->alloc, ARENA_BYTES_MAX);
    status = read_table(checker, window, PAWL_TABLE_INSTANCES, &arena, &rows, err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
        look_at(checker, &((const struct pawl_instance_row *)rows.rows)[i]);
    if (status == PAWL_OK)
        status = read_table(checker, window, PAWL_TABLE_WORK, &arena, &rows, err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
        look_at_work(checker, &((const struct pawl_work_row *)rows.rows)[i]);
    pawl__arena_release(&arena);
    return status;
}

/* ---- liveness ---------------------------------------------------------------------------- */

/* What is due, or has expired, since a moment ago, whoever looks for work will find. */
static bool is_work_settled(const struct pawl_work_row *row, int64_t now_us, char *why)
{
    int64_t late_us = now_us - WORK_LATE_US;

    if (row->due_us > late_us && row->expires_us > late_us)
        return true;
    (void)snprintf(
        why, CLUSTER_WHY_BYTES,
        "%.*s %.*s of %.*s is due and was not done (owner %lld), %lld ms after its time",
        PAWL_STR_ARG(row->kind), PAWL_STR_ARG(row->id), PAWL_STR_ARG(row->instance_id),
        (long long)row->owner,
        (long long)(now_us - (row->due_us < row->expires_us ? row->due_us : row->expires_us)) /
            1000);
    return false;
}

static bool may_wait(enum flow flow)
{
    return flow == FLOW_COUNTER || flow == FLOW_ONCE || flow == FLOW_ORDER;
}

static bool is_instance_settled(const struct pawl_instance_row *row, bool loops_run, char *why)
{
    enum flow flow = pawl__flow_by_id(row->definition_id);
    bool ended = pawl__str_is(row->status, "Finished");
    const char *what = NULL;

    if (loops_run && flow == FLOW_LOOP)
        return true;
    if (row->owner != 0)
        what = "is still held by a node";
    else if (row->runnable != 0)
        what = "stands in the middle of a burst";
    else if (!ended && row->cancel_requested)
        what = "was to be cancelled and runs";
    else if (!ended && !may_wait(flow) && flow != FLOW_COUNT)
        what = "has not ended";
    if (what)
        (void)snprintf(why, CLUSTER_WHY_BYTES, "%.*s (%.*s) %s", PAWL_STR_ARG(row->id),
                       PAWL_STR_ARG(row->definition_id), what);
    return !what;
}

int pawl__cluster_settled(struct cluster_checker *checker, struct pawl_store *window,
                          bool loops_run, char *why, bool *settled, struct pawl_error *err)
{
    int64_t now_us = pawl_env_wall_ns(checker->env) / 1000;
    struct pawl_rows instances = {0}, work = {0};
    struct pawl_arena arena;
    bool all = true;
    int status;

    pawl__arena_init(&arena, &checker->env->alloc, ARENA_BYTES_MAX);
    status = read_table(checker, window, PAWL_TABLE_INSTANCES, &arena, &instances, err);
    if (status == PAWL_OK)
        status = read_table(checker, window, PAWL_TABLE_WORK, &arena, &work, err);
    for (size_t i = 0; status == PAWL_OK && all && i < instances.count; i++)
        all = is_instance_settled(&((const struct pawl_instance_row *)instances.rows)[i], loops_run,
                                  why);
    for (size_t i = 0; status == PAWL_OK && all && i < work.count; i++)
        all = is_work_settled(&((const struct pawl_work_row *)work.rows)[i], now_us, why);
    *settled = all;
    pawl__arena_release(&arena);
    return status;
}

/* ---- accounts ---------------------------------------------------------------------------- */

static void count_row(struct cluster_checker *checker, struct pawl_str kind,
                      struct pawl_str instance_id, struct pawl_str payload, bool dead)
{
    struct known_event *event = pawl__cluster_event(checker, payload);
    struct delivery *delivery;

    if (!event)
        return;
    if (pawl__str_is(kind, "stimulus")) {
        event->waiting += !dead;
        event->dead += dead;
    } else if (pawl__str_is(kind, "resume")) {
        delivery = pawl__cluster_delivery(checker, instance_id, event);
        if (!delivery) {
            pawl__cluster_violation(checker, "%.*s is kept for %.*s and was not delivered to it",
                                    PAWL_STR_ARG(event->key), PAWL_STR_ARG(instance_id));
            return;
        }
        delivery->waiting += !dead;
        delivery->dead += dead;
    }
}

static void check_event(struct cluster_checker *checker, const struct known_event *event)
{
    if (!event->reserved && event->accepted)
        pawl__cluster_violation(checker, "event %.*s was accepted and is not in the database",
                                PAWL_STR_ARG(event->key));
    if (event->reserved && event->refused)
        pawl__cluster_violation(checker, "event %.*s was refused and took effect",
                                PAWL_STR_ARG(event->key));
    if (!event->reserved)
        return;
    if (event->waiting + event->dead > 1 ||
        (event->matched > 0 && event->waiting + event->dead > 0))
        pawl__cluster_violation(checker,
                                "event %.*s was matched %u times, waits %u times and is %u "
                                "dead letters",
                                PAWL_STR_ARG(event->key), event->matched, event->waiting,
                                event->dead);
    if (event->accepted && event->matched + event->waiting + event->dead == 0)
        pawl__cluster_violation(checker, "event %.*s was accepted and is lost",
                                PAWL_STR_ARG(event->key));
}

static void check_delivery(struct cluster_checker *checker, struct delivery *delivery)
{
    struct known_instance *instance = delivery->instance;

    delivery->applied = pawl__cluster_noted(instance->notes, delivery->event->key);
    checker->report->applied += delivery->applied;
    if (instance->deleted)
        return;
    /* A cancellation stops a burst at its next activity, which may be before the event is noted: of
     * the one burst that ran then. */
    if (instance->cancelled && delivery->applied + delivery->waiting + delivery->dead == 0 &&
        instance->cut++ == 0)
        return;
    if (delivery->applied + delivery->waiting + delivery->dead != 1)
        pawl__cluster_violation(
            checker, "event %.*s to %.*s was applied %u times, waits %u times, is %u dead letters",
            PAWL_STR_ARG(delivery->event->key), PAWL_STR_ARG(instance->id), delivery->applied,
            delivery->waiting, delivery->dead);
}

static uint32_t count_children(const struct cluster_checker *checker,
                               const struct known_instance *parent, uint32_t *running)
{
    struct pawl_map_entry *entry;
    uint32_t count = 0;

    *running = 0;
    PAWL_MAP_FOR_EACH (entry, &checker->instances) {
        const struct known_instance *child = entry->value;

        if (!pawl__str_equal(child->parent_id, parent->id))
            continue;
        count++;
        *running += !child->finished && !child->deleted;
    }
    return count;
}

static void check_instance(struct cluster_checker *checker, const struct known_instance *instance)
{
    const char *notes = instance->flow < FLOW_COUNT ? pawl__flow_notes(instance->flow) : NULL;
    bool is_parent = instance->flow == FLOW_PARENT || instance->flow == FLOW_INLINE;
    uint32_t running, children = is_parent ? count_children(checker, instance, &running) : 0;

    if (instance->deleted)
        return;
    if (is_parent && running > 0)
        pawl__cluster_violation(checker, "%.*s has ended and a child of it runs",
                                PAWL_STR_ARG(instance->id));
    if (instance->cancelled || instance->bereft)
        return;
    if (is_parent && children != 2)
        pawl__cluster_violation(checker, "%.*s has %u children, not 2", PAWL_STR_ARG(instance->id),
                                children);
    if (notes && !pawl__str_is(instance->notes, notes))
        pawl__cluster_violation(checker, "%.*s noted \"%.*s\", not \"%s\"",
                                PAWL_STR_ARG(instance->id), PAWL_STR_ARG(instance->notes), notes);
}

static void check_delay(struct cluster_checker *checker, const struct pawl_instance_row *row)
{
    if (pawl__str_is(row->definition_id, pawl__flow_id(FLOW_DELAY)) &&
        pawl__str_is(row->sub_status, "Finished") &&
        row->finished_us - row->created_us < FLOW_DELAY_SECONDS * INT64_C(1000000))
        pawl__cluster_violation(checker, "%.*s woke too early", PAWL_STR_ARG(row->id));
}

static void check_ticks(struct cluster_checker *checker, const struct pawl_rows *work)
{
    uint32_t count = 0;
    uint64_t instances = 0;
    struct pawl_map_entry *entry;

    for (size_t i = 0; i < work->count; i++)
        count += pawl__str_is(((const struct pawl_work_row *)work->rows)[i].kind, "tick");
    if (count != 1)
        pawl__cluster_violation(checker, "there are %u next ticks, not one", count);
    PAWL_MAP_FOR_EACH (entry, &checker->instances)
        instances += ((const struct known_instance *)entry->value)->flow == FLOW_CRON;
    if (instances != checker->report->tick_starts ||
        instances + checker->starts.live_count + checker->dead_starts.live_count !=
            checker->report->ticks)
        pawl__cluster_violation(
            checker, "%llu ticks started %llu instances, %u starts wait, %u are dead letters",
            (unsigned long long)checker->report->ticks, (unsigned long long)instances,
            (unsigned)checker->starts.live_count, (unsigned)checker->dead_starts.live_count);
}

static void settle_accounts(struct cluster_checker *checker, const struct pawl_rows *instances,
                            const struct pawl_rows *work, const struct pawl_rows *dead)
{
    struct pawl_map_entry *entry;

    for (size_t i = 0; i < work->count; i++) {
        const struct pawl_work_row *row = &((const struct pawl_work_row *)work->rows)[i];

        count_row(checker, row->kind, row->instance_id, row->payload, false);
    }
    for (size_t i = 0; i < dead->count; i++) {
        const struct pawl_dead_letter_row *row =
            &((const struct pawl_dead_letter_row *)dead->rows)[i];

        if (row->replayed_us != 0)
            continue; /* it is work again, or whatever became of that */
        count_row(checker, row->kind, row->instance_id, row->payload, true);
        if (!pawl__str_is(row->kind, "stimulus") && !pawl__str_is(row->kind, "resume") &&
            !(pawl__str_is(row->kind, "start") &&
              (pawl__map_has(&checker->dead_starts, row->id) || pawl__cluster_killed_nodes(row))))
            pawl__cluster_violation(checker, "%.*s is a dead letter: %.*s", PAWL_STR_ARG(row->kind),
                                    PAWL_STR_ARG(row->error));
    }
    PAWL_MAP_FOR_EACH (entry, &checker->events)
        check_event(checker, entry->value);
    PAWL_MAP_FOR_EACH (entry, &checker->deliveries)
        check_delivery(checker, entry->value);
    PAWL_MAP_FOR_EACH (entry, &checker->instances)
        check_instance(checker, entry->value);
    for (size_t i = 0; i < instances->count; i++)
        check_delay(checker, &((const struct pawl_instance_row *)instances->rows)[i]);
    check_ticks(checker, work);
}

int pawl__cluster_account(struct cluster_checker *checker, struct pawl_store *window,
                          struct pawl_error *err)
{
    struct pawl_rows instances = {0}, work = {0}, dead = {0};
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &checker->env->alloc, ARENA_BYTES_MAX);
    status = read_table(checker, window, PAWL_TABLE_INSTANCES, &arena, &instances, err);
    if (status == PAWL_OK)
        status = read_table(checker, window, PAWL_TABLE_WORK, &arena, &work, err);
    if (status == PAWL_OK)
        status = read_table(checker, window, PAWL_TABLE_DEAD_LETTERS, &arena, &dead, err);
    if (status == PAWL_OK)
        settle_accounts(checker, &instances, &work, &dead);
    pawl__arena_release(&arena);
    return status;
}
