/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may do what: decided on the loop, by the directory, before a body is read. A thread keeps the
 * directory current. When the store cannot be asked for so long that who was deleted could still
 * come in, nobody does: 503.
 *
 * Also what every response has: fields for browsers, and which origins may read it.
 */
#include "api/credential.h"
#include "api/private.h"
#include "base/error.h"
#include "base/time/datetime.h"
#include "http/client.h"

#include <stdio.h>

#define LOOK_NS (NS_PER_S / 2)
/* Keys expire without a change of the stamp. */
#define READ_NS (600 * NS_PER_S)
#define CURRENT_NS (30 * NS_PER_S)
#define WAIT_NS (5 * NS_PER_S)
#define ARENA_MAX ((size_t)64 << 20)

const char pawl__guard_fields[] = "X-Content-Type-Options: nosniff\r\n"
                                  "X-Frame-Options: DENY\r\n"
                                  "Referrer-Policy: no-referrer\r\n";

/* ---- the directory -------------------------------------------------------------------------- */

static struct pawl_op operation(struct pawl_api *api, struct pawl_arena *arena,
                                struct pawl_error *err)
{
    return (struct pawl_op){.host = api->host,
                            .arena = arena,
                            .deadline_ns = pawl_env_monotonic_ns(api->env) + WAIT_NS,
                            .err = err,
                            .log = api->log,
                            .actor = pawl__str("server"),
                            .door = pawl__str("http"),
                            .request_id = pawl__str("")};
}

static int read_directory(struct pawl_api *api, const struct pawl_op *op, int64_t begun_ns)
{
    struct pawl_directory *fresh, *old;
    int status = pawl__op_directory_read(op, api->admin_key, &fresh);

    if (status != PAWL_OK)
        return status;
    pawl_mutex_lock_always(api->env, api->mutex);
    old = api->directory;
    api->directory = fresh;
    api->read_ns = api->checked_ns = begun_ns;
    pawl_mutex_unlock(api->env, api->mutex);
    pawl__directory_free(old);
    return PAWL_OK;
}

static int look(struct pawl_api *api, bool always, struct pawl_error *err)
{
    int64_t begun_ns = pawl_env_monotonic_ns(api->env);
    bool stale = always || begun_ns - api->read_ns > READ_NS;
    struct pawl_arena arena;
    struct pawl_op op;
    int status = PAWL_OK;

    pawl__arena_init(&arena, &api->env->alloc, ARENA_MAX);
    op = operation(api, &arena, err);
    if (!stale)
        status = pawl__op_directory_is_stale(&op, api->directory, &stale);
    if (status == PAWL_OK && stale)
        status = read_directory(api, &op, begun_ns);
    pawl__arena_release(&arena);
    if (status == PAWL_OK) {
        pawl_mutex_lock_always(api->env, api->mutex);
        api->checked_ns = begun_ns;
        pawl_mutex_unlock(api->env, api->mutex);
    }
    return status;
}

/* Only this thread looks, so that the directory it compares with is not freed meanwhile. */
static void keep_current(void *arg)
{
    struct pawl_api *api = arg;
    bool stopping = false;
    uint64_t failures = 0; /* in a row */

    while (!stopping) {
        int64_t asked, wake_ns = pawl_env_monotonic_ns(api->env) + LOOK_NS;
        struct pawl_error err = PAWL_ERROR_INIT;
        int status = PAWL_OK, looked;

        pawl_mutex_lock_always(api->env, api->mutex);
        while (!api->stopping && api->looks_asked == api->looks_done && status == PAWL_OK)
            status = pawl_cond_wait(api->env, api->changed, api->mutex, wake_ns);
        stopping = api->stopping || status == PAWL_ESTOPPED;
        asked = api->looks_asked;
        pawl_mutex_unlock(api->env, api->mutex);
        if (stopping)
            break;
        looked = look(api, false, &err);
        if (looked != PAWL_OK && failures == 0)
            pawl_log(api->log, PAWL_LOG_WARN, "identity cannot be read",
                     pawl_log_error("error", &err));
        else if (looked == PAWL_OK && failures > 0)
            pawl_log(api->log, PAWL_LOG_INFO, "identity can be read again",
                     pawl_log_uint("failures", failures));
        failures = looked == PAWL_OK ? 0 : failures + 1;
        pawl_mutex_lock_always(api->env, api->mutex);
        api->looks_done = asked;
        pawl_cond_broadcast(api->env, api->changed);
        pawl_mutex_unlock(api->env, api->mutex);
    }
}

void pawl__guard_refresh(struct pawl_api *api)
{
    int64_t mine, deadline_ns = pawl_env_monotonic_ns(api->env) + WAIT_NS;
    int status = PAWL_OK;

    pawl_mutex_lock_always(api->env, api->mutex);
    mine = ++api->looks_asked;
    pawl_cond_broadcast(api->env, api->changed);
    while (api->looks_done < mine && !api->stopping && status == PAWL_OK)
        status = pawl_cond_wait(api->env, api->changed, api->mutex, deadline_ns);
    pawl_mutex_unlock(api->env, api->mutex);
}

/* Before the first look, so that this node knows the key that its first token is signed with. */
static int keep_signing_key(struct pawl_api *api, struct pawl_error *err)
{
    struct pawl_arena arena;
    struct pawl_op op;
    int status;

    pawl__arena_init(&arena, &api->env->alloc, ARENA_MAX);
    op = operation(api, &arena, err);
    status = pawl__op_signing_key_keep(&op);
    pawl__arena_release(&arena);
    return status;
}

int pawl__guard_open(struct pawl_api *api, struct pawl_error *err)
{
    int status = pawl_mutex_new(api->env, "guard", &api->mutex);

    if (status == PAWL_OK)
        status = pawl_cond_new(api->env, "guard", &api->changed);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = keep_signing_key(api, err);
    if (status == PAWL_OK)
        status = look(api, true, err);
    if (status == PAWL_OK)
        status = pawl_thread_start(api->env, "identity", keep_current, api, &api->thread, err);
    return status;
}

void pawl__guard_close(struct pawl_api *api)
{
    if (api->thread) {
        pawl_mutex_lock_always(api->env, api->mutex);
        api->stopping = true;
        pawl_cond_broadcast(api->env, api->changed);
        pawl_mutex_unlock(api->env, api->mutex);
        pawl_thread_join(api->env, api->thread);
    }
    pawl__directory_free(api->directory);
    if (api->changed)
        pawl_cond_free(api->env, api->changed);
    if (api->mutex)
        pawl_mutex_free(api->env, api->mutex);
}

/* ---- admission ------------------------------------------------------------------------------ */

struct admission {
    struct pawl_exchange *exchange;
    const char *permission;
    enum pawl_scheme scheme;
    enum pawl_credential credential;
    struct pawl_token_times times;
};

/* Elsa has routes that run something by GET: what a route needs tells, not the method alone. */
static bool changes_nothing(const struct pawl_exchange *exchange)
{
    struct pawl_str method = pawl__exchange_method(exchange);
    struct pawl_str permission = pawl__str(pawl__exchange_route(exchange)->permission);

    return (pawl__str_is(method, "GET") || pawl__str_is(method, "HEAD")) &&
           (pawl__str_is(permission, API_SIGNED_IN) ||
            pawl__str_starts(permission, pawl__str("read:")) ||
            pawl__str_starts(permission, pawl__str("@")));
}

/* A page's session: its requests that change something repeat the secret of its other cookie. */
static enum pawl_credential check_session(const struct pawl_directory *directory,
                                          struct pawl_exchange *exchange, int64_t now_us,
                                          const struct pawl_bearer **bearer,
                                          struct pawl_token_times *times)
{
    struct pawl_str token =
        pawl__cookie_find(pawl__exchange_field(exchange, "cookie"), API_SESSION_COOKIE);
    struct pawl_str csrf = pawl__exchange_field(exchange, API_CSRF_FIELD);

    if (token.len == 0)
        return PAWL_CREDENTIAL_NONE;
    if (changes_nothing(exchange))
        csrf = pawl__str_make(NULL, 0);
    else if (!csrf.ptr)
        csrf = pawl__str("");
    return pawl__directory_check_token(directory, token, PAWL_TOKEN_SESSION, csrf, now_us, bearer,
                                       times);
}

static bool is_for(const struct admission *admission, const char *purpose)
{
    return strcmp(admission->permission, purpose) == 0;
}

/*
 * A browser sends no field with what opens a connection to the hub: its id is a credential, as it
 * was given to somebody who had one, and one that has expired still is for the connection that was
 * opened with it. So is a token in the query.
 */
static const struct pawl_bearer *identify_for_hub(const struct pawl_directory *directory,
                                                  struct admission *admission, int64_t now_us)
{
    static const enum pawl_token_use uses[] = {PAWL_TOKEN_SOCKET, PAWL_TOKEN_ACCESS};
    const struct pawl_str no_csrf = pawl__str_make(NULL, 0);
    struct pawl_str query = pawl__exchange_query(admission->exchange);
    struct pawl_str id = pawl__query_find(query, "id");
    struct pawl_str token = pawl__query_find(query, "access_token");
    const struct pawl_bearer *bearer = NULL;

    admission->credential = PAWL_CREDENTIAL_NONE;
    if (id.len > 0)
        admission->credential = pawl__directory_check_token(directory, id, PAWL_TOKEN_HUB, no_csrf,
                                                            now_us, &bearer, &admission->times);
    for (size_t i = 0; !bearer && token.len > 0 && i < sizeof uses / sizeof uses[0]; i++)
        admission->credential = pawl__directory_check_token(directory, token, uses[i], no_csrf,
                                                            now_us, &bearer, &admission->times);
    return bearer;
}

static const struct pawl_bearer *identify(const struct pawl_directory *directory,
                                          struct admission *admission, int64_t now_us)
{
    struct pawl_exchange *exchange = admission->exchange;
    struct pawl_str text, field = pawl__exchange_field(exchange, "authorization");
    const struct pawl_str no_csrf = pawl__str_make(NULL, 0);
    bool refreshes = is_for(admission, API_REFRESH), opens = is_for(admission, API_SOCKET);
    const struct pawl_bearer *bearer = NULL;

    admission->scheme = pawl__authorization_read(field, &text);
    admission->credential = PAWL_CREDENTIAL_NONE;
    if (admission->scheme == PAWL_SCHEME_KEY && !refreshes) {
        admission->credential = pawl__directory_check_key(directory, text, now_us, &bearer);
    } else if (admission->scheme == PAWL_SCHEME_BEARER) {
        admission->credential = pawl__directory_check_token(
            directory, text, refreshes ? PAWL_TOKEN_REFRESH : PAWL_TOKEN_ACCESS, no_csrf, now_us,
            &bearer, &admission->times);
    } else if (!field.ptr && is_for(admission, API_HUB)) {
        return identify_for_hub(directory, admission, now_us);
    } else if (!field.ptr && opens) {
        text = pawl__query_find(pawl__exchange_query(exchange), "access_token");
        if (text.len > 0)
            admission->credential = pawl__directory_check_token(
                directory, text, PAWL_TOKEN_SOCKET, no_csrf, now_us, &bearer, &admission->times);
    } else if (!field.ptr && !refreshes && !is_for(admission, API_ENDPOINT)) {
        admission->credential =
            check_session(directory, exchange, now_us, &bearer, &admission->times);
    }
    return admission->credential == PAWL_CREDENTIAL_RIGHT ? bearer : NULL;
}

/* A copy that lives as long as the request. NULL: out of memory. */
static struct pawl_bearer *copy_bearer(struct pawl_arena *arena, const struct pawl_bearer *from)
{
    struct pawl_bearer *to = pawl__arena_alloc(arena, sizeof *to);
    struct pawl_str *texts = pawl__arena_alloc_array(
        arena, from->permissions.count + from->roles.count + 1, sizeof *texts);
    size_t count = 0;

    if (!to || !texts)
        return NULL;
    *to = *from;
    to->id = pawl__arena_str(arena, from->id);
    to->name = pawl__arena_str(arena, from->name);
    to->permissions.texts = texts;
    for (size_t i = 0; i < from->permissions.count; i++)
        texts[count++] = pawl__arena_str(arena, from->permissions.texts[i]);
    to->roles.texts = texts + count;
    for (size_t i = 0; i < from->roles.count; i++)
        texts[count++] = pawl__arena_str(arena, from->roles.texts[i]);
    return arena->status == PAWL_OK ? to : NULL;
}

static void add_lifetime(struct pawl_exchange *exchange, const struct pawl_token_times *times)
{
    struct pawl_datetime from, until;
    struct pawl_civil a, b;
    char value[256];

    if (pawl__datetime_from_unix_ms(times->from_s * 1000, &from, NULL) != PAWL_OK ||
        pawl__datetime_from_unix_ms(times->until_s * 1000, &until, NULL) != PAWL_OK)
        return;
    pawl__datetime_civil(from, &a);
    pawl__datetime_civil(until, &b);
    (void)snprintf(value, sizeof value,
                   "Bearer error=\"invalid_token\", error_description=\"The token lifetime is "
                   "invalid; NotBefore: '%02d/%02d/%04d %02d:%02d:%02d', Expires: "
                   "'%02d/%02d/%04d %02d:%02d:%02d'\"",
                   a.month, a.day, (int)a.year, a.hour, a.minute, a.second, b.month, b.day,
                   (int)b.year, b.hour, b.minute, b.second);
    pawl__exchange_add_field(exchange, "WWW-Authenticate", value);
}

/* 401, with what Elsa says about it. */
static int challenge(const struct admission *admission, const char **detail)
{
    const char *value = "Bearer error=\"invalid_token\"";

    *detail = "The credential is not valid, or no longer.";
    if (admission->scheme == PAWL_SCHEME_KEY && !is_for(admission, API_REFRESH)) {
        value = "ApiKey realm=\"Elsa Workflows\", charset=\"UTF-8\", in=\"authorization_header\", "
                "key_name=\"ApiKey\"";
    } else if (admission->credential == PAWL_CREDENTIAL_NONE) {
        *detail = "This needs a credential: 'Authorization: ApiKey KEY' or 'Bearer TOKEN'.";
        value = "Bearer";
    } else if (admission->credential == PAWL_CREDENTIAL_FOREIGN) {
        value = "Bearer error=\"invalid_token\", error_description=\"The signature key was not "
                "found\"";
    } else if (admission->credential == PAWL_CREDENTIAL_EXPIRED) {
        add_lifetime(admission->exchange, &admission->times);
        return 401;
    }
    pawl__exchange_add_field(admission->exchange, "WWW-Authenticate", value);
    return 401;
}

static int limit(struct pawl_api *api, struct pawl_exchange *exchange, struct pawl_limiter *limiter,
                 const struct pawl_limit *rate, struct pawl_str name)
{
    int64_t wait_s = pawl__limiter_use(limiter, name, rate, pawl_env_monotonic_ns(api->env));
    char text[24];

    if (wait_s == 0)
        return 0;
    (void)snprintf(text, sizeof text, "%lld", (long long)wait_s);
    pawl__exchange_add_field(exchange, "Retry-After", text);
    return 429;
}

struct pawl_str api_client_address(const struct pawl_exchange *exchange, struct pawl_client *client)
{
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    pawl__exchange_client(exchange, client);
    return pawl__str_make(
        (const char *)client->peer.address,
        memcmp(client->peer.address, mapped, sizeof mapped) == 0 ? sizeof client->peer.address : 8);
}

/* Anybody may ask an endpoint, but not as often as they like. */
static int admit_stranger(struct pawl_api *api, struct pawl_exchange *exchange, const char **detail)
{
    struct pawl_client client;

    *detail = "Too many requests of one client; see Retry-After.";
    return limit(api, exchange, api->strangers, &api->stranger_rate,
                 api_client_address(exchange, &client));
}

int pawl__guard_admit(void *ctx, struct pawl_exchange *exchange, const char **detail)
{
    struct pawl_api *api = ctx;
    struct admission admission = {.exchange = exchange,
                                  .permission = pawl__exchange_route(exchange)->permission};
    const struct pawl_bearer *found;
    struct api_request *request = api_request_make(exchange);
    struct pawl_bearer *bearer = NULL;
    bool current;

    if (api->metrics_public && is_for(&admission, API_METRICS))
        return 0;
    pawl_mutex_lock_always(api->env, api->mutex);
    current = pawl_env_monotonic_ns(api->env) - api->checked_ns < CURRENT_NS;
    found =
        current ? identify(api->directory, &admission, pawl_env_wall_ns(api->env) / 1000) : NULL;
    if (found)
        bearer = copy_bearer(pawl__exchange_arena(exchange), found);
    pawl_mutex_unlock(api->env, api->mutex);
    if (!bearer && request && is_for(&admission, API_ENDPOINT))
        return admit_stranger(api, exchange, detail);
    *detail = "Who may do what cannot be read from the store at this moment.";
    if (!current || !request || (found && !bearer))
        return 503;
    if (!bearer)
        return challenge(&admission, detail);
    request->bearer = bearer;
    *detail = "Your permissions do not include this.";
    if (admission.permission[0] != '@' &&
        !pawl__permissions_allow(&bearer->permissions, admission.permission))
        return 403;
    *detail = "Too many requests of one caller; see Retry-After.";
    return limit(api, exchange, api->rates, &api->rate, bearer->id);
}

enum pawl_credential pawl__guard_check_hub_token(struct pawl_api *api, struct pawl_str token,
                                                 struct pawl_arena *arena, struct pawl_bearer **out)
{
    const struct pawl_str no_csrf = pawl__str_make(NULL, 0);
    const struct pawl_bearer *found = NULL;
    struct pawl_token_times times;
    enum pawl_credential credential;

    pawl_mutex_lock_always(api->env, api->mutex);
    credential = pawl__directory_check_token(api->directory, token, PAWL_TOKEN_HUB, no_csrf,
                                             pawl_env_wall_ns(api->env) / 1000, &found, &times);
    *out = found && credential == PAWL_CREDENTIAL_RIGHT ? copy_bearer(arena, found) : NULL;
    pawl_mutex_unlock(api->env, api->mutex);
    return *out || credential != PAWL_CREDENTIAL_RIGHT ? credential : PAWL_CREDENTIAL_WRONG;
}

bool pawl__guard_allows(struct pawl_api *api, const struct pawl_bearer *bearer,
                        const char *permission)
{
    const struct pawl_bearer *found;
    bool allowed;

    pawl_mutex_lock_always(api->env, api->mutex);
    found = pawl__directory_find(api->directory, bearer, pawl_env_wall_ns(api->env) / 1000);
    allowed = found && pawl__permissions_allow(&found->permissions, permission);
    pawl_mutex_unlock(api->env, api->mutex);
    return allowed;
}

/* ---- origins -------------------------------------------------------------------------------- */

static bool list_has(struct pawl_str list, struct pawl_str origin)
{
    size_t at = 0;

    while (at < list.len) {
        size_t end = at;

        while (end < list.len && list.ptr[end] != ' ' && list.ptr[end] != ',')
            end++;
        if (end > at && pawl__str_equal_nocase(pawl__str_slice(list, at, end), origin))
            return true;
        at = end + 1;
    }
    return false;
}

/* Fields that a page of another origin needs. A preflight ends here. */
int pawl__guard_arrive(void *ctx, struct pawl_exchange *exchange)
{
    struct pawl_api *api = ctx;
    struct pawl_str origin = pawl__exchange_field(exchange, "origin");
    bool anybody = pawl__str_is(pawl__str_trim(api->origins), "*"), listed;
    char text[256];

    pawl__api_trace_arrive(api, exchange);
    if (api->origins.len == 0 || !origin.ptr)
        return 0;
    pawl__exchange_add_field(exchange, "Vary", "Origin");
    listed = !anybody && origin.len < sizeof text && list_has(api->origins, origin);
    if (!anybody && !listed)
        return 0;
    (void)snprintf(text, sizeof text, "%.*s", anybody ? 1 : (int)origin.len,
                   anybody ? "*" : origin.ptr);
    pawl__exchange_add_field(exchange, "Access-Control-Allow-Origin", text);
    if (listed)
        pawl__exchange_add_field(exchange, "Access-Control-Allow-Credentials", "true");
    pawl__exchange_add_field(
        exchange, "Access-Control-Expose-Headers",
        "Content-Disposition, Location, Retry-After, Traceparent, WWW-Authenticate, "
        "X-Elsa-Response, X-Elsa-Workflow-Cannot-Start, "
        "X-Elsa-Workflow-Instance-Id");
    if (!pawl__str_is(pawl__exchange_method(exchange), "OPTIONS") ||
        !pawl__exchange_field(exchange, "access-control-request-method").ptr)
        return 0;
    pawl__exchange_add_field(exchange, "Access-Control-Allow-Methods",
                             "GET, HEAD, POST, PUT, PATCH, DELETE");
    pawl__exchange_add_field(exchange, "Access-Control-Allow-Headers",
                             "Authorization, Content-Type, Accept, Traceparent, Tracestate, "
                             "X-CSRF-Token, X-Requested-With, X-SignalR-User-Agent, X-Tenant-Id");
    pawl__exchange_add_field(exchange, "Access-Control-Max-Age", "600");
    return 204;
}
