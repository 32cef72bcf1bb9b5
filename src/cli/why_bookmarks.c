/* SPDX-License-Identifier: Apache-2.0 */
/* What an instance waits for, one bookmark at a time, and what would wake it; see why.h. */
#include "base/error.h"
#include "cli/why_private.h"

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

/* A bookmark with its payload, and what is said of it. */
struct wait {
    struct why *why;
    const struct pawl_bookmark_row *row;
    struct pawl_json payload;
    struct pawl_json one;
};

/* ---- commands ------------------------------------------------------------------------------ */

void pawl__cli_why_command(struct why *why, struct pawl_json *commands, const char *to,
                           const char *command)
{
    struct pawl_arena *arena = why->b.arena;
    const char *id = pawl__cli_quote(arena, why->row.id);
    struct pawl_json one = pawl__json_object();

    why_put(why, &one, "to", to);
    why_put(why, &one, "command",
            id ? pawl__arena_printf(arena, "%s %s%s", command, id,
                                    pawl__cli_store_words(why->session->cli, arena))
               : NULL);
    pawl__build_append(&why->b, commands, one);
}

/* The word is quoted; `after` NULL: there was no memory for it. */
static void put_command(struct wait *wait, const char *before, struct pawl_str word,
                        const char *after)
{
    struct pawl_arena *arena = wait->why->b.arena;
    const char *quoted = pawl__cli_quote(arena, word);

    why_put(wait->why, &wait->one, "command",
            quoted && after
                ? pawl__arena_printf(arena, "%s %s%s%s", before, quoted, after,
                                     pawl__cli_store_words(wait->why->session->cli, arena))
                : NULL);
}

/* Resumes it by hand: for what nothing else in Pawl wakes. */
static void put_resume(struct wait *wait)
{
    struct pawl_arena *arena = wait->why->b.arena;
    const char *bookmark = pawl__cli_quote(arena, wait->row->id);

    put_command(wait, "pawl resume", wait->why->row.id,
                bookmark ? pawl__arena_printf(arena, " --bookmark %s", bookmark) : NULL);
}

/* ---- kinds --------------------------------------------------------------------------------- */

static void wait_event(struct wait *wait)
{
    struct pawl_arena *arena = wait->why->b.arena;
    struct pawl_str name = text_of(&wait->payload, "eventName");
    const char *id = pawl__cli_quote(arena, wait->why->row.id);

    pawl__cli_put(&wait->why->b, &wait->one, "eventName", name);
    why_put(wait->why, &wait->one, "text",
            pawl__arena_printf(arena, "the event '%.*s'", PAWL_STR_ARG(name)));
    put_command(wait, "pawl send", name,
                id ? pawl__arena_printf(arena, " --instance %s", id) : NULL);
}

static const struct pawl_work_row *timer_of(const struct wait *wait)
{
    const struct pawl_work_row *work = wait->why->work.rows;

    for (size_t i = 0; i < wait->why->work.count; i++) {
        if (pawl__str_is(work[i].kind, PAWL_WORK_TIMER) &&
            pawl__str_equal(work[i].bookmark_id, wait->row->id))
            return &work[i];
    }
    return NULL;
}

static void wait_timer(struct wait *wait, int64_t due_us)
{
    struct why *why = wait->why;
    const struct pawl_work_row *timer = timer_of(wait);
    char time[PAWL_CLI_TIME_TEXT], span[PAWL_CLI_SPAN_TEXT];
    const char *text;

    (void)pawl__cli_span_text(due_us - why->now_us, span);
    if (due_us > why->now_us)
        text = pawl__arena_printf(why->b.arena, "a time, %s UTC, in %s",
                                  pawl__cli_time_text(due_us, time), span);
    else if (timer)
        text = pawl__arena_printf(why->b.arena,
                                  "a time, %s UTC, which has come %s ago: the next node that looks "
                                  "('pawl worker') goes on with it",
                                  pawl__cli_time_text(due_us, time), span);
    else
        text = pawl__arena_printf(why->b.arena,
                                  "a time, %s UTC, which has come %s ago, and its timer is gone: "
                                  "it failed too often, see 'pawl deadletters'",
                                  pawl__cli_time_text(due_us, time), span);
    pawl__cli_put_time(&why->b, &wait->one, "dueAt", due_us);
    why_put(why, &wait->one, "text", text);
    put_resume(wait);
}

static void wait_task(struct wait *wait)
{
    struct pawl_str id = text_of(&wait->payload, "taskId");
    struct pawl_str name = text_of(&wait->payload, "taskName");

    pawl__cli_put(&wait->why->b, &wait->one, "taskId", id);
    pawl__cli_put(&wait->why->b, &wait->one, "taskName", name);
    why_put(wait->why, &wait->one, "text",
            pawl__arena_printf(wait->why->b.arena, "the task '%.*s' to be done and reported",
                               PAWL_STR_ARG(name)));
    put_command(wait, "pawl tasks complete", id, " --result VALUE");
}

static void put_child(struct wait *wait, struct pawl_json *children,
                      const struct pawl_instance_row *child)
{
    struct pawl_json one = pawl__json_object();

    pawl__cli_put(&wait->why->b, &one, "instanceId", child->id);
    pawl__cli_put(&wait->why->b, &one, "definitionId", child->definition_id);
    pawl__cli_put(&wait->why->b, &one, "subStatus", child->sub_status);
    pawl__build_append(&wait->why->b, children, one);
}

static void wait_child(struct wait *wait, struct pawl_str id)
{
    const struct pawl_instance_row *rows = wait->why->named.rows, *child = NULL;
    struct pawl_json children = pawl__json_array();
    const char *text;

    for (size_t i = 0; i < wait->why->named.count; i++) {
        if (pawl__str_equal(rows[i].id, id))
            child = &rows[i];
    }
    if (child)
        put_child(wait, &children, child);
    if (!child)
        text = pawl__arena_printf(wait->why->b.arena,
                                  "the end of its child %.*s, which is not there (yet)",
                                  PAWL_STR_ARG(id));
    else
        text = pawl__arena_printf(
            wait->why->b.arena, "the end of its child %.*s (%.*s), which is %.*s", PAWL_STR_ARG(id),
            PAWL_STR_ARG(child->definition_id), PAWL_STR_ARG(child->sub_status));
    pawl__build(&wait->why->b, &wait->one, "children", children);
    why_put(wait->why, &wait->one, "text", text);
    if (child)
        put_command(wait, "pawl why", id, "");
    else
        put_resume(wait);
}

static void wait_children(struct wait *wait)
{
    const struct pawl_instance_row *rows = wait->why->children.rows;
    struct pawl_json children = pawl__json_array();

    for (size_t i = 0; i < wait->why->children.count; i++)
        put_child(wait, &children, &rows[i]);
    pawl__build(&wait->why->b, &wait->one, "children", children);
    why_put(wait->why, &wait->one, "text",
            pawl__arena_printf(wait->why->b.arena, "the end of its children, %ju of which run",
                               (uintmax_t)wait->why->children.total));
    if (wait->why->children.count > 0)
        put_command(wait, "pawl why", rows[0].id, "");
    else
        put_resume(wait);
}

static void wait_request(struct wait *wait)
{
    struct pawl_str path = text_of(&wait->payload, "path");

    why_put(wait->why, &wait->one, "text",
            pawl__arena_printf(wait->why->b.arena, "a request %.*s %s%.*s to the server",
                               PAWL_STR_ARG(text_of(&wait->payload, "method")),
                               path.len > 0 && path.ptr[0] == '/' ? "" : "/", PAWL_STR_ARG(path)));
    put_resume(wait);
}

static void wait_other(struct wait *wait)
{
    why_put(wait->why, &wait->one, "text",
            pawl__arena_printf(wait->why->b.arena,
                               "whoever resumes the bookmark of %.*s, by its id or its stimulus",
                               PAWL_STR_ARG(wait->row->name)));
    put_resume(wait);
}

/* ---- which of them ------------------------------------------------------------------------- */

static const char *describe(struct wait *wait)
{
    struct pawl_str name = wait->row->name;
    struct pawl_str child = text_of(&wait->payload, "childInstanceId");
    int64_t due = pawl__bookmark_due(name, &wait->payload);

    if (due != INT64_MAX) {
        wait_timer(wait, pawl__ticks_to_us(due));
        return "timer";
    }
    if (pawl__str_is(name, "Elsa.Event")) {
        wait_event(wait);
        return "event";
    }
    if (pawl__str_is(name, "Elsa.RunTask")) {
        wait_task(wait);
        return "task";
    }
    if (child.len > 0) {
        wait_child(wait, child);
        return "child";
    }
    if (pawl__str_is(name, "Elsa.BulkDispatchWorkflows")) {
        wait_children(wait);
        return "children";
    }
    if (pawl__str_is(name, "Elsa.HttpEndpoint")) {
        wait_request(wait);
        return "request";
    }
    wait_other(wait);
    return "bookmark";
}

struct pawl_json pawl__cli_why_waits(struct why *why)
{
    const struct pawl_bookmark_row *rows = why->bookmarks.rows;
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < why->bookmarks.count && why->b.status == PAWL_OK; i++) {
        struct wait wait = {
            .why = why, .row = &rows[i], .payload = pawl__json_null(), .one = pawl__json_object()};

        if (rows[i].payload.len > 0 && pawl__json_parse(why->b.arena, rows[i].payload, NULL,
                                                        &wait.payload, NULL, NULL) != PAWL_OK)
            wait.payload = pawl__json_null(); /* then it is told by its name */
        why_put(why, &wait.one, "for", describe(&wait));
        pawl__cli_put_time(&why->b, &wait.one, "since", rows[i].created_us);
        pawl__cli_put(&why->b, &wait.one, "activityId", rows[i].activity_id);
        pawl__cli_put(&why->b, &wait.one, "activityType", rows[i].name);
        pawl__cli_put(&why->b, &wait.one, "bookmarkId", rows[i].id);
        pawl__build_append(&why->b, &out, wait.one);
    }
    return out;
}

/* ---- children ------------------------------------------------------------------------------ */

int pawl__cli_why_children(struct why *why, struct pawl_error *err)
{
    const struct pawl_bookmark_row *rows = why->bookmarks.rows;
    struct pawl_datum ids[WHY_ROWS_MAX];
    struct pawl_cli_list list;
    size_t count = 0;
    int status;

    pawl__cli_list_all(&list, PAWL_TABLE_INSTANCES, NULL, PAWL_QUERY_BRIEF | PAWL_QUERY_TOTAL);
    list.query.limit = WHY_ROWS_MAX;
    pawl__cli_list_str(&list, "parent_id", why->row.id);
    pawl__cli_list_text(&list, "status", "Running");
    status = pawl__cli_list_find(why->session, &list, why->b.arena, &why->children, err);
    for (size_t i = 0; status == PAWL_OK && i < why->bookmarks.count; i++) {
        struct pawl_json payload;

        if (rows[i].payload.len == 0 ||
            pawl__json_parse(why->b.arena, rows[i].payload, NULL, &payload, NULL, NULL) != PAWL_OK)
            continue;
        ids[count].text = text_of(&payload, "childInstanceId");
        count += ids[count].text.len > 0;
    }
    if (status != PAWL_OK || count == 0)
        return status;
    pawl__cli_list_all(&list, PAWL_TABLE_INSTANCES, NULL, PAWL_QUERY_BRIEF);
    pawl__cli_list_in(&list, "id", ids, count);
    return pawl__cli_list_find(why->session, &list, why->b.arena, &why->named, err);
}
