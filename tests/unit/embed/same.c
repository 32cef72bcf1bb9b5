/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C API and the command line are the same thing: of each family, what a call returns and what
 * the command prints with --json on the same store.
 */
#include "base/arena.h"
#include "base/json/json.h"
#include "base/time/datetime.h"
#include "cli/command/command.h"
#include "embed/fixture.h"

#include <dirent.h>
#include <unistd.h>

#define WORDS_MAX 12
#define DELAY                                                                                      \
    "{'id':'d','type':'Elsa.Delay','timeSpan':" RIG_INPUT("TimeSpan", "Literal", "'01:00:00'") "}"

struct same {
    struct fixture f;
    struct pawl_env *env;
    struct pawl_arena arena;
    char folder[64];
    char store[128];
    char *last; /* what a command printed */
    /* While a list is told: what the command printed of it, and how far it is. */
    struct pawl_json rows;
    uint32_t at;
};

/* ---- the command line ----------------------------------------------------------------------- */

/* Runs "pawl WORDS"; its standard output is JSON. */
static struct pawl_json printed(struct same *s, const char *const *words)
{
    char *argv[WORDS_MAX + 4] = {strdup("pawl")}, *texts[2] = {NULL, NULL};
    FILE *streams[2];
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json json;
    size_t sizes[2];
    int argc = 1;

    for (; words[argc - 1]; argc++)
        argv[argc] = strdup(words[argc - 1]);
    for (int i = 0; i < 2; i++) {
        streams[i] = open_memstream(&texts[i], &sizes[i]);
        assert_non_null(streams[i]);
    }
    if (pawl__cli_main(s->env, streams[0], streams[1], argc, argv) != 0) {
        (void)fflush(streams[1]);
        fail_msg("pawl %s: %s", words[0], texts[1]);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(fclose(streams[i]), 0);
    while (argc > 0)
        free(argv[--argc]);
    free(texts[1]);
    free(s->last);
    s->last = texts[0];
    assert_ok(pawl__json_parse(&s->arena, pawl__str(s->last), NULL, &json, NULL, &err), &err);
    return json;
}

#define PRINTED(s, ...) printed(s, (const char *const[]){__VA_ARGS__, NULL})

/* ---- comparing ------------------------------------------------------------------------------ */

/* JSON on one line, without what changes from one moment to the next. */
static void write_still(struct pawl_buf *out, const struct pawl_json *json)
{
    static const char *const moving[] = {
        "\"now\":", "\"countedAt\":", "\"leaseEndsAt\":", "\"leaseRemainingMs\":"};
    char *text;

    pawl__json_write(out, json, PAWL_JSON_ESCAPE_MINIMAL);
    text = (char *)(uintptr_t)pawl__buf_cstr(out);
    for (size_t i = 0; i < sizeof moving / sizeof moving[0]; i++) {
        for (char *at = text; (at = strstr(at, moving[i])) != NULL;) {
            char *value = at + strlen(moving[i]), *end = value + strcspn(value, ",}");

            memmove(value, end, strlen(end) + 1);
            at = value;
        }
    }
}

/* The text of a call, which is freed, says what the command printed. */
static void assert_same(struct same *s, char *text, struct pawl_json shown)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json returned;
    struct pawl_buf a, b;

    assert_ok(pawl__json_parse(&s->arena, pawl__str(text), NULL, &returned, NULL, &err), &err);
    pawl__buf_init(&a, s->arena.alloc, (size_t)1 << 20);
    pawl__buf_init(&b, s->arena.alloc, (size_t)1 << 20);
    write_still(&a, &returned);
    write_still(&b, &shown);
    assert_true(strlen(pawl__buf_cstr(&a)) > 2);
    assert_string_equal(pawl__buf_cstr(&a), pawl__buf_cstr(&b));
    pawl__buf_release(&a);
    pawl__buf_release(&b);
    pawl_text_free(s->f.pawl, text);
}

static const struct pawl_json *next_row(struct same *s)
{
    assert_true(s->at < pawl__json_len(&s->rows));
    return pawl__json_at(&s->rows, s->at++);
}

/* "" is a member that is not there. */
static void assert_text(const struct pawl_json *row, const char *key, const char *text)
{
    struct pawl_str shown = pawl__json_str(pawl__json_get_text(row, key));

    if (!pawl__str_is(shown, text))
        fail_msg("%s is '%s' for programs, '%.*s' for people", key, text, PAWL_STR_ARG(shown));
}

static void assert_int(const struct pawl_json *row, const char *key, int64_t value)
{
    int64_t shown = -1;

    if (!pawl__json_to_int(pawl__json_get_text(row, key), &shown) || shown != value)
        fail_msg("%s is %lld for programs, %lld for people", key, (long long)value,
                 (long long)shown);
}

static void assert_bool(const struct pawl_json *row, const char *key, int value)
{
    if (pawl__json_true(pawl__json_get_text(row, key)) != (value != 0))
        fail_msg("%s is %d for programs and not for people", key, value);
}

/* To the millisecond: some views are written so. 0 is a member that is not there. */
static void assert_time(const struct pawl_json *row, const char *key, int64_t us)
{
    struct pawl_str text = pawl__json_str(pawl__json_get_text(row, key));
    struct pawl_datetime at;
    int64_t ns = 0;

    if (text.len > 0) {
        assert_int_equal(pawl__datetime_parse(text, &at, NULL), PAWL_OK);
        assert_int_equal(pawl__datetime_to_unix_ns(at, &ns, NULL), PAWL_OK);
    }
    if (ns / 1000000 != us / 1000)
        fail_msg("%s is %lld for programs, '%.*s' for people", key, (long long)us,
                 PAWL_STR_ARG(text));
}

/* Begins a list; end_list() asserts that the call told all of it. */
#define BEGIN_LIST(s, ...) ((s)->rows = PRINTED(s, __VA_ARGS__), (s)->at = 0)

static void end_list(struct same *s)
{
    assert_true(s->at > 0);
    assert_int_equal(s->at, pawl__json_len(&s->rows));
}

/* ---- families ------------------------------------------------------------------------------- */

static int on_definition(void *ctx, const struct pawl_definition_info *info)
{
    const struct pawl_json *row = next_row(ctx);

    assert_text(row, "id", info->id);
    assert_text(row, "definitionId", info->definition_id);
    assert_text(row, "name", info->name);
    assert_int(row, "version", info->version);
    assert_bool(row, "isLatest", info->is_latest);
    assert_bool(row, "isPublished", info->is_published);
    assert_bool(row, "isReadonly", info->is_readonly);
    assert_time(row, "createdAt", info->created_us);
    return 0;
}

static void definitions_are_the_same(void **state)
{
    struct same *s = *state;
    struct fixture *f = &s->f;
    const struct pawl_definition_filter filter = {.versions = "AllVersions", .name = "Tasks"};
    char *json = NULL;

    assert_ok(pawl_definition_export(f->pawl, "task", 0, &json, &f->err), &f->err);
    assert_same(s, json, PRINTED(s, "definitions", "export", "task"));
    assert_ok(pawl_definition_find(f->pawl, "task", 0, &json, &f->err), &f->err);
    assert_same(s, json, PRINTED(s, "definitions", "show", "task"));
    BEGIN_LIST(s, "definitions", "versions", "task", "--json");
    assert_ok(pawl_definitions_list(f->pawl, &filter, on_definition, s, NULL, &f->err), &f->err);
    end_list(s);
}

static int on_instance(void *ctx, const struct pawl_instance_info *info)
{
    const struct pawl_json *row = next_row(ctx);

    assert_text(row, "id", info->id);
    assert_text(row, "definitionId", info->definition_id);
    assert_text(row, "definitionVersionId", info->version_id);
    assert_text(row, "correlationId", info->correlation_id);
    assert_text(row, "subStatus", pawl_instance_status_name(info->status));
    assert_int(row, "version", info->version);
    assert_int(row, "incidentCount", info->incident_count);
    assert_time(row, "createdAt", info->created_us);
    assert_time(row, "updatedAt", info->updated_us);
    assert_time(row, "finishedAt", info->finished_us);
    return 0;
}

static void instances_are_the_same(void **state)
{
    struct same *s = *state;
    struct fixture *f = &s->f;
    char *json = NULL;

    BEGIN_LIST(s, "ps", "--all", "--json");
    assert_ok(pawl_instances_list(f->pawl, NULL, on_instance, s, NULL, &f->err), &f->err);
    end_list(s);
    assert_ok(pawl_instance_show(f->pawl, "packing", &json, &f->err), &f->err);
    assert_same(s, json, PRINTED(s, "show", "packing", "--json"));
    assert_ok(pawl_instance_why(f->pawl, "packing", &json, &f->err), &f->err);
    assert_same(s, json, PRINTED(s, "why", "packing", "--json"));
    assert_ok(pawl_instance_export(f->pawl, "packing", &json, &f->err), &f->err);
    assert_same(s, json, PRINTED(s, "export", "packing"));
}

static void journals_are_the_same(void **state)
{
    struct same *s = *state;
    struct fixture *f = &s->f;
    char *json = NULL;

    assert_ok(pawl_instance_journal(f->pawl, "packing", PAWL_JOURNAL_LOG, &json, &f->err), &f->err);
    assert_same(s, json, PRINTED(s, "journal", "packing", "--json"));
    assert_ok(pawl_instance_journal(f->pawl, "packing", PAWL_JOURNAL_ACTIVITIES, &json, &f->err),
              &f->err);
    assert_same(s, json, PRINTED(s, "journal", "packing", "--json", "--records"));
}

static int on_waiting_task(void *ctx, const struct pawl_task_info *info)
{
    struct same *s = ctx;
    const struct pawl_json *row = next_row(s);
    struct pawl_json payload;

    assert_text(row, "taskId", info->id);
    assert_text(row, "taskName", info->name);
    assert_text(row, "instanceId", info->instance_id);
    assert_text(row, "definitionId", info->definition_id);
    assert_text(row, "activityId", info->activity_id);
    assert_text(row, "correlationId", info->correlation_id);
    assert_time(row, "since", info->since_us);
    assert_code(pawl__json_parse(&s->arena, pawl__str(info->payload), NULL, &payload, NULL, NULL),
                PAWL_OK);
    assert_true(pawl__json_equal(&payload, pawl__json_get_text(row, "payload")));
    return 0;
}

static void tasks_are_the_same(void **state)
{
    struct same *s = *state;

    BEGIN_LIST(s, "tasks", "--json");
    assert_ok(pawl_tasks_list(s->f.pawl, NULL, on_waiting_task, s, NULL, &s->f.err), &s->f.err);
    end_list(s);
}

static int on_timer(void *ctx, const struct pawl_timer_info *info)
{
    const struct pawl_json *row = next_row(ctx);

    assert_time(row, "dueAt", info->due_us);
    assert_bool(row, "isOverdue", info->is_overdue);
    assert_text(row, "instanceId", info->instance_id);
    assert_text(row, "bookmarkId", info->bookmark_id);
    assert_text(row, "definitionId", info->definition_id);
    assert_text(row, "activityType", info->activity_type);
    assert_text(row, "activityId", info->activity_id);
    assert_int(row, "attempts", info->attempts);
    return 0;
}

static void timers_are_the_same(void **state)
{
    struct same *s = *state;

    BEGIN_LIST(s, "timers", "--json");
    assert_ok(pawl_timers_list(s->f.pawl, NULL, on_timer, s, NULL, &s->f.err), &s->f.err);
    end_list(s);
}

static int on_letter(void *ctx, const struct pawl_letter_info *info)
{
    struct same *s = ctx;
    const struct pawl_json *row = next_row(s);

    assert_text(row, "id", info->id);
    assert_text(row, "kind", info->kind);
    assert_text(row, "reason", info->reason);
    assert_int(row, "deliveryAttempts", info->attempts);
    assert_bool(row, "canReplay", info->can_replay);
    assert_time(row, "originalCreatedAt", info->created_us);
    assert_time(row, "deadLetteredAt", info->dead_us);
    snprintf(s->f.task_id, sizeof s->f.task_id, "%s", info->id);
    return 0;
}

static void letters_are_the_same(void **state)
{
    struct same *s = *state;
    char *json = NULL;

    BEGIN_LIST(s, "deadletters", "--json");
    assert_ok(pawl_letters_list(s->f.pawl, NULL, on_letter, s, NULL, &s->f.err), &s->f.err);
    end_list(s);
    assert_ok(pawl_letter_show(s->f.pawl, s->f.task_id, &json, &s->f.err), &s->f.err);
    assert_same(s, json, PRINTED(s, "deadletters", "show", s->f.task_id));
}

static int on_node(void *ctx, const struct pawl_node_info *info)
{
    const struct pawl_json *row = next_row(ctx);

    assert_text(row, "id", info->id);
    assert_text(row, "state", info->state);
    assert_text(row, "host", info->host);
    assert_text(row, "version", info->version);
    assert_int(row, "incarnation", info->incarnation);
    assert_int(row, "pid", info->pid);
    assert_int(row, "runs", info->instance_count);
    assert_int(row, "work", info->work_count);
    return 0;
}

static void nodes_are_the_same(void **state)
{
    struct same *s = *state;

    BEGIN_LIST(s, "nodes", "--json");
    assert_ok(pawl_nodes_list(s->f.pawl, NULL, on_node, s, NULL, &s->f.err), &s->f.err);
    end_list(s);
}

static void statistics_are_the_same(void **state)
{
    struct same *s = *state;
    char *json = NULL;

    assert_ok(pawl_overview(s->f.pawl, 0, &json, &s->f.err), &s->f.err);
    assert_same(s, json, PRINTED(s, "top", "--once", "--json"));
    assert_ok(pawl_store_info(s->f.pawl, &json, &s->f.err), &s->f.err);
    assert_same(s, json, PRINTED(s, "store", "info", "--json"));
}

/* ---- the store ------------------------------------------------------------------------------ */

/* An event that nobody waits for becomes a letter when its time is over. */
static void lose_an_event(struct fixture *f)
{
    struct pawl_work_done work = {0, 0, 0};
    struct pawl_list_end end = {0, NULL};

    assert_ok(pawl_event_send(f->pawl, "Lost", NULL, NULL, NULL, &f->err), &f->err);
    while (end.total == 0) {
        assert_ok(pawl_work(f->pawl, 0, &work, &f->err), &f->err);
        (void)!pawl_work_wait(f->pawl, &work, 100, &f->err);
        assert_ok(pawl_letters_list(f->pawl, NULL, NULL, NULL, &end, &f->err), &f->err);
    }
}

static int set_up(void **state)
{
    static const char *const settings[] = {"stimulus.ttl=1s", "node.lease=600s"};
    static struct same s;
    struct fixture *f = &s.f;
    const struct pawl_start_options packing = {
        .definition_id = "task", .instance_id = "packing", .correlation_id = "order-1"};

    strcpy(s.folder, "/tmp/pawl-same-XXXXXX");
    assert_non_null(mkdtemp(s.folder));
    snprintf(s.store, sizeof s.store, "sqlite:%s/pawl.db", s.folder);
    open_with(f, (struct pawl_options){.store = s.store, .settings = settings, .setting_count = 2});
    assert_ok(pawl_system_env_open(&s.env, &f->err), &f->err);
    pawl__arena_init(&s.arena, &s.env->alloc, (size_t)64 << 20);
    publish(f, "{'definitionId':'task','name':'Tasks','root':" RIG_SEQUENCE(
                   "seq", TASK("pack", "Pack")) "}");
    publish(f, DEFINITION("wait", DELAY));
    assert_ok(pawl_instance_start(f->pawl, &packing, NULL, &f->err), &f->err);
    (void)start(f, "wait");
    drain(f);
    lose_an_event(f);
    /* Not --store: the commands that `pawl why` names would have that, too. */
    assert_int_equal(setenv("PAWL_STORE", s.store, 1), 0);
    *state = &s;
    return 0;
}

static int tear_down(void **state)
{
    struct same *s = *state;
    char path[512];
    const struct dirent *entry;
    DIR *folder;

    pawl_close(s->f.pawl);
    pawl__arena_release(&s->arena);
    free(s->last);
    pawl_system_env_close(s->env);
    folder = opendir(s->folder);
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", s->folder, entry->d_name);
        (void)unlink(path);
    }
    closedir(folder);
    (void)rmdir(s->folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions_are_the_same), cmocka_unit_test(instances_are_the_same),
        cmocka_unit_test(journals_are_the_same),    cmocka_unit_test(tasks_are_the_same),
        cmocka_unit_test(timers_are_the_same),      cmocka_unit_test(letters_are_the_same),
        cmocka_unit_test(nodes_are_the_same),       cmocka_unit_test(statistics_are_the_same),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
