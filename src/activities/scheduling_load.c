/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at literals of Delay, Timer, Cron and StartAt when a definition is loaded, and notes as
 * problems what would otherwise only show as a fault, as a trigger that never fires, or as an
 * interval that is not kept. What expressions give is known only when they are evaluated.
 */
#include "activities/scheduling_load.h"

#include "base/time/cron.h"
#include "base/time/duration.h"
#include "engine/convert/convert.h"
#include "engine/engine.h"

#include <string.h>

static const char *place_of(struct pawl_loader *loader, const struct pawl_node *node,
                            const char *key)
{
    return pawl__loader_pointer(loader, node->pointer.ptr, key);
}

/* The text of the only input, when it is a literal that says something. */
static bool literal_text(const struct pawl_node *node, struct pawl_str *out)
{
    const struct pawl_expression *expression = &node->inputs[0].expression;

    if (!expression->ops || strcmp(expression->ops->type, "Literal") != 0)
        return false;
    *out = pawl__str_trim(pawl__json_str(&expression->value));
    return out->len > 0;
}

/* Whether nothing is given at all: no expression and no default, or an empty literal. */
static bool is_absent(const struct pawl_node *node)
{
    const struct pawl_input *input = &node->inputs[0];
    struct pawl_str text;

    if (!input->expression.ops)
        return pawl__value_is_null(input->initial);
    return strcmp(input->expression.ops->type, "Literal") == 0 && !literal_text(node, &text);
}

/* By the rules of evaluation, except the leniency that turns it into zero. */
static int converts(struct pawl_loader *loader, const struct pawl_node *node, struct pawl_str text,
                    struct pawl_value *out, bool *yes)
{
    struct pawl_conversion how = {.arena = pawl__loader_arena(loader), .strict = true};
    struct pawl_exception raised = {.inner = NULL};
    int status = pawl__convert(&how, pawl__value_from_json(pawl__json_string(text)),
                               node->inputs[0].descriptor->type, out, &raised);

    *yes = status == PAWL_OK && !pawl__value_is_null(*out);
    return status == ENGINE_RAISED ? PAWL_OK : status;
}

/* A literal TimeSpan in ticks; *known false: missing, or invalid, which is a problem. */
static int read_span(struct pawl_loader *loader, const struct pawl_node *node, const char *place,
                     int64_t *ticks, bool *known)
{
    struct pawl_value value = pawl__value_null();
    struct pawl_str text;
    bool yes = false;
    int status;

    *known = false;
    if (!literal_text(node, &text))
        return PAWL_OK;
    status = converts(loader, node, text, &value, &yes);
    if (status != PAWL_OK)
        return status;
    *known =
        yes && pawl__duration_parse_constant(pawl__json_str(&value.json), ticks, NULL) == PAWL_OK;
    if (!*known)
        pawl__loader_problem(loader, PAWL_PROBLEM_ERROR, node, place,
                             "'%.*s' is no TimeSpan; write days.hours:minutes:seconds, such as "
                             "00:01:30",
                             PAWL_STR_ARG(text));
    return PAWL_OK;
}

int pawl__delay_load(struct pawl_loader *loader, struct pawl_node *node)
{
    const char *place = place_of(loader, node, "timeSpan");
    int64_t ticks = 0;
    bool known = false;
    int status = place ? read_span(loader, node, place, &ticks, &known) : PAWL_ENOMEM;

    if (status == PAWL_OK && known && ticks < 0)
        pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, node, place,
                             "the delay is negative: it is over at once");
    return status;
}

int pawl__timer_load(struct pawl_loader *loader, struct pawl_node *node)
{
    int64_t least = pawl__loader_engine(loader)->timer_interval_min;
    const char *place = place_of(loader, node, "interval");
    char text[PAWL_DURATION_TEXT_SIZE];
    int64_t ticks = 0;
    bool known = false;
    int status = place ? read_span(loader, node, place, &ticks, &known) : PAWL_ENOMEM;

    if (status != PAWL_OK || !known || ticks >= least)
        return status;
    if (node->can_start_workflow && ticks <= 0) {
        pawl__loader_problem(loader, PAWL_PROBLEM_ERROR, node, place,
                             "the interval is not positive: the trigger fires once and never "
                             "again");
        return PAWL_OK;
    }
    (void)pawl__duration_format(least, text);
    pawl__loader_problem(loader, PAWL_PROBLEM_WARNING, node, place,
                         "the interval is raised to %s (timer.interval.min)", text);
    return PAWL_OK;
}

int pawl__cron_load(struct pawl_loader *loader, struct pawl_node *node)
{
    const char *place = place_of(loader, node, "cronExpression");
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_str text = {.ptr = "", .len = 0};
    struct pawl_cron cron;
    int64_t next;

    if (!place)
        return PAWL_ENOMEM;
    if (!literal_text(node, &text) && !is_absent(node))
        return PAWL_OK;
    if (pawl__cron_parse(text, &cron, NULL, &err) != PAWL_OK)
        pawl__loader_problem(loader,
                             node->can_start_workflow ? PAWL_PROBLEM_INVALID : PAWL_PROBLEM_ERROR,
                             node, place, "Error when parsing cron expression: %s", err.msg);
    else if (!pawl__cron_next(&cron, NULL, 0, &next))
        pawl__loader_problem(loader, PAWL_PROBLEM_ERROR, node, place,
                             "the cron expression '%.*s' means a time that never comes",
                             PAWL_STR_ARG(text));
    return PAWL_OK;
}

int pawl__start_at_load(struct pawl_loader *loader, struct pawl_node *node)
{
    const char *place = place_of(loader, node, "dateTime");
    struct pawl_value value = pawl__value_null();
    struct pawl_str text;
    bool yes = false;
    int status;

    if (!place)
        return PAWL_ENOMEM;
    if (node->can_start_workflow && is_absent(node))
        pawl__loader_problem(loader, PAWL_PROBLEM_ERROR, node, place,
                             "no time is given: the trigger never fires");
    if (!literal_text(node, &text))
        return PAWL_OK;
    status = converts(loader, node, text, &value, &yes);
    if (status == PAWL_OK && !yes)
        pawl__loader_problem(loader, PAWL_PROBLEM_ERROR, node, place,
                             "'%.*s' is no DateTimeOffset; write it as 2031-12-24T18:00:00+01:00",
                             PAWL_STR_ARG(text));
    return status;
}
