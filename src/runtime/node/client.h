/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workflow runtime and its clients, behind interfaces: what a cluster replaces.
 *
 * A runtime makes clients; a client is bound to one instance, by its id, and does what one does
 * with an instance. The local ones do it on this node (runtime.h). Distributed ones hold a local
 * client and delegate to it, some calls under a lock; execution is the same.
 */
#ifndef PAWL_RUNTIME_NODE_CLIENT_H
#define PAWL_RUNTIME_NODE_CLIENT_H

#include "runtime/audit.h"
#include "runtime/runtime.h"

struct pawl_workflow_runtime;
struct pawl_workflow_client;

#define PAWL_WORKFLOW_RUNTIME_VERSION 2u

struct pawl_workflow_client_ops {
    uint32_t version;
    void (*close)(struct pawl_workflow_client *client);
    /* Stores a new instance, pending. What `start` says of an id is not looked at. */
    int (*create)(struct pawl_workflow_client *client, const struct pawl_start *start,
                  struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err);
    int (*run)(struct pawl_workflow_client *client, const struct pawl_run *run,
               struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err);
    int (*create_and_run)(struct pawl_workflow_client *client, const struct pawl_start *start,
                          struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err);
    int (*cancel)(struct pawl_workflow_client *client, int64_t deadline_ns, struct pawl_error *err);
    /* Without its children. */
    int (*cancel_one)(struct pawl_workflow_client *client, int64_t deadline_ns,
                      struct pawl_error *err);
    int (*alter)(struct pawl_workflow_client *client, const struct pawl_json *alterations,
                 bool dry_run, struct pawl_arena *arena, struct pawl_json *log,
                 struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err);
    int (*retry)(struct pawl_workflow_client *client, const struct pawl_str *activity_ids,
                 size_t count, struct pawl_outcome *out, int64_t deadline_ns,
                 struct pawl_error *err);
    int (*show)(struct pawl_workflow_client *client, struct pawl_arena *arena,
                struct pawl_instance_row *row, struct pawl_json *state, int64_t deadline_ns,
                struct pawl_error *err);
    int (*delete_)(struct pawl_workflow_client *client, int64_t deadline_ns,
                   struct pawl_error *err);
    int (*export_)(struct pawl_workflow_client *client, const struct pawl_instance_export *parts,
                   struct pawl_arena *arena, struct pawl_json *out, int64_t deadline_ns,
                   struct pawl_error *err);
    /* PAWL_EINVAL: of another instance. */
    int (*import)(struct pawl_workflow_client *client, const struct pawl_json *exported,
                  struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err);
    int (*exists)(struct pawl_workflow_client *client, bool *out, int64_t deadline_ns,
                  struct pawl_error *err);
};

/* An implementation embeds this as its first member. One thread at a time. */
struct pawl_workflow_client {
    const struct pawl_workflow_client_ops *ops;
    struct pawl_audit *by; /* the record of what it changes; NULL: none. Decorators pass it on */
    char instance_id[PAWL_INSTANCE_ID_MAX + 1];
};

struct pawl_workflow_runtime_ops {
    uint32_t version;
    void (*close)(struct pawl_workflow_runtime *runtime);
    /* A client of the instance with this id; "": of one that is to be made, with a new id. */
    int (*client)(struct pawl_workflow_runtime *runtime, struct pawl_str instance_id,
                  struct pawl_workflow_client **out, struct pawl_error *err);
};

/* An implementation embeds this as its first member. Any thread. */
struct pawl_workflow_runtime {
    const struct pawl_workflow_runtime_ops *ops;
    const char *name;
    struct pawl_runtime *node; /* that everything ends at; decorators pass it on */
};

/* That of one node; it takes `node` on success and closes it with itself. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__local_workflow_runtime_new(struct pawl_env *env,
                                                     struct pawl_runtime *node,
                                                     struct pawl_workflow_runtime **out,
                                                     struct pawl_error *err);

/* ---- fronts ------------------------------------------------------------------------------- */

/* NULL allowed. */
static inline void pawl__workflow_runtime_close(struct pawl_workflow_runtime *runtime)
{
    if (runtime)
        runtime->ops->close(runtime);
}

PAWL_MUST_CHECK static inline int
pawl__workflow_runtime_client(struct pawl_workflow_runtime *runtime, struct pawl_str instance_id,
                              struct pawl_workflow_client **out, struct pawl_error *err)
{
    return runtime->ops->client(runtime, instance_id, out, err);
}

/* NULL allowed. */
static inline void pawl__workflow_client_close(struct pawl_workflow_client *client)
{
    if (client)
        client->ops->close(client);
}

PAWL_MUST_CHECK static inline int
pawl__workflow_client_create(struct pawl_workflow_client *client, const struct pawl_start *start,
                             struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err)
{
    return client->ops->create(client, start, out, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int
pawl__workflow_client_run(struct pawl_workflow_client *client, const struct pawl_run *run,
                          struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err)
{
    return client->ops->run(client, run, out, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int
pawl__workflow_client_create_and_run(struct pawl_workflow_client *client,
                                     const struct pawl_start *start, struct pawl_outcome *out,
                                     int64_t deadline_ns, struct pawl_error *err)
{
    return client->ops->create_and_run(client, start, out, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int pawl__workflow_client_cancel(struct pawl_workflow_client *client,
                                                               int64_t deadline_ns,
                                                               struct pawl_error *err)
{
    return client->ops->cancel(client, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int
pawl__workflow_client_cancel_one(struct pawl_workflow_client *client, int64_t deadline_ns,
                                 struct pawl_error *err)
{
    return client->ops->cancel_one(client, deadline_ns, err);
}

/* What pawl__runtime_alter(), _retry() and _show() say. */
PAWL_MUST_CHECK static inline int
pawl__workflow_client_alter(struct pawl_workflow_client *client,
                            const struct pawl_json *alterations, bool dry_run,
                            struct pawl_arena *arena, struct pawl_json *log,
                            struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err)
{
    return client->ops->alter(client, alterations, dry_run, arena, log, out, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int
pawl__workflow_client_retry(struct pawl_workflow_client *client,
                            const struct pawl_str *activity_ids, size_t count,
                            struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err)
{
    return client->ops->retry(client, activity_ids, count, out, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int
pawl__workflow_client_show(struct pawl_workflow_client *client, struct pawl_arena *arena,
                           struct pawl_instance_row *row, struct pawl_json *state,
                           int64_t deadline_ns, struct pawl_error *err)
{
    return client->ops->show(client, arena, row, state, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int pawl__workflow_client_delete(struct pawl_workflow_client *client,
                                                               int64_t deadline_ns,
                                                               struct pawl_error *err)
{
    return client->ops->delete_(client, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int
pawl__workflow_client_export(struct pawl_workflow_client *client,
                             const struct pawl_instance_export *parts, struct pawl_arena *arena,
                             struct pawl_json *out, int64_t deadline_ns, struct pawl_error *err)
{
    return client->ops->export_(client, parts, arena, out, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int
pawl__workflow_client_import(struct pawl_workflow_client *client, const struct pawl_json *exported,
                             struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err)
{
    return client->ops->import(client, exported, out, deadline_ns, err);
}

PAWL_MUST_CHECK static inline int pawl__workflow_client_exists(struct pawl_workflow_client *client,
                                                               bool *out, int64_t deadline_ns,
                                                               struct pawl_error *err)
{
    return client->ops->exists(client, out, deadline_ns, err);
}

#endif
