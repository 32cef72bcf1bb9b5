/* SPDX-License-Identifier: Apache-2.0 */
/* Why an instance does not continue; see why.h. What it waits for is in why_waits.c. */
#include "views/why.h"

#include "views/nodes.h"
#include "views/why_private.h"
#include "views/words.h"

/* ---- who holds it --------------------------------------------------------------------------- */

static struct pawl_json holder(const struct why_view *view)
{
    const struct pawl_why *why = view->why;
    struct pawl_arena *arena = view->b->arena;
    struct pawl_json out = pawl__json_object();
    char span[PAWL_WORDS_SIZE];
    const char *text;

    if (why->row.owner == 0)
        return pawl__json_null();
    if (why->is_held)
        text = pawl__arena_printf(
            arena, "node %.*s runs it (incarnation %lld, its lease lasts another %s)",
            PAWL_STR_ARG(why->holder), (long long)why->row.owner,
            pawl__words_span(why->holder_lease_us - why->now_us, span));
    else
        text = pawl__arena_printf(arena,
                                  "the node that ran it (incarnation %lld) is gone: the next node "
                                  "that checks takes it over",
                                  (long long)why->row.owner);
    pawl__build(view->b, &out, "nodeId",
                why->holder.len > 0 ? pawl__json_string(why->holder) : pawl__json_null());
    pawl__build_int(view->b, &out, "incarnation", why->row.owner);
    pawl__build_bool(view->b, &out, "isAlive", why->is_held);
    pawl__view_time(view->b, &out, "leaseEndsAt", why->holder_lease_us);
    why_put(view, &out, "text", text);
    return out;
}

/* ---- mail ----------------------------------------------------------------------------------- */

static const char *failed_text(const struct why_view *view, const struct pawl_work_row *work)
{
    char span[PAWL_WORDS_SIZE];

    return pawl__arena_printf(view->b->arena, "it failed %lld time%s; the next attempt is in %s",
                              (long long)work->attempts, work->attempts == 1 ? "" : "s",
                              pawl__words_span(work->due_us - view->why->now_us, span));
}

static const char *parked_text(const struct why_view *view, const struct pawl_work_row *work)
{
    char time[PAWL_WORDS_SIZE];

    return pawl__arena_printf(view->b->arena,
                              "nothing waits for it yet: it is delivered when the instance waits "
                              "for it again, until %s",
                              work->expires_us == PAWL_TIME_NEVER
                                  ? "the instance ends"
                                  : pawl__words_time(work->expires_us, time));
}

/* "the cluster is paused by alice: maintenance" */
static const char *paused_text(const struct why_view *view)
{
    const struct pawl_pause *pause = view->why->pause;
    const char *text = pawl__arena_printf(
        view->b->arena, "%s%.*s is paused%s%.*s%s%.*s", pause->node_id.len > 0 ? "node " : "",
        PAWL_STR_ARG(pause->node_id.len > 0 ? pause->node_id : pawl__str("the cluster")),
        pause->by.len > 0 ? " by " : "", PAWL_STR_ARG(pause->by), pause->reason.len > 0 ? ": " : "",
        PAWL_STR_ARG(pause->reason));

    return text ? text : "";
}

static const char *because_text(const struct why_view *view, const struct pawl_why_mail *mail)
{
    const struct pawl_work_row *work = mail->row;
    char span[PAWL_WORDS_SIZE];

    switch (mail->because) {
    case PAWL_WHY_KEPT:
        return "the instance has faulted: it is kept, and delivered if the instance is tried again";
    case PAWL_WHY_PARKED:
        return parked_text(view, work);
    case PAWL_WHY_FAILED:
        return failed_text(view, work);
    case PAWL_WHY_LATER:
        return pawl__arena_printf(view->b->arena, "it is due in %s",
                                  pawl__words_span(work->due_us - view->why->now_us, span));
    case PAWL_WHY_OVER:
        return "the instance has ended: the next node that finds it drops it";
    case PAWL_WHY_WITH_TROUBLE:
        return "the instance cannot be run now: it is delivered when it can";
    case PAWL_WHY_BUSY:
        return "the node that runs the instance delivers it when its burst ends";
    case PAWL_WHY_TAKEN:
        return "a node has taken it and is about to deliver it";
    case PAWL_WHY_PAUSED:
        return pawl__arena_printf(view->b->arena, "%s: it is delivered when that ends",
                                  paused_text(view));
    case PAWL_WHY_NO_NODE:
        return "there is no node to deliver it: start 'pawl worker'";
    case PAWL_WHY_DUE:
    default:
        return pawl__arena_printf(view->b->arena, "it is due: %s takes it",
                                  view->why->nodes == 1 ? "a node" : "one of several nodes");
    }
}

static struct pawl_json mail(const struct why_view *view)
{
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < view->why->mail_count; i++) {
        const struct pawl_why_mail *mail = &view->why->mail[i];
        struct pawl_json one = pawl__json_object();

        pawl__view_text(view->b, &one, "id", mail->row->id);
        pawl__view_text(view->b, &one, "kind", mail->row->kind);
        why_put(view, &one, "text", mail->what);
        pawl__view_time(view->b, &one, "since", mail->row->created_us);
        pawl__view_time(view->b, &one, "dueAt", mail->row->due_us);
        pawl__build_int(view->b, &one, "attempts", mail->row->attempts);
        pawl__view_text(view->b, &one, "error", mail->row->error);
        why_put(view, &one, "because", because_text(view, mail));
        pawl__build_append(view->b, &out, one);
    }
    return out;
}

static struct pawl_json given_up(const struct why_view *view)
{
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < view->why->letter_count; i++) {
        const struct pawl_why_letter *letter = &view->why->letters[i];
        struct pawl_json one = pawl__json_object();

        pawl__view_text(view->b, &one, "id", letter->row->id);
        pawl__view_text(view->b, &one, "kind", letter->row->kind);
        why_put(view, &one, "text", letter->what);
        pawl__view_time(view->b, &one, "givenUpAt", letter->row->dead_us);
        pawl__view_text(view->b, &one, "error", letter->row->error);
        pawl__build_append(view->b, &out, one);
    }
    return out;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static struct pawl_json last_incident(const struct why_view *view)
{
    static const char *const keys[] = {"activityId", "activityType", "message", "timestamp"};
    struct pawl_json out = pawl__json_object();

    if (!view->why->incident)
        return pawl__json_null();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct pawl_json *value = pawl__json_get_text(view->why->incident, keys[i]);

        pawl__build(view->b, &out, keys[i], value ? *value : pawl__json_null());
    }
    return out;
}

static const char *ended_text(const struct why_view *view)
{
    const struct pawl_instance_row *row = &view->why->row;
    char time[PAWL_WORDS_SIZE], ago[PAWL_WORDS_SIZE], took[PAWL_WORDS_SIZE];
    int64_t at_us = row->finished_us ? row->finished_us : row->updated_us;
    const char *how = "it is finished";

    if (pawl__str_is(row->sub_status, "Faulted"))
        how = "it ended with a fault";
    if (pawl__str_is(row->sub_status, "Cancelled"))
        how = "it was cancelled";
    return pawl__arena_printf(view->b->arena, "%s, at %s (%s ago), after %s%s%.*s", how,
                              pawl__words_time(at_us, time),
                              pawl__words_span(view->why->now_us - at_us, ago),
                              pawl__words_span(at_us - row->created_us, took),
                              row->trouble.len > 0 ? "; " : "", PAWL_STR_ARG(row->trouble));
}

static const char *put_off_text(const struct why_view *view)
{
    const struct pawl_instance_row *row = &view->why->row;
    struct pawl_arena *arena = view->b->arena;
    bool later = row->retry_us > view->why->now_us;
    char span[PAWL_WORDS_SIZE];
    const char *failed = "";

    if (row->failures > 0)
        failed = pawl__arena_printf(arena, ", after %lld failure%s", (long long)row->failures,
                                    row->failures == 1 ? "" : "s");
    if (!failed)
        return NULL;
    if (row->retry_us == PAWL_TIME_NEVER)
        return pawl__arena_printf(arena, "it is set aside until an operator decides%s: %.*s",
                                  failed, PAWL_STR_ARG(row->trouble));
    return pawl__arena_printf(
        arena, "it could not be run; the next attempt is %s%s%s: %.*s", later ? "in " : "due",
        later ? pawl__words_span(row->retry_us - view->why->now_us, span) : "", failed,
        PAWL_STR_ARG(row->trouble));
}

static const char *waiting_text(const struct why_view *view, const struct pawl_json *waits)
{
    struct pawl_str only = pawl__json_str(pawl__json_get_text(pawl__json_at(waits, 0), "text"));

    if (pawl__json_len(waits) > 1)
        return pawl__arena_printf(view->b->arena, "it waits for any of %u things",
                                  pawl__json_len(waits));
    return pawl__arena_printf(view->b->arena, "it waits for %.*s", PAWL_STR_ARG(only));
}

static const char *summary(const struct why_view *view, const struct pawl_json *waits)
{
    switch (view->why->standing) {
    case PAWL_WHY_ENDED:
        return ended_text(view);
    case PAWL_WHY_RUNNING:
        return "it is running right now";
    case PAWL_WHY_PUT_OFF:
        return put_off_text(view);
    case PAWL_WHY_INTERRUPTED:
        if (view->why->pause)
            return pawl__arena_printf(view->b->arena, "it is in the middle of a burst, and %s",
                                      paused_text(view));
        return view->why->nodes > 0
                   ? "it is in the middle of a burst; the next free node continues it"
                   : "it is in the middle of a burst and there is no node to continue it";
    case PAWL_WHY_WAITING:
        return waiting_text(view, waits);
    case PAWL_WHY_MAIL:
        return "it waits for its mail to be delivered";
    case PAWL_WHY_GIVEN_UP:
        return "nothing pending would resume it: some of its work was given up";
    case PAWL_WHY_IDLE:
    default:
        return "it waits for nothing, and nothing pending would resume it";
    }
}

/* Commands that suit the state as a whole; those of bookmarks are with them. */
static struct pawl_json commands(const struct why_view *view)
{
    static const struct {
        unsigned advice;
        const char *to, *command;
    } known[] = {
        {PAWL_ADVISE_LETTERS, "see its work that was given up", "pawl deadletters --instance"},
        {PAWL_ADVISE_JOURNAL, "see what it did", "pawl journal"},
        {PAWL_ADVISE_UNPAUSE, "let nodes begin work again", "pawl unpause"},
        {PAWL_ADVISE_RETRY, "try it again, once the reason is gone", "pawl retry"},
        {PAWL_ADVISE_RESUME, "continue it here", "pawl resume"},
        {PAWL_ADVISE_CANCEL, "end it", "pawl cancel"},
        {PAWL_ADVISE_DELETE, "delete it: it cannot continue", "pawl rm"},
    };
    struct pawl_arena *arena = view->b->arena;
    const struct pawl_pause *pause = view->why->pause;
    const char *instance = pawl__words_quote(arena, view->why->row.id);
    const char *node =
        pause && pause->node_id.len > 0 ? pawl__words_quote(arena, pause->node_id) : "";
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *id = known[i].advice == PAWL_ADVISE_UNPAUSE ? node : instance;
        struct pawl_json one = pawl__json_object();

        if (!(view->why->advice & known[i].advice))
            continue;
        pawl__build_name(view->b, &one, "to", known[i].to);
        why_put(view, &one, "command",
                id ? pawl__arena_printf(arena, "%s%s%s%s", known[i].command, *id ? " " : "", id,
                                        view->suffix)
                   : NULL);
        pawl__build_append(view->b, &out, one);
    }
    return out;
}

struct pawl_json pawl__view_why(struct pawl_builder *b, const struct pawl_why *why,
                                const char *suffix)
{
    const struct why_view view = {.b = b, .why = why, .suffix = suffix ? suffix : ""};
    const struct pawl_instance_row *row = &why->row;
    struct pawl_json out = pawl__json_object(), waits = pawl__view_why_waits(&view);

    pawl__view_text(b, &out, "instanceId", row->id);
    pawl__view_text(b, &out, "definitionId", row->definition_id);
    pawl__build_int(b, &out, "version", row->version);
    pawl__view_text(b, &out, "status", row->status);
    pawl__view_text(b, &out, "subStatus", row->sub_status);
    pawl__view_time(b, &out, "createdAt", row->created_us);
    pawl__view_time(b, &out, "updatedAt", row->updated_us);
    pawl__view_time(b, &out, "finishedAt", row->finished_us);
    pawl__build_bool(b, &out, "cancelRequested", row->cancel_requested != 0);
    pawl__build_bool(b, &out, "isSetAside", row->retry_us == PAWL_TIME_NEVER);
    pawl__view_text(b, &out, "trouble", row->trouble);
    why_put(&view, &out, "summary", summary(&view, &waits));
    pawl__build(b, &out, "waitsFor", waits);
    pawl__build(b, &out, "mail", mail(&view));
    pawl__build(b, &out, "heldBy", holder(&view));
    if (why->pause)
        pawl__build(b, &out, "pause", pawl__view_pause(b, why->pause));
    pawl__build(b, &out, "lastIncident", last_incident(&view));
    pawl__build_int(b, &out, "deadLetters", (int64_t)why->letter_total);
    pawl__build(b, &out, "givenUp", given_up(&view));
    pawl__build(b, &out, "commands", commands(&view));
    return out;
}
