/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of the log of an instance, without reading the rest.
 *
 * Rows of the journal with log records have the sequence of their first record as their key, and
 * sequences have no gaps but one: where records were dropped, behind the marker that says so. What
 * was imported with a longer log than its count said is one row before all others. So the place of
 * the nth record is known from the first two rows, and a page costs the same wherever it is.
 *
 *     row INT64_MIN   `before` records, of an import
 *     first row       `head` records: the marker, or just the first ones
 *     all others      without a gap from `second` on
 *
 * A filter has to look at every record: it does so row by row, keeping what matches only.
 */
#include "runtime/runtime_private.h"

#include "base/error.h"
#include "engine/state/page.h"
#include "runtime/bytes.h"

/* Rows that are read at a time, and what they may take. */
#define ROWS 64u
#define SCRATCH_BYTES_MAX ((size_t)1 << 30)

struct reading {
    struct pawl_runtime *runtime;
    struct pawl_str instance_id;
    const struct pawl_journal_request *request;
    struct pawl_arena *arena;  /* of what is returned */
    struct pawl_arena scratch; /* of the rows that are being read */
    struct pawl_json log;
    uint64_t offset, limit; /* of the records that match, from the end where reading begins */
    uint64_t seen;          /* records that matched so far */
    bool newest_first;      /* how rows are read */
    bool is_done;
    int64_t deadline_ns;
    struct pawl_error *err;
};

/* ---- filters -------------------------------------------------------------------------------- */

static bool is_one_of(struct pawl_str text, const struct pawl_str *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (pawl__str_equal(text, texts[i]))
            return true;
    }
    return false;
}

static bool matches(const struct pawl_journal_request *request, const struct pawl_json *record)
{
    return (!request->activity_ids ||
            is_one_of(runtime_text(record, "activityId"), request->activity_ids,
                      request->activity_id_count)) &&
           (!request->node_ids || is_one_of(runtime_text(record, "activityNodeId"),
                                            request->node_ids, request->node_id_count)) &&
           (!request->events ||
            is_one_of(runtime_text(record, "eventName"), request->events, request->event_count)) &&
           !is_one_of(runtime_text(record, "activityType"), request->excluded_types,
                      request->excluded_type_count);
}

static bool has_filter(const struct pawl_journal_request *request)
{
    return request->activity_ids || request->node_ids || request->events ||
           request->excluded_type_count > 0;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static int take_record(struct reading *reading, const struct pawl_json *record)
{
    struct pawl_json copy;
    int status;

    if (reading->is_done || !matches(reading->request, record))
        return PAWL_OK;
    reading->seen++;
    if (reading->seen <= reading->offset || pawl__json_len(&reading->log) >= reading->limit)
        return PAWL_OK;
    status = pawl__json_copy(reading->arena, record, &copy);
    if (status == PAWL_OK)
        status = pawl__json_append(reading->arena, &reading->log, copy);
    if (pawl__json_len(&reading->log) >= reading->limit && !reading->request->with_total)
        reading->is_done = true;
    return status;
}

static int read_row(struct reading *reading, const struct pawl_journal_row *row)
{
    struct pawl_json page, log, records;
    int status = pawl__runtime_json_read(reading->runtime, &reading->scratch, row->data, &page,
                                         reading->err);

    if (status != PAWL_OK)
        return status;
    status = pawl__page_read(&reading->scratch, &page, &log, &records);
    for (uint32_t i = 0; status == PAWL_OK && i < pawl__json_len(&log); i++)
        status = take_record(
            reading, pawl__json_at(&log, reading->newest_first ? pawl__json_len(&log) - 1 - i : i));
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(reading->err, status);
}

static int find_rows(struct reading *reading, int64_t from, bool descending, bool brief,
                     uint32_t limit, const struct pawl_journal_row *after, struct pawl_rows *out)
{
    const uint32_t sequence = pawl_table_column(PAWL_TABLE_JOURNAL, "first_sequence");
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_JOURNAL, "instance_id"),
         .value = {.text = reading->instance_id}},
        {.column = sequence,
         .compare = from == INT64_MIN ? PAWL_EQ : PAWL_GE,
         .value = {.integer = from}},
    };
    const struct pawl_query query = {.table = PAWL_TABLE_JOURNAL,
                                     .flags = (descending ? PAWL_QUERY_DESCENDING : 0u) |
                                              (brief ? PAWL_QUERY_BRIEF : 0u),
                                     .conditions = conditions,
                                     .condition_count = 2,
                                     .order = sequence,
                                     .limit = limit,
                                     .after = after};

    return pawl_store_find(reading->runtime->store, &query, &reading->scratch, out,
                           reading->deadline_ns, reading->err);
}

/* All rows from this sequence on, or the one of an import. */
static int read_rows(struct reading *reading, int64_t from)
{
    struct pawl_journal_row last = {.first_sequence = 0};
    struct pawl_rows rows = {0};
    bool begun = false;
    int status;

    do {
        const struct pawl_journal_row *row;

        pawl__arena_reset(&reading->scratch);
        last.instance_id = reading->instance_id;
        status = find_rows(reading, from, reading->newest_first, false, ROWS, begun ? &last : NULL,
                           &rows);
        row = rows.rows;
        for (size_t i = 0; status == PAWL_OK && i < rows.count && !reading->is_done; i++)
            status = read_row(reading, &row[i]);
        if (status == PAWL_OK && rows.count > 0)
            last.first_sequence = row[rows.count - 1].first_sequence;
        begun = true;
    } while (status == PAWL_OK && rows.count == ROWS && !reading->is_done);
    return status;
}

/* ---- places --------------------------------------------------------------------------------- */

struct places {
    uint64_t before, head; /* records of the first two kinds of rows above */
    int64_t first, second; /* sequences */
    uint64_t total;
};

static int find_places(struct reading *reading, struct places *out)
{
    const struct pawl_journal_row *row;
    struct pawl_rows rows = {0};
    int status = find_rows(reading, INT64_MIN, false, true, 1, NULL, &rows);

    *out = (struct places){.before = 0};
    if (status == PAWL_OK && rows.count > 0)
        out->before = (uint64_t)((const struct pawl_journal_row *)rows.rows)->count;
    if (status == PAWL_OK)
        status = find_rows(reading, 0, false, true, 2, NULL, &rows);
    out->total = out->before;
    if (status != PAWL_OK || rows.count == 0)
        return status;
    row = rows.rows;
    out->first = row[0].first_sequence;
    out->head = (uint64_t)row[0].count;
    out->second = rows.count > 1 ? row[1].first_sequence : out->first + row[0].count;
    out->total += out->head;
    if (rows.count < 2)
        return PAWL_OK;
    status = find_rows(reading, 0, true, true, 1, NULL, &rows);
    row = rows.rows;
    if (status == PAWL_OK && rows.count > 0)
        out->total += (uint64_t)(row->first_sequence + row->count - out->second);
    return status;
}

/* The last row that begins at or before this sequence. */
static int row_of(struct reading *reading, int64_t sequence, int64_t *out)
{
    const uint32_t column = pawl_table_column(PAWL_TABLE_JOURNAL, "first_sequence");
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_JOURNAL, "instance_id"),
         .value = {.text = reading->instance_id}},
        {.column = column, .compare = PAWL_GE, .value = {.integer = 0}},
        {.column = column, .compare = PAWL_LE, .value = {.integer = sequence}},
    };
    const struct pawl_query query = {.table = PAWL_TABLE_JOURNAL,
                                     .flags = PAWL_QUERY_DESCENDING | PAWL_QUERY_BRIEF,
                                     .conditions = conditions,
                                     .condition_count = 3,
                                     .order = column,
                                     .limit = 1};
    struct pawl_rows rows = {0};
    int status = pawl_store_find(reading->runtime->store, &query, &reading->scratch, &rows,
                                 reading->deadline_ns, reading->err);

    *out = sequence;
    if (status == PAWL_OK && rows.count > 0)
        *out = ((const struct pawl_journal_row *)rows.rows)->first_sequence;
    return status;
}

/* Reads `limit` records from place `offset` on, oldest first. */
static int read_places(struct reading *reading, const struct places *places)
{
    uint64_t behind_head = places->before + places->head;
    int64_t from = 0;
    int status = PAWL_OK;

    if (reading->offset < places->before)
        status = read_rows(reading, INT64_MIN);
    else
        reading->seen = places->before;
    if (status == PAWL_OK && !reading->is_done && reading->offset >= behind_head) {
        int64_t sequence = places->second + (int64_t)(reading->offset - behind_head);

        status = row_of(reading, sequence, &from);
        /* Records of that row before the wanted one are passed over by counting. */
        reading->seen = behind_head + (uint64_t)(from - places->second);
    }
    return status == PAWL_OK && !reading->is_done ? read_rows(reading, from) : status;
}

static int turn_around(struct reading *reading)
{
    uint32_t count = pawl__json_len(&reading->log);

    for (uint32_t i = 0; i < count / 2; i++) {
        struct pawl_json *a = pawl__json_at(&reading->log, i);
        struct pawl_json *b = pawl__json_at(&reading->log, count - 1 - i);
        struct pawl_json kept = *a;

        *a = *b;
        *b = kept;
    }
    return PAWL_OK;
}

/* Without a filter: only the rows that the page is in. */
static int read_part(struct reading *reading, uint64_t *total)
{
    const struct pawl_journal_request *request = reading->request;
    struct pawl_journal_request all = {.limit = request->limit};
    struct places places;
    int status = find_places(reading, &places);

    if (status != PAWL_OK)
        return status;
    *total = places.total;
    if (request->offset >= places.total || request->limit == 0)
        return PAWL_OK;
    reading->request = &all;
    reading->limit = request->limit;
    if (reading->limit > places.total - request->offset)
        reading->limit = places.total - request->offset;
    reading->offset =
        request->newest_first ? places.total - request->offset - reading->limit : request->offset;
    status = read_places(reading, &places);
    reading->request = request;
    return status == PAWL_OK && request->newest_first ? turn_around(reading) : status;
}

/* With a filter: row after row, from the end that is asked for. */
static int read_filtered(struct reading *reading, uint64_t *total)
{
    const struct pawl_journal_request *request = reading->request;
    int64_t first = request->newest_first ? 0 : INT64_MIN, second = first ? 0 : INT64_MIN;
    int status;

    reading->newest_first = request->newest_first;
    reading->offset = request->offset;
    reading->limit = request->limit;
    status = read_rows(reading, first);
    if (status == PAWL_OK && !reading->is_done)
        status = read_rows(reading, second);
    *total = reading->seen;
    return status;
}

int pawl__runtime_journal_page(struct pawl_runtime *runtime, struct pawl_str instance_id,
                               const struct pawl_journal_request *request, struct pawl_arena *arena,
                               struct pawl_json *log, uint64_t *total, int64_t deadline_ns,
                               struct pawl_error *err)
{
    struct reading reading = {.runtime = runtime,
                              .instance_id = instance_id,
                              .request = request,
                              .arena = arena,
                              .log = pawl__json_array(),
                              .deadline_ns = deadline_ns,
                              .err = err};
    uint64_t count = 0;
    int status;

    pawl__arena_init(&reading.scratch, arena->alloc, SCRATCH_BYTES_MAX);
    status = has_filter(request) ? read_filtered(&reading, &count) : read_part(&reading, &count);
    pawl__arena_release(&reading.scratch);
    if (status == PAWL_OK) {
        *log = reading.log;
        *total = count;
    }
    return status;
}
