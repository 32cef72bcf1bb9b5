/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of the journal: the log and the activity records of one commit, as one JSON value in brief
 * form (base/json/brief.h); older ones are text.
 *
 * Written for every commit and read only to show a history, so it is short: what all records
 * share stands once, members have places instead of names, and an activity that was named before is
 * a number. Reading gives the records back as JSON objects with Elsa's keys.
 *
 *   {"form": 1, "of": [definition, version id, instance, version], "at": TICKS, "from": SEQUENCE,
 *    "entries": [[WHO, NEW, TIME, sequence - from, event, message, payload], …],
 *    "activities": [[WHO, flags, state, outputs, metadata, started TIME, status, faults,
 *                    completed TIME, scheduled by ID, its activity, its instance, depth,
 *                    payload, properties, exception], …],
 *    "before": SEQUENCE}
 *
 *   WHO   the number of one that was written before, or [NEW, parent ID, WHAT]
 *   WHAT  the number of a WHO with the same, or [activity id, type, version, name, node id, source]
 *   ID    the number of the WHO that has it, or a text
 *   NEW   an id in two items: how many bytes it begins with as the NEW before it, and its rest
 *   TIME  ticks since "at"; null: never
 *
 * "" is a missing member. Message and payload, and of activities what the flags do not announce,
 * may be missing at the end. A page without "form" has "log" and "records" with whole objects:
 * imported histories, and what was stored before there was a form.
 */
#ifndef PAWL_ENGINE_STATE_PAGE_H
#define PAWL_ENGINE_STATE_PAGE_H

#include "base/json/brief.h"
#include "engine/run/burst.h"

/* One with a higher number is not read. */
#define PAWL_PAGE_FORM 1

/*
 * Appends the page. `before`: for pages without log, the sequence that they come before; NULL. The
 * arena is for what is needed meanwhile. Failures are the buffer's status.
 */
void pawl__page_write(const struct pawl_burst *burst, const struct pawl_batch *batch,
                      const int64_t *before, const struct pawl_words *words,
                      struct pawl_arena *arena, struct pawl_buf *out);

/*
 * The records of a page, in arrays of objects; borrows from the page. PAWL_ECORRUPT: it is no page;
 * PAWL_EUNSUPPORTED: a newer Pawl has written it. PAWL_ENOMEM, PAWL_ELIMIT.
 */
PAWL_MUST_CHECK int pawl__page_read(struct pawl_arena *arena, const struct pawl_json *page,
                                    struct pawl_json *log, struct pawl_json *records);

/* ---- records ------------------------------------------------------------------------------- */

/* Whose records they are. */
struct pawl_record_owner {
    struct pawl_str definition_id;
    struct pawl_str version_id;
    struct pawl_str instance_id;
    int64_t version;
};

struct pawl_activity_record {
    struct pawl_str id;
    struct pawl_str activity_id;
    struct pawl_str activity_type;
    struct pawl_str activity_name;
    struct pawl_str activity_node_id;
    int64_t activity_version;
    struct pawl_json state, outputs, metadata;
    struct pawl_json payload, properties; /* where has_internal */
    struct pawl_json exception;           /* where has_exception */
    bool has_internal, has_exception, has_bookmarks;
    struct pawl_str status;
    int64_t started_at, completed_at; /* 0: not */
    int64_t fault_count;
    int64_t depth;
    struct pawl_str scheduled_by, scheduled_by_activity, scheduled_by_instance;
};

struct pawl_record_owner pawl__record_owner(const struct pawl_burst *burst);
/* What a context says now. In `arena`, or sharing what the burst holds. */
PAWL_MUST_CHECK int pawl__activity_record_take(const struct pawl_context *context,
                                               struct pawl_arena *arena,
                                               struct pawl_activity_record *out);

/* As JSON objects with Elsa's keys; borrow the texts. */
PAWL_MUST_CHECK int pawl__log_record_json(const struct pawl_record_owner *owner,
                                          const struct pawl_log_record *record,
                                          struct pawl_arena *arena, struct pawl_json *out);
PAWL_MUST_CHECK int pawl__activity_record_json(const struct pawl_record_owner *owner,
                                               const struct pawl_activity_record *record,
                                               struct pawl_arena *arena, struct pawl_json *out);

#endif
