/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl ps`: the instances of a store, once or as they change. */
#include "cli/commands.h"

#include "base/error.h"
#include "base/map.h"
#include "cli/command/instances.h"
#include "cli/command/output.h"
#include "cli/command/watch.h"
#include "cli/session/session.h"
#include "operations/instances.h"
#include "views/instances.h"

#include <string.h>

/* What one look of --watch may hold. */
#define LOOK_MAX ((size_t)1 << 30)

/* A query and what it borrows. */
struct listing {
    struct pawl_instance_query query;
    struct pawl_str sub_status;
};

static struct pawl_str option(const struct pawl_cli_args *args, const char *name)
{
    return pawl__str(pawl__cli_text(args, name, ""));
}

static const char *const sort_choices[] = {
    [PAWL_INSTANCES_BY_CREATED] = "created",
    [PAWL_INSTANCES_BY_UPDATED] = "updated",
    [PAWL_INSTANCES_BY_FINISHED] = "finished",
    [PAWL_INSTANCES_BY_NAME] = "name",
    NULL,
};

static enum pawl_instance_sort sort_of(const struct pawl_cli_args *args)
{
    const char *sort = pawl__cli_text(args, "sort", "created");

    for (int i = 0; sort_choices[i]; i++) {
        if (strcmp(sort, sort_choices[i]) == 0)
            return (enum pawl_instance_sort)i;
    }
    return PAWL_INSTANCES_BY_CREATED;
}

static void make_query(const struct pawl_cli_args *args, struct listing *listing)
{
    struct pawl_instance_query *query = &listing->query;

    *query = PAWL_INSTANCE_QUERY_ALL;
    query->definition_id = option(args, "definition");
    query->correlation_id = option(args, "correlation-id");
    query->parent_id = option(args, "parent");
    query->name = option(args, "name");
    query->search = option(args, "search");
    query->is_put_off = pawl__cli_flag(args, "aside");
    listing->sub_status = option(args, "status");
    if (listing->sub_status.len > 0) {
        query->sub_statuses = &listing->sub_status;
        query->sub_status_count = 1;
    } else if (!pawl__cli_flag(args, "all")) {
        query->status = pawl__str("Running");
    }
    query->sort = sort_of(args);
    query->page = (struct pawl_page_request){
        .limit = (uint32_t)pawl__cli_number(args, "limit", PAWL_PAGE_ROWS_DEFAULT),
        .after = option(args, "after"),
        .reversed = pawl__cli_flag(args, "reverse"),
        .with_total = true,
    };
}

static int print_json(struct pawl_cli *cli, const struct pawl_instance_list *list)
{
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json array = pawl__json_array();

    for (size_t i = 0; i < list->count; i++)
        pawl__build_append(&b, &array, pawl__view_instance_summary(&b, &list->rows[i]));
    return pawl__cli_print_view(cli, &b, &array);
}

static void print_text(struct pawl_cli *cli, const struct pawl_instance_list *list)
{
    char time[PAWL_CLI_TIME_TEXT];

    if (list->count > 0)
        pawl__cli_print(&cli->out, "%-32s  %-10s  %-19s  %s\n", "INSTANCE", "STATUS", "UPDATED",
                        "DEFINITION");
    for (size_t i = 0; i < list->count; i++) {
        const struct pawl_instance_row *row = &list->rows[i];

        pawl__cli_print(&cli->out, "%-32.*s  %-10.*s  %-19s  ", PAWL_STR_ARG(row->id),
                        PAWL_STR_ARG(row->sub_status), pawl__cli_time_text(row->updated_us, time));
        pawl__cli_write_safe(&cli->out, row->definition_id);
        pawl__cli_print(&cli->out, " %lld", (long long)row->version);
        pawl__cli_show_trouble(cli, "  ", row);
        pawl__cli_print(&cli->out, "\n");
    }
}

/* On standard error, with --json too: a cursor is nothing that a list of rows could hold. */
static void tell_more(struct pawl_cli *cli, const struct pawl_instance_list *list)
{
    if (list->page.next.len > 0)
        pawl__cli_print(
            &cli->err, "%zu of %llu shown; --limit shows more, --after %.*s the next ones\n",
            list->count, (unsigned long long)list->page.total, PAWL_STR_ARG(list->page.next));
}

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_instance_list list;
    struct listing listing;
    int status, code = PAWL_CLI_EXIT_OK;

    make_query(&cli->args, &listing);
    status = pawl__op_instances_list(&op, &listing.query, &list);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, pawl__cli_session_hint(status));
    if (pawl__cli_flag(&cli->args, "json"))
        code = print_json(cli, &list);
    else
        print_text(cli, &list);
    tell_more(cli, &list);
    return code;
}

/* ---- watching ------------------------------------------------------------------------------ */

/* The rows of the last look and of this one take turns. */
struct watching {
    struct pawl_arena arenas[2];
    struct pawl_map seen[2]; /* struct pawl_instance_row by id */
    unsigned turn;
};

/* One line: a JSON object, or the columns of the list. */
static int print_change(struct pawl_cli *cli, struct pawl_arena *arena,
                        const struct pawl_instance_row *row)
{
    char time[PAWL_CLI_TIME_TEXT];

    if (pawl__cli_flag(&cli->args, "json")) {
        struct pawl_builder b = {.arena = arena};
        struct pawl_json view = pawl__view_instance_summary(&b, row);

        return pawl__cli_print_view(cli, &b, &view) == PAWL_CLI_EXIT_OK ? PAWL_OK : PAWL_ENOMEM;
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
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_instance_shown shown;
    int status;

    op.arena = arena;
    status = pawl__op_instance_show(&op, before->id, false, &shown);
    if (status == PAWL_ENOTFOUND) {
        struct pawl_instance_row row = *before;

        row.status = row.sub_status = pawl__str("Deleted");
        return print_change(session->cli, arena, &row);
    }
    if (status == PAWL_OK && shown.row.revision != before->revision)
        status = print_change(session->cli, arena, &shown.row);
    return status;
}

static int print_changes(struct pawl_cli_session *session, struct watching *watching,
                         const struct pawl_instance_list *list, struct pawl_error *err)
{
    struct pawl_arena *arena = &watching->arenas[watching->turn];
    struct pawl_map *now = &watching->seen[watching->turn];
    const struct pawl_map *before = &watching->seen[watching->turn ^ 1u];
    struct pawl_map_entry *entry;
    int status = PAWL_OK;

    pawl__map_clear(now);
    for (size_t i = 0; i < list->count && status == PAWL_OK; i++) {
        const struct pawl_instance_row *row = &list->rows[i];
        const struct pawl_instance_row *old = pawl__map_get(before, row->id);

        status = pawl__map_put(now, row->id, (void *)(uintptr_t)row);
        if (status == PAWL_OK && (!old || old->revision != row->revision))
            status = print_change(session->cli, arena, row);
    }
    PAWL_MAP_FOR_EACH (entry, before) {
        if (status == PAWL_OK && !pawl__map_has(now, entry->key))
            status = print_left(session, arena, entry->value, err);
    }
    return status;
}

static int look(struct pawl_cli_session *session, void *ctx, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct watching *watching = ctx;
    struct pawl_instance_list list;
    struct listing listing;
    int status;

    op.arena = &watching->arenas[watching->turn];
    pawl__arena_reset(op.arena);
    make_query(&cli->args, &listing);
    status = pawl__op_instances_list(&op, &listing.query, &list);
    if (status != PAWL_OK)
        return status;
    if (pawl__cli_watch_in_place(cli) && !pawl__cli_flag(&cli->args, "json")) {
        pawl__cli_watch_clear(cli);
        print_text(cli, &list);
        tell_more(cli, &list);
        return PAWL_OK;
    }
    status = print_changes(session, watching, &list, err);
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

static const struct pawl_cli_option options[] = {
    {.name = "all", .letter = 'a', .kind = PAWL_CLI_FLAG, .help = "Also instances that have ended"},
    {.name = "definition",
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "Only instances of this definition"},
    {.name = "status",
     .kind = PAWL_CLI_CHOICE,
     .arg = "STATUS",
     .help = "Pending, Executing, Suspended, Finished, Cancelled, Faulted",
     .choices = pawl__sub_status_names},
    {.name = "aside",
     .kind = PAWL_CLI_FLAG,
     .help = "Only those that cannot be run: set aside for an operator, or to be retried later"},
    {.name = "correlation-id",
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "Only those with this correlation id"},
    {.name = "parent",
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "Only the children of this instance"},
    {.name = "name", .kind = PAWL_CLI_TEXT, .arg = "NAME", .help = "Only those with this name"},
    {.name = "search",
     .kind = PAWL_CLI_TEXT,
     .arg = "TEXT",
     .help = "Only those with TEXT in their name or in one of their ids"},
    {.name = "limit",
     .letter = 'n',
     .kind = PAWL_CLI_NUMBER,
     .arg = "COUNT",
     .help = "Show at most COUNT, the newest first (default 100)",
     .min = 1,
     .max = PAWL_PAGE_ROWS_MAX},
    {.name = "after",
     .kind = PAWL_CLI_TEXT,
     .arg = "PLACE",
     .help = "Continue at the place that the previous list printed",
     .may_be_empty = true},
    {.name = "sort",
     .kind = PAWL_CLI_CHOICE,
     .arg = "BY",
     .help = "Sort by created (default), updated or finished, latest first; or by name",
     .choices = sort_choices},
    {.name = "reverse", .letter = 'r', .kind = PAWL_CLI_FLAG, .help = "Reverse the order"},
    {.name = "watch",
     .letter = 'w',
     .kind = PAWL_CLI_FLAG,
     .help = "Refresh until Ctrl-C: in place on a terminal, else a line for each change"},
    PAWL_CLI_INTERVAL_OPTION,
    {.name = "json",
     .kind = PAWL_CLI_FLAG,
     .help = "Print a JSON array; with --watch, an object per change"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_ps = {
    .name = "ps",
    .summary = "List the instances of a store, newest first",
    .options = options,
    .run = run,
};
