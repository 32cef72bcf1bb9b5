/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl definitions`: lists the definitions of a store; show, versions and export of one. */
#include "cli/cmd_definitions.h"

#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "cli/command/values.h"
#include "views/definitions.h"

int pawl__cli_definitions_failed(struct pawl_cli_session *session, struct pawl_error *err)
{
    return pawl__cli_session_failed(session, err, "'pawl definitions' lists the definitions");
}

int pawl__cli_definitions_print(struct pawl_cli_session *session, const struct pawl_builder *b,
                                const struct pawl_json *value, uint8_t indent,
                                struct pawl_error *err)
{
    if (b->status == PAWL_OK)
        return pawl__cli_print_json(session->cli, value, indent);
    (void)pawl__error_code(err, b->status);
    return pawl__cli_definitions_failed(session, err);
}

struct pawl_str pawl__cli_definitions_id(const struct pawl_cli_session *session)
{
    return pawl__str(session->cli->args.operands[0]);
}

/* ---- list ---------------------------------------------------------------------------------- */

static const char *const sorts[] = {"id", "name", "created", NULL};

static void make_query(const struct pawl_cli *cli, struct pawl_definition_query *query)
{
    const struct pawl_cli_args *args = &cli->args;
    struct pawl_str sort = pawl__str(pawl__cli_text(args, "sort", "id"));

    *query = PAWL_DEFINITION_QUERY_ALL;
    query->versions.pick =
        pawl__cli_flag(args, "published") ? PAWL_VERSIONS_PUBLISHED : PAWL_VERSIONS_LATEST;
    if (pawl__cli_flag(args, "drafts"))
        query->is_published = 0;
    query->name_contains = pawl__str(pawl__cli_text(args, "name", ""));
    query->search = pawl__str(pawl__cli_text(args, "search", ""));
    query->sort = pawl__str_is(sort, "name")      ? PAWL_DEFINITIONS_BY_NAME
                  : pawl__str_is(sort, "created") ? PAWL_DEFINITIONS_BY_CREATED
                                                  : PAWL_DEFINITIONS_BY_ID;
    query->page.limit = (uint32_t)pawl__cli_number(args, "limit", PAWL_CLI_LIST_DEFAULT);
    query->page.after = pawl__str(pawl__cli_text(args, "after", ""));
    query->page.with_total = true;
}

static const char *flags_of(struct pawl_arena *arena, const struct pawl_definition_row *row)
{
    return pawl__arena_printf(arena, "%s%s%s", row->usable_as_activity ? "activity " : "",
                              row->is_readonly ? "read-only " : "",
                              row->is_system ? "system " : "");
}

/* For people the flags are one column. */
static void add_row(struct pawl_builder *b, const struct pawl_cli *cli,
                    const struct pawl_definition_pair *pair, struct pawl_json *rows)
{
    struct pawl_json one = pawl__view_definition_pair(b, pair);

    if (!pawl__cli_flag(&cli->args, "json"))
        pawl__cli_put(b, &one, "flags",
                      pawl__str_trim(pawl__str(flags_of(b->arena, pair->latest))));
    pawl__build_append(b, rows, one);
}

static int list(struct pawl_cli_session *session, struct pawl_error *err)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "DEFINITION", .key = "definitionId"},
        {.title = "LATEST", .key = "latest"},
        {.title = "PUBLISHED", .key = "published"},
        {.title = "FLAGS", .key = "flags"},
        {.title = "NAME", .key = "name"},
        {.title = NULL},
    };
    struct pawl_cli *cli = session->cli;
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    struct pawl_definition_query query;
    struct pawl_definition_pairs pairs;
    int code, status;

    make_query(cli, &query);
    status = pawl__op_definitions_pairs(&op, &query, &pairs);
    for (size_t i = 0; status == PAWL_OK && i < pairs.count; i++)
        add_row(&b, cli, &pairs.items[i], &rows);
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    if (status != PAWL_OK)
        return pawl__cli_definitions_failed(session, err);
    code = pawl__cli_list_show(cli, &rows, pairs.page.total, columns);
    if (pairs.page.total > pairs.count && pairs.page.next.len > 0)
        pawl__cli_print(&cli->err, "the next: --after %.*s\n", PAWL_STR_ARG(pairs.page.next));
    return code;
}

static int run_list(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, list);
}

/* ---- show, export -------------------------------------------------------------------------- */

static int read_ref(const struct pawl_cli_session *session, struct pawl_definition_ref *out,
                    struct pawl_error *err)
{
    *out = (struct pawl_definition_ref){.definition_id = pawl__cli_definitions_id(session)};
    return pawl__cli_pick_version(&session->cli->args, PAWL_VERSIONS_LATEST_OR_PUBLISHED,
                                  &out->versions, err);
}

static int show(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_json_limits limits = pawl__json_limits_default;
    struct pawl_definition_ref ref;
    struct pawl_definition_row row;
    struct pawl_json json;
    int status = read_ref(session, &ref, err);

    limits.depth_max = PAWL_JSON_DEPTH_MAX;
    if (status == PAWL_OK)
        status = pawl__op_definition_find(&op, &ref, &row);
    if (status == PAWL_OK)
        status = pawl__json_parse(&cli->arena, row.data, &limits, &json, NULL, err);
    return status == PAWL_OK ? pawl__cli_print_json(cli, &json, 2)
                             : pawl__cli_definitions_failed(session, err);
}

static int run_show(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, show);
}

static const struct pawl_cli_option show_options[] = {
    PAWL_CLI_VERSION_OPTION("latest"),
    {.name = NULL},
};

static const struct pawl_cli_command show_command = {
    .name = "show",
    .summary = "Print a definition as JSON",
    .operands = "ID",
    .help = "Prints it as it was saved. 'pawl definitions export' writes it as Elsa does.\n",
    .options = show_options,
    .run = run_show,
};

/* One definition is an object; with those that use it, an array. */
static int export_one(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_definition_export request = {.with_consumers =
                                                 pawl__cli_flag(&cli->args, "consumers")};
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json all = pawl__json_array();
    struct pawl_definition_list found = {.rows = NULL};
    int status = read_ref(session, &request.ref, err);

    if (status == PAWL_OK)
        status = pawl__op_definitions_export(&op, &request, &found);
    for (size_t i = 0; status == PAWL_OK && i < found.count; i++) {
        struct pawl_definition_shown shown;

        status = pawl__op_definition_show_row(&op, &found.rows[i], &shown);
        if (status != PAWL_OK)
            break;
        /* What is written borrows from the graph: copied before that goes. */
        if (b.status == PAWL_OK) {
            struct pawl_json one = pawl__view_definition_export(&b, &shown), copy;

            if (b.status == PAWL_OK)
                b.status = pawl__json_copy(b.arena, &one, &copy);
            if (b.status == PAWL_OK)
                pawl__build_append(&b, &all, copy);
        }
        pawl__op_definition_release(&shown);
    }
    if (status != PAWL_OK)
        return pawl__cli_definitions_failed(session, err);
    return pawl__cli_definitions_print(
        session, &b, request.with_consumers ? &all : pawl__json_at(&all, 0), 2, err);
}

static int run_export(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, export_one);
}

static const struct pawl_cli_option export_options[] = {
    PAWL_CLI_VERSION_OPTION("latest"),
    {.name = "consumers",
     .kind = PAWL_CLI_FLAG,
     .help = "An array with it and all definitions that use it as an activity"},
    {.name = NULL},
};

static const struct pawl_cli_command export_command = {
    .name = "export",
    .summary = "Print a definition as Elsa exports it",
    .operands = "ID",
    .options = export_options,
    .run = run_export,
};

/* ---- versions ------------------------------------------------------------------------------ */

static int versions(struct pawl_cli_session *session, struct pawl_error *err)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "VERSION", .key = "version"},
        {.title = "ID", .key = "id"},
        {.title = "LATEST", .key = "isLatest"},
        {.title = "PUBLISHED", .key = "isPublished"},
        {.title = "CREATED", .key = "createdAt", .is_time = true},
        {.title = "NAME", .key = "name"},
        {.title = NULL},
    };
    struct pawl_cli *cli = session->cli;
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    struct pawl_definition_list found;
    int status = pawl__op_definition_versions(&op, pawl__cli_definitions_id(session), &found);

    for (size_t i = 0; status == PAWL_OK && i < found.count; i++)
        pawl__build_append(&b, &rows, pawl__view_definition_summary(&b, &found.rows[i]));
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    return status == PAWL_OK ? pawl__cli_list_show(cli, &rows, found.count, columns)
                             : pawl__cli_definitions_failed(session, err);
}

static int run_versions(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, versions);
}

static const struct pawl_cli_command versions_command = {
    .name = "versions",
    .summary = "List the versions of a definition, newest first",
    .operands = "ID",
    .run = run_versions,
};

/* ---- the whole ----------------------------------------------------------------------------- */

static const struct pawl_cli_command *const commands[] = {
    &show_command,
    &versions_command,
    &export_command,
    &pawl__cli_definitions_publish,
    &pawl__cli_definitions_retract,
    &pawl__cli_definitions_revert,
    &pawl__cli_definitions_rm,
    &pawl__cli_definitions_consumers,
    &pawl__cli_definitions_update,
    &pawl__cli_definitions_reload,
    &pawl__cli_definitions_refresh,
    NULL,
};

static const struct pawl_cli_option options[] = {
    {.name = "name",
     .kind = PAWL_CLI_TEXT,
     .arg = "TEXT",
     .help = "Only those with TEXT in their names"},
    {.name = "search",
     .kind = PAWL_CLI_TEXT,
     .arg = "TEXT",
     .help = "Only those with TEXT in their names, descriptions or ids"},
    {.name = "published", .kind = PAWL_CLI_FLAG, .help = "Only those with a published version"},
    {.name = "drafts",
     .kind = PAWL_CLI_FLAG,
     .help = "Only those whose latest version is not published"},
    {.name = "sort",
     .kind = PAWL_CLI_CHOICE,
     .arg = "ORDER",
     .help = "Sort by id (default), name, or created (newest first)",
     .choices = sorts},
    {.name = "after",
     .kind = PAWL_CLI_TEXT,
     .arg = "PLACE",
     .help = "Continue where another list ended",
     .may_be_empty = true},
    PAWL_CLI_LIST_OPTIONS("in their order"),
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_definitions = {
    .name = "definitions",
    .summary = "List the definitions of a store; show, publish, retract or delete one",
    .help = "Without a COMMAND, lists them with their latest and published versions.\n",
    .options = options,
    .commands = commands,
    .run = run_list,
};
