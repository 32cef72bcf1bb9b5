/* SPDX-License-Identifier: Apache-2.0 */
/* Advisory locks on a real PostgreSQL server, behind a proxy that cuts and hangs. */
#include "servers/postgres.h"
#include "drivers/libpq.h"
#include "lib/proxy.h"
#include "lib/test.h"
#include "locks/names.h"
#include "locks/providers.h"

#include <pawl/ext/store.h>

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS INT64_C(1000000)
#define OPEN_MAX 32

struct fixture {
    struct test_postgres server; /* one for all tests: making a cluster takes long */
    struct test_proxy *proxy;
    struct pawl_env *env;
    struct pawl_pq *pq;
    struct pawl_pq_conn *conn; /* the test's own */
    struct pawl_error err;
    char uri[128];
    struct pawl_lock_provider *open[OPEN_MAX];
};

static void connect_own(struct fixture *f)
{
    const struct pawl_socket_wait wait = {f->env, NULL, PAWL_FOREVER};
    char uri[128];

    (void)test_postgres_uri(&f->server, "postgres", uri, sizeof uri);
    assert_ok(pawl__pq_connect(f->pq, uri, &wait, &f->conn, &f->err), &f->err);
}

static int open_group(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (!f)
        return -1;
    *state = f;
    test_postgres_start(&f->server, NULL);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    assert_ok(pawl__pq_open(&f->env->alloc, &f->pq, &f->err), &f->err);
    connect_own(f);
    return 0;
}

static int close_group(void **state)
{
    struct fixture *f = *state;

    pawl__pq_disconnect(f->conn);
    pawl__pq_close(f->pq);
    pawl_system_env_close(f->env);
    test_postgres_stop(&f->server);
    free(f);
    return 0;
}

static int open_test(void **state)
{
    struct fixture *f = *state;

    f->proxy = test_proxy_start(f->server.port);
    (void)snprintf(f->uri, sizeof f->uri, "postgres://%s@127.0.0.1:%u/postgres", TEST_POSTGRES_USER,
                   (unsigned)test_proxy_port(f->proxy));
    return 0;
}

static int close_test(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < OPEN_MAX; i++) {
        if (f->open[i])
            f->open[i]->ops->close(f->open[i]);
        f->open[i] = NULL;
    }
    test_proxy_stop(f->proxy);
    f->proxy = NULL;
    return 0;
}

/* ---- calls ------------------------------------------------------------------------------- */

static int64_t in_ms(struct fixture *f, int64_t ms)
{
    return pawl_env_monotonic_ns(f->env) + ms * MS;
}

static struct pawl_lock_provider *provider_at(struct fixture *f, const char *uri)
{
    struct pawl_lock_provider *provider = NULL;

    assert_ok(pawl__postgres_locks_open(f->env, pawl__str(uri), NULL, &provider, &f->err), &f->err);
    for (size_t i = 0; i < OPEN_MAX; i++)
        if (!f->open[i]) {
            f->open[i] = provider;
            break;
        }
    return provider;
}

static struct pawl_lock_provider *provider_of(struct fixture *f)
{
    return provider_at(f, f->uri);
}

static void shut(struct fixture *f, struct pawl_lock_provider *provider)
{
    for (size_t i = 0; i < OPEN_MAX; i++)
        if (f->open[i] == provider)
            f->open[i] = NULL;
    provider->ops->close(provider);
}

static struct pawl_lock_grant grant_of(const char *name)
{
    return (struct pawl_lock_grant){.name = pawl__str(name), .owner = "host_1_x"};
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

static int renew_it(struct fixture *f, struct pawl_lock_provider *p, struct pawl_lock_grant *grant,
                    int64_t deadline_ns)
{
    struct pawl_lock_grant *const grants[] = {grant};
    int status = p->ops->renew(p, grants, 1, deadline_ns, &f->err);

    return status == PAWL_OK ? grant->status : status;
}

static int64_t ask(struct fixture *f, const char *sql)
{
    const struct pawl_socket_wait wait = {f->env, NULL, PAWL_FOREVER};

    assert_ok(pawl__pq_begin(f->conn, &f->err), &f->err);
    assert_ok(pawl__pq_queue(f->conn, PAWL_PQ_STATEMENT_NONE, sql, NULL, 0, &f->err), &f->err);
    assert_ok(pawl__pq_sync(f->conn, &f->err), &f->err);
    assert_ok(pawl__pq_run(f->conn, true, &wait, &f->err), &f->err);
    assert_ok(pawl__pq_status(f->conn, 0, &f->err), &f->err);
    return pawl__pq_rows(f->conn, 0) > 0 ? pawl__pq_int(f->conn, 0, 0, 0) : 0;
}

#define HELD "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
#define WAITING "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
#define SESSIONS "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'pawl locks%'"

static void await_count(struct fixture *f, const char *sql, int64_t count)
{
    while (ask(f, sql) != count)
        assert_int_equal(pawl_env_sleep_until(f->env, in_ms(f, 1)), PAWL_OK);
}

/*
 * Held if and only if a wait says so. A session that a slow server did not answer was given up, and
 * what it may have been granted ends when the server learns of that: a lock that was kept stays.
 */
static void check_held(struct fixture *f, bool is_held)
{
    int64_t until_ns = in_ms(f, 60000);

    while (!is_held && ask(f, HELD) != 0 && pawl_env_monotonic_ns(f->env) < until_ns)
        assert_int_equal(pawl_env_sleep_until(f->env, in_ms(f, 10)), PAWL_OK);
    assert_int_equal(ask(f, HELD), is_held);
}

/* A wait on a thread of its own. */
struct waiter {
    struct fixture *f;
    struct pawl_lock_provider *provider;
    struct pawl_lock_grant grant;
    int64_t deadline_ns;
    struct pawl_thread *thread;
    struct pawl_error err;
    int status;
};

static void run_waiter(void *arg)
{
    struct waiter *w = arg;

    w->status = w->provider->ops->wait(w->provider, &w->grant, w->deadline_ns, &w->err);
}

static void start_waiter(struct waiter *w, struct fixture *f, struct pawl_lock_provider *provider,
                         const char *name, int64_t deadline_ns)
{
    *w = (struct waiter){
        .f = f, .provider = provider, .grant = grant_of(name), .deadline_ns = deadline_ns};
    assert_ok(pawl_thread_start(f->env, "waiter", run_waiter, w, &w->thread, &f->err), &f->err);
}

static int join_waiter(struct waiter *w)
{
    pawl_thread_join(w->f->env, w->thread);
    return w->status;
}

/* ---- mutexes ----------------------------------------------------------------------------- */

static void one_of_two_holds_a_name_until_it_is_released(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *a = provider_of(f), *b = provider_of(f);
    struct pawl_lock_grant one = grant_of("n"), two = grant_of("n"), other = grant_of("N");

    assert_ok(try_it(f, a, &one), &f->err);
    assert_true(one.valid_until_ns > in_ms(f, 5000) && one.valid_until_ns <= in_ms(f, 15000));
    assert_code(try_it(f, b, &two), PAWL_EBUSY);
    assert_code(try_it(f, a, &two), PAWL_EBUSY); /* nothing is re-entrant */
    assert_ok(try_it(f, b, &other), &f->err);    /* case matters */
    assert_ok(release_it(f, a, &one), &f->err);
    assert_ok(try_it(f, b, &two), &f->err);
    /* Releasing again frees nobody else's. */
    assert_ok(release_it(f, a, &one), &f->err);
    assert_code(try_it(f, a, &one), PAWL_EBUSY);
    assert_ok(release_it(f, b, &two), &f->err);
    assert_ok(release_it(f, b, &other), &f->err);
    assert_int_equal(ask(f, HELD), 0);
    shut(f, a);
    shut(f, b);
}

static void keys_are_as_the_other_library_has_them(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f);
    struct pawl_lock_grant hashed = grant_of("workflow-instance:abc"), pair = grant_of("lock");
    struct pawl_lock_ticket ticket;
    char text[64];

    assert_int_equal(ask(f, "SELECT pg_try_advisory_lock(5341647807707390374)::int"), 1);
    assert_code(try_it(f, p, &hashed), PAWL_EBUSY);
    assert_int_equal(ask(f, "SELECT pg_advisory_unlock(5341647807707390374)::int"), 1);
    assert_ok(try_it(f, p, &hashed), &f->err);
    assert_ok(try_it(f, p, &pair), &f->err);
    assert_int_equal(ask(f, "SELECT pg_try_advisory_lock(5341647807707390374)::int"), 0);
    assert_int_equal(ask(f, "SELECT pg_try_advisory_lock(-641786185, -1)::int"), 0);
    assert_ok(p->ops->map(p, pair.name, text, sizeof text, &f->err), &f->err);
    assert_string_equal(text, "-641786185,-1");
    assert_ok(p->ops->ticket(p, hashed.name, &ticket, &f->err), &f->err);
    assert_true(ticket.key == INT64_C(5341647807707390374));
    assert_code(p->ops->ticket(p, pair.name, &ticket, &f->err), PAWL_EUNSUPPORTED);
    assert_ok(release_it(f, p, &hashed), &f->err);
    assert_ok(release_it(f, p, &pair), &f->err);
    shut(f, p);
}

static void a_number_and_a_pair_of_the_same_bits_are_different_locks(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f);
    struct pawl_lock_grant number = grant_of("0000000000000000"),
                           pair = grant_of("00000000,00000000");

    assert_ok(try_it(f, p, &number), &f->err);
    assert_ok(try_it(f, p, &pair), &f->err);
    assert_ok(release_it(f, p, &number), &f->err);
    assert_code(try_it(f, p, &(struct pawl_lock_grant){.name = pair.name}), PAWL_EBUSY);
    assert_ok(release_it(f, p, &pair), &f->err);
    shut(f, p);
}

static void two_names_of_one_key_exclude_each_other_also_in_one_session(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f);
    struct pawl_pg_lock_key key;
    struct pawl_lock_grant one = grant_of("lock"), two = grant_of("");
    char text[32];

    pawl__lock_name_postgres(one.name, &key);
    (void)snprintf(text, sizeof text, "%08x,%08x", (unsigned)key.a, (unsigned)key.b);
    two.name = pawl__str(text);
    assert_ok(try_it(f, p, &one), &f->err);
    assert_code(try_it(f, p, &two), PAWL_EBUSY);
    assert_ok(release_it(f, p, &one), &f->err);
    assert_ok(try_it(f, p, &two), &f->err);
    assert_ok(release_it(f, p, &two), &f->err);
    shut(f, p);
}

/* ---- waiting ----------------------------------------------------------------------------- */

static void a_wait_is_granted_by_the_release(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *a = provider_of(f), *b = provider_of(f);
    struct pawl_lock_grant one = grant_of("n"), third = grant_of("n");
    struct waiter w;

    assert_ok(try_it(f, a, &one), &f->err);
    start_waiter(&w, f, b, "n", PAWL_FOREVER);
    await_count(f, WAITING, 1); /* blocked at the server: nobody polls */
    assert_ok(release_it(f, a, &one), &f->err);
    assert_ok(join_waiter(&w), &w.err);
    assert_code(try_it(f, a, &third), PAWL_EBUSY);
    assert_code(try_it(f, b, &third), PAWL_EBUSY);
    assert_ok(renew_it(f, b, &w.grant, in_ms(f, 30000)), &f->err);
    assert_ok(release_it(f, b, &w.grant), &f->err);
    assert_int_equal(ask(f, HELD), 0);
    shut(f, a);
    shut(f, b);
}

static void a_wait_ends_at_its_deadline_or_when_it_is_interrupted(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *a = provider_of(f), *b = provider_of(f);
    struct pawl_lock_grant one = grant_of("n"), two = grant_of("n");
    struct waiter w;

    assert_ok(try_it(f, a, &one), &f->err);
    start_waiter(&w, f, b, "n", in_ms(f, 50));
    assert_code(join_waiter(&w), PAWL_ETIMEDOUT);
    start_waiter(&w, f, b, "n", in_ms(f, -50)); /* one that is past */
    assert_code(join_waiter(&w), PAWL_ETIMEDOUT);
    start_waiter(&w, f, b, "n", PAWL_FOREVER);
    await_count(f, WAITING, 1);
    b->ops->interrupt(b, &w.grant);
    assert_code(join_waiter(&w), PAWL_ECANCELLED);
    await_count(f, WAITING, 0);
    b->ops->interrupt(b, &two); /* before the wait: the next one */
    assert_code(b->ops->wait(b, &two, PAWL_FOREVER, &f->err), PAWL_ECANCELLED);
    assert_code(b->ops->wait(b, &two, in_ms(f, 20), &f->err), PAWL_ETIMEDOUT);
    assert_ok(release_it(f, a, &one), &f->err);
    assert_ok(b->ops->wait(b, &two, PAWL_FOREVER, &f->err), &f->err);
    assert_ok(release_it(f, b, &two), &f->err);
    assert_int_equal(ask(f, HELD), 0);
    shut(f, a);
    shut(f, b);
}

/* The lock is released, and the wait interrupted, at about the same time: nearer to each other
 * after it was granted, and farther apart after it was refused. */
struct race {
    struct fixture *f;
    struct pawl_lock_provider *a, *b; /* a holds it, b waits */
    int64_t early_ns;                 /* how much before the interrupt it is released */
    uint64_t random;
    int granted, refused;
};

/* `after`: it is released after the interrupt. */
static void race_once(struct race *r, bool after)
{
    struct fixture *f = r->f;
    struct pawl_lock_grant one = grant_of("n");
    int64_t then_ns = ((int64_t)(test_random(&r->random) % 600) - 300) * 1000;
    struct waiter w;

    assert_ok(try_it(f, r->a, &one), &f->err);
    start_waiter(&w, f, r->b, "n", PAWL_FOREVER);
    await_count(f, WAITING, 1);
    if (after)
        r->b->ops->interrupt(r->b, &w.grant);
    assert_ok(release_it(f, r->a, &one), &f->err);
    then_ns += pawl_env_monotonic_ns(f->env) + r->early_ns;
    if (!after) {
        assert_ok(pawl_env_sleep_until(f->env, then_ns), NULL);
        r->b->ops->interrupt(r->b, &w.grant);
    }
    (void)join_waiter(&w);
    check_held(f, w.status == PAWL_OK);
    if (w.status == PAWL_EUNAVAILABLE)
        return; /* a server without a processor */
    if (w.status == PAWL_OK)
        assert_ok(release_it(f, r->b, &w.grant), &f->err);
    else
        assert_code(w.status, PAWL_ECANCELLED);
    r->granted += w.status == PAWL_OK;
    r->refused += w.status != PAWL_OK;
    if (!after)
        r->early_ns += w.status == PAWL_OK ? -MS / 5 : MS / 4;
    if (r->early_ns < 0)
        r->early_ns = 0;
}

static void a_cancel_while_it_is_granted_is_one_or_the_other(void **state)
{
    enum { ROUNDS = 300, ROUNDS_MAX = 6000, ENOUGH = 20 };
    struct fixture *f = *state;
    struct race r = {.f = f, .a = provider_of(f), .b = provider_of(f), .random = 7};

    for (int i = 0; i < ROUNDS_MAX; i++) {
        if (i >= ROUNDS && r.granted >= ENOUGH && r.refused >= ENOUGH)
            break;
        race_once(&r, i % 4 == 0);
    }
    print_message("# %d granted, %d refused\n", r.granted, r.refused);
    /* Otherwise there was no race, and the rest has shown nothing. */
    assert_true(r.granted >= ENOUGH && r.refused >= ENOUGH);
    shut(f, r.a);
    shut(f, r.b);
}

/*
 * The same, made certain: the session that waits stands still on the server while the lock is
 * released, which grants it, and while its wait ends. When it goes on it reports the end of the
 * wait, and has the lock.
 */
static void grant_while_the_wait_ends(struct fixture *f, bool by_interrupt)
{
    struct pawl_lock_provider *a = provider_of(f), *b = provider_of(f);
    struct pawl_lock_grant one = grant_of("n");
    int64_t until_ns = in_ms(f, 500);
    struct waiter w;
    pid_t session;

    assert_ok(try_it(f, a, &one), &f->err);
    start_waiter(&w, f, b, "n", by_interrupt ? PAWL_FOREVER : until_ns);
    await_count(f, WAITING, 1);
    session = (pid_t)ask(f, "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");
    assert_int_equal(kill(session, SIGSTOP), 0);
    assert_ok(release_it(f, a, &one), &f->err);
    if (by_interrupt)
        b->ops->interrupt(b, &w.grant);
    /* The interrupt is on its way to the server, or the time is up. */
    assert_ok(pawl_env_sleep_until(f->env, until_ns + 200 * MS), NULL);
    assert_int_equal(kill(session, SIGCONT), 0);
    (void)join_waiter(&w);
    if (w.status != PAWL_OK && w.status != PAWL_EUNAVAILABLE)
        assert_code(w.status, by_interrupt ? PAWL_ECANCELLED : PAWL_ETIMEDOUT);
    check_held(f, w.status == PAWL_OK);
    if (w.status == PAWL_OK)
        assert_ok(release_it(f, b, &w.grant), &f->err);
    shut(f, a);
    shut(f, b);
}

static void a_lock_granted_as_the_wait_times_out_is_held_or_released(void **state)
{
    grant_while_the_wait_ends(*state, false);
}

static void a_lock_granted_as_the_wait_is_cancelled_is_released(void **state)
{
    grant_while_the_wait_ends(*state, true);
}

static void more_wait_than_there_are_connections(void **state)
{
    enum { COUNT = 12 };
    struct fixture *f = *state;
    struct pawl_lock_provider *a = provider_of(f), *b = provider_of(f);
    struct pawl_lock_grant ones[COUNT];
    struct waiter waiters[COUNT];
    char names[COUNT][16];

    for (size_t i = 0; i < COUNT; i++) {
        (void)snprintf(names[i], sizeof names[i], "name-%zu", i);
        ones[i] = grant_of(names[i]);
        assert_ok(try_it(f, a, &ones[i]), &f->err);
    }
    for (size_t i = 0; i < COUNT; i++)
        start_waiter(&waiters[i], f, b, names[i], PAWL_FOREVER);
    await_count(f, WAITING, 8);
    for (size_t i = 0; i < COUNT; i++)
        assert_ok(release_it(f, a, &ones[i]), &f->err);
    for (size_t i = 0; i < COUNT; i++)
        assert_ok(join_waiter(&waiters[i]), &waiters[i].err);
    /* All connections hold something, and still one more can wait, and be interrupted. */
    start_waiter(&waiters[0], f, b, names[0], PAWL_FOREVER);
    b->ops->interrupt(b, &waiters[0].grant);
    assert_code(join_waiter(&waiters[0]), PAWL_ECANCELLED);
    assert_int_equal(ask(f, HELD), COUNT);
    shut(f, a);
    shut(f, b);
    await_count(f, HELD, 0);
}

/* ---- connections that end ---------------------------------------------------------------- */

struct ear {
    _Atomic unsigned lost;
    struct pawl_lock_grant *_Atomic last;
};

static void hear_lost(void *ctx, struct pawl_lock_grant *grant)
{
    struct ear *ear = ctx;

    atomic_store(&ear->last, grant);
    atomic_fetch_add(&ear->lost, 1);
}

static void hear_wake(void *ctx, struct pawl_str name)
{
    (void)ctx;
    (void)name;
}

static void await_lost(struct fixture *f, struct ear *ear, unsigned count)
{
    while (atomic_load(&ear->lost) < count)
        assert_int_equal(pawl_env_sleep_until(f->env, in_ms(f, 1)), PAWL_OK);
    assert_int_equal(atomic_load(&ear->lost), count);
}

static void the_end_of_a_connection_is_told_to_all_who_held_by_it(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f), *other = provider_of(f);
    struct ear ear = {0};
    const struct pawl_lock_listener listener = {hear_lost, hear_wake, &ear};
    struct pawl_lock_grant grants[3] = {grant_of("a"), grant_of("b"), grant_of("c")};
    struct pawl_lock_grant waited = grant_of("d");

    assert_ok(p->ops->listen(p, &listener, &f->err), &f->err);
    for (size_t i = 0; i < 3; i++)
        assert_ok(try_it(f, p, &grants[i]), &f->err);
    assert_ok(release_it(f, p, &grants[1]), &f->err); /* a release is no loss */
    assert_ok(p->ops->wait(p, &waited, PAWL_FOREVER, &f->err), &f->err);
    await_count(f, SESSIONS, 2); /* those of earlier tests end a little later */
    (void)ask(f, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE "
                 "application_name LIKE 'pawl locks%'");
    await_lost(f, &ear, 3);
    assert_code(renew_it(f, p, &grants[0], in_ms(f, 30000)), PAWL_ENOTFOUND);
    assert_code(release_it(f, p, &grants[0]), PAWL_ENOTFOUND);
    assert_code(release_it(f, p, &grants[2]), PAWL_ENOTFOUND);
    assert_code(release_it(f, p, &waited), PAWL_ENOTFOUND);
    /* What was lost can be had again, here and elsewhere. */
    assert_ok(try_it(f, p, &grants[0]), &f->err);
    assert_ok(try_it(f, other, &grants[1]), &f->err);
    assert_ok(release_it(f, p, &grants[0]), &f->err);
    assert_ok(release_it(f, other, &grants[1]), &f->err);
    await_lost(f, &ear, 3);
    shut(f, p);
    shut(f, other);
}

static void a_server_that_goes_away_ends_waits_and_locks_and_is_not_busy(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f), *q = provider_of(f);
    struct ear ear = {0};
    const struct pawl_lock_listener listener = {hear_lost, hear_wake, &ear};
    struct pawl_lock_grant held = grant_of("n"), more = grant_of("m");
    struct waiter w;

    assert_ok(p->ops->listen(p, &listener, &f->err), &f->err);
    assert_ok(try_it(f, p, &held), &f->err);
    start_waiter(&w, f, q, "n", PAWL_FOREVER);
    await_count(f, WAITING, 1);
    pawl__pq_disconnect(f->conn);
    test_postgres_crash(&f->server);
    assert_code(join_waiter(&w), PAWL_EUNAVAILABLE);
    await_lost(f, &ear, 1);
    assert_code(try_it(f, p, &more), PAWL_EUNAVAILABLE);
    assert_code(release_it(f, p, &held), PAWL_ENOTFOUND);
    test_postgres_restart(&f->server);
    connect_own(f);
    while (try_it(f, p, &more) == PAWL_EUNAVAILABLE)
        continue;
    assert_code(try_it(f, q, &more), PAWL_EBUSY);
    assert_ok(release_it(f, p, &more), &f->err);
    shut(f, p);
    shut(f, q);
}

static void a_server_that_stands_still_costs_no_lock(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f);
    struct ear ear = {0};
    const struct pawl_lock_listener listener = {hear_lost, hear_wake, &ear};
    struct pawl_lock_grant held = grant_of("n"), asked = grant_of("m"), again = grant_of("m");
    int64_t until;

    assert_ok(p->ops->listen(p, &listener, &f->err), &f->err);
    assert_ok(try_it(f, p, &held), &f->err);
    until = held.valid_until_ns;
    test_postgres_pause(&f->server);
    assert_code(p->ops->try_(p, &asked, in_ms(f, 100), &f->err), PAWL_EUNKNOWN);
    assert_code(renew_it(f, p, &held, in_ms(f, 100)), PAWL_EUNAVAILABLE);
    assert_code(p->ops->release(p, &asked, in_ms(f, 50), &f->err), PAWL_EUNAVAILABLE);
    assert_true(held.valid_until_ns == until); /* who trusts it past that is wrong */
    test_postgres_continue(&f->server);
    assert_ok(renew_it(f, p, &held, in_ms(f, 30000)), &f->err);
    assert_true(held.valid_until_ns > until);
    /* What was asked without an answer is given back. */
    assert_ok(release_it(f, p, &asked), &f->err);
    assert_int_equal(ask(f, HELD), 1);
    assert_ok(try_it(f, p, &again), &f->err);
    assert_ok(release_it(f, p, &again), &f->err);
    assert_ok(release_it(f, p, &held), &f->err);
    assert_int_equal(atomic_load(&ear.lost), 0);
    shut(f, p);
}

static void a_release_without_an_answer_can_be_repeated(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f);
    struct pawl_lock_grant held = grant_of("n");

    assert_ok(try_it(f, p, &held), &f->err);
    test_proxy_set(f->proxy, TEST_PROXY_MUTE);
    assert_code(p->ops->release(p, &held, in_ms(f, 50), &f->err), PAWL_EUNAVAILABLE);
    await_count(f, HELD, 0); /* it was done */
    test_proxy_set(f->proxy, TEST_PROXY_PASS);
    assert_ok(release_it(f, p, &held), &f->err);
    assert_ok(try_it(f, p, &held), &f->err);
    assert_ok(release_it(f, p, &held), &f->err);
    shut(f, p);
}

static void one_who_is_cut_off_stops_to_trust_its_lock(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f);
    struct pawl_lock_grant held = grant_of("n");
    int64_t until;

    assert_ok(try_it(f, p, &held), &f->err);
    until = held.valid_until_ns;
    test_proxy_set(f->proxy, TEST_PROXY_HANG);
    for (int i = 0; i < 3; i++)
        assert_code(renew_it(f, p, &held, in_ms(f, 50)), PAWL_EUNAVAILABLE);
    assert_true(held.valid_until_ns == until && until <= in_ms(f, 15000));
    test_proxy_set(f->proxy, TEST_PROXY_PASS);
    assert_ok(renew_it(f, p, &held, in_ms(f, 30000)), &f->err);
    assert_ok(release_it(f, p, &held), &f->err);
    shut(f, p);
}

static void what_a_provider_held_at_its_end_is_free_at_once(void **state)
{
    enum { ROUNDS = 100 };
    struct fixture *f = *state;
    struct pawl_lock_provider *q = provider_of(f);
    int at_once = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct pawl_lock_provider *p = provider_of(f);
        struct pawl_lock_grant left = grant_of("n"), next = grant_of("n");
        int status;

        assert_ok(try_it(f, p, &left), &f->err);
        p->ops->abandon(p, &left);
        assert_code(try_it(f, p, &next), PAWL_EBUSY); /* the session has it still */
        shut(f, p);
        status = try_it(f, q, &next);
        at_once += status == PAWL_OK;
        /* Who closes does not wait for ever: then the lock is free when the server notices. */
        if (status == PAWL_EBUSY)
            status = q->ops->wait(q, &next, PAWL_FOREVER, &f->err);
        assert_ok(status, &f->err);
        assert_ok(release_it(f, q, &next), &f->err);
    }
    assert_true(at_once > ROUNDS * 9 / 10);
    shut(f, q);
}

/* ---- tokens ------------------------------------------------------------------------------ */

struct counter {
    struct fixture *f;
    struct pawl_lock_provider *provider;
    struct pawl_thread *thread;
    uint64_t token;
    char name[16];
};

static void take_token(void *arg)
{
    struct counter *c = arg;
    struct pawl_lock_grant grant = grant_of(c->name);
    struct pawl_error err;

    grant.flags = PAWL_LOCK_WANT_TOKEN;
    assert_ok(c->provider->ops->try_(c->provider, &grant, in_ms(c->f, 30000), &err), &err);
    c->token = grant.token;
    assert_ok(c->provider->ops->release(c->provider, &grant, in_ms(c->f, 30000), &err), &err);
}

static void tokens_only_grow_whoever_makes_them_and_past_a_crash(void **state)
{
    enum { COUNT = 6 };
    struct fixture *f = *state;
    struct counter counters[COUNT];
    struct pawl_lock_grant grant = grant_of("n");
    struct pawl_lock_provider *p;
    uint64_t last = 0;

    (void)ask(f, "DROP SEQUENCE IF EXISTS pawl_lock_token");
    /* All find that there is none. */
    for (size_t i = 0; i < COUNT; i++) {
        counters[i] = (struct counter){.f = f, .provider = provider_of(f)};
        (void)snprintf(counters[i].name, sizeof counters[i].name, "name-%zu", i);
        assert_ok(pawl_thread_start(f->env, "token", take_token, &counters[i], &counters[i].thread,
                                    &f->err),
                  &f->err);
    }
    for (size_t i = 0; i < COUNT; i++) {
        pawl_thread_join(f->env, counters[i].thread);
        assert_true(counters[i].token > 0);
        last = counters[i].token > last ? counters[i].token : last;
        shut(f, counters[i].provider);
    }
    p = provider_of(f);
    grant.flags = PAWL_LOCK_WANT_TOKEN;
    for (int i = 0; i < 6; i++) {
        int status;

        do { /* by waiting, too */
            status = i % 2 ? try_it(f, p, &grant) : p->ops->wait(p, &grant, PAWL_FOREVER, &f->err);
        } while (status == PAWL_EUNAVAILABLE);
        assert_ok(status, &f->err);
        assert_true(grant.token > last);
        last = grant.token;
        if (i == 3) {
            pawl__pq_disconnect(f->conn);
            test_postgres_crash(&f->server);
            test_postgres_restart(&f->server);
            connect_own(f);
            assert_code(release_it(f, p, &grant), PAWL_ENOTFOUND);
        } else {
            assert_ok(release_it(f, p, &grant), &f->err);
        }
    }
    shut(f, p);
}

/* ---- looking ----------------------------------------------------------------------------- */

static int count_held(void *ctx, const struct pawl_lock_holder *holder)
{
    assert_true(holder->held);
    ++*(size_t *)ctx;
    return 0;
}

static void who_holds_a_lock_can_be_asked(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f), *q = provider_of(f);
    struct pawl_lock_grant hashed = grant_of("workflow-instance:abc"), pair = grant_of("lock");
    struct pawl_lock_holder holder;
    struct pawl_lock_status status;
    size_t count = 0;

    assert_ok(p->ops->status(p, &status, in_ms(f, 30000), &f->err), &f->err);
    assert_true(strncmp(status.server, "PostgreSQL ", 11) == 0);
    assert_string_equal(status.warning, "");
    assert_ok(try_it(f, p, &hashed), &f->err);
    assert_ok(try_it(f, p, &pair), &f->err);
    assert_ok(q->ops->inspect(q, hashed.name, &holder, in_ms(f, 30000), &f->err), &f->err);
    assert_true(holder.held);
    assert_string_equal(holder.key, "5341647807707390374");
    assert_non_null(strstr(holder.owner, "pawl locks "));
    assert_ok(q->ops->inspect(q, pair.name, &holder, in_ms(f, 30000), &f->err), &f->err);
    assert_true(holder.held);
    assert_string_equal(holder.key, "-641786185,-1");
    assert_ok(q->ops->list(q, 100, count_held, &count, in_ms(f, 30000), &f->err), &f->err);
    assert_int_equal(count, 2);
    assert_ok(release_it(f, p, &pair), &f->err);
    assert_ok(q->ops->inspect(q, pair.name, &holder, in_ms(f, 30000), &f->err), &f->err);
    assert_false(holder.held);
    assert_ok(release_it(f, p, &hashed), &f->err);
    shut(f, p);
    shut(f, q);
}

/* ---- resources --------------------------------------------------------------------------- */

static void many_cycles_use_one_session_and_leak_none(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f);
    struct pawl_lock_grant grant = grant_of("n");

    for (int i = 0; i < 1000; i++) {
        assert_ok(try_it(f, p, &grant), &f->err);
        assert_ok(release_it(f, p, &grant), &f->err);
    }
    await_count(f, SESSIONS, 1);
    shut(f, p);
    await_count(f, SESSIONS, 0);
}

static void no_descriptor_is_inherited(void **state)
{
    enum { FDS = 256 };
    struct fixture *f = *state;
    struct pawl_lock_provider *p = provider_of(f);
    struct pawl_lock_grant grant = grant_of("n");
    bool before[FDS];
    unsigned made = 0;

    for (int fd = 0; fd < FDS; fd++)
        before[fd] = fcntl(fd, F_GETFD) >= 0;
    assert_ok(p->ops->wait(p, &grant, PAWL_FOREVER, &f->err), &f->err);
    for (int fd = 0; fd < FDS; fd++)
        if (!before[fd] && fcntl(fd, F_GETFD) >= 0) {
            assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
            made++;
        }
    assert_true(made > 0);
    assert_ok(release_it(f, p, &grant), &f->err);
    shut(f, p);
}

struct rival {
    struct fixture *f;
    struct pawl_lock_provider *provider;
    _Atomic int *inside;
    struct pawl_thread *thread;
    bool waits;
};

static void contend(void *arg)
{
    struct rival *r = arg;

    for (int i = 0; i < 50; i++) {
        struct pawl_lock_grant grant = grant_of("n");
        struct pawl_error err;
        int status;

        do {
            status = r->waits
                         ? r->provider->ops->wait(r->provider, &grant, in_ms(r->f, 60000), &err)
                         : r->provider->ops->try_(r->provider, &grant, in_ms(r->f, 60000), &err);
            /* A server that gets no processor for seconds is unavailable, and nothing is held. */
        } while (status == PAWL_EBUSY || status == PAWL_EUNAVAILABLE);
        assert_ok(status, &err);
        assert_int_equal(atomic_fetch_add(r->inside, 1), 0);
        assert_int_equal(atomic_fetch_sub(r->inside, 1), 1);
        assert_ok(r->provider->ops->release(r->provider, &grant, in_ms(r->f, 60000), &err), &err);
    }
}

static void many_threads_exclude_each_other(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *a = provider_of(f), *b = provider_of(f);
    _Atomic int inside = 0;
    struct rival rivals[8];

    for (size_t i = 0; i < 8; i++) {
        rivals[i] = (struct rival){f, i % 2 ? a : b, &inside, NULL, i < 6};
        assert_ok(
            pawl_thread_start(f->env, "rival", contend, &rivals[i], &rivals[i].thread, &f->err),
            &f->err);
    }
    for (size_t i = 0; i < 8; i++)
        pawl_thread_join(f->env, rivals[i].thread);
    assert_int_equal(ask(f, HELD), 0);
    shut(f, a);
    shut(f, b);
}

static void a_stopped_environment_ends_calls(void **state)
{
    struct fixture *f = *state;
    struct pawl_env *env;
    struct pawl_lock_provider *p;
    struct pawl_lock_grant grant = grant_of("n");

    assert_ok(pawl_system_env_open(&env, &f->err), &f->err);
    assert_ok(pawl__postgres_locks_open(env, pawl__str(f->uri), NULL, &p, &f->err), &f->err);
    assert_ok(p->ops->try_(p, &grant, in_ms(f, 30000), &f->err), &f->err);
    pawl_system_env_stop(env);
    assert_code(p->ops->release(p, &grant, in_ms(f, 30000), &f->err), PAWL_ESTOPPED);
    p->ops->close(p);
    pawl_system_env_close(env);
    await_count(f, HELD, 0);
}

static void what_cannot_be_is_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = NULL;
    struct pawl_lock_grant grant = grant_of("n");
    char *large = calloc(1, PAWL_LOCK_NAME_MAX + 2);

    assert_non_null(large);
    assert_code(pawl__postgres_locks_open(f->env, pawl__str(""), NULL, &p, &f->err), PAWL_EINVAL);
    assert_code(
        pawl__postgres_locks_open(f->env, pawl__str("postgres://:geheim@[x/"), NULL, &p, &f->err),
        PAWL_EINVAL);
    assert_null(strstr(f->err.msg, "geheim"));
    p = provider_at(f, "postgres://pawl@127.0.0.1:1/postgres");
    assert_code(try_it(f, p, &grant), PAWL_EUNAVAILABLE);
    assert_code(p->ops->wait(p, &grant, in_ms(f, 5000), &f->err), PAWL_EUNAVAILABLE);
    shut(f, p);
    p = provider_of(f);
    memset(large, 'x', PAWL_LOCK_NAME_MAX + 1);
    grant.name = pawl__str_make(large, PAWL_LOCK_NAME_MAX + 1);
    assert_code(try_it(f, p, &grant), PAWL_EINVAL);
    grant.name.len--;
    assert_ok(try_it(f, p, &grant), &f->err);
    assert_ok(release_it(f, p, &grant), &f->err);
    shut(f, p);
    free(large);
}

static int live_poorly(struct test_allocator *alloc, void *arg)
{
    struct fixture *f = arg;
    struct pawl_allocator rich = f->env->alloc;
    struct pawl_lock_provider *p = NULL;
    struct pawl_lock_grant grant = grant_of("n"), waited = grant_of("m");
    int status, given_back;

    f->env->alloc = alloc->base;
    status = pawl__postgres_locks_open(f->env, pawl__str(f->uri), NULL, &p, &f->err);
    if (status == PAWL_OK) {
        status = try_it(f, p, &grant);
        if (status == PAWL_OK) {
            status = p->ops->wait(p, &waited, in_ms(f, 30000), &f->err);
            if (status == PAWL_OK)
                status = release_it(f, p, &waited);
            else
                assert_null(waited.bound);
            given_back = release_it(f, p, &grant);
            status = status == PAWL_OK ? given_back : status;
        }
        if (grant.bound)
            p->ops->abandon(p, &grant);
        if (waited.bound)
            p->ops->abandon(p, &waited);
        p->ops->close(p);
    }
    f->env->alloc = rich;
    await_count(f, HELD, 0);
    /* Without memory in the middle a connection is given up, and with it what it held. */
    if (status == PAWL_EUNAVAILABLE || status == PAWL_ENOTFOUND)
        status = PAWL_ENOMEM;
    return status;
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    test_sweep_allocations(live_poorly, *state, 200);
}

#define with(test) cmocka_unit_test_setup_teardown(test, open_test, close_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with(one_of_two_holds_a_name_until_it_is_released),
        with(keys_are_as_the_other_library_has_them),
        with(a_number_and_a_pair_of_the_same_bits_are_different_locks),
        with(two_names_of_one_key_exclude_each_other_also_in_one_session),
        with(a_wait_is_granted_by_the_release),
        with(a_wait_ends_at_its_deadline_or_when_it_is_interrupted),
        with(a_cancel_while_it_is_granted_is_one_or_the_other),
        with(a_lock_granted_as_the_wait_times_out_is_held_or_released),
        with(a_lock_granted_as_the_wait_is_cancelled_is_released),
        with(more_wait_than_there_are_connections),
        with(the_end_of_a_connection_is_told_to_all_who_held_by_it),
        with(a_server_that_goes_away_ends_waits_and_locks_and_is_not_busy),
        with(a_server_that_stands_still_costs_no_lock),
        with(a_release_without_an_answer_can_be_repeated),
        with(one_who_is_cut_off_stops_to_trust_its_lock),
        with(what_a_provider_held_at_its_end_is_free_at_once),
        with(tokens_only_grow_whoever_makes_them_and_past_a_crash),
        with(who_holds_a_lock_can_be_asked),
        with(many_cycles_use_one_session_and_leak_none),
        with(no_descriptor_is_inherited),
        with(many_threads_exclude_each_other),
        with(a_stopped_environment_ends_calls),
        with(what_cannot_be_is_refused),
        with(running_out_of_memory_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, open_group, close_group);
}
