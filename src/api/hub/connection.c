/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to the hub, whatever its transport; see private.h. */
#include "api/hub/private.h"
#include "base/alloc.h"
#include "http/stream.h"
#include "operations/metrics.h"

#include <stdio.h>

#define ARENA_BYTES_MAX ((size_t)1 << 20)

/* ---- life ----------------------------------------------------------------------------------- */

struct hub_connection *hub_connection_new(struct pawl_hub *hub, enum hub_transport transport,
                                          const struct pawl_bearer *bearer, struct pawl_str token)
{
    size_t size = sizeof(struct hub_connection) + bearer->id.len + token.len;
    struct hub_connection *connection;

    if (hub->draining || hub->stopping || hub->connection_count >= HUB_CONNECTIONS_MAX ||
        !hub_start_thread(hub))
        return NULL;
    connection = pawl__alloc_zeroed(&hub->env->alloc, size);
    if (!connection)
        return NULL;
    connection->hub = hub;
    connection->caller = hub_caller_join(hub, bearer);
    connection->transport = transport;
    connection->users = 1;
    pawl__buf_init(&connection->out, &hub->env->alloc, hub->queue_bytes_max);
    pawl__list_init(&connection->subscriptions);
    memcpy(connection->text, bearer->id.ptr, bearer->id.len);
    if (token.len > 0)
        memcpy(connection->text + bearer->id.len, token.ptr, token.len);
    connection->bearer =
        (struct pawl_bearer){.is_application = bearer->is_application,
                             .id = pawl__str_make(connection->text, bearer->id.len),
                             .generation = bearer->generation};
    connection->token = pawl__str_make(connection->text + bearer->id.len, token.len);
    connection->opened_ns = connection->heard_ns = connection->sent_ns = connection->polled_ns =
        pawl_env_monotonic_ns(hub->env);
    if (!connection->caller || (token.len > 0 && pawl__map_put(&hub->by_token, connection->token,
                                                               connection) != PAWL_OK)) {
        if (connection->caller)
            hub_caller_leave(hub, connection->caller);
        pawl__free(&hub->env->alloc, connection, size);
        return NULL;
    }
    pawl__list_push_back(&hub->connections, &connection->link);
    hub->connection_count++;
    hub->transport_counts[transport]++;
    return connection;
}

void hub_connection_unuse(struct hub_connection *connection)
{
    struct pawl_hub *hub = connection->hub;

    if (--connection->users > 0)
        return;
    PAWL_ASSERT(!pawl__list_linked(&connection->link));
    pawl__buf_release(&connection->out);
    pawl__free(&hub->env->alloc, connection,
               sizeof *connection + connection->bearer.id.len + connection->token.len);
}

/* Takes it out of the tables; a transport may still hold it. */
static void forget(struct hub_connection *connection)
{
    struct pawl_hub *hub = connection->hub;
    struct pawl_list_link *link;

    connection->state = HUB_ENDING;
    while ((link = pawl__list_first(&connection->subscriptions)) != NULL)
        hub_unsubscribe(PAWL_CONTAINER(link, struct hub_subscription, of_connection));
    if (!pawl__list_linked(&connection->link))
        return;
    pawl__list_remove(&connection->link);
    if (connection->token.len > 0)
        (void)pawl__map_remove(&hub->by_token, connection->token);
    hub_caller_leave(hub, connection->caller);
    connection->caller = NULL;
    hub->connection_count--;
    hub->transport_counts[connection->transport]--;
}

/* Ends the stream of events, or responds to the poll that waits. */
static void release_exchange(struct hub_connection *connection, int status)
{
    struct pawl_exchange *exchange = connection->exchange;

    if (!exchange)
        return;
    connection->exchange = NULL;
    connection->polled_ns = pawl_env_monotonic_ns(connection->hub->env);
    if (connection->transport == HUB_EVENTS) {
        pawl__exchange_end(exchange, true);
        return;
    }
    if (status == 200 && connection->out.len > 0) {
        pawl__exchange_add_field(exchange, "Content-Type", "application/octet-stream");
        pawl__buf_str(pawl__exchange_out(exchange), pawl__buf_peek(&connection->out));
        pawl__buf_clear(&connection->out);
    } else {
        pawl__exchange_add_field(exchange, "Content-Type", "text/plain");
    }
    pawl__exchange_respond(exchange, status);
}

void hub_connection_end(struct hub_connection *connection)
{
    forget(connection);
    release_exchange(connection, 204);
    if (connection->transport != HUB_WEB_SOCKET)
        hub_connection_unuse(connection); /* a WebSocket's user goes with `closed` */
}

/* ---- sending -------------------------------------------------------------------------------- */

bool hub_connection_is_free(const struct hub_connection *connection)
{
    return connection->out.len == 0;
}

/* PAWL_EBUSY: not now. PAWL_EUNAVAILABLE: the client is gone, which its transport reports. */
static int pass_on(struct hub_connection *connection, struct pawl_str messages)
{
    switch (connection->transport) {
    case HUB_WEB_SOCKET:
        return connection->socket ? pawl__websocket_send(connection->socket, true, messages)
                                  : PAWL_EUNAVAILABLE;
    case HUB_EVENTS:
        return connection->exchange
                   ? pawl__events_send(connection->exchange, pawl__str(""), pawl__str(""), messages)
                   : PAWL_EUNAVAILABLE;
    case HUB_POLLING:
        break;
    }
    return PAWL_EBUSY; /* with the next poll */
}

/* Something is lost to a client that is there: it is closed when it is next tended. */
static void fail(struct hub_connection *connection)
{
    pawl__buf_clear(&connection->out);
    connection->has_failed = true;
    hub_wake_to_tend(connection->hub);
}

void hub_connection_flush(struct hub_connection *connection)
{
    int status;

    if (connection->out.len == 0)
        return;
    if (connection->transport == HUB_POLLING) {
        release_exchange(connection, 200);
        return;
    }
    status = pass_on(connection, pawl__buf_peek(&connection->out));
    if (status == PAWL_OK || status == PAWL_EUNAVAILABLE)
        pawl__buf_clear(&connection->out);
    else if (status != PAWL_EBUSY)
        fail(connection);
}

int hub_connection_send(struct hub_connection *connection, struct pawl_str messages, bool may_drop)
{
    struct pawl_buf *out = &connection->out;
    int status = PAWL_EBUSY;

    if (connection->is_overfull || connection->has_failed)
        return PAWL_OK;
    connection->sent_ns = pawl_env_monotonic_ns(connection->hub->env);
    connection->hub->sent_count++;
    if (out->len == 0)
        status = pass_on(connection, messages);
    if (status != PAWL_EBUSY && status != PAWL_OK && status != PAWL_EUNAVAILABLE)
        fail(connection);
    if (status != PAWL_EBUSY)
        return PAWL_OK;
    if (may_drop && out->len + messages.len > out->max / 2)
        return PAWL_EBUSY;
    pawl__buf_str(out, messages);
    if (out->status == PAWL_ENOMEM) {
        fail(connection);
        return PAWL_OK;
    }
    if (out->status != PAWL_OK) {
        pawl__buf_clear(out);
        connection->is_overfull = true; /* closed when it is next tended */
        hub_wake_to_tend(connection->hub);
        return PAWL_OK;
    }
    hub_connection_flush(connection);
    return PAWL_OK;
}

void hub_connection_complete(struct hub_connection *connection, struct pawl_str invocation_id,
                             const char *error)
{
    struct pawl_buf message;

    if (!invocation_id.ptr)
        return;
    pawl__buf_init(&message, &connection->hub->env->alloc, HUB_QUEUE_BYTES_MAX);
    hub_write_completion(&message, invocation_id, error);
    if (message.status == PAWL_OK)
        (void)hub_connection_send(connection, pawl__buf_peek(&message), false);
    else
        fail(connection);
    pawl__buf_release(&message);
}

/* The last message, then the end of its transport; a poller gets it with its next poll. */
static void finish(struct hub_connection *connection, struct pawl_str message)
{
    connection->state = HUB_ENDING;
    pawl__buf_str(&connection->out, message);
    connection->out.status = PAWL_OK;
    hub_connection_flush(connection);
    switch (connection->transport) {
    case HUB_WEB_SOCKET:
        forget(connection);
        if (connection->socket)
            pawl__websocket_close(connection->socket, PAWL_CLOSE_NORMAL, "");
        break;
    case HUB_EVENTS:
        hub_connection_end(connection);
        break;
    case HUB_POLLING: {
        struct pawl_list_link *link;

        while ((link = pawl__list_first(&connection->subscriptions)) != NULL)
            hub_unsubscribe(PAWL_CONTAINER(link, struct hub_subscription, of_connection));
        break; /* the next poll ends it, or that there is none */
    }
    }
}

void hub_connection_close(struct hub_connection *connection, const char *error,
                          bool allow_reconnect)
{
    struct pawl_buf message;

    if (connection->state == HUB_ENDING)
        return;
    pawl__buf_init(&message, &connection->hub->env->alloc, HUB_QUEUE_BYTES_MAX);
    if (connection->state == HUB_OPEN)
        hub_write_close(&message, error, allow_reconnect);
    else
        hub_write_handshake(&message, error ? error : "Handshake was canceled.");
    finish(connection, message.status == PAWL_OK ? pawl__buf_peek(&message) : pawl__str(""));
    pawl__buf_release(&message);
}

/* ---- receiving ------------------------------------------------------------------------------ */

static void greet(struct hub_connection *connection, struct pawl_str text, struct pawl_arena *arena)
{
    struct hub_handshake handshake;
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = hub_read_handshake(arena, text, &handshake, &err);
    char error[160] = "";
    struct pawl_buf reply;

    if (status != PAWL_OK)
        (void)snprintf(error, sizeof error,
                       "An unexpected error occurred during connection handshake.");
    else if (!pawl__str_is(handshake.protocol, "json"))
        (void)snprintf(error, sizeof error, "The protocol '%.*s' is not supported.",
                       (int)(handshake.protocol.len < 60 ? handshake.protocol.len : 60),
                       handshake.protocol.ptr);
    else if (handshake.version < 0 || handshake.version > 1)
        (void)snprintf(error, sizeof error,
                       "The server does not support version %lld of the 'json' protocol.",
                       (long long)handshake.version);
    if (error[0]) {
        hub_connection_close(connection, error, false);
        return;
    }
    connection->state = HUB_OPEN;
    pawl__buf_init(&reply, &connection->hub->env->alloc, HUB_QUEUE_BYTES_MAX);
    hub_write_handshake(&reply, NULL);
    if (reply.status == PAWL_OK)
        (void)hub_connection_send(connection, pawl__buf_peek(&reply), false);
    else
        fail(connection);
    pawl__buf_release(&reply);
}

static void invoke(struct hub_connection *connection, const struct hub_message *message,
                   bool allowed)
{
    const struct pawl_json *argument = pawl__json_at(message->arguments, 0);
    char error[256];

    if (message->type != HUB_INVOCATION ||
        !pawl__str_equal_nocase(message->target, pawl__str("ObserveInstanceAsync"))) {
        int len = (int)(message->target.len < 60 ? message->target.len : 60);

        (void)snprintf(error, sizeof error,
                       "Failed to invoke '%.*s' due to an error on the server. HubException: "
                       "Method does not exist.",
                       len, message->target.ptr);
        hub_connection_complete(connection, message->invocation_id, error);
    } else if (pawl__json_len(message->arguments) != 1 ||
               !pawl__json_is(argument, PAWL_JSON_STRING)) {
        hub_connection_complete(connection, message->invocation_id,
                                "Failed to invoke 'ObserveInstanceAsync' due to an error on the "
                                "server.");
    } else if (!allowed) {
        hub_connection_complete(connection, message->invocation_id, HUB_DENIED);
    } else {
        hub_observe(connection, pawl__json_str(argument), message->invocation_id);
    }
}

static void act(struct hub_connection *connection, const struct hub_message *message, bool allowed)
{
    switch (message->type) {
    case HUB_INVOCATION:
    case HUB_STREAM_INVOCATION:
        invoke(connection, message, allowed);
        break;
    case HUB_CLOSE:
        hub_connection_close(connection, NULL, false);
        break;
    default: /* a ping; or what belongs to invocations that were not made here */
        break;
    }
}

/* false: nothing more is read. */
static bool receive_one(struct hub_connection *connection, struct pawl_str text,
                        struct pawl_arena *arena)
{
    struct pawl_hub *hub = connection->hub;
    struct hub_message message = {0};
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = PAWL_OK;
    bool greeting, allowed = false;

    hub_lock(hub);
    connection->heard_ns = pawl_env_monotonic_ns(hub->env);
    greeting = connection->state == HUB_GREETING;
    if (greeting)
        greet(connection, text, arena);
    hub_unlock(hub);
    if (greeting)
        return true;
    status = hub_read_message(arena, text, &message, &err);
    if (status == PAWL_OK && message.type == HUB_INVOCATION)
        allowed = pawl__guard_allows(hub->api, &connection->bearer, HUB_PERMISSION);
    hub_lock(hub);
    if (connection->state == HUB_OPEN && status == PAWL_OK)
        act(connection, &message, allowed);
    else
        hub_connection_close(connection, "Connection closed with an error.", false);
    greeting = connection->state == HUB_OPEN;
    hub_unlock(hub);
    return greeting;
}

void hub_connection_receive(struct hub_connection *connection, struct pawl_str bytes)
{
    struct pawl_hub *hub = connection->hub;
    struct pawl_str text;
    struct pawl_arena arena;
    uint64_t count = 0;
    bool more = true;
    int status = PAWL_OK;

    pawl__arena_init(&arena, &hub->env->alloc, ARENA_BYTES_MAX);
    while (more && (status = hub_next(&bytes, &text)) == PAWL_OK) {
        more = receive_one(connection, text, &arena);
        pawl__arena_reset(&arena);
        count++;
    }
    pawl__arena_release(&arena);
    if (status == PAWL_EPARSE) {
        hub_lock(hub);
        hub_connection_close(connection, "Connection closed with an error.", false);
        hub_unlock(hub);
    }
    pawl__op_count_hub_messages(hub->api->host, "received", count);
}

/* ---- time ----------------------------------------------------------------------------------- */

static void ping(struct hub_connection *connection)
{
    struct pawl_buf message;

    pawl__buf_init(&message, &connection->hub->env->alloc, HUB_QUEUE_BYTES_MAX);
    hub_write_ping(&message);
    (void)hub_connection_send(connection, pawl__buf_peek(&message), true);
    pawl__buf_release(&message);
}

/* A poll that has waited long enough is responded to; true: there is none, for too long. */
static bool tend_poll(struct hub_connection *connection, int64_t now_ns)
{
    if (connection->exchange && atomic_load(&connection->gone))
        release_exchange(connection, 204);
    else if (connection->exchange && now_ns - connection->polled_ns > HUB_POLL_NS)
        release_exchange(connection, 200);
    return !connection->exchange && now_ns - connection->polled_ns > HUB_BETWEEN_POLLS_NS;
}

/* Polls keep a connection alive: such clients send no pings and wait for none. */
static bool is_silent(const struct hub_connection *connection, int64_t now_ns)
{
    return connection->transport != HUB_POLLING && now_ns - connection->heard_ns > HUB_SILENCE_NS;
}

static bool wants_ping(const struct hub_connection *connection, int64_t now_ns)
{
    return connection->transport != HUB_POLLING && now_ns - connection->sent_ns >= HUB_PING_NS;
}

void hub_connection_tend(struct hub_connection *connection, int64_t now_ns)
{
    bool over = false;

    hub_connection_flush(connection);
    if (connection->transport == HUB_EVENTS)
        over = atomic_load(&connection->gone);
    else if (connection->transport == HUB_POLLING)
        over = tend_poll(connection, now_ns);
    if (over)
        hub_connection_end(connection);
    else if (connection->is_overfull)
        hub_connection_close(connection, "Connection closed: the client does not read.", false);
    else if (connection->has_failed)
        hub_connection_close(connection, "Connection closed with an error.", true);
    else if (connection->state == HUB_GREETING && now_ns - connection->opened_ns > HUB_HANDSHAKE_NS)
        hub_connection_close(connection, NULL, true);
    else if (connection->state == HUB_OPEN && is_silent(connection, now_ns))
        hub_connection_close(connection, "Connection closed: the client was silent.", true);
    else if (connection->state == HUB_OPEN && wants_ping(connection, now_ns))
        ping(connection);
    else if (connection->state == HUB_OPEN && hub_connection_is_free(connection))
        hub_catch_up(connection);
}
