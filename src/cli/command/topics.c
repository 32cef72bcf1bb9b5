/* SPDX-License-Identifier: Apache-2.0 */
/* Help about what is not one command: `pawl help TOPIC`. */
#include "cli/command/help.h"
#include "cli/command/output.h"
#include "host/settings.h"

static void write_exit_codes(struct pawl_cli_stream *to)
{
    pawl__cli_print(to, "Exit codes of all commands:\n\n");
    for (const struct pawl_cli_exit_row *row = pawl__cli_exit_rows; row->text; row++)
        pawl__cli_print(to, "  %2d  %s\n", row->number, row->text);
    pawl__cli_print(to,
                    "\n"
                    "The code tells a script what to do next; the message on standard error says\n"
                    "what happened. If one command does several things, the highest code counts.\n"
                    "A command that runs another program documents its own codes.\n");
}

static void write_topics(struct pawl_cli_stream *to)
{
    pawl__cli_print(to, "Topics, in addition to the commands:\n\n");
    for (const struct pawl_cli_topic *topic = pawl__cli_topics; topic->name; topic++)
        pawl__cli_print(to, "  %-14s  %s\n", topic->name, topic->summary);
    pawl__cli_print(to,
                    "\n'pawl help TOPIC' shows one, 'pawl help COMMAND' the help of a command.\n");
}

static void write_settings(struct pawl_cli_stream *to)
{
    pawl__cli_print(
        to,
        "Settings of commands that run workflows or use a store. 'pawl config' shows them.\n"
        "A value comes from the first of: an option ('--set NAME=VALUE', or the one below), the\n"
        "environment variable, files of 'NAME = VALUE' lines, the default. http.deny accumulates:\n"
        "no source can allow what another one forbids.\n\n");
    for (unsigned i = 0; i < PAWL_SETTING_COUNT; i++) {
        const struct pawl_setting *setting = pawl__setting((enum pawl_setting_id)i);

        pawl__cli_print(to, "  %-20s  %s\n", setting->name, setting->help);
        pawl__cli_print(to, "  %20s  %s", "", setting->variable);
        if (setting->option)
            pawl__cli_print(to, ", --%s", setting->option);
        if (setting->fallback[0] != '\0')
            pawl__cli_print(to, "; default %s", setting->fallback);
        pawl__cli_print(to, "\n");
    }
    pawl__cli_print(
        to,
        "\n"
        "The files are /etc/pawl/pawl.conf, then the one that --config or PAWL_CONFIG names,\n"
        "else ~/.config/pawl/pawl.conf and ./pawl.conf; later ones win. A file that was not named\n"
        "must belong to you or to root and not be writable by everybody. '#' begins a comment\n"
        "line. Times have a unit (500ms, 10s, 5m), sizes may have one (64K, 1M, 2G, by 1024).\n");
}

static const char environment[] =
    "Environment variables that pawl reads:\n"
    "\n"
    "  PAWL_CONFIG     A file of settings; see 'pawl help settings'.\n"
    "  PAWL_...        A setting; 'pawl help settings' lists them.\n"
    "  NO_COLOR        When set and not empty, '--color=auto' means never.\n"
    "  TERM            When unset or \"dumb\", '--color=auto' means never.\n"
    "\n"
    "An option on the command line always wins.\n";

static const char output[] =
    "Standard output has only the requested data, so that it can be\n"
    "piped; errors, hints, summaries and log lines go to standard error.\n"
    "\n"
    "  --json          where a command has it, prints one JSON document instead of text\n"
    "  --log-level     which log lines to show: off, error, warn, info, debug, trace\n"
    "  --log-format    log lines as text, or one JSON object a line\n"
    "\n"
    "Colours appear on a terminal only ('pawl help environment'). When standard output\n"
    "cannot be written, the command says so and its exit code is not 0.\n";

static const char workflows[] =
    "A workflow definition is a JSON file as Elsa Workflows 3 exports it: an object with\n"
    "'definitionId', 'name' and a 'root' activity, which contains the others.\n"
    "\n"
    "'pawl run FILE' runs one in memory: sequences, flowcharts, loops, branches, state\n"
    "machines, variables, events, timers, workflows used as activities and child workflows,\n"
    "with expressions in JavaScript, Liquid and of the types Literal, Object, Variable and\n"
    "Input. The first file may use the other files on the command line. 'pawl eval' tries\n"
    "an expression without a workflow.\n"
    "\n"
    "An activity of a type that Pawl does not know is reported before the run and faults\n"
    "when it is reached; an activity with a C# or Python expression faults too; an\n"
    "input with an expression of any other unknown type is not set.\n";

const struct pawl_cli_topic pawl__cli_topics[] = {
    {"environment", "Environment variables that pawl reads", environment, NULL},
    {"exit-codes", "What the exit codes mean", NULL, write_exit_codes},
    {"output", "Standard output and error, JSON, log lines, colours", output, NULL},
    {"settings", "Settings, their variables, options and defaults", NULL, write_settings},
    {"topics", "This list", NULL, write_topics},
    {"workflows", "What a definition is, and what Pawl can run", workflows, NULL},
    {NULL, NULL, NULL, NULL},
};
