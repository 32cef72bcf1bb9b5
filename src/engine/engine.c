/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of activity and expression types; see engine.h. */
#include "engine/engine.h"

#include "base/time/datetime.h"

/* Maps hold plain pointers; what is registered is never written through them. */
union constant {
    const void *is;
    void *stored;
};

#define YIELD_AFTER 10000u
#define BURST_BYTES_MAX ((size_t)256 << 20)

void pawl__engine_init(struct pawl_engine *engine, const struct pawl_allocator *alloc,
                       struct pawl_hash_seed seed)
{
    *engine = (struct pawl_engine){
        .alloc = alloc,
        .flow_mode = PAWL_FLOW_COUNTER,
        .incident_strategy = PAWL_INCIDENT_FAULT,
        .yield_after = YIELD_AFTER,
        .burst_bytes_max = BURST_BYTES_MAX,
        .timer_interval_min = PAWL_TICKS_PER_SECOND,
    };
    pawl__map_init(&engine->activities, alloc, seed);
    pawl__map_init(&engine->expressions, alloc, seed);
}

void pawl__engine_release(struct pawl_engine *engine)
{
    pawl__map_release(&engine->activities);
    pawl__map_release(&engine->expressions);
}

int pawl__engine_add_activity(struct pawl_engine *engine, const struct pawl_activity *activity)
{
    struct pawl_str type = pawl__str(activity->type);
    const struct pawl_activity *known = pawl__engine_activity(engine, type);
    union constant value = {.is = activity};

    /* An older version given later does not hide the newer one. */
    if (known && known->version > activity->version)
        return PAWL_OK;
    return pawl__map_put(&engine->activities, type, value.stored);
}

int pawl__engine_add_expression(struct pawl_engine *engine, const struct pawl_expression_ops *ops)
{
    struct pawl_str type = pawl__str(ops->type);
    union constant value = {.is = ops};

    return pawl__map_put(&engine->expressions, type, value.stored);
}

const struct pawl_activity *pawl__engine_activity(const struct pawl_engine *engine,
                                                  struct pawl_str type)
{
    return pawl__map_get(&engine->activities, type);
}

const struct pawl_expression_ops *pawl__engine_expression(const struct pawl_engine *engine,
                                                          struct pawl_str type)
{
    return pawl__map_get(&engine->expressions, type);
}
