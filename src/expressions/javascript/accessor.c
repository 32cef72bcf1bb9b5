/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that exist for what a scope has: getX() and setX(v) for each variable, getX() for each
 * input of the workflow (which then hides a variable's), getXFromY() for each output X of each
 * child Y of the container around, getX() for each argument of the expression. A name is made of
 * letters and digits, its first letter raised.
 */
#include "expressions/javascript/private.h"

static char raised(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool is_word(struct pawl_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              c >= 0x80))
            return false;
    }
    return name.len > 0;
}

/* Whether `written` is `name` with its first letter raised. */
static bool is_raised(struct pawl_str written, struct pawl_str name)
{
    return written.len == name.len && name.len > 0 && written.ptr[0] == raised(name.ptr[0]) &&
           memcmp(written.ptr + 1, name.ptr + 1, name.len - 1) == 0;
}

/* ---- variables --------------------------------------------------------------------------- */

struct search {
    struct pawl_str written; /* behind get or set */
    struct pawl_str found;
};

#define FOUND 1000 /* ends a visit */

static int match_variable(void *ctx, const struct pawl_variable *variable, struct pawl_value value)
{
    struct search *search = ctx;

    (void)value;
    if (!is_raised(search->written, variable->name) || !is_word(variable->name))
        return PAWL_OK;
    search->found = variable->name;
    return FOUND;
}

static bool find_variable(const struct pawl_javascript_evaluation *e, struct pawl_str written,
                          struct pawl_str *name)
{
    struct search search = {.written = written};

    if (pawl__variables_visit(e->context, match_variable, &search) != FOUND)
        return false;
    *name = search.found;
    return true;
}

/* ---- inputs ------------------------------------------------------------------------------ */

/* The outermost workflow, when no nested one is in between; else NULL: no accessors for inputs. */
static const struct pawl_workflow *input_workflow(const struct pawl_javascript_evaluation *e)
{
    for (const struct pawl_node *node = e->context->node; node; node = node->parent) {
        /* A workflow used as an activity is itself still in the scope of the one around it. */
        if (strcmp(node->activity->type, "Elsa.Workflow") == 0)
            return node->parent ? NULL : node->workflow;
    }
    return NULL;
}

static bool find_input(const struct pawl_javascript_evaluation *e, struct pawl_str written,
                       struct pawl_str *name)
{
    const struct pawl_workflow *workflow = input_workflow(e);

    for (uint32_t i = 0; workflow && i < workflow->input_count; i++) {
        if (pawl__str_equal(workflow->inputs[i].name, written)) {
            *name = workflow->inputs[i].name;
            return true;
        }
    }
    return false;
}

/* ---- outputs ----------------------------------------------------------------------------- */

/* How the accessors name an activity: by name in definitions of version 3, by id in older ones. */
static struct pawl_str activity_word(const struct pawl_javascript_evaluation *e,
                                     const struct pawl_node *node)
{
    const struct pawl_node *root = e->context->node;
    struct pawl_str tool;

    while (root->parent)
        root = root->parent;
    tool = root->workflow ? root->workflow->tool_version : pawl__str("");
    return tool.len > 0 && tool.ptr[0] >= '3' && tool.ptr[0] <= '9' ? node->name : node->id;
}

/* `written` is OutputFromActivity. */
static bool is_output_of(const struct pawl_javascript_evaluation *e, struct pawl_str written,
                         const struct pawl_node *node, struct pawl_str *output)
{
    struct pawl_str activity = activity_word(e, node);

    if (written.len < activity.len + 5 || !is_word(activity))
        return false;
    if (!is_raised(pawl__str_slice(written, written.len - activity.len, written.len), activity))
        return false;
    written = pawl__str_slice(written, 0, written.len - activity.len);
    if (!pawl__str_ends(written, pawl__str("From")))
        return false;
    written = pawl__str_slice(written, 0, written.len - 4);
    for (uint32_t i = 0; i < node->activity->output_count; i++) {
        struct pawl_str name = pawl__str(node->activity->outputs[i].name);

        if (is_raised(written, name)) {
            *output = name;
            return true;
        }
    }
    return false;
}

static bool find_output(const struct pawl_javascript_evaluation *e, struct pawl_str written,
                        struct pawl_javascript_accessor *accessor)
{
    const struct pawl_context *container = pawl__nearest_container(e->context);

    for (uint32_t i = 0; container && i < container->node->child_count; i++) {
        const struct pawl_node *node = container->node->children[i];

        if (is_output_of(e, written, node, &accessor->name)) {
            accessor->node = node;
            return true;
        }
    }
    return false;
}

/* ---- all --------------------------------------------------------------------------------- */

static bool find_argument(const struct pawl_javascript_evaluation *e, struct pawl_str written,
                          struct pawl_str *name)
{
    const struct pawl_json *args = &e->context->arguments;

    for (uint32_t i = 0; i < pawl__json_len(args); i++) {
        const struct pawl_json_member *member = pawl__json_member(args, i);

        if (member && is_raised(written, member->key)) {
            *name = member->key;
            return true;
        }
    }
    return false;
}

struct pawl_javascript_accessor
pawl__javascript_accessor(const struct pawl_javascript_evaluation *e, struct pawl_str name)
{
    struct pawl_javascript_accessor accessor = {.kind = PAWL_JAVASCRIPT_NO_ACCESSOR};
    struct pawl_str written = pawl__str_slice(name, 3, name.len);
    bool gets = pawl__str_starts(name, pawl__str("get"));

    if (written.len == 0)
        return accessor;
    if (gets && find_argument(e, written, &accessor.name))
        accessor.kind = PAWL_JAVASCRIPT_GET_ARGUMENT;
    else if (gets && find_input(e, written, &accessor.name))
        accessor.kind = PAWL_JAVASCRIPT_GET_INPUT;
    else if (find_variable(e, written, &accessor.name))
        accessor.kind = gets ? PAWL_JAVASCRIPT_GET_VARIABLE : PAWL_JAVASCRIPT_SET_VARIABLE;
    else if (gets && find_output(e, written, &accessor))
        accessor.kind = PAWL_JAVASCRIPT_GET_OUTPUT;
    return accessor;
}

struct visit {
    struct pawl_arena *arena;
    int (*found)(void *ctx, struct pawl_str name);
    void *ctx;
};

static int announce(const struct visit *visit, const char *prefix, struct pawl_str name, bool raise)
{
    char *text = pawl__arena_alloc(visit->arena, name.len + 4);

    if (!text)
        return visit->arena->status;
    memcpy(text, prefix, 3);
    memcpy(text + 3, name.ptr, name.len);
    if (raise)
        text[3] = raised(text[3]);
    text[name.len + 3] = '\0';
    return visit->found(visit->ctx, pawl__str_make(text, name.len + 3));
}

static int announce_variable(void *ctx, const struct pawl_variable *variable,
                             struct pawl_value value)
{
    int status;

    (void)value;
    if (!is_word(variable->name))
        return PAWL_OK;
    status = announce(ctx, "get", variable->name, true);
    if (status == PAWL_OK)
        status = announce(ctx, "set", variable->name, true);
    return status;
}

static int announce_outputs(const struct visit *visit, const struct pawl_javascript_evaluation *e,
                            const struct pawl_node *node)
{
    struct pawl_str activity = activity_word(e, node);

    for (uint32_t i = 0; is_word(activity) && i < node->activity->output_count; i++) {
        const char *name =
            pawl__arena_printf(visit->arena, "get%sFrom%c%.*s", node->activity->outputs[i].name,
                               raised(activity.ptr[0]), (int)(activity.len - 1), activity.ptr + 1);
        int status = name ? visit->found(visit->ctx, pawl__str(name)) : visit->arena->status;

        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

int pawl__javascript_accessors_visit(const struct pawl_javascript_evaluation *e,
                                     int (*found)(void *ctx, struct pawl_str name), void *ctx)
{
    struct visit visit = {.arena = e->arena, .found = found, .ctx = ctx};
    const struct pawl_workflow *workflow = input_workflow(e);
    const struct pawl_context *container = pawl__nearest_container(e->context);
    const struct pawl_json *args = &e->context->arguments;
    int status = pawl__variables_visit(e->context, announce_variable, &visit);

    for (uint32_t i = 0; status == PAWL_OK && workflow && i < workflow->input_count; i++)
        status = announce(&visit, "get", workflow->inputs[i].name, false);
    for (uint32_t i = 0; status == PAWL_OK && container && i < container->node->child_count; i++)
        status = announce_outputs(&visit, e, container->node->children[i]);
    for (uint32_t i = 0; status == PAWL_OK && i < pawl__json_len(args); i++)
        status = announce(&visit, "get", pawl__json_member(args, i)->key, true);
    return status;
}
