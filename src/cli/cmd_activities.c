/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pawl activities [TYPE]`: the activity types that definitions can use, by category, or one of
 * them with all its inputs, outputs and ports.
 */
#include "cli/commands.h"

#include "base/error.h"
#include "base/suggest.h"
#include "cli/definitions.h"
#include "cli/output.h"
#include "engine/descriptor.h"

#include <stdlib.h>

#define JSON_MAX ((size_t)64 << 20)

/* ---- all --------------------------------------------------------------------------------- */

/* By category, then by name. */
static int compare(const void *a, const void *b)
{
    const struct pawl_activity *left = *(const struct pawl_activity *const *)a;
    const struct pawl_activity *right = *(const struct pawl_activity *const *)b;
    int order = pawl__str_compare(pawl__str(left->category), pawl__str(right->category));

    return order != 0 ? order : strcmp(left->type, right->type);
}

static int list_types(struct pawl_cli *cli, const struct pawl_engine *engine,
                      const struct pawl_activity ***out, size_t *count, struct pawl_error *err)
{
    const struct pawl_activity **list = pawl__arena_alloc_array(
        &cli->arena, engine->activities.live_count, sizeof(struct pawl_activity *));
    const struct pawl_map_entry *entry;

    if (!list)
        return pawl__error_code(err, cli->arena.status);
    *count = 0;
    PAWL_MAP_FOR_EACH (entry, &engine->activities) {
        list[(*count)++] = entry->value;
    }
    qsort(list, *count, sizeof(struct pawl_activity *), compare);
    *out = list;
    return PAWL_OK;
}

static void show_list(struct pawl_cli *cli, const struct pawl_activity *const *list, size_t count)
{
    const char *category = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct pawl_activity *activity = list[i];

        if (activity->flags & PAWL_ACTIVITY_NOT_BROWSABLE && !pawl__cli_flag(&cli->args, "all"))
            continue;
        if (!category || strcmp(category, activity->category ? activity->category : "") != 0) {
            if (category)
                pawl__cli_print(&cli->out, "\n");
            pawl__cli_print(&cli->out, "%s%s%s\n", pawl__cli_style(&cli->out, PAWL_CLI_BOLD),
                            activity->category ? activity->category : "Other",
                            pawl__cli_style(&cli->out, PAWL_CLI_PLAIN));
            category = activity->category ? activity->category : "";
        }
        pawl__cli_print(&cli->out, "  %-28s %-8s %s\n", activity->type,
                        activity->kind == PAWL_ACTIVITY_ACTION ? ""
                                                               : pawl__descriptor_kind(activity),
                        activity->description ? activity->description : "");
    }
}

static int show_list_json(struct pawl_cli *cli, const struct pawl_activity *const *list,
                          size_t count)
{
    struct pawl_json_writer json;
    struct pawl_buf buf;

    pawl__buf_init(&buf, &cli->env->alloc, JSON_MAX);
    pawl__json_writer_init(&json, &buf, PAWL_JSON_ESCAPE_MINIMAL, 2);
    pawl__json_write_begin_object(&json);
    pawl__json_write_key_text(&json, "items");
    pawl__json_write_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        pawl__descriptor_write(&json, list[i]);
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
static void show_key(struct pawl_cli *cli, const char *name, const struct pawl_type *type)
{
    struct pawl_buf alias;

    pawl__buf_init(&alias, &cli->env->alloc, 1 << 16);
    if (type)
        pawl__type_write(&alias, type);
    pawl__cli_print(&cli->out, "  %c%-25s %-16s", name[0] | 0x20, name + 1, pawl__buf_cstr(&alias));
    pawl__buf_release(&alias);
}

static void show_inputs(struct pawl_cli *cli, const struct pawl_activity *activity)
{
    show_heading(cli, "Inputs");
    for (uint32_t i = 0; i < activity->input_count; i++) {
        const struct pawl_input_descriptor *input = &activity->inputs[i];

        show_key(cli, input->name, input->type);
        pawl__cli_print(&cli->out, " %s", input->description ? input->description : "");
        if (input->default_json)
            pawl__cli_print(&cli->out, " (default %s)", input->default_json);
        if (input->flags & PAWL_INPUT_REQUIRED)
            pawl__cli_print(&cli->out, " (required)");
        if (input->flags & PAWL_INPUT_NAKED)
            pawl__cli_print(&cli->out, " (a plain value, not an expression)");
        pawl__cli_print(&cli->out, "\n");
    }
}

static void show_one(struct pawl_cli *cli, const struct pawl_activity *activity)
{
    pawl__cli_print(
        &cli->out, "%s%s%s  version %u, %s, %s\n", pawl__cli_style(&cli->out, PAWL_CLI_BOLD),
        activity->type, pawl__cli_style(&cli->out, PAWL_CLI_PLAIN), activity->version,
        pawl__descriptor_kind(activity), activity->category ? activity->category : "Other");
    if (activity->description)
        pawl__cli_print(&cli->out, "%s\n", activity->description);
    if (activity->input_count > 0)
        show_inputs(cli, activity);
    if (activity->output_count > 0)
        show_heading(cli, "Outputs");
    for (uint32_t i = 0; i < activity->output_count; i++) {
        show_key(cli, activity->outputs[i].name, activity->outputs[i].type);
        pawl__cli_print(&cli->out, " %s\n",
                        activity->outputs[i].description ? activity->outputs[i].description : "");
    }
    if (activity->port_count > 0)
        show_heading(cli, "Ports");
    for (uint32_t i = 0; i < activity->port_count; i++) {
        const struct pawl_port_descriptor *port = &activity->ports[i];

        pawl__cli_print(&cli->out, "  %-26s %s\n", port->name,
                        port->flow   ? "an outcome"
                        : port->many ? "a list of activities"
                                     : "an activity");
    }
}

static int show_one_json(struct pawl_cli *cli, const struct pawl_activity *activity)
{
    struct pawl_json_writer json;
    struct pawl_buf buf;

    pawl__buf_init(&buf, &cli->env->alloc, JSON_MAX);
    pawl__json_writer_init(&json, &buf, PAWL_JSON_ESCAPE_MINIMAL, 2);
    pawl__descriptor_write(&json, activity);
    return pawl__cli_write_json(cli, &buf);
}

/* By the whole type, or by its last part; without case. */
static const struct pawl_activity *find(const struct pawl_activity *const *list, size_t count,
                                        const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (pawl__str_equal_nocase(pawl__str(list[i]->type), pawl__str(name)) ||
            pawl__str_equal_nocase(pawl__descriptor_name(list[i]), pawl__str(name)))
            return list[i];
    }
    return NULL;
}

/* ---- the command ------------------------------------------------------------------------- */

static int fail_unknown(struct pawl_cli *cli, const struct pawl_activity *const *list, size_t count,
                        const char *name)
{
    const char **types = pawl__arena_alloc_array(&cli->arena, count + 1, sizeof(char *));
    const char *near = NULL;
    struct pawl_error err;

    if (types) {
        for (size_t i = 0; i < count; i++)
            types[i] = strchr(name, '.') ? list[i]->type : pawl__descriptor_name(list[i]).ptr;
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

static int run_with(struct pawl_cli *cli, const struct pawl_engine *engine)
{
    bool as_json = pawl__cli_flag(&cli->args, "json");
    const struct pawl_activity **list = NULL;
    const struct pawl_activity *one;
    struct pawl_error err;
    size_t count = 0;

    if (list_types(cli, engine, &list, &count, &err) != PAWL_OK)
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
    struct pawl_engine engine;
    struct pawl_error err = PAWL_ERROR_INIT;
    int code;

    if (pawl__cli_vocabulary(cli, &engine, &err) == PAWL_OK)
        code = run_with(cli, &engine);
    else
        code = pawl__cli_fail(cli, &err, NULL);
    pawl__engine_release(&engine);
    return code;
}

static const struct pawl_cli_option options[] = {
    {.name = "json",
     .kind = PAWL_CLI_FLAG,
     .help = "Print descriptors in the shape of the API, one or all"},
    {.name = "all", .kind = PAWL_CLI_FLAG, .help = "Also those that designers do not show"},
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
