/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users; see identity.h. Data of a user: {name, roles, hash, salt, generation}. A user without a
 * name has the id in the row's column instead, because names are unique.
 */
#include "base/error.h"
#include "base/json/builder.h"
#include "host/host.h"
#include "operations/identity_private.h"

#define IMPORT_MAX 10000u

int identity_read_user(const struct pawl_op *op, const struct pawl_document_row *row,
                       struct pawl_user *out)
{
    struct pawl_user user = {
        .id = row->id, .created_us = row->created_us, .updated_us = row->updated_us};
    struct pawl_json data;
    int status = identity_read(op, row, &data);

    if (status != PAWL_OK)
        return status;
    user.name = pawl__json_str(pawl__json_get_text(&data, "name"));
    user.hash = pawl__json_str(pawl__json_get_text(&data, "hash"));
    user.salt = pawl__json_str(pawl__json_get_text(&data, "salt"));
    (void)pawl__json_to_int(pawl__json_get_text(&data, "generation"), &user.generation);
    status = identity_texts(op->arena, pawl__json_get_text(&data, "roles"), &user.roles);
    if (status != PAWL_OK)
        return pawl__error_code(op->err, status);
    *out = user;
    return PAWL_OK;
}

int pawl__op_users_list(const struct pawl_op *op, const struct pawl_page_request *page,
                        struct pawl_user_list *out)
{
    struct pawl_user_list found = {.count = 0};
    struct pawl_rows rows = {0};
    struct pawl_user *users;
    struct op_query query;
    int status;

    op_query_init(&query, PAWL_TABLE_DOCUMENTS, "name", false);
    op_with_bytes(&query);
    op_where_text(&query, "kind", PAWL_EQ, pawl__str(KIND_USER));
    status = op_find_page(op, &query, page, &rows, &found.page);
    if (status != PAWL_OK)
        return status;
    users = pawl__arena_alloc_array(op->arena, rows.count + 1, sizeof *users);
    if (!users)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (size_t i = 0; i < rows.count && status == PAWL_OK; i++)
        status =
            identity_read_user(op, &((const struct pawl_document_row *)rows.rows)[i], &users[i]);
    found.users = users;
    found.count = rows.count;
    if (status == PAWL_OK)
        *out = found;
    return status;
}

int pawl__op_user_show(const struct pawl_op *op, struct pawl_str id_or_name, struct pawl_user *out)
{
    const struct pawl_document_row *row = NULL;
    int status = identity_get(op, KIND_USER, id_or_name, &row);

    return status == PAWL_OK ? identity_read_user(op, row, out) : status;
}

/* ---- passwords ------------------------------------------------------------------------------ */

int pawl__op_password_make(const struct pawl_op *op, char out[PAWL_PASSWORD_TEXT_SIZE])
{
    /* 32 that nobody takes for each other: five bits each, 120 in all. */
    static const char alphabet[] = "abcdefghijkmnpqrstuvwxyz23456789";
    unsigned char bytes[PAWL_PASSWORD_TEXT_SIZE - 1];
    int status = pawl_env_entropy(op_env(op), bytes, sizeof bytes, op->err);

    for (size_t i = 0; i < sizeof bytes && status == PAWL_OK; i++)
        out[i] = alphabet[bytes[i] & 31];
    out[PAWL_PASSWORD_TEXT_SIZE - 1] = '\0';
    return status;
}

static int hash_password(const struct pawl_op *op, struct pawl_str password, struct pawl_str *out)
{
    char hash[PAWL_PASSWORD_HASH_SIZE];
    int status = pawl__password_hash(pawl__host_passwords(op->host), password, hash, op->err);

    if (status != PAWL_OK)
        return status;
    *out = pawl__arena_str(op->arena, pawl__str(hash));
    return out->ptr ? PAWL_OK : pawl__error_code(op->err, pawl__arena_status(op->arena));
}

/* Of "$argon2id$v=19$m=…$SALT$HASH", padded as base64 is elsewhere. */
static struct pawl_str salt_of(struct pawl_arena *arena, struct pawl_str hash)
{
    size_t at = 0, end;
    const char *text;

    for (int i = 0; i < 4 && at != SIZE_MAX; i++)
        at = pawl__str_find(hash, '$', i == 0 ? 0 : at + 1);
    end = at == SIZE_MAX ? SIZE_MAX : pawl__str_find(hash, '$', at + 1);
    if (end == SIZE_MAX)
        return pawl__str("");
    text = pawl__arena_printf(arena, "%.*s%s", (int)(end - at - 1), hash.ptr + at + 1,
                              &"=="[(end - at - 1) % 4 == 2   ? 0
                                    : (end - at - 1) % 4 == 3 ? 1
                                                              : 2]);
    return pawl__str(text);
}

int pawl__op_secret_hash(const struct pawl_op *op, struct pawl_str secret, struct pawl_str *hash,
                         struct pawl_str *salt)
{
    int status = hash_password(op, secret, hash);

    if (status == PAWL_OK)
        *salt = salt_of(op->arena, *hash);
    return status;
}

/* ---- changing ------------------------------------------------------------------------------- */

static int make_data(const struct pawl_op *op, const struct pawl_user *user, struct pawl_str *out)
{
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_json data = pawl__json_object();
    int status = PAWL_OK;

    pawl__build_text(&b, &data, "name", pawl__arena_str(op->arena, user->name));
    pawl__build(&b, &data, "roles", identity_array(op->arena, &user->roles, &status));
    pawl__build_text(&b, &data, "hash", user->hash);
    pawl__build_text(&b, &data, "salt", user->salt);
    pawl__build_int(&b, &data, "generation", user->generation);
    if (status == PAWL_OK)
        status = b.status;
    return status == PAWL_OK ? identity_write(op, &data, out) : pawl__error_code(op->err, status);
}

static int add_user(const struct pawl_op *op, struct identity_plan *plan,
                    const struct pawl_user *user, const struct pawl_document_row *before)
{
    struct pawl_document_row row = {.kind = pawl__str(KIND_USER),
                                    .id = user->id,
                                    .name = user->name.len > 0 ? user->name : user->id,
                                    .lookup = pawl__str(""),
                                    .revision = before ? before->revision + 1 : 1,
                                    .created_us = before ? before->created_us : plan->now_us,
                                    .updated_us = plan->now_us,
                                    .expires_us = PAWL_TIME_NEVER};
    int status = make_data(op, user, &row.data);

    if (status == PAWL_OK)
        identity_plan_add(plan, before ? PAWL_CHANGE_PUT : PAWL_CHANGE_INSERT, &row);
    return status;
}

struct user_change {
    const struct pawl_user_request *request;
    struct pawl_user user; /* as it becomes */
};

static int plan_create(const struct pawl_op *op, void *ctx, struct identity_plan *plan)
{
    struct user_change *change = ctx;
    int status = identity_check_roles(op, &change->user.roles, change->request->grantor);

    change->user.created_us = change->user.updated_us = plan->now_us;
    return status == PAWL_OK ? add_user(op, plan, &change->user, NULL) : status;
}

int pawl__op_user_create(const struct pawl_op *op, const struct pawl_user_request *request,
                         struct pawl_user *out)
{
    struct user_change change = {.request = request,
                                 .user = {.name = pawl__str_trim(request->name),
                                          .roles = request->roles,
                                          .salt = pawl__str("")}};
    char id[IDENTITY_ID_SIZE];
    int status = identity_check_name(op, change.user.name);

    if (status == PAWL_OK)
        status = identity_check_roles(op, &request->roles, request->grantor);
    if (status == PAWL_OK)
        status = identity_make_id(op, id);
    if (status == PAWL_OK)
        status = hash_password(op, pawl__str_trim(request->password), &change.user.hash);
    if (status != PAWL_OK)
        return status;
    change.user.id = pawl__arena_str(op->arena, pawl__str(id));
    status = identity_change(op, &(struct identity_change){.action = "create",
                                                           .keys = {"roles"},
                                                           .lists = {request->roles},
                                                           .name = change.user.name,
                                                           .kind = KIND_USER,
                                                           .target = change.user.id,
                                                           .plan = plan_create,
                                                           .ctx = &change});
    if (status == PAWL_OK) {
        *out = change.user;
        out->salt = salt_of(op->arena, change.user.hash);
    }
    return status;
}

/* One who takes roles from a user, or deletes one, must be able to give them back. */
static int check_present(const struct pawl_op *op, const struct pawl_user *user,
                         const struct pawl_texts *grantor)
{
    struct pawl_texts permissions;
    int status = identity_permissions(op, &user->roles, NULL, &permissions);

    return status == PAWL_OK ? identity_check_permissions(op, &permissions, grantor) : status;
}

static int plan_update(const struct pawl_op *op, void *ctx, struct identity_plan *plan)
{
    struct user_change *change = ctx;
    const struct pawl_document_row *row = NULL;
    int status = identity_find(op, KIND_USER, "id", change->request->id, &row);

    if (status == PAWL_OK && !row)
        status = pawl__error_set(op->err, PAWL_ENOTFOUND, "there is no user '%.*s'",
                                 PAWL_STR_ARG(change->request->id));
    if (status == PAWL_OK)
        status = identity_read_user(op, row, &change->user);
    if (status == PAWL_OK)
        status = check_present(op, &change->user, change->request->grantor);
    if (status == PAWL_OK)
        status = identity_check_roles(op, &change->request->roles, change->request->grantor);
    if (status != PAWL_OK)
        return status;
    change->user.roles = change->request->roles;
    return add_user(op, plan, &change->user, row);
}

int pawl__op_user_update(const struct pawl_op *op, const struct pawl_user_request *request,
                         struct pawl_user *out)
{
    struct user_change change = {.request = request};
    int status = identity_change(op, &(struct identity_change){.action = "update",
                                                               .keys = {"roles"},
                                                               .lists = {request->roles},
                                                               .kind = KIND_USER,
                                                               .target = request->id,
                                                               .plan = plan_update,
                                                               .ctx = &change});

    if (status == PAWL_OK)
        *out = change.user;
    return status;
}

struct password_change {
    struct pawl_str id, hash;
    bool keeps_tokens; /* the same password, hashed in another way */
};

static int plan_password(const struct pawl_op *op, void *ctx, struct identity_plan *plan)
{
    const struct password_change *change = ctx;
    const struct pawl_document_row *row = NULL;
    struct pawl_user user = {.generation = 0};
    int status = identity_get(op, KIND_USER, change->id, &row);

    if (status == PAWL_OK)
        status = identity_read_user(op, row, &user);
    if (status != PAWL_OK)
        return status;
    user.hash = change->hash;
    user.salt = pawl__str("");
    user.generation += change->keeps_tokens ? 0 : 1;
    return add_user(op, plan, &user, row);
}

static int set_password(const struct pawl_op *op, struct pawl_str id, struct pawl_str password,
                        bool keeps_tokens)
{
    struct password_change change = {.id = id, .keeps_tokens = keeps_tokens};
    int status = hash_password(op, pawl__str_trim(password), &change.hash);

    if (status != PAWL_OK)
        return status;
    return identity_change(op,
                           &(struct identity_change){.action = keeps_tokens ? "rehash" : "password",
                                                     .kind = KIND_USER,
                                                     .target = id,
                                                     .plan = plan_password,
                                                     .ctx = &change,
                                                     .has_no_result = true});
}

int pawl__op_user_set_password(const struct pawl_op *op, struct pawl_str id,
                               struct pawl_str password)
{
    if (pawl__str_trim(password).len == 0)
        return pawl__error_set(op->err, PAWL_EINVAL, "the password is empty");
    return set_password(op, id, password, false);
}

static int plan_delete(const struct pawl_op *op, void *ctx, struct identity_plan *plan)
{
    const struct pawl_user_request *request = ctx;
    const struct pawl_document_row *row = NULL;
    struct pawl_user user;
    int status = identity_get(op, KIND_USER, request->id, &row);

    if (status == PAWL_OK)
        status = identity_read_user(op, row, &user);
    if (status == PAWL_OK)
        status = check_present(op, &user, request->grantor);
    if (status == PAWL_OK)
        identity_plan_add(plan, PAWL_CHANGE_DELETE, row);
    return status;
}

int pawl__op_user_delete(const struct pawl_op *op, struct pawl_str id,
                         const struct pawl_texts *grantor)
{
    struct pawl_user_request request = {.id = id, .grantor = grantor};

    return identity_change(op, &(struct identity_change){.action = "delete",
                                                         .kind = KIND_USER,
                                                         .target = id,
                                                         .plan = plan_delete,
                                                         .ctx = &request,
                                                         .has_no_result = true});
}

/* ---- users of an Elsa ------------------------------------------------------------------------ */

struct import {
    const struct pawl_json *users;
    uint32_t count;
};

static struct pawl_str member(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_nocase(object, pawl__str(key)));
}

static int import_one(const struct pawl_op *op, struct identity_plan *plan,
                      const struct pawl_json *given, uint32_t number)
{
    struct pawl_user user = {.id = member(given, "id"),
                             .name = member(given, "name"),
                             .hash = member(given, "hashedPassword"),
                             .salt = member(given, "hashedPasswordSalt")};
    const struct pawl_document_row *row = NULL;
    struct pawl_user before = {.generation = 0};
    int status;

    if (user.id.len == 0 || !pawl__password_hash_is_known(user.hash, user.salt))
        return pawl__error_set(op->err, PAWL_EINVAL, "user %u has no %s", number + 1,
                               user.id.len == 0 ? "id" : "password hash of a known form");
    status = identity_check_name(op, user.name);
    if (status == PAWL_OK)
        status = identity_check_name(op, user.id);
    if (status == PAWL_OK)
        status = identity_texts(op->arena, pawl__json_get_nocase(given, pawl__str("roles")),
                                &user.roles);
    if (status == PAWL_OK)
        status = identity_find(op, KIND_USER, "id", user.id, &row);
    if (status == PAWL_OK && row)
        status = identity_read_user(op, row, &before);
    if (status != PAWL_OK)
        return status;
    user.generation = row ? before.generation + 1 : 0;
    return add_user(op, plan, &user, row);
}

static int plan_import(const struct pawl_op *op, void *ctx, struct identity_plan *plan)
{
    const struct import *import = ctx;
    int status = PAWL_OK;

    for (uint32_t i = 0; i < import->count && status == PAWL_OK; i++)
        status = import_one(op, plan, pawl__json_at(import->users, i), i);
    return status;
}

int pawl__op_users_import(const struct pawl_op *op, const struct pawl_json *users, size_t *count)
{
    struct import import = {.users = users};
    int status;

    if (pawl__json_is(users, PAWL_JSON_OBJECT))
        import.users = pawl__json_get_nocase(users, pawl__str("users"));
    if (!pawl__json_is(import.users, PAWL_JSON_ARRAY))
        return pawl__error_set(op->err, PAWL_EINVAL, "an array of users is expected");
    import.count = pawl__json_len(import.users);
    if (import.count > IMPORT_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "at most %u users can be imported at a time",
                               IMPORT_MAX);
    status = identity_change(op, &(struct identity_change){.action = "import",
                                                           .kind = KIND_USER,
                                                           .target = pawl__str(""),
                                                           .plan = plan_import,
                                                           .ctx = &import,
                                                           .room = (size_t)import.count + 1});
    if (status == PAWL_OK)
        *count = import.count;
    return status;
}

/* ---- signing in ------------------------------------------------------------------------------ */

static int make_bearer(const struct pawl_op *op, const struct pawl_user *user,
                       struct pawl_bearer *out)
{
    struct pawl_bearer bearer = {
        .id = user->id, .name = user->name, .generation = user->generation, .roles = user->roles};
    int status = identity_permissions(op, &user->roles, NULL, &bearer.permissions);

    if (status == PAWL_OK)
        *out = bearer;
    return status;
}

int pawl__op_bearer(const struct pawl_op *op, struct pawl_str user_id, struct pawl_bearer *out)
{
    struct pawl_user user;
    int status = pawl__op_user_show(op, user_id, &user);

    return status == PAWL_OK ? make_bearer(op, &user, out) : status;
}

/* Who does not exist is checked against this, so that the time does not tell: of no password. */
static const char nobodys_hash[] = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$"
                                   "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

int pawl__op_login(const struct pawl_op *op, struct pawl_str name, struct pawl_str password,
                   struct pawl_bearer *out)
{
    struct pawl_user user = {.hash = pawl__str(nobodys_hash), .salt = pawl__str("")};
    const struct pawl_document_row *row = NULL;
    bool matches = false, outdated = false;
    int status;

    name = pawl__str_trim(name);
    password = pawl__str_trim(password);
    status = identity_find(op, KIND_USER, "name", name, &row);
    if (status == PAWL_OK && row)
        status = identity_read_user(op, row, &user);
    if (status == PAWL_OK)
        status = pawl__password_verify(pawl__host_passwords(op->host), user.hash, user.salt,
                                       password, &matches, &outdated, op->err);
    if (status != PAWL_OK)
        return status;
    if (!row || user.name.len == 0 || !matches)
        return pawl__error_set(op->err, PAWL_ENOTFOUND, "no user has this name and password");
    if (outdated)
        status = set_password(op, user.id, password, true);
    return status == PAWL_OK ? make_bearer(op, &user, out) : status;
}
