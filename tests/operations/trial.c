/* SPDX-License-Identifier: Apache-2.0 */
/* Trials, on a host of their own that stores nothing; and that no other host tries anything. */
#include "operations/trial.h"
#include "host/features.h"
#include "host/host.h"
#include "operations/desk.h"
#include "operations/instances.h"

static struct pawl_json parsed(struct desk *desk, const char *text)
{
    struct pawl_json json;

    assert_ok(pawl__json_parse(&desk->arena, pawl__str(text), NULL, &json, NULL, &desk->err),
              &desk->err);
    return json;
}

static void trials_are_refused_where_something_is_stored(struct desk *desk)
{
    struct pawl_json ends = parsed(desk, desk_ends);
    struct pawl_trial_definition definition = {.json = &ends};
    const struct pawl_evaluation what = {.language = "JavaScript",
                                         .source = pawl__json_string(pawl__str("1")),
                                         .variables = pawl__json_object(),
                                         .inputs = pawl__json_object()};
    struct pawl_evaluated result;
    bool awaited;
    size_t at;

    assert_code(pawl__op_trial_load(&desk->op, &definition, 1, &at), PAWL_EINVAL);
    assert_code(pawl__op_trial_evaluate(&desk->op, &what, &result), PAWL_EINVAL);
    assert_code(pawl__op_trial_awaits(&desk->op, pawl__str("Go"), &awaited), PAWL_EINVAL);
}

/* A second host beside the desk's, in memory. */
static struct pawl_op open_trial(struct desk *desk, struct pawl_configuration *configuration)
{
    struct pawl_op op = desk->op;

    pawl__configuration_init(configuration, &desk->env->alloc);
    assert_ok(pawl__configuration_set_pair(configuration, "store=memory:", "test", &desk->err),
              &desk->err);
    assert_ok(pawl__host_new(desk->env, configuration, &op.host, &desk->err), &desk->err);
    pawl__host_set_surroundings(
        op.host, &(struct pawl_surroundings){
                     .extend = pawl__op_trial_extend, .transient = true, .ephemeral = true});
    assert_ok(pawl__host_compose(op.host, &desk->err), &desk->err);
    assert_ok(pawl__host_start(op.host, &desk->err), &desk->err);
    return op;
}

static void a_trial_runs_definitions_and_expressions(struct desk *desk)
{
    struct pawl_json waits = parsed(desk, desk_waits);
    struct pawl_trial_definition definition = {.json = &waits};
    struct pawl_evaluation what = {.language = "JavaScript",
                                   .source = pawl__json_string(pawl__str("getN() + 1")),
                                   .variables = parsed(desk, "{\"n\": 2}"),
                                   .inputs = pawl__json_object()};
    struct pawl_instance_start start = {.with_state = false};
    struct pawl_configuration configuration;
    struct pawl_instance_result started;
    struct pawl_evaluated result;
    struct pawl_op op = open_trial(desk, &configuration);
    bool awaited = true;
    int64_t value = 0;
    size_t at;

    assert_ok(pawl__op_trial_load(&op, &definition, 1, &at), &desk->err);
    assert_ok(pawl__op_trial_awaits(&op, pawl__str("Go"), &awaited), &desk->err);
    assert_false(awaited);
    start.what.version_id = definition.row.id;
    assert_ok(pawl__op_instance_start(&op, &start, &started), &desk->err);
    assert_ok(pawl__op_trial_awaits(&op, pawl__str("Go"), &awaited), &desk->err);
    assert_true(awaited);
    assert_ok(pawl__op_trial_evaluate(&op, &what, &result), &desk->err);
    assert_false(result.is_raised);
    assert_true(pawl__json_to_int(&result.value, &value));
    assert_int_equal(value, 3);
    what.source = pawl__json_string(pawl__str("throw new Error('no')"));
    assert_ok(pawl__op_trial_evaluate(&op, &what, &result), &desk->err);
    assert_true(result.is_raised);
    assert_true(result.failure.len > 0);
    pawl__host_free(op.host);
    pawl__configuration_release(&configuration);
}

const struct desk_test trial_tests[] = {
    DESK_TEST(trials_are_refused_where_something_is_stored),
    DESK_TEST(a_trial_runs_definitions_and_expressions),
    {.name = NULL},
};
