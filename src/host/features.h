/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The features that come with Pawl, and the composition that a configuration asks for. A feature is
 * described in host.h; each here says which slots it touches.
 */
#ifndef PAWL_HOST_FEATURES_H
#define PAWL_HOST_FEATURES_H

#include "host/host.h"

struct pawl_meter;
struct pawl_engine;
struct pawl_guard;
struct pawl_http_answer;
struct pawl_http_request;
struct pawl_instance_row;
struct pawl_javascript;
struct pawl_log_record;
struct pawl_trace_context;
struct pawl_runtime;
struct pawl_workflow_runtime;

/* Fills `environment` with the host's own. */
extern const struct pawl_feature pawl__feature_environment;

/*
 * Fills `store` with the one that the setting `store` names; its tables are made at the start. A
 * store into which a restore was not finished is refused.
 */
extern const struct pawl_feature pawl__feature_store;

/* Puts around `store` what counts its calls: the setting `store.trace`. */
extern const struct pawl_feature pawl__feature_store_trace;

/* Of a URI with its NUL. */
#define PAWL_LOCK_URI_SIZE 8192

/*
 * The lock service that a configuration means: the setting `lock`, and where that is not set the
 * store's own: its server, or a file beside the store's. PAWL_EINVAL, PAWL_ELIMIT.
 */
PAWL_MUST_CHECK int pawl__host_lock_uri(const struct pawl_configuration *configuration,
                                        char out[PAWL_LOCK_URI_SIZE], struct pawl_error *err);

/*
 * Fills `lock-provider` with what pawl__host_lock_uri() names, a struct pawl_lock_provider, and
 * `lock` with a struct pawl_locks on it (locks/locks.h).
 */
extern const struct pawl_feature pawl__feature_lock;

/* Fills `engine` with all that is built in: a struct pawl_engine. */
extern const struct pawl_feature pawl__feature_engine;
/* Scripts within the limits of the settings; borrows environment and host. `host` NULL: of an
 * engine without one: nothing is measured, and there are no links. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__host_open_scripts(struct pawl_env *env,
                                            const struct pawl_configuration *configuration,
                                            struct pawl_host *host, struct pawl_javascript **out,
                                            struct pawl_error *err);
void pawl__host_limit_engine(const struct pawl_configuration *configuration,
                             struct pawl_engine *engine);

/*
 * Fills `effect.http` with libcurl, within the limits of `http.timeout`, `http.response_max` and
 * `http.deny`. The library is loaded by the first request.
 */
extern const struct pawl_feature pawl__feature_http;

/* Fills `runtime` with that of one node: a struct pawl_workflow_runtime (runtime/node/client.h). */
extern const struct pawl_feature pawl__feature_runtime;

/*
 * Fills `queue-worker`, `definitions-refresher` and `definitions-reloader` with those of one node:
 * struct pawl_queue_worker, pawl_refresher and pawl_reloader. The reloader's provider is the folder
 * of the setting `definitions.folder`.
 */
extern const struct pawl_feature pawl__feature_services;

/*
 * Several nodes share the store (distributed/distributed.h): replaces `runtime` and `queue-worker`,
 * decorates `definitions-refresher` and `definitions-reloader`, and touches nothing else. Wants
 * `lock`. The start fails when locks do not reach as far as the store.
 */
extern const struct pawl_feature pawl__feature_distributed;

/*
 * The local runtime as the host's settings want it, with a guard (NULL: none) and what it tells
 * people of itself: which runtime it is, and whose locks it has.
 */
PAWL_MUST_CHECK int pawl__host_open_runtime(struct pawl_host *host, const char *kind,
                                            const char *locks, struct pawl_guard *guard,
                                            struct pawl_workflow_runtime **out,
                                            struct pawl_error *err);

/* The node below a started host's `runtime`; NULL: there is none. Borrowed until the stop. */
struct pawl_runtime *pawl__host_node(struct pawl_host *host);

/*
 * Everything is measured: makes the host's meter and decorates `store`. For nodes that somebody
 * watches (surroundings.measures).
 */
extern const struct pawl_feature pawl__feature_measure;
PAWL_MUST_CHECK int pawl__host_measure(struct pawl_host *host, struct pawl_error *err);
/* What the runtime's hooks report; the meter may be NULL. */
void pawl__measure_burst(struct pawl_meter *meter, const struct pawl_instance_row *instance,
                         int64_t duration_ns, int status);
void pawl__measure_record(struct pawl_meter *meter, struct pawl_str type, struct pawl_str event);
void pawl__measure_begun(struct pawl_meter *meter, bool is_timer, int64_t late_us);

/* Opens the host's tracer, if the environment names a collector. */
PAWL_MUST_CHECK int pawl__host_trace(struct pawl_host *host, struct pawl_error *err);
/* What the runtime's hooks report; the tracer may be NULL. */
void pawl__trace_burst_begun(struct pawl_tracer *tracer, const struct pawl_instance_row *instance,
                             struct pawl_trace_context *span);
void pawl__trace_burst(struct pawl_tracer *tracer, const char *node_id,
                       const struct pawl_instance_row *instance,
                       const struct pawl_trace_context *context, struct pawl_str cause,
                       int64_t begun_ns, int64_t ended_ns, int status);
void pawl__trace_commit(struct pawl_tracer *tracer, const struct pawl_trace_context *burst,
                        int64_t begun_ns, int64_t ended_ns, int status);
void pawl__trace_record(struct pawl_tracer *tracer, const struct pawl_trace_context *burst,
                        const struct pawl_log_record *record);
void pawl__trace_request(struct pawl_tracer *tracer, struct pawl_str instance_id,
                         const struct pawl_trace_context *context,
                         const struct pawl_http_request *request,
                         const struct pawl_http_answer *answer, int64_t begun_ns, int64_t ended_ns);

/* Applies what the host's configuration asks for. On failure some features may be applied. */
PAWL_MUST_CHECK int pawl__host_compose(struct pawl_host *host, struct pawl_error *err);

#endif
