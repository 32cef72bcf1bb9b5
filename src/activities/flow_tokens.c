/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of tokens and the merge rules; see flow_tokens.h. items[i] and the ith stored token are
 * the same token; live_count and live_to always count what is live in items.
 */
#include "activities/flow_tokens.h"

enum pawl_merge_mode pawl__merge_mode_named(struct pawl_str name)
{
    static const struct {
        const char *name;
        enum pawl_merge_mode mode;
    } modes[] = {
        {"Merge", PAWL_MERGE_MERGE},
        {"Converge", PAWL_MERGE_CONVERGE},
        {"Cascade", PAWL_MERGE_CASCADE},
        {"Race", PAWL_MERGE_RACE},
    };

    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (pawl__str_equal_nocase(name, pawl__str(modes[i].name)))
            return modes[i].mode;
    }
    return PAWL_MERGE_STREAM;
}

/* ---- the list --------------------------------------------------------------------------- */

static bool is_live(const struct pawl_flow_token *token)
{
    return !token->consumed && !token->blocked;
}

static void count_live(struct pawl_flow_tokens *tokens, const struct pawl_flow_token *token,
                       bool more)
{
    if (!is_live(token))
        return;
    tokens->live_count += more ? 1 : UINT32_MAX;
    if (token->to != PAWL_FLOW_NONE)
        tokens->live_to[token->to] += more ? 1 : UINT32_MAX;
}

static int push(struct pawl_flow_tokens *tokens, struct pawl_flow_token token)
{
    if (tokens->count == tokens->cap) {
        uint32_t cap = tokens->cap ? tokens->cap * 2 : 16;
        struct pawl_flow_token *items = pawl__arena_alloc_array(tokens->arena, cap, sizeof *items);

        if (!items)
            return pawl__flow_refused(tokens->arena);
        if (tokens->count > 0)
            memcpy(items, tokens->items, tokens->count * sizeof *items);
        tokens->items = items;
        tokens->cap = cap;
    }
    tokens->items[tokens->count++] = token;
    count_live(tokens, &token, true);
    return PAWL_OK;
}

static void remove_at(struct pawl_flow_tokens *tokens, uint32_t at)
{
    count_live(tokens, &tokens->items[at], false);
    memmove(tokens->items + at, tokens->items + at + 1,
            (tokens->count - at - 1) * sizeof *tokens->items);
    tokens->count--;
    (void)pawl__json_remove_at(tokens->stored, at);
}

static int mark_consumed(struct pawl_flow_tokens *tokens, uint32_t at)
{
    int status = pawl__json_set_text(tokens->arena, pawl__json_at(tokens->stored, at), "consumed",
                                     pawl__json_bool(true));

    if (status != PAWL_OK)
        return status;
    count_live(tokens, &tokens->items[at], false);
    tokens->items[at].consumed = true;
    return PAWL_OK;
}

/* ---- reading ---------------------------------------------------------------------------- */

static int ensure_stored(struct pawl_arena *arena, struct pawl_json *stored)
{
    int status = PAWL_OK;

    if (!pawl__json_is(pawl__json_get_text(stored, "_items"), PAWL_JSON_ARRAY))
        status = pawl__json_set_text(arena, stored, "_items", pawl__json_array());
    if (status == PAWL_OK)
        status = pawl__json_set_text(arena, stored, "_type",
                                     pawl__json_string(pawl__str("List<Token>")));
    return status;
}

static int read_items(struct pawl_flow_tokens *tokens, const struct pawl_flow_names *ids)
{
    uint32_t i = 0;

    while (i < pawl__json_len(tokens->stored)) {
        const struct pawl_json *json = pawl__json_at(tokens->stored, i);
        struct pawl_flow_token token = {0};
        int status;

        if (!pawl__json_is(json, PAWL_JSON_OBJECT)) {
            (void)pawl__json_remove_at(tokens->stored, i);
            continue;
        }
        token.from =
            pawl__flow_names_find(ids, pawl__json_str(pawl__json_get_text(json, "fromActivityId")));
        token.to =
            pawl__flow_names_find(ids, pawl__json_str(pawl__json_get_text(json, "toActivityId")));
        token.outcome = pawl__json_str(pawl__json_get_text(json, "outcome"));
        token.consumed = pawl__json_true(pawl__json_get_text(json, "consumed"));
        token.blocked = pawl__json_true(pawl__json_get_text(json, "blocked"));
        status = push(tokens, token);
        if (status != PAWL_OK)
            return status;
        i++;
    }
    return PAWL_OK;
}

int pawl__flow_tokens_open(struct pawl_flow_tokens *tokens, struct pawl_arena *arena,
                           const struct pawl_flow_graph *graph, const struct pawl_flow_names *ids,
                           struct pawl_json *stored)
{
    struct pawl_flow_tokens opened = {.arena = arena, .graph = graph};
    size_t size = ((size_t)graph->activity_count + 1) * sizeof(uint32_t);
    int status = ensure_stored(arena, stored);

    if (status != PAWL_OK)
        return status;
    opened.live_to = pawl__arena_alloc_zeroed(arena, size);
    opened.mark = pawl__arena_alloc_zeroed(arena, size);
    if (!opened.live_to || !opened.mark)
        return pawl__flow_refused(arena);
    opened.stored = pawl__json_get_text(stored, "_items");
    status = read_items(&opened, ids);
    if (status == PAWL_OK)
        *tokens = opened;
    return status;
}

/* ---- changing --------------------------------------------------------------------------- */

static int token_json(struct pawl_arena *arena, const struct pawl_flow_token *token,
                      struct pawl_flow_party from, struct pawl_flow_party to, struct pawl_json *out)
{
    const struct {
        const char *key;
        struct pawl_str text;
        bool optional;
    } texts[] = {
        {"fromActivityId", from.id, false}, {"fromActivityName", from.name, true},
        {"outcome", token->outcome, true},  {"toActivityId", to.id, false},
        {"toActivityName", to.name, true},
    };
    struct pawl_json json = pawl__json_object();
    int status = PAWL_OK;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && status == PAWL_OK; i++) {
        if (!texts[i].optional || texts[i].text.len > 0)
            status = pawl__json_add(arena, &json, pawl__str(texts[i].key),
                                    pawl__json_string(texts[i].text));
    }
    if (status == PAWL_OK)
        status =
            pawl__json_add(arena, &json, pawl__str("consumed"), pawl__json_bool(token->consumed));
    if (status == PAWL_OK)
        status =
            pawl__json_add(arena, &json, pawl__str("blocked"), pawl__json_bool(token->blocked));
    *out = json;
    return status;
}

int pawl__flow_tokens_add(struct pawl_flow_tokens *tokens, uint32_t connection,
                          struct pawl_flow_party from, struct pawl_flow_party to, bool blocked)
{
    const struct pawl_flow_connection *c = &tokens->graph->connections[connection];
    struct pawl_flow_token token = {
        .from = c->source, .to = c->target, .outcome = c->source_port, .blocked = blocked};
    struct pawl_json json;
    int status = token_json(tokens->arena, &token, from, to, &json);

    if (status == PAWL_OK)
        status = push(tokens, token);
    if (status == PAWL_OK)
        status = pawl__json_append(tokens->arena, tokens->stored, json);
    return status;
}

int pawl__flow_tokens_consume(struct pawl_flow_tokens *tokens, uint32_t activity)
{
    if (tokens->live_to[activity] == 0)
        return PAWL_OK;
    for (uint32_t i = 0; i < tokens->count; i++) {
        if (tokens->items[i].to == activity && is_live(&tokens->items[i])) {
            int status = mark_consumed(tokens, i);

            if (status != PAWL_OK)
                return status;
        }
    }
    return PAWL_OK;
}

void pawl__flow_tokens_purge(struct pawl_flow_tokens *tokens, uint32_t activity)
{
    for (uint32_t i = tokens->count; i-- > 0;) {
        if (tokens->items[i].to == activity && tokens->items[i].consumed)
            remove_at(tokens, i);
    }
}

void pawl__flow_tokens_forget(struct pawl_flow_tokens *tokens, uint32_t activity)
{
    for (uint32_t i = tokens->count; i-- > 0;) {
        if (tokens->items[i].from == activity || tokens->items[i].to == activity)
            remove_at(tokens, i);
    }
}

void pawl__flow_tokens_clear(struct pawl_flow_tokens *tokens)
{
    while (tokens->count > 0)
        remove_at(tokens, tokens->count - 1);
}

/* ---- deciding --------------------------------------------------------------------------- */

static bool stands_for(const struct pawl_flow_token *token, const struct pawl_flow_connection *c)
{
    return token->from == c->source && token->to == c->target &&
           pawl__str_equal(token->outcome, c->source_port);
}

static bool has_live(const struct pawl_flow_tokens *tokens, const struct pawl_flow_connection *c)
{
    for (uint32_t i = 0; i < tokens->count; i++) {
        if (is_live(&tokens->items[i]) && stands_for(&tokens->items[i], c))
            return true;
    }
    return false;
}

/* A live token on each of these connections, all to `target`. */
static bool complete(struct pawl_flow_tokens *tokens, struct pawl_flow_list inbound,
                     uint32_t target)
{
    const struct pawl_flow_connection *connections = tokens->graph->connections;

    /* Most often a source is missing altogether: one look at the list finds that out. */
    tokens->marked++;
    for (uint32_t i = 0; i < tokens->count; i++) {
        const struct pawl_flow_token *token = &tokens->items[i];

        if (token->to == target && token->from != PAWL_FLOW_NONE && is_live(token))
            tokens->mark[token->from] = tokens->marked;
    }
    for (uint32_t i = 0; i < inbound.count; i++) {
        if (tokens->mark[connections[inbound.items[i]].source] != tokens->marked)
            return false;
    }
    for (uint32_t i = 0; i < inbound.count; i++) {
        if (!has_live(tokens, &connections[inbound.items[i]]))
            return false;
    }
    return true;
}

bool pawl__flow_tokens_ready(struct pawl_flow_tokens *tokens, enum pawl_merge_mode mode,
                             uint32_t connection)
{
    const struct pawl_flow_graph *graph = tokens->graph;
    uint32_t target = graph->connections[connection].target;
    struct pawl_flow_list forward = pawl__flow_list(&graph->forward_inbound, target);

    if (mode == PAWL_MERGE_CONVERGE) {
        struct pawl_flow_list inbound = pawl__flow_list(&graph->inbound, target);

        return inbound.count <= 1 || complete(tokens, inbound, target);
    }
    if (mode == PAWL_MERGE_MERGE)
        return forward.count <= 1 || complete(tokens, forward, target);
    for (uint32_t i = 0; i < forward.count; i++) {
        if (tokens->live_to[graph->connections[forward.items[i]].source] > 0)
            return false;
    }
    return true;
}

int pawl__flow_tokens_unblock(struct pawl_flow_tokens *tokens, uint32_t connection, bool *found)
{
    const struct pawl_flow_connection *c = &tokens->graph->connections[connection];
    int status = PAWL_OK;

    *found = false;
    for (uint32_t i = 0; i < tokens->count && !*found && status == PAWL_OK; i++) {
        const struct pawl_flow_token *token = &tokens->items[i];

        if (token->blocked && stands_for(token, c)) {
            status = mark_consumed(tokens, i);
            *found = true;
        }
    }
    return status;
}
