/* SPDX-License-Identifier: Apache-2.0 */
/* What a host remembers for a while; see memo.h. */
#include "host/memo.h"

#include "base/assert.h"

#include <string.h>

int pawl__memo_init(struct pawl_memo *memo, struct pawl_env *env)
{
    *memo = (struct pawl_memo){.env = env};
    return pawl_mutex_new(env, "memo", &memo->mutex);
}

void pawl__memo_release(struct pawl_memo *memo)
{
    if (memo->mutex)
        pawl_mutex_free(memo->env, memo->mutex);
    memo->mutex = NULL;
}

bool pawl__memo_get(struct pawl_memo *memo, void *out, size_t size, int64_t grace_ns)
{
    int64_t now_ns = pawl_env_monotonic_ns(memo->env);
    bool is_known;

    if (pawl_mutex_lock(memo->env, memo->mutex) != PAWL_OK)
        return false;
    is_known = memo->size == size && memo->until_ns > now_ns;
    if (is_known)
        memcpy(out, memo->value, size);
    else
        memo->until_ns = now_ns + grace_ns;
    pawl_mutex_unlock(memo->env, memo->mutex);
    return is_known;
}

void pawl__memo_put(struct pawl_memo *memo, const void *value, size_t size, int64_t for_ns)
{
    int64_t now_ns = pawl_env_monotonic_ns(memo->env);

    PAWL_ASSERT(size <= PAWL_MEMO_BYTES_MAX);
    if (pawl_mutex_lock(memo->env, memo->mutex) != PAWL_OK)
        return;
    memo->size = for_ns > 0 ? size : 0;
    memo->until_ns = for_ns > 0 ? now_ns + for_ns : 0;
    memcpy(memo->value, value, size);
    pawl_mutex_unlock(memo->env, memo->mutex);
}
