/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: an arena DOM, a parser, a writer and a pull reader. Strict RFC 8259, UTF-8 checked.
 *
 * Numbers keep what was written. A literal becomes INT when it is the canonical text of an int64;
 * DOUBLE when it has a fraction and no exponent, at most 15 digits of which the last is not 0, and
 * is at least 0.000001, because then it is the very text the writer has for that double; and
 * otherwise NUMBER, which keeps its text: 1.10, 1e2, -0, 20-digit integers, 16-digit fractions.
 * So writing a parsed document gives every number back byte for byte, and no digit is ever lost;
 * pawl__json_to_int() and pawl__json_to_double() read all three kinds.
 *
 * Duplicate keys are kept in order; pawl__json_get() returns the last, as .NET and JavaScript do.
 * A leading byte order mark is skipped.
 */
#ifndef PAWL_BASE_JSON_JSON_H
#define PAWL_BASE_JSON_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum pawl_json_type {
    PAWL_JSON_NULL,
    PAWL_JSON_BOOL,
    PAWL_JSON_INT,
    PAWL_JSON_DOUBLE,
    PAWL_JSON_NUMBER, /* a number kept as text */
    PAWL_JSON_STRING,
    PAWL_JSON_ARRAY,
    PAWL_JSON_OBJECT,
};

/*
 * One value, 16 bytes, passed and stored by value. What it points to lives in the arena it was
 * made in. Read it through the accessors below; only the files beside this one touch the members.
 */
struct pawl_json {
    uint8_t type;
    uint8_t cap_log2; /* ARRAY, OBJECT: room for 2^cap_log2 - 1 when grown; 0: exactly len */
    uint32_t len;     /* bytes, elements or members */
    union {
        bool boolean;
        int64_t integer;
        double real;
        const char *text; /* STRING: NUL-terminated; NUMBER: not */
        struct pawl_json *items;
        struct pawl_json_member *members;
    } u;
};

struct pawl_json_member {
    struct pawl_str key; /* NUL-terminated */
    struct pawl_json value;
};

/* ---- parsing ---------------------------------------------------------------------------- */

/* Nesting past this is refused everywhere: what recurses over a DOM stays within a small stack. */
#define PAWL_JSON_DEPTH_MAX 1000

struct pawl_json_limits {
    size_t bytes_max;   /* of the text; at most 1 GB whatever it says */
    uint32_t depth_max; /* of nested arrays and objects; at most PAWL_JSON_DEPTH_MAX */
};

/* 64 MB and 256 levels: far above any definition or state seen, far below what hurts. */
extern const struct pawl_json_limits pawl__json_limits_default;

/* Where in the text something is wrong. Columns count characters, both from 1. */
struct pawl_json_place {
    size_t offset; /* bytes */
    uint32_t line;
    uint32_t column;
    /*
     * JSON pointer (RFC 6901) of the innermost value that has begun, or is due, and is not
     * complete; "" is the root. One that does not fit ends in "…".
     */
    char pointer[256];
};

/*
 * Parses one document. The text is copied, so *out lives as long as the arena and no longer needs
 * `text`. `limits` NULL means the default. On PAWL_EPARSE and PAWL_ELIMIT the message has line,
 * column and pointer, and *place (NULL allowed) has them as data; a text or a DOM that is too large
 * as a whole is at line 1, column 1. PAWL_ENOMEM. After a failure the arena holds garbage but is
 * usable.
 */
PAWL_MUST_CHECK int pawl__json_parse(struct pawl_arena *arena, struct pawl_str text,
                                     const struct pawl_json_limits *limits, struct pawl_json *out,
                                     struct pawl_json_place *place, struct pawl_error *err);

/*
 * Finds where the value with this JSON pointer begins in a text that parses: for errors of
 * meaning, found on the DOM, that want a line and a column. PAWL_ENOTFOUND.
 */
PAWL_MUST_CHECK int pawl__json_locate(struct pawl_str text, struct pawl_str pointer,
                                      struct pawl_json_place *place);

/* ---- reading ---------------------------------------------------------------------------- */

/* All accessors accept NULL and the wrong type and then return "nothing", so lookups chain. */

static inline enum pawl_json_type pawl__json_type(const struct pawl_json *value)
{
    return value ? (enum pawl_json_type)value->type : PAWL_JSON_NULL;
}

static inline bool pawl__json_is(const struct pawl_json *value, enum pawl_json_type type)
{
    return value && value->type == (uint8_t)type;
}

/* INT, DOUBLE or NUMBER. */
bool pawl__json_is_number(const struct pawl_json *value);

/* "null", "boolean", "number", "string", "array", "object": for messages. */
const char *pawl__json_type_name(const struct pawl_json *value);

/* Elements of an array or members of an object; 0 for anything else. */
static inline uint32_t pawl__json_len(const struct pawl_json *value)
{
    return value && value->type >= PAWL_JSON_ARRAY ? value->len : 0;
}

/*
 * The member's value, NULL when there is none. Looks from the end, one key after the other: an
 * for an object with many keys that are all looked up, build a pawl_map.
 */
struct pawl_json *pawl__json_get(const struct pawl_json *object, struct pawl_str key);
struct pawl_json *pawl__json_get_text(const struct pawl_json *object, const char *key);
/* The same, ASCII letters compared without case: Elsa reads definitions that way. */
struct pawl_json *pawl__json_get_nocase(const struct pawl_json *object, struct pawl_str key);

/* The nth element or member's value; NULL when there are not as many. */
struct pawl_json *pawl__json_at(const struct pawl_json *container, uint32_t index);
/* The nth member with its key; NULL when there are not as many. */
struct pawl_json_member *pawl__json_member(const struct pawl_json *object, uint32_t index);

/* By JSON pointer; NULL when there is no such value or the pointer is malformed. */
struct pawl_json *pawl__json_find(const struct pawl_json *root, struct pawl_str pointer);

/* The text of a STRING, borrowed from the arena; the empty string for anything else. */
struct pawl_str pawl__json_str(const struct pawl_json *value);
/* true only for the boolean true. */
bool pawl__json_true(const struct pawl_json *value);

/*
 * A number with an integral value that fits, however it was written (1e2, 3.0); of a DOUBLE the
 * exact value. Else false.
 */
bool pawl__json_to_int(const struct pawl_json *value, int64_t *out);
/* Any number, correctly rounded; false for other types and for what overflows to infinity. */
bool pawl__json_to_double(const struct pawl_json *value, double *out);
/* Appends the text of any number as it would be written; nothing for other types and infinities. */
void pawl__json_number_text(const struct pawl_json *value, struct pawl_buf *out);

/*
 * The same value: objects whatever the order of their members (the last of equal keys counts),
 * numbers by exact numeric value whatever their spelling, where a DOUBLE counts as its text (0.1 is
 * 0.10 and 1e-1). Recurses as deep as the documents are. Objects with the same keys in the same
 * order take linear time, others one lookup per member.
 */
bool pawl__json_equal(const struct pawl_json *a, const struct pawl_json *b);

/* ---- building --------------------------------------------------------------------------- */

static inline struct pawl_json pawl__json_null(void)
{
    return (struct pawl_json){.type = PAWL_JSON_NULL};
}

static inline struct pawl_json pawl__json_bool(bool value)
{
    return (struct pawl_json){.type = PAWL_JSON_BOOL, .u.boolean = value};
}

static inline struct pawl_json pawl__json_int(int64_t value)
{
    return (struct pawl_json){.type = PAWL_JSON_INT, .u.integer = value};
}

/* A value that is not finite has no JSON: writing it fails with PAWL_EINVAL. */
static inline struct pawl_json pawl__json_double(double value)
{
    return (struct pawl_json){.type = PAWL_JSON_DOUBLE, .u.real = value};
}

/* An empty one; it grows by append and set. */
static inline struct pawl_json pawl__json_array(void)
{
    return (struct pawl_json){.type = PAWL_JSON_ARRAY};
}

static inline struct pawl_json pawl__json_object(void)
{
    return (struct pawl_json){.type = PAWL_JSON_OBJECT};
}

/*
 * Borrows `s`, which must be valid UTF-8, shorter than 4 GB, NUL-terminated, and live as long as
 * the value.
 */
struct pawl_json pawl__json_string(struct pawl_str s);
/* Copies `s` into the arena. PAWL_ENOMEM, PAWL_ELIMIT; PAWL_EINVAL when it is not UTF-8. */
PAWL_MUST_CHECK int pawl__json_string_copy(struct pawl_arena *arena, struct pawl_str s,
                                           struct pawl_json *out);
/* A number from its text, by the rule at the top. Copies. PAWL_EPARSE when it is no JSON number. */
PAWL_MUST_CHECK int pawl__json_number(struct pawl_arena *arena, struct pawl_str text,
                                      struct pawl_json *out);

/*
 * Appends to an array; sets a member of an object (the last of that key, else a new one at the
 * end; the key is copied); removes a member (all of that key) or an element, keeping the order.
 * Values are stored by value and share what they point to. PAWL_ENOMEM, PAWL_ELIMIT; PAWL_EINVAL
 * when the key is not UTF-8. A pointer to an element or member is valid until its container
 * changes. A container that has been stored in another is changed where it is stored (get, at),
 * not through the variable it was stored from: both share their elements but not their length.
 */
PAWL_MUST_CHECK int pawl__json_append(struct pawl_arena *arena, struct pawl_json *array,
                                      struct pawl_json value);
PAWL_MUST_CHECK int pawl__json_set(struct pawl_arena *arena, struct pawl_json *object,
                                   struct pawl_str key, struct pawl_json value);
PAWL_MUST_CHECK int pawl__json_set_text(struct pawl_arena *arena, struct pawl_json *object,
                                        const char *key, struct pawl_json value);
/*
 * Appends a member without looking for one of that key, which the caller knows not to be there:
 * for objects of many keys. Borrows the key: valid UTF-8, NUL-terminated, as long as the object.
 */
PAWL_MUST_CHECK int pawl__json_add(struct pawl_arena *arena, struct pawl_json *object,
                                   struct pawl_str key, struct pawl_json value);
/*
 * Merges the members of an object into another, in time n log n however many keys they have. OVER:
 * as if each was set in turn. MISSING: each whose key is not there yet, ASCII letters compared
 * without case; the first of several counts. Borrows keys and what values point to. Nothing of
 * what is not an object. PAWL_ENOMEM, PAWL_ELIMIT: some may have been merged.
 */
enum pawl_json_merge { PAWL_JSON_MERGE_OVER, PAWL_JSON_MERGE_MISSING };
PAWL_MUST_CHECK int pawl__json_merge(struct pawl_arena *arena, struct pawl_json *to,
                                     const struct pawl_json *from, enum pawl_json_merge how);
bool pawl__json_remove(struct pawl_json *object, struct pawl_str key);
bool pawl__json_remove_at(struct pawl_json *array, uint32_t index);

/* A deep copy that shares nothing with `value`. PAWL_ENOMEM, PAWL_ELIMIT. */
PAWL_MUST_CHECK int pawl__json_copy(struct pawl_arena *arena, const struct pawl_json *value,
                                    struct pawl_json *out);

/* ---- writing ---------------------------------------------------------------------------- */

enum pawl_json_escape {
    /* Only what RFC 8259 demands: control characters, quote, backslash. */
    PAWL_JSON_ESCAPE_MINIMAL,
    /*
     * As Elsa's serialiser of definitions and its API, which is .NET's encoder with all ranges
     * allowed: also < > & ' + " ` as \uXXXX, and what .NET never writes as it is: DEL and C1
     * controls, blanks other than the space, U+2028, U+2029, private use, what is not assigned,
     * and everything past U+FFFF, as a pair of surrogates.
     */
    PAWL_JSON_ESCAPE_HTML,
    /* As .NET's default encoder (state, stimulus hashes, payloads): that and all but ASCII. */
    PAWL_JSON_ESCAPE_ASCII,
};

/*
 * Writes one document into a buffer; its failures are the buffer's sticky status. Commas and colons
 * come by themselves. A call out of order (a value where a key is due, the wrong end, a second
 * document) is a bug and asserts. Nesting past PAWL_JSON_DEPTH_MAX is PAWL_ELIMIT in the status.
 */
struct pawl_json_writer {
    struct pawl_buf *out; /* borrowed */
    enum pawl_json_escape escape;
    uint8_t indent; /* spaces per level; 0: compact */
    bool need_comma;
    bool after_key;
    uint32_t depth;
    uint8_t nesting[128]; /* one bit per level: 1 for an object */
};

void pawl__json_writer_init(struct pawl_json_writer *writer, struct pawl_buf *out,
                            enum pawl_json_escape escape, uint8_t indent);
void pawl__json_write_begin_object(struct pawl_json_writer *writer);
void pawl__json_write_end_object(struct pawl_json_writer *writer);
void pawl__json_write_begin_array(struct pawl_json_writer *writer);
void pawl__json_write_end_array(struct pawl_json_writer *writer);
void pawl__json_write_key(struct pawl_json_writer *writer, struct pawl_str key);
void pawl__json_write_key_text(struct pawl_json_writer *writer, const char *key);
void pawl__json_write_null(struct pawl_json_writer *writer);
void pawl__json_write_bool(struct pawl_json_writer *writer, bool value);
void pawl__json_write_int(struct pawl_json_writer *writer, int64_t value);
/*
 * Shortest text that reads back as the same double, laid out as in JavaScript: 0.1, 1e+21, 1e-7; an
 * integral value without a point (1), negative zero as -0. Not finite: PAWL_EINVAL in the status.
 */
void pawl__json_write_double(struct pawl_json_writer *writer, double value);
/* Malformed UTF-8 is written as U+FFFD, byte by byte: a log line must come out whatever it holds.
 */
void pawl__json_write_string(struct pawl_json_writer *writer, struct pawl_str s);
void pawl__json_write_string_text(struct pawl_json_writer *writer, const char *text);
void pawl__json_write_value(struct pawl_json_writer *writer, const struct pawl_json *value);
/* Text that is already one JSON value, written as it is. */
void pawl__json_write_raw(struct pawl_json_writer *writer, struct pawl_str json);

/* A whole value, compact. Failures are the buffer's status. */
void pawl__json_write(struct pawl_buf *out, const struct pawl_json *value,
                      enum pawl_json_escape escape);
/* The same for a value within so many levels that the caller writes. */
void pawl__json_write_within(struct pawl_buf *out, const struct pawl_json *value,
                             enum pawl_json_escape escape, uint32_t depth);

/* ---- pulling ---------------------------------------------------------------------------- */

enum pawl_json_event {
    PAWL_JSON_EVENT_END, /* the document is complete */
    PAWL_JSON_EVENT_BEGIN_OBJECT,
    PAWL_JSON_EVENT_END_OBJECT,
    PAWL_JSON_EVENT_BEGIN_ARRAY,
    PAWL_JSON_EVENT_END_ARRAY,
    PAWL_JSON_EVENT_KEY,
    PAWL_JSON_EVENT_SCALAR, /* null, boolean, number or string */
};

/*
 * Reads a document piece by piece, checking as strictly as the parser and failing with the same
 * words, with one bit of memory for each level of nesting and room for one string: no DOM.
 */
struct pawl_json_reader {
    struct pawl_str text; /* borrowed until the last call */
    struct pawl_json_limits limits;
    size_t at;         /* bytes read */
    size_t item_start; /* where the last event's token begins */
    uint32_t depth;
    uint8_t expect;           /* what may come next, see reader.c */
    uint8_t nesting[128];     /* one bit per level: array or object; bounds depth_max to 1,024 */
    struct pawl_arena *arena; /* where strings with escapes are decoded; borrowed */
};

void pawl__json_reader_init(struct pawl_json_reader *reader, struct pawl_arena *arena,
                            struct pawl_str text, const struct pawl_json_limits *limits);

/*
 * The next event. KEY: *value is a STRING. SCALAR: *value is it; numbers by the rule at the top.
 * Strings without escapes and number texts borrow from the text and are NOT NUL-terminated; those
 * with escapes are decoded into the arena, which the caller may reset between calls. END comes
 * again however often it is asked for. PAWL_EPARSE, PAWL_ELIMIT with line, column and pointer;
 * PAWL_ENOMEM. A failed call has changed nothing.
 */
PAWL_MUST_CHECK int pawl__json_reader_next(struct pawl_json_reader *reader,
                                           enum pawl_json_event *event, struct pawl_json *value,
                                           struct pawl_error *err);

/* After BEGIN_OBJECT, BEGIN_ARRAY or KEY: passes over the rest of that value, checking it. */
PAWL_MUST_CHECK int pawl__json_reader_skip(struct pawl_json_reader *reader, struct pawl_error *err);

#endif
