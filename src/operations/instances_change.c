/* SPDX-License-Identifier: Apache-2.0 */
/* What operators change in one instance: alterations, retries, variables. */
#include "operations/instances_private.h"

#include "base/error.h"
#include "base/json/builder.h"

static int check_id(const struct pawl_op *op, struct pawl_str instance_id)
{
    return instance_id.len > 0 ? PAWL_OK
                               : pawl__error_set(op->err, PAWL_EINVAL, "no instance is given");
}

int op_alterations(const struct pawl_op *op, const struct pawl_json *given, struct pawl_json *out)
{
    struct pawl_json list = pawl__json_array();
    int status = PAWL_OK;

    if (pawl__json_is(given, PAWL_JSON_OBJECT)) {
        status = pawl__json_append(op->arena, &list, *given);
        *out = list;
    } else {
        *out = *given;
    }
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, status);
}

/* What is recorded of alterations: all but the values. */
static int record_alterations(const struct pawl_op *op, struct op_record *record,
                              const struct pawl_json *alterations)
{
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_json asked = pawl__json_array();

    for (uint32_t i = 0; i < pawl__json_len(alterations); i++) {
        const struct pawl_json *one = pawl__json_at(alterations, i);
        struct pawl_json brief = pawl__json_object();

        for (uint32_t k = 0; pawl__json_is(one, PAWL_JSON_OBJECT) && k < pawl__json_len(one); k++) {
            const struct pawl_json_member *member = pawl__json_member(one, k);

            if (b.status == PAWL_OK && !pawl__str_equal_nocase(member->key, pawl__str("value")))
                b.status = pawl__json_set(op->arena, &brief, member->key, member->value);
        }
        pawl__build_append(&b, &asked, brief);
    }
    return op_record_asked(op, record, &b, &asked);
}

static int alter(const struct pawl_op *op, const char *action, struct pawl_str instance_id,
                 const struct pawl_json *alterations, bool dry_run,
                 struct pawl_instance_altered *out)
{
    struct pawl_instance_altered altered = {
        .instance_id = instance_id, .log = pawl__json_array(), .error = PAWL_ERROR_INIT};
    struct pawl_workflow_client *client = NULL;
    struct op_record record;
    struct pawl_json list;
    int status = check_id(op, instance_id);

    if (status == PAWL_OK)
        status = op_alterations(op, alterations, &list);
    if (status == PAWL_OK)
        status = op_client(op, instance_id, &client);
    if (status == PAWL_OK && !dry_run)
        status = op_record_begin(op, &record, action, "instance", instance_id);
    if (status == PAWL_OK && !dry_run)
        status = record_alterations(op, &record, &list);
    if (status == PAWL_OK) {
        client->by = dry_run ? NULL : record.by;
        status = pawl__workflow_client_alter(client, &list, dry_run, op->arena, &altered.log,
                                             &altered.outcome, op->deadline_ns, op->err);
        if (!dry_run)
            status = op_record_end(op, &record, false, status);
    }
    pawl__workflow_client_close(client);
    if (status == PAWL_OK)
        *out = altered;
    return status;
}

int pawl__op_instance_alter(const struct pawl_op *op, struct pawl_str instance_id,
                            const struct pawl_json *alterations, bool dry_run,
                            struct pawl_instance_altered *out)
{
    return alter(op, "alter", instance_id, alterations, dry_run, out);
}

int pawl__op_instance_retry(const struct pawl_op *op, struct pawl_str instance_id,
                            const struct pawl_str *activity_ids, size_t count,
                            struct pawl_outcome *out)
{
    struct pawl_json asked = pawl__json_object(), ids = pawl__json_array();
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_workflow_client *client = NULL;
    struct pawl_outcome outcome;
    struct op_record record;
    int status = check_id(op, instance_id);

    if (status == PAWL_OK)
        status = op_client(op, instance_id, &client);
    if (status == PAWL_OK)
        status = op_record_begin(op, &record, "retry", "instance", instance_id);
    for (size_t i = 0; i < count; i++)
        pawl__build_append(&b, &ids, pawl__json_string(activity_ids[i]));
    pawl__build(&b, &asked, "activityIds", ids);
    if (status == PAWL_OK && count > 0)
        status = op_record_asked(op, &record, &b, &asked);
    if (status == PAWL_OK) {
        client->by = record.by;
        status = pawl__workflow_client_retry(client, activity_ids, count, &outcome, op->deadline_ns,
                                             op->err);
        status = op_record_end(op, &record, false, status);
    }
    pawl__workflow_client_close(client);
    if (status == PAWL_OK)
        *out = outcome;
    return status;
}

/* ---- variables ------------------------------------------------------------------------------ */

int pawl__op_instance_variables(const struct pawl_op *op, struct pawl_str instance_id,
                                struct pawl_json *out)
{
    int status = check_id(op, instance_id);

    return status == PAWL_OK ? pawl__runtime_variables(op_runtime(op), instance_id, op->arena, out,
                                                       op->deadline_ns, op->err)
                             : status;
}

static bool has_variable(const struct pawl_json *variables, struct pawl_str id)
{
    for (uint32_t i = 0; i < pawl__json_len(variables); i++) {
        if (pawl__str_equal(pawl__json_str(pawl__json_get_text(pawl__json_at(variables, i), "id")),
                            id))
            return true;
    }
    return false;
}

/* ModifyVariable of each that is to be set. */
static int make_alterations(const struct pawl_op *op, const struct pawl_json *variables,
                            const struct pawl_json *known, struct pawl_json *out)
{
    struct pawl_builder b = {.arena = op->arena};

    if (!pawl__json_is(variables, PAWL_JSON_ARRAY))
        return pawl__error_set(op->err, PAWL_EINVAL, "variables must be an array of {id, value}");
    *out = pawl__json_array();
    for (uint32_t i = 0; i < pawl__json_len(variables); i++) {
        const struct pawl_json *one = pawl__json_at(variables, i);
        const struct pawl_json *value = pawl__json_get_nocase(one, pawl__str("value"));
        struct pawl_str id = pawl__json_str(pawl__json_get_nocase(one, pawl__str("id")));
        struct pawl_json alteration = pawl__json_object();

        if (id.len == 0)
            return pawl__error_set(op->err, PAWL_EINVAL, "variable %u has no id", i + 1);
        if (known && !has_variable(known, id))
            continue;
        pawl__build_name(&b, &alteration, "type", "ModifyVariable");
        pawl__build_text(&b, &alteration, "variableId", id);
        pawl__build(&b, &alteration, "value", value ? *value : pawl__json_null());
        pawl__build_append(&b, out, alteration);
    }
    return b.status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, b.status);
}

int pawl__op_instance_set_variables(const struct pawl_op *op, struct pawl_str instance_id,
                                    const struct pawl_json *variables, bool lenient,
                                    struct pawl_json *out)
{
    struct pawl_instance_altered altered;
    struct pawl_json known, alterations;
    int status = pawl__op_instance_variables(op, instance_id, &known);

    if (status == PAWL_OK)
        status = make_alterations(op, variables, lenient ? &known : NULL, &alterations);
    if (status == PAWL_OK && pawl__json_len(&alterations) == 0) {
        *out = known;
        return PAWL_OK;
    }
    if (status == PAWL_OK)
        status = alter(op, "set-variables", instance_id, &alterations, false, &altered);
    if (status != PAWL_OK)
        return status;
    return pawl__error_after_commit(op->err, pawl__op_instance_variables(op, instance_id, out),
                                    "the variables of %.*s were set", PAWL_STR_ARG(instance_id));
}
