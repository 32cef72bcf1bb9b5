/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pawl activities [TYPE]`: the activity types that definitions can use, by category, or one of
 * them with all its inputs, outputs and ports.
 */
#include "cli/commands.h"

#include "base/error.h"
#include "base/suggest.h"
#include "cli/command/output.h"
#include "operations/offline.h"

#define JSON_MAX ((size_t)64 << 20)

/* ---- all --------------------------------------------------------------------------------- */

static void show_list(struct pawl_cli *cli, const struct pawl_type_info *list, size_t count)
{
    const char *category = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct pawl_type_info *info = &list[i];

        if (!info->is_browsable && !pawl__cli_flag(&cli->args, "all"))
            continue;
        if (!category || strcmp(category, info->category ? info->category : "") != 0) {
            if (category)
                pawl__cli_print(&cli->out, "\n");
            pawl__cli_print(&cli->out, "%s%s%s\n", pawl__cli_style(&cli->out, PAWL_CLI_BOLD),
                            info->category ? info->category : "Other",
                            pawl__cli_style(&cli->out, PAWL_CLI_PLAIN));
            category = info->category ? info->category : "";
        }
        pawl__cli_print(&cli->out, "  %-28s %-8s %s\n", info->type,
                        info->is_action ? "" : info->kind,
                        info->description ? info->description : "");
    }
}

static int show_list_json(struct pawl_cli *cli, const struct pawl_type_info *list, size_t count)
{
    struct pawl_json_writer json;
    struct pawl_buf buf;

    pawl__buf_init(&buf, &cli->env->alloc, JSON_MAX);
    pawl__json_writer_init(&json, &buf, PAWL_JSON_ESCAPE_MINIMAL, 2);
    pawl__json_write_begin_object(&json);
    pawl__json_write_key_text(&json, "items");
    pawl__json_write_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        pawl__offline_type_write(&json, &list[i]);
    pawl__json_write_end_array(&json);
    pawl__json_write_key_text(&json, "count");
    pawl__json_write_int(&json, (int64_t)count);
    pawl__json_write_end_object(&json);
    return pawl__cli_write_json(cli, &buf);
}

/* ---- one --------------------------------------------------------------------------------- */

static void show_heading(struct pawl_cli *cli, const char *text)
{
    pawl__cli_print(&cli->out, "\n%s%s%s\n", pawl__cli_style(&cli->out, PAWL_CLI_BOLD), text,
                    pawl__cli_style(&cli->out, PAWL_CLI_PLAIN));
}

/* The name as definitions write it. */
static void show_key(struct pawl_cli *cli, const struct pawl_type_member *member)
{
    pawl__cli_print(&cli->out, "  %c%-25s %-16s", member->name[0] | 0x20, member->name + 1,
                    member->type ? member->type : "");
}

static void show_inputs(struct pawl_cli *cli, const struct pawl_type_info *info)
{
    show_heading(cli, "Inputs");
    for (uint32_t i = 0; i < info->input_count; i++) {
        const struct pawl_type_member *input = &info->inputs[i];

        show_key(cli, input);
        pawl__cli_print(&cli->out, " %s", input->description ? input->description : "");
        if (input->default_json)
            pawl__cli_print(&cli->out, " (default %s)", input->default_json);
        if (input->is_required)
            pawl__cli_print(&cli->out, " (required)");
        if (input->is_naked)
            pawl__cli_print(&cli->out, " (a plain value, not an expression)");
        pawl__cli_print(&cli->out, "\n");
    }
}

static void show_one(struct pawl_cli *cli, const struct pawl_type_info *info)
{
    pawl__cli_print(&cli->out, "%s%s%s  version %u, %s, %s\n",
                    pawl__cli_style(&cli->out, PAWL_CLI_BOLD), info->type,
                    pawl__cli_style(&cli->out, PAWL_CLI_PLAIN), info->version, info->kind,
                    info->category ? info->category : "Other");
    if (info->description)
        pawl__cli_print(&cli->out, "%s\n", info->description);
    if (info->input_count > 0)
        show_inputs(cli, info);
    if (info->output_count > 0)
        show_heading(cli, "Outputs");
    for (uint32_t i = 0; i < info->output_count; i++) {
        show_key(cli, &info->outputs[i]);
        pawl__cli_print(&cli->out, " %s\n",
                        info->outputs[i].description ? info->outputs[i].description : "");
    }
    if (info->port_count > 0)
        show_heading(cli, "Ports");
    for (uint32_t i = 0; i < info->port_count; i++) {
        const struct pawl_type_member *port = &info->ports[i];

        pawl__cli_print(&cli->out, "  %-26s %s\n", port->name,
                        port->is_outcome ? "an outcome"
                        : port->is_list  ? "a list of activities"
                                         : "an activity");
    }
}

static int show_one_json(struct pawl_cli *cli, const struct pawl_type_info *info)
{
    struct pawl_json_writer json;
    struct pawl_buf buf;

    pawl__buf_init(&buf, &cli->env->alloc, JSON_MAX);
    pawl__json_writer_init(&json, &buf, PAWL_JSON_ESCAPE_MINIMAL, 2);
    pawl__offline_type_write(&json, info);
    return pawl__cli_write_json(cli, &buf);
}

/* By the whole type, or by its last part; without case. */
static const struct pawl_type_info *find(const struct pawl_type_info *list, size_t count,
                                         const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (pawl__str_equal_nocase(pawl__str(list[i].type), pawl__str(name)) ||
            pawl__str_equal_nocase(list[i].name, pawl__str(name)))
            return &list[i];
    }
    return NULL;
}

/* ---- the command ------------------------------------------------------------------------- */

static int fail_unknown(struct pawl_cli *cli, const struct pawl_type_info *list, size_t count,
                        const char *name)
{
    const char **types = pawl__arena_alloc_array(&cli->arena, count + 1, sizeof(char *));
    const char *near = NULL;
    struct pawl_error err;

    if (types) {
        for (size_t i = 0; i < count; i++)
            types[i] = strchr(name, '.') ? list[i].type : list[i].name.ptr;
        types[count] = NULL;
        near = pawl__suggest(name, types);
    }
    if (near)
        (void)pawl__error_set(&err, PAWL_ENOTFOUND,
                              "there is no activity type '%s'; did you mean '%s'?", name, near);
    else
        (void)pawl__error_set(&err, PAWL_ENOTFOUND, "there is no activity type '%s'", name);
    return pawl__cli_fail(cli, &err, "'pawl activities' lists all types");
}

static int run_with(struct pawl_cli *cli, struct pawl_offline *offline)
{
    bool as_json = pawl__cli_flag(&cli->args, "json");
    const struct pawl_type_info *list = NULL, *one;
    struct pawl_error err;
    size_t count = 0;

    if (pawl__offline_types(offline, &list, &count, &err) != PAWL_OK)
        return pawl__cli_fail(cli, &err, NULL);
    if (cli->args.operand_count == 0 && as_json)
        return show_list_json(cli, list, count);
    if (cli->args.operand_count == 0) {
        show_list(cli, list, count);
        return PAWL_CLI_EXIT_OK;
    }
    one = find(list, count, cli->args.operands[0]);
    if (!one)
        return fail_unknown(cli, list, count, cli->args.operands[0]);
    if (as_json)
        return show_one_json(cli, one);
    show_one(cli, one);
    return PAWL_CLI_EXIT_OK;
}

static int run(struct pawl_cli *cli)
{
    struct pawl_offline *offline = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;
    int code;

    if (pawl__offline_open(cli->env, NULL, &cli->arena, &offline, &err) == PAWL_OK)
        code = run_with(cli, offline);
    else
        code = pawl__cli_fail(cli, &err, NULL);
    pawl__offline_close(offline);
    return code;
}

static const struct pawl_cli_option options[] = {
    {.name = "json",
     .kind = PAWL_CLI_FLAG,
     .help = "Print one or all descriptors as JSON, as the API does"},
    {.name = "all", .kind = PAWL_CLI_FLAG, .help = "Also types that designers hide"},
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_activities = {
    .name = "activities",
    .summary = "List the activity types, or show one",
    .operands = "[TYPE]",
    .help =
        "TYPE is a type as in a definition ('Elsa.WriteLine') or its last part ('writeline').\n",
    .options = options,
    .run = run,
};
