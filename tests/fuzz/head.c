/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of requests: the server's parser and a second one agree, however the bytes are cut. */
#include "fuzz/fuzz.h"
#include "lib/second_head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t steps[] = {1, 3, 65536};
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_str bytes = pawl__str_make((const char *)data, size);
    bool taken, before = false;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const char *problem = compare_heads(bytes, steps[i], &alloc, &taken);

        if (problem)
            (void)fprintf(stderr, "%s\n", problem);
        FUZZ_DEMAND(!problem);
        FUZZ_DEMAND(i == 0 || taken == before);
        before = taken;
    }
    return 0;
}
