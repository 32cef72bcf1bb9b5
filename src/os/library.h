/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared libraries that are loaded when they are first needed.
 *
 * A driver declares a struct of function pointers named as the library names them, a list of them,
 * and where the library is found:
 *
 *     struct pq { __typeof__(PQconnectdb) *PQconnectdb; … };
 *     static const struct pawl_library_symbol symbols[] = {PAWL_LIBRARY_SYMBOL(pq, PQconnectdb),
 * …}; static const struct pawl_library_need need = {{"libpq.so.5"}, "libpq5", symbols, N};
 *
 * The struct belongs to the driver's object, not to the file, so that nothing global changes.
 */
#ifndef PAWL_OS_LIBRARY_H
#define PAWL_OS_LIBRARY_H

#include <pawl/error.h>

#include <stddef.h>

#define PAWL_LIBRARY_SONAMES_MAX 4

struct pawl_library_symbol {
    const char *name;
    size_t offset; /* of the pointer in the caller's table */
};

#define PAWL_LIBRARY_SYMBOL(table, function)                                                       \
    {                                                                                              \
#function, offsetof(struct table, function)                                                \
    }

struct pawl_library_need {
    const char *sonames[PAWL_LIBRARY_SONAMES_MAX]; /* tried in order; NULL ends the list */
    const char *package;                           /* Debian's, for the message */
    const struct pawl_library_symbol *symbols;
    size_t symbol_count;
};

struct pawl_library {
    void *handle; /* NULL: closed */
};

/*
 * Loads the library and fills `table`. PAWL_EMISSING when it is not installed, cannot be loaded or
 * lacks a function; the message names the package to install, and `table` is untouched.
 * PAWL_EUNAVAILABLE, PAWL_ENOMEM, PAWL_EIO: this process has no descriptor or no memory for it, or
 * its file cannot be read: try again later, and do not remember it as missing. Opening one twice is
 * cheap: the system counts.
 */
PAWL_MUST_CHECK int pawl__library_open(const struct pawl_library_need *need, void *table,
                                       struct pawl_library *out, struct pawl_error *err);

/* The pointers in the table are dead afterwards. Closing a closed one does nothing. */
void pawl__library_close(struct pawl_library *library);

#endif
