/* SPDX-License-Identifier: Apache-2.0 */
/* Views of log records and of executions of activities; see journal.h. */
#include "views/journal.h"

/* How a member is shown. */
enum shape {
    SAME,
    FILLED, /* left out when it is an object without members */
    MAP,    /* an object that names its type, also where there is none */
};

struct member {
    const char *from, *to; /* `to` NULL: the same */
    enum shape shape;
};

#define COUNT(members) (sizeof(members) / sizeof(members)[0])

/* Elsa writes dictionaries of these records with their type. */
static struct pawl_json object_map(struct pawl_builder *b, const struct pawl_json *stored)
{
    struct pawl_json out = pawl__json_object();

    for (uint32_t i = 0; i < pawl__json_len(stored); i++) {
        const struct pawl_json_member *member = pawl__json_member(stored, i);

        if (!pawl__str_is(member->key, "_type"))
            pawl__build_member(b, &out, member->key, pawl__view_plain(b, &member->value));
    }
    pawl__build_name(b, &out, "_type", "ObjectMap");
    return out;
}

static bool is_shown(const struct pawl_json *value, enum shape shape)
{
    if (shape == FILLED && pawl__json_is(value, PAWL_JSON_OBJECT))
        return pawl__json_len(value) > 0;
    return shape == MAP || (value && pawl__json_type(value) != PAWL_JSON_NULL);
}

/* Members that are there and not null, in this order. */
static struct pawl_json pick(struct pawl_builder *b, const struct pawl_json *record,
                             const struct member *members, size_t count)
{
    struct pawl_json out = pawl__json_object();

    for (size_t i = 0; i < count; i++) {
        const struct pawl_json *value = pawl__json_get_text(record, members[i].from);

        if (is_shown(value, members[i].shape))
            pawl__build(b, &out, members[i].to ? members[i].to : members[i].from,
                        members[i].shape == MAP ? object_map(b, value)
                                                : pawl__view_plain(b, value));
    }
    return out;
}

struct pawl_json pawl__view_journal_record(struct pawl_builder *b, const struct pawl_json *record)
{
    static const struct member members[] = {
        {.from = "id"},
        {.from = "activityInstanceId"},
        {.from = "parentActivityInstanceId"},
        {.from = "activityId"},
        {.from = "activityType"},
        {.from = "activityTypeVersion"},
        {.from = "activityName"},
        {.from = "activityNodeId", .to = "nodeId"},
        {.from = "timestamp"},
        {.from = "sequence"},
        {.from = "eventName"},
        {.from = "message"},
        {.from = "source"},
        {.from = "activityState"},
        {.from = "payload"},
    };

    return pick(b, record, members, COUNT(members));
}

struct pawl_json pawl__view_log_record(struct pawl_builder *b, const struct pawl_json *record)
{
    static const struct member members[] = {
        {.from = "workflowDefinitionId"},
        {.from = "workflowDefinitionVersionId"},
        {.from = "workflowInstanceId"},
        {.from = "workflowVersion"},
        {.from = "activityInstanceId"},
        {.from = "parentActivityInstanceId"},
        {.from = "activityId"},
        {.from = "activityType"},
        {.from = "activityTypeVersion"},
        {.from = "activityName"},
        {.from = "activityNodeId"},
        {.from = "timestamp"},
        {.from = "sequence"},
        {.from = "eventName"},
        {.from = "message"},
        {.from = "source"},
        {.from = "activityState"},
        {.from = "payload"},
        {.from = "id"},
    };

    return pick(b, record, members, COUNT(members));
}

struct pawl_json pawl__view_execution(struct pawl_builder *b, const struct pawl_json *record)
{
    static const struct member members[] = {
        {.from = "workflowInstanceId"},
        {.from = "activityId"},
        {.from = "activityNodeId"},
        {.from = "activityType"},
        {.from = "activityTypeVersion"},
        {.from = "activityName"},
        {.from = "activityState", .shape = FILLED},
        {.from = "payload", .shape = FILLED},
        {.from = "outputs", .shape = FILLED},
        {.from = "properties", .shape = MAP},
        {.from = "metadata", .shape = MAP},
        {.from = "exception"},
        {.from = "startedAt"},
        {.from = "hasBookmarks"},
        {.from = "status"},
        {.from = "aggregateFaultCount"},
        {.from = "completedAt"},
        {.from = "schedulingActivityExecutionId"},
        {.from = "schedulingActivityId"},
        {.from = "schedulingWorkflowInstanceId"},
        {.from = "callStackDepth"},
        {.from = "id"},
    };
    struct pawl_json out = pick(b, record, members, COUNT(members));

    pawl__view_text(b, &out, "tenantId", pawl__str(""));
    return out;
}

struct pawl_json pawl__view_execution_summary(struct pawl_builder *b,
                                              const struct pawl_json *record)
{
    static const struct member members[] = {
        {.from = "workflowInstanceId"},
        {.from = "activityId"},
        {.from = "activityNodeId"},
        {.from = "activityType"},
        {.from = "activityTypeVersion"},
        {.from = "activityName"},
        {.from = "startedAt"},
        {.from = "hasBookmarks"},
        {.from = "status"},
        {.from = "metadata", .shape = MAP},
        {.from = "aggregateFaultCount"},
        {.from = "completedAt"},
        {.from = "id"},
    };

    return pick(b, record, members, COUNT(members));
}

struct pawl_json pawl__view_execution_stats(struct pawl_builder *b,
                                            const struct pawl_execution_stats *stats)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "activityId", stats->activity_id);
    pawl__view_text(b, &out, "activityNodeId", stats->node_id);
    pawl__build_int(b, &out, "startedCount", stats->started);
    pawl__build_int(b, &out, "completedCount", stats->completed);
    pawl__build_int(b, &out, "uncompletedCount", stats->started - stats->completed);
    pawl__build_bool(b, &out, "isBlocked", stats->is_blocked);
    pawl__build_bool(b, &out, "isFaulted", stats->is_faulted);
    pawl__build_int(b, &out, "aggregateFaultCount", stats->fault_count);
    pawl__build(b, &out, "metadata", object_map(b, &stats->metadata));
    return out;
}
