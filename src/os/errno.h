/* SPDX-License-Identifier: Apache-2.0 */
/* From errno to PAWL codes: one table for all system calls. */
#ifndef PAWL_OS_ERRNO_H
#define PAWL_OS_ERRNO_H

#include <pawl/error.h>

/*
 * The code of an errno value. It speaks of the one system call that failed: a reset connection is
 * PAWL_EUNAVAILABLE here, and a caller that had already sent a request on it returns PAWL_EUNKNOWN.
 * What is not in the table is PAWL_EIO.
 */
int pawl__os_code(int errnum);

/*
 * Sets "<what>: <the system's text>[; <what to do>]" and returns the code of `errnum`, so that a
 * failing call ends with
 *     return pawl__os_error(err, errno, "cannot open %s", path);
 * A long <what> is cut so that the reason always fits behind it.
 */
int pawl__os_error(struct pawl_error *err, int errnum, const char *format, ...) PAWL_PRINTF(3, 4);

#endif
