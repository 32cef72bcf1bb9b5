/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Header values of servers: whatever comes, a downloaded file has a name that is one (UTF-8, no
 * folder, not empty), and a parameter is no longer than the header.
 */
#include "activities/http_client.h"
#include "fuzz/fuzz.h"

static void check_name(struct pawl_str name)
{
    FUZZ_DEMAND(name.ptr && name.len > 0);
    FUZZ_DEMAND(pawl__utf8_valid(name));
    FUZZ_DEMAND(!memchr(name.ptr, '/', name.len) && !memchr(name.ptr, '\\', name.len));
    FUZZ_DEMAND(!memchr(name.ptr, 0, name.len));
    FUZZ_DEMAND(!pawl__str_is(name, ".") && !pawl__str_is(name, ".."));
}

/* The header and the URL, apart by the first line end. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_str all = pawl__str_make((const char *)data, size);
    size_t end = pawl__str_find(all, '\n', 0);
    struct pawl_str header = pawl__str_slice(all, 0, end);
    struct pawl_str url = end == SIZE_MAX ? pawl__str("") : pawl__str_slice(all, end + 1, size);
    struct pawl_arena arena;
    struct pawl_str value;

    pawl__arena_init(&arena, &alloc, (size_t)64 << 20);
    check_name(pawl__http_file_name(&arena, header, url));
    value = pawl__http_parameter(&arena, header, "charset");
    FUZZ_DEMAND(!value.ptr || value.len <= header.len);
    pawl__arena_release(&arena);
    return 0;
}
