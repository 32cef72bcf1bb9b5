/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identifiers that sort by the time they were made, so that rows keyed by them are appended and
 * not scattered over an index.
 *
 * Three forms, from one source:
 *
 *   uuid    UUID version 7 (RFC 9562). The form for everything stored that more than one node
 *           makes: 48 random bits besides the time and a counter that starts at random, no
 *           coordination needed.
 *   short   16 hexadecimal digits, for people and for Elsa, whose own ids look like that.
 *           Unique only while each node has a number of its own, see pawl__id_short().
 *   random  Elsa's own form, not ordered: for compatibility, never for a key of a large table.
 *
 * A source returns strictly increasing uuids, and strictly increasing short ids, whatever the
 * clock does. Its ids are names and not secrets: they show when they were made.
 *
 * A source does no input or output: the caller passes the time with each call and the entropy as
 * a function, or a seed in place of it. It is not locked: one thread at a time, and no copy of it
 * may live on (nor the source itself in both processes after a fork).
 */
#ifndef PAWL_BASE_ID_H
#define PAWL_BASE_ID_H

#include "base/str.h"

#include <pawl/error.h>

#define PAWL_UUID_TEXT_SIZE 37           /* 8-4-4-4-12 digits and a NUL */
#define PAWL_UUID_HEX_SIZE 33            /* 32 digits and a NUL */
#define PAWL_ID_SHORT_SIZE 17            /* up to 16 digits and a NUL */
#define PAWL_ID_NODE_MAX 1023u           /* numbers of nodes in short ids: 0 to this */
#define PAWL_ID_POOL_BYTES ((size_t)256) /* what one call for entropy is asked for */

struct pawl_uuid {
    unsigned char bytes[16]; /* as RFC 9562 draws it: byte order is time order */
};

/* Fills `out` with random bytes, or fails and says why. pawl_env_entropy() behind a front. */
struct pawl_id_entropy {
    int (*fill)(void *ctx, void *out, size_t size_bytes, struct pawl_error *err);
    void *ctx; /* borrowed for the source's life */
};

/* A time and a counter beneath it: what makes a series increase. */
struct pawl_id_series {
    int64_t last_ms; /* -1 before the first id */
    uint32_t counter;
};

struct pawl_id_source {
    struct pawl_id_entropy entropy; /* fill is NULL in a source made from a seed */
    uint64_t seed;
    uint64_t block_count; /* blocks drawn from the seed so far */
    struct pawl_id_series uuids;
    struct pawl_id_series shorts;
    uint32_t node;
    uint32_t mark;    /* of uuids; 0: none */
    size_t pool_left; /* the last so many bytes of the pool are unused */
    unsigned char pool[PAWL_ID_POOL_BYTES];
};

/* `node` is at most PAWL_ID_NODE_MAX. Asks for no entropy yet. */
void pawl__id_source_init(struct pawl_id_source *source, uint32_t node,
                          struct pawl_id_entropy entropy);

/*
 * A source whose ids depend on `seed`, `node` and the times passed, and on nothing else: the same
 * calls give the same ids, on every machine. Its calls fail only past the range of the time.
 * Different seeds give independent ids; that two of n random seeds are equal has the odds
 * n * n / 2^65, and matters only if both are used in the same millisecond.
 */
void pawl__id_source_init_seeded(struct pawl_id_source *source, uint32_t node, uint64_t seed);

/*
 * From now on the first 32 of the 48 random bits of its uuids are `mark`, so that an id tells which
 * source it is from; 0: they are random. What is drawn stays the same. Uuids of one mark in one
 * millisecond are told apart by the counter and 16 random bits: sources that share a mark must not
 * make many in the same millisecond.
 */
void pawl__id_source_mark(struct pawl_id_source *source, uint32_t mark);
/* The bits of a uuid that a mark would be in, of its 32 digits; 0: this is none. */
uint32_t pawl__id_mark(struct pawl_str hex);
/* The unix milliseconds of a uuid that sorts by time, of its 32 digits. False: this is none. */
bool pawl__id_time(struct pawl_str hex, uint64_t *unix_ms);

/*
 * The next uuid. Layout: 48 bits unix milliseconds, version, 26 bits counter (rand_a and the
 * first 14 bits of rand_b), 48 random bits. The counter starts at a random value in its lower half
 * in each new millisecond (RFC 9562, 6.2, method 1). While the clock does not advance or has gone
 * backwards the last millisecond is used on; a counter that is used up moves it ahead by one.
 *
 * PAWL_ELIMIT: the time is past 2^48 ms (the year 10889); the entropy's own errors. A time before
 * 1970 counts as 1970.
 */
PAWL_MUST_CHECK int pawl__id_uuid(struct pawl_id_source *source, int64_t unix_ms,
                                  struct pawl_uuid *out, struct pawl_error *err);

/*
 * The next short id: always 16 lower-case digits, so that the order of the texts is the order of
 * time. As a number it is a positive int64. Layout, from the top:
 *
 *      1 bit   0
 *     41 bits  milliseconds since 2020-01-01: until 2089-09-06
 *     10 bits  node
 *     12 bits  counter: starts at random below 2048 in each millisecond, else as in a uuid
 *
 * Odds. Nodes with different numbers never make the same id. Two nodes that share a number, each
 * making r ids per second, collide about r * r / 2,000,000 times a second: at one id per second
 * once in three weeks, at 100 per second every few minutes. So numbers must be assigned (the store
 * does that), not drawn: N numbers drawn at random are all different with odds of only about
 * 1 - N * N / 2048. Random bits in place of the node's would not do either: 22 of them collide
 * about R * R / 8.4e9 times a second at R ids per second in all nodes together, every ten days at
 * 100 and every minute at 10,000. Where nobody assigns numbers, use uuids.
 *
 * PAWL_ELIMIT: the time is past the range; the entropy's own errors. Before 2020 counts as 2020.
 */
PAWL_MUST_CHECK int pawl__id_short(struct pawl_id_source *source, int64_t unix_ms,
                                   char out[PAWL_ID_SHORT_SIZE], struct pawl_error *err);

/* Elsa's default form: a random 64-bit number in lower-case hexadecimal, no leading zeros. */
PAWL_MUST_CHECK int pawl__id_random(struct pawl_id_source *source, char out[PAWL_ID_SHORT_SIZE],
                                    struct pawl_error *err);

/* `size_bytes` random bytes from the same pool (or seed), for other uses that need a few. */
PAWL_MUST_CHECK int pawl__id_random_bytes(struct pawl_id_source *source, void *out,
                                          size_t size_bytes, struct pawl_error *err);

/* Lower case, with a NUL. */
void pawl__uuid_format(const struct pawl_uuid *uuid, char out[PAWL_UUID_TEXT_SIZE]);
void pawl__uuid_format_hex(const struct pawl_uuid *uuid, char out[PAWL_UUID_HEX_SIZE]);

/*
 * Reads either form, digits of either case, any version and variant. PAWL_EPARSE says what was
 * expected at which character.
 */
PAWL_MUST_CHECK int pawl__uuid_parse(struct pawl_str text, struct pawl_uuid *out,
                                     struct pawl_error *err);

/* 0 to 15; the time is there only in version 7. */
unsigned pawl__uuid_version(const struct pawl_uuid *uuid);

/* When a version 7 uuid was made, in unix milliseconds; -1 for any other uuid. */
int64_t pawl__uuid_unix_ms(const struct pawl_uuid *uuid);

/*
 * When a short id was made, in unix milliseconds; -1 when `text` is not 16 lower-case digits of
 * a positive number. It cannot recognise Elsa's random ids of 16 digits.
 */
int64_t pawl__id_short_unix_ms(struct pawl_str text);

#endif
