/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: whatever parses must come back equal, with every number byte for byte, from every way of
 * writing it; whatever does not must be refused by the reader with the same words.
 */
#include "base/json/json.h"
#include "fuzz/fuzz.h"
#include "fuzz/json_agree.h"

#include <math.h>

#define BYTES_MAX ((size_t)1 << 28)

struct fuzz {
    struct pawl_allocator alloc;
    struct pawl_arena arena;
    struct pawl_buf first;
    struct pawl_buf again;
};

/* Reading a number agrees with the C library's, which is correctly rounded too. */
static void check_number(const struct pawl_json *value, struct fuzz *fuzz)
{
    double ours = 0;
    double theirs;
    bool finite;
    int64_t integer;

    pawl__buf_clear(&fuzz->again);
    pawl__json_number_text(value, &fuzz->again);
    theirs = strtod(pawl__buf_cstr(&fuzz->again), NULL);
    finite = pawl__json_to_double(value, &ours);
    FUZZ_DEMAND(finite == (bool)isfinite(theirs));
    FUZZ_DEMAND(!finite || ours == theirs);
    if (pawl__json_to_int(value, &integer)) {
        struct pawl_json same = pawl__json_int(integer);

        FUZZ_DEMAND(pawl__json_equal(&same, value));
        FUZZ_DEMAND((double)integer == ours);
    }
}

static void check_numbers(const struct pawl_json *value, struct fuzz *fuzz)
{
    if (pawl__json_is_number(value))
        check_number(value, fuzz);
    for (uint32_t i = 0; i < pawl__json_len(value); i++)
        check_numbers(pawl__json_at(value, i), fuzz);
}

/* Writes, parses what was written, and demands the same document and the same minimal text. */
static void check_round(const struct pawl_json *value, enum pawl_json_escape escape, uint8_t indent,
                        struct fuzz *fuzz)
{
    struct pawl_json_limits limits = {.bytes_max = BYTES_MAX, .depth_max = 1000};
    struct pawl_json_writer writer;
    struct pawl_json back;

    pawl__buf_clear(&fuzz->again);
    pawl__json_writer_init(&writer, &fuzz->again, escape, indent);
    pawl__json_write_value(&writer, value);
    FUZZ_DEMAND(fuzz->again.status == PAWL_OK);
    FUZZ_DEMAND(pawl__json_parse(&fuzz->arena, pawl__buf_peek(&fuzz->again), &limits, &back, NULL,
                                 NULL) == PAWL_OK);
    FUZZ_DEMAND(pawl__json_equal(value, &back));
    pawl__buf_clear(&fuzz->again);
    pawl__json_write(&fuzz->again, &back, PAWL_JSON_ESCAPE_MINIMAL);
    FUZZ_DEMAND(pawl__str_equal(pawl__buf_peek(&fuzz->first), pawl__buf_peek(&fuzz->again)));
}

static void check_accepted(struct pawl_str text, const struct pawl_json *value, struct fuzz *fuzz)
{
    struct pawl_json_reader reader;
    struct pawl_json copy;
    struct pawl_json_place place;

    pawl__json_write(&fuzz->first, value, PAWL_JSON_ESCAPE_MINIMAL);
    FUZZ_DEMAND(fuzz->first.status == PAWL_OK);
    check_round(value, PAWL_JSON_ESCAPE_MINIMAL, 0, fuzz);
    check_round(value, PAWL_JSON_ESCAPE_MINIMAL, 3, fuzz);
    check_round(value, PAWL_JSON_ESCAPE_HTML, 0, fuzz);
    check_round(value, PAWL_JSON_ESCAPE_ASCII, 2, fuzz);
    check_numbers(value, fuzz);
    FUZZ_DEMAND(pawl__json_copy(&fuzz->arena, value, &copy) == PAWL_OK);
    FUZZ_DEMAND(pawl__json_equal(value, &copy));
    pawl__json_reader_init(&reader, &fuzz->arena, text, NULL);
    FUZZ_DEMAND(json_reader_agrees(&reader, value));
    FUZZ_DEMAND(json_reader_drain(&reader, NULL) == PAWL_OK);
    pawl__json_reader_init(&reader, &fuzz->arena, text, NULL);
    FUZZ_DEMAND(pawl__json_reader_skip(&reader, NULL) == PAWL_OK);
    FUZZ_DEMAND(json_reader_drain(&reader, NULL) == PAWL_OK);
    FUZZ_DEMAND(pawl__json_locate(text, pawl__str(""), &place) == PAWL_OK);
}

static void check_refused(struct pawl_str text, int status, const struct pawl_json_place *place,
                          const struct pawl_error *err, struct fuzz *fuzz)
{
    struct pawl_json_reader reader;
    struct pawl_error again = PAWL_ERROR_INIT;
    struct pawl_json_place ignored;

    FUZZ_DEMAND(status == PAWL_EPARSE || status == PAWL_ELIMIT);
    FUZZ_DEMAND(err->code == status);
    FUZZ_DEMAND(place->offset <= text.len && place->line >= 1 && place->column >= 1);
    FUZZ_DEMAND(pawl__utf8_valid(pawl__str(err->msg)));
    pawl__json_reader_init(&reader, &fuzz->arena, text, NULL);
    FUZZ_DEMAND(json_reader_drain(&reader, &again) == status);
    FUZZ_DEMAND(pawl__str_is(pawl__str(again.msg), err->msg));
    /* Asked about a text that does not parse it may answer anything, but within the text. */
    (void)!pawl__json_locate(text, pawl__str("/a/0"), &ignored);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz fuzz = {.alloc = fuzz_allocator()};
    struct pawl_str text = pawl__str_make((const char *)data, size);
    struct pawl_json value;
    struct pawl_json_place place;
    struct pawl_error err = PAWL_ERROR_INIT;
    int status;

    pawl__arena_init(&fuzz.arena, &fuzz.alloc, BYTES_MAX);
    pawl__buf_init(&fuzz.first, &fuzz.alloc, BYTES_MAX);
    pawl__buf_init(&fuzz.again, &fuzz.alloc, BYTES_MAX);
    status = pawl__json_parse(&fuzz.arena, text, NULL, &value, &place, &err);
    if (status == PAWL_OK)
        check_accepted(text, &value, &fuzz);
    else
        check_refused(text, status, &place, &err, &fuzz);
    pawl__buf_release(&fuzz.again);
    pawl__buf_release(&fuzz.first);
    pawl__arena_release(&fuzz.arena);
    return 0;
}
