/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl audit`: who changed what, and when. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "cli/command/values.h"
#include "views/audit.h"

static const char *const sorts[] = {"time", "actor", "target", NULL};

static int failed(struct pawl_cli_session *session, struct pawl_error *err)
{
    return pawl__cli_session_failed(session, err, "'pawl audit' lists what was changed");
}

/* A time as people write it, in microseconds; 0: not given. */
static int time_of(const struct pawl_cli_args *args, const char *name, int64_t *out,
                   struct pawl_error *err)
{
    struct pawl_datetime at;
    bool given = false;
    int status = pawl__cli_time(args, name, &at, &given, err);

    *out = 0;
    if (status != PAWL_OK || !given)
        return status;
    *out = (pawl__datetime_utc_ticks(at) - PAWL_DATETIME_UNIX_EPOCH_TICKS) / PAWL_TICKS_PER_US;
    return PAWL_OK;
}

static int make_query(const struct pawl_cli_args *args, struct pawl_audit_query *out,
                      struct pawl_error *err)
{
    const char *sort = pawl__cli_text(args, "sort", sorts[0]);
    int status;

    *out = (struct pawl_audit_query){
        .actor = pawl__str(pawl__cli_text(args, "actor", "")),
        .action = pawl__str(pawl__cli_text(args, "action", "")),
        .kind = pawl__str(pawl__cli_text(args, "kind", "")),
        .target = pawl__str(pawl__cli_text(args, "target", "")),
        .page = pawl__cli_page(args),
    };
    for (unsigned i = 0; sorts[i]; i++) {
        if (strcmp(sort, sorts[i]) == 0)
            out->sort = (enum pawl_audit_sort)i;
    }
    status = time_of(args, "since", &out->from_us, err);
    return status == PAWL_OK ? time_of(args, "until", &out->until_us, err) : status;
}

static int list(struct pawl_cli_session *session, struct pawl_error *err)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "TIME", .key = "timestamp", .is_time = true},
        {.title = "ACTOR", .key = "actor"},
        {.title = "ACTION", .key = "action"},
        {.title = "KIND", .key = "kind"},
        {.title = "TARGET", .key = "target"},
        {.title = "COUNT", .key = "count"},
        {.title = "REQUEST", .key = "requestId"},
        {.title = NULL},
    };
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    struct pawl_audit_list found = {.count = 0};
    struct pawl_audit_query query;
    int status = make_query(&cli->args, &query, err);

    if (status == PAWL_OK)
        status = pawl__op_audit_list(&op, &query, &found);
    for (size_t i = 0; status == PAWL_OK && i < found.count; i++)
        pawl__build_append(&b, &rows, pawl__view_audit(&b, &found.rows[i]));
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    return status == PAWL_OK ? pawl__cli_page_show(cli, &rows, &found.page, columns)
                             : failed(session, err);
}

static int run_list(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, list);
}

static int show(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_audit_row row;
    struct pawl_json one;

    if (pawl__op_audit_show(&op, pawl__str(cli->args.operands[0]), &row) != PAWL_OK)
        return failed(session, err);
    one = pawl__view_audit(&b, &row);
    return pawl__cli_print_built(cli, &b, &one, 2);
}

static int run_show(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, show);
}

static const struct pawl_cli_command show_command = {
    .name = "show",
    .summary = "Print the record of a request as JSON; exit code 1: it changed nothing",
    .operands = "REQUEST",
    .run = run_show,
};

static const struct pawl_cli_command *const commands[] = {&show_command, NULL};

static const struct pawl_cli_option options[] = {
    {.name = "actor",
     .kind = PAWL_CLI_TEXT,
     .arg = "NAME",
     .help = "Only what this one did: cli:alice"},
    {.name = "action",
     .kind = PAWL_CLI_TEXT,
     .arg = "WORD",
     .help = "Only this: cancel, delete, publish, …"},
    {.name = "kind",
     .kind = PAWL_CLI_TEXT,
     .arg = "KIND",
     .help = "Only what was done to a definition, instance, letter, node or store"},
    {.name = "target", .kind = PAWL_CLI_TEXT, .arg = "ID", .help = "Only what was done to this"},
    {.name = "since", .kind = PAWL_CLI_TEXT, .arg = "TIME", .help = "Only from this time on"},
    {.name = "until", .kind = PAWL_CLI_TEXT, .arg = "TIME", .help = "Only before this time"},
    {.name = "sort",
     .kind = PAWL_CLI_CHOICE,
     .arg = "ORDER",
     .choices = sorts,
     .help = "List them by time, the newest first, or by actor or target"},
    PAWL_CLI_PAGE_OPTIONS("the newest"),
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_audit = {
    .name = "audit",
    .summary = "List what operators changed: who, what, which, when",
    .help =
        "Each request that changed something has one record, written together with the change;\n"
        "COUNT says how many things it touched. A command whose outcome is unknown names its\n"
        "request: 'pawl audit show REQUEST' says whether it took effect. Times are ISO 8601;\n"
        "without an offset they are UTC.\n",
    .options = options,
    .commands = commands,
    .run = run_list,
};
