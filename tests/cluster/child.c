/* SPDX-License-Identifier: Apache-2.0 */
/* A node as a process, see child.h. */
#include "cluster/child.h"

#include "lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX 24

static void become_node(const char *const *arguments, int in, int out)
{
    char *argv[ARGUMENTS_MAX] = {(char *)(uintptr_t)CLUSTER_NODE};

    for (size_t i = 0; arguments[i]; i++)
        argv[i + 1] = (char *)(uintptr_t)arguments[i];
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
        (void)execv(argv[0], argv);
    _exit(127);
}

void child_start(struct child *child, const char *const *arguments)
{
    int in[2], out[2];

    for (size_t i = 0; arguments[i]; i++)
        assert_true(i + 2 < ARGUMENTS_MAX);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    child->pid = fork();
    assert_true(child->pid >= 0);
    if (child->pid == 0)
        become_node(arguments, in[0], out[1]);
    (void)close(in[0]);
    (void)close(out[1]);
    child->in = in[1];
    child->out = out[0];
}

static ssize_t read_some(struct child *child, char *out, size_t size)
{
    ssize_t count;

    do {
        count = read(child->out, out, size);
    } while (count < 0 && errno == EINTR);
    assert_true(count >= 0);
    return count;
}

void child_read_all(struct child *child, char *out)
{
    size_t len = 0;
    ssize_t count = 1;

    while (count > 0) {
        assert_true(len + 1 < CHILD_OUTPUT_MAX);
        count = read_some(child, out + len, CHILD_OUTPUT_MAX - 1 - len);
        len += (size_t)count;
    }
    out[len] = '\0';
}

void child_await_line(struct child *child, const char *line)
{
    char buffer[256];
    size_t len = 0;

    for (;;) {
        if (len + 1 == sizeof buffer || read_some(child, buffer + len, 1) == 0)
            fail_msg("the node ended before it wrote \"%s\"", line);
        if (buffer[len] != '\n') {
            len++;
            continue;
        }
        buffer[len] = '\0';
        if (strcmp(buffer, line) == 0)
            return;
        len = 0;
    }
}

void child_tell(struct child *child)
{
    assert_int_equal(write(child->in, "\n", 1), 1);
}

int child_wait(struct child *child)
{
    int status = 0;

    (void)close(child->in);
    (void)close(child->out);
    while (waitpid(child->pid, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    child->pid = 0;
    return status;
}
