/* SPDX-License-Identifier: Apache-2.0 */
/* Where values stand in a text, for many JSON pointers at once. */
#ifndef PAWL_CLI_LOCATE_H
#define PAWL_CLI_LOCATE_H

#include "base/hash/siphash.h"
#include "base/json/json.h"

/*
 * For each pointer the place at which its value begins, in one pass over a text that parses. A
 * pointer that names nothing there (the text spells a key in another case) gets the place of the
 * nearest value around it. Only line and column are filled in. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__locate_all(struct pawl_arena *arena, struct pawl_hash_seed seed,
                                     struct pawl_str text, const char *const *pointers,
                                     uint32_t count, struct pawl_json_place *places);

#endif
