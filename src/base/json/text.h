/* SPDX-License-Identifier: Apache-2.0 */
/* JSON and other text that a C program hands in and gets back: strings that end in NUL. */
#ifndef PAWL_BASE_JSON_TEXT_H
#define PAWL_BASE_JSON_TEXT_H

#include "base/json/json.h"

/* Of a text that may be NULL. PAWL_EINVAL names it, and the byte that is wrong. */
PAWL_MUST_CHECK int pawl__text_check_utf8(const char *text, const char *what,
                                          struct pawl_error *err);
/* Reads JSON. NULL and "" are null. PAWL_EINVAL: not UTF-8; PAWL_EPARSE with `what` before the
 * message. */
PAWL_MUST_CHECK int pawl__json_text_read(struct pawl_arena *arena, const char *json,
                                         const char *what, struct pawl_json *out,
                                         struct pawl_error *err);
/* JSON text in the arena. PAWL_EINVAL: it has a number that is not finite. */
PAWL_MUST_CHECK int pawl__json_text_write(struct pawl_arena *arena, const struct pawl_json *value,
                                          const char **out);

#endif
