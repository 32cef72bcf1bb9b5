/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl timers`: what becomes due by time, of instances and of triggers, soonest first. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/listing.h"
#include "cli/output.h"

/* The rows, and what they belong to. */
struct timers {
    struct pawl_rows work;
    struct pawl_rows bookmarks;
    struct pawl_rows instances;
    struct pawl_rows triggers;
    int64_t now_us;
};

static int find_work(struct pawl_cli_session *session, struct timers *timers,
                     struct pawl_error *err)
{
    static const struct pawl_datum kinds[] = {{.text = PAWL_STR_LIT(PAWL_WORK_TIMER)},
                                              {.text = PAWL_STR_LIT(PAWL_WORK_TICK)}};
    const struct pawl_cli_args *args = &session->cli->args;
    struct pawl_cli_list list;
    int status = pawl__cli_store_now(session, &timers->now_us, err);

    if (status != PAWL_OK)
        return status;
    pawl__cli_list_init(&list, args, PAWL_TABLE_WORK, "due_us", 0);
    pawl__cli_list_in(&list, "kind", kinds, sizeof kinds / sizeof kinds[0]);
    pawl__cli_list_int(&list, "due_us", PAWL_LT, PAWL_TIME_NEVER);
    pawl__cli_list_text(&list, "instance_id", pawl__cli_text(args, "instance", NULL));
    if (pawl__cli_flag(args, "overdue"))
        pawl__cli_list_int(&list, "due_us", PAWL_LE, timers->now_us);
    return pawl__cli_list_find(session, &list, &session->cli->arena, &timers->work, err);
}

static struct pawl_str member_of(const struct pawl_work_row *row, enum pawl_table table)
{
    if (table == PAWL_TABLE_TRIGGERS)
        return pawl__str_is(row->kind, PAWL_WORK_TICK) ? row->name : pawl__str("");
    return table == PAWL_TABLE_BOOKMARKS ? row->bookmark_id : row->instance_id;
}

/* The rows of a table that the timers name. */
static int find_named(struct pawl_cli_session *session, const struct timers *timers,
                      enum pawl_table table, struct pawl_rows *out, struct pawl_error *err)
{
    const struct pawl_work_row *work = timers->work.rows;
    struct pawl_arena *arena = &session->cli->arena;
    struct pawl_datum *ids = pawl__arena_alloc_array(arena, timers->work.count + 1, sizeof *ids);
    struct pawl_cli_list list;
    size_t count = 0;

    if (!ids)
        return pawl__error_code(err, pawl__arena_status(arena));
    for (size_t i = 0; i < timers->work.count; i++) {
        ids[count].text = member_of(&work[i], table);
        count += ids[count].text.len > 0;
    }
    *out = (struct pawl_rows){.count = 0};
    if (count == 0)
        return PAWL_OK;
    pawl__cli_list_all(&list, table, NULL, table == PAWL_TABLE_INSTANCES ? PAWL_QUERY_BRIEF : 0);
    pawl__cli_list_in(&list, "id", ids, count);
    return pawl__cli_list_find(session, &list, arena, out, err);
}

static int find(struct pawl_cli_session *session, struct timers *timers, struct pawl_error *err)
{
    int status = find_work(session, timers, err);

    if (status == PAWL_OK)
        status = find_named(session, timers, PAWL_TABLE_BOOKMARKS, &timers->bookmarks, err);
    if (status == PAWL_OK)
        status = find_named(session, timers, PAWL_TABLE_INSTANCES, &timers->instances, err);
    if (status == PAWL_OK)
        status = find_named(session, timers, PAWL_TABLE_TRIGGERS, &timers->triggers, err);
    return status;
}

/* ---- telling ------------------------------------------------------------------------------- */

static void put_trigger(struct pawl_builder *b, const struct timers *timers,
                        const struct pawl_work_row *work, struct pawl_json *one)
{
    const struct pawl_trigger_row *rows = timers->triggers.rows;

    pawl__cli_put(b, one, "triggerId", work->name);
    for (size_t i = 0; i < timers->triggers.count; i++) {
        if (!pawl__str_equal(rows[i].id, work->name))
            continue;
        pawl__cli_put(b, one, "definitionId", rows[i].definition_id);
        pawl__cli_put(b, one, "activityType", rows[i].name);
        pawl__cli_put(b, one, "activityId", rows[i].activity_id);
        pawl__cli_put_bytes(b, one, "payload", rows[i].payload);
    }
}

static void put_bookmark(struct pawl_builder *b, const struct timers *timers,
                         const struct pawl_work_row *work, struct pawl_json *one)
{
    const struct pawl_instance_row *instances = timers->instances.rows;
    const struct pawl_bookmark_row *bookmarks = timers->bookmarks.rows;

    pawl__cli_put(b, one, "instanceId", work->instance_id);
    for (size_t i = 0; i < timers->instances.count; i++) {
        if (pawl__str_equal(instances[i].id, work->instance_id))
            pawl__cli_put(b, one, "definitionId", instances[i].definition_id);
    }
    for (size_t i = 0; i < timers->bookmarks.count; i++) {
        if (!pawl__str_equal(bookmarks[i].id, work->bookmark_id))
            continue;
        pawl__cli_put(b, one, "activityType", bookmarks[i].name);
        pawl__cli_put(b, one, "activityId", bookmarks[i].activity_id);
        pawl__cli_put_bytes(b, one, "payload", bookmarks[i].payload);
    }
    pawl__cli_put(b, one, "bookmarkId", work->bookmark_id);
}

static void add_row(struct pawl_builder *b, const struct timers *timers,
                    const struct pawl_work_row *work, struct pawl_json *rows)
{
    bool is_tick = pawl__str_is(work->kind, PAWL_WORK_TICK);
    int64_t left_us = work->due_us - timers->now_us;
    char span[PAWL_CLI_SPAN_TEXT];
    struct pawl_json one = pawl__json_object();
    const char *when = pawl__arena_printf(b->arena, left_us > 0 ? "in %s" : "overdue %s",
                                          pawl__cli_span_text(left_us, span));

    pawl__cli_put_time(b, &one, "dueAt", work->due_us);
    pawl__cli_put(b, &one, "when", pawl__str(when));
    pawl__build(b, &one, "isOverdue", pawl__json_bool(left_us <= 0));
    pawl__build_name(b, &one, "of", is_tick ? "trigger" : "instance");
    if (is_tick)
        put_trigger(b, timers, work, &one);
    else
        put_bookmark(b, timers, work, &one);
    pawl__build_int(b, &one, "attempts", work->attempts);
    pawl__cli_put(b, &one, "error", work->error);
    pawl__build_append(b, rows, one);
}

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "DUE", .key = "dueAt", .is_time = true},
        {.title = "WHEN", .key = "when"},
        {.title = "OF", .key = "of"},
        {.title = "DEFINITION", .key = "definitionId"},
        {.title = "INSTANCE", .key = "instanceId"},
        {.title = "TYPE", .key = "activityType"},
        {.title = "ACTIVITY", .key = "activityId"},
        {.title = "ERROR", .key = "error"},
        {.title = NULL},
    };
    struct pawl_cli *cli = session->cli;
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    struct timers timers = {.now_us = 0};
    int status = find(session, &timers, err);

    for (size_t i = 0; status == PAWL_OK && i < timers.work.count; i++)
        add_row(&b, &timers, &((const struct pawl_work_row *)timers.work.rows)[i], &rows);
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    return status == PAWL_OK ? pawl__cli_list_show(cli, &rows, timers.work.total, columns)
                             : pawl__cli_fail(cli, err, pawl__cli_session_hint(status));
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, body);
}

static const struct pawl_cli_option options[] = {
    {.name = "instance",
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "Only the timers of this instance"},
    {.name = "overdue", .kind = PAWL_CLI_FLAG, .help = "Only those whose time has come"},
    PAWL_CLI_LIST_OPTIONS("the soonest"),
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_timers = {
    .name = "timers",
    .summary = "List timers of instances and of triggers, the soonest first",
    .help = "Times are UTC, by the store's clock. One that is overdue waits for a worker\n"
            "('pawl worker'), or failed and is tried again: then ERROR says why.\n",
    .options = options,
    .run = run,
};
