/* SPDX-License-Identifier: Apache-2.0 */
/* The table of lock services; see lock_uri.h. To add one: a row, and its line in the header. */
#include "host/lock_uri.h"

#include "base/error.h"
#include "host/uri.h"
#include "locks/azure.h"
#include "locks/sqlserver.h"

#include <stdio.h>

/* `rest` is what is behind the colon, `uri` the whole. */
struct scheme {
    const char *name;
    const char *kind;
    const char *form; /* how it is written, for messages */
    int (*check)(struct pawl_str rest, struct pawl_error *err);
    int (*open)(struct pawl_env *env, struct pawl_str uri, struct pawl_str rest,
                const struct pawl_lock_provider_options *options, struct pawl_lock_provider **out,
                struct pawl_error *err);
};

/* ---- memory ------------------------------------------------------------------------------ */

static int check_nothing(struct pawl_str rest, struct pawl_error *err)
{
    return rest.len == 0
               ? PAWL_OK
               : pawl__error_set(err, PAWL_EINVAL, "nothing may follow 'memory:' in a lock URI");
}

static int open_memory(struct pawl_env *env, struct pawl_str uri, struct pawl_str rest,
                       const struct pawl_lock_provider_options *options,
                       struct pawl_lock_provider **out, struct pawl_error *err)
{
    (void)uri;
    (void)rest;
    (void)options;
    return pawl__memory_locks_new(env, 0, out, err);
}

/* ---- files ------------------------------------------------------------------------------- */

/* file:///var/locks is the same folder as file:/var/locks. */
static struct pawl_str path_of(struct pawl_str rest)
{
    return pawl__str_starts(rest, pawl__str("///")) ? pawl__str_slice(rest, 2, SIZE_MAX) : rest;
}

static int check_path(struct pawl_str rest, struct pawl_error *err)
{
    struct pawl_str path = path_of(rest);

    if (path.len == 0 || pawl__str_find(path, '\0', 0) != SIZE_MAX)
        return pawl__error_set(err, PAWL_EINVAL,
                               "the lock URI has no path: write file:DIR, such as "
                               "file:/var/lib/pawl/locks, or sqlite:FILE");
    if (pawl__str_starts(path, pawl__str("//")))
        return pawl__error_set(
            err, PAWL_EINVAL,
            "a path cannot have a host: write file:DIR, such as file:/var/lib/pawl");
    return PAWL_OK;
}

static int open_file(struct pawl_env *env, struct pawl_str uri, struct pawl_str rest,
                     const struct pawl_lock_provider_options *options,
                     struct pawl_lock_provider **out, struct pawl_error *err)
{
    (void)uri;
    return pawl__file_locks_open(env, path_of(rest), options, out, err);
}

static int open_sqlite(struct pawl_env *env, struct pawl_str uri, struct pawl_str rest,
                       const struct pawl_lock_provider_options *options,
                       struct pawl_lock_provider **out, struct pawl_error *err)
{
    (void)uri;
    return pawl__sqlite_locks_open(env, path_of(rest), options, out, err);
}

/* ---- servers ----------------------------------------------------------------------------- */

static int check_server(struct pawl_str rest, struct pawl_error *err)
{
    if (!pawl__str_starts(rest, pawl__str("//")))
        return pawl__error_set(err, PAWL_EINVAL,
                               "the lock URI has no host: write redis://host:port, "
                               "postgres://user:password@host:port/database, "
                               "sqlserver://user:password@host/database or "
                               "azure://ACCOUNT/CONTAINER");
    return PAWL_OK;
}

static int open_postgres(struct pawl_env *env, struct pawl_str uri, struct pawl_str rest,
                         const struct pawl_lock_provider_options *options,
                         struct pawl_lock_provider **out, struct pawl_error *err)
{
    (void)rest;
    return pawl__postgres_locks_open(env, uri, options, out, err);
}

static int open_redis(struct pawl_env *env, struct pawl_str uri, struct pawl_str rest,
                      const struct pawl_lock_provider_options *options,
                      struct pawl_lock_provider **out, struct pawl_error *err)
{
    (void)rest;
    return pawl__redis_locks_open(env, uri, options, out, err);
}

static int open_sqlserver(struct pawl_env *env, struct pawl_str uri, struct pawl_str rest,
                          const struct pawl_lock_provider_options *options,
                          struct pawl_lock_provider **out, struct pawl_error *err)
{
    (void)rest;
    (void)options; /* no leases */
    return pawl__sqlserver_locks_open(env, uri, out, err);
}

static int open_azure(struct pawl_env *env, struct pawl_str uri, struct pawl_str rest,
                      const struct pawl_lock_provider_options *options,
                      struct pawl_lock_provider **out, struct pawl_error *err)
{
    (void)rest;
    return pawl__azure_locks_open(env, uri, options, out, err);
}

static const struct scheme schemes[] = {
    {"file", "file", "file:DIR (a DIR alone is the same)", check_path, open_file},
    {"memory", "memory", "memory:", check_nothing, open_memory},
    {"sqlite", "sqlite", "sqlite:FILE", check_path, open_sqlite},
    {"postgres", "postgres", "postgres://user:password@host:port/database", check_server,
     open_postgres},
    {"postgresql", "postgres", NULL, check_server, open_postgres},
    {"rediss", "redis", NULL, check_server, open_redis}, /* says why not */
    {"redis", "redis", "redis://user:password@host:port,host:port,…", check_server, open_redis},
    {"sqlserver", "sqlserver", "sqlserver://user:password@host/database", check_server,
     open_sqlserver},
    {"azure", "azure", "azure://ACCOUNT/CONTAINER", check_server, open_azure},
};
#define SCHEME_COUNT (sizeof schemes / sizeof schemes[0])
#define BARE_PATH (&schemes[0])

/* ---- choosing ---------------------------------------------------------------------------- */

static int refuse(struct pawl_str name, struct pawl_error *err)
{
    char all[PAWL_ERROR_MSG_SIZE] = "";
    size_t len = 0;

    for (size_t i = 0; i < SCHEME_COUNT && len < sizeof all; i++)
        if (schemes[i].form)
            len += (size_t)snprintf(all + len, sizeof all - len, "%s%s",
                                    len == 0                ? ""
                                    : i == SCHEME_COUNT - 1 ? " or "
                                                            : ", ",
                                    schemes[i].form);
    return pawl__error_set(err, PAWL_EINVAL, "there is no lock service '%.*s:'; use %s",
                           (int)(name.len < 32 ? name.len : 32), name.ptr, all);
}

static int choose(struct pawl_str uri, const struct scheme **out, struct pawl_str *rest,
                  struct pawl_error *err)
{
    struct pawl_str name = pawl__uri_scheme(uri);

    if (pawl__uri_is_keywords(uri))
        return pawl__error_set(err, PAWL_EINVAL,
                               "a lock service is given as a URI, not as NAME=VALUE words: write "
                               "postgres://user:password@host:port/database (and file:DIR for a "
                               "folder with '=' in its name)");
    *rest = name.len > 0 ? pawl__str_slice(uri, name.len + 1, SIZE_MAX) : uri;
    *out = name.len > 0 ? NULL : BARE_PATH;
    for (size_t i = 0; i < SCHEME_COUNT && !*out; i++)
        if (pawl__str_equal_nocase(name, pawl__str(schemes[i].name)))
            *out = &schemes[i];
    return *out ? (*out)->check(*rest, err) : refuse(name, err);
}

int pawl__lock_open_uri(struct pawl_env *env, struct pawl_str uri,
                        const struct pawl_lock_provider_options *options,
                        struct pawl_lock_provider **out, struct pawl_error *err)
{
    static const struct pawl_lock_provider_options usual = {0};
    const struct scheme *scheme;
    struct pawl_str rest;
    int status = choose(uri, &scheme, &rest, err);

    if (status != PAWL_OK)
        return status;
    return scheme->open(env, uri, rest, options ? options : &usual, out, err);
}

int pawl__lock_uri_kind(struct pawl_str uri, const char **out, struct pawl_error *err)
{
    const struct scheme *scheme;
    struct pawl_str rest;
    int status = choose(uri, &scheme, &rest, err);

    if (status == PAWL_OK)
        *out = scheme->kind;
    return status;
}
