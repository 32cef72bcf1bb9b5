/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signing in: by name and password for tokens, as in Elsa; by a link that works once for a session
 * of pages, which is a token in a cookie that scripts cannot read. Requests of a session that
 * change something repeat the secret of a second cookie in a field, which only pages of this origin
 * can.
 */
#include "api/credential.h"
#include "api/private.h"
#include "base/hex.h"
#include "http/client.h"
#include "operations/metrics.h"
#include "views/view.h"

#include <stdio.h>

/* Tries of a name, from wherever; tries from an address, with whatever name. A success counts not.
 */
static const struct pawl_limit name_limit = {20, 3 * NS_PER_S};
static const struct pawl_limit address_limit = {30, 2 * NS_PER_S};

/* ---- limits --------------------------------------------------------------------------------- */

struct tried {
    char name[256], address[20];
    size_t name_len, address_len;
};

static void note_try(struct tried *tried, const struct pawl_exchange *exchange,
                     struct pawl_str name)
{
    struct pawl_client client;
    struct pawl_str address = api_client_address(exchange, &client);

    name = pawl__str_slice(pawl__str_trim(name), 0, sizeof tried->name - 2);
    tried->name_len =
        (size_t)snprintf(tried->name, sizeof tried->name, "n%.*s", PAWL_STR_ARG(name));
    tried->address[0] = 'a';
    memcpy(tried->address + 1, address.ptr, address.len);
    tried->address_len = 1 + address.len;
}

static struct pawl_str name_of(const struct tried *tried)
{
    return pawl__str_make(tried->name, tried->name_len);
}

static struct pawl_str address_of(const struct tried *tried)
{
    return pawl__str_make(tried->address, tried->address_len);
}

/* 0, or the seconds to wait. */
static int64_t use_try(struct pawl_api *api, const struct tried *tried)
{
    int64_t now_ns = pawl_env_monotonic_ns(api->env);
    int64_t wait_s = pawl__limiter_use(api->logins, address_of(tried), &address_limit, now_ns);

    if (wait_s > 0)
        return wait_s;
    wait_s = pawl__limiter_use(api->logins, name_of(tried), &name_limit, now_ns);
    if (wait_s > 0)
        pawl__limiter_return(api->logins, address_of(tried), &address_limit);
    return wait_s;
}

static void return_try(struct pawl_api *api, const struct tried *tried)
{
    pawl__limiter_return(api->logins, address_of(tried), &address_limit);
    pawl__limiter_return(api->logins, name_of(tried), &name_limit);
}

static void refuse_try(struct pawl_exchange *exchange, int64_t wait_s)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%lld", (long long)wait_s);
    pawl__exchange_add_field(exchange, "Retry-After", text);
    pawl__exchange_refuse(exchange, 429, "Too many tries to sign in; see Retry-After.");
}

/* ---- tokens --------------------------------------------------------------------------------- */

/* bearer NULL: nobody. */
static void respond_tokens(struct api_call *call, const struct pawl_bearer *bearer)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object();
    struct pawl_token_request request = {.use = PAWL_TOKEN_ACCESS, .bearer = bearer};
    struct pawl_str access = pawl__str(""), refresh = pawl__str("");
    int status = PAWL_OK;

    if (bearer)
        status = pawl__op_token_issue(&call->op, &request, &access);
    request.use = PAWL_TOKEN_REFRESH;
    if (bearer && status == PAWL_OK)
        status = pawl__op_token_issue(&call->op, &request, &refresh);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return;
    }
    pawl__build_bool(&b, &out, "isAuthenticated", bearer != NULL);
    pawl__view_optional(&b, &out, "accessToken", access);
    pawl__view_optional(&b, &out, "refreshToken", refresh);
    api_respond(call, &b, &out);
}

static bool read_login(struct api_call *call, struct pawl_str *name, struct pawl_str *password)
{
    struct api_fault faults[2];
    size_t count = 0;
    struct pawl_json body;

    if (!api_body(call, false, &body) || !api_text(call, &body, "username", name) ||
        !api_text(call, &body, "password", password))
        return false;
    if (pawl__json_type(api_member(&body, "username")) == PAWL_JSON_NULL)
        faults[count++] = (struct api_fault){"username", "'username' must not be empty."};
    if (pawl__json_type(api_member(&body, "password")) == PAWL_JSON_NULL)
        faults[count++] = (struct api_fault){"password", "'password' must not be empty."};
    if (count > 0)
        api_refuse_all(call, 400, faults, count);
    return count == 0;
}

static void login(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_str name, password;
    struct pawl_bearer bearer;
    struct api_call call;
    struct tried tried;
    int status;

    api_begin(&call, exchange, ctx);
    if (!read_login(&call, &name, &password)) {
        api_end(&call);
        return;
    }
    note_try(&tried, exchange, name);
    (void)snprintf(call.actor, sizeof call.actor, "user:%.*s",
                   (int)(name.len < 200 ? name.len : 200), name.ptr);
    call.op.actor = pawl__str(call.actor);
    status = pawl__op_login(&call.op, name, password, &bearer);
    if (status != PAWL_ENOTFOUND)
        return_try(call.api, &tried);
    pawl__op_count_login(call.api->host, status == PAWL_OK          ? "ok"
                                         : status == PAWL_ENOTFOUND ? "refused"
                                                                    : "error");
    if (status == PAWL_OK || status == PAWL_ENOTFOUND)
        respond_tokens(&call, status == PAWL_OK ? &bearer : NULL);
    else
        api_fail(&call, status);
    api_end(&call);
}

/* What is wrong, and who tries too often, does not get into the lane. */
void pawl__api_login(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_str name, password;
    struct pawl_api *api = ctx;
    struct api_call call;
    struct tried tried;
    int64_t wait_s = 0;
    bool right;

    api_begin(&call, exchange, ctx);
    right = read_login(&call, &name, &password);
    if (right) {
        note_try(&tried, exchange, name);
        wait_s = use_try(api, &tried);
    }
    api_end(&call);
    if (right && wait_s > 0) {
        pawl__op_count_login(api->host, "limited");
        refuse_try(exchange, wait_s);
    } else if (right) {
        pawl__lane_add(api->lane, exchange, login);
    }
}

/* The caller is who the refresh token says; the roles are today's. */
void pawl__api_refresh_token(struct pawl_exchange *exchange, void *ctx)
{
    struct api_call call;
    struct pawl_bearer bearer;
    int status;

    api_begin(&call, exchange, ctx);
    status = pawl__op_bearer(&call.op, call.caller->id, &bearer);
    if (status == PAWL_OK)
        respond_tokens(&call, &bearer);
    else
        api_fail(&call, status);
    api_end(&call);
}

void pawl__api_socket_token(struct pawl_exchange *exchange, void *ctx)
{
    struct api_call call;
    struct pawl_str token;
    int status;

    api_begin(&call, exchange, ctx);
    status = pawl__op_token_issue(
        &call.op, &(struct pawl_token_request){.use = PAWL_TOKEN_SOCKET, .bearer = call.caller},
        &token);
    if (status == PAWL_OK) {
        struct pawl_builder b = {.arena = &call.arena};
        struct pawl_json out = pawl__json_object();

        pawl__view_text(&b, &out, "token", token);
        api_respond(&call, &b, &out);
    } else {
        api_fail(&call, status);
    }
    api_end(&call);
}

/* ---- sessions of pages ----------------------------------------------------------------------- */

/* Only one whose permissions include those of the user can make a link in the user's name. */
void pawl__api_sign_in_link(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_str id, secret;
    struct pawl_bearer bearer;
    struct pawl_json body;
    struct api_call call;
    int status;

    api_begin(&call, exchange, ctx);
    if (!api_body(&call, false, &body) || !api_text(&call, &body, "userId", &id)) {
        api_end(&call);
        return;
    }
    status = pawl__op_bearer(&call.op, id, &bearer);
    for (size_t i = 0; status == PAWL_OK && i < bearer.permissions.count; i++)
        if (!pawl__permissions_have(&call.caller->permissions, bearer.permissions.texts[i]))
            status = PAWL_EPERM;
    if (status == PAWL_OK)
        status = pawl__op_ticket_make(&call.op, bearer.id, &secret);
    if (status == PAWL_OK) {
        struct pawl_builder b = {.arena = &call.arena};
        struct pawl_json out = pawl__json_object();

        pawl__view_text(
            &b, &out, "path",
            pawl__str(pawl__arena_printf(&call.arena, "/sign-in?t=%.*s", PAWL_STR_ARG(secret))));
        api_respond(&call, &b, &out);
    } else {
        api_fail(&call, status);
    }
    api_end(&call);
}

static bool is_digits(struct pawl_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (pawl__hex_value(text.ptr[i]) < 0)
            return false;
    return text.len > 0 && text.len < 200;
}

/* The link itself changes nothing, because mail programs follow links: the button does. */
void pawl__api_sign_in_page(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_str secret = pawl__query_find(pawl__exchange_query(exchange), "t");
    struct pawl_buf *out = pawl__exchange_out(exchange);

    (void)ctx;
    if (!is_digits(secret)) {
        pawl__exchange_refuse(exchange, 400, "This is not a valid sign-in link.");
        return;
    }
    pawl__buf_printf(out,
                     "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Pawl</title>"
                     "<meta name=\"referrer\" content=\"same-origin\">"
                     "<form method=\"post\" action=\"/sign-in\"><input type=\"hidden\" name=\"t\" "
                     "value=\"%.*s\"><button>Sign in</button></form></html>",
                     PAWL_STR_ARG(secret));
    pawl__exchange_add_field(exchange, "Content-Type", "text/html; charset=utf-8");
    pawl__exchange_add_field(exchange, "Cache-Control", "no-store");
    pawl__exchange_add_field(exchange, "Content-Security-Policy",
                             "default-src 'none'; form-action 'self'; frame-ancestors 'none'");
    pawl__exchange_respond(exchange, 200);
}

/* Whether it is the origin of server.public_url, or what a proxy that is trusted says. A path
 * behind the host is not of the origin. */
static bool is_public_origin(struct pawl_exchange *exchange, struct pawl_str origin)
{
    struct pawl_buf url;
    struct pawl_str text;
    bool same;

    pawl__buf_init(&url, pawl__exchange_arena(exchange)->alloc, 4096);
    pawl__exchange_base_url(exchange, &url);
    text = pawl__buf_peek(&url);
    same = url.status == PAWL_OK && pawl__str_find(origin, '/', 8) == SIZE_MAX &&
           text.len >= origin.len && (text.len == origin.len || text.ptr[origin.len] == '/') &&
           pawl__str_equal_nocase(pawl__str_slice(text, 0, origin.len), origin);
    pawl__buf_release(&url);
    return same;
}

/* A browser says where a form comes from: only a page of this server may send it. */
static bool is_own_origin(struct pawl_exchange *exchange)
{
    struct pawl_str origin = pawl__exchange_field(exchange, "origin");
    struct pawl_str host = pawl__exchange_field(exchange, "host");

    if (!origin.ptr || (origin.len >= 8 && is_public_origin(exchange, origin)))
        return true;
    if (pawl__str_starts(origin, pawl__str("https://")))
        origin = pawl__str_slice(origin, 8, origin.len);
    else if (pawl__str_starts(origin, pawl__str("http://")))
        origin = pawl__str_slice(origin, 7, origin.len);
    return pawl__str_equal_nocase(origin, host);
}

/* A page that came encrypted gets cookies that are never sent in clear. */
static void set_cookie(struct pawl_exchange *exchange, const char *name, struct pawl_str value,
                       bool readable, int64_t seconds)
{
    struct pawl_client client;
    bool encrypted =
        pawl__str_starts(pawl__exchange_field(exchange, "origin"), pawl__str("https:"));
    const char *text;

    pawl__exchange_client(exchange, &client);
    text = pawl__arena_printf(pawl__exchange_arena(exchange),
                              "%s=%.*s; Path=/; Max-Age=%lld; SameSite=Strict%s%s", name,
                              PAWL_STR_ARG(value), (long long)seconds, readable ? "" : "; HttpOnly",
                              encrypted || client.secure ? "; Secure" : "");

    pawl__exchange_add_field(exchange, "Set-Cookie", text ? text : "");
}

static int begin_session(struct api_call *call, const struct pawl_bearer *bearer)
{
    struct pawl_str token;
    unsigned char bytes[16];
    char csrf[2 * sizeof bytes + 1] = {0};
    int status = pawl_env_entropy(call->api->env, bytes, sizeof bytes, &call->err);

    if (status != PAWL_OK)
        return status;
    pawl__hex_encode(bytes, sizeof bytes, PAWL_HEX_LOWER, csrf);
    status = pawl__op_token_issue(&call->op,
                                  &(struct pawl_token_request){.use = PAWL_TOKEN_SESSION,
                                                               .bearer = bearer,
                                                               .csrf = pawl__str(csrf)},
                                  &token);
    if (status != PAWL_OK)
        return status;
    set_cookie(call->exchange, API_SESSION_COOKIE, token, false, 12 * 3600);
    set_cookie(call->exchange, API_CSRF_COOKIE, pawl__str(csrf), true, 12 * 3600);
    return PAWL_OK;
}

void pawl__api_sign_in(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_str secret = pawl__query_find(pawl__exchange_body(exchange), "t");
    struct pawl_bearer bearer;
    struct api_call call;
    int status;

    if (!is_own_origin(exchange)) {
        pawl__exchange_refuse(exchange, 403, "This form comes from another site.");
        return;
    }
    api_begin(&call, exchange, ctx);
    call.op.actor = pawl__str("link");
    status = pawl__op_ticket_use(&call.op, secret, &bearer);
    if (status == PAWL_OK)
        status = begin_session(&call, &bearer);
    if (status == PAWL_OK) {
        pawl__exchange_add_field(exchange, "Location",
                                 call.api->studio_folder[0] ? "/studio/" : "/");
        pawl__exchange_add_field(exchange, "Cache-Control", "no-store");
        pawl__exchange_respond(exchange, 303);
    } else if (status == PAWL_ENOTFOUND) {
        pawl__exchange_refuse(exchange, 410, call.err.msg);
    } else {
        api_fail(&call, status);
    }
    api_end(&call);
}

/*
 * For pages that ask for a name and a password, or for a key, themselves. A session does not begin
 * another: it would never end.
 */
void pawl__api_session_begin(struct pawl_exchange *exchange, void *ctx)
{
    struct api_call call;
    int status;

    if (!pawl__exchange_field(exchange, "authorization").ptr) {
        pawl__exchange_refuse(exchange, 400,
                              "A session begins with 'Authorization: ApiKey KEY' or 'Bearer "
                              "TOKEN', not with another session.");
        return;
    }
    api_begin(&call, exchange, ctx);
    status = begin_session(&call, call.caller);
    if (status == PAWL_OK) {
        pawl__exchange_add_field(exchange, "Cache-Control", "no-store");
        pawl__exchange_respond(exchange, 204);
    } else {
        api_fail(&call, status);
    }
    api_end(&call);
}

void pawl__api_sign_out(struct pawl_exchange *exchange, void *ctx)
{
    (void)ctx;
    set_cookie(exchange, API_SESSION_COOKIE, pawl__str(""), false, 0);
    set_cookie(exchange, API_CSRF_COOKIE, pawl__str(""), true, 0);
    pawl__exchange_respond(exchange, 204);
}
