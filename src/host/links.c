/* SPDX-License-Identifier: Apache-2.0 */
/* Links; see links.h. */
#include "host/links.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/hash/hmac.h"
#include "base/json/builder.h"
#include "host/features.h"
#include "host/memo.h"

#include <pawl/ext/store.h>

#include <stdio.h>

#define KIND "link-key"
#define SECRET_BYTES 32
#define SECRET_TEXT 44 /* base64 */
#define PERIOD_S (INT64_C(30) * 24 * 3600)
#define KEPT_NS INT64_C(600000000000)
#define GRACE_NS INT64_C(10000000000)
#define TOKEN_BYTES_MAX 4096u
#define PREFIX_LEN 6u /* "v1.ne." */

struct key {
    int64_t number; /* of its period */
    unsigned char secret[SECRET_BYTES];
};

static int refuse(struct pawl_error *err)
{
    return pawl__error_set(err, PAWL_EPERM, "Invalid token.");
}

static int64_t now_s(struct pawl_host *host)
{
    return pawl_env_wall_ns(pawl__host_env(host)) / 1000000000;
}

/* ---- keys ----------------------------------------------------------------------------------- */

struct call {
    struct pawl_host *host;
    struct pawl_arena *arena;
    int64_t deadline_ns;
    struct pawl_error *err;
};

static int find_key(const struct call *call, struct pawl_str id, bool *found, struct key *out)
{
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_DOCUMENTS, "kind"),
         .value = {.text = pawl__str(KIND)}},
        {.column = pawl_table_column(PAWL_TABLE_DOCUMENTS, "id"), .value = {.text = id}},
    };
    const struct pawl_query query = {
        .table = PAWL_TABLE_DOCUMENTS, .conditions = conditions, .condition_count = 2};
    struct pawl_rows rows = {0};
    unsigned char bytes[SECRET_TEXT];
    struct pawl_json data;
    struct pawl_str text;
    int status = pawl_store_find(pawl__host_store(call->host), &query, call->arena, &rows,
                                 call->deadline_ns, call->err);

    *found = false;
    if (status != PAWL_OK || rows.count == 0)
        return status;
    status = pawl__json_parse(call->arena, ((const struct pawl_document_row *)rows.rows)->data,
                              NULL, &data, NULL, call->err);
    if (status != PAWL_OK)
        return status;
    text = pawl__json_str(pawl__json_get_text(&data, "secret"));
    if (text.len != SECRET_TEXT || pawl__base64_decode(text, bytes) != SECRET_BYTES)
        return pawl__error_set(call->err, PAWL_ECORRUPT, "a key of links cannot be read");
    memcpy(out->secret, bytes, SECRET_BYTES);
    *found = true;
    return PAWL_OK;
}

/* Somebody else may make the same one at the same time: theirs counts. */
static int add_key(const struct call *call, struct pawl_str id)
{
    unsigned char secret[SECRET_BYTES];
    char text[SECRET_TEXT + 1] = "", data[SECRET_TEXT + 20];
    struct pawl_document_row row = {.kind = pawl__str(KIND),
                                    .id = id,
                                    .name = id,
                                    .lookup = pawl__str(""),
                                    .revision = 1,
                                    .expires_us = PAWL_TIME_NEVER};
    struct pawl_change change = {
        .kind = PAWL_CHANGE_ADD, .table = PAWL_TABLE_DOCUMENTS, .row = &row};
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};
    struct pawl_commit *commits[] = {&commit};
    int status =
        pawl_env_entropy(pawl__host_env(call->host), secret, sizeof secret, call->err);

    if (status != PAWL_OK)
        return status;
    pawl__base64_encode(secret, sizeof secret, text);
    (void)snprintf(data, sizeof data, "{\"secret\":\"%s\"}", text);
    row.created_us = row.updated_us = pawl_env_wall_ns(pawl__host_env(call->host)) / 1000;
    row.data = pawl__str(data);
    status = pawl_store_apply(pawl__host_store(call->host), commits, 1, call->deadline_ns,
                              call->err);
    return status == PAWL_OK && commit.status != PAWL_OK
               ? pawl__error_code(call->err, commit.status)
               : status;
}

/* Its document's id, and what the host remembers it by. */
static struct pawl_str key_id(int64_t number, char out[32])
{
    return pawl__str_make(out, (size_t)snprintf(out, 32, "link-key-%lld", (long long)number));
}

static int get_key(const struct call *call, int64_t number, bool make, struct key *out)
{
    struct pawl_memo *memo = pawl__host_counts(call->host);
    char text[32];
    struct pawl_str id = key_id(number, text);
    bool found = false;
    int status;

    if (pawl__memo_get(memo, id, out, sizeof *out, GRACE_NS))
        return PAWL_OK;
    *out = (struct key){.number = number};
    status = find_key(call, id, &found, out);
    if (status == PAWL_OK && !found && make) {
        status = add_key(call, id);
        if (status == PAWL_OK)
            status = find_key(call, id, &found, out);
    }
    if (status != PAWL_OK)
        return status;
    if (!found)
        return refuse(call->err);
    pawl__memo_put(memo, id, out, sizeof *out, KEPT_NS);
    return PAWL_OK;
}

/* ---- tokens --------------------------------------------------------------------------------- */

static void sign(const struct key *key, struct pawl_str text,
                 unsigned char digest[PAWL_SHA256_BYTES])
{
    pawl__hmac_sha256(pawl__str_make((const char *)key->secret, SECRET_BYTES), text, digest);
}

static int append_base64url(const struct call *call, struct pawl_buf *out, struct pawl_str bytes)
{
    size_t len = pawl__base64url_len(bytes.len);
    char *text = pawl__arena_alloc(call->arena, len + 1);

    if (!text)
        return pawl__error_code(call->err, pawl__arena_status(call->arena));
    pawl__base64url_encode((const unsigned char *)bytes.ptr, bytes.len, text);
    pawl__buf_str(out, pawl__str_make(text, len));
    return PAWL_OK;
}

static int write_payload(const struct call *call, const struct pawl_link *link, int64_t number,
                         struct pawl_buf *out)
{
    struct pawl_builder b = {.arena = call->arena};
    struct pawl_json payload = pawl__json_object();

    pawl__build_int(&b, &payload, "k", number);
    pawl__build_text(&b, &payload, "e", link->event);
    pawl__build_text(&b, &payload, "b", link->bookmark_id);
    pawl__build_text(&b, &payload, "i", link->instance_id);
    if (link->expires_s != 0)
        pawl__build_int(&b, &payload, "x", link->expires_s);
    if (b.status != PAWL_OK)
        return pawl__error_code(call->err, b.status);
    pawl__json_write(out, &payload, PAWL_JSON_ESCAPE_MINIMAL);
    return out->status == PAWL_OK ? PAWL_OK : pawl__error_code(call->err, out->status);
}

static int write_token(const struct call *call, const struct pawl_link *link,
                       const struct key *key, struct pawl_buf *token)
{
    unsigned char digest[PAWL_SHA256_BYTES];
    struct pawl_buf payload;
    int status;

    pawl__buf_init(&payload, &pawl__host_env(call->host)->alloc, TOKEN_BYTES_MAX);
    status = write_payload(call, link, key->number, &payload);
    pawl__buf_text(token, link->expires_s != 0 ? "v1.tl." : "v1.ne.");
    if (status == PAWL_OK)
        status = append_base64url(call, token, pawl__buf_peek(&payload));
    pawl__buf_release(&payload);
    if (status != PAWL_OK)
        return status;
    sign(key, pawl__buf_peek(token), digest);
    pawl__buf_text(token, ".");
    status = append_base64url(call, token, pawl__str_make((const char *)digest, sizeof digest));
    return status == PAWL_OK && token->status != PAWL_OK
               ? pawl__error_code(call->err, token->status)
               : status;
}

int pawl__link_make(struct pawl_host *host, const struct pawl_link *link, struct pawl_arena *arena,
                    struct pawl_str *token, int64_t deadline_ns, struct pawl_error *err)
{
    const struct call call = {host, arena, deadline_ns, err};
    struct pawl_buf text;
    struct key key;
    int status = get_key(&call, now_s(host) / PERIOD_S, true, &key);

    if (status != PAWL_OK)
        return status;
    pawl__buf_init(&text, &pawl__host_env(host)->alloc, TOKEN_BYTES_MAX);
    status = write_token(&call, link, &key, &text);
    if (status == PAWL_OK) {
        *token = pawl__arena_str(arena, pawl__buf_peek(&text));
        if (!token->ptr)
            status = pawl__error_code(err, pawl__arena_status(arena));
    }
    pawl__buf_release(&text);
    return status;
}

/* Whatever they are, in the same time. */
static bool is_same(const unsigned char *a, const unsigned char *b, size_t len)
{
    unsigned char differs = 0;

    for (size_t i = 0; i < len; i++)
        differs |= (unsigned char)(a[i] ^ b[i]);
    return differs == 0;
}

/* The payload, of a text that has the form of a token; `signed_text` is what its end signs. */
static bool split(struct pawl_str token, struct pawl_str *payload, struct pawl_str *signed_text,
                  struct pawl_str *mac)
{
    size_t dot = pawl__str_find(token, '.', PREFIX_LEN);

    if (token.len > TOKEN_BYTES_MAX || dot == SIZE_MAX ||
        (!pawl__str_starts(token, pawl__str("v1.ne.")) &&
         !pawl__str_starts(token, pawl__str("v1.tl."))))
        return false;
    *payload = pawl__str_slice(token, PREFIX_LEN, dot);
    *signed_text = pawl__str_slice(token, 0, dot);
    *mac = pawl__str_slice(token, dot + 1, token.len);
    return payload->len > 0 && mac->len == pawl__base64url_len(PAWL_SHA256_BYTES);
}

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    struct pawl_str text = pawl__json_str(pawl__json_get_text(object, key));

    return text.ptr ? text : pawl__str("");
}

int pawl__link_read(struct pawl_host *host, struct pawl_str token, struct pawl_arena *arena,
                    struct pawl_link *out, int64_t deadline_ns, struct pawl_error *err)
{
    const struct call call = {host, arena, deadline_ns, err};
    unsigned char given[PAWL_SHA256_BYTES + 3], digest[PAWL_SHA256_BYTES];
    struct pawl_str text, signed_text, mac;
    struct pawl_json payload;
    int64_t number = -1, expires_s = 0;
    unsigned char *bytes;
    struct key key;
    size_t len;
    int status;

    if (!split(token, &text, &signed_text, &mac) ||
        pawl__base64url_decode(mac, given) != PAWL_SHA256_BYTES)
        return refuse(err);
    bytes = pawl__arena_alloc(arena, text.len + 1);
    if (!bytes)
        return pawl__error_code(err, pawl__arena_status(arena));
    len = pawl__base64url_decode(text, bytes);
    if (len == SIZE_MAX || len > text.len ||
        pawl__json_parse(arena, pawl__str_make((const char *)bytes, len), NULL, &payload, NULL,
                         NULL) != PAWL_OK ||
        !pawl__json_to_int(pawl__json_get_text(&payload, "k"), &number))
        return refuse(err);
    status = get_key(&call, number, false, &key);
    if (status != PAWL_OK)
        return status;
    sign(&key, signed_text, digest);
    (void)pawl__json_to_int(pawl__json_get_text(&payload, "x"), &expires_s);
    if (!is_same(given, digest, sizeof digest) || (expires_s != 0 && expires_s <= now_s(host)))
        return refuse(err);
    *out = (struct pawl_link){.event = text_of(&payload, "e"),
                              .bookmark_id = text_of(&payload, "b"),
                              .instance_id = text_of(&payload, "i"),
                              .expires_s = expires_s};
    return PAWL_OK;
}

int pawl__link_event_url(struct pawl_host *host, const struct pawl_link *link,
                         struct pawl_arena *arena, struct pawl_str *url, int64_t deadline_ns,
                         struct pawl_error *err)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(host);
    const char *base = pawl__configuration_text(configuration, PAWL_SETTING_ID_SERVER_PUBLIC_URL);
    const char *listen = pawl__configuration_text(configuration, PAWL_SETTING_ID_SERVER_LISTEN);
    struct pawl_str token;
    int status = pawl__link_make(host, link, arena, &token, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    *url = pawl__str(pawl__arena_printf(
        arena, "%s%s/elsa/api/events/trigger?t=%.*s", base && base[0] ? "" : "http://",
        base && base[0] ? base : listen, PAWL_STR_ARG(token)));
    return url->len > 0 ? PAWL_OK : pawl__error_code(err, pawl__arena_status(arena));
}
