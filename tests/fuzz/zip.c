/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are refused, or give files within the limits which, written, come back. */
#include "http/zip.h"

#include "fuzz/fuzz.h"

#define ARENA_MAX ((size_t)48 << 20)

static void write_and_read(const struct pawl_allocator *alloc, const struct pawl_zip *zip)
{
    struct pawl_arena arena;
    struct pawl_buf out;
    struct pawl_zip again;

    pawl__arena_init(&arena, alloc, ARENA_MAX);
    pawl__buf_init(&out, alloc, ARENA_MAX);
    FUZZ_DEMAND(pawl__zip_write(zip->files, zip->count, &out, NULL) == PAWL_OK);
    /* What was hardly packed may now be packed so well that it is taken for a bomb. */
    if (pawl__zip_read(pawl__buf_peek(&out), &arena, &again, NULL) == PAWL_OK) {
        FUZZ_DEMAND(again.count == zip->count);
        for (size_t i = 0; i < zip->count; i++) {
            FUZZ_DEMAND(pawl__str_equal(again.files[i].name, zip->files[i].name));
            FUZZ_DEMAND(pawl__str_equal(again.files[i].content, zip->files[i].content));
        }
    }
    pawl__buf_release(&out);
    pawl__arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_str archive = pawl__str_make((const char *)data, size);
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_arena arena;
    struct pawl_zip zip;
    size_t total = 0;
    int status;

    pawl__arena_init(&arena, &alloc, ARENA_MAX);
    status = pawl__zip_read(archive, &arena, &zip, &err);
    if (status != PAWL_OK) {
        FUZZ_DEMAND(err.code == status && err.msg[0] != '\0');
    } else {
        FUZZ_DEMAND(zip.count <= PAWL_ZIP_FILES_MAX);
        for (size_t i = 0; i < zip.count; i++) {
            FUZZ_DEMAND(zip.files[i].name.len > 0 && zip.files[i].name.ptr[0] != '/');
            total += zip.files[i].content.len;
        }
        FUZZ_DEMAND(total <= PAWL_ZIP_BYTES_MAX);
        write_and_read(&alloc, &zip);
    }
    pawl__arena_release(&arena);
    return 0;
}
