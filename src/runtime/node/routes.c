/* SPDX-License-Identifier: Apache-2.0 */
/* Templates of paths; see routes.h. So far a template is equal to its path. */
#include "runtime/node/routes.h"

#include "base/error.h"

int pawl__runtime_match_routes(struct pawl_runtime *runtime, struct pawl_str path, bool fresh,
                               struct pawl_arena *arena, struct pawl_route_hits *out,
                               int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_route_hit *hit = pawl__arena_alloc(arena, sizeof *hit);

    (void)runtime, (void)fresh, (void)deadline_ns;
    if (!hit)
        return pawl__error_code(err, pawl__arena_status(arena));
    *hit = (struct pawl_route_hit){.template = path, .values = pawl__json_object()};
    *out = (struct pawl_route_hits){hit, 1};
    return PAWL_OK;
}
