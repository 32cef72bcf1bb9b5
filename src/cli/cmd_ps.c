/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl ps`: the instances of a store, once or as they change. */
#include "cli/commands.h"

#include "base/buf.h"
#include "base/error.h"
#include "cli/instances.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/watch.h"

#define OUTPUT_MAX ((size_t)64 << 20)
#define FILTERS_MAX 8
/* What one look of --watch may hold. */
#define LOOK_MAX ((size_t)1 << 30)

struct listing {
    struct pawl_query query;
    struct pawl_condition conditions[FILTERS_MAX];
};

static void where(struct listing *listing, const char *column, const char *text)
{
    if (text)
        listing->conditions[listing->query.condition_count++] =
            (struct pawl_condition){.column = pawl_table_column(PAWL_TABLE_INSTANCES, column),
                                    .value = {.text = pawl__str(text)}};
}

static void make_query(const struct pawl_cli_args *args, struct listing *listing)
{
    *listing = (struct listing){
        .query = {.table = PAWL_TABLE_INSTANCES,
                  .flags = PAWL_QUERY_BRIEF | PAWL_QUERY_TOTAL | PAWL_QUERY_DESCENDING,
                  .order = pawl_table_column(PAWL_TABLE_INSTANCES, "created_us"),
                  .limit = (uint32_t)pawl__cli_number(args, "limit", PAWL_STORE_ROWS_DEFAULT)}};
    listing->query.conditions = listing->conditions;
    where(listing, "definition_id", pawl__cli_text(args, "definition", NULL));
    where(listing, "correlation_id", pawl__cli_text(args, "correlation-id", NULL));
    where(listing, "sub_status", pawl__cli_text(args, "status", NULL));
    if (pawl__cli_flag(args, "aside"))
        listing->conditions[listing->query.condition_count++] = (struct pawl_condition){
            .column = pawl_table_column(PAWL_TABLE_INSTANCES, "retry_us"), .compare = PAWL_GT};
    if (!pawl__cli_flag(args, "all") && !pawl__cli_text(args, "status", NULL))
        where(listing, "status", "Running");
}

static void write_member(struct pawl_json_writer *writer, const char *key, struct pawl_str text)
{
    pawl__json_write_key_text(writer, key);
    pawl__json_write_string(writer, text);
}

static void write_row(struct pawl_json_writer *writer, const struct pawl_instance_row *row)
{
    char time[PAWL_CLI_TIME_TEXT];

    pawl__json_write_begin_object(writer);
    write_member(writer, "id", row->id);
    write_member(writer, "definitionId", row->definition_id);
    pawl__json_write_key_text(writer, "version");
    pawl__json_write_int(writer, row->version);
    write_member(writer, "status", row->status);
    write_member(writer, "subStatus", row->sub_status);
    write_member(writer, "correlationId", row->correlation_id);
    write_member(writer, "name", row->name);
    write_member(writer, "createdAt", pawl__str(pawl__cli_time_text(row->created_us, time)));
    write_member(writer, "updatedAt", pawl__str(pawl__cli_time_text(row->updated_us, time)));
    pawl__json_write_key_text(writer, "incidentCount");
    pawl__json_write_int(writer, row->incident_count);
    pawl__json_write_key_text(writer, "isSetAside");
    pawl__json_write_bool(writer, row->retry_us == PAWL_TIME_NEVER);
    write_member(writer, "trouble", row->trouble);
    pawl__json_write_end_object(writer);
}

static int print_json(struct pawl_cli *cli, const struct pawl_rows *rows)
{
    struct pawl_json_writer writer;
    struct pawl_buf json;

    pawl__buf_init(&json, &cli->env->alloc, OUTPUT_MAX);
    pawl__json_writer_init(&writer, &json, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__json_write_begin_array(&writer);
    for (size_t i = 0; i < rows->count; i++)
        write_row(&writer, &((const struct pawl_instance_row *)rows->rows)[i]);
    pawl__json_write_end_array(&writer);
    return pawl__cli_write_json(cli, &json);
}

static void print_text(struct pawl_cli *cli, const struct pawl_rows *rows)
{
    char time[PAWL_CLI_TIME_TEXT];

    if (rows->count > 0)
        pawl__cli_print(&cli->out, "%-32s  %-10s  %-19s  %s\n", "INSTANCE", "STATUS", "UPDATED",
                        "DEFINITION");
    for (size_t i = 0; i < rows->count; i++) {
        const struct pawl_instance_row *row = &((const struct pawl_instance_row *)rows->rows)[i];

        pawl__cli_print(&cli->out, "%-32.*s  %-10.*s  %-19s  ", PAWL_STR_ARG(row->id),
                        PAWL_STR_ARG(row->sub_status), pawl__cli_time_text(row->updated_us, time));
        pawl__cli_write_safe(&cli->out, row->definition_id);
        pawl__cli_print(&cli->out, " %lld", (long long)row->version);
        pawl__cli_show_trouble(cli, "  ", row);
        pawl__cli_print(&cli->out, "\n");
    }
    if (rows->total > rows->count)
        pawl__cli_print(&cli->err, "%zu of %llu shown; --limit shows more\n", rows->count,
                        (unsigned long long)rows->total);
}

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct listing listing;
    struct pawl_rows rows;
    int status;

    make_query(&cli->args, &listing);
    status = pawl_store_find(session->store, &listing.query, &cli->arena, &rows,
                             pawl__cli_session_deadline(session), err);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, pawl__cli_session_hint(status));
    if (pawl__cli_flag(&cli->args, "json"))
        return print_json(cli, &rows);
    print_text(cli, &rows);
    return PAWL_CLI_EXIT_OK;
}

/* ---- watching ------------------------------------------------------------------------------ */

/* The rows of the last look and of this one take turns. */
struct watching {
    struct pawl_arena arenas[2];
    struct pawl_map seen[2]; /* struct pawl_instance_row by id */
    unsigned turn;
};

/* One line: a JSON object, or the columns of the list. */
static int print_change(struct pawl_cli *cli, const struct pawl_instance_row *row)
{
    char time[PAWL_CLI_TIME_TEXT];
    struct pawl_json_writer writer;
    struct pawl_buf json;

    if (pawl__cli_flag(&cli->args, "json")) {
        pawl__buf_init(&json, &cli->env->alloc, OUTPUT_MAX);
        pawl__json_writer_init(&writer, &json, PAWL_JSON_ESCAPE_MINIMAL, 0);
        write_row(&writer, row);
        return pawl__cli_write_json(cli, &json) == PAWL_CLI_EXIT_OK ? PAWL_OK : PAWL_ENOMEM;
    }
    pawl__cli_print(&cli->out, "%-19s  %-32.*s  %-10.*s  ",
                    pawl__cli_time_text(row->updated_us, time), PAWL_STR_ARG(row->id),
                    PAWL_STR_ARG(row->sub_status));
    pawl__cli_write_safe(&cli->out, row->definition_id);
    pawl__cli_print(&cli->out, " %lld", (long long)row->version);
    pawl__cli_show_trouble(cli, "  ", row);
    pawl__cli_print(&cli->out, "\n");
    return PAWL_OK;
}

/* One that is not listed any more: it has ended, was deleted, or others are newer. */
static int print_left(struct pawl_cli_session *session, struct pawl_arena *arena,
                      const struct pawl_instance_row *before, struct pawl_error *err)
{
    struct pawl_instance_row row;
    int status = pawl__runtime_show(session->runtime, before->id, arena, &row, NULL,
                                    pawl__cli_session_deadline(session), err);

    if (status == PAWL_ENOTFOUND) {
        row = *before;
        row.status = row.sub_status = pawl__str("Deleted");
        return print_change(session->cli, &row);
    }
    if (status == PAWL_OK && row.revision != before->revision)
        status = print_change(session->cli, &row);
    return status;
}

static int print_changes(struct pawl_cli_session *session, struct watching *watching,
                         const struct pawl_rows *rows, struct pawl_error *err)
{
    struct pawl_map *now = &watching->seen[watching->turn];
    const struct pawl_map *before = &watching->seen[watching->turn ^ 1u];
    struct pawl_map_entry *entry;
    int status = PAWL_OK;

    pawl__map_clear(now);
    for (size_t i = 0; i < rows->count && status == PAWL_OK; i++) {
        const struct pawl_instance_row *row = &((const struct pawl_instance_row *)rows->rows)[i];
        const struct pawl_instance_row *old = pawl__map_get(before, row->id);

        status = pawl__map_put(now, row->id, (void *)(uintptr_t)row);
        if (status == PAWL_OK && (!old || old->revision != row->revision))
            status = print_change(session->cli, row);
    }
    PAWL_MAP_FOR_EACH (entry, before) {
        if (status == PAWL_OK && !pawl__map_has(now, entry->key))
            status = print_left(session, &watching->arenas[watching->turn], entry->value, err);
    }
    return status;
}

static int look(struct pawl_cli_session *session, void *ctx, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct watching *watching = ctx;
    struct pawl_arena *arena = &watching->arenas[watching->turn];
    struct listing listing;
    struct pawl_rows rows;
    int status;

    pawl__arena_reset(arena);
    make_query(&cli->args, &listing);
    status = pawl_store_find(session->store, &listing.query, arena, &rows,
                             pawl__cli_session_deadline(session), err);
    if (status != PAWL_OK)
        return status;
    if (pawl__cli_watch_in_place(cli) && !pawl__cli_flag(&cli->args, "json")) {
        pawl__cli_watch_clear(cli);
        print_text(cli, &rows);
        return PAWL_OK;
    }
    status = print_changes(session, watching, &rows, err);
    watching->turn ^= 1u;
    return status == PAWL_OK || err->code == status ? status : pawl__error_code(err, status);
}

static int watch(struct pawl_cli *cli)
{
    struct watching watching = {.turn = 0};
    int code;

    for (unsigned i = 0; i < 2; i++) {
        pawl__arena_init(&watching.arenas[i], &cli->env->alloc, LOOK_MAX);
        pawl__map_init(&watching.seen[i], &cli->env->alloc, (struct pawl_hash_seed){1, 2});
    }
    code = pawl__cli_watch(cli, false, look, &watching);
    for (unsigned i = 0; i < 2; i++) {
        pawl__map_release(&watching.seen[i]);
        pawl__arena_release(&watching.arenas[i]);
    }
    return code;
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_flag(&cli->args, "watch") ? watch(cli) : pawl__cli_in_look(cli, body);
}

static const char *const status_choices[] = {"Pending",   "Executing", "Suspended", "Finished",
                                             "Cancelled", "Faulted",   NULL};

static const struct pawl_cli_option options[] = {
    {.name = "all", .letter = 'a', .kind = PAWL_CLI_FLAG, .help = "Those that have ended too"},
    {.name = "definition",
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "Only instances of this definition"},
    {.name = "status",
     .kind = PAWL_CLI_CHOICE,
     .arg = "STATUS",
     .help = "Only those: Pending, Executing, Suspended, Finished, Cancelled, Faulted",
     .choices = status_choices},
    {.name = "aside",
     .kind = PAWL_CLI_FLAG,
     .help = "Only those that cannot be run: set aside for an operator, or tried again later"},
    {.name = "correlation-id",
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "Only those with this correlation id"},
    {.name = "limit",
     .letter = 'n',
     .kind = PAWL_CLI_NUMBER,
     .arg = "COUNT",
     .help = "Show at most COUNT, the newest (default 100)",
     .min = 1,
     .max = PAWL_STORE_ROWS_MAX},
    {.name = "watch",
     .letter = 'w',
     .kind = PAWL_CLI_FLAG,
     .help = "Until Ctrl-C: in place on a terminal, else a line for each change"},
    PAWL_CLI_INTERVAL_OPTION,
    {.name = "json",
     .kind = PAWL_CLI_FLAG,
     .help = "Print a JSON array; with --watch, an object per change"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_ps = {
    .name = "ps",
    .summary = "List the instances of a store, the newest first",
    .options = options,
    .run = run,
};
