/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of spans that this process cannot send just now: the executor is the test's. What
 * is in the requests is asked for in tests/api/tracing.
 */
#include "host/tracer.h"

#include "drivers/curl.h"
#include "lib/clock.h"
#include "lib/test.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

/* ---- an executor that refuses ---------------------------------------------------------------- */

static struct {
    struct pawl_http_executor base;
    atomic_int refusals_left;
    atomic_int code;
    atomic_int submitted, taken;
} executor;

static int submit(struct pawl_http_executor *self, const struct pawl_http_request *request,
                  pawl_http_done done, void *ctx, uint64_t *ticket, struct pawl_error *err)
{
    static const struct pawl_http_answer taken = {.end = PAWL_HTTP_ANSWERED, .status = 200};

    (void)self;
    (void)request;
    atomic_fetch_add(&executor.submitted, 1);
    if (atomic_load(&executor.refusals_left) > 0) {
        atomic_fetch_sub(&executor.refusals_left, 1);
        if (err)
            *err = (struct pawl_error){.code = atomic_load(&executor.code), .msg = "refused"};
        return atomic_load(&executor.code);
    }
    *ticket = 1;
    done(ctx, &taken);
    atomic_fetch_add(&executor.taken, 1);
    return PAWL_OK;
}

static void cancel(struct pawl_http_executor *self, uint64_t ticket)
{
    (void)self;
    (void)ticket;
}

static void close_executor(struct pawl_http_executor *self)
{
    (void)self;
}

static const struct pawl_http_executor_ops ops = {PAWL_HTTP_VERSION, close_executor, submit,
                                                  cancel};

/* Instead of the driver's. */
int pawl__curl_open(struct pawl_env *env, const struct pawl_curl_options *options,
                    struct pawl_http_executor **out, struct pawl_error *err)
{
    (void)env;
    (void)options;
    (void)err;
    executor.base.ops = &ops;
    *out = &executor.base;
    return PAWL_OK;
}

/* ---- sending --------------------------------------------------------------------------------- */

static atomic_int warnings, drops;

static void count_line(void *ctx, const char *line, size_t len)
{
    char text[512];

    (void)ctx;
    len = len < sizeof text ? len : sizeof text - 1;
    memcpy(text, line, len);
    text[len] = 0;
    if (strstr(text, "spans cannot be sent"))
        atomic_fetch_add(&warnings, 1);
    if (strstr(text, "spans were dropped"))
        atomic_fetch_add(&drops, 1);
}

static const char *variable(const char *name)
{
    return strcmp(name, "OTEL_EXPORTER_OTLP_ENDPOINT") == 0 ? "http://there" : NULL;
}

/* One span, of which the executor refuses so many tries with this code. */
static void send_one(int code, int refusals)
{
    struct pawl_span span = {.name = "a", .kind = PAWL_SPAN_INTERNAL};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_log_config config = {.sink = {count_line, NULL}, .level = PAWL_LOG_WARN};
    struct test_clock *clock;
    struct pawl_tracer *tracer;
    struct pawl_log log;
    time_t end = time(NULL) + 60;

    assert_int_equal(test_clock_open(NULL, SECOND, &clock), PAWL_OK);
    config.env = test_clock_env(clock);
    pawl_log_init(&log, &config);
    atomic_store(&executor.code, code);
    atomic_store(&executor.refusals_left, refusals);
    atomic_store(&executor.submitted, 0);
    atomic_store(&executor.taken, 0);
    atomic_store(&warnings, 0);
    atomic_store(&drops, 0);
    assert_ok(pawl__tracer_open(config.env, variable, NULL, &log, &tracer, &err), &err);
    assert_non_null(tracer);
    pawl__trace_of_instance(pawl__str("i"), &span.context);
    pawl__tracer_end(tracer, &span);
    while (atomic_load(&executor.taken) == 0 && atomic_load(&drops) == 0 && time(NULL) < end) {
        test_clock_advance(clock, SECOND);
        (void)usleep(10000);
    }
    pawl__tracer_close(tracer);
    test_clock_close(clock);
}

static void spans_wait_for_what_this_process_lacks(void **state)
{
    static const int codes[] = {PAWL_EIO, PAWL_ENOMEM, PAWL_EBUSY, PAWL_EUNAVAILABLE};

    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        send_one(codes[i], 3);
        assert_int_equal(executor.submitted, 4);
        assert_int_equal(executor.taken, 1);
        assert_int_equal(warnings, 1);
        assert_int_equal(drops, 0);
    }
}

static void spans_that_cannot_be_sent_at_all_are_dropped(void **state)
{
    (void)state;
    send_one(PAWL_EINVAL, 1);
    assert_int_equal(executor.submitted, 1);
    assert_int_equal(executor.taken, 0);
    assert_int_equal(warnings, 1);
    assert_int_equal(drops, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_wait_for_what_this_process_lacks),
        cmocka_unit_test(spans_that_cannot_be_sent_at_all_are_dropped),
    };

    return cmocka_run_group_tests_name("host/tracer", tests, NULL, NULL);
}
