/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Liquid templates, as Elsa's library renders them: text with {{ outputs | filters }} and
 * {% tags %}. Pure: what a template may look at comes in through a table of functions.
 *
 * How the parts hang together:
 *
 *     liquid.c            the expression language: a template of a definition, in a context
 *     lex.c               markup -> tokens
 *     scan.c              text -> outputs and tags; tags.c: those -> statements
 *     parse.c             tokens -> expressions
 *     eval.c              runs statements; expr.c: evaluates expressions
 *     value.c             what values are; print.c: what they print and compare as
 *     number.c            arithmetic
 *     text.c              letters and positions in texts
 *     filters.c           the table of filters, which are in filter_*.c
 *
 * A template that does not parse is an exception with line and column. (Elsa prints the
 * message in place of the text.)
 */
#ifndef PAWL_EXPRESSIONS_LIQUID_LIQUID_H
#define PAWL_EXPRESSIONS_LIQUID_LIQUID_H

#include "base/time/timezone.h"
#include "engine/exception.h"
#include "engine/value/value.h"

#include <pawl/error.h>

/* Limits: far above templates that people write, and far below what takes a node down. */
#define LIQUID_TEMPLATE_BYTES_MAX ((size_t)1 << 20)
#define LIQUID_OUTPUT_BYTES_MAX ((size_t)16 << 20)
#define LIQUID_ARENA_BYTES_MAX ((size_t)64 << 20) /* parsed template and intermediate values */
#define LIQUID_DEPTH_MAX 64                       /* of nested tags */
/*
 * Statements run, items and members looked at, and LIQUID_BYTES_PER_STEP bytes compared, searched,
 * copied or printed: half a second of computing at the most.
 */
#define LIQUID_STEPS_MAX 1000000
#define LIQUID_BYTES_PER_STEP 128

/* Where a template's names come from. */
struct pawl_liquid_scope {
    /*
     * Variables.<name>, Input.<name> and the names of the root: false when there is none. The
     * value lives as long as the rendering.
     */
    bool (*variable)(void *ctx, struct pawl_str name, struct pawl_value *out);
    bool (*input)(void *ctx, struct pawl_str name, struct pawl_value *out);
    bool (*root)(void *ctx, struct pawl_str name, struct pawl_value *out);
    /* Asked now and then: true ends the rendering with PAWL_EBUSY. NULL: never. */
    bool (*stop)(void *ctx);
    void *ctx;
    int64_t now_ticks; /* UTC: what "now" is */
    /* A time zone by its name, which is freed here; NULL: only UTC and plain offsets are known. */
    int (*timezone)(const struct pawl_allocator *alloc, struct pawl_str name,
                    struct pawl_timezone **out, struct pawl_error *err);
    /* The address of a link that sends the event to the instance, in the arena; `life_ticks` 0: for
     * ever. NULL: the filter createEventTriggerUrl raises an exception. */
    int (*event_url)(void *ctx, struct pawl_arena *arena, struct pawl_str event, int64_t life_ticks,
                     struct pawl_str *out, struct pawl_error *err);
};

/*
 * Appends what the template renders to. ENGINE_RAISED with *raised filled in (in `arena`) for
 * templates that do not parse, for what Elsa's filters throw (division by zero), and past
 * the limits above; PAWL_EBUSY when `stop` said so; PAWL_ENOMEM. After a failure the buffer holds
 * what was rendered so far.
 */
PAWL_MUST_CHECK int pawl__liquid_render(struct pawl_arena *arena, struct pawl_str template_text,
                                        const struct pawl_liquid_scope *scope, struct pawl_buf *out,
                                        struct pawl_exception *raised);

/* Parses only. ENGINE_RAISED with the message in *raised. */
PAWL_MUST_CHECK int pawl__liquid_check(struct pawl_arena *arena, struct pawl_str template_text,
                                       struct pawl_exception *raised);

#endif
