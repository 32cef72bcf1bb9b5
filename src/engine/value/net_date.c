/* SPDX-License-Identifier: Apache-2.0 */
/* Reads dates form by form, each from the start of the text; see net_date.h. */
#include "engine/value/net_date.h"

/* ---- reading ----------------------------------------------------------------------------- */

struct cursor {
    struct pawl_str text;
    size_t at;
};

static bool at_end(const struct cursor *in)
{
    return in->at == in->text.len;
}

static bool take(struct cursor *in, char c)
{
    if (at_end(in) || in->text.ptr[in->at] != c)
        return false;
    in->at++;
    return true;
}

static void take_blanks(struct cursor *in)
{
    while (take(in, ' '))
        continue;
}

/* Up to `most` digits; returns how many there were. */
static int take_number(struct cursor *in, int most, int *out)
{
    int count = 0;

    *out = 0;
    while (count < most && !at_end(in) && in->text.ptr[in->at] >= '0' &&
           in->text.ptr[in->at] <= '9') {
        *out = *out * 10 + (in->text.ptr[in->at++] - '0');
        count++;
    }
    return count;
}

static bool take_word(struct cursor *in, const char *word)
{
    struct pawl_str wanted = pawl__str(word);
    struct pawl_str there = pawl__str_slice(in->text, in->at, in->at + wanted.len);

    if (!pawl__str_equal_nocase(there, wanted))
        return false;
    in->at += wanted.len;
    return true;
}

/* h:mm[:ss[.fffffff]] [AM|PM] */
static bool take_time(struct cursor *in, struct pawl_civil *out)
{
    int scale = PAWL_TICKS_PER_SECOND;

    if (take_number(in, 2, &out->hour) == 0 || !take(in, ':') ||
        take_number(in, 2, &out->minute) == 0)
        return false;
    if (take(in, ':')) {
        if (take_number(in, 2, &out->second) == 0)
            return false;
        if (take(in, '.')) {
            int digit;

            while (take_number(in, 1, &digit) == 1) {
                scale /= 10;
                out->tick += digit * scale;
            }
        }
    }
    take_blanks(in);
    if (take_word(in, "AM")) {
        if (out->hour == 0 || out->hour > 12)
            return false;
        out->hour %= 12;
    } else if (take_word(in, "PM")) {
        if (out->hour == 0 || out->hour > 12)
            return false;
        out->hour = out->hour % 12 + 12;
    }
    return true;
}

/* M/d/yyyy or yyyy/M/d */
static bool take_slashed(struct cursor *in, struct pawl_civil *out)
{
    int parts[3];
    int digits = take_number(in, 4, &parts[0]);
    bool year_first = digits == 4;

    if (digits == 0 || digits == 3 || !take(in, '/') || take_number(in, 2, &parts[1]) == 0 ||
        !take(in, '/'))
        return false;
    if (year_first ? take_number(in, 2, &parts[2]) == 0 : take_number(in, 4, &parts[2]) != 4)
        return false;
    out->year = year_first ? parts[0] : parts[2];
    out->month = year_first ? parts[1] : parts[0];
    out->day = year_first ? parts[2] : parts[1];
    return true;
}

/* [ddd, ]d MMM yyyy */
static bool take_rfc1123(struct cursor *in, struct pawl_civil *out)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    int year;

    for (size_t i = 0; i < sizeof days / sizeof days[0]; i++) {
        if (take_word(in, days[i]) && !take(in, ','))
            return false;
    }
    take_blanks(in);
    if (take_number(in, 2, &out->day) == 0)
        return false;
    take_blanks(in);
    for (size_t i = 0; i < sizeof months / sizeof months[0] && out->month == 0; i++) {
        if (take_word(in, months[i]))
            out->month = (int)i + 1;
    }
    take_blanks(in);
    if (out->month == 0 || take_number(in, 4, &year) != 4)
        return false;
    out->year = year;
    return true;
}

static bool parse_other(struct pawl_str text, struct pawl_datetime *out)
{
    struct cursor in = {.text = text};
    struct pawl_civil civil = {.month = 0};
    enum pawl_datetime_kind kind = PAWL_DATETIME_UNSPECIFIED;

    if (!take_slashed(&in, &civil)) {
        in.at = 0;
        civil = (struct pawl_civil){.month = 0};
        if (!take_rfc1123(&in, &civil))
            return false;
    }
    if (!at_end(&in)) {
        if (!take(&in, ' '))
            return false;
        take_blanks(&in);
        if (!take_time(&in, &civil))
            return false;
        take_blanks(&in);
        if (take_word(&in, "GMT") || take_word(&in, "Z"))
            kind = PAWL_DATETIME_UTC;
    }
    return at_end(&in) && pawl__datetime_make(&civil, kind, 0, out, NULL) == PAWL_OK;
}

bool pawl__net_date_parse(struct pawl_str text, struct pawl_datetime *out)
{
    return pawl__datetime_parse(text, out, NULL) == PAWL_OK || parse_other(text, out);
}

/* ---- writing ----------------------------------------------------------------------------- */

void pawl__net_date_write(struct pawl_buf *out, struct pawl_datetime date, bool with_offset)
{
    struct pawl_civil civil;
    int offset = date.offset_minutes;

    if (date.ticks == 0)
        return;
    pawl__datetime_civil(date, &civil);
    pawl__buf_printf(out, "%02d/%02d/%04d", civil.month, civil.day, (int)civil.year);
    if (date.ticks % PAWL_TICKS_PER_DAY != 0)
        pawl__buf_printf(out, " %02d:%02d", civil.hour, civil.minute);
    if (with_offset)
        pawl__buf_printf(out, " %c%02d:%02d", offset < 0 ? '-' : '+',
                         (offset < 0 ? -offset : offset) / 60,
                         (offset < 0 ? -offset : offset) % 60);
}
