/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl send EVENT`: sends an event to the workflows of a store. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "cli/command/values.h"
#include "operations/instances.h"
#include "views/stimuli.h"

/* What is said of an event. */
struct sent {
    struct pawl_send_result did;
    struct pawl_instance_row row; /* of the instance it is for, as it stands now; id "": not read */
    /* The instance could not be run: it has the event and was not resumed. A step of it would have
     * cleared that. */
    bool is_put_off;
};

/* The event is stored: what cannot be read about its instance is not said. */
static int look_at_instance(struct pawl_cli_session *session, struct pawl_str id, struct sent *sent,
                            struct pawl_error *err)
{
    struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_instance_shown shown;
    int status = pawl__op_instance_show(&op, id, false, &shown);

    /* One that is not there may come: it is imported, or started with this id. */
    if (status == PAWL_ENOTFOUND) {
        *err = (struct pawl_error)PAWL_ERROR_INIT;
        return PAWL_OK;
    }
    if (status == PAWL_OK) {
        sent->row = shown.row;
        sent->is_put_off = sent->did.resumed > 0 && shown.row.retry_us != 0;
    }
    return pawl__cli_session_stored(
        session, status, "how the instance stands could not be read; 'pawl show' tells", err);
}

static int send(struct pawl_cli_session *session, struct sent *sent, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_cli_args *args = &cli->args;
    struct pawl_op op = pawl__cli_session_op(session, err);
    const char *text = pawl__cli_text(args, "payload", NULL);
    struct pawl_json payload = pawl__json_null();
    const struct pawl_send_request request = {
        .name = pawl__str(args->operands[0]),
        .payload = text ? &payload : NULL,
        .correlation_id = pawl__str(pawl__cli_text(args, "correlation-id", "")),
        .instance_id = pawl__str(pawl__cli_text(args, "instance", "")),
        .idempotency_key = pawl__str(pawl__cli_text(args, "key", "")),
        .detached = pawl__cli_flag(args, "detach"),
    };
    int status = text ? pawl__cli_payload(cli, text, &payload, err) : PAWL_OK;

    if (status != PAWL_OK)
        return status;
    status = pawl__op_event_send(&op, &request, &sent->did);
    if (status == PAWL_OK && !request.detached)
        status = pawl__cli_session_drain(session, err);
    if (status != PAWL_OK || request.instance_id.len == 0 ||
        (sent->did.resumed == 0 && !sent->did.parked))
        return status;
    return look_at_instance(session, request.instance_id, sent, err);
}

/* One that has faulted can be retried, and may wait for the event then; others never do. */
static bool never_takes(const struct pawl_instance_row *row)
{
    return pawl__str_is(row->status, "Finished") && !pawl__str_is(row->sub_status, "Faulted");
}

static void say_parked(struct pawl_cli_session *session, const struct pawl_instance_row *row)
{
    const char *ttl =
        pawl__configuration_text(&session->configuration, PAWL_SETTING_ID_STIMULUS_TTL);
    struct pawl_cli *cli = session->cli;

    if (!pawl__str_is(row->status, "Finished"))
        pawl__cli_print(&cli->out, "nothing waits for it yet: it is kept for %s\n", ttl);
    else if (never_takes(row))
        pawl__cli_print(&cli->out,
                        "%.*s has ended and never takes it: it becomes a dead letter after %s\n",
                        PAWL_STR_ARG(row->id), ttl);
    else
        pawl__cli_print(&cli->out,
                        "%.*s has faulted and takes it only if it is retried within %s; then it "
                        "becomes a dead letter\n",
                        PAWL_STR_ARG(row->id), ttl);
}

static void say_sent(struct pawl_cli_session *session, const struct sent *sent)
{
    if (sent->did.parked)
        say_parked(session, &sent->row);
    else
        pawl__cli_print(&session->cli->out, "started %u, resumed %u\n", sent->did.started,
                        sent->did.resumed);
}

/* The event is kept, and nobody has resumed anything with it. */
static void say_stored(struct pawl_cli *cli, const struct pawl_instance_row *row)
{
    pawl__cli_print(&cli->out, "stored; %.*s is %s: %.*s\n", PAWL_STR_ARG(row->id),
                    row->retry_us == PAWL_TIME_NEVER ? "set aside" : "tried again later",
                    PAWL_STR_ARG(row->trouble));
    pawl__cli_print(&cli->err, "hint: 'pawl retry %.*s' runs it again once the reason is gone\n",
                    PAWL_STR_ARG(row->id));
}

static int print_json(struct pawl_cli *cli, const struct sent *sent)
{
    static const struct pawl_send_result nothing = {0};
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json said = pawl__view_sent(&b, sent->is_put_off ? &nothing : &sent->did);

    if (sent->is_put_off)
        pawl__build_int(&b, &said, "stored", sent->did.resumed);
    else if (sent->did.parked && never_takes(&sent->row))
        pawl__build_bool(&b, &said, "neverTaken", true);
    return pawl__cli_print_built(cli, &b, &said, 0);
}

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct sent sent = {.is_put_off = false};
    int status;

    session->as_json = pawl__cli_flag(&cli->args, "json");
    status = send(session, &sent, err);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, pawl__cli_session_hint(status));
    if (session->as_json)
        return print_json(cli, &sent);
    if (sent.is_put_off)
        say_stored(cli, &sent.row);
    else
        say_sent(session, &sent);
    return PAWL_CLI_EXIT_OK;
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, body);
}

static const struct pawl_cli_option options[] = {
    {.name = "payload",
     .letter = 'p',
     .kind = PAWL_CLI_TEXT,
     .arg = "VALUE",
     .help = "The event's payload: JSON, else text; @FILE: the content of a file",
     .may_be_empty = true},
    {.name = "correlation-id",
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "Only instances with this correlation id; new ones get it"},
    {.name = "instance",
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "Only this instance; starts nothing"},
    {.name = "key",
     .kind = PAWL_CLI_TEXT,
     .arg = "KEY",
     .help = "Sending again with the same KEY only prints the first result"},
    {.name = "detach",
     .letter = 'd',
     .kind = PAWL_CLI_FLAG,
     .help = "Only store it; a worker delivers it"},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print the result as a JSON object"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_send = {
    .name = "send",
    .summary = "Send an event to workflows that wait for it, or that it starts",
    .operands = "EVENT",
    .help =
        "When this command succeeds, the event is stored and will be delivered despite crashes.\n",
    .options = options,
    .run = run,
};
