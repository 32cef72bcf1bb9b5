/* SPDX-License-Identifier: Apache-2.0 */
/* Strings as JSON texts, quoted and escaped; what write.c and others in base need of it. */
#ifndef PAWL_BASE_JSON_ESCAPE_H
#define PAWL_BASE_JSON_ESCAPE_H

#include "base/json/json.h"

/* Appends `s` in quotes. Malformed UTF-8 becomes U+FFFD, byte by byte. */
void pawl__json_put_string(struct pawl_buf *out, struct pawl_str s, enum pawl_json_escape escape);

/* The same for a key, with `before` ('{' or ',') in front of it and a colon behind it. */
void pawl__json_put_key(struct pawl_buf *out, char before, struct pawl_str key,
                        enum pawl_json_escape escape);

#endif
