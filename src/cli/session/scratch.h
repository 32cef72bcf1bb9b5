/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node for the time of one command that stores nothing. The host composes it by the same features
 * and settings as every other node; only the store is in memory. `pawl run` and `pawl eval` have
 * one; commands on a store have a session (session.h). A command that wants one has
 * PAWL_CLI_SETTINGS_OPTIONS in its table of options.
 */
#ifndef PAWL_CLI_SESSION_SCRATCH_H
#define PAWL_CLI_SESSION_SCRATCH_H

#include "cli/command/command.h"
#include "host/configuration.h"
#include "host/host.h"
#include "operations/operation.h"
#include "os/clock_env.h"

struct pawl_cli_scratch {
    struct pawl_clock_env *clock; /* NULL: the time is what it is */
    struct pawl_env *env;         /* with that clock */
    struct pawl_configuration configuration;
    bool configured; /* `configuration` is to be released */
    const struct pawl_log *log;
    struct pawl_host *host;
};

/* Borrowed until the close. */
struct pawl_cli_scratch_options {
    /* What the command wants to hear; the rest of it is filled in. */
    struct pawl_surroundings around;
    const int64_t *now_ns; /* where the clock stands; NULL: it goes by itself */
    bool stepwise;         /* one activity at a time, so that what each prints appears at once */
};

/* Close it also if this fails. */
PAWL_MUST_CHECK int pawl__cli_scratch_open(struct pawl_cli *cli,
                                           const struct pawl_cli_scratch_options *options,
                                           struct pawl_cli_scratch *out, struct pawl_error *err);
void pawl__cli_scratch_close(struct pawl_cli_scratch *scratch);

/* An operation on it, with a deadline of its own: what is in memory is not waited for. */
struct pawl_op pawl__cli_scratch_op(const struct pawl_cli_scratch *scratch,
                                    struct pawl_arena *arena, struct pawl_error *err);

#endif
