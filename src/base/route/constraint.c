/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints of route parameters; see constraint.h. */
#include "base/route/constraint.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A whole number with an optional sign that fits into 64 bits. */
static bool read_integer(struct pawl_str text, int64_t *out)
{
    bool negative;
    uint64_t value = 0, limit;
    size_t at = 0;

    text = pawl__str_trim(text);
    negative = text.len > 0 && text.ptr[0] == '-';
    at = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+') ? 1 : 0;
    limit = (uint64_t)INT64_MAX + negative;
    if (at == text.len)
        return false;
    for (; at < text.len; at++) {
        uint64_t digit = (uint64_t)(text.ptr[at] - '0');

        if (!is_digit(text.ptr[at]) || value > (limit - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

static bool is_integer_in(struct pawl_str text, int64_t least, int64_t most)
{
    int64_t value;

    return read_integer(text, &value) && value >= least && value <= most;
}

/* "-12.5", with an exponent where it is allowed. */
static bool is_number(struct pawl_str text, bool exponent)
{
    size_t at = text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+') ? 1 : 0;
    size_t digits = 0;

    for (; at < text.len && is_digit(text.ptr[at]); at++)
        digits++;
    if (at < text.len && text.ptr[at] == '.') {
        for (at++; at < text.len && is_digit(text.ptr[at]); at++)
            digits++;
    }
    if (digits == 0 || at == text.len)
        return digits > 0;
    return exponent && (text.ptr[at] == 'e' || text.ptr[at] == 'E') &&
           is_integer_in(pawl__str_slice(text, at + 1, text.len), -9999, 9999);
}

/* Thirty-two digits, with hyphens after 8, 12, 16 and 20 or without, perhaps in braces. */
static bool is_guid(struct pawl_str text)
{
    bool hyphens;

    if (text.len == 38 && ((text.ptr[0] == '{' && text.ptr[37] == '}') ||
                           (text.ptr[0] == '(' && text.ptr[37] == ')')))
        text = pawl__str_slice(text, 1, 37);
    hyphens = text.len == 36;
    if (!hyphens && text.len != 32)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (hyphens && (i == 8 || i == 13 || i == 18 || i == 23)) {
            if (c != '-')
                return false;
        } else if (!is_digit(c) && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F')) {
            return false;
        }
    }
    return true;
}

static bool is_alpha(struct pawl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_letter(text.ptr[i]))
            return false;
    }
    return true;
}

static bool is_bool(struct pawl_str text)
{
    return pawl__str_equal_nocase(text, pawl__str("true")) ||
           pawl__str_equal_nocase(text, pawl__str("false"));
}

/* How long a string is to .NET: in units of UTF-16. */
static int64_t utf16_length(struct pawl_str text)
{
    int64_t units = 0;

    for (size_t at = 0; at < text.len;)
        units += pawl__utf8_next(text, &at) > 0xFFFF ? 2 : 1;
    return units;
}

/* "2,5" or "2": false when a bound is no number; such a constraint holds never. */
static bool read_bounds(struct pawl_str arguments, int64_t *least, int64_t *most)
{
    size_t comma = pawl__str_find(arguments, ',', 0);

    if (comma == SIZE_MAX) {
        if (!read_integer(arguments, least))
            return false;
        *most = *least;
        return true;
    }
    return read_integer(pawl__str_slice(arguments, 0, comma), least) &&
           read_integer(pawl__str_slice(arguments, comma + 1, arguments.len), most);
}

static bool bounds_hold(struct pawl_str name, struct pawl_str arguments, struct pawl_str value)
{
    int64_t least, most, length = utf16_length(value);

    if (!read_bounds(arguments, &least, &most))
        return false;
    if (pawl__str_is(name, "min"))
        return is_integer_in(value, least, INT64_MAX);
    if (pawl__str_is(name, "max"))
        return is_integer_in(value, INT64_MIN, least);
    if (pawl__str_is(name, "range"))
        return is_integer_in(value, least, most);
    if (pawl__str_is(name, "minlength"))
        return length >= least;
    if (pawl__str_is(name, "maxlength"))
        return length <= least;
    return length >= least && length <= most;
}

static bool holds(struct pawl_str name, struct pawl_str arguments, struct pawl_str value)
{
    static const char *const bounds[] = {"min", "max", "range", "length", "minlength", "maxlength"};

    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        if (pawl__str_is(name, bounds[i]))
            return bounds_hold(name, arguments, value);
    }
    if (pawl__str_is(name, "int"))
        return is_integer_in(value, INT32_MIN, INT32_MAX);
    if (pawl__str_is(name, "long"))
        return is_integer_in(value, INT64_MIN, INT64_MAX);
    if (pawl__str_is(name, "decimal"))
        return is_number(value, false);
    if (pawl__str_is(name, "double") || pawl__str_is(name, "float"))
        return is_number(value, true);
    if (pawl__str_is(name, "bool"))
        return is_bool(value);
    if (pawl__str_is(name, "guid"))
        return is_guid(value);
    if (pawl__str_is(name, "alpha"))
        return is_alpha(value);
    if (pawl__str_is(name, "required"))
        return value.len > 0;
    return true;
}

/* Where the constraint that begins at `at` ends: a colon outside of parentheses. */
static size_t constraint_end(struct pawl_str text, size_t at)
{
    size_t depth = 0;

    for (; at < text.len; at++) {
        if (text.ptr[at] == '(')
            depth++;
        else if (text.ptr[at] == ')' && depth > 0)
            depth--;
        else if (text.ptr[at] == ':' && depth == 0)
            break;
    }
    return at;
}

bool pawl__route_constraints_hold(struct pawl_str constraints, struct pawl_str value)
{
    for (size_t at = 0; at < constraints.len;) {
        size_t end = constraint_end(constraints, at);
        struct pawl_str one = pawl__str_slice(constraints, at, end);
        size_t open = pawl__str_find(one, '(', 0);
        struct pawl_str arguments = pawl__str("");

        if (open != SIZE_MAX && one.ptr[one.len - 1] == ')')
            arguments = pawl__str_slice(one, open + 1, one.len - 1);
        if (!holds(pawl__str_slice(one, 0, open), arguments, value))
            return false;
        at = end + 1;
    }
    return true;
}
