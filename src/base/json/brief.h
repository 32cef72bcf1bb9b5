/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A brief form of JSON values, for documents whose words are known beforehand: stored states are
 * mostly keys that every state has, and ids. Read back, a value is what its JSON text parses to.
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

/*
 * Appends the document. Failures are the buffer's status: also PAWL_EINVAL for what has no JSON (a
 * number that is not finite, text that is not UTF-8), PAWL_ELIMIT for what nests too deep.
 */
void pawl__brief_write(struct pawl_buf *out, const struct pawl_json *value,
                       const struct pawl_words *words);

/* Copies what it needs of `bytes`. PAWL_EPARSE: it is none; PAWL_ENOMEM, PAWL_ELIMIT. */
PAWL_MUST_CHECK int pawl__brief_read(struct pawl_arena *arena, struct pawl_str bytes,
                                     const struct pawl_words *words, struct pawl_json *out);

#endif
