/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pawl completion bash`: a completion script made from the command tree. The script knows nothing
 * by itself: three case tables say what the words mean, what an option's value may be, and what a
 * command takes.
 */
#include "cli/commands.h"

#include "cli/command/help.h"
#include "cli/command/output.h"

static const char head[] =
    "# Completion of pawl in bash, made by 'pawl completion bash'. To use it:\n"
    "#     source <(pawl completion bash)\n"
    "_pawl()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local path=pawl words='' options='' files='' i\n"
    "    # bash makes three words of --color=never\n"
    "    if [[ $cur == '=' ]]; then\n"
    "        cur=''\n"
    "    elif [[ $prev == '=' ]]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case \"$path ${COMP_WORDS[i]}\" in\n";
static const char after_paths[] = "            path+=\" ${COMP_WORDS[i]}\"\n"
                                  "            ;;\n"
                                  "        esac\n"
                                  "    done\n"
                                  "    case \"$path\" in\n";
static const char after_commands[] = "    esac\n"
                                     "    case \"$path:$prev\" in\n";
static const char tail[] = "    esac\n"
                           "    if [[ $cur == -* ]]; then\n"
                           "        words=$options\n"
                           "    elif [[ $files ]]; then\n"
                           "        compopt -o filenames 2>/dev/null\n"
                           "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
                           "        return\n"
                           "    fi\n"
                           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                           "}\n"
                           "complete -F _pawl pawl\n";

/* Calls `visit` for every command below and including the last of the path. */
static void walk(struct pawl_cli *cli, const struct pawl_cli_command **path, size_t path_len,
                 void (*visit)(struct pawl_cli *cli, const struct pawl_cli_command *const *path,
                               size_t path_len))
{
    const struct pawl_cli_command *command = path[path_len - 1];

    visit(cli, path, path_len);
    for (size_t i = 0; command->commands && command->commands[i]; i++) {
        PAWL_ASSERT(path_len < PAWL_CLI_PATH_MAX);
        path[path_len] = command->commands[i];
        walk(cli, path, path_len + 1, visit);
    }
}

static void put_path(struct pawl_cli_stream *to, const struct pawl_cli_command *const *path,
                     size_t path_len)
{
    for (size_t i = 0; i < path_len; i++)
        pawl__cli_print(to, "%s%s", i > 0 ? " " : "", path[i]->name);
}

/* 'pawl json' | 'pawl json get' | … */
static void put_pattern(struct pawl_cli *cli, const struct pawl_cli_command *const *path,
                        size_t path_len)
{
    struct pawl_cli_stream *to = &cli->out;

    if (path_len == 1)
        return;
    pawl__cli_print(to, " | '");
    put_path(to, path, path_len);
    pawl__cli_print(to, "'");
}

static void put_words(struct pawl_cli_stream *to, const char *const *words)
{
    for (size_t i = 0; words && words[i]; i++)
        pawl__cli_print(to, "%s%s", i > 0 ? " " : "", words[i]);
}

/* What the words of a command may be: subcommands, its own list, topics, or files. */
static void put_operands(struct pawl_cli_stream *to, const struct pawl_cli_command *command)
{
    pawl__cli_print(to, "        words='");
    put_words(to, command->operand_words);
    for (size_t i = 0; command->commands && command->commands[i]; i++)
        pawl__cli_print(to, " %s", command->commands[i]->name);
    if (command == &pawl__cli_help) {
        for (size_t i = 0; pawl__cli_root.commands[i]; i++)
            pawl__cli_print(to, " %s", pawl__cli_root.commands[i]->name);
        for (size_t i = 0; pawl__cli_topics[i].name; i++)
            pawl__cli_print(to, " %s", pawl__cli_topics[i].name);
    }
    pawl__cli_print(to, "'\n");
    if (command->operands && strstr(command->operands, "FILE"))
        pawl__cli_print(to, "        files=1\n");
}

static void put_command(struct pawl_cli *cli, const struct pawl_cli_command *const *path,
                        size_t path_len)
{
    struct pawl_cli_stream *to = &cli->out;

    pawl__cli_print(to, "    '");
    put_path(to, path, path_len);
    pawl__cli_print(to, "')\n        options='--help");
    for (size_t i = 0; i < path_len; i++) {
        const struct pawl_cli_option *option = path[i]->options;

        for (; option && option->name; option++)
            pawl__cli_print(to, " --%s", option->name);
    }
    pawl__cli_print(to, "'\n");
    put_operands(to, path[path_len - 1]);
    pawl__cli_print(to, "        ;;\n");
}

/* An option is known to the commands below its own too. */
static void put_values(struct pawl_cli *cli, const struct pawl_cli_command *const *path,
                       size_t path_len)
{
    const struct pawl_cli_option *option = path[path_len - 1]->options;
    struct pawl_cli_stream *to = &cli->out;

    for (; option && option->name; option++) {
        if (option->kind == PAWL_CLI_FLAG)
            continue;
        pawl__cli_print(to, "    '");
        put_path(to, path, path_len);
        pawl__cli_print(to, "'*:--%s)\n        files=''\n        words='", option->name);
        put_words(to, option->choices);
        pawl__cli_print(to, "'\n        ;;\n");
    }
}

static int run(struct pawl_cli *cli)
{
    const struct pawl_cli_command *path[PAWL_CLI_PATH_MAX] = {&pawl__cli_root};
    struct pawl_cli_stream *to = &cli->out;

    if (strcmp(cli->args.operands[0], "bash") != 0) {
        struct pawl_error err = {PAWL_EUNSUPPORTED, "there is completion for bash only"};

        return pawl__cli_fail(cli, &err, "put 'source <(pawl completion bash)' into ~/.bashrc");
    }
    pawl__cli_write_own(to, head);
    pawl__cli_print(to, "        ''");
    walk(cli, path, 1, put_pattern);
    pawl__cli_print(to, ")\n");
    pawl__cli_write_own(to, after_paths);
    walk(cli, path, 1, put_command);
    pawl__cli_write_own(to, after_commands);
    walk(cli, path, 1, put_values);
    pawl__cli_write_own(to, tail);
    return PAWL_CLI_EXIT_OK;
}

static const char *const shells[] = {"bash", NULL};

const struct pawl_cli_command pawl__cli_completion = {
    .name = "completion",
    .summary = "Print a completion script for a shell",
    .operands = "SHELL",
    .operand_words = shells,
    .help = "SHELL is 'bash'. To complete commands and options in the shell you are in:\n"
            "\n"
            "  source <(pawl completion bash)\n",
    .run = run,
};
