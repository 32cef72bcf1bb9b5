/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions and types without a host; see offline.h. */
#include "operations/offline.h"

#include "activities/activities.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "engine/descriptor.h"
#include "engine/engine.h"
#include "engine/load/catalog.h"
#include "expressions/expressions.h"
#include "expressions/javascript/javascript.h"
#include "host/features.h"

#include <stdlib.h>

#define TYPE_NAME_MAX ((size_t)1 << 16)

/* A graph that an outline's texts are in. */
struct kept {
    struct kept *next;
    struct pawl_graph *graph;
};

struct pawl_offline {
    struct pawl_env *env;
    struct pawl_arena *arena;
    struct pawl_engine engine;
    struct pawl_javascript *javascript; /* looks at scripts; runs none */
    struct pawl_catalog catalog;
    struct kept *kept;
};

/* ---- opening -------------------------------------------------------------------------------- */

static int fill(struct pawl_offline *offline)
{
    static const struct pawl_expression_ops by_name_only[] = {{.type = "JavaScript"},
                                                              {.type = "Liquid"}};
    struct pawl_engine *engine = &offline->engine;
    int status = pawl__activities_register(engine);

    if (status == PAWL_OK)
        status = pawl__expressions_register(engine);
    for (size_t i = 0; i < sizeof by_name_only / sizeof by_name_only[0] && status == PAWL_OK; i++) {
        if (!pawl__engine_expression(engine, pawl__str(by_name_only[i].type)))
            status = pawl__engine_add_expression(engine, &by_name_only[i]);
    }
    return status;
}

static int open_scripts(struct pawl_offline *offline,
                        const struct pawl_configuration *configuration, struct pawl_error *err)
{
    int status;

    if (configuration)
        status =
            pawl__host_open_scripts(offline->env, configuration, NULL, &offline->javascript, err);
    else
        status = pawl__javascript_open(offline->env, NULL, &offline->javascript, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__javascript_register(&offline->engine, offline->javascript);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

int pawl__offline_open(struct pawl_env *env, const struct pawl_configuration *configuration,
                       struct pawl_arena *arena, struct pawl_offline **out, struct pawl_error *err)
{
    struct pawl_offline *offline = pawl__alloc_zeroed(&env->alloc, sizeof *offline);
    struct pawl_hash_seed seed = {0, 0};
    int status;

    if (!offline)
        return pawl__error_code(err, PAWL_ENOMEM);
    offline->env = env;
    offline->arena = arena;
    pawl__catalog_init(&offline->catalog, arena);
    status = pawl_env_entropy(env, &seed, sizeof seed, err);
    pawl__engine_init(&offline->engine, &env->alloc, seed);
    if (status == PAWL_OK && (status = fill(offline)) != PAWL_OK)
        (void)pawl__error_code(err, status);
    if (status == PAWL_OK && configuration)
        pawl__host_limit_engine(configuration, &offline->engine);
    if (status == PAWL_OK)
        status = open_scripts(offline, configuration, err);
    if (status != PAWL_OK) {
        pawl__offline_close(offline);
        return status;
    }
    *out = offline;
    return PAWL_OK;
}

void pawl__offline_close(struct pawl_offline *offline)
{
    if (!offline)
        return;
    for (const struct kept *kept = offline->kept; kept; kept = kept->next)
        pawl__graph_unref(kept->graph);
    pawl__engine_release(&offline->engine);
    pawl__javascript_close(offline->javascript);
    pawl__free(&offline->env->alloc, offline, sizeof *offline);
}

bool pawl__offline_has_javascript(void)
{
    return pawl__javascript_is_available();
}

/* ---- definitions ---------------------------------------------------------------------------- */

int pawl__offline_add(struct pawl_offline *offline, const struct pawl_json *definition,
                      struct pawl_error *err)
{
    int status = pawl__catalog_add(&offline->catalog, definition);

    return status == PAWL_OK ? status : pawl__error_code(err, status);
}

static int load(struct pawl_offline *offline, const struct pawl_json *definition,
                struct pawl_problems *problems, struct pawl_graph **out, struct pawl_error *err)
{
    return pawl__graph_load(&offline->engine, &offline->env->alloc, definition,
                            &offline->catalog.resolver, NULL, problems, out, err);
}

int pawl__offline_check(struct pawl_offline *offline, const struct pawl_json *definition,
                        struct pawl_problems *problems, struct pawl_error *err)
{
    struct pawl_graph *graph = NULL;
    int status = load(offline, definition, problems, &graph, err);

    pawl__graph_unref(graph);
    return status;
}

int pawl__offline_outline(struct pawl_offline *offline, const struct pawl_json *definition,
                          struct pawl_outline *out, struct pawl_error *err)
{
    struct kept *kept = pawl__arena_alloc(offline->arena, sizeof *kept);
    struct pawl_graph *graph = NULL;
    int status;

    if (!kept)
        return pawl__error_code(err, pawl__arena_status(offline->arena));
    status = load(offline, definition, NULL, &graph, err);
    if (status != PAWL_OK)
        return status;
    *kept = (struct kept){.next = offline->kept, .graph = graph};
    offline->kept = kept;
    status = pawl__outline_make(graph, offline->arena, out);
    return status == PAWL_OK ? status : pawl__error_code(err, status);
}

/* ---- types ---------------------------------------------------------------------------------- */

/* As definitions write it; NULL: it has none, or there is no memory for it. */
static const char *type_name(struct pawl_offline *offline, const struct pawl_type *type)
{
    struct pawl_str copy = {NULL, 0};
    struct pawl_buf alias;

    if (!type)
        return NULL;
    pawl__buf_init(&alias, &offline->env->alloc, TYPE_NAME_MAX);
    pawl__type_write(&alias, type);
    if (alias.status == PAWL_OK)
        copy = pawl__arena_str(offline->arena, pawl__buf_peek(&alias));
    pawl__buf_release(&alias);
    return copy.ptr;
}

static void add_members(struct pawl_offline *offline, const struct pawl_activity *activity,
                        struct pawl_type_member *to)
{
    for (uint32_t i = 0; i < activity->input_count; i++) {
        const struct pawl_input_descriptor *input = &activity->inputs[i];

        *to++ = (struct pawl_type_member){.name = input->name,
                                          .type = type_name(offline, input->type),
                                          .description = input->description,
                                          .default_json = input->default_json,
                                          .is_required = input->flags & PAWL_INPUT_REQUIRED,
                                          .is_naked = input->flags & PAWL_INPUT_NAKED};
    }
    for (uint32_t i = 0; i < activity->output_count; i++)
        *to++ = (struct pawl_type_member){.name = activity->outputs[i].name,
                                          .type = type_name(offline, activity->outputs[i].type),
                                          .description = activity->outputs[i].description};
    for (uint32_t i = 0; i < activity->port_count; i++)
        *to++ = (struct pawl_type_member){.name = activity->ports[i].name,
                                          .is_outcome = activity->ports[i].flow,
                                          .is_list = activity->ports[i].many};
}

static int describe(struct pawl_offline *offline, const struct pawl_activity *activity,
                    struct pawl_type_info *out)
{
    size_t count =
        (size_t)activity->input_count + activity->output_count + activity->port_count + 1;
    struct pawl_type_member *members =
        pawl__arena_alloc_array(offline->arena, count, sizeof *members);

    if (!members)
        return pawl__arena_status(offline->arena);
    add_members(offline, activity, members);
    *out = (struct pawl_type_info){
        .type = activity->type,
        .category = activity->category,
        .description = activity->description,
        .kind = pawl__descriptor_kind(activity),
        .name = pawl__descriptor_name(activity),
        .version = activity->version,
        .is_action = activity->kind == PAWL_ACTIVITY_ACTION,
        .is_browsable = !(activity->flags & PAWL_ACTIVITY_NOT_BROWSABLE),
        .inputs = members,
        .outputs = members + activity->input_count,
        .ports = members + activity->input_count + activity->output_count,
        .input_count = activity->input_count,
        .output_count = activity->output_count,
        .port_count = activity->port_count,
        .activity = activity,
    };
    return offline->arena->status;
}

static int compare(const void *a, const void *b)
{
    const struct pawl_type_info *left = a, *right = b;
    int order = pawl__str_compare(pawl__str(left->category), pawl__str(right->category));

    return order != 0 ? order : pawl__str_compare(pawl__str(left->type), pawl__str(right->type));
}

int pawl__offline_types(struct pawl_offline *offline, const struct pawl_type_info **out,
                        size_t *count, struct pawl_error *err)
{
    const struct pawl_map *all = &offline->engine.activities;
    struct pawl_type_info *list =
        pawl__arena_alloc_array(offline->arena, (size_t)all->live_count + 1, sizeof *list);
    const struct pawl_map_entry *entry;
    size_t made = 0;
    int status = list ? PAWL_OK : pawl__arena_status(offline->arena);

    if (status == PAWL_OK) {
        PAWL_MAP_FOR_EACH (entry, all) {
            if (status == PAWL_OK)
                status = describe(offline, entry->value, &list[made++]);
        }
    }
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    qsort(list, made, sizeof *list, compare);
    *out = list;
    *count = made;
    return PAWL_OK;
}

void pawl__offline_type_write(struct pawl_json_writer *json, const struct pawl_type_info *info)
{
    pawl__descriptor_write(json, info->activity);
}
