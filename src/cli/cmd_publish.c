/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl publish FILE...`: puts definitions into a store and makes them the ones that are started.
 */
#include "base/error.h"
#include "cli/cmd_definitions.h"
#include "cli/command/output.h"

#define PROBLEMS_SHOWN 5u

void pawl__cli_definitions_problems(struct pawl_cli *cli, const char *name,
                                    const struct pawl_problems *problems)
{
    for (uint32_t i = 0; i < problems->count && i < PROBLEMS_SHOWN; i++)
        pawl__cli_print(&cli->err, "%s%s: %s\n", name, problems->items[i].pointer,
                        problems->items[i].message);
    if (problems->count > PROBLEMS_SHOWN)
        pawl__cli_print(&cli->err, "%s: and %u more; 'pawl validate' shows all\n", name,
                        problems->count - PROBLEMS_SHOWN);
}

static int read_file(struct pawl_cli *cli, const char *path, struct pawl_json *json,
                     struct pawl_error *err)
{
    struct pawl_json_limits limits = pawl__json_limits_default;
    struct pawl_str text;
    int status = pawl__cli_read(cli, &cli->arena, path, &text, err);

    limits.depth_max = PAWL_JSON_DEPTH_MAX;
    if (status != PAWL_OK)
        return status;
    status = pawl__json_parse(&cli->arena, text, &limits, json, NULL, err);
    return status == PAWL_OK ? PAWL_OK
                             : pawl__error_prefix(err, status, "%s", pawl__cli_file_name(path));
}

static int publish(struct pawl_cli_session *session, const char *path,
                   const struct pawl_definition_save *save, bool *refused, struct pawl_error *err)
{
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_cli *cli = session->cli;
    struct pawl_definition_saved saved;
    int status = pawl__op_definition_save(&op, save, &saved);

    if (status != PAWL_OK)
        return pawl__error_prefix(err, status, "%s", pawl__cli_file_name(path));
    pawl__cli_definitions_problems(cli, pawl__cli_file_name(path), &saved.publication.problems);
    *refused |= !saved.publication.succeeded;
    pawl__cli_print(&cli->out, "%s %.*s version %lld%s\n",
                    saved.publication.succeeded ? "published" : "refused",
                    PAWL_STR_ARG(saved.row.definition_id), (long long)saved.row.version,
                    saved.publication.succeeded ? "" : ": it was not stored");
    return PAWL_OK;
}

/* All are read before the first is published: they may use each other in any order. */
int pawl__cli_publish_operands(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    size_t count = cli->args.operand_count;
    struct pawl_json *files = pawl__arena_alloc_array(&cli->arena, count, sizeof *files);
    const struct pawl_json **beside = pawl__arena_alloc_array(&cli->arena, count, sizeof *beside);
    bool refused = false, is_read;
    int status = PAWL_OK;

    if (!files || !beside) {
        (void)pawl__error_code(err, PAWL_ENOMEM);
        return pawl__cli_fail(cli, err, NULL);
    }
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        status = read_file(cli, cli->args.operands[i], &files[i], err);
        beside[i] = &files[i];
    }
    is_read = status == PAWL_OK;
    for (size_t i = count; i-- > 0 && status == PAWL_OK;)
        status = publish(session, cli->args.operands[i],
                         &(struct pawl_definition_save){
                             .definition = &files[i],
                             .publish = true,
                             .beside = beside,
                             .beside_count = count,
                         },
                         &refused, err);
    if (status != PAWL_OK)
        return pawl__cli_fail(
            cli, err, is_read ? pawl__cli_session_hint(status) : pawl__cli_read_hint(status));
    return refused ? PAWL_CLI_EXIT_INVALID : PAWL_CLI_EXIT_OK;
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, pawl__cli_publish_operands);
}

static const struct pawl_cli_option options[] = {
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_publish = {
    .name = "publish",
    .summary = "Publish workflow definitions to a store",
    .operands = "FILE...",
    .help =
        "Each FILE is a definition as Elsa Workflows 3 exports it; '-' is standard input. If it\n"
        "exists, it gets a new version. Running instances keep theirs. A definition that is not\n"
        "valid is not stored.\n",
    .options = options,
    .run = run,
};
