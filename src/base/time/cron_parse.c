/* SPDX-License-Identifier: Apache-2.0 */
/* Reading cron expressions, one field after the other. What they mean is in cron.h. */
#include "base/error.h"
#include "base/time/cron.h"

struct field {
    const char *name;
    int first;
    int last;
    const char *names; /* of three letters each, for the values from first_name on */
    int first_name;    /* the value of the first name */
    bool is_time;      /* a star, range or step here makes the expression an interval */
    bool has_question; /* ? stands for * */
};

static const struct field seconds = {.name = "Seconds", .last = 59, .is_time = true};
static const struct field minutes = {.name = "Minutes", .last = 59, .is_time = true};
static const struct field hours = {.name = "Hours", .last = 23, .is_time = true};
static const struct field days = {
    .name = "Days of month", .first = 1, .last = 31, .has_question = true};
static const struct field months = {.name = "Months",
                                    .first = 1,
                                    .last = 12,
                                    .names = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC",
                                    .first_name = 1};
static const struct field weekdays = {
    .name = "Days of week", .last = 7, .names = "SUNMONTUEWEDTHUFRISAT", .has_question = true};

struct parser {
    struct pawl_str text;
    size_t at;
    struct pawl_cron *cron;
    struct pawl_error *err;
};

#define INVALID "The given cron expression has an invalid format. "

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* 0 at the end; a NUL inside the text ends no field and is refused like any other byte. */
static char peek(const struct parser *parser)
{
    return parser->at < parser->text.len ? parser->text.ptr[parser->at] : 0;
}

static bool accept(struct parser *parser, char c)
{
    if (parser->at >= parser->text.len || upper(parser->text.ptr[parser->at]) != c)
        return false;
    parser->at++;
    return true;
}

static void skip_blanks(struct parser *parser)
{
    while (is_blank(peek(parser)))
        parser->at++;
}

static int unexpected(const struct parser *parser, const struct field *field)
{
    const char *name = field ? field->name : "";
    const char *colon = field ? ": " : "";
    size_t at = parser->at;

    if (at >= parser->text.len)
        return pawl__error_set(parser->err, PAWL_EPARSE,
                               INVALID "%s%sUnexpected end of the expression: give six fields "
                                       "(second minute hour day month weekday), or five without "
                                       "seconds.",
                               name, colon);
    uint32_t c = pawl__utf8_next(parser->text, &at);
    if (c < ' ' || c == 0x7f || c == 0xfffd)
        return pawl__error_set(parser->err, PAWL_EPARSE, INVALID "%s%sUnexpected character U+%04X.",
                               name, colon, (unsigned)c);
    return pawl__error_set(parser->err, PAWL_EPARSE, INVALID "%s%sUnexpected character '%.*s'.",
                           name, colon, (int)(at - parser->at), parser->text.ptr + parser->at);
}

static int out_of_range(const struct parser *parser, const struct field *field, int low, int high)
{
    return pawl__error_set(parser->err, PAWL_EPARSE,
                           INVALID "%s: Value must be a number between %d and %d (all inclusive).",
                           field->name, low, high);
}

/* One or two digits; false, and nothing read, for anything else. */
static bool read_number(struct parser *parser, int *out)
{
    size_t at = parser->at;
    int value = 0;

    while (at < parser->text.len && at < parser->at + 3 && is_digit(parser->text.ptr[at]))
        value = value * 10 + (parser->text.ptr[at++] - '0');
    if (at == parser->at || at > parser->at + 2)
        return false;
    parser->at = at;
    *out = value;
    return true;
}

static bool read_name(struct parser *parser, const struct field *field, int *out)
{
    const char *name = field->names;

    if (!name || parser->text.len - parser->at < 3)
        return false;
    const char *text = parser->text.ptr + parser->at;
    for (int value = field->first_name; *name; name += 3, value++) {
        if (upper(text[0]) == name[0] && upper(text[1]) == name[1] && upper(text[2]) == name[2]) {
            parser->at += 3;
            *out = value;
            return true;
        }
    }
    return false;
}

static int parse_number(struct parser *parser, const struct field *field, int low, int high,
                        int *out)
{
    size_t at = parser->at;
    int value;

    if (!read_number(parser, &value))
        return out_of_range(parser, field, low, high);
    if (value < low || value > high) {
        parser->at = at;
        return out_of_range(parser, field, low, high);
    }
    *out = value;
    return PAWL_OK;
}

static int parse_value(struct parser *parser, const struct field *field, int *out)
{
    if (read_name(parser, field, out))
        return PAWL_OK;
    return parse_number(parser, field, field->first, field->last, out);
}

/* Every `step`th value from low to high, going round the end of the field when high is lower. */
static uint64_t range_bits(const struct field *field, int low, int high, int step)
{
    /* Sunday is both ends of the week: going round passes it once. */
    int end = field == &weekdays ? field->last - 1 : field->last;
    int count = high >= low ? high - low : end - low + 1 + high - field->first;
    uint64_t bits = 0;

    for (int i = 0; i <= count; i += step) {
        int value = low + i;

        if (high < low && value > end)
            value -= end - field->first + 1;
        bits |= UINT64_C(1) << value;
    }
    return bits;
}

static int parse_step(struct parser *parser, const struct field *field, int low, int high,
                      uint64_t *bits)
{
    int step = 1;

    if (accept(parser, '/')) {
        int rc = parse_number(parser, field, 1, field->last, &step);

        if (rc != PAWL_OK)
            return rc;
    }
    *bits |= range_bits(field, low, high, step);
    return PAWL_OK;
}

/* What follows a first value: nothing, "-high", "-high/step" or "/step". */
static int parse_range(struct parser *parser, const struct field *field, int low, uint64_t *bits)
{
    char c = peek(parser);
    int high = field->last;

    if (c != '-' && c != '/') {
        *bits |= UINT64_C(1) << low;
        return PAWL_OK;
    }
    if (field->is_time)
        parser->cron->is_interval = true;
    if (accept(parser, '-')) {
        int rc = parse_value(parser, field, &high);

        if (rc != PAWL_OK)
            return rc;
    }
    return parse_step(parser, field, low, high, bits);
}

static int parse_list(struct parser *parser, const struct field *field, int low, uint64_t *bits)
{
    int rc = parse_range(parser, field, low, bits);

    while (rc == PAWL_OK && accept(parser, ',')) {
        rc = parse_value(parser, field, &low);
        if (rc == PAWL_OK)
            rc = parse_range(parser, field, low, bits);
    }
    return rc;
}

static bool accept_star(struct parser *parser, const struct field *field)
{
    if (!accept(parser, '*') && !(field->has_question && accept(parser, '?')))
        return false;
    if (field->is_time)
        parser->cron->is_interval = true;
    return true;
}

static int parse_field(struct parser *parser, const struct field *field, uint64_t *bits)
{
    int low = 0;
    int rc;

    if (accept_star(parser, field))
        return parse_step(parser, field, field->first, field->last, bits);
    rc = parse_value(parser, field, &low);
    return rc == PAWL_OK ? parse_list(parser, field, low, bits) : rc;
}

static int parse_days(struct parser *parser)
{
    struct pawl_cron *cron = parser->cron;
    int low = 0;
    int rc;

    if (accept_star(parser, &days))
        return parse_step(parser, &days, days.first, days.last, &cron->days);
    if (accept(parser, 'L')) {
        cron->day_last = true;
        if (accept(parser, '-')) {
            rc = parse_number(parser, &days, 0, days.last - 1, &low);
            if (rc != PAWL_OK)
                return rc;
        }
        cron->last_offset = (uint8_t)low;
        cron->day_nearest = accept(parser, 'W');
        return PAWL_OK;
    }
    rc = parse_value(parser, &days, &low);
    if (rc != PAWL_OK)
        return rc;
    if (accept(parser, 'W')) {
        cron->day_nearest = true;
        cron->days = UINT64_C(1) << low;
        return PAWL_OK;
    }
    return parse_list(parser, &days, low, &cron->days);
}

static int parse_weekdays(struct parser *parser)
{
    struct pawl_cron *cron = parser->cron;
    int low = 0;
    int rc = PAWL_OK;

    if (accept_star(parser, &weekdays)) {
        rc = parse_step(parser, &weekdays, weekdays.first, weekdays.last, &cron->weekdays);
    } else {
        rc = parse_value(parser, &weekdays, &low);
        if (rc != PAWL_OK)
            return rc;
        if (accept(parser, 'L')) {
            cron->weekday_last = true;
            cron->weekdays = UINT64_C(1) << low;
        } else if (accept(parser, '#')) {
            int nth = 0;

            rc = parse_number(parser, &weekdays, 1, 5, &nth);
            if (rc != PAWL_OK)
                return rc;
            cron->nth = (uint8_t)nth;
            cron->weekdays = UINT64_C(1) << low;
        } else {
            rc = parse_list(parser, &weekdays, low, &cron->weekdays);
        }
    }
    /* 7 is Sunday too. */
    cron->weekdays = (cron->weekdays | cron->weekdays >> 7) & 0x7f;
    return rc;
}

static int parse_gap(struct parser *parser, const struct field *field)
{
    if (!is_blank(peek(parser)))
        return unexpected(parser, field);
    skip_blanks(parser);
    return PAWL_OK;
}

static int parse_time_field(struct parser *parser, const struct field *field, uint64_t *bits)
{
    int rc = parse_field(parser, field, bits);

    return rc == PAWL_OK ? parse_gap(parser, field) : rc;
}

static size_t count_fields(struct pawl_str text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += !is_blank(text.ptr[i]) && (i == 0 || is_blank(text.ptr[i - 1]));
    return count;
}

static int parse_fields(struct parser *parser)
{
    struct pawl_cron *cron = parser->cron;
    int rc = PAWL_OK;

    cron->has_seconds = count_fields(parser->text) != 5;
    if (cron->has_seconds)
        rc = parse_time_field(parser, &seconds, &cron->seconds);
    else
        cron->seconds = 1;
    if (rc == PAWL_OK)
        rc = parse_time_field(parser, &minutes, &cron->minutes);
    if (rc == PAWL_OK)
        rc = parse_time_field(parser, &hours, &cron->hours);
    if (rc == PAWL_OK)
        rc = parse_days(parser);
    if (rc == PAWL_OK)
        rc = parse_gap(parser, &days);
    if (rc == PAWL_OK)
        rc = parse_time_field(parser, &months, &cron->months);
    if (rc == PAWL_OK)
        rc = parse_weekdays(parser);
    if (rc == PAWL_OK && parser->at < parser->text.len && !is_blank(peek(parser)))
        rc = unexpected(parser, &weekdays);
    return rc;
}

/* Repeats what was written as far as it looks like a name. */
static int unknown_macro(const struct parser *parser, struct pawl_str name)
{
    int len = 1;

    while (len < 40 && (size_t)len < name.len &&
           ((upper(name.ptr[len]) >= 'A' && upper(name.ptr[len]) <= 'Z') || name.ptr[len] == '_'))
        len++;
    return pawl__error_set(parser->err, PAWL_EPARSE,
                           INVALID "There is no macro '%.*s': use one of @every_second, "
                                   "@every_minute, @hourly, @daily, @midnight, @weekly, @monthly, "
                                   "@yearly, @annually.",
                           len, name.ptr);
}

/* "@daily" and its kin are short for an expression with six fields. */
static int parse_macro(struct parser *parser)
{
    static const struct {
        const char *name;
        const char *expression;
    } macros[] = {
        {"@every_second", "* * * * * *"}, {"@every_minute", "0 * * * * *"},
        {"@hourly", "0 0 * * * *"},       {"@daily", "0 0 0 * * *"},
        {"@midnight", "0 0 0 * * *"},     {"@weekly", "0 0 0 * * 0"},
        {"@monthly", "0 0 0 1 * *"},      {"@yearly", "0 0 0 1 1 *"},
        {"@annually", "0 0 0 1 1 *"},
    };
    size_t end = parser->at;

    while (end < parser->text.len && !is_blank(parser->text.ptr[end]))
        end++;
    struct pawl_str name = pawl__str_slice(parser->text, parser->at, end);
    for (size_t i = 0; i < sizeof macros / sizeof macros[0]; i++) {
        if (pawl__str_equal_nocase(name, pawl__str(macros[i].name))) {
            struct parser inner = {.text = pawl__str(macros[i].expression), .cron = parser->cron};

            parser->at = end;
            return parse_fields(&inner);
        }
    }
    return unknown_macro(parser, name);
}

int pawl__cron_parse(struct pawl_str text, struct pawl_cron *out, size_t *at,
                     struct pawl_error *err)
{
    struct pawl_cron cron = {0};
    struct parser parser = {.text = text, .cron = &cron, .err = err};
    int rc;

    skip_blanks(&parser);
    if (parser.at == text.len)
        rc = pawl__error_set(err, PAWL_EPARSE, INVALID "The expression is empty.");
    else if (peek(&parser) == '@')
        rc = parse_macro(&parser);
    else
        rc = parse_fields(&parser);
    if (rc == PAWL_OK) {
        skip_blanks(&parser);
        if (parser.at < text.len)
            rc = unexpected(&parser, NULL);
    }
    if (rc != PAWL_OK) {
        if (at)
            *at = parser.at;
        return rc;
    }
    *out = cron;
    return PAWL_OK;
}
