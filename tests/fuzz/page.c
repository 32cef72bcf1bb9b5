/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of the journal: whatever the text is, reading it fails or gives two arrays. */
#include "engine/state/page.h"
#include "fuzz/fuzz.h"

#define BYTES_MAX ((size_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json page, log, records;
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_arena arena;

    pawl__arena_init(&arena, &alloc, BYTES_MAX);
    if (pawl__json_parse(&arena, pawl__str_make((const char *)data, size), NULL, &page, NULL,
                         &err) == PAWL_OK) {
        int status = pawl__page_read(&arena, &page, &log, &records);

        FUZZ_DEMAND(status == PAWL_OK || status == PAWL_ECORRUPT || status == PAWL_EUNSUPPORTED ||
                    status == PAWL_ELIMIT);
        if (status == PAWL_OK)
            FUZZ_DEMAND(pawl__json_is(&log, PAWL_JSON_ARRAY) &&
                        pawl__json_is(&records, PAWL_JSON_ARRAY));
    }
    pawl__arena_release(&arena);
    return 0;
}
