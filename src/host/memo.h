/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host remembers for a while: values that are expensive to compute, such as counts of a
 * large store, and that many callers ask for. Values are bytes without pointers; a key names each.
 */
#ifndef PAWL_HOST_MEMO_H
#define PAWL_HOST_MEMO_H

#include <pawl/error.h>
#include <pawl/ext/env.h>
#include <pawl/str.h>

#include <stdbool.h>
#include <stddef.h>

/* Of one value: the counts of a page of definitions fit. */
#define PAWL_MEMO_BYTES_MAX 8192u
/* Of a key: a hash as text fits. */
#define PAWL_MEMO_KEY_MAX 64u
/* Values at a time. A further one replaces the one that expires first. */
#define PAWL_MEMO_ENTRIES_MAX 16u

struct pawl_memo_entry {
    char key[PAWL_MEMO_KEY_MAX + 1];
    int64_t until_ns;
    size_t size; /* 0: free */
    void *value;
};

struct pawl_memo {
    struct pawl_env *env;
    struct pawl_mutex *mutex; /* guards the rest; nothing else is locked under it */
    struct pawl_memo_entry entries[PAWL_MEMO_ENTRIES_MAX];
};

PAWL_MUST_CHECK int pawl__memo_init(struct pawl_memo *memo, struct pawl_env *env);
void pawl__memo_release(struct pawl_memo *memo); /* zeroed: allowed */

/*
 * True: *out is the remembered value. False: the caller computes it and puts it here. When a value
 * expires, one caller gets false; the others get the old value for another `grace_ns`.
 */
bool pawl__memo_get(struct pawl_memo *memo, struct pawl_str key, void *out, size_t size,
                    int64_t grace_ns);
/* Remembers a value for that long from now; 0 or less: forgets it. Without memory nothing is
 * remembered. */
void pawl__memo_put(struct pawl_memo *memo, struct pawl_str key, const void *value, size_t size,
                    int64_t for_ns);

#endif
