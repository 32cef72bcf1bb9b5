/* SPDX-License-Identifier: Apache-2.0 */
/* What operators do with instances: alterations, retries, variables, moving, many at once. */
#include "embed/embed.h"

#include "base/error.h"

/* A call on one instance. Not PAWL_OK: there is nothing to end. */
static int begin(struct embed_call *call, struct pawl *pawl, const char *instance_id,
                 struct pawl_error *err)
{
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    return status == PAWL_OK ? pawl__embed_begin(call, pawl, err) : status;
}

int pawl_instance_exists(struct pawl *pawl, const char *instance_id, int *exists,
                         struct pawl_error *err)
{
    struct embed_call call;
    bool found = false;
    int status;

    if (!exists)
        return pawl__error_set(err, PAWL_EINVAL, "there is nowhere to put whether it exists");
    status = begin(&call, pawl, instance_id, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__op_instance_exists(&call.op, pawl__str(instance_id), &found);
    if (status == PAWL_OK)
        *exists = found;
    return pawl__embed_end(&call, status);
}

int pawl_instance_alter(struct pawl *pawl, const char *instance_id, const char *alterations,
                        int dry_run, char **log, struct pawl_error *err)
{
    struct pawl_instance_altered altered;
    struct pawl_json list;
    struct embed_call call;
    int status = begin(&call, pawl, instance_id, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__json_text_read(&call.arena, alterations, "the alterations", &list, err);
    if (status == PAWL_OK)
        status = pawl__op_instance_alter(&call.op, pawl__str(instance_id), &list, dry_run != 0,
                                         &altered);
    return pawl__embed_end_json(&call, status, NULL, &altered.log, log);
}

int pawl_instance_retry(struct pawl *pawl, const char *instance_id, const char *const *activity_ids,
                        size_t count, struct pawl_instance_outcome *out, struct pawl_error *err)
{
    struct pawl_outcome outcome = {0};
    struct pawl_str *ids;
    struct embed_call call;
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
        status = pawl__op_instance_retry(&call.op, pawl__str(instance_id), ids, count, &outcome);
    if (status == PAWL_OK)
        pawl__embed_outcome(&outcome, out);
    return pawl__embed_end(&call, status);
}

/* ---- variables ----------------------------------------------------------------------------- */

int pawl_instance_variables(struct pawl *pawl, const char *instance_id, char **json,
                            struct pawl_error *err)
{
    struct pawl_json variables;
    struct embed_call call;
    int status = pawl__embed_check_json(json, err);

    if (status == PAWL_OK)
        status = begin(&call, pawl, instance_id, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__op_instance_variables(&call.op, pawl__str(instance_id), &variables);
    return pawl__embed_end_json(&call, status, NULL, &variables, json);
}

int pawl_instance_set_variables(struct pawl *pawl, const char *instance_id, const char *variables,
                                struct pawl_error *err)
{
    struct pawl_json list, after;
    struct embed_call call;
    int status = begin(&call, pawl, instance_id, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__json_text_read(&call.arena, variables, "the variables", &list, err);
    if (status == PAWL_OK)
        status =
            pawl__op_instance_set_variables(&call.op, pawl__str(instance_id), &list, false, &after);
    return pawl__embed_end(&call, status);
}

/* ---- moving -------------------------------------------------------------------------------- */

int pawl_instance_export(struct pawl *pawl, const char *instance_id, char **json,
                         struct pawl_error *err)
{
    struct pawl_json exported;
    struct embed_call call;
    int status = pawl__embed_check_json(json, err);

    if (status == PAWL_OK)
        status = begin(&call, pawl, instance_id, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__op_instance_export(&call.op, pawl__str(instance_id), &PAWL_INSTANCE_EXPORT_ALL,
                                      &exported, NULL);
    return pawl__embed_end_json(&call, status, NULL, &exported, json);
}

int pawl_instance_import(struct pawl *pawl, const char *json, struct pawl_instance_outcome *out,
                         struct pawl_error *err)
{
    struct pawl_outcome outcome;
    struct pawl_json exported;
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__json_text_read(&call.arena, json, "the exported instance", &exported, err);
    if (status == PAWL_OK)
        status = pawl__op_instance_import(&call.op, &exported, &outcome);
    if (status == PAWL_OK)
        pawl__embed_outcome(&outcome, out);
    return pawl__embed_end(&call, status);
}

/* ---- many ---------------------------------------------------------------------------------- */

typedef int many_fn(const struct pawl_op *op, const struct pawl_instance_query *query,
                    struct pawl_bulk_result *out);

static int change_many(struct pawl *pawl, const struct pawl_instance_filter *filter,
                       many_fn *change, uint64_t *count, struct pawl_error *err)
{
    static const struct pawl_instance_filter none = {0};
    struct pawl_bulk_result result = {.error = PAWL_ERROR_INIT};
    struct pawl_instance_query query;
    struct embed_call call;
    int status = pawl__embed_begin(&call, pawl, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__embed_query(&call.op, filter ? filter : &none, &query);
    if (status == PAWL_OK)
        status = change(&call.op, &query, &result);
    return pawl__embed_end_bulk(&call, status, &result, count);
}

int pawl_instances_cancel(struct pawl *pawl, const struct pawl_instance_filter *filter,
                          uint64_t *count, struct pawl_error *err)
{
    return change_many(pawl, filter, pawl__op_instances_cancel, count, err);
}

int pawl_instances_delete(struct pawl *pawl, const struct pawl_instance_filter *filter,
                          uint64_t *count, struct pawl_error *err)
{
    return change_many(pawl, filter, pawl__op_instances_delete, count, err);
}
