/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl routes`: at which paths workflows take requests, each with a command that sends one. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "views/routes.h"

/* The first place that servers listen at by the settings, as clients write it. */
static struct pawl_str address(struct pawl_cli_session *session)
{
    const struct pawl_configuration *configuration = &session->configuration;
    bool is_secure =
        pawl__configuration_text(configuration, PAWL_SETTING_ID_SERVER_TLS_CERTIFICATE)[0] != '\0';
    struct pawl_str place =
        pawl__str(pawl__configuration_text(configuration, PAWL_SETTING_ID_SERVER_LISTEN));
    const char *text;

    place = pawl__str_trim(pawl__str_slice(place, 0, pawl__str_find(place, ',', 0)));
    text = pawl__arena_printf(&session->cli->arena, "http%s://%s%.*s", is_secure ? "s" : "",
                              pawl__str_starts(place, pawl__str(":")) ? "localhost" : "",
                              PAWL_STR_ARG(place));
    return pawl__str(text);
}

void pawl__cli_print_routes(struct pawl_cli_session *session, struct pawl_str address)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_error err = PAWL_ERROR_INIT;
    const struct pawl_op op = pawl__cli_session_op(session, &err);
    struct pawl_endpoint_routes found = {.count = 0};

    if (pawl__op_routes_list(&op, &found) != PAWL_OK) {
        (void)pawl__cli_fail(cli, &err, NULL);
        return;
    }
    for (size_t i = 0; i < found.count; i++) {
        struct pawl_builder b = {.arena = &cli->arena};
        struct pawl_json route = pawl__view_route(&b, &found.items[i], address);

        pawl__cli_print(&cli->out, "%.*s %.*s %s %.*s\n    %.*s\n",
                        PAWL_STR_ARG(found.items[i].method), PAWL_STR_ARG(found.items[i].path),
                        found.items[i].definition_id.len > 0 ? "starts" : "is waited for",
                        PAWL_STR_ARG(found.items[i].definition_id),
                        PAWL_STR_ARG(pawl__json_str(pawl__json_get_text(&route, "curl"))));
    }
    if (found.count == 0)
        pawl__cli_print(&cli->out, "no workflow takes requests yet\n");
}

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "METHOD", .key = "method"},
        {.title = "PATH", .key = "path"},
        {.title = "STARTS", .key = "definitionId"},
        {.title = "WAITING", .key = "waiting"},
        {.title = "TRY", .key = "curl"},
        {.title = NULL},
    };
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    struct pawl_endpoint_routes found = {.count = 0};
    int status = pawl__op_routes_list(&op, &found);

    for (size_t i = 0; i < found.count; i++)
        pawl__build_append(&b, &rows, pawl__view_route(&b, &found.items[i], address(session)));
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, pawl__cli_session_hint(status));
    if (found.cut)
        pawl__cli_print(&cli->err,
                        "pawl routes: more than %u instances wait; others are not shown\n",
                        PAWL_ROUTES_WAITS_MAX);
    return pawl__cli_flag(&cli->args, "json") ? pawl__cli_print_json(cli, &rows, 2)
                                              : pawl__cli_table(cli, &rows, columns);
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, body);
}

static const struct pawl_cli_option options[] = {
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print JSON"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_routes = {
    .name = "routes",
    .summary = "List the HTTP endpoints of workflows",
    .help = "A request to a path that STARTS a definition makes an instance of it; WAITING is how\n"
            "many instances wait for one. TRY is a command that sends it to 'pawl serve' at its\n"
            "first place (server.listen). Of several that wait, the correlation id tells which.\n",
    .options = options,
    .run = run,
};
