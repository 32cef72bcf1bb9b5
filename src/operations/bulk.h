/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the files of this folder: the same done to all things that a query matches. They are listed
 * in batches, by cursor, so that what is deleted or changed on the way moves nothing that is still
 * to come. Each is changed in its own commit; all of them have one record.
 */
#ifndef PAWL_OPERATIONS_BULK_H
#define PAWL_OPERATIONS_BULK_H

#include "base/json/json.h"
#include "operations/operation.h"

/* Things of one batch, and ids that one query names. */
#define OP_BULK_BATCH_MAX 200u

struct op_bulk_batch {
    struct pawl_str *ids; /* room for OP_BULK_BATCH_MAX */
    size_t count;
    bool is_last;
};

struct op_bulk {
    const char *action, *kind; /* of the record */
    struct pawl_json asked;    /* of the record: the filter, an object */
    /* The next batch. What it leaves in `ctx` for the one after it may be in op->arena. */
    int (*list)(const struct pawl_op *op, void *ctx, struct op_bulk_batch *batch);
    int (*act)(const struct pawl_op *op, void *ctx, struct pawl_str id);
    void *ctx;
    /* PAWL_ECONFLICT means that this one cannot be changed, or was already: it is skipped. */
    bool skips_conflicts;
};

/* PAWL_OK once something was done: `out` says what ended it. */
PAWL_MUST_CHECK int op_bulk_run(const struct pawl_op *op, const struct op_bulk *bulk,
                                struct pawl_bulk_result *out);

/*
 * For what does several things, when one fails with `status` behind others that are done. An error
 * that says "nothing happened, try again" would be wrong then: it becomes PAWL_EUNKNOWN, and
 * op->err says what was done, as the format says, and then why it ended. Other errors stay as they
 * are.
 */
int op_partly(const struct pawl_op *op, int status, const char *format, ...) PAWL_PRINTF(3, 4);

#endif
