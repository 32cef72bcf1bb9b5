/* SPDX-License-Identifier: Apache-2.0 */
/* See refusals.h. Where there is no memory, a refusal counts as the first: that costs time only. */
#include "distributed/refusals.h"

#include "base/alloc.h"

/* Work that was refused comes back within this, at the latest. */
#define AGAIN_NS INT64_C(3000000000)
/* In the place of a name; no lock is called so. */
#define OUTAGE ""

struct refusal {
    int64_t since_ns;
    int64_t last_ns;
    bool told;
    struct pawl_str name; /* behind the struct */
};

int pawl__refusals_init(struct pawl_refusals *refusals, struct pawl_env *env, int64_t patience_ns)
{
    *refusals = (struct pawl_refusals){.env = env, .patience_ns = patience_ns};
    pawl__map_init(&refusals->map, &env->alloc, (struct pawl_hash_seed){0x72656675, 0});
    return pawl_mutex_new(env, "refusals", &refusals->mutex);
}

static void drop(struct pawl_refusals *refusals, struct refusal *refusal)
{
    if (refusal)
        pawl__free(&refusals->env->alloc, refusal, sizeof *refusal + refusal->name.len);
}

void pawl__refusals_release(struct pawl_refusals *refusals)
{
    struct pawl_map_entry *entry;

    PAWL_MAP_FOR_EACH (entry, &refusals->map)
        drop(refusals, entry->value);
    pawl__map_release(&refusals->map);
    pawl_mutex_free(refusals->env, refusals->mutex);
}

/* One that has not been repeated for long has ended, whatever ended it. */
static bool is_over(const struct pawl_refusals *refusals, const struct refusal *refusal,
                    int64_t now_ns)
{
    return now_ns - refusal->last_ns - AGAIN_NS > refusals->patience_ns;
}

static int64_t after(int64_t since_ns, int64_t span_ns)
{
    return span_ns > PAWL_FOREVER - since_ns ? PAWL_FOREVER : since_ns + span_ns;
}

int64_t pawl__refusals_until(struct pawl_refusals *refusals, struct pawl_str name, int64_t now_ns)
{
    const struct refusal *refusal;
    int64_t since_ns = now_ns;

    if (pawl_mutex_lock(refusals->env, refusals->mutex) != PAWL_OK)
        return PAWL_FOREVER;
    refusal = pawl__map_get(&refusals->map, name);
    if (refusal && !is_over(refusals, refusal, now_ns))
        since_ns = refusal->since_ns;
    pawl_mutex_unlock(refusals->env, refusals->mutex);
    return after(since_ns, refusals->patience_ns);
}

/* With the mutex held. NULL: no memory, or too many. */
static struct refusal *add(struct pawl_refusals *refusals, struct pawl_str name, int64_t now_ns)
{
    struct pawl_map_entry *entry;
    struct refusal *refusal;

    if (refusals->map.live_count >= PAWL_REFUSALS_MAX) {
        PAWL_MAP_FOR_EACH (entry, &refusals->map) {
            refusal = entry->value;
            if (is_over(refusals, refusal, now_ns))
                drop(refusals, pawl__map_remove(&refusals->map, refusal->name));
        }
    }
    if (refusals->map.live_count >= PAWL_REFUSALS_MAX)
        return NULL;
    refusal = pawl__alloc_zeroed(&refusals->env->alloc, sizeof *refusal + name.len);
    if (!refusal)
        return NULL;
    memcpy(refusal + 1, name.ptr, name.len);
    refusal->name = pawl__str_make((const char *)(refusal + 1), name.len);
    if (pawl__map_put(&refusals->map, refusal->name, refusal) == PAWL_OK)
        return refusal;
    drop(refusals, refusal);
    return NULL;
}

bool pawl__refusals_note(struct pawl_refusals *refusals, struct pawl_str name, int64_t since_ns,
                         bool *first)
{
    int64_t now_ns = pawl_env_monotonic_ns(refusals->env);
    struct refusal *refusal;
    bool too_long;

    *first = false;
    if (pawl_mutex_lock(refusals->env, refusals->mutex) != PAWL_OK)
        return false;
    refusal = pawl__map_get(&refusals->map, name);
    if (refusal && is_over(refusals, refusal, since_ns))
        *refusal = (struct refusal){.since_ns = since_ns, .name = refusal->name};
    if (!refusal) {
        refusal = add(refusals, name, now_ns);
        if (refusal)
            refusal->since_ns = since_ns;
    }
    if (refusal) {
        refusal->last_ns = now_ns;
        since_ns = refusal->since_ns;
    }
    too_long = now_ns >= after(since_ns, refusals->patience_ns);
    if (too_long && refusal) {
        *first = !refusal->told;
        refusal->told = true;
    }
    pawl_mutex_unlock(refusals->env, refusals->mutex);
    return too_long;
}

bool pawl__refusals_note_outage(struct pawl_refusals *refusals, int status, bool *first)
{
    *first = false;
    return pawl_error_class(status) == PAWL_CLASS_TRANSIENT && status != PAWL_ENOMEM &&
           pawl__refusals_note(refusals, pawl__str(OUTAGE), pawl_env_monotonic_ns(refusals->env),
                               first);
}

void pawl__refusals_forget(struct pawl_refusals *refusals, struct pawl_str name)
{
    struct refusal *refusal = NULL, *outage = NULL;

    if (pawl_mutex_lock(refusals->env, refusals->mutex) != PAWL_OK)
        return;
    if (refusals->map.live_count > 0) {
        refusal = pawl__map_remove(&refusals->map, name);
        outage = pawl__map_remove(&refusals->map, pawl__str(OUTAGE));
    }
    pawl_mutex_unlock(refusals->env, refusals->mutex);
    drop(refusals, refusal);
    drop(refusals, outage);
}
