/* SPDX-License-Identifier: Apache-2.0 */
/* Output of commands: what several threads write at a time. */
#include "cli/command/output.h"
#include "lib/test.h"

#include <pawl/ext/env.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 20000
#define THREADS 4
#define LENGTH 40

struct writer {
    struct pawl_cli_stream *stream;
    char text[LENGTH + 1];
};

static void write_lines(void *arg)
{
    struct writer *writer = arg;

    for (int i = 0; i < LINES; i++)
        pawl__cli_write_line(writer->stream, pawl__str(writer->text));
}

/* Each is one letter, LENGTH times. */
static void assert_whole(const char *line)
{
    assert_int_equal(strlen(line), LENGTH + 1);
    for (size_t i = 0; i < LENGTH; i++)
        assert_int_equal(line[i], line[0]);
    assert_int_equal(line[LENGTH], '\n');
}

static void lines_of_several_threads_are_whole(void **state)
{
    struct pawl_cli_stream *stream = calloc(1, sizeof *stream);
    struct writer writers[THREADS];
    struct pawl_thread *threads[THREADS];
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_env *env;
    char line[THREADS * LENGTH * 4];
    int count = 0;

    (void)state;
    assert_non_null(stream);
    stream->file = tmpfile();
    assert_non_null(stream->file);
    /* Each part is a call of the system: another thread gets its chance between any two. */
    assert_int_equal(setvbuf(stream->file, NULL, _IONBF, 0), 0);
    assert_ok(pawl_system_env_open(&env, &err), &err);
    for (int i = 0; i < THREADS; i++) {
        writers[i].stream = stream;
        memset(writers[i].text, 'a' + i, LENGTH);
        writers[i].text[LENGTH] = 0;
        assert_ok(pawl_thread_start(env, "writer", write_lines, &writers[i], &threads[i], &err),
                  &err);
    }
    for (int i = 0; i < THREADS; i++)
        pawl_thread_join(env, threads[i]);
    rewind(stream->file);
    for (; fgets(line, sizeof line, stream->file); count++)
        assert_whole(line);
    assert_int_equal(count, THREADS * LINES);
    assert_int_equal(stream->error, 0);
    pawl_system_env_close(env);
    (void)fclose(stream->file);
    free(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_several_threads_are_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
