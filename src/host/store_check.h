/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks what must hold between the rows of a store, whatever its backend:
 *
 *     instances      revision and fence are 1 or more; the owner is 0 or an incarnation that was
 *                    given to a node; none is set aside for an operator
 *     bookmarks      their instance is there and is not final
 *     work           its instance, if it names one, is there; its part is 0 to 1023
 *     journal        its instance is there; the sequences of an instance do not overlap
 *     reservations   their instance, if they name one, is there
 *     definitions    each has one latest and at most one published version
 *     triggers       their version is there and published
 *
 * It reads one snapshot, so it may run while nodes work.
 */
#ifndef PAWL_HOST_STORE_CHECK_H
#define PAWL_HOST_STORE_CHECK_H

#include <pawl/ext/env.h>
#include <pawl/ext/store.h>

/* What is kept of the snapshot: some hundred bytes per instance. */
#define PAWL_STORE_CHECK_BYTES_MAX ((size_t)8 << 30)

/*
 * First the backend's own check, then the above. Tells each finding; *count is how many. PAWL_OK
 * with findings too: the check itself has worked. `rows` (NULL allowed): how many it looked at.
 */
PAWL_MUST_CHECK int pawl__store_check(struct pawl_env *env, struct pawl_store *store,
                                      pawl_finding_visitor visit, void *ctx, uint64_t *count,
                                      uint64_t *rows, struct pawl_error *err);

#endif
