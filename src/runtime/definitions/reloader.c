/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reloader of one node; see refresher.h. Its mutex lets one reload run at a time.
 *
 * In two rounds, as in the reference: a definition that uses another one as an activity may come
 * before it, and is loaded once all are stored. What is there already is not written again, so the
 * second round costs reading alone.
 */
#include "runtime/definitions/refresher.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"

#define BYTES_MAX ((size_t)1 << 28)

struct local_reloader {
    struct pawl_reloader base;
    struct pawl_env *env;
    struct pawl_definitions *definitions;
    struct pawl_definition_provider *provider;
    const struct pawl_log *log;
    struct pawl_mutex *mutex; /* held while one reload runs */
};

struct reloading {
    struct local_reloader *reloader;
    struct pawl_reloaded *out;
    bool second; /* round */
    int64_t deadline_ns;
};

static void report_failed(const struct reloading *r, const char *place,
                          const struct pawl_error *why)
{
    if (r->second)
        r->out->failed++;
    if (r->second && r->reloader->log)
        pawl_log(r->reloader->log, PAWL_LOG_WARN, "definition not loaded",
                 pawl_log_text("place", place), pawl_log_error("error", why));
}

static void unreadable(void *ctx, const char *place, const struct pawl_error *why)
{
    report_failed(ctx, place, why);
}

/* Those of a definition that is not as it should be say why; others stop for nothing. */
static int index_triggers(struct reloading *r, const char *place,
                          const struct pawl_definition_row *row)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int status;

    if (!r->second || !row->is_published)
        return PAWL_OK;
    status =
        pawl__definitions_index(r->reloader->definitions, row->definition_id, r->deadline_ns, &err);
    if (status == PAWL_OK || status == PAWL_ENOTFOUND)
        return PAWL_OK;
    report_failed(r, place, &err);
    return pawl_error_class(status) == PAWL_CLASS_CALLER ? PAWL_OK : status;
}

static int provide(void *ctx, const char *place, const struct pawl_json *definition,
                   struct pawl_error *err)
{
    struct reloading *r = ctx;
    struct pawl_definition_row row = {0};
    struct pawl_arena arena;
    struct pawl_error why = PAWL_ERROR_INIT;
    int status;

    pawl__arena_init(&arena, &r->reloader->env->alloc, BYTES_MAX);
    status = pawl__definitions_provide(r->reloader->definitions, definition, &arena, &row,
                                       r->deadline_ns, &why);
    if (status == PAWL_OK) {
        r->out->provided += r->second;
        status = index_triggers(r, place, &row);
    } else if (pawl_error_class(status) == PAWL_CLASS_CALLER) {
        report_failed(r, place, &why); /* its fault, and no other's */
        status = PAWL_OK;
    } else if (err) {
        *err = why;
    }
    pawl__arena_release(&arena);
    return status;
}

static int reload(struct pawl_reloader *base, struct pawl_reloaded *out, int64_t deadline_ns,
                  struct pawl_error *err)
{
    struct local_reloader *local = (struct local_reloader *)(void *)base;
    struct pawl_reloaded told = {0};
    struct reloading r = {.reloader = local, .out = &told, .deadline_ns = deadline_ns};
    int status = pawl_mutex_lock(local->env, local->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    for (int round = 0; round < 2 && local->provider && status == PAWL_OK; round++) {
        r.second = round == 1;
        status = local->provider->visit(local->provider, provide, unreadable, &r, err);
    }
    pawl_mutex_unlock(local->env, local->mutex);
    if (status == PAWL_OK)
        status = pawl__definitions_refresh(local->definitions, deadline_ns, err);
    if (status == PAWL_OK)
        *out = told;
    return status;
}

static void close_local(struct pawl_reloader *base)
{
    struct local_reloader *local = (struct local_reloader *)(void *)base;

    if (local->provider && local->provider->close)
        local->provider->close(local->provider);
    pawl_mutex_free(local->env, local->mutex);
    pawl__free(&local->env->alloc, local, sizeof *local);
}

static const struct pawl_reloader_ops ops = {PAWL_RELOADER_VERSION, close_local, reload};

int pawl__local_reloader_new(struct pawl_env *env, struct pawl_definitions *definitions,
                             struct pawl_definition_provider *provider, const struct pawl_log *log,
                             struct pawl_reloader **out, struct pawl_error *err)
{
    struct local_reloader *local = pawl__alloc_zeroed(&env->alloc, sizeof *local);
    int status;

    if (!local)
        return pawl__error_code(err, PAWL_ENOMEM);
    *local = (struct local_reloader){{&ops, "local"}, env, definitions, provider, log, NULL};
    status = pawl_mutex_new(env, "reloader", &local->mutex);
    if (status != PAWL_OK) {
        pawl__free(&env->alloc, local, sizeof *local);
        return pawl__error_code(err, status);
    }
    *out = &local->base;
    return PAWL_OK;
}
