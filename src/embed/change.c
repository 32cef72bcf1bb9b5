/* SPDX-License-Identifier: Apache-2.0 */
/* What operators do with instances: alterations, retries, variables, moving, many at once. */
#include "embed/embed.h"

#include "base/error.h"
#include "base/json/builder.h"
#include "views/instances.h"

/* A call on one instance: its arena, its operation. */
struct call {
    struct pawl *pawl;
    struct pawl_arena arena;
    struct pawl_op op;
    struct pawl_str id;
};

/* Not PAWL_OK: there is nothing to end. */
static int begin(struct call *call, struct pawl *pawl, const char *instance_id,
                 struct pawl_error *err)
{
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status != PAWL_OK)
        return status;
    call->pawl = pawl;
    call->id = pawl__str(instance_id);
    pawl__arena_init(&call->arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    call->op = pawl__embed_op(pawl, &call->arena, err);
    return PAWL_OK;
}

/* A JSON text for the caller, if he asked for one. */
static int end(struct call *call, int status, const struct pawl_json *value, char **json)
{
    if (status == PAWL_OK && json)
        status = pawl__embed_text(call->pawl, value, json, call->op.err);
    pawl__arena_release(&call->arena);
    return status;
}

int pawl_instance_exists(struct pawl *pawl, const char *instance_id, int *exists,
                         struct pawl_error *err)
{
    struct call call;
    bool found = false;
    int status;

    if (!exists)
        return pawl__error_set(err, PAWL_EINVAL, "there is nowhere to put whether it exists");
    status = begin(&call, pawl, instance_id, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__op_instances_exists(&call.op, call.id, &found);
    if (status == PAWL_OK)
        *exists = found;
    return end(&call, status, NULL, NULL);
}

int pawl_instance_alter(struct pawl *pawl, const char *instance_id, const char *alterations,
                        int dry_run, char **log, struct pawl_error *err)
{
    struct pawl_instance_altered altered;
    struct pawl_json list;
    struct call call;
    int status = begin(&call, pawl, instance_id, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__json_text_read(&call.arena, alterations, "the alterations", &list, err);
    if (status == PAWL_OK)
        status = pawl__op_instances_alter(&call.op, call.id, &list, dry_run != 0, &altered);
    return end(&call, status, &altered.log, log);
}

int pawl_instance_retry(struct pawl *pawl, const char *instance_id, const char *const *activity_ids,
                        size_t count, struct pawl_instance_outcome *out, struct pawl_error *err)
{
    struct pawl_outcome outcome = {0};
    struct pawl_str *ids;
    struct call call;
    int status = begin(&call, pawl, instance_id, err);

    if (status != PAWL_OK)
        return status;
    ids = pawl__arena_alloc_array(&call.arena, count + 1, sizeof *ids);
    if (!ids)
        status = pawl__error_code(err, pawl__arena_status(&call.arena));
    for (size_t i = 0; ids && i < count && status == PAWL_OK; i++) {
        const char *id = activity_ids ? activity_ids[i] : NULL;

        status = pawl__embed_check_text(pawl, id, "an activity's id", err);
        ids[i] = pawl__str(id);
    }
    if (status == PAWL_OK)
        status = pawl__op_instances_retry(&call.op, call.id, ids, count, &outcome);
    if (status == PAWL_OK)
        pawl__embed_outcome(&outcome, out);
    return end(&call, status, NULL, NULL);
}

/* ---- variables ----------------------------------------------------------------------------- */

int pawl_instance_variables(struct pawl *pawl, const char *instance_id, char **json,
                            struct pawl_error *err)
{
    struct pawl_json variables;
    struct call call;
    int status = pawl__embed_check_answer(json, err);

    if (status == PAWL_OK)
        status = begin(&call, pawl, instance_id, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__op_instances_variables(&call.op, call.id, &variables);
    return end(&call, status, &variables, json);
}

int pawl_instance_set_variables(struct pawl *pawl, const char *instance_id, const char *variables,
                                struct pawl_error *err)
{
    struct pawl_json list, after;
    struct call call;
    int status = begin(&call, pawl, instance_id, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__json_text_read(&call.arena, variables, "the variables", &list, err);
    if (status == PAWL_OK)
        status = pawl__op_instances_set_variables(&call.op, call.id, &list, false, &after);
    return end(&call, status, NULL, NULL);
}

/* ---- moving -------------------------------------------------------------------------------- */

int pawl_instance_export(struct pawl *pawl, const char *instance_id, char **json,
                         struct pawl_error *err)
{
    struct pawl_json exported;
    struct call call;
    int status = pawl__embed_check_answer(json, err);

    if (status == PAWL_OK)
        status = begin(&call, pawl, instance_id, err);
    if (status != PAWL_OK)
        return status;
    status =
        pawl__op_instances_export(&call.op, call.id, &PAWL_INSTANCE_EXPORT_ALL, &exported, NULL);
    return end(&call, status, &exported, json);
}

int pawl_instance_import(struct pawl *pawl, const char *json, struct pawl_instance_outcome *out,
                         struct pawl_error *err)
{
    struct pawl_outcome outcome;
    struct pawl_json exported;
    struct pawl_arena arena;
    struct pawl_op op;
    int status = pawl__embed_check(pawl, err);

    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    op = pawl__embed_op(pawl, &arena, err);
    status = pawl__json_text_read(&arena, json, "the exported instance", &exported, err);
    if (status == PAWL_OK)
        status = pawl__op_instances_import(&op, &exported, &outcome);
    pawl__arena_release(&arena);
    if (status == PAWL_OK)
        pawl__embed_outcome(&outcome, out);
    return status;
}

/* ---- many ---------------------------------------------------------------------------------- */

typedef int many_fn(const struct pawl_op *op, const struct pawl_instance_query *query,
                    struct pawl_bulk_result *out);

static int act_on_many(struct pawl *pawl, const struct pawl_instance_filter *filter, many_fn *act,
                       uint64_t *count, struct pawl_error *err)
{
    static const struct pawl_instance_filter none = {0};
    struct pawl_bulk_result result = {.error = PAWL_ERROR_INIT};
    struct pawl_instance_query query;
    struct pawl_arena arena;
    struct pawl_op op;
    int status = pawl__embed_check(pawl, err);

    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    op = pawl__embed_op(pawl, &arena, err);
    status = pawl__embed_query(&op, filter ? filter : &none, &query);
    if (status == PAWL_OK)
        status = act(&op, &query, &result);
    pawl__arena_release(&arena);
    if (count)
        *count = result.done;
    if (status == PAWL_OK && result.error.code != PAWL_OK) {
        status = result.error.code;
        if (err)
            *err = result.error;
    }
    return status;
}

int pawl_instances_cancel(struct pawl *pawl, const struct pawl_instance_filter *filter,
                          uint64_t *count, struct pawl_error *err)
{
    return act_on_many(pawl, filter, pawl__op_instances_cancel_many, count, err);
}

int pawl_instances_delete(struct pawl *pawl, const struct pawl_instance_filter *filter,
                          uint64_t *count, struct pawl_error *err)
{
    return act_on_many(pawl, filter, pawl__op_instances_delete_many, count, err);
}
