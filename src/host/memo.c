/* SPDX-License-Identifier: Apache-2.0 */
/* What a host remembers for a while; see memo.h. */
#include "host/memo.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/str.h"

#include <string.h>

int pawl__memo_init(struct pawl_memo *memo, struct pawl_env *env)
{
    *memo = (struct pawl_memo){.env = env};
    return pawl_mutex_new(env, "memo", &memo->mutex);
}

static void forget(struct pawl_memo *memo, struct pawl_memo_entry *entry)
{
    if (entry->size > 0)
        pawl__free(&memo->env->alloc, entry->value, entry->size);
    *entry = (struct pawl_memo_entry){.size = 0};
}

void pawl__memo_release(struct pawl_memo *memo)
{
    for (size_t i = 0; memo->env && i < PAWL_MEMO_ENTRIES_MAX; i++)
        forget(memo, &memo->entries[i]);
    if (memo->mutex)
        pawl_mutex_free(memo->env, memo->mutex);
    memo->mutex = NULL;
}

static struct pawl_memo_entry *find_entry(struct pawl_memo *memo, struct pawl_str key)
{
    for (size_t i = 0; i < PAWL_MEMO_ENTRIES_MAX; i++) {
        if (memo->entries[i].size > 0 && pawl__str_is(key, memo->entries[i].key))
            return &memo->entries[i];
    }
    return NULL;
}

/* A free entry, or the one that expires first. */
static struct pawl_memo_entry *choose_entry(struct pawl_memo *memo)
{
    struct pawl_memo_entry *chosen = &memo->entries[0];

    for (size_t i = 1; i < PAWL_MEMO_ENTRIES_MAX && chosen->size > 0; i++) {
        if (memo->entries[i].size == 0 || memo->entries[i].until_ns < chosen->until_ns)
            chosen = &memo->entries[i];
    }
    return chosen;
}

bool pawl__memo_get(struct pawl_memo *memo, struct pawl_str key, void *out, size_t size,
                    int64_t grace_ns)
{
    int64_t now_ns = pawl_env_monotonic_ns(memo->env);
    struct pawl_memo_entry *entry;
    bool is_known = false;

    if (pawl_mutex_lock(memo->env, memo->mutex) != PAWL_OK)
        return false;
    entry = find_entry(memo, key);
    if (entry && entry->size == size) {
        is_known = entry->until_ns > now_ns;
        if (is_known)
            memcpy(out, entry->value, size);
        else
            entry->until_ns = now_ns + grace_ns;
    }
    pawl_mutex_unlock(memo->env, memo->mutex);
    return is_known;
}

static void store_value(struct pawl_memo *memo, struct pawl_str key, const void *value, size_t size,
                        int64_t until_ns)
{
    struct pawl_memo_entry *entry = choose_entry(memo);
    void *copy = pawl__alloc(&memo->env->alloc, size);

    if (!copy)
        return;
    forget(memo, entry);
    memcpy(copy, value, size);
    memcpy(entry->key, key.ptr, key.len);
    entry->value = copy;
    entry->size = size;
    entry->until_ns = until_ns;
}

void pawl__memo_put(struct pawl_memo *memo, struct pawl_str key, const void *value, size_t size,
                    int64_t for_ns)
{
    int64_t now_ns = pawl_env_monotonic_ns(memo->env);
    struct pawl_memo_entry *old;

    PAWL_ASSERT(size > 0 && size <= PAWL_MEMO_BYTES_MAX);
    PAWL_ASSERT(key.len <= PAWL_MEMO_KEY_MAX);
    if (pawl_mutex_lock(memo->env, memo->mutex) != PAWL_OK)
        return;
    old = find_entry(memo, key);
    if (old)
        forget(memo, old);
    if (for_ns > 0)
        store_value(memo, key, value, size, now_ns + for_ns);
    pawl_mutex_unlock(memo->env, memo->mutex);
}
