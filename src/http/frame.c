/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of WebSocket; see frame.h. */
#include "http/frame.h"

#define FINAL 0x80
#define RESERVED 0x70
#define OPCODE 0x0f
#define MASKED 0x80
#define LENGTH 0x7f
#define LENGTH_16 126
#define LENGTH_64 127

bool pawl__close_code_is_valid(int code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

void pawl__frames_init(struct pawl_frames *frames, const struct pawl_allocator *alloc,
                       size_t message_bytes_max)
{
    memset(frames, 0, sizeof *frames);
    pawl__buf_init(&frames->message, alloc, message_bytes_max);
}

void pawl__frames_release(struct pawl_frames *frames)
{
    pawl__buf_release(&frames->message);
}

static enum pawl_frame_result fail(struct pawl_frames *frames, int code)
{
    frames->code = code;
    return PAWL_FRAME_BAD;
}

/* ---- headers ----------------------------------------------------------------------------- */

static bool is_control(const struct pawl_frames *frames)
{
    return frames->kind >= PAWL_FRAME_CLOSE;
}

/* How long the header is, as far as is known from its first bytes. */
static size_t header_size(const struct pawl_frames *frames)
{
    unsigned length = frames->header_len > 1 ? frames->header[1] & LENGTH : 0;

    if (frames->header_len < 2)
        return 2;
    return 2 + 4 + (length == LENGTH_16 ? 2U : length == LENGTH_64 ? 8U : 0U);
}

/* 0, or the code to close with. From the first two bytes, before anything else is read. */
static int check_first(const struct pawl_frames *frames)
{
    unsigned kind = frames->header[0] & OPCODE, length = frames->header[1] & LENGTH;
    bool known = kind <= PAWL_FRAME_BINARY || (kind >= PAWL_FRAME_CLOSE && kind <= PAWL_FRAME_PONG);
    bool begun = frames->message_kind != 0 && !frames->complete;

    if (frames->header[0] & RESERVED || !known || !(frames->header[1] & MASKED))
        return PAWL_CLOSE_PROTOCOL;
    if (kind >= PAWL_FRAME_CLOSE)
        return frames->header[0] & FINAL && length <= PAWL_FRAME_CONTROL_MAX ? 0
                                                                             : PAWL_CLOSE_PROTOCOL;
    return (kind == PAWL_FRAME_CONTINUATION) == begun ? 0 : PAWL_CLOSE_PROTOCOL;
}

/* The length, which must be written as short as it can be. */
static bool read_length(const struct pawl_frames *frames, uint64_t *out)
{
    unsigned length = frames->header[1] & LENGTH;
    size_t bytes = length == LENGTH_16 ? 2 : length == LENGTH_64 ? 8 : 0;
    uint64_t value = 0;

    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | frames->header[2 + i];
    *out = bytes > 0 ? value : length;
    return bytes == 0 || (bytes == 2 && value >= LENGTH_16) ||
           (bytes == 8 && value > UINT16_MAX && value <= INT64_MAX);
}

static void begin_message(struct pawl_frames *frames)
{
    pawl__buf_clear(&frames->message);
    frames->message_kind = frames->kind;
    frames->complete = false;
    frames->checked = 0;
}

/* The header is complete. 0, or the code to close with. */
static int begin_payload(struct pawl_frames *frames)
{
    size_t size = header_size(frames);

    if (!read_length(frames, &frames->left))
        return PAWL_CLOSE_PROTOCOL;
    memcpy(frames->mask, frames->header + size - 4, 4);
    frames->kind = frames->header[0] & OPCODE;
    frames->final = (frames->header[0] & FINAL) != 0;
    frames->at = 0;
    frames->in_payload = true;
    if (is_control(frames)) {
        frames->control_len = 0;
        return 0;
    }
    if (frames->kind != PAWL_FRAME_CONTINUATION)
        begin_message(frames);
    return frames->left > frames->message.max - frames->message.len ? PAWL_CLOSE_TOO_LARGE : 0;
}

/* 0, or the code to close with. */
static int read_header(struct pawl_frames *frames, const char *bytes, size_t size_bytes,
                       size_t *used)
{
    while (*used < size_bytes && !frames->in_payload) {
        int code = 0;

        frames->header[frames->header_len++] = (unsigned char)bytes[(*used)++];
        if (frames->header_len == 2)
            code = check_first(frames);
        if (code == 0 && frames->header_len >= 2 && frames->header_len == header_size(frames))
            code = begin_payload(frames);
        if (code != 0)
            return code;
    }
    return 0;
}

/* All but pings and pongs: a close, too, comes behind what was sent before it. */
static bool has_order(const struct pawl_frames *frames, char first)
{
    unsigned kind = (unsigned char)first & OPCODE;

    return !frames->in_payload && frames->header_len == 0 && kind != PAWL_FRAME_PING &&
           kind != PAWL_FRAME_PONG;
}

/* ---- payloads ---------------------------------------------------------------------------- */

/* Whether these one to three bytes can be the beginning of a character. */
static bool begins_character(struct pawl_str s)
{
    /* clang-format off */
    static const struct { unsigned char first, last, low, high; size_t size; } leads[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    /* clang-format on */
    const unsigned char *bytes = (const unsigned char *)s.ptr;

    for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++) {
        if (bytes[0] < leads[i].first || bytes[0] > leads[i].last)
            continue;
        return s.len < leads[i].size &&
               (s.len < 2 || (bytes[1] >= leads[i].low && bytes[1] <= leads[i].high)) &&
               (s.len < 3 || (bytes[2] >= 0x80 && bytes[2] <= 0xbf));
    }
    return false;
}

/* Of text as far as it came. */
static bool text_is_valid(struct pawl_frames *frames, bool final)
{
    struct pawl_str rest =
        pawl__str_slice(pawl__buf_peek(&frames->message), frames->checked, frames->message.len);
    size_t valid = pawl__utf8_valid_prefix(rest);

    frames->checked += valid;
    rest = pawl__str_slice(rest, valid, rest.len);
    return rest.len == 0 || (!final && begins_character(rest));
}

static void unmask(struct pawl_frames *frames, const char *from, char *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (char)((unsigned char)from[i] ^ frames->mask[(frames->at + i) % 4]);
}

/* 0, or the code to close with. */
static int take_payload(struct pawl_frames *frames, const char *bytes, size_t count)
{
    if (is_control(frames)) {
        unmask(frames, bytes, frames->control + frames->control_len, count);
        frames->control_len = (uint8_t)(frames->control_len + count);
    } else {
        char *to = pawl__buf_reserve(&frames->message, count);

        if (!to)
            return PAWL_CLOSE_INTERNAL;
        unmask(frames, bytes, to, count);
        frames->message.len += count;
        if (frames->message_kind == PAWL_FRAME_TEXT && !text_is_valid(frames, false))
            return PAWL_CLOSE_NOT_UTF8;
    }
    frames->at += count;
    frames->left -= count;
    return 0;
}

int pawl__frames_close_code(const struct pawl_frames *frames)
{
    const unsigned char *bytes = (const unsigned char *)frames->control;

    return frames->control_len >= 2 ? bytes[0] << 8 | bytes[1] : PAWL_CLOSE_NO_CODE;
}

static int check_close(const struct pawl_frames *frames)
{
    if (frames->control_len == 0)
        return 0;
    if (frames->control_len == 1 || !pawl__close_code_is_valid(pawl__frames_close_code(frames)))
        return PAWL_CLOSE_PROTOCOL;
    return pawl__utf8_valid(pawl__str_make(frames->control + 2, frames->control_len - 2U))
               ? 0
               : PAWL_CLOSE_NOT_UTF8;
}

/* A frame is complete. */
static enum pawl_frame_result end_frame(struct pawl_frames *frames)
{
    int code = 0;

    frames->in_payload = false;
    frames->header_len = 0;
    if (is_control(frames)) {
        if (frames->kind == PAWL_FRAME_CLOSE)
            code = check_close(frames);
        return code == 0 ? PAWL_FRAME_CONTROL : fail(frames, code);
    }
    if (!frames->final)
        return PAWL_FRAME_MORE;
    if (frames->message_kind == PAWL_FRAME_TEXT && !text_is_valid(frames, true))
        return fail(frames, PAWL_CLOSE_NOT_UTF8);
    frames->complete = true;
    return PAWL_FRAME_MESSAGE;
}

enum pawl_frame_result pawl__frames_feed(struct pawl_frames *frames, const char *bytes,
                                         size_t size_bytes, size_t *used)
{
    enum pawl_frame_result result = PAWL_FRAME_MORE;

    *used = 0;
    if (frames->code != 0)
        return PAWL_FRAME_BAD;
    while (result == PAWL_FRAME_MORE) {
        size_t count;
        int code;

        if (frames->holds && *used < size_bytes && has_order(frames, bytes[*used]))
            return PAWL_FRAME_HELD;
        code = read_header(frames, bytes, size_bytes, used);

        if (code != 0)
            return fail(frames, code);
        if (!frames->in_payload)
            return PAWL_FRAME_MORE;
        count = size_bytes - *used < frames->left ? size_bytes - *used : (size_t)frames->left;
        code = take_payload(frames, bytes + *used, count);
        if (code != 0)
            return fail(frames, code);
        *used += count;
        if (frames->left > 0)
            return PAWL_FRAME_MORE;
        result = end_frame(frames);
    }
    return result;
}

/* ---- writing ----------------------------------------------------------------------------- */

void pawl__frame_write(struct pawl_buf *to, enum pawl_frame_kind kind, struct pawl_str payload)
{
    uint64_t length = payload.len;
    int bytes = length < LENGTH_16 ? 0 : length <= UINT16_MAX ? 2 : 8;

    pawl__buf_byte(to, (char)(FINAL | kind));
    pawl__buf_byte(to, (char)(bytes == 0 ? length : bytes == 2 ? LENGTH_16 : LENGTH_64));
    for (int i = bytes - 1; i >= 0; i--)
        pawl__buf_byte(to, (char)(length >> (8 * i) & 0xff));
    pawl__buf_str(to, payload);
}
