/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants over a snapshot; see store_check.h. Tables may come in any order: what refers to
 * another table is collected, and compared when all rows have been seen.
 */
#include "host/store_check.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "host/backup.h"
#include "runtime/runtime.h"
#include "stores/stores.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define FINDING_MAX 512

struct facts {
    bool is_there;
    bool is_final;
};

/* A row that names an instance. */
struct reference {
    struct reference *next;
    enum pawl_table table;
    struct pawl_str id; /* of the row */
    struct pawl_str instance_id;
};

struct span {
    struct pawl_str instance_id;
    int64_t first;
    int64_t count;
};

struct definition {
    uint64_t versions, latest, published;
};

struct trigger {
    struct trigger *next;
    struct pawl_str id;
    struct pawl_str version_id;
};

struct check {
    struct pawl_arena arena;
    pawl_finding_visitor visit;
    void *ctx;
    uint64_t count;
    uint64_t rows;
    struct pawl_map instances;   /* id -> struct facts */
    struct pawl_map definitions; /* definition id -> struct definition */
    struct pawl_map published;   /* version ids */
    struct reference *references;
    struct trigger *triggers;
    struct span *spans;
    size_t span_count, span_cap;
    int64_t incarnation_max;
    int64_t owner_max;
    struct pawl_str owner_max_of;
};

PAWL_PRINTF(2, 3) static void finding(struct check *check, const char *format, ...)
{
    char text[FINDING_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    text[pawl__utf8_valid_prefix(pawl__str(text))] = '\0';
    check->count++;
    check->visit(check->ctx, text);
}

static void backend_finding(void *ctx, const char *text)
{
    struct check *check = ctx;

    check->count++;
    check->visit(check->ctx, text);
}

static int no_memory(const struct check *check)
{
    return pawl__arena_status(&check->arena);
}

/* ---- collecting -------------------------------------------------------------------------- */

static int see_instance(struct check *check, const struct pawl_instance_row *row)
{
    struct pawl_str id = pawl__arena_str(&check->arena, row->id);
    struct facts *facts = pawl__arena_alloc_zeroed(&check->arena, sizeof *facts);
    int status;

    if (!id.ptr || !facts)
        return no_memory(check);
    facts->is_there = true;
    facts->is_final = pawl__str_is(row->status, "Finished");
    if (row->revision < 1)
        finding(check, "instance %.*s has revision %jd", PAWL_STR_ARG(id), (intmax_t)row->revision);
    if (row->fence < 1)
        finding(check, "instance %.*s has fence %jd", PAWL_STR_ARG(id), (intmax_t)row->fence);
    if (row->revision_fence > row->fence)
        finding(check, "instance %.*s was written under fence %jd, but its fence is %jd",
                PAWL_STR_ARG(id), (intmax_t)row->revision_fence, (intmax_t)row->fence);
    if (!pawl__runtime_is_state_sound(row))
        finding(check,
                "the state of instance %.*s is damaged: what is stored is not what was written; "
                "'pawl rm' deletes it",
                PAWL_STR_ARG(id));
    status = pawl__runtime_check_counts(check->arena.alloc, row);
    if (status == PAWL_ECORRUPT)
        finding(check,
                "the counts of instance %.*s are damaged: its next step resets them; 'pawl rm' "
                "deletes one that has ended",
                PAWL_STR_ARG(id));
    else if (status != PAWL_OK)
        return status;
    if (row->owner < 0)
        finding(check, "instance %.*s has owner %jd", PAWL_STR_ARG(id), (intmax_t)row->owner);
    if (row->retry_us == PAWL_TIME_NEVER)
        finding(check,
                "instance %.*s is set aside: %.*s; 'pawl why' shows its waiting work, 'pawl retry' "
                "runs it again",
                PAWL_STR_ARG(id), PAWL_STR_ARG(row->trouble));
    if (row->owner > check->owner_max) {
        check->owner_max = row->owner;
        check->owner_max_of = id;
    }
    return pawl__map_put(&check->instances, id, facts);
}

static int see_reference(struct check *check, enum pawl_table table, struct pawl_str id,
                         struct pawl_str instance_id)
{
    struct reference *reference = pawl__arena_alloc(&check->arena, sizeof *reference);

    if (!reference)
        return no_memory(check);
    *reference = (struct reference){check->references, table, pawl__arena_str(&check->arena, id),
                                    pawl__arena_str(&check->arena, instance_id)};
    if (!reference->id.ptr || !reference->instance_id.ptr)
        return no_memory(check);
    check->references = reference;
    return PAWL_OK;
}

static int see_work(struct check *check, const struct pawl_work_row *row)
{
    if (row->part < 0 || row->part > 1023)
        finding(check, "work %.*s has part %jd", PAWL_STR_ARG(row->id), (intmax_t)row->part);
    if (row->instance_id.len == 0)
        return PAWL_OK;
    /* An event may be kept for an instance that is still to be started; it expires. */
    if (row->due_us == PAWL_TIME_NEVER && row->expires_us != PAWL_TIME_NEVER)
        return PAWL_OK;
    return see_reference(check, PAWL_TABLE_WORK, row->id, row->instance_id);
}

static int see_journal(struct check *check, const struct pawl_journal_row *row)
{
    struct pawl_str id = pawl__arena_str(&check->arena, row->instance_id);
    int status;

    if (!id.ptr)
        return no_memory(check);
    status = row->count < 0 ? PAWL_OK : pawl__runtime_check_page(check->arena.alloc, row);
    if (status == PAWL_ECORRUPT)
        finding(check,
                "the journal of instance %.*s is damaged: its row %jd has not the %jd records that "
                "were written; what it did before and after that can be read",
                PAWL_STR_ARG(id), (intmax_t)row->first_sequence, (intmax_t)row->count);
    else if (status != PAWL_OK)
        return status;
    if (check->span_count == check->span_cap) {
        size_t cap = check->span_cap ? check->span_cap * 2 : 1024;
        struct span *grown = pawl__arena_alloc_array(&check->arena, cap, sizeof *grown);

        if (!grown)
            return no_memory(check);
        if (check->span_count > 0)
            memcpy(grown, check->spans, check->span_count * sizeof *grown);
        check->spans = grown;
        check->span_cap = cap;
    }
    PAWL_ASSERT(check->spans);
    if (row->count < 0) /* 0: a page of activity records alone */
        finding(check, "journal row %jd of instance %.*s counts %jd records",
                (intmax_t)row->first_sequence, PAWL_STR_ARG(id), (intmax_t)row->count);
    check->spans[check->span_count++] = (struct span){id, row->first_sequence, row->count};
    return PAWL_OK;
}

static int see_definition(struct check *check, const struct pawl_definition_row *row)
{
    struct definition *definition = pawl__map_get(&check->definitions, row->definition_id);
    int status = PAWL_OK;

    if (!definition) {
        struct pawl_str id = pawl__arena_str(&check->arena, row->definition_id);

        definition = pawl__arena_alloc_zeroed(&check->arena, sizeof *definition);
        if (!id.ptr || !definition)
            return no_memory(check);
        status = pawl__map_put(&check->definitions, id, definition);
    }
    definition->versions++;
    definition->latest += row->is_latest != 0;
    definition->published += row->is_published != 0;
    if (status == PAWL_OK && row->is_published != 0) {
        struct pawl_str id = pawl__arena_str(&check->arena, row->id);

        if (!id.ptr)
            return no_memory(check);
        status = pawl__map_put(&check->published, id, definition);
    }
    return status;
}

static int see_trigger(struct check *check, const struct pawl_trigger_row *row)
{
    struct trigger *trigger = pawl__arena_alloc(&check->arena, sizeof *trigger);

    if (!trigger)
        return no_memory(check);
    *trigger = (struct trigger){check->triggers, pawl__arena_str(&check->arena, row->id),
                                pawl__arena_str(&check->arena, row->version_id)};
    if (!trigger->id.ptr || !trigger->version_id.ptr)
        return no_memory(check);
    check->triggers = trigger;
    return PAWL_OK;
}

static int see_reservation(struct check *check, const struct pawl_reservation_row *row)
{
    if (row->instance_id.len == 0)
        return PAWL_OK;
    return see_reference(check, PAWL_TABLE_RESERVATIONS, row->key, row->instance_id);
}

static void see_node(struct check *check, const struct pawl_node_row *row)
{
    if (row->incarnation < 1)
        finding(check, "node %.*s has incarnation %jd", PAWL_STR_ARG(row->id),
                (intmax_t)row->incarnation);
    if (row->incarnation > check->incarnation_max)
        check->incarnation_max = row->incarnation;
}

static void see_stamp(struct check *check, const struct pawl_stamp_row *row)
{
    if (pawl__str_is(row->name, PAWL_STAMP_INCARNATIONS) && row->value > check->incarnation_max)
        check->incarnation_max = row->value;
}

/* A row of a table that came later: if it is an instance's own, the instance must be there. */
static int see_owned(struct check *check, enum pawl_table table, const void *row)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    struct pawl_str instance_id, id;

    if (!info->goes_with_instance)
        return PAWL_OK;
    memcpy(&instance_id,
           (const char *)row + info->columns[pawl_table_column(table, "instance_id")].offset,
           sizeof instance_id);
    memcpy(&id, (const char *)row + info->columns[0].offset, sizeof id);
    return instance_id.len > 0 ? see_reference(check, table, id, instance_id) : PAWL_OK;
}

static int see(struct check *check, enum pawl_table table, const void *row)
{
    const struct pawl_bookmark_row *bookmark = row;

    switch (table) {
    case PAWL_TABLE_INSTANCES:
        return see_instance(check, row);
    case PAWL_TABLE_BOOKMARKS:
        return see_reference(check, table, bookmark->id, bookmark->instance_id);
    case PAWL_TABLE_WORK:
        return see_work(check, row);
    case PAWL_TABLE_RESERVATIONS:
        return see_reservation(check, row);
    case PAWL_TABLE_JOURNAL:
        return see_journal(check, row);
    case PAWL_TABLE_DEFINITIONS:
        return see_definition(check, row);
    case PAWL_TABLE_TRIGGERS:
        return see_trigger(check, row);
    case PAWL_TABLE_NODES:
        see_node(check, row);
        return PAWL_OK;
    case PAWL_TABLE_SETTINGS:
        if (pawl__str_is(((const struct pawl_setting_row *)row)->key, PAWL_RESTORE_MARK))
            finding(check, "a restore into this store was not finished: its content is incomplete");
        return PAWL_OK;
    case PAWL_TABLE_STAMPS:
        see_stamp(check, row);
        return PAWL_OK;
    case PAWL_TABLE_DEAD_LETTERS:
    case PAWL_TABLE_COUNT:
        break;
    case PAWL_TABLE_ROUTES:
    case PAWL_TABLE_REPLIES:
    case PAWL_TABLE_TASKS:
    case PAWL_TABLE_PLANS:
    case PAWL_TABLE_JOBS:
    case PAWL_TABLE_CONSUMERS:
    case PAWL_TABLE_INCIDENTS:
    case PAWL_TABLE_HISTORY:
    case PAWL_TABLE_AUDIT:
    case PAWL_TABLE_DOCUMENTS:
    case PAWL_TABLE_STATISTICS:
    case PAWL_TABLE_EXECUTIONS:
        return see_owned(check, table, row);
    }
    return PAWL_OK;
}

static int visit_row(void *ctx, enum pawl_table table, const void *row, struct pawl_error *err)
{
    struct check *check = ctx;
    int status = see(check, table, row);

    check->rows++;
    if (status == PAWL_ELIMIT)
        return pawl__error_set(err, status,
                               "the store is too large to check: %zu GB would "
                               "have to be kept in memory",
                               PAWL_STORE_CHECK_BYTES_MAX >> 30);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

/* ---- comparing --------------------------------------------------------------------------- */

static void compare_references(struct check *check)
{
    static const char *const words[PAWL_TABLE_COUNT] = {
        [PAWL_TABLE_BOOKMARKS] = "bookmark",
        [PAWL_TABLE_WORK] = "work",
        [PAWL_TABLE_RESERVATIONS] = "reservation",
        [PAWL_TABLE_ROUTES] = "route",
        [PAWL_TABLE_TASKS] = "task",
        [PAWL_TABLE_INCIDENTS] = "incident of",
        [PAWL_TABLE_HISTORY] = "history of",
        [PAWL_TABLE_EXECUTIONS] = "execution",
    };

    for (const struct reference *r = check->references; r; r = r->next) {
        const struct facts *facts = pawl__map_get(&check->instances, r->instance_id);
        const char *what = words[r->table];

        if (!facts)
            finding(check, "%s %.*s belongs to instance %.*s, which does not exist", what,
                    PAWL_STR_ARG(r->id), PAWL_STR_ARG(r->instance_id));
        else if (facts->is_final && r->table == PAWL_TABLE_BOOKMARKS)
            finding(check, "bookmark %.*s belongs to instance %.*s, which is finished",
                    PAWL_STR_ARG(r->id), PAWL_STR_ARG(r->instance_id));
    }
}

static int compare_spans(const void *a, const void *b)
{
    const struct span *left = a, *right = b;
    int order = pawl__str_compare(left->instance_id, right->instance_id);

    if (order != 0)
        return order;
    return left->first < right->first ? -1 : left->first > right->first;
}

static void compare_journals(struct check *check)
{
    struct span *spans = check->spans;

    if (!spans)
        return;
    qsort(spans, check->span_count, sizeof *spans, compare_spans);
    for (size_t i = 0; i < check->span_count; i++) {
        const struct span *span = &spans[i], *last = i > 0 ? span - 1 : NULL;

        if (last && !pawl__str_equal(last->instance_id, span->instance_id))
            last = NULL;
        if (!last && !pawl__map_has(&check->instances, span->instance_id))
            finding(check, "the journal has records of instance %.*s, which does not exist",
                    PAWL_STR_ARG(span->instance_id));
        if (last && last->count > 0 && span->first - last->first < last->count)
            finding(check,
                    "the journal of instance %.*s overlaps: %jd records from %jd, and others from "
                    "%jd",
                    PAWL_STR_ARG(span->instance_id), (intmax_t)last->count, (intmax_t)last->first,
                    (intmax_t)span->first);
    }
}

static void compare_definitions(struct check *check)
{
    const struct pawl_map_entry *entry;

    PAWL_MAP_FOR_EACH (entry, &check->definitions) {
        const struct definition *definition = entry->value;

        if (definition->latest != 1)
            finding(check, "definition %.*s has %ju latest versions of %ju",
                    PAWL_STR_ARG(entry->key), (uintmax_t)definition->latest,
                    (uintmax_t)definition->versions);
        if (definition->published > 1)
            finding(check, "definition %.*s has %ju published versions", PAWL_STR_ARG(entry->key),
                    (uintmax_t)definition->published);
    }
    for (const struct trigger *t = check->triggers; t; t = t->next)
        if (!pawl__map_has(&check->published, t->version_id))
            finding(check, "trigger %.*s belongs to version %.*s, which is not published",
                    PAWL_STR_ARG(t->id), PAWL_STR_ARG(t->version_id));
}

static void compare_owners(struct check *check)
{
    /* A node that joined again has left its earlier incarnations behind: only later ones than any
     * that was given are wrong. */
    if (check->owner_max > check->incarnation_max)
        finding(check, "instance %.*s has owner %jd, but the last incarnation of a node is %jd",
                PAWL_STR_ARG(check->owner_max_of), (intmax_t)check->owner_max,
                (intmax_t)check->incarnation_max);
}

int pawl__store_check(struct pawl_env *env, struct pawl_store *store, pawl_finding_visitor visit,
                      void *ctx, uint64_t *count, uint64_t *rows, struct pawl_error *err)
{
    struct check check = {.visit = visit, .ctx = ctx};
    struct pawl_hash_seed seed;
    int status = pawl_env_entropy(env, &seed, sizeof seed, err);

    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&check.arena, &env->alloc, PAWL_STORE_CHECK_BYTES_MAX);
    pawl__map_init(&check.instances, &env->alloc, seed);
    pawl__map_init(&check.definitions, &env->alloc, seed);
    pawl__map_init(&check.published, &env->alloc, seed);
    status = pawl_store_check_backend(store, backend_finding, &check, PAWL_FOREVER, err);
    if (status == PAWL_OK)
        status = pawl_store_snapshot(store, visit_row, &check, PAWL_FOREVER, err);
    if (status == PAWL_OK) {
        compare_references(&check);
        compare_journals(&check);
        compare_definitions(&check);
        compare_owners(&check);
        *count = check.count;
        if (rows)
            *rows = check.rows;
    }
    pawl__map_release(&check.instances);
    pawl__map_release(&check.definitions);
    pawl__map_release(&check.published);
    pawl__arena_release(&check.arena);
    return status;
}
