/* SPDX-License-Identifier: Apache-2.0 */
/* Runs statements, and what rendering as a whole takes. */
#include "expressions/liquid/parse.h"
#include "expressions/liquid/run.h"

#include <stdarg.h>
#include <stdio.h>

/* Steps between two questions whether to stop: less than a millisecond. */
#define STEPS_PER_POLL 1000
/* Steps after which a rendering that is to stop is interrupted, which undoes the step of the burst
 * that it is part of. What is done sooner is waited for. */
#define STEPS_BEFORE_STOP (LIQUID_STEPS_MAX / 20)
/* What looking at one more name costs. */
#define BYTES_PER_NAME 8

/* ---- failing ----------------------------------------------------------------------------- */

int pawl__liquid_raise(struct liquid_run *run, const char *type, const char *format, ...)
{
    struct pawl_str message;
    char text[256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    text[pawl__utf8_valid_prefix(pawl__str(text))] = '\0';
    /* The arena may be what is full: then the message is shorter, but there. */
    message = pawl__arena_str(run->arena, pawl__str(text));
    if (!message.ptr && run->arena->status == PAWL_ENOMEM)
        return PAWL_ENOMEM;
    if (!message.ptr)
        message = pawl__str("The Liquid template takes too much memory.");
    *run->raised = (struct pawl_exception){.type = pawl__str(type), .message = message};
    return ENGINE_RAISED;
}

int pawl__liquid_refused(struct liquid_run *run)
{
    if (run->arena->status != PAWL_ELIMIT)
        return pawl__arena_status(run->arena);
    *run->raised = (struct pawl_exception){
        .type = pawl__str("InvalidOperationException"),
        .message = pawl__str("The Liquid template takes too much memory: its intermediate values "
                             "may have 64 MB in all."),
    };
    return ENGINE_RAISED;
}

int pawl__liquid_buf_refused(struct liquid_run *run, const struct pawl_buf *buf)
{
    if (buf->status != PAWL_ELIMIT)
        return buf->status;
    *run->raised = (struct pawl_exception){
        .type = pawl__str("InvalidOperationException"),
        .message = pawl__str("The Liquid template renders too much text: it may have 16 MB."),
    };
    return ENGINE_RAISED;
}

/* Adds steps; false: there were too many, or the rendering must stop. */
static bool add_steps(struct liquid_run *run, size_t count)
{
    if (run->steps > LIQUID_STEPS_MAX || count > LIQUID_STEPS_MAX - run->steps) {
        run->steps = LIQUID_STEPS_MAX + 1;
        return false;
    }
    run->steps += (uint32_t)count;
    if (run->steps - run->polled >= STEPS_PER_POLL) {
        run->polled = run->steps;
        if (run->steps >= STEPS_BEFORE_STOP && run->scope && run->scope->stop &&
            run->scope->stop(run->scope->ctx))
            run->is_stopped = true;
    }
    return !run->is_stopped;
}

bool pawl__liquid_charge(struct liquid_run *run, size_t bytes)
{
    bytes += run->bytes;
    run->bytes = (uint32_t)(bytes % LIQUID_BYTES_PER_STEP);
    return !add_steps(run, bytes / LIQUID_BYTES_PER_STEP);
}

int pawl__liquid_step(struct liquid_run *run, uint32_t count)
{
    if (add_steps(run, count))
        return PAWL_OK;
    if (run->is_stopped)
        return PAWL_EBUSY;
    return pawl__liquid_raise(
        run, "InvalidOperationException",
        "The Liquid template takes too many steps: it may have %d. Is a range or "
        "a loop larger than meant?",
        LIQUID_STEPS_MAX);
}

/* ---- names ------------------------------------------------------------------------------- */

struct liquid_binding *pawl__liquid_find(struct liquid_run *run, struct liquid_binding *list,
                                         char space, struct pawl_str name)
{
    for (; list; list = list->next) {
        (void)pawl__liquid_charge(run, BYTES_PER_NAME);
        if (list->space == space && pawl__str_equal(list->name, name))
            return list;
    }
    return NULL;
}

int pawl__liquid_bind(struct liquid_run *run, char space, struct pawl_str name,
                      struct liquid_value value)
{
    struct liquid_binding *binding = pawl__liquid_find(run, run->bindings, space, name);

    if (!binding) {
        binding = pawl__arena_alloc_aligned(run->arena, sizeof *binding, 16);
        if (!binding)
            return pawl__liquid_refused(run);
        *binding = (struct liquid_binding){.space = space, .name = name, .next = run->bindings};
        run->bindings = binding;
    }
    binding->value = value;
    return PAWL_OK;
}

/* ---- statements -------------------------------------------------------------------------- */

static int execute_output(struct liquid_run *run, const struct liquid_node *node)
{
    struct liquid_value value;
    int status = pawl__liquid_evaluate(run, node->expr, &value);

    return status == PAWL_OK ? pawl__liquid_print(run, &value, run->out) : status;
}

static int execute_text(struct liquid_run *run, const struct liquid_node *node)
{
    pawl__buf_str(run->out, node->text);
    return run->out->status == PAWL_OK ? PAWL_OK : pawl__liquid_buf_refused(run, run->out);
}

static int execute_if(struct liquid_run *run, const struct liquid_node *node,
                      const struct liquid_node **stop)
{
    for (const struct liquid_branch *branch = node->branches; branch; branch = branch->next) {
        struct liquid_value value = pawl__liquid_bool(true);
        int status = PAWL_OK;

        if (branch->expr)
            status = pawl__liquid_evaluate(run, branch->expr, &value);
        if (status != PAWL_OK)
            return status;
        if (pawl__liquid_truth(&value) != branch->negate)
            return pawl__liquid_execute(run, branch->body, stop);
    }
    return PAWL_OK;
}

static int matches(struct liquid_run *run, const struct liquid_value *value,
                   const struct liquid_argument *wanted, bool *out)
{
    *out = wanted == NULL; /* else */
    for (; wanted && !*out; wanted = wanted->next) {
        struct liquid_value one;
        int status = pawl__liquid_evaluate(run, wanted->expr, &one);

        if (status != PAWL_OK)
            return status;
        *out = pawl__liquid_equal(run, value, &one);
    }
    return PAWL_OK;
}

static int execute_case(struct liquid_run *run, const struct liquid_node *node,
                        const struct liquid_node **stop)
{
    struct liquid_value value;
    int status = pawl__liquid_evaluate(run, node->expr, &value);

    for (const struct liquid_branch *branch = node->branches; branch && status == PAWL_OK;
         branch = branch->next) {
        bool found = false;

        status = matches(run, &value, branch->values, &found);
        if (status == PAWL_OK && found)
            return pawl__liquid_execute(run, branch->body, stop);
    }
    return status;
}

static int execute_capture(struct liquid_run *run, const struct liquid_node *node,
                           const struct liquid_node **stop)
{
    struct pawl_buf *outer = run->out;
    struct liquid_value value;
    struct pawl_buf buf;
    int status;

    pawl__liquid_text_begin(run, &buf);
    run->out = &buf;
    status = pawl__liquid_execute(run, node->body, stop);
    run->out = outer;
    if (status != PAWL_OK) {
        pawl__buf_release(&buf);
        return status;
    }
    status = pawl__liquid_text_end(run, &buf, &value);
    return status == PAWL_OK ? pawl__liquid_bind(run, 'v', node->text, value) : status;
}

static int execute_assign(struct liquid_run *run, const struct liquid_node *node)
{
    struct liquid_value value;
    int status = pawl__liquid_evaluate(run, node->expr, &value);

    return status == PAWL_OK ? pawl__liquid_bind(run, 'v', node->text, value) : status;
}

/* increment prints 0 first and then counts up, decrement -1 first and then down. */
static int execute_count(struct liquid_run *run, const struct liquid_node *node)
{
    bool up = node->kind == LIQUID_NODE_INCREMENT;
    const struct liquid_binding *binding = pawl__liquid_find(run, run->bindings, 'c', node->text);
    struct liquid_value value = binding ? binding->value : pawl__liquid_int(up ? -1 : 0);
    int status;

    if (!pawl__liquid_add(value.u.number, pawl__liquid_int(up ? 1 : -1).u.number, &value.u.number))
        return PAWL_OK;
    status = pawl__liquid_bind(run, 'c', node->text, value);
    return status == PAWL_OK ? pawl__liquid_print(run, &value, run->out) : status;
}

static int execute_cycle(struct liquid_run *run, const struct liquid_node *node)
{
    const struct liquid_argument *argument = node->values;
    struct liquid_value value = pawl__liquid_nil();
    struct pawl_str group = {"", 0};
    const struct liquid_binding *binding;
    unsigned __int128 turn;
    int status = PAWL_OK;

    if (node->expr)
        status = pawl__liquid_evaluate(run, node->expr, &value);
    if (status == PAWL_OK && node->expr)
        status = pawl__liquid_to_text(run, &value, &group);
    if (status != PAWL_OK)
        return status;
    binding = pawl__liquid_find(run, run->bindings, 'y', group);
    turn = binding ? binding->value.u.number.digits : 0;
    for (unsigned __int128 i = 0; i < turn && argument; i++)
        argument = argument->next;
    /* Past the last: from the start, also when another cycle of the group was longer. */
    if (!argument) {
        argument = node->values;
        turn = 0;
    }
    PAWL_ASSERT(argument); /* the parser demands one value at least */
    status = pawl__liquid_bind(run, 'y', group, pawl__liquid_int((int64_t)turn + 1));
    if (status == PAWL_OK)
        status = pawl__liquid_evaluate(run, argument->expr, &value);
    return status == PAWL_OK ? pawl__liquid_print(run, &value, run->out) : status;
}

/* ---- for --------------------------------------------------------------------------------- */

/* Which items of the source a loop goes through: [start, end), backwards when reversed. */
struct extent {
    uint32_t start;
    uint32_t end;
};

static int read_option(struct liquid_run *run, const struct liquid_expr *expr, int32_t *out)
{
    struct liquid_value value;
    int status = pawl__liquid_evaluate(run, expr, &value);

    return status == PAWL_OK ? pawl__liquid_to_int(run, &value, out) : status;
}

/* The position for `offset: continue` is kept under the source's first name. */
static struct pawl_str source_name(const struct liquid_expr *expr)
{
    while (expr->kind == LIQUID_EXPR_MEMBER || expr->kind == LIQUID_EXPR_INDEX)
        expr = expr->left;
    return expr->kind == LIQUID_EXPR_NAME ? expr->text : pawl__str("");
}

/* A negative limit leaves out so many at the end. */
static int find_extent(struct liquid_run *run, const struct liquid_node *node, uint32_t count,
                       struct extent *out)
{
    const struct liquid_binding *stopped = NULL;
    int64_t left;
    int32_t start = 0;
    int32_t limit = 0;
    int status = PAWL_OK;

    if (node->offset_continue)
        stopped = pawl__liquid_find(run, run->bindings, 'o', source_name(node->expr));
    if (stopped)
        start = (int32_t)stopped->value.u.number.digits;
    if (node->offset)
        status = read_option(run, node->offset, &start);
    if (status == PAWL_OK && node->limit)
        status = read_option(run, node->limit, &limit);
    if (status != PAWL_OK)
        return status;
    if (start < 0)
        start = 0;
    left = (int64_t)count - start;
    if (node->limit)
        left = limit < 0 ? left + limit : left < limit ? left : limit;
    out->start = left <= 0 ? 0 : (uint32_t)start;
    out->end = left <= 0 ? 0 : (uint32_t)(start + left);
    return PAWL_OK;
}

static int run_turns(struct liquid_run *run, const struct liquid_node *node,
                     const struct liquid_value *source, struct extent extent,
                     struct liquid_loop *loop, struct liquid_binding *local)
{
    loop->length = extent.end;
    for (uint32_t i = extent.start; i < extent.end; i++) {
        const struct liquid_node *stop = NULL;
        uint32_t item = node->reversed ? extent.end - 1 - (i - extent.start) : i;
        int status = pawl__liquid_step(run, 1);

        loop->index = i;
        if (status == PAWL_OK)
            status = pawl__liquid_item(run, source, item, &local->value);
        if (status == PAWL_OK)
            status = pawl__liquid_bind(run, 'o', source_name(node->expr),
                                       pawl__liquid_int((int64_t)i + 1));
        if (status == PAWL_OK)
            status = pawl__liquid_execute(run, node->body, &stop);
        if (status != PAWL_OK)
            return status;
        if (stop && stop->kind == LIQUID_NODE_BREAK)
            break;
    }
    return PAWL_OK;
}

static int execute_for(struct liquid_run *run, const struct liquid_node *node,
                       const struct liquid_node **stop)
{
    struct liquid_loop loop = {.outer = run->loop};
    struct liquid_binding local = {.space = 'v', .name = node->text, .next = run->locals};
    struct liquid_value source;
    struct extent extent = {0, 0};
    int status = pawl__liquid_evaluate(run, node->expr, &source);

    if (status == PAWL_OK)
        status = find_extent(run, node, pawl__liquid_count(&source), &extent);
    if (status != PAWL_OK)
        return status;
    if (extent.start == extent.end)
        return pawl__liquid_execute(run, node->otherwise, stop);
    run->locals = &local;
    run->loop = &loop;
    status = run_turns(run, node, &source, extent, &loop, &local);
    run->locals = local.next;
    run->loop = loop.outer;
    return status;
}

static int execute_one(struct liquid_run *run, const struct liquid_node *node,
                       const struct liquid_node **stop)
{
    switch (node->kind) {
    case LIQUID_NODE_TEXT:
        return execute_text(run, node);
    case LIQUID_NODE_OUTPUT:
        return execute_output(run, node);
    case LIQUID_NODE_IF:
        return execute_if(run, node, stop);
    case LIQUID_NODE_CASE:
        return execute_case(run, node, stop);
    case LIQUID_NODE_FOR:
        return execute_for(run, node, stop);
    case LIQUID_NODE_ASSIGN:
        return execute_assign(run, node);
    case LIQUID_NODE_CAPTURE:
        return execute_capture(run, node, stop);
    case LIQUID_NODE_INCREMENT:
    case LIQUID_NODE_DECREMENT:
        return execute_count(run, node);
    case LIQUID_NODE_CYCLE:
        return execute_cycle(run, node);
    case LIQUID_NODE_BLOCK:
        return pawl__liquid_execute(run, node->body, stop);
    case LIQUID_NODE_BREAK:
    case LIQUID_NODE_CONTINUE:
        break;
    }
    *stop = node;
    return PAWL_OK;
}

int pawl__liquid_execute(struct liquid_run *run, const struct liquid_node *node,
                         const struct liquid_node **stop)
{
    for (; node && !*stop; node = node->next) {
        int status = pawl__liquid_step(run, 1);

        if (status == PAWL_OK)
            status = execute_one(run, node, stop);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

/* ---- rendering --------------------------------------------------------------------------- */

int pawl__liquid_render(struct pawl_arena *arena, struct pawl_str template_text,
                        const struct pawl_liquid_scope *scope, struct pawl_buf *out,
                        struct pawl_exception *raised)
{
    struct liquid_run run = {.arena = arena, .scope = scope, .raised = raised, .out = out};
    const struct liquid_node *stop = NULL;
    struct liquid_node *template = NULL;
    int status = pawl__liquid_parse(arena, template_text, &template, raised);

    if (status == PAWL_ELIMIT)
        return pawl__liquid_refused(&run);
    if (status == PAWL_OK)
        status = pawl__liquid_execute(&run, template, &stop);
    /* What was charged last. */
    return status == PAWL_OK ? pawl__liquid_step(&run, 0) : status;
}

int pawl__liquid_check(struct pawl_arena *arena, struct pawl_str template_text,
                       struct pawl_exception *raised)
{
    struct liquid_run run = {.arena = arena, .raised = raised};
    struct liquid_node *template = NULL;
    int status = pawl__liquid_parse(arena, template_text, &template, raised);

    return status == PAWL_ELIMIT ? pawl__liquid_refused(&run) : status;
}
