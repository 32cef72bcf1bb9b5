/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP driver in a process that has no memory or descriptors left. */
#include "drivers/fetching.h"
#include "os/library.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 4096
#define ALLOCATIONS_MAX 5000

/* Of libcurl's allocations: the first that fails, and whether those behind it do. */
static atomic_long next_failure = LONG_MAX;
static atomic_bool goes_on;

static bool fails(void)
{
    long left = atomic_fetch_sub(&next_failure, 1);

    return left == 1 || (left < 1 && atomic_load(&goes_on));
}

static void *may_malloc(size_t size)
{
    return fails() ? NULL : malloc(size);
}

static void *may_realloc(void *p, size_t size)
{
    return fails() ? NULL : realloc(p, size);
}

static void *may_calloc(size_t count, size_t size)
{
    return fails() ? NULL : calloc(count, size);
}

static char *may_strdup(const char *text)
{
    return fails() ? NULL : strdup(text);
}

/* The driver's own call comes second, and libcurl counts. */
struct own_memory {
    struct pawl_library library;
    int (*curl_global_init_mem)(long flags, void *(*m)(size_t), void (*f)(void *),
                                void *(*r)(void *, size_t), char *(*s)(const char *),
                                void *(*c)(size_t, size_t));
    void (*curl_global_cleanup)(void);
};

static void open_own_memory(struct own_memory *own)
{
    const long everything = 3; /* CURL_GLOBAL_DEFAULT */
    static const struct pawl_library_symbol symbols[] = {
        PAWL_LIBRARY_SYMBOL(own_memory, curl_global_init_mem),
        PAWL_LIBRARY_SYMBOL(own_memory, curl_global_cleanup)};
    static const struct pawl_library_need need = {{"libcurl.so.4"}, "libcurl4", symbols, 2};

    assert_ok(pawl__library_open(&need, own, &own->library, NULL), NULL);
    assert_int_equal(own->curl_global_init_mem(everything, may_malloc, free, may_realloc,
                                               may_strdup, may_calloc),
                     0);
}

static void close_own_memory(struct own_memory *own)
{
    own->curl_global_cleanup();
    pawl__library_close(&own->library);
}

/* true: what fails is behind the end of the request. */
static bool fetch_with_failure(struct fixture *f, long number)
{
    static const struct pawl_http_header header = {S("X-Test"), S("yes")};
    struct pawl_http_request request = {.method = S("POST"),
                                        .headers = &header,
                                        .header_count = 1,
                                        .body = S("b"),
                                        .has_body = true};
    uint32_t before = f->ended;
    uint64_t ticket;
    bool is_behind;
    char url[512];
    int status;

    (void)snprintf(url, sizeof url, "%s/ok", test_http_url(f->server));
    request.url = pawl__str(url);
    atomic_store(&next_failure, number);
    status = pawl_http_submit(f->executor, &request, on_done, f, &ticket, &f->err);
    if (status == PAWL_OK)
        wait_ended(f, before + 1);
    else
        assert_int_equal(pawl_error_class(status), PAWL_CLASS_TRANSIENT);
    is_behind = atomic_exchange(&next_failure, LONG_MAX) > 0;
    if (status != PAWL_OK)
        return is_behind;
    if (f->answer.end == PAWL_HTTP_ANSWERED) {
        assert_string_equal(f->body, "hello");
        assert_string_equal(f->header, "first");
    } else {
        assert_int_equal(f->answer.end, f->answer.sent ? PAWL_HTTP_LOST : PAWL_HTTP_NO_ROOM);
        assert_int_equal(f->answer.error.code, f->answer.sent ? PAWL_EUNKNOWN : PAWL_ENOMEM);
    }
    return is_behind;
}

/* The server's part is told from this node's wherever libcurl runs out of memory. */
static void sweep_memory(struct fixture *f, bool for_good)
{
    struct own_memory own;
    bool is_behind = false;
    int refusals = 0;

    open_own_memory(&own);
    atomic_store(&goes_on, for_good);
    for (long i = 1; i < ALLOCATIONS_MAX && !is_behind; i++) {
        open_with(f, NULL);
        is_behind = fetch_with_failure(f, i);
        refusals += f->answer.end == PAWL_HTTP_NO_ROOM;
        pawl_http_close(f->executor);
        f->executor = NULL;
    }
    close_own_memory(&own);
    assert_true(is_behind);
    assert_true(refusals > 10);
}

static void memory_that_libcurl_lacks_once_is_not_the_servers_fault(void **state)
{
    sweep_memory(*state, false);
}

static void memory_that_libcurl_lacks_for_long_is_not_the_servers_fault(void **state)
{
    sweep_memory(*state, true);
}

/* Of all that this process may have; the limit is lowered where there are very many. */
struct no_descriptors {
    struct rlimit before;
    int fds[DESCRIPTORS_MAX];
    int count;
};

static void take_descriptors(struct no_descriptors *none)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &none->before), 0);
    limit = none->before;
    if (limit.rlim_cur > DESCRIPTORS_MAX)
        limit.rlim_cur = DESCRIPTORS_MAX;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    none->count = 0;
    while (none->count < DESCRIPTORS_MAX &&
           (none->fds[none->count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        none->count++;
}

static void return_descriptors(struct no_descriptors *none)
{
    while (none->count > 0)
        (void)close(none->fds[--none->count]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none->before), 0);
}

static void without_descriptors_nothing_is_said_about_the_server(void **state)
{
    struct fixture *f = *state;
    struct no_descriptors none;
    char name[256];

    open_with(f, NULL);
    (void)snprintf(name, sizeof name, "http://localhost%s/ok",
                   strrchr(test_http_url(f->server), ':'));
    fetch(f, "GET", "file:///", NULL); /* loads the library */
    take_descriptors(&none);
    fetch(f, "GET", "/ok", NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_NO_ROOM);
    assert_int_equal(f->answer.error.code, PAWL_EUNAVAILABLE);
    assert_non_null(strstr(f->answer.error.msg, "/ok: Too many open files; raise the limit"));
    fetch(f, "GET", name, NULL); /* looking up a name takes some as well */
    assert_int_equal(f->answer.end, PAWL_HTTP_NO_ROOM);
    assert_non_null(strstr(f->answer.error.msg, "/ok: Too many open files; raise the limit"));
    return_descriptors(&none);
    fetch(f, "GET", name, NULL);
    assert_int_equal(f->answer.end, PAWL_HTTP_ANSWERED);
}

/* Not even libcurl. */
static void without_descriptors_a_first_request_is_put_off(void **state)
{
    struct fixture *f = *state;
    struct pawl_http_request request = {.method = S("GET"), .url = S("http://127.0.0.1:1/")};
    struct no_descriptors none;
    uint64_t ticket;

    open_with(f, NULL);
    take_descriptors(&none);
    assert_code(pawl_http_submit(f->executor, &request, on_done, f, &ticket, &f->err),
                PAWL_EUNAVAILABLE);
    return_descriptors(&none);
    fetch_in(f, "", "/ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(memory_that_libcurl_lacks_once_is_not_the_servers_fault),
        TEST(memory_that_libcurl_lacks_for_long_is_not_the_servers_fault),
        TEST(without_descriptors_nothing_is_said_about_the_server),
        TEST(without_descriptors_a_first_request_is_put_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
