/* SPDX-License-Identifier: Apache-2.0 */
/* What a commit stored, for a caller who would otherwise read it; see struct pawl_left. */
#include "runtime/instance/making.h"

static struct pawl_instance_row copy_row(const struct making *m, struct pawl_arena *arena)
{
    struct pawl_instance_row row = m->row;

    row.id = pawl__arena_str(arena, row.id);
    row.definition_id = pawl__arena_str(arena, row.definition_id);
    row.version_id = pawl__arena_str(arena, row.version_id);
    row.parent_id = pawl__arena_str(arena, row.parent_id);
    row.status = pawl__arena_str(arena, row.status);
    row.sub_status = pawl__arena_str(arena, row.sub_status);
    row.correlation_id = pawl__arena_str(arena, row.correlation_id);
    row.name = pawl__arena_str(arena, row.name);
    row.trouble = pawl__arena_str(arena, row.trouble);
    row.state = row.counts = pawl__str("");
    row.owner = m->run->row.owner;
    row.fence = row.revision_fence = m->run->row.fence;
    row.revision = m->run->row.revision;
    row.revision_owner = m->run->incarnation;
    row.cancel_requested = m->run->row.cancel_requested;
    return row;
}

void pawl__making_leave(const struct making *m)
{
    struct pawl_left *left = m->run->left;

    if (!left)
        return;
    left->is_known = false;
    /* While somebody has the claim it goes on. */
    if (!m->over || m->run->row.owner != 0)
        return;
    left->row = copy_row(m, left->arena);
    left->is_known = pawl__json_copy(left->arena, &m->state, &left->state) == PAWL_OK &&
                     left->arena->status == PAWL_OK;
}
