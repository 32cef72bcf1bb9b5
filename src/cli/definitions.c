/* SPDX-License-Identifier: Apache-2.0 */
/* Reading definitions for commands; see definitions.h. */
#include "cli/definitions.h"

#include "activities/activities.h"
#include "base/error.h"
#include "cli/output.h"
#include "expressions/expressions.h"

static const struct pawl_expression_ops by_name_only[] = {{.type = "JavaScript"},
                                                          {.type = "Liquid"}};

int pawl__cli_vocabulary(struct pawl_cli *cli, struct pawl_engine *engine, struct pawl_error *err)
{
    struct pawl_hash_seed seed = {0, 0};
    int status;

    pawl__engine_init(engine, &cli->env->alloc, seed);
    status = pawl_env_entropy(cli->env, &seed, sizeof seed, err);
    if (status != PAWL_OK)
        return status;
    pawl__engine_init(engine, &cli->env->alloc, seed);
    status = pawl__activities_register(engine);
    if (status == PAWL_OK)
        status = pawl__expressions_register(engine);
    for (size_t i = 0; i < sizeof by_name_only / sizeof by_name_only[0] && status == PAWL_OK; i++) {
        if (!pawl__engine_expression(engine, pawl__str(by_name_only[i].type)))
            status = pawl__engine_add_expression(engine, &by_name_only[i]);
    }
    return status == PAWL_OK ? status : pawl__error_code(err, status);
}

int pawl__cli_definitions_open(struct pawl_cli *cli, struct pawl_cli_definitions *definitions,
                               struct pawl_error *err)
{
    int status;

    pawl__catalog_init(&definitions->catalog, &cli->arena);
    definitions->javascript = NULL;
    status = pawl__cli_vocabulary(cli, &definitions->engine, err);
    if (status == PAWL_OK)
        status = pawl__javascript_open(cli->env, NULL, &definitions->javascript, err);
    if (status == PAWL_OK)
        status = pawl__javascript_register(&definitions->engine, definitions->javascript);
    return status;
}

void pawl__cli_definitions_close(struct pawl_cli_definitions *definitions)
{
    pawl__engine_release(&definitions->engine);
    pawl__javascript_close(definitions->javascript);
}

int pawl__cli_definitions_read(struct pawl_cli *cli, struct pawl_cli_definitions *definitions,
                               const char *path, struct pawl_cli_definition *out,
                               struct pawl_error *err)
{
    struct pawl_json_limits limits = pawl__json_limits_default;
    int status;

    *out = (struct pawl_cli_definition){.path = path};
    limits.depth_max = PAWL_JSON_DEPTH_MAX;
    status = pawl__cli_read(cli, &cli->arena, path, &out->text, err);
    if (status != PAWL_OK)
        return status;
    out->status =
        pawl__json_parse(&cli->arena, out->text, &limits, &out->json, &out->place, &out->err);
    if (out->status == PAWL_ENOMEM || cli->arena.status != PAWL_OK)
        return pawl__error_code(err, cli->arena.status);
    if (out->status != PAWL_OK)
        return PAWL_OK;
    status = pawl__catalog_add(&definitions->catalog, &out->json);
    return status == PAWL_OK ? status : pawl__error_code(err, status);
}

int pawl__cli_definitions_load(struct pawl_cli *cli, const struct pawl_cli_definitions *definitions,
                               const struct pawl_cli_definition *definition,
                               struct pawl_problems *problems, struct pawl_graph **out,
                               struct pawl_error *err)
{
    return pawl__graph_load(&definitions->engine, &cli->env->alloc, &definition->json,
                            &definitions->catalog.resolver, NULL, problems, out, err);
}

void pawl__cli_locate(const struct pawl_cli_definition *definition, const char *pointer,
                      struct pawl_json_place *place)
{
    struct pawl_str at = pawl__str(pointer);

    while (pawl__json_locate(definition->text, at, place) != PAWL_OK) {
        if (at.len == 0) {
            *place = (struct pawl_json_place){.line = 1, .column = 1};
            return;
        }
        while (at.len > 0 && at.ptr[--at.len] != '/')
            continue;
    }
}
