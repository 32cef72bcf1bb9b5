/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the pull reader sees what the parser saw: walks a reader along a DOM. Shared by the
 * fuzzer and the unit tests.
 */
#ifndef PAWL_TESTS_FUZZ_JSON_AGREE_H
#define PAWL_TESTS_FUZZ_JSON_AGREE_H

#include "base/json/json.h"

/* Identical, not only equal: the same type, the same number kind, the same text. */
static inline bool json_same_scalar(const struct pawl_json *a, const struct pawl_json *b)
{
    if (a->type != b->type)
        return false;
    if (a->type == PAWL_JSON_STRING || a->type == PAWL_JSON_NUMBER)
        return pawl__str_equal(pawl__str_make(a->u.text, a->len),
                               pawl__str_make(b->u.text, b->len));
    return pawl__json_equal(a, b);
}

/* The reader is about to give the event of `value`, or has (`event`) when `begun`. */
static inline bool json_reader_agrees(struct pawl_json_reader *reader,
                                      const struct pawl_json *value)
{
    bool is_object = pawl__json_is(value, PAWL_JSON_OBJECT);
    enum pawl_json_event event;
    struct pawl_json read;

    if (pawl__json_reader_next(reader, &event, &read, NULL) != PAWL_OK)
        return false;
    if (pawl__json_type(value) < PAWL_JSON_ARRAY)
        return event == PAWL_JSON_EVENT_SCALAR && json_same_scalar(value, &read);
    if (event != (is_object ? PAWL_JSON_EVENT_BEGIN_OBJECT : PAWL_JSON_EVENT_BEGIN_ARRAY))
        return false;
    for (uint32_t i = 0; i < pawl__json_len(value); i++) {
        if (is_object) {
            if (pawl__json_reader_next(reader, &event, &read, NULL) != PAWL_OK ||
                event != PAWL_JSON_EVENT_KEY ||
                !pawl__str_equal(pawl__json_str(&read), pawl__json_member(value, i)->key))
                return false;
        }
        if (!json_reader_agrees(reader, pawl__json_at(value, i)))
            return false;
    }
    return pawl__json_reader_next(reader, &event, &read, NULL) == PAWL_OK &&
           event == (is_object ? PAWL_JSON_EVENT_END_OBJECT : PAWL_JSON_EVENT_END_ARRAY);
}

/* Reads to the end or the first failure; answers that. */
static inline int json_reader_drain(struct pawl_json_reader *reader, struct pawl_error *err)
{
    enum pawl_json_event event;
    struct pawl_json read;

    for (;;) {
        int status = pawl__json_reader_next(reader, &event, &read, err);

        if (status != PAWL_OK || event == PAWL_JSON_EVENT_END)
            return status;
    }
}

#endif
