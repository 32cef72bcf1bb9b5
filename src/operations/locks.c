/* SPDX-License-Identifier: Apache-2.0 */
/* Lock services; see locks.h. */
#include "operations/locks.h"

#include "base/alloc.h"
#include "base/error.h"
#include "host/host.h"
#include "host/lock_uri.h"
#include "locks/check.h"
#include "locks/locks.h"
#include "locks/providers.h"
#include "operations/query.h"

/* ---- opening -------------------------------------------------------------------------------- */

struct service {
    const struct pawl_op *op;
    struct pawl_str uri;
    struct pawl_lock_provider_options options;
    struct pawl_lock_provider *provider;
    bool is_own; /* opened here: to be closed */
};

static int open_another(void *ctx, struct pawl_lock_provider **out, struct pawl_error *err)
{
    struct service *service = ctx;

    return pawl__lock_open_uri(op_env(service->op), service->uri, &service->options, out, err);
}

static int open_service(const struct pawl_op *op, struct pawl_str uri, struct service *out)
{
    const struct pawl_configuration *settings = pawl__host_configuration(op->host);
    struct pawl_lock_provider *own = pawl__host_lock_provider(op->host);
    int status;

    *out = (struct service){
        .op = op,
        .uri = uri,
        .options = {.log = op->log,
                    .ttl_ms =
                        pawl__configuration_number(settings, PAWL_SETTING_ID_LOCK_TTL) / 1000000,
                    .is_shared = pawl__configuration_number(settings, PAWL_SETTING_ID_LOCK_SHARED)},
    };
    if (uri.len == 0)
        out->uri = pawl__str(pawl__configuration_text(settings, PAWL_SETTING_ID_LOCK));
    if (uri.len == 0 && own) {
        out->provider = own;
        return PAWL_OK;
    }
    if (out->uri.len == 0)
        return pawl__error_set(op->err, PAWL_EINVAL,
                               "no lock service is named: use --lock URI, such as "
                               "--lock file:/var/lib/pawl/locks, or set PAWL_LOCK");
    out->is_own = true;
    status = open_another(out, &out->provider, op->err);
    PAWL_ASSERT(status != PAWL_OK || out->provider);
    return status;
}

static void close_service(struct service *service)
{
    if (service->is_own && service->provider)
        service->provider->ops->close(service->provider);
}

static int open_to_look(const struct pawl_op *op, struct pawl_str uri, struct service *out)
{
    int status = open_service(op, uri, out);

    if (status != PAWL_OK || (pawl_lock_caps(out->provider) & PAWL_LOCK_CAP_INSPECT))
        return status;
    status = pawl__error_set(op->err, PAWL_EUNSUPPORTED,
                             "lock services of the kind '%s' do not report holders",
                             out->provider->kind);
    close_service(out);
    return status;
}

static int64_t wall_us(const struct pawl_op *op)
{
    return pawl_env_wall_ns(op_env(op)) / 1000;
}

/* ---- looking -------------------------------------------------------------------------------- */

struct listing {
    struct pawl_lock_holder *holders;
    size_t count, limit;
    bool has_more;
};

static int add_holder(void *ctx, const struct pawl_lock_holder *holder)
{
    struct listing *listing = ctx;

    if (listing->count < listing->limit)
        listing->holders[listing->count++] = *holder;
    else
        listing->has_more = true;
    return 0;
}

int pawl__op_locks_list(const struct pawl_op *op, struct pawl_str uri, uint32_t limit,
                        struct pawl_lock_list *out)
{
    struct listing listing = {.limit = limit > 0 ? limit : PAWL_PAGE_ROWS_DEFAULT};
    struct service service;
    int status;

    if (limit > PAWL_PAGE_ROWS_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "a page has at most %u rows, not %u",
                               PAWL_PAGE_ROWS_MAX, limit);
    listing.holders = pawl__arena_alloc_array(op->arena, listing.limit, sizeof *listing.holders);
    if (!listing.holders)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    status = open_to_look(op, uri, &service);
    if (status != PAWL_OK)
        return status;
    /* One more than is returned says that there are more. */
    status = service.provider->ops->list(service.provider, listing.limit + 1, add_holder, &listing,
                                         op->deadline_ns, op->err);
    close_service(&service);
    if (status == PAWL_OK)
        *out = (struct pawl_lock_list){.holders = listing.holders,
                                       .count = listing.count,
                                       .has_more = listing.has_more,
                                       .now_us = wall_us(op)};
    return status;
}

int pawl__op_lock_show(const struct pawl_op *op, struct pawl_str uri, struct pawl_str name,
                       struct pawl_lock_holder *out, int64_t *now_us)
{
    struct pawl_lock_holder *holder = pawl__arena_alloc(op->arena, sizeof *holder);
    struct service service;
    int status;

    if (!holder)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    status = open_to_look(op, uri, &service);
    if (status != PAWL_OK)
        return status;
    status =
        service.provider->ops->inspect(service.provider, name, holder, op->deadline_ns, op->err);
    close_service(&service);
    if (status == PAWL_OK) {
        *out = *holder;
        *now_us = wall_us(op);
    }
    return status;
}

/* ---- holding one ---------------------------------------------------------------------------- */

struct pawl_lock_hold {
    struct pawl_env *env;
    struct service service;
    struct pawl_locks *locks;
    struct pawl_lock lock;
};

int pawl__op_lock_open(const struct pawl_op *op, struct pawl_str uri, struct pawl_lock_hold **out)
{
    const struct pawl_locks_options options = {
        .log = op->log,
        .borrow = true,
        .poll_ms_max = pawl__configuration_number(pawl__host_configuration(op->host),
                                                  PAWL_SETTING_ID_LOCK_POLL_MAX) /
                       1000000,
    };
    struct pawl_env *env = op_env(op);
    struct pawl_lock_hold *hold = pawl__alloc_zeroed(&env->alloc, sizeof *hold);
    int status;

    if (!hold)
        return pawl__error_code(op->err, PAWL_ENOMEM);
    hold->env = env;
    status = open_service(op, uri, &hold->service);
    if (status == PAWL_OK)
        status = pawl__locks_new(env, hold->service.provider, &options, &hold->locks, op->err);
    if (status != PAWL_OK) {
        pawl__lock_hold_close(hold);
        return status;
    }
    *out = hold;
    return PAWL_OK;
}

void pawl__lock_hold_close(struct pawl_lock_hold *hold)
{
    if (!hold)
        return;
    pawl__locks_free(hold->locks);
    close_service(&hold->service);
    pawl__free(&hold->env->alloc, hold, sizeof *hold);
}

int pawl__op_lock_acquire(const struct pawl_op *op, struct pawl_lock_hold *hold,
                          struct pawl_str name)
{
    bool tokens = pawl_lock_caps(hold->service.provider) & PAWL_LOCK_CAP_TOKEN;

    return pawl__locks_acquire(hold->locks, name, tokens ? PAWL_LOCK_WANT_TOKEN : 0,
                               op->deadline_ns, NULL, &hold->lock, op->err);
}

uint64_t pawl__lock_hold_token(const struct pawl_lock_hold *hold)
{
    return pawl__lock_token(hold->locks, hold->lock);
}

int pawl__lock_hold_on_lost(struct pawl_lock_hold *hold, void (*lost)(void *ctx), void *ctx,
                            struct pawl_error *err)
{
    return pawl__lock_on_lost(hold->locks, hold->lock, lost, ctx, err);
}

int pawl__lock_hold_release(struct pawl_lock_hold *hold, struct pawl_error *err)
{
    return pawl__locks_release(hold->locks, hold->lock, err);
}

/* ---- checking ------------------------------------------------------------------------------- */

int pawl__op_locks_check(const struct pawl_op *op, struct pawl_str uri,
                         void (*told)(void *ctx, const char *title,
                                      const struct pawl_lock_check_result *result),
                         void *ctx, struct pawl_lock_checked *out)
{
    struct pawl_lock_checked checked = {{0}};
    struct service service;
    struct pawl_lock_check check = {.env = op_env(op), .open = open_another, .ctx = &service};
    int status;

    /* The started host's own provider cannot be opened a second time by a name that it has not. */
    status = open_service(op, uri, &service);
    if (status != PAWL_OK)
        return status;
    if (service.uri.len == 0 || strcmp(service.provider->kind, "memory") == 0)
        status = pawl__error_set(op->err, PAWL_EINVAL,
                                 strcmp(service.provider->kind, "memory") == 0
                                     ? "locks in memory are not a service to check"
                                     : "name the lock service to check");
    for (size_t i = 0; status == PAWL_OK && i < pawl__lock_check_count(); i++) {
        struct pawl_lock_check_result result;

        pawl__lock_check_run(&check, i, &result);
        checked.counts[result.outcome]++;
        told(ctx, pawl__lock_check_title(i), &result);
    }
    close_service(&service);
    if (status == PAWL_OK)
        *out = checked;
    return status;
}
