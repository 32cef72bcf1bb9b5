/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ten thousand clients that have had an answer and stay: what each costs, and that one more is
 * answered as before. The clients are another process, so that each side has its descriptors; where
 * there are fewer, there are fewer clients.
 */
#include "os/activation.h"
#include "unit/http/serving.h"

#include <sys/wait.h>
#include <unistd.h>

#define CLIENTS_MAX 10000
#define BYTES_MAX 4096

/* Sanitizers keep what was freed. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RESIDENT_MAX SIZE_MAX
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RESIDENT_MAX SIZE_MAX
#endif
#endif
#ifndef RESIDENT_MAX
#define RESIDENT_MAX BYTES_MAX
#endif

static size_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    char line[128] = "";
    char *second;

    assert_non_null(file);
    (void)!fgets(line, sizeof line, file);
    (void)fclose(file);
    second = strchr(line, ' ');
    return second ? strtoul(second, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

/* The child: connects, asks, reads, stays until the pipe closes. Its exit code says how it went. */
static int run_clients(uint16_t port, int count, int tell, int stay)
{
    struct pawl_env *env;
    struct pawl_error err;
    static struct pawl_socket sockets[CLIENTS_MAX];
    char byte = 'r', text[512];
    size_t got;

    if (pawl_system_env_open(&env, &err) != PAWL_OK)
        return 2;
    for (int i = 0; i < count; i++) {
        const struct pawl_socket_wait wait = {env, NULL,
                                              pawl_env_monotonic_ns(env) + INT64_C(120000000000)};

        if (pawl__socket_connect("127.0.0.1", port, &wait, &sockets[i], &err) != PAWL_OK ||
            pawl__socket_write(&sockets[i], GET("/hello"), strlen(GET("/hello")), &wait, &got,
                               &err) != PAWL_OK ||
            pawl__socket_read(&sockets[i], text, sizeof text, &wait, &got, &err) != PAWL_OK ||
            got < 15 || memcmp(text, "HTTP/1.1 200 OK", 15) != 0)
            return 3;
    }
    if (write(tell, &byte, 1) != 1)
        return 4;
    (void)!read(stay, &byte, 1);
    return 0;
}

static void ten_thousand_idle_connections_cost_little(void **state)
{
    size_t limit = pawl__activation_raise_descriptors(), heap, resident;
    int count = limit > CLIENTS_MAX + 100 ? CLIENTS_MAX : (int)limit - 100;
    int ready[2], stay[2], port_pipe[2], code = -1;
    struct serving s;
    char byte, text[512];
    uint16_t port;
    pid_t child;

    (void)state;
    assert_true(count > 100);
    assert_int_equal(pipe(ready) | pipe(stay) | pipe(port_pipe), 0);
    child = fork(); /* before there are threads */
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(stay[1]);
        if (read(port_pipe[0], &port, sizeof port) != sizeof port)
            _exit(1);
        _exit(run_clients(port, count, ready[1], stay[0]));
    }
    (void)close(ready[1]);
    serving_open(&s);
    s.options.limits.connections_per_address_max = 0;
    s.options.limits.idle_ms = 600000;
    serving_start(&s);
    assert_int_equal(ask(&s, GET("/hello"), text, sizeof text), 200);
    await_connections(&s, 0);
    heap = s.alloc.live_bytes;
    resident = resident_bytes();
    assert_int_equal(write(port_pipe[1], &s.port, sizeof s.port), sizeof s.port);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    await_connections(&s, (uint64_t)count);
    heap = s.alloc.live_bytes - heap;
    resident = resident_bytes() - resident;
    print_message("# %d connections: %zu bytes each, %zu resident\n", count, heap / (size_t)count,
                  resident / (size_t)count);
    assert_true(heap / (size_t)count <= BYTES_MAX);
    assert_true(resident / (size_t)count <= RESIDENT_MAX);
    assert_int_equal(ask(&s, GET("/hello"), text, sizeof text), 200);
    assert_int_equal(ask(&s, GET("/loop"), text, sizeof text), 200);
    (void)close(stay[1]);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    await_connections(&s, 0);
    serving_close(&s);
    (void)close(ready[0]);
    (void)close(stay[0]);
    (void)close(port_pipe[0]);
    (void)close(port_pipe[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_idle_connections_cost_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
