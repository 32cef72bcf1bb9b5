/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP requests by libcurl: an executor (<pawl/ext/http.h>) with one thread, on which libcurl's
 * multi interface runs all requests at a time. The library is loaded, and the thread started, by
 * the first request.
 *
 * What a workflow asks for is not trusted. Only http and https, also behind redirects, and never
 * from https back to http; certificates are verified; redirects, time and the size of an answer
 * have limits; `deny` holds addresses that are not connected to, whatever name led there: the check
 * is on the address itself, so that a name which resolves differently the second time gains
 * nothing. Proxies of the process's environment are not used, for the same reason.
 *
 * Connections are kept, and used again by requests of the same scope only. HTTP/1.1 is spoken: a
 * connection has one request at a time, and one that has bytes which nobody asked for is not used
 * again. docs/design/0010-connections.md says why, and what it costs.
 */
#ifndef PAWL_DRIVERS_CURL_H
#define PAWL_DRIVERS_CURL_H

#include "os/address.h"

#include <pawl/ext/env.h>
#include <pawl/ext/http.h>

#define PAWL_CURL_TIMEOUT_NS INT64_C(100000000000)
#define PAWL_CURL_CONNECT_NS INT64_C(30000000000)
#define PAWL_CURL_RESPONSE_BYTES ((size_t)16 << 20)
#define PAWL_CURL_REDIRECTS 10
/* Requests under way at a time; more are PAWL_EBUSY. */
#define PAWL_CURL_REQUESTS 1024
/* Scopes whose connections are kept; those of others are not. */
#define PAWL_CURL_POOLS 256
/* Idle connections of all scopes: a quarter of the descriptors that a process usually has. */
#define PAWL_CURL_CONNECTIONS 256
/* How long connections are kept that no request of their scope uses. */
#define PAWL_CURL_IDLE_NS INT64_C(60000000000)

struct pawl_curl_options {
    int64_t timeout_ns;         /* of a whole request; 0: PAWL_CURL_TIMEOUT_NS */
    int64_t connect_ns;         /* of it, until there is a connection; 0: PAWL_CURL_CONNECT_NS */
    size_t response_bytes_max;  /* of a body; 0: PAWL_CURL_RESPONSE_BYTES */
    uint32_t requests_max;      /* 0: PAWL_CURL_REQUESTS */
    uint32_t pools_max;         /* 0: PAWL_CURL_POOLS */
    uint32_t connections_max;   /* idle; 0: PAWL_CURL_CONNECTIONS */
    int64_t idle_ns;            /* 0: PAWL_CURL_IDLE_NS */
    struct pawl_addresses deny; /* copied */
    const char *ca_file;        /* whom to trust; copied; NULL: the system's */
};

/* Borrows env for its life. `options` NULL: the defaults. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__curl_open(struct pawl_env *env, const struct pawl_curl_options *options,
                                    struct pawl_http_executor **out, struct pawl_error *err);

#endif
