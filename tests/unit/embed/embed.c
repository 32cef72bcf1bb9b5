/* SPDX-License-Identifier: Apache-2.0 */
/* The public API on the memory store: what it does, what it refuses, and with little memory. */
#include "embed/fixture.h"
#include "lib/clock.h"

#include <sys/wait.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define WALL (INT64_C(1767323045) * SECOND) /* 2026-01-02T03:04:05Z */

/* ---- definitions and instances ------------------------------------------------------------- */

static void an_instance_runs_waits_and_finishes_by_an_event(void **state)
{
    struct pawl_send_outcome sent;
    struct pawl_instance_outcome outcome;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION(
                    "d", RIG_WRITE("a", "one") "," RIG_EVENT("e", "Go") "," RIG_WRITE("b", "two")));
    outcome = start(&f, "d");
    assert_int_equal(outcome.status, PAWL_INSTANCE_SUSPENDED);
    assert_int_equal(outcome.bookmark_count, 1);
    assert_string_equal(f.lines, "one\n");
    assert_ok(pawl_event_send(f.pawl, "Go", "{\"x\":1}", NULL, &sent, &f.err), &f.err);
    assert_int_equal(sent.resumed, 1);
    assert_int_equal(sent.parked, 0);
    drain(&f);
    assert_string_equal(f.lines, "one\ntwo\n");
    assert_ok(pawl_instance_wait(f.pawl, outcome.instance_id, 0, &outcome, &f.err), &f.err);
    assert_int_equal(outcome.status, PAWL_INSTANCE_FINISHED);
    assert_int_equal(pawl_instance_status_is_final(outcome.status), 1);
    pawl_close(f.pawl);
}

struct told {
    int count;
    enum pawl_definition_problem_level worst;
    char last[256];
};

static void on_problem(void *ctx, const struct pawl_definition_problem *problem)
{
    struct told *told = ctx;

    told->count++;
    if (problem->level > told->worst)
        told->worst = problem->level;
    snprintf(told->last, sizeof told->last, "%s %s", problem->activity_id, problem->pointer);
    assert_true(strlen(problem->message) > 0);
}

static void publishing_tells_problems_and_refuses_what_is_invalid(void **state)
{
    char *missing = quoted(DEFINITION("m", "{'id':'x','type':'Acme.NotThere'}"));
    char *cron =
        quoted(DEFINITION("c", "{'id':'y','type':'Elsa.Cron','customProperties':"
                               "{'canStartWorkflow':true},'cronExpression':" TEXT("nonsense") "}"));
    struct pawl_published out = {.version = -1};
    struct told told = {0};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl_definition_publish(f.pawl, missing, on_problem, &told, &out, &f.err), &f.err);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.worst, PAWL_DEFINITION_ERROR);
    assert_string_equal(told.last, "x /root/activities/0");
    assert_string_equal(out.definition_id, "m");
    assert_int_equal(out.version, 1);
    assert_ok(pawl_definition_publish(f.pawl, missing, NULL, NULL, &out, &f.err), &f.err);
    assert_int_equal(out.version, 2);
    assert_code(pawl_definition_publish(f.pawl, cron, on_problem, &told, &out, &f.err),
                PAWL_EINVAL);
    assert_int_equal(told.worst, PAWL_DEFINITION_INVALID);
    assert_non_null(strstr(f.err.msg, "nothing is stored of it"));
    assert_string_equal(out.definition_id, "m");
    assert_code(pawl_definition_publish(f.pawl, "{", NULL, NULL, NULL, &f.err), PAWL_EPARSE);
    pawl_close(f.pawl);
    free(missing);
    free(cron);
}

static int count_published(void *ctx, const struct pawl_definition_info *definition)
{
    *(int *)ctx += definition->is_published;
    assert_string_equal(definition->definition_id, "d");
    return 0;
}

static void a_key_that_was_used_is_no_error(void **state)
{
    const struct pawl_start_options start = {.definition_id = "d", .idempotency_key = "k"};
    char *one = quoted(DEFINITION("d", RIG_WRITE("a", "one")));
    struct pawl_instance_outcome out;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl_definition_publish(f.pawl, one, NULL, NULL, NULL, &f.err), &f.err);
    for (int i = 0; i < 2; i++) {
        assert_ok(pawl_instance_start(f.pawl, &start, &out, &f.err), &f.err);
        assert_int_equal(out.existed, i);
        assert_int_equal(f.err.code, PAWL_OK);
        assert_string_equal(f.err.msg, "");
    }
    pawl_close(f.pawl);
    free(one);
}

/* Least of all does it mean all versions where they are deleted. */
static void a_negative_version_is_none(void **state)
{
    const struct pawl_definition_delete_options negative = {.version = -3};
    const struct pawl_start_options start = {.definition_id = "d", .version = -3};
    const struct pawl_definition_filter any = {.versions = "", .name = "", .search = ""};
    char *one = quoted(DEFINITION("d", RIG_WRITE("a", "one")));
    char *json = NULL;
    struct pawl_list_end end = {0};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl_definition_publish(f.pawl, one, NULL, NULL, NULL, &f.err), &f.err);
    assert_code(pawl_definition_delete(f.pawl, "d", &negative, &f.err), PAWL_EINVAL);
    assert_code(pawl_definition_find(f.pawl, "d", -3, &json, &f.err), PAWL_EINVAL);
    assert_code(pawl_definition_export(f.pawl, "d", -3, &json, &f.err), PAWL_EINVAL);
    assert_code(pawl_definition_revert(f.pawl, "d", -3, NULL, &f.err), PAWL_EINVAL);
    assert_code(pawl_definition_publish_version(f.pawl, "d", -3, NULL, NULL, NULL, &f.err),
                PAWL_EINVAL);
    assert_code(pawl_instance_start(f.pawl, &start, NULL, &f.err), PAWL_EINVAL);
    assert_ok(pawl_definitions_list(f.pawl, &any, NULL, NULL, &end, &f.err), &f.err);
    assert_int_equal(end.total, 1);
    pawl_close(f.pawl);
    free(one);
}

/* The version that a call on "d" finds: its line. */
static void assert_version(struct fixture *f, int64_t version, const char *line)
{
    char *json = NULL;

    assert_ok(pawl_definition_find(f->pawl, "d", version, &json, &f->err), &f->err);
    if (!strstr(json, line))
        fail_msg("version %lld is %s", (long long)version, json);
    pawl_text_free(f->pawl, json);
}

static void a_version_is_named_the_same_way_in_every_call(void **state)
{
    const struct pawl_definition_delete_options latest = {.version = PAWL_VERSION_LATEST};
    struct pawl_start_options options = {.definition_id = "d"};
    char *two = quoted(DEFINITION("d", RIG_WRITE("a", "two")));
    struct pawl_published out;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", RIG_WRITE("a", "one")));
    assert_ok(pawl_definition_save(f.pawl, two, &out, &f.err), &f.err);
    assert_version(&f, 0, "two");
    assert_version(&f, PAWL_VERSION_LATEST, "two");
    assert_version(&f, PAWL_VERSION_PUBLISHED, "one");
    for (int64_t version = 0; version >= PAWL_VERSION_PUBLISHED; version--) {
        options.version = version;
        assert_ok(pawl_instance_start(f.pawl, &options, NULL, &f.err), &f.err);
    }
    assert_string_equal(f.lines, "one\ntwo\none\n");
    assert_ok(pawl_definition_revert(f.pawl, "d", PAWL_VERSION_PUBLISHED, &out, &f.err), &f.err);
    assert_version(&f, PAWL_VERSION_LATEST, "one");
    assert_ok(pawl_definition_delete(f.pawl, "d", &latest, &f.err), &f.err);
    assert_code(pawl_definition_find(f.pawl, "d", out.version, &two, &f.err), PAWL_ENOTFOUND);
    assert_version(&f, PAWL_VERSION_PUBLISHED, "one");
    pawl_close(f.pawl);
    free(two);
}

static void a_definition_is_saved_published_reverted_and_deleted(void **state)
{
    const struct pawl_definition_filter all = {.versions = "AllVersions", .definition_id = "d"};
    const struct pawl_definition_delete_options second = {.version = 2};
    char *one = quoted(DEFINITION("d", RIG_WRITE("a", "one")));
    struct pawl_published out;
    char *json = NULL;
    int published = 0;
    struct pawl_list_end end = {0};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    assert_ok(pawl_definition_validate(f.pawl, one, NULL, NULL, &f.err), &f.err);
    assert_ok(pawl_definition_save(f.pawl, one, &out, &f.err), &f.err);
    assert_code(pawl_definition_retract(f.pawl, "d", &f.err), PAWL_ENOTFOUND);
    assert_ok(pawl_definition_publish_version(f.pawl, "d", 0, NULL, NULL, &out, &f.err), &f.err);
    assert_int_equal(out.version, 1);
    assert_ok(pawl_definition_revert(f.pawl, "d", 1, &out, &f.err), &f.err);
    assert_int_equal(out.version, 2);
    assert_ok(pawl_definitions_list(f.pawl, &all, count_published, &published, &end, &f.err),
              &f.err);
    assert_int_equal(published, 1);
    assert_int_equal(end.total, 2);
    assert_ok(pawl_definition_delete(f.pawl, "d", &second, &f.err), &f.err);
    assert_ok(pawl_definition_export(f.pawl, "d", 0, &json, &f.err), &f.err);
    assert_non_null(strstr(json, "\"nodeId\":\"Workflow1:"));
    assert_code(pawl_definition_import(f.pawl, json, NULL, &f.err), PAWL_EEXISTS);
    assert_ok(pawl_definition_delete(f.pawl, "d", NULL, &f.err), &f.err);
    assert_ok(pawl_definition_import(f.pawl, json, &out, &f.err), &f.err);
    pawl_text_free(f.pawl, json);
    assert_ok(pawl_definition_find(f.pawl, "d", 1, &json, &f.err), &f.err);
    pawl_text_free(f.pawl, json);
    assert_code(pawl_definition_find(f.pawl, "d", 2, &json, &f.err), PAWL_ENOTFOUND);
    pawl_close(f.pawl);
    free(one);
}

static void starting_twice_with_a_key_answers_the_first(void **state)
{
    struct pawl_start_options options = {.definition_id = "d",
                                         .instance_id = "mine",
                                         .name = "n",
                                         .correlation_id = "c",
                                         .idempotency_key = "k"};
    struct pawl_instance_outcome outcome;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", RIG_WRITE("a", "one")));
    assert_ok(pawl_instance_start(f.pawl, &options, &outcome, &f.err), &f.err);
    assert_string_equal(outcome.instance_id, "mine");
    assert_int_equal(outcome.existed, 0);
    options.instance_id = NULL;
    assert_ok(pawl_instance_start(f.pawl, &options, &outcome, &f.err), &f.err);
    assert_string_equal(outcome.instance_id, "mine");
    assert_int_equal(outcome.existed, 1);
    options.instance_id = "mine";
    options.idempotency_key = NULL;
    assert_code(pawl_instance_start(f.pawl, &options, &outcome, &f.err), PAWL_EEXISTS);
    assert_string_equal(f.lines, "one\n");
    pawl_close(f.pawl);
}

static void a_detached_start_runs_when_work_is_done(void **state)
{
    const struct pawl_start_options options = {.definition_id = "d", .detached = 1};
    struct pawl_instance_outcome outcome;
    struct pawl_work_done done = {0, 0, 0};
    struct fixture f;

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", RIG_WRITE("a", "one")));
    assert_ok(pawl_instance_start(f.pawl, &options, &outcome, &f.err), &f.err);
    assert_int_equal(outcome.status, PAWL_INSTANCE_PENDING);
    assert_string_equal(f.lines, "");
    assert_ok(pawl_work(f.pawl, 0, &done, &f.err), &f.err);
    assert_int_equal(done.count, 1);
    assert_string_equal(f.lines, "one\n");
    assert_ok(pawl_work(f.pawl, 0, &done, &f.err), &f.err);
    assert_int_equal(done.count, 0);
    assert_true(done.next_due_ms == INT64_MAX);
    pawl_close(f.pawl);
}

static void waiting_for_work_ends_when_some_is_due(void **state)
{
    const struct pawl_start_options options = {.definition_id = "d", .detached = 1};
    struct pawl_work_done done = {0, 0, 0};
    struct fixture f;
    int status;

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", RIG_WRITE("a", "one")));
    /* Until nothing new is to be seen. */
    do {
        assert_ok(pawl_work(f.pawl, 0, &done, &f.err), &f.err);
        status = pawl_work_wait(f.pawl, &done, 1, &f.err);
    } while (status == PAWL_OK);
    assert_code(status, PAWL_ETIMEDOUT);
    assert_ok(pawl_instance_start(f.pawl, &options, NULL, &f.err), &f.err);
    assert_ok(pawl_work_wait(f.pawl, &done, 600000, &f.err), &f.err);
    assert_ok(pawl_work(f.pawl, 0, &done, &f.err), &f.err);
    assert_int_equal(done.count, 1);
    pawl_close(f.pawl);
}

static void bookmarks_are_resumed_by_id(void **state)
{
    struct pawl_instance_outcome outcome;
    char *json = NULL, id[64] = "";
    const char *at;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", RIG_EVENT("e", "Go") "," RIG_WRITE("b", "two")));
    outcome = start(&f, "d");
    assert_ok(pawl_instance_show(f.pawl, outcome.instance_id, &json, &f.err), &f.err);
    at = strstr(json, "\"bookmarks\":[{\"id\":\"");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "\"bookmarks\":[{\"id\":\"%63[^\"]", id), 1);
    pawl_text_free(f.pawl, json);
    assert_ok(pawl_instance_resume(f.pawl, outcome.instance_id, "none", NULL, &outcome, &f.err),
              &f.err);
    assert_int_equal(outcome.status, PAWL_INSTANCE_SUSPENDED);
    assert_ok(pawl_instance_resume(f.pawl, outcome.instance_id, id, "{\"a\":1}", &outcome, &f.err),
              &f.err);
    assert_int_equal(outcome.status, PAWL_INSTANCE_FINISHED);
    assert_string_equal(f.lines, "two\n");
    pawl_close(f.pawl);
}

static void instances_are_cancelled_and_deleted(void **state)
{
    struct pawl_instance_outcome outcome;
    char *json = NULL;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", RIG_EVENT("e", "Go")));
    outcome = start(&f, "d");
    assert_ok(pawl_instance_cancel(f.pawl, outcome.instance_id, &f.err), &f.err);
    assert_ok(pawl_instance_wait(f.pawl, outcome.instance_id, 0, &outcome, &f.err), &f.err);
    assert_int_equal(outcome.status, PAWL_INSTANCE_CANCELLED);
    assert_ok(pawl_instance_journal(f.pawl, outcome.instance_id, PAWL_JOURNAL_LOG, &json, &f.err),
              &f.err);
    assert_non_null(strstr(json, "\"eventName\":\"Started\""));
    pawl_text_free(f.pawl, json);
    assert_ok(
        pawl_instance_journal(f.pawl, outcome.instance_id, PAWL_JOURNAL_ACTIVITIES, &json, &f.err),
        &f.err);
    assert_non_null(strstr(json, "\"activityId\":\"e\""));
    pawl_text_free(f.pawl, json);
    assert_ok(pawl_instance_delete(f.pawl, outcome.instance_id, &f.err), &f.err);
    assert_code(pawl_instance_delete(f.pawl, outcome.instance_id, &f.err), PAWL_ENOTFOUND);
    assert_code(pawl_instance_cancel(f.pawl, outcome.instance_id, &f.err), PAWL_ENOTFOUND);
    assert_code(pawl_instance_show(f.pawl, outcome.instance_id, &json, &f.err), PAWL_ENOTFOUND);
    assert_code(pawl_instance_wait(f.pawl, outcome.instance_id, 0, NULL, &f.err), PAWL_ENOTFOUND);
    pawl_close(f.pawl);
}

static void waiting_for_an_end_that_does_not_come_times_out(void **state)
{
    struct pawl_instance_outcome outcome;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", RIG_EVENT("e", "Go")));
    outcome = start(&f, "d");
    assert_code(pawl_instance_wait(f.pawl, outcome.instance_id, 2, NULL, &f.err), PAWL_ETIMEDOUT);
    assert_non_null(strstr(f.err.msg, "still Suspended"));
    pawl_close(f.pawl);
}

static void waiting_does_the_work_that_is_due(void **state)
{
    struct pawl_instance_outcome outcome;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", "{'id':'w','type':'Elsa.Delay','timeSpan':" RIG_INPUT(
                                    "TimeSpan", "Literal", "'00:00:00.02'") "}"));
    outcome = start(&f, "d");
    assert_int_equal(outcome.status, PAWL_INSTANCE_SUSPENDED);
    assert_ok(pawl_instance_wait(f.pawl, outcome.instance_id, 600000, &outcome, &f.err), &f.err);
    assert_int_equal(outcome.status, PAWL_INSTANCE_FINISHED);
    pawl_close(f.pawl);
}

/* ---- lists --------------------------------------------------------------------------------- */

struct page {
    char ids[16][PAWL_INSTANCE_ID_SIZE];
    int count;
    int stop_after;
};

static int on_row(void *ctx, const struct pawl_instance_info *instance)
{
    struct page *page = ctx;

    assert_true(page->count < 16);
    snprintf(page->ids[page->count++], PAWL_INSTANCE_ID_SIZE, "%s", instance->id);
    return page->count == page->stop_after;
}

static void lists_are_filtered_and_paged(void **state)
{
    const enum pawl_instance_status over[] = {PAWL_INSTANCE_FINISHED, PAWL_INSTANCE_FAULTED};
    struct pawl_instance_filter filter = {.definition_id = "w", .limit = 3};
    struct pawl_list_end end = {0};
    struct page page = {0};
    struct fixture f;
    char *next;

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("w", RIG_EVENT("e", "Go")));
    publish(&f, DEFINITION("q", RIG_WRITE("a", "one")));
    for (int i = 0; i < 5; i++)
        (void)start(&f, "w");
    (void)start(&f, "q");
    assert_ok(pawl_instances_list(f.pawl, NULL, NULL, NULL, &end, &f.err), &f.err);
    assert_int_equal(end.total, 6);
    assert_ok(pawl_instances_list(f.pawl, &filter, on_row, &page, &end, &f.err), &f.err);
    assert_int_equal(end.total, 5);
    assert_int_equal(page.count, 3);
    filter.after = next = end.next;
    assert_ok(pawl_instances_list(f.pawl, &filter, on_row, &page, &end, &f.err), &f.err);
    assert_int_equal(page.count, 5);
    assert_null(end.next);
    pawl_text_free(f.pawl, next);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(page.ids[i], page.ids[j]);
    page = (struct page){.stop_after = 1};
    filter = (struct pawl_instance_filter){.statuses = over, .status_count = 2};
    assert_ok(pawl_instances_list(f.pawl, &filter, on_row, &page, &end, &f.err), &f.err);
    assert_int_equal(end.total, 1);
    assert_int_equal(page.count, 1);
    page = (struct page){.stop_after = 2};
    assert_ok(pawl_instances_list(f.pawl, NULL, on_row, &page, NULL, &f.err), &f.err);
    assert_int_equal(page.count, 2);
    pawl_close(f.pawl);
}

/* ---- tasks --------------------------------------------------------------------------------- */

static void a_task_is_told_and_its_report_goes_on(void **state)
{
    struct pawl_send_outcome sent;
    struct pawl_instance_outcome outcome;
    char expected[512];
    struct fixture f;

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", TASK("t", "paint") "," RIG_WRITE("b", "painted")));
    outcome = start(&f, "d");
    snprintf(expected, sizeof expected, "%s paint {\"n\":1}", outcome.instance_id);
    assert_string_equal(f.task, expected);
    assert_code(pawl_task_complete(f.pawl, "another", NULL, NULL, &f.err), PAWL_ENOTFOUND);
    assert_ok(pawl_task_complete(f.pawl, f.task_id, "{\"colour\":\"red\"}", &sent, &f.err), &f.err);
    assert_int_equal(sent.resumed, 1);
    /* Again: nothing happens, and it returns what the first did. */
    assert_ok(pawl_task_complete(f.pawl, f.task_id, "{\"colour\":\"red\"}", &sent, &f.err), &f.err);
    assert_code(pawl_task_complete(f.pawl, f.task_id, NULL, NULL, &f.err), PAWL_ECONFLICT);
    assert_int_equal(sent.resumed, 1);
    assert_int_equal(sent.parked, 0);
    drain(&f);
    assert_string_equal(f.lines, "painted\n");
    assert_int_equal(f.task_count, 1);
    pawl_close(f.pawl);
}

#define assert_refused(call)                                                                       \
    do {                                                                                           \
        f.err = (struct pawl_error)PAWL_ERROR_INIT;                                                \
        assert_code((call), PAWL_EINVAL);                                                          \
        assert_int_equal(f.err.code, PAWL_EINVAL);                                                 \
        assert_true(strlen(f.err.msg) > 10);                                                       \
    } while (0)

/* ---- clusters ------------------------------------------------------------------------------- */

static void a_distributed_runtime_does_the_same_under_locks(void **state)
{
    const struct pawl_distributed_options distributed = {
        .acquire_timeout_ms = 100, .retry_delay_ms = 1, .retry_count = -1, .partitions = 4};
    struct pawl_start_options start = {.definition_id = "d", .instance_id = "i"};
    struct pawl_options options = {0};
    struct fixture f;

    (void)state;
    pawl_use_distributed_runtime(&options, NULL);
    assert_non_null(options.distributed);
    pawl_use_distributed_runtime(&options, &distributed);
    assert_ptr_equal(options.distributed, &distributed);
    pawl_use_distributed_runtime(NULL, NULL);
    open_with(&f, options);
    publish(&f, DEFINITION("d", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "went")));
    assert_ok(pawl_instance_start(f.pawl, &start, NULL, &f.err), &f.err);
    assert_ok(pawl_event_send(f.pawl, "Go", NULL, NULL, NULL, &f.err), &f.err);
    drain(&f);
    assert_string_equal(f.lines, "went\n");
    pawl_close(f.pawl);
}

static void locks_that_do_not_reach_other_processes_are_refused_unless_allowed(void **state)
{
    struct pawl_distributed_options distributed = {.lock = "memory:"};
    struct pawl_options options = {.distributed = &distributed};
    char path[] = "/tmp/pawl-embed-XXXXXX", store[64], wal[64];
    struct fixture f = {.err = PAWL_ERROR_INIT};
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    (void)close(fd);
    snprintf(store, sizeof store, "sqlite:%s", path);
    options.store = store;
    assert_code(pawl_open(&options, &f.pawl, &f.err), PAWL_EINVAL);
    assert_non_null(
        strstr(f.err.msg, "locks of kind 'memory' are not visible to the other processes"));
    distributed.allow_local = 1;
    open_with(&f, options);
    pawl_close(f.pawl);
    distributed.partitions = 2000;
    assert_code(pawl_open(&options, &f.pawl, &f.err), PAWL_EINVAL);
    assert_non_null(strstr(f.err.msg, "queue.partitions"));
    (void)unlink(path);
    snprintf(wal, sizeof wal, "%s-wal", path);
    (void)unlink(wal);
    snprintf(wal, sizeof wal, "%s-shm", path);
    (void)unlink(wal);
}

static void misuse_is_invalid_with_a_message(void **state)
{
    const struct pawl_start_options nothing = {0};
    const struct pawl_start_options bad_input = {.definition_id = "d", .input = "[1]"};
    const struct pawl_instance_filter many = {.limit = 10001}, none = {.status_count = 1};
    struct pawl_instance_outcome waits;
    char id[200], *json = NULL;
    struct fixture f;

    (void)state;
    open_fixture(&f);
    memset(id, 'x', sizeof id - 1);
    id[sizeof id - 1] = '\0';
    assert_refused(pawl_open(NULL, NULL, &f.err));
    assert_refused(pawl_work(NULL, 0, NULL, &f.err));
    assert_refused(pawl_drain(NULL, 0, NULL, &f.err));
    assert_refused(pawl_work_wait(f.pawl, NULL, 0, &f.err));
    assert_refused(pawl_definition_publish(f.pawl, NULL, NULL, NULL, NULL, &f.err));
    assert_refused(pawl_definition_publish(f.pawl, "[]", NULL, NULL, NULL, &f.err));
    assert_refused(pawl_instance_start(f.pawl, NULL, NULL, &f.err));
    assert_refused(pawl_instance_start(f.pawl, &nothing, NULL, &f.err));
    assert_refused(pawl_instance_start(f.pawl, &bad_input, NULL, &f.err));
    assert_refused(pawl_instance_start(NULL, &bad_input, NULL, &f.err));
    assert_refused(pawl_instance_resume(f.pawl, NULL, NULL, NULL, NULL, &f.err));
    assert_refused(pawl_instance_cancel(f.pawl, "", &f.err));
    assert_refused(pawl_instance_delete(f.pawl, id, &f.err));
    assert_refused(pawl_instance_wait(f.pawl, NULL, 0, NULL, &f.err));
    assert_refused(pawl_instance_show(f.pawl, "i", NULL, &f.err));
    publish(&f, DEFINITION("waits", RIG_EVENT("e", "Go")));
    waits = start(&f, "waits");
    assert_refused(pawl_instance_variables(f.pawl, waits.instance_id, NULL, &f.err));
    assert_refused(pawl_instance_export(f.pawl, waits.instance_id, NULL, &f.err));
    assert_refused(pawl_instance_exists(f.pawl, waits.instance_id, NULL, &f.err));
    assert_refused(
        pawl_instance_journal(f.pawl, "i", (enum pawl_instance_journal_kind)7, &json, &f.err));
    assert_refused(pawl_instances_list(f.pawl, &many, on_row, NULL, NULL, &f.err));
    assert_refused(pawl_instances_list(f.pawl, &none, on_row, NULL, NULL, &f.err));
    assert_refused(pawl_event_send(f.pawl, NULL, NULL, NULL, NULL, &f.err));
    assert_refused(pawl_stimulus_send(f.pawl, "", NULL, NULL, NULL, NULL, &f.err));
    assert_refused(pawl_stimulus_send(f.pawl, "n", NULL, "3", NULL, NULL, &f.err));
    assert_refused(pawl_task_complete(f.pawl, NULL, NULL, NULL, &f.err));
    assert_code(pawl_event_send(f.pawl, "n", "{", NULL, NULL, &f.err), PAWL_EPARSE);
    /* Nobody need ask for a message. */
    assert_code(pawl_instance_cancel(f.pawl, NULL, NULL), PAWL_EINVAL);
    pawl_text_free(f.pawl, NULL);
    pawl_text_free(NULL, NULL);
    pawl_close(NULL);
    pawl_close(f.pawl);
}

static int execute_nothing(void *ctx, struct pawl_context *context)
{
    (void)ctx;
    (void)context;
    return PAWL_OK;
}

static void text_that_is_not_utf8_is_refused_by_name(void **state)
{
    static const char bad[] = "caf\xe9";
    const struct pawl_start_options starts[] = {
        {.definition_id = bad},
        {.definition_id = "d", .instance_id = bad},
        {.definition_id = "d", .correlation_id = bad},
        {.definition_id = "d", .name = bad},
        {.definition_id = "d", .idempotency_key = bad},
        {.definition_id = "d", .input = "{\"a\": \"caf\xe9\"}"},
    };
    static const char *const of_starts[] = {"definition's id", "instance's id",   "correlation id",
                                            "instance's name", "idempotency key", "input"};
    const struct pawl_send_options sends[] = {
        {.correlation_id = bad}, {.instance_id = bad}, {.idempotency_key = bad}};
    const struct pawl_instance_filter filters[] = {{.definition_id = bad},
                                                   {.correlation_id = bad},
                                                   {.parent_id = bad},
                                                   {.name = bad},
                                                   {.after = bad}};
    const char *const settings[] = {"node.id=caf\xe9"};
    const struct pawl_options options[] = {
        {.store = bad},
        {.store = "memory:", .node_id = bad},
        {.config_file = bad},
        {.store = "memory:", .settings = settings, .setting_count = 1},
    };
    struct fixture f;
    struct pawl *none = NULL;

    (void)state;
    open_fixture(&f);
#define REFUSED(call, what)                                                                        \
    assert_code(call, PAWL_EINVAL);                                                                \
    assert_non_null(strstr(f.err.msg, what));                                                      \
    assert_non_null(strstr(f.err.msg, "not UTF-8"))
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        REFUSED(pawl_instance_start(f.pawl, &starts[i], NULL, &f.err), of_starts[i]);
    }
    for (size_t i = 0; i < sizeof sends / sizeof sends[0]; i++) {
        REFUSED(pawl_event_send(f.pawl, "e", NULL, &sends[i], NULL, &f.err), "");
        REFUSED(pawl_stimulus_send(f.pawl, "e", NULL, NULL, &sends[i], NULL, &f.err), "");
    }
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        REFUSED(pawl_instances_list(f.pawl, &filters[i], NULL, NULL, NULL, &f.err), "filter");
    }
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        REFUSED(pawl_open(&options[i], &none, &f.err), "option");
    }
    REFUSED(pawl_definition_publish(f.pawl, bad, NULL, NULL, NULL, &f.err), "definition");
    REFUSED(pawl_event_send(f.pawl, bad, NULL, NULL, NULL, &f.err), "event's name");
    REFUSED(pawl_event_send(f.pawl, "e", bad, NULL, NULL, &f.err), "payload");
    REFUSED(pawl_task_complete(f.pawl, bad, NULL, NULL, &f.err), "task's id");
    REFUSED(pawl_task_complete(f.pawl, "t", bad, NULL, &f.err), "result");
    REFUSED(pawl_instance_cancel(f.pawl, bad, &f.err), "instance's id");
    REFUSED(pawl_instance_resume(f.pawl, "i", bad, NULL, NULL, &f.err), "bookmark's id");
#undef REFUSED
    pawl_close(f.pawl);
}

static void what_was_opened_before_a_fork_is_refused_after_it(void **state)
{
    struct fixture f;
    int status = 0;
    pid_t child;

    (void)state;
    open_fixture(&f);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int refused = pawl_event_send(f.pawl, "e", NULL, NULL, NULL, &f.err) == PAWL_EINVAL &&
                      strstr(f.err.msg, "fork") != NULL;

        pawl_close(f.pawl); /* does nothing: it is the parent's */
        _exit(refused ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_ok(pawl_event_send(f.pawl, "e", NULL, NULL, NULL, &f.err), &f.err);
    pawl_close(f.pawl);
}

static void options_that_do_not_hang_together_are_refused(void **state)
{
    static const struct pawl_activity_input bad_input[] = {{"A", "Nothing", NULL, NULL}},
                                            bad_default[] = {{"A", NULL, NULL, "{"}},
                                            unnamed[] = {{NULL, NULL, NULL, NULL}};
    static const char *const settings[] = {"script.fuel=0"}, *const unknown[] = {"sky=blue"};
    const struct pawl_activity_type types[] = {
        {.type = NULL, .execute = execute_nothing},
        {.type = "Two Words", .execute = execute_nothing},
        {.type = "A..B", .execute = execute_nothing},
        {.type = "A.B"},
        {.type = "A.B", .execute = execute_nothing, .input_count = 1},
        {.type = "A.B", .execute = execute_nothing, .inputs = bad_input, .input_count = 1},
        {.type = "A.B", .execute = execute_nothing, .inputs = bad_default, .input_count = 1},
        {.type = "A.B", .execute = execute_nothing, .inputs = unnamed, .input_count = 1},
    };
    const struct pawl_activity_type taken = {.type = "Elsa.WriteLine", .execute = execute_nothing};
    struct pawl_options options[] = {
        {.store = "ftp://x"},
        {.store = "memory:", .workers = 100000},
        {.store = "memory:", .lease_ms = 1},
        {.store = "memory:", .lease_ms = -1},
        {.store = "memory:", .settings = settings, .setting_count = 1},
        {.store = "memory:", .settings = unknown, .setting_count = 1},
        {.store = "memory:", .setting_count = 1},
        {.store = "memory:", .activity_count = 1},
    };
    struct pawl_options with = {.store = "memory:", .activity_count = 1};
    struct pawl *pawl = NULL;
    struct fixture f;

    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        assert_refused(pawl_open(&options[i], &pawl, &f.err));
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        with.activities = &types[i];
        assert_refused(pawl_open(&with, &pawl, &f.err));
    }
    with.activities = &taken;
    assert_code(pawl_open(&with, &pawl, &f.err), PAWL_EEXISTS);
    assert_null(pawl);
}

/* ---- two of them --------------------------------------------------------------------------- */

/* What it shows has this in it. */
static void shows(struct fixture *f, int status, char **json, const char *part)
{
    assert_ok(status, &f->err);
    if (!strstr(*json, part))
        fail_msg("%s is not in %s", part, *json);
    pawl_text_free(f->pawl, *json);
    *json = NULL;
}

static int check_node(void *ctx, const struct pawl_node_info *node)
{
    assert_string_equal(node->state, ctx);
    assert_true(node->incarnation > 0);
    assert_true(node->lease_left_us > 0);
    assert_string_equal(node->paused_by, node->paused_us > 0 ? "alice" : "");
    assert_string_equal(node->reason, node->paused_us > 0 ? "upgrade" : "");
    return 0;
}

static void assert_node(struct fixture *f, const char *state)
{
    struct pawl_list_end end;
    char expected[16];

    (void)snprintf(expected, sizeof expected, "%s", state);
    assert_ok(pawl_nodes_list(f->pawl, NULL, check_node, expected, &end, &f->err), &f->err);
    assert_int_equal(end.total, 1);
}

/* As alice: the same runtime. */
static void pause_all(struct fixture *f)
{
    struct pawl *alice = NULL;

    assert_ok(pawl_open_for(f->pawl, &(struct pawl_caller){.actor = "alice"}, &alice, &f->err),
              &f->err);
    assert_ok(pawl_node_pause(alice, NULL, "upgrade", &f->err), &f->err);
    pawl_close(alice);
}

static void operators_look_at_nodes_and_pause_them(void **state)
{
    struct pawl_start_options start = {.definition_id = "d"};
    struct pawl_instance_outcome outcome;
    struct fixture f;
    uint64_t findings = 7;
    char *json = NULL, path[64];

    (void)state;
    open_fixture(&f);
    assert_node(&f, "alive");
    shows(&f, pawl_overview(f.pawl, 0, &json, &f.err), &json, "\"Suspended\":0");
    shows(&f, pawl_cluster_status(f.pawl, &json, &f.err), &json, "\"isAcceptingNewWork\":true");
    shows(&f, pawl_store_info(f.pawl, &json, &f.err), &json, "\"backend\":\"memory\"");
    assert_ok(pawl_store_check(f.pawl, NULL, NULL, &findings, &f.err), &f.err);
    assert_int_equal(findings, 0);
    assert_int_equal(pawl_node_pause(f.pawl, "nobody", NULL, &f.err), PAWL_ENOTFOUND);
    assert_int_equal(pawl_node_unpause(f.pawl, NULL, &f.err), PAWL_ENOTFOUND);
    pause_all(&f);
    shows(&f, pawl_cluster_status(f.pawl, &json, &f.err), &json,
          "\"pauseReasonText\":\"upgrade\",\"pauseRequestedBy\":\"alice\"");
    assert_node(&f, "paused");
    assert_int_equal(pawl_instance_start(f.pawl, &start, &outcome, &f.err), PAWL_EUNAVAILABLE);
    assert_ok(pawl_node_unpause(f.pawl, NULL, &f.err), &f.err);
    assert_int_equal(pawl_store_backup(f.pawl, "", &f.err), PAWL_EINVAL);
    snprintf(path, sizeof path, "/tmp/pawl-embed-%d.backup", (int)getpid());
    assert_ok(pawl_store_backup(f.pawl, path, &f.err), &f.err);
    assert_int_equal(unlink(path), 0);
    pawl_close(f.pawl);
}

static void draining_a_paused_node_says_that_work_was_left(void **state)
{
    const struct pawl_start_options detached = {.definition_id = "d", .detached = 1};
    struct pawl_work_done done = {.count = 7};
    struct fixture f;
    int status = PAWL_EUNAVAILABLE;

    (void)state;
    open_fixture(&f);
    publish(&f, DEFINITION("d", RIG_WRITE("a", "one")));
    pause_all(&f);
    drain(&f); /* nothing is due: nothing is left */
    assert_ok(pawl_instance_start(f.pawl, &detached, NULL, &f.err), &f.err);
    assert_code(pawl_drain(f.pawl, 60000, &done, &f.err), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(f.err.msg, "alice"));
    assert_int_equal(done.count, 7);
    assert_string_equal(f.lines, "");
    assert_ok(pawl_node_unpause(f.pawl, NULL, &f.err), &f.err);
    /* A node notices that within a second. */
    for (int i = 0; i < 60000 && status == PAWL_EUNAVAILABLE; i++) {
        status = pawl_drain(f.pawl, 60000, &done, &f.err);
        (void)usleep(1000);
    }
    assert_ok(status, &f.err);
    assert_string_equal(f.lines, "one\n");
    pawl_close(f.pawl);
}

static void two_in_one_process_do_not_meet(void **state)
{
    struct pawl_send_outcome sent;
    struct pawl_instance_outcome outcome;
    struct pawl_list_end end;
    struct fixture a, b;

    (void)state;
    open_fixture(&a);
    open_fixture(&b);
    publish(&a, DEFINITION("d", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "a")));
    outcome = start(&a, "d");
    assert_code(pawl_instance_start(b.pawl, &(struct pawl_start_options){.definition_id = "d"},
                                    NULL, &b.err),
                PAWL_ENOTFOUND);
    assert_ok(pawl_event_send(b.pawl, "Go", NULL, NULL, &sent, &b.err), &b.err);
    assert_int_equal(sent.parked, 1);
    drain(&b);
    assert_ok(pawl_instances_list(b.pawl, NULL, NULL, NULL, &end, &b.err), &b.err);
    assert_int_equal(end.total, 0);
    assert_string_equal(a.lines, "");
    pawl_close(b.pawl);
    assert_state_has(&a, outcome.instance_id, "'subStatus':'Suspended'");
    pawl_close(a.pawl);
}

/* ---- little memory ------------------------------------------------------------------------- */

static int whole_life(struct test_allocator *alloc, void *arg)
{
    static const struct pawl_activity_input inputs[] = {{"A", "Int64", NULL, "1"}};
    const struct pawl_activity_type type = {
        .type = "Test.Nothing", .inputs = inputs, .input_count = 1, .execute = execute_nothing};
    struct pawl_options options = {.store = "memory:",
                                   .node_id = "n",
                                   .timeout_ms = 1000,
                                   .activities = &type,
                                   .activity_count = 1};
    const struct pawl_start_options start_options = {.definition_id = "d", .input = "{\"a\":1}"};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl *pawl = NULL;
    struct test_clock *clock;
    char *json = NULL;
    int status;

    (void)arg;
    /* Threads use the allocator too: those of the runtime, which rest while nothing is asked. */
    if (test_clock_open(&alloc->base, WALL, &clock) != PAWL_OK)
        return PAWL_ENOMEM;
    options.env = test_clock_env(clock);
    status = pawl_open(&options, &pawl, &err);
    if (status == PAWL_OK)
        status = try_publish(pawl, DEFINITION("d", "{'id':'n','type':'Test.Nothing'}"), &err);
    if (status == PAWL_OK)
        status = pawl_instance_start(pawl, &start_options, NULL, &err);
    if (status == PAWL_EUNKNOWN)
        status = PAWL_ENOMEM; /* it has begun: then "nothing happened" would not be true */
    if (status == PAWL_OK)
        status = pawl_drain(pawl, 1000, NULL, &err);
    if (status == PAWL_OK)
        status = pawl_instances_list(pawl, NULL, on_row, &(struct page){0}, NULL, &err);
    if (status == PAWL_OK)
        status =
            pawl_instance_show(pawl, "none", &json, &err) == PAWL_ENOTFOUND ? PAWL_OK : PAWL_ENOMEM;
    if (status != PAWL_OK)
        assert_int_not_equal(err.code, PAWL_OK);
    pawl_close(pawl);
    test_clock_close(clock);
    return status;
}

static void a_life_survives_the_lack_of_memory_at_any_point(void **state)
{
    (void)state;
    test_sweep_allocations(whole_life, NULL, 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instance_runs_waits_and_finishes_by_an_event),
        cmocka_unit_test(publishing_tells_problems_and_refuses_what_is_invalid),
        cmocka_unit_test(a_definition_is_saved_published_reverted_and_deleted),
        cmocka_unit_test(a_negative_version_is_none),
        cmocka_unit_test(a_version_is_named_the_same_way_in_every_call),
        cmocka_unit_test(a_key_that_was_used_is_no_error),
        cmocka_unit_test(starting_twice_with_a_key_answers_the_first),
        cmocka_unit_test(a_detached_start_runs_when_work_is_done),
        cmocka_unit_test(waiting_for_work_ends_when_some_is_due),
        cmocka_unit_test(bookmarks_are_resumed_by_id),
        cmocka_unit_test(instances_are_cancelled_and_deleted),
        cmocka_unit_test(waiting_for_an_end_that_does_not_come_times_out),
        cmocka_unit_test(waiting_does_the_work_that_is_due),
        cmocka_unit_test(lists_are_filtered_and_paged),
        cmocka_unit_test(a_task_is_told_and_its_report_goes_on),
        cmocka_unit_test(a_distributed_runtime_does_the_same_under_locks),
        cmocka_unit_test(locks_that_do_not_reach_other_processes_are_refused_unless_allowed),
        cmocka_unit_test(misuse_is_invalid_with_a_message),
        cmocka_unit_test(text_that_is_not_utf8_is_refused_by_name),
        cmocka_unit_test(what_was_opened_before_a_fork_is_refused_after_it),
        cmocka_unit_test(options_that_do_not_hang_together_are_refused),
        cmocka_unit_test(operators_look_at_nodes_and_pause_them),
        cmocka_unit_test(draining_a_paused_node_says_that_work_was_left),
        cmocka_unit_test(two_in_one_process_do_not_meet),
        cmocka_unit_test(a_life_survives_the_lack_of_memory_at_any_point),
    };

    return cmocka_run_group_tests_name("embed/embed", tests, NULL, NULL);
}
