/* SPDX-License-Identifier: Apache-2.0 */
/* Bookmarks: what an instance waits for, and what happens when one is resumed. */
#include "engine/instance.h"

#include "base/assert.h"
#include "base/stimulus.h"

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
    };
    int status = VECTOR_GROW(burst, &burst->bookmarks);

    if (status == PAWL_OK && bookmark.id.len == 0)
        status = pawl__arena_status(&burst->arena);
    if (status == PAWL_OK)
        status = hash_bookmark(burst, &bookmark);
    if (status != PAWL_OK)
        return status;
    burst->bookmarks.items[burst->bookmarks.count++] = bookmark;
    context->made_bookmark = true;
    pawl__context_touch(context);
    if (out)
        *out = &burst->bookmarks.items[burst->bookmarks.count - 1];
    return PAWL_OK;
}

static void remove_bookmark(struct pawl_burst *burst, uint32_t at)
{
    memmove(burst->bookmarks.items + at, burst->bookmarks.items + at + 1,
            (burst->bookmarks.count - at - 1) * sizeof *burst->bookmarks.items);
    burst->bookmarks.count--;
}

void pawl__bookmarks_remove_context(struct pawl_context *context, bool also_same_node)
{
    struct pawl_burst *burst = context->burst;

    for (uint32_t i = burst->bookmarks.count; i-- > 0;) {
        const struct pawl_bookmark *bookmark = &burst->bookmarks.items[i];

        if (pawl__str_equal(bookmark->activity_instance_id, context->id) ||
            (also_same_node && pawl__str_equal(bookmark->activity_node_id, context->node->node_id)))
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
    for (uint32_t i = 0; i < burst->bookmarks.count; i++) {
        if (pawl__str_equal(burst->bookmarks.items[i].activity_node_id, node->node_id))
            return true;
    }
    return false;
}

bool pawl__context_has_bookmark(const struct pawl_context *context)
{
    const struct pawl_burst *burst = context->burst;

    for (uint32_t i = 0; i < burst->bookmarks.count; i++) {
        if (pawl__str_equal(burst->bookmarks.items[i].activity_instance_id, context->id))
            return true;
    }
    return false;
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
