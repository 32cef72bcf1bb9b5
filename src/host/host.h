/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The composition root: which services a node consists of, and who decided that.
 *
 * A slot is a place for one service, known by its key. Features fill slots, replace what others
 * have put there, and put decorators around it; nothing is built while they do. pawl__host_start()
 * then builds what was chosen, each slot after those it depends on, and pawl__host_stop() takes it
 * down in reverse. So a feature such as "distributed" is one function that names what it changes,
 * and everything else stays as it was; `pawl config` shows the result without starting anything.
 *
 *     composing --start--> started --stop--> composing
 *                  \--(a build fails)--> composing, with what was built taken down again
 *
 * A host is used by one thread until it is started; then any thread may call pawl__host_get().
 */
#ifndef PAWL_HOST_HOST_H
#define PAWL_HOST_HOST_H

#include "host/configuration.h"
#include "host/memo.h"
#include "host/passwords.h"

#include <pawl/ext/env.h>
#include <pawl/ext/log.h>

/* X(NAME, key, mask of the slots it is built after, what it is) */
#define PAWL_SLOT_LIST(X)                                                                          \
    X(ENV, "environment", 0, "clocks, randomness, threads and waits")                              \
    X(STORE, "store", PAWL_SLOT_BIT(ENV), "where instances are kept")                              \
    X(ENGINE, "engine", PAWL_SLOT_BIT(ENV), "the available activities and expressions")            \
    X(LOCK_PROVIDER, "lock-provider", PAWL_SLOT_BIT(ENV) | PAWL_SLOT_BIT(STORE),                   \
      "the service that provides locks")                                                           \
    X(LOCK, "lock", PAWL_SLOT_BIT(ENV) | PAWL_SLOT_BIT(LOCK_PROVIDER), "locks across nodes")       \
    X(HTTP, "effect.http", PAWL_SLOT_BIT(ENV), "requests that workflows send")                     \
    X(RUNTIME, "runtime",                                                                          \
      PAWL_SLOT_BIT(STORE) | PAWL_SLOT_BIT(ENGINE) | PAWL_SLOT_BIT(LOCK) | PAWL_SLOT_BIT(HTTP),    \
      "runs instances")                                                                            \
    X(QUEUE_WORKER, "queue-worker", PAWL_SLOT_BIT(RUNTIME) | PAWL_SLOT_BIT(LOCK),                  \
      "delivers what waits in the bookmark queue")                                                 \
    X(REFRESHER, "definitions-refresher", PAWL_SLOT_BIT(RUNTIME) | PAWL_SLOT_BIT(LOCK),            \
      "indexes the triggers of definitions")                                                       \
    X(RELOADER, "definitions-reloader", PAWL_SLOT_BIT(RUNTIME) | PAWL_SLOT_BIT(LOCK),              \
      "reads definitions from their providers")

enum pawl_slot {
#define PAWL_SLOT_ENUM(id, key, after, text) PAWL_SLOT_##id,
    PAWL_SLOT_LIST(PAWL_SLOT_ENUM)
#undef PAWL_SLOT_ENUM
        PAWL_SLOT_COUNT
};
#define PAWL_SLOT_BIT(id) (1u << (unsigned)PAWL_SLOT_##id)

/* Around one service; more than a handful is a mistake. */
#define PAWL_DECORATORS_MAX 8
#define PAWL_FEATURES_MAX 32

struct pawl_host;
struct pawl_activity_type;
struct pawl_json;
struct pawl_engine;
struct pawl_http_executor;
struct pawl_lock_provider;
struct pawl_locks;
struct pawl_meter;
struct pawl_tracer;
struct pawl_queue_worker;
struct pawl_refresher;
struct pawl_reloader;
struct pawl_store;
struct pawl_workflow_runtime;

/* Makes a service. Borrowed, with what it points to, for the life of the host. */
struct pawl_service_factory {
    const char *name;
    /* May use the services of the slots that this one is built after. */
    int (*build)(struct pawl_host *host, void *ctx, void **service, struct pawl_error *err);
    void (*destroy)(void *ctx, void *service); /* NULL: nothing to do */
    void *ctx;
};

/* Puts a service around another of the same kind. Borrowed likewise. */
struct pawl_service_decorator {
    const char *name;
    /* Takes `inner` on success, and then destroys it with itself. */
    int (*wrap)(struct pawl_host *host, void *ctx, void *inner, void **outer,
                struct pawl_error *err);
    void (*destroy)(void *ctx, void *outer);
    void *ctx;
};

/* A named function that fills, replaces and decorates. */
struct pawl_feature {
    const char *name;
    int (*apply)(struct pawl_host *host, struct pawl_error *err);
};

/* What an activity did, as the log of its instance has it. Borrowed for the call. */
struct pawl_trace {
    struct pawl_str instance_id, definition_id;
    struct pawl_str activity_id, activity_type;
    struct pawl_str event, message;
};

/*
 * What a host gets from its caller, a command or an embedding program. Copied; borrows what it
 * points to for the life of the host.
 */
struct pawl_surroundings {
    const struct pawl_log *log; /* NULL: none */
    /* Where lines of workflows go, as in struct pawl_runtime_hooks; NULL: nowhere. This and what
     * follows is called with `ctx`. */
    int (*line)(void *ctx, struct pawl_str instance_id, struct pawl_str text);
    /* As in struct pawl_runtime_hooks; NULL: nobody does them here. */
    void (*task)(void *ctx, struct pawl_str instance_id, const struct pawl_json *task);
    /* Each record of a log, before its commit; work that failed; polled between activities: as in
     * struct pawl_runtime_hooks. */
    void (*step)(void *ctx, const struct pawl_trace *step);
    void (*failed)(void *ctx, struct pawl_str instance_id, const struct pawl_error *why);
    bool (*stop)(void *ctx);
    /* Adds to the engine what the program brings, after all that is built in; NULL: nothing. */
    int (*extend)(void *ctx, struct pawl_engine *engine, struct pawl_error *err);
    /* The node has ended for good (struct pawl_runtime_hooks); NULL: not reported. */
    void (*ended)(void *ctx);
    void *ctx;
    /* Types of activities that the program brings, and whose calls it performs. */
    const struct pawl_activity_type *activities;
    size_t activity_count;
    /* Whose time requests to other machines take; NULL: the host's own environment. */
    struct pawl_env *outside;
    /* A node for the time of a command: it gets a name of its own, not the configured one. */
    bool transient;
    /* Whoever sends something does the work that is due, right after. */
    bool works_itself;
    /* Reads the store and is no node of it (struct pawl_runtime_options). */
    bool looks_only;
    /* What it does is measured (meter.h); and traced, where a collector is named (tracer.h). */
    bool measures, traces;
    /* Nothing outlives the process: no journal is kept, no lease ends, and a definition that does
     * not validate is run as far as it goes. */
    bool ephemeral;
};

/* Borrows both for its life. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__host_new(struct pawl_env *env,
                                   const struct pawl_configuration *configuration,
                                   struct pawl_host **out, struct pawl_error *err);
/* Stops it first. NULL allowed. */
void pawl__host_free(struct pawl_host *host);

struct pawl_env *pawl__host_env(struct pawl_host *host);
const struct pawl_configuration *pawl__host_configuration(struct pawl_host *host);
/* Before the start. Nothing is around a host until this says so. */
void pawl__host_set_surroundings(struct pawl_host *host,
                                 const struct pawl_surroundings *surroundings);
const struct pawl_surroundings *pawl__host_surroundings(struct pawl_host *host);
/* What was counted of its store last (operations/statistics.h); any thread. */
struct pawl_memo *pawl__host_counts(struct pawl_host *host);
/* NULL: nothing is measured. */
struct pawl_meter *pawl__host_meter(struct pawl_host *host);
/* NULL: nothing is traced. */
struct pawl_tracer *pawl__host_tracer(struct pawl_host *host);
struct pawl_tracer **pawl__host_tracer_place(struct pawl_host *host); /* for feature_trace.c */
/* Any thread. */
struct pawl_passwords *pawl__host_passwords(struct pawl_host *host);

/* ---- composing --------------------------------------------------------------------------- */

/*
 * Applies a feature; what it does to slots is noted under its name. When it fails, the slots are as
 * they were. PAWL_EEXISTS: applied already. Borrowed for the life of the host.
 */
PAWL_MUST_CHECK int pawl__host_use(struct pawl_host *host, const struct pawl_feature *feature,
                                   struct pawl_error *err);

/* For an empty slot. PAWL_EEXISTS names who filled it; PAWL_ECONFLICT: started already. */
PAWL_MUST_CHECK int pawl__host_fill(struct pawl_host *host, enum pawl_slot slot,
                                    const struct pawl_service_factory *factory,
                                    struct pawl_error *err);
/* For a filled one; decorators stay. PAWL_ENOTFOUND: it is empty; PAWL_ECONFLICT. */
PAWL_MUST_CHECK int pawl__host_replace(struct pawl_host *host, enum pawl_slot slot,
                                       const struct pawl_service_factory *factory,
                                       struct pawl_error *err);
/*
 * The last one added is the outermost. The slot may still be empty: it must be filled by the start.
 * PAWL_ELIMIT; PAWL_ECONFLICT.
 */
PAWL_MUST_CHECK int pawl__host_decorate(struct pawl_host *host, enum pawl_slot slot,
                                        const struct pawl_service_decorator *decorator,
                                        struct pawl_error *err);

/* ---- running ----------------------------------------------------------------------------- */

/*
 * Builds all that is filled. On failure nothing stays built; the message has the slot and the
 * service. PAWL_ENOTFOUND: a slot has decorators but no service. PAWL_ECONFLICT: started already.
 */
PAWL_MUST_CHECK int pawl__host_start(struct pawl_host *host, struct pawl_error *err);
/* Nothing when it is not started. */
void pawl__host_stop(struct pawl_host *host);

/*
 * The outermost service of a slot; NULL: empty, or not built yet. Borrowed until the stop. Use the
 * typed form below if the slot is known.
 */
void *pawl__host_get(struct pawl_host *host, enum pawl_slot slot);

/* X(what it is called, type of the service, slot): the slots that others use. */
#define PAWL_SERVICE_LIST(X)                                                                       \
    X(store, struct pawl_store, STORE)                                                             \
    X(engine, struct pawl_engine, ENGINE)                                                          \
    X(lock_provider, struct pawl_lock_provider, LOCK_PROVIDER)                                     \
    X(locks, struct pawl_locks, LOCK)                                                              \
    X(http, struct pawl_http_executor, HTTP)                                                       \
    X(runtime, struct pawl_workflow_runtime, RUNTIME)                                              \
    X(queue_worker, struct pawl_queue_worker, QUEUE_WORKER)                                        \
    X(refresher, struct pawl_refresher, REFRESHER)                                                 \
    X(reloader, struct pawl_reloader, RELOADER)

/* struct pawl_store *pawl__host_store(struct pawl_host *host), and so on. */
#define PAWL_SERVICE_ACCESSOR(name, type, slot)                                                    \
    static inline type *pawl__host_##name(struct pawl_host *host)                                  \
    {                                                                                              \
        return (type *)pawl__host_get(host, PAWL_SLOT_##slot);                                     \
    }
PAWL_SERVICE_LIST(PAWL_SERVICE_ACCESSOR)
#undef PAWL_SERVICE_ACCESSOR

/* ---- looking ----------------------------------------------------------------------------- */

const char *pawl__slot_key(enum pawl_slot slot);
const char *pawl__slot_text(enum pawl_slot slot);

struct pawl_slot_part {
    const char *name;    /* of the factory or decorator; NULL: empty */
    const char *feature; /* who put it there; "-": no feature */
};

/* The composition of a slot, as `pawl config` shows it. */
struct pawl_slot_view {
    struct pawl_slot_part service;
    struct pawl_slot_part replaced; /* what was there before; name NULL: nothing */
    struct pawl_slot_part decorators[PAWL_DECORATORS_MAX]; /* the innermost first */
    size_t decorator_count;
};

void pawl__host_view(const struct pawl_host *host, enum pawl_slot slot, struct pawl_slot_view *out);

#endif
