/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations about the entry instance, journals, and the table of all keys. */
#include "conformance/expect.h"

#include "base/base64.h"
#include "base/time/datetime.h"
#include "base/time/duration.h"
#include "conformance/stub.h"

#include <stdarg.h>
#include <stdio.h>

/* Past this a value in a message is cut. */
#define SHOWN_MAX 400
/* How far an instant may be from what "$now+…" says. */
#define NOW_SLACK_TICKS (10 * PAWL_TICKS_PER_SECOND)

/* ---- comparing --------------------------------------------------------------------------- */

bool differs(struct running *run, const char *format, ...)
{
    char text[2048];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pawl__buf_text(&run->why, text);
    return false;
}

const char *shown(struct running *run, const struct pawl_json *value)
{
    const struct pawl_json nothing = pawl__json_null();
    struct pawl_buf text;
    struct pawl_str copy;

    pawl__buf_init(&text, run->arena.alloc, SHOWN_MAX * 1000);
    pawl__json_write(&text, value ? value : &nothing, PAWL_JSON_ESCAPE_MINIMAL);
    copy = pawl__arena_str(&run->arena, pawl__str_slice(pawl__buf_peek(&text), 0, SHOWN_MAX));
    pawl__buf_release(&text);
    return copy.ptr ? copy.ptr : "(no memory)";
}

bool same(struct running *run, const char *what, const struct pawl_json *expected,
          const struct pawl_json *actual)
{
    const struct pawl_json nothing = pawl__json_null();

    if (pawl__json_equal(expected, actual ? actual : &nothing))
        return true;
    return differs(run, "%s: expected %s, got %s", what, shown(run, expected), shown(run, actual));
}

bool has_text(const struct pawl_json *array, struct pawl_str text)
{
    for (uint32_t i = 0; i < pawl__json_len(array); i++) {
        if (pawl__str_equal(pawl__json_str(pawl__json_at(array, i)), text))
            return true;
    }
    return false;
}

static bool near_now(const struct running *run, struct pawl_str after, const struct pawl_json *text)
{
    struct pawl_datetime at;
    int64_t span, off;

    if (pawl__duration_parse_constant(after, &span, NULL) != PAWL_OK ||
        pawl__datetime_parse(pawl__json_str(text), &at, NULL) != PAWL_OK)
        return false;
    off = pawl__datetime_utc_ticks(at) - (now_ticks(run) + span);
    return off <= NOW_SLACK_TICKS && off >= -NOW_SLACK_TICKS;
}

bool same_or_special(struct running *run, const char *what, const struct pawl_json *expected,
                     const struct pawl_json *actual)
{
    struct pawl_str text = pawl__json_str(expected);
    struct pawl_json id;

    if (pawl__str_starts(text, pawl__str("$now+"))) {
        if (near_now(run, pawl__str_slice(text, 5, text.len), actual))
            return true;
        /* Recorded against the real clock: an instant far in the future will do. */
        return differs(run, "%s: expected %s, got %s", what, shown(run, expected),
                       shown(run, actual));
    }
    if (!pawl__str_is(text, "$entryInstanceId"))
        return same(run, what, expected, actual);
    id = pawl__json_string(pawl__str(run->entry_id));
    return same(run, what, &id, actual);
}

struct pawl_json plain(struct running *run, const struct pawl_json *stored)
{
    struct pawl_json out = stored ? *stored : pawl__json_null();
    const struct pawl_json *items = pawl__json_get_text(stored, "_items");
    struct pawl_str island = pawl__json_str(pawl__json_get_text(stored, "_island"));

    if (items)
        return plain(run, items);
    if (island.len > 0 && pawl__json_parse(&run->arena, island, NULL, &out, NULL, NULL) == PAWL_OK)
        return out;
    if (pawl__json_len(stored) == 0 || pawl__json_copy(&run->arena, stored, &out) != PAWL_OK)
        return out;
    (void)pawl__json_remove(&out, pawl__str("_type"));
    for (uint32_t i = 0; i < pawl__json_len(&out); i++)
        *pawl__json_at(&out, i) = plain(run, pawl__json_at(&out, i));
    return out;
}

/* ---- the entry instance ------------------------------------------------------------------ */

static const struct pawl_json *entry_part(struct running *run, const char *key)
{
    const struct seen *entry = seen_entry(run);

    return entry ? pawl__json_get_text(&entry->state, key) : NULL;
}

static bool expect_text(struct running *run, const char *key, const struct pawl_json *value)
{
    return same(run, key, value, entry_part(run, key));
}

static bool expect_status(struct running *run, const struct pawl_json *value)
{
    return expect_text(run, "status", value);
}

static bool expect_sub_status(struct running *run, const struct pawl_json *value)
{
    return expect_text(run, "subStatus", value);
}

static bool expect_name(struct running *run, const struct pawl_json *value)
{
    return expect_text(run, "name", value);
}

static bool expect_correlation(struct running *run, const struct pawl_json *value)
{
    return expect_text(run, "correlationId", value);
}

static bool expect_length(struct running *run, const char *what, const char *key,
                          const struct pawl_json *value)
{
    const struct pawl_json *list = entry_part(run, key);
    int64_t wanted = -1;

    (void)pawl__json_to_int(value, &wanted);
    return wanted == pawl__json_len(list) ||
           differs(run, "%s: expected %lld, got %u %s", what, (long long)wanted,
                   pawl__json_len(list), shown(run, list));
}

static bool expect_bookmarks(struct running *run, const struct pawl_json *value)
{
    return expect_length(run, "bookmarks", "bookmarks", value);
}

static bool expect_scheduled(struct running *run, const struct pawl_json *value)
{
    return expect_length(run, "scheduled", "scheduledActivities", value);
}

static bool expect_callbacks(struct running *run, const struct pawl_json *value)
{
    return expect_length(run, "completionCallbacks", "completionCallbacks", value);
}

static bool expect_incidents(struct running *run, const struct pawl_json *value)
{
    return expect_length(run, "incidents", "incidents", value);
}

static bool expect_min_incidents(struct running *run, const struct pawl_json *value)
{
    int64_t wanted = 0;

    (void)pawl__json_to_int(value, &wanted);
    return pawl__json_len(entry_part(run, "incidents")) >= wanted ||
           differs(run, "expected at least %lld incidents", (long long)wanted);
}

/* One member of each element of a list of the state, as an array. */
static struct pawl_json column(struct running *run, const char *list, const char *key,
                               const char *within)
{
    const struct pawl_json *rows = entry_part(run, list);
    struct pawl_json out = pawl__json_array();

    for (uint32_t i = 0; i < pawl__json_len(rows); i++) {
        const struct pawl_json *row = pawl__json_at(rows, i);
        const struct pawl_json *value =
            pawl__json_get_text(within ? pawl__json_get_text(row, within) : row, key);

        if (pawl__json_append(&run->arena, &out, value ? *value : pawl__json_null()) != PAWL_OK)
            break;
    }
    return out;
}

static bool expect_messages(struct running *run, const struct pawl_json *list)
{
    struct pawl_json actual = column(run, "incidents", "message", NULL);

    return same(run, "incident messages", list, &actual);
}

static bool expect_messages_contain(struct running *run, const struct pawl_json *list)
{
    struct pawl_json actual = column(run, "incidents", "message", NULL);

    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        struct pawl_str part = pawl__json_str(pawl__json_at(list, i));
        bool found = false;

        for (uint32_t k = 0; k < pawl__json_len(&actual) && !found; k++) {
            struct pawl_str text = pawl__json_str(pawl__json_at(&actual, k));

            found = memmem(text.ptr, text.len, part.ptr, part.len) != NULL;
        }
        if (!found)
            return differs(run, "no incident message with '%.*s': %s", PAWL_STR_ARG(part),
                           shown(run, &actual));
    }
    return true;
}

static bool expect_incident_types(struct running *run, const struct pawl_json *list)
{
    struct pawl_json actual = column(run, "incidents", "type", "exception");

    /* What has no alias is read back as its base type, and so it was recorded. */
    for (uint32_t i = 0; i < pawl__json_len(&actual); i++) {
        if (pawl__str_starts(pawl__json_str(pawl__json_at(&actual, i)),
                             pawl__str("UnregisteredClrType:")))
            *pawl__json_at(&actual, i) = pawl__json_string(pawl__str("Exception"));
    }
    return same(run, "incident types", list, &actual);
}

/* As a multiset: the order in which branches made them is not asserted. */
static bool expect_bookmark_names(struct running *run, const struct pawl_json *list)
{
    struct pawl_json actual = column(run, "bookmarks", "name", NULL);
    struct pawl_json left = actual;
    bool equal = pawl__json_len(list) == pawl__json_len(&actual) &&
                 pawl__json_copy(&run->arena, &actual, &left) == PAWL_OK;

    for (uint32_t i = 0; i < pawl__json_len(list) && equal; i++) {
        uint32_t k = 0;

        while (k < pawl__json_len(&left) &&
               !pawl__json_equal(pawl__json_at(list, i), pawl__json_at(&left, k)))
            k++;
        equal = pawl__json_remove_at(&left, k);
    }
    return equal || differs(run, "bookmark names: expected %s, got %s", shown(run, list),
                            shown(run, &actual));
}

static bool expect_payloads(struct running *run, const struct pawl_json *list)
{
    struct pawl_json actual = column(run, "bookmarks", "payload", NULL);

    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        const struct pawl_json *expected = pawl__json_at(list, i);

        for (uint32_t k = 0; k < pawl__json_len(expected); k++) {
            const struct pawl_json_member *member = pawl__json_member(expected, k);

            if (!same_or_special(run, "bookmark payload", &member->value,
                                 pawl__json_get_nocase(pawl__json_at(&actual, i), member->key)))
                return false;
        }
    }
    return true;
}

/* ---- variables and output ---------------------------------------------------------------- */

/* The id of a workflow-level variable; the name when the definition gives none. */
static struct pawl_str variable_id(struct running *run, struct pawl_str name)
{
    const struct seen *entry = seen_entry(run);
    const struct pawl_workflow *workflow = NULL;

    if (entry && !run->entry_graph &&
        pawl__definitions_graph(definitions_of(run), entry->version_id, &run->entry_graph,
                                deadline(run), NULL) != PAWL_OK)
        run->entry_graph = NULL;
    if (run->entry_graph)
        workflow = run->entry_graph->workflow;
    for (uint32_t i = 0; workflow && i < workflow->variable_count; i++) {
        if (pawl__str_equal(workflow->variables[i].name, name))
            return workflow->variables[i].id;
    }
    return name;
}

static const struct pawl_json *root_context(struct running *run)
{
    const struct pawl_json *contexts = entry_part(run, "activityExecutionContexts");

    for (uint32_t i = 0; i < pawl__json_len(contexts); i++) {
        const struct pawl_json *context = pawl__json_at(contexts, i);
        struct pawl_str node =
            pawl__json_str(pawl__json_get_text(context, "scheduledActivityNodeId"));

        if (pawl__str_find(node, ':', 0) == SIZE_MAX &&
            !pawl__json_get_text(context, "parentContextId"))
            return context;
    }
    return NULL;
}

static struct pawl_json variable(struct running *run, struct pawl_str name)
{
    const struct pawl_json *properties = pawl__json_get_text(root_context(run), "properties");
    struct pawl_str id = variable_id(run, name);
    const struct pawl_json *value =
        pawl__json_get(pawl__json_get_text(properties, "Variables"), id);

    if (!value)
        value =
            pawl__json_get(pawl__json_get_text(properties, "PersistentVariablesDictionary"), id);
    return plain(run, value);
}

/* Dates were recorded with all seven digits of their fraction; what counts is the instant. */
static bool same_date(const struct pawl_json *a, const struct pawl_json *b)
{
    struct pawl_datetime x, y;

    return pawl__datetime_parse(pawl__json_str(a), &x, NULL) == PAWL_OK &&
           pawl__datetime_parse(pawl__json_str(b), &y, NULL) == PAWL_OK && x.ticks == y.ticks &&
           x.kind == y.kind && x.offset_minutes == y.offset_minutes;
}

/* Bytes are recorded by their number only. */
static bool same_bytes(const struct pawl_json *expected, const struct pawl_json *actual)
{
    size_t count = pawl__base64_decode(pawl__json_str(actual), NULL);
    int64_t wanted;

    return pawl__json_to_int(pawl__json_get_text(expected, "$bytes"), &wanted) && wanted >= 0 &&
           pawl__json_is(actual, PAWL_JSON_STRING) && count == (size_t)wanted;
}

static bool expect_variables(struct running *run, const struct pawl_json *object)
{
    for (uint32_t i = 0; i < pawl__json_len(object); i++) {
        const struct pawl_json_member *member = pawl__json_member(object, i);
        struct pawl_json actual = variable(run, member->key);
        char what[128];

        (void)snprintf(what, sizeof what, "variable %.*s", PAWL_STR_ARG(member->key));
        if (!same_date(&member->value, &actual) && !same_bytes(&member->value, &actual) &&
            !same(run, what, &member->value, &actual))
            return false;
    }
    return true;
}

static bool expect_variable_lengths(struct running *run, const struct pawl_json *object)
{
    for (uint32_t i = 0; i < pawl__json_len(object); i++) {
        const struct pawl_json_member *member = pawl__json_member(object, i);
        struct pawl_json actual = variable(run, member->key);
        int64_t wanted = -1;

        (void)pawl__json_to_int(&member->value, &wanted);
        if (pawl__json_len(&actual) != wanted)
            return differs(run, "length of variable %.*s: expected %lld, got %s",
                           PAWL_STR_ARG(member->key), (long long)wanted, shown(run, &actual));
    }
    return true;
}

static bool expect_output(struct running *run, const struct pawl_json *object)
{
    for (uint32_t i = 0; i < pawl__json_len(object); i++) {
        const struct pawl_json_member *member = pawl__json_member(object, i);
        struct pawl_json actual =
            plain(run, pawl__json_get(entry_part(run, "output"), member->key));
        char what[128];

        (void)snprintf(what, sizeof what, "output %.*s", PAWL_STR_ARG(member->key));
        if (!same(run, what, &member->value, &actual))
            return false;
    }
    return true;
}

static bool expect_output_keys(struct running *run, const struct pawl_json *list)
{
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        if (!pawl__json_get(entry_part(run, "output"), pawl__json_str(pawl__json_at(list, i))))
            return differs(run, "no output %s", shown(run, pawl__json_at(list, i)));
    }
    return true;
}

static bool expect_output_contains(struct running *run, const struct pawl_json *object)
{
    for (uint32_t i = 0; i < pawl__json_len(object); i++) {
        const struct pawl_json_member *member = pawl__json_member(object, i);
        const char *text = shown(run, pawl__json_get(entry_part(run, "output"), member->key));
        struct pawl_str part = pawl__json_str(&member->value);

        if (!memmem(text, strlen(text), part.ptr, part.len))
            return differs(run, "output %.*s: no '%.*s' in %s", PAWL_STR_ARG(member->key),
                           PAWL_STR_ARG(part), text);
    }
    return true;
}

static bool expect_output_absent(struct running *run, const struct pawl_json *list)
{
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        const struct pawl_json *value =
            pawl__json_get(entry_part(run, "output"), pawl__json_str(pawl__json_at(list, i)));

        if (value && value->type != PAWL_JSON_NULL)
            return differs(run, "output %s is %s", shown(run, pawl__json_at(list, i)),
                           shown(run, value));
    }
    return true;
}

/* ---- activities, log, records ------------------------------------------------------------ */

/* The first record whose member `key` is `text`, and how many there are. */
static const struct pawl_json *first_record(struct running *run, const char *key,
                                            struct pawl_str text, int64_t *count)
{
    const struct seen *entry = seen_entry(run);
    const struct pawl_json *records = entry ? seen_records(run, entry) : NULL;
    const struct pawl_json *first = NULL;

    *count = 0;
    for (uint32_t i = 0; i < pawl__json_len(records); i++) {
        const struct pawl_json *record = pawl__json_at(records, i);

        if (!pawl__str_equal(pawl__json_str(pawl__json_get_text(record, key)), text))
            continue;
        ++*count;
        if (!first)
            first = record;
    }
    return first;
}

static bool same_set(struct running *run, struct pawl_str id, const struct pawl_json *expected,
                     const struct pawl_json *actual, bool exactly)
{
    bool equal = !exactly || pawl__json_len(expected) == pawl__json_len(actual);

    for (uint32_t i = 0; i < pawl__json_len(expected) && equal; i++)
        equal = has_text(actual, pawl__json_str(pawl__json_at(expected, i)));
    return equal || differs(run, "outcomes of %.*s: expected %s, got %s", PAWL_STR_ARG(id),
                            shown(run, expected), shown(run, actual));
}

static bool expect_activity(struct running *run, struct pawl_str id, const struct pawl_json *expect)
{
    int64_t count, wanted;
    const struct pawl_json *record = first_record(run, "activityId", id, &count);
    const struct pawl_json *status = pawl__json_get_text(expect, "status");
    const struct pawl_json *faults = pawl__json_get_text(expect, "faultCount");
    const struct pawl_json *outcomes = pawl__json_get_text(expect, "outcomes");
    const struct pawl_json *some = pawl__json_get_text(expect, "outcomesContain");
    struct pawl_json actual =
        plain(run, pawl__json_get_text(pawl__json_get_text(record, "payload"), "Outcomes"));
    char what[128];

    if (pawl__json_to_int(pawl__json_get_text(expect, "executions"), &wanted) && wanted != count)
        return differs(run, "activity %.*s: expected %lld executions, got %lld", PAWL_STR_ARG(id),
                       (long long)wanted, (long long)count);
    (void)snprintf(what, sizeof what, "status of activity %.*s", PAWL_STR_ARG(id));
    if (status && !same(run, what, status, pawl__json_get_text(record, "status")))
        return false;
    (void)snprintf(what, sizeof what, "faults of activity %.*s", PAWL_STR_ARG(id));
    if (faults && !same(run, what, faults, pawl__json_get_text(record, "aggregateFaultCount")))
        return false;
    return (!outcomes || same_set(run, id, outcomes, &actual, true)) &&
           (!some || same_set(run, id, some, &actual, false));
}

static bool expect_activities(struct running *run, const struct pawl_json *object)
{
    for (uint32_t i = 0; i < pawl__json_len(object); i++) {
        const struct pawl_json_member *member = pawl__json_member(object, i);

        if (!expect_activity(run, member->key, &member->value))
            return false;
    }
    return true;
}

static bool expect_log(struct running *run, const struct pawl_json *list)
{
    const struct seen *entry = seen_entry(run);
    const struct pawl_json *log = entry ? seen_log(run, entry) : NULL;

    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        const struct pawl_json *expect = pawl__json_at(list, i);
        const struct pawl_json *id = pawl__json_get_text(expect, "activityId");
        const struct pawl_json *event = pawl__json_get_text(expect, "event");
        int64_t count = 0, wanted = 0;

        for (uint32_t k = 0; k < pawl__json_len(log); k++) {
            const struct pawl_json *record = pawl__json_at(log, k);

            count += pawl__json_equal(pawl__json_get_text(record, "activityId"), id) &&
                     pawl__json_equal(pawl__json_get_text(record, "eventName"), event);
        }
        (void)pawl__json_to_int(pawl__json_get_text(expect, "count"), &wanted);
        if (count != wanted)
            return differs(run, "log %s %s: expected %lld, got %lld", shown(run, id),
                           shown(run, event), (long long)wanted, (long long)count);
    }
    return true;
}

static bool has_keys(struct running *run, const char *what, const struct pawl_json *keys,
                     const struct pawl_json *object, bool wanted)
{
    for (uint32_t i = 0; i < pawl__json_len(keys); i++) {
        struct pawl_str name = pawl__json_str(pawl__json_at(keys, i));

        if ((pawl__json_get(object, name) != NULL) != wanted)
            return differs(run, "%s %s %.*s: %s", what, wanted ? "lacks" : "has",
                           PAWL_STR_ARG(name), shown(run, object));
    }
    return true;
}

static bool expect_record(struct running *run, const struct pawl_json *expect)
{
    bool by_name = pawl__json_get_text(expect, "activityName") != NULL;
    const char *key = by_name ? "activityName" : "activityId";
    int64_t count;
    const struct pawl_json *record =
        first_record(run, key, pawl__json_str(pawl__json_get_text(expect, key)), &count);
    const struct pawl_json *state = pawl__json_get_text(record, "activityState");
    const struct pawl_json *values = pawl__json_get_text(expect, "state");

    if (!record)
        return differs(run, "no record for %s", shown(run, expect));
    for (uint32_t i = 0; i < pawl__json_len(values); i++) {
        const struct pawl_json_member *member = pawl__json_member(values, i);
        struct pawl_json actual = plain(run, pawl__json_get(state, member->key));
        char what[256];

        (void)snprintf(what, sizeof what, "state %.*s of %s", PAWL_STR_ARG(member->key),
                       shown(run, pawl__json_get_text(expect, key)));
        if (!same(run, what, &member->value, &actual))
            return false;
    }
    return has_keys(run, "state", pawl__json_get_text(expect, "hasState"), state, true) &&
           has_keys(run, "state", pawl__json_get_text(expect, "lacksState"), state, false) &&
           has_keys(run, "outputs", pawl__json_get_text(expect, "hasOutputs"),
                    pawl__json_get_text(record, "outputs"), true);
}

static bool expect_records(struct running *run, const struct pawl_json *list)
{
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        if (!expect_record(run, pawl__json_at(list, i)))
            return false;
    }
    return true;
}

/* Every state went through its text already. */
static bool expect_altered(struct running *run, const struct pawl_json *expect)
{
    return pawl__json_true(expect) == run->alter_succeeded ||
           differs(run, "the alterations were %s", run->alter_succeeded ? "applied" : "refused");
}

/* The instance is exported, deleted, imported and exported again. */
static bool expect_round_trip(struct running *run, const struct pawl_json *value)
{
    struct pawl_str id = pawl__str(run->entry_id);
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_json first, second;
    int status;

    if (!pawl__json_true(value))
        return differs(run, "a round trip that is not to succeed is not known");
    status = pawl__runtime_export(run->runtime, id, &run->arena, &first, deadline(run), &err);
    if (status == PAWL_OK)
        status = pawl__runtime_delete(run->runtime, id, deadline(run), &err);
    if (status == PAWL_OK)
        status = pawl__runtime_import(run->runtime, &first, NULL, deadline(run), &err);
    if (status == PAWL_OK)
        status = pawl__runtime_export(run->runtime, id, &run->arena, &second, deadline(run), &err);
    if (status != PAWL_OK)
        return differs(run, "round trip of the state: %s", err.msg);
    return pawl__json_equal(&first, &second) ||
           differs(run, "after a round trip the state is %s", shown(run, &second));
}

/* ---- all keys ---------------------------------------------------------------------------- */

static const struct {
    const char *key;
    bool (*check)(struct running *run, const struct pawl_json *value);
} checks[] = {
    {"status", expect_status},
    {"subStatus", expect_sub_status},
    {"incidents", expect_incidents},
    {"minIncidents", expect_min_incidents},
    {"incidentMessages", expect_messages},
    {"incidentMessagesContain", expect_messages_contain},
    {"incidentTypes", expect_incident_types},
    {"lines", expect_lines},
    {"linesAnyOrder", expect_lines_any_order},
    {"linesContain", expect_lines_contain},
    {"linesNotContain", expect_lines_not_contain},
    {"linesContainAny", expect_lines_contain_any},
    {"lastLine", expect_last_line},
    {"linePatterns", expect_line_patterns},
    {"lineContains", expect_line_contains},
    {"lineJson", expect_line_json},
    {"name", expect_name},
    {"correlationId", expect_correlation},
    {"bookmarks", expect_bookmarks},
    {"bookmarkNames", expect_bookmark_names},
    {"bookmarkPayloads", expect_payloads},
    {"scheduled", expect_scheduled},
    {"completionCallbacks", expect_callbacks},
    {"variables", expect_variables},
    {"variableLengths", expect_variable_lengths},
    {"output", expect_output},
    {"outputKeys", expect_output_keys},
    {"outputContains", expect_output_contains},
    {"outputAbsentOrNull", expect_output_absent},
    {"activities", expect_activities},
    {"log", expect_log},
    {"records", expect_records},
    {"instances", expect_instances},
    {"publish", expect_published},
    {"definitions", expect_definitions},
    {"triggers", expect_triggers},
    {"registry", expect_registry},
    {"stateRoundTrip", expect_round_trip},
    {"stubRequests", expect_stub_requests},
    {"alterSucceeded", expect_altered},
};

#define CHECK_COUNT (sizeof checks / sizeof *checks)

bool expect_all(struct running *run, const struct pawl_json *expect)
{
    uint32_t known = 0;

    for (size_t i = 0; i < CHECK_COUNT; i++) {
        const struct pawl_json *value = pawl__json_get_text(expect, checks[i].key);

        if (value && !checks[i].check(run, value))
            return false;
        known += value != NULL;
    }
    return known == pawl__json_len(expect) ||
           differs(run, "an expectation that nobody knows in %s", shown(run, expect));
}
