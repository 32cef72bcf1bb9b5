/* SPDX-License-Identifier: Apache-2.0 */
/* Views of counts; see statistics.h. */
#include "views/statistics.h"

#include "views/nodes.h"

static struct pawl_json view_counts(struct pawl_builder *b,
                                    const uint64_t counts[PAWL_COUNTED_COUNT])
{
    struct pawl_json out = pawl__json_object();

    for (unsigned i = 0; i < PAWL_COUNTED_COUNT; i++)
        pawl__build_int(b, &out, pawl__counted_name((enum pawl_counted)i), (int64_t)counts[i]);
    return out;
}

static struct pawl_json view_work(struct pawl_builder *b, const struct pawl_work_counts *work)
{
    struct pawl_json out = pawl__json_object();

    pawl__build_int(b, &out, "due", (int64_t)work->due);
    pawl__view_time(b, &out, "oldestDueAt", work->oldest_due_us);
    pawl__view_time(b, &out, "nextDueAt", work->next_due_us);
    pawl__build_int(b, &out, "later", (int64_t)work->later);
    pawl__build_int(b, &out, "parked", (int64_t)work->parked);
    pawl__build_int(b, &out, "deadLetters", (int64_t)work->dead_letters);
    return out;
}

static struct pawl_json view_rates(struct pawl_builder *b, const struct pawl_overview *seen)
{
    struct pawl_json out = pawl__json_object();

    if (seen->started_per_second < 0)
        return pawl__json_null();
    pawl__build(b, &out, "startedPerSecond", pawl__json_double(seen->started_per_second));
    pawl__build(b, &out, "changedPerSecond", pawl__json_double(seen->changed_per_second));
    return out;
}

struct pawl_json pawl__view_overview(struct pawl_builder *b, const struct pawl_overview *seen)
{
    struct pawl_json out = pawl__json_object(), nodes = pawl__json_array();

    for (size_t i = 0; i < seen->nodes.count; i++)
        pawl__build_append(b, &nodes, pawl__view_node(b, &seen->nodes.nodes[i], false));
    pawl__view_time(b, &out, "now", seen->now_us);
    pawl__view_time(b, &out, "countedAt", seen->counted_us);
    pawl__build(b, &out, "instances", view_counts(b, seen->instances));
    pawl__build_int(b, &out, "setAside", (int64_t)seen->set_aside);
    pawl__build(b, &out, "work", view_work(b, &seen->work));
    pawl__build(b, &out, "rates", view_rates(b, seen));
    if (seen->pause)
        pawl__build(b, &out, "pause", pawl__view_pause(b, seen->pause));
    pawl__build(b, &out, "nodes", nodes);
    return out;
}

struct pawl_json pawl__view_definition_counts(struct pawl_builder *b,
                                              const struct pawl_definition_counts *counts)
{
    struct pawl_json out = pawl__json_object();

    pawl__view_text(b, &out, "definitionId", counts->definition_id);
    pawl__view_text(b, &out, "name", counts->name);
    pawl__build(b, &out, "instances", view_counts(b, counts->instances));
    return out;
}
