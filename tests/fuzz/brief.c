/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes are refused or are a value that comes back the same when it is written again. As
 * strings, which may be malformed, they come back as JSON text has them.
 */
#include "runtime/words.h"

#include "fuzz/fuzz.h"

#define LIMIT ((size_t)16 << 20)

static void check_strings(struct pawl_arena *arena, struct pawl_str bytes,
                          const struct pawl_words *words)
{
    struct pawl_json array = pawl__json_array(), again;
    struct pawl_buf brief, first, second;
    size_t at = 0;

    pawl__buf_init(&brief, arena->alloc, LIMIT);
    pawl__buf_init(&first, arena->alloc, LIMIT);
    pawl__buf_init(&second, arena->alloc, LIMIT);
    while (at < bytes.len) { /* a byte says how long the next is */
        size_t end = at + 1 + (unsigned char)bytes.ptr[at] % 70;
        struct pawl_str text = pawl__str_slice(bytes, at + 1, end < bytes.len ? end : bytes.len);

        if (pawl__json_append(arena, &array, pawl__json_string(text)) != PAWL_OK)
            break;
        at = end;
    }
    pawl__json_write(&first, &array, PAWL_JSON_ESCAPE_MINIMAL);
    pawl__brief_write(&brief, &array, words);
    FUZZ_DEMAND(first.status == PAWL_OK && brief.status == PAWL_OK);
    FUZZ_DEMAND(pawl__brief_read(arena, pawl__buf_peek(&brief), words, &again) == PAWL_OK);
    pawl__json_write(&second, &again, PAWL_JSON_ESCAPE_MINIMAL);
    FUZZ_DEMAND(pawl__str_equal(pawl__buf_peek(&first), pawl__buf_peek(&second)));
    pawl__buf_release(&second);
    pawl__buf_release(&first);
    pawl__buf_release(&brief);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_str bytes = pawl__str_make((const char *)data, size);
    struct pawl_buf brief, first, second;
    struct pawl_json value, again;
    struct pawl_words words;
    struct pawl_arena arena;
    int status;

    pawl__stored_words(&words);
    pawl__arena_init(&arena, &alloc, LIMIT);
    pawl__buf_init(&brief, &alloc, LIMIT);
    pawl__buf_init(&first, &alloc, LIMIT);
    pawl__buf_init(&second, &alloc, LIMIT);
    status = pawl__brief_read(&arena, bytes, &words, &value);
    FUZZ_DEMAND(status == PAWL_OK || status == PAWL_EPARSE || status == PAWL_ELIMIT ||
                status == PAWL_ENOMEM);
    if (status == PAWL_OK) {
        pawl__json_write(&first, &value, PAWL_JSON_ESCAPE_MINIMAL);
        pawl__brief_write(&brief, &value, &words);
        FUZZ_DEMAND(first.status == PAWL_OK && brief.status == PAWL_OK);
        FUZZ_DEMAND(pawl__brief_read(&arena, pawl__buf_peek(&brief), &words, &again) == PAWL_OK);
        pawl__json_write(&second, &again, PAWL_JSON_ESCAPE_MINIMAL);
        FUZZ_DEMAND(pawl__str_equal(pawl__buf_peek(&first), pawl__buf_peek(&second)));
    }
    check_strings(&arena, bytes, &words);
    pawl__buf_release(&second);
    pawl__buf_release(&first);
    pawl__buf_release(&brief);
    pawl__arena_release(&arena);
    return 0;
}
