/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of WebSocket: the cases of the Autobahn test suite that concern a server's reader. */
#include "http/frame.h"
#include "lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_MAX 70000

/* What a piece of input led to, as text: "T:hello", "B:…", "ping:…", "close:1000", "bad:1002". */
struct seen {
    char text[512];
};

static void note(struct seen *seen, const char *what, struct pawl_str bytes)
{
    size_t len = strlen(seen->text);

    (void)snprintf(seen->text + len, sizeof seen->text - len, "%s%s:", len > 0 ? " " : "", what);
    len = strlen(seen->text);
    if (bytes.len > 100)
        (void)snprintf(seen->text + len, sizeof seen->text - len, "%zu bytes", bytes.len);
    else
        (void)snprintf(seen->text + len, sizeof seen->text - len, "%.*s", PAWL_STR_ARG(bytes));
}

static void note_result(struct seen *seen, const struct pawl_frames *frames,
                        enum pawl_frame_result result)
{
    struct pawl_str control = pawl__str_make(frames->control, frames->control_len);
    char code[16];

    if (result == PAWL_FRAME_MESSAGE) {
        note(seen, frames->message_kind == PAWL_FRAME_TEXT ? "T" : "B",
             pawl__buf_peek(&frames->message));
    } else if (result == PAWL_FRAME_BAD) {
        (void)snprintf(code, sizeof code, "%d", frames->code);
        note(seen, "bad", pawl__str(code));
    } else if (frames->kind == PAWL_FRAME_CLOSE) {
        (void)snprintf(code, sizeof code, "%d", pawl__frames_close_code(frames));
        note(seen, "close", pawl__str(code));
    } else {
        note(seen, frames->kind == PAWL_FRAME_PING ? "ping" : "pong", control);
    }
}

static void feed_in_steps(struct test_allocator *alloc, const char *bytes, size_t size, size_t step,
                          struct seen *seen)
{
    struct pawl_frames frames;
    enum pawl_frame_result result = PAWL_FRAME_MORE;

    memset(seen, 0, sizeof *seen);
    pawl__frames_init(&frames, &alloc->base, MESSAGE_MAX);
    for (size_t at = 0; at < size && result != PAWL_FRAME_BAD;) {
        size_t piece = size - at < step ? size - at : step, used;

        do {
            result = pawl__frames_feed(&frames, bytes + at, piece, &used);
            at += used;
            piece -= used;
            if (result != PAWL_FRAME_MORE)
                note_result(seen, &frames, result);
        } while (result != PAWL_FRAME_MORE && result != PAWL_FRAME_BAD);
    }
    pawl__frames_release(&frames);
}

/* A masked frame; `first` is its first byte. */
static size_t put_frame(char *to, int first, const char *payload, size_t size)
{
    static const char mask[4] = {0x11, 0x22, 0x33, 0x44};
    size_t at = 0;

    to[at++] = (char)first;
    if (size < 126) {
        to[at++] = (char)(0x80 | size);
    } else if (size < 65536) {
        to[at++] = (char)(0x80 | 126);
        to[at++] = (char)(size >> 8);
        to[at++] = (char)size;
    } else {
        to[at++] = (char)(0x80 | 127);
        for (int i = 7; i >= 0; i--)
            to[at++] = (char)(size >> (8 * i));
    }
    memcpy(to + at, mask, 4);
    at += 4;
    for (size_t i = 0; i < size; i++)
        to[at + i] = (char)(payload[i] ^ mask[i % 4]);
    return at + size;
}

struct frame {
    int first;
    const char *payload;
    size_t size;
};

struct frame_case {
    const char *name;
    struct frame frames[6];
    const char *seen;
};

#define F(first, payload)                                                                          \
    {                                                                                              \
        (first), (payload), sizeof(payload) - 1                                                    \
    }

static const struct frame_case cases[] = {
    {"1.1.1 empty text", {F(0x81, "")}, "T:"},
    {"1.1.2 text", {F(0x81, "hello")}, "T:hello"},
    {"1.2.1 empty binary", {F(0x82, "")}, "B:"},
    {"1.2.2 binary", {F(0x82, "hello")}, "B:hello"},
    {"2.1 ping without payload", {F(0x89, "")}, "ping:"},
    {"2.2 ping with payload", {F(0x89, "Hello, world!")}, "ping:Hello, world!"},
    {"2.7 unsolicited pong", {F(0x8a, "")}, "pong:"},
    {"2.9 unsolicited pong, then ping", {F(0x8a, "x"), F(0x89, "y")}, "pong:x ping:y"},
    {"3.1 RSV3", {F(0x91, "")}, "bad:1002"},
    {"3.2 RSV2 behind a good message", {F(0x81, "a"), F(0xa1, "b")}, "T:a bad:1002"},
    {"3.3 RSV2 and RSV3", {F(0xb1, "")}, "bad:1002"},
    {"3.4 RSV1", {F(0xc1, "")}, "bad:1002"},
    {"3.5 RSV1 and RSV3 of binary", {F(0xd2, "")}, "bad:1002"},
    {"3.6 RSV1 and RSV2 of ping", {F(0xe9, "")}, "bad:1002"},
    {"3.7 all of close", {F(0xf8, "")}, "bad:1002"},
    {"4.1.1 reserved opcode 3", {F(0x83, "")}, "bad:1002"},
    {"4.1.2 reserved opcode 4", {F(0x84, "x")}, "bad:1002"},
    {"4.1.5 reserved opcode 7 behind text", {F(0x81, "a"), F(0x87, "")}, "T:a bad:1002"},
    {"4.2.1 reserved opcode 11", {F(0x8b, "")}, "bad:1002"},
    {"4.2.5 reserved opcode 15", {F(0x8f, "x")}, "bad:1002"},
    {"5.1 ping in fragments", {F(0x09, "a"), F(0x80, "b")}, "bad:1002"},
    {"5.2 pong in fragments", {F(0x0a, "a"), F(0x80, "b")}, "bad:1002"},
    {"5.3 text in two fragments", {F(0x01, "frag"), F(0x80, "ments")}, "T:fragments"},
    {"5.6 a ping between fragments", {F(0x01, "a"), F(0x89, "p"), F(0x80, "b")}, "ping:p T:ab"},
    {"5.9 continuation of nothing", {F(0x80, "x"), F(0x81, "y")}, "bad:1002"},
    {"5.12 continuation of nothing, not last", {F(0x00, "x")}, "bad:1002"},
    {"5.15 continuation behind an end",
     {F(0x01, "a"), F(0x80, "b"), F(0x00, "c")},
     "T:ab bad:1002"},
    {"5.18 text within a text", {F(0x01, "a"), F(0x81, "b")}, "bad:1002"},
    {"5.19 five fragments and pings",
     {F(0x01, "1"), F(0x00, "2"), F(0x89, "p"), F(0x00, "3"), F(0x80, "4"), F(0x89, "q")},
     "ping:p T:1234 ping:q"},
    {"6.1.2 empty fragments", {F(0x01, ""), F(0x00, ""), F(0x80, "")}, "T:"},
    {"6.2.1 UTF-8",
     {F(0x81, "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5")},
     "T:\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5"},
    {"6.2.3 UTF-8 cut within a character",
     {F(0x01, "\xce"), F(0x00, "\xba\xe1"), F(0x00, "\xbd"), F(0x80, "\xb9")},
     "T:\xce\xba\xe1\xbd\xb9"},
    {"6.3.1 surrogate", {F(0x81, "\xed\xa0\x80")}, "bad:1007"},
    {"6.4.1 too high, cut: noticed at once", {F(0x01, "a\xf4\x90")}, "bad:1007"},
    {"6.6.1 ends within a character", {F(0x81, "\xce")}, "bad:1007"},
    {"6.6.3 ends within a character, in fragments",
     {F(0x01, "a\xe1"), F(0x80, "\xbd")},
     "bad:1007"},
    {"6.8.1 five bytes", {F(0x81, "\xf8\x88\x80\x80\x80")}, "bad:1007"},
    {"6.10.1 too low", {F(0x81, "\xc0\xaf")}, "bad:1007"},
    {"6.11.5 the last code point", {F(0x81, "\xf4\x8f\xbf\xbf")}, "T:\xf4\x8f\xbf\xbf"},
    {"6.12.1 a lone continuation", {F(0x81, "\x80")}, "bad:1007"},
    {"6.14.1 0xfe", {F(0x81, "\xfe")}, "bad:1007"},
    {"6.23 binary need not be UTF-8", {F(0x82, "\xfe")}, "B:\xfe"},
    {"7.1.1 message, then close", {F(0x81, "a"), F(0x88, "\x03\xe8")}, "T:a close:1000"},
    {"7.3.1 close without payload", {F(0x88, "")}, "close:1005"},
    {"7.3.2 close of one byte", {F(0x88, "a")}, "bad:1002"},
    {"7.3.3 close with a code", {F(0x88, "\x03\xe8")}, "close:1000"},
    {"7.3.4 close with a reason", {F(0x88, "\x03\xe8why")}, "close:1000"},
    {"7.5.1 a reason that is not UTF-8", {F(0x88, "\x03\xe8\xff")}, "bad:1007"},
    {"7.7.2 code 1001", {F(0x88, "\x03\xe9")}, "close:1001"},
    {"7.7.4 code 1007", {F(0x88, "\x03\xef")}, "close:1007"},
    {"7.7.9 code 1011", {F(0x88, "\x03\xf3")}, "close:1011"},
    {"7.7.10 code 3000", {F(0x88, "\x0b\xb8")}, "close:3000"},
    {"7.7.13 code 4999", {F(0x88, "\x13\x87")}, "close:4999"},
    {"7.9.1 code 0", {F(0x88, "\x00\x00")}, "bad:1002"},
    {"7.9.2 code 999", {F(0x88, "\x03\xe7")}, "bad:1002"},
    {"7.9.3 code 1004", {F(0x88, "\x03\xec")}, "bad:1002"},
    {"7.9.4 code 1005", {F(0x88, "\x03\xed")}, "bad:1002"},
    {"7.9.5 code 1006", {F(0x88, "\x03\xee")}, "bad:1002"},
    {"7.9.6 code 1016", {F(0x88, "\x03\xf8")}, "bad:1002"},
    {"7.9.9 code 2999", {F(0x88, "\x0b\xb7")}, "bad:1002"},
    {"7.13.1 code 5000", {F(0x88, "\x13\x88")}, "bad:1002"},
};

static void autobahn_cases_however_they_are_cut(void **state)
{
    struct test_allocator alloc;

    (void)state;
    test_allocator_init(&alloc);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char bytes[1024];
        size_t size = 0;

        for (size_t j = 0; j < 6 && cases[i].frames[j].payload; j++)
            size += put_frame(bytes + size, cases[i].frames[j].first, cases[i].frames[j].payload,
                              cases[i].frames[j].size);
        for (size_t step = 1; step <= size; step++) {
            struct seen seen;

            feed_in_steps(&alloc, bytes, size, step, &seen);
            if (strcmp(seen.text, cases[i].seen) != 0)
                fail_msg("%s in steps of %zu: \"%s\" instead of \"%s\"", cases[i].name, step,
                         seen.text, cases[i].seen);
        }
    }
    assert_int_equal(alloc.live_count, 0);
}

static void lengths_of_every_form(void **state)
{
    static const size_t sizes[] = {125, 126, 127, 128, 65535, 65536, MESSAGE_MAX};
    static char payload[MESSAGE_MAX + 1], bytes[MESSAGE_MAX + 20];
    struct test_allocator alloc;

    (void)state;
    test_allocator_init(&alloc);
    memset(payload, '*', sizeof payload);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char expected[64];
        struct seen seen;
        size_t size = put_frame(bytes, 0x81, payload, sizes[i]);

        (void)snprintf(expected, sizeof expected, "T:%zu bytes", sizes[i]);
        for (size_t step = 997; step < size + 997; step += size / 2 + 1) {
            feed_in_steps(&alloc, bytes, size, step, &seen);
            assert_string_equal(seen.text, expected);
        }
    }
    assert_int_equal(alloc.live_count, 0);
}

static void seen_of(struct test_allocator *alloc, const char *bytes, size_t size, const char *text)
{
    struct seen seen;

    feed_in_steps(alloc, bytes, size, size, &seen);
    assert_string_equal(seen.text, text);
}

static void limits_masks_and_lengths_are_strict(void **state)
{
    static char payload[MESSAGE_MAX + 1], bytes[2 * MESSAGE_MAX];
    struct test_allocator alloc;
    size_t size;

    (void)state;
    test_allocator_init(&alloc);
    /* Larger than the limit: known from the header, before the payload comes. */
    size = put_frame(bytes, 0x82, payload, sizeof payload);
    seen_of(&alloc, bytes, 14, "bad:1009");
    (void)size;
    size = put_frame(bytes, 0x02, payload, MESSAGE_MAX - 1);
    size += put_frame(bytes + size, 0x80, "ab", 2);
    seen_of(&alloc, bytes, size, "bad:1009");
    seen_of(&alloc,
            "\x81\x01"
            "a",
            3, "bad:1002");                                 /* not masked */
    seen_of(&alloc, "\x81\xfe\x00\x05mask", 8, "bad:1002"); /* 5 in two bytes */
    seen_of(&alloc, "\x81\xff\x00\x00\x00\x00\x00\x00\xff\xffmask", 14, "bad:1002");
    seen_of(&alloc, "\x81\xff\x80\x00\x00\x00\x00\x01\x00\x00mask", 14, "bad:1002");
    size = put_frame(bytes, 0x89, payload, 126); /* 2.5: a ping of 126 bytes */
    seen_of(&alloc, bytes, size, "bad:1002");
    assert_int_equal(alloc.live_count, 0);
}

static void what_is_written_can_be_read(void **state)
{
    static const size_t sizes[] = {0, 1, 125, 126, 65535, 65536};
    struct test_allocator alloc;
    struct pawl_buf out;

    (void)state;
    test_allocator_init(&alloc);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t header = sizes[i] < 126 ? 2 : sizes[i] < 65536 ? 4 : 10;
        char *payload = malloc(sizes[i] + 1);

        assert_non_null(payload);
        memset(payload, 'x', sizes[i]);
        pawl__buf_init(&out, &alloc.base, 100000);
        pawl__frame_write(&out, PAWL_FRAME_BINARY, pawl__str_make(payload, sizes[i]));
        assert_int_equal(out.len, header + sizes[i]);
        assert_int_equal((unsigned char)out.ptr[0], 0x82);
        assert_int_equal(out.ptr[1] & 0x80, 0);
        assert_memory_equal(out.ptr + header, payload, sizes[i]);
        pawl__buf_release(&out);
        free(payload);
    }
    assert_int_equal(alloc.live_count, 0);
}

static int read_a_message(struct test_allocator *alloc, void *arg)
{
    struct pawl_frames frames;
    char bytes[64];
    size_t used, size = put_frame(bytes, 0x81, "hello", 5);
    enum pawl_frame_result result;

    (void)arg;
    pawl__frames_init(&frames, &alloc->base, MESSAGE_MAX);
    result = pawl__frames_feed(&frames, bytes, size, &used);
    pawl__frames_release(&frames);
    if (result == PAWL_FRAME_BAD && frames.code == PAWL_CLOSE_INTERNAL)
        return PAWL_ENOMEM;
    return result == PAWL_FRAME_MESSAGE ? PAWL_OK : PAWL_EINTERNAL;
}

static void without_memory_it_closes_with_1011(void **state)
{
    (void)state;
    test_sweep_allocations(read_a_message, NULL, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(autobahn_cases_however_they_are_cut),
        cmocka_unit_test(lengths_of_every_form),
        cmocka_unit_test(limits_masks_and_lengths_are_strict),
        cmocka_unit_test(what_is_written_can_be_read),
        cmocka_unit_test(without_memory_it_closes_with_1011),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
