/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triggers of definitions and their timers, as changes to a commit that others make.
 *
 * A trigger that is as it was keeps its row, and with it its id and its timer, also when another
 * version of the definition has it now: an interval goes on over publishing and indexing, however
 * often that happens. So an Elsa.Timer is compared by its interval, not by its hash, which has the
 * time of indexing in it.
 *
 * Of a trigger that time fires there is one work row of kind PAWL_WORK_TICK. Whoever does that work
 * deletes it and inserts the next in one commit; one whose trigger is gone, because it was set
 * again while a definition changed, is dropped by whoever takes it. Where earlier versions left
 * none, or two, there is one again after this.
 */
#include "runtime/definitions/private.h"

#include "base/hash/siphash.h"
#include "base/stimuli.h"
#include "runtime/node/routes.h"

#define PARTS 1024u

/* The triggers that are there, and which of them stay. */
struct present {
    const struct pawl_trigger_row *rows;
    size_t count;
    bool *kept;
    const struct pawl_work_row **next;  /* its timer, the first that is due; NULL: none */
    const struct pawl_work_row **ticks; /* pages of them */
    size_t *tick_counts;
    size_t page_count;
};

/* ---- what is there ----------------------------------------------------------------------- */

static int read_ticks(struct definition_change *change, struct present *present)
{
    size_t pages = present->count / PAWL_STORE_VALUES_MAX + 1;
    struct pawl_datum *names =
        pawl__arena_alloc_array(&change->arena, present->count + 1, sizeof *names);
    int status = PAWL_OK;

    present->ticks = pawl__arena_alloc_array(&change->arena, pages, sizeof *present->ticks);
    present->tick_counts =
        pawl__arena_alloc_array(&change->arena, pages, sizeof *present->tick_counts);
    if (!names || !present->ticks || !present->tick_counts)
        return pawl__error_code(change->call.err, pawl__arena_status(&change->arena));
    for (size_t i = 0; i < present->count; i++)
        names[i] = (struct pawl_datum){.text = present->rows[i].id};
    for (size_t at = 0; at < present->count && status == PAWL_OK; at += PAWL_STORE_VALUES_MAX) {
        size_t left = present->count - at;
        struct pawl_condition conditions[] = {
            pawl__where_text(PAWL_TABLE_WORK, "kind", pawl__str(PAWL_WORK_TICK)),
            {.column = pawl_table_column(PAWL_TABLE_WORK, "name"),
             .compare = PAWL_IN,
             .values = names + at,
             .value_count = left < PAWL_STORE_VALUES_MAX ? left : PAWL_STORE_VALUES_MAX},
        };
        const struct pawl_query query = {
            .table = PAWL_TABLE_WORK,
            .flags = PAWL_QUERY_BRIEF,
            .conditions = conditions,
            .condition_count = 2,
            .limit = PAWL_STORE_ROWS_MAX,
        };
        struct pawl_rows rows;

        status = pawl__definition_query(&change->call, &query, &rows);
        if (status == PAWL_OK) {
            present->ticks[present->page_count] = rows.rows;
            present->tick_counts[present->page_count++] = rows.count;
        }
    }
    return status;
}

static void note_tick(struct present *present, const struct pawl_work_row *tick)
{
    for (size_t i = 0; i < present->count; i++) {
        if (pawl__str_equal(present->rows[i].id, tick->name) &&
            (!present->next[i] || tick->due_us < present->next[i]->due_us))
            present->next[i] = tick;
    }
}

static int read_present(struct definition_change *change, struct pawl_str definition_id,
                        struct present *out)
{
    const struct pawl_condition condition =
        pawl__where_text(PAWL_TABLE_TRIGGERS, "definition_id", definition_id);
    const struct pawl_query query = {
        .table = PAWL_TABLE_TRIGGERS,
        .conditions = &condition,
        .condition_count = 1,
        .limit = PAWL_STORE_ROWS_MAX,
    };
    struct pawl_rows rows;
    int status = pawl__definition_query(&change->call, &query, &rows);

    if (status != PAWL_OK)
        return status;
    *out = (struct present){.rows = rows.rows, .count = rows.count};
    out->kept = pawl__arena_alloc_zeroed(&change->arena, rows.count + 1);
    out->next = pawl__arena_alloc_zeroed(&change->arena, (rows.count + 1) * sizeof(void *));
    if (!out->kept || !out->next)
        return pawl__error_code(change->call.err, pawl__arena_status(&change->arena));
    status = read_ticks(change, out);
    for (size_t page = 0; status == PAWL_OK && page < out->page_count; page++) {
        for (size_t i = 0; i < out->tick_counts[page]; i++)
            note_tick(out, &out->ticks[page][i]);
    }
    return status;
}

/* ---- the same or not --------------------------------------------------------------------- */

static const struct pawl_json *interval(const struct pawl_json *payload)
{
    return pawl__json_get_nocase(payload, pawl__str("interval"));
}

/* *payload is that of the row, of an Elsa.Timer; null: it makes no difference. */
static int is_same(struct definition_change *change, const struct pawl_trigger_row *row,
                   const struct pawl_trigger *wanted, bool *same)
{
    struct pawl_json payload = pawl__json_null();
    int status = PAWL_OK;

    *same = false;
    if (!pawl__str_equal(row->name, wanted->name) ||
        !pawl__str_equal(row->activity_id, wanted->activity_id))
        return PAWL_OK;
    if (pawl__str_is(row->name, PAWL_STIMULUS_TIMER) && interval(&wanted->payload)) {
        status = pawl__json_parse(&change->arena, row->payload, NULL, &payload, NULL, NULL);
        if (status == PAWL_ENOMEM || change->arena.status != PAWL_OK)
            return pawl__error_code(change->call.err, pawl__arena_status(&change->arena));
    }
    *same =
        pawl__str_equal(row->hash, wanted->hash) ||
        (interval(&payload) && pawl__json_equal(interval(&payload), interval(&wanted->payload)));
    return PAWL_OK;
}

/* The row that a trigger has already; SIZE_MAX: none. */
static int find_same(struct definition_change *change, const struct present *present,
                     const struct pawl_trigger *wanted, size_t *out)
{
    *out = SIZE_MAX;
    for (size_t i = 0; i < present->count; i++) {
        bool same = false;
        int status = present->kept[i] ? PAWL_OK : is_same(change, &present->rows[i], wanted, &same);

        if (status != PAWL_OK)
            return status;
        if (same) {
            *out = i;
            return PAWL_OK;
        }
    }
    return PAWL_OK;
}

/* The same stimulus to the same activity twice would start two instances. */
static bool is_repeated(const struct pawl_triggers *triggers, uint32_t index)
{
    const struct pawl_trigger *trigger = &triggers->items[index];

    for (uint32_t i = 0; i < index; i++) {
        if (pawl__str_equal(triggers->items[i].name, trigger->name) &&
            pawl__str_equal(triggers->items[i].activity_id, trigger->activity_id) &&
            pawl__str_equal(triggers->items[i].hash, trigger->hash))
            return true;
    }
    return false;
}

/* ---- changes ----------------------------------------------------------------------------- */

static int plan_tick(struct definition_change *change, struct pawl_str trigger_id, int64_t due)
{
    struct pawl_work_row *row;
    const char *id;

    if (due == INT64_MAX)
        return PAWL_OK;
    row = pawl__arena_alloc(&change->arena, sizeof *row);
    id = pawl__arena_printf(&change->arena, "tick:%.*s:%lld", PAWL_STR_ARG(trigger_id),
                            (long long)pawl__ticks_to_us(due));
    if (!row || !id)
        return pawl__error_code(change->call.err, pawl__arena_status(&change->arena));
    *row = (struct pawl_work_row){
        .id = pawl__str(id),
        .kind = pawl__str(PAWL_WORK_TICK),
        .name = trigger_id,
        .part = (int64_t)(pawl__siphash((struct pawl_hash_seed){0, 0}, pawl__str(id)) % PARTS),
        .created_us = change->now_us,
        .due_us = pawl__ticks_to_us(due),
        .expires_us = PAWL_TIME_NEVER,
    };
    return pawl__definition_plan(change, PAWL_CHANGE_PUT, PAWL_TABLE_WORK, row);
}

/* All timers of a row but this one, which may be NULL. */
static int plan_no_ticks(struct definition_change *change, const struct present *present,
                         size_t index, const struct pawl_work_row *but)
{
    int status = PAWL_OK;

    for (size_t page = 0; page < present->page_count; page++) {
        for (size_t i = 0; i < present->tick_counts[page] && status == PAWL_OK; i++) {
            const struct pawl_work_row *tick = &present->ticks[page][i];

            if (tick != but && pawl__str_equal(tick->name, present->rows[index].id))
                status = pawl__definition_plan(change, PAWL_CHANGE_DELETE, PAWL_TABLE_WORK, tick);
        }
    }
    return status;
}

/* The template that nodes match paths with; the row is there if another trigger has it, too. */
static int plan_route(struct definition_change *change, const struct pawl_trigger *wanted)
{
    struct pawl_route_row needed, *row;

    if (!pawl__route_needs_row(wanted->name, &wanted->payload, &needed))
        return PAWL_OK;
    row = pawl__arena_alloc(&change->arena, sizeof *row);
    if (!row)
        return pawl__error_code(change->call.err, pawl__arena_status(&change->arena));
    *row = needed;
    row->id = pawl__route_period_text(&change->arena, pawl__route_period(change->now_us));
    if (!row->id.ptr)
        return pawl__error_code(change->call.err, pawl__arena_status(&change->arena));
    return pawl__definition_plan(change, PAWL_CHANGE_ADD, PAWL_TABLE_ROUTES, row);
}

static int plan_new(struct definition_change *change, struct pawl_str definition_id,
                    struct pawl_str version_id, const struct pawl_trigger *wanted)
{
    struct pawl_trigger_row *row = pawl__arena_alloc(&change->arena, sizeof *row);
    int status;

    if (!row)
        return pawl__error_code(change->call.err, pawl__arena_status(&change->arena));
    *row = (struct pawl_trigger_row){
        .definition_id = definition_id,
        .version_id = version_id,
        .name = wanted->name,
        .activity_id = wanted->activity_id,
        .hash = wanted->hash,
    };
    status = pawl__definition_new_id(&change->call, true, &row->id);
    if (status == PAWL_OK)
        status = pawl__definition_text(&change->call, &wanted->payload, &row->payload);
    if (status == PAWL_OK)
        status = pawl__definition_plan(change, PAWL_CHANGE_PUT, PAWL_TABLE_TRIGGERS, row);
    if (status == PAWL_OK)
        status = plan_route(change, wanted);
    if (status == PAWL_OK)
        status = plan_tick(
            change, row->id,
            pawl__trigger_due(wanted->name, &wanted->payload, pawl__us_to_ticks(change->now_us)));
    return status;
}

/*
 * A row that stays gets the version that has it now. A timer that repeats and was lost is set
 * again; one that fires once and has no row has fired. A second one goes.
 */
static int plan_kept(struct definition_change *change, const struct present *present, size_t index,
                     struct pawl_str version_id, const struct pawl_trigger *wanted)
{
    const struct pawl_trigger_row *there = &present->rows[index];
    struct pawl_str payload = there->payload;
    int status = PAWL_OK;

    /* What an endpoint demands of its callers is in its payload, and not in its hash. */
    if (pawl__str_is(there->name, PAWL_STIMULUS_HTTP_ENDPOINT))
        status = pawl__definition_text(&change->call, &wanted->payload, &payload);
    if (status != PAWL_OK)
        return status;
    if (!pawl__str_equal(there->version_id, version_id) ||
        !pawl__str_equal(there->payload, payload)) {
        struct pawl_trigger_row *row = pawl__arena_alloc(&change->arena, sizeof *row);

        if (!row)
            return pawl__error_code(change->call.err, pawl__arena_status(&change->arena));
        *row = *there;
        row->version_id = version_id;
        row->payload = payload;
        status = pawl__definition_plan(change, PAWL_CHANGE_PUT, PAWL_TABLE_TRIGGERS, row);
    }
    if (status == PAWL_OK && present->next[index])
        status = plan_no_ticks(change, present, index, present->next[index]);
    else if (status == PAWL_OK)
        status = plan_tick(change, there->id,
                           pawl__trigger_due_again(
                               wanted->name, &wanted->payload, pawl__us_to_ticks(change->now_us),
                               change->call.definitions->engine->timer_interval_min));
    return status;
}

static int plan_gone(struct definition_change *change, const struct present *present, size_t index)
{
    const struct pawl_trigger_row *row = &present->rows[index];
    int status = pawl__definition_plan(change, PAWL_CHANGE_DELETE, PAWL_TABLE_TRIGGERS, row);

    return status == PAWL_OK ? plan_no_ticks(change, present, index, NULL) : status;
}

int pawl__definition_plan_triggers(struct definition_change *change, struct pawl_str definition_id,
                                   struct pawl_str version_id, struct pawl_graph *graph)
{
    struct pawl_triggers wanted = {0};
    struct present present;
    int status = PAWL_OK;

    if (graph)
        status = pawl__graph_triggers(graph, &change->call.definitions->env->alloc,
                                      pawl__us_to_ticks(change->now_us), &change->arena, &wanted,
                                      change->call.err);
    if (status == PAWL_OK && wanted.count >= PAWL_STORE_ROWS_MAX)
        return pawl__error_set(change->call.err, PAWL_ELIMIT,
                               "the definition %.*s has %u triggers, the most are %d; split it "
                               "into several",
                               PAWL_STR_ARG(definition_id), wanted.count, PAWL_STORE_ROWS_MAX - 1);
    if (status == PAWL_OK)
        status = read_present(change, definition_id, &present);
    for (uint32_t i = 0; status == PAWL_OK && i < wanted.count; i++) {
        size_t there;

        if (is_repeated(&wanted, i))
            continue;
        status = find_same(change, &present, &wanted.items[i], &there);
        if (status == PAWL_OK && there != SIZE_MAX) {
            present.kept[there] = true;
            status = plan_kept(change, &present, there, version_id, &wanted.items[i]);
        } else if (status == PAWL_OK) {
            status = plan_new(change, definition_id, version_id, &wanted.items[i]);
        }
    }
    for (size_t i = 0; status == PAWL_OK && i < present.count; i++) {
        if (!present.kept[i])
            status = plan_gone(change, &present, i);
    }
    return status;
}
