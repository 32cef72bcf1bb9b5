/* SPDX-License-Identifier: Apache-2.0 */
/* Running a case: what it requires, its definitions, its start and its steps. */
#include "conformance/case.h"

#include "activities/activities.h"
#include "base/error.h"
#include "base/time/datetime.h"
#include "conformance/expect.h"
#include "conformance/services.h"
#include "conformance/stub.h"
#include "engine/builder.h"
#include "expressions/expressions.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

#define BYTES_MAX ((size_t)1 << 30)
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
    {"alterations", NULL, false},
    {"background", NULL, false},
    {"bookmark-queue", NULL, false},
    {"child", NULL, false},
    {"commit-strategies", NULL, false},
    {"dotnet-text", NULL, false},
    {"event", NULL, false},
    {"http", NULL, false}, /* what needs no request: see sends_requests() */
    {"http-client", NULL, false},
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

/* Those are sent to a server, by tests/api/conformance. */
static bool sends_requests(const struct pawl_json *steps)
{
    for (uint32_t i = 0; i < pawl__json_len(steps); i++) {
        if (pawl__json_get_text(pawl__json_at(steps, i), "http") ||
            pawl__json_get_text(pawl__json_at(steps, i), "parallel"))
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
    {"mig-background-execute", DECIDED "an export has no jobs; they begin again, with their lines"},
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

/* "… at (1:16)": what Elsa prints instead of a template that does not parse. */
static bool is_parser_message(struct pawl_str text)
{
    size_t at = text.len;

    if (!pawl__str_ends(text, pawl__str(")")))
        return false;
    while (at > 0 && strchr("0123456789:)", text.ptr[at - 1]))
        at--;
    return pawl__str_ends(pawl__str_slice(text, 0, at), pawl__str(" at (")) && at + 3 < text.len;
}

static bool prints_parser_message(const struct pawl_json *json)
{
    if (pawl__json_is(json, PAWL_JSON_STRING))
        return is_parser_message(pawl__json_str(json));
    for (uint32_t i = 0; i < pawl__json_len(json); i++) {
        if (prints_parser_message(pawl__json_at(json, i)))
            return true;
    }
    return false;
}

const char *case_missing(const struct pawl_engine *engine, const struct pawl_json *json)
{
    const struct pawl_json *requires = pawl__json_get_text(json, "requires");

    if (sends_requests(pawl__json_get_text(json, "steps")))
        return "http";
    if (difference(pawl__json_str(pawl__json_get_text(json, "id"))))
        return difference(pawl__json_str(pawl__json_get_text(json, "id")));
    if (prints_parser_message(pawl__json_get_text(json, "expect")) ||
        prints_parser_message(pawl__json_get_text(json, "steps")))
        return DECIDED "a template that does not parse is a fault";
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

int suite_read(const struct suite *suite, struct pawl_arena *arena, const char *folder,
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
    status = suite_read(suite, &suite->arena, "", pawl__str("cases.json"), &suite->cases, err);
    if (status == PAWL_OK) {
        status =
            suite_read(suite, &suite->arena, "", pawl__str("journals.json"), &suite->journals, err);
        if (status == PAWL_ENOTFOUND) { /* not every suite has them */
            suite->journals = pawl__json_null();
            status = PAWL_OK;
        }
    }
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
 * The files of these cases are what was sent to Elsa's API, not what it stored and ran: it drops
 * the value of an Input expression that does not name its type. An instance is imported with the
 * definition that it ran with, so the value goes here too. Definitions that reached Elsa as files
 * keep it (and Pawl always does: the case input-expression-without-type). Returns how many went.
 */
static uint32_t drop_untyped_inputs(struct pawl_json *json)
{
    const struct pawl_json *value = pawl__json_get_text(json, "value");
    uint32_t dropped = 0;

    if (pawl__str_is(pawl__json_str(pawl__json_get_text(json, "type")), "Input") &&
        pawl__json_is(value, PAWL_JSON_OBJECT) && !pawl__json_get_text(value, "type"))
        dropped += pawl__json_remove(json, pawl__str("value"));
    for (uint32_t i = 0; i < pawl__json_len(json); i++)
        dropped += drop_untyped_inputs(pawl__json_at(json, i));
    return dropped;
}

/* Says so, for whoever compares the definition with what ran. */
static void store_as_the_api_did(const struct running *run, struct pawl_str name,
                                 struct pawl_json *json)
{
    uint32_t dropped = drop_untyped_inputs(json);

    if (dropped > 0)
        printf("# %.*s: %.*s as Elsa's API stored it, without the value of %u Input expressions\n",
               PAWL_STR_ARG(pawl__json_str(pawl__json_get_text(run->json, "id"))),
               PAWL_STR_ARG(name), dropped);
}

/* As the file says. */
static int provide(struct running *run, const struct pawl_json *json, struct pawl_error *err)
{
    struct pawl_definition_row row;
    int status =
        pawl__definitions_provide(definitions_of(run), json, &run->arena, &row, deadline(run), err);

    if (status != PAWL_OK || !row.is_published)
        return status;
    /* Which says what providing keeps to itself: that it cannot be loaded. */
    return pawl__definitions_index(definitions_of(run), row.definition_id, deadline(run), err);
}

/* As a draft, and with `publish` published. */
static int import(struct running *run, const struct pawl_json *json,
                  struct pawl_publication *publish, struct pawl_error *err)
{
    struct pawl_definition_row row;
    int status =
        pawl__definitions_import(definitions_of(run), json, &run->arena, &row, deadline(run), err);

    if (status != PAWL_OK || !publish)
        return status;
    return pawl__definitions_publish(definitions_of(run), row.id, &run->arena, publish,
                                     deadline(run), err);
}

/* Imports one definition in the way the case wants: published, as a draft, or as the file says. */
static bool add_definition(struct running *run, uint32_t index, struct pawl_str name)
{
    const struct pawl_json *publish = pawl__json_get_text(run->json, "publish");
    struct pawl_json json;
    struct pawl_error err = PAWL_ERROR_INIT;
    bool by_file = pawl__json_is(publish, PAWL_JSON_STRING);
    int status = suite_read(run->suite, &run->arena, "definitions/", name, &json, &err);

    if (status == PAWL_OK && pawl__json_get_text(run->json, "export"))
        store_as_the_api_did(run, name, &json);
    if (status == PAWL_OK && by_file)
        status = provide(run, &json, &err);
    else if (status == PAWL_OK)
        status = import(run, &json,
                        !publish || pawl__json_true(publish) ? &run->published[index] : NULL, &err);
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
        run->keep_invalid = !pawl__json_true(fail);
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
    struct pawl_start start = {
        .input = stub_input(run),
        .properties = member(run->json, "properties"),
        .correlation_id = pawl__json_str(pawl__json_get_text(run->json, "correlationId")),
        .name = pawl__json_str(pawl__json_get_text(run->json, "name")),
    };
    struct pawl_builder b = {.arena = &run->arena};
    struct pawl_definition_row definition;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_outcome outcome;
    int64_t version = 0;

    (void)pawl__json_to_int(pawl__json_get_text(run->json, "version"), &version);
    if (pawl__definitions_find(definitions_of(run), entry, PAWL_VERSIONS_PUBLISHED, version,
                               &run->arena, &definition, deadline(run), &err) != PAWL_OK)
        return fail_with(run, "no version to start", &err);
    start.version_id = definition.id;
    if (mode.type == PAWL_JSON_STRING) {
        if (start.properties.type != PAWL_JSON_OBJECT)
            start.properties = pawl__json_object();
        pawl__build(&b, &start.properties, "Flowchart:ExecutionMode", mode);
    }
    if (pawl__runtime_start(run->runtime, &start, &outcome, deadline(run), &err) != PAWL_OK)
        return fail_with(run, "start", &err);
    memcpy(run->entry_id, outcome.instance_id, sizeof run->entry_id);
    return node_drain(run);
}

/* ---- instances that another engine exported ------------------------------------------------ */

/* The clock goes on where the exporting engine's stood. */
static void set_clock(struct running *run, const struct pawl_json *exported)
{
    const struct pawl_json *state = pawl__json_get_text(exported, "WorkflowState");
    struct pawl_datetime at;

    if (pawl__datetime_parse(pawl__json_str(pawl__json_get_text(state, "updatedAt")), &at, NULL) ==
        PAWL_OK)
        set_now_us(run, pawl__ticks_to_us(pawl__datetime_utc_ticks(at)));
}

static bool take_over(struct running *run, struct pawl_str name, struct pawl_outcome *out)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json exported;
    int status = suite_read(run->suite, &run->arena, "exports/", name, &exported, &err);

    if (status == PAWL_OK)
        status = pawl__runtime_import(run->runtime, &exported, out, deadline(run), &err);
    if (status != PAWL_OK)
        return differs(run, "export %.*s: %s", PAWL_STR_ARG(name), err.msg);
    set_clock(run, &exported);
    return true;
}

static bool take_over_all(struct running *run)
{
    const struct pawl_json *others = pawl__json_get_text(run->json, "alsoImport");
    struct pawl_outcome entry, other;

    if (!take_over(run, pawl__json_str(pawl__json_get_text(run->json, "export")), &entry))
        return false;
    memcpy(run->entry_id, entry.instance_id, sizeof run->entry_id);
    for (uint32_t i = 0; i < pawl__json_len(others); i++) {
        if (!take_over(run, pawl__json_str(pawl__json_at(others, i)), &other))
            return false;
    }
    return node_drain(run);
}

/* ---- steps ------------------------------------------------------------------------------- */

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

/* `request` NULL: none but this one. */
static bool resume(struct running *run, struct pawl_str bookmark_id, struct pawl_request *request)
{
    const struct pawl_run what = {.bookmark_id = pawl__arena_str(&run->arena, bookmark_id),
                                  .input = stub_input(run),
                                  .request = request};
    struct pawl_error err = PAWL_ERROR_INIT;

    if (!what.bookmark_id.ptr || pawl__runtime_run(run->runtime, pawl__str(run->entry_id), &what,
                                                   NULL, deadline(run), &err) != PAWL_OK)
        return fail_with(run, "resume", &err);
    return node_drain(run);
}

static const struct pawl_json *bookmarks_of(const struct seen *instance)
{
    return instance ? pawl__json_get_text(&instance->state, "bookmarks") : NULL;
}

/* As recorded: one request resumes all that there are. */
static bool resume_each(struct running *run, const struct pawl_json *bookmarks)
{
    struct pawl_request request;
    bool fine = true;

    pawl__request_init(&request, run->suite->alloc);
    for (uint32_t i = 0; i < pawl__json_len(bookmarks) && fine; i++)
        fine = resume(run, text_of(pawl__json_at(bookmarks, i), "id"), &request);
    pawl__request_release(&request);
    return fine;
}

static bool step_resume_all(struct running *run)
{
    for (int round = 0; seen_entry(run) && !seen_entry(run)->is_final; round++) {
        struct pawl_json bookmarks;

        if (pawl__json_len(bookmarks_of(seen_entry(run))) == 0)
            return true;
        if (round == ROUNDS_MAX ||
            pawl__json_copy(&run->arena, bookmarks_of(seen_entry(run)), &bookmarks) != PAWL_OK)
            return differs(run, "resumeAll does not come to an end");
        if (!resume_each(run, &bookmarks))
            return false;
    }
    return seen_entry(run) || differs(run, "there is nothing to resume");
}

static bool step_resume(struct running *run, const struct pawl_json *which)
{
    struct pawl_str activity_id = text_of(which, "activityId");
    const struct pawl_json *bookmarks = bookmarks_of(seen_entry(run));

    if (pawl__json_get_text(which, "bookmarkId"))
        return resume(run, text_of(which, "bookmarkId"), NULL);
    for (uint32_t i = 0; i < pawl__json_len(bookmarks); i++) {
        const struct pawl_json *bookmark = pawl__json_at(bookmarks, i);

        if (pawl__str_equal(text_of(bookmark, "activityId"), activity_id))
            return resume(run, text_of(bookmark, "id"), NULL);
    }
    return differs(run, "no bookmark of activity '%.*s' to resume", PAWL_STR_ARG(activity_id));
}

static bool step_event(struct running *run, const struct pawl_json *step)
{
    const struct pawl_stimulus stimulus = {.correlation_id = text_of(step, "correlationId")};
    struct pawl_error err = PAWL_ERROR_INIT;

    if (pawl__runtime_send_event(run->runtime, text_of(step, "event"),
                                 pawl__json_get_text(step, "payload"), &stimulus, NULL,
                                 deadline(run), &err) != PAWL_OK)
        return fail_with(run, "event", &err);
    return node_drain(run);
}

static bool step_cancel(struct running *run)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    if (pawl__runtime_cancel_one(run->runtime, pawl__str(run->entry_id), deadline(run), &err) !=
        PAWL_OK)
        return fail_with(run, "cancel", &err);
    return node_drain(run);
}

/* What was refused is for the case to judge. */
static bool step_alter(struct running *run, const struct pawl_json *alterations)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = pawl__runtime_alter(run->runtime, pawl__str(run->entry_id), alterations, false,
                                     NULL, NULL, NULL, deadline(run), &err);
    enum pawl_error_class class = pawl_error_class(status);

    if (status != PAWL_OK && class != PAWL_CLASS_CALLER && class != PAWL_CLASS_DEFINITE)
        return fail_with(run, "alter", &err);
    run->alter_succeeded = status == PAWL_OK;
    return node_drain(run);
}

static bool has_status(const struct seen *instance, struct pawl_str status)
{
    return status.len == 0 || pawl__str_equal(text_of(&instance->state, "status"), status);
}

static bool wait_is_over(struct running *run, const struct pawl_json *wait)
{
    struct pawl_str definition_id = text_of(wait, "definitionId");
    struct pawl_str status = text_of(wait, "status");
    const struct seen *instance = seen_entry(run);
    int64_t count = 0, wanted = 1;

    if (definition_id.len == 0)
        return instance && has_status(instance, status);
    (void)pawl__json_to_int(pawl__json_get_text(wait, "count"), &wanted);
    FOR_EACH_SEEN(instance, run)
    {
        if (pawl__str_equal(instance->definition_id, definition_id) && has_status(instance, status))
            count++;
    }
    return count >= wanted;
}

/* Instead of waiting, the clock is set to the next timer. */
static bool step_wait(struct running *run, const struct pawl_json *wait)
{
    int64_t seconds = 30, until_us;

    (void)pawl__json_to_int(pawl__json_get_text(wait, "timeoutSeconds"), &seconds);
    until_us = pawl__ticks_to_us(now_ticks(run)) + seconds * 1000000;
    if (!node_drain(run))
        return false;
    while (!wait_is_over(run, wait)) {
        if (run->next_due_us > until_us)
            return differs(run, "waited %lld s in vain for %s", (long long)seconds,
                           shown(run, wait));
        set_now_us(run, run->next_due_us);
        if (!node_drain(run))
            return false;
    }
    return true;
}

static bool publish_draft(struct running *run, struct pawl_str definition_id)
{
    struct pawl_definition_row draft;
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = pawl__definitions_draft(definitions_of(run), definition_id, &run->arena, &draft,
                                         deadline(run), &err);

    if (status == PAWL_OK)
        status = pawl__definitions_publish(definitions_of(run), draft.id, &run->arena, NULL,
                                           deadline(run), &err);
    return status == PAWL_OK || fail_with(run, "publish", &err);
}

/* With its instances, as the reference does. */
static bool delete_definition(struct running *run, struct pawl_str definition_id)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    const struct seen *instance;
    int status;

    FOR_EACH_SEEN(instance, run)
    {
        if (pawl__str_equal(instance->definition_id, definition_id) &&
            pawl__runtime_delete(run->runtime, instance->id, deadline(run), &err) != PAWL_OK)
            return fail_with(run, "delete", &err);
    }
    run->stale = true;
    status = pawl__definitions_delete(definitions_of(run), definition_id, deadline(run), &err);
    return status == PAWL_OK || status == PAWL_ENOTFOUND || fail_with(run, "delete", &err);
}

static bool do_step(struct running *run, const struct pawl_json *step);

/* "At the same time" has one outcome that is always allowed: one after the other. */
static bool do_steps(struct running *run, const struct pawl_json *steps)
{
    for (uint32_t i = 0; i < pawl__json_len(steps); i++) {
        const struct pawl_json *step = pawl__json_at(steps, i);
        const struct pawl_json *expect = pawl__json_get_text(step, "expect");

        if (!node_between(run) || !do_step(run, step) || (expect && !expect_all(run, expect))) {
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
    if ((what = pawl__json_get_text(step, "alter")) != NULL)
        return step_alter(run, what);
    if ((what = pawl__json_get_text(step, "wait")) != NULL)
        return step_wait(run, what);
    if ((what = pawl__json_get_text(step, "parallel")) != NULL)
        return do_steps(run, what);
    if ((what = pawl__json_get_text(step, "publish")) != NULL)
        return publish_draft(run, pawl__json_str(what));
    if ((what = pawl__json_get_text(step, "publishNewVersion")) != NULL)
        return publish_draft(run, pawl__json_str(what));
    if ((what = pawl__json_get_text(step, "deleteDefinition")) != NULL)
        return delete_definition(run, pawl__json_str(what));
    if (pawl__json_get_text(step, "reloadDefinitions"))
        return services_reload(run);
    if ((what = pawl__json_get_text(step, "refreshDefinitions")) != NULL)
        return services_refresh(run, what);
    if ((what = pawl__json_get_text(step, "host")) != NULL) {
        set_host(run, what);
        return node_restart(run);
    }
    return pawl__json_get_text(step, "expect") ||
           differs(run, "a step that nobody knows: %s", shown(run, step));
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

static bool open_case(struct running *run)
{
    size_t definitions = pawl__json_len(pawl__json_get_text(run->json, "definitions"));

    run->printed = pawl__json_array();
    run->published =
        pawl__arena_alloc_zeroed(&run->arena, (definitions + 1) * sizeof *run->published);
    if (run->manner->reopen)
        run->engine.yield_after = 1;
    set_host(run, pawl__json_get_text(run->json, "host"));
    if (!run->published)
        return differs(run, "out of memory");
    return stub_open(run) && node_open(run);
}

static void close_case(struct running *run)
{
    node_close(run);
    stub_close(run);
    pawl__engine_release(&run->engine);
    pawl__javascript_close(run->javascript);
    pawl__buf_release(&run->why);
    pawl__arena_release(&run->arena);
}

int case_run(struct suite *suite, const struct pawl_json *json, const struct manner *manner,
             enum verdict *verdict, const char **why)
{
    struct running run = {.suite = suite, .json = json, .manner = manner, .seed = 42};
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
    pawl__arena_init(&run.arena, suite->alloc, BYTES_MAX);
    pawl__buf_init(&run.why, suite->alloc, BYTES_MAX);
    passed = open_case(&run) && run_all(&run) &&
             (!journals_of(&run) || expect_journals(&run, journals_of(&run))) && run.why.len == 0;
    if (manner->states && run.runtime)
        node_write_states(&run, manner->states);
    if (manner->verbose && run.runtime)
        print_journal(&run, journals_of(&run));
    *verdict = passed ? CASE_PASSED : CASE_FAILED;
    *why = pawl__arena_str(&suite->arena, pawl__buf_peek(&run.why)).ptr;
    close_case(&run);
    return *why ? PAWL_OK : PAWL_ENOMEM;
}
