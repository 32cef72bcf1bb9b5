/* SPDX-License-Identifier: Apache-2.0 */
/* What operators change in an instance by hand: `pawl alter` and `pawl retry`. */
#include "cli/commands.h"

#include "base/buf.h"
#include "base/error.h"
#include "cli/command/instances.h"
#include "cli/command/output.h"
#include "operations/instances.h"

#define OUTPUT_MAX ((size_t)256 << 20)

static struct pawl_str instance_id(const struct pawl_cli_session *session)
{
    return pawl__str(session->cli->args.operands[0]);
}

static int failed(struct pawl_cli_session *session, struct pawl_error *err)
{
    const char *hint = pawl__cli_session_hint(err->code);

    if (err->code == PAWL_ENOTFOUND)
        hint = "'pawl ps --all' lists the instances, 'pawl show' what went wrong in one";
    return pawl__cli_fail(session->cli, err, hint);
}

/* ---- retry --------------------------------------------------------------------------------- */

static int retry(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    size_t count = 0, at = 0, i = 0;
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_outcome outcome;
    struct pawl_str *ids;
    const char *id;
    int status;

    while (pawl__cli_next(&cli->args, "activity", &at))
        count++;
    ids = pawl__arena_alloc_array(&cli->arena, count + 1, sizeof *ids);
    if (!ids) {
        (void)pawl__error_code(err, pawl__arena_status(&cli->arena));
        return failed(session, err);
    }
    for (at = 0; (id = pawl__cli_next(&cli->args, "activity", &at)) != NULL; i++)
        ids[i] = pawl__str(id);
    session->as_json = pawl__cli_flag(&cli->args, "json");
    status = pawl__op_instance_retry(&op, instance_id(session), ids, count, &outcome);
    if (status == PAWL_OK)
        status = pawl__cli_session_drain(session, err);
    return status == PAWL_OK ? pawl__cli_show_changed(session, instance_id(session), err)
                             : failed(session, err);
}

static int run_retry(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, retry);
}

static const struct pawl_cli_option retry_options[] = {
    {.name = "activity",
     .letter = 'a',
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "Only this activity, or this execution of it (default: all that have faulted)",
     .repeatable = true},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print its state as a JSON object"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_retry = {
    .name = "retry",
    .summary = "Run faulted activities again, or an instance that was set aside",
    .operands = "INSTANCE",
    .help = "An instance that could not be loaded or run continues where it stopped ('pawl ps\n"
            "--aside' lists them, 'pawl why' gives the reason).\n\n"
            "Reopens a faulted instance and records that in its journal. Its incidents are kept.\n"
            "Use 'pawl alter' first to correct a variable or to migrate it to another version.\n",
    .options = retry_options,
    .run = run_retry,
};

/* ---- alter --------------------------------------------------------------------------------- */

/* JSON as it stands, or a file with it. */
static int read_alterations(struct pawl_cli *cli, struct pawl_json *out, struct pawl_error *err)
{
    const char *operand = cli->args.operands[1];
    struct pawl_str text = pawl__str(operand);
    int status = PAWL_OK;

    if (operand[0] != '[' && operand[0] != '{')
        status = pawl__cli_read(cli, &cli->arena, operand, &text, err);
    return status == PAWL_OK ? pawl__json_parse(&cli->arena, text, NULL, out, NULL, err) : status;
}

static int show_log(struct pawl_cli *cli, const struct pawl_json *log)
{
    struct pawl_buf text;

    if (pawl__cli_flag(&cli->args, "json")) {
        pawl__buf_init(&text, &cli->env->alloc, OUTPUT_MAX);
        pawl__json_write(&text, log, PAWL_JSON_ESCAPE_MINIMAL);
        return pawl__cli_write_json(cli, &text);
    }
    for (uint32_t i = 0; i < pawl__json_len(log); i++) {
        pawl__cli_write_safe(&cli->out,
                             pawl__json_str(pawl__json_get_text(pawl__json_at(log, i), "message")));
        pawl__cli_print(&cli->out, "\n");
    }
    return PAWL_CLI_EXIT_OK;
}

static int alter(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_op op = pawl__cli_session_op(session, err);
    bool dry_run = pawl__cli_flag(&cli->args, "dry-run");
    struct pawl_instance_altered altered;
    struct pawl_json alterations;
    int status = read_alterations(cli, &alterations, err);

    session->as_json = pawl__cli_flag(&cli->args, "json");
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, pawl__cli_read_hint(status));
    status = pawl__op_instance_alter(&op, instance_id(session), &alterations, dry_run, &altered);
    if (status == PAWL_OK && !dry_run)
        status = pawl__cli_session_drain(session, err);
    if (status != PAWL_OK)
        return failed(session, err);
    return show_log(cli, &altered.log);
}

static int run_alter(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, alter);
}

static const struct pawl_cli_option alter_options[] = {
    {.name = "dry-run",
     .kind = PAWL_CLI_FLAG,
     .help = "Show what would be altered, and alter nothing"},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print what was altered as a JSON array"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_alter = {
    .name = "alter",
    .summary = "Change an instance by hand: variables, version, activities",
    .operands = "INSTANCE FILE|JSON",
    .help =
        "A JSON array of alterations; either all of them are applied or none:\n"
        "  {\"type\":\"Migrate\",\"targetVersion\":2}\n"
        "  {\"type\":\"ModifyVariable\",\"variableId\":\"ID\",\"value\":...}\n"
        "  {\"type\":\"ScheduleActivity\",\"activityId\":\"ID\"}      or \"activityInstanceId\"\n"
        "  {\"type\":\"CancelActivity\",\"activityId\":\"ID\"}        or \"activityInstanceId\"\n"
        "  {\"type\":\"Cancel\"}\n"
        "  {\"type\":\"Retry\",\"activityIds\":[\"ID\"]}              without ids: all\n"
        "Then the activities that they scheduled run. The journal records what was altered.\n",
    .options = alter_options,
    .run = run_alter,
};
