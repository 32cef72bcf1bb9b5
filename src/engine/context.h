/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A context is one execution of one activity in one instance; this header is all that activities
 * and expression languages see of a running workflow.
 *
 * Lifecycle (terminal states are final, except for the two transitions of an operator's retry):
 *
 *     PENDING --invoke--> RUNNING --complete--> COMPLETED
 *        |                   |---cancel------> CANCELED
 *        '---cancel----------|---exception---> FAULTED --cancel--> CANCELED
 *
 * Functions that return int return PAWL_OK, ENGINE_RAISED or a negative code; see activity.h.
 * Strings and values handed in must live as long as the burst's arena; what comes out does.
 */
#ifndef PAWL_ENGINE_CONTEXT_H
#define PAWL_ENGINE_CONTEXT_H

#include "base/list.h"
#include "engine/convert/convert.h"
#include "engine/graph.h"

struct pawl_burst;

enum pawl_activity_status {
    PAWL_ACTIVITY_PENDING,
    PAWL_ACTIVITY_RUNNING,
    PAWL_ACTIVITY_COMPLETED,
    PAWL_ACTIVITY_CANCELED,
    PAWL_ACTIVITY_FAULTED,
};

/* A named place for a value in a context's memory. */
struct pawl_block {
    struct pawl_str id;
    struct pawl_value value;
    const struct pawl_variable *variable; /* NULL: not a declared variable */
    enum pawl_storage storage;
};

struct pawl_context {
    struct pawl_burst *burst;
    struct pawl_str id;
    const struct pawl_node *node;
    struct pawl_context *parent; /* the owner; NULL for the root and for ownerless ones */
    enum pawl_activity_status status;
    bool is_executing;

    /* Stored with the instance. Objects hold values in stored form (value.h). */
    struct pawl_json properties;
    struct pawl_json metadata;
    struct pawl_json activity_state; /* evaluated inputs by PascalCase name */
    struct pawl_variable *dynamic;   /* variables that came with the schedule */
    uint32_t dynamic_count;
    struct pawl_value tag;
    int64_t fault_count;
    int64_t started_at;                    /* ticks */
    int64_t completed_at;                  /* ticks, 0: not yet */
    uint32_t depth;                        /* of the call stack */
    struct pawl_str scheduled_by;          /* context id, "" none */
    struct pawl_str scheduled_by_activity; /* activity id, "" none */
    struct pawl_str scheduled_by_instance; /* instance id, "" none */

    /* For the length of a burst. */
    struct pawl_value *inputs;  /* evaluated, parallel to node->inputs; NULL: not yet */
    struct pawl_json arguments; /* of an expression being evaluated: {"Item":…}; or null */
    struct pawl_json input;     /* activity input: {"BackwardConnection":true}, … */
    struct pawl_json journal;   /* goes to the record's payload: Outcomes, … */
    struct pawl_json outputs;   /* name -> stored form, goes to the record */
    struct pawl_json record_properties; /* as they were on completion, for the record */
    bool record_taken;
    struct pawl_json log_excluded; /* what its record leaves out, see log_mode.c; null: nothing */
    bool log_modes_known;
    struct pawl_block *blocks; /* this scope's memory */
    uint32_t block_count;
    uint32_t block_cap;
    const struct pawl_exception *exception;
    bool made_bookmark; /* in this burst: no auto-complete */
    bool dirty;         /* its record goes into the next commit */
    uint64_t order;     /* of creation, over the whole instance */
    void *scratch; /* activities: computed once per burst (a flowchart's graph); NULL at first */

    /* The engine's own; see context.c. */
    struct pawl_list_link link;    /* in the instance's contexts */
    struct pawl_list_link sibling; /* in the parent's children */
    struct pawl_list children;
    struct pawl_list callbacks;      /* that wait for its children */
    struct pawl_context *next_ended; /* stack of those that may be freed */
    struct pawl_context *next_dirty;
    uint32_t queued;       /* work items that have it as owner, or run it again */
    uint32_t bookmarked;   /* bookmarks of it */
    uint32_t first_output; /* newest output recorded under it: number + 1 in the register */
    bool on_ended_stack;
};

/* ---- raising ---------------------------------------------------------------------------- */

/* Raises an exception of the given type alias; returns ENGINE_RAISED (or PAWL_ENOMEM). */
int pawl__raise(struct pawl_context *context, const char *type, const char *format, ...)
    PAWL_PRINTF(3, 4);
/* The same with the exception raised before as its inner one. */
int pawl__raise_around(struct pawl_context *context, const char *type, const char *format, ...)
    PAWL_PRINTF(3, 4);
/* Raises one that a pure function filled in. */
int pawl__raise_exception(struct pawl_context *context, const struct pawl_exception *exception);

/* ---- inputs and outputs ------------------------------------------------------------------ */

/* An evaluated input, converted to its declared type; null when not set. */
struct pawl_value pawl__input(const struct pawl_context *context, const char *name);
struct pawl_str pawl__input_str(const struct pawl_context *context, const char *name);
bool pawl__input_true(const struct pawl_context *context, const char *name);
int64_t pawl__input_int(const struct pawl_context *context, const char *name, int64_t otherwise);
/* The plain value of a naked input; NULL when not given. */
const struct pawl_json *pawl__input_naked(const struct pawl_context *context, const char *name);
/* Evaluates an input now: those that are not evaluated by themselves. */
PAWL_MUST_CHECK int pawl__input_evaluate(struct pawl_context *context, const char *name,
                                         struct pawl_value *out);
/* Evaluates any expression in this context's scope and converts the result. */
PAWL_MUST_CHECK int pawl__expression_evaluate(struct pawl_context *context,
                                              const struct pawl_expression *expression,
                                              const struct pawl_type *target,
                                              struct pawl_value *out);

/*
 * Sets an output: into the bound variable (converted to its type), into the workflow's output when
 * the binding names one, and always into the register that getOutputFrom reads.
 */
PAWL_MUST_CHECK int pawl__output_set(struct pawl_context *context, const char *name,
                                     struct pawl_value value);
/*
 * The binding part alone, for types that map outputs by hand: `reference` ("": nothing to do) is
 * looked up outward from `scope`.
 */
PAWL_MUST_CHECK int pawl__output_bind(struct pawl_context *context, struct pawl_context *scope,
                                      struct pawl_str reference, const struct pawl_type *type,
                                      struct pawl_value value);
/*
 * What getOutputFrom returns: the first value that `node` gave to output `name` in this burst under
 * a container that is `context` or above it. false when there is none.
 */
bool pawl__output_recorded(struct pawl_context *context, const struct pawl_node *node,
                           struct pawl_str name, struct pawl_value *out);
/*
 * What scripts read by getOutputFrom: `output` of the activity with this id or name among the
 * children of the nearest container; the first that was recorded in this burst within reach of
 * `context`, null when there is none. PAWL_ENOTFOUND: there is no such activity.
 */
PAWL_MUST_CHECK int pawl__output_from(struct pawl_context *context, struct pawl_str activity,
                                      struct pawl_str output, struct pawl_value *out);
/* The last output named Result that was set in this burst; null. */
struct pawl_value pawl__last_result(const struct pawl_context *context);
/* Sets output `name` of the whole instance. */
PAWL_MUST_CHECK int pawl__workflow_output_set(struct pawl_context *context, struct pawl_str name,
                                              struct pawl_value value);

/* ---- properties -------------------------------------------------------------------------- */

struct pawl_json *pawl__property(const struct pawl_context *context, const char *key);
int64_t pawl__property_int(const struct pawl_context *context, const char *key, int64_t otherwise);
bool pawl__property_true(const struct pawl_context *context, const char *key);
PAWL_MUST_CHECK int pawl__property_set(struct pawl_context *context, const char *key,
                                       struct pawl_json value);
void pawl__property_remove(struct pawl_context *context, const char *key);

/* ---- memory ------------------------------------------------------------------------------ */

/* The block with this id, searched outward from `context`; NULL. *scope (NULL allowed): whose. */
struct pawl_block *pawl__memory_find(struct pawl_context *context, struct pawl_str id,
                                     struct pawl_context **scope);
/* Sets the block found outward, else declares one in the nearest container. No conversion. */
PAWL_MUST_CHECK int pawl__memory_set(struct pawl_context *context, struct pawl_str id,
                                     struct pawl_value value);
/* Declares a block in exactly this context, over one of the same id. */
PAWL_MUST_CHECK int pawl__memory_declare(struct pawl_context *context,
                                         const struct pawl_variable *variable,
                                         struct pawl_value value);

/* A declared or dynamic variable by name, nearest scope first; NULL. */
const struct pawl_variable *pawl__variable_named(struct pawl_context *context, struct pawl_str name,
                                                 struct pawl_context **scope);
/* A declared or dynamic variable by id, nearest scope first; NULL. */
const struct pawl_variable *pawl__variable_with_id(struct pawl_context *context, struct pawl_str id,
                                                   struct pawl_context **scope);
/*
 * The value of a variable by name: declared ones, and those that a script made in this burst.
 * false when there is none.
 */
bool pawl__variable_get(struct pawl_context *context, struct pawl_str name, struct pawl_value *out);
/* Sets by name, converted to the declared type; a new name is made in the nearest container. */
PAWL_MUST_CHECK int pawl__variable_set(struct pawl_context *context, struct pawl_str name,
                                       struct pawl_value value);
/*
 * Calls `visit` for each variable in scope by name, inner before outer, a hidden one not at all.
 * Stops when visit returns other than PAWL_OK, and returns that.
 */
PAWL_MUST_CHECK int pawl__variables_visit(struct pawl_context *context,
                                          int (*visit)(void *ctx,
                                                       const struct pawl_variable *variable,
                                                       struct pawl_value value),
                                          void *ctx);

/* The instance's input by name (no case); inside a workflow used as activity its variables first.
 */
bool pawl__workflow_input(struct pawl_context *context, struct pawl_str name,
                          struct pawl_value *out);

/* Nearest context that declares variables, `context` itself included; NULL. */
struct pawl_context *pawl__nearest_container(struct pawl_context *context);

/* ---- scheduling and completing ----------------------------------------------------------- */

struct pawl_schedule_variable {
    const char *name;
    struct pawl_value value;
};

struct pawl_schedule {
    const struct pawl_node *node; /* NULL: the callback runs at once, or `context` completes */
    const char *callback;         /* method name of `context`'s type; NULL: none */
    struct pawl_value tag;        /* null: none */
    const struct pawl_schedule_variable *variables;
    uint32_t variable_count;
    struct pawl_json input;        /* an object, or null */
    struct pawl_str scheduled_by;  /* context id for the call stack; "": `context` */
    struct pawl_context *existing; /* to run again; NULL: a new one */
    bool prevent_duplicates;       /* keep one queued item per node and owner */
};

/* Queues a child of `context`. */
PAWL_MUST_CHECK int pawl__schedule(struct pawl_context *context,
                                   const struct pawl_schedule *schedule);
/* The common form: no tag, no variables. */
PAWL_MUST_CHECK int pawl__schedule_child(struct pawl_context *context, const struct pawl_node *node,
                                         const char *callback);
/* Whether an item for `node` (any when NULL) owned by `owner` waits in the queue. */
bool pawl__is_queued(const struct pawl_context *owner, const struct pawl_node *node);
/* Whether an item is queued that is owned by `ancestor` or by a context below it. */
bool pawl__has_queued_below(const struct pawl_context *ancestor);
/* Takes back what is queued for `node` under `owner`, with its callbacks. */
void pawl__withdraw(struct pawl_context *owner, const struct pawl_node *node);

struct pawl_outcomes {
    const struct pawl_str *names;
    uint32_t count;
};

/* NULL: the default outcomes, which follow connections from "Done" and from no port. */
PAWL_MUST_CHECK int pawl__complete(struct pawl_context *context,
                                   const struct pawl_outcomes *outcomes);
/* With exactly one outcome. */
PAWL_MUST_CHECK int pawl__complete_with(struct pawl_context *context, const char *outcome);

/* What a completion callback learns. */
struct pawl_completion {
    struct pawl_context *child;
    const struct pawl_outcomes *outcomes; /* NULL: default */
    struct pawl_value tag;
};

/* Whether connections from `port` ("" none) are followed by these outcomes (NULL: default). */
bool pawl__outcomes_have(const struct pawl_outcomes *outcomes, struct pawl_str port);

/* Cancels a context and everything below it, withdrawing queued work. */
PAWL_MUST_CHECK int pawl__cancel(struct pawl_context *context);

/*
 * The child of `context` behind `after` (NULL: the first), oldest first; NULL at the end. Live ones
 * and ended ones still in memory. Children may be cancelled meanwhile.
 */
struct pawl_context *pawl__next_child(const struct pawl_context *context,
                                      const struct pawl_context *after);

static inline bool pawl__context_ended(const struct pawl_context *context)
{
    return context->status == PAWL_ACTIVITY_COMPLETED || context->status == PAWL_ACTIVITY_CANCELED;
}

/* ---- signals ----------------------------------------------------------------------------- */

enum pawl_signal_kind {
    PAWL_SIGNAL_COMPLETED, /* handled by the engine: completion callbacks */
    PAWL_SIGNAL_CANCEL,
    PAWL_SIGNAL_BREAK,
    PAWL_SIGNAL_COMPLETE_COMPOSITE,
    PAWL_SIGNAL_FAULT,
    PAWL_SIGNAL_SCHEDULE_CHILD, /* an operator's; to the parent alone, which stops it if it did */
};

struct pawl_signal {
    enum pawl_signal_kind kind;
    struct pawl_context *sender;
    const struct pawl_outcomes *outcomes; /* COMPLETED, COMPLETE_COMPOSITE */
    const struct pawl_node *child;        /* SCHEDULE_CHILD: whom */
    struct pawl_context *existing;        /* SCHEDULE_CHILD: again in this context; NULL: anew */
    bool stop;                            /* set by a receiver: go no further */
};

/* Delivers to `context` itself, then to each ancestor. */
PAWL_MUST_CHECK int pawl__signal_send(struct pawl_context *context, struct pawl_signal *signal);

/* The CompleteComposite signal that a composite remembers for the one above it. NULL: default. */
void pawl__composite_signal_set(struct pawl_context *context, const struct pawl_outcomes *outcomes);
/* false when none is remembered. Forgets it. */
bool pawl__composite_signal_take(struct pawl_context *context,
                                 const struct pawl_outcomes **outcomes);

/* ---- bookmarks --------------------------------------------------------------------------- */

/* Of an activity that runs in the background: its job resumes it, and nobody else. */
#define PAWL_BOOKMARK_BACKGROUND "BackgroundActivity"

struct pawl_bookmark {
    struct pawl_str id;
    struct pawl_str name;
    struct pawl_str hash;
    struct pawl_json payload; /* as stored */
    struct pawl_str activity_id;
    struct pawl_str activity_node_id;
    struct pawl_str activity_instance_id;
    int64_t created_at;
    bool auto_burn;
    bool auto_complete;
    struct pawl_str callback; /* method name, "" none */
    struct pawl_json metadata;

    /* The engine's own. NULL: of an activity that is not there any more. */
    const struct pawl_node *node;
    struct pawl_context *context;
};

struct pawl_bookmark_args {
    const char *name; /* NULL: the activity's type */
    struct pawl_json payload;
    const char *callback; /* NULL: none */
    bool keep;            /* not burnt when resumed */
    bool no_auto_complete;
    struct pawl_json metadata;
};

/* Makes the context wait. *out (NULL allowed) is valid until the next bookmark is made. */
PAWL_MUST_CHECK int pawl__bookmark_create(struct pawl_context *context,
                                          const struct pawl_bookmark_args *args,
                                          struct pawl_bookmark **out);
/* Whether this execution began because a trigger of this activity started the instance. */
bool pawl__is_trigger_of_run(const struct pawl_context *context);
struct pawl_str pawl__trigger_activity_id(const struct pawl_context *context); /* "" none */

/* ---- the instance ------------------------------------------------------------------------ */

struct pawl_str pawl__instance_id(const struct pawl_context *context);
struct pawl_str pawl__instance_name(const struct pawl_context *context);
struct pawl_str pawl__correlation_id(const struct pawl_context *context);
/* Bytes of a correlation id: it is looked for by, and an index entry of PostgreSQL takes no more
 * than a few thousand. */
#define PAWL_CORRELATION_ID_MAX 1000u
/* A longer one is raised as an exception. */
PAWL_MUST_CHECK int pawl__correlation_set(struct pawl_context *context, struct pawl_str id);
/* ptr NULL takes the name away; "" is one. */
PAWL_MUST_CHECK int pawl__instance_name_set(struct pawl_context *context, struct pawl_str name);
/* An input of this run (start or resume), by exact name; NULL. Stored form. */
struct pawl_json *pawl__run_input(const struct pawl_context *context, const char *name);
/*
 * The value of such an input, which comes from outside: what is not in stored form, or of a type
 * that nobody knows, is taken as plain JSON.
 */
PAWL_MUST_CHECK int pawl__run_value(struct pawl_context *context, const struct pawl_json *stored,
                                    struct pawl_value *out);
/* All of them. */
const struct pawl_json *pawl__run_inputs(const struct pawl_context *context);
/* A workflow property (Flowchart:ExecutionMode, ParentInstanceId, …); NULL. */
struct pawl_json *pawl__workflow_property(const struct pawl_context *context, const char *key);
/* Ends the whole instance at once, as Finish does. */
PAWL_MUST_CHECK int pawl__finish_workflow(struct pawl_context *context);
enum pawl_flow_mode pawl__flow_mode(const struct pawl_context *context);

/* ---- time, chance, memory ---------------------------------------------------------------- */

int64_t pawl__now(const struct pawl_context *context); /* ticks, UTC */
/*
 * Whether the burst must end now (pawl__burst_set_stop()). Long computations check this now
 * and then, and returns PAWL_EBUSY: the burst ends as if its step had never begun.
 */
bool pawl__context_must_stop(const struct pawl_context *context);
/* A fresh id, from the burst's seed. "" with the arena's status set when out of memory. */
struct pawl_str pawl__new_id(struct pawl_context *context);
struct pawl_str pawl__new_guid(struct pawl_context *context);
struct pawl_arena *pawl__context_arena(const struct pawl_context *context);
const struct pawl_engine *pawl__context_engine(const struct pawl_context *context);
struct pawl_conversion pawl__context_conversion(const struct pawl_context *context);

/* ---- journal, log ------------------------------------------------------------------------ */

PAWL_MUST_CHECK int pawl__journal_set(struct pawl_context *context, const char *key,
                                      struct pawl_json value);
/* An entry of the execution log; message "" none, payload NULL none. */
PAWL_MUST_CHECK int pawl__log_entry(struct pawl_context *context, const char *event,
                                    struct pawl_str message, const struct pawl_json *payload);

/* ---- effects ----------------------------------------------------------------------------- */

enum pawl_effect_kind {
    PAWL_EFFECT_CONSOLE,  /* {"text":…}; awaited: a line is read */
    PAWL_EFFECT_STIMULUS, /* PublishEvent */
    PAWL_EFFECT_CHILD,    /* dispatched; awaited: executed inline, see activities/child.c */
    PAWL_EFFECT_TASK,     /* RunTask */
    PAWL_EFFECT_HTTP,
    PAWL_EFFECT_REPLY, /* to the request of the run (base/http_message.h); never awaited */
    PAWL_EFFECT_CALL,  /* a function of the host's: {"callId", "type", "data"}; never awaited */
};

/* Something that happens outside once the commit that carries it is durable. */
PAWL_MUST_CHECK int pawl__effect(struct pawl_context *context, enum pawl_effect_kind kind,
                                 struct pawl_json data);
/*
 * The same, and the burst waits until its result is fed to the type's effect_done. Only
 * from execute, a resume callback or effect_done, and as the last thing it does.
 */
PAWL_MUST_CHECK int pawl__effect_await(struct pawl_context *context, enum pawl_effect_kind kind,
                                       struct pawl_json data);

#endif
