/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on one instance: `pawl show`, `resume`, `cancel`, `rm`, `journal`. */
#include "cli/commands.h"

#include "base/buf.h"
#include "base/error.h"
#include "cli/instances.h"
#include "cli/output.h"
#include "cli/values.h"

#define OUTPUT_MAX ((size_t)256 << 20)
/* Between looks at what is waited for. */
#define LOOK_NS INT64_C(50000000)

static struct pawl_str instance_id(const struct pawl_cli_session *session)
{
    return pawl__str(session->cli->args.operands[0]);
}

static int failed(struct pawl_cli_session *session, struct pawl_error *err)
{
    return pawl__cli_fail(session->cli, err,
                          err->code == PAWL_ENOTFOUND ? "'pawl ps --all' lists the instances"
                                                      : pawl__cli_session_hint(err->code));
}

/* ---- show ---------------------------------------------------------------------------------- */

static int show(struct pawl_cli_session *session, struct pawl_error *err)
{
    session->as_json = pawl__cli_flag(&session->cli->args, "json");
    (void)pawl__cli_show_instance(session, instance_id(session), err);
    return err->code == PAWL_OK ? PAWL_CLI_EXIT_OK : pawl__cli_exit_of(err->code);
}

static int run_show(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, show);
}

static const struct pawl_cli_option show_options[] = {
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print its state as a JSON object"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_show = {
    .name = "show",
    .summary = "Show an instance: its status, what it waits for, what went wrong",
    .operands = "INSTANCE",
    .options = show_options,
    .run = run_show,
};

/* ---- resume -------------------------------------------------------------------------------- */

static int resume(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_run what = {
        .bookmark_id = pawl__str(pawl__cli_text(&cli->args, "bookmark", "")),
        .input = pawl__json_object(),
    };
    struct pawl_outcome outcome;
    const char *text;
    size_t at = 0;
    int status = PAWL_OK;

    session->as_json = pawl__cli_flag(&cli->args, "json");
    while (status == PAWL_OK && (text = pawl__cli_next(&cli->args, "input", &at)) != NULL)
        status = pawl__cli_add_value(cli, &what.input, text, err);
    if (status == PAWL_OK)
        status = pawl__runtime_run(session->runtime, instance_id(session), &what, &outcome,
                                   pawl__cli_session_deadline(session), err);
    if (status == PAWL_OK)
        status = pawl__cli_session_drain(session, err);
    return status == PAWL_OK ? pawl__cli_show_instance(session, instance_id(session), err)
                             : failed(session, err);
}

static int run_resume(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, resume);
}

static const struct pawl_cli_option resume_options[] = {
    {.name = "bookmark",
     .letter = 'b',
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "The bookmark to resume; without it, it goes on where it stands"},
    {.name = "input",
     .letter = 'i',
     .kind = PAWL_CLI_TEXT,
     .arg = "NAME=VALUE",
     .help = "An input: JSON, else text; =@FILE reads it, @FILE has several",
     .repeatable = true},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print its state as a JSON object"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_resume = {
    .name = "resume",
    .summary = "Resume an instance that waits, or that another process left",
    .operands = "INSTANCE",
    .help = "Without --bookmark it goes on where it stood when its process died, if it did, and\n"
            "timers that are due fire. 'pawl show' lists the bookmarks.\n",
    .options = resume_options,
    .run = run_resume,
};

/* ---- cancel, rm ---------------------------------------------------------------------------- */

static int each_operand(struct pawl_cli_session *session, struct pawl_error *err, const char *done,
                        int (*act)(struct pawl_runtime *runtime, struct pawl_str id,
                                   int64_t deadline_ns, struct pawl_error *err))
{
    const struct pawl_cli_args *args = &session->cli->args;
    int status = PAWL_OK;

    for (size_t i = 0; i < args->operand_count && status == PAWL_OK; i++) {
        status = act(session->runtime, pawl__str(args->operands[i]),
                     pawl__cli_session_deadline(session), err);
        if (status == PAWL_OK)
            pawl__cli_print(&session->cli->out, "%s %s\n", done, args->operands[i]);
    }
    if (status == PAWL_OK)
        status = pawl__cli_session_drain(session, err);
    return status == PAWL_OK ? PAWL_CLI_EXIT_OK : failed(session, err);
}

/* How the instance stands; with `wait` when it has ended, or at the deadline (PAWL_ETIMEDOUT). */
static int look_whether_ended(struct pawl_cli_session *session, struct pawl_str id, bool wait,
                              struct pawl_instance_row *row, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    int64_t deadline_ns = pawl__cli_session_deadline(session);
    int status;

    for (;;) {
        int64_t next_ns = pawl_env_monotonic_ns(cli->env) + LOOK_NS;

        status = pawl__runtime_show(session->runtime, id, &cli->arena, row, NULL, deadline_ns, err);
        if (status != PAWL_OK || !wait || pawl__str_is(row->status, "Finished"))
            return status;
        if (next_ns > deadline_ns)
            return pawl__error_set(err, PAWL_ETIMEDOUT,
                                   "the cancellation of %.*s was requested, and it still runs",
                                   PAWL_STR_ARG(id));
        status = pawl_env_sleep_until(cli->env, next_ns);
        if (status != PAWL_OK)
            return pawl__error_code(err, status);
    }
}

static int cancel_one(struct pawl_cli_session *session, const char *id, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_instance_row row;
    int status = pawl__runtime_cancel(session->runtime, pawl__str(id),
                                      pawl__cli_session_deadline(session), err);

    if (status == PAWL_OK)
        status = look_whether_ended(session, pawl__str(id), pawl__cli_flag(&cli->args, "wait"),
                                    &row, err);
    if (status != PAWL_OK)
        return status;
    if (pawl__str_is(row.sub_status, "Cancelled"))
        pawl__cli_print(&cli->out, "cancelled %s\n", id);
    else if (pawl__str_is(row.status, "Finished"))
        pawl__cli_print(&cli->out, "%s had ended: %.*s\n", id, PAWL_STR_ARG(row.sub_status));
    else
        pawl__cli_print(&cli->out, "requested %s\n", id);
    pawl__cli_flush(&cli->out);
    return PAWL_OK;
}

static int cancel(struct pawl_cli_session *session, struct pawl_error *err)
{
    const struct pawl_cli_args *args = &session->cli->args;
    int status = PAWL_OK;

    for (size_t i = 0; i < args->operand_count && status == PAWL_OK; i++)
        status = cancel_one(session, args->operands[i], err);
    if (status == PAWL_OK)
        status = pawl__cli_session_drain(session, err);
    return status == PAWL_OK ? PAWL_CLI_EXIT_OK : failed(session, err);
}

static int run_cancel(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, cancel);
}

static int delete (struct pawl_cli_session *session, struct pawl_error *err)
{
    return each_operand(session, err, "deleted", pawl__runtime_delete);
}

static int run_rm(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, delete);
}

static const struct pawl_cli_option store_options[] = {
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

static const struct pawl_cli_option cancel_options[] = {
    {.name = "wait",
     .letter = 'w',
     .kind = PAWL_CLI_FLAG,
     .help = "Wait until it is so, at most 30 seconds for each"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_cancel = {
    .name = "cancel",
    .summary = "Cancel instances and their children",
    .operands = "INSTANCE...",
    .help =
        "Prints 'cancelled' when it is so. One that another node is running is cancelled at its\n"
        "next activity: then it prints 'requested', or waits (--wait). One that has ended stays\n"
        "as it is.\n",
    .options = cancel_options,
    .run = run_cancel,
};

const struct pawl_cli_command pawl__cli_rm = {
    .name = "rm",
    .summary = "Delete instances with their journals",
    .operands = "INSTANCE...",
    .options = store_options,
    .run = run_rm,
};

/* ---- journal ------------------------------------------------------------------------------- */

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

static void show_record(struct pawl_cli *cli, const struct pawl_json *record)
{
    static const char *const columns[] = {"timestamp", "eventName", "activityType", "activityId",
                                          "message"};

    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        if (i > 0)
            pawl__cli_print(&cli->out, "  ");
        pawl__cli_write_safe(&cli->out, text_of(record, columns[i]));
    }
    pawl__cli_print(&cli->out, "\n");
}

static int journal(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    int64_t deadline_ns = pawl__cli_session_deadline(session);
    struct pawl_instance_row row;
    struct pawl_json log, records;
    struct pawl_buf json;
    int status = pawl__runtime_show(session->runtime, instance_id(session), &cli->arena, &row, NULL,
                                    deadline_ns, err);

    if (status == PAWL_OK)
        status = pawl__runtime_journal(session->runtime, row.id, &cli->arena, &log, &records,
                                       deadline_ns, err);
    if (status != PAWL_OK)
        return failed(session, err);
    if (pawl__cli_flag(&cli->args, "json")) {
        pawl__buf_init(&json, &cli->env->alloc, OUTPUT_MAX);
        pawl__json_write(&json, pawl__cli_flag(&cli->args, "records") ? &records : &log,
                         PAWL_JSON_ESCAPE_MINIMAL);
        return pawl__cli_write_json(cli, &json);
    }
    for (uint32_t i = 0; i < pawl__json_len(&log); i++)
        show_record(cli, pawl__json_at(&log, i));
    return PAWL_CLI_EXIT_OK;
}

static int run_journal(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, journal);
}

static const struct pawl_cli_option journal_options[] = {
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print the log records as a JSON array"},
    {.name = "records",
     .kind = PAWL_CLI_FLAG,
     .help = "With --json: one record per activity execution instead"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_journal = {
    .name = "journal",
    .summary = "Show what an instance did, step by step",
    .operands = "INSTANCE",
    .options = journal_options,
    .run = run_journal,
};
