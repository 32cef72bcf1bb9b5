/* SPDX-License-Identifier: Apache-2.0 */
#include "host/meter.h"

#include "lib/test.h"

#include <stdio.h>

struct seen {
    size_t count;
    uint64_t total;
    struct pawl_series last;
};

static void look(void *ctx, const struct pawl_series *series)
{
    struct seen *seen = ctx;

    seen->count++;
    seen->total += series->count;
    seen->last = *series;
}

struct fixture {
    struct pawl_env *env;
    struct pawl_meter *meter;
};

static void open_fixture(struct fixture *f)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    assert_ok(pawl_system_env_open(&f->env, &err), &err);
    assert_ok(pawl__meter_new(f->env, &f->meter, &err), &err);
}

static void close_fixture(struct fixture *f)
{
    pawl__meter_free(f->meter);
    pawl_system_env_close(f->env);
}

static struct seen seen_of(struct fixture *f, enum pawl_metric metric)
{
    struct seen seen = {0};

    pawl__meter_visit(f->meter, metric, look, &seen);
    return seen;
}

static void count(struct fixture *f, const char *type, const char *end)
{
    pawl__meter_count(f->meter, PAWL_METRIC_ACTIVITIES, pawl__str(type), pawl__str(end),
                      pawl__str(""), 1);
}

static void series_are_told_apart_by_their_labels(void **state)
{
    struct fixture f;
    struct seen seen;

    (void)state;
    open_fixture(&f);
    count(&f, "a", "b");
    count(&f, "ab", "");
    count(&f, "a", "b");
    seen = seen_of(&f, PAWL_METRIC_ACTIVITIES);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.total, 3);
    assert_str(seen.last.labels[0], "ab");
    close_fixture(&f);
}

static void add_if_three(void *ctx, const struct pawl_series *series)
{
    size_t *right = ctx;

    *right += series->count == 3;
}

/* More of them than are looked at before the rest, in turn, and again in the other order. */
static void series_in_turn_are_told_apart(void **state)
{
    static const char *const types[] = {"a", "b", "ab", "", "c", "d", "e"};
    const int type_count = (int)(sizeof types / sizeof types[0]);
    struct fixture f;
    size_t right = 0;

    (void)state;
    open_fixture(&f);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < type_count; i++) {
            const char *type = types[round == 1 ? type_count - 1 - i : i];

            count(&f, type, "");
            count(&f, "", type[0] ? type : "none");
        }
    }
    pawl__meter_visit(f.meter, PAWL_METRIC_ACTIVITIES, add_if_three, &right);
    assert_int_equal(right, 2 * type_count);
    assert_int_equal(seen_of(&f, PAWL_METRIC_ACTIVITIES).total, 6 * type_count);
    close_fixture(&f);
}

/* Not of the rest, also when that was counted just before. */
static void a_series_named_other_has_its_own_count(void **state)
{
    struct fixture f;
    struct seen seen;

    (void)state;
    open_fixture(&f);
    count(&f, "other", "other");
    for (unsigned i = 1; i < PAWL_METER_SERIES_MAX; i++) {
        char type[20];

        (void)snprintf(type, sizeof type, "%u", i);
        count(&f, type, "Completed");
    }
    count(&f, "one more", "Completed");
    count(&f, "other", "other");
    count(&f, "one more", "Completed");
    seen = seen_of(&f, PAWL_METRIC_ACTIVITIES);
    assert_int_equal(seen.count, PAWL_METER_SERIES_MAX + 1);
    assert_str(seen.last.labels[0], "other");
    assert_int_equal(seen.last.count, 2);
    close_fixture(&f);
}

static void a_value_falls_into_the_bucket_that_it_does_not_exceed(void **state)
{
    size_t bound_count;
    const double *bounds = pawl__metric_bounds(PAWL_METRIC_BURST_SECONDS, &bound_count);
    struct fixture f;
    struct seen seen;

    (void)state;
    assert_true(bound_count < PAWL_METRIC_BUCKETS_MAX);
    open_fixture(&f);
    pawl__meter_observe(f.meter, PAWL_METRIC_BURST_SECONDS, pawl__str(""), bounds[2]);
    pawl__meter_observe(f.meter, PAWL_METRIC_BURST_SECONDS, pawl__str(""), 1e9);
    pawl__meter_observe_ns(f.meter, PAWL_METRIC_BURST_SECONDS, pawl__str(""), -5);
    seen = seen_of(&f, PAWL_METRIC_BURST_SECONDS);
    assert_int_equal(seen.last.count, 3);
    assert_int_equal(seen.last.buckets[2], 1);
    assert_int_equal(seen.last.buckets[bound_count], 1);
    assert_int_equal(seen.last.buckets[0], 1);
    close_fixture(&f);
}

static void past_the_limit_series_count_as_others(void **state)
{
    struct fixture f;
    struct seen seen;

    (void)state;
    open_fixture(&f);
    for (int i = 0; i < 3000; i++) {
        char type[200];

        (void)snprintf(type, sizeof type, "%d-%0150d", i, 0); /* longer than a label may be */
        count(&f, type, "Completed");
    }
    seen = seen_of(&f, PAWL_METRIC_ACTIVITIES);
    assert_int_equal(seen.count, PAWL_METER_SERIES_MAX + 1);
    assert_int_equal(seen.total, 3000);
    assert_str(seen.last.labels[0], "other");
    assert_int_equal(seen.last.count, 3000 - PAWL_METER_SERIES_MAX);
    close_fixture(&f);
}

static void without_a_meter_nothing_is_counted(void **state)
{
    (void)state;
    pawl__meter_count(NULL, PAWL_METRIC_BURSTS, pawl__str("x"), pawl__str(""), pawl__str(""), 1);
    pawl__meter_observe(NULL, PAWL_METRIC_BURST_SECONDS, pawl__str(""), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(series_are_told_apart_by_their_labels),
        cmocka_unit_test(series_in_turn_are_told_apart),
        cmocka_unit_test(a_series_named_other_has_its_own_count),
        cmocka_unit_test(a_value_falls_into_the_bucket_that_it_does_not_exceed),
        cmocka_unit_test(past_the_limit_series_count_as_others),
        cmocka_unit_test(without_a_meter_nothing_is_counted),
    };

    return cmocka_run_group_tests_name("host/meter", tests, NULL, NULL);
}
