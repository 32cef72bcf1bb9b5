/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl deadletters`: work that was given up: list, show, replay, remove. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/listing.h"
#include "cli/output.h"

static int failed(struct pawl_cli_session *session, struct pawl_error *err)
{
    return pawl__cli_fail(session->cli, err,
                          err->code == PAWL_ENOTFOUND ? "'pawl deadletters' lists them"
                                                      : pawl__cli_session_hint(err->code));
}

static struct pawl_json letter_json(struct pawl_builder *b, const struct pawl_dead_letter_row *row)
{
    struct pawl_json one = pawl__json_object();

    pawl__cli_put(b, &one, "id", row->id);
    pawl__cli_put(b, &one, "kind", row->kind);
    pawl__cli_put(b, &one, "reason", row->reason);
    pawl__cli_put(b, &one, "error", row->error);
    pawl__cli_put(b, &one, "instanceId", row->instance_id);
    pawl__cli_put(b, &one, "bookmarkId", row->bookmark_id);
    pawl__cli_put(b, &one, "hash", row->hash);
    pawl__cli_put(b, &one, "correlationId", row->correlation_id);
    pawl__cli_put_time(b, &one, "createdAt", row->created_us);
    pawl__cli_put_time(b, &one, "deadAt", row->dead_us);
    pawl__build_int(b, &one, "attempts", row->attempts);
    pawl__cli_put_time(b, &one, "attemptedAt", row->attempted_us);
    pawl__build(b, &one, "canReplay", pawl__json_bool(row->can_replay && row->replayed_us == 0));
    pawl__cli_put_time(b, &one, "replayedAt", row->replayed_us);
    pawl__cli_put(b, &one, "replayedAs", row->replayed_id);
    return one;
}

/* ---- list ---------------------------------------------------------------------------------- */

static void make_query(const struct pawl_cli_args *args, struct pawl_cli_list *list)
{
    pawl__cli_list_init(list, args, PAWL_TABLE_DEAD_LETTERS, "dead_us",
                        PAWL_QUERY_BRIEF | PAWL_QUERY_DESCENDING);
    pawl__cli_list_text(list, "instance_id", pawl__cli_text(args, "instance", NULL));
    pawl__cli_list_text(list, "kind", pawl__cli_text(args, "kind", NULL));
}

static int list(struct pawl_cli_session *session, struct pawl_error *err)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "LETTER", .key = "id"},
        {.title = "DIED", .key = "deadAt", .is_time = true},
        {.title = "KIND", .key = "kind"},
        {.title = "REASON", .key = "reason"},
        {.title = "INSTANCE", .key = "instanceId"},
        {.title = "REPLAYED", .key = "replayedAt", .is_time = true},
        {.title = "ERROR", .key = "error"},
        {.title = NULL},
    };
    struct pawl_cli *cli = session->cli;
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    struct pawl_cli_list list;
    struct pawl_rows found;
    int status;

    make_query(&cli->args, &list);
    if (pawl__cli_flag(&cli->args, "open"))
        pawl__cli_list_int(&list, "replayed_us", PAWL_EQ, 0);
    status = pawl__cli_list_find(session, &list, &cli->arena, &found, err);
    for (size_t i = 0; status == PAWL_OK && i < found.count; i++)
        pawl__build_append(&b, &rows,
                           letter_json(&b, &((const struct pawl_dead_letter_row *)found.rows)[i]));
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    return status == PAWL_OK ? pawl__cli_list_show(cli, &rows, found.total, columns)
                             : failed(session, err);
}

static int run_list(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, list);
}

/* ---- show ---------------------------------------------------------------------------------- */

static int show(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_cli_list list;
    struct pawl_rows rows;
    struct pawl_json one;
    int status;

    pawl__cli_list_all(&list, PAWL_TABLE_DEAD_LETTERS, NULL, 0);
    pawl__cli_list_text(&list, "id", cli->args.operands[0]);
    status = pawl__cli_list_find(session, &list, &cli->arena, &rows, err);
    if (status == PAWL_OK && rows.count == 0)
        status = pawl__error_set(err, PAWL_ENOTFOUND, "there is no dead letter %s",
                                 cli->args.operands[0]);
    if (status != PAWL_OK)
        return failed(session, err);
    one = letter_json(&b, rows.rows);
    pawl__cli_put_bytes(&b, &one, "payload",
                        ((const struct pawl_dead_letter_row *)rows.rows)->payload);
    if (b.status != PAWL_OK) {
        (void)pawl__error_code(err, b.status);
        return failed(session, err);
    }
    return pawl__cli_print_json(cli, &one, 2);
}

static int run_show(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, show);
}

static const struct pawl_cli_command show_command = {
    .name = "show",
    .summary = "Print a dead letter with its payload as JSON",
    .operands = "ID",
    .run = run_show,
};

/* ---- replay, rm ---------------------------------------------------------------------------- */

struct acting {
    struct pawl_cli_session *session;
    int (*act)(struct pawl_runtime *runtime, struct pawl_str id, int64_t deadline_ns,
               struct pawl_error *err);
    const char *done;
    struct pawl_builder b;
    struct pawl_json ids; /* of those it was done with */
};

static int act_on(struct acting *acting, struct pawl_str id, struct pawl_error *err)
{
    struct pawl_cli *cli = acting->session->cli;
    struct pawl_json text = pawl__json_null();
    int status =
        acting->act(acting->session->runtime, id, pawl__cli_session_deadline(acting->session), err);

    if (status != PAWL_OK)
        return status;
    if (acting->b.status == PAWL_OK)
        acting->b.status = pawl__json_string_copy(acting->b.arena, id, &text);
    pawl__build_append(&acting->b, &acting->ids, text);
    if (!acting->session->as_json)
        pawl__cli_print(&cli->out, "%s %.*s\n", acting->done, PAWL_STR_ARG(id));
    return PAWL_OK;
}

static int act_on_named(struct acting *acting, struct pawl_error *err)
{
    const struct pawl_cli_args *args = &acting->session->cli->args;
    int status = PAWL_OK;

    for (size_t i = 0; i < args->operand_count && status == PAWL_OK; i++)
        status = act_on(acting, pawl__str(args->operands[i]), err);
    return status;
}

/* Page by page; those that cannot be, or that somebody else was faster with, are passed over. */
static int act_on_all(struct acting *acting, bool only_open, struct pawl_error *err)
{
    struct pawl_cli *cli = acting->session->cli;
    struct pawl_dead_letter_row last;
    struct pawl_cli_list list;
    struct pawl_rows rows;
    int status;

    pawl__cli_list_all(&list, PAWL_TABLE_DEAD_LETTERS, NULL, PAWL_QUERY_BRIEF);
    list.query.limit = PAWL_CLI_LIST_MAX;
    pawl__cli_list_text(&list, "instance_id", pawl__cli_text(&cli->args, "instance", NULL));
    pawl__cli_list_text(&list, "kind", pawl__cli_text(&cli->args, "kind", NULL));
    if (only_open) {
        pawl__cli_list_int(&list, "replayed_us", PAWL_EQ, 0);
        pawl__cli_list_int(&list, "can_replay", PAWL_NE, 0);
    }
    do {
        status = pawl__cli_list_find(acting->session, &list, &cli->arena, &rows, err);
        for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
            last = ((const struct pawl_dead_letter_row *)rows.rows)[i];
            status = act_on(acting, last.id, err);
            if (status != PAWL_ECONFLICT && status != PAWL_ENOTFOUND)
                continue;
            pawl__cli_flush(&cli->out);
            pawl__cli_print(&cli->err, "skipped: %s\n", err->msg);
            *err = (struct pawl_error)PAWL_ERROR_INIT;
            status = PAWL_OK;
        }
        list.query.after = &last;
    } while (status == PAWL_OK && rows.count == PAWL_CLI_LIST_MAX);
    return status;
}

static int finish(struct acting *acting, int status, struct pawl_error *err)
{
    struct pawl_cli *cli = acting->session->cli;
    struct pawl_json said = pawl__json_object();

    pawl__build(&acting->b, &said, acting->done, acting->ids);
    if (status == PAWL_OK && acting->b.status != PAWL_OK)
        status = pawl__error_code(err, acting->b.status);
    if (status != PAWL_OK)
        return failed(acting->session, err);
    if (acting->session->as_json)
        return pawl__cli_print_json(cli, &said, 0);
    if (pawl__json_len(&acting->ids) == 0)
        pawl__cli_print(&cli->err, "there is nothing to do\n");
    return PAWL_CLI_EXIT_OK;
}

/* Either --all or ids. */
static int check_operands(struct pawl_cli *cli, struct pawl_error *err)
{
    bool all = pawl__cli_flag(&cli->args, "all");

    if (all == (cli->args.operand_count > 0))
        return pawl__error_set(err, PAWL_EINVAL,
                               all ? "ids and --all: one of them is enough"
                                   : "ids of dead letters are missing, or --all");
    return PAWL_OK;
}

static int replay(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct acting acting = {.session = session,
                            .act = pawl__runtime_replay,
                            .done = "replayed",
                            .b = {.arena = &cli->arena},
                            .ids = pawl__json_array()};
    int status;

    session->as_json = pawl__cli_flag(&cli->args, "json");
    if (check_operands(cli, err) != PAWL_OK)
        return pawl__cli_fail_usage(cli, err);
    status = pawl__cli_flag(&cli->args, "all") ? act_on_all(&acting, true, err)
                                               : act_on_named(&acting, err);
    if (status == PAWL_OK && !pawl__cli_flag(&cli->args, "detach"))
        status = pawl__cli_session_drain(session, err);
    return finish(&acting, status, err);
}

static int run_replay(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, replay);
}

static const struct pawl_cli_option replay_options[] = {
    {.name = "all",
     .kind = PAWL_CLI_FLAG,
     .help = "All that can be; with --instance or --kind, all of those"},
    {.name = "detach",
     .letter = 'd',
     .kind = PAWL_CLI_FLAG,
     .help = "Only make them due; a worker does the rest"},
    {.name = NULL},
};

static const struct pawl_cli_command replay_command = {
    .name = "replay",
    .summary = "Try work that was given up once more",
    .operands = "[ID...]",
    .help = "Each letter becomes work that is due, as if it were new, in one commit; it is marked\n"
            "and cannot be replayed twice. What fails again becomes a letter of its own.\n",
    .options = replay_options,
    .run = run_replay,
};

static int remove_letters(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct acting acting = {.session = session,
                            .act = pawl__runtime_drop_letter,
                            .done = "deleted",
                            .b = {.arena = &cli->arena},
                            .ids = pawl__json_array()};
    int status;

    session->as_json = pawl__cli_flag(&cli->args, "json");
    if (check_operands(cli, err) != PAWL_OK)
        return pawl__cli_fail_usage(cli, err);
    status = pawl__cli_flag(&cli->args, "all") ? act_on_all(&acting, false, err)
                                               : act_on_named(&acting, err);
    return finish(&acting, status, err);
}

static int run_rm(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, remove_letters);
}

static const struct pawl_cli_option rm_options[] = {
    {.name = "all", .kind = PAWL_CLI_FLAG, .help = "All; with --instance or --kind, all of those"},
    {.name = NULL},
};

static const struct pawl_cli_command rm_command = {
    .name = "rm",
    .summary = "Delete dead letters, whether they were replayed or not",
    .operands = "[ID...]",
    .options = rm_options,
    .run = run_rm,
};

/* ---- the whole ----------------------------------------------------------------------------- */

static const struct pawl_cli_command *const commands[] = {
    &show_command,
    &replay_command,
    &rm_command,
    NULL,
};

static const struct pawl_cli_option options[] = {
    {.name = "instance", .kind = PAWL_CLI_TEXT, .arg = "ID", .help = "Only those of this instance"},
    {.name = "kind",
     .kind = PAWL_CLI_TEXT,
     .arg = "KIND",
     .help = "Only those of this kind: stimulus, start, resume, timer, tick, …"},
    {.name = "open", .kind = PAWL_CLI_FLAG, .help = "List those that were not replayed yet"},
    PAWL_CLI_LIST_OPTIONS("the newest"),
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_deadletters = {
    .name = "deadletters",
    .summary = "List work that was given up; show, replay or delete it",
    .help =
        "Work that keeps failing, and events that nobody waited for in time, are kept as dead\n"
        "letters for somebody to look at. Once the cause is gone, 'pawl deadletters replay ID'\n"
        "tries them again.\n",
    .options = options,
    .commands = commands,
    .run = run_list,
};
