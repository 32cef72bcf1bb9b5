/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl worker`: a node that does the work of a store until it is told to end. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/output.h"
#include "cli/session.h"
#include "os/interrupt.h"
#include "runtime/pool.h"

static int serve(struct pawl_cli_session *session, struct pawl_interrupt *interrupt,
                 struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_pool_options options = {.workers = (uint32_t)pawl__configuration_number(
                                            &session->configuration, PAWL_SETTING_ID_WORKERS)};
    struct pawl_pool_counts counts;
    struct pawl_pool *pool;
    int status = pawl__pool_open(cli->env, session->runtime, &options, &pool, err);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, NULL);
    pawl_log(&cli->log, PAWL_LOG_INFO, "worker started", pawl_log_uint("workers", options.workers));
    pawl__cli_print(&cli->err, "pawl worker: ready; Ctrl-C ends it\n");
    pawl__cli_flush(&cli->err);
    (void)!pawl__interrupt_wait(interrupt, PAWL_FOREVER);
    pawl__pool_counts(pool, &counts);
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
    .help = "Runs until Ctrl-C or SIGTERM, then finishes what it has begun. Any number of workers\n"
            "may share a store; each is a node with a name of its own (--set node.id=NAME).\n",
    .options = options,
    .run = run,
};
