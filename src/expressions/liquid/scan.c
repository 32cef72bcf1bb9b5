/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a template apart into text, outputs and tags, and skips what is not to be read. */
#include "expressions/liquid/scan.h"

/* ---- text -------------------------------------------------------------------------------- */

static size_t skip_space(struct pawl_str text, size_t at, size_t end)
{
    while (at < end && pawl__liquid_is_space(text.ptr[at]))
        at++;
    return at;
}

/* Where the next {{ or {% is; text.len when there is none. */
static size_t find_markup(struct pawl_str text, size_t at)
{
    for (;;) {
        at = pawl__str_find(text, '{', at);
        if (at == SIZE_MAX)
            return text.len;
        if (at + 1 < text.len && (text.ptr[at + 1] == '{' || text.ptr[at + 1] == '%'))
            return at;
        at++;
    }
}

/* The text up to the next markup, without the white space that a dash on either side takes away. */
static struct pawl_str take_text(struct liquid_parser *parser)
{
    size_t end = find_markup(parser->text, parser->at);
    size_t start = parser->trim ? skip_space(parser->text, parser->at, end) : parser->at;

    parser->trim = false;
    parser->at = end;
    if (end + 2 < parser->text.len && parser->text.ptr[end + 2] == '-')
        while (end > start && pawl__liquid_is_space(parser->text.ptr[end - 1]))
            end--;
    return pawl__str_slice(parser->text, start, end);
}

static void begin_markup(struct liquid_parser *parser)
{
    char close = parser->text.ptr[parser->at + 1] == '{' ? '}' : '%';
    size_t at = parser->at + 2;

    if (at < parser->text.len && parser->text.ptr[at] == '-')
        at++;
    pawl__liquid_lex_begin(&parser->lexer, parser->text, at, close);
}

static enum liquid_item read_line(struct liquid_parser *parser)
{
    struct pawl_str region = pawl__str_slice(parser->text, 0, parser->end);

    parser->at = skip_space(parser->text, parser->at, parser->end);
    if (parser->at >= parser->end)
        return LIQUID_ITEM_END;
    pawl__liquid_lex_begin(&parser->lexer, region, parser->at, '\n');
    return LIQUID_ITEM_TAG;
}

enum liquid_item pawl__liquid_scan_item(struct liquid_parser *parser, struct pawl_str *text)
{
    if (parser->lines)
        return read_line(parser);
    *text = take_text(parser);
    if (text->len > 0)
        return LIQUID_ITEM_TEXT;
    if (parser->at >= parser->text.len)
        return LIQUID_ITEM_END;
    begin_markup(parser);
    return parser->lexer.close == '}' ? LIQUID_ITEM_OUTPUT : LIQUID_ITEM_TAG;
}

/* Where the closing braces of the tag are, or its line ends, whatever is before them. */
static size_t find_close(const struct liquid_parser *parser, size_t from)
{
    struct pawl_str text = parser->lexer.text;

    for (;;) {
        from = pawl__str_find(text, parser->lines ? '\n' : '%', from);
        if (from == SIZE_MAX)
            return text.len;
        if (parser->lines)
            return from;
        if (from + 1 < text.len && text.ptr[from + 1] == '}')
            return text.ptr[from - 1] == '-' ? from - 1 : from;
        from++;
    }
}

void pawl__liquid_scan_words(struct liquid_parser *parser)
{
    parser->lexer.at = find_close(parser, parser->lexer.token.offset);
    pawl__liquid_lex_next(&parser->lexer);
}

int pawl__liquid_scan_tag(struct liquid_parser *parser)
{
    const struct liquid_token *token = &parser->lexer.token;

    if (token->kind == LIQUID_TOKEN_OTHER && pawl__str_is(token->text, "#")) {
        pawl__liquid_scan_words(parser);
        parser->tag = pawl__str("#");
        return PAWL_OK;
    }
    if (token->kind != LIQUID_TOKEN_NAME)
        return pawl__liquid_parse_error(parser, token->offset, "The name of a tag was expected");
    parser->tag = token->text;
    pawl__liquid_lex_next(&parser->lexer);
    return PAWL_OK;
}

int pawl__liquid_scan_end(struct liquid_parser *parser)
{
    int status = pawl__liquid_parse_end(parser);

    if (status != PAWL_OK)
        return status;
    parser->at = parser->lexer.at;
    parser->trim = parser->lexer.dashed;
    return PAWL_OK;
}

/* ---- raw and comment --------------------------------------------------------------------- */

/* Whether `{% name %}` begins at `at`: then *behind is what follows it and *dashed as it says. */
static bool tag_begins(struct pawl_str text, size_t at, const char *name, size_t *behind,
                       bool dashed[2])
{
    struct liquid_lexer lexer;

    if (at + 1 >= text.len || text.ptr[at + 1] != '%')
        return false;
    at += 2;
    dashed[0] = at < text.len && text.ptr[at] == '-';
    pawl__liquid_lex_begin(&lexer, text, at + dashed[0], '%');
    if (!pawl__liquid_lex_is_name(&lexer, name))
        return false;
    pawl__liquid_lex_next(&lexer);
    dashed[1] = lexer.dashed;
    *behind = lexer.at;
    return lexer.token.kind == LIQUID_TOKEN_END;
}

int pawl__liquid_scan_to(struct liquid_parser *parser, const char *name, struct pawl_str *inside)
{
    size_t start = parser->at;
    bool dashed[2];

    for (size_t at = start; (at = find_markup(parser->text, at)) < parser->text.len; at++) {
        if (!tag_begins(parser->text, at, name, &parser->at, dashed))
            continue;
        if (parser->trim)
            start = skip_space(parser->text, start, at);
        while (dashed[0] && at > start && pawl__liquid_is_space(parser->text.ptr[at - 1]))
            at--;
        parser->trim = dashed[1];
        *inside = pawl__str_slice(parser->text, start, at);
        return PAWL_OK;
    }
    return pawl__liquid_parse_error(parser, parser->text.len, "'{%% %s %%}' was expected", name);
}

/* Inside {% liquid %} a comment ends with the line that says so. */
int pawl__liquid_scan_lines(struct liquid_parser *parser, const char *name)
{
    while (read_line(parser) == LIQUID_ITEM_TAG) {
        bool ends = pawl__liquid_lex_is_name(&parser->lexer, name);
        size_t newline = pawl__str_find(parser->text, '\n', parser->at);

        parser->at = newline < parser->end ? newline + 1 : parser->end;
        if (ends)
            return PAWL_OK;
    }
    return pawl__liquid_parse_error(parser, parser->end, "'%s' was expected", name);
}
