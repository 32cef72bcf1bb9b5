/* SPDX-License-Identifier: Apache-2.0 */
/* Filling a struct pawl_error. What the codes and classes mean is in <pawl/error.h>. */
#ifndef PAWL_BASE_ERROR_H
#define PAWL_BASE_ERROR_H

#include <pawl/error.h>

#include <stdbool.h>

/*
 * Writes code and message, and returns the code, so that a failing function ends with
 *     return pawl__error_set(err, PAWL_EINVAL, "…", …);
 * `err` may be NULL. A message that does not fit is cut at a character and ends in "…".
 * A macro, so that compilers and analyzers see that the answer is the code: `code` is evaluated
 * twice.
 */
#define pawl__error_set(err, code, ...) (pawl__error_write((err), (code), __VA_ARGS__), (code))
void pawl__error_write(struct pawl_error *err, int code, const char *format, ...) PAWL_PRINTF(3, 4);

/*
 * Puts "prefix: " before a message already there, for callers who know more of the context than
 * the code that failed. Does nothing when `err` is NULL or holds no error. Returns err's code, or
 * `code` when there is none.
 */
int pawl__error_prefix(struct pawl_error *err, int code, const char *format, ...) PAWL_PRINTF(3, 4);

/*
 * Whether a caller who gets this takes it that nothing was changed: the request was wrong, or it
 * was refused, or it may be tried again.
 */
bool pawl__error_says_unchanged(int code);

/*
 * The status of a call that failed with `status` behind a change that is stored. It must not say
 * that nothing was changed: an error that does becomes PAWL_EUNKNOWN, and its message
 *     "PREFIX; what followed is unknown: …"
 * where the prefix is a sentence that says what was done to what. PAWL_OK, UNKNOWN and FATAL are
 * returned as they are, with their messages. `err` may be NULL.
 */
int pawl__error_after_commit(struct pawl_error *err, int status, const char *format, ...)
    PAWL_PRINTF(3, 4);

/* Fills in the code's standard text: for failures that have nothing more to say, such as ENOMEM. */
int pawl__error_code(struct pawl_error *err, int code);

#endif
