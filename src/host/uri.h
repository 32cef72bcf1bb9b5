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
 * Whether it is no URI but NAME=VALUE words, such as libpq's "host=db password=x": one of them
 * names a host, a database, a user or a password.
 */
bool pawl__uri_is_keywords(struct pawl_str text);

/*
 * Appends the URI with *** in place of each password: of user:password@host, and of query
 * parameters whose name has "password", "secret", "token" or "key" in it or is "sig", "sas" or
 * "connection". The same in NAME=VALUE words.
 */
void pawl__uri_mask(struct pawl_buf *out, struct pawl_str uri);

#endif
