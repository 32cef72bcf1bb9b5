/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a connection, plain or by TLS, and the identity that the server has for the latter. */
#include "base/error.h"
#include "drivers/openssl.h"
#include "http/private.h"

/* ---- bytes ------------------------------------------------------------------------------- */

int pawl__transport_read(struct pawl_connection *connection, void *to, size_t size_bytes,
                         size_t *got)
{
    if (connection->tls)
        return pawl__tls_read(connection->tls, to, size_bytes, got);
    return pawl__poller_read(connection->server->poller, connection->fd, to, size_bytes, got);
}

int pawl__transport_write(struct pawl_connection *connection, struct pawl_str first,
                          struct pawl_str second, size_t *written)
{
    if (connection->tls)
        return pawl__tls_write(connection->tls, first, second, written);
    return pawl__poller_write(connection->server->poller, connection->fd, first, second, written);
}

int pawl__transport_flush(struct pawl_connection *connection)
{
    return connection->tls ? pawl__tls_flush(connection->tls) : PAWL_OK;
}

void pawl__transport_end(struct pawl_connection *connection)
{
    if (connection->tls)
        pawl__tls_end(connection->tls);
    pawl__poller_end(connection->server->poller, connection->fd);
}

void pawl__transport_drop(struct pawl_connection *connection, bool abort)
{
    if (connection->tls && !abort)
        pawl__tls_end(connection->tls);
    pawl__tls_free(connection->tls);
    connection->tls = NULL;
    pawl__poller_drop(connection->server->poller, connection->fd, abort);
}

/* ---- TLS --------------------------------------------------------------------------------- */

static int read_encrypted(void *ctx, void *to, size_t size_bytes, size_t *got)
{
    struct pawl_connection *connection = ctx;

    return pawl__poller_read(connection->server->poller, connection->fd, to, size_bytes, got);
}

static int write_encrypted(void *ctx, struct pawl_str bytes, size_t *written)
{
    struct pawl_connection *connection = ctx;

    return pawl__poller_write(connection->server->poller, connection->fd, bytes, pawl__str(""),
                              written);
}

static const struct pawl_tls_transport transport = {read_encrypted, write_encrypted};

int pawl__transport_secure(struct pawl_connection *connection)
{
    struct pawl_server *server = connection->server;
    int status;

    pawl__server_lock(server); /* the identity may be replaced at any time */
    status = pawl__tls_new(server->identity, &transport, connection, &connection->tls);
    pawl__server_unlock(server);
    return status;
}

int pawl__transport_handshake(struct pawl_connection *connection)
{
    return pawl__tls_handshake(connection->tls);
}

int pawl__server_secure(struct pawl_server *server, const char *certificate_path,
                        const char *key_path, struct pawl_error *err)
{
    struct pawl_tls_context *fresh, *old;
    int status =
        pawl__tls_context_open(&server->env->alloc, certificate_path, key_path, &fresh, err);

    if (status != PAWL_OK)
        return status;
    pawl__server_lock(server);
    old = server->identity;
    server->identity = fresh;
    if (!server->secure)
        server->secure = true; /* before start(): the loop reads it */
    pawl__server_unlock(server);
    pawl__tls_context_close(old);
    return PAWL_OK;
}

void pawl__transport_forget_identity(struct pawl_server *server)
{
    pawl__tls_context_close(server->identity);
    server->identity = NULL;
}
