/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parser takes and what it refuses, each case whole and cut at every byte: a parser that
 * depends on how bytes were cut could be made to see other requests than a proxy before it.
 */
#include "drivers/llhttp.h"
#include "lib/test.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

struct seen {
    char text[512];
    size_t len;
    size_t body_max;
};

static void note(struct seen *seen, const char *text, size_t len)
{
    if (seen->len + len < sizeof seen->text) {
        memcpy(seen->text + seen->len, text, len);
        seen->len += len;
        seen->text[seen->len] = '\0';
    }
}

static bool sink(void *ctx, enum pawl_http_part part, const char *bytes, size_t size_bytes)
{
    static const char marks[] = "M T N V ; B ";
    struct seen *seen = ctx;
    char mark = marks[2 * part];

    /* Pieces of one part are shown as one. */
    if (part == PAWL_HTTP_PART_VALUE_END || !strrchr(seen->text, '<') ||
        strrchr(seen->text, '<')[1] != mark || seen->text[seen->len - 1] == ';') {
        if (part != PAWL_HTTP_PART_VALUE_END)
            note(seen, "<", 1);
        note(seen, &mark, 1);
    }
    note(seen, bytes, size_bytes);
    if (part == PAWL_HTTP_PART_BODY && size_bytes > seen->body_max)
        return false;
    return true;
}

/* Feeds in pieces of `step` bytes; goes on after HEAD and END; returns the last verdict. */
static enum pawl_http_parse feed_all(struct seen *seen, struct pawl_str all, size_t step)
{
    struct pawl_http_parser parser;
    enum pawl_http_parse result = PAWL_HTTP_PARSE_MORE;
    size_t at = 0;

    memset(seen, 0, sizeof *seen);
    seen->body_max = 100;
    pawl__http_parser_init(&parser, sink, seen);
    while (at < all.len || result == PAWL_HTTP_PARSE_HEAD) {
        size_t used, size = all.len - at < step ? all.len - at : step;

        result = pawl__http_parser_feed(&parser, all.ptr + at, size, &used);
        assert_true(used <= size);
        at += used;
        if (result == PAWL_HTTP_PARSE_HEAD)
            note(seen, "|", 1);
        else if (result == PAWL_HTTP_PARSE_END)
            note(seen, "!", 1);
        else if (result == PAWL_HTTP_PARSE_BAD)
            break;
        else
            assert_int_equal(used, size);
    }
    if (result == PAWL_HTTP_PARSE_BAD)
        assert_true(strlen(pawl__http_parser_problem(&parser)) > 0);
    return result;
}

struct request {
    const char *name;
    struct pawl_str bytes;
    const char *seen; /* NULL: it must be refused */
};

#define BYTES(text) PAWL_STR_LIT(text)
#define CHUNKED "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
#define CHUNKED_SEEN "<MPOST<T/<NTransfer-Encoding<Vchunked;|"

static const struct request requests[] = {
    {"one", BYTES("GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n"), "<MGET<T/a?b<NHost<Vx;|!"},
    {"two in one piece", BYTES("GET / HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n"),
     "<MGET<T/|!<MGET<T/2|!"},
    {"empty lines before", BYTES("\r\n\r\nGET / HTTP/1.1\r\n\r\n"), "<MGET<T/|!"},
    {"length", BYTES("PUT / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\n\r\n"),
     "<MPUT<T/<NContent-Length<V3;|<Babc!<MGET<T/|!"},
    {"chunks", BYTES(CHUNKED "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), CHUNKED_SEEN "<Babcde!"},
    {"trailers are dropped", BYTES(CHUNKED "1\r\na\r\n0\r\nHost: evil\r\n\r\n"),
     CHUNKED_SEEN "<Ba!"},
    {"obs-text in a value", BYTES("GET / HTTP/1.1\r\nX: \xe4\r\n\r\n"), "<MGET<T/<NX<V\xe4;|!"},
    {"empty value", BYTES("GET / HTTP/1.1\r\nX:\r\n\r\n"), "<MGET<T/<NX<V;|!"},
    {"upgrade is not taken up",
     BYTES("GET / HTTP/1.1\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n"
           "\r\nGET / HTTP/1.1\r\n\r\n"),
     "<MGET<T/<NUpgrade<Vh2c;<NConnection<VUpgrade;|!<MGET<T/|!"},

    {"two lengths", BYTES("POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
     NULL},
    {"the same length twice",
     BYTES("POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc"), NULL},
    {"a list of lengths", BYTES("POST / HTTP/1.1\r\nContent-Length: 3, 3\r\n\r\nabc"), NULL},
    {"length with a sign", BYTES("POST / HTTP/1.1\r\nContent-Length: +3\r\n\r\nabc"), NULL},
    {"length of two words", BYTES("POST / HTTP/1.1\r\nContent-Length: 1 2\r\n\r\nabc"), NULL},
    {"length too large", BYTES("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"),
     NULL},
    {"empty length", BYTES("POST / HTTP/1.1\r\nContent-Length: \r\n\r\n"), NULL},
    {"length, then chunked",
     BYTES("POST / HTTP/1.1\r\nContent-Length: 3\r\n"
           "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
     NULL},
    {"chunked, then length",
     BYTES("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
           "Content-Length: 3\r\n\r\n0\r\n\r\n"),
     NULL},
    {"chunked is not last",
     BYTES("POST / HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"), NULL},
    {"chunked twice",
     BYTES("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
           "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
     NULL},
    {"an encoding like chunked",
     BYTES("POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"), NULL},
    {"folded encoding", BYTES("POST / HTTP/1.1\r\nTransfer-Encoding:\r\n chunked\r\n\r\n"), NULL},
    {"folded field", BYTES("GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n"), NULL},
    {"space before the first field", BYTES("GET / HTTP/1.1\r\n X: a\r\n\r\n"), NULL},
    {"tab before a field", BYTES("GET / HTTP/1.1\r\nX: a\r\n\tY: b\r\n\r\n"), NULL},
    {"space before the colon", BYTES("GET / HTTP/1.1\r\nHost : a\r\n\r\n"), NULL},
    {"CR before the colon", BYTES("GET / HTTP/1.1\r\nHost\r: a\r\n\r\n"), NULL},
    {"no colon", BYTES("GET / HTTP/1.1\r\nHost\r\n\r\n"), NULL},
    {"no name", BYTES("GET / HTTP/1.1\r\n: x\r\n\r\n"), NULL},
    {"obs-text in a name", BYTES("GET / HTTP/1.1\r\nX\xe4: a\r\n\r\n"), NULL},
    {"obs-text in the target", BYTES("GET /\xe4 HTTP/1.1\r\n\r\n"), NULL},
    {"control in a value", BYTES("GET / HTTP/1.1\r\nX: a\x01\r\n\r\n"), NULL},
    {"NUL in a value", BYTES("GET / HTTP/1.1\r\nX: a\0\r\n\r\n"), NULL},
    {"LF behind the request line", BYTES("GET / HTTP/1.1\nX: a\r\n\r\n"), NULL},
    {"LF behind a field", BYTES("GET / HTTP/1.1\r\nX: a\nY: b\r\n\r\n"), NULL},
    {"LF as the empty line", BYTES("GET / HTTP/1.1\r\nX: a\r\n\n"), NULL},
    {"CR in a value", BYTES("GET / HTTP/1.1\r\nX: a\rY: b\r\n\r\n"), NULL},
    {"CR CR LF", BYTES("GET / HTTP/1.1\r\nX: a\r\r\n\r\n"), NULL},
    {"no version", BYTES("GET /\r\n\r\n"), NULL},
    {"another protocol", BYTES("GET / RTSP/1.0\r\n\r\n"), NULL},
    {"two spaces", BYTES("GET  / HTTP/1.1\r\n\r\n"), NULL},
    {"a space in the target", BYTES("GET /a b HTTP/1.1\r\n\r\n"), NULL},
    {"a space at the end", BYTES("GET / HTTP/1.1 \r\n\r\n"), NULL},
    {"unknown method", BYTES("FOO / HTTP/1.1\r\n\r\n"), NULL},
    {"HTTP/2 by prior knowledge", BYTES("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), NULL},
    {"TLS", BYTES("\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"), NULL},
    {"LF behind a chunk's size", BYTES(CHUNKED "3\nabc\r\n0\r\n\r\n"), NULL},
    {"LF behind a chunk", BYTES(CHUNKED "3\r\nabc\n0\r\n\r\n"), NULL},
    {"nothing behind a chunk", BYTES(CHUNKED "3\r\nabc0\r\n\r\n"), NULL},
    {"CR in a chunk's line", BYTES(CHUNKED "3\rXabc\r\n0\r\n\r\n"), NULL},
    {"LF in a chunk's extension", BYTES(CHUNKED "3;a\nb\r\nabc\r\n0\r\n\r\n"), NULL},
    {"space behind a size", BYTES(CHUNKED "3 \r\nabc\r\n0\r\n\r\n"), NULL},
    {"size with 0x", BYTES(CHUNKED "0x3\r\nabc\r\n0\r\n\r\n"), NULL},
    {"size too large", BYTES(CHUNKED "fffffffffffffffff\r\n"), NULL},
    {"LF as the end of trailers", BYTES(CHUNKED "0\r\n\n"), NULL},
    {"LF behind a trailer", BYTES(CHUNKED "0\r\nX: y\n\r\n"), NULL},
    {"folded trailer", BYTES(CHUNKED "0\r\nX: y\r\n z\r\n\r\n"), NULL},
};

static void takes_and_refuses_the_same_however_it_is_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        const struct request *r = &requests[i];

        for (size_t step = r->bytes.len; step > 0; step--) {
            struct seen seen;
            enum pawl_http_parse result = feed_all(&seen, r->bytes, step);

            if (r->seen ? result != PAWL_HTTP_PARSE_END || strcmp(seen.text, r->seen) != 0
                        : result != PAWL_HTTP_PARSE_BAD)
                fail_msg("%s, in pieces of %zu: %d, %s", r->name, step, (int)result, seen.text);
        }
    }
}

static void stops_where_a_head_ends(void **state)
{
    static const char bytes[] = "POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc";
    struct pawl_http_parser parser;
    struct pawl_http_framing framing;
    struct seen seen = {.body_max = 100};
    size_t used;

    (void)state;
    pawl__http_parser_init(&parser, sink, &seen);
    assert_int_equal(pawl__http_parser_feed(&parser, bytes, sizeof bytes - 1, &used),
                     PAWL_HTTP_PARSE_HEAD);
    assert_int_equal(used, sizeof bytes - 1 - 3);
    framing = pawl__http_parser_framing(&parser);
    assert_int_equal(framing.major, 1);
    assert_int_equal(framing.minor, 0);
    assert_false(framing.keep_alive);
    assert_false(framing.chunked);
    assert_int_equal(framing.length, 3);
}

static void counts_what_frames_a_body(void **state)
{
    static const char bytes[] = CHUNKED "3;extension\r\nabc\r\n0\r\nT: x\r\n\r\n";
    struct pawl_http_parser parser;
    struct seen seen = {.body_max = 100};
    size_t head, used;

    (void)state;
    pawl__http_parser_init(&parser, sink, &seen);
    assert_int_equal(pawl__http_parser_feed(&parser, bytes, sizeof bytes - 1, &head),
                     PAWL_HTTP_PARSE_HEAD);
    assert_true(pawl__http_parser_framing(&parser).chunked);
    assert_int_equal(pawl__http_parser_feed(&parser, bytes + head, sizeof bytes - 1 - head, &used),
                     PAWL_HTTP_PARSE_END);
    assert_int_equal(pawl__http_parser_framing_bytes(&parser), used - 3);
}

static void stops_for_good_when_the_sink_refuses(void **state)
{
    static const char bytes[] = "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
    struct pawl_http_parser parser;
    struct seen seen = {.body_max = 2};
    size_t head, used;

    (void)state;
    pawl__http_parser_init(&parser, sink, &seen);
    assert_int_equal(pawl__http_parser_feed(&parser, bytes, sizeof bytes - 1, &head),
                     PAWL_HTTP_PARSE_HEAD);
    assert_int_equal(pawl__http_parser_feed(&parser, bytes + head, 3, &used), PAWL_HTTP_PARSE_BAD);
    assert_string_equal(pawl__http_parser_problem(&parser), "a limit was exceeded");
    assert_int_equal(pawl__http_parser_feed(&parser, bytes, 3, &used), PAWL_HTTP_PARSE_BAD);
    assert_int_equal(used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_and_refuses_the_same_however_it_is_cut),
        cmocka_unit_test(stops_where_a_head_ends),
        cmocka_unit_test(counts_what_frames_a_body),
        cmocka_unit_test(stops_for_good_when_the_sink_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
