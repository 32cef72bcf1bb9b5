/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The features that come with Pawl, and the composition that a configuration asks for. A feature is
 * described in host.h; each here says which slots it touches.
 */
#ifndef PAWL_HOST_FEATURES_H
#define PAWL_HOST_FEATURES_H

#include "host/host.h"

struct pawl_runtime;

/* Fills `environment` with the host's own. */
extern const struct pawl_feature pawl__feature_environment;

/*
 * Fills `store` with the one that the setting `store` names; its tables are made at the start. A
 * store into which a restore was not finished is refused.
 */
extern const struct pawl_feature pawl__feature_store;

/* Puts around `store` what counts its calls: the setting `store.trace`. */
extern const struct pawl_feature pawl__feature_store_trace;

/*
 * Fills `lock-provider` with what the setting `lock` names, a struct pawl_lock_provider, and `lock`
 * with a struct pawl_locks on it (locks/locks.h).
 */
extern const struct pawl_feature pawl__feature_lock;

/* Fills `engine` with all that is built in: a struct pawl_engine. */
extern const struct pawl_feature pawl__feature_engine;

/*
 * Fills `effect.http` with libcurl, within the limits of `http.timeout`, `http.response_max` and
 * `http.deny`. The library is loaded by the first request.
 */
extern const struct pawl_feature pawl__feature_http;

/* Fills `runtime` with that of one node: a struct pawl_workflow_runtime (runtime/client.h). */
extern const struct pawl_feature pawl__feature_runtime;

/*
 * Fills `queue-worker`, `definitions-refresher` and `definitions-reloader` with those of one node:
 * struct pawl_queue_worker, pawl_refresher and pawl_reloader. The reloader's provider is the folder
 * of the setting `definitions.folder`.
 */
extern const struct pawl_feature pawl__feature_services;

/* The node below a started host's `runtime`; NULL: there is none. Borrowed until the stop. */
struct pawl_runtime *pawl__host_node(struct pawl_host *host);

/* Applies what the host's configuration asks for. On failure some features may be applied. */
PAWL_MUST_CHECK int pawl__host_compose(struct pawl_host *host, struct pawl_error *err);

#endif
