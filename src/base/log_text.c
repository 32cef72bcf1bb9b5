/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines for people:
 *     2026-11-16 03:42:06.123 WARN  lock retry  instance=abc wait=1.5s note="two words"
 *
 * Invariant: of a value, only what pawl__printable() lets through is written.
 */
#include "base/log_line.h"

#include <math.h>
#include <stdio.h>

#define COLOR_OFF "\033[0m"
#define COLOR_DIM "\033[2m"

static const char *level_label(enum pawl_log_level level)
{
    switch (level) {
    case PAWL_LOG_ERROR:
        return "ERROR";
    case PAWL_LOG_WARN:
        return "WARN ";
    case PAWL_LOG_INFO:
        return "INFO ";
    case PAWL_LOG_DEBUG:
        return "DEBUG";
    case PAWL_LOG_TRACE:
    case PAWL_LOG_OFF:
        break;
    }
    return "TRACE";
}

static const char *level_color(enum pawl_log_level level)
{
    switch (level) {
    case PAWL_LOG_ERROR:
        return "\033[1;31m";
    case PAWL_LOG_WARN:
        return "\033[33m";
    case PAWL_LOG_INFO:
        return "\033[32m";
    case PAWL_LOG_DEBUG:
        return "\033[36m";
    case PAWL_LOG_TRACE:
    case PAWL_LOG_OFF:
        break;
    }
    return COLOR_DIM;
}

static void color(struct pawl_log_line *line, const char *code)
{
    if (line->log->config.color)
        pawl__buf_text(&line->out, code);
}

/* Characters that would move the cursor, end the line, or make text read in another order. */
static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x061C || (c >= 0x200E && c <= 0x200F) ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/* Most bytes of most texts: printable ASCII that is never escaped. */
static bool is_safe(char c)
{
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

size_t pawl__printable_next(struct pawl_str s, size_t *pos, bool quoted,
                            char out[PAWL_PRINTABLE_MAX])
{
    size_t start = *pos;
    uint32_t c = pawl__utf8_next(s, pos);
    size_t len = *pos - start, at = 0;
    bool malformed = c == 0xFFFD && len == 1;

    if (malformed || (is_control(c) && c < 0x80 && c != '\n' && c != '\r' && c != '\t'))
        return (size_t)snprintf(out, PAWL_PRINTABLE_MAX, "\\x%02x",
                                (unsigned)(unsigned char)s.ptr[start]);
    if (is_control(c) && c >= 0x80)
        return (size_t)snprintf(out, PAWL_PRINTABLE_MAX, "\\u%04x", (unsigned)c);
    if (is_control(c)) {
        out[0] = '\\';
        out[1] = c == '\n' ? 'n' : c == '\r' ? 'r' : 't';
        return 2;
    }
    if (quoted && (c == '"' || c == '\\'))
        out[at++] = '\\';
    memcpy(out + at, s.ptr + start, len);
    return at + len;
}

void pawl__printable(struct pawl_buf *out, struct pawl_str s, bool quoted)
{
    size_t at = 0;

    while (at < s.len) {
        char bytes[PAWL_PRINTABLE_MAX];
        size_t start = at, len;

        while (at < s.len && is_safe(s.ptr[at]))
            at++;
        pawl__buf_append(out, s.ptr + start, at - start);
        if (at == s.len)
            break;
        len = pawl__printable_next(s, &at, quoted, bytes);
        pawl__buf_append(out, bytes, len);
    }
}

/* Whether a reader sees without quotes where the value ends and that it is this value. */
static bool is_plain(struct pawl_str s)
{
    size_t at = 0;

    while (at < s.len) {
        size_t start = at;
        uint32_t c = pawl__utf8_next(s, &at);

        if (c == ' ' || c == '"' || c == '=' || c == '\\' || c == 0xA0 || is_control(c) ||
            (c == 0xFFFD && at - start == 1))
            return false;
    }
    return s.len > 0;
}

static void put_text(struct pawl_buf *out, struct pawl_str s, bool cut)
{
    bool plain = is_plain(s) && !cut;

    if (!plain)
        pawl__buf_byte(out, '"');
    pawl__printable(out, s, true);
    if (cut)
        pawl__buf_text(out, "…");
    if (!plain)
        pawl__buf_byte(out, '"');
}

/* Three digits behind the point at the most, none that is a trailing 0, in the largest unit. */
static void put_duration(struct pawl_buf *out, int64_t duration_ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"h", UINT64_C(3600000000000)},
                 {"m", UINT64_C(60000000000)},
                 {"s", 1000000000},
                 {"ms", 1000000},
                 {"us", 1000}};
    uint64_t ns = duration_ns < 0 ? 0 - (uint64_t)duration_ns : (uint64_t)duration_ns;

    if (duration_ns < 0)
        pawl__buf_byte(out, '-');
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        uint64_t thousandths = ns / (units[i].ns / 1000) % 1000;
        char digits[4];

        if (ns < units[i].ns)
            continue;
        pawl__buf_int(out, (int64_t)(ns / units[i].ns));
        (void)snprintf(digits, sizeof digits, "%03u", (unsigned)thousandths % 1000u);
        for (size_t len = 3; len > 0 && digits[len - 1] == '0'; len--)
            digits[len - 1] = '\0';
        if (digits[0])
            pawl__buf_printf(out, ".%s", digits);
        pawl__buf_text(out, units[i].name);
        return;
    }
    pawl__buf_int(out, (int64_t)ns);
    pawl__buf_text(out, "ns");
}

static void put_key(struct pawl_log_line *line, const char *key, const char *suffix)
{
    pawl__buf_text(&line->out, line->first ? "  " : " ");
    line->first = false;
    color(line, COLOR_DIM);
    pawl__printable(&line->out, pawl__str(key), false);
    pawl__buf_text(&line->out, suffix);
    color(line, COLOR_OFF);
    pawl__buf_byte(&line->out, '=');
}

static void put_error(struct pawl_log_line *line, const struct pawl_log_piece *piece)
{
    const struct pawl_error *err = piece->field->u.error;

    pawl__buf_text(&line->out, pawl_error_name(err ? err->code : PAWL_OK));
    if (piece->text.len > 0) {
        put_key(line, piece->field->key, "_msg");
        put_text(&line->out, piece->text, piece->cut);
    }
}

static void text_begin(struct pawl_log_line *line, enum pawl_log_level level,
                       const struct pawl_civil *time, struct pawl_str message)
{
    char text[64];

    (void)snprintf(text, sizeof text, "%04lld-%02d-%02d %02d:%02d:%02d.%03d ",
                   (long long)time->year, time->month, time->day, time->hour, time->minute,
                   time->second, time->tick / 10000);
    pawl__buf_text(&line->out, text);
    color(line, level_color(level));
    pawl__buf_text(&line->out, level_label(level));
    color(line, COLOR_OFF);
    pawl__buf_byte(&line->out, ' ');
    pawl__printable(&line->out, message, false);
}

static void text_field(struct pawl_log_line *line, const struct pawl_log_piece *piece)
{
    const struct pawl_log_field *field = piece->field;
    struct pawl_buf *out = &line->out;

    put_key(line, field->key, "");
    switch (field->kind) {
    case PAWL_LOG_KIND_TEXT:
        put_text(out, piece->text, piece->cut);
        break;
    case PAWL_LOG_KIND_INT:
        pawl__buf_int(out, field->u.integer);
        break;
    case PAWL_LOG_KIND_UINT:
        pawl__buf_printf(out, "%ju", (uintmax_t)field->u.natural);
        break;
    case PAWL_LOG_KIND_HEX:
        pawl__buf_printf(out, "%016jx", (uintmax_t)field->u.natural);
        break;
    case PAWL_LOG_KIND_BOOL:
        pawl__buf_text(out, field->u.integer ? "true" : "false");
        break;
    case PAWL_LOG_KIND_DOUBLE:
        if (isnan(field->u.real))
            pawl__buf_text(out, "nan"); /* printf would show its sign */
        else
            pawl__buf_printf(out, "%g", field->u.real);
        break;
    case PAWL_LOG_KIND_ERROR:
        put_error(line, piece);
        break;
    case PAWL_LOG_KIND_DURATION:
        put_duration(out, field->u.integer);
        break;
    case PAWL_LOG_KIND_END:
        break;
    }
}

static void text_end(struct pawl_log_line *line, bool truncated)
{
    pawl__buf_text(&line->out, truncated ? " (truncated)\n" : "\n");
}

const struct pawl_log_format_ops pawl__log_text_ops = {text_begin, text_field, text_end};
