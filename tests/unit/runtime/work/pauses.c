/* SPDX-License-Identifier: Apache-2.0 */
/* Instances that end while their request is put off: nobody waits for the end of its pause. */
#include "runtime/work/requests.h"

/* Begins one whose request is put off. */
static struct pawl_outcome begin_put_off(struct fixture *f)
{
    struct pawl_outcome outcome;

    publish(f, DEFINITION_SEND);
    atomic_store(&f->a.script.refuses, PAWL_ENOMEM);
    outcome = begin(f, "d");
    POLL_UNTIL(atomic_load(&f->a.script.refused) > 0);
    return outcome;
}

/* Whoever waits for the instance does not wait for the pause of its request. */
static void check_settled_at_once(struct fixture *f, const char *instance_id)
{
    POLL_UNTIL(is_settled(f, instance_id));
    assert_int_equal(atomic_load(&f->a.script.refused), 1);
    assert_int_equal(count(f, PAWL_TABLE_WORK), 0);
}

static void cancelling_does_not_wait_for_the_end_of_a_pause(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome = begin_put_off(f);

    cancel(f, outcome.instance_id);
    check_settled_at_once(f, outcome.instance_id);
}

/* Its definition is gone: it ends without its state. */
static void ending_without_a_state_does_not_wait_for_the_end_of_a_pause(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome = begin_put_off(f);

    assert_ok(pawl__definitions_delete(pawl__runtime_definitions(f->a.runtime), pawl__str("d"),
                                       later(f), &f->err),
              &f->err);
    cancel(f, outcome.instance_id);
    check_settled_at_once(f, outcome.instance_id);
}

static void deleting_does_not_wait_for_the_end_of_a_pause(void **state)
{
    struct fixture *f = *state;
    struct pawl_outcome outcome = begin_put_off(f);

    assert_ok(pawl__runtime_delete(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    check_settled_at_once(f, outcome.instance_id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(cancelling_does_not_wait_for_the_end_of_a_pause),
        TEST(ending_without_a_state_does_not_wait_for_the_end_of_a_pause),
        TEST(deleting_does_not_wait_for_the_end_of_a_pause),
    };

    return cmocka_run_group_tests_name("runtime/work/pauses", tests, NULL, NULL);
}
