/* SPDX-License-Identifier: Apache-2.0 */
/* The contract on locks in memory, with and without leases. */
#include "contract/lock_suite.h"

#include <stdio.h>

struct place {
    struct pawl_env *env;
    struct pawl_lock_space *space;
};

static int open_one(void *ctx, int64_t ttl_ms, struct pawl_lock_provider **out,
                    struct pawl_error *err)
{
    struct place *place = ctx;

    return pawl__memory_locks_open(place->space, place->env, ttl_ms, out, err);
}

static void take_away(void *ctx, struct pawl_env *env, struct pawl_str name)
{
    struct place *place = ctx;

    (void)env;
    assert_true(pawl__lock_space_break(place->space, name));
}

int main(int argc, char **argv)
{
    struct lock_contract contract = {.title = "locks in memory", .open = open_one, .workers = 100};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct place place = {0};
    int failed;

    if (pawl_system_env_open(&place.env, &err) != PAWL_OK ||
        pawl__lock_space_new(place.env, &place.space, &err) != PAWL_OK) {
        (void)fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    contract.ctx = &place;
    if (argc > 1 && strcmp(argv[1], "lease") == 0) {
        contract.ttl_ms = 2000;
        contract.take_away = take_away;
    }
    failed = lock_contract_main(&contract);
    pawl__lock_space_free(place.space);
    pawl_system_env_close(place.env);
    return failed;
}
