/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl publish FILE...`: puts definitions into a store and makes them the ones that are started.
 */
#include "cli/commands.h"

#include "base/error.h"
#include "base/json.h"
#include "cli/output.h"
#include "cli/session.h"

#define PROBLEMS_SHOWN 5u

static void show_problems(struct pawl_cli *cli, const char *path,
                          const struct pawl_problems *problems)
{
    for (uint32_t i = 0; i < problems->count && i < PROBLEMS_SHOWN; i++)
        pawl__cli_print(&cli->err, "%s%s: %s\n", pawl__cli_file_name(path),
                        problems->items[i].pointer, problems->items[i].message);
    if (problems->count > PROBLEMS_SHOWN)
        pawl__cli_print(&cli->err, "%s: and %u more; 'pawl validate' shows all\n",
                        pawl__cli_file_name(path), problems->count - PROBLEMS_SHOWN);
}

static int import(struct pawl_cli_session *session, const char *path,
                  struct pawl_definition_row *row, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_json_limits limits = pawl__json_limits_default;
    struct pawl_json json;
    struct pawl_str text;
    int status = pawl__cli_read(cli, &cli->arena, path, &text, err);

    limits.depth_max = PAWL_JSON_DEPTH_MAX;
    if (status != PAWL_OK)
        return status;
    status = pawl__json_parse(&cli->arena, text, &limits, &json, NULL, err);
    if (status == PAWL_OK)
        status = pawl__definitions_import(session->definitions, &json, &cli->arena, row,
                                          pawl__cli_session_deadline(session), err);
    return status == PAWL_OK ? PAWL_OK
                             : pawl__error_prefix(err, status, "%s", pawl__cli_file_name(path));
}

static int publish(struct pawl_cli_session *session, const char *path,
                   const struct pawl_definition_row *row, bool *refused, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_publication said;
    int status = pawl__definitions_publish(session->definitions, row->id, &cli->arena, &said,
                                           pawl__cli_session_deadline(session), err);

    if (status != PAWL_OK)
        return pawl__error_prefix(err, status, "%s", pawl__cli_file_name(path));
    show_problems(cli, path, &said.problems);
    *refused |= !said.succeeded;
    pawl__cli_print(&cli->out, "%s %.*s version %lld%s\n", said.succeeded ? "published" : "refused",
                    PAWL_STR_ARG(row->definition_id), (long long)row->version,
                    said.succeeded ? "" : ": kept as a draft");
    return PAWL_OK;
}

/* All are drafts before the first is published: they may use each other in any order. */
static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    size_t count = cli->args.operand_count;
    struct pawl_definition_row *rows = pawl__arena_alloc_array(&cli->arena, count, sizeof *rows);
    bool refused = false;
    int status = rows ? PAWL_OK : pawl__error_code(err, PAWL_ENOMEM);

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = import(session, cli->args.operands[i], &rows[i], err);
    for (size_t i = count; i-- > 0 && status == PAWL_OK;)
        status = publish(session, cli->args.operands[i], &rows[i], &refused, err);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, pawl__cli_read_hint(status));
    return refused ? PAWL_CLI_EXIT_INVALID : PAWL_CLI_EXIT_OK;
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, body);
}

static const struct pawl_cli_option options[] = {
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_publish = {
    .name = "publish",
    .summary = "Publish workflow definitions to a store",
    .operands = "FILE...",
    .help = "Each FILE is a definition as Elsa Workflows 3 exports it; '-' is standard input. One\n"
            "that is there already gets a new version. Running instances keep theirs.\n",
    .options = options,
    .run = run,
};
