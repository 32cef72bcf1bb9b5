/* SPDX-License-Identifier: Apache-2.0 */
/* Help for people, made from the descriptors. */
#include "cli/command/help.h"

#include "cli/command/output.h"

/* Where the second column begins; a first column that is longer gets a line of its own. */
#define COLUMN 28

static const struct pawl_cli_option help_option[] = {
    {.name = "help", .letter = 'h', .kind = PAWL_CLI_FLAG, .help = "Show this help"},
    {.name = NULL},
};

static void put_heading(struct pawl_cli_stream *to, const char *text)
{
    pawl__cli_print(to, "\n%s%s%s\n", pawl__cli_style(to, PAWL_CLI_BOLD), text,
                    pawl__cli_style(to, PAWL_CLI_PLAIN));
}

static void put_row(struct pawl_cli_stream *to, const char *left, const char *right)
{
    int len = (int)strlen(left);

    if (len + 4 <= COLUMN)
        pawl__cli_print(to, "  %s%*s%s\n", left, COLUMN - 2 - len, "", right);
    else
        pawl__cli_print(to, "  %s\n%*s%s\n", left, COLUMN, "", right);
}

static void put_options(struct pawl_cli_stream *to, const struct pawl_cli_option *option)
{
    for (; option && option->name; option++) {
        char letter[8] = "   ";
        char left[96];

        if (option->letter)
            (void)snprintf(letter, sizeof letter, "-%c,", option->letter);
        (void)snprintf(left, sizeof left, "%s --%s%s%s%s", letter, option->name,
                       option->arg ? "=" : "", option->arg ? option->arg : "",
                       option->repeatable ? "..." : "");
        put_row(to, left, option->help);
    }
}

static void put_commands(struct pawl_cli_stream *to, const struct pawl_cli_command *const *commands)
{
    for (; *commands; commands++)
        put_row(to, (*commands)->name, (*commands)->summary);
}

void pawl__cli_help_usage(struct pawl_cli *cli, struct pawl_cli_stream *stream,
                          const struct pawl_cli_command *const *path, size_t path_len)
{
    const struct pawl_cli_command *command = path[path_len - 1];

    (void)cli;
    pawl__cli_print(stream, "usage:");
    for (size_t i = 0; i < path_len; i++)
        pawl__cli_print(stream, " %s", path[i]->name);
    pawl__cli_print(stream, " [OPTIONS]");
    if (command->commands && !command->operands)
        pawl__cli_print(stream, command->run && path_len > 1 ? " [COMMAND ...]" : " COMMAND ...");
    if (command->operands)
        pawl__cli_print(stream, " %s", command->operands);
    pawl__cli_print(stream, "\n");
}

void pawl__cli_help_command(struct pawl_cli *cli, struct pawl_cli_stream *stream,
                            const struct pawl_cli_command *const *path, size_t path_len)
{
    const struct pawl_cli_command *command = path[path_len - 1];

    pawl__cli_print(stream, "%s.\n\n", command->summary);
    pawl__cli_help_usage(cli, stream, path, path_len);
    if (command->help) {
        pawl__cli_print(stream, "\n");
        pawl__cli_write_own(stream, command->help);
    }
    if (command->commands) {
        put_heading(stream, "Commands:");
        put_commands(stream, command->commands);
    }
    put_heading(stream, "Options:");
    put_options(stream, command->options);
    put_options(stream, help_option);
    for (size_t i = path_len - 1; i > 0; i--) {
        if (path[i - 1]->options) {
            put_heading(stream, "Options of every command:");
            put_options(stream, path[i - 1]->options);
        }
    }
}
