/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl lock ls`, `show` and `check`: what a lock service holds, and whether it is fit for locks.
 */
#include "cli/cmd_lock.h"

#include "base/error.h"
#include "cli/listing.h"
#include "cli/output.h"
#include "host/lock_uri.h"
#include "locks/check.h"

#define CALL_NS INT64_C(10000000000)

static int64_t soon(struct pawl_cli *cli)
{
    return pawl_env_monotonic_ns(cli->env) + CALL_NS;
}

static int need_inspect(struct pawl_cli_lock *lock, struct pawl_error *err)
{
    if (pawl_lock_caps(lock->provider) & PAWL_LOCK_CAP_INSPECT)
        return PAWL_OK;
    return pawl__error_set(err, PAWL_EUNSUPPORTED,
                           "a lock service of the kind '%s' does not say who holds what",
                           lock->provider->kind);
}

/* Opens, runs, closes; `body` answers the exit code or reports by PAWL codes through `err`. */
static int with_service(struct pawl_cli *cli, const char *uri,
                        int (*body)(struct pawl_cli *cli, struct pawl_cli_lock *lock,
                                    int *exit_code, struct pawl_error *err))
{
    struct pawl_cli_lock lock = {.uri = NULL};
    struct pawl_error err = PAWL_ERROR_INIT;
    int code = PAWL_CLI_EXIT_OK;
    int status = pawl__cli_lock_open(cli, uri, &lock, &err);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, &err, pawl__cli_configure_hint(status));
    status = body(cli, &lock, &code, &err);
    pawl__cli_lock_close(&lock);
    return status == PAWL_OK ? code : pawl__cli_fail(cli, &err, NULL);
}

/* ---- ls, show ---------------------------------------------------------------------------- */

static struct pawl_json describe(struct pawl_builder *b, const struct pawl_lock_holder *holder,
                                 int64_t now_us)
{
    struct pawl_json one = pawl__json_object();
    char span[PAWL_CLI_SPAN_TEXT];

    pawl__cli_put(b, &one, "key", pawl__arena_str(b->arena, pawl__str(holder->key)));
    pawl__build(b, &one, "isHeld", pawl__json_bool(holder->held));
    pawl__cli_put(b, &one, "owner", pawl__arena_str(b->arena, pawl__str(holder->owner)));
    pawl__cli_put_time(b, &one, "since", holder->since_us);
    if (holder->since_us > 0)
        pawl__cli_put(b, &one, "held",
                      pawl__str(pawl__arena_printf(
                          b->arena, "%s", pawl__cli_span_text(now_us - holder->since_us, span))));
    if (holder->remaining_ms >= 0)
        pawl__build_int(b, &one, "remainingMs", holder->remaining_ms);
    if (holder->token)
        pawl__build_int(b, &one, "token", (int64_t)holder->token);
    return one;
}

struct listing {
    struct pawl_builder b;
    struct pawl_json rows;
    int64_t now_us;
    size_t count, limit;
};

static int add_row(void *ctx, const struct pawl_lock_holder *holder)
{
    struct listing *listing = ctx;

    if (listing->count++ < listing->limit)
        pawl__build_append(&listing->b, &listing->rows,
                           describe(&listing->b, holder, listing->now_us));
    return listing->b.status != PAWL_OK;
}

static int body_ls(struct pawl_cli *cli, struct pawl_cli_lock *lock, int *exit_code,
                   struct pawl_error *err)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "KEY", .key = "key"},
        {.title = "OWNER", .key = "owner"},
        {.title = "SINCE", .key = "since", .is_time = true},
        {.title = "HELD", .key = "held"},
        {.title = "LEASE MS", .key = "remainingMs"},
        {.title = "TOKEN", .key = "token"},
        {.title = NULL},
    };
    struct listing listing = {
        .b = {.arena = &cli->arena},
        .rows = pawl__json_array(),
        .now_us = pawl_env_wall_ns(cli->env) / 1000,
        .limit = (size_t)pawl__cli_number(&cli->args, "limit", PAWL_CLI_LIST_DEFAULT),
    };
    int status = need_inspect(lock, err);

    if (status == PAWL_OK) /* one more than is shown says that there are more */
        status = lock->provider->ops->list(lock->provider, listing.limit + 1, add_row, &listing,
                                           soon(cli), err);
    if (status == PAWL_OK && listing.b.status != PAWL_OK)
        status = pawl__error_code(err, listing.b.status);
    if (status == PAWL_OK)
        *exit_code = pawl__cli_list_show(cli, &listing.rows, listing.count, columns);
    return status;
}

static int run_ls(struct pawl_cli *cli)
{
    return with_service(cli, NULL, body_ls);
}

static void print_holder(struct pawl_cli *cli, const struct pawl_json *one)
{
    static const char *const keys[] = {"key", "isHeld", "owner", "since", "remainingMs", "token"};
    struct pawl_buf text;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct pawl_json *value = pawl__json_get_text(one, keys[i]);

        if (!value || pawl__json_is(value, PAWL_JSON_NULL) ||
            (pawl__json_is(value, PAWL_JSON_STRING) && pawl__json_str(value).len == 0))
            continue;
        pawl__cli_print(&cli->out, "%-12s ", keys[i]);
        pawl__buf_init(&text, &cli->env->alloc, 64 << 10);
        if (pawl__json_is(value, PAWL_JSON_STRING))
            pawl__buf_str(&text, pawl__json_str(value));
        else
            pawl__json_write(&text, value, PAWL_JSON_ESCAPE_MINIMAL);
        pawl__cli_write_safe(&cli->out, pawl__buf_peek(&text));
        pawl__cli_print(&cli->out, "\n");
        pawl__buf_release(&text);
    }
}

/* Exit code 0: held; 1: free. */
static int body_show(struct pawl_cli *cli, struct pawl_cli_lock *lock, int *exit_code,
                     struct pawl_error *err)
{
    struct pawl_str name = pawl__str(cli->args.operands[0]);
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_lock_holder *holder = pawl__arena_alloc(&cli->arena, sizeof *holder);
    struct pawl_json one;
    int status = need_inspect(lock, err);

    if (!holder)
        return pawl__error_code(err, pawl__arena_status(&cli->arena));
    if (status == PAWL_OK)
        status = lock->provider->ops->inspect(lock->provider, name, holder, soon(cli), err);
    if (status != PAWL_OK)
        return status;
    one = describe(&b, holder, pawl_env_wall_ns(cli->env) / 1000);
    if (b.status != PAWL_OK)
        return pawl__error_code(err, b.status);
    *exit_code = holder->held ? PAWL_CLI_EXIT_OK : PAWL_CLI_EXIT_FAILED;
    if (pawl__cli_flag(&cli->args, "json")) {
        int code = pawl__cli_print_json(cli, &one, 2);

        if (code != PAWL_CLI_EXIT_OK)
            *exit_code = code;
        return PAWL_OK;
    }
    print_holder(cli, &one);
    return PAWL_OK;
}

static int run_show(struct pawl_cli *cli)
{
    return with_service(cli, NULL, body_show);
}

static const struct pawl_cli_option ls_options[] = {
    PAWL_CLI_LIST_OPTIONS("in no order"),
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_lock_ls = {
    .name = "ls",
    .summary = "List the locks that are held",
    .help = "Keys are what the service knows locks by: 'pawl lock show NAME' shows a name's.\n"
            "A lock named 'ls' is 'pawl lock -- ls COMMAND...'.\n",
    .options = ls_options,
    .run = run_ls,
};

static const struct pawl_cli_option show_options[] = {
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print JSON"},
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_lock_show = {
    .name = "show",
    .summary = "Show who holds a lock",
    .operands = "NAME",
    .help = "Exit code 0: somebody holds it; 1: nobody does.\n",
    .options = show_options,
    .run = run_show,
};

/* ---- check ------------------------------------------------------------------------------- */

struct checking {
    struct pawl_cli *cli;
    struct pawl_cli_lock *lock;
};

static int open_another(void *ctx, struct pawl_lock_provider **out, struct pawl_error *err)
{
    struct checking *checking = ctx;

    return pawl__lock_open_uri(checking->cli->env, pawl__str(checking->lock->uri),
                               &checking->lock->options, out, err);
}

static void print_result(struct pawl_cli *cli, const char *title,
                         const struct pawl_lock_check_result *result)
{
    static const struct {
        const char *word;
        enum pawl_cli_style style;
    } words[] = {
        [PAWL_LOCK_CHECK_OK] = {"ok     ", PAWL_CLI_GREEN},
        [PAWL_LOCK_CHECK_FAILED] = {"FAILED ", PAWL_CLI_RED},
        [PAWL_LOCK_CHECK_SKIPPED] = {"skipped", PAWL_CLI_DIM},
    };
    struct pawl_cli_stream *to = &cli->out;

    pawl__cli_print(to, "%s%s%s %s", pawl__cli_style(to, words[result->outcome].style),
                    words[result->outcome].word, pawl__cli_style(to, PAWL_CLI_PLAIN), title);
    if (result->detail[0]) {
        pawl__cli_print(to, ": ");
        pawl__cli_write_safe(to, pawl__str(result->detail));
    }
    pawl__cli_print(to, "\n");
    pawl__cli_flush(to);
}

static void add_result(struct pawl_builder *b, struct pawl_json *rows, const char *title,
                       const struct pawl_lock_check_result *result)
{
    static const char *const words[] = {"ok", "failed", "skipped"};
    struct pawl_json one = pawl__json_object();

    pawl__build_name(b, &one, "title", title);
    pawl__build_name(b, &one, "outcome", words[result->outcome]);
    pawl__cli_put(b, &one, "detail", pawl__arena_str(b->arena, pawl__str(result->detail)));
    pawl__build_append(b, rows, one);
}

static int body_check(struct pawl_cli *cli, struct pawl_cli_lock *lock, int *exit_code,
                      struct pawl_error *err)
{
    struct checking checking = {cli, lock};
    struct pawl_lock_check check = {.env = cli->env, .open = open_another, .ctx = &checking};
    bool as_json = pawl__cli_flag(&cli->args, "json");
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    size_t counts[3] = {0};

    if (strcmp(lock->provider->kind, "memory") == 0)
        return pawl__error_set(err, PAWL_EINVAL, "locks in memory are no service to check");
    for (size_t i = 0; i < pawl__lock_check_count(); i++) {
        struct pawl_lock_check_result result;

        pawl__lock_check_run(&check, i, &result);
        counts[result.outcome]++;
        if (as_json)
            add_result(&b, &rows, pawl__lock_check_title(i), &result);
        else
            print_result(cli, pawl__lock_check_title(i), &result);
    }
    if (b.status != PAWL_OK)
        return pawl__error_code(err, b.status);
    if (as_json)
        *exit_code = pawl__cli_print_json(cli, &rows, 2);
    pawl__cli_print(&cli->err, "%zu ok, %zu failed, %zu skipped\n", counts[PAWL_LOCK_CHECK_OK],
                    counts[PAWL_LOCK_CHECK_FAILED], counts[PAWL_LOCK_CHECK_SKIPPED]);
    if (counts[PAWL_LOCK_CHECK_FAILED] > 0)
        *exit_code = PAWL_CLI_EXIT_FAILED;
    return PAWL_OK;
}

static int run_check(struct pawl_cli *cli)
{
    return with_service(cli, cli->args.operand_count > 0 ? cli->args.operands[0] : NULL,
                        body_check);
}

const struct pawl_cli_command pawl__cli_lock_check = {
    .name = "check",
    .summary = "Check whether a lock service keeps what is promised of locks",
    .operands = "[URI]",
    .help =
        "Takes and gives back locks whose names begin with 'pawl-check-', by two nodes and many\n"
        "threads, and says what held and how long things took. Leases are waited for when they\n"
        "are short: --set lock.ttl=1s. Exit code 1: something failed.\n",
    .options = show_options,
    .run = run_check,
};
