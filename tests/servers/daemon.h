/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What private servers of tests have in common: a folder below test_fast_folder() with the test's
 * pid in its name, a free port, a process that dies with the test. Whatever goes wrong here fails
 * the test.
 */
#ifndef PAWL_TESTS_SERVERS_DAEMON_H
#define PAWL_TESTS_SERVERS_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct test_daemon {
    char folder[64];
    pid_t pid; /* 0: it does not run */
    uid_t uid; /* a test that is root gives it to this user; 0: to nobody */
    gid_t gid;
    int death_signal; /* that it gets when the test dies; 0: SIGKILL */
};

/* Makes the folder PREFIX-PID-XXXXXX and removes those of programs that were killed. */
void test_daemon_init(struct test_daemon *daemon, const char *prefix);
/* For programs that refuse to run as root: postgres, or nobody. */
void test_daemon_drop_root(struct test_daemon *daemon);
/*
 * A port that is free now, and that the system gives to nobody by itself: a server that is stopped
 * and started again finds it free, and who connects to it meanwhile is not connected with itself.
 */
uint16_t test_daemon_port(void);
/* The first of `paths` (NULL ends them) that can be run; fails with `package` in the message. */
const char *test_daemon_program(const char *const *paths, const char *package);

/* Starts a program in the folder; its output goes to the file "log" there. */
void test_daemon_launch(struct test_daemon *daemon, const char *const *arguments);
/* Whether something listens at 127.0.0.1:port; waits for that while the process lives. */
bool test_daemon_comes_up(struct test_daemon *daemon, uint16_t port);
void test_daemon_show_log(const struct test_daemon *daemon);
/* Sends the signal (after SIGCONT) and waits for the end. */
void test_daemon_end(struct test_daemon *daemon, int signal_number);
/* Removes the folder; the process has ended. */
void test_daemon_release(struct test_daemon *daemon);

#endif
