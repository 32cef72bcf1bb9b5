/* SPDX-License-Identifier: Apache-2.0 */
/* The table of routes: what there is, on what terms. Everything else is made from it. */
#include "api/endpoint.h"
#include "api/private.h"
#include "base/alloc.h"

#define IDENTITY API_ELSA "/identity"
#define HUB "/elsa/hubs/workflow-instance"
/* Bodies of identity are small; one that is not is an attack on passwords or memory. */
#define SMALL ((uint64_t)64 << 10)

/* Of what is no endpoint: for lists and the document. */
#define ABOUT(text)                                                                                \
    .about = &(const struct api_endpoint)                                                          \
    {                                                                                              \
        .summary = (text)                                                                          \
    }

/* clang-format off */
static const struct pawl_route others[] = {
    {.method = "GET", .path = "/health/live", .handle = pawl__api_health_live,
     .flags = PAWL_ROUTE_ON_LOOP,
     ABOUT("Whether the process runs")},
    {.method = "GET", .path = "/health/ready", .handle = pawl__api_health_ready,
     .deadline_ms = 5000,
     ABOUT("Whether the node can be given work")},

    {.method = "GET", .path = "/metrics", .handle = pawl__api_metrics, .permission = API_METRICS,
     .deadline_ms = 30000,
     ABOUT("Metrics, as Prometheus reads them")},

    {.method = "POST", .path = IDENTITY "/login", .handle = pawl__api_login,
     .body_bytes_max = SMALL,
     ABOUT("Signs in with a name and a password")},
    {.method = "POST", .path = IDENTITY "/refresh-token", .handle = pawl__api_refresh_token,
     .permission = API_REFRESH, .body_bytes_max = SMALL,
     ABOUT("New tokens for one that gets them")},
    {.method = "POST", .path = IDENTITY "/applications", .handle = pawl__api_application_create,
     .permission = "create:application", .body_bytes_max = SMALL,
     ABOUT("Makes an application and its key")},
    {.method = "GET", .path = IDENTITY "/users", .handle = pawl__api_users_list,
     .permission = "read:user",
     ABOUT("Lists users")},
    {.method = "POST", .path = IDENTITY "/users", .handle = pawl__api_user_create,
     .permission = "create:user", .body_bytes_max = SMALL,
     ABOUT("Makes a user")},
    {.method = "PUT", .path = IDENTITY "/users/{id}", .handle = pawl__api_user_update,
     .permission = "update:user", .body_bytes_max = SMALL,
     ABOUT("Changes a user")},
    {.method = "DELETE", .path = IDENTITY "/users/{id}", .handle = pawl__api_user_delete,
     .permission = "delete:user", .body_bytes_max = SMALL,
     ABOUT("Deletes a user")},
    {.method = "GET", .path = IDENTITY "/roles", .handle = pawl__api_roles_list,
     .permission = "read:role",
     ABOUT("Lists roles")},
    {.method = "POST", .path = IDENTITY "/roles", .handle = pawl__api_role_create,
     .permission = "create:role", .body_bytes_max = SMALL,
     ABOUT("Makes a role")},
    {.method = "PUT", .path = IDENTITY "/roles/{id}", .handle = pawl__api_role_update,
     .permission = "update:role", .body_bytes_max = SMALL,
     ABOUT("Changes a role")},
    {.method = "DELETE", .path = IDENTITY "/roles/{id}", .handle = pawl__api_role_delete,
     .permission = "delete:role", .body_bytes_max = SMALL,
     ABOUT("Deletes a role")},
    {.method = "GET", .path = IDENTITY "/roles/{id}/deletion-impact",
     .handle = pawl__api_role_impact, .permission = "read:role",
     ABOUT("Who has a role")},
    {.method = "POST", .path = IDENTITY "/secrets/hash", .handle = pawl__api_secret_hash,
     .permission = API_SIGNED_IN, .body_bytes_max = SMALL,
     ABOUT("The hash of a secret, as Elsa stores it")},
    {.method = "POST", .path = IDENTITY "/socket-tokens", .handle = pawl__api_socket_token,
     .permission = API_SIGNED_IN, .body_bytes_max = SMALL,
     ABOUT("A token with which a browser opens a socket")},
    {.method = "POST", .path = IDENTITY "/sign-in-links", .handle = pawl__api_sign_in_link,
     .permission = "create:sign-in-link", .body_bytes_max = SMALL,
     ABOUT("A link with which somebody signs in")},

    {.method = "GET", .path = "/sign-in", .handle = pawl__api_sign_in_page,
     ABOUT("The page for signing in")},
    {.method = "POST", .path = "/sign-in", .handle = pawl__api_sign_in, .body_bytes_max = SMALL,
     ABOUT("Signs in to the pages")},
    {.method = "POST", .path = "/sign-out", .handle = pawl__api_sign_out,
     .permission = API_SIGNED_IN, .body_bytes_max = SMALL,
     ABOUT("Ends a session of the pages")},
    {.method = "POST", .path = API_PAWL "/sessions", .handle = pawl__api_session_begin,
     .permission = API_SIGNED_IN, .body_bytes_max = SMALL,
     ABOUT("Begins a session of the pages for whoever calls, with a key or a token")},
    {.method = "GET", .path = "/studio/{path*}", .handle = pawl__api_studio,
     ABOUT("Elsa Studio and its shell")},

    {.method = "POST", .path = HUB "/negotiate", .handle = pawl__api_hub_negotiate,
     .permission = API_SIGNED_IN, .body_bytes_max = SMALL,
     ABOUT("A token for a connection to the hub of instances (SignalR)")},
    {.method = "GET", .path = HUB, .handle = pawl__api_hub_get, .permission = API_HUB,
     .flags = PAWL_ROUTE_NO_DEADLINE,
     ABOUT("A WebSocket, a stream of events or a poll of the hub")},
    {.method = "POST", .path = HUB, .handle = pawl__api_hub_post, .permission = API_HUB,
     .body_bytes_max = SMALL,
     ABOUT("Messages to the hub of a client that streams or polls")},
    {.method = "DELETE", .path = HUB, .handle = pawl__api_hub_delete, .permission = API_HUB,
     .body_bytes_max = SMALL,
     ABOUT("Ends polling the hub")},
};
/* clang-format on */

#define OTHER_COUNT (sizeof others / sizeof others[0])

static size_t count_routes(void)
{
    size_t count = OTHER_COUNT;

    for (size_t i = 0; i < api_family_count; i++)
        count += api_families[i]->count;
    return count;
}

static struct pawl_route route_of(const struct api_endpoint *endpoint)
{
    return (struct pawl_route){.method = endpoint->method,
                               .path = endpoint->path,
                               .handle = api_enter,
                               .permission = endpoint->permission,
                               .body_bytes_max = endpoint->body_bytes_max,
                               .deadline_ms = endpoint->deadline_ms,
                               .flags = endpoint->flags,
                               .about = endpoint};
}

int pawl__api_routes_new(const struct pawl_allocator *alloc, struct pawl_route **out, size_t *count)
{
    struct pawl_route *routes = pawl__alloc(alloc, count_routes() * sizeof *routes);
    size_t used = OTHER_COUNT;

    if (!routes)
        return PAWL_ENOMEM;
    memcpy(routes, others, sizeof others);
    for (size_t i = 0; i < api_family_count; i++) {
        for (size_t j = 0; j < api_families[i]->count; j++)
            routes[used++] = route_of(&api_families[i]->endpoints[j]);
    }
    *out = routes;
    *count = used;
    return PAWL_OK;
}

void pawl__api_routes_free(const struct pawl_allocator *alloc, struct pawl_route *routes)
{
    pawl__free(alloc, routes, count_routes() * sizeof *routes);
}

const char *pawl__api_terms(const struct pawl_route *route)
{
    if (!api_needs_caller(route->permission))
        return "anonymous";
    if (strcmp(route->permission, API_SIGNED_IN) == 0 || strcmp(route->permission, API_HUB) == 0)
        return "signed in";
    if (strcmp(route->permission, API_REFRESH) == 0)
        return "refresh token";
    return route->permission;
}
