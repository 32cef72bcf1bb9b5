/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An instance in the form in which Elsa exports one, for pawl__runtime_import() of another store or
 * for Elsa itself: its state without what is Pawl's own, its bookmarks as Elsa stores them, and its
 * history.
 *
 * What is exported is one revision: state and history are read one after the other, and read again
 * when a commit came in between.
 */
#include "runtime/runtime_private.h"

#include "base/error.h"
#include "engine/builder.h"
#include "runtime/bytes.h"

/* Commits that may come in between before this gives up. */
#define ATTEMPTS_MAX 20

/* Pawl's own members are those of a burst in progress; see engine/state/save.c. */
static void strip(struct pawl_json *state)
{
    static const char *const lists[] = {"activityExecutionContexts", "scheduledActivities"};
    const struct pawl_str own = PAWL_STR_LIT("pawl");

    (void)pawl__json_remove(state, own);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const struct pawl_json *list = pawl__json_get_text(state, lists[i]);

        for (uint32_t j = 0; j < pawl__json_len(list); j++)
            (void)pawl__json_remove(pawl__json_at(list, j), own);
    }
}

/* The bookmarks of the state are the instance's rows in the table; see commit.c. */
static struct pawl_json bookmarks_json(struct pawl_builder *b, const struct pawl_json *state)
{
    const struct pawl_json *bookmarks = pawl__json_get_text(state, "bookmarks");
    struct pawl_json array = pawl__json_array();

    for (uint32_t i = 0; i < pawl__json_len(bookmarks); i++) {
        const struct pawl_json *bookmark = pawl__json_at(bookmarks, i);
        struct pawl_json one = pawl__json_object();

        pawl__build(b, &one, "id", runtime_member(bookmark, "id"));
        pawl__build(b, &one, "activityTypeName", runtime_member(bookmark, "name"));
        pawl__build(b, &one, "workflowInstanceId", runtime_member(state, "id"));
        pawl__build(b, &one, "activityInstanceId", runtime_member(bookmark, "activityInstanceId"));
        pawl__build(b, &one, "hash", runtime_member(bookmark, "hash"));
        pawl__build(b, &one, "correlationId", runtime_member(state, "correlationId"));
        pawl__build(b, &one, "createdAt", runtime_member(bookmark, "createdAt"));
        pawl__build(b, &one, "payload", runtime_member(bookmark, "payload"));
        pawl__build(b, &one, "metadata", runtime_member(bookmark, "metadata"));
        pawl__build_append(b, &array, one);
    }
    return array;
}

static int build(struct pawl_arena *arena, const struct pawl_instance_export *parts,
                 struct pawl_json *state, struct pawl_json log, struct pawl_json records,
                 struct pawl_json *out, struct pawl_error *err)
{
    struct pawl_builder b = {.arena = arena};
    struct pawl_json whole = pawl__json_object();

    strip(state);
    pawl__build(&b, &whole, "WorkflowState", *state);
    pawl__build(&b, &whole, "Bookmarks",
                parts->bookmarks ? bookmarks_json(&b, state) : pawl__json_null());
    pawl__build(&b, &whole, "ActivityExecutionRecords",
                parts->activity_records ? records : pawl__json_null());
    pawl__build(&b, &whole, "WorkflowExecutionLogRecords",
                parts->log_records ? log : pawl__json_null());
    if (b.status != PAWL_OK)
        return pawl__error_code(err, b.status);
    *out = whole;
    return PAWL_OK;
}

/* *again: a commit came in between, and nothing was made. *has_state: that could be read. */
static int export_once(struct pawl_runtime *runtime, struct pawl_str instance_id,
                       const struct pawl_instance_export *parts, struct pawl_arena *arena,
                       bool *again, bool *has_state, struct pawl_json *out, int64_t deadline_ns,
                       struct pawl_error *err)
{
    struct pawl_json state, log = pawl__json_null(), records = pawl__json_null();
    struct pawl_instance_row row, later;
    int status = pawl__runtime_show(runtime, instance_id, arena, &row, &state, deadline_ns, err);

    *again = false;
    *has_state = status == PAWL_OK;
    if (status == PAWL_OK && row.runnable != 0)
        return pawl__error_set(err, PAWL_EBUSY,
                               "instance %.*s is in the middle of a burst: export it when it "
                               "waits or has ended",
                               PAWL_STR_ARG(instance_id));
    if (status == PAWL_OK && (parts->log_records || parts->activity_records)) {
        status =
            pawl__runtime_journal(runtime, instance_id, arena, &log, &records, deadline_ns, err);
        if (status == PAWL_OK)
            status =
                pawl__runtime_show(runtime, instance_id, arena, &later, NULL, deadline_ns, err);
        *again = status == PAWL_OK && later.revision != row.revision;
    }
    if (status != PAWL_OK || *again)
        return status;
    return build(arena, parts, &state, log, records, out, err);
}

int pawl__runtime_export_parts(struct pawl_runtime *runtime, struct pawl_str instance_id,
                               const struct pawl_instance_export *parts, struct pawl_arena *arena,
                               struct pawl_json *out, int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_arena_mark begin = pawl__arena_mark(arena);

    for (int i = 0; i < ATTEMPTS_MAX; i++) {
        bool again, has_state;
        int status = export_once(runtime, instance_id, parts, arena, &again, &has_state, out,
                                 deadline_ns, err);

        if (status == PAWL_ELIMIT && !has_state)
            return pawl__error_set(err, PAWL_ELIMIT,
                                   "instance %.*s is too large to be exported, even without its "
                                   "history",
                                   PAWL_STR_ARG(instance_id));
        if (status == PAWL_ELIMIT && (parts->log_records || parts->activity_records))
            return pawl__error_set(err, PAWL_ELIMIT,
                                   "instance %.*s is too large to be exported with its history: "
                                   "leave out its log and its activity records",
                                   PAWL_STR_ARG(instance_id));
        if (status != PAWL_OK || !again)
            return status;
        pawl__arena_rewind(arena, begin);
    }
    return pawl__error_set(err, PAWL_EBUSY, "instance %.*s changes all the time: try again later",
                           PAWL_STR_ARG(instance_id));
}

int pawl__runtime_export(struct pawl_runtime *runtime, struct pawl_str instance_id,
                         struct pawl_arena *arena, struct pawl_json *out, int64_t deadline_ns,
                         struct pawl_error *err)
{
    return pawl__runtime_export_parts(runtime, instance_id, &PAWL_INSTANCE_EXPORT_ALL, arena, out,
                                      deadline_ns, err);
}
