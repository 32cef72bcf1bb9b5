/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting; see meter.h. A series is found by the text of its labels, in a map per metric; those
 * that were found last are looked at first, which is cheaper than to hash the labels.
 */
#include "host/meter.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/map.h"

#include <stdio.h>

#define ARENA_BYTES_MAX ((size_t)16 << 20)
#define LABEL_BYTES_MAX 100u
/* Types of activities that run in turn have a place each. */
#define RECENT_SERIES 4u

static const struct pawl_metric_info infos[PAWL_METRIC_COUNT] = {
#define ROW(id, name_, type_, unit_, labels_, help_)                                               \
    [PAWL_METRIC_##id] = {(name_), PAWL_METRIC_##type_, PAWL_UNIT_##unit_, (labels_), (help_)},
    PAWL_METRIC_LIST(ROW)
#undef ROW
};

static const double second_bounds[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                       0.25,  0.5,    1,     2.5,  5,     10,   30};
static const double count_bounds[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};

struct pawl_meter {
    struct pawl_env *env;
    struct pawl_mutex *mutex; /* guards the rest; nothing else is locked under it */
    struct pawl_arena arena;
    struct pawl_map series[PAWL_METRIC_COUNT]; /* text of the labels -> struct pawl_series */
    struct recent {
        struct pawl_series *series[RECENT_SERIES]; /* NULL: none */
        unsigned next;                             /* that is replaced */
    } recent[PAWL_METRIC_COUNT];
};

const struct pawl_metric_info *pawl__metric_info(enum pawl_metric metric)
{
    PAWL_ASSERT((unsigned)metric < PAWL_METRIC_COUNT);
    return &infos[metric];
}

const double *pawl__metric_bounds(enum pawl_metric metric, size_t *count)
{
    bool seconds = pawl__metric_info(metric)->unit == PAWL_UNIT_SECONDS;

    *count = seconds ? sizeof second_bounds / sizeof second_bounds[0]
                     : sizeof count_bounds / sizeof count_bounds[0];
    return seconds ? second_bounds : count_bounds;
}

int pawl__meter_new(struct pawl_env *env, struct pawl_meter **out, struct pawl_error *err)
{
    struct pawl_meter *meter = pawl__alloc_zeroed(&env->alloc, sizeof *meter);

    if (!meter)
        return pawl__error_code(err, PAWL_ENOMEM);
    meter->env = env;
    pawl__arena_init(&meter->arena, &env->alloc, ARENA_BYTES_MAX);
    for (unsigned i = 0; i < PAWL_METRIC_COUNT; i++)
        pawl__map_init(&meter->series[i], &env->alloc, (struct pawl_hash_seed){0x6d65746572, i});
    if (pawl_mutex_new(env, "meter", &meter->mutex) != PAWL_OK) {
        pawl__meter_free(meter);
        return pawl__error_code(err, PAWL_ENOMEM);
    }
    *out = meter;
    return PAWL_OK;
}

void pawl__meter_free(struct pawl_meter *meter)
{
    if (!meter)
        return;
    for (unsigned i = 0; i < PAWL_METRIC_COUNT; i++)
        pawl__map_release(&meter->series[i]);
    pawl__arena_release(&meter->arena);
    if (meter->mutex)
        pawl_mutex_free(meter->env, meter->mutex);
    pawl__free(&meter->env->alloc, meter, sizeof *meter);
}

/* NULL: out of memory. The mutex is held. */
static struct pawl_series *add_series(struct pawl_meter *meter, enum pawl_metric metric,
                                      struct pawl_str key, const struct pawl_str labels[])
{
    struct pawl_series *series = pawl__arena_alloc_zeroed(&meter->arena, sizeof *series);
    struct pawl_str copy = pawl__arena_str(&meter->arena, key);

    if (!series || !copy.ptr)
        return NULL;
    for (unsigned i = 0; i < PAWL_METRIC_LABELS_MAX; i++)
        series->labels[i] = pawl__arena_str(&meter->arena, labels[i]);
    if (meter->arena.status != PAWL_OK ||
        pawl__map_put(&meter->series[metric], copy, series) != PAWL_OK)
        return NULL;
    return series;
}

static bool has_labels(const struct pawl_series *series,
                       const struct pawl_str given[PAWL_METRIC_LABELS_MAX])
{
    for (unsigned i = 0; i < PAWL_METRIC_LABELS_MAX; i++)
        if (!pawl__str_equal(series->labels[i], given[i]))
            return false;
    return true;
}

static struct pawl_series *find_recent(const struct recent *recent,
                                       const struct pawl_str given[PAWL_METRIC_LABELS_MAX])
{
    for (unsigned i = 0; i < RECENT_SERIES && recent->series[i]; i++)
        if (has_labels(recent->series[i], given))
            return recent->series[i];
    return NULL;
}

/* Not the one that stands for the rest: a label may be "other" by itself. */
static struct pawl_series *keep_recent(struct recent *recent, struct pawl_series *series)
{
    if (series) {
        recent->series[recent->next] = series;
        recent->next = (recent->next + 1) % RECENT_SERIES;
    }
    return series;
}

static struct pawl_series *look_up_series(struct pawl_meter *meter, enum pawl_metric metric,
                                          const struct pawl_str given[PAWL_METRIC_LABELS_MAX])
{
    const struct pawl_map *map = &meter->series[metric];
    struct pawl_str labels[PAWL_METRIC_LABELS_MAX];
    char key[PAWL_METRIC_LABELS_MAX * (LABEL_BYTES_MAX + 1)];
    size_t len = 0;
    struct pawl_series *found;

    for (unsigned i = 0; i < PAWL_METRIC_LABELS_MAX; i++) {
        labels[i] = pawl__utf8_cut(given[i], LABEL_BYTES_MAX);
        if (labels[i].len > 0)
            memcpy(key + len, labels[i].ptr, labels[i].len);
        len += labels[i].len;
        key[len++] = '\0';
    }
    found = pawl__map_get(map, pawl__str_make(key, len));
    if (!found && map->live_count < PAWL_METER_SERIES_MAX)
        found = add_series(meter, metric, pawl__str_make(key, len), labels);
    if (found || map->live_count < PAWL_METER_SERIES_MAX)
        return keep_recent(&meter->recent[metric], found);
    found = pawl__map_get(map, pawl__str("other"));
    for (unsigned i = 0; i < PAWL_METRIC_LABELS_MAX; i++)
        labels[i] = labels[i].len > 0 ? pawl__str("other") : pawl__str("");
    return found ? found : add_series(meter, metric, pawl__str("other"), labels);
}

static struct pawl_series *find_series(struct pawl_meter *meter, enum pawl_metric metric,
                                       const struct pawl_str given[PAWL_METRIC_LABELS_MAX])
{
    struct pawl_series *found = find_recent(&meter->recent[metric], given);

    return found ? found : look_up_series(meter, metric, given);
}

void pawl__meter_count(struct pawl_meter *meter, enum pawl_metric metric, struct pawl_str first,
                       struct pawl_str second, struct pawl_str third, uint64_t value)
{
    const struct pawl_str labels[PAWL_METRIC_LABELS_MAX] = {first, second, third};
    struct pawl_series *series;

    if (!meter)
        return;
    pawl_mutex_lock_always(meter->env, meter->mutex);
    series = find_series(meter, metric, labels);
    if (series)
        series->count += value;
    pawl_mutex_unlock(meter->env, meter->mutex);
}

void pawl__meter_observe(struct pawl_meter *meter, enum pawl_metric metric, struct pawl_str first,
                         double value)
{
    const struct pawl_str labels[PAWL_METRIC_LABELS_MAX] = {first, pawl__str(""), pawl__str("")};
    struct pawl_series *series;
    size_t count, at = 0;
    const double *bounds = pawl__metric_bounds(metric, &count);

    if (!meter)
        return;
    while (at < count && value > bounds[at])
        at++;
    pawl_mutex_lock_always(meter->env, meter->mutex);
    series = find_series(meter, metric, labels);
    if (series) {
        series->count++;
        series->sum += value;
        series->buckets[at]++;
    }
    pawl_mutex_unlock(meter->env, meter->mutex);
}

void pawl__meter_observe_ns(struct pawl_meter *meter, enum pawl_metric metric,
                            struct pawl_str first, int64_t ns)
{
    pawl__meter_observe(meter, metric, first, ns > 0 ? (double)ns / 1e9 : 0);
}

void pawl__meter_visit(struct pawl_meter *meter, enum pawl_metric metric,
                       void (*visit)(void *ctx, const struct pawl_series *series), void *ctx)
{
    struct pawl_map_entry *entry;

    pawl_mutex_lock_always(meter->env, meter->mutex);
    PAWL_MAP_FOR_EACH (entry, &meter->series[metric])
        visit(ctx, entry->value);
    pawl_mutex_unlock(meter->env, meter->mutex);
}
