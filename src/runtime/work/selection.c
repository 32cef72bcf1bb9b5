/* SPDX-License-Identifier: Apache-2.0 */
/* Which instances an operator means; see selection.h. */
#include "runtime/work/selection.h"

#include "base/error.h"
#include "base/time/datetime.h"
#include "engine/status.h"
#include "runtime/instance/private.h"
#include "runtime/runtime_private.h"

#include <stddef.h>
#include <stdio.h>

#define DAY_US INT64_C(86400000000)

static const struct {
    const char *key;
    size_t offset; /* of the row's text */
    const char *column;
} lists[PAWL_SELECT_COUNT] = {
    [PAWL_SELECT_IDS] = {"workflowInstanceIds", offsetof(struct pawl_instance_row, id), "id"},
    [PAWL_SELECT_CORRELATIONS] = {"correlationIds",
                                  offsetof(struct pawl_instance_row, correlation_id),
                                  "correlation_id"},
    [PAWL_SELECT_NAMES] = {"names", offsetof(struct pawl_instance_row, name), "name"},
    [PAWL_SELECT_DEFINITIONS] = {"definitionIds", offsetof(struct pawl_instance_row, definition_id),
                                 "definition_id"},
    [PAWL_SELECT_VERSIONS] = {"definitionVersionIds",
                              offsetof(struct pawl_instance_row, version_id), "version_id"},
    [PAWL_SELECT_STATUSES] = {"statuses", offsetof(struct pawl_instance_row, status), "status"},
    [PAWL_SELECT_SUB_STATUSES] = {"subStatuses", offsetof(struct pawl_instance_row, sub_status),
                                  "sub_status"},
};

/* ---- reading -------------------------------------------------------------------------------- */

static int refuse(char *place, const char *key, int64_t index, const char *detail,
                  struct pawl_error *err)
{
    if (index >= 0)
        (void)snprintf(place, PAWL_SELECTION_PLACE_MAX, "%s[%d]", key, (int)index);
    else
        (void)snprintf(place, PAWL_SELECTION_PLACE_MAX, "%s", key);
    return pawl__error_set(err, PAWL_EINVAL, "%s", detail);
}

/* The member, whatever the case of its key; NULL: not given or null. */
static const struct pawl_json *member(const struct pawl_json *filter, const char *key)
{
    const struct pawl_json *value = pawl__json_get_nocase(filter, pawl__str(key));

    return pawl__json_type(value) == PAWL_JSON_NULL ? NULL : value;
}

static bool is_status(enum pawl_selection_list which, struct pawl_str text)
{
    enum pawl_sub_status sub_status;

    if (which == PAWL_SELECT_STATUSES)
        return pawl__str_equal_nocase(text, pawl__str("Running")) ||
               pawl__str_equal_nocase(text, pawl__str("Finished"));
    return which != PAWL_SELECT_SUB_STATUSES || pawl__sub_status_parse(text, &sub_status);
}

static int read_lists(const struct pawl_json *filter, struct pawl_selection *out, char *place,
                      struct pawl_error *err)
{
    for (unsigned i = 0; i < PAWL_SELECT_COUNT; i++) {
        const struct pawl_json *list = member(filter, lists[i].key);

        if (list && !pawl__json_is(list, PAWL_JSON_ARRAY))
            return refuse(place, lists[i].key, -1, "An array is expected.", err);
        for (uint32_t k = 0; list && k < pawl__json_len(list); k++) {
            const struct pawl_json *one = pawl__json_at(list, k);

            if (!pawl__json_is(one, PAWL_JSON_STRING))
                return refuse(place, lists[i].key, k, "A string is expected.", err);
            if (!is_status((enum pawl_selection_list)i, pawl__json_str(one)))
                return refuse(place, lists[i].key, k, "There is no such status.", err);
        }
        out->lists[i] = list;
    }
    return PAWL_OK;
}

static int read_bool(const struct pawl_json *filter, const char *key, int *out, char *place,
                     struct pawl_error *err)
{
    const struct pawl_json *value = member(filter, key);

    if (value && !pawl__json_is(value, PAWL_JSON_BOOL))
        return refuse(place, key, -1, "A boolean is expected.", err);
    if (value)
        *out = pawl__json_true(value);
    return PAWL_OK;
}

static bool read_instant(struct pawl_str text, int64_t *us)
{
    struct pawl_datetime at;
    int64_t ns;

    if (pawl__datetime_parse(text, &at, NULL) != PAWL_OK ||
        pawl__datetime_to_unix_ns(at, &ns, NULL) != PAWL_OK)
        return false;
    *us = ns / 1000;
    return true;
}

static bool read_time(const struct pawl_json *one, struct pawl_selection_time *out)
{
    static const struct {
        const char *name;
        size_t offset;
    } columns[] = {{"CreatedAt", offsetof(struct pawl_instance_row, created_us)},
                   {"UpdatedAt", offsetof(struct pawl_instance_row, updated_us)},
                   {"FinishedAt", offsetof(struct pawl_instance_row, finished_us)}};
    static const struct {
        const char *name;
        enum pawl_compare compare;
    } operators[] = {{"Is", PAWL_EQ},          {"IsNot", PAWL_NE},
                     {"LessThan", PAWL_LT},    {"LessThanOrEqual", PAWL_LE},
                     {"GreaterThan", PAWL_GT}, {"GreaterThanOrEqual", PAWL_GE}};
    struct pawl_str column = pawl__json_str(member(one, "column"));
    struct pawl_str compare = pawl__json_str(member(one, "operator"));
    bool has_column = false, has_operator = false;

    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        if (pawl__str_equal(column, pawl__str(columns[i].name))) {
            out->offset = columns[i].offset;
            has_column = true;
        }
    }
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (pawl__str_equal_nocase(compare, pawl__str(operators[i].name))) {
            out->compare = operators[i].compare;
            has_operator = true;
        }
    }
    if (!has_column || !has_operator ||
        !read_instant(pawl__json_str(member(one, "timestamp")), &out->from_us))
        return false;
    /* Midnight stands for the whole day. */
    out->to_us = out->from_us + (out->from_us % DAY_US == 0 ? DAY_US : 1);
    return true;
}

static int read_times(const struct pawl_json *filter, struct pawl_selection *out, char *place,
                      struct pawl_error *err)
{
    const struct pawl_json *list = member(filter, "timestampFilters");

    if (list && !pawl__json_is(list, PAWL_JSON_ARRAY))
        return refuse(place, "timestampFilters", -1, "An array is expected.", err);
    if (pawl__json_len(list) > PAWL_SELECTION_TIMES_MAX)
        return refuse(place, "timestampFilters", -1, "At most 16 times are accepted.", err);
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        if (!read_time(pawl__json_at(list, i), &out->times[out->time_count++]))
            return pawl__error_set(err, PAWL_EINVAL,
                                   "Timestamp filter %u needs a column (CreatedAt, UpdatedAt, "
                                   "FinishedAt), an operator and a timestamp.",
                                   i);
    }
    return PAWL_OK;
}

static bool says_something(const struct pawl_selection *selection)
{
    for (unsigned i = 0; i < PAWL_SELECT_COUNT; i++) {
        if (pawl__json_len(selection->lists[i]) > 0)
            return true;
    }
    return selection->search.len > 0 || selection->has_incidents >= 0 ||
           selection->time_count > 0 || pawl__json_len(selection->activities) > 0;
}

int pawl__selection_read(const struct pawl_json *filter, struct pawl_selection *out,
                         char place[PAWL_SELECTION_PLACE_MAX], struct pawl_error *err)
{
    struct pawl_selection read = {.has_incidents = -1};
    int is_system = 0, all = 0;
    int status;

    place[0] = '\0';
    if (!pawl__json_is(filter, PAWL_JSON_OBJECT))
        return refuse(place, "filter", -1, "A filter is an object.", err);
    status = read_lists(filter, &read, place, err);
    if (status == PAWL_OK)
        status = read_bool(filter, "hasIncidents", &read.has_incidents, place, err);
    if (status == PAWL_OK)
        status = read_bool(filter, "isSystem", &is_system, place, err);
    if (status == PAWL_OK)
        status = read_bool(filter, "emptyFilterSelectsAll", &all, place, err);
    if (status == PAWL_OK)
        status = read_times(filter, &read, place, err);
    if (status != PAWL_OK)
        return status;
    read.search = pawl__json_str(member(filter, "searchTerm"));
    read.is_system = is_system;
    read.activities = member(filter, "activityFilters");
    if (read.activities && !pawl__json_is(read.activities, PAWL_JSON_ARRAY))
        return refuse(place, "activityFilters", -1, "An array is expected.", err);
    read.selects_none = !says_something(&read) && !all;
    *out = read;
    return PAWL_OK;
}

/* ---- matching ------------------------------------------------------------------------------- */

static bool is_in(const struct pawl_json *list, struct pawl_str text, bool any_case)
{
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        struct pawl_str one = pawl__json_str(pawl__json_at(list, i));

        if (any_case ? pawl__str_equal_nocase(one, text) : pawl__str_equal(one, text))
            return true;
    }
    return false;
}

static bool contains(struct pawl_str text, struct pawl_str part, bool any_case)
{
    for (size_t at = 0; at + part.len <= text.len; at++) {
        struct pawl_str piece = pawl__str_slice(text, at, at + part.len);

        if (any_case ? pawl__str_equal_nocase(piece, part) : pawl__str_equal(piece, part))
            return true;
    }
    return false;
}

static bool has_search(const struct pawl_instance_row *row, struct pawl_str search)
{
    return contains(row->name, search, true) || contains(row->id, search, false) ||
           contains(row->definition_id, search, false) ||
           contains(row->version_id, search, false) || contains(row->correlation_id, search, false);
}

static bool has_time(const struct pawl_instance_row *row, const struct pawl_selection_time *time)
{
    int64_t us = *(const int64_t *)(const void *)((const char *)row + time->offset);
    bool is_then = us >= time->from_us && us < time->to_us;

    /* One that has not ended has no such time. */
    if (us == 0)
        return false;
    switch (time->compare) {
    case PAWL_EQ:
        return is_then;
    case PAWL_NE:
        return !is_then;
    case PAWL_LT:
        return us < time->from_us;
    case PAWL_LE:
        return us < time->to_us;
    case PAWL_GT:
        return us >= time->to_us;
    case PAWL_GE:
    case PAWL_IN:
    case PAWL_CONTAINS:
        break;
    }
    return us >= time->from_us;
}

static bool row_matches(const struct pawl_selection *selection, const struct pawl_instance_row *row)
{
    for (unsigned i = 0; i < PAWL_SELECT_COUNT; i++) {
        const struct pawl_str *text =
            (const struct pawl_str *)(const void *)((const char *)row + lists[i].offset);
        bool any_case = i == PAWL_SELECT_STATUSES || i == PAWL_SELECT_SUB_STATUSES;

        if (selection->lists[i] && !is_in(selection->lists[i], *text, any_case))
            return false;
    }
    for (size_t i = 0; i < selection->time_count; i++) {
        if (!has_time(row, &selection->times[i]))
            return false;
    }
    return (row->is_system != 0) == selection->is_system &&
           (selection->has_incidents < 0 ||
            (row->incident_count != 0) == (selection->has_incidents == 1)) &&
           (selection->search.len == 0 || has_search(row, selection->search));
}

static bool is_of(const struct pawl_json *one, const struct pawl_json *filter, const char *key,
                  const char *record_key)
{
    const struct pawl_json *wanted = member(filter, key);

    return !wanted ||
           pawl__str_equal(pawl__json_str(wanted),
                           pawl__json_str(pawl__json_get_nocase(one, pawl__str(record_key))));
}

static bool execution_matches(const struct pawl_json *filters, const struct pawl_json *record)
{
    for (uint32_t i = 0; i < pawl__json_len(filters); i++) {
        const struct pawl_json *filter = pawl__json_at(filters, i);

        if (is_of(record, filter, "activityId", "activityId") &&
            is_of(record, filter, "nodeId", "activityNodeId") &&
            is_of(record, filter, "name", "activityName"))
            return true;
    }
    return false;
}

/* Of the executions of its activities. A journal may be long: its memory is not that of the search.
 */
static int activities_match(struct pawl_runtime *runtime, const struct pawl_selection *selection,
                            const struct pawl_instance_row *row, size_t bytes_max, bool *out,
                            int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_json log, records;
    struct pawl_arena arena;
    int status;

    *out = pawl__json_len(selection->activities) == 0;
    if (*out)
        return PAWL_OK;
    pawl__arena_init(&arena, &runtime->env->alloc, bytes_max);
    status = pawl__runtime_journal(runtime, row->id, &arena, &log, &records, deadline_ns, err);
    for (uint32_t i = 0; status == PAWL_OK && !*out && i < pawl__json_len(&records); i++)
        *out = execution_matches(selection->activities, pawl__json_at(&records, i));
    pawl__arena_release(&arena);
    return status == PAWL_ENOTFOUND ? PAWL_OK : status;
}

/* ---- finding -------------------------------------------------------------------------------- */

/* A list that the store can look up by itself; what is too long for it is compared here. */
static bool add_list(const struct pawl_selection *selection, enum pawl_selection_list which,
                     struct pawl_arena *arena, struct pawl_condition *to)
{
    const struct pawl_json *list = selection->lists[which];
    uint32_t len = pawl__json_len(list);
    struct pawl_datum *values;

    if (!list || len == 0 || len > PAWL_STORE_VALUES_MAX)
        return false;
    values = pawl__arena_alloc_array(arena, len, sizeof *values);
    for (uint32_t i = 0; values && i < len; i++)
        values[i] = (struct pawl_datum){.text = pawl__json_str(pawl__json_at(list, i))};
    *to = (struct pawl_condition){.column =
                                      pawl_table_column(PAWL_TABLE_INSTANCES, lists[which].column),
                                  .compare = PAWL_IN,
                                  .values = values,
                                  .value_count = len};
    return values != NULL;
}

static int find_rows(struct pawl_runtime *runtime, const struct pawl_selection *selection,
                     const struct pawl_selection_cursor *cursor, struct pawl_arena *arena,
                     struct pawl_rows *rows, int64_t deadline_ns, struct pawl_error *err)
{
    static const enum pawl_selection_list looked_up[] = {PAWL_SELECT_IDS, PAWL_SELECT_CORRELATIONS,
                                                         PAWL_SELECT_DEFINITIONS};
    const struct pawl_instance_row after = {.id = cursor->after_id, .created_us = cursor->after_us};
    struct pawl_condition conditions[4];
    size_t count = 0;
    struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                               .flags = PAWL_QUERY_BRIEF,
                               .conditions = conditions,
                               .order = pawl_table_column(PAWL_TABLE_INSTANCES, "created_us"),
                               .limit = PAWL_SELECTION_BATCH,
                               .after = cursor->after_id.len > 0 ? &after : NULL};

    for (size_t i = 0; i < sizeof looked_up / sizeof looked_up[0]; i++)
        count += add_list(selection, looked_up[i], arena, &conditions[count]);
    if (cursor->until_us != 0)
        conditions[count++] =
            (struct pawl_condition){.column = pawl_table_column(PAWL_TABLE_INSTANCES, "created_us"),
                                    .compare = PAWL_LE,
                                    .value = {.integer = cursor->until_us}};
    query.condition_count = count;
    return pawl_store_find(runtime->store, &query, arena, rows, deadline_ns, err);
}

int pawl__selection_next(struct pawl_runtime *runtime, const struct pawl_selection *selection,
                         struct pawl_selection_cursor *cursor, size_t limit,
                         struct pawl_arena *arena, const struct pawl_instance_row ***out,
                         size_t *count, int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_instance_row **found =
        pawl__arena_alloc_array(arena, limit + 1, sizeof(void *));
    const struct pawl_instance_row *all;
    struct pawl_rows rows = {0};
    size_t at = 0;
    int status;

    if (!found)
        return pawl__error_code(err, pawl__arena_status(arena));
    *count = 0;
    *out = found;
    if (selection->selects_none)
        cursor->is_done = true;
    if (cursor->is_done)
        return PAWL_OK;
    status = find_rows(runtime, selection, cursor, arena, &rows, deadline_ns, err);
    all = rows.rows;
    for (; status == PAWL_OK && at < rows.count && *count < limit; at++) {
        bool matches = row_matches(selection, &all[at]);

        if (matches)
            status = activities_match(runtime, selection, &all[at], arena->max_bytes, &matches,
                                      deadline_ns, err);
        if (matches)
            found[(*count)++] = &all[at];
        cursor->after_id = all[at].id;
        cursor->after_us = all[at].created_us;
    }
    cursor->is_done = status == PAWL_OK && at == rows.count && rows.count < PAWL_SELECTION_BATCH;
    return status;
}
