/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on workflow definitions.
 *
 *     definitions_list.c     lists, counts, names, versions
 *     definitions_find.c     one definition: its row, its JSON, its graph
 *     definitions_nodes.c    nodes of its graph
 *     definitions_model.c    what is taken of a designer's model, and whether it can be
 *     definitions_save.c     saving, validating, publishing, importing, exporting
 *     definitions_change.c   retracting, reverting, deleting, references; refresh and reload
 *     definitions_bulk.c     the same for many
 *
 * PAWL_EUNKNOWN of any that changes something: the message says what is stored, and the rest could
 * not be done or read; or nobody knows whether it is stored.
 */
#ifndef PAWL_OPERATIONS_DEFINITIONS_H
#define PAWL_OPERATIONS_DEFINITIONS_H

#include "base/json/builder.h"
#include "operations/operation.h"
#include "runtime/values.h"

#include <pawl/ext/store.h>

/* ---- which versions -------------------------------------------------------------------------- */

/*
 * Reads "AllVersions", "Draft", "Latest", "Published", "LatestOrPublished", "LatestAndPublished" or
 * a number; 0 and less are all versions. PAWL_EINVAL.
 */
PAWL_MUST_CHECK int pawl__version_options_read(struct pawl_str text,
                                               struct pawl_version_options *out,
                                               struct pawl_error *err);

/* ---- lists ----------------------------------------------------------------------------------- */

/* By created and version usually from the newest downwards, the others upwards. */
enum pawl_definition_sort {
    PAWL_DEFINITIONS_BY_NAME,
    PAWL_DEFINITIONS_BY_CREATED,
    PAWL_DEFINITIONS_BY_VERSION,
    PAWL_DEFINITIONS_BY_ID, /* of the definition */
};

/* All that is given must hold; "", NULL and -1 are not given. */
struct pawl_definition_query {
    struct pawl_version_options versions; /* default: all */
    struct pawl_str name;                 /* exactly this */
    struct pawl_str name_contains;        /* this in it */
    struct pawl_str search;               /* in its name, description, id or definition id */
    /* One of these each; NULL: any. A list without members matches nothing. */
    const struct pawl_str *ids, *definition_ids;
    size_t id_count, definition_id_count;
    int is_system;
    int is_published;
    int usable_as_activity;
    struct pawl_str materializer; /* how it is stored: there is "Json" and nothing else */
    bool with_data;               /* the JSON of each row, in step with its flags */
    enum pawl_definition_sort sort;
    struct pawl_page_request page;
};

/* Every version there is, in the usual order. */
#define PAWL_DEFINITION_QUERY_ALL                                                                  \
    ((struct pawl_definition_query){.is_system = -1, .is_published = -1, .usable_as_activity = -1})

struct pawl_definition_list {
    const struct pawl_definition_row *rows; /* without `data` unless that was asked for */
    size_t count;
    struct pawl_page page;
};

PAWL_MUST_CHECK int pawl__op_definitions_list(const struct pawl_op *op,
                                              const struct pawl_definition_query *query,
                                              struct pawl_definition_list *out);
/* Definitions, not versions. */
PAWL_MUST_CHECK int pawl__op_definitions_count(const struct pawl_op *op, uint64_t *out);

/* A definition as people list it: its latest and its published version. */
struct pawl_definition_pair {
    const struct pawl_definition_row *latest;
    const struct pawl_definition_row *published; /* NULL: none is */
};

struct pawl_definition_pairs {
    const struct pawl_definition_pair *items;
    size_t count;
    struct pawl_page page;
};

/* The query's `versions` is PAWL_VERSIONS_LATEST or PAWL_VERSIONS_PUBLISHED: what it goes by. */
PAWL_MUST_CHECK int pawl__op_definitions_pairs(const struct pawl_op *op,
                                               const struct pawl_definition_query *query,
                                               struct pawl_definition_pairs *out);
/* All versions of one, with their data, the newest first. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_definition_versions(const struct pawl_op *op,
                                                 struct pawl_str definition_id,
                                                 struct pawl_definition_list *out);
/*
 * Whether no version of another definition than this one ("": of any) has the name. Spaces around
 * it do not count; case does.
 */
PAWL_MUST_CHECK int pawl__op_definition_name_is_unique(const struct pawl_op *op,
                                                       struct pawl_str name,
                                                       struct pawl_str definition_id, bool *out);

/* ---- one ------------------------------------------------------------------------------------- */

/* One of the three names it; where several versions match, the highest is meant. */
struct pawl_definition_ref {
    struct pawl_str version_id;
    struct pawl_str definition_id;
    struct pawl_str name;
    struct pawl_version_options versions; /* of the latter two; default: all */
};

/* The row, with its data in step. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_definition_find(const struct pawl_op *op,
                                             const struct pawl_definition_ref *ref,
                                             struct pawl_definition_row *out);

/* A version and what it is made of. `graph` has one reference: release it. */
struct pawl_definition_shown {
    struct pawl_definition_row row;
    struct pawl_json json; /* as stored, in step with the row */
    struct pawl_graph *graph;
    /* As Elsa writes them: activities with their node ids, typed inputs, and null for what
     * is not set. They borrow from the graph. */
    struct pawl_json variables, inputs, outputs, outcomes, root;
};

/* PAWL_ENOTFOUND; PAWL_EPARSE: it is there and cannot be loaded. */
PAWL_MUST_CHECK int pawl__op_definition_show(const struct pawl_op *op,
                                             const struct pawl_definition_ref *ref,
                                             struct pawl_definition_shown *out);
/* The same of a row that another operation returned with its data. */
PAWL_MUST_CHECK int pawl__op_definition_show_row(const struct pawl_op *op,
                                                 const struct pawl_definition_row *row,
                                                 struct pawl_definition_shown *out);
/*
 * The same of one that was changed just now, so that whoever changed it is not told of a failure:
 * when its graph cannot be had from the store, its parts are as stored, and `graph` is NULL.
 */
PAWL_MUST_CHECK int pawl__op_definition_show_changed(const struct pawl_op *op,
                                                     const struct pawl_definition_row *row,
                                                     struct pawl_definition_shown *out);
void pawl__op_definition_release(struct pawl_definition_shown *shown);

/*
 * Its options as Elsa writes them: activationStrategyType?, usableAsActivity?,
 * autoUpdateConsumingWorkflows, activityCategory?, incidentStrategyType?, commitStrategyName?, with
 * short names of strategies.
 */
struct pawl_json pawl__definition_options(struct pawl_builder *b,
                                          const struct pawl_json *definition);

/* Several, in the order of a list; release it. */
struct pawl_definitions_shown {
    struct pawl_definition_shown *items;
    size_t count;
};

/*
 * Versions by their ids; unknown ones are left out. `ids` NULL: all there are, the oldest first, so
 * many as one page has. PAWL_EPARSE: one cannot be loaded. PAWL_ELIMIT: they are too large for one
 * request.
 */
PAWL_MUST_CHECK int pawl__op_definitions_show(const struct pawl_op *op, const struct pawl_str *ids,
                                              size_t id_count, struct pawl_definitions_shown *out);
/* The same of rows that another operation returned with their data. */
PAWL_MUST_CHECK int pawl__op_definitions_show_rows(const struct pawl_op *op,
                                                   const struct pawl_definition_row *rows,
                                                   size_t count,
                                                   struct pawl_definitions_shown *out);
void pawl__op_definitions_release(struct pawl_definitions_shown *shown);

/* A node of what is shown; borrows from its graph. */
struct pawl_definition_node {
    struct pawl_str node_id, id, type, name;
    struct pawl_str port;      /* of its parent */
    struct pawl_json activity; /* with all below it */
};

/*
 * The node with this id; "" and ids that the definition does not have: the workflow itself, as in
 * Elsa.
 */
PAWL_MUST_CHECK int pawl__op_definition_node(const struct pawl_op *op,
                                             const struct pawl_definition_shown *shown,
                                             struct pawl_str node_id,
                                             struct pawl_definition_node *out);

struct pawl_definition_path {
    struct pawl_definition_node child;
    struct pawl_definition_node container; /* the last segment; without one, the workflow */
    /* From the outermost inwards: what is stepped into on the way, neither workflows nor
     * flowcharts; without `activity`, and `port` is the one through which the way goes on. */
    const struct pawl_definition_node *segments;
    size_t segment_count;
};

/* The way to a node. PAWL_EINVAL: there is no such node. */
PAWL_MUST_CHECK int pawl__op_definition_path(const struct pawl_op *op,
                                             const struct pawl_definition_shown *shown,
                                             struct pawl_str node_id,
                                             struct pawl_definition_path *out);

/* ---- saving, publishing ------------------------------------------------------------------------
 */

struct pawl_definition_save {
    const struct pawl_json *definition;
    /*
     * It is what a designer sends: of it only what designers edit is taken (root, name,
     * description, toolVersion, customProperties, variables, inputs, outputs, outcomes, options);
     * a missing root is an empty sequence, and an expression of type Input that does not say what
     * type the input has loses its value, as in Elsa. Else all of it is kept.
     */
    bool is_model;
    bool keeps_id; /* of a model: and the id of the version, unless another version has it */
    bool publish;  /* in the same commit; when it does not validate, nothing is stored */
    /* Definitions that are about to be saved too, and that this one may use. */
    const struct pawl_json *const *beside;
    size_t beside_count;
    /* NULL, or PAWL_DEFINITION_POINTER_SIZE bytes: of a model that is refused with PAWL_EPARSE, the
     * JSON pointer of what is wrong. */
    char *pointer;
    /* Tags of which the latest version must have one, "*": there is a version; else PAWL_ECONFLICT.
     * "": it replaces what there is. */
    struct pawl_str expected;
};
#define PAWL_DEFINITION_POINTER_SIZE 256

/* The tag of a version's content, in quotation marks: another one after each change. */
#define PAWL_OP_DEFINITION_TAG_SIZE 48
void pawl__op_definition_tag(const struct pawl_definition_row *row,
                             char out[PAWL_OP_DEFINITION_TAG_SIZE]);

struct pawl_definition_saved {
    struct pawl_definition_row row;      /* with its data; of a refusal: what would have been */
    struct pawl_publication publication; /* `succeeded` of a draft too; `problems` of publishing */
    bool already_published;              /* there was nothing to publish */
    size_t consumer_count;               /* definitions that use it as an activity */
};

/*
 * PAWL_EPERM: it is read-only, and a designer's model; a whole definition is taken as its
 * provider's. PAWL_EPARSE: it cannot be loaded, or is no definition. Publishing
 * that is refused is no failure of the call: look at out->publication.succeeded.
 */
PAWL_MUST_CHECK int pawl__op_definition_save(const struct pawl_op *op,
                                             const struct pawl_definition_save *save,
                                             struct pawl_definition_saved *out);
/* What publishing it would say; stores nothing. PAWL_EPARSE: it cannot be loaded. */
PAWL_MUST_CHECK int pawl__op_definition_validate(const struct pawl_op *op,
                                                 const struct pawl_json *definition,
                                                 struct pawl_publication *out);
/* Publishes a version that is stored: the latest, unless `ref` says another. PAWL_ENOTFOUND;
 * PAWL_EPERM: it is read-only. */
PAWL_MUST_CHECK int pawl__op_definition_publish(const struct pawl_op *op,
                                                const struct pawl_definition_ref *ref,
                                                struct pawl_definition_saved *out);

/*
 * Takes over a definition as it was exported: with the id, the version and the flags that it has
 * there, published unless it says that it is not. PAWL_EEXISTS: that version is here already;
 * PAWL_EPERM: the definition is here and read-only; PAWL_EPARSE: it is no definition, cannot be
 * loaded, or is kept as a draft because it is not valid.
 */
PAWL_MUST_CHECK int pawl__op_definition_import(const struct pawl_op *op,
                                               const struct pawl_json *definition,
                                               struct pawl_definition_row *out);

struct pawl_definitions_imported {
    size_t count;   /* drafts that were made or replaced */
    size_t refused; /* of a failure: which one it was */
};

/*
 * Saves several models as drafts, each in its own commit. One that is refused (PAWL_EPARSE,
 * PAWL_EPERM) is found before anything is stored; `out` is written on failure too.
 */
PAWL_MUST_CHECK int pawl__op_definitions_import(const struct pawl_op *op,
                                                const struct pawl_json *const *definitions,
                                                size_t count,
                                                struct pawl_definitions_imported *out);

/* Versions to be exported: rows with their data. */
struct pawl_definition_export {
    const struct pawl_str *version_ids; /* these; or: */
    size_t version_id_count;
    struct pawl_definition_ref ref; /* this one */
    bool with_consumers;            /* and those that use it, and those that use these */
};

/* Unknown version ids are left out; an unknown `ref` is PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_definitions_export(const struct pawl_op *op,
                                                const struct pawl_definition_export *export_,
                                                struct pawl_definition_list *out);

/* ---- changing ----------------------------------------------------------------------------------
 */

/*
 * No version is published any more. *was_published false: none was, nothing changed; *out is then
 * the latest, else the version that was published; its data are as stored where they cannot be
 * parsed. PAWL_ENOTFOUND: there is no such definition; PAWL_EPERM: it is read-only.
 */
PAWL_MUST_CHECK int pawl__op_definition_retract(const struct pawl_op *op,
                                                struct pawl_str definition_id, bool *was_published,
                                                struct pawl_definition_row *out);
/* A copy of an old version as a new one, the latest, not published. PAWL_ENOTFOUND; PAWL_EPERM: it
 * is read-only. */
PAWL_MUST_CHECK int pawl__op_definition_revert(const struct pawl_op *op,
                                               struct pawl_str definition_id, int64_t version,
                                               struct pawl_definition_row *out);

struct pawl_definition_delete {
    /* All versions of a definition; one of them (`version` > 0); or the one with this id. */
    struct pawl_str definition_id;
    int64_t version;
    struct pawl_str version_id;
    bool force;          /* even if instances of it are running; they cannot continue */
    bool with_instances; /* and its instances, whatever they do */
};

struct pawl_definition_deleted {
    size_t definitions; /* 1, or 0: it was gone, and instances of it were left */
    uint64_t instances;
};

/* Also what cannot be parsed. PAWL_ENOTFOUND; PAWL_ECONFLICT: instances of it run; PAWL_EPERM: it
 * is read-only, and `force` does not change that: whoever provides it takes the mark away.
 * PAWL_EUNKNOWN: a part is deleted; calling again goes on. */
PAWL_MUST_CHECK int pawl__op_definition_delete(const struct pawl_op *op,
                                               const struct pawl_definition_delete *request,
                                               struct pawl_definition_deleted *out);

/* Ids of definitions whose latest version uses this one, or one of these: the nearest first.
 * PAWL_ENOTFOUND: there is none such. */
PAWL_MUST_CHECK int pawl__op_definition_consumers(const struct pawl_op *op,
                                                  struct pawl_str definition_id,
                                                  struct pawl_definition_ids *out);
/* Points these to the published version: rows of what was changed, brief. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_definition_update_references(const struct pawl_op *op,
                                                          struct pawl_str definition_id,
                                                          struct pawl_definition_list *out);

/* Works out triggers anew; count 0: of all that are published. */
PAWL_MUST_CHECK int pawl__op_definitions_refresh(const struct pawl_op *op,
                                                 const struct pawl_str *definition_ids,
                                                 size_t count, struct pawl_refreshed *out);
/* Takes definitions from the folder that definitions.folder names. PAWL_ENOTFOUND: none does. */
PAWL_MUST_CHECK int pawl__op_definitions_reload(const struct pawl_op *op,
                                                struct pawl_reloaded *out);

/* ---- many at once ------------------------------------------------------------------------------
 */

/*
 * Each is done by itself, in the order given; one that fails because of what it is stops no other.
 * A failure of the store ends the call, after which some may have been done.
 */
struct pawl_definition_ids_list {
    const struct pawl_str *items; /* ids as they were given, twice if given twice */
    size_t count;
};

struct pawl_definitions_published {
    struct pawl_definition_ids_list published, already_published, not_found, skipped, failed;
    const struct pawl_str *failures;      /* what is wrong with each of `failed` */
    const struct pawl_problems *warnings; /* of each of `published`: what did not keep it from it */
    /* Definitions that use one of these and were pointed to the version that is published now. */
    struct pawl_definition_ids_list updated_consumers;
};

struct pawl_definitions_retracted {
    struct pawl_definition_ids_list retracted, already_retracted, skipped, not_published, not_found,
        failed;
    const struct pawl_str *failures; /* what is wrong with each of `failed` */
};

/* By definition ids. Read-only ones are skipped. */
PAWL_MUST_CHECK int pawl__op_definitions_publish(const struct pawl_op *op,
                                                 const struct pawl_str *ids, size_t count,
                                                 struct pawl_definitions_published *out);
PAWL_MUST_CHECK int pawl__op_definitions_retract(const struct pawl_op *op,
                                                 const struct pawl_str *ids, size_t count,
                                                 struct pawl_definitions_retracted *out);

struct pawl_definitions_delete {
    const struct pawl_str *definition_ids; /* all versions of these; or: */
    size_t definition_id_count;
    const struct pawl_str *version_ids; /* these versions */
    size_t version_id_count;
    bool force, with_instances;
};

struct pawl_definitions_deleted {
    size_t deleted;
    struct pawl_definition_ids_list in_use;  /* refused: instances run */
    struct pawl_definition_ids_list skipped; /* refused: they are read-only */
    uint64_t instances;
};

/* Ids that are unknown are passed over. */
PAWL_MUST_CHECK int pawl__op_definitions_delete(const struct pawl_op *op,
                                                const struct pawl_definitions_delete *request,
                                                struct pawl_definitions_deleted *out);

#endif
