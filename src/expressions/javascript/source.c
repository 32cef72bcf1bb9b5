/* SPDX-License-Identifier: Apache-2.0 */
/* Reading names from the text of a script, and naming the token at which a parser stopped. */
#include "expressions/javascript/source.h"

#include <stdio.h>

static bool begins_name(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c >= 0x80;
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool continues_name(unsigned char c)
{
    return begins_name(c) || is_digit(c);
}

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static size_t skip_blanks(struct pawl_str text, size_t at)
{
    while (at < text.len && is_blank((unsigned char)text.ptr[at]))
        at++;
    return at;
}

static char char_at(struct pawl_str text, size_t at)
{
    return at < text.len ? text.ptr[at] : '\0';
}

static void add_name(struct pawl_javascript_names *names, struct pawl_str name)
{
    for (uint32_t i = 0; i < names->count; i++) {
        if (pawl__str_equal(names->items[i], name))
            return;
    }
    if (names->count == PAWL_JAVASCRIPT_NAMES_MAX)
        names->more = true;
    else
        names->items[names->count++] = name;
}

static bool is_one_of(struct pawl_str name, const char *const *list)
{
    for (; *list; list++) {
        if (pawl__str_is(name, *list))
            return true;
    }
    return false;
}

/* Whether an assignment begins at `at`: =, +=, ??=, ++, --, but not == or =>. */
static bool is_assignment(struct pawl_str text, size_t at)
{
    static const char operators[] = "+-*/%&|^<>?";
    size_t from = at;

    if ((char_at(text, at) == '+' && char_at(text, at + 1) == '+') ||
        (char_at(text, at) == '-' && char_at(text, at + 1) == '-'))
        return true;
    while (at < text.len && at < from + 3 && strchr(operators, text.ptr[at]))
        at++;
    if (char_at(text, at) != '=' || char_at(text, at + 1) == '=' || char_at(text, at + 1) == '>')
        return false;
    /* <= and >= compare. */
    return !(at == from + 1 && (text.ptr[from] == '<' || text.ptr[from] == '>'));
}

/* Where what stands before `at` ends, without blanks. */
static size_t end_before(struct pawl_str text, size_t at)
{
    while (at > 0 && is_blank((unsigned char)text.ptr[at - 1]))
        at--;
    return at;
}

/* Whether ++ or -- ends at `end`. */
static bool is_step(struct pawl_str text, size_t end)
{
    return end >= 2 && text.ptr[end - 1] == text.ptr[end - 2] &&
           (text.ptr[end - 1] == '+' || text.ptr[end - 1] == '-');
}

/* The name behind a dot at `at`, if there is one. */
static void note_member(struct pawl_str text, size_t at, struct pawl_javascript_names *names)
{
    size_t from;
    size_t to;

    if (char_at(text, at) == '?' && char_at(text, at + 1) == '.')
        at++;
    if (char_at(text, at) != '.')
        return;
    from = skip_blanks(text, at + 1);
    to = from;
    while (to < text.len && continues_name((unsigned char)text.ptr[to]))
        to++;
    if (to > from)
        add_name(names, pawl__str_slice(text, from, to));
}

static void note_name(struct pawl_str text, struct pawl_str name,
                      struct pawl_javascript_source *out)
{
    static const char *const outward[] = {"eval",      "Function",  "globalThis",
                                          "prototype", "__proto__", "setPrototypeOf",
                                          "Reflect",   "import",    NULL};
    size_t start = (size_t)(name.ptr - text.ptr);
    size_t end = skip_blanks(text, start + name.len);
    size_t earlier = end_before(text, start);
    bool is_member = earlier > 0 && text.ptr[earlier - 1] == '.';

    if (is_one_of(name, outward))
        out->reaches_out = true;
    if (name.len > 3 && (memcmp(name.ptr, "get", 3) == 0 || memcmp(name.ptr, "set", 3) == 0))
        add_name(&out->accessors, name);
    if (!is_member && (is_assignment(text, end) || is_step(text, earlier)))
        add_name(&out->assigned, name);
    if (pawl__str_is(name, "variables") && !is_member) {
        out->mentions_variables = true;
        note_member(text, end, &out->variables);
    }
    if (pawl__str_is(name, "input") && !is_member)
        note_member(text, end, &out->inputs);
}

static bool begins_statement(struct pawl_str text)
{
    static const char *const words[] = {"function", "class", "async", "let",    "const",
                                        "var",      "if",    "for",   "while",  "do",
                                        "switch",   "try",   "throw", "return", NULL};
    size_t at = skip_blanks(text, 0);
    size_t end = at;

    if (char_at(text, at) == '{' || char_at(text, at) == '/')
        /* A block; or a comment, behind which anything may follow. */
        return char_at(text, at) == '{' || char_at(text, at + 1) == '/' ||
               char_at(text, at + 1) == '*';
    while (end < text.len && continues_name((unsigned char)text.ptr[end]))
        end++;
    /* async begins a function declaration as well as an arrow function: take the careful way. */
    return is_one_of(pawl__str_slice(text, at, end), words);
}

static struct pawl_str without_end(struct pawl_str text)
{
    while (text.len > 0 &&
           (is_blank((unsigned char)text.ptr[text.len - 1]) || text.ptr[text.len - 1] == ';'))
        text.len--;
    return text;
}

void pawl__javascript_source_read(struct pawl_str text, struct pawl_javascript_source *out)
{
    size_t at = 0;

    memset(out, 0, sizeof *out);
    out->expression = without_end(text);
    out->begins_statement = begins_statement(text);
    while (at < text.len) {
        unsigned char c = (unsigned char)text.ptr[at];
        size_t from = at++;

        /* A name written with \uXXXX could be any. */
        if (c == '\\' && char_at(text, at) == 'u')
            out->reaches_out = true;
        if (!continues_name(c))
            continue;
        while (at < text.len && continues_name((unsigned char)text.ptr[at]))
            at++;
        if (begins_name(c))
            note_name(text, pawl__str_slice(text, from, at), out);
    }
}

bool pawl__javascript_mentions(struct pawl_str text, const char *word)
{
    size_t at = 0;

    while (at < text.len) {
        size_t from = at;

        while (at < text.len && continues_name((unsigned char)text.ptr[at]))
            at++;
        if (pawl__str_is(pawl__str_slice(text, from, at), word))
            return true;
        at += at == from;
    }
    return false;
}

/* ---- syntax errors ----------------------------------------------------------------------- */

static size_t find_place(struct pawl_str text, uint32_t line, uint32_t column)
{
    size_t at = 0;

    while (line > 1 && at < text.len) {
        if (text.ptr[at++] == '\n')
            line--;
    }
    while (column > 1 && at < text.len && text.ptr[at] != '\n') {
        (void)pawl__utf8_next(text, &at);
        column--;
    }
    return at;
}

/* Line and column behind the last character. */
static void place_of_end(struct pawl_str text, uint32_t *line, uint32_t *column)
{
    *line = 1;
    *column = 1;
    for (size_t at = 0; at < text.len; (*column)++) {
        if (pawl__utf8_next(text, &at) == '\n') {
            ++*line;
            *column = 0;
        }
    }
}

void pawl__javascript_unexpected(struct pawl_str text, uint32_t *line, uint32_t *column,
                                 char *message, size_t size)
{
    static const char *const keywords[] = {
        "break", "case",   "catch",   "class",      "const", "continue", "default", "delete", "do",
        "else",  "export", "extends", "finally",    "for",   "function", "if",      "import", "in",
        "new",   "return", "super",   "switch",     "this",  "throw",    "try",     "typeof", "var",
        "void",  "while",  "with",    "instanceof", "null",  "true",     "false",   NULL};
    size_t at = find_place(text, *line, *column);
    size_t end = at;
    unsigned char c;

    if (skip_blanks(text, at) >= text.len) {
        (void)snprintf(message, size, "Unexpected end of input");
        place_of_end(text, line, column);
        return;
    }
    c = (unsigned char)text.ptr[at];
    while (end < text.len && continues_name((unsigned char)text.ptr[end]))
        end++;
    if (end == at)
        (void)pawl__utf8_next(text, &end);
    if (is_digit(c))
        (void)snprintf(message, size, "Unexpected number");
    else if (c == '"' || c == '\'')
        (void)snprintf(message, size, "Unexpected string");
    else if (c == '`')
        (void)snprintf(message, size, "Unexpected template string");
    else
        (void)snprintf(message, size, "Unexpected %s '%.*s'",
                       begins_name(c) && !is_one_of(pawl__str_slice(text, at, end), keywords)
                           ? "identifier"
                           : "token",
                       (int)(end - at), text.ptr + at);
}
