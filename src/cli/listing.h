/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of rows for people and programs. A command asks the store, makes a JSON array of what it
 * found, and gives it to pawl__cli_list_show(): with --json that is printed, else a table of the
 * members that the columns name. So both say the same.
 */
#ifndef PAWL_CLI_LISTING_H
#define PAWL_CLI_LISTING_H

#include "cli/session.h"
#include "engine/builder.h"

/* Rows of one list at the most: further tables are asked about all of them in one query. */
#define PAWL_CLI_LIST_MAX PAWL_STORE_VALUES_MAX
#define PAWL_CLI_LIST_DEFAULT PAWL_STORE_ROWS_DEFAULT

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

/* ---- asking -------------------------------------------------------------------------------- */

#define PAWL_CLI_CONDITIONS_MAX 8

struct pawl_cli_list {
    struct pawl_query query;
    struct pawl_condition conditions[PAWL_CLI_CONDITIONS_MAX];
};

/* In the order of this column; NULL: of the key. No conditions, limit as --limit says. */
void pawl__cli_list_init(struct pawl_cli_list *list, const struct pawl_cli_args *args,
                         enum pawl_table table, const char *order, uint32_t flags);
/* The same for all rows that one query gives. */
void pawl__cli_list_all(struct pawl_cli_list *list, enum pawl_table table, const char *order,
                        uint32_t flags);
/* Borrows the text; NULL: any. */
void pawl__cli_list_text(struct pawl_cli_list *list, const char *column, const char *text);
void pawl__cli_list_str(struct pawl_cli_list *list, const char *column, struct pawl_str text);
void pawl__cli_list_int(struct pawl_cli_list *list, const char *column, enum pawl_compare compare,
                        int64_t value);
/* One of these; borrows them. */
void pawl__cli_list_in(struct pawl_cli_list *list, const char *column,
                       const struct pawl_datum *values, size_t count);

PAWL_MUST_CHECK int pawl__cli_list_find(struct pawl_cli_session *session,
                                        struct pawl_cli_list *list, struct pawl_arena *arena,
                                        struct pawl_rows *out, struct pawl_error *err);
/* How many there are; nothing else is read. */
PAWL_MUST_CHECK int pawl__cli_list_count(struct pawl_cli_session *session,
                                         struct pawl_cli_list *list, struct pawl_arena *arena,
                                         uint64_t *out, struct pawl_error *err);
/* The store's clock. */
PAWL_MUST_CHECK int pawl__cli_store_now(struct pawl_cli_session *session, int64_t *now_us,
                                        struct pawl_error *err);

/* ---- telling ------------------------------------------------------------------------------- */

/* A member that is there, even if ""; borrows. */
void pawl__cli_put(struct pawl_builder *b, struct pawl_json *object, const char *key,
                   struct pawl_str text);
/* A store time as ISO 8601 in UTC; null of 0 and of PAWL_TIME_NEVER. */
void pawl__cli_put_time(struct pawl_builder *b, struct pawl_json *object, const char *key,
                        int64_t us);
/* JSON that a store keeps, as a value; text that is none as a string. */
void pawl__cli_put_bytes(struct pawl_builder *b, struct pawl_json *object, const char *key,
                         struct pawl_str bytes);

/* A column of a table; ended by one without a title. */
struct pawl_cli_column {
    const char *title;
    const char *key;
    bool is_time; /* shown to the second */
};

/* An array of objects; nothing at all when it is empty. Answers the exit code. */
int pawl__cli_table(struct pawl_cli *cli, const struct pawl_json *rows,
                    const struct pawl_cli_column *columns);
/* The value, and a newline, to standard output; answers the exit code. */
int pawl__cli_print_json(struct pawl_cli *cli, const struct pawl_json *value, uint8_t indent);
/* As --json says; and on standard error, when there are more. Answers the exit code. */
int pawl__cli_list_show(struct pawl_cli *cli, const struct pawl_json *rows, uint64_t total,
                        const struct pawl_cli_column *columns);

/* "3m 2s" of a length of time; of a negative one too, without its sign. */
#define PAWL_CLI_SPAN_TEXT 32
const char *pawl__cli_span_text(int64_t us, char out[PAWL_CLI_SPAN_TEXT]);

/* A word of a shell's command line, quoted where it must be; NULL: the arena's status. */
const char *pawl__cli_quote(struct pawl_arena *arena, struct pawl_str word);
/* " --store URI" when that option was given and has no secret, else "": for commands to type. */
const char *pawl__cli_store_words(struct pawl_cli *cli, struct pawl_arena *arena);

#endif
