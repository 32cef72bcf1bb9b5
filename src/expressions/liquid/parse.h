/* SPDX-License-Identifier: Apache-2.0 */
/* A parsed template: statements and expressions in an arena. Texts borrow from the template. */
#ifndef PAWL_EXPRESSIONS_LIQUID_PARSE_H
#define PAWL_EXPRESSIONS_LIQUID_PARSE_H

#include "expressions/liquid/lex.h"
#include "expressions/liquid/value.h"

struct liquid_filter;

enum liquid_operator {
    LIQUID_OP_EQUAL,
    LIQUID_OP_NOT_EQUAL,
    LIQUID_OP_LESS,
    LIQUID_OP_LESS_EQUAL,
    LIQUID_OP_GREATER,
    LIQUID_OP_GREATER_EQUAL,
    LIQUID_OP_CONTAINS,
    LIQUID_OP_STARTS_WITH,
    LIQUID_OP_ENDS_WITH,
    LIQUID_OP_AND,
    LIQUID_OP_OR,
};

enum liquid_expr_kind {
    LIQUID_EXPR_LITERAL,
    LIQUID_EXPR_NAME,   /* text */
    LIQUID_EXPR_MEMBER, /* left . text */
    LIQUID_EXPR_INDEX,  /* left [ right ] */
    LIQUID_EXPR_RANGE,  /* ( left .. right ) */
    LIQUID_EXPR_BINARY, /* left op right */
    LIQUID_EXPR_FILTER, /* left | filter: arguments */
};

struct liquid_expr {
    enum liquid_expr_kind kind;
    enum liquid_operator op;
    struct liquid_expr *left;
    struct liquid_expr *right;
    struct pawl_str text;
    struct liquid_value literal;
    const struct liquid_filter *filter; /* NULL: unknown, the value passes through */
    struct liquid_argument *arguments;  /* in order */
};

/* An argument of a filter, or one of several values of a tag. */
struct liquid_argument {
    struct pawl_str name; /* "" by position */
    struct liquid_expr *expr;
    struct liquid_argument *next;
};

enum liquid_node_kind {
    LIQUID_NODE_TEXT,   /* text */
    LIQUID_NODE_OUTPUT, /* expr */
    LIQUID_NODE_IF,     /* branches; expr NULL: else */
    LIQUID_NODE_CASE,   /* expr; branches with values */
    LIQUID_NODE_FOR,
    LIQUID_NODE_ASSIGN,  /* text = expr */
    LIQUID_NODE_CAPTURE, /* text = body */
    LIQUID_NODE_INCREMENT,
    LIQUID_NODE_DECREMENT,
    LIQUID_NODE_CYCLE, /* expr: the group or NULL; values */
    LIQUID_NODE_BREAK,
    LIQUID_NODE_CONTINUE,
    LIQUID_NODE_BLOCK, /* body */
};

struct liquid_branch {
    struct liquid_expr *expr;       /* IF: the condition; NULL: else */
    bool negate;                    /* unless */
    struct liquid_argument *values; /* CASE: NULL: else */
    struct liquid_node *body;
    struct liquid_branch *next;
};

struct liquid_node {
    enum liquid_node_kind kind;
    struct pawl_str text;
    struct liquid_expr *expr;
    struct liquid_argument *values;
    struct liquid_branch *branches;
    struct liquid_node *body;
    struct liquid_node *otherwise; /* FOR: else */
    struct liquid_expr *limit;
    struct liquid_expr *offset;
    bool reversed;
    bool offset_continue; /* where the last loop over the same source stopped */
    struct liquid_node *next;
};

/* State of a parse. */
struct liquid_parser {
    struct pawl_arena *arena;
    struct liquid_lexer lexer;
    struct pawl_str text;
    size_t at;  /* bytes of `text` that are done */
    bool trim;  /* the last markup ended with a dash: white space is passed over */
    bool lines; /* inside {% liquid %}: a tag per line, up to `end` */
    size_t end;
    unsigned depth;      /* of nested tags */
    unsigned expr_depth; /* of nested expressions */
    struct pawl_str tag; /* name of the tag last read */
    struct pawl_exception *raised;
};

/* The whole template. ENGINE_RAISED, PAWL_ENOMEM, PAWL_ELIMIT. */
PAWL_MUST_CHECK int pawl__liquid_parse(struct pawl_arena *arena, struct pawl_str text,
                                       struct liquid_node **out, struct pawl_exception *raised);

/* Fills in the exception with the place: `format` is what is wrong there. ENGINE_RAISED. */
int pawl__liquid_parse_error(struct liquid_parser *parser, size_t offset, const char *format, ...)
    PAWL_PRINTF(3, 4);

/* Expressions, from the lexer's current token on; the token behind is current afterwards. */
PAWL_MUST_CHECK int pawl__liquid_parse_primary(struct liquid_parser *parser,
                                               struct liquid_expr **out);
PAWL_MUST_CHECK int pawl__liquid_parse_logical(struct liquid_parser *parser,
                                               struct liquid_expr **out);
PAWL_MUST_CHECK int pawl__liquid_parse_filtered(struct liquid_parser *parser,
                                                struct liquid_expr **out);
/* value, value, … ; `or` between them too when `allow_or`. */
PAWL_MUST_CHECK int pawl__liquid_parse_list(struct liquid_parser *parser, bool allow_or,
                                            struct liquid_argument **out);
/* The token must be the end of the markup. */
PAWL_MUST_CHECK int pawl__liquid_parse_end(struct liquid_parser *parser);

#endif
