/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public API (<pawl/runtime.h>, <pawl/activity.h>) on top of the host: what its files share.
 *
 *     embed.c         opening and closing, texts, what callbacks of the runtime become
 *     work.c          work on the caller's threads
 *     definitions.c   publishing
 *     instances.c     starting, resuming, cancelling, deleting, waiting
 *     look.c          state, journal, lists
 *     stimuli.c       events, stimuli, reports of tasks
 *     activity.c      types of the program's as types of the engine; calls
 *     context.c       what their functions may do
 *
 * Nothing is decided here that the command line does not decide too: this checks arguments, turns
 * text into values and back, and passes on.
 */
#ifndef PAWL_EMBED_EMBED_H
#define PAWL_EMBED_EMBED_H

#include "base/json.h"
#include "engine/activity.h"
#include "engine/engine.h"
#include "host/duty.h"
#include "runtime/runtime.h"

#include <pawl/activity.h>
#include <pawl/runtime.h>

/* Of one call: parsed arguments, rows, a state. Far above what fits. */
#define EMBED_BYTES_MAX ((size_t)1 << 30)

/* A type of the program's. The engine hands out `activity`, which is the whole. */
struct embed_activity {
    struct pawl_activity activity; /* first */
    const struct pawl_activity_type *type;
};

struct pawl {
    struct pawl_env *env;
    int64_t process_id; /* that opened it: after a fork it is the parent's */
    bool owns_env;
    struct pawl_options options; /* members that outlive the opening */
    int64_t wait_ns;             /* of calls */
    struct pawl_configuration configuration;
    struct pawl_arena arena; /* descriptors of activities */
    struct embed_activity *activities;
    struct pawl_host *host;
    struct pawl_store *store;
    struct pawl_runtime *runtime;
    struct pawl_duty *duty; /* NULL: the program does the work */
};

/* ---- embed.c ------------------------------------------------------------------------------- */

/* PAWL_EINVAL when `pawl` is NULL or of another process, or `text` (which must be given) is NULL,
 * "" or not UTF-8. */
PAWL_MUST_CHECK int pawl__embed_check(const struct pawl *pawl, struct pawl_error *err);
PAWL_MUST_CHECK int pawl__embed_check_text(const struct pawl *pawl, const char *text,
                                           const char *what, struct pawl_error *err);
/* Of a text that may be NULL. PAWL_EINVAL names it. */
PAWL_MUST_CHECK int pawl__embed_check_utf8(const char *text, const char *what,
                                           struct pawl_error *err);
/* The time by which a call that begins now is answered; and so many milliseconds from now. */
int64_t pawl__embed_deadline(const struct pawl *pawl);
int64_t pawl__embed_after_ms(const struct pawl *pawl, int64_t timeout_ms);

/* Reads JSON. NULL and "" are null. PAWL_EINVAL: not UTF-8; PAWL_EPARSE with `what` before the
 * message. */
PAWL_MUST_CHECK int pawl__embed_parse(struct pawl_arena *arena, const char *json, const char *what,
                                      struct pawl_json *out, struct pawl_error *err);
/* The same of an object; NULL and "" are {}. PAWL_EINVAL: it is something else. */
PAWL_MUST_CHECK int pawl__embed_parse_object(struct pawl_arena *arena, const char *json,
                                             const char *what, struct pawl_json *out,
                                             struct pawl_error *err);
/* JSON text in the arena. PAWL_EINVAL: it has a number that is not finite. */
PAWL_MUST_CHECK int pawl__embed_write(struct pawl_arena *arena, const struct pawl_json *value,
                                      const char **out);
/* JSON text for the caller to keep. */
PAWL_MUST_CHECK int pawl__embed_text(struct pawl *pawl, const struct pawl_json *value, char **out,
                                     struct pawl_error *err);

/* ---- instances.c --------------------------------------------------------------------------- */

/* Takes as an id what fits one. PAWL_EINVAL. */
PAWL_MUST_CHECK int pawl__embed_check_instance(const struct pawl *pawl, const char *instance_id,
                                               struct pawl_error *err);

/* A status as rows have it; one that nobody knows counts as executing. */
enum pawl_instance_status pawl__embed_status(struct pawl_str name);

/* ---- activity.c ---------------------------------------------------------------------------- */

/* Adds the program's types: extend of struct pawl_surroundings. */
PAWL_MUST_CHECK int pawl__embed_extend(void *ctx, struct pawl_engine *engine,
                                       struct pawl_error *err);
/* Performs a call: call of struct pawl_surroundings. */
PAWL_MUST_CHECK int pawl__embed_call(void *ctx, struct pawl_str instance_id,
                                     const struct pawl_json *call, struct pawl_error *err);

/*
 * One of the program's functions is running for a context, whose `scratch` this is meanwhile: the
 * first failure sticks, so that no function can ignore it.
 */
struct embed_invocation {
    const struct embed_activity *activity;
    int status; /* PAWL_OK, ENGINE_RAISED or a negative code */
};

#define EMBED_RESUME "Resume"
#define EMBED_PERFORMED "Performed"
/* Bookmark of a call; the stimulus that ends it has one of the two inputs. */
#define EMBED_CALL_NAME "Pawl.Call"
#define EMBED_CALL_RESULT "PawlCallResult"
#define EMBED_CALL_ERROR "PawlCallError"

/* {"callId": …}: the payload of that bookmark. */
PAWL_MUST_CHECK int pawl__embed_call_payload(struct pawl_arena *arena, struct pawl_str call_id,
                                             struct pawl_json *out);

#endif
