/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl eval EXPR`: evaluates one expression as a workflow would (operations/trial.h). */
#include "cli/commands.h"
#include "cli/session/configure.h"

#include "base/error.h"
#include "cli/command/output.h"
#include "cli/command/values.h"
#include "cli/session/scratch.h"
#include "operations/trial.h"

#define JSON_MAX ((size_t)512 << 20)

struct eval {
    struct pawl_cli *cli;
    struct pawl_cli_scratch scratch;
    struct pawl_evaluation what;
};

/* ---- what is said about it ----------------------------------------------------------------- */

static int show_json(struct eval *eval, const struct pawl_json *value, struct pawl_str type)
{
    struct pawl_json_writer json;
    struct pawl_buf buf;

    pawl__buf_init(&buf, &eval->cli->env->alloc, JSON_MAX);
    pawl__json_writer_init(&json, &buf, PAWL_JSON_ESCAPE_MINIMAL, 2);
    if (pawl__cli_flag(&eval->cli->args, "json")) {
        pawl__json_write_begin_object(&json);
        pawl__json_write_key_text(&json, "type");
        if (type.len > 0)
            pawl__json_write_string(&json, type);
        else
            pawl__json_write_null(&json);
        pawl__json_write_key_text(&json, "value");
        pawl__json_write_value(&json, value);
        pawl__json_write_end_object(&json);
    } else {
        pawl__json_write_value(&json, value);
    }
    return pawl__cli_write_json(eval->cli, &buf);
}

static int show_result(struct eval *eval, const struct pawl_evaluated *result)
{
    if (pawl__cli_flag(&eval->cli->args, "json") ||
        !pawl__json_is(&result->value, PAWL_JSON_STRING))
        return show_json(eval, &result->value, result->type);
    pawl__cli_write(&eval->cli->out, pawl__json_str(&result->value));
    pawl__cli_print(&eval->cli->out, "\n");
    return PAWL_CLI_EXIT_OK;
}

/* Which limit an exception is about, and how much there is of it; NULL: none. */
static const char *limit_hint(struct eval *eval, struct pawl_str type)
{
    static const struct {
        const char *exception;
        const char *what;
        enum pawl_setting_id id;
    } limits[] = {
        {"StatementsCountOverflowException", "steps", PAWL_SETTING_ID_SCRIPT_FUEL},
        {"TimeoutException", "time", PAWL_SETTING_ID_SCRIPT_TIME},
        {"MemoryLimitExceededException", "memory", PAWL_SETTING_ID_SCRIPT_MEMORY},
        {"RecursionDepthOverflowException", "recursion", PAWL_SETTING_ID_SCRIPT_STACK},
    };

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (strstr(type.ptr, limits[i].exception))
            return pawl__arena_printf(
                &eval->cli->arena, "the limit of %s: %s is %s", limits[i].what,
                pawl__setting(limits[i].id)->name,
                pawl__configuration_text(&eval->scratch.configuration, limits[i].id));
    }
    return NULL;
}

static int show_exception(struct eval *eval, const struct pawl_evaluated *result)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    const char *hint = limit_hint(eval, result->exception);

    (void)pawl__error_set(&err, hint ? PAWL_ELIMIT : PAWL_EINVAL, "%.*s",
                          PAWL_STR_ARG(result->failure));
    return pawl__cli_fail(eval->cli, &err, hint);
}

/* ---- the command --------------------------------------------------------------------------- */

static int read_source(struct eval *eval, struct pawl_error *err)
{
    const char *operand = eval->cli->args.operands[0];
    struct pawl_str text = pawl__str(operand);
    int status = PAWL_OK;

    if (strcmp(operand, "-") == 0)
        status = pawl__cli_read(eval->cli, &eval->cli->arena, operand, &text, err);
    if (status != PAWL_OK)
        return status;
    if (!pawl__utf8_valid(text))
        return pawl__error_set(err, PAWL_EINVAL, "the expression is not UTF-8");
    status = pawl__json_string_copy(&eval->cli->arena, text, &eval->what.source);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

static int read_values(struct eval *eval, const char *option, struct pawl_json *to,
                       struct pawl_error *err)
{
    const char *text;
    size_t at = 0;
    int status = PAWL_OK;

    *to = pawl__json_object();
    while (status == PAWL_OK && (text = pawl__cli_next(&eval->cli->args, option, &at)) != NULL)
        status = pawl__cli_add_value(eval->cli, to, text, err);
    return status;
}

static int eval_in(struct eval *eval)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_evaluated result;
    struct pawl_op op;
    int status = read_source(eval, &err);

    eval->what.language = pawl__cli_flag(&eval->cli->args, "liquid") ? "Liquid" : "JavaScript";
    if (status == PAWL_OK)
        status = read_values(eval, "var", &eval->what.variables, &err);
    if (status == PAWL_OK)
        status = read_values(eval, "input", &eval->what.inputs, &err);
    if (status != PAWL_OK)
        return pawl__cli_fail(eval->cli, &err,
                              err.code == PAWL_EINVAL ? NULL : pawl__cli_read_hint(err.code));
    op = pawl__cli_scratch_op(&eval->scratch, &eval->cli->arena, &err);
    status = pawl__op_trial_evaluate(&op, &eval->what, &result);
    if (status != PAWL_OK)
        return pawl__cli_fail(eval->cli, &err, NULL);
    return result.is_raised ? show_exception(eval, &result) : show_result(eval, &result);
}

static int run(struct pawl_cli *cli)
{
    const struct pawl_cli_scratch_options options = {.around = {.extend = pawl__op_trial_extend}};
    struct eval eval = {.cli = cli};
    struct pawl_error err = PAWL_ERROR_INIT;
    int code, status;

    if (pawl__cli_flag(&cli->args, "js") && pawl__cli_flag(&cli->args, "liquid")) {
        (void)pawl__error_set(&err, PAWL_EINVAL, "--js and --liquid exclude each other");
        return pawl__cli_fail_usage(cli, &err);
    }
    status = pawl__cli_scratch_open(cli, &options, &eval.scratch, &err);
    code = status == PAWL_OK ? eval_in(&eval)
                             : pawl__cli_fail(cli, &err, pawl__cli_configure_hint(status));
    pawl__cli_scratch_close(&eval.scratch);
    return code;
}

static const struct pawl_cli_option options[] = {
    {.name = "js", .kind = PAWL_CLI_FLAG, .help = "EXPR is JavaScript (the default)"},
    {.name = "liquid", .kind = PAWL_CLI_FLAG, .help = "EXPR is a Liquid template"},
    {.name = "var",
     .letter = 'v',
     .kind = PAWL_CLI_TEXT,
     .arg = "NAME=VALUE",
     .help = "A variable: JSON, else text; =@FILE reads it, @FILE has several",
     .repeatable = true},
    {.name = "input",
     .letter = 'i',
     .kind = PAWL_CLI_TEXT,
     .arg = "NAME=VALUE",
     .help = "An input of the workflow, given in the same ways",
     .repeatable = true},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print an object with type and value"},
    PAWL_CLI_SETTINGS_OPTIONS,
    {.name = NULL},
};

static const char *const no_words[] = {NULL};

const struct pawl_cli_command pawl__cli_eval = {
    .name = "eval",
    .summary = "Evaluate an expression as a workflow would",
    .operands = "EXPR",
    .operands_may_be_empty = true,
    .operand_words = no_words,
    .help =
        "With the functions and the limits that expressions have in workflows. A string is\n"
        "printed as it is, any other value as JSON. '-' reads EXPR from standard input; '--'\n"
        "before EXPR lets it begin with a dash. An expression that is wrong, or that exceeds a\n"
        "limit, is exit code 3.\n"
        "\n"
        "  pawl eval '1 + 1'\n"
        "  pawl eval --var 'order={\"total\": 12.5}' 'getOrder().total * 2'\n"
        "  pawl eval --var order=@order.json 'variables.order.lines.length'\n"
        "  pawl eval --input who=World '`Hello ${getInput(\"who\")}`'\n"
        "  pawl eval --liquid --var n=3 '{{ Variables.n | times: 2 }}'\n",
    .options = options,
    .run = run,
};
