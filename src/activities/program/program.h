/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activities that a C program brings (<pawl/activity.h>), as types of the engine.
 *
 *     types.c     descriptors made of what they declare, functions of the engine that call theirs,
 *                 and the performing of their calls
 *     context.c   what their functions may do: pawl_context_...()
 *
 * A call is an effect (PAWL_EFFECT_CALL) and a bookmark that waits for its result, made in one
 * commit. The result is a stimulus with the call's id as its key: sent twice, it counts once.
 * Whoever runs the node sends it (src/host/feature_runtime.c).
 */
#ifndef PAWL_ACTIVITIES_PROGRAM_PROGRAM_H
#define PAWL_ACTIVITIES_PROGRAM_PROGRAM_H

#include "base/hash/sha256.h"
#include "base/json/text.h"
#include "engine/activity.h"
#include "engine/engine.h"

#include <pawl/activity.h>

/*
 * Adds the types; what is made of them lives in the arena, as long as the engine. Borrows them.
 * PAWL_EINVAL says what is wrong with one; PAWL_EEXISTS: there is such a type already.
 */
PAWL_MUST_CHECK int pawl__program_add(struct pawl_engine *engine, struct pawl_arena *arena,
                                      const struct pawl_activity_type *types, size_t count,
                                      struct pawl_error *err);

/* The result of a call, as the stimulus that has to be sent to its instance. */
struct pawl_program_result {
    char hash[PAWL_SHA256_TEXT_SIZE];
    struct pawl_str key;
    struct pawl_json input; /* an object */
};

/* Performs a call; a failure of the program's function is a result too. Results live in the arena.
 * PAWL_EUNSUPPORTED: none of the types performs it. */
PAWL_MUST_CHECK int pawl__program_perform(const struct pawl_activity_type *types, size_t count,
                                          struct pawl_arena *arena, struct pawl_str instance_id,
                                          const struct pawl_json *call,
                                          struct pawl_program_result *out, struct pawl_error *err);

/* ---- between its two files ------------------------------------------------------------------ */

/* A type of the program's. The engine hands out `activity`, which is the whole. */
struct program_activity {
    struct pawl_activity activity; /* first */
    const struct pawl_activity_type *type;
};

/*
 * One of the program's functions is running for a context, whose `scratch` this is meanwhile: the
 * first failure sticks, so that no function can ignore it.
 */
struct program_invocation {
    const struct program_activity *activity;
    int status; /* PAWL_OK, ENGINE_RAISED or a negative code */
};

#define PROGRAM_RESUME "Resume"
#define PROGRAM_PERFORMED "Performed"
/* Bookmark of a call; the stimulus that ends it has one of the two inputs. */
#define PROGRAM_CALL_NAME "Pawl.Call"
#define PROGRAM_CALL_RESULT "PawlCallResult"
#define PROGRAM_CALL_ERROR "PawlCallError"

/* {"callId": …}: the payload of that bookmark. */
PAWL_MUST_CHECK int pawl__program_call_payload(struct pawl_arena *arena, struct pawl_str call_id,
                                               struct pawl_json *out);

#endif
