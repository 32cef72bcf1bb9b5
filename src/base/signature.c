/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures of webhooks; see signature.h. */
#include "base/signature.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/hash/sha1.h"
#include "base/hash/sha256.h"
#include "base/hash/sha512.h"
#include "base/hex.h"
#include "base/secret.h"

#define TOLERANCE_S_DEFAULT 300
#define DIGEST_BYTES_MAX PAWL_SHA512_BYTES
#define BLOCK_BYTES_MAX 128
/* A payload may name the body more than once. */
#define PAYLOAD_BYTES_MAX ((size_t)1 << 30)
/* More items of a header than anybody sends. */
#define ITEMS_MAX 32

struct algorithm {
    const char *name;
    size_t digest_bytes, block_bytes;
    void (*hash)(struct pawl_str text, unsigned char *digest);
};

static const struct algorithm algorithms[] = {
    {"sha256", PAWL_SHA256_BYTES, 64, pawl__sha256},
    {"sha1", PAWL_SHA1_BYTES, 64, pawl__sha1},
    {"sha512", PAWL_SHA512_BYTES, 128, pawl__sha512},
};

static const struct algorithm *find_algorithm(struct pawl_str name)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++)
        if (pawl__str_equal_nocase(name, pawl__str(algorithms[i].name)))
            return &algorithms[i];
    return NULL;
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Where `what` is in text; SIZE_MAX: nowhere. */
static size_t find_text(struct pawl_str text, const char *what)
{
    struct pawl_str found = pawl__str(what);

    for (size_t i = 0; i + found.len <= text.len; i++)
        if (memcmp(text.ptr + i, found.ptr, found.len) == 0)
            return i;
    return SIZE_MAX;
}

static struct pawl_str text_or(const struct pawl_json *json, const char *key, const char *otherwise)
{
    const struct pawl_json *value = pawl__json_get_nocase(json, pawl__str(key));

    return pawl__json_is(value, PAWL_JSON_STRING) ? pawl__json_str(value) : pawl__str(otherwise);
}

static int check_rule(const struct pawl_signature_rule *rule, struct pawl_error *err)
{
    bool has_time = rule->timestamp_header.len > 0 || rule->timestamp_prefix.len > 0;

    if (rule->header.len == 0)
        return pawl__error_set(err, PAWL_EINVAL, "the signature needs a \"header\"");
    if (rule->secret.len == 0)
        return pawl__error_set(err, PAWL_EINVAL, "the signature needs a \"secret\", by name");
    if (!find_algorithm(rule->algorithm))
        return pawl__error_set(err, PAWL_EINVAL,
                               "the signature's algorithm is sha256, sha1 or sha512, not %.*s",
                               PAWL_STR_ARG(pawl__utf8_cut(rule->algorithm, 50)));
    if (!pawl__str_is(rule->encoding, "hex") && !pawl__str_is(rule->encoding, "base64"))
        return pawl__error_set(err, PAWL_EINVAL, "the signature's encoding is hex or base64");
    if (find_text(rule->payload, "{body}") == SIZE_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "the signature's payload has no {body}");
    if (has_time != (find_text(rule->payload, "{timestamp}") != SIZE_MAX))
        return pawl__error_set(err, PAWL_EINVAL,
                               "the signature has a time and a payload with {timestamp}, or "
                               "neither: a time that is not signed says nothing");
    if (rule->tolerance_s < 0)
        return pawl__error_set(err, PAWL_EINVAL,
                               "the signature's toleranceSeconds is a number of seconds");
    return PAWL_OK;
}

int pawl__signature_rule_read(const struct pawl_json *json, struct pawl_signature_rule *out,
                              struct pawl_error *err)
{
    const struct pawl_json *tolerance = pawl__json_get_nocase(json, pawl__str("toleranceSeconds"));
    struct pawl_signature_rule rule = {
        .header = text_or(json, "header", ""),
        .secret = text_or(json, "secret", ""),
        .algorithm = text_or(json, "algorithm", "sha256"),
        .encoding = text_or(json, "encoding", "hex"),
        .prefix = text_or(json, "prefix", ""),
        .payload = text_or(json, "payload", "{body}"),
        .timestamp_header = text_or(json, "timestampHeader", ""),
        .timestamp_prefix = text_or(json, "timestampPrefix", ""),
        .tolerance_s = TOLERANCE_S_DEFAULT,
    };
    int status;

    if (tolerance && !pawl__json_to_int(tolerance, &rule.tolerance_s))
        rule.tolerance_s = -1;
    status = check_rule(&rule, err);
    if (status == PAWL_OK)
        *out = rule;
    return status;
}

/* ---- checking -------------------------------------------------------------------------------- */

/* Appends the payload: what stands between braces is filled in. */
static void write_payload(struct pawl_buf *out, const struct pawl_signature_rule *rule,
                          struct pawl_str timestamp, struct pawl_str body)
{
    struct pawl_str rest = rule->payload;

    while (rest.len > 0) {
        if (pawl__str_starts(rest, pawl__str("{body}"))) {
            pawl__buf_str(out, body);
            rest = pawl__str_slice(rest, strlen("{body}"), rest.len);
        } else if (pawl__str_starts(rest, pawl__str("{timestamp}"))) {
            pawl__buf_str(out, timestamp);
            rest = pawl__str_slice(rest, strlen("{timestamp}"), rest.len);
        } else {
            pawl__buf_byte(out, rest.ptr[0]);
            rest = pawl__str_slice(rest, 1, rest.len);
        }
    }
}

static void write_block(struct pawl_buf *out, const struct algorithm *algorithm,
                        struct pawl_str key, unsigned char pad)
{
    unsigned char block[BLOCK_BYTES_MAX] = {0};

    if (key.len > algorithm->block_bytes)
        algorithm->hash(key, block);
    else
        memcpy(block, key.ptr, key.len);
    for (size_t i = 0; i < algorithm->block_bytes; i++)
        block[i] = (unsigned char)(block[i] ^ pad);
    pawl__buf_append(out, (const char *)block, algorithm->block_bytes);
    pawl__secret_wipe(block, sizeof block);
}

/* RFC 2104. */
static int make_code(const struct pawl_signature_rule *rule, struct pawl_str key,
                     struct pawl_str timestamp, struct pawl_str body,
                     const struct pawl_allocator *alloc, unsigned char digest[DIGEST_BYTES_MAX])
{
    const struct algorithm *algorithm = find_algorithm(rule->algorithm);
    struct pawl_buf text;
    int status;

    pawl__buf_init(&text, alloc, PAYLOAD_BYTES_MAX);
    write_block(&text, algorithm, key, 0x36);
    write_payload(&text, rule, timestamp, body);
    if (text.status == PAWL_OK)
        algorithm->hash(pawl__buf_peek(&text), digest);
    if (text.ptr)
        pawl__secret_wipe(text.ptr, text.len);
    if (text.status == PAWL_OK) {
        pawl__buf_clear(&text);
        write_block(&text, algorithm, key, 0x5c);
        pawl__buf_append(&text, (const char *)digest, algorithm->digest_bytes);
    }
    if (text.status == PAWL_OK)
        algorithm->hash(pawl__buf_peek(&text), digest);
    status = text.status;
    if (text.ptr)
        pawl__secret_wipe(text.ptr, text.len);
    pawl__buf_release(&text);
    return status;
}

static bool is_code(const struct pawl_signature_rule *rule, struct pawl_str text,
                    const unsigned char digest[DIGEST_BYTES_MAX])
{
    const struct algorithm *algorithm = find_algorithm(rule->algorithm);
    size_t bytes = algorithm ? algorithm->digest_bytes : 0;
    unsigned char given[DIGEST_BYTES_MAX + 3];
    bool is_hex = pawl__str_is(rule->encoding, "hex");

    if (bytes == 0)
        return false;
    if (is_hex ? text.len != 2 * bytes || !pawl__hex_decode(text, given)
               : text.len != pawl__base64_len(bytes) || pawl__base64_decode(text, given) != bytes)
        return false;
    return pawl__secret_equal(pawl__str_make((const char *)given, bytes),
                              pawl__str_make((const char *)digest, bytes));
}

/* The nth item of the header that begins so, without that; ptr NULL: there is none. */
static struct pawl_str item_with(struct pawl_str header, struct pawl_str prefix, size_t nth)
{
    size_t count = 0;

    for (size_t at = 0; at <= header.len && count < ITEMS_MAX; count++) {
        size_t comma = pawl__str_find(header, ',', at);
        struct pawl_str item = pawl__str_trim(pawl__str_slice(header, at, comma));

        if (item.len > 0 && pawl__str_starts(item, prefix) && nth-- == 0)
            return pawl__str_slice(item, prefix.len, item.len);
        if (comma == SIZE_MAX)
            break;
        at = comma + 1;
    }
    return pawl__str_make(NULL, 0);
}

/* Seconds since 1970; false: it is no such number. */
static bool is_near(struct pawl_str timestamp, int64_t now_s, int64_t tolerance_s)
{
    int64_t value = 0;

    if (timestamp.len == 0 || timestamp.len > 15)
        return false;
    for (size_t i = 0; i < timestamp.len; i++) {
        if (timestamp.ptr[i] < '0' || timestamp.ptr[i] > '9')
            return false;
        value = value * 10 + (timestamp.ptr[i] - '0');
    }
    return value >= now_s - tolerance_s && value <= now_s + tolerance_s;
}

enum pawl_signature_result pawl__signature_check(const struct pawl_signature_rule *rule,
                                                 struct pawl_str key,
                                                 const struct pawl_signed *what,
                                                 const struct pawl_allocator *alloc)
{
    bool has_time = rule->timestamp_header.len > 0 || rule->timestamp_prefix.len > 0, good = false;
    struct pawl_str timestamp = pawl__str_trim(what->timestamp), item;
    unsigned char digest[DIGEST_BYTES_MAX];

    if (rule->timestamp_prefix.len > 0)
        timestamp = item_with(what->code, rule->timestamp_prefix, 0);
    if (!item_with(what->code, rule->prefix, 0).ptr || (has_time && timestamp.len == 0))
        return PAWL_SIGNATURE_MISSING;
    if (make_code(rule, key, timestamp, what->body, alloc, digest) != PAWL_OK)
        return PAWL_SIGNATURE_NO_MEMORY;
    for (size_t nth = 0; (item = item_with(what->code, rule->prefix, nth)).ptr; nth++)
        good |= is_code(rule, item, digest);
    pawl__secret_wipe(digest, sizeof digest);
    if (!good)
        return PAWL_SIGNATURE_WRONG;
    return has_time && !is_near(timestamp, what->now_s, rule->tolerance_s) ? PAWL_SIGNATURE_STALE
                                                                           : PAWL_SIGNATURE_GOOD;
}
