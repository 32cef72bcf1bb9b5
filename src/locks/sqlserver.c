/* SPDX-License-Identifier: Apache-2.0 */
/* The provider on SQL Server: its URI, its life and its table; see sqlserver.h. */
#include "locks/sqlserver.h"

#include "base/alloc.h"
#include "base/error.h"
#include "locks/locator.h"
#include "locks/sqlserver_private.h"

#include <stdio.h>

#define NS_PER_S INT64_C(1000000000)
#define PORT 1433
#define SESSIONS_MIN 2
#define SESSIONS_MAX 64
#define SESSIONS 8
#define KEEPALIVE_S 60
#define PATIENCE_S 5
#define KNOWN_OPTIONS "encrypt, trust, verify, connections, connect, patience, keepalive"

static struct sqlserver_locks *locks_of(struct pawl_lock_provider *provider)
{
    return (struct sqlserver_locks *)provider;
}

/* ---- URI --------------------------------------------------------------------------------- */

static int read_tls(struct pawl_locator *locator, struct pawl_tds_options *out, char *warning,
                    size_t size, struct pawl_error *err)
{
    const char *verify = pawl__locator_option(locator, "verify");
    bool encrypt = true;
    int status = pawl__locator_switch(locator, "encrypt", true, &encrypt, err);

    if (status != PAWL_OK)
        return status;
    out->ca_file = pawl__locator_option(locator, "trust");
    if (!encrypt)
        out->tls = PAWL_TDS_TLS_OFF;
    else if (!verify || strcmp(verify, "full") == 0)
        out->tls = PAWL_TDS_TLS_FULL;
    else if (strcmp(verify, "ca") == 0)
        out->tls = PAWL_TDS_TLS_CA;
    else if (strcmp(verify, "none") == 0)
        out->tls = PAWL_TDS_TLS_UNPROVEN;
    else
        return pawl__error_set(err, PAWL_EINVAL,
                               "verify=%.40s in the lock's URI is not full, ca or none", verify);
    if (out->tls == PAWL_TDS_TLS_OFF || out->tls == PAWL_TDS_TLS_UNPROVEN)
        (void)snprintf(warning, size, "%s",
                       encrypt
                           ? "the server's certificate is not verified (verify=none): anybody "
                             "on the path can impersonate it"
                           : "the connection is not encrypted (encrypt=off): anybody on the path "
                             "can read the password");
    return PAWL_OK;
}

static int read_uri(struct pawl_str uri, struct pawl_arena *arena, struct sqlserver_locks *locks,
                    struct pawl_tds_options *out, struct pawl_error *err)
{
    struct pawl_locator locator;
    int64_t sessions = 0, keepalive_s = 0;
    int status = pawl__locator_parse(uri, arena, &locator, err);

    if (status != PAWL_OK)
        return status;
    if (!*locator.host || !*locator.user)
        return pawl__error_set(err, PAWL_EINVAL,
                               "the lock's URI lacks %s: write "
                               "sqlserver://user:password@host/database",
                               *locator.host ? "a user" : "a host");
    *out = (struct pawl_tds_options){.host = locator.host,
                                     .port = locator.port ? locator.port : PORT,
                                     .user = locator.user,
                                     .password = locator.password,
                                     .database = locator.path};
    status = read_tls(&locator, out, locks->warning, sizeof locks->warning, err);
    if (status == PAWL_OK)
        status = pawl__locator_number(&locator, "connections", SESSIONS_MIN, SESSIONS_MAX, SESSIONS,
                                      &sessions, err);
    if (status == PAWL_OK)
        status = pawl__locator_number(&locator, "connect", 1, 600, 5, &out->connect_seconds, err);
    if (status == PAWL_OK)
        status =
            pawl__locator_number(&locator, "keepalive", 1, 86400, KEEPALIVE_S, &keepalive_s, err);
    if (status == PAWL_OK)
        status = pawl__locator_number(&locator, "patience", 1, 600, PATIENCE_S,
                                      &out->patience_seconds, err);
    locks->patience_ns = out->patience_seconds * NS_PER_S;
    locks->session_max = (size_t)sessions;
    locks->keepalive_ns = keepalive_s * NS_PER_S;
    return status == PAWL_OK ? pawl__locator_finish(&locator, KNOWN_OPTIONS, err) : status;
}

/* ---- life -------------------------------------------------------------------------------- */

static void close_locks(struct pawl_lock_provider *provider)
{
    struct sqlserver_locks *locks = locks_of(provider);
    struct pawl_env *env = locks->env;

    pawl__sqlserver_end(locks);
    pawl__lock_notifier_release(&locks->notifier);
    pawl__tds_close(locks->tds);
    pawl_cond_free(env, locks->watch);
    pawl_cond_free(env, locks->changed);
    pawl_mutex_free(env, locks->mutex);
    pawl__free(&env->alloc, locks, sizeof *locks);
}

static int listen_to(struct pawl_lock_provider *provider, const struct pawl_lock_listener *listener,
                     struct pawl_error *err)
{
    struct sqlserver_locks *locks = locks_of(provider);

    int status = pawl__lock_notifier_open(&locks->notifier, listener, err);

    return status == PAWL_OK ? pawl__sqlserver_watch_start(locks, err) : status;
}

static void unlisten(struct pawl_lock_provider *provider)
{
    pawl__lock_notifier_close(&locks_of(provider)->notifier);
}

static int keep_version(void *ctx, const struct pawl_str *columns, size_t count)
{
    struct pawl_lock_status *out = ctx;
    struct pawl_str line = count > 0 ? columns[0] : pawl__str("");

    line = pawl__str_trim(pawl__str_slice(line, 0, pawl__str_find(line, '\n', 0)));
    (void)snprintf(out->server, sizeof out->server, "%.*s",
                   (int)(line.len < sizeof out->server ? line.len : sizeof out->server - 1),
                   line.ptr);
    return 1;
}

static int look_at_server(struct pawl_lock_provider *provider, struct pawl_lock_status *out,
                          int64_t deadline_ns, struct pawl_error *err)
{
    struct sqlserver_locks *locks = locks_of(provider);
    const struct pawl_socket_wait wait = {locks->env, NULL, deadline_ns};
    struct sqlserver_session *session;
    int status;

    *out = (struct pawl_lock_status){.ttl_ms = 0};
    (void)snprintf(out->warning, sizeof out->warning, "%s", locks->warning);
    status = pawl__sqlserver_take(locks, false, deadline_ns, &session, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__tds_query(session->conn, "SELECT @@VERSION", keep_version, out, &wait, err);
    pawl__sqlserver_give(locks, session);
    return status == PAWL_EUNKNOWN ? PAWL_EUNAVAILABLE : status;
}

static int map_name(struct pawl_lock_provider *provider, struct pawl_str name, char *out,
                    size_t size, struct pawl_error *err)
{
    char key[PAWL_SQLSERVER_LOCK_NAME_SIZE];
    size_t length = pawl__lock_name_sqlserver_text(name, key);

    (void)provider;
    if (length >= size)
        return pawl__error_code(err, PAWL_ELIMIT);
    memcpy(out, key, length + 1);
    return PAWL_OK;
}

static const struct pawl_lock_provider_ops ops = {
    .version = PAWL_LOCK_VERSION,
    .caps = PAWL_LOCK_CAP_HOST | PAWL_LOCK_CAP_NETWORK | PAWL_LOCK_CAP_WAIT | PAWL_LOCK_CAP_TOKEN |
            PAWL_LOCK_CAP_TOKEN_DURABLE | PAWL_LOCK_CAP_LOST | PAWL_LOCK_CAP_INSPECT,
    .close = close_locks,
    .listen = listen_to,
    .unlisten = unlisten,
    .status = look_at_server,
    .map = map_name,
    .try_ = pawl__sqlserver_try_op,
    .wait = pawl__sqlserver_wait_op,
    .interrupt = pawl__sqlserver_interrupt_op,
    .renew = pawl__sqlserver_renew_op,
    .release = pawl__sqlserver_release_op,
    .abandon = pawl__sqlserver_abandon_op,
    .inspect = pawl__sqlserver_inspect_op,
    .list = pawl__sqlserver_list_op,
};

static int make_parts(struct sqlserver_locks *locks, const struct pawl_tds_options *options,
                      struct pawl_error *err)
{
    int status = pawl_mutex_new(locks->env, "sqlserver locks", &locks->mutex);

    if (status == PAWL_OK)
        status = pawl_cond_new(locks->env, "sqlserver session", &locks->changed);
    if (status == PAWL_OK)
        status = pawl_cond_new(locks->env, "sqlserver watch", &locks->watch);
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = pawl__lock_notifier_init(&locks->notifier, locks->env, err);
    return status == PAWL_OK ? pawl__tds_open(locks->env, options, &locks->tds, err) : status;
}

int pawl__sqlserver_locks_open(struct pawl_env *env, struct pawl_str uri,
                               struct pawl_lock_provider **out, struct pawl_error *err)
{
    struct sqlserver_locks *locks = pawl__alloc_zeroed(&env->alloc, sizeof *locks);
    struct pawl_tds_options options;
    struct pawl_arena arena;
    int status;

    if (!locks)
        return pawl__error_code(err, PAWL_ENOMEM);
    locks->base = (struct pawl_lock_provider){&ops, "sqlserver", NULL};
    locks->env = env;
    pawl__list_init(&locks->sessions);
    pawl__list_init(&locks->held);
    pawl__list_init(&locks->lost);
    pawl__list_init(&locks->waiters);
    pawl__arena_init(&arena, &env->alloc, (size_t)64 << 10);
    status = read_uri(uri, &arena, locks, &options, err);
    if (status == PAWL_OK)
        status = make_parts(locks, &options, err);
    pawl__arena_release(&arena);
    if (status != PAWL_OK) {
        pawl__tds_close(locks->tds);
        pawl__lock_notifier_release(&locks->notifier);
        pawl_cond_free(env, locks->watch);
        pawl_cond_free(env, locks->changed);
        pawl_mutex_free(env, locks->mutex);
        pawl__free(&env->alloc, locks, sizeof *locks);
        return status;
    }
    *out = &locks->base;
    return PAWL_OK;
}
