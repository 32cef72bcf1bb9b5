/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl retain`: drops what the settings retention.* do not keep any longer. */
#include "cli/commands.h"

#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "views/letters.h"

static void add(struct pawl_retention_result *sum, const struct pawl_retention_result *more)
{
    sum->finished += more->finished;
    sum->cancelled += more->cancelled;
    sum->faulted += more->faulted;
    sum->dead_letters += more->dead_letters;
    sum->reservations += more->reservations;
    sum->audit += more->audit;
}

static int show(struct pawl_cli *cli, const struct pawl_retention_result *gone)
{
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json said;

    if (!pawl__cli_flag(&cli->args, "json")) {
        pawl__cli_print(&cli->out,
                        "%s: %llu finished, %llu cancelled, %llu faulted instances, %llu dead "
                        "letters, %llu expired keys, %llu records\n",
                        pawl__cli_flag(&cli->args, "dry-run") ? "would go" : "gone",
                        (unsigned long long)gone->finished, (unsigned long long)gone->cancelled,
                        (unsigned long long)gone->faulted, (unsigned long long)gone->dead_letters,
                        (unsigned long long)gone->reservations, (unsigned long long)gone->audit);
        return PAWL_CLI_EXIT_OK;
    }
    said = pawl__view_retention(&b, gone);
    return pawl__cli_print_built(cli, &b, &said, 0);
}

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    bool dry_run = pawl__cli_flag(&session->cli->args, "dry-run");
    struct pawl_retention_result sum = {0}, gone = {0};
    int status;

    do {
        const struct pawl_op op = pawl__cli_session_op(session, err);

        status = pawl__op_retain(&op, dry_run, &gone);
        if (status == PAWL_OK)
            add(&sum, &gone);
    } while (status == PAWL_OK && gone.more);
    if (status != PAWL_OK)
        return pawl__cli_fail(session->cli, err, pawl__cli_session_hint(status));
    return show(session->cli, &sum);
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, body);
}

static const struct pawl_cli_option options[] = {
    {.name = "dry-run", .kind = PAWL_CLI_FLAG, .help = "Only count what would be deleted"},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print the counts as a JSON object"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_retain = {
    .name = "retain",
    .summary = "Delete what is no longer kept: ended instances, dead letters",
    .help =
        "The settings retention.finished, .cancelled, .faulted, .dead_letters and .audit say how\n"
        "long each is kept (--set retention.finished=30d). A worker does this every minute.\n",
    .options = options,
    .run = run,
};
