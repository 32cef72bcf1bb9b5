/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pawl eval EXPR`: evaluates one expression as a workflow would.
 *
 * It is one: a definition made here declares the variables and inputs and has one activity, of a
 * type that only this command knows, whose input is the expression. So scope, functions, limits
 * and messages are those of `pawl run`.
 */
#include "cli/commands.h"
#include "cli/configure.h"

#include "activities/descriptor.h"
#include "base/error.h"
#include "cli/output.h"
#include "cli/scratch.h"
#include "cli/values.h"
#include "engine/builder.h"
#include "engine/context.h"
#include "engine/engine.h"

#define JSON_MAX ((size_t)512 << 20)

struct eval {
    struct pawl_cli *cli;
    struct pawl_cli_scratch scratch;
    const char *language;
    struct pawl_json source;
    struct pawl_json variables; /* name -> value */
    struct pawl_json inputs;    /* the same */
};

/* ---- the activity -------------------------------------------------------------------------- */

static const struct pawl_input_descriptor evaluate_inputs[] = {
    {.name = "Variables", .type = &pawl__type_object, .flags = PAWL_INPUT_NAKED},
    {.name = "Value", .type = &pawl__type_object, .flags = PAWL_INPUT_NO_AUTO_EVALUATE},
};

/* As values of their own types: the default of an Object variable would be text. */
static int set_variables(struct pawl_context *context)
{
    const struct pawl_json *variables = pawl__input_naked(context, "Variables");
    int status = PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(variables) && status == PAWL_OK; i++) {
        const struct pawl_json_member *member = pawl__json_member(variables, i);

        status = pawl__variable_set(context, member->key, pawl__value_from_json(member->value));
    }
    return status;
}

/* Sets an output of the instance to a text, and releases the buffer. */
static int answer(struct pawl_context *context, const char *name, struct pawl_buf *text)
{
    struct pawl_json json = pawl__json_null();
    int status = text->status;

    if (status == PAWL_OK)
        status = pawl__json_string_copy(pawl__context_arena(context), pawl__buf_peek(text), &json);
    if (status == PAWL_OK)
        status = pawl__workflow_output_set(context, pawl__str(name),
                                           pawl__value_string(pawl__json_str(&json)));
    pawl__buf_release(text);
    return status;
}

/* The value goes out as text, so that it is not stored in the form of an instance. */
static int evaluate_execute(struct pawl_context *context)
{
    const struct pawl_allocator *alloc = pawl__context_arena(context)->alloc;
    struct pawl_value value = pawl__value_null();
    struct pawl_buf text;
    int status = set_variables(context);

    if (status == PAWL_OK)
        status = pawl__input_evaluate(context, "Value", &value);
    if (status != PAWL_OK)
        return status;
    if (!pawl__value_is_finite(&value.json))
        return pawl__raise(context, "ArgumentException",
                           "The result is infinite or not a number (NaN), which JSON cannot say: "
                           "make a text of it with String().");
    pawl__buf_init(&text, alloc, JSON_MAX);
    if (value.type)
        pawl__type_write(&text, value.type);
    status = answer(context, "type", &text);
    if (status != PAWL_OK)
        return status;
    pawl__buf_init(&text, alloc, JSON_MAX);
    pawl__json_write(&text, &value.json, PAWL_JSON_ESCAPE_MINIMAL);
    return answer(context, "value", &text);
}

static const struct pawl_activity evaluate = {
    .type = "Pawl.Evaluate",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE | PAWL_ACTIVITY_NOT_BROWSABLE,
    PAWL_INPUTS(evaluate_inputs),
    .execute = evaluate_execute,
};

/* ---- the definition ------------------------------------------------------------------------ */

/* [{"id":…, "name":…}] of the members of an object; all are of type Object. */
static struct pawl_json declare(struct pawl_builder *b, const struct pawl_json *values,
                                const char *type_key)
{
    struct pawl_json list = pawl__json_array();

    for (uint32_t i = 0; i < pawl__json_len(values); i++) {
        struct pawl_str name = pawl__json_member(values, i)->key;
        struct pawl_json one = pawl__json_object();

        pawl__build_text(b, &one, "id", name);
        pawl__build_text(b, &one, "name", name);
        pawl__build_name(b, &one, type_key, "Object");
        pawl__build_append(b, &list, one);
    }
    return list;
}

static int make_definition(struct eval *eval, struct pawl_json *out)
{
    struct pawl_builder b = {.arena = &eval->cli->arena};
    struct pawl_json expression = pawl__json_object(), value = pawl__json_object();
    struct pawl_json root = pawl__json_object(), definition = pawl__json_object();

    pawl__build_name(&b, &expression, "type", eval->language);
    pawl__build(&b, &expression, "value", eval->source);
    pawl__build_name(&b, &value, "typeName", "Object");
    pawl__build(&b, &value, "expression", expression);
    pawl__build_name(&b, &root, "id", "eval");
    pawl__build_name(&b, &root, "type", evaluate.type);
    pawl__build(&b, &root, "variables", eval->variables);
    pawl__build(&b, &root, "value", value);
    pawl__build_name(&b, &definition, "definitionId", "eval");
    pawl__build(&b, &definition, "variables", declare(&b, &eval->variables, "typeName"));
    pawl__build(&b, &definition, "inputs", declare(&b, &eval->inputs, "type"));
    pawl__build(&b, &definition, "root", root);
    *out = definition;
    return b.status;
}

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

static int show_result(struct eval *eval, const struct pawl_json *state)
{
    const struct pawl_json *output = pawl__json_get_text(state, "output");
    struct pawl_json_limits limits = pawl__json_limits_default;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json value;

    limits.bytes_max = JSON_MAX;
    limits.depth_max = PAWL_JSON_DEPTH_MAX;
    if (pawl__json_parse(&eval->cli->arena, pawl__json_str(pawl__json_get_text(output, "value")),
                         &limits, &value, NULL, &err) != PAWL_OK)
        return pawl__cli_fail(eval->cli, &err, NULL);
    if (pawl__cli_flag(&eval->cli->args, "json") || !pawl__json_is(&value, PAWL_JSON_STRING))
        return show_json(eval, &value, pawl__json_str(pawl__json_get_text(output, "type")));
    pawl__cli_write(&eval->cli->out, pawl__json_str(&value));
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

static int show_exception(struct eval *eval, const struct pawl_json *state)
{
    const struct pawl_json *incident = pawl__json_at(pawl__json_get_text(state, "incidents"), 0);
    const struct pawl_json *exception = pawl__json_get_text(incident, "exception");
    struct pawl_str message = pawl__json_str(pawl__json_get_text(incident, "message"));
    struct pawl_str type = pawl__json_str(pawl__json_get_text(exception, "type"));
    struct pawl_error err = PAWL_ERROR_INIT;
    const char *hint = limit_hint(eval, type);

    (void)pawl__error_set(&err, hint ? PAWL_ELIMIT : PAWL_EINVAL, "%.*s", PAWL_STR_ARG(message));
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
    status = pawl__json_string_copy(&eval->cli->arena, text, &eval->source);
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

/* As a draft: an expression that does not validate is evaluated, too. */
static int start(struct eval *eval, struct pawl_json *state, struct pawl_error *err)
{
    struct pawl_runtime *runtime = eval->scratch.runtime;
    struct pawl_arena *arena = &eval->cli->arena;
    int64_t deadline_ns = pawl__cli_scratch_deadline(&eval->scratch);
    struct pawl_start what = {.input = eval->inputs};
    struct pawl_definition_row draft;
    struct pawl_instance_row row;
    struct pawl_outcome outcome;
    struct pawl_json definition;
    int status = make_definition(eval, &definition);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = pawl__definitions_import(pawl__runtime_definitions(runtime), &definition, arena,
                                      &draft, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    what.version_id = draft.id;
    status = pawl__runtime_start(runtime, &what, &outcome, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    return pawl__runtime_show(runtime, pawl__str(outcome.instance_id), arena, &row, state,
                              deadline_ns, err);
}

static int eval_in(struct eval *eval)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json state;
    int status = read_source(eval, &err);

    eval->language = pawl__cli_flag(&eval->cli->args, "liquid") ? "Liquid" : "JavaScript";
    if (status == PAWL_OK)
        status = read_values(eval, "var", &eval->variables, &err);
    if (status == PAWL_OK)
        status = read_values(eval, "input", &eval->inputs, &err);
    if (status != PAWL_OK)
        return pawl__cli_fail(eval->cli, &err,
                              err.code == PAWL_EINVAL ? NULL : pawl__cli_read_hint(err.code));
    status = start(eval, &state, &err);
    if (status != PAWL_OK)
        return pawl__cli_fail(eval->cli, &err, NULL);
    if (pawl__json_len(pawl__json_get_text(&state, "incidents")) > 0)
        return show_exception(eval, &state);
    return show_result(eval, &state);
}

static int run(struct pawl_cli *cli)
{
    const struct pawl_cli_scratch_options options = {.activity = &evaluate};
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
