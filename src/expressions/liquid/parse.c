/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions. `and` and `or` bind alike and group from the right, comparisons group from the left:
 * a and b or c is a and (b or c). Filters come last and apply to the whole expression.
 */
#include "expressions/liquid/parse.h"

#include "base/error.h"
#include "expressions/liquid/filters.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- errors ------------------------------------------------------------------------------ */

static void find_place(struct pawl_str text, size_t offset, unsigned *line, unsigned *column)
{
    *line = 1;
    *column = 1;
    for (size_t at = 0; at < offset && at < text.len;) {
        if (pawl__utf8_next(text, &at) == '\n') {
            ++*line;
            *column = 1;
        } else {
            ++*column;
        }
    }
}

int pawl__liquid_parse_error(struct liquid_parser *parser, size_t offset, const char *format, ...)
{
    unsigned line;
    unsigned column;
    const char *message;
    char what[160];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    /* A name that was cut off may end inside a character. */
    what[pawl__utf8_valid_prefix(pawl__str(what))] = '\0';
    find_place(parser->text, offset, &line, &column);
    message = pawl__arena_printf(parser->arena, "The Liquid template is not valid: %s at (%u:%u)",
                                 what, line, column);
    if (!message)
        return pawl__arena_status(parser->arena);
    *parser->raised =
        (struct pawl_exception){.type = pawl__str("ParseException"), .message = pawl__str(message)};
    return ENGINE_RAISED;
}

static int unexpected(struct liquid_parser *parser, const char *wanted)
{
    const struct liquid_token *token = &parser->lexer.token;

    if (token->kind == LIQUID_TOKEN_MISSING)
        return pawl__liquid_parse_error(parser, token->offset, "End of tag '%s' was expected",
                                        parser->lexer.close == '}' ? "}}" : "%}");
    return pawl__liquid_parse_error(parser, token->offset, "%s was expected", wanted);
}

int pawl__liquid_parse_end(struct liquid_parser *parser)
{
    const struct liquid_token *token = &parser->lexer.token;

    if (token->kind == LIQUID_TOKEN_END)
        return PAWL_OK;
    return pawl__liquid_parse_error(parser, token->offset, "End of %s was expected",
                                    parser->lexer.close == '}'   ? "tag '}}'"
                                    : parser->lexer.close == '%' ? "tag '%}'"
                                                                 : "line");
}

/* ---- literals ---------------------------------------------------------------------------- */

static int expr_new(struct liquid_parser *parser, enum liquid_expr_kind kind,
                    struct liquid_expr **out)
{
    struct liquid_expr *expr = pawl__arena_alloc_aligned(parser->arena, sizeof *expr, 16);

    if (!expr)
        return pawl__arena_status(parser->arena);
    *expr = (struct liquid_expr){.kind = kind};
    *out = expr;
    return PAWL_OK;
}

static int literal_new(struct liquid_parser *parser, struct liquid_value value,
                       struct liquid_expr **out)
{
    int status = expr_new(parser, LIQUID_EXPR_LITERAL, out);

    if (status == PAWL_OK) {
        (*out)->literal = value;
        pawl__liquid_lex_next(&parser->lexer);
    }
    return status;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* \uXXXX or \xX…: up to `max` digits from *at on, at least `min`. */
static bool read_hex(struct pawl_str text, size_t *at, unsigned min, unsigned max, uint32_t *out)
{
    unsigned count = 0;

    *out = 0;
    while (count < max && *at < text.len && hex_digit(text.ptr[*at]) >= 0) {
        *out = *out << 4 | (uint32_t)hex_digit(text.ptr[(*at)++]);
        count++;
    }
    return count >= min;
}

/* Reads the escape behind a backslash; a pair of surrogates is one character. */
static bool read_escape(struct pawl_str text, size_t *at, uint32_t *out)
{
    static const char from[] = "0'\"\\bfnrtv";
    static const char to[] = "\0'\"\\\b\f\n\r\t\v";
    char c = text.ptr[(*at)++];
    const char *found = c ? strchr(from, c) : NULL;
    uint32_t low;

    if (found) {
        *out = (unsigned char)to[found - from];
        return true;
    }
    if (c == 'x')
        return read_hex(text, at, 1, 4, out) && (*out < 0xd800 || *out > 0xdfff);
    if (c != 'u' || !read_hex(text, at, 4, 4, out))
        return false;
    if (*out < 0xd800 || *out > 0xdfff)
        return true;
    if (*out > 0xdbff || *at + 6 > text.len || text.ptr[*at] != '\\' || text.ptr[*at + 1] != 'u')
        return false;
    *at += 2;
    if (!read_hex(text, at, 4, 4, &low) || low < 0xdc00 || low > 0xdfff)
        return false;
    *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

static int parse_string(struct liquid_parser *parser, struct liquid_expr **out)
{
    struct liquid_token token = parser->lexer.token;
    char *text;
    size_t len = 0;

    if (pawl__str_find(token.text, '\\', 0) == SIZE_MAX)
        return literal_new(parser, pawl__liquid_string(token.text), out);
    text = pawl__arena_alloc_aligned(parser->arena, token.text.len + 1, 1);
    if (!text)
        return pawl__arena_status(parser->arena);
    /* What an escape stands for is never longer than the escape. */
    for (size_t at = 0; at < token.text.len;) {
        uint32_t code = 0;

        if (token.text.ptr[at] != '\\') {
            text[len++] = token.text.ptr[at++];
            continue;
        }
        at++;
        if (!read_escape(token.text, &at, &code))
            return pawl__liquid_parse_error(parser, token.offset + at,
                                            "A valid escape was expected");
        len += pawl__utf8_encode(code, text + len);
    }
    return literal_new(parser, pawl__liquid_string(pawl__str_make(text, len)), out);
}

static int parse_number(struct liquid_parser *parser, struct liquid_expr **out)
{
    struct liquid_token token = parser->lexer.token;
    struct pawl_number_text number;
    struct pawl_net_decimal value;

    if (!pawl__number_scan(token.text, PAWL_NUMBER_FLOAT, &number) ||
        !pawl__net_decimal_from_text(&number, &value))
        return pawl__liquid_parse_error(parser, token.offset, "A smaller number was expected");
    return literal_new(parser, pawl__liquid_decimal(value), out);
}

/* ---- names, ranges ----------------------------------------------------------------------- */

static bool take_kind(struct liquid_parser *parser, enum liquid_token_kind kind)
{
    if (parser->lexer.token.kind != kind)
        return false;
    pawl__liquid_lex_next(&parser->lexer);
    return true;
}

static int parse_segment(struct liquid_parser *parser, struct liquid_expr **expr)
{
    bool is_index = parser->lexer.token.kind == LIQUID_TOKEN_OPEN_SQUARE;
    struct liquid_expr *segment;
    int status = expr_new(parser, is_index ? LIQUID_EXPR_INDEX : LIQUID_EXPR_MEMBER, &segment);

    if (status != PAWL_OK)
        return status;
    pawl__liquid_lex_next(&parser->lexer);
    segment->left = *expr;
    *expr = segment;
    if (is_index) {
        status = pawl__liquid_parse_primary(parser, &segment->right);
        if (status == PAWL_OK && !take_kind(parser, LIQUID_TOKEN_CLOSE_SQUARE))
            status = unexpected(parser, "']'");
        return status;
    }
    if (parser->lexer.token.kind != LIQUID_TOKEN_NAME)
        return unexpected(parser, "A name");
    segment->text = parser->lexer.token.text;
    pawl__liquid_lex_next(&parser->lexer);
    return PAWL_OK;
}

/* a.b['c'][0]. Its length is bounded like any nesting: evaluation goes from the outside in. */
static int parse_path(struct liquid_parser *parser, struct liquid_expr **out)
{
    int status = expr_new(parser, LIQUID_EXPR_NAME, out);
    unsigned length = 0;

    if (status != PAWL_OK)
        return status;
    (*out)->text = parser->lexer.token.text;
    pawl__liquid_lex_next(&parser->lexer);
    while (status == PAWL_OK && (parser->lexer.token.kind == LIQUID_TOKEN_DOT ||
                                 parser->lexer.token.kind == LIQUID_TOKEN_OPEN_SQUARE)) {
        if (++length > LIQUID_EXPR_LENGTH_MAX)
            return pawl__liquid_parse_error(parser, parser->lexer.token.offset,
                                            "A shorter path was expected");
        status = parse_segment(parser, out);
    }
    return status;
}

static int parse_word(struct liquid_parser *parser, struct liquid_expr **out)
{
    if (pawl__liquid_lex_is_name(&parser->lexer, "true") ||
        pawl__liquid_lex_is_name(&parser->lexer, "false"))
        return literal_new(
            parser, pawl__liquid_bool(pawl__liquid_lex_is_name(&parser->lexer, "true")), out);
    if (pawl__liquid_lex_is_name(&parser->lexer, "nil") ||
        pawl__liquid_lex_is_name(&parser->lexer, "null"))
        return literal_new(parser, pawl__liquid_nil(), out);
    if (pawl__liquid_lex_is_name(&parser->lexer, "blank"))
        return literal_new(parser, (struct liquid_value){.kind = LIQUID_BLANK}, out);
    if (pawl__liquid_lex_is_name(&parser->lexer, "empty"))
        return literal_new(parser, (struct liquid_value){.kind = LIQUID_EMPTY}, out);
    return parse_path(parser, out);
}

static int parse_range(struct liquid_parser *parser, struct liquid_expr **out)
{
    int status = expr_new(parser, LIQUID_EXPR_RANGE, out);

    pawl__liquid_lex_next(&parser->lexer);
    if (status == PAWL_OK)
        status = pawl__liquid_parse_primary(parser, &(*out)->left);
    if (status == PAWL_OK && !take_kind(parser, LIQUID_TOKEN_DOTS))
        status = unexpected(parser, "'..'");
    if (status == PAWL_OK)
        status = pawl__liquid_parse_primary(parser, &(*out)->right);
    if (status == PAWL_OK && !take_kind(parser, LIQUID_TOKEN_CLOSE_ROUND))
        status = unexpected(parser, "')'");
    return status;
}

static int parse_primary_inside(struct liquid_parser *parser, struct liquid_expr **out)
{
    enum liquid_token_kind kind = parser->lexer.token.kind;

    if (kind == LIQUID_TOKEN_STRING)
        return parse_string(parser, out);
    if (kind == LIQUID_TOKEN_NUMBER)
        return parse_number(parser, out);
    if (kind == LIQUID_TOKEN_NAME)
        return parse_word(parser, out);
    if (kind == LIQUID_TOKEN_OPEN_ROUND)
        return parse_range(parser, out);
    return unexpected(parser, "A value");
}

int pawl__liquid_parse_primary(struct liquid_parser *parser, struct liquid_expr **out)
{
    int status;

    if (parser->expr_depth >= LIQUID_EXPR_DEPTH_MAX)
        return pawl__liquid_parse_error(parser, parser->lexer.token.offset,
                                        "A simpler expression was expected");
    parser->expr_depth++;
    status = parse_primary_inside(parser, out);
    parser->expr_depth--;
    return status;
}

/* ---- operators --------------------------------------------------------------------------- */

static bool is_comparison(const struct liquid_lexer *lexer, enum liquid_operator *op)
{
    static const struct {
        const char *name; /* or a sign */
        enum liquid_token_kind kind;
        enum liquid_operator op;
    } all[] = {
        {NULL, LIQUID_TOKEN_EQUAL, LIQUID_OP_EQUAL},
        {NULL, LIQUID_TOKEN_NOT_EQUAL, LIQUID_OP_NOT_EQUAL},
        {NULL, LIQUID_TOKEN_LESS, LIQUID_OP_LESS},
        {NULL, LIQUID_TOKEN_LESS_EQUAL, LIQUID_OP_LESS_EQUAL},
        {NULL, LIQUID_TOKEN_GREATER, LIQUID_OP_GREATER},
        {NULL, LIQUID_TOKEN_GREATER_EQUAL, LIQUID_OP_GREATER_EQUAL},
        {"contains", LIQUID_TOKEN_NAME, LIQUID_OP_CONTAINS},
        {"startswith", LIQUID_TOKEN_NAME, LIQUID_OP_STARTS_WITH},
        {"endswith", LIQUID_TOKEN_NAME, LIQUID_OP_ENDS_WITH},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (lexer->token.kind == all[i].kind &&
            (!all[i].name || pawl__str_is(lexer->token.text, all[i].name))) {
            *op = all[i].op;
            return true;
        }
    }
    return false;
}

static int parse_comparison(struct liquid_parser *parser, struct liquid_expr **out)
{
    int status = pawl__liquid_parse_primary(parser, out);
    enum liquid_operator op;
    unsigned length = 0;

    while (status == PAWL_OK && is_comparison(&parser->lexer, &op)) {
        struct liquid_expr *left = *out;

        if (++length > LIQUID_EXPR_LENGTH_MAX)
            return pawl__liquid_parse_error(parser, parser->lexer.token.offset,
                                            "A shorter expression was expected");
        status = expr_new(parser, LIQUID_EXPR_BINARY, out);
        if (status != PAWL_OK)
            return status;
        (*out)->left = left;
        (*out)->op = op;
        pawl__liquid_lex_next(&parser->lexer);
        status = pawl__liquid_parse_primary(parser, &(*out)->right);
    }
    return status;
}

int pawl__liquid_parse_logical(struct liquid_parser *parser, struct liquid_expr **out)
{
    int status = parse_comparison(parser, out);
    unsigned length = 0;

    /* From the right: each further operand goes into the place of the one before. */
    while (status == PAWL_OK && (pawl__liquid_lex_is_name(&parser->lexer, "and") ||
                                 pawl__liquid_lex_is_name(&parser->lexer, "or"))) {
        struct liquid_expr *left = *out;
        bool is_and = pawl__liquid_lex_is_name(&parser->lexer, "and");

        if (++length > LIQUID_TERMS_MAX)
            return pawl__liquid_parse_error(parser, parser->lexer.token.offset,
                                            "A shorter expression was expected");
        status = expr_new(parser, LIQUID_EXPR_BINARY, out);
        if (status != PAWL_OK)
            return status;
        (*out)->left = left;
        (*out)->op = is_and ? LIQUID_OP_AND : LIQUID_OP_OR;
        pawl__liquid_lex_next(&parser->lexer);
        out = &(*out)->right;
        status = parse_comparison(parser, out);
    }
    return status;
}

/* ---- filters ----------------------------------------------------------------------------- */

static int argument_new(struct liquid_parser *parser, struct liquid_argument **out)
{
    struct liquid_argument *argument = pawl__arena_alloc(parser->arena, sizeof *argument);

    if (!argument)
        return pawl__arena_status(parser->arena);
    *argument = (struct liquid_argument){.next = NULL};
    *out = argument;
    return PAWL_OK;
}

/* `name: value` or `value`. A name alone is a value. */
static int parse_argument(struct liquid_parser *parser, struct liquid_argument *argument)
{
    struct liquid_lexer before = parser->lexer;

    if (parser->lexer.token.kind == LIQUID_TOKEN_NAME) {
        argument->name = parser->lexer.token.text;
        pawl__liquid_lex_next(&parser->lexer);
        if (take_kind(parser, LIQUID_TOKEN_COLON))
            return pawl__liquid_parse_primary(parser, &argument->expr);
        argument->name = pawl__str("");
        parser->lexer = before;
    }
    return pawl__liquid_parse_primary(parser, &argument->expr);
}

static int parse_arguments(struct liquid_parser *parser, struct liquid_argument **out)
{
    unsigned count = 0;

    do {
        int status = argument_new(parser, out);

        if (status == PAWL_OK)
            status = parse_argument(parser, *out);
        if (status != PAWL_OK)
            return status;
        if (++count > LIQUID_ARGUMENTS_MAX)
            return pawl__liquid_parse_error(parser, parser->lexer.token.offset,
                                            "Fewer arguments were expected");
        out = &(*out)->next;
    } while (take_kind(parser, LIQUID_TOKEN_COMMA));
    return PAWL_OK;
}

int pawl__liquid_parse_filtered(struct liquid_parser *parser, struct liquid_expr **out)
{
    int status = pawl__liquid_parse_logical(parser, out);
    unsigned length = 0;

    while (status == PAWL_OK && take_kind(parser, LIQUID_TOKEN_PIPE)) {
        struct liquid_expr *left = *out;

        if (parser->lexer.token.kind != LIQUID_TOKEN_NAME)
            return unexpected(parser, "A filter");
        if (++length > LIQUID_EXPR_LENGTH_MAX)
            return pawl__liquid_parse_error(parser, parser->lexer.token.offset,
                                            "Fewer filters were expected");
        status = expr_new(parser, LIQUID_EXPR_FILTER, out);
        if (status != PAWL_OK)
            return status;
        (*out)->left = left;
        (*out)->text = parser->lexer.token.text;
        (*out)->filter = pawl__liquid_filter_find((*out)->text);
        pawl__liquid_lex_next(&parser->lexer);
        if (take_kind(parser, LIQUID_TOKEN_COLON))
            status = parse_arguments(parser, &(*out)->arguments);
    }
    return status;
}

int pawl__liquid_parse_list(struct liquid_parser *parser, bool allow_or,
                            struct liquid_argument **out)
{
    for (;;) {
        int status = argument_new(parser, out);

        if (status == PAWL_OK)
            status = pawl__liquid_parse_primary(parser, &(*out)->expr);
        if (status != PAWL_OK)
            return status;
        if (!take_kind(parser, LIQUID_TOKEN_COMMA)) {
            if (!allow_or || !pawl__liquid_lex_is_name(&parser->lexer, "or"))
                return PAWL_OK;
            pawl__liquid_lex_next(&parser->lexer);
        }
        out = &(*out)->next;
    }
}
