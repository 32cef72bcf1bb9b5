/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions for our own bugs, on in release builds too. Never for data from disk, network or
 * user: those are errors with a code and a message.
 */
#ifndef PAWL_BASE_ASSERT_H
#define PAWL_BASE_ASSERT_H

/* Prints the place and the expression to stderr and aborts. */
_Noreturn void pawl__assert_failed(const char *file, int line, const char *function,
                                   const char *expression);

#define PAWL_ASSERT(expression)                                                                    \
    ((expression) ? (void)0 : pawl__assert_failed(__FILE__, __LINE__, __func__, #expression))

#define PAWL_LIKELY(expression) __builtin_expect(!!(expression), 1)
#define PAWL_UNLIKELY(expression) __builtin_expect(!!(expression), 0)

#endif
