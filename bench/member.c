/* SPDX-License-Identifier: Apache-2.0 */
/* See member.h. */
#include "member.h"

static struct pawl_lock_provider *open_provider(struct pawl_env *env, enum member_locks how,
                                                const char *uri)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock_provider *provider = NULL;
    int status;

    if (how == MEMBER_TICKETS)
        status = pawl__postgres_locks_open(env, pawl__str(uri), NULL, &provider, &err);
    else if (how == MEMBER_REDIS)
        status = pawl__redis_locks_open(env, pawl__str(uri), NULL, &provider, &err);
    else
        status = pawl__file_locks_open(env, pawl__str(uri), NULL, &provider, &err);
    bench_need(status, &err, uri);
    bench_need(pawl__trace_locks_new(env, provider, &provider, &err), &err, "trace");
    return provider;
}

static void open_locks(struct member *member, struct pawl_env *env, const char *uri)
{
    struct pawl_distribution distribution;
    struct pawl_error err = PAWL_ERROR_INIT;

    member->provider = open_provider(env, member->how, uri);
    bench_need(pawl__locks_new(env, member->provider, NULL, &member->locks, &err), &err, "locks");
    pawl__distribution_init(&distribution, env, member->locks);
    distribution.tickets = member->how == MEMBER_TICKETS;
    bench_need(pawl__distributed_guard_new(&distribution, &member->guard, &err), &err, "guard");
    bench_need(pawl__distributed_queue_worker_new(&distribution, &member->queue, &err), &err,
               "queue worker");
}

void member_open(struct member *member, struct pawl_env *env, struct pawl_store *store, bool trace,
                 enum member_locks how, const char *uri)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    *member = (struct member){.how = how};
    if (trace) {
        bench_need(pawl__trace_store_new(env, store, &member->traced, &err), &err, "trace");
        store = member->traced;
    }
    if (how != MEMBER_LOCAL)
        open_locks(member, env, uri);
    bench_node_open_guarded(&member->node, env, store, 1, member->guard, member->queue);
}

void member_close(struct member *member)
{
    bench_node_close(&member->node);
    pawl__queue_worker_close(member->queue);
    pawl__distributed_guard_free(member->guard);
    pawl__locks_free(member->locks);
}

void member_look(struct member *member, struct member_counts *out)
{
    *out = (struct member_counts){0};
    if (member->traced)
        pawl__trace_store_counts(member->traced, &out->store);
    if (member->provider)
        pawl__trace_locks_counts(member->provider, &out->locks);
}

uint64_t member_lock_calls(const struct member_counts *before, const struct member_counts *after)
{
    static const enum pawl_lock_call calls[] = {PAWL_LOCK_CALL_TRY, PAWL_LOCK_CALL_WAIT,
                                                PAWL_LOCK_CALL_RENEW, PAWL_LOCK_CALL_RELEASE};
    uint64_t count = 0;

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        count += after->locks.calls[calls[i]] - before->locks.calls[calls[i]];
    return count;
}
