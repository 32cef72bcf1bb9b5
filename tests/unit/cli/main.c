/* SPDX-License-Identifier: Apache-2.0 */
/* The whole program in this process: what it does when memory is short, and where it writes. */
#include "base/json/json.h"
#include "cli/command/command.h"
#include "lib/clock.h"
#include "lib/test.h"

#include <stdlib.h>
#include <unistd.h>

/* Runs with `words` (ended by NULL) as argv; answers the exit code and both outputs (free them). */
static int run(struct test_allocator *alloc, const char *const *words, char **out, char **err)
{
    struct test_clock *clock;
    char *argv[8] = {NULL};
    FILE *streams[2];
    char *texts[2] = {NULL, NULL};
    size_t sizes[2];
    int argc = 0, code;

    while (words[argc]) {
        argv[argc] = strdup(words[argc]);
        assert_non_null(argv[argc]);
        argc++;
    }
    for (int i = 0; i < 2; i++) {
        streams[i] = open_memstream(&texts[i], &sizes[i]);
        assert_non_null(streams[i]);
    }
    assert_int_equal(test_clock_open(&alloc->base, 0, &clock), PAWL_OK);
    code = pawl__cli_main(test_clock_env(clock), streams[0], streams[1], argc, argv);
    test_clock_close(clock);
    for (int i = 0; i < 2; i++)
        assert_int_equal(fclose(streams[i]), 0);
    while (argc > 0)
        free(argv[--argc]);
    *out = texts[0];
    *err = texts[1];
    return code;
}

static const char *const run_hello[] = {"pawl", "run", EXAMPLES_DIR "/hello.json", NULL};
static const char *const run_hello_json[] = {"pawl", "run", "--json", EXAMPLES_DIR "/hello.json",
                                             NULL};

static void data_goes_to_one_stream_and_talk_to_the_other(void **state)
{
    struct test_allocator alloc;
    char *out, *err;

    (void)state;
    test_allocator_init(&alloc);
    assert_int_equal(run(&alloc, run_hello, &out, &err), 0);
    assert_string_equal(out, "Hello from Pawl.\n"
                             "A pawl lets a ratchet turn forward and never back.\n"
                             "Goodbye.\n");
    assert_string_equal(err, "Finished  Hello  (5 activities)\n");
    assert_int_equal(alloc.live_count, 0);
    free(out);
    free(err);
}

static const char *const config[] = {"pawl", "config", "--set", "workers=3", NULL};
static const char *const config_json[] = {"pawl", "config", "--json", "--store", "memory:", NULL};
static const char *const top[] = {"pawl", "top", "--once", "--store", "memory:", NULL};
static const char *const top_json[] = {"pawl",    "top",     "--once", "--json",
                                       "--store", "memory:", NULL};

/* What is printed last; only a run that succeeds comes to it. */
static const char *last_words(const char *const *words)
{
    if (strcmp(words[1], "top") == 0)
        return strcmp(words[3], "--json") == 0 ? "\"nodes\":[]}" : "'pawl worker' starts one";
    return strcmp(words[1], "config") == 0 ? "definitions-reloader" : "Goodbye.";
}

/* The sweep wants a code; a run that could not get memory says so and answers "try again". */
static int run_sweep(struct test_allocator *alloc, void *arg)
{
    char *out, *err;
    int code = run(alloc, arg, &out, &err);
    bool complete = out && strstr(out, last_words(arg)) != NULL;

    if (code != PAWL_CLI_EXIT_OK) {
        /* Behind its first commit an instance has begun: then the answer is not "nothing happened".
         */
        assert_true(code == PAWL_CLI_EXIT_RETRY ||
                    (code == PAWL_CLI_EXIT_UNKNOWN && strstr(err, "was started")));
        assert_non_null(strstr(err, "out of memory"));
        /* Lines are printed as they come, and memory may run out behind the last of them. */
        assert_true(!complete || out[0] != '{');
    } else {
        assert_true(complete);
    }
    free(out);
    free(err);
    return code == PAWL_CLI_EXIT_OK ? PAWL_OK : PAWL_ENOMEM;
}

static void a_run_without_memory_says_so_and_prints_nothing_by_half(void **state)
{
    union {
        const char *const *words;
        void *arg;
    } all[] = {
        {.words = run_hello}, {.words = run_hello_json}, {.words = config}, {.words = config_json}};

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        test_sweep_allocations(run_sweep, all[i].arg, 1000);
}

static void a_look_at_a_store_without_memory_says_so(void **state)
{
    union {
        const char *const *words;
        void *arg;
    } all[] = {{.words = top}, {.words = top_json}};

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        test_sweep_allocations(run_sweep, all[i].arg, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_goes_to_one_stream_and_talk_to_the_other),
        cmocka_unit_test(a_run_without_memory_says_so_and_prints_nothing_by_half),
        cmocka_unit_test(a_look_at_a_store_without_memory_says_so),
    };

    return cmocka_run_group_tests_name("cli/main", tests, NULL, NULL);
}
