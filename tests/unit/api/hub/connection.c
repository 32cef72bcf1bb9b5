/* SPDX-License-Identifier: Apache-2.0 */
/* A connection of the hub without its thread and without memory: the tests do what the thread does.
 * It is one by long polling, whose messages wait where they can be looked at. */
#include "api/hub/private.h"
#include "host/host.h"
#include "lib/clock.h"
#include "lib/test.h"

#define CLOSED_WITH_AN_ERROR                                                                       \
    "{\"type\":7,\"error\":\"Connection closed with an error.\",\"allowReconnect\":true}\x1e"

struct fixture {
    struct test_allocator alloc;
    struct test_clock *clock;
    struct pawl_configuration configuration;
    struct pawl_api api;
    struct pawl_hub *hub;
    struct hub_connection *connection;
    struct pawl_error err;
};

static void open_fixture(struct fixture *f)
{
    static const struct pawl_bearer bearer = {.id = {"ada", 3}};

    *f = (struct fixture){.err = PAWL_ERROR_INIT};
    test_allocator_init(&f->alloc);
    assert_int_equal(test_clock_open(&f->alloc.base, 0, &f->clock), PAWL_OK);
    f->api.env = test_clock_env(f->clock);
    pawl__configuration_init(&f->configuration, &f->alloc.base);
    assert_ok(pawl__host_new(f->api.env, &f->configuration, &f->api.host, &f->err), &f->err);
    assert_ok(pawl__hub_open(&f->api, &f->hub, &f->err), &f->err);
    f->hub->thread = (struct pawl_thread *)f; /* as if it ran */
    hub_lock(f->hub);
    f->connection = hub_connection_new(f->hub, HUB_POLLING, &bearer, pawl__str("token"));
    assert_non_null(f->connection);
    hub_unlock(f->hub);
}

static void close_fixture(struct fixture *f)
{
    f->hub->thread = NULL;
    pawl__hub_stop(f->hub);
    pawl__hub_close(f->hub);
    pawl__host_free(f->api.host);
    pawl__configuration_release(&f->configuration);
    test_clock_close(f->clock);
    assert_int_equal(f->alloc.live_count, 0);
}

/* What the thread does now and then; there is memory again. */
static void tend(struct fixture *f)
{
    test_allocator_fail(&f->alloc, 0, 0);
    hub_lock(f->hub);
    hub_connection_tend(f->connection, pawl_env_monotonic_ns(f->api.env));
    hub_unlock(f->hub);
}

static void assert_closed(struct fixture *f)
{
    assert_int_equal(f->connection->state, HUB_ENDING);
    assert_str(pawl__buf_peek(&f->connection->out), CLOSED_WITH_AN_ERROR);
}

static void a_completion_that_cannot_be_written_ends_the_connection(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    f.connection->state = HUB_OPEN;
    test_allocator_fail(&f.alloc, 1, 1);
    hub_connection_complete(f.connection, pawl__str("1"), NULL);
    assert_int_equal(f.connection->state, HUB_OPEN); /* who called goes on with it */
    tend(&f);
    assert_closed(&f);
    close_fixture(&f);
}

static void a_message_that_cannot_be_kept_ends_the_connection(void **state)
{
    struct fixture f;

    (void)state;
    open_fixture(&f);
    f.connection->state = HUB_OPEN;
    for (int may_drop = 0; may_drop < 2; may_drop++) {
        test_allocator_fail(&f.alloc, 1, 1);
        assert_int_equal(hub_connection_send(f.connection, pawl__str("{}\x1e"), may_drop), PAWL_OK);
        tend(&f);
        assert_closed(&f);
        pawl__buf_release(&f.connection->out);
        f.connection->state = HUB_OPEN;
        f.connection->has_failed = f.connection->is_overfull = false;
    }
    close_fixture(&f);
}

/* Who has sent a handshake gets its reply, or learns that there is none. */
static void a_handshake_is_replied_to_or_ends_the_connection(void **state)
{
    int refused = 1;

    (void)state;
    for (size_t nth = 1; refused; nth++) {
        struct fixture f;
        struct pawl_str out;

        open_fixture(&f);
        test_allocator_fail(&f.alloc, nth, 0);
        hub_connection_receive(f.connection,
                               pawl__str("{\"protocol\":\"json\",\"version\":1}\x1e"));
        refused = f.alloc.request_count >= f.alloc.fail_at;
        tend(&f);
        out = pawl__buf_peek(&f.connection->out);
        if (f.connection->state == HUB_OPEN)
            assert_str(out, "{}\x1e");
        else
            assert_int_equal(f.connection->state, HUB_ENDING);
        assert_true(out.len > 0);
        close_fixture(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_completion_that_cannot_be_written_ends_the_connection),
        cmocka_unit_test(a_message_that_cannot_be_kept_ends_the_connection),
        cmocka_unit_test(a_handshake_is_replied_to_or_ends_the_connection),
    };

    return cmocka_run_group_tests_name("api/hub/connection", tests, NULL, NULL);
}
