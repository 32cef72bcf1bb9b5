/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every lock provider must do, as cases that run against a real service: `pawl lock check URI`
 * runs them for an operator, tests/contract for us. They use names that begin with a random word,
 * leave nothing behind, and need nothing but the interface; who is to contend is opened by the
 * caller. No case judges by how long something took; figures are reported.
 */
#ifndef PAWL_LOCKS_CHECK_H
#define PAWL_LOCKS_CHECK_H

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

enum pawl_lock_check_outcome {
    PAWL_LOCK_CHECK_OK,
    PAWL_LOCK_CHECK_FAILED,
    PAWL_LOCK_CHECK_SKIPPED, /* the provider does not have what it is about; `detail` says so */
};

struct pawl_lock_check_result {
    enum pawl_lock_check_outcome outcome;
    char detail[512]; /* why it failed or was skipped, or a figure; "": nothing to say */
};

size_t pawl__lock_check_count(void);
/* "one holder at a time"; static. */
const char *pawl__lock_check_title(size_t number);
/* Runs one case. What goes wrong is in the result. */
void pawl__lock_check_run(const struct pawl_lock_check *check, size_t number,
                          struct pawl_lock_check_result *out);

#endif
