/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links: tokens that let whoever has them do one thing without signing in: send an event to an
 * instance, or resume one of its bookmarks.
 *
 *     v1.ne.PAYLOAD.MAC     it does not expire
 *     v1.tl.PAYLOAD.MAC     it does
 *
 * The payload is JSON, base64url: {"k": number of the key, "e"?: event, "b"?: bookmark, "i":
 * instance, "x"?: end in seconds since 1970}; the rest is an HMAC of what stands before it. Keys are
 * documents of the store, one for each period of 30 days, made when it is first needed; earlier
 * ones stay, since links without an end need them.
 */
#ifndef PAWL_HOST_LINKS_H
#define PAWL_HOST_LINKS_H

#include "base/arena.h"
#include "host/host.h"

/* One of event and bookmark is given, the other is "". */
struct pawl_link {
    struct pawl_str event, bookmark_id;
    struct pawl_str instance_id; /* "": any */
    int64_t expires_s;           /* since 1970; 0: never */
};

/* *token in the arena. The first one of a process, and one in ten minutes, asks the store. */
PAWL_MUST_CHECK int pawl__link_make(struct pawl_host *host, const struct pawl_link *link,
                                    struct pawl_arena *arena, struct pawl_str *token,
                                    int64_t deadline_ns, struct pawl_error *err);
/* PAWL_EPERM: it is none of ours, or over. Texts in the arena. */
PAWL_MUST_CHECK int pawl__link_read(struct pawl_host *host, struct pawl_str token,
                                    struct pawl_arena *arena, struct pawl_link *out,
                                    int64_t deadline_ns, struct pawl_error *err);
/* The address that sends an event: server.public_url, else server.listen, and the token. */
PAWL_MUST_CHECK int pawl__link_event_url(struct pawl_host *host, const struct pawl_link *link,
                                         struct pawl_arena *arena, struct pawl_str *url,
                                         int64_t deadline_ns, struct pawl_error *err);

#endif
