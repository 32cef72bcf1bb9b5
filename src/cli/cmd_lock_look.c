/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl lock ls`, `show` and `check`: what a lock service holds, and whether it is fit for locks.
 */
#include "cli/cmd_lock.h"

#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "host/host.h"
#include "operations/locks.h"
#include "views/locks.h"

#define CALL_NS INT64_C(10000000000)

int pawl__cli_with_locks(struct pawl_cli *cli, int64_t span_ns,
                         int (*body)(struct pawl_cli *cli, const struct pawl_op *op))
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_op op = {.arena = &cli->arena,
                         .deadline_ns = pawl_env_monotonic_ns(cli->env) + span_ns,
                         .err = &err,
                         .log = &cli->log,
                         .actor = pawl__str("cli")};
    struct pawl_configuration configuration;
    int code, status = pawl__cli_configure(cli, &configuration, &err);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, &err, pawl__cli_configure_hint(status));
    status = pawl__host_new(cli->env, &configuration, &op.host, &err);
    code = status == PAWL_OK ? body(cli, &op) : pawl__cli_fail(cli, &err, NULL);
    pawl__host_free(op.host);
    pawl__configuration_release(&configuration);
    return code;
}

static int fail(struct pawl_cli *cli, const struct pawl_op *op, int status)
{
    return pawl__cli_fail(cli, op->err, pawl__cli_configure_hint(status));
}

/* ---- ls, show ---------------------------------------------------------------------------- */

static struct pawl_json make_row(struct pawl_builder *b, const struct pawl_lock_holder *holder,
                                 int64_t now_us, bool as_json)
{
    struct pawl_json row = pawl__view_lock(b, holder);
    char span[PAWL_CLI_SPAN_TEXT];

    if (holder->since_us > 0 && !as_json)
        pawl__view_text(b, &row, "held",
                        pawl__str(pawl__arena_printf(
                            b->arena, "%s", pawl__cli_span_text(now_us - holder->since_us, span))));
    return row;
}

static int ls_body(struct pawl_cli *cli, const struct pawl_op *op)
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
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    struct pawl_lock_list locks;
    int status = pawl__op_locks_list(
        op, pawl__str(""), (uint32_t)pawl__cli_number(&cli->args, "limit", PAWL_CLI_LIST_DEFAULT),
        &locks);

    for (size_t i = 0; status == PAWL_OK && i < locks.count; i++)
        pawl__build_append(
            &b, &rows,
            make_row(&b, &locks.holders[i], locks.now_us, pawl__cli_flag(&cli->args, "json")));
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(op->err, b.status);
    if (status != PAWL_OK)
        return fail(cli, op, status);
    return pawl__cli_list_show(cli, &rows, locks.count + locks.has_more, columns);
}

static int run_ls(struct pawl_cli *cli)
{
    return pawl__cli_with_locks(cli, CALL_NS, ls_body);
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
static int show_body(struct pawl_cli *cli, const struct pawl_op *op)
{
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_lock_holder holder;
    struct pawl_json one;
    int64_t now_us;
    int code = PAWL_CLI_EXIT_OK,
        status = pawl__op_lock_show(op, pawl__str(""), pawl__str(cli->args.operands[0]), &holder,
                                    &now_us);

    if (status == PAWL_OK) {
        one = make_row(&b, &holder, now_us, true);
        status = b.status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, b.status);
    }
    if (status != PAWL_OK)
        return fail(cli, op, status);
    if (pawl__cli_flag(&cli->args, "json"))
        code = pawl__cli_print_json(cli, &one, 2);
    else
        print_holder(cli, &one);
    return code != PAWL_CLI_EXIT_OK || holder.held ? code : PAWL_CLI_EXIT_FAILED;
}

static int run_show(struct pawl_cli *cli)
{
    return pawl__cli_with_locks(cli, CALL_NS, show_body);
}

static const struct pawl_cli_option ls_options[] = {
    PAWL_CLI_LIST_OPTIONS("in no order"),
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_lock_ls = {
    .name = "ls",
    .summary = "List the locks that are held",
    .help = "Keys are the service's names of locks: 'pawl lock show NAME' shows that of a name.\n"
            "To use a lock named 'ls': 'pawl lock -- ls COMMAND...'.\n",
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
    .help = "Exit code 0: it is held; 1: it is not.\n",
    .options = show_options,
    .run = run_show,
};

/* ---- check ------------------------------------------------------------------------------- */

struct checking {
    struct pawl_cli *cli;
    struct pawl_builder b;
    struct pawl_json rows;
    bool as_json;
};

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

static void tell_result(void *ctx, const char *title, const struct pawl_lock_check_result *result)
{
    struct checking *checking = ctx;

    if (checking->as_json)
        pawl__build_append(&checking->b, &checking->rows,
                           pawl__view_lock_check(&checking->b, title, result));
    else
        print_result(checking->cli, title, result);
}

static int check_body(struct pawl_cli *cli, const struct pawl_op *op)
{
    struct checking checking = {.cli = cli,
                                .b = {.arena = &cli->arena},
                                .rows = pawl__json_array(),
                                .as_json = pawl__cli_flag(&cli->args, "json")};
    struct pawl_str uri = pawl__str(cli->args.operand_count > 0 ? cli->args.operands[0] : "");
    struct pawl_lock_checked checked;
    int code = PAWL_CLI_EXIT_OK,
        status = pawl__op_locks_check(op, uri, tell_result, &checking, &checked);

    if (status == PAWL_OK && checking.b.status != PAWL_OK)
        status = pawl__error_code(op->err, checking.b.status);
    if (status != PAWL_OK)
        return fail(cli, op, status);
    if (checking.as_json)
        code = pawl__cli_print_json(cli, &checking.rows, 2);
    pawl__cli_print(&cli->err, "%zu ok, %zu failed, %zu skipped\n",
                    checked.counts[PAWL_LOCK_CHECK_OK], checked.counts[PAWL_LOCK_CHECK_FAILED],
                    checked.counts[PAWL_LOCK_CHECK_SKIPPED]);
    return checked.counts[PAWL_LOCK_CHECK_FAILED] > 0 ? PAWL_CLI_EXIT_FAILED : code;
}

static int run_check(struct pawl_cli *cli)
{
    return pawl__cli_with_locks(cli, CALL_NS, check_body);
}

const struct pawl_cli_command pawl__cli_lock_check = {
    .name = "check",
    .summary = "Check that a lock service gives the guarantees of locks",
    .operands = "[URI]",
    .help =
        "Acquires and releases locks whose names begin with 'pawl-check-', by two nodes and many\n"
        "threads, and reports the results and times. It waits for leases to expire if they are\n"
        "short: --set lock.ttl=1s. Exit code 1: something failed.\n",
    .options = show_options,
    .run = run_check,
};
