/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the memory driver share; see memory.h. */
#ifndef PAWL_RUNTIME_MEMORY_PRIVATE_H
#define PAWL_RUNTIME_MEMORY_PRIVATE_H

#include "runtime/memory.h"

/* Of all that one memory keeps, of one state and of one piece of work: far above what fits. */
#define MEMORY_BYTES_MAX ((size_t)1 << 30)

enum memory_work_kind {
    MEMORY_START,
    MEMORY_RESUME,
    MEMORY_CANCEL,
    MEMORY_STIMULUS,
};

/* Something to do. Everything it points to but definitions and instances is in its arena. */
struct pawl_memory_work {
    struct pawl_list_link link;
    enum memory_work_kind kind;
    struct pawl_arena arena;
    struct pawl_memory_start start;        /* START */
    struct pawl_memory_instance *instance; /* RESUME, CANCEL */
    struct pawl_str bookmark_id;           /* RESUME */
    struct pawl_json input;                /* RESUME */
    bool only_if_there;                    /* RESUME: no empty burst */
    bool with_children;                    /* CANCEL */
    struct pawl_memory_stimulus stimulus;  /* STIMULUS */
    int64_t expires;                       /* STIMULUS: parked until then */
};

/* A burst in progress. */
struct pawl_memory_run {
    struct pawl_memory_run *below; /* waits for this one's end */
    struct pawl_memory_instance *instance;
    struct pawl_burst *burst;
};

static inline int memory_status(const struct pawl_arena *arena)
{
    return arena->status != PAWL_OK ? arena->status : PAWL_ENOMEM;
}

static inline struct pawl_str memory_text(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

int64_t pawl__memory_time(const struct pawl_memory *memory);
uint64_t pawl__memory_seed(struct pawl_memory *memory);
/* A fresh id in the memory's arena; ptr NULL: out of memory. */
struct pawl_str pawl__memory_new_id(struct pawl_memory *memory);

/* memory.c */

/* Opens a burst on top of the others. `instance` must not be final. */
PAWL_MUST_CHECK int pawl__memory_begin(struct pawl_memory *memory,
                                       struct pawl_memory_instance *instance,
                                       struct pawl_event *event, struct pawl_error *err);
PAWL_MUST_CHECK int pawl__memory_new_instance(struct pawl_memory *memory,
                                              const struct pawl_memory_start *start,
                                              struct pawl_memory_instance **out,
                                              struct pawl_error *err);
void pawl__memory_free_instance(struct pawl_memory *memory, struct pawl_memory_instance *instance);
/* Does all work there is. On failure bursts and queued work are dropped. */
PAWL_MUST_CHECK int pawl__memory_drain(struct pawl_memory *memory, struct pawl_error *err);

/* memory_work.c */

/* An empty piece of work, not queued yet; NULL: out of memory. */
struct pawl_memory_work *pawl__memory_work_new(struct pawl_memory *memory,
                                               enum memory_work_kind kind);
void pawl__memory_work_free(struct pawl_memory *memory, struct pawl_memory_work *work);
/* Opens the first burst of a new instance. */
PAWL_MUST_CHECK int pawl__memory_begin_start(struct pawl_memory *memory,
                                             struct pawl_memory_instance *instance,
                                             const struct pawl_memory_start *start,
                                             struct pawl_error *err);
/* Begins the next piece of work. *any is false when there is none. */
PAWL_MUST_CHECK int pawl__memory_work_next(struct pawl_memory *memory, bool *any,
                                           struct pawl_error *err);

/* Queue something; what they are given is copied. PAWL_ENOMEM, PAWL_ELIMIT. */
PAWL_MUST_CHECK int pawl__memory_push_start(struct pawl_memory *memory,
                                            const struct pawl_memory_start *start);
/* `input` NULL: none. `only_if_there`: a bookmark that is gone by then runs no empty burst. */
PAWL_MUST_CHECK int pawl__memory_push_resume(struct pawl_memory *memory,
                                             struct pawl_memory_instance *instance,
                                             struct pawl_str bookmark_id,
                                             const struct pawl_json *input, bool only_if_there);
PAWL_MUST_CHECK int pawl__memory_push_stimulus(struct pawl_memory *memory,
                                               const struct pawl_memory_stimulus *stimulus);

/* memory_effects.c */

/* Performs, or queues, what a step's batch asks for; the awaited effect is left to the caller. */
PAWL_MUST_CHECK int pawl__memory_perform(struct pawl_memory *memory,
                                         const struct pawl_memory_run *run,
                                         const struct pawl_batch *batch, struct pawl_error *err);
/* Queues the stimulus of an event, given as the data of PublishEvent's effect. */
PAWL_MUST_CHECK int pawl__memory_push_event(struct pawl_memory *memory,
                                            const struct pawl_json *event);
/* The start that a child effect asks for; borrows from `data`. false: nothing is published. */
bool pawl__memory_child_start(const struct pawl_memory *memory, const struct pawl_json *data,
                              struct pawl_memory_start *out);
/* What the parent of a child that was executed inline is fed. */
PAWL_MUST_CHECK int pawl__memory_child_result(const struct pawl_memory_instance *child,
                                              struct pawl_arena *arena, struct pawl_json *out);
/* A child has ended: queues the resumption of a parent that waits for it. */
PAWL_MUST_CHECK int pawl__memory_notify_parent(struct pawl_memory *memory,
                                               const struct pawl_memory_instance *child);

/* memory_timers.c */

/* When a trigger fires first, indexed at `now`; INT64_MAX: not by time. */
int64_t pawl__memory_trigger_due(const struct pawl_trigger *trigger, int64_t now);

/* memory_definitions.c */
void pawl__memory_release_definitions(struct pawl_memory *memory);

#endif
