/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node: opening and closing, whether it may work, the store's clock, ids and seeds, commits.
 */
#include "base/alloc.h"

#include "base/error.h"
#include "base/log.h"
#include "runtime/bytes.h"
#include "runtime/commit/commit.h"
#include "runtime/commit/committer.h"
#include "runtime/instance/private.h"
#include "runtime/node/keeper.h"
#include "runtime/node/private.h"
#include "runtime/work/private.h"

#define STIMULUS_US_DEFAULT INT64_C(600000000)
#define ATTEMPTS_DEFAULT 3u
#define DEPTH_DEFAULT 100u
#define JOURNAL_DEFAULT INT64_C(100000)
#define STEP_US_DEFAULT INT64_C(300000000)
/* How long one look at the store's clock is good for. */
#define CLOCK_NS_MAX INT64_C(1000000000)
/* The clocks of some stores know milliseconds only. */
#define CLOCK_GRAIN_US INT64_C(1000)
/* How long a commit that adds work may be tried again, at the most, and how much longer that it was
 * is remembered. */
#define TRIES_US_MAX INT64_C(3600000000)
#define TRIES_US_MARGIN INT64_C(60000000)
/* Of a node's id that is made: bytes of what it begins with, and digits behind that. */
#define NODE_PREFIX_MAX 64u
#define NODE_CHANCE_DIGITS 12u
/* Of the mark of an instance's ids, where its own id tells the time: these are of a hash. */
#define MARK_HASH_BITS 10u

/* ---- life ---------------------------------------------------------------------------------- */

static int draw_entropy(void *ctx, void *out, size_t size_bytes, struct pawl_error *err)
{
    return pawl_env_entropy(ctx, out, size_bytes, err);
}

static void set_options(struct pawl_runtime *runtime, const struct pawl_runtime_options *options)
{
    if (options)
        runtime->options = *options;
    if (runtime->options.stimulus_us == 0)
        runtime->options.stimulus_us = STIMULUS_US_DEFAULT;
    if (runtime->options.attempts_max == 0)
        runtime->options.attempts_max = ATTEMPTS_DEFAULT;
    if (runtime->options.depth_max == 0)
        runtime->options.depth_max = DEPTH_DEFAULT;
    if (runtime->options.step_us <= 0)
        runtime->options.step_us = STEP_US_DEFAULT;
    if (runtime->options.journal_max <= 0)
        runtime->options.journal_max = JOURNAL_DEFAULT;
    runtime->log = runtime->options.log;
    runtime->seed = runtime->options.seed;
    if (runtime->options.definitions.seed == 0)
        runtime->options.definitions.seed = runtime->seed;
    if (runtime->seed != 0)
        pawl__id_source_init_seeded(&runtime->ids, 0, runtime->seed);
    else
        pawl__id_source_init(&runtime->ids, 0,
                             (struct pawl_id_entropy){draw_entropy, runtime->env});
}

/* The keeper's: another process has this node's id. */
static void end_for_good(void *ctx)
{
    struct pawl_runtime *runtime = ctx;
    const struct pawl_runtime_hooks *hooks = &runtime->options.hooks;

    pawl__runtime_stop(runtime);
    if (hooks->ended)
        hooks->ended(hooks->ctx);
}

/* One that nobody expects back. The last digits of a new id are those that chance made. */
static struct pawl_str make_node_id(struct pawl_runtime *runtime, struct pawl_arena *arena)
{
    struct pawl_str id = pawl__runtime_new_id(runtime, arena),
                    prefix = runtime->options.node_prefix;

    if (!id.ptr || prefix.len == 0)
        return id;
    if (prefix.len > NODE_PREFIX_MAX)
        prefix.len = NODE_PREFIX_MAX;
    return pawl__str(pawl__arena_printf(arena, "%.*s-%s", PAWL_STR_ARG(prefix),
                                        id.ptr + id.len - NODE_CHANCE_DIGITS));
}

static int join(struct pawl_runtime *runtime, struct pawl_error *err)
{
    struct pawl_str node_id = runtime->options.node_id;
    bool named = node_id.len > 0;
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    if (!named)
        node_id = make_node_id(runtime, &arena);
    if (!node_id.ptr || node_id.len == 0)
        status = pawl__error_code(err, pawl__arena_status(&arena) == PAWL_OK
                                           ? PAWL_ESTOPPED
                                           : pawl__arena_status(&arena));
    else
        status = pawl__keeper_open(runtime->env, runtime->store, node_id, runtime->options.info,
                                   runtime->options.lease_us, runtime->log, &runtime->keeper, err);
    if (status == PAWL_OK && named)
        pawl__keeper_set_named(runtime->keeper, end_for_good, runtime);
    pawl__arena_release(&arena);
    return status;
}

/* What the commit made is this node's, and whoever asked for it has left. */
static void note_landed(void *ctx)
{
    pawl__runtime_note_left(ctx);
}

/* What the keeper does after each renewal. */
static void do_duties(void *ctx, int64_t deadline_ns)
{
    pawl__runtime_watch(ctx, deadline_ns);
    pawl__runtime_return_strays(ctx, deadline_ns);
}

static int open_node(struct pawl_runtime *runtime, struct pawl_error *err)
{
    const struct pawl_committer_options committer = {.threads = runtime->options.committers,
                                                     .batch_max = runtime->options.commit_batch,
                                                     .leads = true,
                                                     .landed = note_landed,
                                                     .landed_ctx = runtime};
    int status =
        pawl__committer_new(runtime->env, runtime->store, &committer, &runtime->committer, err);

    if (status == PAWL_OK)
        status = join(runtime, err);
    if (status == PAWL_OK)
        status = pawl__runtime_http_open(runtime, err);
    if (status == PAWL_OK)
        status = pawl__runtime_cancels_open(runtime, err);
    if (status == PAWL_OK)
        pawl__keeper_set_duty(runtime->keeper, do_duties, runtime);
    return status;
}

/* Of one that only looks. */
static int refuse(struct pawl_error *err)
{
    return pawl__error_set(err, PAWL_EINVAL, "this runtime only looks: it has joined no store");
}

int pawl__runtime_open(struct pawl_env *env, const struct pawl_engine *engine,
                       struct pawl_store *store, const struct pawl_runtime_options *options,
                       struct pawl_runtime **out, struct pawl_error *err)
{
    struct pawl_runtime *runtime = pawl__alloc_zeroed(&env->alloc, sizeof *runtime);
    int status;

    if (!runtime)
        return pawl__error_code(err, PAWL_ENOMEM);
    runtime->env = env;
    runtime->engine = engine;
    runtime->store = store;
    pawl__stored_words(&runtime->words);
    pawl__list_init(&runtime->done_effects);
    pawl__list_init(&runtime->running);
    pawl__list_init(&runtime->given_up);
    pawl__list_init(&runtime->yielded);
    pawl__list_init(&runtime->packers);
    pawl__map_init(&runtime->held, &env->alloc, (struct pawl_hash_seed){0x68656c64, 0});
    pawl__list_init(&runtime->requests);
    set_options(runtime, options);
    status = pawl_mutex_new(env, "runtime", &runtime->mutex);
    if (status == PAWL_OK)
        status = pawl_mutex_new(env, "changes", &runtime->changes_mutex);
    if (status == PAWL_OK)
        status = pawl__shares_new(env, &runtime->shares);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "runtime", &runtime->left);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "runtime cancels", &runtime->cancels);
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    if (status == PAWL_OK)
        status = pawl__definitions_new(env, engine, store, &runtime->options.definitions,
                                       &runtime->definitions, err);
    if (status == PAWL_OK)
        status = pawl__runtime_routes_open(runtime, err);
    if (status == PAWL_OK)
        status = pawl__runtime_waits_open(runtime, err);
    if (status == PAWL_OK)
        status = pawl__runtime_replies_open(runtime, err);
    if (status == PAWL_OK && !runtime->options.looks_only)
        status = open_node(runtime, err);
    if (status != PAWL_OK) {
        pawl__runtime_close(runtime);
        return status;
    }
    *out = runtime;
    return PAWL_OK;
}

void pawl__runtime_close(struct pawl_runtime *runtime)
{
    if (!runtime)
        return;
    pawl__runtime_waits_close(runtime);
    pawl__runtime_replies_close(runtime);
    pawl__runtime_http_close(runtime);
    pawl__runtime_cancels_close(runtime);
    if (runtime->keeper) {
        pawl__runtime_flush_done(runtime,
                                 pawl_env_monotonic_ns(runtime->env) + INT64_C(5000000000));
        pawl__keeper_set_duty(runtime->keeper, NULL, NULL); /* which commits */
        pawl__runtime_return_begun(runtime,
                                   pawl_env_monotonic_ns(runtime->env) + INT64_C(5000000000));
    }
    pawl__committer_free(runtime->committer);
    pawl__keeper_close(runtime->keeper);
    pawl__definitions_free(runtime->definitions);
    pawl__runtime_routes_close(runtime);
    pawl__runtime_forget_done(runtime);
    pawl__runtime_forget_held(runtime);
    pawl__runtime_forget_yielded(runtime, &runtime->yielded);
    pawl__runtime_forget_packers(runtime);
    pawl__shares_free(runtime->shares);
    pawl_cond_free(runtime->env, runtime->cancels);
    pawl_cond_free(runtime->env, runtime->left);
    pawl_mutex_free(runtime->env, runtime->changes_mutex);
    pawl_mutex_free(runtime->env, runtime->mutex);
    pawl__free(&runtime->env->alloc, runtime, sizeof *runtime);
}

struct pawl_definitions *pawl__runtime_definitions(struct pawl_runtime *runtime)
{
    return runtime->definitions;
}

struct pawl_store *pawl__runtime_store(struct pawl_runtime *runtime)
{
    return runtime->store;
}

void pawl__runtime_stop(struct pawl_runtime *runtime)
{
    atomic_store(&runtime->stopping, true);
    pawl__runtime_replies_end(runtime);
}

bool pawl__runtime_is_stopping(const struct pawl_runtime *runtime)
{
    const struct pawl_runtime_hooks *hooks = &runtime->options.hooks;

    return atomic_load(&runtime->stopping) || (hooks->stop && hooks->stop(hooks->ctx));
}

int pawl__runtime_check(struct pawl_runtime *runtime, struct pawl_error *err)
{
    return runtime->keeper ? pawl__keeper_check(runtime->keeper, err) : PAWL_OK;
}

bool pawl__runtime_has_lease(struct pawl_runtime *runtime)
{
    return runtime->keeper && pawl__keeper_is_alive(runtime->keeper);
}

int pawl__runtime_may_begin(struct pawl_runtime *runtime, struct pawl_error *err)
{
    bool stopping = atomic_load(&runtime->stopping);

    if (!runtime->keeper)
        return refuse(err);
    if (stopping && pawl__runtime_check(runtime, err) != PAWL_OK)
        return PAWL_ECONFLICT;
    if (stopping)
        return pawl__error_set(err, PAWL_ESTOPPED,
                               "this node is ending: another one does what is left");
    return pawl__keeper_revive(runtime->keeper, err);
}

const char *pawl__runtime_node_id(const struct pawl_runtime *runtime)
{
    return runtime->keeper ? pawl__keeper_node_id(runtime->keeper) : "";
}

int64_t pawl__runtime_incarnation(const struct pawl_runtime *runtime)
{
    return runtime->keeper ? pawl__keeper_incarnation(runtime->keeper) : 0;
}

bool pawl__runtime_may_go_on(struct pawl_runtime *runtime)
{
    return !atomic_load(&runtime->stopping) && pawl__keeper_is_alive(runtime->keeper);
}

/* ---- the store's clock --------------------------------------------------------------------- */

/* With the mutex held: what the clock shows if it went on like ours since the last look. */
static int64_t clock_by_now(const struct pawl_runtime *runtime, int64_t now_ns)
{
    return runtime->clock_us + (now_ns - runtime->clock_ns) / 1000;
}

/*
 * With the mutex held: what the clock shows now, after a look that began at `asked_ns` and showed
 * `now_us`. The reckoning stays if the look does not disprove it. A look that took over a second is
 * imprecise: if the reckoning is newer than its start, the look is ignored; if it is older, the
 * look replaces it. A look that began before the reckoning was forgotten may show the clock as it
 * was before it was set: it begins no new reckoning.
 */
static int64_t reckon(struct pawl_runtime *runtime, int64_t asked_ns, int64_t now_us)
{
    int64_t seen_ns = pawl_env_monotonic_ns(runtime->env), took_us = (seen_ns - asked_ns) / 1000;
    bool is_slow = took_us > RUNTIME_CLOCK_STEP_US;

    if (asked_ns < runtime->forgot_ns)
        return runtime->clock_ns != 0 ? clock_by_now(runtime, seen_ns) : now_us;
    if (runtime->clock_ns != 0) {
        int64_t expected_us = clock_by_now(runtime, seen_ns);
        bool is_possible = expected_us > now_us && expected_us <= now_us + took_us + CLOCK_GRAIN_US;

        if (is_possible && is_slow && asked_ns <= runtime->clock_ns)
            return expected_us;
        if (is_possible && !is_slow)
            now_us = expected_us;
    }
    runtime->clock_us = now_us;
    runtime->clock_ns = seen_ns;
    return now_us;
}

void pawl__runtime_clock_seen(struct pawl_runtime *runtime, int64_t asked_ns, int64_t now_us)
{
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    (void)reckon(runtime, asked_ns, now_us);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
}

/* With the mutex held. Times that this node reads one after the other are in that order. */
static int64_t later_than_before(struct pawl_runtime *runtime, int64_t now_us)
{
    int64_t last_us = runtime->clock_last_us;

    if (now_us <= last_us && last_us - now_us < RUNTIME_CLOCK_STEP_US)
        now_us = last_us + 1;
    runtime->clock_last_us = now_us;
    return now_us;
}

int pawl__runtime_clock(struct pawl_runtime *runtime, int64_t *now_us, int64_t deadline_ns,
                        struct pawl_error *err)
{
    int64_t now_ns = pawl_env_monotonic_ns(runtime->env);
    struct pawl_store_status seen;
    bool known;
    int status = pawl_mutex_lock(runtime->env, runtime->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    known = runtime->clock_ns != 0 && now_ns - runtime->clock_ns <= CLOCK_NS_MAX;
    if (known)
        *now_us = later_than_before(runtime, clock_by_now(runtime, now_ns));
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    if (known)
        return PAWL_OK;
    status = pawl_store_status(runtime->store, &seen, deadline_ns, err);
    /* Who only looked at the clock has done nothing, whatever became of the answer. */
    if (pawl_error_class(status) == PAWL_CLASS_UNKNOWN)
        status = pawl__error_set(err, PAWL_EUNAVAILABLE, "the store did not tell the time");
    if (status != PAWL_OK)
        return status;
    status = pawl_mutex_lock(runtime->env, runtime->mutex);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    *now_us = later_than_before(runtime, reckon(runtime, now_ns, seen.now_us));
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return PAWL_OK;
}

/* ---- ids and seeds ------------------------------------------------------------------------- */

struct pawl_str pawl__runtime_new_id(struct pawl_runtime *runtime, struct pawl_arena *arena)
{
    char text[PAWL_UUID_HEX_SIZE];
    struct pawl_uuid uuid;
    int status = pawl_mutex_lock(runtime->env, runtime->mutex);

    if (status != PAWL_OK)
        return pawl__str_make(NULL, 0);
    status = pawl__id_uuid(&runtime->ids, pawl_env_wall_ns(runtime->env) / 1000000, &uuid, NULL);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    if (status != PAWL_OK)
        return pawl__str_make(NULL, 0);
    pawl__uuid_format_hex(&uuid, text);
    return pawl__arena_str(arena, pawl__str(text));
}

uint64_t pawl__runtime_burst_seed(struct pawl_runtime *runtime, struct pawl_str instance_id,
                                  int64_t revision)
{
    const struct pawl_hash_seed key = {(uint64_t)revision, runtime->seed};

    return pawl__siphash(key, instance_id);
}

/*
 * Rows are found by this number, so it is in an index. A hash alone would put each new row in
 * another page of that index, and every commit would write one more page. So of an id that sorts by
 * time it is the time, about an hour of it, and less of the hash: neighbours stay neighbours.
 */
uint32_t pawl__runtime_id_mark(struct pawl_str instance_id)
{
    static const struct pawl_hash_seed key = {0x7061776c, 0x6d61726b};
    uint32_t mark = (uint32_t)pawl__siphash(key, instance_id);
    uint64_t ms;

    if (pawl__id_time(instance_id, &ms))
        mark = (uint32_t)(ms << MARK_HASH_BITS) | (mark & ((1u << MARK_HASH_BITS) - 1));
    return mark == 0 ? 1 : mark;
}

int64_t pawl__runtime_hash_of_execution(struct pawl_str id)
{
    return pawl__id_mark(id);
}

int64_t pawl__runtime_part(struct pawl_str text)
{
    static const struct pawl_hash_seed key = {0x7061776c, 0x70617274};

    return (int64_t)(pawl__siphash(key, text) % PAWL_QUEUE_PARTS);
}

/* ---- commits ------------------------------------------------------------------------------- */

/* A minute for clocks that are set. */
int64_t pawl__runtime_last_try_us(struct pawl_runtime *runtime, int64_t now_us, int64_t deadline_ns)
{
    int64_t now_ns = pawl_env_monotonic_ns(runtime->env);
    int64_t left_us = deadline_ns <= now_ns ? 0 : (deadline_ns - now_ns) / 1000;

    return now_us + TRIES_US_MARGIN + (left_us < TRIES_US_MAX ? left_us : TRIES_US_MAX);
}

/* With a reservation: however often it is sent, and whatever became of the work meanwhile, it takes
 * effect once. */
static int commit_once(struct pawl_runtime *runtime, struct pawl_commit *commit,
                       int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_commit_guard guard;
    struct pawl_arena arena;
    struct pawl_str id;
    const char *key;
    int64_t now_us = 0;
    int status = pawl__runtime_clock(runtime, &now_us, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    id = pawl__runtime_new_id(runtime, &arena);
    key = id.ptr ? pawl__arena_printf(&arena, "commit:%.*s", PAWL_STR_ARG(id)) : NULL;
    status = key ? pawl__commit_guard(commit, pawl__str(key),
                                      pawl__runtime_last_try_us(runtime, now_us, deadline_ns),
                                      &arena, &guard)
                 : pawl__arena_status(&arena);
    if (status != PAWL_OK) {
        (void)pawl__error_code(err, status);
    } else {
        status = pawl__committer_commit(runtime->committer, &guard.commit, deadline_ns, err);
        commit->status = guard.commit.status;
        commit->cancel_requested = guard.commit.cancel_requested;
        commit->has_mail = guard.commit.has_mail;
        commit->has_expired = guard.commit.has_expired;
        commit->error = guard.commit.error;
    }
    pawl__arena_release(&arena);
    return status;
}

/*
 * The store's clock is further on than this node thought: what it knows of it is forgotten, and
 * so is what threads that are still looking will say. What has no instance, and so nothing to be
 * read again, is to be tried again.
 */
static int forget_clock(struct pawl_runtime *runtime, const struct pawl_commit *commit,
                        struct pawl_error *err)
{
    if (pawl_mutex_lock(runtime->env, runtime->mutex) == PAWL_OK) {
        runtime->clock_ns = 0;
        runtime->forgot_ns = pawl_env_monotonic_ns(runtime->env);
        pawl_mutex_unlock(runtime->env, runtime->mutex);
    }
    return commit->kind == PAWL_COMMIT_PLAIN
               ? pawl__error_set(err, PAWL_EUNAVAILABLE, "%s; try again", commit->error.msg)
               : PAWL_ECONFLICT;
}

int pawl__runtime_commit(struct pawl_runtime *runtime, struct pawl_commit *commit,
                         int64_t deadline_ns, struct pawl_error *err)
{
    bool is_guarded = pawl__commit_may_repeat(commit);
    int status;

    if (!runtime->committer)
        return refuse(err);
    for (int tries = 0;; tries++) {
        commit->has_expired = false;
        status = is_guarded ? commit_once(runtime, commit, deadline_ns, err)
                            : pawl__committer_commit(runtime->committer, commit, deadline_ns, err);
        if (status != PAWL_ECONFLICT || !commit->has_expired)
            break;
        status = forget_clock(runtime, commit, err);
        if (!is_guarded || tries > 0)
            break;
    }
    if (status == PAWL_OK && commit->instance &&
        (commit->instance->runnable == 0 || commit->instance->retry_us == PAWL_TIME_NEVER ||
         commit->kind == PAWL_COMMIT_DELETE))
        pawl__runtime_tell_waits(runtime, commit->instance->id);
    if (status == PAWL_OK && atomic_load(&runtime->has_listener))
        pawl__runtime_tell_change(runtime, commit);
    return status;
}
