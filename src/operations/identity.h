/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may do what: users, roles, applications (holders of API keys) and the keys that sign tokens.
 *
 * All are documents of the store (docs/internals/identity.md). A user or an application has roles,
 * a role has permissions: texts such as "read:workflow-definitions", compared as they are; "*" is
 * all of them. Every change carries the stamp "identity", by which nodes notice it (directory.h).
 *
 * Nobody can give away, or take away, more than they have: see `grantor`.
 */
#ifndef PAWL_OPERATIONS_IDENTITY_H
#define PAWL_OPERATIONS_IDENTITY_H

#include "base/json/json.h"
#include "operations/operation.h"

/* A list of texts: roles, permissions. Borrowed. */
struct pawl_texts {
    const struct pawl_str *texts;
    size_t count;
};
#define PAWL_IDENTITY_TEXTS_MAX 200u
#define PAWL_IDENTITY_NAME_MAX 200u

bool pawl__texts_have(const struct pawl_texts *texts, struct pawl_str text);
/* Whether one who has these permissions has that one: it is there, or "*" is. */
bool pawl__permissions_have(const struct pawl_texts *permissions, struct pawl_str permission);
/* Whether they include one of `wanted`, apart by spaces. "": whoever it is. */
bool pawl__permissions_allow(const struct pawl_texts *permissions, const char *wanted);

/* ---- roles ---------------------------------------------------------------------------------- */

struct pawl_role {
    struct pawl_str id, name;
    struct pawl_texts permissions;
};

struct pawl_role_list {
    const struct pawl_role *roles; /* by id */
    size_t count;
};

struct pawl_role_request {
    struct pawl_str id; /* create: "": made of the name */
    struct pawl_str name;
    struct pawl_texts permissions;
    /* What the caller may do: a role gets nothing else. NULL: everything. */
    const struct pawl_texts *grantor;
};

PAWL_MUST_CHECK int pawl__op_roles_list(const struct pawl_op *op, struct pawl_role_list *out);
/* PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_role_show(const struct pawl_op *op, struct pawl_str id,
                                       struct pawl_role *out);
/* PAWL_EEXISTS; PAWL_EPERM: the grantor lacks a permission. */
PAWL_MUST_CHECK int pawl__op_role_create(const struct pawl_op *op,
                                         const struct pawl_role_request *request,
                                         struct pawl_role *out);
/* Replaces name and permissions. PAWL_ENOTFOUND, PAWL_EPERM. */
PAWL_MUST_CHECK int pawl__op_role_update(const struct pawl_op *op,
                                         const struct pawl_role_request *request,
                                         struct pawl_role *out);
/* Users and applications lose it by that. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_role_delete(const struct pawl_op *op, struct pawl_str id,
                                         const struct pawl_texts *grantor);

/* ---- users ---------------------------------------------------------------------------------- */

struct pawl_user {
    struct pawl_str id, name; /* name "": cannot sign in */
    struct pawl_texts roles;
    int64_t created_us, updated_us;
    int64_t generation;         /* tokens of earlier ones are void */
    struct pawl_str hash, salt; /* of the password: for the caller who creates it */
};

struct pawl_user_list {
    const struct pawl_user *users; /* by name */
    size_t count;
    struct pawl_page page;
};

struct pawl_user_request {
    struct pawl_str id; /* update */
    struct pawl_str name;
    struct pawl_str password; /* create: as given; set_password: the new one */
    struct pawl_texts roles;  /* ids */
    const struct pawl_texts *grantor;
};

PAWL_MUST_CHECK int pawl__op_users_list(const struct pawl_op *op,
                                        const struct pawl_page_request *page,
                                        struct pawl_user_list *out);
/* By id, or by name. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_user_show(const struct pawl_op *op, struct pawl_str id_or_name,
                                       struct pawl_user *out);
/* PAWL_EEXISTS: the name is taken; PAWL_EPERM: a role is unknown, or has what the grantor lacks. */
PAWL_MUST_CHECK int pawl__op_user_create(const struct pawl_op *op,
                                         const struct pawl_user_request *request,
                                         struct pawl_user *out);
/* Replaces the roles; the name stays, as in Elsa. PAWL_ENOTFOUND, PAWL_EPERM. */
PAWL_MUST_CHECK int pawl__op_user_update(const struct pawl_op *op,
                                         const struct pawl_user_request *request,
                                         struct pawl_user *out);
/* Tokens that were issued before are void. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_user_set_password(const struct pawl_op *op, struct pawl_str id,
                                               struct pawl_str password);
PAWL_MUST_CHECK int pawl__op_user_delete(const struct pawl_op *op, struct pawl_str id,
                                         const struct pawl_texts *grantor);
/*
 * Users of an Elsa: an array of {id, name, hashedPassword, hashedPasswordSalt, roles}, or an object
 * with one as "users". Their passwords stay as they are hashed until they sign in. One whose id is
 * here is replaced. All or none. PAWL_EINVAL says which is wrong.
 */
PAWL_MUST_CHECK int pawl__op_users_import(const struct pawl_op *op, const struct pawl_json *users,
                                          size_t *count);
/* A random password that is easy to copy. */
#define PAWL_PASSWORD_TEXT_SIZE 25
PAWL_MUST_CHECK int pawl__op_password_make(const struct pawl_op *op,
                                           char out[PAWL_PASSWORD_TEXT_SIZE]);
/* The hash of a secret, and its salt in base64. */
PAWL_MUST_CHECK int pawl__op_secret_hash(const struct pawl_op *op, struct pawl_str secret,
                                         struct pawl_str *hash, struct pawl_str *salt);

/* ---- applications -----------------------------------------------------------------------------
 */

struct pawl_application {
    struct pawl_str id, name, client_id;
    struct pawl_texts roles;
    struct pawl_texts permissions; /* of its own, besides those of its roles */
    int64_t created_us, expires_us;
};

struct pawl_application_list {
    const struct pawl_application *applications; /* by name */
    size_t count;
    struct pawl_page page;
};

struct pawl_application_request {
    struct pawl_str name;
    struct pawl_texts roles, permissions;
    int64_t life_us; /* of the key; 0: for ever */
    const struct pawl_texts *grantor;
};

/* The secrets are shown once: the store has their SHA-256. */
struct pawl_application_secrets {
    struct pawl_str api_key, client_secret;
    struct pawl_str api_key_hash, client_secret_hash; /* base64 */
};

PAWL_MUST_CHECK int pawl__op_applications_list(const struct pawl_op *op,
                                               const struct pawl_page_request *page,
                                               struct pawl_application_list *out);
/* PAWL_EEXISTS: the name is taken; PAWL_EPERM as for users. */
PAWL_MUST_CHECK int pawl__op_application_create(const struct pawl_op *op,
                                                const struct pawl_application_request *request,
                                                struct pawl_application *out,
                                                struct pawl_application_secrets *secrets);
/* By id, or by name. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_application_delete(const struct pawl_op *op,
                                                struct pawl_str id_or_name);
/*
 * Of a store in which nobody may do anything yet: makes the application "admin", which may do
 * everything. *made false: somebody may. Nodes that start together make one.
 */
PAWL_MUST_CHECK int pawl__op_identity_begin(const struct pawl_op *op, bool *made,
                                            struct pawl_application_secrets *secrets);

/* ---- tokens --------------------------------------------------------------------------------- */

/* What a token is for; each is refused everywhere else. */
enum pawl_token_use {
    PAWL_TOKEN_ACCESS,  /* an hour */
    PAWL_TOKEN_REFRESH, /* two hours: gets new tokens */
    PAWL_TOKEN_SESSION, /* twelve hours: of a page, in a cookie */
    PAWL_TOKEN_SOCKET,  /* a minute: opens a WebSocket, on any node */
    PAWL_TOKEN_HUB,     /* a minute: opens a connection to the hub, on any node */
};
const char *pawl__token_use_name(enum pawl_token_use use);

struct pawl_bearer {
    bool is_application;
    struct pawl_str id, name;
    int64_t generation; /* of a user */
    struct pawl_texts roles, permissions;
};

/* Whose token it is. `csrf`: of a session, the secret that its requests must repeat; of a hub, what
 * no other token has; else "". */
struct pawl_token_request {
    enum pawl_token_use use;
    const struct pawl_bearer *bearer;
    struct pawl_str csrf;
};
PAWL_MUST_CHECK int pawl__op_token_issue(const struct pawl_op *op,
                                         const struct pawl_token_request *request,
                                         struct pawl_str *out);

/*
 * *out is who has this name and password. PAWL_ENOTFOUND: nobody; it takes as long. Takes some 20
 * ms of processor, or half a second for a password that Elsa hashed, which is hashed again then.
 */
PAWL_MUST_CHECK int pawl__op_login(const struct pawl_op *op, struct pawl_str name,
                                   struct pawl_str password, struct pawl_bearer *out);
/* A user as the bearer of tokens. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_bearer(const struct pawl_op *op, struct pawl_str user_id,
                                    struct pawl_bearer *out);

/*
 * From now on another key signs. Tokens of the earlier ones hold until they expire, or, with
 * `at_once`, no longer.
 */
PAWL_MUST_CHECK int pawl__op_signing_key_rotate(const struct pawl_op *op, bool at_once);
/* Makes one where there is none, or where the newest is a month old. */
PAWL_MUST_CHECK int pawl__op_signing_key_keep(const struct pawl_op *op);

/* ---- links by which one signs in once ----------------------------------------------------------
 */

/* The secret of a link for this user, good for ten minutes. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_ticket_make(const struct pawl_op *op, struct pawl_str user_id_or_name,
                                         struct pawl_str *secret);
/* Whose it was; it is used up. PAWL_ENOTFOUND: none, expired, or used. */
PAWL_MUST_CHECK int pawl__op_ticket_use(const struct pawl_op *op, struct pawl_str secret,
                                        struct pawl_bearer *out);

#endif
