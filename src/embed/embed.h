/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public API of <pawl/runtime.h> on top of the host: what its files share. The activities of
 * a program, <pawl/activity.h>, are types of the engine: src/activities/program.
 *
 *     embed.c         opening and closing, texts, what callbacks of the runtime become
 *     work.c          work on the caller's threads
 *     definitions.c   publishing
 *     instances.c     starting, resuming, cancelling, deleting, waiting
 *     change.c        alterations, retries, variables, moving, many at once
 *     look.c          state, journal, lists
 *     nodes.c         nodes, pauses, the store as a whole
 *     stimuli.c       events, stimuli, reports of tasks
 *     waiting.c       lists of tasks and timers; why an instance waits
 *     letters.c       dead letters, retention
 *     audit.c         records of what operators changed
 *
 * Nothing is decided here that the command line does not decide too: this checks arguments, turns
 * text into values and back, and passes on.
 */
#ifndef PAWL_EMBED_EMBED_H
#define PAWL_EMBED_EMBED_H

#include "base/json/text.h"
#include "host/duty.h"
#include "operations/instances.h"
#include "operations/operation.h"

#include <pawl/activity.h>
#include <pawl/runtime.h>

/* Of one call: parsed arguments, rows, a state. Far above what fits. */
#define EMBED_BYTES_MAX ((size_t)1 << 30)

/* Bytes of the options' actor. */
#define EMBED_ACTOR_MAX 200

struct pawl {
    struct pawl_env *env;
    int64_t process_id; /* that opened it: after a fork it is the parent's */
    bool owns_env;
    struct pawl_options options;     /* members that outlive the opening */
    int64_t wait_ns;                 /* of calls */
    char actor[EMBED_ACTOR_MAX + 1]; /* of changes */
    struct pawl_configuration configuration;
    struct pawl_host *host;
    struct pawl_duty *duty; /* NULL: the program does the work */
};

/* ---- embed.c ------------------------------------------------------------------------------- */

/* PAWL_EINVAL when `pawl` is NULL or of another process, or `text` (which must be given) is NULL,
 * "" or not UTF-8. */
PAWL_MUST_CHECK int pawl__embed_check(const struct pawl *pawl, struct pawl_error *err);
PAWL_MUST_CHECK int pawl__embed_check_text(const struct pawl *pawl, const char *text,
                                           const char *what, struct pawl_error *err);
/* Where a JSON text goes that is the result of a call. PAWL_EINVAL when NULL. */
PAWL_MUST_CHECK int pawl__embed_check_answer(char **json, struct pawl_error *err);
/* The deadline of a call that begins now; and the time this many milliseconds from now. */
int64_t pawl__embed_deadline(const struct pawl *pawl);
int64_t pawl__embed_after_ms(const struct pawl *pawl, int64_t timeout_ms);

/* An operation that begins now, with the time of a call; results live in the arena. */
struct pawl_op pawl__embed_op(const struct pawl *pawl, struct pawl_arena *arena,
                              struct pawl_error *err);
/* The same. It also makes the arena that its results live in, which the caller
 * releases. */
struct pawl_op pawl__embed_begin(struct pawl *pawl, struct pawl_arena *arena,
                                 struct pawl_error *err);
/* How a list ended, for the caller. `end` NULL allowed. */
PAWL_MUST_CHECK int pawl__embed_end(struct pawl *pawl, const struct pawl_page *page,
                                    struct pawl_list_end *end, struct pawl_error *err);
/* A text that ends in NUL, in the arena, whose status says when there was no memory for it. */
const char *pawl__embed_str(struct pawl_arena *arena, struct pawl_str text);

/* Reads JSON that is an object; NULL and "" are {}. PAWL_EINVAL: it is something else. */
PAWL_MUST_CHECK int pawl__embed_parse_object(struct pawl_arena *arena, const char *json,
                                             const char *what, struct pawl_json *out,
                                             struct pawl_error *err);
/* JSON text for the caller to keep. */
PAWL_MUST_CHECK int pawl__embed_text(struct pawl *pawl, const struct pawl_json *value, char **out,
                                     struct pawl_error *err);

/* ---- instances.c --------------------------------------------------------------------------- */

/* Takes as an id what fits one. PAWL_EINVAL. */
PAWL_MUST_CHECK int pawl__embed_check_instance(const struct pawl *pawl, const char *instance_id,
                                               struct pawl_error *err);

/* A status as rows have it; one that nobody knows counts as executing. */
enum pawl_instance_status pawl__embed_status(struct pawl_str name);
/* `out` NULL: nobody asks. */
void pawl__embed_outcome(const struct pawl_outcome *outcome, struct pawl_instance_outcome *out);

/* ---- look.c -------------------------------------------------------------------------------- */

/* A filter as a query, with what that borrows in the arena. PAWL_EINVAL. */
PAWL_MUST_CHECK int pawl__embed_query(const struct pawl_op *op,
                                      const struct pawl_instance_filter *filter,
                                      struct pawl_instance_query *out);

#endif
