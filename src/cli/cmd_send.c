/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl send EVENT`: sends an event to the workflows of a store. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "cli/command/values.h"
#include "operations/instances.h"
#include "views/stimuli.h"

/* What is said of an event for an instance. */
struct sent {
    struct pawl_send_result did;
    struct pawl_instance_list put_off; /* the instance, if it could not be run: it has the event and
                                        * was not resumed. A step of it would have cleared that. */
};

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
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    int status = text ? pawl__cli_payload(cli, text, &payload, err) : PAWL_OK;

    if (status != PAWL_OK)
        return status;
    status = pawl__op_event_send(&op, &request, &sent->did);
    if (status == PAWL_OK && !request.detached)
        status = pawl__cli_session_drain(session, err);
    if (status != PAWL_OK || sent->did.resumed == 0 || request.instance_id.len == 0)
        return status;
    query.ids = &request.instance_id;
    query.id_count = 1;
    query.is_put_off = true;
    op = pawl__cli_session_op(session, err);
    return pawl__op_instances_list(&op, &query, &sent->put_off);
}

static void say_sent(struct pawl_cli_session *session, const struct pawl_send_result *sent)
{
    struct pawl_cli *cli = session->cli;

    if (sent->parked)
        pawl__cli_print(
            &cli->out, "nothing waits for it yet: it is kept for %s\n",
            pawl__configuration_text(&session->configuration, PAWL_SETTING_ID_STIMULUS_TTL));
    else
        pawl__cli_print(&cli->out, "started %u, resumed %u\n", sent->started, sent->resumed);
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
    bool stored = sent->put_off.count > 0;
    struct pawl_json said = pawl__view_sent(&b, stored ? &nothing : &sent->did);

    if (stored)
        pawl__build_int(&b, &said, "stored", sent->did.resumed);
    return pawl__cli_print_built(cli, &b, &said, 0);
}

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct sent sent = {.put_off = {.count = 0}};
    int status;

    session->as_json = pawl__cli_flag(&cli->args, "json");
    status = send(session, &sent, err);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, pawl__cli_session_hint(status));
    if (session->as_json)
        return print_json(cli, &sent);
    if (sent.put_off.count > 0)
        say_stored(cli, &sent.put_off.rows[0]);
    else
        say_sent(session, &sent.did);
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
