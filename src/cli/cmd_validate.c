/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pawl validate FILE...`: everything that is wrong with definitions, each with its place, in the
 * form that editors and build servers understand. Runs nothing.
 */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/output.h"
#include "cli/locate.h"
#include "cli/session/configure.h"
#include "cli/session/definitions.h"

#include <stdlib.h>

#define PROBLEMS_MAX 1000u
#define JSON_MAX ((size_t)256 << 20)

/* What was found so far. */
struct report {
    struct pawl_cli *cli;
    struct pawl_json_writer json; /* in the middle of "problems"; --json only */
    struct pawl_hash_seed seed;
    bool as_json;
    uint32_t errors;
    uint32_t warnings;
};

static void show_text(struct report *report, const struct pawl_cli_definition *file,
                      const struct pawl_json_place *place, const struct pawl_problem *problem)
{
    struct pawl_cli_stream *out = &report->cli->out;
    bool is_error = problem->level != PAWL_PROBLEM_WARNING;

    pawl__cli_write_safe(out, pawl__str(pawl__cli_file_name(file->path)));
    pawl__cli_print(out, ":%u:%u: %s%s%s: ", place->line, place->column,
                    pawl__cli_style(out, is_error ? PAWL_CLI_RED : PAWL_CLI_BOLD),
                    is_error ? "error" : "warning", pawl__cli_style(out, PAWL_CLI_PLAIN));
    pawl__cli_write_safe(out, pawl__str(problem->message));
    pawl__cli_print(out, "%s (at ", pawl__cli_style(out, PAWL_CLI_DIM));
    pawl__cli_write_safe(out, pawl__str(problem->pointer[0] ? problem->pointer : "the root"));
    pawl__cli_print(out, ")%s\n", pawl__cli_style(out, PAWL_CLI_PLAIN));
}

static void show_json(struct report *report, const struct pawl_cli_definition *file,
                      const struct pawl_json_place *place, const struct pawl_problem *problem)
{
    struct pawl_json_writer *json = &report->json;

    pawl__json_write_begin_object(json);
    pawl__json_write_key_text(json, "file");
    pawl__json_write_string_text(json, file->path);
    pawl__json_write_key_text(json, "line");
    pawl__json_write_int(json, place->line);
    pawl__json_write_key_text(json, "column");
    pawl__json_write_int(json, place->column);
    pawl__json_write_key_text(json, "pointer");
    pawl__json_write_string_text(json, problem->pointer);
    pawl__json_write_key_text(json, "level");
    pawl__json_write_string_text(json,
                                 problem->level == PAWL_PROBLEM_WARNING ? "warning" : "error");
    pawl__json_write_key_text(json, "publishable");
    pawl__json_write_bool(json, problem->level != PAWL_PROBLEM_INVALID);
    pawl__json_write_key_text(json, "activityId");
    pawl__json_write_string_text(json, problem->activity_id);
    pawl__json_write_key_text(json, "message");
    pawl__json_write_string_text(json, problem->message);
    pawl__json_write_end_object(json);
}

static void show(struct report *report, const struct pawl_cli_definition *file,
                 const struct pawl_json_place *place, const struct pawl_problem *problem)
{
    if (problem->level == PAWL_PROBLEM_WARNING)
        report->warnings++;
    else
        report->errors++;
    if (report->as_json)
        show_json(report, file, place, problem);
    else
        show_text(report, file, place, problem);
}

/* An error without a pointer of its own: the text is no JSON, or a limit was passed. */
static void show_error(struct report *report, const struct pawl_cli_definition *file,
                       const struct pawl_json_place *place, const struct pawl_error *err)
{
    struct pawl_problem problem = {PAWL_PROBLEM_INVALID, place->pointer, "", err->msg};

    show(report, file, place, &problem);
}

/* The parser's message has the place in it, which is shown in our own way. */
static void show_malformed(struct report *report, const struct pawl_cli_definition *file)
{
    struct pawl_error err = file->err;
    char *from = strstr(err.msg, ": ");
    char *to = strstr(err.msg, " (at ");

    if (to)
        *to = '\0';
    if (from && strncmp(err.msg, "line ", 5) == 0)
        memmove(err.msg, from + 2, strlen(from + 2) + 1);
    show_error(report, file, &file->place, &err);
}

struct found {
    struct pawl_json_place place;
    const struct pawl_problem *problem;
};

/* By place; problems at one place in the order in which they were found. */
static int compare(const void *a, const void *b)
{
    const struct found *left = a, *right = b;

    if (left->place.line != right->place.line)
        return left->place.line < right->place.line ? -1 : 1;
    if (left->place.column != right->place.column)
        return left->place.column < right->place.column ? -1 : 1;
    return (left->problem > right->problem) - (left->problem < right->problem);
}

static int find_places(struct report *report, const struct pawl_cli_definition *file,
                       const struct pawl_problems *problems, struct found *list)
{
    struct pawl_arena *arena = &report->cli->arena;
    const char **pointers = pawl__arena_alloc_array(arena, problems->count, sizeof(char *));
    struct pawl_json_place *places =
        pawl__arena_alloc_array(arena, problems->count, sizeof *places);
    int status;

    if (!pointers || !places)
        return arena->status;
    for (uint32_t i = 0; i < problems->count; i++)
        pointers[i] = problems->items[i].pointer;
    status = pawl__locate_all(arena, report->seed, file->text, pointers, problems->count, places);
    for (uint32_t i = 0; i < problems->count && status == PAWL_OK; i++)
        list[i] = (struct found){places[i], &problems->items[i]};
    return status;
}

static int show_all(struct report *report, const struct pawl_cli_definition *file,
                    const struct pawl_problems *problems, struct pawl_error *err)
{
    struct pawl_arena *arena = &report->cli->arena;
    struct found *list = pawl__arena_alloc_array(arena, problems->count, sizeof *list);
    int status;

    if (problems->count == 0)
        return PAWL_OK;
    if (!list)
        return pawl__error_code(err, arena->status);
    status = find_places(report, file, problems, list);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    qsort(list, problems->count, sizeof *list, compare);
    for (uint32_t i = 0; i < problems->count; i++)
        show(report, file, &list[i].place, list[i].problem);
    if (problems->dropped > 0)
        pawl__cli_print(&report->cli->err, "%s: %u more are not shown\n",
                        pawl__cli_file_name(file->path), problems->dropped);
    return PAWL_OK;
}

/* PAWL_OK when the file could be judged, whatever the judgement. */
static int check(struct report *report, struct pawl_offline *offline,
                 const struct pawl_cli_definition *file, struct pawl_error *err)
{
    struct pawl_problems problems = {.arena = &report->cli->arena, .most = PROBLEMS_MAX};
    struct pawl_json_place head = {.line = 1, .column = 1};
    int status;

    if (file->status != PAWL_OK) {
        show_malformed(report, file);
        return PAWL_OK;
    }
    status = pawl__offline_check(offline, &file->json, &problems, err);
    if (status != PAWL_OK && pawl_error_class(status) != PAWL_CLASS_CALLER)
        return status;
    if (status != PAWL_OK && status != PAWL_EPARSE)
        show_error(report, file, &head, err);
    return show_all(report, file, &problems, err);
}

/* Reads all files first, so that each can use all others. */
static int check_all(struct report *report, struct pawl_offline *offline, struct pawl_error *err)
{
    struct pawl_cli *cli = report->cli;
    size_t count = cli->args.operand_count;
    struct pawl_cli_definition *files = pawl__arena_alloc_array(&cli->arena, count, sizeof *files);
    int status = PAWL_OK;

    if (!files)
        return pawl__error_code(err, cli->arena.status);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = pawl__cli_definitions_read(cli, offline, cli->args.operands[i], &files[i], err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = check(report, offline, &files[i], err);
    return status;
}

static int finish(struct report *report)
{
    struct pawl_cli *cli = report->cli;
    bool strict = pawl__cli_flag(&cli->args, "strict");

    pawl__cli_flush(&cli->out);
    if (!report->as_json)
        pawl__cli_print(&cli->err, "%zu %s: %u %s, %u %s\n", cli->args.operand_count,
                        cli->args.operand_count == 1 ? "file" : "files", report->errors,
                        report->errors == 1 ? "error" : "errors", report->warnings,
                        report->warnings == 1 ? "warning" : "warnings");
    return report->errors > 0 || (strict && report->warnings > 0) ? PAWL_CLI_EXIT_INVALID
                                                                  : PAWL_CLI_EXIT_OK;
}

static int finish_json(struct report *report, struct pawl_buf *buf)
{
    struct pawl_json_writer *json = &report->json;
    int code;

    pawl__json_write_end_array(json);
    pawl__json_write_key_text(json, "errors");
    pawl__json_write_int(json, report->errors);
    pawl__json_write_key_text(json, "warnings");
    pawl__json_write_int(json, report->warnings);
    pawl__json_write_end_object(json);
    code = pawl__cli_write_json(report->cli, buf);
    return code == PAWL_CLI_EXIT_OK ? finish(report) : code;
}

static int run(struct pawl_cli *cli)
{
    struct report report = {.cli = cli, .as_json = pawl__cli_flag(&cli->args, "json")};
    struct pawl_configuration configuration;
    struct pawl_offline *offline = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_buf buf;
    int status, code;

    pawl__buf_init(&buf, &cli->env->alloc, JSON_MAX);
    pawl__json_writer_init(&report.json, &buf, PAWL_JSON_ESCAPE_MINIMAL, 2);
    pawl__json_write_begin_object(&report.json);
    pawl__json_write_key_text(&report.json, "problems");
    pawl__json_write_begin_array(&report.json);
    status = pawl_env_entropy(cli->env, &report.seed, sizeof report.seed, &err);
    if (status == PAWL_OK)
        status = pawl__cli_configure(cli, &configuration, &err);
    if (status != PAWL_OK) {
        pawl__buf_release(&buf);
        return pawl__cli_fail(cli, &err, pawl__cli_configure_hint(status));
    }
    status = pawl__offline_open(cli->env, &configuration, &cli->arena, &offline, &err);
    if (status == PAWL_OK)
        status = check_all(&report, offline, &err);
    pawl__offline_close(offline);
    pawl__configuration_release(&configuration);
    if (status != PAWL_OK) {
        code = pawl__cli_fail(cli, &err, pawl__cli_read_hint(status));
    } else if (report.as_json) {
        return finish_json(&report, &buf);
    } else {
        code = finish(&report);
    }
    pawl__buf_release(&buf);
    return code;
}

static const struct pawl_cli_option options[] = {
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print the problems as one JSON document"},
    {.name = "strict", .kind = PAWL_CLI_FLAG, .help = "Warnings count as errors"},
    PAWL_CLI_SETTINGS_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_validate = {
    .name = "validate",
    .summary = "Report the problems of workflow definitions",
    .operands = "FILE...",
    .help =
        "Lists every problem with file, line, column and JSON pointer: what cannot be loaded,\n"
        "what loads but faults or does nothing when it runs, and, as warnings, what is\n"
        "probably not intended. Files that are usable as activities are available to the others.\n"
        "Scripts and timers are checked within the limits of the settings (script.*, timer.*).\n"
        "Exits with 3 when there are errors. '-' is standard input.\n",
    .options = options,
    .run = run,
};
