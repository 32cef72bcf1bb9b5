/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl definitions reload` and `refresh`. */
#include "cli/commands.h"

#include "base/buf.h"
#include "base/error.h"
#include "cli/output.h"
#include "cli/session.h"
#include "engine/builder.h"
#include "runtime/refresher.h"

#define OUTPUT_MAX ((size_t)16 << 20)

static int write_object(struct pawl_cli *cli, const struct pawl_builder *b,
                        const struct pawl_json *object, bool is_failed, struct pawl_error *err)
{
    struct pawl_buf text;
    int code;

    if (b->status != PAWL_OK) {
        (void)pawl__error_code(err, b->status);
        return pawl__cli_fail(cli, err, NULL);
    }
    pawl__buf_init(&text, &cli->env->alloc, OUTPUT_MAX);
    pawl__json_write(&text, object, PAWL_JSON_ESCAPE_MINIMAL);
    code = pawl__cli_write_json(cli, &text);
    return code == PAWL_CLI_EXIT_OK && is_failed ? PAWL_CLI_EXIT_FAILED : code;
}

/* ---- reload -------------------------------------------------------------------------------- */

static int reload(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json object = pawl__json_object();
    struct pawl_reloaded told;
    int status = pawl__reloader_reload(pawl__host_get(session->host, PAWL_SLOT_RELOADER), &told,
                                       pawl__cli_session_deadline(session), err);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err,
                              status == PAWL_ENOTFOUND
                                  ? "the setting definitions.folder names it: 'pawl config'"
                                  : pawl__cli_session_hint(status));
    pawl__build_int(&b, &object, "provided", told.provided);
    pawl__build_int(&b, &object, "failed", told.failed);
    pawl__build_bool(&b, &object, "alreadyInProgress", told.in_progress);
    if (pawl__cli_flag(&cli->args, "json"))
        return write_object(cli, &b, &object, told.failed > 0, err);
    if (told.in_progress)
        pawl__cli_print(&cli->out, "another node is reloading already\n");
    else
        pawl__cli_print(&cli->out, "reloaded %u definitions, %u failed\n", told.provided,
                        told.failed);
    return told.failed > 0 ? PAWL_CLI_EXIT_FAILED : PAWL_CLI_EXIT_OK;
}

static int run_reload(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, reload);
}

/* ---- refresh ------------------------------------------------------------------------------- */

static void build_ids(struct pawl_builder *b, struct pawl_json *object, const char *key,
                      const struct pawl_str *ids, size_t count)
{
    struct pawl_json list = pawl__json_array();

    for (size_t i = 0; i < count; i++)
        pawl__build_append(b, &list, pawl__json_string(ids[i]));
    pawl__build(b, object, key, list);
}

static int show_refreshed(struct pawl_cli *cli, const struct pawl_refreshed *told,
                          struct pawl_error *err)
{
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json object = pawl__json_object();

    if (pawl__cli_flag(&cli->args, "json")) {
        build_ids(&b, &object, "refreshed", told->refreshed, told->refreshed_count);
        build_ids(&b, &object, "notFound", told->not_found, told->not_found_count);
        pawl__build_name(&b, &object, "status",
                         told->in_progress ? "AlreadyInProgress" : "Completed");
        return write_object(cli, &b, &object, told->not_found_count > 0, err);
    }
    for (size_t i = 0; i < told->refreshed_count; i++) {
        pawl__cli_print(&cli->out, "refreshed ");
        pawl__cli_write_safe(&cli->out, told->refreshed[i]);
        pawl__cli_print(&cli->out, "\n");
    }
    for (size_t i = 0; i < told->not_found_count; i++) {
        pawl__cli_print(&cli->out, "not found ");
        pawl__cli_write_safe(&cli->out, told->not_found[i]);
        pawl__cli_print(&cli->out, "\n");
    }
    if (told->in_progress)
        pawl__cli_print(&cli->out, "another node is refreshing already\n");
    return told->not_found_count > 0 ? PAWL_CLI_EXIT_FAILED : PAWL_CLI_EXIT_OK;
}

static int refresh(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    size_t count = cli->args.operand_count;
    struct pawl_str *ids = pawl__arena_alloc_array(&cli->arena, count + 1, sizeof *ids);
    struct pawl_refreshed told = {0};
    int status;

    if (!ids) {
        (void)pawl__error_code(err, pawl__arena_status(&cli->arena));
        return pawl__cli_fail(cli, err, NULL);
    }
    for (size_t i = 0; i < count; i++)
        ids[i] = pawl__str(cli->args.operands[i]);
    status = pawl__refresher_refresh(pawl__host_get(session->host, PAWL_SLOT_REFRESHER),
                                     &(struct pawl_refresh){.ids = ids, .count = count},
                                     &cli->arena, &told, pawl__cli_session_deadline(session), err);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, pawl__cli_session_hint(status));
    return show_refreshed(cli, &told, err);
}

static int run_refresh(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, refresh);
}

static const struct pawl_cli_option options[] = {
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print what was done as a JSON object"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_definitions_reload = {
    .name = "reload",
    .summary = "Read the definitions of the folder that definitions.folder names",
    .help =
        "Version and flags are those of the files; an older version takes nothing from a newer\n"
        "one. A worker does this when it starts.\n",
    .options = options,
    .run = run_reload,
};

const struct pawl_cli_command pawl__cli_definitions_refresh = {
    .name = "refresh",
    .summary = "Work out the triggers of published definitions anew",
    .operands = "[DEFINITION...]",
    .help = "Without a DEFINITION, of all that are published.\n",
    .options = options,
    .run = run_refresh,
};
