/* SPDX-License-Identifier: Apache-2.0 */
/* Calling a listener that may go away; see notifier.h. */
#include "locks/notifier.h"

#include "base/error.h"

int pawl__lock_notifier_init(struct pawl_lock_notifier *notifier, struct pawl_env *env,
                             struct pawl_error *err)
{
    int status;

    *notifier = (struct pawl_lock_notifier){.env = env};
    status = pawl_mutex_new(env, "lock listener", &notifier->mutex);
    if (status == PAWL_OK)
        status = pawl_cond_new(env, "lock listener", &notifier->left);
    if (status == PAWL_OK)
        return PAWL_OK;
    pawl__lock_notifier_release(notifier);
    return pawl__error_code(err, status);
}

void pawl__lock_notifier_release(struct pawl_lock_notifier *notifier)
{
    if (!notifier->env)
        return;
    pawl_cond_free(notifier->env, notifier->left);
    pawl_mutex_free(notifier->env, notifier->mutex);
    *notifier = (struct pawl_lock_notifier){.env = NULL};
}

int pawl__lock_notifier_open(struct pawl_lock_notifier *notifier,
                             const struct pawl_lock_listener *listener, struct pawl_error *err)
{
    int status = pawl_mutex_lock(notifier->env, notifier->mutex);

    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    notifier->listener = *listener;
    notifier->is_open = true;
    pawl_mutex_unlock(notifier->env, notifier->mutex);
    return PAWL_OK;
}

void pawl__lock_notifier_close(struct pawl_lock_notifier *notifier)
{
    if (pawl_mutex_lock(notifier->env, notifier->mutex) != PAWL_OK)
        return;
    notifier->is_open = false;
    while (notifier->calling_count > 0)
        if (pawl_cond_wait(notifier->env, notifier->left, notifier->mutex, PAWL_FOREVER) ==
            PAWL_ESTOPPED)
            break;
    pawl_mutex_unlock(notifier->env, notifier->mutex);
}

/* From here to end_call() close() waits. */
static bool enter(struct pawl_lock_notifier *notifier)
{
    bool is_open;

    if (pawl_mutex_lock(notifier->env, notifier->mutex) != PAWL_OK)
        return false;
    is_open = notifier->is_open;
    notifier->calling_count += is_open;
    pawl_mutex_unlock(notifier->env, notifier->mutex);
    return is_open;
}

static void end_call(struct pawl_lock_notifier *notifier)
{
    if (pawl_mutex_lock(notifier->env, notifier->mutex) != PAWL_OK)
        return;
    if (--notifier->calling_count == 0)
        pawl_cond_broadcast(notifier->env, notifier->left);
    pawl_mutex_unlock(notifier->env, notifier->mutex);
}

void pawl__lock_notifier_wake(struct pawl_lock_notifier *notifier, struct pawl_str name)
{
    if (!enter(notifier))
        return;
    notifier->listener.wake(notifier->listener.ctx, name);
    end_call(notifier);
}

void pawl__lock_notifier_lost(struct pawl_lock_notifier *notifier, struct pawl_lock_grant *grant)
{
    if (!enter(notifier))
        return;
    notifier->listener.lost(notifier->listener.ctx, grant);
    end_call(notifier);
}
