/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the check share. */
#ifndef PAWL_LOCKS_CHECK_PRIVATE_H
#define PAWL_LOCKS_CHECK_PRIVATE_H

#include "base/str.h"
#include "locks/check.h"
#include "locks/locks.h"

/* One case under way: two nodes of the service, a and b. */
struct pawl_lock_check_case {
    const struct pawl_lock_check *check;
    struct pawl_env *env;
    struct pawl_locks *a, *b;
    uint32_t caps;
    struct pawl_lock_status status;
    char word[24]; /* of this run, in all names */
    char name[64]; /* one to begin with */
    struct pawl_lock_check_result *result;
    struct pawl_error err;
};

struct pawl_lock_check_row {
    const char *title;
    uint32_t needs; /* PAWL_LOCK_CAP_…, all of them */
    /* Failures are noted by the functions below. */
    void (*run)(struct pawl_lock_check_case *c);
};

extern const struct pawl_lock_check_row
    pawl__lock_check_basics[]; /* ended by a row without title */
extern const struct pawl_lock_check_row pawl__lock_check_times[];

/* Notes the first failure; returns false, so that a case ends with `return`. */
bool pawl__lock_check_fail(struct pawl_lock_check_case *c, const char *format, ...)
    PAWL_PRINTF(2, 3);
/* Whether `status` is as expected. */
bool pawl__lock_check_is(struct pawl_lock_check_case *c, const char *what, int status,
                         int expected);
void pawl__lock_check_say(struct pawl_lock_check_case *c, const char *format, ...)
    PAWL_PRINTF(2, 3);
void pawl__lock_check_skip(struct pawl_lock_check_case *c, const char *why);

/* A name of this run. */
struct pawl_str pawl__lock_check_name(struct pawl_lock_check_case *c, const char *suffix,
                                      char out[64]);
/* A grant of its own, for calls that pass the front end by. */
void pawl__lock_check_grant(struct pawl_lock_check_case *c, struct pawl_str name, uint32_t flags,
                            struct pawl_lock_grant *out);
/* By when a single call must be done. */
int64_t pawl__lock_check_soon(struct pawl_lock_check_case *c);

#endif
