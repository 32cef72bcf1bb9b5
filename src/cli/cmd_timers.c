/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl timers`: what becomes due by time, of instances and of triggers, soonest first. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "views/timers.h"

/* Words of its time for people: "in 3m". */
static void put_when(struct pawl_builder *b, struct pawl_json *row, int64_t left_us)
{
    char span[PAWL_CLI_SPAN_TEXT];

    pawl__cli_put(b, row, "when",
                  pawl__str(pawl__arena_printf(b->arena, left_us > 0 ? "in %s" : "overdue %s",
                                               pawl__cli_span_text(left_us, span))));
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
    const struct pawl_op op = pawl__cli_session_op(session, err);
    const struct pawl_timer_query query = {
        .instance_id = pawl__str(pawl__cli_text(&cli->args, "instance", "")),
        .is_overdue = pawl__cli_flag(&cli->args, "overdue"),
        .page = pawl__cli_page(&cli->args),
    };
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    struct pawl_timer_list found = {.count = 0};
    int status = pawl__op_timers_list(&op, &query, &found);

    for (size_t i = 0; i < found.count; i++) {
        struct pawl_json row = pawl__view_timer(&b, &found.timers[i]);

        if (!pawl__cli_flag(&cli->args, "json"))
            put_when(&b, &row, found.timers[i].work->due_us - found.now_us);
        pawl__build_append(&b, &rows, row);
    }
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    return status == PAWL_OK ? pawl__cli_page_show(cli, &rows, &found.page, columns)
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
     .help = "Only timers of this instance"},
    {.name = "overdue", .kind = PAWL_CLI_FLAG, .help = "Only overdue timers"},
    PAWL_CLI_PAGE_OPTIONS("the soonest"),
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_timers = {
    .name = "timers",
    .summary = "List timers of instances and triggers, soonest first",
    .help = "Times are UTC, by the store's clock. An overdue timer waits for a worker\n"
            "('pawl worker'), or failed and will be retried: then ERROR says why.\n",
    .options = options,
    .run = run,
};
