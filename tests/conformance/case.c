/* SPDX-License-Identifier: Apache-2.0 */
/* Running a case: what it requires, its definitions, its start and its steps. */
#include "conformance/case.h"

#include "activities/activities.h"
#include "base/datetime.h"
#include "base/error.h"
#include "conformance/expect.h"
#include "engine/builder.h"
#include "expressions/expressions.h"
#include "os/file.h"

#include <stdio.h>

#define BYTES_MAX ((size_t)1 << 30)
/* 2026-01-02T03:04:05Z: the case's clock stands still but for waiting. */
#define START_TICKS INT64_C(639029342450000000)
/* Rounds of resumeAll: more bookmarks than that in one case is a loop. */
#define ROUNDS_MAX 1000

/* ---- what there is ----------------------------------------------------------------------- */

struct feature {
    const char *name;
    const char *needs; /* an expression type that must be registered; NULL: nothing */
    bool missing;
};

/* Cases that require anything else are not run. */
static const struct feature features[] = {
    {"background", NULL, true},
    {"bookmark-queue", NULL, false},
    {"child", NULL, false},
    {"commit-strategies", NULL, false},
    {"dotnet-text", NULL, true},
    {"event", NULL, false},
    {"js", "JavaScript", false},
    {"js-limits", "JavaScript", false},
    {"js-net-types", "JavaScript", false},
    {"liquid", "Liquid", false},
    {"needs-host-js", "JavaScript", false},
    {"publish", NULL, false},
    {"refresh", NULL, false},
    {"registry", NULL, false},
    {"reload", NULL, false},
    {"run-task", NULL, false},
    {"state-machine", NULL, false},
    {"timer", NULL, false},
    {"triggers", NULL, false},
    {"unknown-bookmark", NULL, false},
    {"wall-clock", NULL, false},
    {"workflow-as-activity", NULL, false},
};

static bool has_feature(const struct pawl_engine *engine, struct pawl_str name)
{
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        if (pawl__str_is(name, features[i].name))
            return !features[i].missing &&
                   (!features[i].needs ||
                    pawl__engine_expression(engine, pawl__str(features[i].needs)) != NULL);
    }
    return false;
}

static bool sends_requests(const struct pawl_json *steps)
{
    for (uint32_t i = 0; i < pawl__json_len(steps); i++) {
        if (pawl__json_get_text(pawl__json_at(steps, i), "http"))
            return true;
    }
    return false;
}

/*
 * Recorded cases that are not run although everything they need is there: their outcome is one
 * that Pawl decided to improve on (docs/compatibility.md).
 */
#define DECIDED "decided otherwise: "
static const struct {
    const char *id;
    const char *why;
} differences[] = {
    {"gen-logmode-a1-00658", DECIDED "ParallelForEach runs over Int32[] too"},
    {"gen-nested-a1-00714", DECIDED "ParallelForEach runs over Int32[] too"},
    {"gen-bookmarks-a1-00817", DECIDED "ParallelForEach runs over Int32[] too"},
    {"gen-bookmarks-a1-01278", DECIDED "ParallelForEach runs over Int32[] too"},
    {"mig-gen-bookmarks-a1-00817", DECIDED "ParallelForEach runs over Int32[] too"},
    {"mig-gen-bookmarks-a1-00817-p2", DECIDED "ParallelForEach runs over Int32[] too"},
};

static const char *difference(struct pawl_str id)
{
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
        if (pawl__str_is(id, differences[i].id))
            return differences[i].why;
    }
    return NULL;
}

const char *case_missing(const struct pawl_engine *engine, const struct pawl_json *json)
{
    const struct pawl_json *requires = pawl__json_get_text(json, "requires");

    if (sends_requests(pawl__json_get_text(json, "steps")))
        return "http";
    if (difference(pawl__json_str(pawl__json_get_text(json, "id"))))
        return difference(pawl__json_str(pawl__json_get_text(json, "id")));
    for (uint32_t i = 0; i < pawl__json_len(requires); i++) {
        struct pawl_str name = pawl__json_str(pawl__json_at(requires, i));

        if (!has_feature(engine, name))
            return name.ptr;
    }
    return NULL;
}

int conformance_engine(struct pawl_engine *engine, const struct pawl_allocator *alloc,
                       struct pawl_javascript *javascript)
{
    int status;

    pawl__engine_init(engine, alloc, (struct pawl_hash_seed){1, 2});
    status = pawl__activities_register(engine);
    if (status == PAWL_OK)
        status = pawl__expressions_register(engine);
    if (status == PAWL_OK && pawl__javascript_is_available())
        status = pawl__javascript_register(engine, javascript);
    if (status != PAWL_OK)
        pawl__engine_release(engine);
    return status;
}

/* ---- settings of scripts ----------------------------------------------------------------- */

static int answer_constant(void *ctx, struct pawl_arena *arena, const struct pawl_json *args,
                           struct pawl_json *out, struct pawl_error *err)
{
    (void)arena;
    (void)args;
    (void)err;
    *out = *(const struct pawl_json *)ctx;
    return PAWL_OK;
}

static uint32_t setting(const struct pawl_json *settings, const char *name)
{
    int64_t value = 0;

    (void)pawl__json_to_int(pawl__json_get_text(settings, name), &value);
    return (uint32_t)value;
}

/* *out is NULL when the case has no settings for scripts. */
static int open_javascript(const struct suite *suite, const struct pawl_json *json,
                           struct pawl_javascript **out)
{
    const struct pawl_json *host = pawl__json_get_text(json, "host");
    const struct pawl_json *limits = pawl__json_get_text(host, "javascript");
    const struct pawl_json *functions = pawl__json_get_text(host, "jsFunctions");
    struct pawl_javascript_options options = pawl__javascript_options_default;
    int status;

    *out = NULL;
    if (!limits && !functions)
        return PAWL_OK;
    options.time_ms_max = setting(limits, "executionTimeoutMs");
    options.memory_bytes_max = setting(limits, "memoryLimitBytes");
    /* The engine asks once for about 10,000 statements. */
    options.fuel_max = setting(limits, "maxStatements") / 10000 + 1;
    if (setting(limits, "maxStatements") == 0)
        options.fuel_max = UINT32_MAX;
    status = pawl__javascript_open(suite->env, &options, out, NULL);
    for (uint32_t i = 0; i < pawl__json_len(functions) && status == PAWL_OK; i++) {
        struct pawl_json_member *member = pawl__json_member(functions, i);

        status = pawl__javascript_add_function(
            *out, &(struct pawl_javascript_function){
                      .name = member->key.ptr, .call = answer_constant, .ctx = &member->value});
    }
    return status;
}

/* ---- files ------------------------------------------------------------------------------- */

static int read_json(const struct suite *suite, struct pawl_arena *arena, const char *folder,
                     struct pawl_str name, struct pawl_json *out, struct pawl_error *err)
{
    const struct pawl_json_limits limits = {BYTES_MAX, PAWL_JSON_DEPTH_MAX};
    struct pawl_buf text;
    const char *path =
        pawl__arena_printf(arena, "%s/%s%.*s", suite->folder, folder, PAWL_STR_ARG(name));
    int status;

    if (!path)
        return pawl__error_code(err, PAWL_ENOMEM);
    pawl__buf_init(&text, suite->alloc, BYTES_MAX);
    status = pawl__file_read(path, &text, err);
    if (status == PAWL_OK)
        status = pawl__json_parse(arena, pawl__buf_peek(&text), &limits, out, NULL, err);
    if (status == PAWL_EPARSE)
        (void)pawl__error_prefix(err, status, "%s", path);
    pawl__buf_release(&text);
    return status;
}

int suite_open(struct suite *suite, const char *folder, const struct pawl_allocator *alloc,
               struct pawl_error *err)
{
    int status;

    *suite = (struct suite){.folder = folder, .alloc = alloc};
    pawl__arena_init(&suite->arena, alloc, BYTES_MAX);
    status = read_json(suite, &suite->arena, "", pawl__str("cases.json"), &suite->cases, err);
    if (status == PAWL_OK && read_json(suite, &suite->arena, "", pawl__str("journals.json"),
                                       &suite->journals, NULL) != PAWL_OK)
        suite->journals = pawl__json_null();
    if (status == PAWL_OK)
        status = pawl_system_env_open(&suite->env, err);
    if (status == PAWL_OK)
        status = pawl__javascript_open(suite->env, NULL, &suite->javascript, err);
    if (status != PAWL_OK)
        suite_close(suite);
    return status;
}

void suite_close(struct suite *suite)
{
    pawl__javascript_close(suite->javascript);
    pawl_system_env_close(suite->env);
    pawl__arena_release(&suite->arena);
}

/* ---- definitions ------------------------------------------------------------------------- */

static bool fail_with(struct running *run, const char *what, const struct pawl_error *err)
{
    return differs(run, "%s: %s", what, err->msg);
}

/*
 * Cases that import instances were recorded with definitions that had been saved through the API
 * of a live Elsa, which forgets the value of an Input expression that does not name its type.
 */
static void forget_untyped_inputs(struct pawl_json *json)
{
    const struct pawl_json *value = pawl__json_get_text(json, "value");

    if (pawl__str_is(pawl__json_str(pawl__json_get_text(json, "type")), "Input") &&
        pawl__json_is(value, PAWL_JSON_OBJECT) && !pawl__json_get_text(value, "type"))
        (void)pawl__json_remove(json, pawl__str("value"));
    for (uint32_t i = 0; i < pawl__json_len(json); i++)
        forget_untyped_inputs(pawl__json_at(json, i));
}

/* Imports one definition in the way the case wants: published, as a draft, or as the file says. */
static bool add_definition(struct running *run, uint32_t index, struct pawl_str name)
{
    const struct pawl_json *publish = pawl__json_get_text(run->json, "publish");
    struct pawl_memory_definition *definition;
    struct pawl_json json;
    struct pawl_error err = PAWL_ERROR_INIT;
    bool by_file = pawl__json_is(publish, PAWL_JSON_STRING);
    int status = read_json(run->suite, &run->arena, "definitions/", name, &json, &err);

    if (status == PAWL_OK && pawl__json_get_text(run->json, "export"))
        forget_untyped_inputs(&json);
    if (status == PAWL_OK)
        status = by_file ? pawl__memory_provide(&run->memory, &json, &definition, &err)
                         : pawl__memory_import(&run->memory, &json, &definition, &err);
    if (status == PAWL_OK && by_file)
        status = pawl__memory_index_triggers(&run->memory, definition, &err);
    else if (status == PAWL_OK && (!publish || pawl__json_true(publish)))
        status = pawl__memory_publish(&run->memory, definition, &run->published[index], &err);
    return status == PAWL_OK || differs(run, "definition %.*s: %s", PAWL_STR_ARG(name), err.msg);
}

static bool add_definitions(struct running *run)
{
    const struct pawl_json *names = pawl__json_get_text(run->json, "definitions");

    for (uint32_t i = 0; i < pawl__json_len(names); i++) {
        if (!add_definition(run, i, pawl__json_str(pawl__json_at(names, i))))
            return false;
    }
    return true;
}

static void set_host(struct running *run, const struct pawl_json *host)
{
    const struct pawl_json *fail = pawl__json_get_text(host, "failOnValidationErrors");

    if (fail)
        run->memory.refuse_invalid = pawl__json_true(fail);
    if (pawl__json_get_text(host, "commitStrategies"))
        run->engine.commit_strategies = true;
}

/* ---- the start --------------------------------------------------------------------------- */

static struct pawl_json member(const struct pawl_json *object, const char *key)
{
    const struct pawl_json *value = pawl__json_get_text(object, key);

    return value ? *value : pawl__json_null();
}

static bool start_entry(struct running *run)
{
    struct pawl_str entry = pawl__json_str(pawl__json_get_text(run->json, "entry"));
    struct pawl_json mode = member(run->json, "flowchartMode");
    struct pawl_memory_start start = {
        .input = member(run->json, "input"),
        .properties = member(run->json, "properties"),
        .correlation_id = pawl__json_str(pawl__json_get_text(run->json, "correlationId")),
        .name = pawl__json_str(pawl__json_get_text(run->json, "name")),
    };
    struct pawl_builder b = {.arena = &run->arena};
    struct pawl_error err;
    int64_t version = 0;

    (void)pawl__json_to_int(pawl__json_get_text(run->json, "version"), &version);
    start.definition = pawl__memory_definition(&run->memory, entry, PAWL_MEMORY_PUBLISHED, version);
    if (!start.definition)
        return differs(run, "no version of '%.*s' to start", PAWL_STR_ARG(entry));
    if (mode.type == PAWL_JSON_STRING) {
        if (start.properties.type != PAWL_JSON_OBJECT)
            start.properties = pawl__json_object();
        pawl__build(&b, &start.properties, "Flowchart:ExecutionMode", mode);
    }
    if (pawl__memory_start(&run->memory, &start, &run->entry, &err) != PAWL_OK)
        return fail_with(run, "start", &err);
    return true;
}

/* ---- instances that another engine exported ------------------------------------------------ */

/* The clock goes on where the exporting engine's stood. */
static void set_clock(struct running *run, const struct pawl_json *exported)
{
    const struct pawl_json *state = pawl__json_get_text(exported, "WorkflowState");
    struct pawl_datetime at;

    if (pawl__datetime_parse(pawl__json_str(pawl__json_get_text(state, "updatedAt")), &at, NULL) ==
            PAWL_OK &&
        pawl__datetime_utc_ticks(at) > run->memory.now)
        run->memory.now = pawl__datetime_utc_ticks(at);
}

static bool take_over(struct running *run, struct pawl_str name, struct pawl_memory_instance **out)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json exported;
    int status = read_json(run->suite, &run->arena, "exports/", name, &exported, &err);

    if (status == PAWL_OK)
        status = pawl__memory_take_over(&run->memory, &exported, out, &err);
    if (status != PAWL_OK)
        return differs(run, "export %.*s: %s", PAWL_STR_ARG(name), err.msg);
    set_clock(run, &exported);
    return true;
}

static bool take_over_all(struct running *run)
{
    const struct pawl_json *others = pawl__json_get_text(run->json, "alsoImport");
    struct pawl_memory_instance *other;
    struct pawl_error err;

    if (!take_over(run, pawl__json_str(pawl__json_get_text(run->json, "export")), &run->entry))
        return false;
    for (uint32_t i = 0; i < pawl__json_len(others); i++) {
        if (!take_over(run, pawl__json_str(pawl__json_at(others, i)), &other))
            return false;
    }
    if (pawl__memory_run_due(&run->memory, &err) != PAWL_OK)
        return fail_with(run, "overdue timers", &err);
    return true;
}

/* ---- steps ------------------------------------------------------------------------------- */

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

static bool resume(struct running *run, struct pawl_str bookmark_id)
{
    struct pawl_json input = member(run->json, "input");
    struct pawl_error err;
    struct pawl_str id = pawl__arena_str(&run->arena, bookmark_id);

    if (!id.ptr || pawl__memory_resume(&run->memory, run->entry, id, &input, &err) != PAWL_OK)
        return fail_with(run, "resume", &err);
    return true;
}

static const struct pawl_json *bookmarks_of(const struct pawl_memory_instance *instance)
{
    return pawl__json_get_text(&instance->state, "bookmarks");
}

static bool step_resume_all(struct running *run)
{
    for (int round = 0; !run->entry->is_final; round++) {
        struct pawl_json bookmarks;

        if (pawl__json_len(bookmarks_of(run->entry)) == 0)
            return true;
        if (round == ROUNDS_MAX ||
            pawl__json_copy(&run->arena, bookmarks_of(run->entry), &bookmarks) != PAWL_OK)
            return differs(run, "resumeAll does not come to an end");
        /* As recorded: one request resumes all that there are. */
        pawl__memory_request_begin(&run->memory);
        for (uint32_t i = 0; i < pawl__json_len(&bookmarks); i++) {
            if (!resume(run, text_of(pawl__json_at(&bookmarks, i), "id")))
                return false;
        }
        pawl__memory_request_end(&run->memory);
    }
    return true;
}

static bool step_resume(struct running *run, const struct pawl_json *which)
{
    struct pawl_str activity_id = text_of(which, "activityId");
    const struct pawl_json *bookmarks = bookmarks_of(run->entry);

    if (pawl__json_get_text(which, "bookmarkId"))
        return resume(run, text_of(which, "bookmarkId"));
    for (uint32_t i = 0; i < pawl__json_len(bookmarks); i++) {
        const struct pawl_json *bookmark = pawl__json_at(bookmarks, i);

        if (pawl__str_equal(text_of(bookmark, "activityId"), activity_id))
            return resume(run, text_of(bookmark, "id"));
    }
    return differs(run, "no bookmark of activity '%.*s' to resume", PAWL_STR_ARG(activity_id));
}

static bool step_event(struct running *run, const struct pawl_json *step)
{
    struct pawl_error err;

    if (pawl__memory_send_event(&run->memory, text_of(step, "event"),
                                text_of(step, "correlationId"),
                                pawl__json_get_text(step, "payload"), &err) != PAWL_OK)
        return fail_with(run, "event", &err);
    return true;
}

static bool step_cancel(struct running *run)
{
    struct pawl_error err;

    if (pawl__memory_cancel(&run->memory, run->entry, false, &err) != PAWL_OK)
        return fail_with(run, "cancel", &err);
    return true;
}

static bool has_status(const struct pawl_memory_instance *instance, struct pawl_str status)
{
    return status.len == 0 || pawl__str_equal(text_of(&instance->state, "status"), status);
}

static bool wait_is_over(const struct running *run, const struct pawl_json *wait)
{
    struct pawl_str definition_id = text_of(wait, "definitionId");
    struct pawl_str status = text_of(wait, "status");
    const struct pawl_memory_instance *instance;
    int64_t count = 0, wanted = 1;

    if (definition_id.len == 0)
        return run->entry && has_status(run->entry, status);
    (void)pawl__json_to_int(pawl__json_get_text(wait, "count"), &wanted);
    PAWL_MEMORY_FOR_EACH_INSTANCE(instance, &run->memory)
    {
        if (pawl__str_equal(instance->definition->definition_id, definition_id) &&
            has_status(instance, status))
            count++;
    }
    return count >= wanted;
}

/* Instead of waiting, the clock is set to the next timer. */
static bool step_wait(struct running *run, const struct pawl_json *wait)
{
    int64_t seconds = 30, until, due;
    struct pawl_error err;

    (void)pawl__json_to_int(pawl__json_get_text(wait, "timeoutSeconds"), &seconds);
    until = run->memory.now + seconds * PAWL_TICKS_PER_SECOND;
    while (!wait_is_over(run, wait)) {
        if (!pawl__memory_next_due(&run->memory, &due) || due > until)
            return differs(run, "waited %lld s in vain for %s", (long long)seconds,
                           shown(run, wait));
        if (due > run->memory.now)
            run->memory.now = due;
        if (pawl__memory_run_due(&run->memory, &err) != PAWL_OK)
            return fail_with(run, "wait", &err);
    }
    return true;
}

static bool publish_draft(struct running *run, struct pawl_str definition_id)
{
    struct pawl_memory_definition *draft;
    struct pawl_error err;
    int status = pawl__memory_draft(&run->memory, definition_id, &draft, &err);

    if (status == PAWL_OK)
        status = pawl__memory_publish(&run->memory, draft, NULL, &err);
    return status == PAWL_OK || fail_with(run, "publish", &err);
}

static bool step_reload(struct running *run)
{
    const struct pawl_json *names = pawl__json_get_text(run->json, "definitions");

    for (uint32_t i = 0; i < pawl__json_len(names); i++) {
        struct pawl_memory_definition *definition;
        struct pawl_json json;
        struct pawl_error err;
        int status = read_json(run->suite, &run->arena, "definitions/",
                               pawl__json_str(pawl__json_at(names, i)), &json, &err);

        if (status == PAWL_OK &&
            pawl__memory_definition(&run->memory, text_of(&json, "definitionId"),
                                    PAWL_MEMORY_LATEST, 0))
            continue; /* those that are there stay as they are */
        if (status == PAWL_OK)
            status = pawl__memory_provide(&run->memory, &json, &definition, &err);
        if (status == PAWL_OK)
            status = pawl__memory_index_triggers(&run->memory, definition, &err);
        if (status != PAWL_OK)
            return fail_with(run, "reload", &err);
    }
    return true;
}

static bool step_refresh(struct running *run, const struct pawl_json *ids)
{
    for (uint32_t i = 0; i < pawl__json_len(ids); i++) {
        struct pawl_memory_definition *definition = pawl__memory_definition(
            &run->memory, pawl__json_str(pawl__json_at(ids, i)), PAWL_MEMORY_PUBLISHED, 0);
        struct pawl_error err;

        if (definition && pawl__memory_index_triggers(&run->memory, definition, &err) != PAWL_OK)
            return fail_with(run, "refresh", &err);
    }
    return true;
}

static bool do_step(struct running *run, const struct pawl_json *step);

/* "At the same time" has one outcome that is always allowed: one after the other. */
static bool do_steps(struct running *run, const struct pawl_json *steps)
{
    for (uint32_t i = 0; i < pawl__json_len(steps); i++) {
        const struct pawl_json *step = pawl__json_at(steps, i);
        const struct pawl_json *expect = pawl__json_get_text(step, "expect");

        if (!do_step(run, step) || (expect && !expect_all(run, expect))) {
            pawl__buf_printf(&run->why, " (step %u)", i + 1);
            return false;
        }
    }
    return true;
}

static bool do_step(struct running *run, const struct pawl_json *step)
{
    const struct pawl_json *what;

    if (pawl__json_get_text(step, "resumeAll"))
        return step_resume_all(run);
    if ((what = pawl__json_get_text(step, "resume")) != NULL)
        return step_resume(run, what);
    if (pawl__json_get_text(step, "event"))
        return step_event(run, step);
    if (pawl__json_get_text(step, "cancel"))
        return step_cancel(run);
    if ((what = pawl__json_get_text(step, "wait")) != NULL)
        return step_wait(run, what);
    if ((what = pawl__json_get_text(step, "parallel")) != NULL)
        return do_steps(run, what);
    if ((what = pawl__json_get_text(step, "publish")) != NULL)
        return publish_draft(run, pawl__json_str(what));
    if ((what = pawl__json_get_text(step, "publishNewVersion")) != NULL)
        return publish_draft(run, pawl__json_str(what));
    if ((what = pawl__json_get_text(step, "deleteDefinition")) != NULL)
        pawl__memory_delete_definition(&run->memory, pawl__json_str(what));
    else if (pawl__json_get_text(step, "reloadDefinitions"))
        return step_reload(run);
    else if ((what = pawl__json_get_text(step, "refreshDefinitions")) != NULL)
        return step_refresh(run, what);
    else if ((what = pawl__json_get_text(step, "host")) != NULL)
        set_host(run, what);
    else if (!pawl__json_get_text(step, "expect"))
        return differs(run, "a step that nobody knows: %s", shown(run, step));
    return true;
}

/* ---- a whole case ------------------------------------------------------------------------ */

static bool begin(struct running *run)
{
    struct pawl_str how = text_of(run->json, "how");

    if (pawl__str_is(how, "import"))
        return take_over_all(run);
    return !pawl__str_is(how, "run") || start_entry(run);
}

static bool run_all(struct running *run)
{
    const struct pawl_json *expect = pawl__json_get_text(run->json, "expect");

    return add_definitions(run) && begin(run) &&
           do_steps(run, pawl__json_get_text(run->json, "steps")) && expect_all(run, expect);
}

static const struct pawl_json *journals_of(const struct running *run)
{
    return pawl__json_get(&run->suite->journals, text_of(run->json, "id"));
}

static void open_case(struct running *run, struct suite *suite, const struct manner *manner)
{
    pawl__arena_init(&run->arena, suite->alloc, BYTES_MAX);
    pawl__buf_init(&run->why, suite->alloc, BYTES_MAX);
    pawl__memory_init(&run->memory, &run->engine, suite->alloc, 42);
    run->memory.keep = true;
    run->memory.now = START_TICKS;
    run->memory.reopen = manner->reopen;
    if (manner->reopen)
        run->engine.yield_after = 1;
    set_host(run, pawl__json_get_text(run->json, "host"));
}

static void close_case(struct running *run)
{
    pawl__memory_release(&run->memory);
    pawl__engine_release(&run->engine);
    pawl__javascript_close(run->javascript);
    pawl__buf_release(&run->why);
    pawl__arena_release(&run->arena);
}

int case_run(struct suite *suite, const struct pawl_json *json, const struct manner *manner,
             enum verdict *verdict, const char **why)
{
    struct running run = {.suite = suite, .json = json};
    size_t definitions = pawl__json_len(pawl__json_get_text(json, "definitions"));
    int status = open_javascript(suite, json, &run.javascript);
    bool passed;

    if (status == PAWL_OK)
        status = conformance_engine(&run.engine, suite->alloc,
                                    run.javascript ? run.javascript : suite->javascript);
    if (status != PAWL_OK)
        return status;
    *why = case_missing(&run.engine, json);
    if (*why) {
        *verdict = CASE_NOT_RUN;
        pawl__engine_release(&run.engine);
        pawl__javascript_close(run.javascript);
        return PAWL_OK;
    }
    open_case(&run, suite, manner);
    run.published = pawl__arena_alloc_zeroed(&run.arena, (definitions + 1) * sizeof *run.published);
    passed = run.published && run_all(&run) &&
             (!journals_of(&run) || expect_journals(&run, journals_of(&run)));
    if (manner->verbose)
        print_journal(&run, journals_of(&run));
    *verdict = passed ? CASE_PASSED : CASE_FAILED;
    *why = pawl__arena_str(&suite->arena, pawl__buf_peek(&run.why)).ptr;
    close_case(&run);
    return *why ? PAWL_OK : PAWL_ENOMEM;
}
