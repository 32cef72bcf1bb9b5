/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host remembers for a while: a value that is dear to find out, such as counts of a large
 * store, and that many ask for. Values are bytes without pointers.
 */
#ifndef PAWL_HOST_MEMO_H
#define PAWL_HOST_MEMO_H

#include <pawl/error.h>
#include <pawl/ext/env.h>

#include <stdbool.h>
#include <stddef.h>

#define PAWL_MEMO_BYTES_MAX 256u

struct pawl_memo {
    struct pawl_env *env;
    struct pawl_mutex *mutex; /* guards the rest; nothing else is taken under it */
    int64_t until_ns;
    size_t size; /* 0: nothing is remembered */
    unsigned char value[PAWL_MEMO_BYTES_MAX];
};

PAWL_MUST_CHECK int pawl__memo_init(struct pawl_memo *memo, struct pawl_env *env);
void pawl__memo_release(struct pawl_memo *memo); /* zeroed: allowed */

/*
 * True: *out is what is remembered. False: the caller finds it out and puts it here. When it is too
 * old one caller alone is told so: the others get the old value for another `grace_ns`.
 */
bool pawl__memo_get(struct pawl_memo *memo, void *out, size_t size, int64_t grace_ns);
/* Holds for so long from now; 0 or less: not at all. */
void pawl__memo_put(struct pawl_memo *memo, const void *value, size_t size, int64_t for_ns);

#endif
