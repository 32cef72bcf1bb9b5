/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of WebSocket (RFC 6455), as a server reads and writes them: bytes in pieces to messages.
 *
 * Strict: frames of clients are masked, reserved bits and opcodes are refused, lengths are written
 * as short as can be, control frames are whole and short, text is UTF-8, close codes are ones that
 * may be sent. Extensions are not spoken. Nothing here waits or sends.
 */
#ifndef PAWL_HTTP_FRAME_H
#define PAWL_HTTP_FRAME_H

#include "base/buf.h"

enum pawl_frame_kind {
    PAWL_FRAME_CONTINUATION = 0,
    PAWL_FRAME_TEXT = 1,
    PAWL_FRAME_BINARY = 2,
    PAWL_FRAME_CLOSE = 8,
    PAWL_FRAME_PING = 9,
    PAWL_FRAME_PONG = 10,
};

/* Codes of a close; others are the application's, 3000 to 4999. */
#define PAWL_CLOSE_NORMAL 1000
#define PAWL_CLOSE_GOING_AWAY 1001
#define PAWL_CLOSE_PROTOCOL 1002
#define PAWL_CLOSE_NO_CODE 1005  /* never sent: the close had none */
#define PAWL_CLOSE_ABNORMAL 1006 /* never sent: there was no close */
#define PAWL_CLOSE_NOT_UTF8 1007
#define PAWL_CLOSE_POLICY 1008
#define PAWL_CLOSE_TOO_LARGE 1009
#define PAWL_CLOSE_INTERNAL 1011

/* May it be sent in a close? */
bool pawl__close_code_is_valid(int code);

#define PAWL_FRAME_CONTROL_MAX 125
#define PAWL_FRAME_HEADER_MAX 14

enum pawl_frame_result {
    PAWL_FRAME_MORE,    /* all bytes are used */
    PAWL_FRAME_MESSAGE, /* `message` is complete, of `message_kind` */
    PAWL_FRAME_CONTROL, /* `control` is complete, of `kind` */
    PAWL_FRAME_HELD,    /* neither a ping nor a pong is next, and `holds` */
    PAWL_FRAME_BAD,     /* for good; `code` is what to close with */
};

struct pawl_frames {
    struct pawl_buf message;
    uint8_t message_kind; /* TEXT or BINARY; 0: no message has begun */
    uint8_t kind;         /* of the frame */
    bool final;
    bool in_payload;
    bool complete; /* the message was reported, and the next one replaces it */
    bool holds;    /* the caller's: only pings and pongs are read, `message` stays as it is */
    uint8_t header_len;
    unsigned char header[PAWL_FRAME_HEADER_MAX];
    unsigned char mask[4];
    uint64_t left, at; /* of the frame's payload: still to come; came */
    size_t checked;    /* of the message: valid UTF-8 so far */
    uint8_t control_len;
    char control[PAWL_FRAME_CONTROL_MAX];
    int code;
};

void pawl__frames_init(struct pawl_frames *frames, const struct pawl_allocator *alloc,
                       size_t message_bytes_max);
void pawl__frames_release(struct pawl_frames *frames);

/* Reads up to the next result; *used bytes were taken. */
enum pawl_frame_result pawl__frames_feed(struct pawl_frames *frames, const char *bytes,
                                         size_t size_bytes, size_t *used);

/* After CONTROL of kind CLOSE: its code; PAWL_CLOSE_NO_CODE. */
int pawl__frames_close_code(const struct pawl_frames *frames);

/* Writes one whole frame, not masked. */
void pawl__frame_write(struct pawl_buf *to, enum pawl_frame_kind kind, struct pawl_str payload);

#endif
