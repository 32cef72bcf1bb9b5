/* SPDX-License-Identifier: Apache-2.0 */
/* fork, exec, process groups and waiting for several things at once; see wrapped.h. */
#include "os/wrapped.h"

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
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* After its first process ended, how often the rest of a group that is being stopped is looked for;
 * and how long after SIGKILL: what hangs in the kernel must not hang us. */
#define LOOK_MS 20
#define KILLED_NS INT64_C(2000000000)

struct pawl_wrapped {
    struct pawl_env *env;
    pid_t pid;          /* the command's first process, whose number is its group's, too */
    bool has_ended;     /* that process; `code` is valid */
    bool is_stopping;   /* pawl__wrapped_stop(): its group is waited for as well */
    bool has_terminal;  /* its group is the terminal's foreground group in place of ours */
    int code, ended_by; /* exit code; the signal that ended it, or 0 */
    int64_t killed_ns;  /* when SIGKILL was sent; PAWL_FOREVER: not yet */
    pid_t guard;        /* ends the group when we are killed; 0: there is none */
    int guard_fd;       /* its other end is the guard's: closed when we are gone */
    int terminal_fd, signal_fd, wake_fd;
    int subreaper_before;
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

/* ---- the terminal ------------------------------------------------------------------------ */

/*
 * Only one group of a terminal's session may read from it. Ours has it as a rule, so that the
 * others of a pipeline can; signals of its keys reach us then and are passed on. The command gets
 * it at once when nothing of ours is in a pipeline, else when it is stopped for trying to use it.
 */
static bool is_foreground(const struct pawl_wrapped *child)
{
    return child->terminal_fd >= 0 && tcgetpgrp(child->terminal_fd) == getpgrp();
}

/* SIGTTOU is blocked. */
static bool give_terminal(struct pawl_wrapped *child)
{
    if (is_foreground(child) && tcsetpgrp(child->terminal_fd, child->pid) == 0)
        child->has_terminal = true;
    return child->has_terminal;
}

static void take_terminal(struct pawl_wrapped *child)
{
    if (child->has_terminal && tcgetpgrp(child->terminal_fd) == child->pid)
        (void)tcsetpgrp(child->terminal_fd, getpgrp());
    child->has_terminal = false;
}

static void signal_group(const struct pawl_wrapped *child, int number)
{
    if (child->pid > 0)
        (void)kill(-child->pid, number);
}

/* ---- starting ---------------------------------------------------------------------------- */

struct start {
    char *const *argv;
    char *const *variables;
    pid_t parent;
    bool gets_terminal;
};

/* In the child: calls that are safe after a fork of a program with threads, and no others. */
static void become(const struct pawl_wrapped *child, const struct start *start, int report_fd)
{
    int errnum;

    (void)setpgid(0, 0);
    if (start->gets_terminal)
        (void)tcsetpgrp(child->terminal_fd, getpid());
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &child->before, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != start->parent) /* it died before that was set */
        _exit(128 + SIGTERM);
    (void)execvpe(start->argv[0], start->argv, start->variables);
    errnum = errno;
    if (write(report_fd, &errnum, sizeof errnum) != (ssize_t)sizeof errnum)
        _exit(126);
    _exit(127);
}

static int run(struct pawl_wrapped *child, char *const *argv, char *const *variables,
               struct pawl_error *err)
{
    const struct start start = {argv, variables, getpid(),
                                is_foreground(child) && isatty(STDIN_FILENO) &&
                                    isatty(STDOUT_FILENO)};
    int report[2], errnum = 0;
    ssize_t got;

    if (pipe2(report, O_CLOEXEC) != 0)
        return pawl__os_error(err, errno, "cannot start %s", argv[0]);
    child->pid = fork();
    if (child->pid == 0)
        become(child, &start, report[1]);
    errnum = child->pid < 0 ? errno : 0;
    if (child->pid > 0)
        (void)setpgid(child->pid, child->pid); /* parent and child both do it; the first counts */
    child->has_terminal = child->pid > 0 && start.gets_terminal;
    (void)close(report[1]);
    do
        got = child->pid > 0 ? read(report[0], &errnum, sizeof errnum) : 0;
    while (got < 0 && errno == EINTR);
    (void)close(report[0]);
    if (child->pid < 0) {
        child->pid = 0;
        return pawl__os_error(err, errnum, "cannot start %s", argv[0]);
    }
    if (got != (ssize_t)sizeof errnum)
        return PAWL_OK;
    (void)waitpid(child->pid, NULL, 0);
    take_terminal(child);
    child->pid = 0;
    return pawl__os_error(err, errnum, "cannot run %s", argv[0]);
}

/* ---- the guard ----------------------------------------------------------------------------- */

static void nap(void)
{
    (void)poll(NULL, 0, LOOK_MS);
}

/*
 * In the guard, a fork of us without threads: waits until we say that all has ended, or are gone
 * without having said so. Then nobody is left to end the group: SIGTERM, and SIGKILL after the
 * grace. Calls that are safe after a fork, and no others.
 */
static void guard_group(pid_t group, int said_fd, int64_t grace_ms)
{
    ssize_t got;
    char byte;

    (void)setsid(); /* no terminal's and no job's signals */
    for (int fd = 0; fd < 3; fd++)
        if (fd != said_fd)
            (void)close(fd);
    if (said_fd > 3)
        (void)close_range(3, (unsigned)said_fd - 1, 0);
    (void)close_range((unsigned)said_fd + 1, ~0u, 0);
    do
        got = read(said_fd, &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got == 1)
        _exit(0);
    (void)kill(-group, SIGTERM);
    (void)kill(-group, SIGCONT);
    for (int64_t ms = 0; ms < grace_ms; ms += LOOK_MS) {
        if (kill(-group, 0) != 0)
            _exit(0);
        nap();
    }
    (void)kill(-group, SIGKILL);
    _exit(0);
}

/* Without one the command's first process still gets SIGTERM. */
static void start_guard(struct pawl_wrapped *child, int64_t grace_ns)
{
    int ends[2];

    child->guard_fd = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    child->guard = fork();
    if (child->guard == 0) {
        sigset_t all;

        (void)sigfillset(&all); /* only SIGKILL ends it before it is done */
        (void)sigprocmask(SIG_SETMASK, &all, NULL);
        (void)close(ends[1]);
        guard_group(child->pid, ends[0], grace_ns / 1000000);
    }
    (void)close(ends[0]);
    if (child->guard > 0)
        child->guard_fd = ends[1];
    else
        (void)close(ends[1]);
}

static void dismiss_guard(struct pawl_wrapped *child)
{
    const char over = 1;

    if (child->guard_fd < 0)
        return;
    /* Nobody reads any more when it was killed: that is an error, SIGPIPE is ignored or blocked. */
    if (write(child->guard_fd, &over, 1) == 1)
        (void)waitpid(child->guard, NULL, 0);
    else
        (void)waitpid(child->guard, NULL, WNOHANG);
    (void)close(child->guard_fd);
    child->guard_fd = -1;
}

static void free_parts(struct pawl_wrapped *child)
{
    int fds[] = {child->terminal_fd, child->signal_fd, child->wake_fd};
    struct signalfd_siginfo info;

    dismiss_guard(child);
    take_terminal(child);
    /* What came for the command must not end us when it is not blocked any more. */
    while (child->signal_fd >= 0 && read(child->signal_fd, &info, sizeof info) > 0)
        continue;
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
    (void)prctl(PR_SET_CHILD_SUBREAPER, child->subreaper_before);
    (void)pthread_sigmask(SIG_SETMASK, &child->before, NULL);
    pawl__free(&child->env->alloc, child, sizeof *child);
}

/* Signals are read, not delivered, from here on; orphans of the command become ours to wait for. */
static void prepare(struct pawl_wrapped *child)
{
    static const int read_ones[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                    SIGTSTP, SIGCONT, SIGCHLD, SIGTTOU};

    (void)sigemptyset(&child->mask);
    for (size_t i = 0; i < sizeof read_ones / sizeof read_ones[0]; i++)
        (void)sigaddset(&child->mask, read_ones[i]);
    (void)signal(SIGCHLD, SIG_DFL); /* who inherits that it is ignored cannot wait */
    (void)pthread_sigmask(SIG_BLOCK, &child->mask, &child->before);
    (void)prctl(PR_GET_CHILD_SUBREAPER, &child->subreaper_before);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    child->signal_fd = signalfd(-1, &child->mask, SFD_CLOEXEC | SFD_NONBLOCK);
    child->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    child->terminal_fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
}

int pawl__wrapped_start(struct pawl_env *env, char *const *argv, const char *const *extra,
                        int64_t grace_ns, struct pawl_wrapped **out, struct pawl_error *err)
{
    struct pawl_wrapped *child = pawl__alloc_zeroed(&env->alloc, sizeof *child);
    char **variables;
    size_t size;
    int status = PAWL_OK;

    if (!child)
        return pawl__error_code(err, PAWL_ENOMEM);
    child->env = env;
    child->killed_ns = PAWL_FOREVER;
    child->guard_fd = -1;
    prepare(child);
    variables = make_variables(env, extra, &size);
    if (child->signal_fd < 0 || child->wake_fd < 0)
        status = pawl__os_error(err, errno, "cannot start %s", argv[0]);
    else if (!variables)
        status = pawl__error_code(err, PAWL_ENOMEM);
    else
        status = run(child, argv, variables, err);
    pawl__free(&env->alloc, variables, size);
    if (status == PAWL_OK) {
        start_guard(child, grace_ns);
        *out = child;
    } else {
        free_parts(child);
    }
    return status;
}

/* ---- waiting ----------------------------------------------------------------------------- */

/* Stops us and all that is in our group, as the terminal would have done, until SIGCONT. */
static void stop_ourselves(struct pawl_wrapped *child, int number)
{
    sigset_t set;

    take_terminal(child);
    (void)kill(0, number);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, number);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* here it happens */
    (void)pthread_sigmask(SIG_BLOCK, &child->mask, NULL);
}

/* Stopped by the terminal; a process that was stopped otherwise is not continued here. */
static void handle_stop(struct pawl_wrapped *child, int number)
{
    if ((number == SIGTTIN || number == SIGTTOU) && give_terminal(child))
        signal_group(child, SIGCONT);
    else if (number == SIGTSTP || number == SIGTTIN || number == SIGTTOU)
        stop_ourselves(child, number);
}

static void pass_on(struct pawl_wrapped *child)
{
    struct signalfd_siginfo info;

    while (read(child->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        int number = (int)info.ssi_signo;

        if (number == SIGCHLD || number == SIGTTOU)
            continue;
        if (number == SIGCONT && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
            (void)give_terminal(child);
        signal_group(child, number);
    }
}

/* Its keys interrupted the command alone: ours would have been interrupted, too. */
static void interrupt_ourselves(struct pawl_wrapped *child)
{
    bool had_terminal = child->has_terminal;

    take_terminal(child);
    if (had_terminal && (child->ended_by == SIGINT || child->ended_by == SIGQUIT))
        (void)kill(0, child->ended_by);
}

/* A process whose parent died is our child now, in whichever group it is. */
static void reap_orphans(const struct pawl_wrapped *child)
{
    siginfo_t info;

    for (;;) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0 ||
            info.si_pid == child->pid || info.si_pid == child->guard ||
            waitpid(info.si_pid, NULL, WNOHANG) != info.si_pid)
            return;
    }
}

static void reap(struct pawl_wrapped *child)
{
    int status;

    while (!child->has_ended && waitpid(child->pid, &status, WNOHANG | WUNTRACED) == child->pid) {
        if (WIFSTOPPED(status)) {
            handle_stop(child, WSTOPSIG(status));
            continue;
        }
        child->has_ended = true;
        child->ended_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        child->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + child->ended_by;
        interrupt_ourselves(child);
    }
    reap_orphans(child);
}

/* Whether there is nobody left to wait for. */
static bool is_over(const struct pawl_wrapped *child)
{
    if (!child->has_ended || !child->is_stopping)
        return child->has_ended;
    if (child->killed_ns != PAWL_FOREVER &&
        pawl_env_monotonic_ns(child->env) - child->killed_ns > KILLED_NS)
        return true;
    return kill(-child->pid, 0) != 0 && errno == ESRCH;
}

static int until(struct pawl_wrapped *child, int64_t deadline_ns)
{
    int64_t left_ns;

    if (child->has_ended)
        return LOOK_MS;
    if (deadline_ns == PAWL_FOREVER)
        return -1;
    left_ns = deadline_ns - pawl_env_monotonic_ns(child->env);
    if (left_ns <= 0)
        return 0;
    return left_ns > INT64_C(1000000000) ? 1000 : (int)(left_ns / 1000000) + 1;
}

int pawl__wrapped_wait(struct pawl_wrapped *child, int64_t deadline_ns,
                       enum pawl_wrapped_event *event, int *code, struct pawl_error *err)
{
    struct pollfd fds[] = {{.fd = child->signal_fd, .events = POLLIN},
                           {.fd = child->wake_fd, .events = POLLIN}};
    uint64_t woken;

    for (;;) {
        pass_on(child);
        reap(child);
        if (is_over(child)) {
            *code = child->code;
            *event = PAWL_WRAPPED_ENDED;
            return PAWL_OK;
        }
        if (read(child->wake_fd, &woken, sizeof woken) == (ssize_t)sizeof woken) {
            *event = PAWL_WRAPPED_WOKEN;
            return PAWL_OK;
        }
        if (pawl_env_monotonic_ns(child->env) >= deadline_ns) {
            *event = PAWL_WRAPPED_LATE;
            return PAWL_OK;
        }
        if (poll(fds, 2, until(child, deadline_ns)) < 0 && errno != EINTR)
            return pawl__os_error(err, errno, "cannot wait for the command");
    }
}

void pawl__wrapped_wake(struct pawl_wrapped *child)
{
    const uint64_t one = 1;
    ssize_t written = write(child->wake_fd, &one, sizeof one); /* full: it is awake already */

    (void)written;
}

void pawl__wrapped_stop(struct pawl_wrapped *child, bool kill_it)
{
    child->is_stopping = true;
    if (kill_it && child->killed_ns == PAWL_FOREVER)
        child->killed_ns = pawl_env_monotonic_ns(child->env);
    signal_group(child, kill_it ? SIGKILL : SIGTERM);
    signal_group(child, SIGCONT); /* one that is stopped would not see it */
}

void pawl__wrapped_close(struct pawl_wrapped *child)
{
    if (child)
        free_parts(child);
}
