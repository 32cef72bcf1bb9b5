/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of lock providers: the cases that are part of the library (locks/check.h), and those
 * that need other processes, killed and paused. One program per provider says how to reach its
 * service and calls lock_contract_main().
 */
#ifndef PAWL_TESTS_CONTRACT_LOCK_SUITE_H
#define PAWL_TESTS_CONTRACT_LOCK_SUITE_H

#include "lib/test.h"
#include "locks/providers.h"

struct lock_contract {
    const char *title;
    /* What `--lock` takes. "": `open` is given, and no other process can take part. */
    char uri[512];
    int64_t ttl_ms; /* of leases, where cases wait for their end: short; 0: there are none */
    /* NULL: by the URI. */
    int (*open)(void *ctx, int64_t ttl_ms, struct pawl_lock_provider **out, struct pawl_error *err);
    void *ctx; /* of all functions here */
    /* A URI at which there is no service; attempts must not look like somebody holding the lock.
     * "": none. */
    char down_uri[512];
    /*
     * Takes the lock away from whoever holds it, as an administrator would: breaks its connection,
     * deletes its key. NULL: there is no such way.
     */
    void (*take_away)(void *ctx, struct pawl_env *env, struct pawl_str name);
    uint32_t workers; /* as in struct pawl_lock_check */
    int repeats;      /* of what must not leak; 0: 10,000, fewer where each takes long */
};

/* Runs all of them; answers what main() answers. */
int lock_contract_main(struct lock_contract *contract);

/* ---- another process that holds a lock ----------------------------------------------------- */

struct lock_holder {
    int pid;
    int to, from; /* pipes */
};

/* Starts one; it does nothing until it is told to. */
void lock_holder_start(struct lock_holder *holder, const char *uri, int64_t ttl_ms);
/*
 * "take NAME" answers "held TOKEN" (0 without tokens) or "busy"; "wait NAME" the same but waits;
 * "give" answers "given" or "lost"; "state" answers "held", "suspect", "lost" or "gone". The answer
 * is without its newline and valid until the next call; "" when the process is gone.
 */
const char *lock_holder_ask(struct lock_holder *holder, const char *line);
void lock_holder_tell(struct lock_holder *holder, const char *line);
const char *lock_holder_hear(struct lock_holder *holder);
void lock_holder_signal(struct lock_holder *holder, int signal_number);
/* Closes the pipes, upon which it ends without giving anything back, and waits for it. */
void lock_holder_end(struct lock_holder *holder);

#endif
