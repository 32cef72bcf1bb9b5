/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private server (servers/daemon.h) whose standard input and output are held by the test. It ends
 * with test_program_stop(), or with the test's process, however that ends. Whatever goes wrong here
 * fails the test.
 */
#ifndef PAWL_TESTS_SERVERS_PROGRAM_H
#define PAWL_TESTS_SERVERS_PROGRAM_H

#include "servers/daemon.h"

struct test_program {
    struct test_daemon daemon;
    int in, out;
};

/* Makes the folder: /tmp/pawl-NAME-PID-…; what programs left there that were killed is removed. */
void test_program_folder(struct test_program *program, const char *name);
/* Starts `arguments` (NULL at the end) there; the first is looked for on the path. `missing` says
 * what to install when it is not found. */
void test_program_start(struct test_program *program, const char *const *arguments,
                        const char *missing);
/* The next line of its standard output, without its end; shows the log and fails after a minute. */
void test_program_line(struct test_program *program, char *out, size_t size);
/* Ends it; its folder stays. */
void test_program_kill(struct test_program *program);
/* Ends it and removes its folder. Does nothing to one that was never started or is stopped. */
void test_program_stop(struct test_program *program);
void test_program_pause(const struct test_program *program);
void test_program_continue(const struct test_program *program);

/* Runs `arguments` to its end, output into `out`. Answers its exit code. */
int test_program_run(const char *const *arguments, const char *input, char *out, size_t size);

#endif
