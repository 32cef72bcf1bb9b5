/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl deadletters`: work that was given up: list, show, replay, remove. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "views/letters.h"

static int failed(struct pawl_cli_session *session, struct pawl_error *err)
{
    return pawl__cli_session_failed(session, err, "'pawl deadletters' lists them");
}

/* ---- list ---------------------------------------------------------------------------------- */

/* Those that the options name, without a page. */
static struct pawl_letter_query query_of(const struct pawl_cli_args *args)
{
    return (struct pawl_letter_query){
        .instance_id = pawl__str(pawl__cli_text(args, "instance", "")),
        .kind = pawl__str(pawl__cli_text(args, "kind", "")),
    };
}

static int list(struct pawl_cli_session *session, struct pawl_error *err)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "LETTER", .key = "id"},
        {.title = "DIED", .key = "deadLetteredAt", .is_time = true},
        {.title = "KIND", .key = "kind"},
        {.title = "REASON", .key = "reason"},
        {.title = "INSTANCE", .key = "workflowInstanceId"},
        {.title = "REPLAYED", .key = "replayedAt", .is_time = true},
        {.title = "ERROR", .key = "lastErrorMessage"},
        {.title = NULL},
    };
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_letter_query query = query_of(&cli->args);
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    struct pawl_letter_list found = {.count = 0};
    int status;

    query.is_open = pawl__cli_flag(&cli->args, "open");
    if (strcmp(pawl__cli_text(&cli->args, "sort", "died"), "created") == 0)
        query.sort = PAWL_LETTERS_BY_CREATED;
    query.page = pawl__cli_page(&cli->args);
    status = pawl__op_letters_list(&op, &query, &found);
    for (size_t i = 0; i < found.count; i++)
        pawl__build_append(&b, &rows, pawl__view_letter(&b, &found.rows[i]));
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    return status == PAWL_OK ? pawl__cli_page_show(cli, &rows, &found.page, columns)
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
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_dead_letter_row row;
    struct pawl_json one;

    if (pawl__op_letter_show(&op, pawl__str(cli->args.operands[0]), &row) != PAWL_OK)
        return failed(session, err);
    one = pawl__view_letter_whole(&b, &row);
    return pawl__cli_print_built(cli, &b, &one, 2);
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
    bool replays; /* else it deletes */
    const char *done;
    struct pawl_builder b;
    struct pawl_json ids; /* of those it was done with */
};

static void note_done(struct acting *acting, struct pawl_str id)
{
    pawl__build_append(&acting->b, &acting->ids, pawl__json_string(id));
    if (!acting->session->as_json)
        pawl__cli_print(&acting->session->cli->out, "%s %.*s\n", acting->done, PAWL_STR_ARG(id));
}

static int act_on_named(struct acting *acting, struct pawl_error *err)
{
    const struct pawl_cli_args *args = &acting->session->cli->args;
    int status = PAWL_OK;

    for (size_t i = 0; i < args->operand_count && status == PAWL_OK; i++) {
        const struct pawl_op op = pawl__cli_session_op(acting->session, err);
        struct pawl_str id = pawl__str(args->operands[i]), work_id;

        status = acting->replays ? pawl__op_letter_replay(&op, id, &work_id)
                                 : pawl__op_letter_delete(&op, id);
        if (status == PAWL_OK)
            note_done(acting, id);
    }
    return status;
}

static void note_outcome(void *ctx, const struct pawl_letter_outcome *outcome)
{
    struct acting *acting = ctx;
    struct pawl_cli *cli = acting->session->cli;

    if (outcome->status == PAWL_OK) {
        note_done(acting, pawl__arena_str(&cli->arena, outcome->id));
        return;
    }
    pawl__cli_flush(&cli->out);
    pawl__cli_print(&cli->err, "skipped: %s\n", outcome->message);
}

static int act_on_many(struct acting *acting, const struct pawl_letter_query *query,
                       struct pawl_error *err)
{
    const struct pawl_op op = pawl__cli_session_bulk_op(acting->session, err);
    struct pawl_bulk_result result;
    int status = acting->replays
                     ? pawl__op_letters_replay(&op, query, note_outcome, acting, &result)
                     : pawl__op_letters_delete(&op, query, note_outcome, acting, &result);

    /* What was done is printed, also if an error ended it. */
    if (status == PAWL_OK && result.error.code != PAWL_OK) {
        *err = result.error;
        status = pawl__cli_partly(err, result.done);
    }
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

static int act(struct pawl_cli_session *session, bool replays, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct acting acting = {.session = session,
                            .replays = replays,
                            .done = replays ? "replayed" : "deleted",
                            .b = {.arena = &cli->arena},
                            .ids = pawl__json_array()};
    struct pawl_letter_query query = query_of(&cli->args);
    bool is_filtered;
    int status;

    query.all = pawl__cli_flag(&cli->args, "all");
    is_filtered = query.all || query.instance_id.len + query.kind.len > 0;
    session->as_json = pawl__cli_flag(&cli->args, "json");
    if (is_filtered == (cli->args.operand_count > 0)) {
        (void)pawl__error_set(err, PAWL_EINVAL,
                              "name letters, or select them by --instance, --kind or --all%s",
                              is_filtered ? ", not both" : "");
        return pawl__cli_fail_usage(cli, err);
    }
    status = is_filtered ? act_on_many(&acting, &query, err) : act_on_named(&acting, err);
    if (status == PAWL_OK && replays && !pawl__cli_flag(&cli->args, "detach"))
        status = pawl__cli_session_drain(session, err);
    return finish(&acting, status, err);
}

static int replay(struct pawl_cli_session *session, struct pawl_error *err)
{
    return act(session, true, err);
}

static int run_replay(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, replay);
}

static const struct pawl_cli_option replay_options[] = {
    {.name = "all", .kind = PAWL_CLI_FLAG, .help = "All that can be replayed"},
    {.name = "detach",
     .letter = 'd',
     .kind = PAWL_CLI_FLAG,
     .help = "Only make them due; a worker does the work"},
    {.name = NULL},
};

static const struct pawl_cli_command replay_command = {
    .name = "replay",
    .summary = "Retry work that was given up",
    .operands = "[ID...]",
    .help = "Each letter becomes due work again, as if it were new, in one commit. The letter is\n"
            "marked and cannot be replayed twice. Work that fails again becomes a new letter.\n\n"
            "Instead of ids, --instance and --kind say which letters, or --all.\n",
    .options = replay_options,
    .run = run_replay,
};

static int remove_letters(struct pawl_cli_session *session, struct pawl_error *err)
{
    return act(session, false, err);
}

static int run_rm(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, remove_letters);
}

static const struct pawl_cli_option rm_options[] = {
    {.name = "all", .kind = PAWL_CLI_FLAG, .help = "All letters"},
    {.name = NULL},
};

static const struct pawl_cli_command rm_command = {
    .name = "rm",
    .summary = "Delete dead letters, replayed or not",
    .operands = "[ID...]",
    .help = "Instead of ids, --instance and --kind say which letters, or --all.\n",
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

static const char *const sorts[] = {"died", "created", NULL};

static const struct pawl_cli_option options[] = {
    {.name = "instance", .kind = PAWL_CLI_TEXT, .arg = "ID", .help = "Only those of this instance"},
    {.name = "kind",
     .kind = PAWL_CLI_TEXT,
     .arg = "KIND",
     .help = "Only those of this kind: stimulus, start, resume, timer, tick, …"},
    {.name = "open", .kind = PAWL_CLI_FLAG, .help = "Only those that were not replayed yet"},
    {.name = "sort",
     .kind = PAWL_CLI_CHOICE,
     .arg = "ORDER",
     .choices = sorts,
     .help = "Sort by when they died, or by when the work was created"},
    PAWL_CLI_PAGE_OPTIONS("the newest"),
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_deadletters = {
    .name = "deadletters",
    .summary = "List work that was given up; show, replay or delete it",
    .help =
        "Work that keeps failing, and events that nothing waited for in time, are kept as dead\n"
        "letters for an operator. Once the cause is fixed, 'pawl deadletters replay ID' tries\n"
        "them again.\n",
    .options = options,
    .commands = commands,
    .run = run_list,
};
