/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at instances: state and journal as JSON, lists row by row. */
#include "embed/embed.h"

#include "base/error.h"

#define FILTERS_MAX 8
#define STATUS_COUNT ((size_t)PAWL_INSTANCE_INTERRUPTED + 1)

static int check_answer(char **json, struct pawl_error *err)
{
    return json ? PAWL_OK
                : pawl__error_set(err, PAWL_EINVAL, "there is nowhere to put the JSON text");
}

int pawl_instance_state(struct pawl *pawl, const char *instance_id, char **json,
                        struct pawl_error *err)
{
    struct pawl_instance_row row;
    struct pawl_json state;
    struct pawl_arena arena;
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK)
        status = check_answer(json, err);
    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    status = pawl__runtime_show(pawl->runtime, pawl__str(instance_id), &arena, &row, &state,
                                pawl__embed_deadline(pawl), err);
    if (status == PAWL_OK)
        status = pawl__embed_text(pawl, &state, json, err);
    pawl__arena_release(&arena);
    return status;
}

int pawl_instance_journal(struct pawl *pawl, const char *instance_id,
                          enum pawl_instance_journal_kind kind, char **json, struct pawl_error *err)
{
    struct pawl_instance_row row;
    struct pawl_json log, records;
    struct pawl_arena arena;
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK)
        status = check_answer(json, err);
    if (status == PAWL_OK && kind != PAWL_JOURNAL_LOG && kind != PAWL_JOURNAL_ACTIVITIES)
        status = pawl__error_set(err, PAWL_EINVAL, "%d is no kind of journal", (int)kind);
    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    status = pawl__runtime_show(pawl->runtime, pawl__str(instance_id), &arena, &row, NULL,
                                pawl__embed_deadline(pawl), err);
    if (status == PAWL_OK)
        status = pawl__runtime_journal(pawl->runtime, row.id, &arena, &log, &records,
                                       pawl__embed_deadline(pawl), err);
    if (status == PAWL_OK)
        status = pawl__embed_text(pawl, kind == PAWL_JOURNAL_LOG ? &log : &records, json, err);
    pawl__arena_release(&arena);
    return status;
}

/* ---- lists --------------------------------------------------------------------------------- */

struct listing {
    struct pawl_query query;
    struct pawl_condition conditions[FILTERS_MAX];
    struct pawl_datum statuses[STATUS_COUNT];
    struct pawl_instance_row after;
};

static void where(struct listing *listing, const char *column, const char *text)
{
    if (text && *text)
        listing->conditions[listing->query.condition_count++] =
            (struct pawl_condition){.column = pawl_table_column(PAWL_TABLE_INSTANCES, column),
                                    .value = {.text = pawl__str(text)}};
}

static int where_status(struct listing *listing, const struct pawl_instance_filter *filter,
                        struct pawl_error *err)
{
    bool wanted[STATUS_COUNT] = {false};
    size_t count = 0;

    if (filter->status_count == 0)
        return PAWL_OK;
    for (size_t i = 0; i < filter->status_count; i++) {
        if (!filter->statuses || (unsigned)filter->statuses[i] >= STATUS_COUNT)
            return pawl__error_set(err, PAWL_EINVAL, "status %zu of the filter is none", i);
        wanted[filter->statuses[i]] = true;
    }
    for (size_t i = 0; i < STATUS_COUNT; i++) {
        if (wanted[i])
            listing->statuses[count++].text =
                pawl__str(pawl_instance_status_name((enum pawl_instance_status)i));
    }
    listing->conditions[listing->query.condition_count++] =
        (struct pawl_condition){.column = pawl_table_column(PAWL_TABLE_INSTANCES, "sub_status"),
                                .compare = PAWL_IN,
                                .values = listing->statuses,
                                .value_count = count};
    return PAWL_OK;
}

static int check_filter(const struct pawl_instance_filter *filter, struct pawl_error *err)
{
    const struct {
        const char *text, *what;
    } texts[] = {
        {filter->definition_id, "the filter's definition_id"},
        {filter->correlation_id, "the filter's correlation_id"},
        {filter->parent_id, "the filter's parent_id"},
        {filter->name, "the filter's name"},
        {filter->after ? filter->after->id : NULL, "the id of the instance to go on after"},
    };
    int status = PAWL_OK;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == PAWL_OK; i++)
        status = pawl__embed_check_utf8(texts[i].text, texts[i].what, err);
    return status;
}

static int make_query(struct listing *listing, const struct pawl_instance_filter *filter,
                      bool with_rows, bool with_total, struct pawl_error *err)
{
    uint32_t counting = with_rows ? PAWL_QUERY_TOTAL : PAWL_QUERY_COUNT;

    *listing =
        (struct listing){.query = {.table = PAWL_TABLE_INSTANCES,
                                   .flags = PAWL_QUERY_BRIEF | PAWL_QUERY_DESCENDING |
                                            (with_total || !with_rows ? counting : 0),
                                   .order = pawl_table_column(PAWL_TABLE_INSTANCES, "created_us"),
                                   .limit = filter->limit}};
    listing->query.conditions = listing->conditions;
    if (filter->limit > PAWL_STORE_ROWS_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "a page has at most %d instances, not %u",
                               PAWL_STORE_ROWS_MAX, filter->limit);
    where(listing, "definition_id", filter->definition_id);
    where(listing, "correlation_id", filter->correlation_id);
    where(listing, "parent_id", filter->parent_id);
    where(listing, "name", filter->name);
    if (filter->after) {
        if (!filter->after->id)
            return pawl__error_set(err, PAWL_EINVAL, "the instance to go on after has no id");
        listing->after = (struct pawl_instance_row){.id = pawl__str(filter->after->id),
                                                    .created_us = filter->after->created_us};
        listing->query.after = &listing->after;
    }
    return where_status(listing, filter, err);
}

/* Rows need not end in NUL. */
static int tell(struct pawl_arena *arena, const struct pawl_instance_row *row,
                int (*visit)(void *ctx, const struct pawl_instance_info *instance), void *ctx,
                bool *stop, struct pawl_error *err)
{
    const struct pawl_instance_info info = {
        .id = pawl__arena_str(arena, row->id).ptr,
        .definition_id = pawl__arena_str(arena, row->definition_id).ptr,
        .version_id = pawl__arena_str(arena, row->version_id).ptr,
        .parent_id = pawl__arena_str(arena, row->parent_id).ptr,
        .correlation_id = pawl__arena_str(arena, row->correlation_id).ptr,
        .name = pawl__arena_str(arena, row->name).ptr,
        .version = row->version,
        .status = pawl__embed_status(row->sub_status),
        .incident_count = row->incident_count,
        .created_us = row->created_us,
        .updated_us = row->updated_us,
        .finished_us = row->finished_us,
    };

    if (arena->status != PAWL_OK)
        return pawl__error_code(err, arena->status);
    *stop = visit(ctx, &info) != 0;
    return PAWL_OK;
}

int pawl_instances_list(struct pawl *pawl, const struct pawl_instance_filter *filter,
                        int (*row)(void *ctx, const struct pawl_instance_info *instance), void *ctx,
                        uint64_t *total, struct pawl_error *err)
{
    static const struct pawl_instance_filter all = {0};
    struct pawl_rows rows = {0};
    struct pawl_arena arena;
    struct listing listing;
    bool stop = false;
    int status = pawl__embed_check(pawl, err);

    if (status == PAWL_OK && filter)
        status = check_filter(filter, err);
    if (status == PAWL_OK)
        status = make_query(&listing, filter ? filter : &all, row != NULL, total != NULL, err);
    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    status = pawl_store_find(pawl->store, &listing.query, &arena, &rows, pawl__embed_deadline(pawl),
                             err);
    for (size_t i = 0; status == PAWL_OK && row && i < rows.count && !stop; i++)
        status =
            tell(&arena, &((const struct pawl_instance_row *)rows.rows)[i], row, ctx, &stop, err);
    pawl__arena_release(&arena);
    if (status == PAWL_OK && total)
        *total = rows.total;
    return status;
}
