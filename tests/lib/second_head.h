/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second parser of heads, written from RFC 9112 and 9110 alone, and a comparison with the
 * server's. What ours takes, the other takes, with the same fields and the same framing; what the
 * other takes and is not beyond what ours knows (methods), ours takes.
 */
#ifndef PAWL_TESTS_LIB_SECOND_HEAD_H
#define PAWL_TESTS_LIB_SECOND_HEAD_H

#include "base/buf.h"
#include "drivers/llhttp.h"

#include <stddef.h>
#include <string.h>

#define SECOND_FIELDS_MAX 1024

/* ---- the second parser ------------------------------------------------------------------- */

struct head {
    struct pawl_str method, target;
    int minor;
    size_t count;
    bool chunked, has_length;
    bool refused_later; /* encodings or a version that the server answers with 400, 501 or 505 */
    uint64_t length;
    struct pawl_str names[SECOND_FIELDS_MAX], values[SECOND_FIELDS_MAX]; /* last: not cleared */
};

static bool is_token_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct pawl_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (!is_token_char(s.ptr[i]))
            return false;
    }
    return s.len > 0;
}

/* field-content: visible, obs-text, and space and tab within. */
static bool is_value(struct pawl_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c != '\t' && (c < 0x20 || c == 0x7f))
            return false;
    }
    return true;
}

static bool is_target(struct pawl_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c <= 0x20 || c >= 0x7f)
            return false;
    }
    return s.len > 0;
}

static struct pawl_str trim(struct pawl_str s)
{
    while (s.len > 0 && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = pawl__str_slice(s, 1, s.len);
    while (s.len > 0 && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

/* The next line without its CRLF; false: there is none, or a CR or LF is elsewhere. */
static bool take_line(struct pawl_str *rest, struct pawl_str *line)
{
    for (size_t i = 0; i < rest->len; i++) {
        if (rest->ptr[i] == '\n')
            return false;
        if (rest->ptr[i] != '\r')
            continue;
        if (i + 1 == rest->len || rest->ptr[i + 1] != '\n')
            return false;
        *line = pawl__str_slice(*rest, 0, i);
        *rest = pawl__str_slice(*rest, i + 2, rest->len);
        return true;
    }
    return false;
}

static bool read_request_line(struct pawl_str line, struct head *head)
{
    size_t first = pawl__str_find(line, ' ', 0);
    size_t second = first == SIZE_MAX ? SIZE_MAX : pawl__str_find(line, ' ', first + 1);
    struct pawl_str version;

    if (second == SIZE_MAX)
        return false;
    head->method = pawl__str_slice(line, 0, first);
    head->target = pawl__str_slice(line, first + 1, second);
    version = pawl__str_slice(line, second + 1, line.len);
    head->minor = pawl__str_is(version, "HTTP/1.1") ? 1 : 0;
    head->refused_later = pawl__str_is(version, "HTTP/2.0") || pawl__str_is(version, "HTTP/0.9");
    return is_token(head->method) && is_target(head->target) &&
           (head->minor == 1 || pawl__str_is(version, "HTTP/1.0"));
}

/* One Content-Length of digits, or one Transfer-Encoding that ends in chunked; not both. */
static bool read_framing(struct head *head)
{
    int lengths = 0, encodings = 0;

    for (size_t i = 0; i < head->count; i++) {
        struct pawl_str value = head->values[i];

        if (pawl__str_equal_nocase(head->names[i], pawl__str("content-length"))) {
            lengths++;
            head->has_length = true;
            for (size_t k = 0; k < value.len; k++) {
                if (value.ptr[k] < '0' || value.ptr[k] > '9' || k > 17)
                    return false;
                head->length = head->length * 10 + (uint64_t)(value.ptr[k] - '0');
            }
            if (value.len == 0)
                return false;
            /* A tab behind it is white space as well; ours refuses it. */
            for (const char *behind = value.ptr + value.len; *behind != '\r'; behind++)
                head->refused_later = head->refused_later || *behind == '\t';
        } else if (pawl__str_equal_nocase(head->names[i], pawl__str("transfer-encoding"))) {
            encodings++;
            head->chunked = true;
            head->refused_later =
                head->refused_later || !pawl__str_equal_nocase(value, pawl__str("chunked"));
        }
    }
    head->refused_later = head->refused_later || encodings > 1;
    return lengths <= 1 && !(head->has_length && head->chunked);
}

static bool parse_head(struct pawl_str text, struct head *head)
{
    struct pawl_str line;

    memset(head, 0, offsetof(struct head, names));
    while (pawl__str_starts(text, pawl__str("\r\n"))) /* RFC 9112, 2.2: ignored */
        text = pawl__str_slice(text, 2, text.len);
    if (!take_line(&text, &line) || !read_request_line(line, head))
        return false;
    while (take_line(&text, &line)) {
        size_t colon = pawl__str_find(line, ':', 0);

        if (line.len == 0)
            return text.len == 0 && read_framing(head);
        if (colon == SIZE_MAX || head->count == SECOND_FIELDS_MAX)
            return false;
        head->names[head->count] = pawl__str_slice(line, 0, colon);
        head->values[head->count] = trim(pawl__str_slice(line, colon + 1, line.len));
        if (!is_token(head->names[head->count]) || !is_value(head->values[head->count]))
            return false;
        head->count++;
    }
    return false;
}

/* ---- ours -------------------------------------------------------------------------------- */

/* Collects "method target name:value|name:value|". */
struct collected {
    struct pawl_buf text;
    size_t value_at;
    int last; /* part */
};

static bool collect(void *ctx, enum pawl_http_part part, const char *bytes, size_t size_bytes)
{
    struct collected *c = ctx;

    if ((int)part != c->last && part == PAWL_HTTP_PART_TARGET)
        pawl__buf_byte(&c->text, ' ');
    if ((int)part != c->last && part == PAWL_HTTP_PART_NAME)
        pawl__buf_byte(&c->text, c->last == PAWL_HTTP_PART_TARGET ? ' ' : '|');
    if ((part == PAWL_HTTP_PART_VALUE || part == PAWL_HTTP_PART_VALUE_END) &&
        c->last == PAWL_HTTP_PART_NAME) {
        pawl__buf_byte(&c->text, ':');
        c->value_at = c->text.len;
    }
    pawl__buf_append(&c->text, bytes, size_bytes);
    if (part == PAWL_HTTP_PART_VALUE_END) {
        while (c->text.len > c->value_at &&
               (c->text.ptr[c->text.len - 1] == ' ' || c->text.ptr[c->text.len - 1] == '\t'))
            c->text.len--;
    }
    c->last = (int)part;
    return true;
}

static bool parse_ours(struct pawl_str text, size_t step, struct collected *out,
                       struct pawl_http_framing *framing)
{
    struct pawl_http_parser parser;
    enum pawl_http_parse result = PAWL_HTTP_PARSE_MORE;
    size_t at = 0;

    pawl__buf_clear(&out->text);
    out->last = -1;
    pawl__http_parser_init(&parser, collect, out);
    while (at < text.len && result == PAWL_HTTP_PARSE_MORE) {
        size_t used;

        result = pawl__http_parser_feed(&parser, text.ptr + at,
                                        text.len - at < step ? text.len - at : step, &used);
        at += used;
    }
    if (result != PAWL_HTTP_PARSE_HEAD || at != text.len)
        return false;
    *framing = pawl__http_parser_framing(&parser);
    return true;
}

/* ---- both -------------------------------------------------------------------------------- */

static const char *const known_methods[] = {"GET",  "POST",    "PUT",  "DELETE",
                                            "HEAD", "OPTIONS", "PATCH"};

static void describe(const struct head *head, struct pawl_buf *out)
{
    pawl__buf_clear(out);
    pawl__buf_str(out, head->method);
    pawl__buf_byte(out, ' ');
    pawl__buf_str(out, head->target);
    for (size_t i = 0; i < head->count; i++) {
        pawl__buf_byte(out, i == 0 ? ' ' : '|');
        pawl__buf_str(out, head->names[i]);
        pawl__buf_byte(out, ':');
        pawl__buf_str(out, head->values[i]);
    }
}

static bool is_known_method(struct pawl_str method)
{
    for (size_t i = 0; i < sizeof known_methods / sizeof known_methods[0]; i++) {
        if (pawl__str_is(method, known_methods[i]))
            return true;
    }
    return false;
}

/* NULL, or in what they differ. *taken: by both. Ours gets `step` bytes at a time. */
static const char *compare_heads(struct pawl_str bytes, size_t step,
                                 const struct pawl_allocator *alloc, bool *taken)
{
    const char *problem = NULL;
    struct pawl_http_framing framing;
    struct collected ours;
    struct pawl_buf expected;
    struct head head;
    bool theirs = parse_head(bytes, &head), mine;

    *taken = false;
    if (head.refused_later)
        return NULL;
    pawl__buf_init(&expected, alloc, 65536);
    pawl__buf_init(&ours.text, alloc, 65536);
    mine = parse_ours(bytes, step, &ours, &framing);
    *taken = mine && theirs;
    if (mine && !theirs)
        problem = "only ours takes it";
    if (theirs && !mine && is_known_method(head.method) && head.target.ptr[0] == '/')
        problem = "ours refuses it";
    if (*taken) {
        describe(&head, &expected);
        if (!pawl__str_equal(pawl__buf_peek(&expected), pawl__buf_peek(&ours.text)))
            problem = "other fields";
        if (framing.chunked != head.chunked || framing.has_length != head.has_length ||
            framing.length != head.length || framing.minor != head.minor)
            problem = "another framing";
    }
    pawl__buf_release(&expected);
    pawl__buf_release(&ours.text);
    return problem;
}

#endif
