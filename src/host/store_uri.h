/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a URI to a store: the one place that knows which backends there are.
 *
 *     memory:                   nothing is kept after the process
 *     sqlite:PATH, or a PATH    a file
 *     postgres://…              a server, as libpq reads it; postgresql:// too
 */
#ifndef PAWL_HOST_STORE_URI_H
#define PAWL_HOST_STORE_URI_H

#include "stores/stores.h"

/*
 * Opens it. `options` NULL: nothing is created, and as many connections as usual. PAWL_EINVAL: the
 * URI has an unknown form, or lacks something; or the result of the backend's open(). A message has
 * no password in it.
 */
PAWL_MUST_CHECK int pawl__host_open_store(struct pawl_env *env, struct pawl_str uri,
                                          const struct pawl_store_options *options,
                                          struct pawl_store **out, struct pawl_error *err);

/* "memory", "sqlite" or "postgres", without opening anything. PAWL_EINVAL. */
PAWL_MUST_CHECK int pawl__host_store_backend(struct pawl_str uri, const char **out,
                                             struct pawl_error *err);

/* The file of a SQLite store; "" for other stores. Borrowed from `uri`. */
struct pawl_str pawl__host_store_path(struct pawl_str uri);

#endif
