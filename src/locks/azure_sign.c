/* SPDX-License-Identifier: Apache-2.0 */
/* What Azure's SharedKey signs, and dates as HTTP writes them. */
#include "base/hex.h"
#include "base/time/datetime.h"
#include "locks/azure_private.h"

#include <stdio.h>

#define NS_PER_S INT64_C(1000000000)
#define S_PER_DAY 86400
/* From 0001-01-01 to 1970-01-01. */
#define EPOCH_DAYS 719162

static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
static const char weekdays[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

/* ---- dates -------------------------------------------------------------------------------- */

void pawl__azure_date_format(int64_t wall_ns, char out[AZURE_DATE_SIZE])
{
    int64_t seconds = wall_ns / NS_PER_S - (wall_ns % NS_PER_S < 0 ? 1 : 0);
    int64_t day = seconds / S_PER_DAY - (seconds % S_PER_DAY < 0 ? 1 : 0), year;
    unsigned rest = (unsigned)(seconds - day * S_PER_DAY);
    int month, of_month;

    pawl__civil_from_days(day + EPOCH_DAYS, &year, &month, &of_month);
    if (year < 1 || year > 9999)
        year = 1;
    (void)snprintf(out, AZURE_DATE_SIZE, "%s, %02u %s %04u %02u:%02u:%02u GMT",
                   weekdays[pawl__days_weekday(day + EPOCH_DAYS)], (unsigned)of_month % 100,
                   months[(unsigned)(month - 1) % 12], (unsigned)year % 10000, rest / 3600 % 24,
                   rest / 60 % 60, rest % 60);
}

/* `count` digits at `at`; -1: others are there. */
static int digits_at(struct pawl_str text, size_t at, size_t count)
{
    int value = 0;

    for (size_t i = at; i < at + count; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return -1;
        value = value * 10 + (text.ptr[i] - '0');
    }
    return value;
}

bool pawl__azure_date_parse(struct pawl_str text, int64_t *out_s)
{
    int day, year, hour, minute, second, month = 0;

    if (text.len != AZURE_DATE_SIZE - 1 || memcmp(text.ptr + 25, " GMT", 4) != 0 ||
        text.ptr[4] != ' ' || text.ptr[7] != ' ' || text.ptr[11] != ' ' || text.ptr[16] != ' ' ||
        text.ptr[19] != ':' || text.ptr[22] != ':')
        return false;
    day = digits_at(text, 5, 2);
    year = digits_at(text, 12, 4);
    hour = digits_at(text, 17, 2);
    minute = digits_at(text, 20, 2);
    second = digits_at(text, 23, 2);
    for (int i = 0; i < 12; i++)
        if (memcmp(text.ptr + 8, months[i], 3) == 0)
            month = i + 1;
    if (month == 0 || year < 1970 || day < 1 || day > pawl__month_days(year, month) || hour < 0 ||
        hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return false;
    *out_s = (pawl__days_from_civil(year, month, day) - EPOCH_DAYS) * S_PER_DAY + hour * 3600 +
             minute * 60 + second;
    return true;
}

/* ---- what is signed ----------------------------------------------------------------------- */

static struct pawl_str find_header(const struct azure_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (pawl__str_equal_nocase(request->headers[i].name, pawl__str(name)))
            return request->headers[i].value;
    return pawl__str("");
}

static void sort_headers(struct azure_request *request)
{
    for (size_t i = 1; i < request->header_count; i++) {
        struct pawl_http_header moved = request->headers[i];
        size_t at = i;

        while (at > 0 && pawl__str_compare(moved.name, request->headers[at - 1].name) < 0) {
            request->headers[at] = request->headers[at - 1];
            at--;
        }
        request->headers[at] = moved;
    }
}

/* What is signed is the value, not what the URL shows of it. */
static void append_decoded(struct pawl_str text, struct pawl_buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte;

        if (text.ptr[i] == '%' && i + 2 < text.len &&
            pawl__hex_decode(pawl__str_slice(text, i + 1, i + 3), &byte)) {
            pawl__buf_byte(out, (char)byte);
            i += 2;
        } else {
            pawl__buf_byte(out, text.ptr[i]);
        }
    }
}

/* Each parameter of the query on a line of its own; they come in the order of their names. */
static void append_query(const char *query, struct pawl_buf *out)
{
    struct pawl_str text = pawl__str(query);
    size_t at = 0;

    while (at < text.len) {
        size_t end = pawl__str_find(text, '&', at);
        struct pawl_str part = pawl__str_slice(text, at, end);
        size_t equals = pawl__str_find(part, '=', 0);

        pawl__buf_byte(out, '\n');
        pawl__buf_str(out, pawl__str_slice(part, 0, equals));
        pawl__buf_byte(out, ':');
        if (equals != SIZE_MAX)
            append_decoded(pawl__str_slice(part, equals + 1, part.len), out);
        at = end == SIZE_MAX ? text.len : end + 1;
    }
}

void pawl__azure_string_to_sign(const struct azure_place *place, struct azure_request *request,
                                struct pawl_buf *out)
{
    static const char *const standard[] = {"Content-Encoding",
                                           "Content-Language",
                                           "Content-Length",
                                           "Content-MD5",
                                           "Content-Type",
                                           "Date",
                                           "If-Modified-Since",
                                           "If-Match",
                                           "If-None-Match",
                                           "If-Unmodified-Since",
                                           "Range"};

    sort_headers(request);
    pawl__buf_text(out, request->method);
    pawl__buf_byte(out, '\n');
    for (size_t i = 0; i < sizeof standard / sizeof standard[0]; i++) {
        pawl__buf_str(out, find_header(request, standard[i]));
        pawl__buf_byte(out, '\n');
    }
    for (size_t i = 0; i < request->header_count; i++) {
        if (!pawl__str_starts(request->headers[i].name, pawl__str("x-ms-")))
            continue;
        pawl__buf_str(out, request->headers[i].name);
        pawl__buf_byte(out, ':');
        pawl__buf_str(out, request->headers[i].value);
        pawl__buf_byte(out, '\n');
    }
    pawl__buf_printf(out, "/%s%s%s", place->account, place->base_path, request->path);
    append_query(request->query, out);
}
