/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines that the workflows of the scenario write, counted text by text: a sum would not show
 * one that was lost beside one that was written twice.
 */
#ifndef PAWL_TESTS_CLUSTER_LINES_H
#define PAWL_TESTS_CLUSTER_LINES_H

#include "base/str.h"

#define LINES_TEXTS 9u

struct lines {
    unsigned counts[LINES_TEXTS];
};

/* One more; fails for a text that no workflow of the scenario writes. */
void lines_add(struct lines *lines, struct pawl_str text);
/* All in what a node has printed: "line TEXT". */
void lines_read(struct lines *lines, const char *output);
unsigned lines_total(const struct lines *lines);

/*
 * Each line of an undisturbed run was written: `before` the death of a node, or `after` it. Effects
 * are performed at least once. Again only those that were performed before, and not more than the
 * `most` that the store still had. Returns how many were.
 */
unsigned lines_check(const struct lines *before, const struct lines *after, unsigned most,
                     const char *what);

#endif
