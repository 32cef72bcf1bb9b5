/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares of a node's processors, by definition (docs/design/0011-shares.md).
 *
 * Each piece of work that a worker does is charged to a definition. From that every definition has
 * a rank; the pool takes work of a rank only when none of a lower one is due, but for a part of the
 * processor time that heavy definitions have in any case.
 *
 *     NEW       unknown, or light and within its share
 *     BUSY      light, and has used most of the processor time lately, beside others
 *     FAILING   light, and most pieces of it have failed lately
 *     HEAVY     a piece of it takes long
 *     GREEDY    the same, and it has used more than heavy ones have on average
 *
 * All in memory, for this node alone: what is forgotten is learned again. Any thread.
 */
#ifndef PAWL_RUNTIME_SHARES_H
#define PAWL_RUNTIME_SHARES_H

#include "base/arena.h"
#include "base/str.h"

#include <pawl/error.h>
#include <pawl/ext/env.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pawl_shares;

enum pawl_rank {
    PAWL_RANK_NEW,
    PAWL_RANK_BUSY,
    PAWL_RANK_FAILING,
    PAWL_RANK_HEAVY,
    PAWL_RANK_GREEDY
};

/* A definition whose pieces of work take so long on average is heavy. */
#define PAWL_SHARES_HEAVY_NS INT64_C(20000000)
/* Definitions that are known at a time: others are forgotten, the least recently run first. */
#define PAWL_SHARES_MAX 512u

/* Borrows env. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__shares_new(struct pawl_env *env, struct pawl_shares **out);
void pawl__shares_free(struct pawl_shares *shares); /* NULL allowed */

/* A piece of work of the definition used so much processor time, and failed or not. Without memory
 * nothing is noted. */
void pawl__shares_charge(struct pawl_shares *shares, struct pawl_str definition_id, int64_t ns,
                         bool failed);

/* Whether any definition has another rank than NEW. Costs nothing. */
bool pawl__shares_matter(const struct pawl_shares *shares);
enum pawl_rank pawl__shares_rank(struct pawl_shares *shares, struct pawl_str definition_id);
/* Counts definitions that became heavy or failing: what was taken before may be of one of them. */
uint32_t pawl__shares_changes(const struct pawl_shares *shares);
/* The definitions of these ranks, in the arena. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__shares_list(struct pawl_shares *shares, enum pawl_rank from,
                                      enum pawl_rank to, struct pawl_arena *arena,
                                      const struct pawl_str **out, size_t *count);

/* Whether heavy definitions have had less than their part while others ran. */
bool pawl__shares_owe(struct pawl_shares *shares);
/* They want nothing: what they did not use is not kept for them. */
void pawl__shares_settle(struct pawl_shares *shares);

#endif
