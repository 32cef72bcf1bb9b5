/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer: values to text, into a buffer. Strings are escaped by escape.c, numbers laid out
 * by decimal.c; here are structure, commas and indentation.
 *
 * The buffer's status is the only outcome: what fails leaves it there and what follows is lost.
 */
#include "base/decimal.h"
#include "base/json/escape.h"
#include "base/json/json.h"

_Static_assert(sizeof((struct pawl_json_writer *)NULL)->nesting * 8 >= PAWL_JSON_DEPTH_MAX,
               "one bit for each level");

static void fail(struct pawl_buf *out, int status)
{
    if (out->status == PAWL_OK)
        out->status = status;
}

/* ---- scalars ---------------------------------------------------------------------------- */

/* Room for a number in the buffer, or in `spare` where its maximum is too near to know. */
static inline char *number_room(struct pawl_buf *out, char spare[PAWL_DECIMAL_SIZE])
{
    char *to = NULL;

    if (PAWL_LIKELY(out->max - out->len >= PAWL_DECIMAL_SIZE))
        to = pawl__buf_reserve(out, PAWL_DECIMAL_SIZE);
    return to ? to : spare;
}

static inline void number_written(struct pawl_buf *out, const char *text, size_t len,
                                  const char *spare)
{
    if (PAWL_LIKELY(text != spare))
        out->len += len;
    else
        pawl__buf_append(out, text, len);
}

static inline void put_int(struct pawl_buf *out, int64_t value)
{
    char spare[PAWL_DECIMAL_SIZE];
    char *text = number_room(out, spare);

    number_written(out, text, pawl__decimal_from_int(value, text), spare);
}

static inline void put_double(struct pawl_buf *out, double value)
{
    char spare[PAWL_DECIMAL_SIZE];
    char *text = number_room(out, spare);
    size_t len = pawl__decimal_from_double(value, text);

    if (len == 0)
        fail(out, PAWL_EINVAL);
    number_written(out, text, len, spare);
}

static inline void put_bool(struct pawl_buf *out, bool value)
{
    pawl__buf_append(out, value ? "true" : "false", value ? 4 : 5);
}

/* ---- whole values, compact -------------------------------------------------------------- */

static void put_value(struct pawl_buf *out, const struct pawl_json *value,
                      enum pawl_json_escape escape, uint32_t depth);

static void put_array(struct pawl_buf *out, const struct pawl_json *array,
                      enum pawl_json_escape escape, uint32_t depth)
{
    if (depth == PAWL_JSON_DEPTH_MAX) {
        fail(out, PAWL_ELIMIT);
        return;
    }
    pawl__buf_byte(out, '[');
    for (uint32_t i = 0; i < array->len; i++) {
        if (i > 0)
            pawl__buf_byte(out, ',');
        put_value(out, &array->u.items[i], escape, depth + 1);
    }
    pawl__buf_byte(out, ']');
}

static void put_object(struct pawl_buf *out, const struct pawl_json *object,
                       enum pawl_json_escape escape, uint32_t depth)
{
    if (depth == PAWL_JSON_DEPTH_MAX) {
        fail(out, PAWL_ELIMIT);
        return;
    }
    if (object->len == 0) {
        pawl__buf_append(out, "{}", 2);
        return;
    }
    for (uint32_t i = 0; i < object->len; i++) {
        pawl__json_put_key(out, i > 0 ? ',' : '{', object->u.members[i].key, escape);
        put_value(out, &object->u.members[i].value, escape, depth + 1);
    }
    pawl__buf_byte(out, '}');
}

static void put_value(struct pawl_buf *out, const struct pawl_json *value,
                      enum pawl_json_escape escape, uint32_t depth)
{
    switch (pawl__json_type(value)) {
    case PAWL_JSON_NULL:
        pawl__buf_append(out, "null", 4);
        break;
    case PAWL_JSON_BOOL:
        put_bool(out, value->u.boolean);
        break;
    case PAWL_JSON_INT:
        put_int(out, value->u.integer);
        break;
    case PAWL_JSON_DOUBLE:
        put_double(out, value->u.real);
        break;
    case PAWL_JSON_NUMBER:
        pawl__buf_append(out, value->u.text, value->len);
        break;
    case PAWL_JSON_STRING:
        pawl__json_put_string(out, pawl__str_make(value->u.text, value->len), escape);
        break;
    case PAWL_JSON_ARRAY:
        put_array(out, value, escape, depth);
        break;
    case PAWL_JSON_OBJECT:
        put_object(out, value, escape, depth);
        break;
    }
}

void pawl__json_write(struct pawl_buf *out, const struct pawl_json *value,
                      enum pawl_json_escape escape)
{
    put_value(out, value, escape, 0);
}

void pawl__json_write_within(struct pawl_buf *out, const struct pawl_json *value,
                             enum pawl_json_escape escape, uint32_t depth)
{
    put_value(out, value, escape, depth);
}

/* ---- the writer ------------------------------------------------------------------------- */

void pawl__json_writer_init(struct pawl_json_writer *writer, struct pawl_buf *out,
                            enum pawl_json_escape escape, uint8_t indent)
{
    *writer = (struct pawl_json_writer){.out = out, .escape = escape, .indent = indent};
}

/* Whether a key (or a bare value) may come; past the deepest level nobody knows any more. */
static bool is_due(const struct pawl_json_writer *writer, bool key)
{
    uint32_t level = writer->depth - 1;

    if (writer->depth == 0)
        return !key;
    return level >= PAWL_JSON_DEPTH_MAX || (writer->nesting[level / 8] >> level % 8 & 1) == key;
}

static void new_line(struct pawl_json_writer *writer)
{
    static const char blanks[] = "\n                                ";
    size_t left = (size_t)writer->depth * writer->indent;

    pawl__buf_byte(writer->out, '\n');
    while (left > 0 && writer->out->status == PAWL_OK) {
        size_t count = left < sizeof blanks - 2 ? left : sizeof blanks - 2;

        pawl__buf_append(writer->out, blanks + 1, count);
        left -= count;
    }
}

/* What stands before an element or a key: a comma and a line break, as needed. */
static void separate(struct pawl_json_writer *writer)
{
    if (writer->need_comma)
        pawl__buf_byte(writer->out, ',');
    if (writer->indent > 0 && writer->depth > 0)
        new_line(writer);
}

/* Before each value. */
static void before_value(struct pawl_json_writer *writer)
{
    if (writer->after_key) {
        writer->after_key = false;
        return;
    }
    PAWL_ASSERT(is_due(writer, false));
    PAWL_ASSERT(writer->depth > 0 || !writer->need_comma); /* the document is not complete */
    separate(writer);
}

static void begin(struct pawl_json_writer *writer, bool is_object)
{
    before_value(writer);
    pawl__buf_byte(writer->out, is_object ? '{' : '[');
    if (writer->depth < PAWL_JSON_DEPTH_MAX) {
        uint8_t *byte = &writer->nesting[writer->depth / 8];
        uint8_t bit = (uint8_t)(1u << writer->depth % 8);

        *byte = (uint8_t)(is_object ? *byte | bit : *byte & ~bit);
    } else {
        fail(writer->out, PAWL_ELIMIT);
    }
    writer->depth++;
    writer->need_comma = false;
}

static void end(struct pawl_json_writer *writer, bool is_object)
{
    PAWL_ASSERT(writer->depth > 0 && is_due(writer, is_object) && !writer->after_key);
    writer->depth--;
    if (writer->need_comma && writer->indent > 0)
        new_line(writer);
    writer->need_comma = true;
    pawl__buf_byte(writer->out, is_object ? '}' : ']');
}

void pawl__json_write_begin_object(struct pawl_json_writer *writer)
{
    begin(writer, true);
}

void pawl__json_write_end_object(struct pawl_json_writer *writer)
{
    end(writer, true);
}

void pawl__json_write_begin_array(struct pawl_json_writer *writer)
{
    begin(writer, false);
}

void pawl__json_write_end_array(struct pawl_json_writer *writer)
{
    end(writer, false);
}

void pawl__json_write_key(struct pawl_json_writer *writer, struct pawl_str key)
{
    PAWL_ASSERT(is_due(writer, true) && !writer->after_key);
    separate(writer);
    pawl__json_put_string(writer->out, key, writer->escape);
    pawl__buf_append(writer->out, ": ", writer->indent > 0 ? 2 : 1);
    writer->after_key = true;
    writer->need_comma = true;
}

void pawl__json_write_key_text(struct pawl_json_writer *writer, const char *key)
{
    pawl__json_write_key(writer, pawl__str(key));
}

void pawl__json_write_null(struct pawl_json_writer *writer)
{
    before_value(writer);
    pawl__buf_append(writer->out, "null", 4);
    writer->need_comma = true;
}

void pawl__json_write_bool(struct pawl_json_writer *writer, bool value)
{
    before_value(writer);
    put_bool(writer->out, value);
    writer->need_comma = true;
}

void pawl__json_write_int(struct pawl_json_writer *writer, int64_t value)
{
    before_value(writer);
    put_int(writer->out, value);
    writer->need_comma = true;
}

void pawl__json_write_double(struct pawl_json_writer *writer, double value)
{
    before_value(writer);
    put_double(writer->out, value);
    writer->need_comma = true;
}

void pawl__json_write_string(struct pawl_json_writer *writer, struct pawl_str s)
{
    before_value(writer);
    pawl__json_put_string(writer->out, s, writer->escape);
    writer->need_comma = true;
}

void pawl__json_write_string_text(struct pawl_json_writer *writer, const char *text)
{
    pawl__json_write_string(writer, pawl__str(text));
}

void pawl__json_write_raw(struct pawl_json_writer *writer, struct pawl_str json)
{
    before_value(writer);
    pawl__buf_str(writer->out, json);
    writer->need_comma = true;
}

/* A container with line breaks. */
static void write_indented(struct pawl_json_writer *writer, const struct pawl_json *value)
{
    bool is_object = value->type == PAWL_JSON_OBJECT;

    begin(writer, is_object);
    for (uint32_t i = 0; i < value->len && writer->out->status == PAWL_OK; i++) {
        if (is_object)
            pawl__json_write_key(writer, value->u.members[i].key);
        pawl__json_write_value(writer, pawl__json_at(value, i));
    }
    end(writer, is_object);
}

void pawl__json_write_value(struct pawl_json_writer *writer, const struct pawl_json *value)
{
    if (writer->indent > 0 && pawl__json_type(value) >= PAWL_JSON_ARRAY) {
        write_indented(writer, value);
        return;
    }
    before_value(writer);
    put_value(writer->out, value, writer->escape, writer->depth);
    writer->need_comma = true;
}
