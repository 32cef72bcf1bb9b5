/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens: whatever comes, nothing but what the key has signed is read; and any bytes that are
 * signed as claims come back as JSON or are refused.
 */
#include "base/jwt.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct pawl_jwt_key key = {pawl__str("k"), pawl__str("a secret that no input has")};
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_str all = pawl__str_make((const char *)data, size);
    struct pawl_arena arena;
    struct pawl_json claims;
    struct pawl_buf buf;
    int status;

    pawl__arena_init(&arena, &alloc, (size_t)1 << 20);
    FUZZ_DEMAND(pawl__jwt_read(all, &key, 1, &arena, &claims) != PAWL_OK);
    pawl__buf_init(&buf, &alloc, PAWL_JWT_BYTES_MAX);
    pawl__jwt_write(&buf, &key, all);
    if (buf.status == PAWL_OK) {
        status = pawl__jwt_read(pawl__buf_peek(&buf), &key, 1, &arena, &claims);
        FUZZ_DEMAND(status == PAWL_OK || status == PAWL_EPARSE || status == PAWL_ELIMIT);
        FUZZ_DEMAND(status != PAWL_OK || pawl__json_is(&claims, PAWL_JSON_OBJECT));
    }
    pawl__buf_release(&buf);
    pawl__arena_release(&arena);
    return 0;
}
