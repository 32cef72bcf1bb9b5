/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl lock`: runs a command while it holds a lock. `pawl lock ls`, `show`, `check`:
 * cmd_lock_look.c */
#include "cli/cmd_lock.h"

#include "base/duration.h"
#include "base/error.h"
#include "cli/output.h"
#include "host/lock_uri.h"
#include "locks/locks.h"
#include "os/wrapped.h"

#include <inttypes.h>
#include <stdio.h>

#define CONFLICT_DEFAULT 75 /* EX_TEMPFAIL */
#define LOST 76
#define CANNOT_RUN 126
#define NO_SUCH_COMMAND 127
#define GRACE_DEFAULT "10s"

/* ---- a service --------------------------------------------------------------------------- */

int pawl__cli_lock_open(struct pawl_cli *cli, const char *uri, struct pawl_cli_lock *out,
                        struct pawl_error *err)
{
    struct pawl_lock_provider_options options = {.log = &cli->log};
    int status = pawl__cli_configure(cli, &out->configuration, err);

    if (status != PAWL_OK)
        return status;
    out->uri = uri ? uri : pawl__configuration_text(&out->configuration, PAWL_SETTING_ID_LOCK);
    options.ttl_ms =
        pawl__configuration_number(&out->configuration, PAWL_SETTING_ID_LOCK_TTL) / 1000000;
    options.is_shared =
        pawl__configuration_number(&out->configuration, PAWL_SETTING_ID_LOCK_SHARED);
    out->options = options;
    if (!out->uri[0])
        status = pawl__error_set(err, PAWL_EINVAL,
                                 "no lock service is named: say --lock URI, such as "
                                 "--lock file:/var/lib/pawl/locks, or set PAWL_LOCK");
    if (status == PAWL_OK)
        status = pawl__lock_open_uri(cli->env, pawl__str(out->uri), &options, &out->provider, err);
    if (status != PAWL_OK)
        pawl__configuration_release(&out->configuration);
    return status;
}

void pawl__cli_lock_close(struct pawl_cli_lock *lock)
{
    if (lock->provider)
        lock->provider->ops->close(lock->provider);
    pawl__configuration_release(&lock->configuration);
}

/* ---- running a command ------------------------------------------------------------------- */

struct lock_run {
    struct pawl_cli *cli;
    struct pawl_cli_lock service;
    struct pawl_locks *locks;
    struct pawl_lock lock;
    const char *name;
    int64_t wait_ns, grace_ns;
};

static int read_time(const char *option, const char *text, int64_t *out, struct pawl_error *err)
{
    int64_t ticks;
    int status = pawl__duration_parse_human(pawl__str(text), &ticks, err);

    if (status == PAWL_OK && (ticks < 0 || ticks > PAWL_FOREVER / 100))
        status = pawl__error_set(err, PAWL_EINVAL, "'%s' is no length of time", text);
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
static int acquire(struct lock_run *run, struct pawl_error *err)
{
    bool tokens = pawl_lock_caps(run->service.provider) & PAWL_LOCK_CAP_TOKEN;
    int64_t now_ns = pawl_env_monotonic_ns(run->cli->env);
    int64_t until_ns = run->wait_ns < PAWL_FOREVER - now_ns ? now_ns + run->wait_ns : PAWL_FOREVER;

    return pawl__locks_acquire(run->locks, pawl__str(run->name), tokens ? PAWL_LOCK_WANT_TOKEN : 0,
                               until_ns, NULL, &run->lock, err);
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
    int status = pawl__lock_on_lost(run->locks, run->lock, wake_child, child, err);

    while (status == PAWL_OK) {
        status = pawl__wrapped_wait(child, deadline_ns, &event, &code, err);
        if (status != PAWL_OK || event == PAWL_WRAPPED_ENDED)
            break;
        if (event == PAWL_WRAPPED_WOKEN && !lost) {
            lost = true;
            pawl__cli_print(&cli->err, "pawl lock: the lock '");
            pawl__cli_write_safe(&cli->err, pawl__str(run->name));
            pawl__cli_print(&cli->err, "' is lost; stopping the command\n");
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
        pawl__arena_printf(&cli->arena, "PAWL_LOCK=%s", run->service.uri),
        pawl__arena_printf(&cli->arena, "PAWL_LOCK_NAME=%s", run->name),
        pawl__arena_printf(&cli->arena, "PAWL_FENCE=%" PRIu64,
                           pawl__lock_token(run->locks, run->lock)),
        NULL,
    };
    size_t count = cli->args.operand_count;
    char **argv = pawl__arena_alloc_array(&cli->arena, count, sizeof *argv);

    if (!argv || !extra[0] || !extra[1] || !extra[2])
        return pawl__error_code(err, pawl__arena_status(&cli->arena));
    for (size_t i = 1; i < count; i++)
        argv[i - 1] = (char *)(uintptr_t)cli->args.operands[i];
    argv[count - 1] = NULL;
    if (pawl__lock_token(run->locks, run->lock) == 0)
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
        status = pawl__locks_release(run->locks, run->lock, err);
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
    (void)!pawl__locks_release(run->locks, run->lock, NULL);
    return status == PAWL_ENOTFOUND ? NO_SUCH_COMMAND : CANNOT_RUN;
}

static int run_locked(struct lock_run *run, struct pawl_error *err)
{
    struct pawl_locks_options options = {.log = &run->cli->log, .borrow = true};
    int code, status;

    options.poll_ms_max =
        pawl__configuration_number(&run->service.configuration, PAWL_SETTING_ID_LOCK_POLL_MAX) /
        1000000;
    status = pawl__locks_new(run->cli->env, run->service.provider, &options, &run->locks, err);
    if (status != PAWL_OK)
        return pawl__cli_fail(run->cli, err, NULL);
    status = acquire(run, err);
    if (status == PAWL_OK) {
        code = run_command(run, err);
    } else {
        code = pawl__cli_fail(run->cli, err, NULL);
        if (status == PAWL_ETIMEDOUT || status == PAWL_EBUSY)
            code = (int)pawl__cli_number(&run->cli->args, "conflict-exit-code", CONFLICT_DEFAULT);
    }
    pawl__locks_free(run->locks);
    return code;
}

static int run(struct pawl_cli *cli)
{
    struct lock_run run = {.cli = cli, .name = cli->args.operands[0]};
    struct pawl_error err = PAWL_ERROR_INIT;
    int code, status = read_times(&run, &err);

    if (status != PAWL_OK)
        return pawl__cli_fail_usage(cli, &err);
    if (cli->args.operand_count < 2) {
        pawl__error_write(&err, PAWL_EINVAL,
                          "the command to run is missing: pawl lock NAME -- "
                          "COMMAND...");
        return pawl__cli_fail_usage(cli, &err);
    }
    status = pawl__cli_lock_open(cli, NULL, &run.service, &err);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, &err, pawl__cli_configure_hint(status));
    code = run_locked(&run, &err);
    pawl__cli_lock_close(&run.service);
    return code;
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
        "The command has PAWL_LOCK_NAME, PAWL_LOCK (the URI) and, where the service gives tokens,\n"
        "PAWL_FENCE: a number greater than every earlier holder's, for whatever is written to\n"
        "under the lock to compare. The command and what it starts are a process group: if the\n"
        "lock is lost, or pawl is killed, all of it gets SIGTERM and what is left after --grace\n"
        "gets SIGKILL. What leaves the group (setsid) is not ended.\n"
        "Signals sent to pawl are passed on to the group.\n\n"
        "Exit codes: the command's own, 128 and the number of the signal that ended it;\n"
        "75 the lock was not acquired in time; 76 it was lost; 126 the command cannot be run;\n"
        "127 there is none; else as 'pawl help exit-codes' says.\n",
    .options = options,
    .commands = commands,
    .run = run,
};
