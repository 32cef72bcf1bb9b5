/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of rows for people and programs. A command makes a JSON array of what an operation returned
 * and gives it to pawl__cli_list_show(): with --json that is printed, else a table of the
 * members that the columns name. So both say the same.
 */
#ifndef PAWL_CLI_COMMAND_LISTING_H
#define PAWL_CLI_COMMAND_LISTING_H

#include "base/json/builder.h"
#include "cli/session/session.h"

#include <pawl/ext/store.h>

/* Rows of one list at the most: further tables are asked about all of them in one query. */
#define PAWL_CLI_LIST_MAX PAWL_STORE_VALUES_MAX
#define PAWL_CLI_LIST_DEFAULT PAWL_PAGE_ROWS_DEFAULT

/* clang-format off */
#define PAWL_CLI_LIST_OPTIONS(which)                                                               \
    {.name = "limit",                                                                              \
     .letter = 'n',                                                                                \
     .kind = PAWL_CLI_NUMBER,                                                                      \
     .arg = "COUNT",                                                                               \
     .help = "Show at most COUNT, " which " (default 100)",                                        \
     .min = 1,                                                                                     \
     .max = PAWL_CLI_LIST_MAX},                                                                    \
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print JSON"}
/* clang-format on */

/* The same for lists of operations, which have pages. */
/* clang-format off */
#define PAWL_CLI_PAGE_OPTIONS(which)                                                               \
    {.name = "limit",                                                                              \
     .letter = 'n',                                                                                \
     .kind = PAWL_CLI_NUMBER,                                                                      \
     .arg = "COUNT",                                                                               \
     .help = "Show at most COUNT, " which " (default 100)",                                        \
     .min = 1,                                                                                     \
     .max = PAWL_PAGE_ROWS_MAX},                                                                   \
    {.name = "after",                                                                              \
     .kind = PAWL_CLI_TEXT,                                                                        \
     .arg = "PLACE",                                                                               \
     .help = "Continue at the place that the last list printed",                                   \
     .may_be_empty = true},                                                                        \
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print JSON"}
/* clang-format on */

/* The page that --limit and --after ask for, with the total. */
struct pawl_page_request pawl__cli_page(const struct pawl_cli_args *args);

/* ---- telling ------------------------------------------------------------------------------- */

/* A member that is there, even if ""; borrows. */
void pawl__cli_put(struct pawl_builder *b, struct pawl_json *object, const char *key,
                   struct pawl_str text);
/* A store time as ISO 8601 in UTC; null of 0 and of PAWL_TIME_NEVER. */
void pawl__cli_put_time(struct pawl_builder *b, struct pawl_json *object, const char *key,
                        int64_t us);
/* JSON that a store keeps, as a value; other text as a string. */
void pawl__cli_put_bytes(struct pawl_builder *b, struct pawl_json *object, const char *key,
                         struct pawl_str bytes);

/* A column of a table; ended by one without a title. */
struct pawl_cli_column {
    const char *title;
    const char *key;
    bool is_time; /* shown to the second */
};

/* An array of objects; nothing at all when it is empty. Returns the exit code. */
int pawl__cli_table(struct pawl_cli *cli, const struct pawl_json *rows,
                    const struct pawl_cli_column *columns);
/* The value, and a newline, to standard output; returns the exit code. */
int pawl__cli_print_json(struct pawl_cli *cli, const struct pawl_json *value, uint8_t indent);
/* The same of what a builder made, or its failure. */
int pawl__cli_print_built(struct pawl_cli *cli, const struct pawl_builder *b,
                          const struct pawl_json *value, uint8_t indent);
/* As --json says; and on standard error, when there are more. Returns the exit code. */
int pawl__cli_list_show(struct pawl_cli *cli, const struct pawl_json *rows, uint64_t total,
                        const struct pawl_cli_column *columns);

/* The same for a page; also prints how to get the next one. */
int pawl__cli_page_show(struct pawl_cli *cli, const struct pawl_json *rows,
                        const struct pawl_page *page, const struct pawl_cli_column *columns);

/* "3m 2s" of a length of time; of a negative one too, without its sign. */
#define PAWL_CLI_SPAN_TEXT 32
const char *pawl__cli_span_text(int64_t us, char out[PAWL_CLI_SPAN_TEXT]);

/* " --store URI" when that option was given and has no secret, else "": for commands to type. */
const char *pawl__cli_store_words(struct pawl_cli *cli, struct pawl_arena *arena);

#endif
