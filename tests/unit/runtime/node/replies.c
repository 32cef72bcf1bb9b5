/* SPDX-License-Identifier: Apache-2.0 */
/* Replies that cross nodes: written by one, delivered once by the one that has the connection. */
#include "runtime/node/replies.h"
#include "base/http_message.h"
#include "runtime/instance/private.h"
#include "runtime/node/retention.h"
#include "unit/runtime/nodes.h"

#include <pthread.h>

struct seen {
    atomic_int calls, status;
    size_t len; /* of the content */
    char text[200];
};

static void note(void *ctx, int status, const struct pawl_json *reply)
{
    struct seen *seen = ctx;
    struct pawl_str text = pawl__json_str(pawl__json_get_text(reply, PAWL_HTTP_CONTENT));
    int64_t code = 0;

    if (reply)
        (void)pawl__json_to_int(pawl__json_get_text(reply, PAWL_HTTP_STATUS), &code);
    (void)snprintf(seen->text, sizeof seen->text, "%d %.*s", (int)code, PAWL_STR_ARG(text));
    seen->len = text.len;
    atomic_store(&seen->status, status);
    atomic_fetch_add(&seen->calls, 1);
}

static struct pawl_str expect(struct fixture *f, struct node *node, struct seen *seen,
                              int64_t deadline_ns)
{
    const struct pawl_reply_wait wait = {.deadline_ns = deadline_ns, .done = note, .ctx = seen};
    char address[PAWL_REPLY_ADDRESS_SIZE];

    assert_ok(pawl__replies_expect(node->runtime, &wait, address, &f->err), &f->err);
    return pawl__arena_str(&f->arena, pawl__str(address));
}

static void await(struct fixture *f, struct seen *seen)
{
    int64_t until_ns = later(f);

    while (atomic_load(&seen->calls) == 0) {
        if (pawl_env_monotonic_ns(f->env) > until_ns)
            fail_msg("nobody was called");
        (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND / 1000);
    }
}

/* Commits the row of a reply `times` times at once, as the node that ran the burst does. */
static void write_rows(struct fixture *f, struct node *node, struct pawl_str address,
                       const struct pawl_json *reply, int64_t now_us, int times)
{
    struct runtime_changes changes = {.arena = &f->arena};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN}, *commits[] = {&commit};

    for (int i = 0; i < times; i++)
        pawl__reply_add_row(node->runtime, &changes, address, reply, now_us);
    assert_code(changes.status, PAWL_OK);
    commit.changes = changes.items;
    commit.change_count = changes.count;
    assert_ok(pawl_store_apply(node->store, commits, 1, later(f), &f->err), &f->err);
    assert_code(commit.status, PAWL_OK);
}

static void write_row(struct fixture *f, struct node *node, struct pawl_str address,
                      const struct pawl_json *reply, int64_t now_us)
{
    write_rows(f, node, address, reply, now_us, 1);
}

static int64_t now_us(struct fixture *f)
{
    struct pawl_store_status status;

    assert_ok(pawl_store_status(f->a.store, &status, later(f), &f->err), &f->err);
    return status.now_us;
}

static size_t rows(struct fixture *f)
{
    const struct pawl_query query = {.table = PAWL_TABLE_REPLIES, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows found;

    assert_ok(pawl_store_find(f->a.store, &query, &f->arena, &found, later(f), &f->err), &f->err);
    return (size_t)found.total;
}

static void await_no_rows(struct fixture *f)
{
    int64_t until_ns = later(f);

    while (rows(f) > 0) {
        if (pawl_env_monotonic_ns(f->env) > until_ns)
            fail_msg("the row of a reply was not deleted");
        (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND / 1000);
    }
}

static void a_reply_of_another_node_is_delivered_once_and_its_row_goes(void **state)
{
    struct fixture *f = *state;
    struct seen first = {0}, second = {0};
    struct pawl_json reply = json(f, "{'statusCode':201,'content':'crossed'}");
    struct pawl_str address, other;
    struct node b;

    node_open(f, &b, "b");
    address = expect(f, &f->a, &first, later(f));
    other = expect(f, &f->a, &second, later(f));
    assert_int_equal(pawl__replies_way(f->a.runtime, address), PAWL_REPLY_HERE);
    assert_int_equal(pawl__replies_way(b.runtime, address), PAWL_REPLY_ELSEWHERE);
    pawl__replies_watch(f->a.runtime, address);
    pawl__replies_watch(f->a.runtime, other);
    /* The commit that was sent again: the first row counts. (One that comes when the first has gone
     * stays until it expires.) */
    write_rows(f, &b, address, &reply, now_us(f), 2);
    await(f, &first);
    assert_int_equal(atomic_load(&first.status), PAWL_OK);
    assert_string_equal(first.text, "201 crossed");
    await_no_rows(f);
    assert_int_equal(atomic_load(&first.calls), 1);
    assert_int_equal(atomic_load(&second.calls), 0);
    assert_int_equal(pawl__replies_way(f->a.runtime, address), PAWL_REPLY_NOBODY);
    assert_true(pawl__replies_forget(f->a.runtime, other));
    node_close(&b);
}

/* A node whose store calls the test before each query. */
struct watched {
    struct node node;
    pthread_t caller;       /* the thread of the test */
    atomic_uint finds;      /* of that thread */
    atomic_bool is_urged;   /* each look is followed by a commit of somebody */
    atomic_uint look_finds; /* of other threads */
};

static bool watch_finds(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    struct watched *w = ctx;

    (void)how;
    if (call != PAWL_STORE_CALL_FIND)
        return false;
    if (pthread_equal(pthread_self(), w->caller)) {
        atomic_fetch_add(&w->finds, 1);
    } else {
        atomic_fetch_add(&w->look_finds, 1);
        if (atomic_load(&w->is_urged))
            pawl__replies_woken(w->node.runtime);
    }
    return false;
}

static void watched_open(struct fixture *f, struct watched *w)
{
    const struct pawl_runtime_options options = {.node_id = pawl__str("watched")};
    const struct pawl_store_fault_hooks hooks = {.decide = watch_finds, .ctx = w};
    struct pawl_store *inner;

    memset(w, 0, sizeof *w);
    w->caller = pthread_self();
    assert_ok(pawl__memory_store_open(f->database, f->env, &inner, &f->err), &f->err);
    assert_ok(pawl__fault_store_new(f->env, inner, &hooks, &w->node.store, &f->err), &f->err);
    assert_ok(
        pawl__runtime_open(f->env, &f->engine, w->node.store, &options, &w->node.runtime, &f->err),
        &f->err);
}

static void many_replies_are_found_in_one_look(void **state)
{
    struct fixture *f = *state;
    struct pawl_json reply = json(f, "{'statusCode':200,'content':'x'}");
    struct pawl_str addresses[20];
    struct seen seen[20] = {0};
    struct watched w;

    watched_open(f, &w);
    for (size_t i = 0; i < 20; i++) {
        addresses[i] = expect(f, &w.node, &seen[i], later(f));
        write_row(f, &f->a, addresses[i], &reply, now_us(f));
    }
    atomic_store(&w.finds, 0);
    pawl__replies_look(w.node.runtime, addresses, 20);
    assert_int_equal(atomic_load(&w.finds), 1);
    for (size_t i = 0; i < 20; i++) {
        await(f, &seen[i]);
        assert_int_equal(atomic_load(&seen[i].calls), 1);
    }
    await_no_rows(f);
    node_close(&w.node);
}

/* More wait than one look asks for, and before each look ends all of them are due again. */
static void waiters_beyond_one_look_have_their_turn(void **state)
{
    enum { WAITERS = 450, LATE = 430 };
    struct fixture *f = *state;
    struct pawl_json reply = json(f, "{'statusCode':200,'content':'late'}");
    struct pawl_str addresses[WAITERS];
    struct seen seen = {0}, others = {0};
    struct watched w;
    int64_t until_ns;

    watched_open(f, &w);
    for (size_t i = 0; i < WAITERS; i++)
        addresses[i] = expect(f, &w.node, i == LATE ? &seen : &others, later(f));
    for (size_t i = 0; i < WAITERS; i++)
        pawl__replies_watch(w.node.runtime, addresses[i]);
    atomic_store(&w.is_urged, true);
    atomic_store(&w.look_finds, 0);
    write_row(f, &f->a, addresses[LATE], &reply, now_us(f));
    until_ns = later(f);
    /* Three looks ask for all of them; some of these may have begun before the row was there. */
    while (atomic_load(&seen.calls) == 0 && atomic_load(&w.look_finds) < 50 &&
           pawl_env_monotonic_ns(f->env) < until_ns)
        (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND / 1000);
    atomic_store(&w.is_urged, false);
    assert_int_equal(atomic_load(&seen.calls), 1);
    assert_string_equal(seen.text, "200 late");
    for (size_t i = 0; i < WAITERS; i++)
        assert_true(pawl__replies_forget(w.node.runtime, addresses[i]) == (i != LATE));
    node_close(&w.node);
}

/* Who may import a state could else reply to a request in the place of another workflow. */
static void addresses_cannot_be_guessed(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {0};
    long long last = 0;

    for (size_t i = 0; i < 50; i++) {
        struct pawl_str address = expect(f, &f->a, &seen, later(f));
        size_t slash = pawl__str_find(address, '/', 0);
        long long number = strtoll(address.ptr + slash + 1, NULL, 10);

        /* A distance that chance has once in 10^9 */
        assert_true(llabs(number - last) > 1000000000);
        last = number;
        assert_true(pawl__replies_forget(f->a.runtime, address));
    }
}

/* Text that is hardly compressed. */
static struct pawl_json noise(struct fixture *f, size_t size)
{
    char *content = pawl__arena_alloc(&f->arena, size);
    uint64_t random = 1;

    assert_non_null(content);
    for (size_t i = 0; i < size; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        content[i] = (char)(' ' + (random >> 33) % 90);
    }
    return pawl__json_string(pawl__str_make(content, size));
}

static void replies_too_large_for_one_look_come_in_several(void **state)
{
    enum { REPLIES = 6 };
    struct fixture *f = *state;
    size_t size = PAWL_REPLY_ROW_BYTES_MAX - 1000;
    struct pawl_json reply = json(f, "{'statusCode':200}"), content = noise(f, size);
    struct pawl_str addresses[REPLIES];
    struct seen seen[REPLIES] = {0};

    for (size_t i = 0; i < REPLIES; i++) {
        struct pawl_json one = reply;

        addresses[i] = expect(f, &f->a, &seen[i], later(f));
        assert_code(pawl__json_set_text(&f->arena, &one, PAWL_HTTP_CONTENT, content), PAWL_OK);
        write_row(f, &f->a, addresses[i], &one, now_us(f));
    }
    pawl__replies_look(f->a.runtime, addresses, REPLIES);
    for (size_t i = 0; i < REPLIES; i++) {
        await(f, &seen[i]);
        assert_int_equal(seen[i].len, size);
    }
    await_no_rows(f);
}

static void a_reply_that_is_too_large_to_cross_says_so(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {0};
    struct pawl_json reply = json(f, "{'statusCode':200}");
    struct pawl_json content = noise(f, PAWL_REPLY_ROW_BYTES_MAX * 2);
    struct pawl_str address;
    struct node b;

    assert_code(pawl__json_set_text(&f->arena, &reply, PAWL_HTTP_CONTENT, content), PAWL_OK);
    node_open(f, &b, "b");
    address = expect(f, &f->a, &seen, later(f));
    pawl__replies_watch(f->a.runtime, address);
    write_row(f, &b, address, &reply, now_us(f));
    await(f, &seen);
    assert_non_null(strstr(seen.text, "500 {\"message\":\"The reply is too large to cross"));
    node_close(&b);
}

static void rows_of_a_receiver_that_died_are_purged_when_they_expire(void **state)
{
    struct fixture *f = *state;
    const struct pawl_retention_policy policy = {0};
    struct pawl_json reply = json(f, "{'statusCode':200}");
    struct pawl_retained retained;

    write_row(f, &f->a, pawl__str("77/1"), &reply, now_us(f));
    write_row(f, &f->a, pawl__str("77/2"), &reply, now_us(f) - INT64_C(3600000000));
    assert_int_equal(rows(f), 2);
    assert_ok(pawl__runtime_retain(f->a.runtime, &policy, &retained, later(f), &f->err), &f->err);
    assert_int_equal(rows(f), 1);
}

static void an_address_that_is_none_writes_nothing(void **state)
{
    static const char *const wrong[] = {"",      "/",   "1/",   "/1",
                                        "1/2/3", "a/1", "1/-2", "9999999999999999999/1"};
    struct fixture *f = *state;
    struct pawl_json reply = json(f, "{'statusCode':200}");

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct runtime_changes changes = {.arena = &f->arena};

        pawl__reply_add_row(f->a.runtime, &changes, pawl__str(wrong[i]), &reply, 1);
        assert_int_equal(changes.count, 0);
        assert_code(changes.status, PAWL_OK);
    }
}

static void who_gets_no_reply_is_told_at_its_deadline(void **state)
{
    struct fixture *f = *state;
    struct seen seen = {0};
    struct pawl_str address = expect(f, &f->a, &seen, pawl_env_monotonic_ns(f->env) + SECOND / 100);

    pawl__replies_watch(f->a.runtime, address);
    await(f, &seen);
    assert_int_equal(atomic_load(&seen.status), PAWL_ETIMEDOUT);
    assert_int_equal(pawl__replies_way(f->a.runtime, address), PAWL_REPLY_NOBODY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_reply_of_another_node_is_delivered_once_and_its_row_goes,
                                        set_up_running, tear_down),
        cmocka_unit_test_setup_teardown(many_replies_are_found_in_one_look, set_up_running,
                                        tear_down),
        cmocka_unit_test_setup_teardown(waiters_beyond_one_look_have_their_turn, set_up_running,
                                        tear_down),
        cmocka_unit_test_setup_teardown(addresses_cannot_be_guessed, set_up_running, tear_down),
        cmocka_unit_test_setup_teardown(replies_too_large_for_one_look_come_in_several,
                                        set_up_running, tear_down),
        cmocka_unit_test_setup_teardown(a_reply_that_is_too_large_to_cross_says_so, set_up_running,
                                        tear_down),
        cmocka_unit_test_setup_teardown(rows_of_a_receiver_that_died_are_purged_when_they_expire,
                                        set_up_running, tear_down),
        cmocka_unit_test_setup_teardown(an_address_that_is_none_writes_nothing, set_up_running,
                                        tear_down),
        cmocka_unit_test_setup_teardown(who_gets_no_reply_is_told_at_its_deadline, set_up_running,
                                        tear_down),
    };

    return cmocka_run_group_tests_name("runtime/replies", tests, NULL, NULL);
}
