/* SPDX-License-Identifier: Apache-2.0 */
/* llhttp behind a guard; see llhttp.h. */
#include "drivers/llhttp.h"

#include "base/assert.h"

#include <llhttp.h>
#include <string.h>

#define TEXT(value) #value
#define VERSION_TEXT(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

_Static_assert(sizeof(llhttp_t) <= PAWL_HTTP_PARSER_BYTES, "llhttp's state has grown");
_Static_assert(LLHTTP_STRICT_MODE == 1, "what is not strict takes a CR behind a field name");

enum mode { MODE_HEAD, MODE_BODY, MODE_TRAILERS, MODE_BAD };

/* Where the guard is: before the first byte of a line, in it, behind its CR, behind an empty one's.
 */
enum line { LINE_START, LINE_IN, LINE_CR, LINE_LAST_CR };

static llhttp_t *inner(struct pawl_http_parser *parser)
{
    return (llhttp_t *)(void *)parser->inner.bytes;
}

static const llhttp_t *inner_const(const struct pawl_http_parser *parser)
{
    return (const llhttp_t *)(const void *)parser->inner.bytes;
}

/* ---- the guard --------------------------------------------------------------------------- */

static const char *check_request_line(struct pawl_http_parser *parser, char byte)
{
    static const char protocol[] = "HTTP/";

    if (byte == ' ') {
        if (parser->column == 0 || ++parser->words > 2)
            return "the request line is not method, target and version, one space between them";
        parser->column = 0;
        return NULL;
    }
    if (parser->words == 2 && parser->column < 5 && byte != protocol[parser->column])
        return "the protocol is not HTTP";
    if (parser->column < UINT8_MAX)
        parser->column++;
    return NULL;
}

/* The first byte of a line that is not its CR. */
static const char *check_line_start(const struct pawl_http_parser *parser, char byte)
{
    if (parser->first_line)
        return NULL;
    if (byte == ' ' || byte == '\t')
        return "a field is folded over two lines, or white space is before its name";
    return byte == ':' ? "a field has no name" : NULL;
}

static const char *check_line_end(struct pawl_http_parser *parser)
{
    if (parser->first_line && (parser->words != 2 || parser->column < 8))
        return "the request line has no version";
    parser->first_line = false;
    return NULL;
}

/* Looks at one byte. NULL: fine. *ends: it is the last of a head, or of trailers. */
static const char *check_byte(struct pawl_http_parser *parser, char byte, bool *ends)
{
    const char *problem = NULL;

    if (parser->line == LINE_CR || parser->line == LINE_LAST_CR) {
        if (byte != '\n')
            return "a CR is not followed by LF";
        /* An empty line before the request line is passed over. */
        *ends = parser->line == LINE_LAST_CR && !parser->first_line;
        parser->line = LINE_START;
        return NULL;
    }
    if (byte == '\n')
        return "an LF is not preceded by CR";
    if (byte == '\r') {
        bool empty = parser->line == LINE_START;

        parser->line = empty ? LINE_LAST_CR : LINE_CR;
        return empty ? NULL : check_line_end(parser);
    }
    if (parser->line == LINE_START)
        problem = check_line_start(parser, byte);
    parser->line = LINE_IN;
    return problem || !parser->first_line ? problem : check_request_line(parser, byte);
}

/* In the line of a field: how many bytes are before its CR, or before an LF that has none. */
static size_t bytes_in_line(const char *bytes, size_t size_bytes)
{
    const char *cr = memchr(bytes, '\r', size_bytes);
    const char *lf;

    if (cr)
        size_bytes = (size_t)(cr - bytes);
    lf = memchr(bytes, '\n', size_bytes);
    return lf ? (size_t)(lf - bytes) : size_bytes;
}

/* How many bytes belong to this head or these trailers. *objection: to the one behind them. */
static size_t check_lines(struct pawl_http_parser *parser, const char *bytes, size_t size_bytes,
                          bool *ends, const char **objection)
{
    *ends = false;
    for (size_t i = 0; i < size_bytes; i++) {
        if (parser->line == LINE_IN && !parser->first_line)
            i += bytes_in_line(bytes + i, size_bytes - i);
        if (i == size_bytes)
            break;
        *objection = check_byte(parser, bytes[i], ends);
        if (*objection)
            return i;
        if (*ends)
            return i + 1;
    }
    return size_bytes;
}

static void begin_lines(struct pawl_http_parser *parser, enum mode mode)
{
    parser->mode = (uint8_t)mode;
    parser->line = LINE_START;
    parser->words = parser->column = 0;
    parser->first_line = mode == MODE_HEAD;
}

/* ---- llhttp's calls ---------------------------------------------------------------------- */

static int pass(llhttp_t *llhttp, enum pawl_http_part part, const char *bytes, size_t size_bytes)
{
    struct pawl_http_parser *parser = llhttp->data;

    if (part != PAWL_HTTP_PART_BODY && parser->mode != MODE_HEAD)
        return 0; /* trailers */
    if (parser->sink(parser->ctx, part, bytes, size_bytes))
        return 0;
    llhttp_set_error_reason(llhttp, "a limit was exceeded");
    return HPE_USER;
}

static int on_method(llhttp_t *llhttp, const char *bytes, size_t size_bytes)
{
    return pass(llhttp, PAWL_HTTP_PART_METHOD, bytes, size_bytes);
}

static int on_url(llhttp_t *llhttp, const char *bytes, size_t size_bytes)
{
    return pass(llhttp, PAWL_HTTP_PART_TARGET, bytes, size_bytes);
}

static int on_header_field(llhttp_t *llhttp, const char *bytes, size_t size_bytes)
{
    return pass(llhttp, PAWL_HTTP_PART_NAME, bytes, size_bytes);
}

static int on_header_value(llhttp_t *llhttp, const char *bytes, size_t size_bytes)
{
    return pass(llhttp, PAWL_HTTP_PART_VALUE, bytes, size_bytes);
}

static int on_header_value_complete(llhttp_t *llhttp)
{
    return pass(llhttp, PAWL_HTTP_PART_VALUE_END, "", 0);
}

static int on_body(llhttp_t *llhttp, const char *bytes, size_t size_bytes)
{
    struct pawl_http_parser *parser = llhttp->data;

    parser->framing_bytes -= size_bytes; /* all were counted as framing */
    return pass(llhttp, PAWL_HTTP_PART_BODY, bytes, size_bytes);
}

static int on_headers_complete(llhttp_t *llhttp)
{
    (void)llhttp;
    return HPE_PAUSED;
}

/* The last chunk: what follows are lines. */
static int on_chunk_header(llhttp_t *llhttp)
{
    return llhttp->content_length == 0 ? HPE_PAUSED : 0;
}

static int on_message_complete(llhttp_t *llhttp)
{
    (void)llhttp;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_method = on_method,
    .on_url = on_url,
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_header_value_complete = on_header_value_complete,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_chunk_header = on_chunk_header,
    .on_message_complete = on_message_complete,
};

/* ---- feeding ----------------------------------------------------------------------------- */

void pawl__http_parser_init(struct pawl_http_parser *parser, pawl_http_sink sink, void *ctx)
{
    memset(parser, 0, sizeof *parser);
    llhttp_init(inner(parser), HTTP_REQUEST, &settings);
    inner(parser)->data = parser;
    parser->sink = sink;
    parser->ctx = ctx;
    begin_lines(parser, MODE_HEAD);
}

static enum pawl_http_parse fail(struct pawl_http_parser *parser, const char *problem)
{
    if (problem)
        parser->problem = problem;
    parser->mode = MODE_BAD;
    return PAWL_HTTP_PARSE_BAD;
}

/* PAWL_HTTP_PARSE_HEAD: llhttp stopped, whatever for. */
static enum pawl_http_parse execute(struct pawl_http_parser *parser, const char *bytes,
                                    size_t size_bytes, size_t *used)
{
    llhttp_t *llhttp = inner(parser);
    llhttp_errno_t code = llhttp_execute(llhttp, bytes, size_bytes);

    *used = size_bytes;
    if (code == HPE_OK)
        return PAWL_HTTP_PARSE_MORE;
    if (code != HPE_PAUSED)
        return fail(parser, NULL);
    *used = (size_t)(llhttp_get_error_pos(llhttp) - bytes);
    llhttp_resume(llhttp);
    return PAWL_HTTP_PARSE_HEAD;
}

/*
 * A head or trailers. Both parsers must find the same end. What comes first counts, however the
 * bytes were cut: llhttp reads up to where the guard objects.
 */
static enum pawl_http_parse feed_lines(struct pawl_http_parser *parser, const char *bytes,
                                       size_t size_bytes, size_t *used)
{
    const char *objection = NULL;
    bool ends, in_head = parser->mode == MODE_HEAD;
    size_t fit = check_lines(parser, bytes, size_bytes, &ends, &objection);
    enum pawl_http_parse result = execute(parser, bytes, fit, used);

    if (result == PAWL_HTTP_PARSE_BAD)
        return result;
    if (objection)
        return fail(parser, objection);
    if (result == PAWL_HTTP_PARSE_MORE && !ends)
        return result;
    if (result == PAWL_HTTP_PARSE_MORE || *used != fit || !ends)
        return fail(parser, "it does not end at its empty line");
    if (!in_head) {
        begin_lines(parser, MODE_HEAD);
        return PAWL_HTTP_PARSE_END;
    }
    /* Requests for another protocol are the caller's business; the parser stays with this one. */
    parser->mode = MODE_BODY;
    parser->framing_bytes = 0;
    return PAWL_HTTP_PARSE_HEAD;
}

static enum pawl_http_parse feed_body(struct pawl_http_parser *parser, const char *bytes,
                                      size_t size_bytes, size_t *used)
{
    llhttp_t *llhttp = inner(parser);
    enum pawl_http_parse result;
    size_t more = 0;

    llhttp->upgrade = 0;
    parser->framing_bytes += size_bytes;
    result = execute(parser, bytes, size_bytes, used);
    parser->framing_bytes -= size_bytes - *used;
    if (result != PAWL_HTTP_PARSE_HEAD)
        return result;
    if (!(llhttp->flags & F_CHUNKED)) {
        begin_lines(parser, MODE_HEAD);
        return PAWL_HTTP_PARSE_END;
    }
    begin_lines(parser, MODE_TRAILERS);
    result = pawl__http_parser_feed(parser, bytes + *used, size_bytes - *used, &more);
    *used += more;
    return result;
}

enum pawl_http_parse pawl__http_parser_feed(struct pawl_http_parser *parser, const char *bytes,
                                            size_t size_bytes, size_t *used)
{
    enum pawl_http_parse result = PAWL_HTTP_PARSE_BAD;

    *used = 0;
    if (parser->mode == MODE_BAD)
        return result;
    if (parser->mode == MODE_BODY)
        return feed_body(parser, bytes, size_bytes, used);
    if (parser->mode == MODE_TRAILERS) {
        result = feed_lines(parser, bytes, size_bytes, used);
        parser->framing_bytes += *used;
        return result;
    }
    return feed_lines(parser, bytes, size_bytes, used);
}

/* ---- what it found ----------------------------------------------------------------------- */

struct pawl_http_framing pawl__http_parser_framing(const struct pawl_http_parser *parser)
{
    const llhttp_t *llhttp = inner_const(parser);

    return (struct pawl_http_framing){
        .major = llhttp->http_major,
        .minor = llhttp->http_minor,
        .keep_alive = llhttp_should_keep_alive(llhttp) != 0,
        .chunked = (llhttp->flags & F_TRANSFER_ENCODING) != 0,
        .has_length = (llhttp->flags & F_CONTENT_LENGTH) != 0,
        .length = llhttp->flags & F_CONTENT_LENGTH ? llhttp->content_length : 0,
        .upgrade = llhttp->upgrade != 0,
    };
}

uint64_t pawl__http_parser_framing_bytes(const struct pawl_http_parser *parser)
{
    return parser->framing_bytes;
}

const char *pawl__http_parser_problem(const struct pawl_http_parser *parser)
{
    const char *reason = llhttp_get_error_reason(inner_const(parser));

    if (parser->problem)
        return parser->problem;
    return reason && *reason ? reason : "it is not a request";
}

const char *pawl__http_parser_version(void)
{
    return VERSION_TEXT(LLHTTP_VERSION_MAJOR, LLHTTP_VERSION_MINOR, LLHTTP_VERSION_PATCH);
}
