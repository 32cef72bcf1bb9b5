/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl send EVENT`: sends an event to the workflows of a store. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/values.h"

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_cli_args *args = &cli->args;
    const struct pawl_stimulus stimulus = {
        .correlation_id = pawl__str(pawl__cli_text(args, "correlation-id", "")),
        .instance_id = pawl__str(pawl__cli_text(args, "instance", "")),
        .idempotency_key = pawl__str(pawl__cli_text(args, "key", "")),
    };
    const char *text = pawl__cli_text(args, "payload", NULL);
    struct pawl_json payload = pawl__json_null();
    struct pawl_sent sent = {0};
    int status = text ? pawl__cli_value(cli, pawl__str(text), &payload) : PAWL_OK;

    session->as_json = pawl__cli_flag(args, "json");
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    else
        status = pawl__runtime_send_event(session->runtime, pawl__str(args->operands[0]),
                                          text ? &payload : NULL, &stimulus, &sent,
                                          pawl__cli_session_deadline(session), err);
    if (status == PAWL_OK && !pawl__cli_flag(args, "detach"))
        status = pawl__cli_session_drain(session, err);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, pawl__cli_session_hint(status));
    if (session->as_json)
        pawl__cli_print(&cli->out, "{\"started\":%u,\"resumed\":%u,\"parked\":%s}\n", sent.started,
                        sent.resumed, sent.parked ? "true" : "false");
    else if (sent.parked)
        pawl__cli_print(
            &cli->out, "nobody waits for it yet: it waits itself, for %s\n",
            pawl__configuration_text(&session->configuration, PAWL_SETTING_ID_STIMULUS_TTL));
    else
        pawl__cli_print(&cli->out, "started %u, resumed %u\n", sent.started, sent.resumed);
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
     .help = "What goes with the event: JSON, else text"},
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
     .help = "Sending again with the same KEY only says what the first did"},
    {.name = "detach",
     .letter = 'd',
     .kind = PAWL_CLI_FLAG,
     .help = "Only send it; a worker does the rest"},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print what it does as a JSON object"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_send = {
    .name = "send",
    .summary = "Send an event to workflows that wait for it, or start by it",
    .operands = "EVENT",
    .help =
        "When this command succeeds, the event is stored and will be delivered, whatever dies.\n",
    .options = options,
    .run = run,
};
