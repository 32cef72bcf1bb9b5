/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tokens of one running flowchart in token mode, and what follows from them. A token says: this
 * activity completed with this outcome, and that one has not yet taken note.
 *
 * Kept twice, always in step: as an array to decide with, and in the stored form, property
 * Flowchart.Tokens of the flowchart's context, which is changed in place. No contexts here.
 *
 *     {"_items": [{"fromActivityId", "fromActivityName", "outcome", "toActivityId",
 *                  "toActivityName", "consumed", "blocked"}, …], "_type": "List<Token>"}
 *
 * A token is live while it is neither consumed nor blocked.
 */
#ifndef PAWL_ACTIVITIES_FLOW_TOKENS_H
#define PAWL_ACTIVITIES_FLOW_TOKENS_H

#include "activities/flow_graph.h"
#include "activities/flow_scope.h"
#include "base/json/json.h"

enum pawl_merge_mode {
    PAWL_MERGE_STREAM,   /* run unless something before it is still under way; None and not set */
    PAWL_MERGE_MERGE,    /* a token on every forward inbound connection */
    PAWL_MERGE_CONVERGE, /* a token on every inbound connection */
    PAWL_MERGE_CASCADE,  /* the first runs, later ones are taken note of */
    PAWL_MERGE_RACE,     /* the same, and what is still under way before it is cancelled */
};

/* By name, without case; STREAM for what it does not know. */
enum pawl_merge_mode pawl__merge_mode_named(struct pawl_str name);

struct pawl_flow_token {
    uint32_t from; /* NONE: the chart does not know it */
    uint32_t to;
    struct pawl_str outcome; /* "" none */
    bool consumed;
    bool blocked;
};

struct pawl_flow_tokens {
    struct pawl_arena *arena;            /* borrowed */
    const struct pawl_flow_graph *graph; /* borrowed */
    struct pawl_flow_token *items;
    uint32_t count;
    uint32_t cap;
    uint32_t live_count;
    uint32_t *live_to;        /* by activity: live tokens that point to it */
    uint32_t *mark;           /* by activity, for one look at the list */
    uint32_t marked;          /* the number of that look */
    struct pawl_json *stored; /* the array, parallel to items */
};

/* What stored tokens say of the activities of a connection. */
struct pawl_flow_party {
    struct pawl_str id;
    struct pawl_str name; /* "" none */
};

/*
 * Reads the stored tokens; `stored` is an object, empty when new, and keeps its two members from
 * then on. PAWL_ENOMEM, PAWL_ELIMIT.
 */
PAWL_MUST_CHECK int pawl__flow_tokens_open(struct pawl_flow_tokens *tokens,
                                           struct pawl_arena *arena,
                                           const struct pawl_flow_graph *graph,
                                           const struct pawl_flow_names *ids,
                                           struct pawl_json *stored);

/* Adds a token for a connection. `from` and `to` are borrowed as long as the stored object. */
PAWL_MUST_CHECK int pawl__flow_tokens_add(struct pawl_flow_tokens *tokens, uint32_t connection,
                                          struct pawl_flow_party from, struct pawl_flow_party to,
                                          bool blocked);

/* Live tokens to this activity become consumed. */
PAWL_MUST_CHECK int pawl__flow_tokens_consume(struct pawl_flow_tokens *tokens, uint32_t activity);
/* Removes consumed tokens to this activity. */
void pawl__flow_tokens_purge(struct pawl_flow_tokens *tokens, uint32_t activity);
/* Removes all tokens from or to this activity. */
void pawl__flow_tokens_forget(struct pawl_flow_tokens *tokens, uint32_t activity);
void pawl__flow_tokens_clear(struct pawl_flow_tokens *tokens);

/*
 * STREAM, MERGE, CONVERGE: whether the target of a connection that has just got its token may run
 * now.
 */
bool pawl__flow_tokens_ready(struct pawl_flow_tokens *tokens, enum pawl_merge_mode mode,
                             uint32_t connection);

/* RACE, CASCADE: consumes a blocked token for this connection; *found says whether there was one.
 */
PAWL_MUST_CHECK int pawl__flow_tokens_unblock(struct pawl_flow_tokens *tokens, uint32_t connection,
                                              bool *found);

#endif
