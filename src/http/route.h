/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes as data: which handler a method and a path have, and on what terms.
 *
 *     static const struct pawl_route routes[] = {
 *         {.method = "GET", .path = "/things/{id}", .handle = get_thing, .permission =
 * "read:things"},
 *     };
 *
 * A path is segments apart by '/'. A segment is a literal, a parameter "{name}" (one segment that
 * is not empty) or, at the end, "{name*}" (all that is left, perhaps nothing). Literals compare
 * without case, and a slash at the end does not count. A literal wins over a parameter, and that
 * over
 * "{name*}", whatever the order of the table. HEAD uses the route of GET.
 */
#ifndef PAWL_HTTP_ROUTE_H
#define PAWL_HTTP_ROUTE_H

#include "base/str.h"

#include <pawl/ext/env.h>

struct pawl_exchange;

typedef void (*pawl_route_handler)(struct pawl_exchange *exchange, void *ctx);

/* It runs on the loop: for handlers that return at once and must work when all workers are busy. */
#define PAWL_ROUTE_ON_LOOP 1u
/* A request may take as long as it takes: it waits for something. */
#define PAWL_ROUTE_NO_DEADLINE 2u
/* Its thread may compute for long. Such requests have a pool of their own: others do not wait. */
#define PAWL_ROUTE_COMPUTES 4u

struct pawl_route {
    const char *method;
    const char *path;
    pawl_route_handler handle;
    const char *permission;  /* NULL: none is needed */
    const char *label;       /* for metrics; NULL: the path */
    uint64_t body_bytes_max; /* 0: the server's */
    int64_t deadline_ms;     /* 0: the server's */
    uint32_t flags;          /* PAWL_ROUTE_… */
    const void *about;       /* the handler's own */
};

#define PAWL_ROUTE_PARAMETERS_MAX 8
#define PAWL_ROUTE_ALLOW_SIZE 96

enum pawl_route_result { PAWL_ROUTE_FOUND, PAWL_ROUTE_NO_PATH, PAWL_ROUTE_NO_METHOD };

struct pawl_route_match {
    const struct pawl_route *route;
    /* As they are in the path, still encoded. */
    struct pawl_str names[PAWL_ROUTE_PARAMETERS_MAX], values[PAWL_ROUTE_PARAMETERS_MAX];
    uint32_t parameter_count;
    char allow[PAWL_ROUTE_ALLOW_SIZE]; /* NO_METHOD: "GET, HEAD, POST" */
};

struct pawl_routes;

/*
 * Borrows the table for its life. PAWL_EINVAL names a route that is not well formed or that another
 * one equals. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__routes_new(const struct pawl_allocator *alloc,
                                     const struct pawl_route *routes, size_t count,
                                     struct pawl_routes **out, struct pawl_error *err);
void pawl__routes_free(struct pawl_routes *routes); /* NULL allowed */

/* Borrows `path`, which begins with '/' and has no query. Any thread. */
enum pawl_route_result pawl__routes_match(const struct pawl_routes *routes, struct pawl_str method,
                                          struct pawl_str path, struct pawl_route_match *out);

#endif
