/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl lock`: runs a command while it holds a lock. `pawl lock ls`, `show`, `check`:
 * cmd_lock_look.c */
#include "cli/cmd_lock.h"

#include "base/error.h"
#include "base/time/duration.h"
#include "cli/command/output.h"
#include "host/host.h"
#include "operations/locks.h"
#include "os/wrapped.h"

#include <inttypes.h>
#include <stdio.h>

#define CONFLICT_DEFAULT 75 /* EX_TEMPFAIL */
#define LOST 76
#define CANNOT_RUN 126
#define NO_SUCH_COMMAND 127
#define GRACE_DEFAULT "10s"
#define CALL_NS INT64_C(10000000000)

/* ---- running a command ------------------------------------------------------------------- */

struct lock_run {
    struct pawl_cli *cli;
    struct pawl_lock_hold *hold;
    const char *uri;
    const char *name;
    int64_t wait_ns, grace_ns;
};

static int read_time(const char *option, const char *text, int64_t *out, struct pawl_error *err)
{
    int64_t ticks;
    int status = pawl__duration_parse_human(pawl__str(text), &ticks, err);

    if (status == PAWL_OK && (ticks < 0 || ticks > PAWL_FOREVER / 100))
        status = pawl__error_set(err, PAWL_EINVAL, "'%s' is not a duration", text);
    if (status != PAWL_OK) {
        (void)pawl__error_prefix(err, status, "--%s", option);
        return err->code = PAWL_EINVAL; /* of the command line */
    }
    *out = ticks * 100;
    return PAWL_OK;
}

static int read_times(struct lock_run *run, struct pawl_error *err)
{
    const struct pawl_cli_args *args = &run->cli->args;
    const char *wait = pawl__cli_text(args, "wait", NULL);
    int status =
        read_time("grace", pawl__cli_text(args, "grace", GRACE_DEFAULT), &run->grace_ns, err);

    run->wait_ns = PAWL_FOREVER;
    if (status == PAWL_OK && wait)
        status = read_time("wait", wait, &run->wait_ns, err);
    if (pawl__cli_flag(args, "no-wait"))
        run->wait_ns = 0;
    return status;
}

/* A signal while it waits ends it as it ends any program: it has nothing to give back. */
static int acquire(struct lock_run *run, const struct pawl_op *op)
{
    int64_t now_ns = pawl_env_monotonic_ns(run->cli->env);
    struct pawl_op waiting = *op;

    waiting.deadline_ns =
        run->wait_ns < PAWL_FOREVER - now_ns ? now_ns + run->wait_ns : PAWL_FOREVER;
    return pawl__op_lock_acquire(&waiting, run->hold, pawl__str(run->name));
}

static void wake_child(void *ctx)
{
    pawl__wrapped_wake(ctx);
}

/* Until the command has ended; when the lock is lost before, it is ended. */
static int attend(struct lock_run *run, struct pawl_wrapped *child, struct pawl_error *err)
{
    struct pawl_cli *cli = run->cli;
    int64_t deadline_ns = PAWL_FOREVER;
    enum pawl_wrapped_event event;
    bool lost = false;
    int code = 0;
    int status = pawl__lock_hold_on_lost(run->hold, wake_child, child, err);

    while (status == PAWL_OK) {
        status = pawl__wrapped_wait(child, deadline_ns, &event, &code, err);
        if (status != PAWL_OK || event == PAWL_WRAPPED_ENDED)
            break;
        if (event == PAWL_WRAPPED_WOKEN && !lost) {
            lost = true;
            pawl__cli_print(&cli->err, "pawl lock: the lock '");
            pawl__cli_write_safe(&cli->err, pawl__str(run->name));
            pawl__cli_print(&cli->err, "' was lost; stopping the command\n");
            pawl__cli_flush(&cli->err);
            pawl__wrapped_stop(child, false);
            deadline_ns = pawl_env_monotonic_ns(cli->env) + run->grace_ns;
        } else if (event == PAWL_WRAPPED_LATE) {
            pawl__wrapped_stop(child, true);
            deadline_ns = PAWL_FOREVER;
        }
    }
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, NULL);
    return lost ? LOST : code;
}

static int start_child(struct lock_run *run, struct pawl_wrapped **out, struct pawl_error *err)
{
    struct pawl_cli *cli = run->cli;
    const char *extra[4] = {
        pawl__arena_printf(&cli->arena, "PAWL_LOCK=%s", run->uri),
        pawl__arena_printf(&cli->arena, "PAWL_LOCK_NAME=%s", run->name),
        pawl__arena_printf(&cli->arena, "PAWL_FENCE=%" PRIu64, pawl__lock_hold_token(run->hold)),
        NULL,
    };
    size_t count = cli->args.operand_count;
    char **argv = pawl__arena_alloc_array(&cli->arena, count, sizeof *argv);

    if (!argv || !extra[0] || !extra[1] || !extra[2])
        return pawl__error_code(err, pawl__arena_status(&cli->arena));
    for (size_t i = 1; i < count; i++)
        argv[i - 1] = (char *)(uintptr_t)cli->args.operands[i];
    argv[count - 1] = NULL;
    if (pawl__lock_hold_token(run->hold) == 0)
        extra[2] = NULL;
    pawl__cli_flush(&cli->out);
    return pawl__wrapped_start(cli->env, argv, extra, run->grace_ns, out, err);
}

/* With the lock in hand. */
static int run_command(struct lock_run *run, struct pawl_error *err)
{
    struct pawl_wrapped *child = NULL;
    int code, status = start_child(run, &child, err);

    if (status == PAWL_OK) {
        code = attend(run, child, err);
        status = pawl__lock_hold_release(run->hold, err);
        pawl__wrapped_close(child);
        if (status == PAWL_ENOTFOUND && code != LOST) {
            (void)pawl__cli_fail(run->cli, err, NULL);
            code = LOST;
        } else if (status != PAWL_OK && code != LOST) {
            (void)pawl__cli_fail(run->cli, err, "the lock ends with its lease or connection");
        }
        return code;
    }
    (void)pawl__cli_fail(run->cli, err, NULL);
    (void)!pawl__lock_hold_release(run->hold, NULL);
    return status == PAWL_ENOTFOUND ? NO_SUCH_COMMAND : CANNOT_RUN;
}

static int run_locked(struct lock_run *run, const struct pawl_op *op)
{
    int code, status = acquire(run, op);

    if (status == PAWL_OK)
        return run_command(run, op->err);
    code = pawl__cli_fail(run->cli, op->err, NULL);
    if (status == PAWL_ETIMEDOUT || status == PAWL_EBUSY)
        code = (int)pawl__cli_number(&run->cli->args, "conflict-exit-code", CONFLICT_DEFAULT);
    return code;
}

static int body(struct pawl_cli *cli, const struct pawl_op *op)
{
    struct lock_run run = {.cli = cli, .name = cli->args.operands[0]};
    int code, status = read_times(&run, op->err);

    if (status != PAWL_OK)
        return pawl__cli_fail_usage(cli, op->err);
    run.uri = pawl__configuration_text(pawl__host_configuration(op->host), PAWL_SETTING_ID_LOCK);
    status = pawl__op_lock_open(op, pawl__str(""), &run.hold);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, op->err, pawl__cli_configure_hint(status));
    code = run_locked(&run, op);
    pawl__lock_hold_close(run.hold);
    return code;
}

static int run(struct pawl_cli *cli)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    if (cli->args.operand_count < 2) {
        pawl__error_write(&err, PAWL_EINVAL,
                          "the command to run is missing: pawl lock NAME -- "
                          "COMMAND...");
        return pawl__cli_fail_usage(cli, &err);
    }
    return pawl__cli_with_locks(cli, CALL_NS, body);
}

static const struct pawl_cli_option options[] = {
    {.name = "wait",
     .letter = 'w',
     .kind = PAWL_CLI_TEXT,
     .arg = "TIME",
     .help = "Wait at most TIME for the lock: 500ms, 5s, 10m (default: until it is free)"},
    {.name = "no-wait", .letter = 'n', .kind = PAWL_CLI_FLAG, .help = "Do not wait at all"},
    {.name = "conflict-exit-code",
     .letter = 'E',
     .kind = PAWL_CLI_NUMBER,
     .arg = "NUMBER",
     .help = "The exit code when the lock was not acquired in time (default 75)",
     .min = 0,
     .max = 255},
    {.name = "grace",
     .kind = PAWL_CLI_TEXT,
     .arg = "TIME",
     .help = "When the lock is lost: from SIGTERM to SIGKILL (default " GRACE_DEFAULT ")"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

static const struct pawl_cli_command *const commands[] = {
    &pawl__cli_lock_ls,
    &pawl__cli_lock_show,
    &pawl__cli_lock_check,
    NULL,
};

const struct pawl_cli_command pawl__cli_lock = {
    .name = "lock",
    .summary = "Run a command while holding a lock; look at locks",
    .operands = "NAME COMMAND...",
    .passes_on = 1,
    .help =
        "    pawl lock --lock file:/var/lib/pawl/locks --wait 5s nightly -- backup.sh --full\n\n"
        "The command gets PAWL_LOCK_NAME, PAWL_LOCK (the URI) and, if the service has tokens,\n"
        "PAWL_FENCE: a number greater than every earlier holder's, which the resource that is\n"
        "written under the lock can check. The command and its children are a process group: if\n"
        "the lock is lost, or pawl is killed, the group gets SIGTERM and what is left after\n"
        "--grace gets SIGKILL. Processes that leave the group (setsid) are not ended.\n"
        "Signals sent to pawl are passed on to the group.\n\n"
        "Exit codes: the command's own, or 128 plus the number of the signal that ended it;\n"
        "75 the lock was not acquired in time; 76 it was lost; 126 the command cannot be run;\n"
        "127 it does not exist; others as in 'pawl help exit-codes'.\n",
    .options = options,
    .commands = commands,
    .run = run,
};
