/* SPDX-License-Identifier: Apache-2.0 */
/* Locks in Redis on real servers, one and three, behind proxies that cut, hang and delay. */
#include "servers/redis.h"
#include "lib/proxy.h"
#include "lib/test.h"
#include "locks/providers.h"
#include "os/shifted_env.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODES 3
#define MS INT64_C(1000000)

struct fixture {
    struct test_redis servers[NODES];
    struct test_proxy *proxies[NODES];
    uint16_t ports[NODES];
    size_t count;
    struct pawl_env *env;
    struct pawl_error err;
    char uri[256];
    struct pawl_lock_provider *open[8]; /* so that a test that fails leaves none */
};

static int open_nodes(void **state, size_t count)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (!f)
        return -1;
    *state = f;
    f->count = count;
    for (size_t i = 0; i < count; i++) {
        test_redis_start(&f->servers[i], NULL, 0);
        f->proxies[i] = test_proxy_start(f->servers[i].port);
        f->ports[i] = test_proxy_port(f->proxies[i]);
    }
    (void)test_redis_uri(f->servers, count, f->ports, f->uri, sizeof f->uri);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    return 0;
}

static int open_one(void **state)
{
    return open_nodes(state, 1);
}

static int open_three(void **state)
{
    return open_nodes(state, NODES);
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < 8; i++)
        if (f->open[i])
            f->open[i]->ops->close(f->open[i]);
    for (size_t i = 0; i < f->count; i++) {
        test_proxy_stop(f->proxies[i]);
        test_redis_stop(&f->servers[i]);
    }
    pawl_system_env_close(f->env);
    free(f);
    return 0;
}

/* ---- calls ------------------------------------------------------------------------------- */

static struct pawl_lock_provider *provider_of(struct fixture *f, int64_t ttl_ms)
{
    const struct pawl_lock_provider_options options = {.ttl_ms = ttl_ms};
    struct pawl_lock_provider *provider = NULL;

    assert_ok(pawl__redis_locks_open(f->env, pawl__str(f->uri), &options, &provider, &f->err),
              &f->err);
    for (size_t i = 0; i < 8; i++)
        if (!f->open[i]) {
            f->open[i] = provider;
            break;
        }
    return provider;
}

static void shut(struct fixture *f, struct pawl_lock_provider *provider)
{
    for (size_t i = 0; i < 8; i++)
        if (f->open[i] == provider)
            f->open[i] = NULL;
    provider->ops->close(provider);
}

static struct pawl_lock_grant grant_of(struct fixture *f, const char *name)
{
    struct pawl_lock_grant grant = {.name = pawl__str(name)};
    uint64_t random[2];

    assert_ok(pawl_env_entropy(f->env, random, sizeof random, &f->err), &f->err);
    (void)snprintf(grant.owner, sizeof grant.owner, "host_%d_%016" PRIx64 "%016" PRIx64,
                   (int)getpid(), random[0], random[1]);
    return grant;
}

static int64_t in_ms(struct fixture *f, int64_t ms)
{
    return pawl_env_monotonic_ns(f->env) + ms * MS;
}

static int try_it(struct fixture *f, struct pawl_lock_provider *p, struct pawl_lock_grant *grant)
{
    return p->ops->try_(p, grant, in_ms(f, 30000), &f->err);
}

static int release_it(struct fixture *f, struct pawl_lock_provider *p,
                      struct pawl_lock_grant *grant)
{
    return p->ops->release(p, grant, in_ms(f, 30000), &f->err);
}

static int renew_it(struct fixture *f, struct pawl_lock_provider *p, struct pawl_lock_grant *grant)
{
    struct pawl_lock_grant *const grants[] = {grant};
    int status = p->ops->renew(p, grants, 1, in_ms(f, 30000), &f->err);

    return status == PAWL_OK ? grant->status : status;
}

/* Until it is held: for what becomes free by itself. */
static void get_it(struct fixture *f, struct pawl_lock_provider *p, struct pawl_lock_grant *grant)
{
    for (;;) {
        int status = try_it(f, p, grant);

        if (status == PAWL_OK)
            return;
        if (status != PAWL_EBUSY && status != PAWL_EUNAVAILABLE && status != PAWL_EUNKNOWN)
            assert_ok(status, &f->err);
        assert_int_equal(pawl_env_sleep_until(f->env, in_ms(f, 2)), PAWL_OK);
    }
}

static const char *command(struct fixture *f, size_t node, const char *text)
{
    static char out[256];

    return test_redis_command(&f->servers[node], text, out, sizeof out);
}

/* ---- one server -------------------------------------------------------------------------- */

static void one_of_two_holds_a_name_until_it_is_released(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *a = provider_of(f, 30000), *b = provider_of(f, 30000);
    struct pawl_lock_grant one = grant_of(f, "n"), two = grant_of(f, "n"), other = grant_of(f, "N");

    assert_ok(try_it(f, a, &one), &f->err);
    assert_code(try_it(f, b, &two), PAWL_EBUSY);
    assert_code(try_it(f, a, &two), PAWL_EBUSY); /* nothing is re-entrant */
    assert_ok(try_it(f, b, &other), &f->err);    /* case matters */
    assert_ok(release_it(f, a, &one), &f->err);
    assert_ok(try_it(f, b, &two), &f->err);
    /* Releasing again frees nobody else's. */
    assert_code(release_it(f, a, &one), PAWL_ENOTFOUND);
    assert_code(try_it(f, a, &one), PAWL_EBUSY);
    assert_ok(release_it(f, b, &two), &f->err);
    assert_ok(release_it(f, b, &other), &f->err);
    shut(f, a);
    shut(f, b);
}

static void a_key_is_as_the_other_library_has_it(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 30000);
    struct pawl_lock_grant grant = grant_of(f, "workflow-instance:1");
    char key[64];

    assert_ok(try_it(f, p, &grant), &f->err);
    assert_string_equal(command(f, 0, "GET workflow-instance:1"), grant.owner);
    assert_true(strtol(command(f, 0, "PTTL workflow-instance:1"), NULL, 10) > 29000);
    assert_ok(p->ops->map(p, grant.name, key, sizeof key, &f->err), &f->err);
    assert_string_equal(key, "workflow-instance:1");
    assert_ok(release_it(f, p, &grant), &f->err);
    assert_string_equal(command(f, 0, "DBSIZE"), "0");
    /* Whoever takes it by the other library excludes us. */
    (void)command(f, 0,
                  "SET workflow-instance:1 OTHER_1_0123456789abcdef0123456789abcdef EX 30 NX");
    assert_code(try_it(f, p, &grant), PAWL_EBUSY);
    shut(f, p);
}

static void names_are_bytes(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 30000);
    static char large[PAWL_LOCK_NAME_MAX + 1];
    const struct pawl_str names[] = {pawl__str(""),
                                     pawl__str_make("a\0b\r\n", 5),
                                     pawl__str("\xF0\x9F\x98\x80"),
                                     pawl__str_make("\xFF\xFE", 2),
                                     {large, PAWL_LOCK_NAME_MAX}};
    struct pawl_lock_grant grants[5], second = grant_of(f, "");

    memset(large, 'x', sizeof large);
    for (size_t i = 0; i < 5; i++) {
        grants[i] = grant_of(f, "");
        grants[i].name = second.name = names[i];
        grants[i].flags = PAWL_LOCK_WANT_TOKEN;
        assert_ok(try_it(f, p, &grants[i]), &f->err);
        assert_code(try_it(f, p, &second), PAWL_EBUSY);
    }
    for (size_t i = 0; i < 5; i++)
        assert_ok(release_it(f, p, &grants[i]), &f->err);
    second.name = pawl__str_make(large, sizeof large);
    assert_code(try_it(f, p, &second), PAWL_EINVAL);
    shut(f, p);
}

static void a_lease_ends_by_itself_and_its_holder_knows_before(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *a = provider_of(f, 300), *b = provider_of(f, 300);
    struct pawl_lock_grant one = grant_of(f, "n"), two = grant_of(f, "n");

    get_it(f, a, &one);
    get_it(f, b, &two); /* nobody renews */
    assert_true(pawl_env_monotonic_ns(f->env) > one.valid_until_ns);
    assert_true(two.valid_until_ns > one.valid_until_ns);
    assert_code(renew_it(f, a, &one), PAWL_ENOTFOUND);
    assert_code(release_it(f, a, &one), PAWL_ENOTFOUND);
    assert_string_equal(command(f, 0, "GET n"), two.owner);
    assert_ok(release_it(f, b, &two), &f->err);
    shut(f, a);
    shut(f, b);
}

static void renewing_extends_a_lease(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 60000);
    struct pawl_lock_grant grant = grant_of(f, "n");
    int64_t first, left_ms;

    assert_ok(try_it(f, p, &grant), &f->err);
    first = grant.valid_until_ns;
    (void)command(f, 0, "PEXPIRE n 20000"); /* as if most of it were over */
    assert_ok(renew_it(f, p, &grant), &f->err);
    assert_true(grant.valid_until_ns > first);
    left_ms = strtoll(command(f, 0, "PTTL n"), NULL, 10);
    assert_true(left_ms > 20000 && left_ms <= 60000);
    assert_string_equal(command(f, 0, "GET n"), grant.owner);
    assert_ok(release_it(f, p, &grant), &f->err);
    shut(f, p);
}

static void a_key_deleted_by_hand_is_lost_at_the_next_renewal(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 30000);
    struct pawl_lock_grant grant = grant_of(f, "n");

    assert_ok(try_it(f, p, &grant), &f->err);
    assert_string_equal(command(f, 0, "DEL n"), "1");
    assert_code(renew_it(f, p, &grant), PAWL_ENOTFOUND);
    assert_string_equal(command(f, 0, "EXISTS n"), "0"); /* and it is not made again */
    shut(f, p);
}

static void a_server_that_is_down_is_not_busy(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 60000);
    struct pawl_lock_grant held = grant_of(f, "held"), grant = grant_of(f, "n");
    struct pawl_lock_status status;

    assert_ok(try_it(f, p, &held), &f->err);
    assert_ok(p->ops->status(p, &status, in_ms(f, 30000), &f->err), &f->err);
    assert_true(strncmp(status.server, "Redis ", 6) == 0);
    assert_int_equal(status.ttl_ms, 60000);
    assert_non_null(strstr(status.warning, "appendonly"));
    test_redis_crash(&f->servers[0]);
    for (;;) { /* the first may have been sent before the end was seen */
        int code = try_it(f, p, &grant);

        assert_true(code == PAWL_EUNAVAILABLE || code == PAWL_EUNKNOWN);
        if (code == PAWL_EUNAVAILABLE)
            break;
    }
    assert_code(renew_it(f, p, &held), PAWL_EUNAVAILABLE); /* not lost: nobody knows */
    assert_code(p->ops->status(p, &status, in_ms(f, 30000), &f->err), PAWL_EUNAVAILABLE);
    /* It comes back empty: new locks can be had, the old one is lost for certain. */
    test_redis_restart(&f->servers[0]);
    get_it(f, p, &grant);
    assert_code(renew_it(f, p, &held), PAWL_ENOTFOUND);
    assert_ok(release_it(f, p, &grant), &f->err);
    shut(f, p);
}

static void one_blip_loses_nothing(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 30000);
    struct pawl_lock_grant grant = grant_of(f, "n");
    int code;

    assert_ok(try_it(f, p, &grant), &f->err);
    test_proxy_set(f->proxies[0], TEST_PROXY_CUT);
    assert_code(renew_it(f, p, &grant), PAWL_EUNAVAILABLE);
    test_proxy_set(f->proxies[0], TEST_PROXY_PASS);
    do {
        code = renew_it(f, p, &grant);
    } while (code == PAWL_EUNAVAILABLE);
    assert_ok(code, &f->err);
    assert_ok(release_it(f, p, &grant), &f->err);
    shut(f, p);
}

static void an_answer_that_never_comes_is_unknown_and_what_it_took_is_given_back(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 1000);
    struct pawl_lock_grant warm = grant_of(f, "warm"), grant = grant_of(f, "n");

    get_it(f, p, &warm);
    test_proxy_set(f->proxies[0], TEST_PROXY_MUTE);
    assert_code(try_it(f, p, &grant), PAWL_EUNKNOWN);
    /* The release went out behind it. */
    while (strcmp(command(f, 0, "EXISTS n"), "0") != 0)
        continue;
    test_proxy_set(f->proxies[0], TEST_PROXY_PASS);
    assert_code(release_it(f, p, &grant), PAWL_ENOTFOUND);
    get_it(f, p, &grant);
    assert_ok(release_it(f, p, &grant), &f->err);
    shut(f, p);
}

static void a_grant_that_comes_after_the_lease_is_no_grant(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 400);
    struct pawl_lock_grant warm = grant_of(f, "warm"), grant = grant_of(f, "n");

    get_it(f, p, &warm);
    test_proxy_delay(f->proxies[0], 900);
    assert_code(try_it(f, p, &grant), PAWL_EUNKNOWN);
    test_proxy_delay(f->proxies[0], 0);
    shut(f, p);
}

static void a_renewal_whose_answer_comes_too_late_leaves_the_time_as_it_was(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 500), *q = provider_of(f, 500);
    struct pawl_lock_grant grant = grant_of(f, "n"), next = grant_of(f, "n");
    struct pawl_lock_grant *const grants[] = {&grant};
    int64_t until;

    get_it(f, p, &grant);
    until = grant.valid_until_ns;
    test_proxy_set(f->proxies[0], TEST_PROXY_HANG);
    assert_code(p->ops->renew(p, grants, 1, until, &f->err), PAWL_EUNAVAILABLE);
    assert_true(grant.valid_until_ns == until && pawl_env_monotonic_ns(f->env) >= until);
    test_proxy_set(f->proxies[0], TEST_PROXY_PASS);
    /* What was held up arrives now, and may extend it; in the end somebody else has it. */
    get_it(f, q, &next);
    assert_code(renew_it(f, p, &grant), PAWL_ENOTFOUND);
    assert_ok(release_it(f, q, &next), &f->err);
    shut(f, p);
    shut(f, q);
}

static void a_jump_of_the_wall_clock_changes_nothing(void **state)
{
    struct fixture *f = *state;
    struct pawl_shifted_env shifted;
    struct pawl_lock_provider *p, *q = provider_of(f, 30000);
    struct pawl_lock_grant grant = grant_of(f, "n"), other = grant_of(f, "n");
    int64_t until;

    pawl__shifted_env_init(&shifted, f->env);
    assert_ok(pawl__redis_locks_open(&shifted.base, pawl__str(f->uri), NULL, &p, &f->err), &f->err);
    assert_ok(try_it(f, p, &grant), &f->err);
    until = grant.valid_until_ns;
    shifted.wall_shift_ns = INT64_C(7200) * 1000 * MS;
    assert_code(try_it(f, q, &other), PAWL_EBUSY);
    assert_ok(renew_it(f, p, &grant), &f->err);
    shifted.wall_shift_ns = -shifted.wall_shift_ns;
    assert_ok(renew_it(f, p, &grant), &f->err);
    assert_true(grant.valid_until_ns > until && grant.valid_until_ns <= in_ms(f, 30000));
    assert_ok(release_it(f, p, &grant), &f->err);
    p->ops->close(p);
    shut(f, q);
}

static void scripts_that_the_server_forgot_are_sent_again(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 30000);
    struct pawl_lock_grant grant = grant_of(f, "n");

    grant.flags = PAWL_LOCK_WANT_TOKEN;
    for (int i = 0; i < 3; i++) {
        (void)command(f, 0, "SCRIPT FLUSH");
        assert_ok(try_it(f, p, &grant), &f->err);
        (void)command(f, 0, "SCRIPT FLUSH");
        assert_ok(renew_it(f, p, &grant), &f->err);
        (void)command(f, 0, "SCRIPT FLUSH");
        assert_ok(release_it(f, p, &grant), &f->err);
    }
    shut(f, p);
}

static void tokens_only_grow_also_past_a_server_that_came_back_empty(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 200);
    struct pawl_lock_grant grant = grant_of(f, "n");
    uint64_t last = 0;

    grant.flags = PAWL_LOCK_WANT_TOKEN;
    for (int i = 0; i < 6; i++) {
        get_it(f, p, &grant); /* after a release, and after the end of a lease */
        assert_true(grant.token > last);
        last = grant.token;
        if (i % 2)
            assert_ok(release_it(f, p, &grant), &f->err);
        if (i == 3) {
            test_redis_crash(&f->servers[0]);
            test_redis_restart(&f->servers[0]);
        }
        grant = grant_of(f, "n");
        grant.flags = PAWL_LOCK_WANT_TOKEN;
    }
    shut(f, p);
}

static void many_leases_are_renewed_together_and_outlive_a_stall(void **state)
{
    enum { HELD = 1000, TTL_MS = 600000, STALL_MS = 2000 }; /* only a hang outlasts it */
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, TTL_MS);
    struct pawl_lock_grant *grants = calloc(HELD, sizeof *grants);
    struct pawl_lock_grant *batch[PAWL_LOCK_RENEW_MAX];
    char(*names)[24] = calloc(HELD, sizeof *names);
    int64_t paused;

    assert_true(grants && names);
    for (size_t i = 0; i < HELD; i++) {
        (void)snprintf(names[i], sizeof names[i], "lease-%zu", i);
        grants[i] = grant_of(f, names[i]);
        assert_ok(try_it(f, p, &grants[i]), &f->err);
    }
    paused = pawl_env_monotonic_ns(f->env);
    test_redis_pause(&f->servers[0]);
    for (size_t from = 0; from < HELD; from += PAWL_LOCK_RENEW_MAX) {
        size_t count = HELD - from < PAWL_LOCK_RENEW_MAX ? HELD - from : PAWL_LOCK_RENEW_MAX;

        for (size_t i = 0; i < count; i++)
            batch[i] = &grants[from + i];
        /* No answer within the call: nobody knows, and nothing is lost. */
        assert_code(p->ops->renew(p, batch, count, paused + STALL_MS * MS, &f->err),
                    PAWL_EUNAVAILABLE);
    }
    test_redis_continue(&f->servers[0]);
    for (size_t from = 0; from < HELD; from += PAWL_LOCK_RENEW_MAX) {
        size_t count = HELD - from < PAWL_LOCK_RENEW_MAX ? HELD - from : PAWL_LOCK_RENEW_MAX;

        for (size_t i = 0; i < count; i++)
            batch[i] = &grants[from + i];
        assert_ok(p->ops->renew(p, batch, count, in_ms(f, 30000), &f->err), &f->err);
        for (size_t i = 0; i < count; i++)
            assert_code(batch[i]->status, PAWL_OK);
    }
    for (size_t i = 0; i < HELD; i++)
        assert_ok(release_it(f, p, &grants[i]), &f->err);
    free(grants);
    free(names);
    shut(f, p);
}

/* ---- wakes ------------------------------------------------------------------------------- */

struct ear {
    _Atomic unsigned heard;
    struct pawl_str name;
};

static void hear(void *ctx, struct pawl_str name)
{
    struct ear *ear = ctx;

    if (pawl__str_equal(name, ear->name))
        atomic_fetch_add(&ear->heard, 1);
}

static void never_lost(void *ctx, struct pawl_lock_grant *grant)
{
    (void)ctx;
    (void)grant;
    fail_msg("a lease in Redis is not lost by a connection");
}

static void await_heard(struct fixture *f, struct ear *ear, unsigned count)
{
    while (atomic_load(&ear->heard) < count)
        assert_int_equal(pawl_env_sleep_until(f->env, in_ms(f, 1)), PAWL_OK);
}

static void a_release_wakes_those_who_were_refused_and_nobody_else(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *a = provider_of(f, 30000), *b = provider_of(f, 30000);
    struct ear ear = {.name = pawl__str("n")};
    const struct pawl_lock_listener listener = {never_lost, hear, &ear};
    struct pawl_lock_grant one = grant_of(f, "n"), two = grant_of(f, "n"), no = grant_of(f, "m");
    unsigned attempts = 0, heard;

    assert_ok(b->ops->listen(b, &listener, &f->err), &f->err);
    assert_ok(try_it(f, a, &one), &f->err);
    assert_ok(try_it(f, a, &no), &f->err);
    assert_code(try_it(f, b, &two), PAWL_EBUSY);
    await_heard(f, &ear, (unsigned)f->count); /* subscribed now, everywhere */
    for (int round = 0; round < 20; round++) {
        heard = atomic_load(&ear.heard);
        assert_ok(release_it(f, a, &one), &f->err);
        await_heard(f, &ear, heard + 1);
        while (try_it(f, b, &two) != PAWL_OK) /* other nodes may be a moment behind */
            attempts++;
        assert_true(attempts <= 200);
        assert_ok(release_it(f, b, &two), &f->err);
        one = grant_of(f, "n");
        get_it(f, a, &one);
        two = grant_of(f, "n");
    }
    if (f->count == 1)
        assert_int_equal(attempts, 0); /* one attempt per release */
    heard = atomic_load(&ear.heard);
    assert_ok(release_it(f, a, &no), &f->err); /* nobody was refused it */
    assert_ok(release_it(f, a, &one), &f->err);
    await_heard(f, &ear, heard + 1);
    shut(f, a);
    shut(f, b);
}

static void wakes_go_on_after_the_server_was_gone(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *a = provider_of(f, 30000), *b = provider_of(f, 30000);
    struct ear ear = {.name = pawl__str("n")};
    const struct pawl_lock_listener listener = {never_lost, hear, &ear};
    struct pawl_lock_grant one = grant_of(f, "n"), two = grant_of(f, "n");
    unsigned heard;
    int code;

    assert_ok(b->ops->listen(b, &listener, &f->err), &f->err);
    assert_ok(try_it(f, a, &one), &f->err);
    assert_code(try_it(f, b, &two), PAWL_EBUSY);
    await_heard(f, &ear, 1);
    heard = atomic_load(&ear.heard);
    test_proxy_cut_now(f->proxies[0]);
    await_heard(f, &ear, heard + 1); /* subscribed again: something may have been missed */
    heard = atomic_load(&ear.heard);
    do {
        code = release_it(f, a, &one);
    } while (code == PAWL_EUNAVAILABLE || code == PAWL_EUNKNOWN);
    assert_true(code == PAWL_OK || code == PAWL_ENOTFOUND);
    await_heard(f, &ear, heard + 1);
    shut(f, a);
    shut(f, b);
}

/* ---- looking ----------------------------------------------------------------------------- */

static int count_held(void *ctx, const struct pawl_lock_holder *holder)
{
    assert_true(holder->held && holder->remaining_ms > 0);
    assert_true(strncmp(holder->key, "held-", 5) == 0);
    ++*(size_t *)ctx;
    return 0;
}

static void who_holds_a_lock_can_be_asked(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 3600000);
    struct pawl_lock_grant grants[5];
    struct pawl_lock_holder holder;
    static const char *const names[] = {"held-0", "held-1", "held-2", "held-3", "held-4"};
    size_t count = 0;

    (void)command(f, 0, "SET something else");
    (void)command(f, 0, "LPUSH held-list x");
    for (size_t i = 0; i < 5; i++) {
        grants[i] = grant_of(f, names[i]);
        grants[i].flags = PAWL_LOCK_WANT_TOKEN;
        assert_ok(try_it(f, p, &grants[i]), &f->err);
    }
    assert_ok(p->ops->inspect(p, grants[2].name, &holder, in_ms(f, 30000), &f->err), &f->err);
    assert_true(holder.held);
    assert_string_equal(holder.owner, grants[2].owner);
    assert_string_equal(holder.key, "held-2");
    assert_true(holder.remaining_ms > 3000000 && holder.remaining_ms <= 3600000);
    assert_true(holder.token >= grants[2].token); /* of several nodes the one that is ahead */
    assert_true(f->count > 1 || holder.token == grants[2].token);
    assert_ok(p->ops->list(p, 100, count_held, &count, in_ms(f, 30000), &f->err), &f->err);
    assert_int_equal(count, 5);
    count = 0;
    assert_ok(p->ops->list(p, 3, count_held, &count, in_ms(f, 30000), &f->err), &f->err);
    assert_int_equal(count, 3);
    assert_ok(release_it(f, p, &grants[2]), &f->err);
    assert_ok(p->ops->inspect(p, grants[2].name, &holder, in_ms(f, 30000), &f->err), &f->err);
    assert_false(holder.held);
    assert_string_equal(holder.owner, "");
    assert_true(holder.token >= grants[2].token); /* the last one given */
    shut(f, p);
}

/* ---- several ----------------------------------------------------------------------------- */

static void a_majority_grants(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *a = provider_of(f, 60000), *b = provider_of(f, 60000);
    struct pawl_lock_grant one = grant_of(f, "n"), two = grant_of(f, "n");

    test_redis_crash(&f->servers[1]); /* two of three are enough */
    assert_ok(try_it(f, a, &one), &f->err);
    assert_code(try_it(f, b, &two), PAWL_EBUSY);
    assert_ok(renew_it(f, a, &one), &f->err);
    assert_ok(release_it(f, a, &one), &f->err);
    assert_ok(try_it(f, b, &two), &f->err);
    assert_ok(release_it(f, b, &two), &f->err);
    shut(f, a);
    shut(f, b);
}

static void a_lost_majority_is_not_busy_and_leaves_nothing_behind(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 60000);
    struct pawl_lock_grant warm = grant_of(f, "warm"), grant = grant_of(f, "n");

    assert_ok(try_it(f, p, &warm), &f->err);
    test_redis_crash(&f->servers[0]);
    test_redis_crash(&f->servers[2]);
    for (;;) {
        int code = try_it(f, p, &grant);

        assert_true(code == PAWL_EUNAVAILABLE || code == PAWL_EUNKNOWN);
        if (code == PAWL_EUNAVAILABLE)
            break;
    }
    while (strcmp(command(f, 1, "EXISTS n"), "0") != 0)
        continue;
    assert_code(renew_it(f, p, &warm), PAWL_EUNAVAILABLE);
    assert_code(release_it(f, p, &warm), PAWL_EUNAVAILABLE);
    shut(f, p);
}

static void a_majority_that_hangs_gives_no_lock_and_nothing_stays(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 1000), *q;
    struct pawl_lock_grant warm = grant_of(f, "warm"), grant = grant_of(f, "n");

    get_it(f, p, &warm);
    test_proxy_set(f->proxies[0], TEST_PROXY_HANG);
    test_proxy_set(f->proxies[1], TEST_PROXY_HANG);
    assert_code(try_it(f, p, &grant), PAWL_EUNKNOWN);
    while (strcmp(command(f, 2, "EXISTS n"), "0") != 0)
        continue;
    test_proxy_set(f->proxies[0], TEST_PROXY_PASS);
    test_proxy_set(f->proxies[1], TEST_PROXY_PASS);
    q = provider_of(f, 1000);
    grant = grant_of(f, "n");
    get_it(f, q, &grant);
    assert_ok(release_it(f, q, &grant), &f->err);
    shut(f, p);
    shut(f, q);
}

static void half_of_the_names_somebody_else_has_is_busy_and_gives_the_rest_back(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 60000);
    struct pawl_lock_grant grant = grant_of(f, "n");

    (void)command(f, 0, "SET n other");
    (void)command(f, 1, "SET n other");
    assert_code(try_it(f, p, &grant), PAWL_EBUSY);
    while (strcmp(command(f, 2, "EXISTS n"), "0") != 0)
        continue;
    (void)command(f, 0, "DEL n");
    get_it(f, p, &grant); /* a minority does not matter */
    assert_ok(release_it(f, p, &grant), &f->err);
    assert_string_equal(command(f, 1, "GET n"), "other"); /* and is left alone */
    shut(f, p);
}

/* A majority is enough for a grant; a renewal brings it to those that were not connected yet. */
static void get_everywhere(struct fixture *f, struct pawl_lock_provider *p,
                           struct pawl_lock_grant *grant)
{
    get_it(f, p, grant);
    for (size_t node = 0; node < NODES; node++)
        while (strcmp(command(f, node, "GET n"), grant->owner) != 0)
            assert_ok(renew_it(f, p, grant), &f->err);
}

static void a_node_that_came_back_empty_is_joined_again(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 30000);
    struct pawl_lock_grant grant = grant_of(f, "n");

    get_everywhere(f, p, &grant);
    for (size_t node = 0; node < NODES; node++) { /* one after the other: all of them */
        test_redis_crash(&f->servers[node]);
        assert_ok(renew_it(f, p, &grant), &f->err); /* a majority still has it */
        test_redis_restart(&f->servers[node]);
        while (strcmp(command(f, node, "GET n"), grant.owner) != 0)
            assert_ok(renew_it(f, p, &grant), &f->err);
    }
    assert_ok(release_it(f, p, &grant), &f->err);
    shut(f, p);
}

static void a_key_deleted_on_a_majority_is_lost_and_not_made_again(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 30000);
    struct pawl_lock_grant grant = grant_of(f, "n");

    get_everywhere(f, p, &grant); /* nothing is under way that could bring it back */
    (void)command(f, 0, "DEL n");
    (void)command(f, 1, "DEL n");
    assert_code(renew_it(f, p, &grant), PAWL_ENOTFOUND);
    for (size_t node = 0; node < NODES; node++)
        while (strcmp(command(f, node, "EXISTS n"), "0") != 0)
            continue;
    shut(f, p);
}

static void a_lease_that_is_over_is_not_begun_again(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 30000);
    struct pawl_lock_grant grant = grant_of(f, "n");

    get_everywhere(f, p, &grant);
    test_redis_forget(f->servers, NODES);                     /* as at the end of the lease, */
    grant.valid_until_ns = pawl_env_monotonic_ns(f->env) - 1; /* which has come */
    assert_code(renew_it(f, p, &grant), PAWL_ENOTFOUND);
    assert_int_equal(test_redis_calls(f->servers, NODES, "set"), 0);
    shut(f, p);
}

static void tokens_grow_whichever_majority_gives_them(void **state)
{
    struct fixture *f = *state;
    uint64_t last = 0;

    for (size_t round = 0; round < 12; round++) {
        struct pawl_lock_provider *p;
        struct pawl_lock_grant grant = grant_of(f, "n");
        size_t out = round < 6 ? 2 : round % NODES; /* {0,1} several times, then each pair */

        test_proxy_set(f->proxies[out], TEST_PROXY_CUT);
        p = provider_of(f, 60000);
        grant.flags = PAWL_LOCK_WANT_TOKEN;
        get_it(f, p, &grant);
        assert_true(grant.token > last);
        last = grant.token;
        assert_ok(release_it(f, p, &grant), &f->err);
        shut(f, p);
        test_proxy_set(f->proxies[out], TEST_PROXY_PASS);
    }
}

/* ---- threads ----------------------------------------------------------------------------- */

struct rival {
    struct fixture *f;
    struct pawl_lock_provider *provider;
    _Atomic int *inside;
    _Atomic unsigned *done;
    struct pawl_thread *thread;
};

static void contend(void *arg)
{
    struct rival *r = arg;
    uint64_t seed = (uintptr_t)r;

    for (int i = 0; i < 50; i++) {
        struct pawl_lock_grant grant = {.name = pawl__str("n")};
        struct pawl_error err;
        int status;

        (void)snprintf(grant.owner, sizeof grant.owner, "h_1_%032" PRIxPTR,
                       (uintptr_t)r + (uintptr_t)i);
        for (;;) {
            status = r->provider->ops->try_(r->provider, &grant, in_ms(r->f, 30000), &err);
            if (status != PAWL_EBUSY)
                break;
            /* Several nodes are not got by all at once: votes would split for ever. */
            assert_int_equal(
                pawl_env_sleep_until(r->f->env, in_ms(r->f, (int64_t)(test_random(&seed) % 20))),
                PAWL_OK);
        }
        assert_ok(status, &err);
        assert_int_equal(atomic_fetch_add(r->inside, 1), 0);
        assert_int_equal(atomic_fetch_sub(r->inside, 1), 1);
        assert_ok(r->provider->ops->release(r->provider, &grant, in_ms(r->f, 30000), &err), &err);
        atomic_fetch_add(r->done, 1);
    }
}

static void many_threads_share_a_provider_and_exclude_each_other(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *a = provider_of(f, 30000), *b = provider_of(f, 30000);
    _Atomic int inside = 0;
    _Atomic unsigned done = 0;
    struct rival rivals[8];

    for (size_t i = 0; i < 8; i++) {
        rivals[i] = (struct rival){f, i % 2 ? a : b, &inside, &done, NULL};
        assert_ok(
            pawl_thread_start(f->env, "rival", contend, &rivals[i], &rivals[i].thread, &f->err),
            &f->err);
    }
    for (size_t i = 0; i < 8; i++)
        pawl_thread_join(f->env, rivals[i].thread);
    assert_int_equal(atomic_load(&done), 8 * 50);
    shut(f, a);
    shut(f, b);
}

static void no_descriptor_is_inherited_and_none_is_leaked(void **state)
{
    enum { FDS = 256 };
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f, 30000);
    struct pawl_lock_grant grant = grant_of(f, "n");
    bool before[FDS];
    unsigned made = 0;

    for (int fd = 0; fd < FDS; fd++)
        before[fd] = fcntl(fd, F_GETFD) >= 0;
    assert_ok(try_it(f, p, &grant), &f->err);
    for (int fd = 0; fd < FDS; fd++)
        if (!before[fd] && fcntl(fd, F_GETFD) >= 0) {
            assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
            made++;
        }
    assert_true(made > 0);
    assert_ok(release_it(f, p, &grant), &f->err);
    shut(f, p);
    while (made > 0) { /* the proxy's own sides end a moment later */
        made = 0;
        for (int fd = 0; fd < FDS; fd++)
            made += !before[fd] && fcntl(fd, F_GETFD) >= 0;
    }
}

static void a_stopped_environment_ends_calls(void **state)
{
    struct fixture *f = *state;
    struct pawl_env *env;
    struct pawl_lock_provider *p;
    struct pawl_lock_grant grant = grant_of(f, "n");

    assert_ok(pawl_system_env_open(&env, &f->err), &f->err);
    assert_ok(pawl__redis_locks_open(env, pawl__str(f->uri), NULL, &p, &f->err), &f->err);
    assert_ok(p->ops->try_(p, &grant, in_ms(f, 30000), &f->err), &f->err);
    pawl_system_env_stop(env);
    assert_code(p->ops->release(p, &grant, in_ms(f, 30000), &f->err), PAWL_ESTOPPED);
    shut(f, p);
    pawl_system_env_close(env);
}

/* ---- opening ----------------------------------------------------------------------------- */

static void a_password_is_used_and_never_shown(void **state)
{
    struct fixture *f = *state;
    struct test_redis server;
    struct pawl_lock_provider *p = NULL;
    struct pawl_lock_grant grant = grant_of(f, "n");
    char uri[128], out[64];

    test_redis_start(&server, "geheim", 0);
    (void)test_redis_uri(&server, 1, NULL, uri, sizeof uri);
    (void)snprintf(uri + strlen(uri), sizeof uri - strlen(uri), "/5");
    assert_ok(pawl__redis_locks_open(f->env, pawl__str(uri), NULL, &p, &f->err), &f->err);
    assert_ok(try_it(f, p, &grant), &f->err);
    assert_string_equal(test_redis_command(&server, "DBSIZE", out, sizeof out), "0"); /* not in 0 */
    assert_ok(release_it(f, p, &grant), &f->err);
    shut(f, p);
    (void)snprintf(uri, sizeof uri, "redis://:falsch@127.0.0.1:%u", (unsigned)server.port);
    assert_ok(pawl__redis_locks_open(f->env, pawl__str(uri), NULL, &p, &f->err), &f->err);
    assert_code(try_it(f, p, &grant), PAWL_EPERM);
    assert_null(strstr(f->err.msg, "falsch"));
    shut(f, p);
    (void)snprintf(uri, sizeof uri, "redis://127.0.0.1:%u", (unsigned)server.port);
    assert_ok(pawl__redis_locks_open(f->env, pawl__str(uri), NULL, &p, &f->err), &f->err);
    assert_code(try_it(f, p, &grant), PAWL_EPERM);
    shut(f, p);
    test_redis_stop(&server);
}

/* ---- running out of memory --------------------------------------------------------------- */

/* All of a provider's life; what fails for want of memory fails as such, and leaks nothing. */
static int live_poorly(struct test_allocator *alloc, void *arg)
{
    struct fixture *f = arg;
    struct pawl_allocator rich = f->env->alloc;
    struct pawl_lock_provider *p = NULL;
    struct pawl_lock_grant grant = grant_of(f, "n");
    int status, given_back;

    f->env->alloc = alloc->base;
    status = pawl__redis_locks_open(f->env, pawl__str(f->uri), NULL, &p, &f->err);
    if (status == PAWL_OK) {
        status = try_it(f, p, &grant);
        given_back = release_it(f, p, &grant);
        if (status == PAWL_OK && given_back != PAWL_OK)
            status = given_back;
        shut(f, p);
    }
    f->env->alloc = rich;
    test_redis_command(&f->servers[0], "FLUSHALL", f->uri + 200, 50);
    /* A node's thread that had no memory is a node that is down. */
    if (status == PAWL_EUNAVAILABLE || status == PAWL_EUNKNOWN)
        status = PAWL_ENOMEM;
    return status;
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    test_sweep_allocations(live_poorly, *state, 200);
}

#define with_one(test) cmocka_unit_test_setup_teardown(test, open_one, close_fixture)
#define with_three(test) cmocka_unit_test_setup_teardown(test, open_three, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_one(one_of_two_holds_a_name_until_it_is_released),
        with_one(a_key_is_as_the_other_library_has_it),
        with_one(names_are_bytes),
        with_one(a_lease_ends_by_itself_and_its_holder_knows_before),
        with_one(renewing_extends_a_lease),
        with_one(a_key_deleted_by_hand_is_lost_at_the_next_renewal),
        with_one(a_server_that_is_down_is_not_busy),
        with_one(one_blip_loses_nothing),
        with_one(an_answer_that_never_comes_is_unknown_and_what_it_took_is_given_back),
        with_one(a_grant_that_comes_after_the_lease_is_no_grant),
        with_one(a_renewal_whose_answer_comes_too_late_leaves_the_time_as_it_was),
        with_one(scripts_that_the_server_forgot_are_sent_again),
        with_one(tokens_only_grow_also_past_a_server_that_came_back_empty),
        with_one(many_leases_are_renewed_together_and_outlive_a_stall),
        with_one(a_release_wakes_those_who_were_refused_and_nobody_else),
        with_one(wakes_go_on_after_the_server_was_gone),
        with_one(who_holds_a_lock_can_be_asked),
        with_one(many_threads_share_a_provider_and_exclude_each_other),
        with_one(no_descriptor_is_inherited_and_none_is_leaked),
        with_one(a_stopped_environment_ends_calls),
        with_one(a_jump_of_the_wall_clock_changes_nothing),
        with_one(a_password_is_used_and_never_shown),
        with_one(running_out_of_memory_leaks_nothing),
        with_three(one_of_two_holds_a_name_until_it_is_released),
        with_three(a_majority_grants),
        with_three(a_lost_majority_is_not_busy_and_leaves_nothing_behind),
        with_three(a_majority_that_hangs_gives_no_lock_and_nothing_stays),
        with_three(half_of_the_names_somebody_else_has_is_busy_and_gives_the_rest_back),
        with_three(a_node_that_came_back_empty_is_joined_again),
        with_three(a_key_deleted_on_a_majority_is_lost_and_not_made_again),
        with_three(a_lease_that_is_over_is_not_begun_again),
        with_three(tokens_grow_whichever_majority_gives_them),
        with_three(a_release_wakes_those_who_were_refused_and_nobody_else),
        with_three(who_holds_a_lock_can_be_asked),
        with_three(many_threads_share_a_provider_and_exclude_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
