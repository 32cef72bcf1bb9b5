/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command is: a constant table from which the option parser, the help, the completion
 * script and the usage lines are all made. A command is one file cmd_NAME.c with one descriptor
 * and one run function; commands.c lists them. docs/cli.md shows how to add one.
 */
#ifndef PAWL_CLI_COMMAND_COMMAND_H
#define PAWL_CLI_COMMAND_COMMAND_H

#include "base/arena.h"
#include "base/log.h"
#include "os/log_sink.h"

#include <pawl/error.h>

#include <stdio.h>

struct pawl_cli;

/* ---- exit codes ------------------------------------------------------------------------- */

/* X(name, number, class of errors, what it means for a script) */
#define PAWL_CLI_EXIT_LIST(X)                                                                      \
    X(OK, 0, NONE, "done")                                                                         \
    X(FAILED, 1, DEFINITE, "refused or not found: nothing was changed; do not retry")              \
    X(USAGE, 2, NONE, "the command line is wrong")                                                 \
    X(INVALID, 3, CALLER, "the input is wrong or asks for what Pawl does not support")             \
    X(RETRY, 4, TRANSIENT, "nothing was changed; the same command may succeed later")              \
    X(UNKNOWN, 5, UNKNOWN, "it, or a part of it, may have happened; check before trying again")    \
    X(UNREAD, 6, NONE, "it was done, but standard output could not be written: do not repeat it")  \
    X(FATAL, 70, FATAL, "input or output failed, data is damaged, or Pawl has a bug")

enum pawl_cli_exit {
#define PAWL_CLI_EXIT_ENUM(name, number, class, text) PAWL_CLI_EXIT_##name = (number),
    PAWL_CLI_EXIT_LIST(PAWL_CLI_EXIT_ENUM)
#undef PAWL_CLI_EXIT_ENUM
};

struct pawl_cli_exit_row {
    int number;
    enum pawl_error_class error_class; /* NONE: of no error code */
    const char *text;
};
/* The list above as data, ended by a row without text. */
extern const struct pawl_cli_exit_row pawl__cli_exit_rows[];

/* By the class of the code and by nothing else. */
int pawl__cli_exit_of(int code);

/* ---- descriptors ------------------------------------------------------------------------ */

enum pawl_cli_kind {
    PAWL_CLI_FLAG,
    PAWL_CLI_TEXT,
    PAWL_CLI_CHOICE, /* one of `choices` */
    PAWL_CLI_NUMBER, /* from `min` to `max` */
};

/* `--name`, and `-l` when there is a letter. `--help` and `-h` belong to every command already. */
struct pawl_cli_option {
    const char *name; /* NULL ends a table */
    char letter;      /* 0: none */
    enum pawl_cli_kind kind;
    const char *arg; /* what the value is called in the help; NULL for a FLAG */
    const char *help;
    const char *const *choices; /* ended by NULL */
    int64_t min, max;
    bool repeatable; /* all values count; else the last one does */
    /* TEXT: "" is a value like any other. Else it is refused: it is an unset variable of a script
     * more often than not, and must not mean "all". */
    bool may_be_empty;
};

struct pawl_cli_command {
    const char *name;
    const char *summary; /* one line, no full stop */
    /*
     * The operands, as the usage line shows them: "FILE" is needed, "[TOPIC]" may be left out,
     * "FILE..." is one or more, "[TOPIC...]" any number. NULL: none.
     */
    const char *operands;
    const char *const
        *operand_words; /* for completion, ended by NULL; NULL: see cmd_completion.c */
    /* Operands from this one on are another program's and may be any bytes; 0: none are. */
    size_t passes_on;
    bool operands_may_be_empty;            /* "" is an operand like any other; else it is refused */
    const char *help;                      /* paragraphs below the usage line; NULL: none */
    const struct pawl_cli_option *options; /* NULL: none */
    const struct pawl_cli_command *const *commands; /* subcommands, ended by NULL; NULL: none */
    int (*run)(struct pawl_cli *cli);               /* returns the exit code; NULL: see commands */
};

/* The tree of all commands; commands.c. */
extern const struct pawl_cli_command pawl__cli_root;

/* ---- parsed arguments ------------------------------------------------------------------- */

#define PAWL_CLI_PATH_MAX 4

struct pawl_cli_given {
    const struct pawl_cli_option *option;
    const char *text; /* NULL for a FLAG */
    int64_t number;   /* NUMBER only */
};

/* Everything in it borrows from argv, from the descriptors, or lives in the arena. */
struct pawl_cli_args {
    const struct pawl_cli_command *path[PAWL_CLI_PATH_MAX]; /* the root first */
    size_t path_len;                                        /* at least 1 */
    bool help;                    /* -h or --help: nothing more was read */
    struct pawl_cli_given *given; /* in the order given */
    size_t given_count;
    const char **operands;
    size_t operand_count;
};

/*
 * Reads a command line by the table. `--name value` and `--name=value`, `-n value` and `-nvalue`,
 * flags in clusters, `--` before operands that begin with a dash; `-` alone is an operand. Options
 * of the commands above are known to those below. PAWL_EINVAL with a message for the user (and a
 * suggestion when a name is nearly right); PAWL_ENOMEM. `args->path` is written as far as it was
 * understood even then, so that the right usage line can be shown.
 */
PAWL_MUST_CHECK int pawl__cli_parse(struct pawl_arena *arena, const struct pawl_cli_command *root,
                                    int argc, char *const *argv, struct pawl_cli_args *args,
                                    struct pawl_error *err);

/* The command that was named last. */
static inline const struct pawl_cli_command *pawl__cli_named(const struct pawl_cli_args *args)
{
    return args->path[args->path_len - 1];
}

/* Whether a command of the path has the option. */
bool pawl__cli_knows(const struct pawl_cli_args *args, const char *name);
/* All of these ask by long name; one that is in no table of the path is a bug and asserts. */
bool pawl__cli_flag(const struct pawl_cli_args *args, const char *name);
/* The last value given, else `fallback`. */
const char *pawl__cli_text(const struct pawl_cli_args *args, const char *name,
                           const char *fallback);
int64_t pawl__cli_number(const struct pawl_cli_args *args, const char *name, int64_t fallback);
/* Values of a repeatable option: *at begins at 0; NULL after the last. */
const char *pawl__cli_next(const struct pawl_cli_args *args, const char *name, size_t *at);

/* ---- one run of the program ------------------------------------------------------------- */

enum pawl_cli_style {
    PAWL_CLI_PLAIN,
    PAWL_CLI_BOLD,
    PAWL_CLI_DIM,
    PAWL_CLI_RED,
    PAWL_CLI_GREEN,
};

/* Of what a command said, for when it could not be written: ids, and counts, are at its end. */
#define PAWL_CLI_TAIL_SIZE 2048

struct pawl_cli_stream {
    FILE *file;     /* borrowed */
    bool color;     /* these two are decided once, by pawl__cli_colors() */
    bool terminal;  /* a terminal would interpret control characters in data */
    int error;      /* errno of the first write that failed; 0: none so far */
    bool is_kept;   /* what is written now is kept elsewhere until it is: not of the tail */
    bool left_kept; /* some of that could not be written */
    size_t tail_len;
    char tail[PAWL_CLI_TAIL_SIZE]; /* the end of what was written */
};

/* What run functions get. One per process run; nothing in src/cli is global. */
struct pawl_cli {
    struct pawl_env *env; /* borrowed */
    struct pawl_arena arena;
    struct pawl_cli_args args;
    struct pawl_cli_stream out; /* data: what was asked for */
    struct pawl_cli_stream err; /* talk: errors, hints, summaries, log lines */
    bool changed;               /* what was asked for is done and cannot be taken back */
    struct pawl_log_fd log_fd;
    struct pawl_log log;
};

/*
 * The whole program except the process around it: parses, runs, reports, and returns the exit
 * code. Neither stream is closed.
 */
int pawl__cli_main(struct pawl_env *env, FILE *out, FILE *err, int argc, char *const *argv);

#endif
