/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits on this node for the reply to a request (docs/design/0018-http-endpoints.md).
 *
 *            expect                 deliver, deadline, close
 *     (free) -------> WAITING ----------------------------------> called once, then freed
 *                        | forget
 *                        v
 *                      (free)
 *
 * A reply comes from a commit of this node (deliver) or, when another node ran the burst, as a row
 * that this node looks for while somebody watches (watch). Each waiter is completed exactly once,
 * whichever comes first; later ones are dropped. One thread per node, from the first waiter on,
 * sees to deadlines and rows.
 */
#ifndef PAWL_RUNTIME_NODE_REPLIES_H
#define PAWL_RUNTIME_NODE_REPLIES_H

#include "runtime/runtime.h"

/* Who waits on one node, at the most: more are refused. */
#define PAWL_REPLIES_MAX 10000u
/* "INCARNATION/NUMBER", the number at random, and a NUL. */
#define PAWL_REPLY_ADDRESS_SIZE 48

/*
 * PAWL_OK: `reply` as in base/http_message.h, borrowed for the call. Else it is NULL:
 * PAWL_ETIMEDOUT; PAWL_EUNKNOWN: the same, but whether its request is stored is not known;
 * PAWL_ESTOPPED (the node ends). Called by any thread; it must not wait.
 */
typedef void pawl_reply_fn(void *ctx, int status, const struct pawl_json *reply);

struct pawl_reply_wait {
    int64_t deadline_ns;
    pawl_reply_fn *done;
    void *ctx;
};

/* PAWL_EBUSY: too many wait. PAWL_ESTOPPED, PAWL_ENOMEM: `done` is not called. */
PAWL_MUST_CHECK int pawl__replies_expect(struct pawl_runtime *runtime,
                                         const struct pawl_reply_wait *wait,
                                         char address[PAWL_REPLY_ADDRESS_SIZE],
                                         struct pawl_error *err);
/* True: it is not called. False: it was, or is being called. */
bool pawl__replies_forget(struct pawl_runtime *runtime, struct pawl_str address);
/* Its request is stored. From now on its reply may come as a row: another node may run the burst.
 * Of who waits no longer it does nothing. */
void pawl__replies_watch(struct pawl_runtime *runtime, struct pawl_str address);
/* Something was committed, perhaps the row of a reply: looks at once for those that are watched. */
void pawl__replies_woken(struct pawl_runtime *runtime);

/* Where a reply to an address goes. */
enum pawl_reply_way {
    PAWL_REPLY_HERE,      /* somebody waits for it on this node */
    PAWL_REPLY_NOBODY,    /* an address of this node that nobody waits at any more */
    PAWL_REPLY_ELSEWHERE, /* another node's: it needs a row */
};
enum pawl_reply_way pawl__replies_way(struct pawl_runtime *runtime, struct pawl_str address);
/* After the commit that recorded it. */
void pawl__replies_deliver(struct pawl_runtime *runtime, struct pawl_str address,
                           const struct pawl_json *reply);

/* ---- rows, replies_rows.c ------------------------------------------------------------------- */

struct runtime_changes;

/* The reservation of what was replied to a request with this key. ptr NULL: the arena's status. */
struct pawl_str pawl__reply_kept_key(struct pawl_arena *arena, struct pawl_str key);

/* Of the stored bytes of a reply that crosses nodes: larger ones fail clearly. */
#define PAWL_REPLY_ROW_BYTES_MAX ((size_t)16 << 20)

/* Adds the row of a reply to another node's address. `now_us`: the store's clock. Too large a reply
 * is replaced by a 500 that says so. */
void pawl__reply_add_row(struct pawl_runtime *runtime, struct runtime_changes *changes,
                         struct pawl_str address, const struct pawl_json *reply, int64_t now_us);
/* Looks for rows of the addresses that are watched, delivers and deletes them. By the thread of
 * replies. */
void pawl__replies_look(struct pawl_runtime *runtime, const struct pawl_str *addresses,
                        size_t count);

#endif
