/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/json/json.h"
#include "lib/test.h"
#include "os/log_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define WALL_NS INT64_C(1794800526123456789) /* 2026-11-16 03:42:06.123456789 */

struct fake_env {
    struct pawl_env base;
    int64_t wall_ns;
};

static int64_t fake_wall_ns(struct pawl_env *env)
{
    return ((struct fake_env *)env)->wall_ns;
}

static const struct pawl_env_ops fake_ops = {.version = PAWL_ENV_VERSION, .wall_ns = fake_wall_ns};

/* One logger of every level over memory. */
struct fixture {
    struct fake_env env;
    struct pawl_log_memory memory;
    struct pawl_log log;
    char bytes[65536];
};

static void setup(struct fixture *f, enum pawl_log_level level, enum pawl_log_format format,
                  int color)
{
    struct pawl_log_config config;

    f->env = (struct fake_env){.base.ops = &fake_ops, .wall_ns = WALL_NS};
    pawl__log_memory_init(&f->memory, f->bytes, sizeof f->bytes);
    config = (struct pawl_log_config){.env = &f->env.base,
                                      .sink = pawl__log_memory_sink(&f->memory),
                                      .level = level,
                                      .format = format,
                                      .color = color};
    pawl_log_init(&f->log, &config);
}

static struct pawl_str lines(const struct fixture *f)
{
    return pawl__log_memory_peek(&f->memory);
}

static struct fixture *text_fixture(void)
{
    static struct fixture f; /* large; a test program runs one test at a time */

    setup(&f, PAWL_LOG_TRACE, PAWL_LOG_FORMAT_TEXT, 0);
    return &f;
}

static struct fixture *json_fixture(void)
{
    struct fixture *f = text_fixture();

    setup(f, PAWL_LOG_TRACE, PAWL_LOG_FORMAT_JSON, 0);
    return f;
}

#define HEAD "2026-11-16 03:42:06.123 INFO  m"
#define JSON_HEAD "{\"time\":\"2026-11-16T03:42:06.123456Z\",\"level\":\"info\",\"msg\":\"m\""

static void text_line_has_time_level_message_and_fields(void **state)
{
    struct fixture *f = text_fixture();

    (void)state;
    pawl_log(&f->log, PAWL_LOG_WARN, "lock retry", pawl_log_text("instance", "abc"),
             pawl_log_int("attempt", 2));
    assert_str(lines(f), "2026-11-16 03:42:06.123 WARN  lock retry  instance=abc attempt=2\n");
}

static void a_line_without_fields_is_just_the_message(void **state)
{
    struct fixture *f = text_fixture();

    (void)state;
    pawl_log(&f->log, PAWL_LOG_ERROR, "gone", PAWL_LOG_END);
    pawl_log_fields(&f->log, PAWL_LOG_TRACE, "step", NULL);
    assert_str(lines(f), "2026-11-16 03:42:06.123 ERROR gone\n"
                         "2026-11-16 03:42:06.123 TRACE step\n");
}

static void text_shows_every_kind_of_field(void **state)
{
    struct fixture *f = text_fixture();
    struct pawl_error err = {PAWL_EBUSY, "the lock is held; try again"};
    struct pawl_error bare = {PAWL_ENOMEM, ""};

    (void)state;
    pawl_log(&f->log, PAWL_LOG_INFO, "m", pawl__log_str("s", pawl__str_make("abcdef", 3)),
             pawl_log_int("i", INT64_MIN), pawl_log_uint("u", UINT64_MAX),
             pawl_log_hex("h", 0xBEEF), pawl_log_bool("b", 7), pawl_log_bool("n", 0),
             pawl_log_double("d", 1.5), pawl_log_double("x", NAN), pawl_log_error("e", &err),
             pawl_log_error("o", &bare), pawl_log_error("z", NULL), pawl_log_text("t", NULL));
    assert_str(lines(f),
               HEAD "  s=abc i=-9223372036854775808 u=18446744073709551615 h=000000000000beef"
                    " b=true n=false d=1.5 x=nan e=PAWL_EBUSY"
                    " e_msg=\"the lock is held; try again\" o=PAWL_ENOMEM z=PAWL_OK t=\"\"\n");
}

static void text_shows_durations_in_the_unit_that_reads_best(void **state)
{
    struct fixture *f = text_fixture();

    (void)state;
    pawl_log(
        &f->log, PAWL_LOG_INFO, "m", pawl_log_duration_ns("a", 0), pawl_log_duration_ns("b", 999),
        pawl_log_duration_ns("c", 1500), pawl_log_duration_ns("d", 20000000),
        pawl_log_duration_ns("e", -1234567890), pawl_log_duration_ns("f", INT64_C(90000000000)),
        pawl_log_duration_ns("g", INT64_C(5400000000000)), pawl_log_duration_ns("h", INT64_MIN));
    assert_str(lines(f), HEAD "  a=0ns b=999ns c=1.5us d=20ms e=-1.234s f=1.5m g=1.5h"
                              " h=-2562047.788h\n");
}

static void text_quotes_what_a_reader_could_not_tell_apart(void **state)
{
    struct fixture *f = text_fixture();

    (void)state;
    pawl_log(&f->log, PAWL_LOG_INFO, "m", pawl_log_text("a", "two words"),
             pawl_log_text("b", "say \"hi\""), pawl_log_text("c", "x=y"),
             pawl_log_text("d", "C:\\tmp"), pawl_log_text("e", "grün/日本"));
    assert_str(lines(f), HEAD "  a=\"two words\" b=\"say \\\"hi\\\"\" c=\"x=y\" d=\"C:\\\\tmp\""
                              " e=grün/日本\n");
}

static void no_control_character_reaches_the_terminal(void **state)
{
    struct fixture *f = text_fixture();
    char every[256 + 3 * 4];
    size_t len = 0;

    (void)state;
    pawl_log(&f->log, PAWL_LOG_INFO, "m\033[2J", pawl_log_text("a", "\033]0;title\a\n\tx\x7f"),
             pawl_log_text("b", "\xC2\x9B"
                                "31m"),
             pawl_log_text("c", "\u202Eabc\u2028"), pawl_log_text("d", "\xFFok\xC3"));
    assert_str(lines(f), HEAD "\\x1b[2J  a=\"\\x1b]0;title\\x07\\n\\tx\\x7f\" b=\"\\u009b31m\""
                              " c=\"\\u202eabc\\u2028\" d=\"\\xffok\\xc3\"\n");

    for (int byte = 0; byte < 256; byte++)
        every[len++] = (char)byte;
    f = text_fixture();
    pawl_log(&f->log, PAWL_LOG_INFO, "m", pawl_log_str("k", every, len));
    for (size_t i = 0; i + 1 < lines(f).len; i++)
        assert_true((unsigned char)lines(f).ptr[i] >= 0x20 && lines(f).ptr[i] != 0x7F);
}

static void colours_come_only_when_asked_for(void **state)
{
    struct fixture *f = text_fixture();

    (void)state;
    pawl_log(&f->log, PAWL_LOG_ERROR, "m", pawl_log_int("a", 1));
    assert_int_equal(pawl__str_find(lines(f), '\033', 0), SIZE_MAX);
    setup(f, PAWL_LOG_TRACE, PAWL_LOG_FORMAT_TEXT, 1);
    pawl_log(&f->log, PAWL_LOG_ERROR, "m", pawl_log_int("a", 1));
    assert_str(lines(f), "2026-11-16 03:42:06.123 \033[1;31mERROR\033[0m m"
                         "  \033[2ma\033[0m=1\n");
}

static void json_line_has_time_level_message_and_fields(void **state)
{
    struct fixture *f = json_fixture();
    struct pawl_error err = {PAWL_EBUSY, "held; try \"again\""};

    (void)state;
    pawl_log(&f->log, PAWL_LOG_INFO, "m", pawl_log_text("s", "a\nb"), pawl_log_int("i", -2),
             pawl_log_uint("u", UINT64_MAX), pawl_log_hex("h", 1), pawl_log_bool("b", 1),
             pawl_log_double("d", 1.5), pawl_log_double("n", NAN), pawl_log_double("p", -INFINITY),
             pawl_log_error("error", &err), pawl_log_duration_ns("wait", 1500));
    assert_str(lines(f), JSON_HEAD ",\"s\":\"a\\nb\",\"i\":-2,\"u\":18446744073709551615,"
                                   "\"h\":\"0000000000000001\",\"b\":true,\"d\":1.5,\"n\":\"nan\","
                                   "\"p\":\"-inf\",\"error\":\"PAWL_EBUSY\","
                                   "\"error_msg\":\"held; try \\\"again\\\"\",\"wait_ns\":1500}\n");
}

static void levels_below_the_loggers_are_not_written(void **state)
{
    struct fixture *f = text_fixture();
    enum pawl_log_level level = PAWL_LOG_OFF;

    (void)state;
    setup(f, PAWL_LOG_WARN, PAWL_LOG_FORMAT_TEXT, 0);
    assert_true(pawl_log_enabled(&f->log, PAWL_LOG_ERROR));
    assert_true(pawl_log_enabled(&f->log, PAWL_LOG_WARN));
    assert_false(pawl_log_enabled(&f->log, PAWL_LOG_INFO));
    assert_false(pawl_log_enabled(NULL, PAWL_LOG_ERROR));
    pawl_log(&f->log, PAWL_LOG_INFO, "m", PAWL_LOG_END);
    pawl_log((const struct pawl_log *)NULL, PAWL_LOG_ERROR, "m", PAWL_LOG_END);
    assert_int_equal(lines(f).len, 0);

    for (int i = PAWL_LOG_OFF; i <= PAWL_LOG_TRACE; i++) {
        assert_int_equal(pawl_log_level_parse(pawl_log_level_name((enum pawl_log_level)i), &level),
                         1);
        assert_int_equal(level, i);
    }
    assert_int_equal(pawl_log_level_parse("loud", &level), 0);
}

static void a_logger_without_a_sink_writes_nothing(void **state)
{
    struct fixture *f = text_fixture();
    struct pawl_log_config config = {.env = &f->env.base, .level = PAWL_LOG_TRACE};
    struct pawl_log log;

    (void)state;
    pawl_log_init(&log, &config);
    assert_false(pawl_log_enabled(&log, PAWL_LOG_ERROR));
    pawl_log_write(&log, PAWL_LOG_ERROR, "m", NULL);
}

static void children_carry_the_fields_of_their_ancestors_first(void **state)
{
    struct fixture *f = text_fixture();
    const struct pawl_log_field node[] = {pawl_log_text("node", "n1"), PAWL_LOG_END};
    const struct pawl_log_field part[] = {pawl_log_text("part", "timers"), PAWL_LOG_END};
    struct pawl_log child, grandchild, orphan;

    (void)state;
    pawl_log_child(&child, &f->log, node);
    pawl_log_child(&grandchild, &child, part);
    pawl_log(&grandchild, PAWL_LOG_INFO, "m", pawl_log_int("a", 1));
    pawl_log(&f->log, PAWL_LOG_INFO, "m", pawl_log_int("a", 2));
    assert_str(lines(f), HEAD "  node=n1 part=timers a=1\n" HEAD "  a=2\n");
    pawl_log_child(&orphan, NULL, node);
    pawl_log(&orphan, PAWL_LOG_ERROR, "m", PAWL_LOG_END);
    assert_false(pawl_log_enabled(&orphan, PAWL_LOG_ERROR));
}

static void a_text_line_too_long_is_cut_visibly(void **state)
{
    struct fixture *f = text_fixture();
    char *big = malloc(100001);

    (void)state;
    assert_non_null(big);
    memset(big, 'x', 100000);
    big[100000] = '\0';
    pawl_log(&f->log, PAWL_LOG_INFO, "m", pawl_log_int("a", 1), pawl_log_text("big", big),
             pawl_log_int("late", 2));
    assert_true(lines(f).len <= PAWL_LOG_LINE_MAX);
    assert_true(lines(f).len > PAWL_LOG_LINE_MAX / 4);
    assert_true(pawl__str_starts(lines(f), pawl__str(HEAD "  a=1 big=\"xxxx")));
    assert_true(pawl__str_ends(lines(f), pawl__str("xxx…\" (truncated)\n")));
    free(big);
}

/* Every length around the limit, with characters of one to six bytes once escaped. */
static void lines_near_the_limit_stay_whole(void **state)
{
    static const char *const units[] = {"x", "\"", "\n", "ü", "日", "\x01"};
    struct pawl_arena arena;
    struct test_allocator alloc;
    char value[5000];

    (void)state;
    test_allocator_init(&alloc);
    pawl__arena_init(&arena, &alloc.base, 1 << 20);
    for (size_t unit = 0; unit < sizeof units / sizeof *units; unit++) {
        for (size_t len = 600; len < 4300; len += len < 3900 ? 97 : 1) {
            struct fixture *f = json_fixture();
            size_t at = 0;
            struct pawl_json json;
            struct pawl_error err;
            bool cut;

            while (at + strlen(units[unit]) <= len) {
                memcpy(value + at, units[unit], strlen(units[unit]));
                at += strlen(units[unit]);
            }
            pawl_log(&f->log, PAWL_LOG_INFO, "m", pawl_log_str("v", value, at),
                     pawl_log_int("late", 1));
            assert_true(lines(f).len <= PAWL_LOG_LINE_MAX);
            assert_ok(pawl__json_parse(&arena, lines(f), NULL, &json, NULL, &err), &err);
            cut = pawl__json_true(pawl__json_get_text(&json, "truncated"));
            assert_int_equal(cut, pawl__json_get_text(&json, "late") == NULL);
            if (!cut)
                assert_int_equal(pawl__json_str(pawl__json_get_text(&json, "v")).len, at);
            pawl__arena_reset(&arena);
            setup(f, PAWL_LOG_TRACE, PAWL_LOG_FORMAT_TEXT, 0);
            pawl_log(&f->log, PAWL_LOG_INFO, "m", pawl_log_str("v", value, at));
            assert_true(lines(f).len <= PAWL_LOG_LINE_MAX);
            assert_true(pawl__utf8_valid(lines(f)));
        }
    }
    pawl__arena_release(&arena);
}

static void a_line_too_long_in_json_is_still_json(void **state)
{
    struct fixture *f = json_fixture();
    struct pawl_log_field many[400];

    (void)state;
    for (size_t i = 0; i < 399; i++)
        many[i] = pawl_log_text("key", "some value");
    many[399] = PAWL_LOG_END;
    pawl_log_fields(&f->log, PAWL_LOG_INFO, "m", many);
    assert_true(lines(f).len <= PAWL_LOG_LINE_MAX);
    assert_true(pawl__str_ends(lines(f), pawl__str("\"some value\",\"truncated\":true}\n")));
}

static void a_message_too_long_leaves_room_for_fields(void **state)
{
    struct fixture *f = json_fixture();
    char message[6000];

    (void)state;
    memset(message, 1, sizeof message - 1);
    message[sizeof message - 1] = '\0';
    pawl_log(&f->log, PAWL_LOG_INFO, message, pawl_log_int("a", 1));
    assert_true(pawl__str_ends(lines(f), pawl__str(",\"a\":1}\n")));
}

static void times_before_1970_and_at_the_ends_are_dates(void **state)
{
    static const struct {
        int64_t wall_ns;
        const char *line;
    } cases[] = {
        {0, "1970-01-01 00:00:00.000 INFO  m\n"},
        {-1, "1969-12-31 23:59:59.999 INFO  m\n"},
        {INT64_C(951782400000000000), "2000-02-29 00:00:00.000 INFO  m\n"},
        {INT64_C(4107542399999999999), "2100-02-28 23:59:59.999 INFO  m\n"},
        {INT64_C(4107542400000000000), "2100-03-01 00:00:00.000 INFO  m\n"},
        {INT64_MAX, "2262-04-11 23:47:16.854 INFO  m\n"},
        {INT64_MIN, "1677-09-21 00:12:43.145 INFO  m\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *f = text_fixture();

        f->env.wall_ns = cases[i].wall_ns;
        pawl_log(&f->log, PAWL_LOG_INFO, "m", PAWL_LOG_END);
        assert_str(lines(f), cases[i].line);
    }
}

static void the_memory_sink_drops_whole_lines_and_counts_them(void **state)
{
    struct fixture *f = text_fixture();

    (void)state;
    pawl__log_memory_init(&f->memory, f->bytes, 80);
    pawl_log(&f->log, PAWL_LOG_INFO, "m", pawl_log_int("a", 1));
    pawl_log(&f->log, PAWL_LOG_INFO, "m", pawl_log_text("a", "a longer line, which does not fit"));
    pawl_log(&f->log, PAWL_LOG_INFO, "m", pawl_log_int("a", 2));
    assert_str(lines(f), HEAD "  a=1\n" HEAD "  a=2\n");
    assert_int_equal(atomic_load(&f->memory.lost_count), 1);
}

static void the_fd_sink_writes_lines_and_counts_those_lost(void **state)
{
    struct fixture *f = text_fixture();
    struct pawl_log_config config = f->log.config;
    struct pawl_log_fd sink;
    struct pawl_log log;
    char got[256];
    int ends[2], full;
    ssize_t count;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    pawl__log_fd_init(&sink, ends[1]);
    config.sink = pawl__log_fd_sink(&sink);
    pawl_log_init(&log, &config);
    errno = EBADMSG;
    pawl_log(&log, PAWL_LOG_INFO, "m", pawl_log_int("a", 1));
    assert_int_equal(errno, EBADMSG);
    count = read(ends[0], got, sizeof got);
    assert_true(count > 0);
    assert_str(pawl__str_make(got, (size_t)count), HEAD "  a=1\n");
    assert_int_equal(atomic_load(&sink.lost_count), 0);
    (void)close(ends[0]);
    (void)close(ends[1]);

    full = open("/dev/full", O_WRONLY);
    assert_true(full >= 0);
    pawl__log_fd_init(&sink, full);
    pawl_log(&log, PAWL_LOG_INFO, "m", PAWL_LOG_END);
    assert_int_equal(errno, EBADMSG);
    assert_int_equal(atomic_load(&sink.lost_count), 1);
    (void)close(full);
}

#define THREADS 4
#define LINES_EACH 200

static void *log_many(void *arg)
{
    for (int i = 0; i < LINES_EACH; i++)
        pawl_log(arg, PAWL_LOG_INFO, "m", pawl_log_text("v", "abcdefghij"));
    return NULL;
}

static void lines_of_threads_do_not_mix(void **state)
{
    struct fixture *f = text_fixture();
    pthread_t threads[THREADS];
    struct pawl_str line = PAWL_STR_LIT(HEAD "  v=abcdefghij\n");

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, log_many, &f->log), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(lines(f).len, line.len * THREADS * LINES_EACH);
    for (size_t at = 0; at < lines(f).len; at += line.len)
        assert_true(pawl__str_equal(pawl__str_slice(lines(f), at, at + line.len), line));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_line_has_time_level_message_and_fields),
        cmocka_unit_test(a_line_without_fields_is_just_the_message),
        cmocka_unit_test(text_shows_every_kind_of_field),
        cmocka_unit_test(text_shows_durations_in_the_unit_that_reads_best),
        cmocka_unit_test(text_quotes_what_a_reader_could_not_tell_apart),
        cmocka_unit_test(no_control_character_reaches_the_terminal),
        cmocka_unit_test(colours_come_only_when_asked_for),
        cmocka_unit_test(json_line_has_time_level_message_and_fields),
        cmocka_unit_test(levels_below_the_loggers_are_not_written),
        cmocka_unit_test(a_logger_without_a_sink_writes_nothing),
        cmocka_unit_test(children_carry_the_fields_of_their_ancestors_first),
        cmocka_unit_test(a_text_line_too_long_is_cut_visibly),
        cmocka_unit_test(lines_near_the_limit_stay_whole),
        cmocka_unit_test(a_line_too_long_in_json_is_still_json),
        cmocka_unit_test(a_message_too_long_leaves_room_for_fields),
        cmocka_unit_test(times_before_1970_and_at_the_ends_are_dates),
        cmocka_unit_test(the_memory_sink_drops_whole_lines_and_counts_them),
        cmocka_unit_test(the_fd_sink_writes_lines_and_counts_those_lost),
        cmocka_unit_test(lines_of_threads_do_not_mix),
    };

    return cmocka_run_group_tests_name("base/log", tests, NULL, NULL);
}
