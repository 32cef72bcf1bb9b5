/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two services about definitions, behind interfaces so that a cluster can put a lock around each:
 *
 *     refresher   works out the triggers of published definitions anew
 *     reloader    takes definitions from their providers (a folder), then their triggers
 *
 * Either may be run at any time: what is as it should be is not written again. A provider hands out
 * definitions one by one; what to make of them is pawl__definitions_provide()'s business.
 */
#ifndef PAWL_RUNTIME_DEFINITIONS_REFRESHER_H
#define PAWL_RUNTIME_DEFINITIONS_REFRESHER_H

#include "runtime/definitions/definitions.h"
#include "runtime/values.h"

#include <pawl/ext/log.h>

/* ---- refresher ------------------------------------------------------------------------------ */

struct pawl_refresher;

struct pawl_refresh {
    const struct pawl_str *ids; /* of definitions */
    size_t count;               /* 0: all that are published */
    uint32_t batch;             /* definitions that are looked up at a time; 0: 10 */
};

#define PAWL_REFRESHER_VERSION 1u

struct pawl_refresher_ops {
    uint32_t version;
    void (*close)(struct pawl_refresher *refresher);
    /*
     * One definition that cannot be loaded has no triggers, is logged and stops no other. On
     * failure some may have been refreshed. Any thread.
     */
    int (*refresh)(struct pawl_refresher *refresher, const struct pawl_refresh *refresh,
                   struct pawl_arena *arena, struct pawl_refreshed *out, int64_t deadline_ns,
                   struct pawl_error *err);
};

/* An implementation embeds this as its first member. */
struct pawl_refresher {
    const struct pawl_refresher_ops *ops;
    const char *name;
};

/* Borrows all. `log` NULL: none. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__local_refresher_new(struct pawl_env *env, struct pawl_store *store,
                                              struct pawl_definitions *definitions,
                                              const struct pawl_log *log,
                                              struct pawl_refresher **out, struct pawl_error *err);

/* NULL allowed. */
static inline void pawl__refresher_close(struct pawl_refresher *refresher)
{
    if (refresher)
        refresher->ops->close(refresher);
}

PAWL_MUST_CHECK static inline int
pawl__refresher_refresh(struct pawl_refresher *refresher, const struct pawl_refresh *refresh,
                        struct pawl_arena *arena, struct pawl_refreshed *out, int64_t deadline_ns,
                        struct pawl_error *err)
{
    return refresher->ops->refresh(refresher, refresh, arena, out, deadline_ns, err);
}

/* ---- providers ------------------------------------------------------------------------------ */

/*
 * Gets each definition; borrowed for the call. `place` says where it comes from. What visit returns
 * other than PAWL_OK ends the visit.
 */
typedef int (*pawl_definition_visitor)(void *ctx, const char *place,
                                       const struct pawl_json *definition, struct pawl_error *err);
/* One that could not be read. */
typedef void (*pawl_unreadable_visitor)(void *ctx, const char *place, const struct pawl_error *why);

struct pawl_definition_provider {
    const char *name;
    /* All definitions, in an order that does not change by itself. */
    int (*visit)(struct pawl_definition_provider *provider, pawl_definition_visitor visit,
                 pawl_unreadable_visitor unreadable, void *ctx, struct pawl_error *err);
    void (*close)(struct pawl_definition_provider *provider); /* NULL: nothing to do */
};

/* ---- reloader ------------------------------------------------------------------------------- */

struct pawl_reloader;

#define PAWL_RELOADER_VERSION 1u

struct pawl_reloader_ops {
    uint32_t version;
    void (*close)(struct pawl_reloader *reloader);
    /* Stores what the providers have, with its triggers. Any thread; one after the other. */
    int (*reload)(struct pawl_reloader *reloader, struct pawl_reloaded *out, int64_t deadline_ns,
                  struct pawl_error *err);
};

struct pawl_reloader {
    const struct pawl_reloader_ops *ops;
    const char *name;
};

/*
 * Borrows all but the provider, which it takes on success and closes with itself. `provider` NULL:
 * there is none to reload from. PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__local_reloader_new(struct pawl_env *env,
                                             struct pawl_definitions *definitions,
                                             struct pawl_definition_provider *provider,
                                             const struct pawl_log *log, struct pawl_reloader **out,
                                             struct pawl_error *err);

/* NULL allowed. */
static inline void pawl__reloader_close(struct pawl_reloader *reloader)
{
    if (reloader)
        reloader->ops->close(reloader);
}

PAWL_MUST_CHECK static inline int pawl__reloader_reload(struct pawl_reloader *reloader,
                                                        struct pawl_reloaded *out,
                                                        int64_t deadline_ns, struct pawl_error *err)
{
    return reloader->ops->reload(reloader, out, deadline_ns, err);
}

#endif
