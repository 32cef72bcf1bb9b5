/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes as processes, see nodes.h. */
#include "chaos/nodes.h"

#include "lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOG_SHOWN 3000
/* For a node that was asked to end: then it is killed, and the test says so. */
#define STOP_TRIES 3000
#define STOP_STEP_NS 10000000

static void become(const struct node *node)
{
    char id[64], lease[64];
    char *argv[] = {(char *)(uintptr_t)PAWL_PROGRAM,
                    (char *)(uintptr_t) "worker",
                    (char *)(uintptr_t) "--distributed",
                    (char *)(uintptr_t) "--store",
                    (char *)(uintptr_t)node->store,
                    (char *)(uintptr_t) "--lock",
                    (char *)(uintptr_t)node->lock,
                    (char *)(uintptr_t) "--set",
                    id,
                    (char *)(uintptr_t) "--set",
                    lease,
                    NULL};
    int log = open(node->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    (void)snprintf(id, sizeof id, "node.id=%s", node->name);
    (void)snprintf(lease, sizeof lease, "node.lease=%s", node->lease);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (node->clock[0]) {
        (void)setenv("LD_PRELOAD", WRONG_CLOCK_LIBRARY, 1);
        (void)setenv("WRONG_CLOCK", node->clock, 1);
    }
    if (log >= 0 && dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0)
        (void)execv(argv[0], argv);
    _exit(127);
}

static int64_t log_size(const struct node *node)
{
    struct stat seen;

    return stat(node->log, &seen) == 0 ? (int64_t)seen.st_size : 0;
}

bool node_start(struct node *node)
{
    node->log_begin = log_size(node);
    node->pid = fork();
    if (node->pid == 0)
        become(node);
    if (node->pid < 0)
        node->pid = 0;
    node->paused = false;
    return node->pid > 0;
}

static void note_end(struct node *node, int status, bool is_asked_for)
{
    node->pid = 0;
    node->paused = false;
    if (is_asked_for)
        return;
    node->surprises++;
    print_message("# %s ended: %s %d\n", node->name, WIFSIGNALED(status) ? "signal" : "status",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    node_show_log(node);
}

/* One that had ended before did so by itself. */
void node_kill(struct node *node)
{
    int status = 0;

    if (node->pid == 0)
        return;
    (void)kill(node->pid, SIGKILL);
    while (waitpid(node->pid, &status, 0) < 0 && errno == EINTR)
        ;
    note_end(node, status, WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* True when it has ended, with *status. */
static bool has_ended(const struct node *node, int *status)
{
    return waitpid(node->pid, status, WNOHANG) == node->pid;
}

/* A program that has not begun to listen for signals, nor said anything, dies of one. */
static bool has_ended_as_asked(const struct node *node, int status)
{
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGTERM && log_size(node) == node->log_begin;
    return WEXITSTATUS(status) == 0;
}

void node_stop(struct node *node)
{
    const struct timespec step = {0, STOP_STEP_NS};
    int status = 0;

    if (!node_runs(node))
        return;
    node_continue(node);
    (void)kill(node->pid, SIGTERM);
    for (int i = 0; i < STOP_TRIES; i++) {
        if (has_ended(node, &status)) {
            note_end(node, status, has_ended_as_asked(node, status));
            return;
        }
        (void)nanosleep(&step, NULL);
    }
    print_message("# %s did not end when it was asked to\n", node->name);
    node->surprises++;
    node_show_log(node);
    node_kill(node);
}

void node_pause(struct node *node)
{
    if (node->pid > 0 && kill(node->pid, SIGSTOP) == 0)
        node->paused = true;
}

void node_continue(struct node *node)
{
    if (node->pid > 0 && node->paused)
        (void)kill(node->pid, SIGCONT);
    node->paused = false;
}

bool node_set_clock(const struct node *node, int64_t wrong_by_s)
{
    int fd = node->clock[0] ? open(node->clock, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    bool done = fd >= 0 && pwrite(fd, &wrong_by_s, sizeof wrong_by_s, 0) == sizeof wrong_by_s;

    if (fd >= 0)
        (void)close(fd);
    return done;
}

bool node_runs(struct node *node)
{
    int status = 0;

    if (node->pid == 0)
        return false;
    if (!has_ended(node, &status))
        return true;
    note_end(node, status, false);
    return false;
}

void node_show_log(const struct node *node)
{
    FILE *file = fopen(node->log, "re");
    char text[LOG_SHOWN + 1];
    size_t len = 0;

    if (!file)
        return;
    if (fseek(file, -LOG_SHOWN, SEEK_END) != 0)
        rewind(file);
    len = fread(text, 1, LOG_SHOWN, file);
    (void)fclose(file);
    text[len] = '\0';
    print_message("# the log of %s ends with:\n", node->name);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        print_message("#   %s\n", line);
}
