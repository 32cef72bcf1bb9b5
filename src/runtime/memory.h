/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver without durability: definitions, instances and pending work in memory, for `pawl run`
 * and for tests. It does everything that the engine leaves to its driver, in one thread: it starts,
 * resumes and cancels instances, stores their state after every step, delivers stimuli, runs
 * children and fires timers when it is told what time it is.
 *
 * Work is done in the order in which it came, one burst at a time. What a burst asks for (events,
 * dispatched children, the resumption of a parent) is queued and done when the burst is over; only
 * a child that is executed inline runs in between, on a stack of parked bursts that is no stack of
 * C calls. Every call below returns when nothing is left to do at the present time.
 *
 * State goes through its stored text after every step, also while `reopen` is off.
 *
 *     memory.c              instances: stepping bursts, storing, logs
 *     memory_work.c         the queue: starts, resumptions, stimuli, effects, timers
 *     memory_definitions.c  versions, publishing, triggers
 */
#ifndef PAWL_RUNTIME_MEMORY_H
#define PAWL_RUNTIME_MEMORY_H

#include "base/list.h"
#include "engine/burst.h"
#include "engine/catalog.h"
#include "engine/trigger.h"

/* How long a stimulus that matches nothing waits for a bookmark: ten minutes, in ticks. */
#define PAWL_MEMORY_STIMULUS_TICKS (INT64_C(600) * 10000000)

struct pawl_memory_run;
struct pawl_memory_work;

/* One trigger of a published version, and when it is due if it is one of time. */
struct pawl_memory_trigger {
    struct pawl_trigger trigger;
    int64_t due; /* ticks; INT64_MAX: not by time */
};

/* One version of a definition. */
struct pawl_memory_definition {
    struct pawl_list_link link;
    struct pawl_json json; /* the definition; the members below are kept in step in it */
    struct pawl_str definition_id;
    struct pawl_str version_id;
    int64_t version;
    bool is_latest;
    bool is_published;
    struct pawl_graph *graph; /* NULL: not loaded since the last change of any definition */
    struct pawl_memory_trigger *triggers;
    uint32_t trigger_count;
};

struct pawl_memory_instance {
    struct pawl_list_link link;
    struct pawl_str id;
    struct pawl_memory_definition *definition;
    struct pawl_arena arena; /* of the state */
    struct pawl_json state;  /* as last stored; null before the first step is */
    bool is_final;
    struct pawl_json kept;      /* of the Memory driver, until the request ends */
    struct pawl_json log;       /* array of log records, when kept */
    struct pawl_json records;   /* array of activity records, when kept; newest form of each */
    struct pawl_map record_ids; /* -> index + 1 */
};

struct pawl_memory_hooks {
    /* A line of WriteLine. */
    void (*line)(void *ctx, struct pawl_str text);
    void (*logged)(void *ctx, const struct pawl_memory_instance *instance,
                   const struct pawl_log_record *record);
    /* A task that somebody outside has to do. */
    void (*task)(void *ctx, const struct pawl_memory_instance *instance,
                 const struct pawl_json *task);
    /* The present time in ticks. NULL: `now` as the caller set it. */
    int64_t (*now)(void *ctx);
    /* Polled between activities: true cancels what is running. */
    bool (*stop)(void *ctx);
    void *ctx;
};

struct pawl_memory {
    const struct pawl_allocator *alloc;
    const struct pawl_engine *engine;
    struct pawl_memory_hooks hooks; /* each may be NULL; set after init */
    bool keep;                      /* keeps lines, log and activity records */
    bool reopen;                    /* closes and reopens every burst after every step */
    bool refuse_invalid;            /* what does not validate is not published; true at first */
    int64_t now;                    /* ticks; the caller moves it on */
    uint64_t seed;

    struct pawl_arena arena;      /* what lives as long as this */
    struct pawl_list definitions; /* in the order of import */
    struct pawl_catalog catalog;  /* of those usable as activities; see catalog_arena */
    struct pawl_arena catalog_arena;
    bool catalog_valid;
    struct pawl_list instances; /* in the order of creation */
    struct pawl_json lines;     /* array of texts, when kept */

    struct pawl_list queue;  /* struct pawl_memory_work */
    struct pawl_list parked; /* stimuli that matched nothing yet */
    bool in_request;
    struct pawl_arena request;   /* what lives as long as one */
    bool new_bookmarks;          /* since parked stimuli were last looked at */
    struct pawl_memory_run *top; /* the burst that runs; below it those that wait for it */
};

/* Borrows engine and allocator. Nothing fails until something is asked for. */
void pawl__memory_init(struct pawl_memory *memory, const struct pawl_engine *engine,
                       const struct pawl_allocator *alloc, uint64_t seed);
void pawl__memory_release(struct pawl_memory *memory);

/* ---- definitions ------------------------------------------------------------------------- */

/* What publishing said. */
struct pawl_memory_publication {
    bool succeeded;
    struct pawl_problems problems; /* all; those of level INVALID are the validation errors */
};

/*
 * Imports a definition (copied) as the draft of its id, as the reference's importer does: a new
 * one becomes version 1, a draft that is there is replaced, a published one gets a new version.
 * *out (NULL allowed) is the version.
 */
PAWL_MUST_CHECK int pawl__memory_import(struct pawl_memory *memory,
                                        const struct pawl_json *definition,
                                        struct pawl_memory_definition **out,
                                        struct pawl_error *err);
/* Loads it as the provider of a folder does: version and flags are those of the file. */
PAWL_MUST_CHECK int pawl__memory_provide(struct pawl_memory *memory,
                                         const struct pawl_json *definition,
                                         struct pawl_memory_definition **out,
                                         struct pawl_error *err);
/*
 * Publishes a version: validates, makes it the only published one, indexes its triggers, and
 * brings those that use it as an activity up to date when it asks for that. `said` NULL allowed;
 * its problems live in the memory's arena.
 */
PAWL_MUST_CHECK int pawl__memory_publish(struct pawl_memory *memory,
                                         struct pawl_memory_definition *definition,
                                         struct pawl_memory_publication *said,
                                         struct pawl_error *err);
/* A draft of the published version, or the draft that is there. */
PAWL_MUST_CHECK int pawl__memory_draft(struct pawl_memory *memory, struct pawl_str definition_id,
                                       struct pawl_memory_definition **out, struct pawl_error *err);
/* All its versions with their instances. */
void pawl__memory_delete_definition(struct pawl_memory *memory, struct pawl_str definition_id);
/* Works out the triggers of a version anew: none when it is not published. */
PAWL_MUST_CHECK int pawl__memory_index_triggers(struct pawl_memory *memory,
                                                struct pawl_memory_definition *definition,
                                                struct pawl_error *err);

enum pawl_memory_pick {
    PAWL_MEMORY_PUBLISHED,
    PAWL_MEMORY_LATEST,
};
/* NULL when there is none. `version` 0: the one that `pick` means. */
struct pawl_memory_definition *pawl__memory_definition(const struct pawl_memory *memory,
                                                       struct pawl_str definition_id,
                                                       enum pawl_memory_pick pick, int64_t version);
struct pawl_memory_definition *pawl__memory_version(const struct pawl_memory *memory,
                                                    struct pawl_str version_id);
/* Borrows the graph of a version, loading it when needed. `problems` NULL allowed. */
PAWL_MUST_CHECK int pawl__memory_graph(struct pawl_memory *memory,
                                       struct pawl_memory_definition *definition,
                                       struct pawl_problems *problems, struct pawl_graph **out,
                                       struct pawl_error *err);

/* ---- instances --------------------------------------------------------------------------- */

/* Texts "" and values null when not given. Borrowed for the call. */
struct pawl_memory_start {
    struct pawl_memory_definition *definition;
    struct pawl_str instance_id; /* "": a new one */
    struct pawl_str correlation_id;
    struct pawl_str name;
    struct pawl_str parent_instance_id;
    struct pawl_str trigger_activity_id;
    struct pawl_json input;
    struct pawl_json properties;
};

/*
 * Each of these does all work there is before it returns. What an instance does wrong is in its
 * state; an error means that the driver could not go on: PAWL_EPARSE (a definition or a state that
 * cannot be read), PAWL_ELIMIT, PAWL_ENOMEM. Bursts in progress are dropped then; what was stored
 * stands.
 */
PAWL_MUST_CHECK int pawl__memory_start(struct pawl_memory *memory,
                                       const struct pawl_memory_start *start,
                                       struct pawl_memory_instance **out, struct pawl_error *err);
/*
 * Takes over an instance that was exported (copied): its state, and with `keep` its log and records
 * go on here. Starts nothing; timers that are due fire with the next pawl__memory_run_due().
 * PAWL_ENOTFOUND: the version of its definition is not here. PAWL_EPARSE.
 */
PAWL_MUST_CHECK int pawl__memory_take_over(struct pawl_memory *memory,
                                           const struct pawl_json *exported,
                                           struct pawl_memory_instance **out,
                                           struct pawl_error *err);
/*
 * What is done between these two is one request: variables of the Memory driver keep their values
 * from one burst of an instance to its next, and have their defaults again in the next request.
 * Outside of them each burst is a request of its own.
 */
void pawl__memory_request_begin(struct pawl_memory *memory);
void pawl__memory_request_end(struct pawl_memory *memory);
/* A bookmark that is not there runs an empty burst; a final instance is left as it is. */
PAWL_MUST_CHECK int pawl__memory_resume(struct pawl_memory *memory,
                                        struct pawl_memory_instance *instance,
                                        struct pawl_str bookmark_id, const struct pawl_json *input,
                                        struct pawl_error *err);
/* With the children it has, or alone. A final instance is left as it is. */
PAWL_MUST_CHECK int pawl__memory_cancel(struct pawl_memory *memory,
                                        struct pawl_memory_instance *instance, bool with_children,
                                        struct pawl_error *err);

/* Texts "" when not given. Borrowed for the call. */
struct pawl_memory_stimulus {
    struct pawl_str hash;
    struct pawl_str correlation_id; /* only instances with it; new ones get it */
    struct pawl_str instance_id;    /* only this instance: starts nothing */
    struct pawl_json input;
};
/* Starts what it triggers and resumes what waits for it; else it waits itself. */
PAWL_MUST_CHECK int pawl__memory_send(struct pawl_memory *memory,
                                      const struct pawl_memory_stimulus *stimulus,
                                      struct pawl_error *err);
/* The stimulus of an event. `payload` NULL: none. */
PAWL_MUST_CHECK int pawl__memory_send_event(struct pawl_memory *memory, struct pawl_str event_name,
                                            struct pawl_str correlation_id,
                                            const struct pawl_json *payload,
                                            struct pawl_error *err);

/* When the next timer of an instance or of a trigger is due; false when there is none. */
bool pawl__memory_next_due(const struct pawl_memory *memory, int64_t *due);
/* Fires what is due at memory->now. */
PAWL_MUST_CHECK int pawl__memory_run_due(struct pawl_memory *memory, struct pawl_error *err);

struct pawl_memory_instance *pawl__memory_instance(const struct pawl_memory *memory,
                                                   struct pawl_str id);
/* When a bookmark is due by time; INT64_MAX: it waits for something else. */
int64_t pawl__memory_bookmark_due(const struct pawl_json *bookmark);

#define PAWL_MEMORY_FOR_EACH_INSTANCE(instance, memory)                                            \
    PAWL_LIST_FOR_EACH (instance, &(memory)->instances, link)

#endif
