/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl worker`: a node that does the work of a store until it is told to end. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/output.h"
#include "cli/retention.h"
#include "cli/session.h"
#include "os/interrupt.h"
#include "runtime/pool.h"
#include "runtime/refresher.h"

/* Between two looks at what is old enough to go. */
#define RETENTION_NS INT64_C(60000000000)

/* What is in the folder of definitions, before anything runs. */
static int load_definitions(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_reloader *reloader = pawl__host_get(session->host, PAWL_SLOT_RELOADER);
    struct pawl_reloaded told;
    int status = pawl__reloader_reload(reloader, &told, pawl__cli_session_deadline(session), err);

    if (status == PAWL_OK && told.failed > 0)
        pawl__cli_print(
            &session->cli->err,
            "pawl worker: %u of the definitions could not be loaded; the log says why\n",
            told.failed);
    return status;
}

/* Until it is told to end, or the environment stops. */
static void tend(struct pawl_cli_session *session, struct pawl_interrupt *interrupt)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_retention_policy policy = pawl__cli_retention_policy(session);
    int64_t next_ns;
    int status;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_retained gone = {0};

    do {
        if (pawl__runtime_retain(session->runtime, &policy, &gone,
                                 pawl__cli_session_deadline(session), &err) != PAWL_OK)
            pawl_log(&cli->log, PAWL_LOG_WARN, "retention failed", pawl_log_error("error", &err));
        next_ns = pawl_env_monotonic_ns(cli->env) + (gone.more ? 0 : RETENTION_NS);
        status = pawl__interrupt_wait(interrupt, next_ns);
    } while (status == PAWL_OK && !pawl__interrupt_pending(interrupt));
}

/*
 * Bursts end at their next activity and are released. What does not end in time is left: whatever
 * it waits for answers that the process stops, and another node goes on when the lease is over.
 */
static void wind_up(struct pawl_cli_session *session, struct pawl_pool *pool)
{
    struct pawl_cli *cli = session->cli;
    int64_t most_ns =
        pawl__configuration_number(&session->configuration, PAWL_SETTING_ID_DRAIN_DEADLINE);

    pawl__runtime_stop(session->runtime);
    pawl__pool_stop(pool);
    if (pawl__pool_wait(pool, pawl_env_monotonic_ns(cli->env) + most_ns) == PAWL_ETIMEDOUT) {
        pawl_log(&cli->log, PAWL_LOG_WARN, "drain deadline is over; what still runs is left",
                 pawl_log_int("deadline_ms", most_ns / 1000000));
        pawl_system_env_stop(cli->env);
    }
}

static int serve(struct pawl_cli_session *session, struct pawl_interrupt *interrupt,
                 struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_pool_options options = {
        .workers =
            (uint32_t)pawl__configuration_number(&session->configuration, PAWL_SETTING_ID_WORKERS),
        .queue = pawl__host_get(session->host, PAWL_SLOT_QUEUE_WORKER),
    };
    struct pawl_pool_counts counts;
    struct pawl_pool *pool;
    int status = load_definitions(session, err);

    if (status == PAWL_OK)
        status = pawl__pool_open(cli->env, session->runtime, &options, &pool, err);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, NULL);
    pawl_log(&cli->log, PAWL_LOG_INFO, "worker started", pawl_log_uint("workers", options.workers));
    pawl__cli_print(&cli->err, "pawl worker: ready; Ctrl-C ends it\n");
    pawl__cli_flush(&cli->err);
    tend(session, interrupt);
    pawl__pool_counts(pool, &counts);
    wind_up(session, pool);
    pawl__pool_close(pool);
    pawl__cli_print(&cli->err, "pawl worker: ended; %llu pieces of work done\n",
                    (unsigned long long)counts.done);
    return PAWL_CLI_EXIT_OK;
}

static int run(struct pawl_cli *cli)
{
    struct pawl_cli_session session;
    struct pawl_interrupt *interrupt;
    struct pawl_error err = PAWL_ERROR_INIT;
    int code, status = pawl__interrupt_open(cli->env, &interrupt, &err);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, &err, NULL);
    status = pawl__cli_session_open(cli, true, &session, &err);
    if (status != PAWL_OK) {
        code = pawl__cli_fail(cli, &err, pawl__cli_session_hint(status));
    } else {
        code = serve(&session, interrupt, &err);
        pawl__cli_session_close(&session);
    }
    pawl__interrupt_close(interrupt);
    return code;
}

static const struct pawl_cli_option options[] = {
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_worker = {
    .name = "worker",
    .summary = "Do the work of a store: timers, events, children",
    .help =
        "Runs until Ctrl-C or SIGTERM; then what it runs ends at the next activity, and another\n"
        "worker goes on with it (--set drain.deadline=30s). Any number of workers\n"
        "may share a store; each is a node with a name of its own (--set node.id=NAME).\n",
    .options = options,
    .run = run,
};
