/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pawl run FILE...`: runs a definition in memory, to its end or until it waits for something that
 * this command cannot give. Running is runtime/memory.h; what is said about it is run_report.c.
 */
#include "cli/run.h"

#include "activities/activities.h"
#include "base/datetime.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/values.h"
#include "expressions/expressions.h"
#include "expressions/javascript.h"
#include "os/tzdata.h"

/* What all activities of a run with --trace may hold together. */
#define ARENA_MAX ((size_t)256 << 20)

/* ---- hooks ------------------------------------------------------------------------------- */

static int64_t wall_ticks(struct pawl_env *env)
{
    return pawl__datetime_utc_ticks(pawl__datetime_from_unix_ns(pawl_env_wall_ns(env)));
}

static int64_t present(void *ctx)
{
    struct run *run = ctx;

    return run->simulated ? run->memory.now : wall_ticks(run->cli->env);
}

static bool is_stopped(void *ctx)
{
    const struct run *run = ctx;

    return pawl__interrupt_pending(run->interrupt);
}

static void on_line(void *ctx, struct pawl_str text)
{
    struct run *run = ctx;
    struct pawl_json line;

    if (!run->as_json) {
        pawl__cli_write(&run->cli->out, text);
        pawl__cli_print(&run->cli->out, "\n");
        pawl__cli_flush(&run->cli->out);
        return;
    }
    if (pawl__json_string_copy(&run->lines_arena, text, &line) != PAWL_OK ||
        pawl__json_append(&run->lines_arena, &run->lines, line) != PAWL_OK)
        run->lines_lost = true;
}

static void on_log(void *ctx, const struct pawl_memory_instance *instance,
                   const struct pawl_log_record *record)
{
    struct run *run = ctx;

    if (pawl__str_is(record->event, "Started"))
        run->activity_count++;
    pawl_log(&run->cli->log, PAWL_LOG_TRACE, "activity", pawl__log_str("event", record->event),
             pawl__log_str("type", record->activity_type), pawl__log_str("id", record->activity_id),
             pawl__log_str("instance", instance->id));
    if (run->trace)
        pawl__run_trace(run, instance, record);
}

/* ---- what it is given ---------------------------------------------------------------------- */

static int read_options(struct run *run, struct pawl_error *err)
{
    const struct pawl_cli_args *args = &run->cli->args;
    const char *now = pawl__cli_text(args, "now", NULL);
    struct pawl_datetime at;
    const char *text;
    size_t from = 0;
    int status = PAWL_OK;

    run->as_json = pawl__cli_flag(args, "json");
    run->trace = pawl__cli_flag(args, "trace");
    run->input = pawl__json_object();
    while (status == PAWL_OK && (text = pawl__cli_next(args, "input", &from)) != NULL)
        status = pawl__cli_add_value(run->cli, &run->input, text, err);
    if (status == PAWL_OK && now) {
        status = pawl__datetime_parse(pawl__str(now), &at, err);
        if (status != PAWL_OK)
            return pawl__error_prefix(err, status, "--now");
        run->simulated = true;
        run->memory.now = pawl__datetime_utc_ticks(at);
    }
    return status;
}

/* ---- definitions --------------------------------------------------------------------------- */

static int read_definition(struct run *run, struct run_file *to, struct pawl_error *err)
{
    struct pawl_arena *arena = &run->cli->arena;
    struct pawl_cli_definition *file = &to->file;
    int status = pawl__cli_read(run->cli, arena, file->path, &file->text, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__json_parse(arena, file->text, NULL, &file->json, NULL, err);
    if (status == PAWL_OK)
        status = pawl__memory_import(&run->memory, &file->json, &to->definition, err);
    return status == PAWL_OK
               ? PAWL_OK
               : pawl__error_prefix(err, status, "%s", pawl__cli_file_name(file->path));
}

/* Time starts nothing here but what was asked for. */
static void disarm(struct pawl_memory_definition *definition)
{
    for (uint32_t i = 0; i < definition->trigger_count; i++)
        definition->triggers[i].due = INT64_MAX;
}

/* Reads all files before the first is published: they may use each other in any order. */
static int load_files(struct run *run, struct pawl_error *err)
{
    const struct pawl_cli_args *args = &run->cli->args;
    int status = PAWL_OK;

    run->files =
        pawl__arena_alloc_zeroed(&run->cli->arena, args->operand_count * sizeof *run->files);
    if (!run->files)
        return pawl__error_code(err, PAWL_ENOMEM);
    for (size_t i = 0; i < args->operand_count && status == PAWL_OK; i++) {
        run->files[i].file.path = args->operands[i];
        status = read_definition(run, &run->files[i], err);
    }
    for (size_t i = args->operand_count; i-- > 0 && status == PAWL_OK;) {
        struct pawl_memory_publication said;

        status = pawl__memory_publish(&run->memory, run->files[i].definition, &said, err);
        if (status != PAWL_OK)
            return pawl__error_prefix(err, status, "%s",
                                      pawl__cli_file_name(run->files[i].file.path));
        pawl__run_show_problems(run, &run->files[i].file, &said.problems);
        disarm(run->files[i].definition);
    }
    return status;
}

/* ---- running ------------------------------------------------------------------------------- */

/* Until the instant or until Ctrl-C; with --now the clock jumps there. */
static int wait_until(struct run *run, int64_t due)
{
    struct pawl_env *env = run->cli->env;
    int64_t ticks, deadline;

    if (run->simulated) {
        if (due > run->memory.now)
            run->memory.now = due;
        return PAWL_OK;
    }
    ticks = due - wall_ticks(env);
    if (ticks <= 0)
        return PAWL_OK;
    if (ticks > PAWL_TICKS_PER_DAY)
        ticks = PAWL_TICKS_PER_DAY; /* then look at the clock again */
    deadline = pawl_env_monotonic_ns(env) + ticks * 100;
    return run->interrupt ? pawl__interrupt_wait(run->interrupt, deadline)
                          : pawl_env_sleep_until(env, deadline);
}

/* Whether an instance waits for the event. */
static bool is_awaited(const struct run *run, struct pawl_str event)
{
    const struct pawl_memory_instance *instance;

    PAWL_MEMORY_FOR_EACH_INSTANCE(instance, &run->memory)
    {
        const struct pawl_json *bookmarks = pawl__json_get_text(&instance->state, "bookmarks");

        for (uint32_t i = 0; !instance->is_final && i < pawl__json_len(bookmarks); i++) {
            const struct pawl_json *payload =
                pawl__json_get_text(pawl__json_at(bookmarks, i), "payload");
            struct pawl_str name = pawl__json_str(pawl__json_get_text(payload, "eventName"));

            if (pawl__str_equal(name, event))
                return true;
        }
    }
    return false;
}

/*
 * The next --event NAME or NAME=PAYLOAD, sent when it is awaited, or when nothing else is left to
 * wait for. *sent is false when it is not its time.
 */
static int send_next_event(struct run *run, bool nothing_else, bool *sent, struct pawl_error *err)
{
    size_t at = run->next_event;
    const char *text = pawl__cli_next(&run->cli->args, "event", &at);
    struct pawl_json payload = pawl__json_null();
    struct pawl_str name;
    size_t len;
    int status = PAWL_OK;

    *sent = false;
    if (!text)
        return PAWL_OK;
    len = strcspn(text, "=");
    name = pawl__arena_str(&run->cli->arena, pawl__str_make(text, len));
    if (name.ptr && !is_awaited(run, name) && !nothing_else)
        return PAWL_OK;
    if (text[len] == '=')
        status = pawl__cli_value(run->cli, pawl__str(text + len + 1), &payload);
    if (status != PAWL_OK || !name.ptr)
        return pawl__error_code(err, PAWL_ENOMEM);
    *sent = true;
    run->next_event = at;
    return pawl__memory_send_event(&run->memory, name, pawl__str(""), &payload, err);
}

/* Goes on while there is something to wait for that comes by itself. */
static int drive(struct run *run, struct pawl_error *err)
{
    int status = PAWL_OK;

    while (status == PAWL_OK && !run->entry->is_final) {
        int64_t due = 0;
        bool sent, timed = pawl__memory_next_due(&run->memory, &due);

        if (is_stopped(run)) {
            status = pawl__memory_cancel(&run->memory, run->entry, true, err);
            continue;
        }
        status = send_next_event(run, !timed, &sent, err);
        if (status != PAWL_OK || sent)
            continue;
        if (!timed)
            break;
        pawl__run_show_wait(run, due);
        status = wait_until(run, due);
        if (status != PAWL_OK)
            return pawl__error_code(err, status);
        status = pawl__memory_run_due(&run->memory, err);
    }
    return status;
}

static int start(struct run *run, struct pawl_error *err)
{
    const struct pawl_cli_args *args = &run->cli->args;
    struct pawl_memory_start what = {
        .definition = run->files[0].definition,
        .correlation_id = pawl__str(pawl__cli_text(args, "correlation-id", "")),
        .input = run->input,
    };
    int status = pawl__memory_start(&run->memory, &what, &run->entry, err);

    return status == PAWL_OK ? drive(run, err) : status;
}

static int run_in(struct run *run)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = read_options(run, &err);

    if (status == PAWL_OK)
        status = load_files(run, &err);
    if (status != PAWL_OK)
        return pawl__cli_fail(run->cli, &err, pawl__cli_read_hint(err.code));
    /* Steps of one activity each, so that lines appear between the steps that print them. */
    if (run->trace)
        run->engine.yield_after = 1;
    status = start(run, &err);
    if (status != PAWL_OK)
        return pawl__cli_fail(run->cli, &err, NULL);
    return pawl__run_report(run);
}

/* The vocabulary and the driver around a run. */
static int run(struct pawl_cli *cli)
{
    struct run run = {.cli = cli, .lines = pawl__json_array()};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_javascript *javascript = NULL;
    uint64_t seeds[3];
    int code, status = pawl_env_entropy(cli->env, seeds, sizeof seeds, &err);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, &err, NULL);
    pawl__engine_init(&run.engine, &cli->env->alloc, (struct pawl_hash_seed){seeds[0], seeds[1]});
    run.engine.timezone = pawl__tzdata_load;
    status = pawl__activities_register(&run.engine);
    if (status == PAWL_OK)
        status = pawl__expressions_register(&run.engine);
    if (status == PAWL_OK)
        status = pawl__javascript_open(cli->env, NULL, &javascript, &err);
    if (status == PAWL_OK)
        status = pawl__javascript_register(&run.engine, javascript);
    pawl__arena_init(&run.lines_arena, &cli->env->alloc, ARENA_MAX);
    pawl__memory_init(&run.memory, &run.engine, &cli->env->alloc, seeds[2]);
    run.memory.hooks = (struct pawl_memory_hooks){
        .line = on_line, .logged = on_log, .now = present, .stop = is_stopped, .ctx = &run};
    run.memory.refuse_invalid = false;
    /* Without it Ctrl-C ends the process, which loses nothing: nothing is stored. */
    if (status == PAWL_OK && pawl__interrupt_open(cli->env, &run.interrupt, NULL) != PAWL_OK)
        run.interrupt = NULL;
    if (status == PAWL_OK)
        code = run_in(&run);
    else
        code = pawl__cli_fail(cli, (pawl__error_code(&err, status), &err), NULL);
    pawl__interrupt_close(run.interrupt);
    pawl__memory_release(&run.memory);
    pawl__arena_release(&run.lines_arena);
    pawl__engine_release(&run.engine);
    pawl__javascript_close(javascript);
    return code;
}

static const struct pawl_cli_option options[] = {
    {.name = "input",
     .letter = 'i',
     .kind = PAWL_CLI_TEXT,
     .arg = "NAME=VALUE",
     .help = "An input: JSON, else text; =@FILE reads it, @FILE has several",
     .repeatable = true},
    {.name = "event",
     .letter = 'e',
     .kind = PAWL_CLI_TEXT,
     .arg = "NAME[=VALUE]",
     .help = "An event to send when the workflow waits",
     .repeatable = true},
    {.name = "correlation-id",
     .kind = PAWL_CLI_TEXT,
     .arg = "ID",
     .help = "The correlation id of the instance"},
    {.name = "now",
     .kind = PAWL_CLI_TEXT,
     .arg = "TIME",
     .help = "Pretend it is TIME (ISO 8601); nothing waits"},
    {.name = "json",
     .kind = PAWL_CLI_FLAG,
     .help = "Print one JSON object with lines and final state"},
    {.name = "trace", .kind = PAWL_CLI_FLAG, .help = "Show each activity on standard error"},
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_run = {
    .name = "run",
    .summary = "Run a workflow definition in memory",
    .operands = "FILE...",
    .help =
        "The first FILE is the definition to run, as Elsa Workflows 3 exports it; '-' is standard\n"
        "input. The others are there for it to use as activities and to start. Its lines go to\n"
        "standard output, the rest to standard error. Nothing is stored.\n"
        "\n"
        "Timers are waited for; Ctrl-C cancels. A workflow that waits for anything else says for\n"
        "what; --event sends it an event. The exit code is 0 only when the workflow finished.\n",
    .options = options,
    .run = run,
};
