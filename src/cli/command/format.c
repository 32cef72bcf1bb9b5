/* SPDX-License-Identifier: Apache-2.0 */
/* Formats; see format.h. */
#include "cli/command/format.h"

#include "base/assert.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define NUMBER_SIZE 400 /* a double in full, and a width */
#define PADDING 64

struct spec {
    int width;     /* negative: to the left */
    int precision; /* -1: none */
    char length;   /* 'l', 'L' for ll, 'j', 'z'; 0: none */
};

/* The analyzer does not see that the caller has started the list in the struct. */
// NOLINTBEGIN(clang-analyzer-valist.Uninitialized)
static int read_number(struct pawl_cli_format *to, const char **at)
{
    int number = 0;

    if (**at == '*') {
        ++*at;
        return va_arg(to->args, int);
    }
    for (; **at >= '0' && **at <= '9'; ++*at)
        number = number * 10 + (**at - '0');
    return number;
}

static struct spec read_spec(struct pawl_cli_format *to, const char **at)
{
    struct spec spec = {.precision = -1};
    bool left = **at == '-';

    if (left)
        ++*at;
    PAWL_ASSERT(**at != '0'); /* no format of ours pads with zeros */
    spec.width = read_number(to, at);
    if (left && spec.width > 0)
        spec.width = -spec.width;
    if (**at == '.') {
        ++*at;
        spec.precision = read_number(to, at);
    }
    for (; **at == 'l' || **at == 'j' || **at == 'z'; ++*at)
        spec.length = spec.length == 'l' ? 'L' : **at;
    return spec;
}

static void pad(struct pawl_cli_format *to, int count)
{
    char spaces[PADDING];

    memset(spaces, ' ', sizeof spaces);
    for (; count > 0; count -= PADDING)
        to->own(to->ctx, spaces, count < PADDING ? (size_t)count : PADDING);
}

/* Its width is that of its characters, as it was given. */
static void put_text(struct pawl_cli_format *to, const struct spec *spec, const char *text)
{
    size_t len = spec->precision >= 0 ? strnlen(text, (size_t)spec->precision) : strlen(text);
    struct pawl_str whole = pawl__str_make(text, len);
    int count = 0;

    for (size_t at = 0; at < len; count++)
        (void)pawl__utf8_next(whole, &at);
    if (spec->width > 0)
        pad(to, spec->width - count);
    to->argument(to->ctx, text, len);
    if (spec->width < 0)
        pad(to, -spec->width - count);
}

static intmax_t next_signed(struct pawl_cli_format *to, char length)
{
    switch (length) {
    case 'l':
        return va_arg(to->args, long);
    case 'L':
        return va_arg(to->args, long long);
    case 'j':
        return va_arg(to->args, intmax_t);
    case 'z':
        return (intmax_t)va_arg(to->args, size_t);
    default:
        return va_arg(to->args, int);
    }
}

static uintmax_t next_unsigned(struct pawl_cli_format *to, char length)
{
    switch (length) {
    case 'l':
        return va_arg(to->args, unsigned long);
    case 'L':
        return va_arg(to->args, unsigned long long);
    case 'j':
        return va_arg(to->args, uintmax_t);
    case 'z':
        return va_arg(to->args, size_t);
    default:
        return va_arg(to->args, unsigned);
    }
}

static void put_number(struct pawl_cli_format *to, const struct spec *spec, char conversion)
{
    char text[NUMBER_SIZE];
    int len = 0;

    switch (conversion) {
    case 'd':
        len = snprintf(text, sizeof text, "%*jd", spec->width, next_signed(to, spec->length));
        break;
    case 'u':
        len = snprintf(text, sizeof text, "%*ju", spec->width, next_unsigned(to, spec->length));
        break;
    case 'x':
        len = snprintf(text, sizeof text, "%*jx", spec->width, next_unsigned(to, spec->length));
        break;
    case 'f':
        len = snprintf(text, sizeof text, "%*.*f", spec->width,
                       spec->precision >= 0 ? spec->precision : 6, va_arg(to->args, double));
        break;
    default:
        break;
    }
    PAWL_ASSERT(len > 0 && (size_t)len < sizeof text);
    to->own(to->ctx, text, (size_t)len);
}

void pawl__cli_format(struct pawl_cli_format *to, const char *format)
{
    while (*format) {
        const char *percent = strchr(format, '%');
        size_t len = percent ? (size_t)(percent - format) : strlen(format);
        struct spec spec;
        char one;

        to->own(to->ctx, format, len);
        if (!percent)
            return;
        format = percent + 1;
        spec = read_spec(to, &format);
        switch (*format) {
        case '%':
            to->own(to->ctx, "%", 1);
            break;
        case 's':
            put_text(to, &spec, va_arg(to->args, const char *));
            break;
        case 'c':
            one = (char)va_arg(to->args, int);
            to->argument(to->ctx, &one, 1);
            break;
        default:
            put_number(to, &spec, *format);
            break;
        }
        format++;
    }
}
// NOLINTEND(clang-analyzer-valist.Uninitialized)
