/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on a store; see session.h. */
#include "cli/session.h"

#include "base/datetime.h"
#include "base/error.h"
#include "cli/output.h"
#include "host/features.h"
#include "os/interrupt.h"

static int write_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct pawl_cli_session *session = ctx;
    struct pawl_cli_stream *stream = session->as_json ? &session->cli->err : &session->cli->out;

    (void)instance_id;
    if (pawl__cli_write_line(stream, text))
        return PAWL_OK;
    /* A worker that cannot write ends: the line stays for one that can. */
    if (session->interrupt)
        pawl__interrupt_raise(session->interrupt);
    return PAWL_EIO;
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

int pawl__cli_session_start(struct pawl_cli_session *out, bool named, struct pawl_error *err)
{
    struct pawl_cli *cli = out->cli;
    int status = pawl__host_new(cli->env, &out->configuration, &out->host, err);

    if (status == PAWL_OK) {
        pawl__host_set_surroundings(out->host,
                                    &(struct pawl_surroundings){.log = &cli->log,
                                                                .line = write_line,
                                                                .ended = note_end,
                                                                .ctx = out,
                                                                .transient = !named,
                                                                .looks_only = out->looks_only});
        status = pawl__host_compose(out->host, err);
    }
    if (status == PAWL_OK)
        status = pawl__host_start(out->host, err);
    if (status != PAWL_OK) {
        pawl__cli_session_close(out);
        return status;
    }
    out->store = pawl__host_get(out->host, PAWL_SLOT_STORE);
    out->runtime = pawl__host_node(out->host);
    out->definitions = pawl__runtime_definitions(out->runtime);
    return PAWL_OK;
}

void pawl__cli_session_close(struct pawl_cli_session *session)
{
    pawl__host_free(session->host);
    pawl__configuration_release(&session->configuration);
}

int64_t pawl__cli_session_deadline(const struct pawl_cli_session *session)
{
    return pawl_env_monotonic_ns(session->cli->env) + PAWL_CLI_WAIT_NS;
}

int pawl__cli_session_drain(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_worked worked;

    return pawl__runtime_drain(session->runtime, &worked, pawl__cli_session_deadline(session), err);
}

const char *pawl__cli_session_hint(int code)
{
    switch (code) {
    case PAWL_EPERM:
    case PAWL_EUNAVAILABLE:
        return "'pawl config' shows which store is used, and why";
    case PAWL_ETIMEDOUT:
        return "another node may be running it: 'pawl store info' shows the nodes";
    case PAWL_ECORRUPT:
        return "'pawl cancel' ends an instance without its state; 'pawl store check' finds what "
               "else is damaged";
    default:
        return NULL;
    }
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
    struct pawl_civil civil;

    if (us == 0 || us == PAWL_TIME_NEVER)
        return "-";
    pawl__datetime_civil(pawl__datetime_from_unix_ns(us * 1000), &civil);
    (void)snprintf(out, PAWL_CLI_TIME_TEXT, "%04d-%02d-%02d %02d:%02d:%02d", (int)civil.year,
                   civil.month, civil.day, civil.hour, civil.minute, civil.second);
    return out;
}
