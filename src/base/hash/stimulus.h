/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stimulus hash: how a stimulus finds the bookmarks and triggers that wait for it, byte for
 * byte as Elsa computes it, so that instances taken over from an Elsa are found.
 *
 * It is the upper-case SHA-256 of the parts that are not blank, joined with '|': the stimulus name,
 * the payload, and, for bookmarks that ask for it, the activity instance id. A payload that is a
 * string stands for itself. A payload of one of Elsa's own types is written with the properties
 * that take part, in their order, a missing one as null, whatever else the stored form holds and
 * however its keys are cased. Any other object is written member by member with the first letter of
 * each key in upper case, `_type` left out; numbers, booleans and arrays as their JSON text (Elsa
 * writes all scalars as "{}" and so takes them for equal: such payloads come from a host's own
 * activities only, and confusing them is not worth keeping).
 */
#ifndef PAWL_BASE_HASH_STIMULUS_H
#define PAWL_BASE_HASH_STIMULUS_H

#include "base/hash/sha256.h"
#include "base/json/json.h"

/*
 * Appends the text that is hashed. `payload` NULL or a JSON null is dropped; `instance_id` "" is
 * too. Failures are the buffer's status.
 */
void pawl__stimulus_text(struct pawl_buf *out, struct pawl_str name,
                         const struct pawl_json *payload, struct pawl_str instance_id);

/* The hash, NUL-terminated. PAWL_ENOMEM; PAWL_ELIMIT: the text is past 1 MB. */
PAWL_MUST_CHECK int pawl__stimulus_hash(const struct pawl_allocator *alloc, struct pawl_str name,
                                        const struct pawl_json *payload,
                                        struct pawl_str instance_id,
                                        char out[PAWL_SHA256_TEXT_SIZE]);

#endif
