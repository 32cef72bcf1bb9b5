/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl definitions`: the definitions of a store; show, retract and rm one. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/listing.h"
#include "cli/output.h"

static int failed(struct pawl_cli_session *session, struct pawl_error *err)
{
    return pawl__cli_fail(session->cli, err,
                          err->code == PAWL_ENOTFOUND ? "'pawl definitions' lists the definitions"
                                                      : pawl__cli_session_hint(err->code));
}

/* ---- list ---------------------------------------------------------------------------------- */

/* A definition has a latest version and perhaps a published one; what is listed goes by either. */
struct listing {
    struct pawl_rows rows;   /* one per definition */
    struct pawl_rows others; /* their versions with the other flag */
    bool by_published;
};

static int find(struct pawl_cli_session *session, struct listing *listing, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_definition_row *row;
    struct pawl_cli_list list;
    struct pawl_datum *ids;
    int status;

    listing->by_published = pawl__cli_flag(&cli->args, "published");
    pawl__cli_list_init(&list, &cli->args, PAWL_TABLE_DEFINITIONS, "definition_id",
                        PAWL_QUERY_BRIEF);
    pawl__cli_list_int(&list, listing->by_published ? "is_published" : "is_latest", PAWL_NE, 0);
    if (pawl__cli_flag(&cli->args, "drafts"))
        pawl__cli_list_int(&list, "is_published", PAWL_EQ, 0);
    if (pawl__cli_text(&cli->args, "name", NULL)) {
        pawl__cli_list_text(&list, "name", pawl__cli_text(&cli->args, "name", NULL));
        list.conditions[list.query.condition_count - 1].compare = PAWL_CONTAINS;
    }
    status = pawl__cli_list_find(session, &list, &cli->arena, &listing->rows, err);
    if (status != PAWL_OK || listing->rows.count == 0)
        return status;
    ids = pawl__arena_alloc_array(&cli->arena, listing->rows.count, sizeof *ids);
    if (!ids)
        return pawl__error_code(err, pawl__arena_status(&cli->arena));
    row = listing->rows.rows;
    for (size_t i = 0; i < listing->rows.count; i++)
        ids[i] = (struct pawl_datum){.text = row[i].definition_id};
    pawl__cli_list_all(&list, PAWL_TABLE_DEFINITIONS, NULL, PAWL_QUERY_BRIEF);
    pawl__cli_list_int(&list, listing->by_published ? "is_latest" : "is_published", PAWL_NE, 0);
    pawl__cli_list_in(&list, "definition_id", ids, listing->rows.count);
    return pawl__cli_list_find(session, &list, &cli->arena, &listing->others, err);
}

static const struct pawl_definition_row *other_of(const struct listing *listing,
                                                  struct pawl_str definition_id)
{
    const struct pawl_definition_row *rows = listing->others.rows;

    for (size_t i = 0; i < listing->others.count; i++) {
        if (pawl__str_equal(rows[i].definition_id, definition_id))
            return &rows[i];
    }
    return NULL;
}

static void put_version(struct pawl_builder *b, struct pawl_json *one, const char *key,
                        const struct pawl_definition_row *row)
{
    pawl__build(b, one, key, row ? pawl__json_int(row->version) : pawl__json_null());
}

static const char *flags_of(struct pawl_arena *arena, const struct pawl_definition_row *row)
{
    return pawl__arena_printf(arena, "%s%s%s", row->usable_as_activity ? "activity " : "",
                              row->is_readonly ? "read-only " : "",
                              row->is_system ? "system " : "");
}

static void add_row(struct pawl_builder *b, const struct listing *listing,
                    const struct pawl_definition_row *row, struct pawl_json *rows)
{
    const struct pawl_definition_row *other = other_of(listing, row->definition_id);
    const struct pawl_definition_row *latest = listing->by_published && other ? other : row;
    const struct pawl_definition_row *published = listing->by_published ? row : other;
    const char *flags = flags_of(b->arena, latest);
    struct pawl_json one = pawl__json_object();

    pawl__cli_put(b, &one, "definitionId", row->definition_id);
    put_version(b, &one, "latest", latest);
    put_version(b, &one, "published", published);
    pawl__cli_put(b, &one, "name", latest->name);
    pawl__build(b, &one, "usableAsActivity", pawl__json_bool(latest->usable_as_activity));
    pawl__build(b, &one, "isReadonly", pawl__json_bool(latest->is_readonly));
    pawl__build(b, &one, "isSystem", pawl__json_bool(latest->is_system));
    pawl__cli_put(b, &one, "flags", pawl__str_trim(pawl__str(flags)));
    pawl__cli_put_time(b, &one, "createdAt", latest->created_us);
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
    struct pawl_builder b = {.arena = &cli->arena};
    struct listing listing = {.by_published = false};
    struct pawl_json rows = pawl__json_array();
    int status = find(session, &listing, err);

    for (size_t i = 0; status == PAWL_OK && i < listing.rows.count; i++)
        add_row(&b, &listing, &((const struct pawl_definition_row *)listing.rows.rows)[i], &rows);
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    return status == PAWL_OK ? pawl__cli_list_show(cli, &rows, listing.rows.total, columns)
                             : failed(session, err);
}

static int run_list(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, list);
}

/* ---- show ---------------------------------------------------------------------------------- */

static struct pawl_str definition_id(const struct pawl_cli_session *session)
{
    return pawl__str(session->cli->args.operands[0]);
}

static int show(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_definition_row row;
    struct pawl_json_limits limits = pawl__json_limits_default;
    struct pawl_json json;
    int status = pawl__definitions_find(session->definitions, definition_id(session),
                                        PAWL_DEFINITION_LATEST_OR_PUBLISHED,
                                        pawl__cli_number(&cli->args, "version", 0), &cli->arena,
                                        &row, pawl__cli_session_deadline(session), err);

    limits.depth_max = PAWL_JSON_DEPTH_MAX;
    if (status == PAWL_OK)
        status = pawl__json_parse(&cli->arena, row.data, &limits, &json, NULL, err);
    return status == PAWL_OK ? pawl__cli_print_json(cli, &json, 2) : failed(session, err);
}

static int run_show(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, show);
}

static const struct pawl_cli_option show_options[] = {
    {.name = "version",
     .kind = PAWL_CLI_NUMBER,
     .arg = "N",
     .help = "This version; without it, the latest",
     .min = 1,
     .max = INT32_MAX},
    {.name = NULL},
};

static const struct pawl_cli_command show_command = {
    .name = "show",
    .summary = "Print a definition as JSON",
    .operands = "ID",
    .options = show_options,
    .run = run_show,
};

/* ---- retract, rm --------------------------------------------------------------------------- */

static int say(struct pawl_cli_session *session, const char *did)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json said = pawl__json_object();

    if (!pawl__cli_flag(&cli->args, "json")) {
        pawl__cli_print(&cli->out, "%s %s\n", did, cli->args.operands[0]);
        return PAWL_CLI_EXIT_OK;
    }
    pawl__cli_put(&b, &said, did, definition_id(session));
    return pawl__cli_print_json(cli, &said, 0);
}

static int retract(struct pawl_cli_session *session, struct pawl_error *err)
{
    int status = pawl__definitions_retract(session->definitions, definition_id(session),
                                           pawl__cli_session_deadline(session), err);

    return status == PAWL_OK ? say(session, "retracted") : failed(session, err);
}

static int run_retract(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, retract);
}

static const struct pawl_cli_command retract_command = {
    .name = "retract",
    .summary = "Let no version of a definition be published any more",
    .operands = "ID",
    .help = "Nothing starts it any more, neither by name nor by a trigger. What runs goes on, and\n"
            "'pawl publish' publishes it again.\n",
    .run = run_retract,
};

static int check_unused(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli_list list;
    uint64_t count = 0;
    int status;

    pawl__cli_list_all(&list, PAWL_TABLE_INSTANCES, NULL, PAWL_QUERY_BRIEF);
    pawl__cli_list_str(&list, "definition_id", definition_id(session));
    pawl__cli_list_text(&list, "status", "Running");
    status = pawl__cli_list_count(session, &list, &session->cli->arena, &count, err);
    if (status == PAWL_OK && count > 0)
        return pawl__error_set(err, PAWL_ECONFLICT,
                               "%ju instance%s of %s still run%s and could not go on without it",
                               (uintmax_t)count, count == 1 ? "" : "s",
                               session->cli->args.operands[0], count == 1 ? "s" : "");
    return status;
}

static int remove_definition(struct pawl_cli_session *session, struct pawl_error *err)
{
    int status =
        pawl__cli_flag(&session->cli->args, "force") ? PAWL_OK : check_unused(session, err);

    if (status == PAWL_ECONFLICT)
        return pawl__cli_fail(session->cli, err,
                              "'pawl ps --definition ID' lists them; --force deletes it all the "
                              "same, 'pawl definitions retract ID' only lets no more start");
    if (status == PAWL_OK)
        status = pawl__definitions_delete(session->definitions, definition_id(session),
                                          pawl__cli_session_deadline(session), err);
    return status == PAWL_OK ? say(session, "deleted") : failed(session, err);
}

static int run_rm(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, remove_definition);
}

static const struct pawl_cli_option rm_options[] = {
    {.name = "force", .kind = PAWL_CLI_FLAG, .help = "Even while instances of it run"},
    {.name = NULL},
};

static const struct pawl_cli_command rm_command = {
    .name = "rm",
    .summary = "Delete a definition with all its versions and triggers",
    .operands = "ID",
    .help = "Refused while instances of it run. Those that have ended stay.\n",
    .options = rm_options,
    .run = run_rm,
};

/* ---- the whole ----------------------------------------------------------------------------- */

static const struct pawl_cli_command *const commands[] = {
    &show_command,
    &retract_command,
    &rm_command,
    &pawl__cli_definitions_reload,
    &pawl__cli_definitions_refresh,
    NULL,
};

static const struct pawl_cli_option options[] = {
    {.name = "name",
     .kind = PAWL_CLI_TEXT,
     .arg = "TEXT",
     .help = "List those that have TEXT in their names"},
    {.name = "published", .kind = PAWL_CLI_FLAG, .help = "List those with a published version"},
    {.name = "drafts",
     .kind = PAWL_CLI_FLAG,
     .help = "List those whose latest version is not published"},
    PAWL_CLI_LIST_OPTIONS("by their ids"),
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_definitions = {
    .name = "definitions",
    .summary = "List the definitions of a store; show, retract or delete one",
    .help = "Without a COMMAND it lists them, with their latest and their published versions.\n",
    .options = options,
    .commands = commands,
    .run = run_list,
};
