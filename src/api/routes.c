/* SPDX-License-Identifier: Apache-2.0 */
/* The table of routes: what there is, on what terms. Everything else is made from it. */
#include "api/private.h"

#define API "/elsa/api"
#define IDENTITY API "/identity"
/* Bodies of identity are small; one that is not is an attack on passwords or memory. */
#define SMALL ((uint64_t)64 << 10)

/* clang-format off */
const struct pawl_route pawl__api_routes[] = {
    {.method = "GET", .path = "/health/live", .handle = pawl__api_health_live,
     .flags = PAWL_ROUTE_ON_LOOP},
    {.method = "GET", .path = "/health/ready", .handle = pawl__api_health_ready,
     .deadline_ms = 5000},

    {.method = "GET", .path = "/metrics", .handle = pawl__api_metrics, .permission = API_METRICS,
     .deadline_ms = 30000},

    {.method = "POST", .path = IDENTITY "/login", .handle = pawl__api_login,
     .body_bytes_max = SMALL},
    {.method = "POST", .path = IDENTITY "/refresh-token", .handle = pawl__api_refresh_token,
     .permission = API_REFRESH, .body_bytes_max = SMALL},
    {.method = "POST", .path = IDENTITY "/applications", .handle = pawl__api_application_create,
     .permission = "create:application", .body_bytes_max = SMALL},
    {.method = "GET", .path = IDENTITY "/users", .handle = pawl__api_users_list,
     .permission = "read:user"},
    {.method = "POST", .path = IDENTITY "/users", .handle = pawl__api_user_create,
     .permission = "create:user", .body_bytes_max = SMALL},
    {.method = "PUT", .path = IDENTITY "/users/{id}", .handle = pawl__api_user_update,
     .permission = "update:user", .body_bytes_max = SMALL},
    {.method = "DELETE", .path = IDENTITY "/users/{id}", .handle = pawl__api_user_delete,
     .permission = "delete:user", .body_bytes_max = SMALL},
    {.method = "GET", .path = IDENTITY "/roles", .handle = pawl__api_roles_list,
     .permission = "read:role"},
    {.method = "POST", .path = IDENTITY "/roles", .handle = pawl__api_role_create,
     .permission = "create:role", .body_bytes_max = SMALL},
    {.method = "PUT", .path = IDENTITY "/roles/{id}", .handle = pawl__api_role_update,
     .permission = "update:role", .body_bytes_max = SMALL},
    {.method = "DELETE", .path = IDENTITY "/roles/{id}", .handle = pawl__api_role_delete,
     .permission = "delete:role", .body_bytes_max = SMALL},
    {.method = "GET", .path = IDENTITY "/roles/{id}/deletion-impact",
     .handle = pawl__api_role_impact, .permission = "read:role"},
    {.method = "POST", .path = IDENTITY "/secrets/hash", .handle = pawl__api_secret_hash,
     .permission = API_SIGNED_IN, .body_bytes_max = SMALL},
    {.method = "POST", .path = IDENTITY "/socket-tokens", .handle = pawl__api_socket_token,
     .permission = API_SIGNED_IN, .body_bytes_max = SMALL},
    {.method = "POST", .path = IDENTITY "/sign-in-links", .handle = pawl__api_sign_in_link,
     .permission = "create:sign-in-link", .body_bytes_max = SMALL},

    {.method = "GET", .path = "/sign-in", .handle = pawl__api_sign_in_page},
    {.method = "POST", .path = "/sign-in", .handle = pawl__api_sign_in, .body_bytes_max = SMALL},
    {.method = "POST", .path = "/sign-out", .handle = pawl__api_sign_out,
     .permission = API_SIGNED_IN, .body_bytes_max = SMALL},
};
/* clang-format on */

const size_t pawl__api_route_count = sizeof pawl__api_routes / sizeof pawl__api_routes[0];

const struct pawl_route *pawl__api_table(size_t *count)
{
    *count = pawl__api_route_count;
    return pawl__api_routes;
}

const char *pawl__api_terms(const struct pawl_route *route)
{
    if (!route->permission)
        return "anonymous";
    if (strcmp(route->permission, API_SIGNED_IN) == 0)
        return "signed in";
    if (strcmp(route->permission, API_REFRESH) == 0)
        return "refresh token";
    return route->permission;
}
