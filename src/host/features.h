/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The features that come with Pawl, and the composition that a configuration asks for. A feature is
 * described in host.h; each here says which slots it touches.
 */
#ifndef PAWL_HOST_FEATURES_H
#define PAWL_HOST_FEATURES_H

#include "host/host.h"

/* Fills `environment` with the host's own. */
extern const struct pawl_feature pawl__feature_environment;

/*
 * Fills `store` with the one that the setting `store` names; its tables are made at the start. A
 * store into which a restore was not finished is refused.
 */
extern const struct pawl_feature pawl__feature_store;

/* Puts around `store` what counts its calls: the setting `store.trace`. */
extern const struct pawl_feature pawl__feature_store_trace;

/* Fills `engine` with all that is built in: a struct pawl_engine. */
extern const struct pawl_feature pawl__feature_engine;

/* Fills `runtime` with that of one node: a struct pawl_runtime. */
extern const struct pawl_feature pawl__feature_runtime;

/* Applies what the host's configuration asks for. On failure some features may be applied. */
PAWL_MUST_CHECK int pawl__host_compose(struct pawl_host *host, struct pawl_error *err);

#endif
