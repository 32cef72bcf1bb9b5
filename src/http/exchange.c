/* SPDX-License-Identifier: Apache-2.0 */
/* What handlers see of a request, and which thread may respond; see exchange.h and private.h. */
#include "http/exchange.h"

#include "base/alloc.h"
#include "http/private.h"

#define PARAMETERS_BYTES_MAX ((size_t)64 << 10)
#define FIELDS_OUT_BYTES_MAX ((size_t)16 << 10)
#define HEAD_OUT_BYTES_MAX ((size_t)20 << 10)
/* What most responses have of these: buffers that grow by and by are moved by and by. */
#define FIELDS_OUT_BYTES_USUAL ((size_t)400)

struct pawl_exchange *pawl__exchange_new(struct pawl_server *server,
                                         struct pawl_connection *connection, int64_t now_ns)
{
    const struct pawl_allocator *alloc = &server->env->alloc;
    const struct pawl_server_limits *limits = &server->limits;
    struct pawl_exchange *exchange = pawl__alloc(alloc, sizeof *exchange);

    if (!exchange)
        return NULL;
    /* Not the fields: there are many, and few are used. */
    memset(exchange, 0, offsetof(struct pawl_exchange, fields));
    memset((char *)exchange + offsetof(struct pawl_exchange, field_count), 0,
           sizeof *exchange - offsetof(struct pawl_exchange, field_count));
    exchange->server = server;
    exchange->connection = connection;
    exchange->peer = connection->peer;
    exchange->secure = connection->tls != NULL;
    exchange->since_ns = now_ns;
    exchange->deadline_ns = PAWL_FOREVER;
    pawl__buf_init(&exchange->head, alloc, limits->head_bytes_max);
    pawl__buf_init(&exchange->body, alloc, limits->bodies_bytes_max);
    pawl__buf_init(&exchange->out, alloc, limits->response_bytes_max);
    pawl__buf_init(&exchange->fields_out, alloc, FIELDS_OUT_BYTES_MAX);
    pawl__buf_init(&exchange->head_out, alloc, HEAD_OUT_BYTES_MAX);
    pawl__arena_init(&exchange->arena, alloc, PARAMETERS_BYTES_MAX);
    return exchange;
}

static void release_body(struct pawl_exchange *exchange)
{
    if (exchange->body_held > 0)
        (void)atomic_fetch_sub(&exchange->server->body_bytes, exchange->body_held);
    exchange->body_held = 0;
    pawl__buf_release(&exchange->body);
}

void pawl__exchange_hold(struct pawl_exchange *exchange, uint64_t bytes)
{
    uint64_t before = atomic_exchange(&exchange->reply_held, bytes);

    if (bytes > before)
        (void)atomic_fetch_add(&exchange->server->reply_bytes, bytes - before);
    else if (bytes < before)
        (void)atomic_fetch_sub(&exchange->server->reply_bytes, before - bytes);
}

void pawl__exchange_free(struct pawl_exchange *exchange)
{
    if (!exchange)
        return;
    release_body(exchange);
    pawl__exchange_hold(exchange, 0);
    pawl__buf_release(&exchange->head);
    pawl__buf_release(&exchange->out);
    pawl__buf_release(&exchange->fields_out);
    pawl__buf_release(&exchange->head_out);
    pawl__arena_release(&exchange->arena);
    pawl__stream_free(exchange->server, exchange->stream);
    pawl__free(&exchange->server->env->alloc, exchange, sizeof *exchange);
}

/* ---- the request ------------------------------------------------------------------------- */

struct pawl_str pawl__exchange_method(const struct pawl_exchange *exchange)
{
    return pawl__request_slice(exchange, 0, exchange->method_len);
}

/* Of "http://host/path" the path: proxies are spoken to like that. */
static struct pawl_str origin_form(struct pawl_str target)
{
    static const char mark[] = "://";
    size_t colon = pawl__str_find(target, ':', 0), slash;

    if (target.len == 0 || target.ptr[0] == '/' || colon == SIZE_MAX ||
        !pawl__str_starts(pawl__str_slice(target, colon, target.len), pawl__str(mark)))
        return target;
    slash = pawl__str_find(target, '/', colon + sizeof mark - 1);
    return slash == SIZE_MAX ? pawl__str("/") : pawl__str_slice(target, slash, target.len);
}

struct pawl_str pawl__exchange_path(const struct pawl_exchange *exchange)
{
    struct pawl_str target = origin_form(pawl__request_target(exchange));

    return pawl__str_slice(target, 0, pawl__str_find(target, '?', 0));
}

struct pawl_str pawl__exchange_query(const struct pawl_exchange *exchange)
{
    struct pawl_str target = origin_form(pawl__request_target(exchange));
    size_t mark = pawl__str_find(target, '?', 0);

    return mark == SIZE_MAX ? pawl__str("") : pawl__str_slice(target, mark + 1, target.len);
}

struct pawl_str pawl__exchange_parameter(const struct pawl_exchange *exchange, const char *name)
{
    for (uint32_t i = 0; i < exchange->match.parameter_count; i++) {
        if (pawl__str_is(exchange->match.names[i], name))
            return exchange->match.values[i];
    }
    return pawl__str("");
}

size_t pawl__exchange_field_count(const struct pawl_exchange *exchange)
{
    return exchange->field_count;
}

void pawl__exchange_field_at(const struct pawl_exchange *exchange, size_t index,
                             struct pawl_str *name, struct pawl_str *value)
{
    const struct field *field = &exchange->fields[index];

    PAWL_ASSERT(index < exchange->field_count);
    *name = pawl__request_slice(exchange, field->name, field->name_len);
    *value = pawl__request_slice(exchange, field->value, field->value_len);
}

struct pawl_str pawl__exchange_field(const struct pawl_exchange *exchange, const char *name)
{
    struct pawl_str wanted = pawl__str(name), found, value;

    for (uint32_t i = 0; i < exchange->field_count; i++) {
        /* A request's fields are looked through ten times; most differ in length. */
        if (exchange->fields[i].name_len != wanted.len)
            continue;
        pawl__exchange_field_at(exchange, i, &found, &value);
        if (pawl__str_equal_nocase(found, wanted))
            return value;
    }
    return pawl__str_make(NULL, 0);
}

struct pawl_str pawl__exchange_body(const struct pawl_exchange *exchange)
{
    return pawl__buf_peek(&exchange->body);
}

const struct pawl_route *pawl__exchange_route(const struct pawl_exchange *exchange)
{
    return exchange->match.route;
}

const struct pawl_peer *pawl__exchange_peer(const struct pawl_exchange *exchange)
{
    return &exchange->peer;
}

int64_t pawl__exchange_deadline_ns(const struct pawl_exchange *exchange)
{
    return exchange->deadline_ns;
}

void pawl__exchange_set_owner(struct pawl_exchange *exchange, void *owner)
{
    exchange->owner = owner;
}

void *pawl__exchange_owner(const struct pawl_exchange *exchange)
{
    return exchange->owner;
}

struct pawl_arena *pawl__exchange_arena(struct pawl_exchange *exchange)
{
    return &exchange->arena;
}

/* ---- the response ------------------------------------------------------------------------ */

struct pawl_buf *pawl__exchange_out(struct pawl_exchange *exchange)
{
    return &exchange->out;
}

/* A value could otherwise add fields, or a whole response. */
static bool is_clean(struct pawl_str text, bool is_name)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c == 0x7f || (c < 0x20 && (is_name || c != '\t')) ||
            (is_name && (c == ' ' || c == ':')))
            return false;
    }
    return true;
}

void pawl__exchange_add_field_str(struct pawl_exchange *exchange, struct pawl_str name,
                                  struct pawl_str value)
{
    if (!is_clean(name, true) || !is_clean(value, false)) {
        exchange->invalid_field = true;
        return;
    }
    if (exchange->fields_out.cap == 0)
        (void)pawl__buf_reserve(&exchange->fields_out, FIELDS_OUT_BYTES_USUAL);
    pawl__buf_str(&exchange->fields_out, name);
    pawl__buf_text(&exchange->fields_out, ": ");
    pawl__buf_str(&exchange->fields_out, value);
    pawl__buf_text(&exchange->fields_out, "\r\n");
}

void pawl__exchange_add_field(struct pawl_exchange *exchange, const char *name, const char *value)
{
    pawl__exchange_add_field_str(exchange, pawl__str(name), pawl__str(value));
}

/* NULL: the server has taken it back. */
static struct pawl_connection *claim(struct pawl_exchange *exchange)
{
    struct pawl_server *server = exchange->server;
    struct pawl_connection *connection;

    pawl__server_lock(server);
    while (exchange->telling)
        pawl__server_await(server);
    server->outstanding--;
    connection = exchange->connection;
    if (connection) {
        PAWL_ASSERT(connection->turn == TURN_HANDED);
        connection->turn = TURN_RESPONDING;
    }
    pawl__server_unlock(server);
    return connection;
}

/*
 * After sending. The loop is not woken for a response that leaves nothing to do: it
 * finds out with the next request.
 */
static void hand_back(struct pawl_exchange *exchange, struct pawl_connection *connection,
                      int status)
{
    struct pawl_server *server = exchange->server;
    bool complete = status == PAWL_OK, post;
    int64_t now_ns = pawl_env_monotonic_ns(server->env);

    pawl__server_lock(server);
    post = !complete || !exchange->keep_alive || connection->wanted || server->closing;
    connection->since_ns = now_ns;
    connection->turn = post ? TURN_LOOP : TURN_RESPONDED;
    if (complete && exchange->keep_alive)
        connection->exchange = NULL;
    if (post) {
        connection->wanted = false;
        (void)pawl__connection_post(connection);
        pawl_cond_broadcast(server->env, server->changed);
    }
    complete = connection->exchange == NULL;
    pawl__server_unlock(server);
    if (post)
        pawl__poller_wake(server->poller);
    if (complete)
        pawl__exchange_free(exchange);
}

void pawl__exchange_observe(struct pawl_exchange *exchange)
{
    const struct pawl_server_options *options = &exchange->server->options;

    if (options->observe)
        options->observe(options->ctx, exchange, exchange->status,
                         pawl_env_monotonic_ns(exchange->server->env) - exchange->since_ns);
}

void pawl__exchange_respond(struct pawl_exchange *exchange, int status)
{
    struct pawl_connection *connection;
    int sent;

    PAWL_ASSERT(!exchange->stream);
    pawl__compress_response(exchange);
    pawl__response_prepare(exchange, status);
    pawl__exchange_observe(exchange);
    connection = claim(exchange);
    if (!connection) {
        pawl__exchange_free(exchange);
        return;
    }
    sent = pawl__response_send(exchange, connection);
    if (sent == PAWL_EBUSY) { /* it may take long: the request is not needed meanwhile */
        release_body(exchange);
        pawl__exchange_hold(exchange, exchange->out.cap);
    }
    hand_back(exchange, connection, sent);
}

void pawl__exchange_refuse(struct pawl_exchange *exchange, int status, const char *detail)
{
    pawl__response_problem(exchange, status, detail);
    pawl__exchange_respond(exchange, status);
}

/* An exchange that was taken back while it was queued is not begun; one that was begun goes on. */
void pawl__exchange_run(struct pawl_list_link *link)
{
    struct pawl_exchange *exchange =
        (struct pawl_exchange *)(void *)((char *)link - offsetof(struct pawl_exchange, link));
    struct pawl_server *server = exchange->server;
    bool begun;

    if (exchange->resume) {
        exchange->resume(exchange, exchange->resume_ctx);
        return;
    }
    pawl__server_lock(server);
    begun = exchange->connection != NULL;
    if (!begun)
        server->outstanding--;
    pawl__server_unlock(server);
    if (begun)
        exchange->match.route->handle(exchange, server->options.ctx);
    else
        pawl__exchange_free(exchange);
}

/* ---- gone -------------------------------------------------------------------------------- */

bool pawl__exchange_is_gone(struct pawl_exchange *exchange)
{
    bool gone;

    pawl__server_lock(exchange->server);
    gone = exchange->gone;
    pawl__server_unlock(exchange->server);
    return gone;
}

bool pawl__exchange_on_gone(struct pawl_exchange *exchange, void (*gone)(void *ctx), void *ctx)
{
    bool registered;

    pawl__server_lock(exchange->server);
    registered = !exchange->gone;
    if (registered) {
        exchange->gone_function = gone;
        exchange->gone_ctx = ctx;
    }
    pawl__server_unlock(exchange->server);
    return registered;
}

void pawl__exchange_tell_gone(struct pawl_exchange *exchange)
{
    struct pawl_server *server = exchange->server;
    bool tell = !exchange->gone && exchange->gone_function;

    exchange->gone = true;
    if (!tell)
        return;
    exchange->telling = true; /* respond() waits, so exchange and ctx stay valid */
    pawl__server_unlock(server);
    exchange->gone_function(exchange->gone_ctx);
    pawl__server_lock(server);
    exchange->telling = false;
    pawl_cond_broadcast(server->env, server->changed);
}
