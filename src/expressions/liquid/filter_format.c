/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format_number, format_date and format_string, with the invariant culture: the standard formats
 * of numbers (N2, F1, D5, P0, C, X, G), patterns of 0 and #, and the letters of date patterns.
 */
#include "expressions/liquid/dates.h"
#include "expressions/liquid/filters.h"

#include <stdio.h>

/* ---- numbers ----------------------------------------------------------------------------- */

/* `digits` behind the point, with commas between thousands when `groups`. */
static void put_fixed(struct pawl_buf *out, struct pawl_net_decimal a, unsigned digits, bool groups)
{
    char text[PAWL_NET_DECIMAL_TEXT_SIZE];
    size_t len;
    size_t point;

    a = pawl__liquid_round(a, digits < 28 ? digits : 28);
    len = pawl__net_decimal_format(&a, text);
    point = pawl__str_find(pawl__str_make(text, len), '.', 0);
    point = point == SIZE_MAX ? len : point;
    for (size_t i = 0; i < point; i++) {
        if (groups && i > 0 && (point - i) % 3 == 0 && text[i - 1] != '-')
            pawl__buf_byte(out, ',');
        pawl__buf_byte(out, text[i]);
    }
    if (digits == 0)
        return;
    if (point == len)
        pawl__buf_byte(out, '.');
    pawl__buf_append(out, text + point, len - point);
    for (size_t i = a.scale; i < digits; i++)
        pawl__buf_byte(out, '0');
}

static void put_padded(struct pawl_buf *out, struct pawl_net_decimal a, unsigned width)
{
    char text[PAWL_NET_DECIMAL_TEXT_SIZE];
    bool negative = a.negative && a.digits != 0;
    size_t len;

    a = pawl__liquid_round(a, 0);
    a.negative = false;
    len = pawl__net_decimal_format(&a, text);
    pawl__buf_text(out, negative ? "-" : "");
    for (; width > len; width--)
        pawl__buf_byte(out, '0');
    pawl__buf_append(out, text, len);
}

/* A letter and perhaps two digits; false: it is a pattern. */
static bool put_standard(struct pawl_buf *out, struct pawl_net_decimal a, struct pawl_str format)
{
    unsigned digits = 2;
    struct pawl_net_decimal percent;

    if (format.len == 0 || format.len > 3)
        return false;
    if (format.len > 1) {
        digits = 0;
        for (size_t i = 1; i < format.len; i++) {
            if (format.ptr[i] < '0' || format.ptr[i] > '9')
                return false;
            digits = digits * 10 + (unsigned)(format.ptr[i] - '0');
        }
    }
    switch (format.ptr[0]) {
    case 'n':
    case 'N':
        put_fixed(out, a, digits, true);
        return true;
    case 'f':
    case 'F':
        put_fixed(out, a, digits, false);
        return true;
    case 'c':
    case 'C':
        pawl__buf_text(out, "\xc2\xa4"); /* the sign of no currency */
        put_fixed(out, a, digits, true);
        return true;
    case 'p':
    case 'P':
        if (!pawl__liquid_multiply(a, pawl__liquid_int(100).u.number, &percent))
            percent = a;
        put_fixed(out, percent, digits, true);
        pawl__buf_text(out, " %");
        return true;
    case 'd':
    case 'D':
        put_padded(out, a, format.len > 1 ? digits : 1);
        return true;
    case 'g':
    case 'G':
        pawl__liquid_print_number(out, a);
        return true;
    default:
        return false;
    }
}

struct pattern {
    size_t start; /* first and behind the last of 0 # , . */
    size_t end;
    unsigned whole;    /* zeros before the point */
    unsigned fraction; /* zeros behind it */
    unsigned places;   /* places behind it */
    bool groups;
};

static struct pattern read_pattern(struct pawl_str format)
{
    struct pattern out = {.start = SIZE_MAX};
    bool behind = false;

    for (size_t i = 0; i < format.len; i++) {
        char c = format.ptr[i];

        if (c != '0' && c != '#' && c != '.' && c != ',')
            continue;
        if (out.start == SIZE_MAX)
            out.start = i;
        out.end = i + 1;
        if (c == '.')
            behind = true;
        else if (c == ',')
            out.groups = true;
        else if (behind)
            out.places++;
        if (c == '0' && behind)
            out.fraction = out.places;
        else if (c == '0')
            out.whole++;
    }
    return out;
}

/* 0,0.0# and the like, with other text around. */
static void put_pattern(struct pawl_buf *out, struct pawl_net_decimal a, struct pawl_str format)
{
    struct pattern pattern = read_pattern(format);
    size_t start;
    size_t lead;

    if (pattern.start == SIZE_MAX) {
        pawl__buf_str(out, format);
        return;
    }
    pawl__buf_str(out, pawl__str_slice(format, 0, pattern.start));
    a = pawl__liquid_round(a, pattern.places < 28 ? pattern.places : 28);
    while (a.scale > pattern.fraction && a.digits % 10 == 0) {
        a.digits /= 10;
        a.scale--;
    }
    start = out->len;
    put_fixed(out, a, a.scale > pattern.fraction ? a.scale : pattern.fraction, pattern.groups);
    if (out->status != PAWL_OK)
        return;
    /* .5 for "#.#": the zero before the point is there only when asked for. */
    lead = start + (out->len > start && out->ptr[start] == '-');
    if (pattern.whole == 0 && out->len > lead && out->ptr[lead] == '0') {
        memmove(out->ptr + lead, out->ptr + lead + 1, out->len - lead - 1);
        out->len--;
    }
    pawl__buf_str(out, pawl__str_slice(format, pattern.end, format.len));
}

static int filter_format_number(struct liquid_run *run, struct liquid_value *io,
                                const struct liquid_args *args)
{
    struct liquid_value first = pawl__liquid_arg(args, 0);
    struct pawl_net_decimal number;
    struct pawl_str format;
    struct pawl_buf buf;
    int status = pawl__liquid_to_number(run, io, &number);

    if (status == PAWL_OK)
        status = pawl__liquid_to_text(run, &first, &format);
    if (status != PAWL_OK)
        return status;
    if (pawl__liquid_is_nil(&first)) {
        *io = pawl__liquid_nil();
        return PAWL_OK;
    }
    pawl__liquid_text_begin(run, &buf);
    if (!put_standard(&buf, number, format))
        put_pattern(&buf, number, format);
    return pawl__liquid_text_end(run, &buf, io);
}

/* ---- dates ------------------------------------------------------------------------------- */

static struct pawl_str standard_date(struct pawl_str format)
{
    static const struct {
        char letter;
        const char *pattern;
    } all[] = {
        {'d', "MM/dd/yyyy"},
        {'D', "dddd, dd MMMM yyyy"},
        {'f', "dddd, dd MMMM yyyy HH:mm"},
        {'F', "dddd, dd MMMM yyyy HH:mm:ss"},
        {'g', "MM/dd/yyyy HH:mm"},
        {'G', "MM/dd/yyyy HH:mm:ss"},
        {'m', "MMMM dd"},
        {'M', "MMMM dd"},
        {'o', "yyyy-MM-ddTHH:mm:ss.fffffffzzz"},
        {'O', "yyyy-MM-ddTHH:mm:ss.fffffffzzz"},
        {'r', "ddd, dd MMM yyyy HH:mm:ss 'GMT'"},
        {'R', "ddd, dd MMM yyyy HH:mm:ss 'GMT'"},
        {'s', "yyyy-MM-ddTHH:mm:ss"},
        {'t', "HH:mm"},
        {'T', "HH:mm:ss"},
        {'u', "yyyy-MM-dd HH:mm:ss'Z'"},
        {'y', "yyyy MMMM"},
        {'Y', "yyyy MMMM"},
    };

    for (size_t i = 0; format.len == 1 && i < sizeof all / sizeof *all; i++) {
        if (format.ptr[0] == all[i].letter)
            return pawl__str(all[i].pattern);
    }
    return format;
}

static void put_number(struct pawl_buf *out, int64_t value, size_t width)
{
    pawl__buf_printf(out, "%0*lld", (int)(width < 10 ? width : 10), (long long)value);
}

static void put_text_part(struct pawl_buf *out, const char *name, size_t count)
{
    pawl__buf_append(out, name, count == 3 && strlen(name) > 3 ? 3 : strlen(name));
}

static void put_zone(struct pawl_buf *out, struct pawl_datetime date, size_t count)
{
    int minutes = date.offset_minutes < 0 ? -date.offset_minutes : date.offset_minutes;

    pawl__buf_byte(out, date.offset_minutes < 0 ? '-' : '+');
    put_number(out, minutes / 60, count > 1 ? 2 : 1);
    if (count > 2)
        pawl__buf_printf(out, ":%02d", minutes % 60);
}

/* f: all digits asked for; F: without the zeros at the end. */
static void put_fraction(struct pawl_buf *out, int ticks, size_t count, bool trim)
{
    char text[16];

    (void)snprintf(text, sizeof text, "%07d", ticks);
    count = count < 7 ? count : 7;
    while (trim && count > 0 && text[count - 1] == '0')
        count--;
    pawl__buf_append(out, text, count);
}

static bool put_date_part(struct pawl_buf *out, char letter, size_t count,
                          struct pawl_datetime date)
{
    struct pawl_civil civil;

    pawl__datetime_civil(date, &civil);
    if (letter == 'y')
        put_number(out, count <= 2 ? civil.year % 100 : civil.year, count);
    else if (letter == 'M' && count > 2)
        put_text_part(out, pawl__liquid_months[civil.month - 1], count);
    else if (letter == 'M')
        put_number(out, civil.month, count);
    else if (letter == 'd' && count > 2)
        put_text_part(out, pawl__liquid_days[pawl__datetime_weekday(date)], count);
    else if (letter == 'd')
        put_number(out, civil.day, count);
    else if (letter == 'H')
        put_number(out, civil.hour, count < 2 ? 1 : 2);
    else if (letter == 'h')
        put_number(out, civil.hour % 12 == 0 ? 12 : civil.hour % 12, count < 2 ? 1 : 2);
    else if (letter == 'm')
        put_number(out, civil.minute, count < 2 ? 1 : 2);
    else if (letter == 's')
        put_number(out, civil.second, count < 2 ? 1 : 2);
    else if (letter == 'f' || letter == 'F')
        put_fraction(out, civil.tick, count, letter == 'F');
    else if (letter == 't')
        pawl__buf_append(out, civil.hour < 12 ? "AM" : "PM", count < 2 ? 1 : 2);
    else if (letter == 'z' || letter == 'K')
        put_zone(out, date, letter == 'K' ? 3 : count);
    else
        return false;
    return true;
}

/* Quoted text is copied; a backslash copies the next character. */
static size_t put_quoted(struct pawl_buf *out, struct pawl_str format, size_t at)
{
    char quote = format.ptr[at++];

    if (quote == '\\') {
        pawl__buf_str(out, pawl__str_slice(format, at, at + 1));
        return at + 1;
    }
    while (at < format.len && format.ptr[at] != quote)
        pawl__buf_byte(out, format.ptr[at++]);
    return at + 1;
}

static void put_date(struct pawl_buf *out, struct pawl_str format, struct pawl_datetime date)
{
    format = standard_date(format);
    for (size_t at = 0; at < format.len;) {
        char c = format.ptr[at];
        size_t count = 1;

        if (c == '\'' || c == '"' || c == '\\') {
            at = put_quoted(out, format, at);
            continue;
        }
        if (c == '%') { /* before a single letter, so that it is no standard format */
            at++;
            continue;
        }
        while (at + count < format.len && format.ptr[at + count] == c)
            count++;
        if (!put_date_part(out, c, count, date)) {
            pawl__buf_byte(out, c);
            count = 1;
        }
        at += count;
    }
}

static int filter_format_date(struct liquid_run *run, struct liquid_value *io,
                              const struct liquid_args *args)
{
    struct pawl_datetime date;
    struct pawl_str format;
    struct pawl_buf buf;
    bool there;
    int status = pawl__liquid_date_and_text(run, io, args, &date, &format, &there);

    if (status != PAWL_OK || !there)
        return status;
    pawl__liquid_text_begin(run, &buf);
    put_date(&buf, format, date);
    return pawl__liquid_text_end(run, &buf, io);
}

/* ---- format_string ----------------------------------------------------------------------- */

static int put_argument(struct liquid_run *run, const struct liquid_value *value,
                        struct pawl_str format, struct pawl_buf *out)
{
    struct pawl_str text;
    int status = PAWL_OK;

    if (format.len > 0 && value->kind == LIQUID_NUMBER) {
        if (!put_standard(out, value->u.number, format))
            put_pattern(out, value->u.number, format);
    } else if (format.len > 0 && value->kind == LIQUID_DATE) {
        put_date(out, format, value->u.date);
    } else if (value->kind == LIQUID_BOOL) {
        pawl__buf_text(out, value->u.boolean ? "True" : "False");
    } else {
        status = pawl__liquid_to_text(run, value, &text);
        if (status == PAWL_OK)
            pawl__buf_str(out, text);
    }
    return status;
}

/* {0} or {0:format} at text[*at]. */
static int put_hole(struct liquid_run *run, struct pawl_str text, size_t *at,
                    const struct liquid_args *args, struct pawl_buf *out)
{
    size_t end = pawl__str_find(text, '}', *at);
    size_t colon = pawl__str_find(text, ':', *at);
    struct pawl_str format = {"", 0};
    int64_t number = -1;

    if (end != SIZE_MAX && colon < end)
        format = pawl__str_slice(text, colon + 1, end);
    if (end == SIZE_MAX ||
        pawl__number_parse_int(pawl__str_slice(text, *at + 1, colon < end ? colon : end),
                               &number) != PAWL_OK ||
        number < 0 || number >= args->count)
        return pawl__liquid_raise(
            run, "FormatException",
            "The filter 'format_string' expects {0}, {1}, … up to the number of "
            "its arguments.");
    *at = end + 1;
    return put_argument(run, &args->values[number], format, out);
}

static int filter_format_string(struct liquid_run *run, struct liquid_value *io,
                                const struct liquid_args *args)
{
    struct pawl_str text;
    struct pawl_buf buf;
    int status = pawl__liquid_to_text(run, io, &text);

    if (status != PAWL_OK || pawl__liquid_is_nil(io))
        return status;
    pawl__liquid_text_begin(run, &buf);
    for (size_t at = 0; at < text.len && status == PAWL_OK;) {
        char c = text.ptr[at];
        bool twice = at + 1 < text.len && text.ptr[at + 1] == c;

        if (c == '{' && !twice) {
            status = put_hole(run, text, &at, args, &buf);
            continue;
        }
        pawl__buf_byte(&buf, c);
        at += (c == '{' || c == '}') && twice ? 2 : 1;
    }
    if (status == PAWL_OK)
        return pawl__liquid_text_end(run, &buf, io);
    pawl__buf_release(&buf);
    return status;
}

static const struct liquid_filter filters[] = {
    {"format_date", .apply = filter_format_date},
    {"format_number", .apply = filter_format_number},
    {"format_string", .apply = filter_format_string},
};

const struct liquid_filters pawl__liquid_format_filters = {filters,
                                                           sizeof filters / sizeof *filters};
