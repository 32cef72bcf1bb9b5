/* SPDX-License-Identifier: Apache-2.0 */
/* Signed tokens; see jwt.h. Nothing of the claims is looked at before the signature was checked. */
#include "base/jwt.h"

#include "base/base64.h"
#include "base/hash/hmac.h"
#include "base/secret.h"

/* How .NET names the algorithm on the tokens that it issues. */
#define ALGORITHM "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256"
#define DEPTH_MAX 16

static const struct pawl_json_limits limits = {PAWL_JWT_BYTES_MAX, DEPTH_MAX};

/* ---- writing ----------------------------------------------------------------------------- */

static void write_part(struct pawl_buf *out, struct pawl_str bytes)
{
    size_t len = pawl__base64url_len(bytes.len);
    char *to = pawl__buf_reserve(out, len);

    if (!to)
        return;
    pawl__base64url_encode((const unsigned char *)bytes.ptr, bytes.len, to);
    out->len += len;
}

static void write_header(struct pawl_buf *out, const struct pawl_jwt_key *key)
{
    struct pawl_json_writer json;
    struct pawl_buf text;

    pawl__buf_init(&text, out->alloc, PAWL_JWT_BYTES_MAX);
    pawl__json_writer_init(&json, &text, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__json_write_begin_object(&json);
    pawl__json_write_key_text(&json, "alg");
    pawl__json_write_string_text(&json, ALGORITHM);
    pawl__json_write_key_text(&json, "typ");
    pawl__json_write_string_text(&json, "JWT");
    pawl__json_write_key_text(&json, "kid");
    pawl__json_write_string(&json, key->id);
    pawl__json_write_end_object(&json);
    if (text.status == PAWL_OK)
        write_part(out, pawl__buf_peek(&text));
    else
        out->status = text.status;
    pawl__buf_release(&text);
}

void pawl__jwt_write(struct pawl_buf *out, const struct pawl_jwt_key *key, struct pawl_str claims)
{
    unsigned char digest[PAWL_SHA256_BYTES];
    size_t from = out->len;

    write_header(out, key);
    pawl__buf_byte(out, '.');
    write_part(out, claims);
    if (out->status != PAWL_OK)
        return;
    pawl__hmac_sha256(key->secret, pawl__str_make(out->ptr + from, out->len - from), digest);
    pawl__buf_byte(out, '.');
    write_part(out, pawl__str_make((const char *)digest, sizeof digest));
}

/* ---- reading ----------------------------------------------------------------------------- */

static int decode_object(struct pawl_str part, struct pawl_arena *arena, struct pawl_json *out)
{
    size_t len = pawl__base64url_decode(part, NULL);
    unsigned char *bytes;
    int status;

    if (len == SIZE_MAX)
        return PAWL_EPARSE;
    bytes = pawl__arena_alloc(arena, len + 1);
    if (!bytes)
        return pawl__arena_status(arena);
    (void)pawl__base64url_decode(part, bytes);
    status =
        pawl__json_parse(arena, pawl__str_make((const char *)bytes, len), &limits, out, NULL, NULL);
    if (status != PAWL_OK)
        return status == PAWL_ENOMEM ? status : PAWL_EPARSE;
    return pawl__json_is(out, PAWL_JSON_OBJECT) ? PAWL_OK : PAWL_EPARSE;
}

/* "crit" names extensions that must be understood: none is. */
static bool header_is_right(const struct pawl_json *header)
{
    struct pawl_str algorithm = pawl__json_str(pawl__json_get_text(header, "alg"));

    return (pawl__str_is(algorithm, "HS256") || pawl__str_is(algorithm, ALGORITHM)) &&
           !pawl__json_get_text(header, "crit");
}

static bool is_signed(struct pawl_str text, struct pawl_str signature,
                      const struct pawl_jwt_key *key)
{
    unsigned char right[PAWL_SHA256_BYTES], given[PAWL_SHA256_BYTES];

    if (pawl__base64url_decode(signature, NULL) != sizeof given)
        return false;
    (void)pawl__base64url_decode(signature, given);
    pawl__hmac_sha256(key->secret, text, right);
    return pawl__secret_equal(pawl__str_make((const char *)right, sizeof right),
                              pawl__str_make((const char *)given, sizeof given));
}

int pawl__jwt_read(struct pawl_str token, const struct pawl_jwt_key *keys, size_t key_count,
                   struct pawl_arena *arena, struct pawl_json *claims)
{
    size_t first = pawl__str_find(token, '.', 0);
    size_t second = first == SIZE_MAX ? SIZE_MAX : pawl__str_find(token, '.', first + 1);
    const struct pawl_json *id;
    struct pawl_json header;
    bool found = false;
    int status;

    if (token.len > PAWL_JWT_BYTES_MAX || second == SIZE_MAX)
        return PAWL_EPARSE;
    status = decode_object(pawl__str_slice(token, 0, first), arena, &header);
    if (status != PAWL_OK)
        return status;
    if (!header_is_right(&header))
        return PAWL_EPARSE;
    id = pawl__json_get_text(&header, "kid");
    for (size_t i = 0; i < key_count && !found; i++)
        found = (!id || pawl__str_equal(pawl__json_str(id), keys[i].id)) &&
                is_signed(pawl__str_slice(token, 0, second),
                          pawl__str_slice(token, second + 1, token.len), &keys[i]);
    if (!found)
        return PAWL_ENOTFOUND;
    return decode_object(pawl__str_slice(token, first + 1, second), arena, claims);
}
