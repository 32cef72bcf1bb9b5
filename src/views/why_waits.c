/* SPDX-License-Identifier: Apache-2.0 */
/* What an instance waits for, and the command that would wake it; see why.h. */
#include "base/stimuli.h"
#include "views/why_private.h"
#include "views/words.h"

/* ---- commands ------------------------------------------------------------------------------- */

/* The word is quoted; `after` NULL: there was no memory for it. */
static void put_command(const struct why_view *view, struct pawl_json *one, const char *before,
                        struct pawl_str word, const char *after)
{
    struct pawl_arena *arena = view->b->arena;
    const char *quoted = pawl__words_quote(arena, word);

    if (view->why->row.retry_us == PAWL_TIME_NEVER)
        return; /* it is set aside: nothing that is sent wakes it */
    why_put(view, one, "command",
            quoted && after
                ? pawl__arena_printf(arena, "%s %s%s%s", before, quoted, after, view->suffix)
                : NULL);
}

/* Resumes it by hand: for what nothing else in Pawl wakes. */
static void put_resume(const struct why_view *view, const struct pawl_why_wait *wait,
                       struct pawl_json *one)
{
    struct pawl_arena *arena = view->b->arena;
    const char *bookmark = pawl__words_quote(arena, wait->row->id);

    put_command(view, one, "pawl resume", view->why->row.id,
                bookmark ? pawl__arena_printf(arena, " --bookmark %s", bookmark) : NULL);
}

/* ---- kinds ---------------------------------------------------------------------------------- */

static void put_event(const struct why_view *view, const struct pawl_why_wait *wait,
                      struct pawl_json *one)
{
    struct pawl_arena *arena = view->b->arena;
    const char *id = pawl__words_quote(arena, view->why->row.id);

    pawl__view_text(view->b, one, PAWL_STIMULUS_EVENT_NAME, wait->name);
    why_put(view, one, "text",
            pawl__arena_printf(arena, "the event '%.*s'", PAWL_STR_ARG(wait->name)));
    put_command(view, one, "pawl send", wait->name,
                id ? pawl__arena_printf(arena, " --instance %s", id) : NULL);
}

static void put_timer(const struct why_view *view, const struct pawl_why_wait *wait,
                      struct pawl_json *one)
{
    struct pawl_arena *arena = view->b->arena;
    char time_text[PAWL_WORDS_SIZE], span_text[PAWL_WORDS_SIZE];
    const char *time = pawl__words_time(wait->due_us, time_text);
    const char *span = pawl__words_span(wait->due_us - view->why->now_us, span_text);
    const char *text;

    if (wait->due_us > view->why->now_us)
        text = pawl__arena_printf(arena, "a time, %s UTC, in %s", time, span);
    else if (wait->has_timer)
        text = pawl__arena_printf(arena,
                                  "a time, %s UTC, which passed %s ago: the next node that checks "
                                  "('pawl worker') continues it",
                                  time, span);
    else
        text = pawl__arena_printf(arena,
                                  "a time, %s UTC, which passed %s ago, and its timer is gone: "
                                  "it failed too often, see 'pawl deadletters'",
                                  time, span);
    pawl__view_time(view->b, one, "dueAt", wait->due_us);
    why_put(view, one, "text", text);
    put_resume(view, wait, one);
}

static void put_task(const struct why_view *view, const struct pawl_why_wait *wait,
                     struct pawl_json *one)
{
    pawl__view_text(view->b, one, PAWL_STIMULUS_TASK_ID, wait->id);
    pawl__view_text(view->b, one, PAWL_STIMULUS_TASK_NAME, wait->name);
    why_put(view, one, "text",
            pawl__arena_printf(view->b->arena, "the task '%.*s' to be done and reported",
                               PAWL_STR_ARG(wait->name)));
    put_command(view, one, "pawl tasks complete", wait->id, " --result VALUE");
}

static void put_children(const struct why_view *view, const struct pawl_why_wait *wait,
                         struct pawl_json *one)
{
    struct pawl_json children = pawl__json_array();

    for (size_t i = 0; i < wait->child_count; i++) {
        struct pawl_json child = pawl__json_object();

        pawl__view_text(view->b, &child, "instanceId", wait->children[i]->id);
        pawl__view_text(view->b, &child, "definitionId", wait->children[i]->definition_id);
        pawl__view_text(view->b, &child, "subStatus", wait->children[i]->sub_status);
        pawl__build_append(view->b, &children, child);
    }
    pawl__build(view->b, one, "children", children);
}

static void put_family(const struct why_view *view, const struct pawl_why_wait *wait,
                       struct pawl_json *one)
{
    const struct pawl_instance_row *first = wait->child_count > 0 ? wait->children[0] : NULL;
    struct pawl_arena *arena = view->b->arena;
    const char *text;

    put_children(view, wait, one);
    if (wait->what == PAWL_WHY_FOR_CHILDREN)
        text = pawl__arena_printf(arena, "the end of its children, %ju of which are running",
                                  (uintmax_t)wait->child_total);
    else if (first)
        text = pawl__arena_printf(arena, "the end of its child %.*s (%.*s), which is %.*s",
                                  PAWL_STR_ARG(wait->id), PAWL_STR_ARG(first->definition_id),
                                  PAWL_STR_ARG(first->sub_status));
    else
        text = pawl__arena_printf(arena, "the end of its child %.*s, which does not exist (yet)",
                                  PAWL_STR_ARG(wait->id));
    why_put(view, one, "text", text);
    if (first)
        put_command(view, one, "pawl why", first->id, "");
    else
        put_resume(view, wait, one);
}

static void put_other(const struct why_view *view, const struct pawl_why_wait *wait,
                      struct pawl_json *one)
{
    struct pawl_arena *arena = view->b->arena;
    struct pawl_str path = wait->id;
    const char *text;

    if (wait->what == PAWL_WHY_FOR_REQUEST)
        text = pawl__arena_printf(
            arena, "a request %.*s %s%.*s to the server", PAWL_STR_ARG(wait->name),
            path.len > 0 && path.ptr[0] == '/' ? "" : "/", PAWL_STR_ARG(path));
    else
        text = pawl__arena_printf(arena, "the bookmark of %.*s, resumed by its id or its stimulus",
                                  PAWL_STR_ARG(wait->row->name));
    why_put(view, one, "text", text);
    put_resume(view, wait, one);
}

struct pawl_json pawl__view_why_waits(const struct why_view *view)
{
    static const struct {
        const char *name;
        void (*put)(const struct why_view *view, const struct pawl_why_wait *wait,
                    struct pawl_json *one);
    } kinds[] = {
        [PAWL_WHY_FOR_TIMER] = {"timer", put_timer},
        [PAWL_WHY_FOR_EVENT] = {"event", put_event},
        [PAWL_WHY_FOR_TASK] = {"task", put_task},
        [PAWL_WHY_FOR_CHILD] = {"child", put_family},
        [PAWL_WHY_FOR_CHILDREN] = {"children", put_family},
        [PAWL_WHY_FOR_REQUEST] = {"request", put_other},
        [PAWL_WHY_FOR_BOOKMARK] = {"bookmark", put_other},
    };
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < view->why->wait_count && view->b->status == PAWL_OK; i++) {
        const struct pawl_why_wait *wait = &view->why->waits[i];
        struct pawl_json one = pawl__json_object();

        kinds[wait->what].put(view, wait, &one);
        pawl__build_name(view->b, &one, "for", kinds[wait->what].name);
        pawl__view_time(view->b, &one, "since", wait->row->created_us);
        pawl__view_text(view->b, &one, "activityId", wait->row->activity_id);
        pawl__view_text(view->b, &one, "activityType", wait->row->name);
        pawl__view_text(view->b, &one, "bookmarkId", wait->row->id);
        pawl__build_append(view->b, &out, one);
    }
    return out;
}
