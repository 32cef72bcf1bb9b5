/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that serves a test: a folder of its own below /tmp, its messages in a log there, its
 * standard input and output held by the test. It ends with test_program_stop(), or with the test's
 * process, however that ends. Whatever goes wrong here fails the test.
 */
#ifndef PAWL_TESTS_SERVERS_PROGRAM_H
#define PAWL_TESTS_SERVERS_PROGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct test_program {
    char folder[64];
    pid_t pid; /* 0: it does not run */
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
/* Prints its log. */
void test_program_show_log(const struct test_program *program);

/* Runs `arguments` to its end, output into `out`. Answers its exit code. */
int test_program_run(const char *const *arguments, const char *input, char *out, size_t size);

/* A port on loopback that nobody has at the moment. */
uint16_t test_free_port(void);

#endif
