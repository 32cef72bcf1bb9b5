/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retention where very much has ended: it goes in batches, each of which looks at no more rows than
 * it drops, while others work on.
 */
#include "cluster/places.h"
#include "pains/stage.h"

#include "runtime/node/retention.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define CHUNK 1000u
#define HOUR_US INT64_C(3600000000)
#define KEPT 50u

/* ---- filling ------------------------------------------------------------------------------- */

struct rows {
    struct pawl_instance_row instances[CHUNK];
    struct pawl_journal_row journals[CHUNK];
    char ids[CHUNK][24];
};

static void load(struct stage *stage, enum pawl_table table, const void *rows, unsigned count)
{
    assert_ok(pawl_store_load(stage->store, table, rows, count, stage_later(stage), &stage->err),
              &stage->err);
}

/* Instances that ended when the store was new, each with a page of its journal. */
static void fill(struct stage *stage, unsigned count)
{
    struct rows *all = calloc(1, sizeof *all);

    assert_non_null(all);
    for (unsigned from = 0; from < count; from += CHUNK) {
        unsigned n = count - from < CHUNK ? count - from : CHUNK;

        for (unsigned i = 0; i < n; i++) {
            struct pawl_str id = pawl__str_make(
                all->ids[i], (size_t)snprintf(all->ids[i], sizeof all->ids[i], "%u", from + i));

            all->instances[i] = (struct pawl_instance_row){.id = id,
                                                           .definition_id = pawl__str("d"),
                                                           .version_id = pawl__str("d:1"),
                                                           .version = 1,
                                                           .status = pawl__str("Finished"),
                                                           .sub_status = pawl__str("Finished"),
                                                           .created_us = 1000 + from + i,
                                                           .updated_us = 2000000000,
                                                           .finished_us = 2000000000,
                                                           .fence = 1,
                                                           .revision = 1,
                                                           .state = pawl__str("{}")};
            all->journals[i] = (struct pawl_journal_row){
                .instance_id = id, .first_sequence = 0, .count = 1, .data = pawl__str("{}")};
        }
        load(stage, PAWL_TABLE_INSTANCES, all->instances, n);
        load(stage, PAWL_TABLE_JOURNAL, all->journals, n);
    }
    free(all);
}

/* ---- another node meanwhile ---------------------------------------------------------------- */

struct neighbour {
    struct stage_options options;
    atomic_bool stop;
    unsigned runs;
    int64_t longest_ns;
    int status;
};

static void *work_beside(void *arg)
{
    struct neighbour *neighbour = arg;
    struct stage stage;

    neighbour->status = stage_try_open(&stage, &neighbour->options);
    while (neighbour->status == PAWL_OK && !atomic_load(&neighbour->stop)) {
        const struct pawl_start start = {.definition_id = pawl__str("d")};
        int64_t begun_ns = pawl_env_monotonic_ns(stage.env), took_ns;

        neighbour->status =
            pawl__runtime_start(stage.runtime, &start, NULL, stage_later(&stage), &stage.err);
        took_ns = pawl_env_monotonic_ns(stage.env) - begun_ns;
        if (took_ns > neighbour->longest_ns)
            neighbour->longest_ns = took_ns;
        neighbour->runs++;
    }
    if (stage.runtime)
        stage_close(&stage);
    return NULL;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Answers how many calls it took; the rows that the store answered are counted. */
static unsigned retain_all(struct stage *stage, uint64_t expected)
{
    const struct pawl_retention_policy policy = {.finished_us = HOUR_US};
    struct pawl_retained gone = {.more = true};
    uint64_t sum = 0;
    unsigned calls = 0;

    for (; gone.more; calls++) {
        struct pawl_store_counts counts;

        pawl__trace_store_reset(stage->store);
        assert_ok(
            pawl__runtime_retain(stage->runtime, &policy, &gone, stage_later(stage), &stage->err),
            &stage->err);
        pawl__trace_store_counts(stage->store, &counts);
        assert_true(gone.finished <= CHUNK);
        /* Found and claimed; a constant besides. */
        assert_in_range(counts.rows, gone.finished, 2 * gone.finished + 10);
        sum += gone.finished;
    }
    assert_int_equal(sum, expected);
    return calls;
}

static void retain_on(const struct place *place, unsigned count)
{
    char uri[PLACE_URI_MAX], id[32];
    struct stage_options options = {.uri = place_fresh(place, uri), .trace = true};
    struct neighbour neighbour = {.options = {.uri = uri, .node = "beside"}};
    struct stage stage;
    pthread_t thread;
    unsigned calls;
    int64_t begun_ns, took_ns;

    stage_open(&stage, &options);
    stage_publish(&stage, DEFINITION("d", "", RIG_WRITE("w", "x")));
    stage_publish(&stage, COUNTING("waits"));
    fill(&stage, count);
    for (unsigned i = 0; i < KEPT; i++) {
        (void)snprintf(id, sizeof id, "kept-%u", i);
        stage_start(&stage, "waits", id);
    }
    assert_int_equal(pthread_create(&thread, NULL, work_beside, &neighbour), 0);
    begun_ns = pawl_env_monotonic_ns(stage.env);
    calls = retain_all(&stage, count);
    took_ns = pawl_env_monotonic_ns(stage.env) - begun_ns;
    atomic_store(&neighbour.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_ok(neighbour.status, NULL);
    assert_true(calls >= count / CHUNK);
    assert_int_equal(stage_count(&stage, PAWL_TABLE_INSTANCES), KEPT + neighbour.runs);
    print_message("# %s: %u instances gone in %u calls, %lld ms; beside it %u runs, the longest "
                  "%lld ms\n",
                  place->name, count, calls, (long long)(took_ns / 1000000), neighbour.runs,
                  (long long)(neighbour.longest_ns / 1000000));
    stage_close(&stage);
}

static void very_much_goes_in_batches_on_sqlite(void **state)
{
    const struct places *places = *state;

    retain_on(&places->sqlite, stage_size(20000, 1000000));
}

static void very_much_goes_in_batches_on_postgres(void **state)
{
    const struct places *places = *state;

    retain_on(&places->postgres, stage_size(5000, 100000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(very_much_goes_in_batches_on_sqlite),
        cmocka_unit_test(very_much_goes_in_batches_on_postgres),
    };

    return cmocka_run_group_tests(tests, places_set_up, places_tear_down);
}
