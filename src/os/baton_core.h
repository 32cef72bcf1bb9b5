/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the baton, shared by baton.c (who runs next), baton_env.c (the environment table)
 * and baton_trace.c (trace, reports). Nobody else includes it.
 */
#ifndef PAWL_OS_BATON_CORE_H
#define PAWL_OS_BATON_CORE_H

#include "base/buf.h"
#include "base/list.h"
#include "os/baton.h"

#include <pthread.h>
#include <semaphore.h>

#define BATON_ENV_NAME_SIZE 32
#define BATON_LABEL_SIZE 72 /* of a thread: environment, slash, name */
#define BATON_NAME_SIZE 48  /* of a mutex or condition: name, "#", number */

/*
 *                 lock             unlock by another
 *     READY -----------> LOCKING -------------------> READY
 *     READY -- wait ---> WAITING -- woken, mutex held by another --> RELOCKING --> READY
 *     READY -- sleep --> SLEEPING --> READY
 *     READY -- join ---> JOINING ---> READY
 *     READY -- end ----> FINISHED                     (absorbs)
 */
enum baton_state {
    BATON_READY,     /* from `wake_ns` on, which is past unless the thread is paused */
    BATON_LOCKING,   /* waits for `mutex` */
    BATON_WAITING,   /* waits for `cond`, until `wake_ns`; will want `mutex` */
    BATON_RELOCKING, /* was woken from `cond`, waits for `mutex`; cannot be stopped */
    BATON_SLEEPING,  /* until `wake_ns` */
    BATON_JOINING,   /* waits for the end of `target`; cannot be stopped */
    BATON_FINISHED,
};

struct baton_env {
    struct pawl_env base; /* first: a pawl_env is cast to this */
    struct pawl_baton *baton;
    struct pawl_list_link link; /* pawl_baton.envs */
    char name[BATON_ENV_NAME_SIZE];
    bool stopped;
    size_t object_count;    /* mutexes and conditions that live */
    uint32_t object_serial; /* numbers them, to distinguish equal names */
};

struct pawl_thread {
    struct pawl_list_link link; /* pawl_baton.threads, in the order of creation */
    struct baton_env *env;
    void (*run)(void *arg);
    void *arg;
    pthread_t pthread;
    sem_t turn;     /* raised when pawl_baton.running has become this thread, or it is abandoned */
    bool abandoned; /* ends without having run */
    enum baton_state state;
    struct baton_env *wait_env; /* whose wait it is: the one that may be stopped */
    struct pawl_mutex *mutex;
    struct pawl_cond *cond;
    struct pawl_thread *target;
    int64_t wake_ns;
    bool signalled;      /* WAITING: a signal chose this thread */
    uint32_t held_count; /* mutexes it holds */
    char label[BATON_LABEL_SIZE];
};

struct pawl_mutex {
    struct pawl_thread *owner; /* NULL: free */
    char label[BATON_NAME_SIZE];
};

struct pawl_cond {
    char label[BATON_NAME_SIZE];
};

struct pawl_baton {
    struct pawl_allocator alloc;
    struct pawl_baton_options options;
    uint64_t seed;
    uint64_t schedule_random; /* two streams, so that entropy drawn does not shift the schedule */
    uint64_t entropy_random;

    sem_t idle; /* raised when `running` has become NULL */
    struct pawl_thread *running;
    struct pawl_thread outside; /* represents the caller while no thread runs */

    struct pawl_list envs;
    struct pawl_list threads;
    int64_t now_ns;
    uint64_t step_count;

    bool doomed; /* the run has failed: every wait returns PAWL_ESTOPPED */
    struct pawl_error failure;
    struct pawl_buf report;

    char *trace; /* options.trace_bytes */
    size_t trace_len;
    uint64_t trace_hash;
};

/* ---- baton.c ----------------------------------------------------------------------------- */

/* The calling thread, or `outside`. */
struct pawl_thread *pawl__baton_self(struct pawl_baton *baton);

/* Whether waits in this environment, whichever thread they are of, return PAWL_ESTOPPED. */
bool pawl__baton_stopped(const struct baton_env *env);

/* Whether it could run now. */
bool pawl__baton_runnable(const struct pawl_baton *baton, const struct pawl_thread *thread);

/*
 * A scheduling point: hands the baton on, and returns when it is back. The caller has set its state
 * before; it is READY again afterwards. Does nothing outside of a run.
 */
void pawl__baton_step(struct pawl_baton *baton, const char *op, const char *object);

/* For a new thread: waits for its first turn. False: it is to end without having run. */
bool pawl__baton_await(struct pawl_thread *self);

/* For a thread that has ended: hands the baton on for good. */
void pawl__baton_leave(struct pawl_thread *self);

/* Uniform below `bound`, which is not 0, from the schedule's stream. */
uint64_t pawl__baton_random(struct pawl_baton *baton, uint64_t bound);
uint64_t pawl__baton_splitmix(uint64_t *state);

/* ---- baton_env.c ------------------------------------------------------------------------- */

void pawl__baton_thread_free(struct pawl_thread *thread); /* after its end */

/* ---- baton_trace.c ----------------------------------------------------------------------- */

void pawl__baton_trace_step(struct pawl_baton *baton, const char *who, const char *op,
                            const char *object, const char *next);

/* Fills `failure` and `report`. */
void pawl__baton_describe(struct pawl_baton *baton, int code, const char *headline);

/* A bug that cannot be returned as an error: prints it with seed and threads, and aborts. */
_Noreturn void pawl__baton_bug(struct pawl_baton *baton, const char *format, ...) PAWL_PRINTF(2, 3);

#endif
