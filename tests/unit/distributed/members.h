/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of a cluster in one process: nodes with a guard each, on one database and one space of
 * locks, whose lock service fails as a test wants. The fixture's own node has no guard.
 */
#ifndef PAWL_TESTS_UNIT_DISTRIBUTED_MEMBERS_H
#define PAWL_TESTS_UNIT_DISTRIBUTED_MEMBERS_H

#include "distributed/distributed.h"
#include "locks/providers.h"
#include "unit/runtime/nodes.h"

#include <pthread.h>
#include <stdatomic.h>

#define MS INT64_C(1000000)

/* What a log has said: lines, and how many of them had a text. */
struct said {
    pthread_mutex_t mutex;
    char text[16384];
    struct pawl_log log;
};

static inline void say_line(void *ctx, const char *line, size_t size)
{
    struct said *said = ctx;
    size_t len;

    (void)pthread_mutex_lock(&said->mutex);
    len = strlen(said->text);
    if (len + size < sizeof said->text)
        memcpy(said->text + len, line, size);
    (void)pthread_mutex_unlock(&said->mutex);
}

static inline unsigned said_count(struct said *said, const char *what)
{
    unsigned count = 0;

    (void)pthread_mutex_lock(&said->mutex);
    for (const char *at = said->text; (at = strstr(at, what)) != NULL; at++)
        count++;
    (void)pthread_mutex_unlock(&said->mutex);
    return count;
}

/* The next calls of a kind fail so. */
struct plan {
    enum pawl_lock_call call;
    struct pawl_lock_fault_order order;
    atomic_uint left;  /* that are to fail */
    atomic_uint calls; /* of the kind, so far */
};

static inline void follow_plan(void *ctx, enum pawl_lock_call call,
                               struct pawl_lock_fault_order *order)
{
    struct plan *plan = ctx;

    if (call != plan->call)
        return;
    (void)atomic_fetch_add(&plan->calls, 1);
    if (atomic_load(&plan->left) == 0)
        return;
    (void)atomic_fetch_sub(&plan->left, 1);
    *order = plan->order;
}

static inline void plan_failures(struct plan *plan, enum pawl_lock_call call, unsigned count,
                                 enum pawl_lock_fault kind, int code)
{
    plan->call = call;
    plan->order = (struct pawl_lock_fault_order){.kind = kind, .code = code};
    atomic_store(&plan->calls, 0);
    atomic_store(&plan->left, count);
}

struct member {
    struct plan plan;
    struct said said;
    struct pawl_locks *locks;
    struct pawl_distribution distribution;
    struct pawl_guard *guard;
    struct node node;
};

/* Waits are short: they are not what is looked at. */
static inline void member_open(struct fixture *f, struct pawl_lock_space *space,
                               struct member *member, const char *id)
{
    const struct pawl_lock_fault_hooks hooks = {follow_plan, &member->plan};
    struct pawl_lock_provider *inner, *provider;
    struct pawl_log_config log = {
        .env = f->env, .sink = {say_line, &member->said}, .level = PAWL_LOG_INFO};

    memset(member, 0, sizeof *member);
    (void)pthread_mutex_init(&member->said.mutex, NULL);
    pawl_log_init(&member->said.log, &log);
    assert_ok(pawl__memory_locks_open(space, f->env, 0, &inner, &f->err), &f->err);
    assert_ok(pawl__fault_locks_new(f->env, inner, &hooks, &provider, &f->err), &f->err);
    assert_ok(pawl__locks_new(f->env, provider, NULL, &member->locks, &f->err), &f->err);
    pawl__distribution_init(&member->distribution, f->env, member->locks);
    member->distribution.log = &member->said.log;
    member->distribution.retry.delay_ns = MS;
    assert_ok(pawl__distributed_guard_new(&member->distribution, &member->guard, &f->err), &f->err);
    f->guard = member->guard;
    node_open(f, &member->node, id);
    f->guard = NULL;
}

static inline void member_close(struct member *member)
{
    node_close(&member->node);
    pawl__distributed_guard_free(member->guard);
    pawl__locks_free(member->locks);
    (void)pthread_mutex_destroy(&member->said.mutex);
}

/* Another guard, after the distribution was changed; the node is opened anew. */
static inline void member_reguard(struct fixture *f, struct member *member, const char *id)
{
    node_close(&member->node);
    pawl__distributed_guard_free(member->guard);
    assert_ok(pawl__distributed_guard_new(&member->distribution, &member->guard, &f->err), &f->err);
    f->guard = member->guard;
    node_open(f, &member->node, id);
    f->guard = NULL;
}

struct cluster {
    struct fixture *f;
    struct pawl_lock_space *space;
    struct member a, b;
    struct pawl_locks *outside; /* of somebody else */
};

static inline int set_up_cluster(void **state)
{
    struct cluster *c = calloc(1, sizeof *c);
    struct pawl_lock_provider *provider;
    void *fixture;

    assert_non_null(c);
    assert_int_equal(set_up_running(&fixture), 0);
    c->f = fixture;
    assert_ok(pawl__lock_space_new(c->f->env, &c->space, &c->f->err), &c->f->err);
    member_open(c->f, c->space, &c->a, "one");
    member_open(c->f, c->space, &c->b, "two");
    assert_ok(pawl__memory_locks_open(c->space, c->f->env, 0, &provider, &c->f->err), &c->f->err);
    assert_ok(pawl__locks_new(c->f->env, provider, NULL, &c->outside, &c->f->err), &c->f->err);
    *state = c;
    return 0;
}

static inline int tear_down_cluster(void **state)
{
    struct cluster *c = *state;
    void *fixture = c->f;

    pawl__locks_free(c->outside);
    member_close(&c->a);
    member_close(&c->b);
    pawl__lock_space_free(c->space);
    assert_int_equal(tear_down(&fixture), 0);
    free(c);
    return 0;
}

/* Somebody else has it. */
static inline struct pawl_lock hold(struct cluster *c, const char *name)
{
    struct pawl_lock lock;

    assert_ok(pawl__locks_try(c->outside, pawl__str(name), 0, &lock, &c->f->err), &c->f->err);
    return lock;
}

static inline void let_go(struct cluster *c, struct pawl_lock lock)
{
    assert_ok(pawl__locks_release(c->outside, lock, &c->f->err), &c->f->err);
}

#define CLUSTER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_cluster, tear_down_cluster)

#endif
