/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status codes, their classes, and error messages.
 *
 * Every function that can fail returns an int: PAWL_OK (0) or one of the negative codes below.
 * On failure nothing has changed: outputs are unwritten, arguments still belong to the caller.
 *
 * A code says *what* went wrong; its class says *what to do about it*. Code that retries, maps to
 * an HTTP status or picks an exit status uses the class and never the code, so that a new code
 * needs no new case anywhere.
 *
 *     CALLER     the request itself is wrong; the same request fails again
 *     DEFINITE   nothing happened, and this result is final
 *     TRANSIENT  nothing happened; the same request may succeed later
 *     UNKNOWN    it may or may not have happened; check before trying again
 *     FATAL      the process or its data can no longer be trusted
 *
 * Numbers are part of the ABI: codes are appended, never renumbered.
 */
#ifndef PAWL_ERROR_H
#define PAWL_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PAWL_MUST_CHECK __attribute__((warn_unused_result))
#define PAWL_PRINTF(format_index, first_index)                                                     \
    __attribute__((format(printf, format_index, first_index)))
#define PAWL_API __attribute__((visibility("default")))
#else
#define PAWL_MUST_CHECK
#define PAWL_PRINTF(format_index, first_index)
#define PAWL_API
#endif

/* X(name, number, class, text) */
#define PAWL_ERROR_LIST(X)                                                                         \
    X(EINVAL, -1, CALLER, "invalid argument")                                                      \
    X(EPARSE, -2, CALLER, "malformed input")                                                       \
    X(ELIMIT, -3, CALLER, "a limit was exceeded")                                                  \
    X(EUNSUPPORTED, -4, CALLER, "not supported")                                                   \
    X(ENOTFOUND, -5, DEFINITE, "not found")                                                        \
    X(EEXISTS, -6, DEFINITE, "already exists")                                                     \
    X(ECONFLICT, -7, DEFINITE, "conflicts with the present state")                                 \
    X(ESTOPPED, -8, DEFINITE, "stopped")                                                           \
    X(ECANCELLED, -9, DEFINITE, "cancelled")                                                       \
    X(EPERM, -10, DEFINITE, "permission denied")                                                   \
    X(EMISSING, -11, DEFINITE, "a required library or program is missing")                         \
    X(EBUSY, -12, TRANSIENT, "busy")                                                               \
    X(ETIMEDOUT, -13, TRANSIENT, "timed out")                                                      \
    X(EUNAVAILABLE, -14, TRANSIENT, "unavailable")                                                 \
    X(ENOMEM, -15, TRANSIENT, "out of memory")                                                     \
    X(EUNKNOWN, -16, UNKNOWN, "outcome unknown")                                                   \
    X(EIO, -17, FATAL, "input/output error")                                                       \
    X(ECORRUPT, -18, FATAL, "stored data is damaged")                                              \
    X(EDEADLOCK, -19, FATAL, "deadlock")                                                           \
    X(EINTERNAL, -20, FATAL, "internal error")

enum pawl_status {
    PAWL_OK = 0,
#define PAWL_ERROR_ENUM(name, number, class, text) PAWL_##name = (number),
    PAWL_ERROR_LIST(PAWL_ERROR_ENUM)
#undef PAWL_ERROR_ENUM
};

enum pawl_error_class {
    PAWL_CLASS_NONE = 0, /* PAWL_OK has no class */
    PAWL_CLASS_CALLER,
    PAWL_CLASS_DEFINITE,
    PAWL_CLASS_TRANSIENT,
    PAWL_CLASS_UNKNOWN,
    PAWL_CLASS_FATAL
};

/* Long enough for a sentence with a path, a JSON pointer and a hint; longer text ends with "…". */
#define PAWL_ERROR_MSG_SIZE 512

/*
 * Where a failing call writes its message. Caller-owned, usually on the stack, never allocated. It
 * is always the last argument, and NULL is allowed. Untouched on success. The message says what
 * failed, for which object, and what to do next; it has no trailing newline.
 */
struct pawl_error {
    int code;
    char msg[PAWL_ERROR_MSG_SIZE];
};

/* clang-format off */
#define PAWL_ERROR_INIT {0, {0}}
/* clang-format on */

/* "PAWL_EINVAL", "invalid argument"; "PAWL_E?" and "unknown error" for an unknown code. */
PAWL_API const char *pawl_error_name(int code);
PAWL_API const char *pawl_error_text(int code);

/* FATAL for an unknown code: it may not be safe to retry. */
PAWL_API enum pawl_error_class pawl_error_class(int code);
/* "caller", "definite", "transient", "unknown", "fatal"; "none" for PAWL_CLASS_NONE. */
PAWL_API const char *pawl_error_class_name(enum pawl_error_class error_class);

#ifdef __cplusplus
}
#endif
#endif
