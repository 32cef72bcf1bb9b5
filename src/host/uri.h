/* SPDX-License-Identifier: Apache-2.0 */
/* The little that the host reads of URIs: their scheme, and where a password is in one. */
#ifndef PAWL_HOST_URI_H
#define PAWL_HOST_URI_H

#include "base/buf.h"

/*
 * The scheme: what is before the first ':' when it begins with a letter, goes on with letters,
 * digits, '+', '-' and '.', and has two characters or more. "" when there is none.
 */
struct pawl_str pawl__uri_scheme(struct pawl_str uri);

/*
 * Appends the URI with *** in place of each password: of user:password@host, and of query
 * parameters whose name has "password", "secret", "token" or "key" in it or is "sig", "sas" or
 * "connection".
 */
void pawl__uri_mask(struct pawl_buf *out, struct pawl_str uri);

#endif
