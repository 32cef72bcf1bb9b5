/* SPDX-License-Identifier: Apache-2.0 */
/* The world around the scenario, see outside.h. */
#include "cluster/outside.h"

#include "cluster/scenario.h"
#include "lib/test.h"

#define KEY "Idempotency-Key"
#define TEXT_OK PAWL_STR_LIT("ok")

static const char *const paths[] = {SCENARIO_PLAIN_PATH, SCENARIO_ASIDE_PATH, SCENARIO_HELD_PATH};
#define PATHS (sizeof paths / sizeof paths[0])

struct test_http *outside_start(void)
{
    static const struct test_http_route routes[] = {
        {.path = PAWL_STR_LIT(SCENARIO_PLAIN_PATH), .status = 200, .body = TEXT_OK},
        {.path = PAWL_STR_LIT(SCENARIO_ASIDE_PATH), .status = 200, .body = TEXT_OK},
        {.path = PAWL_STR_LIT(SCENARIO_HELD_PATH), .status = 200, .manner = TEST_HTTP_HOLD},
    };

    return test_http_start(routes, sizeof routes / sizeof routes[0]);
}

/* Of all requests with this path; the key of the first is in *key. */
static unsigned count_path(struct test_http *server, const char *path, const char *what,
                           struct pawl_str *key)
{
    unsigned found = 0;

    for (size_t i = 0; i < test_http_count(server); i++) {
        struct pawl_str own;

        if (!pawl__str_is(test_http_path(server, i), path))
            continue;
        own = test_http_header(server, i, KEY);
        if (found++ == 0)
            *key = own;
        if (own.len == 0 || !pawl__str_equal(own, *key))
            fail_msg("%s: %s was asked for with the key \"%.*s\" after \"%.*s\"", what, path,
                     PAWL_STR_ARG(own), PAWL_STR_ARG(*key));
    }
    return found;
}

unsigned outside_end(struct test_http *server, const char *what)
{
    struct pawl_str keys[PATHS];
    unsigned repeated = 0;

    for (size_t i = 0; i < PATHS; i++) {
        unsigned count;
        bool held = strcmp(paths[i], SCENARIO_HELD_PATH) == 0;

        keys[i] = pawl__str("");
        count = count_path(server, paths[i], what, &keys[i]);
        if ((count == 0 && !held) || count > 2)
            fail_msg("%s: %s was asked for %u times", what, paths[i], count);
        repeated += count > 1;
        for (size_t k = 0; k < i; k++)
            assert_false(keys[i].len > 0 && pawl__str_equal(keys[i], keys[k]));
    }
    test_http_stop(server);
    return repeated;
}
