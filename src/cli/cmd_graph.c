/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl graph FILE`: a definition as a tree, as Graphviz text or as a picture. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/output.h"
#include "cli/draw/draw.h"
#include "cli/session/definitions.h"

#include <inttypes.h>

#define PICTURE_MAX ((size_t)256 << 20)

/* ---- the tree ---------------------------------------------------------------------------- */

static bool is_last(const struct pawl_outline_node *node)
{
    return node->parent->children[node->parent->child_count - 1] == node;
}

/* The lines that run past a node's own line, from the outermost in. */
static void show_rails(struct pawl_cli_stream *out, const struct pawl_outline_node *node)
{
    if (!node->parent)
        return;
    show_rails(out, node->parent);
    pawl__cli_print(out, "%s", is_last(node) ? "   " : "│  ");
}

static void show_id(struct pawl_cli_stream *out, struct pawl_str id)
{
    pawl__cli_print(out, "%s", pawl__cli_style(out, PAWL_CLI_BOLD));
    pawl__cli_write_safe(out, id);
    pawl__cli_print(out, "%s", pawl__cli_style(out, PAWL_CLI_PLAIN));
}

static void show_node(struct pawl_cli_stream *out, const struct pawl_outline_node *node)
{
    if (node->parent) {
        show_rails(out, node->parent);
        pawl__cli_print(out, "%s", is_last(node) ? "└─ " : "├─ ");
    }
    if (!pawl__draw_plain_port(node)) {
        pawl__cli_write_safe(out, node->port);
        pawl__cli_print(out, ": ");
    }
    show_id(out, node->id);
    pawl__cli_print(out, "  ");
    pawl__cli_write_safe(out, node->type);
    if (node->name.len > 0) {
        pawl__cli_print(out, "  \"");
        pawl__cli_write_safe(out, node->name);
        pawl__cli_print(out, "\"");
    }
    if (node->is_workflow) {
        pawl__cli_print(out, "  \"");
        pawl__cli_write_safe(out, node->workflow_name);
        pawl__cli_print(out, "\" version %" PRId64, node->workflow_version);
    }
    if (node->is_start)
        pawl__cli_print(out, "  (starts the workflow)");
    if (node->is_unknown)
        pawl__cli_print(out, "  %s(unknown type)%s", pawl__cli_style(out, PAWL_CLI_RED),
                        pawl__cli_style(out, PAWL_CLI_PLAIN));
    pawl__cli_print(out, "\n");
}

static void show_links(struct pawl_cli_stream *out, const struct pawl_outline_node *flowchart)
{
    for (uint32_t i = 0; i < flowchart->link_count; i++) {
        const struct pawl_outline_link *link = &flowchart->links[i];

        show_rails(out, flowchart);
        pawl__cli_print(out, "   %s", pawl__cli_style(out, PAWL_CLI_DIM));
        pawl__cli_write_safe(out, link->source);
        pawl__cli_print(out, " ─");
        pawl__cli_write_safe(out, link->source_port);
        pawl__cli_print(out, "→ ");
        pawl__cli_write_safe(out, link->target);
        pawl__cli_print(out, "%s\n", pawl__cli_style(out, PAWL_CLI_PLAIN));
    }
}

/* Connections stand behind the last activity of their flowchart. */
static void show_tree(struct pawl_cli *cli, const struct pawl_outline *outline)
{
    const struct pawl_outline_node *open = NULL;

    for (uint32_t i = 0; i <= outline->count; i++) {
        const struct pawl_outline_node *node = i < outline->count ? &outline->nodes[i] : NULL;

        for (; open && open != (node ? node->parent : NULL); open = open->parent) {
            if (open->is_flowchart)
                show_links(&cli->out, open);
        }
        if (node)
            show_node(&cli->out, node);
        open = node;
    }
}

/* ---- the command ------------------------------------------------------------------------- */

static int show_picture(struct pawl_cli *cli, const struct pawl_outline *outline, bool dot)
{
    struct pawl_error err;
    struct pawl_buf out;
    int status = PAWL_OK;
    int code = PAWL_CLI_EXIT_OK;

    pawl__buf_init(&out, &cli->env->alloc, PICTURE_MAX);
    if (dot)
        pawl__draw_dot(&out, outline);
    else
        status = pawl__draw_svg(&out, outline);
    if (status == PAWL_OK)
        status = out.status;
    if (status == PAWL_OK) {
        pawl__cli_write(&cli->out, pawl__buf_peek(&out));
    } else {
        (void)pawl__error_code(&err, status);
        code = pawl__cli_fail(cli, &err, NULL);
    }
    pawl__buf_release(&out);
    return code;
}

/* The file itself, and those that it may use as activities. */
static int read_files(struct pawl_cli *cli, struct pawl_offline *offline,
                      struct pawl_cli_definition *main_file, struct pawl_error *err)
{
    const char *path;
    size_t at = 0;
    int status = pawl__cli_definitions_read(cli, offline, cli->args.operands[0], main_file, err);

    while (status == PAWL_OK && (path = pawl__cli_next(&cli->args, "with", &at))) {
        struct pawl_cli_definition *kept = pawl__arena_alloc(&cli->arena, sizeof *kept);

        if (!kept)
            return pawl__error_code(err, cli->arena.status);
        status = pawl__cli_definitions_read(cli, offline, path, kept, err);
        if (status == PAWL_OK && kept->status != PAWL_OK) {
            *err = kept->err;
            return pawl__error_prefix(err, kept->status, "%s", path);
        }
    }
    if (status == PAWL_OK && main_file->status != PAWL_OK) {
        *err = main_file->err;
        return pawl__error_prefix(err, main_file->status, "%s",
                                  pawl__cli_file_name(main_file->path));
    }
    return status;
}

static int show(struct pawl_cli *cli, const struct pawl_outline *outline)
{
    if (pawl__cli_flag(&cli->args, "dot") || pawl__cli_flag(&cli->args, "svg"))
        return show_picture(cli, outline, pawl__cli_flag(&cli->args, "dot"));
    show_tree(cli, outline);
    return PAWL_CLI_EXIT_OK;
}

static int run(struct pawl_cli *cli)
{
    struct pawl_offline *offline = NULL;
    struct pawl_cli_definition file;
    struct pawl_outline outline;
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = pawl__offline_open(cli->env, NULL, &cli->arena, &offline, &err);
    int code;

    if (status == PAWL_OK)
        status = read_files(cli, offline, &file, &err);
    if (status == PAWL_OK) {
        status = pawl__offline_outline(offline, &file.json, &outline, &err);
        if (status != PAWL_OK)
            (void)pawl__error_prefix(&err, status, "%s", pawl__cli_file_name(file.path));
    }
    code = status == PAWL_OK ? show(cli, &outline)
                             : pawl__cli_fail(cli, &err, "'pawl validate' lists all problems");
    pawl__offline_close(offline);
    return code;
}

static const struct pawl_cli_option options[] = {
    {.name = "dot", .kind = PAWL_CLI_FLAG, .help = "Print Graphviz text"},
    {.name = "svg", .kind = PAWL_CLI_FLAG, .help = "Print an SVG picture"},
    {.name = "with",
     .kind = PAWL_CLI_TEXT,
     .arg = "FILE",
     .help = "A definition that FILE uses as an activity; may be repeated",
     .repeatable = true},
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_graph = {
    .name = "graph",
    .summary = "Draw a workflow definition",
    .operands = "FILE",
    .help = "Prints the activities as a tree: id, type and name, the port if relevant, and the\n"
            "connections of flowcharts. '-' is standard input.\n",
    .options = options,
    .run = run,
};
