/* SPDX-License-Identifier: Apache-2.0 */
/* Bookmarks: what an instance waits for, and what happens when one is resumed. */
#include "engine/run/instance.h"

#include "base/assert.h"
#include "base/hash/stimulus.h"

static int hash_bookmark(struct pawl_burst *burst, struct pawl_bookmark *bookmark)
{
    char hash[PAWL_SHA256_TEXT_SIZE];
    int status =
        pawl__stimulus_hash(&burst->alloc, bookmark->name, &bookmark->payload, pawl__str(""), hash);

    if (status != PAWL_OK)
        return status;
    bookmark->hash = pawl__arena_str(&burst->arena, pawl__str(hash));
    return bookmark->hash.ptr ? PAWL_OK : pawl__arena_status(&burst->arena);
}

/* Counts per node and per context make it unnecessary to search the bookmarks most of the time. */
static void count(struct pawl_burst *burst, const struct pawl_bookmark *bookmark, bool more)
{
    uint32_t by = more ? 1u : UINT32_MAX;

    if (bookmark->node)
        burst->bookmarked[bookmark->node->index] += by;
    if (bookmark->context)
        bookmark->context->bookmarked += by;
}

int pawl__bookmark_add(struct pawl_burst *burst, const struct pawl_bookmark *bookmark)
{
    int status = VECTOR_GROW(burst, &burst->bookmarks);

    if (status != PAWL_OK)
        return status;
    if (!burst->bookmarked)
        burst->bookmarked = pawl__arena_alloc_zeroed(&burst->arena, burst->graph->node_count *
                                                                        sizeof *burst->bookmarked);
    if (!burst->bookmarked)
        return pawl__arena_status(&burst->arena);
    burst->bookmarks.items[burst->bookmarks.count++] = *bookmark;
    count(burst, bookmark, true);
    return PAWL_OK;
}

void pawl__bookmarks_clear(struct pawl_burst *burst)
{
    for (uint32_t i = 0; i < burst->bookmarks.count; i++)
        count(burst, &burst->bookmarks.items[i], false);
    burst->bookmarks.count = 0;
}

int pawl__bookmark_create(struct pawl_context *context, const struct pawl_bookmark_args *args,
                          struct pawl_bookmark **out)
{
    struct pawl_burst *burst = context->burst;
    struct pawl_bookmark bookmark = {
        .id = pawl__new_id(context),
        .name = pawl__str(args->name ? args->name : context->node->activity->type),
        .payload = args->payload,
        .activity_id = context->node->id,
        .activity_node_id = context->node->node_id,
        .activity_instance_id = context->id,
        .created_at = burst->now,
        .auto_burn = !args->keep,
        .auto_complete = !args->no_auto_complete,
        .callback = pawl__str(args->callback),
        .metadata = args->metadata,
        .node = context->node,
        .context = context,
    };
    int status = bookmark.id.len > 0 ? PAWL_OK : pawl__arena_status(&burst->arena);

    if (status == PAWL_OK)
        status = hash_bookmark(burst, &bookmark);
    if (status == PAWL_ELIMIT)
        return pawl__raise(context, "ArgumentException",
                           "What an activity waits for has more than a megabyte of text.");
    if (status == PAWL_OK)
        status = pawl__bookmark_add(burst, &bookmark);
    if (status != PAWL_OK)
        return status;
    context->made_bookmark = true;
    pawl__context_touch(context);
    if (out)
        *out = &burst->bookmarks.items[burst->bookmarks.count - 1];
    return PAWL_OK;
}

static void remove_bookmark(struct pawl_burst *burst, uint32_t at)
{
    count(burst, &burst->bookmarks.items[at], false);
    memmove(burst->bookmarks.items + at, burst->bookmarks.items + at + 1,
            (burst->bookmarks.count - at - 1) * sizeof *burst->bookmarks.items);
    burst->bookmarks.count--;
}

void pawl__bookmarks_remove_context(struct pawl_context *context, bool also_same_node)
{
    struct pawl_burst *burst = context->burst;

    if (context->bookmarked == 0 &&
        !(also_same_node && pawl__node_has_bookmark(burst, context->node)))
        return;
    for (uint32_t i = burst->bookmarks.count; i-- > 0;) {
        const struct pawl_bookmark *bookmark = &burst->bookmarks.items[i];

        if (bookmark->context == context || (also_same_node && bookmark->node == context->node))
            remove_bookmark(burst, i);
    }
}

void pawl__bookmark_burn(struct pawl_burst *burst, struct pawl_str id)
{
    for (uint32_t i = burst->bookmarks.count; i-- > 0;) {
        if (pawl__str_equal(burst->bookmarks.items[i].id, id))
            remove_bookmark(burst, i);
    }
}

bool pawl__node_has_bookmark(const struct pawl_burst *burst, const struct pawl_node *node)
{
    return burst->bookmarked && burst->bookmarked[node->index] > 0;
}

bool pawl__context_has_bookmark(const struct pawl_context *context)
{
    return context->bookmarked > 0;
}

/* Runs what the resumed bookmark asks for, in the context that is being invoked. */
int pawl__resume_run(struct pawl_context *context)
{
    const struct pawl_bookmark *bookmark = context->burst->resumed;
    const struct pawl_resume_callback *callback = context->node->activity->resumes;

    PAWL_ASSERT(bookmark);
    if (bookmark->callback.len == 0)
        return bookmark->auto_complete ? pawl__complete(context, NULL) : PAWL_OK;
    for (; callback && callback->method; callback++) {
        if (pawl__str_is(bookmark->callback, callback->method))
            return callback->run(context, bookmark);
    }
    return pawl__raise(context, "InvalidOperationException",
                       "Bookmark callback '%.*s' is not known to activity type '%s'.",
                       PAWL_STR_ARG(bookmark->callback), context->node->activity->type);
}
