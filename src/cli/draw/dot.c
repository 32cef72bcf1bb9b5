/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph as Graphviz text. Every activity is a node named by its index; one that has children
 * also stands at the head of a cluster around them.
 */
#include "cli/draw/draw.h"

struct pawl_str pawl__draw_type(const struct pawl_outline_node *node)
{
    for (size_t i = node->type.len; i > 0; i--) {
        if (node->type.ptr[i - 1] == '.')
            return pawl__str_slice(node->type, i, node->type.len);
    }
    return node->type;
}

bool pawl__draw_plain_port(const struct pawl_outline_node *node)
{
    return node->port.len == 0 || pawl__str_is(node->port, "Root") ||
           pawl__str_is(node->port, "Activities") || pawl__str_is(node->port, "Branches");
}

static void put_label(struct pawl_buf *out, struct pawl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c == '"' || c == '\\')
            pawl__buf_byte(out, '\\');
        pawl__buf_byte(out, c < 0x20 ? ' ' : (char)c);
    }
}

static void put_node(struct pawl_buf *out, const struct pawl_outline_node *node)
{
    pawl__buf_printf(out, "n%u [label=\"", node->index);
    put_label(out, node->id);
    pawl__buf_text(out, "\\n");
    put_label(out, pawl__draw_type(node));
    if (node->name.len > 0) {
        pawl__buf_text(out, "\\n");
        put_label(out, node->name);
    }
    pawl__buf_byte(out, '"');
    if (node->is_start)
        pawl__buf_text(out, ", fillcolor=\"#fff3c4\"");
    if (node->child_count > 0)
        pawl__buf_text(out, ", shape=plaintext, style=\"\"");
    pawl__buf_text(out, "];\n");
}

static void put_edge(struct pawl_buf *out, uint32_t from, uint32_t to, struct pawl_str label,
                     const char *style)
{
    pawl__buf_printf(out, "n%u -> n%u [label=\"", from, to);
    put_label(out, label);
    pawl__buf_printf(out, "\"%s];\n", style);
}

static void put_links(struct pawl_buf *out, const struct pawl_outline_node *flowchart)
{
    for (uint32_t i = 0; i < flowchart->link_count; i++) {
        const struct pawl_outline_link *link = &flowchart->links[i];

        if (link->from && link->to)
            put_edge(out, link->from->index, link->to->index, link->source_port, "");
    }
}

static void put_edges(struct pawl_buf *out, const struct pawl_outline_node *node)
{
    if (node->is_flowchart) {
        put_links(out, node);
        return;
    }
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct pawl_outline_node *child = node->children[i];

        if (node->is_sequence && i > 0)
            put_edge(out, node->children[i - 1]->index, child->index, pawl__str(""), "");
        else
            put_edge(out, node->index, child->index,
                     pawl__draw_plain_port(child) ? pawl__str("") : child->port, ", style=dashed");
    }
}

void pawl__draw_dot(struct pawl_buf *out, const struct pawl_outline *outline)
{
    const struct pawl_outline_node *open = NULL; /* innermost cluster */

    pawl__buf_text(out, "digraph workflow {\n"
                        "node [shape=box, style=\"rounded,filled\", fillcolor=white, "
                        "fontname=\"sans-serif\", fontsize=11];\n"
                        "edge [fontname=\"sans-serif\", fontsize=9];\n"
                        "graph [fontname=\"sans-serif\", fontsize=11, color=gray];\n");
    for (uint32_t i = 0; i < outline->count; i++) {
        const struct pawl_outline_node *node = &outline->nodes[i];

        for (; open && open != node->parent; open = open->parent)
            pawl__buf_text(out, "}\n");
        if (node->child_count > 0) {
            pawl__buf_printf(out, "subgraph cluster_%u {\n", i);
            put_node(out, node);
            open = node;
        } else {
            put_node(out, node);
        }
    }
    for (; open; open = open->parent)
        pawl__buf_text(out, "}\n");
    for (uint32_t i = 0; i < outline->count; i++)
        put_edges(out, &outline->nodes[i]);
    pawl__buf_text(out, "}\n");
}
