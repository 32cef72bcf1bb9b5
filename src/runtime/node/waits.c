/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiters for instances; see waits.h.
 *
 *              await              collected             looked at, not yet so
 *     (free) --------> WAITING ------------> LOOKED_AT ---------------------> WAITING
 *                         |                      |
 *                         | forgotten            | it is so, too late, or the end; or forgotten
 *                         v                      v
 *                       (free)      taken out of the table, then called, then freed
 *
 * All with the mutex, but for the look and the call. What is LOOKED_AT is freed by the thread
 * alone, so that it may read its id without the mutex.
 */
#include "runtime/node/waits.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "runtime/instance/private.h"
#include "runtime/node/private.h"

#define NS_PER_MS INT64_C(1000000)
#define PAUSE_NS_MIN NS_PER_MS
#define PAUSE_NS_MAX (100 * NS_PER_MS)
/* What one look may take; who waits may learn of the end of time so much later. */
#define LOOK_NS_MAX (5000 * NS_PER_MS)
/* Instances that one query names. */
#define LOOK_MAX 500u

struct waiter {
    struct pawl_list_link link; /* of all; then of those that are to be called */
    struct waiter *next_same;   /* that wait for the same instance */
    uint64_t ticket;
    enum pawl_wait_until until;
    int64_t deadline_ns;
    int64_t look_ns;  /* when to look next */
    int64_t pause_ns; /* until the look after that */
    bool is_looked_at;
    bool is_told; /* something was committed: look at once */
    bool is_forgotten;
    pawl_wait_fn *done;
    void *ctx;
    int status; /* what it is called with */
    struct pawl_error err;
    struct pawl_instance_row row;
    struct pawl_str id;
    char id_text[PAWL_INSTANCE_ID_MAX + 1];
    struct pawl_str work_id;
    bool has_work; /* as of the last look */
    char work_text[PAWL_WAIT_WORK_MAX + 1];
};

struct pawl_waits {
    struct pawl_env *env;
    struct pawl_runtime *runtime;
    struct pawl_mutex *mutex; /* guards what follows */
    struct pawl_cond *wake;
    struct pawl_list waiting; /* struct waiter, the oldest first */
    struct pawl_map by_id;    /* the first of those that wait for it */
    uint64_t last_ticket;
    int64_t rest_ns; /* until then only notified waiters are looked at */
    bool stop;
    struct look *look;          /* the thread's; made before it is started */
    struct pawl_thread *thread; /* NULL: not yet */
};

/* ---- the table ----------------------------------------------------------------------------- */

/* With the mutex. */
static int add(struct pawl_waits *waits, struct waiter *waiter)
{
    struct waiter *first = pawl__map_get(&waits->by_id, waiter->id);
    int status = first ? PAWL_OK : pawl__map_put(&waits->by_id, waiter->id, waiter);

    if (status != PAWL_OK)
        return status;
    if (first) {
        waiter->next_same = first->next_same;
        first->next_same = waiter;
    }
    pawl__list_push_back(&waits->waiting, &waiter->link);
    atomic_fetch_add(&waits->runtime->waiter_count, 1);
    return PAWL_OK;
}

/* With the mutex. Should a new first find no place in the map, the others are not told of commits:
 * they are looked at all the same. */
static void take_out(struct pawl_waits *waits, struct waiter *waiter)
{
    struct waiter *first = pawl__map_get(&waits->by_id, waiter->id);

    if (first == waiter) {
        (void)pawl__map_remove(&waits->by_id, waiter->id);
        if (waiter->next_same)
            (void)!pawl__map_put(&waits->by_id, waiter->next_same->id, waiter->next_same);
    } else {
        while (first && first->next_same != waiter)
            first = first->next_same;
        if (first)
            first->next_same = waiter->next_same;
    }
    pawl__list_remove(&waiter->link);
    atomic_fetch_sub(&waits->runtime->waiter_count, 1);
}

static void free_waiter(struct pawl_waits *waits, struct waiter *waiter)
{
    pawl__free(&waits->env->alloc, waiter, sizeof *waiter);
}

/* ---- what a look shows --------------------------------------------------------------------- */

static bool is_reached(const struct waiter *waiter, const struct pawl_instance_row *row)
{
    enum pawl_sub_status status = pawl__runtime_sub_status(row->sub_status);

    if (waiter->until == PAWL_WAIT_ENDED || pawl__sub_status_is_final(status))
        return pawl__sub_status_is_final(status);
    return row->retry_us == PAWL_TIME_NEVER ||
           (row->runnable == 0 && status != PAWL_SUB_PENDING && status != PAWL_SUB_EXECUTING);
}

/* Whether it is to be called, and with what. `row` NULL: there is no such instance. */
static bool check_waiter(struct waiter *waiter, const struct pawl_instance_row *row, int64_t now_ns)
{
    if (waiter->is_forgotten)
        return true;
    if (waiter->has_work && !(row && row->retry_us == PAWL_TIME_NEVER)) {
        if (waiter->deadline_ns > now_ns)
            return false;
        waiter->status = pawl__error_set(&waiter->err, PAWL_ETIMEDOUT,
                                         "what was sent to instance %s was not delivered when "
                                         "the time was up",
                                         waiter->id_text);
        return true;
    }
    if (!row) {
        waiter->status = pawl__error_set(&waiter->err, PAWL_ENOTFOUND, "there is no instance %s",
                                         waiter->id_text);
        return true;
    }
    if (is_reached(waiter, row)) {
        waiter->row = *row;
        return true;
    }
    if (waiter->deadline_ns > now_ns)
        return false;
    waiter->status = pawl__error_set(&waiter->err, PAWL_ETIMEDOUT,
                                     "instance %s was still %.*s when the time was up",
                                     waiter->id_text, PAWL_STR_ARG(row->sub_status));
    return true;
}

/* A look that failed: what passes is looked at again while there is time. */
static bool check_failed(struct waiter *waiter, int status, const struct pawl_error *err,
                         int64_t now_ns)
{
    enum pawl_error_class class = pawl_error_class(status);

    if (waiter->is_forgotten)
        return true;
    if ((class == PAWL_CLASS_TRANSIENT || class == PAWL_CLASS_UNKNOWN) &&
        waiter->deadline_ns > now_ns)
        return false;
    waiter->status = status;
    waiter->err = *err;
    return true;
}

/* ---- looking ------------------------------------------------------------------------------- */

struct look {
    struct waiter *waiters[LOOK_MAX];
    size_t count;
    struct pawl_arena arena;
    struct pawl_map rows; /* struct pawl_instance_row by id */
    int status;
    struct pawl_error err;
};

static bool is_due(const struct pawl_waits *waits, const struct waiter *waiter, int64_t now_ns)
{
    return waiter->is_told || waiter->is_forgotten ||
           (waits->rest_ns <= now_ns &&
            (waiter->look_ns <= now_ns || waiter->deadline_ns <= now_ns));
}

/* With the mutex. Notified waiters come first, however many there are. */
static void collect(struct pawl_waits *waits, struct look *look, int64_t now_ns)
{
    struct waiter *waiter;

    look->count = 0;
    for (int pass = 0; pass < 2; pass++) {
        PAWL_LIST_FOR_EACH (waiter, &waits->waiting, link) {
            if (look->count == LOOK_MAX)
                return;
            if (waiter->is_looked_at ||
                !(pass == 0 ? waiter->is_told : is_due(waits, waiter, now_ns)))
                continue;
            waiter->is_looked_at = true;
            waiter->is_told = false;
            look->waiters[look->count++] = waiter;
        }
    }
}

/* With the mutex. When the thread has something to do; PAWL_FOREVER. */
static int64_t next_look(const struct pawl_waits *waits)
{
    int64_t next_ns = PAWL_FOREVER, at_ns;
    const struct waiter *waiter;

    PAWL_LIST_FOR_EACH (waiter, &waits->waiting, link) {
        if (waiter->is_told || waiter->is_forgotten)
            return 0;
        at_ns = waiter->look_ns < waiter->deadline_ns ? waiter->look_ns : waiter->deadline_ns;
        if (at_ns < waits->rest_ns)
            at_ns = waits->rest_ns;
        if (at_ns < next_ns)
            next_ns = at_ns;
    }
    return next_ns;
}

/* Before the instances are: work that is gone has changed them. */
static int ask_for_work(struct pawl_waits *waits, struct look *look)
{
    struct pawl_datum *ids = pawl__arena_alloc_array(&look->arena, look->count, sizeof *ids);
    struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_WORK, "id"), .compare = PAWL_IN, .values = ids};
    struct pawl_query query = {.table = PAWL_TABLE_WORK,
                               .flags = PAWL_QUERY_BRIEF,
                               .conditions = &condition,
                               .condition_count = 1,
                               .limit = LOOK_MAX};
    struct pawl_rows rows = {0};
    int status;

    if (!ids)
        return pawl__error_code(&look->err, pawl__arena_status(&look->arena));
    for (size_t i = 0; i < look->count; i++) {
        look->waiters[i]->has_work = false;
        if (look->waiters[i]->work_id.len > 0)
            ids[condition.value_count++] = (struct pawl_datum){.text = look->waiters[i]->work_id};
    }
    if (condition.value_count == 0)
        return PAWL_OK;
    status = pawl_store_find(waits->runtime->store, &query, &look->arena, &rows,
                             pawl_env_monotonic_ns(waits->env) + LOOK_NS_MAX, &look->err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        struct pawl_str id = ((const struct pawl_work_row *)rows.rows)[i].id;

        for (size_t k = 0; k < look->count; k++)
            look->waiters[k]->has_work |= pawl__str_equal(look->waiters[k]->work_id, id);
    }
    return status;
}

/* Without the mutex. */
static void query_instances(struct pawl_waits *waits, struct look *look)
{
    struct pawl_datum *ids = pawl__arena_alloc_array(&look->arena, look->count, sizeof *ids);
    struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "id"),
                                       .compare = PAWL_IN,
                                       .values = ids,
                                       .value_count = look->count};
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = PAWL_QUERY_BRIEF,
                                     .conditions = &condition,
                                     .condition_count = 1,
                                     .limit = LOOK_MAX};
    struct pawl_rows rows = {0};

    if (!ids) {
        look->status = pawl__error_code(&look->err, pawl__arena_status(&look->arena));
        return;
    }
    look->status = ask_for_work(waits, look);
    if (look->status != PAWL_OK)
        return;
    for (size_t i = 0; i < look->count; i++)
        ids[i] = (struct pawl_datum){.text = look->waiters[i]->id};
    look->status = pawl_store_find(waits->runtime->store, &query, &look->arena, &rows,
                                   pawl_env_monotonic_ns(waits->env) + LOOK_NS_MAX, &look->err);
    for (size_t i = 0; look->status == PAWL_OK && i < rows.count; i++) {
        const struct pawl_instance_row *row = &((const struct pawl_instance_row *)rows.rows)[i];

        look->status = pawl__map_put(&look->rows, row->id, (void *)(uintptr_t)row);
        if (look->status != PAWL_OK)
            (void)pawl__error_code(&look->err, look->status);
    }
}

/* With the mutex: who is to be called goes from the table to `called`. */
static void collect_finished(struct pawl_waits *waits, struct look *look, struct pawl_list *called)
{
    int64_t now_ns = pawl_env_monotonic_ns(waits->env);

    for (size_t i = 0; i < look->count; i++) {
        struct waiter *waiter = look->waiters[i];
        bool over = look->status == PAWL_OK
                        ? check_waiter(waiter, pawl__map_get(&look->rows, waiter->id), now_ns)
                        : check_failed(waiter, look->status, &look->err, now_ns);

        waiter->is_looked_at = false;
        if (over) {
            take_out(waits, waiter);
            pawl__list_push_back(called, &waiter->link);
            continue;
        }
        waiter->look_ns = now_ns + waiter->pause_ns;
        if (waiter->pause_ns < PAUSE_NS_MAX / 2)
            waiter->pause_ns *= 2;
        else
            waiter->pause_ns = PAUSE_NS_MAX;
    }
}

/* Without the mutex. */
static void call_all(struct pawl_waits *waits, struct pawl_list *called)
{
    struct pawl_list_link *link;

    while ((link = pawl__list_pop_front(called)) != NULL) {
        struct waiter *waiter = PAWL_CONTAINER(link, struct waiter, link);

        if (!waiter->is_forgotten)
            waiter->done(waiter->ctx, waiter->status,
                         waiter->status == PAWL_OK ? &waiter->row : NULL, &waiter->err);
        free_waiter(waits, waiter);
    }
}

/* With the mutex, which it lets go of meanwhile. Not PAWL_OK: it does not have it any more. */
static int look_at_due(struct pawl_waits *waits, struct look *look)
{
    struct pawl_list called;
    int64_t began_ns, ended_ns;
    int status;

    pawl_mutex_unlock(waits->env, waits->mutex);
    began_ns = pawl_env_monotonic_ns(waits->env);
    pawl__list_init(&called);
    look->err = (struct pawl_error)PAWL_ERROR_INIT;
    query_instances(waits, look);
    ended_ns = pawl_env_monotonic_ns(waits->env);
    if (look->status != PAWL_OK && look->status != PAWL_ESTOPPED && waits->runtime->log)
        pawl_log(waits->runtime->log, PAWL_LOG_DEBUG, "waited-for instances not looked at",
                 pawl_log_error("error", &look->err));
    status = pawl_mutex_lock(waits->env, waits->mutex);
    if (status == PAWL_OK) {
        collect_finished(waits, look, &called);
        waits->rest_ns = ended_ns + (ended_ns - began_ns);
        pawl_mutex_unlock(waits->env, waits->mutex);
        call_all(waits, &called);
        status = pawl_mutex_lock(waits->env, waits->mutex);
    }
    pawl__map_clear(&look->rows);
    pawl__arena_reset(&look->arena);
    return status;
}

/* Everybody who is left learns that the node ends. Nobody else may have the table. */
static void end_all(struct pawl_waits *waits)
{
    struct pawl_list called;
    struct pawl_list_link *link;

    pawl__list_init(&called);
    while ((link = pawl__list_first(&waits->waiting)) != NULL) {
        struct waiter *waiter = PAWL_CONTAINER(link, struct waiter, link);

        take_out(waits, waiter);
        waiter->status =
            pawl__error_set(&waiter->err, PAWL_ESTOPPED,
                            "this node is ending, and instance %s has not", waiter->id_text);
        pawl__list_push_back(&called, &waiter->link);
    }
    call_all(waits, &called);
}

/* With the mutex. False: it is time to end. */
static bool pause_until_due(struct pawl_waits *waits)
{
    int status = PAWL_OK;

    while (!waits->stop && !atomic_load(&waits->runtime->stopping) && status != PAWL_ESTOPPED) {
        int64_t next_ns = next_look(waits), now_ns = pawl_env_monotonic_ns(waits->env);

        if (next_ns <= now_ns)
            return true;
        status = pawl_cond_wait(waits->env, waits->wake, waits->mutex, next_ns);
    }
    return false;
}

static void look_after_waiters(void *arg)
{
    struct pawl_waits *waits = arg;
    struct look *look = waits->look;
    int status = pawl_mutex_lock(waits->env, waits->mutex);

    while (status == PAWL_OK && pause_until_due(waits)) {
        collect(waits, look, pawl_env_monotonic_ns(waits->env));
        if (look->count > 0)
            status = look_at_due(waits, look);
    }
    if (status == PAWL_OK) {
        waits->stop = true; /* nobody is added any more */
        pawl_mutex_unlock(waits->env, waits->mutex);
        end_all(waits);
    }
}

/* ---- callers ------------------------------------------------------------------------------- */

/* With the mutex. */
static int check_room(const struct pawl_waits *waits, struct pawl_error *err)
{
    if (waits->stop || atomic_load(&waits->runtime->stopping))
        return pawl__error_set(err, PAWL_ESTOPPED, "this node is ending: ask another one");
    if (atomic_load(&waits->runtime->waiter_count) >= PAWL_WAITERS_MAX)
        return pawl__error_set(err, PAWL_EBUSY,
                               "%u callers wait for instances already: try again later",
                               PAWL_WAITERS_MAX);
    return PAWL_OK;
}

/* With the mutex. A thread that could not get what it needs would serve nobody: so it has it. */
static int start_thread(struct pawl_waits *waits, struct pawl_error *err)
{
    if (!waits->look) {
        waits->look = pawl__alloc_zeroed(&waits->env->alloc, sizeof *waits->look);
        if (!waits->look)
            return pawl__error_code(err, PAWL_ENOMEM);
        pawl__arena_init(&waits->look->arena, &waits->env->alloc, RUNTIME_BYTES_MAX);
        pawl__map_init(&waits->look->rows, &waits->env->alloc,
                       (struct pawl_hash_seed){0x77616974, 1});
    }
    return pawl_thread_start(waits->env, "pawl-waits", look_after_waiters, waits, &waits->thread,
                             err);
}

static int add_waiter(struct pawl_waits *waits, struct waiter *waiter, uint64_t *ticket,
                      struct pawl_error *err)
{
    int status = pawl_mutex_lock(waits->env, waits->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = check_room(waits, err);
    if (status == PAWL_OK && !waits->thread)
        status = start_thread(waits, err);
    if (status == PAWL_OK) {
        waiter->ticket = ++waits->last_ticket;
        if (ticket)
            *ticket = waiter->ticket;
        status = add(waits, waiter);
        if (status != PAWL_OK)
            (void)pawl__error_code(err, status);
    }
    pawl_mutex_unlock(waits->env, waits->mutex);
    if (status == PAWL_OK)
        pawl_cond_signal(waits->env, waits->wake);
    return status;
}

int pawl__runtime_await(struct pawl_runtime *runtime, const struct pawl_wait *wait,
                        uint64_t *ticket, struct pawl_error *err)
{
    struct pawl_waits *waits = runtime->waits;
    struct waiter *waiter;
    int status;

    if (wait->instance_id.len == 0 || wait->instance_id.len > PAWL_INSTANCE_ID_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "an instance id has 1 to %d bytes",
                               PAWL_INSTANCE_ID_MAX);
    if (wait->work_id.len > PAWL_WAIT_WORK_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "an id of work has at most %d bytes",
                               PAWL_WAIT_WORK_MAX);
    waiter = pawl__alloc_zeroed(&runtime->env->alloc, sizeof *waiter);
    if (!waiter)
        return pawl__error_code(err, PAWL_ENOMEM);
    memcpy(waiter->id_text, wait->instance_id.ptr, wait->instance_id.len);
    waiter->id = pawl__str_make(waiter->id_text, wait->instance_id.len);
    if (wait->work_id.len > 0)
        memcpy(waiter->work_text, wait->work_id.ptr, wait->work_id.len);
    waiter->work_id = pawl__str_make(waiter->work_text, wait->work_id.len);
    waiter->until = wait->until;
    waiter->deadline_ns = wait->deadline_ns;
    waiter->pause_ns = PAUSE_NS_MIN;
    waiter->done = wait->done;
    waiter->ctx = wait->ctx;
    waiter->err = (struct pawl_error)PAWL_ERROR_INIT;
    status = add_waiter(waits, waiter, ticket, err);
    if (status != PAWL_OK)
        free_waiter(waits, waiter);
    return status;
}

bool pawl__runtime_forget_wait(struct pawl_runtime *runtime, uint64_t ticket, void **ctx)
{
    struct pawl_waits *waits = runtime->waits;
    struct waiter *waiter, *found = NULL;

    if (pawl_mutex_lock(waits->env, waits->mutex) != PAWL_OK)
        return false;
    if (!waits->stop) { /* then the list is the thread's that ends them all */
        PAWL_LIST_FOR_EACH (waiter, &waits->waiting, link) {
            if (waiter->ticket == ticket && !waiter->is_forgotten)
                found = waiter;
        }
    }
    if (found) {
        found->is_forgotten = true;
        if (ctx)
            *ctx = found->ctx;
    }
    pawl_mutex_unlock(waits->env, waits->mutex);
    if (found)
        pawl_cond_signal(waits->env, waits->wake);
    return found != NULL;
}

void pawl__runtime_tell_waits(struct pawl_runtime *runtime, struct pawl_str instance_id)
{
    struct pawl_waits *waits = runtime->waits;
    struct waiter *waiter;
    bool any = false;

    if (atomic_load(&runtime->waiter_count) == 0 ||
        pawl_mutex_lock(waits->env, waits->mutex) != PAWL_OK)
        return;
    waiter = waits->stop ? NULL : pawl__map_get(&waits->by_id, instance_id);
    for (; waiter; waiter = waiter->next_same)
        waiter->is_told = any = true;
    pawl_mutex_unlock(waits->env, waits->mutex);
    if (any)
        pawl_cond_signal(waits->env, waits->wake);
}

/* ---- life ---------------------------------------------------------------------------------- */

int pawl__runtime_waits_open(struct pawl_runtime *runtime, struct pawl_error *err)
{
    struct pawl_env *env = runtime->env;
    struct pawl_waits *waits = pawl__alloc_zeroed(&env->alloc, sizeof *waits);
    int status;

    if (!waits)
        return pawl__error_code(err, PAWL_ENOMEM);
    waits->env = env;
    waits->runtime = runtime;
    pawl__list_init(&waits->waiting);
    pawl__map_init(&waits->by_id, &env->alloc, (struct pawl_hash_seed){0x77616974, 0});
    runtime->waits = waits;
    status = pawl_mutex_new(env, "waits", &waits->mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "waits", &waits->wake);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

void pawl__runtime_waits_close(struct pawl_runtime *runtime)
{
    struct pawl_waits *waits = runtime->waits;

    if (!waits)
        return;
    if (waits->thread) {
        if (pawl_mutex_lock(waits->env, waits->mutex) == PAWL_OK) {
            waits->stop = true;
            pawl_mutex_unlock(waits->env, waits->mutex);
        }
        pawl_cond_broadcast(waits->env, waits->wake);
        pawl_thread_join(waits->env, waits->thread);
    }
    end_all(waits); /* where the thread could not: its environment is stopped */
    if (waits->look) {
        pawl__map_release(&waits->look->rows);
        pawl__arena_release(&waits->look->arena);
        pawl__free(&waits->env->alloc, waits->look, sizeof *waits->look);
    }
    pawl_cond_free(waits->env, waits->wake);
    pawl_mutex_free(waits->env, waits->mutex);
    pawl__map_release(&waits->by_id);
    runtime->waits = NULL;
    pawl__free(&waits->env->alloc, waits, sizeof *waits);
}
