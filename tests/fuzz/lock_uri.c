/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a provider's URI or connection string is refused with a message, or names a place
 * that can be put into a URL. */
#include "base/assert.h"
#include "fuzz/fuzz.h"
#include "locks/azure_private.h"
#include "locks/locator.h"

static const char *no_variables(const char *name)
{
    (void)name;
    return NULL;
}

static void check_text(const char *text)
{
    for (; *text; text++)
        PAWL_ASSERT(*text != '\n' && *text != '\r');
}

static void read_place(struct pawl_str uri, const struct pawl_allocator *alloc)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct azure_place place;
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, alloc, (size_t)1 << 20);
    status = pawl__azure_place_read(uri, no_variables, &arena, &place, &err);
    PAWL_ASSERT(status == PAWL_OK || (err.code == status && err.msg[0]));
    if (status == PAWL_OK) {
        PAWL_ASSERT(*place.container && strncmp(place.origin, "http", 4) == 0);
        PAWL_ASSERT(place.key_len > 0 || *place.sas);
        check_text(place.sas);
    }
    pawl__arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_str text = pawl__str_make((const char *)data, size);
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_locator locator;
    struct pawl_arena arena;
    struct pawl_buf uri;
    int status;

    pawl__arena_init(&arena, &alloc, (size_t)1 << 20);
    status = pawl__locator_parse(text, &arena, &locator, &err);
    PAWL_ASSERT(status == PAWL_OK || (err.code == status && err.msg[0]));
    pawl__arena_release(&arena);
    read_place(text, &alloc);
    /* The same as a connection string. */
    pawl__buf_init(&uri, &alloc, (size_t)1 << 20);
    pawl__buf_text(&uri, "azure:///locks?connection=");
    for (size_t i = 0; i < size && i < 2000; i++)
        pawl__buf_printf(&uri, "%%%02X", data[i]);
    read_place(pawl__buf_peek(&uri), &alloc);
    pawl__buf_release(&uri);
    return 0;
}
