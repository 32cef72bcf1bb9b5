/* SPDX-License-Identifier: Apache-2.0 */
#include "api/hub/protocol.h"

#include "lib/test.h"

#include <stdio.h>

#define ARENA_MAX ((size_t)1 << 20)

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_buf out;
    struct pawl_error err;
};

static void open_fixture(struct fixture *f)
{
    *f = (struct fixture){.err = PAWL_ERROR_INIT};
    test_allocator_init(&f->alloc);
    pawl__arena_init(&f->arena, &f->alloc.base, ARENA_MAX);
    pawl__buf_init(&f->out, &f->alloc.base, ARENA_MAX);
}

static void close_fixture(struct fixture *f)
{
    pawl__buf_release(&f->out);
    pawl__arena_release(&f->arena);
    assert_int_equal(f->alloc.live_count, 0);
}

static void messages_are_cut_at_their_ends(void **state)
{
    struct pawl_str rest = pawl__str("{}\x1e\x1e{\"type\":6}\x1e"), message;

    (void)state;
    assert_int_equal(hub_next(&rest, &message), PAWL_OK);
    assert_str(message, "{}");
    assert_int_equal(hub_next(&rest, &message), PAWL_OK);
    assert_str(message, "");
    assert_int_equal(hub_next(&rest, &message), PAWL_OK);
    assert_str(message, "{\"type\":6}");
    assert_int_equal(hub_next(&rest, &message), PAWL_ENOTFOUND);
    rest = pawl__str("{\"type\":6}");
    assert_int_equal(hub_next(&rest, &message), PAWL_EPARSE);
}

static void a_handshake_names_protocol_and_version(void **state)
{
    static const char *const wrong[] = {
        "",
        "[]",
        "{}",
        "{\"protocol\":\"json\"}",
        "{\"protocol\":1,\"version\":1}",
        "{\"protocol\":\"json\",\"version\":\"1\"}",
        "{\"protocol\":\"json\",\"version\":1",
    };
    struct hub_handshake handshake;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_int_equal(hub_read_handshake(&f.arena,
                                        pawl__str("{\"protocol\":\"json\",\"version\":1}"),
                                        &handshake, &f.err),
                     PAWL_OK);
    assert_str(handshake.protocol, "json");
    assert_int_equal(handshake.version, 1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(hub_read_handshake(&f.arena, pawl__str(wrong[i]), &handshake, &f.err),
                         PAWL_EPARSE);
    close_fixture(&f);
}

static int read(struct fixture *f, const char *text, struct hub_message *out)
{
    return hub_read_message(&f->arena, pawl__str(text), out, &f->err);
}

static void an_invocation_has_target_and_arguments(void **state)
{
    struct hub_message message;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_int_equal(read(&f,
                          "{\"type\":1,\"invocationId\":\"7\",\"target\":\"T\","
                          "\"arguments\":[\"a\"],\"headers\":{\"x\":\"y\"}}",
                          &message),
                     PAWL_OK);
    assert_int_equal(message.type, HUB_INVOCATION);
    assert_str(message.invocation_id, "7");
    assert_str(message.target, "T");
    assert_str(pawl__json_str(pawl__json_at(message.arguments, 0)), "a");
    assert_int_equal(read(&f, "{\"target\":\"T\",\"type\":1}", &message), PAWL_OK);
    assert_null(message.invocation_id.ptr);
    assert_null(message.arguments);
    assert_int_equal(read(&f, "{\"type\":1,\"invocationId\":null,\"target\":\"\"}", &message),
                     PAWL_OK);
    assert_null(message.invocation_id.ptr);
    close_fixture(&f);
}

static void other_types_are_passed_on(void **state)
{
    struct hub_message message;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_int_equal(read(&f, "{\"type\":6}", &message), PAWL_OK);
    assert_int_equal(message.type, HUB_PING);
    assert_int_equal(read(&f, "{\"type\":7,\"error\":\"x\"}", &message), PAWL_OK);
    assert_int_equal(message.type, HUB_CLOSE);
    assert_int_equal(read(&f, "{\"type\":99}", &message), PAWL_OK);
    assert_int_equal(message.type, 99);
    close_fixture(&f);
}

static void what_is_no_message_is_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "null",
        "[]",
        "{}",
        "{\"type\":\"1\"}",
        "{\"type\":1}",
        "{\"type\":1,\"target\":3}",
        "{\"type\":1,\"target\":\"T\",\"arguments\":{}}",
        "{\"type\":1,\"target\":\"T\",\"invocationId\":3}",
        "{\"type\":6} {\"type\":6}",
    };
    struct hub_message message;
    struct fixture f;
    char large[HUB_INVOCATION_ID_MAX + 64];

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(read(&f, wrong[i], &message), PAWL_EPARSE);
    (void)snprintf(large, sizeof large, "{\"type\":1,\"target\":\"T\",\"invocationId\":\"%0*d\"}",
                   HUB_INVOCATION_ID_MAX + 1, 0);
    assert_int_equal(read(&f, large, &message), PAWL_EPARSE);
    (void)snprintf(large, sizeof large, "{\"type\":1,\"target\":\"T\",\"invocationId\":\"%0*d\"}",
                   HUB_INVOCATION_ID_MAX, 0);
    assert_int_equal(read(&f, large, &message), PAWL_OK);
    close_fixture(&f);
}

static void a_message_that_is_too_large_is_refused(void **state)
{
    static char large[HUB_MESSAGE_BYTES_MAX + 2];
    struct hub_message message;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    memset(large, ' ', sizeof large - 1);
    memcpy(large, "{\"type\":6}", 10);
    assert_int_equal(read(&f, large, &message), PAWL_EPARSE);
    large[HUB_MESSAGE_BYTES_MAX] = '\0';
    assert_int_equal(read(&f, large, &message), PAWL_OK);
    close_fixture(&f);
}

static void messages_are_written_as_recorded(void **state)
{
    struct pawl_json argument = pawl__json_object();
    struct fixture f;

    (void)state;
    open_fixture(&f);
    hub_write_handshake(&f.out, NULL);
    hub_write_handshake(&f.out, "The protocol is not supported.");
    hub_write_completion(&f.out, pawl__str("1"), NULL);
    hub_write_completion(&f.out, pawl__str("2"), "Access denied.");
    hub_write_ping(&f.out);
    hub_write_close(&f.out, NULL, false);
    hub_write_close(&f.out, "why", true);
    hub_write_invocation(&f.out, "T", &argument);
    assert_str(pawl__buf_peek(&f.out),
               "{}\x1e"
               "{\"error\":\"The protocol is not supported.\"}\x1e"
               "{\"type\":3,\"invocationId\":\"1\",\"result\":null}\x1e"
               "{\"type\":3,\"invocationId\":\"2\",\"error\":\"Access denied.\"}\x1e"
               "{\"type\":6}\x1e"
               "{\"type\":7}\x1e"
               "{\"type\":7,\"error\":\"why\",\"allowReconnect\":true}\x1e"
               "{\"type\":1,\"target\":\"T\",\"arguments\":[{}]}\x1e");
    close_fixture(&f);
}

/* Whatever a client's id has in it, what is sent is one message. */
static void no_text_ends_a_message(void **state)
{
    struct pawl_str rest, message;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    hub_write_completion(&f.out,
                         pawl__str("a\x1e"
                                   "b\"}\n"),
                         NULL);
    rest = pawl__buf_peek(&f.out);
    assert_int_equal(hub_next(&rest, &message), PAWL_OK);
    assert_int_equal(rest.len, 0);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_cut_at_their_ends),
        cmocka_unit_test(a_handshake_names_protocol_and_version),
        cmocka_unit_test(an_invocation_has_target_and_arguments),
        cmocka_unit_test(other_types_are_passed_on),
        cmocka_unit_test(what_is_no_message_is_refused),
        cmocka_unit_test(a_message_that_is_too_large_is_refused),
        cmocka_unit_test(messages_are_written_as_recorded),
        cmocka_unit_test(no_text_ends_a_message),
    };

    return cmocka_run_group_tests_name("api/hub/protocol", tests, NULL, NULL);
}
