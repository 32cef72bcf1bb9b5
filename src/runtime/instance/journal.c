/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of an instance: pages of log records and activity records, one per commit. Reading
 * them in their order, and keeping them within the limit.
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "engine/builder.h"
#include "engine/state/page.h"
#include "runtime/bytes.h"
#include "runtime/task.h"

/* Pages that are read at a time. */
#define PAGES 1000u
/* Pages that one commit drops at the most: a bit more than it could have to. */
#define DROP_MAX 2000u
/* The limit is looked at when so many parts of it have come since. */
#define LOOKS 100

/* ---- reading ------------------------------------------------------------------------------- */

/* The newest form of each record counts, in the place of its first. */
static int merge_records(struct pawl_arena *arena, struct pawl_map *places,
                         struct pawl_json *records, const struct pawl_json *page)
{
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(page) && status == PAWL_OK; i++) {
        struct pawl_json *record = pawl__json_at(page, i);
        struct pawl_str id = runtime_text(record, "id");
        uintptr_t place = (uintptr_t)pawl__map_get(places, id);

        if (place > 0) {
            *pawl__json_at(records, (uint32_t)(place - 1)) = *record;
            continue;
        }
        status = pawl__json_append(arena, records, *record);
        place = pawl__json_len(records);
        if (status == PAWL_OK)
            status = pawl__map_put(places, id,
                                   (void *)place); // NOLINT(performance-no-int-to-ptr)
    }
    return status;
}

/*
 * Pages with log come by their sequences, which are not negative. Those with records alone have
 * negative numbers, the newest the lowest, and say before which sequence they come; the history of
 * an imported instance has the lowest of all and comes first.
 */
struct journal {
    struct pawl_runtime *runtime;
    struct pawl_arena *arena;
    struct pawl_map places;
    struct pawl_json *log;
    struct pawl_json *records;
    struct pawl_json aside; /* pages with records alone, oldest first */
    uint32_t aside_done;
};

static int add_page(struct journal *journal, const struct pawl_json *page)
{
    struct pawl_json log, records;
    int status = pawl__page_read(journal->arena, page, &log, &records);

    for (uint32_t i = 0; status == PAWL_OK && i < pawl__json_len(&log); i++)
        status = pawl__json_append(journal->arena, journal->log, *pawl__json_at(&log, i));
    if (status == PAWL_OK)
        status = merge_records(journal->arena, &journal->places, journal->records, &records);
    return status;
}

/* What comes before the log's record of this sequence. */
static int add_aside(struct journal *journal, int64_t sequence)
{
    int status = PAWL_OK;

    while (status == PAWL_OK && journal->aside_done < pawl__json_len(&journal->aside)) {
        const struct pawl_json *page = pawl__json_at(&journal->aside, journal->aside_done);
        int64_t before = 0;

        (void)pawl__json_to_int(pawl__json_get_text(page, "before"), &before);
        if (before > sequence)
            break;
        journal->aside_done++;
        status = add_page(journal, page);
    }
    return status;
}

static int read_page(struct journal *journal, const struct pawl_journal_row *row,
                     struct pawl_error *err)
{
    struct pawl_json page;
    int status = pawl__runtime_json_read(journal->runtime, journal->arena, row->data, &page, err);

    if (status != PAWL_OK)
        return status;
    if (row->first_sequence < 0 && row->first_sequence != INT64_MIN) {
        status = pawl__json_append(journal->arena, &journal->aside, page);
    } else {
        status = add_aside(journal, row->first_sequence < 0 ? -1 : row->first_sequence);
        if (status == PAWL_OK)
            status = add_page(journal, &page);
    }
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

/* One half of the pages: those with negative numbers from the highest, or the others. */
static int read_pages(struct journal *journal, struct pawl_str instance_id, bool negative,
                      int64_t deadline_ns, struct pawl_error *err)
{
    const uint32_t sequence = pawl_table_column(PAWL_TABLE_JOURNAL, "first_sequence");
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_JOURNAL, "instance_id"),
         .value = {.text = instance_id}},
        {.column = sequence, .compare = negative ? PAWL_LT : PAWL_GE, .value = {.integer = 0}},
    };
    struct pawl_query query = {.table = PAWL_TABLE_JOURNAL,
                               .flags = negative ? PAWL_QUERY_DESCENDING : 0,
                               .conditions = conditions,
                               .condition_count = 2,
                               .order = sequence,
                               .limit = PAGES};
    struct pawl_rows rows;
    int status;

    do {
        status = pawl_store_find(journal->runtime->store, &query, journal->arena, &rows,
                                 deadline_ns, err);
        for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
            status = read_page(journal, &((const struct pawl_journal_row *)rows.rows)[i], err);
        if (status == PAWL_OK && rows.count > 0)
            query.after = &((const struct pawl_journal_row *)rows.rows)[rows.count - 1];
    } while (status == PAWL_OK && rows.count == PAGES);
    return status;
}

int pawl__runtime_journal(struct pawl_runtime *runtime, struct pawl_str instance_id,
                          struct pawl_arena *arena, struct pawl_json *log,
                          struct pawl_json *records, int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_hash_seed seed = {1, 2};
    struct journal journal = {.runtime = runtime,
                              .arena = arena,
                              .log = log,
                              .records = records,
                              .aside = pawl__json_array()};
    int status;

    *log = *records = pawl__json_array();
    pawl__map_init(&journal.places, arena->alloc, seed);
    status = read_pages(&journal, instance_id, true, deadline_ns, err);
    if (status == PAWL_OK)
        status = read_pages(&journal, instance_id, false, deadline_ns, err);
    if (status == PAWL_OK && add_aside(&journal, INT64_MAX) != PAWL_OK)
        status = pawl__error_code(err, pawl__arena_status(arena));
    pawl__map_release(&journal.places);
    return status;
}

/* ---- the limit ----------------------------------------------------------------------------- */

/* In the place of the first page, which is the oldest: the records before `sequence` are gone, the
 * last of them of `dropped_us`. That is its time too, so that what is behind it is later. */
static int put_marker(struct runtime_task *task, struct runtime_changes *changes,
                      struct pawl_str instance_id, int64_t sequence, int64_t dropped_us)
{
    struct pawl_builder b = {.arena = changes->arena};
    struct pawl_json page = pawl__json_object(), log = pawl__json_array(),
                     record = pawl__json_object();
    struct pawl_journal_row row = {
        .instance_id = instance_id, .count = 1, .from_us = dropped_us, .to_us = dropped_us};
    struct pawl_str text;
    int status;

    text = pawl__str(pawl__arena_printf(
        changes->arena,
        "The records before number %lld were dropped: journal.max_records is %lld, and pages are "
        "dropped as a whole",
        (long long)sequence, (long long)task->runtime->options.journal_max));
    if (text.len == 0)
        return pawl__arena_status(changes->arena);
    pawl__build_text(&b, &record, "workflowInstanceId", instance_id);
    pawl__build_time(&b, &record, "timestamp", pawl__us_to_ticks(dropped_us));
    pawl__build_int(&b, &record, "sequence", 0);
    pawl__build_name(&b, &record, "eventName", PAWL_LOG_TRUNCATED);
    pawl__build_text(&b, &record, "message", text);
    pawl__build_append(&b, &log, record);
    pawl__build(&b, &page, "log", log);
    pawl__build(&b, &page, "records", pawl__json_array());
    if (b.status != PAWL_OK)
        return b.status;
    text = pawl__runtime_json_text(changes->arena, &page);
    if (!text.ptr)
        return pawl__arena_status(changes->arena);
    status = pawl__runtime_pack(task->runtime, changes->arena, text, &row.data, task->err);
    if (status == PAWL_OK)
        pawl__runtime_change(changes, PAWL_CHANGE_PUT, PAWL_TABLE_JOURNAL, &row);
    return status;
}

/* Pages of the given kind that began before the limit, the oldest first. */
static int drop_pages(struct runtime_task *task, struct runtime_changes *changes,
                      const struct pawl_condition *conditions, size_t count, int64_t keep_from,
                      int64_t *dropped_to, int64_t *dropped_us)
{
    const struct pawl_query query = {.table = PAWL_TABLE_JOURNAL,
                                     .flags = PAWL_QUERY_BRIEF,
                                     .conditions = conditions,
                                     .condition_count = count,
                                     .order =
                                         pawl_table_column(PAWL_TABLE_JOURNAL, "first_sequence"),
                                     .limit = DROP_MAX};
    struct pawl_rows rows;
    int status = pawl_store_find(task->runtime->store, &query, changes->arena, &rows,
                                 task->deadline_ns, task->err);

    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        const struct pawl_journal_row *row = &((const struct pawl_journal_row *)rows.rows)[i];

        if (row->first_sequence + row->count > keep_from)
            break; /* some of it is to be kept */
        if (row->first_sequence != 0)
            pawl__runtime_change(changes, PAWL_CHANGE_DELETE, PAWL_TABLE_JOURNAL, row);
        *dropped_to = row->first_sequence + row->count;
        *dropped_us = row->to_us;
    }
    return status;
}

int pawl__runtime_trim_journal(struct runtime_task *task, struct runtime_changes *changes,
                               struct pawl_str instance_id, int64_t before, int64_t after)
{
    int64_t most = task->runtime->options.journal_max, every = most / LOOKS + 1;
    int64_t keep_from = after - most, dropped_to = 0, dropped_us = 0, none = 0;
    const uint32_t owner = pawl_table_column(PAWL_TABLE_JOURNAL, "instance_id");
    const uint32_t sequence = pawl_table_column(PAWL_TABLE_JOURNAL, "first_sequence");
    struct pawl_condition conditions[] = {
        {.column = owner, .value = {.text = instance_id}},
        {.column = sequence, .compare = PAWL_GE, .value = {.integer = 0}},
        {.column = sequence, .compare = PAWL_LT, .value = {.integer = keep_from}},
        {.column = pawl_table_column(PAWL_TABLE_JOURNAL, "to_us"),
         .compare = PAWL_LT,
         .value = {.integer = 0}},
    };
    int status;

    if (keep_from <= 0 || before / every == after / every)
        return PAWL_OK;
    status = drop_pages(task, changes, conditions, 3, keep_from, &dropped_to, &dropped_us);
    if (status != PAWL_OK || dropped_to <= 1)
        return status;
    /* Records without log have negative numbers; the history of an import stays. */
    conditions[1] =
        (struct pawl_condition){.column = sequence, .compare = PAWL_LT, .value = {.integer = 0}};
    conditions[2] = (struct pawl_condition){
        .column = sequence, .compare = PAWL_GT, .value = {.integer = INT64_MIN}};
    conditions[3].value.integer = dropped_us;
    status = drop_pages(task, changes, conditions, 4, 1, &none, &none);
    if (status == PAWL_OK)
        status = put_marker(task, changes, instance_id, dropped_to, dropped_us);
    return status;
}
