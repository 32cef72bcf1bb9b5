/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl journal`: what an instance did, record by record. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "operations/instances.h"
#include "operations/journal.h"
#include "views/journal.h"

/* Records that are read and printed at a time, and what they may take. */
#define PART 1000u
#define PART_BYTES_MAX ((size_t)1 << 30)

static struct pawl_str instance_id(const struct pawl_cli_session *session)
{
    return pawl__str(session->cli->args.operands[0]);
}

static int failed(struct pawl_cli_session *session, struct pawl_error *err)
{
    return pawl__cli_session_failed(session, err, "'pawl ps --all' lists the instances");
}

/* What the arguments ask for: all of it, or the last so many. */
struct asked {
    struct pawl_journal_query query;
    struct pawl_str activity_id, event;
    uint64_t last; /* 0: all */
};

static void read_arguments(const struct pawl_cli_session *session, struct asked *asked)
{
    const struct pawl_cli_args *args = &session->cli->args;

    *asked = (struct asked){.query = {.instance_id = instance_id(session), .limit = PART},
                            .activity_id = pawl__str(pawl__cli_text(args, "activity", NULL)),
                            .event = pawl__str(pawl__cli_text(args, "event", NULL)),
                            .last = (uint64_t)pawl__cli_number(args, "limit", 0)};
    if (asked->activity_id.len > 0) {
        asked->query.activity_ids = &asked->activity_id;
        asked->query.activity_id_count = 1;
    }
    if (asked->event.len > 0) {
        asked->query.events = &asked->event;
        asked->query.event_count = 1;
    }
}

/* ---- text ----------------------------------------------------------------------------------- */

static void print_record(struct pawl_cli *cli, const struct pawl_json *record)
{
    static const char *const columns[] = {"timestamp", "eventName", "activityType", "activityId",
                                          "message"};

    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        if (i > 0)
            pawl__cli_print(&cli->out, "  ");
        pawl__cli_write_safe(&cli->out, pawl__json_str(pawl__json_get_text(record, columns[i])));
    }
    pawl__cli_print(&cli->out, "\n");
}

/* Calls `each` for every record that is asked for, a part at a time; `arena` has one part. */
static int walk(struct pawl_cli_session *session, struct asked *asked, struct pawl_arena *arena,
                bool keep, void (*each)(void *ctx, const struct pawl_json *record), void *ctx,
                struct pawl_error *err)
{
    struct pawl_journal_list part = {.total = 0};
    int status = PAWL_OK;

    if (asked->last > 0) {
        struct pawl_op op = pawl__cli_session_op(session, err);
        struct pawl_journal_query count = asked->query;

        count.limit = 1;
        op.arena = arena;
        status = pawl__op_journal_list(&op, &count, &part);
        if (status == PAWL_OK && part.total > asked->last)
            asked->query.offset = part.total - asked->last;
    }
    asked->query.without_total = true;
    do {
        struct pawl_op op = pawl__cli_session_op(session, err);

        if (status != PAWL_OK)
            break;
        if (!keep)
            pawl__arena_reset(arena);
        op.arena = arena;
        status = pawl__op_journal_list(&op, &asked->query, &part);
        for (uint32_t i = 0; status == PAWL_OK && i < pawl__json_len(&part.records); i++)
            each(ctx, pawl__json_at(&part.records, i));
        asked->query.offset += PART;
    } while (status == PAWL_OK && pawl__json_len(&part.records) == PART);
    return status;
}

static void print_each(void *ctx, const struct pawl_json *record)
{
    print_record(ctx, record);
}

static int print_text(struct pawl_cli_session *session, struct asked *asked, struct pawl_error *err)
{
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &session->cli->env->alloc, PART_BYTES_MAX);
    status = walk(session, asked, &arena, false, print_each, session->cli, err);
    pawl__arena_release(&arena);
    return status == PAWL_OK ? PAWL_CLI_EXIT_OK : failed(session, err);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

struct views {
    struct pawl_builder b;
    struct pawl_json array;
};

static void view_each(void *ctx, const struct pawl_json *record)
{
    struct views *views = ctx;

    pawl__build_append(&views->b, &views->array, pawl__view_journal_record(&views->b, record));
}

static int print_json(struct pawl_cli_session *session, struct asked *asked, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct views views = {.b = {.arena = &cli->arena}, .array = pawl__json_array()};
    int status = walk(session, asked, &cli->arena, true, view_each, &views, err);

    if (status == PAWL_OK && views.b.status != PAWL_OK)
        status = pawl__error_code(err, views.b.status);
    return status == PAWL_OK ? pawl__cli_print_json(cli, &views.array, 0) : failed(session, err);
}

static int print_executions(struct pawl_cli_session *session, const struct asked *asked,
                            struct pawl_error *err)
{
    const struct pawl_execution_query query = {.instance_id = asked->query.instance_id,
                                               .activity_id = asked->activity_id,
                                               .is_completed = -1};
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_builder b = {.arena = op.arena};
    struct pawl_json executions, last = pawl__json_array();
    uint32_t count;
    int status = pawl__op_executions_list(&op, &query, &executions);

    if (status != PAWL_OK)
        return failed(session, err);
    count = pawl__json_len(&executions);
    for (uint32_t i = asked->last > 0 && asked->last < count ? count - (uint32_t)asked->last : 0;
         i < count; i++)
        pawl__build_append(&b, &last, *pawl__json_at(&executions, i));
    return pawl__cli_print_built(session->cli, &b, &last, 0);
}

/* ---- the command ---------------------------------------------------------------------------- */

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    const struct pawl_cli_args *args = &session->cli->args;
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_instance_shown shown;
    struct pawl_json one;
    struct asked asked;
    int status;

    if (pawl__cli_flag(args, "execution"))
        return pawl__op_execution_show(&op, pawl__str(""), instance_id(session), &one) == PAWL_OK
                   ? pawl__cli_print_json(session->cli, &one, 0)
                   : failed(session, err);
    status = pawl__op_instance_show(&op, instance_id(session), false, &shown);

    if (status == PAWL_OK && pawl__cli_flag(args, "records") &&
        (pawl__cli_text(args, "event", NULL) || !pawl__cli_flag(args, "json")))
        status = pawl__error_set(err, PAWL_EINVAL,
                                 "--records goes with --json, and not with --event: an execution "
                                 "has several events");
    if (status != PAWL_OK)
        return failed(session, err);
    read_arguments(session, &asked);
    if (!pawl__cli_flag(args, "json"))
        return print_text(session, &asked, err);
    return pawl__cli_flag(args, "records") ? print_executions(session, &asked, err)
                                           : print_json(session, &asked, err);
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, body);
}

static const struct pawl_cli_option options[] = {
    {.name = "limit",
     .letter = 'n',
     .kind = PAWL_CLI_NUMBER,
     .arg = "COUNT",
     .help = "Show the last COUNT records that match (default: all)",
     .min = 1,
     .max = INT32_MAX},
    {.name = "activity",
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "Only records of this activity"},
    {.name = "event",
     .kind = PAWL_CLI_TEXT,
     .arg = "NAME",
     .help = "Only records of this event: Started, Completed, Faulted …"},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print the log records as a JSON array"},
    {.name = "records",
     .kind = PAWL_CLI_FLAG,
     .help = "With --json: one record per activity execution instead"},
    {.name = "execution",
     .kind = PAWL_CLI_FLAG,
     .help = "INSTANCE is the id of an execution: print its record as JSON"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_journal = {
    .name = "journal",
    .summary = "Show what an instance did, step by step",
    .operands = "INSTANCE",
    .options = options,
    .run = run,
};
