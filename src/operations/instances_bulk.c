/* SPDX-License-Identifier: Apache-2.0 */
/* The same done to many instances. */
#include "operations/bulk.h"
#include "operations/instances_private.h"

#include "base/error.h"

bool op_matches_everything(const struct pawl_instance_query *query)
{
    return query->definition_id.len + query->version_id.len + query->correlation_id.len +
                   query->parent_id.len + query->name.len + query->search.len + query->status.len ==
               0 &&
           !query->ids && !query->definition_ids && !query->statuses && !query->sub_statuses &&
           query->version == 0 && query->time_count == 0 && query->has_incidents < 0 &&
           query->is_system < 0 && !query->is_put_off && !query->all;
}

/* What a bulk change goes through: those that a query matches, and how far it is. */
struct matching {
    struct pawl_instance_query query;
    size_t at; /* in the ids of the caller's query */
};

/* The caller's ids in parts that one query takes; without ids, all that match. */
static int list_batch(const struct pawl_op *op, void *ctx, struct op_bulk_batch *batch)
{
    struct matching *matching = ctx;
    struct pawl_instance_query part = matching->query;
    struct pawl_instance_list list = {.count = 0};
    size_t left = part.id_count - matching->at;
    int status;

    if (part.ids) {
        part.ids += matching->at;
        part.id_count = left < OP_BULK_BATCH_MAX ? left : OP_BULK_BATCH_MAX;
    }
    status = pawl__op_instances_list(op, &part, &list);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < list.count; i++)
        batch->ids[batch->count++] = list.rows[i].id;
    matching->query.page.after = list.page.next;
    if (list.page.next.len == 0)
        matching->at += part.id_count;
    batch->is_last =
        list.page.next.len == 0 && (!part.ids || matching->at >= matching->query.id_count);
    return PAWL_OK;
}

static int change_many(const struct pawl_op *op, const struct pawl_instance_query *query,
                       struct op_bulk *bulk, struct pawl_bulk_result *out)
{
    struct matching matching = {.query = *query};
    struct pawl_builder b = {.arena = op->arena};

    bulk->asked = pawl__json_object();
    if (op_matches_everything(query))
        return pawl__error_set(op->err, PAWL_EINVAL,
                               "no filter is given: an empty filter does not mean all instances");
    op_build_given(&b, &bulk->asked, "definitionId", query->definition_id);
    op_build_given(&b, &bulk->asked, "versionId", query->version_id);
    op_build_given(&b, &bulk->asked, "correlationId", query->correlation_id);
    op_build_given(&b, &bulk->asked, "parentId", query->parent_id);
    op_build_given(&b, &bulk->asked, "name", query->name);
    op_build_given(&b, &bulk->asked, "search", query->search);
    op_build_given(&b, &bulk->asked, "status", query->status);
    if (b.status != PAWL_OK)
        return pawl__error_code(op->err, b.status);
    matching.query.page = (struct pawl_page_request){.limit = OP_BULK_BATCH_MAX};
    bulk->kind = "instance";
    bulk->list = list_batch;
    bulk->ctx = &matching;
    return op_bulk_run(op, bulk, out);
}

static int cancel_one(const struct pawl_op *op, void *ctx, struct pawl_str id)
{
    (void)ctx;
    return pawl__op_instance_cancel(op, id, false, NULL);
}

int pawl__op_instances_cancel(const struct pawl_op *op, const struct pawl_instance_query *query,
                              struct pawl_bulk_result *out)
{
    struct pawl_instance_query running = *query;

    if (query->status.len > 0 && !pawl__str_equal_nocase(query->status, pawl__str("Running")))
        return pawl__error_set(op->err, PAWL_EINVAL, "only running instances can be cancelled");
    /* Checked before it is narrowed: that they run is no filter of the caller's. */
    if (!op_matches_everything(query))
        running.status = pawl__str("Running");
    return change_many(op, &running, &(struct op_bulk){.action = "cancel", .act = cancel_one}, out);
}

static int delete_one(const struct pawl_op *op, void *ctx, struct pawl_str id)
{
    (void)ctx;
    return pawl__op_instance_delete(op, id);
}

int pawl__op_instances_delete(const struct pawl_op *op, const struct pawl_instance_query *query,
                              struct pawl_bulk_result *out)
{
    return change_many(op, query, &(struct op_bulk){.action = "delete", .act = delete_one}, out);
}

/* ---- alterations ---------------------------------------------------------------------------- */

static void alter_one(const struct pawl_op *op, struct pawl_str instance_id,
                      const struct pawl_json *alterations, bool dry_run,
                      struct pawl_instance_altered *out)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_op each = *op;

    each.err = &err;
    if (pawl__op_instance_alter(&each, instance_id, alterations, dry_run, out) == PAWL_OK)
        return;
    *out = (struct pawl_instance_altered){
        .instance_id = instance_id, .log = pawl__json_array(), .error = err};
}

/* Ids of those that match, PAWL_ALTER_MANY_MAX at the most; more are PAWL_ELIMIT. */
struct chosen {
    struct pawl_str *ids;
    size_t count;
};

/* An id that is given twice may be in two parts; each part has it once. */
static bool is_chosen(const struct chosen *chosen, size_t before, struct pawl_str id)
{
    for (size_t i = 0; i < before; i++) {
        if (pawl__str_equal(chosen->ids[i], id))
            return true;
    }
    return false;
}

static int choose(const struct pawl_op *op, const struct pawl_instance_query *query,
                  struct chosen *to)
{
    struct pawl_instance_list list;
    size_t before = to->count;
    int status = pawl__op_instances_list(op, query, &list);

    if (status != PAWL_OK)
        return status;
    if (list.page.next.len > 0 || to->count + list.count > PAWL_ALTER_MANY_MAX)
        return pawl__error_set(op->err, PAWL_ELIMIT,
                               "more than %u instances match: alter them in parts",
                               PAWL_ALTER_MANY_MAX);
    for (size_t i = 0; i < list.count; i++) {
        if (!is_chosen(to, before, list.rows[i].id))
            to->ids[to->count++] = list.rows[i].id;
    }
    return PAWL_OK;
}

/* All are chosen before the first is altered: too many, and none is. */
static int choose_all(const struct pawl_op *op, const struct pawl_instance_query *query,
                      struct chosen *to)
{
    struct pawl_instance_query part = *query;
    int status = PAWL_OK;

    to->count = 0;
    to->ids = pawl__arena_alloc_array(op->arena, PAWL_ALTER_MANY_MAX + 1, sizeof *to->ids);
    if (!to->ids)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    part.page = (struct pawl_page_request){.limit = PAWL_ALTER_MANY_MAX + 1};
    if (!query->ids)
        return choose(op, &part, to);
    for (size_t at = 0; at < query->id_count && status == PAWL_OK; at += OP_BULK_BATCH_MAX) {
        part.ids = query->ids + at;
        part.id_count =
            query->id_count - at < OP_BULK_BATCH_MAX ? query->id_count - at : OP_BULK_BATCH_MAX;
        status = choose(op, &part, to);
    }
    return status;
}

int pawl__op_instances_alter(const struct pawl_op *op, const struct pawl_instance_query *query,
                             const struct pawl_json *alterations, bool dry_run,
                             struct pawl_instance_altered **out, size_t *count)
{
    struct pawl_instance_altered *altered;
    struct pawl_op recorded = *op;
    struct op_record record;
    struct chosen chosen;
    struct pawl_json many;
    int status;

    if (op_matches_everything(query))
        return pawl__error_set(op->err, PAWL_EINVAL, "no instances and no filter are given");
    status = choose_all(op, query, &chosen);
    if (status == PAWL_OK)
        status = op_alterations(op, alterations, &many);
    if (status == PAWL_OK && !dry_run)
        status = op_record_begin_many(op, &record, "alter", "instance");
    if (status != PAWL_OK)
        return status;
    recorded.record = dry_run ? NULL : record.by;
    altered = pawl__arena_alloc_array(op->arena, chosen.count + 1, sizeof *altered);
    if (!altered)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    for (size_t i = 0; i < chosen.count; i++)
        alter_one(&recorded, chosen.ids[i], &many, dry_run, &altered[i]);
    *out = altered;
    *count = chosen.count;
    return PAWL_OK;
}
