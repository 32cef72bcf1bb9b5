/* SPDX-License-Identifier: Apache-2.0 */
/* Filters that change texts: letters, ends, and what is in the middle. */
#include "expressions/liquid/filters.h"

static int append(struct liquid_run *run, struct pawl_str first, struct pawl_str second,
                  struct liquid_value *io)
{
    struct pawl_buf buf;

    pawl__liquid_text_begin(run, &buf);
    pawl__buf_str(&buf, first);
    pawl__buf_str(&buf, second);
    return pawl__liquid_text_end(run, &buf, io);
}

static int texts(struct liquid_run *run, const struct liquid_value *io,
                 const struct liquid_args *args, struct pawl_str *text, struct pawl_str *argument)
{
    struct liquid_value first = pawl__liquid_arg(args, 0);
    int status = pawl__liquid_to_text(run, io, text);

    return status == PAWL_OK ? pawl__liquid_to_text(run, &first, argument) : status;
}

static int filter_append(struct liquid_run *run, struct liquid_value *io,
                         const struct liquid_args *args)
{
    struct pawl_str text;
    struct pawl_str argument;
    int status = texts(run, io, args, &text, &argument);

    return status == PAWL_OK ? append(run, text, argument, io) : status;
}

static int filter_prepend(struct liquid_run *run, struct liquid_value *io,
                          const struct liquid_args *args)
{
    struct pawl_str text;
    struct pawl_str argument;
    int status = texts(run, io, args, &text, &argument);

    return status == PAWL_OK ? append(run, argument, text, io) : status;
}

/* ---- letters ----------------------------------------------------------------------------- */

static void change_case(struct pawl_str text, uint32_t (*change)(uint32_t c), struct pawl_buf *out)
{
    for (size_t at = 0; at < text.len;)
        pawl__liquid_text_append_char(out, change(pawl__utf8_next(text, &at)));
}

static void upcase(struct pawl_str text, struct pawl_buf *out)
{
    change_case(text, pawl__liquid_char_upper, out);
}

static void downcase(struct pawl_str text, struct pawl_buf *out)
{
    change_case(text, pawl__liquid_char_lower, out);
}

/* The first letter, and each behind white space, a dash or a point. */
static void capitalize(struct pawl_str text, struct pawl_buf *out)
{
    uint32_t before = ' ';

    for (size_t at = 0; at < text.len;) {
        uint32_t c = pawl__utf8_next(text, &at);
        bool begins = pawl__liquid_char_is_space(before) || before == '-' || before == '.';

        pawl__liquid_text_append_char(out, begins ? pawl__liquid_char_upper(c) : c);
        before = c;
    }
}

/* ---- ends and lines ---------------------------------------------------------------------- */

static int strip(struct liquid_run *run, struct liquid_value *io, bool start, bool end)
{
    struct pawl_str text;
    int status = pawl__liquid_to_text(run, io, &text);

    if (status != PAWL_OK)
        return status;
    if (start)
        text = pawl__liquid_text_trim_start(text);
    if (end)
        text = pawl__liquid_text_trim_end(text);
    *io = pawl__liquid_string(text);
    return PAWL_OK;
}

static int filter_strip(struct liquid_run *run, struct liquid_value *io,
                        const struct liquid_args *args)
{
    (void)args;
    return strip(run, io, true, true);
}

static int filter_lstrip(struct liquid_run *run, struct liquid_value *io,
                         const struct liquid_args *args)
{
    (void)args;
    return strip(run, io, true, false);
}

static int filter_rstrip(struct liquid_run *run, struct liquid_value *io,
                         const struct liquid_args *args)
{
    (void)args;
    return strip(run, io, false, true);
}

static void strip_newlines(struct pawl_str text, struct pawl_buf *out)
{
    for (size_t at = 0; at < text.len; at++) {
        if (text.ptr[at] != '\r' && text.ptr[at] != '\n')
            pawl__buf_byte(out, text.ptr[at]);
    }
}

static void newline_to_br(struct pawl_str text, struct pawl_buf *out)
{
    for (size_t at = 0; at < text.len; at++) {
        if (text.ptr[at] == '\r' && at + 1 < text.len && text.ptr[at + 1] == '\n')
            continue;
        if (text.ptr[at] == '\n')
            pawl__buf_text(out, "<br />");
        else
            pawl__buf_byte(out, text.ptr[at]);
    }
}

/* ---- replacing --------------------------------------------------------------------------- */

enum which {
    ALL,
    FIRST,
    LAST,
};

static int replace_one(struct liquid_run *run, struct pawl_str text, struct pawl_str what,
                       struct pawl_str with, size_t at, struct liquid_value *io)
{
    struct pawl_buf buf;

    pawl__liquid_text_begin(run, &buf);
    pawl__buf_str(&buf, pawl__str_slice(text, 0, at));
    pawl__buf_str(&buf, with);
    pawl__buf_str(&buf, pawl__str_slice(text, at + what.len, text.len));
    return pawl__liquid_text_end(run, &buf, io);
}

static int replace_all(struct liquid_run *run, struct pawl_str text, struct pawl_str what,
                       struct pawl_str with, struct liquid_value *io)
{
    struct pawl_buf buf;
    size_t from = 0;
    size_t at;

    pawl__liquid_text_begin(run, &buf);
    while (buf.status == PAWL_OK && (at = pawl__liquid_text_find(text, what, from)) != SIZE_MAX) {
        pawl__buf_str(&buf, pawl__str_slice(text, from, at));
        pawl__buf_str(&buf, with);
        from = at + what.len;
    }
    pawl__buf_str(&buf, pawl__str_slice(text, from, text.len));
    return pawl__liquid_text_end(run, &buf, io);
}

static int replace(struct liquid_run *run, struct liquid_value *io, const struct liquid_args *args,
                   enum which which, bool remove)
{
    struct liquid_value second = remove ? pawl__liquid_nil() : pawl__liquid_arg(args, 1);
    struct pawl_str text;
    struct pawl_str what;
    struct pawl_str with;
    size_t at;
    int status = texts(run, io, args, &text, &what);

    if (status == PAWL_OK)
        status = pawl__liquid_to_text(run, &second, &with);
    if (status != PAWL_OK)
        return status;
    if (which == ALL && what.len > 0)
        return replace_all(run, text, what, with, io);
    if (which == ALL && !remove)
        return pawl__liquid_raise(run, "ArgumentException",
                                  "The value cannot be an empty string. (Parameter 'oldValue')");
    if (which == ALL) {
        *io = pawl__liquid_string(text);
        return PAWL_OK;
    }
    at = pawl__liquid_text_find(text, what, 0);
    if (which == LAST)
        status = pawl__liquid_text_find_last(run, text, what, &at);
    if (status != PAWL_OK)
        return status;
    return at == SIZE_MAX ? PAWL_OK : replace_one(run, text, what, with, at, io);
}

static int filter_replace(struct liquid_run *run, struct liquid_value *io,
                          const struct liquid_args *args)
{
    return replace(run, io, args, ALL, false);
}

static int filter_replace_first(struct liquid_run *run, struct liquid_value *io,
                                const struct liquid_args *args)
{
    return replace(run, io, args, FIRST, false);
}

static int filter_replace_last(struct liquid_run *run, struct liquid_value *io,
                               const struct liquid_args *args)
{
    return replace(run, io, args, LAST, false);
}

static int filter_remove(struct liquid_run *run, struct liquid_value *io,
                         const struct liquid_args *args)
{
    return replace(run, io, args, ALL, true);
}

static int filter_remove_first(struct liquid_run *run, struct liquid_value *io,
                               const struct liquid_args *args)
{
    return replace(run, io, args, FIRST, true);
}

static int filter_remove_last(struct liquid_run *run, struct liquid_value *io,
                              const struct liquid_args *args)
{
    return replace(run, io, args, LAST, true);
}

static const struct liquid_filter filters[] = {
    {"append", .apply = filter_append},
    {"capitalize", .rewrite = capitalize},
    {"downcase", .rewrite = downcase},
    {"lstrip", .apply = filter_lstrip},
    {"newline_to_br", .rewrite = newline_to_br},
    {"prepend", .apply = filter_prepend},
    {"remove", .apply = filter_remove},
    {"remove_first", .apply = filter_remove_first},
    {"remove_last", .apply = filter_remove_last},
    {"replace", .apply = filter_replace},
    {"replace_first", .apply = filter_replace_first},
    {"replace_last", .apply = filter_replace_last},
    {"rstrip", .apply = filter_rstrip},
    {"strip", .apply = filter_strip},
    {"strip_newlines", .rewrite = strip_newlines},
    {"upcase", .rewrite = upcase},
};

const struct liquid_filters pawl__liquid_string_filters = {filters,
                                                           sizeof filters / sizeof *filters};
