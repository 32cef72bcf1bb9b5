/* SPDX-License-Identifier: Apache-2.0 */
/* The tags, and blocks of statements, which recurse as deep as LIQUID_DEPTH_MAX. */
#include "base/error.h"
#include "expressions/liquid/run.h"
#include "expressions/liquid/scan.h"

static int parse_block(struct liquid_parser *parser, const char *const *ends,
                       struct liquid_node **out);

/* ---- statements -------------------------------------------------------------------------- */

static int node_new(struct liquid_parser *parser, enum liquid_node_kind kind,
                    struct liquid_node **out)
{
    struct liquid_node *node = pawl__arena_alloc(parser->arena, sizeof *node);

    if (!node)
        return pawl__arena_status(parser->arena);
    *node = (struct liquid_node){.kind = kind};
    *out = node;
    return PAWL_OK;
}

static int parse_name(struct liquid_parser *parser, struct pawl_str *out)
{
    const struct liquid_token *token = &parser->lexer.token;

    if (token->kind != LIQUID_TOKEN_NAME)
        return pawl__liquid_parse_error(parser, token->offset,
                                        "Invalid '%.*s' tag: a name was expected",
                                        PAWL_STR_ARG(parser->tag));
    *out = token->text;
    pawl__liquid_lex_next(&parser->lexer);
    return PAWL_OK;
}

static int parse_output(struct liquid_parser *parser, struct liquid_node *node)
{
    int status = pawl__liquid_parse_filtered(parser, &node->expr);

    return status == PAWL_OK ? pawl__liquid_scan_end(parser) : status;
}

static int parse_raw(struct liquid_parser *parser, struct liquid_node *node)
{
    int status;

    if (parser->lines)
        return pawl__liquid_parse_error(parser, parser->lexer.token.offset,
                                        "Another tag was expected");
    status = pawl__liquid_scan_end(parser);
    if (status == PAWL_OK)
        status = pawl__liquid_scan_to(parser, "endraw", &node->text);
    return status;
}

static int parse_comment(struct liquid_parser *parser, struct liquid_node *node)
{
    struct pawl_str ignored;
    int status;

    (void)node;
    if (parser->lexer.token.kind != LIQUID_TOKEN_END)
        pawl__liquid_scan_words(parser);
    status = pawl__liquid_scan_end(parser);
    if (status != PAWL_OK)
        return status;
    return parser->lines ? pawl__liquid_scan_lines(parser, "endcomment")
                         : pawl__liquid_scan_to(parser, "endcomment", &ignored);
}

static int parse_inline_comment(struct liquid_parser *parser, struct liquid_node *node)
{
    (void)node;
    return pawl__liquid_scan_end(parser);
}

static int parse_assign(struct liquid_parser *parser, struct liquid_node *node)
{
    int status = parse_name(parser, &node->text);

    if (status != PAWL_OK)
        return status;
    if (parser->lexer.token.kind != LIQUID_TOKEN_ASSIGN)
        return pawl__liquid_parse_error(parser, parser->lexer.token.offset,
                                        "Invalid 'assign' tag: '=' was expected");
    pawl__liquid_lex_next(&parser->lexer);
    status = pawl__liquid_parse_filtered(parser, &node->expr);
    return status == PAWL_OK ? pawl__liquid_scan_end(parser) : status;
}

static int parse_named(struct liquid_parser *parser, struct liquid_node *node)
{
    int status = parse_name(parser, &node->text);

    return status == PAWL_OK ? pawl__liquid_scan_end(parser) : status;
}

static int parse_capture(struct liquid_parser *parser, struct liquid_node *node)
{
    static const char *const ends[] = {"endcapture", NULL};
    int status = PAWL_OK;

    if (parser->lexer.token.kind == LIQUID_TOKEN_STRING) {
        node->text = parser->lexer.token.text;
        pawl__liquid_lex_next(&parser->lexer);
    } else {
        status = parse_name(parser, &node->text);
    }
    if (status == PAWL_OK)
        status = pawl__liquid_scan_end(parser);
    if (status == PAWL_OK)
        status = parse_block(parser, ends, &node->body);
    return status == PAWL_OK ? pawl__liquid_scan_end(parser) : status;
}

static int parse_cycle(struct liquid_parser *parser, struct liquid_node *node)
{
    int status = pawl__liquid_parse_list(parser, false, &node->values);

    /* `cycle group: a, b`: what was taken for the only value is the group. */
    if (status == PAWL_OK && !node->values->next &&
        parser->lexer.token.kind == LIQUID_TOKEN_COLON) {
        node->expr = node->values->expr;
        pawl__liquid_lex_next(&parser->lexer);
        status = pawl__liquid_parse_list(parser, false, &node->values);
    }
    return status == PAWL_OK ? pawl__liquid_scan_end(parser) : status;
}

/* {% liquid %}: the lines up to the closing braces are tags. */
static int parse_liquid(struct liquid_parser *parser, struct liquid_node *node)
{
    static const char *const ends[] = {NULL};
    size_t start = (size_t)(parser->tag.ptr - parser->text.ptr) + parser->tag.len;
    struct liquid_lexer lexer;
    int status;

    if (parser->lines)
        return pawl__liquid_parse_error(parser, start, "Another tag was expected");
    if (parser->lexer.token.kind != LIQUID_TOKEN_END)
        pawl__liquid_scan_words(parser);
    status = pawl__liquid_scan_end(parser);
    if (status != PAWL_OK)
        return status;
    lexer = parser->lexer;
    parser->lines = true;
    parser->at = start;
    parser->end = lexer.token.offset;
    status = parse_block(parser, ends, &node->body);
    parser->lines = false;
    parser->at = lexer.at;
    parser->trim = lexer.dashed;
    return status;
}

/* ---- if, unless, case -------------------------------------------------------------------- */

static int branch_new(struct liquid_parser *parser, struct liquid_branch **out)
{
    struct liquid_branch *branch = pawl__arena_alloc(parser->arena, sizeof *branch);

    if (!branch)
        return pawl__arena_status(parser->arena);
    *branch = (struct liquid_branch){.next = NULL};
    *out = branch;
    return PAWL_OK;
}

static int parse_if_branches(struct liquid_parser *parser, struct liquid_node *node,
                             const char *const *ends, bool negate)
{
    struct liquid_branch **branch = &node->branches;
    bool is_else = false;

    for (;;) {
        int status = branch_new(parser, branch);

        if (status == PAWL_OK && !is_else)
            status = pawl__liquid_parse_logical(parser, &(*branch)->expr);
        if (status == PAWL_OK)
            status = pawl__liquid_scan_end(parser);
        if (status == PAWL_OK) {
            (*branch)->negate = negate;
            status = parse_block(parser, ends, &(*branch)->body);
        }
        if (status != PAWL_OK)
            return status;
        if (pawl__liquid_tag_is(parser, ends[0]))
            return pawl__liquid_scan_end(parser);
        if (is_else)
            return pawl__liquid_parse_error(parser, parser->lexer.token.offset, "'%s' was expected",
                                            ends[0]);
        is_else = pawl__liquid_tag_is(parser, "else");
        negate = false;
        branch = &(*branch)->next;
    }
}

static int parse_if(struct liquid_parser *parser, struct liquid_node *node)
{
    static const char *const ends[] = {"endif", "elsif", "else", NULL};

    return parse_if_branches(parser, node, ends, false);
}

static int parse_unless(struct liquid_parser *parser, struct liquid_node *node)
{
    static const char *const ends[] = {"endunless", "elsif", "else", NULL};

    return parse_if_branches(parser, node, ends, true);
}

/* What stands between the case and its first branch is dropped. */
static int parse_case(struct liquid_parser *parser, struct liquid_node *node)
{
    static const char *const ends[] = {"endcase", "when", "else", NULL};
    struct liquid_branch **branch = &node->branches;
    struct liquid_node *ignored;
    int status = pawl__liquid_parse_primary(parser, &node->expr);

    if (status == PAWL_OK)
        status = pawl__liquid_scan_end(parser);
    if (status == PAWL_OK)
        status = parse_block(parser, ends, &ignored);
    while (status == PAWL_OK && !pawl__liquid_tag_is(parser, ends[0])) {
        status = branch_new(parser, branch);
        if (status == PAWL_OK && pawl__liquid_tag_is(parser, "when"))
            status = pawl__liquid_parse_list(parser, true, &(*branch)->values);
        if (status == PAWL_OK)
            status = pawl__liquid_scan_end(parser);
        if (status == PAWL_OK)
            status = parse_block(parser, ends, &(*branch)->body);
        if (status == PAWL_OK)
            branch = &(*branch)->next;
    }
    return status == PAWL_OK ? pawl__liquid_scan_end(parser) : status;
}

/* ---- for --------------------------------------------------------------------------------- */

static int parse_for_option(struct liquid_parser *parser, struct liquid_node *node)
{
    struct pawl_str name = {"", 0};
    size_t offset = parser->lexer.token.offset;
    int status = parse_name(parser, &name);

    if (status != PAWL_OK)
        return status;
    if (pawl__str_is(name, "reversed")) {
        node->reversed = true;
        return PAWL_OK;
    }
    if ((!pawl__str_is(name, "limit") && !pawl__str_is(name, "offset")) ||
        parser->lexer.token.kind != LIQUID_TOKEN_COLON)
        return pawl__liquid_parse_error(
            parser, offset, "Invalid 'for' tag: limit:, offset: or reversed was expected");
    pawl__liquid_lex_next(&parser->lexer);
    if (pawl__str_is(name, "limit"))
        return pawl__liquid_parse_primary(parser, &node->limit);
    if (pawl__liquid_lex_is_name(&parser->lexer, "continue")) {
        node->offset_continue = true;
        pawl__liquid_lex_next(&parser->lexer);
        return PAWL_OK;
    }
    return pawl__liquid_parse_primary(parser, &node->offset);
}

static int parse_for_head(struct liquid_parser *parser, struct liquid_node *node)
{
    int status = parse_name(parser, &node->text);

    if (status != PAWL_OK)
        return status;
    if (!pawl__liquid_lex_is_name(&parser->lexer, "in"))
        return pawl__liquid_parse_error(parser, parser->lexer.token.offset,
                                        "Invalid 'for' tag: 'in' was expected");
    pawl__liquid_lex_next(&parser->lexer);
    status = pawl__liquid_parse_primary(parser, &node->expr);
    while (status == PAWL_OK && parser->lexer.token.kind != LIQUID_TOKEN_END) {
        /* Options may have commas between them. */
        if (parser->lexer.token.kind == LIQUID_TOKEN_COMMA)
            pawl__liquid_lex_next(&parser->lexer);
        status = parse_for_option(parser, node);
    }
    return status == PAWL_OK ? pawl__liquid_scan_end(parser) : status;
}

static int parse_for(struct liquid_parser *parser, struct liquid_node *node)
{
    static const char *const ends[] = {"endfor", "else", NULL};
    static const char *const else_ends[] = {"endfor", NULL};
    int status = parse_for_head(parser, node);

    if (status == PAWL_OK)
        status = parse_block(parser, ends, &node->body);
    if (status == PAWL_OK && pawl__liquid_tag_is(parser, "else")) {
        status = pawl__liquid_scan_end(parser);
        if (status == PAWL_OK)
            status = parse_block(parser, else_ends, &node->otherwise);
    }
    return status == PAWL_OK ? pawl__liquid_scan_end(parser) : status;
}

/* ---- blocks ------------------------------------------------------------------------------ */

static const struct tag {
    const char *name;
    enum liquid_node_kind kind; /* TEXT: nothing but what the function leaves in it */
    int (*parse)(struct liquid_parser *parser, struct liquid_node *node);
} tags[] = {
    {"#", LIQUID_NODE_TEXT, parse_inline_comment},
    {"assign", LIQUID_NODE_ASSIGN, parse_assign},
    {"break", LIQUID_NODE_BREAK, parse_inline_comment},
    {"capture", LIQUID_NODE_CAPTURE, parse_capture},
    {"case", LIQUID_NODE_CASE, parse_case},
    {"comment", LIQUID_NODE_TEXT, parse_comment},
    {"continue", LIQUID_NODE_CONTINUE, parse_inline_comment},
    {"cycle", LIQUID_NODE_CYCLE, parse_cycle},
    {"decrement", LIQUID_NODE_DECREMENT, parse_named},
    {"echo", LIQUID_NODE_OUTPUT, parse_output},
    {"for", LIQUID_NODE_FOR, parse_for},
    {"if", LIQUID_NODE_IF, parse_if},
    {"increment", LIQUID_NODE_INCREMENT, parse_named},
    {"liquid", LIQUID_NODE_BLOCK, parse_liquid},
    {"raw", LIQUID_NODE_TEXT, parse_raw},
    {"unless", LIQUID_NODE_IF, parse_unless},
};

static int parse_tag(struct liquid_parser *parser, struct liquid_node **out)
{
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        if (pawl__liquid_tag_is(parser, tags[i].name)) {
            int status = node_new(parser, tags[i].kind, out);

            return status == PAWL_OK ? tags[i].parse(parser, *out) : status;
        }
    }
    return pawl__liquid_parse_error(parser, (size_t)(parser->tag.ptr - parser->text.ptr),
                                    "Unknown tag '%.*s'", PAWL_STR_ARG(parser->tag));
}

static bool is_one_of(const struct liquid_parser *parser, const char *const *names)
{
    for (; *names; names++) {
        if (pawl__liquid_tag_is(parser, *names))
            return true;
    }
    return false;
}

/* One statement into *out; *ends: a tag in `ends` was read instead, or the text has ended. */
static int parse_item(struct liquid_parser *parser, const char *const *ends,
                      struct liquid_node **out, bool *ended)
{
    struct pawl_str text = {"", 0};
    enum liquid_item item = pawl__liquid_scan_item(parser, &text);
    int status = PAWL_OK;

    *ended = item == LIQUID_ITEM_END;
    if (item == LIQUID_ITEM_END)
        return *ends ? pawl__liquid_parse_error(parser, parser->at, "'{%% %s %%}' was expected",
                                                *ends)
                     : PAWL_OK;
    if (item == LIQUID_ITEM_TEXT) {
        status = node_new(parser, LIQUID_NODE_TEXT, out);
        if (status == PAWL_OK)
            (*out)->text = text;
        return status;
    }
    if (item == LIQUID_ITEM_OUTPUT) {
        status = node_new(parser, LIQUID_NODE_OUTPUT, out);
        return status == PAWL_OK ? parse_output(parser, *out) : status;
    }
    status = pawl__liquid_scan_tag(parser);
    if (status != PAWL_OK)
        return status;
    *ended = is_one_of(parser, ends);
    return *ended ? PAWL_OK : parse_tag(parser, out);
}

/* Statements up to a tag in `ends`, whose name has been read then; none: up to the end. */
static int parse_block(struct liquid_parser *parser, const char *const *ends,
                       struct liquid_node **out)
{
    bool ended = false;
    int status = PAWL_OK;

    *out = NULL;
    if (parser->depth >= LIQUID_DEPTH_MAX)
        return pawl__liquid_parse_error(parser, parser->at, "Fewer nested tags were expected");
    parser->depth++;
    while (status == PAWL_OK && !ended) {
        status = parse_item(parser, ends, out, &ended);
        if (status == PAWL_OK && !ended) {
            PAWL_ASSERT(*out);
            out = &(*out)->next;
        }
    }
    parser->depth--;
    return status;
}

int pawl__liquid_parse(struct pawl_arena *arena, struct pawl_str text, struct liquid_node **out,
                       struct pawl_exception *raised)
{
    static const char *const ends[] = {NULL};
    struct liquid_parser parser = {.arena = arena, .text = text, .raised = raised};

    if (text.len > LIQUID_TEMPLATE_BYTES_MAX)
        return pawl__liquid_parse_error(&parser, 0, "A text of at most %zu bytes was expected",
                                        LIQUID_TEMPLATE_BYTES_MAX);
    return parse_block(&parser, ends, out);
}
