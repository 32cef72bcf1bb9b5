/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a request is for: by its template, triggers first, then bookmarks. See endpoint.h. */
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

static int find_trigger(struct search *s, bool *found)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_TRIGGERS, "hash"), .value = {.text = s->out->hash}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_TRIGGERS, .conditions = &condition, .condition_count = 1, .limit = 2};
    struct pawl_rows rows = {0};
    const struct pawl_trigger_row *triggers;
    int status =
        pawl_store_find(s->runtime->store, &query, s->arena, &rows, s->deadline_ns, s->err);

    if (status != PAWL_OK || rows.count == 0)
        return status;
    triggers = rows.rows;
    if (rows.count > 1)
        return refuse_several(s, "definitions", triggers[0].definition_id,
                              triggers[1].definition_id);
    *found = true;
    s->out->is_trigger = true;
    s->out->trigger = triggers[0];
    return pawl__runtime_json_read(s->runtime, s->arena, triggers[0].payload, &s->out->payload,
                                   s->err);
}

static void add_condition(struct pawl_query *query, struct pawl_condition *conditions,
                          const char *column, struct pawl_str value)
{
    if (value.len > 0)
        conditions[query->condition_count++] = (struct pawl_condition){
            .column = pawl_table_column(PAWL_TABLE_BOOKMARKS, column), .value = {.text = value}};
}

static int find_bookmark(struct search *s, bool *found)
{
    struct pawl_condition conditions[3];
    struct pawl_query query = {.table = PAWL_TABLE_BOOKMARKS, .conditions = conditions, .limit = 2};
    struct pawl_rows rows = {0};
    const struct pawl_bookmark_row *bookmarks;
    int status;

    add_condition(&query, conditions, "hash", s->out->hash);
    add_condition(&query, conditions, "instance_id", s->question->instance_id);
    add_condition(&query, conditions, "correlation_id", s->question->correlation_id);
    status = pawl_store_find(s->runtime->store, &query, s->arena, &rows, s->deadline_ns, s->err);
    if (status != PAWL_OK || rows.count == 0)
        return status;
    bookmarks = rows.rows;
    if (rows.count > 1)
        return refuse_several(s, "instances", bookmarks[0].instance_id, bookmarks[1].instance_id);
    *found = true;
    s->out->bookmark = bookmarks[0];
    return pawl__runtime_json_read(s->runtime, s->arena, bookmarks[0].payload, &s->out->payload,
                                   s->err);
}

/* ---- templates ----------------------------------------------------------------------------- */

static int make_hash(struct search *s, struct pawl_str template)
{
    struct pawl_builder b = {.arena = s->arena};
    struct pawl_json stimulus = pawl__http_stimulus(&b, template, s->question->method);
    char hash[PAWL_SHA256_TEXT_SIZE];

    pawl__http_stimulus_end(&b, &stimulus);
    b.status = pawl__built_stimulus_hash(&b, &s->runtime->env->alloc, PAWL_STIMULUS_HTTP_ENDPOINT,
                                         &stimulus, hash);
    if (b.status == PAWL_OK) {
        s->out->template = runtime_text(&stimulus, "path");
        s->out->hash = pawl__arena_str(s->arena, pawl__str(hash));
        b.status = s->arena->status;
    }
    return b.status == PAWL_OK ? PAWL_OK : pawl__error_code(s->err, b.status);
}

/* Templates that match, the most specific first. */
static int search_all(struct search *s, bool fresh, bool *found)
{
    struct pawl_route_hits hits = {0};
    int status = pawl__runtime_match_routes(s->runtime, s->question->path, fresh, s->arena, &hits,
                                            s->deadline_ns, s->err);

    for (size_t i = 0; status == PAWL_OK && !*found && i < hits.count; i++) {
        status = make_hash(s, hits.items[i].template);
        s->out->route = hits.items[i].values;
        if (status == PAWL_OK)
            status = find_trigger(s, found);
        if (status == PAWL_OK && !*found)
            status = find_bookmark(s, found);
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
        status = make_hash(&s, hits.items[*count].template);
        (*hashes)[*count] = endpoint.hash;
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
