/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions in a store: versions, drafts, publishing, triggers with their timers, and the graphs
 * made of them.
 *
 * Every change is one commit guarded by the stamp "definitions": it reads, decides, and applies
 * only if nobody changed a definition meanwhile, else it begins again. So there is never a moment
 * without a published version, nor with two.
 *
 * Graphs are cached by version id and content revision. A node looks at the stamp at least every
 * second (pawl__definitions_graph does, when its knowledge is older than that) and forgets what was
 * changed: the version itself, and graphs that embed a version of the same definition.
 *
 * Any number of threads may call at once.
 */
#ifndef PAWL_RUNTIME_DEFINITIONS_DEFINITIONS_H
#define PAWL_RUNTIME_DEFINITIONS_DEFINITIONS_H

#include "engine/engine.h"
#include "engine/graph.h"
#include "runtime/values.h"

#include <pawl/ext/env.h>
#include <pawl/ext/store.h>

#define PAWL_STAMP_DEFINITIONS "definitions"

/*
 * Work of this kind starts an instance when it is due: `name` is the trigger's id. Whoever does it
 * inserts the next one in the same commit (pawl__trigger_due_again); when the trigger is gone it
 * only deletes it.
 */
#define PAWL_WORK_TICK "tick"

struct pawl_audit; /* runtime/audit.h: who changes something; NULL: nothing is recorded */
struct pawl_definitions;

struct pawl_definitions_options {
    bool keep_invalid;    /* what does not validate is published all the same */
    uint32_t graphs_max;  /* kept in the cache, the least recently used goes; 0: 1,000 */
    int64_t stale_ns_max; /* how old the look at the stamp may be; 0: 1 s */
    uint64_t seed;        /* of ids of versions; 0: from entropy */
};

/* Borrows env, engine and store. `options` NULL: the defaults. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__definitions_new(struct pawl_env *env, const struct pawl_engine *engine,
                                          struct pawl_store *store,
                                          const struct pawl_definitions_options *options,
                                          struct pawl_definitions **out, struct pawl_error *err);
void pawl__definitions_free(struct pawl_definitions *definitions); /* NULL allowed */
/* Lookups of graphs in memory so far. Any thread. */
void pawl__definitions_lookups(struct pawl_definitions *definitions, uint64_t *hits,
                               uint64_t *misses);

/* ---- changing: rows that are returned are in `arena` --------------------------------------- */

/*
 * Saves a definition as the draft of its id, as the reference's importer does: a new one becomes
 * version 1, a draft that is there is replaced (its content revision grows, unless it is the same),
 * a published one gets a new version. A version id that another version has is not used. *out (NULL
 * allowed) is the row. All changes: PAWL_EBUSY: others changed definitions all the time;
 * PAWL_EUNKNOWN: it may be stored, or a part is, which the message says then.
 */
PAWL_MUST_CHECK int pawl__definitions_import(struct pawl_definitions *definitions,
                                             const struct pawl_json *definition,
                                             struct pawl_arena *arena,
                                             struct pawl_definition_row *out, int64_t deadline_ns,
                                             struct pawl_error *err);
/*
 * Stores it as the provider of a folder does: version and flags are those of the file, but an older
 * version takes neither flag from a newer one, and one that does not say whether it is published
 * stays what it is. Triggers follow in the same commit; a published one that cannot be loaded has
 * none, and pawl__definitions_index() says why. What is there already is not written again.
 */
PAWL_MUST_CHECK int pawl__definitions_provide(struct pawl_definitions *definitions,
                                              const struct pawl_json *definition,
                                              struct pawl_arena *arena,
                                              struct pawl_definition_row *out, int64_t deadline_ns,
                                              struct pawl_error *err);
/*
 * Publishes a version: validates, makes it the only published one and the latest, replaces the
 * definition's triggers and their timers, all in one commit; then brings those that use it as an
 * activity up to date when it asks for that, in a commit for each: after a failure among these the
 * version is published, the message says so, and publishing again goes on. `said` NULL allowed.
 * PAWL_ENOTFOUND; PAWL_EPARSE: it cannot be loaded.
 */
PAWL_MUST_CHECK int pawl__definitions_publish(struct pawl_definitions *definitions,
                                              struct pawl_str version_id, struct pawl_arena *arena,
                                              struct pawl_publication *said, int64_t deadline_ns,
                                              struct pawl_error *err);
/*
 * The same of the version that is the latest when it is published, whatever others do meanwhile:
 * *version_id (NULL allowed) is its id, in `arena`.
 */
PAWL_MUST_CHECK int
pawl__definitions_publish_latest(struct pawl_definitions *definitions, struct pawl_audit *by,
                                 struct pawl_str definition_id, struct pawl_arena *arena,
                                 struct pawl_str *version_id, struct pawl_publication *said,
                                 int64_t deadline_ns, struct pawl_error *err);
/* PAWL_EPARSE: its ids or its name are longer than they may be, or an id has a NUL in it. */
PAWL_MUST_CHECK int pawl__definitions_check_words(const struct pawl_json *definition,
                                                  struct pawl_error *err);
/*
 * What publishing would say of a definition that is not stored. PAWL_EPARSE: it cannot be loaded;
 * said->problems have the reason.
 */
PAWL_MUST_CHECK int pawl__definitions_validate(struct pawl_definitions *definitions,
                                               const struct pawl_json *definition,
                                               struct pawl_arena *arena,
                                               struct pawl_publication *said, int64_t deadline_ns,
                                               struct pawl_error *err);
/* No version is published any more; its triggers go. PAWL_ENOTFOUND: none was. */
PAWL_MUST_CHECK int pawl__definitions_retract(struct pawl_definitions *definitions,
                                              struct pawl_str definition_id, int64_t deadline_ns,
                                              struct pawl_error *err);
/* A draft of the published version, or the draft that is there. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__definitions_draft(struct pawl_definitions *definitions,
                                            struct pawl_str definition_id, struct pawl_arena *arena,
                                            struct pawl_definition_row *out, int64_t deadline_ns,
                                            struct pawl_error *err);
/* What tells the content of a version from what it is after the next change, in quotation marks. */
#define PAWL_DEFINITION_TAG_SIZE 48
void pawl__definition_tag(const struct pawl_definition_row *row,
                          char out[PAWL_DEFINITION_TAG_SIZE]);
/*
 * Saves a definition as pawl__definitions_import() does and publishes it, in one commit: when it
 * does not validate, nothing is stored (said->succeeded is false; *out is what would have been).
 * `beside` (NULL: none): definitions that are looked at before the store's when it is validated.
 * `expected`: as of pawl__definitions_import_by().
 */
PAWL_MUST_CHECK int pawl__definitions_save_published(
    struct pawl_definitions *definitions, struct pawl_audit *by, const struct pawl_json *definition,
    struct pawl_str expected, const struct pawl_workflow_resolver *beside, struct pawl_arena *arena,
    struct pawl_definition_row *out, struct pawl_publication *said, int64_t deadline_ns,
    struct pawl_error *err);
/* A copy of a version as a new version, the latest, not published. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__definitions_revert(struct pawl_definitions *definitions,
                                             struct pawl_audit *by, struct pawl_str definition_id,
                                             int64_t version, struct pawl_arena *arena,
                                             struct pawl_definition_row *out, int64_t deadline_ns,
                                             struct pawl_error *err);
/*
 * One version. If it was published, its triggers go with it; if it was the latest, the highest that
 * remains becomes it. PAWL_ENOTFOUND.
 */
PAWL_MUST_CHECK int pawl__definitions_delete_version(struct pawl_definitions *definitions,
                                                     struct pawl_audit *by,
                                                     struct pawl_str version_id,
                                                     int64_t deadline_ns, struct pawl_error *err);
/*
 * Points those that use a definition as an activity to its published version, whether it asks for
 * that or not. *updated: ids of definitions, in `arena`; none when no version is published.
 */
PAWL_MUST_CHECK int
pawl__definitions_update_references(struct pawl_definitions *definitions, struct pawl_audit *by,
                                    struct pawl_str definition_id, struct pawl_arena *arena,
                                    struct pawl_definition_ids *updated, int64_t deadline_ns,
                                    struct pawl_error *err);
/* All versions with their triggers. Instances are the caller's business. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__definitions_delete(struct pawl_definitions *definitions,
                                             struct pawl_str definition_id, int64_t deadline_ns,
                                             struct pawl_error *err);
/*
 * Works out the triggers of the published version anew. Rows that are as they should be stay, with
 * their timers: indexing again changes nothing. PAWL_ENOTFOUND: no version is published.
 */
PAWL_MUST_CHECK int pawl__definitions_index(struct pawl_definitions *definitions,
                                            struct pawl_str definition_id, int64_t deadline_ns,
                                            struct pawl_error *err);

/* ---- reading ------------------------------------------------------------------------------- */

/* One definition as JSON: the parser's own limit for a document. */
#define PAWL_DEFINITION_BYTES_MAX ((size_t)64 << 20)

/*
 * A row's JSON in `arena`, with id, version and flags as the row has them: flags change without the
 * data being written anew. PAWL_EPARSE: the data are damaged.
 */
PAWL_MUST_CHECK int pawl__definition_read_into(struct pawl_arena *arena,
                                               const struct pawl_definition_row *row,
                                               struct pawl_json *out, struct pawl_error *err);
/*
 * One version, its data included: PUBLISHED, LATEST (default) or LATEST_OR_PUBLISHED; or, where it
 * is not 0, the one with the number `version`. PAWL_ENOTFOUND.
 */
PAWL_MUST_CHECK int pawl__definitions_find(struct pawl_definitions *definitions,
                                           struct pawl_str definition_id,
                                           enum pawl_version_pick pick, int64_t version,
                                           struct pawl_arena *arena,
                                           struct pawl_definition_row *out, int64_t deadline_ns,
                                           struct pawl_error *err);
/*
 * Definitions whose latest version uses this one as an activity: their ids, in `arena`.
 * PAWL_ENOTFOUND: there is no such definition.
 */
PAWL_MUST_CHECK int pawl__definitions_consumers(struct pawl_definitions *definitions,
                                                struct pawl_str definition_id,
                                                struct pawl_arena *arena,
                                                struct pawl_definition_ids *out,
                                                int64_t deadline_ns, struct pawl_error *err);
/*
 * The graph of a version, with one reference for the caller (pawl__graph_unref). PAWL_ENOTFOUND:
 * there is no such version; PAWL_EPARSE: it cannot be loaded.
 */
PAWL_MUST_CHECK int pawl__definitions_graph(struct pawl_definitions *definitions,
                                            struct pawl_str version_id, struct pawl_graph **out,
                                            int64_t deadline_ns, struct pawl_error *err);
/* The published version of a definition, by the cache where that is young enough. */
PAWL_MUST_CHECK int pawl__definitions_published(struct pawl_definitions *definitions,
                                                struct pawl_str definition_id,
                                                struct pawl_graph **out, int64_t deadline_ns,
                                                struct pawl_error *err);
/*
 * The only trigger with this hash, if it is in memory: as old as a graph may be, so that it is
 * used no longer than `stale_ns_max` after another node has changed it, and not after a change that
 * was made through this object. In `arena`. False: ask the store; *stamp is for
 * pawl__definitions_keep_trigger(). That there is no such trigger is never in memory.
 */
PAWL_MUST_CHECK bool pawl__definitions_known_trigger(struct pawl_definitions *definitions,
                                                     struct pawl_str hash, struct pawl_arena *arena,
                                                     struct pawl_trigger_row *out, int64_t *stamp,
                                                     int64_t deadline_ns);
/* Copies a trigger that was read after pawl__definitions_known_trigger() returned `stamp`, and is
 * the only one with its hash. */
void pawl__definitions_keep_trigger(struct pawl_definitions *definitions,
                                    const struct pawl_trigger_row *row, int64_t stamp);
/* Looks at the stamp now: what is read from here on is not older than this call. */
PAWL_MUST_CHECK int pawl__definitions_refresh(struct pawl_definitions *definitions,
                                              int64_t deadline_ns, struct pawl_error *err);

/* ---- time: when a bookmark or a trigger is due ---------------------------------------------- */

/* In ticks, UTC; INT64_MAX: it waits for something else. */
int64_t pawl__bookmark_due(struct pawl_str name, const struct pawl_json *payload);
int64_t pawl__trigger_due(struct pawl_str name, const struct pawl_json *payload, int64_t now);
/* When it fires again after it fired at `now`, interval_min later at the least; INT64_MAX: never.
 */
int64_t pawl__trigger_due_again(struct pawl_str name, const struct pawl_json *payload, int64_t now,
                                int64_t interval_min);
/* Whether it asks for a shorter interval than that. */
bool pawl__trigger_is_raised(struct pawl_str name, const struct pawl_json *payload,
                             int64_t interval_min);

/* Store times from ticks, rounded up, and back. INT64_MAX and PAWL_TIME_NEVER are the same. */
int64_t pawl__ticks_to_us(int64_t ticks);
int64_t pawl__us_to_ticks(int64_t us);

#endif
