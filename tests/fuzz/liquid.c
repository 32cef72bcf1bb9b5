/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Liquid templates: whatever the text, rendering ends, within its limits, with text in UTF-8 or
 * with an exception that says so in UTF-8; and what does not parse is refused by the check too.
 */
#include "expressions/liquid/liquid.h"

#include "fuzz/fuzz.h"

static const char values[] =
    "{\"N\":7,\"R\":-1.5,\"S\":\"Hello W\\u00f6rld\",\"T\":true,\"A\":[3,1,2,\"b\",null],"
    "\"O\":{\"a\":1,\"b\":{\"c\":[1,2]}},\"L\":[{\"a\":2,\"b\":\"q\"},{\"a\":1,\"b\":\"p\"}]}";

static bool find(void *ctx, struct pawl_str name, struct pawl_value *out)
{
    const struct pawl_json *found = pawl__json_get(ctx, name);

    if (!found)
        return false;
    *out = pawl__value_from_json(*found);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_str text = pawl__str_make((const char *)data, size);
    struct pawl_exception raised = {.message = {"", 0}};
    struct pawl_json json;
    struct pawl_liquid_scope scope = {.variable = find, .input = find, .ctx = &json};
    struct pawl_arena arena;
    struct pawl_buf out;
    int checked;
    int status;

    /* Expressions of a definition are valid UTF-8: they come from JSON. */
    if (!pawl__utf8_valid(text))
        return 0;
    pawl__arena_init(&arena, &alloc, LIQUID_ARENA_BYTES_MAX);
    pawl__buf_init(&out, &alloc, LIQUID_OUTPUT_BYTES_MAX);
    FUZZ_DEMAND(pawl__json_parse(&arena, pawl__str(values), NULL, &json, NULL, NULL) == PAWL_OK);
    checked = pawl__liquid_check(&arena, text, &raised);
    FUZZ_DEMAND(checked == PAWL_OK || checked == ENGINE_RAISED);
    status = pawl__liquid_render(&arena, text, &scope, &out, &raised);
    FUZZ_DEMAND(status == PAWL_OK || status == ENGINE_RAISED);
    FUZZ_DEMAND(checked == PAWL_OK || status == ENGINE_RAISED);
    if (status == ENGINE_RAISED)
        FUZZ_DEMAND(raised.message.len > 0 && pawl__utf8_valid(raised.message));
    else
        FUZZ_DEMAND(pawl__utf8_valid(pawl__buf_peek(&out)));
    pawl__buf_release(&out);
    pawl__arena_release(&arena);
    return 0;
}
