/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": the known name that an unknown word probably meant. */
#ifndef PAWL_BASE_SUGGEST_H
#define PAWL_BASE_SUGGEST_H

/*
 * The candidate that was probably meant by `word`: the nearest one in letters inserted, dropped,
 * replaced or swapped, or the only one that begins so. NULL when none is near. `candidates` ends
 * with NULL.
 */
const char *pawl__suggest(const char *word, const char *const *candidates);

#endif
