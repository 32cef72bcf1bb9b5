/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strict parser of HTTP/1 requests: llhttp, the parser of Node.js, and a guard in front of it.
 *
 * llhttp 8 in its strict mode still takes folded fields, an empty field name, a request line that
 * ends in a bare LF, and trailers that do. What two parsers read differently is how requests are
 * smuggled. So the guard checks the lines of heads and trailers first: each ends in CRLF, no CR or
 * LF is anywhere else, none begins with white space or a colon, the request line has three words.
 * The guard also finds where a head ends, and llhttp must find the same place.
 *
 *     bytes -> pawl__http_parser_feed() -> MORE | HEAD | END | BAD
 *
 * It stops at the end of a head (HEAD) and of a message (END), so that the caller decides before
 * bytes that follow are read. Data goes to one function as it comes, in pieces. Nothing is
 * allocated. There are no limits here: the sink counts.
 */
#ifndef PAWL_DRIVERS_LLHTTP_H
#define PAWL_DRIVERS_LLHTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pawl_http_part {
    PAWL_HTTP_PART_METHOD,
    PAWL_HTTP_PART_TARGET,
    PAWL_HTTP_PART_NAME,      /* of a field; a piece after a VALUE begins the next field */
    PAWL_HTTP_PART_VALUE,     /* of a field; white space may be at its end */
    PAWL_HTTP_PART_VALUE_END, /* no bytes: the field is complete */
    PAWL_HTTP_PART_BODY,      /* without the framing of chunks; trailers are dropped */
};

/* Takes a piece, borrowed for the call. false: no more of this; the parser then returns BAD. */
typedef bool (*pawl_http_sink)(void *ctx, enum pawl_http_part part, const char *bytes,
                               size_t size_bytes);

enum pawl_http_parse {
    PAWL_HTTP_PARSE_MORE, /* all bytes are used; the message goes on */
    PAWL_HTTP_PARSE_HEAD, /* the head is complete: see struct pawl_http_framing */
    PAWL_HTTP_PARSE_END,  /* the message is complete; the next may follow */
    PAWL_HTTP_PARSE_BAD,  /* not a request; for good. pawl__http_parser_problem() says why */
};

/* What a complete head says about the message. */
struct pawl_http_framing {
    int major, minor;
    bool keep_alive; /* as the client wants it */
    bool chunked;
    bool has_length;
    uint64_t length; /* of the body; 0 when chunked or without a body */
    bool upgrade;    /* asks for another protocol; the parser goes on with this one */
};

#define PAWL_HTTP_PARSER_BYTES 128

struct pawl_http_parser {
    union {
        void *align;
        uint64_t align_too;
        unsigned char bytes[PAWL_HTTP_PARSER_BYTES]; /* llhttp's own */
    } inner;
    pawl_http_sink sink;
    void *ctx;
    const char *problem; /* set by the guard */
    uint64_t framing_bytes;
    uint8_t mode;   /* which bytes come next: a head, a body, trailers */
    uint8_t line;   /* where the guard is in a line */
    uint8_t words;  /* of the request line so far */
    uint8_t column; /* in the last word of it */
    bool first_line;
};

/* Borrows `ctx` until it is initialised again; there is nothing to release. */
void pawl__http_parser_init(struct pawl_http_parser *parser, pawl_http_sink sink, void *ctx);

/*
 * Reads up to the next stop. *used bytes were taken; the caller feeds the rest when it wants to go
 * on. `size_bytes` 0 is allowed, and needed after HEAD: a request without a body is at its END.
 */
enum pawl_http_parse pawl__http_parser_feed(struct pawl_http_parser *parser, const char *bytes,
                                            size_t size_bytes, size_t *used);

/* After HEAD. */
struct pawl_http_framing pawl__http_parser_framing(const struct pawl_http_parser *parser);

/* Bytes of this message's body that were not its content: sizes and extensions of chunks, trailers.
 */
uint64_t pawl__http_parser_framing_bytes(const struct pawl_http_parser *parser);

/* After BAD: a constant text for people. */
const char *pawl__http_parser_problem(const struct pawl_http_parser *parser);

/* "8.1.0" */
const char *pawl__http_parser_version(void);

#endif
