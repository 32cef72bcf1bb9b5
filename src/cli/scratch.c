/* SPDX-License-Identifier: Apache-2.0 */
/* A node that stores nothing; see scratch.h. */
#include "cli/scratch.h"

#include "activities/activities.h"
#include "base/error.h"
#include "expressions/expressions.h"
#include "os/tzdata.h"
#include "stores/stores.h"

#define WAIT_NS INT64_C(60000000000)
/* A year: with --now the clock jumps further than a lease lasts. */
#define LEASE_US INT64_C(31536000000000)

static int add_vocabulary(struct pawl_cli_scratch *scratch, const struct pawl_activity *more)
{
    struct pawl_engine *engine = &scratch->engine;
    int status = pawl__activities_register(engine);

    if (status == PAWL_OK && more)
        status = pawl__engine_add_activity(engine, more);
    if (status == PAWL_OK)
        status = pawl__expressions_register(engine);
    return status == PAWL_OK ? pawl__javascript_register(engine, scratch->javascript) : status;
}

static int open_engine(struct pawl_cli_scratch *scratch,
                       const struct pawl_cli_scratch_options *options, struct pawl_error *err)
{
    struct pawl_hash_seed seed;
    int status = pawl_env_entropy(scratch->env, &seed, sizeof seed, err);

    if (status == PAWL_OK)
        status = pawl__javascript_open(scratch->env, NULL, &scratch->javascript, err);
    if (status != PAWL_OK)
        return status;
    pawl__engine_init(&scratch->engine, &scratch->env->alloc, seed);
    scratch->engine.timezone = pawl__tzdata_load;
    status = add_vocabulary(scratch, options->activity);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

int pawl__cli_scratch_open(struct pawl_cli *cli, const struct pawl_cli_scratch_options *options,
                           struct pawl_cli_scratch *out, struct pawl_error *err)
{
    const struct pawl_runtime_options runtime = {
        .lease_us = LEASE_US,
        .log = &cli->log,
        .hooks = options->hooks,
        .definitions = {.keep_invalid = true},
        .no_journal = true,
    };
    int status = PAWL_OK;

    *out = (struct pawl_cli_scratch){.env = cli->env};
    pawl__engine_init(&out->engine, &cli->env->alloc, (struct pawl_hash_seed){0, 0});
    if (options->now_ns)
        status = pawl__clock_env_open(cli->env, NULL, *options->now_ns, &out->clock);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    if (out->clock)
        out->env = pawl__clock_env(out->clock);
    status = open_engine(out, options, err);
    if (status == PAWL_OK)
        status = pawl__memory_store_new(out->env, &out->store, err);
    if (status == PAWL_OK)
        status =
            pawl__runtime_open(out->env, &out->engine, out->store, &runtime, &out->runtime, err);
    return status;
}

void pawl__cli_scratch_close(struct pawl_cli_scratch *scratch)
{
    pawl__runtime_close(scratch->runtime);
    pawl_store_close(scratch->store);
    pawl__engine_release(&scratch->engine);
    pawl__javascript_close(scratch->javascript);
    pawl__clock_env_close(scratch->clock);
}

int64_t pawl__cli_scratch_deadline(const struct pawl_cli_scratch *scratch)
{
    return pawl_env_monotonic_ns(scratch->env) + WAIT_NS;
}
