/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text behind a stimulus hash. The table below is the whole knowledge of Elsa's payload types;
 * properties that Elsa keeps out of the hash (a task's name, an endpoint's policy) are not in it.
 */
#include "base/hash/stimulus.h"

#include "base/stimuli.h"
#include "base/time/datetime.h"
#include "base/time/duration.h"

#define TEXT_BYTES_MAX ((size_t)1 << 20)

enum property_kind {
    TEXT,
    INSTANT,  /* normalised: no trailing zeros in the fraction; '+' stays as it is */
    DURATION, /* normalised to the constant form */
};

struct property {
    const char *name; /* NULL ends the list */
    enum property_kind kind;
};

#define PROPERTIES_MAX 3

struct payload_type {
    const char *type;     /* `_type` */
    const char *stimulus; /* where `_type` is absent: the stimulus name that carries it */
    struct property properties[PROPERTIES_MAX];
};

/* Of types with the same stimulus the first whose leading property is there is meant. */
static const struct payload_type payload_types[] = {
    {PAWL_STIMULUS_EVENT_TYPE, PAWL_STIMULUS_EVENT, {{"EventName", TEXT}}},
    {PAWL_STIMULUS_HTTP_ENDPOINT_TYPE,
     PAWL_STIMULUS_HTTP_ENDPOINT,
     {{"Path", TEXT}, {"Method", TEXT}}},
    {PAWL_STIMULUS_TASK_TYPE, PAWL_STIMULUS_TASK, {{"TaskId", TEXT}}},
    {PAWL_STIMULUS_DISPATCH_TYPE, PAWL_STIMULUS_DISPATCH, {{"ChildInstanceId", TEXT}}},
    {PAWL_STIMULUS_EXECUTE_TYPE, PAWL_STIMULUS_EXECUTE, {{"ChildInstanceId", TEXT}}},
    {PAWL_STIMULUS_BULK_TYPE, PAWL_STIMULUS_BULK, {{"ParentInstanceId", TEXT}}},
    {PAWL_STIMULUS_JOB_TYPE, "BackgroundActivity", {{NULL, TEXT}}},
    {"DelayPayload", PAWL_STIMULUS_DELAY, {{"ResumeAt", INSTANT}}},
    {"TimerTriggerPayload", PAWL_STIMULUS_TIMER, {{"StartAt", INSTANT}, {"Interval", DURATION}}},
    {"TimerBookmarkPayload", PAWL_STIMULUS_TIMER, {{"ResumeAt", INSTANT}}},
    {"CronBookmarkPayload", PAWL_STIMULUS_CRON, {{"ExecuteAt", INSTANT}, {"CronExpression", TEXT}}},
    {"CronTriggerPayload", PAWL_STIMULUS_CRON, {{"CronExpression", TEXT}}},
    {"StartAtPayload", PAWL_STIMULUS_START_AT, {{"ExecuteAt", INSTANT}}},
    {"AlterationPlanCompletedPayload", "Elsa.AlterationPlanCompleted", {{"PlanId", TEXT}}},
};

#define PAYLOAD_TYPE_COUNT (sizeof payload_types / sizeof payload_types[0])

static const struct payload_type *find_type(struct pawl_str name, const struct pawl_json *payload)
{
    struct pawl_str marker = pawl__json_str(pawl__json_get_text(payload, PAWL_STIMULUS_TYPE));
    const struct payload_type *fallback = NULL;

    for (size_t i = 0; i < PAYLOAD_TYPE_COUNT; i++) {
        const struct payload_type *type = &payload_types[i];
        const char *leading = type->properties[0].name;

        if (marker.len > 0) {
            if (pawl__str_is(marker, type->type))
                return type;
            continue;
        }
        if (!pawl__str_is(name, type->stimulus))
            continue;
        if (!leading || pawl__json_get_nocase(payload, pawl__str(leading)))
            return type;
        fallback = type;
    }
    return fallback;
}

static bool write_instant(struct pawl_json_writer *writer, struct pawl_str text)
{
    char normal[PAWL_DATETIME_TEXT_SIZE + 2];
    struct pawl_datetime instant;
    size_t length;

    if (pawl__datetime_parse(text, &instant, NULL) != PAWL_OK)
        return false;
    normal[0] = '"';
    length = pawl__datetime_format(instant, normal + 1) + 1;
    normal[length++] = '"';
    pawl__json_write_raw(writer, pawl__str_make(normal, length));
    return true;
}

static bool write_duration(struct pawl_json_writer *writer, struct pawl_str text)
{
    char normal[PAWL_DURATION_TEXT_SIZE];
    int64_t ticks;

    if (pawl__duration_parse_constant(text, &ticks, NULL) != PAWL_OK)
        return false;
    pawl__json_write_string(writer, pawl__str_make(normal, pawl__duration_format(ticks, normal)));
    return true;
}

static void write_property(struct pawl_json_writer *writer, const struct property *property,
                           const struct pawl_json *value)
{
    bool written = false;

    pawl__json_write_key_text(writer, property->name);
    if (pawl__json_is(value, PAWL_JSON_STRING) && property->kind == INSTANT)
        written = write_instant(writer, pawl__json_str(value));
    else if (pawl__json_is(value, PAWL_JSON_STRING) && property->kind == DURATION)
        written = write_duration(writer, pawl__json_str(value));
    if (written)
        return;
    if (value)
        pawl__json_write_value(writer, value);
    else
        pawl__json_write_null(writer);
}

static void write_known(struct pawl_json_writer *writer, const struct payload_type *type,
                        const struct pawl_json *payload)
{
    pawl__json_write_begin_object(writer);
    for (size_t i = 0; i < PROPERTIES_MAX && type->properties[i].name; i++)
        write_property(writer, &type->properties[i],
                       pawl__json_get_nocase(payload, pawl__str(type->properties[i].name)));
    pawl__json_write_end_object(writer);
}

/* The key with its first letter in upper case. */
static void write_pascal_key(struct pawl_json_writer *writer, struct pawl_str key)
{
    char head[64];

    if (key.len == 0 || key.len > sizeof head || key.ptr[0] < 'a' || key.ptr[0] > 'z') {
        pawl__json_write_key(writer, key);
        return;
    }
    memcpy(head, key.ptr, key.len);
    head[0] = (char)(head[0] - 'a' + 'A');
    pawl__json_write_key(writer, pawl__str_make(head, key.len));
}

static void write_other(struct pawl_json_writer *writer, const struct pawl_json *payload)
{
    pawl__json_write_begin_object(writer);
    for (uint32_t i = 0; i < pawl__json_len(payload); i++) {
        const struct pawl_json_member *member = pawl__json_member(payload, i);

        if (pawl__str_is(member->key, PAWL_STIMULUS_TYPE))
            continue;
        write_pascal_key(writer, member->key);
        pawl__json_write_value(writer, &member->value);
    }
    pawl__json_write_end_object(writer);
}

static void write_payload(struct pawl_buf *out, struct pawl_str name,
                          const struct pawl_json *payload)
{
    struct pawl_json_writer writer;
    const struct payload_type *type;

    pawl__json_writer_init(&writer, out, PAWL_JSON_ESCAPE_ASCII, 0);
    if (!pawl__json_is(payload, PAWL_JSON_OBJECT)) {
        pawl__json_write_value(&writer, payload);
        return;
    }
    type = find_type(name, payload);
    if (type)
        write_known(&writer, type, payload);
    else
        write_other(&writer, payload);
}

/* White space as .NET has it: what String.IsNullOrWhiteSpace passes over. */
static bool is_white(uint32_t c)
{
    return c == ' ' || (c >= 0x09 && c <= 0x0D) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

static bool is_blank(struct pawl_str s)
{
    size_t at = 0;

    while (at < s.len) {
        if (!is_white(pawl__utf8_next(s, &at)))
            return false;
    }
    return true;
}

static void separate(struct pawl_buf *out, size_t start)
{
    if (out->len > start)
        pawl__buf_byte(out, '|');
}

void pawl__stimulus_text(struct pawl_buf *out, struct pawl_str name,
                         const struct pawl_json *payload, struct pawl_str instance_id)
{
    size_t start = out->len;

    if (!is_blank(name))
        pawl__buf_str(out, name);
    if (pawl__json_is(payload, PAWL_JSON_STRING)) {
        if (!is_blank(pawl__json_str(payload))) {
            separate(out, start);
            pawl__buf_str(out, pawl__json_str(payload));
        }
    } else if (pawl__json_type(payload) != PAWL_JSON_NULL) {
        separate(out, start);
        write_payload(out, name, payload);
    }
    if (!is_blank(instance_id)) {
        separate(out, start);
        pawl__buf_str(out, instance_id);
    }
}

int pawl__stimulus_hash(const struct pawl_allocator *alloc, struct pawl_str name,
                        const struct pawl_json *payload, struct pawl_str instance_id,
                        char out[PAWL_SHA256_TEXT_SIZE])
{
    struct pawl_buf text;
    int status;

    pawl__buf_init(&text, alloc, TEXT_BYTES_MAX);
    pawl__stimulus_text(&text, name, payload, instance_id);
    status = text.status;
    if (status == PAWL_OK)
        pawl__sha256_text(pawl__buf_peek(&text), PAWL_HEX_UPPER, out);
    pawl__buf_release(&text);
    return status;
}
