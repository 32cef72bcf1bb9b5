/* SPDX-License-Identifier: Apache-2.0 */
/* One turn of the loop: waits, then does all there is, each connection its share; see private.h. */
#include "base/alloc.h"
#include "http/private.h"

static bool accepts_more(const struct pawl_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        if (server->listeners[i].more)
            return true;
    }
    return false;
}

static int64_t wake_up_ns(const struct pawl_server *server, int64_t deadline_ns)
{
    int64_t next_ns = pawl__timers_next_ns(&server->timers);

    if (!pawl__list_empty(&server->ready) || accepts_more(server))
        return INT64_MIN;
    return next_ns < deadline_ns ? next_ns : deadline_ns;
}

static void handle_event(const struct pawl_poll_event *event)
{
    struct watched *watched = event->key;

    if (watched->is_listener)
        ((struct listener *)(void *)watched)->more = true;
    else
        pawl__connection_event((struct pawl_connection *)(void *)watched, event->what);
}

static struct pawl_connection *take_posted(struct pawl_server *server)
{
    struct pawl_list_link *link;

    pawl__server_lock(server);
    link = pawl__list_pop_front(&server->posted);
    pawl__server_unlock(server);
    return PAWL_CONTAINER(link, struct pawl_connection, posted_link);
}

static void handle_posted(struct pawl_server *server)
{
    struct pawl_connection *connection;

    while ((connection = take_posted(server)) != NULL)
        pawl__connection_posted(connection);
}

/* Those that are ready now; one that becomes ready again waits for the next turn. */
static void handle_ready(struct pawl_server *server)
{
    struct pawl_list now;
    struct pawl_list_link *link;

    pawl__list_init(&now);
    while ((link = pawl__list_pop_front(&server->ready)) != NULL)
        pawl__list_push_back(&now, link);
    while ((link = pawl__list_pop_front(&now)) != NULL)
        pawl__connection_event(PAWL_CONTAINER(link, struct pawl_connection, ready_link), 0);
}

static void handle_timers(struct pawl_server *server)
{
    struct pawl_timer *timer;

    while ((timer = pawl__timers_take_due(&server->timers, server->now_ns)) != NULL) {
        if (timer == &server->accept_timer)
            pawl__listeners_resume(server);
        else
            pawl__connection_timer(
                (struct pawl_connection *)(void *)((char *)timer -
                                                   offsetof(struct pawl_connection, timer)));
    }
}

static void begin_drain(struct pawl_server *server)
{
    struct pawl_list_link *link = server->connections.head.next, *next;

    server->drain_begun = true;
    pawl__listeners_close(server);
    for (; link != &server->connections.head; link = next) {
        next = link->next;
        pawl__connection_drain(PAWL_CONTAINER(link, struct pawl_connection, link));
    }
}

static void handle_drain(struct pawl_server *server)
{
    if (!atomic_load(&server->draining))
        return;
    if (!server->drain_begun)
        begin_drain(server);
    if (!pawl__list_empty(&server->connections))
        return;
    pawl__server_lock(server);
    server->drained = true;
    pawl_cond_broadcast(server->env, server->changed);
    pawl__server_unlock(server);
}

static void free_dead(struct pawl_server *server)
{
    while (!pawl__list_empty(&server->dead))
        pawl__connection_free(
            PAWL_CONTAINER(pawl__list_first(&server->dead), struct pawl_connection, link));
}

int pawl__server_turn(struct pawl_server *server, int64_t deadline_ns)
{
    struct pawl_poll_event events[EVENTS_MAX];
    size_t count = 0;
    int status = pawl__poller_wait(server->poller, wake_up_ns(server, deadline_ns), events,
                                   EVENTS_MAX, &count);

    if (status != PAWL_OK)
        return status;
    server->now_ns = pawl_env_monotonic_ns(server->env);
    for (size_t i = 0; i < count; i++)
        handle_event(&events[i]);
    handle_posted(server);
    handle_ready(server);
    pawl__connections_relieve(server);
    for (size_t i = 0; i < server->listener_count; i++)
        pawl__listener_accept(server, &server->listeners[i]);
    handle_timers(server);
    handle_drain(server);
    pawl__stream_resume_all(server);
    free_dead(server);
    return PAWL_OK;
}

/* One whose handshake runs at this moment is dropped when that step is done. */
void pawl__server_hang_up(struct pawl_server *server)
{
    struct pawl_list_link *link = server->connections.head.next, *next;

    for (; link != &server->connections.head; link = next) {
        next = link->next;
        pawl__connection_drop(PAWL_CONTAINER(link, struct pawl_connection, link), true);
    }
    pawl__workers_stop(server->handshakers);
    handle_posted(server);
    PAWL_ASSERT(pawl__list_empty(&server->connections));
    free_dead(server);
}
