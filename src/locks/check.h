/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every lock provider must do, as cases that run against a real service: `pawl lock check URI`
 * runs them for an operator, tests/contract for us. They use names that begin with a random word,
 * leave nothing behind, and need nothing but the interface; the contenders are opened by the
 * caller. No case judges by how long something took; figures are reported.
 */
#ifndef PAWL_LOCKS_CHECK_H
#define PAWL_LOCKS_CHECK_H

#include "locks/check_result.h"

#include <pawl/ext/lock.h>

struct pawl_lock_check {
    struct pawl_env *env;
    /* Opens a provider for the service under test: another one each time, as other processes have.
     */
    int (*open)(void *ctx, struct pawl_lock_provider **out, struct pawl_error *err);
    void *ctx;
    uint32_t workers; /* threads in the crowd; 0: 16 */
    uint32_t rounds;  /* of what is done often; 0: 200 */
};

size_t pawl__lock_check_count(void);
/* "one holder at a time"; static. */
const char *pawl__lock_check_title(size_t number);
/* Runs one case. What goes wrong is in the result. */
void pawl__lock_check_run(const struct pawl_lock_check *check, size_t number,
                          struct pawl_lock_check_result *out);

#endif
