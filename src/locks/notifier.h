/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls a provider's listener, and only while there is one.
 *
 * A provider has threads that call its listener; the listener may be freed before the provider
 * is. pawl__lock_notifier_close() is what unlisten() does: it waits for the calls under way, and
 * none comes afterwards. Nothing else may be held by who calls it that the listener waits for.
 *
 *     unset --open--> open --close--> closed
 */
#ifndef PAWL_LOCKS_NOTIFIER_H
#define PAWL_LOCKS_NOTIFIER_H

#include <pawl/ext/lock.h>

struct pawl_lock_notifier {
    struct pawl_env *env;
    struct pawl_mutex *mutex; /* guards all below; nothing is called under it */
    struct pawl_cond *left;   /* calling_count became 0 */
    struct pawl_lock_listener listener;
    bool is_open;
    unsigned calling_count;
};

/* PAWL_ENOMEM. On failure there is nothing to release. */
PAWL_MUST_CHECK int pawl__lock_notifier_init(struct pawl_lock_notifier *notifier,
                                             struct pawl_env *env, struct pawl_error *err);
/* Once no thread of the provider is left. One that is all zero is allowed. */
void pawl__lock_notifier_release(struct pawl_lock_notifier *notifier);

/* Copies `listener`. PAWL_ESTOPPED. */
PAWL_MUST_CHECK int pawl__lock_notifier_open(struct pawl_lock_notifier *notifier,
                                             const struct pawl_lock_listener *listener,
                                             struct pawl_error *err);
/* In an environment that was stopped it does not wait: no thread gets past its next lock. */
void pawl__lock_notifier_close(struct pawl_lock_notifier *notifier);

/* Both do nothing unless it is open. From any thread, without locks that the listener needs. */
void pawl__lock_notifier_wake(struct pawl_lock_notifier *notifier, struct pawl_str name);
void pawl__lock_notifier_lost(struct pawl_lock_notifier *notifier, struct pawl_lock_grant *grant);

#endif
