/* SPDX-License-Identifier: Apache-2.0 */
/* What can be seen in the text of a script without parsing it: names that it mentions. */
#ifndef PAWL_EXPRESSIONS_JAVASCRIPT_SOURCE_H
#define PAWL_EXPRESSIONS_JAVASCRIPT_SOURCE_H

#include "base/arena.h"
#include "base/str.h"

/* Names past this are not bound: such a script runs with all of them, on an engine of its own. */
#define PAWL_JAVASCRIPT_NAMES_MAX 32

struct pawl_javascript_names {
    struct pawl_str items[PAWL_JAVASCRIPT_NAMES_MAX];
    uint32_t count;
    bool more; /* there are more than fit */
};

struct pawl_javascript_source {
    /* Identifiers that begin with "get" or "set", each once: perhaps accessors. */
    struct pawl_javascript_names accessors;
    /* Names behind "variables.", each once. */
    struct pawl_javascript_names variables;
    /* Names behind "input.", each once. */
    struct pawl_javascript_names inputs;
    /* Names that are perhaps assigned to (a sign of assignment follows), each once. */
    struct pawl_javascript_names assigned;
    bool mentions_variables;
    /* It mentions eval, Function, globalThis, prototype, …: what works only on an own engine. */
    bool reaches_out;
    /* Its first token begins a statement: it is no expression though it may look like one. */
    bool begins_statement;
    /* Without blanks and semicolons at its end: what can be put in parentheses as an expression. */
    struct pawl_str expression;
};

/*
 * Strings, comments and regular expressions are looked into as if they were code: a name too many
 * costs time only. The names are slices of `text`.
 */
void pawl__javascript_source_read(struct pawl_str text, struct pawl_javascript_source *out);

/* Whether the word occurs anywhere in the text as a separate name. */
bool pawl__javascript_mentions(struct pawl_str text, const char *word);

/*
 * Where a parser stopped: reads the token at a line and column (both from 1) and writes what the
 * reference says of it, "Unexpected token ';'". A place behind the text becomes that of its end.
 */
void pawl__javascript_unexpected(struct pawl_str text, uint32_t *line, uint32_t *column,
                                 char *message, size_t size);

#endif
