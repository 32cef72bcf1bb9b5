/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A definition as an SVG picture. Sizes are worked out from the innermost activities outward, which
 * in a pre-order list means from its end; then positions from the outermost inward. No recursion.
 */
#include "cli/draw/draw.h"
#include "cli/draw/layers.h"

/* Pixels. Letters are of a monospaced font of size 12. */
#define LETTER 8
#define LINE 16
#define PAD 14
#define HEAD 28 /* the title of a frame */
#define GAP_X 28
#define GAP_Y 34
#define LABEL 18
#define LETTERS_MAX 48
#define SCRATCH_MAX ((size_t)512 << 20)

struct box {
    int32_t x, y; /* first within the parent, then in the picture */
    int32_t w, h;
};

struct drawing {
    struct pawl_buf *out;
    struct pawl_arena arena;
    const struct pawl_outline *outline;
    struct box *boxes;   /* by node index */
    uint32_t *positions; /* by node index: among its parent's children */
};

static struct box *box_of(const struct drawing *d, const struct pawl_outline_node *node)
{
    return &d->boxes[node->index];
}

static int32_t max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t letters(struct pawl_str text)
{
    int32_t count = 0;

    for (size_t i = 0; i < text.len && count < LETTERS_MAX; i++)
        count += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    return count;
}

static bool has_label(const struct pawl_outline_node *node)
{
    return node->parent && !pawl__draw_plain_port(node);
}

/* ---- sizes ------------------------------------------------------------------------------- */

static void size_leaf(const struct drawing *d, const struct pawl_outline_node *node)
{
    int32_t wide = max(letters(node->id), letters(pawl__draw_type(node)));

    box_of(d, node)->w = max(wide, letters(node->name)) * LETTER + 2 * PAD;
    box_of(d, node)->h = (node->name.len > 0 ? 3 : 2) * LINE + PAD;
}

/* What the children of a frame may use: their own width, and not less than the title needs. */
static int32_t inner_width(const struct pawl_outline_node *node, int32_t w)
{
    return max(w, (letters(node->id) + letters(pawl__draw_type(node)) + 2) * LETTER);
}

static void frame(const struct drawing *d, const struct pawl_outline_node *node, int32_t w,
                  int32_t h)
{
    box_of(d, node)->w = w + 2 * PAD;
    box_of(d, node)->h = h + HEAD + PAD;
}

static void size_column(const struct drawing *d, const struct pawl_outline_node *node)
{
    int32_t w = 0, h = 0;

    for (uint32_t i = 0; i < node->child_count; i++)
        w = max(w, box_of(d, node->children[i])->w);
    w = inner_width(node, w);
    for (uint32_t i = 0; i < node->child_count; i++) {
        struct box *box = box_of(d, node->children[i]);

        h += (i > 0 ? GAP_Y : 0) + (has_label(node->children[i]) ? LABEL : 0);
        box->x = PAD + (w - box->w) / 2;
        box->y = HEAD + h;
        h += box->h;
    }
    frame(d, node, w, h);
}

static void size_row(const struct drawing *d, const struct pawl_outline_node *node)
{
    int32_t top = has_label(node->children[0]) ? LABEL : 0;
    int32_t w = (int32_t)(node->child_count - 1) * GAP_X;
    int32_t x, h = 0;

    for (uint32_t i = 0; i < node->child_count; i++)
        w += box_of(d, node->children[i])->w;
    x = (inner_width(node, w) - w) / 2;
    for (uint32_t i = 0; i < node->child_count; i++) {
        struct box *box = box_of(d, node->children[i]);

        box->x = PAD + x;
        box->y = HEAD + top;
        x += box->w + GAP_X;
        h = max(h, top + box->h);
    }
    frame(d, node, inner_width(node, w), h);
}

/* ---- flowcharts -------------------------------------------------------------------------- */

struct flow {
    struct pawl_layer_edge *edges;
    uint32_t edge_count;
    uint32_t *layer;
    uint32_t *place;
    int32_t *widths;  /* per layer */
    int32_t *heights; /* per layer */
    uint32_t *by_place;
    uint32_t layer_count;
};

static int read_edges(struct drawing *d, const struct pawl_outline_node *node, struct flow *flow)
{
    flow->edges = pawl__arena_alloc_array(&d->arena, node->link_count, sizeof *flow->edges);
    if (!flow->edges)
        return d->arena.status;
    for (uint32_t i = 0; i < node->link_count; i++) {
        const struct pawl_outline_link *link = &node->links[i];

        if (link->from && link->to)
            flow->edges[flow->edge_count++] = (struct pawl_layer_edge){
                .from = d->positions[link->from->index], .to = d->positions[link->to->index]};
    }
    return PAWL_OK;
}

static int make_layers(struct drawing *d, const struct pawl_outline_node *node, struct flow *flow)
{
    uint32_t count = node->child_count;
    int status;

    flow->layer = pawl__arena_alloc_array(&d->arena, count, sizeof *flow->layer);
    flow->place = pawl__arena_alloc_array(&d->arena, count, sizeof *flow->place);
    flow->widths = pawl__arena_alloc_zeroed(&d->arena, count * sizeof *flow->widths);
    flow->heights = pawl__arena_alloc_zeroed(&d->arena, count * sizeof *flow->heights);
    if (d->arena.status != PAWL_OK)
        return d->arena.status;
    status = pawl__layers_make(&d->arena, count, flow->edges, flow->edge_count, flow->layer,
                               flow->place);
    if (status != PAWL_OK)
        return status;
    for (uint32_t i = 0; i < count; i++) {
        const struct box *box = box_of(d, node->children[i]);
        uint32_t layer = flow->layer[i];

        flow->widths[layer] += box->w + (flow->widths[layer] > 0 ? GAP_X : 0);
        flow->heights[layer] = max(flow->heights[layer], box->h);
        if (layer + 1 > flow->layer_count)
            flow->layer_count = layer + 1;
    }
    return PAWL_OK;
}

/* Children by layer and place: a counting sort over the layers, then each at its place. */
static int order_children(struct drawing *d, uint32_t count, struct flow *flow)
{
    uint32_t *start = pawl__arena_alloc_zeroed(&d->arena, (flow->layer_count + 1) * sizeof *start);

    flow->by_place = pawl__arena_alloc_array(&d->arena, count, sizeof *flow->by_place);
    if (!start || !flow->by_place)
        return d->arena.status;
    for (uint32_t i = 0; i < count; i++)
        start[flow->layer[i] + 1]++;
    for (uint32_t l = 0; l < flow->layer_count; l++)
        start[l + 1] += start[l];
    for (uint32_t i = 0; i < count; i++)
        flow->by_place[start[flow->layer[i]] + flow->place[i]] = i;
    return PAWL_OK;
}

static int size_flow(struct drawing *d, const struct pawl_outline_node *node)
{
    struct flow flow = {.edges = NULL};
    int32_t widest = 0, x = 0, y = 0;
    uint32_t layer = UINT32_MAX;
    int status;

    for (uint32_t i = 0; i < node->child_count; i++)
        d->positions[node->children[i]->index] = i;
    status = read_edges(d, node, &flow);
    if (status == PAWL_OK)
        status = make_layers(d, node, &flow);
    if (status == PAWL_OK)
        status = order_children(d, node->child_count, &flow);
    if (status != PAWL_OK)
        return status;
    for (uint32_t l = 0; l < flow.layer_count; l++)
        widest = max(widest, flow.widths[l]);
    widest = inner_width(node, widest);
    for (uint32_t i = 0; i < node->child_count; i++) {
        uint32_t child = flow.by_place[i];
        struct box *box = box_of(d, node->children[child]);

        if (flow.layer[child] != layer) {
            y += layer == UINT32_MAX ? 0 : flow.heights[layer] + GAP_Y + LABEL;
            layer = flow.layer[child];
            x = (widest - flow.widths[layer]) / 2;
        }
        box->x = PAD + x;
        box->y = HEAD + y;
        x += box->w + GAP_X;
    }
    /* Room at the right for the connections that lead back up. */
    frame(d, node, widest + GAP_X, y + flow.heights[layer]);
    return PAWL_OK;
}

static int size_node(struct drawing *d, const struct pawl_outline_node *node)
{
    if (node->child_count == 0)
        size_leaf(d, node);
    else if (node->is_flowchart)
        return size_flow(d, node);
    else if (node->child_count == 1 || node->is_sequence)
        size_column(d, node);
    else
        size_row(d, node);
    return PAWL_OK;
}

/* ---- drawing ----------------------------------------------------------------------------- */

static void put_xml(struct pawl_buf *out, struct pawl_str text)
{
    int32_t count = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        count += (c & 0xC0) != 0x80;
        if (count > LETTERS_MAX) {
            pawl__buf_text(out, "…");
            return;
        }
        if (c == '<')
            pawl__buf_text(out, "&lt;");
        else if (c == '&')
            pawl__buf_text(out, "&amp;");
        else
            pawl__buf_byte(out, c < 0x20 ? ' ' : (char)c);
    }
}

static void put_text(struct drawing *d, int32_t x, int32_t y, const char *class_name,
                     struct pawl_str text)
{
    pawl__buf_printf(d->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class_name, x, y);
    put_xml(d->out, text);
    pawl__buf_text(d->out, "</text>\n");
}

static const char *class_of(const struct pawl_outline_node *node)
{
    if (node->is_unknown)
        return "missing";
    if (node->is_start)
        return "trigger";
    return node->child_count > 0 ? "frame" : "leaf";
}

static void put_node(struct drawing *d, const struct pawl_outline_node *node)
{
    const struct box *box = box_of(d, node);
    int32_t middle = box->x + box->w / 2;

    pawl__buf_printf(d->out,
                     "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n",
                     class_of(node), box->x, box->y, box->w, box->h);
    if (has_label(node))
        put_text(d, middle, box->y - 5, "label middle", node->port);
    if (node->child_count > 0) {
        put_text(d, box->x + PAD, box->y + LINE + 2, "id", node->id);
        put_text(d, box->x + PAD + (letters(node->id) + 1) * LETTER, box->y + LINE + 2, "type",
                 pawl__draw_type(node));
        return;
    }
    put_text(d, middle, box->y + LINE + 3, "id middle", node->id);
    put_text(d, middle, box->y + 2 * LINE + 3, "type middle", pawl__draw_type(node));
    if (node->name.len > 0)
        put_text(d, middle, box->y + 3 * LINE + 3, "label middle", node->name);
}

/* Down: from the foot of one to the head of the other. Up: around their right sides. */
static void put_edge(struct drawing *d, const struct pawl_outline_node *from,
                     const struct pawl_outline_node *to, struct pawl_str label)
{
    const struct box *a = box_of(d, from), *b = box_of(d, to);
    int32_t x1 = a->x + a->w / 2, y1 = a->y + a->h;
    int32_t x2 = b->x + b->w / 2, y2 = b->y;

    if (y2 >= y1) {
        int32_t bend = (y2 - y1) / 2;

        pawl__buf_printf(d->out, "<path class=\"edge\" d=\"M%d %dC%d %d %d %d %d %d\"/>\n", x1, y1,
                         x1, y1 + bend, x2, y2 - bend, x2, y2 - 2);
        /* In the middle of a short one; of a long one near its source, off the boxes between. */
        if (label.len > 0 && bend <= GAP_Y + LABEL)
            put_text(d, (x1 + x2) / 2 + 4, y1 + bend + 4, "label", label);
        else if (label.len > 0)
            put_text(d, x1 + 4, y1 + LABEL, "label", label);
        return;
    }
    x1 = a->x + a->w;
    x2 = b->x + b->w;
    y1 = a->y + a->h / 2;
    y2 = b->y + b->h / 2;
    pawl__buf_printf(d->out, "<path class=\"edge back\" d=\"M%d %dC%d %d %d %d %d %d\"/>\n", x1, y1,
                     max(x1, x2) + GAP_X, y1, max(x1, x2) + GAP_X, y2, x2 + 2, y2);
    if (label.len > 0)
        put_text(d, x1 + 6, y1 - 4, "label", label);
}

static void put_edges(struct drawing *d, const struct pawl_outline_node *node)
{
    for (uint32_t i = 1; node->is_sequence && i < node->child_count; i++)
        put_edge(d, node->children[i - 1], node->children[i], pawl__str(""));
    for (uint32_t i = 0; i < node->link_count; i++) {
        const struct pawl_outline_link *link = &node->links[i];

        if (link->from && link->to)
            put_edge(d, link->from, link->to, link->source_port);
    }
}

static const char style[] =
    "<style>\n"
    "text{font:12px ui-monospace,'DejaVu Sans Mono',monospace;fill:#1f2933}\n"
    ".id{font-weight:bold}.type{fill:#52606d}.label{font-size:11px;fill:#7b8794}\n"
    ".middle{text-anchor:middle}\n"
    "rect{stroke:#9aa5b1;fill:#fff}.frame{fill:#f5f7fa}.trigger{fill:#fff3c4;stroke:#cb6e17}\n"
    ".missing{fill:#ffe3e3;stroke:#ba2525;stroke-dasharray:4 3}\n"
    ".edge{fill:none;stroke:#52606d;marker-end:url(#tip)}.back{stroke-dasharray:5 3}\n"
    "</style>\n"
    "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" "
    "markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#52606d\"/></marker>"
    "</defs>\n";

static void draw(struct drawing *d)
{
    const struct pawl_outline *outline = d->outline;
    int32_t w = d->boxes[0].w + 2 * PAD, h = d->boxes[0].h + 2 * PAD;

    d->boxes[0].x = d->boxes[0].y = PAD;
    for (uint32_t i = 1; i < outline->count; i++) {
        d->boxes[i].x += box_of(d, outline->nodes[i].parent)->x;
        d->boxes[i].y += box_of(d, outline->nodes[i].parent)->y;
    }
    pawl__buf_printf(d->out,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                     "viewBox=\"0 0 %d %d\">\n",
                     w, h, w, h);
    pawl__buf_text(d->out, style);
    for (uint32_t i = 0; i < outline->count; i++)
        put_node(d, &outline->nodes[i]);
    for (uint32_t i = 0; i < outline->count; i++)
        put_edges(d, &outline->nodes[i]);
    pawl__buf_text(d->out, "</svg>\n");
}

int pawl__draw_svg(struct pawl_buf *out, const struct pawl_outline *outline)
{
    struct drawing d = {.out = out, .outline = outline};
    int status;

    pawl__arena_init(&d.arena, out->alloc, SCRATCH_MAX);
    d.boxes = pawl__arena_alloc_zeroed(&d.arena, outline->count * sizeof *d.boxes);
    d.positions = pawl__arena_alloc_zeroed(&d.arena, outline->count * sizeof *d.positions);
    status = d.arena.status;
    for (uint32_t i = outline->count; i > 0 && status == PAWL_OK; i--)
        status = size_node(&d, &outline->nodes[i - 1]);
    if (status == PAWL_OK)
        draw(&d);
    pawl__arena_release(&d.arena);
    return status;
}
