/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that serve a test; see program.h. */
#include "servers/program.h"

#include "lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MINUTE_MS 60000
#define NOT_FOUND 127

void test_program_folder(struct test_program *program, const char *name)
{
    char prefix[40];

    (void)snprintf(prefix, sizeof prefix, "pawl-%s", name);
    test_daemon_init(&program->daemon, prefix);
    program->in = program->out = -1;
}

/* ---- processes --------------------------------------------------------------------------- */

static void become(const char *const *arguments, int in, int out, int log)
{
    sigset_t none;

    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(log, 2) < 0)
        _exit(125);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)execvp(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(NOT_FOUND);
}

void test_program_start(struct test_program *program, const char *const *arguments,
                        const char *missing)
{
    char path[96];
    int in[2] = {-1, -1}, out[2] = {-1, -1}, log;

    (void)snprintf(path, sizeof path, "%s/log", program->daemon.folder);
    log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(log >= 0 && pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    program->daemon.pid = fork();
    assert_true(program->daemon.pid >= 0);
    if (program->daemon.pid == 0)
        become(arguments, in[0], out[1], log);
    (void)close(in[0]);
    (void)close(out[1]);
    (void)close(log);
    program->in = in[1];
    program->out = out[0];
    /* Dead at once: it is not there. */
    for (int i = 0; i < 20; i++) {
        int status;

        if (waitpid(program->daemon.pid, &status, WNOHANG) != program->daemon.pid) {
            (void)poll(NULL, 0, 1);
            continue;
        }
        program->daemon.pid = 0;
        test_daemon_show_log(&program->daemon);
        fail_msg("%s does not start: %s", arguments[0], missing);
    }
}

void test_program_line(struct test_program *program, char *out, size_t size)
{
    size_t length = 0;

    for (;;) {
        struct pollfd fd = {.fd = program->out, .events = POLLIN};

        if (poll(&fd, 1, MINUTE_MS) <= 0 || read(program->out, out + length, 1) <= 0) {
            test_daemon_show_log(&program->daemon);
            fail_msg("the program in %s says nothing", program->daemon.folder);
            return;
        }
        if (out[length] == '\n')
            break;
        if (length + 2 < size)
            length++;
    }
    out[length] = 0;
}

void test_program_kill(struct test_program *program)
{
    if (program->in >= 0)
        (void)close(program->in);
    if (program->out >= 0)
        (void)close(program->out);
    program->in = program->out = -1;
    test_daemon_end(&program->daemon, SIGKILL);
}

void test_program_stop(struct test_program *program)
{
    if (!*program->daemon.folder)
        return;
    test_program_kill(program);
    test_daemon_release(&program->daemon);
}

void test_program_pause(const struct test_program *program)
{
    assert_true(program->daemon.pid > 0);
    assert_int_equal(kill(program->daemon.pid, SIGSTOP), 0);
}

void test_program_continue(const struct test_program *program)
{
    if (program->daemon.pid > 0)
        (void)kill(program->daemon.pid, SIGCONT);
}

int test_program_run(const char *const *arguments, const char *input, char *out, size_t size)
{
    size_t length = 0;
    int in[2] = {-1, -1}, result[2] = {-1, -1}, status = -1;
    ssize_t got;
    pid_t pid;

    assert_true(pipe2(in, O_CLOEXEC) == 0 && pipe2(result, O_CLOEXEC) == 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        become(arguments, in[0], result[1], result[1]);
    (void)close(in[0]);
    (void)close(result[1]);
    if (input)
        assert_true(write(in[1], input, strlen(input)) == (ssize_t)strlen(input));
    (void)close(in[1]);
    while (length + 1 < size && (got = read(result[0], out + length, size - 1 - length)) > 0)
        length += (size_t)got;
    out[length] = 0;
    (void)close(result[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
