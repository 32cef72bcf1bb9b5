/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the hub; see protocol.h. */
#include "api/hub/protocol.h"

#include "base/error.h"

/* ---- reading -------------------------------------------------------------------------------- */

int hub_next(struct pawl_str *rest, struct pawl_str *message)
{
    size_t end;

    if (rest->len == 0)
        return PAWL_ENOTFOUND;
    end = pawl__str_find(*rest, HUB_SEPARATOR, 0);
    if (end == SIZE_MAX)
        return PAWL_EPARSE;
    *message = pawl__str_slice(*rest, 0, end);
    *rest = pawl__str_slice(*rest, end + 1, rest->len);
    return PAWL_OK;
}

static int read_object(struct pawl_arena *arena, struct pawl_str text, struct pawl_json *out,
                       struct pawl_error *err)
{
    int status;

    if (text.len > HUB_MESSAGE_BYTES_MAX)
        return pawl__error_set(err, PAWL_EPARSE, "The message has more than %zu bytes.",
                               HUB_MESSAGE_BYTES_MAX);
    status = pawl__json_parse(arena, text, NULL, out, NULL, err);
    if (status == PAWL_OK && !pawl__json_is(out, PAWL_JSON_OBJECT))
        status = pawl__error_set(err, PAWL_EPARSE, "A message is a JSON object.");
    return status;
}

int hub_read_handshake(struct pawl_arena *arena, struct pawl_str text, struct hub_handshake *out,
                       struct pawl_error *err)
{
    struct pawl_json object;
    const struct pawl_json *protocol;
    int status = read_object(arena, text, &object, err);

    if (status != PAWL_OK)
        return status;
    protocol = pawl__json_get_text(&object, "protocol");
    if (!pawl__json_is(protocol, PAWL_JSON_STRING) ||
        !pawl__json_to_int(pawl__json_get_text(&object, "version"), &out->version))
        return pawl__error_set(err, PAWL_EPARSE,
                               "A handshake has a text 'protocol' and a number 'version'.");
    out->protocol = pawl__json_str(protocol);
    return PAWL_OK;
}

/* Of a message that asks for something. */
static int read_invocation(const struct pawl_json *object, struct hub_message *out,
                           struct pawl_error *err)
{
    const struct pawl_json *id = pawl__json_get_text(object, "invocationId");
    const struct pawl_json *target = pawl__json_get_text(object, "target");

    out->arguments = pawl__json_get_text(object, "arguments");
    if (pawl__json_is(id, PAWL_JSON_STRING))
        out->invocation_id = pawl__json_str(id);
    else if (id && pawl__json_type(id) != PAWL_JSON_NULL)
        return pawl__error_set(err, PAWL_EPARSE, "'invocationId' is a text.");
    if (out->invocation_id.len > HUB_INVOCATION_ID_MAX)
        return pawl__error_set(err, PAWL_EPARSE, "'invocationId' has more than %d bytes.",
                               HUB_INVOCATION_ID_MAX);
    if (!pawl__json_is(target, PAWL_JSON_STRING))
        return pawl__error_set(err, PAWL_EPARSE, "An invocation has a text 'target'.");
    out->target = pawl__json_str(target);
    if (out->arguments && !pawl__json_is(out->arguments, PAWL_JSON_ARRAY))
        return pawl__error_set(err, PAWL_EPARSE, "'arguments' is an array.");
    return PAWL_OK;
}

int hub_read_message(struct pawl_arena *arena, struct pawl_str text, struct hub_message *out,
                     struct pawl_error *err)
{
    struct pawl_json *object = pawl__arena_alloc(arena, sizeof *object);
    int status;

    *out = (struct hub_message){.target = pawl__str("")};
    if (!object)
        return pawl__error_code(err, pawl__arena_status(arena));
    status = read_object(arena, text, object, err);
    if (status != PAWL_OK)
        return status;
    if (!pawl__json_to_int(pawl__json_get_text(object, "type"), &out->type))
        return pawl__error_set(err, PAWL_EPARSE, "A message has a number 'type'.");
    if (out->type == HUB_INVOCATION || out->type == HUB_STREAM_INVOCATION)
        return read_invocation(object, out, err);
    return PAWL_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void begin(struct pawl_json_writer *json, struct pawl_buf *out)
{
    pawl__json_writer_init(json, out, PAWL_JSON_ESCAPE_HTML, 0);
    pawl__json_write_begin_object(json);
}

static void end(struct pawl_json_writer *json, struct pawl_buf *out)
{
    pawl__json_write_end_object(json);
    pawl__buf_byte(out, HUB_SEPARATOR);
}

static void write_type(struct pawl_json_writer *json, enum hub_type type)
{
    pawl__json_write_key_text(json, "type");
    pawl__json_write_int(json, (int64_t)type);
}

static void write_error(struct pawl_json_writer *json, const char *error)
{
    if (!error)
        return;
    pawl__json_write_key_text(json, "error");
    pawl__json_write_string_text(json, error);
}

void hub_write_handshake(struct pawl_buf *out, const char *error)
{
    struct pawl_json_writer json;

    begin(&json, out);
    write_error(&json, error);
    end(&json, out);
}

void hub_write_completion(struct pawl_buf *out, struct pawl_str invocation_id, const char *error)
{
    struct pawl_json_writer json;

    begin(&json, out);
    write_type(&json, HUB_COMPLETION);
    pawl__json_write_key_text(&json, "invocationId");
    pawl__json_write_string(&json, invocation_id);
    if (error) {
        write_error(&json, error);
    } else {
        pawl__json_write_key_text(&json, "result");
        pawl__json_write_null(&json);
    }
    end(&json, out);
}

void hub_write_ping(struct pawl_buf *out)
{
    struct pawl_json_writer json;

    begin(&json, out);
    write_type(&json, HUB_PING);
    end(&json, out);
}

void hub_write_close(struct pawl_buf *out, const char *error, bool allow_reconnect)
{
    struct pawl_json_writer json;

    begin(&json, out);
    write_type(&json, HUB_CLOSE);
    write_error(&json, error);
    if (allow_reconnect) {
        pawl__json_write_key_text(&json, "allowReconnect");
        pawl__json_write_bool(&json, true);
    }
    end(&json, out);
}

void hub_write_invocation(struct pawl_buf *out, const char *target,
                          const struct pawl_json *argument)
{
    struct pawl_json_writer json;

    begin(&json, out);
    write_type(&json, HUB_INVOCATION);
    pawl__json_write_key_text(&json, "target");
    pawl__json_write_string_text(&json, target);
    pawl__json_write_key_text(&json, "arguments");
    pawl__json_write_begin_array(&json);
    pawl__json_write_value(&json, argument);
    pawl__json_write_end_array(&json);
    end(&json, out);
}
