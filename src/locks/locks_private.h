/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of struct pawl_locks share: locks.c (making it, handles), waiters.c (acquiring and
 * releasing), keeper.c (renewing, giving back, losing).
 *
 * A *hold* is one attempt and its result, with its grant; an *entry* is a name that a thread
 * here holds or waits for, with its waiters in order. Only the first of them, and only while
 * nobody here holds the name, talks to the provider about it.
 *
 * One mutex guards all of it but what is atomic; no call to the provider is made under it,
 * interrupt() excepted. A hold belongs to
 *
 *     the thread in acquire() --> held --> the thread in release()
 *                 \                              \
 *                  \--(outcome unknown)--> owed <--(not released)
 *
 * and while `in_call` is set the keeper is in a call with its grant: others wait for `calmed`.
 */
#ifndef PAWL_LOCKS_LOCKS_PRIVATE_H
#define PAWL_LOCKS_LOCKS_PRIVATE_H

#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "locks/locks.h"

#include <stdatomic.h>

#define PAWL_LOCK_MS INT64_C(1000000)

/* ---- due times --------------------------------------------------------------------------- */

/* Something that is due; in at most one heap, the earliest on top. */
struct pawl_lock_due {
    int64_t at_ns;
    size_t place; /* in the heap, from 1; 0: in none */
};

struct pawl_lock_heap {
    struct pawl_lock_due **at;
    size_t count, cap;
};

/* So that `count` fit; nothing else allocates. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__lock_heap_reserve(struct pawl_lock_heap *heap,
                                            const struct pawl_allocator *alloc, size_t count);
void pawl__lock_heap_release(struct pawl_lock_heap *heap, const struct pawl_allocator *alloc);
/* Puts it in, or moves it when it is in already. */
void pawl__lock_heap_set(struct pawl_lock_heap *heap, struct pawl_lock_due *due, int64_t at_ns);
void pawl__lock_heap_remove(struct pawl_lock_heap *heap, struct pawl_lock_due *due);
static inline struct pawl_lock_due *pawl__lock_heap_top(const struct pawl_lock_heap *heap)
{
    return heap->count > 0 ? heap->at[0] : NULL;
}

/* ---- handles ----------------------------------------------------------------------------- */

/*
 * What a handle's number points to; read without the mutex. `number` is 0 while nobody holds it and
 * is written last when somebody does, so a reader that reads it before and after the rest has read
 * what belongs to it.
 */
struct pawl_lock_slot {
    _Atomic(uint64_t) number;
    _Atomic(int64_t) valid_until_ns;
    _Atomic(int64_t) lease_ns; /* how long a renewal lasts; 0: no lease */
    _Atomic(uint64_t) token;
    _Atomic(bool) lost;
    uint32_t generation; /* this and below under the mutex */
    uint32_t next_free;  /* index + 1 */
    struct pawl_lock_hold *hold;
};

#define PAWL_LOCK_SLOTS_PER_CHUNK 256u

/* ---- holds and entries ------------------------------------------------------------------- */

struct pawl_lock_entry {
    struct pawl_list waiters;    /* of holds, the first come first */
    struct pawl_lock_hold *hold; /* who holds it here; NULL: nobody */
    uint64_t wakes;              /* how often the provider said that it may be free */
    size_t name_len;
    char name[];
};

/* A condition that a waiter sleeps on; kept for the next one. */
struct pawl_lock_spot {
    struct pawl_cond *cond;
    struct pawl_lock_spot *next;
};

enum pawl_lock_stage {
    PAWL_LOCK_STAGE_TRYING, /* a thread is in acquire() with it */
    PAWL_LOCK_STAGE_HELD,
    PAWL_LOCK_STAGE_LOST,  /* its handle is not released yet */
    PAWL_LOCK_STAGE_GOING, /* a thread is in release() with it */
    PAWL_LOCK_STAGE_OWED,
};

struct pawl_lock_hold {
    struct pawl_lock_grant grant; /* first: a grant is cast to this */
    enum pawl_lock_stage stage;
    struct pawl_lock_entry *entry;     /* NULL: owed, or lost */
    uint32_t slot;                     /* index + 1; 0: none */
    struct pawl_list_link link;        /* pawl_locks.holds, always */
    struct pawl_list_link turn_link;   /* TRYING: entry->waiters */
    struct pawl_list_link cancel_link; /* TRYING: pawl_locks.cancellable */
    struct pawl_list_link tell_link;   /* pawl_locks.to_tell */
    struct pawl_lock_cancel *cancel;   /* TRYING; NULL: none */
    struct pawl_lock_spot *spot;       /* TRYING: where it sleeps; NULL: it has not yet */
    struct pawl_lock_due renewal;      /* HELD: when to renew it */
    struct pawl_lock_due debt;         /* OWED: when to try again */
    struct pawl_lock_due end;          /* HELD: when it is lost unless renewed */
    int64_t owed_until_ns;             /* after which giving back is pointless */
    int64_t delay_ns;                  /* of the last attempt to release it */
    bool in_wait;                      /* in the provider's wait() */
    bool in_call;                      /* the keeper is in a call with its grant */
    bool maybe;                        /* the service may hold it for us */
    bool broken;                       /* the provider says that it is not held any more */
    bool telling;                      /* the watcher is inside `lost` */
    void (*lost)(void *ctx);           /* NULL: not requested, or already called */
    void *lost_ctx;
    size_t name_len;
    char name[];
};

struct pawl_locks {
    struct pawl_env *env;
    struct pawl_lock_provider *provider;
    uint32_t caps;
    const struct pawl_log *log;
    int64_t poll_ns_max, call_ns;
    size_t held_max;
    bool borrowed;                    /* the provider */
    char owner[PAWL_LOCK_OWNER_SIZE]; /* HOST_PID_ */
    uint64_t owner_base;              /* random: the first half of what is unique */
    size_t chunk_max;
    struct pawl_lock_slot *_Atomic *chunks; /* filled from the front, never emptied */
    struct pawl_thread *keeper, *watcher;

    struct pawl_mutex *mutex; /* guards all below */
    struct pawl_map entries;  /* of struct pawl_lock_entry by name */
    size_t hold_count;        /* in acquire(), held and owed */
    size_t slot_count;        /* made */
    uint32_t free_slot;       /* index + 1 */
    uint64_t attempt_count;
    uint64_t random;
    struct pawl_list holds;
    struct pawl_lock_heap renewals, debts, ends;
    struct pawl_list to_tell;     /* lost, with a callback to call */
    struct pawl_list cancellable; /* those in acquire() that have a `cancel` */
    struct pawl_lock_spot *spots; /* unused */
    struct pawl_cond *keeper_cond, *watcher_cond;
    int64_t keeper_until_ns, watcher_until_ns; /* what they sleep until; INT64_MIN: awake */
    struct pawl_cond *calmed;                  /* in_call or telling ended */
    bool stop;
    struct pawl_locks_counts counts;
};

static inline struct pawl_lock_hold *pawl__lock_hold_of(struct pawl_lock_grant *grant)
{
    return (struct pawl_lock_hold *)(void *)grant;
}

/* ---- between the files; all under the mutex ------------------------------------------------ */

/* keeper.c: waits until no call of the keeper and no callback is under way for it. PAWL_ESTOPPED.
 */
PAWL_MUST_CHECK int pawl__lock_hold_calm(struct pawl_locks *locks, struct pawl_lock_hold *hold);
/* keeper.c: from now on the keeper tries to release it. */
void pawl__lock_hold_owe(struct pawl_locks *locks, struct pawl_lock_hold *hold);
/* keeper.c: it is lost: others here may acquire the name, and its callback is called. */
void pawl__lock_hold_lose(struct pawl_locks *locks, struct pawl_lock_hold *hold);
/* keeper.c: begins to look after what was just granted. */
void pawl__lock_hold_keep(struct pawl_locks *locks, struct pawl_lock_hold *hold, int64_t now_ns);
/* keeper.c: out of all heaps and lists but that of all holds. */
void pawl__lock_hold_detach(struct pawl_locks *locks, struct pawl_lock_hold *hold);
void pawl__lock_keep(void *arg);
void pawl__lock_watch(void *arg);

/* waiters.c: neither holds its name nor waits for it any more: it is the next one's turn. */
void pawl__lock_entry_leave(struct pawl_locks *locks, struct pawl_lock_hold *hold);
/* waiters.c: frees the memory of a hold that nobody knows of any more. */
void pawl__lock_hold_free(struct pawl_locks *locks, struct pawl_lock_hold *hold);
void pawl__lock_lost(void *ctx, struct pawl_lock_grant *grant);
void pawl__lock_wake(void *ctx, struct pawl_str name);

/* locks.c */
PAWL_MUST_CHECK int pawl__lock_slot_take(struct pawl_locks *locks, uint32_t *out);
void pawl__lock_slot_give(struct pawl_locks *locks, uint32_t slot);
struct pawl_lock_slot *pawl__lock_slot_at(struct pawl_locks *locks, uint32_t slot);
/* The hold of a handle; NULL: gone. */
struct pawl_lock_hold *pawl__lock_find(struct pawl_locks *locks, struct pawl_lock lock);
/* `base` with up to so many percent more or less. */
int64_t pawl__lock_jitter(struct pawl_locks *locks, int64_t base, int percent);

#endif
