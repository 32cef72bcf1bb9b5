/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of segments; see table.h. Literal children are in one map for all nodes, keyed by the
 * number of the parent and the text in lower case; other children are in a list of their parent, in
 * order. A node is met only by the path that leads to it, so that a search visits none twice.
 */
#include "base/route/table.h"

#include "base/alloc.h"
#include "base/error.h"

/* The number of the parent, in front of the text. */
#define KEY_NUMBER_BYTES 8
/* Of template.h. */
#define LITERAL_RANK 1
#define PARAMETER_RANK 3
#define REST_RANK 5
#define KEY_BYTES_MAX (KEY_NUMBER_BYTES + PAWL_ROUTE_TEMPLATE_BYTES_MAX)

/* One template: an entry of the map of all, and of the list of the node at which it ends. */
struct leaf {
    struct leaf *next;
    struct node *node;
    uint16_t len;
    char text[];
};

struct node {
    struct node *parent, *sibling;
    struct node *others; /* children that are no literals, in order */
    struct leaf *leaves; /* of the templates that end here, by text */
    uint64_t number;
    uint32_t children; /* of both kinds */
    uint16_t text_len;
    uint8_t rank; /* of the segment */
    bool absent;  /* a path may end before it */
    char text[];  /* of the segment; of a literal the key in the map */
};

struct pawl_route_table {
    struct pawl_allocator alloc;
    struct pawl_map literals; /* key to node */
    struct pawl_map leaves;   /* text to leaf */
    struct node *root;
    uint64_t last_number;
    size_t bytes;
};

/* ---- memory ------------------------------------------------------------------------------ */

static void *take(struct pawl_route_table *table, size_t size)
{
    void *ptr = pawl__alloc_zeroed(&table->alloc, size);

    if (ptr)
        table->bytes += size;
    return ptr;
}

static void give(struct pawl_route_table *table, void *ptr, size_t size)
{
    if (ptr)
        table->bytes -= size;
    pawl__free(&table->alloc, ptr, size);
}

static void free_node(struct pawl_route_table *table, struct node *node)
{
    give(table, node, sizeof *node + node->text_len);
}

static void free_leaf(struct pawl_route_table *table, struct leaf *leaf)
{
    give(table, leaf, sizeof *leaf + leaf->len);
}

int pawl__route_table_new(const struct pawl_allocator *alloc, struct pawl_hash_seed seed,
                          struct pawl_route_table **out)
{
    struct pawl_route_table *table = pawl__alloc_zeroed(alloc, sizeof *table);

    if (!table)
        return PAWL_ENOMEM;
    table->alloc = *alloc;
    pawl__map_init(&table->literals, &table->alloc, seed);
    pawl__map_init(&table->leaves, &table->alloc, seed);
    table->root = take(table, sizeof *table->root);
    if (!table->root) {
        pawl__route_table_free(table);
        return PAWL_ENOMEM;
    }
    *out = table;
    return PAWL_OK;
}

static void unlink_leaf(struct pawl_route_table *table, struct leaf *leaf);

void pawl__route_table_free(struct pawl_route_table *table)
{
    struct pawl_allocator alloc;
    struct pawl_map_entry *entry;

    if (!table)
        return;
    PAWL_MAP_FOR_EACH (entry, &table->leaves) {
        struct leaf *leaf = entry->value;

        unlink_leaf(table, leaf);
        free_leaf(table, leaf);
    }
    if (table->root)
        free_node(table, table->root);
    pawl__map_release(&table->leaves);
    pawl__map_release(&table->literals);
    alloc = table->alloc;
    pawl__free(&alloc, table, sizeof *table);
}

bool pawl__route_table_has(const struct pawl_route_table *table, struct pawl_str template)
{
    return pawl__map_has(&table->leaves, template);
}

uint32_t pawl__route_table_count(const struct pawl_route_table *table)
{
    return table->leaves.live_count;
}

static size_t map_bytes(const struct pawl_map *map)
{
    return map->slot_count * (sizeof *map->slots + sizeof *map->entries);
}

size_t pawl__route_table_bytes(const struct pawl_route_table *table)
{
    return sizeof *table + table->bytes + map_bytes(&table->literals) + map_bytes(&table->leaves);
}

/* ---- changing ---------------------------------------------------------------------------- */

static struct pawl_str node_text(const struct node *node)
{
    return pawl__str_make(node->text, node->text_len);
}

/* The number of the parent, then the segment in lower case, which is no longer than a template. */
static struct pawl_str make_key(const struct node *parent, struct pawl_str segment,
                                char out[KEY_BYTES_MAX])
{
    memcpy(out, &parent->number, KEY_NUMBER_BYTES);
    for (size_t i = 0; i < segment.len; i++) {
        char c = segment.ptr[i];

        out[KEY_NUMBER_BYTES + i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    return pawl__str_make(out, KEY_NUMBER_BYTES + segment.len);
}

/* Removes nodes that lead nowhere, from here up. */
static void prune(struct pawl_route_table *table, struct node *node)
{
    while (node->parent && !node->leaves && node->children == 0) {
        struct node *parent = node->parent;

        if (node->rank != LITERAL_RANK) {
            struct node **at = &parent->others;

            while (*at != node)
                at = &(*at)->sibling;
            *at = node->sibling;
        } else {
            (void)pawl__map_remove(&table->literals, node_text(node));
        }
        parent->children--;
        free_node(table, node);
        node = parent;
    }
}

static void unlink_leaf(struct pawl_route_table *table, struct leaf *leaf)
{
    struct leaf **at = &leaf->node->leaves;

    while (*at != leaf)
        at = &(*at)->next;
    *at = leaf->next;
    prune(table, leaf->node);
}

static void parse_segment(const struct node *node, struct pawl_route_template *out)
{
    /* It was part of a template, so that it is one by itself. */
    int status = pawl__route_template_parse(pawl__str_make(node->text, node->text_len), out, NULL);

    PAWL_ASSERT(status == PAWL_OK);
}

/* *order is 0: a node of the same shape is there. */
static struct node **place_of(struct node *parent, const struct pawl_route_template *template,
                              size_t segment, int *order)
{
    struct node **at = &parent->others;

    for (*order = 1; *at; at = &(*at)->sibling) {
        struct pawl_route_template other;

        parse_segment(*at, &other);
        *order = pawl__route_segment_compare(&other, 0, template, segment);
        if (*order >= 0)
            break;
    }
    return at;
}

static struct node *new_node(struct pawl_route_table *table, struct node *parent,
                             struct pawl_str text)
{
    struct node *node = take(table, sizeof *node + text.len);

    if (!node)
        return NULL;
    node->parent = parent;
    node->number = ++table->last_number;
    node->rank = LITERAL_RANK;
    node->text_len = (uint16_t)text.len;
    memcpy(node->text, text.ptr, text.len);
    return node;
}

static struct node *add_literal(struct pawl_route_table *table, struct node *parent,
                                struct pawl_str segment)
{
    char bytes[KEY_BYTES_MAX];
    struct pawl_str key = make_key(parent, segment, bytes);
    struct node *node = pawl__map_get(&table->literals, key);

    if (node)
        return node;
    node = new_node(table, parent, key);
    if (!node)
        return NULL;
    if (pawl__map_put(&table->literals, node_text(node), node) != PAWL_OK) {
        free_node(table, node);
        return NULL;
    }
    parent->children++;
    return node;
}

/* The node of a segment; NULL: no memory. */
static struct node *add_child(struct pawl_route_table *table, struct node *parent,
                              const struct pawl_route_template *template, size_t segment)
{
    struct pawl_str text = template->segments[segment].text;
    int rank = pawl__route_segment_rank(template, segment), order;
    struct node **at, *node;

    if (rank == LITERAL_RANK)
        return add_literal(table, parent, text);
    at = place_of(parent, template, segment, &order);
    if (order == 0)
        return *at;
    node = new_node(table, parent, text);
    if (!node)
        return NULL;
    node->rank = (uint8_t)rank;
    node->absent = pawl__route_segment_absent(template, segment);
    node->sibling = *at;
    *at = node;
    parent->children++;
    return node;
}

static struct leaf *add_leaf(struct pawl_route_table *table, struct node *node,
                             struct pawl_str text)
{
    struct leaf *leaf = take(table, sizeof *leaf + text.len), **at = &node->leaves;

    if (!leaf)
        return NULL;
    leaf->node = node;
    leaf->len = (uint16_t)text.len;
    memcpy(leaf->text, text.ptr, text.len);
    if (pawl__map_put(&table->leaves, pawl__str_make(leaf->text, leaf->len), leaf) != PAWL_OK) {
        free_leaf(table, leaf);
        return NULL;
    }
    while (*at && pawl__str_compare(pawl__str_make((*at)->text, (*at)->len), text) < 0)
        at = &(*at)->next;
    leaf->next = *at;
    *at = leaf;
    return leaf;
}

int pawl__route_table_add(struct pawl_route_table *table, struct pawl_str text, bool *added,
                          struct pawl_error *err)
{
    struct pawl_route_template template;
    struct node *node = table->root, *child = node;
    int status;

    if (added)
        *added = false;
    if (pawl__map_has(&table->leaves, text))
        return PAWL_OK;
    status = pawl__route_template_parse(text, &template, err);
    if (status != PAWL_OK)
        return status;
    if (table->leaves.live_count == PAWL_ROUTE_TABLE_TEMPLATES_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "there are %u routes, which is the most",
                               table->leaves.live_count);
    for (size_t i = 0; i < template.segment_count && child; i++) {
        child = add_child(table, node, &template, i);
        node = child ? child : node;
    }
    if (!child || !add_leaf(table, node, text)) {
        prune(table, node);
        return pawl__error_code(err, PAWL_ENOMEM);
    }
    if (added)
        *added = true;
    return PAWL_OK;
}

bool pawl__route_table_remove(struct pawl_route_table *table, struct pawl_str template)
{
    struct leaf *leaf = pawl__map_remove(&table->leaves, template);

    if (!leaf)
        return false;
    unlink_leaf(table, leaf);
    free_leaf(table, leaf);
    return true;
}

void pawl__route_table_each(const struct pawl_route_table *table, pawl_route_visit visit, void *ctx)
{
    struct pawl_map_entry *entry;

    PAWL_MAP_FOR_EACH (entry, &table->leaves) {
        if (visit(entry->key, ctx))
            return;
    }
}

/* ---- finding ----------------------------------------------------------------------------- */

struct search {
    const struct pawl_route_table *table;
    const struct pawl_route_path *path;
    pawl_route_visit visit;
    void *ctx;
};

static bool visit_leaves(const struct search *search, const struct node *node)
{
    for (const struct leaf *leaf = node->leaves; leaf; leaf = leaf->next) {
        if (search->visit(pawl__str_make(leaf->text, leaf->len), search->ctx))
            return true;
    }
    return false;
}

/* The path has ended; what may be left out is tried. Goes as deep as the longest template. */
static bool find_end(const struct search *search, const struct node *node)
{
    if (visit_leaves(search, node))
        return true;
    for (const struct node *child = node->others; child; child = child->sibling) {
        if (child->absent && find_end(search, child))
            return true;
    }
    return false;
}

static const struct node *find_literal(const struct search *search, const struct node *parent,
                                       struct pawl_str segment)
{
    char key[KEY_BYTES_MAX];

    if (segment.len > PAWL_ROUTE_TEMPLATE_BYTES_MAX)
        return NULL;
    return pawl__map_get(&search->table->literals, make_key(parent, segment, key));
}

/* Whether the segment at `at`, or for a rest all from there, is one of the node's. */
static bool fits(const struct search *search, const struct node *node, size_t at)
{
    struct pawl_route_template segment;
    struct pawl_str text = search->path->segments[at];

    if (node->rank == PARAMETER_RANK || node->rank == REST_RANK)
        return true;
    if (node->rank > PARAMETER_RANK)
        text.len = (size_t)(search->path->text.ptr + search->path->text.len - text.ptr);
    parse_segment(node, &segment);
    return pawl__route_segment_match(&segment, 0, text, NULL);
}

static bool find(const struct search *search, const struct node *node, size_t at)
{
    const struct node *child;

    if (at == search->path->count)
        return find_end(search, node);
    child = find_literal(search, node, search->path->segments[at]);
    if (child && find(search, child, at + 1))
        return true;
    for (child = node->others; child; child = child->sibling) {
        if (fits(search, child, at) && (child->rank > PARAMETER_RANK ? visit_leaves(search, child)
                                                                     : find(search, child, at + 1)))
            return true;
    }
    return false;
}

bool pawl__route_table_match(const struct pawl_route_table *table,
                             const struct pawl_route_path *path, pawl_route_visit visit, void *ctx)
{
    struct search search = {.table = table, .path = path, .visit = visit, .ctx = ctx};

    return find(&search, table->root, 0);
}
