/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl top`: how a store and its nodes are doing, again and again. */
#include "cli/commands.h"

#include "base/buf.h"
#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "cli/command/watch.h"
#include "operations/statistics.h"
#include "views/statistics.h"

/* What one look may hold. */
#define LOOK_MAX ((size_t)1 << 28)

struct top {
    struct pawl_arena arena; /* of one look */
    int64_t last_us;         /* the store's time at the look before; 0: none */
};

/* ---- showing ------------------------------------------------------------------------------- */

static void put_head(struct pawl_cli_stream *to, const struct pawl_overview *seen)
{
    char time[PAWL_CLI_TIME_TEXT];

    /* A clock that stands at its beginning has no text. */
    if (seen->now_us > 0)
        pawl__cli_print(to, "now         %s UTC\n", pawl__cli_time_text(seen->now_us, time));
    if (seen->pause) {
        pawl__cli_print(to, "paused      since %s UTC",
                        pawl__cli_time_text(seen->pause->since_us, time));
        pawl__cli_print(to, seen->pause->by.len > 0 ? " by " : "");
        pawl__cli_write_safe(to, seen->pause->by);
        pawl__cli_print(to, seen->pause->reason.len > 0 ? ": " : "");
        pawl__cli_write_safe(to, seen->pause->reason);
        pawl__cli_print(to, "\n");
    }
}

static void put_counts(struct pawl_cli_stream *to, const struct pawl_overview *seen)
{
    const struct pawl_work_counts *work = &seen->work;
    char time[PAWL_CLI_TIME_TEXT];

    /* Counting a large store takes long: then it is not done at every look. */
    if (seen->counted_us > 0 && seen->counted_us < seen->now_us)
        pawl__cli_print(to, "counted     at %s UTC\n", pawl__cli_time_text(seen->counted_us, time));
    pawl__cli_print(to, "instances   ");
    for (unsigned i = 0; i < PAWL_COUNTED_COUNT; i++)
        pawl__cli_print(to, "%s%llu %s", i > 0 ? ", " : "", (unsigned long long)seen->instances[i],
                        pawl__counted_name((enum pawl_counted)i));
    pawl__cli_print(to, "\nwork        %llu due", (unsigned long long)work->due);
    if (work->oldest_due_us > 0)
        pawl__cli_print(to, " (the oldest since %s)",
                        pawl__cli_time_text(work->oldest_due_us, time) + sizeof "2026-01-01");
    pawl__cli_print(to, ", %llu later, %llu parked, %llu dead letters\n",
                    (unsigned long long)work->later, (unsigned long long)work->parked,
                    (unsigned long long)work->dead_letters);
    if (seen->started_per_second >= 0)
        pawl__cli_print(to, "rates       %.1f started, %.1f changed per second\n",
                        seen->started_per_second, seen->changed_per_second);
}

static int show(struct pawl_cli *cli, const struct pawl_overview *seen,
                const struct pawl_json *view)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "NODE", .key = "id"},
        {.title = "INCARNATION", .key = "incarnation"},
        {.title = "JOINED", .key = "joinedAt", .is_time = true},
        {.title = "LEASE ENDS", .key = "leaseEndsAt", .is_time = true},
        {.title = "RUNS", .key = "runs"},
        {.title = NULL},
    };

    put_head(&cli->out, seen);
    put_counts(&cli->out, seen);
    if (seen->nodes.count > 0)
        return pawl__cli_table(cli, pawl__json_get_text(view, "nodes"), columns) == PAWL_CLI_EXIT_OK
                   ? PAWL_OK
                   : PAWL_ENOMEM;
    pawl__cli_print(&cli->out, "nodes       none: 'pawl worker' starts one\n");
    return PAWL_OK;
}

/* One line. */
static int show_json(struct pawl_cli *cli, const struct pawl_json *seen)
{
    struct pawl_buf json;
    int status;

    pawl__buf_init(&json, &cli->env->alloc, LOOK_MAX);
    pawl__json_write(&json, seen, PAWL_JSON_ESCAPE_MINIMAL);
    pawl__buf_byte(&json, '\n');
    status = json.status;
    if (status == PAWL_OK)
        pawl__cli_write(&cli->out, pawl__buf_peek(&json));
    pawl__buf_release(&json);
    return status;
}

static int look_once(struct pawl_cli_session *session, void *ctx, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct top *top = ctx;
    struct pawl_builder b = {.arena = &top->arena};
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_overview seen;
    struct pawl_json view;
    int status;

    pawl__arena_reset(&top->arena);
    op.arena = &top->arena;
    status = pawl__op_overview(&op, top->last_us, &seen);
    if (status != PAWL_OK)
        return status;
    view = pawl__view_overview(&b, &seen);
    status = b.status;
    if (status == PAWL_OK && pawl__cli_flag(&cli->args, "json")) {
        status = show_json(cli, &view);
    } else if (status == PAWL_OK) {
        if (pawl__cli_watch_in_place(cli) && !pawl__cli_flag(&cli->args, "once"))
            pawl__cli_watch_clear(cli);
        else if (top->last_us != 0)
            pawl__cli_print(&cli->out, "\n");
        status = show(cli, &seen, &view);
    }
    top->last_us = seen.now_us;
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

static int run(struct pawl_cli *cli)
{
    struct top top = {.last_us = 0};
    int code;

    pawl__arena_init(&top.arena, &cli->env->alloc, LOOK_MAX);
    code = pawl__cli_watch(cli, pawl__cli_flag(&cli->args, "once"), look_once, &top);
    pawl__arena_release(&top.arena);
    return code;
}

static const struct pawl_cli_option options[] = {
    {.name = "once", .kind = PAWL_CLI_FLAG, .help = "Print once and exit"},
    PAWL_CLI_INTERVAL_OPTION,
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print one JSON object per line"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_top = {
    .name = "top",
    .summary = "Watch a store: instances, due work, nodes",
    .help =
        "Refreshes until Ctrl-C. 'later' is work that is not due yet, 'parked' are events that\n"
        "nothing waits for yet. Nodes are those with a valid lease, without this command.\n",
    .options = options,
    .run = run,
};
