/* SPDX-License-Identifier: Apache-2.0 */
/* A store is one tenant's: documents of another tenant are refused, and nothing of them is kept. */
#include "unit/runtime/nodes.h"

#define OF_TENANT(tenant) DEFINITION("d", "'tenantId':" tenant ",", RIG_EVENT("e", "Go"))
#define ADVICE "each tenant has a store of its own"

static struct pawl_definitions *definitions(struct fixture *f)
{
    return pawl__runtime_definitions(f->a.runtime);
}

static int import_definition(struct fixture *f, const char *text)
{
    struct pawl_json definition = json(f, text);

    return pawl__definitions_import(definitions(f), &definition, &f->arena, NULL, later(f),
                                    &f->err);
}

static void definitions_of_the_stores_tenant_are_accepted(void **state)
{
    static const char *const own[] = {OF_TENANT("''"), OF_TENANT("null"), OF_TENANT("'*'"),
                                      DEFINITION("d", "'TenantId':'',", RIG_EVENT("e", "Go"))};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        assert_ok(import_definition(f, own[i]), &f->err);
}

static void definitions_of_another_tenant_are_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_json definition = json(f, OF_TENANT("'acme'"));
    struct pawl_publication said;
    struct pawl_definition_row row;

    assert_code(import_definition(f, OF_TENANT("'acme'")), PAWL_EUNSUPPORTED);
    assert_non_null(strstr(f->err.msg, "tenant 'acme'"));
    assert_non_null(strstr(f->err.msg, ADVICE));
    assert_code(import_definition(f, DEFINITION("d", "'TenantID':'acme',", RIG_EVENT("e", "Go"))),
                PAWL_EUNSUPPORTED);
    assert_code(import_definition(f, OF_TENANT("7")), PAWL_EPARSE);
    assert_code(
        pawl__definitions_provide(definitions(f), &definition, &f->arena, &row, later(f), &f->err),
        PAWL_EUNSUPPORTED);
    assert_code(pawl__definitions_save_published(definitions(f), NULL, &definition, pawl__str(""),
                                                 NULL, &f->arena, &row, &said, later(f), &f->err),
                PAWL_EUNSUPPORTED);
    assert_code(pawl__definitions_validate(definitions(f), &definition, &f->arena, &said, later(f),
                                           &f->err),
                PAWL_EUNSUPPORTED);
    assert_int_equal(count(f, PAWL_TABLE_DEFINITIONS), 0);
}

/* What a start of the definition exports, without the instance. */
static struct pawl_json exported(struct fixture *f)
{
    struct pawl_json document;
    struct pawl_outcome outcome;

    publish(f, DEFINITION("d", "", RIG_EVENT("e", "Go")));
    outcome = start(f, "d");
    assert_ok(pawl__runtime_export(f->a.runtime, pawl__str(outcome.instance_id), &f->arena,
                                   &document, later(f), &f->err),
              &f->err);
    assert_ok(pawl__runtime_delete(f->a.runtime, pawl__str(outcome.instance_id), later(f), &f->err),
              &f->err);
    return document;
}

static struct pawl_json with_tenant(struct fixture *f, struct pawl_json object, const char *tenant)
{
    struct pawl_json copy;

    assert_int_equal(pawl__json_copy(&f->arena, &object, &copy), PAWL_OK);
    assert_int_equal(pawl__json_set(&f->arena, &copy, pawl__str("tenantId"),
                                    pawl__json_string(pawl__str(tenant))),
                     PAWL_OK);
    return copy;
}

static int import_instance(struct fixture *f, struct pawl_json document)
{
    struct pawl_outcome outcome;

    return pawl__runtime_import(f->a.runtime, &document, &outcome, later(f), &f->err);
}

/* The document itself, the state, and each record: `place` has one of them. */
static struct pawl_json of_tenant(struct fixture *f, struct pawl_json document, const char *place,
                                  const char *tenant)
{
    struct pawl_json inner;

    if (!place)
        return with_tenant(f, document, tenant);
    inner = *pawl__json_get_text(&document, place);
    if (pawl__json_is(&inner, PAWL_JSON_ARRAY)) {
        struct pawl_json list = pawl__json_array();

        assert_true(pawl__json_len(&inner) > 0);
        for (uint32_t i = 0; i < pawl__json_len(&inner); i++)
            assert_int_equal(
                pawl__json_append(&f->arena, &list,
                                  i > 0 ? *pawl__json_at(&inner, i)
                                        : with_tenant(f, *pawl__json_at(&inner, i), tenant)),
                PAWL_OK);
        inner = list;
    } else {
        inner = with_tenant(f, inner, tenant);
    }
    assert_int_equal(pawl__json_set(&f->arena, &document, pawl__str(place), inner), PAWL_OK);
    return document;
}

static void instances_of_another_tenant_are_refused(void **state)
{
    static const char *const places[] = {NULL, "WorkflowState", "Bookmarks",
                                         "ActivityExecutionRecords", "WorkflowExecutionLogRecords"};
    struct fixture *f = *state;
    struct pawl_json document = exported(f), copy;

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        assert_int_equal(pawl__json_copy(&f->arena, &document, &copy), PAWL_OK);
        assert_code(import_instance(f, of_tenant(f, copy, places[i], "acme")), PAWL_EUNSUPPORTED);
        assert_non_null(strstr(f->err.msg, "tenant 'acme'"));
        assert_non_null(strstr(f->err.msg, ADVICE));
    }
    assert_int_equal(count(f, PAWL_TABLE_INSTANCES), 0);
    assert_ok(import_instance(f, of_tenant(f, document, "Bookmarks", "")), &f->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(definitions_of_the_stores_tenant_are_accepted),
        TEST(definitions_of_another_tenant_are_refused),
        TEST(instances_of_another_tenant_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
