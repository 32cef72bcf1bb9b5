/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing TimeSpans. */
#include "base/time/duration.h"

#include "base/assert.h"
#include "base/error.h"

#include <stdio.h>

#define FRACTION_DIGITS 7
#define FRACTION_MAX 9999999u
#define DAYS_MAX 10675199u     /* whole days in INT64_MAX ticks */
#define NUMBER_MAX 0x0FFFFFFFu /* .NET's tokenizer gives up past 28 bits */
#define NUMBERS_MAX 5

/* One run of digits. */
struct number {
    uint32_t value;
    uint32_t zero_count; /* leading zeros, all of them for 0 */
};

struct parts {
    struct number days, hours, minutes, seconds, fraction;
};

static int malformed(struct pawl_str text, const char *expected, struct pawl_error *err)
{
    return pawl__error_set(err, PAWL_EPARSE, "not a duration: \"%.*s\"; expected %s",
                           PAWL_STR_ARG(pawl__str_slice(text, 0, 64)), expected);
}

static int too_large(struct pawl_str text, struct pawl_error *err)
{
    return pawl__error_set(err, PAWL_ELIMIT,
                           "the duration \"%.*s\" is out of range: hours go to 23, minutes and "
                           "seconds to 59, fractions to seven digits, the whole to 10675199 days",
                           PAWL_STR_ARG(pawl__str_slice(text, 0, 64)));
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* `magnitude` with a sign, if it fits. */
static bool apply_sign(uint64_t magnitude, bool negative, int64_t *ticks)
{
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return false;
    *ticks = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

/* Ticks of a fraction; false when it is too long. Rounds away from zero as .NET does. */
static bool fraction_ticks(struct number fraction, uint64_t *ticks)
{
    uint64_t value = fraction.value;
    uint32_t digits = fraction.zero_count;

    *ticks = 0;
    if (value == 0)
        return true;
    if (fraction.zero_count == 0 && value > FRACTION_MAX)
        return false;
    for (uint64_t rest = value; rest > 0; rest /= 10)
        digits++;
    for (; digits < FRACTION_DIGITS; digits++)
        value *= 10;
    if (digits > FRACTION_DIGITS) {
        uint64_t divisor = 1;

        for (; digits > FRACTION_DIGITS && divisor <= value * 10; digits--)
            divisor *= 10;
        value = (value + divisor / 2) / divisor;
    }
    *ticks = value;
    return true;
}

static bool parts_to_ticks(const struct parts *parts, bool negative, int64_t *ticks)
{
    uint64_t fraction, seconds;

    if (parts->days.value > DAYS_MAX || parts->hours.value > 23 || parts->minutes.value > 59 ||
        parts->seconds.value > 59 || !fraction_ticks(parts->fraction, &fraction))
        return false;
    seconds = ((uint64_t)parts->days.value * 24 + parts->hours.value) * 3600 +
              parts->minutes.value * 60 + parts->seconds.value;
    return apply_sign(seconds * (uint64_t)PAWL_TICKS_PER_SECOND + fraction, negative, ticks);
}

/* Reads a run of digits; false when it passes 28 bits. */
static bool read_number(struct pawl_str text, size_t *at, struct number *out)
{
    struct number number = {0, 0};

    for (; *at < text.len && text.ptr[*at] == '0'; (*at)++)
        number.zero_count++;
    for (; *at < text.len && is_digit(text.ptr[*at]); (*at)++) {
        if (number.value > NUMBER_MAX / 10)
            return false;
        number.value = number.value * 10 + (uint32_t)(text.ptr[*at] - '0');
        if (number.value > NUMBER_MAX)
            return false;
    }
    *out = number;
    return true;
}

/*
 * The forms of TimeSpan.Parse. `separators` stand between the numbers, one letter for each number
 * says which part it is. The order matters: the first whose numbers are in range wins, which is how
 * "24:00:00" becomes 24 days.
 */
struct form {
    const char *separators; /* "|" ends each one */
    const char *letters;
};

static const struct form forms[] = {
    {"", "d"},
    {":|", "hm"},
    {":|:|", "hms"},
    {".|:|", "dhm"},
    {":|:.|", "hmf"},
    {":|:|", "dhm"},
    {":|:|.|", "hmsf"},
    {".|:|:|", "dhms"},
    {".|:|:.|", "dhmf"},
    {":|:|:|", "dhms"},
    {":|:|:.|", "dhmf"},
    {".|:|:|.|", "dhmsf"},
    {":|:|:|.|", "dhmsf"},
};

/* The text taken apart: the separators in the notation of struct form, and the numbers. */
struct tokens {
    char separators[2 * NUMBERS_MAX + 4];
    struct number numbers[NUMBERS_MAX];
    size_t count;
};

static int tokenize(struct pawl_str text, size_t at, struct tokens *out)
{
    size_t used = 0;

    out->count = 0;
    for (;;) {
        size_t start;

        if (out->count == NUMBERS_MAX || at >= text.len || !is_digit(text.ptr[at]))
            return PAWL_EPARSE;
        if (!read_number(text, &at, &out->numbers[out->count]))
            return PAWL_ELIMIT;
        out->count++;
        if (at == text.len)
            break;
        start = at;
        while (at < text.len && (text.ptr[at] == ':' || text.ptr[at] == '.'))
            at++;
        if (at == start || at - start > 2)
            return PAWL_EPARSE;
        memcpy(out->separators + used, text.ptr + start, at - start);
        used += at - start;
        out->separators[used++] = '|';
        if (used + 3 > sizeof out->separators)
            return PAWL_EPARSE;
    }
    out->separators[used] = '\0';
    return PAWL_OK;
}

static struct parts assign(const struct tokens *tokens, const char *letters)
{
    struct parts parts = {0};

    for (size_t i = 0; i < tokens->count; i++) {
        struct number *part = letters[i] == 'd'   ? &parts.days
                              : letters[i] == 'h' ? &parts.hours
                              : letters[i] == 'm' ? &parts.minutes
                              : letters[i] == 's' ? &parts.seconds
                                                  : &parts.fraction;

        *part = tokens->numbers[i];
    }
    return parts;
}

int pawl__duration_parse(struct pawl_str text, int64_t *ticks, struct pawl_error *err)
{
    static const char expected[] = "[-][d.]hh:mm[:ss[.fffffff]]";
    struct pawl_str trimmed = pawl__str_trim(text);
    bool negative = trimmed.len > 0 && trimmed.ptr[0] == '-';
    bool matched = false;
    struct tokens tokens;
    int status = tokenize(trimmed, negative ? 1 : 0, &tokens);

    if (status == PAWL_ELIMIT)
        return too_large(trimmed, err);
    if (status != PAWL_OK)
        return malformed(trimmed, expected, err);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct parts parts;

        if (strlen(forms[i].letters) != tokens.count ||
            strcmp(forms[i].separators, tokens.separators) != 0)
            continue;
        parts = assign(&tokens, forms[i].letters);
        if (parts_to_ticks(&parts, negative, ticks))
            return PAWL_OK;
        matched = true;
    }
    return matched ? too_large(trimmed, err) : malformed(trimmed, expected, err);
}

/* A number of `low` to `high` digits for the constant form. */
static bool constant_number(struct pawl_str text, size_t *at, size_t low, size_t high,
                            struct number *out)
{
    size_t start = *at;

    return read_number(text, at, out) && *at - start >= low && *at - start <= high;
}

static bool skip(struct pawl_str text, size_t *at, char c)
{
    if (*at >= text.len || text.ptr[*at] != c)
        return false;
    (*at)++;
    return true;
}

int pawl__duration_parse_constant(struct pawl_str text, int64_t *ticks, struct pawl_error *err)
{
    static const char expected[] = "[-][d.]hh:mm:ss[.fffffff]";
    struct parts parts = {0};
    size_t at = 0;
    bool negative = skip(text, &at, '-');
    size_t point = pawl__str_find(text, '.', at);

    /* A point before the first colon ends the days. */
    if (point != SIZE_MAX && point < pawl__str_find(text, ':', at) &&
        (!constant_number(text, &at, 1, 8, &parts.days) || !skip(text, &at, '.')))
        return malformed(text, expected, err);
    if (!constant_number(text, &at, 2, 2, &parts.hours) || !skip(text, &at, ':') ||
        !constant_number(text, &at, 2, 2, &parts.minutes) || !skip(text, &at, ':') ||
        !constant_number(text, &at, 2, 2, &parts.seconds))
        return malformed(text, expected, err);
    if (skip(text, &at, '.') && !constant_number(text, &at, 1, FRACTION_DIGITS, &parts.fraction))
        return malformed(text, expected, err);
    if (at < text.len)
        return malformed(text, expected, err);
    if (!parts_to_ticks(&parts, negative, ticks))
        return too_large(text, err);
    return PAWL_OK;
}

size_t pawl__duration_format(int64_t ticks, char out[PAWL_DURATION_TEXT_SIZE])
{
    uint64_t rest = ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks;
    unsigned fraction = (unsigned)(rest % (uint64_t)PAWL_TICKS_PER_SECOND);
    uint64_t seconds = rest / (uint64_t)PAWL_TICKS_PER_SECOND;
    unsigned days = (unsigned)(seconds / 86400);
    size_t used = 0;

    if (ticks < 0)
        out[used++] = '-';
    if (days > 0)
        used += (size_t)snprintf(out + used, PAWL_DURATION_TEXT_SIZE - used, "%u.", days);
    used += (size_t)snprintf(out + used, PAWL_DURATION_TEXT_SIZE - used, "%02u:%02u:%02u",
                             (unsigned)(seconds / 3600 % 24), (unsigned)(seconds / 60 % 60),
                             (unsigned)(seconds % 60));
    if (fraction > 0)
        used += (size_t)snprintf(out + used, PAWL_DURATION_TEXT_SIZE - used, ".%07u", fraction);
    return used;
}

/* Units of the human form, from large to small. */
struct unit {
    const char *name;
    uint64_t ticks;
};

static const struct unit units[] = {
    {"d", (uint64_t)PAWL_TICKS_PER_DAY},    {"h", (uint64_t)PAWL_TICKS_PER_HOUR},
    {"m", (uint64_t)PAWL_TICKS_PER_MINUTE}, {"s", (uint64_t)PAWL_TICKS_PER_SECOND},
    {"ms", (uint64_t)PAWL_TICKS_PER_MS},    {"us", (uint64_t)PAWL_TICKS_PER_US},
};

#define UNIT_COUNT (sizeof units / sizeof units[0])

/* The index of the unit whose name starts at *at and ends before a non-letter; UNIT_COUNT if none.
 */
static size_t read_unit(struct pawl_str text, size_t *at)
{
    size_t start = *at, i = 0;
    struct pawl_str name;

    while (*at < text.len && text.ptr[*at] >= 'a' && text.ptr[*at] <= 'z')
        (*at)++;
    name = pawl__str_slice(text, start, *at);
    while (i < UNIT_COUNT && !pawl__str_is(name, units[i].name))
        i++;
    return i;
}

/* A number with an optional fraction: `whole` and `fraction` / `scale`. */
struct decimal {
    uint64_t whole, fraction, scale;
};

/* Digits behind the point, of which the first seven count: more would not fit the arithmetic. */
static int read_decimal_fraction(struct pawl_str text, size_t *at, struct decimal *d)
{
    size_t start = *at;

    for (; *at < text.len && is_digit(text.ptr[*at]); (*at)++) {
        if (*at - start < FRACTION_DIGITS) {
            d->fraction = d->fraction * 10 + (uint64_t)(text.ptr[*at] - '0');
            d->scale *= 10;
        }
    }
    return *at > start ? PAWL_OK : PAWL_EPARSE;
}

static int read_decimal(struct pawl_str text, size_t *at, struct decimal *d)
{
    size_t start = *at;

    *d = (struct decimal){0, 0, 1};
    for (; *at < text.len && is_digit(text.ptr[*at]); (*at)++) {
        if (__builtin_mul_overflow(d->whole, UINT64_C(10), &d->whole) ||
            __builtin_add_overflow(d->whole, (uint64_t)(text.ptr[*at] - '0'), &d->whole))
            return PAWL_ELIMIT;
    }
    if (*at == start)
        return PAWL_EPARSE;
    return skip(text, at, '.') ? read_decimal_fraction(text, at, d) : PAWL_OK;
}

/* Adds `number` of `unit` to *total; false when it does not fit. */
static bool add_unit(uint64_t *total, struct decimal number, const struct unit *unit)
{
    uint64_t ticks;

    return !__builtin_mul_overflow(number.whole, unit->ticks, &ticks) &&
           !__builtin_add_overflow(*total, ticks, total) &&
           !__builtin_add_overflow(*total, number.fraction * unit->ticks / number.scale, total);
}

int pawl__duration_parse_human(struct pawl_str text, int64_t *ticks, struct pawl_error *err)
{
    static const char expected[] = "numbers with units d, h, m, s, ms, us from large to small, "
                                   "such as 10s, 1h30m or 500ms";
    struct pawl_str trimmed = pawl__str_trim(text);
    size_t at = 0, next_unit = 0;
    bool negative = skip(trimmed, &at, '-');
    uint64_t total = 0;

    if (pawl__str_is(pawl__str_slice(trimmed, at, trimmed.len), "0")) {
        *ticks = 0;
        return PAWL_OK;
    }
    do {
        struct decimal number;
        int status = read_decimal(trimmed, &at, &number);
        size_t unit;

        if (status == PAWL_ELIMIT)
            return too_large(trimmed, err);
        if (status != PAWL_OK)
            return malformed(trimmed, expected, err);
        unit = read_unit(trimmed, &at);
        if (unit < next_unit || unit == UNIT_COUNT)
            return malformed(trimmed, expected, err);
        if (!add_unit(&total, number, &units[unit]))
            return too_large(trimmed, err);
        next_unit = unit + 1;
        while (skip(trimmed, &at, ' '))
            ;
    } while (at < trimmed.len);
    if (!apply_sign(total, negative, ticks))
        return too_large(trimmed, err);
    return PAWL_OK;
}

static uint64_t round_to(uint64_t value, uint64_t step)
{
    return (value / step + (value % step >= step - step / 2)) * step;
}

/* The largest unit that `rest` reaches, microseconds for less. */
static size_t largest_unit(uint64_t rest)
{
    size_t i = 0;

    while (i + 1 < UNIT_COUNT && rest < units[i].ticks)
        i++;
    return i;
}

/* What is shown at the size of unit `i`: the next smaller unit, or a thousandth below a minute. */
static uint64_t precision(size_t i)
{
    if (i < 3)
        return units[i + 1].ticks;
    return units[i].ticks >= 1000 ? units[i].ticks / 1000 : 1;
}

size_t pawl__duration_format_human(int64_t ticks, char out[PAWL_DURATION_TEXT_SIZE])
{
    uint64_t rest = ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks;
    size_t unit = largest_unit(rest), used = 0;
    uint64_t below;

    /* Rounding may reach the next unit (59.9999s is 1m), which then decides the form. */
    rest = round_to(rest, precision(unit));
    unit = rest == 0 ? 3 : largest_unit(rest);
    PAWL_ASSERT(units[unit].ticks > 0);
    below = rest % units[unit].ticks;
    if (ticks < 0)
        out[used++] = '-';
    used += (size_t)snprintf(out + used, PAWL_DURATION_TEXT_SIZE - used, "%llu",
                             (unsigned long long)(rest / units[unit].ticks));
    if (unit >= 3 && below > 0) {
        unsigned thousandths = (unsigned)(below * 1000 / units[unit].ticks);

        used += (size_t)snprintf(out + used, PAWL_DURATION_TEXT_SIZE - used, ".%03u", thousandths);
        while (out[used - 1] == '0')
            used--;
    }
    used += (size_t)snprintf(out + used, PAWL_DURATION_TEXT_SIZE - used, "%s", units[unit].name);
    if (unit < 3 && below / units[unit + 1].ticks > 0)
        used += (size_t)snprintf(out + used, PAWL_DURATION_TEXT_SIZE - used, " %u%s",
                                 (unsigned)(below / units[unit + 1].ticks), units[unit + 1].name);
    return used;
}
