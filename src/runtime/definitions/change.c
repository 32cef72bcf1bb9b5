/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changing definitions: how a change is made, and saving versions. Publishing, retracting and
 * deleting are in publish.c.
 *
 * Each change is an attempt that is made again until it holds: it reads the stamp first, then the
 * rows it needs, decides, and commits under the guard of that stamp. Nothing is decided on rows
 * that somebody changed meanwhile, so these invariants of a definition hold at every moment: at
 * most one version is published, exactly one is the latest.
 *
 * Every attempt is written so that making it again after it took effect finds nothing left to do.
 * That is what happens when the answer to a commit was lost. And whatever is answered is made
 * before the commit, so that a failure says truly that nothing has changed.
 */
#include "runtime/definitions/private.h"

#include "base/hash/checksum.h"
#include "runtime/tenant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Attempts of one change: each failed one means that another change got through. */
#define ATTEMPTS_MAX 100

static const struct pawl_json *member(const struct pawl_json *object, const char *name)
{
    return pawl__json_get_nocase(object, pawl__str(name));
}

/* ---- attempts ---------------------------------------------------------------------------- */

int pawl__definition_plan(struct definition_change *change, enum pawl_change_kind kind,
                          enum pawl_table table, const void *row)
{
    if (change->count == change->cap) {
        uint32_t cap = change->cap ? change->cap * 2 : 8;
        struct pawl_change *grown =
            pawl__arena_alloc_array(&change->arena, cap, sizeof *change->items);

        if (!grown)
            return pawl__error_code(change->call.err, pawl__arena_status(&change->arena));
        if (change->count > 0)
            memcpy(grown, change->items, change->count * sizeof *grown);
        change->items = grown;
        change->cap = cap;
    }
    change->items[change->count++] = (struct pawl_change){kind, table, row};
    return PAWL_OK;
}

static int begin(struct definition_change *change)
{
    struct pawl_definitions *definitions = change->call.definitions;
    struct pawl_store_status store;
    int status;

    pawl__arena_reset(&change->arena);
    change->items = NULL;
    change->count = change->cap = 0;
    status = pawl__definition_stamp(&change->call, &change->stamp);
    if (status == PAWL_OK)
        status = pawl__definition_looked(
            &change->call, pawl_store_status(definitions->store, &store, change->call.deadline_ns,
                                             change->call.err));
    if (status == PAWL_OK)
        change->now_us = store.now_us;
    return status;
}

/* The id that a new definition has got in this attempt. */
static void name_new(struct definition_change *change)
{
    struct pawl_audit *by = change->by;

    for (uint32_t i = 0; by->is_of_new && i < change->count; i++) {
        const struct pawl_definition_row *row = change->items[i].row;

        if (change->items[i].table != PAWL_TABLE_DEFINITIONS ||
            row->definition_id.len >= sizeof by->new_id)
            continue;
        memcpy(by->new_id, row->definition_id.ptr, row->definition_id.len);
        by->row.target = pawl__str_make(by->new_id, row->definition_id.len);
        by->is_of_new = false;
    }
}

/* Adds the record of who changes it. */
static int record(struct definition_change *change, struct pawl_commit *commit)
{
    struct pawl_change planned;
    int status;

    if (!change->by)
        return PAWL_OK;
    name_new(change);
    planned = pawl__audit_change(change->by, 1, change->now_us, &change->record);
    status = pawl__definition_plan(change, planned.kind, planned.table, planned.row);
    commit->changes = change->items;
    commit->change_count = change->count;
    return status;
}

/* Whether an earlier attempt took effect, of which nobody heard: its record says so. */
static int has_taken(struct definition_change *change, bool *taken)
{
    const struct definition_call *call = &change->call;

    *taken = false;
    if (!change->unknown || !change->by)
        return PAWL_OK;
    return pawl__definition_looked(call, pawl__audit_is_stored(call->definitions->store,
                                                               &change->record, call->arena, taken,
                                                               call->deadline_ns, call->err));
}

static int commit(struct definition_change *change)
{
    struct pawl_definitions *definitions = change->call.definitions;
    struct pawl_commit one = {
        .kind = PAWL_COMMIT_PLAIN,
        .stamp = pawl__str(PAWL_STAMP_DEFINITIONS),
        .stamp_value = change->stamp,
        .changes = change->items,
        .change_count = change->count,
    };
    struct pawl_commit *const all[] = {&one};
    int status;

    if (change->count == 0)
        return PAWL_OK;
    status = record(change, &one);
    if (status != PAWL_OK)
        return status;
    status =
        pawl_store_apply(definitions->store, all, 1, change->call.deadline_ns, change->call.err);
    pawl__definitions_note_change(definitions);
    if (change->by)
        pawl__audit_settle(change->by, &change->record, status == PAWL_OK ? one.status : status);
    if (status != PAWL_OK || one.status == PAWL_OK)
        return status;
    if (change->call.err && one.status != PAWL_ECONFLICT)
        *change->call.err = one.error;
    return one.status;
}

int pawl__definition_change(struct definition_change *change, definition_attempt attempt,
                            void *request)
{
    struct pawl_error *err = change->call.err;

    for (int i = 0; i < ATTEMPTS_MAX; i++) {
        bool committing = false, taken = false;
        int status = begin(change);

        if (status == PAWL_OK)
            status = has_taken(change, &taken);
        if (taken) /* what it returns was made before its commit */
            return status;
        if (status == PAWL_OK)
            status = attempt(change, request);
        if (status == PAWL_OK) {
            committing = true;
            status = commit(change);
        }
        if (committing && pawl_error_class(status) == PAWL_CLASS_UNKNOWN)
            change->unknown = true;
        else if (!committing || status != PAWL_ECONFLICT)
            return change->unknown && pawl_error_class(status) == PAWL_CLASS_TRANSIENT
                       ? pawl__error_set(err, PAWL_EUNKNOWN,
                                         "the store did not say what became of a change of "
                                         "definitions, and cannot be asked; look before trying "
                                         "again")
                       : status;
    }
    if (change->unknown)
        return pawl__error_set(err, PAWL_EUNKNOWN,
                               "the store did not say what became of a change of definitions; "
                               "look before trying again");
    return pawl__error_set(err, PAWL_EBUSY,
                           "definitions were changed by others %d times while this change was "
                           "tried; try again later",
                           ATTEMPTS_MAX);
}

void pawl__definition_change_open(struct definition_change *change,
                                  struct pawl_definitions *definitions, struct pawl_audit *by,
                                  int64_t deadline_ns, struct pawl_error *err)
{
    *change = (struct definition_change){
        .by = by,
        .call = {definitions, &change->arena, deadline_ns, err, NULL},
    };
    pawl__arena_init(&change->arena, &definitions->env->alloc, DEFINITIONS_BYTES_MAX);
}

void pawl__definition_change_close(struct definition_change *change)
{
    pawl__arena_release(&change->arena);
}

/* ---- versions ---------------------------------------------------------------------------- */

int pawl__definition_copy(struct definition_change *change, const struct pawl_definition_row *row,
                          struct pawl_definition_row **out)
{
    struct pawl_definition_row *copy = pawl__arena_alloc(&change->arena, sizeof *copy);

    if (!copy) {
        /* Spelt out, so that analyzers see that the answer is a failure. */
        bool full = change->arena.status == PAWL_ELIMIT;

        (void)pawl__error_code(change->call.err, full ? PAWL_ELIMIT : PAWL_ENOMEM);
        return full ? PAWL_ELIMIT : PAWL_ENOMEM;
    }
    *copy = *row;
    *out = copy;
    return PAWL_OK;
}

int pawl__definition_highest(struct definition_change *change, struct pawl_str definition_id,
                             const struct pawl_definition_row **out)
{
    const struct pawl_condition condition =
        pawl__where_text(PAWL_TABLE_DEFINITIONS, "definition_id", definition_id);

    return pawl__definition_first(&change->call, &condition, 1, out);
}

/* The versions that are the latest or published: one or two of them. */
static int flagged(struct definition_change *change, struct pawl_str definition_id,
                   struct pawl_rows *out)
{
    struct pawl_condition conditions[] = {
        pawl__where_text(PAWL_TABLE_DEFINITIONS, "definition_id", definition_id),
        pawl__where_int(PAWL_TABLE_DEFINITIONS, "is_latest", PAWL_NE, 0),
        pawl__where_int(PAWL_TABLE_DEFINITIONS, "is_published", PAWL_NE, 0),
    };
    const struct pawl_query query = {
        .table = PAWL_TABLE_DEFINITIONS, .conditions = conditions, .condition_count = 3};

    conditions[1].any = conditions[2].any = 1;
    return pawl__definition_query(&change->call, &query, out);
}

int pawl__definition_plan_others(struct definition_change *change,
                                 const struct pawl_definition_row *row, bool *lost)
{
    const struct pawl_definition_row *all;
    struct pawl_rows rows;
    int status = flagged(change, row->definition_id, &rows);

    *lost = false;
    if (status != PAWL_OK)
        return status;
    all = rows.rows;
    for (size_t i = 0; i < rows.count && status == PAWL_OK; i++) {
        struct pawl_definition_row *other;

        if (pawl__str_equal(all[i].id, row->id) ||
            !((row->is_latest && all[i].is_latest) || (row->is_published && all[i].is_published)))
            continue;
        status = pawl__definition_copy(change, &all[i], &other);
        if (status != PAWL_OK)
            return status;
        if (row->is_latest)
            other->is_latest = 0;
        if (row->is_published) {
            *lost = *lost || other->is_published;
            other->is_published = 0;
        }
        status = pawl__definition_plan(change, PAWL_CHANGE_PUT, PAWL_TABLE_DEFINITIONS, other);
    }
    return status;
}

/* A row for a version that is not there yet. */
static int new_row(struct definition_change *change, struct pawl_str definition_id,
                   struct pawl_str version_id, int64_t version, struct pawl_definition_row **out)
{
    const struct pawl_definition_row row = {
        .id = version_id,
        .definition_id = definition_id,
        .version = version,
        .created_us = change->now_us,
    };

    return pawl__definition_copy(change, &row, out);
}

/*
 * Puts `content` into a row, whose flags are as they shall be, and plans to store it: unless
 * `before`, what is stored of it now (NULL: nothing), is the same already.
 */
static int plan_content(struct definition_change *change, const struct pawl_json *content,
                        const struct pawl_definition_row *before, struct pawl_definition_row *row)
{
    struct pawl_json json, old;
    struct pawl_str text = {"", 0};
    int status = pawl__json_copy(&change->arena, content, &json);

    if (status != PAWL_OK)
        return pawl__error_code(change->call.err, status);
    status = pawl__definition_write(&change->call, &json, row);
    if (status == PAWL_OK && before) {
        /* With the new flags, so that a change of these is no change of the content. */
        struct pawl_definition_row flagged_row = *row;

        flagged_row.data = before->data;
        status = pawl__definition_read(&change->call, &flagged_row, &old);
        if (status == PAWL_OK)
            status = pawl__definition_text(&change->call, &old, &text);
        else if (status == PAWL_EPARSE)
            status = PAWL_OK; /* damaged: replaced */
    }
    if (status != PAWL_OK)
        return status;
    if (!pawl__str_equal(text, row->data))
        row->revision++;
    if (before && row->revision == before->revision && row->is_latest == before->is_latest &&
        row->is_published == before->is_published)
        return PAWL_OK;
    return pawl__definition_plan(change, PAWL_CHANGE_PUT, PAWL_TABLE_DEFINITIONS, row);
}

int pawl__definition_plan_version(struct definition_change *change,
                                  const struct pawl_definition_row *last, struct pawl_str id,
                                  const struct pawl_json *content, struct pawl_definition_row **out)
{
    bool lost;
    int status = new_row(change, last->definition_id, id, last->version + 1, out);

    if (status != PAWL_OK)
        return status;
    (*out)->is_latest = 1;
    status = plan_content(change, content, NULL, *out);
    return status == PAWL_OK ? pawl__definition_plan_others(change, *out, &lost) : status;
}

/*
 * Whether its content may change: it is not published, and no instance that goes on is of it, as of
 * one that was published before. Instances keep the version that they were started with.
 */
static int may_be_rewritten(struct definition_change *change, const struct pawl_definition_row *row,
                            bool *out)
{
    const struct pawl_condition conditions[] = {
        pawl__where_text(PAWL_TABLE_INSTANCES, "version_id", row->id),
        {.column = pawl_table_column(PAWL_TABLE_INSTANCES, "status"),
         .compare = PAWL_NE,
         .value = {.text = pawl__str("Finished")}},
    };
    const struct pawl_query query = {.table = PAWL_TABLE_INSTANCES,
                                     .flags = PAWL_QUERY_BRIEF,
                                     .conditions = conditions,
                                     .condition_count = 2,
                                     .limit = 1};
    struct pawl_rows rows = {0};
    int status = row->is_published ? PAWL_OK : pawl__definition_query(&change->call, &query, &rows);

    *out = !row->is_published && rows.count == 0;
    return status;
}

int pawl__definition_plan_draft(struct definition_change *change,
                                const struct pawl_definition_row *last,
                                const struct pawl_json *content, struct pawl_definition_row **out)
{
    struct pawl_str version_id;
    bool lost, in_place;
    int status = may_be_rewritten(change, last, &in_place);

    if (status != PAWL_OK)
        return status;
    if (!in_place) {
        status = pawl__definition_new_id(&change->call, false, &version_id);
        return status == PAWL_OK
                   ? pawl__definition_plan_version(change, last, version_id, content, out)
                   : status;
    }
    status = pawl__definition_copy(change, last, out);
    if (status != PAWL_OK)
        return status;
    (*out)->is_latest = 1;
    status = plan_content(change, content, last, *out);
    return status == PAWL_OK ? pawl__definition_plan_others(change, *out, &lost) : status;
}

/* ---- saving ------------------------------------------------------------------------------ */

struct saving {
    const struct pawl_json *definition;
    struct pawl_str definition_id; /* the definition's, or one made for it */
    struct pawl_str version_id;    /* likewise: of a version that is not there yet */
    struct pawl_arena *arena;      /* the caller's, for the answer */
    struct pawl_str expected; /* tags of which the latest version must have one; "": any will do */
    struct pawl_definition_row answer;
};

/* ---- what its author saw --------------------------------------------------------------------- */

void pawl__definition_tag(const struct pawl_definition_row *row, char out[PAWL_DEFINITION_TAG_SIZE])
{
    (void)snprintf(out, PAWL_DEFINITION_TAG_SIZE, "\"%016" PRIx64 "-%" PRId64 "\"",
                   pawl__checksum(row->id), row->revision);
}

static bool has_tag(struct pawl_str list, struct pawl_str tag)
{
    for (size_t i = 0; i + tag.len <= list.len; i++) {
        if (memcmp(list.ptr + i, tag.ptr, tag.len) == 0)
            return true;
    }
    return false;
}

/* Whether nobody has changed it since: `last` NULL, there is none. */
static int check_expected(const struct definition_change *change, const struct saving *saving,
                          const struct pawl_definition_row *last)
{
    char tag[PAWL_DEFINITION_TAG_SIZE] = "";

    if (saving->expected.len == 0)
        return PAWL_OK;
    if (last)
        pawl__definition_tag(last, tag);
    if (last && (pawl__str_is(saving->expected, "*") || has_tag(saving->expected, pawl__str(tag))))
        return PAWL_OK;
    if (change->unknown)
        return pawl__error_set(
            change->call.err, PAWL_EUNKNOWN,
            "the definition may have been saved: look at it before you try again");
    return pawl__error_set(change->call.err, PAWL_ECONFLICT,
                           "the definition has been changed since: load it again");
}

static bool has_nul(struct pawl_str text)
{
    return pawl__str_find(text, '\0', 0) != SIZE_MAX;
}

int pawl__definitions_check_words(const struct pawl_json *definition, struct pawl_error *err)
{
    struct pawl_str id = pawl__json_str(member(definition, "definitionId"));
    struct pawl_str version_id = pawl__json_str(member(definition, "id"));

    if (has_nul(id) || has_nul(version_id))
        return pawl__error_set(err, PAWL_EPARSE, "an id of a definition has a NUL in it");
    if (id.len > PAWL_DEFINITION_ID_MAX || version_id.len > PAWL_DEFINITION_ID_MAX)
        return pawl__error_set(err, PAWL_EPARSE, "an id of a definition has at most %d bytes",
                               PAWL_DEFINITION_ID_MAX);
    if (pawl__json_str(member(definition, "name")).len > PAWL_NAME_MAX)
        return pawl__error_set(err, PAWL_EPARSE, "a name of a definition has at most %d bytes",
                               PAWL_NAME_MAX);
    if (pawl__json_str(member(definition, "description")).len > PAWL_DESCRIPTION_MAX)
        return pawl__error_set(err, PAWL_EPARSE,
                               "a description of a definition has at most %d bytes",
                               PAWL_DESCRIPTION_MAX);
    return PAWL_OK;
}

/* Ids are made once, not per attempt: an attempt that took effect is found by them. */
static int open_saving(struct pawl_definitions *definitions, const struct pawl_json *definition,
                       struct pawl_arena *arena, struct pawl_error *err, struct saving *out)
{
    const struct definition_call call = {definitions, arena, PAWL_FOREVER, err, NULL};
    int status = PAWL_OK;

    if (!pawl__json_is(definition, PAWL_JSON_OBJECT))
        return pawl__error_set(err, PAWL_EPARSE, "a definition is an object, not %s",
                               pawl__json_type_name(definition));
    status = pawl__tenant_check(definition, "the definition", err);
    if (status != PAWL_OK)
        return status;
    *out = (struct saving){
        .definition = definition,
        .arena = arena,
        .definition_id = pawl__json_str(member(definition, "definitionId")),
        .version_id = pawl__json_str(member(definition, "id")),
    };
    status = pawl__definitions_check_words(definition, err);
    if (status == PAWL_OK && out->definition_id.len == 0)
        status = pawl__definition_new_id(&call, false, &out->definition_id);
    if (status == PAWL_OK && out->version_id.len == 0)
        status = pawl__definition_new_id(&call, false, &out->version_id);
    return status;
}

/* A new version with the id that is wished for; with another if that is taken. */
static int new_saved(struct definition_change *change, const struct saving *saving, int64_t version,
                     struct pawl_definition_row **out)
{
    const struct pawl_definition_row *taken;
    struct pawl_str version_id = saving->version_id;
    int status = pawl__definition_by_id(&change->call, version_id, &taken);

    if (status == PAWL_OK && taken)
        status = pawl__definition_new_id(&change->call, false, &version_id);
    return status == PAWL_OK ? new_row(change, saving->definition_id, version_id, version, out)
                             : status;
}

static int attempt_import(struct definition_change *change, void *request)
{
    struct saving *saving = request;
    const struct pawl_definition_row *last;
    struct pawl_definition_row *made;
    int status = pawl__definition_highest(change, saving->definition_id, &last);

    if (status == PAWL_OK)
        status = check_expected(change, saving, last);
    if (status == PAWL_OK && last) {
        status = pawl__definition_plan_draft(change, last, saving->definition, &made);
    } else if (status == PAWL_OK) {
        status = new_saved(change, saving, 1, &made);
        if (status == PAWL_OK) {
            made->is_latest = 1;
            status = plan_content(change, saving->definition, NULL, made);
        }
    }
    return status == PAWL_OK
               ? pawl__definition_answer(&change->call, made, saving->arena, &saving->answer)
               : status;
}

struct saving_published {
    struct saving saving;
    struct pawl_str fresh_id; /* of a new version of what is there; made once, as above */
    struct pawl_str made_id;  /* what the attempt before made; "": there was none */
    struct definition_publishing publishing;
};

/* The row it becomes. *before: what is stored of it, NULL: nothing. */
static int row_to_publish(struct definition_change *change, const struct saving_published *both,
                          const struct pawl_definition_row **before,
                          struct pawl_definition_row **made)
{
    const struct saving *saving = &both->saving;
    const struct pawl_definition_row *last;
    bool in_place;
    int status = pawl__definition_highest(change, saving->definition_id, &last);

    *before = NULL;
    if (status == PAWL_OK)
        status = check_expected(change, saving, last);
    if (status != PAWL_OK)
        return status;
    if (!last)
        return new_saved(change, saving, 1, made);
    status = may_be_rewritten(change, last, &in_place);
    if (status != PAWL_OK)
        return status;
    /* A draft is published in place; so is what an attempt made whose answer was lost. */
    if (!in_place && !(change->unknown && pawl__str_equal(last->id, both->made_id)))
        return new_row(change, last->definition_id, both->fresh_id, last->version + 1, made);
    *before = last;
    return pawl__definition_copy(change, last, made);
}

/* The draft that it would become, published at once; when that is refused, nothing is planned. */
static int attempt_save_published(struct definition_change *change, void *request)
{
    struct saving_published *both = request;
    const struct pawl_definition_row *before;
    struct pawl_definition_row *made;
    int status = row_to_publish(change, both, &before, &made);

    if (status != PAWL_OK)
        return status;
    made->is_latest = made->is_published = 1;
    status = plan_content(change, both->saving.definition, before, made);
    if (status == PAWL_OK)
        status = pawl__definition_plan_published(change, made, true, &both->publishing);
    if (status == PAWL_OK && !both->publishing.said.succeeded)
        change->count = 0;
    both->made_id = pawl__arena_str(both->publishing.notes, made->id);
    return status == PAWL_OK ? pawl__definition_answer(&change->call, made, both->saving.arena,
                                                       &both->saving.answer)
                             : status;
}

/* The flags that a version of a file gets. */
static int provided_flags(struct definition_change *change, const struct saving *saving,
                          struct pawl_definition_row *row)
{
    const struct pawl_json *publish = member(saving->definition, "isPublished");
    const struct pawl_definition_row *last, *published;
    int status = pawl__definition_highest(change, row->definition_id, &last);

    if (status == PAWL_OK)
        status = pawl__definition_published(&change->call, row->definition_id, &published);
    if (status != PAWL_OK)
        return status;
    if (!last || last->version <= row->version)
        row->is_latest = 1;
    /* A file that does not say so leaves it as it is. */
    if (pawl__json_is(publish, PAWL_JSON_BOOL))
        row->is_published =
            pawl__json_true(publish) && (!published || published->version <= row->version);
    return PAWL_OK;
}

/* One that cannot be loaded is stored all the same, without triggers: indexing says why. */
static int provided_triggers(struct definition_change *change,
                             const struct pawl_definition_row *row)
{
    struct pawl_graph *graph = NULL;
    struct pawl_json json;
    int status = PAWL_OK;

    if (row->is_published) {
        status = pawl__definition_read(&change->call, row, &json);
        if (status == PAWL_OK)
            status = pawl__definition_load(&change->call, change->stamp, &json, NULL, NULL, &graph);
        if (pawl_error_class(status) == PAWL_CLASS_CALLER)
            status = PAWL_OK;
    }
    if (status == PAWL_OK)
        status = pawl__definition_plan_triggers(change, row->definition_id, row->id, graph);
    pawl__graph_unref(graph);
    return status;
}

static int attempt_provide(struct definition_change *change, void *request)
{
    struct saving *saving = request;
    const struct pawl_definition_row *there;
    struct pawl_definition_row *made;
    struct pawl_condition conditions[2];
    int64_t version = 1;
    bool lost = false, was_published;
    int status;

    if (!pawl__json_to_int(member(saving->definition, "version"), &version) || version < 1)
        version = 1;
    conditions[0] =
        pawl__where_text(PAWL_TABLE_DEFINITIONS, "definition_id", saving->definition_id);
    conditions[1] = pawl__where_int(PAWL_TABLE_DEFINITIONS, "version", PAWL_EQ, version);
    status = pawl__definition_first(&change->call, conditions, 2, &there);
    if (status == PAWL_OK)
        status = there ? pawl__definition_copy(change, there, &made)
                       : new_saved(change, saving, version, &made);
    if (status != PAWL_OK)
        return status;
    was_published = there && there->is_published;
    status = provided_flags(change, saving, made);
    if (status == PAWL_OK)
        status = plan_content(change, saving->definition, there, made);
    if (status == PAWL_OK && change->count > 0)
        status = pawl__definition_plan_others(change, made, &lost);
    if (status == PAWL_OK && change->count > 0 && (was_published || lost || made->is_published))
        status = provided_triggers(change, made);
    return status == PAWL_OK
               ? pawl__definition_answer(&change->call, made, saving->arena, &saving->answer)
               : status;
}

static int save(struct pawl_definitions *definitions, struct pawl_audit *by,
                const struct pawl_json *definition, struct pawl_str expected,
                definition_attempt attempt, struct pawl_arena *arena,
                struct pawl_definition_row *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct definition_change change;
    struct saving saving;
    int status = open_saving(definitions, definition, arena, err, &saving);

    if (status != PAWL_OK)
        return status;
    saving.expected = expected;
    pawl__definition_change_open(&change, definitions, by, deadline_ns, err);
    status = pawl__definition_change(&change, attempt, &saving);
    if (status == PAWL_OK && out)
        *out = saving.answer;
    pawl__definition_change_close(&change);
    return status;
}

int pawl__definitions_import(struct pawl_definitions *definitions,
                             const struct pawl_json *definition, struct pawl_arena *arena,
                             struct pawl_definition_row *out, int64_t deadline_ns,
                             struct pawl_error *err)
{
    return save(definitions, NULL, definition, pawl__str(""), attempt_import, arena, out,
                deadline_ns, err);
}

int pawl__definitions_import_by(struct pawl_definitions *definitions, struct pawl_audit *by,
                                const struct pawl_json *definition, struct pawl_str expected,
                                struct pawl_arena *arena, struct pawl_definition_row *out,
                                int64_t deadline_ns, struct pawl_error *err)
{
    return save(definitions, by, definition, expected, attempt_import, arena, out, deadline_ns,
                err);
}

int pawl__definitions_save_published(struct pawl_definitions *definitions, struct pawl_audit *by,
                                     const struct pawl_json *definition, struct pawl_str expected,
                                     const struct pawl_workflow_resolver *beside,
                                     struct pawl_arena *arena, struct pawl_definition_row *out,
                                     struct pawl_publication *said, int64_t deadline_ns,
                                     struct pawl_error *err)
{
    struct saving_published both = {.made_id = {"", 0},
                                    .publishing = {.beside = beside, .arena = arena}};
    const struct definition_call call = {definitions, arena, PAWL_FOREVER, err, NULL};
    int status = open_saving(definitions, definition, arena, err, &both.saving);

    both.saving.expected = expected;
    if (status == PAWL_OK)
        status = pawl__definition_new_id(&call, false, &both.fresh_id);
    if (status == PAWL_OK)
        status = pawl__definition_publishing(definitions, by, attempt_save_published, &both,
                                             &both.publishing, deadline_ns, err);
    if (status != PAWL_OK)
        return status;
    *out = both.saving.answer;
    *said = both.publishing.said;
    return PAWL_OK;
}

int pawl__definitions_provide(struct pawl_definitions *definitions,
                              const struct pawl_json *definition, struct pawl_arena *arena,
                              struct pawl_definition_row *out, int64_t deadline_ns,
                              struct pawl_error *err)
{
    return save(definitions, NULL, definition, pawl__str(""), attempt_provide, arena, out,
                deadline_ns, err);
}

int pawl__definitions_provide_by(struct pawl_definitions *definitions, struct pawl_audit *by,
                                 const struct pawl_json *definition, struct pawl_arena *arena,
                                 struct pawl_definition_row *out, int64_t deadline_ns,
                                 struct pawl_error *err)
{
    return save(definitions, by, definition, pawl__str(""), attempt_provide, arena, out,
                deadline_ns, err);
}

struct drafting {
    struct pawl_str definition_id;
    struct pawl_arena *arena;
    struct pawl_definition_row answer;
};

static int attempt_draft(struct definition_change *change, void *request)
{
    struct drafting *drafting = request;
    const struct pawl_definition_row *last;
    struct pawl_definition_row *made;
    struct pawl_json json;
    int status = pawl__definition_highest(change, drafting->definition_id, &last);

    if (status != PAWL_OK)
        return status;
    if (!last)
        return pawl__error_set(change->call.err, PAWL_ENOTFOUND, "there is no definition %.*s",
                               PAWL_STR_ARG(drafting->definition_id));
    if (last->is_published) {
        status = pawl__definition_read(&change->call, last, &json);
        if (status == PAWL_OK)
            status = pawl__definition_plan_draft(change, last, &json, &made);
    } else {
        status = pawl__definition_copy(change, last, &made);
    }
    return status == PAWL_OK
               ? pawl__definition_answer(&change->call, made, drafting->arena, &drafting->answer)
               : status;
}

int pawl__definitions_draft(struct pawl_definitions *definitions, struct pawl_str definition_id,
                            struct pawl_arena *arena, struct pawl_definition_row *out,
                            int64_t deadline_ns, struct pawl_error *err)
{
    struct drafting drafting = {.definition_id = definition_id, .arena = arena};
    struct definition_change change;
    int status;

    pawl__definition_change_open(&change, definitions, NULL, deadline_ns, err);
    status = pawl__definition_change(&change, attempt_draft, &drafting);
    if (status == PAWL_OK)
        *out = drafting.answer;
    pawl__definition_change_close(&change);
    return status;
}
