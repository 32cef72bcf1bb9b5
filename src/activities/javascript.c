/* SPDX-License-Identifier: Apache-2.0 */
/* RunJavaScript: a script as an activity. Its value is the result; it may choose the outcomes. */
#include "activities/javascript.h"

#include "activities/descriptor.h"
#include "engine/context.h"
#include "engine/engine.h"
#include "expressions/javascript/javascript.h"

static const struct pawl_input_descriptor inputs[] = {
    {
        .name = "Script",
        .type = &pawl__type_string,
        .description = "The script to run.",
        .ui_hint = "code-editor",
        .default_syntax = "JavaScript",
        .options_json = "{\"code-editor\":{\"language\":\"javascript\"}}",
    },
    {
        .name = "PossibleOutcomes",
        .type = &pawl__type_string_list,
        .description = "A list of possible outcomes.",
        .ui_hint = "dynamic-outcomes",
    },
};

static const struct pawl_output_descriptor outputs[] = {
    {.name = "Result", .type = &pawl__type_object, .description = "The value of the script."},
};

/* Says of a literal script, when the definition is loaded, what would fault when it runs. */
static int load(struct pawl_loader *loader, struct pawl_node *node)
{
    const struct pawl_expression *given = &node->inputs[0].expression;
    const struct pawl_expression script = {
        .ops = pawl__engine_expression(pawl__loader_engine(loader), pawl__str("JavaScript")),
        .value = given->value,
    };

    const char *place;

    if (!given->ops || strcmp(given->ops->type, "Literal") != 0 ||
        !pawl__json_is(&given->value, PAWL_JSON_STRING))
        return PAWL_OK;
    place = pawl__loader_pointer(loader, node->pointer.ptr, "script");
    if (!place)
        return PAWL_ENOMEM;
    pawl__loader_check_expression(loader, node, place, &script);
    return PAWL_OK;
}

static int execute(struct pawl_context *context)
{
    struct pawl_javascript_run run = {
        .source = pawl__input_str(context, "Script"),
        .takes_outcomes = true,
    };
    struct pawl_outcomes outcomes;
    int status;

    if (pawl__str_trim(run.source).len == 0)
        return pawl__complete(context, NULL);
    status = pawl__javascript_run(context, &run);
    if (status == PAWL_OK && !pawl__value_is_null(run.result))
        status = pawl__output_set(context, "Result", run.result);
    if (status != PAWL_OK)
        return status;
    if (run.outcome_count == 0)
        return pawl__complete_with(context, "Done");
    outcomes = (struct pawl_outcomes){.names = run.outcomes, .count = run.outcome_count};
    return pawl__complete(context, &outcomes);
}

const struct pawl_activity pawl__activity_run_javascript = {
    .type = "Elsa.RunJavaScript",
    .version = 1,
    .category = "Scripting",
    .display_name = "Run JavaScript",
    .description = "Executes JavaScript code",
    PAWL_INPUTS(inputs),
    PAWL_OUTPUTS(outputs),
    .load = load,
    .execute = execute,
};
