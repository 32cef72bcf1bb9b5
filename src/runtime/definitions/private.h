/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about definitions share; see definitions.h. */
#ifndef PAWL_RUNTIME_DEFINITIONS_PRIVATE_H
#define PAWL_RUNTIME_DEFINITIONS_PRIVATE_H

#include "base/error.h"
#include "base/id.h"
#include "engine/load/catalog.h"
#include "engine/run/trigger.h"
#include "runtime/audit.h"
#include "runtime/definitions/definitions.h"

#include <stdatomic.h>

/* What one call reads and computes, and one catalog: far above what fits a definition. */
#define DEFINITIONS_BYTES_MAX ((size_t)1 << 30)
#define DEFINITION_BYTES_MAX PAWL_DEFINITION_BYTES_MAX

/* A graph in the cache. Its strings are the graph's own. */
struct definition_graph {
    struct pawl_graph *graph; /* one reference */
    int64_t revision;
    bool is_latest;
    bool is_published;
    bool asked;        /* for other definitions while it was loaded */
    uint64_t used;     /* use_count when it was last asked for */
    uint64_t compared; /* compare_count of the last comparison that found it unchanged */
};

/* The definitions that can be used as activities, as of a stamp or newer. */
struct definition_catalog {
    struct pawl_arena arena;
    struct pawl_catalog catalog;
    int64_t stamp;
    _Atomic uint32_t references; /* the cache's own is taken and given up under the lock */
};

struct pawl_definitions {
    struct pawl_env *env;
    const struct pawl_engine *engine;
    struct pawl_store *store;
    struct pawl_definitions_options options; /* no zeros */

    /* Guards all below. Not held while the store is asked or a graph is loaded. */
    struct pawl_mutex *lock;
    struct pawl_id_source ids;
    struct pawl_map graphs;             /* version id -> struct definition_graph */
    struct pawl_map published;          /* definition id -> the one of these that is published */
    struct pawl_map triggers;           /* hash -> struct known_trigger (known_triggers.c) */
    struct definition_catalog *catalog; /* NULL: none loaded */
    int64_t stamp;                      /* what is cached is not older than this */
    int64_t seen_ns;                    /* when that was so; INT64_MIN: look first */
    uint64_t change_count;              /* commits tried through this object */
    uint64_t compare_count;
    uint64_t use_count;
    uint64_t cache_counts[2]; /* lookups that missed and that hit */
};

/* PAWL_ESTOPPED: not held. */
PAWL_MUST_CHECK static inline int pawl__definitions_lock(struct pawl_definitions *definitions,
                                                         struct pawl_error *err)
{
    int status = pawl_mutex_lock(definitions->env, definitions->lock);

    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

static inline void pawl__definitions_unlock(struct pawl_definitions *definitions)
{
    pawl_mutex_unlock(definitions->env, definitions->lock);
}

/* ---- rows (rows.c) ------------------------------------------------------------------------ */

/* A call of the store: where its results go, and its deadline. */
struct definition_call {
    struct pawl_definitions *definitions;
    struct pawl_arena *arena;
    int64_t deadline_ns;
    struct pawl_error *err;
    /* Looked at before the store's own when a graph is loaded; NULL: none. */
    const struct pawl_workflow_resolver *beside;
};

struct pawl_condition pawl__where_text(enum pawl_table table, const char *column,
                                       struct pawl_str value);
struct pawl_condition pawl__where_int(enum pawl_table table, const char *column,
                                      enum pawl_compare compare, int64_t value);

/* Of a call that only looks: a lost answer is PAWL_EUNAVAILABLE, since nothing can have changed. */
PAWL_MUST_CHECK int pawl__definition_looked(const struct definition_call *call, int status);
/* As the store's find(); a lost answer as above. */
PAWL_MUST_CHECK int pawl__definition_query(const struct definition_call *call,
                                           const struct pawl_query *query, struct pawl_rows *out);
/* The value of the stamp; 0 when there is none yet. */
PAWL_MUST_CHECK int pawl__definition_stamp(const struct definition_call *call, int64_t *out);
/* The first row that matches, the highest version first. *out NULL: none does. */
PAWL_MUST_CHECK int pawl__definition_first(const struct definition_call *call,
                                           const struct pawl_condition *conditions, size_t count,
                                           const struct pawl_definition_row **out);
/* One version by its id; *out NULL: there is none. */
PAWL_MUST_CHECK int pawl__definition_by_id(const struct definition_call *call,
                                           struct pawl_str version_id,
                                           const struct pawl_definition_row **out);
/* The published version of a definition; *out NULL: there is none. */
PAWL_MUST_CHECK int pawl__definition_published(const struct definition_call *call,
                                               struct pawl_str definition_id,
                                               const struct pawl_definition_row **out);

/* A row's JSON, with id, version and flags as the row has them; all of it in call->arena. */
PAWL_MUST_CHECK int pawl__definition_read(const struct definition_call *call,
                                          const struct pawl_definition_row *row,
                                          struct pawl_json *out);
/* Brings `json` in step with the row, and the row's data and all that is taken from it with
 * `json`. */
PAWL_MUST_CHECK int pawl__definition_write(const struct definition_call *call,
                                           struct pawl_json *json, struct pawl_definition_row *row);
/* Writes a member under the spelling that is there, so that there is one of it. */
PAWL_MUST_CHECK int pawl__definition_put(struct pawl_arena *arena, struct pawl_json *object,
                                         const char *name, struct pawl_json value);
/* The JSON as text in call->arena. */
PAWL_MUST_CHECK int pawl__definition_text(const struct definition_call *call,
                                          const struct pawl_json *json, struct pawl_str *out);
/* A row whose data is in step with it, all of it in `arena`. */
PAWL_MUST_CHECK int pawl__definition_answer(const struct definition_call *call,
                                            const struct pawl_definition_row *row,
                                            struct pawl_arena *arena,
                                            struct pawl_definition_row *out);

/* ---- graphs (graphs.c) -------------------------------------------------------------------- */

/* With the lock held, or nobody else there. (known_triggers.c) */
void pawl__definitions_drop_triggers(struct pawl_definitions *definitions);
/* Frees what is cached; nobody else is there. */
void pawl__definitions_release_graphs(struct pawl_definitions *definitions);

/*
 * Loads a graph. Workflows used as activities are looked for in the catalog of `stamp`, which is
 * read only when there is one of unknown type. *asked (NULL allowed): that was so.
 */
PAWL_MUST_CHECK int pawl__definition_load(const struct definition_call *call, int64_t stamp,
                                          const struct pawl_json *json,
                                          struct pawl_problems *problems, bool *asked,
                                          struct pawl_graph **out);
/* Something was, or may have been, committed through this object: look at the stamp again. */
void pawl__definitions_note_change(struct pawl_definitions *definitions);

/* A new id in call->arena: a uuid for rows, a short one as the reference has for definitions. */
PAWL_MUST_CHECK int pawl__definition_new_id(const struct definition_call *call, bool uuid,
                                            struct pawl_str *out);

/* ---- changing (change.c, triggers.c) ------------------------------------------------------- */

/* One attempt at a change: what was read, and what is to be committed. */
struct definition_change {
    struct definition_call call;
    struct pawl_arena arena; /* of the attempt: call.arena */
    int64_t stamp;           /* read first */
    int64_t now_us;          /* the store's */
    struct pawl_change *items;
    uint32_t count;
    uint32_t cap;
    bool unknown;                 /* an earlier attempt may have taken effect */
    struct pawl_audit *by;        /* what records it; NULL: nothing */
    struct pawl_audit_row record; /* as the last attempt committed it */
};

/* Reads and plans. Any failure ends the change; when nothing is planned nothing is committed. */
typedef int (*definition_attempt)(struct definition_change *change, void *request);

void pawl__definition_change_open(struct definition_change *change,
                                  struct pawl_definitions *definitions, struct pawl_audit *by,
                                  int64_t deadline_ns, struct pawl_error *err);
void pawl__definition_change_close(struct definition_change *change);
/*
 * Attempts until one is committed under the guard of the stamp that it read. What the last attempt
 * read and made is in the change's arena until that is closed. PAWL_EBUSY, PAWL_EUNKNOWN.
 */
PAWL_MUST_CHECK int pawl__definition_change(struct definition_change *change,
                                            definition_attempt attempt, void *request);

/* Adds to the commit; borrows the row until it is over. */
PAWL_MUST_CHECK int pawl__definition_plan(struct definition_change *change,
                                          enum pawl_change_kind kind, enum pawl_table table,
                                          const void *row);
/* A row in the change's arena that may be changed. */
PAWL_MUST_CHECK int pawl__definition_copy(struct definition_change *change,
                                          const struct pawl_definition_row *row,
                                          struct pawl_definition_row **out);
/* The highest version of a definition; *out NULL: there is none. */
PAWL_MUST_CHECK int pawl__definition_highest(struct definition_change *change,
                                             struct pawl_str definition_id,
                                             const struct pawl_definition_row **out);
/* Takes from all other versions the flags that `row` has. *lost: one of them was published. */
PAWL_MUST_CHECK int pawl__definition_plan_others(struct definition_change *change,
                                                 const struct pawl_definition_row *row, bool *lost);
/* Saves content as the draft that follows `last`, the highest version; in place if that is one. */
PAWL_MUST_CHECK int pawl__definition_plan_draft(struct definition_change *change,
                                                const struct pawl_definition_row *last,
                                                const struct pawl_json *content,
                                                struct pawl_definition_row **out);
/* Saves content as a new version with this id, the latest, behind `last`, the highest. */
PAWL_MUST_CHECK int pawl__definition_plan_version(struct definition_change *change,
                                                  const struct pawl_definition_row *last,
                                                  struct pawl_str id,
                                                  const struct pawl_json *content,
                                                  struct pawl_definition_row **out);
/*
 * Plans that the triggers of a definition are those of `graph` and of this version, with their
 * timers; NULL: that there are none. What is as it should be is not touched.
 */
PAWL_MUST_CHECK int pawl__definition_plan_triggers(struct definition_change *change,
                                                   struct pawl_str definition_id,
                                                   struct pawl_str version_id,
                                                   struct pawl_graph *graph);

/* ---- publishing (publish.c, users.c) ------------------------------------------------------- */

/* Problems of one definition that are kept; more are only counted. */
#define DEFINITION_PROBLEMS_MAX 1000u

/* A version that was published, and what those that use it learn of it. */
struct definition_published {
    struct pawl_str definition_id;
    struct pawl_str version_id;
    int64_t version;
    bool updates; /* it asks for that */
};

/* One publishing: what it is given, and what came of it. */
struct definition_publishing {
    struct pawl_str version_id;                  /* of one that is stored already; "": the latest */
    struct pawl_str definition_id;               /* of this definition then */
    const struct pawl_workflow_resolver *beside; /* as in struct definition_call */
    struct pawl_arena *arena;                    /* of the problems and ids */
    struct pawl_publication said;
    struct pawl_str chosen_id; /* the version's that the last attempt was about, in `arena` */
    struct pawl_arena *notes;  /* of what was published */
    struct definition_published published;
};

/*
 * Loads a version as it will be once it is published. *succeeded: it may be published, and *graph
 * is the caller's.
 */
PAWL_MUST_CHECK int pawl__definition_validate(struct definition_change *change,
                                              const struct pawl_definition_row *row,
                                              struct pawl_problems *problems, bool *succeeded,
                                              struct pawl_graph **graph);
/* conflicts.c: adds what is wrong with the routes of a graph: that another definition has one,
 * which makes it invalid, or that it is none. */
PAWL_MUST_CHECK int pawl__definition_check_routes(struct definition_change *change,
                                                  const struct pawl_definition_row *row,
                                                  struct pawl_graph *graph,
                                                  struct pawl_problems *problems);
PAWL_MUST_CHECK int pawl__definition_note_published(struct definition_change *change,
                                                    const struct pawl_definition_row *row,
                                                    struct pawl_arena *arena,
                                                    struct definition_published *out);
/*
 * Plans that `row`, whose flags are set, is the published version, unless it does not validate: see
 * publishing->said. `planned`: the row itself is planned already, or as it should be.
 */
PAWL_MUST_CHECK int pawl__definition_plan_published(struct definition_change *change,
                                                    struct pawl_definition_row *row, bool planned,
                                                    struct definition_publishing *publishing);
/* Makes a change that publishes, then updates those that use what was published. */
PAWL_MUST_CHECK int pawl__definition_publishing(struct pawl_definitions *definitions,
                                                struct pawl_audit *by, definition_attempt attempt,
                                                void *request,
                                                struct definition_publishing *publishing,
                                                int64_t deadline_ns, struct pawl_error *err);
/* Points those that use it to this version. `updated` (NULL allowed): their ids, in `arena`. */
PAWL_MUST_CHECK int pawl__definition_update_users(struct pawl_definitions *definitions,
                                                  struct pawl_audit *by,
                                                  const struct definition_published *published,
                                                  struct pawl_arena *arena,
                                                  struct pawl_definition_ids *updated,
                                                  int64_t deadline_ns, struct pawl_error *err);

#endif
