/* SPDX-License-Identifier: Apache-2.0 */
/* Reading pages of the journal back into records. The form is page.h's. */
#include "base/time/datetime.h"
#include "engine/builder.h"
#include "engine/state/page.h"

#define WHOS_MIN 16u

struct who {
    struct pawl_str id, parent;
    struct pawl_str activity_id, type, name, node_id, source;
    int64_t version;
};

struct reader {
    struct pawl_arena *arena;
    struct pawl_record_owner owner;
    int64_t at, from;
    struct pawl_str last_id;
    struct who *whos;
    uint32_t count, cap;
    int status;
};

/* One array, read from its beginning. */
struct cursor {
    struct reader *reader;
    const struct pawl_json *array;
    uint32_t next;
};

static void fail(struct reader *r, int status)
{
    if (r->status == PAWL_OK)
        r->status = status;
}

/* ---- items --------------------------------------------------------------------------------- */

static struct cursor begin(struct reader *r, const struct pawl_json *array)
{
    if (!pawl__json_is(array, PAWL_JSON_ARRAY))
        fail(r, PAWL_ECORRUPT);
    return (struct cursor){r, array, 0};
}

static bool has_more(const struct cursor *c)
{
    return pawl__json_is(c->array, PAWL_JSON_ARRAY) && c->next < pawl__json_len(c->array);
}

static struct pawl_json next_value(struct cursor *c)
{
    if (has_more(c))
        return *pawl__json_at(c->array, c->next++);
    fail(c->reader, PAWL_ECORRUPT);
    return pawl__json_null();
}

static int64_t int_of(struct reader *r, const struct pawl_json *value)
{
    int64_t number = 0;

    if (!pawl__json_is(value, PAWL_JSON_INT) || !pawl__json_to_int(value, &number))
        fail(r, PAWL_ECORRUPT);
    return number;
}

static int64_t next_int(struct cursor *c)
{
    struct pawl_json value = next_value(c);

    return int_of(c->reader, &value);
}

static struct pawl_str next_text(struct cursor *c)
{
    struct pawl_json value = next_value(c);

    if (pawl__json_is(&value, PAWL_JSON_STRING))
        return pawl__json_str(&value);
    fail(c->reader, PAWL_ECORRUPT);
    return pawl__str("");
}

static int64_t next_time(struct cursor *c)
{
    struct pawl_json value = next_value(c);
    int64_t at = c->reader->at, since;

    if (pawl__json_is(&value, PAWL_JSON_NULL))
        return 0;
    since = int_of(c->reader, &value);
    if (since >= -at && since <= PAWL_DATETIME_TICKS_MAX - at)
        return at + since;
    fail(c->reader, PAWL_ECORRUPT);
    return 0;
}

/* ---- who ----------------------------------------------------------------------------------- */

static const struct who *who_numbered(struct reader *r, const struct pawl_json *number)
{
    static const struct who nobody = {0};
    int64_t at = int_of(r, number);

    if (r->status == PAWL_OK && at >= 0 && at < r->count)
        return &r->whos[at];
    fail(r, PAWL_ECORRUPT);
    return &nobody;
}

static struct pawl_str next_new_id(struct cursor *c)
{
    struct reader *r = c->reader;
    int64_t alike = next_int(c);
    struct pawl_str rest = next_text(c), id;
    char *text;

    if (alike < 0 || (uint64_t)alike > r->last_id.len)
        fail(r, PAWL_ECORRUPT);
    if (r->status != PAWL_OK)
        return pawl__str("");
    id = rest;
    if (alike > 0) {
        id.len = (size_t)alike + rest.len;
        text = pawl__arena_alloc_aligned(r->arena, id.len, 1);
        id.ptr = text;
        if (!text) {
            fail(r, pawl__arena_status(r->arena));
            return pawl__str("");
        }
        memcpy(text, r->last_id.ptr, (size_t)alike);
        memcpy(text + alike, rest.ptr, rest.len);
    }
    r->last_id = id;
    return id;
}

static struct pawl_str next_id(struct cursor *c)
{
    struct pawl_json value = next_value(c);

    if (pawl__json_is(&value, PAWL_JSON_STRING))
        return pawl__json_str(&value);
    return who_numbered(c->reader, &value)->id;
}

static void read_what(struct reader *r, const struct pawl_json *value, struct who *who)
{
    struct cursor c;

    if (!pawl__json_is(value, PAWL_JSON_ARRAY)) {
        struct who given = *who;

        *who = *who_numbered(r, value);
        who->id = given.id;
        who->parent = given.parent;
        return;
    }
    c = begin(r, value);
    who->activity_id = next_text(&c);
    who->type = next_text(&c);
    who->version = next_int(&c);
    who->name = next_text(&c);
    who->node_id = next_text(&c);
    who->source = next_text(&c);
}

static void remember(struct reader *r, const struct who *who)
{
    if (r->count == r->cap) {
        uint32_t cap = r->cap > 0 ? r->cap * 2 : WHOS_MIN;
        struct who *grown = pawl__arena_alloc_array(r->arena, cap, sizeof *grown);

        if (!grown) {
            fail(r, pawl__arena_status(r->arena));
            return;
        }
        if (r->count > 0)
            memcpy(grown, r->whos, r->count * sizeof *grown);
        r->whos = grown;
        r->cap = cap;
    }
    r->whos[r->count++] = *who;
}

static struct who next_who(struct cursor *c)
{
    struct pawl_json value = next_value(c), what;
    struct who who = {0};
    struct cursor of;

    if (!pawl__json_is(&value, PAWL_JSON_ARRAY))
        return *who_numbered(c->reader, &value);
    of = begin(c->reader, &value);
    who.id = next_new_id(&of);
    who.parent = next_id(&of);
    what = next_value(&of);
    read_what(c->reader, &what, &who);
    if (c->reader->status == PAWL_OK)
        remember(c->reader, &who);
    return who;
}

/* ---- records ------------------------------------------------------------------------------- */

static void read_entry(struct reader *r, const struct pawl_json *item, struct pawl_json *log)
{
    struct cursor c = begin(r, item);
    struct who who = next_who(&c);
    struct pawl_log_record record = {
        .activity_instance_id = who.id,
        .parent_activity_instance_id = who.parent,
        .activity_id = who.activity_id,
        .activity_type = who.type,
        .activity_version = (uint32_t)who.version,
        .activity_name = who.name,
        .activity_node_id = who.node_id,
        .source = who.source,
    };
    struct pawl_json out;

    record.id = next_new_id(&c);
    record.timestamp = next_time(&c);
    record.sequence = next_int(&c);
    record.event = next_text(&c);
    record.message = has_more(&c) ? next_text(&c) : pawl__str("");
    record.payload = has_more(&c) ? next_value(&c) : pawl__json_null();
    if (record.sequence < 0 || (r->from > 0 && record.sequence > INT64_MAX - r->from) ||
        who.version < 0 || who.version > UINT32_MAX)
        fail(r, PAWL_ECORRUPT);
    if (r->status != PAWL_OK)
        return;
    record.sequence += r->from;
    fail(r, pawl__log_record_json(&r->owner, &record, r->arena, &out));
    if (r->status == PAWL_OK)
        fail(r, pawl__json_append(r->arena, log, out));
}

static void read_activity(struct reader *r, const struct pawl_json *item, struct pawl_json *records)
{
    struct cursor c = begin(r, item);
    struct who who = next_who(&c);
    int64_t flags = next_int(&c);
    struct pawl_activity_record record = {
        .id = who.id,
        .activity_id = who.activity_id,
        .activity_type = who.type,
        .activity_name = who.name,
        .activity_node_id = who.node_id,
        .activity_version = who.version,
        .has_internal = (flags & 1) != 0,
        .has_exception = (flags & 2) != 0,
        .has_bookmarks = (flags & 4) != 0,
    };
    struct pawl_json out;

    record.state = next_value(&c);
    record.outputs = next_value(&c);
    record.metadata = next_value(&c);
    record.started_at = next_time(&c);
    record.status = next_text(&c);
    record.fault_count = next_int(&c);
    record.completed_at = next_time(&c);
    record.scheduled_by = next_id(&c);
    record.scheduled_by_activity = next_text(&c);
    record.scheduled_by_instance = next_text(&c);
    record.depth = next_int(&c);
    if (record.has_internal) {
        record.payload = next_value(&c);
        record.properties = next_value(&c);
    }
    if (record.has_exception)
        record.exception = next_value(&c);
    if (r->status == PAWL_OK)
        fail(r, pawl__activity_record_json(&r->owner, &record, r->arena, &out));
    if (r->status == PAWL_OK)
        fail(r, pawl__json_append(r->arena, records, out));
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void read_owner(struct reader *r, const struct pawl_json *of)
{
    struct cursor c = begin(r, of);

    r->owner.definition_id = next_text(&c);
    r->owner.version_id = next_text(&c);
    r->owner.instance_id = next_text(&c);
    r->owner.version = next_int(&c);
}

static int read_whole(const struct pawl_json *page, struct pawl_json *log,
                      struct pawl_json *records)
{
    const struct pawl_json *old = pawl__json_get_text(page, "log");

    *log = pawl__json_is(old, PAWL_JSON_ARRAY) ? *old : pawl__json_array();
    old = pawl__json_get_text(page, "records");
    *records = pawl__json_is(old, PAWL_JSON_ARRAY) ? *old : pawl__json_array();
    return PAWL_OK;
}

int pawl__page_read(struct pawl_arena *arena, const struct pawl_json *page, struct pawl_json *log,
                    struct pawl_json *records)
{
    const struct pawl_json *form = pawl__json_get_text(page, "form");
    struct pawl_json all = pawl__json_array(), activities = pawl__json_array();
    struct reader r = {.arena = arena};
    struct cursor c;

    if (!form)
        return read_whole(page, log, records);
    if (int_of(&r, form) > PAWL_PAGE_FORM)
        return PAWL_EUNSUPPORTED;
    read_owner(&r, pawl__json_get_text(page, "of"));
    r.at = int_of(&r, pawl__json_get_text(page, "at"));
    r.from = int_of(&r, pawl__json_get_text(page, "from"));
    if (r.at < 0 || r.at > PAWL_DATETIME_TICKS_MAX)
        fail(&r, PAWL_ECORRUPT);
    c = begin(&r, pawl__json_get_text(page, "entries"));
    while (r.status == PAWL_OK && has_more(&c))
        read_entry(&r, pawl__json_at(c.array, c.next++), &all);
    c = begin(&r, pawl__json_get_text(page, "activities"));
    while (r.status == PAWL_OK && has_more(&c))
        read_activity(&r, pawl__json_at(c.array, c.next++), &activities);
    if (r.status != PAWL_OK)
        return r.status;
    *log = all;
    *records = activities;
    return PAWL_OK;
}
