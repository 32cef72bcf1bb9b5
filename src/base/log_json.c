/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines for machines, one JSON object each:
 *     {"time":"2026-11-16T03:42:06.123456Z","level":"warn","msg":"lock retry","instance":"abc"}
 *
 * Invariant: every line is one valid JSON document, also when it was cut ("truncated":true).
 */
#include "base/log_line.h"

#include <math.h>
#include <stdio.h>

static void put_key(struct pawl_log_line *line, const char *key, const char *suffix)
{
    char whole[128];

    (void)snprintf(whole, sizeof whole, "%s%s", key, suffix);
    pawl__json_write_key_text(&line->json, whole);
}

static void put_text(struct pawl_log_line *line, const struct pawl_log_piece *piece)
{
    char cut[PAWL_LOG_LINE_MAX + sizeof "…"];

    if (!piece->cut) {
        pawl__json_write_string(&line->json, piece->text);
        return;
    }
    memcpy(cut, piece->text.ptr, piece->text.len);
    memcpy(cut + piece->text.len, "…", sizeof "…");
    pawl__json_write_string_text(&line->json, cut);
}

static void put_uint(struct pawl_log_line *line, uint64_t value)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%ju", (uintmax_t)value);
    pawl__json_write_raw(&line->json, pawl__str(text));
}

static void put_hex(struct pawl_log_line *line, uint64_t value)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%016jx", (uintmax_t)value);
    pawl__json_write_string_text(&line->json, text);
}

static void put_double(struct pawl_log_line *line, double value)
{
    if (isfinite(value))
        pawl__json_write_double(&line->json, value);
    else if (isnan(value))
        pawl__json_write_string_text(&line->json, "nan");
    else
        pawl__json_write_string_text(&line->json, value < 0 ? "-inf" : "inf");
}

static void put_error(struct pawl_log_line *line, const struct pawl_log_piece *piece)
{
    const struct pawl_error *err = piece->field->u.error;

    pawl__json_write_string_text(&line->json, pawl_error_name(err ? err->code : PAWL_OK));
    if (piece->text.len > 0) {
        put_key(line, piece->field->key, "_msg");
        put_text(line, piece);
    }
}

static void json_begin(struct pawl_log_line *line, enum pawl_log_level level,
                       const struct pawl_civil *time, struct pawl_str message)
{
    char text[64];

    (void)snprintf(text, sizeof text, "%04lld-%02d-%02dT%02d:%02d:%02d.%06dZ",
                   (long long)time->year, time->month, time->day, time->hour, time->minute,
                   time->second, time->tick / 10);
    pawl__json_writer_init(&line->json, &line->out, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__json_write_begin_object(&line->json);
    pawl__json_write_key_text(&line->json, "time");
    pawl__json_write_string_text(&line->json, text);
    pawl__json_write_key_text(&line->json, "level");
    pawl__json_write_string_text(&line->json, pawl_log_level_name(level));
    pawl__json_write_key_text(&line->json, "msg");
    pawl__json_write_string(&line->json, message);
}

static void json_field(struct pawl_log_line *line, const struct pawl_log_piece *piece)
{
    const struct pawl_log_field *field = piece->field;

    put_key(line, field->key, field->kind == PAWL_LOG_KIND_DURATION ? "_ns" : "");
    switch (field->kind) {
    case PAWL_LOG_KIND_TEXT:
        put_text(line, piece);
        break;
    case PAWL_LOG_KIND_INT:
    case PAWL_LOG_KIND_DURATION:
        pawl__json_write_int(&line->json, field->u.integer);
        break;
    case PAWL_LOG_KIND_UINT:
        put_uint(line, field->u.natural);
        break;
    case PAWL_LOG_KIND_HEX:
        put_hex(line, field->u.natural);
        break;
    case PAWL_LOG_KIND_BOOL:
        pawl__json_write_bool(&line->json, field->u.integer != 0);
        break;
    case PAWL_LOG_KIND_DOUBLE:
        put_double(line, field->u.real);
        break;
    case PAWL_LOG_KIND_ERROR:
        put_error(line, piece);
        break;
    case PAWL_LOG_KIND_END:
        break;
    }
}

static void json_end(struct pawl_log_line *line, bool truncated)
{
    if (truncated) {
        pawl__json_write_key_text(&line->json, "truncated");
        pawl__json_write_bool(&line->json, true);
    }
    pawl__json_write_end_object(&line->json);
    pawl__buf_byte(&line->out, '\n');
}

const struct pawl_log_format_ops pawl__log_json_ops = {json_begin, json_field, json_end};
