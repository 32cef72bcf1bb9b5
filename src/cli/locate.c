/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text is pulled through once. The pointer of each value is built as its containers open and
 * close, and looked up among those wanted; lines and characters are counted between the hits.
 */
#include "cli/locate.h"

#include "base/map.h"

struct level {
    size_t base; /* length of the container's own pointer */
    uint32_t index;
    bool is_array;
};

struct search {
    struct pawl_json_reader reader;
    struct pawl_map wanted; /* pointer -> struct pawl_json_place, line 0: not yet seen */
    struct pawl_buf path;
    struct level *levels;
    uint32_t depth;
    size_t counted; /* bytes that line and column stand for */
    uint32_t line;
    uint32_t column;
};

static void append_key(struct pawl_buf *path, struct pawl_str key)
{
    pawl__buf_byte(path, '/');
    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] == '~')
            pawl__buf_text(path, "~0");
        else if (key.ptr[i] == '/')
            pawl__buf_text(path, "~1");
        else
            pawl__buf_byte(path, key.ptr[i]);
    }
}

static void count_to(struct search *search, size_t offset)
{
    for (; search->counted < offset; search->counted++) {
        unsigned char c = (unsigned char)search->reader.text.ptr[search->counted];

        if (c == '\n') {
            search->line++;
            search->column = 1;
        } else {
            search->column += (c & 0xC0) != 0x80;
        }
    }
}

/* A value begins. */
static void visit(struct search *search)
{
    struct level *level = search->depth > 0 ? &search->levels[search->depth - 1] : NULL;
    struct pawl_json_place *place;

    if (level && level->is_array) {
        search->path.len = level->base;
        pawl__buf_printf(&search->path, "/%u", level->index++);
    }
    place = pawl__map_get(&search->wanted, pawl__buf_peek(&search->path));
    if (!place)
        return;
    count_to(search, search->reader.item_start);
    place->line = search->line;
    place->column = search->column;
}

static void open_level(struct search *search, bool is_array)
{
    search->levels[search->depth++] =
        (struct level){.base = search->path.len, .is_array = is_array};
}

static int step(struct search *search, bool *done)
{
    enum pawl_json_event event;
    struct pawl_json value;
    int status = pawl__json_reader_next(&search->reader, &event, &value, NULL);

    if (status != PAWL_OK)
        return status;
    switch (event) {
    case PAWL_JSON_EVENT_END:
        *done = true;
        break;
    case PAWL_JSON_EVENT_KEY:
        search->path.len = search->levels[search->depth - 1].base;
        append_key(&search->path, pawl__json_str(&value));
        break;
    case PAWL_JSON_EVENT_BEGIN_OBJECT:
    case PAWL_JSON_EVENT_BEGIN_ARRAY:
        visit(search);
        open_level(search, event == PAWL_JSON_EVENT_BEGIN_ARRAY);
        break;
    case PAWL_JSON_EVENT_END_OBJECT:
    case PAWL_JSON_EVENT_END_ARRAY:
        search->path.len = search->levels[--search->depth].base;
        break;
    case PAWL_JSON_EVENT_SCALAR:
        visit(search);
        break;
    }
    return search->path.status;
}

/* Enters a pointer and all around it, so that there is always one to fall back to. */
static int want(struct search *search, struct pawl_arena *arena, struct pawl_str pointer)
{
    for (;;) {
        struct pawl_json_place *place;
        int status;

        if (pawl__map_has(&search->wanted, pointer))
            return PAWL_OK;
        place = pawl__arena_alloc_zeroed(arena, sizeof *place);
        if (!place)
            return arena->status;
        status = pawl__map_put(&search->wanted, pointer, place);
        if (status != PAWL_OK || pointer.len == 0)
            return status;
        while (pointer.len > 0 && pointer.ptr[--pointer.len] != '/')
            continue;
    }
}

static void copy_place(const struct search *search, struct pawl_str pointer,
                       struct pawl_json_place *out)
{
    const struct pawl_json_place *place;

    for (;;) {
        place = pawl__map_get(&search->wanted, pointer);
        if (pointer.len == 0 || (place && place->line > 0))
            break;
        while (pointer.len > 0 && pointer.ptr[--pointer.len] != '/')
            continue;
    }
    *out = (struct pawl_json_place){.line = 1, .column = 1};
    if (place && place->line > 0)
        *out = *place;
}

int pawl__locate_all(struct pawl_arena *arena, struct pawl_hash_seed seed, struct pawl_str text,
                     const char *const *pointers, uint32_t count, struct pawl_json_place *places)
{
    struct pawl_json_limits limits = {.bytes_max = text.len, .depth_max = PAWL_JSON_DEPTH_MAX};
    struct search search = {.line = 1, .column = 1};
    bool done = false;
    int status = PAWL_OK;

    pawl__json_reader_init(&search.reader, arena, text, &limits);
    pawl__map_init(&search.wanted, arena->alloc, seed);
    pawl__buf_init(&search.path, arena->alloc, text.len * 2 + 64);
    search.levels = pawl__arena_alloc_array(arena, PAWL_JSON_DEPTH_MAX + 1, sizeof *search.levels);
    if (!search.levels)
        status = arena->status;
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++)
        status = want(&search, arena, pawl__str(pointers[i]));
    while (status == PAWL_OK && !done)
        status = step(&search, &done);
    for (uint32_t i = 0; i < count && status == PAWL_OK; i++)
        copy_place(&search, pawl__str(pointers[i]), &places[i]);
    pawl__buf_release(&search.path);
    pawl__map_release(&search.wanted);
    return status;
}
