/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a definition says of times is looked at when it is loaded: literals that are no time,
 * triggers that never fire, intervals shorter than the least one. At run time a shorter interval
 * is raised.
 */
#include "lib/loading.h"
#include "unit/activities/running.h"

#define LITERAL(text) "{\"type\":\"Literal\",\"value\":\"" text "\"}"
#define INPUT(key, type, expression)                                                               \
    "\"" key "\":{\"typeName\":\"" type "\",\"expression\":" expression "}"
#define ROOT(type, starts, input)                                                                  \
    "{\"root\":{\"id\":\"a\",\"type\":\"" type                                                     \
    "\",\"customProperties\":{\"canStartWorkflow\":" starts "}," input "}}"
#define DELAY(text) ROOT("Elsa.Delay", "false", INPUT("timeSpan", "TimeSpan", LITERAL(text)))
#define TIMER(starts, text) ROOT("Elsa.Timer", starts, INPUT("interval", "TimeSpan", LITERAL(text)))
#define CRON(starts, text)                                                                         \
    ROOT("Elsa.Cron", starts, INPUT("cronExpression", "String", LITERAL(text)))
#define START_AT(starts, text)                                                                     \
    ROOT("Elsa.StartAt", starts, INPUT("dateTime", "DateTimeOffset", LITERAL(text)))

struct expectation {
    const char *definition;
    enum pawl_problem_level level;
    const char *pointer; /* NULL: there is no problem */
    const char *part;
};

static void check(const struct expectation *expected, size_t count)
{
    struct loading l;

    loading_init_built_in(&l);
    for (size_t i = 0; i < count; i++) {
        (void)loading_load(&l, expected[i].definition);
        if (l.problems.count != (expected[i].pointer ? 1u : 0u) ||
            (expected[i].pointer &&
             !loading_has_problem(&l, expected[i].level, expected[i].pointer, expected[i].part))) {
            loading_show_problems(&l);
            fail_msg("%s", expected[i].definition);
        }
    }
    loading_release(&l);
}

#define CHECK(list) check((list), sizeof(list) / sizeof *(list))

static void literals_that_are_no_time_are_problems(void **state)
{
    const struct expectation all[] = {
        {DELAY("soon"), PAWL_PROBLEM_ERROR, "/root/timeSpan", "'soon' is no TimeSpan"},
        {DELAY("99999999.00:00:00"), PAWL_PROBLEM_ERROR, "/root/timeSpan", "is no TimeSpan"},
        {DELAY("00:00:00.0010000"), PAWL_PROBLEM_WARNING, NULL, ""},
        {DELAY("-00:00:01"), PAWL_PROBLEM_WARNING, "/root/timeSpan", "is negative"},
        {TIMER("false", "often"), PAWL_PROBLEM_ERROR, "/root/interval", "'often' is no TimeSpan"},
        {TIMER("true", "often"), PAWL_PROBLEM_ERROR, "/root/interval", "'often' is no TimeSpan"},
        {START_AT("false", "noon"), PAWL_PROBLEM_ERROR, "/root/dateTime",
         "'noon' is no DateTimeOffset"},
        {START_AT("true", "noon"), PAWL_PROBLEM_ERROR, "/root/dateTime",
         "'noon' is no DateTimeOffset"},
        {START_AT("true", "2001-02-03T04:05:06Z"), PAWL_PROBLEM_WARNING, NULL, ""},
        {CRON("false", "daily"), PAWL_PROBLEM_ERROR, "/root/cronExpression", "parsing cron"},
        {CRON("true", "daily"), PAWL_PROBLEM_INVALID, "/root/cronExpression", "parsing cron"},
    };

    (void)state;
    CHECK(all);
}

static void triggers_that_never_fire_are_problems(void **state)
{
    const struct expectation all[] = {
        {CRON("true", "0 0 31 2 *"), PAWL_PROBLEM_ERROR, "/root/cronExpression", "never comes"},
        {CRON("false", "0 0 0 30 2 *"), PAWL_PROBLEM_ERROR, "/root/cronExpression", "never comes"},
        {CRON("true", "0 0 29 2 *"), PAWL_PROBLEM_WARNING, NULL, ""},
        {CRON("true", "0 0 29 2 MON#5"), PAWL_PROBLEM_WARNING, NULL, ""},
        {TIMER("true", "00:00:00"), PAWL_PROBLEM_ERROR, "/root/interval", "never again"},
        {TIMER("true", "-01:00:00"), PAWL_PROBLEM_ERROR, "/root/interval", "never again"},
        {ROOT("Elsa.StartAt", "true", "\"x\":1"), PAWL_PROBLEM_ERROR, "/root/dateTime",
         "never fires"},
        {ROOT("Elsa.Cron", "true", "\"x\":1"), PAWL_PROBLEM_INVALID, "/root/cronExpression",
         "parsing cron"},
    };

    (void)state;
    CHECK(all);
}

static void intervals_under_the_least_one_are_warned_of(void **state)
{
    const struct expectation all[] = {
        {TIMER("true", "00:00:00.0000001"), PAWL_PROBLEM_WARNING, "/root/interval",
         "raised to 00:00:01 (timer.interval.min)"},
        {TIMER("false", "00:00:00.5000000"), PAWL_PROBLEM_WARNING, "/root/interval",
         "raised to 00:00:01"},
        {TIMER("false", "-00:00:00.5000000"), PAWL_PROBLEM_WARNING, "/root/interval",
         "raised to 00:00:01"},
        {TIMER("true", "00:00:01"), PAWL_PROBLEM_WARNING, NULL, ""},
    };

    (void)state;
    CHECK(all);
}

static void a_timer_waits_for_the_least_interval(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running,
                  "{'id':'t','type':'Elsa.Timer','interval':{'typeName':'TimeSpan','expression':"
                  "{'type':'Literal','value':'00:00:00.0000001'}}}",
                  "");
    assert_str(
        pawl__json_str(pawl__json_find(&running.state, pawl__str("/bookmarks/0/payload/resumeAt"))),
        "2022-09-28T22:13:21+00:00");
    running_end(&running);
}

static void a_delay_is_as_short_as_it_says(void **state)
{
    struct running running;

    (void)state;
    running_begin(&running,
                  "{'id':'d','type':'Elsa.Delay','timeSpan':{'typeName':'TimeSpan','expression':"
                  "{'type':'Literal','value':'00:00:00.0010000'}}}",
                  "");
    assert_str(
        pawl__json_str(pawl__json_find(&running.state, pawl__str("/bookmarks/0/payload/resumeAt"))),
        "2022-09-28T22:13:20.001+00:00");
    running_end(&running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_that_are_no_time_are_problems),
        cmocka_unit_test(triggers_that_never_fire_are_problems),
        cmocka_unit_test(intervals_under_the_least_one_are_warned_of),
        cmocka_unit_test(a_timer_waits_for_the_least_interval),
        cmocka_unit_test(a_delay_is_as_short_as_it_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
