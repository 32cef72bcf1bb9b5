/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl tasks`: the tasks that workflows wait for; `pawl tasks complete` reports one as done. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "cli/command/values.h"
#include "views/stimuli.h"

/* ---- list ---------------------------------------------------------------------------------- */

static int list(struct pawl_cli_session *session, struct pawl_error *err)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "TASK", .key = "taskId"},
        {.title = "NAME", .key = "taskName"},
        {.title = "INSTANCE", .key = "instanceId"},
        {.title = "SINCE", .key = "since", .is_time = true},
        {.title = "PAYLOAD", .key = "payload"},
        {.title = NULL},
    };
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    const struct pawl_task_query query = {
        .instance_id = pawl__str(pawl__cli_text(&cli->args, "instance", "")),
        .correlation_id = pawl__str(pawl__cli_text(&cli->args, "correlation-id", "")),
        .page = pawl__cli_page(&cli->args),
    };
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    struct pawl_task_list found = {.count = 0};
    int status = pawl__op_tasks_list(&op, &query, &found);

    for (size_t i = 0; i < found.count; i++)
        pawl__build_append(&b, &rows, pawl__view_task(&b, &found.tasks[i]));
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    return status == PAWL_OK ? pawl__cli_page_show(cli, &rows, &found.page, columns)
                             : pawl__cli_fail(cli, err, pawl__cli_session_hint(status));
}

static int run_list(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, list);
}

/* ---- complete ------------------------------------------------------------------------------ */

static int complete(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    const char *text = pawl__cli_text(&cli->args, "result", NULL);
    struct pawl_json result = pawl__json_null();
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_send_result sent = {0};
    struct pawl_json said;
    int status = text ? pawl__cli_payload(cli, text, &result, err) : PAWL_OK;

    session->as_json = pawl__cli_flag(&cli->args, "json");
    if (status == PAWL_OK)
        status = pawl__op_task_complete(&op, pawl__str(cli->args.operands[0]), &result,
                                        pawl__cli_flag(&cli->args, "detach"), &sent);
    if (status == PAWL_OK && !pawl__cli_flag(&cli->args, "detach"))
        status = pawl__cli_session_drain(session, err);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err,
                              status == PAWL_ENOTFOUND ? "'pawl tasks' lists the open tasks"
                                                       : pawl__cli_session_hint(status));
    if (session->as_json) {
        said = pawl__view_sent(&b, &sent);
        return pawl__cli_print_built(cli, &b, &said, 0);
    }
    pawl__cli_print(&cli->out, "completed %s\n", cli->args.operands[0]);
    return PAWL_CLI_EXIT_OK;
}

static int run_complete(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, complete);
}

static const struct pawl_cli_option complete_options[] = {
    {.name = "result",
     .letter = 'r',
     .kind = PAWL_CLI_TEXT,
     .arg = "VALUE",
     .help = "The result: JSON, else text; @FILE: the content of a file (default: null)",
     .may_be_empty = true},
    {.name = "detach",
     .letter = 'd',
     .kind = PAWL_CLI_FLAG,
     .help = "Only store the report; a worker delivers it"},
    {.name = NULL},
};

static const struct pawl_cli_command complete_command = {
    .name = "complete",
    .summary = "Report that a task was done: its workflow continues",
    .operands = "TASK",
    .help = "When this command succeeds, the report is stored and will be delivered despite\n"
            "crashes. Reporting a task again does nothing; with another result it fails.\n",
    .options = complete_options,
    .run = run_complete,
};

static const struct pawl_cli_command *const commands[] = {&complete_command, NULL};

static const struct pawl_cli_option options[] = {
    {.name = "instance", .kind = PAWL_CLI_TEXT, .arg = "ID", .help = "Only tasks of this instance"},
    {.name = "correlation-id",
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "Only tasks of instances with this correlation id"},
    PAWL_CLI_PAGE_OPTIONS("the oldest"),
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_tasks = {
    .name = "tasks",
    .summary = "List the tasks that workflows wait for, or report one as done",
    .help = "A workflow requests a task with the activity Elsa.RunTask and waits until it is\n"
            "reported: 'pawl tasks complete TASK --result VALUE'.\n",
    .options = options,
    .commands = commands,
    .run = run_list,
};
