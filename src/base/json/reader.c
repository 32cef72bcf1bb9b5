/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pull reader: events one at a time, straight from the borrowed text. It accepts and refuses
 * exactly what the parser does, at the same places, because both share lex.h.
 *
 * A call works on copies of its position and stores them only when it succeeds, so that a failed
 * call may be repeated and fails the same way.
 */
#include "base/error.h"
#include "base/json/lex.h"

/* What may come next. */
enum expect {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END, /* an array has just begun */
    EXPECT_KEY_OR_END,   /* an object has just begun */
    EXPECT_NEXT_OR_END,  /* behind a value in a container */
    EXPECT_NOTHING,      /* the value is complete */
};

_Static_assert(sizeof((struct pawl_json_reader *)NULL)->nesting * 8 >= PAWL_JSON_DEPTH_MAX,
               "one bit for each level");

/* One step as it is being made. */
struct step {
    const char *p;
    const char *end;
    enum pawl_json_event event;
    enum expect expect;
    struct lex_stop stop;
    int status;  /* of memory */
    bool decode; /* strings are wanted, not only checked */
};

void pawl__json_reader_init(struct pawl_json_reader *reader, struct pawl_arena *arena,
                            struct pawl_str text, const struct pawl_json_limits *limits)
{
    *reader = (struct pawl_json_reader){
        .text = text.ptr ? text : pawl__str(""),
        .limits = pawl__json_limits_clamp(limits),
        .at = lex_bom(text),
        .expect = EXPECT_VALUE,
        .arena = arena,
    };
}

static bool in_object(const struct pawl_json_reader *reader)
{
    uint32_t level = reader->depth - 1;

    return reader->depth > 0 && (reader->nesting[level / 8] >> level % 8 & 1);
}

static char peek(const struct step *step)
{
    return step->p < step->end ? *step->p : '\0';
}

static bool stop(struct step *step, enum lex_fault fault)
{
    (void)lex_stopped(&step->stop, step->p, fault);
    return false;
}

static struct pawl_json string_value(const char *text, size_t len)
{
    return (struct pawl_json){.type = PAWL_JSON_STRING, .len = (uint32_t)len, .u.text = text};
}

/* Decodes a checked string with escapes, from `p` up to its closing quote, into the arena. */
static bool decode(struct pawl_json_reader *reader, struct step *step, const char *p,
                   const char *quote, struct pawl_json *value)
{
    char *copy = pawl__arena_alloc_aligned(reader->arena, (size_t)(quote - p) + 1, 1);
    char *to = copy;

    if (!copy) {
        step->status = reader->arena->status;
        return false;
    }
    while (p < quote) {
        const char *run = lex_plain(p, quote);

        memcpy(to, p, (size_t)(run - p));
        to += run - p;
        p = run;
        if (p < quote)
            p = pawl__json_unescape(p, quote, &to, &step->stop);
        PAWL_ASSERT(p);
    }
    *to = '\0';
    *value = string_value(copy, (size_t)(to - copy));
    return true;
}

/* Reads the string at the step, which is at its opening quote. */
static bool string(struct pawl_json_reader *reader, struct step *step, struct pawl_json *value)
{
    const char *start = step->p + 1;
    const char *p = lex_plain(start, step->end);
    bool escaped = false;

    while (p < step->end && *p == '\\') {
        char decoded[4];
        char *to = decoded;

        escaped = true;
        p = pawl__json_unescape(p, step->end, &to, &step->stop);
        if (!p)
            return false;
        p = lex_plain(p, step->end);
    }
    if (p == step->end || *p != '"') {
        (void)lex_bad_byte(&step->stop, p, step->end);
        return false;
    }
    if (!escaped)
        *value = string_value(start, (size_t)(p - start));
    else if (step->decode && !decode(reader, step, start, p, value))
        return false;
    step->p = p + 1;
    return true;
}

/* Behind a complete value. */
static enum expect after_value(uint32_t depth)
{
    return depth > 0 ? EXPECT_NEXT_OR_END : EXPECT_NOTHING;
}

static bool begin(struct pawl_json_reader *reader, struct step *step)
{
    bool is_object = *step->p == '{';

    if (reader->depth == reader->limits.depth_max)
        return stop(step, LEX_DEPTH);
    step->event = is_object ? PAWL_JSON_EVENT_BEGIN_OBJECT : PAWL_JSON_EVENT_BEGIN_ARRAY;
    step->expect = is_object ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    step->p++;
    return true;
}

static bool value_step(struct pawl_json_reader *reader, struct step *step, struct pawl_json *value)
{
    char c = peek(step);
    const char *behind;

    if (c == '{' || c == '[')
        return begin(reader, step);
    step->event = PAWL_JSON_EVENT_SCALAR;
    step->expect = after_value(reader->depth);
    if (c == '"')
        return string(reader, step, value);
    if (c == '-' || lex_is_digit(c))
        behind = pawl__json_lex_number(step->p, step->end, value, &step->stop);
    else
        behind = lex_literal(step->p, step->end, value, &step->stop);
    if (!behind)
        return false;
    step->p = behind;
    return true;
}

static bool key_step(struct pawl_json_reader *reader, struct step *step, enum lex_fault fault,
                     struct pawl_json *value)
{
    if (peek(step) != '"')
        return stop(step, fault);
    if (!string(reader, step, value))
        return false;
    step->p = lex_skip(step->p, step->end);
    if (peek(step) != ':')
        return stop(step, LEX_COLON);
    step->p++;
    step->event = PAWL_JSON_EVENT_KEY;
    step->expect = EXPECT_VALUE;
    return true;
}

static bool end_step(struct pawl_json_reader *reader, struct step *step, bool is_object)
{
    step->event = is_object ? PAWL_JSON_EVENT_END_OBJECT : PAWL_JSON_EVENT_END_ARRAY;
    step->expect = after_value(reader->depth - 1);
    step->p++;
    return true;
}

/* Behind a value in a container: the end of the container, or a comma and what follows it. */
static bool next_step(struct pawl_json_reader *reader, struct step *step, size_t *item_start,
                      struct pawl_json *value)
{
    bool is_object = in_object(reader);

    if (peek(step) == (is_object ? '}' : ']'))
        return end_step(reader, step, is_object);
    if (peek(step) != ',')
        return stop(step, is_object ? LEX_AFTER_MEMBER : LEX_AFTER_ELEMENT);
    step->p = lex_skip(step->p + 1, step->end);
    *item_start = (size_t)(step->p - reader->text.ptr);
    return is_object ? key_step(reader, step, LEX_KEY, value) : value_step(reader, step, value);
}

static bool make_step(struct pawl_json_reader *reader, struct step *step, size_t *item_start,
                      struct pawl_json *value)
{
    step->p = lex_skip(step->p, step->end);
    *item_start = (size_t)(step->p - reader->text.ptr);
    switch ((enum expect)reader->expect) {
    case EXPECT_VALUE_OR_END:
        if (peek(step) == ']')
            return end_step(reader, step, false);
        return value_step(reader, step, value);
    case EXPECT_VALUE:
        return value_step(reader, step, value);
    case EXPECT_KEY_OR_END:
        if (peek(step) == '}')
            return end_step(reader, step, true);
        return key_step(reader, step, LEX_KEY_OR_END, value);
    case EXPECT_NEXT_OR_END:
        return next_step(reader, step, item_start, value);
    case EXPECT_NOTHING:
        break;
    }
    step->event = PAWL_JSON_EVENT_END;
    step->expect = EXPECT_NOTHING;
    return step->p == step->end || stop(step, LEX_AFTER_END);
}

/* Notes the level that an event begins or ends. */
static void nest(struct pawl_json_reader *reader, enum pawl_json_event event)
{
    if (event == PAWL_JSON_EVENT_BEGIN_OBJECT || event == PAWL_JSON_EVENT_BEGIN_ARRAY) {
        uint8_t *byte = &reader->nesting[reader->depth / 8];
        uint8_t bit = (uint8_t)(1u << reader->depth % 8);

        *byte = (uint8_t)(event == PAWL_JSON_EVENT_BEGIN_OBJECT ? *byte | bit : *byte & ~bit);
        reader->depth++;
    } else if (event == PAWL_JSON_EVENT_END_OBJECT || event == PAWL_JSON_EVENT_END_ARRAY) {
        reader->depth--;
    }
}

static int next(struct pawl_json_reader *reader, bool decoded, enum pawl_json_event *event,
                struct pawl_json *value, struct pawl_error *err)
{
    struct step step = {
        .p = reader->text.ptr + reader->at,
        .end = reader->text.ptr + reader->text.len,
        .decode = decoded,
    };
    size_t item_start;
    struct pawl_json read = pawl__json_null();

    if (reader->text.len > reader->limits.bytes_max)
        return pawl__error_set(err, PAWL_ELIMIT,
                               "line 1, column 1: the text is %zu bytes long, %zu are allowed",
                               reader->text.len, reader->limits.bytes_max);
    if (!make_step(reader, &step, &item_start, &read)) {
        if (step.status != PAWL_OK)
            return pawl__error_code(err, step.status);
        return pawl__json_fail(reader->text, (size_t)(step.stop.at - reader->text.ptr),
                               step.stop.fault, reader->limits.depth_max, NULL, err);
    }
    reader->at = (size_t)(step.p - reader->text.ptr);
    reader->item_start = item_start;
    reader->expect = (uint8_t)step.expect;
    nest(reader, step.event);
    *event = step.event;
    *value = read;
    return PAWL_OK;
}

int pawl__json_reader_next(struct pawl_json_reader *reader, enum pawl_json_event *event,
                           struct pawl_json *value, struct pawl_error *err)
{
    return next(reader, true, event, value, err);
}

int pawl__json_reader_skip(struct pawl_json_reader *reader, struct pawl_error *err)
{
    struct pawl_json_reader ahead = *reader;
    enum pawl_json_event event = PAWL_JSON_EVENT_END;
    struct pawl_json ignored;
    uint32_t depth = reader->depth;
    int status;

    /* Behind a BEGIN its level counts; behind a KEY the value has yet to begin. */
    if (reader->expect == EXPECT_KEY_OR_END || reader->expect == EXPECT_VALUE_OR_END)
        depth--;
    else
        PAWL_ASSERT(reader->expect == EXPECT_VALUE);
    do {
        status = next(&ahead, false, &event, &ignored, err);
        if (status != PAWL_OK)
            return status;
    } while (ahead.depth > depth);
    *reader = ahead;
    return PAWL_OK;
}
