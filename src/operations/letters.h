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
PAWL_MUST_CHECK int pawl__op_letter_drop(const struct pawl_op *op, struct pawl_str id);

/* What became of one letter of many. */
struct pawl_letter_outcome {
    struct pawl_str id;
    int status;              /* PAWL_OK; PAWL_ECONFLICT, PAWL_ENOTFOUND: passed over */
    struct pawl_str work_id; /* replayed, as this work */
    struct pawl_str message; /* why it was passed over */
};

struct pawl_letter_batch {
    const struct pawl_letter_outcome *outcomes;
    size_t count;
    size_t done, skipped;
    struct pawl_str next; /* page.after of the next batch; "": that was the last */
    /* What ended the batch before all of it was done; code PAWL_OK: nothing did. `outcomes` are of
     * those before it, `next` is where to continue, never "". Its class says whether the one that
     * it came of was done. */
    struct pawl_error error;
};

/*
 * The same with all that match, one page of the query (page.limit, 1,000 at the most) each time:
 * ask again with `next` until there is none. Each letter is a commit of its own, so that one that
 * cannot be replayed, or that was changed meanwhile, is skipped. Any other error ends the batch:
 * after the first letter was done it is in `out`, and the call returns PAWL_OK, so that the outcome
 * of those before is known. Calling again continues where it stopped.
 *
 * Only those that can be replayed are, whatever the query says of that.
 */
PAWL_MUST_CHECK int pawl__op_letters_replay(const struct pawl_op *op,
                                            const struct pawl_letter_query *query,
                                            struct pawl_letter_batch *out);
PAWL_MUST_CHECK int pawl__op_letters_drop(const struct pawl_op *op,
                                          const struct pawl_letter_query *query,
                                          struct pawl_letter_batch *out);
#define PAWL_LETTER_BATCH_MAX 1000u

#endif
