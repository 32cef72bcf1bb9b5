/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser: text to DOM.
 *
 * The text is copied into the arena once, with padding, and the strings of the DOM are decoded in
 * that copy: un-escaping only shortens, and a NUL goes over the closing quote. Values are
 * collected on a stack of 16-byte slots; when a container ends, its slots are copied to the arena
 * in one piece, which is why a member is laid out as two slots, key and value. Nothing recurses.
 *
 * A fault is remembered as a place in the copy and a reason; line, column and pointer are found
 * from the untouched original by place.c.
 */
#include "base/json/json.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/json/lex.h"

#define PADDING 32       /* what is read behind the text at most: 16 bytes from its end on */
#define SLOTS_INLINE 512 /* enough for nearly all documents; more come from the allocator */

/* Stands where the value of an open container will be. */
struct frame {
    uint32_t outer; /* slot of the container around */
    bool is_object;
};

union slot {
    struct pawl_json value;
    struct pawl_str key;
    struct frame frame;
};

_Static_assert(sizeof(union slot) == 16, "a slot is a value");
_Static_assert(sizeof(struct pawl_json_member) == 2 * sizeof(union slot) &&
                   offsetof(struct pawl_json_member, key) == 0 &&
                   offsetof(struct pawl_json_member, value) == sizeof(union slot),
               "a member is two slots");

struct parser {
    struct pawl_arena *arena;
    const char *end; /* of the padded copy */
    union slot *slots;
    size_t top; /* slots in use */
    size_t cap;
    uint32_t frame; /* slot of the innermost open container */
    uint32_t depth;
    uint32_t depth_max;
    bool in_object;
    const char *text_end; /* of the text in the copy */
    struct lex_stop stop;
    int status; /* of memory; PAWL_OK when the text is at fault */
    union slot first[SLOTS_INLINE];
};

static bool grow(struct parser *parser)
{
    const struct pawl_allocator *alloc = parser->arena->alloc;
    size_t size = parser->cap * sizeof parser->slots[0];
    union slot *slots;

    if (parser->slots == parser->first) {
        slots = pawl__alloc(alloc, 4 * size);
        if (slots)
            memcpy(slots, parser->first, size);
    } else {
        slots = pawl__realloc(alloc, parser->slots, size, 4 * size);
    }
    if (!slots) {
        parser->status = PAWL_ENOMEM;
        return false;
    }
    parser->slots = slots;
    parser->cap *= 4;
    return true;
}

/* Goes on with a string that has an escape at `p`; `start` is its first character. */
static const char *escaped_string(struct parser *parser, const char *start, const char *p,
                                  struct pawl_str *out)
{
    char *copy = (char *)(uintptr_t)start; /* the parser's own copy, so it may be written to */
    char *to = copy + (p - start);

    while (*p == '\\') {
        const char *run;

        p = pawl__json_unescape(p, parser->text_end, &to, &parser->stop);
        if (!p)
            return NULL;
        run = p;
        p = lex_plain(p, parser->end);
        memmove(to, run, (size_t)(p - run));
        to += p - run;
    }
    if (*p != '"')
        return lex_bad_byte(&parser->stop, p, parser->text_end);
    *to = '\0';
    *out = pawl__str_make(copy, (size_t)(to - copy));
    return p + 1;
}

/* `p` is behind the opening quote. */
static inline const char *string(struct parser *parser, const char *p, struct pawl_str *out)
{
    const char *start = p;

    p = lex_plain(p, parser->end);
    if (PAWL_LIKELY(*p == '"')) {
        *(char *)(uintptr_t)p = '\0';
        *out = pawl__str_make(start, (size_t)(p - start));
        return p + 1;
    }
    if (*p == '\\')
        return escaped_string(parser, start, p, out);
    return lex_bad_byte(&parser->stop, p, parser->text_end);
}

/* Reads a member's name and the colon behind it into a new slot. */
static inline const char *key(struct parser *parser, const char *p, enum lex_fault fault)
{
    p = lex_skip(p, parser->end);
    if (PAWL_UNLIKELY(*p != '"'))
        return lex_stopped(&parser->stop, p, fault);
    p = string(parser, p + 1, &parser->slots[parser->top++].key);
    if (PAWL_UNLIKELY(!p))
        return NULL;
    p = lex_skip(p, parser->end);
    if (PAWL_UNLIKELY(*p != ':'))
        return lex_stopped(&parser->stop, p, LEX_COLON);
    return p + 1;
}

static inline const char *open(struct parser *parser, const char *p)
{
    if (PAWL_UNLIKELY(parser->depth == parser->depth_max))
        return lex_stopped(&parser->stop, p, LEX_DEPTH);
    parser->in_object = *p == '{';
    parser->slots[parser->top].frame = (struct frame){parser->frame, parser->in_object};
    parser->frame = (uint32_t)parser->top++;
    parser->depth++;
    return p + 1;
}

/* Makes the innermost open container a value, in the slot where its frame was. */
static inline bool close(struct parser *parser)
{
    union slot *frame = &parser->slots[parser->frame];
    uint32_t outer = frame->frame.outer;
    size_t count = parser->top - parser->frame - 1;
    union slot *items = NULL;

    if (count > 0) {
        items = pawl__arena_alloc(parser->arena, count * sizeof *items);
        if (PAWL_UNLIKELY(!items)) {
            parser->status = parser->arena->status;
            return false;
        }
        memcpy(items, frame + 1, count * sizeof *items);
    }
    frame->value = parser->in_object
                       ? (struct pawl_json){.type = PAWL_JSON_OBJECT,
                                            .len = (uint32_t)(count / 2),
                                            .u.members = (struct pawl_json_member *)(void *)items}
                       : (struct pawl_json){.type = PAWL_JSON_ARRAY,
                                            .len = (uint32_t)count,
                                            .u.items = (struct pawl_json *)(void *)items};
    parser->top = (size_t)parser->frame + 1;
    parser->frame = outer;
    parser->depth--;
    parser->in_object = parser->depth > 0 && parser->slots[outer].frame.is_object;
    return true;
}

/* Reads a scalar into a new slot. */
static inline const char *scalar(struct parser *parser, const char *p)
{
    struct pawl_json *value = &parser->slots[parser->top++].value;
    struct pawl_str s;

    if (*p == '"') {
        p = string(parser, p + 1, &s);
        if (PAWL_LIKELY(p))
            *value = (struct pawl_json){
                .type = PAWL_JSON_STRING, .len = (uint32_t)s.len, .u.text = s.ptr};
        return p;
    }
    if (*p == '-' || lex_is_digit(*p))
        return pawl__json_lex_number(p, parser->end, value, &parser->stop);
    return lex_literal(p, parser->text_end, value, &parser->stop);
}

/*
 * Reads what stands between two values: commas, and ends of containers. Returns where the next
 * value or key begins or, when the outermost container has ended, the rest of the text.
 */
static inline const char *between(struct parser *parser, const char *p)
{
    while (parser->depth > 0) {
        p = lex_skip(p, parser->end);
        if (*p == ',')
            return p + 1;
        if (PAWL_UNLIKELY(*p != (parser->in_object ? '}' : ']')))
            return lex_stopped(&parser->stop, p,
                               parser->in_object ? LEX_AFTER_MEMBER : LEX_AFTER_ELEMENT);
        if (PAWL_UNLIKELY(!close(parser)))
            return NULL;
        p++;
    }
    return p;
}

/* Reads the whole text, whose value ends up in slot 0. NULL on a fault. */
static const char *document(struct parser *parser, const char *p)
{
    enum lex_fault no_key = LEX_KEY;

    do {
        if (PAWL_UNLIKELY(parser->cap - parser->top < 2) && !grow(parser))
            return NULL;
        if (parser->in_object) {
            p = key(parser, p, no_key);
            if (PAWL_UNLIKELY(!p))
                return NULL;
        }
        p = lex_skip(p, parser->end);
        if (*p == '{' || *p == '[') {
            char last = (char)(*p + 2); /* of the same kind: '}' or ']' */

            p = open(parser, p);
            if (PAWL_UNLIKELY(!p))
                return NULL;
            p = lex_skip(p, parser->end);
            no_key = LEX_KEY_OR_END;
            if (*p != last)
                continue;
        } else {
            p = scalar(parser, p);
            if (PAWL_UNLIKELY(!p))
                return NULL;
        }
        p = between(parser, p);
        no_key = LEX_KEY;
    } while (p && parser->depth > 0);
    if (!p)
        return NULL;
    p = lex_skip(p, parser->end);
    return p == parser->text_end ? p : lex_stopped(&parser->stop, p, LEX_AFTER_END);
}

static int too_long(size_t len, size_t most, struct pawl_json_place *place, struct pawl_error *err)
{
    if (place)
        *place = (struct pawl_json_place){.line = 1, .column = 1};
    return pawl__error_set(err, PAWL_ELIMIT,
                           "line 1, column 1: the text is %zu bytes long, %zu are allowed", len,
                           most);
}

static int no_memory(int status, const struct pawl_arena *arena, struct pawl_json_place *place,
                     struct pawl_error *err)
{
    if (status != PAWL_ELIMIT)
        return pawl__error_code(err, status);
    if (place)
        *place = (struct pawl_json_place){.line = 1, .column = 1};
    return pawl__error_set(err, PAWL_ELIMIT,
                           "line 1, column 1: the document needs more memory than the %zu bytes "
                           "allowed for it",
                           arena->max_bytes);
}

int pawl__json_parse(struct pawl_arena *arena, struct pawl_str text,
                     const struct pawl_json_limits *limits, struct pawl_json *out,
                     struct pawl_json_place *place, struct pawl_error *err)
{
    struct pawl_json_limits held = pawl__json_limits_clamp(limits);
    struct parser parser;
    const char *p;
    char *copy;

    if (text.len > held.bytes_max)
        return too_long(text.len, held.bytes_max, place, err);
    copy = pawl__arena_alloc_aligned(arena, text.len + PADDING, 1);
    if (!copy)
        return no_memory(arena->status, arena, place, err);
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    memset(copy + text.len, 0, PADDING);
    parser.arena = arena;
    parser.end = copy + text.len + PADDING;
    parser.text_end = copy + text.len;
    parser.slots = parser.first;
    parser.cap = SLOTS_INLINE;
    parser.top = 0;
    parser.frame = 0;
    parser.depth = 0;
    parser.depth_max = held.depth_max;
    parser.in_object = false;
    parser.status = PAWL_OK;
    p = document(&parser, copy + lex_bom(text));
    if (p)
        *out = parser.slots[0].value;
    if (parser.slots != parser.first)
        pawl__free(arena->alloc, parser.slots, parser.cap * sizeof parser.slots[0]);
    if (p)
        return PAWL_OK;
    if (parser.status != PAWL_OK)
        return no_memory(parser.status, arena, place, err);
    return pawl__json_fail(text, (size_t)(parser.stop.at - copy), parser.stop.fault, held.depth_max,
                           place, err);
}
