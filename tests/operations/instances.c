/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on instances. */
#include "operations/instances.h"
#include "operations/desk.h"

#include <stdio.h>
#include <string.h>

static struct pawl_instance_list list(struct desk *desk, const struct pawl_instance_query *query)
{
    struct pawl_instance_list out = {.rows = NULL};

    assert_ok(pawl__op_instances_list(&desk->op, query, &out), &desk->err);
    return out;
}

/* Ten that wait, named alternately, five that have ended and one that faulted. */
static void start_some(struct desk *desk)
{
    char id[16];

    desk_publish(desk, desk_waits);
    desk_publish(desk, desk_ends);
    desk_publish(desk, desk_faults);
    for (int i = 0; i < 10; i++) {
        (void)snprintf(id, sizeof id, "w%d", i);
        (void)desk_start(desk, "waits", id, i < 3 ? "order-1" : "order-2", i % 2 ? "odd" : "even");
    }
    for (int i = 0; i < 5; i++) {
        (void)snprintf(id, sizeof id, "e%d", i);
        (void)desk_start(desk, "ends", id, NULL, NULL);
    }
    (void)desk_start(desk, "faults", "f0", NULL, NULL);
    desk_drain(desk);
}

static uint64_t count_of(struct desk *desk, struct pawl_instance_query query)
{
    struct pawl_instance_list some;
    uint64_t total;

    query.page.total_only = true;
    some = list(desk, &query);
    assert_int_equal(some.count, 0);
    total = some.page.total;
    query.page.total_only = false;
    assert_int_equal(list(desk, &query).count, total);
    return total;
}

/* Exactly this one is left. */
static void assert_only(struct desk *desk, struct pawl_instance_query query, const char *id)
{
    assert_int_equal(count_of(desk, query), 1);
    assert_str(list(desk, &query).rows[0].id, id);
}

static void filters_that_few_match_find_them(struct desk *desk)
{
    static const char system[] = "{\"definitionId\":\"system\",\"isSystem\":true,\"root\":{"
                                 "\"id\":\"w\",\"type\":\"Elsa.WriteLine\"}}";
    const struct pawl_instance_start child = {.what = {.definition_id = pawl__str("waits"),
                                                       .instance_id = pawl__str("child"),
                                                       .parent_id = pawl__str("p")}};
    struct pawl_str definitions[] = {pawl__str("faults"), pawl__str("nope")}, second;
    struct pawl_instance_result result;
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;

    start_some(desk);
    desk_publish(desk, system);
    (void)desk_start(desk, "system", "s", NULL, NULL);
    desk_publish(desk, desk_ends); /* once more: version 2 */
    (void)desk_start(desk, "ends", "second", NULL, NULL);
    assert_ok(pawl__op_instance_start(&desk->op, &child, &result), &desk->err);
    query.is_system = 1;
    assert_only(desk, query, "s");
    query.is_system = 0;
    assert_int_equal(count_of(desk, query), 18);
    query = PAWL_INSTANCE_QUERY_ALL;
    query.is_put_off = true;
    assert_int_equal(count_of(desk, query), 0);
    query = PAWL_INSTANCE_QUERY_ALL;
    query.parent_id = pawl__str("p");
    assert_only(desk, query, "child");
    query = PAWL_INSTANCE_QUERY_ALL;
    query.version = 2;
    assert_only(desk, query, "second");
    second = list(desk, &query).rows[0].version_id;
    query = PAWL_INSTANCE_QUERY_ALL;
    query.version_id = second;
    assert_only(desk, query, "second");
    query = PAWL_INSTANCE_QUERY_ALL;
    query.definition_ids = definitions;
    query.definition_id_count = 2;
    assert_only(desk, query, "f0");
}

static void each_filter_narrows_the_list(struct desk *desk)
{
    struct pawl_str two[] = {pawl__str("w1"), pawl__str("e3")};
    struct pawl_str ended[] = {pawl__str("Finished"), pawl__str("Faulted")};
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;

    start_some(desk);
    assert_int_equal(count_of(desk, query), 16);
    query.definition_id = pawl__str("waits");
    assert_int_equal(count_of(desk, query), 10);
    query.correlation_id = pawl__str("order-1");
    assert_int_equal(count_of(desk, query), 3);
    query.name = pawl__str("even");
    assert_int_equal(count_of(desk, query), 2);
    query = PAWL_INSTANCE_QUERY_ALL;
    query.ids = two;
    query.id_count = 2;
    assert_int_equal(count_of(desk, query), 2);
    query.id_count = 0;
    assert_int_equal(count_of(desk, query), 0);
    query = PAWL_INSTANCE_QUERY_ALL;
    query.sub_statuses = ended;
    query.sub_status_count = 2;
    assert_int_equal(count_of(desk, query), 6);
    query = PAWL_INSTANCE_QUERY_ALL;
    query.status = pawl__str("Running");
    assert_int_equal(count_of(desk, query), 10);
    query = PAWL_INSTANCE_QUERY_ALL;
    query.has_incidents = 1;
    assert_int_equal(count_of(desk, query), 1);
    query.has_incidents = 0;
    assert_int_equal(count_of(desk, query), 15);
}

static void a_search_looks_into_names_and_ids_without_case(struct desk *desk)
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;

    start_some(desk);
    query.search = pawl__str("EVE");
    assert_int_equal(count_of(desk, query), 5);
    query.search = pawl__str("order-2");
    assert_int_equal(count_of(desk, query), 7);
    query.search = pawl__str("fault");
    assert_int_equal(count_of(desk, query), 1);
    query.search = pawl__str("%");
    assert_int_equal(count_of(desk, query), 0);
}

static void a_time_of_an_end_excludes_what_has_not_ended(struct desk *desk)
{
    struct pawl_instance_time times[] = {
        {.which = PAWL_INSTANCE_ENDED, .compare = PAWL_LT, .us = INT64_MAX},
        {.which = PAWL_INSTANCE_CREATED, .compare = PAWL_GT, .us = 0},
    };
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;

    start_some(desk);
    query.times = times;
    query.time_count = 2;
    assert_int_equal(count_of(desk, query), 6);
}

#define DAY_US INT64_C(86400000000)

/* By the day on which all were made, or (this test may run at midnight) two days. */
static void a_time_that_is_a_day_means_all_of_it(struct desk *desk)
{
    struct pawl_instance_time time = {.which = PAWL_INSTANCE_CREATED, .is_day = true};
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    int64_t first_us, last_us;

    start_some(desk);
    last_us = list(desk, &query).rows[0].created_us / DAY_US * DAY_US;
    query.page.reversed = true;
    first_us = list(desk, &query).rows[0].created_us / DAY_US * DAY_US;
    query.times = &time;
    query.time_count = 1;
    time.us = first_us;
    time.compare = PAWL_GE;
    assert_int_equal(count_of(desk, query), 16);
    time.compare = PAWL_LT;
    assert_int_equal(count_of(desk, query), 0);
    time.us = last_us;
    time.compare = PAWL_LE;
    assert_int_equal(count_of(desk, query), 16);
    time.compare = PAWL_GT;
    assert_int_equal(count_of(desk, query), 0);
    time.compare = PAWL_EQ;
    time.us = first_us - DAY_US;
    assert_int_equal(count_of(desk, query), 0);
    time.compare = PAWL_NE;
    assert_int_equal(count_of(desk, query), 16);
    if (first_us != last_us)
        return;
    time.us = first_us;
    assert_int_equal(count_of(desk, query), 0);
    time.compare = PAWL_EQ;
    assert_int_equal(count_of(desk, query), 16);
}

static void several_statuses_are_one_of_them(struct desk *desk)
{
    const struct pawl_str both[] = {pawl__str("running"), pawl__str("FINISHED")};
    const struct pawl_str wrong = pawl__str("Faulted");
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_instance_list page;

    start_some(desk);
    query.statuses = both;
    query.status_count = 2;
    assert_int_equal(count_of(desk, query), 16);
    query.status_count = 1;
    assert_int_equal(count_of(desk, query), 10);
    query.status = pawl__str("Finished");
    assert_int_equal(count_of(desk, query), 0);
    query.status = pawl__str("");
    query.status_count = 0;
    assert_int_equal(count_of(desk, query), 0);
    query.statuses = &wrong;
    query.status_count = 1;
    assert_code(pawl__op_instances_list(&desk->op, &query, &page), PAWL_EINVAL);
}

static void versions_of_a_definition_choose_instances(struct desk *desk)
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_instance_list page;

    start_some(desk);
    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "new", NULL, NULL);
    query.definition_id = pawl__str("waits");
    query.versions.pick = PAWL_VERSIONS_ALL;
    assert_int_equal(count_of(desk, query), 11);
    query.versions.pick = PAWL_VERSIONS_PUBLISHED;
    assert_only(desk, query, "new");
    query.versions.pick = PAWL_VERSIONS_LATEST;
    assert_only(desk, query, "new");
    query.versions = (struct pawl_version_options){PAWL_VERSIONS_NUMBER, 1};
    assert_int_equal(count_of(desk, query), 10);
    query.versions.pick = PAWL_VERSIONS_DRAFT;
    assert_code(pawl__op_instances_list(&desk->op, &query, &page), PAWL_EINVAL);
    query.versions.pick = PAWL_VERSIONS_LATEST;
    query.definition_id = pawl__str("nothing");
    assert_int_equal(count_of(desk, query), 0);
}

/* Walks the list in pages of three by cursors; each row is met once, in the order of one page. */
static void check_walk(struct desk *desk, struct pawl_instance_query query)
{
    struct pawl_instance_list whole = list(desk, &query);
    size_t met = 0;

    query.page.limit = 3;
    for (;;) {
        struct pawl_instance_list page = list(desk, &query);

        for (size_t i = 0; i < page.count; i++, met++) {
            assert_true(met < whole.count);
            assert_true(pawl__str_equal(page.rows[i].id, whole.rows[met].id));
        }
        if (page.page.next.len == 0)
            break;
        query.page.after = page.page.next;
    }
    assert_int_equal(met, whole.count);
}

/* Below 0: the first comes first when sorted upwards. */
static int compare_by(enum pawl_instance_sort sort, const struct pawl_instance_row *a,
                      const struct pawl_instance_row *b)
{
    switch (sort) {
    case PAWL_INSTANCES_BY_CREATED:
        return (a->created_us > b->created_us) - (a->created_us < b->created_us);
    case PAWL_INSTANCES_BY_UPDATED:
        return (a->updated_us > b->updated_us) - (a->updated_us < b->updated_us);
    case PAWL_INSTANCES_BY_FINISHED:
        return (a->finished_us > b->finished_us) - (a->finished_us < b->finished_us);
    case PAWL_INSTANCES_BY_NAME:
        return pawl__str_compare(a->name, b->name);
    }
    return 0;
}

/* Times from the latest, names from the first; reversed the other way. */
static void check_order(struct desk *desk, struct pawl_instance_query query)
{
    struct pawl_instance_list whole = list(desk, &query);
    bool upwards = (query.sort == PAWL_INSTANCES_BY_NAME) != query.page.reversed;
    bool differs = false;

    assert_int_equal(whole.count, 16);
    for (size_t i = 1; i < whole.count; i++) {
        int order = compare_by(query.sort, &whole.rows[i - 1], &whole.rows[i]);

        differs = differs || order != 0;
        assert_true(upwards ? order <= 0 : order >= 0);
    }
    assert_true(differs);
}

static void pages_by_cursor_meet_each_row_once_in_every_order(struct desk *desk)
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;

    start_some(desk);
    for (int sort = PAWL_INSTANCES_BY_CREATED; sort <= PAWL_INSTANCES_BY_NAME; sort++) {
        query.sort = (enum pawl_instance_sort)sort;
        for (int reversed = 0; reversed < 2; reversed++) {
            query.page.reversed = reversed != 0;
            check_order(desk, query);
            check_walk(desk, query);
        }
    }
}

/* Oldest of all, and still first; no page has it twice. */
static void a_search_for_an_id_finds_it_first(struct desk *desk)
{
    static const char *const ids[] = {"needle", "needle-1", "needle-2", "needle-3", "needle-4"};
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_instance_list page;
    size_t met = 0;

    desk_publish(desk, desk_waits);
    for (size_t i = 0; i < 5; i++)
        (void)desk_start(desk, "waits", ids[i], NULL, NULL);
    query.search = pawl__str("needle");
    query.page = (struct pawl_page_request){.limit = 2, .with_total = true, .scan_limit = 2};
    page = list(desk, &query);
    assert_str(page.rows[0].id, "needle");
    query.page = (struct pawl_page_request){.limit = 0};
    check_walk(desk, query);
    query.page = (struct pawl_page_request){.limit = 2, .with_total = true};
    for (query.page.offset = 0; met < 5; query.page.offset += 2) {
        page = list(desk, &query);
        assert_int_equal(page.page.total, 5);
        for (size_t i = 0; i < page.count; i++)
            assert_int_equal(pawl__str_is(page.rows[i].id, "needle"), met + i == 0);
        met += page.count;
    }
    assert_int_equal(met, 5);
}

static void an_offset_passes_over_rows(struct desk *desk)
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_instance_list whole, page;

    start_some(desk);
    whole = list(desk, &query);
    query.page.offset = 4;
    query.page.limit = 2;
    query.page.with_total = true;
    page = list(desk, &query);
    assert_int_equal(page.count, 2);
    assert_int_equal(page.page.total, 16);
    assert_true(pawl__str_equal(page.rows[0].id, whole.rows[4].id));
}

static void a_cursor_of_another_list_is_refused(struct desk *desk)
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_instance_list page;

    start_some(desk);
    query.page.limit = 3;
    page = list(desk, &query);
    assert_true(page.page.next.len > 0);
    query.page.after = page.page.next;
    query.sort = PAWL_INSTANCES_BY_NAME;
    assert_code(pawl__op_instances_list(&desk->op, &query, &page), PAWL_EINVAL);
    query.sort = PAWL_INSTANCES_BY_CREATED;
    query.page.reversed = true;
    assert_code(pawl__op_instances_list(&desk->op, &query, &page), PAWL_EINVAL);
    query.page.reversed = false;
    query.page.after = pawl__str("bm9uc2Vuc2U=");
    assert_code(pawl__op_instances_list(&desk->op, &query, &page), PAWL_EINVAL);
    query.page.after = pawl__str("***");
    assert_code(pawl__op_instances_list(&desk->op, &query, &page), PAWL_EINVAL);
}

static void a_page_that_is_too_large_is_refused(struct desk *desk)
{
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_instance_list page;

    query.page.limit = PAWL_PAGE_ROWS_MAX + 1;
    assert_code(pawl__op_instances_list(&desk->op, &query, &page), PAWL_EINVAL);
}

static void more_conditions_than_a_query_takes_are_refused(struct desk *desk)
{
    struct pawl_str text = pawl__str("a"), statuses[] = {pawl__str("Finished")};
    struct pawl_instance_time times[PAWL_INSTANCE_TIMES_MAX];
    struct pawl_instance_query query = {
        .definition_id = text,
        .version_id = text,
        .correlation_id = text,
        .parent_id = text,
        .name = text,
        .search = text,
        .status = pawl__str("Finished"),
        .ids = &text,
        .definition_ids = &text,
        .sub_statuses = statuses,
        .id_count = 1,
        .definition_id_count = 1,
        .sub_status_count = 1,
        .version = 1,
        .times = times,
        .time_count = PAWL_INSTANCE_TIMES_MAX,
        .is_put_off = true,
    };
    struct pawl_instance_list page;

    for (size_t i = 0; i < PAWL_INSTANCE_TIMES_MAX; i++)
        times[i] =
            (struct pawl_instance_time){.which = PAWL_INSTANCE_ENDED, .compare = PAWL_GT, .us = 1};
    assert_code(pawl__op_instances_list(&desk->op, &query, &page), PAWL_EINVAL);
    assert_non_null(strstr(desk->err.msg, "too many conditions"));
    query.page.total_only = true;
    assert_code(pawl__op_instances_list(&desk->op, &query, &page), PAWL_EINVAL);
    query.page.total_only = false;
    query.time_count = 2;
    assert_int_equal(count_of(desk, query), 0);
}

const struct desk_test instance_tests[] = {
    DESK_TEST(each_filter_narrows_the_list),
    DESK_TEST(filters_that_few_match_find_them),
    DESK_TEST(a_search_looks_into_names_and_ids_without_case),
    DESK_TEST(a_time_of_an_end_excludes_what_has_not_ended),
    DESK_TEST(a_time_that_is_a_day_means_all_of_it),
    DESK_TEST(several_statuses_are_one_of_them),
    DESK_TEST(versions_of_a_definition_choose_instances),
    DESK_TEST(pages_by_cursor_meet_each_row_once_in_every_order),
    DESK_TEST(a_search_for_an_id_finds_it_first),
    DESK_TEST(an_offset_passes_over_rows),
    DESK_TEST(a_cursor_of_another_list_is_refused),
    DESK_TEST(a_page_that_is_too_large_is_refused),
    DESK_TEST(more_conditions_than_a_query_takes_are_refused),
    {.name = NULL},
};
