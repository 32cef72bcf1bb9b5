/* SPDX-License-Identifier: Apache-2.0 */
/* Starting instances, and going on with one. */
#include "operations/instances_private.h"

#include "base/error.h"
#include "host/features.h"
#include "host/host.h"

int op_client(const struct pawl_op *op, struct pawl_str instance_id,
              struct pawl_workflow_client **out)
{
    return pawl__workflow_runtime_client(pawl__host_get(op->host, PAWL_SLOT_RUNTIME), instance_id,
                                         out, op->err);
}

int op_add_state(const struct pawl_op *op, bool with_state, struct pawl_instance_result *result)
{
    struct pawl_instance_shown shown;
    struct pawl_str id = pawl__str(result->outcome.instance_id);
    int status;

    result->state = pawl__json_null();
    result->row = (struct pawl_instance_row){0};
    if (!with_state || result->outcome.refused)
        return PAWL_OK;
    status = pawl__op_instance_show(op, id, true, &shown);
    if (status == PAWL_OK) {
        result->row = shown.row;
        result->state = shown.state;
    }
    return status;
}

/* By its version's id, unless the published one is meant: the cache knows that. */
static int choose_version(const struct pawl_op *op, const struct pawl_instance_start *request,
                          struct pawl_start *what)
{
    struct pawl_definition_row row;
    int status;

    if (what->definition_id.len == 0 && what->version_id.len == 0)
        return pawl__error_set(op->err, PAWL_EINVAL, "no definition to start is given");
    if (what->version_id.len > 0 || request->version.pick == PAWL_VERSIONS_DEFAULT ||
        request->version.pick == PAWL_VERSIONS_PUBLISHED)
        return PAWL_OK;
    status =
        pawl__definitions_find(op_definitions(op), what->definition_id, request->version.pick,
                               request->version.number, op->arena, &row, op->deadline_ns, op->err);
    if (status == PAWL_OK)
        what->version_id = row.id;
    return status;
}

static int check_object(const struct pawl_op *op, const struct pawl_json *value, const char *what)
{
    if (pawl__json_is(value, PAWL_JSON_OBJECT) || pawl__json_is(value, PAWL_JSON_NULL))
        return PAWL_OK;
    return pawl__error_set(op->err, PAWL_EINVAL, "%s must be an object, not %s", what,
                           pawl__json_type_name(value));
}

/* One that was there before, by its key, is as it stands now. */
static int tell_existing(const struct pawl_op *op, struct pawl_outcome *out)
{
    struct pawl_instance_shown shown;
    int status = pawl__op_instance_show(op, pawl__str(out->instance_id), false, &shown);

    /* Its key is remembered longer than it may be kept. */
    if (status == PAWL_ENOTFOUND)
        return PAWL_OK;
    if (status == PAWL_OK) {
        (void)pawl__sub_status_parse(shown.row.sub_status, &out->sub_status);
        out->incident_count = shown.row.incident_count;
    }
    return status;
}

int op_start(const struct pawl_op *op, const struct pawl_instance_start *request, bool unattended,
             struct pawl_outcome *out)
{
    struct pawl_workflow_client *client = NULL;
    struct pawl_start what = request->what;
    struct pawl_outcome outcome = {0};
    int status = check_object(op, &what.input, "inputs");

    what.unattended = unattended;
    if (status == PAWL_OK)
        status = check_object(op, &what.variables, "variables");
    if (status == PAWL_OK)
        status = choose_version(op, request, &what);
    if (status == PAWL_OK)
        status = op_client(op, what.instance_id, &client);
    if (status == PAWL_OK)
        status = request->detached ? pawl__workflow_client_create(client, &what, &outcome,
                                                                  op->deadline_ns, op->err)
                                   : pawl__workflow_client_create_and_run(client, &what, &outcome,
                                                                          op->deadline_ns, op->err);
    pawl__workflow_client_close(client);
    if (status == PAWL_OK && outcome.existed)
        status = tell_existing(op, &outcome);
    if (status == PAWL_OK)
        *out = outcome;
    return status;
}

int op_tell_begun(const struct pawl_op *op, const char *instance_id, int status)
{
    char why[PAWL_ERROR_MSG_SIZE] = "";

    if (pawl_error_class(status) != PAWL_CLASS_TRANSIENT && status != PAWL_ESTOPPED)
        return status;
    if (op->err)
        memcpy(why, op->err->msg, sizeof why);
    return pawl__error_set(
        op->err, PAWL_EUNKNOWN,
        "instance %s has started and continues on its own; check it before you try "
        "again (%.200s)",
        instance_id, why);
}

int pawl__op_instance_start(const struct pawl_op *op, const struct pawl_instance_start *request,
                            struct pawl_instance_result *out)
{
    struct pawl_instance_result result;
    int status = op_start(op, request, false, &result.outcome);

    if (status == PAWL_OK)
        status = op_tell_begun(op, result.outcome.instance_id,
                               op_add_state(op, request->with_state, &result));
    if (status == PAWL_OK)
        *out = result;
    return status;
}

int pawl__op_instances_dispatch(const struct pawl_op *op, const struct pawl_instance_start *request,
                                uint32_t number, struct pawl_str **ids, uint32_t *count)
{
    struct pawl_instance_start each = *request;
    struct pawl_str *made;
    uint32_t made_count = 0;
    int status = PAWL_OK;

    *count = 0;
    if (number > PAWL_DISPATCH_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "at most %u instances at a time, not %u",
                               PAWL_DISPATCH_MAX, number);
    if (request->what.instance_id.len > 0 || request->what.idempotency_key.len > 0)
        return pawl__error_set(op->err, PAWL_EINVAL,
                               "an id or a key is for one instance only, not for several");
    made = pawl__arena_alloc_array(op->arena, (size_t)number + 1, sizeof *made);
    if (!made)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    each.detached = true;
    while (made_count < number && status == PAWL_OK) {
        struct pawl_outcome outcome;

        status = op_start(op, &each, true, &outcome);
        if (status == PAWL_OK && outcome.refused)
            status = pawl__error_set(op->err, PAWL_ECONFLICT,
                                     "the activation strategy allows no more instances than the "
                                     "%u that were created",
                                     made_count);
        if (status != PAWL_OK)
            break;
        made[made_count] = pawl__arena_str(op->arena, pawl__str(outcome.instance_id));
        if (made[made_count].ptr)
            made_count++;
        else
            status = pawl__error_code(op->err, pawl__arena_status(op->arena));
    }
    *ids = made;
    *count = made_count;
    return status;
}

int pawl__op_instance_resume(const struct pawl_op *op, struct pawl_str instance_id,
                             const struct pawl_run *request, bool with_state,
                             struct pawl_instance_result *out)
{
    struct pawl_workflow_client *client = NULL;
    struct pawl_instance_result result = {.outcome = {.existed = false}};
    int status = check_object(op, &request->input, "inputs");

    if (status == PAWL_OK)
        status = check_object(op, &request->variables, "variables");
    if (status == PAWL_OK)
        status = op_client(op, instance_id, &client);
    if (status == PAWL_OK)
        status =
            pawl__workflow_client_run(client, request, &result.outcome, op->deadline_ns, op->err);
    pawl__workflow_client_close(client);
    if (status == PAWL_OK)
        status =
            op_tell_begun(op, result.outcome.instance_id, op_add_state(op, with_state, &result));
    if (status == PAWL_OK)
        *out = result;
    return status;
}
