/* SPDX-License-Identifier: Apache-2.0 */
/* Why an instance does not continue, and what would resume it. */
#ifndef PAWL_OPERATIONS_WHY_H
#define PAWL_OPERATIONS_WHY_H

#include "base/json/json.h"
#include "operations/operation.h"
#include "runtime/values.h"

#include <pawl/ext/store.h>

/* In short; the first that holds. */
enum pawl_why_standing {
    PAWL_WHY_ENDED,       /* its sub status says how */
    PAWL_WHY_RUNNING,     /* a node that lives has it */
    PAWL_WHY_PUT_OFF,     /* it could not be run: set aside, or tried again at row.retry_us */
    PAWL_WHY_INTERRUPTED, /* in the middle of a burst: the next node continues it */
    PAWL_WHY_WAITING,     /* for one of `waits` */
    PAWL_WHY_MAIL,        /* for its mail to be delivered */
    PAWL_WHY_GIVEN_UP,    /* nothing is under way, and work of it was given up */
    PAWL_WHY_IDLE,        /* nothing is under way that would wake it */
};

enum pawl_why_for {
    PAWL_WHY_FOR_TIMER,
    PAWL_WHY_FOR_EVENT,
    PAWL_WHY_FOR_TASK,
    PAWL_WHY_FOR_CHILD,
    PAWL_WHY_FOR_CHILDREN,
    PAWL_WHY_FOR_REQUEST,
    PAWL_WHY_FOR_BOOKMARK, /* whatever resumes it */
};

/* One bookmark. What does not belong to its kind is "" or 0. */
struct pawl_why_wait {
    enum pawl_why_for what;
    const struct pawl_bookmark_row *row;
    struct pawl_json payload; /* null: none that can be read */
    int64_t due_us;           /* TIMER */
    bool has_timer;           /* TIMER: false and overdue: its timer was given up */
    struct pawl_str name;     /* of the EVENT or TASK; the method of a REQUEST */
    struct pawl_str id;       /* of the TASK or CHILD; the path of a REQUEST */
    const struct pawl_instance_row *const *children; /* CHILD: it, if it is there; CHILDREN: those
                                                      * that run, PAWL_WHY_ROWS_MAX at the most */
    size_t child_count;
    uint64_t child_total; /* CHILDREN: that run */
};

/* Why mail has not been delivered; the first that holds. */
enum pawl_why_because {
    PAWL_WHY_KEPT,   /* of a child or job of an instance that has faulted: a retry delivers it */
    PAWL_WHY_PARKED, /* nothing waits for it yet */
    PAWL_WHY_FAILED, /* it is tried again when it is due */
    PAWL_WHY_LATER,  /* it is not due yet */
    PAWL_WHY_OVER,   /* the instance has ended: it is dropped */
    PAWL_WHY_WITH_TROUBLE, /* the instance cannot be run now */
    PAWL_WHY_BUSY,         /* the instance is running: then */
    PAWL_WHY_TAKEN,        /* a node is about to deliver it */
    PAWL_WHY_PAUSED,       /* those that are there are paused: see `pause` */
    PAWL_WHY_NO_NODE,      /* nobody is there */
    PAWL_WHY_DUE,          /* a node takes it next */
};

struct pawl_why_mail {
    const struct pawl_work_row *row;
    const char *what; /* what people call its kind: "a timer" */
    enum pawl_why_because because;
};

/* Dead letters that were not replayed. */
struct pawl_why_letter {
    const struct pawl_dead_letter_row *row;
    const char *what;
};

/* What one may do about it as a whole: bits, in the order in which they are offered. */
enum pawl_why_advice {
    PAWL_ADVISE_LETTERS = 1 << 0, /* look at its dead letters */
    PAWL_ADVISE_JOURNAL = 1 << 1, /* look at its journal */
    PAWL_ADVISE_UNPAUSE = 1 << 2, /* end `pause` */
    PAWL_ADVISE_RETRY = 1 << 3,
    PAWL_ADVISE_RESUME = 1 << 4,
    PAWL_ADVISE_CANCEL = 1 << 5,
    PAWL_ADVISE_DELETE = 1 << 6,
};

struct pawl_why {
    struct pawl_instance_row row; /* without `state` and `counts` */
    enum pawl_why_standing standing;
    const struct pawl_why_wait *waits; /* oldest first */
    size_t wait_count;
    const struct pawl_why_mail
        *mail; /* soonest due first; without timers that a wait already shows */
    size_t mail_count;
    const struct pawl_why_letter *letters; /* oldest first */
    size_t letter_count;
    uint64_t letter_total;  /* with those that were replayed */
    struct pawl_str holder; /* id of the node row.owner, "" if there is none in the store */
    int64_t holder_lease_us;
    bool is_held; /* by a node that lives */
    /* The last incident as the state has it; NULL: none. */
    const struct pawl_json *incident;
    size_t nodes; /* that could go on with it: they live, stay, and are not paused */
    /* What keeps all nodes from going on: that of the cluster, or the first of theirs; NULL: one
     * could, or none is there. */
    const struct pawl_pause *pause;
    int64_t now_us;  /* the store's clock */
    unsigned advice; /* enum pawl_why_advice */
};

/* Bookmarks, pieces of mail, letters and children that are looked at. */
#define PAWL_WHY_ROWS_MAX 100u

/* PAWL_ENOTFOUND. If the state is damaged, the rest is still reported. */
PAWL_MUST_CHECK int pawl__op_instance_why(const struct pawl_op *op, struct pawl_str instance_id,
                                          struct pawl_why *out);

#endif
