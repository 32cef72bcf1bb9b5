/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to workflows: whom one is for, and its delivery (docs/design/0018-http-endpoints.md).
 * What operations are given and return is in operations/endpoints.h.
 */
#ifndef PAWL_RUNTIME_WORK_ENDPOINT_H
#define PAWL_RUNTIME_WORK_ENDPOINT_H

#include "runtime/runtime.h"

/* What somebody asks for. "": not said. */
struct runtime_endpoint_question {
    struct pawl_str method;
    struct pawl_str path; /* behind the base path, still encoded */
    struct pawl_str instance_id;
    struct pawl_str correlation_id;
};

/* The row that waits for it. In the caller's arena. */
struct runtime_endpoint {
    struct pawl_str template;
    struct pawl_json route;
    struct pawl_str hash;
    bool is_trigger;
    struct pawl_trigger_row trigger;
    struct pawl_bookmark_row bookmark;
    struct pawl_json payload; /* of either */
};

/*
 * PAWL_ENOTFOUND: nobody waits for it. PAWL_ECONFLICT: several do, and the message names two.
 * PAWL_EINVAL: a path that no endpoint can have.
 */
PAWL_MUST_CHECK int pawl__runtime_find_endpoint(struct pawl_runtime *runtime,
                                                const struct runtime_endpoint_question *question,
                                                struct pawl_arena *arena,
                                                struct runtime_endpoint *out, int64_t deadline_ns,
                                                struct pawl_error *err);

/* The hashes of all endpoints that such a request may be for, whether somebody waits there or not;
 * the most specific first. */
PAWL_MUST_CHECK int pawl__runtime_endpoint_hashes(struct pawl_runtime *runtime,
                                                  const struct runtime_endpoint_question *question,
                                                  struct pawl_arena *arena,
                                                  struct pawl_str **hashes, size_t *count,
                                                  int64_t deadline_ns, struct pawl_error *err);

/* What was replied to a request with this key: {"fingerprint", "reply"}, in the arena.
 * PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__runtime_find_kept_reply(struct pawl_runtime *runtime, struct pawl_str key,
                                                  struct pawl_arena *arena, struct pawl_json *out,
                                                  int64_t deadline_ns, struct pawl_error *err);

#endif
