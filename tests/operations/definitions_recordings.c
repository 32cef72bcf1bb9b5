/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions as a live Elsa wrote them, against the view: what a client sent is saved and shown,
 * and what the server wrote is read and written again. Member by member; ids, times and what the
 * recordings left out (<...>) do not count.
 */
#include "operations/desk.h"

#include "base/buf.h"
#include "operations/definitions.h"
#include "views/definitions.h"

#include <stdio.h>
#include <stdlib.h>

/* As many as matched when this was written: a number that may only grow. */
#define SENT_MIN 49u
#define WRITTEN_MIN 109u

struct tally {
    unsigned all, same;
};

static const struct pawl_json *member(const struct pawl_json *object, const char *name)
{
    return pawl__json_get_text(object, name);
}

static bool is_left_out(const struct pawl_json *recorded)
{
    struct pawl_str text = pawl__json_str(recorded);

    return text.len > 2 && text.ptr[0] == '<' && text.ptr[text.len - 1] == '>';
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool is_same(const struct pawl_json *recorded, const struct pawl_json *ours,
                    const char *path);

static void tell_difference(const struct pawl_json *recorded, const struct pawl_json *ours,
                            const char *path)
{
    const struct pawl_json none = pawl__json_null();
    struct test_allocator alloc;
    struct pawl_buf text;

    test_allocator_init(&alloc);
    pawl__buf_init(&text, &alloc.base, (size_t)64 << 20);
    pawl__json_write(&text, recorded, PAWL_JSON_ESCAPE_MINIMAL);
    pawl__buf_text(&text, "\n  and here ");
    pawl__json_write(&text, ours ? ours : &none, PAWL_JSON_ESCAPE_MINIMAL);
    print_message("%s: recorded %.*s\n", path, PAWL_STR_ARG(pawl__buf_peek(&text)));
    pawl__buf_release(&text);
}

static bool is_same_object(const struct pawl_json *recorded, const struct pawl_json *ours,
                           const char *path)
{
    char below[1024];

    for (uint32_t i = 0; i < pawl__json_len(recorded); i++) {
        const struct pawl_json_member *one = pawl__json_member(recorded, i);

        if (pawl__str_is(one->key, "source")) /* a line of the reference's own code */
            continue;
        (void)snprintf(below, sizeof below, "%s/%.*s", path, PAWL_STR_ARG(one->key));
        if (!is_same(&one->value, pawl__json_get(ours, one->key), below))
            return false;
    }
    for (uint32_t i = 0; i < pawl__json_len(ours); i++) {
        const struct pawl_json_member *one = pawl__json_member(ours, i);

        if (!pawl__json_get(recorded, one->key)) {
            print_message("%s: '%.*s' is not in the recording\n", path, PAWL_STR_ARG(one->key));
            return false;
        }
    }
    return true;
}

static bool is_same(const struct pawl_json *recorded, const struct pawl_json *ours,
                    const char *path)
{
    char below[1024];

    if (is_left_out(recorded))
        return true;
    if (ours && pawl__json_is(recorded, PAWL_JSON_OBJECT) && pawl__json_is(ours, PAWL_JSON_OBJECT))
        return is_same_object(recorded, ours, path);
    if (ours && pawl__json_is(recorded, PAWL_JSON_ARRAY) && pawl__json_is(ours, PAWL_JSON_ARRAY) &&
        pawl__json_len(recorded) == pawl__json_len(ours)) {
        for (uint32_t i = 0; i < pawl__json_len(recorded); i++) {
            (void)snprintf(below, sizeof below, "%s/%u", path, i);
            if (!is_same(pawl__json_at(recorded, i), pawl__json_at(ours, i), below))
                return false;
        }
        return true;
    }
    if (ours && pawl__json_equal(recorded, ours))
        return true;
    tell_difference(recorded, ours, path);
    return false;
}

/* The server's own business, or that of the store in which it was. */
static bool is_of_the_store(struct pawl_str key)
{
    static const char *const keys[] = {
        "links",       "id",      "definitionId", "createdAt",  "version", "isLatest",
        "isPublished", "$schema", "isSystem",     "isReadonly", NULL};

    for (size_t i = 0; keys[i]; i++) {
        if (pawl__str_is(key, keys[i]))
            return true;
    }
    return false;
}

static bool is_same_definition(const struct pawl_json *recorded, const struct pawl_json *ours,
                               const char *name)
{
    char path[512];

    for (uint32_t i = 0; i < pawl__json_len(recorded); i++) {
        const struct pawl_json_member *one = pawl__json_member(recorded, i);

        (void)snprintf(path, sizeof path, "%s: /%.*s", name, PAWL_STR_ARG(one->key));
        if (!is_of_the_store(one->key) &&
            !is_same(&one->value, pawl__json_get(ours, one->key), path))
            return false;
    }
    for (uint32_t i = 0; i < pawl__json_len(ours); i++) {
        const struct pawl_json_member *one = pawl__json_member(ours, i);

        if (!is_of_the_store(one->key) && !pawl__json_get(recorded, one->key)) {
            print_message("%s: '%.*s' is not in the recording\n", name, PAWL_STR_ARG(one->key));
            return false;
        }
    }
    return true;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void check(struct desk *desk, const struct pawl_json *given, bool is_model,
                  const struct pawl_json *recorded, const char *name, struct tally *tally)
{
    struct pawl_definition_ref ref = {.definition_id = pawl__str("case"),
                                      .versions = {PAWL_VERSIONS_LATEST, 0}};
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_definition_deleted deleted;
    struct pawl_definition_saved saved;
    struct pawl_definition_shown shown;
    struct pawl_json copy, ours;

    tally->all++;
    assert_int_equal(PAWL_OK, pawl__json_copy(&desk->arena, given, &copy));
    assert_int_equal(PAWL_OK, pawl__json_set_text(&desk->arena, &copy, "definitionId",
                                                  pawl__json_string(pawl__str("case"))));
    assert_int_equal(PAWL_OK, pawl__json_set_text(&desk->arena, &copy, "id", pawl__json_null()));
    if (pawl__op_definition_save(
            &desk->op, &(struct pawl_definition_save){.definition = &copy, .is_model = is_model},
            &saved) != PAWL_OK ||
        pawl__op_definition_show(&desk->op, &ref, &shown) != PAWL_OK) {
        print_message("%s: %s\n", name, desk->err.msg);
    } else {
        ours = pawl__view_definition(&b, &shown, false);
        assert_int_equal(PAWL_OK, b.status);
        tally->same += is_same_definition(recorded, &ours, name);
        pawl__op_definition_release(&shown);
    }
    assert_ok(pawl__op_definition_delete(&desk->op,
                                         &(struct pawl_definition_delete){
                                             .definition_id = pawl__str("case"), .force = true},
                                         &deleted),
              &desk->err);
}

static bool is_definition(const struct pawl_json *value)
{
    return member(value, "root") && member(value, "definitionId") && member(value, "isLatest") &&
           member(value, "options");
}

/* Every definition below a value. */
static void check_written(struct desk *desk, const struct pawl_json *value, const char *name,
                          struct tally *tally)
{
    if (is_definition(value)) {
        check(desk, value, false, value, name, tally);
        return;
    }
    for (uint32_t i = 0; i < pawl__json_len(value); i++)
        check_written(desk, pawl__json_at(value, i), name, tally);
}

static void check_exchange(struct desk *desk, const struct pawl_json *exchange, struct tally *sent,
                           struct tally *written)
{
    const struct pawl_json *body = member(member(exchange, "response"), "body");
    const struct pawl_json *model = member(member(member(exchange, "request"), "body"), "model");
    const struct pawl_json *saved = member(body, "workflowDefinition");
    char name[256];

    (void)snprintf(name, sizeof name, "%.*s",
                   PAWL_STR_ARG(pawl__json_str(member(exchange, "name"))));
    if (pawl__json_is(model, PAWL_JSON_OBJECT) && saved)
        check(desk, model, true, saved, name, sent);
    check_written(desk, body, name, written);
}

static void publish_child(struct desk *desk)
{
    desk_publish(desk, "{\"definitionId\":\"child\",\"name\":\"Child\",\"options\":{"
                       "\"usableAsActivity\":true},\"root\":{\"id\":\"s\",\"type\":"
                       "\"Elsa.Sequence\",\"activities\":[]}}");
}

static void definitions_are_written_as_a_live_elsa_writes_them(struct desk *desk)
{
    static const char *const files[] = {"10-definitions-save", "11-definitions-read",
                                        "12-definitions-lifecycle", "13-definitions-import-export"};
    struct tally sent = {0, 0}, written = {0, 0};

    publish_child(desk);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct pawl_json_limits limits = pawl__json_limits_default;
        struct pawl_json exchanges;
        struct pawl_str text;
        char path[512];

        (void)snprintf(path, sizeof path, "%s/golden/api/%s.json", TEST_RECORDINGS_DIR, files[i]);
        text = test_read_file(path);
        assert_ok(pawl__json_parse(&desk->arena, text, &limits, &exchanges, NULL, &desk->err),
                  &desk->err);
        for (uint32_t j = 0; j < pawl__json_len(&exchanges); j++)
            check_exchange(desk, pawl__json_at(&exchanges, j), &sent, &written);
        free((char *)(uintptr_t)text.ptr);
    }
    print_message("sent and shown: %u of %u; written again: %u of %u\n", sent.same, sent.all,
                  written.same, written.all);
    assert_true(sent.same >= SENT_MIN);
    assert_true(written.same >= WRITTEN_MIN);
}

const struct desk_test definition_recording_tests[] = {
    DESK_TEST(definitions_are_written_as_a_live_elsa_writes_them),
    {.name = NULL},
};
