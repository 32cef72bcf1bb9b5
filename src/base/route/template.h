/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Route templates of workflows: "/orders/{id}", in the syntax of ASP.NET, which Elsa uses.
 *
 *     orders/new              literals; ASCII letters compare without case
 *     orders/{id}             a parameter: one segment that is not empty
 *     orders/{id?}            optional, at the end only
 *     orders/{id=latest}      with a default, which a path that ends before it gets
 *     orders/{id:int:min(1)}  with constraints, all of which must hold; see constraint.h
 *     files/{name}.{ext?}     several parts in one segment; the rightmost separators count
 *     files/{*rest}           all that is left, slashes included, perhaps nothing; at the end only;
 *                             {**rest} is the same
 *
 * Slashes at both ends do not count. Not accepted: "//", "{{" and "}}" outside of a constraint's
 * arguments, two parameters of one name, two parameters side by side, '?' in a literal.
 *
 * Which of several templates that match a path is the more specific is decided segment by segment
 * from the left: literal, several parts or with constraints, parameter, rest with constraints,
 * rest. Where they agree the shorter one wins.
 */
#ifndef PAWL_BASE_ROUTE_TEMPLATE_H
#define PAWL_BASE_ROUTE_TEMPLATE_H

#include "base/buf.h"
#include "base/route/path.h"
#include "base/str.h"

#include <pawl/error.h>

/* Longer ones are mistakes; a node may hold many. */
#define PAWL_ROUTE_TEMPLATE_BYTES_MAX 1024
#define PAWL_ROUTE_TEMPLATE_PARTS_MAX 64
#define PAWL_ROUTE_VALUES_MAX 32

struct pawl_route_part {
    struct pawl_str text;        /* the literal, or the name of the parameter */
    struct pawl_str constraints; /* "int:min(1)"; empty: none */
    struct pawl_str fallback;    /* the default; ptr is NULL when there is none */
    bool parameter, optional, rest;
};

struct pawl_route_segment {
    struct pawl_str text; /* as it is written */
    uint16_t part_first, part_count;
};

struct pawl_route_template {
    struct pawl_route_segment segments[PAWL_ROUTE_SEGMENTS_MAX];
    struct pawl_route_part parts[PAWL_ROUTE_TEMPLATE_PARTS_MAX];
    uint16_t segment_count, part_count, parameter_count;
};

struct pawl_route_value {
    struct pawl_str name;  /* borrows the template's text */
    struct pawl_str value; /* borrows the path, or the template's text for a default; ptr is NULL
                              for a rest of which nothing is left */
};

struct pawl_route_values {
    struct pawl_route_value items[PAWL_ROUTE_VALUES_MAX];
    size_t count; /* in the order of the template; an optional parameter without a value is not
                     among them */
};

/* Borrows `text` for the template's life. PAWL_EINVAL: it is none, and the message says why. */
PAWL_MUST_CHECK int pawl__route_template_parse(struct pawl_str text,
                                               struct pawl_route_template *out,
                                               struct pawl_error *err);

/* Whether the path is one of the template's, and the values of its parameters (NULL: not asked). */
bool pawl__route_template_match(const struct pawl_route_template *template,
                                const struct pawl_route_path *path,
                                struct pawl_route_values *values);

/*
 * How specific a segment is: 1 literal, 2 several parts or with constraints, 3 a parameter, 4 a
 * rest with constraints, 5 a rest.
 */
int pawl__route_segment_rank(const struct pawl_route_template *template, size_t segment);

/* Negative: a comes before b. 0: they have one shape. */
int pawl__route_segment_compare(const struct pawl_route_template *a, size_t segment_a,
                                const struct pawl_route_template *b, size_t segment_b);
int pawl__route_template_compare(const struct pawl_route_template *a,
                                 const struct pawl_route_template *b);

/*
 * Appends what the template has in common with all that match just the same paths: names and
 * defaults left out, literals in lower case. "/Orders/{id:int}" and "orders/{number:int}/" both
 * have "/orders/{:int}". Two definitions on one shape and one method would be ambiguous.
 */
void pawl__route_template_shape(const struct pawl_route_template *template, struct pawl_buf *out);

/* The same of one segment. */
void pawl__route_segment_shape(const struct pawl_route_template *template, size_t segment,
                               struct pawl_buf *out);

/* For tables of templates: whether a path's segment is this segment's, and whether a path may end
 * before it. */
bool pawl__route_segment_match(const struct pawl_route_template *template, size_t segment,
                               struct pawl_str text, struct pawl_route_values *values);
bool pawl__route_segment_absent(const struct pawl_route_template *template, size_t segment);

#endif
