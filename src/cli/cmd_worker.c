/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl worker`: a node that does the work of a store until it is told to end. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/output.h"
#include "cli/session/session.h"
#include "host/duty.h"
#include "os/interrupt.h"

/*
 * Bursts end at their next activity and are released. What does not end in time is left: what
 * they wait for then returns that the process stops, and another node continues when the lease
 * expires.
 */
static void wind_up(struct pawl_cli_session *session, struct pawl_duty *duty)
{
    struct pawl_cli *cli = session->cli;
    int64_t most_ns =
        pawl__configuration_number(&session->configuration, PAWL_SETTING_ID_DRAIN_DEADLINE);

    if (pawl__duty_wind_up(duty, pawl_env_monotonic_ns(cli->env) + most_ns) != PAWL_ETIMEDOUT)
        return;
    pawl_log(&cli->log, PAWL_LOG_WARN, "drain deadline is over; what still runs is left",
             pawl_log_int("deadline_ms", most_ns / 1000000));
    pawl_system_env_stop(cli->env);
}

static int serve(struct pawl_cli_session *session, struct pawl_interrupt *interrupt,
                 struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    uint32_t failed = 0;
    int64_t workers = pawl__configuration_number(&session->configuration, PAWL_SETTING_ID_WORKERS);
    struct pawl_pool_counts counts;
    int64_t until_ns = pawl__cli_session_patience(session);
    struct pawl_duty *duty;
    int over, status;

    if (workers == 0) {
        (void)pawl__error_set(err, PAWL_EINVAL,
                              "a worker with workers=0 would do nothing; give auto, or 1 to 256");
        return pawl__cli_fail(cli, err, NULL);
    }
    do {
        status = pawl__duty_open(session->host, workers, &failed, &duty, err);
    } while (pawl__cli_session_tries_again(session, until_ns, &status, err));
    if (status == PAWL_ESTOPPED && pawl__interrupt_pending(interrupt))
        return PAWL_CLI_EXIT_OK;
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, NULL);
    if (failed > 0)
        pawl__cli_print(
            &cli->err, "pawl worker: %u of the definitions could not be loaded; the log says why\n",
            failed);
    pawl_log(&cli->log, PAWL_LOG_INFO, "worker started",
             pawl_log_uint("workers", pawl__duty_workers(duty)));
    pawl__cli_print(&cli->err, "pawl worker: ready; Ctrl-C ends it\n");
    pawl__cli_flush(&cli->err);
    (void)!pawl__interrupt_wait(interrupt, PAWL_FOREVER);
    over = pawl__duty_check(duty, err);
    pawl__duty_counts(duty, &counts);
    wind_up(session, duty);
    pawl__duty_close(duty);
    pawl__cli_print(&cli->err, "pawl worker: ended; %llu pieces of work done\n",
                    (unsigned long long)counts.done);
    return over == PAWL_OK ? PAWL_CLI_EXIT_OK : pawl__cli_fail(cli, err, NULL);
}

static int run(struct pawl_cli *cli)
{
    struct pawl_cli_session session = {.cli = cli};
    struct pawl_interrupt *interrupt;
    struct pawl_error err = PAWL_ERROR_INIT;
    int code, status = pawl__interrupt_open(cli->env, &interrupt, &err);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, &err, NULL);
    session.interrupt = interrupt;
    status = pawl__cli_configure(cli, &session.configuration, &err);
    if (status == PAWL_OK)
        status = pawl__cli_session_start(&session, true, &err);
    if (status == PAWL_ESTOPPED && pawl__interrupt_pending(interrupt)) {
        code = PAWL_CLI_EXIT_OK; /* told to end before it was ready */
    } else if (status != PAWL_OK) {
        code = pawl__cli_fail(cli, &err, pawl__cli_session_hint(status));
    } else {
        code = serve(&session, interrupt, &err);
        pawl__cli_session_close(&session);
    }
    pawl__interrupt_close(interrupt);
    return code;
}

static const struct pawl_cli_option options[] = {
    PAWL_CLI_WORKERS_OPTION,
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_worker = {
    .name = "worker",
    .summary = "Do the work of a store: timers, events, children",
    .help =
        "Runs until Ctrl-C or SIGTERM; then what it runs ends at the next activity, and another\n"
        "worker goes on with it (--set drain.deadline=30s). Any number of workers may share a\n"
        "store, each as a node of its own. One that is started again with the same name (--set\n"
        "node.id=NAME) takes over at once what it had before; a process that still has the name\n"
        "then ends, with an error. Without a name, others take over after the lease.\n",
    .options = options,
    .run = run,
};
