/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading TZif and looking up offsets.
 *
 * A zone is one block of memory: the struct, then its arrays, largest alignment first.
 * Invariants, established by the reader and relied on by the lookups: there is at least one type;
 * transitions increase strictly; every type number is below type_count; every abbreviation ends
 * with a NUL inside `abbreviations`.
 */
#include "base/time/timezone.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/time/tzrule.h"

#define HEADER_BYTES ((size_t)44)
#define TYPE_BYTES ((size_t)6)

/* RFC 8536, 3.2: offsets that are out of these bounds are no offsets. */
#define OFFSET_S_MIN (-89999)
#define OFFSET_S_MAX 93599

struct local_type {
    int32_t offset_s;
    bool is_dst;
    uint8_t abbreviation; /* index into abbreviations */
};

struct pawl_timezone {
    const struct pawl_allocator *alloc;
    size_t size_bytes; /* of the whole block */
    int64_t *transitions;
    struct local_type *types;
    uint8_t *transition_types;
    char *abbreviations;
    char *name;
    uint32_t transition_count;
    uint32_t type_count;
    bool has_rule; /* for what comes after the last transition */
    struct pawl_tzrule rule;
};

struct counts {
    uint32_t is_ut, is_std, leap, time, type, chars;
};

/* Where a data block's arrays are, once it is known to be complete. */
struct block {
    struct counts counts;
    size_t time_bytes; /* of one time: 4 in version 1, 8 since */
    const unsigned char *times, *indexes, *types, *chars;
    size_t end; /* offset of what follows it */
};

static uint32_t load_be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t load_time(const unsigned char *p, size_t count)
{
    if (count == 4)
        return (int32_t)load_be32(p);
    return (int64_t)((uint64_t)load_be32(p) << 32 | load_be32(p + 4));
}

static int malformed(struct pawl_str name, const char *what, size_t at, struct pawl_error *err)
{
    return pawl__error_set(err, PAWL_EPARSE, "time zone %.*s: not valid TZif data: %s at byte %zu",
                           PAWL_STR_ARG(pawl__str_slice(name, 0, 100)), what, at);
}

/* One zeroed block with room for everything; the pointers into it are set. */
static struct pawl_timezone *allocate(const struct pawl_allocator *alloc, struct pawl_str name,
                                      const struct counts *counts)
{
    size_t transitions = counts->time * sizeof(int64_t);
    size_t types = counts->type * sizeof(struct local_type);
    size_t size = sizeof(struct pawl_timezone) + transitions + types + counts->time + counts->chars;
    struct pawl_timezone *zone;

    PAWL_ASSERT(name.len <= PAWL_TIMEZONE_BYTES_MAX);
    size += name.len + 1;
    zone = pawl__alloc_zeroed(alloc, size);
    if (!zone)
        return NULL;
    zone->alloc = alloc;
    zone->size_bytes = size;
    zone->transitions = (int64_t *)(void *)(zone + 1);
    zone->types = (struct local_type *)(void *)(zone->transitions + counts->time);
    zone->transition_types = (uint8_t *)(zone->types + counts->type);
    zone->abbreviations = (char *)zone->transition_types + counts->time;
    zone->name = zone->abbreviations + counts->chars;
    if (name.len > 0)
        memcpy(zone->name, name.ptr, name.len);
    zone->transition_count = counts->time;
    zone->type_count = counts->type;
    return zone;
}

/* Checks the header at `at` and that its data lies within `tzif`. */
static int read_block(struct pawl_str name, struct pawl_str tzif, size_t at, size_t time_bytes,
                      struct block *out, struct pawl_error *err)
{
    const unsigned char *p = (const unsigned char *)tzif.ptr + at;
    struct counts c;
    uint64_t need;

    if (tzif.len - at < HEADER_BYTES || memcmp(p, "TZif", 4) != 0)
        return malformed(name, "no header", at, err);
    c = (struct counts){load_be32(p + 20), load_be32(p + 24), load_be32(p + 28),
                        load_be32(p + 32), load_be32(p + 36), load_be32(p + 40)};
    need = (uint64_t)c.time * (time_bytes + 1) + (uint64_t)c.type * TYPE_BYTES + c.chars +
           (uint64_t)c.leap * (time_bytes + 4) + c.is_std + c.is_ut;
    if (need > tzif.len - at - HEADER_BYTES)
        return malformed(name, "data is cut off", tzif.len, err);
    if (c.type == 0 || c.type > 256 || c.chars == 0 || (c.is_ut != 0 && c.is_ut != c.type) ||
        (c.is_std != 0 && c.is_std != c.type))
        return malformed(name, "impossible counts", at + 20, err);
    p += HEADER_BYTES;
    *out = (struct block){.counts = c, .time_bytes = time_bytes, .times = p};
    out->indexes = out->times + c.time * time_bytes;
    out->types = out->indexes + c.time;
    out->chars = out->types + c.type * TYPE_BYTES;
    out->end = at + HEADER_BYTES + (size_t)need;
    return PAWL_OK;
}

/* Finds the data to use: in version 1 the only block, since then the second, with 64-bit times. */
static int find_block(struct pawl_str name, struct pawl_str tzif, struct block *block,
                      bool *has_footer, struct pawl_error *err)
{
    int status;

    if (tzif.len > PAWL_TIMEZONE_BYTES_MAX)
        return pawl__error_set(err, PAWL_ELIMIT,
                               "time zone %.*s: %zu bytes are too many for a time zone",
                               PAWL_STR_ARG(pawl__str_slice(name, 0, 100)), tzif.len);
    status = read_block(name, tzif, 0, 4, block, err);
    if (status != PAWL_OK)
        return status;
    *has_footer = tzif.ptr[4] != '\0';
    if (*has_footer) {
        if (tzif.ptr[4] < '2' || tzif.ptr[4] > '9')
            return malformed(name, "unknown version", 4, err);
        status = read_block(name, tzif, block->end, 8, block, err);
    }
    if (status == PAWL_OK && block->counts.leap > 0)
        return pawl__error_set(err, PAWL_EUNSUPPORTED,
                               "time zone %.*s counts leap seconds; use the one without \"right/\"",
                               PAWL_STR_ARG(pawl__str_slice(name, 0, 100)));
    return status;
}

static const char *copy_types(struct pawl_timezone *zone, const struct block *block)
{
    memcpy(zone->abbreviations, block->chars, block->counts.chars);
    for (uint32_t i = 0; i < zone->type_count; i++) {
        const unsigned char *p = block->types + i * TYPE_BYTES;
        struct local_type *type = &zone->types[i];

        type->offset_s = (int32_t)load_be32(p);
        type->is_dst = p[4] == 1;
        type->abbreviation = p[5];
        if (type->offset_s < OFFSET_S_MIN || type->offset_s > OFFSET_S_MAX)
            return "an offset of more than a day";
        if (p[4] > 1)
            return "a daylight flag that is neither 0 nor 1";
        if (p[5] >= block->counts.chars ||
            !memchr(block->chars + p[5], '\0', block->counts.chars - p[5]))
            return "an abbreviation without an end";
    }
    return NULL;
}

static const char *copy_transitions(struct pawl_timezone *zone, const struct block *block)
{
    for (uint32_t i = 0; i < zone->transition_count; i++) {
        zone->transitions[i] = load_time(block->times + i * block->time_bytes, block->time_bytes);
        zone->transition_types[i] = block->indexes[i];
        if (zone->transition_types[i] >= zone->type_count)
            return "an unknown type of local time";
        if (i > 0 && zone->transitions[i] <= zone->transitions[i - 1])
            return "transitions that are not in order";
    }
    return NULL;
}

/* The footer: a newline, a TZ string or nothing, a newline. */
static int read_footer(struct pawl_timezone *zone, struct pawl_str tzif, size_t at,
                       struct pawl_error *err)
{
    struct pawl_str name = pawl__str(zone->name), text;
    size_t end = pawl__str_find(tzif, '\n', at + 1);
    int status;

    if (at >= tzif.len || tzif.ptr[at] != '\n' || end == SIZE_MAX)
        return malformed(name, "no footer", at, err);
    text = pawl__str_slice(tzif, at + 1, end);
    if (text.len == 0)
        return PAWL_OK;
    status = pawl__tzrule_parse(text, &zone->rule, err);
    if (status != PAWL_OK)
        return pawl__error_prefix(err, status, "time zone %.100s", zone->name);
    zone->has_rule = true;
    return PAWL_OK;
}

int pawl__timezone_new(const struct pawl_allocator *alloc, struct pawl_str name,
                       struct pawl_str tzif, struct pawl_timezone **out, struct pawl_error *err)
{
    struct block block = {0};
    bool has_footer = false;
    struct pawl_timezone *zone = NULL;
    const char *bad;
    int status = find_block(name, tzif, &block, &has_footer, err);

    if (status != PAWL_OK)
        return status;
    zone = allocate(alloc, name, &block.counts);
    if (!zone)
        return pawl__error_code(err, PAWL_ENOMEM);
    bad = copy_types(zone, &block);
    if (!bad)
        bad = copy_transitions(zone, &block);
    if (bad) {
        status = malformed(name, bad, (size_t)(block.times - (const unsigned char *)tzif.ptr), err);
        goto out;
    }
    if (has_footer)
        status = read_footer(zone, tzif, block.end, err);
    if (status != PAWL_OK)
        goto out;
    *out = zone;
    zone = NULL;
out:
    pawl__timezone_free(zone);
    return status;
}

int pawl__timezone_new_posix(const struct pawl_allocator *alloc, struct pawl_str text,
                             struct pawl_timezone **out, struct pawl_error *err)
{
    static const struct counts none = {0};
    struct pawl_tzrule rule;
    struct pawl_timezone *zone;
    int status = pawl__tzrule_parse(text, &rule, err);

    if (status != PAWL_OK)
        return status;
    zone = allocate(alloc, text, &none);
    if (!zone)
        return pawl__error_code(err, PAWL_ENOMEM);
    zone->has_rule = true;
    zone->rule = rule;
    *out = zone;
    return PAWL_OK;
}

int pawl__timezone_new_utc(const struct pawl_allocator *alloc, struct pawl_timezone **out,
                           struct pawl_error *err)
{
    static const struct counts none = {0};
    struct pawl_timezone *zone = allocate(alloc, pawl__str("UTC"), &none);

    if (!zone)
        return pawl__error_code(err, PAWL_ENOMEM);
    zone->has_rule = true;
    memcpy(zone->rule.std_name, "UTC", sizeof "UTC");
    *out = zone;
    return PAWL_OK;
}

void pawl__timezone_free(struct pawl_timezone *zone)
{
    if (zone)
        pawl__free(zone->alloc, zone, zone->size_bytes);
}

const char *pawl__timezone_name(const struct pawl_timezone *zone)
{
    return zone->name;
}

static int64_t clamp(int64_t seconds)
{
    if (seconds > PAWL_TIMEZONE_SECONDS_MAX)
        return PAWL_TIMEZONE_SECONDS_MAX;
    return seconds < -PAWL_TIMEZONE_SECONDS_MAX ? -PAWL_TIMEZONE_SECONDS_MAX : seconds;
}

/* How many transitions are at or before an instant. */
static uint32_t transitions_until(const struct pawl_timezone *zone, int64_t unix_s)
{
    uint32_t low = 0, high = zone->transition_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (zone->transitions[middle] <= unix_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct pawl_timezone_info info_by_rule(const struct pawl_tzrule *rule, int64_t unix_s)
{
    bool dst = pawl__tzrule_is_dst(rule, unix_s);
    struct pawl_timezone_info info = {dst ? rule->dst_offset_s : rule->std_offset_s, dst,
                                      dst ? rule->dst_name : rule->std_name};

    return info;
}

struct pawl_timezone_info pawl__timezone_at(const struct pawl_timezone *zone, int64_t unix_s)
{
    int64_t at_s = clamp(unix_s);
    uint32_t passed = transitions_until(zone, at_s);
    const struct local_type *type;
    struct pawl_timezone_info info;

    if (passed == zone->transition_count && zone->has_rule)
        return info_by_rule(&zone->rule, at_s);
    type = &zone->types[passed > 0 ? zone->transition_types[passed - 1] : 0];
    info = (struct pawl_timezone_info){type->offset_s, type->is_dst,
                                       zone->abbreviations + type->abbreviation};
    return info;
}

bool pawl__timezone_next_transition(const struct pawl_timezone *zone, int64_t unix_s,
                                    int64_t *transition_s)
{
    int64_t at_s = clamp(unix_s);
    uint32_t passed = transitions_until(zone, at_s);

    if (passed < zone->transition_count) {
        *transition_s = zone->transitions[passed];
        return true;
    }
    return zone->has_rule && pawl__tzrule_next(&zone->rule, at_s, transition_s);
}

/*
 * Walks the stretches of constant offset within a day or so of the reading; in each the reading
 * means one instant, which lies in the stretch, before or behind it. Where none holds it there is
 * a jump with the instant behind the one stretch and before the next.
 */
struct pawl_local pawl__timezone_from_local(const struct pawl_timezone *zone, int64_t local_s)
{
    int64_t local = clamp(local_s);
    int64_t start = local - OFFSET_S_MAX, last = local - OFFSET_S_MIN, end = 0;
    int64_t behind = 0;
    struct pawl_local found = {PAWL_LOCAL_GAP, 0, 0, 0};
    bool any = false, first = true, more = true;

    for (; more; start = end, first = false) {
        int64_t at = local - pawl__timezone_at(zone, start).offset_s;

        more = pawl__timezone_next_transition(zone, start, &end) && end <= last;
        if (first || at >= start) {
            if (!more || at < end) { /* in this stretch */
                if (any)
                    found = (struct pawl_local){PAWL_LOCAL_OVERLAP, found.earlier_s, at, start};
                else
                    found = (struct pawl_local){PAWL_LOCAL_UNIQUE, at, at, 0};
                any = true;
            } else {
                behind = at;
            }
        } else if (!any && behind >= start) {
            found = (struct pawl_local){PAWL_LOCAL_GAP, at, behind, start};
        }
    }
    return found;
}
