/* SPDX-License-Identifier: Apache-2.0 */
/* Names of locks to names at servers; see names.h. */
#include "base/base64.h"
#include "base/error.h"
#include "base/hash/sha1.h"
#include "base/hash/sha512.h"
#include "locks/names_private.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- UTF-16 ------------------------------------------------------------------------------ */

/* The beginning of a name in UTF-16, and how long the whole would be. */
struct units {
    uint16_t at[PAWL_AZURE_LOCK_UNITS_MAX];
    size_t kept;
    size_t total;
    bool changed; /* it is not the name that was given */
};

static void put(struct units *units, uint16_t unit)
{
    if (units->kept < PAWL_AZURE_LOCK_UNITS_MAX)
        units->at[units->kept++] = unit;
    units->total++;
}

static void put_text(struct units *units, const char *text)
{
    for (; *text; text++)
        put(units, (unsigned char)*text);
}

static void put_point(struct units *units, uint32_t point)
{
    if (point >= 0x10000) {
        put(units, (uint16_t)(0xd7c0 + (point >> 10)));
        put(units, (uint16_t)(0xdc00 + (point & 0x3ff)));
    } else {
        put(units, (uint16_t)point);
    }
}

static bool is_high(uint16_t unit)
{
    return (unit & 0xfc00) == 0xd800;
}

static bool is_low(uint16_t unit)
{
    return (unit & 0xfc00) == 0xdc00;
}

/* To UTF-8 with a NUL; `out` has room for 3 bytes per unit. Half a pair becomes U+FFFD. */
static size_t to_utf8(const uint16_t *at, size_t count, char *out)
{
    size_t len = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t point = at[i];

        if (is_high(at[i]) && i + 1 < count && is_low(at[i + 1])) {
            point = 0x10000 + ((point & 0x3ff) << 10 | (at[i + 1] & 0x3ffu));
            i++;
        } else if (is_high(at[i]) || is_low(at[i])) {
            point = 0xfffd;
        }
        len += pawl__utf8_encode(point, out + len);
    }
    out[len] = '\0';
    return len;
}

/* ---- the general rule -------------------------------------------------------------------- */

#define HASH_LEN ((PAWL_SHA512_BYTES + 2) / 3 * 4)

/* Cuts and hashes what is too long or not the name itself. */
static void make_safe(struct units *units, struct pawl_str name, size_t units_max)
{
    unsigned char digest[PAWL_SHA512_BYTES];
    char text[HASH_LEN + 1];

    if (!units->changed && units->total <= units_max)
        return;
    pawl__sha512(name, digest);
    pawl__base64_encode(digest, sizeof digest, text);
    text[HASH_LEN] = '\0';
    if (units->kept > units_max - HASH_LEN)
        units->kept = units_max - HASH_LEN;
    put_text(units, text);
}

/* ---- file -------------------------------------------------------------------------------- */

#define FILE_BASE_UNITS 27
#define FILE_HASH_CHARS 32

/* 160 bits, five at a time from the lowest bit of each byte upwards. */
static void file_hash(struct pawl_str name, char out[FILE_HASH_CHARS])
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    unsigned char digest[PAWL_SHA512_BYTES];

    pawl__sha512(name, digest);
    for (unsigned i = 0; i < FILE_HASH_CHARS; i++) {
        unsigned bit = 5 * i;
        unsigned two = digest[bit / 8] | (unsigned)digest[bit / 8 + 1] << 8;

        out[i] = alphabet[two >> bit % 8 & 31];
    }
}

void pawl__lock_name_file(struct pawl_str name, char out[PAWL_LOCK_FILE_NAME_SIZE])
{
    static const char suffix[] = ".lock";
    size_t len = 0, units = 0;

    for (size_t pos = 0; pos < name.len && units < FILE_BASE_UNITS;) {
        uint32_t point = pawl__utf8_next(name, &pos);

        if (point < 0x10000 && pawl__lock_letter((uint16_t)point)) {
            len += pawl__utf8_encode(point, out + len);
            units++;
        } else {
            for (int halves = point < 0x10000 ? 1 : 2; halves > 0 && units < FILE_BASE_UNITS;
                 halves--, units++)
                out[len++] = '_';
        }
    }
    file_hash(name, out + len);
    memcpy(out + len + FILE_HASH_CHARS, suffix, sizeof suffix);
}

/* ---- postgres ---------------------------------------------------------------------------- */

/* Up to nine characters of seven bits, a 0, then ones. */
static bool key_of_ascii(struct pawl_str name, struct pawl_pg_lock_key *out)
{
    uint64_t bits = 0;

    if (name.len > 9)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        if ((unsigned char)name.ptr[i] >= 0x80)
            return false;
        bits = bits << 7 | (unsigned char)name.ptr[i];
    }
    bits <<= 1;
    for (size_t fill = 63 - 7 * name.len; fill > 0; fill--)
        bits = bits << 1 | 1;
    out->pair = true;
    out->a = (int32_t)(uint32_t)(bits >> 32);
    out->b = (int32_t)(uint32_t)bits;
    return true;
}

/* Hexadecimal digits, one at least; NULs behind them are passed over, as .NET does. */
static bool read_hex(struct pawl_str digits, uint64_t *out)
{
    size_t i = 0;

    *out = 0;
    for (; i < digits.len && digits.ptr[i]; i++) {
        char c = digits.ptr[i];
        int value = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;

        if (value < 0)
            return false;
        *out = *out << 4 | (unsigned)value;
    }
    if (i == 0)
        return false;
    for (; i < digits.len; i++)
        if (digits.ptr[i])
            return false;
    return true;
}

static bool key_of_hex(struct pawl_str name, struct pawl_pg_lock_key *out)
{
    uint64_t first, second;

    if (name.len == 16 && read_hex(pawl__str_slice(name, 0, 8), &first) &&
        read_hex(pawl__str_slice(name, 8, 16), &second)) {
        out->key = (int64_t)(first << 32 | second);
        return true;
    }
    if (name.len == 17 && name.ptr[8] == ',' && read_hex(pawl__str_slice(name, 0, 8), &first) &&
        read_hex(pawl__str_slice(name, 9, 17), &second)) {
        out->pair = true;
        out->a = (int32_t)(uint32_t)first;
        out->b = (int32_t)(uint32_t)second;
        return true;
    }
    return false;
}

void pawl__lock_name_postgres(struct pawl_str name, struct pawl_pg_lock_key *out)
{
    unsigned char digest[PAWL_SHA1_BYTES];
    uint64_t bits = 0;

    *out = (struct pawl_pg_lock_key){.pair = false};
    if (key_of_ascii(name, out) || key_of_hex(name, out))
        return;
    pawl__sha1(name, digest);
    for (unsigned i = 0; i < 8; i++)
        bits |= (uint64_t)digest[i] << 8 * i;
    out->key = (int64_t)bits;
}

void pawl__lock_name_postgres_text(const struct pawl_pg_lock_key *key,
                                   char out[PAWL_PG_LOCK_KEY_TEXT_SIZE])
{
    if (key->pair)
        (void)snprintf(out, PAWL_PG_LOCK_KEY_TEXT_SIZE, "%" PRId32 ",%" PRId32, key->a, key->b);
    else
        (void)snprintf(out, PAWL_PG_LOCK_KEY_TEXT_SIZE, "%" PRId64, key->key);
}

/* ---- sqlserver --------------------------------------------------------------------------- */

size_t pawl__lock_name_sqlserver(struct pawl_str name, uint16_t out[PAWL_SQLSERVER_LOCK_UNITS_MAX])
{
    struct units units = {.changed = !pawl__utf8_valid(name)};

    for (size_t pos = 0; pos < name.len;)
        put_point(&units, pawl__utf8_next(name, &pos));
    make_safe(&units, name, PAWL_SQLSERVER_LOCK_UNITS_MAX);
    memcpy(out, units.at, units.kept * sizeof units.at[0]);
    return units.kept;
}

size_t pawl__lock_name_sqlserver_text(struct pawl_str name, char out[PAWL_SQLSERVER_LOCK_NAME_SIZE])
{
    uint16_t units[PAWL_SQLSERVER_LOCK_UNITS_MAX];

    return to_utf8(units, pawl__lock_name_sqlserver(name, units), out);
}

/* ---- azure ------------------------------------------------------------------------------- */

/* 254 segments at the most. */
#define AZURE_SLASHES_MAX 253

size_t pawl__lock_name_azure(struct pawl_str name, size_t units_max,
                             char out[PAWL_AZURE_LOCK_NAME_SIZE])
{
    struct units units = {.changed = !pawl__utf8_valid(name) || name.len == 0};
    size_t slashes = 0;

    if (name.len == 0)
        put_text(&units, "__EMPTY__");
    for (size_t pos = 0; pos < name.len;) {
        uint32_t point = pawl__utf8_next(name, &pos);
        bool last = pos == name.len;

        if ((point == '/' || point == '\\') && (++slashes > AZURE_SLASHES_MAX || last)) {
            put_text(&units, "SLASH");
            units.changed = true;
        } else if (point == '.' && last) {
            put_text(&units, "DOT");
            units.changed = true;
        } else {
            put_point(&units, point);
        }
    }
    make_safe(&units, name, units_max);
    return to_utf8(units.at, units.kept, out);
}

static size_t put_percent(char *out, struct pawl_str segment)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t len = 0;

    for (size_t i = 0; i < segment.len; i++) {
        unsigned char c = (unsigned char)segment.ptr[i];

        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
            c == '-' || c == '.' || c == '_' || c == '~') {
            out[len++] = (char)c;
        } else {
            out[len++] = '%';
            out[len++] = digits[c >> 4];
            out[len++] = digits[c & 15];
        }
    }
    return len;
}

/* Drops the last segment and the slash before it. */
static size_t go_up(const char *out, size_t len)
{
    if (len > 0)
        len--; /* the slash behind it */
    while (len > 0 && out[len - 1] != '/')
        len--;
    return len;
}

int pawl__lock_name_azure_path(struct pawl_str name, size_t units_max,
                               char out[PAWL_AZURE_LOCK_PATH_SIZE], struct pawl_error *err)
{
    char text[PAWL_AZURE_LOCK_NAME_SIZE];
    struct pawl_str safe = {text, pawl__lock_name_azure(name, units_max, text)};
    size_t len = 0, pos = 0;

    while (pos < safe.len && text[pos] == '/')
        pos++;
    while (pos < safe.len) {
        size_t end = pawl__str_find(safe, '/', pos);
        struct pawl_str segment = pawl__str_slice(safe, pos, end);
        bool last = end == SIZE_MAX;

        if (pawl__str_is(segment, "..") && len == 0)
            return pawl__error_set(err, PAWL_EINVAL,
                                   "the lock '%.*s' would leave its Azure container: name it "
                                   "without '..'",
                                   (int)(name.len < 100 ? name.len : 100), name.ptr);
        if (pawl__str_is(segment, "..")) {
            len = go_up(out, len);
        } else if (!pawl__str_is(segment, ".") && (segment.len > 0 || len > 0)) {
            len += put_percent(out + len, segment);
            if (!last)
                out[len++] = '/';
        }
        pos = last ? safe.len : end + 1;
    }
    out[len] = '\0';
    if (len == 0)
        return pawl__error_set(
            err, PAWL_EINVAL, "the lock '%.*s' is not a valid Azure blob name: choose another name",
            (int)(name.len < 100 ? name.len : 100), name.ptr);
    return PAWL_OK;
}
