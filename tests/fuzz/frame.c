/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of WebSocket: however the bytes are cut, the same messages, controls and refusals come
 * out; text is UTF-8, nothing is larger than it may be.
 *
 * The input: a byte that chooses the cuts, then what the client sends.
 */
#include "http/frame.h"
#include "fuzz/fuzz.h"

#include <string.h>

#define MESSAGE_MAX 2048
#define SEEN_MAX ((size_t)1 << 20)

static void note(struct pawl_buf *seen, const struct pawl_frames *frames,
                 enum pawl_frame_result result)
{
    pawl__buf_printf(seen, "%d:", (int)result);
    switch (result) {
    case PAWL_FRAME_MESSAGE:
        FUZZ_DEMAND(frames->message.len <= MESSAGE_MAX);
        FUZZ_DEMAND(frames->message_kind == PAWL_FRAME_BINARY ||
                    pawl__utf8_valid(pawl__buf_peek(&frames->message)));
        pawl__buf_printf(seen, "%d:", frames->message_kind);
        pawl__buf_str(seen, pawl__buf_peek(&frames->message));
        break;
    case PAWL_FRAME_CONTROL:
        FUZZ_DEMAND(frames->control_len <= PAWL_FRAME_CONTROL_MAX);
        FUZZ_DEMAND(frames->kind != PAWL_FRAME_CLOSE ||
                    pawl__frames_close_code(frames) == PAWL_CLOSE_NO_CODE ||
                    pawl__close_code_is_valid(pawl__frames_close_code(frames)));
        pawl__buf_printf(seen, "%d:", frames->kind);
        pawl__buf_append(seen, frames->control, frames->control_len);
        break;
    case PAWL_FRAME_BAD:
        FUZZ_DEMAND(pawl__close_code_is_valid(frames->code));
        pawl__buf_printf(seen, "%d", frames->code);
        break;
    case PAWL_FRAME_HELD: /* not asked for */
        FUZZ_DEMAND(false);
        break;
    case PAWL_FRAME_MORE:
        break;
    }
}

static void feed(const struct pawl_allocator *alloc, const char *bytes, size_t size, size_t step,
                 struct pawl_buf *seen)
{
    struct pawl_frames frames;
    enum pawl_frame_result result = PAWL_FRAME_MORE;

    pawl__frames_init(&frames, alloc, MESSAGE_MAX);
    for (size_t at = 0; at < size && result != PAWL_FRAME_BAD;) {
        size_t end = size - at < step ? size : at + step;

        do {
            size_t used;

            result = pawl__frames_feed(&frames, bytes + at, end - at, &used);
            FUZZ_DEMAND(used <= end - at);
            at += used;
            if (result != PAWL_FRAME_MORE)
                note(seen, &frames, result);
        } while (result == PAWL_FRAME_MESSAGE || result == PAWL_FRAME_CONTROL);
        FUZZ_DEMAND(result == PAWL_FRAME_BAD || at == end);
    }
    pawl__frames_release(&frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_buf whole, pieces;

    if (size < 2)
        return 0;
    pawl__buf_init(&whole, &alloc, SEEN_MAX);
    pawl__buf_init(&pieces, &alloc, SEEN_MAX);
    feed(&alloc, (const char *)data + 1, size - 1, size, &whole);
    feed(&alloc, (const char *)data + 1, size - 1, 1 + data[0] % 16, &pieces);
    FUZZ_DEMAND(pawl__str_equal(pawl__buf_peek(&whole), pawl__buf_peek(&pieces)));
    pawl__buf_release(&whole);
    pawl__buf_release(&pieces);
    return 0;
}
