/* SPDX-License-Identifier: Apache-2.0 */
/* Values as texts, numbers, truths and JSON, and when two of them are equal. */
#include "expressions/liquid/run.h"

/* Arrays in arrays print and compare as deep as data may be nested. */
#define BYTES_PER_ITEM 32 /* what looking at one more item costs */
#define DEPTH_MAX 256

/* ---- truth and equality ------------------------------------------------------------------ */

bool pawl__liquid_truth(const struct liquid_value *value)
{
    return value->kind == LIQUID_BOOL ? value->u.boolean : value->kind != LIQUID_NIL;
}

static bool is_collection(const struct liquid_value *value)
{
    return pawl__liquid_is_array(value) || value->kind == LIQUID_JSON_OBJECT;
}

/* What `empty` on the left is equal to: every object, whatever it has, since its number is 0. */
static bool is_empty(const struct liquid_value *value)
{
    if (value->kind == LIQUID_STRING)
        return value->u.text.len == 0;
    return value->kind == LIQUID_BLANK || value->kind == LIQUID_EMPTY ||
           value->kind == LIQUID_JSON_OBJECT ||
           (pawl__liquid_is_array(value) && pawl__liquid_count(value) == 0);
}

/* A collection on the left looks at its own size when the other is nil, blank or empty. */
static bool is_nothing(const struct liquid_value *value)
{
    return value->kind == LIQUID_NIL || value->kind == LIQUID_BLANK || value->kind == LIQUID_EMPTY;
}

static bool is_blank(const struct liquid_value *value)
{
    if (value->kind == LIQUID_STRING)
        return pawl__liquid_text_trim_start(value->u.text).len == 0;
    return pawl__liquid_is_nil(value) || !pawl__liquid_truth(value);
}

/* Of looking at one key. */
#define BYTES_PER_KEY 16u

/* Counts what comparing it costs. */
static bool charge_json(struct liquid_run *run, const struct pawl_json *json)
{
    bool spent = pawl__liquid_charge(run, BYTES_PER_ITEM);

    if (json->type == PAWL_JSON_STRING)
        spent = pawl__liquid_charge(run, pawl__json_str(json).len);
    for (uint32_t i = 0; !spent && json->type == PAWL_JSON_ARRAY && i < pawl__json_len(json); i++)
        spent = charge_json(run, pawl__json_at(json, i));
    for (uint32_t i = 0; !spent && json->type == PAWL_JSON_OBJECT && i < pawl__json_len(json); i++)
        spent = charge_json(run, &pawl__json_member(json, i)->value);
    return spent;
}

/* For objects that may be compared with any other: each key is looked up among all. */
static bool charge_all_keys(struct liquid_run *run, const struct pawl_json *json)
{
    size_t len = pawl__json_len(json);
    bool spent =
        json->type == PAWL_JSON_OBJECT && pawl__liquid_charge(run, len * len * BYTES_PER_KEY);

    for (uint32_t i = 0; !spent && i < len; i++) {
        const struct pawl_json *item = pawl__json_at(json, i);

        spent = item && charge_all_keys(run, item);
    }
    return spent;
}

static bool has_keys_in_order(const struct pawl_json *a, const struct pawl_json *b)
{
    for (uint32_t i = 0; a->type == PAWL_JSON_OBJECT && i < a->len; i++) {
        if (!pawl__str_equal(a->u.members[i].key, b->u.members[i].key))
            return false;
    }
    return true;
}

/* What looking up keys costs, where two values do not have them in the same order. */
static bool charge_keys(struct liquid_run *run, const struct pawl_json *a,
                        const struct pawl_json *b)
{
    bool spent = false;

    if (a->type != b->type)
        return false;
    if (pawl__json_len(a) != pawl__json_len(b) || !has_keys_in_order(a, b))
        return charge_all_keys(run, a) || charge_all_keys(run, b);
    for (uint32_t i = 0; !spent && i < pawl__json_len(a); i++)
        spent = charge_keys(run, pawl__json_at(a, i), pawl__json_at(b, i));
    return spent;
}

static bool charge_text(struct liquid_run *run, const struct liquid_value *value)
{
    return value->kind == LIQUID_STRING && pawl__liquid_charge(run, value->u.text.len);
}

static bool equal(struct liquid_run *run, const struct liquid_value *a,
                  const struct liquid_value *b, unsigned depth);

static bool arrays_equal(struct liquid_run *run, const struct liquid_value *a,
                         const struct liquid_value *b, unsigned depth)
{
    uint32_t count = pawl__liquid_count(a);

    if (!pawl__liquid_is_array(b) || pawl__liquid_count(b) != count || depth >= DEPTH_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct liquid_value left;
        struct liquid_value right;

        if (pawl__liquid_charge(run, BYTES_PER_ITEM) ||
            pawl__liquid_item(run, a, i, &left) != PAWL_OK ||
            pawl__liquid_item(run, b, i, &right) != PAWL_OK ||
            !equal(run, &left, &right, depth + 1))
            return false;
    }
    return true;
}

static bool same_kind_equal(struct liquid_run *run, const struct liquid_value *a,
                            const struct liquid_value *b, unsigned depth)
{
    if (pawl__liquid_is_array(a))
        return arrays_equal(run, a, b, depth);
    if (a->kind != b->kind)
        return false;
    if (a->kind == LIQUID_NUMBER)
        return pawl__liquid_compare_numbers(a->u.number, b->u.number) == 0;
    if (a->kind == LIQUID_STRING || a->kind == LIQUID_OPAQUE)
        return a->u.text.len == b->u.text.len && !pawl__liquid_charge(run, a->u.text.len) &&
               pawl__str_equal(a->u.text, b->u.text);
    if (a->kind == LIQUID_DATE)
        return pawl__datetime_compare(a->u.date, b->u.date) == 0;
    if (a->kind == LIQUID_JSON_OBJECT)
        return !charge_json(run, a->u.json.json) && !charge_json(run, b->u.json.json) &&
               !charge_keys(run, a->u.json.json, b->u.json.json) &&
               pawl__json_equal(a->u.json.json, b->u.json.json);
    return a->kind != LIQUID_LOOP || a->u.loop == b->u.loop;
}

static bool equal(struct liquid_run *run, const struct liquid_value *a,
                  const struct liquid_value *b, unsigned depth)
{
    if (is_collection(a) && is_nothing(b))
        return pawl__liquid_count(a) == 0;
    if (a->kind == LIQUID_BLANK || b->kind == LIQUID_BLANK)
        return !charge_text(run, a) && !charge_text(run, b) &&
               is_blank(a->kind == LIQUID_BLANK ? b : a);
    if (a->kind == LIQUID_EMPTY || b->kind == LIQUID_EMPTY)
        return is_empty(a->kind == LIQUID_EMPTY ? b : a);
    if (a->kind == LIQUID_BOOL || b->kind == LIQUID_BOOL) {
        /* true is equal to whatever is true, but nothing else than false to false. */
        if (a->kind == LIQUID_BOOL && b->kind != LIQUID_NIL)
            return a->u.boolean == pawl__liquid_truth(b);
        return a->kind == b->kind && a->u.boolean == b->u.boolean;
    }
    if (a->kind == LIQUID_NIL || b->kind == LIQUID_NIL)
        return a->kind == b->kind;
    return same_kind_equal(run, a, b, depth);
}

bool pawl__liquid_equal(struct liquid_run *run, const struct liquid_value *a,
                        const struct liquid_value *b)
{
    return equal(run, a, b, 0);
}

/* ---- numbers ----------------------------------------------------------------------------- */

static struct pawl_net_decimal read_number(struct pawl_str text)
{
    struct pawl_number_text scanned;
    struct pawl_net_decimal number = {.digits = 0};

    if (!pawl__number_scan(text, PAWL_NUMBER_GROUPS, &scanned) ||
        !pawl__net_decimal_from_text(&scanned, &number))
        number = (struct pawl_net_decimal){.digits = 0};
    return number;
}

int pawl__liquid_to_number(struct liquid_run *run, const struct liquid_value *value,
                           struct pawl_net_decimal *out)
{
    *out = (struct pawl_net_decimal){.digits = 0};
    if (value->kind == LIQUID_OPAQUE)
        return pawl__liquid_raise(run, "InvalidCastException",
                                  "Unable to cast object of type 'JsonValueOfElement' to type "
                                  "'System.IConvertible'.");
    if (value->kind == LIQUID_NUMBER)
        *out = value->u.number;
    else if (value->kind == LIQUID_STRING && !charge_text(run, value))
        *out = read_number(value->u.text);
    else if (value->kind == LIQUID_BOOL)
        out->digits = value->u.boolean;
    else if (value->kind == LIQUID_DATE)
        out->digits = (uint64_t)value->u.date.ticks;
    else if (pawl__liquid_is_array(value))
        out->digits = pawl__liquid_count(value);
    return PAWL_OK;
}

int pawl__liquid_to_int(struct liquid_run *run, const struct liquid_value *value, int32_t *out)
{
    struct pawl_net_decimal number;
    int64_t whole;
    int status = pawl__liquid_to_number(run, value, &number);

    if (status != PAWL_OK)
        return status;
    if (!pawl__net_decimal_to_int(&number, &whole) || whole < INT32_MIN || whole > INT32_MAX)
        return pawl__liquid_raise(run, "OverflowException",
                                  "Value was either too large or too small for an Int32.");
    *out = (int32_t)whole;
    return PAWL_OK;
}

/* ---- texts ------------------------------------------------------------------------------- */

/* 2024-02-29 12:00:00Z, in UTC. */
static void print_date(struct pawl_buf *out, struct pawl_datetime date)
{
    struct pawl_civil civil;
    struct pawl_datetime utc = {.ticks = pawl__datetime_utc_ticks(date), .kind = PAWL_DATETIME_UTC};

    pawl__datetime_civil(utc, &civil);
    pawl__buf_printf(out, "%04d-%02d-%02d %02d:%02d:%02dZ", (int)civil.year, civil.month, civil.day,
                     civil.hour, civil.minute, civil.second);
}

static int print(struct liquid_run *run, const struct liquid_value *value, struct pawl_buf *out,
                 bool as_output, unsigned depth)
{
    char text[PAWL_NET_DECIMAL_TEXT_SIZE];
    uint32_t count = pawl__liquid_count(value);
    int status = PAWL_OK;

    if (value->kind == LIQUID_STRING || value->kind == LIQUID_OPAQUE)
        pawl__buf_str(out, value->u.text);
    else if (value->kind == LIQUID_BOOL)
        pawl__buf_text(out, value->u.boolean ? "true" : "false");
    else if (value->kind == LIQUID_NUMBER && as_output)
        pawl__liquid_print_number(out, value->u.number);
    else if (value->kind == LIQUID_NUMBER)
        pawl__buf_append(out, text, pawl__net_decimal_format(&value->u.number, text));
    else if (value->kind == LIQUID_DATE)
        print_date(out, value->u.date);
    for (uint32_t i = 0; pawl__liquid_is_array(value) && depth < DEPTH_MAX && i < count; i++) {
        struct liquid_value item;

        status = pawl__liquid_step(run, 1);
        if (status == PAWL_OK)
            status = pawl__liquid_item(run, value, i, &item);
        if (status == PAWL_OK)
            status = print(run, &item, out, false, depth + 1);
        if (status != PAWL_OK)
            return status;
    }
    return out->status == PAWL_OK ? PAWL_OK : pawl__liquid_buf_refused(run, out);
}

int pawl__liquid_print(struct liquid_run *run, const struct liquid_value *value,
                       struct pawl_buf *out)
{
    return print(run, value, out, true, 0);
}

int pawl__liquid_to_text(struct liquid_run *run, const struct liquid_value *value,
                         struct pawl_str *out)
{
    struct liquid_value copy;
    struct pawl_buf buf;
    int status;

    if (value->kind == LIQUID_STRING || value->kind == LIQUID_OPAQUE) {
        *out = value->u.text;
        return PAWL_OK;
    }
    pawl__liquid_text_begin(run, &buf);
    status = print(run, value, &buf, false, 0);
    if (status != PAWL_OK) {
        pawl__buf_release(&buf);
        return status;
    }
    status = pawl__liquid_text_end(run, &buf, &copy);
    if (status == PAWL_OK)
        *out = copy.u.text;
    return status;
}

/* ---- JSON -------------------------------------------------------------------------------- */

static int write_json(struct liquid_run *run, const struct liquid_value *value,
                      struct pawl_json_writer *writer, unsigned depth);

static int write_items(struct liquid_run *run, const struct liquid_value *value,
                       struct pawl_json_writer *writer, unsigned depth)
{
    uint32_t count = pawl__liquid_count(value);
    int status = PAWL_OK;

    pawl__json_write_begin_array(writer);
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        struct liquid_value item;

        status = pawl__liquid_item(run, value, i, &item);
        if (status == PAWL_OK)
            status = write_json(run, &item, writer, depth + 1);
    }
    if (status == PAWL_OK)
        pawl__json_write_end_array(writer);
    return status;
}

static int write_members(struct liquid_run *run, const struct liquid_value *value,
                         struct pawl_json_writer *writer, unsigned depth)
{
    uint32_t count = pawl__liquid_count(value);
    int status = PAWL_OK;

    pawl__json_write_begin_object(writer);
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        struct liquid_value both;

        status = pawl__liquid_item(run, value, i, &both);
        if (status != PAWL_OK)
            return status;
        pawl__json_write_key(writer, both.u.array.items[0].u.text);
        status = write_json(run, &both.u.array.items[1], writer, depth + 1);
    }
    if (status == PAWL_OK)
        pawl__json_write_end_object(writer);
    return status;
}

static void write_scalar(const struct liquid_value *value, struct pawl_json_writer *writer)
{
    char text[PAWL_NET_DECIMAL_TEXT_SIZE];
    char date[PAWL_DATETIME_TEXT_SIZE + 2] = "\"";
    size_t len;
    struct pawl_datetime moment;

    if (value->kind == LIQUID_BOOL) {
        pawl__json_write_bool(writer, value->u.boolean);
    } else if (value->kind == LIQUID_NUMBER) {
        pawl__json_write_raw(
            writer, pawl__str_make(text, pawl__net_decimal_format(&value->u.number, text)));
    } else if (value->kind == LIQUID_STRING || value->kind == LIQUID_OPAQUE) {
        pawl__json_write_string(writer, value->u.text);
    } else if (value->kind == LIQUID_DATE) {
        moment = value->u.date;
        moment.kind = PAWL_DATETIME_OFFSET;
        /* Dates are written without escaping their plus. */
        len = 1 + pawl__datetime_format(moment, date + 1);
        date[len++] = '"';
        pawl__json_write_raw(writer, pawl__str_make(date, len));
    } else if (value->kind == LIQUID_BLANK || value->kind == LIQUID_EMPTY) {
        pawl__json_write_string(writer, pawl__str(""));
    } else {
        pawl__json_write_null(writer);
    }
}

static int write_json(struct liquid_run *run, const struct liquid_value *value,
                      struct pawl_json_writer *writer, unsigned depth)
{
    int status = pawl__liquid_step(run, 1);

    if (status != PAWL_OK)
        return status;
    if (pawl__liquid_is_array(value) && depth < DEPTH_MAX)
        return write_items(run, value, writer, depth);
    if (value->kind == LIQUID_JSON_OBJECT && depth < DEPTH_MAX)
        return write_members(run, value, writer, depth);
    write_scalar(value, writer);
    return writer->out->status == PAWL_OK ? PAWL_OK : pawl__liquid_buf_refused(run, writer->out);
}

int pawl__liquid_write_json(struct liquid_run *run, const struct liquid_value *value,
                            uint8_t indent, struct pawl_buf *out)
{
    struct pawl_json_writer writer;

    pawl__json_writer_init(&writer, out, PAWL_JSON_ESCAPE_ASCII, indent);
    return write_json(run, value, &writer, 0);
}
