/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applications, which have API keys; see identity.h. Data: {name, clientId, roles, permissions,
 * secret}; the row's lookup is the SHA-256 of the key, in digits. A key is random, so that neither
 * a salt nor a slow hash is needed.
 */
#include "base/base64.h"
#include "base/error.h"
#include "base/id.h"
#include "base/json/builder.h"
#include "operations/identity_private.h"

#define CLIENT_ID_LEN 16
#define ADMIN "admin"

static int read_application(const struct pawl_op *op, const struct pawl_document_row *row,
                            struct pawl_application *out)
{
    struct pawl_application one = {
        .id = row->id, .created_us = row->created_us, .expires_us = row->expires_us};
    struct pawl_json data;
    int status = identity_read(op, row, &data);

    if (status != PAWL_OK)
        return status;
    one.name = pawl__json_str(pawl__json_get_text(&data, "name"));
    one.client_id = pawl__json_str(pawl__json_get_text(&data, "clientId"));
    status = identity_texts(op->arena, pawl__json_get_text(&data, "roles"), &one.roles);
    if (status == PAWL_OK)
        status =
            identity_texts(op->arena, pawl__json_get_text(&data, "permissions"), &one.permissions);
    if (status != PAWL_OK)
        return pawl__error_code(op->err, status);
    *out = one;
    return PAWL_OK;
}

int pawl__op_applications_list(const struct pawl_op *op, const struct pawl_page_request *page,
                               struct pawl_application_list *out)
{
    struct pawl_application_list found = {.count = 0};
    struct pawl_application *applications;
    struct pawl_rows rows = {0};
    struct op_query query;
    int status;

    op_query_init(&query, PAWL_TABLE_DOCUMENTS, "name", false);
    op_with_bytes(&query);
    op_where_text(&query, "kind", PAWL_EQ, pawl__str(KIND_APPLICATION));
    status = op_find_page(op, &query, page, &rows, &found.page);
    if (status != PAWL_OK)
        return status;
    applications = pawl__arena_alloc_array(op->arena, rows.count + 1, sizeof *applications);
    if (!applications)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (size_t i = 0; i < rows.count && status == PAWL_OK; i++)
        status = read_application(op, &((const struct pawl_document_row *)rows.rows)[i],
                                  &applications[i]);
    found.applications = applications;
    found.count = rows.count;
    if (status == PAWL_OK)
        *out = found;
    return status;
}

/* ---- keys ----------------------------------------------------------------------------------- */

static struct pawl_str hash_of(struct pawl_arena *arena, struct pawl_str secret)
{
    unsigned char digest[PAWL_SHA256_BYTES];
    char text[64];
    size_t len = pawl__base64_len(sizeof digest);

    pawl__sha256(secret, digest);
    pawl__base64_encode(digest, sizeof digest, text);
    return pawl__arena_str(arena, pawl__str_make(text, len));
}

static int make_client_id(const struct pawl_op *op, char out[CLIENT_ID_LEN + 1])
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789ab";
    unsigned char bytes[CLIENT_ID_LEN];
    int status = pawl_env_entropy(op_env(op), bytes, sizeof bytes, op->err);

    for (size_t i = 0; i < sizeof bytes && status == PAWL_OK; i++)
        out[i] = alphabet[bytes[i] & 63];
    out[CLIENT_ID_LEN] = '\0';
    return status;
}

/* As Elsa's keys look: the digits of the client id, and a GUID. */
static int make_key(const struct pawl_op *op, const char *client_id, struct pawl_str *out)
{
    char digits[2 * CLIENT_ID_LEN + 1] = {0}, text[PAWL_UUID_TEXT_SIZE];
    struct pawl_uuid uuid;
    const char *key;
    int status = pawl_env_entropy(op_env(op), uuid.bytes, sizeof uuid.bytes, op->err);

    if (status != PAWL_OK)
        return status;
    uuid.bytes[6] = (unsigned char)((uuid.bytes[6] & 0x0f) | 0x40);
    uuid.bytes[8] = (unsigned char)((uuid.bytes[8] & 0x3f) | 0x80);
    pawl__uuid_format(&uuid, text);
    pawl__hex_encode(client_id, CLIENT_ID_LEN, PAWL_HEX_UPPER, digits);
    key = pawl__arena_printf(op->arena, "%s-%s", digits, text);
    if (!key)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    *out = pawl__str(key);
    return PAWL_OK;
}

/* ---- changing ------------------------------------------------------------------------------- */

struct creation {
    const struct pawl_application_request *request;
    struct pawl_application application;
    struct pawl_application_secrets secrets;
    bool only_first; /* of a store in which nobody may do anything */
    bool made;
};

static int make_data(const struct pawl_op *op, const struct creation *creation,
                     struct pawl_str *out)
{
    const struct pawl_application *one = &creation->application;
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_json data = pawl__json_object();
    int status = PAWL_OK;

    pawl__build_text(&b, &data, "name", pawl__arena_str(op->arena, one->name));
    pawl__build_text(&b, &data, "clientId", one->client_id);
    pawl__build_text(&b, &data, "secret", creation->secrets.client_secret_hash);
    pawl__build(&b, &data, "roles", identity_array(op->arena, &one->roles, &status));
    pawl__build(&b, &data, "permissions", identity_array(op->arena, &one->permissions, &status));
    if (status == PAWL_OK)
        status = b.status;
    return status == PAWL_OK ? identity_write(op, &data, out) : pawl__error_code(op->err, status);
}

/* Applications that may do something, or users: whoever they are, they were made by somebody. */
static int somebody_may(const struct pawl_op *op, bool *out)
{
    const struct pawl_document_row *rows;
    size_t users = 0, applications = 0;
    int status = identity_find_all(op, KIND_USER, &rows, &users);

    if (status == PAWL_OK && users == 0)
        status = identity_find_all(op, KIND_APPLICATION, &rows, &applications);
    if (status == PAWL_OK)
        *out = users > 0 || applications > 0;
    return status;
}

static int plan_create(const struct pawl_op *op, void *ctx, struct identity_plan *plan)
{
    struct creation *creation = ctx;
    const struct pawl_application_request *request = creation->request;
    struct pawl_application *one = &creation->application;
    char lookup[PAWL_SHA256_TEXT_SIZE];
    struct pawl_document_row row = {.kind = pawl__str(KIND_APPLICATION), .revision = 1};
    bool somebody = false;
    int status = creation->only_first ? somebody_may(op, &somebody) : PAWL_OK;

    creation->made = !somebody;
    if (status != PAWL_OK || somebody)
        return status;
    status = identity_check_roles(op, &request->roles, request->grantor);
    one->created_us = plan->now_us;
    one->expires_us = request->life_us > 0 ? plan->now_us + request->life_us : PAWL_TIME_NEVER;
    row.id = one->id;
    row.name = one->name.len > 0 ? one->name : one->id;
    row.created_us = row.updated_us = plan->now_us;
    row.expires_us = one->expires_us;
    pawl__sha256_text(creation->secrets.api_key, PAWL_HEX_LOWER, lookup);
    row.lookup = pawl__arena_str(op->arena, pawl__str(lookup));
    if (status == PAWL_OK)
        status = make_data(op, creation, &row.data);
    if (status == PAWL_OK)
        identity_plan_add(plan, PAWL_CHANGE_INSERT, &row);
    return status;
}

static int make_secrets(const struct pawl_op *op, struct creation *creation)
{
    char client_id[CLIENT_ID_LEN + 1], id[IDENTITY_ID_SIZE];
    int status = make_client_id(op, client_id);

    if (status == PAWL_OK)
        status = identity_make_id(op, id);
    if (status == PAWL_OK)
        status = make_key(op, client_id, &creation->secrets.api_key);
    if (status == PAWL_OK)
        status = identity_random(op, 16, &creation->secrets.client_secret);
    if (status != PAWL_OK)
        return status;
    creation->application.id = pawl__arena_str(op->arena, pawl__str(id));
    creation->application.client_id = pawl__arena_str(op->arena, pawl__str(client_id));
    creation->secrets.api_key_hash = hash_of(op->arena, creation->secrets.api_key);
    creation->secrets.client_secret_hash = hash_of(op->arena, creation->secrets.client_secret);
    return op->arena->status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, op->arena->status);
}

static int create(const struct pawl_op *op, struct creation *creation)
{
    const struct pawl_application_request *request = creation->request;
    int status = identity_check_name(op, request->name);

    if (status == PAWL_OK)
        status = identity_check_permissions(op, &request->permissions, request->grantor);
    if (status == PAWL_OK)
        status = make_secrets(op, creation);
    if (status != PAWL_OK)
        return status;
    creation->application.name = pawl__str_trim(request->name);
    creation->application.roles = request->roles;
    creation->application.permissions = request->permissions;
    return identity_change(
        op, &(struct identity_change){.action = "create",
                                      .name = creation->application.name,
                                      .keys = {"roles", "permissions"},
                                      .lists = {request->roles, request->permissions},
                                      .kind = KIND_APPLICATION,
                                      .target = creation->application.id,
                                      .plan = plan_create,
                                      .ctx = creation});
}

int pawl__op_application_create(const struct pawl_op *op,
                                const struct pawl_application_request *request,
                                struct pawl_application *out,
                                struct pawl_application_secrets *secrets)
{
    struct creation creation = {.request = request};
    int status = create(op, &creation);

    if (status == PAWL_OK) {
        *out = creation.application;
        *secrets = creation.secrets;
    }
    return status;
}

int pawl__op_identity_begin(const struct pawl_op *op, bool *made,
                            struct pawl_application_secrets *secrets)
{
    static const struct pawl_str everything[] = {PAWL_STR_LIT("*")};
    const struct pawl_application_request request = {.name = pawl__str(ADMIN),
                                                     .permissions = {everything, 1}};
    struct creation creation = {.request = &request, .only_first = true};
    int status = create(op, &creation);

    if (status == PAWL_OK) {
        *made = creation.made;
        *secrets = creation.secrets;
    }
    return status;
}

static int plan_delete(const struct pawl_op *op, void *ctx, struct identity_plan *plan)
{
    const struct pawl_document_row *row = NULL;
    int status = identity_get(op, KIND_APPLICATION, *(struct pawl_str *)ctx, &row);

    if (status == PAWL_OK)
        identity_plan_add(plan, PAWL_CHANGE_DELETE, row);
    return status;
}

int pawl__op_application_delete(const struct pawl_op *op, struct pawl_str id_or_name)
{
    return identity_change(op, &(struct identity_change){.action = "delete",
                                                         .kind = KIND_APPLICATION,
                                                         .target = id_or_name,
                                                         .plan = plan_delete,
                                                         .ctx = &id_or_name,
                                                         .has_no_result = true});
}
