/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots, features, start and stop; see host.h. The build order is computed from the table of slots:
 * in each round the first slot that is not done and whose dependencies are done is next.
 */
#include "host/host.h"

#include "base/alloc.h"
#include "base/error.h"
#include "host/features.h"
#include "host/meter.h"
#include "host/tracer.h"

struct slot_row {
    const char *key;
    uint32_t after;
    const char *text;
};

static const struct slot_row rows[PAWL_SLOT_COUNT] = {
#define ROW(id, key_, after_, text_) [PAWL_SLOT_##id] = {(key_), (after_), (text_)},
    PAWL_SLOT_LIST(ROW)
#undef ROW
};

struct decoration {
    const struct pawl_service_decorator *decorator;
    const char *feature;
};

/* What was chosen for a slot: plain data, so that a feature that fails is undone by a copy. */
struct choice {
    const struct pawl_service_factory *factory; /* NULL: empty */
    const char *feature;
    struct pawl_slot_part replaced;
    struct decoration decorations[PAWL_DECORATORS_MAX];
    size_t decoration_count;
};

struct pawl_host {
    struct pawl_env *env;
    const struct pawl_configuration *configuration;
    struct pawl_surroundings surroundings;
    struct choice choices[PAWL_SLOT_COUNT];
    const struct pawl_feature *features[PAWL_FEATURES_MAX];
    size_t feature_count;
    const char *applying; /* the feature whose function runs; NULL: none */
    bool started;
    struct pawl_memo counts;
    struct pawl_passwords passwords;
    struct pawl_meter *meter;              /* NULL: nothing is measured */
    struct pawl_tracer *tracer;            /* NULL: nothing is traced */
    void *services[PAWL_SLOT_COUNT];       /* the outermost; NULL: not built */
    enum pawl_slot order[PAWL_SLOT_COUNT]; /* as built */
    size_t built_count;
};

int pawl__host_new(struct pawl_env *env, const struct pawl_configuration *configuration,
                   struct pawl_host **out, struct pawl_error *err)
{
    struct pawl_host *host = pawl__alloc_zeroed(&env->alloc, sizeof *host);

    if (!host)
        return pawl__error_code(err, PAWL_ENOMEM);
    host->env = env;
    host->configuration = configuration;
    if (pawl__memo_init(&host->counts, env) != PAWL_OK ||
        pawl__passwords_init(&host->passwords, env) != PAWL_OK) {
        pawl__host_free(host);
        return pawl__error_code(err, PAWL_ENOMEM);
    }
    *out = host;
    return PAWL_OK;
}

void pawl__host_free(struct pawl_host *host)
{
    if (!host)
        return;
    pawl__host_stop(host);
    pawl__tracer_close(host->tracer);
    pawl__meter_free(host->meter);
    pawl__passwords_release(&host->passwords);
    pawl__memo_release(&host->counts);
    pawl__free(&host->env->alloc, host, sizeof *host);
}

struct pawl_env *pawl__host_env(struct pawl_host *host)
{
    return host->env;
}

struct pawl_memo *pawl__host_counts(struct pawl_host *host)
{
    return &host->counts;
}

struct pawl_meter *pawl__host_meter(struct pawl_host *host)
{
    return host->meter;
}

struct pawl_tracer *pawl__host_tracer(struct pawl_host *host)
{
    return host->tracer;
}

struct pawl_tracer **pawl__host_tracer_place(struct pawl_host *host)
{
    return &host->tracer;
}

int pawl__host_measure(struct pawl_host *host, struct pawl_error *err)
{
    return host->meter ? PAWL_OK : pawl__meter_new(host->env, &host->meter, err);
}

struct pawl_passwords *pawl__host_passwords(struct pawl_host *host)
{
    return &host->passwords;
}

const struct pawl_configuration *pawl__host_configuration(struct pawl_host *host)
{
    return host->configuration;
}

void pawl__host_set_surroundings(struct pawl_host *host,
                                 const struct pawl_surroundings *surroundings)
{
    PAWL_ASSERT(!host->started);
    host->surroundings = *surroundings;
}

const struct pawl_surroundings *pawl__host_surroundings(struct pawl_host *host)
{
    return &host->surroundings;
}

const char *pawl__slot_key(enum pawl_slot slot)
{
    PAWL_ASSERT((unsigned)slot < PAWL_SLOT_COUNT);
    return rows[slot].key;
}

const char *pawl__slot_text(enum pawl_slot slot)
{
    PAWL_ASSERT((unsigned)slot < PAWL_SLOT_COUNT);
    return rows[slot].text;
}

/* ---- composing --------------------------------------------------------------------------- */

static const char *feature_name(const char *feature)
{
    return feature ? feature : "-";
}

static int check_composing(const struct pawl_host *host, enum pawl_slot slot,
                           struct pawl_error *err)
{
    if (host->started)
        return pawl__error_set(err, PAWL_ECONFLICT,
                               "cannot change the service '%s': the host is started; stop it first",
                               pawl__slot_key(slot));
    return PAWL_OK;
}

int pawl__host_use(struct pawl_host *host, const struct pawl_feature *feature,
                   struct pawl_error *err)
{
    struct choice before[PAWL_SLOT_COUNT];
    const char *outer = host->applying;
    int status;

    for (size_t i = 0; i < host->feature_count; i++)
        if (host->features[i] == feature)
            return pawl__error_set(err, PAWL_EEXISTS, "the feature '%s' is already applied",
                                   feature->name);
    if (host->feature_count == PAWL_FEATURES_MAX)
        return pawl__error_set(err, PAWL_ELIMIT,
                               "cannot apply the feature '%s': at most %d are possible",
                               feature->name, PAWL_FEATURES_MAX);
    memcpy(before, host->choices, sizeof before);
    host->applying = feature->name;
    status = feature->apply(host, err);
    host->applying = outer;
    if (status != PAWL_OK) {
        memcpy(host->choices, before, sizeof before);
        return pawl__error_prefix(err, status, "feature '%s'", feature->name);
    }
    host->features[host->feature_count++] = feature;
    return PAWL_OK;
}

int pawl__host_fill(struct pawl_host *host, enum pawl_slot slot,
                    const struct pawl_service_factory *factory, struct pawl_error *err)
{
    struct choice *choice = &host->choices[slot];
    int status = check_composing(host, slot, err);

    if (status != PAWL_OK)
        return status;
    if (choice->factory)
        return pawl__error_set(
            err, PAWL_EEXISTS, "the service '%s' is already '%s', by the feature '%s'; replace it",
            pawl__slot_key(slot), choice->factory->name, feature_name(choice->feature));
    choice->factory = factory;
    choice->feature = host->applying;
    return PAWL_OK;
}

int pawl__host_replace(struct pawl_host *host, enum pawl_slot slot,
                       const struct pawl_service_factory *factory, struct pawl_error *err)
{
    struct choice *choice = &host->choices[slot];
    int status = check_composing(host, slot, err);

    if (status != PAWL_OK)
        return status;
    if (!choice->factory)
        return pawl__error_set(err, PAWL_ENOTFOUND,
                               "there is no service '%s' that '%s' could replace; fill it",
                               pawl__slot_key(slot), factory->name);
    choice->replaced =
        (struct pawl_slot_part){choice->factory->name, feature_name(choice->feature)};
    choice->factory = factory;
    choice->feature = host->applying;
    return PAWL_OK;
}

int pawl__host_decorate(struct pawl_host *host, enum pawl_slot slot,
                        const struct pawl_service_decorator *decorator, struct pawl_error *err)
{
    struct choice *choice = &host->choices[slot];
    int status = check_composing(host, slot, err);

    if (status != PAWL_OK)
        return status;
    if (choice->decoration_count == PAWL_DECORATORS_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "the service '%s' has %d decorators, the maximum",
                               pawl__slot_key(slot), PAWL_DECORATORS_MAX);
    choice->decorations[choice->decoration_count++] =
        (struct decoration){decorator, host->applying};
    return PAWL_OK;
}

/* ---- running ----------------------------------------------------------------------------- */

/* Takes down the service with its first `count` decorators around it. */
static void destroy(const struct choice *choice, size_t count, void *service)
{
    if (count > 0) {
        const struct pawl_service_decorator *outer = choice->decorations[count - 1].decorator;

        if (outer->destroy)
            outer->destroy(outer->ctx, service);
    } else if (choice->factory->destroy) {
        choice->factory->destroy(choice->factory->ctx, service);
    }
}

static int build(struct pawl_host *host, enum pawl_slot slot, struct pawl_error *err)
{
    const struct choice *choice = &host->choices[slot];
    void *service = NULL;
    int status;

    if (!choice->factory && choice->decoration_count > 0)
        return pawl__error_set(err, PAWL_ENOTFOUND,
                               "the decorator '%s' of the feature '%s' has no service '%s' to "
                               "go around",
                               choice->decorations[0].decorator->name,
                               feature_name(choice->decorations[0].feature), pawl__slot_key(slot));
    if (!choice->factory)
        return PAWL_OK;
    status = choice->factory->build(host, choice->factory->ctx, &service, err);
    if (status != PAWL_OK)
        return pawl__error_prefix(err, status, "%s '%s'", pawl__slot_key(slot),
                                  choice->factory->name);
    for (size_t i = 0; i < choice->decoration_count; i++) {
        const struct pawl_service_decorator *decorator = choice->decorations[i].decorator;
        void *outer = NULL;

        status = decorator->wrap(host, decorator->ctx, service, &outer, err);
        if (status != PAWL_OK) {
            destroy(choice, i, service);
            return pawl__error_prefix(err, status, "%s decorator '%s'", pawl__slot_key(slot),
                                      decorator->name);
        }
        service = outer;
    }
    host->services[slot] = service;
    host->order[host->built_count++] = slot;
    return PAWL_OK;
}

/* The next slot whose dependencies are in `done`; there is one, or the table has a circle. */
static enum pawl_slot next_slot(uint32_t done)
{
    unsigned slot = 0;

    while (slot < PAWL_SLOT_COUNT && ((done & (1u << slot)) || (rows[slot].after & ~done)))
        slot++;
    PAWL_ASSERT(slot < PAWL_SLOT_COUNT);
    return (enum pawl_slot)slot;
}

static void take_down(struct pawl_host *host)
{
    while (host->built_count > 0) {
        enum pawl_slot slot = host->order[--host->built_count];
        const struct choice *choice = &host->choices[slot];

        destroy(choice, choice->decoration_count, host->services[slot]);
        host->services[slot] = NULL;
    }
}

int pawl__host_start(struct pawl_host *host, struct pawl_error *err)
{
    uint32_t done = 0;

    if (host->started)
        return pawl__error_set(err, PAWL_ECONFLICT, "the host is already started");
    for (size_t i = 0; i < PAWL_SLOT_COUNT; i++) {
        enum pawl_slot slot = next_slot(done);
        int status = build(host, slot, err);

        if (status != PAWL_OK) {
            take_down(host);
            return status;
        }
        done |= 1u << (unsigned)slot;
    }
    host->started = true;
    return PAWL_OK;
}

void pawl__host_stop(struct pawl_host *host)
{
    take_down(host);
    host->started = false;
}

void *pawl__host_get(struct pawl_host *host, enum pawl_slot slot)
{
    PAWL_ASSERT((unsigned)slot < PAWL_SLOT_COUNT);
    return host->services[slot];
}

/* ---- looking ----------------------------------------------------------------------------- */

void pawl__host_view(const struct pawl_host *host, enum pawl_slot slot, struct pawl_slot_view *out)
{
    const struct choice *choice = &host->choices[slot];

    *out = (struct pawl_slot_view){.replaced = choice->replaced,
                                   .decorator_count = choice->decoration_count};
    if (choice->factory)
        out->service =
            (struct pawl_slot_part){choice->factory->name, feature_name(choice->feature)};
    for (size_t i = 0; i < choice->decoration_count; i++)
        out->decorators[i] = (struct pawl_slot_part){choice->decorations[i].decorator->name,
                                                     feature_name(choice->decorations[i].feature)};
}
