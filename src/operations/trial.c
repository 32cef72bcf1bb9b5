/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions that are tried out; see trial.h. */
#include "operations/trial.h"

#include "base/error.h"
#include "base/stimuli.h"
#include "host/host.h"
#include "operations/query.h"
#include "operations/trial_private.h"
#include "runtime/runtime.h"

int op_trial_check(const struct pawl_op *op)
{
    if (pawl__host_surroundings(op->host)->ephemeral)
        return PAWL_OK;
    return pawl__error_set(op->err, PAWL_EINVAL, "this is only done where nothing is stored");
}

/* ---- loading -------------------------------------------------------------------------------- */

/* Time starts nothing here but what was asked for. */
static int disarm(const struct pawl_op *op)
{
    struct pawl_rows rows = {0};
    int status;

    do {
        struct op_query query;

        op_query_init(&query, PAWL_TABLE_WORK, NULL, false);
        op_where_text(&query, "kind", PAWL_EQ, pawl__str(PAWL_WORK_TICK));
        status = op_find_all(op, &query, 0, &rows);
        for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
            const struct pawl_change change = {PAWL_CHANGE_DELETE, PAWL_TABLE_WORK,
                                               &((const struct pawl_work_row *)rows.rows)[i]};
            struct pawl_commit commit = {
                .kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
            struct pawl_commit *const commits[] = {&commit};

            status = pawl_store_apply(op_store(op), commits, 1, op->deadline_ns, op->err);
        }
    } while (status == PAWL_OK && rows.count > 0);
    return status;
}

int pawl__op_trial_load(const struct pawl_op *op, struct pawl_trial_definition *definitions,
                        size_t count, size_t *at)
{
    int status = op_trial_check(op);

    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        *at = i;
        status = pawl__definitions_import(op_definitions(op), definitions[i].json, op->arena,
                                          &definitions[i].row, op->deadline_ns, op->err);
    }
    for (size_t i = count; i-- > 0 && status == PAWL_OK;) {
        struct pawl_publication said;

        *at = i;
        status = pawl__definitions_publish(op_definitions(op), definitions[i].row.id, op->arena,
                                           &said, op->deadline_ns, op->err);
        if (status == PAWL_OK)
            definitions[i].problems = said.problems;
    }
    return status == PAWL_OK ? disarm(op) : status;
}

/* ---- events --------------------------------------------------------------------------------- */

int pawl__op_trial_awaits(const struct pawl_op *op, struct pawl_str event, bool *out)
{
    struct pawl_rows rows = {0};
    struct op_query query;
    bool found = false;
    int status = op_trial_check(op);

    op_query_init(&query, PAWL_TABLE_BOOKMARKS, NULL, false);
    op_with_bytes(&query);
    if (status == PAWL_OK)
        status = op_find_all(op, &query, 0, &rows);
    for (size_t i = 0; status == PAWL_OK && i < rows.count && !found; i++) {
        const struct pawl_bookmark_row *row = &((const struct pawl_bookmark_row *)rows.rows)[i];
        struct pawl_json payload;

        found = pawl__json_parse(op->arena, row->payload, NULL, &payload, NULL, NULL) == PAWL_OK &&
                pawl__str_equal(
                    pawl__json_str(pawl__json_get_text(&payload, PAWL_STIMULUS_EVENT_NAME)), event);
    }
    if (status == PAWL_OK)
        *out = found;
    return status;
}
