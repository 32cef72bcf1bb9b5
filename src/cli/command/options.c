/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option parser: a command line read by the tables in command.h. It knows no command and no
 * option of its own but --help.
 */
#include "base/error.h"
#include "base/suggest.h"
#include "cli/command/command.h"

#include <errno.h>
#include <stdlib.h>

#define CANDIDATES_MAX 64

struct parser {
    struct pawl_cli_args *args;
    char *const *argv;
    int argc;
    int at; /* the word being read */
    struct pawl_error *err;
};

/* ---- looking things up ------------------------------------------------------------------ */

/* The first option the test takes, in the tables from the named command up to the root. */
static const struct pawl_cli_option *find(const struct pawl_cli_args *args, struct pawl_str name,
                                          char letter)
{
    for (size_t i = args->path_len; i > 0; i--) {
        const struct pawl_cli_option *option = args->path[i - 1]->options;

        for (; option && option->name; option++) {
            if (letter ? option->letter == letter : pawl__str_is(name, option->name))
                return option;
        }
    }
    return NULL;
}

static const char *suggest_option(const struct pawl_cli_args *args, const char *word)
{
    const char *candidates[CANDIDATES_MAX] = {"help"};
    size_t count = 1;

    for (size_t i = 0; i < args->path_len; i++) {
        const struct pawl_cli_option *option = args->path[i]->options;

        for (; option && option->name && count < CANDIDATES_MAX - 1; option++)
            candidates[count++] = option->name;
    }
    return pawl__suggest(word, candidates);
}

static const char *suggest_command(const struct pawl_cli_command *parent, const char *word)
{
    const char *candidates[CANDIDATES_MAX] = {NULL};

    for (size_t i = 0; parent->commands[i] && i < CANDIDATES_MAX - 1; i++)
        candidates[i] = parent->commands[i]->name;
    return pawl__suggest(word, candidates);
}

/* ---- values ----------------------------------------------------------------------------- */

/* "auto, always or never" */
static const char *join_choices(const char *const *choices, char *out, size_t size)
{
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; choices[i]; i++) {
        const char *glue = i == 0 ? "" : choices[i + 1] ? ", " : " or ";
        int added = snprintf(out + len, size - len, "%s%s", glue, choices[i]);

        if (added < 0 || (size_t)added >= size - len)
            break;
        len += (size_t)added;
    }
    return out;
}

static int check_choice(struct parser *p, const struct pawl_cli_option *option, const char *text)
{
    const char *near;
    char all[160];

    for (size_t i = 0; option->choices[i]; i++) {
        if (strcmp(option->choices[i], text) == 0)
            return PAWL_OK;
    }
    near = pawl__suggest(text, option->choices);
    if (near)
        return pawl__error_set(p->err, PAWL_EINVAL, "'--%s' cannot be '%s'; did you mean '%s'?",
                               option->name, text, near);
    return pawl__error_set(p->err, PAWL_EINVAL, "'--%s' cannot be '%s'; choose %s", option->name,
                           text, join_choices(option->choices, all, sizeof all));
}

static int read_number(struct parser *p, const struct pawl_cli_option *option, const char *text,
                       int64_t *out)
{
    char *end = NULL;
    long long number;

    errno = 0;
    number = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < option->min || number > option->max)
        return pawl__error_set(p->err, PAWL_EINVAL,
                               "'--%s' takes a number from %jd to %jd, not '%s'", option->name,
                               (intmax_t)option->min, (intmax_t)option->max, text);
    *out = number;
    return PAWL_OK;
}

/* Records an option with its value (NULL for a flag). There is room: one per word of argv. */
static int give(struct parser *p, const struct pawl_cli_option *option, const char *text)
{
    struct pawl_cli_given given = {.option = option, .text = text};
    int status = PAWL_OK;

    if (option->kind == PAWL_CLI_CHOICE)
        status = check_choice(p, option, text);
    else if (option->kind == PAWL_CLI_NUMBER)
        status = read_number(p, option, text, &given.number);
    if (status == PAWL_OK)
        p->args->given[p->args->given_count++] = given;
    return status;
}

/* The word behind the option is its value. */
static int give_next(struct parser *p, const struct pawl_cli_option *option)
{
    char all[160] = "";

    if (p->at + 1 < p->argc)
        return give(p, option, p->argv[++p->at]);
    if (option->kind == PAWL_CLI_CHOICE)
        (void)join_choices(option->choices, all, sizeof all);
    return pawl__error_set(p->err, PAWL_EINVAL, "'--%s' needs a value: %s", option->name,
                           all[0] ? all : option->arg);
}

/* ---- words ------------------------------------------------------------------------------ */

static int read_long(struct parser *p, const char *word)
{
    struct pawl_str whole = pawl__str(word + 2);
    size_t equals = pawl__str_find(whole, '=', 0);
    struct pawl_str name = pawl__str_slice(whole, 0, equals);
    const struct pawl_cli_option *option = find(p->args, name, 0);
    const char *value = equals == SIZE_MAX ? NULL : word + 2 + equals + 1;
    const char *near;
    char typed[64];

    if (option && option->kind == PAWL_CLI_FLAG && value)
        return pawl__error_set(p->err, PAWL_EINVAL, "'--%s' takes no value", option->name);
    if (option && (option->kind == PAWL_CLI_FLAG || value))
        return give(p, option, value);
    if (option)
        return give_next(p, option);

    (void)snprintf(typed, sizeof typed, "%.*s", PAWL_STR_ARG(name));
    near = suggest_option(p->args, typed);
    if (near)
        return pawl__error_set(p->err, PAWL_EINVAL, "unknown option '--%s'; did you mean '--%s'?",
                               typed, near);
    return pawl__error_set(p->err, PAWL_EINVAL, "unknown option '--%s'", typed);
}

/* "-xyz": flags one behind the other; one that takes a value takes the rest, or the next word. */
static int read_short(struct parser *p, const char *word)
{
    for (const char *letter = word + 1; *letter; letter++) {
        const struct pawl_cli_option *option = find(p->args, pawl__str(""), *letter);
        int status;

        if (*letter == 'h') {
            p->args->help = true;
            return PAWL_OK;
        }
        if (!option)
            return pawl__error_set(p->err, PAWL_EINVAL, "unknown option '-%c'", *letter);
        if (option->kind != PAWL_CLI_FLAG)
            return letter[1] ? give(p, option, letter + 1) : give_next(p, option);
        status = give(p, option, NULL);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

/* A word that is no option: a subcommand where there are any, else an operand. A command that has
 * both takes as its first operand what is no subcommand, or follows "--". */
static int read_plain(struct parser *p, const char *word, bool only_operands)
{
    const struct pawl_cli_command *command = pawl__cli_named(p->args);
    const char *near;

    if (!command->commands ||
        (command->operands && (only_operands || p->args->operand_count > 0))) {
        p->args->operands[p->args->operand_count++] = word;
        return PAWL_OK;
    }
    for (size_t i = 0; command->commands[i]; i++) {
        if (strcmp(command->commands[i]->name, word) == 0) {
            PAWL_ASSERT(p->args->path_len < PAWL_CLI_PATH_MAX);
            p->args->path[p->args->path_len++] = command->commands[i];
            return PAWL_OK;
        }
    }
    if (command->operands) {
        p->args->operands[p->args->operand_count++] = word;
        return PAWL_OK;
    }
    near = suggest_command(command, word);
    if (near)
        return pawl__error_set(p->err, PAWL_EINVAL, "unknown command '%s'; did you mean '%s'?",
                               word, near);
    return pawl__error_set(p->err, PAWL_EINVAL, "unknown command '%s'", word);
}

static int read_word(struct parser *p, bool *only_operands)
{
    const char *word = p->argv[p->at];

    if (*only_operands || word[0] != '-' || word[1] == '\0')
        return read_plain(p, word, *only_operands);
    if (strcmp(word, "--") == 0) {
        *only_operands = true;
        return PAWL_OK;
    }
    if (strcmp(word, "--help") == 0) {
        p->args->help = true;
        return PAWL_OK;
    }
    return word[1] == '-' ? read_long(p, word) : read_short(p, word);
}

/* ---- operands --------------------------------------------------------------------------- */

/* Operands of "[URI] FILE" that must be given: one. */
static size_t count_needed(struct pawl_str rest)
{
    size_t needed = 0;

    while (rest.len > 0) {
        size_t space = pawl__str_find(rest, ' ', 0);

        needed += rest.ptr[0] != '[';
        rest = space == SIZE_MAX ? pawl__str("") : pawl__str_slice(rest, space + 1, SIZE_MAX);
    }
    return needed;
}

/*
 * Compares the operands given with "POINTER FILE", "FILE...", "[TOPIC]", "[TOPIC...]" or
 * "[URI] FILE". What may be left out before one that may not does not exist when there are too few.
 */
static int check_operands(struct parser *p)
{
    const struct pawl_cli_command *command = pawl__cli_named(p->args);
    struct pawl_str rest = pawl__str(command->operands);
    size_t count = p->args->operand_count, at = 0;

    while (rest.len > 0) {
        size_t space = pawl__str_find(rest, ' ', 0);
        struct pawl_str name = pawl__str_slice(rest, 0, space);
        bool many =
            pawl__str_ends(name, pawl__str("...")) || pawl__str_ends(name, pawl__str("...]"));

        if (at >= count && name.ptr[0] != '[')
            return pawl__error_set(p->err, PAWL_EINVAL, "%.*s is missing",
                                   (int)(many ? name.len - 3 : name.len), name.ptr);
        if (many)
            return PAWL_OK;
        at += name.ptr[0] != '[' || at + count_needed(rest) < count || count_needed(rest) == 0;
        rest = space == SIZE_MAX ? pawl__str("") : pawl__str_slice(rest, space + 1, SIZE_MAX);
    }
    if (count > at)
        return pawl__error_set(p->err, PAWL_EINVAL, "unexpected argument '%s'",
                               p->args->operands[at]);
    return PAWL_OK;
}

static int check_complete(struct parser *p)
{
    const struct pawl_cli_command *command = pawl__cli_named(p->args);
    const char *names[CANDIDATES_MAX] = {NULL};
    char all[160];

    if (p->args->help || !command->commands || command->operands)
        return p->args->help ? PAWL_OK : check_operands(p);
    if (command->run)
        return PAWL_OK;
    for (size_t i = 0; command->commands[i] && i < CANDIDATES_MAX - 1; i++)
        names[i] = command->commands[i]->name;
    return pawl__error_set(p->err, PAWL_EINVAL, "a subcommand is missing: %s",
                           join_choices(names, all, sizeof all));
}

/* Ids, names and values become part of JSON documents. What another program is given is its own. */
static int check_text(struct parser *p)
{
    const struct pawl_cli_command *command = pawl__cli_named(p->args);
    size_t count = p->args->operand_count;

    if (command->passes_on && count > command->passes_on)
        count = command->passes_on;
    for (size_t i = 0; i < p->args->given_count; i++) {
        const char *text = p->args->given[i].text;

        if (text && !pawl__utf8_valid(pawl__str(text)))
            return pawl__error_set(p->err, PAWL_EINVAL, "the value of --%s is not UTF-8 text",
                                   p->args->given[i].option->name);
    }
    for (size_t i = 0; i < count; i++)
        if (!pawl__utf8_valid(pawl__str(p->args->operands[i])))
            return pawl__error_set(p->err, PAWL_EINVAL,
                                   "argument %zu is not UTF-8 text; for a file with such a name, "
                                   "give '-' and redirect standard input",
                                   i + 1);
    return PAWL_OK;
}

/* An empty word is an unset variable of a script more often than not: it must not widen what is
 * meant, so it is refused where it has no meaning of its own. */
static int check_empty(struct parser *p)
{
    const struct pawl_cli_command *command = pawl__cli_named(p->args);
    size_t count = p->args->operand_count;

    if (command->passes_on && count > command->passes_on)
        count = command->passes_on;
    for (size_t i = 0; i < p->args->given_count; i++) {
        const struct pawl_cli_given *given = &p->args->given[i];

        if (given->text && *given->text == '\0' && !given->option->may_be_empty)
            return pawl__error_set(p->err, PAWL_EINVAL, "'--%s' needs a non-empty value: %s",
                                   given->option->name, given->option->arg);
    }
    for (size_t i = 0; i < count && !command->operands_may_be_empty; i++)
        if (*p->args->operands[i] == '\0')
            return pawl__error_set(p->err, PAWL_EINVAL, "argument %zu is empty", i + 1);
    return PAWL_OK;
}

int pawl__cli_parse(struct pawl_arena *arena, const struct pawl_cli_command *root, int argc,
                    char *const *argv, struct pawl_cli_args *args, struct pawl_error *err)
{
    struct parser p = {.args = args, .argv = argv, .argc = argc, .err = err};
    size_t most = 0; /* options: flags in clusters count by letter */
    bool only_operands = false;
    int status;

    *args = (struct pawl_cli_args){.path = {root}, .path_len = 1};
    for (int i = 0; i < argc; i++)
        most += strlen(argv[i]) + 1;
    args->given = pawl__arena_alloc_array(arena, most + 1, sizeof *args->given);
    args->operands = pawl__arena_alloc_array(arena, (size_t)argc + 1, sizeof *args->operands);
    if (!args->given || !args->operands)
        return pawl__error_code(err, arena->status);
    for (p.at = 1; p.at < argc && !args->help; p.at++) {
        status = read_word(&p, &only_operands);
        if (status != PAWL_OK)
            return status;
    }
    status = check_complete(&p);
    if (status == PAWL_OK && !args->help)
        status = check_empty(&p);
    return status == PAWL_OK ? check_text(&p) : status;
}

/* ---- asking ----------------------------------------------------------------------------- */

static const struct pawl_cli_given *last_given(const struct pawl_cli_args *args, const char *name)
{
    const struct pawl_cli_option *option = find(args, pawl__str(name), 0);

    PAWL_ASSERT(option);
    for (size_t i = args->given_count; i > 0; i--) {
        if (args->given[i - 1].option == option)
            return &args->given[i - 1];
    }
    return NULL;
}

bool pawl__cli_knows(const struct pawl_cli_args *args, const char *name)
{
    return find(args, pawl__str(name), 0) != NULL;
}

bool pawl__cli_flag(const struct pawl_cli_args *args, const char *name)
{
    return last_given(args, name) != NULL;
}

const char *pawl__cli_text(const struct pawl_cli_args *args, const char *name, const char *fallback)
{
    const struct pawl_cli_given *given = last_given(args, name);

    return given ? given->text : fallback;
}

int64_t pawl__cli_number(const struct pawl_cli_args *args, const char *name, int64_t fallback)
{
    const struct pawl_cli_given *given = last_given(args, name);

    return given ? given->number : fallback;
}

const char *pawl__cli_next(const struct pawl_cli_args *args, const char *name, size_t *at)
{
    const struct pawl_cli_option *option = find(args, pawl__str(name), 0);

    PAWL_ASSERT(option && option->repeatable);
    while (*at < args->given_count) {
        const struct pawl_cli_given *given = &args->given[(*at)++];

        if (given->option == option)
            return given->text;
    }
    return NULL;
}
