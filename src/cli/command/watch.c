/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a store again and again; see watch.h. */
#include "cli/command/watch.h"

#include "base/error.h"
#include "base/time/duration.h"
#include "cli/command/output.h"
#include "os/interrupt.h"
#include "os/process.h"

#define INTERVAL_DEFAULT "2s"
/* A store has better to do than to be asked more often than this. */
#define INTERVAL_NS_MIN INT64_C(50000000)
#define INTERVAL_NS_MAX INT64_C(86400000000000)

bool pawl__cli_watch_in_place(const struct pawl_cli *cli)
{
    return pawl__fd_is_terminal(fileno(cli->out.file));
}

void pawl__cli_watch_clear(struct pawl_cli *cli)
{
    pawl__cli_print(&cli->out, "\033[H\033[J");
}

static int read_interval(struct pawl_cli *cli, int64_t *ns, struct pawl_error *err)
{
    const char *text = pawl__cli_text(&cli->args, "interval", INTERVAL_DEFAULT);
    int64_t ticks;
    int status = pawl__duration_parse_human(pawl__str(text), &ticks, err);

    if (status != PAWL_OK)
        return pawl__error_prefix(err, status, "--interval");
    if (ticks < INTERVAL_NS_MIN / 100 || ticks > INTERVAL_NS_MAX / 100)
        return pawl__error_set(err, PAWL_EINVAL, "--interval is from 50ms to 1d, not %s", text);
    *ns = ticks * 100;
    return PAWL_OK;
}

struct watching {
    struct pawl_cli_session session;
    struct pawl_interrupt *interrupt;
    int64_t interval_ns;
    bool once;
};

static int loop(struct watching *watching,
                int (*look)(struct pawl_cli_session *session, void *ctx, struct pawl_error *err),
                void *ctx, struct pawl_error *err)
{
    struct pawl_cli *cli = watching->session.cli;
    int status;

    do {
        status = look(&watching->session, ctx, err);
        if (status != PAWL_OK && !watching->once &&
            pawl_error_class(status) == PAWL_CLASS_TRANSIENT && status != PAWL_ENOMEM) {
            pawl__cli_print(&cli->err, "%s; trying again\n", err->msg);
            status = PAWL_OK;
        }
        pawl__cli_flush(&cli->out);
        if (cli->out.error != 0) /* the reader is gone */
            return PAWL_OK;
        if (status == PAWL_OK && !watching->once)
            status = pawl__interrupt_wait(watching->interrupt,
                                          pawl_env_monotonic_ns(cli->env) + watching->interval_ns);
    } while (status == PAWL_OK && !watching->once && !pawl__interrupt_pending(watching->interrupt));
    return status;
}

int pawl__cli_watch(struct pawl_cli *cli, bool once,
                    int (*look)(struct pawl_cli_session *session, void *ctx,
                                struct pawl_error *err),
                    void *ctx)
{
    struct watching watching = {.once = once};
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = read_interval(cli, &watching.interval_ns, &err);

    /* Before the session's threads start. */
    if (status == PAWL_OK && !once)
        status = pawl__interrupt_open(cli->env, &watching.interrupt, &err);
    if (status == PAWL_OK) {
        status = pawl__cli_session_look(cli, &watching.session, &err);
        if (status == PAWL_OK) {
            status = loop(&watching, look, ctx, &err);
            pawl__cli_session_close(&watching.session);
        }
        pawl__interrupt_close(watching.interrupt);
    }
    return status == PAWL_OK ? PAWL_CLI_EXIT_OK
                             : pawl__cli_fail(cli, &err, pawl__cli_session_hint(status));
}
