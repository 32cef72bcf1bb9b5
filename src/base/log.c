/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loggers, the life of a line, and the sink in memory. How a line looks is in log_text.c and
 * log_json.c; writing to a file descriptor is in os/log_sink.c.
 *
 * A line is made in an array on the stack through a struct pawl_buf whose allocator hands out that
 * array and refuses anything larger. A field that does not fit is taken back and tried with half
 * its text, so that what arrives is always whole: a JSON line stays JSON.
 */
#include "base/log.h"

#include "base/log_line.h"

/* Messages are literals of a few words; one that is not may not crowd out the fields. */
#define MESSAGE_MAX 512
/* A text is not worth showing when less than this is left of it. */
#define CUT_MIN 8

static const char *const level_names[] = {"off", "error", "warn", "info", "debug", "trace"};
#define LEVEL_COUNT (sizeof level_names / sizeof *level_names)

const char *pawl_log_level_name(enum pawl_log_level level)
{
    return (size_t)level < LEVEL_COUNT ? level_names[level] : "off";
}

int pawl_log_level_parse(const char *name, enum pawl_log_level *level)
{
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        if (pawl__str_is(pawl__str(name), level_names[i])) {
            *level = (enum pawl_log_level)i;
            return 1;
        }
    }
    return 0;
}

void pawl_log_init(struct pawl_log *log, const struct pawl_log_config *config)
{
    *log = (struct pawl_log){
        .level = config->sink.write ? config->level : PAWL_LOG_OFF,
        .config = *config,
    };
}

void pawl_log_child(struct pawl_log *child, const struct pawl_log *parent,
                    const struct pawl_log_field *fields)
{
    *child = (struct pawl_log){.level = PAWL_LOG_OFF};
    if (!parent)
        return;
    child->level = parent->level;
    child->config = parent->config;
    child->parent = parent;
    child->fields = fields;
}

/* ---- the line --------------------------------------------------------------------------- */

/* Hands out the one array that ctx is, however often it is resized. */
static void *fixed_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ptr;
    (void)old_size;
    return new_size > 0 && new_size <= PAWL_LOG_LINE_MAX ? ctx : NULL;
}

/* At most `max` bytes, never half a character. */
static struct pawl_str cut_str(struct pawl_str s, size_t max)
{
    if (s.len <= max)
        return s;
    while (max > 0 && ((unsigned char)s.ptr[max] & 0xC0) == 0x80)
        max--;
    return pawl__str_make(s.ptr, max);
}

/* The text of a field that has one, without reading more than a line could ever show. */
static struct pawl_str text_of(const struct pawl_log_field *field)
{
    const char *text = NULL;
    size_t len = SIZE_MAX;

    if (field->kind == PAWL_LOG_KIND_TEXT) {
        text = field->u.text;
        len = field->len;
    } else if (field->kind == PAWL_LOG_KIND_ERROR && field->u.error) {
        text = field->u.error->msg;
    }
    if (!text)
        return pawl__str("");
    return pawl__str_make(text, len == SIZE_MAX ? strnlen(text, PAWL_LOG_LINE_MAX + 1) : len);
}

static bool try_piece(struct pawl_log_line *line, const struct pawl_log_format_ops *ops,
                      const struct pawl_log_piece *piece)
{
    struct pawl_log_line before = *line;

    ops->field(line, piece);
    if (line->out.status == PAWL_OK) {
        line->first = false;
        return true;
    }
    *line = before; /* the array behind it keeps what came before */
    return false;
}

/* Returns whether the whole field is in the line. */
static bool put_field(struct pawl_log_line *line, const struct pawl_log_format_ops *ops,
                      const struct pawl_log_field *field)
{
    struct pawl_str whole = text_of(field);
    struct pawl_log_piece piece = {.field = field, .text = cut_str(whole, PAWL_LOG_LINE_MAX)};

    piece.cut = piece.text.len < whole.len;
    while (!try_piece(line, ops, &piece)) {
        if (piece.text.len / 2 < CUT_MIN)
            return false;
        piece.text = cut_str(piece.text, piece.text.len / 2);
        piece.cut = true;
    }
    return !piece.cut;
}

/* After the first cut the line is full; fields behind it would only look complete. */
static bool put_fields(struct pawl_log_line *line, const struct pawl_log_format_ops *ops,
                       const struct pawl_log_field *fields)
{
    for (; fields && fields->kind != PAWL_LOG_KIND_END; fields++) {
        if (!put_field(line, ops, fields))
            return false;
    }
    return true;
}

static bool put_fixed_fields(struct pawl_log_line *line, const struct pawl_log_format_ops *ops,
                             const struct pawl_log *log)
{
    if (!log)
        return true;
    return put_fixed_fields(line, ops, log->parent) && put_fields(line, ops, log->fields);
}

void pawl_log_write(const struct pawl_log *log, enum pawl_log_level level, const char *message,
                    const struct pawl_log_field *fields)
{
    const struct pawl_log_config *config = &log->config;
    const struct pawl_log_format_ops *ops =
        config->format == PAWL_LOG_FORMAT_JSON ? &pawl__log_json_ops : &pawl__log_text_ops;
    struct pawl_civil time;
    char bytes[PAWL_LOG_LINE_MAX];
    const struct pawl_allocator fixed = {fixed_resize, bytes};
    struct pawl_log_line line = {.log = log, .first = true};
    bool whole;

    if (!config->sink.write)
        return;
    pawl__datetime_civil(pawl__datetime_from_unix_ns(pawl_env_wall_ns(config->env)), &time);
    pawl__buf_init(&line.out, &fixed, PAWL_LOG_LINE_MAX - 1 - PAWL_LOG_END_MAX);
    ops->begin(&line, level, &time, cut_str(pawl__str(message), MESSAGE_MAX));
    whole = put_fixed_fields(&line, ops, log) && put_fields(&line, ops, fields);
    line.out.max = PAWL_LOG_LINE_MAX - 1;
    ops->end(&line, !whole);
    PAWL_ASSERT(line.out.status == PAWL_OK);
    config->sink.write(config->sink.ctx, line.out.ptr, line.out.len);
}

/* ---- the sink in memory ----------------------------------------------------------------- */

void pawl__log_memory_init(struct pawl_log_memory *memory, char *bytes, size_t size_bytes)
{
    memory->bytes = bytes;
    memory->size_bytes = size_bytes;
    atomic_init(&memory->len, 0);
    atomic_init(&memory->lost_count, 0);
}

static void memory_write(void *ctx, const char *line, size_t size_bytes)
{
    struct pawl_log_memory *memory = ctx;
    size_t at = atomic_load(&memory->len);

    do {
        if (size_bytes > memory->size_bytes - at) {
            atomic_fetch_add(&memory->lost_count, 1);
            return;
        }
    } while (!atomic_compare_exchange_weak(&memory->len, &at, at + size_bytes));
    memcpy(memory->bytes + at, line, size_bytes);
}

struct pawl_log_sink pawl__log_memory_sink(struct pawl_log_memory *memory)
{
    return (struct pawl_log_sink){memory_write, memory};
}

struct pawl_str pawl__log_memory_peek(const struct pawl_log_memory *memory)
{
    return pawl__str_make(memory->bytes, atomic_load(&memory->len));
}
