/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activity types as designers ask for them: the JSON of a descriptor, in the shape of the
 * reference's API.
 */
#ifndef PAWL_ENGINE_DESCRIPTOR_H
#define PAWL_ENGINE_DESCRIPTOR_H

#include "base/json/json.h"
#include "engine/activity.h"

/* The last part of the type: "Elsa.WriteLine" -> "WriteLine". Borrows. */
struct pawl_str pawl__descriptor_name(const struct pawl_activity *activity);
/* "WriteLine" -> "Write Line", "HTTPEndpoint" -> "HTTP Endpoint"; appended. */
void pawl__descriptor_title(struct pawl_buf *out, struct pawl_str name);
/* "Action", "Trigger", "Job", "Task". */
const char *pawl__descriptor_kind(const struct pawl_activity *activity);
/* The hint that an input has, or the one that goes with its type. */
const char *pawl__descriptor_hint(const struct pawl_input_descriptor *input);

/* Writes the object. Failures are the buffer's status. */
void pawl__descriptor_write(struct pawl_json_writer *json, const struct pawl_activity *activity);
/*
 * The same of a definition that is usable as an activity of this type: its own JSON, published.
 * (Names of types and what they mean: pawl__workflow_type_name().)
 */
void pawl__descriptor_write_workflow(struct pawl_json_writer *json, struct pawl_str type,
                                     const struct pawl_json *definition);

#endif
