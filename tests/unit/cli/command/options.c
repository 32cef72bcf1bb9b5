/* SPDX-License-Identifier: Apache-2.0 */
#include "base/suggest.h"
#include "cli/command/command.h"
#include "lib/test.h"

static int run_nothing(struct pawl_cli *cli)
{
    (void)cli;
    return 0;
}

static const char *const colors[] = {"auto", "always", "never", NULL};

static const struct pawl_cli_option root_options[] = {
    {.name = "color", .letter = 'c', .kind = PAWL_CLI_CHOICE, .arg = "WHEN", .choices = colors},
    {.name = "version", .kind = PAWL_CLI_FLAG},
    {.name = NULL},
};
static const struct pawl_cli_option copy_options[] = {
    {.name = "json", .letter = 'j', .kind = PAWL_CLI_FLAG},
    {.name = "verbose", .letter = 'v', .kind = PAWL_CLI_FLAG},
    {.name = "depth", .letter = 'd', .kind = PAWL_CLI_NUMBER, .arg = "N", .min = -1, .max = 10},
    {.name = "tag",
     .letter = 't',
     .kind = PAWL_CLI_TEXT,
     .arg = "TAG",
     .repeatable = true,
     .may_be_empty = true},
    {.name = "owner", .letter = 'o', .kind = PAWL_CLI_TEXT, .arg = "NAME"},
    {.name = NULL},
};
static const struct pawl_cli_command copy = {
    .name = "copy", .operands = "FROM TO", .options = copy_options, .run = run_nothing};
static const struct pawl_cli_command list = {
    .name = "list", .operands = "FILE...", .run = run_nothing};
static const struct pawl_cli_command show = {
    .name = "show", .operands = "[TOPIC]", .run = run_nothing};
static const struct pawl_cli_command pick = {
    .name = "pick", .operands = "WHAT", .operands_may_be_empty = true, .run = run_nothing};
static const struct pawl_cli_command pass = {
    .name = "pass", .operands = "NAME COMMAND...", .passes_on = 1, .run = run_nothing};
static const struct pawl_cli_command *const file_commands[] = {&copy, &list, NULL};
static const struct pawl_cli_command file = {.name = "file", .commands = file_commands};
static const struct pawl_cli_command *const root_commands[] = {&file, &show, &pick, &pass, NULL};
static const struct pawl_cli_command root = {
    .name = "tool", .options = root_options, .commands = root_commands, .run = run_nothing};

/* Parses the words after the program's name, which are borrowed; the arena lives in the fixture. */
struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
    struct pawl_cli_args args;
    struct pawl_error err;
};

static int setup(void **state)
{
    static struct fixture f;

    test_allocator_init(&f.alloc);
    pawl__arena_init(&f.arena, &f.alloc.base, 1 << 16);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    pawl__arena_release(&f->arena);
    return f->alloc.live_count != 0;
}

#define MAX_WORDS 16

static int parse(struct fixture *f, const char *line)
{
    static char copy_of_line[256];
    char *argv[MAX_WORDS + 1] = {NULL};
    char *rest = copy_of_line;
    int argc = 0;

    /* The words stay in the static array, which the arguments borrow. */
    (void)snprintf(copy_of_line, sizeof copy_of_line, "%s", line);
    argv[argc++] = copy_of_line;
    for (char *word; argc < MAX_WORDS && (word = strsep(&rest, " ")) != NULL;)
        argv[argc++] = word;
    return pawl__cli_parse(&f->arena, &root, argc, argv, &f->args, &f->err);
}

static void assert_refused(struct fixture *f, const char *line, const char *message)
{
    assert_code(parse(f, line), PAWL_EINVAL);
    assert_string_equal(f->err.msg, message);
}

static void reads_options_in_all_their_spellings(void **state)
{
    static const char *const lines[] = {
        "file copy --json --depth=3 --color=never a b",
        "file copy --json --depth 3 --color never a b",
        "file copy a -j -d 3 b -c never",
        "--color never file copy -jd3 a b",
        "file --color=never copy -j -d3 -- a b",
        "-cnever file copy a b -jvd 3",
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_ok(parse(f, lines[i]), &f->err);
        assert_ptr_equal(pawl__cli_named(&f->args), &copy);
        assert_true(pawl__cli_flag(&f->args, "json"));
        assert_int_equal(pawl__cli_number(&f->args, "depth", 7), 3);
        assert_string_equal(pawl__cli_text(&f->args, "color", "auto"), "never");
        assert_int_equal(f->args.operand_count, 2);
        assert_string_equal(f->args.operands[0], "a");
        assert_string_equal(f->args.operands[1], "b");
    }
}

static void answers_the_fallback_for_what_was_not_given(void **state)
{
    struct fixture *f = *state;

    assert_ok(parse(f, "file copy a b"), &f->err);
    assert_false(pawl__cli_flag(&f->args, "json"));
    assert_false(pawl__cli_flag(&f->args, "version"));
    assert_int_equal(pawl__cli_number(&f->args, "depth", 7), 7);
    assert_string_equal(pawl__cli_text(&f->args, "color", "auto"), "auto");
}

static void the_last_value_counts_and_repeatable_options_keep_all(void **state)
{
    struct fixture *f = *state;
    size_t at = 0;

    assert_ok(parse(f, "file copy -t x --tag=y --depth=1 --tag= --depth=2 a b"), &f->err);
    assert_int_equal(pawl__cli_number(&f->args, "depth", 0), 2);
    assert_string_equal(pawl__cli_next(&f->args, "tag", &at), "x");
    assert_string_equal(pawl__cli_next(&f->args, "tag", &at), "y");
    assert_string_equal(pawl__cli_next(&f->args, "tag", &at), "");
    assert_null(pawl__cli_next(&f->args, "tag", &at));
}

static void two_dashes_end_the_options_and_one_is_an_operand(void **state)
{
    struct fixture *f = *state;

    assert_ok(parse(f, "file list - -- --json -x --"), &f->err);
    assert_int_equal(f->args.operand_count, 4);
    assert_string_equal(f->args.operands[0], "-");
    assert_string_equal(f->args.operands[1], "--json");
    assert_string_equal(f->args.operands[3], "--");
}

static void help_wins_over_what_is_missing_or_wrong_behind_it(void **state)
{
    static const char *const lines[] = {"file copy --help --nonsense", "file copy a -h",
                                        "file copy -jh"};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_ok(parse(f, lines[i]), &f->err);
        assert_true(f->args.help);
        assert_ptr_equal(pawl__cli_named(&f->args), &copy);
    }
    assert_ok(parse(f, "file --help"), &f->err);
    assert_ptr_equal(pawl__cli_named(&f->args), &file);
}

static void unknown_names_come_with_a_suggestion_when_one_is_near(void **state)
{
    struct fixture *f = *state;

    assert_refused(f, "file copy --jsno a b", "unknown option '--jsno'; did you mean '--json'?");
    assert_refused(f, "file copy --verb a b", "unknown option '--verb'; did you mean '--verbose'?");
    assert_refused(f, "file copy --colour=auto",
                   "unknown option '--colour'; did you mean '--color'?");
    assert_refused(f, "file copy --hlep", "unknown option '--hlep'; did you mean '--help'?");
    assert_refused(f, "file copy --frobnicate a b", "unknown option '--frobnicate'");
    assert_refused(f, "file copy -jx a b", "unknown option '-x'");
    assert_refused(f, "flie", "unknown command 'flie'; did you mean 'file'?");
    assert_refused(f, "file lits", "unknown command 'lits'; did you mean 'list'?");
    assert_ptr_equal(pawl__cli_named(&f->args), &file);
    assert_refused(f, "dance", "unknown command 'dance'");
}

static void wrong_values_are_refused_with_what_would_be_right(void **state)
{
    struct fixture *f = *state;

    assert_refused(f, "--color=blue show",
                   "'--color' cannot be 'blue'; choose auto, always or never");
    assert_refused(f, "--color=nevr show", "'--color' cannot be 'nevr'; did you mean 'never'?");
    assert_refused(f, "--color", "'--color' needs a value: auto, always or never");
    assert_refused(f, "file copy a b -t", "'--tag' needs a value: TAG");
    assert_refused(f, "--version=1", "'--version' takes no value");
    assert_refused(f, "file copy --depth=11 a b",
                   "'--depth' takes a number from -1 to 10, not '11'");
    assert_refused(f, "file copy --depth=1x a b",
                   "'--depth' takes a number from -1 to 10, not '1x'");
    assert_refused(f, "file copy --depth= a b", "'--depth' takes a number from -1 to 10, not ''");
    assert_refused(f, "file copy --depth=99999999999999999999 a b",
                   "'--depth' takes a number from -1 to 10, not '99999999999999999999'");
    assert_ok(parse(f, "file copy --depth -1 a b"), &f->err);
    assert_int_equal(pawl__cli_number(&f->args, "depth", 0), -1);
}

static void operands_are_counted_by_their_description(void **state)
{
    struct fixture *f = *state;

    assert_refused(f, "file copy", "FROM is missing");
    assert_refused(f, "file copy a", "TO is missing");
    assert_refused(f, "file copy a b c", "unexpected argument 'c'");
    assert_refused(f, "file list", "FILE is missing");
    assert_refused(f, "show a b", "unexpected argument 'b'");
    assert_refused(f, "file", "a subcommand is missing: copy or list");
    assert_ok(parse(f, "file list a b c d"), &f->err);
    assert_ok(parse(f, "show"), &f->err);
    assert_ok(parse(f, "show a"), &f->err);
    assert_ok(parse(f, "--version"), &f->err);
}

static void what_is_empty_is_refused_unless_it_has_a_meaning(void **state)
{
    static const char *const lines[] = {"file copy --owner= a b", "file copy a --owner  b",
                                        "file copy a b -o ", "file copy --owner= --owner=x a b"};
    struct fixture *f = *state;

    /* Two spaces, or one at the end, have an empty word between them. */
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_refused(f, lines[i], "'--owner' needs a non-empty value: NAME");
    assert_refused(f, "file copy a ", "argument 2 is empty");
    assert_refused(f, "file list a  b", "argument 2 is empty");
    assert_refused(f, "show ", "argument 1 is empty");
    assert_refused(f, "pass  x", "argument 1 is empty");
    assert_ok(parse(f, "pass n x  y"), &f->err);
    assert_ok(parse(f, "pick "), &f->err);
    assert_ok(parse(f, "file copy --tag= a b"), &f->err);
    assert_ok(parse(f, "file copy --owner= --help"), &f->err);
    assert_true(f->args.help);
}

static void suggests_only_what_is_near(void **state)
{
    static const char *const names[] = {"version", "run", "json", "completion", NULL};

    (void)state;
    assert_string_equal(pawl__suggest("verison", names), "version");
    assert_string_equal(pawl__suggest("rnu", names), "run");
    assert_string_equal(pawl__suggest("jsn", names), "json");
    assert_string_equal(pawl__suggest("comp", names), "completion");
    assert_null(pawl__suggest("r", names));
    assert_null(pawl__suggest("", names));
    assert_null(pawl__suggest("walk", names));
    assert_null(pawl__suggest("a-very-long-word-that-is-longer-than-any-name", names));
}

static void exit_codes_follow_the_class(void **state)
{
    (void)state;
    assert_int_equal(pawl__cli_exit_of(PAWL_OK), 0);
    assert_int_equal(pawl__cli_exit_of(PAWL_ENOTFOUND), 1);
    assert_int_equal(pawl__cli_exit_of(PAWL_EPARSE), 3);
    assert_int_equal(pawl__cli_exit_of(PAWL_EBUSY), 4);
    assert_int_equal(pawl__cli_exit_of(PAWL_EUNKNOWN), 5);
    assert_int_equal(pawl__cli_exit_of(PAWL_ECORRUPT), 70);
    assert_int_equal(pawl__cli_exit_of(-9999), 70);
}

static int parse_with(struct test_allocator *alloc, void *arg)
{
    char *argv[] = {(char[]){"tool"}, (char[]){"show"}, (char[]){"--color=never"}};
    struct pawl_cli_args args;
    struct pawl_arena arena;
    int status;

    (void)arg;
    pawl__arena_init(&arena, &alloc->base, 1 << 16);
    status = pawl__cli_parse(&arena, &root, 3, argv, &args, NULL);
    pawl__arena_release(&arena);
    return status;
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    test_sweep_allocations(parse_with, NULL, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_options_in_all_their_spellings, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_the_fallback_for_what_was_not_given, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_last_value_counts_and_repeatable_options_keep_all,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(two_dashes_end_the_options_and_one_is_an_operand, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(help_wins_over_what_is_missing_or_wrong_behind_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(unknown_names_come_with_a_suggestion_when_one_is_near,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_values_are_refused_with_what_would_be_right, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(operands_are_counted_by_their_description, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_empty_is_refused_unless_it_has_a_meaning, setup,
                                        teardown),
        cmocka_unit_test(suggests_only_what_is_near),
        cmocka_unit_test(exit_codes_follow_the_class),
        cmocka_unit_test(survives_refused_allocations),
    };

    return cmocka_run_group_tests_name("cli/options", tests, NULL, NULL);
}
