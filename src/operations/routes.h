/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on routes: at which paths workflows take requests, as triggers and as waits. */
#ifndef PAWL_OPERATIONS_ROUTES_H
#define PAWL_OPERATIONS_ROUTES_H

#include "operations/operation.h"

#include <pawl/str.h>

struct pawl_endpoint_route {
    struct pawl_str method; /* "GET" */
    struct pawl_str
        path; /* as a client asks for it, with the base path: "/workflows/orders/{id}" */
    struct pawl_str definition_id; /* that a request starts; "": none, or see `waiting` */
    struct pawl_str activity_id;
    uint64_t waiting; /* instances that wait for such a request */
    bool authorize;
    struct pawl_str policy; /* "": none */
    bool is_signed;
};

struct pawl_endpoint_routes {
    const struct pawl_endpoint_route *items; /* by path, then by method */
    size_t count;
    bool cut; /* more wait than were looked at: further paths, and `waiting`, may be missing */
};

/* Waits that are looked at, at the most. */
#define PAWL_ROUTES_WAITS_MAX 10000u

PAWL_MUST_CHECK int pawl__op_routes_list(const struct pawl_op *op,
                                         struct pawl_endpoint_routes *out);

#endif
