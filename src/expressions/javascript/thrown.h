/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of errors: what the reference's engine says where this one says something else. Only of the
 * errors that scripts run into most: reading a property of nothing, calling what is no function,
 * assigning to a constant, using a name too early. All other texts stay.
 */
#ifndef PAWL_EXPRESSIONS_JAVASCRIPT_THROWN_H
#define PAWL_EXPRESSIONS_JAVASCRIPT_THROWN_H

#include "base/arena.h"
#include "base/str.h"

struct pawl_javascript_thrown {
    struct pawl_str script;  /* the text that ran */
    uint32_t line;           /* of the script, from 1; 0: unknown */
    uint32_t column;         /* bytes from the line's start */
    bool by_native;          /* a built-in function threw it */
    struct pawl_str message; /* the engine's own */
    /* Whether a name is that of a function, or of an object whose members are functions. */
    bool (*is_known)(void *ctx, struct pawl_str name);
    void *ctx;
};

/* Returns the message itself where there is nothing to say; its memory is the arena's or borrowed.
 */
struct pawl_str pawl__javascript_thrown_text(struct pawl_arena *arena,
                                             const struct pawl_javascript_thrown *thrown);

#endif
