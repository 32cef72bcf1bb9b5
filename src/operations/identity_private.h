/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the files identity_*.c: documents of the store, and how they are changed.
 *
 * A change is planned and committed under the guard of the stamp "identity", and planned again when
 * somebody else was faster: nothing is decided on rows that are not current.
 */
#ifndef PAWL_OPERATIONS_IDENTITY_PRIVATE_H
#define PAWL_OPERATIONS_IDENTITY_PRIVATE_H

#include "base/hash/sha256.h"
#include "operations/identity.h"
#include "operations/query.h"

#define IDENTITY_STAMP "identity"
#define KIND_USER "user"
#define KIND_ROLE "role"
#define KIND_APPLICATION "application"
#define KIND_SIGNING_KEY "signing-key"
#define KIND_TICKET "ticket"

#define IDENTITY_ID_SIZE 17

/* ---- rows ----------------------------------------------------------------------------------- */

/* *found NULL: none. By "id", "name" or "lookup". */
PAWL_MUST_CHECK int identity_find(const struct pawl_op *op, const char *kind, const char *column,
                                  struct pawl_str value, const struct pawl_document_row **found);
/* By id, else by name. PAWL_ENOTFOUND, with a message. */
PAWL_MUST_CHECK int identity_get(const struct pawl_op *op, const char *kind,
                                 struct pawl_str id_or_name,
                                 const struct pawl_document_row **found);
/* All of a kind that have not expired, at most PAWL_STORE_ROWS_MAX. */
PAWL_MUST_CHECK int identity_find_all(const struct pawl_op *op, const char *kind,
                                      const struct pawl_document_row **rows, size_t *count);

/* Of a row's data; what is missing or of another type is "" or empty. */
PAWL_MUST_CHECK int identity_read(const struct pawl_op *op, const struct pawl_document_row *row,
                                  struct pawl_json *data);
PAWL_MUST_CHECK int identity_texts(struct pawl_arena *arena, const struct pawl_json *array,
                                   struct pawl_texts *out);
PAWL_MUST_CHECK int identity_write(const struct pawl_op *op, const struct pawl_json *data,
                                   struct pawl_str *out);
struct pawl_json identity_array(struct pawl_arena *arena, const struct pawl_texts *texts,
                                int *status);

PAWL_MUST_CHECK int identity_make_id(const struct pawl_op *op, char out[IDENTITY_ID_SIZE]);
/* So many random bytes as lower-case digits in the arena. */
PAWL_MUST_CHECK int identity_random(const struct pawl_op *op, size_t bytes, struct pawl_str *out);

PAWL_MUST_CHECK int identity_read_user(const struct pawl_op *op,
                                       const struct pawl_document_row *row, struct pawl_user *out);
/* The permissions of these roles together; unknown ones have none. */
PAWL_MUST_CHECK int identity_permissions(const struct pawl_op *op, const struct pawl_texts *roles,
                                         const struct pawl_texts *more, struct pawl_texts *out);

/* PAWL_EPERM: a role is unknown, or has what the grantor lacks. */
PAWL_MUST_CHECK int identity_check_roles(const struct pawl_op *op, const struct pawl_texts *roles,
                                         const struct pawl_texts *grantor);
PAWL_MUST_CHECK int identity_check_permissions(const struct pawl_op *op,
                                               const struct pawl_texts *permissions,
                                               const struct pawl_texts *grantor);
/* PAWL_EINVAL. */
PAWL_MUST_CHECK int identity_check_name(const struct pawl_op *op, struct pawl_str name);

PAWL_MUST_CHECK int identity_stamp(const struct pawl_op *op, int64_t *out);

/* ---- changes -------------------------------------------------------------------------------- */

struct identity_plan {
    int64_t now_us; /* the store's clock */
    struct pawl_change *changes;
    struct pawl_document_row *rows;
    size_t count, room;
};

/* The row is copied. */
void identity_plan_add(struct identity_plan *plan, enum pawl_change_kind kind,
                       const struct pawl_document_row *row);

struct identity_change {
    const char *action, *kind;
    struct pawl_str target; /* "": many */
    /* Reads what it needs and adds what is to be changed; nothing: nothing is. Called again after a
     * conflict. */
    int (*plan)(const struct pawl_op *op, void *ctx, struct identity_plan *plan);
    void *ctx;
    /* What was asked for, for the record; a list whose key is NULL is left out. */
    struct pawl_str name;
    const char *keys[2];
    struct pawl_texts lists[2];
    size_t room;        /* for so many changes; 0: 40 */
    bool has_no_result; /* a request that is sent again can be told that it was done */
};
PAWL_MUST_CHECK int identity_change(const struct pawl_op *op, const struct identity_change *change);

#endif
