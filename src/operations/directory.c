/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory; see directory.h. Everything is in one arena. A bearer's permissions are computed
 * when it is read, so that a check is a lookup and a few comparisons.
 */
#include "operations/directory.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/error.h"
#include "base/jwt.h"
#include "base/map.h"
#include "base/secret.h"
#include "operations/identity_private.h"

#define ARENA_BYTES_MAX ((size_t)512 << 20)
#define CLAIMS_BYTES_MAX ((size_t)256 << 10)
#define SIGNING_KEYS_MAX 64
#define SECRET_BYTES 32
/* Clocks of nodes that issue and check tokens differ a little. */
#define SKEW_S 60

struct application {
    struct pawl_bearer bearer;
    int64_t expires_us;
};

struct pawl_directory {
    const struct pawl_allocator *alloc;
    struct pawl_arena arena;
    int64_t stamp;
    struct pawl_map roles;        /* id -> struct pawl_texts */
    struct pawl_map users;        /* id -> struct pawl_bearer */
    struct pawl_map applications; /* id -> struct application */
    struct pawl_map keys;         /* digits of the SHA-256 -> struct application */
    struct pawl_jwt_key signing[SIGNING_KEYS_MAX];
    size_t signing_count;
    size_t entry_count;
    struct pawl_bearer admin;
    char admin_hash[PAWL_SHA256_TEXT_SIZE]; /* "": none */
};

static const struct pawl_str everything[] = {PAWL_STR_LIT("*")};

/* ---- reading -------------------------------------------------------------------------------- */

typedef int (*row_reader)(struct pawl_directory *directory, const struct pawl_op *op,
                          const struct pawl_document_row *row);

/* Copies that live as long as the directory. */
static int keep_texts(struct pawl_directory *directory, const struct pawl_json *array,
                      struct pawl_texts *out)
{
    struct pawl_texts found;
    int status = identity_texts(&directory->arena, array, &found);
    struct pawl_str *texts;

    if (status != PAWL_OK)
        return status;
    texts = pawl__arena_alloc_array(&directory->arena, found.count + 1, sizeof *texts);
    for (size_t i = 0; texts && i < found.count; i++)
        texts[i] = pawl__arena_str(&directory->arena, found.texts[i]);
    *out = (struct pawl_texts){texts, found.count};
    return directory->arena.status;
}

static int add_role(struct pawl_directory *directory, const struct pawl_op *op,
                    const struct pawl_document_row *row)
{
    struct pawl_texts *permissions = pawl__arena_alloc(&directory->arena, sizeof *permissions);
    struct pawl_json data;
    int status = identity_read(op, row, &data);

    if (!permissions)
        return pawl__arena_status(&directory->arena);
    if (status == PAWL_OK)
        status = keep_texts(directory, pawl__json_get_text(&data, "permissions"), permissions);
    if (status != PAWL_OK)
        return status;
    return pawl__map_put(&directory->roles, pawl__arena_str(&directory->arena, row->id),
                         permissions);
}

static size_t count_permissions(const struct pawl_directory *directory,
                                const struct pawl_texts *roles)
{
    size_t count = 0;

    for (size_t i = 0; i < roles->count; i++) {
        const struct pawl_texts *one = pawl__map_get(&directory->roles, roles->texts[i]);

        count += one ? one->count : 0;
    }
    return count;
}

/* Those of its roles and its own. */
static int add_permissions(struct pawl_directory *directory, struct pawl_bearer *bearer,
                           const struct pawl_texts *own)
{
    size_t room = own->count + count_permissions(directory, &bearer->roles) + 1;
    struct pawl_str *texts = pawl__arena_alloc_array(&directory->arena, room, sizeof *texts);
    struct pawl_texts all = {texts, 0};

    if (!texts)
        return pawl__arena_status(&directory->arena);
    for (size_t i = 0; i < own->count; i++)
        texts[all.count++] = own->texts[i];
    for (size_t i = 0; i < bearer->roles.count; i++) {
        const struct pawl_texts *one = pawl__map_get(&directory->roles, bearer->roles.texts[i]);

        for (size_t j = 0; one && j < one->count; j++)
            if (!pawl__texts_have(&all, one->texts[j]))
                texts[all.count++] = one->texts[j];
    }
    bearer->permissions = all;
    return PAWL_OK;
}

static int fill_bearer(struct pawl_directory *directory, const struct pawl_op *op,
                       const struct pawl_document_row *row, struct pawl_bearer *out)
{
    struct pawl_texts own = {NULL, 0};
    struct pawl_json data;
    int status = identity_read(op, row, &data);

    if (status != PAWL_OK)
        return status;
    if (++directory->entry_count > PAWL_DIRECTORY_ENTRIES_MAX)
        return pawl__error_set(op->err, PAWL_ELIMIT,
                               "a server knows at most %u users and applications",
                               PAWL_DIRECTORY_ENTRIES_MAX);
    out->id = pawl__arena_str(&directory->arena, row->id);
    out->name =
        pawl__arena_str(&directory->arena, pawl__json_str(pawl__json_get_text(&data, "name")));
    (void)pawl__json_to_int(pawl__json_get_text(&data, "generation"), &out->generation);
    status = keep_texts(directory, pawl__json_get_text(&data, "roles"), &out->roles);
    if (status == PAWL_OK)
        status = keep_texts(directory, pawl__json_get_text(&data, "permissions"), &own);
    return status == PAWL_OK ? add_permissions(directory, out, &own) : status;
}

static int add_user(struct pawl_directory *directory, const struct pawl_op *op,
                    const struct pawl_document_row *row)
{
    struct pawl_bearer *user = pawl__arena_alloc_zeroed(&directory->arena, sizeof *user);
    int status =
        user ? fill_bearer(directory, op, row, user) : pawl__arena_status(&directory->arena);

    return status == PAWL_OK ? pawl__map_put(&directory->users, user->id, user) : status;
}

static int add_application(struct pawl_directory *directory, const struct pawl_op *op,
                           const struct pawl_document_row *row)
{
    struct application *one = pawl__arena_alloc_zeroed(&directory->arena, sizeof *one);
    int status =
        one ? fill_bearer(directory, op, row, &one->bearer) : pawl__arena_status(&directory->arena);

    if (status != PAWL_OK)
        return status;
    one->bearer.is_application = true;
    one->expires_us = row->expires_us;
    status = pawl__map_put(&directory->applications, one->bearer.id, one);
    if (status == PAWL_OK)
        status =
            pawl__map_put(&directory->keys, pawl__arena_str(&directory->arena, row->lookup), one);
    return status;
}

static int add_signing_key(struct pawl_directory *directory, const struct pawl_op *op,
                           const struct pawl_document_row *row)
{
    unsigned char *secret = pawl__arena_alloc(&directory->arena, (size_t)2 * SECRET_BYTES);
    struct pawl_json data;
    struct pawl_str text;
    int status = identity_read(op, row, &data);

    if (!secret)
        return pawl__arena_status(&directory->arena);
    if (status != PAWL_OK)
        return status;
    text = pawl__json_str(pawl__json_get_text(&data, "secret"));
    if (directory->signing_count == SIGNING_KEYS_MAX ||
        pawl__base64_decode(text, NULL) != SECRET_BYTES)
        return PAWL_OK;
    (void)pawl__base64_decode(text, secret);
    directory->signing[directory->signing_count++] =
        (struct pawl_jwt_key){pawl__arena_str(&directory->arena, row->id),
                              pawl__str_make((const char *)secret, SECRET_BYTES)};
    return directory->arena.status;
}

/* All of a kind, page by page. */
static int read_kind(struct pawl_directory *directory, const struct pawl_op *op, const char *kind,
                     row_reader read, int64_t now_us)
{
    struct pawl_document_row last = {.kind = pawl__str(kind)};
    struct pawl_rows rows = {.count = PAWL_STORE_ROWS_MAX};
    int status = PAWL_OK;

    for (bool first = true; status == PAWL_OK && rows.count == PAWL_STORE_ROWS_MAX; first = false) {
        struct op_query query;

        op_query_init(&query, PAWL_TABLE_DOCUMENTS, NULL, false);
        op_with_bytes(&query);
        op_where_text(&query, "kind", PAWL_EQ, pawl__str(kind));
        op_where_int(&query, "expires_us", PAWL_GT, now_us);
        query.query.after = first ? NULL : &last;
        status = op_find_all(op, &query, PAWL_STORE_ROWS_MAX, &rows);
        for (size_t i = 0; i < rows.count && status == PAWL_OK; i++) {
            status = read(directory, op, &((const struct pawl_document_row *)rows.rows)[i]);
            last = ((const struct pawl_document_row *)rows.rows)[i];
        }
    }
    return status;
}

/* The stamp first: what changes while the rest is read is seen by the next look. */
static int read_all(struct pawl_directory *directory, const struct pawl_op *op)
{
    int64_t now_us;
    int status = identity_stamp(op, &directory->stamp);

    if (status == PAWL_OK)
        status = op_now(op, &now_us);
    if (status == PAWL_OK)
        status = read_kind(directory, op, KIND_SIGNING_KEY, add_signing_key, now_us);
    if (status == PAWL_OK)
        status = read_kind(directory, op, KIND_ROLE, add_role, now_us);
    if (status == PAWL_OK)
        status = read_kind(directory, op, KIND_USER, add_user, now_us);
    if (status == PAWL_OK)
        status = read_kind(directory, op, KIND_APPLICATION, add_application, now_us);
    if (status == PAWL_OK)
        status = directory->arena.status;
    return status;
}

static void set_admin(struct pawl_directory *directory, struct pawl_str admin_key)
{
    if (admin_key.len == 0)
        return;
    pawl__sha256_text(admin_key, PAWL_HEX_LOWER, directory->admin_hash);
    directory->admin = (struct pawl_bearer){.is_application = true,
                                            .id = pawl__str("admin"),
                                            .name = pawl__str("admin"),
                                            .permissions = {everything, 1}};
}

int pawl__op_directory_read(const struct pawl_op *op, struct pawl_str admin_key,
                            struct pawl_directory **out)
{
    const struct pawl_allocator *alloc = &op_env(op)->alloc;
    struct pawl_directory *directory = pawl__alloc_zeroed(alloc, sizeof *directory);
    struct pawl_hash_seed seed = {0};
    struct pawl_arena rows;
    struct pawl_op own = *op;
    int status;

    if (!directory)
        return pawl__error_code(op->err, PAWL_ENOMEM);
    directory->alloc = alloc;
    pawl__arena_init(&directory->arena, alloc, ARENA_BYTES_MAX);
    status = pawl_env_entropy(op_env(op), &seed, sizeof seed, op->err);
    pawl__map_init(&directory->roles, alloc, seed);
    pawl__map_init(&directory->users, alloc, seed);
    pawl__map_init(&directory->applications, alloc, seed);
    pawl__map_init(&directory->keys, alloc, seed);
    pawl__arena_init(&rows, alloc, ARENA_BYTES_MAX);
    own.arena = &rows;
    set_admin(directory, admin_key);
    if (status == PAWL_OK)
        status = read_all(directory, &own);
    pawl__arena_release(&rows);
    if (status == PAWL_OK)
        *out = directory;
    else
        pawl__directory_free(directory);
    return status;
}

int pawl__op_directory_is_stale(const struct pawl_op *op, const struct pawl_directory *directory,
                                bool *stale)
{
    int64_t stamp;
    int status = identity_stamp(op, &stamp);

    if (status == PAWL_OK)
        *stale = stamp != directory->stamp;
    return status;
}

void pawl__directory_free(struct pawl_directory *directory)
{
    if (!directory)
        return;
    pawl__map_release(&directory->roles);
    pawl__map_release(&directory->users);
    pawl__map_release(&directory->applications);
    pawl__map_release(&directory->keys);
    pawl__arena_release(&directory->arena);
    pawl__free(directory->alloc, directory, sizeof *directory);
}

/* ---- checking ------------------------------------------------------------------------------- */

/*
 * By its hash: how long the lookup takes says something about the hash of what was guessed, which
 * says nothing about a key.
 */
enum pawl_credential pawl__directory_check_key(const struct pawl_directory *directory,
                                               struct pawl_str key, int64_t now_us,
                                               const struct pawl_bearer **out)
{
    char hash[PAWL_SHA256_TEXT_SIZE];
    const struct application *found;

    if (key.len == 0)
        return PAWL_CREDENTIAL_WRONG;
    pawl__sha256_text(key, PAWL_HEX_LOWER, hash);
    if (pawl__secret_equal(pawl__str(hash), pawl__str(directory->admin_hash))) {
        *out = &directory->admin;
        return PAWL_CREDENTIAL_RIGHT;
    }
    found = pawl__map_get(&directory->keys, pawl__str(hash));
    if (!found)
        return PAWL_CREDENTIAL_WRONG;
    if (found->expires_us <= now_us)
        return PAWL_CREDENTIAL_EXPIRED;
    *out = &found->bearer;
    return PAWL_CREDENTIAL_RIGHT;
}

static struct pawl_str text_of(const struct pawl_json *claims, const char *name)
{
    return pawl__json_str(pawl__json_get_text(claims, name));
}

static bool csrf_is_right(const struct pawl_json *claims, struct pawl_str csrf)
{
    char hash[PAWL_SHA256_TEXT_SIZE];

    pawl__sha256_text(csrf, PAWL_HEX_LOWER, hash);
    return pawl__secret_equal(pawl__str(hash), text_of(claims, "csrf"));
}

const struct pawl_bearer *pawl__directory_find(const struct pawl_directory *directory,
                                               const struct pawl_bearer *bearer, int64_t now_us)
{
    const struct pawl_bearer *user;

    if (bearer->is_application) {
        const struct application *one = pawl__map_get(&directory->applications, bearer->id);

        if (!one && directory->admin_hash[0] && pawl__str_equal(bearer->id, directory->admin.id))
            return &directory->admin;
        return one && one->expires_us > now_us ? &one->bearer : NULL;
    }
    user = pawl__map_get(&directory->users, bearer->id);
    return user && bearer->generation == user->generation ? user : NULL;
}

/* Whose it is; NULL: of nobody, or of one who has another password since. */
static const struct pawl_bearer *bearer_of(const struct pawl_directory *directory,
                                           const struct pawl_json *claims, int64_t now_us)
{
    struct pawl_bearer bearer = {.id = text_of(claims, "sub"),
                                 .is_application =
                                     pawl__str_is(text_of(claims, "kind"), KIND_APPLICATION)};

    if (!bearer.is_application &&
        !pawl__json_to_int(pawl__json_get_text(claims, "gen"), &bearer.generation))
        return NULL;
    return pawl__directory_find(directory, &bearer, now_us);
}

static enum pawl_credential check_claims(const struct pawl_directory *directory,
                                         const struct pawl_json *claims, enum pawl_token_use use,
                                         struct pawl_str csrf, int64_t now_us,
                                         const struct pawl_bearer **out,
                                         struct pawl_token_times *times)
{
    const struct pawl_bearer *bearer;
    int64_t now_s = now_us / 1000000;

    if (!pawl__str_is(text_of(claims, "token_use"), pawl__token_use_name(use)) ||
        !pawl__str_is(text_of(claims, "iss"), PAWL_TOKEN_ISSUER) ||
        !pawl__str_is(text_of(claims, "aud"), PAWL_TOKEN_ISSUER) ||
        !pawl__json_to_int(pawl__json_get_text(claims, "exp"), &times->until_s) ||
        !pawl__json_to_int(pawl__json_get_text(claims, "nbf"), &times->from_s))
        return PAWL_CREDENTIAL_WRONG;
    bearer = bearer_of(directory, claims, now_us);
    if (use == PAWL_TOKEN_HUB)
        *out = bearer;
    if (times->until_s <= now_s || times->from_s > now_s + SKEW_S)
        return PAWL_CREDENTIAL_EXPIRED;
    if (!bearer || (use == PAWL_TOKEN_SESSION && csrf.ptr && !csrf_is_right(claims, csrf)))
        return PAWL_CREDENTIAL_WRONG;
    *out = bearer;
    return PAWL_CREDENTIAL_RIGHT;
}

enum pawl_credential pawl__directory_check_token(const struct pawl_directory *directory,
                                                 struct pawl_str token, enum pawl_token_use use,
                                                 struct pawl_str csrf, int64_t now_us,
                                                 const struct pawl_bearer **out,
                                                 struct pawl_token_times *times)
{
    enum pawl_credential result = PAWL_CREDENTIAL_WRONG;
    struct pawl_json claims;
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, directory->alloc, CLAIMS_BYTES_MAX);
    status = pawl__jwt_read(token, directory->signing, directory->signing_count, &arena, &claims);
    if (status == PAWL_ENOTFOUND)
        result = PAWL_CREDENTIAL_FOREIGN;
    else if (status == PAWL_OK)
        result = check_claims(directory, &claims, use, csrf, now_us, out, times);
    pawl__arena_release(&arena);
    return result;
}
