/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running instance behind a burst, as the engine's own files see it. Activities and languages
 * see context.h, drivers see burst.h.
 *
 * Everything lives in the burst's arena and dies with it. Vectors grow by doubling; what they leave
 * behind stays in the arena until the burst is closed, which is why a driver reopens a burst that
 * yields.
 *
 * Invariants:
 *   1. `contexts` holds every context that something may still need, in the order of the
 *      reference: those restored as the state listed them, then new ones as they were made. Each
 *      context's parent is in it too. See context.c for when one leaves.
 *   2. `queue` is first in, first out; an item is taken out before it is invoked.
 *   3. At most one context is being invoked; `phase` says how far. It is NULL in PHASE_NEXT.
 *   4. The sub-status moves by move_to() alone, and never out of a final one.
 */
#ifndef PAWL_ENGINE_RUN_INSTANCE_H
#define PAWL_ENGINE_RUN_INSTANCE_H

#include "base/id.h"
#include "engine/run/burst.h"

struct pawl_work_item {
    const struct pawl_node *node;
    struct pawl_context *owner;    /* NULL: ownerless */
    struct pawl_context *existing; /* run again in this context; NULL: a new one */
    struct pawl_value tag;
    struct pawl_variable *variables;
    uint32_t variable_count;
    struct pawl_json input;
    struct pawl_str scheduled_by;
    struct pawl_str scheduled_by_activity;
    struct pawl_str scheduled_by_instance; /* "": by one of this instance, or by none */
    uint32_t depth;
};

struct pawl_callback_entry {
    struct pawl_list_link link; /* in the instance's callbacks: the order in which they came */
    struct pawl_list_link own;  /* in the owner's */
    struct pawl_context *owner;
    const struct pawl_node *child;
    const char *method; /* as the owner's type spells it, or a name it does not know */
    struct pawl_value tag;
};

/* One output that was set in this burst, for getOutputFrom. */
struct pawl_output_record {
    const struct pawl_node *node;
    struct pawl_str context_id;
    struct pawl_context *container; /* nearest container of the setter */
    struct pawl_str name;
    struct pawl_value value;
    uint32_t next; /* the one before it under the same container: number + 1; 0 none */
};

struct pawl_incident {
    const struct pawl_node *node;         /* NULL: of the workflow */
    struct pawl_str activity_instance_id; /* "" of the workflow */
    struct pawl_str message;
    const struct pawl_exception *exception;
    int64_t timestamp;
    struct pawl_json stored; /* restored ones are kept as they were; else null */
};

/* How far the invocation of `current` is. */
enum pawl_phase {
    PAWL_PHASE_NEXT,     /* take the next item */
    PAWL_PHASE_EXECUTE,  /* inputs are evaluated; after the commit that was asked for: execute */
    PAWL_PHASE_AWAIT,    /* an awaited effect is out */
    PAWL_PHASE_DELIVER,  /* its result is here */
    PAWL_PHASE_EXECUTED, /* it has run; only in states that older versions stored */
};

/* When the commit is made that a strategy has asked for. Every commit meets it. */
enum pawl_due {
    PAWL_DUE_NONE,
    PAWL_DUE_BEFORE_EXECUTE, /* the next activity may evaluate its inputs first */
    PAWL_DUE_BEFORE_NEXT,    /* nothing of the next activity comes first */
};

#define VECTOR(type)                                                                               \
    struct {                                                                                       \
        type *items;                                                                               \
        uint32_t count;                                                                            \
        uint32_t cap;                                                                              \
    }

struct pawl_burst {
    struct pawl_arena arena;
    struct pawl_allocator alloc;
    const struct pawl_engine *engine;
    struct pawl_graph *graph;

    /* The instance. Strings "" when not set. */
    struct pawl_str id;
    struct pawl_str correlation_id;
    struct pawl_str name; /* ptr NULL: none; "" is a name */
    struct pawl_str parent_instance_id;
    struct pawl_str definition_id;
    struct pawl_str definition_version_id;
    int64_t definition_version;
    enum pawl_sub_status sub_status;
    bool is_executing;
    bool is_system;
    struct pawl_json input; /* of this run; objects of stored values */
    struct pawl_json output;
    struct pawl_json properties;
    struct pawl_json kept; /* by the Memory driver: "context id/variable id" -> typed value */
    int64_t created_at;
    int64_t updated_at;
    int64_t finished_at; /* 0: not */
    int64_t log_sequence;
    VECTOR(struct pawl_incident) incidents;
    VECTOR(struct pawl_bookmark) bookmarks;
    uint32_t *bookmarked; /* how many each node has, by its index; NULL before the first */
    struct pawl_list callbacks;
    struct pawl_list contexts;
    uint32_t context_count;     /* of them */
    struct pawl_context *ended; /* stack, by next_ended */
    VECTOR(struct pawl_work_item) queue;
    uint32_t queue_head;
    uint64_t context_order; /* for the next context made */

    /* This burst. */
    struct pawl_str trigger_activity_id;
    int64_t now;
    struct pawl_id_source ids;
    VECTOR(struct pawl_output_record) outputs;
    struct pawl_value last_result;
    const struct pawl_exception *exception; /* raised, on its way up */
    const struct pawl_bookmark *resumed;    /* the bookmark this burst resumes; NULL */
    bool resume_pending;                    /* its delegate runs at the next activity */
    bool job;                               /* ... or the job of an activity in the background */
    bool job_answered;                      /* with `fed`, what its effect came to */
    uint32_t job_logged;                    /* number + 1 of its "Resumed" in `log`; 0: none */
    struct pawl_outcomes composite;         /* remembered CompleteComposite signal */
    bool composite_set;
    bool composite_default; /* it came without outcomes */
    bool cancel_requested;
    bool commit_first; /* what the event changed is committed before anything runs */
    bool in_progress;  /* between the first step and the last: a state saved now continues here */

    enum pawl_phase phase;
    enum pawl_due due;
    struct pawl_context *current;
    bool current_resumed; /* it ran a resume delegate, not execute */
    bool awaiting;        /* execute asked for an effect */
    struct pawl_json fed;

    /* The next batch. */
    VECTOR(struct pawl_log_record) log;
    VECTOR(struct pawl_effect) effects;
    VECTOR(struct pawl_context *) dirty;
    struct pawl_context *dirty_first; /* touched since the last batch, by next_dirty */
    struct pawl_context *dirty_last;
    struct pawl_effect awaited;
    uint64_t effect_number;
    bool batch_ready;
    bool has_reply; /* there is one among the effects */

    bool (*stop)(void *ctx);
    void *stop_ctx;
    bool (*late)(void *ctx); /* see pawl__burst_set_patience() */
    void *late_ctx;
    int64_t (*clock)(void *ctx);
    void *clock_ctx;
};

/* Brings `now` up to date: something begins or ends. */
void pawl__burst_look_at_clock(struct pawl_burst *burst);

/* Room for one more item; PAWL_ENOMEM or PAWL_ELIMIT. */
PAWL_MUST_CHECK int pawl__vector_grow(struct pawl_arena *arena, void **items, uint32_t count,
                                      uint32_t *cap, size_t size);
#define VECTOR_GROW(burst, vector)                                                                 \
    pawl__vector_grow(&(burst)->arena, (void **)&(vector)->items, (vector)->count, &(vector)->cap, \
                      sizeof *(vector)->items)

/* instance.c */
PAWL_MUST_CHECK int pawl__instance_move(struct pawl_context *context, struct pawl_burst *burst,
                                        enum pawl_sub_status to);

/* context.c */
#define PAWL_FOR_EACH_CONTEXT(context, burst) PAWL_LIST_FOR_EACH (context, &(burst)->contexts, link)
PAWL_MUST_CHECK int pawl__context_new(struct pawl_burst *burst, const struct pawl_node *node,
                                      struct pawl_context *parent, struct pawl_context **out);
void pawl__context_adopt(struct pawl_context *parent, struct pawl_context *child);
struct pawl_context *pawl__context_by_id(const struct pawl_burst *burst, struct pawl_str id);
void pawl__context_touch(struct pawl_context *context); /* its record changed */
bool pawl__context_below(const struct pawl_context *context, const struct pawl_context *ancestor);
/* It may have become unused: checked when it is safe to free it. NULL allowed. */
void pawl__context_review(struct pawl_context *context);
/* Lets go of ended contexts that nothing needs any more. Only between two invocations. */
void pawl__contexts_sweep(struct pawl_burst *burst);

/* A fresh id; "" with the arena's status set when there is no memory. */
struct pawl_str pawl__burst_new_id(struct pawl_burst *burst);

/* invoke.c: one activity, phase by phase. *step is set when it must stop at one. */
PAWL_MUST_CHECK int pawl__invoke(struct pawl_burst *burst, const struct pawl_work_item *item,
                                 enum pawl_step *step, bool *stopped);
PAWL_MUST_CHECK int pawl__invoke_continue(struct pawl_burst *burst, enum pawl_step *step,
                                          bool *stopped);
/* Whether all that it does when it begins is to schedule others: Workflow, Sequence, Flowchart, …
 */
bool pawl__only_schedules(const struct pawl_node *node);

/* evaluate.c */
PAWL_MUST_CHECK int pawl__inputs_evaluate(struct pawl_context *context);
/* Raises when `value` has a number in it that cannot be stored; `what` is "Variable", "Input", … */
PAWL_MUST_CHECK int pawl__demand_storable(struct pawl_context *context, struct pawl_value value,
                                          const char *what, struct pawl_str name);
PAWL_MUST_CHECK int pawl__output_record_add(struct pawl_burst *burst,
                                            const struct pawl_output_record *record);
PAWL_MUST_CHECK int pawl__composite_inputs_evaluate(struct pawl_context *context);

/* schedule.c */
PAWL_MUST_CHECK int pawl__queue_push(struct pawl_burst *burst, const struct pawl_work_item *item);
bool pawl__queue_pop(struct pawl_burst *burst, struct pawl_work_item *item);
void pawl__queue_clear(struct pawl_burst *burst);
void pawl__queue_withdraw_context(struct pawl_context *context);
PAWL_MUST_CHECK int pawl__callback_add(struct pawl_context *owner, const struct pawl_node *child,
                                       const char *method, struct pawl_value tag);
void pawl__callbacks_remove_owner(struct pawl_context *owner);
void pawl__callbacks_clear(struct pawl_burst *burst);
/* Takes out the oldest one for `child`; NULL when there is none. */
const struct pawl_callback_entry *pawl__callback_pop(struct pawl_context *owner,
                                                     const struct pawl_node *child);
const struct pawl_completion_callback *pawl__completion_named(const struct pawl_activity *activity,
                                                              const char *method);

/* complete.c */
PAWL_MUST_CHECK int pawl__cancel_workflow(struct pawl_burst *burst);

/* bookmark.c */
PAWL_MUST_CHECK int pawl__bookmark_add(struct pawl_burst *burst,
                                       const struct pawl_bookmark *bookmark);
void pawl__bookmarks_clear(struct pawl_burst *burst);
void pawl__bookmarks_remove_context(struct pawl_context *context, bool also_same_node);
void pawl__bookmark_burn(struct pawl_burst *burst, struct pawl_str id);
bool pawl__node_has_bookmark(const struct pawl_burst *burst, const struct pawl_node *node);
bool pawl__context_has_bookmark(const struct pawl_context *context);
PAWL_MUST_CHECK int pawl__resume_run(struct pawl_context *context);

/* background.c */
bool pawl__is_background(const struct pawl_node *node);
/* In the foreground: waits for the job, which the driver begins when this is durable. */
PAWL_MUST_CHECK int pawl__background_wait(struct pawl_context *context);
/* The job itself: begins it, or gives it the result that it asked for. */
PAWL_MUST_CHECK int pawl__background_run(struct pawl_context *context);
/* Whether the effect that the job awaits takes time; then nothing waits for it. */
bool pawl__background_detaches(const struct pawl_context *context);
PAWL_MUST_CHECK int pawl__background_detach(struct pawl_context *context);

/* fault.c */
PAWL_MUST_CHECK int pawl__fault(struct pawl_context *context);
PAWL_MUST_CHECK int pawl__incident_json(const struct pawl_burst *burst,
                                        const struct pawl_incident *incident,
                                        struct pawl_arena *arena, struct pawl_json *out);
PAWL_MUST_CHECK int pawl__exception_json(const struct pawl_exception *exception,
                                         struct pawl_arena *arena, struct pawl_json *out);

/* log_mode.c: what the record of a context may show. */
PAWL_MUST_CHECK int pawl__log_modes_evaluate(struct pawl_context *context);
/* `group`: "inputs", "outputs", or "internal" for its journal and properties. */
bool pawl__log_is_excluded(const struct pawl_context *context, const char *group,
                           struct pawl_str name);

/* journal.c */
PAWL_MUST_CHECK int pawl__log_workflow(struct pawl_burst *burst, const char *event,
                                       struct pawl_str message, const struct pawl_json *payload);

/* memory.c */
PAWL_MUST_CHECK int pawl__variables_declare(struct pawl_context *context);
PAWL_MUST_CHECK int pawl__dynamic_declare(struct pawl_context *context,
                                          const struct pawl_variable *variables, uint32_t count);
/* Writes persisted variables into the contexts' properties; reads them back. */
PAWL_MUST_CHECK int pawl__variables_save(struct pawl_burst *burst);
PAWL_MUST_CHECK int pawl__variables_load(struct pawl_context *context);
void pawl__variables_forget(struct pawl_context *context);
PAWL_MUST_CHECK int pawl__variable_make(struct pawl_arena *arena, struct pawl_str name,
                                        struct pawl_value value, struct pawl_variable *out);

/* state/load.c */
PAWL_MUST_CHECK int pawl__state_load(struct pawl_burst *burst, const struct pawl_json *state,
                                     struct pawl_error *err);

#endif
