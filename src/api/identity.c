/* SPDX-License-Identifier: Apache-2.0 */
/* Users, roles and applications over HTTP, as Elsa has them. */
#include "views/identity.h"
#include "api/private.h"
#include "base/hash/sha256.h"

#include <stdio.h>

/* Nobody can give away, or take away, more than they have. */
static const struct pawl_texts *grantor_of(const struct api_call *call)
{
    return &call->caller->permissions;
}

/* ---- roles ---------------------------------------------------------------------------------- */

/* What Elsa sends for a role that is not there, on some of its routes. */
static void respond_no_role(struct api_call *call)
{
    pawl__buf_text(pawl__exchange_out(call->exchange),
                   "{\"error\":\"not_found\",\"message\":\"The role was not found.\","
                   "\"details\":null}");
    pawl__exchange_add_field(call->exchange, "Content-Type", "application/json; charset=utf-8");
    pawl__exchange_respond(call->exchange, 404);
}

void pawl__api_roles_list(struct pawl_exchange *exchange, void *ctx)
{
    struct api_call call;
    struct pawl_role_list list;
    int status;

    api_begin(&call, exchange, ctx);
    status = pawl__op_roles_list(&call.op, &list);
    if (status == PAWL_OK) {
        struct pawl_builder b = {.arena = &call.arena};
        struct pawl_json out = pawl__json_object(), roles = pawl__json_array();

        for (size_t i = 0; i < list.count; i++)
            pawl__build_append(&b, &roles, pawl__view_role(&b, &list.roles[i]));
        pawl__build(&b, &out, "roles", roles);
        api_respond(&call, &b, &out);
    } else {
        api_fail(&call, status);
    }
    api_end(&call);
}

static bool read_role(struct api_call *call, struct pawl_role_request *out)
{
    struct pawl_json body;

    *out = (struct pawl_role_request){.grantor = grantor_of(call)};
    return api_body(call, false, &body) && api_text(call, &body, "id", &out->id) &&
           api_text(call, &body, "name", &out->name) &&
           api_texts(call, &body, "permissions", &out->permissions);
}

static void respond_role(struct api_call *call, int status, const struct pawl_role *role)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out;

    if (status == PAWL_OK) {
        pawl__guard_refresh(call->api);
        out = pawl__view_role(&b, role);
        api_respond(call, &b, &out);
    } else {
        api_fail(call, status);
    }
}

void pawl__api_role_create(struct pawl_exchange *exchange, void *ctx)
{
    struct api_call call;
    struct pawl_role_request request;
    struct pawl_role role;

    api_begin(&call, exchange, ctx);
    if (read_role(&call, &request)) {
        int status = pawl__op_role_create(&call.op, &request, &role);

        respond_role(&call, status, &role);
    }
    api_end(&call);
}

void pawl__api_role_update(struct pawl_exchange *exchange, void *ctx)
{
    struct api_call call;
    struct pawl_role_request request;
    struct pawl_role role;

    api_begin(&call, exchange, ctx);
    if (read_role(&call, &request)) {
        int status;

        request.id = pawl__exchange_parameter(exchange, "id");
        status = pawl__op_role_update(&call.op, &request, &role);
        respond_role(&call, status, &role);
    }
    api_end(&call);
}

void pawl__api_role_delete(struct pawl_exchange *exchange, void *ctx)
{
    struct api_call call;
    int status;

    api_begin(&call, exchange, ctx);
    status =
        pawl__op_role_delete(&call.op, pawl__exchange_parameter(exchange, "id"), grantor_of(&call));
    if (status == PAWL_OK) {
        pawl__guard_refresh(call.api);
        api_respond_status(&call, 204);
    } else if (status == PAWL_ENOTFOUND) {
        respond_no_role(&call);
    } else {
        api_fail(&call, status);
    }
    api_end(&call);
}

/* Deleting a role only takes it from those who have it: nothing stands in its way. */
void pawl__api_role_impact(struct pawl_exchange *exchange, void *ctx)
{
    struct api_call call;
    struct pawl_role role;
    int status;

    api_begin(&call, exchange, ctx);
    status = pawl__op_role_show(&call.op, pawl__exchange_parameter(exchange, "id"), &role);
    if (status == PAWL_OK) {
        struct pawl_buf *out = pawl__exchange_out(exchange);
        struct pawl_json_writer json;
        char hash[PAWL_SHA256_TEXT_SIZE], version[PAWL_SHA256_TEXT_SIZE + 32];
        static const char *const empty[] = {"configurationReferences", "editableReferences",
                                            "warnings"};

        pawl__sha256_text(role.id, PAWL_HEX_LOWER, hash);
        (void)snprintf(version, sizeof version, "role-dependencies-%s", hash);
        pawl__json_writer_init(&json, out, PAWL_JSON_ESCAPE_HTML, 0);
        pawl__json_write_begin_object(&json);
        pawl__json_write_key_text(&json, "roleId");
        pawl__json_write_string(&json, role.id);
        pawl__json_write_key_text(&json, "dependencyVersion");
        pawl__json_write_string_text(&json, version);
        pawl__json_write_key_text(&json, "executionMode");
        pawl__json_write_string_text(&json, "atomic");
        pawl__json_write_key_text(&json, "canDelete");
        pawl__json_write_bool(&json, true);
        pawl__json_write_key_text(&json, "canRemediate");
        pawl__json_write_bool(&json, false);
        for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
            pawl__json_write_key_text(&json, empty[i]);
            pawl__json_write_begin_array(&json);
            pawl__json_write_end_array(&json);
        }
        pawl__json_write_end_object(&json);
        pawl__exchange_add_field(exchange, "Content-Type", "application/json; charset=utf-8");
        pawl__exchange_respond(exchange, 200);
    } else if (status == PAWL_ENOTFOUND) {
        respond_no_role(&call);
    } else {
        api_fail(&call, status);
    }
    api_end(&call);
}

/* ---- users ---------------------------------------------------------------------------------- */

void pawl__api_users_list(struct pawl_exchange *exchange, void *ctx)
{
    const struct pawl_page_request page = {.limit = PAWL_PAGE_ROWS_MAX};
    struct api_call call;
    struct pawl_user_list list;
    int status;

    api_begin(&call, exchange, ctx);
    status = pawl__op_users_list(&call.op, &page, &list);
    if (status == PAWL_OK) {
        struct pawl_builder b = {.arena = &call.arena};
        struct pawl_json out = pawl__json_object(), users = pawl__json_array();

        for (size_t i = 0; i < list.count; i++)
            pawl__build_append(&b, &users, pawl__view_user(&b, &list.users[i]));
        pawl__build(&b, &out, "users", users);
        api_respond(&call, &b, &out);
    } else {
        api_fail(&call, status);
    }
    api_end(&call);
}

static bool read_user(struct api_call *call, struct pawl_user_request *out)
{
    struct pawl_json body;

    *out = (struct pawl_user_request){.grantor = grantor_of(call)};
    return api_body(call, false, &body) && api_text(call, &body, "name", &out->name) &&
           api_text(call, &body, "password", &out->password) &&
           api_texts(call, &body, "roles", &out->roles);
}

static void create_user(struct pawl_exchange *exchange, void *ctx)
{
    struct api_call call;
    struct pawl_user_request request;
    char password[PAWL_PASSWORD_TEXT_SIZE];
    struct pawl_user user;
    int status = PAWL_OK;

    api_begin(&call, exchange, ctx);
    if (!read_user(&call, &request)) {
        api_end(&call);
        return;
    }
    request.password = pawl__str_trim(request.password);
    if (request.password.len == 0) {
        status = pawl__op_password_make(&call.op, password);
        request.password = pawl__str(password);
    }
    if (status == PAWL_OK)
        status = pawl__op_user_create(&call.op, &request, &user);
    if (status == PAWL_OK) {
        struct pawl_builder b = {.arena = &call.arena};
        struct pawl_json out = pawl__view_new_user(&b, &user, request.password);

        pawl__guard_refresh(call.api);
        api_respond(&call, &b, &out);
    } else {
        api_fail(&call, status);
    }
    api_end(&call);
}

void pawl__api_user_create(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_api *api = ctx;

    pawl__lane_add(api->lane, exchange, create_user);
}

void pawl__api_user_update(struct pawl_exchange *exchange, void *ctx)
{
    struct api_call call;
    struct pawl_user_request request;
    struct pawl_user user;
    int status;

    api_begin(&call, exchange, ctx);
    if (!read_user(&call, &request)) {
        api_end(&call);
        return;
    }
    request.id = pawl__exchange_parameter(exchange, "id");
    status = pawl__op_user_update(&call.op, &request, &user);
    if (status == PAWL_OK) {
        struct pawl_builder b = {.arena = &call.arena};
        struct pawl_json out = pawl__view_user(&b, &user);

        pawl__guard_refresh(call.api);
        api_respond(&call, &b, &out);
    } else {
        api_fail(&call, status);
    }
    api_end(&call);
}

void pawl__api_user_delete(struct pawl_exchange *exchange, void *ctx)
{
    struct api_call call;
    int status;

    api_begin(&call, exchange, ctx);
    status =
        pawl__op_user_delete(&call.op, pawl__exchange_parameter(exchange, "id"), grantor_of(&call));
    if (status == PAWL_OK) {
        pawl__guard_refresh(call.api);
        api_respond_status(&call, 204);
    } else {
        api_fail(&call, status);
    }
    api_end(&call);
}

/* ---- applications ---------------------------------------------------------------------------- */

void pawl__api_application_create(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_application_request request;
    struct pawl_application_secrets secrets;
    struct pawl_application application;
    struct pawl_json body;
    struct api_call call;
    int status;

    api_begin(&call, exchange, ctx);
    request = (struct pawl_application_request){.grantor = grantor_of(&call)};
    if (!api_body(&call, false, &body) || !api_text(&call, &body, "name", &request.name) ||
        !api_texts(&call, &body, "roles", &request.roles)) {
        api_end(&call);
        return;
    }
    status = pawl__op_application_create(&call.op, &request, &application, &secrets);
    if (status == PAWL_OK) {
        struct pawl_builder b = {.arena = &call.arena};
        struct pawl_json out = pawl__view_new_application(&b, &application, &secrets);

        pawl__guard_refresh(call.api);
        api_respond(&call, &b, &out);
    } else {
        api_fail(&call, status);
    }
    api_end(&call);
}

/* ---- hashes --------------------------------------------------------------------------------- */

static void hash_secret(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_str secret, hash, salt;
    struct pawl_json body;
    struct api_call call;
    int status;

    api_begin(&call, exchange, ctx);
    if (!api_body(&call, false, &body) || !api_text(&call, &body, "secret", &secret)) {
        api_end(&call);
        return;
    }
    if (secret.len == 0) {
        api_refuse(&call, 400, "secret", "'secret' must not be empty.");
        api_end(&call);
        return;
    }
    status = pawl__op_secret_hash(&call.op, secret, &hash, &salt);
    if (status == PAWL_OK) {
        struct pawl_builder b = {.arena = &call.arena};
        struct pawl_json out = pawl__json_object();

        pawl__view_text(&b, &out, "hashedSecret", hash);
        pawl__view_text(&b, &out, "salt", salt);
        api_respond(&call, &b, &out);
    } else {
        api_fail(&call, status);
    }
    api_end(&call);
}

/* As many as one may try to sign in: both need the same two threads. */
static const struct pawl_limit hash_limit = {20, 3 * NS_PER_S};

void pawl__api_secret_hash(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_api *api = ctx;
    struct pawl_str id = api_request_of(exchange)->bearer->id;
    char key[80], text[24];
    int64_t wait_s;

    (void)snprintf(key, sizeof key, "h%.*s", PAWL_STR_ARG(id));
    wait_s = pawl__limiter_use(api->logins, pawl__str(key), &hash_limit,
                               pawl_env_monotonic_ns(api->env));
    if (wait_s == 0) {
        pawl__lane_add(api->lane, exchange, hash_secret);
        return;
    }
    (void)snprintf(text, sizeof text, "%lld", (long long)wait_s);
    pawl__exchange_add_field(exchange, "Retry-After", text);
    pawl__exchange_refuse(exchange, 429, "Too many hashes for one caller; see Retry-After.");
}
