/* SPDX-License-Identifier: Apache-2.0 */
/* What all parts of the loader use: problems, errors, pointers, names, texts. */
#include "engine/load/loader.h"

#include <stdarg.h>
#include <stdio.h>

struct pawl_arena *pawl__loader_arena(struct pawl_loader *loader)
{
    return loader->arena;
}

const struct pawl_engine *pawl__loader_engine(const struct pawl_loader *loader)
{
    return loader->engine;
}

/* ---- problems and errors ---------------------------------------------------------------- */

struct pawl_str pawl__loader_cut(struct pawl_str text, size_t most)
{
    struct pawl_str cut = pawl__str_slice(text, 0, most);

    if (cut.len < text.len)
        cut.len = pawl__utf8_valid_prefix(cut);
    return cut;
}

/* As vsnprintf, but never ends within a character. */
static void format_message(char *out, size_t size, const char *format, va_list args)
    PAWL_PRINTF(3, 0);
static void format_message(char *out, size_t size, const char *format, va_list args)
{
    int length = vsnprintf(out, size, format, args);

    if (length >= (int)size)
        out[pawl__utf8_valid_prefix(pawl__str(out))] = '\0';
}

/* "in workflow 'Child' at /root/x: " when an embedded definition is read, else "". */
static void write_place(const struct pawl_loader *loader, const char *pointer, char *out,
                        size_t size)
{
    struct pawl_str name, at;

    out[0] = '\0';
    if (!loader->frame || !loader->frame->outer)
        return;
    name = pawl__loader_cut(loader->frame->workflow->name, 60);
    at = pawl__loader_cut(pawl__str(*pointer ? pointer : "its head"), 200);
    (void)snprintf(out, size, "in workflow '%.*s' at %.*s: ", PAWL_STR_ARG(name), PAWL_STR_ARG(at));
}

/* Room for one more; false when it is only counted. */
static bool make_room(struct pawl_problems *problems)
{
    struct pawl_problem *grown;
    uint32_t cap = problems->cap ? problems->cap * 2 : 8;

    if (problems->count >= problems->most)
        return false;
    if (problems->count < problems->cap)
        return true;
    grown = pawl__arena_alloc_array(problems->arena, cap, sizeof *grown);
    if (!grown)
        return false;
    if (problems->count > 0)
        memcpy(grown, problems->items, problems->count * sizeof *grown);
    problems->items = grown;
    problems->cap = cap;
    return true;
}

/* Problems beyond the maximum are only counted; running out of memory is still an error. */
static void drop_problem(struct pawl_loader *loader)
{
    loader->problems->dropped++;
    if (loader->problems->arena->status == PAWL_ENOMEM)
        loader->problem_status = PAWL_ENOMEM;
}

static void add_problem(struct pawl_loader *loader, enum pawl_problem_level level,
                        const struct pawl_node *node, const char *pointer, const char *message)
{
    struct pawl_problems *problems = loader->problems;
    bool embedded = loader->frame && loader->frame->outer;
    struct pawl_problem *problem;
    struct pawl_str at, id, text;
    char place[320];

    if (!make_room(problems)) {
        drop_problem(loader);
        return;
    }
    write_place(loader, pointer, place, sizeof place);
    at = pawl__arena_str(problems->arena, pawl__str(embedded ? loader->frame->at : pointer));
    id = pawl__arena_str(problems->arena, node ? node->id : pawl__str(""));
    text = pawl__str(pawl__arena_printf(problems->arena, "%s%s", place, message));
    if (!at.ptr || !id.ptr || text.len == 0) {
        drop_problem(loader);
        return;
    }
    problem = &problems->items[problems->count++];
    *problem = (struct pawl_problem){level, at.ptr, id.ptr, text.ptr};
}

void pawl__loader_problem(struct pawl_loader *loader, enum pawl_problem_level level,
                          const struct pawl_node *node, const char *pointer, const char *format,
                          ...)
{
    char message[PAWL_ERROR_MSG_SIZE];
    va_list args;

    if (!loader->problems || loader->muted > 0)
        return;
    va_start(args, format);
    format_message(message, sizeof message, format, args);
    va_end(args);
    if (!pointer)
        pointer = node ? node->pointer.ptr : "";
    add_problem(loader, level, node, pointer, message);
}

int pawl__loader_fail(struct pawl_loader *loader, const char *pointer, const char *format, ...)
{
    char message[PAWL_ERROR_MSG_SIZE];
    char place[320];
    va_list args;

    va_start(args, format);
    format_message(message, sizeof message, format, args);
    va_end(args);
    if (loader->problems)
        add_problem(loader, PAWL_PROBLEM_INVALID, NULL, pointer, message);
    write_place(loader, pointer, place, sizeof place);
    if (place[0])
        return pawl__error_set(loader->err, PAWL_EPARSE, "%s: %s%s", loader->frame->at, place,
                               message);
    return pawl__error_set(loader->err, PAWL_EPARSE, "%s%s%s", pointer, *pointer ? ": " : "",
                           message);
}

/* ---- pointers and names ------------------------------------------------------------------ */

static void append_key(struct pawl_buf *out, const char *key)
{
    pawl__buf_byte(out, '/');
    for (; *key; key++) {
        if (*key == '~')
            pawl__buf_text(out, "~0");
        else if (*key == '/')
            pawl__buf_text(out, "~1");
        else
            pawl__buf_byte(out, *key);
    }
}

const char *pawl__loader_place(struct pawl_loader *loader, const char *base, const char *key,
                               const char *below)
{
    struct pawl_buf *place = &loader->place;

    pawl__buf_clear(place);
    pawl__buf_text(place, base);
    append_key(place, key);
    if (below)
        append_key(place, below);
    return place->status == PAWL_OK ? pawl__buf_cstr(place) : NULL;
}

const char *pawl__loader_pointer(struct pawl_loader *loader, const char *base, const char *key)
{
    const char *place = pawl__loader_place(loader, base, key, NULL);

    return place ? pawl__arena_str(loader->arena, pawl__str(place)).ptr : NULL;
}

const char *pawl__loader_element(struct pawl_loader *loader, const char *base, uint32_t index)
{
    return pawl__arena_printf(loader->arena, "%s/%u", base, index);
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/*
 * Any first character stays; after it a '_' or a run of spaces goes and what follows is a capital.
 * Only ASCII letters change.
 */
struct pawl_str pawl__workflow_type_name(struct pawl_arena *arena, struct pawl_str name)
{
    char *out = pawl__arena_alloc_aligned(arena, name.len + 1, 1);
    size_t len = 0;
    size_t i = 0;

    if (!out)
        return pawl__str_make(NULL, 0);
    if (name.len > 0)
        out[len++] = upper(name.ptr[i++]);
    while (i < name.len) {
        size_t next = i;

        if (name.ptr[i] == '_')
            next = i + 1;
        else
            while (next < name.len && name.ptr[next] == ' ')
                next++;
        if (next == i || next == name.len) { /* no separator, or nothing behind it */
            out[len++] = name.ptr[i++];
        } else {
            out[len++] = upper(name.ptr[next]);
            i = next + 1;
        }
    }
    out[len] = '\0';
    return pawl__str_make(out, len);
}

const char *pawl__loader_camel(struct pawl_loader *loader, const char *name)
{
    struct pawl_str pascal = pawl__workflow_type_name(loader->arena, pawl__str(name));
    struct pawl_str camel;
    char first;

    if (!pascal.ptr)
        return NULL;
    if (pascal.len == 0)
        return pascal.ptr;
    first = pascal.ptr[0];
    if (first >= 'A' && first <= 'Z')
        first = (char)(first - 'A' + 'a');
    camel.ptr = pawl__arena_printf(loader->arena, "%c%s", first, pascal.ptr + 1);
    return camel.ptr;
}

struct pawl_str pawl__loader_address(const void *const *of)
{
    return pawl__str_make((const char *)of, sizeof *of);
}

/* ---- values ------------------------------------------------------------------------------ */

const char *pawl__loader_found(const struct pawl_json *value)
{
    static const char *const names[] = {"null",     "a boolean", "a number", "a number",
                                        "a number", "a string",  "an array", "an object"};

    return names[pawl__json_type(value)];
}

const struct pawl_json *pawl__loader_get(const struct pawl_json *object, const char *key)
{
    const struct pawl_json *value = pawl__json_get_nocase(object, pawl__str(key));

    return pawl__json_is(value, PAWL_JSON_NULL) ? NULL : value;
}

int pawl__loader_str(struct pawl_loader *loader, const struct pawl_json *object, const char *key,
                     const char *pointer, struct pawl_str *out)
{
    const struct pawl_json *value = pawl__loader_get(object, key);
    const char *place;

    if (!value || pawl__json_is(value, PAWL_JSON_STRING)) {
        *out = pawl__json_str(value);
        return PAWL_OK;
    }
    place = pawl__loader_place(loader, pointer, key, NULL);
    if (!place)
        return PAWL_ENOMEM;
    return pawl__loader_fail(loader, place, "expected a string, found %s",
                             pawl__loader_found(value));
}

bool pawl__loader_true(const struct pawl_json *value)
{
    return pawl__json_true(value) ||
           pawl__str_equal_nocase(pawl__json_str(value), pawl__str("true"));
}

int pawl__loader_text(struct pawl_loader *loader, const struct pawl_json *value,
                      struct pawl_str *out)
{
    struct pawl_buf *scratch = &loader->scratch;

    if (pawl__json_is(value, PAWL_JSON_STRING)) {
        *out = pawl__json_str(value);
        return PAWL_OK;
    }
    pawl__buf_clear(scratch);
    if (pawl__json_is(value, PAWL_JSON_BOOL))
        pawl__buf_text(scratch, pawl__json_true(value) ? "True" : "False");
    else
        pawl__json_write(scratch, value, PAWL_JSON_ESCAPE_MINIMAL);
    if (scratch->status != PAWL_OK)
        return scratch->status;
    *out = pawl__arena_str(loader->arena, pawl__buf_peek(scratch));
    return out->ptr ? PAWL_OK : loader_memory(loader);
}

int pawl__loader_type(struct pawl_loader *loader, struct pawl_str alias,
                      const struct pawl_type **out)
{
    int status = pawl__type_find(loader->arena, alias, out);

    if (status == PAWL_OK || status == PAWL_ENOMEM || loader->arena->status != PAWL_OK)
        return status;
    *out = NULL;
    return PAWL_OK;
}

/* {"_type":…, "items":[…]}, also "values": how lists are written by some versions. */
static struct pawl_json *wrapped_array(const struct pawl_json *object)
{
    static const char *const keys[] = {"items", "values"};

    for (size_t i = 0; i < 2; i++) {
        struct pawl_json *array = pawl__json_get_text(object, keys[i]);

        if (pawl__json_is(array, PAWL_JSON_ARRAY))
            return array;
    }
    return NULL;
}

void pawl__loader_strip(struct pawl_json *value)
{
    uint32_t count;

    if (pawl__json_is(value, PAWL_JSON_OBJECT) && pawl__json_get_text(value, "_type")) {
        struct pawl_json *array = wrapped_array(value);

        if (array)
            *value = *array;
        else
            (void)pawl__json_remove(value, pawl__str("_type"));
    }
    count = pawl__json_len(value);
    for (uint32_t i = 0; i < count; i++) {
        struct pawl_json *item = pawl__json_at(value, i);

        if (pawl__json_len(item) > 0)
            pawl__loader_strip(item);
    }
}
