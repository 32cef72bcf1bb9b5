/* SPDX-License-Identifier: Apache-2.0 */
/* What the store and the runtime do, counted by the host's meter. */
#include "host/features.h"
#include "host/meter.h"
#include "stores/stores.h"

#include <pawl/ext/store.h>

static struct pawl_str none(void)
{
    return pawl__str("");
}

/* ---- the store ------------------------------------------------------------------------------ */

static const char *result_of(int status)
{
    if (status == PAWL_OK)
        return "ok";
    switch (pawl_error_class(status)) {
    case PAWL_CLASS_TRANSIENT:
        return "transient";
    case PAWL_CLASS_UNKNOWN:
        return "unknown";
    case PAWL_CLASS_FATAL:
        return "fatal";
    case PAWL_CLASS_NONE:
    case PAWL_CLASS_CALLER:
    case PAWL_CLASS_DEFINITE:
    default:
        return "refused";
    }
}

static void on_called(void *ctx, enum pawl_store_call call, int status, int64_t duration_ns)
{
    struct pawl_str name = pawl__str(pawl__store_call_name(call));

    pawl__meter_count(ctx, PAWL_METRIC_STORE_CALLS, name, pawl__str(result_of(status)), none(), 1);
    pawl__meter_observe_ns(ctx, PAWL_METRIC_STORE_SECONDS, name, duration_ns);
}

static void on_claimed(void *ctx, const struct pawl_claim *claims, size_t count)
{
    uint64_t taken = 0;

    for (size_t i = 0; i < count; i++)
        taken += claims[i].status == PAWL_OK && claims[i].row.takeovers > 0;
    if (taken > 0)
        pawl__meter_count(ctx, PAWL_METRIC_TAKEOVERS, none(), none(), none(), taken);
}

static void on_applied(void *ctx, struct pawl_commit *const *commits, size_t count, int status,
                       int64_t duration_ns)
{
    uint64_t refused = 0;

    pawl__meter_observe_ns(ctx, PAWL_METRIC_COMMIT_SECONDS, none(), duration_ns);
    pawl__meter_observe(ctx, PAWL_METRIC_COMMIT_BATCH_SIZE, none(), (double)count);
    for (size_t i = 0; i < count; i++) {
        int one = status == PAWL_OK ? commits[i]->status : status;

        pawl__meter_count(ctx, PAWL_METRIC_COMMITS, pawl__str(result_of(one)), none(), none(), 1);
        /* That a visit came too late is no sign of trouble. */
        refused += one == PAWL_ECONFLICT && commits[i]->kind == PAWL_COMMIT_ADVANCE &&
                   !(commits[i]->flags & PAWL_COMMIT_VISITED);
    }
    if (refused > 0)
        pawl__meter_count(ctx, PAWL_METRIC_FENCE_REFUSALS, none(), none(), none(), refused);
}

static int wrap_store(struct pawl_host *host, void *ctx, void *inner, void **outer,
                      struct pawl_error *err)
{
    const struct pawl_store_measures measures = {.called = on_called,
                                                 .claimed = on_claimed,
                                                 .applied = on_applied,
                                                 .ctx = pawl__host_meter(host)};
    struct pawl_store *store = NULL;
    int status = pawl__measure_store_new(pawl__host_env(host), inner, &measures, &store, err);

    (void)ctx;
    if (status == PAWL_OK)
        *outer = store;
    return status;
}

static void close_store(void *ctx, void *service)
{
    (void)ctx;
    pawl_store_close(service);
}

static const struct pawl_service_decorator measure = {"measure", wrap_store, close_store, NULL};

static int apply(struct pawl_host *host, struct pawl_error *err)
{
    int status = pawl__host_measure(host, err);

    return status == PAWL_OK ? pawl__host_decorate(host, PAWL_SLOT_STORE, &measure, err) : status;
}

const struct pawl_feature pawl__feature_measure = {"measure", apply};

/* ---- the runtime ----------------------------------------------------------------------------- */

void pawl__measure_burst(struct pawl_meter *meter, const struct pawl_instance_row *instance,
                         int64_t duration_ns, int status)
{
    struct pawl_str end = status == PAWL_OK && instance->sub_status.len > 0 ? instance->sub_status
                                                                            : pawl__str("error");

    pawl__meter_count(meter, PAWL_METRIC_BURSTS, end, none(), none(), 1);
    pawl__meter_observe_ns(meter, PAWL_METRIC_BURST_SECONDS, none(), duration_ns);
}

/* Events that end an execution; others are its course. */
void pawl__measure_record(struct pawl_meter *meter, struct pawl_str type, struct pawl_str event)
{
    static const char *const ends[] = {"Completed", "Faulted", "Canceled", "Cancelled",
                                       "Suspended"};

    if (type.len == 0)
        return;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        /* Most are not of these: their first letters tell. */
        if (event.len == 0 || event.ptr[0] != ends[i][0] || !pawl__str_is(event, ends[i]))
            continue;
        pawl__meter_count(meter, PAWL_METRIC_ACTIVITIES, type, event, none(), 1);
        return;
    }
}

void pawl__measure_begun(struct pawl_meter *meter, bool is_timer, int64_t late_us)
{
    pawl__meter_observe_ns(meter, PAWL_METRIC_DUE_TO_START_SECONDS, none(), late_us * 1000);
    if (is_timer)
        pawl__meter_observe_ns(meter, PAWL_METRIC_TIMER_LATENESS_SECONDS, none(), late_us * 1000);
}
