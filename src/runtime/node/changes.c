/* SPDX-License-Identifier: Apache-2.0 */
/* Who is told of the commits of this node; see pawl__runtime_listen(). */
#include "runtime/node/private.h"

void pawl__runtime_listen(struct pawl_runtime *runtime, pawl_changed_fn *changed, void *ctx)
{
    pawl_mutex_lock_always(runtime->env, runtime->changes_mutex);
    runtime->changed = changed;
    runtime->changed_ctx = ctx;
    atomic_store(&runtime->has_listener, changed != NULL);
    pawl_mutex_unlock(runtime->env, runtime->changes_mutex);
}

void pawl__runtime_tell_change(struct pawl_runtime *runtime, const struct pawl_commit *commit)
{
    int64_t revision;

    switch (commit->kind) {
    case PAWL_COMMIT_CREATE:
        revision = 1;
        break;
    case PAWL_COMMIT_ADVANCE:
        revision = commit->instance->revision + 1;
        break;
    case PAWL_COMMIT_DELETE:
        revision = 0;
        break;
    case PAWL_COMMIT_PLAIN:
    case PAWL_COMMIT_CANCEL:
    default: /* no instance has another revision by it */
        return;
    }
    pawl_mutex_lock_always(runtime->env, runtime->changes_mutex);
    if (runtime->changed)
        runtime->changed(runtime->changed_ctx, commit->instance->id, revision);
    pawl_mutex_unlock(runtime->env, runtime->changes_mutex);
}
