/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places in a JSON text: line, column and JSON pointer of an offset, the messages about faults,
 * and the way back from a pointer to an offset. All of it re-scans the text, because it is needed
 * only when something failed; nothing is allocated.
 */
#include "base/error.h"
#include "base/json/lex.h"

#include <stdio.h>

const struct pawl_json_limits pawl__json_limits_default = {
    .bytes_max = (size_t)64 << 20,
    .depth_max = 256,
};

#define BYTES_MAX ((size_t)1 << 30)

struct pawl_json_limits pawl__json_limits_clamp(const struct pawl_json_limits *limits)
{
    struct pawl_json_limits held = limits ? *limits : pawl__json_limits_default;

    if (held.bytes_max > BYTES_MAX)
        held.bytes_max = BYTES_MAX;
    if (held.depth_max > PAWL_JSON_DEPTH_MAX)
        held.depth_max = PAWL_JSON_DEPTH_MAX;
    return held;
}

/* ---- line and column -------------------------------------------------------------------- */

static void find_line(struct pawl_str text, size_t offset, struct pawl_json_place *place)
{
    place->offset = offset;
    place->line = 1;
    place->column = 1;
    for (size_t i = lex_bom(text); i < offset && i < text.len; i++) {
        if (text.ptr[i] == '\n') {
            place->line++;
            place->column = 1;
        } else if (!lex_is_tail((unsigned char)text.ptr[i])) {
            place->column++;
        }
    }
}

/* ---- pointer ---------------------------------------------------------------------------- */

/* A pointer being written; once it did not fit, it ends in "…" and takes no more. */
struct path {
    char *text;
    size_t len;
    bool cut;
};

#define PATH_MAX_BYTES (sizeof((struct pawl_json_place *)NULL)->pointer - sizeof "…")

static void path_bytes(struct path *path, const char *bytes, size_t count)
{
    if (path->cut)
        return;
    if (count > PATH_MAX_BYTES - path->len) {
        path->cut = true;
        memcpy(path->text + path->len, "…", sizeof "…");
        return;
    }
    memcpy(path->text + path->len, bytes, count);
    path->len += count;
    path->text[path->len] = '\0';
}

static void path_byte_escaped(struct path *path, const char *bytes, size_t count)
{
    if (count == 1 && bytes[0] == '~')
        path_bytes(path, "~0", 2);
    else if (count == 1 && bytes[0] == '/')
        path_bytes(path, "~1", 2);
    else
        path_bytes(path, bytes, count);
}

/* Appends the name whose opening quote is at `p`, character by character so that a cut is clean. */
static void path_key(struct path *path, const char *p, const char *end)
{
    PAWL_ASSERT(p);
    path_bytes(path, "/", 1);
    for (p++; p < end && *p != '"';) {
        struct lex_stop stop;
        char decoded[4];
        char *to = decoded;

        if (*p == '\\') {
            p = pawl__json_unescape(p, end, &to, &stop);
            if (!p)
                return;
            path_byte_escaped(path, decoded, (size_t)(to - decoded));
        } else {
            size_t length = (unsigned char)*p < 0x80 ? 1 : lex_sequence(p, (size_t)(end - p));

            if (length == 0)
                return;
            path_byte_escaped(path, p, length);
            p += length;
        }
    }
}

static void path_index(struct path *path, uint32_t index)
{
    char digits[16];

    path_bytes(path, digits, (size_t)snprintf(digits, sizeof digits, "/%u", index));
}

/* Back to an earlier length; `cut` is whether it was cut even then. */
static void path_back(struct path *path, size_t len, bool cut)
{
    path->len = len;
    path->cut = cut;
    if (!cut)
        path->text[len] = '\0';
}

/* Behind the string whose opening quote is at `p`, or `end`. */
static const char *pass_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++) {
        if (*p == '\\' && p + 1 < end)
            p++;
    }
    return p < end ? p + 1 : end;
}

/* One open container on the way to the place. */
struct level {
    uint32_t index; /* of the element */
    uint16_t len;   /* of the pointer of the container */
    bool cut;       /* that pointer */
    bool is_object;
    bool value_begun; /* OBJECT: behind the colon of a member */
};

struct walk {
    struct path path;
    const char *key; /* opening quote of the last member name */
    size_t depth;
    struct level levels[PAWL_JSON_DEPTH_MAX];
};

static void walk_back(struct walk *walk, const struct level *level)
{
    path_back(&walk->path, level->len, level->cut);
}

static void walk_in(struct walk *walk, bool is_object)
{
    PAWL_ASSERT(walk->depth < PAWL_JSON_DEPTH_MAX);
    walk->levels[walk->depth++] = (struct level){
        .len = (uint16_t)walk->path.len, .cut = walk->path.cut, .is_object = is_object};
    if (!is_object)
        path_index(&walk->path, 0);
}

/* Passes the byte of structure at `p`, with the text valid up to `stop`. */
static void walk_on(struct walk *walk, const char *p, const char *stop)
{
    struct level *level = walk->depth > 0 ? &walk->levels[walk->depth - 1] : NULL;

    if (*p == '{' || *p == '[') {
        walk_in(walk, *p == '{');
        return;
    }
    if (!level)
        return;
    switch (*p) {
    case '"':
        if (level->is_object && !level->value_begun)
            walk->key = p;
        break;
    case ':':
        path_key(&walk->path, walk->key, stop);
        level->value_begun = true;
        break;
    case ',':
        walk_back(walk, level);
        level->value_begun = false;
        if (!level->is_object)
            path_index(&walk->path, ++level->index);
        break;
    case '}':
    case ']':
        walk_back(walk, level);
        walk->depth--;
        break;
    default:
        break;
    }
}

/*
 * Follows the text up to the offset and leaves the pointer of the innermost value that has begun
 * or is due there and is not complete. All before is valid, so structure is all there is to see.
 */
static void find_pointer(struct pawl_str text, size_t offset, enum lex_fault fault, char *pointer)
{
    struct walk walk;
    const char *stop = text.ptr + offset;

    walk.path = (struct path){.text = pointer};
    walk.depth = 0;
    walk.key = NULL;
    pointer[0] = '\0';
    for (const char *p = text.ptr + lex_bom(text); p < stop;) {
        walk_on(&walk, p, stop);
        p = *p == '"' ? pass_string(p, stop) : p + 1;
    }
    /* There the element or member is complete: its container is what goes on. */
    if (walk.depth > 0 && (fault == LEX_AFTER_ELEMENT || fault == LEX_AFTER_MEMBER))
        walk_back(&walk, &walk.levels[walk.depth - 1]);
}

/* ---- messages --------------------------------------------------------------------------- */

static const char *const fault_text[] = {
#define FAULT_TEXT(name, text, found) text,
    LEX_FAULTS(FAULT_TEXT)
#undef FAULT_TEXT
};

static const bool fault_found[] = {
#define FAULT_FOUND(name, text, found) found,
    LEX_FAULTS(FAULT_FOUND)
#undef FAULT_FOUND
};

/* ", found …" for what stands at the offset. */
static void describe_found(struct pawl_str text, size_t offset, char *out, size_t size)
{
    const char *p = text.ptr + offset;
    size_t length;

    if (offset >= text.len) {
        (void)snprintf(out, size, ", found the end of the text");
        return;
    }
    length = (unsigned char)*p < 0x80 ? 1 : lex_sequence(p, text.len - offset);
    if (length == 0)
        (void)snprintf(out, size, ", found the byte 0x%02X", (unsigned)(unsigned char)*p);
    else if ((unsigned char)*p < 0x20 || *p == 0x7F)
        (void)snprintf(out, size, ", found U+%04X", (unsigned)(unsigned char)*p);
    else
        (void)snprintf(out, size, ", found '%.*s'", (int)length, p);
}

int pawl__json_fail(struct pawl_str text, size_t offset, enum lex_fault fault, uint32_t depth_max,
                    struct pawl_json_place *place, struct pawl_error *err)
{
    struct pawl_json_place here;
    char found[64] = "";
    bool inside;

    if (!place)
        place = &here;
    if (text.len == 0)
        text = pawl__str("");
    find_line(text, offset, place);
    find_pointer(text, offset, fault, place->pointer);
    inside = place->pointer[0] != '\0';
    if (fault == LEX_DEPTH)
        (void)snprintf(found, sizeof found, ": %u levels are allowed", depth_max);
    else if (fault_found[fault])
        describe_found(text, offset, found, sizeof found);
    return pawl__error_set(err, fault == LEX_DEPTH ? PAWL_ELIMIT : PAWL_EPARSE,
                           "line %u, column %u: %s%s%s%s%s", place->line, place->column,
                           fault_text[fault], found, inside ? " (at " : "", place->pointer,
                           inside ? ")" : "");
}

/* ---- locate ----------------------------------------------------------------------------- */

/* Behind the value at `p`, or `end`; the text is one that parses. */
static const char *pass_value(const char *p, const char *end)
{
    size_t depth = 0;

    while (p < end) {
        if (*p == '"') {
            p = pass_string(p, end);
        } else if (*p == '{' || *p == '[') {
            depth++;
            p++;
        } else if (*p == '}' || *p == ']') {
            if (depth == 0)
                return p;
            depth--;
            p++;
        } else if (depth == 0 && (*p == ',' || *p == ':' || lex_is_space(*p))) {
            return p;
        } else {
            p++;
            continue; /* inside a scalar, or between values deeper down */
        }
        if (depth == 0)
            return p;
    }
    return end;
}

/* Takes one character of a pointer's token off *s, where ~0 and ~1 are one; false at a bad one. */
static bool token_next(struct pawl_str *s, char *c)
{
    size_t length = 1;

    if (s->len == 0)
        return false;
    *c = s->ptr[0];
    if (*c == '~') {
        if (s->len < 2 || (s->ptr[1] != '0' && s->ptr[1] != '1'))
            return false;
        *c = s->ptr[1] == '1' ? '/' : '~';
        length = 2;
    }
    *s = pawl__str_slice(*s, length, s->len);
    return true;
}

/* Whether the name whose opening quote is at `p` is what the token says. */
static bool key_is(const char *p, const char *end, struct pawl_str token)
{
    struct lex_stop stop;
    char c;

    for (p++; p < end && *p != '"';) {
        char decoded[4];
        char *to = decoded;

        if (*p == '\\') {
            p = pawl__json_unescape(p, end, &to, &stop);
            if (!p)
                return false;
        } else {
            *to++ = *p++;
        }
        for (const char *at = decoded; at < to; at++) {
            if (!token_next(&token, &c) || c != *at)
                return false;
        }
    }
    return token.len == 0;
}

/* Where in the container at `p` the child of that token begins; NULL when there is none. */
static const char *find_child(const char *p, const char *end, struct pawl_str token)
{
    bool is_object = *p == '{';
    const char *hit = NULL;
    uint32_t index = 0;
    uint32_t wanted = 0;

    if (!is_object && (*p != '[' || !pawl__json_pointer_index(token, &wanted)))
        return NULL;
    p = lex_skip(p + 1, end);
    while (p < end && *p != '}' && *p != ']') {
        bool match = is_object ? *p == '"' && key_is(p, end, token) : index++ == wanted;
        const char *behind;

        if (is_object) {
            p = lex_skip(pass_string(p, end), end);
            if (p == end || *p != ':')
                return NULL;
            p = lex_skip(p + 1, end);
        }
        if (match)
            hit = p;
        behind = lex_skip(pass_value(p, end), end);
        if (behind == p)
            return NULL; /* not a text that parses */
        p = behind;
        if (p < end && *p == ',')
            p = lex_skip(p + 1, end);
    }
    return hit;
}

int pawl__json_locate(struct pawl_str text, struct pawl_str pointer, struct pawl_json_place *place)
{
    struct pawl_str rest = pointer;
    const char *end = text.ptr + text.len;
    const char *p;
    struct path path;

    if (text.len == 0)
        return PAWL_ENOTFOUND;
    p = lex_skip(text.ptr + lex_bom(text), end);
    while (rest.len > 0) {
        size_t next = pawl__str_find(rest, '/', 1);

        if (rest.ptr[0] != '/' || p == end)
            return PAWL_ENOTFOUND;
        p = find_child(p, end, pawl__str_slice(rest, 1, next));
        if (!p)
            return PAWL_ENOTFOUND;
        rest = pawl__str_slice(rest, next, rest.len);
    }
    if (p == end)
        return PAWL_ENOTFOUND;
    find_line(text, (size_t)(p - text.ptr), place);
    path = (struct path){.text = place->pointer};
    place->pointer[0] = '\0';
    for (size_t i = 0; i < pointer.len;) {
        size_t from = i;

        (void)pawl__utf8_next(pointer, &i);
        path_bytes(&path, pointer.ptr + from, i - from);
    }
    return PAWL_OK;
}
