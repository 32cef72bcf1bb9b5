/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ParallelForEach: the body once for each item, all side by side.
 *
 * Stored state has two lists of tags, of the bodies scheduled and of those completed, each an
 * island: JSON as text in JSON. Rewriting that text for every body that completes would cost the
 * square of their number, so within a burst it grows in place (struct tags, from context->scratch):
 * only the property points to it, and what is copied from there is copied as a whole.
 */
#include "activities/children.h"
#include "activities/descriptor.h"
#include "activities/looping.h"
#include "base/assert.h"

#define SCHEDULED "ScheduledTagsProperty"
#define COMPLETED "CompletedTagsProperty"

static const struct pawl_type json_array = {.kind = PAWL_TYPE_JSON_ARRAY, .alias = "JsonArray"};

/* A JSON array of texts as indented text, and how many there are. */
struct tags {
    char *text;
    size_t len;
    size_t cap;
    uint32_t count;
};

struct progress {
    uint32_t scheduled;
    struct tags completed;
};

static const struct pawl_input_descriptor inputs[] = {
    {
        .name = "Items",
        .type = &pawl__type_object,
        .description = "What to go through.",
        .ui_hint = "singleline",
    },
};

static const struct pawl_port_descriptor ports[] = {
    {.name = "Body"},
};

/* ---- tags -------------------------------------------------------------------------------- */

static int reserve(struct pawl_arena *arena, struct tags *tags, size_t extra)
{
    size_t cap = tags->cap ? tags->cap : 128;
    char *text;

    if (tags->text && tags->cap - tags->len > extra)
        return PAWL_OK;
    while (cap - tags->len <= extra)
        cap *= 2;
    text = pawl__arena_alloc_aligned(arena, cap, 1);
    if (!text)
        return pawl__refused(arena);
    if (tags->text)
        memcpy(text, tags->text, tags->len);
    tags->text = text;
    tags->cap = cap;
    return PAWL_OK;
}

static void put(struct tags *tags, const char *text, size_t len)
{
    PAWL_ASSERT(tags->text);
    memcpy(tags->text + tags->len, text, len);
    tags->len += len;
    tags->text[tags->len] = '\0';
}

static int begin_tags(struct pawl_arena *arena, struct tags *tags)
{
    int status = reserve(arena, tags, 2);

    if (status == PAWL_OK)
        put(tags, "[]", 2);
    return status;
}

/* Writes over the closing bracket: "[\n  \"a\"\n]" becomes "[\n  \"a\",\n  \"b\"\n]". */
static int add_tag(struct pawl_arena *arena, struct tags *tags, struct pawl_str tag)
{
    int status = reserve(arena, tags, tag.len + 10);

    if (status != PAWL_OK)
        return status;
    tags->len -= tags->count > 0 ? 2 : 1;
    put(tags, tags->count > 0 ? ",\n  \"" : "\n  \"", tags->count > 0 ? 5 : 4);
    put(tags, tag.ptr, tag.len);
    put(tags, "\"\n]", 3);
    tags->count++;
    return PAWL_OK;
}

static int show_tags(struct pawl_context *context, const char *key, const struct tags *tags)
{
    struct pawl_arena *arena = pawl__context_arena(context);
    struct pawl_json island = pawl__json_object();
    struct pawl_json text = pawl__json_string(pawl__str_make(tags->text, tags->len));
    int status = pawl__json_set_text(arena, &island, "_island", text);

    if (status == PAWL_OK)
        status = pawl__json_set_text(arena, &island, "_type",
                                     pawl__json_string(pawl__str(json_array.alias)));
    if (status == PAWL_OK)
        status = pawl__property_set(context, key, island);
    return status;
}

/* The tags of a property that came with the stored state. */
static int read_tags(struct pawl_context *context, const char *key, struct tags *tags)
{
    struct pawl_arena *arena = pawl__context_arena(context);
    const struct pawl_json *stored = pawl__property(context, key);
    struct pawl_value value = pawl__value_null();
    int status = begin_tags(arena, tags);

    if (status == PAWL_OK && stored)
        status = pawl__stored_value(arena, stored, &value);
    for (uint32_t i = 0; i < pawl__json_len(&value.json) && status == PAWL_OK; i++)
        status = add_tag(arena, tags, pawl__json_str(pawl__json_at(&value.json, i)));
    return status;
}

static int progress_of(struct pawl_context *context, struct progress **out)
{
    struct pawl_arena *arena = pawl__context_arena(context);
    struct progress *progress = context->scratch;
    struct tags scheduled = {0};
    int status = PAWL_OK;

    if (!progress) {
        progress = pawl__arena_alloc_zeroed(arena, sizeof *progress);
        if (!progress)
            return pawl__refused(arena);
        status = read_tags(context, SCHEDULED, &scheduled);
        progress->scheduled = scheduled.count;
        if (status == PAWL_OK)
            status = read_tags(context, COMPLETED, &progress->completed);
        if (status == PAWL_OK)
            context->scratch = progress;
    }
    *out = progress;
    return status;
}

/* ---- running ----------------------------------------------------------------------------- */

static int schedule_item(struct pawl_context *context, const struct pawl_node *body, uint32_t index,
                         struct pawl_value item, struct tags *scheduled)
{
    struct pawl_str tag = pawl__new_guid(context);
    struct pawl_schedule_variable variables[] = {
        {.name = "CurrentValue", .value = item},
        {.name = "CurrentIndex", .value = pawl__value_int(index)},
    };
    struct pawl_schedule schedule = {.node = body,
                                     .callback = "OnChildCompleted",
                                     .tag = pawl__value_string(tag),
                                     .variables = variables,
                                     .variable_count = PAWL_COUNT(variables)};
    int status;

    if (tag.len == 0)
        return pawl__refused(pawl__context_arena(context));
    status = pawl__schedule(context, &schedule);
    if (status == PAWL_OK)
        status = add_tag(pawl__context_arena(context), scheduled, tag);
    return status;
}

/* Anything that is no collection has no items. Elsa also runs nothing for collections of
 * numbers and other plain values. */
static int execute(struct pawl_context *context)
{
    const struct pawl_node *body = pawl__port_child(context->node, "Body");
    struct pawl_value items = pawl__input(context, "Items");
    uint32_t count =
        pawl__json_is(&items.json, PAWL_JSON_ARRAY) && body ? pawl__json_len(&items.json) : 0;
    struct tags scheduled = {0};
    struct tags completed = {0};
    int status = begin_tags(pawl__context_arena(context), &scheduled);

    context->scratch = NULL; /* of an earlier execution, when a fault is tried again */
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++)
        status = schedule_item(context, body, i, pawl__element(items, i), &scheduled);
    if (status == PAWL_OK)
        status = show_tags(context, SCHEDULED, &scheduled);
    if (status == PAWL_OK)
        status = begin_tags(pawl__context_arena(context), &completed);
    if (status == PAWL_OK)
        status = show_tags(context, COMPLETED, &completed);
    if (status == PAWL_OK && count == 0)
        status = pawl__complete(context, NULL);
    return status;
}

static int child_completed(struct pawl_context *context, const struct pawl_completion *completion)
{
    struct progress *progress;
    int status = progress_of(context, &progress);

    if (status != PAWL_OK)
        return status;
    status = add_tag(pawl__context_arena(context), &progress->completed,
                     pawl__json_str(&completion->tag.json));
    if (status == PAWL_OK)
        status = show_tags(context, COMPLETED, &progress->completed);
    if (status == PAWL_OK && progress->completed.count >= progress->scheduled)
        status = pawl__complete(context, NULL);
    return status;
}

static const struct pawl_completion_callback completions[] = {
    {"OnChildCompleted", child_completed},
    {NULL, NULL},
};

const struct pawl_activity pawl__activity_parallel_for_each = {
    .type = "Elsa.ParallelForEach",
    .version = 1,
    .category = "Looping",
    .display_name = "Parallel for Each",
    .description = "Runs its body for all items of a collection side by side.",
    PAWL_INPUTS(inputs),
    PAWL_PORTS(ports),
    .execute = execute,
    .completions = completions,
};
