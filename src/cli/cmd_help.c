/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl help [TOPIC...]`: the help of a command, or a topic. */
#include "cli/commands.h"

#include "base/error.h"
#include "base/suggest.h"
#include "cli/command/help.h"
#include "cli/command/output.h"

#define CANDIDATES_MAX 64

static const struct pawl_cli_command *find_command(const struct pawl_cli_command *parent,
                                                   const char *name)
{
    for (size_t i = 0; parent->commands && parent->commands[i]; i++) {
        if (strcmp(parent->commands[i]->name, name) == 0)
            return parent->commands[i];
    }
    return NULL;
}

static const struct pawl_cli_topic *find_topic(const char *name)
{
    for (const struct pawl_cli_topic *topic = pawl__cli_topics; topic->name; topic++) {
        if (strcmp(topic->name, name) == 0)
            return topic;
    }
    return NULL;
}

static int unknown(struct pawl_cli *cli, const char *name)
{
    const char *candidates[CANDIDATES_MAX] = {NULL};
    size_t count = 0;
    struct pawl_error err;
    const char *near;

    for (size_t i = 0; pawl__cli_root.commands[i] && count < CANDIDATES_MAX - 1; i++)
        candidates[count++] = pawl__cli_root.commands[i]->name;
    for (size_t i = 0; pawl__cli_topics[i].name && count < CANDIDATES_MAX - 1; i++)
        candidates[count++] = pawl__cli_topics[i].name;
    near = pawl__suggest(name, candidates);
    (void)pawl__error_set(&err, PAWL_ENOTFOUND, "there is no help about '%s'%s%s%s", name,
                          near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return pawl__cli_fail(cli, &err,
                          "'pawl --help' lists the commands, 'pawl help topics' the rest");
}

static int run(struct pawl_cli *cli)
{
    const struct pawl_cli_command *path[PAWL_CLI_PATH_MAX] = {&pawl__cli_root};
    const struct pawl_cli_topic *topic = NULL;
    size_t path_len = 1;

    for (size_t i = 0; i < cli->args.operand_count && !topic; i++) {
        const char *name = cli->args.operands[i];
        const struct pawl_cli_command *command = find_command(path[path_len - 1], name);

        if (command && path_len < PAWL_CLI_PATH_MAX)
            path[path_len++] = command;
        else if (i > 0 || !(topic = find_topic(name)))
            return unknown(cli, name);
    }
    if (!topic)
        pawl__cli_help_command(cli, &cli->out, path, path_len);
    else if (topic->write)
        topic->write(&cli->out);
    else
        pawl__cli_write_own(&cli->out, topic->text);
    return PAWL_CLI_EXIT_OK;
}

const struct pawl_cli_command pawl__cli_help = {
    .name = "help",
    .summary = "Explain a command or a topic",
    .operands = "[TOPIC...]",
    .help =
        "TOPIC is a command ('run', 'json get') or one of those that 'pawl help topics' lists.\n",
    .run = run,
};
