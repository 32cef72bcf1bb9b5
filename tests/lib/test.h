/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every test includes: cmocka with its prerequisites, an allocator that can fail on purpose
 * and notices leaks, and readable checks for pawl calls.
 */
#ifndef PAWL_TESTS_LIB_TEST_H
#define PAWL_TESTS_LIB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"

#include <pawl/error.h>
#include <pawl/ext/env.h>

/*
 * An allocator over malloc that counts, so that a test can demand that all came back, and that
 * refuses on purpose: `fail_at` n refuses the nth allocation or growth from now (1 is the next),
 * 0 never; with `fail_on` all later ones fail too. Frees and shrinks never fail.
 */
struct test_allocator {
    struct pawl_allocator base;
    _Atomic size_t live_bytes;
    _Atomic size_t live_count;
    _Atomic size_t request_count; /* allocations and growths so far */
    size_t fail_at;               /* in terms of request_count */
    int fail_on;
};

void test_allocator_init(struct test_allocator *alloc);
void test_allocator_fail(struct test_allocator *alloc, size_t nth, int also_all_later);

/*
 * The allocation-failure sweep: runs `body` with the 1st, 2nd, … allocation refused, each once
 * transient and once persistent, until a run needs no more. `body` answers its own status; it must
 * answer PAWL_ENOMEM when an allocation was refused and it could not do without, and must leave
 * nothing allocated. Fails the test otherwise, or after `most` rounds.
 */
void test_sweep_allocations(int (*body)(struct test_allocator *alloc, void *arg), void *arg,
                            size_t most);

/* PAWL_OK, or the test fails showing the code and err's message. */
#define assert_ok(call, err) test_assert_ok((call), (err), #call, __FILE__, __LINE__)
void test_assert_ok(int code, const struct pawl_error *err, const char *call, const char *file,
                    int line);

/* Exactly this code, by name in the report. */
#define assert_code(call, code) test_assert_code((call), (code), #call, __FILE__, __LINE__)
void test_assert_code(int code, int expected, const char *call, const char *file, int line);

/* Both as text in the report. */
#define assert_str(s, text) test_assert_str((s), (text), __FILE__, __LINE__)
void test_assert_str(struct pawl_str s, const char *text, const char *file, int line);

/* Path of a file under tests/data, valid until the next call with the same buffer. */
const char *test_data_path(char *buffer, size_t size, const char *name);
/* Whole content of a file, malloc'ed; fails the test when it cannot be read. */
struct pawl_str test_read_file(const char *path);

/* splitmix64: tests that want many random inputs take them from here, by seed. */
uint64_t test_random(uint64_t *state);

/*
 * Where files are quick: in memory, if there is room, else "/tmp". What a process that was killed
 * wrote stays in either; only a machine that stops would lose it, which no test does.
 * PAWL_TEST_FOLDER says otherwise.
 */
const char *test_fast_folder(void);

/*
 * Where sweeps that cannot visit every point begin: a number made of the commit's hash, which
 * tools/run-tests sets (PAWL_TEST_ROTATION), so that each commit visits others. 0 by default.
 */
uint64_t test_rotation(void);

#endif
