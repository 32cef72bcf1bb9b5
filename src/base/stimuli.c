/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads of stimuli; see stimuli.h. */
#include "base/stimuli.h"

#include "base/hash/stimulus.h"

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

int pawl__built_stimulus_hash(const struct pawl_builder *b, const struct pawl_allocator *alloc,
                              const char *name, const struct pawl_json *payload,
                              char out[PAWL_SHA256_TEXT_SIZE])
{
    if (b->status != PAWL_OK)
        return b->status;
    return pawl__stimulus_hash(alloc, pawl__str(name), payload, pawl__str(""), out);
}
