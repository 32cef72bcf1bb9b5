/* SPDX-License-Identifier: Apache-2.0 */
/* sort and sort_natural. Both are stable. */
#include "expressions/liquid/filters.h"

/* What a comparison costs besides the texts. */
#define ENTRY_BYTES 16

struct entry {
    struct liquid_value value;
    struct liquid_value key;
    struct pawl_str text; /* of the key */
};

static int compare_nocase(struct pawl_str a, struct pawl_str b)
{
    size_t left = 0;
    size_t right = 0;

    while (left < a.len && right < b.len) {
        uint32_t c = pawl__liquid_char_upper(pawl__utf8_next(a, &left));
        uint32_t d = pawl__liquid_char_upper(pawl__utf8_next(b, &right));

        if (c != d)
            return c < d ? -1 : 1;
    }
    return (left < a.len) - (right < b.len);
}

/* Nothing first; numbers by value; everything else by its text. */
static int compare(struct liquid_run *run, const struct entry *a, const struct entry *b,
                   bool natural)
{
    if (pawl__liquid_charge(run, ENTRY_BYTES))
        return 0;
    if (pawl__liquid_is_nil(&a->key) || pawl__liquid_is_nil(&b->key))
        return pawl__liquid_is_nil(&b->key) - pawl__liquid_is_nil(&a->key);
    if (a->key.kind == LIQUID_NUMBER && b->key.kind == LIQUID_NUMBER)
        return pawl__liquid_compare_numbers(a->key.u.number, b->key.u.number);
    if (a->key.kind == LIQUID_DATE && b->key.kind == LIQUID_DATE)
        return pawl__datetime_compare(a->key.u.date, b->key.u.date);
    if (pawl__liquid_charge(run, a->text.len < b->text.len ? a->text.len : b->text.len))
        return 0;
    return natural ? compare_nocase(a->text, b->text) : pawl__str_compare(a->text, b->text);
}

/* Merges from[start, middle) and from[middle, end). */
static void merge(struct liquid_run *run, const struct entry *from, struct entry *to, size_t start,
                  size_t middle, size_t end, bool natural)
{
    size_t left = start;
    size_t right = middle;

    for (size_t i = start; i < end; i++) {
        bool take_left = left < middle &&
                         (right >= end || compare(run, &from[left], &from[right], natural) <= 0);

        to[i] = take_left ? from[left++] : from[right++];
    }
}

/* From runs of one up to runs of all; returns where the result is. */
static struct entry *merge_sort(struct liquid_run *run, struct entry *from, struct entry *to,
                                size_t count, bool natural)
{
    for (size_t width = 1; width < count; width *= 2) {
        struct entry *done = to;

        for (size_t start = 0; start < count; start += 2 * width) {
            size_t middle = start + width < count ? start + width : count;
            size_t end = start + 2 * width < count ? start + 2 * width : count;

            merge(run, from, to, start, middle, end, natural);
        }
        to = from;
        from = done;
    }
    return from;
}

static int read_entries(struct liquid_run *run, const struct liquid_value *io,
                        const struct liquid_args *args, struct entry *entries)
{
    struct liquid_value first = pawl__liquid_arg(args, 0);
    uint32_t count = pawl__liquid_count(io);
    struct pawl_str name;
    int status = pawl__liquid_to_text(run, &first, &name);

    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        status = pawl__liquid_item(run, io, i, &entries[i].value);
        entries[i].key = entries[i].value;
        if (status == PAWL_OK && args->count > 0)
            status = pawl__liquid_member(run, &entries[i].value, name, &entries[i].key);
        if (status == PAWL_OK)
            status = pawl__liquid_to_text(run, &entries[i].key, &entries[i].text);
    }
    return status;
}

static int sort(struct liquid_run *run, struct liquid_value *io, const struct liquid_args *args,
                bool natural)
{
    uint32_t count = pawl__liquid_count(io);
    struct liquid_value *items = pawl__liquid_values_new(run, count);
    struct entry *entries;
    int status = pawl__liquid_step(run, count);

    if (status != PAWL_OK)
        return status;
    entries = pawl__arena_alloc_aligned(run->arena, ((size_t)count * 2 + 1) * sizeof *entries, 16);
    if (!items || !entries)
        return pawl__liquid_refused(run);
    status = read_entries(run, io, args, entries);
    if (status != PAWL_OK)
        return status;
    entries = merge_sort(run, entries, entries + count, count, natural);
    status = pawl__liquid_step(run, 0);
    if (status != PAWL_OK)
        return status;
    for (uint32_t i = 0; i < count; i++)
        items[i] = entries[i].value;
    *io = (struct liquid_value){.kind = LIQUID_ARRAY, .u.array = {.items = items, .count = count}};
    return PAWL_OK;
}

static int filter_sort(struct liquid_run *run, struct liquid_value *io,
                       const struct liquid_args *args)
{
    return sort(run, io, args, false);
}

static int filter_sort_natural(struct liquid_run *run, struct liquid_value *io,
                               const struct liquid_args *args)
{
    return sort(run, io, args, true);
}

static const struct liquid_filter filters[] = {
    {"sort", .apply = filter_sort},
    {"sort_natural", .apply = filter_sort_natural},
};

const struct liquid_filters pawl__liquid_sort_filters = {filters, sizeof filters / sizeof *filters};
