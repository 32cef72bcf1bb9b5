/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request's head: where its parts are kept, what is checked of it before its body is read, and
 * its route. All on the loop.
 */
#include "http/private.h"
#include "http/query.h"

/* Most heads fit, longer ones grow. No more than the least head_bytes_max. */
#define HEAD_BYTES_USUAL ((size_t)480)

/* ---- collecting -------------------------------------------------------------------------- */

static bool refuse(struct pawl_exchange *exchange, int status)
{
    exchange->refusal = status;
    return false;
}

/* Counts in *len what was kept: a refusal looks at the request, too. */
static bool keep(struct pawl_exchange *exchange, const char *bytes, size_t size_bytes,
                 uint32_t *len)
{
    if (exchange->head.cap == 0)
        (void)pawl__buf_reserve(&exchange->head, HEAD_BYTES_USUAL);
    pawl__buf_append(&exchange->head, bytes, size_bytes);
    if (exchange->head.status == PAWL_OK) {
        *len += (uint32_t)size_bytes;
        return true;
    }
    return refuse(exchange, exchange->head.status == PAWL_ELIMIT ? 431 : 503);
}

static bool keep_target(struct pawl_exchange *exchange, const char *bytes, size_t size_bytes)
{
    if (size_bytes > exchange->server->limits.target_bytes_max - exchange->target_len)
        return refuse(exchange, 414);
    return keep(exchange, bytes, size_bytes, &exchange->target_len);
}

static bool keep_name(struct pawl_exchange *exchange, const char *bytes, size_t size_bytes)
{
    struct field *field;

    if (exchange->field_count == 0 || exchange->in_value) {
        if (exchange->field_count == FIELDS_MAX)
            return refuse(exchange, 431);
        exchange->in_value = false;
        field = &exchange->fields[exchange->field_count++];
        *field = (struct field){.name = (uint32_t)exchange->head.len};
    }
    field = &exchange->fields[exchange->field_count - 1];
    return keep(exchange, bytes, size_bytes, &field->name_len);
}

static bool keep_value(struct pawl_exchange *exchange, const char *bytes, size_t size_bytes)
{
    struct field *field = &exchange->fields[exchange->field_count - 1];

    if (!exchange->in_value)
        field->value = (uint32_t)exchange->head.len;
    exchange->in_value = true;
    return keep(exchange, bytes, size_bytes, &field->value_len);
}

/* A value of no bytes is one too; white space behind a value is not part of it. */
static bool end_value(struct pawl_exchange *exchange)
{
    struct field *field = &exchange->fields[exchange->field_count - 1];

    if (!keep_value(exchange, "", 0))
        return false;
    while (field->value_len > 0) {
        char last = exchange->head.ptr[field->value + field->value_len - 1];

        if (last != ' ' && last != '\t')
            break;
        field->value_len--;
    }
    return true;
}

static bool keep_body(struct pawl_exchange *exchange, const char *bytes, size_t size_bytes)
{
    int status = pawl__request_reserve(exchange, exchange->body.len + size_bytes);

    if (status != 0)
        return refuse(exchange, status);
    pawl__buf_append(&exchange->body, bytes, size_bytes);
    if (exchange->body.status == PAWL_OK)
        return true;
    return refuse(exchange, exchange->body.status == PAWL_ELIMIT ? 413 : 503);
}

bool pawl__request_sink(void *ctx, enum pawl_http_part part, const char *bytes, size_t size_bytes)
{
    struct pawl_connection *connection = ctx;
    struct pawl_exchange *exchange = connection->exchange;

    switch (part) {
    case PAWL_HTTP_PART_METHOD:
        return keep(exchange, bytes, size_bytes, &exchange->method_len);
    case PAWL_HTTP_PART_TARGET:
        return keep_target(exchange, bytes, size_bytes);
    case PAWL_HTTP_PART_NAME:
        return keep_name(exchange, bytes, size_bytes);
    case PAWL_HTTP_PART_VALUE:
        return keep_value(exchange, bytes, size_bytes);
    case PAWL_HTTP_PART_VALUE_END:
        return end_value(exchange);
    case PAWL_HTTP_PART_BODY:
        return keep_body(exchange, bytes, size_bytes);
    }
    return false;
}

/* All bodies together are bounded too. What is counted is given back with the exchange. */
int pawl__request_reserve(struct pawl_exchange *exchange, uint64_t bytes)
{
    struct pawl_server *server = exchange->server;
    const struct pawl_route *route = exchange->match.route;
    uint64_t max =
        route && route->body_bytes_max > 0 ? route->body_bytes_max : server->limits.body_bytes_max;
    uint64_t more = bytes > exchange->body_held ? bytes - exchange->body_held : 0;

    if (bytes > max)
        return 413;
    if (more == 0)
        return 0;
    if (atomic_fetch_add(&server->body_bytes, more) + more > server->limits.bodies_bytes_max) {
        (void)atomic_fetch_sub(&server->body_bytes, more);
        return 503;
    }
    exchange->body_held += more;
    return 0;
}

const char *pawl__request_refusal_detail(int status)
{
    switch (status) {
    case 413:
        return "The body is larger than this resource takes.";
    case 414:
        return "The target is longer than the server takes.";
    case 431:
        return "The head is larger than the server takes, or has more than 100 fields.";
    default:
        return "The server holds as many bytes of requests as it may; try again later.";
    }
}

/* ---- reading it -------------------------------------------------------------------------- */

struct pawl_str pawl__request_slice(const struct pawl_exchange *exchange, uint32_t at, uint32_t len)
{
    return len > 0 ? pawl__str_make(exchange->head.ptr + at, len) : pawl__str("");
}

struct pawl_str pawl__request_target(const struct pawl_exchange *exchange)
{
    return pawl__request_slice(exchange, exchange->method_len, exchange->target_len);
}

static int decode_parameters(struct pawl_exchange *exchange, const char **detail)
{
    struct pawl_route_match *match = &exchange->match;

    for (uint32_t i = 0; i < match->parameter_count; i++) {
        int status =
            pawl__percent_decode(&exchange->arena, match->values[i], false, &match->values[i]);

        *detail = status == PAWL_EPARSE
                      ? "The path is not well encoded: percent signs, UTF-8 and no NUL."
                      : pawl__request_refusal_detail(503);
        if (status != PAWL_OK)
            return status == PAWL_EPARSE ? 400 : 503;
    }
    return 0;
}

static int find_route(struct pawl_exchange *exchange, const char **detail)
{
    switch (pawl__routes_match(exchange->server->routes, pawl__exchange_method(exchange),
                               pawl__exchange_path(exchange), &exchange->match)) {
    case PAWL_ROUTE_FOUND:
        return decode_parameters(exchange, detail);
    case PAWL_ROUTE_NO_METHOD:
        pawl__exchange_add_field(exchange, "Allow", exchange->match.allow);
        *detail = "This resource does not know the method; see Allow.";
        return 405;
    case PAWL_ROUTE_NO_PATH:
        break;
    }
    *detail = "There is nothing at this path.";
    return 404;
}

static uint32_t count_fields(const struct pawl_exchange *exchange, const char *name)
{
    struct pawl_str wanted = pawl__str(name);
    uint32_t count = 0;

    for (uint32_t i = 0; i < exchange->field_count; i++) {
        const struct field *field = &exchange->fields[i];

        count += field->name_len == wanted.len &&
                 pawl__str_equal_nocase(pawl__request_slice(exchange, field->name, field->name_len),
                                        wanted);
    }
    return count;
}

bool pawl__request_is_host(struct pawl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!plain && (c == '\0' || !strchr("-._~:[]%!$&'()*+,;=", c)))
            return false;
    }
    return true;
}

/* RFC 9112: one Host, also an empty one; HTTP/1.0 may do without. */
static bool host_is_right(const struct pawl_exchange *exchange)
{
    uint32_t count = count_fields(exchange, "host");

    if (count == 0)
        return exchange->framing.minor == 0;
    return count == 1 && pawl__request_is_host(pawl__exchange_field(exchange, "host"));
}

static int check_framing(const struct pawl_exchange *exchange, const char **detail)
{
    const struct pawl_http_framing *framing = &exchange->framing;
    struct pawl_str expect = pawl__exchange_field(exchange, "expect");

    if (framing->major != 1) {
        *detail = "This server speaks HTTP/1.1 and HTTP/1.0.";
        return 505;
    }
    *detail = "A request has one Host, and that must be a valid host name.";
    if (!host_is_right(exchange))
        return 400;
    *detail = "A target has no fragment: \"#\" is written as %23.";
    if (pawl__str_find(pawl__request_target(exchange), '#', 0) != SIZE_MAX)
        return 400;
    *detail = "HTTP/1.0 knows no Transfer-Encoding.";
    if (framing->chunked && framing->minor == 0)
        return 400;
    *detail = "The only expectation that is met is 100-continue.";
    if (expect.ptr && !pawl__str_equal_nocase(expect, pawl__str("100-continue")))
        return 417;
    *detail = "No tunnels are made here.";
    return pawl__str_is(pawl__exchange_method(exchange), "CONNECT") ? 501 : 0;
}

/* Only gzip and the like would be decoded before a handler sees it: none is. */
static int check_encoding(const struct pawl_exchange *exchange, const char **detail)
{
    struct pawl_str encoding = pawl__exchange_field(exchange, "transfer-encoding");

    *detail = "A request has at most one Transfer-Encoding.";
    if (count_fields(exchange, "transfer-encoding") > 1)
        return 400;
    *detail = "The only transfer encoding that is known is chunked.";
    return encoding.ptr && !pawl__str_equal_nocase(encoding, pawl__str("chunked")) ? 501 : 0;
}

int pawl__request_check(struct pawl_exchange *exchange, const char **detail)
{
    const struct pawl_server_options *options = &exchange->server->options;
    int status = check_framing(exchange, detail);

    if (status == 0)
        status = check_encoding(exchange, detail);
    if (status == 0 && options->arrive)
        status = options->arrive(options->ctx, exchange);
    if (status == 0)
        status = find_route(exchange, detail);
    if (status == 0 && exchange->match.route->permission) {
        *detail = "This needs a permission.";
        status = options->admit(options->ctx, exchange, detail);
    }
    if (status == 0) {
        status = pawl__request_reserve(exchange, exchange->framing.length);
        *detail = pawl__request_refusal_detail(status);
    }
    return status;
}
