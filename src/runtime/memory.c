/* SPDX-License-Identifier: Apache-2.0 */
/* Instances: opening bursts on their state, stepping them, keeping what each step hands out. */
#include "runtime/memory_private.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/id.h"

/* Stored states nest no deeper than values do. */
static const struct pawl_json_limits state_limits = {MEMORY_BYTES_MAX, PAWL_JSON_DEPTH_MAX};

int64_t pawl__memory_time(const struct pawl_memory *memory)
{
    return memory->hooks.now ? memory->hooks.now(memory->hooks.ctx) : memory->now;
}

/* splitmix64: a burst that is reopened must not make the ids of the first one again. */
uint64_t pawl__memory_seed(struct pawl_memory *memory)
{
    uint64_t z = memory->seed += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

struct pawl_str pawl__memory_new_id(struct pawl_memory *memory)
{
    struct pawl_id_source source;
    char id[PAWL_ID_SHORT_SIZE];

    pawl__id_source_init_seeded(&source, 0, pawl__memory_seed(memory));
    if (pawl__id_random(&source, id, NULL) != PAWL_OK)
        return pawl__str_make(NULL, 0);
    return pawl__arena_str(&memory->arena, pawl__str(id));
}

/* ---- life -------------------------------------------------------------------------------- */

void pawl__memory_init(struct pawl_memory *memory, const struct pawl_engine *engine,
                       const struct pawl_allocator *alloc, uint64_t seed)
{
    *memory = (struct pawl_memory){
        .alloc = alloc, .engine = engine, .seed = seed, .refuse_invalid = true};
    pawl__arena_init(&memory->arena, alloc, MEMORY_BYTES_MAX);
    pawl__arena_init(&memory->catalog_arena, alloc, MEMORY_BYTES_MAX);
    pawl__arena_init(&memory->request, alloc, MEMORY_BYTES_MAX);
    pawl__list_init(&memory->definitions);
    pawl__list_init(&memory->instances);
    pawl__list_init(&memory->queue);
    pawl__list_init(&memory->parked);
    memory->lines = pawl__json_array();
}

static void drop_list(struct pawl_memory *memory, struct pawl_list *list)
{
    struct pawl_list_link *link;

    while ((link = pawl__list_pop_front(list)) != NULL)
        pawl__memory_work_free(memory, PAWL_CONTAINER(link, struct pawl_memory_work, link));
}

static void pop_run(struct pawl_memory *memory)
{
    struct pawl_memory_run *run = memory->top;

    memory->top = run->below;
    pawl__burst_close(run->burst);
    pawl__free(memory->alloc, run, sizeof *run);
}

static void drop_work(struct pawl_memory *memory)
{
    while (memory->top)
        pop_run(memory);
    drop_list(memory, &memory->queue);
}

void pawl__memory_free_instance(struct pawl_memory *memory, struct pawl_memory_instance *instance)
{
    pawl__list_remove(&instance->link);
    pawl__arena_release(&instance->arena);
    pawl__map_release(&instance->record_ids);
    pawl__free(memory->alloc, instance, sizeof *instance);
}

void pawl__memory_release(struct pawl_memory *memory)
{
    struct pawl_list_link *link;

    drop_work(memory);
    drop_list(memory, &memory->parked);
    while ((link = pawl__list_first(&memory->instances)) != NULL)
        pawl__memory_free_instance(memory, PAWL_CONTAINER(link, struct pawl_memory_instance, link));
    pawl__memory_release_definitions(memory);
    pawl__arena_release(&memory->request);
    pawl__arena_release(&memory->catalog_arena);
    pawl__arena_release(&memory->arena);
}

struct pawl_memory_instance *pawl__memory_instance(const struct pawl_memory *memory,
                                                   struct pawl_str id)
{
    struct pawl_memory_instance *instance;

    PAWL_MEMORY_FOR_EACH_INSTANCE(instance, memory)
    {
        if (pawl__str_equal(instance->id, id))
            return instance;
    }
    return NULL;
}

int pawl__memory_new_instance(struct pawl_memory *memory, const struct pawl_memory_start *start,
                              struct pawl_memory_instance **out, struct pawl_error *err)
{
    struct pawl_memory_instance *instance = pawl__alloc_zeroed(memory->alloc, sizeof *instance);
    const struct pawl_hash_seed seed = {pawl__memory_seed(memory), pawl__memory_seed(memory)};
    struct pawl_str id = start->instance_id.len > 0
                             ? pawl__arena_str(&memory->arena, start->instance_id)
                             : pawl__memory_new_id(memory);

    if (!instance || !id.ptr) {
        pawl__free(memory->alloc, instance, sizeof *instance);
        return pawl__error_code(err, memory_status(&memory->arena));
    }
    instance->id = id;
    instance->definition = start->definition;
    pawl__arena_init(&instance->arena, memory->alloc, MEMORY_BYTES_MAX);
    pawl__map_init(&instance->record_ids, memory->alloc, seed);
    instance->log = instance->records = pawl__json_array();
    instance->kept = pawl__json_null();
    pawl__list_push_back(&memory->instances, &instance->link);
    *out = instance;
    return PAWL_OK;
}

/* Log and records as they were exported; each record is found by its id from now on. */
static int adopt_history(struct pawl_memory *memory, struct pawl_memory_instance *instance,
                         const struct pawl_json *exported)
{
    const struct pawl_json *log = pawl__json_get_text(exported, "WorkflowExecutionLogRecords");
    const struct pawl_json *records = pawl__json_get_text(exported, "ActivityExecutionRecords");
    int status = PAWL_OK;

    if (pawl__json_is(log, PAWL_JSON_ARRAY))
        status = pawl__json_copy(&memory->arena, log, &instance->log);
    if (status == PAWL_OK && pawl__json_is(records, PAWL_JSON_ARRAY))
        status = pawl__json_copy(&memory->arena, records, &instance->records);
    for (uint32_t i = 0; status == PAWL_OK && i < pawl__json_len(&instance->records); i++) {
        uintptr_t place = i + 1u;

        status = pawl__map_put(&instance->record_ids,
                               memory_text(pawl__json_at(&instance->records, i), "id"),
                               (void *)place); // NOLINT(performance-no-int-to-ptr)
    }
    return status;
}

int pawl__memory_take_over(struct pawl_memory *memory, const struct pawl_json *exported,
                           struct pawl_memory_instance **out, struct pawl_error *err)
{
    const struct pawl_json *state = pawl__json_get_text(exported, "WorkflowState");
    struct pawl_str version_id = memory_text(state, "definitionVersionId");
    struct pawl_memory_start start = {.definition = pawl__memory_version(memory, version_id),
                                      .instance_id = memory_text(state, "id")};
    struct pawl_memory_instance *instance = NULL;
    int status;

    if (!start.definition)
        return pawl__error_set(err, PAWL_ENOTFOUND,
                               "instance %.*s is of definition version '%.*s', which is not here: "
                               "import that first",
                               PAWL_STR_ARG(start.instance_id), PAWL_STR_ARG(version_id));
    status = pawl__memory_new_instance(memory, &start, &instance, err);
    if (status != PAWL_OK)
        return status;
    PAWL_ASSERT(instance);
    status = pawl__json_copy(&instance->arena, state, &instance->state);
    if (status == PAWL_OK)
        status = pawl__json_unreference(&instance->arena, &instance->state, &instance->state, err);
    if (status == PAWL_OK && memory->keep)
        status = adopt_history(memory, instance, exported);
    if (status != PAWL_OK) {
        pawl__memory_free_instance(memory, instance);
        return status == PAWL_EPARSE ? status : pawl__error_code(err, status);
    }
    instance->is_final = pawl__str_is(memory_text(&instance->state, "status"), "Finished");
    memory->new_bookmarks = true;
    *out = instance;
    return PAWL_OK;
}

/* ---- requests ---------------------------------------------------------------------------- */

void pawl__memory_request_begin(struct pawl_memory *memory)
{
    pawl__memory_request_end(memory);
    memory->in_request = true;
}

void pawl__memory_request_end(struct pawl_memory *memory)
{
    struct pawl_memory_instance *instance;

    PAWL_MEMORY_FOR_EACH_INSTANCE(instance, memory)
    {
        instance->kept = pawl__json_null();
    }
    pawl__arena_release(&memory->request);
    pawl__arena_init(&memory->request, memory->alloc, MEMORY_BYTES_MAX);
    memory->in_request = false;
}

/* ---- bursts ------------------------------------------------------------------------------ */

static int open_burst(struct pawl_memory *memory, const struct pawl_memory_instance *instance,
                      struct pawl_event *event, struct pawl_burst **out, struct pawl_error *err)
{
    bool fresh = pawl__json_is(&instance->state, PAWL_JSON_NULL);
    struct pawl_graph *graph;
    int status = pawl__memory_graph(memory, instance->definition, NULL, &graph, err);

    event->now = pawl__memory_time(memory);
    event->seed = pawl__memory_seed(memory);
    event->instance_id = instance->id;
    event->kept = instance->kept;
    if (status == PAWL_OK)
        status = pawl__burst_open(graph, memory->alloc, fresh ? NULL : &instance->state, event, out,
                                  err);
    if (status == PAWL_OK && memory->hooks.stop)
        pawl__burst_set_stop(*out, memory->hooks.stop, memory->hooks.ctx);
    return status;
}

int pawl__memory_begin(struct pawl_memory *memory, struct pawl_memory_instance *instance,
                       struct pawl_event *event, struct pawl_error *err)
{
    struct pawl_memory_run *run = pawl__alloc_zeroed(memory->alloc, sizeof *run);
    int status;

    if (!run)
        return pawl__error_code(err, PAWL_ENOMEM);
    status = open_burst(memory, instance, event, &run->burst, err);
    if (status != PAWL_OK) {
        pawl__free(memory->alloc, run, sizeof *run);
        return status;
    }
    run->instance = instance;
    run->below = memory->top;
    memory->top = run;
    return PAWL_OK;
}

/* Closes the burst and opens it again on what was stored. */
static int reopen(struct pawl_memory *memory, struct pawl_memory_run *run, struct pawl_error *err)
{
    struct pawl_event event = {.kind = PAWL_EVENT_RUN};
    struct pawl_burst *again;
    int status = open_burst(memory, run->instance, &event, &again, err);

    if (status != PAWL_OK)
        return status;
    pawl__burst_close(run->burst);
    run->burst = again;
    return PAWL_OK;
}

/* ---- keeping what a step hands out --------------------------------------------------------- */

static int keep_log(struct pawl_memory *memory, struct pawl_memory_run *run,
                    const struct pawl_log_record *record)
{
    struct pawl_json json;
    int status;

    if (memory->hooks.logged)
        memory->hooks.logged(memory->hooks.ctx, run->instance, record);
    if (!memory->keep)
        return PAWL_OK;
    status = pawl__log_record_json(run->burst, record, &memory->arena, &json);
    if (status == PAWL_OK)
        status = pawl__json_copy(&memory->arena, &json, &json);
    if (status == PAWL_OK)
        status = pawl__json_append(&memory->arena, &run->instance->log, json);
    return status;
}

/* Replaces the record of the same context, or appends it. */
static int keep_record(struct pawl_memory *memory, struct pawl_memory_run *run,
                       const struct pawl_context *context)
{
    struct pawl_memory_instance *instance = run->instance;
    uintptr_t place = (uintptr_t)pawl__map_get(&instance->record_ids, context->id);
    struct pawl_json json;
    int status = pawl__activity_record_json(run->burst, context, &memory->arena, &json);

    if (status == PAWL_OK)
        status = pawl__json_copy(&memory->arena, &json, &json);
    if (status != PAWL_OK)
        return status;
    if (place > 0) {
        *pawl__json_at(&instance->records, (uint32_t)(place - 1)) = json;
        return PAWL_OK;
    }
    status = pawl__json_append(&memory->arena, &instance->records, json);
    if (status == PAWL_OK) {
        place = pawl__json_len(&instance->records);
        status = pawl__map_put(&instance->record_ids, memory_text(&json, "id"),
                               (void *)place); // NOLINT(performance-no-int-to-ptr)
    }
    return status;
}

/* Puts the state into its stored text and reads that again. */
static int store(struct pawl_memory *memory, struct pawl_memory_run *run, bool internal,
                 struct pawl_error *err)
{
    struct pawl_memory_instance *instance = run->instance;
    struct pawl_arena scratch, fresh;
    struct pawl_json state;
    struct pawl_buf text;
    int status;

    pawl__arena_init(&scratch, memory->alloc, MEMORY_BYTES_MAX);
    pawl__arena_init(&fresh, memory->alloc, MEMORY_BYTES_MAX);
    pawl__buf_init(&text, memory->alloc, MEMORY_BYTES_MAX);
    status = pawl__burst_state(run->burst, &scratch, internal, &state);
    if (status == PAWL_OK) {
        pawl__json_write(&text, &state, PAWL_JSON_ESCAPE_MINIMAL);
        status = text.status;
    }
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    else
        status = pawl__json_parse(&fresh, pawl__buf_peek(&text), &state_limits, &state, NULL, err);
    if (status == PAWL_OK) {
        pawl__arena_release(&instance->arena);
        instance->arena = fresh;
        instance->state = state;
        instance->is_final = pawl__sub_status_is_final(pawl__burst_sub_status(run->burst));
        memory->new_bookmarks = true;
    } else {
        pawl__arena_release(&fresh);
    }
    pawl__buf_release(&text);
    pawl__arena_release(&scratch);
    return status;
}

static int commit(struct pawl_memory *memory, struct pawl_memory_run *run,
                  const struct pawl_batch *batch, bool internal, struct pawl_error *err)
{
    int status = store(memory, run, internal, err);

    if (status != PAWL_OK)
        return status;
    for (uint32_t i = 0; status == PAWL_OK && i < batch->log_count; i++)
        status = keep_log(memory, run, &batch->log[i]);
    for (uint32_t i = 0; status == PAWL_OK && memory->keep && i < batch->record_count; i++)
        status = keep_record(memory, run, batch->records[i]);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

/* ---- stepping ---------------------------------------------------------------------------- */

/* Feeds the burst what it waits for: the child that ran, or (NULL) whether there is one to run. */
static int feed(struct pawl_memory *memory, const struct pawl_memory_instance *child, bool found,
                struct pawl_error *err)
{
    struct pawl_json result = pawl__json_object();
    struct pawl_arena scratch;
    int status;

    pawl__arena_init(&scratch, memory->alloc, MEMORY_BYTES_MAX);
    if (child)
        status = pawl__memory_child_result(child, &scratch, &result);
    else
        status = pawl__json_set_text(&scratch, &result, "found", pawl__json_bool(found));
    if (status == PAWL_OK)
        status = pawl__burst_feed(memory->top->burst, &result, pawl__memory_time(memory));
    pawl__arena_release(&scratch);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

/*
 * The burst waits for a child: it begins on top of it. The burst is reopened last, because the
 * effect is borrowed from it.
 */
static int await_child(struct pawl_memory *memory, const struct pawl_json *data,
                       struct pawl_error *err)
{
    struct pawl_memory_run *parent = memory->top;
    struct pawl_memory_instance *child;
    struct pawl_memory_start start;
    bool found = pawl__memory_child_start(memory, data, &start);
    bool execute = found && pawl__str_is(memory_text(data, "mode"), "execute");
    int status = PAWL_OK;

    if (execute) {
        status = pawl__memory_new_instance(memory, &start, &child, err);
        if (status == PAWL_OK)
            status = pawl__memory_begin_start(memory, child, &start, err);
    }
    if (status == PAWL_OK && memory->reopen)
        status = reopen(memory, parent, err);
    if (status == PAWL_OK && !execute)
        status = feed(memory, NULL, found, err);
    return status;
}

static int await(struct pawl_memory *memory, const struct pawl_effect *effect,
                 struct pawl_error *err)
{
    if (effect->kind == PAWL_EFFECT_CHILD)
        return await_child(memory, &effect->data, err);
    return pawl__error_set(err, PAWL_EUNSUPPORTED,
                           "instance %.*s asks for an effect that only a server performs",
                           PAWL_STR_ARG(memory->top->instance->id));
}

static int end_run(struct pawl_memory *memory, enum pawl_step step, struct pawl_error *err)
{
    struct pawl_memory_instance *instance = memory->top->instance;
    int status = PAWL_OK;

    pop_run(memory);
    if (memory->top)
        return feed(memory, instance, true, err);
    if (step == PAWL_STEP_DONE)
        status = pawl__memory_notify_parent(memory, instance);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

static int advance(struct pawl_memory *memory, struct pawl_error *err)
{
    struct pawl_memory_run *run = memory->top;
    struct pawl_batch batch;
    enum pawl_step step = PAWL_STEP_DONE;
    bool over;
    int status;

    if (memory->hooks.stop && memory->hooks.stop(memory->hooks.ctx))
        pawl__burst_cancel(run->burst);
    status = pawl__burst_step(run->burst, &step, err);
    if (status != PAWL_OK)
        return status;
    over = step == PAWL_STEP_IDLE || step == PAWL_STEP_DONE;
    pawl__burst_batch(run->burst, &batch);
    status = commit(memory, run, &batch, !over, err);
    if (status == PAWL_OK && over && memory->in_request)
        status =
            pawl__json_copy(&memory->request, pawl__burst_kept(run->burst), &run->instance->kept);
    if (status == PAWL_OK)
        status = pawl__memory_perform(memory, run, &batch, err);
    if (status != PAWL_OK)
        return status;
    if (step == PAWL_STEP_EFFECT)
        return await(memory, batch.awaited, err);
    if (over)
        return end_run(memory, step, err);
    /* A burst that yields is reopened anyway: that is what keeps an endless loop's memory small. */
    return memory->reopen || step == PAWL_STEP_YIELD ? reopen(memory, run, err) : PAWL_OK;
}

int pawl__memory_drain(struct pawl_memory *memory, struct pawl_error *err)
{
    bool any = true;
    int status = PAWL_OK;

    while (status == PAWL_OK && any)
        status = memory->top ? advance(memory, err) : pawl__memory_work_next(memory, &any, err);
    if (status != PAWL_OK)
        drop_work(memory);
    return status;
}
