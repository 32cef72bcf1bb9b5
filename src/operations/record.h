/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the files of this folder: how an operation that changes something is recorded (audit.h).
 *
 *     struct op_record record;
 *     int status = op_record_begin(op, &record, "delete", "instance", id);
 *
 *     if (status == PAWL_OK)
 *         status = op_record_end(op, &record, true, pawl__…_by(…, record.by, …));
 *
 * Of many: the operation on all of them begins the record, and gives each part an op with
 * `part.record = record.by`; their own op_record_begin() then returns that one.
 */
#ifndef PAWL_OPERATIONS_RECORD_H
#define PAWL_OPERATIONS_RECORD_H

#include "base/id.h"
#include "base/json/builder.h"
#include "operations/operation.h"
#include "runtime/audit.h"

struct op_record {
    struct pawl_audit own;
    struct pawl_audit *by; /* what the commit is given */
    char id[PAWL_UUID_HEX_SIZE];
};

/* `record` stays where it is until the end. */
PAWL_MUST_CHECK int op_record_begin(const struct pawl_op *op, struct op_record *record,
                                    const char *action, const char *kind, struct pawl_str target);
/* Where the target is "": it is that of the definition that is made. */
static inline void op_record_new(struct op_record *record)
{
    if (record->by == &record->own)
        record->own.is_of_new = record->own.row.target.len == 0;
}
/*
 * What was asked for besides action and target, kept with the record; if it has more than
 * OP_RECORD_BYTES_MAX, its size alone. Values that an instance is given do not belong there: they
 * would outlive it. Nothing for a part of a larger operation.
 */
#define OP_RECORD_BYTES_MAX 2000u
PAWL_MUST_CHECK int op_record_asked(const struct pawl_op *op, struct op_record *record,
                                    const struct pawl_builder *b, const struct pawl_json *asked);
/* A member of what was asked for, unless it is "". */
static inline void op_build_given(struct pawl_builder *b, struct pawl_json *asked, const char *key,
                                  struct pawl_str text)
{
    if (text.len > 0)
        pawl__build_text(b, asked, key, text);
}
/* Of many things: `target` is "". */
PAWL_MUST_CHECK int op_record_begin_many(const struct pawl_op *op, struct op_record *record,
                                         const char *action, const char *kind);
/*
 * What the operation returns whose commit returned `status`. A request that took effect before is
 * PAWL_OK if it `has_no_result`, else PAWL_ECONFLICT; of one whose outcome is unknown the message
 * names the id.
 */
PAWL_MUST_CHECK int op_record_end(const struct pawl_op *op, const struct op_record *record,
                                  bool has_no_result, int status);

#endif
