/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A brief form of JSON values, for documents whose words are known beforehand: stored states and
 * pages of the journal are mostly keys that all of them have, and ids. Read back, a value is what
 * its JSON text parses to.
 *
 *     document   the mark 0x01, one value
 *     value      a byte that says what follows:
 *       00 null   01 false   02 true
 *       03 integer: zigzag, as a number      04 any other number: length, its JSON text
 *       05 string: length, its bytes
 *       06 string of so many pairs of hexadecimal digits 0-9a-f: length, a byte per pair
 *       07 the same with digits 0-9A-F
 *       08 string that was remembered: 0 is the last one, 1 the one before it, …
 *       09 string of the length and with the first bytes of the one of that length that was
 *          remembered last: length, how many bytes they share, the others
 *       0a array: count, values              0b object: count, keys (strings) each with its value
 *       0c word: its number
 *       10-3f integers 0 to 47               40-5f objects of 0 to 31 members
 *       60-7f arrays of 0 to 31              80-ff words 0 to 127
 *     number     7 bits a byte, the lowest first; the last one has the highest bit clear
 *
 * Strings of 05 with four bytes or more, 06, 07 and 09 are remembered, the first BRIEF_KEPT_MAX of
 * them; those of 16 to 63 bytes also by their length.
 *
 * Words are numbered in the order of a list that writer and reader share: another list is another
 * form, and wants another mark. The mark differs from the first byte of every JSON text and zstd
 * frame.
 */
#ifndef PAWL_BASE_JSON_BRIEF_H
#define PAWL_BASE_JSON_BRIEF_H

#include "base/json/json.h"

#define PAWL_BRIEF_MARK '\x01'
#define PAWL_WORDS_MAX 256u
/* Strings that are like an earlier one have fewer bytes than this. */
#define PAWL_BRIEF_LIKE_MAX 64u
#define PAWL_BRIEF_SEEN 128u

/* A list of words, and where to find one in it. */
struct pawl_words {
    const struct pawl_str *items; /* borrowed; NUL-terminated each */
    uint32_t count;
    uint64_t ends[PAWL_WORDS_MAX][2]; /* of each its first and its last bytes */
    uint16_t slots[512];              /* number + 1, by hash; 0: none */
};

/* At most PAWL_WORDS_MAX, all different. */
void pawl__words_init(struct pawl_words *words, const struct pawl_str *items, uint32_t count);

static inline bool pawl__is_brief(struct pawl_str bytes)
{
    return bytes.len > 0 && bytes.ptr[0] == PAWL_BRIEF_MARK;
}

/* A string with its first and its last bytes, up to eight each: all of it, up to 16. */
struct pawl_brief_probe {
    struct pawl_str s;
    uint64_t head, tail;
};

/* A document that is being written. Strings that were written must stay until it is whole. */
struct pawl_brief_writer {
    struct pawl_buf *out;
    const struct pawl_words *words;
    uint32_t kept; /* how many are remembered */
    /* One remembered string each, by hash: a later one takes the place of an earlier one. */
    struct pawl_brief_seen {
        struct pawl_brief_probe text;
        uint32_t number;
    } seen[PAWL_BRIEF_SEEN];
    struct pawl_str by_len[PAWL_BRIEF_LIKE_MAX];
};

/*
 * Appends the document. Malformed UTF-8 becomes U+FFFD, byte by byte, as in JSON text. Failures are
 * the buffer's status: also PAWL_EINVAL for a number that is not finite, PAWL_ELIMIT for what nests
 * too deep.
 */
void pawl__brief_write(struct pawl_buf *out, const struct pawl_json *value,
                       const struct pawl_words *words);

/*
 * The same part by part: begin, then one value. Behind an array come `count` values, behind an
 * object `count` times a key (a string) and a value. `depth` of a value: how many of them are
 * around it.
 */
void pawl__brief_begin(struct pawl_brief_writer *w, struct pawl_buf *out,
                       const struct pawl_words *words);
void pawl__brief_null(struct pawl_brief_writer *w);
void pawl__brief_int(struct pawl_brief_writer *w, int64_t value);
void pawl__brief_string(struct pawl_brief_writer *w, struct pawl_str s);
void pawl__brief_array(struct pawl_brief_writer *w, uint32_t count);
void pawl__brief_object(struct pawl_brief_writer *w, uint32_t count);
void pawl__brief_value(struct pawl_brief_writer *w, const struct pawl_json *value, uint32_t depth);

/* Copies what it needs of `bytes`. PAWL_EPARSE: it is none; PAWL_ENOMEM, PAWL_ELIMIT. */
PAWL_MUST_CHECK int pawl__brief_read(struct pawl_arena *arena, struct pawl_str bytes,
                                     const struct pawl_words *words, struct pawl_json *out);

#endif
