/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logging: a line is a level, a static message and typed fields.
 *
 *     pawl_log(log, PAWL_LOG_WARN, "lock retry", pawl_log_text("instance", id),
 *              pawl_log_int("attempt", 2), pawl_log_duration_ns("wait", wait_ns));
 *
 * As text for people, and as JSON lines for machines:
 *
 *     2026-11-16 03:42:06.123 WARN  lock retry  instance=abc attempt=2 wait=1.5s
 *     {"time":"2026-11-16T03:42:06.123456Z","level":"warn","msg":"lock retry",
 *      "instance":"abc","attempt":2,"wait_ns":1500000000}            (on one line)
 *
 * The message never changes from one occurrence to the next, so that lines can be counted by it;
 * what changes is in the fields. Both formats give the time in UTC. In text no control character
 * of a value reaches the terminal; values are quoted where a reader could not tell where they end.
 *
 * There is no global logger. A logger is a small struct in the caller's storage which nothing
 * changes after its creation, so that any number of threads can use it at once. Writing a line
 * allocates nothing: the line is built on the stack, at most PAWL_LOG_LINE_MAX bytes, and reaches
 * the sink in one call. What does not fit is cut, and the line says so.
 */
#ifndef PAWL_EXT_LOG_H
#define PAWL_EXT_LOG_H

#include <pawl/error.h>
#include <pawl/ext/env.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <initializer_list>
extern "C" {
#endif

/* Newline included: what a pipe takes in one piece, so that lines of processes do not mix. */
#define PAWL_LOG_LINE_MAX 4096

/* A logger writes the lines of its own level and of those above it in this list. */
enum pawl_log_level {
    PAWL_LOG_OFF = 0, /* only as a logger's level: writes nothing */
    PAWL_LOG_ERROR,   /* a request was not carried out, and an operator should look */
    PAWL_LOG_WARN,    /* it continued, but not as it should */
    PAWL_LOG_INFO,    /* what a node does, in few lines */
    PAWL_LOG_DEBUG,   /* why it does it */
    PAWL_LOG_TRACE    /* every step */
};

enum pawl_log_format { PAWL_LOG_FORMAT_TEXT, PAWL_LOG_FORMAT_JSON };

/* ---- fields ----------------------------------------------------------------------------- */

enum pawl_log_kind {
    PAWL_LOG_KIND_END = 0,
    PAWL_LOG_KIND_TEXT,
    PAWL_LOG_KIND_INT,
    PAWL_LOG_KIND_UINT,
    PAWL_LOG_KIND_HEX,
    PAWL_LOG_KIND_BOOL,
    PAWL_LOG_KIND_DOUBLE,
    PAWL_LOG_KIND_ERROR,
    PAWL_LOG_KIND_DURATION
};

/*
 * Made by the functions below. Everything in it is borrowed until the call that writes the line
 * returns. Keys are literals of a-z, 0-9, '_' and '.'; "time", "level", "msg" and "truncated"
 * belong to the line itself.
 */
struct pawl_log_field {
    const char *key;
    enum pawl_log_kind kind;
    size_t len; /* TEXT: bytes; SIZE_MAX when NUL-terminated */
    union {
        const char *text; /* NULL is written as an empty string */
        int64_t integer;  /* INT, BOOL, DURATION */
        uint64_t natural; /* UINT, HEX */
        double real;
        const struct pawl_error *error; /* NULL is written as PAWL_OK */
    } u;
};

static inline struct pawl_log_field pawl_log_str(const char *key, const char *ptr, size_t len)
{
    struct pawl_log_field field;

    field.key = key;
    field.kind = PAWL_LOG_KIND_TEXT;
    field.len = len;
    field.u.text = ptr;
    return field;
}

static inline struct pawl_log_field pawl_log_text(const char *key, const char *text)
{
    return pawl_log_str(key, text, SIZE_MAX);
}

static inline struct pawl_log_field pawl__log_integer(const char *key, enum pawl_log_kind kind,
                                                      int64_t value)
{
    struct pawl_log_field field;

    field.key = key;
    field.kind = kind;
    field.len = 0;
    field.u.integer = value;
    return field;
}

static inline struct pawl_log_field pawl_log_int(const char *key, int64_t value)
{
    return pawl__log_integer(key, PAWL_LOG_KIND_INT, value);
}

/* `value` is true unless 0. */
static inline struct pawl_log_field pawl_log_bool(const char *key, int value)
{
    return pawl__log_integer(key, PAWL_LOG_KIND_BOOL, value != 0);
}

/* Text: `wait=1.5s`. JSON: an integer of nanoseconds whose key gets the unit, `"wait_ns":…`. */
static inline struct pawl_log_field pawl_log_duration_ns(const char *key, int64_t duration_ns)
{
    return pawl__log_integer(key, PAWL_LOG_KIND_DURATION, duration_ns);
}

static inline struct pawl_log_field pawl_log_uint(const char *key, uint64_t value)
{
    struct pawl_log_field field;

    field.key = key;
    field.kind = PAWL_LOG_KIND_UINT;
    field.len = 0;
    field.u.natural = value;
    return field;
}

/* An id of 64 bits: always 16 digits; in JSON a string, because readers there lose digits. */
static inline struct pawl_log_field pawl_log_hex(const char *key, uint64_t value)
{
    struct pawl_log_field field = pawl_log_uint(key, value);

    field.kind = PAWL_LOG_KIND_HEX;
    return field;
}

/* JSON has no NaN and no infinities: they are written as the strings "nan", "inf", "-inf". */
static inline struct pawl_log_field pawl_log_double(const char *key, double value)
{
    struct pawl_log_field field;

    field.key = key;
    field.kind = PAWL_LOG_KIND_DOUBLE;
    field.len = 0;
    field.u.real = value;
    return field;
}

/* Two fields: `error=PAWL_EBUSY error_msg="…"` for the key "error"; only the first without text. */
static inline struct pawl_log_field pawl_log_error(const char *key, const struct pawl_error *err)
{
    struct pawl_log_field field;

    field.key = key;
    field.kind = PAWL_LOG_KIND_ERROR;
    field.len = 0;
    field.u.error = err;
    return field;
}

/* Ends a list of fields; alone, it says that a line has none. */
static inline struct pawl_log_field pawl__log_end(void)
{
    return pawl__log_integer(NULL, PAWL_LOG_KIND_END, 0);
}
#define PAWL_LOG_END pawl__log_end()

/* ---- sinks ------------------------------------------------------------------------------ */

/*
 * Where lines go. `write` gets one whole line with its newline, `size_bytes` <= PAWL_LOG_LINE_MAX,
 * borrowed for the call. Any thread may call it at any time; it does its own locking. It cannot
 * report failure: a sink that loses lines counts them. NULL `write`: nothing is written or
 * formatted.
 */
struct pawl_log_sink {
    void (*write)(void *ctx, const char *line, size_t size_bytes);
    void *ctx;
};

/* ---- loggers ---------------------------------------------------------------------------- */

struct pawl_log_config {
    struct pawl_env *env; /* for the time; borrowed for the logger's life */
    struct pawl_log_sink sink;
    enum pawl_log_level level;
    enum pawl_log_format format;
    int color; /* TEXT only: colours by level; the caller knows whether a terminal reads */
};

/* The members are for the functions here; nothing changes them after creation. */
struct pawl_log {
    enum pawl_log_level level;
    struct pawl_log_config config;
    const struct pawl_log *parent;       /* whose fixed fields come first */
    const struct pawl_log_field *fields; /* ended by PAWL_LOG_KIND_END, or NULL */
};

/* Copies `config`, borrows what it points to. There is nothing to release. */
PAWL_API void pawl_log_init(struct pawl_log *log, const struct pawl_log_config *config);

/*
 * A logger like `parent` whose lines also carry `fields` (ended by PAWL_LOG_END), after those of
 * the parent and before the line's own. Borrows both for its life. `parent` may be NULL: the child
 * then writes nothing either.
 */
PAWL_API void pawl_log_child(struct pawl_log *child, const struct pawl_log *parent,
                             const struct pawl_log_field *fields);

/* "error", … "trace", "off". */
PAWL_API const char *pawl_log_level_name(enum pawl_log_level level);
/* The reverse: 1, or 0 with *level unwritten when `name` is not a level. */
PAWL_API int pawl_log_level_parse(const char *name, enum pawl_log_level *level);

/* Whether a line of this level would be written: for fields that are costly to compute. */
static inline int pawl_log_enabled(const struct pawl_log *log, enum pawl_log_level level)
{
    return log && level <= log->level;
}

/* Writes a line whatever its level; callers use pawl_log() or pawl_log_fields(). */
PAWL_API void pawl_log_write(const struct pawl_log *log, enum pawl_log_level level,
                             const char *message, const struct pawl_log_field *fields);

/*
 * Writes a line if `log`, which may be NULL, includes this level. `message` is a literal; `fields`
 * end with PAWL_LOG_END, or are NULL.
 */
static inline void pawl_log_fields(const struct pawl_log *log, enum pawl_log_level level,
                                   const char *message, const struct pawl_log_field *fields)
{
    if (pawl_log_enabled(log, level))
        pawl_log_write(log, level, message, fields);
}

/*
 * A list of one field or more, made where it is used and valid in the enclosing block (C) or up to
 * the end of the full expression (C++). It ends itself; PAWL_LOG_END alone makes an empty one.
 */
#ifdef __cplusplus
#define PAWL_LOG_FIELDS(...)                                                                       \
    (std::initializer_list<struct pawl_log_field>{__VA_ARGS__, PAWL_LOG_END}.begin())
#else
#define PAWL_LOG_FIELDS(...) ((const struct pawl_log_field[]){__VA_ARGS__, PAWL_LOG_END})
#endif

/* pawl_log(log, level, message, field, …): each argument is evaluated once, whatever the level. */
#define pawl_log(log, level, message, ...)                                                         \
    pawl_log_fields((log), (level), (message), PAWL_LOG_FIELDS(__VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
