/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys that sign tokens, tokens, and links by which one signs in once; see identity.h.
 *
 * A signing key is a document: {secret}, base64. The newest one signs that is old enough for every
 * node to know it, so that no node refuses what another has just issued. After a month the next one
 * is made, and its predecessors are kept until the last token of theirs has expired.
 */
#include "base/base64.h"
#include "base/error.h"
#include "base/json/builder.h"
#include "base/jwt.h"
#include "operations/directory.h"
#include "operations/identity_private.h"

#define SECRET_BYTES 32
#define SECOND_US INT64_C(1000000)
#define ROTATE_US (30 * 24 * 3600 * SECOND_US)
/* A key signs from this age on; nodes look for changes more often (directory.h). */
#define KNOWN_US (60 * SECOND_US)
/* Longer than the longest token lives. */
#define RETIRED_US (13 * 3600 * SECOND_US)
#define TICKET_US (600 * SECOND_US)
#define TICKET_BYTES 24
#define ROLE_CLAIM "http://schemas.microsoft.com/ws/2008/06/identity/claims/role"

struct use {
    const char *name;
    int64_t life_s;
};

static const struct use uses[] = {
    [PAWL_TOKEN_ACCESS] = {"access", 3600},
    [PAWL_TOKEN_REFRESH] = {"refresh", 7200},
    [PAWL_TOKEN_SESSION] = {"session", INT64_C(12) * 3600},
    [PAWL_TOKEN_SOCKET] = {"socket", 60},
    [PAWL_TOKEN_HUB] = {"hub", 60},
};

const char *pawl__token_use_name(enum pawl_token_use use)
{
    return uses[use].name;
}

/* ---- signing keys ---------------------------------------------------------------------------- */

/* The newest that every node knows; the oldest of all where there is none. NULL: no keys. */
static const struct pawl_document_row *choose(const struct pawl_document_row *rows, size_t count,
                                              int64_t now_us)
{
    const struct pawl_document_row *known = NULL, *oldest = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct pawl_document_row *row = &rows[i];

        if (!oldest || row->created_us < oldest->created_us)
            oldest = row;
        if (row->created_us <= now_us - KNOWN_US && (!known || row->created_us > known->created_us))
            known = row;
    }
    return known ? known : oldest;
}

static int64_t newest_us(const struct pawl_document_row *rows, size_t count)
{
    int64_t newest = 0;

    for (size_t i = 0; i < count; i++)
        if (rows[i].created_us > newest)
            newest = rows[i].created_us;
    return newest;
}

struct rotation {
    bool forced;  /* whatever the age of the newest */
    bool at_once; /* the earlier ones are deleted */
};

/* No two are of the same time, by which they are chosen: a store's clock may count milliseconds. */
static int add_key(const struct pawl_op *op, int64_t after_us, struct identity_plan *plan)
{
    struct pawl_document_row row = {.kind = pawl__str(KIND_SIGNING_KEY),
                                    .lookup = pawl__str(""),
                                    .revision = 1,
                                    .created_us =
                                        plan->now_us > after_us ? plan->now_us : after_us + 1,
                                    .updated_us = plan->now_us,
                                    .expires_us = PAWL_TIME_NEVER};
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_json data = pawl__json_object();
    unsigned char secret[SECRET_BYTES];
    char text[2 * SECRET_BYTES] = {0}, id[IDENTITY_ID_SIZE];
    int status = pawl_env_entropy(op_env(op), secret, sizeof secret, op->err);

    if (status == PAWL_OK)
        status = identity_make_id(op, id);
    if (status != PAWL_OK)
        return status;
    row.id = row.name = pawl__arena_str(op->arena, pawl__str(id));
    pawl__base64_encode(secret, sizeof secret, text);
    pawl__build_text(&b, &data, "secret", pawl__arena_str(op->arena, pawl__str(text)));
    status = b.status == PAWL_OK ? identity_write(op, &data, &row.data)
                                 : pawl__error_code(op->err, b.status);
    if (status == PAWL_OK)
        identity_plan_add(plan, PAWL_CHANGE_INSERT, &row);
    return status;
}

static int plan_rotation(const struct pawl_op *op, void *ctx, struct identity_plan *plan)
{
    const struct rotation *rotation = ctx;
    const struct pawl_document_row *rows = NULL;
    size_t count = 0;
    int status = identity_find_all(op, KIND_SIGNING_KEY, &rows, &count);

    if (status != PAWL_OK ||
        (!rotation->forced && count > 0 && newest_us(rows, count) > plan->now_us - ROTATE_US))
        return status;
    for (size_t i = 0; i < count && plan->count + 1 < plan->room; i++) {
        struct pawl_document_row row = rows[i];

        if (row.expires_us == PAWL_TIME_NEVER)
            row.expires_us = plan->now_us + RETIRED_US;
        row.updated_us = plan->now_us;
        identity_plan_add(plan, rotation->at_once ? PAWL_CHANGE_DELETE : PAWL_CHANGE_PUT, &row);
    }
    return add_key(op, newest_us(rows, count), plan);
}

static int rotate(const struct pawl_op *op, bool forced, bool at_once)
{
    struct rotation rotation = {forced, at_once};

    return identity_change(op, &(struct identity_change){.action = "rotate",
                                                         .kind = KIND_SIGNING_KEY,
                                                         .target = pawl__str(""),
                                                         .plan = plan_rotation,
                                                         .ctx = &rotation,
                                                         .has_no_result = true});
}

int pawl__op_signing_key_rotate(const struct pawl_op *op, bool at_once)
{
    return rotate(op, true, at_once);
}

int pawl__op_signing_key_keep(const struct pawl_op *op)
{
    return rotate(op, false, false);
}

static int read_key(const struct pawl_op *op, const struct pawl_document_row *row,
                    struct pawl_jwt_key *out)
{
    unsigned char *secret = pawl__arena_alloc(op->arena, (size_t)4 * SECRET_BYTES);
    struct pawl_json data;
    struct pawl_str text;
    int status = identity_read(op, row, &data);

    if (!secret)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    if (status != PAWL_OK)
        return status;
    text = pawl__json_str(pawl__json_get_text(&data, "secret"));
    if (pawl__base64_decode(text, NULL) != SECRET_BYTES)
        return pawl__error_set(op->err, PAWL_ECORRUPT, "a signing key of the store is damaged");
    (void)pawl__base64_decode(text, secret);
    *out = (struct pawl_jwt_key){row->id, pawl__str_make((const char *)secret, SECRET_BYTES)};
    return PAWL_OK;
}

/* Whoever finds the newest too old, or none, makes the next one. */
static int signing_key(const struct pawl_op *op, struct pawl_jwt_key *out)
{
    struct pawl_op own = *op; /* not the request's change: its id is not for this */
    const struct pawl_document_row *rows = NULL;
    size_t count = 0;
    int64_t now_us;
    int status = op_now(op, &now_us);

    own.request_id = pawl__str("");
    own.record = NULL;
    if (status == PAWL_OK)
        status = identity_find_all(op, KIND_SIGNING_KEY, &rows, &count);
    if (status == PAWL_OK && (count == 0 || newest_us(rows, count) <= now_us - ROTATE_US)) {
        status = rotate(&own, false, false);
        if (status == PAWL_OK)
            status = identity_find_all(op, KIND_SIGNING_KEY, &rows, &count);
    }
    if (status != PAWL_OK)
        return status;
    if (count == 0)
        return pawl__error_set(op->err, PAWL_EUNAVAILABLE, "there is no key to sign with");
    return read_key(op, choose(rows, count, now_us), out);
}

/* ---- tokens --------------------------------------------------------------------------------- */

/* One is a string, several are an array, none is no claim: as .NET writes them. */
static void write_claims_of(struct pawl_json_writer *json, const char *key,
                            const struct pawl_texts *texts)
{
    if (texts->count == 0)
        return;
    pawl__json_write_key_text(json, key);
    if (texts->count > 1)
        pawl__json_write_begin_array(json);
    for (size_t i = 0; i < texts->count; i++)
        pawl__json_write_string(json, texts->texts[i]);
    if (texts->count > 1)
        pawl__json_write_end_array(json);
}

static void write_text(struct pawl_json_writer *json, const char *key, struct pawl_str text)
{
    if (text.len == 0)
        return;
    pawl__json_write_key_text(json, key);
    pawl__json_write_string(json, text);
}

static void write_int(struct pawl_json_writer *json, const char *key, int64_t value)
{
    pawl__json_write_key_text(json, key);
    pawl__json_write_int(json, value);
}

static void write_claims(struct pawl_json_writer *json, const struct pawl_token_request *request,
                         int64_t now_s)
{
    const struct pawl_bearer *bearer = request->bearer;
    char digest[PAWL_SHA256_TEXT_SIZE];

    pawl__json_write_begin_object(json);
    write_text(json, "aud", pawl__str(PAWL_TOKEN_ISSUER));
    write_text(json, "iss", pawl__str(PAWL_TOKEN_ISSUER));
    write_int(json, "exp", now_s + uses[request->use].life_s);
    write_text(json, "sub", bearer->id);
    write_text(json, "name", bearer->name);
    write_claims_of(json, ROLE_CLAIM, &bearer->roles);
    /* For clients: what counts are the roles at the time of a request. */
    if (request->use == PAWL_TOKEN_ACCESS || request->use == PAWL_TOKEN_REFRESH)
        write_claims_of(json, "permissions", &bearer->permissions);
    write_text(json, "token_use", pawl__str(uses[request->use].name));
    if (bearer->is_application)
        write_text(json, "kind", pawl__str(KIND_APPLICATION));
    else
        write_int(json, "gen", bearer->generation);
    if (request->csrf.len > 0) {
        pawl__sha256_text(request->csrf, PAWL_HEX_LOWER, digest);
        write_text(json, "csrf", pawl__str(digest));
    }
    write_int(json, "iat", now_s);
    write_int(json, "nbf", now_s);
    pawl__json_write_end_object(json);
}

int pawl__op_token_issue(const struct pawl_op *op, const struct pawl_token_request *request,
                         struct pawl_str *out)
{
    int64_t now_s = pawl_env_wall_ns(op_env(op)) / 1000000000;
    struct pawl_buf claims, token;
    struct pawl_json_writer json;
    struct pawl_jwt_key key;
    int status = signing_key(op, &key);

    if (status != PAWL_OK)
        return status;
    pawl__buf_init(&claims, op->arena->alloc, PAWL_JWT_BYTES_MAX / 2);
    pawl__buf_init(&token, op->arena->alloc, PAWL_JWT_BYTES_MAX);
    pawl__json_writer_init(&json, &claims, PAWL_JSON_ESCAPE_MINIMAL, 0);
    write_claims(&json, request, now_s);
    status = claims.status;
    if (status == PAWL_OK)
        pawl__jwt_write(&token, &key, pawl__buf_peek(&claims));
    if (status == PAWL_OK)
        status = token.status;
    if (status == PAWL_OK) {
        *out = pawl__arena_str(op->arena, pawl__buf_peek(&token));
        status = out->ptr ? PAWL_OK : pawl__arena_status(op->arena);
    }
    pawl__buf_release(&claims);
    pawl__buf_release(&token);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, status);
}

/* ---- links that work once ------------------------------------------------------------------- */

struct ticket {
    struct pawl_str user_id, secret, id;
};

static struct pawl_str lookup_of(const struct pawl_op *op, struct pawl_str secret)
{
    char digest[PAWL_SHA256_TEXT_SIZE];

    pawl__sha256_text(secret, PAWL_HEX_LOWER, digest);
    return pawl__arena_str(op->arena, pawl__str(digest));
}

/* Those that nobody used go with the next one. */
static int forget_expired(const struct pawl_op *op, struct identity_plan *plan)
{
    struct pawl_rows rows = {0};
    struct op_query query;
    int status;

    op_query_init(&query, PAWL_TABLE_DOCUMENTS, NULL, false);
    op_where_text(&query, "kind", PAWL_EQ, pawl__str(KIND_TICKET));
    op_where_int(&query, "expires_us", PAWL_LT, plan->now_us);
    status = op_find_all(op, &query, 30, &rows);
    for (size_t i = 0; i < rows.count && status == PAWL_OK; i++)
        identity_plan_add(plan, PAWL_CHANGE_DELETE,
                          &((const struct pawl_document_row *)rows.rows)[i]);
    return status;
}

static int plan_ticket(const struct pawl_op *op, void *ctx, struct identity_plan *plan)
{
    const struct ticket *ticket = ctx;
    struct pawl_document_row row = {.kind = pawl__str(KIND_TICKET),
                                    .id = ticket->id,
                                    .name = ticket->id,
                                    .lookup = lookup_of(op, ticket->secret),
                                    .revision = 1,
                                    .created_us = plan->now_us,
                                    .updated_us = plan->now_us,
                                    .expires_us = plan->now_us + TICKET_US};
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_json data = pawl__json_object();
    int status = forget_expired(op, plan);

    if (status != PAWL_OK)
        return status;
    pawl__build_text(&b, &data, "user", ticket->user_id);
    status = b.status == PAWL_OK ? identity_write(op, &data, &row.data)
                                 : pawl__error_code(op->err, b.status);
    if (status == PAWL_OK)
        identity_plan_add(plan, PAWL_CHANGE_INSERT, &row);
    return status;
}

int pawl__op_ticket_make(const struct pawl_op *op, struct pawl_str user_id_or_name,
                         struct pawl_str *secret)
{
    const struct pawl_document_row *row = NULL;
    struct ticket ticket = {.user_id = pawl__str("")};
    char id[IDENTITY_ID_SIZE];
    int status = identity_get(op, KIND_USER, user_id_or_name, &row);

    if (status == PAWL_OK)
        status = identity_make_id(op, id);
    if (status == PAWL_OK)
        status = identity_random(op, TICKET_BYTES, &ticket.secret);
    if (status != PAWL_OK)
        return status;
    ticket.user_id = row->id;
    ticket.id = pawl__str(id);
    status = identity_change(op, &(struct identity_change){.action = "sign-in-link",
                                                           .kind = KIND_USER,
                                                           .target = ticket.user_id,
                                                           .plan = plan_ticket,
                                                           .ctx = &ticket});
    if (status == PAWL_OK)
        *secret = ticket.secret;
    return status;
}

/* The ticket as it is, and whose. PAWL_ENOTFOUND. */
static int find_ticket(const struct pawl_op *op, struct ticket *ticket, int64_t now_us,
                       const struct pawl_document_row **row)
{
    struct pawl_json data;
    int status = identity_find(op, KIND_TICKET, "lookup", lookup_of(op, ticket->secret), row);

    if (status == PAWL_OK && (!*row || (*row)->expires_us <= now_us))
        status = pawl__error_set(op->err, PAWL_ENOTFOUND,
                                 "this link was used, or has expired: ask for another");
    if (status == PAWL_OK)
        status = identity_read(op, *row, &data);
    if (status == PAWL_OK)
        ticket->user_id = pawl__json_str(pawl__json_get_text(&data, "user"));
    return status;
}

/* The stamp guards it: of two at the same time, the second plans again and finds nothing. */
static int plan_use(const struct pawl_op *op, void *ctx, struct identity_plan *plan)
{
    const struct pawl_document_row *row = NULL;
    int status = find_ticket(op, ctx, plan->now_us, &row);

    if (status == PAWL_OK)
        identity_plan_add(plan, PAWL_CHANGE_DELETE, row);
    return status;
}

int pawl__op_ticket_use(const struct pawl_op *op, struct pawl_str secret, struct pawl_bearer *out)
{
    struct ticket ticket = {.secret = secret};
    const struct pawl_document_row *row = NULL;
    int64_t now_us;
    int status;

    if (secret.len != (size_t)2 * TICKET_BYTES)
        return pawl__error_set(op->err, PAWL_ENOTFOUND, "this is not a valid sign-in link");
    status = op_now(op, &now_us);
    if (status == PAWL_OK)
        status = find_ticket(op, &ticket, now_us, &row);
    if (status == PAWL_OK)
        status = identity_change(op, &(struct identity_change){.action = "sign-in",
                                                               .kind = KIND_USER,
                                                               .target = ticket.user_id,
                                                               .plan = plan_use,
                                                               .ctx = &ticket});
    return status == PAWL_OK ? pawl__op_bearer(op, ticket.user_id, out) : status;
}
