/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory: who may do what, as of one moment, in memory. A server decides by it without
 * waiting for the store, before it reads a request's body.
 *
 * A directory does not change. It is read from the store when the stamp "identity" has moved; nodes
 * look every half second, and at once after a change of their own. Who was deleted, lost a role or
 * got another password is refused from then on, whatever tokens they have.
 */
#ifndef PAWL_OPERATIONS_DIRECTORY_H
#define PAWL_OPERATIONS_DIRECTORY_H

#include "operations/identity.h"

/* Issuer and audience of tokens, as Elsa's. */
#define PAWL_TOKEN_ISSUER "http://elsa.api"

/* How many users and applications a directory holds; reading more is PAWL_ELIMIT. */
#define PAWL_DIRECTORY_ENTRIES_MAX 100000u

struct pawl_directory;

/*
 * Reads it. `admin_key` may do everything, whatever the store says; "": there is none. Not in
 * op->arena: it is freed by itself.
 */
PAWL_MUST_CHECK int pawl__op_directory_read(const struct pawl_op *op, struct pawl_str admin_key,
                                            struct pawl_directory **out);
/* Whether something has changed since. */
PAWL_MUST_CHECK int pawl__op_directory_is_stale(const struct pawl_op *op,
                                                const struct pawl_directory *directory,
                                                bool *stale);
void pawl__directory_free(struct pawl_directory *directory); /* NULL allowed */

enum pawl_credential {
    PAWL_CREDENTIAL_NONE,    /* none was given */
    PAWL_CREDENTIAL_RIGHT,   /* *out is whose it is */
    PAWL_CREDENTIAL_WRONG,   /* unknown, damaged, of another use, of somebody who is gone */
    PAWL_CREDENTIAL_FOREIGN, /* a token that none of our keys has signed */
    PAWL_CREDENTIAL_EXPIRED,
};

struct pawl_token_times {
    int64_t from_s, until_s;
};

/* Both borrow from the directory; neither waits. */
enum pawl_credential pawl__directory_check_key(const struct pawl_directory *directory,
                                               struct pawl_str key, int64_t now_us,
                                               const struct pawl_bearer **out);
/*
 * Of a token of the hub that has expired, *out is still whose it is: connections outlive it.
 * `csrf`: of a session, what its request has to repeat; ptr NULL: it need not, because it changes
 * nothing. `times` is filled when it has expired.
 */
enum pawl_credential pawl__directory_check_token(const struct pawl_directory *directory,
                                                 struct pawl_str token, enum pawl_token_use use,
                                                 struct pawl_str csrf, int64_t now_us,
                                                 const struct pawl_bearer **out,
                                                 struct pawl_token_times *times);

/* The user or application with this id, as it is now; a user also has this generation. NULL: gone.
 */
const struct pawl_bearer *pawl__directory_find(const struct pawl_directory *directory,
                                               const struct pawl_bearer *bearer, int64_t now_us);

#endif
