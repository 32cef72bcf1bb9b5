/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See first_step.h; the engine proper replaces this file. Two walks over the same tree with the
 * same checks: the first calls no hooks, so that a definition is run as a whole or not at all.
 */
#include "engine/first_step.h"

#include "base/error.h"

#include <stdio.h>

struct walk {
    struct pawl_first_step *step;
    size_t pointer_len;
    const struct pawl_first_step_hooks *hooks; /* NULL while checking */
    struct pawl_error *err;
};

/* Extends the pointer; answers its length before, to go back to. */
static size_t enter(struct walk *walk, struct pawl_str key)
{
    size_t before = walk->pointer_len;
    size_t room = PAWL_FIRST_STEP_POINTER_SIZE - before;
    int len = snprintf(walk->step->pointer + before, room, "/%.*s", PAWL_STR_ARG(key));

    walk->pointer_len += len > 0 && (size_t)len < room ? (size_t)len : 0;
    return before;
}

static void leave(struct walk *walk, size_t before)
{
    walk->pointer_len = before;
    walk->step->pointer[before] = '\0';
}

/* The member as it is spelled in the document: Elsa reads keys without regard to case. */
static const struct pawl_json_member *member(const struct pawl_json *object, const char *key)
{
    for (uint32_t i = pawl__json_len(object); i > 0; i--) {
        const struct pawl_json_member *found = pawl__json_member(object, i - 1);

        if (found && pawl__str_equal_nocase(found->key, pawl__str(key)))
            return found;
    }
    return NULL;
}

static const struct pawl_json *get(const struct pawl_json *object, const char *key)
{
    const struct pawl_json_member *found = member(object, key);

    return found ? &found->value : NULL;
}

static bool is_null(const struct pawl_json *value)
{
    return pawl__json_type(value) == PAWL_JSON_NULL;
}

static int refuse_text(struct walk *walk, const struct pawl_json *activity, const char *what)
{
    struct pawl_str id = pawl__json_str(get(activity, "id"));

    return pawl__error_set(walk->err, PAWL_EUNSUPPORTED,
                           "the text of Elsa.WriteLine '%.*s' is %s, which Pawl cannot run yet",
                           PAWL_STR_ARG(id), what);
}

/*
 * The literal text of a WriteLine. An input that is absent, null or without "typeName" is not set:
 * an empty line. A plain string instead of the wrapper is a literal too.
 */
static int read_text(struct walk *walk, const struct pawl_json *activity, struct pawl_str *out)
{
    const struct pawl_json_member *input = member(activity, "text");
    const struct pawl_json *expression, *value;
    struct pawl_str type;

    *out = pawl__str("");
    if (!input || is_null(&input->value))
        return PAWL_OK;
    (void)enter(walk, input->key); /* the caller leaves */
    if (pawl__json_is(&input->value, PAWL_JSON_STRING)) {
        *out = pawl__json_str(&input->value);
        return PAWL_OK;
    }
    if (!pawl__json_is(&input->value, PAWL_JSON_OBJECT))
        return refuse_text(walk, activity, "neither a string nor an input object");
    if (!get(&input->value, "typeName"))
        return PAWL_OK;
    expression = get(&input->value, "expression");
    if (is_null(expression))
        return PAWL_OK;
    type = pawl__json_str(get(expression, "type"));
    if (!pawl__str_is(type, "Literal"))
        return pawl__error_set(walk->err, PAWL_EUNSUPPORTED,
                               "the text of Elsa.WriteLine '%.*s' is an expression of type "
                               "'%.*s', which Pawl cannot run yet",
                               PAWL_STR_ARG(pawl__json_str(get(activity, "id"))),
                               PAWL_STR_ARG(type));
    value = get(expression, "value");
    if (!is_null(value) && !pawl__json_is(value, PAWL_JSON_STRING))
        return refuse_text(walk, activity, "a literal other than a string");
    *out = pawl__json_str(value);
    return PAWL_OK;
}

static int visit_write_line(struct walk *walk, const struct pawl_json *activity)
{
    size_t before = walk->pointer_len;
    struct pawl_str text;
    int status = read_text(walk, activity, &text);

    if (status != PAWL_OK)
        return status;
    leave(walk, before);
    if (walk->hooks && walk->hooks->line)
        walk->hooks->line(walk->hooks->ctx, text);
    return PAWL_OK;
}

static int visit(struct walk *walk, const struct pawl_json *activity);

static int visit_sequence(struct walk *walk, const struct pawl_json *sequence)
{
    const struct pawl_json_member *activities = member(sequence, "activities");
    size_t before;

    if (!activities || is_null(&activities->value))
        return PAWL_OK;
    before = enter(walk, activities->key);
    if (!pawl__json_is(&activities->value, PAWL_JSON_ARRAY))
        return pawl__error_set(walk->err, PAWL_EPARSE, "expected an array of activities, found %s",
                               pawl__json_type_name(&activities->value));
    for (uint32_t i = 0; i < pawl__json_len(&activities->value); i++) {
        char index[16];
        size_t outside;
        int status;

        (void)snprintf(index, sizeof index, "%u", (unsigned)i);
        outside = enter(walk, pawl__str(index));
        status = visit(walk, pawl__json_at(&activities->value, i));
        if (status != PAWL_OK)
            return status;
        leave(walk, outside);
    }
    leave(walk, before);
    return PAWL_OK;
}

/* Recursion is bounded by the depth of the document. On failure the pointer stays where it is. */
static int visit(struct walk *walk, const struct pawl_json *activity)
{
    struct pawl_str type = pawl__json_str(get(activity, "type"));
    struct pawl_str id = pawl__json_str(get(activity, "id"));

    if (!pawl__json_is(activity, PAWL_JSON_OBJECT))
        return pawl__error_set(walk->err, PAWL_EPARSE, "expected an activity object, found %s",
                               pawl__json_type_name(activity));
    if (type.len == 0)
        return pawl__error_set(walk->err, PAWL_EPARSE, "activity '%.*s' has no \"type\"",
                               PAWL_STR_ARG(id));
    walk->step->activity_count++;
    if (walk->hooks && walk->hooks->activity)
        walk->hooks->activity(walk->hooks->ctx, type, id, walk->step->pointer);
    if (pawl__str_is(type, "Elsa.WriteLine"))
        return visit_write_line(walk, activity);
    if (pawl__str_is(type, "Elsa.Sequence"))
        return visit_sequence(walk, activity);
    return pawl__error_set(walk->err, PAWL_EUNSUPPORTED,
                           "activity '%.*s' has type %.*s, which Pawl cannot run yet",
                           PAWL_STR_ARG(id), PAWL_STR_ARG(type));
}

int pawl__first_step_run(const struct pawl_json *definition,
                         const struct pawl_first_step_hooks *hooks, struct pawl_first_step *step,
                         struct pawl_error *err)
{
    const struct pawl_json_member *root = member(definition, "root");

    *step = (struct pawl_first_step){0};
    if (!root || is_null(&root->value))
        return pawl__error_set(err, PAWL_EPARSE,
                               "this is no workflow definition: it has no \"root\" activity");
    for (int pass = 0; pass < 2; pass++) {
        struct walk walk = {.step = step, .hooks = pass == 1 ? hooks : NULL, .err = err};
        int status;

        step->activity_count = 0;
        leave(&walk, 0);
        (void)enter(&walk, root->key);
        status = visit(&walk, &root->value);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}
