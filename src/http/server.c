/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, listening, draining, closing; see server.h. */
#include "http/server.h"

#include "base/alloc.h"
#include "base/error.h"
#include "http/private.h"
#include "os/socket.h"

#include <stdio.h>
#include <string.h>

struct pawl_server_limits pawl__server_limits(void)
{
    return (struct pawl_server_limits){
        .connections_max = 16384,
        .connections_per_address_max = 4096,
        .head_bytes_max = 16 << 10,
        .target_bytes_max = 8 << 10,
        .body_bytes_max = (uint64_t)16 << 20,
        .bodies_bytes_max = (uint64_t)256 << 20,
        .response_bytes_max = (uint64_t)256 << 20,
        .replies_bytes_max = (uint64_t)256 << 20,
        .compress_bytes_min = 1400,
        .stream_bytes_max = (uint64_t)256 << 10,
        .queue_max = 1024,
        .threads_max = 16,
        .head_ms = 10000,
        .body_ms = 15000,
        .request_ms = 60000,
        .send_ms = 30000,
        .rate_bytes_min = 4096,
        .idle_ms = 75000,
        .linger_ms = 2000,
        .heartbeat_ms = 15000,
    };
}

/* ---- opening ----------------------------------------------------------------------------- */

static int check_routes(const struct pawl_server_options *options, struct pawl_error *err)
{
    for (size_t i = 0; i < options->route_count; i++) {
        if (options->routes[i].permission && !options->admit)
            return pawl__error_set(
                err, PAWL_EINVAL,
                "route %s needs the permission %s, but there is no admit function",
                options->routes[i].path, options->routes[i].permission);
    }
    return PAWL_OK;
}

/* Two for requests, by what their routes say; the last is for TLS: a connection waits in it once.
 */
static int open_pools(struct pawl_server *server)
{
    const struct pawl_server_limits *limits = &server->limits;
    struct workers_options requests = {.name = "http worker",
                                       .threads_max = limits->threads_max,
                                       .queue_max = limits->queue_max,
                                       .run = pawl__exchange_run};
    int status = pawl__workers_new(server->env, &requests, &server->workers);

    requests.name = "http compute";
    if (status == PAWL_OK)
        status = pawl__workers_new(server->env, &requests, &server->computers);
    if (status == PAWL_OK)
        status = pawl__workers_new(server->env,
                                   &(struct workers_options){.name = "tls handshake",
                                                             .threads_max = HANDSHAKE_THREADS_MAX,
                                                             .queue_max = limits->connections_max,
                                                             .run = pawl__handshake_run},
                                   &server->handshakers);
    return status;
}

static int open_parts(struct pawl_server *server, struct pawl_error *err)
{
    struct pawl_env *env = server->env;
    const struct pawl_server_options *options = &server->options;
    int status = check_routes(options, err);

    if (status == PAWL_OK)
        status = pawl__routes_new(&env->alloc, options->routes, options->route_count,
                                  &server->routes, err);
    if (status == PAWL_OK)
        status = pawl_env_entropy(env, &server->peers.seed, sizeof server->peers.seed, err);
    if (status == PAWL_OK)
        status = pawl_mutex_new(env, "http server", &server->mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "http changed", &server->changed);
    if (status == PAWL_OK)
        status = pawl__timers_add(&server->timers, &server->accept_timer);
    if (status == PAWL_OK)
        status = open_pools(server);
    server->poller = options->poller;
    if (status == PAWL_OK && !server->poller)
        status = pawl__poller_open(env, &server->poller, err);
    return status;
}

int pawl__server_new(struct pawl_env *env, const struct pawl_server_options *options,
                     struct pawl_server **out, struct pawl_error *err)
{
    struct pawl_server *server = pawl__alloc_zeroed(&env->alloc, sizeof *server);
    int status;

    if (!server)
        return pawl__error_code(err, PAWL_ENOMEM);
    server->env = env;
    server->options = *options;
    server->limits = options->limits;
    server->peers.alloc = &env->alloc;
    server->now_ns = pawl_env_monotonic_ns(env);
    pawl__list_init(&server->connections);
    pawl__list_init(&server->dead);
    pawl__list_init(&server->ready);
    pawl__list_init(&server->posted);
    pawl__list_init(&server->resumable);
    pawl__timers_init(&server->timers, &env->alloc,
                      server->limits.connections_max + REFUSED_MAX + 1);
    status = open_parts(server, err);
    if (status == PAWL_OK)
        *out = server;
    else
        pawl__server_close(server);
    return status == PAWL_ENOMEM ? pawl__error_code(err, status) : status;
}

/* ---- listening --------------------------------------------------------------------------- */

static int add_listener(struct pawl_server *server, int fd, const char *path, const char *host,
                        struct pawl_error *err)
{
    struct listener *listener = &server->listeners[server->listener_count];
    const struct pawl_socket socket = {fd};
    int status;

    *listener = (struct listener){.watched = {.is_listener = true}, .fd = fd, .more = true};
    (void)snprintf(listener->path, sizeof listener->path, "%s", path);
    if (*path)
        pawl__file_identify(path, &listener->file);
    (void)snprintf(listener->host, sizeof listener->host, "%s", host);
    if (!server->options.poller && pawl__socket_port(&socket, &listener->port, NULL) != PAWL_OK)
        listener->port = 0;
    status = pawl__poller_watch(server->poller, fd, listener, err);
    if (status == PAWL_OK)
        server->listener_count++;
    return status;
}

static int check_room(const struct pawl_server *server, struct pawl_error *err)
{
    if (server->listener_count < PAWL_SERVER_LISTENERS_MAX)
        return PAWL_OK;
    return pawl__error_set(err, PAWL_ELIMIT, "a server listens at %d places at the most",
                           PAWL_SERVER_LISTENERS_MAX);
}

int pawl__server_listen_descriptor(struct pawl_server *server, int fd, struct pawl_error *err)
{
    int status = check_room(server, err);

    return status == PAWL_OK ? add_listener(server, fd, "", "", err) : status;
}

/* "[::1]:80" to "::1" and 80. */
static int split_address(const char *where, char host[256], uint16_t *port, struct pawl_error *err)
{
    const char *colon = strrchr(where, ':');
    struct pawl_str name = pawl__str_make(where, colon ? (size_t)(colon - where) : 0);
    unsigned long number = 0;
    bool valid = colon && colon[1];

    if (name.len >= 2 && name.ptr[0] == '[' && name.ptr[name.len - 1] == ']')
        name = pawl__str_slice(name, 1, name.len - 1);
    else
        valid = valid && pawl__str_find(name, ':', 0) == SIZE_MAX;
    for (const char *digit = valid ? colon + 1 : ""; *digit && valid; digit++) {
        number = number * 10 + (unsigned long)(*digit - '0');
        valid = *digit >= '0' && *digit <= '9' && number <= UINT16_MAX;
    }
    if (!valid || name.len > 255)
        return pawl__error_set(err, PAWL_EINVAL,
                               "\"%s\" is no place to listen at; HOST:PORT, [::1]:PORT, :PORT or "
                               "unix:PATH is",
                               where);
    (void)snprintf(host, 256, "%.*s", PAWL_STR_ARG(name));
    *port = (uint16_t)number;
    return PAWL_OK;
}

int pawl__server_listen(struct pawl_server *server, const char *where, struct pawl_error *err)
{
    static const char prefix[] = "unix:";
    struct pawl_socket socket = PAWL_SOCKET_INIT;
    bool local = strncmp(where, prefix, sizeof prefix - 1) == 0;
    const char *path = local ? where + sizeof prefix - 1 : "";
    char host[256] = "";
    uint16_t port = 0;
    int status = check_room(server, err);

    if (status == PAWL_OK && !local)
        status = split_address(where, host, &port, err);
    if (status == PAWL_OK)
        status = local ? pawl__socket_listen_unix(path, &socket, err)
                       : pawl__socket_listen(host, port, &socket, err);
    if (status == PAWL_OK)
        status = add_listener(server, socket.fd, path, host, err);
    if (status != PAWL_OK)
        pawl__socket_close(&socket);
    return status;
}

uint16_t pawl__server_port(const struct pawl_server *server, size_t index)
{
    return index < server->listener_count ? server->listeners[index].port : 0;
}

bool pawl__server_place(const struct pawl_server *server, size_t index, char *out, size_t size)
{
    const struct listener *listener = &server->listeners[index];
    const char *scheme = server->secure ? "https" : "http";

    if (index >= server->listener_count)
        return false;
    if (listener->port > 0 && strchr(listener->host, ':'))
        (void)snprintf(out, size, "%s://[%s]:%u", scheme, listener->host, (unsigned)listener->port);
    else if (listener->port > 0)
        (void)snprintf(out, size, "%s://%s:%u", scheme,
                       *listener->host ? listener->host : "localhost", (unsigned)listener->port);
    else if (*listener->path)
        (void)snprintf(out, size, "unix:%s", listener->path);
    else
        (void)snprintf(out, size, "descriptor %d", listener->fd);
    return true;
}

/* Not what a server that came after us has put there. */
static void remove_path(const struct listener *listener)
{
    struct pawl_file_identity now;

    if (!*listener->path)
        return;
    pawl__file_identify(listener->path, &now);
    if (now.device == listener->file.device && now.inode == listener->file.inode)
        (void)!pawl__file_remove(listener->path, NULL);
}

void pawl__listeners_close(struct pawl_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        struct listener *listener = &server->listeners[i];

        pawl__poller_drop(server->poller, listener->fd, false);
        remove_path(listener);
    }
    server->listener_count = 0;
}

/* ---- running ----------------------------------------------------------------------------- */

static bool is_closing(struct pawl_server *server)
{
    bool closing;

    pawl__server_lock(server);
    closing = server->closing;
    pawl__server_unlock(server);
    return closing;
}

static void run(void *arg)
{
    struct pawl_server *server = arg;
    int status = PAWL_OK;

    while (status == PAWL_OK && !is_closing(server))
        status = pawl__server_turn(server, PAWL_FOREVER);
    pawl__server_hang_up(server);
    pawl__server_lock(server);
    server->drained = true;
    pawl_cond_broadcast(server->env, server->changed);
    pawl__server_unlock(server);
}

int pawl__server_start(struct pawl_server *server, struct pawl_error *err)
{
    return pawl_thread_start(server->env, "http loop", run, server, &server->thread, err);
}

int pawl__server_drain(struct pawl_server *server, int64_t deadline_ns)
{
    int status = PAWL_OK;

    atomic_store(&server->draining, true);
    pawl__poller_wake(server->poller);
    pawl__server_lock(server);
    while (!server->drained && status == PAWL_OK)
        status = pawl_cond_wait(server->env, server->changed, server->mutex, deadline_ns);
    if (server->drained)
        status = PAWL_OK;
    pawl__server_unlock(server);
    return status;
}

void pawl__server_stop(struct pawl_server *server)
{
    if (server->stopped)
        return;
    server->stopped = true;
    pawl__server_lock(server);
    server->closing = true;
    pawl__server_unlock(server);
    if (server->thread) {
        pawl__poller_wake(server->poller);
        pawl_thread_join(server->env, server->thread);
    } else {
        pawl__server_hang_up(server);
    }
    pawl__workers_stop(server->workers);
    pawl__workers_stop(server->computers);
    pawl__stream_resume_here(server);
}

void pawl__server_close(struct pawl_server *server)
{
    struct pawl_env *env;

    if (!server)
        return;
    env = server->env;
    if (server->poller && server->mutex && server->handshakers)
        pawl__server_stop(server);
    pawl__workers_free(server->workers);
    pawl__workers_free(server->computers);
    pawl__workers_free(server->handshakers);
    PAWL_ASSERT(server->outstanding == 0);
    if (server->poller)
        pawl__listeners_close(server);
    pawl__timers_remove(&server->timers, &server->accept_timer);
    pawl__timers_release(&server->timers);
    if (!server->options.poller)
        pawl__poller_close(server->poller);
    pawl__routes_free(server->routes);
    pawl__transport_forget_identity(server);
    pawl__compress_close(server);
    pawl_cond_free(env, server->changed);
    pawl_mutex_free(env, server->mutex);
    pawl__free(&env->alloc, server, sizeof *server);
}

const char *pawl__server_parser_version(void)
{
    return pawl__http_parser_version();
}

void pawl__server_figures(struct pawl_server *server, struct pawl_server_figures *out)
{
    out->connections = atomic_load(&server->connections_now);
    out->connections_total = atomic_load(&server->connections_total);
    out->connections_refused = atomic_load(&server->connections_refused);
    out->requests_total = atomic_load(&server->requests_total);
    out->accept_pauses = atomic_load(&server->accept_pauses);
    out->body_bytes = atomic_load(&server->body_bytes);
    out->reply_bytes = atomic_load(&server->reply_bytes);
    out->queued = out->threads = 0;
    pawl__workers_count(server->workers, &out->queued, &out->threads);
    pawl__workers_count(server->computers, &out->queued, &out->threads);
}
