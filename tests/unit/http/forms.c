/* SPDX-License-Identifier: Apache-2.0 */
/* Queries and forms with parts. */
#include "http/multipart.h"
#include "http/query.h"
#include "lib/test.h"

#include <stdio.h>
#include <string.h>

#define ARENA_MAX ((size_t)1 << 20)

struct fixture {
    struct test_allocator alloc;
    struct pawl_arena arena;
};

static void open_fixture(struct fixture *f)
{
    test_allocator_init(&f->alloc);
    pawl__arena_init(&f->arena, &f->alloc.base, ARENA_MAX);
}

static void close_fixture(struct fixture *f)
{
    pawl__arena_release(&f->arena);
    assert_int_equal(f->alloc.live_count, 0);
}

/* ---- queries ----------------------------------------------------------------------------- */

static void a_query_is_decoded_in_order(void **state)
{
    struct fixture f;
    struct pawl_query query;

    (void)state;
    open_fixture(&f);
    assert_code(pawl__query_parse(pawl__str("a=1&b=x%20y+z&a=2&c&=d&&e=%C3%A4&A=3&f=a=b&g=%2B"),
                                  &f.arena, &query),
                PAWL_OK);
    assert_int_equal(query.count, 9);
    assert_str(pawl__query_value(&query, "a"), "1");
    assert_str(pawl__query_nth(&query, "a", 1), "2");
    assert_str(pawl__query_nth(&query, "a", 2), "3"); /* names have no case */
    assert_null(pawl__query_nth(&query, "a", 3).ptr);
    assert_str(pawl__query_value(&query, "b"), "x y z");
    assert_str(pawl__query_value(&query, "c"), "");
    assert_non_null(pawl__query_value(&query, "c").ptr);
    assert_str(pawl__query_value(&query, ""), "d");
    assert_str(pawl__query_value(&query, "e"), "\xc3\xa4");
    assert_str(pawl__query_value(&query, "f"), "a=b");
    assert_str(pawl__query_value(&query, "g"), "+");
    assert_null(pawl__query_value(&query, "nothing").ptr);
    assert_code(pawl__query_parse(pawl__str(""), &f.arena, &query), PAWL_OK);
    assert_int_equal(query.count, 0);
    close_fixture(&f);
}

static void wrong_queries_are_refused(void **state)
{
    static const char *const wrong[] = {"a=%", "a=%4", "a=%zz", "%ff=a", "a=%00", "a=%c3"};
    struct fixture f;
    struct pawl_query query;
    char many[PAWL_QUERY_FIELDS_MAX * 2 + 2];

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_code(pawl__query_parse(pawl__str(wrong[i]), &f.arena, &query), PAWL_EPARSE);
    assert_code(pawl__query_parse(pawl__str_make("a\0b", 3), &f.arena, &query), PAWL_EPARSE);
    memset(many, '&', sizeof many);
    assert_code(pawl__query_parse(pawl__str_make(many, sizeof many), &f.arena, &query),
                PAWL_ELIMIT);
    close_fixture(&f);
}

static int parse_query(struct test_allocator *alloc, void *arg)
{
    struct pawl_arena arena;
    struct pawl_query query;
    int status;

    (void)arg;
    pawl__arena_init(&arena, &alloc->base, ARENA_MAX);
    status = pawl__query_parse(pawl__str("a=1&b=2"), &arena, &query);
    pawl__arena_release(&arena);
    return status;
}

static void a_query_without_memory_fails(void **state)
{
    (void)state;
    test_sweep_allocations(parse_query, NULL, 20);
}

/* ---- forms ------------------------------------------------------------------------------- */

#define TYPE "multipart/form-data; boundary=XX"
#define HEAD(name) "Content-Disposition: form-data; name=\"" name "\"\r\n"

/* What the parts say, as text: "name|file|type|content;" for each, then how it ended. */
static void describe(struct fixture *f, const char *type, struct pawl_str body, char *out,
                     size_t size)
{
    struct pawl_multipart form;
    struct pawl_part part;
    int status = pawl__multipart_open(pawl__str(type), body, &form);
    size_t len = 0;

    out[0] = '\0';
    while (status == PAWL_OK &&
           (status = pawl__multipart_next(&form, &f->arena, &part)) == PAWL_OK && len < size)
        len += (size_t)snprintf(
            out + len, size - len, "%.*s|%.*s|%.*s|%.*s;", PAWL_STR_ARG(part.name),
            (int)part.file_name.len, part.file_name.ptr ? part.file_name.ptr : "",
            (int)part.content_type.len, part.content_type.ptr ? part.content_type.ptr : "",
            PAWL_STR_ARG(part.content));
    if (len < size)
        (void)snprintf(out + len, size - len, "%s", pawl_error_name(status));
}

struct form_case {
    const char *name, *type, *body, *seen;
};

static const struct form_case forms[] = {
    {"two fields", TYPE, "--XX\r\n" HEAD("a") "\r\n1\r\n--XX\r\n" HEAD("b") "\r\n2\r\n--XX--\r\n",
     "a|||1;b|||2;PAWL_ENOTFOUND"},
    {"a file", TYPE,
     "--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.json\"\r\n"
     "Content-Type: application/json\r\n\r\n{}\r\n--XX--",
     "f|a.json|application/json|{};PAWL_ENOTFOUND"},
    {"a path keeps its last part only", TYPE,
     "--XX\r\nContent-Disposition: form-data; name=f; "
     "filename=\"C:\\dir\\x.txt\"\r\n\r\n\r\n--XX--",
     "f|x.txt||;PAWL_ENOTFOUND"},
    {"folders upwards too", TYPE,
     "--XX\r\nContent-Disposition: form-data; name=f; filename=\"../../etc/passwd\"\r\n\r\n\r\n"
     "--XX--",
     "f|passwd||;PAWL_ENOTFOUND"},
    {"quotes within quotes", TYPE,
     "--XX\r\nContent-Disposition: form-data; name=\"a\\\"b\"\r\n\r\n1\r\n--XX--",
     "a\"b|||1;PAWL_ENOTFOUND"},
    {"content with dashes and lines", TYPE,
     "--XX\r\n" HEAD("a") "\r\n--X\r\n-\r\n --XX\r\nx--XX\r\n--XX--",
     "a|||--X\r\n-\r\n --XX\r\nx--XX;PAWL_ENOTFOUND"},
    {"empty content", TYPE, "--XX\r\n" HEAD("a") "\r\n--XX--", "a|||;PAWL_ENOTFOUND"},
    {"what stands before and behind", TYPE, "hello\r\n--XX\r\n" HEAD("a") "\r\n1\r\n--XX--\r\nbye",
     "a|||1;PAWL_ENOTFOUND"},
    {"no part", TYPE, "--XX--", "PAWL_ENOTFOUND"},
    {"a boundary in quotes", "multipart/form-data; charset=x; boundary=\"a b\"",
     "--a b\r\n" HEAD("a") "\r\n1\r\n--a b--", "a|||1;PAWL_ENOTFOUND"},
    {"white space behind the boundary", TYPE, "--XX \t\r\n" HEAD("a") "\r\n1\r\n--XX--",
     "a|||1;PAWL_ENOTFOUND"},
    {"no end", TYPE, "--XX\r\n" HEAD("a") "\r\n1\r\n", "PAWL_EPARSE"},
    {"an end without line", TYPE, "--XX\r\n" HEAD("a") "\r\n1--XX--", "PAWL_EPARSE"},
    {"nothing", TYPE, "", "PAWL_EPARSE"},
    {"no name", TYPE, "--XX\r\nContent-Type: x\r\n\r\n1\r\n--XX--", "PAWL_EPARSE"},
    {"two names", TYPE, "--XX\r\nContent-Disposition: form-data; name=a; name=b\r\n\r\n1\r\n--XX--",
     "PAWL_EPARSE"},
    {"two dispositions", TYPE, "--XX\r\n" HEAD("a") HEAD("b") "\r\n1\r\n--XX--", "PAWL_EPARSE"},
    {"another disposition", TYPE,
     "--XX\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n--XX--", "PAWL_EPARSE"},
    {"a bare LF", TYPE, "--XX\n" HEAD("a") "\r\n1\r\n--XX--", "PAWL_EPARSE"},
    {"a bare LF in a head", TYPE, "--XX\r\nContent-Disposition: form-data; name=a\n\r\n1\r\n--XX--",
     "PAWL_EPARSE"},
    {"a folded field", TYPE,
     "--XX\r\nContent-Disposition: form-data;\r\n name=a\r\n\r\n1\r\n--XX--", "PAWL_EPARSE"},
    {"a name that is not UTF-8", TYPE, "--XX\r\n" HEAD("\xff") "\r\n1\r\n--XX--", "PAWL_EPARSE"},
    {"open quotes", TYPE, "--XX\r\nContent-Disposition: form-data; name=\"a\r\n\r\n1\r\n--XX--",
     "PAWL_EPARSE"},
    {"another type", "text/plain; boundary=XX", "--XX--", "PAWL_EINVAL"},
    {"no boundary", "multipart/form-data", "--XX--", "PAWL_EINVAL"},
    {"two boundaries", "multipart/form-data; boundary=a; boundary=b", "--a--", "PAWL_EINVAL"},
    {"a boundary that is none", "multipart/form-data; boundary=\"a\xc3\xa4\"", "", "PAWL_EINVAL"},
};

static void forms_are_taken_apart_or_refused(void **state)
{
    struct fixture f;
    char text[512];

    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        describe(&f, forms[i].type, pawl__str(forms[i].body), text, sizeof text);
        if (strcmp(text, forms[i].seen) != 0)
            fail_msg("%s: \"%s\" instead of \"%s\"", forms[i].name, text, forms[i].seen);
    }
    close_fixture(&f);
}

static void forms_have_limits(void **state)
{
    static char body[64 << 10];
    struct fixture f;
    struct pawl_multipart form;
    struct pawl_part part;
    size_t len;
    int status = PAWL_OK, count = 0;

    (void)state;
    open_fixture(&f);
    len = (size_t)snprintf(body, sizeof body, "--XX\r\nX: ");
    memset(body + len, 'x', PAWL_MULTIPART_HEAD_BYTES_MAX);
    assert_code(pawl__multipart_open(pawl__str(TYPE), pawl__str_make(body, sizeof body), &form),
                PAWL_OK);
    assert_code(pawl__multipart_next(&form, &f.arena, &part), PAWL_ELIMIT);
    len = 0;
    while (len + 100 < sizeof body)
        len += (size_t)snprintf(body + len, sizeof body - len, "--XX\r\n" HEAD("a") "\r\n\r\n");
    assert_code(pawl__multipart_open(pawl__str(TYPE), pawl__str_make(body, len), &form), PAWL_OK);
    while ((status = pawl__multipart_next(&form, &f.arena, &part)) == PAWL_OK)
        count++;
    assert_code(status, PAWL_ELIMIT);
    assert_int_equal(count, PAWL_MULTIPART_PARTS_MAX);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_is_decoded_in_order),
        cmocka_unit_test(wrong_queries_are_refused),
        cmocka_unit_test(a_query_without_memory_fails),
        cmocka_unit_test(forms_are_taken_apart_or_refused),
        cmocka_unit_test(forms_have_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
