/* SPDX-License-Identifier: Apache-2.0 */
/* Journals: the execution log of an instance in order, as [[activityId, event], …]. */
#include "conformance/expect.h"

#include <stdio.h>

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

static bool same_entry(const struct pawl_json *expected, const struct pawl_json *record)
{
    return pawl__json_equal(pawl__json_at(expected, 0),
                            pawl__json_get_text(record, "activityId")) &&
           pawl__json_equal(pawl__json_at(expected, 1), pawl__json_get_text(record, "eventName"));
}

/* The place of the first difference; UINT32_MAX when there is none. */
static uint32_t compare(const struct pawl_json *expected, const struct pawl_json *log)
{
    uint32_t i = 0, wanted = pawl__json_len(expected), got = pawl__json_len(log);

    while (i < wanted && i < got && same_entry(pawl__json_at(expected, i), pawl__json_at(log, i)))
        i++;
    /* The reference forgets to store that an instance was cancelled. */
    if (i == wanted && i + 1 == got &&
        pawl__str_is(text_of(pawl__json_at(log, i), "eventName"), "Workflow cancelled"))
        return UINT32_MAX;
    return i == wanted && i == got ? UINT32_MAX : i;
}

static bool check(struct running *run, const char *whose, const struct pawl_json *expected,
                  const struct pawl_json *log)
{
    uint32_t at = compare(expected, log);
    const struct pawl_json *record = pawl__json_at(log, at);

    if (at == UINT32_MAX)
        return true;
    return differs(run, "journal of %s, entry %u: expected %s, got [\"%.*s\",\"%.*s\"]", whose,
                   at + 1, shown(run, pawl__json_at(expected, at)),
                   PAWL_STR_ARG(text_of(record, "activityId")),
                   PAWL_STR_ARG(text_of(record, "eventName")));
}

/* The nth instance of a definition besides the entry instance; NULL when there are not as many. */
static const struct seen *nth_child(struct running *run, struct pawl_str definition_id, uint32_t n)
{
    const struct seen *instance;

    FOR_EACH_SEEN(instance, run)
    {
        if (!pawl__str_is(instance->id, run->entry_id) &&
            pawl__str_equal(instance->definition_id, definition_id) && n-- == 0)
            return instance;
    }
    return NULL;
}

/* How many elements before the nth are of the same definition. */
static uint32_t rank(const struct pawl_json *children, uint32_t n)
{
    struct pawl_str id = text_of(pawl__json_at(children, n), "definitionId");
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++)
        count += pawl__str_equal(text_of(pawl__json_at(children, i), "definitionId"), id);
    return count;
}

/* How many journals before the nth are the same, of the same definition. */
static uint32_t same_before(const struct pawl_json *children, uint32_t n)
{
    const struct pawl_json *child = pawl__json_at(children, n);
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct pawl_json *other = pawl__json_at(children, i);

        count += pawl__str_equal(text_of(other, "definitionId"), text_of(child, "definitionId")) &&
                 pawl__json_equal(pawl__json_get_text(other, "journal"),
                                  pawl__json_get_text(child, "journal"));
    }
    return count;
}

/* Children are recorded without order: any assignment of instances to journals will do, each to one
 * of its own. */
static bool check_child(struct running *run, const struct pawl_json *children, uint32_t n)
{
    const struct pawl_json *child = pawl__json_at(children, n);
    const struct pawl_json *journal = pawl__json_get_text(child, "journal");
    struct pawl_str id = text_of(child, "definitionId");
    const struct seen *instance = nth_child(run, id, rank(children, n));
    uint32_t taken = same_before(children, n);

    if (!instance)
        return differs(run, "child %u of %.*s was not started", n + 1, PAWL_STR_ARG(id));
    for (uint32_t i = 0; nth_child(run, id, i); i++) {
        if (compare(journal, seen_log(run, nth_child(run, id, i))) == UINT32_MAX && taken-- == 0)
            return true;
    }
    return check(run, "a child", journal, seen_log(run, instance)) &&
           differs(run, "fewer children of %.*s than journals have the journal of child %u",
                   PAWL_STR_ARG(id), n + 1);
}

bool expect_journals(struct running *run, const struct pawl_json *journals)
{
    const struct pawl_json *children = pawl__json_get_text(journals, "children");
    const struct pawl_json *entry = pawl__json_get_text(journals, "entry");
    const struct seen *instance = seen_entry(run);

    if (entry && (!instance || !check(run, "the entry instance", entry, seen_log(run, instance))))
        return false;
    for (uint32_t i = 0; i < pawl__json_len(children); i++) {
        if (!check_child(run, children, i))
            return false;
    }
    return true;
}

void print_journal(struct running *run, const struct pawl_json *journals)
{
    const struct pawl_json *expected = pawl__json_get_text(journals, "entry");
    const struct seen *entry = seen_entry(run);
    const struct pawl_json *log = entry ? seen_log(run, entry) : NULL;
    uint32_t wanted = pawl__json_len(expected), got = pawl__json_len(log);

    for (uint32_t i = 0; i < wanted || i < got; i++) {
        const struct pawl_json *left = pawl__json_at(expected, i);
        const struct pawl_json *right = pawl__json_at(log, i);
        struct pawl_str message = text_of(right, "message");

        printf("# %4u %c %-24s %-12s | %-24s %-12s %.*s\n", i + 1,
               left && right && same_entry(left, right) ? ' ' : '*',
               pawl__json_str(pawl__json_at(left, 0)).ptr,
               pawl__json_str(pawl__json_at(left, 1)).ptr, text_of(right, "activityId").ptr,
               text_of(right, "eventName").ptr, PAWL_STR_ARG(message));
    }
}
