/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl open`: the address of Studio with a link that signs in once; on a desktop, in the browser.
 */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/output.h"
#include "cli/session/session.h"
#include "operations/identity.h"
#include "os/process.h"
#include "os/program.h"

#include <stdlib.h>

/* Who signs in when no user is named. */
#define FIRST_USER "admin"
/* The opener of desktops hands over to a browser and ends; one that stays is left. */
#define OPENER "/usr/bin/xdg-open"
#define OPENER_NS INT64_C(10000000000)
#define LOOK_NS INT64_C(20000000)

/* ---- who ------------------------------------------------------------------------------------ */

/* A user who may do everything, whose password nobody knows. */
static int make_first_user(const struct pawl_op *op)
{
    const struct pawl_str all = pawl__str("*"), admin = pawl__str(FIRST_USER);
    const struct pawl_role_request role_request = {
        .id = admin, .name = admin, .permissions = {&all, 1}};
    struct pawl_user_request request = {.name = admin, .roles = {&admin, 1}};
    char password[PAWL_PASSWORD_TEXT_SIZE];
    struct pawl_role role;
    struct pawl_user user;
    int status = pawl__op_role_show(op, admin, &role);

    if (status == PAWL_ENOTFOUND)
        status = pawl__op_role_create(op, &role_request, &role);
    if (status == PAWL_OK)
        status = pawl__op_password_make(op, password);
    request.password = pawl__str(password);
    return status == PAWL_OK ? pawl__op_user_create(op, &request, &user) : status;
}

static int make_link(struct pawl_cli *cli, const struct pawl_op *op, struct pawl_str *secret)
{
    const char *name = pawl__cli_text(&cli->args, "user", NULL);
    int status = pawl__op_ticket_make(op, pawl__str(name ? name : FIRST_USER), secret);

    if (status != PAWL_ENOTFOUND || name)
        return status;
    status = make_first_user(op);
    if (status != PAWL_OK)
        return status;
    pawl__cli_print(&cli->err, "pawl open: made the user '" FIRST_USER "', who may do everything; "
                               "'pawl users password " FIRST_USER "' sets a password\n");
    return pawl__op_ticket_make(op, pawl__str(FIRST_USER), secret);
}

/* ---- where ---------------------------------------------------------------------------------- */

/* The first place of the setting that a browser can reach; "" if there is none. */
static struct pawl_str first_place(const char *places)
{
    while (*places) {
        struct pawl_str place = pawl__str_make(places, strcspn(places, ", \t"));

        if (place.len > 0 && !pawl__str_starts(place, pawl__str("unix:")))
            return place;
        places += place.len + (places[place.len] ? 1 : 0);
    }
    return pawl__str("");
}

/* Of all addresses, the loopback is one that a browser here can name. */
static const char *local_url(struct pawl_cli *cli, struct pawl_str place, bool secure)
{
    const char *const all[] = {"0.0.0.0:", "[::]:", ":"};
    const char *scheme = secure ? "https" : "http";

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct pawl_str start = pawl__str(all[i]);

        if (pawl__str_starts(place, start))
            return pawl__arena_printf(&cli->arena, "%s://127.0.0.1:%.*s", scheme,
                                      PAWL_STR_ARG(pawl__str_slice(place, start.len, place.len)));
    }
    return pawl__arena_printf(&cli->arena, "%s://%.*s", scheme, PAWL_STR_ARG(place));
}

static int find_url(struct pawl_cli_session *session, const char **out, struct pawl_error *err)
{
    const struct pawl_configuration *configuration = &session->configuration;
    struct pawl_cli *cli = session->cli;
    const char *given =
        cli->args.operand_count > 0
            ? cli->args.operands[0]
            : pawl__configuration_text(configuration, PAWL_SETTING_ID_SERVER_PUBLIC_URL);
    const char *certificate =
        pawl__configuration_text(configuration, PAWL_SETTING_ID_SERVER_TLS_CERTIFICATE);
    struct pawl_str url = pawl__str(given), place;

    while (url.len > 0 && url.ptr[url.len - 1] == '/')
        url.len--;
    place = first_place(pawl__configuration_text(configuration, PAWL_SETTING_ID_SERVER_LISTEN));
    if (url.len == 0 && place.len == 0)
        return pawl__error_set(err, PAWL_EINVAL,
                               "the server listens at Unix-domain sockets only, which a browser "
                               "does not reach; name the URL of its proxy");
    *out = url.len > 0 ? pawl__arena_printf(&cli->arena, "%.*s", PAWL_STR_ARG(url))
                       : local_url(cli, place, certificate[0] != 0);
    return *out ? PAWL_OK : pawl__error_code(err, pawl__arena_status(&cli->arena));
}

/* ---- showing -------------------------------------------------------------------------------- */

static bool is_desktop(const struct pawl_cli *cli)
{
    return pawl__fd_is_terminal(fileno(cli->out.file)) &&
           (getenv("WAYLAND_DISPLAY") || getenv("DISPLAY"));
}

static void show_in_browser(struct pawl_cli *cli, const char *link)
{
    const char *const argv[] = {OPENER, link, NULL};
    int64_t now_ns = pawl_env_monotonic_ns(cli->env), end_ns = now_ns + OPENER_NS;
    struct pawl_program opener;
    int code = 0;

    if (pawl__program_start(argv, NULL, &opener, NULL) != PAWL_OK)
        return;
    while (!pawl__program_has_ended(&opener, &code) && now_ns < end_ns &&
           pawl_env_sleep_until(cli->env, now_ns + LOOK_NS) == PAWL_OK)
        now_ns = pawl_env_monotonic_ns(cli->env);
    if (code != 0)
        pawl__cli_print(&cli->err, "pawl open: " OPENER " did not open it; use the link\n");
}

static int open_link(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    const char *url, *link;
    struct pawl_str secret;
    int status = find_url(session, &url, err);

    if (status == PAWL_OK)
        status = make_link(cli, &op, &secret);
    if (status != PAWL_OK)
        return pawl__cli_session_failed(session, err, "'pawl users' lists users");
    link = pawl__arena_printf(&cli->arena, "%s/sign-in?t=%.*s", url, PAWL_STR_ARG(secret));
    if (!link) {
        (void)pawl__error_code(err, pawl__arena_status(&cli->arena));
        return pawl__cli_session_failed(session, err, NULL);
    }
    pawl__cli_print(&cli->out, "%s\n", link);
    pawl__cli_flush(&cli->out);
    if (!pawl__cli_flag(&cli->args, "print") && is_desktop(cli))
        show_in_browser(cli, link);
    return PAWL_CLI_EXIT_OK;
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, open_link);
}

static const struct pawl_cli_option options[] = {
    {.name = "user",
     .kind = PAWL_CLI_TEXT,
     .arg = "NAME",
     .help = "Who signs in (default: admin, who is made if need be)"},
    {.name = "print", .kind = PAWL_CLI_FLAG, .help = "Print the address and open nothing"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_open = {
    .name = "open",
    .summary = "Print the address of Studio, with a link that signs in once; open it on a desktop",
    .operands = "[URL]",
    .help = "URL is where the server is: https://pawl.example (default: server.public_url, else\n"
            "server.listen). The link works once, within ten minutes. 'pawl serve --studio DIR' "
            "serves\n"
            "Studio.\n",
    .options = options,
    .run = run,
};
