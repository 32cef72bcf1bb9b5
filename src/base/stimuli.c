/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads of stimuli; see stimuli.h. */
#include "base/stimuli.h"

#include "base/hash/stimulus.h"
#include "base/http_message.h"

struct pawl_json pawl__event_stimulus(struct pawl_builder *b, struct pawl_str event_name)
{
    struct pawl_json payload = pawl__json_object();

    pawl__build(b, &payload, PAWL_STIMULUS_EVENT_NAME, pawl__json_string(event_name));
    pawl__build_name(b, &payload, PAWL_STIMULUS_TYPE, PAWL_STIMULUS_EVENT_TYPE);
    return payload;
}

struct pawl_json pawl__task_stimulus(struct pawl_builder *b, struct pawl_str task_id)
{
    struct pawl_json payload = pawl__json_object();

    pawl__build_text(b, &payload, PAWL_STIMULUS_TASK_ID, task_id);
    pawl__build_name(b, &payload, PAWL_STIMULUS_TYPE, PAWL_STIMULUS_TASK_TYPE);
    return payload;
}

struct pawl_json pawl__named_task_stimulus(struct pawl_builder *b, struct pawl_str task_id,
                                           struct pawl_str task_name)
{
    struct pawl_json payload = pawl__json_object();

    pawl__build_text(b, &payload, PAWL_STIMULUS_TASK_ID, task_id);
    pawl__build(b, &payload, PAWL_STIMULUS_TASK_NAME, pawl__json_string(task_name));
    pawl__build_name(b, &payload, PAWL_STIMULUS_TYPE, PAWL_STIMULUS_TASK_TYPE);
    return payload;
}

/* As .NET's ToLowerInvariant does it, of ASCII: paths are compared without its case. */
static struct pawl_str lower(struct pawl_builder *b, struct pawl_str text, size_t more)
{
    char *out = pawl__arena_alloc_aligned(b->arena, text.len + more + 1, 1);

    if (!out) {
        if (b->status == PAWL_OK)
            b->status = pawl__arena_status(b->arena);
        return pawl__str("");
    }
    out[0] = '/';
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        out[i + more] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    out[text.len + more] = '\0';
    return pawl__str_make(out, text.len + more);
}

struct pawl_json pawl__http_stimulus(struct pawl_builder *b, struct pawl_str path,
                                     struct pawl_str method)
{
    struct pawl_json payload = pawl__json_object();

    while (path.len > 0 && path.ptr[0] == '/')
        path = pawl__str_slice(path, 1, path.len);
    while (path.len > 0 && path.ptr[path.len - 1] == '/')
        path = pawl__str_slice(path, 0, path.len - 1);
    pawl__build(b, &payload, PAWL_HTTP_PATH, pawl__json_string(lower(b, path, 1)));
    pawl__build(b, &payload, PAWL_HTTP_METHOD, pawl__json_string(lower(b, method, 0)));
    return payload;
}

void pawl__http_stimulus_end(struct pawl_builder *b, struct pawl_json *payload)
{
    pawl__build_name(b, payload, PAWL_STIMULUS_TYPE, PAWL_STIMULUS_HTTP_ENDPOINT_TYPE);
}

int pawl__built_stimulus_hash(const struct pawl_builder *b, const struct pawl_allocator *alloc,
                              const char *name, const struct pawl_json *payload,
                              char out[PAWL_SHA256_TEXT_SIZE])
{
    if (b->status != PAWL_OK)
        return b->status;
    return pawl__stimulus_hash(alloc, pawl__str(name), payload, pawl__str(""), out);
}
