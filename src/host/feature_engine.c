/* SPDX-License-Identifier: Apache-2.0 */
/* The engine as a feature: everything that is built in, with the limits of the configuration. */
#include "activities/activities.h"
#include "activities/program/program.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/time/datetime.h"
#include "expressions/expressions.h"
#include "expressions/javascript/javascript.h"
#include "host/features.h"
#include "host/links.h"
#include "host/meter.h"
#include "os/tzdata.h"

/* The service is `engine`; the rest is behind it. */
struct built_in {
    struct pawl_engine engine; /* first */
    struct pawl_javascript *javascript;
    struct pawl_env *env;
    struct pawl_arena arena; /* what is made of the types of a program */
};

#define SECOND_NS INT64_C(1000000000)
#define TYPES_BYTES_MAX ((size_t)256 << 20)

static void close_engine(void *ctx, void *service)
{
    struct built_in *built_in = service;

    (void)ctx;
    pawl__engine_release(&built_in->engine);
    pawl__javascript_close(built_in->javascript);
    pawl__arena_release(&built_in->arena);
    pawl__free(&built_in->env->alloc, built_in, sizeof *built_in);
}

static void count_script(void *ctx, int64_t duration_ns)
{
    pawl__meter_observe_ns(ctx, PAWL_METRIC_SCRIPT_SECONDS, pawl__str(""), duration_ns);
}

/* The store is asked once in a while for the key that signs; see links.h. */
static int make_event_url(void *ctx, struct pawl_arena *arena, struct pawl_str instance_id,
                          struct pawl_str event, int64_t life_ticks, struct pawl_str *out,
                          struct pawl_error *err)
{
    struct pawl_host *host = ctx;
    struct pawl_env *env = pawl__host_env(host);
    struct pawl_link link = {
        .event = event, .bookmark_id = pawl__str(""), .instance_id = instance_id};

    if (life_ticks > 0)
        link.expires_s = pawl_env_wall_ns(env) / SECOND_NS + life_ticks / PAWL_TICKS_PER_SECOND + 1;
    return pawl__link_event_url(host, &link, arena, out, pawl_env_monotonic_ns(env) + 5 * SECOND_NS,
                                err);
}

int pawl__host_open_scripts(struct pawl_env *env, const struct pawl_configuration *configuration,
                            struct pawl_host *host, struct pawl_javascript **out,
                            struct pawl_error *err)
{
    struct pawl_meter *meter = host ? pawl__host_meter(host) : NULL;
    struct pawl_javascript_options options = pawl__javascript_options_default;

    options.fuel_max =
        (uint32_t)pawl__configuration_number(configuration, PAWL_SETTING_ID_SCRIPT_FUEL);
    options.time_ms_max =
        pawl__configuration_number(configuration, PAWL_SETTING_ID_SCRIPT_TIME) / 1000000;
    options.memory_bytes_max =
        (uint32_t)pawl__configuration_number(configuration, PAWL_SETTING_ID_SCRIPT_MEMORY);
    options.stack_bytes_max =
        (uint32_t)pawl__configuration_number(configuration, PAWL_SETTING_ID_SCRIPT_STACK);
    options.large_max =
        (uint32_t)pawl__configuration_number(configuration, PAWL_SETTING_ID_SCRIPT_LARGE);
    if (meter)
        options.ran = count_script;
    options.ran_ctx = meter;
    if (host)
        options.event_url = make_event_url;
    options.event_url_ctx = host;
    return pawl__javascript_open(env, &options, out, err);
}

void pawl__host_limit_engine(const struct pawl_configuration *configuration,
                             struct pawl_engine *engine)
{
    engine->yield_after =
        (uint32_t)pawl__configuration_number(configuration, PAWL_SETTING_ID_ENGINE_YIELD_AFTER);
    engine->burst_bytes_max =
        (size_t)pawl__configuration_number(configuration, PAWL_SETTING_ID_ENGINE_MEMORY);
    engine->timer_interval_min =
        pawl__configuration_number(configuration, PAWL_SETTING_ID_TIMER_INTERVAL_MIN) /
        (1000 / PAWL_TICKS_PER_US);
}

static int fill(struct pawl_host *host, struct built_in *built_in,
                const struct pawl_configuration *configuration)
{
    struct pawl_engine *engine = &built_in->engine;
    int status = pawl__activities_register(engine);

    if (status == PAWL_OK)
        status = pawl__expressions_register(engine);
    if (status == PAWL_OK)
        status = pawl__javascript_register(engine, built_in->javascript);
    engine->commit_strategies = true;
    engine->timezone = pawl__tzdata_load;
    engine->event_url = make_event_url;
    engine->event_url_ctx = host;
    pawl__host_limit_engine(configuration, engine);
    return status;
}

/* What the program itself brings. */
static int extend(struct pawl_host *host, struct built_in *built_in, struct pawl_error *err)
{
    const struct pawl_surroundings *around = pawl__host_surroundings(host);
    int status = pawl__program_add(&built_in->engine, &built_in->arena, around->activities,
                                   around->activity_count, err);

    if (status == PAWL_OK && around->extend)
        status = around->extend(around->ctx, &built_in->engine, err);
    return status;
}

static int build_engine(struct pawl_host *host, void *ctx, void **service, struct pawl_error *err)
{
    struct pawl_env *env = pawl__host_env(host);
    const struct pawl_configuration *configuration = pawl__host_configuration(host);
    struct built_in *built_in = pawl__alloc_zeroed(&env->alloc, sizeof *built_in);
    struct pawl_hash_seed seed;
    int status;

    (void)ctx;
    if (!built_in)
        return pawl__error_code(err, PAWL_ENOMEM);
    built_in->env = env;
    pawl__arena_init(&built_in->arena, &env->alloc, TYPES_BYTES_MAX);
    status = pawl_env_entropy(env, &seed, sizeof seed, err);
    if (status != PAWL_OK) {
        pawl__free(&env->alloc, built_in, sizeof *built_in);
        return status;
    }
    pawl__engine_init(&built_in->engine, &env->alloc, seed);
    status = pawl__host_open_scripts(env, configuration, host, &built_in->javascript, err);
    if (status == PAWL_OK) {
        status = fill(host, built_in, configuration);
        if (status != PAWL_OK)
            (void)pawl__error_code(err, status);
    }
    if (status == PAWL_OK)
        status = extend(host, built_in, err);
    if (status != PAWL_OK) {
        close_engine(NULL, built_in);
        return status;
    }
    *service = built_in;
    return PAWL_OK;
}

static const struct pawl_service_factory built_in_engine = {"built-in", build_engine, close_engine,
                                                            NULL};

static int apply_engine(struct pawl_host *host, struct pawl_error *err)
{
    return pawl__host_fill(host, PAWL_SLOT_ENGINE, &built_in_engine, err);
}

const struct pawl_feature pawl__feature_engine = {"engine", apply_engine};
