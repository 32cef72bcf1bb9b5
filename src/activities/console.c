/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WriteLine and ReadLine, by console effects:
 *
 *     {"text": "…"}     a line to write, without its end
 *     {"read": true}    awaited; the answer is {"text": "…"}, or null at the end of the input
 */
#include "activities/console.h"

#include "activities/descriptor.h"
#include "engine/builder.h"
#include "engine/context.h"

static const struct pawl_input_descriptor write_inputs[] = {
    {
        .name = "Text",
        .type = &pawl__type_string,
        .description = "The text to write.",
        .ui_hint = "singleline",
    },
};

static int write_execute(struct pawl_context *context)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json line = pawl__json_object();

    pawl__build(&b, &line, "text", pawl__json_string(pawl__input_str(context, "Text")));
    return b.status == PAWL_OK ? pawl__effect(context, PAWL_EFFECT_CONSOLE, line) : b.status;
}

const struct pawl_activity pawl__activity_write_line = {
    .type = "Elsa.WriteLine",
    .version = 1,
    .flags = PAWL_ACTIVITY_AUTO_COMPLETE,
    .category = "Console",
    .description = "Writes a line of text to the console.",
    PAWL_INPUTS(write_inputs),
    .execute = write_execute,
};

static const struct pawl_output_descriptor read_outputs[] = {
    {.name = "Result", .type = &pawl__type_string, .description = "The line that was read."},
};

static int read_execute(struct pawl_context *context)
{
    struct pawl_builder b = {.arena = pawl__context_arena(context)};
    struct pawl_json request = pawl__json_object();

    pawl__build_bool(&b, &request, "read", true);
    return b.status == PAWL_OK ? pawl__effect_await(context, PAWL_EFFECT_CONSOLE, request)
                               : b.status;
}

static int read_done(struct pawl_context *context, const struct pawl_json *result)
{
    const struct pawl_json *text = pawl__json_get_text(result, "text");
    struct pawl_value value = pawl__json_is(text, PAWL_JSON_STRING)
                                  ? pawl__value_string(pawl__json_str(text))
                                  : pawl__value_null();
    int status = pawl__output_set(context, "Result", value);

    return status == PAWL_OK ? pawl__complete(context, NULL) : status;
}

const struct pawl_activity pawl__activity_read_line = {
    .type = "Elsa.ReadLine",
    .version = 1,
    .category = "Console",
    .description = "Reads a line of text from the console.",
    PAWL_OUTPUTS(read_outputs),
    .execute = read_execute,
    .effect_done = read_done,
};
