/* SPDX-License-Identifier: Apache-2.0 */
/* Faults by cause; see faults.h. */
#include "operations/faults.h"

#include "base/error.h"
#include "base/json/json.h"

#include <stdlib.h>

/* Causes that are told apart; the rest is counted nowhere. */
#define CAUSES_MAX 1000u

struct faults {
    struct pawl_fault_cause *causes;
    size_t *last; /* of each cause: the instance that was counted last, by its place in the list */
    size_t count;
    size_t at; /* the instance that is looked at */
};

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    struct pawl_str text = pawl__json_str(pawl__json_get_text(object, key));

    return text.ptr ? text : pawl__str("");
}

static bool is_same(const struct pawl_fault_cause *a, const struct pawl_fault_cause *b)
{
    return pawl__str_equal(a->definition_id, b->definition_id) &&
           pawl__str_equal(a->activity_id, b->activity_id) &&
           pawl__str_equal(a->exception_type, b->exception_type) &&
           pawl__str_equal(a->message, b->message);
}

/* The texts of a cause, which are in the memory of its instance. */
static int keep_texts(const struct pawl_op *op, struct pawl_fault_cause *cause)
{
    struct pawl_str *texts[] = {&cause->definition_id,  &cause->activity_id, &cause->activity_type,
                                &cause->exception_type, &cause->message,     &cause->instance_id};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        *texts[i] = pawl__arena_str(op->arena, *texts[i]);
        if (!texts[i]->ptr)
            return pawl__error_code(op->err, pawl__arena_status(op->arena));
    }
    return PAWL_OK;
}

static int count_incident(const struct pawl_op *op, struct faults *faults,
                          const struct pawl_instance_row *row, const struct pawl_json *incident)
{
    struct pawl_fault_cause cause = {
        .definition_id = row->definition_id,
        .activity_id = text_of(incident, "activityId"),
        .activity_type = text_of(incident, "activityType"),
        .exception_type = text_of(pawl__json_get_text(incident, "exception"), "type"),
        .message = text_of(incident, "message"),
        .instance_id = row->id,
        .last_us = row->updated_us,
        .incidents = 1,
        .instances = 1,
    };

    for (size_t i = 0; i < faults->count; i++) {
        struct pawl_fault_cause *known = &faults->causes[i];

        if (!is_same(known, &cause))
            continue;
        known->incidents++;
        known->instances += faults->last[i] != faults->at;
        faults->last[i] = faults->at;
        return PAWL_OK;
    }
    if (faults->count == CAUSES_MAX)
        return PAWL_OK;
    faults->causes[faults->count] = cause;
    faults->last[faults->count] = faults->at;
    return keep_texts(op, &faults->causes[faults->count++]);
}

/* States may be large: the memory of one is freed before the next is read. */
static int look_at(const struct pawl_op *op, struct faults *faults, struct pawl_str instance_id)
{
    const struct pawl_json *incidents;
    struct pawl_instance_shown shown;
    struct pawl_op part = *op;
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, op->arena->alloc, op->arena->max_bytes);
    part.arena = &arena;
    status = pawl__op_instance_show(&part, instance_id, true, &shown);
    incidents = status == PAWL_OK ? pawl__json_get_text(&shown.state, "incidents") : NULL;
    for (uint32_t i = 0; i < pawl__json_len(incidents) && status == PAWL_OK; i++)
        status = count_incident(op, faults, &shown.row, pawl__json_at(incidents, i));
    pawl__arena_release(&arena);
    /* It was deleted meanwhile. */
    return status == PAWL_ENOTFOUND ? PAWL_OK : status;
}

static int compare(const void *a, const void *b)
{
    const struct pawl_fault_cause *left = a, *right = b;

    if (left->incidents != right->incidents)
        return left->incidents < right->incidents ? 1 : -1;
    return left->last_us < right->last_us ? 1 : left->last_us > right->last_us ? -1 : 0;
}

int pawl__op_faults_list(const struct pawl_op *op, const struct pawl_fault_query *query,
                         struct pawl_fault_list *out)
{
    struct pawl_instance_query asked = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_instance_list list;
    struct faults faults = {
        .causes = pawl__arena_alloc_array(op->arena, CAUSES_MAX, sizeof *faults.causes),
        .last = pawl__arena_alloc_array(op->arena, CAUSES_MAX, sizeof *faults.last)};
    int status;

    if (!faults.causes || !faults.last)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    if (query->instance_limit > PAWL_FAULT_INSTANCES_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "at most %u instances are looked at",
                               PAWL_FAULT_INSTANCES_MAX);
    asked.has_incidents = 1;
    asked.definition_id = query->definition_id;
    asked.sort = PAWL_INSTANCES_BY_UPDATED;
    asked.page.limit =
        query->instance_limit > 0 ? query->instance_limit : PAWL_FAULT_INSTANCES_DEFAULT;
    status = pawl__op_instances_list(op, &asked, &list);
    for (; status == PAWL_OK && faults.at < list.count; faults.at++)
        status = look_at(op, &faults, list.rows[faults.at].id);
    if (status != PAWL_OK)
        return status;
    qsort(faults.causes, faults.count, sizeof *faults.causes, compare);
    *out = (struct pawl_fault_list){.causes = faults.causes,
                                    .count = faults.count,
                                    .looked_at = list.count,
                                    .has_more = list.page.next.len > 0};
    return PAWL_OK;
}
