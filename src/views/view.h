/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views: each document that Pawl shows, written once, in Elsa's shapes: keys in camelCase,
 * times in ISO 8601 with an offset, in the order that Elsa writes them. What a command
 * prints with --json and what the server sends is the same.
 *
 * A view takes what an operation returned and makes a JSON value of it in the builder's arena; the
 * first failure sticks in the builder. It borrows texts. It decides nothing, and asks nobody.
 *
 *     view.h          this: what views are made with
 *     definitions.h   definitions
 *     instances.h     instances
 *     alterations.h   alterations, plans
 *     stimuli.h       what was sent; tasks
 *     timers.h        timers
 *     letters.h       dead letters, retention
 *     audit.h         records of what operators changed
 *     why.h           why an instance does not continue
 *     identity.h      users, roles, applications
 *     words.h         times and lengths of time for people
 *     journal.h       log records, executions of activities
 *     nodes.h         nodes, pauses, the status of the runtime
 *     statistics.h    counts
 *     store.h         whole stores
 *     locks.h         locks
 *     catalogs.h      what a designer may choose from
 *     dashboard.h     counts as Elsa's dashboard shows them
 *     queue.h         the queue, faults by cause, settings
 */
#ifndef PAWL_VIEWS_VIEW_H
#define PAWL_VIEWS_VIEW_H

#include "base/json/builder.h"

/* A member that is there, even if "". */
void pawl__view_text(struct pawl_builder *b, struct pawl_json *object, const char *key,
                     struct pawl_str text);
/* A member that is left out when "". */
void pawl__view_optional(struct pawl_builder *b, struct pawl_json *object, const char *key,
                         struct pawl_str text);
/* A time of the store in ISO 8601, UTC as "+00:00"; null of 0 and of PAWL_TIME_NEVER. */
void pawl__view_time(struct pawl_builder *b, struct pawl_json *object, const char *key, int64_t us);
/* A length of time as Elsa writes one: "00:00:01.5000000". */
void pawl__view_span(struct pawl_builder *b, struct pawl_json *object, const char *key, int64_t us);
/* JSON that a store keeps, as a value; bytes that are none as a string; null of "". */
void pawl__view_bytes(struct pawl_builder *b, struct pawl_json *object, const char *key,
                      struct pawl_str bytes);

/*
 * What is stored, without the marks of types: `_type` goes, lists are arrays, islands of JSON are
 * what they hold. What need not be changed is shared with `stored`: neither is changed afterwards.
 */
struct pawl_json pawl__view_plain(struct pawl_builder *b, const struct pawl_json *stored);
/* The same of an object, without this member; NULL: with all. */
struct pawl_json pawl__view_plain_object(struct pawl_builder *b, const struct pawl_json *stored,
                                         const char *without);

#endif
