/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the hub, as SignalR's clients make them:
 *
 *     POST …/negotiate          a token for a connection, and the transports there are
 *     GET with Upgrade          a WebSocket
 *     GET with text/event-stream  a stream of events; what the client sends comes with POST
 *     GET                       a poll: the first returns at once, the others wait for messages
 *     POST, DELETE              messages of a client that streams or polls; the end of its polling
 *
 * Negotiating stores nothing: the token is signed, and opens a connection on whatever node the
 * next request reaches. From then on the connection is on that node, and requests for it that reach
 * another one are refused with 404.
 */
#include "api/credential.h"
#include "api/hub/private.h"
#include "base/id.h"
#include "http/query.h"
#include "http/stream.h"

#include <stdio.h>

/* ---- negotiating ---------------------------------------------------------------------------- */

static void write_transport(struct pawl_json_writer *json, const char *name, bool binary)
{
    pawl__json_write_begin_object(json);
    pawl__json_write_key_text(json, "transport");
    pawl__json_write_string_text(json, name);
    pawl__json_write_key_text(json, "transferFormats");
    pawl__json_write_begin_array(json);
    pawl__json_write_string_text(json, "Text");
    if (binary)
        pawl__json_write_string_text(json, "Binary");
    pawl__json_write_end_array(json);
    pawl__json_write_end_object(json);
}

/* Clients of version 0 know one id, which is the token then. */
static void write_negotiation(struct pawl_exchange *exchange, int version, struct pawl_str id,
                              struct pawl_str token)
{
    struct pawl_json_writer json;

    pawl__json_writer_init(&json, pawl__exchange_out(exchange), PAWL_JSON_ESCAPE_HTML, 0);
    pawl__json_write_begin_object(&json);
    pawl__json_write_key_text(&json, "negotiateVersion");
    pawl__json_write_int(&json, version);
    pawl__json_write_key_text(&json, "connectionId");
    pawl__json_write_string(&json, version > 0 ? id : token);
    if (version > 0) {
        pawl__json_write_key_text(&json, "connectionToken");
        pawl__json_write_string(&json, token);
    }
    pawl__json_write_key_text(&json, "availableTransports");
    pawl__json_write_begin_array(&json);
    write_transport(&json, "WebSockets", true);
    write_transport(&json, "ServerSentEvents", false);
    write_transport(&json, "LongPolling", true);
    pawl__json_write_end_array(&json);
    pawl__json_write_end_object(&json);
}

void pawl__api_hub_negotiate(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_str wanted = pawl__query_find(pawl__exchange_query(exchange), "negotiateVersion");
    int version = wanted.len > 0 && wanted.ptr[0] >= '1' && wanted.ptr[0] <= '9';
    struct pawl_str token = {NULL, 0};
    struct api_call call;
    char id[PAWL_UUID_HEX_SIZE];
    unsigned char bytes[16];
    int status;

    api_begin(&call, exchange, ctx);
    status = pawl_env_entropy(call.api->env, bytes, sizeof bytes, &call.err);
    if (status == PAWL_OK) {
        for (size_t i = 0; i < sizeof bytes; i++)
            (void)snprintf(id + 2 * i, 3, "%02x", bytes[i]);
        status = pawl__op_token_issue(&call.op,
                                      &(struct pawl_token_request){.use = PAWL_TOKEN_HUB,
                                                                   .bearer = call.caller,
                                                                   .csrf = pawl__str(id)},
                                      &token);
    }
    if (status == PAWL_OK) {
        write_negotiation(exchange, version, pawl__str(id), token);
        pawl__exchange_add_field(exchange, "Content-Type", API_JSON);
        pawl__exchange_add_field(exchange, "Cache-Control", "no-store");
        api_respond_status(&call, 200);
    } else {
        api_fail(&call, status);
    }
    api_end(&call);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void add_no_cache(struct pawl_exchange *exchange)
{
    pawl__exchange_add_field(exchange, "Cache-Control", "no-cache, no-store");
    pawl__exchange_add_field(exchange, "Expires", "Thu, 01 Jan 1970 00:00:00 GMT");
    pawl__exchange_add_field(exchange, "Pragma", "no-cache");
}

static void respond_text(struct pawl_exchange *exchange, int status, const char *text)
{
    pawl__exchange_add_field(exchange, "Content-Type", "text/plain");
    pawl__buf_text(pawl__exchange_out(exchange), text);
    pawl__exchange_respond(exchange, status);
}

/* Without the mutex. */
static void refuse_full(struct pawl_hub *hub, struct pawl_exchange *exchange,
                        const struct pawl_bearer *bearer)
{
    bool too_many;

    hub_lock(hub);
    too_many = hub_caller_is_full(hub, bearer);
    hub_unlock(hub);
    pawl__exchange_add_field(exchange, "Retry-After", "5");
    if (too_many)
        respond_text(exchange, 429, "The hub takes no more connections of this caller");
    else
        respond_text(exchange, 503, "The hub takes no more connections");
}

/* ---- finding and opening -------------------------------------------------------------------- */

static struct pawl_str id_of(const struct pawl_exchange *exchange)
{
    return pawl__query_find(pawl__exchange_query(exchange), "id");
}

/* Whether a connection is the caller's: whoever has its id alone is who it was given to. */
static bool is_of(const struct pawl_exchange *exchange, const struct pawl_bearer *owner)
{
    const struct api_request *request = api_request_of(exchange);

    return request && request->bearer && request->bearer->is_application == owner->is_application &&
           pawl__str_equal(request->bearer->id, owner->id);
}

/*
 * Who opens a connection: the one whom its id was given to, or, without one, the caller. NULL: it
 * was refused.
 */
static const struct pawl_bearer *find_opener(struct pawl_api *api, struct pawl_exchange *exchange,
                                             struct pawl_str token)
{
    const struct api_request *request = api_request_of(exchange);
    struct pawl_bearer *bearer = NULL;

    if (token.len == 0)
        return request ? request->bearer : NULL;
    if (pawl__guard_check_hub_token(api, token, pawl__exchange_arena(exchange), &bearer) !=
        PAWL_CREDENTIAL_RIGHT) {
        respond_text(exchange, 404, "No Connection with that ID");
        return NULL;
    }
    if (!is_of(exchange, bearer)) {
        respond_text(exchange, 403, "The connection is somebody else's");
        return NULL;
    }
    return bearer;
}

/* With the mutex. The connection of a request that streams or polls; NULL: it is to be refused. */
static struct hub_connection *find(struct pawl_hub *hub, const struct pawl_exchange *exchange)
{
    struct pawl_str token = id_of(exchange);
    struct hub_connection *connection = token.len > 0 ? pawl__map_get(&hub->by_token, token) : NULL;

    return connection && is_of(exchange, &connection->bearer) ? connection : NULL;
}

/* ---- WebSocket ------------------------------------------------------------------------------ */

static void on_message(struct pawl_websocket *socket, void *ctx, bool text, struct pawl_str bytes)
{
    (void)socket;
    (void)text;
    hub_connection_receive(ctx, bytes);
}

static void on_closed(struct pawl_websocket *socket, void *ctx, int code)
{
    struct hub_connection *connection = ctx;
    struct pawl_hub *hub = connection->hub;

    (void)socket;
    (void)code;
    hub_lock(hub);
    connection->socket = NULL;
    hub_connection_end(connection);
    hub_connection_unuse(connection);
    hub_unlock(hub);
}

static const struct pawl_websocket_handler socket_handler = {
    .message_bytes_max = 4 * HUB_MESSAGE_BYTES_MAX, .message = on_message, .closed = on_closed};

/* Callbacks wait for the mutex, and find the connection complete. */
static void open_socket(struct pawl_hub *hub, struct pawl_exchange *exchange,
                        const struct pawl_bearer *bearer, struct pawl_str token)
{
    struct hub_connection *connection;
    bool in_use;

    hub_lock(hub);
    in_use = token.len > 0 && pawl__map_has(&hub->by_token, token);
    connection = in_use ? NULL : hub_connection_new(hub, HUB_WEB_SOCKET, bearer, token);
    if (connection && pawl__websocket_accept(exchange, &socket_handler, connection, NULL,
                                             &connection->socket) != PAWL_OK) {
        hub_connection_end(connection); /* the exchange is gone */
        hub_connection_unuse(connection);
    }
    hub_unlock(hub);
    if (in_use)
        respond_text(exchange, 409, "The connection has a transport already");
    else if (!connection)
        refuse_full(hub, exchange, bearer);
}

/* ---- server-sent events and polls ------------------------------------------------------------ */

static void on_gone(void *ctx)
{
    struct hub_connection *connection = ctx;

    atomic_store(&connection->gone, true);
    hub_wake_to_tend(connection->hub);
}

static void open_events(struct pawl_hub *hub, struct pawl_exchange *exchange,
                        const struct pawl_bearer *bearer, struct pawl_str token)
{
    struct hub_connection *connection;

    hub_lock(hub);
    if (pawl__map_has(&hub->by_token, token)) {
        hub_unlock(hub);
        respond_text(exchange, 409, "The connection has a transport already");
        return;
    }
    connection = hub_connection_new(hub, HUB_EVENTS, bearer, token);
    if (connection && pawl__events_begin(exchange) != PAWL_OK) {
        hub_connection_end(connection);
        connection = NULL;
    }
    if (connection) {
        connection->exchange = exchange;
        if (!pawl__exchange_on_gone(exchange, on_gone, connection))
            atomic_store(&connection->gone, true);
    }
    hub_unlock(hub);
    if (!connection)
        refuse_full(hub, exchange, bearer);
}

/* With the mutex. It waits for messages, unless there are some; whoever waited before is let go. */
static void attach_poll(struct hub_connection *connection, struct pawl_exchange *exchange)
{
    struct pawl_exchange *earlier = connection->exchange;
    bool ending = connection->state == HUB_ENDING && connection->out.len == 0;

    connection->exchange = exchange;
    if (earlier) {
        pawl__exchange_add_field(earlier, "Content-Type", "text/plain");
        pawl__exchange_respond(earlier, 204);
    }
    connection->polled_ns = pawl_env_monotonic_ns(connection->hub->env);
    atomic_store(&connection->gone, false);
    if (ending) {
        hub_connection_end(connection);
        return;
    }
    if (!pawl__exchange_on_gone(exchange, on_gone, connection))
        atomic_store(&connection->gone, true);
    hub_connection_flush(connection);
}

/* A poll for what is not here opens it, if its token still does that. */
static void handle_poll(struct pawl_hub *hub, struct pawl_exchange *exchange, struct pawl_str token)
{
    struct hub_connection *connection;
    const struct pawl_bearer *bearer;
    bool known, wrong;

    hub_lock(hub);
    connection = find(hub, exchange);
    known = connection != NULL;
    wrong = known && connection->transport != HUB_POLLING;
    if (known && !wrong)
        attach_poll(connection, exchange);
    hub_unlock(hub);
    if (wrong)
        respond_text(exchange, 409, "The connection has another transport");
    if (known)
        return;
    bearer = find_opener(hub->api, exchange, token);
    if (!bearer)
        return;
    hub_lock(hub);
    connection = pawl__map_has(&hub->by_token, token)
                     ? NULL
                     : hub_connection_new(hub, HUB_POLLING, bearer, token);
    hub_unlock(hub);
    if (connection)
        respond_text(exchange, 200, "");
    else
        refuse_full(hub, exchange, bearer);
}

/* ---- handlers ------------------------------------------------------------------------------- */

static bool has(struct pawl_exchange *exchange, const char *field, const char *word)
{
    struct pawl_str value = pawl__exchange_field(exchange, field);
    size_t len = strlen(word);

    for (size_t i = 0; value.ptr && i + len <= value.len; i++)
        if (pawl__str_equal_nocase(pawl__str_slice(value, i, i + len), pawl__str(word)))
            return true;
    return false;
}

void pawl__api_hub_get(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_api *api = ctx;
    struct pawl_hub *hub = api->hub;
    struct pawl_str token = id_of(exchange);
    bool upgrades = has(exchange, "upgrade", "websocket");
    bool streams = has(exchange, "accept", "text/event-stream");
    const struct pawl_bearer *bearer;

    if (!upgrades)
        add_no_cache(exchange);
    if (!upgrades && token.len == 0) {
        respond_text(exchange, 400, "Connection ID required");
    } else if (!upgrades && !streams) {
        handle_poll(hub, exchange, token);
    } else {
        bearer = find_opener(api, exchange, token);
        if (bearer && upgrades)
            open_socket(hub, exchange, bearer, token);
        else if (bearer)
            open_events(hub, exchange, bearer, token);
    }
}

/* The connection of a POST or DELETE, with one more user; NULL: it was refused. */
static struct hub_connection *use(struct pawl_hub *hub, struct pawl_exchange *exchange)
{
    struct hub_connection *connection;

    if (id_of(exchange).len == 0) {
        respond_text(exchange, 400, "Connection ID required");
        return NULL;
    }
    hub_lock(hub);
    connection = find(hub, exchange);
    if (connection)
        connection->users++;
    hub_unlock(hub);
    if (!connection)
        respond_text(exchange, 404, "No Connection with that ID");
    return connection;
}

static void unuse(struct hub_connection *connection)
{
    struct pawl_hub *hub = connection->hub;

    hub_lock(hub);
    hub_connection_unuse(connection);
    hub_unlock(hub);
}

void pawl__api_hub_post(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_hub *hub = ((struct pawl_api *)ctx)->hub;
    struct hub_connection *connection = use(hub, exchange);

    if (!connection)
        return;
    if (connection->transport == HUB_WEB_SOCKET) {
        respond_text(exchange, 405, "POST requests are not allowed for WebSocket connections.");
    } else {
        hub_connection_receive(connection, pawl__exchange_body(exchange));
        respond_text(exchange, 200, "");
    }
    unuse(connection);
}

void pawl__api_hub_delete(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_hub *hub = ((struct pawl_api *)ctx)->hub;
    struct hub_connection *connection = use(hub, exchange);
    bool polls;

    if (!connection)
        return;
    polls = connection->transport == HUB_POLLING;
    hub_lock(hub);
    if (polls && pawl__list_linked(&connection->link))
        hub_connection_end(connection);
    hub_unlock(hub);
    respond_text(exchange, polls ? 202 : 400,
                 polls ? "" : "Only connections that poll are ended by DELETE");
    unuse(connection);
}
