/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the hub one user or API key takes: its connections, and the instances that are
 * watched because of it. An instance that several watch is charged to one of them.
 */
#include "api/hub/private.h"
#include "base/alloc.h"

#define KEY_SIZE 512u

/* The id behind one byte: users and keys may have the same. Those that are too long share "". */
static struct pawl_str write_key(const struct pawl_bearer *bearer, char out[KEY_SIZE])
{
    if (bearer->id.len >= KEY_SIZE)
        return pawl__str("");
    out[0] = bearer->is_application ? 'k' : 'u';
    if (bearer->id.len > 0)
        memcpy(out + 1, bearer->id.ptr, bearer->id.len);
    return pawl__str_make(out, bearer->id.len + 1);
}

bool hub_caller_is_full(const struct pawl_hub *hub, const struct pawl_bearer *bearer)
{
    char key[KEY_SIZE];
    const struct hub_caller *caller = pawl__map_get(&hub->callers, write_key(bearer, key));

    return caller && caller->connection_count >= HUB_CALLER_CONNECTIONS_MAX;
}

struct hub_caller *hub_caller_join(struct pawl_hub *hub, const struct pawl_bearer *bearer)
{
    char text[KEY_SIZE];
    struct pawl_str key = write_key(bearer, text);
    struct hub_caller *caller = pawl__map_get(&hub->callers, key);

    if (caller) {
        if (caller->connection_count >= HUB_CALLER_CONNECTIONS_MAX)
            return NULL;
        caller->connection_count++;
        return caller;
    }
    caller = pawl__alloc_zeroed(&hub->env->alloc, sizeof *caller + key.len);
    if (!caller)
        return NULL;
    if (key.len > 0)
        memcpy(caller->text, key.ptr, key.len);
    caller->key = pawl__str_make(caller->text, key.len);
    caller->connection_count = 1;
    if (pawl__map_put(&hub->callers, caller->key, caller) != PAWL_OK) {
        pawl__free(&hub->env->alloc, caller, sizeof *caller + key.len);
        return NULL;
    }
    return caller;
}

void hub_caller_leave(struct pawl_hub *hub, struct hub_caller *caller)
{
    if (--caller->connection_count > 0)
        return;
    PAWL_ASSERT(caller->group_count == 0);
    (void)pawl__map_remove(&hub->callers, caller->key);
    pawl__free(&hub->env->alloc, caller, sizeof *caller + caller->key.len);
}

bool hub_caller_charge(struct hub_caller *caller, struct hub_group *group)
{
    if (caller->group_count >= HUB_CALLER_INSTANCES_MAX)
        return false;
    caller->group_count++;
    group->caller = caller;
    return true;
}

void hub_caller_discharge(const struct hub_caller *caller, struct hub_group *group)
{
    struct hub_subscription *one;
    struct hub_caller *next = NULL;

    if (group->caller != caller)
        return;
    PAWL_LIST_FOR_EACH (one, &group->subscriptions, of_group) {
        if (one->connection->caller == caller)
            return; /* it watches it still */
        if (!next || one->connection->caller->group_count < next->group_count)
            next = one->connection->caller;
    }
    group->caller->group_count--;
    group->caller = next;
    if (next)
        next->group_count++;
}
