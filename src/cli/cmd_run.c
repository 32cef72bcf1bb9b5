/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pawl run FILE`: runs a definition in memory, as far as Pawl can today. What it can is decided by
 * engine/first_step.c; this file reads, shows and reports.
 */
#include "cli/commands.h"

#include "base/error.h"
#include "base/json.h"
#include "cli/output.h"
#include "engine/first_step.h"

/* Lines of one run with --json, which are kept until the document is printed. */
#define JSON_MAX ((size_t)256 << 20)

/* What the hooks need. */
struct run {
    struct pawl_cli *cli;
    struct pawl_json_writer json; /* in the middle of "lines"; --json only */
    bool as_json;
    bool trace;
};

static void show_activity(void *ctx, struct pawl_str type, struct pawl_str id, const char *pointer)
{
    struct run *run = ctx;
    struct pawl_cli_stream *to = &run->cli->err;

    pawl_log(&run->cli->log, PAWL_LOG_TRACE, "activity begins", pawl__log_str("type", type),
             pawl__log_str("id", id), pawl_log_text("pointer", pointer));
    if (!run->trace)
        return;
    pawl__cli_flush(&run->cli->out);
    pawl__cli_print(to, "%s> ", pawl__cli_style(to, PAWL_CLI_DIM));
    pawl__cli_write_safe(to, type);
    pawl__cli_print(to, "  ");
    pawl__cli_write_safe(to, id.len > 0 ? id : pawl__str("(no id)"));
    pawl__cli_print(to, "  ");
    pawl__cli_write_safe(to, pawl__str(pointer));
    pawl__cli_print(to, "%s\n", pawl__cli_style(to, PAWL_CLI_PLAIN));
}

static void show_line(void *ctx, struct pawl_str text)
{
    struct run *run = ctx;

    if (run->as_json) {
        pawl__json_write_string(&run->json, text);
        return;
    }
    pawl__cli_write(&run->cli->out, text);
    pawl__cli_print(&run->cli->out, "\n");
}

/* With line, column and pointer, in the words of the parser's own messages. */
static int refuse(struct pawl_cli *cli, const char *path, struct pawl_str text,
                  const struct pawl_first_step *step, const struct pawl_error *why)
{
    struct pawl_json_place place;
    struct pawl_error err;

    if (pawl__json_locate(text, pawl__str(step->pointer), &place) == PAWL_OK)
        (void)pawl__error_set(&err, why->code, "%s: line %u, column %u: %s (at %s)",
                              pawl__cli_file_name(path), (unsigned)place.line,
                              (unsigned)place.column, why->msg,
                              step->pointer[0] ? step->pointer : "the root");
    else
        (void)pawl__error_set(&err, why->code, "%s: %s (at %s)", pawl__cli_file_name(path),
                              why->msg, step->pointer);
    if (why->code == PAWL_EUNSUPPORTED)
        return pawl__cli_fail(cli, &err,
                              "nothing was run; today Pawl runs " PAWL_FIRST_STEP_SUPPORTED);
    return pawl__cli_fail(cli, &err, "'pawl help workflows' says what a definition looks like");
}

/* The name people gave it, else its id. */
static struct pawl_str title_of(const struct pawl_json *definition)
{
    struct pawl_str name = pawl__json_str(pawl__json_get_nocase(definition, pawl__str("name")));

    if (name.len > 0)
        return name;
    name = pawl__json_str(pawl__json_get_nocase(definition, pawl__str("definitionId")));
    return name.len > 0 ? name : pawl__str("(no name)");
}

static void show_summary(struct pawl_cli *cli, const struct pawl_json *definition,
                         const struct pawl_first_step *step)
{
    struct pawl_cli_stream *to = &cli->err;

    pawl__cli_flush(&cli->out);
    pawl__cli_print(to, "%sFinished%s  ", pawl__cli_style(to, PAWL_CLI_GREEN),
                    pawl__cli_style(to, PAWL_CLI_PLAIN));
    pawl__cli_write_safe(to, title_of(definition));
    pawl__cli_print(to, "  (%zu %s)\n", step->activity_count,
                    step->activity_count == 1 ? "activity" : "activities");
}

static void put_member(struct pawl_json_writer *json, const struct pawl_json *definition,
                       const char *key)
{
    const struct pawl_json *value = pawl__json_get_nocase(definition, pawl__str(key));

    pawl__json_write_key_text(json, key);
    if (pawl__json_is(value, PAWL_JSON_STRING))
        pawl__json_write_string(json, pawl__json_str(value));
    else
        pawl__json_write_null(json);
}

static int execute(struct run *run, const char *path, struct pawl_str text,
                   const struct pawl_json *definition)
{
    const struct pawl_first_step_hooks hooks = {show_activity, show_line, run};
    struct pawl_first_step step;
    struct pawl_error err;

    if (pawl__first_step_run(definition, &hooks, &step, &err) != PAWL_OK)
        return refuse(run->cli, path, text, &step, &err);
    if (!run->as_json) {
        show_summary(run->cli, definition, &step);
        return PAWL_CLI_EXIT_OK;
    }
    pawl__json_write_end_array(&run->json);
    pawl__json_write_key_text(&run->json, "activities");
    pawl__json_write_int(&run->json, (int64_t)step.activity_count);
    pawl__json_write_end_object(&run->json);
    return pawl__cli_write_json(run->cli, run->json.out);
}

/* Everything before "lines" is known beforehand; a run that is refused prints none of it. */
static void begin_json(struct run *run, struct pawl_buf *buf, const struct pawl_json *definition)
{
    pawl__json_writer_init(&run->json, buf, PAWL_JSON_ESCAPE_MINIMAL, 2);
    pawl__json_write_begin_object(&run->json);
    pawl__json_write_key_text(&run->json, "status");
    pawl__json_write_string_text(&run->json, "Finished");
    put_member(&run->json, definition, "definitionId");
    put_member(&run->json, definition, "name");
    pawl__json_write_key_text(&run->json, "lines");
    pawl__json_write_begin_array(&run->json);
}

static int run(struct pawl_cli *cli)
{
    struct run run = {.cli = cli,
                      .as_json = pawl__cli_flag(&cli->args, "json"),
                      .trace = pawl__cli_flag(&cli->args, "trace")};
    const char *path = cli->args.operands[0];
    struct pawl_json definition;
    struct pawl_buf buf;
    struct pawl_error err;
    struct pawl_str text;
    int code;

    if (pawl__cli_read(cli, &cli->arena, path, &text, &err) != PAWL_OK)
        return pawl__cli_fail(cli, &err, pawl__cli_read_hint(err.code));
    if (pawl__json_parse(&cli->arena, text, NULL, &definition, NULL, &err) != PAWL_OK) {
        (void)pawl__error_prefix(&err, err.code, "%s", pawl__cli_file_name(path));
        return pawl__cli_fail(cli, &err, pawl__cli_read_hint(err.code));
    }
    pawl__buf_init(&buf, &cli->env->alloc, JSON_MAX);
    if (run.as_json)
        begin_json(&run, &buf, &definition);
    code = execute(&run, path, text, &definition);
    pawl__buf_release(&buf);
    return code;
}

static const struct pawl_cli_option options[] = {
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print one JSON object with status and lines"},
    {.name = "trace", .kind = PAWL_CLI_FLAG, .help = "Show each activity on standard error"},
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_run = {
    .name = "run",
    .summary = "Run a workflow definition in memory",
    .operands = "FILE",
    .help =
        "FILE is a definition as Elsa Workflows 3 exports it; '-' is standard input. Its lines go\n"
        "to standard output, the summary to standard error. Nothing is stored.\n"
        "\n"
        "Today it runs " PAWL_FIRST_STEP_SUPPORTED ".\n"
        "Anything else is refused before anything runs ('pawl help workflows').\n",
    .options = options,
    .run = run,
};
