/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations whose store fails at any call: one that fails as if nothing had been changed has
 * changed nothing. Each is made again and again, on an instance or a definition of its own, and the
 * store fails from the Nth call on, or for the Nth alone, before it is made or after it took
 * effect. Every eighth call is tried, others for each commit; of definitions, where nothing waits
 * for the store, each call. Whether what is recorded has happened is asked of its record.
 */
#include "operations/desk.h"

#include "base/error.h"
#include "operations/audit.h"
#include "operations/definitions.h"
#include "operations/instances.h"
#include "operations/stimuli.h"

#include <stdio.h>

/* What an operation may wait for a store that does not come back. */
#define PATIENCE_MS 100
#define CALLS_MAX 100
#define EVERY 8

/* One operation, on the instance with this id; `bookmark_id` is what that waits for. */
typedef int act_fn(const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id);

struct act {
    const char *name;
    act_fn *act;
    bool is_start;    /* there is no instance before */
    bool is_deletion; /* there is none behind it */
    enum pawl_sub_status after;
    /* Of what is recorded: makes what it is done to. NULL: an instance that waits. */
    void (*prepare)(struct desk *desk, const char *id);
    bool is_thorough; /* each call is tried, before it is made and after it took effect */
};

static int send(const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id)
{
    const struct pawl_send_request request = {.name = pawl__str("Go"), .instance_id = id};
    struct pawl_send_result sent;

    (void)bookmark_id;
    return pawl__op_event_send(op, &request, &sent);
}

static int start(const struct pawl_op *op, struct pawl_str id, bool is_detached)
{
    const struct pawl_instance_start request = {
        .what = {.definition_id = pawl__str("waits"), .instance_id = id},
        .detached = is_detached,
        .with_state = true};
    struct pawl_instance_result result;

    return pawl__op_instance_start(op, &request, &result);
}

static int start_now(const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id)
{
    (void)bookmark_id;
    return start(op, id, false);
}

static int start_detached(const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id)
{
    (void)bookmark_id;
    return start(op, id, true);
}

static int cancel(const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id)
{
    struct pawl_instance_row row;

    (void)bookmark_id;
    return pawl__op_instance_cancel(op, id, false, &row);
}

static int delete (const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id)
{
    (void)bookmark_id;
    return pawl__op_instance_delete(op, id);
}

static int resume(const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id)
{
    const struct pawl_run request = {.bookmark_id = bookmark_id};
    struct pawl_instance_result result;

    return pawl__op_instance_resume(op, id, &request, true, &result);
}

/* Whether what it is there for has happened, when all work is done. */
static bool has_happened(struct desk *desk, const struct act *act, struct pawl_str id)
{
    struct pawl_instance_shown shown;
    struct pawl_audit_row record;
    bool is_there;

    if (act->prepare) {
        int status = pawl__op_audit_show(&desk->op, id, &record);

        assert_true(status == PAWL_OK || status == PAWL_ENOTFOUND);
        return status == PAWL_OK;
    }
    assert_ok(pawl__op_instance_exists(&desk->op, id, &is_there), &desk->err);
    if (act->is_start || act->is_deletion)
        return is_there == act->is_start;
    assert_true(is_there);
    assert_ok(pawl__op_instance_show(&desk->op, id, false, &shown), &desk->err);
    return pawl__str_is(shown.row.sub_status, pawl__sub_status_name(act->after));
}

static struct pawl_str bookmark_of(struct desk *desk, struct pawl_str id)
{
    struct pawl_instance_shown shown;
    const struct pawl_json *bookmarks;

    assert_ok(pawl__op_instance_show(&desk->op, id, true, &shown), &desk->err);
    bookmarks = pawl__json_get_text(&shown.state, "bookmarks");
    return pawl__json_str(pawl__json_get_text(pawl__json_at(bookmarks, 0), "id"));
}

/* Returns false when the operation ended before that many calls. */
static bool try_fault(struct desk *desk, const struct act *act, int calls, bool is_lost,
                      bool is_once)
{
    struct pawl_op op;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_str bookmark_id = pawl__str("");
    char id[64];
    bool was_reached, happened;
    int status;

    (void)snprintf(id, sizeof id, "%s-%d-%d-%d", act->name, calls, is_lost, is_once);
    if (act->prepare) {
        act->prepare(desk, id);
    } else if (!act->is_start) {
        (void)desk_start(desk, "waits", id, NULL, NULL);
        bookmark_id = bookmark_of(desk, pawl__str(id));
    }
    op = pawl__op_within(&desk->op, PATIENCE_MS);
    op.err = &err;
    op.request_id = pawl__str(act->prepare ? id : "");
    atomic_store(&desk->fault_is_lost, is_lost);
    atomic_store(&desk->fault_is_once, is_once);
    atomic_store(&desk->calls_before_fault, calls);
    status = act->act(&op, pawl__str(id), bookmark_id);
    was_reached = atomic_load(&desk->calls_before_fault) < 0;
    atomic_store(&desk->calls_before_fault, DESK_NO_FAULT);
    desk_drain(desk);
    happened = has_happened(desk, act, pawl__str(id));
    if (status == PAWL_OK && !happened)
        fail_msg("%s: PAWL_OK, and it has not happened", id);
    if (happened && pawl__error_says_unchanged(status))
        fail_msg("%s: %s, and it has happened: %s", id, pawl_error_name(status), err.msg);
    return was_reached;
}

static void sweep(struct desk *desk, const struct act *act)
{
    desk_publish(desk, desk_waits);
    for (int way = 0; way < 4; way++) {
        int every = act->is_thorough ? 2 : EVERY;
        int calls = (int)((test_rotation() + (uint64_t)way) % (uint64_t)every);

        while (try_fault(desk, act, calls, (way ^ way >> 1) & 1, way & 2)) {
            calls += every;
            assert_true(calls < CALLS_MAX);
        }
    }
}

static void an_event_that_fails_as_if_not_sent_is_not_sent(struct desk *desk)
{
    sweep(desk, &(struct act){.name = "send", .act = send, .after = PAWL_SUB_FINISHED});
}

static void a_start_that_fails_as_if_not_made_is_not_made(struct desk *desk)
{
    sweep(desk, &(struct act){.name = "start", .act = start_now, .is_start = true});
}

static void a_detached_start_that_fails_as_if_not_made_is_not_made(struct desk *desk)
{
    sweep(desk, &(struct act){.name = "detached", .act = start_detached, .is_start = true});
}

static void a_cancellation_that_fails_as_if_not_asked_is_not_asked(struct desk *desk)
{
    sweep(desk, &(struct act){.name = "cancel", .act = cancel, .after = PAWL_SUB_CANCELLED});
}

static void a_deletion_that_fails_as_if_not_done_is_not_done(struct desk *desk)
{
    sweep(desk, &(struct act){.name = "delete", .act = delete, .is_deletion = true});
}

static void a_resume_that_fails_as_if_not_done_is_not_done(struct desk *desk)
{
    sweep(desk, &(struct act){.name = "resume", .act = resume, .after = PAWL_SUB_FINISHED});
}

/* ---- memory -----------------------------------------------------------------------------------
 */

#define MEMORY_STEP 32
#define DISPATCHED 3

static uint64_t count_instances(struct desk *desk)
{
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows rows = {0};

    assert_ok(
        pawl_store_find(desk->store, &query, &desk->arena, &rows, desk->op.deadline_ns, &desk->err),
        &desk->err);
    return rows.total;
}

/* Each start finds a little more memory than the one before. */
static void a_dispatch_without_memory_says_how_many_it_made(struct desk *desk)
{
    const struct pawl_instance_start request = {.what = {.definition_id = pawl__str("waits")}};
    uint64_t before = 0, after;
    int status = PAWL_ELIMIT;

    desk_publish(desk, desk_waits);
    for (size_t bytes = 0; status != PAWL_OK; bytes += MEMORY_STEP, before = after) {
        struct pawl_op op = desk->op;
        struct pawl_arena arena;
        struct pawl_str *ids;
        uint32_t count = 0;

        pawl__arena_init(&arena, &desk->env->alloc, bytes);
        op.arena = &arena;
        status = pawl__op_instances_dispatch(&op, &request, DISPATCHED, &ids, &count);
        after = count_instances(desk);
        if (after - before != count && pawl__error_says_unchanged(status))
            fail_msg("%zu bytes: %s, %u made, and there are %ju", bytes, desk->err.msg, count,
                     (uintmax_t)(after - before));
        pawl__arena_release(&arena);
    }
}

/* ---- what operators change in instances -------------------------------------------------------
 */

static const char variable[] =
    "{\"definitionId\":\"variable\",\"name\":\"Variable\",\"variables\":[{\"id\":\"v\",\"name\":"
    "\"v\","
    "\"typeName\":\"String\",\"storageDriverTypeName\":\"WorkflowInstanceStorageDriver\"}],"
    "\"root\":"
    "{\"id\":\"e\",\"type\":\"Elsa.Event\",\"eventName\":{\"typeName\":\"String\",\"expression\":"
    "{\"type\":\"Literal\",\"value\":\"Go\"}}}}";

static struct pawl_json parse(const struct pawl_op *op, const char *text)
{
    struct pawl_json out;

    assert_ok(pawl__json_parse(op->arena, pawl__str(text), NULL, &out, NULL, NULL), NULL);
    return out;
}

static void start_with_variable(struct desk *desk, const char *id)
{
    (void)desk_start(desk, "variable", id, NULL, NULL);
}

static void start_faulting(struct desk *desk, const char *id)
{
    (void)desk_start(desk, "faults", id, NULL, NULL);
}

static int alter(const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id)
{
    struct pawl_json what = parse(op, "[{\"type\":\"ScheduleActivity\",\"activityId\":\"e\"}]");
    struct pawl_instance_altered altered;

    (void)bookmark_id;
    return pawl__op_instance_alter(op, id, &what, false, &altered);
}

static int set_variables(const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id)
{
    struct pawl_json what = parse(op, "[{\"id\":\"v\",\"value\":\"new\"}]"), now;

    (void)bookmark_id;
    return pawl__op_instance_set_variables(op, id, &what, false, &now);
}

static int retry(const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id)
{
    struct pawl_outcome outcome;

    (void)bookmark_id;
    return pawl__op_instance_retry(op, id, NULL, 0, &outcome);
}

static void an_alteration_that_fails_as_if_not_made_is_not_made(struct desk *desk)
{
    desk_publish(desk, variable);
    sweep(desk, &(struct act){.name = "alter", .act = alter, .prepare = start_with_variable});
}

static void variables_whose_setting_fails_as_if_not_done_are_not_set(struct desk *desk)
{
    desk_publish(desk, variable);
    sweep(desk, &(struct act){.name = "set", .act = set_variables, .prepare = start_with_variable});
}

static void a_retry_that_fails_as_if_not_done_is_not_done(struct desk *desk)
{
    desk_publish(desk, desk_faults);
    sweep(desk, &(struct act){.name = "retry", .act = retry, .prepare = start_faulting});
}

/* ---- definitions ------------------------------------------------------------------------------
 */

static void nothing(struct desk *desk, const char *id)
{
    (void)desk;
    (void)id;
}

/* Usable as an activity: saving it looks for those that use it. */
static struct pawl_json usable(const struct pawl_op *op, struct pawl_str id, const char *more)
{
    return parse(
        op, pawl__arena_printf(op->arena,
                               "{\"definitionId\":\"%.*s\",\"name\":\"N %.*s\",%s\"options\":{"
                               "\"usableAsActivity\":true,\"autoUpdateConsumingWorkflows\":true},"
                               "\"root\":{\"id\":\"w\",\"type\":\"Elsa.WriteLine\"}}",
                               PAWL_STR_ARG(id), PAWL_STR_ARG(id), more));
}

static int save_model(const struct pawl_op *op, struct pawl_str id, bool publish)
{
    struct pawl_json model = usable(op, id, "");
    struct pawl_definition_saved saved;

    return pawl__op_definition_save(
        op,
        &(struct pawl_definition_save){.definition = &model, .is_model = true, .publish = publish},
        &saved);
}

static int save_draft(const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id)
{
    (void)bookmark_id;
    return save_model(op, id, false);
}

static int save_published(const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id)
{
    (void)bookmark_id;
    return save_model(op, id, true);
}

static int publish(const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id)
{
    struct pawl_definition_saved saved;

    (void)bookmark_id;
    return pawl__op_definition_publish(op, &(struct pawl_definition_ref){.definition_id = id},
                                       &saved);
}

static int import_draft(const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id)
{
    struct pawl_json definition = usable(op, id, "");
    struct pawl_definition_row row;

    (void)bookmark_id;
    return pawl__op_definition_import(op, &definition, &row);
}

static int import_published(const struct pawl_op *op, struct pawl_str id,
                            struct pawl_str bookmark_id)
{
    struct pawl_json definition = usable(op, id, "\"isPublished\":true,\"isLatest\":true,");
    struct pawl_definition_row row;

    (void)bookmark_id;
    return pawl__op_definition_import(op, &definition, &row);
}

/* It, and another one. */
static int import_drafts(const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id)
{
    const char *other = pawl__arena_printf(op->arena, "%.*s-other", PAWL_STR_ARG(id));
    struct pawl_json one = usable(op, id, ""), two = usable(op, pawl__str(other), "");
    const struct pawl_json *both[] = {&one, &two};
    struct pawl_definitions_imported imported = {.count = 0};

    (void)bookmark_id;
    return pawl__op_definitions_import(op, both, 2, &imported);
}

static int retract(const struct pawl_op *op, struct pawl_str id, struct pawl_str bookmark_id)
{
    struct pawl_definition_row row;
    bool was_published;

    (void)bookmark_id;
    return pawl__op_definition_retract(op, id, &was_published, &row);
}

static int update_references(const struct pawl_op *op, struct pawl_str id,
                             struct pawl_str bookmark_id)
{
    struct pawl_definition_list changed;

    (void)bookmark_id;
    return pawl__op_definition_update_references(op, id, &changed);
}

static void make_draft(struct desk *desk, const char *id)
{
    assert_ok(save_model(&desk->op, pawl__str(id), false), &desk->err);
}

static void make_published(struct desk *desk, const char *id)
{
    assert_ok(save_model(&desk->op, pawl__str(id), true), &desk->err);
}

/* Of another definition, that uses version 1 of this one. */
static void make_user(struct desk *desk, const char *id)
{
    const char *user = pawl__arena_printf(
        &desk->arena,
        "{\"definitionId\":\"%s-user\",\"name\":\"U %s\",\"root\":{\"id\":\"u\",\"type\":\"N%s\","
        "\"version\":1,\"workflowDefinitionId\":\"%s\",\"latestAvailablePublishedVersion\":1}}",
        id, id, id, id);
    struct pawl_json model = parse(&desk->op, user);
    struct pawl_definition_saved saved;

    assert_ok(pawl__op_definition_save(
                  &desk->op, &(struct pawl_definition_save){.definition = &model, .is_model = true},
                  &saved),
              &desk->err);
}

/* Version 2 is published when version 1 has a user. */
static void make_used_draft(struct desk *desk, const char *id)
{
    make_published(desk, id);
    make_user(desk, id);
    make_draft(desk, id);
}

static void make_outdated(struct desk *desk, const char *id)
{
    make_published(desk, id);
    make_draft(desk, id);
    make_published(desk, id);
    make_user(desk, id);
}

static void sweep_definition(struct desk *desk, const char *name, act_fn *act,
                             void (*prepare)(struct desk *desk, const char *id))
{
    sweep(desk, &(struct act){.name = name, .act = act, .prepare = prepare, .is_thorough = true});
}

static void a_save_that_fails_as_if_not_made_is_not_made(struct desk *desk)
{
    sweep_definition(desk, "save", save_draft, nothing);
    sweep_definition(desk, "both", save_published, nothing);
}

static void a_publication_that_fails_as_if_not_made_is_not_made(struct desk *desk)
{
    sweep_definition(desk, "publish", publish, make_draft);
    sweep_definition(desk, "used", publish, make_used_draft);
}

static void an_import_that_fails_as_if_not_made_is_not_made(struct desk *desk)
{
    sweep_definition(desk, "import", import_draft, nothing);
    sweep_definition(desk, "provide", import_published, nothing);
    sweep_definition(desk, "several", import_drafts, nothing);
}

static void a_retraction_that_fails_as_if_not_made_is_not_made(struct desk *desk)
{
    sweep_definition(desk, "retract", retract, make_published);
}

static void an_update_of_references_that_fails_as_if_not_made_is_not_made(struct desk *desk)
{
    sweep_definition(desk, "refer", update_references, make_outdated);
}

/* ---- cancelling -------------------------------------------------------------------------------
 */

/* Whoever asks for no row, as HTTP does, needs no look behind the request. */
static void a_cancellation_needs_no_look(struct desk *desk)
{
    struct pawl_instance_row row;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "a", NULL, NULL);
    (void)desk_start(desk, "waits", "b", NULL, NULL);
    atomic_store(&desk->commits_before_failure, 1);
    assert_ok(pawl__op_instance_cancel(&desk->op, pawl__str("a"), false, NULL), &desk->err);
    atomic_store(&desk->commits_before_failure, 1);
    assert_code(pawl__op_instance_cancel(&desk->op, pawl__str("b"), false, &row), PAWL_EUNKNOWN);
    assert_non_null(strstr(desk->err.msg, "the cancellation of b was requested"));
    atomic_store(&desk->commits_before_failure, -1);
}

const struct desk_test stored_tests[] = {
    DESK_TEST(an_event_that_fails_as_if_not_sent_is_not_sent),
    DESK_TEST(a_start_that_fails_as_if_not_made_is_not_made),
    DESK_TEST(a_detached_start_that_fails_as_if_not_made_is_not_made),
    DESK_TEST(a_cancellation_that_fails_as_if_not_asked_is_not_asked),
    DESK_TEST(a_deletion_that_fails_as_if_not_done_is_not_done),
    DESK_TEST(a_resume_that_fails_as_if_not_done_is_not_done),
    DESK_TEST(a_dispatch_without_memory_says_how_many_it_made),
    DESK_TEST(an_alteration_that_fails_as_if_not_made_is_not_made),
    DESK_TEST(variables_whose_setting_fails_as_if_not_done_are_not_set),
    DESK_TEST(a_retry_that_fails_as_if_not_done_is_not_done),
    DESK_TEST(a_save_that_fails_as_if_not_made_is_not_made),
    DESK_TEST(a_publication_that_fails_as_if_not_made_is_not_made),
    DESK_TEST(an_import_that_fails_as_if_not_made_is_not_made),
    DESK_TEST(a_retraction_that_fails_as_if_not_made_is_not_made),
    DESK_TEST(an_update_of_references_that_fails_as_if_not_made_is_not_made),
    DESK_TEST(a_cancellation_needs_no_look),
    {.name = NULL},
};
