/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP requests that bursts await. The commit that parks the burst carries a row of work that is
 * this node's; then the request goes to the host's executor. Its response becomes one commit: the
 * row ends, and the response is mail for the instance. Should the node die, another takes the row
 * and sends the request again, with the same key; or, if the definition says so, reports that
 * nobody knows what became of it.
 *
 *     NEW --> SENDING --done--> ANSWERED ---------> COMMITTING --> ANSWERED --> (gone)
 *              | ^                 |   ^----- not stored ---'
 *              | |                 '-- to be tried again --> PAUSING
 *              | '-- its row is there -- CHECKING <-- its time comes --'
 *              |                           | '-- the store does not say --> PAUSING
 *              |                           '-- its row is not ours any more --> (gone)
 *              '-- there is no room for it --> PAUSING
 *
 * What this node lacks (memory, descriptors) is no result: the executor says so at once or in its
 * answer, and the request is sent again as long as the node lives and its row of work is the
 * node's. While it was put off its instance may have been cancelled or deleted, or another node may
 * have taken the row: so that is checked each time before it is sent again.
 *
 * One thread makes these commits and sends again what is to be tried again; so nothing waits on the
 * executor's own. It runs while there is an executor.
 */
#include "base/error.h"

#include "base/log.h"
#include "resilience/backoff.h"
#include "runtime/bytes.h"
#include "runtime/instance/private.h"
#include "runtime/node/keeper.h"
#include "runtime/task.h"
#include "runtime/work/private.h"
#include "runtime/work/request.h"

/* That one commit or one query takes. */
#define REQUESTS_MAX 64u
/* When the executor has no room, or the store does not take the response: doubled up to the most.
 */
#define PAUSE_NS INT64_C(500000000)
#define PAUSE_NS_MAX INT64_C(5000000000)
/* Of a definition that says: what is lost may be sent again. */
#define LOST_RETRIES 2
#define LOST_DELAY_MS 1000
#define DOUBLINGS_MAX 10
#define STORE_NS INT64_C(30000000000)
/* Looking again at an instance that something outside of this process goes on with. */
#define LOOK_NS INT64_C(20000000)

/* ---- its life -------------------------------------------------------------------------------- */

#define BIT(state) (1u << (unsigned)(state))

/* clang-format off */
static const unsigned allowed[] = {
    [REQUEST_NEW]        = BIT(REQUEST_SENDING),
    [REQUEST_SENDING]    = BIT(REQUEST_ANSWERED) | BIT(REQUEST_PAUSING),
    [REQUEST_ANSWERED]   = BIT(REQUEST_PAUSING) | BIT(REQUEST_COMMITTING),
    [REQUEST_PAUSING]    = BIT(REQUEST_CHECKING),
    [REQUEST_CHECKING]   = BIT(REQUEST_SENDING) | BIT(REQUEST_PAUSING),
    [REQUEST_COMMITTING] = BIT(REQUEST_ANSWERED),
};
/* clang-format on */

bool pawl__request_may_move(enum runtime_request_state from, enum runtime_request_state to)
{
    return allowed[from] & BIT(to);
}

void pawl__request_move(struct runtime_request *r, enum runtime_request_state to)
{
    PAWL_ASSERT(pawl__request_may_move(r->state, to));
    r->state = to;
}

/* ---- sending ------------------------------------------------------------------------------- */

static void move_request(struct runtime_request *r, enum runtime_request_state state)
{
    struct pawl_runtime *runtime = r->runtime;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return; /* stopped: whoever closes the runtime frees it */
    pawl__request_move(r, state);
    pawl_cond_broadcast(runtime->env, runtime->answered);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
}

/* Later again: this node lacks something. */
static void postpone(struct runtime_request *r)
{
    struct pawl_env *env = r->runtime->env;

    r->again_ns =
        pawl_env_monotonic_ns(env) + pawl__backoff_ns(env, PAUSE_NS, PAUSE_NS_MAX, r->failures);
    r->failures += r->failures < UINT32_MAX;
}

/* Once: there may be many, again and again. Too many at a time are nothing unusual. */
static void log_postponed(const struct runtime_request *r, const struct pawl_error *why)
{
    if (r->failures == 0 && why->code != PAWL_EBUSY && r->runtime->log)
        pawl_log(r->runtime->log, PAWL_LOG_WARN, "request put off",
                 pawl__log_str("instance", r->instance_id), pawl_log_error("error", why));
}

/* On the executor's thread. */
static void on_done(void *ctx, const struct pawl_http_answer *answer)
{
    struct runtime_request *r = ctx;
    const struct pawl_runtime_hooks *hooks = &r->runtime->options.hooks;

    if (answer->end == PAWL_HTTP_NO_ROOM && !answer->sent)
        log_postponed(r, &answer->error);
    else if (hooks->request_ended)
        hooks->request_ended(hooks->ctx, r->instance_id, &r->span, &r->request, answer,
                             r->begun_ns);
    pawl__runtime_request_set_answer(r, answer);
    move_request(r, REQUEST_ANSWERED);
}

/* The request may be gone when this returns. */
static void send_request(struct runtime_request *r)
{
    struct pawl_runtime *runtime = r->runtime;
    struct pawl_error err = PAWL_ERROR_INIT;
    enum pawl_error_class class;
    int status;

    if (runtime->options.hooks.request_ended)
        r->begun_ns = pawl_env_monotonic_ns(runtime->env);
    status = pawl_http_submit(runtime->options.http, &r->request, on_done, r, &r->ticket, &err);

    if (status == PAWL_OK || status == PAWL_ESTOPPED)
        return;
    class = pawl_error_class(status);
    if (class == PAWL_CLASS_TRANSIENT || status == PAWL_EIO) {
        log_postponed(r, &err);
        postpone(r);
        move_request(r, REQUEST_PAUSING);
        return;
    }
    r->end = class == PAWL_CLASS_CALLER ? PAWL_HTTP_INVALID : PAWL_HTTP_CONNECT;
    pawl__runtime_request_set_failure(r, class == PAWL_CLASS_CALLER ? "invalid" : "none", err.msg);
    move_request(r, REQUEST_ANSWERED);
}

/*
 * With the mutex held. Whether a row's request is under way: it has the row's owner from now on,
 * unless its response is being committed for another one, which the store will refuse.
 */
static bool adopt(struct pawl_runtime *runtime, struct pawl_str work_id, int64_t owner)
{
    struct runtime_request *r;
    bool found = false;

    PAWL_LIST_FOR_EACH (r, &runtime->requests, link) {
        if (!pawl__str_equal(r->id, work_id) ||
            (r->state == REQUEST_COMMITTING && r->owner != owner))
            continue;
        /* Who commits its response reads the owner without the mutex: then it is the same. */
        if (r->owner != owner)
            r->owner = owner;
        found = true;
    }
    return found;
}

/*
 * The commit that asks for a request may have taken effect long before this thread learned of it;
 * meanwhile its row was found without anybody who holds it, and the request was begun for that.
 */
void pawl__runtime_request_begin(struct runtime_request *r)
{
    struct pawl_runtime *runtime = r->runtime;
    int status = pawl_mutex_lock(runtime->env, runtime->mutex);
    bool is_new = status == PAWL_OK && !adopt(runtime, r->id, r->owner);

    if (is_new) {
        pawl__request_move(r, REQUEST_SENDING);
        pawl__list_push_back(&runtime->requests, &r->link);
    }
    if (status == PAWL_OK)
        pawl_mutex_unlock(runtime->env, runtime->mutex);
    if (is_new)
        send_request(r);
    else
        pawl__runtime_request_free(r); /* stopped: its row waits for another node */
}

bool pawl__runtime_is_requested(const struct pawl_runtime *runtime, struct pawl_str work_id)
{
    const struct runtime_request *r;

    PAWL_LIST_FOR_EACH (r, &runtime->requests, link) {
        if (pawl__str_equal(r->id, work_id))
            return true;
    }
    return false;
}

/* ---- again --------------------------------------------------------------------------------- */

static bool is_transient(int64_t status)
{
    return status == 408 || status == 409 || status == 429 || status == 500 || status == 502 ||
           status == 503 || status == 504;
}

static int64_t retry_number(const struct runtime_request *r, const char *key, int64_t otherwise)
{
    int64_t value = otherwise;

    (void)pawl__json_to_int(pawl__json_get_text(pawl__json_get_text(&r->data, "retry"), key),
                            &value);
    return value;
}

/*
 * Whether a request is to be tried again, and when. What may have been done is not repeated for a
 * definition that does not want it to be.
 */
static bool try_again(struct runtime_request *r)
{
    struct pawl_str unknown = runtime_text(&r->data, "onUnknown");
    bool lost = r->end == PAWL_HTTP_LOST || r->end == PAWL_HTTP_TIMED_OUT;
    bool failed = lost || r->end == PAWL_HTTP_CONNECT;
    int64_t count = 0, delay_ms = retry_number(r, "delayMs", LOST_DELAY_MS), doublings;

    if (r->end == PAWL_HTTP_NO_ROOM) {
        postpone(r);
        return true;
    }
    if (lost && r->sent && pawl__str_is(unknown, "fault")) {
        pawl__runtime_request_set_failure(
            r, "unknown",
            "the request was sent and no response came: whether it took effect is unknown");
        return false;
    }
    if (failed || (r->end == PAWL_HTTP_ANSWERED && is_transient(r->status)))
        count = retry_number(r, "count", 0);
    if (count == 0 && r->end == PAWL_HTTP_LOST && r->sent && pawl__str_is(unknown, "retry"))
        count = LOST_RETRIES;
    if (r->attempts >= count)
        return false;
    doublings = r->attempts < DOUBLINGS_MAX ? r->attempts : DOUBLINGS_MAX;
    r->again_ns = pawl_env_monotonic_ns(r->runtime->env) +
                  (int64_t)((uint64_t)delay_ms << doublings) * 1000000;
    r->attempts++;
    return true;
}

/* In one query: is_ours[i] says whether the row of list[i] is there and this owner's. */
static int find_own_rows(struct pawl_runtime *runtime, struct runtime_request *const *list,
                         size_t count, int64_t owner, bool *is_ours, struct pawl_error *err)
{
    struct pawl_datum ids[REQUESTS_MAX];
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_WORK, "id"),
                                             .compare = PAWL_IN,
                                             .values = ids,
                                             .value_count = count};
    const struct pawl_query query = {.table = PAWL_TABLE_WORK,
                                     .flags = PAWL_QUERY_BRIEF,
                                     .conditions = &condition,
                                     .condition_count = 1,
                                     .limit = REQUESTS_MAX};
    struct pawl_rows rows = {0};
    struct pawl_arena arena;
    int status;

    for (size_t i = 0; i < count; i++) {
        ids[i] = (struct pawl_datum){.text = list[i]->id};
        is_ours[i] = false;
    }
    pawl__arena_init(&arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    status = pawl_store_find(runtime->store, &query, &arena, &rows,
                             pawl_env_monotonic_ns(runtime->env) + STORE_NS, err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        const struct pawl_work_row *row = &((const struct pawl_work_row *)rows.rows)[i];

        for (size_t k = 0; k < count; k++)
            is_ours[k] |= row->owner == owner && pawl__str_equal(row->id, list[k]->id);
    }
    pawl__arena_release(&arena);
    return status;
}

/* With the mutex held: nobody waits for it any more. It is freed without. */
static void remove_request(struct runtime_request *r)
{
    pawl__list_remove(&r->link);
    r->runtime->requests_ended++;
    pawl_cond_broadcast(r->runtime->env, r->runtime->left);
}

/*
 * Those that were put off and are due, CHECKING, with the owner that their rows had before: sent,
 * put off once more, or dropped. A row that this node took anew since is looked at again.
 */
static void resend_requests(struct pawl_runtime *runtime, struct runtime_request **list,
                            size_t count, int64_t owner)
{
    struct runtime_request *dropped[REQUESTS_MAX];
    size_t resends = 0, drops = 0;
    bool is_ours[REQUESTS_MAX];
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = find_own_rows(runtime, list, count, owner, is_ours, &err);

    for (size_t i = 0; status != PAWL_OK && i < count; i++) {
        log_postponed(list[i], &err);
        postpone(list[i]);
    }
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return; /* stopped: whoever closes the runtime frees them */
    for (size_t i = 0; i < count; i++) {
        struct runtime_request *r = list[i];

        if (status == PAWL_OK && is_ours[i]) {
            pawl__request_move(r, REQUEST_SENDING);
            list[resends++] = r;
        } else if (status != PAWL_OK || r->owner != owner) {
            pawl__request_move(r, REQUEST_PAUSING);
        } else {
            remove_request(r);
            dropped[drops++] = r;
        }
    }
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    for (size_t i = 0; i < drops; i++) {
        if (runtime->log)
            pawl_log(runtime->log, PAWL_LOG_INFO, "request dropped: its work is not this node's",
                     pawl__log_str("instance", dropped[i]->instance_id),
                     pawl__log_str("work", dropped[i]->id));
        pawl__runtime_request_free(dropped[i]);
    }
    for (size_t i = 0; i < resends; i++)
        send_request(list[i]);
}

void pawl__runtime_check_requests(struct pawl_runtime *runtime, struct pawl_str instance_id)
{
    struct runtime_request *r;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    PAWL_LIST_FOR_EACH (r, &runtime->requests, link) {
        if (r->state == REQUEST_PAUSING && pawl__str_equal(r->instance_id, instance_id))
            r->again_ns = 0;
    }
    pawl_cond_broadcast(runtime->env, runtime->answered);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
}

/* ---- committing ---------------------------------------------------------------------------- */

static void add_feed(struct runtime_changes *changes, struct runtime_request *r, int64_t now_us)
{
    struct pawl_work_row row = {
        .kind = pawl__str(r->job_id.len > 0 ? PAWL_WORK_JOB : PAWL_WORK_FEED),
        .instance_id = r->instance_id,
        .bookmark_id = r->job_id,
        .name = r->effect_id,
        .part = pawl__runtime_part(r->instance_id),
        .created_us = now_us,
        .due_us = now_us,
        .expires_us = PAWL_TIME_NEVER,
    };
    int status;

    row.id = pawl__str(pawl__arena_printf(changes->arena, "%.*s/feed", PAWL_STR_ARG(r->id)));
    status = pawl__runtime_pack(r->runtime, changes->arena, r->feed, &row.payload, NULL);
    if (row.id.len == 0)
        status = pawl__arena_status(changes->arena);
    if (changes->status == PAWL_OK)
        changes->status = status;
    pawl__runtime_change(changes, PAWL_CHANGE_ADD, PAWL_TABLE_WORK, &row);
}

/* All of them, or none: PAWL_ECONFLICT when one of the rows is not ours any more. */
static int commit_responses(struct pawl_runtime *runtime, struct runtime_request *const *list,
                            size_t count, struct pawl_error *err)
{
    int64_t deadline_ns = pawl_env_monotonic_ns(runtime->env) + STORE_NS;
    struct pawl_str done[REQUESTS_MAX];
    struct pawl_arena arena;
    struct runtime_changes changes = {.arena = &arena};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .done = done, .done_count = count};
    int64_t now_us;
    int status = pawl__runtime_clock(runtime, &now_us, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    PAWL_ASSERT(count > 0 && count <= REQUESTS_MAX);
    for (size_t i = 0; i < count; i++) {
        PAWL_ASSERT(list[i]->owner == list[0]->owner); /* the guard of the commit */
        done[i] = list[i]->id;
        add_feed(&changes, list[i], now_us);
    }
    commit.done_owner = list[0]->owner;
    commit.changes = changes.items;
    commit.change_count = changes.count;
    status = changes.status == PAWL_OK ? pawl__runtime_commit(runtime, &commit, deadline_ns, err)
                                       : pawl__error_code(err, changes.status);
    pawl__arena_release(&arena);
    return status;
}

/*
 * Whether nothing is left to do: the response is stored, its row is another node's now, or this
 * node stops and leaves its rows to others. No other error says anything about the commit (a
 * standby that cannot write yet, a right that was taken away, a full disk): the instance waits for
 * the response as long as this node lives.
 */
static bool is_settled(int status)
{
    return status == PAWL_OK || status == PAWL_ECONFLICT || status == PAWL_ESTOPPED;
}

/* Done with, or later again. */
static void finish_request(struct pawl_runtime *runtime, struct runtime_request *r, int status,
                           const struct pawl_error *err)
{
    bool again = !is_settled(status);
    struct pawl_error said = PAWL_ERROR_INIT;

    /* What cannot be stored at all is replaced by that news. */
    if (again && pawl_error_class(status) == PAWL_CLASS_CALLER) {
        (void)pawl__error_set(&said, status, "the response cannot be stored: %s", err->msg);
        pawl__runtime_request_set_failure(r, "unknown", said.msg);
    }
    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return;
    if (again) {
        postpone(r);
    } else {
        remove_request(r);
    }
    pawl__request_move(r, REQUEST_ANSWERED);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    if (!again)
        pawl__runtime_request_free(r);
}

static void deliver(struct pawl_runtime *runtime, struct runtime_request **list, size_t count)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = commit_responses(runtime, list, count, &err);

    for (size_t i = 0; i < count; i++) {
        /* One that is not ours any more must not take the others with it. */
        int own =
            status == PAWL_OK || count == 1 ? status : commit_responses(runtime, &list[i], 1, &err);

        if (own != PAWL_OK && own != PAWL_ESTOPPED && runtime->log)
            pawl_log(runtime->log, own == PAWL_ECONFLICT ? PAWL_LOG_INFO : PAWL_LOG_WARN,
                     "response not delivered", pawl__log_str("instance", list[i]->instance_id),
                     pawl_log_error("error", &err));
        finish_request(runtime, list[i], own, &err);
    }
}

/* ---- the thread ---------------------------------------------------------------------------- */

/* With the mutex held: what to do next, and until when there is nothing. */
static size_t collect(struct pawl_runtime *runtime, struct runtime_request **list,
                      int64_t *until_ns)
{
    int64_t now_ns = pawl_env_monotonic_ns(runtime->env);
    struct runtime_request *r;
    size_t count = 0;

    *until_ns = PAWL_FOREVER;
    PAWL_LIST_FOR_EACH (r, &runtime->requests, link) {
        bool waits = r->state == REQUEST_PAUSING || r->state == REQUEST_ANSWERED;

        if (!waits || count == REQUESTS_MAX)
            continue;
        if (r->again_ns > now_ns) {
            *until_ns = r->again_ns < *until_ns ? r->again_ns : *until_ns;
            continue;
        }
        /* Of one owner at a time: it is the guard of their commit. */
        if (count > 0 && r->owner != list[0]->owner) {
            *until_ns = now_ns;
            continue;
        }
        list[count++] = r;
    }
    return count;
}

/* With the mutex held, which it gives up: those that pause are checked and sent, the others
 * delivered. All have one owner. */
static int handle_requests(struct pawl_runtime *runtime, struct runtime_request **list,
                           size_t count)
{
    struct runtime_request *received[REQUESTS_MAX];
    int64_t owner = list[0]->owner;
    size_t responses = 0, resends = 0;

    for (size_t i = 0; i < count; i++) {
        struct runtime_request *r = list[i];

        if (r->state == REQUEST_PAUSING) {
            pawl__request_move(r, REQUEST_CHECKING);
            r->again_ns = 0;
            list[resends++] = r;
        } else if (r->end == PAWL_HTTP_CANCELLED) {
            /* The executor is closing; the row stays for whoever comes next. */
            r->again_ns = PAWL_FOREVER;
        } else if (try_again(r)) {
            pawl__request_move(r, REQUEST_PAUSING);
        } else {
            pawl__request_move(r, REQUEST_COMMITTING);
            received[responses++] = r;
        }
    }
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    if (resends > 0)
        resend_requests(runtime, list, resends, owner);
    if (responses > 0)
        deliver(runtime, received, responses);
    return pawl_mutex_lock(runtime->env, runtime->mutex);
}

static void run_requests(void *arg)
{
    struct pawl_runtime *runtime = arg;
    struct runtime_request *list[REQUESTS_MAX];
    int status = pawl_mutex_lock(runtime->env, runtime->mutex);

    if (status != PAWL_OK)
        return;
    while (status == PAWL_OK && !runtime->http_stop) {
        int64_t until_ns;
        size_t count = collect(runtime, list, &until_ns);

        if (count > 0) {
            status = handle_requests(runtime, list, count);
        } else if (pawl_cond_wait(runtime->env, runtime->answered, runtime->mutex, until_ns) ==
                   PAWL_ESTOPPED) {
            break; /* the mutex is held all the same */
        }
    }
    if (status == PAWL_OK)
        pawl_mutex_unlock(runtime->env, runtime->mutex);
}

int pawl__runtime_http_open(struct pawl_runtime *runtime, struct pawl_error *err)
{
    int status = pawl_cond_new(runtime->env, "answered", &runtime->answered);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    if (!runtime->options.http)
        return PAWL_OK;
    return pawl_thread_start(runtime->env, "pawl-answers", run_requests, runtime,
                             &runtime->http_thread, err);
}

/* What is under way is given up: its rows are free when this node has left. */
void pawl__runtime_http_close(struct pawl_runtime *runtime)
{
    struct pawl_list_link *link;

    if (runtime->http_thread) {
        if (pawl_mutex_lock(runtime->env, runtime->mutex) == PAWL_OK) {
            runtime->http_stop = true;
            pawl_cond_broadcast(runtime->env, runtime->answered);
            pawl_mutex_unlock(runtime->env, runtime->mutex);
        }
        pawl_thread_join(runtime->env, runtime->http_thread);
    }
    while ((link = pawl__list_pop_front(&runtime->requests)) != NULL) {
        struct runtime_request *r = PAWL_CONTAINER(link, struct runtime_request, link);

        if (r->ticket != 0)
            pawl_http_cancel(runtime->options.http, r->ticket);
        pawl__runtime_request_free(r);
    }
    pawl_cond_free(runtime->env, runtime->answered);
}

/* ---- work that was taken ------------------------------------------------------------------- */

/* A lease that was over for a while lets a node take its own rows. */
static bool is_under_way(struct pawl_runtime *runtime, const struct pawl_work_row *work)
{
    bool found;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return true;
    found = adopt(runtime, work->id, work->owner);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return found;
}

void pawl__runtime_adopt_request(struct pawl_runtime *runtime, const struct pawl_work_row *work)
{
    (void)is_under_way(runtime, work);
}

/* Whoever sent it is gone, and nobody knows how far it got. */
int pawl__runtime_do_http(struct runtime_task *task, const struct pawl_work_row *work,
                          int64_t now_us)
{
    struct pawl_runtime *runtime = task->runtime;
    struct runtime_changes changes = {.arena = &task->arena};
    struct runtime_request *r;
    struct pawl_json data;
    int status = pawl__runtime_json_read(runtime, &task->arena, work->payload, &data, task->err);

    if (status != PAWL_OK)
        return status;
    if (is_under_way(runtime, work))
        return PAWL_OK;
    if (!runtime->options.http)
        return pawl__runtime_put_off(task, work, now_us + RUNTIME_HTTP_ELSEWHERE_US);
    status = pawl__runtime_request_new(runtime, work, &data, &r, task->err);
    if (status != PAWL_OK)
        return status;
    if (!pawl__str_is(runtime_text(&data, "onUnknown"), "fault")) {
        pawl__runtime_request_begin(r);
        return PAWL_OK;
    }
    pawl__runtime_request_set_failure(
        r, "unknown", "the node that sent the request is gone: whether it took effect is unknown");
    add_feed(&changes, r, now_us);
    status = pawl__runtime_finish_work(task, work, &changes);
    pawl__runtime_request_free(r);
    return status;
}

/* ---- waiting ------------------------------------------------------------------------------- */

/* With the mutex held. */
static bool is_busy(struct pawl_runtime *runtime, struct pawl_str instance_id)
{
    struct runtime_running *running;
    struct runtime_request *r;

    PAWL_LIST_FOR_EACH (r, &runtime->requests, link) {
        /* No burst waits for what a job asked for. */
        if (instance_id.len == 0 ||
            (r->job_id.len == 0 && pawl__str_equal(r->instance_id, instance_id)))
            return true;
    }
    PAWL_LIST_FOR_EACH (running, &runtime->running, link) {
        if (instance_id.len > 0 && pawl__str_equal(running->id, instance_id))
            return true;
    }
    return false;
}

int pawl__runtime_wait_answered(struct pawl_runtime *runtime, struct pawl_str instance_id,
                                int64_t deadline_ns)
{
    int status = pawl_mutex_lock(runtime->env, runtime->mutex);

    if (status != PAWL_OK)
        return status;
    while (status == PAWL_OK && is_busy(runtime, instance_id))
        status = pawl_cond_wait(runtime->env, runtime->left, runtime->mutex, deadline_ns);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return status;
}

uint64_t pawl__runtime_requests_ended(struct pawl_runtime *runtime)
{
    uint64_t ended;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return 0;
    ended = runtime->requests_ended;
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return ended;
}

bool pawl__runtime_wait_any_answer(struct pawl_runtime *runtime, uint64_t ended,
                                   int64_t deadline_ns)
{
    bool any;

    if (pawl_mutex_lock(runtime->env, runtime->mutex) != PAWL_OK)
        return false;
    any = runtime->requests_ended != ended ||
          (is_busy(runtime, pawl__str("")) &&
           pawl_cond_wait(runtime->env, runtime->left, runtime->mutex, deadline_ns) == PAWL_OK);
    pawl_mutex_unlock(runtime->env, runtime->mutex);
    return any;
}

/* Whether the stored state stands in the middle of a burst that is this node's. */
static int is_unfinished(struct runtime_task *task, struct pawl_str instance_id, bool *out)
{
    struct pawl_instance_row row;
    int status = pawl__runtime_show(task->runtime, instance_id, &task->arena, &row, NULL,
                                    task->deadline_ns, task->err);

    *out = status == PAWL_OK && row.runnable != 0 &&
           row.owner == pawl__keeper_incarnation(task->runtime->keeper);
    return status == PAWL_ENOTFOUND ? PAWL_OK : status;
}

int pawl__runtime_settle(struct runtime_task *task, struct pawl_str instance_id)
{
    struct pawl_runtime *runtime = task->runtime;
    bool unfinished;
    int status;

    for (;;) {
        status = pawl__runtime_wait_answered(runtime, instance_id, task->deadline_ns);
        if (status == PAWL_ETIMEDOUT)
            break; /* it goes on by itself; the outcome says that it is executing */
        if (status != PAWL_OK)
            return pawl__error_code(task->err, status);
        status = is_unfinished(task, instance_id, &unfinished);
        if (status != PAWL_OK || !unfinished)
            return status;
        status = pawl__runtime_run_instance(task, instance_id, NULL, NULL);
        if (status != PAWL_OK || !pawl__list_empty(&task->urgent))
            return status;
        status = is_unfinished(task, instance_id, &unfinished);
        if (status != PAWL_OK || !unfinished)
            return status;
        /* Another thread has it, or it awaits what another thread does. */
        if (pawl_env_monotonic_ns(runtime->env) + LOOK_NS > task->deadline_ns)
            break;
        status = pawl_env_sleep_until(runtime->env, pawl_env_monotonic_ns(runtime->env) + LOOK_NS);
        if (status != PAWL_OK)
            return pawl__error_code(task->err, status);
    }
    pawl__runtime_leave_to_workers(runtime);
    return PAWL_OK;
}
