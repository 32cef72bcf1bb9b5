/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting a template into text, output and tags, and those into tokens. */
#include "expressions/liquid/lex.h"

bool pawl__liquid_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Letters of all alphabets may be in a name: any byte of a longer character counts as one. */
static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           (unsigned char)c >= 0x80;
}

static char peek(const struct liquid_lexer *lexer, size_t ahead)
{
    return lexer->at + ahead < lexer->text.len ? lexer->text.ptr[lexer->at + ahead] : '\0';
}

/* Whether the closing braces begin `ahead` of here; without their dash. */
static bool closes(const struct liquid_lexer *lexer, size_t ahead)
{
    return lexer->close != '\n' && peek(lexer, ahead) == lexer->close &&
           peek(lexer, ahead + 1) == '}';
}

static bool at_end(struct liquid_lexer *lexer)
{
    if (lexer->close == '\n') {
        if (lexer->at < lexer->text.len && peek(lexer, 0) != '\n')
            return false;
        if (lexer->at < lexer->text.len)
            lexer->at++;
        return true;
    }
    lexer->dashed = peek(lexer, 0) == '-' && closes(lexer, 1);
    if (!lexer->dashed && !closes(lexer, 0))
        return false;
    lexer->at += lexer->dashed ? 3 : 2;
    return true;
}

static void take(struct liquid_lexer *lexer, enum liquid_token_kind kind, size_t len)
{
    lexer->token.kind = kind;
    lexer->token.text = pawl__str_slice(lexer->text, lexer->at, lexer->at + len);
    lexer->at += len;
}

/* A dash may be in a name, but not as the dash of the closing braces. */
static void take_name(struct liquid_lexer *lexer)
{
    size_t len = 1;

    for (;;) {
        char c = peek(lexer, len);

        if (!is_name_start(c) && !is_digit(c) && (c != '-' || closes(lexer, len + 1)))
            break;
        len++;
    }
    take(lexer, LIQUID_TOKEN_NAME, len);
}

/* 12, -1.5; the point only before a digit, so that 1..3 is a range. */
static void take_number(struct liquid_lexer *lexer)
{
    size_t len = 1;

    while (is_digit(peek(lexer, len)))
        len++;
    if (peek(lexer, len) == '.' && is_digit(peek(lexer, len + 1))) {
        len++;
        while (is_digit(peek(lexer, len)))
            len++;
    }
    take(lexer, LIQUID_TOKEN_NUMBER, len);
}

static void take_string(struct liquid_lexer *lexer)
{
    char quote = peek(lexer, 0);
    size_t len = 1;

    while (lexer->at + len < lexer->text.len && peek(lexer, len) != quote)
        len += peek(lexer, len) == '\\' ? 2 : 1;
    if (lexer->at + len >= lexer->text.len) {
        take(lexer, LIQUID_TOKEN_OTHER, 1);
        return;
    }
    take(lexer, LIQUID_TOKEN_STRING, len + 1);
    lexer->token.text = pawl__str_slice(lexer->token.text, 1, len);
}

static void take_sign(struct liquid_lexer *lexer)
{
    static const struct {
        char text[3];
        enum liquid_token_kind kind;
    } signs[] = {
        /* Longer ones first. */
        {"..", LIQUID_TOKEN_DOTS},        {"==", LIQUID_TOKEN_EQUAL},
        {"!=", LIQUID_TOKEN_NOT_EQUAL},   {"<>", LIQUID_TOKEN_NOT_EQUAL},
        {"<=", LIQUID_TOKEN_LESS_EQUAL},  {">=", LIQUID_TOKEN_GREATER_EQUAL},
        {"<", LIQUID_TOKEN_LESS},         {">", LIQUID_TOKEN_GREATER},
        {".", LIQUID_TOKEN_DOT},          {"[", LIQUID_TOKEN_OPEN_SQUARE},
        {"]", LIQUID_TOKEN_CLOSE_SQUARE}, {"(", LIQUID_TOKEN_OPEN_ROUND},
        {")", LIQUID_TOKEN_CLOSE_ROUND},  {",", LIQUID_TOKEN_COMMA},
        {":", LIQUID_TOKEN_COLON},        {"|", LIQUID_TOKEN_PIPE},
        {"=", LIQUID_TOKEN_ASSIGN},
    };

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (peek(lexer, 0) == signs[i].text[0] &&
            (!signs[i].text[1] || peek(lexer, 1) == signs[i].text[1])) {
            take(lexer, signs[i].kind, signs[i].text[1] ? 2 : 1);
            return;
        }
    }
    take(lexer, LIQUID_TOKEN_OTHER, 1);
}

void pawl__liquid_lex_next(struct liquid_lexer *lexer)
{
    char c;

    while (pawl__liquid_is_space(peek(lexer, 0)) && peek(lexer, 0) != lexer->close)
        lexer->at++;
    lexer->token = (struct liquid_token){.kind = LIQUID_TOKEN_END, .offset = lexer->at};
    if (at_end(lexer))
        return;
    c = peek(lexer, 0);
    if (lexer->at >= lexer->text.len)
        lexer->token.kind = LIQUID_TOKEN_MISSING;
    else if (is_name_start(c))
        take_name(lexer);
    else if (is_digit(c) || (c == '-' && is_digit(peek(lexer, 1))))
        take_number(lexer);
    else if (c == '\'' || c == '"')
        take_string(lexer);
    else
        take_sign(lexer);
}

void pawl__liquid_lex_begin(struct liquid_lexer *lexer, struct pawl_str text, size_t at, char close)
{
    *lexer = (struct liquid_lexer){.text = text, .at = at, .close = close};
    pawl__liquid_lex_next(lexer);
}
