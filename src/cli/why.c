/* SPDX-License-Identifier: Apache-2.0 */
/* Why an instance stands where it stands; see why.h. What it waits for is in why_bookmarks.c. */
#include "cli/why.h"

#include "base/error.h"
#include "cli/why_private.h"

/* ---- reading ------------------------------------------------------------------------------- */

static int find_owned(struct why *why, enum pawl_table table, const char *order, uint32_t limit,
                      struct pawl_rows *out, struct pawl_error *err)
{
    struct pawl_cli_list list;

    pawl__cli_list_all(&list, table, order, PAWL_QUERY_TOTAL);
    list.query.limit = limit;
    pawl__cli_list_str(&list, "instance_id", why->row.id);
    return pawl__cli_list_find(why->session, &list, why->b.arena, out, err);
}

static int read_all(struct why *why, struct pawl_str instance_id, struct pawl_error *err)
{
    struct pawl_cli_session *session = why->session;
    struct pawl_cli_list nodes;
    int status = pawl__runtime_show(session->runtime, instance_id, why->b.arena, &why->row,
                                    &why->state, pawl__cli_session_deadline(session), err);

    /* Of one whose state cannot be read the rest still tells. */
    if (status != PAWL_OK && status != PAWL_ENOTFOUND) {
        why->state = pawl__json_null();
        status = pawl__runtime_show(session->runtime, instance_id, why->b.arena, &why->row, NULL,
                                    pawl__cli_session_deadline(session), err);
    }
    if (status == PAWL_OK)
        status =
            find_owned(why, PAWL_TABLE_BOOKMARKS, "created_us", WHY_ROWS_MAX, &why->bookmarks, err);
    if (status == PAWL_OK)
        status = find_owned(why, PAWL_TABLE_WORK, "due_us", WHY_ROWS_MAX, &why->work, err);
    if (status == PAWL_OK)
        status =
            find_owned(why, PAWL_TABLE_DEAD_LETTERS, "dead_us", WHY_ROWS_MAX, &why->letters, err);
    pawl__cli_list_all(&nodes, PAWL_TABLE_NODES, NULL, 0);
    if (status == PAWL_OK)
        status = pawl__cli_list_find(session, &nodes, why->b.arena, &why->nodes, err);
    if (status == PAWL_OK)
        status = pawl__cli_store_now(session, &why->now_us, err);
    return status;
}

/* The node with this incarnation; NULL: it is gone. */
static const struct pawl_node_row *node_of(const struct why *why, int64_t incarnation)
{
    const struct pawl_node_row *nodes = why->nodes.rows;

    for (size_t i = 0; i < why->nodes.count; i++) {
        if (nodes[i].incarnation == incarnation)
            return &nodes[i];
    }
    return NULL;
}

static bool is_alive(const struct why *why, int64_t incarnation)
{
    const struct pawl_node_row *node = node_of(why, incarnation);

    return node && node->lease_us > why->now_us;
}

/* Nodes that could do something, besides this command. */
static size_t others_alive(const struct why *why)
{
    const struct pawl_node_row *nodes = why->nodes.rows;
    int64_t own = pawl__runtime_incarnation(why->session->runtime);
    size_t count = 0;

    for (size_t i = 0; i < why->nodes.count; i++)
        count += nodes[i].lease_us > why->now_us && nodes[i].incarnation != own;
    return count;
}

/* ---- who holds it -------------------------------------------------------------------------- */

static struct pawl_json holder(struct why *why)
{
    const struct pawl_node_row *node = node_of(why, why->row.owner);
    bool alive = is_alive(why, why->row.owner);
    struct pawl_json out = pawl__json_object();
    char span[PAWL_CLI_SPAN_TEXT];
    const char *text;

    if (why->row.owner == 0)
        return pawl__json_null();
    if (alive)
        text = pawl__arena_printf(
            why->b.arena, "node %.*s runs it (incarnation %lld, its lease holds for another %s)",
            PAWL_STR_ARG(node->id), (long long)why->row.owner,
            pawl__cli_span_text(node->lease_us - why->now_us, span));
    else
        text = pawl__arena_printf(why->b.arena,
                                  "the node that ran it (incarnation %lld) is gone: the next node "
                                  "that looks takes it over",
                                  (long long)why->row.owner);
    pawl__build(&why->b, &out, "nodeId", node ? pawl__json_string(node->id) : pawl__json_null());
    pawl__build_int(&why->b, &out, "incarnation", why->row.owner);
    pawl__build_bool(&why->b, &out, "isAlive", alive);
    pawl__cli_put_time(&why->b, &out, "leaseEndsAt", node ? node->lease_us : 0);
    why_put(why, &out, "text", text);
    return out;
}

/* ---- mail ---------------------------------------------------------------------------------- */

/* What people call the kinds. */
static const char *kind_text(struct pawl_str kind)
{
    static const struct {
        const char *kind, *text;
    } kinds[] = {
        {PAWL_WORK_RESUME, "an event or answer for it"},
        {PAWL_WORK_TIMER, "a timer"},
        {PAWL_WORK_CHILD, "the end of a child"},
        {PAWL_WORK_FEED, "a result that it awaits"},
        {PAWL_WORK_JOB, "an activity in the background"},
        {PAWL_WORK_RUN, "another try, after a failure"},
        {PAWL_WORK_CANCEL, "its cancellation, with its children"},
        {PAWL_WORK_CANCEL_ONE, "its cancellation"},
        {PAWL_WORK_START, "the start of a child"},
        {PAWL_WORK_CALL, "a call of an activity of the host"},
        {PAWL_WORK_TASK, "a task for the host"},
        {PAWL_WORK_HTTP, "a request"},
        {PAWL_WORK_CONSOLE, "a line of output"},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (pawl__str_is(kind, kinds[i].kind))
            return kinds[i].text;
    }
    return "work";
}

static const char *because_due(const struct why *why, const struct pawl_work_row *work)
{
    struct pawl_arena *arena = why->b.arena;

    if (pawl__str_is(why->row.status, "Finished"))
        return "the instance has ended: it is dropped when a node looks at it";
    if (why->row.retry_us > why->now_us)
        return "the instance cannot be run now: it is delivered when that is over";
    if (is_alive(why, why->row.owner))
        return "the node that runs the instance delivers it when its burst is over";
    if (work->owner != 0 && is_alive(why, work->owner))
        return "a node has taken it and is about to deliver it";
    if (others_alive(why) == 0)
        return "no node is there to deliver it: start 'pawl worker'";
    return pawl__arena_printf(arena, "it is due: one of %zu nodes takes it", others_alive(why));
}

static const char *because(const struct why *why, const struct pawl_work_row *work)
{
    struct pawl_arena *arena = why->b.arena;
    char time[PAWL_CLI_TIME_TEXT], span[PAWL_CLI_SPAN_TEXT];

    if (work->due_us == PAWL_TIME_NEVER)
        return pawl__arena_printf(arena,
                                  "nothing waits for it yet: it is delivered when the instance "
                                  "waits for it again, until %s",
                                  work->expires_us == PAWL_TIME_NEVER
                                      ? "the instance ends"
                                      : pawl__cli_time_text(work->expires_us, time));
    if (work->due_us > why->now_us && work->attempts > 0)
        return pawl__arena_printf(arena, "it failed %lld time%s; the next try is in %s",
                                  (long long)work->attempts, work->attempts == 1 ? "" : "s",
                                  pawl__cli_span_text(work->due_us - why->now_us, span));
    if (work->due_us > why->now_us)
        return pawl__arena_printf(arena, "it is due in %s",
                                  pawl__cli_span_text(work->due_us - why->now_us, span));
    return because_due(why, work);
}

/* A timer of a bookmark that has not failed is told with its bookmark. */
static bool is_told(const struct why *why, const struct pawl_work_row *work)
{
    const struct pawl_bookmark_row *bookmarks = why->bookmarks.rows;

    if (!pawl__str_is(work->kind, PAWL_WORK_TIMER) || work->attempts > 0)
        return false;
    for (size_t i = 0; i < why->bookmarks.count; i++) {
        if (pawl__str_equal(bookmarks[i].id, work->bookmark_id))
            return true;
    }
    return false;
}

static struct pawl_json mail(struct why *why)
{
    const struct pawl_work_row *work = why->work.rows;
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < why->work.count; i++) {
        struct pawl_json one = pawl__json_object();

        if (is_told(why, &work[i]))
            continue;
        pawl__cli_put(&why->b, &one, "id", work[i].id);
        pawl__cli_put(&why->b, &one, "kind", work[i].kind);
        why_put(why, &one, "text", kind_text(work[i].kind));
        pawl__cli_put_time(&why->b, &one, "since", work[i].created_us);
        pawl__cli_put_time(&why->b, &one, "dueAt", work[i].due_us);
        pawl__build_int(&why->b, &one, "attempts", work[i].attempts);
        pawl__cli_put(&why->b, &one, "error", work[i].error);
        why_put(why, &one, "because", because(why, &work[i]));
        pawl__build_append(&why->b, &out, one);
    }
    return out;
}

/* What was given up and not replayed since, newest last. */
static struct pawl_json given_up(struct why *why)
{
    const struct pawl_dead_letter_row *letters = why->letters.rows;
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < why->letters.count; i++) {
        struct pawl_json one = pawl__json_object();

        if (letters[i].replayed_us != 0)
            continue;
        pawl__cli_put(&why->b, &one, "id", letters[i].id);
        pawl__cli_put(&why->b, &one, "kind", letters[i].kind);
        why_put(why, &one, "text", kind_text(letters[i].kind));
        pawl__cli_put_time(&why->b, &one, "givenUpAt", letters[i].dead_us);
        pawl__cli_put(&why->b, &one, "error", letters[i].error);
        pawl__build_append(&why->b, &out, one);
    }
    return out;
}

static bool has_given_up(const struct why *why)
{
    const struct pawl_dead_letter_row *letters = why->letters.rows;

    for (size_t i = 0; i < why->letters.count; i++) {
        if (letters[i].replayed_us == 0)
            return true;
    }
    return false;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static struct pawl_json last_incident(struct why *why)
{
    const struct pawl_json *incidents = pawl__json_get_text(&why->state, "incidents");
    static const char *const keys[] = {"activityId", "activityType", "message", "timestamp"};
    struct pawl_json out = pawl__json_object();

    if (pawl__json_len(incidents) == 0)
        return pawl__json_null();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct pawl_json *value =
            pawl__json_get_text(pawl__json_at(incidents, pawl__json_len(incidents) - 1), keys[i]);

        pawl__build(&why->b, &out, keys[i], value ? *value : pawl__json_null());
    }
    return out;
}

/* How it ended, of one that has. */
static const char *ended(struct why *why)
{
    char time[PAWL_CLI_TIME_TEXT], span[PAWL_CLI_SPAN_TEXT];
    int64_t at_us = why->row.finished_us ? why->row.finished_us : why->row.updated_us;
    const char *how = "it is finished";

    if (pawl__str_is(why->row.sub_status, "Faulted"))
        how = "it ended by a fault";
    if (pawl__str_is(why->row.sub_status, "Cancelled"))
        how = "it was cancelled";
    return pawl__arena_printf(
        why->b.arena, "%s, at %s (%s ago), after %s%s%.*s", how, pawl__cli_time_text(at_us, time),
        pawl__cli_span_text(why->now_us - at_us, span),
        pawl__cli_span_text(at_us - why->row.created_us, (char[PAWL_CLI_SPAN_TEXT]){0}),
        why->row.trouble.len > 0 ? "; " : "", PAWL_STR_ARG(why->row.trouble));
}

static const char *put_off(struct why *why)
{
    char span[PAWL_CLI_SPAN_TEXT];
    const char *failed = "";

    if (why->row.failures > 0)
        failed =
            pawl__arena_printf(why->b.arena, ", after %lld failure%s", (long long)why->row.failures,
                               why->row.failures == 1 ? "" : "s");
    if (why->row.retry_us == PAWL_TIME_NEVER)
        return pawl__arena_printf(why->b.arena, "it is set aside until somebody decides%s: %.*s",
                                  failed, PAWL_STR_ARG(why->row.trouble));
    return pawl__arena_printf(why->b.arena, "it could not be run; the next try is %s%s: %.*s",
                              why->row.retry_us > why->now_us ? "in " : "due",
                              why->row.retry_us > why->now_us
                                  ? pawl__cli_span_text(why->row.retry_us - why->now_us, span)
                                  : "",
                              PAWL_STR_ARG(why->row.trouble));
}

static const char *summary(struct why *why, const struct pawl_json *waits,
                           const struct pawl_json *letters)
{
    if (pawl__str_is(why->row.status, "Finished"))
        return ended(why);
    if (is_alive(why, why->row.owner))
        return "it is running right now";
    if (why->row.retry_us != 0)
        return put_off(why);
    if (why->row.runnable != 0)
        return others_alive(why) > 0
                   ? "it stands in the middle of a burst; the next free node goes on with it"
                   : "it stands in the middle of a burst and no node is there to go on with it";
    if (pawl__json_len(waits) > 1)
        return pawl__arena_printf(why->b.arena, "it waits for any of %u things",
                                  pawl__json_len(waits));
    if (pawl__json_len(waits) == 1)
        return pawl__arena_printf(
            why->b.arena, "it waits for %.*s",
            PAWL_STR_ARG(pawl__json_str(pawl__json_get_text(pawl__json_at(waits, 0), "text"))));
    if (pawl__json_len(letters) > 0)
        return "it waits for its mail to be delivered";
    if (has_given_up(why))
        return "nothing is under way that would wake it: work of it was given up";
    return "it waits for nothing, and nothing is under way that would wake it";
}

/* A command that suits the state as a whole; those of bookmarks are with them. */
static struct pawl_json commands(struct why *why, const struct pawl_json *waits)
{
    bool running = pawl__str_is(why->row.status, "Running");
    struct pawl_json out = pawl__json_array();

    if (why->letters.total > 0)
        pawl__cli_why_command(why, &out, "see its work that was given up",
                              "pawl deadletters --instance");
    if (pawl__str_is(why->row.sub_status, "Faulted"))
        pawl__cli_why_command(why, &out, "see what it did", "pawl journal");
    if (running && why->row.retry_us != 0)
        pawl__cli_why_command(why, &out, "try it again, once the reason is gone", "pawl retry");
    else if (running && !is_alive(why, why->row.owner) &&
             (why->row.runnable != 0 || pawl__json_len(waits) == 0))
        pawl__cli_why_command(why, &out, "go on with it here", "pawl resume");
    if (running && (!why->row.cancel_requested || why->row.retry_us != 0))
        pawl__cli_why_command(why, &out, "end it", "pawl cancel");
    if (!running && why->row.trouble.len > 0)
        pawl__cli_why_command(why, &out, "remove it: it cannot go on", "pawl rm");
    return out;
}

static void build(struct why *why, struct pawl_json *out)
{
    struct pawl_builder *b = &why->b;
    struct pawl_json waits = pawl__cli_why_waits(why), letters = mail(why);

    pawl__cli_put(b, out, "instanceId", why->row.id);
    pawl__cli_put(b, out, "definitionId", why->row.definition_id);
    pawl__build_int(b, out, "version", why->row.version);
    pawl__cli_put(b, out, "status", why->row.status);
    pawl__cli_put(b, out, "subStatus", why->row.sub_status);
    pawl__cli_put_time(b, out, "createdAt", why->row.created_us);
    pawl__cli_put_time(b, out, "updatedAt", why->row.updated_us);
    pawl__cli_put_time(b, out, "finishedAt", why->row.finished_us);
    pawl__build_bool(b, out, "cancelRequested", why->row.cancel_requested != 0);
    pawl__build_bool(b, out, "isSetAside", why->row.retry_us == PAWL_TIME_NEVER);
    pawl__cli_put(b, out, "trouble", why->row.trouble);
    why_put(why, out, "summary", summary(why, &waits, &letters));
    pawl__build(b, out, "waitsFor", waits);
    pawl__build(b, out, "mail", letters);
    pawl__build(b, out, "heldBy", holder(why));
    pawl__build(b, out, "lastIncident", last_incident(why));
    pawl__build_int(b, out, "deadLetters", (int64_t)why->letters.total);
    pawl__build(b, out, "givenUp", given_up(why));
    pawl__build(b, out, "commands", commands(why, &waits));
}

int pawl__cli_why_tell(struct pawl_cli_session *session, struct pawl_str instance_id,
                       struct pawl_json *out, struct pawl_error *err)
{
    struct why why = {.session = session, .b = {.arena = &session->cli->arena}};
    struct pawl_json whole = pawl__json_object();
    int status = read_all(&why, instance_id, err);

    if (status == PAWL_OK)
        status = pawl__cli_why_children(&why, err);
    if (status != PAWL_OK)
        return status;
    build(&why, &whole);
    if (why.b.status != PAWL_OK)
        return pawl__error_code(err, why.b.status);
    *out = whole;
    return PAWL_OK;
}
