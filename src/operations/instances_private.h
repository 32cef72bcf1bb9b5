/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of operations on instances share. */
#ifndef PAWL_OPERATIONS_INSTANCES_PRIVATE_H
#define PAWL_OPERATIONS_INSTANCES_PRIVATE_H

#include "operations/instances.h"
#include "operations/query.h"
#include "operations/record.h"
#include "runtime/node/client.h"

/* A client of the instance; "": of a new one. */
PAWL_MUST_CHECK int op_client(const struct pawl_op *op, struct pawl_str instance_id,
                              struct pawl_workflow_client **out);
/* Of what failed behind the first commit of a start: see pawl__error_after_commit(). */
PAWL_MUST_CHECK int op_tell_begun(const struct pawl_op *op, const char *instance_id, int status);
/* The row and the state of what was run, if they are asked for. `left` as its start left it; NULL:
 * they are read. */
PAWL_MUST_CHECK int op_add_state(const struct pawl_op *op, bool with_state,
                                 const struct pawl_left *left, struct pawl_instance_result *result);
/*
 * The row of an instance and its state. Of one whose state cannot be read the row still tells: then
 * the state is null, and `unreadable` says why. Its code is PAWL_OK else.
 */
PAWL_MUST_CHECK int op_show_readable(const struct pawl_op *op, struct pawl_str instance_id,
                                     struct pawl_instance_row *row, struct pawl_json *state,
                                     struct pawl_error *unreadable);
/* Starts it: `unattended` and `left` as in struct pawl_start. */
PAWL_MUST_CHECK int op_start(const struct pawl_op *op, const struct pawl_instance_start *request,
                             bool unattended, struct pawl_left *left, struct pawl_outcome *out);
/* Whether it narrows nothing. */
bool op_matches_everything(const struct pawl_instance_query *query);
/* An array of alterations, of an array or of one. */
PAWL_MUST_CHECK int op_alterations(const struct pawl_op *op, const struct pawl_json *given,
                                   struct pawl_json *out);

#endif
