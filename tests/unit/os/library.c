/* SPDX-License-Identifier: Apache-2.0 */
#include "os/library.h"
#include "lib/test.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The C library's own mathematics: always there, always as libm.so.6. */
struct math {
    void *padding;
    double (*floor)(double);
    double (*sqrt)(double);
};

static const struct pawl_library_symbol math_symbols[] = {
    PAWL_LIBRARY_SYMBOL(math, floor),
    PAWL_LIBRARY_SYMBOL(math, sqrt),
};

static void fills_the_table(void **state)
{
    const struct pawl_library_need need = {{"libm.so.6"}, "libc6", math_symbols, 2};
    struct pawl_library library = {NULL};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct math math = {0};
    volatile double nine = 9.5; /* so that nothing is computed by the compiler */

    (void)state;
    assert_ok(pawl__library_open(&need, &math, &library, &err), &err);
    assert_true(math.floor(nine) > 8.9 && math.floor(nine) < 9.1);
    assert_true(math.sqrt(nine) > 3.0 && math.sqrt(nine) < 3.1);
    assert_null(math.padding);
    pawl__library_close(&library);
    assert_null(library.handle);
    pawl__library_close(&library);
}

static void tries_the_names_in_order(void **state)
{
    const struct pawl_library_need need = {
        {"libpawl-none.so.2", "libm.so.6", "libpawl-none.so.1"}, "libc6", math_symbols, 2};
    struct pawl_library library = {NULL};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct math math = {0};

    (void)state;
    assert_ok(pawl__library_open(&need, &math, &library, &err), &err);
    assert_non_null((void *)(uintptr_t)math.sqrt);
    pawl__library_close(&library);
}

static void a_missing_library_names_the_package(void **state)
{
    const struct pawl_library_need need = {
        {"libpawl-none.so.5", "libpawl-none.so.4"}, "libpawl-none5", math_symbols, 2};
    struct pawl_library library = {NULL};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct math math = {0};

    (void)state;
    assert_code(pawl__library_open(&need, &math, &library, &err), PAWL_EMISSING);
    assert_string_equal(err.msg,
                        "libpawl-none.so.5 is not installed: apt-get install libpawl-none5");
    assert_null(library.handle);
}

static void a_missing_function_leaves_the_table_untouched(void **state)
{
    static const struct pawl_library_symbol symbols[] = {
        PAWL_LIBRARY_SYMBOL(math, floor),
        {"pawl_no_such_function", offsetof(struct math, sqrt)},
    };
    const struct pawl_library_need need = {{"libm.so.6"}, "libc6", symbols, 2};
    struct pawl_library library = {NULL};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct math math = {0};

    (void)state;
    assert_code(pawl__library_open(&need, &math, &library, &err), PAWL_EMISSING);
    assert_non_null(strstr(err.msg, "libm.so.6 lacks the function pawl_no_such_function"));
    assert_non_null(strstr(err.msg, "apt-get install libc6"));
    assert_true(math.floor == NULL);
    assert_null(library.handle);
}

static void a_file_that_is_no_library_is_told_apart(void **state)
{
    const struct pawl_library_need need = {{"/etc/passwd"}, "libx", math_symbols, 2};
    struct pawl_library library = {NULL};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct math math = {0};

    (void)state;
    assert_code(pawl__library_open(&need, &math, &library, &err), PAWL_EMISSING);
    assert_non_null(strstr(err.msg, "/etc/passwd cannot be loaded: apt-get install --reinstall"));
}

/* ---- what the system does not allow -----------------------------------------------------------
 */

static const char *said; /* instead of what the system says; NULL */

static char *(*system_dlerror)(void);

/* Comes before the system's. */
char *dlerror(void)
{
    if (said)
        return (char *)(uintptr_t)said;
    return system_dlerror ? system_dlerror() : NULL; /* a sanitizer may ask before main() */
}

/* At the beginning: dlsym() forgets what dlerror() would say. */
static void find_system_dlerror(void)
{
    void *symbol = dlsym(RTLD_NEXT, "dlerror");

    memcpy(&system_dlerror, &symbol, sizeof symbol);
}

static int open_when_it_says(const char *text, struct pawl_error *err)
{
    const struct pawl_library_need need = {{"/etc/passwd"}, "libx", math_symbols, 2};
    struct pawl_library library = {NULL};
    struct math math = {0};
    int status;

    said = text;
    status = pawl__library_open(&need, &math, &library, err);
    said = NULL;
    return status;
}

#define MAP_TEXT "/etc/passwd: failed to map segment from shared object"

static void a_library_that_may_not_be_executed_is_not_short_of_memory(void **state)
{
    static const char *const texts[] = {MAP_TEXT ": Operation not permitted",
                                        MAP_TEXT ": Permission denied", MAP_TEXT};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;

        assert_code(open_when_it_says(texts[i], &err), PAWL_EMISSING);
        assert_non_null(strstr(err.msg, "apt-get install --reinstall libx"));
        assert_non_null(strstr(err.msg, texts[i]));
    }
}

static void memory_that_cannot_be_mapped_is_not_the_librarys_fault(void **state)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    assert_code(open_when_it_says(MAP_TEXT ": Cannot allocate memory", &err), PAWL_ENOMEM);
}

/* ---- what this process lacks ----------------------------------------------------------------- */

#define DESCRIPTORS_MAX 4096

struct zlib {
    const char *(*version)(void);
};

/* Not loaded yet by any of these tests. */
static const struct pawl_library_symbol zlib_symbols[] = {
    {"zlibVersion", offsetof(struct zlib, version)}};
static const struct pawl_library_need zlib_need = {{"libz.so.1"}, "zlib1g", zlib_symbols, 1};

static void without_descriptors_a_library_is_not_missing(void **state)
{
    struct pawl_library library = {NULL};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct zlib zlib = {NULL};
    struct rlimit before, limit;
    int fds[DESCRIPTORS_MAX], count = 0;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = DESCRIPTORS_MAX < before.rlim_cur ? DESCRIPTORS_MAX : before.rlim_cur;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    while (count < DESCRIPTORS_MAX && (fds[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        count++;
    assert_code(pawl__library_open(&zlib_need, &zlib, &library, &err), PAWL_EUNAVAILABLE);
    assert_string_equal(err.msg, "libz.so.1 cannot be loaded now: Too many open files; raise the "
                                 "limit of open files (ulimit -n)");
    assert_null(library.handle);
    while (count > 0)
        (void)close(fds[--count]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_ok(pawl__library_open(&zlib_need, &zlib, &library, &err), &err);
    pawl__library_close(&library);
}

/* A sanitizer takes more room than there is. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER
#endif
#endif

#ifndef HAS_SANITIZER

/* In a process of its own: the tests need memory. Its exit status is the code that it got. */
static int open_with_memory(rlim_t kib)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        const struct pawl_library_need need = {
            {"libcurl.so.4"}, "libcurl4", NULL, 0}; /* large, and it needs others */
        const struct rlimit limit = {kib << 10, RLIM_INFINITY};
        struct pawl_library library = {NULL};
        struct pawl_error err = PAWL_ERROR_INIT;
        struct zlib zlib;

        (void)close(STDERR_FILENO); /* libraries complain there */
        if (setrlimit(RLIMIT_AS, &limit) != 0)
            _exit(100);
        status = pawl__library_open(&need, &zlib, &library, &err);
        if (status != PAWL_OK && (strstr(err.msg, "apt-get") || !strstr(err.msg, "libcurl.so.4")))
            _exit(101);
        _exit(-status);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

/* As on a file system that is mounted with noexec. -1: this machine has no filters of calls. */
static int open_without_execution(int errnum)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)errnum),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    const struct pawl_library_need need = {{"libcurl.so.4"}, "libcurl4", NULL, 0};
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        struct pawl_library library = {NULL};
        struct pawl_error err = PAWL_ERROR_INIT;
        struct zlib zlib;

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
            _exit(100);
        status = pawl__library_open(&need, &zlib, &library, &err);
        _exit(strstr(err.msg, "apt-get install --reinstall libcurl4") ? -status : 101);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 100 ? -1 : -WEXITSTATUS(status);
}

static void a_library_that_the_system_does_not_let_run_is_to_blame(void **state)
{
    static const int errnums[] = {EPERM, EACCES};

    (void)state;
    for (size_t i = 0; i < sizeof errnums / sizeof errnums[0]; i++) {
        int code = open_without_execution(errnums[i]);

        if (code == -1)
            skip();
        assert_int_equal(code, PAWL_EMISSING);
    }
}

static void without_memory_a_library_is_not_missing(void **state)
{
    int refusals = 0, code = PAWL_ENOMEM;

    (void)state;
    assert_int_equal(open_with_memory(0), PAWL_ENOMEM);
    for (rlim_t kib = 1024; code != PAWL_OK && kib < (rlim_t)1 << 20; kib += 512) {
        code = open_with_memory(kib);
        if (code != PAWL_OK) {
            assert_int_equal(code, PAWL_ENOMEM);
            refusals++;
        }
    }
    assert_true(code == PAWL_OK && refusals > 3);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_the_table),
        cmocka_unit_test(tries_the_names_in_order),
        cmocka_unit_test(a_missing_library_names_the_package),
        cmocka_unit_test(a_missing_function_leaves_the_table_untouched),
        cmocka_unit_test(a_file_that_is_no_library_is_told_apart),
        cmocka_unit_test(a_library_that_may_not_be_executed_is_not_short_of_memory),
        cmocka_unit_test(memory_that_cannot_be_mapped_is_not_the_librarys_fault),
#ifndef HAS_SANITIZER
        cmocka_unit_test(a_library_that_the_system_does_not_let_run_is_to_blame),
        cmocka_unit_test(without_memory_a_library_is_not_missing),
#endif
        cmocka_unit_test(without_descriptors_a_library_is_not_missing),
    };

    find_system_dlerror();
    return cmocka_run_group_tests_name("os/library", tests, NULL, NULL);
}
