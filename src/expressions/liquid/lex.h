/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of the markup between {{ }} and {% %}, and of a line of {% liquid %}. */
#ifndef PAWL_EXPRESSIONS_LIQUID_LEX_H
#define PAWL_EXPRESSIONS_LIQUID_LEX_H

#include "base/str.h"

enum liquid_token_kind {
    LIQUID_TOKEN_END,     /* the closing braces, or the end of the line */
    LIQUID_TOKEN_MISSING, /* the text ends, the closing braces are missing */
    LIQUID_TOKEN_NAME,
    LIQUID_TOKEN_NUMBER,
    LIQUID_TOKEN_STRING, /* text is what is between the quotes, escapes and all */
    LIQUID_TOKEN_DOT,
    LIQUID_TOKEN_DOTS, /* .. */
    LIQUID_TOKEN_OPEN_SQUARE,
    LIQUID_TOKEN_CLOSE_SQUARE,
    LIQUID_TOKEN_OPEN_ROUND,
    LIQUID_TOKEN_CLOSE_ROUND,
    LIQUID_TOKEN_COMMA,
    LIQUID_TOKEN_COLON,
    LIQUID_TOKEN_PIPE,
    LIQUID_TOKEN_ASSIGN,
    LIQUID_TOKEN_EQUAL,
    LIQUID_TOKEN_NOT_EQUAL,
    LIQUID_TOKEN_LESS,
    LIQUID_TOKEN_LESS_EQUAL,
    LIQUID_TOKEN_GREATER,
    LIQUID_TOKEN_GREATER_EQUAL,
    LIQUID_TOKEN_OTHER, /* what belongs nowhere; an unclosed string */
};

struct liquid_token {
    enum liquid_token_kind kind;
    struct pawl_str text;
    size_t offset; /* where it begins */
};

struct liquid_lexer {
    struct pawl_str text; /* borrowed */
    size_t at;
    char close;                /* '}' or '%'; '\n' for a line */
    bool dashed;               /* at END: the closing braces have a dash */
    struct liquid_token token; /* the current one */
};

/* Begins behind the opening braces and reads the first token. */
void pawl__liquid_lex_begin(struct liquid_lexer *lexer, struct pawl_str text, size_t at,
                            char close);
/* Reads the next token. After END `at` is behind the closing braces. */
void pawl__liquid_lex_next(struct liquid_lexer *lexer);

static inline bool pawl__liquid_lex_is_name(const struct liquid_lexer *lexer, const char *name)
{
    return lexer->token.kind == LIQUID_TOKEN_NAME && pawl__str_is(lexer->token.text, name);
}

bool pawl__liquid_is_space(char c); /* ASCII white space */

#endif
