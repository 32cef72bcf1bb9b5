/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Into dates, time spans, Guids and bytes. The engine's local time zone is UTC: a date that says
 * where it is becomes a local one, written with +00:00.
 */
#include "base/base64.h"
#include "base/id.h"
#include "base/time/duration.h"
#include "engine/convert/rules.h"
#include "engine/value/net_date.h"

/* ---- dates ------------------------------------------------------------------------------- */

bool pawl__convert_date_of(struct pawl_value value, struct pawl_datetime *out)
{
    return pawl__datetime_parse(pawl__json_str(&value.json), out, NULL) == PAWL_OK;
}

int pawl__convert_make_date(struct pawl_converting *c, struct pawl_datetime date,
                            const struct pawl_type *target, struct pawl_value *out)
{
    char text[PAWL_DATETIME_TEXT_SIZE];
    size_t len = pawl__datetime_format(date, text);

    return pawl__convert_text_value(c, pawl__str_make(text, len), target, out);
}

/* A date with a place, as DateTime keeps it: in local time. */
static int localise(struct pawl_datetime *date)
{
    if (date->kind == PAWL_DATETIME_UNSPECIFIED)
        return PAWL_OK;
    return pawl__datetime_to_offset(*date, 0, date, NULL);
}

static int text_to_date(struct pawl_converting *c, struct pawl_str text,
                        const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_datetime date = {.kind = PAWL_DATETIME_UNSPECIFIED};
    struct pawl_str trimmed = pawl__str_trim(text);

    /* Blank text is the first of all days, not null. */
    if (trimmed.len > 0 && !pawl__net_date_parse(trimmed, &date))
        return CONVERT_FAILED;
    if (target->kind == PAWL_TYPE_DATETIMEOFFSET) {
        if (date.kind != PAWL_DATETIME_OFFSET)
            date.offset_minutes = 0;
        date.kind = PAWL_DATETIME_OFFSET;
    } else if (localise(&date) != PAWL_OK) {
        return CONVERT_FAILED;
    }
    return pawl__convert_make_date(c, date, target, out);
}

int pawl__convert_to_date(struct pawl_converting *c, struct pawl_value value,
                          const struct pawl_type *target, struct pawl_value *out)
{
    enum pawl_type_kind kind = value.type->kind;
    struct pawl_datetime date;

    if (kind == PAWL_TYPE_STRING)
        return text_to_date(c, pawl__json_str(&value.json), target, out);
    if ((kind != PAWL_TYPE_DATETIME && kind != PAWL_TYPE_DATETIMEOFFSET) ||
        !pawl__convert_date_of(value, &date))
        return CONVERT_FAILED;
    /* To DateTimeOffset: at the local offset. To DateTime: the clock reading, of no place. */
    date.offset_minutes = 0;
    date.kind =
        target->kind == PAWL_TYPE_DATETIMEOFFSET ? PAWL_DATETIME_OFFSET : PAWL_DATETIME_UNSPECIFIED;
    return pawl__convert_make_date(c, date, target, out);
}

/* ---- TimeSpan ---------------------------------------------------------------------------- */

int pawl__convert_to_timespan(struct pawl_converting *c, struct pawl_value value,
                              const struct pawl_type *target, struct pawl_value *out)
{
    char text[PAWL_DURATION_TEXT_SIZE];
    int64_t ticks;
    size_t len;

    if (value.type->kind != PAWL_TYPE_STRING ||
        pawl__duration_parse(pawl__json_str(&value.json), &ticks, NULL) != PAWL_OK)
        return CONVERT_FAILED;
    len = pawl__duration_format(ticks, text);
    return pawl__convert_text_value(c, pawl__str_make(text, len), target, out);
}

/* ---- Guid -------------------------------------------------------------------------------- */

int pawl__convert_to_guid(struct pawl_converting *c, struct pawl_value value,
                          const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_str text = pawl__str_trim(pawl__json_str(&value.json));
    char formatted[PAWL_UUID_TEXT_SIZE];
    struct pawl_uuid uuid;

    if (value.type->kind != PAWL_TYPE_STRING)
        return CONVERT_FAILED;
    if (pawl__str_starts(text, pawl__str("(")) && pawl__str_ends(text, pawl__str(")"))) {
        text = pawl__str_slice(text, 1, text.len - 1);
        if (text.len != PAWL_UUID_TEXT_SIZE - 1)
            return CONVERT_FAILED;
    }
    if (pawl__uuid_parse(text, &uuid, NULL) != PAWL_OK)
        return CONVERT_FAILED;
    pawl__uuid_format(&uuid, formatted);
    return pawl__convert_text_value(c, pawl__str(formatted), target, out);
}

/* ---- bytes ------------------------------------------------------------------------------- */

int pawl__convert_to_bytes(struct pawl_converting *c, struct pawl_value value,
                           const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_str text = pawl__json_str(&value.json);
    size_t count = pawl__base64_decode(text, NULL);
    unsigned char *bytes;
    size_t len;
    char *clean;

    if (count == SIZE_MAX)
        return pawl__convert_raise(
            c, "FormatException",
            "The input is not a valid Base-64 string as it contains a non-base 64 character, more "
            "than two padding characters, or an illegal character among the padding characters.");
    len = pawl__base64_len(count);
    bytes = pawl__arena_alloc(c->arena, count + 1);
    clean = pawl__arena_alloc(c->arena, len + 1);
    if (!bytes || !clean)
        return c->arena->status;
    pawl__base64_decode(text, bytes);
    pawl__base64_encode(bytes, count, clean);
    clean[len] = '\0';
    *out =
        (struct pawl_value){.json = pawl__json_string(pawl__str_make(clean, len)), .type = target};
    return PAWL_OK;
}
