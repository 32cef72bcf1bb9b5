/* SPDX-License-Identifier: Apache-2.0 */
/* A commit in the making: what commit.c, bookmarks.c and fold.c share. */
#ifndef PAWL_RUNTIME_INSTANCE_MAKING_H
#define PAWL_RUNTIME_INSTANCE_MAKING_H

#include "runtime/instance/private.h"

/* An effect that this node performs as soon as it is durable. */
struct runtime_effect {
    struct pawl_work_row row;
    const struct pawl_json *data;
    bool is_held; /* this thread has its row in hand */
};

struct making {
    struct runtime_run *run;
    struct pawl_arena own;    /* lives as long as this struct */
    struct pawl_arena *arena; /* of the changes: the fold's, when there is one, else `own` */
    struct runtime_changes changes;
    struct pawl_batch batch;
    struct pawl_json state; /* with what a burst in progress needs, when it is in progress */
    struct pawl_instance_row row;
    struct runtime_effect *effects; /* of this burst and of those before it in the fold */
    size_t effect_count;
    size_t effect_cap;
    struct pawl_work_row *inline_start; /* a child that the burst awaits */
    bool holds_start;
    struct runtime_request *request; /* likewise; sent when it is durable */
    bool over;
    bool goes_on; /* the burst is stepped again as it stands */
    bool folds;   /* there is no commit yet: the next one has this, too */
    int64_t now_us;
    /* To whom a reply leaves after the commit, and what; "": none, or by a row (reply.c). */
    struct pawl_str reply_to;
    const struct pawl_json *reply;
};

/* ---- commit.c ---------------------------------------------------------------------------- */

/* The first failure sticks. */
void pawl__making_fail(struct making *m, int status);
/* "" for null. */
struct pawl_str pawl__making_text(struct making *m, const struct pawl_json *value);
/* The page of the journal, and what its log adds to the counts. */
void pawl__making_journal(struct making *m);
/* Those that this node performs are added to m->effects. */
void pawl__making_effects(struct making *m);
/* What caused the commit ends with it. */
void pawl__making_end_cause(struct making *m);
/* The run goes on from the state that was made. */
PAWL_MUST_CHECK int pawl__making_keep_state(struct making *m);

/* ---- left.c ------------------------------------------------------------------------------ */

/* After a commit: what a caller learns of it who asked for that. */
void pawl__making_leave(const struct making *m);

/* ---- bookmarks.c ------------------------------------------------------------------------- */

/* The request of a job: it goes with its bookmark. */
struct pawl_str pawl__making_job_request(struct making *m, struct pawl_str bookmark_id);
/* The rows of bookmarks that came and went since the last commit, with their timers and jobs. */
void pawl__making_bookmarks(struct making *m);
/* Notes what waits in the middle of a fold, for pawl__making_bookmarks(). */
void pawl__making_note_bookmarks(struct making *m);
/* Whether an instance that was stored last as `m` is to be open again. */
bool pawl__making_reopens(const struct making *m);

/* ---- reply.c ----------------------------------------------------------------------------- */

/* A reply that the burst recorded. Borrows it until the commit is made. */
void pawl__making_reply(struct making *m, const struct pawl_json *reply);
/* The reply of a burst that ends without one. */
void pawl__making_end_request(struct making *m);
/* After the commit. */
void pawl__making_send_reply(struct making *m);
/* Whether the burst has a request that was not replied to. */
bool pawl__making_has_request(const struct making *m);

/* ---- fold.c ------------------------------------------------------------------------------ */

/* Whether what the burst did can wait for the commit of the next event. */
bool pawl__making_may_fold(const struct making *m, enum pawl_step step);
/* Keeps it for that commit. */
PAWL_MUST_CHECK int pawl__making_fold(struct making *m);

#endif
