/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker: what a store and its users must keep, whatever happens to the nodes.
 *
 *   1. Each applied commit is the next revision, by the owner, under the newest fence.
 *   2. A claim is granted to nobody while the owner's lease lives; each has a new fence.
 *   3. Incarnations grow.
 *   4. What a writer was told was done is in the database from then on; what it was told was not
 *      done never is; every write is there once.
 * It trusts neither the nodes nor the store: it compares what the server was seen to do (the
 * ledger), what the writers were told, and what the database holds when read by another handle.
 */
#include "sim/sim_private.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

int pawl__checker_init(struct checker *checker, struct pawl_env *env,
                       const struct pawl_sim_options *options, struct pawl_sim_report *report)
{
    *checker = (struct checker){
        .env = env, .options = options, .report = report, .instance_count = options->instances};
    for (uint32_t i = 0; i < options->instances; i++)
        (void)snprintf(checker->instances[i].id, sizeof checker->instances[i].id, "instance-%02u",
                       i);
    checker->writes = pawl__alloc_zeroed(&env->alloc, WRITES_MAX * sizeof *checker->writes);
    return checker->writes ? PAWL_OK : PAWL_ENOMEM;
}

void pawl__checker_release(struct checker *checker)
{
    if (checker->writes)
        pawl__free(&checker->env->alloc, checker->writes, WRITES_MAX * sizeof *checker->writes);
    checker->writes = NULL;
}

/* ---- saying ------------------------------------------------------------------------------ */

static void say(struct checker *checker, const char *who, const char *text)
{
    int64_t now_ns = pawl_env_monotonic_ns(checker->env);
    char line[512];

    if (!checker->options->say)
        return;
    (void)snprintf(line, sizeof line, "%lld.%03lld %s %s", (long long)(now_ns / SECOND_NS),
                   (long long)(now_ns % SECOND_NS / MS_NS), who, text);
    checker->options->say(checker->options->say_ctx, line);
}

void pawl__checker_say(struct checker *checker, const char *who, const char *format, ...)
{
    char text[384];
    va_list args;

    if (!checker->options->say)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    say(checker, who, text);
}

void pawl__checker_violation(struct checker *checker, const char *format, ...)
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

/* ---- writes ------------------------------------------------------------------------------ */

uint32_t pawl__checker_write(struct checker *checker, uint32_t instance, int64_t revision)
{
    if (checker->write_count == WRITES_MAX)
        return UINT32_MAX;
    checker->writes[checker->write_count] =
        (struct write){.instance = instance, .revision = revision};
    return checker->write_count++;
}

void pawl__checker_told(struct checker *checker, const char *who, uint32_t number, int status)
{
    struct write *write = &checker->writes[number];

    if (status == PAWL_OK) {
        write->outcome = WRITE_ACKNOWLEDGED;
        checker->report->acknowledged++;
    } else if (pawl_error_class(status) == PAWL_CLASS_UNKNOWN) {
        write->outcome = WRITE_UNKNOWN;
        checker->report->unknown++;
    } else {
        write->outcome = WRITE_REFUSED;
        checker->report->refused++;
    }
    pawl__checker_say(checker, who, "is told of write %u to %s: %s", number,
                      checker->instances[write->instance].id,
                      status == PAWL_OK ? "done" : pawl_error_name(status));
    if (write->outcome == WRITE_REFUSED && write->applied)
        pawl__checker_violation(checker, "write %u was applied and its writer told %s", number,
                                pawl_error_name(status));
    if (write->outcome == WRITE_ACKNOWLEDGED && !write->applied)
        pawl__checker_violation(checker, "write %u was acknowledged and never applied", number);
}

int pawl__write_list_read(struct write_list *list, struct pawl_str state)
{
    size_t at = pawl__str_find(state, '[', 0);

    list->count = 0;
    if (at == SIZE_MAX)
        return PAWL_ECORRUPT;
    for (at++; at < state.len && state.ptr[at] != ']'; at++) {
        uint32_t number = 0;

        if (list->count == WRITES_MAX)
            return PAWL_ECORRUPT;
        for (; at < state.len && state.ptr[at] >= '0' && state.ptr[at] <= '9'; at++)
            number = number * 10 + (uint32_t)(state.ptr[at] - '0');
        list->numbers[list->count++] = number;
        if (at < state.len && state.ptr[at] == ']')
            break;
    }
    return at < state.len ? PAWL_OK : PAWL_ECORRUPT;
}

void pawl__write_list_print(const struct write_list *list, uint32_t last, struct pawl_buf *out)
{
    pawl__buf_printf(out, "{\"count\":%u,\"writes\":[", list->count + 1);
    for (uint32_t i = 0; i < list->count; i++)
        pawl__buf_printf(out, "%u,", list->numbers[i]);
    pawl__buf_printf(out, "%u]}", last);
}

/* The write that a stored state ends with; NULL: it has none. */
static struct write *last_write(struct checker *checker, struct pawl_str state)
{
    size_t end = state.len, at;
    uint32_t number = 0;

    while (end > 0 && (state.ptr[end - 1] < '0' || state.ptr[end - 1] > '9'))
        end--;
    for (at = end; at > 0 && state.ptr[at - 1] >= '0' && state.ptr[at - 1] <= '9';)
        at--;
    for (; at < end; at++)
        number = number * 10 + (uint32_t)(state.ptr[at] - '0');
    return end > 0 && number < checker->write_count ? &checker->writes[number] : NULL;
}

/* ---- what the server did ----------------------------------------------------------------- */

static struct checked_instance *find_instance(struct checker *checker, struct pawl_str id)
{
    for (uint32_t i = 0; i < checker->instance_count; i++)
        if (pawl__str_is(id, checker->instances[i].id))
            return &checker->instances[i];
    return NULL;
}

static struct checked_node *find_node(struct checker *checker, struct pawl_str id)
{
    for (uint32_t i = 0; i < checker->node_count; i++)
        if (pawl__str_is(id, checker->nodes[i].id))
            return &checker->nodes[i];
    PAWL_ASSERT(checker->node_count < sizeof checker->nodes / sizeof checker->nodes[0]);
    (void)snprintf(checker->nodes[checker->node_count].id, sizeof checker->nodes[0].id, "%.*s",
                   PAWL_STR_ARG(id));
    return &checker->nodes[checker->node_count++];
}

static void leased(void *ctx, const struct pawl_lease *lease)
{
    struct checker *checker = ctx;
    struct checked_node *node = find_node(checker, lease->node_id);

    switch (lease->kind) {
    case PAWL_LEASE_JOIN:
        if (lease->incarnation <= checker->newest_incarnation)
            pawl__checker_violation(checker, "%s joined as incarnation %lld after %lld", node->id,
                                    (long long)lease->incarnation,
                                    (long long)checker->newest_incarnation);
        checker->newest_incarnation = lease->incarnation;
        node->incarnation = lease->incarnation;
        node->lease_us = lease->now_us + lease->ttl_us;
        break;
    case PAWL_LEASE_RENEW:
        if (lease->incarnation != node->incarnation)
            pawl__checker_violation(checker, "%s renewed as incarnation %lld, not %lld", node->id,
                                    (long long)lease->incarnation, (long long)node->incarnation);
        node->lease_us = lease->now_us + lease->ttl_us;
        break;
    case PAWL_LEASE_LEAVE:
        if (lease->incarnation == node->incarnation)
            node->lease_us = 0;
        break;
    }
    pawl__checker_say(checker, node->id, "has a lease as incarnation %lld",
                      (long long)lease->incarnation);
}

static bool lives(const struct checker *checker, int64_t incarnation, int64_t now_us)
{
    for (uint32_t i = 0; i < checker->node_count; i++)
        if (checker->nodes[i].incarnation == incarnation)
            return checker->nodes[i].lease_us > now_us;
    return false;
}

static void claimed(void *ctx, int64_t owner, const struct pawl_claim *claim, int64_t now_us)
{
    struct checker *checker = ctx;
    struct checked_instance *instance = find_instance(checker, claim->id);

    PAWL_ASSERT(instance);
    checker->report->granted++;
    pawl__checker_say(checker, "server", "grants %s to %lld, fence %lld, revision %lld",
                      instance->id, (long long)owner, (long long)claim->row.fence,
                      (long long)claim->row.revision);
    if (!instance->exists)
        pawl__checker_violation(checker, "%s was granted and does not exist", instance->id);
    if (instance->owner != 0 && instance->owner != owner && lives(checker, instance->owner, now_us))
        pawl__checker_violation(checker, "%s was granted to %lld while its owner %lld lives",
                                instance->id, (long long)owner, (long long)instance->owner);
    if (instance->owner != 0 && instance->owner != owner && !lives(checker, owner, now_us))
        pawl__checker_violation(checker, "%s was granted to %lld, whose lease is over, from %lld",
                                instance->id, (long long)owner, (long long)instance->owner);
    if (claim->row.fence <= instance->fence)
        pawl__checker_violation(checker, "%s was granted with fence %lld after %lld", instance->id,
                                (long long)claim->row.fence, (long long)instance->fence);
    if (claim->row.revision != instance->revision)
        pawl__checker_violation(checker, "%s was granted at revision %lld and has %lld",
                                instance->id, (long long)claim->row.revision,
                                (long long)instance->revision);
    instance->owner = owner;
    instance->fence = claim->row.fence;
}

/* Of a visit: claimed by the commit, of nobody. */
static void visited(struct checker *checker, struct checked_instance *instance,
                    const struct pawl_instance_row *row)
{
    if (instance->owner != 0 || row->fence <= instance->fence)
        pawl__checker_violation(checker,
                                "%s was visited by %lld with fence %lld; it is %lld's, %lld",
                                instance->id, (long long)row->owner, (long long)row->fence,
                                (long long)instance->owner, (long long)instance->fence);
    instance->owner = row->owner;
    instance->fence = row->fence;
}

static void check_advance(struct checker *checker, const struct checked_instance *instance,
                          const struct pawl_instance_row *row)
{
    if (row->owner != instance->owner || row->fence != instance->fence)
        pawl__checker_violation(checker,
                                "%s was written by %lld under fence %lld; it is %lld's under %lld",
                                instance->id, (long long)row->owner, (long long)row->fence,
                                (long long)instance->owner, (long long)instance->fence);
    if (row->revision != instance->revision)
        pawl__checker_violation(checker, "%s was written as the one after revision %lld, not %lld",
                                instance->id, (long long)row->revision,
                                (long long)instance->revision);
}

static void applied(void *ctx, const struct pawl_commit *commit)
{
    struct checker *checker = ctx;
    const struct pawl_instance_row *row = commit->instance;
    struct checked_instance *instance = find_instance(checker, row->id);
    struct write *write = last_write(checker, row->state);

    PAWL_ASSERT(instance && write);
    checker->report->applied++;
    pawl__checker_say(checker, "server", "applies write %u to %s, fence %lld, after revision %lld",
                      (unsigned)(write - checker->writes), instance->id, (long long)row->fence,
                      (long long)row->revision);
    if (commit->kind == PAWL_COMMIT_CREATE) {
        if (instance->exists)
            pawl__checker_violation(checker, "%s was created twice", instance->id);
        instance->exists = true;
        instance->fence = instance->revision = 1;
    } else {
        if (commit->flags & PAWL_COMMIT_VISITED)
            visited(checker, instance, row);
        check_advance(checker, instance, row);
        instance->revision++;
    }
    if (commit->flags & PAWL_COMMIT_RELEASE)
        instance->owner = 0;
    if (write->applied)
        pawl__checker_violation(checker, "write %u was applied twice",
                                (unsigned)(write - checker->writes));
    if (write->outcome == WRITE_REFUSED)
        pawl__checker_violation(checker, "write %u was applied after its writer was told it is not",
                                (unsigned)(write - checker->writes));
    write->applied = true;
}

/* A claim that no commit had followed. Its fence may be granted again, to anybody. */
static void forgotten(void *ctx, enum pawl_table table, struct pawl_str id, int64_t owner,
                      int64_t fence)
{
    struct checker *checker = ctx;
    struct checked_instance *instance =
        table == PAWL_TABLE_INSTANCES ? find_instance(checker, id) : NULL;

    if (!instance)
        return;
    checker->report->forgotten++;
    pawl__checker_say(checker, "server", "forgets that %s was granted: %lld's, fence %lld",
                      instance->id, (long long)owner, (long long)fence);
    instance->owner = owner;
    instance->fence = fence;
}

struct ledger_hooks pawl__checker_hooks(struct checker *checker)
{
    return (struct ledger_hooks){leased, claimed, applied, forgotten, checker};
}

/* ---- what the database holds ------------------------------------------------------------- */

static void check_row(struct checker *checker, const struct pawl_instance_row *row,
                      const struct write_list *list)
{
    struct checked_instance *instance = find_instance(checker, row->id);

    PAWL_ASSERT(instance);
    if (row->revision < instance->seen_revision)
        pawl__checker_violation(checker, "%s went back from revision %lld to %lld", instance->id,
                                (long long)instance->seen_revision, (long long)row->revision);
    instance->seen_revision = row->revision;
    if ((int64_t)list->count != row->revision)
        pawl__checker_violation(checker, "%s has revision %lld and %u writes", instance->id,
                                (long long)row->revision, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct write *write =
            list->numbers[i] < checker->write_count ? &checker->writes[list->numbers[i]] : NULL;

        if (!write || find_instance(checker, row->id) != &checker->instances[write->instance])
            pawl__checker_violation(checker, "%s has write %u, which is not its", instance->id,
                                    list->numbers[i]);
        else if (write->outcome == WRITE_REFUSED)
            pawl__checker_violation(checker, "%s has write %u, which its writer was told is not",
                                    instance->id, list->numbers[i]);
        else if (write->revision != (int64_t)i + 1)
            pawl__checker_violation(checker, "%s has write %u as revision %u, not %lld",
                                    instance->id, list->numbers[i], i + 1,
                                    (long long)write->revision);
    }
}

static bool has_write(const struct write_list *list, uint32_t number)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->numbers[i] == number)
            return true;
    return false;
}

static void check_acknowledged(struct checker *checker, uint32_t number,
                               const struct pawl_instance_row *row, const struct write_list *list)
{
    if (!row || !has_write(list, number))
        pawl__checker_violation(checker, "%s lost write %u, which was acknowledged",
                                checker->instances[checker->writes[number].instance].id, number);
}

static int look_at(struct checker *checker, struct pawl_store *store, uint32_t number,
                   struct pawl_arena *arena, struct write_list *list, struct pawl_error *err)
{
    struct checked_instance *instance = &checker->instances[number];
    struct pawl_condition condition = {.compare = PAWL_EQ};
    struct pawl_query query = {
        .table = PAWL_TABLE_INSTANCES, .conditions = &condition, .condition_count = 1};
    bool *acknowledged = pawl__arena_alloc_zeroed(arena, WRITES_MAX * sizeof *acknowledged);
    const struct pawl_instance_row *row;
    struct pawl_rows rows;
    int status;

    if (!acknowledged)
        return pawl__error_code(err, PAWL_ENOMEM);
    /* What is acknowledged while the row is read need not be in it. */
    for (uint32_t i = 0; i < checker->write_count; i++)
        acknowledged[i] = checker->writes[i].instance == number &&
                          checker->writes[i].outcome == WRITE_ACKNOWLEDGED;
    condition.value.text = pawl__str(instance->id);
    status = pawl_store_find(store, &query, arena, &rows, PAWL_FOREVER, err);
    if (status != PAWL_OK)
        return status;
    row = rows.count > 0 ? rows.rows : NULL;
    if (row && pawl__write_list_read(list, row->state) != PAWL_OK)
        pawl__checker_violation(checker, "%s has a state that is none", instance->id);
    else if (row)
        check_row(checker, row, list);
    for (uint32_t i = 0; i < WRITES_MAX; i++)
        if (acknowledged[i])
            check_acknowledged(checker, i, row, list);
    return PAWL_OK;
}

int pawl__checker_look(struct checker *checker, struct pawl_store *store, struct pawl_error *err)
{
    struct pawl_arena arena;
    struct write_list *list;
    int status = PAWL_OK;

    pawl__arena_init(&arena, &checker->env->alloc, ARENA_BYTES_MAX);
    for (uint32_t i = 0; i < checker->instance_count && status == PAWL_OK; i++) {
        pawl__arena_reset(&arena);
        list = pawl__arena_alloc_zeroed(&arena, sizeof *list);
        status = list ? look_at(checker, store, i, &arena, list, err)
                      : pawl__error_code(err, PAWL_ENOMEM);
    }
    pawl__arena_release(&arena);
    return status;
}

void pawl__checker_finish(struct checker *checker)
{
    for (uint32_t i = 0; i < checker->instance_count; i++) {
        const struct checked_instance *instance = &checker->instances[i];

        if (instance->seen_revision != instance->revision)
            pawl__checker_violation(checker, "%s ends at revision %lld; %lld were applied",
                                    instance->id, (long long)instance->seen_revision,
                                    (long long)instance->revision);
    }
}
