/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public API of <pawl/runtime.h> on top of the host: what its files share. The activities of
 * a program, <pawl/activity.h>, are types of the engine: src/activities/program.
 *
 *     embed.c         opening and closing, callbacks of the runtime
 *     call.c          the frame of a call: checks of arguments, texts in and out, lists
 *     work.c          work on the caller's threads
 *     definitions.c   definitions
 *     instances.c     starting, resuming, cancelling, deleting, waiting
 *     change.c        alterations, retries, variables, moving, many at once
 *     look.c          state, journal, lists of instances
 *     nodes.c         nodes, pauses, the store as a whole
 *     stimuli.c       events, stimuli, tasks that were done
 *     waiting.c       lists of tasks and timers; why an instance waits
 *     letters.c       dead letters, retention
 *     audit.c         records of what operators changed
 *
 * Nothing is decided here that the command line does not decide too: this checks arguments, turns
 * text into values and back, and passes on.
 */
#ifndef PAWL_EMBED_EMBED_H
#define PAWL_EMBED_EMBED_H

#include "base/json/builder.h"
#include "base/json/text.h"
#include "host/duty.h"
#include "operations/instances.h"
#include "operations/operation.h"

#include <pawl/activity.h>
#include <pawl/runtime.h>

/* Of one call: parsed arguments, rows, a state. Far above what fits. */
#define EMBED_BYTES_MAX ((size_t)1 << 30)

/* Bytes of an actor. */
#define EMBED_ACTOR_MAX 200

struct pawl {
    struct pawl_env *env;
    int64_t process_id; /* that opened it: after a fork it is the parent's */
    bool owns_env;
    bool is_of_caller;               /* pawl_open_for(): all but the texts below is another's */
    struct pawl_options options;     /* members that outlive the opening */
    int64_t wait_ns;                 /* of calls */
    char actor[EMBED_ACTOR_MAX + 1]; /* of changes */
    char request_id[PAWL_REQUEST_ID_MAX + 1]; /* "": each change gets its own */
    struct pawl_configuration configuration;
    struct pawl_host *host;
    struct pawl_duty *duty; /* NULL: the program does the work */
};

/* ---- checks (call.c) ----------------------------------------------------------------------- */

/* PAWL_EINVAL when `pawl` is NULL or of another process, or `text` (which must be given) is NULL,
 * "" or not UTF-8. */
PAWL_MUST_CHECK int pawl__embed_check(const struct pawl *pawl, struct pawl_error *err);
PAWL_MUST_CHECK int pawl__embed_check_text(const struct pawl *pawl, const char *text,
                                           const char *what, struct pawl_error *err);
/* Where a JSON text goes that is the result of a call. PAWL_EINVAL when NULL. */
PAWL_MUST_CHECK int pawl__embed_check_json(char **json, struct pawl_error *err);

/* Texts that need not be given, and what a message calls them. PAWL_EINVAL: one is not UTF-8. */
struct embed_text {
    const char *text, *what;
};
PAWL_MUST_CHECK int pawl__embed_check_texts(const struct embed_text *texts, size_t count,
                                            struct pawl_error *err);

/* A version as a number, PAWL_VERSION_LATEST or PAWL_VERSION_PUBLISHED; 0: `usual`. PAWL_EINVAL. */
PAWL_MUST_CHECK int pawl__embed_version(int64_t version, enum pawl_version_pick usual,
                                        struct pawl_version_options *out, struct pawl_error *err);

/* The time this many milliseconds from now. */
int64_t pawl__embed_after_ms(const struct pawl *pawl, int64_t timeout_ms);

/* ---- the frame of a call (call.c) ---------------------------------------------------------- */

/* A call: its operation, and the arena of what that returns. */
struct embed_call {
    struct pawl *pawl;
    struct pawl_arena arena;
    struct pawl_op op;
};

/* Not PAWL_OK: `pawl` is not valid, and there is nothing to end. */
PAWL_MUST_CHECK int pawl__embed_begin(struct embed_call *call, struct pawl *pawl,
                                      struct pawl_error *err);
/* Each ends the call, and returns `status` or how it failed itself. */
PAWL_MUST_CHECK int pawl__embed_end(struct embed_call *call, int status);
/* With a JSON text for the caller. `b` is what made the value, NULL allowed; `json` NULL: nobody
 * wants it. */
PAWL_MUST_CHECK int pawl__embed_end_json(struct embed_call *call, int status,
                                         const struct pawl_builder *b,
                                         const struct pawl_json *value, char **json);

/* Of a bulk change: with how many were changed, and the failure that ended it. */
PAWL_MUST_CHECK int pawl__embed_end_bulk(struct embed_call *call, int status,
                                         const struct pawl_bulk_result *result, uint64_t *count);

/* ---- lists (call.c) ------------------------------------------------------------------------ */

/* Status of a row after which the list ends: the program wants no more. */
#define EMBED_STOP 1

/* The page that a list asks for. */
struct pawl_page_request pawl__embed_page(uint32_t limit, const char *after, bool has_row,
                                          const struct pawl_list_end *end);
/* A text that ends in NUL, in the call's arena. */
const char *pawl__embed_str(struct embed_call *call, struct pawl_str text);
/* Whether there was memory for all of them. */
PAWL_MUST_CHECK int pawl__embed_check_memory(struct embed_call *call);
/* With how the page ended, for the caller. `status` may be EMBED_STOP. `end` NULL allowed. */
PAWL_MUST_CHECK int pawl__embed_end_list(struct embed_call *call, int status,
                                         const struct pawl_page *page, struct pawl_list_end *end);

/* ---- texts (call.c) ------------------------------------------------------------------------ */

/* Reads JSON that is an object; NULL and "" are {}. PAWL_EINVAL: it is something else. */
PAWL_MUST_CHECK int pawl__embed_parse_object(struct pawl_arena *arena, const char *json,
                                             const char *what, struct pawl_json *out,
                                             struct pawl_error *err);

/* ---- instances.c --------------------------------------------------------------------------- */

/* Accepts what fits as an id. PAWL_EINVAL. */
PAWL_MUST_CHECK int pawl__embed_check_instance(const struct pawl *pawl, const char *instance_id,
                                               struct pawl_error *err);

/* A status as rows have it; an unknown one counts as executing. */
enum pawl_instance_status pawl__embed_status(struct pawl_str name);
/* `out` NULL: nobody wants it. */
void pawl__embed_outcome(const struct pawl_outcome *outcome, struct pawl_instance_outcome *out);

/* ---- look.c -------------------------------------------------------------------------------- */

/* A filter as a query, with what that borrows in the arena. PAWL_EINVAL. */
PAWL_MUST_CHECK int pawl__embed_query(const struct pawl_op *op,
                                      const struct pawl_instance_filter *filter,
                                      struct pawl_instance_query *out);

#endif
