/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two events that one sender sends to one instance, one after the other, beside other mail of the
 * instance: direct delivery does not overtake, and leaves nothing undone.
 *
 * The sender and a worker are threads of node 1; another worker is node 2. The outcome of direct
 * delivery may be unknown; other faults are in stimulus.pml, for one event. A mail's own life is told
 * there too; here it is due, put off or parked. A burst is one commit, or several are (a fold); after it the
 * instance waits for the next event, or does not.
 *
 * Checked:
 *   in order     the second event has its effect when the first had its turn: it had its effect, or was
 *                parked because nothing waited for it
 *   never stuck  where no process can move, nothing is due and nobody owns the instance
 */
#define NOBODY 0
#define OTHER 0 /* mail: anything else for the instance, then the two events */
#define FIRST 1
#define SECOND 2

/* How often there is other mail. */
#ifndef OTHERS
#define OTHERS 2
#endif
/* Answers of direct delivery that are lost. */
#ifndef FAULTS
#define FAULTS 1
#endif
/* How often mail is put off, so that runs end. */
#define PUT_OFFS 3
/* How often events that were run are not committed, because something failed before. */
#ifndef DROPS
#define DROPS 1
#endif

typedef Mail {
    bool on;
    bool parked;
    bool later; /* put off: due_us is not reached yet */
    byte owner
};
Mail mail[3];

byte owner;     /* of the instance: a node */
bool bookmark;  /* it waits for an event */
bool in_hand;   /* of a thread of node 1: pawl__runtime_enter() */
bool noted;     /* another thread of node 1 has found work for it meanwhile */
bool had[3];    /* ghost: this event had its turn */
bool got[3];    /* ghost: and its effect */
byte late;      /* the event whose direct commit is still on its way, under the latest claim */
byte drops = DROPS;
byte faults = FAULTS;
byte others = OTHERS;
byte put_offs = PUT_OFFS;

#define IS_DUE(x) (mail[x].on && !mail[x].parked && !mail[x].later)

inline end_mail(x) {
    mail[x].on = false; mail[x].parked = false; mail[x].later = false; mail[x].owner = NOBODY
}

/* A commit of the instance after which it waits for an event, or does not; a new bookmark wakes
 * parked mail. */
inline go_on() {
    if
    :: bookmark = true; mail[FIRST].parked = false; mail[SECOND].parked = false
    :: bookmark = false
    fi
}

inline take_effect(x) {
    assert(!got[x]);                           /* nothing double */
    assert(x == FIRST || had[FIRST]);          /* in order */
    got[x] = true; had[x] = true;
    go_on()
}

/*
 * Rule 6, folds: an event of which the commit of the next one is, too. It leaves the instance waiting for
 * that. What a sender brings has its own commit: if its outcome were unknown, that of older mail would be,
 * too, which others may have put off meanwhile.
 */
inline keep_other() { end_mail(OTHER); mail[FIRST].parked = false; mail[SECOND].parked = false }
inline keep_first() {
    assert(!got[FIRST]);
    got[FIRST] = true; had[FIRST] = true;
    mail[FIRST].parked = false; mail[SECOND].parked = false;
#ifndef DEFECT_FOLD
    end_mail(FIRST)
#endif
}

/* Rule 1, run_mail(): under the claim, one commit. The mail's own owner plays no part. */
inline run_event(x) {
    assert(owner == me);
    if
    :: bookmark -> end_mail(x); take_effect(x)
    :: else -> mail[x].parked = true; mail[x].later = false; mail[x].owner = NOBODY; had[x] = true
    fi
}

/* Rule 2, the claim tells the mail that is due, and it is run in the order of its due times. */
inline claim() {
    if
    :: owner == NOBODY || owner == me ->
        owner = me; claimed = true; late = 0;
        due = IS_DUE(OTHER) + 2 * IS_DUE(FIRST) + 4 * IS_DUE(SECOND)
    :: else
    fi
}
inline run_due() {
    do
    :: atomic { due & 1 -> due = due & 6; end_mail(OTHER); go_on() }
    :: atomic { due & 2 -> due = due & 5; run_event(FIRST) }
    :: atomic { (due & 6) == 4 -> due = due & 1; run_event(SECOND) }
    :: atomic { bookmark && (due & 3) == 3 -> due = due & 4; keep_other(); end_mail(FIRST);
        take_effect(FIRST) }
    :: atomic { bookmark && (due & 6) == 6 -> due = due & 1; keep_first(); end_mail(SECOND);
        take_effect(SECOND) }
    /* What was run is not committed: it is run again, from the state and with the mail of the claim, and what
     * a sender brought becomes mail. */
#ifdef DEFECT_FOLD_GOES_ON
    :: atomic { due != 0 && drops > 0 -> drops--; due = 0 }
#elif defined(DEFECT_FOLD_RECLAIM)
    :: atomic { due != 0 && drops > 0 -> drops--; unfolds = true; claim() }
#else
    :: atomic { due != 0 && drops > 0 -> drops--; unfolds = true }
#endif
    :: atomic { due == 0 -> break }
    od
}

/* Rule 3, pawl__runtime_enter() and pawl__runtime_leave(): who finds the instance in the hand of
 * another thread leaves a note, and who leaves looks again if there is one. If it cannot be claimed
 * then, what this node took is left, and is found (pawl__runtime_note_left()). */
inline leave() {
    if
    :: me == 1 && noted -> noted = false; again = true
    :: else -> in_hand = in_hand && me != 1; again = false
    fi
}
inline free_stray(x) {
    if
    :: mail[x].owner == me -> mail[x].owner = NOBODY
    :: else
    fi
}
inline leave_stray() {
    if
    :: me == 1 && noted -> noted = false; free_stray(OTHER); free_stray(FIRST); free_stray(SECOND)
    :: else
    fi;
    in_hand = in_hand && me != 1; again = false
}

/* pawl__runtime_run_instance(), without an event. */
inline run_instance() {
    do
    :: atomic { claim() }
        if
        :: claimed -> run_due(); atomic { owner = NOBODY; claimed = false; leave() }
        :: else -> atomic { busy = true; leave_stray() }
        fi;
        if
        :: again
        :: else -> break
        fi
    od
}

/*
 * Rule 4, do_mail(): mail whose instance another node has claimed since it was taken is put off. That
 * claim came when the mail was due, so it has told of it.
 */
inline put_off() {
    if
    :: busy && mail[k].on && mail[k].owner == me ->
        mail[k].owner = NOBODY;
        if
        :: put_offs > 0 -> put_offs--; mail[k].later = true
        :: else
        fi
    :: else
    fi;
    busy = false
}

#define CAN_TAKE(x) (IS_DUE(x) && mail[x].owner == NOBODY && (owner == NOBODY || owner == me))

proctype worker(byte me) {
    bool claimed, again, busy, unfolds;
    byte due, k;

end_idle:
    do
    /* pawl__runtime_add_strays(), after a failure */
    :: atomic { me == 1 && owner == me && !in_hand && faults < FAULTS -> break }
    :: atomic { CAN_TAKE(OTHER) -> k = OTHER; mail[k].owner = me; break }
    :: atomic { CAN_TAKE(FIRST) -> k = FIRST; mail[k].owner = me; break }
    :: atomic { CAN_TAKE(SECOND) -> k = SECOND; mail[k].owner = me; break }
    od;
    atomic {
        if
        :: me == 1 && in_hand -> noted = true; k = 0; goto end_idle
        :: else -> in_hand = in_hand || me == 1
        fi }
    run_instance();
    atomic { put_off(); k = 0; unfolds = false; goto end_idle }
}

/*
 * Rule 5, direct delivery: tried, when nobody here has the instance in hand and it can be claimed. What
 * is due runs first. If the instance does not wait then, or the outcome is unknown, or if chance says so,
 * the event becomes mail. After an unknown outcome nothing more is written under the claim, which is
 * left.
 */
inline commit_directly() {
    atomic {
        if
        :: !unfolds && bookmark -> take_effect(e)
        :: !unfolds && bookmark && faults > 0 -> faults--; claimed = false;
            if
            :: take_effect(e); owner = NOBODY
            :: skip
            :: late = e
            fi
        :: else
        fi
    }
}

active proctype sender() {
    bool claimed, again, busy, unfolds;
    byte due, e = FIRST;
    byte me = 1;

    do
    :: e > SECOND -> break
    :: else ->
end_waiting:
        bookmark; /* found. What finds none is parked, and keeps no order */
        if
        :: atomic { !in_hand -> in_hand = true; unfolds = false; claim() }
            if
            :: claimed ->
#ifdef DEFECT_DIRECT_FIRST
                commit_directly();
                run_due();
#else
                run_due();
                commit_directly();
#endif
                atomic {
                    if
                    :: claimed -> owner = NOBODY; claimed = false
                    :: else
                    fi }
            :: else
            fi;
#ifdef DEFECT_DIRECT_NOTE
            atomic { in_hand = false; noted = false }
#else
            atomic { leave() }
            if
            :: again -> run_instance(); busy = false
            :: else
            fi
#endif
        :: skip
        fi;
        atomic { /* in one commit that the reservation drops if it was delivered */
            if
            :: !got[e] -> mail[e].on = true
            :: else
            fi;
            late = 0; e++ }
    od
}

active proctype world() {
end_world:
    do
    :: atomic { late > 0 -> assert(owner == 1); take_effect(late); owner = NOBODY; late = 0 }
    :: d_step { late > 0 -> late = 0 }
    :: d_step { others > 0 && !mail[OTHER].on -> others--; mail[OTHER].on = true }
    :: d_step { mail[FIRST].later -> mail[FIRST].later = false }
    :: d_step { mail[SECOND].later -> mail[SECOND].later = false }
    :: d_step { mail[OTHER].later -> mail[OTHER].later = false }
    :: atomic { timeout ->
        assert(owner == NOBODY && !in_hand && !noted);
        assert(!IS_DUE(OTHER) && !IS_DUE(FIRST) && !IS_DUE(SECOND));
        break }
    od
}

init {
    atomic { bookmark = true; run worker(1); run worker(2) }
}
