/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the files of this folder: a caller that blocks until a completion is called.
 *
 *     status = op_blocked_new(op, sizeof(struct result), &blocked);
 *     if (status != PAWL_OK)
 *         return status;
 *     status = …await(op, …, completion, blocked);
 *     if (status != PAWL_OK)
 *         op_blocked_leave(blocked);                 the completion's share: it is not called
 *     else
 *         status = op_blocked_wait(op, blocked, works);
 *     if (status == PAWL_OK)
 *         … op_blocked_value(blocked) …
 *     op_blocked_leave(blocked);
 *
 * The caller and the completion share it; the last of them to leave frees it. So a caller may give
 * up before the completion is called.
 */
#ifndef PAWL_OPERATIONS_BLOCKED_H
#define PAWL_OPERATIONS_BLOCKED_H

#include "operations/operation.h"

struct op_blocked;

/* `size` bytes, zeroed, are for what the completion is given. Two shares. */
PAWL_MUST_CHECK int op_blocked_new(const struct pawl_op *op, size_t size, struct op_blocked **out);
void op_blocked_leave(struct op_blocked *blocked);
/* Those bytes, and an arena for what they point to: for the completion while it holds the lock, and
 * for the caller after the wait. */
void *op_blocked_value(struct op_blocked *blocked);
struct pawl_arena *op_blocked_arena(struct op_blocked *blocked);

/* Of the completion: the bytes; NULL: the environment has stopped. */
void *op_blocked_lock(struct op_blocked *blocked);
/* Unlocks if it is locked, wakes the caller, leaves. */
void op_blocked_complete(struct op_blocked *blocked, bool is_locked);

/* Of the caller: until the completion was called, which knows the deadline. `works`: does due work
 * meanwhile. */
PAWL_MUST_CHECK int op_blocked_wait(const struct pawl_op *op, struct op_blocked *blocked,
                                    bool works);

#endif
