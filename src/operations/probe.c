/* SPDX-License-Identifier: Apache-2.0 */
/* One activity by itself; see probe.h. */
#include "operations/probe.h"

#include "base/error.h"
#include "engine/run/burst.h"
#include "engine/state/page.h"
#include "host/features.h"
#include "host/host.h"
#include "operations/query.h"
#include "runtime/runtime.h"

struct probing {
    const struct pawl_op *op;
    struct pawl_graph *graph;
    const struct pawl_node *node;
    struct pawl_burst *burst;
    bool is_alone; /* the activity is the root */
};

static int find_node(struct probing *probing, const struct pawl_probe *request)
{
    if (request->node_id.len > 0)
        probing->node = pawl__graph_node(probing->graph, request->node_id);
    else if (request->activity_id.len > 0)
        probing->node = pawl__graph_activity(probing->graph, request->activity_id);
    else
        return pawl__error_set(probing->op->err, PAWL_EINVAL, "No activity is named.");
    return probing->node ? PAWL_OK
                         : pawl__error_set(probing->op->err, PAWL_EINVAL,
                                           "The definition has no such activity.");
}

/*
 * Makes the activity the root of a definition that is otherwise the same, so that the variables of
 * the workflow are declared around it. What the engine alone does not know, a definition as an
 * activity, stays where it is, and runs without them.
 */
static int isolate(struct probing *probing, const struct pawl_definition_row *row)
{
    const struct pawl_engine *engine = pawl__host_engine(probing->op->host);
    struct pawl_graph *alone = NULL;
    struct pawl_json definition;
    int status;

    if (!probing->node->parent || !pawl__engine_activity(engine, probing->node->type))
        return PAWL_OK;
    status =
        pawl__json_parse(probing->op->arena, row->data, NULL, &definition, NULL, probing->op->err);
    if (status == PAWL_OK) {
        status = pawl__json_set(probing->op->arena, &definition, pawl__str("root"),
                                *probing->node->json);
        if (status != PAWL_OK)
            (void)pawl__error_code(probing->op->err, status);
    }
    if (status == PAWL_OK)
        status = pawl__graph_load(engine, &op_env(probing->op)->alloc, &definition, NULL, NULL,
                                  NULL, &alone, probing->op->err);
    if (status != PAWL_OK)
        return status;
    probing->node = pawl__graph_activity(alone, probing->node->id);
    pawl__graph_unref(probing->graph);
    probing->graph = alone;
    probing->is_alone = true;
    return probing->node ? PAWL_OK
                         : pawl__error_set(probing->op->err, PAWL_EINVAL,
                                           "The definition has several activities of this id.");
}

static bool is_late(void *ctx)
{
    const struct probing *probing = ctx;

    return pawl_env_monotonic_ns(op_env(probing->op)) >= probing->op->deadline_ns;
}

static int open_burst(struct probing *probing)
{
    struct pawl_event event = {.kind = probing->is_alone ? PAWL_EVENT_RUN : PAWL_EVENT_ACTIVITY,
                               .activity_id = probing->node->id,
                               .instance_id = pawl__str("test")};
    int64_t now_us;
    int status = op_now(probing->op, &now_us);

    if (status == PAWL_OK)
        status =
            pawl_env_entropy(op_env(probing->op), &event.seed, sizeof event.seed, probing->op->err);
    if (status != PAWL_OK)
        return status;
    event.now = pawl__us_to_ticks(now_us);
    status = pawl__burst_open(probing->graph, &op_env(probing->op)->alloc, NULL, &event,
                              &probing->burst, probing->op->err);
    if (status == PAWL_OK)
        pawl__burst_set_stop(probing->burst, is_late, probing);
    return status;
}

/* The record of the activity, if this batch has it. */
static int look(struct probing *probing, bool *found, struct pawl_probed *out)
{
    struct pawl_activity_record record;
    struct pawl_batch batch;

    pawl__burst_batch(probing->burst, &batch);
    for (uint32_t i = 0; i < batch.record_count; i++) {
        struct pawl_json state, outputs, payload, exception = pawl__json_null();
        int status = pawl__activity_record_take(batch.records[i], probing->op->arena, &record);

        if (status == PAWL_OK && !pawl__str_equal(record.activity_node_id, probing->node->node_id))
            continue;
        /* What is taken lives as long as the burst. */
        if (status == PAWL_OK)
            status = pawl__json_copy(probing->op->arena, &record.state, &state);
        if (status == PAWL_OK)
            status = pawl__json_copy(probing->op->arena, &record.outputs, &outputs);
        if (status == PAWL_OK)
            status = pawl__json_copy(probing->op->arena, &record.payload, &payload);
        if (status == PAWL_OK && record.has_exception)
            status = pawl__json_copy(probing->op->arena, &record.exception, &exception);
        if (status != PAWL_OK)
            return pawl__error_code(probing->op->err, status);
        *out = (struct pawl_probed){.state = state,
                                    .outputs = outputs,
                                    .payload = payload,
                                    .exception = exception,
                                    .status = record.status};
        *found = true;
    }
    return PAWL_OK;
}

static int run(struct probing *probing, struct pawl_probed *out)
{
    enum pawl_step step = PAWL_STEP_COMMIT;
    bool found = false;
    int status = PAWL_OK;

    while (status == PAWL_OK && step != PAWL_STEP_IDLE && step != PAWL_STEP_DONE &&
           step != PAWL_STEP_EFFECT) {
        if (is_late(probing))
            return pawl__error_set(probing->op->err, PAWL_ETIMEDOUT, "the activity takes too long");
        status = pawl__burst_step(probing->burst, &step, probing->op->err);
        if (status == PAWL_OK)
            status = look(probing, &found, out);
    }
    return status == PAWL_OK && !found
               ? pawl__error_set(probing->op->err, PAWL_EINVAL, "The activity was not executed.")
               : status;
}

int pawl__op_activity_probe(const struct pawl_op *op, const struct pawl_probe *request,
                            struct pawl_probed *out)
{
    struct probing probing = {.op = op};
    struct pawl_definition_row row;
    struct pawl_probed probed;
    int status = pawl__op_definition_find(op, &request->definition, &row);

    if (status == PAWL_OK)
        status = pawl__definitions_graph(op_definitions(op), row.id, &probing.graph,
                                         op->deadline_ns, op->err);
    if (status == PAWL_OK)
        status = find_node(&probing, request);
    if (status == PAWL_OK)
        status = isolate(&probing, &row);
    if (status == PAWL_OK)
        status = open_burst(&probing);
    if (status == PAWL_OK)
        status = run(&probing, &probed);
    pawl__burst_close(probing.burst);
    pawl__graph_unref(probing.graph);
    if (status == PAWL_OK)
        *out = probed;
    return status;
}
