/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node on duty; see duty.h. The mutex guards the stop of the thread that tends, and is not held
 * while that calls the store.
 */
#include "host/duty.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "host/features.h"
#include "os/process.h"
#include "runtime/definitions/refresher.h"
#include "runtime/node/pool.h"
#include "runtime/node/retention.h"
#include "runtime/runtime.h"

/* Between two looks at what is old enough to go. */
#define RETENTION_NS INT64_C(60000000000)
/* What loading definitions, or one batch of what goes, may take. */
#define CALL_NS INT64_C(30000000000)
#define SECOND_NS INT64_C(1000000000)
#define LOOKS_PER_LEASE 5

struct pawl_duty {
    struct pawl_env *env;
    struct pawl_host *host;
    const struct pawl_log *log; /* NULL: none */
    struct pawl_pool *pool;
    struct pawl_thread *thread;
    struct pawl_mutex *mutex;
    struct pawl_cond *cond;
    bool stop;
};

static int64_t age_us(const struct pawl_configuration *configuration, enum pawl_setting_id id)
{
    return pawl__configuration_number(configuration, id) / 1000;
}

struct pawl_retention_policy pawl__retention_policy(const struct pawl_configuration *configuration)
{
    return (struct pawl_retention_policy){
        .finished_us = age_us(configuration, PAWL_SETTING_ID_RETENTION_FINISHED),
        .cancelled_us = age_us(configuration, PAWL_SETTING_ID_RETENTION_CANCELLED),
        .faulted_us = age_us(configuration, PAWL_SETTING_ID_RETENTION_FAULTED),
        .dead_letters_us = age_us(configuration, PAWL_SETTING_ID_RETENTION_DEAD_LETTERS),
        .audit_us = age_us(configuration, PAWL_SETTING_ID_RETENTION_AUDIT),
    };
}

static int64_t deadline(const struct pawl_duty *duty)
{
    return pawl_env_monotonic_ns(duty->env) + CALL_NS;
}

/* ---- tending ------------------------------------------------------------------------------- */

/* Whether it was told to stop by then. */
static bool stopped_by(struct pawl_duty *duty, int64_t until_ns)
{
    int status = pawl_mutex_lock(duty->env, duty->mutex);
    bool stop;

    if (status != PAWL_OK)
        return true;
    while (!duty->stop && status == PAWL_OK && until_ns > pawl_env_monotonic_ns(duty->env))
        status = pawl_cond_wait(duty->env, duty->cond, duty->mutex, until_ns);
    stop = duty->stop || status == PAWL_ESTOPPED;
    pawl_mutex_unlock(duty->env, duty->mutex);
    return stop;
}

static void tend(void *arg)
{
    struct pawl_duty *duty = arg;
    const struct pawl_retention_policy policy =
        pawl__retention_policy(pawl__host_configuration(duty->host));
    int64_t next_ns;

    do {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_retained gone = {0};
        int status =
            pawl__runtime_retain(pawl__host_node(duty->host), &policy, &gone, deadline(duty), &err);

        if (status != PAWL_OK && status != PAWL_ESTOPPED && duty->log)
            pawl_log(duty->log, PAWL_LOG_WARN, "retention failed", pawl_log_error("error", &err));
        next_ns = pawl_env_monotonic_ns(duty->env);
        if (status != PAWL_OK || !gone.more)
            next_ns += RETENTION_NS;
    } while (!stopped_by(duty, next_ns));
}

/* ---- life ---------------------------------------------------------------------------------- */

static int load_definitions(struct pawl_duty *duty, uint32_t *failed, struct pawl_error *err)
{
    struct pawl_reloader *reloader = pawl__host_reloader(duty->host);
    struct pawl_reloaded told = {0};
    int status = PAWL_OK;

    if (reloader)
        status = pawl__reloader_reload(reloader, &told, deadline(duty), err);
    if (status == PAWL_OK && failed)
        *failed = told.failed;
    return status;
}

/*
 * Nobody tells that a node has died: it shows in a look after the end of its lease. With a short
 * lease the usual second between looks would be as long again.
 */
static int64_t idle_ns(const struct pawl_duty *duty)
{
    int64_t lease_ns = pawl__configuration_number(pawl__host_configuration(duty->host),
                                                  PAWL_SETTING_ID_NODE_LEASE);

    return lease_ns / LOOKS_PER_LEASE < SECOND_NS ? lease_ns / LOOKS_PER_LEASE : SECOND_NS;
}

static int begin(struct pawl_duty *duty, int64_t workers, struct pawl_error *err)
{
    const struct pawl_pool_options options = {.workers = workers > 0 ? (uint32_t)workers
                                                                     : pawl__process_core_count(),
                                              .idle_ns_max = idle_ns(duty),
                                              .queue = pawl__host_queue_worker(duty->host)};
    int status = pawl_mutex_new(duty->env, "duty", &duty->mutex);

    if (status == PAWL_OK)
        status = pawl_cond_new(duty->env, "duty", &duty->cond);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = pawl__pool_open(duty->env, pawl__host_node(duty->host), &options, &duty->pool, err);
    if (status == PAWL_OK)
        status = pawl_thread_start(duty->env, "pawl-tend", tend, duty, &duty->thread, err);
    return status;
}

int pawl__duty_open(struct pawl_host *host, int64_t workers, uint32_t *failed,
                    struct pawl_duty **out, struct pawl_error *err)
{
    struct pawl_env *env = pawl__host_env(host);
    struct pawl_duty *duty = pawl__alloc_zeroed(&env->alloc, sizeof *duty);
    int status;

    if (!duty)
        return pawl__error_code(err, PAWL_ENOMEM);
    duty->env = env;
    duty->host = host;
    duty->log = pawl__host_surroundings(host)->log;
    status = workers != 0 ? load_definitions(duty, failed, err) : PAWL_OK;
    if (status == PAWL_OK && workers != 0)
        status = begin(duty, workers, err);
    if (status != PAWL_OK) {
        pawl__duty_close(duty);
        return status;
    }
    *out = duty;
    return PAWL_OK;
}

static void stop_tending(struct pawl_duty *duty)
{
    if (!duty->mutex || !duty->cond || pawl_mutex_lock(duty->env, duty->mutex) != PAWL_OK)
        return;
    duty->stop = true;
    pawl_cond_broadcast(duty->env, duty->cond);
    pawl_mutex_unlock(duty->env, duty->mutex);
}

int pawl__duty_wind_up(struct pawl_duty *duty, int64_t deadline_ns)
{
    pawl__runtime_stop(pawl__host_node(duty->host));
    stop_tending(duty);
    if (!duty->pool)
        return PAWL_OK;
    pawl__pool_stop(duty->pool);
    return pawl__pool_wait(duty->pool, deadline_ns);
}

void pawl__duty_close(struct pawl_duty *duty)
{
    struct pawl_env *env;

    if (!duty)
        return;
    env = duty->env;
    stop_tending(duty);
    if (duty->thread)
        pawl_thread_join(env, duty->thread);
    pawl__pool_close(duty->pool);
    pawl_cond_free(env, duty->cond);
    pawl_mutex_free(env, duty->mutex);
    pawl__free(&env->alloc, duty, sizeof *duty);
}

int pawl__duty_check(struct pawl_duty *duty, struct pawl_error *err)
{
    return pawl__runtime_check(pawl__host_node(duty->host), err);
}

uint32_t pawl__duty_workers(const struct pawl_duty *duty)
{
    return duty->pool ? pawl__pool_workers(duty->pool) : 0;
}

void pawl__duty_counts(struct pawl_duty *duty, struct pawl_pool_counts *out)
{
    *out = (struct pawl_pool_counts){0};
    if (duty->pool)
        pawl__pool_counts(duty->pool, out);
}
