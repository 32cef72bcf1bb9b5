/* SPDX-License-Identifier: Apache-2.0 */
/*
 * date (with the letters of strftime) and time_zone. Months and days have their English names. A
 * number is seconds since 1970; "now" and "today" are the moment of the step. Zones other than UTC
 * and offsets come from the scope; a date in one that is not known stays as it is.
 */
#include "engine/value/net_date.h"
#include "expressions/liquid/dates.h"
#include "expressions/liquid/filters.h"

const char *const pawl__liquid_months[12] = {"January",   "February", "March",    "April",
                                             "May",       "June",     "July",     "August",
                                             "September", "October",  "November", "December"};
const char *const pawl__liquid_days[7] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                          "Thursday", "Friday", "Saturday"};

/* ---- reading ----------------------------------------------------------------------------- */

static int digits_of(struct pawl_str text, size_t from, size_t count)
{
    int value = 0;

    for (size_t i = from; i < from + count; i++) {
        if (i >= text.len || text.ptr[i] < '0' || text.ptr[i] > '9')
            return -1;
        value = value * 10 + (text.ptr[i] - '0');
    }
    return value;
}

/* yyyy and yyyy-MM, which nothing else reads. */
static bool read_month(struct pawl_str text, struct pawl_datetime *out)
{
    struct pawl_civil civil = {.year = digits_of(text, 0, 4), .month = 1, .day = 1};

    if (text.len != 4 && (text.len != 7 || text.ptr[4] != '-'))
        return false;
    if (text.len == 7)
        civil.month = digits_of(text, 5, 2);
    return civil.year >= 1 && civil.month >= 1 &&
           pawl__datetime_make(&civil, PAWL_DATETIME_UTC, 0, out, NULL) == PAWL_OK;
}

static bool read_text(struct liquid_run *run, struct pawl_str text, struct pawl_datetime *out)
{
    if (pawl__str_is(text, "now") || pawl__str_is(text, "today")) {
        *out = (struct pawl_datetime){.ticks = run->scope->now_ticks, .kind = PAWL_DATETIME_UTC};
        return true;
    }
    text = pawl__str_trim(text);
    return read_month(text, out) || (text.len > 0 && pawl__net_date_parse(text, out));
}

bool pawl__liquid_to_date(struct liquid_run *run, const struct liquid_value *value,
                          struct pawl_datetime *out)
{
    struct pawl_net_decimal ms;
    int64_t whole;

    if (value->kind == LIQUID_DATE) {
        *out = value->u.date;
        return true;
    }
    if (value->kind == LIQUID_STRING)
        return read_text(run, value->u.text, out);
    if (value->kind != LIQUID_NUMBER ||
        !pawl__liquid_multiply(value->u.number, pawl__liquid_int(1000).u.number, &ms))
        return false;
    ms = pawl__liquid_floor(ms);
    return pawl__net_decimal_to_int(&ms, &whole) &&
           pawl__datetime_from_unix_ms(whole, out, NULL) == PAWL_OK;
}

int pawl__liquid_date_and_text(struct liquid_run *run, struct liquid_value *io,
                               const struct liquid_args *args, struct pawl_datetime *date,
                               struct pawl_str *text, bool *there)
{
    struct liquid_value first = pawl__liquid_arg(args, 0);

    *there = pawl__liquid_to_date(run, io, date) && !pawl__liquid_is_nil(&first);
    if (*there)
        return pawl__liquid_to_text(run, &first, text);
    *io = pawl__liquid_nil();
    return PAWL_OK;
}

/* ---- strftime ---------------------------------------------------------------------------- */

struct directive {
    char letter;
    bool upper;     /* ^ */
    bool swap;      /* # */
    bool colon;     /* : */
    char pad;       /* '0', ' ', '-' for none; 0: as the letter has it */
    unsigned width; /* 0: as the letter has it */
};

static void pad_number(struct pawl_buf *out, const struct directive *how, int64_t value,
                       unsigned width, char pad)
{
    char text[32];
    char *at = text + sizeof text;
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do
        *--at = (char)('0' + size % 10);
    while (size /= 10);
    if (how->pad)
        pad = how->pad;
    if (how->width)
        width = how->width;
    if (value < 0)
        *--at = '-';
    for (size_t len = (size_t)(text + sizeof text - at); pad != '-' && len < width; len++)
        pawl__buf_byte(out, pad);
    pawl__buf_append(out, at, (size_t)(text + sizeof text - at));
}

static void put_name(struct pawl_buf *out, const struct directive *how, const char *name,
                     size_t len)
{
    for (size_t i = strlen(name); i < how->width; i++)
        pawl__buf_byte(out, ' ');
    for (size_t i = 0; i < len && name[i]; i++) {
        bool upper = how->upper || how->swap;

        pawl__buf_byte(out,
                       upper && name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 32) : name[i]);
    }
}

/* Weeks as ISO 8601 counts them: from Monday, the first has the year's first Thursday. */
static int iso_week(struct pawl_datetime date, int64_t *year)
{
    int weekday = (pawl__datetime_weekday(date) + 6) % 7;
    int64_t thursday = date.ticks / PAWL_TICKS_PER_DAY - weekday + 3;
    int month;
    int day;

    pawl__civil_from_days(thursday, year, &month, &day);
    return (int)((thursday - pawl__days_from_civil(*year, 1, 1)) / 7) + 1;
}

static void put_offset(struct pawl_buf *out, struct pawl_datetime date, bool colon)
{
    int minutes = date.offset_minutes < 0 ? -date.offset_minutes : date.offset_minutes;

    pawl__buf_printf(out, colon ? "%c%02d:%02d" : "%c%02d%02d", date.offset_minutes < 0 ? '-' : '+',
                     minutes / 60, minutes % 60);
}

/* Those that are made of others; NULL. */
static const char *composed(char letter)
{
    switch (letter) {
    case 'c':
        return "%A, %d %B %Y %H:%M:%S";
    case 'D':
        return "%m/%d/%y";
    case 'F':
        return "%Y-%m-%d";
    case 'r':
        return "%I:%M:%S %p";
    case 'R':
    case 'X':
        return "%H:%M";
    case 'T':
        return "%H:%M:%S";
    case 'v':
        return "%e-%b-%Y";
    case 'x':
        return "%m/%d/%Y";
    case '+':
        return "%a %b %e %H:%M:%S %Z %Y";
    default:
        return NULL;
    }
}

static bool put_time(struct pawl_buf *out, const struct directive *how,
                     const struct pawl_civil *civil)
{
    int hour12 = civil->hour % 12 == 0 ? 12 : civil->hour % 12;

    switch (how->letter) {
    case 'H':
        pad_number(out, how, civil->hour, 2, '0');
        return true;
    case 'k':
        pad_number(out, how, civil->hour, 2, ' ');
        return true;
    case 'I':
        pad_number(out, how, hour12, 2, '0');
        return true;
    case 'l':
        pad_number(out, how, hour12, 2, ' ');
        return true;
    case 'M':
        pad_number(out, how, civil->minute, 2, '0');
        return true;
    case 'S':
        pad_number(out, how, civil->second, 2, '0');
        return true;
    case 'L':
        pad_number(out, how, civil->tick / 10000, 3, '0');
        return true;
    case 'N':
        pad_number(out, how, civil->tick * INT64_C(100), 9, '0');
        return true;
    case 'p':
        pawl__buf_text(out, how->swap ? (civil->hour < 12 ? "am" : "pm")
                                      : (civil->hour < 12 ? "AM" : "PM"));
        return true;
    case 'P':
        pawl__buf_text(out, civil->hour < 12 ? "am" : "pm");
        return true;
    default:
        return false;
    }
}

static bool put_day(struct pawl_buf *out, const struct directive *how, struct pawl_datetime date,
                    const struct pawl_civil *civil)
{
    int weekday = pawl__datetime_weekday(date);

    switch (how->letter) {
    case 'a':
    case 'A':
        put_name(out, how, pawl__liquid_days[weekday], how->letter == 'a' ? 3 : 20);
        return true;
    case 'b':
    case 'h':
    case 'B':
        put_name(out, how, pawl__liquid_months[civil->month - 1], how->letter == 'B' ? 20 : 3);
        return true;
    case 'd':
        pad_number(out, how, civil->day, 2, '0');
        return true;
    case 'e':
        pad_number(out, how, civil->day, 2, ' ');
        return true;
    case 'j':
        pad_number(out, how, pawl__datetime_day_of_year(date), 3, '0');
        return true;
    case 'm':
        pad_number(out, how, civil->month, 2, '0');
        return true;
    case 'u':
        pad_number(out, how, weekday == 0 ? 7 : weekday, 1, '0');
        return true;
    case 'w':
        pad_number(out, how, weekday, 1, '0');
        return true;
    default:
        return false;
    }
}

static bool put_year(struct pawl_buf *out, const struct directive *how, struct pawl_datetime date,
                     const struct pawl_civil *civil)
{
    int day = pawl__datetime_day_of_year(date) - 1;
    int weekday = pawl__datetime_weekday(date);
    int64_t iso_year = 0;
    int week = iso_week(date, &iso_year);

    switch (how->letter) {
    case 'C':
        pad_number(out, how, civil->year / 100, 2, '0');
        return true;
    case 'y':
        pad_number(out, how, civil->year % 100, 2, '0');
        return true;
    case 'Y':
        pad_number(out, how, civil->year, 4, '0');
        return true;
    case 'g':
        pad_number(out, how, iso_year % 100, 2, '0');
        return true;
    case 'G':
        pad_number(out, how, iso_year, 4, '0');
        return true;
    case 'U':
        pad_number(out, how, (day + 7 - weekday) / 7, 2, '0');
        return true;
    case 'V':
        pad_number(out, how, week, 2, '0');
        return true;
    case 'W':
        pad_number(out, how, (day + 7 - (weekday + 6) % 7) / 7, 2, '0');
        return true;
    case 's':
        pad_number(out, how,
                   (pawl__datetime_utc_ticks(date) - PAWL_DATETIME_UNIX_EPOCH_TICKS) /
                       PAWL_TICKS_PER_SECOND,
                   1, '0');
        return true;
    default:
        return false;
    }
}

static void put_format(struct pawl_buf *out, struct pawl_str format, struct pawl_datetime date,
                       bool upper);

static void put_directive(struct pawl_buf *out, const struct directive *how,
                          struct pawl_datetime date)
{
    const char *parts = composed(how->letter);
    struct pawl_civil civil;

    pawl__datetime_civil(date, &civil);
    if (parts)
        put_format(out, pawl__str(parts), date, how->upper);
    else if (how->letter == '%' || how->letter == 'n' || how->letter == 't')
        pawl__buf_byte(out, how->letter == 'n' ? '\n' : how->letter == 't' ? '\t' : '%');
    else if (how->letter == 'z' || how->letter == 'Z')
        put_offset(out, date, how->letter == 'Z' || how->colon);
    else if (!put_time(out, how, &civil) && !put_day(out, how, date, &civil) &&
             !put_year(out, how, date, &civil))
        pawl__buf_printf(out, "%%%c", how->letter);
}

/* Flags and the width before the letter; false: it is not one. */
static bool read_flag(struct directive *how, char c)
{
    if (c == '^')
        how->upper = true;
    else if (c == '#')
        how->swap = true;
    else if (c == ':')
        how->colon = true;
    else if (c == '-')
        how->pad = '-';
    else if (c == '_')
        how->pad = ' ';
    else if (c == '0' && how->width == 0)
        how->pad = '0';
    else if (c >= '0' && c <= '9' && how->width < 20)
        how->width = how->width * 10 + (unsigned)(c - '0');
    else
        return false;
    if (how->width > 20)
        how->width = 20;
    return true;
}

static void put_format(struct pawl_buf *out, struct pawl_str format, struct pawl_datetime date,
                       bool upper)
{
    for (size_t at = 0; at < format.len; at++) {
        struct directive how = {.upper = upper};

        if (format.ptr[at] != '%') {
            pawl__buf_byte(out, format.ptr[at]);
            continue;
        }
        at++;
        while (at < format.len && read_flag(&how, format.ptr[at]))
            at++;
        /* Letters of other alphabets stand for themselves, as do all that mean nothing. */
        if (at >= format.len)
            break;
        how.letter = format.ptr[at];
        put_directive(out, &how, date);
    }
}

static int filter_date(struct liquid_run *run, struct liquid_value *io,
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
    put_format(&buf, format, date, false);
    return pawl__liquid_text_end(run, &buf, io);
}

/* ---- time_zone --------------------------------------------------------------------------- */

/* +hh:mm; UTC, GMT and Z. */
static bool read_zone(struct pawl_str text, int32_t *minutes)
{
    int hours;
    int rest;

    *minutes = 0;
    if (pawl__str_equal_nocase(text, pawl__str("UTC")) ||
        pawl__str_equal_nocase(text, pawl__str("GMT")) ||
        pawl__str_equal_nocase(text, pawl__str("Etc/UTC")) || pawl__str_is(text, "Z"))
        return true;
    if (text.len != 6 || (text.ptr[0] != '+' && text.ptr[0] != '-') || text.ptr[3] != ':')
        return false;
    hours = digits_of(text, 1, 2);
    rest = digits_of(text, 4, 2);
    if (hours < 0 || rest < 0 || rest > 59)
        return false;
    *minutes = (hours * 60 + rest) * (text.ptr[0] == '-' ? -1 : 1);
    return true;
}

/* Looking for a zone may read a file: a template that does so in a loop ends earlier. */
#define ZONE_STEPS 50

/* The offset that the zone has at that moment; 0 minutes and false when there is no such zone. */
static int find_zone(struct liquid_run *run, struct pawl_str name, struct pawl_datetime date,
                     int32_t *minutes, bool *found)
{
    int64_t seconds =
        (pawl__datetime_utc_ticks(date) - PAWL_DATETIME_UNIX_EPOCH_TICKS) / PAWL_TICKS_PER_SECOND;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_timezone *zone = NULL;
    int status = pawl__liquid_step(run, ZONE_STEPS);

    *found = false;
    if (status != PAWL_OK || !run->scope->timezone)
        return status;
    status = run->scope->timezone(run->arena->alloc, name, &zone, &err);
    if (status == PAWL_ENOMEM)
        return status;
    if (status == PAWL_ENOTFOUND || status == PAWL_EINVAL)
        return PAWL_OK;
    if (status != PAWL_OK) /* no database, or a broken one: not to be taken for an unknown zone */
        return pawl__liquid_raise(run, "InvalidTimeZoneException", "%s", err.msg);
    *minutes = pawl__timezone_at(zone, seconds).offset_s / 60;
    *found = true;
    pawl__timezone_free(zone);
    return PAWL_OK;
}

static int filter_time_zone(struct liquid_run *run, struct liquid_value *io,
                            const struct liquid_args *args)
{
    struct pawl_datetime date;
    struct pawl_str zone;
    int32_t minutes;
    bool found;
    bool there;
    int status = pawl__liquid_date_and_text(run, io, args, &date, &zone, &there);

    if (status != PAWL_OK || !there)
        return status;
    found = read_zone(zone, &minutes);
    if (!found)
        status = find_zone(run, zone, date, &minutes, &found);
    if (status != PAWL_OK)
        return status;
    if (found)
        (void)!pawl__datetime_to_offset(date, minutes, &date, NULL);
    *io = (struct liquid_value){.kind = LIQUID_DATE, .u.date = date};
    return PAWL_OK;
}

static const struct liquid_filter filters[] = {
    {"date", .apply = filter_date},
    {"time_zone", .apply = filter_time_zone},
};

const struct liquid_filters pawl__liquid_date_filters = {filters, sizeof filters / sizeof *filters};
