/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl top`: how a store and its nodes are doing, again and again. */
#include "cli/commands.h"

#include "base/buf.h"
#include "base/error.h"
#include "cli/listing.h"
#include "cli/output.h"
#include "cli/watch.h"

/* What one look may hold. */
#define LOOK_MAX ((size_t)1 << 28)

static const char *const statuses[] = {"Pending",  "Executing", "Suspended",
                                       "Finished", "Cancelled", "Faulted"};
#define STATUS_COUNT (sizeof statuses / sizeof statuses[0])

struct top {
    struct pawl_arena arena; /* of one look */
    int64_t last_us;         /* the store's time at the look before; 0: none */
};

/* One look, as it is made. */
struct look {
    struct pawl_cli_session *session;
    struct pawl_builder b;
    struct pawl_error *err;
    int64_t now_us;
    int status; /* the first failure sticks */
};

/* ---- counting ------------------------------------------------------------------------------ */

static void count(struct look *look, struct pawl_cli_list *list, struct pawl_json *to,
                  const char *key)
{
    uint64_t total = 0;

    if (look->status == PAWL_OK)
        look->status = pawl__cli_list_count(look->session, list, look->b.arena, &total, look->err);
    pawl__build_int(&look->b, to, key, (int64_t)total);
}

static struct pawl_json instances(struct look *look)
{
    struct pawl_json out = pawl__json_object();

    for (size_t i = 0; i < STATUS_COUNT; i++) {
        struct pawl_cli_list list;

        pawl__cli_list_all(&list, PAWL_TABLE_INSTANCES, NULL, 0);
        pawl__cli_list_text(&list, "sub_status", statuses[i]);
        count(look, &list, &out, statuses[i]);
    }
    return out;
}

static void put_oldest(struct look *look, struct pawl_json *out)
{
    const struct pawl_work_row *oldest = NULL;
    struct pawl_cli_list list;
    struct pawl_rows rows;

    pawl__cli_list_all(&list, PAWL_TABLE_WORK, "due_us", PAWL_QUERY_BRIEF);
    list.query.limit = 1;
    pawl__cli_list_int(&list, "due_us", PAWL_LT, PAWL_TIME_NEVER);
    if (look->status == PAWL_OK)
        look->status = pawl__cli_list_find(look->session, &list, look->b.arena, &rows, look->err);
    if (look->status == PAWL_OK && rows.count > 0)
        oldest = rows.rows;
    /* Cancellations are due since ever: then what counts is when they were asked for. */
    if (oldest && oldest->due_us <= look->now_us)
        pawl__cli_put_time(&look->b, out, "oldestDueAt",
                           oldest->due_us > oldest->created_us ? oldest->due_us
                                                               : oldest->created_us);
    else
        pawl__build(&look->b, out, "oldestDueAt", pawl__json_null());
    pawl__cli_put_time(&look->b, out, "nextDueAt",
                       oldest && oldest->due_us > look->now_us ? oldest->due_us : 0);
}

static struct pawl_json work(struct look *look)
{
    struct pawl_json out = pawl__json_object();
    struct pawl_cli_list list;

    pawl__cli_list_all(&list, PAWL_TABLE_WORK, NULL, 0);
    pawl__cli_list_int(&list, "due_us", PAWL_LE, look->now_us);
    count(look, &list, &out, "due");
    put_oldest(look, &out);
    pawl__cli_list_all(&list, PAWL_TABLE_WORK, NULL, 0);
    pawl__cli_list_int(&list, "due_us", PAWL_GT, look->now_us);
    pawl__cli_list_int(&list, "due_us", PAWL_LT, PAWL_TIME_NEVER);
    count(look, &list, &out, "later");
    pawl__cli_list_all(&list, PAWL_TABLE_WORK, NULL, 0);
    pawl__cli_list_int(&list, "due_us", PAWL_EQ, PAWL_TIME_NEVER);
    count(look, &list, &out, "parked");
    pawl__cli_list_all(&list, PAWL_TABLE_DEAD_LETTERS, NULL, 0);
    pawl__cli_list_int(&list, "replayed_us", PAWL_EQ, 0);
    count(look, &list, &out, "deadLetters");
    return out;
}

static struct pawl_json nodes(struct look *look)
{
    struct pawl_json out = pawl__json_array();
    struct pawl_cli_list list;
    struct pawl_rows rows = {.count = 0};

    pawl__cli_list_all(&list, PAWL_TABLE_NODES, NULL, 0);
    pawl__cli_list_int(&list, "lease_us", PAWL_GT, look->now_us);
    if (look->status == PAWL_OK)
        look->status = pawl__cli_list_find(look->session, &list, look->b.arena, &rows, look->err);
    for (size_t i = 0; look->status == PAWL_OK && i < rows.count; i++) {
        const struct pawl_node_row *node = &((const struct pawl_node_row *)rows.rows)[i];
        struct pawl_json one = pawl__json_object();

        pawl__cli_put(&look->b, &one, "id", node->id);
        pawl__build_int(&look->b, &one, "incarnation", node->incarnation);
        pawl__cli_put_time(&look->b, &one, "joinedAt", node->joined_us);
        pawl__cli_put_time(&look->b, &one, "leaseEndsAt", node->lease_us);
        pawl__cli_list_all(&list, PAWL_TABLE_INSTANCES, NULL, 0);
        pawl__cli_list_int(&list, "owner", PAWL_EQ, node->incarnation);
        count(look, &list, &one, "runs");
        pawl__build_append(&look->b, &out, one);
    }
    return out;
}

/* Instances per second since the last look, by their times: an index tells, however many there
 * are. Commits are not counted: an instance that made several counts as one. */
static struct pawl_json rates(struct look *look, int64_t last_us)
{
    static const struct {
        const char *key, *column;
    } all[] = {{"startedPerSecond", "created_us"}, {"changedPerSecond", "updated_us"}};
    double seconds = (double)(look->now_us - last_us) / 1e6;
    struct pawl_json out = pawl__json_object();

    if (last_us == 0 || look->now_us <= last_us)
        return pawl__json_null();
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct pawl_cli_list list;
        uint64_t total = 0;

        pawl__cli_list_all(&list, PAWL_TABLE_INSTANCES, NULL, 0);
        pawl__cli_list_int(&list, all[i].column, PAWL_GT, last_us);
        if (look->status == PAWL_OK)
            look->status =
                pawl__cli_list_count(look->session, &list, look->b.arena, &total, look->err);
        pawl__build(&look->b, &out, all[i].key, pawl__json_double((double)total / seconds));
    }
    return out;
}

/* ---- showing ------------------------------------------------------------------------------- */

static int64_t number(const struct pawl_json *object, const char *key)
{
    int64_t value = 0;

    (void)pawl__json_to_int(pawl__json_get_text(object, key), &value);
    return value;
}

static void put_rate(struct pawl_cli *cli, const struct pawl_json *rates)
{
    double started = 0, changed = 0;

    if (!pawl__json_is(rates, PAWL_JSON_OBJECT))
        return;
    (void)pawl__json_to_double(pawl__json_get_text(rates, "startedPerSecond"), &started);
    (void)pawl__json_to_double(pawl__json_get_text(rates, "changedPerSecond"), &changed);
    pawl__cli_print(&cli->out, "rates       %.1f started, %.1f changed per second\n", started,
                    changed);
}

static int show(struct pawl_cli *cli, const struct pawl_json *seen)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "NODE", .key = "id"},
        {.title = "INCARNATION", .key = "incarnation"},
        {.title = "JOINED", .key = "joinedAt", .is_time = true},
        {.title = "LEASE ENDS", .key = "leaseEndsAt", .is_time = true},
        {.title = "RUNS", .key = "runs"},
        {.title = NULL},
    };
    const struct pawl_json *counts = pawl__json_get_text(seen, "instances");
    const struct pawl_json *todo = pawl__json_get_text(seen, "work");
    struct pawl_str oldest = pawl__json_str(pawl__json_get_text(todo, "oldestDueAt"));
    struct pawl_str now = pawl__json_str(pawl__json_get_text(seen, "now"));

    /* A clock that stands at its beginning has no text. */
    if (now.len >= 19)
        pawl__cli_print(&cli->out, "now         %.10s %.8s UTC\n", now.ptr, now.ptr + 11);
    pawl__cli_print(&cli->out, "instances   ");
    for (size_t i = 0; i < STATUS_COUNT; i++)
        pawl__cli_print(&cli->out, "%s%lld %s", i > 0 ? ", " : "",
                        (long long)number(counts, statuses[i]), statuses[i]);
    pawl__cli_print(&cli->out, "\nwork        %lld due", (long long)number(todo, "due"));
    if (oldest.len >= 19)
        pawl__cli_print(&cli->out, " (the oldest since %.8s)", oldest.ptr + 11);
    pawl__cli_print(&cli->out, ", %lld later, %lld parked, %lld dead letters\n",
                    (long long)number(todo, "later"), (long long)number(todo, "parked"),
                    (long long)number(todo, "deadLetters"));
    put_rate(cli, pawl__json_get_text(seen, "rates"));
    if (pawl__json_len(pawl__json_get_text(seen, "nodes")) > 0)
        return pawl__cli_table(cli, pawl__json_get_text(seen, "nodes"), columns) == PAWL_CLI_EXIT_OK
                   ? PAWL_OK
                   : PAWL_ENOMEM;
    pawl__cli_print(&cli->out, "nodes       none: 'pawl worker' starts one\n");
    return PAWL_OK;
}

/* One line. */
static int show_json(struct pawl_cli *cli, const struct pawl_json *seen)
{
    struct pawl_buf json;
    int status;

    pawl__buf_init(&json, &cli->env->alloc, LOOK_MAX);
    pawl__json_write(&json, seen, PAWL_JSON_ESCAPE_MINIMAL);
    pawl__buf_byte(&json, '\n');
    status = json.status;
    if (status == PAWL_OK)
        pawl__cli_write(&cli->out, pawl__buf_peek(&json));
    pawl__buf_release(&json);
    return status;
}

static int look_once(struct pawl_cli_session *session, void *ctx, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct top *top = ctx;
    struct look look = {.session = session, .b = {.arena = &top->arena}, .err = err};
    struct pawl_json seen = pawl__json_object();

    pawl__arena_reset(&top->arena);
    look.status = pawl__cli_store_now(session, &look.now_us, err);
    if (look.status != PAWL_OK)
        return look.status;
    pawl__cli_put_time(&look.b, &seen, "now", look.now_us);
    pawl__build(&look.b, &seen, "instances", instances(&look));
    pawl__build(&look.b, &seen, "work", work(&look));
    pawl__build(&look.b, &seen, "rates", rates(&look, top->last_us));
    pawl__build(&look.b, &seen, "nodes", nodes(&look));
    if (look.status == PAWL_OK && look.b.status != PAWL_OK)
        look.status = pawl__error_code(err, look.b.status);
    if (look.status != PAWL_OK)
        return look.status;
    if (pawl__cli_flag(&cli->args, "json")) {
        look.status = show_json(cli, &seen);
    } else {
        if (pawl__cli_watch_in_place(cli) && !pawl__cli_flag(&cli->args, "once"))
            pawl__cli_watch_clear(cli);
        else if (top->last_us != 0)
            pawl__cli_print(&cli->out, "\n");
        look.status = show(cli, &seen);
    }
    top->last_us = look.now_us;
    return look.status == PAWL_OK ? PAWL_OK : pawl__error_code(err, look.status);
}

static int run(struct pawl_cli *cli)
{
    struct top top = {.last_us = 0};
    int code;

    pawl__arena_init(&top.arena, &cli->env->alloc, LOOK_MAX);
    code = pawl__cli_watch(cli, pawl__cli_flag(&cli->args, "once"), look_once, &top);
    pawl__arena_release(&top.arena);
    return code;
}

static const struct pawl_cli_option options[] = {
    {.name = "once", .kind = PAWL_CLI_FLAG, .help = "Look once and end"},
    PAWL_CLI_INTERVAL_OPTION,
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print a JSON object per look, each a line"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_top = {
    .name = "top",
    .summary = "Watch a store: instances, work that is due, nodes",
    .help =
        "Until Ctrl-C. 'later' is work with a time that has not come, 'parked' are events that\n"
        "nobody waits for yet. Nodes are those whose lease holds, without this command.\n",
    .options = options,
    .run = run,
};
