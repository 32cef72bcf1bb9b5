/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and closing; lines and tasks on their way to the program. What opens is taken down in
 * reverse by pawl_close(), which copes with half of it.
 */
#include "embed/embed.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/stimuli.h"
#include "host/features.h"
#include "os/process.h"

#include <stdio.h>

#define WAIT_NS_DEFAULT INT64_C(30000000000)
#define NS_PER_MS INT64_C(1000000)

/* ---- callbacks ----------------------------------------------------------------------------- */

/* NUL-terminated in the arena; "" when there is no memory for it. */
static const char *text_of(struct pawl_arena *arena, struct pawl_str text)
{
    struct pawl_str copy = pawl__arena_str(arena, text);

    return copy.ptr ? copy.ptr : "";
}

static void lose(const struct pawl *pawl, const char *message, struct pawl_str instance_id)
{
    if (pawl->options.log)
        pawl_log(pawl->options.log, PAWL_LOG_ERROR, message,
                 pawl_log_str("instance", instance_id.ptr, instance_id.len));
}

static int pass_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct pawl *pawl = ctx;
    struct pawl_arena arena;
    const char *id, *line;

    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    id = text_of(&arena, instance_id);
    line = text_of(&arena, text);
    if (arena.status == PAWL_OK)
        pawl->options.line(pawl->options.ctx, id, line);
    else
        lose(pawl, "no memory for a line", instance_id);
    pawl__arena_release(&arena);
    return PAWL_OK;
}

static void pass_task(void *ctx, struct pawl_str instance_id, const struct pawl_json *task)
{
    struct pawl *pawl = ctx;
    struct pawl_json none = pawl__json_null();
    const struct pawl_json *payload = pawl__json_get_text(task, "payload");
    const char *id, *task_id, *name, *text = "null";
    struct pawl_arena arena;

    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    id = text_of(&arena, instance_id);
    task_id = text_of(&arena, pawl__json_str(pawl__json_get_text(task, PAWL_STIMULUS_TASK_ID)));
    name = text_of(&arena, pawl__json_str(pawl__json_get_text(task, PAWL_STIMULUS_TASK_NAME)));
    if (pawl__json_text_write(&arena, payload ? payload : &none, &text) == PAWL_OK &&
        arena.status == PAWL_OK)
        pawl->options.task(pawl->options.ctx, id, task_id, name, text);
    else
        lose(pawl, "no memory for a task", instance_id);
    pawl__arena_release(&arena);
}

/* ---- configuring --------------------------------------------------------------------------- */

static int set(struct pawl *pawl, enum pawl_setting_id id, const char *text, struct pawl_error *err)
{
    if (!text || !*text)
        return PAWL_OK;
    return pawl__configuration_set(&pawl->configuration, id, pawl__str(text), PAWL_ORIGIN_OPTION,
                                   "struct pawl_options", err);
}

static int set_number(struct pawl *pawl, enum pawl_setting_id id, int64_t value, const char *unit,
                      struct pawl_error *err)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%lld%s", (long long)value, unit);
    return set(pawl, id, text, err);
}

void pawl_use_distributed_runtime(struct pawl_options *options,
                                  const struct pawl_distributed_options *distributed)
{
    static const struct pawl_distributed_options defaults = {0};

    if (options)
        options->distributed = distributed ? distributed : &defaults;
}

static int configure_distributed(struct pawl *pawl, const struct pawl_distributed_options *options,
                                 struct pawl_error *err)
{
    int status = set(pawl, PAWL_SETTING_ID_DISTRIBUTED, "true", err);

    if (status == PAWL_OK)
        status = set(pawl, PAWL_SETTING_ID_LOCK, options->lock, err);
    if (status == PAWL_OK && options->acquire_timeout_ms != 0)
        status = set_number(pawl, PAWL_SETTING_ID_LOCK_ACQUIRE_TIMEOUT, options->acquire_timeout_ms,
                            "ms", err);
    if (status == PAWL_OK && options->retry_delay_ms != 0)
        status =
            set_number(pawl, PAWL_SETTING_ID_LOCK_RETRY_DELAY, options->retry_delay_ms, "ms", err);
    if (status == PAWL_OK && options->retry_count != 0)
        status = set_number(pawl, PAWL_SETTING_ID_LOCK_RETRIES,
                            options->retry_count > 0 ? options->retry_count : 0, "", err);
    if (status == PAWL_OK && options->partitions != 0)
        status = set_number(pawl, PAWL_SETTING_ID_QUEUE_PARTITIONS, options->partitions, "", err);
    if (status == PAWL_OK && options->allow_local)
        status = set(pawl, PAWL_SETTING_ID_LOCK_ALLOW_LOCAL, "true", err);
    return status;
}

static int configure(struct pawl *pawl, const struct pawl_options *options, struct pawl_error *err)
{
    const struct pawl_configuration_sources sources = {.file = options->config_file,
                                                       .no_search = true};
    char lease[32] = "";
    int status = PAWL_OK;

    if (options->config_file && *options->config_file)
        status = pawl__configuration_read(&pawl->configuration, &sources, err);
    for (size_t i = 0; i < options->setting_count && status == PAWL_OK; i++) {
        if (!options->settings || !options->settings[i])
            return pawl__error_set(err, PAWL_EINVAL, "setting %zu of the options is NULL", i);
        status = pawl__configuration_set_pair(&pawl->configuration, options->settings[i],
                                              "settings", err);
    }
    if (options->lease_ms != 0)
        (void)snprintf(lease, sizeof lease, "%lldms", (long long)options->lease_ms);
    if (status == PAWL_OK)
        status = set(pawl, PAWL_SETTING_ID_STORE, options->store, err);
    if (status == PAWL_OK)
        status = set(pawl, PAWL_SETTING_ID_NODE_ID, options->node_id, err);
    if (status == PAWL_OK)
        status = set(pawl, PAWL_SETTING_ID_NODE_LEASE, lease, err);
    if (status == PAWL_OK && options->distributed)
        status = configure_distributed(pawl, options->distributed, err);
    return status;
}

static int check_options(const struct pawl_options *options, struct pawl_error *err)
{
    const struct embed_text texts[] = {
        {options->store, "options.store"},
        {options->node_id, "options.node_id"},
        {options->config_file, "options.config_file"},
        {options->actor, "options.actor"},
        {options->distributed ? options->distributed->lock : NULL, "options.distributed->lock"},
    };
    int status = pawl__embed_check_texts(texts, sizeof texts / sizeof texts[0], err);

    for (size_t i = 0; i < options->setting_count && options->settings && status == PAWL_OK; i++)
        status = pawl__text_check_utf8(options->settings[i], "a setting of the options", err);
    if (status != PAWL_OK)
        return status;
    if (options->workers > PAWL_WORKER_COUNT_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "%u workers are too many: %d are the most",
                               options->workers, PAWL_WORKER_COUNT_MAX);
    if (options->actor && strlen(options->actor) > EMBED_ACTOR_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "options.actor has at most %d bytes",
                               EMBED_ACTOR_MAX);
    if (options->timeout_ms < 0 || options->lease_ms < 0)
        return pawl__error_set(err, PAWL_EINVAL, "timeout_ms and lease_ms are not negative");
    if (options->activity_count > 0 && !options->activities)
        return pawl__error_set(err, PAWL_EINVAL,
                               "the options announce %zu activities and have none",
                               options->activity_count);
    return PAWL_OK;
}

/* ---- opening ------------------------------------------------------------------------------- */

static int compose(struct pawl *pawl, bool named, struct pawl_error *err)
{
    const struct pawl_surroundings around = {
        .log = pawl->options.log,
        .line = pawl->options.line ? pass_line : NULL,
        .task = pawl->options.task ? pass_task : NULL,
        .activities = pawl->options.activities,
        .activity_count = pawl->options.activity_count,
        .ctx = pawl,
        .transient = !named,
    };
    int status = pawl__host_new(pawl->env, &pawl->configuration, &pawl->host, err);

    if (status != PAWL_OK)
        return status;
    pawl__host_set_surroundings(pawl->host, &around);
    status = pawl__host_compose(pawl->host, err);
    return status == PAWL_OK ? pawl__host_start(pawl->host, err) : status;
}

static int employ(struct pawl *pawl, struct pawl_error *err)
{
    if (pawl->options.workers == 0)
        return PAWL_OK;
    return pawl__duty_open(pawl->host, pawl->options.workers, NULL, &pawl->duty, err);
}

static int make(const struct pawl_options *options, struct pawl **out, struct pawl_error *err)
{
    struct pawl_env *env = options->env;
    struct pawl *pawl;
    int status = PAWL_OK;

    if (!env)
        status = pawl_system_env_open(&env, err);
    if (status != PAWL_OK)
        return status;
    pawl = pawl__alloc_zeroed(&env->alloc, sizeof *pawl);
    if (!pawl) {
        if (!options->env)
            pawl_system_env_close(env);
        (void)pawl__error_code(err, PAWL_ENOMEM);
        return PAWL_ENOMEM;
    }
    pawl->env = env;
    pawl->process_id = pawl__process_id();
    pawl->owns_env = !options->env;
    pawl->options = *options;
    pawl->wait_ns = options->timeout_ms == 0                      ? WAIT_NS_DEFAULT
                    : options->timeout_ms > INT64_MAX / NS_PER_MS ? INT64_MAX
                                                                  : options->timeout_ms * NS_PER_MS;
    (void)snprintf(pawl->actor, sizeof pawl->actor, "%s",
                   options->actor && *options->actor ? options->actor : "embed");
    pawl__configuration_init(&pawl->configuration, &env->alloc);
    *out = pawl;
    return PAWL_OK;
}

int pawl_open(const struct pawl_options *options, struct pawl **out, struct pawl_error *err)
{
    static const struct pawl_options defaults = {0};
    struct pawl *pawl = NULL;
    int status;

    if (!out)
        return pawl__error_set(err, PAWL_EINVAL, "pawl_open needs a place for its result");
    if (!options)
        options = &defaults;
    status = check_options(options, err);
    if (status == PAWL_OK)
        status = make(options, &pawl, err);
    if (status == PAWL_OK)
        status = configure(pawl, options, err);
    if (status == PAWL_OK)
        status = compose(pawl, options->node_id && *options->node_id, err);
    if (status == PAWL_OK)
        status = employ(pawl, err);
    if (status != PAWL_OK) {
        pawl_close(pawl);
        return status;
    }
    /* They were the caller's for the time of the opening. */
    pawl->options.settings = NULL;
    pawl->options.store = pawl->options.node_id = pawl->options.config_file = NULL;
    pawl->options.actor = NULL;
    pawl->options.distributed = NULL;
    *out = pawl;
    return PAWL_OK;
}

void pawl_close(struct pawl *pawl)
{
    struct pawl_env *env;
    bool owns_env;

    /* What was opened before a fork is the parent's: its connections, its place in the store. */
    if (!pawl || pawl->process_id != pawl__process_id())
        return;
    env = pawl->env;
    owns_env = pawl->owns_env;
    if (!pawl->is_of_caller) {
        pawl__duty_close(pawl->duty);
        pawl__host_free(pawl->host);
        pawl__configuration_release(&pawl->configuration);
    }
    pawl__free(&env->alloc, pawl, sizeof *pawl);
    if (owns_env)
        pawl_system_env_close(env);
}

/* ---- callers ------------------------------------------------------------------------------- */

static int check_caller(const struct pawl_caller *caller, struct pawl_error *err)
{
    const struct embed_text texts[] = {{caller->actor, "the caller's actor"},
                                       {caller->request_id, "the caller's request_id"}};
    int status = pawl__embed_check_texts(texts, sizeof texts / sizeof texts[0], err);

    if (status == PAWL_OK && caller->actor && strlen(caller->actor) > EMBED_ACTOR_MAX)
        status =
            pawl__error_set(err, PAWL_EINVAL, "an actor has at most %d bytes", EMBED_ACTOR_MAX);
    if (status == PAWL_OK && caller->request_id && strlen(caller->request_id) > PAWL_REQUEST_ID_MAX)
        status = pawl__error_set(err, PAWL_EINVAL, "the id of a request has at most %u bytes",
                                 PAWL_REQUEST_ID_MAX);
    return status;
}

int pawl_open_for(struct pawl *pawl, const struct pawl_caller *caller, struct pawl **out,
                  struct pawl_error *err)
{
    struct pawl *opened;
    int status = pawl__embed_check(pawl, err);

    if (status == PAWL_OK && (!caller || !out))
        status = pawl__error_set(err, PAWL_EINVAL, "pawl_open_for needs a caller and a result");
    if (status == PAWL_OK)
        status = check_caller(caller, err);
    if (status != PAWL_OK)
        return status;
    opened = pawl__alloc_zeroed(&pawl->env->alloc, sizeof *opened);
    if (!opened)
        return pawl__error_code(err, PAWL_ENOMEM);
    *opened = *pawl;
    opened->owns_env = false;
    opened->is_of_caller = true;
    if (caller->actor && *caller->actor)
        (void)snprintf(opened->actor, sizeof opened->actor, "%s", caller->actor);
    (void)snprintf(opened->request_id, sizeof opened->request_id, "%s",
                   caller->request_id ? caller->request_id : "");
    *out = opened;
    return PAWL_OK;
}
