/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations about all instances, definitions, triggers and activity types. */
#include "conformance/expect.h"

#include "engine/load/catalog.h"
#include "runtime/definitions/private.h"

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

/* ---- instances --------------------------------------------------------------------------- */

static bool matches_status(const struct seen *instance, const struct pawl_json *expect)
{
    struct pawl_str sub = text_of(expect, "subStatus");

    return sub.len == 0 || pawl__str_equal(text_of(&instance->state, "subStatus"), sub);
}

/* By a path of names, letters compared without case: how a payload is spelt depends on its way. */
static bool same_path(struct running *run, const struct pawl_json *expected,
                      const struct pawl_json *actual)
{
    if (!pawl__json_is(expected, PAWL_JSON_OBJECT))
        return same(run, "output", expected, actual);
    for (uint32_t i = 0; i < pawl__json_len(expected); i++) {
        const struct pawl_json_member *member = pawl__json_member(expected, i);

        if (!same_path(run, &member->value, pawl__json_get_nocase(actual, member->key)))
            return false;
    }
    return true;
}

/* "a.b.c" -> value: each key is a dotted path. */
static bool same_dotted(struct running *run, const struct pawl_json *expected,
                        const struct pawl_json *output)
{
    for (uint32_t i = 0; i < pawl__json_len(expected); i++) {
        const struct pawl_json_member *member = pawl__json_member(expected, i);
        const struct pawl_json *at = output;
        size_t from = 0;

        while (from <= member->key.len) {
            size_t dot = pawl__str_find(member->key, '.', from);

            at = pawl__json_get_nocase(at, pawl__str_slice(member->key, from, dot));
            from = dot == SIZE_MAX ? SIZE_MAX : dot + 1;
            if (from == SIZE_MAX)
                break;
        }
        if (!same_path(run, &member->value, at))
            return false;
    }
    return true;
}

static bool check_properties(struct running *run, const struct pawl_json *expect,
                             const struct pawl_json *actual)
{
    const struct pawl_json *wanted = pawl__json_get_text(expect, "properties");
    const struct pawl_json *lacks = pawl__json_get_text(expect, "lacksProperties");

    for (uint32_t i = 0; i < pawl__json_len(wanted); i++) {
        const struct pawl_json_member *member = pawl__json_member(wanted, i);

        if (!same_or_special(run, member->key.ptr, &member->value,
                             pawl__json_get(actual, member->key)))
            return false;
    }
    for (uint32_t i = 0; i < pawl__json_len(lacks); i++) {
        if (pawl__json_get(actual, pawl__json_str(pawl__json_at(lacks, i))))
            return differs(run, "an instance has property %s", shown(run, pawl__json_at(lacks, i)));
    }
    return true;
}

static bool check_instance(struct running *run, const struct pawl_json *expect,
                           const struct seen *instance)
{
    const struct pawl_json *state = &instance->state;
    const struct seen *entry = seen_entry(run);
    const struct pawl_json *parent = pawl__json_get_text(expect, "parent");
    const struct pawl_json *version = pawl__json_get_text(expect, "version");
    const struct pawl_json *path = pawl__json_get_text(expect, "outputPath");
    const struct pawl_json *status = pawl__json_get_text(expect, "status");

    if (status && !same(run, "status of an instance", status, pawl__json_get_text(state, "status")))
        return false;
    if (parent && !same_or_special(run, "parent", parent,
                                   pawl__json_get_text(state, "parentWorkflowInstanceId")))
        return false;
    if (version && !same(run, "version of an instance", version,
                         pawl__json_get_text(state, "definitionVersion")))
        return false;
    if (path) {
        struct pawl_json output = plain(run, pawl__json_get_text(state, "output"));

        if (!same_dotted(run, path, &output))
            return false;
    }
    if (pawl__json_true(pawl__json_get_text(expect, "finishedAfterEntry")) &&
        (!entry ||
         pawl__str_compare(text_of(state, "finishedAt"), text_of(&entry->state, "finishedAt")) < 0))
        return differs(run, "an instance finished before the entry instance");
    return check_properties(run, expect, pawl__json_get_text(state, "properties"));
}

static bool check_correlations(struct running *run, const struct pawl_json *expected,
                               const struct pawl_json *actual)
{
    bool equal = pawl__json_len(expected) == pawl__json_len(actual);

    for (uint32_t i = 0; i < pawl__json_len(expected) && equal; i++)
        equal = has_text(actual, pawl__json_str(pawl__json_at(expected, i)));
    return equal || differs(run, "correlation ids: expected %s, got %s", shown(run, expected),
                            shown(run, actual));
}

static bool expect_instance(struct running *run, const struct pawl_json *expect)
{
    struct pawl_str id = text_of(expect, "definitionId");
    const struct pawl_json *correlations = pawl__json_get_text(expect, "correlationIds");
    struct pawl_json found = pawl__json_array();
    const struct seen *instance;
    int64_t count = 0, all = 0, wanted;

    FOR_EACH_SEEN(instance, run)
    {
        const struct pawl_json *correlation =
            pawl__json_get_text(&instance->state, "correlationId");

        if (!pawl__str_equal(instance->definition_id, id))
            continue;
        all++;
        count += matches_status(instance, expect);
        if (!check_instance(run, expect, instance))
            return false;
        if (correlation && pawl__json_append(&run->arena, &found, *correlation) != PAWL_OK)
            return differs(run, "out of memory");
    }
    if (pawl__json_to_int(pawl__json_get_text(expect, "count"), &wanted)) {
        if (count != wanted)
            return differs(run, "instances of %.*s: expected %lld, got %lld", PAWL_STR_ARG(id),
                           (long long)wanted, (long long)count);
    } else if (count != all) {
        return differs(run, "instances of %.*s: only %lld of %lld are %.*s", PAWL_STR_ARG(id),
                       (long long)count, (long long)all,
                       PAWL_STR_ARG(text_of(expect, "subStatus")));
    }
    if (pawl__json_to_int(pawl__json_get_text(expect, "minCount"), &wanted) && all < wanted)
        return differs(run, "instances of %.*s: at least %lld, got %lld", PAWL_STR_ARG(id),
                       (long long)wanted, (long long)all);
    return !correlations || check_correlations(run, correlations, &found);
}

bool expect_instances(struct running *run, const struct pawl_json *list)
{
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        if (!expect_instance(run, pawl__json_at(list, i)))
            return false;
    }
    return true;
}

/* ---- definitions ------------------------------------------------------------------------- */

/* The object with this id, at any depth. */
static const struct pawl_json *find_activity(const struct pawl_json *value, struct pawl_str id)
{
    if (pawl__str_equal(text_of(value, "id"), id))
        return value;
    for (uint32_t i = 0; i < pawl__json_len(value); i++) {
        const struct pawl_json *found = find_activity(pawl__json_at(value, i), id);

        if (found)
            return found;
    }
    return NULL;
}

/* The definition as stored; null when there is none. */
static struct pawl_json find_definition(struct running *run, struct pawl_str id,
                                        enum pawl_version_pick pick)
{
    struct pawl_definition_row row;
    struct pawl_json json;

    if (pawl__definitions_find(definitions_of(run), id, pick, 0, &run->arena, &row, deadline(run),
                               NULL) != PAWL_OK ||
        pawl__definition_read_into(&run->arena, &row, &json, NULL) != PAWL_OK)
        return pawl__json_null();
    return json;
}

bool expect_definitions(struct running *run, const struct pawl_json *list)
{
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        const struct pawl_json *expect = pawl__json_at(list, i);
        const struct pawl_json *keys = pawl__json_get_text(expect, "json");
        bool latest = pawl__str_is(text_of(expect, "version"), "Latest");
        const struct pawl_json definition =
            find_definition(run, text_of(expect, "definitionId"),
                            latest ? PAWL_VERSIONS_LATEST : PAWL_VERSIONS_PUBLISHED);
        const struct pawl_json *json = &definition;

        if (pawl__json_get_text(expect, "activity"))
            json = find_activity(pawl__json_get_text(json, "root"), text_of(expect, "activity"));
        if (!json || pawl__json_is(json, PAWL_JSON_NULL))
            return differs(run, "no such definition or activity: %s", shown(run, expect));
        for (uint32_t k = 0; k < pawl__json_len(keys); k++) {
            const struct pawl_json_member *member = pawl__json_member(keys, k);

            if (!same(run, member->key.ptr, &member->value,
                      pawl__json_get_nocase(json, member->key)))
                return false;
        }
    }
    return true;
}

bool expect_published(struct running *run, const struct pawl_json *list)
{
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        const struct pawl_json *expect = pawl__json_at(list, i);
        const struct pawl_json *errors = pawl__json_get_text(expect, "errors");
        const struct pawl_json *contain = pawl__json_get_text(expect, "errorsContain");
        const struct pawl_publication *said;
        struct pawl_json actual = pawl__json_array();
        int64_t index = 0;

        (void)pawl__json_to_int(pawl__json_get_text(expect, "definition"), &index);
        said = &run->published[index];
        for (uint32_t k = 0; k < said->problems.count; k++) {
            const struct pawl_problem *problem = &said->problems.items[k];

            if (problem->level == PAWL_PROBLEM_INVALID &&
                pawl__json_append(&run->arena, &actual,
                                  pawl__json_string(pawl__str(problem->message))) != PAWL_OK)
                return differs(run, "out of memory");
        }
        if (said->succeeded != pawl__json_true(pawl__json_get_text(expect, "succeeded")))
            return differs(run, "publishing definition %lld %s: %s", (long long)index,
                           said->succeeded ? "succeeded" : "failed", shown(run, &actual));
        if (errors && !same(run, "validation errors", errors, &actual))
            return false;
        for (uint32_t k = 0; k < pawl__json_len(contain); k++) {
            struct pawl_str part = pawl__json_str(pawl__json_at(contain, k));
            const char *all = shown(run, &actual);

            if (!memmem(all, strlen(all), part.ptr, part.len))
                return differs(run, "no validation error with '%.*s': %s", PAWL_STR_ARG(part), all);
        }
    }
    return true;
}

/* ---- triggers and types ------------------------------------------------------------------ */

static bool matches_payload(struct running *run, const struct pawl_json *expected,
                            const struct pawl_trigger_row *trigger)
{
    const struct pawl_json payload = parsed(run, trigger->payload);
    size_t before = run->why.len;

    for (uint32_t i = 0; i < pawl__json_len(expected); i++) {
        const struct pawl_json_member *member = pawl__json_member(expected, i);

        if (!same_or_special(run, "payload", &member->value,
                             pawl__json_get_nocase(&payload, member->key))) {
            run->why.len = before;
            return false;
        }
    }
    return true;
}

static bool wants_trigger(const struct pawl_json *expect, const struct pawl_trigger_row *trigger)
{
    struct pawl_str activity_id = text_of(expect, "activityId");
    struct pawl_str definition_id = text_of(expect, "definitionId");
    struct pawl_str name = text_of(expect, "name");

    return (activity_id.len == 0 || pawl__str_equal(activity_id, trigger->activity_id)) &&
           (definition_id.len == 0 || pawl__str_equal(definition_id, trigger->definition_id)) &&
           (name.len == 0 || pawl__str_equal(name, trigger->name));
}

/* How many triggers are meant, and how many of them have this payload (NULL: any). */
static int64_t count_triggers(struct running *run, const struct pawl_json *expect,
                              const struct pawl_json *payload)
{
    struct pawl_rows rows;
    int64_t count = 0;

    if (!all_rows(run, PAWL_TABLE_TRIGGERS, &rows))
        return -1;
    for (size_t i = 0; i < rows.count; i++) {
        const struct pawl_trigger_row *trigger = &((const struct pawl_trigger_row *)rows.rows)[i];

        if (wants_trigger(expect, trigger) && (!payload || matches_payload(run, payload, trigger)))
            count++;
    }
    return count;
}

bool expect_triggers(struct running *run, const struct pawl_json *list)
{
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        const struct pawl_json *expect = pawl__json_at(list, i);
        const struct pawl_json *payloads = pawl__json_get_text(expect, "payloads");
        int64_t count = count_triggers(run, expect, NULL), wanted;

        if (pawl__json_to_int(pawl__json_get_text(expect, "count"), &wanted) && count != wanted)
            return differs(run, "triggers %s: got %lld", shown(run, expect), (long long)count);
        if (pawl__json_to_int(pawl__json_get_text(expect, "min"), &wanted) && count < wanted)
            return differs(run, "triggers %s: got %lld", shown(run, expect), (long long)count);
        for (uint32_t k = 0; k < pawl__json_len(payloads); k++) {
            if (count_triggers(run, expect, pawl__json_at(payloads, k)) == 0)
                return differs(run, "no trigger with payload %s",
                               shown(run, pawl__json_at(payloads, k)));
        }
    }
    return true;
}

/* Whether a type is there, and whether a designer shows it. Drafts are no types yet. */
static bool find_type(struct running *run, struct pawl_str type, bool *browsable)
{
    bool present = pawl__engine_activity(&run->engine, type) != NULL;
    struct pawl_catalog catalog;
    struct pawl_rows rows;

    *browsable = present;
    pawl__catalog_init(&catalog, &run->arena);
    if (!all_rows(run, PAWL_TABLE_DEFINITIONS, &rows))
        return false;
    for (size_t i = 0; i < rows.count; i++) {
        const struct pawl_definition_row *row = &((const struct pawl_definition_row *)rows.rows)[i];
        struct pawl_json *json = pawl__arena_alloc(&run->arena, sizeof *json);

        if (!json || pawl__definition_read_into(&run->arena, row, json, NULL) != PAWL_OK ||
            pawl__catalog_add(&catalog, json) != PAWL_OK)
            return differs(run, "definitions cannot be read");
    }
    for (uint32_t i = 0; i < catalog.count; i++) {
        if (pawl__str_equal(catalog.entries[i].type, type) && catalog.entries[i].published)
            present = *browsable = true;
    }
    return present;
}

bool expect_registry(struct running *run, const struct pawl_json *list)
{
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        const struct pawl_json *expect = pawl__json_at(list, i);
        struct pawl_str type = text_of(expect, "type");
        bool browsable, present = find_type(run, type, &browsable);

        if (present != pawl__json_true(pawl__json_get_text(expect, "present")))
            return differs(run, "activity type %.*s is %s", PAWL_STR_ARG(type),
                           present ? "there" : "not there");
        if (pawl__json_get_text(expect, "browsable") &&
            browsable != pawl__json_true(pawl__json_get_text(expect, "browsable")))
            return differs(run, "activity type %.*s is %sbrowsable", PAWL_STR_ARG(type),
                           browsable ? "" : "not ");
    }
    return true;
}
