/* SPDX-License-Identifier: Apache-2.0 */
/* Publishing, retracting and deleting many definitions; each by itself. */
#include "base/error.h"
#include "operations/bulk.h"
#include "operations/definitions_private.h"

/* Whether it says something of this one definition; else the store does not do as it should. */
static bool is_its_own(int status)
{
    enum pawl_error_class class = pawl_error_class(status);

    return class == PAWL_CLASS_CALLER || class == PAWL_CLASS_DEFINITE;
}

/* Room for one list; one more than needed, so that none is NULL. */
static int make_list(const struct pawl_op *op, size_t count, struct pawl_definition_ids_list *list)
{
    list->count = 0;
    list->items = pawl__arena_alloc_array(op->arena, count + 1, sizeof *list->items);
    return list->items ? PAWL_OK : pawl__error_code(op->err, pawl__arena_status(op->arena));
}

/* Its items are ours until the list is returned. */
static void add(struct pawl_definition_ids_list *list, struct pawl_str id)
{
    ((struct pawl_str *)(uintptr_t)list->items)[list->count++] = id;
}

/* With why, in `failures`, which has as much room. */
static void note_failure(const struct pawl_op *op, struct pawl_definition_ids_list *failed,
                         const struct pawl_str *failures, struct pawl_str id, const char *why)
{
    ((struct pawl_str *)(uintptr_t)failures)[failed->count] =
        pawl__arena_str(op->arena, pawl__str(why));
    add(failed, id);
}

/* An error that ends the whole, for the caller. */
static int pass_error(const struct pawl_op *op, int status, const struct pawl_error *err)
{
    if (op->err)
        *op->err = *err;
    return status;
}

static int latest_of(const struct pawl_op *op, struct pawl_str definition_id,
                     struct pawl_definition_row *out)
{
    return op_definition_row(op,
                             &(struct pawl_definition_ref){
                                 .definition_id = definition_id,
                                 .versions = {PAWL_VERSIONS_LATEST, 0},
                             },
                             out);
}

/* ---- publishing --------------------------------------------------------------------------------
 */

static int make_published(const struct pawl_op *op, size_t count,
                          struct pawl_definitions_published *out)
{
    struct pawl_definition_ids_list *const lists[] = {
        &out->published, &out->already_published, &out->not_found, &out->skipped, &out->failed,
    };
    int status = PAWL_OK;

    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && status == PAWL_OK; i++)
        status = make_list(op, count, lists[i]);
    if (status != PAWL_OK)
        return status;
    out->failures = pawl__arena_alloc_array(op->arena, count + 1, sizeof *out->failures);
    out->warnings = pawl__arena_alloc_array(op->arena, count + 1, sizeof *out->warnings);
    return out->failures && out->warnings
               ? PAWL_OK
               : pawl__error_code(op->err, pawl__arena_status(op->arena));
}

/* Those that the publishing of one brought up to date, behind those of the ones before. */
static int add_consumers(const struct pawl_op *op, struct pawl_definitions_published *out,
                         const struct pawl_definition_ids *updated)
{
    struct pawl_definition_ids_list *list = &out->updated_consumers;
    struct pawl_str *grown;

    if (updated->count == 0)
        return PAWL_OK;
    grown = pawl__arena_alloc_array(op->arena, list->count + updated->count, sizeof *grown);
    if (!grown)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (size_t i = 0; i < list->count; i++)
        grown[i] = list->items[i];
    list->items = grown;
    for (size_t i = 0; i < updated->count; i++)
        add(list, updated->items[i]);
    return PAWL_OK;
}

static int publish_one(const struct pawl_op *op, struct pawl_str id,
                       struct pawl_definitions_published *out)
{
    struct pawl_definition_saved saved;
    struct pawl_definition_row row;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_op one = *op;
    int status;

    one.err = &err;
    status = latest_of(&one, id, &row);
    if (status == PAWL_ENOTFOUND) {
        add(&out->not_found, id);
        return PAWL_OK;
    }
    if (status == PAWL_OK && row.is_readonly) {
        add(&out->skipped, id);
        return PAWL_OK;
    }
    if (status == PAWL_OK)
        status = pawl__op_definition_publish(
            &one, &(struct pawl_definition_ref){.definition_id = id}, &saved);
    if (status != PAWL_OK && is_its_own(status)) {
        note_failure(op, &out->failed, out->failures, id, err.msg);
        return PAWL_OK;
    }
    if (status != PAWL_OK)
        return pass_error(op, status, &err);
    /* Of an id that is given twice, Elsa says published twice. */
    for (size_t i = 0; i < out->published.count && saved.already_published; i++)
        saved.already_published = !pawl__str_equal(out->published.items[i], id);
    if (!saved.publication.succeeded)
        note_failure(op, &out->failed, out->failures, id,
                     saved.publication.problems.count > 0
                         ? saved.publication.problems.items[0].message
                         : "it is not valid");
    else if (saved.already_published)
        add(&out->already_published, id);
    else {
        ((struct pawl_problems *)(uintptr_t)out->warnings)[out->published.count] =
            saved.publication.problems;
        add(&out->published, id);
    }
    return add_consumers(op, out, &saved.publication.updated);
}

int pawl__op_definitions_publish(const struct pawl_op *op, const struct pawl_str *ids, size_t count,
                                 struct pawl_definitions_published *out)
{
    struct pawl_definitions_published published = {.failures = NULL};
    struct pawl_op part = *op;
    struct op_record record;
    int status = make_published(op, count, &published);

    if (status == PAWL_OK)
        status = op_record_begin_many(op, &record, "publish", "definition");
    part.record = status == PAWL_OK ? record.by : NULL;
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = publish_one(&part, ids[i], &published);
    if (status != PAWL_OK && published.published.count > 0)
        status = op_partly(op, status, "%zu definitions were published", published.published.count);
    if (status == PAWL_OK && op->arena->status != PAWL_OK)
        status = pawl__error_code(op->err, op->arena->status);
    if (status == PAWL_OK)
        *out = published;
    return status;
}

/* ---- retracting --------------------------------------------------------------------------------
 */

static int retract_one(const struct pawl_op *op, struct pawl_str id,
                       struct pawl_definitions_retracted *out)
{
    struct pawl_definition_row row;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_op one = *op;
    bool was_published = false;
    int status;

    one.err = &err;
    status = latest_of(&one, id, &row);
    if (status == PAWL_ENOTFOUND) {
        add(&out->not_found, id);
        return PAWL_OK;
    }
    if (status == PAWL_OK && row.is_readonly) {
        add(&out->skipped, id);
        return PAWL_OK;
    }
    if (status == PAWL_OK)
        status = pawl__op_definition_retract(&one, id, &was_published, &row);
    if (status != PAWL_OK && !is_its_own(status))
        return pass_error(op, status, &err);
    if (status != PAWL_OK) {
        note_failure(op, &out->failed, out->failures, id, err.msg);
    } else if (was_published) {
        add(&out->retracted, id);
    } else {
        add(&out->already_retracted, id);
        add(&out->not_published, id);
    }
    return PAWL_OK;
}

int pawl__op_definitions_retract(const struct pawl_op *op, const struct pawl_str *ids, size_t count,
                                 struct pawl_definitions_retracted *out)
{
    struct pawl_definitions_retracted retracted = {.retracted = {NULL, 0}};
    struct pawl_definition_ids_list *const lists[] = {
        &retracted.retracted,     &retracted.already_retracted, &retracted.skipped,
        &retracted.not_published, &retracted.not_found,         &retracted.failed,
    };
    struct pawl_op part = *op;
    struct op_record record;
    int status = op_record_begin_many(op, &record, "retract", "definition");

    part.record = status == PAWL_OK ? record.by : NULL;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && status == PAWL_OK; i++)
        status = make_list(op, count, lists[i]);
    retracted.failures = pawl__arena_alloc_array(op->arena, count + 1, sizeof *retracted.failures);
    if (!retracted.failures)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = retract_one(&part, ids[i], &retracted);
    if (status != PAWL_OK && retracted.retracted.count > 0)
        status = op_partly(op, status, "%zu definitions were retracted", retracted.retracted.count);
    if (status == PAWL_OK && op->arena->status != PAWL_OK)
        status = pawl__error_code(op->err, op->arena->status);
    if (status == PAWL_OK)
        *out = retracted;
    return status;
}

/* ---- deleting ----------------------------------------------------------------------------------
 */

static int delete_one(const struct pawl_op *op, const struct pawl_definition_delete *request,
                      struct pawl_str id, struct pawl_definitions_deleted *out)
{
    struct pawl_definition_deleted deleted;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_op one = *op;
    int status;

    one.err = &err;
    status = pawl__op_definition_delete(&one, request, &deleted);
    if (status == PAWL_OK) {
        out->deleted += deleted.definitions;
        out->instances += deleted.instances;
    } else if (status == PAWL_ECONFLICT) {
        add(&out->in_use, id);
    } else if (status == PAWL_EPERM) {
        add(&out->skipped, id);
    } else if (status != PAWL_ENOTFOUND) {
        return pass_error(op, status, &err);
    }
    return PAWL_OK;
}

int pawl__op_definitions_delete(const struct pawl_op *op,
                                const struct pawl_definitions_delete *request,
                                struct pawl_definitions_deleted *out)
{
    struct pawl_definitions_deleted deleted = {.deleted = 0};
    size_t count = request->definition_id_count + request->version_id_count;
    struct pawl_op part = *op;
    struct op_record record;
    int status = make_list(op, count, &deleted.in_use);

    if (status == PAWL_OK)
        status = make_list(op, count, &deleted.skipped);
    if (status == PAWL_OK)
        status = op_record_begin_many(op, &record, "delete", "definition");
    part.record = status == PAWL_OK ? record.by : NULL;
    for (size_t i = 0; i < request->definition_id_count && status == PAWL_OK; i++)
        status = delete_one(&part,
                            &(struct pawl_definition_delete){
                                .definition_id = request->definition_ids[i],
                                .force = request->force,
                                .with_instances = request->with_instances,
                            },
                            request->definition_ids[i], &deleted);
    for (size_t i = 0; i < request->version_id_count && status == PAWL_OK; i++)
        status = delete_one(&part,
                            &(struct pawl_definition_delete){
                                .version_id = request->version_ids[i],
                                .force = request->force,
                                .with_instances = request->with_instances,
                            },
                            request->version_ids[i], &deleted);
    if (status != PAWL_OK && deleted.deleted + deleted.instances > 0)
        status = op_partly(op, status, "%ju definitions and %ju instances were deleted",
                           (uintmax_t)deleted.deleted, (uintmax_t)deleted.instances);
    if (status == PAWL_OK)
        *out = deleted;
    return status;
}
