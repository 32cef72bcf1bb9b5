/* SPDX-License-Identifier: Apache-2.0 */
#include "base/list.h"
#include "lib/test.h"

struct job {
    int number;
    struct pawl_list_link link;
};

static struct job *job_of(struct pawl_list_link *link)
{
    struct job *job = PAWL_CONTAINER(link, struct job, link);

    PAWL_ASSERT(job); /* the compiler does not know that cmocka's assertions do not return */
    return job;
}

/* The numbers in order as one decimal number, 0 for an empty list; checks both directions. */
static int digits(const struct pawl_list *list)
{
    struct job *job;
    int forward = 0, backward = 0, place = 1;

    PAWL_LIST_FOR_EACH (job, list, link)
        forward = forward * 10 + job->number;
    for (struct pawl_list_link *link = list->head.prev; link != &list->head; link = link->prev) {
        backward += job_of(link)->number * place;
        place *= 10;
    }
    assert_int_equal(forward, backward);
    return forward;
}

static void keeps_the_order_of_insertion_at_both_ends(void **state)
{
    struct job jobs[5] = {{1, {0}}, {2, {0}}, {3, {0}}, {4, {0}}, {5, {0}}};
    struct pawl_list list;

    (void)state;
    pawl__list_init(&list);
    assert_true(pawl__list_empty(&list));
    assert_null(pawl__list_first(&list));
    assert_null(pawl__list_pop_front(&list));
    assert_int_equal(digits(&list), 0);
    pawl__list_push_back(&list, &jobs[2].link);
    pawl__list_push_back(&list, &jobs[3].link);
    pawl__list_push_front(&list, &jobs[1].link);
    pawl__list_push_front(&list, &jobs[0].link);
    pawl__list_push_back(&list, &jobs[4].link);
    assert_int_equal(digits(&list), 12345);
    assert_false(pawl__list_empty(&list));
    assert_ptr_equal(pawl__list_first(&list), &jobs[0].link);
}

static void lets_elements_leave_from_anywhere(void **state)
{
    struct job jobs[5] = {{1, {0}}, {2, {0}}, {3, {0}}, {4, {0}}, {5, {0}}};
    struct pawl_list list, other;

    (void)state;
    pawl__list_init(&list);
    pawl__list_init(&other);
    for (int i = 0; i < 5; i++)
        pawl__list_push_back(&list, &jobs[i].link);
    assert_true(pawl__list_linked(&jobs[2].link));
    pawl__list_remove(&jobs[2].link);
    assert_false(pawl__list_linked(&jobs[2].link));
    assert_int_equal(digits(&list), 1245);
    pawl__list_remove(&jobs[0].link);
    pawl__list_remove(&jobs[4].link);
    assert_int_equal(digits(&list), 24);
    pawl__list_push_back(&other, &jobs[2].link);
    pawl__list_push_back(&other, &jobs[0].link);
    assert_int_equal(digits(&other), 31);
    assert_ptr_equal(pawl__list_pop_front(&list), &jobs[1].link);
    assert_ptr_equal(pawl__list_pop_front(&list), &jobs[3].link);
    assert_true(pawl__list_empty(&list));
}

static void popping_inside_a_container_expression_pops_once(void **state)
{
    struct job jobs[3] = {{1, {0}}, {2, {0}}, {3, {0}}};
    struct pawl_list list;
    struct job *job;
    int sum = 0;

    (void)state;
    pawl__list_init(&list);
    for (int i = 0; i < 3; i++)
        pawl__list_push_back(&list, &jobs[i].link);
    while ((job = PAWL_CONTAINER(pawl__list_pop_front(&list), struct job, link)) != NULL)
        sum = sum * 10 + job->number;
    assert_int_equal(sum, 123);
    assert_true(pawl__list_empty(&list));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_order_of_insertion_at_both_ends),
        cmocka_unit_test(lets_elements_leave_from_anywhere),
        cmocka_unit_test(popping_inside_a_container_expression_pops_once),
    };

    return cmocka_run_group_tests_name("base/list", tests, NULL, NULL);
}
