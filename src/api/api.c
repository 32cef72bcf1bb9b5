/* SPDX-License-Identifier: Apache-2.0 */
/* The table of routes, and the server that has it; see api.h. */
#include "api/api.h"

#include "api/private.h"
#include "base/alloc.h"
#include "base/error.h"
#include "host/host.h"

static const struct pawl_route routes[] = {
    {.method = "GET",
     .path = "/health/live",
     .handle = pawl__api_health_live,
     .flags = PAWL_ROUTE_ON_LOOP},
    {.method = "GET",
     .path = "/health/ready",
     .handle = pawl__api_health_ready,
     .deadline_ms = 5000},
};

int pawl__api_open(struct pawl_env *env, struct pawl_host *host, const struct pawl_log *log,
                   struct pawl_api **out, struct pawl_error *err)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(host);
    struct pawl_api *api = pawl__alloc_zeroed(&env->alloc, sizeof *api);
    const struct pawl_server_options options = {
        .routes = routes,
        .route_count = sizeof routes / sizeof routes[0],
        .ctx = api,
        .log = log,
        .limits = pawl__api_limits(configuration),
        .trusted_proxies = api ? &api->trusted_proxies : NULL,
        .public_url = pawl__configuration_text(configuration, PAWL_SETTING_ID_SERVER_PUBLIC_URL),
    };
    int status;

    if (!api)
        return pawl__error_code(err, PAWL_ENOMEM);
    api->env = env;
    api->host = host;
    api->log = log;
    status = pawl__addresses_parse(
        pawl__str(pawl__configuration_text(configuration, PAWL_SETTING_ID_SERVER_TRUSTED_PROXIES)),
        &api->trusted_proxies, err);
    if (status != PAWL_OK)
        (void)pawl__error_prefix(err, status, "the setting server.trusted_proxies");
    if (status == PAWL_OK)
        status = pawl__server_new(env, &options, &api->server, err);
    if (status == PAWL_OK)
        *out = api;
    else
        pawl__free(&env->alloc, api, sizeof *api);
    return status;
}

struct pawl_server *pawl__api_server(struct pawl_api *api)
{
    return api->server;
}

int pawl__api_drain(struct pawl_api *api, int64_t deadline_ns)
{
    atomic_store(&api->draining, true);
    return pawl__server_drain(api->server, deadline_ns);
}

void pawl__api_close(struct pawl_api *api)
{
    if (!api)
        return;
    pawl__server_close(api->server);
    pawl__free(&api->env->alloc, api, sizeof *api);
}
