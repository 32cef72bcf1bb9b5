/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and closing, checks of arguments, texts in and out; lines and tasks on their way to the
 * program. What opens is taken down in reverse by pawl_close(), which copes with half of it.
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
/* A string that is returned to the caller; the size of its block is stored before it. */
#define TEXT_HEAD 16u

/* ---- checks -------------------------------------------------------------------------------- */

int pawl__embed_check(const struct pawl *pawl, struct pawl_error *err)
{
    if (!pawl)
        return pawl__error_set(err, PAWL_EINVAL, "no struct pawl was given: open one first");
    if (pawl->process_id != pawl__process_id())
        return pawl__error_set(err, PAWL_EINVAL,
                               "this struct pawl was opened before a fork, and belongs to the "
                               "parent: open another one in this process");
    return PAWL_OK;
}

int pawl__embed_check_text(const struct pawl *pawl, const char *text, const char *what,
                           struct pawl_error *err)
{
    int status = pawl__embed_check(pawl, err);

    if (status == PAWL_OK && (!text || !*text))
        status = pawl__error_set(err, PAWL_EINVAL, "%s was not given", what);
    return status == PAWL_OK ? pawl__text_check_utf8(text, what, err) : status;
}

int64_t pawl__embed_deadline(const struct pawl *pawl)
{
    int64_t now_ns = pawl_env_monotonic_ns(pawl->env);

    return now_ns > PAWL_FOREVER - pawl->wait_ns ? PAWL_FOREVER : now_ns + pawl->wait_ns;
}

int64_t pawl__embed_after_ms(const struct pawl *pawl, int64_t timeout_ms)
{
    int64_t now_ns = pawl_env_monotonic_ns(pawl->env);

    if (timeout_ms <= 0)
        return now_ns;
    return timeout_ms > (PAWL_FOREVER - now_ns) / NS_PER_MS ? PAWL_FOREVER
                                                            : now_ns + timeout_ms * NS_PER_MS;
}

int pawl__embed_check_answer(char **json, struct pawl_error *err)
{
    return json ? PAWL_OK
                : pawl__error_set(err, PAWL_EINVAL, "there is nowhere to put the JSON text");
}

struct pawl_op pawl__embed_op(const struct pawl *pawl, struct pawl_arena *arena,
                              struct pawl_error *err)
{
    PAWL_ASSERT(arena);
    return (struct pawl_op){.host = pawl->host,
                            .arena = arena,
                            .deadline_ns = pawl__embed_deadline(pawl),
                            .err = err,
                            .log = pawl->options.log,
                            .actor = pawl__str(pawl->actor),
                            .door = pawl__str("c")};
}

struct pawl_op pawl__embed_begin(struct pawl *pawl, struct pawl_arena *arena,
                                 struct pawl_error *err)
{
    pawl__arena_init(arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    return pawl__embed_op(pawl, arena, err);
}

/* ---- texts --------------------------------------------------------------------------------- */

int pawl__embed_parse_object(struct pawl_arena *arena, const char *json, const char *what,
                             struct pawl_json *out, struct pawl_error *err)
{
    struct pawl_json value;
    int status = pawl__json_text_read(arena, json && *json ? json : "{}", what, &value, err);

    if (status != PAWL_OK)
        return status;
    if (!pawl__json_is(&value, PAWL_JSON_OBJECT))
        return pawl__error_set(err, PAWL_EINVAL, "%s is not a JSON object but %s: write {…}", what,
                               pawl__json_type_name(&value));
    *out = value;
    return PAWL_OK;
}

/* Ends a text that begins with room for its head, for the caller to keep; or releases it. */
static int keep_text(struct pawl_buf *buf, char **out, struct pawl_error *err)
{
    (void)pawl__buf_cstr(buf);
    if (buf->status != PAWL_OK) {
        int status = pawl__error_code(err, buf->status);

        pawl__buf_release(buf);
        return status;
    }
    memcpy(buf->ptr, &buf->cap, sizeof buf->cap);
    *out = buf->ptr + TEXT_HEAD;
    return PAWL_OK;
}

int pawl__embed_text(struct pawl *pawl, const struct pawl_json *value, char **out,
                     struct pawl_error *err)
{
    static const char head[TEXT_HEAD] = {0};
    struct pawl_buf buf;

    pawl__buf_init(&buf, &pawl->env->alloc, EMBED_BYTES_MAX);
    pawl__buf_append(&buf, head, sizeof head);
    pawl__json_write(&buf, value, PAWL_JSON_ESCAPE_MINIMAL);
    return keep_text(&buf, out, err);
}

static int copy_text(struct pawl *pawl, struct pawl_str text, char **out, struct pawl_error *err)
{
    static const char head[TEXT_HEAD] = {0};
    struct pawl_buf buf;

    pawl__buf_init(&buf, &pawl->env->alloc, EMBED_BYTES_MAX);
    pawl__buf_append(&buf, head, sizeof head);
    pawl__buf_append(&buf, text.ptr, text.len);
    return keep_text(&buf, out, err);
}

int pawl__embed_end(struct pawl *pawl, const struct pawl_page *page, struct pawl_list_end *end,
                    struct pawl_error *err)
{
    char *next = NULL;
    int status = PAWL_OK;

    if (!end)
        return PAWL_OK;
    if (page->next.len > 0)
        status = copy_text(pawl, page->next, &next, err);
    if (status == PAWL_OK)
        *end = (struct pawl_list_end){.total = page->total, .next = next};
    return status;
}

const char *pawl__embed_str(struct pawl_arena *arena, struct pawl_str text)
{
    return pawl__arena_str(arena, text).ptr;
}

void pawl_text_free(struct pawl *pawl, char *text)
{
    size_t size;

    if (!pawl || !text)
        return;
    memcpy(&size, text - TEXT_HEAD, sizeof size);
    pawl__free(&pawl->env->alloc, text - TEXT_HEAD, size);
}

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
    const struct {
        const char *text, *what;
    } texts[] = {
        {options->store, "options.store"},
        {options->node_id, "options.node_id"},
        {options->config_file, "options.config_file"},
        {options->actor, "options.actor"},
        {options->distributed ? options->distributed->lock : NULL, "options.distributed->lock"},
    };
    int status = PAWL_OK;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == PAWL_OK; i++)
        status = pawl__text_check_utf8(texts[i].text, texts[i].what, err);
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
        return pawl__error_set(err, PAWL_EINVAL, "pawl_open has nowhere to put the answer");
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
    pawl__duty_close(pawl->duty);
    pawl__host_free(pawl->host);
    pawl__configuration_release(&pawl->configuration);
    pawl__free(&env->alloc, pawl, sizeof *pawl);
    if (owns_env)
        pawl_system_env_close(env);
}
