/* SPDX-License-Identifier: Apache-2.0 */
/* The execution log: one record per thing that happened, numbered over the instance's whole life.
 */
#include "engine/run/instance.h"

static int add_record(struct pawl_burst *burst, const struct pawl_log_record *record)
{
    int status = VECTOR_GROW(burst, &burst->log);

    if (status != PAWL_OK)
        return status;
    burst->log.items[burst->log.count] = *record;
    burst->log.items[burst->log.count].id = pawl__burst_new_id(burst);
    burst->log.items[burst->log.count].timestamp = burst->now;
    burst->log.items[burst->log.count].sequence = burst->log_sequence;
    if (burst->log.items[burst->log.count].id.len == 0)
        return pawl__arena_status(&burst->arena);
    burst->log.count++;
    burst->log_sequence++;
    return PAWL_OK;
}

int pawl__log_entry(struct pawl_context *context, const char *event, struct pawl_str message,
                    const struct pawl_json *payload)
{
    const struct pawl_node *node = context->node;
    struct pawl_log_record record = {
        .context = context,
        .activity_instance_id = context->id,
        .parent_activity_instance_id = context->parent ? context->parent->id : pawl__str(""),
        .activity_id = node->id,
        .activity_type = node->type,
        .activity_version = node->version,
        .activity_name = node->name,
        .activity_node_id = node->node_id,
        .event = pawl__str(event),
        .message = message,
        .source = node->source,
        .payload = payload ? *payload : pawl__json_null(),
    };

    return add_record(context->burst, &record);
}

int pawl__log_workflow(struct pawl_burst *burst, const char *event, struct pawl_str message,
                       const struct pawl_json *payload)
{
    const struct pawl_node *root = burst->graph->root;
    struct pawl_log_record record = {
        .activity_instance_id = burst->id,
        .parent_activity_instance_id = pawl__str(""),
        .activity_id = root->id,
        .activity_type = root->type,
        .activity_version = root->version,
        .activity_name = root->name,
        .activity_node_id = burst->definition_version_id,
        .event = pawl__str(event),
        .message = message,
        .source = pawl__str(""),
        .payload = payload ? *payload : pawl__json_null(),
    };

    return add_record(burst, &record);
}
