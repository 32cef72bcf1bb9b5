/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on a store; see session.h. */
#include "cli/session/session.h"

#include "base/error.h"
#include "base/trace_context.h"
#include "cli/command/output.h"
#include "host/features.h"
#include "operations/instances.h"
#include "os/interrupt.h"
#include "os/process.h"
#include "views/words.h"

/* How long a command goes on with the work of others, some rows at a time. */
#define BRIEF_NS INT64_C(1000000000)
#define BRIEF_ROWS 4u
/* Of a change of very many things: an hour. */
#define BULK_MS 3600000
/* How long a node that stays tries to reach its store when it starts, and how often. */
#define START_NS INT64_C(30000000000)
#define START_AGAIN_NS INT64_C(500000000)

static int write_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct pawl_cli_session *session = ctx;
    struct pawl_cli_stream *stream = session->as_json ? &session->cli->err : &session->cli->out;

    int status = pawl__cli_write_kept(session->cli, stream, session->lines, text);

    (void)instance_id;
    /* A worker that cannot write ends: the line stays for one that can. */
    if (status != PAWL_OK && session->interrupt)
        pawl__interrupt_raise(session->interrupt);
    return status;
}

static void note_end(void *ctx)
{
    struct pawl_cli_session *session = ctx;

    if (session->interrupt)
        pawl__interrupt_raise(session->interrupt);
}

int pawl__cli_session_open(struct pawl_cli *cli, bool named, struct pawl_cli_session *out,
                           struct pawl_error *err)
{
    int status;

    *out = (struct pawl_cli_session){.cli = cli};
    status = pawl__cli_configure(cli, &out->configuration, err);
    return status == PAWL_OK ? pawl__cli_session_start(out, named, err) : status;
}

int pawl__cli_session_look(struct pawl_cli *cli, struct pawl_cli_session *out,
                           struct pawl_error *err)
{
    int status;

    *out = (struct pawl_cli_session){.cli = cli, .looks_only = true};
    status = pawl__cli_configure(cli, &out->configuration, err);
    return status == PAWL_OK ? pawl__cli_session_start(out, false, err) : status;
}

static int start_host(struct pawl_cli_session *session, bool named, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    int status = pawl__host_new(cli->env, &session->configuration, &session->host, err);

    if (status != PAWL_OK)
        return status;
    pawl__host_set_surroundings(session->host,
                                &(struct pawl_surroundings){.log = &cli->log,
                                                            .line = write_line,
                                                            .ended = note_end,
                                                            .ctx = session,
                                                            .transient = !named,
                                                            .works_itself = true,
                                                            .looks_only = session->looks_only,
                                                            .measures = session->measures,
                                                            .traces = !session->looks_only});
    status = pawl__host_compose(session->host, err);
    if (status == PAWL_OK)
        status = pawl__host_start(session->host, err);
    if (status != PAWL_OK) {
        pawl__host_free(session->host);
        session->host = NULL;
    }
    return status;
}

int64_t pawl__cli_session_patience(const struct pawl_cli_session *session)
{
    return pawl_env_monotonic_ns(session->cli->env) + START_NS;
}

bool pawl__cli_session_tries_again(struct pawl_cli_session *session, int64_t until_ns, int *status,
                                   struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    enum pawl_error_class class = pawl_error_class(*status);
    int64_t again_ns = pawl_env_monotonic_ns(cli->env) + START_AGAIN_NS;

    if (*status == PAWL_OK || !session->interrupt || again_ns >= until_ns ||
        (class != PAWL_CLASS_TRANSIENT && class != PAWL_CLASS_UNKNOWN))
        return false;
    if (!session->is_waiting) {
        pawl__cli_print(&cli->err, "pawl %s: %s; trying again for %d s\n",
                        pawl__cli_named(&cli->args)->name, err->msg, (int)(START_NS / 1000000000));
        pawl__cli_flush(&cli->err);
    }
    session->is_waiting = true;
    (void)!pawl__interrupt_wait(session->interrupt, again_ns);
    (void)pawl__interrupt_take_hangup(session->interrupt); /* nothing to read anew yet */
    if (pawl__interrupt_pending(session->interrupt)) {
        *status = pawl__error_set(err, PAWL_ESTOPPED, "stopped before the store was available");
        return false;
    }
    *err = (struct pawl_error)PAWL_ERROR_INIT;
    return true;
}

int pawl__cli_session_start(struct pawl_cli_session *out, bool named, struct pawl_error *err)
{
    struct pawl_cli *cli = out->cli;
    char user[PAWL_CLI_ACTOR_SIZE - sizeof "cli:"];
    int64_t until_ns = pawl__cli_session_patience(out);
    int status = pawl_mutex_new(cli->env, "lines", &out->lines);

    pawl__process_user_name(user, sizeof user);
    (void)snprintf(out->actor, sizeof out->actor, "cli:%s", user);
    if (status != PAWL_OK) {
        (void)pawl__error_code(err, status);
    } else {
        do {
            status = start_host(out, named, err);
        } while (pawl__cli_session_tries_again(out, until_ns, &status, err));
    }
    if (status != PAWL_OK)
        pawl__cli_session_close(out);
    return status;
}

void pawl__cli_session_close(struct pawl_cli_session *session)
{
    pawl__host_free(session->host);
    pawl_mutex_free(session->cli->env, session->lines);
    pawl__configuration_release(&session->configuration);
}

int64_t pawl__cli_session_deadline(const struct pawl_cli_session *session)
{
    return pawl_env_monotonic_ns(session->cli->env) + PAWL_CLI_WAIT_NS;
}

/* The trace that a script is in: programs pass it on in this variable. */
static struct pawl_str traceparent(void)
{
    struct pawl_str given = pawl__str(pawl__process_variable("TRACEPARENT"));
    struct pawl_trace_context context;

    return pawl__traceparent_read(given, &context) ? given : pawl__str("");
}

struct pawl_op pawl__cli_session_op(const struct pawl_cli_session *session, struct pawl_error *err)
{
    return (struct pawl_op){.host = session->host,
                            .arena = &session->cli->arena,
                            .deadline_ns = pawl__cli_session_deadline(session),
                            .err = err,
                            .log = &session->cli->log,
                            .actor = pawl__str(session->actor),
                            .door = pawl__str("cli"),
                            .traceparent = traceparent(),
                            .request_id = pawl__str("")};
}

struct pawl_op pawl__cli_session_bulk_op(const struct pawl_cli_session *session,
                                         struct pawl_error *err)
{
    struct pawl_op op = pawl__cli_session_op(session, err);

    return pawl__op_within(&op, BULK_MS);
}

int pawl__cli_session_stored(struct pawl_cli_session *session, int status, const char *undone,
                             struct pawl_error *err)
{
    if (status == PAWL_OK)
        return PAWL_OK;
    if (pawl_error_class(status) == PAWL_CLASS_FATAL) {
        pawl__cli_print(&session->cli->err, "note: the change itself is stored\n");
        return status;
    }
    pawl__cli_print(&session->cli->err, "note: it is stored; %s: %s\n", undone, err->msg);
    *err = (struct pawl_error)PAWL_ERROR_INIT;
    return PAWL_OK;
}

static int note_undone(struct pawl_cli_session *session, int status, struct pawl_error *err)
{
    return pawl__cli_session_stored(session, status, "not all due work was done", err);
}

int pawl__cli_session_drain(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_worked worked = {.is_paused = false};
    int status = pawl__op_drain(&op, &worked);

    if (!worked.is_paused)
        return note_undone(session, status, err);
    /* It is done when the pause ends. */
    pawl__cli_print(&session->cli->err, "note: %s\n", err->msg);
    *err = (struct pawl_error)PAWL_ERROR_INIT;
    return PAWL_OK;
}

int pawl__cli_session_drain_briefly(struct pawl_cli_session *session, struct pawl_error *err)
{
    int64_t deadline_ns = pawl_env_monotonic_ns(session->cli->env) + BRIEF_NS;
    struct pawl_worked worked = {0};
    int status;

    do {
        struct pawl_op op = pawl__cli_session_op(session, err);

        status = pawl__op_work(&op, BRIEF_ROWS, &worked);
    } while (status == PAWL_OK && worked.done > 0 &&
             pawl_env_monotonic_ns(session->cli->env) < deadline_ns);
    return note_undone(session, status, err);
}

const char *pawl__cli_session_hint(int code)
{
    switch (code) {
    case PAWL_EPERM:
        return "'pawl config' shows which store is used, and why";
    case PAWL_EUNAVAILABLE:
        return "'pawl nodes' shows pauses, 'pawl config' which store is used, and why";
    case PAWL_ETIMEDOUT:
        return "another node may be running it: 'pawl store info' shows the nodes";
    case PAWL_ECORRUPT:
        return "'pawl cancel' ends an instance without its state; 'pawl store check' finds what "
               "else is damaged";
    default:
        return NULL;
    }
}

int pawl__cli_session_failed(struct pawl_cli_session *session, struct pawl_error *err,
                             const char *not_found_hint)
{
    return pawl__cli_fail(session->cli, err,
                          err->code == PAWL_ENOTFOUND ? not_found_hint
                                                      : pawl__cli_session_hint(err->code));
}

static int run_body(struct pawl_cli *cli, bool looks_only,
                    int (*body)(struct pawl_cli_session *session, struct pawl_error *err))
{
    struct pawl_cli_session session;
    struct pawl_error err = PAWL_ERROR_INIT;
    int code, status = looks_only ? pawl__cli_session_look(cli, &session, &err)
                                  : pawl__cli_session_open(cli, false, &session, &err);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, &err, pawl__cli_session_hint(status));
    code = body(&session, &err);
    /* Whatever the code: what such a command says on standard output has happened. */
    if (!looks_only &&
        !(pawl__cli_knows(&cli->args, "dry-run") && pawl__cli_flag(&cli->args, "dry-run")))
        cli->changed = true;
    pawl__cli_session_close(&session);
    return code;
}

int pawl__cli_in_session(struct pawl_cli *cli,
                         int (*body)(struct pawl_cli_session *session, struct pawl_error *err))
{
    return run_body(cli, false, body);
}

int pawl__cli_in_look(struct pawl_cli *cli,
                      int (*body)(struct pawl_cli_session *session, struct pawl_error *err))
{
    return run_body(cli, true, body);
}

const char *pawl__cli_time_text(int64_t us, char out[PAWL_CLI_TIME_TEXT])
{
    return pawl__words_time(us, out);
}
