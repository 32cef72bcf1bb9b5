/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing pages of the journal, straight to bytes: every commit does it. The form is page.h's.
 *
 * What was written before is recognised by its address: texts of a context are those of its log
 * records. One that is not recognised is written again, so only the last few are looked at.
 */
#include "base/json/brief.h"
#include "engine/state/page.h"

/* Looked at; a power of two. */
#define SEEN 16u
/* Levels around the values in a record. */
#define DEPTH 3u
/* Without what may be missing. */
#define PAGE_MEMBERS 6u
#define ENTRY_ITEMS 6u
#define ACTIVITY_ITEMS 13u

struct who {
    struct pawl_str id, parent;
    struct pawl_str activity_id, type, name, node_id, source;
    int64_t version;
};

struct writer {
    struct pawl_brief_writer brief;
    struct who seen[SEEN];
    uint32_t count; /* of all that were written */
    struct pawl_str last_id;
    int64_t at;
};

/* ---- values -------------------------------------------------------------------------------- */

static void put_array(struct writer *w, uint32_t count)
{
    pawl__brief_array(&w->brief, count);
}

static void put_int(struct writer *w, int64_t value)
{
    pawl__brief_int(&w->brief, value);
}

static void put_text(struct writer *w, struct pawl_str text)
{
    pawl__brief_string(&w->brief, text);
}

static void put_value(struct writer *w, const struct pawl_json *value)
{
    pawl__brief_value(&w->brief, value, DEPTH);
}

static void put_time(struct writer *w, int64_t ticks)
{
    if (ticks == 0)
        pawl__brief_null(&w->brief);
    else
        put_int(w, ticks - w->at);
}

static void put_key(struct writer *w, const char *key)
{
    put_text(w, pawl__str(key));
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
    put_array(w, 6);
    put_text(w, who->activity_id);
    put_text(w, who->type);
    put_int(w, who->version);
    put_text(w, who->name);
    put_text(w, who->node_id);
    put_text(w, who->source);
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
    put_array(w, 4);
    put_new_id(w, who->id);
    put_id(w, who->parent);
    put_what(w, who);
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
    bool has_message = has_payload || record->message.len > 0;

    put_array(w, ENTRY_ITEMS + has_message + has_payload);
    put_who(w, &who, true);
    put_new_id(w, record->id);
    put_time(w, record->timestamp);
    put_int(w, record->sequence - from);
    put_text(w, record->event);
    if (has_message)
        put_text(w, record->message);
    if (has_payload)
        put_value(w, &record->payload);
}

static void put_optional(struct writer *w, const struct pawl_activity_record *record)
{
    if (record->has_internal) {
        put_value(w, &record->payload);
        put_value(w, &record->properties);
    }
    if (record->has_exception)
        put_value(w, &record->exception);
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

    put_array(w, ACTIVITY_ITEMS + (record->has_internal ? 2 : 0) + record->has_exception);
    put_who(w, &who, false);
    put_int(w, (record->has_internal ? 1 : 0) | (record->has_exception ? 2 : 0) |
                   (record->has_bookmarks ? 4 : 0));
    put_value(w, &record->state);
    put_value(w, &record->outputs);
    put_value(w, &record->metadata);
    put_time(w, record->started_at);
    put_text(w, record->status);
    put_int(w, record->fault_count);
    put_time(w, record->completed_at);
    put_id(w, record->scheduled_by);
    put_text(w, record->scheduled_by_activity);
    put_text(w, record->scheduled_by_instance);
    put_int(w, record->depth);
    put_optional(w, record);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void put_owner(struct writer *w, const struct pawl_record_owner *owner)
{
    put_key(w, "of");
    put_array(w, 4);
    put_text(w, owner->definition_id);
    put_text(w, owner->version_id);
    put_text(w, owner->instance_id);
    put_int(w, owner->version);
}

static void put_activities(struct writer *w, const struct pawl_batch *batch,
                           struct pawl_arena *arena)
{
    struct pawl_buf *out = w->brief.out;

    put_key(w, "activities");
    put_array(w, batch->record_count);
    for (uint32_t i = 0; i < batch->record_count && out->status == PAWL_OK; i++) {
        struct pawl_activity_record record;
        int status = pawl__activity_record_take(batch->records[i], arena, &record);

        if (status == PAWL_OK)
            put_activity(w, &record);
        else
            out->status = status;
    }
}

void pawl__page_write(const struct pawl_burst *burst, const struct pawl_batch *batch,
                      const int64_t *before, const struct pawl_words *words,
                      struct pawl_arena *arena, struct pawl_buf *out)
{
    const struct pawl_record_owner owner = pawl__record_owner(burst);
    int64_t from = batch->log_count > 0 ? batch->log[0].sequence : 0;
    struct writer w;

    w.count = 0;
    w.last_id = pawl__str("");
    w.at = batch->log_count > 0      ? batch->log[0].timestamp
           : batch->record_count > 0 ? batch->records[0]->started_at
                                     : 0;
    pawl__brief_begin(&w.brief, out, words);
    pawl__brief_object(&w.brief, before ? PAGE_MEMBERS + 1 : PAGE_MEMBERS);
    put_key(&w, "form");
    put_int(&w, PAWL_PAGE_FORM);
    put_owner(&w, &owner);
    put_key(&w, "at");
    put_int(&w, w.at);
    put_key(&w, "from");
    put_int(&w, from);
    put_key(&w, "entries");
    put_array(&w, batch->log_count);
    for (uint32_t i = 0; i < batch->log_count && out->status == PAWL_OK; i++)
        put_entry(&w, &batch->log[i], from);
    put_activities(&w, batch, arena);
    if (before) {
        put_key(&w, "before");
        put_int(&w, *before);
    }
}
