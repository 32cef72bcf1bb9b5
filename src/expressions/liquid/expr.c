/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates expressions. */
#include "expressions/liquid/filters.h"
#include "expressions/liquid/parse.h"

/* Long texts take more steps than short ones, so that no loop over them is endless. */
static uint32_t text_steps(const struct liquid_value *value)
{
    return value->kind == LIQUID_STRING ? 1 + (uint32_t)(value->u.text.len / LIQUID_BYTES_PER_STEP)
                                        : 1;
}

static int evaluate_name(struct liquid_run *run, struct pawl_str name, struct liquid_value *out)
{
    const struct liquid_value root = {.kind = LIQUID_ROOT};
    const struct liquid_binding *binding = pawl__liquid_find(run, run->locals, 'v', name);

    if (!binding)
        binding = pawl__liquid_find(run, run->bindings, 'v', name);
    if (binding) {
        *out = binding->value;
        return PAWL_OK;
    }
    if (run->loop && pawl__str_is(name, "forloop")) {
        *out = (struct liquid_value){.kind = LIQUID_LOOP, .u.loop = run->loop};
        return PAWL_OK;
    }
    if (run->loop && run->loop->outer && pawl__str_is(name, "parentloop")) {
        *out = (struct liquid_value){.kind = LIQUID_LOOP, .u.loop = run->loop->outer};
        return PAWL_OK;
    }
    if (pawl__str_is(name, "ExpressionExecutionContext")) {
        *out = root;
        return PAWL_OK;
    }
    return pawl__liquid_member(run, &root, name, out);
}

static int evaluate_range(struct liquid_run *run, const struct liquid_expr *expr,
                          struct liquid_value *out)
{
    struct liquid_value from;
    struct liquid_value to;
    struct liquid_value *items;
    int32_t first = 0;
    int32_t last = 0;
    uint32_t count;
    int status = pawl__liquid_evaluate(run, expr->left, &from);

    if (status == PAWL_OK)
        status = pawl__liquid_evaluate(run, expr->right, &to);
    if (status == PAWL_OK)
        status = pawl__liquid_to_int(run, &from, &first);
    if (status == PAWL_OK)
        status = pawl__liquid_to_int(run, &to, &last);
    if (status != PAWL_OK)
        return status;
    count = last < first ? 0 : (uint32_t)((int64_t)last - first + 1);
    status = pawl__liquid_step(run, count);
    if (status != PAWL_OK)
        return status;
    items = pawl__liquid_values_new(run, count);
    if (!items)
        return pawl__liquid_refused(run);
    for (uint32_t i = 0; i < count; i++)
        items[i] = pawl__liquid_int((int64_t)first + i);
    *out = (struct liquid_value){.kind = LIQUID_ARRAY, .u.array = {.items = items, .count = count}};
    return PAWL_OK;
}

/* ---- comparing --------------------------------------------------------------------------- */

static size_t shorter(struct pawl_str a, struct pawl_str b)
{
    return a.len < b.len ? a.len : b.len;
}

/* Numbers with what counts as one, texts with texts; of other things none is less. */
static int order(struct liquid_run *run, const struct liquid_value *a, const struct liquid_value *b,
                 int *out, bool *known)
{
    struct pawl_net_decimal left;
    struct pawl_net_decimal right;
    int status;

    *known = false;
    if (a->kind == LIQUID_STRING && b->kind == LIQUID_STRING) {
        *known = true;
        if (pawl__liquid_charge(run, shorter(a->u.text, b->u.text)))
            return pawl__liquid_step(run, 0);
        *out = pawl__str_compare(a->u.text, b->u.text);
        return PAWL_OK;
    }
    if (a->kind == LIQUID_DATE && b->kind == LIQUID_DATE) {
        *known = true;
        *out = pawl__datetime_compare(a->u.date, b->u.date);
        return PAWL_OK;
    }
    if (a->kind != LIQUID_NUMBER)
        return PAWL_OK;
    status = pawl__liquid_to_number(run, a, &left);
    if (status == PAWL_OK)
        status = pawl__liquid_to_number(run, b, &right);
    if (status != PAWL_OK)
        return status;
    *known = true;
    *out = pawl__liquid_compare_numbers(left, right);
    return PAWL_OK;
}

static int compare(struct liquid_run *run, enum liquid_operator op, const struct liquid_value *a,
                   const struct liquid_value *b, bool *out)
{
    bool strict = op == LIQUID_OP_LESS || op == LIQUID_OP_GREATER;
    bool known = false;
    int sign = 0;
    int status;

    *out = false;
    if (pawl__liquid_is_nil(a) || pawl__liquid_is_nil(b)) {
        *out = !strict && pawl__liquid_is_nil(a) && pawl__liquid_is_nil(b);
        return PAWL_OK;
    }
    status = order(run, a, b, &sign, &known);
    if (status != PAWL_OK || !known)
        return status;
    if (sign == 0)
        *out = !strict;
    else
        *out = (sign < 0) == (op == LIQUID_OP_LESS || op == LIQUID_OP_LESS_EQUAL);
    return PAWL_OK;
}

static int contains_item(struct liquid_run *run, const struct liquid_value *a,
                         const struct liquid_value *b, bool *out)
{
    uint32_t count = pawl__liquid_count(a);

    for (uint32_t i = 0; i < count && !*out; i++) {
        struct liquid_value item;
        int status = pawl__liquid_step(run, 1);

        if (status == PAWL_OK)
            status = pawl__liquid_item(run, a, i, &item);
        if (status != PAWL_OK)
            return status;
        *out = pawl__liquid_equal(run, &item, b);
    }
    return PAWL_OK;
}

/* contains, startswith, endswith: of texts; contains also of arrays. */
static int search(struct liquid_run *run, enum liquid_operator op, const struct liquid_value *a,
                  const struct liquid_value *b, bool *out)
{
    struct pawl_str what;
    int status;

    *out = false;
    if (pawl__liquid_is_array(a) && op == LIQUID_OP_CONTAINS)
        return contains_item(run, a, b, out);
    if (a->kind != LIQUID_STRING)
        return PAWL_OK;
    status = pawl__liquid_to_text(run, b, &what);
    if (status == PAWL_OK)
        status = pawl__liquid_step(run, text_steps(a));
    if (status == PAWL_OK && pawl__liquid_charge(run, what.len))
        status = pawl__liquid_step(run, 0);
    if (status != PAWL_OK)
        return status;
    if (op == LIQUID_OP_CONTAINS)
        *out = pawl__liquid_text_find(a->u.text, what, 0) != SIZE_MAX;
    else if (op == LIQUID_OP_STARTS_WITH)
        *out = pawl__str_starts(a->u.text, what);
    else
        *out = pawl__str_ends(a->u.text, what);
    return PAWL_OK;
}

static int operate(struct liquid_run *run, enum liquid_operator op, const struct liquid_value *a,
                   const struct liquid_value *b, bool *out)
{
    int status = pawl__liquid_step(run, 1);

    if (status != PAWL_OK)
        return status;
    if (op == LIQUID_OP_EQUAL || op == LIQUID_OP_NOT_EQUAL)
        *out = pawl__liquid_equal(run, a, b) == (op == LIQUID_OP_EQUAL);
    else if (op >= LIQUID_OP_LESS && op <= LIQUID_OP_GREATER_EQUAL)
        return compare(run, op, a, b, out);
    else
        return search(run, op, a, b, out);
    return PAWL_OK;
}

/* and, or: from left to right, as far as it takes to know. */
static int evaluate_logic(struct liquid_run *run, const struct liquid_expr *expr,
                          struct liquid_value *out)
{
    struct liquid_value value;
    int status = PAWL_OK;

    while (expr->kind == LIQUID_EXPR_BINARY &&
           (expr->op == LIQUID_OP_AND || expr->op == LIQUID_OP_OR)) {
        status = pawl__liquid_evaluate(run, expr->left, &value);
        if (status != PAWL_OK)
            return status;
        if (pawl__liquid_truth(&value) == (expr->op == LIQUID_OP_OR)) {
            *out = pawl__liquid_bool(pawl__liquid_truth(&value));
            return PAWL_OK;
        }
        expr = expr->right;
    }
    status = pawl__liquid_evaluate(run, expr, &value);
    if (status == PAWL_OK)
        *out = pawl__liquid_bool(pawl__liquid_truth(&value));
    return status;
}

static int evaluate_binary(struct liquid_run *run, const struct liquid_expr *expr,
                           struct liquid_value *out)
{
    struct liquid_value left;
    struct liquid_value right;
    bool result = false;
    int status;

    if (expr->op == LIQUID_OP_AND || expr->op == LIQUID_OP_OR)
        return evaluate_logic(run, expr, out);
    status = pawl__liquid_evaluate(run, expr->left, &left);
    if (status == PAWL_OK)
        status = pawl__liquid_evaluate(run, expr->right, &right);
    if (status == PAWL_OK)
        status = operate(run, expr->op, &left, &right, &result);
    if (status == PAWL_OK)
        *out = pawl__liquid_bool(result);
    return status;
}

/* ---- filters ----------------------------------------------------------------------------- */

static uint32_t argument_count(const struct liquid_argument *argument)
{
    uint32_t count = 0;

    for (; argument; argument = argument->next)
        count++;
    return count;
}

static int evaluate_filter(struct liquid_run *run, const struct liquid_expr *expr,
                           struct liquid_value *out)
{
    uint32_t count = argument_count(expr->arguments);
    struct liquid_value *values = pawl__liquid_values_new(run, count);
    struct pawl_str *names = pawl__arena_alloc_array(run->arena, count + 1u, sizeof *names);
    struct liquid_args args = {.values = values, .names = names};
    int status = pawl__liquid_evaluate(run, expr->left, out);

    if (!values || !names)
        return pawl__liquid_refused(run);
    for (const struct liquid_argument *argument = expr->arguments; argument && status == PAWL_OK;
         argument = argument->next) {
        status = pawl__liquid_evaluate(run, argument->expr, &values[args.count]);
        if (status == PAWL_OK)
            status = pawl__liquid_step(run, text_steps(&values[args.count]));
        names[args.count++] = argument->name;
    }
    if (status == PAWL_OK)
        status = pawl__liquid_step(run, text_steps(out));
    if (status != PAWL_OK || !expr->filter)
        return status;
    return pawl__liquid_filter_apply(run, expr->filter, out, &args);
}

int pawl__liquid_evaluate(struct liquid_run *run, const struct liquid_expr *expr,
                          struct liquid_value *out)
{
    struct liquid_value left;
    struct liquid_value right;
    int status;

    *out = pawl__liquid_nil();
    switch (expr->kind) {
    case LIQUID_EXPR_LITERAL:
        *out = expr->literal;
        return PAWL_OK;
    case LIQUID_EXPR_NAME:
        return evaluate_name(run, expr->text, out);
    case LIQUID_EXPR_RANGE:
        return evaluate_range(run, expr, out);
    case LIQUID_EXPR_BINARY:
        return evaluate_binary(run, expr, out);
    case LIQUID_EXPR_FILTER:
        return evaluate_filter(run, expr, out);
    case LIQUID_EXPR_MEMBER:
    case LIQUID_EXPR_INDEX:
        break;
    }
    status = pawl__liquid_evaluate(run, expr->left, &left);
    if (status == PAWL_OK && expr->kind == LIQUID_EXPR_MEMBER)
        return pawl__liquid_member(run, &left, expr->text, out);
    if (status == PAWL_OK)
        status = pawl__liquid_evaluate(run, expr->right, &right);
    return status == PAWL_OK ? pawl__liquid_index(run, &left, &right, out) : status;
}
