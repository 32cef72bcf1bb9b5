/* SPDX-License-Identifier: Apache-2.0 */
/* Views of log records and of executions of activities; see journal.h. */
#include "views/journal.h"

struct member {
    const char *from, *to; /* `to` NULL: the same */
};

/* Members that are there and not null, in this order. */
static struct pawl_json pick(struct pawl_builder *b, const struct pawl_json *record,
                             const struct member *members, size_t count)
{
    struct pawl_json out = pawl__json_object();

    for (size_t i = 0; i < count; i++) {
        const struct pawl_json *value = pawl__json_get_text(record, members[i].from);

        if (value && pawl__json_type(value) != PAWL_JSON_NULL)
            pawl__build(b, &out, members[i].to ? members[i].to : members[i].from, *value);
    }
    return out;
}

struct pawl_json pawl__view_journal_record(struct pawl_builder *b, const struct pawl_json *record)
{
    static const struct member members[] = {
        {"id", NULL},           {"activityInstanceId", NULL}, {"parentActivityInstanceId", NULL},
        {"activityId", NULL},   {"activityType", NULL},       {"activityTypeVersion", NULL},
        {"activityName", NULL}, {"activityNodeId", "nodeId"}, {"timestamp", NULL},
        {"sequence", NULL},     {"eventName", NULL},          {"message", NULL},
        {"source", NULL},       {"activityState", NULL},      {"payload", NULL},
    };

    return pick(b, record, members, sizeof members / sizeof members[0]);
}

struct pawl_json pawl__view_execution_summary(struct pawl_builder *b,
                                              const struct pawl_json *record)
{
    static const struct member members[] = {
        {"workflowInstanceId", NULL},
        {"activityId", NULL},
        {"activityNodeId", NULL},
        {"activityType", NULL},
        {"activityTypeVersion", NULL},
        {"activityName", NULL},
        {"startedAt", NULL},
        {"hasBookmarks", NULL},
        {"status", NULL},
        {"aggregateFaultCount", NULL},
        {"completedAt", NULL},
        {"metadata", NULL},
        {"id", NULL},
    };

    return pick(b, record, members, sizeof members / sizeof members[0]);
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
    return out;
}
