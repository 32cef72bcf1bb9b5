/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator changes is recorded: a row of the table of audits, written by the commit that
 * makes the change. So there is no change without its record and no record without its change, and
 * whoever lost the answer to a commit can look for the record.
 *
 * One request has one record, under the request's id. The first commit inserts it: an id that was
 * used before drops the commit with PAWL_EEXISTS. Of a request that touches many things, each
 * commit replaces the record with one that counts them so far.
 *
 * Functions named …_by() are those of runtime.h and definitions/definitions.h for an operator; the
 * record is borrowed for the call and used by one call at a time. NULL: nothing is recorded, which
 * is what the functions without _by do.
 */
#ifndef PAWL_RUNTIME_AUDIT_H
#define PAWL_RUNTIME_AUDIT_H

#include "base/id.h"
#include "runtime/definitions/definitions.h"
#include "runtime/runtime.h"

#include <pawl/ext/store.h>

struct pawl_audit {
    /* Given: all but created_us and count, which are as of the last commit. Texts are borrowed. */
    struct pawl_audit_row row;
    bool is_stored; /* a commit has written it, or may have */
    /* Of a definition without an id: the target is the one that it gets. */
    bool is_of_new;
    char new_id[PAWL_UUID_TEXT_SIZE];
};

/*
 * The change that records `count` more things; `row` is the caller's until the commit is over, and
 * then goes to pawl__audit_settle() with what became of it.
 */
struct pawl_change pawl__audit_change(const struct pawl_audit *audit, int64_t count, int64_t now_us,
                                      struct pawl_audit_row *row);
void pawl__audit_settle(struct pawl_audit *audit, const struct pawl_audit_row *row, int status);
/* Whether the store has it as this row of a commit says: only that commit can have written it. */
PAWL_MUST_CHECK int pawl__audit_is_stored(struct pawl_store *store,
                                          const struct pawl_audit_row *row,
                                          struct pawl_arena *arena, bool *stored,
                                          int64_t deadline_ns, struct pawl_error *err);

/* Whether a commit with this id has taken effect, whoever made it. */
PAWL_MUST_CHECK int pawl__audit_is_used(struct pawl_store *store, struct pawl_str id,
                                        struct pawl_arena *arena, bool *used, int64_t deadline_ns,
                                        struct pawl_error *err);

/*
 * Hands a commit to the committer, with the record of the task, which is then written and no longer
 * the task's; without one, as pawl__runtime_commit().
 */
struct runtime_task;
PAWL_MUST_CHECK int pawl__runtime_commit_by(struct runtime_task *task, struct pawl_commit *commit,
                                            int64_t deadline_ns, struct pawl_error *err);

/* ---- instances ------------------------------------------------------------------------------ */

PAWL_MUST_CHECK int pawl__runtime_cancel_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                                            struct pawl_str instance_id, bool only_itself,
                                            int64_t deadline_ns, struct pawl_error *err);
PAWL_MUST_CHECK int pawl__runtime_delete_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                                            struct pawl_str instance_id, int64_t deadline_ns,
                                            struct pawl_error *err);
/* Recorded unless it is a dry run. */
PAWL_MUST_CHECK int pawl__runtime_alter_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                                           struct pawl_str instance_id,
                                           const struct pawl_json *alterations, bool dry_run,
                                           struct pawl_arena *arena, struct pawl_json *log,
                                           struct pawl_outcome *out, int64_t deadline_ns,
                                           struct pawl_error *err);
/*
 * Once, without waiting: PAWL_EBUSY while somebody else runs the instance. PAWL_EUNKNOWN with a
 * count in by->row: the alterations took effect, and what they began then failed.
 */
PAWL_MUST_CHECK int pawl__runtime_try_alter_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                                               struct pawl_str instance_id,
                                               const struct pawl_json *alterations,
                                               struct pawl_arena *arena, struct pawl_json *log,
                                               int64_t deadline_ns, struct pawl_error *err);
PAWL_MUST_CHECK int pawl__runtime_retry_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                                           struct pawl_str instance_id,
                                           const struct pawl_str *activity_ids, size_t count,
                                           struct pawl_outcome *out, int64_t deadline_ns,
                                           struct pawl_error *err);
PAWL_MUST_CHECK int pawl__runtime_import_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                                            const struct pawl_json *exported,
                                            struct pawl_outcome *out, int64_t deadline_ns,
                                            struct pawl_error *err);

/* ---- dead letters --------------------------------------------------------------------------- */

PAWL_MUST_CHECK int pawl__runtime_replay_by(struct pawl_runtime *runtime, struct pawl_audit *by,
                                            struct pawl_str letter_id,
                                            char work_id[PAWL_UUID_HEX_SIZE], int64_t deadline_ns,
                                            struct pawl_error *err);
PAWL_MUST_CHECK int pawl__runtime_drop_letter_by(struct pawl_runtime *runtime,
                                                 struct pawl_audit *by, struct pawl_str letter_id,
                                                 int64_t deadline_ns, struct pawl_error *err);

/* ---- definitions ---------------------------------------------------------------------------- */

/* `expected`: tags (pawl__definition_tag()), of which the latest version must have one; "*": there
 * is a version; "": whatever there is. Else PAWL_ECONFLICT. */
PAWL_MUST_CHECK int pawl__definitions_import_by(struct pawl_definitions *definitions,
                                                struct pawl_audit *by,
                                                const struct pawl_json *definition,
                                                struct pawl_str expected, struct pawl_arena *arena,
                                                struct pawl_definition_row *out,
                                                int64_t deadline_ns, struct pawl_error *err);
PAWL_MUST_CHECK int pawl__definitions_provide_by(struct pawl_definitions *definitions,
                                                 struct pawl_audit *by,
                                                 const struct pawl_json *definition,
                                                 struct pawl_arena *arena,
                                                 struct pawl_definition_row *out,
                                                 int64_t deadline_ns, struct pawl_error *err);
/* Those that use it and are updated are counted too. */
PAWL_MUST_CHECK int pawl__definitions_publish_by(struct pawl_definitions *definitions,
                                                 struct pawl_audit *by, struct pawl_str version_id,
                                                 struct pawl_arena *arena,
                                                 struct pawl_publication *said, int64_t deadline_ns,
                                                 struct pawl_error *err);
PAWL_MUST_CHECK int pawl__definitions_retract_by(struct pawl_definitions *definitions,
                                                 struct pawl_audit *by,
                                                 struct pawl_str definition_id, int64_t deadline_ns,
                                                 struct pawl_error *err);
PAWL_MUST_CHECK int pawl__definitions_delete_by(struct pawl_definitions *definitions,
                                                struct pawl_audit *by,
                                                struct pawl_str definition_id, int64_t deadline_ns,
                                                struct pawl_error *err);

#endif
