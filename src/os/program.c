/* SPDX-License-Identifier: Apache-2.0 */
/* See program.h. Between fork and exec only what is safe there is called. */
#include "os/program.h"

#include "base/error.h"
#include "os/errno.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

int pawl__program_own_path(char *out, size_t size, struct pawl_error *err)
{
    ssize_t len = readlink("/proc/self/exe", out, size);

    if (len < 0)
        return pawl__error_set(err, PAWL_ENOTFOUND,
                               "the path of this program is not known: is /proc mounted?");
    if ((size_t)len >= size)
        return pawl__error_set(err, PAWL_ELIMIT, "the path of this program is too long");
    out[len] = '\0';
    return PAWL_OK;
}

/* In the child. Threads of ours block signals, programs ignore SIGPIPE and SIGXFSZ: neither is inherited. */
static _Noreturn void become(const char *const *argv, int in, int out, pid_t parent)
{
    sigset_t none;

    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_DFL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before we asked for a signal */
        _exit(127);
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(out, STDERR_FILENO) >= 0)
        (void)execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

int pawl__program_start(const char *const *argv, const char *output, struct pawl_program *out,
                        struct pawl_error *err)
{
    pid_t self = getpid(), pid = -1;
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int to = open(output ? output : "/dev/null", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int code = errno;

    if (in >= 0 && to >= 0) {
        pid = fork();
        code = errno;
    }
    if (pid == 0)
        become(argv, in, to, self);
    if (in >= 0)
        (void)close(in);
    if (to >= 0)
        (void)close(to);
    if (pid < 0)
        return pawl__os_error(err, code, "cannot start %s", argv[0]);
    out->pid = pid;
    return PAWL_OK;
}

bool pawl__program_pause(struct pawl_program *program)
{
    int status = 0;
    pid_t pid;

    if (program->pid <= 0 || kill((pid_t)program->pid, SIGSTOP) != 0)
        return false;
    do {
        pid = waitpid((pid_t)program->pid, &status, WUNTRACED);
    } while (pid < 0 && errno == EINTR);
    if (pid > 0 && WIFSTOPPED(status))
        return true;
    program->pid = 0;
    return false;
}

void pawl__program_signal(const struct pawl_program *program, enum pawl_program_signal which)
{
    static const int numbers[] = {
        [PAWL_PROGRAM_TERMINATE] = SIGTERM,
        [PAWL_PROGRAM_KILL] = SIGKILL,
        [PAWL_PROGRAM_CONTINUE] = SIGCONT,
    };

    if (program->pid > 0)
        (void)kill((pid_t)program->pid, numbers[which]);
}

bool pawl__program_has_ended(struct pawl_program *program, int *code)
{
    int status = 0;
    pid_t pid;

    if (program->pid <= 0) {
        if (code)
            *code = 0;
        return true;
    }
    do {
        pid = waitpid((pid_t)program->pid, &status, WNOHANG);
    } while (pid < 0 && errno == EINTR);
    if (pid == 0)
        return false;
    program->pid = 0;
    if (code)
        *code = pid < 0               ? 127
                : WIFEXITED(status)   ? WEXITSTATUS(status)
                : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                      : 127;
    return true;
}
