/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making and reading identifiers.
 *
 * Invariant of a series: (last_ms, counter) only ever increases. It is written only after all
 * entropy for the id is at hand, so that a failed call leaves no trace.
 */
#include "base/id.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/hash/siphash.h"
#include "base/hex.h"

#define UUID_MS_MAX (((int64_t)1 << 48) - 1)
#define UUID_COUNTER_MAX (((uint32_t)1 << 26) - 1)
#define SHORT_MS_MAX (((int64_t)1 << 41) - 1)
#define SHORT_COUNTER_MAX (((uint32_t)1 << 12) - 1)
#define SHORT_EPOCH_MS INT64_C(1577836800000) /* 2020-01-01T00:00:00Z */

/* With the seed this keys the generator of a seeded source; any fixed number would do. */
#define SEED_KEY UINT64_C(0x7061776c2d696473)

void pawl__id_source_init(struct pawl_id_source *source, uint32_t node,
                          struct pawl_id_entropy entropy)
{
    PAWL_ASSERT(node <= PAWL_ID_NODE_MAX);
    memset(source, 0, sizeof *source);
    source->entropy = entropy;
    source->node = node;
    source->uuids.last_ms = source->shorts.last_ms = -1;
}

void pawl__id_source_init_seeded(struct pawl_id_source *source, uint32_t node, uint64_t seed)
{
    pawl__id_source_init(source, node, (struct pawl_id_entropy){0});
    source->seed = seed;
}

/* Eight bytes in a fixed order, whatever the machine. */
static void store_be64(unsigned char *p, uint64_t x)
{
    for (int i = 0; i < 8; i++)
        p[i] = (unsigned char)(x >> (56 - 8 * i));
}

static uint64_t load_be(const unsigned char *p, size_t count)
{
    uint64_t x = 0;

    for (size_t i = 0; i < count; i++)
        x = x << 8 | p[i];
    return x;
}

/* Each block is a keyed hash of its number: streams of different seeds never run into each other,
   as those of a plain counter generator started at different points do. */
static void draw_from_seed(struct pawl_id_source *source, unsigned char *out, size_t count)
{
    struct pawl_hash_seed key = {source->seed, SEED_KEY};

    while (count > 0) {
        unsigned char number[8], block[8];
        size_t part = count < sizeof block ? count : sizeof block;

        store_be64(number, source->block_count++);
        store_be64(block, pawl__siphash(key, pawl__str_make((const char *)number, 8)));
        memcpy(out, block, part);
        out += part;
        count -= part;
    }
}

/* Bytes leave the pool for good: they are wiped, so that no later fault can hand them out twice. */
static int draw_from_pool(struct pawl_id_source *source, unsigned char *out, size_t count,
                          struct pawl_error *err)
{
    unsigned char *from;

    PAWL_ASSERT(count <= sizeof source->pool);
    if (source->pool_left < count) {
        int status =
            source->entropy.fill(source->entropy.ctx, source->pool, sizeof source->pool, err);

        if (status != PAWL_OK) {
            source->pool_left = 0;
            return status;
        }
        source->pool_left = sizeof source->pool;
    }
    from = source->pool + sizeof source->pool - source->pool_left;
    memcpy(out, from, count);
    memset(from, 0, count);
    source->pool_left -= count;
    return PAWL_OK;
}

int pawl__id_random_bytes(struct pawl_id_source *source, void *out, size_t size_bytes,
                          struct pawl_error *err)
{
    if (!source->entropy.fill) {
        draw_from_seed(source, out, size_bytes);
        return PAWL_OK;
    }
    if (size_bytes > sizeof source->pool)
        return source->entropy.fill(source->entropy.ctx, out, size_bytes, err);
    return draw_from_pool(source, out, size_bytes, err);
}

/*
 * Where the series goes next: a new millisecond starts the counter at `start`, which lies in the
 * lower half of its range; otherwise it counts on. False when there is no time left.
 */
static bool advance(struct pawl_id_series *series, int64_t now_ms, int64_t ms_max, uint32_t start,
                    uint32_t counter_max)
{
    if (now_ms > series->last_ms) {
        if (now_ms > ms_max)
            return false;
        *series = (struct pawl_id_series){now_ms, start};
    } else if (series->counter < counter_max) {
        series->counter++;
    } else {
        if (series->last_ms >= ms_max)
            return false;
        *series = (struct pawl_id_series){series->last_ms + 1, start};
    }
    return true;
}

void pawl__id_source_mark(struct pawl_id_source *source, uint32_t mark)
{
    source->mark = mark;
}

uint32_t pawl__id_mark(struct pawl_str hex)
{
    unsigned char bytes[16];

    if (hex.len != PAWL_UUID_HEX_SIZE - 1 || !pawl__hex_decode(hex, bytes))
        return 0;
    return (uint32_t)load_be(bytes + 10, 4);
}

bool pawl__id_time(struct pawl_str hex, uint64_t *unix_ms)
{
    unsigned char bytes[16];

    if (hex.len != PAWL_UUID_HEX_SIZE - 1 || !pawl__hex_decode(hex, bytes) || bytes[6] >> 4 != 7)
        return false;
    *unix_ms = load_be(bytes, 6);
    return true;
}

int pawl__id_uuid(struct pawl_id_source *source, int64_t unix_ms, struct pawl_uuid *out,
                  struct pawl_error *err)
{
    struct pawl_id_series *series = &source->uuids;
    unsigned char random[10];
    uint64_t high, low;
    /* The start of the counter is needed only where a millisecond begins. */
    bool begins =
        unix_ms > series->last_ms || series->counter == UUID_COUNTER_MAX || series->last_ms < 0;
    int status = pawl__id_random_bytes(source, random, begins ? 10 : 6, err);

    if (status != PAWL_OK)
        return status;
    if (!advance(series, unix_ms < 0 ? 0 : unix_ms, UUID_MS_MAX,
                 begins ? (uint32_t)load_be(random + 6, 4) & UUID_COUNTER_MAX / 2 : 0,
                 UUID_COUNTER_MAX))
        return pawl__error_set(err, PAWL_ELIMIT,
                               "no id for the time %lld ms: a UUID holds 48 bits; check the clock",
                               (long long)unix_ms);
    for (unsigned i = 0; source->mark && i < 4; i++)
        random[i] = (unsigned char)(source->mark >> (24 - 8 * i));
    high = (uint64_t)series->last_ms << 16 | 0x7000 | series->counter >> 14;
    low = UINT64_C(2) << 62 | (uint64_t)(series->counter & 0x3FFF) << 48 | load_be(random, 6);
    store_be64(out->bytes, high);
    store_be64(out->bytes + 8, low);
    return PAWL_OK;
}

static void format_u64(uint64_t value, char out[PAWL_ID_SHORT_SIZE])
{
    unsigned char bytes[8];

    store_be64(bytes, value);
    pawl__hex_encode(bytes, sizeof bytes, PAWL_HEX_LOWER, out);
    out[16] = '\0';
}

int pawl__id_short(struct pawl_id_source *source, int64_t unix_ms, char out[PAWL_ID_SHORT_SIZE],
                   struct pawl_error *err)
{
    struct pawl_id_series *series = &source->shorts;
    int64_t now_ms = unix_ms < SHORT_EPOCH_MS ? 0 : unix_ms - SHORT_EPOCH_MS;
    unsigned char random[2] = {0, 0};
    int status = PAWL_OK;

    if (now_ms > series->last_ms || series->counter == SHORT_COUNTER_MAX)
        status = pawl__id_random_bytes(source, random, sizeof random, err);
    if (status != PAWL_OK)
        return status;
    if (!advance(series, now_ms, SHORT_MS_MAX, (uint32_t)load_be(random, 2) & SHORT_COUNTER_MAX / 2,
                 SHORT_COUNTER_MAX))
        return pawl__error_set(err, PAWL_ELIMIT,
                               "no short id for the time %lld ms: the form ends in the year 2089; "
                               "check the clock or use UUIDs",
                               (long long)unix_ms);
    format_u64((uint64_t)series->last_ms << 22 | (uint64_t)source->node << 12 | series->counter,
               out);
    return PAWL_OK;
}

int pawl__id_random(struct pawl_id_source *source, char out[PAWL_ID_SHORT_SIZE],
                    struct pawl_error *err)
{
    unsigned char random[8];
    char digits[PAWL_ID_SHORT_SIZE];
    int status = pawl__id_random_bytes(source, random, sizeof random, err);
    size_t zeros;

    if (status != PAWL_OK)
        return status;
    format_u64(load_be(random, sizeof random), digits);
    zeros = strspn(digits, "0");
    if (zeros == 16)
        zeros = 15;
    memcpy(out, digits + zeros, sizeof digits - zeros);
    return PAWL_OK;
}

void pawl__uuid_format_hex(const struct pawl_uuid *uuid, char out[PAWL_UUID_HEX_SIZE])
{
    pawl__hex_encode(uuid->bytes, sizeof uuid->bytes, PAWL_HEX_LOWER, out);
    out[PAWL_UUID_HEX_SIZE - 1] = '\0';
}

static bool dash_at(size_t at)
{
    return at == 8 || at == 13 || at == 18 || at == 23;
}

void pawl__uuid_format(const struct pawl_uuid *uuid, char out[PAWL_UUID_TEXT_SIZE])
{
    char digits[PAWL_UUID_HEX_SIZE];
    size_t from = 0;

    pawl__uuid_format_hex(uuid, digits);
    for (size_t at = 0; at < PAWL_UUID_TEXT_SIZE; at++)
        out[at] = dash_at(at) ? '-' : digits[from++];
}

int pawl__uuid_parse(struct pawl_str text, struct pawl_uuid *out, struct pawl_error *err)
{
    char digits[32];
    size_t count = 0;

    if (text.len != 32 && text.len != 36)
        return pawl__error_set(err, PAWL_EPARSE,
                               "not a UUID: expected 32 or 36 characters, got %zu", text.len);
    for (size_t at = 0; at < text.len; at++) {
        bool dash = text.len == 36 && dash_at(at);

        if (dash ? text.ptr[at] != '-' : pawl__hex_value(text.ptr[at]) < 0)
            return pawl__error_set(err, PAWL_EPARSE, "not a UUID: expected %s at character %zu",
                                   dash ? "'-'" : "a hexadecimal digit", at + 1);
        if (!dash)
            digits[count++] = text.ptr[at];
    }
    (void)pawl__hex_decode(pawl__str_make(digits, sizeof digits), out->bytes);
    return PAWL_OK;
}

unsigned pawl__uuid_version(const struct pawl_uuid *uuid)
{
    return uuid->bytes[6] >> 4;
}

int64_t pawl__uuid_unix_ms(const struct pawl_uuid *uuid)
{
    if (pawl__uuid_version(uuid) != 7 || uuid->bytes[8] >> 6 != 2)
        return -1;
    return (int64_t)load_be(uuid->bytes, 6);
}

int64_t pawl__id_short_unix_ms(struct pawl_str text)
{
    unsigned char bytes[8];

    if (text.len != 16)
        return -1;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] >= 'A' && text.ptr[i] <= 'F')
            return -1;
    }
    if (!pawl__hex_decode(text, bytes) || bytes[0] >> 7 != 0)
        return -1;
    return SHORT_EPOCH_MS + (int64_t)(load_be(bytes, 8) >> 22);
}
