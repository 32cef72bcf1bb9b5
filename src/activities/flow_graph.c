/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forward connections of a flowchart are found by a breadth-first walk that never closes a
 * circle. Whether a connection would close one is asked in three steps, cheapest first:
 *
 *   1. the target has not been expanded yet: it leads nowhere, so it cannot lead to the source;
 *   2. the target is above the source in the tree of first arrivals: it does (a plain loop);
 *   3. else two searches, forward from the target and backward from the source, proceed in lockstep
 *      until they meet or the smaller one has seen all there is.
 *
 * Steps 1 and 2 decide nearly everything that people draw.
 */
#include "activities/flow_graph.h"

#include "base/alloc.h"

/* An accepted pair (source, target); all connections of the pair are forward. */
struct pair {
    uint32_t source;
    uint32_t target;
    uint32_t next_out; /* further pairs of the source, of the target; NONE ends */
    uint32_t next_in;
    uint32_t first_connection;
    uint32_t last_connection;
};

struct builder {
    struct pawl_arena scratch; /* dies with the build */
    struct pawl_flow_graph *graph;
    struct pair *pairs;
    uint32_t pair_count;
    uint32_t *next_connection; /* of the same pair; by connection */

    /* By activity. */
    uint32_t *first_out; /* pairs */
    uint32_t *first_in;
    bool *reached;
    bool *expanded;
    uint32_t *tried_by;   /* the source that last tried this target, + 1 */
    uint32_t *tried_pair; /* and the pair it got; NONE: refused */

    /* The tree of first arrivals, with jumps so that a walk up takes few steps. */
    uint32_t *parent;
    uint32_t *depth;
    uint32_t *jump;

    uint32_t *queue;
    uint32_t *seen_ahead; /* by activity: the number of the search that saw it */
    uint32_t *seen_back;
    uint32_t *queue_ahead;
    uint32_t *queue_back;
    uint32_t search;
};

/* ---- lists by activity ------------------------------------------------------------------ */

/* Sorts `order` (NULL: 0, 1, 2, …) by one end of the connections, keeping the order of equals. */
static int lists_make(struct pawl_arena *arena, const struct pawl_flow_graph *graph,
                      const uint32_t *order, uint32_t count, bool by_target,
                      struct pawl_flow_lists *out)
{
    size_t activities = graph->activity_count;
    uint32_t *from = pawl__arena_alloc_zeroed(arena, (activities + 2) * sizeof *from);
    uint32_t *items = pawl__arena_alloc_array(arena, (size_t)count + 1, sizeof *items);

    if (!from || !items)
        return pawl__flow_refused(arena);
    /* Counted one place too far, so that filling moves each start to where the list begins. */
    for (uint32_t i = 0; i < count; i++) {
        const struct pawl_flow_connection *c = &graph->connections[order ? order[i] : i];

        from[(by_target ? c->target : c->source) + 2]++;
    }
    for (size_t i = 2; i < activities + 2; i++)
        from[i] += from[i - 1];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = order ? order[i] : i;
        const struct pawl_flow_connection *c = &graph->connections[number];

        items[from[(by_target ? c->target : c->source) + 1]++] = number;
    }
    *out = (struct pawl_flow_lists){.from = from, .items = items};
    return PAWL_OK;
}

/* ---- would it close a circle? ----------------------------------------------------------- */

static void hang_under(struct builder *b, uint32_t child, uint32_t parent)
{
    uint32_t up = b->jump[parent];

    b->reached[child] = true;
    b->parent[child] = parent;
    b->depth[child] = b->depth[parent] + 1;
    /* Jump lengths 1, 1, 3, 1, 1, 3, 7, …: any height is reached in O(log n) steps. */
    if (b->depth[parent] - b->depth[up] == b->depth[up] - b->depth[b->jump[up]])
        b->jump[child] = b->jump[up];
    else
        b->jump[child] = parent;
}

static bool is_above(const struct builder *b, uint32_t above, uint32_t activity)
{
    while (b->depth[activity] > b->depth[above]) {
        uint32_t up = b->jump[activity];

        activity = b->depth[up] >= b->depth[above] ? up : b->parent[activity];
    }
    return activity == above;
}

/* One of the two searches; `ahead` follows the pairs, the other goes against them. */
struct search {
    const struct builder *b;
    bool ahead;
    uint32_t *queue;
    uint32_t head;
    uint32_t tail;
    uint32_t pair; /* the next one to look at; NONE: take the next activity */
    uint32_t *seen;
    const uint32_t *seen_by_other;
};

enum search_result { SEARCH_MORE, SEARCH_MET, SEARCH_OVER };

static struct search search_begin(struct builder *b, bool ahead, uint32_t activity)
{
    struct search s = {
        .b = b,
        .ahead = ahead,
        .queue = ahead ? b->queue_ahead : b->queue_back,
        .tail = 1,
        .pair = PAWL_FLOW_NONE,
        .seen = ahead ? b->seen_ahead : b->seen_back,
        .seen_by_other = ahead ? b->seen_back : b->seen_ahead,
    };

    s.queue[0] = activity;
    s.seen[activity] = b->search;
    return s;
}

/* Looks along one pair. */
static enum search_result search_step(struct search *s)
{
    const struct builder *b = s->b;
    const struct pair *pair;
    uint32_t activity;

    while (s->pair == PAWL_FLOW_NONE) {
        if (s->head == s->tail)
            return SEARCH_OVER;
        activity = s->queue[s->head++];
        s->pair = s->ahead ? b->first_out[activity] : b->first_in[activity];
    }
    pair = &b->pairs[s->pair];
    s->pair = s->ahead ? pair->next_out : pair->next_in;
    activity = s->ahead ? pair->target : pair->source;
    if (s->seen_by_other[activity] == b->search)
        return SEARCH_MET;
    if (s->seen[activity] != b->search) {
        s->seen[activity] = b->search;
        s->queue[s->tail++] = activity;
    }
    return SEARCH_MORE;
}

/* Whether accepted pairs lead from `from` to `to`. */
static bool leads_to(struct builder *b, uint32_t from, uint32_t to)
{
    enum search_result result = SEARCH_MORE;
    struct search ahead;
    struct search back;

    if (from == to)
        return true;
    if (!b->expanded[from])
        return false;
    if (is_above(b, from, to))
        return true;
    b->search++;
    ahead = search_begin(b, true, from);
    back = search_begin(b, false, to);
    while (result == SEARCH_MORE) {
        result = search_step(&ahead);
        if (result == SEARCH_MORE)
            result = search_step(&back);
    }
    return result == SEARCH_MET;
}

/* ---- the walk --------------------------------------------------------------------------- */

static int builder_init(struct builder *b, struct pawl_arena *arena, struct pawl_flow_graph *graph)
{
    size_t n = (size_t)graph->activity_count + 1;
    size_t m = (size_t)graph->connection_count + 1;
    uint32_t **arrays[] = {
        &b->first_out,  &b->first_in,  &b->tried_by,    &b->tried_pair,
        &b->parent,     &b->depth,     &b->jump,        &b->queue,
        &b->seen_ahead, &b->seen_back, &b->queue_ahead, &b->queue_back,
    };

    *b = (struct builder){.graph = graph};
    pawl__arena_init(&b->scratch, arena->alloc, arena->max_bytes);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        *arrays[i] = pawl__arena_alloc_zeroed(&b->scratch, n * sizeof(uint32_t));
    b->reached = pawl__arena_alloc_zeroed(&b->scratch, n * sizeof(bool));
    b->expanded = pawl__arena_alloc_zeroed(&b->scratch, n * sizeof(bool));
    b->pairs = pawl__arena_alloc_array(&b->scratch, m, sizeof *b->pairs);
    b->next_connection = pawl__arena_alloc_array(&b->scratch, m, sizeof(uint32_t));
    if (b->scratch.status != PAWL_OK)
        return b->scratch.status;
    for (size_t i = 0; i < n; i++)
        b->first_out[i] = b->first_in[i] = PAWL_FLOW_NONE;
    return PAWL_OK;
}

static uint32_t accept(struct builder *b, uint32_t source, uint32_t target)
{
    uint32_t number = b->pair_count++;

    b->pairs[number] = (struct pair){
        .source = source,
        .target = target,
        .next_out = b->first_out[source],
        .next_in = b->first_in[target],
        .first_connection = PAWL_FLOW_NONE,
        .last_connection = PAWL_FLOW_NONE,
    };
    b->first_out[source] = number;
    b->first_in[target] = number;
    return number;
}

static void add_connection(struct builder *b, struct pair *pair, uint32_t connection)
{
    b->next_connection[connection] = PAWL_FLOW_NONE;
    if (pair->last_connection == PAWL_FLOW_NONE)
        pair->first_connection = connection;
    else
        b->next_connection[pair->last_connection] = connection;
    pair->last_connection = connection;
    b->graph->forward[connection] = true;
}

static void expand(struct builder *b, uint32_t source, uint32_t *tail)
{
    struct pawl_flow_list outbound = pawl__flow_list(&b->graph->outbound, source);

    b->expanded[source] = true;
    for (uint32_t i = 0; i < outbound.count; i++) {
        uint32_t target = b->graph->connections[outbound.items[i]].target;

        if (b->tried_by[target] != source + 1) {
            b->tried_by[target] = source + 1;
            b->tried_pair[target] =
                leads_to(b, target, source) ? PAWL_FLOW_NONE : accept(b, source, target);
            if (b->tried_pair[target] != PAWL_FLOW_NONE && !b->reached[target]) {
                hang_under(b, target, source);
                b->queue[(*tail)++] = target;
            }
        }
        if (b->tried_pair[target] != PAWL_FLOW_NONE)
            add_connection(b, &b->pairs[b->tried_pair[target]], outbound.items[i]);
    }
}

static void walk(struct builder *b)
{
    uint32_t start = b->graph->start;
    uint32_t tail = 0;

    if (start == PAWL_FLOW_NONE)
        return;
    b->reached[start] = true;
    b->parent[start] = b->jump[start] = start;
    b->queue[tail++] = start;
    for (uint32_t head = 0; head < tail; head++)
        expand(b, b->queue[head], &tail);
}

/* The forward connections in the order of their pairs, by target. */
static int gather_forward(struct builder *b, struct pawl_arena *arena)
{
    uint32_t *order =
        pawl__arena_alloc_array(&b->scratch, (size_t)b->graph->connection_count + 1, sizeof *order);
    uint32_t count = 0;

    if (!order)
        return pawl__flow_refused(&b->scratch);
    for (uint32_t i = 0; i < b->pair_count; i++) {
        for (uint32_t c = b->pairs[i].first_connection; c != PAWL_FLOW_NONE;
             c = b->next_connection[c])
            order[count++] = c;
    }
    return lists_make(arena, b->graph, order, count, true, &b->graph->forward_inbound);
}

int pawl__flow_graph_build(struct pawl_arena *arena, const struct pawl_flow_connection *connections,
                           uint32_t connection_count, uint32_t activity_count, uint32_t start,
                           struct pawl_flow_graph *out)
{
    struct pawl_flow_graph graph = {
        .connections = connections,
        .connection_count = connection_count,
        .activity_count = activity_count,
        .start = start,
    };
    struct builder b;
    int status;

    PAWL_ASSERT(start < activity_count || start == PAWL_FLOW_NONE);
    status = builder_init(&b, arena, &graph);
    if (status != PAWL_OK)
        goto out;
    graph.forward = pawl__arena_alloc_zeroed(arena, (size_t)connection_count + 1);
    status = graph.forward ? PAWL_OK : pawl__flow_refused(arena);
    if (status == PAWL_OK)
        status = lists_make(arena, &graph, NULL, connection_count, false, &graph.outbound);
    if (status == PAWL_OK)
        status = lists_make(arena, &graph, NULL, connection_count, true, &graph.inbound);
    if (status != PAWL_OK)
        goto out;
    walk(&b);
    status = gather_forward(&b, arena);
    if (status == PAWL_OK)
        *out = graph;
out:
    pawl__arena_release(&b.scratch);
    return status;
}

/* ---- questions -------------------------------------------------------------------------- */

bool pawl__flow_graph_is_dangling(const struct pawl_flow_graph *graph, uint32_t activity)
{
    return activity != graph->start &&
           pawl__flow_list(&graph->forward_inbound, activity).count == 0;
}

/*
 * Marks what lies behind `from` along forward connections, not going past `wall` (NONE: none).
 * `marks` has a place for each activity; all are written.
 */
static int mark_behind(const struct pawl_flow_graph *graph, const struct pawl_allocator *alloc,
                       uint32_t from, uint32_t wall, bool *marks)
{
    size_t size = ((size_t)graph->activity_count + 1) * sizeof(uint32_t);
    uint32_t *queue = pawl__alloc(alloc, size);
    uint32_t tail = 0;

    if (!queue)
        return PAWL_ENOMEM;
    memset(marks, 0, graph->activity_count * sizeof *marks);
    queue[tail++] = from;
    for (uint32_t head = 0; head < tail; head++) {
        struct pawl_flow_list list = pawl__flow_list(&graph->forward_inbound, queue[head]);

        for (uint32_t i = 0; i < list.count; i++) {
            uint32_t source = graph->connections[list.items[i]].source;

            if (source != wall && !marks[source]) {
                marks[source] = true;
                queue[tail++] = source;
            }
        }
    }
    pawl__free(alloc, queue, size);
    return PAWL_OK;
}

int pawl__flow_graph_ancestors(const struct pawl_flow_graph *graph,
                               const struct pawl_allocator *alloc, uint32_t activity, bool *marks)
{
    return mark_behind(graph, alloc, activity, PAWL_FLOW_NONE, marks);
}

int pawl__flow_graph_backward_valid(const struct pawl_flow_graph *graph,
                                    const struct pawl_allocator *alloc, uint32_t connection,
                                    bool *valid)
{
    uint32_t source = graph->connections[connection].source;
    uint32_t target = graph->connections[connection].target;
    size_t size = graph->activity_count * sizeof(bool);
    bool *marks;
    int status;

    if (source == target || target == graph->start) {
        *valid = true;
        return PAWL_OK;
    }
    marks = pawl__alloc(alloc, size);
    if (!marks)
        return PAWL_ENOMEM;
    status = mark_behind(graph, alloc, source, target, marks);
    if (status == PAWL_OK)
        *valid = source != graph->start && !marks[graph->start];
    pawl__free(alloc, marks, size);
    return status;
}
