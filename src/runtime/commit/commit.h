/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the committer does with a single commit: copying it, and finding out afterwards whether one
 * whose answer was lost took effect.
 */
#ifndef PAWL_RUNTIME_COMMIT_COMMIT_H
#define PAWL_RUNTIME_COMMIT_COMMIT_H

#include "base/arena.h"

#include <pawl/ext/store.h>

/*
 * A copy of everything that apply() may read of it, in the arena; answers are cleared. Of rows to
 * be deleted only the key is read, of the instance only what its kind needs. PAWL_ENOMEM,
 * PAWL_ELIMIT: the arena's.
 */
PAWL_MUST_CHECK int pawl__commit_copy(const struct pawl_commit *commit, struct pawl_arena *arena,
                                      struct pawl_commit *out);

/*
 * Whether a repetition of the commit could take effect as well as the first: it adds work, and that
 * is all that a second try would meet; work that may have been done and be gone by then. Nothing in
 * it is guarded: no done rows, no stamp, no claim, no key that exists once. It needs a reservation
 * of its own, under a key that no other commit has: struct pawl_commit_guard.
 */
bool pawl__commit_may_repeat(const struct pawl_commit *commit);

/* A commit with one more change, in front of all others: the reservation. */
struct pawl_commit_guard {
    struct pawl_commit commit;
    struct pawl_reservation_row reservation;
};

/*
 * `key` is borrowed for as long as the guard is used, and so is all of `commit`. What was answered
 * to guard->commit is the commit's answer. After `expires_us` nobody learns from the store whether
 * it took effect, and no try takes effect any more. PAWL_ENOMEM, PAWL_ELIMIT: the arena's.
 */
PAWL_MUST_CHECK int pawl__commit_guard(const struct pawl_commit *commit, struct pawl_str key,
                                       int64_t expires_us, struct pawl_arena *arena,
                                       struct pawl_commit_guard *guard);

/*
 * For a commit whose first answer was lost and that was refused with `commit->status` (DEFINITE or
 * CALLER) when it was applied again: which of the two tries was it? Reads the store.
 *
 * PAWL_OK: *outcome is PAWL_OK (the first try took), the refusal (none did), or PAWL_EUNKNOWN:
 * others have written since, and what is stored no longer tells. Anything else: the store could not
 * be asked. With PAWL_OK, cancel_requested and has_mail of a CREATE or ADVANCE are answered too,
 * the second as "perhaps".
 */
PAWL_MUST_CHECK int pawl__commit_resolve(struct pawl_store *store, struct pawl_commit *commit,
                                         struct pawl_arena *arena, int64_t deadline_ns,
                                         int *outcome, struct pawl_error *err);

#endif
