/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl users`, `pawl roles` and `pawl keys`: who may do what on the server. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "operations/identity.h"
#include "views/identity.h"

static int failed(struct pawl_cli_session *session, struct pawl_error *err)
{
    return pawl__cli_fail(session->cli, err, pawl__cli_session_hint(err->code));
}

static struct pawl_str operand(const struct pawl_cli *cli, size_t index)
{
    return pawl__str(cli->args.operand_count > index ? cli->args.operands[index] : "");
}

/* The values of an option that may be repeated. */
static int texts_of(struct pawl_cli *cli, const char *option, struct pawl_texts *out,
                    struct pawl_error *err)
{
    struct pawl_str *texts =
        pawl__arena_alloc_array(&cli->arena, PAWL_IDENTITY_TEXTS_MAX, sizeof *texts);
    size_t at = 0, count = 0;
    const char *text;

    if (!texts)
        return pawl__error_code(err, pawl__arena_status(&cli->arena));
    while (count < PAWL_IDENTITY_TEXTS_MAX && (text = pawl__cli_next(&cli->args, option, &at)))
        texts[count++] = pawl__str(text);
    *out = (struct pawl_texts){texts, count};
    return PAWL_OK;
}

/* The first line of standard input. */
static int read_secret(struct pawl_cli *cli, struct pawl_str *out, struct pawl_error *err)
{
    int status = pawl__cli_read(cli, &cli->arena, "-", out, err);

    if (status == PAWL_OK)
        *out = pawl__str_trim(pawl__str_slice(*out, 0, pawl__str_find(*out, '\n', 0)));
    if (status == PAWL_OK && out->len == 0)
        status =
            pawl__error_set(err, PAWL_EINVAL, "standard input has no password in its first line");
    return status;
}

/* ---- users ---------------------------------------------------------------------------------- */

static int list_users(struct pawl_cli_session *session, struct pawl_error *err)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "USER", .key = "name"},
        {.title = "ID", .key = "id"},
        {.title = "ROLES", .key = "roles"},
        {.title = NULL},
    };
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    const struct pawl_page_request page = pawl__cli_page(&cli->args);
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    struct pawl_user_list found = {.count = 0};
    int status = pawl__op_users_list(&op, &page, &found);

    for (size_t i = 0; status == PAWL_OK && i < found.count; i++)
        pawl__build_append(&b, &rows, pawl__view_user(&b, &found.users[i]));
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    return status == PAWL_OK ? pawl__cli_page_show(cli, &rows, &found.page, columns)
                             : failed(session, err);
}

static int run_users(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, list_users);
}

static int add_user(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_user_request request = {.name = operand(cli, 0)};
    bool given = pawl__cli_flag(&cli->args, "password-stdin");
    char made[PAWL_PASSWORD_TEXT_SIZE];
    struct pawl_user user;
    int status = texts_of(cli, "role", &request.roles, err);

    if (status == PAWL_OK)
        status =
            given ? read_secret(cli, &request.password, err) : pawl__op_password_make(&op, made);
    if (status == PAWL_OK && !given)
        request.password = pawl__str(made);
    if (status == PAWL_OK)
        status = pawl__op_user_create(&op, &request, &user);
    if (status != PAWL_OK)
        return failed(session, err);
    pawl__cli_print(&cli->out, "%.*s\n", PAWL_STR_ARG(user.id));
    if (!given)
        pawl__cli_print(&cli->out, "password: %s\n", made);
    return PAWL_CLI_EXIT_OK;
}

static int run_user_add(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, add_user);
}

static const struct pawl_cli_option user_add_options[] = {
    {.name = "role",
     .kind = PAWL_CLI_TEXT,
     .arg = "ROLE",
     .repeatable = true,
     .help = "A role to have; may be repeated"},
    {.name = "password-stdin",
     .kind = PAWL_CLI_FLAG,
     .help = "Read the password from the first line of standard input"},
    {.name = NULL},
};

static const struct pawl_cli_command user_add = {
    .name = "add",
    .summary = "Make a user; without a password one is made and printed",
    .operands = "NAME",
    .options = user_add_options,
    .run = run_user_add,
};

static int remove_user(struct pawl_cli_session *session, struct pawl_error *err)
{
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_user user;
    int status = pawl__op_user_show(&op, operand(session->cli, 0), &user);

    if (status == PAWL_OK)
        status = pawl__op_user_delete(&op, user.id, NULL);
    return status == PAWL_OK ? PAWL_CLI_EXIT_OK : failed(session, err);
}

static int run_user_rm(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, remove_user);
}

static const struct pawl_cli_command user_rm = {
    .name = "rm",
    .summary = "Delete a user; its tokens are refused from then on",
    .operands = "NAME",
    .run = run_user_rm,
};

static int set_roles(struct pawl_cli_session *session, struct pawl_error *err)
{
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_user_request request = {.id = pawl__str("")};
    struct pawl_user user;
    int status = texts_of(session->cli, "role", &request.roles, err);

    if (status == PAWL_OK)
        status = pawl__op_user_show(&op, operand(session->cli, 0), &user);
    request.id = user.id;
    if (status == PAWL_OK)
        status = pawl__op_user_update(&op, &request, &user);
    return status == PAWL_OK ? PAWL_CLI_EXIT_OK : failed(session, err);
}

static int run_user_roles(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, set_roles);
}

static const struct pawl_cli_option user_roles_options[] = {
    {.name = "role",
     .kind = PAWL_CLI_TEXT,
     .arg = "ROLE",
     .repeatable = true,
     .help = "A role to have; may be repeated"},
    {.name = NULL},
};

static const struct pawl_cli_command user_roles = {
    .name = "roles",
    .summary = "Replace the roles of a user; without --role it has none",
    .operands = "NAME",
    .options = user_roles_options,
    .run = run_user_roles,
};

static int set_password(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_str password;
    struct pawl_user user;
    int status = read_secret(cli, &password, err);

    if (status == PAWL_OK)
        status = pawl__op_user_show(&op, operand(cli, 0), &user);
    if (status == PAWL_OK)
        status = pawl__op_user_set_password(&op, user.id, password);
    return status == PAWL_OK ? PAWL_CLI_EXIT_OK : failed(session, err);
}

static int run_user_password(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, set_password);
}

static const struct pawl_cli_command user_password = {
    .name = "password",
    .summary = "Set the password of a user to the first line of standard input",
    .operands = "NAME",
    .help = "Tokens that the user has are refused from then on.\n",
    .run = run_user_password,
};

static int link_user(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_str secret;

    if (pawl__op_ticket_make(&op, operand(cli, 0), &secret) != PAWL_OK)
        return failed(session, err);
    pawl__cli_print(&cli->out, "%s/sign-in?t=%.*s\n", pawl__cli_text(&cli->args, "url", ""),
                    PAWL_STR_ARG(secret));
    return PAWL_CLI_EXIT_OK;
}

static int run_user_link(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, link_user);
}

static const struct pawl_cli_option user_link_options[] = {
    {.name = "url",
     .kind = PAWL_CLI_TEXT,
     .arg = "URL",
     .help = "Where the server is: https://pawl.example; printed in front of the path"},
    {.name = NULL},
};

static const struct pawl_cli_command user_link = {
    .name = "link",
    .summary = "Print a link by which a user signs in once, within ten minutes",
    .operands = "NAME",
    .options = user_link_options,
    .run = run_user_link,
};

static int import_users(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_json users;
    struct pawl_str text;
    size_t count = 0;
    int status = pawl__cli_read(cli, &cli->arena, cli->args.operands[0], &text, err);

    if (status == PAWL_OK)
        status = pawl__json_parse(&cli->arena, text, NULL, &users, NULL, err);
    if (status == PAWL_OK)
        status = pawl__op_users_import(&op, &users, &count);
    if (status != PAWL_OK)
        return failed(session, err);
    pawl__cli_print(&cli->out, "imported %zu users\n", count);
    return PAWL_CLI_EXIT_OK;
}

static int run_user_import(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, import_users);
}

static const struct pawl_cli_command user_import = {
    .name = "import",
    .summary = "Take over users of an Elsa, with their hashed passwords",
    .operands = "FILE",
    .help = "FILE is a JSON array of users as Elsa stores them: id, name, hashedPassword,\n"
            "hashedPasswordSalt and roles. Passwords stay as they are hashed until their users\n"
            "sign in; then they are hashed again. All are taken over, or none.\n",
    .run = run_user_import,
};

static const struct pawl_cli_command *const user_commands[] = {
    &user_add, &user_rm, &user_roles, &user_password, &user_link, &user_import, NULL};

static const struct pawl_cli_option list_options[] = {
    PAWL_CLI_PAGE_OPTIONS("by name"),
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_users = {
    .name = "users",
    .summary = "List users of the server, and make, change and delete them",
    .help =
        "A user signs in with a name and a password and may do what its roles permit. A server\n"
        "that runs knows of a change within a second.\n",
    .options = list_options,
    .commands = user_commands,
    .run = run_users,
};

/* ---- roles ---------------------------------------------------------------------------------- */

static int list_roles(struct pawl_cli_session *session, struct pawl_error *err)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "ROLE", .key = "id"},
        {.title = "NAME", .key = "name"},
        {.title = "PERMISSIONS", .key = "permissions"},
        {.title = NULL},
    };
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    struct pawl_role_list found = {.count = 0};
    int status = pawl__op_roles_list(&op, &found);

    for (size_t i = 0; status == PAWL_OK && i < found.count; i++)
        pawl__build_append(&b, &rows, pawl__view_role(&b, &found.roles[i]));
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    return status == PAWL_OK ? pawl__cli_list_show(cli, &rows, found.count, columns)
                             : failed(session, err);
}

static int run_roles(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, list_roles);
}

/* Makes it, or replaces its permissions. */
static int set_role(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_role_request request = {
        .id = operand(cli, 0),
        .name = pawl__str(pawl__cli_text(&cli->args, "name", cli->args.operands[0]))};
    struct pawl_role role;
    int status = texts_of(cli, "permission", &request.permissions, err);

    if (status == PAWL_OK)
        status = pawl__op_role_update(&op, &request, &role);
    if (status == PAWL_ENOTFOUND)
        status = pawl__op_role_create(&op, &request, &role);
    return status == PAWL_OK ? PAWL_CLI_EXIT_OK : failed(session, err);
}

static int run_role_set(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, set_role);
}

static const struct pawl_cli_option role_set_options[] = {
    {.name = "permission",
     .kind = PAWL_CLI_TEXT,
     .arg = "TEXT",
     .repeatable = true,
     .help = "What it permits: read:workflow-definitions, ..., or *; may be repeated"},
    {.name = "name", .kind = PAWL_CLI_TEXT, .arg = "TEXT", .help = "Its name (default: ROLE)"},
    {.name = NULL},
};

static const struct pawl_cli_command role_set = {
    .name = "set",
    .summary = "Make a role, or replace its permissions",
    .operands = "ROLE",
    .options = role_set_options,
    .run = run_role_set,
};

static int remove_role(struct pawl_cli_session *session, struct pawl_error *err)
{
    const struct pawl_op op = pawl__cli_session_op(session, err);

    return pawl__op_role_delete(&op, operand(session->cli, 0), NULL) == PAWL_OK
               ? PAWL_CLI_EXIT_OK
               : failed(session, err);
}

static int run_role_rm(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, remove_role);
}

static const struct pawl_cli_command role_rm = {
    .name = "rm",
    .summary = "Delete a role; those who have it lose it",
    .operands = "ROLE",
    .run = run_role_rm,
};

static const struct pawl_cli_command *const role_commands[] = {&role_set, &role_rm, NULL};

static const struct pawl_cli_option roles_options[] = {
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print JSON"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_roles = {
    .name = "roles",
    .summary = "List roles, and make, change and delete them",
    .help = "A role is a list of permissions, which are compared as they are; * is all of them.\n",
    .options = roles_options,
    .commands = role_commands,
    .run = run_roles,
};

/* ---- keys ----------------------------------------------------------------------------------- */

static int list_keys(struct pawl_cli_session *session, struct pawl_error *err)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "NAME", .key = "name"},
        {.title = "ID", .key = "id"},
        {.title = "ROLES", .key = "roles"},
        {.title = "PERMISSIONS", .key = "permissions"},
        {.title = "CREATED", .key = "createdAt", .is_time = true},
        {.title = "EXPIRES", .key = "expiresAt", .is_time = true},
        {.title = NULL},
    };
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    const struct pawl_page_request page = pawl__cli_page(&cli->args);
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    struct pawl_application_list found = {.count = 0};
    int status = pawl__op_applications_list(&op, &page, &found);

    for (size_t i = 0; status == PAWL_OK && i < found.count; i++)
        pawl__build_append(&b, &rows, pawl__view_application(&b, &found.applications[i]));
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    return status == PAWL_OK ? pawl__cli_page_show(cli, &rows, &found.page, columns)
                             : failed(session, err);
}

static int run_keys(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, list_keys);
}

static int add_key(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    struct pawl_application_request request = {.name = operand(cli, 0),
                                               .life_us = pawl__cli_number(&cli->args, "days", 0) *
                                                          INT64_C(86400000000)};
    struct pawl_application_secrets secrets;
    struct pawl_application application;
    int status = texts_of(cli, "role", &request.roles, err);

    if (status == PAWL_OK)
        status = texts_of(cli, "permission", &request.permissions, err);
    if (status == PAWL_OK)
        status = pawl__op_application_create(&op, &request, &application, &secrets);
    if (status != PAWL_OK)
        return failed(session, err);
    pawl__cli_print(&cli->out, "%.*s\n", PAWL_STR_ARG(secrets.api_key));
    return PAWL_CLI_EXIT_OK;
}

static int run_key_add(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, add_key);
}

static const struct pawl_cli_option key_add_options[] = {
    {.name = "role",
     .kind = PAWL_CLI_TEXT,
     .arg = "ROLE",
     .repeatable = true,
     .help = "A role to have; may be repeated"},
    {.name = "permission",
     .kind = PAWL_CLI_TEXT,
     .arg = "TEXT",
     .repeatable = true,
     .help = "A permission of its own, or *; may be repeated"},
    {.name = "days",
     .kind = PAWL_CLI_NUMBER,
     .arg = "DAYS",
     .help = "How long it is good (default: for ever)",
     .min = 1,
     .max = 36500},
    {.name = NULL},
};

static const struct pawl_cli_command key_add = {
    .name = "add",
    .summary = "Make an API key and print it, once: the store has only its hash",
    .operands = "NAME",
    .options = key_add_options,
    .run = run_key_add,
};

static int remove_key(struct pawl_cli_session *session, struct pawl_error *err)
{
    const struct pawl_op op = pawl__cli_session_op(session, err);

    return pawl__op_application_delete(&op, operand(session->cli, 0)) == PAWL_OK
               ? PAWL_CLI_EXIT_OK
               : failed(session, err);
}

static int run_key_rm(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, remove_key);
}

static const struct pawl_cli_command key_rm = {
    .name = "rm",
    .summary = "Delete an API key",
    .operands = "NAME",
    .run = run_key_rm,
};

static int rotate_key(struct pawl_cli_session *session, struct pawl_error *err)
{
    const struct pawl_op op = pawl__cli_session_op(session, err);
    bool at_once = pawl__cli_flag(&session->cli->args, "now");

    return pawl__op_signing_key_rotate(&op, at_once) == PAWL_OK ? PAWL_CLI_EXIT_OK
                                                                : failed(session, err);
}

static int run_key_rotate(struct pawl_cli *cli)
{
    return pawl__cli_in_session(cli, rotate_key);
}

static const struct pawl_cli_option key_rotate_options[] = {
    {.name = "now",
     .kind = PAWL_CLI_FLAG,
     .help = "Refuse all tokens that were issued so far: everybody signs in again"},
    {.name = NULL},
};

static const struct pawl_cli_command key_rotate = {
    .name = "rotate",
    .summary = "Sign tokens with a new key; servers do so by themselves every 30 days",
    .options = key_rotate_options,
    .run = run_key_rotate,
};

static const struct pawl_cli_command *const key_commands[] = {&key_add, &key_rm, &key_rotate, NULL};

const struct pawl_cli_command pawl__cli_keys = {
    .name = "keys",
    .summary = "List API keys of the server, and make and delete them",
    .help =
        "A program sends its key with each request: 'Authorization: ApiKey KEY'. It may do what\n"
        "its roles and its own permissions permit. 'pawl serve' makes the first one.\n",
    .options = list_options,
    .commands = key_commands,
    .run = run_keys,
};
