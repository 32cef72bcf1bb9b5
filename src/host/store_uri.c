/* SPDX-License-Identifier: Apache-2.0 */
/* The table of schemes; see store_uri.h. */
#include "host/store_uri.h"

#include "base/error.h"
#include "host/uri.h"

/* `rest` is what is behind the colon, `uri` the whole. */
struct scheme {
    const char *name;
    const char *backend;
    int (*check)(struct pawl_str rest, struct pawl_error *err);
    int (*open)(struct pawl_env *env, struct pawl_str uri, struct pawl_str rest,
                const struct pawl_store_options *options, struct pawl_store **out,
                struct pawl_error *err);
};

/* ---- memory ------------------------------------------------------------------------------ */

static int check_memory(struct pawl_str rest, struct pawl_error *err)
{
    if (rest.len > 0)
        return pawl__error_set(err, PAWL_EINVAL,
                               "nothing may follow 'memory:' in a store's "
                               "URI");
    return PAWL_OK;
}

static int open_memory(struct pawl_env *env, struct pawl_str uri, struct pawl_str rest,
                       const struct pawl_store_options *options, struct pawl_store **out,
                       struct pawl_error *err)
{
    (void)uri;
    (void)rest;
    (void)options;
    return pawl__memory_store_new(env, out, err);
}

/* ---- sqlite ------------------------------------------------------------------------------ */

/* sqlite:///var/pawl.db is the same file as sqlite:/var/pawl.db. */
static struct pawl_str file_path(struct pawl_str rest)
{
    return pawl__str_starts(rest, pawl__str("///")) ? pawl__str_slice(rest, 2, SIZE_MAX) : rest;
}

static int check_sqlite(struct pawl_str rest, struct pawl_error *err)
{
    struct pawl_str path = file_path(rest);

    if (path.len == 0 || pawl__str_find(path, '\0', 0) != SIZE_MAX)
        return pawl__error_set(err, PAWL_EINVAL,
                               "the store's URI has no file: write sqlite:PATH, such as "
                               "sqlite:pawl.db");
    if (pawl__str_starts(path, pawl__str("//")))
        return pawl__error_set(
            err, PAWL_EINVAL,
            "a file cannot have a host: write sqlite:PATH, such as sqlite:/var/pawl.db");
    return PAWL_OK;
}

static int open_sqlite(struct pawl_env *env, struct pawl_str uri, struct pawl_str rest,
                       const struct pawl_store_options *options, struct pawl_store **out,
                       struct pawl_error *err)
{
    (void)uri;
    return pawl__sqlite_store_open(env, file_path(rest), options, out, err);
}

/* ---- postgres ---------------------------------------------------------------------------- */

static int check_postgres(struct pawl_str rest, struct pawl_error *err)
{
    if (!pawl__str_starts(rest, pawl__str("//")))
        return pawl__error_set(err, PAWL_EINVAL,
                               "the store's URI has no host: write "
                               "postgres://user:password@host:port/database");
    return PAWL_OK;
}

static int open_postgres(struct pawl_env *env, struct pawl_str uri, struct pawl_str rest,
                         const struct pawl_store_options *options, struct pawl_store **out,
                         struct pawl_error *err)
{
    (void)rest;
    return pawl__postgres_store_open(env, uri, options, out, err);
}

static const struct scheme schemes[] = {
    {"memory", "memory", check_memory, open_memory},
    {"sqlite", "sqlite", check_sqlite, open_sqlite},
    {"postgres", "postgres", check_postgres, open_postgres},
    {"postgresql", "postgres", check_postgres, open_postgres},
};
#define BARE_PATH (&schemes[1])

/* ---- choosing ---------------------------------------------------------------------------- */

static int choose(struct pawl_str uri, const struct scheme **out, struct pawl_str *rest,
                  struct pawl_error *err)
{
    struct pawl_str name = pawl__uri_scheme(uri);

    if (pawl__uri_is_keywords(uri))
        return pawl__error_set(err, PAWL_EINVAL,
                               "the store is given as a URI, not as NAME=VALUE words: write "
                               "postgres://user:password@host:port/database (and sqlite:PATH for a "
                               "file with '=' in its name)");
    *rest = name.len > 0 ? pawl__str_slice(uri, name.len + 1, SIZE_MAX) : uri;
    *out = name.len > 0 ? NULL : BARE_PATH;
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0] && !*out; i++)
        if (pawl__str_equal_nocase(name, pawl__str(schemes[i].name)))
            *out = &schemes[i];
    if (!*out)
        return pawl__error_set(err, PAWL_EINVAL,
                               "there is no store '%.*s:'; use memory:, sqlite:PATH (a PATH alone "
                               "is the same) or postgres://user:password@host:port/database",
                               (int)(name.len < 32 ? name.len : 32), name.ptr);
    return (*out)->check(*rest, err);
}

int pawl__host_open_store(struct pawl_env *env, struct pawl_str uri,
                          const struct pawl_store_options *options, struct pawl_store **out,
                          struct pawl_error *err)
{
    static const struct pawl_store_options usual = {.flags = 0};
    const struct scheme *scheme;
    struct pawl_str rest;
    int status = choose(uri, &scheme, &rest, err);

    if (status != PAWL_OK)
        return status;
    return scheme->open(env, uri, rest, options ? options : &usual, out, err);
}

int pawl__host_store_backend(struct pawl_str uri, const char **out, struct pawl_error *err)
{
    const struct scheme *scheme;
    struct pawl_str rest;
    int status = choose(uri, &scheme, &rest, err);

    if (status == PAWL_OK)
        *out = scheme->backend;
    return status;
}

struct pawl_str pawl__host_store_path(struct pawl_str uri)
{
    const struct scheme *scheme;
    struct pawl_str rest;

    if (choose(uri, &scheme, &rest, NULL) != PAWL_OK || scheme->open != open_sqlite)
        return pawl__str("");
    return file_path(rest);
}
