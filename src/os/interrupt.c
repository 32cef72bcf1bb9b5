/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that reads signals from a descriptor, so that no code runs in a signal handler and
 * nothing is global; see interrupt.h.
 */
#include "os/interrupt.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "os/errno.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Signals that come closer together than this were meant as one. */
#define ONE_SIGNAL_NS INT64_C(250000000)

struct pawl_interrupt {
    struct pawl_env *env;
    struct pawl_mutex *mutex; /* guards nothing but the wake-up: `pending` is atomic */
    struct pawl_cond *cond;
    struct pawl_thread *thread;
    atomic_bool pending;
    atomic_bool raised;  /* by the program itself */
    atomic_bool hung_up; /* SIGHUP, not taken yet */
    sigset_t mask;       /* what it reads */
    sigset_t before;     /* what was blocked when it was opened */
    int64_t first_ns;    /* when the first signal came */
    int signal_fd;
    int end_fd;
};

/* Ends the process by the signal that came, as it would have ended without us. */
static void raise_default(const struct pawl_interrupt *interrupt, int signal_number)
{
    (void)signal(signal_number, SIG_DFL);
    (void)pthread_sigmask(SIG_UNBLOCK, &interrupt->mask, NULL);
    (void)raise(signal_number);
}

static void wake(struct pawl_interrupt *interrupt)
{
    if (pawl_mutex_lock(interrupt->env, interrupt->mutex) != PAWL_OK)
        return;
    pawl_cond_broadcast(interrupt->env, interrupt->cond);
    pawl_mutex_unlock(interrupt->env, interrupt->mutex);
}

/* By the thread that reads signals. Supervisors signal the process and then its group. */
static void note(struct pawl_interrupt *interrupt, int signal_number)
{
    int64_t now_ns = pawl_env_monotonic_ns(interrupt->env);

    if (signal_number == SIGHUP)
        atomic_store(&interrupt->hung_up, true);
    else if (!atomic_exchange(&interrupt->pending, true))
        interrupt->first_ns = now_ns;
    else if (now_ns - interrupt->first_ns > ONE_SIGNAL_NS)
        raise_default(interrupt, signal_number);
    wake(interrupt);
}

void pawl__interrupt_raise(struct pawl_interrupt *interrupt)
{
    atomic_store(&interrupt->raised, true);
    wake(interrupt);
}

/* Of those that end the process the first counts: they were meant as one. */
static void note_all(struct pawl_interrupt *interrupt, const struct signalfd_siginfo *infos,
                     ssize_t count)
{
    bool noted = false;

    for (ssize_t i = 0; i < count; i++) {
        bool hangup = infos[i].ssi_signo == SIGHUP;

        if (hangup || !noted)
            note(interrupt, (int)infos[i].ssi_signo);
        noted = noted || !hangup;
    }
}

static void listen_for_signals(void *arg)
{
    struct pawl_interrupt *interrupt = arg;
    struct pollfd fds[] = {{.fd = interrupt->signal_fd, .events = POLLIN},
                           {.fd = interrupt->end_fd, .events = POLLIN}};

    for (;;) {
        struct signalfd_siginfo infos[4]; /* what came together is read together */

        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return;
        /* Also what came just before the end: it would end the process once it is unblocked. */
        if (fds[0].revents || fds[1].revents)
            note_all(interrupt, infos,
                     read(interrupt->signal_fd, infos, sizeof infos) / (ssize_t)sizeof infos[0]);
        if (fds[1].revents)
            return;
    }
}

static int open_descriptors(struct pawl_interrupt *interrupt, struct pawl_error *err)
{
    sigset_t all;

    (void)sigemptyset(&interrupt->mask);
    (void)sigaddset(&interrupt->mask, SIGINT);
    (void)sigaddset(&interrupt->mask, SIGTERM);
    interrupt->end_fd = eventfd(0, EFD_CLOEXEC);
    /* SIGHUP too, which comes this way only once it is blocked. */
    all = interrupt->mask;
    (void)sigaddset(&all, SIGHUP);
    interrupt->signal_fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    if (interrupt->end_fd < 0 || interrupt->signal_fd < 0)
        return pawl__os_error(err, errno, "cannot listen for signals");
    return PAWL_OK;
}

static void free_parts(struct pawl_interrupt *interrupt)
{
    struct pawl_env *env = interrupt->env;

    if (interrupt->signal_fd >= 0)
        (void)close(interrupt->signal_fd);
    if (interrupt->end_fd >= 0)
        (void)close(interrupt->end_fd);
    pawl_cond_free(env, interrupt->cond);
    pawl_mutex_free(env, interrupt->mutex);
    pawl__free(&env->alloc, interrupt, sizeof *interrupt);
}

int pawl__interrupt_open(struct pawl_env *env, struct pawl_interrupt **out, struct pawl_error *err)
{
    struct pawl_interrupt *interrupt = pawl__alloc_zeroed(&env->alloc, sizeof *interrupt);
    int status;

    if (!interrupt)
        return PAWL_ENOMEM;
    interrupt->env = env;
    interrupt->signal_fd = interrupt->end_fd = -1;
    status = pawl_mutex_new(env, "interrupt", &interrupt->mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "interrupt", &interrupt->cond);
    if (status == PAWL_OK)
        status = open_descriptors(interrupt, err);
    if (status == PAWL_OK) {
        (void)pthread_sigmask(SIG_BLOCK, &interrupt->mask, &interrupt->before);
        status = pawl_thread_start(env, "signals", listen_for_signals, interrupt,
                                   &interrupt->thread, err);
        if (status != PAWL_OK)
            (void)pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
    }
    if (status == PAWL_OK)
        *out = interrupt;
    else
        free_parts(interrupt);
    return status;
}

void pawl__interrupt_close(struct pawl_interrupt *interrupt)
{
    const uint64_t one = 1;
    ssize_t written;

    if (!interrupt)
        return;
    written = write(interrupt->end_fd, &one, sizeof one); /* a counter at 0 always takes it */
    (void)written;
    pawl_thread_join(interrupt->env, interrupt->thread);
    (void)pthread_sigmask(SIG_SETMASK, &interrupt->before, NULL);
    free_parts(interrupt);
}

int pawl__interrupt_watch_hangup(struct pawl_interrupt *interrupt, struct pawl_error *err)
{
    sigset_t hangup;

    PAWL_ASSERT(interrupt->signal_fd >= 0); /* which listens for it, once it is blocked */
    (void)sigemptyset(&hangup);
    (void)sigaddset(&hangup, SIGHUP);
    if (pthread_sigmask(SIG_BLOCK, &hangup, NULL) != 0)
        return pawl__os_error(err, EINVAL, "cannot listen for SIGHUP");
    return PAWL_OK;
}

bool pawl__interrupt_take_hangup(struct pawl_interrupt *interrupt)
{
    return atomic_exchange(&interrupt->hung_up, false);
}

bool pawl__interrupt_pending(const struct pawl_interrupt *interrupt)
{
    return interrupt && (atomic_load_explicit(&interrupt->pending, memory_order_relaxed) ||
                         atomic_load_explicit(&interrupt->raised, memory_order_relaxed));
}

int pawl__interrupt_wait(struct pawl_interrupt *interrupt, int64_t deadline_ns)
{
    struct pawl_env *env = interrupt->env;
    int status = pawl_mutex_lock(env, interrupt->mutex);

    if (status != PAWL_OK)
        return status;
    while (status == PAWL_OK && !pawl__interrupt_pending(interrupt) &&
           !atomic_load(&interrupt->hung_up))
        status = pawl_cond_wait(env, interrupt->cond, interrupt->mutex, deadline_ns);
    pawl_mutex_unlock(env, interrupt->mutex);
    return status == PAWL_ETIMEDOUT ? PAWL_OK : status;
}
