/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom a request is for: by its template, triggers first, then bookmarks. See endpoint.h.
 *
 * A trigger that is known in memory is used without asking the store. Whatever else may match is
 * looked up together, in one round trip.
 */
#include "runtime/work/endpoint.h"

#include "base/error.h"
#include "base/stimuli.h"
#include "engine/builder.h"
#include "runtime/bytes.h"
#include "runtime/node/replies.h"
#include "runtime/node/routes.h"
#include "runtime/runtime_private.h"

struct search {
    struct pawl_runtime *runtime;
    const struct runtime_endpoint_question *question;
    struct pawl_arena *arena;
    struct runtime_endpoint *out;
    int64_t deadline_ns;
    struct pawl_error *err;
};

/* Why there may be several: a definition that was published by another system, or instances that
 * wait for the same and have no correlation id in the request. */
static int refuse_several(struct search *s, const char *what, struct pawl_str first,
                          struct pawl_str second)
{
    return pawl__error_set(s->err, PAWL_ECONFLICT,
                           "The call is ambiguous and matches multiple workflows: %s %.*s and %.*s",
                           what, PAWL_STR_ARG(first), PAWL_STR_ARG(second));
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Templates that are looked up in one round trip; each takes two queries. */
#define CANDIDATES_MAX (PAWL_STORE_QUERIES_MAX / 2)

/* A template that matches, with the queries for who waits there. */
struct candidate {
    struct pawl_str template;
    struct pawl_str hash;
    struct pawl_json route;
    int64_t stamp; /* see pawl__definitions_known_trigger() */
    struct pawl_condition trigger, bookmark[3];
};

static void choose(struct search *s, const struct candidate *candidate)
{
    s->out->template = candidate->template;
    s->out->hash = candidate->hash;
    s->out->route = candidate->route;
}

static int use_trigger(struct search *s, const struct pawl_trigger_row *trigger)
{
    s->out->is_trigger = true;
    s->out->trigger = *trigger;
    return pawl__runtime_json_read(s->runtime, s->arena, trigger->payload, &s->out->payload,
                                   s->err);
}

static int use_triggers(struct search *s, const struct candidate *candidate,
                        const struct pawl_rows *rows)
{
    const struct pawl_trigger_row *triggers = rows->rows;

    if (rows->count > 1)
        return refuse_several(s, "definitions", triggers[0].definition_id,
                              triggers[1].definition_id);
    pawl__definitions_keep_trigger(s->runtime->definitions, triggers, candidate->stamp);
    return use_trigger(s, triggers);
}

static int use_bookmarks(struct search *s, const struct pawl_rows *rows)
{
    const struct pawl_bookmark_row *bookmarks = rows->rows;

    if (rows->count > 1)
        return refuse_several(s, "instances", bookmarks[0].instance_id, bookmarks[1].instance_id);
    s->out->bookmark = bookmarks[0];
    return pawl__runtime_json_read(s->runtime, s->arena, bookmarks[0].payload, &s->out->payload,
                                   s->err);
}

static void add_condition(struct pawl_query *query, struct pawl_condition *conditions,
                          const char *column, struct pawl_str value)
{
    if (value.len > 0)
        conditions[query->condition_count++] = (struct pawl_condition){
            .column = pawl_table_column(PAWL_TABLE_BOOKMARKS, column), .value = {.text = value}};
}

static void make_queries(const struct search *s, struct candidate *candidate,
                         struct pawl_query queries[2])
{
    candidate->trigger =
        (struct pawl_condition){.column = pawl_table_column(PAWL_TABLE_TRIGGERS, "hash"),
                                .value = {.text = candidate->hash}};
    queries[0] = (struct pawl_query){.table = PAWL_TABLE_TRIGGERS,
                                     .conditions = &candidate->trigger,
                                     .condition_count = 1,
                                     .limit = 2};
    queries[1] = (struct pawl_query){
        .table = PAWL_TABLE_BOOKMARKS, .conditions = candidate->bookmark, .limit = 2};
    add_condition(&queries[1], candidate->bookmark, "hash", candidate->hash);
    add_condition(&queries[1], candidate->bookmark, "instance_id", s->question->instance_id);
    add_condition(&queries[1], candidate->bookmark, "correlation_id", s->question->correlation_id);
}

/* ---- templates ----------------------------------------------------------------------------- */

static int make_hash(struct search *s, struct pawl_str template, struct candidate *out)
{
    struct pawl_builder b = {.arena = s->arena};
    struct pawl_json stimulus = pawl__http_stimulus(&b, template, s->question->method);
    char hash[PAWL_SHA256_TEXT_SIZE];

    pawl__http_stimulus_end(&b, &stimulus);
    b.status = pawl__built_stimulus_hash(&b, &s->runtime->env->alloc, PAWL_STIMULUS_HTTP_ENDPOINT,
                                         &stimulus, hash);
    if (b.status == PAWL_OK) {
        out->template = runtime_text(&stimulus, "path");
        out->hash = pawl__arena_str(s->arena, pawl__str(hash));
        b.status = s->arena->status;
    }
    return b.status == PAWL_OK ? PAWL_OK : pawl__error_code(s->err, b.status);
}

/*
 * Of templates in their order, up to the first whose trigger is known: nothing behind it matters.
 * *count: how many candidates there are; *known: the last of them is that one, and the others are
 * to be looked up.
 */
static int make_candidates(struct search *s, const struct pawl_route_hit *hits, size_t hit_count,
                           struct candidate *candidates, struct pawl_query *queries, size_t *count,
                           struct pawl_trigger_row *trigger, bool *known)
{
    int status = PAWL_OK;

    *known = false;
    for (*count = 0; status == PAWL_OK && !*known && *count < hit_count; ++*count) {
        struct candidate *candidate = &candidates[*count];

        candidate->route = hits[*count].values;
        status = make_hash(s, hits[*count].template, candidate);
        if (status != PAWL_OK)
            break;
        *known = pawl__definitions_known_trigger(s->runtime->definitions, candidate->hash, s->arena,
                                                 trigger, &candidate->stamp, s->deadline_ns);
        if (!*known)
            make_queries(s, candidate, &queries[2 * *count]);
    }
    return status;
}

/* At most CANDIDATES_MAX templates. */
static int search_some(struct search *s, const struct pawl_route_hit *hits, size_t hit_count,
                       bool *found)
{
    struct candidate candidates[CANDIDATES_MAX];
    struct pawl_query queries[PAWL_STORE_QUERIES_MAX];
    struct pawl_rows rows[PAWL_STORE_QUERIES_MAX];
    struct pawl_trigger_row trigger;
    size_t count = 0, unknown;
    bool known;
    int status = make_candidates(s, hits, hit_count, candidates, queries, &count, &trigger, &known);

    unknown = known ? count - 1 : count;
    if (status == PAWL_OK && unknown > 0)
        status = pawl_store_find_many(s->runtime->store, queries, 2 * unknown, s->arena, rows,
                                      s->deadline_ns, s->err);
    for (size_t i = 0; status == PAWL_OK && !*found && i < unknown; i++) {
        const struct pawl_rows *triggers = &rows[2 * i], *bookmarks = &rows[2 * i + 1];

        *found = triggers->count > 0 || bookmarks->count > 0;
        choose(s, &candidates[i]);
        if (triggers->count > 0)
            status = use_triggers(s, &candidates[i], triggers);
        else if (bookmarks->count > 0)
            status = use_bookmarks(s, bookmarks);
    }
    if (status == PAWL_OK && !*found && known) {
        *found = true;
        choose(s, &candidates[unknown]);
        status = use_trigger(s, &trigger);
    }
    return status;
}

/* Templates that match, the most specific first. */
static int search_all(struct search *s, bool fresh, bool *found)
{
    struct pawl_route_hits hits = {0};
    int status = pawl__runtime_match_routes(s->runtime, s->question->path, fresh, s->arena, &hits,
                                            s->deadline_ns, s->err);

    for (size_t i = 0; status == PAWL_OK && !*found && i < hits.count; i += CANDIDATES_MAX) {
        size_t left = hits.count - i;

        status =
            search_some(s, &hits.items[i], left < CANDIDATES_MAX ? left : CANDIDATES_MAX, found);
    }
    return status;
}

int pawl__runtime_find_endpoint(struct pawl_runtime *runtime,
                                const struct runtime_endpoint_question *question,
                                struct pawl_arena *arena, struct runtime_endpoint *out,
                                int64_t deadline_ns, struct pawl_error *err)
{
    struct runtime_endpoint endpoint = {.is_trigger = false};
    struct search s = {runtime, question, arena, &endpoint, deadline_ns, err};
    bool found = false;
    int status = search_all(&s, false, &found);

    /* Another node may have made its template a moment ago. */
    if (status == PAWL_OK && !found)
        status = search_all(&s, true, &found);
    if (status == PAWL_OK && !found)
        return pawl__error_set(err, PAWL_ENOTFOUND, "no workflow waits for such a request");
    if (status == PAWL_OK)
        *out = endpoint;
    return status;
}

int pawl__runtime_endpoint_hashes(struct pawl_runtime *runtime,
                                  const struct runtime_endpoint_question *question,
                                  struct pawl_arena *arena, struct pawl_str **hashes, size_t *count,
                                  int64_t deadline_ns, struct pawl_error *err)
{
    struct runtime_endpoint endpoint = {.is_trigger = false};
    struct search s = {runtime, question, arena, &endpoint, deadline_ns, err};
    struct pawl_route_hits hits = {0};
    int status =
        pawl__runtime_match_routes(runtime, question->path, false, arena, &hits, deadline_ns, err);

    if (status != PAWL_OK)
        return status;
    *hashes = pawl__arena_alloc_array(arena, hits.count + 1, sizeof **hashes);
    if (!*hashes)
        return pawl__error_code(err, pawl__arena_status(arena));
    for (*count = 0; status == PAWL_OK && *count < hits.count; ++*count) {
        struct candidate candidate;

        status = make_hash(&s, hits.items[*count].template, &candidate);
        if (status == PAWL_OK)
            (*hashes)[*count] = candidate.hash;
    }
    return status;
}

int pawl__runtime_find_kept_reply(struct pawl_runtime *runtime, struct pawl_str key,
                                  struct pawl_arena *arena, struct pawl_json *out,
                                  int64_t deadline_ns, struct pawl_error *err)
{
    const struct pawl_condition condition = {.column =
                                                 pawl_table_column(PAWL_TABLE_RESERVATIONS, "key"),
                                             .value = {.text = pawl__reply_kept_key(arena, key)}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_RESERVATIONS, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows = {0};
    int status = condition.value.text.len > 0
                     ? pawl_store_find(runtime->store, &query, arena, &rows, deadline_ns, err)
                     : pawl__error_code(err, pawl__arena_status(arena));

    if (status == PAWL_OK && rows.count == 0)
        return pawl__error_set(err, PAWL_ENOTFOUND, "nothing was replied to the key %.*s yet",
                               PAWL_STR_ARG(key));
    return status == PAWL_OK
               ? pawl__runtime_json_read(runtime, arena,
                                         ((const struct pawl_reservation_row *)rows.rows)->value,
                                         out, err)
               : status;
}
