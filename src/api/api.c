/* SPDX-License-Identifier: Apache-2.0 */
/* The server with the table of routes; see api.h. */
#include "api/api.h"

#include "api/hub/hub.h"
#include "api/private.h"
#include "base/alloc.h"
#include "base/error.h"
#include "host/host.h"

#include <stdio.h>

#define LOGIN_PLACES 4096u
#define RATE_PLACES 4096u
/* A key that a person makes up is guessed before one that is random; this is half of one. */
#define ADMIN_KEY_MIN 16u

/* Per second, and two seconds' worth at once. */
static struct pawl_limit rate_of(const struct pawl_configuration *configuration,
                                 enum pawl_setting_id id)
{
    int64_t rate = pawl__configuration_number(configuration, id);

    return rate > 0 ? (struct pawl_limit){(uint32_t)(2 * rate), NS_PER_S / rate}
                    : (struct pawl_limit){0, 0};
}

static void read_settings(struct pawl_api *api)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(api->host);

    api->admin_key = pawl__str_trim(
        pawl__str(pawl__configuration_text(configuration, PAWL_SETTING_ID_ADMIN_API_KEY)));
    api->origins = pawl__str(pawl__configuration_text(configuration, PAWL_SETTING_ID_SERVER_CORS));
    api->studio_folder = pawl__configuration_text(configuration, PAWL_SETTING_ID_STUDIO_FOLDER);
    api->metrics_public =
        pawl__configuration_number(configuration, PAWL_SETTING_ID_METRICS_PUBLIC) != 0;
    api->rate = rate_of(configuration, PAWL_SETTING_ID_SERVER_RATE);
    api->stranger_rate = rate_of(configuration, PAWL_SETTING_ID_ENDPOINTS_RATE);
}

/* Workflows are endpoints where the setting says. */
static int place_endpoints(struct pawl_api *api, struct pawl_error *err)
{
    struct pawl_str base = pawl__str_trim(pawl__str(pawl__configuration_text(
        pawl__host_configuration(api->host), PAWL_SETTING_ID_ENDPOINTS_PATH)));

    while (base.len > 0 && base.ptr[base.len - 1] == '/')
        base = pawl__str_slice(base, 0, base.len - 1);
    if (base.len < 2 || base.len >= sizeof api->endpoints_base || base.ptr[0] != '/' ||
        pawl__str_find(base, '{', 0) != SIZE_MAX)
        return pawl__error_set(err, PAWL_EINVAL,
                               "the setting endpoints.path: '%.*s' is not a path; expected "
                               "something such as /workflows",
                               PAWL_STR_ARG(base));
    (void)snprintf(api->endpoints_base, sizeof api->endpoints_base, "%.*s", PAWL_STR_ARG(base));
    (void)snprintf(api->endpoints_path, sizeof api->endpoints_path, "%s/{path*}",
                   api->endpoints_base);
    for (size_t i = 0; i < api->route_count; i++)
        if (strcmp(api->routes[i].path, API_WORKFLOWS) == 0)
            api->routes[i].path = api->endpoints_path;
    return PAWL_OK;
}

static int read_proxies(struct pawl_api *api, struct pawl_error *err)
{
    const char *text = pawl__configuration_text(pawl__host_configuration(api->host),
                                                PAWL_SETTING_ID_SERVER_TRUSTED_PROXIES);
    int status = pawl__addresses_parse(pawl__str(text), &api->trusted_proxies, err);

    return status == PAWL_OK
               ? PAWL_OK
               : pawl__error_prefix(err, status, "the setting server.trusted_proxies");
}

/* "https://example.org:8443": what a browser sends as Origin; with `path`, what may follow it. */
static bool is_url(struct pawl_str text, bool path)
{
    size_t colon = pawl__str_find(text, ':', 0), at = colon == SIZE_MAX ? text.len : colon + 3;

    if (colon == 0 || at >= text.len || text.ptr[colon + 1] != '/' || text.ptr[colon + 2] != '/' ||
        text.ptr[at] == '/')
        return false;
    for (; at < text.len; at++) {
        char c = text.ptr[at];

        if (c <= ' ' || c >= 0x7f || strchr("\"<>\\^`{|}?#@", c) || (c == '/' && !path))
            return false;
    }
    return true;
}

static int check_origins(struct pawl_str list, struct pawl_error *err)
{
    size_t at = 0;

    if (pawl__str_is(pawl__str_trim(list), "*"))
        return PAWL_OK;
    while (at < list.len) {
        size_t end = at;

        while (end < list.len && list.ptr[end] != ' ' && list.ptr[end] != ',')
            end++;
        if (end > at && !is_url(pawl__str_slice(list, at, end), false))
            return pawl__error_set(err, PAWL_EINVAL,
                                   "the setting server.cors: '%.*s' is not an origin; expected "
                                   "https://HOST[:PORT] without a path, or * alone",
                                   (int)(end - at), list.ptr + at);
        at = end + 1;
    }
    return PAWL_OK;
}

/* What an operator would find out late. */
static int check_settings(const struct pawl_api *api, struct pawl_error *err)
{
    struct pawl_str url = pawl__str(pawl__configuration_text(pawl__host_configuration(api->host),
                                                             PAWL_SETTING_ID_SERVER_PUBLIC_URL));

    if (api->admin_key.len > 0 && api->admin_key.len < ADMIN_KEY_MIN)
        return pawl__error_set(err, PAWL_EINVAL,
                               "PAWL_ADMIN_API_KEY may do everything, and has only %zu "
                               "characters; %u are the least",
                               api->admin_key.len, ADMIN_KEY_MIN);
    if (url.len > 0 && !((pawl__str_starts(url, pawl__str("http://")) ||
                          pawl__str_starts(url, pawl__str("https://"))) &&
                         is_url(url, true)))
        return pawl__error_set(err, PAWL_EINVAL,
                               "the setting server.public_url: '%.*s' is not a URL; expected "
                               "https://HOST[:PORT][/PATH]",
                               PAWL_STR_ARG(url));
    return check_origins(api->origins, err);
}

static int open_parts(struct pawl_api *api, struct pawl_error *err)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(api->host);
    const struct pawl_server_options options = {
        .routes = api->routes,
        .route_count = api->route_count,
        .ctx = api,
        .admit = pawl__guard_admit,
        .arrive = pawl__guard_arrive,
        .observe = pawl__api_observe,
        .fields = pawl__guard_fields,
        .log = api->log,
        .limits = pawl__api_limits(configuration),
        .trusted_proxies = &api->trusted_proxies,
        .public_url = pawl__configuration_text(configuration, PAWL_SETTING_ID_SERVER_PUBLIC_URL),
    };
    int status = check_settings(api, err);

    if (status == PAWL_OK)
        status = place_endpoints(api, err);
    if (status == PAWL_OK)
        status = pawl__studio_check(api->studio_folder, err);
    if (status == PAWL_OK)
        status = read_proxies(api, err);
    if (status == PAWL_OK)
        status = pawl__lane_new(api->env, api, &api->lane, err);
    if (status == PAWL_OK)
        status = pawl__limiter_new(api->env, LOGIN_PLACES, &api->logins, err);
    if (status == PAWL_OK)
        status = pawl__limiter_new(api->env, RATE_PLACES, &api->rates, err);
    if (status == PAWL_OK)
        status = pawl__limiter_new(api->env, RATE_PLACES, &api->strangers, err);
    if (status == PAWL_OK)
        status = pawl__guard_open(api, err);
    if (status == PAWL_OK)
        status = pawl__hub_open(api, &api->hub, err);
    if (status == PAWL_OK)
        status = pawl__server_new(api->env, &options, &api->server, err);
    return status;
}

int pawl__api_open(struct pawl_env *env, struct pawl_host *host, const struct pawl_log *log,
                   struct pawl_api **out, struct pawl_error *err)
{
    struct pawl_api *api = pawl__alloc_zeroed(&env->alloc, sizeof *api);
    int status;

    if (!api)
        return pawl__error_code(err, PAWL_ENOMEM);
    api->env = env;
    api->host = host;
    api->log = log;
    read_settings(api);
    status = pawl__api_routes_new(&env->alloc, &api->routes, &api->route_count);
    if (status == PAWL_OK)
        status = open_parts(api, err);
    else
        (void)pawl__error_code(err, status);
    if (status == PAWL_OK)
        *out = api;
    else
        pawl__api_close(api);
    return status;
}

struct pawl_server *pawl__api_server(struct pawl_api *api)
{
    return api->server;
}

int pawl__api_drain(struct pawl_api *api, int64_t deadline_ns)
{
    atomic_store(&api->draining, true);
    pawl__hub_drain(api->hub);
    return pawl__server_drain(api->server, deadline_ns);
}

/* Handlers end first, then the lane and the hub that they may have handed exchanges to. */
void pawl__api_close(struct pawl_api *api)
{
    if (!api)
        return;
    if (api->server)
        pawl__server_stop(api->server);
    if (api->lane)
        pawl__lane_stop(api->lane);
    if (api->hub)
        pawl__hub_stop(api->hub);
    pawl__server_close(api->server);
    pawl__hub_close(api->hub);
    pawl__guard_close(api);
    pawl__lane_free(api->lane);
    pawl__limiter_free(api->logins);
    pawl__limiter_free(api->rates);
    pawl__limiter_free(api->strangers);
    pawl__api_routes_free(&api->env->alloc, api->routes);
    pawl__free(&api->env->alloc, api, sizeof *api);
}
