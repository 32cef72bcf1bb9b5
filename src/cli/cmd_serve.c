/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl serve`: a node as `pawl worker` is one, with a server. */
#include "cli/commands.h"

#include "api/api.h"
#include "base/error.h"
#include "cli/cmd_definitions.h"
#include "cli/command/output.h"
#include "cli/session/session.h"
#include "host/duty.h"
#include "operations/identity.h"
#include "os/activation.h"
#include "os/interrupt.h"

struct serving {
    struct pawl_cli_session session;
    struct pawl_interrupt *interrupt;
    struct pawl_duty *duty;
    struct pawl_api *api;
    bool is_dev; /* somebody tries definitions out */
};

/* ---- listening --------------------------------------------------------------------------- */

/* Each place of the setting, apart by commas or spaces. */
static int listen_at_places(struct pawl_server *server, const char *places, struct pawl_error *err)
{
    int status = PAWL_OK;

    while (*places && status == PAWL_OK) {
        size_t length = strcspn(places, ", \t");
        char place[512];

        if (length > 0) {
            (void)snprintf(place, sizeof place, "%.*s", (int)(length < 500 ? length : 500), places);
            status = pawl__server_listen(server, place, err);
        }
        places += length + (places[length] ? 1 : 0);
    }
    return status;
}

/* A service manager's sockets count instead of the setting. */
static int listen_everywhere(struct serving *serving, struct pawl_error *err)
{
    struct pawl_server *server = pawl__api_server(serving->api);
    int fds[PAWL_SERVER_LISTENERS_MAX];
    size_t count;
    int status = pawl__activation_sockets(fds, PAWL_SERVER_LISTENERS_MAX, &count, err);

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = pawl__server_listen_descriptor(server, fds[i], err);
    if (status == PAWL_OK && count == 0)
        status = listen_at_places(server,
                                  pawl__configuration_text(&serving->session.configuration,
                                                           PAWL_SETTING_ID_SERVER_LISTEN),
                                  err);
    return status;
}

/* None: the server speaks HTTP. */
static int read_certificate(struct serving *serving, struct pawl_error *err)
{
    const struct pawl_configuration *configuration = &serving->session.configuration;
    const char *certificate =
        pawl__configuration_text(configuration, PAWL_SETTING_ID_SERVER_TLS_CERTIFICATE);
    const char *key = pawl__configuration_text(configuration, PAWL_SETTING_ID_SERVER_TLS_KEY);

    if (!*certificate && !*key)
        return PAWL_OK;
    if (!*certificate || !*key)
        return pawl__error_set(err, PAWL_EINVAL,
                               "server.tls.certificate and server.tls.key are set together");
    return pawl__server_secure(pawl__api_server(serving->api), certificate, key, err);
}

/* A certificate that cannot be used is reported, and the old one stays. */
static void reload(struct serving *serving)
{
    const struct pawl_log *log = &serving->session.cli->log;
    struct pawl_error err = PAWL_ERROR_INIT;

    if (read_certificate(serving, &err) == PAWL_OK)
        pawl_log(log, PAWL_LOG_INFO, "the certificate was read again",
                 pawl_log_text("certificate",
                               pawl__configuration_text(&serving->session.configuration,
                                                        PAWL_SETTING_ID_SERVER_TLS_CERTIFICATE)));
    else
        pawl_log(log, PAWL_LOG_ERROR, "the certificate stays as it was",
                 pawl_log_error("error", &err));
}

/* One line on standard output for each place: a script that reads it knows that it can ask. */
static void announce(struct serving *serving)
{
    struct pawl_cli *cli = serving->session.cli;
    struct pawl_server *server = pawl__api_server(serving->api);
    char place[128];

    if (serving->is_dev && pawl__server_place(server, 0, place, sizeof place))
        pawl__cli_print_routes(&serving->session, pawl__str(place));
    for (size_t i = 0; pawl__server_place(server, i, place, sizeof place); i++)
        pawl__cli_print(&cli->out, "pawl serve: ready at %s\n", place);
    pawl__cli_flush(&cli->out);
    (void)pawl__activation_notify("READY=1");
}

/* ---- running ----------------------------------------------------------------------------- */

/* Of a store in which nobody may do anything yet. The key is printed here and nowhere else. */
static int make_first_key(struct serving *serving, struct pawl_error *err)
{
    struct pawl_cli_session *session = &serving->session;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_application_secrets secrets;
    bool made = false;
    int status;

    if (pawl__configuration_text(&session->configuration, PAWL_SETTING_ID_ADMIN_API_KEY)[0])
        return PAWL_OK;
    status = pawl__op_identity_begin(&op, &made, &secrets);
    if (status == PAWL_OK && made)
        pawl__cli_print(&session->cli->out,
                        "pawl serve: the administrator's API key, shown this once: %.*s\n",
                        PAWL_STR_ARG(secrets.api_key));
    return status;
}

static int open_parts(struct serving *serving, struct pawl_error *err)
{
    struct pawl_cli_session *session = &serving->session;
    struct pawl_cli *cli = session->cli;
    uint32_t failed = 0;
    int64_t workers = pawl__configuration_number(&session->configuration, PAWL_SETTING_ID_WORKERS);
    int64_t until_ns = pawl__cli_session_patience(session);
    int status = make_first_key(serving, err);

    if (status == PAWL_OK)
        status = pawl__api_open(cli->env, session->host, &cli->log, &serving->api, err);
    if (status == PAWL_OK)
        status = read_certificate(serving, err);
    if (status == PAWL_OK)
        status = listen_everywhere(serving, err);
    if (status == PAWL_OK) {
        do {
            status = pawl__duty_open(session->host, workers, &failed, &serving->duty, err);
        } while (pawl__cli_session_tries_again(session, until_ns, &status, err));
    }
    if (failed > 0)
        pawl__cli_print(&cli->err,
                        "pawl serve: %u of the definitions could not be loaded; the log says why\n",
                        failed);
    if (status == PAWL_OK)
        status = pawl__server_start(pawl__api_server(serving->api), err);
    return status;
}

/*
 * Requests end first, while the node can still do what they wait for; then bursts end at their next
 * activity. What does not end in time is left, and another node goes on with it.
 */
static void wind_up(struct serving *serving)
{
    struct pawl_cli *cli = serving->session.cli;
    int64_t most_ns =
        pawl__configuration_number(&serving->session.configuration, PAWL_SETTING_ID_DRAIN_DEADLINE);
    int64_t deadline_ns = pawl_env_monotonic_ns(cli->env) + most_ns;
    bool late;

    (void)pawl__activation_notify("STOPPING=1");
    late = pawl__api_drain(serving->api, deadline_ns) == PAWL_ETIMEDOUT;
    late = pawl__duty_wind_up(serving->duty, deadline_ns) == PAWL_ETIMEDOUT || late;
    if (!late)
        return;
    pawl_log(&cli->log, PAWL_LOG_WARN, "drain deadline is over; what still runs is left",
             pawl_log_int("deadline_ms", most_ns / 1000000));
    pawl_system_env_stop(cli->env);
}

/* Descriptors for what is not a client's connection: the store's, files, locks. */
#define OTHER_DESCRIPTORS 64

static void raise_descriptors(struct serving *serving)
{
    const struct pawl_log *log = &serving->session.cli->log;
    size_t descriptors = pawl__activation_raise_descriptors();
    int64_t connections = pawl__configuration_number(&serving->session.configuration,
                                                     PAWL_SETTING_ID_SERVER_CONNECTIONS);
    bool enough = descriptors >= (size_t)connections + OTHER_DESCRIPTORS;

    pawl_log(log, enough ? PAWL_LOG_INFO : PAWL_LOG_WARN,
             enough ? "descriptors raised"
                    : "there are fewer descriptors than server.connections; raise RLIMIT_NOFILE",
             pawl_log_uint("descriptors", descriptors), pawl_log_int("connections", connections));
}

static int serve(struct serving *serving, struct pawl_error *err)
{
    struct pawl_cli *cli = serving->session.cli;
    int over = PAWL_OK, status;

    raise_descriptors(serving);
    status = open_parts(serving, err);
    if (status == PAWL_OK) {
        pawl_log(&cli->log, PAWL_LOG_INFO, "server started",
                 pawl_log_uint("workers", pawl__duty_workers(serving->duty)));
        announce(serving);
        while (pawl__interrupt_wait(serving->interrupt, PAWL_FOREVER) == PAWL_OK &&
               !pawl__interrupt_pending(serving->interrupt)) {
            if (pawl__interrupt_take_hangup(serving->interrupt))
                reload(serving);
        }
        over = pawl__duty_check(serving->duty, err);
        wind_up(serving);
    }
    pawl__api_close(serving->api);
    pawl__duty_close(serving->duty);
    if (status == PAWL_ESTOPPED && pawl__interrupt_pending(serving->interrupt))
        return PAWL_CLI_EXIT_OK; /* told to end before it was ready */
    if (status != PAWL_OK || over != PAWL_OK)
        return pawl__cli_fail(cli, err, NULL);
    pawl__cli_print(&cli->err, "pawl serve: ended\n");
    return PAWL_CLI_EXIT_OK;
}

/* What there is, and what it needs: for whoever makes roles. */
static int list_routes(struct pawl_cli *cli)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_route *routes;
    size_t count;
    int status = pawl__api_routes_new(&cli->env->alloc, &routes, &count);

    if (status != PAWL_OK) {
        (void)pawl__error_code(&err, status);
        return pawl__cli_fail(cli, &err, NULL);
    }
    for (size_t i = 0; i < count; i++)
        pawl__cli_print(&cli->out, "%-6s %s\t%s\n", routes[i].method, routes[i].path,
                        pawl__api_terms(&routes[i]));
    pawl__api_routes_free(&cli->env->alloc, routes);
    return PAWL_CLI_EXIT_OK;
}

/* What is tried out is kept in memory, unless a store is named. */
static int configure_dev(struct pawl_cli *cli, struct pawl_configuration *configuration,
                         struct pawl_error *err)
{
    int status = pawl__cli_configure(cli, configuration, err);

    if (status != PAWL_OK ||
        (pawl__cli_knows(&cli->args, "store") && pawl__cli_text(&cli->args, "store", NULL)))
        return status;
    status = pawl__configuration_set(configuration, PAWL_SETTING_ID_STORE, pawl__str("memory:"),
                                     PAWL_ORIGIN_OPTION, "--dev", err);
    if (status != PAWL_OK)
        pawl__configuration_release(configuration);
    return status;
}

/* The files, then the server. */
static int serve_operands(struct serving *serving, struct pawl_error *err)
{
    struct pawl_cli *cli = serving->session.cli;
    int code = PAWL_CLI_EXIT_OK;

    if (serving->is_dev && cli->args.operand_count > 0)
        code = pawl__cli_publish_operands(&serving->session, err);
    return code == PAWL_CLI_EXIT_OK ? serve(serving, err) : code;
}

static int run_server(struct pawl_cli *cli, bool is_dev)
{
    struct serving serving = {.session = {.cli = cli, .measures = true}, .is_dev = is_dev};
    struct pawl_error err = PAWL_ERROR_INIT;
    int code, status;

    status = pawl__interrupt_open(cli->env, &serving.interrupt, &err);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, &err, NULL);
    serving.session.interrupt = serving.interrupt;
    status = pawl__interrupt_watch_hangup(serving.interrupt, &err);
    if (status == PAWL_OK)
        status = is_dev ? configure_dev(cli, &serving.session.configuration, &err)
                        : pawl__cli_configure(cli, &serving.session.configuration, &err);
    if (status == PAWL_OK)
        status = pawl__cli_session_start(&serving.session, true, &err);
    if (status == PAWL_ESTOPPED && pawl__interrupt_pending(serving.interrupt)) {
        code = PAWL_CLI_EXIT_OK; /* told to end before it was ready */
    } else if (status != PAWL_OK) {
        code = pawl__cli_fail(cli, &err, pawl__cli_session_hint(status));
    } else {
        code = serve_operands(&serving, &err);
        pawl__cli_session_close(&serving.session);
    }
    pawl__interrupt_close(serving.interrupt);
    return code;
}

int pawl__cli_serve_dev(struct pawl_cli *cli)
{
    return run_server(cli, true);
}

static int run(struct pawl_cli *cli)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    bool is_dev = pawl__cli_flag(&cli->args, "dev");

    if (pawl__cli_flag(&cli->args, "routes"))
        return list_routes(cli);
    if (cli->args.operand_count > 0 && !is_dev) {
        (void)pawl__error_set(&err, PAWL_EINVAL, "a FILE is served with --dev alone");
        return pawl__cli_fail(cli, &err, "'pawl publish FILE' puts it into the store");
    }
    return run_server(cli, is_dev);
}

static const struct pawl_cli_option options[] = {
    {.name = "dev",
     .kind = PAWL_CLI_FLAG,
     .help = "Try out definitions: publish each FILE, in memory unless --store is given, and print "
             "how to send requests to them"},
    {.name = "listen",
     .kind = PAWL_CLI_TEXT,
     .arg = "PLACES",
     .help = "HOST:PORT, [::1]:PORT, :PORT or unix:PATH, apart by commas (default 127.0.0.1:5001)"},
    {.name = "workers",
     .kind = PAWL_CLI_TEXT,
     .arg = "N",
     .help = "Instances that run at a time (default auto: one per core; 0: serve only)"},
    {.name = "studio",
     .kind = PAWL_CLI_TEXT,
     .arg = "DIR",
     .help = "Serve Elsa Studio, whose files 'make studio' fetches, under /studio/"},
    {.name = "routes",
     .kind = PAWL_CLI_FLAG,
     .help = "Print the routes and the permission that each needs, and end"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_serve = {
    .name = "serve",
    .summary = "Do the work of a store and serve HTTP",
    .operands = "[FILE...]",
    .help =
        "What 'pawl worker' does, with a server: health, metrics and the API (pawl api).\n"
        "Prints a line for each place it listens at once it is ready; port 0 is any free one. "
        "Under\n"
        "systemd it takes the sockets of its socket unit instead and says when it is ready. On\n"
        "Ctrl-C or SIGTERM it accepts nothing more, lets requests and bursts end, and leaves what\n"
        "does not (--set drain.deadline=30s).\n"
        "With --set server.tls.certificate=FILE and server.tls.key=FILE it speaks HTTPS; on SIGHUP "
        "it\n"
        "reads them again.\n",
    .options = options,
    .run = run,
};
