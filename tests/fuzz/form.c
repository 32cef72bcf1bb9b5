/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms: as a query, and as parts with the first line as Content-Type. Names are UTF-8, contents
 * are parts of the input in order, and a form that is written again from its parts reads the same.
 */
#include "fuzz/fuzz.h"
#include "http/multipart.h"
#include "http/query.h"

#include "base/buf.h"

#include <string.h>

#define ARENA_MAX ((size_t)8 << 20)

static void check_query(struct pawl_str text, struct pawl_arena *arena)
{
    struct pawl_query query;

    if (pawl__query_parse(text, arena, &query) != PAWL_OK)
        return;
    FUZZ_DEMAND(query.count <= PAWL_QUERY_FIELDS_MAX);
    for (size_t i = 0; i < query.count; i++) {
        FUZZ_DEMAND(pawl__utf8_valid(query.fields[i].name));
        FUZZ_DEMAND(pawl__utf8_valid(query.fields[i].value));
        FUZZ_DEMAND(query.fields[i].name.len + query.fields[i].value.len <= text.len);
    }
}

static void check_part(const struct pawl_part *part, struct pawl_str body, const char **behind)
{
    FUZZ_DEMAND(part->name.ptr && pawl__utf8_valid(part->name));
    FUZZ_DEMAND(!memchr(part->name.ptr, '\n', part->name.len));
    FUZZ_DEMAND(!part->file_name.ptr || !memchr(part->file_name.ptr, '/', part->file_name.len));
    if (part->content.len == 0)
        return;
    FUZZ_DEMAND(part->content.ptr >= *behind);
    FUZZ_DEMAND(part->content.ptr + part->content.len <= body.ptr + body.len);
    *behind = part->content.ptr + part->content.len;
}

/* With all contents under a name without surprises. Returns how many there are. */
static size_t read_parts(struct pawl_str type, struct pawl_str body, struct pawl_arena *arena,
                         struct pawl_buf *again, int *status)
{
    struct pawl_multipart form;
    struct pawl_part part;
    const char *behind = body.ptr;
    size_t count = 0;

    *status = pawl__multipart_open(type, body, &form);
    if (*status != PAWL_OK)
        return 0;
    while ((*status = pawl__multipart_next(&form, arena, &part)) == PAWL_OK) {
        check_part(&part, body, &behind);
        pawl__buf_printf(again, "--%.*s\r\nContent-Disposition: form-data; name=n\r\n\r\n",
                         PAWL_STR_ARG(form.boundary));
        pawl__buf_str(again, part.content);
        pawl__buf_text(again, "\r\n");
        count++;
    }
    pawl__buf_printf(again, "--%.*s--", PAWL_STR_ARG(form.boundary));
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_allocator alloc = fuzz_allocator();
    struct pawl_str all = pawl__str_make((const char *)data, size);
    size_t line = pawl__str_find(all, '\n', 0), count;
    struct pawl_str type = pawl__str_slice(all, 0, line);
    struct pawl_str body = line == SIZE_MAX ? pawl__str("") : pawl__str_slice(all, line + 1, size);
    struct pawl_buf again, same;
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &alloc, ARENA_MAX);
    pawl__buf_init(&again, &alloc, ARENA_MAX);
    pawl__buf_init(&same, &alloc, ARENA_MAX);
    check_query(all, &arena);
    count = read_parts(type, body, &arena, &again, &status);
    if (status == PAWL_ENOTFOUND) {
        FUZZ_DEMAND(read_parts(type, pawl__buf_peek(&again), &arena, &same, &status) == count);
        FUZZ_DEMAND(status == PAWL_ENOTFOUND);
        FUZZ_DEMAND(pawl__str_equal(pawl__buf_peek(&again), pawl__buf_peek(&same)));
    }
    pawl__buf_release(&again);
    pawl__buf_release(&same);
    pawl__arena_release(&arena);
    return 0;
}
