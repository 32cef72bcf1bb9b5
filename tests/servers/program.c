/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that serve a test; see program.h. */
#include "servers/program.h"

#include "lib/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MINUTE_MS 60000
#define NOT_FOUND 127

/* ---- folders ----------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *at)
{
    (void)stat;
    (void)type;
    (void)at;
    return remove(path);
}

static void remove_folder(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* What tests left that were killed: their folder's name has their pid. */
static void remove_leftovers(const char *prefix)
{
    DIR *folder = opendir("/tmp");
    struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        char path[300];
        pid_t pid;

        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        pid = (pid_t)strtol(entry->d_name + strlen(prefix), NULL, 10);
        if (pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH)
            continue;
        (void)snprintf(path, sizeof path, "/tmp/%s", entry->d_name);
        remove_folder(path);
    }
    if (folder)
        (void)closedir(folder);
}

void test_program_folder(struct test_program *program, const char *name)
{
    char prefix[40];

    memset(program, 0, sizeof *program);
    program->in = program->out = -1;
    (void)snprintf(prefix, sizeof prefix, "pawl-%s-", name);
    remove_leftovers(prefix);
    (void)snprintf(program->folder, sizeof program->folder, "/tmp/%s%d-XXXXXX", prefix,
                   (int)getpid());
    assert_non_null(mkdtemp(program->folder));
}

void test_program_show_log(const struct test_program *program)
{
    char path[96], line[512];
    FILE *log;

    (void)snprintf(path, sizeof path, "%s/log", program->folder);
    log = fopen(path, "r");
    while (log && fgets(line, sizeof line, log))
        print_error("  %s", line);
    if (log)
        (void)fclose(log);
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
    int in[2], out[2], log;

    (void)snprintf(path, sizeof path, "%s/log", program->folder);
    log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(log >= 0 && pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    program->pid = fork();
    assert_true(program->pid >= 0);
    if (program->pid == 0)
        become(arguments, in[0], out[1], log);
    (void)close(in[0]);
    (void)close(out[1]);
    (void)close(log);
    program->in = in[1];
    program->out = out[0];
    /* Dead at once: it is not there. */
    for (int i = 0; i < 20; i++) {
        int status;

        if (waitpid(program->pid, &status, WNOHANG) != program->pid) {
            (void)poll(NULL, 0, 1);
            continue;
        }
        program->pid = 0;
        test_program_show_log(program);
        fail_msg("%s does not start: %s", arguments[0], missing);
    }
}

void test_program_line(struct test_program *program, char *out, size_t size)
{
    size_t length = 0;

    for (;;) {
        struct pollfd fd = {.fd = program->out, .events = POLLIN};
        ssize_t got;

        if (poll(&fd, 1, MINUTE_MS) <= 0 || (got = read(program->out, out + length, 1)) <= 0) {
            test_program_show_log(program);
            fail_msg("the program in %s says nothing", program->folder);
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
    if (program->pid <= 0)
        return;
    (void)kill(program->pid, SIGKILL);
    while (waitpid(program->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    program->pid = 0;
}

void test_program_stop(struct test_program *program)
{
    if (!*program->folder)
        return;
    test_program_kill(program);
    remove_folder(program->folder);
    *program->folder = 0;
}

void test_program_pause(const struct test_program *program)
{
    assert_true(program->pid > 0);
    assert_int_equal(kill(program->pid, SIGSTOP), 0);
}

void test_program_continue(const struct test_program *program)
{
    if (program->pid > 0)
        (void)kill(program->pid, SIGCONT);
}

int test_program_run(const char *const *arguments, const char *input, char *out, size_t size)
{
    size_t length = 0;
    int in[2], result[2], status = -1;
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

uint16_t test_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    (void)close(fd);
    return ntohs(address.sin_port);
}
