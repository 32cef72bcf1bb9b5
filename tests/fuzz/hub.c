/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clients of the hub send: messages lie within what came, none has an end in it, and a
 * completion of whatever id was read is one message again.
 */
#include "api/hub/protocol.h"
#include "fuzz/fuzz.h"

static void check_completion(const struct pawl_allocator *alloc, struct pawl_str invocation_id)
{
    struct pawl_str rest, message;
    struct pawl_buf out;

    pawl__buf_init(&out, alloc, (size_t)1 << 20);
    hub_write_completion(&out, invocation_id, "x");
    FUZZ_DEMAND(out.status == PAWL_OK);
    rest = pawl__buf_peek(&out);
    FUZZ_DEMAND(hub_next(&rest, &message) == PAWL_OK && rest.len == 0);
    pawl__buf_release(&out);
}

static void check_message(const struct pawl_allocator *alloc, struct pawl_str text)
{
    struct hub_handshake handshake = {0};
    struct hub_message message;
    struct pawl_arena arena;

    FUZZ_DEMAND(!memchr(text.ptr, HUB_SEPARATOR, text.len));
    pawl__arena_init(&arena, alloc, (size_t)4 << 20);
    if (hub_read_handshake(&arena, text, &handshake, NULL) == PAWL_OK)
        FUZZ_DEMAND(handshake.protocol.ptr != NULL);
    if (hub_read_message(&arena, text, &message, NULL) == PAWL_OK) {
        FUZZ_DEMAND(text.len <= HUB_MESSAGE_BYTES_MAX);
        FUZZ_DEMAND(message.invocation_id.len <= HUB_INVOCATION_ID_MAX);
        FUZZ_DEMAND(message.target.ptr != NULL);
        FUZZ_DEMAND(!message.arguments || pawl__json_is(message.arguments, PAWL_JSON_ARRAY));
        if (message.invocation_id.ptr)
            check_completion(alloc, message.invocation_id);
    }
    pawl__arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_str rest = pawl__str_make((const char *)data, size), message;
    size_t left = size;

    while (hub_next(&rest, &message) == PAWL_OK) {
        FUZZ_DEMAND(rest.len + message.len + 1 == left);
        left = rest.len;
        check_message(&alloc, message);
    }
    return 0;
}
