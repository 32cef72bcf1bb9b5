/* SPDX-License-Identifier: Apache-2.0 */
/* The instance's lifecycle; small accessors of context.h. */
#include "engine/run/instance.h"

#include "base/assert.h"
#include "base/time/datetime.h"

#include <stdio.h>

#define VECTOR_CAP_MIN 8u

int pawl__vector_grow(struct pawl_arena *arena, void **items, uint32_t count, uint32_t *cap,
                      size_t size)
{
    uint32_t larger = *cap ? *cap * 2 : VECTOR_CAP_MIN;
    void *moved;

    if (count < *cap)
        return PAWL_OK;
    if (larger <= *cap)
        return PAWL_ELIMIT;
    moved = pawl__arena_alloc_array(arena, larger, size);
    if (!moved)
        return pawl__arena_status(arena);
    if (count > 0)
        memcpy(moved, *items, count * size);
    *items = moved;
    *cap = larger;
    return PAWL_OK;
}

/* ---- statuses ---------------------------------------------------------------------------- */

const char *const pawl__sub_status_names[] = {"Pending",   "Executing", "Suspended",   "Finished",
                                              "Cancelled", "Faulted",   "Interrupted", NULL};

const char *pawl__sub_status_name(enum pawl_sub_status status)
{
    return pawl__sub_status_names[status];
}

bool pawl__sub_status_parse(struct pawl_str name, enum pawl_sub_status *out)
{
    for (int i = 0; pawl__sub_status_names[i]; i++) {
        if (pawl__str_equal_nocase(name, pawl__str(pawl__sub_status_names[i]))) {
            *out = (enum pawl_sub_status)i;
            return true;
        }
    }
    return false;
}

bool pawl__sub_status_is_final(enum pawl_sub_status status)
{
    return status == PAWL_SUB_FINISHED || status == PAWL_SUB_CANCELLED ||
           status == PAWL_SUB_FAULTED;
}

const char *pawl__activity_status_name(enum pawl_activity_status status)
{
    static const char *const names[] = {"Pending", "Running", "Completed", "Canceled", "Faulted"};

    return names[status];
}

enum pawl_sub_status pawl__burst_sub_status(const struct pawl_burst *burst)
{
    return burst->sub_status;
}

/*
 * Any move out of a running status is allowed, none out of a final one. `context` is the caller's:
 * the refusal faults it; NULL asserts instead, for moves the engine makes after it looked.
 */
int pawl__instance_move(struct pawl_context *context, struct pawl_burst *burst,
                        enum pawl_sub_status to)
{
    if (pawl__sub_status_is_final(burst->sub_status)) {
        PAWL_ASSERT(context);
        return pawl__raise(context, "Exception", "Cannot transition from %s to %s",
                           pawl__sub_status_name(burst->sub_status), pawl__sub_status_name(to));
    }
    burst->sub_status = to;
    burst->updated_at = burst->now;
    if (pawl__sub_status_is_final(to))
        burst->finished_at = burst->now;
    return PAWL_OK;
}

/* ---- accessors of context.h -------------------------------------------------------------- */

struct pawl_str pawl__instance_id(const struct pawl_context *context)
{
    return context->burst->id;
}

struct pawl_str pawl__instance_name(const struct pawl_context *context)
{
    return context->burst->name.ptr ? context->burst->name : pawl__str("");
}

struct pawl_str pawl__correlation_id(const struct pawl_context *context)
{
    return context->burst->correlation_id;
}

static int keep_text(struct pawl_context *context, struct pawl_str text, struct pawl_str *out)
{
    struct pawl_str copy = pawl__arena_str(&context->burst->arena, text);

    if (!copy.ptr)
        return pawl__arena_status(&context->burst->arena);
    *out = copy;
    return PAWL_OK;
}

int pawl__correlation_set(struct pawl_context *context, struct pawl_str id)
{
    if (id.len > PAWL_CORRELATION_ID_MAX)
        return pawl__raise(context, "ArgumentException",
                           "A correlation id has at most %u bytes, not %zu.",
                           PAWL_CORRELATION_ID_MAX, id.len);
    return keep_text(context, id, &context->burst->correlation_id);
}

int pawl__instance_name_set(struct pawl_context *context, struct pawl_str name)
{
    if (!name.ptr) {
        context->burst->name = name;
        return PAWL_OK;
    }
    return keep_text(context, name, &context->burst->name);
}

struct pawl_json *pawl__run_input(const struct pawl_context *context, const char *name)
{
    return pawl__json_get_text(&context->burst->input, name);
}

const struct pawl_json *pawl__run_inputs(const struct pawl_context *context)
{
    return &context->burst->input;
}

struct pawl_json *pawl__workflow_property(const struct pawl_context *context, const char *key)
{
    return pawl__json_get_text(&context->burst->properties, key);
}

struct pawl_str pawl__trigger_activity_id(const struct pawl_context *context)
{
    return context->burst->trigger_activity_id;
}

bool pawl__is_trigger_of_run(const struct pawl_context *context)
{
    return context->burst->trigger_activity_id.len > 0 &&
           pawl__str_equal(context->burst->trigger_activity_id, context->node->id);
}

enum pawl_flow_mode pawl__flow_mode(const struct pawl_context *context)
{
    const struct pawl_json *property = pawl__workflow_property(context, "Flowchart:ExecutionMode");
    struct pawl_str name = pawl__json_str(property);
    int64_t number;
    enum pawl_flow_mode mode = PAWL_FLOW_DEFAULT;

    if (pawl__str_equal_nocase(name, pawl__str("TokenBased")))
        mode = PAWL_FLOW_TOKEN;
    else if (pawl__str_equal_nocase(name, pawl__str("CounterBased")))
        mode = PAWL_FLOW_COUNTER;
    else if (pawl__json_to_int(property, &number) && number >= 0 && number <= PAWL_FLOW_COUNTER)
        mode = (enum pawl_flow_mode)number;
    if (mode == PAWL_FLOW_DEFAULT)
        mode = context->burst->engine->flow_mode;
    return mode == PAWL_FLOW_DEFAULT ? PAWL_FLOW_COUNTER : mode;
}

bool pawl__context_must_stop(const struct pawl_context *context)
{
    const struct pawl_burst *burst = context->burst;

    return burst->stop && burst->stop(burst->stop_ctx);
}

int64_t pawl__now(const struct pawl_context *context)
{
    return context->burst->now;
}

struct pawl_arena *pawl__context_arena(const struct pawl_context *context)
{
    return &context->burst->arena;
}

const struct pawl_engine *pawl__context_engine(const struct pawl_context *context)
{
    return context->burst->engine;
}

struct pawl_conversion pawl__context_conversion(const struct pawl_context *context)
{
    return (struct pawl_conversion){.arena = &context->burst->arena,
                                    .strict = context->burst->engine->strict_conversion};
}

static int new_uuid(struct pawl_burst *burst, struct pawl_uuid *uuid)
{
    struct pawl_datetime now;
    int status = pawl__datetime_from_utc_ticks(burst->now, &now, NULL);

    if (status != PAWL_OK)
        return status;
    return pawl__id_uuid(&burst->ids, pawl__datetime_to_unix_ms(now), uuid, NULL);
}

struct pawl_str pawl__burst_new_id(struct pawl_burst *burst)
{
    struct pawl_uuid uuid;
    char text[PAWL_UUID_HEX_SIZE];

    if (new_uuid(burst, &uuid) != PAWL_OK) {
        burst->arena.status = PAWL_ELIMIT;
        return pawl__str("");
    }
    pawl__uuid_format_hex(&uuid, text);
    return pawl__arena_str(&burst->arena, pawl__str(text));
}

struct pawl_str pawl__new_id(struct pawl_context *context)
{
    return pawl__burst_new_id(context->burst);
}

struct pawl_str pawl__new_guid(struct pawl_context *context)
{
    unsigned char bytes[16];
    struct pawl_uuid uuid;
    char text[PAWL_UUID_TEXT_SIZE];

    /* Version 4: scripts and tags expect a guid to reveal nothing. */
    if (pawl__id_random_bytes(&context->burst->ids, bytes, sizeof bytes, NULL) != PAWL_OK)
        return pawl__str("");
    memcpy(uuid.bytes, bytes, sizeof bytes);
    uuid.bytes[6] = (unsigned char)((uuid.bytes[6] & 0x0F) | 0x40);
    uuid.bytes[8] = (unsigned char)((uuid.bytes[8] & 0x3F) | 0x80);
    pawl__uuid_format(&uuid, text);
    return pawl__arena_str(&context->burst->arena, pawl__str(text));
}

/* ---- properties, journal ----------------------------------------------------------------- */

struct pawl_json *pawl__property(const struct pawl_context *context, const char *key)
{
    return pawl__json_get_text(&context->properties, key);
}

int64_t pawl__property_int(const struct pawl_context *context, const char *key, int64_t otherwise)
{
    int64_t value;

    return pawl__json_to_int(pawl__property(context, key), &value) ? value : otherwise;
}

bool pawl__property_true(const struct pawl_context *context, const char *key)
{
    return pawl__json_true(pawl__property(context, key));
}

int pawl__property_set(struct pawl_context *context, const char *key, struct pawl_json value)
{
    pawl__context_touch(context);
    return pawl__json_set_text(&context->burst->arena, &context->properties, key, value);
}

void pawl__property_remove(struct pawl_context *context, const char *key)
{
    (void)pawl__json_remove(&context->properties, pawl__str(key));
    pawl__context_touch(context);
}

int pawl__journal_set(struct pawl_context *context, const char *key, struct pawl_json value)
{
    pawl__context_touch(context);
    return pawl__json_set_text(&context->burst->arena, &context->journal, key, value);
}

/* ---- effects ----------------------------------------------------------------------------- */

/* "instance/context/number", without the cost of printf: there is one for every line written. */
static struct pawl_str effect_id(struct pawl_burst *burst, struct pawl_str context_id)
{
    char digits[24];
    char *digit = digits + sizeof digits;
    size_t len;
    char *id;

    for (uint64_t left = burst->effect_number;; left /= 10) {
        *--digit = (char)('0' + left % 10);
        if (left < 10)
            break;
    }
    len = (size_t)(digits + sizeof digits - digit);
    id = pawl__arena_alloc_aligned(&burst->arena, burst->id.len + context_id.len + len + 3, 1);
    if (!id)
        return pawl__str_make(NULL, 0);
    memcpy(id, burst->id.ptr, burst->id.len);
    id[burst->id.len] = '/';
    memcpy(id + burst->id.len + 1, context_id.ptr, context_id.len);
    id[burst->id.len + 1 + context_id.len] = '/';
    memcpy(id + burst->id.len + context_id.len + 2, digit, len);
    id[burst->id.len + context_id.len + 2 + len] = '\0';
    return pawl__str_make(id, burst->id.len + context_id.len + 2 + len);
}

static int make_effect(struct pawl_context *context, enum pawl_effect_kind kind,
                       struct pawl_json data, struct pawl_effect *effect)
{
    struct pawl_burst *burst = context->burst;
    struct pawl_str id = effect_id(burst, context->id);
    int status;

    if (!id.ptr)
        return pawl__arena_status(&burst->arena);
    status = pawl__demand_storable(context, (struct pawl_value){.json = data}, "What is sent by",
                                   context->node->id);
    if (status != PAWL_OK)
        return status;
    burst->effect_number++;
    *effect = (struct pawl_effect){.kind = kind, .id = id, .context_id = context->id, .data = data};
    return PAWL_OK;
}

int pawl__effect(struct pawl_context *context, enum pawl_effect_kind kind, struct pawl_json data)
{
    struct pawl_burst *burst = context->burst;
    int status = VECTOR_GROW(burst, &burst->effects);

    if (status != PAWL_OK)
        return status;
    status = make_effect(context, kind, data, &burst->effects.items[burst->effects.count]);
    if (status == PAWL_OK)
        burst->effects.count++;
    if (status == PAWL_OK && kind == PAWL_EFFECT_REPLY)
        burst->has_reply = true;
    return status;
}

int pawl__effect_await(struct pawl_context *context, enum pawl_effect_kind kind,
                       struct pawl_json data)
{
    int status;

    PAWL_ASSERT(!context->burst->awaiting && context->burst->current == context);
    status = make_effect(context, kind, data, &context->burst->awaited);
    context->burst->awaiting = status == PAWL_OK;
    return status;
}
