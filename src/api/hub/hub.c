/* SPDX-License-Identifier: Apache-2.0 */
/* The hub's thread and its life; see hub.h. */
#include "api/hub/private.h"
#include "base/alloc.h"
#include "base/error.h"
#include "host/host.h"
#include "operations/metrics.h"

/* How often connections are tended while there are some. */
#define TICK_NS (500 * HUB_NS_PER_MS)
/* How often it is checked who may still watch. */
#define CHECK_NS (2 * NS_PER_S)

void hub_lock(struct pawl_hub *hub)
{
    pawl_mutex_lock_always(hub->env, hub->mutex);
}

void hub_unlock(struct pawl_hub *hub)
{
    pawl_mutex_unlock(hub->env, hub->mutex);
}

void hub_wake(struct pawl_hub *hub)
{
    pawl_mutex_lock_always(hub->env, hub->told_mutex);
    hub->is_woken = true;
    pawl_mutex_unlock(hub->env, hub->told_mutex);
    pawl_cond_signal(hub->env, hub->wake);
}

void hub_wake_to_tend(struct pawl_hub *hub)
{
    atomic_store(&hub->wants_tending, true);
    hub_wake(hub);
}

/* ---- the thread ----------------------------------------------------------------------------- */

/* With the mutex. What is done to one may free it, and no other. Most wakes are for instances. */
static void tend_all(struct pawl_hub *hub, int64_t now_ns)
{
    struct pawl_list_link *link = hub->connections.head.next, *next;

    if (!atomic_exchange(&hub->wants_tending, false) && now_ns < hub->tend_ns)
        return;
    hub->tend_ns = now_ns + TICK_NS;
    for (; link != &hub->connections.head; link = next) {
        next = link->next;
        hub_connection_tend(PAWL_CONTAINER(link, struct hub_connection, link), now_ns);
    }
}

/* With the mutex. Who is gone, or may not see instances any more, sees none. */
static void check_permissions(struct pawl_hub *hub, int64_t now_ns)
{
    struct pawl_list_link *link = hub->connections.head.next, *next;

    if (now_ns - hub->checked_ns < CHECK_NS)
        return;
    hub->checked_ns = now_ns;
    for (; link != &hub->connections.head; link = next) {
        struct hub_connection *connection = PAWL_CONTAINER(link, struct hub_connection, link);

        next = link->next;
        if (connection->subscription_count > 0 &&
            !pawl__guard_allows(hub->api, &connection->bearer, HUB_PERMISSION))
            hub_connection_close(connection, "Connection closed: access denied.", false);
    }
}

/* Without the mutex. false: it is time to end. */
static bool pause_until(struct pawl_hub *hub, int64_t next_ns)
{
    int status = PAWL_OK;

    pawl_mutex_lock_always(hub->env, hub->told_mutex);
    while (!hub->is_woken && status == PAWL_OK)
        status = pawl_cond_wait(hub->env, hub->wake, hub->told_mutex, next_ns);
    hub->is_woken = false;
    pawl_mutex_unlock(hub->env, hub->told_mutex);
    return status != PAWL_ESTOPPED;
}

static void count_messages(struct pawl_hub *hub, uint64_t sent, uint64_t dropped)
{
    if (sent > 0)
        pawl__op_count_hub_messages(hub->api->host, "sent", sent);
    if (dropped > 0)
        pawl__op_count_hub_messages(hub->api->host, "dropped", dropped);
}

static void run(void *arg)
{
    struct pawl_hub *hub = arg;
    bool goes_on = true;

    hub_lock(hub);
    while (goes_on && !hub->stopping) {
        int64_t now_ns = pawl_env_monotonic_ns(hub->env), next_ns;
        uint64_t sent, dropped;

        tend_all(hub, now_ns);
        check_permissions(hub, now_ns);
        next_ns = hub_watch(hub, now_ns);
        if (hub->connection_count > 0 && hub->tend_ns < next_ns)
            next_ns = hub->tend_ns;
        sent = hub->sent_count;
        dropped = hub->dropped_count;
        hub->sent_count = hub->dropped_count = 0;
        hub_unlock(hub);
        count_messages(hub, sent, dropped);
        goes_on = pause_until(hub, next_ns);
        hub_lock(hub);
    }
    hub_unlock(hub);
}

bool hub_start_thread(struct pawl_hub *hub)
{
    if (hub->thread) {
        if (hub->connection_count == 0)
            hub_wake(hub); /* it sleeps until something happens */
        return true;
    }
    return pawl_thread_start(hub->env, "hub", run, hub, &hub->thread, NULL) == PAWL_OK;
}

/* ---- life ----------------------------------------------------------------------------------- */

int pawl__hub_open(struct pawl_api *api, struct pawl_hub **out, struct pawl_error *err)
{
    struct pawl_env *env = api->env;
    struct pawl_hub *hub = pawl__alloc_zeroed(&env->alloc, sizeof *hub);
    size_t stream_bytes_max =
        (size_t)pawl__api_limits(pawl__host_configuration(api->host)).stream_bytes_max;
    int status;

    if (!hub)
        return pawl__error_code(err, PAWL_ENOMEM);
    hub->api = api;
    hub->env = env;
    pawl__list_init(&hub->connections);
    pawl__list_init(&hub->groups);
    pawl__map_init(&hub->by_token, &env->alloc, (struct pawl_hash_seed){0x687562, 1});
    pawl__map_init(&hub->callers, &env->alloc, (struct pawl_hash_seed){0x687562, 3});
    pawl__map_init(&hub->by_id, &env->alloc, (struct pawl_hash_seed){0x687562, 2});
    hub->update_bytes_max =
        stream_bytes_max / 4 < HUB_UPDATE_BYTES_MAX ? stream_bytes_max / 4 : HUB_UPDATE_BYTES_MAX;
    if (hub->update_bytes_max < 4096)
        hub->update_bytes_max = 4096;
    hub->queue_bytes_max =
        stream_bytes_max / 2 < HUB_QUEUE_BYTES_MAX ? stream_bytes_max / 2 : HUB_QUEUE_BYTES_MAX;
    hub->told = pawl__alloc(&env->alloc, HUB_TOLD_MAX * sizeof *hub->told);
    status = hub->told ? pawl_mutex_new(env, "hub", &hub->mutex) : PAWL_ENOMEM;
    if (status == PAWL_OK)
        status = pawl_mutex_new(env, "hub told", &hub->told_mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "hub", &hub->wake);
    if (status == PAWL_OK) {
        *out = hub;
        return PAWL_OK;
    }
    pawl__hub_close(hub);
    return pawl__error_code(err, status);
}

void pawl__hub_drain(struct pawl_hub *hub)
{
    struct pawl_list_link *link, *next;

    hub_lock(hub);
    hub->draining = true;
    for (link = hub->connections.head.next; link != &hub->connections.head; link = next) {
        next = link->next;
        hub_connection_close(PAWL_CONTAINER(link, struct hub_connection, link), NULL, true);
    }
    hub_unlock(hub);
}

void pawl__hub_stop(struct pawl_hub *hub)
{
    struct pawl_list_link *link;

    hub_lock(hub);
    hub->stopping = true;
    hub_unlock(hub);
    hub_wake(hub);
    if (hub->thread)
        pawl_thread_join(hub->env, hub->thread);
    hub_lock(hub);
    while ((link = pawl__list_first(&hub->connections)) != NULL)
        hub_connection_end(PAWL_CONTAINER(link, struct hub_connection, link));
    hub_unlock(hub);
}

void pawl__hub_close(struct pawl_hub *hub)
{
    const struct pawl_allocator *alloc;

    if (!hub)
        return;
    alloc = &hub->env->alloc;
    PAWL_ASSERT(pawl__list_empty(&hub->connections) && pawl__list_empty(&hub->groups));
    pawl__map_release(&hub->by_token);
    pawl__map_release(&hub->by_id);
    pawl__map_release(&hub->callers);
    pawl__free(alloc, hub->told, HUB_TOLD_MAX * sizeof *hub->told);
    pawl_cond_free(hub->env, hub->wake);
    pawl_mutex_free(hub->env, hub->told_mutex);
    pawl_mutex_free(hub->env, hub->mutex);
    pawl__free(alloc, hub, sizeof *hub);
}

void pawl__hub_figures(struct pawl_hub *hub, struct pawl_hub_figures *out)
{
    hub_lock(hub);
    *out = (struct pawl_hub_figures){.web_sockets = hub->transport_counts[HUB_WEB_SOCKET],
                                     .server_sent_events = hub->transport_counts[HUB_EVENTS],
                                     .long_polling = hub->transport_counts[HUB_POLLING],
                                     .instances = hub->group_count};
    hub_unlock(hub);
}
