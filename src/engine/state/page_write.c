/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing pages of the journal, straight to text: every commit does it. The form is page.h's.
 *
 * What was written before is recognised by its address: texts of a context are those of its log
 * records. One that is not recognised is written again, so only the last few are looked at.
 */
#include "base/decimal.h"
#include "base/json/escape.h"
#include "engine/state/page.h"

/* Looked at; a power of two. */
#define SEEN 16u
/* Levels around the values in a record. */
#define DEPTH 3u

struct who {
    struct pawl_str id, parent;
    struct pawl_str activity_id, type, name, node_id, source;
    int64_t version;
};

struct writer {
    struct pawl_buf *out;
    struct who seen[SEEN];
    uint32_t count; /* of all that were written */
    struct pawl_str last_id;
    int64_t at;
};

/* ---- values -------------------------------------------------------------------------------- */

static void put_int(struct writer *w, int64_t value)
{
    char text[PAWL_DECIMAL_SIZE];

    pawl__buf_append(w->out, text, pawl__decimal_from_int(value, text));
}

static void put_text(struct writer *w, struct pawl_str text)
{
    pawl__json_put_string(w->out, text, PAWL_JSON_ESCAPE_MINIMAL);
}

static void put_value(struct writer *w, const struct pawl_json *value)
{
    pawl__json_write_within(w->out, value, PAWL_JSON_ESCAPE_MINIMAL, DEPTH);
}

static void put_time(struct writer *w, int64_t ticks)
{
    if (ticks == 0)
        pawl__buf_append(w->out, "null", 4);
    else
        put_int(w, ticks - w->at);
}

static void comma(struct writer *w)
{
    pawl__buf_byte(w->out, ',');
}

static void put_key(struct writer *w, char before, const char *key)
{
    pawl__json_put_key(w->out, before, pawl__str(key), PAWL_JSON_ESCAPE_MINIMAL);
}

/* An id that is new: those of a burst begin alike. */
static void put_new_id(struct writer *w, struct pawl_str id)
{
    size_t max = id.len < w->last_id.len ? id.len : w->last_id.len, alike = 0;

    while (alike < max && id.ptr[alike] == w->last_id.ptr[alike])
        alike++;
    while (alike > 0 && alike < id.len && ((unsigned char)id.ptr[alike] & 0xC0u) == 0x80u)
        alike--; /* not within a character */
    w->last_id = id;
    put_int(w, (int64_t)alike);
    comma(w);
    put_text(w, pawl__str_slice(id, alike, id.len));
}

/* ---- who ----------------------------------------------------------------------------------- */

static bool same(struct pawl_str a, struct pawl_str b)
{
    return a.len == b.len && (a.ptr == b.ptr || a.len == 0);
}

static bool same_what(const struct who *a, const struct who *b)
{
    return same(a->node_id, b->node_id) && same(a->activity_id, b->activity_id) &&
           same(a->type, b->type) && same(a->name, b->name) && a->version == b->version;
}

static const struct who *seen_at(const struct writer *w, uint32_t number)
{
    return &w->seen[number % SEEN];
}

/* How many are looked at, from the newest. */
static uint32_t look_count(const struct writer *w)
{
    return w->count < SEEN ? w->count : SEEN;
}

static void put_id(struct writer *w, struct pawl_str id)
{
    for (uint32_t i = 1; i <= look_count(w) && id.len > 0; i++) {
        if (same(seen_at(w, w->count - i)->id, id)) {
            put_int(w, w->count - i);
            return;
        }
    }
    put_text(w, id);
}

static void put_what(struct writer *w, const struct who *who)
{
    for (uint32_t i = 1; i <= look_count(w); i++) {
        const struct who *other = seen_at(w, w->count - i);

        if (same_what(other, who) && same(other->source, who->source)) {
            put_int(w, w->count - i);
            return;
        }
    }
    pawl__buf_byte(w->out, '[');
    put_text(w, who->activity_id);
    comma(w);
    put_text(w, who->type);
    comma(w);
    put_int(w, who->version);
    comma(w);
    put_text(w, who->name);
    comma(w);
    put_text(w, who->node_id);
    comma(w);
    put_text(w, who->source);
    pawl__buf_byte(w->out, ']');
}

/* `whole`: parent and source count. */
static void put_who(struct writer *w, const struct who *who, bool whole)
{
    for (uint32_t i = 1; i <= look_count(w); i++) {
        const struct who *other = seen_at(w, w->count - i);

        if (same(other->id, who->id) && same_what(other, who) &&
            (!whole || (same(other->parent, who->parent) && same(other->source, who->source)))) {
            put_int(w, w->count - i);
            return;
        }
    }
    pawl__buf_byte(w->out, '[');
    put_new_id(w, who->id);
    comma(w);
    put_id(w, who->parent);
    comma(w);
    put_what(w, who);
    pawl__buf_byte(w->out, ']');
    w->seen[w->count++ % SEEN] = *who;
}

/* ---- records ------------------------------------------------------------------------------- */

static void put_entry(struct writer *w, const struct pawl_log_record *record, int64_t from)
{
    const struct who who = {
        .id = record->activity_instance_id,
        .parent = record->parent_activity_instance_id,
        .activity_id = record->activity_id,
        .type = record->activity_type,
        .name = record->activity_name,
        .node_id = record->activity_node_id,
        .source = record->source,
        .version = record->activity_version,
    };
    bool has_payload = record->payload.type != PAWL_JSON_NULL;

    pawl__buf_byte(w->out, '[');
    put_who(w, &who, true);
    comma(w);
    put_new_id(w, record->id);
    comma(w);
    put_time(w, record->timestamp);
    comma(w);
    put_int(w, record->sequence - from);
    comma(w);
    put_text(w, record->event);
    if (has_payload || record->message.len > 0) {
        comma(w);
        put_text(w, record->message);
    }
    if (has_payload) {
        comma(w);
        put_value(w, &record->payload);
    }
    pawl__buf_byte(w->out, ']');
}

static void put_optional(struct writer *w, const struct pawl_activity_record *record)
{
    if (record->has_internal) {
        comma(w);
        put_value(w, &record->payload);
        comma(w);
        put_value(w, &record->properties);
    }
    if (record->has_exception) {
        comma(w);
        put_value(w, &record->exception);
    }
}

static void put_activity(struct writer *w, const struct pawl_activity_record *record)
{
    const struct who who = {
        .id = record->id,
        .activity_id = record->activity_id,
        .type = record->activity_type,
        .name = record->activity_name,
        .node_id = record->activity_node_id,
        .version = record->activity_version,
    };

    pawl__buf_byte(w->out, '[');
    put_who(w, &who, false);
    comma(w);
    put_int(w, (record->has_internal ? 1 : 0) | (record->has_exception ? 2 : 0) |
                   (record->has_bookmarks ? 4 : 0));
    comma(w);
    put_value(w, &record->state);
    comma(w);
    put_value(w, &record->outputs);
    comma(w);
    put_value(w, &record->metadata);
    comma(w);
    put_time(w, record->started_at);
    comma(w);
    put_text(w, record->status);
    comma(w);
    put_int(w, record->fault_count);
    comma(w);
    put_time(w, record->completed_at);
    comma(w);
    put_id(w, record->scheduled_by);
    comma(w);
    put_text(w, record->scheduled_by_activity);
    comma(w);
    put_text(w, record->scheduled_by_instance);
    comma(w);
    put_int(w, record->depth);
    put_optional(w, record);
    pawl__buf_byte(w->out, ']');
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void put_owner(struct writer *w, const struct pawl_record_owner *owner)
{
    put_key(w, ',', "of");
    pawl__buf_byte(w->out, '[');
    put_text(w, owner->definition_id);
    comma(w);
    put_text(w, owner->version_id);
    comma(w);
    put_text(w, owner->instance_id);
    comma(w);
    put_int(w, owner->version);
    pawl__buf_byte(w->out, ']');
}

static void put_activities(struct writer *w, const struct pawl_batch *batch,
                           struct pawl_arena *arena)
{
    put_key(w, ',', "activities");
    pawl__buf_byte(w->out, '[');
    for (uint32_t i = 0; i < batch->record_count && w->out->status == PAWL_OK; i++) {
        struct pawl_activity_record record;
        int status = pawl__activity_record_take(batch->records[i], arena, &record);

        if (status != PAWL_OK) {
            w->out->status = status;
            return;
        }
        if (i > 0)
            comma(w);
        put_activity(w, &record);
    }
    pawl__buf_byte(w->out, ']');
}

void pawl__page_write(const struct pawl_burst *burst, const struct pawl_batch *batch,
                      const int64_t *before, struct pawl_arena *arena, struct pawl_buf *out)
{
    const struct pawl_record_owner owner = pawl__record_owner(burst);
    int64_t from = batch->log_count > 0 ? batch->log[0].sequence : 0;
    struct writer w = {.out = out};

    w.at = batch->log_count > 0      ? batch->log[0].timestamp
           : batch->record_count > 0 ? batch->records[0]->started_at
                                     : 0;
    put_key(&w, '{', "form");
    put_int(&w, PAWL_PAGE_FORM);
    put_owner(&w, &owner);
    put_key(&w, ',', "at");
    put_int(&w, w.at);
    put_key(&w, ',', "from");
    put_int(&w, from);
    put_key(&w, ',', "entries");
    pawl__buf_byte(out, '[');
    for (uint32_t i = 0; i < batch->log_count && out->status == PAWL_OK; i++) {
        if (i > 0)
            comma(&w);
        put_entry(&w, &batch->log[i], from);
    }
    pawl__buf_byte(out, ']');
    put_activities(&w, batch, arena);
    if (before) {
        put_key(&w, ',', "before");
        put_int(&w, *before);
    }
    pawl__buf_byte(out, '}');
}
