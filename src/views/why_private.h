/* SPDX-License-Identifier: Apache-2.0 */
/* What why.c and why_waits.c share; see why.h. */
#ifndef PAWL_VIEWS_WHY_PRIVATE_H
#define PAWL_VIEWS_WHY_PRIVATE_H

#include "views/why.h"

struct why_view {
    struct pawl_builder *b;
    const struct pawl_why *why;
    const char *suffix; /* of commands */
};

/* A text that an arena may have had no memory for: then the builder's status says so. */
static inline void why_put(const struct why_view *view, struct pawl_json *object, const char *key,
                           const char *text)
{
    if (!text && view->b->status == PAWL_OK)
        view->b->status = pawl__arena_status(view->b->arena);
    pawl__view_text(view->b, object, key, pawl__str(text));
}

/* The member waitsFor. */
struct pawl_json pawl__view_why_waits(const struct why_view *view);

#endif
