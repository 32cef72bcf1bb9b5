/* SPDX-License-Identifier: Apache-2.0 */
/* Views of a whole store; see store.h. */
#include "views/store.h"

static struct pawl_json view_nodes(struct pawl_builder *b, const struct pawl_store_info *info)
{
    struct pawl_json out = pawl__json_array();

    for (size_t i = 0; i < info->node_count; i++) {
        const struct pawl_node_row *row = &info->nodes[i];
        struct pawl_json one = pawl__json_object();

        pawl__view_text(b, &one, "id", row->id);
        pawl__build_int(b, &one, "incarnation", row->incarnation);
        pawl__view_time(b, &one, "joinedAt", row->joined_us);
        pawl__view_time(b, &one, "leaseEndsAt", row->lease_us);
        pawl__build_append(b, &out, one);
    }
    return out;
}

struct pawl_json pawl__view_store_info(struct pawl_builder *b, const struct pawl_store_info *info)
{
    struct pawl_json out = pawl__json_object(), rows = pawl__json_object();

    for (size_t i = 0; i < info->count_count; i++)
        pawl__build_int(b, &rows, info->counts[i].table, (int64_t)info->counts[i].rows);
    pawl__view_text(b, &out, "store", info->shown);
    pawl__view_text(b, &out, "backend", pawl__str(info->status.backend));
    pawl__view_text(b, &out, "server", pawl__arena_str(b->arena, pawl__str(info->status.server)));
    pawl__view_text(b, &out, "location",
                    pawl__arena_str(b->arena, pawl__str(info->status.location)));
    pawl__build_int(b, &out, "schema", info->status.schema);
    pawl__build_int(b, &out, "sizeBytes", info->status.size_bytes);
    pawl__view_time(b, &out, "now", info->status.now_us);
    pawl__build_bool(b, &out, "isComplete", info->is_complete);
    pawl__build(b, &out, "rows", rows);
    pawl__build(b, &out, "nodes", view_nodes(b, info));
    return out;
}
