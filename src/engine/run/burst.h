/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A burst: what runs between an event and the next time an instance has nothing to do. A stepper
 * without I/O, clock, chance or threads of its own (docs/design/0004): the driver feeds an event,
 * calls pawl__burst_step() until the instance is idle or done, and makes durable what each step
 * hands out before it acts on it.
 *
 *     open -> step -> COMMIT   commit the batch, step again
 *                     EFFECT   commit, perform the awaited effect, feed its result, step again
 *                     YIELD    commit if you like, look at your stop flag, step again
 *                     IDLE     commit; the instance waits for a bookmark; close
 *                     DONE     commit; the instance is finished; close
 *
 * After any of them pawl__burst_batch() is a complete commit: a burst opened later on the stored
 * state continues exactly where this one is. Same graph, state, event, clock and seed: same
 * bytes.
 */
#ifndef PAWL_ENGINE_RUN_BURST_H
#define PAWL_ENGINE_RUN_BURST_H

#include "engine/context.h"
#include "engine/engine.h"
#include "engine/status.h"

enum pawl_event_kind {
    /* Run from the start, or continue from the stored state. */
    PAWL_EVENT_RUN,
    /* Resume one bookmark; an id that does not exist runs an empty burst. */
    PAWL_EVENT_RESUME,
    /* Schedule one activity: an operator's retry, by context id or by activity id. */
    PAWL_EVENT_ACTIVITY,
    PAWL_EVENT_CANCEL,
    /* Apply `alterations` (alter.h), then run what they scheduled. */
    PAWL_EVENT_ALTER,
    /* The job of an activity that runs in the background: begin it or, with `result`, continue
     * what the effect came to that it had asked for. */
    PAWL_EVENT_JOB,
};

struct pawl_event {
    enum pawl_event_kind kind;
    int64_t now;   /* ticks, UTC */
    uint64_t seed; /* of ids and of script randomness in this burst */
    uint32_t mark; /* that its ids have in them (base/id.h); 0: none */
    struct pawl_str bookmark_id;
    struct pawl_str activity_instance_id;
    struct pawl_str activity_id;
    struct pawl_str trigger_activity_id; /* RUN: which trigger started it */
    struct pawl_json input;              /* objects, or null */
    /* The input has a request that the server itself received (base/http_message.h). Of any other
     * event what its input says of a request is dropped. */
    bool is_request;
    struct pawl_json properties;
    struct pawl_json variables;
    struct pawl_json alterations; /* ALTER */
    struct pawl_json result;      /* JOB; null: begin it */
    /* What the Memory driver has, from pawl__burst_kept() of an earlier burst of the instance in
     * the same request; null: nothing. */
    struct pawl_json kept;
    /* RUN without a state: of the new instance. */
    struct pawl_str instance_id;
    struct pawl_str correlation_id;
    struct pawl_str name;
    struct pawl_str parent_instance_id;
    struct pawl_str scheduled_by; /* the execution of the parent's activity that started it */
    uint32_t scheduled_by_depth;  /* of its call stack */
};

enum pawl_step {
    PAWL_STEP_COMMIT,
    PAWL_STEP_EFFECT,
    PAWL_STEP_YIELD,
    PAWL_STEP_IDLE,
    PAWL_STEP_DONE,
};

struct pawl_effect {
    enum pawl_effect_kind kind;
    struct pawl_str id; /* idempotency key: instance / context / number */
    struct pawl_str context_id;
    struct pawl_json data;
    /* Of a job: nothing waits for it, and its result comes as an event PAWL_EVENT_JOB for
     * this bookmark. "": not of a job. */
    struct pawl_str job_id;
};

/* One entry of the execution log. */
struct pawl_log_record {
    struct pawl_str id;
    const struct pawl_context *context; /* NULL: of the workflow itself */
    struct pawl_str activity_instance_id;
    struct pawl_str parent_activity_instance_id;
    struct pawl_str activity_id;
    struct pawl_str activity_type;
    uint32_t activity_version;
    struct pawl_str activity_name;
    struct pawl_str activity_node_id;
    struct pawl_str event;
    struct pawl_str message;
    struct pawl_str source;
    struct pawl_json payload; /* null: none */
    int64_t timestamp;
    int64_t sequence;
};

/* What one commit carries. Borrowed from the burst until its next step. */
struct pawl_batch {
    const struct pawl_log_record *log; /* new since the last batch */
    uint32_t log_count;
    struct pawl_context *const *records; /* contexts whose activity record changed */
    uint32_t record_count;
    const struct pawl_bookmark *bookmarks; /* all that the instance has now */
    uint32_t bookmark_count;
    const struct pawl_effect *effects; /* to perform once durable */
    uint32_t effect_count;
    const struct pawl_effect *awaited; /* EFFECT: the one to perform and feed back; else NULL */
    bool is_asked; /* a commit strategy asks for a commit of this, even at the end of a burst */
};

/*
 * Opens a burst. `state` is the stored form (state.h) or NULL for a new instance. Takes a
 * reference on the graph; copies what it keeps of event and state.
 * PAWL_EPARSE: the state cannot be read; PAWL_ECONFLICT: the instance is finished already and the
 * event does not reopen it; PAWL_ELIMIT, PAWL_ENOMEM; of ALTER, what pawl__alter() returns.
 */
PAWL_MUST_CHECK int pawl__burst_open(struct pawl_graph *graph, const struct pawl_allocator *alloc,
                                     const struct pawl_json *state, const struct pawl_event *event,
                                     struct pawl_burst **out, struct pawl_error *err);

/*
 * Runs to the next point. After a negative code (memory, limits) the burst can only be closed;
 * earlier commits remain. `stop` (NULL allowed) is polled at every activity boundary:
 * when it returns true the step ends with YIELD. It is polled inside scripts and templates too:
 * then the step fails with PAWL_EBUSY, and nothing of it has happened.
 */
PAWL_MUST_CHECK int pawl__burst_step(struct pawl_burst *burst, enum pawl_step *step,
                                     struct pawl_error *err);
void pawl__burst_set_stop(struct pawl_burst *burst, bool (*stop)(void *ctx), void *ctx);
/*
 * How long a reply waits for the rest of its burst, so that both are one commit: asked at activity
 * boundaries while one is not committed. True: the step ends with COMMIT. NULL: until the burst
 * ends or awaits something.
 */
void pawl__burst_set_patience(struct pawl_burst *burst, bool (*late)(void *ctx), void *ctx);
/*
 * Who knows what time it is, in ticks, UTC: asked when an activity begins, completes or faults, so
 * that its records have the times at which things happened. Time never goes backwards in a burst,
 * whatever it returns. NULL: it stays that of the event, or of what was fed last.
 */
void pawl__burst_set_clock(struct pawl_burst *burst, int64_t (*now)(void *ctx), void *ctx);

/* After EFFECT: its result, and the time it is now. Copied. */
PAWL_MUST_CHECK int pawl__burst_feed(struct pawl_burst *burst, const struct pawl_json *result,
                                     int64_t now);
/* Between steps: cancel the instance, as PAWL_EVENT_CANCEL does. */
void pawl__burst_cancel(struct pawl_burst *burst);

/* What to commit now. The next step takes it as committed. */
void pawl__burst_batch(struct pawl_burst *burst, struct pawl_batch *batch);
/*
 * It was not committed after all, and need not be (an awaited effect that only looked something
 * up): the next batch has all of it too.
 */
void pawl__burst_keep_batch(struct pawl_burst *burst);

/* An input of the run that it belongs to; NULL. Borrowed until the next step. */
const struct pawl_json *pawl__burst_input(const struct pawl_burst *burst, const char *name);

/*
 * After IDLE: the values of variables with the Memory driver, for later bursts of the same request
 * and for nobody else. Borrowed until the burst is closed.
 */
const struct pawl_json *pawl__burst_kept(const struct pawl_burst *burst);

void pawl__burst_close(struct pawl_burst *burst); /* NULL allowed */

enum pawl_sub_status pawl__burst_sub_status(const struct pawl_burst *burst);
const char *pawl__activity_status_name(enum pawl_activity_status status);

/* ---- stored state ------------------------------------------------------------------------ */

/*
 * The instance as one JSON object with Elsa's keys, plain arrays. `internal` adds the section
 * "pawl" with what a burst in progress needs to continue (after COMMIT, EFFECT, YIELD); exports
 * leave it out. In `arena`, or sharing what the burst holds: valid until the burst is stepped or
 * closed.
 */
PAWL_MUST_CHECK int pawl__burst_state(struct pawl_burst *burst, struct pawl_arena *arena,
                                      bool internal, struct pawl_json *out);

/* ---- stored states ------------------------------------------------------------------------ */

/* Of what a stored state has besides Elsa's members. One with a higher number is not read. */
#ifdef PAWL_NEXT_VERSION /* the version after this one, for tests of nodes of both */
#define PAWL_STATE_FORMAT 2
#else
#define PAWL_STATE_FORMAT 1
#endif

/* Whether a newer Pawl has written it: it is for a newer one to run. */
bool pawl__state_is_newer(const struct pawl_json *state);

#endif
