/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl tasks`: the tasks that workflows wait for; `pawl tasks complete` reports one as done. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/listing.h"
#include "cli/output.h"
#include "cli/values.h"

#define STATE_MAX ((size_t)1 << 30)

/* ---- list ---------------------------------------------------------------------------------- */

/* What the activity was given is in the state of its instance; "payload" is that. */
static int put_payload(struct pawl_cli_session *session, const struct pawl_bookmark_row *row,
                       struct pawl_builder *b, struct pawl_json *one, struct pawl_error *err)
{
    const struct pawl_json *contexts, *payload = NULL;
    struct pawl_json state, copy = pawl__json_null();
    struct pawl_instance_row instance;
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &session->cli->env->alloc, STATE_MAX);
    status = pawl__runtime_show(session->runtime, row->instance_id, &arena, &instance, &state,
                                pawl__cli_session_deadline(session), err);
    if (status == PAWL_OK) {
        contexts = pawl__json_get_text(&state, "activityExecutionContexts");
        for (uint32_t i = 0; i < pawl__json_len(contexts); i++) {
            const struct pawl_json *context = pawl__json_at(contexts, i);

            if (pawl__str_equal(pawl__json_str(pawl__json_get_text(context, "id")),
                                row->activity_instance_id))
                payload =
                    pawl__json_get_text(pawl__json_get_text(context, "activityState"), "Payload");
        }
        if (payload)
            status = pawl__json_copy(b->arena, payload, &copy);
        if (status != PAWL_OK)
            (void)pawl__error_code(err, status);
        pawl__cli_put(b, one, "definitionId", pawl__arena_str(b->arena, instance.definition_id));
    }
    pawl__arena_release(&arena);
    pawl__build(b, one, "payload", copy);
    return status == PAWL_ENOTFOUND ? PAWL_OK : status; /* it has ended meanwhile */
}

static int add_row(struct pawl_cli_session *session, const struct pawl_bookmark_row *row,
                   struct pawl_builder *b, struct pawl_json *rows, struct pawl_error *err)
{
    struct pawl_json one = pawl__json_object(), stimulus = pawl__json_null();
    const struct pawl_json *id, *name;
    int status;

    if (row->payload.len > 0)
        b->status = pawl__json_parse(b->arena, row->payload, NULL, &stimulus, NULL, err);
    id = pawl__json_get_text(&stimulus, "taskId");
    name = pawl__json_get_text(&stimulus, "taskName");
    pawl__build(b, &one, "taskId", id ? *id : pawl__json_null());
    pawl__build(b, &one, "taskName", name ? *name : pawl__json_null());
    pawl__cli_put(b, &one, "instanceId", row->instance_id);
    status = put_payload(session, row, b, &one, err);
    pawl__cli_put(b, &one, "activityId", row->activity_id);
    pawl__cli_put(b, &one, "correlationId", row->correlation_id);
    pawl__cli_put_time(b, &one, "since", row->created_us);
    pawl__build_append(b, rows, one);
    return status;
}

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
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    struct pawl_cli_list list;
    struct pawl_rows found;
    int status;

    pawl__cli_list_init(&list, &cli->args, PAWL_TABLE_BOOKMARKS, "created_us", 0);
    pawl__cli_list_text(&list, "name", "Elsa.RunTask");
    pawl__cli_list_text(&list, "instance_id", pawl__cli_text(&cli->args, "instance", NULL));
    status = pawl__cli_list_find(session, &list, &cli->arena, &found, err);
    for (size_t i = 0; status == PAWL_OK && i < found.count; i++)
        status =
            add_row(session, &((const struct pawl_bookmark_row *)found.rows)[i], &b, &rows, err);
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    return status == PAWL_OK ? pawl__cli_list_show(cli, &rows, found.total, columns)
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
    const char *text = pawl__cli_text(&cli->args, "result", NULL);
    struct pawl_json result = pawl__json_null();
    struct pawl_sent sent = {0};
    int status = text ? pawl__cli_value(cli, pawl__str(text), &result) : PAWL_OK;

    session->as_json = pawl__cli_flag(&cli->args, "json");
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    else
        status =
            pawl__runtime_report_task(session->runtime, pawl__str(cli->args.operands[0]), &result,
                                      &sent, pawl__cli_session_deadline(session), err);
    if (status == PAWL_OK && !pawl__cli_flag(&cli->args, "detach"))
        status = pawl__cli_session_drain(session, err);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err,
                              status == PAWL_ENOTFOUND ? "'pawl tasks' lists those that are open"
                                                       : pawl__cli_session_hint(status));
    if (session->as_json)
        pawl__cli_print(&cli->out, "{\"resumed\":%u}\n", sent.resumed);
    else
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
     .help = "What came out of it: JSON, else text; without it, null"},
    {.name = "detach",
     .letter = 'd',
     .kind = PAWL_CLI_FLAG,
     .help = "Only report it; a worker does the rest"},
    {.name = NULL},
};

static const struct pawl_cli_command complete_command = {
    .name = "complete",
    .summary = "Report that a task was done: its workflow goes on",
    .operands = "TASK",
    .help = "When this command succeeds, the report is stored and will be delivered, whatever\n"
            "dies. A task is reported once.\n",
    .options = complete_options,
    .run = run_complete,
};

static const struct pawl_cli_command *const commands[] = {&complete_command, NULL};

static const struct pawl_cli_option options[] = {
    {.name = "instance",
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "List the tasks of this instance alone"},
    PAWL_CLI_LIST_OPTIONS("the oldest"),
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_tasks = {
    .name = "tasks",
    .summary = "List the tasks that workflows wait for, or report one as done",
    .help = "A workflow asks for a task with the activity Elsa.RunTask and waits until somebody\n"
            "reports it: 'pawl tasks complete TASK --result VALUE'.\n",
    .options = options,
    .commands = commands,
    .run = run_list,
};
