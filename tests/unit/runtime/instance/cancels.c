/* SPDX-License-Identifier: Apache-2.0 */
/* Cancellations: requests that this node cannot carry out, and the look for them where more
 * instances are in hand than one query names. */
#include "runtime/instance/private.h"
#include "unit/runtime/nodes.h"

#define IN_HAND 600

static void each_of_very_many_instances_in_hand_is_asked_about(void **state)
{
    struct fixture *f = *state;
    struct runtime_running *running = calloc(IN_HAND, sizeof *running);
    char(*ids)[8] = calloc(IN_HAND, sizeof *ids);
    const struct pawl_start what = {.definition_id = pawl__str("d"),
                                    .instance_id = pawl__str("last")};
    const struct pawl_instance_row row = {.id = pawl__str("last")};
    struct pawl_commit cancel = {.kind = PAWL_COMMIT_CANCEL, .instance = &row};
    struct pawl_commit *commits[] = {&cancel};
    int64_t until_ns = later(f);

    assert_true(running && ids);
    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    assert_ok(pawl__runtime_start(f->a.runtime, &what, NULL, later(f), &f->err), &f->err);
    for (int i = 0; i < IN_HAND; i++) {
        snprintf(ids[i], sizeof ids[i], i < IN_HAND - 1 ? "i%d" : "last", i);
        assert_ok(pawl__runtime_enter(f->a.runtime, &running[i], pawl__str(ids[i]), PAWL_FOREVER),
                  NULL);
    }
    /* By another node: nothing here is told. */
    assert_ok(pawl_store_apply(f->a.store, commits, 1, later(f), &f->err), &f->err);
    assert_code(cancel.status, PAWL_OK);
    while (!atomic_load(&running[IN_HAND - 1].cancelled)) {
        if (pawl_env_monotonic_ns(f->env) > until_ns)
            fail_msg("the last of %d instances was not asked about", IN_HAND);
        (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND / 100);
    }
    for (int i = 0; i < IN_HAND; i++)
        assert_false(pawl__runtime_leave(f->a.runtime, &running[i]));
    free(ids);
    free(running);
}

static struct node successor;
static unsigned applied_before;

/* Behind the commit that stores the request: the node's next incarnation, which has what this one
 * had, carries it out. */
static void take_over(struct fixture *f)
{
    if (atomic_load(&f->applied) < applied_before + 2)
        return;
    f->before_apply = NULL;
    node_open(f, &successor, "a");
    drain_node(f, &successor);
}

static void a_cancellation_that_another_node_carries_out_is_no_conflict(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    outcome = start(f, "d");
    applied_before = atomic_load(&f->applied);
    f->before_apply = take_over;
    assert_ok(pawl__runtime_cancel(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    assert_null(f->before_apply);
    assert_string_equal(sub_status(f, outcome.instance_id), "Cancelled");
    node_close(&successor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_of_very_many_instances_in_hand_is_asked_about,
                                        set_up_running, tear_down),
        TEST(a_cancellation_that_another_node_carries_out_is_no_conflict),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
