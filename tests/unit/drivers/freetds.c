/* SPDX-License-Identifier: Apache-2.0 */
/* The SQL Server driver on the double of SQL Server. */
#include "drivers/freetds.h"
#include "lib/test.h"
#include "os/shifted_env.h"
#include "servers/tds.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND_NS INT64_C(1000000000)

struct fixture {
    struct test_tds server;
    struct pawl_env *env;
    struct pawl_socket_wait wait;
    struct pawl_error err;
};

static int open_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (!f)
        return -1;
    *state = f;
    test_tds_start(&f->server, TEST_TDS_PLAIN);
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    f->wait = (struct pawl_socket_wait){f->env, NULL, PAWL_FOREVER};
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;

    pawl_system_env_close(f->env);
    test_tds_stop(&f->server);
    free(f);
    return 0;
}

static struct pawl_tds_options options_for(const struct test_tds *server)
{
    return (struct pawl_tds_options){
        .host = "127.0.0.1",
        .port = server->port,
        .user = TEST_TDS_USER,
        .password = TEST_TDS_PASSWORD,
        .database = "locks",
        .tls = *server->cert ? PAWL_TDS_TLS_FULL : PAWL_TDS_TLS_OFF,
        .ca_file = *server->cert ? server->cert : NULL,
        .patience_seconds = 1,
    };
}

/* Connects with these options; *tds goes to the caller on success only. */
static int connect_with(struct fixture *f, const struct pawl_tds_options *options,
                        struct pawl_tds **tds, struct pawl_tds_conn **conn)
{
    int status = pawl__tds_open(f->env, options, tds, &f->err);

    if (status != PAWL_OK)
        return status;
    status = pawl__tds_connect(*tds, &f->wait, conn, &f->err);
    if (status != PAWL_OK)
        pawl__tds_close(*tds);
    return status;
}

static struct pawl_tds_conn *connect_to(struct fixture *f, struct pawl_tds **tds)
{
    struct pawl_tds_options options = options_for(&f->server);
    struct pawl_tds_conn *conn = NULL;

    assert_ok(connect_with(f, &options, tds, &conn), &f->err);
    return conn;
}

static int get_lock(struct fixture *f, struct pawl_tds_conn *conn, const char *name,
                    int32_t timeout_ms, int32_t *answer)
{
    const struct pawl_tds_param params[] = {
        {.name = "@Resource", .text = pawl__str(name)},
        {.name = "@LockMode", .text = pawl__str("Exclusive")},
        {.name = "@LockOwner", .text = pawl__str("Session")},
        {.name = "@LockTimeout", .is_number = true, .number = timeout_ms},
    };
    bool has = false;
    int status = pawl__tds_call(conn, "sp_getapplock", params, 4, &f->wait, answer, &has, &f->err);

    if (status == PAWL_OK)
        assert_true(has);
    return status;
}

static int keep_columns(void *ctx, const struct pawl_str *columns, size_t count)
{
    char *out = ctx;

    for (size_t i = 0; i < count; i++)
        (void)snprintf(out + strlen(out), 200 - strlen(out), "%.*s|", PAWL_STR_ARG(columns[i]));
    return 0;
}

/* ---- tests ------------------------------------------------------------------------------- */

static void a_procedure_answers_its_status_and_names_arrive_whole(void **state)
{
    struct fixture *f = *state;
    struct pawl_tds *tds;
    struct pawl_tds_conn *conn = connect_to(f, &tds);
    int32_t answer = -7;

    assert_ok(get_lock(f, conn,
                       "gr\xc3\xbc\xc3\x9f"
                       "e \xe6\xbc\xa2 \xf0\x9f\x98\x80",
                       0, &answer),
              &f->err);
    assert_int_equal(answer, 0);
    assert_string_not_equal(test_tds_tell(&f->server, "held gr\xc3\xbc\xc3\x9f"
                                                      "e \xe6\xbc\xa2 \xf0\x9f\x98\x80"),
                            "nobody");
    assert_string_equal(test_tds_tell(&f->server, "hold busy"), "0");
    assert_ok(get_lock(f, conn, "busy", 0, &answer), &f->err);
    assert_int_equal(answer, -1);
    (void)test_tds_tell(&f->server, "free busy");
    pawl__tds_disconnect(conn);
    pawl__tds_close(tds);
    (void)test_tds_tell(&f->server, "await sessions 0");
}

static void a_batch_answers_rows_and_errors_by_number(void **state)
{
    struct fixture *f = *state;
    struct pawl_tds *tds;
    struct pawl_tds_conn *conn = connect_to(f, &tds);
    char row[200] = "";

    assert_ok(pawl__tds_query(conn, "SELECT 4711, N'\xe6\xbc\xa2', NULL; SELECT 'again'",
                              keep_columns, row, &f->wait, &f->err),
              &f->err);
    assert_string_equal(row, "4711|\xe6\xbc\xa2||again|");
    assert_code(pawl__tds_query(conn, "EXEC sp_releaseapplock @Resource = 'not held'", NULL, NULL,
                                &f->wait, &f->err),
                PAWL_ENOTFOUND);
    assert_int_equal(pawl__tds_error_number(conn), 1223);
    assert_non_null(strstr(f->err.msg, "not held"));
    assert_code(pawl__tds_query(conn, "nonsense here", NULL, NULL, &f->wait, &f->err),
                PAWL_EUNSUPPORTED);
    assert_ok(pawl__tds_query(conn, "SELECT 1", NULL, NULL, &f->wait, &f->err), &f->err);
    assert_int_equal(pawl__tds_error_number(conn), 0);
    pawl__tds_disconnect(conn);
    pawl__tds_close(tds);
}

static void refusals_say_what_to_do_and_no_secrets(void **state)
{
    struct fixture *f = *state;
    struct pawl_tds_options options = options_for(&f->server);
    struct pawl_tds_conn *conn = NULL;
    struct pawl_tds *tds = NULL;

    options.password = "wrong-horse";
    assert_code(connect_with(f, &options, &tds, &conn), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "check user and password"));
    assert_null(strstr(f->err.msg, "horse"));
    options = options_for(&f->server);
    options.database = "missing";
    /* While a database moves to another server it looks the same: to be tried again. */
    assert_code(connect_with(f, &options, &tds, &conn), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(f->err.msg, "check the database"));
    options = options_for(&f->server);
    options.port = 1;
    assert_code(connect_with(f, &options, &tds, &conn), PAWL_EUNAVAILABLE);
    options = options_for(&f->server);
    options.host = "127.0.0.1\nport = 1";
    assert_code(connect_with(f, &options, &tds, &conn), PAWL_EINVAL);
    options = options_for(&f->server);
    options.ca_file = "/etc/some#file";
    assert_code(connect_with(f, &options, &tds, &conn), PAWL_EINVAL);
}

static void a_deadline_is_an_attention_and_the_connection_stays_good(void **state)
{
    struct fixture *f = *state;
    struct pawl_tds *tds;
    struct pawl_tds_conn *conn = connect_to(f, &tds);
    struct pawl_socket_wait forever = f->wait;
    int32_t answer = -7;

    (void)test_tds_tell(&f->server, "hold theirs");
    f->wait.deadline_ns = pawl_env_monotonic_ns(f->env) + SECOND_NS / 20;
    assert_code(get_lock(f, conn, "theirs", 60000, &answer), PAWL_ETIMEDOUT);
    f->wait = forever;
    assert_false(pawl__tds_is_broken(conn));
    assert_string_equal(test_tds_tell(&f->server, "waiting"), "0");
    assert_ok(get_lock(f, conn, "other", 0, &answer), &f->err);
    assert_int_equal(answer, 0);
    (void)test_tds_tell(&f->server, "free theirs");
    pawl__tds_disconnect(conn);
    pawl__tds_close(tds);
}

static void an_attention_that_nobody_acknowledges_breaks_the_connection(void **state)
{
    struct fixture *f = *state;
    struct pawl_tds *tds;
    struct pawl_tds_conn *conn = connect_to(f, &tds);
    struct pawl_waker waker;
    int32_t answer = -7;

    (void)test_tds_tell(&f->server, "hold theirs");
    (void)test_tds_tell(&f->server, "deaf on");
    assert_ok(pawl__waker_init(&waker, &f->err), &f->err);
    pawl__waker_wake(&waker);
    f->wait.waker = &waker;
    assert_code(get_lock(f, conn, "theirs", 60000, &answer), PAWL_ECANCELLED);
    f->wait.waker = NULL;
    assert_true(pawl__tds_is_broken(conn));
    assert_code(get_lock(f, conn, "other", 0, &answer), PAWL_EUNAVAILABLE);
    (void)test_tds_tell(&f->server, "deaf off");
    (void)test_tds_tell(&f->server, "free theirs");
    pawl__waker_release(&waker);
    pawl__tds_disconnect(conn);
    pawl__tds_close(tds);
    (void)test_tds_tell(&f->server, "await sessions 0");
}

static void an_answer_that_is_lost_is_unknown(void **state)
{
    struct fixture *f = *state;
    struct pawl_tds *tds;
    struct pawl_tds_conn *conn = connect_to(f, &tds);
    int32_t answer = -7;

    (void)test_tds_tell(&f->server, "lose answer");
    assert_code(get_lock(f, conn, "mine", 0, &answer), PAWL_EUNKNOWN);
    assert_true(pawl__tds_is_broken(conn));
    pawl__tds_disconnect(conn);
    pawl__tds_close(tds);
}

static void answers_in_pieces_are_put_together_and_half_ones_given_up(void **state)
{
    struct fixture *f = *state;
    struct pawl_tds *tds;
    struct pawl_tds_conn *conn = connect_to(f, &tds);
    int32_t answer = -7;

    (void)test_tds_tell(&f->server, "split 3");
    assert_ok(get_lock(f, conn, "mine", 0, &answer), &f->err);
    assert_int_equal(answer, 0);
    (void)test_tds_tell(&f->server, "split 0");
    (void)test_tds_tell(&f->server, "stall on");
    assert_code(get_lock(f, conn, "other", 0, &answer), PAWL_EUNKNOWN);
    (void)test_tds_tell(&f->server, "stall off");
    pawl__tds_disconnect(conn);
    pawl__tds_close(tds);
}

static void the_end_of_an_idle_session_is_seen(void **state)
{
    struct fixture *f = *state;
    struct pawl_tds *tds;
    struct pawl_tds_conn *conn = connect_to(f, &tds);
    int32_t answer = -7;

    assert_ok(get_lock(f, conn, "mine", 0, &answer), &f->err);
    assert_true(pawl__tds_is_quiet(conn));
    (void)test_tds_tell(&f->server, "kill all");
    (void)test_tds_tell(&f->server, "await sessions 0");
    while (pawl__tds_is_quiet(conn))
        (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + SECOND_NS / 1000);
    pawl__tds_disconnect(conn);
    pawl__tds_close(tds);
}

static void codes_follow_numbers_then_severity(void **state)
{
    static const struct {
        int number, severity, code;
    } cases[] = {
        {18456, 14, PAWL_EPERM},
        {1205, 13, PAWL_EUNAVAILABLE},
        {40613, 14, PAWL_EUNAVAILABLE},
        {102, 15, PAWL_EINVAL},
        {596, 21, PAWL_EUNAVAILABLE},
        {4060, 11, PAWL_EUNAVAILABLE},
        {4064, 11, PAWL_ENOTFOUND},
        {911, 16, PAWL_ENOTFOUND},
        {208, 16, PAWL_ENOTFOUND},
        {229, 14, PAWL_EPERM},
        {916, 14, PAWL_EPERM},
        {18452, 14, PAWL_EPERM},
        {547, 16, PAWL_ECONFLICT},
        {2627, 14, PAWL_EEXISTS},
        {2601, 14, PAWL_EEXISTS},
        {2628, 16, PAWL_ELIMIT},
        {8152, 16, PAWL_ELIMIT},
        {1222, 16, PAWL_EBUSY},
        {3960, 16, PAWL_EBUSY},
        {1204, 19, PAWL_EUNAVAILABLE},
        {3906, 16, PAWL_EUNAVAILABLE},
        {9002, 17, PAWL_EUNAVAILABLE},
        {983, 14, PAWL_EUNAVAILABLE},
        {6005, 14, PAWL_EUNAVAILABLE},
        {823, 24, PAWL_EIO},
        {824, 24, PAWL_ECORRUPT},
        {2812, 16, PAWL_EUNSUPPORTED},
        {10928, 16, PAWL_EUNAVAILABLE},
        {49918, 16, PAWL_EUNAVAILABLE},
        {40197, 17, PAWL_EUNAVAILABLE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (pawl__tds_code(cases[i].number, cases[i].severity) != cases[i].code)
            fail_msg("error %d is not %s", cases[i].number, pawl_error_name(cases[i].code));
}

/* ---- TLS --------------------------------------------------------------------------------- */

static void a_certificate_is_verified_and_can_be_trusted_by_name(void **state)
{
    struct fixture *f = *state;
    struct test_tds secure;
    struct pawl_tds_options options;
    struct pawl_tds_conn *conn = NULL;
    struct pawl_tds *tds = NULL;
    int32_t answer = -7;

    test_tds_start(&secure, TEST_TDS_TLS);
    options = options_for(&secure);
    assert_ok(connect_with(f, &options, &tds, &conn), &f->err);
    assert_ok(get_lock(f, conn, "sealed", 0, &answer), &f->err);
    assert_int_equal(answer, 0);
    pawl__tds_disconnect(conn);
    pawl__tds_close(tds);

    options.ca_file = NULL; /* the system's */
    assert_code(connect_with(f, &options, &tds, &conn), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "?trust="));
    options.tls = PAWL_TDS_TLS_UNPROVEN;
    assert_ok(connect_with(f, &options, &tds, &conn), &f->err);
    pawl__tds_disconnect(conn);
    pawl__tds_close(tds);
    test_tds_stop(&secure);
}

static void a_certificate_for_another_name_is_refused_unless_told(void **state)
{
    struct fixture *f = *state;
    struct test_tds secure;
    struct pawl_tds_options options;
    struct pawl_tds_conn *conn = NULL;
    struct pawl_tds *tds = NULL;

    test_tds_start(&secure, TEST_TDS_TLS_OTHER_NAME);
    options = options_for(&secure);
    assert_code(connect_with(f, &options, &tds, &conn), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "?verify=ca"));
    options.tls = PAWL_TDS_TLS_CA;
    assert_ok(connect_with(f, &options, &tds, &conn), &f->err);
    pawl__tds_disconnect(conn);
    pawl__tds_close(tds);
    test_tds_stop(&secure);
}

static void a_server_without_tls_gets_no_password(void **state)
{
    struct fixture *f = *state;
    struct pawl_tds_options options = options_for(&f->server);
    struct pawl_tds_conn *conn = NULL;
    struct pawl_tds *tds = NULL;

    options.tls = PAWL_TDS_TLS_FULL;
    assert_code(connect_with(f, &options, &tds, &conn), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "?encrypt=off"));
}

/* ---- memory ------------------------------------------------------------------------------ */

static int connect_and_ask(struct test_allocator *alloc, void *arg)
{
    struct fixture *f = arg;
    struct pawl_shifted_env env;
    struct pawl_tds_options options = options_for(&f->server);
    struct pawl_tds_conn *conn = NULL;
    struct pawl_tds *tds = NULL;
    int status;

    pawl__shifted_env_init(&env, f->env);
    env.base.alloc = alloc->base;
    status = pawl__tds_open(&env.base, &options, &tds, &f->err);
    if (status == PAWL_OK)
        status = pawl__tds_connect(tds, &f->wait, &conn, &f->err);
    pawl__tds_disconnect(conn);
    pawl__tds_close(tds);
    return status;
}

static void running_out_of_memory_is_an_error(void **state)
{
    test_sweep_allocations(connect_and_ask, *state, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_procedure_answers_its_status_and_names_arrive_whole),
        cmocka_unit_test(a_batch_answers_rows_and_errors_by_number),
        cmocka_unit_test(refusals_say_what_to_do_and_no_secrets),
        cmocka_unit_test(a_deadline_is_an_attention_and_the_connection_stays_good),
        cmocka_unit_test(an_attention_that_nobody_acknowledges_breaks_the_connection),
        cmocka_unit_test(an_answer_that_is_lost_is_unknown),
        cmocka_unit_test(answers_in_pieces_are_put_together_and_half_ones_given_up),
        cmocka_unit_test(the_end_of_an_idle_session_is_seen),
        cmocka_unit_test(codes_follow_numbers_then_severity),
        cmocka_unit_test(a_certificate_is_verified_and_can_be_trusted_by_name),
        cmocka_unit_test(a_certificate_for_another_name_is_refused_unless_told),
        cmocka_unit_test(a_server_without_tls_gets_no_password),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests_name("drivers/freetds", tests, open_fixture, close_fixture);
}
