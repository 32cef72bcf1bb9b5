/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets share: their entry, an allocator over malloc, and a check that aborts. */
#ifndef PAWL_TESTS_FUZZ_FUZZ_H
#define PAWL_TESTS_FUZZ_FUZZ_H

#include <pawl/ext/env.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Called by libFuzzer, or by replay.c with each saved input. Answers 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void *fuzz_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

static inline struct pawl_allocator fuzz_allocator(void)
{
    return (struct pawl_allocator){.resize = fuzz_resize};
}

static inline void fuzz_demand(int holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    (void)fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

#define FUZZ_DEMAND(condition) fuzz_demand((condition), #condition, __FILE__, __LINE__)

#endif
