/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl retain`: drops what the settings retention.* do not keep any longer. */
#include "cli/commands.h"

#include "base/buf.h"
#include "base/error.h"
#include "cli/output.h"
#include "cli/session.h"
#include "engine/builder.h"
#include "host/duty.h"

#define OUTPUT_MAX ((size_t)1 << 20)

static void add(struct pawl_retained *sum, const struct pawl_retained *more)
{
    sum->finished += more->finished;
    sum->cancelled += more->cancelled;
    sum->faulted += more->faulted;
    sum->dead_letters += more->dead_letters;
    sum->reservations += more->reservations;
}

static int show(struct pawl_cli *cli, const struct pawl_retained *gone, struct pawl_error *err)
{
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json object = pawl__json_object();
    struct pawl_buf text;

    if (!pawl__cli_flag(&cli->args, "json")) {
        pawl__cli_print(&cli->out,
                        "%s: %llu finished, %llu cancelled, %llu faulted instances, %llu dead "
                        "letters, %llu expired keys\n",
                        pawl__cli_flag(&cli->args, "dry-run") ? "would go" : "gone",
                        (unsigned long long)gone->finished, (unsigned long long)gone->cancelled,
                        (unsigned long long)gone->faulted, (unsigned long long)gone->dead_letters,
                        (unsigned long long)gone->reservations);
        return PAWL_CLI_EXIT_OK;
    }
    pawl__build_int(&b, &object, "finished", (int64_t)gone->finished);
    pawl__build_int(&b, &object, "cancelled", (int64_t)gone->cancelled);
    pawl__build_int(&b, &object, "faulted", (int64_t)gone->faulted);
    pawl__build_int(&b, &object, "deadLetters", (int64_t)gone->dead_letters);
    pawl__build_int(&b, &object, "reservations", (int64_t)gone->reservations);
    if (b.status != PAWL_OK) {
        (void)pawl__error_code(err, b.status);
        return pawl__cli_fail(cli, err, NULL);
    }
    pawl__buf_init(&text, &cli->env->alloc, OUTPUT_MAX);
    pawl__json_write(&text, &object, PAWL_JSON_ESCAPE_MINIMAL);
    return pawl__cli_write_json(cli, &text);
}

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_retention_policy policy = pawl__retention_policy(&session->configuration);
    struct pawl_retained sum = {0}, gone;
    int status;

    policy.dry_run = pawl__cli_flag(&session->cli->args, "dry-run");
    do {
        status = pawl__runtime_retain(session->runtime, &policy, &gone,
                                      pawl__cli_session_deadline(session), err);
        add(&sum, &gone);
    } while (status == PAWL_OK && gone.more);
    if (status != PAWL_OK)
        return pawl__cli_fail(session->cli, err, pawl__cli_session_hint(status));
    return show(session->cli, &sum, err);
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, body);
}

static const struct pawl_cli_option options[] = {
    {.name = "dry-run", .kind = PAWL_CLI_FLAG, .help = "Only count what would go"},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print the counts as a JSON object"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_retain = {
    .name = "retain",
    .summary = "Drop what is not kept any longer: ended instances, dead letters",
    .help = "The settings retention.finished, .cancelled, .faulted and .dead_letters say how long\n"
            "each is kept (--set retention.finished=30d). A worker does this every minute.\n",
    .options = options,
    .run = run,
};
