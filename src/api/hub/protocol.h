/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON hub protocol of SignalR, version 1: messages as text, each ended by the byte 0x1E. Both
 * directions, without a connection; what messages mean is connection.c.
 */
#ifndef PAWL_API_HUB_PROTOCOL_H
#define PAWL_API_HUB_PROTOCOL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json/json.h"

#define HUB_SEPARATOR '\x1e'
/* Of one message of a client, as of the reference. */
#define HUB_MESSAGE_BYTES_MAX ((size_t)32 << 10)
/* Of the id of an invocation: clients count. */
#define HUB_INVOCATION_ID_MAX 128

enum hub_type {
    HUB_INVOCATION = 1,
    HUB_STREAM_ITEM = 2,
    HUB_COMPLETION = 3,
    HUB_STREAM_INVOCATION = 4,
    HUB_CANCEL_INVOCATION = 5,
    HUB_PING = 6,
    HUB_CLOSE = 7,
};

struct hub_handshake {
    struct pawl_str protocol;
    int64_t version;
};

struct hub_message {
    int64_t type; /* enum hub_type, or one that is not known here */
    /* Of an invocation: */
    struct pawl_str invocation_id; /* ptr NULL: no completion is expected */
    struct pawl_str target;
    const struct pawl_json *arguments; /* an array; NULL: none */
};

/*
 * Cuts the next message off `rest`: PAWL_OK; PAWL_ENOTFOUND: there is none left; PAWL_EPARSE: what
 * is left has no end.
 */
PAWL_MUST_CHECK int hub_next(struct pawl_str *rest, struct pawl_str *message);

/* Both borrow the text, and put what they need into the arena. PAWL_EPARSE, PAWL_ENOMEM. */
PAWL_MUST_CHECK int hub_read_handshake(struct pawl_arena *arena, struct pawl_str text,
                                       struct hub_handshake *out, struct pawl_error *err);
PAWL_MUST_CHECK int hub_read_message(struct pawl_arena *arena, struct pawl_str text,
                                     struct hub_message *out, struct pawl_error *err);

/* Each appends a whole message. `error` NULL: none. */
void hub_write_handshake(struct pawl_buf *out, const char *error);
void hub_write_completion(struct pawl_buf *out, struct pawl_str invocation_id, const char *error);
void hub_write_ping(struct pawl_buf *out);
void hub_write_close(struct pawl_buf *out, const char *error, bool allow_reconnect);
void hub_write_invocation(struct pawl_buf *out, const char *target,
                          const struct pawl_json *argument);

#endif
