/* SPDX-License-Identifier: Apache-2.0 */
/* The workflow runtime of one node and its clients; see client.h. */
#include "runtime/node/client.h"

#include "base/alloc.h"
#include "base/error.h"
#include "runtime/runtime_private.h"

struct local_runtime {
    struct pawl_workflow_runtime base;
    struct pawl_env *env;
};

struct local_client {
    struct pawl_workflow_client base;
    struct pawl_runtime *node;
    struct pawl_env *env;
};

static struct local_client *cast(struct pawl_workflow_client *client)
{
    return (struct local_client *)(void *)client;
}

static struct pawl_str id_of(const struct pawl_workflow_client *client)
{
    return pawl__str(client->instance_id);
}

/* ---- the client ----------------------------------------------------------------------------- */

static void close_client(struct pawl_workflow_client *client)
{
    pawl__free(&cast(client)->env->alloc, client, sizeof(struct local_client));
}

static int create(struct pawl_workflow_client *client, const struct pawl_start *start,
                  struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_start own = *start;

    own.instance_id = id_of(client);
    return pawl__runtime_create(cast(client)->node, &own, out, deadline_ns, err);
}

static int run(struct pawl_workflow_client *client, const struct pawl_run *what,
               struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err)
{
    return pawl__runtime_run(cast(client)->node, id_of(client), what, out, deadline_ns, err);
}

static int create_and_run(struct pawl_workflow_client *client, const struct pawl_start *start,
                          struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_start own = *start;

    own.instance_id = id_of(client);
    return pawl__runtime_start(cast(client)->node, &own, out, deadline_ns, err);
}

static int cancel(struct pawl_workflow_client *client, int64_t deadline_ns, struct pawl_error *err)
{
    return pawl__runtime_cancel_by(cast(client)->node, client->by, id_of(client), false,
                                   deadline_ns, err);
}

static int cancel_one(struct pawl_workflow_client *client, int64_t deadline_ns,
                      struct pawl_error *err)
{
    return pawl__runtime_cancel_by(cast(client)->node, client->by, id_of(client), true, deadline_ns,
                                   err);
}

static int alter(struct pawl_workflow_client *client, const struct pawl_json *alterations,
                 bool dry_run, struct pawl_arena *arena, struct pawl_json *log,
                 struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err)
{
    return pawl__runtime_alter_by(cast(client)->node, client->by, id_of(client), alterations,
                                  dry_run, arena, log, out, deadline_ns, err);
}

static int retry(struct pawl_workflow_client *client, const struct pawl_str *activity_ids,
                 size_t count, struct pawl_outcome *out, int64_t deadline_ns,
                 struct pawl_error *err)
{
    return pawl__runtime_retry_by(cast(client)->node, client->by, id_of(client), activity_ids,
                                  count, out, deadline_ns, err);
}

static int show(struct pawl_workflow_client *client, struct pawl_arena *arena,
                struct pawl_instance_row *row, struct pawl_json *state, int64_t deadline_ns,
                struct pawl_error *err)
{
    return pawl__runtime_show(cast(client)->node, id_of(client), arena, row, state, deadline_ns,
                              err);
}

static int delete_instance(struct pawl_workflow_client *client, int64_t deadline_ns,
                           struct pawl_error *err)
{
    return pawl__runtime_delete_by(cast(client)->node, client->by, id_of(client), deadline_ns, err);
}

static int export_instance(struct pawl_workflow_client *client,
                           const struct pawl_instance_export *parts, struct pawl_arena *arena,
                           struct pawl_json *out, int64_t deadline_ns, struct pawl_error *err)
{
    return pawl__runtime_export_parts(cast(client)->node, id_of(client), parts, arena, out,
                                      deadline_ns, err);
}

static int import(struct pawl_workflow_client *client, const struct pawl_json *exported,
                  struct pawl_outcome *out, int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_json *state = pawl__json_get_nocase(exported, pawl__str("WorkflowState"));
    struct pawl_str id = pawl__json_str(pawl__json_get_nocase(state, pawl__str("id")));

    if (state && !pawl__str_equal(id, id_of(client)))
        return pawl__error_set(err, PAWL_EINVAL, "what was exported is instance %.*s, not %s",
                               PAWL_STR_ARG(id), client->instance_id);
    return pawl__runtime_import_by(cast(client)->node, client->by, exported, out, deadline_ns, err);
}

static int exists(struct pawl_workflow_client *client, bool *out, int64_t deadline_ns,
                  struct pawl_error *err)
{
    struct pawl_instance_row row;
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &cast(client)->env->alloc, RUNTIME_BYTES_MAX);
    status =
        pawl__runtime_show(cast(client)->node, id_of(client), &arena, &row, NULL, deadline_ns, err);
    pawl__arena_release(&arena);
    if (status != PAWL_OK && status != PAWL_ENOTFOUND)
        return status;
    *out = status == PAWL_OK;
    return PAWL_OK;
}

static const struct pawl_workflow_client_ops client_ops = {
    .version = PAWL_WORKFLOW_RUNTIME_VERSION,
    .close = close_client,
    .create = create,
    .run = run,
    .create_and_run = create_and_run,
    .cancel = cancel,
    .cancel_one = cancel_one,
    .alter = alter,
    .retry = retry,
    .show = show,
    .delete_ = delete_instance,
    .export_ = export_instance,
    .import = import,
    .exists = exists,
};

/* ---- the runtime ---------------------------------------------------------------------------- */

static int new_id(struct local_runtime *runtime, char out[PAWL_INSTANCE_ID_MAX + 1],
                  struct pawl_error *err)
{
    struct pawl_arena arena;
    struct pawl_str id;
    int status = PAWL_OK;

    pawl__arena_init(&arena, &runtime->env->alloc, RUNTIME_BYTES_MAX);
    id = pawl__runtime_new_id(runtime->base.node, &arena);
    if (id.ptr)
        memcpy(out, id.ptr, id.len + 1);
    else
        status = pawl__error_code(err, pawl__arena_status(&arena) == PAWL_OK
                                           ? PAWL_ESTOPPED
                                           : pawl__arena_status(&arena));
    pawl__arena_release(&arena);
    return status;
}

static int make_client(struct pawl_workflow_runtime *base, struct pawl_str instance_id,
                       struct pawl_workflow_client **out, struct pawl_error *err)
{
    struct local_runtime *runtime = (struct local_runtime *)(void *)base;
    struct local_client *client;
    int status = PAWL_OK;

    if (instance_id.len > PAWL_INSTANCE_ID_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "an instance id has at most %d bytes",
                               PAWL_INSTANCE_ID_MAX);
    if (pawl__str_find(instance_id, '\0', 0) != SIZE_MAX)
        return pawl__error_set(err, PAWL_EINVAL, "an instance id has a NUL in it");
    client = pawl__alloc_zeroed(&runtime->env->alloc, sizeof *client);
    if (!client)
        return pawl__error_code(err, PAWL_ENOMEM);
    client->base.ops = &client_ops;
    client->node = base->node;
    client->env = runtime->env;
    if (instance_id.len > 0)
        memcpy(client->base.instance_id, instance_id.ptr, instance_id.len);
    else
        status = new_id(runtime, client->base.instance_id, err);
    if (status != PAWL_OK) {
        close_client(&client->base);
        return status;
    }
    *out = &client->base;
    return PAWL_OK;
}

static void close_runtime(struct pawl_workflow_runtime *base)
{
    struct local_runtime *runtime = (struct local_runtime *)(void *)base;

    pawl__runtime_close(base->node);
    pawl__free(&runtime->env->alloc, runtime, sizeof *runtime);
}

static const struct pawl_workflow_runtime_ops runtime_ops = {
    .version = PAWL_WORKFLOW_RUNTIME_VERSION,
    .close = close_runtime,
    .client = make_client,
};

int pawl__local_workflow_runtime_new(struct pawl_env *env, struct pawl_runtime *node,
                                     struct pawl_workflow_runtime **out, struct pawl_error *err)
{
    struct local_runtime *runtime = pawl__alloc_zeroed(&env->alloc, sizeof *runtime);

    if (!runtime)
        return pawl__error_code(err, PAWL_ENOMEM);
    runtime->base = (struct pawl_workflow_runtime){&runtime_ops, "local", node};
    runtime->env = env;
    *out = &runtime->base;
    return PAWL_OK;
}
