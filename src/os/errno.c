/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table that classes errno values, and the message made from one.
 *
 * The question for each row is the one of <pawl/error.h>: may the same call succeed later
 * (TRANSIENT), is this the answer (DEFINITE), is the request wrong (CALLER), or can we no longer
 * trust what we stand on (FATAL)? A full disk is TRANSIENT: nothing was stored, and an operator
 * makes room. EBADF, EFAULT and their like are our own bugs.
 */
#include "os/errno.h"

#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Room kept for the reason behind a long path. */
#define WHAT_SIZE (PAWL_ERROR_MSG_SIZE - 144)

struct row {
    int errnum;
    int code;
    const char *hint; /* NULL: the text says it */
};

static const struct row rows[] = {
    {EINVAL, PAWL_EINVAL, NULL},
    {ENAMETOOLONG, PAWL_EINVAL, NULL},
    {ELOOP, PAWL_EINVAL, NULL},
    {EISDIR, PAWL_EINVAL, "name a file in it"},
    {ENOTDIR, PAWL_EINVAL, "a part of the path is a file"},
    {EDESTADDRREQ, PAWL_EINVAL, NULL},
    {EFBIG, PAWL_ELIMIT, NULL},
    {EOVERFLOW, PAWL_ELIMIT, NULL},
    {EMSGSIZE, PAWL_ELIMIT, NULL},
    {ENOSYS, PAWL_EUNSUPPORTED, NULL},
    {EOPNOTSUPP, PAWL_EUNSUPPORTED, NULL},
    {EAFNOSUPPORT, PAWL_EUNSUPPORTED, NULL},
    {EPROTONOSUPPORT, PAWL_EUNSUPPORTED, NULL},
    {EXDEV, PAWL_EUNSUPPORTED, NULL},

    {ENOENT, PAWL_ENOTFOUND, NULL},
    {ESRCH, PAWL_ENOTFOUND, NULL},
    {EEXIST, PAWL_EEXISTS, NULL},
    {ENOTEMPTY, PAWL_ECONFLICT, NULL},
    {ECANCELED, PAWL_ECANCELLED, NULL},
    {EACCES, PAWL_EPERM, "check owner and mode"},
    {EPERM, PAWL_EPERM, "check owner and mode"},
    {EROFS, PAWL_EPERM, NULL},

    {EBUSY, PAWL_EBUSY, NULL},
    {ETXTBSY, PAWL_EBUSY, NULL},
    {EADDRINUSE, PAWL_EBUSY, "stop who uses it or choose another"},
    {ETIMEDOUT, PAWL_ETIMEDOUT, NULL},
    {ENOMEM, PAWL_ENOMEM, NULL},
    {EAGAIN, PAWL_EUNAVAILABLE, NULL},
    {EINTR, PAWL_EUNAVAILABLE, NULL},
    {EMFILE, PAWL_EUNAVAILABLE, "raise the limit of open files (ulimit -n)"},
    {ENFILE, PAWL_EUNAVAILABLE, "raise the limit of open files (fs.file-max)"},
    {ENOBUFS, PAWL_EUNAVAILABLE, NULL},
    {ENOSPC, PAWL_EUNAVAILABLE, "make room"},
    {EDQUOT, PAWL_EUNAVAILABLE, "make room or raise the quota"},
    {EADDRNOTAVAIL, PAWL_EUNAVAILABLE, NULL},
    {ECONNREFUSED, PAWL_EUNAVAILABLE, "is the server running?"},
    {ECONNRESET, PAWL_EUNAVAILABLE, NULL},
    {ECONNABORTED, PAWL_EUNAVAILABLE, NULL},
    {ENOTCONN, PAWL_EUNAVAILABLE, NULL},
    {EPIPE, PAWL_EUNAVAILABLE, NULL},
    {ESHUTDOWN, PAWL_EUNAVAILABLE, NULL},
    {ENETDOWN, PAWL_EUNAVAILABLE, NULL},
    {ENETUNREACH, PAWL_EUNAVAILABLE, NULL},
    {ENETRESET, PAWL_EUNAVAILABLE, NULL},
    {EHOSTDOWN, PAWL_EUNAVAILABLE, NULL},
    {EHOSTUNREACH, PAWL_EUNAVAILABLE, NULL},

    {EBADF, PAWL_EINTERNAL, NULL},
    {EFAULT, PAWL_EINTERNAL, NULL},
    {ENOTSOCK, PAWL_EINTERNAL, NULL},
};

static const struct row *find(int errnum)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].errnum == errnum)
            return &rows[i];
    }
    return NULL;
}

int pawl__os_code(int errnum)
{
    const struct row *row = find(errnum);

    return row ? row->code : PAWL_EIO;
}

int pawl__os_error(struct pawl_error *err, int errnum, const char *format, ...)
{
    const struct row *row = find(errnum);
    const char *text = strerrordesc_np(errnum); /* NULL for an unknown number */
    char what[WHAT_SIZE];
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (length >= (int)sizeof what)
        what[pawl__utf8_valid_prefix(pawl__str(what))] = '\0';
    return pawl__error_set(err, pawl__os_code(errnum), "%s%s: %s%s%s", what,
                           length >= (int)sizeof what ? "…" : "", text ? text : "unknown error",
                           row && row->hint ? "; " : "", row && row->hint ? row->hint : "");
}
