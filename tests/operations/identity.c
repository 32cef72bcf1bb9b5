/* SPDX-License-Identifier: Apache-2.0 */
/* Users, roles, applications and tokens: what is stored, who may give what, and what a directory
 * says of it. */
#include "operations/identity.h"

#include "base/error.h"
#include "operations/audit.h"
#include "operations/desk.h"
#include "operations/directory.h"

static const struct pawl_str everything[] = {PAWL_STR_LIT("*")};
static const struct pawl_str reading[] = {PAWL_STR_LIT("read:things"), PAWL_STR_LIT("read:user")};
static const struct pawl_str reader[] = {PAWL_STR_LIT("reader")};

static struct pawl_role make_role(struct desk *desk)
{
    const struct pawl_role_request request = {
        .id = pawl__str("reader"), .name = pawl__str("Reader"), .permissions = {reading, 2}};
    struct pawl_role role;

    assert_ok(pawl__op_role_create(&desk->op, &request, &role), &desk->err);
    return role;
}

static struct pawl_user make_user(struct desk *desk, const char *name)
{
    const struct pawl_user_request request = {
        .name = pawl__str(name), .password = pawl__str("secret"), .roles = {reader, 1}};
    struct pawl_user user;

    assert_ok(pawl__op_user_create(&desk->op, &request, &user), &desk->err);
    return user;
}

static struct pawl_directory *directory_of(struct desk *desk)
{
    struct pawl_directory *directory;

    assert_ok(pawl__op_directory_read(&desk->op, pawl__str(""), &directory), &desk->err);
    return directory;
}

static struct pawl_str issue(struct desk *desk, enum pawl_token_use use,
                             const struct pawl_bearer *bearer)
{
    struct pawl_str token;

    assert_ok(pawl__op_token_issue(
                  &desk->op, &(struct pawl_token_request){.use = use, .bearer = bearer}, &token),
              &desk->err);
    return token;
}

static enum pawl_credential check(struct desk *desk, const struct pawl_directory *directory,
                                  struct pawl_str token, enum pawl_token_use use, int64_t later_s,
                                  const struct pawl_bearer **out)
{
    struct pawl_token_times times;

    return pawl__directory_check_token(directory, token, use, pawl__str_make(NULL, 0),
                                       pawl_env_wall_ns(desk->env) / 1000 + later_s * 1000000, out,
                                       &times);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_user_signs_in_and_has_the_permissions_of_its_roles(struct desk *desk)
{
    struct pawl_bearer bearer;
    struct pawl_user user;

    (void)make_role(desk);
    user = make_user(desk, "ann");
    assert_ok(pawl__op_login(&desk->op, pawl__str(" ann "), pawl__str("secret"), &bearer),
              &desk->err);
    assert_true(pawl__str_equal(bearer.id, user.id));
    assert_true(pawl__permissions_allow(&bearer.permissions, "x read:things"));
    assert_false(pawl__permissions_allow(&bearer.permissions, "read:*"));
    assert_true(pawl__permissions_allow(&bearer.permissions, ""));
    assert_code(pawl__op_login(&desk->op, pawl__str("ann"), pawl__str("Secret"), &bearer),
                PAWL_ENOTFOUND);
    assert_code(pawl__op_login(&desk->op, pawl__str("Ann"), pawl__str("secret"), &bearer),
                PAWL_ENOTFOUND);
    assert_code(pawl__op_login(&desk->op, pawl__str(""), pawl__str(""), &bearer), PAWL_ENOTFOUND);
}

static void names_are_unique(struct desk *desk)
{
    const struct pawl_user_request again = {.name = pawl__str("ann"), .password = pawl__str("x")};
    const struct pawl_role_request role = {.id = pawl__str("reader"), .name = pawl__str("x")};
    struct pawl_user user;
    struct pawl_role made;

    (void)make_role(desk);
    (void)make_user(desk, "ann");
    assert_code(pawl__op_user_create(&desk->op, &again, &user), PAWL_EEXISTS);
    assert_code(pawl__op_role_create(&desk->op, &role, &made), PAWL_EEXISTS);
}

static void nobody_gives_what_they_do_not_have(struct desk *desk)
{
    const struct pawl_texts little = {reading, 1};
    struct pawl_role_request role = {
        .name = pawl__str("Root"), .permissions = {everything, 1}, .grantor = &little};
    struct pawl_user_request request = {.name = pawl__str("eve"),
                                        .password = pawl__str("x"),
                                        .roles = {reader, 1},
                                        .grantor = &little};
    struct pawl_application_request application = {
        .name = pawl__str("app"), .permissions = {everything, 1}, .grantor = &little};
    struct pawl_application_secrets secrets;
    struct pawl_application made;
    struct pawl_role created;
    struct pawl_user user;

    (void)make_role(desk);
    assert_code(pawl__op_role_create(&desk->op, &role, &created), PAWL_EPERM);
    assert_code(pawl__op_user_create(&desk->op, &request, &user), PAWL_EPERM);
    assert_code(pawl__op_application_create(&desk->op, &application, &made, &secrets), PAWL_EPERM);
    application.permissions = (struct pawl_texts){reading, 1};
    assert_ok(pawl__op_application_create(&desk->op, &application, &made, &secrets), &desk->err);
    role.id = pawl__str("reader");
    role.permissions = (struct pawl_texts){reading, 1};
    assert_code(pawl__op_role_update(&desk->op, &role, &created), PAWL_EPERM); /* takes one away */
}

static void a_directory_knows_keys_and_tokens_until_they_are_void(struct desk *desk)
{
    const struct pawl_application_request request = {.name = pawl__str("app"),
                                                     .roles = {reader, 1}};
    struct pawl_application_secrets secrets;
    struct pawl_application application;
    const struct pawl_bearer *found = NULL;
    struct pawl_directory *directory, *after;
    struct pawl_bearer bearer;
    struct pawl_str token;
    bool stale = true;

    (void)make_role(desk);
    (void)make_user(desk, "ann");
    assert_ok(pawl__op_application_create(&desk->op, &request, &application, &secrets), &desk->err);
    assert_ok(pawl__op_login(&desk->op, pawl__str("ann"), pawl__str("secret"), &bearer),
              &desk->err);
    token = issue(desk, PAWL_TOKEN_ACCESS, &bearer);
    directory = directory_of(desk);
    assert_int_equal(pawl__directory_check_key(directory, secrets.api_key, 1, &found),
                     PAWL_CREDENTIAL_RIGHT);
    assert_true(pawl__permissions_have(&found->permissions, pawl__str("read:things")));
    assert_int_equal(pawl__directory_check_key(directory, pawl__str("nope"), 1, &found),
                     PAWL_CREDENTIAL_WRONG);
    assert_int_equal(check(desk, directory, token, PAWL_TOKEN_ACCESS, 0, &found),
                     PAWL_CREDENTIAL_RIGHT);
    assert_str(found->name, "ann");
    assert_int_equal(check(desk, directory, token, PAWL_TOKEN_ACCESS, 3700, &found),
                     PAWL_CREDENTIAL_EXPIRED);
    assert_int_equal(check(desk, directory, token, PAWL_TOKEN_SESSION, 0, &found),
                     PAWL_CREDENTIAL_WRONG);
    assert_ok(pawl__op_directory_is_stale(&desk->op, directory, &stale), &desk->err);
    assert_false(stale);
    assert_ok(pawl__op_user_set_password(&desk->op, bearer.id, pawl__str("other")), &desk->err);
    assert_ok(pawl__op_application_delete(&desk->op, pawl__str("app")), &desk->err);
    assert_ok(pawl__op_directory_is_stale(&desk->op, directory, &stale), &desk->err);
    assert_true(stale);
    after = directory_of(desk);
    assert_int_equal(check(desk, after, token, PAWL_TOKEN_ACCESS, 0, &found),
                     PAWL_CREDENTIAL_WRONG);
    assert_int_equal(pawl__directory_check_key(after, secrets.api_key, 1, &found),
                     PAWL_CREDENTIAL_WRONG);
    pawl__directory_free(directory);
    pawl__directory_free(after);
}

/* Two directories stand for two nodes: nothing but the store is between them. */
static void a_token_for_a_socket_is_good_on_any_node(struct desk *desk)
{
    const struct pawl_bearer *found = NULL;
    struct pawl_directory *one, *other;
    struct pawl_bearer bearer;
    struct pawl_str token;

    (void)make_role(desk);
    assert_ok(pawl__op_signing_key_keep(&desk->op), &desk->err);
    assert_ok(pawl__op_bearer(&desk->op, make_user(desk, "ann").id, &bearer), &desk->err);
    one = directory_of(desk);
    other = directory_of(desk);
    token = issue(desk, PAWL_TOKEN_SOCKET, &bearer);
    assert_int_equal(check(desk, one, token, PAWL_TOKEN_SOCKET, 0, &found), PAWL_CREDENTIAL_RIGHT);
    assert_int_equal(check(desk, other, token, PAWL_TOKEN_SOCKET, 0, &found),
                     PAWL_CREDENTIAL_RIGHT);
    assert_int_equal(check(desk, other, token, PAWL_TOKEN_ACCESS, 0, &found),
                     PAWL_CREDENTIAL_WRONG);
    assert_int_equal(check(desk, other, token, PAWL_TOKEN_SOCKET, 61, &found),
                     PAWL_CREDENTIAL_EXPIRED);
    pawl__directory_free(one);
    pawl__directory_free(other);
}

static void keys_that_sign_are_kept_until_their_tokens_have_expired(struct desk *desk)
{
    const struct pawl_bearer *found = NULL;
    struct pawl_directory *directory;
    struct pawl_bearer bearer;
    struct pawl_str token;

    (void)make_role(desk);
    assert_ok(pawl__op_bearer(&desk->op, make_user(desk, "ann").id, &bearer), &desk->err);
    token = issue(desk, PAWL_TOKEN_ACCESS, &bearer);
    assert_ok(pawl__op_signing_key_rotate(&desk->op, false), &desk->err);
    directory = directory_of(desk);
    assert_int_equal(check(desk, directory, token, PAWL_TOKEN_ACCESS, 0, &found),
                     PAWL_CREDENTIAL_RIGHT);
    /* What is issued now is known to a node that has not read the new key yet. */
    assert_ok(pawl__op_signing_key_rotate(&desk->op, false), &desk->err);
    token = issue(desk, PAWL_TOKEN_ACCESS, &bearer);
    assert_int_equal(check(desk, directory, token, PAWL_TOKEN_ACCESS, 0, &found),
                     PAWL_CREDENTIAL_RIGHT);
    pawl__directory_free(directory);
    assert_ok(pawl__op_signing_key_rotate(&desk->op, true), &desk->err);
    directory = directory_of(desk);
    assert_int_equal(check(desk, directory, token, PAWL_TOKEN_ACCESS, 0, &found),
                     PAWL_CREDENTIAL_FOREIGN);
    pawl__directory_free(directory);
}

static void a_ticket_is_used_once(struct desk *desk)
{
    struct pawl_bearer bearer;
    struct pawl_str secret;

    (void)make_role(desk);
    (void)make_user(desk, "ann");
    assert_ok(pawl__op_ticket_make(&desk->op, pawl__str("ann"), &secret), &desk->err);
    assert_ok(pawl__op_ticket_use(&desk->op, secret, &bearer), &desk->err);
    assert_str(bearer.name, "ann");
    assert_code(pawl__op_ticket_use(&desk->op, secret, &bearer), PAWL_ENOTFOUND);
    assert_code(pawl__op_ticket_use(&desk->op, pawl__str("nope"), &bearer), PAWL_ENOTFOUND);
    assert_code(pawl__op_ticket_make(&desk->op, pawl__str("nobody"), &secret), PAWL_ENOTFOUND);
}

static void only_the_first_start_makes_a_key(struct desk *desk)
{
    struct pawl_application_secrets secrets;
    const struct pawl_bearer *found = NULL;
    struct pawl_directory *directory;
    bool made = false;

    assert_ok(pawl__op_identity_begin(&desk->op, &made, &secrets), &desk->err);
    assert_true(made);
    directory = directory_of(desk);
    assert_int_equal(pawl__directory_check_key(directory, secrets.api_key, 1, &found),
                     PAWL_CREDENTIAL_RIGHT);
    assert_true(pawl__permissions_allow(&found->permissions, "anything"));
    pawl__directory_free(directory);
    assert_ok(pawl__op_identity_begin(&desk->op, &made, &secrets), &desk->err);
    assert_false(made);
}

/* The commit took effect and its answer was lost: the record tells. */
static void a_change_whose_answer_was_lost_is_found_by_its_record(struct desk *desk)
{
    struct pawl_role role;

    atomic_store(&desk->lost_applies, 1);
    role = make_role(desk);
    assert_int_equal(atomic_load(&desk->lost_applies), 0);
    assert_ok(pawl__op_role_show(&desk->op, pawl__str("reader"), &role), &desk->err);
    atomic_store(&desk->is_dropped, true);
    atomic_store(&desk->lost_applies, 1);
    assert_code(pawl__op_role_delete(&desk->op, pawl__str("reader"), NULL), PAWL_EUNKNOWN);
    assert_ok(pawl__op_role_show(&desk->op, pawl__str("reader"), &role), &desk->err);
}

static void changes_are_recorded(struct desk *desk)
{
    struct pawl_audit_list list;
    struct pawl_audit_row record;
    struct pawl_user user;

    (void)make_role(desk);
    user = make_user(desk, "ann");
    assert_ok(pawl__op_user_delete(&desk->op, user.id, NULL), &desk->err);
    assert_ok(pawl__op_audit_list(
                  &desk->op,
                  &(struct pawl_audit_query){.target = user.id, .kind = pawl__str("user")}, &list),
              &desk->err);
    assert_int_equal(list.count, 2);
    assert_str(list.rows[0].action, "delete");
    assert_str(list.rows[1].action, "create");
    assert_ok(pawl__op_audit_show(&desk->op, list.rows[1].id, &record), &desk->err);
    assert_str(record.data, "{\"name\":\"ann\",\"roles\":[\"reader\"]}");
}

const struct desk_test identity_tests[] = {
    DESK_TEST(a_user_signs_in_and_has_the_permissions_of_its_roles),
    DESK_TEST(names_are_unique),
    DESK_TEST(nobody_gives_what_they_do_not_have),
    DESK_TEST(a_directory_knows_keys_and_tokens_until_they_are_void),
    DESK_TEST(a_token_for_a_socket_is_good_on_any_node),
    DESK_TEST(keys_that_sign_are_kept_until_their_tokens_have_expired),
    DESK_TEST(a_ticket_is_used_once),
    DESK_TEST(only_the_first_start_makes_a_key),
    DESK_TEST(a_change_whose_answer_was_lost_is_found_by_its_record),
    DESK_TEST(changes_are_recorded),
    {.name = NULL},
};
