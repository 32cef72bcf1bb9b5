/* SPDX-License-Identifier: Apache-2.0 */
/* Into text: what Elsa prints for each type with its invariant culture. */
#include "engine/convert/rules.h"
#include "engine/value/net_date.h"
#include "engine/value/number.h"

bool pawl__convert_is_object_sequence(const struct pawl_type *type)
{
    return pawl__type_is_collection(type) && !type->element->nullable &&
           !pawl__type_is_value(type->element);
}

static int write_json(struct pawl_converting *c, const struct pawl_json *json, struct pawl_buf *out,
                      enum pawl_json_escape escape, uint8_t indent)
{
    struct pawl_json_writer writer;

    pawl__json_writer_init(&writer, out, escape, indent);
    pawl__json_write_value(&writer, json);
    if (out->status == PAWL_EINVAL)
        return pawl__convert_raise(c, "ArgumentException",
                                   ".NET number values such as positive and negative infinity "
                                   "cannot be written as valid JSON.");
    return out->status;
}

/* JSON nodes print their text, objects over several lines; arrays count as sequences. */
static int write_node(struct pawl_converting *c, const struct pawl_json *json, struct pawl_buf *out)
{
    switch (pawl__json_type(json)) {
    case PAWL_JSON_STRING:
        pawl__buf_str(out, pawl__json_str(json));
        return out->status;
    case PAWL_JSON_OBJECT:
        return write_json(c, json, out, PAWL_JSON_ESCAPE_ASCII, 2);
    case PAWL_JSON_NULL:
    case PAWL_JSON_BOOL:
    case PAWL_JSON_INT:
    case PAWL_JSON_DOUBLE:
    case PAWL_JSON_NUMBER:
    case PAWL_JSON_ARRAY:
        break;
    }
    return write_json(c, json, out, PAWL_JSON_ESCAPE_HTML, 0);
}

static int write_number(const struct pawl_value *value, struct pawl_buf *out)
{
    enum pawl_type_kind kind = value->type->kind;
    double real;

    if ((kind == PAWL_TYPE_DOUBLE || kind == PAWL_TYPE_SINGLE) &&
        pawl__json_to_double(&value->json, &real))
        pawl__number_write_double(out, real, kind == PAWL_TYPE_SINGLE);
    else
        pawl__json_number_text(&value->json, out);
    return out->status;
}

static int write_date(const struct pawl_value *value, struct pawl_buf *out)
{
    struct pawl_datetime date;

    if (pawl__convert_date_of(*value, &date))
        pawl__net_date_write(out, date, value->type->kind == PAWL_TYPE_DATETIMEOFFSET);
    else
        pawl__buf_str(out, pawl__json_str(&value->json));
    return out->status;
}

/* What has no text of its own prints the name of its type, more or less. */
static int write_collection(struct pawl_converting *c, const struct pawl_value *value,
                            struct pawl_buf *out)
{
    const struct pawl_type *type = value->type;

    if (pawl__convert_is_object_sequence(type))
        return write_json(c, &value->json, out, PAWL_JSON_ESCAPE_HTML, 0);
    if (type->kind == PAWL_TYPE_ARRAY) {
        pawl__type_write(out, type);
        pawl__buf_text(out, " Array");
    } else if (type->kind == PAWL_TYPE_HASHSET) {
        pawl__type_write_clr(out, type);
    } else {
        pawl__buf_text(out, "(Collection)");
    }
    return out->status;
}

static int write_fixed(struct pawl_buf *out, const char *text)
{
    pawl__buf_text(out, text);
    return out->status;
}

int pawl__convert_write_text(struct pawl_converting *c, struct pawl_value value,
                             struct pawl_buf *out)
{
    switch (value.type->kind) {
    case PAWL_TYPE_BOOLEAN:
        return write_fixed(out, pawl__json_true(&value.json) ? "True" : "False");
    case PAWL_TYPE_INT16:
    case PAWL_TYPE_INT32:
    case PAWL_TYPE_INT64:
    case PAWL_TYPE_SINGLE:
    case PAWL_TYPE_DOUBLE:
    case PAWL_TYPE_DECIMAL:
        return write_number(&value, out);
    case PAWL_TYPE_DATETIME:
    case PAWL_TYPE_DATETIMEOFFSET:
        return write_date(&value, out);
    case PAWL_TYPE_STRING:
    case PAWL_TYPE_TIMESPAN:
    case PAWL_TYPE_GUID:
    case PAWL_TYPE_ENUM:
        pawl__buf_str(out, pawl__json_str(&value.json));
        return out->status;
    case PAWL_TYPE_BYTES:
        return write_fixed(out, "Byte[] Array");
    case PAWL_TYPE_STREAM:
        return write_fixed(out, "System.IO.Stream");
    case PAWL_TYPE_JSON_ELEMENT:
    case PAWL_TYPE_JSON_NODE:
    case PAWL_TYPE_JSON_OBJECT:
    case PAWL_TYPE_JSON_ARRAY:
        return write_node(c, &value.json, out);
    case PAWL_TYPE_DICTIONARY:
    case PAWL_TYPE_IDICTIONARY:
        if (value.type->element->kind != PAWL_TYPE_OBJECT)
            return write_fixed(out, "(Collection)");
        break;
    case PAWL_TYPE_ARRAY:
    case PAWL_TYPE_LIST:
    case PAWL_TYPE_HASHSET:
    case PAWL_TYPE_COLLECTION:
    case PAWL_TYPE_IENUMERABLE:
    case PAWL_TYPE_ICOLLECTION:
    case PAWL_TYPE_ILIST:
    case PAWL_TYPE_IREADONLYCOLLECTION:
    case PAWL_TYPE_IREADONLYLIST:
    case PAWL_TYPE_ISET:
        return write_collection(c, &value, out);
    case PAWL_TYPE_OBJECT:
    case PAWL_TYPE_EXPANDO:
    case PAWL_TYPE_NAMED:
        break;
    }
    return write_json(c, &value.json, out, PAWL_JSON_ESCAPE_HTML, 0);
}

int pawl__convert_to_string(struct pawl_converting *c, struct pawl_value value,
                            const struct pawl_type *target, struct pawl_value *out)
{
    struct pawl_buf text;
    int status;

    (void)target;
    pawl__buf_init(&text, c->arena->alloc, c->arena->max_bytes);
    status = pawl__convert_write_text(c, value, &text);
    if (status == PAWL_OK)
        return pawl__convert_take_string(c, &text, out);
    pawl__buf_release(&text);
    return status;
}
