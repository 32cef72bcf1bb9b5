/* SPDX-License-Identifier: Apache-2.0 */
/* fork, exec, and waiting for several things at once; see child.h. */
#include "os/child.h"

#include "base/alloc.h"
#include "base/error.h"
#include "os/errno.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct pawl_child {
    struct pawl_env *env;
    pid_t pid; /* 0: ended */
    int pid_fd, signal_fd, wake_fd;
    sigset_t mask, before;
};

/* ---- variables --------------------------------------------------------------------------- */

static bool same_name(const char *a, const char *b)
{
    size_t len = strcspn(a, "=");

    return strncmp(a, b, len) == 0 && b[len] == '=';
}

static size_t count_of(const char *const *list)
{
    size_t count = 0;

    while (list && list[count])
        count++;
    return count;
}

/* A new list; its strings are borrowed. */
static char **make_variables(struct pawl_env *env, const char *const *extra, size_t *size)
{
    size_t ours = count_of((const char *const *)environ), more = count_of(extra), at = 0;
    char **list;

    *size = (ours + more + 1) * sizeof(char *);
    list = pawl__alloc_zeroed(&env->alloc, *size);
    if (!list)
        return NULL;
    for (size_t i = 0; i < ours; i++) {
        bool replaced = false;

        for (size_t j = 0; j < more; j++)
            replaced = replaced || same_name(extra[j], environ[i]);
        if (!replaced)
            list[at++] = environ[i];
    }
    for (size_t j = 0; j < more; j++)
        list[at++] = (char *)(uintptr_t)extra[j];
    return list;
}

/* ---- starting ---------------------------------------------------------------------------- */

/* In the child: calls that are safe after a fork of a program with threads, and no others. */
static void become(char *const *argv, char *const *variables, const sigset_t *mask, pid_t parent,
                   int report_fd)
{
    int errnum;

    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* it died before that was set */
        _exit(128 + SIGTERM);
    (void)execvpe(argv[0], argv, variables);
    errnum = errno;
    if (write(report_fd, &errnum, sizeof errnum) != (ssize_t)sizeof errnum)
        _exit(126);
    _exit(127);
}

static int run(struct pawl_child *child, char *const *argv, char *const *variables,
               struct pawl_error *err)
{
    pid_t parent = getpid();
    int report[2], errnum = 0;
    ssize_t got;

    if (pipe2(report, O_CLOEXEC) != 0)
        return pawl__os_error(err, errno, "cannot start %s", argv[0]);
    child->pid = fork();
    if (child->pid == 0)
        become(argv, variables, &child->before, parent, report[1]);
    errnum = child->pid < 0 ? errno : 0;
    (void)close(report[1]);
    do
        got = child->pid > 0 ? read(report[0], &errnum, sizeof errnum) : 0;
    while (got < 0 && errno == EINTR);
    (void)close(report[0]);
    if (child->pid < 0)
        return pawl__os_error(err, errnum, "cannot start %s", argv[0]);
    if (got == (ssize_t)sizeof errnum) {
        (void)waitpid(child->pid, NULL, 0);
        child->pid = 0;
        return pawl__os_error(err, errnum, "cannot run %s", argv[0]);
    }
    child->pid_fd = (int)syscall(SYS_pidfd_open, child->pid, 0);
    if (child->pid_fd >= 0)
        return PAWL_OK;
    errnum = errno;
    pawl__child_stop(child, true);
    (void)waitpid(child->pid, NULL, 0);
    child->pid = 0;
    return pawl__os_error(err, errnum, "cannot wait for %s", argv[0]);
}

static void free_parts(struct pawl_child *child)
{
    int fds[] = {child->pid_fd, child->signal_fd, child->wake_fd};

    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
    (void)pthread_sigmask(SIG_SETMASK, &child->before, NULL);
    pawl__free(&child->env->alloc, child, sizeof *child);
}

int pawl__child_start(struct pawl_env *env, char *const *argv, const char *const *extra,
                      struct pawl_child **out, struct pawl_error *err)
{
    static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct pawl_child *child = pawl__alloc_zeroed(&env->alloc, sizeof *child);
    char **variables;
    size_t size;
    int status = PAWL_OK;

    if (!child)
        return pawl__error_code(err, PAWL_ENOMEM);
    child->env = env;
    child->pid_fd = -1;
    (void)sigemptyset(&child->mask);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
        (void)sigaddset(&child->mask, passed_on[i]);
    (void)pthread_sigmask(SIG_BLOCK, &child->mask, &child->before);
    child->signal_fd = signalfd(-1, &child->mask, SFD_CLOEXEC | SFD_NONBLOCK);
    child->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    variables = make_variables(env, extra, &size);
    if (child->signal_fd < 0 || child->wake_fd < 0)
        status = pawl__os_error(err, errno, "cannot start %s", argv[0]);
    else if (!variables)
        status = pawl__error_code(err, PAWL_ENOMEM);
    else
        status = run(child, argv, variables, err);
    pawl__free(&env->alloc, variables, size);
    if (status == PAWL_OK)
        *out = child;
    else
        free_parts(child);
    return status;
}

/* ---- waiting ----------------------------------------------------------------------------- */

static void pass_on(struct pawl_child *child)
{
    struct signalfd_siginfo info;

    /* What the kernel sends is the terminal's, and it sends it to the child, too. */
    while (read(child->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
        if (info.ssi_code != SI_KERNEL)
            (void)kill(child->pid, (int)info.ssi_signo);
}

static int until(struct pawl_child *child, int64_t deadline_ns)
{
    int64_t left_ns;

    if (deadline_ns == PAWL_FOREVER)
        return -1;
    left_ns = deadline_ns - pawl_env_monotonic_ns(child->env);
    if (left_ns <= 0)
        return 0;
    return left_ns > INT64_C(1000000000) ? 1000 : (int)(left_ns / 1000000) + 1;
}

static bool has_ended(struct pawl_child *child, int *code)
{
    int status;

    if (waitpid(child->pid, &status, WNOHANG) != child->pid)
        return false;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    child->pid = 0;
    return true;
}

int pawl__child_wait(struct pawl_child *child, int64_t deadline_ns, enum pawl_child_event *event,
                     int *code, struct pawl_error *err)
{
    struct pollfd fds[] = {{.fd = child->pid_fd, .events = POLLIN},
                           {.fd = child->signal_fd, .events = POLLIN},
                           {.fd = child->wake_fd, .events = POLLIN}};
    uint64_t woken;

    for (;;) {
        if (poll(fds, 3, until(child, deadline_ns)) < 0 && errno != EINTR)
            return pawl__os_error(err, errno, "cannot wait for the command");
        if (has_ended(child, code)) {
            *event = PAWL_CHILD_ENDED;
            return PAWL_OK;
        }
        pass_on(child);
        if (read(child->wake_fd, &woken, sizeof woken) == (ssize_t)sizeof woken) {
            *event = PAWL_CHILD_WOKEN;
            return PAWL_OK;
        }
        if (pawl_env_monotonic_ns(child->env) >= deadline_ns) {
            *event = PAWL_CHILD_LATE;
            return PAWL_OK;
        }
    }
}

void pawl__child_wake(struct pawl_child *child)
{
    const uint64_t one = 1;
    ssize_t written = write(child->wake_fd, &one, sizeof one); /* full: it is awake already */

    (void)written;
}

void pawl__child_stop(struct pawl_child *child, bool kill_it)
{
    if (child->pid > 0)
        (void)kill(child->pid, kill_it ? SIGKILL : SIGTERM);
}

void pawl__child_close(struct pawl_child *child)
{
    if (child)
        free_parts(child);
}
