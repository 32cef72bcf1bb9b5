/* SPDX-License-Identifier: Apache-2.0 */
/* Reading definitions for commands; see definitions.h. */
#include "cli/session/definitions.h"

#include "base/error.h"
#include "cli/command/output.h"

int pawl__cli_definitions_read(struct pawl_cli *cli, struct pawl_offline *offline, const char *path,
                               struct pawl_cli_definition *out, struct pawl_error *err)
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
    return pawl__offline_add(offline, &out->json, err);
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
