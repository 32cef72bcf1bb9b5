/* SPDX-License-Identifier: Apache-2.0 */
/* Views of workflow instances; see instances.h. */
#include "views/instances.h"

/* Of Pawl's own, at the end. */
static void add_trouble(struct pawl_builder *b, struct pawl_json *out,
                        const struct pawl_instance_row *row)
{
    if (row->retry_us != 0) {
        pawl__build_bool(b, out, "isSetAside", row->retry_us == PAWL_TIME_NEVER);
        if (row->retry_us != PAWL_TIME_NEVER)
            pawl__view_time(b, out, "retryAt", row->retry_us);
    }
    pawl__view_optional(b, out, "trouble", row->trouble);
}

struct pawl_json pawl__view_instance_summary(struct pawl_builder *b,
                                             const struct pawl_instance_row *row)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "id", row->id);
    pawl__view_text(b, &out, "definitionId", row->definition_id);
    pawl__view_text(b, &out, "definitionVersionId", row->version_id);
    pawl__build_int(b, &out, "version", row->version);
    pawl__view_text(b, &out, "status", row->status);
    pawl__view_text(b, &out, "subStatus", row->sub_status);
    pawl__view_optional(b, &out, "correlationId", row->correlation_id);
    pawl__view_optional(b, &out, "name", row->name);
    pawl__build_int(b, &out, "incidentCount", row->incident_count);
    pawl__view_time(b, &out, "createdAt", row->created_us);
    pawl__view_time(b, &out, "updatedAt", row->updated_us);
    if (row->finished_us != 0)
        pawl__view_time(b, &out, "finishedAt", row->finished_us);
    add_trouble(b, &out, row);
    return out;
}

/* ---- state ---------------------------------------------------------------------------------- */

/* A member of Pawl's own: of a burst in progress. */
#define OWN "pawl"

static struct pawl_json without_own(struct pawl_builder *b, const struct pawl_json *list)
{
    struct pawl_json out = pawl__json_array();

    for (uint32_t i = 0; i < pawl__json_len(list) && b->status == PAWL_OK; i++)
        pawl__build_append(b, &out, pawl__view_plain_object(b, pawl__json_at(list, i), OWN));
    return out;
}

struct pawl_json pawl__view_state(struct pawl_builder *b, const struct pawl_json *stored)
{
    struct pawl_json out = pawl__json_object();

    if (!pawl__json_is(stored, PAWL_JSON_OBJECT))
        return pawl__json_null();
    for (uint32_t i = 0; i < pawl__json_len(stored) && b->status == PAWL_OK; i++) {
        const struct pawl_json_member *member = pawl__json_member(stored, i);
        struct pawl_json value;

        if (pawl__str_is(member->key, OWN))
            continue;
        if (pawl__str_is(member->key, "activityExecutionContexts") ||
            pawl__str_is(member->key, "scheduledActivities"))
            value = without_own(b, &member->value);
        else
            value = pawl__view_plain(b, &member->value);
        pawl__build_member(b, &out, member->key, value);
    }
    return out;
}

/* ---- one instance --------------------------------------------------------------------------- */

struct pawl_json pawl__view_instance(struct pawl_builder *b,
                                     const struct pawl_instance_shown *shown)
{
    const struct pawl_instance_row *row = &shown->row;
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "id", row->id);
    pawl__view_text(b, &out, "definitionId", row->definition_id);
    pawl__view_text(b, &out, "definitionVersionId", row->version_id);
    pawl__build_int(b, &out, "version", row->version);
    pawl__view_optional(b, &out, "parentWorkflowInstanceId", row->parent_id);
    pawl__build(b, &out, "workflowState", pawl__view_state(b, &shown->state));
    if (shown->unreadable.code != PAWL_OK)
        pawl__view_text(b, &out, "unreadable", pawl__str(shown->unreadable.msg));
    pawl__view_text(b, &out, "status", row->status);
    pawl__view_text(b, &out, "subStatus", row->sub_status);
    pawl__build_bool(b, &out, "isExecuting", row->runnable != 0);
    pawl__view_optional(b, &out, "correlationId", row->correlation_id);
    pawl__view_optional(b, &out, "name", row->name);
    pawl__build_int(b, &out, "incidentCount", row->incident_count);
    pawl__build_bool(b, &out, "isSystem", row->is_system != 0);
    pawl__view_time(b, &out, "createdAt", row->created_us);
    pawl__view_time(b, &out, "updatedAt", row->updated_us);
    if (row->finished_us != 0)
        pawl__view_time(b, &out, "finishedAt", row->finished_us);
    add_trouble(b, &out, row);
    return out;
}

struct pawl_json pawl__view_execution_state(struct pawl_builder *b,
                                            const struct pawl_instance_row *row)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "status", row->status);
    pawl__view_text(b, &out, "subStatus", row->sub_status);
    pawl__view_time(b, &out, "updatedAt", row->updated_us);
    return out;
}

struct pawl_json pawl__view_variables(struct pawl_builder *b, const struct pawl_json *variables)
{
    struct pawl_json out = pawl__json_object();

    pawl__build(b, &out, "items", *variables);
    pawl__build_int(b, &out, "count", pawl__json_len(variables));
    return out;
}

struct pawl_json pawl__view_altered(struct pawl_builder *b,
                                    const struct pawl_instance_altered *altered)
{
    struct pawl_json out = pawl__json_object(), log = pawl__json_object();

    pawl__view_text(b, &out, "workflowInstanceId", altered->instance_id);
    pawl__build(b, &log, "logEntries", altered->log);
    pawl__build(b, &out, "log", log);
    pawl__build_bool(b, &out, "isSuccessful", altered->error.code == PAWL_OK);
    if (altered->error.code != PAWL_OK)
        pawl__view_text(b, &out, "error", pawl__str(altered->error.msg));
    return out;
}
