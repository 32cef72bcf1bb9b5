/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of `pawl why` share; see why.h. */
#ifndef PAWL_CLI_WHY_PRIVATE_H
#define PAWL_CLI_WHY_PRIVATE_H

#include "cli/listing.h"

/* Bookmarks, pieces of mail and children that are looked at; an instance with more has them. */
#define WHY_ROWS_MAX 100u

struct why {
    struct pawl_cli_session *session;
    struct pawl_builder b;
    struct pawl_instance_row row;
    struct pawl_json state;
    struct pawl_rows bookmarks; /* struct pawl_bookmark_row, oldest first */
    struct pawl_rows work;      /* its mail, soonest due first */
    struct pawl_rows letters;   /* dead ones: the total counts */
    struct pawl_rows nodes;
    struct pawl_rows children; /* that run; the total counts */
    struct pawl_rows named;    /* the children that bookmarks name, whatever their status */
    int64_t now_us;
};

/* A text that an arena may have had no memory for: then the builder's status says so. */
static inline void why_put(struct why *why, struct pawl_json *object, const char *key,
                           const char *text)
{
    if (!text && why->b.status == PAWL_OK)
        why->b.status = pawl__arena_status(why->b.arena);
    pawl__cli_put(&why->b, object, key, pawl__str(text));
}

/* Appends {"to", "command"}: `command` with the id of the instance. */
void pawl__cli_why_command(struct why *why, struct pawl_json *commands, const char *to,
                           const char *command);

/* Reads the children that it may wait for. */
PAWL_MUST_CHECK int pawl__cli_why_children(struct why *why, struct pawl_error *err);
/* The member waitsFor. */
struct pawl_json pawl__cli_why_waits(struct why *why);

#endif
