/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on one instance: `pawl show`, `resume`, `cancel`, `rm`. */
#include "cli/commands.h"

#include "base/buf.h"
#include "base/error.h"
#include "cli/command/instances.h"
#include "cli/command/output.h"
#include "cli/command/values.h"
#include "operations/instances.h"
#include "operations/nodes.h"
#include "operations/waits.h"

#define OUTPUT_MAX ((size_t)256 << 20)

static struct pawl_str instance_id(const struct pawl_cli_session *session)
{
    return pawl__str(session->cli->args.operands[0]);
}

static int failed(struct pawl_cli_session *session, struct pawl_error *err)
{
    return pawl__cli_session_failed(session, err, "'pawl ps --all' lists the instances");
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
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_run what = {
        .bookmark_id = pawl__str(pawl__cli_text(&cli->args, "bookmark", "")),
    };
    struct pawl_instance_result result;
    int status = pawl__cli_values(cli, "input", &what.input, err);

    session->as_json = pawl__cli_flag(&cli->args, "json");
    if (status == PAWL_OK)
        status = pawl__op_instance_resume(&op, instance_id(session), &what, false, &result);
    if (status == PAWL_OK)
        status = pawl__cli_session_drain(session, err);
    return status == PAWL_OK ? pawl__cli_show_changed(session, instance_id(session), err)
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
     .help = "The bookmark to resume (default: continue where it stopped)"},
    PAWL_CLI_INPUT_OPTION,
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print its state as a JSON object"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_resume = {
    .name = "resume",
    .summary = "Resume an instance that waits, or whose process died",
    .operands = "INSTANCE",
    .help = "Without --bookmark it continues where it was when its process died, if it did, and\n"
            "due timers fire. 'pawl show' lists the bookmarks.\n",
    .options = resume_options,
    .run = run_resume,
};

/* ---- cancel, rm ---------------------------------------------------------------------------- */

static void show_cancelled(struct pawl_cli *cli, const struct pawl_instance_row *row,
                           bool is_deleted)
{
    if (pawl__str_is(row->sub_status, "Cancelled"))
        pawl__cli_print(&cli->out, "cancelled %.*s\n", PAWL_STR_ARG(row->id));
    else if (pawl__str_is(row->status, "Finished"))
        pawl__cli_print(&cli->out, "%.*s had ended: %.*s\n", PAWL_STR_ARG(row->id),
                        PAWL_STR_ARG(row->sub_status));
    else
        pawl__cli_print(&cli->out, "requested %.*s%s\n", PAWL_STR_ARG(row->id),
                        is_deleted ? ", which has been deleted" : "");
    pawl__cli_flush(&cli->out);
}

/* How the wait for its end failed, when it is not known to have ended all the same. */
static int tell_wait(struct pawl_str id, int status, struct pawl_error *err)
{
    if (status == PAWL_ETIMEDOUT)
        return pawl__error_set(err, PAWL_EUNKNOWN,
                               "the cancellation of %.*s was requested, and it has not ended yet; "
                               "'pawl why %.*s' says what delays it",
                               PAWL_STR_ARG(id), PAWL_STR_ARG(id));
    return pawl__error_after_commit(err, status, "the cancellation of %.*s was requested",
                                    PAWL_STR_ARG(id));
}

static int cancel_one(struct pawl_cli_session *session, struct pawl_str id, struct pawl_error *err)
{
    const struct pawl_cli_args *args = &session->cli->args;
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_error unread = PAWL_ERROR_INIT;
    struct pawl_instance_shown shown = {.row = {.id = id}};
    int looked, waited = PAWL_OK;
    bool is_deleted;
    int status = pawl__op_instance_cancel(&op, id, pawl__cli_flag(args, "only-itself"), NULL);

    if (status != PAWL_OK)
        return status;
    if (pawl__cli_flag(args, "wait"))
        waited = pawl__op_instance_wait(&op, id, PAWL_WAIT_ENDED, false, NULL);
    op = pawl__cli_session_op(session, &unread);
    looked = pawl__op_instance_show(&op, id, false, &shown);
    is_deleted = waited == PAWL_ENOTFOUND || looked == PAWL_ENOTFOUND;
    show_cancelled(session->cli, &shown.row, is_deleted);
    if (is_deleted || pawl__str_is(shown.row.status, "Finished")) {
        *err = (struct pawl_error)PAWL_ERROR_INIT;
        return PAWL_OK;
    }
    if (waited != PAWL_OK)
        return tell_wait(id, waited, err);
    looked = pawl__cli_session_stored(session, looked, "how the instance stands could not be read",
                                      &unread);
    if (looked != PAWL_OK)
        *err = unread;
    return looked;
}

static int delete_one(struct pawl_cli_session *session, struct pawl_str id, struct pawl_error *err)
{
    struct pawl_op op = pawl__cli_session_op(session, err);
    int status = pawl__op_instance_delete(&op, id);

    if (status == PAWL_OK)
        pawl__cli_print(&session->cli->out, "deleted %.*s\n", PAWL_STR_ARG(id));
    return status;
}

/* ---- of many ------------------------------------------------------------------------------- */

/* What is to be cancelled or deleted when no ids are given. */
static bool read_filter(const struct pawl_cli_args *args, struct pawl_str *sub_status,
                        struct pawl_instance_query *query)
{
    *query = PAWL_INSTANCE_QUERY_ALL;
    query->definition_id = pawl__str(pawl__cli_text(args, "definition", ""));
    query->correlation_id = pawl__str(pawl__cli_text(args, "correlation-id", ""));
    *sub_status = pawl__str(pawl__cli_text(args, "status", ""));
    if (sub_status->len > 0) {
        query->sub_statuses = sub_status;
        query->sub_status_count = 1;
    }
    query->all = pawl__cli_flag(args, "all");
    return query->all || query->definition_id.len + query->correlation_id.len + sub_status->len > 0;
}

typedef int one_fn(struct pawl_cli_session *session, struct pawl_str id, struct pawl_error *err);
typedef int many_fn(const struct pawl_op *op, const struct pawl_instance_query *query,
                    struct pawl_bulk_result *out);

static int act_on_many(struct pawl_cli_session *session, const struct pawl_instance_query *query,
                       const char *did, many_fn *act, struct pawl_error *err)
{
    const struct pawl_op op = pawl__cli_session_bulk_op(session, err);
    struct pawl_bulk_result result;
    int status = act(&op, query, &result);

    if (status != PAWL_OK)
        return status;
    pawl__cli_print(&session->cli->out, "%s %ju instance%s\n", did, (uintmax_t)result.done,
                    result.done == 1 ? "" : "s");
    if (result.error.code == PAWL_OK)
        return PAWL_OK;
    *err = result.error;
    (void)pawl__error_prefix(err, err->code, "%ju failed%s, the first", (uintmax_t)result.failed,
                             result.is_partial ? " and not all were reached" : "");
    return pawl__cli_partly(err, result.done);
}

/* Does the work that it caused, if no other node is there to do it. */
static int help_out(struct pawl_cli_session *session, struct pawl_error *err)
{
    const struct pawl_op op = pawl__cli_session_op(session, err);
    size_t working = 0;
    int status = pawl__op_nodes_working(&op, &working);

    if (status == PAWL_OK && working == 0)
        return pawl__cli_session_drain_briefly(session, err);
    return pawl__cli_session_stored(session, status, "whether a node does the rest is not known",
                                    err);
}

static int act_on(struct pawl_cli_session *session, const char *did, one_fn *one, many_fn *many,
                  struct pawl_error *err)
{
    const struct pawl_cli_args *args = &session->cli->args;
    struct pawl_instance_query query;
    struct pawl_str sub_status;
    bool is_filtered = read_filter(args, &sub_status, &query);
    int status = PAWL_OK;

    if (is_filtered == (args->operand_count > 0)) {
        (void)pawl__error_set(err, PAWL_EINVAL,
                              "name instances, or select them by --definition, --correlation-id, "
                              "--status or --all%s",
                              is_filtered ? ", not both" : "");
        return failed(session, err);
    }
    if (is_filtered &&
        ((pawl__cli_knows(args, "only-itself") && pawl__cli_flag(args, "only-itself")) ||
         (pawl__cli_knows(args, "wait") && pawl__cli_flag(args, "wait")))) {
        (void)pawl__error_set(err, PAWL_EINVAL, "--only-itself and --wait need instances by name");
        return failed(session, err);
    }
    if (is_filtered)
        status = act_on_many(session, &query, did, many, err);
    for (size_t i = 0; i < args->operand_count && status == PAWL_OK; i++) {
        status = one(session, pawl__str(args->operands[i]), err);
        if (status != PAWL_OK && pawl_error_class(status) == PAWL_CLASS_TRANSIENT)
            status = pawl__cli_partly(err, i);
    }
    if (status == PAWL_OK)
        status = help_out(session, err);
    return status == PAWL_OK ? PAWL_CLI_EXIT_OK : failed(session, err);
}

static int cancel(struct pawl_cli_session *session, struct pawl_error *err)
{
    return act_on(session, "requested the cancellation of", cancel_one, pawl__op_instances_cancel,
                  err);
}

static int run_cancel(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, cancel);
}

static int delete (struct pawl_cli_session *session, struct pawl_error *err)
{
    return act_on(session, "deleted", delete_one, pawl__op_instances_delete, err);
}

static int run_rm(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, delete);
}

/* clang-format off */
#define FILTER_OPTIONS                                                                             \
    {.name = "definition",                                                                         \
     .kind = PAWL_CLI_TEXT,                                                                        \
     .arg = "ID",                                                                                  \
     .help = "All instances of this definition"},                                                  \
    {.name = "correlation-id",                                                                     \
     .kind = PAWL_CLI_TEXT,                                                                        \
     .arg = "ID",                                                                                  \
     .help = "All with this correlation id"},                                                      \
    {.name = "status",                                                                             \
     .kind = PAWL_CLI_CHOICE,                                                                      \
     .arg = "STATUS",                                                                              \
     .help = "All with this status, as in 'pawl ps'",                                              \
     .choices = pawl__sub_status_names},                                                           \
    {.name = "all", .kind = PAWL_CLI_FLAG, .help = "All instances"}
/* clang-format on */

static const struct pawl_cli_option store_options[] = {
    FILTER_OPTIONS,
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

static const struct pawl_cli_option cancel_options[] = {
    {.name = "wait",
     .letter = 'w',
     .kind = PAWL_CLI_FLAG,
     .help = "Wait until it has ended, at most 30 seconds for each"},
    {.name = "only-itself", .kind = PAWL_CLI_FLAG, .help = "Without its children, which continue"},
    FILTER_OPTIONS,
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_cancel = {
    .name = "cancel",
    .summary = "Cancel instances and their children",
    .operands = "[INSTANCE...]",
    .help =
        "Prints 'cancelled' when it has ended. If another node is running it, it is cancelled at\n"
        "its next activity; then this prints 'requested', or waits (--wait). An instance that\n"
        "has ended is not changed. A request is stored; if the wait ends first, exit code 5.\n"
        "One that is deleted meanwhile has ended.\n\n"
        "Instead of instances, filters say which: all that match every one of them are\n"
        "cancelled; --all cancels all. With none of these, nothing is.\n",
    .options = cancel_options,
    .run = run_cancel,
};

const struct pawl_cli_command pawl__cli_rm = {
    .name = "rm",
    .summary = "Delete instances with their journals",
    .operands = "[INSTANCE...]",
    .help = "Instead of instances, filters say which: all that match every one of them are\n"
            "deleted; --all deletes all. With none of these, nothing is.\n",
    .options = store_options,
    .run = run_rm,
};
