/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of src/api share: what every handler is given, and the tables of routes. */
#ifndef PAWL_API_PRIVATE_H
#define PAWL_API_PRIVATE_H

#include "api/api.h"
#include "os/address.h"

#include <stdatomic.h>

struct pawl_api {
    struct pawl_env *env;
    struct pawl_host *host;
    const struct pawl_log *log;
    struct pawl_server *server;
    struct pawl_addresses trusted_proxies;
    atomic_bool draining;
};

struct pawl_configuration;
struct pawl_server_limits pawl__api_limits(const struct pawl_configuration *configuration);

void pawl__api_health_live(struct pawl_exchange *exchange, void *ctx);
void pawl__api_health_ready(struct pawl_exchange *exchange, void *ctx);

#endif
