/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Route templates and the paths of requests: templates, one per line, then an empty line and a raw
 * path. The table must find what each template by itself matches, in the order of specificity, and
 * be empty when all are removed.
 */
#include "base/route/table.h"
#include "fuzz/fuzz.h"

struct found {
    const struct pawl_route_path *path;
    struct pawl_str last;
    size_t count;
};

static bool check(struct pawl_str text, void *ctx)
{
    struct found *found = ctx;
    struct pawl_route_template template, before;
    struct pawl_route_values values;

    FUZZ_DEMAND(pawl__route_template_parse(text, &template, NULL) == PAWL_OK);
    FUZZ_DEMAND(pawl__route_template_match(&template, found->path, &values));
    FUZZ_DEMAND(values.count <= template.parameter_count);
    if (found->count++ > 0) {
        FUZZ_DEMAND(pawl__route_template_parse(found->last, &before, NULL) == PAWL_OK);
        FUZZ_DEMAND(pawl__route_template_compare(&before, &template) <= 0);
    }
    found->last = text;
    return false;
}

struct alone {
    const struct pawl_route_path *path;
    size_t count;
};

static bool match_alone(struct pawl_str text, void *ctx)
{
    struct alone *alone = ctx;
    struct pawl_route_template template;

    FUZZ_DEMAND(pawl__route_template_parse(text, &template, NULL) == PAWL_OK);
    alone->count += pawl__route_template_match(&template, alone->path, NULL);
    return false;
}

static bool take_first(struct pawl_str text, void *ctx)
{
    *(struct pawl_str *)ctx = text;
    return true;
}

/* Behind the empty line. */
static struct pawl_str add_lines(struct pawl_route_table *table, struct pawl_str text)
{
    for (size_t at = 0; at < text.len;) {
        size_t end = pawl__str_find(text, '\n', at);
        struct pawl_str line = pawl__str_slice(text, at, end);

        at += line.len + 1;
        if (line.len == 0)
            return pawl__str_slice(text, at, text.len);
        (void)!pawl__route_table_add(table, line, NULL, NULL);
    }
    return pawl__str("");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_str text = pawl__str_make((const char *)data, size), raw, first;
    struct pawl_route_table *table;
    struct pawl_route_path path;
    struct pawl_arena arena;

    if (pawl__route_table_new(&alloc, (struct pawl_hash_seed){1, 2}, &table) != PAWL_OK)
        return 0;
    pawl__arena_init(&arena, &alloc, 1 << 20);
    raw = add_lines(table, text);
    if (pawl__route_path_read(raw, &arena, &path) == PAWL_ROUTE_PATH_OK) {
        struct found found = {.path = &path};
        struct alone alone = {.path = &path};

        FUZZ_DEMAND(!pawl__route_table_match(table, &path, check, &found));
        pawl__route_table_each(table, match_alone, &alone);
        FUZZ_DEMAND(found.count == alone.count);
    }
    while (pawl__route_table_count(table) > 0) {
        pawl__route_table_each(table, take_first, &first);
        FUZZ_DEMAND(pawl__route_table_remove(table, first));
    }
    pawl__arena_release(&arena);
    pawl__route_table_free(table);
    return 0;
}
