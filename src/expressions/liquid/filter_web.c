/* SPDX-License-Identifier: Apache-2.0 */
/* Filters for HTML, addresses, links and base64. */
#include "base/base64.h"
#include "base/error.h"
#include "base/time/duration.h"
#include "expressions/liquid/filters.h"

/* ---- HTML -------------------------------------------------------------------------------- */

static void escape_char(struct pawl_buf *out, uint32_t c)
{
    switch (c) {
    case '<':
        pawl__buf_text(out, "&lt;");
        return;
    case '>':
        pawl__buf_text(out, "&gt;");
        return;
    case '&':
        pawl__buf_text(out, "&amp;");
        return;
    case '"':
        pawl__buf_text(out, "&quot;");
        return;
    case '\'':
        pawl__buf_text(out, "&#39;");
        return;
    default:
        break;
    }
    /* The upper half of Latin-1, and what takes two units of UTF-16, as a number. */
    if ((c >= 0xa0 && c <= 0xff) || c > 0xffff)
        pawl__buf_printf(out, "&#%u;", (unsigned)c);
    else
        pawl__liquid_text_append_char(out, c);
}

/* Reads an entity at text[*at], which is '&'. false: it is not an entity. */
static bool read_entity(struct pawl_str text, size_t *at, uint32_t *out)
{
    static const struct {
        const char *name;
        uint32_t c;
    } names[] = {{"lt", '<'},   {"gt", '>'},    {"amp", '&'},
                 {"quot", '"'}, {"apos", '\''}, {"nbsp", 0xa0}};
    size_t end = pawl__str_find(pawl__str_slice(text, 0, *at + 12), ';', *at);
    struct pawl_str name;
    int64_t number = 0;
    bool is_hex;

    if (end == SIZE_MAX)
        return false;
    name = pawl__str_slice(text, *at + 1, end);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (pawl__str_is(name, names[i].name)) {
            *out = names[i].c;
            *at = end + 1;
            return true;
        }
    }
    if (name.len < 2 || name.ptr[0] != '#')
        return false;
    is_hex = name.ptr[1] == 'x' || name.ptr[1] == 'X';
    name = pawl__str_slice(name, is_hex ? 2 : 1, name.len);
    if (is_hex ? !pawl__number_parse_hex(name, 32, &number)
               : pawl__number_parse_int(name, &number) != PAWL_OK)
        return false;
    if (number <= 0 || number > 0x10ffff || (number >= 0xd800 && number <= 0xdfff))
        return false;
    *out = (uint32_t)number;
    *at = end + 1;
    return true;
}

static void escape_all(struct pawl_str text, bool once, struct pawl_buf *out)
{
    for (size_t at = 0; at < text.len;) {
        uint32_t c;

        if (!once || text.ptr[at] != '&' || !read_entity(text, &at, &c))
            c = pawl__utf8_next(text, &at);
        escape_char(out, c);
    }
}

static void escape(struct pawl_str text, struct pawl_buf *out)
{
    escape_all(text, false, out);
}

static void escape_once(struct pawl_str text, struct pawl_buf *out)
{
    escape_all(text, true, out);
}

/* Everything from < to >. */
static void strip_html(struct pawl_str text, struct pawl_buf *out)
{
    bool inside = false;

    for (size_t at = 0; at < text.len; at++) {
        if (text.ptr[at] == '<' || text.ptr[at] == '>')
            inside = text.ptr[at] == '<';
        else if (!inside)
            pawl__buf_byte(out, text.ptr[at]);
    }
}

/* ---- addresses --------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void url_encode(struct pawl_str text, struct pawl_buf *out)
{
    for (size_t at = 0; at < text.len; at++) {
        char c = text.ptr[at];

        if (c == ' ')
            pawl__buf_byte(out, '+');
        else if (is_letter(c) || is_digit(c) || (c && strchr("-_.!*()", c)))
            pawl__buf_byte(out, c);
        else
            pawl__buf_printf(out, "%%%02X", (unsigned char)c);
    }
}

/* Bytes that are no UTF-8 become U+FFFD. */
static int finish_bytes(struct liquid_run *run, struct pawl_buf *bytes, struct liquid_value *io)
{
    struct pawl_str text = pawl__buf_peek(bytes);
    struct pawl_buf buf;
    int status;

    if (bytes->status != PAWL_OK || pawl__utf8_valid(text))
        return pawl__liquid_text_end(run, bytes, io);
    pawl__liquid_text_begin(run, &buf);
    for (size_t at = 0; at < text.len;)
        pawl__liquid_text_append_char(&buf, pawl__utf8_next(text, &at));
    status = pawl__liquid_text_end(run, &buf, io);
    pawl__buf_release(bytes);
    return status;
}

static int filter_url_decode(struct liquid_run *run, struct liquid_value *io,
                             const struct liquid_args *args)
{
    struct pawl_str text;
    struct pawl_buf buf;
    int status = pawl__liquid_to_text(run, io, &text);

    (void)args;
    if (status != PAWL_OK)
        return status;
    pawl__liquid_text_begin(run, &buf);
    for (size_t at = 0; at < text.len; at++) {
        int64_t byte;

        if (text.ptr[at] == '+') {
            pawl__buf_byte(&buf, ' ');
        } else if (text.ptr[at] == '%' && at + 2 < text.len &&
                   pawl__number_parse_hex(pawl__str_slice(text, at + 1, at + 3), 16, &byte)) {
            pawl__buf_byte(&buf, (char)byte);
            at += 2;
        } else {
            pawl__buf_byte(&buf, text.ptr[at]);
        }
    }
    return finish_bytes(run, &buf, io);
}

/* A dash before each capital inside, and all small: camelCase is camel-case. */
static void handleize(struct pawl_str text, struct pawl_buf *out)
{
    for (size_t at = 0; at < text.len;) {
        char before = at > 0 ? text.ptr[at - 1] : ' ';
        char c = text.ptr[at];
        char after = at + 1 < text.len ? text.ptr[at + 1] : ' ';

        if (c >= 'A' && c <= 'Z' &&
            ((before >= 'a' && before <= 'z') ||
             ((is_letter(before) || is_digit(before)) && after >= 'a' && after <= 'z')))
            pawl__buf_byte(out, '-');
        pawl__liquid_text_append_char(out, pawl__liquid_char_lower(pawl__utf8_next(text, &at)));
    }
}

/* ---- base64 ------------------------------------------------------------------------------ */

static int encode(struct liquid_run *run, struct pawl_str text, bool url_safe,
                  struct liquid_value *io)
{
    size_t len = pawl__base64_len(text.len);
    struct pawl_buf buf;
    char *to;

    pawl__liquid_text_begin(run, &buf);
    to = pawl__buf_reserve(&buf, len);
    if (to) {
        pawl__base64_encode((const unsigned char *)text.ptr, text.len, to);
        for (size_t i = 0; url_safe && i < len; i++)
            to[i] = to[i] == '+' ? '-' : to[i] == '/' ? '_' : to[i];
        buf.len += len;
    }
    return pawl__liquid_text_end(run, &buf, io);
}

static int filter_base64_encode(struct liquid_run *run, struct liquid_value *io,
                                const struct liquid_args *args)
{
    struct pawl_str text;
    int status = pawl__liquid_to_text(run, io, &text);

    (void)args;
    return status == PAWL_OK ? encode(run, text, false, io) : status;
}

static int filter_base64_url_safe_encode(struct liquid_run *run, struct liquid_value *io,
                                         const struct liquid_args *args)
{
    struct pawl_str text;
    int status = pawl__liquid_to_text(run, io, &text);

    (void)args;
    return status == PAWL_OK ? encode(run, text, true, io) : status;
}

static int decode(struct liquid_run *run, struct liquid_value *io, bool url_safe)
{
    struct pawl_str text;
    struct pawl_buf buf;
    size_t len;
    char *to;
    int status = pawl__liquid_to_text(run, io, &text);

    if (status != PAWL_OK)
        return status;
    pawl__liquid_text_begin(run, &buf);
    to = pawl__buf_reserve(&buf, text.len * 2 + 1);
    if (!to)
        return pawl__liquid_text_end(run, &buf, io);
    /* The letters are turned behind where the bytes go. */
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        to[text.len + i] = url_safe && c == '-' ? '+' : url_safe && c == '_' ? '/' : c;
    }
    len = pawl__base64_decode(pawl__str_make(to + text.len, text.len), (unsigned char *)to);
    if (len == SIZE_MAX) {
        pawl__buf_release(&buf);
        return pawl__liquid_raise(
            run, "FormatException",
            "The input is not a valid Base-64 string as it contains a non-base 64 "
            "character, more than two padding characters, or an illegal character "
            "among the padding characters.");
    }
    buf.len += len;
    return finish_bytes(run, &buf, io);
}

static int filter_base64_decode(struct liquid_run *run, struct liquid_value *io,
                                const struct liquid_args *args)
{
    (void)args;
    return decode(run, io, false);
}

static int filter_base64_url_safe_decode(struct liquid_run *run, struct liquid_value *io,
                                         const struct liquid_args *args)
{
    (void)args;
    return decode(run, io, true);
}

/* Elsa's own: JSON text of arrays, objects and dates; True and False; nil stays. */
static int filter_base64(struct liquid_run *run, struct liquid_value *io,
                         const struct liquid_args *args)
{
    struct liquid_value text = *io;
    struct pawl_buf buf;
    struct pawl_str bytes;
    int status = PAWL_OK;

    (void)args;
    if (io->kind == LIQUID_NIL)
        return PAWL_OK;
    if (pawl__liquid_is_array(io) || io->kind == LIQUID_JSON_OBJECT || io->kind == LIQUID_DATE) {
        pawl__liquid_text_begin(run, &buf);
        status = pawl__liquid_write_json(run, io, 0, &buf);
        if (status == PAWL_OK)
            status = pawl__liquid_text_end(run, &buf, &text);
        else
            pawl__buf_release(&buf);
    } else if (io->kind == LIQUID_BOOL) {
        text = pawl__liquid_string(pawl__str(io->u.boolean ? "True" : "False"));
    }
    if (status == PAWL_OK)
        status = pawl__liquid_to_text(run, &text, &bytes);
    return status == PAWL_OK ? encode(run, bytes, false, io) : status;
}

/* {{ "Event" | createEventTriggerUrl: "01:00:00" }}: what scripts have as a function. */
static int filter_event_url(struct liquid_run *run, struct liquid_value *io,
                            const struct liquid_args *args)
{
    struct liquid_value first = pawl__liquid_arg(args, 0);
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_str event, life, url;
    int64_t ticks = 0;
    int status = pawl__liquid_to_text(run, io, &event);

    if (status == PAWL_OK)
        status = pawl__liquid_to_text(run, &first, &life);
    if (status != PAWL_OK)
        return status;
    if (!run->scope->event_url)
        return pawl__liquid_raise(run, "InvalidOperationException",
                                  "There is no server here that such links lead to.");
    if (life.len > 0 &&
        (pawl__duration_parse_constant(life, &ticks, &err) != PAWL_OK || ticks <= 0))
        return pawl__liquid_raise(run, "ArgumentException",
                                  "A lifetime is a TimeSpan of more than nothing.");
    if (run->scope->event_url(run->scope->ctx, run->arena, event, ticks, &url, &err) != PAWL_OK)
        return run->arena->status != PAWL_OK
                   ? pawl__liquid_refused(run)
                   : pawl__liquid_raise(run, "InvalidOperationException", "%s", err.msg);
    *io = pawl__liquid_string(url);
    return PAWL_OK;
}

static const struct liquid_filter filters[] = {
    {"base64", .apply = filter_base64},
    {"base64_decode", .apply = filter_base64_decode},
    {"base64_encode", .apply = filter_base64_encode},
    {"base64_url_safe_decode", .apply = filter_base64_url_safe_decode},
    {"base64_url_safe_encode", .apply = filter_base64_url_safe_encode},
    {"createEventTriggerUrl", .apply = filter_event_url},
    {"escape", .rewrite = escape},
    {"escape_once", .rewrite = escape_once},
    {"handle", .rewrite = handleize},
    {"handleize", .rewrite = handleize},
    {"strip_html", .rewrite = strip_html},
    {"url_decode", .apply = filter_url_decode},
    {"url_encode", .rewrite = url_encode},
};

const struct liquid_filters pawl__liquid_web_filters = {filters, sizeof filters / sizeof *filters};
