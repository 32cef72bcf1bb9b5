/* SPDX-License-Identifier: Apache-2.0 */
/* The provider on SQL Server, on the double: what is its own and not in the contract suite. */
#include "locks/sqlserver.h"

#include "lib/test.h"
#include "os/shifted_env.h"
#include "servers/tds.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define MS INT64_C(1000000)
#define MINUTE (60000 * MS)

struct fixture {
    struct test_tds server;
    struct pawl_env *env;
    struct pawl_lock_provider *a, *b; /* two processes */
    struct pawl_mutex *mutex;
    struct pawl_cond *cond;
    struct pawl_lock_grant *lost; /* what a was told last */
    size_t lost_count;
    unsigned owner_count;
    struct pawl_error err;
};

static void on_lost(void *ctx, struct pawl_lock_grant *grant)
{
    struct fixture *f = ctx;

    assert_int_equal(pawl_mutex_lock(f->env, f->mutex), PAWL_OK);
    f->lost = grant;
    f->lost_count++;
    pawl_cond_broadcast(f->env, f->cond);
    pawl_mutex_unlock(f->env, f->mutex);
}

static void await_lost(struct fixture *f, size_t count)
{
    int64_t until_ns = pawl_env_monotonic_ns(f->env) + MINUTE;

    assert_int_equal(pawl_mutex_lock(f->env, f->mutex), PAWL_OK);
    while (f->lost_count < count)
        assert_int_equal(pawl_cond_wait(f->env, f->cond, f->mutex, until_ns), PAWL_OK);
    pawl_mutex_unlock(f->env, f->mutex);
}

static int64_t soon(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + 10000 * MS;
}

static struct pawl_lock_provider *open_at(struct fixture *f, const char *options)
{
    const struct pawl_lock_listener listener = {on_lost, NULL, f};
    struct pawl_lock_provider *provider = NULL;
    char uri[256];

    (void)test_tds_uri(&f->server, options, uri, sizeof uri);
    assert_ok(pawl__sqlserver_locks_open(f->env, pawl__str(uri), &provider, &f->err), &f->err);
    assert_ok(provider->ops->listen(provider, &listener, &f->err), &f->err);
    return provider;
}

static int open_server(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (!f)
        return -1;
    *state = f;
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    assert_int_equal(pawl_mutex_new(f->env, "test", &f->mutex), PAWL_OK);
    assert_int_equal(pawl_cond_new(f->env, "test", &f->cond), PAWL_OK);
    test_tds_start(&f->server, TEST_TDS_PLAIN);
    return 0;
}

static int close_server(void **state)
{
    struct fixture *f = *state;

    test_tds_stop(&f->server);
    pawl_cond_free(f->env, f->cond);
    pawl_mutex_free(f->env, f->mutex);
    pawl_system_env_close(f->env);
    free(f);
    return 0;
}

static int open_two(void **state)
{
    struct fixture *f = *state;

    f->lost_count = 0;
    f->a = open_at(f, "keepalive=1&patience=1");
    f->b = open_at(f, "connections=3&patience=1");
    return 0;
}

/* Whatever a test did, nothing is left at the server. */
static int close_two(void **state)
{
    struct fixture *f = *state;

    f->a->ops->close(f->a);
    f->b->ops->close(f->b);
    (void)test_tds_tell(&f->server, "await sessions 0");
    (void)test_tds_tell(&f->server, "await waiting 0");
    return 0;
}

static struct pawl_lock_grant *grant_for(struct fixture *f, const char *name, uint32_t flags)
{
    struct pawl_lock_grant *grant = calloc(1, sizeof *grant);

    assert_non_null(grant);
    grant->name = pawl__str(name);
    grant->flags = flags;
    (void)snprintf(grant->owner, sizeof grant->owner, "host_1_%032x", ++f->owner_count);
    return grant;
}

static int try_lock(struct fixture *f, struct pawl_lock_provider *p, struct pawl_lock_grant *grant)
{
    return p->ops->try_(p, grant, soon(f), &f->err);
}

static int release(struct fixture *f, struct pawl_lock_provider *p, struct pawl_lock_grant *grant)
{
    int status = p->ops->release(p, grant, soon(f), &f->err);

    if (status == PAWL_OK || status == PAWL_ENOTFOUND)
        free(grant);
    return status;
}

/* ---- waiting on a thread ----------------------------------------------------------------- */

struct waiting {
    struct fixture *f;
    struct pawl_lock_provider *provider;
    struct pawl_lock_grant *grant;
    int64_t deadline_ns;
    struct pawl_thread *thread;
    int status;
    struct pawl_error err;
};

static void run_wait(void *arg)
{
    struct waiting *w = arg;

    w->status = w->provider->ops->wait(w->provider, w->grant, w->deadline_ns, &w->err);
}

static void begin_wait(struct waiting *w, struct fixture *f, struct pawl_lock_provider *provider,
                       const char *name)
{
    *w = (struct waiting){f, provider, grant_for(f, name, 0), PAWL_FOREVER, NULL, 0, {0}};
    assert_ok(pawl_thread_start(f->env, "waiter", run_wait, w, &w->thread, &f->err), &f->err);
}

static int end_wait(struct waiting *w)
{
    pawl_thread_join(w->f->env, w->thread);
    return w->status;
}

/* What a machine without a processor did not hear in time is asked for again. */
static void end_granted(struct waiting *w)
{
    int tries = 0;

    for ((void)end_wait(w); w->status == PAWL_EUNAVAILABLE && tries < 30; tries++)
        run_wait(w);
    assert_ok(w->status, &w->err);
}

/* ---- tests ------------------------------------------------------------------------------- */

static void many_locks_share_a_session_and_others_are_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *grants[20], *other = grant_for(f, "lock 7", 0);
    char names[20][16];

    for (int i = 0; i < 20; i++) {
        (void)snprintf(names[i], sizeof names[i], "lock %d", i);
        grants[i] = grant_for(f, names[i], 0);
        assert_ok(try_lock(f, f->a, grants[i]), &f->err);
        assert_true(grants[i]->valid_until_ns > pawl_env_monotonic_ns(f->env));
        assert_true(grants[i]->valid_until_ns < pawl_env_monotonic_ns(f->env) + 15000 * MS);
    }
    assert_string_equal(test_tds_tell(&f->server, "sessions"), "1");
    assert_code(try_lock(f, f->b, other), PAWL_EBUSY);
    assert_code(try_lock(f, f->a, other), PAWL_EBUSY); /* the server would let us have it twice */
    for (int i = 0; i < 20; i++)
        assert_ok(release(f, f->a, grants[i]), &f->err);
    assert_ok(try_lock(f, f->b, other), &f->err);
    assert_ok(release(f, f->b, other), &f->err);
}

static void names_of_all_kinds_are_locks(void **state)
{
    struct fixture *f = *state;
    char longest[1001] = "", quotes[] = "it's 'quoted' \\ [x]";
    const char *names[] = {"", quotes, "\xe6\xbc\xa2 \xf0\x9f\x98\x80", "Case", "case", longest};

    memset(longest, 'a', 1000);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct pawl_lock_grant *mine = grant_for(f, names[i], PAWL_LOCK_WANT_TOKEN);
        struct pawl_lock_grant *other = grant_for(f, names[i], 0);
        struct pawl_lock_holder holder;

        assert_ok(try_lock(f, f->a, mine), &f->err);
        assert_code(try_lock(f, f->b, other), PAWL_EBUSY);
        assert_ok(f->b->ops->inspect(f->b, mine->name, &holder, soon(f), &f->err), &f->err);
        assert_true(holder.held);
        assert_ok(release(f, f->a, mine), &f->err);
        assert_ok(f->b->ops->inspect(f->b, other->name, &holder, soon(f), &f->err), &f->err);
        assert_false(holder.held);
        assert_ok(try_lock(f, f->b, other), &f->err);
        assert_ok(release(f, f->b, other), &f->err);
    }
}

static void a_waiter_gets_the_lock_from_the_server_when_it_is_free(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *first = grant_for(f, "queue", 0);
    struct waiting w;

    assert_ok(try_lock(f, f->a, first), &f->err);
    begin_wait(&w, f, f->b, "queue");
    (void)test_tds_tell(&f->server, "await waiting 1");
    assert_ok(release(f, f->a, first), &f->err);
    end_granted(&w);
    assert_ok(release(f, f->b, w.grant), &f->err);
}

static void a_release_is_never_behind_a_waiter(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *theirs = grant_for(f, "one", 0), *mine = grant_for(f, "two", 0);
    struct waiting w;

    assert_ok(try_lock(f, f->a, theirs), &f->err);
    assert_ok(try_lock(f, f->b, mine), &f->err);
    begin_wait(&w, f, f->b, "one");
    (void)test_tds_tell(&f->server, "await waiting 1");
    assert_ok(release(f, f->b, mine), &f->err);
    assert_ok(release(f, f->a, theirs), &f->err);
    end_granted(&w);
    assert_ok(release(f, f->b, w.grant), &f->err);
}

static void too_many_waiters_are_told_busy_and_attempts_go_on(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *theirs = grant_for(f, "one", 0), *mine = grant_for(f, "two", 0);
    struct pawl_lock_grant *late = grant_for(f, "one", 0);
    struct waiting w;

    assert_ok(try_lock(f, f->a, theirs), &f->err);
    begin_wait(&w, f, f->b, "one"); /* b has three sessions: one may wait */
    (void)test_tds_tell(&f->server, "await waiting 1");
    assert_code(f->b->ops->wait(f->b, late, PAWL_FOREVER, &f->err), PAWL_EBUSY);
    assert_ok(try_lock(f, f->b, mine), &f->err);
    assert_ok(release(f, f->b, mine), &f->err);
    f->b->ops->interrupt(f->b, w.grant);
    assert_int_equal(end_wait(&w), PAWL_ECANCELLED);
    free(w.grant);
    free(late);
    assert_ok(release(f, f->a, theirs), &f->err);
}

static void an_attention_ends_a_wait_and_the_session_goes_on(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *theirs = grant_for(f, "held", 0);
    unsigned long before = strtoul(test_tds_tell(&f->server, "attentions"), NULL, 10);
    struct waiting w;

    assert_ok(try_lock(f, f->a, theirs), &f->err);
    begin_wait(&w, f, f->b, "held");
    (void)test_tds_tell(&f->server, "await waiting 1");
    f->b->ops->interrupt(f->b, w.grant);
    assert_int_equal(end_wait(&w), PAWL_ECANCELLED);
    (void)test_tds_tell(&f->server, "await attentions %lu", before + 1);
    assert_string_equal(test_tds_tell(&f->server, "waiting"), "0");
    assert_ok(release(f, f->a, theirs), &f->err);
    assert_ok(try_lock(f, f->b, w.grant), &f->err);
    assert_string_equal(test_tds_tell(&f->server, "sessions"), "2");
    assert_ok(release(f, f->b, w.grant), &f->err);
}

static void an_interrupt_before_the_wait_ends_the_wait(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *theirs = grant_for(f, "held", 0), *mine = grant_for(f, "held", 0);

    assert_ok(try_lock(f, f->a, theirs), &f->err);
    f->b->ops->interrupt(f->b, mine);
    assert_code(f->b->ops->wait(f->b, mine, PAWL_FOREVER, &f->err), PAWL_ECANCELLED);
    assert_string_equal(test_tds_tell(&f->server, "waiting"), "0");
    free(mine);
    assert_ok(release(f, f->a, theirs), &f->err);
}

/* A session that was given up is known to the server a little later; a lock that was kept stays. */
static void await_nobody(struct fixture *f, const char *question)
{
    int64_t until_ns = pawl_env_monotonic_ns(f->env) + INT64_C(60000000000);

    while (strcmp(test_tds_tell(&f->server, "%s", question), "nobody") != 0 &&
           pawl_env_monotonic_ns(f->env) < until_ns)
        assert_ok(pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + 10000000), NULL);
    assert_string_equal(test_tds_tell(&f->server, "%s", question), "nobody");
}

/* The lock came in the moment in which nobody wanted it any more: it must not stay. */
static void a_grant_that_meets_an_attention_is_given_back(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 40; i++) {
        struct pawl_lock_grant *theirs = grant_for(f, "raced", 0);
        struct waiting w;

        assert_ok(try_lock(f, f->a, theirs), &f->err);
        begin_wait(&w, f, f->b, "raced");
        (void)test_tds_tell(&f->server, "await waiting 1");
        if (i % 2)
            f->b->ops->interrupt(f->b, w.grant);
        assert_ok(release(f, f->a, theirs), &f->err);
        if (i % 2 == 0)
            f->b->ops->interrupt(f->b, w.grant);
        if (end_wait(&w) == PAWL_OK)
            assert_ok(release(f, f->b, w.grant), &f->err);
        else {
            /* A server without a processor: the session was given up, and ends soon. */
            assert_true(w.status == PAWL_ECANCELLED || w.status == PAWL_EUNAVAILABLE);
            free(w.grant);
        }
        await_nobody(f, "held raced");
    }
}

static void a_server_that_ignores_attentions_loses_that_session_only(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *theirs = grant_for(f, "held", 0), *mine = grant_for(f, "mine", 0);
    struct waiting w;

    assert_ok(try_lock(f, f->a, theirs), &f->err);
    assert_ok(try_lock(f, f->b, mine), &f->err);
    begin_wait(&w, f, f->b, "held");
    (void)test_tds_tell(&f->server, "await waiting 1");
    (void)test_tds_tell(&f->server, "deaf on");
    f->b->ops->interrupt(f->b, w.grant);
    assert_int_equal(end_wait(&w), PAWL_ECANCELLED);
    (void)test_tds_tell(&f->server, "deaf off");
    free(w.grant);
    assert_ok(release(f, f->b, mine), &f->err); /* was not lost */
    assert_ok(release(f, f->a, theirs), &f->err);
}

static void a_deadline_ends_a_wait_as_timed_out(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *theirs = grant_for(f, "held", 0), *mine = grant_for(f, "held", 0);

    assert_ok(try_lock(f, f->a, theirs), &f->err);
    assert_code(f->b->ops->wait(f->b, mine, pawl_env_monotonic_ns(f->env) + 30 * MS, &f->err),
                PAWL_ETIMEDOUT);
    assert_string_equal(test_tds_tell(&f->server, "waiting"), "0");
    free(mine);
    assert_ok(release(f, f->a, theirs), &f->err);
}

static void minus_999_with_timeout_0_is_busy_only_when_the_lock_is_held(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *theirs = grant_for(f, "held", 0), *mine = grant_for(f, "held", 0);
    struct pawl_lock_grant *other = grant_for(f, "free", 0);

    (void)test_tds_tell(&f->server, "zero-999 on");
    assert_ok(try_lock(f, f->a, theirs), &f->err);
    assert_code(try_lock(f, f->b, mine), PAWL_EBUSY);
    (void)test_tds_tell(&f->server, "zero-999 off");
    (void)test_tds_tell(&f->server, "answer -999");
    assert_code(try_lock(f, f->b, other), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(f->err.msg, "-999"));
    (void)test_tds_tell(&f->server, "answer 17"); /* unknown and positive: granted */
    assert_ok(try_lock(f, f->b, other), &f->err);
    assert_code(release(f, f->b, other), PAWL_ENOTFOUND); /* the double took nothing */
    free(mine);
    assert_ok(release(f, f->a, theirs), &f->err);
}

static void the_victim_of_a_deadlock_is_told_and_holds_nothing(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *mine = grant_for(f, "knot", 0);

    (void)test_tds_tell(&f->server, "answer -3");
    assert_code(try_lock(f, f->a, mine), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(f->err.msg, "deadlock"));
    (void)test_tds_tell(&f->server, "answer -2");
    assert_code(try_lock(f, f->a, mine), PAWL_EUNAVAILABLE);
    assert_ok(try_lock(f, f->a, mine), &f->err);
    assert_ok(release(f, f->a, mine), &f->err);
}

static void a_connection_reset_while_held_loses_its_locks_and_no_others(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *one = grant_for(f, "one", 0), *two = grant_for(f, "two", 0);
    struct pawl_lock_grant *three = grant_for(f, "three", 0), *again = grant_for(f, "one", 0);
    struct pawl_lock_grant *const renewed[] = {one};
    char spid[16];

    assert_ok(try_lock(f, f->a, one), &f->err);
    assert_ok(try_lock(f, f->a, two), &f->err);
    assert_ok(try_lock(f, f->b, three), &f->err);
    (void)snprintf(spid, sizeof spid, "%s", test_tds_tell(&f->server, "held one"));
    (void)test_tds_tell(&f->server, "kill %s", spid);
    await_lost(f, 2);
    assert_true(f->lost == one || f->lost == two);
    assert_ok(f->a->ops->renew(f->a, renewed, 1, soon(f), &f->err), &f->err);
    assert_int_equal(one->status, PAWL_ENOTFOUND);
    assert_code(release(f, f->a, one), PAWL_ENOTFOUND);
    assert_ok(try_lock(f, f->a, again), &f->err); /* on a session that is new */
    assert_code(release(f, f->a, two), PAWL_ENOTFOUND);
    assert_ok(release(f, f->a, again), &f->err);
    assert_ok(release(f, f->b, three), &f->err);
    assert_int_equal(f->lost_count, 2);
}

static void a_release_finds_out_that_the_connection_was_reset(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *mine = grant_for(f, "mine", 0), *again = grant_for(f, "mine", 0);
    int status;

    assert_ok(try_lock(f, f->a, mine), &f->err);
    (void)test_tds_tell(&f->server, "kill all");
    status = release(f, f->a, mine);
    assert_true(status == PAWL_OK || status == PAWL_ENOTFOUND);
    assert_ok(try_lock(f, f->b, again), &f->err);
    assert_ok(release(f, f->b, again), &f->err);
}

static void an_attempt_that_is_cut_off_is_unknown_and_can_be_released(void **state)
{
    struct fixture *f = *state;
    static const char *const when[] = {"request", "answer"};

    for (size_t i = 0; i < 2; i++) {
        struct pawl_lock_grant *mine = grant_for(f, "cut", 0), *other = grant_for(f, "cut", 0);

        (void)test_tds_tell(&f->server, "lose %s", when[i]);
        assert_code(try_lock(f, f->a, mine), PAWL_EUNKNOWN);
        assert_ok(release(f, f->a, mine), &f->err);
        (void)test_tds_tell(&f->server, "await sessions %zu", i);
        assert_ok(try_lock(f, f->b, other), &f->err);
        assert_ok(release(f, f->b, other), &f->err);
    }
}

static void a_silent_server_is_unavailable_and_takes_nothing(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *mine = grant_for(f, "mute", 0), *first = grant_for(f, "first", 0);

    assert_ok(try_lock(f, f->a, first), &f->err);
    (void)test_tds_tell(&f->server, "mute on");
    assert_code(f->a->ops->try_(f->a, mine, pawl_env_monotonic_ns(f->env) + 30 * MS, &f->err),
                PAWL_EUNAVAILABLE);
    (void)test_tds_tell(&f->server, "mute off");
    assert_string_equal(test_tds_tell(&f->server, "held mute"), "nobody");
    free(mine);
    (void)release(f, f->a, first);
}

static void who_is_cut_off_trusts_a_lock_only_for_a_while(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *mine = grant_for(f, "mine", 0);
    struct pawl_lock_grant *const grants[] = {mine};
    int64_t until_ns;

    assert_ok(try_lock(f, f->b, mine), &f->err);
    until_ns = mine->valid_until_ns;
    assert_ok(f->b->ops->renew(f->b, grants, 1, soon(f), &f->err), &f->err);
    assert_int_equal(mine->status, PAWL_OK);
    assert_true(mine->valid_until_ns > until_ns);
    until_ns = mine->valid_until_ns;
    (void)test_tds_tell(&f->server, "mute on");
    assert_ok(f->b->ops->renew(f->b, grants, 1, pawl_env_monotonic_ns(f->env) + 30 * MS, &f->err),
              &f->err);
    assert_int_not_equal(mine->status, PAWL_OK);
    assert_true(mine->valid_until_ns == until_ns);
    (void)test_tds_tell(&f->server, "mute off");
    (void)release(f, f->b, mine);
}

static void tokens_grow_across_sessions_and_processes(void **state)
{
    struct fixture *f = *state;
    uint64_t last = 0;

    for (int i = 0; i < 6; i++) {
        struct pawl_lock_provider *p = i % 2 ? f->b : f->a;
        struct pawl_lock_grant *mine = grant_for(f, "token", PAWL_LOCK_WANT_TOKEN);

        assert_ok(try_lock(f, p, mine), &f->err);
        assert_true(mine->token > last);
        last = mine->token;
        assert_ok(release(f, p, mine), &f->err);
    }
}

static void a_user_who_may_not_make_the_sequence_is_told_the_statement(void **state)
{
    struct fixture *f = *state;
    struct test_tds fresh;
    struct test_tds kept = f->server;
    struct pawl_lock_provider *provider;
    struct pawl_lock_grant *mine = grant_for(f, "token", PAWL_LOCK_WANT_TOKEN);

    test_tds_start(&fresh, TEST_TDS_PLAIN);
    (void)test_tds_tell(&fresh, "no-create on");
    f->server = fresh;
    provider = open_at(f, "");
    assert_code(try_lock(f, provider, mine), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "CREATE SEQUENCE dbo.pawl_lock_token"));
    assert_string_equal(test_tds_tell(&fresh, "held token"), "nobody");
    free(mine);
    provider->ops->close(provider);
    f->server = kept;
    test_tds_stop(&fresh);
}

static void the_keepalive_asks_only_sessions_that_hold_something(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *mine = grant_for(f, "mine", 0);

    /* A session that is dead without a word is found out by the question, one second from now. */
    assert_ok(try_lock(f, f->a, mine), &f->err);
    (void)test_tds_tell(&f->server, "mute on");
    await_lost(f, 1);
    assert_ptr_equal(f->lost, mine);
    (void)test_tds_tell(&f->server, "mute off");
    assert_code(release(f, f->a, mine), PAWL_ENOTFOUND);
}

static int show_key(void *ctx, const struct pawl_lock_holder *holder)
{
    char *out = ctx;

    (void)snprintf(out + strlen(out), 200 - strlen(out), "%s;", holder->key);
    return 0;
}

static void who_holds_what_is_shown_as_far_as_the_server_tells(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant *mine = grant_for(f, "mine", 0);
    struct pawl_lock_holder holder;
    struct pawl_lock_status status;
    char keys[200] = "", name[64];

    assert_ok(try_lock(f, f->a, mine), &f->err);
    assert_ok(f->a->ops->inspect(f->a, mine->name, &holder, soon(f), &f->err), &f->err);
    assert_true(holder.held);
    assert_string_equal(holder.owner, mine->owner);
    assert_ok(f->b->ops->inspect(f->b, mine->name, &holder, soon(f), &f->err), &f->err);
    assert_true(holder.held);
    assert_non_null(strstr(holder.owner, "session "));
    assert_ok(f->b->ops->list(f->b, 10, show_key, keys, soon(f), &f->err), &f->err);
    assert_string_equal(keys, "mine;");
    assert_ok(f->b->ops->status(f->b, &status, soon(f), &f->err), &f->err);
    assert_non_null(strstr(status.server, "SQL Server"));
    assert_non_null(strstr(status.warning, "not encrypted"));
    assert_ok(f->a->ops->map(f->a, pawl__str("it's"), name, sizeof name, &f->err), &f->err);
    assert_string_equal(name, "it's");
    assert_ok(release(f, f->a, mine), &f->err);
}

static void a_uri_is_read_or_refused_with_what_to_write(void **state)
{
    static const struct {
        const char *uri, *word;
    } wrong[] = {
        {"sqlserver:host", "//"},
        {"sqlserver://host/db", "user"},
        {"sqlserver://sa:x@/db", "host"},
        {"sqlserver://sa:x@host:0/db", "port"},
        {"sqlserver://sa:x@host:99999/db", "port"},
        {"sqlserver://sa:x@[::1/db", "]"},
        {"sqlserver://sa:%4@host/db", "%25"},
        {"sqlserver://sa:x@host/db?encript=off", "encript"},
        {"sqlserver://sa:x@host/db?encrypt=maybe", "neither on nor off"},
        {"sqlserver://sa:x@host/db?verify=some", "full, ca or none"},
        {"sqlserver://sa:x@host/db?connections=1", "2 to 64"},
        {"sqlserver://sa:x@host/db?trust=/a%3Bb", "FreeTDS"},
    };
    struct fixture *f = *state;
    struct pawl_lock_provider *provider = NULL;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_code(pawl__sqlserver_locks_open(f->env, pawl__str(wrong[i].uri), &provider, &f->err),
                    PAWL_EINVAL);
        if (!strstr(f->err.msg, wrong[i].word))
            fail_msg("%s: %s", wrong[i].uri, f->err.msg);
    }
}

static void an_untrusted_certificate_is_an_error_that_names_the_option(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *provider = NULL;
    struct pawl_lock_status status;
    struct test_tds secure;
    char uri[256];

    test_tds_start(&secure, TEST_TDS_TLS);
    (void)snprintf(uri, sizeof uri, "sqlserver://sa:p%%40ss%%20word@127.0.0.1:%u/locks",
                   (unsigned)secure.port);
    assert_ok(pawl__sqlserver_locks_open(f->env, pawl__str(uri), &provider, &f->err), &f->err);
    assert_code(provider->ops->status(provider, &status, soon(f), &f->err), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "?trust="));
    provider->ops->close(provider);
    (void)test_tds_uri(&secure, "", uri, sizeof uri);
    assert_ok(pawl__sqlserver_locks_open(f->env, pawl__str(uri), &provider, &f->err), &f->err);
    assert_ok(provider->ops->status(provider, &status, soon(f), &f->err), &f->err);
    assert_string_equal(status.warning, "");
    provider->ops->close(provider);
    test_tds_stop(&secure);
}

static int open_and_lock(struct test_allocator *alloc, void *arg)
{
    struct fixture *f = arg;
    struct pawl_lock_provider *provider = NULL;
    struct pawl_lock_grant grant = {.name = pawl__str("swept"), .owner = "host_1_2"};
    struct pawl_shifted_env env;
    char uri[256];
    int status;

    pawl__shifted_env_init(&env, f->env);
    env.base.alloc = alloc->base;
    (void)test_tds_uri(&f->server, "", uri, sizeof uri);
    status = pawl__sqlserver_locks_open(&env.base, pawl__str(uri), &provider, &f->err);
    if (status != PAWL_OK)
        return status;
    status = provider->ops->try_(provider, &grant, soon(f), &f->err);
    if (status == PAWL_OK)
        status = provider->ops->release(provider, &grant, soon(f), &f->err);
    provider->ops->close(provider);
    return status;
}

static void running_out_of_memory_is_an_error(void **state)
{
    test_sweep_allocations(open_and_lock, *state, 60);
}

#define ON_TWO(test) cmocka_unit_test_setup_teardown(test, open_two, close_two)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_TWO(many_locks_share_a_session_and_others_are_refused),
        ON_TWO(names_of_all_kinds_are_locks),
        ON_TWO(a_waiter_gets_the_lock_from_the_server_when_it_is_free),
        ON_TWO(a_release_is_never_behind_a_waiter),
        ON_TWO(too_many_waiters_are_told_busy_and_attempts_go_on),
        ON_TWO(an_attention_ends_a_wait_and_the_session_goes_on),
        ON_TWO(an_interrupt_before_the_wait_ends_the_wait),
        ON_TWO(a_grant_that_meets_an_attention_is_given_back),
        ON_TWO(a_server_that_ignores_attentions_loses_that_session_only),
        ON_TWO(a_deadline_ends_a_wait_as_timed_out),
        ON_TWO(minus_999_with_timeout_0_is_busy_only_when_the_lock_is_held),
        ON_TWO(the_victim_of_a_deadlock_is_told_and_holds_nothing),
        ON_TWO(a_connection_reset_while_held_loses_its_locks_and_no_others),
        ON_TWO(a_release_finds_out_that_the_connection_was_reset),
        ON_TWO(an_attempt_that_is_cut_off_is_unknown_and_can_be_released),
        ON_TWO(a_silent_server_is_unavailable_and_takes_nothing),
        ON_TWO(who_is_cut_off_trusts_a_lock_only_for_a_while),
        ON_TWO(tokens_grow_across_sessions_and_processes),
        ON_TWO(a_user_who_may_not_make_the_sequence_is_told_the_statement),
        ON_TWO(the_keepalive_asks_only_sessions_that_hold_something),
        ON_TWO(who_holds_what_is_shown_as_far_as_the_server_tells),
        cmocka_unit_test(a_uri_is_read_or_refused_with_what_to_write),
        cmocka_unit_test(an_untrusted_certificate_is_an_error_that_names_the_option),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests_name("locks/sqlserver", tests, open_server, close_server);
}
