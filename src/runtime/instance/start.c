/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New instances: by a caller, by a row that a stimulus or a parent left, by time.
 *
 * An instance appears with the first commit of its first burst, in the same transaction that
 * deletes the row that asked for it and inserts what may exist only once: the activation of a
 * singleton, a caller's key. So each of these starts one instance, whoever does it, however often
 * it is tried.
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "base/log.h"
#include "engine/builder.h"
#include "engine/context.h"
#include "runtime/bytes.h"
#include "runtime/node/keeper.h"
#include "runtime/node/pause.h"
#include "runtime/task.h"
#include "runtime/work/private.h"

/* How long a caller's idempotency key is remembered: a day. */
#define KEY_US INT64_C(86400000000)

/* ---- what may exist once ------------------------------------------------------------------- */

struct activation {
    bool by_definition;
    bool by_correlation;
    struct pawl_str key; /* "": no strategy */
};

/*
 * The key of an activation: the definition's id, with ':' and '%' escaped so that the correlation
 * begins behind the first ':' of it, whatever either holds. Of most ids that is the id itself, and
 * so the key that earlier versions wrote.
 */
static struct pawl_str activation_key(struct pawl_arena *arena, struct pawl_str definition_id,
                                      struct pawl_str correlation_id)
{
    static const char prefix[] = "activation:";
    size_t most = sizeof prefix + 3 * definition_id.len + 1 + correlation_id.len, len;
    char *key = pawl__arena_alloc_aligned(arena, most, 1);

    if (!key)
        return pawl__str_make(NULL, 0);
    len = sizeof prefix - 1;
    memcpy(key, prefix, len);
    for (size_t i = 0; i < definition_id.len; i++) {
        char c = definition_id.ptr[i];

        if (c == ':' || c == '%') {
            memcpy(key + len, c == ':' ? "%3A" : "%25", 3);
            len += 3;
        } else {
            key[len++] = c;
        }
    }
    key[len++] = ':';
    if (correlation_id.len > 0)
        memcpy(key + len, correlation_id.ptr, correlation_id.len);
    return pawl__str_make(key, len + correlation_id.len);
}

static int find_activation(struct runtime_task *task, const struct pawl_workflow *workflow,
                           struct pawl_str correlation_id, struct activation *out)
{
    struct pawl_str strategy = workflow->activation_strategy;

    *out = (struct activation){.key = pawl__str("")};
    if (pawl__str_is(strategy, "SingletonStrategy")) {
        out->by_definition = true;
    } else if (pawl__str_is(strategy, "CorrelatedSingletonStrategy")) {
        out->by_definition = true;
        out->by_correlation = correlation_id.len > 0;
    } else if (pawl__str_is(strategy, "CorrelationStrategy")) {
        out->by_correlation = correlation_id.len > 0;
    } else {
        return PAWL_OK;
    }
    out->key =
        activation_key(&task->arena, out->by_definition ? workflow->definition_id : pawl__str(""),
                       out->by_correlation ? correlation_id : pawl__str(""));
    return out->key.ptr ? PAWL_OK : pawl__error_code(task->err, pawl__arena_status(&task->arena));
}

/* Instances that hold no reservation count too: those that a caller started. */
static int is_active(struct runtime_task *task, const struct pawl_workflow *workflow,
                     const struct activation *activation, struct pawl_str correlation_id,
                     bool *active)
{
    struct pawl_condition conditions[3] = {
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "status"),
         .value = {.text = pawl__str("Running")}},
    };
    struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                               .flags = PAWL_QUERY_COUNT,
                               .conditions = conditions,
                               .condition_count = 1};
    struct pawl_rows rows;
    int status;

    if (activation->by_definition)
        conditions[query.condition_count++] = (struct pawl_condition){
            .column = pawl_table_column(PAWL_TABLE_INSTANCES, "definition_id"),
            .value = {.text = workflow->definition_id}};
    if (activation->by_correlation)
        conditions[query.condition_count++] = (struct pawl_condition){
            .column = pawl_table_column(PAWL_TABLE_INSTANCES, "correlation_id"),
            .value = {.text = correlation_id}};
    status = pawl_store_find(task->runtime->store, &query, &task->arena, &rows, task->deadline_ns,
                             task->err);
    *active = status == PAWL_OK && rows.total > 0;
    return status;
}

int pawl__runtime_may_start(struct runtime_task *task, struct pawl_graph *graph,
                            struct pawl_str correlation_id, bool *may)
{
    struct activation activation;
    bool active = false;
    int status = find_activation(task, graph->workflow, correlation_id, &activation);

    if (status == PAWL_OK && activation.key.len > 0)
        status = is_active(task, graph->workflow, &activation, correlation_id, &active);
    *may = !active;
    return status;
}

/* The instance that a key was used for; "" when it was not. */
static int find_key(struct runtime_run *run, struct pawl_str key, struct pawl_str *value)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_RESERVATIONS, "key"), .value = {.text = key}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_RESERVATIONS, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows;
    int status = pawl_store_find(run->runtime->store, &query, &run->arena, &rows,
                                 run->task->deadline_ns, run->task->err);

    *value = pawl__str("");
    if (status == PAWL_OK && rows.count > 0)
        *value = ((const struct pawl_reservation_row *)rows.rows)->value;
    return status;
}

static struct pawl_str caller_key(struct runtime_run *run, struct pawl_str key)
{
    return pawl__str(pawl__arena_printf(&run->arena, "start:%.*s", PAWL_STR_ARG(key)));
}

/* Of a start that a parent's activity asked for (activities/child.h). */
#define SCHEDULED_BY "schedulingActivityExecutionId"
#define DEPTH "callStackDepth"

/* Behind the instance's id in the value of a caller's key; a fingerprint does not have it. */
#define FINGERPRINT_MARK '\n'

static struct pawl_str caller_value(struct runtime_run *run, struct pawl_str fingerprint)
{
    if (fingerprint.len == 0)
        return run->row.id;
    return pawl__str(pawl__arena_printf(&run->arena, "%.*s%c%.*s", PAWL_STR_ARG(run->row.id),
                                        FINGERPRINT_MARK, PAWL_STR_ARG(fingerprint)));
}

/* The instance that a caller's key is of. PAWL_ECONFLICT: it was another start. */
static int read_caller_value(struct runtime_run *run, const struct pawl_start *start,
                             struct pawl_str *value)
{
    struct pawl_str before;
    size_t mark = value->len;

    while (mark > 0 && value->ptr[mark - 1] != FINGERPRINT_MARK)
        mark--;
    if (mark == 0)
        return PAWL_OK;
    before = pawl__str_slice(*value, mark, value->len);
    *value = pawl__str_slice(*value, 0, mark - 1);
    if (start->fingerprint.len == 0 || pawl__str_equal(before, start->fingerprint))
        return PAWL_OK;
    return pawl__error_set(run->task->err, PAWL_ECONFLICT,
                           "the key %.*s was used for another start: use another key",
                           PAWL_STR_ARG(start->idempotency_key));
}

static int reserve(struct runtime_run *run, const struct pawl_start *start,
                   const struct activation *activation)
{
    struct pawl_reservation_row *rows = pawl__arena_alloc_array(&run->arena, 2, sizeof *rows);

    if (!rows)
        return pawl__error_code(run->task->err, pawl__arena_status(&run->arena));
    run->reservations = rows;
    if (activation->key.len > 0)
        rows[run->reservation_count++] = (struct pawl_reservation_row){
            .key = activation->key,
            .instance_id = run->row.id,
            .value = run->row.id,
            .expires_us = PAWL_TIME_NEVER,
        };
    if (start->idempotency_key.len > 0) {
        rows[run->reservation_count] = (struct pawl_reservation_row){
            .key = caller_key(run, start->idempotency_key),
            .value = caller_value(run, start->fingerprint),
            .expires_us = run->now_us + KEY_US,
        };
        if (rows[run->reservation_count].key.len == 0 ||
            rows[run->reservation_count++].value.len == 0)
            return pawl__error_code(run->task->err, pawl__arena_status(&run->arena));
    }
    return PAWL_OK;
}

/* ---- beginning ----------------------------------------------------------------------------- */

static int find_graph(struct runtime_run *run, const struct pawl_start *start)
{
    struct runtime_task *task = run->task;

    if (start->version_id.len > 0)
        return pawl__definitions_graph(run->runtime->definitions, start->version_id, &run->graph,
                                       task->deadline_ns, task->err);
    return pawl__definitions_published(run->runtime->definitions, start->definition_id, &run->graph,
                                       task->deadline_ns, task->err);
}

/* A chain of children that is too long is most likely endless. */
static int check_depth(struct runtime_run *run, struct pawl_str parent_id)
{
    uint32_t depth = 0;

    while (parent_id.len > 0) {
        const struct pawl_condition condition = {
            .column = pawl_table_column(PAWL_TABLE_INSTANCES, "id"), .value = {.text = parent_id}};
        const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                         .flags = PAWL_QUERY_BRIEF,
                                         .conditions = &condition,
                                         .condition_count = 1};
        struct pawl_rows rows;
        int status = pawl_store_find(run->runtime->store, &query, &run->arena, &rows,
                                     run->task->deadline_ns, run->task->err);

        if (status != PAWL_OK)
            return status;
        if (++depth > run->runtime->options.depth_max)
            return pawl__error_set(run->task->err, PAWL_ELIMIT,
                                   "children within children end at a depth of %u",
                                   run->runtime->options.depth_max);
        parent_id = rows.count > 0 ? ((const struct pawl_instance_row *)rows.rows)->parent_id
                                   : pawl__str("");
    }
    return PAWL_OK;
}

/* What a row of work starts is not older than the row. Who wrote it had another look at the clock:
 * one that took long shows an earlier time. By more than that, the clock was set back. */
static int64_t not_before(int64_t now_us, const struct pawl_work_row *cause)
{
    bool is_behind =
        cause && cause->created_us >= now_us && cause->created_us - now_us < RUNTIME_CLOCK_STEP_US;

    return is_behind ? cause->created_us + 1 : now_us;
}

/* The row before its first commit. */
static int new_row(struct runtime_run *run, const struct pawl_start *start)
{
    int status =
        pawl__runtime_clock(run->runtime, &run->now_us, run->task->deadline_ns, run->task->err);

    if (status != PAWL_OK)
        return status;
    run->is_new = true;
    run->is_known = start->instance_id.len > 0;
    run->state = pawl__json_null();
    run->now_us = not_before(run->now_us, run->started);
    run->claimed_ns = pawl_env_monotonic_ns(run->runtime->env);
    run->row = (struct pawl_instance_row){
        .id = start->instance_id.len > 0 ? pawl__arena_str(&run->arena, start->instance_id)
                                         : pawl__runtime_new_id(run->runtime, &run->arena),
        .version_id = run->graph->workflow->version_id,
        .owner = pawl__keeper_incarnation(run->runtime->keeper),
    };
    run->incarnation = run->row.owner;
    if (!run->row.id.ptr)
        return pawl__error_code(run->task->err, pawl__arena_status(&run->arena));
    if (run->row.id.len > PAWL_INSTANCE_ID_MAX)
        return pawl__error_set(run->task->err, PAWL_EINVAL, "an instance id has at most %d bytes",
                               PAWL_INSTANCE_ID_MAX);
    if (pawl__str_find(run->row.id, '\0', 0) != SIZE_MAX)
        return pawl__error_set(run->task->err, PAWL_EINVAL, "an instance id has a NUL in it");
    if (start->name.len > PAWL_NAME_MAX)
        return pawl__error_set(run->task->err, PAWL_EINVAL,
                               "a name of an instance has at most %d bytes", PAWL_NAME_MAX);
    if (start->correlation_id.len > PAWL_CORRELATION_ID_MAX)
        return pawl__error_set(run->task->err, PAWL_EINVAL,
                               "a correlation id has at most %u bytes, not %zu",
                               PAWL_CORRELATION_ID_MAX, start->correlation_id.len);
    return pawl__runtime_check_key(run->task, start->idempotency_key);
}

static struct pawl_event start_event(const struct pawl_start *start)
{
    return (struct pawl_event){
        .kind = start->activity_id.len > 0 ? PAWL_EVENT_ACTIVITY : PAWL_EVENT_RUN,
        .activity_id = start->activity_id,
        .input = start->input,
        .is_request = start->is_request,
        .properties = start->properties,
        .variables = start->variables,
        .correlation_id = start->correlation_id,
        .name = start->name,
        .parent_instance_id = start->parent_id,
        .scheduled_by = start->scheduled_by,
        .scheduled_by_depth = start->scheduled_by_depth,
        .trigger_activity_id = start->trigger_activity_id,
    };
}

static int prepare(struct runtime_run *run, const struct pawl_start *start)
{
    int status = pawl__keeper_revive(run->runtime->keeper, run->task->err);

    if (status == PAWL_OK)
        status = pawl__runtime_check_input(run->task, "a start", &start->input);
    if (status == PAWL_OK)
        status = pawl__runtime_check_input(run->task, "a start", &start->properties);
    if (status == PAWL_OK)
        status = pawl__runtime_check_input(run->task, "a start", &start->variables);
    if (status == PAWL_OK)
        status = find_graph(run, start);
    if (status == PAWL_OK && start->activity_id.len > 0 &&
        !pawl__graph_activity(run->graph, start->activity_id))
        status =
            pawl__error_set(run->task->err, PAWL_ENOTFOUND, "the definition has no activity %.*s",
                            PAWL_STR_ARG(start->activity_id));
    if (status == PAWL_OK)
        status = check_depth(run, start->parent_id);
    return status == PAWL_OK ? new_row(run, start) : status;
}

/* ---- for callers --------------------------------------------------------------------------- */

/*
 * Asks the activation strategy if the caller wishes so, and reserves what may exist once. *may
 * false: the strategy refuses.
 */
static int check_activation(struct runtime_run *run, const struct pawl_start *start,
                            struct activation *activation, bool *may)
{
    const struct pawl_workflow *workflow = run->graph->workflow;
    bool active = false;
    int status = PAWL_OK;

    *activation = (struct activation){.key = pawl__str("")};
    if (start->judged)
        status = find_activation(run->task, workflow, start->correlation_id, activation);
    if (status == PAWL_OK && activation->key.len > 0)
        status = is_active(run->task, workflow, activation, start->correlation_id, &active);
    if (status == PAWL_OK && !active)
        status = reserve(run, start, activation);
    *may = !active;
    return status;
}

static void refuse_start(struct runtime_run *run)
{
    if (run->outcome)
        run->outcome->refused = true;
}

/* PAWL_EEXISTS means one of three: the key, which is a success; an activation that was quicker; the
 * id. */
static int explain_existing(struct runtime_run *run, const struct pawl_start *start,
                            const struct activation *activation)
{
    struct pawl_str value = pawl__str(""), active = pawl__str("");
    int status = PAWL_OK;

    if (start->idempotency_key.len > 0)
        status = find_key(run, caller_key(run, start->idempotency_key), &value);
    if (status == PAWL_OK)
        status = read_caller_value(run, start, &value);
    if (status == PAWL_OK && value.len == 0 && activation->key.len > 0)
        status = find_key(run, activation->key, &active);
    if (status != PAWL_OK)
        return status;
    /* Who was quicker may have ended since. An id that was made for this start is nobody's. */
    if (value.len == 0 && (active.len > 0 || (activation->key.len > 0 && !run->is_known))) {
        refuse_start(run);
        return PAWL_OK;
    }
    if (value.len == 0 || value.len > PAWL_INSTANCE_ID_MAX)
        return pawl__error_set(run->task->err, PAWL_EEXISTS, "there is an instance %.*s already",
                               PAWL_STR_ARG(run->row.id));
    if (run->outcome) {
        memcpy(run->outcome->instance_id, value.ptr, value.len);
        run->outcome->instance_id[value.len] = '\0';
        run->outcome->existed = true;
    }
    return PAWL_OK;
}

/* How a new instance begins: by its first burst, or pending. */
typedef int begin_fn(struct runtime_run *run, struct pawl_event *event);

static int begin_new(struct runtime_run *run, const struct pawl_start *start, begin_fn *begin)
{
    struct pawl_event event = start_event(start);
    struct activation activation;
    bool may = true;
    int status = prepare(run, start);

    if (status == PAWL_OK)
        status = check_activation(run, start, &activation, &may);
    if (status != PAWL_OK)
        return status;
    if (!may) {
        refuse_start(run);
        return PAWL_OK;
    }
    status = begin(run, &event);
    if (status == PAWL_EEXISTS)
        status = explain_existing(run, start, &activation);
    else if (status == PAWL_OK)
        pawl__runtime_tell_outcome(run);
    return status;
}

/* Its id, once its first commit is stored. */
static void note_begun(const struct runtime_run *run, char begun[PAWL_INSTANCE_ID_MAX + 1])
{
    begun[0] = '\0';
    if (run->row.revision == 0)
        return;
    memcpy(begun, run->row.id.ptr, run->row.id.len);
    begun[run->row.id.len] = '\0';
}

int pawl__runtime_start(struct pawl_runtime *runtime, const struct pawl_start *start,
                        struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct runtime_task task;
    struct runtime_run run;
    char begun[PAWL_INSTANCE_ID_MAX + 1];
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    task.waits = !start->unattended;
    pawl__runtime_run_init(&run, &task);
    run.outcome = out;
    run.left = start->left;
    if (out)
        *out = (struct pawl_outcome){0};
    status = pawl__runtime_check_paused(runtime, deadline_ns, err);
    if (status == PAWL_OK)
        status = begin_new(&run, start, pawl__runtime_run_new);
    /* What is urgent may be its own. */
    if (start->left && !pawl__list_empty(&task.urgent))
        start->left->is_known = false;
    note_begun(&run, begun);
    pawl__runtime_run_release(&run);
    if (status == PAWL_OK)
        status = pawl__runtime_task_finish(&task);
    if (status == PAWL_OK && begun[0])
        status = pawl__runtime_renew_outcome(&task, out);
    pawl__runtime_task_release(&task, status);
    if (!begun[0])
        return status;
    return pawl__error_after_commit(err, status, "instance %s was started", begun);
}

int pawl__runtime_create(struct pawl_runtime *runtime, const struct pawl_start *start,
                         struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct runtime_task task;
    struct runtime_run run;
    char begun[PAWL_INSTANCE_ID_MAX + 1];
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    pawl__runtime_run_init(&run, &task);
    run.outcome = out;
    if (out)
        *out = (struct pawl_outcome){0};
    status = begin_new(&run, start, pawl__runtime_commit_pending);
    note_begun(&run, begun);
    pawl__runtime_run_release(&run);
    pawl__runtime_task_release(&task, status);
    if (!begun[0])
        return status;
    return pawl__error_after_commit(err, status, "instance %s was created", begun);
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* The row that asked for an instance is done without one. */
static int drop_start(struct runtime_task *task, const struct pawl_work_row *work, const char *why)
{
    struct runtime_changes changes = {.arena = &task->arena};

    if (task->runtime->log)
        pawl_log(task->runtime->log, PAWL_LOG_INFO, "nothing started",
                 pawl__log_str("work", work->id), pawl_log_text("because", why));
    return pawl__runtime_finish_work(task, work, &changes);
}

/* What a row of work asks for. */
struct asked {
    struct pawl_start start;
    bool judged;               /* by the definition's activation strategy */
    struct pawl_str feeds;     /* the parent that executes it inline; "": none */
    struct pawl_str feeds_job; /* a job of that parent's does; "": its burst */
};

static int start_for(struct runtime_task *task, const struct pawl_work_row *work,
                     const struct asked *asked)
{
    const struct pawl_start *start = &asked->start;
    struct pawl_event event = start_event(start);
    struct activation activation = {.key = pawl__str("")};
    struct runtime_run run;
    bool active = false;
    int status;

    pawl__runtime_run_init(&run, task);
    run.started = work;
    run.feeds = asked->feeds;
    run.feeds_job = asked->feeds_job;
    status = prepare(&run, start);
    if (status == PAWL_OK && asked->judged)
        status = find_activation(task, run.graph->workflow, start->correlation_id, &activation);
    if (status == PAWL_OK && activation.key.len > 0)
        status = is_active(task, run.graph->workflow, &activation, start->correlation_id, &active);
    if (status == PAWL_OK)
        status = reserve(&run, start, &activation);
    if (status == PAWL_OK && !active)
        status = pawl__runtime_run_new(&run, &event);
    pawl__runtime_run_release(&run);
    if (active || status == PAWL_EEXISTS)
        return drop_start(task, work,
                          active ? "the activation strategy says no" : "it is there already");
    if (status == PAWL_ENOTFOUND && asked->feeds.len == 0)
        return drop_start(task, work, "its definition is not published any more");
    return status;
}

/*
 * A parent that executes a child inline must learn that there will be none: it would wait for ever.
 * It is told which: when an operator replays what was given up, it may await another one.
 */
static void add_refusal(struct runtime_changes *changes, const struct pawl_work_row *work,
                        const struct asked *asked, struct pawl_str why)
{
    struct pawl_builder b = {.arena = changes->arena};
    struct pawl_json told = pawl__json_object();
    struct pawl_work_row feed = {
        .kind = pawl__str(asked->feeds_job.len > 0 ? PAWL_WORK_JOB : PAWL_WORK_FEED),
        .instance_id = asked->feeds,
        .bookmark_id = asked->feeds_job,
        .part = pawl__runtime_part(asked->feeds),
        .created_us = work->created_us,
        .due_us = work->created_us,
        .expires_us = PAWL_TIME_NEVER,
    };

    feed.id = pawl__str(pawl__arena_printf(changes->arena, "%.*s/feed", PAWL_STR_ARG(work->id)));
    pawl__build_text(&b, &told, "workflowInstanceId", asked->start.instance_id);
    pawl__build_text(&b, &told, "error", pawl__arena_str(changes->arena, why));
    if (b.status == PAWL_OK)
        feed.payload = pawl__runtime_json_text(changes->arena, &told);
    if (changes->status == PAWL_OK &&
        (b.status != PAWL_OK || feed.id.len == 0 || !feed.payload.ptr))
        changes->status = pawl__arena_status(changes->arena);
    pawl__runtime_change(changes, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, &feed);
}

static int refuse_child(struct runtime_task *task, const struct pawl_work_row *work,
                        const struct asked *asked)
{
    struct runtime_changes changes = {.arena = &task->arena};
    struct pawl_str why = pawl__arena_str(&task->arena, pawl__str(task->err ? task->err->msg : ""));
    int64_t now_us = 0;
    int status = why.ptr ? PAWL_OK : pawl__arena_status(&task->arena);

    if (status == PAWL_OK && task->given_up)
        status = pawl__runtime_clock(task->runtime, &now_us, task->deadline_ns, task->err);
    if (status != PAWL_OK)
        return pawl__error_code(task->err, status);
    add_refusal(&changes, work, asked, why);
    if (task->given_up)
        pawl__runtime_add_dead_letter(&changes, work, "Failed", why, now_us);
    status = pawl__runtime_finish_work(task, work, &changes);
    return status == PAWL_OK ? pawl__runtime_task_urge(task, NULL, asked->feeds) : status;
}

/* Who is told of the start's first burst. */
static void read_feeds(const struct pawl_json *data, struct asked *asked)
{
    asked->feeds = asked->feeds_job = pawl__str("");
    if (!pawl__str_is(runtime_text(data, "mode"), "execute"))
        return;
    asked->feeds = runtime_text(data, "parentInstanceId");
    asked->feeds_job = runtime_text(data, RUNTIME_JOB);
}

void pawl__runtime_add_refusal(struct runtime_task *task, struct runtime_changes *changes,
                               const struct pawl_work_row *work, struct pawl_str why)
{
    struct asked asked = {.judged = false};
    struct pawl_json data;
    int status;

    if (!pawl__str_is(work->kind, PAWL_WORK_START))
        return;
    status = pawl__runtime_json_read(task->runtime, changes->arena, work->payload, &data, NULL);
    if (status == PAWL_ENOMEM && changes->status == PAWL_OK)
        changes->status = status;
    if (status != PAWL_OK)
        return; /* who asked for it cannot be read either */
    read_feeds(&data, &asked);
    asked.start.instance_id = runtime_text(&data, "instanceId");
    if (asked.feeds.len > 0)
        add_refusal(changes, work, &asked, why);
}

int pawl__runtime_do_start(struct runtime_task *task, const struct pawl_work_row *work)
{
    struct pawl_json data;
    struct asked asked = {.judged = false};
    int64_t depth;
    enum pawl_error_class class;
    int status =
        pawl__runtime_json_read(task->runtime, &task->arena, work->payload, &data, task->err);

    if (status != PAWL_OK)
        return status;
    asked.start = (struct pawl_start){
        .definition_id = runtime_text(&data, "definitionId"),
        .version_id = runtime_text(&data, "versionId"),
        .instance_id = runtime_text(&data, "instanceId"),
        .correlation_id = runtime_text(&data, "correlationId"),
        .name = runtime_text(&data, "name"),
        .parent_id = runtime_text(&data, "parentInstanceId"),
        .trigger_activity_id = runtime_text(&data, "triggerActivityId"),
        .input = runtime_member(&data, "input"),
        .properties = runtime_member(&data, "properties"),
        .scheduled_by = runtime_text(&data, SCHEDULED_BY),
    };
    if (pawl__json_to_int(pawl__json_get_text(&data, DEPTH), &depth) && depth >= 0 &&
        depth < UINT32_MAX)
        asked.start.scheduled_by_depth = (uint32_t)depth;
    asked.judged = asked.start.trigger_activity_id.len > 0;
    read_feeds(&data, &asked);
    status = start_for(task, work, &asked);
    class = pawl_error_class(status);
    if (status == PAWL_OK || status == PAWL_ECONFLICT || asked.feeds.len == 0 ||
        class == PAWL_CLASS_TRANSIENT || class == PAWL_CLASS_UNKNOWN || class == PAWL_CLASS_FATAL)
        return status;
    return refuse_child(task, work, &asked);
}

/* ---- ticks --------------------------------------------------------------------------------- */

/*
 * A trigger that time fires has one row, its next tick. Whoever does a tick commits the next one
 * and the start of an instance, as a row of its own that is tried again and given up by itself:
 * what becomes of the start is no matter of the trigger's. Only a tick makes the next, so there is
 * one; a tick itself is never given up (work/work.c). One whose trigger is gone is the last.
 */

static int find_trigger(struct runtime_task *task, struct pawl_str id,
                        const struct pawl_trigger_row **out)
{
    const struct pawl_condition condition = {.column = pawl_table_column(PAWL_TABLE_TRIGGERS, "id"),
                                             .value = {.text = id}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_TRIGGERS, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows;
    int status = pawl_store_find(task->runtime->store, &query, &task->arena, &rows,
                                 task->deadline_ns, task->err);

    *out = status == PAWL_OK && rows.count > 0 ? rows.rows : NULL;
    return status;
}

/* An interval that is raised is worth a warning, at the trigger's first tick only. */
static void warn_of_raised(struct runtime_task *task, const struct pawl_work_row *work,
                           const struct pawl_trigger_row *trigger, const struct pawl_json *payload)
{
    if (task->runtime->log &&
        pawl__trigger_is_raised(trigger->name, payload,
                                task->runtime->engine->timer_interval_min) &&
        work->due_us == pawl__ticks_to_us(pawl__trigger_due(trigger->name, payload, 0)))
        pawl_log(task->runtime->log, PAWL_LOG_WARN,
                 "the interval of a trigger is raised to timer.interval.min",
                 pawl__log_str("definition", trigger->definition_id),
                 pawl__log_str("activity", trigger->activity_id));
}

/* The next occurrence; *again false when there is none. Counted from the one that is due, so that
 * being late does not move the rest; ones that were missed altogether are not made up for. */
static int next_occurrence(struct runtime_task *task, const struct pawl_work_row *work,
                           const struct pawl_trigger_row *trigger, const struct pawl_json *payload,
                           int64_t now_us, struct pawl_work_row *next, bool *again)
{
    int64_t due = pawl__us_to_ticks(work->due_us), now = pawl__us_to_ticks(now_us);
    int64_t least = task->runtime->engine->timer_interval_min;

    warn_of_raised(task, work, trigger, payload);
    due = pawl__trigger_due_again(trigger->name, payload, due, least);
    if (due < now)
        due = pawl__trigger_due_again(trigger->name, payload, now, least);
    *again = due != INT64_MAX;
    if (!*again)
        return PAWL_OK;
    *next = *work;
    next->owner = next->takeovers = 0;
    next->attempts = 0;
    next->attempted_us = 0;
    next->error = pawl__str("");
    next->created_us = now_us;
    next->due_us = pawl__ticks_to_us(due);
    next->id = pawl__str(pawl__arena_printf(&task->arena, "tick:%.*s:%lld",
                                            PAWL_STR_ARG(trigger->id), (long long)next->due_us));
    return next->id.len > 0 ? PAWL_OK
                            : pawl__error_code(task->err, pawl__arena_status(&task->arena));
}

/* The start that a tick means. */
static int start_of(struct runtime_task *task, const struct pawl_trigger_row *trigger,
                    const struct pawl_json *payload, int64_t now_us, struct pawl_work_row *out)
{
    struct pawl_builder b = {.arena = &task->arena};
    struct pawl_json data = pawl__json_object();

    pawl__build_text(&b, &data, "versionId", trigger->version_id);
    pawl__build_text(&b, &data, "triggerActivityId", trigger->activity_id);
    pawl__build(&b, &data, "input", *payload);
    *out = (struct pawl_work_row){
        .id = pawl__runtime_new_id(task->runtime, &task->arena),
        .kind = pawl__str(PAWL_WORK_START),
        .created_us = now_us,
        .due_us = runtime_at_once(now_us),
        .expires_us = PAWL_TIME_NEVER,
        .definition_id = trigger->definition_id,
    };
    if (b.status == PAWL_OK)
        out->payload = pawl__runtime_json_text(&task->arena, &data);
    if (b.status == PAWL_OK && (!out->id.ptr || !out->payload.ptr))
        b.status = pawl__arena_status(&task->arena);
    if (b.status != PAWL_OK)
        return pawl__error_code(task->err, b.status);
    out->part = pawl__runtime_part(out->id);
    return PAWL_OK;
}

int pawl__runtime_start_of_tick(struct runtime_task *task, struct pawl_str trigger_id,
                                int64_t now_us, struct pawl_work_row *out)
{
    const struct pawl_trigger_row *trigger;
    struct pawl_json payload;
    int status = find_trigger(task, trigger_id, &trigger);

    if (status == PAWL_OK && !trigger)
        return pawl__error_set(task->err, PAWL_ENOTFOUND, "there is no trigger %.*s",
                               PAWL_STR_ARG(trigger_id));
    if (status == PAWL_OK)
        status = pawl__runtime_json_read(task->runtime, &task->arena, trigger->payload, &payload,
                                         task->err);
    return status == PAWL_OK ? start_of(task, trigger, &payload, now_us, out) : status;
}

int pawl__runtime_do_tick(struct runtime_task *task, const struct pawl_work_row *work)
{
    struct runtime_changes changes = {.arena = &task->arena};
    const struct pawl_trigger_row *trigger;
    int64_t now_us;
    struct pawl_json payload;
    struct pawl_work_row next, start;
    bool again = false;
    int status = find_trigger(task, work->name, &trigger);

    if (status == PAWL_OK && !trigger)
        return drop_start(task, work, "its trigger is gone");
    if (status == PAWL_OK)
        status = pawl__runtime_clock(task->runtime, &now_us, task->deadline_ns, task->err);
    if (status == PAWL_OK)
        status = pawl__runtime_json_read(task->runtime, &task->arena, trigger->payload, &payload,
                                         task->err);
    if (status == PAWL_OK)
        status = next_occurrence(task, work, trigger, &payload, now_us, &next, &again);
    if (status == PAWL_OK)
        status = start_of(task, trigger, &payload, now_us, &start);
    if (status != PAWL_OK)
        return status;
    pawl__runtime_change(&changes, PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, &start);
    if (again)
        pawl__runtime_change(&changes, PAWL_CHANGE_ADD, PAWL_TABLE_WORK, &next);
    return pawl__runtime_finish_work(task, work, &changes);
}
