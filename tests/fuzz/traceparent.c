/* SPDX-License-Identifier: Apache-2.0 */
/* A traceparent that is read is written as one of version 0 that is read as the same. */
#include "base/trace_context.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_trace_context context, again;
    char text[PAWL_TRACEPARENT_SIZE];

    if (!pawl__traceparent_read(pawl__str_make((const char *)data, size), &context)) {
        FUZZ_DEMAND(!pawl__trace_is_set(&context));
        return 0;
    }
    FUZZ_DEMAND(pawl__trace_is_set(&context));
    pawl__traceparent_write(&context, text);
    FUZZ_DEMAND(pawl__traceparent_read(pawl__str(text), &again));
    FUZZ_DEMAND(memcmp(&context, &again, sizeof context) == 0);
    return 0;
}
