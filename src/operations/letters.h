/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on dead letters: work that was given up, kept for an operator to inspect and replay.
 */
#ifndef PAWL_OPERATIONS_LETTERS_H
#define PAWL_OPERATIONS_LETTERS_H

#include "operations/operation.h"

#include <pawl/ext/store.h>

/* Both from the newest downwards. */
enum pawl_letter_sort {
    PAWL_LETTERS_BY_DEATH,   /* when the work was given up */
    PAWL_LETTERS_BY_CREATED, /* when the work was made */
};

/* All that is given must hold; "" and NULL are not given. */
struct pawl_letter_query {
    struct pawl_str instance_id;
    struct pawl_str kind;       /* of the work: "stimulus", "timer", … */
    struct pawl_str reason;     /* "Expired", "Failed" */
    const struct pawl_str *ids; /* one of these; a list without members matches nothing */
    size_t id_count;
    bool is_open;       /* not replayed yet */
    bool is_replayable; /* open, and of a kind that can be */
    bool all;           /* of bulk changes: all letters are meant if nothing else is given */
    enum pawl_letter_sort sort;
    struct pawl_page_request page;
};

struct pawl_letter_list {
    const struct pawl_dead_letter_row *rows; /* without `payload` */
    size_t count;
    struct pawl_page page;
};

PAWL_MUST_CHECK int pawl__op_letters_list(const struct pawl_op *op,
                                          const struct pawl_letter_query *query,
                                          struct pawl_letter_list *out);
/* With its payload. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_letter_show(const struct pawl_op *op, struct pawl_str id,
                                         struct pawl_dead_letter_row *out);

/*
 * The work becomes due again, as if it were new, and the letter is marked: one commit, once per
 * letter. What fails again becomes a letter of its own. *work_id is the work's. PAWL_ECONFLICT: it
 * was replayed or cannot be; its row says which. PAWL_ENOTFOUND.
 */
PAWL_MUST_CHECK int pawl__op_letter_replay(const struct pawl_op *op, struct pawl_str id,
                                           struct pawl_str *work_id);
/* Deletes it, whether it was replayed or not. PAWL_ENOTFOUND. */
PAWL_MUST_CHECK int pawl__op_letter_delete(const struct pawl_op *op, struct pawl_str id);

/* What became of one letter of many. */
struct pawl_letter_outcome {
    struct pawl_str id;
    int status;              /* PAWL_OK; PAWL_ECONFLICT, PAWL_ENOTFOUND: it was skipped */
    struct pawl_str work_id; /* replayed, as this work */
    const char *message;     /* why it was not changed */
};

/* Called for each. What it is given is borrowed for the call. */
typedef void (*pawl_letter_visitor)(void *ctx, const struct pawl_letter_outcome *outcome);

/*
 * All that match, the oldest first, as struct pawl_bulk_result says; of those that are replayed
 * only the ones that can be. `visit` NULL allowed.
 */
PAWL_MUST_CHECK int pawl__op_letters_replay(const struct pawl_op *op,
                                            const struct pawl_letter_query *query,
                                            pawl_letter_visitor visit, void *ctx,
                                            struct pawl_bulk_result *out);
PAWL_MUST_CHECK int pawl__op_letters_delete(const struct pawl_op *op,
                                            const struct pawl_letter_query *query,
                                            pawl_letter_visitor visit, void *ctx,
                                            struct pawl_bulk_result *out);

#endif
