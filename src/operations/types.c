/* SPDX-License-Identifier: Apache-2.0 */
/* Types of activities; see types.h. */
#include "operations/types.h"

#include "base/buf.h"
#include "base/error.h"
#include "engine/descriptor.h"
#include "engine/engine.h"
#include "host/features.h"
#include "host/host.h"
#include "operations/definitions.h"
#include "operations/query.h"

#include <stdlib.h>

#define DESCRIPTORS_BYTES_MAX ((size_t)64 << 20)

static int compare_types(const void *a, const void *b)
{
    const struct pawl_activity *const *left = a, *const *right = b;

    return strcmp((*left)->type, (*right)->type);
}

static int write_built_in(const struct pawl_op *op, struct pawl_json_writer *json)
{
    const struct pawl_map *all = &pawl__host_engine(op->host)->activities;
    const struct pawl_activity **list =
        pawl__arena_alloc_array(op->arena, (size_t)all->live_count + 1, sizeof(void *));
    const struct pawl_map_entry *entry;
    size_t count = 0;

    if (!list)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    PAWL_MAP_FOR_EACH (entry, all)
        list[count++] = entry->value;
    qsort(list, count, sizeof list[0], compare_types);
    for (size_t i = 0; i < count; i++)
        pawl__descriptor_write(json, list[i]);
    return PAWL_OK;
}

static int write_workflow(const struct pawl_op *op, const struct pawl_definition_row *row,
                          struct pawl_json_writer *json)
{
    struct pawl_str type = pawl__workflow_type_name(op->arena, pawl__str_trim(row->name));
    struct pawl_json definition;

    if (!type.ptr)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    /* A definition that cannot be read can be used by nobody, and hides no other. */
    if (type.len == 0 ||
        pawl__json_parse(op->arena, row->data, NULL, &definition, NULL, NULL) != PAWL_OK)
        return pawl__arena_status(op->arena) == PAWL_ENOMEM ? PAWL_ENOMEM : PAWL_OK;
    pawl__descriptor_write_workflow(json, type, &definition);
    return PAWL_OK;
}

/* Those that are published, in the order of their names. */
static int write_workflows(const struct pawl_op *op, struct pawl_json_writer *json)
{
    struct pawl_definition_query query = PAWL_DEFINITION_QUERY_ALL;
    struct pawl_definition_list list = {.count = 0};
    int status;

    query.is_published = 1;
    query.usable_as_activity = 1;
    query.with_data = true;
    query.page.limit = PAWL_TYPE_WORKFLOWS_MAX;
    status = pawl__op_definitions_list(op, &query, &list);
    for (size_t i = 0; i < list.count && status == PAWL_OK; i++)
        status = write_workflow(op, &list.rows[i], json);
    return status;
}

int pawl__op_types_list(const struct pawl_op *op, struct pawl_json *out)
{
    struct pawl_json_writer json;
    struct pawl_buf buf;
    int status;

    pawl__buf_init(&buf, &op_env(op)->alloc, DESCRIPTORS_BYTES_MAX);
    pawl__json_writer_init(&json, &buf, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__json_write_begin_array(&json);
    status = write_built_in(op, &json);
    if (status == PAWL_OK)
        status = write_workflows(op, &json);
    pawl__json_write_end_array(&json);
    if (status == PAWL_OK && buf.status != PAWL_OK)
        status = pawl__error_code(op->err, buf.status);
    if (status == PAWL_OK)
        status = pawl__json_parse(op->arena, pawl__buf_peek(&buf), NULL, out, NULL, op->err);
    pawl__buf_release(&buf);
    return status;
}

int pawl__op_type_show(const struct pawl_op *op, struct pawl_str type, int64_t version,
                       struct pawl_json *out)
{
    struct pawl_json all;
    int status = pawl__op_types_list(op, &all);

    for (uint32_t i = 0; status == PAWL_OK && i < pawl__json_len(&all); i++) {
        const struct pawl_json *one = pawl__json_at(&all, i);
        int64_t has = 0;

        if (!pawl__str_equal(pawl__json_str(pawl__json_get_text(one, "typeName")), type))
            continue;
        (void)pawl__json_to_int(pawl__json_get_text(one, "version"), &has);
        if (version != 0 && version != has)
            continue;
        *out = *one;
        return PAWL_OK;
    }
    return status == PAWL_OK ? pawl__error_set(op->err, PAWL_ENOTFOUND,
                                               "there is no activity type '%.*s' of this version",
                                               PAWL_STR_ARG(type))
                             : status;
}

/* What a designer asks for again and again, if it is told to, is left out: it would not end. */
static int without_refresh(const struct pawl_op *op, const struct pawl_json *given,
                           struct pawl_json *out)
{
    int status = PAWL_OK;

    *out = pawl__json_object();
    for (uint32_t i = 0; status == PAWL_OK && i < pawl__json_len(given); i++) {
        const struct pawl_json_member *member = pawl__json_member(given, i);

        if (!pawl__str_equal(member->key, pawl__str("Refresh")))
            status = pawl__json_set(op->arena, out, member->key, member->value);
    }
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, status);
}

int pawl__op_type_options(const struct pawl_op *op, struct pawl_str type, int64_t version,
                          struct pawl_str input, struct pawl_json *out)
{
    const struct pawl_json *inputs;
    struct pawl_json shown;
    int status = pawl__op_type_show(op, type, version, &shown);

    if (status != PAWL_OK)
        return status;
    inputs = pawl__json_get_text(&shown, "inputs");
    for (uint32_t i = 0; i < pawl__json_len(inputs); i++) {
        const struct pawl_json *one = pawl__json_at(inputs, i);

        if (pawl__str_equal(pawl__json_str(pawl__json_get_text(one, "name")), input))
            return without_refresh(op, pawl__json_get_text(one, "uiSpecifications"), out);
    }
    return pawl__error_set(op->err, PAWL_ENOTFOUND, "'%.*s' has no input '%.*s'",
                           PAWL_STR_ARG(type), PAWL_STR_ARG(input));
}
