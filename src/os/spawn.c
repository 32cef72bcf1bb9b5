/* SPDX-License-Identifier: Apache-2.0 */
/* Starting POSIX threads: stack, signals, name. Owns no thread; who starts one joins it. */
#include "os/spawn.h"

#include "base/assert.h"
#include "base/error.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/*
 * Stack of every thread. Said here and not left to the system, because the default differs by two
 * orders of magnitude (8 MB by ulimit on glibc, 128 KB on musl) and would decide how deep a script
 * may recurse. It is address space: only the pages touched cost memory. Frames of
 * ThreadSanitizer are several times larger: a script that recursed to its limit overran 2 MB.
 */
#ifdef __SANITIZE_THREAD__
#define STACK_BYTES ((size_t)8 << 20)
#else
#define STACK_BYTES ((size_t)2 << 20)
#endif

/*
 * Process-directed signals (SIGTERM, SIGINT, SIGHUP, …) belong to the main thread, so workers block
 * them. Those a thread raises by its own fault stay deliverable: blocked, they would kill the
 * process without the handlers of a sanitizer or of a memory-trapping sandbox being asked.
 */
static void worker_signals(sigset_t *set)
{
    const int own_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};

    (void)sigfillset(set);
    for (size_t i = 0; i < sizeof own_faults / sizeof own_faults[0]; i++)
        (void)sigdelset(set, own_faults[i]);
}

int pawl__spawn(const char *name, void *(*run)(void *arg), void *arg, pthread_t *out,
                struct pawl_error *err)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t blocked, before;
    int rc = pthread_attr_init(&attr);

    if (rc != 0)
        return pawl__error_code(err, PAWL_ENOMEM);
    rc = pthread_attr_setstacksize(&attr, STACK_BYTES);
    PAWL_ASSERT(rc == 0);
    /* A thread inherits its creator's mask: blocked here, there is no moment in which it is not. */
    worker_signals(&blocked);
    rc = pthread_sigmask(SIG_BLOCK, &blocked, &before);
    PAWL_ASSERT(rc == 0);
    rc = pthread_create(&thread, &attr, run, arg);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attr);
    if (rc != 0)
        return pawl__error_set(err, PAWL_EUNAVAILABLE,
                               "cannot start thread \"%s\": %s; raise the limit of processes "
                               "(ulimit -u, pids.max) or lower the number of workers",
                               name, strerrordesc_np(rc));
    *out = thread;
    return PAWL_OK;
}

void pawl__spawn_name_self(const char *name)
{
    char cut[PAWL_SPAWN_NAME_SIZE];

    (void)snprintf(cut, sizeof cut, "%.15s", name);
    (void)pthread_setname_np(pthread_self(), cut);
}
