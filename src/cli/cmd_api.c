/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl api`: the routes of the server's API, or the document that describes them. */
#include "cli/commands.h"

#include "api/api.h"
#include "api/openapi.h"
#include "base/error.h"
#include "cli/command/output.h"

#define DOCUMENT_MAX ((size_t)16 << 20)

static void write_route(struct pawl_json_writer *json, const struct pawl_route *route)
{
    pawl__json_write_begin_object(json);
    pawl__json_write_key_text(json, "method");
    pawl__json_write_string_text(json, route->method);
    pawl__json_write_key_text(json, "path");
    pawl__json_write_string_text(json, route->path);
    pawl__json_write_key_text(json, "permission");
    pawl__json_write_string_text(json, pawl__api_terms(route));
    pawl__json_write_key_text(json, "family");
    pawl__json_write_string_text(json, pawl__api_tag(route));
    pawl__json_write_key_text(json, "summary");
    pawl__json_write_string_text(json, pawl__api_summary(route));
    pawl__json_write_end_object(json);
}

static int show_json(struct pawl_cli *cli, const struct pawl_route *routes, size_t count,
                     bool as_document)
{
    struct pawl_json_writer json;
    struct pawl_buf buf;

    pawl__buf_init(&buf, &cli->env->alloc, DOCUMENT_MAX);
    pawl__json_writer_init(&json, &buf, PAWL_JSON_ESCAPE_MINIMAL, 2);
    if (as_document) {
        pawl__api_openapi_write(&json, routes, count);
        return pawl__cli_write_json(cli, &buf);
    }
    pawl__json_write_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        write_route(&json, &routes[i]);
    pawl__json_write_end_array(&json);
    return pawl__cli_write_json(cli, &buf);
}

/* By family, in the order of the table. */
static void show_list(struct pawl_cli *cli, const struct pawl_route *routes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *tag = pawl__api_tag(&routes[i]);
        bool is_first = true;

        for (size_t j = 0; j < i && is_first; j++)
            is_first = strcmp(tag, pawl__api_tag(&routes[j])) != 0;
        if (!is_first)
            continue;
        if (i > 0)
            pawl__cli_print(&cli->out, "\n");
        pawl__cli_print(&cli->out, "%s%s%s\n", pawl__cli_style(&cli->out, PAWL_CLI_BOLD), tag,
                        pawl__cli_style(&cli->out, PAWL_CLI_PLAIN));
        for (size_t j = i; j < count; j++) {
            if (strcmp(tag, pawl__api_tag(&routes[j])) != 0)
                continue;
            pawl__cli_print(&cli->out, "  %-6s %s\n         %s\n         needs: %s\n",
                            routes[j].method, routes[j].path, pawl__api_summary(&routes[j]),
                            pawl__api_terms(&routes[j]));
        }
    }
}

static int run(struct pawl_cli *cli)
{
    bool as_document = pawl__cli_flag(&cli->args, "openapi");
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_route *routes;
    size_t count;
    int code = PAWL_CLI_EXIT_OK, status = pawl__api_routes_new(&cli->env->alloc, &routes, &count);

    if (status != PAWL_OK) {
        (void)pawl__error_code(&err, status);
        return pawl__cli_fail(cli, &err, NULL);
    }
    if (as_document || pawl__cli_flag(&cli->args, "json"))
        code = show_json(cli, routes, count, as_document);
    else
        show_list(cli, routes, count);
    pawl__api_routes_free(&cli->env->alloc, routes);
    return code;
}

static const struct pawl_cli_option options[] = {
    {.name = "openapi",
     .kind = PAWL_CLI_FLAG,
     .help = "Print the OpenAPI document, as GET /pawl/api/openapi.json does"},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print a JSON array, one object per route"},
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_api = {
    .name = "api",
    .summary = "List the routes of the HTTP API",
    .help = "Each route with what it does and the permission that it needs; of several, one will "
            "do.\n",
    .options = options,
    .run = run,
};
