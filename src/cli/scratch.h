/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node for the time of one command that stores nothing. The host composes it by the same features
 * and settings as every other node; only the store is in memory. `pawl run` and `pawl eval` have
 * one; commands on a store have a session (session.h). A command that wants one has
 * PAWL_CLI_SETTINGS_OPTIONS in its table of options.
 */
#ifndef PAWL_CLI_SCRATCH_H
#define PAWL_CLI_SCRATCH_H

#include "cli/command.h"
#include "host/configuration.h"
#include "host/host.h"
#include "os/clock_env.h"
#include "runtime/runtime.h"

struct pawl_cli_scratch {
    struct pawl_clock_env *clock; /* NULL: the time is what it is */
    struct pawl_env *env;         /* with that clock */
    struct pawl_configuration configuration;
    bool configured; /* `configuration` is to be released */
    const struct pawl_activity *activity;
    struct pawl_host *host;
    struct pawl_engine *engine; /* these three are the host's */
    struct pawl_store *store;
    struct pawl_runtime *runtime;
};

/* Borrowed until the close. */
struct pawl_cli_scratch_options {
    struct pawl_runtime_hooks hooks;
    const struct pawl_activity *activity; /* one type more; NULL: none */
    const int64_t *now_ns;                /* where the clock stands; NULL: it goes by itself */
};

/* Close it whatever the answer. */
PAWL_MUST_CHECK int pawl__cli_scratch_open(struct pawl_cli *cli,
                                           const struct pawl_cli_scratch_options *options,
                                           struct pawl_cli_scratch *out, struct pawl_error *err);
void pawl__cli_scratch_close(struct pawl_cli_scratch *scratch);

/* Of a call: what is in memory is not waited for. */
int64_t pawl__cli_scratch_deadline(const struct pawl_cli_scratch *scratch);

#endif
