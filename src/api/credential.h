/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials as requests carry them: the Authorization field, and cookies. Both borrow. */
#ifndef PAWL_API_CREDENTIAL_H
#define PAWL_API_CREDENTIAL_H

#include "base/str.h"

enum pawl_scheme {
    PAWL_SCHEME_NONE,   /* none, or one that is not known here */
    PAWL_SCHEME_KEY,    /* "ApiKey KEY"; the word as it is, as in Elsa */
    PAWL_SCHEME_BEARER, /* "Bearer TOKEN"; in any case. Without a token it is NONE */
};

/* *out is the key or the token, without blanks around it. */
enum pawl_scheme pawl__authorization_read(struct pawl_str field, struct pawl_str *out);

/* The value of the first cookie of that name (RFC 6265); ptr is NULL when there is none. */
struct pawl_str pawl__cookie_find(struct pawl_str field, const char *name);

/* The value of the first parameter of that name in a query, still encoded; ptr NULL: none. */
struct pawl_str pawl__query_find(struct pawl_str query, const char *name);

#endif
