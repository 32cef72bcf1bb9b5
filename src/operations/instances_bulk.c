/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same done to many instances. They are listed in batches, by cursor, so that what is deleted
 * or changed on the way moves nothing that is still to come; each is its own commit.
 */
#include "operations/instances_private.h"

#include "base/error.h"

/* Instances of one batch, and ids that one query names. */
#define BATCH_MAX 200u
/* Rows of one batch. */
#define BATCH_BYTES_MAX ((size_t)256 << 20)

bool op_matches_everything(const struct pawl_instance_query *query)
{
    return query->definition_id.len + query->version_id.len + query->correlation_id.len +
                   query->parent_id.len + query->name.len + query->search.len + query->status.len ==
               0 &&
           !query->ids && !query->definition_ids && !query->sub_statuses && query->version == 0 &&
           query->time_count == 0 && query->has_incidents < 0 && query->is_system < 0 &&
           !query->is_put_off;
}

typedef int act_fn(const struct pawl_op *op, const struct pawl_instance_row *row);

struct bulk {
    const struct pawl_op *op;
    act_fn *act;
    struct pawl_bulk_result result;
};

/* Whether the next ones would fail like this one. */
static bool ends_all(const struct pawl_op *op, int status)
{
    return pawl_env_monotonic_ns(op_env(op)) >= op->deadline_ns || status == PAWL_ESTOPPED ||
           status == PAWL_EUNAVAILABLE || status == PAWL_ENOMEM || status == PAWL_EIO;
}

static void note_failure(struct bulk *bulk, int status, const struct pawl_error *err)
{
    if (bulk->result.error.code == PAWL_OK)
        bulk->result.error = *err;
    if (ends_all(bulk->op, status))
        bulk->result.is_partial = true;
}

static void act_on(struct bulk *bulk, struct pawl_arena *arena, const struct pawl_instance_row *row)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_op each = *bulk->op;
    int status;

    each.arena = arena;
    each.err = &err;
    status = bulk->act(&each, row);
    if (status == PAWL_OK) {
        bulk->result.done++;
    } else if (status != PAWL_ENOTFOUND) { /* which somebody else deleted meanwhile */
        bulk->result.failed++;
        note_failure(bulk, status, &err);
    }
}

/* All that one query matches. */
static int act_on_query(struct bulk *bulk, struct pawl_instance_query query)
{
    struct pawl_op batch = *bulk->op;
    struct pawl_arena arenas[2]; /* the cursor is in that of the batch before */
    struct pawl_instance_list list;
    unsigned turn = 0;
    int status;

    query.page = (struct pawl_page_request){.limit = BATCH_MAX};
    for (unsigned i = 0; i < 2; i++)
        pawl__arena_init(&arenas[i], &op_env(bulk->op)->alloc, BATCH_BYTES_MAX);
    do {
        pawl__arena_reset(&arenas[turn]);
        batch.arena = &arenas[turn];
        status = pawl__op_instances_list(&batch, &query, &list);
        for (size_t i = 0; status == PAWL_OK && i < list.count && !bulk->result.is_partial; i++)
            act_on(bulk, &arenas[turn], &list.rows[i]);
        if (status == PAWL_OK)
            query.page.after = list.page.next;
        turn ^= 1u;
    } while (status == PAWL_OK && query.page.after.len > 0 && !bulk->result.is_partial);
    for (unsigned i = 0; i < 2; i++)
        pawl__arena_release(&arenas[i]);
    return status;
}

static int act_on_many(const struct pawl_op *op, const struct pawl_instance_query *query,
                       const char *action, struct pawl_str status_of_them, act_fn *act,
                       struct pawl_bulk_result *out)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_op heard = *op;
    struct bulk bulk = {.op = &heard, .act = act, .result = {.error = PAWL_ERROR_INIT}};
    struct pawl_instance_query part = *query;
    struct op_record record;
    size_t at = 0;
    int status;

    if (op_matches_everything(query))
        return pawl__error_set(op->err, PAWL_EINVAL,
                               "no filter is given: an empty filter does not mean all instances");
    status = op_record_begin_many(op, &record, action, "instance");
    if (status != PAWL_OK)
        return status;
    heard.record = record.by;
    heard.err = &err; /* the result has it, also when the caller wants no message */
    if (status_of_them.len > 0)
        part.status = status_of_them;
    if (!query->ids)
        status = act_on_query(&bulk, part);
    for (; query->ids && at < query->id_count && status == PAWL_OK && !bulk.result.is_partial;
         at += BATCH_MAX) {
        part.ids = query->ids + at;
        part.id_count = query->id_count - at < BATCH_MAX ? query->id_count - at : BATCH_MAX;
        status = act_on_query(&bulk, part);
    }
    /* What was done is told, also where the next batch could not be asked for. */
    if (status != PAWL_OK && bulk.result.done > 0) {
        if (bulk.result.error.code == PAWL_OK)
            bulk.result.error = err;
        bulk.result.is_partial = true;
        status = PAWL_OK;
    }
    if (status == PAWL_OK)
        *out = bulk.result;
    else if (op->err)
        *op->err = err;
    return status;
}

static int cancel_one(const struct pawl_op *op, const struct pawl_instance_row *row)
{
    return pawl__op_instances_cancel(op, row->id, false, NULL);
}

int pawl__op_instances_cancel_many(const struct pawl_op *op,
                                   const struct pawl_instance_query *query,
                                   struct pawl_bulk_result *out)
{
    if (query->status.len > 0 && !pawl__str_equal_nocase(query->status, pawl__str("Running")))
        return pawl__error_set(op->err, PAWL_EINVAL, "only running instances can be cancelled");
    return act_on_many(op, query, "cancel", pawl__str("Running"), cancel_one, out);
}

static int delete_one(const struct pawl_op *op, const struct pawl_instance_row *row)
{
    return pawl__op_instances_delete(op, row->id);
}

int pawl__op_instances_delete_many(const struct pawl_op *op,
                                   const struct pawl_instance_query *query,
                                   struct pawl_bulk_result *out)
{
    return act_on_many(op, query, "delete", pawl__str(""), delete_one, out);
}

/* ---- alterations ---------------------------------------------------------------------------- */

static void alter_one(const struct pawl_op *op, struct pawl_str instance_id,
                      const struct pawl_json *alterations, bool dry_run,
                      struct pawl_instance_altered *out)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_op each = *op;

    each.err = &err;
    if (pawl__op_instances_alter(&each, instance_id, alterations, dry_run, out) == PAWL_OK)
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
    for (size_t at = 0; at < query->id_count && status == PAWL_OK; at += BATCH_MAX) {
        part.ids = query->ids + at;
        part.id_count = query->id_count - at < BATCH_MAX ? query->id_count - at : BATCH_MAX;
        status = choose(op, &part, to);
    }
    return status;
}

int pawl__op_instances_alter_many(const struct pawl_op *op, const struct pawl_instance_query *query,
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
