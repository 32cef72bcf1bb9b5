/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A template as a row of texts, outputs and tags; inside {% liquid %} a row of lines.
 *
 * A tag's name is read by pawl__liquid_scan_tag(), which leaves the lexer at the token behind it.
 * The tag's handler reads up to the closing braces and calls pawl__liquid_scan_end().
 */
#ifndef PAWL_EXPRESSIONS_LIQUID_SCAN_H
#define PAWL_EXPRESSIONS_LIQUID_SCAN_H

#include "expressions/liquid/parse.h"

enum liquid_item {
    LIQUID_ITEM_END, /* of the template, or of the lines of {% liquid %} */
    LIQUID_ITEM_TEXT,
    LIQUID_ITEM_OUTPUT,
    LIQUID_ITEM_TAG,
};

/* What comes next; *text is it when it is text. */
enum liquid_item pawl__liquid_scan_item(struct liquid_parser *parser, struct pawl_str *text);
/* Reads the tag's name into parser->tag; "#" for a comment as far as the tag goes. */
PAWL_MUST_CHECK int pawl__liquid_scan_tag(struct liquid_parser *parser);
/* Passes over the rest of the tag: words that nobody reads. */
void pawl__liquid_scan_words(struct liquid_parser *parser);
/* The tag must end here; what follows it comes next. */
PAWL_MUST_CHECK int pawl__liquid_scan_end(struct liquid_parser *parser);
/* Passes over everything up to {% name %}; *inside is what was there. */
PAWL_MUST_CHECK int pawl__liquid_scan_to(struct liquid_parser *parser, const char *name,
                                         struct pawl_str *inside);
/* The same in lines, up to the line that begins with the name. */
PAWL_MUST_CHECK int pawl__liquid_scan_lines(struct liquid_parser *parser, const char *name);

static inline bool pawl__liquid_tag_is(const struct liquid_parser *parser, const char *name)
{
    return pawl__str_is(parser->tag, name);
}

#endif
