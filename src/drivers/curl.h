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

struct pawl_curl_options {
    int64_t timeout_ns;         /* of a whole request; 0: PAWL_CURL_TIMEOUT_NS */
    int64_t connect_ns;         /* of it, until there is a connection; 0: PAWL_CURL_CONNECT_NS */
    size_t response_bytes_max;  /* of a body; 0: PAWL_CURL_RESPONSE_BYTES */
    uint32_t requests_max;      /* 0: PAWL_CURL_REQUESTS */
    struct pawl_addresses deny; /* copied */
    const char *ca_file;        /* whom to trust; copied; NULL: the system's */
};

/* Borrows env for its life. `options` NULL: the defaults. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__curl_open(struct pawl_env *env, const struct pawl_curl_options *options,
                                    struct pawl_http_executor **out, struct pawl_error *err);

#endif
