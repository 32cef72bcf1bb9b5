/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing what a case did with what it expects. */
#ifndef PAWL_TESTS_CONFORMANCE_EXPECT_H
#define PAWL_TESTS_CONFORMANCE_EXPECT_H

#include "conformance/case.h"
#include "conformance/node.h"

/*
 * Compares every key of `expect`. false: the first difference is in run->why, one line. A key that
 * nobody knows is a difference: a typing error must not pass.
 */
bool expect_all(struct running *run, const struct pawl_json *expect);

/* Compares the recorded journals of a case. */
bool expect_journals(struct running *run, const struct pawl_json *journals);

/* Prints the journal of the entry instance beside the recorded one (NULL: alone). */
void print_journal(struct running *run, const struct pawl_json *journals);

/* ---- shared by the files that compare ------------------------------------------------------ */

/* Notes a difference; answers false. */
bool differs(struct running *run, const char *format, ...) PAWL_PRINTF(2, 3);
/* Compares two values, numbers by value; the difference is noted under `what`. */
bool same(struct running *run, const char *what, const struct pawl_json *expected,
          const struct pawl_json *actual);
/* Whether `text` is among the strings of an array. */
bool has_text(const struct pawl_json *array, struct pawl_str text);
/* A stored value without the marks of its type: {"_items":[1],"_type":…} is [1]. */
struct pawl_json plain(struct running *run, const struct pawl_json *stored);
/* A value that the case writes as "$now+01:00:00" or "$entryInstanceId", else compared plainly. */
bool same_or_special(struct running *run, const char *what, const struct pawl_json *expected,
                     const struct pawl_json *actual);
/* As JSON text, for messages; lives in the case's arena. */
const char *shown(struct running *run, const struct pawl_json *value);

/* expect_stored.c */
bool expect_instances(struct running *run, const struct pawl_json *list);
bool expect_definitions(struct running *run, const struct pawl_json *list);
bool expect_triggers(struct running *run, const struct pawl_json *list);
bool expect_registry(struct running *run, const struct pawl_json *list);
bool expect_published(struct running *run, const struct pawl_json *list);

/* expect_lines.c */
bool expect_lines(struct running *run, const struct pawl_json *list);
bool expect_lines_any_order(struct running *run, const struct pawl_json *list);
bool expect_lines_contain(struct running *run, const struct pawl_json *list);
bool expect_lines_not_contain(struct running *run, const struct pawl_json *list);
bool expect_lines_contain_any(struct running *run, const struct pawl_json *list);
bool expect_last_line(struct running *run, const struct pawl_json *text);
bool expect_line_patterns(struct running *run, const struct pawl_json *list);
bool expect_line_contains(struct running *run, const struct pawl_json *list);
bool expect_line_json(struct running *run, const struct pawl_json *list);

#endif
