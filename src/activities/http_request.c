/* SPDX-License-Identifier: Apache-2.0 */
/* What an activity's inputs ask for as a request: the data of the effect, see http_client.h. */
#include "activities/children.h"
#include "activities/http_client.h"

/* As Elsa's own strategy for HTTP has them. */
#define RETRY_COUNT 3
#define RETRY_DELAY_MS 1000
/* As many as a response may have. */
#define HEADERS_MAX 1000u
/* Of a body. */
#define CONTENT_BYTES_MAX ((size_t)256 << 20)

/* ---- body -------------------------------------------------------------------------------- */

/* Takes what was built into the arena; failures stick. */
static void build_taken(struct pawl_builder *b, struct pawl_json *data, struct pawl_buf *text)
{
    struct pawl_json value = pawl__json_null();

    if (b->status == PAWL_OK)
        b->status = text->status;
    if (b->status == PAWL_OK)
        b->status = pawl__json_string_copy(b->arena, pawl__buf_peek(text), &value);
    pawl__build(b, data, "content", value);
    pawl__buf_release(text);
}

static void escape_form(struct pawl_buf *out, struct pawl_str s)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char plain[] = "-_.*";

    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (letter || (c >= '0' && c <= '9') || (c != 0 && strchr(plain, c))) {
            pawl__buf_byte(out, (char)c);
        } else if (c == ' ') {
            pawl__buf_byte(out, '+');
        } else {
            pawl__buf_byte(out, '%');
            pawl__buf_byte(out, digits[c >> 4]);
            pawl__buf_byte(out, digits[c & 15]);
        }
    }
}

/* A value of a form: text as it is, anything else as JSON. */
static void write_form_value(struct pawl_buf *out, const struct pawl_json *value)
{
    struct pawl_buf text;

    if (pawl__json_is(value, PAWL_JSON_STRING)) {
        escape_form(out, pawl__json_str(value));
        return;
    }
    pawl__buf_init(&text, out->alloc, out->max);
    if (!pawl__json_is(value, PAWL_JSON_NULL))
        pawl__json_write(&text, value, PAWL_JSON_ESCAPE_MINIMAL);
    escape_form(out, pawl__buf_peek(&text));
    if (out->status == PAWL_OK)
        out->status = text.status;
    pawl__buf_release(&text);
}

static void write_form(struct pawl_buf *out, const struct pawl_json *form)
{
    for (uint32_t i = 0; i < pawl__json_len(form); i++) {
        const struct pawl_json_member *member = pawl__json_member(form, i);

        if (i > 0)
            pawl__buf_byte(out, '&');
        escape_form(out, member->key);
        pawl__buf_byte(out, '=');
        write_form_value(out, &member->value);
    }
}

/* What a form is made of: an object, also one that is written as text. */
static bool is_form(struct pawl_builder *b, struct pawl_str content_type, struct pawl_json *content)
{
    struct pawl_str media =
        pawl__str_trim(pawl__str_slice(content_type, 0, pawl__str_find(content_type, ';', 0)));
    struct pawl_str text = pawl__str_trim(pawl__json_str(content));
    struct pawl_json parsed;
    int status;

    if (!pawl__str_equal_nocase(media, pawl__str("application/x-www-form-urlencoded")))
        return false;
    if (text.len > 0 && text.ptr[0] == '{') {
        status = pawl__json_parse(b->arena, text, NULL, &parsed, NULL, NULL);
        if (status == PAWL_OK)
            *content = parsed;
        else if (status == PAWL_ENOMEM)
            b->status = status;
    }
    return pawl__json_is(content, PAWL_JSON_OBJECT);
}

/* Text goes as it is, whatever it is said to be; objects as JSON, or as a form. */
void pawl__http_build_content(struct pawl_builder *b, struct pawl_json *data,
                              struct pawl_value content, struct pawl_str content_type)
{
    bool form = is_form(b, content_type, &content.json);
    struct pawl_buf text;

    if (content.type && content.type->kind == PAWL_TYPE_BYTES) {
        pawl__build(b, data, "contentBase64", content.json);
        return;
    }
    if (pawl__json_is(&content.json, PAWL_JSON_STRING)) {
        pawl__build(b, data, "content", content.json);
        return;
    }
    pawl__buf_init(&text, b->arena->alloc, CONTENT_BYTES_MAX);
    if (form)
        write_form(&text, &content.json);
    else
        pawl__json_write(&text, &content.json, PAWL_JSON_ESCAPE_MINIMAL);
    build_taken(b, data, &text);
}

/* ---- headers ----------------------------------------------------------------------------- */

struct pawl_json pawl__http_header_values(struct pawl_builder *b, const struct pawl_json *given)
{
    struct pawl_json values = pawl__json_array();

    if (pawl__json_is(given, PAWL_JSON_ARRAY)) {
        for (uint32_t i = 0; i < pawl__json_len(given); i++) {
            const struct pawl_json *value = pawl__json_at(given, i);

            if (pawl__json_is(value, PAWL_JSON_STRING))
                pawl__build_append(b, &values, *value);
        }
    } else if (pawl__json_is(given, PAWL_JSON_STRING)) {
        pawl__build_append(b, &values, *given);
    } else if (!pawl__json_is(given, PAWL_JSON_NULL)) {
        struct pawl_buf text;
        struct pawl_json value = pawl__json_null();

        pawl__buf_init(&text, b->arena->alloc, CONTENT_BYTES_MAX);
        pawl__json_write(&text, given, PAWL_JSON_ESCAPE_MINIMAL);
        if (b->status == PAWL_OK)
            b->status = text.status;
        if (b->status == PAWL_OK)
            b->status = pawl__json_string_copy(b->arena, pawl__buf_peek(&text), &value);
        pawl__build_append(b, &values, value);
        pawl__buf_release(&text);
    }
    return values;
}

/* Values of all headers: a request has a line for each. */
static uint64_t count_headers(const struct pawl_json *given)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < pawl__json_len(given); i++) {
        const struct pawl_json *value = pawl__json_at(given, i);

        count += pawl__json_is(value, PAWL_JSON_ARRAY) ? pawl__json_len(value) : 1;
    }
    return count;
}

static void build_headers(struct pawl_builder *b, struct pawl_json *data,
                          const struct pawl_json *given)
{
    struct pawl_json headers = pawl__json_object();

    if (!pawl__json_is(given, PAWL_JSON_OBJECT) || pawl__json_len(given) == 0)
        return;
    for (uint32_t i = 0; i < pawl__json_len(given) && b->status == PAWL_OK; i++) {
        const struct pawl_json_member *member = pawl__json_member(given, i);
        struct pawl_json values = pawl__http_header_values(b, &member->value);

        if (b->status == PAWL_OK)
            b->status = pawl__json_set(b->arena, &headers, member->key, values);
    }
    pawl__build(b, data, "headers", headers);
}

/* `scheme`, or `scheme value`. */
static bool is_authorization(struct pawl_str s)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    size_t i = 0;

    for (; i < s.len && s.ptr[i] != ' '; i++) {
        char c = s.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!letter && !(c >= '0' && c <= '9') && (c == 0 || !strchr(others, c)))
            return false;
    }
    return i > 0;
}

static int build_authorization(struct pawl_context *context, struct pawl_builder *b,
                               struct pawl_json *data)
{
    struct pawl_str given = pawl__str_trim(pawl__input_str(context, "Authorization"));

    if (given.len == 0)
        return PAWL_OK;
    /* Not shown: it is most likely a secret. */
    if (!pawl__input_true(context, "DisableAuthorizationHeaderValidation") &&
        !is_authorization(given))
        return pawl__raise(context, "FormatException",
                           "The format of the Authorization value is invalid.");
    pawl__build_text(b, data, "authorization", pawl__arena_str(b->arena, given));
    return PAWL_OK;
}

/* ---- what happens when it fails ---------------------------------------------------------- */

static void build_policy(struct pawl_context *context, struct pawl_builder *b,
                         struct pawl_json *data)
{
    const struct pawl_json *custom =
        pawl__json_get_nocase(context->node->json, pawl__str("customProperties"));
    const struct pawl_json *strategy =
        pawl__json_get_nocase(custom, pawl__str("resilienceStrategy"));
    struct pawl_str unknown = pawl__json_str(pawl__json_get_nocase(custom, pawl__str("onUnknown")));
    struct pawl_json retry = pawl__json_object();

    if (pawl__str_equal_nocase(unknown, pawl__str("fault")))
        pawl__build_name(b, data, "onUnknown", "fault");
    else if (pawl__str_equal_nocase(unknown, pawl__str("retry")))
        pawl__build_name(b, data, "onUnknown", "retry");
    /* Strategies are named; there is one. */
    if (pawl__json_str(pawl__json_get_nocase(strategy, pawl__str("strategyId"))).len == 0)
        return;
    pawl__build_int(b, &retry, "count", RETRY_COUNT);
    pawl__build_int(b, &retry, "delayMs", RETRY_DELAY_MS);
    pawl__build(b, data, "retry", retry);
}

int pawl__http_send(struct pawl_context *context, const struct pawl_http_inputs *inputs)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json data = pawl__json_object();
    struct pawl_value headers = pawl__input(context, "RequestHeaders");
    struct pawl_value content = pawl__input(context, inputs->content);
    struct pawl_str content_type = pawl__input_str(context, inputs->content_type);
    struct pawl_str method = pawl__input_str(context, "Method");
    struct pawl_str url = pawl__str_trim(pawl__input_str(context, "Url"));
    int status;

    if (url.len == 0)
        return pawl__raise(context, "InvalidOperationException",
                           "An invalid request URI was provided: the URL is empty.");
    if (count_headers(&headers.json) > HEADERS_MAX)
        return pawl__raise(context, "InvalidOperationException",
                           "A request has at most %u headers, not %llu.", HEADERS_MAX,
                           (unsigned long long)count_headers(&headers.json));
    pawl__build_text(&b, &data, "method", method.len > 0 ? method : pawl__str("GET"));
    pawl__build_text(&b, &data, "url", pawl__arena_str(b.arena, url));
    build_headers(&b, &data, &headers.json);
    status = build_authorization(context, &b, &data);
    if (status != PAWL_OK)
        return status;
    if (content_type.len > 0 && !pawl__value_is_null(content)) {
        pawl__http_build_content(&b, &data, content, content_type);
        pawl__build_text(&b, &data, "contentType", content_type);
    }
    build_policy(context, &b, &data);
    if (b.status != PAWL_OK || b.arena->status != PAWL_OK)
        return b.status != PAWL_OK ? b.status : b.arena->status;
    return pawl__effect_await(context, PAWL_EFFECT_HTTP, data);
}
