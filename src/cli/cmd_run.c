/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pawl run FILE...`: runs a definition in memory, to its end or until it waits for something that
 * this command cannot give. It runs on the runtime and a store that ends with the command
 * (scratch.h); what is said about it is run_report.c.
 */
#include "cli/run.h"

#include "base/error.h"
#include "base/stimuli.h"
#include "base/time/datetime.h"
#include "cli/command/values.h"
#include "cli/commands.h"
#include "cli/session/configure.h"
#include "operations/instances.h"
#include "operations/stimuli.h"

#include <string.h>

/* What all activities of a run with --trace may hold together. */
#define ARENA_MAX ((size_t)256 << 20)
/* Of a stored state. */
#define STATE_MAX ((size_t)1 << 30)

/* ---- hooks ------------------------------------------------------------------------------- */

static bool is_interrupted(const struct run *run)
{
    return pawl__interrupt_pending(run->interrupt);
}

/* Once it is being cancelled, that runs to its end. */
static bool is_stopped(void *ctx)
{
    const struct run *run = ctx;

    return !run->cancelling && is_interrupted(run);
}

static int on_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct run *run = ctx;
    struct pawl_json line;

    (void)instance_id;
    if (!run->as_json) {
        (void)pawl__cli_write_line(&run->cli->out, text); /* its end says so */
        return PAWL_OK;
    }
    if (pawl__json_string_copy(&run->lines_arena, text, &line) != PAWL_OK ||
        pawl__json_append(&run->lines_arena, &run->lines, line) != PAWL_OK)
        run->lines_lost = true;
    return PAWL_OK;
}

static void on_step(void *ctx, const struct pawl_trace *step)
{
    struct run *run = ctx;

    /* The first that does anything is the one that was started. */
    if (run->entry_id[0] == '\0')
        memcpy(run->entry_id, step->instance_id.ptr, step->instance_id.len);
    if (pawl__str_is(step->event, "Started"))
        run->activity_count++;
    pawl_log(&run->cli->log, PAWL_LOG_TRACE, "activity", pawl__log_str("event", step->event),
             pawl__log_str("type", step->activity_type), pawl__log_str("id", step->activity_id),
             pawl__log_str("instance", step->instance_id));
    if (run->trace)
        pawl__run_trace(run, step);
}

static void on_failure(void *ctx, struct pawl_str instance_id, const struct pawl_error *why)
{
    struct run *run = ctx;

    (void)instance_id;
    if (run->failure.code == PAWL_OK)
        run->failure = *why;
}

/* ---- what it is given ---------------------------------------------------------------------- */

static int read_now(struct run *run, struct pawl_error *err)
{
    struct pawl_datetime at;
    int status = pawl__cli_time(&run->cli->args, "now", &at, &run->simulated, err);

    if (status != PAWL_OK || !run->simulated)
        return status;
    status = pawl__datetime_to_unix_ns(at, &run->now_ns, err);
    return status == PAWL_OK ? PAWL_OK : pawl__error_prefix(err, status, "--now");
}

static int read_options(struct run *run, struct pawl_error *err)
{
    const struct pawl_cli_args *args = &run->cli->args;

    run->as_json = pawl__cli_flag(args, "json");
    run->trace = pawl__cli_flag(args, "trace");
    return pawl__cli_values(run->cli, "input", &run->input, err);
}

/* ---- definitions --------------------------------------------------------------------------- */

static struct pawl_op operation(const struct run *run, struct pawl_arena *arena,
                                struct pawl_error *err)
{
    return pawl__cli_scratch_op(&run->scratch, arena, err);
}

static int name_file(const struct run *run, size_t at, int status, struct pawl_error *err)
{
    return pawl__error_prefix(err, status, "%s", pawl__cli_file_name(run->files[at].path));
}

static int read_definition(struct run *run, size_t at, struct pawl_error *err)
{
    struct pawl_arena *arena = &run->cli->arena;
    struct pawl_cli_definition *file = &run->files[at];
    int status;

    file->path = run->cli->args.operands[at];
    run->definitions[at].json = &file->json;
    status = pawl__cli_read(run->cli, arena, file->path, &file->text, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__json_parse(arena, file->text, NULL, &file->json, NULL, err);
    return status == PAWL_OK ? PAWL_OK : name_file(run, at, status, err);
}

/* Reads all files before the first is published: they may use each other in any order. */
static int load_files(struct run *run, struct pawl_error *err)
{
    struct pawl_arena *arena = &run->cli->arena;
    struct pawl_op op = operation(run, arena, err);
    size_t at = 0, count = run->cli->args.operand_count;
    int status = PAWL_OK;

    run->files = pawl__arena_alloc_zeroed(arena, count * sizeof *run->files);
    run->definitions = pawl__arena_alloc_zeroed(arena, count * sizeof *run->definitions);
    if (!run->files || !run->definitions)
        return pawl__error_code(err, PAWL_ENOMEM);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = read_definition(run, i, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__op_trial_load(&op, run->definitions, count, &at);
    if (status != PAWL_OK)
        return name_file(run, at, status, err);
    for (size_t i = count; i-- > 0;)
        pawl__run_show_problems(run, &run->files[i], &run->definitions[i].problems);
    return PAWL_OK;
}

/* ---- running ------------------------------------------------------------------------------- */

/* Does what is due, and looks what has become of it. */
static int settle(struct run *run, struct pawl_error *err)
{
    struct pawl_op op = operation(run, &run->entry_arena, err);
    struct pawl_worked worked = {.next_due_us = PAWL_TIME_NEVER};
    struct pawl_instance_shown shown;
    int status = pawl__op_drain(&op, &worked);

    if (status == PAWL_OK && run->failure.code != PAWL_OK) {
        *err = run->failure;
        return err->code;
    }
    run->next_due_us = worked.next_due_us;
    pawl__arena_reset(&run->entry_arena);
    if (status == PAWL_OK)
        status = pawl__op_instance_show(&op, pawl__str(run->entry_id), true, &shown);
    if (status == PAWL_OK && shown.unreadable.code != PAWL_OK) {
        *err = shown.unreadable;
        return err->code;
    }
    if (status == PAWL_OK)
        run->entry_state = shown.state;
    run->entry_is_final = status == PAWL_OK && pawl__str_is(shown.row.status, "Finished");
    return status;
}

/* Until the instant or until Ctrl-C; with --now the clock jumps there. */
static int wait_until(struct run *run, int64_t due_us)
{
    struct pawl_env *env = run->cli->env;
    int64_t us = due_us - pawl_env_wall_ns(run->scratch.env) / 1000, deadline_ns;

    if (us <= 0)
        return PAWL_OK;
    if (run->simulated) {
        pawl__clock_env_advance(run->scratch.clock,
                                due_us * 1000 - pawl_env_wall_ns(run->scratch.env));
        return PAWL_OK;
    }
    if (us > PAWL_TICKS_PER_DAY / PAWL_TICKS_PER_US)
        us = PAWL_TICKS_PER_DAY / PAWL_TICKS_PER_US; /* then look at the clock again */
    deadline_ns = pawl_env_monotonic_ns(env) + us * 1000;
    return run->interrupt ? pawl__interrupt_wait(run->interrupt, deadline_ns)
                          : pawl_env_sleep_until(env, deadline_ns);
}

/* Whether an instance waits for the event. */
static bool is_awaited(struct run *run, struct pawl_str event)
{
    struct pawl_op op = operation(run, &run->entry_arena, NULL);
    bool awaited = false;

    return pawl__op_trial_awaits(&op, event, &awaited) == PAWL_OK && awaited;
}

/*
 * The next --event NAME or NAME=PAYLOAD, sent when it is awaited, or when nothing else is left to
 * wait for. *sent is false when it is not its time.
 */
static int send_next_event(struct run *run, bool nothing_else, bool *sent, struct pawl_error *err)
{
    size_t at = run->next_event;
    const char *text = pawl__cli_next(&run->cli->args, "event", &at);
    struct pawl_op op = operation(run, &run->cli->arena, err);
    struct pawl_json payload = pawl__json_null();
    struct pawl_send_request request;
    struct pawl_send_result result;
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
    request = (struct pawl_send_request){.name = name, .payload = &payload};
    status = pawl__op_event_send(&op, &request, &result);
    return status == PAWL_OK ? settle(run, err) : status;
}

static int cancel(struct run *run, struct pawl_error *err)
{
    struct pawl_op op = operation(run, &run->entry_arena, err);
    int status;

    run->cancelling = true;
    status = pawl__op_instance_cancel(&op, pawl__str(run->entry_id), false, NULL);
    return status == PAWL_OK ? settle(run, err) : status;
}

/* Goes on while there is something to wait for that comes by itself. */
static int drive(struct run *run, struct pawl_error *err)
{
    int status = settle(run, err);

    while (status == PAWL_OK && !run->entry_is_final) {
        /* Further than that a clock of 64 bits does not go. */
        bool sent, timed = run->next_due_us < INT64_MAX / 1000;

        if (is_interrupted(run)) {
            if (run->cancelling)
                break;
            status = cancel(run, err);
            continue;
        }
        status = send_next_event(run, !timed, &sent, err);
        if (status != PAWL_OK || sent)
            continue;
        if (!timed)
            break;
        pawl__run_show_wait(run, run->next_due_us);
        status = wait_until(run, run->next_due_us);
        if (status != PAWL_OK)
            return pawl__error_code(err, status);
        status = settle(run, err);
    }
    return status;
}

static int start(struct run *run, struct pawl_error *err)
{
    const struct pawl_cli_args *args = &run->cli->args;
    struct pawl_op op = operation(run, &run->cli->arena, err);
    const struct pawl_instance_start request = {
        .what = {.version_id = run->definitions[0].row.id,
                 .correlation_id = pawl__str(pawl__cli_text(args, "correlation-id", "")),
                 .input = run->input},
    };
    struct pawl_instance_result result;
    int status = pawl__op_instance_start(&op, &request, &result);

    if (status != PAWL_OK)
        return status;
    memcpy(run->entry_id, result.outcome.instance_id, sizeof run->entry_id);
    return drive(run, err);
}

static int run_in(struct run *run)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = load_files(run, &err);

    if (status != PAWL_OK)
        return pawl__cli_fail(run->cli, &err, pawl__cli_read_hint(err.code));
    status = start(run, &err);
    if (status != PAWL_OK)
        return pawl__cli_fail(run->cli, &err, NULL);
    return pawl__run_report(run);
}

static int run(struct pawl_cli *cli)
{
    struct run run = {.cli = cli, .lines = pawl__json_array(), .failure = PAWL_ERROR_INIT};
    struct pawl_cli_scratch_options options = {
        .around = {.line = on_line,
                   .step = on_step,
                   .failed = on_failure,
                   .stop = is_stopped,
                   .ctx = &run},
    };
    struct pawl_error err = PAWL_ERROR_INIT;
    int code, status;

    if (pawl__cli_flag(&cli->args, "http"))
        return pawl__cli_serve_dev(cli);
    status = read_options(&run, &err);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, &err, pawl__cli_read_hint(err.code));
    if (read_now(&run, &err) != PAWL_OK)
        return pawl__cli_fail(cli, &err, NULL);
    if (run.simulated)
        options.now_ns = &run.now_ns;
    options.stepwise = run.trace;
    pawl__arena_init(&run.lines_arena, &cli->env->alloc, ARENA_MAX);
    pawl__arena_init(&run.entry_arena, &cli->env->alloc, STATE_MAX);
    status = pawl__cli_scratch_open(cli, &options, &run.scratch, &err);
    /* Without it Ctrl-C ends the process, which loses nothing: nothing is stored. */
    if (status == PAWL_OK && pawl__interrupt_open(cli->env, &run.interrupt, NULL) != PAWL_OK)
        run.interrupt = NULL;
    code = status == PAWL_OK ? run_in(&run)
                             : pawl__cli_fail(cli, &err, pawl__cli_configure_hint(status));
    pawl__interrupt_close(run.interrupt);
    pawl__cli_scratch_close(&run.scratch);
    pawl__arena_release(&run.entry_arena);
    pawl__arena_release(&run.lines_arena);
    return code;
}

static const struct pawl_cli_option options[] = {
    PAWL_CLI_INPUT_OPTION,
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
    {.name = "http",
     .kind = PAWL_CLI_FLAG,
     .help = "Serve the HTTP endpoints of the definitions until Ctrl-C, and print curl lines"},
    {.name = "listen",
     .kind = PAWL_CLI_TEXT,
     .arg = "PLACES",
     .help = "With --http: HOST:PORT, where (default 127.0.0.1:5001)"},
    {.name = "trace", .kind = PAWL_CLI_FLAG, .help = "Show each activity on standard error"},
    PAWL_CLI_SETTINGS_OPTIONS,
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
