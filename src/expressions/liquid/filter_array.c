/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of arrays, and those that look at a value whatever it is. */
#include "expressions/liquid/filters.h"

static struct liquid_value array_of(const struct liquid_value *items, uint32_t count)
{
    return (struct liquid_value){.kind = LIQUID_ARRAY, .u.array = {.items = items, .count = count}};
}

/* The items of any value, in the arena. Counts a step for each. */
static int items_of(struct liquid_run *run, const struct liquid_value *value, uint32_t more,
                    struct liquid_value **items, uint32_t *count)
{
    int status = pawl__liquid_step(run, pawl__liquid_count(value));

    *count = pawl__liquid_count(value);
    if (status != PAWL_OK)
        return status;
    *items = pawl__liquid_values_new(run, (size_t)*count + more);
    if (!*items)
        return pawl__liquid_refused(run);
    for (uint32_t i = 0; i < *count && status == PAWL_OK; i++)
        status = pawl__liquid_item(run, value, i, &(*items)[i]);
    return status;
}

static int filter_join(struct liquid_run *run, struct liquid_value *io,
                       const struct liquid_args *args)
{
    struct liquid_value first = pawl__liquid_arg(args, 0);
    struct liquid_value *items;
    struct pawl_str separator;
    struct pawl_buf buf;
    uint32_t count;
    int status;

    if (!pawl__liquid_is_array(io))
        return PAWL_OK;
    status = pawl__liquid_to_text(run, &first, &separator);
    if (status == PAWL_OK)
        status = items_of(run, io, 0, &items, &count);
    if (status != PAWL_OK)
        return status;
    pawl__liquid_text_begin(run, &buf);
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        struct pawl_str text;

        status = pawl__liquid_to_text(run, &items[i], &text);
        if (status != PAWL_OK)
            break;
        if (i > 0)
            pawl__buf_str(&buf, separator);
        pawl__buf_str(&buf, text);
    }
    if (status == PAWL_OK)
        return pawl__liquid_text_end(run, &buf, io);
    pawl__buf_release(&buf);
    return status;
}

static int member_of(struct liquid_run *run, struct liquid_value *io, const char *name)
{
    struct liquid_value value = *io;

    return pawl__liquid_member(run, &value, pawl__str(name), io);
}

static int filter_first(struct liquid_run *run, struct liquid_value *io,
                        const struct liquid_args *args)
{
    (void)args;
    return member_of(run, io, "first");
}

static int filter_last(struct liquid_run *run, struct liquid_value *io,
                       const struct liquid_args *args)
{
    (void)args;
    return member_of(run, io, "last");
}

static int filter_size(struct liquid_run *run, struct liquid_value *io,
                       const struct liquid_args *args)
{
    (void)args;
    return member_of(run, io, "size");
}

/* What is no array is one more item; also nil. */
static int filter_concat(struct liquid_run *run, struct liquid_value *io,
                         const struct liquid_args *args)
{
    struct liquid_value other = pawl__liquid_arg(args, 0);
    bool is_array = pawl__liquid_is_array(&other);
    struct liquid_value *items;
    uint32_t more = is_array ? pawl__liquid_count(&other) : 1;
    uint32_t count;
    int status;

    if (!pawl__liquid_is_array(io))
        return PAWL_OK;
    status = items_of(run, io, more, &items, &count);
    if (status == PAWL_OK)
        status = pawl__liquid_step(run, more);
    for (uint32_t i = 0; i < more && status == PAWL_OK; i++) {
        if (is_array)
            status = pawl__liquid_item(run, &other, i, &items[count + i]);
        else
            items[count + i] = other;
    }
    if (status == PAWL_OK)
        *io = array_of(items, count + more);
    return status;
}

/* Goes through members as `a.b` says. */
static int path_of(struct liquid_run *run, const struct liquid_value *value, struct pawl_str path,
                   struct liquid_value *out)
{
    int status = pawl__liquid_member(run, value, path, out);
    size_t from = 0;

    if (status != PAWL_OK || !pawl__liquid_is_nil(out) || pawl__str_find(path, '.', 0) == SIZE_MAX)
        return status;
    *out = *value;
    while (from <= path.len && status == PAWL_OK) {
        struct liquid_value above = *out;
        size_t dot = pawl__str_find(path, '.', from);
        size_t end = dot == SIZE_MAX ? path.len : dot;

        status = pawl__liquid_member(run, &above, pawl__str_slice(path, from, end), out);
        from = end + 1;
    }
    return status;
}

static int filter_map(struct liquid_run *run, struct liquid_value *io,
                      const struct liquid_args *args)
{
    struct liquid_value first = pawl__liquid_arg(args, 0);
    struct liquid_value *items;
    struct pawl_str name;
    uint32_t count;
    int status;

    if (!pawl__liquid_is_array(io))
        return PAWL_OK;
    status = pawl__liquid_to_text(run, &first, &name);
    if (status == PAWL_OK)
        status = items_of(run, io, 0, &items, &count);
    if (status != PAWL_OK)
        return status;
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        struct liquid_value item = items[i];

        status = path_of(run, &item, name, &items[i]);
    }
    if (status == PAWL_OK)
        *io = array_of(items, count);
    return status;
}

/* where: 'name', value; without a value what is true there. `reject` is the other way round. */
static int choose(struct liquid_run *run, struct liquid_value *io, const struct liquid_args *args,
                  bool wanted)
{
    struct liquid_value first = pawl__liquid_arg(args, 0);
    struct liquid_value second = pawl__liquid_arg(args, 1);
    struct liquid_value *items;
    struct pawl_str name;
    uint32_t count;
    uint32_t kept = 0;
    int status;

    if (!pawl__liquid_is_array(io))
        return PAWL_OK;
    status = pawl__liquid_to_text(run, &first, &name);
    if (status == PAWL_OK)
        status = items_of(run, io, 0, &items, &count);
    for (uint32_t i = 0; status == PAWL_OK && i < count; i++) {
        struct liquid_value member;
        bool found;

        status = path_of(run, &items[i], name, &member);
        if (status != PAWL_OK)
            return status;
        found = second.kind == LIQUID_NIL ? pawl__liquid_truth(&member)
                                          : pawl__liquid_equal(run, &member, &second);
        if (found == wanted)
            items[kept++] = items[i];
    }
    if (status == PAWL_OK)
        *io = array_of(items, kept);
    return status;
}

static int filter_where(struct liquid_run *run, struct liquid_value *io,
                        const struct liquid_args *args)
{
    return choose(run, io, args, true);
}

static int filter_reject(struct liquid_run *run, struct liquid_value *io,
                         const struct liquid_args *args)
{
    return choose(run, io, args, false);
}

/* Of a text: its characters from the last to the first. */
static int filter_reverse(struct liquid_run *run, struct liquid_value *io,
                          const struct liquid_args *args)
{
    static const struct pawl_str no_name = {"", 0};
    const struct liquid_value nothing = pawl__liquid_string(pawl__str(""));
    struct liquid_args split = {.values = &nothing, .names = &no_name, .count = 1};
    struct liquid_value *items;
    uint32_t count;
    int status = PAWL_OK;

    (void)args;
    if (io->kind == LIQUID_STRING)
        status = pawl__liquid_filter_apply(run, pawl__liquid_filter_find(pawl__str("split")), io,
                                           &split);
    if (status != PAWL_OK || !pawl__liquid_is_array(io))
        return status;
    status = items_of(run, io, 0, &items, &count);
    for (uint32_t i = 0; status == PAWL_OK && i < count / 2; i++) {
        struct liquid_value item = items[i];

        items[i] = items[count - 1 - i];
        items[count - 1 - i] = item;
    }
    if (status == PAWL_OK)
        *io = array_of(items, count);
    return status;
}

static int filter_uniq(struct liquid_run *run, struct liquid_value *io,
                       const struct liquid_args *args)
{
    struct liquid_value *items;
    uint32_t count;
    uint32_t kept = 0;
    int status = items_of(run, io, 0, &items, &count);

    (void)args;
    for (uint32_t i = 0; status == PAWL_OK && i < count; i++) {
        bool known = false;

        for (uint32_t j = 0; j < kept && !known; j++)
            known = items[j].kind == items[i].kind && pawl__liquid_equal(run, &items[j], &items[i]);
        if (!known)
            items[kept++] = items[i];
        status = pawl__liquid_step(run, 1 + kept / 64);
    }
    if (status == PAWL_OK)
        *io = array_of(items, kept);
    return status;
}

static int filter_compact(struct liquid_run *run, struct liquid_value *io,
                          const struct liquid_args *args)
{
    struct liquid_value *items;
    uint32_t count;
    uint32_t kept = 0;
    int status = items_of(run, io, 0, &items, &count);

    (void)args;
    for (uint32_t i = 0; status == PAWL_OK && i < count; i++) {
        if (!pawl__liquid_is_nil(&items[i]))
            items[kept++] = items[i];
    }
    if (status == PAWL_OK)
        *io = array_of(items, kept);
    return status;
}

/* Of the items, or of a member of each. */
static int filter_sum(struct liquid_run *run, struct liquid_value *io,
                      const struct liquid_args *args)
{
    struct liquid_value first = pawl__liquid_arg(args, 0);
    struct pawl_net_decimal sum = {.digits = 0};
    struct liquid_value *items;
    struct pawl_str name;
    uint32_t count;
    int status = pawl__liquid_to_text(run, &first, &name);

    if (status == PAWL_OK)
        status = items_of(run, io, 0, &items, &count);
    for (uint32_t i = 0; status == PAWL_OK && i < count; i++) {
        struct liquid_value item = items[i];
        struct pawl_net_decimal number;

        if (args->count > 0)
            status = path_of(run, &items[i], name, &item);
        if (status == PAWL_OK)
            status = pawl__liquid_to_number(run, &item, &number);
        if (status == PAWL_OK && !pawl__liquid_add(sum, number, &sum))
            status = pawl__liquid_raise(run, "OverflowException",
                                        "Value was either too large or too small for a Decimal.");
    }
    if (status == PAWL_OK)
        *io = pawl__liquid_decimal(sum);
    return status;
}

/* ---- any value --------------------------------------------------------------------------- */

/* For nothing, false and what `empty` is equal to; `allow_false: true` lets false stand. */
static int filter_default(struct liquid_run *run, struct liquid_value *io,
                          const struct liquid_args *args)
{
    const struct liquid_value empty = {.kind = LIQUID_EMPTY};
    struct liquid_value allow = pawl__liquid_arg_named(args, "allow_false");
    bool is_false = io->kind == LIQUID_BOOL && !io->u.boolean;

    if (pawl__liquid_is_nil(io) ||
        (is_false && !(allow.kind != LIQUID_NIL && pawl__liquid_truth(&allow))) ||
        (!is_false && io->kind != LIQUID_BOOL && pawl__liquid_equal(run, &empty, io)))
        *io = pawl__liquid_arg(args, 0);
    return PAWL_OK;
}

static int filter_json(struct liquid_run *run, struct liquid_value *io,
                       const struct liquid_args *args)
{
    struct liquid_value indented = pawl__liquid_arg(args, 0);
    struct pawl_buf buf;
    int status;

    pawl__liquid_text_begin(run, &buf);
    status = pawl__liquid_write_json(run, io, pawl__liquid_truth(&indented) ? 2 : 0, &buf);
    if (status == PAWL_OK)
        return pawl__liquid_text_end(run, &buf, io);
    pawl__buf_release(&buf);
    return status;
}

static int filter_keys(struct liquid_run *run, struct liquid_value *io,
                       const struct liquid_args *args)
{
    struct liquid_value *items;
    uint32_t count;

    (void)args;
    if (io->kind != LIQUID_JSON_OBJECT)
        return pawl__liquid_raise(run, "ArgumentOutOfRangeException",
                                  "The filter 'keys' only works on objects.");
    count = pawl__liquid_count(io);
    items = pawl__liquid_values_new(run, count);
    if (!items)
        return pawl__liquid_refused(run);
    for (uint32_t i = 0; i < count; i++)
        items[i] = pawl__liquid_string(pawl__json_member(io->u.json.json, i)->key);
    *io = array_of(items, count);
    return PAWL_OK;
}

static int filter_raw(struct liquid_run *run, struct liquid_value *io,
                      const struct liquid_args *args)
{
    struct pawl_str text;
    int status = pawl__liquid_to_text(run, io, &text);

    (void)args;
    if (status == PAWL_OK)
        *io = pawl__liquid_string(text);
    return status;
}

static const struct liquid_filter filters[] = {
    {"compact", .apply = filter_compact}, {"concat", .apply = filter_concat},
    {"default", .apply = filter_default}, {"first", .apply = filter_first},
    {"join", .apply = filter_join},       {"json", .apply = filter_json},
    {"keys", .apply = filter_keys},       {"last", .apply = filter_last},
    {"map", .apply = filter_map},         {"raw", .apply = filter_raw},
    {"reject", .apply = filter_reject},   {"reverse", .apply = filter_reverse},
    {"size", .apply = filter_size},       {"sum", .apply = filter_sum},
    {"uniq", .apply = filter_uniq},       {"where", .apply = filter_where},
};

const struct liquid_filters pawl__liquid_array_filters = {filters,
                                                          sizeof filters / sizeof *filters};
