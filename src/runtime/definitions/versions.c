/* SPDX-License-Identifier: Apache-2.0 */
/* Single versions of a definition: going back to one, deleting one. */
#include "runtime/definitions/private.h"

/* ---- reverting ----------------------------------------------------------------------------- */

struct reverting {
    struct pawl_str definition_id;
    int64_t version;
    struct pawl_str fresh_id; /* made once: an attempt that took effect is found by it */
    struct pawl_arena *arena;
    struct pawl_definition_row answer;
};

static int attempt_revert(struct definition_change *change, void *request)
{
    struct reverting *reverting = request;
    const struct pawl_condition conditions[] = {
        pawl__where_text(PAWL_TABLE_DEFINITIONS, "definition_id", reverting->definition_id),
        pawl__where_int(PAWL_TABLE_DEFINITIONS, "version", PAWL_EQ, reverting->version),
    };
    const struct pawl_definition_row *from, *last, *ours = NULL;
    struct pawl_definition_row *made;
    struct pawl_json json;
    int status = pawl__definition_first(&change->call, conditions, 2, &from);

    if (status == PAWL_OK && change->unknown)
        status = pawl__definition_by_id(&change->call, reverting->fresh_id, &ours);
    if (status != PAWL_OK)
        return status;
    if (ours)
        return pawl__definition_answer(&change->call, ours, reverting->arena, &reverting->answer);
    if (!from)
        return pawl__error_set(
            change->call.err, PAWL_ENOTFOUND, "there is no version %lld of the definition %.*s",
            (long long)reverting->version, PAWL_STR_ARG(reverting->definition_id));
    status = pawl__definition_read(&change->call, from, &json);
    if (status == PAWL_OK)
        status = pawl__definition_highest(change, reverting->definition_id, &last);
    if (status == PAWL_OK)
        status = pawl__definition_plan_version(change, last ? last : from, reverting->fresh_id,
                                               &json, &made);
    return status == PAWL_OK
               ? pawl__definition_answer(&change->call, made, reverting->arena, &reverting->answer)
               : status;
}

int pawl__definitions_revert(struct pawl_definitions *definitions, struct pawl_audit *by,
                             struct pawl_str definition_id, int64_t version,
                             struct pawl_arena *arena, struct pawl_definition_row *out,
                             int64_t deadline_ns, struct pawl_error *err)
{
    const struct definition_call call = {definitions, arena, deadline_ns, err, NULL};
    struct reverting reverting = {
        .definition_id = definition_id, .version = version, .arena = arena};
    struct definition_change change;
    int status = pawl__definition_new_id(&call, false, &reverting.fresh_id);

    if (status != PAWL_OK)
        return status;
    pawl__definition_change_open(&change, definitions, by, deadline_ns, err);
    status = pawl__definition_change(&change, attempt_revert, &reverting);
    if (status == PAWL_OK)
        *out = reverting.answer;
    pawl__definition_change_close(&change);
    return status;
}

/* ---- deleting ------------------------------------------------------------------------------ */

/* The highest version but `gone` becomes the latest, if there is one. */
static int plan_latest(struct definition_change *change, const struct pawl_definition_row *gone)
{
    const struct pawl_condition conditions[] = {
        pawl__where_text(PAWL_TABLE_DEFINITIONS, "definition_id", gone->definition_id),
        pawl__where_int(PAWL_TABLE_DEFINITIONS, "version", PAWL_NE, gone->version),
    };
    const struct pawl_definition_row *highest;
    struct pawl_definition_row *row;
    int status = pawl__definition_first(&change->call, conditions, 2, &highest);

    if (status != PAWL_OK || !highest)
        return status;
    status = pawl__definition_copy(change, highest, &row);
    if (status != PAWL_OK)
        return status;
    row->is_latest = 1;
    return pawl__definition_plan(change, PAWL_CHANGE_PUT, PAWL_TABLE_DEFINITIONS, row);
}

static int attempt_delete_version(struct definition_change *change, void *request)
{
    const struct pawl_str *version_id = request;
    const struct pawl_definition_row *row;
    int status = pawl__definition_by_id(&change->call, *version_id, &row);

    if (status != PAWL_OK)
        return status;
    if (!row)
        return change->unknown ? PAWL_OK
                               : pawl__error_set(change->call.err, PAWL_ENOTFOUND,
                                                 "there is no definition version %.*s",
                                                 PAWL_STR_ARG(*version_id));
    status = pawl__definition_plan(change, PAWL_CHANGE_DELETE, PAWL_TABLE_DEFINITIONS, row);
    if (status == PAWL_OK && row->is_published)
        status = pawl__definition_plan_triggers(change, row->definition_id, row->id, NULL);
    if (status == PAWL_OK && row->is_latest)
        status = plan_latest(change, row);
    return status;
}

int pawl__definitions_delete_version(struct pawl_definitions *definitions, struct pawl_audit *by,
                                     struct pawl_str version_id, int64_t deadline_ns,
                                     struct pawl_error *err)
{
    struct definition_change change;
    int status;

    pawl__definition_change_open(&change, definitions, by, deadline_ns, err);
    status = pawl__definition_change(&change, attempt_delete_version, &version_id);
    pawl__definition_change_close(&change);
    return status;
}
