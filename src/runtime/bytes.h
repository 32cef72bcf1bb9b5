/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that a store keeps: JSON, states, counts, packed or not; and how many there may be. */
#ifndef PAWL_RUNTIME_BYTES_H
#define PAWL_RUNTIME_BYTES_H

#include "base/json/json.h"
#include "runtime/runtime.h"
#include "runtime/words.h"

struct pawl_packer;
struct runtime_task;

/* In payloads of work: the trace of whoever sent it (base/trace_context.h). */
#define RUNTIME_TRACEPARENT "traceparent"
/* Of a stimulus whose input has a request that the server received. */
#define RUNTIME_IS_REQUEST "isRequest"
/* Before a caller's key, in the reservation of it. */
#define RUNTIME_STIMULUS_KEY "stimulus:"

static inline struct pawl_str runtime_text(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

static inline struct pawl_json runtime_member(const struct pawl_json *object, const char *key)
{
    const struct pawl_json *value = pawl__json_get_text(object, key);

    return value ? *value : pawl__json_null();
}

/* The value as JSON text in the arena; ptr NULL: the arena's status. */
struct pawl_str pawl__runtime_json_text(struct pawl_arena *arena, const struct pawl_json *value);
/* Reads JSON that a store kept, as text or in brief form, perhaps packed. "" is null.
 * PAWL_ECORRUPT, PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__runtime_json_read(struct pawl_runtime *runtime, struct pawl_arena *arena,
                                            struct pawl_str bytes, struct pawl_json *out,
                                            struct pawl_error *err);
/* The counts of an instance's row; null: none yet. PAWL_ECORRUPT, PAWL_ELIMIT. */
PAWL_MUST_CHECK int pawl__runtime_counts_read(struct pawl_runtime *runtime,
                                              struct pawl_arena *arena,
                                              const struct pawl_instance_row *row,
                                              struct pawl_json *out, struct pawl_error *err);
/* The state of an instance's row. PAWL_ECORRUPT, also when its checksum says that it is damaged. */
PAWL_MUST_CHECK int pawl__runtime_state_read(struct pawl_runtime *runtime, struct pawl_arena *arena,
                                             const struct pawl_instance_row *row,
                                             struct pawl_json *out, struct pawl_error *err);
/* What `state_sum` of a row is to be whose state is `bytes`. */
int64_t pawl__runtime_state_sum(struct pawl_str bytes);
/* Text as a store keeps it, in the arena or `text` itself. */
PAWL_MUST_CHECK int pawl__runtime_pack(struct pawl_runtime *runtime, struct pawl_arena *arena,
                                       struct pawl_str text, struct pawl_str *out,
                                       struct pawl_error *err);
/* A value as a store keeps it, in brief form (base/json/brief.h), in the arena. */
PAWL_MUST_CHECK int pawl__runtime_pack_value(struct pawl_runtime *runtime, struct pawl_arena *arena,
                                             const struct pawl_json *value, struct pawl_str *out,
                                             struct pawl_error *err);
/* What was written into a buffer, which the caller releases; a failure of the buffer is returned.
 */
PAWL_MUST_CHECK int pawl__runtime_pack_buf(struct pawl_runtime *runtime, struct pawl_arena *arena,
                                           const struct pawl_buf *brief, struct pawl_str *out,
                                           struct pawl_error *err);
/* What a store kept, for those who have no runtime: text or brief form, packed or not.
 * PAWL_EPARSE, PAWL_ECORRUPT, PAWL_ELIMIT, PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__stored_json(struct pawl_packer *packer, const struct pawl_words *words,
                                      struct pawl_arena *arena, struct pawl_str bytes,
                                      struct pawl_json *out, struct pawl_error *err);
void pawl__runtime_forget_packers(struct pawl_runtime *runtime);

/* Whether what somebody brings along is within PAWL_INPUT_BYTES_MAX; `what` is "a start", … */
PAWL_MUST_CHECK int pawl__runtime_check_input(struct runtime_task *task, const char *what,
                                              const struct pawl_json *input);
PAWL_MUST_CHECK int pawl__runtime_check_bytes(struct runtime_task *task, const char *what,
                                              size_t bytes);
/* Bytes that every store can have as a key of its index. */
#define PAWL_IDEMPOTENCY_KEY_MAX 1000u
PAWL_MUST_CHECK int pawl__runtime_check_key(struct runtime_task *task, struct pawl_str key);

#endif
