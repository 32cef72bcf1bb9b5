/* SPDX-License-Identifier: Apache-2.0 */
/* A template being rendered, and what filters and statements use of it. */
#ifndef PAWL_EXPRESSIONS_LIQUID_RUN_H
#define PAWL_EXPRESSIONS_LIQUID_RUN_H

#include "expressions/liquid/liquid.h"
#include "expressions/liquid/value.h"

struct liquid_expr;
struct liquid_node;

#define LIQUID_EXPR_DEPTH_MAX 16  /* a[b[c[…]]] */
#define LIQUID_EXPR_LENGTH_MAX 64 /* members in a path, comparisons or filters in a row */
#define LIQUID_TERMS_MAX 1000     /* joined by and, or */
#define LIQUID_ARGUMENTS_MAX 64   /* of one filter */

/* A name that a template gave a value; numbers of increment and cycle have names of their own. */
struct liquid_binding {
    char space; /* 'v' variable, 'c' counter, 'y' cycle, 'o' where a loop stopped */
    struct pawl_str name;
    struct liquid_value value;
    struct liquid_binding *next;
};

struct liquid_run {
    struct pawl_arena *arena;
    const struct pawl_liquid_scope *scope;
    struct pawl_exception *raised;
    struct pawl_buf *out;
    struct liquid_binding *bindings;
    struct liquid_binding *locals; /* of loops, innermost first */
    const struct liquid_loop *loop;
    uint32_t steps;
    uint32_t bytes;  /* that make no whole step yet */
    uint32_t polled; /* steps when `stop` was asked last */
    bool is_stopped;
};

/* Values that a filter was given, in order; `names` are "" for those by position. */
struct liquid_args {
    const struct liquid_value *values;
    const struct pawl_str *names;
    uint32_t count;
};

/* The argument by position; nil when there are not as many. */
struct liquid_value pawl__liquid_arg(const struct liquid_args *args, uint32_t index);
/* The argument by name; nil. */
struct liquid_value pawl__liquid_arg_named(const struct liquid_args *args, const char *name);

/* Fills in the exception. ENGINE_RAISED, or PAWL_ENOMEM. */
int pawl__liquid_raise(struct liquid_run *run, const char *type, const char *format, ...)
    PAWL_PRINTF(3, 4);
/* What the arena says after it refused: memory, or the limit as an exception. */
int pawl__liquid_refused(struct liquid_run *run);
/* The same for a buffer whose status is not PAWL_OK. */
int pawl__liquid_buf_refused(struct liquid_run *run, const struct pawl_buf *buf);
/* Counts `count` steps; raises when there were too many. */
PAWL_MUST_CHECK int pawl__liquid_step(struct liquid_run *run, uint32_t count);
/*
 * Counts bytes that are looked at or written. true: there were too many steps, so that what the
 * caller does is of no use any more; the next pawl__liquid_step() says so.
 */
bool pawl__liquid_charge(struct liquid_run *run, size_t bytes);

PAWL_MUST_CHECK int pawl__liquid_evaluate(struct liquid_run *run, const struct liquid_expr *expr,
                                          struct liquid_value *out);
/* Runs statements. *stop: NULL, or the break or continue that ended them. */
PAWL_MUST_CHECK int pawl__liquid_execute(struct liquid_run *run, const struct liquid_node *node,
                                         const struct liquid_node **stop);

struct liquid_binding *pawl__liquid_find(struct liquid_run *run, struct liquid_binding *list,
                                         char space, struct pawl_str name);
PAWL_MUST_CHECK int pawl__liquid_bind(struct liquid_run *run, char space, struct pawl_str name,
                                      struct liquid_value value);

/* ---- texts ------------------------------------------------------------------------------- */

/* A text being made. */
void pawl__liquid_text_begin(struct liquid_run *run, struct pawl_buf *buf);
/* Copies the buffer into the arena as a string value and releases it. */
PAWL_MUST_CHECK int pawl__liquid_text_end(struct liquid_run *run, struct pawl_buf *buf,
                                          struct liquid_value *out);

/* Positions count UTF-16 units, as in Elsa; one inside a character means behind it. */
size_t pawl__liquid_text_length(struct pawl_str text);
/* Bytes of the first `units`. */
size_t pawl__liquid_text_offset(struct pawl_str text, size_t units);

bool pawl__liquid_char_is_space(uint32_t c);
uint32_t pawl__liquid_char_upper(uint32_t c);
uint32_t pawl__liquid_char_lower(uint32_t c);
struct pawl_str pawl__liquid_text_trim_start(struct pawl_str text);
struct pawl_str pawl__liquid_text_trim_end(struct pawl_str text);
/* Index of the first, or last, `what` in text; SIZE_MAX. An empty one is at the start, or end. */
size_t pawl__liquid_text_find(struct pawl_str text, struct pawl_str what, size_t from);
/* PAWL_OK with the index in *at. */
PAWL_MUST_CHECK int pawl__liquid_text_find_last(struct liquid_run *run, struct pawl_str text,
                                                struct pawl_str what, size_t *at);
void pawl__liquid_text_append_char(struct pawl_buf *out, uint32_t c);

#endif
