/* SPDX-License-Identifier: Apache-2.0 */
/* A response as bytes: its head, problems (RFC 9457), sending. */
#include "base/json/json.h"
#include "base/time/datetime.h"
#include "http/private.h"

#include <string.h>

struct reason {
    int status;
    const char *text;
};

static const struct reason reasons[] = {
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

const char *pawl__response_reason(int status)
{
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].status == status)
            return reasons[i].text;
    }
    return "Status";
}

/* ---- bodies ------------------------------------------------------------------------------ */

void pawl__response_problem(struct pawl_exchange *exchange, int status, const char *detail)
{
    struct pawl_json_writer json;

    pawl__buf_clear(&exchange->out);
    pawl__exchange_add_field(exchange, "Content-Type", "application/problem+json");
    pawl__json_writer_init(&json, &exchange->out, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__json_write_begin_object(&json);
    pawl__json_write_key_text(&json, "title");
    pawl__json_write_string_text(&json, pawl__response_reason(status));
    pawl__json_write_key_text(&json, "status");
    pawl__json_write_int(&json, status);
    pawl__json_write_key_text(&json, "detail");
    pawl__json_write_string_text(&json, detail);
    pawl__json_write_end_object(&json);
}

/* ---- heads ------------------------------------------------------------------------------- */

static char *put_digits(char *out, int number, int count)
{
    for (int i = count - 1; i >= 0; i--, number /= 10)
        out[i] = (char)('0' + number % 10);
    return out + count;
}

static char *put_letters(char *out, const char *from, size_t count)
{
    memcpy(out, from, count);
    return out + count;
}

/* "Tue, 17 Nov 2026 12:00:00 GMT". Every response has one, so it is made without printf. */
void pawl__response_date(int64_t wall_ns, char out[PAWL_HTTP_DATE_SIZE])
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct pawl_datetime time = {.ticks = PAWL_DATETIME_UNIX_EPOCH_TICKS + wall_ns / 100,
                                 .kind = PAWL_DATETIME_UTC};
    struct pawl_civil civil;

    pawl__datetime_civil(time, &civil);
    out = put_letters(out, days + (ptrdiff_t)3 * pawl__datetime_weekday(time), 3);
    out = put_letters(out, ", ", 2);
    out = put_digits(out, civil.day, 2);
    *out++ = ' ';
    out = put_letters(out, months + (ptrdiff_t)3 * (civil.month - 1), 3);
    *out++ = ' ';
    out = put_digits(out, (int)civil.year, 4);
    *out++ = ' ';
    out = put_digits(out, civil.hour, 2);
    *out++ = ':';
    out = put_digits(out, civil.minute, 2);
    *out++ = ':';
    out = put_digits(out, civil.second, 2);
    (void)put_letters(out, " GMT", 5);
}

static void write_date(struct pawl_buf *to, int64_t wall_ns)
{
    char date[PAWL_HTTP_DATE_SIZE];

    pawl__response_date(wall_ns, date);
    pawl__buf_text(to, "Date: ");
    pawl__buf_text(to, date);
    pawl__buf_text(to, "\r\n");
}

static bool has_content(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

/* What HTTP/1.0 gets without a length ends with the connection. */
static void write_framing(struct pawl_exchange *exchange, const struct stream *stream)
{
    struct pawl_buf *to = &exchange->head_out;

    if (stream && stream->chunked) {
        pawl__buf_text(to, "Transfer-Encoding: chunked\r\n");
    } else if (stream && stream->left == UINT64_MAX) {
        exchange->keep_alive = false;
    } else {
        pawl__buf_text(to, "Content-Length: ");
        pawl__buf_int(to, (int64_t)(stream ? stream->left : exchange->out.len));
        pawl__buf_text(to, "\r\n");
    }
}

static void write_head(struct pawl_exchange *exchange, const struct stream *stream, int status)
{
    struct pawl_buf *to = &exchange->head_out;

    pawl__buf_clear(to);
    (void)pawl__buf_reserve(to, 256 + exchange->fields_out.len);
    pawl__buf_text(to, "HTTP/1.1 ");
    pawl__buf_int(to, status);
    pawl__buf_byte(to, ' ');
    pawl__buf_text(to, pawl__response_reason(status));
    pawl__buf_text(to, "\r\n");
    write_date(to, pawl_env_wall_ns(exchange->server->env));
    if (has_content(status))
        write_framing(exchange, stream);
    if (!exchange->keep_alive && status != 101)
        pawl__buf_text(to, "Connection: close\r\n");
    else if (exchange->framing.minor == 0)
        pawl__buf_text(to, "Connection: keep-alive\r\n");
    if (exchange->server->options.fields)
        pawl__buf_text(to, exchange->server->options.fields);
    pawl__buf_str(to, pawl__buf_peek(&exchange->fields_out));
    pawl__buf_text(to, "\r\n");
    exchange->without_body =
        status != 101 &&
        (!has_content(status) || pawl__str_is(pawl__exchange_method(exchange), "HEAD"));
}

static bool failed(const struct pawl_exchange *exchange)
{
    return exchange->out.status != PAWL_OK || exchange->fields_out.status != PAWL_OK ||
           exchange->invalid_field;
}

void pawl__response_prepare(struct pawl_exchange *exchange, int status)
{
    const struct pawl_server *server = exchange->server;

    PAWL_ASSERT(status >= 200 && status <= 599);
    exchange->keep_alive = exchange->keep_alive && !atomic_load(&server->draining);
    if (failed(exchange)) {
        status = 500;
        exchange->invalid_field = false;
        pawl__buf_clear(&exchange->fields_out);
        pawl__response_problem(exchange, status,
                               "The response could not be made: out of memory, larger than the "
                               "server may send, or a field with a control character.");
    }
    write_head(exchange, NULL, status);
    exchange->status = status;
    exchange->sent = 0;
}

int pawl__response_begin(struct pawl_exchange *exchange, const struct stream *stream, int status)
{
    bool keep_alive = exchange->keep_alive;

    PAWL_ASSERT(status == 101 || (status >= 200 && status <= 599));
    if (exchange->invalid_field)
        return PAWL_EINVAL;
    pawl__buf_clear(&exchange->out);
    exchange->keep_alive = keep_alive && !atomic_load(&exchange->server->draining);
    write_head(exchange, stream, status);
    exchange->status = status;
    exchange->sent = 0;
    if (exchange->fields_out.status == PAWL_OK && exchange->head_out.status == PAWL_OK)
        return PAWL_OK;
    exchange->keep_alive = keep_alive;
    return PAWL_ENOMEM;
}

/* ---- sending ----------------------------------------------------------------------------- */

int pawl__response_send(struct pawl_exchange *exchange, struct pawl_connection *connection)
{
    struct pawl_str head = pawl__buf_peek(&exchange->head_out);
    struct pawl_str body = exchange->without_body ? pawl__str("") : pawl__buf_peek(&exchange->out);

    if (failed(exchange) || exchange->head_out.status != PAWL_OK)
        return PAWL_ENOMEM;
    while (exchange->sent < head.len + body.len) {
        size_t at = exchange->sent, behind = at > head.len ? at - head.len : 0, written = 0;
        int status = pawl__transport_write(connection, pawl__str_slice(head, at, head.len),
                                           pawl__str_slice(body, behind, body.len), &written);

        if (status != PAWL_OK)
            return status;
        exchange->sent += written;
    }
    return pawl__transport_flush(connection);
}
