/* SPDX-License-Identifier: Apache-2.0 */
/* Filters that cut: slice, split, truncate, truncatewords. */
#include "expressions/liquid/filters.h"

/* ---- slice ------------------------------------------------------------------------------- */

/* From `start` (negative: from the end) so many of `count`; false: nothing. */
static bool find_part(int32_t start, int32_t length, size_t count, size_t *from, size_t *to)
{
    int64_t first = start < 0 ? (int64_t)count + start : start;
    int64_t last = first + length;

    if (length <= 0 || first < 0 || first >= (int64_t)count)
        return false;
    *from = (size_t)first;
    *to = last < (int64_t)count ? (size_t)last : count;
    return true;
}

static int slice_array(struct liquid_run *run, struct liquid_value *io, int32_t start,
                       int32_t length)
{
    struct liquid_value out = {.kind = LIQUID_ARRAY};
    struct liquid_value *items;
    size_t from = 0;
    size_t to = 0;
    int status = PAWL_OK;

    if (!find_part(start, length, pawl__liquid_count(io), &from, &to))
        from = to = 0;
    items = pawl__liquid_values_new(run, to - from);
    if (!items)
        return pawl__liquid_refused(run);
    for (size_t i = from; i < to && status == PAWL_OK; i++)
        status = pawl__liquid_item(run, io, (uint32_t)i, &items[i - from]);
    out.u.array.items = items;
    out.u.array.count = (uint32_t)(to - from);
    if (status == PAWL_OK)
        *io = out;
    return status;
}

static bool is_integer(const struct liquid_value *value)
{
    int64_t ignored;

    if (value->kind == LIQUID_NUMBER)
        return value->u.number.scale == 0;
    return value->kind == LIQUID_STRING &&
           pawl__number_parse_int(value->u.text, &ignored) == PAWL_OK;
}

static int filter_slice(struct liquid_run *run, struct liquid_value *io,
                        const struct liquid_args *args)
{
    struct liquid_value first = pawl__liquid_arg(args, 0);
    struct liquid_value second = args->count > 1 ? args->values[1] : pawl__liquid_int(1);
    struct pawl_str text;
    int32_t start = 0;
    int32_t length = 0;
    size_t from = 0;
    size_t to = 0;
    int status;

    if (!is_integer(&first))
        return pawl__liquid_raise(run, "ArgumentException",
                                  "Slice: offset argument is an invalid number");
    if (!is_integer(&second))
        return pawl__liquid_raise(run, "ArgumentException",
                                  "Slice: length argument is not a number");
    status = pawl__liquid_to_int(run, &first, &start);
    if (status == PAWL_OK)
        status = pawl__liquid_to_int(run, &second, &length);
    if (status == PAWL_OK && pawl__liquid_is_array(io))
        return slice_array(run, io, start, length);
    if (status == PAWL_OK)
        status = pawl__liquid_to_text(run, io, &text);
    if (status != PAWL_OK)
        return status;
    if (!find_part(start, length, pawl__liquid_text_length(text), &from, &to))
        from = to = 0;
    *io = pawl__liquid_string(pawl__str_slice(text, pawl__liquid_text_offset(text, from),
                                              pawl__liquid_text_offset(text, to)));
    return PAWL_OK;
}

/* ---- split ------------------------------------------------------------------------------- */

/* The next part from *at on; empty ones are passed over. Without a separator: a character. */
static bool next_part(struct pawl_str text, struct pawl_str separator, size_t *at,
                      struct pawl_str *part)
{
    while (*at < text.len) {
        size_t start = *at;
        size_t end;

        if (separator.len == 0) {
            (void)pawl__utf8_next(text, at);
            *part = pawl__str_slice(text, start, *at);
            return true;
        }
        end = pawl__liquid_text_find(text, separator, start);
        *at = end == SIZE_MAX ? text.len : end + separator.len;
        *part = pawl__str_slice(text, start, end);
        if (part->len > 0)
            return true;
    }
    return false;
}

static int filter_split(struct liquid_run *run, struct liquid_value *io,
                        const struct liquid_args *args)
{
    struct liquid_value first = pawl__liquid_arg(args, 0);
    struct liquid_value *items;
    struct pawl_str text;
    struct pawl_str separator;
    struct pawl_str part;
    uint32_t count = 0;
    int status = pawl__liquid_to_text(run, io, &text);

    if (status == PAWL_OK)
        status = pawl__liquid_to_text(run, &first, &separator);
    if (status != PAWL_OK)
        return status;
    for (size_t at = 0; next_part(text, separator, &at, &part);)
        count++;
    items = pawl__liquid_values_new(run, count);
    if (!items)
        return pawl__liquid_refused(run);
    count = 0;
    for (size_t at = 0; next_part(text, separator, &at, &part);)
        items[count++] = pawl__liquid_string(part);
    *io = (struct liquid_value){.kind = LIQUID_ARRAY, .u.array = {.items = items, .count = count}};
    return PAWL_OK;
}

/* ---- truncate ---------------------------------------------------------------------------- */

static int read_limits(struct liquid_run *run, const struct liquid_args *args, int32_t otherwise,
                       int32_t *length, struct pawl_str *ellipsis)
{
    struct liquid_value first = pawl__liquid_arg(args, 0);
    struct liquid_value second = pawl__liquid_arg(args, 1);
    int status = PAWL_OK;

    *length = otherwise;
    *ellipsis = pawl__str("...");
    if (!pawl__liquid_is_nil(&first))
        status = pawl__liquid_to_int(run, &first, length);
    if (status == PAWL_OK && args->count > 1 && second.kind != LIQUID_NIL)
        status = pawl__liquid_to_text(run, &second, ellipsis);
    return status;
}

static int filter_truncate(struct liquid_run *run, struct liquid_value *io,
                           const struct liquid_args *args)
{
    struct pawl_str text;
    struct pawl_str ellipsis;
    struct pawl_buf buf;
    size_t more;
    int32_t length = 0;
    int status = pawl__liquid_to_text(run, io, &text);

    if (status == PAWL_OK)
        status = read_limits(run, args, 50, &length, &ellipsis);
    if (status != PAWL_OK)
        return status;
    if (length < 0)
        length = 0;
    if (pawl__liquid_text_length(text) <= (size_t)length) {
        if (pawl__liquid_is_nil(io))
            *io = pawl__liquid_string(text);
        return PAWL_OK;
    }
    more = pawl__liquid_text_length(ellipsis);
    pawl__liquid_text_begin(run, &buf);
    if ((size_t)length > more)
        pawl__buf_str(
            &buf, pawl__str_slice(text, 0, pawl__liquid_text_offset(text, (size_t)length - more)));
    pawl__buf_str(&buf, ellipsis);
    return pawl__liquid_text_end(run, &buf, io);
}

static struct pawl_str next_word(struct pawl_str text, size_t *at)
{
    struct pawl_str rest = pawl__liquid_text_trim_start(pawl__str_slice(text, *at, text.len));
    size_t end = 0;

    for (size_t next = 0; next < rest.len; end = next) {
        if (pawl__liquid_char_is_space(pawl__utf8_next(rest, &next)))
            break;
    }
    *at = text.len - rest.len + end;
    return pawl__str_slice(rest, 0, end);
}

/* The first words, one blank between them, and the ellipsis when there are as many as asked for. */
static int filter_truncatewords(struct liquid_run *run, struct liquid_value *io,
                                const struct liquid_args *args)
{
    struct pawl_str text;
    struct pawl_str ellipsis;
    struct pawl_buf buf;
    int32_t words = 0;
    int32_t count = 0;
    size_t at = 0;
    int status = pawl__liquid_to_text(run, io, &text);

    if (status == PAWL_OK)
        status = read_limits(run, args, 15, &words, &ellipsis);
    if (status != PAWL_OK)
        return status;
    if (words <= 0)
        words = 1;
    pawl__liquid_text_begin(run, &buf);
    for (; count < words; count++) {
        struct pawl_str word = next_word(text, &at);

        if (word.len == 0)
            break;
        if (count > 0)
            pawl__buf_byte(&buf, ' ');
        pawl__buf_str(&buf, word);
    }
    if (count >= words)
        pawl__buf_str(&buf, ellipsis);
    return pawl__liquid_text_end(run, &buf, io);
}

static const struct liquid_filter filters[] = {
    {"slice", .apply = filter_slice},
    {"split", .apply = filter_split},
    {"truncate", .apply = filter_truncate},
    {"truncatewords", .apply = filter_truncatewords},
};

const struct liquid_filters pawl__liquid_cut_filters = {filters, sizeof filters / sizeof *filters};
