/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of one stimulus that is sent without a key: delivered directly, or accepted and delivered as
 * mail, parked, woken, expired.
 *
 * Two instances may wait for it; each makes its bookmark when it likes, or never, and may lose it
 * again to something else. That a commit of an instance belongs to its latest claim is taken from
 * claims.pml; here a claim is an owner (a node has one worker, so its claim is the one in hand), and a
 * burst is one commit.
 *
 * Checked:
 *   true outcomes   what the sender is told became of the stimulus did become of it
 *   nothing double  an instance gets the stimulus at most once; what was delivered is no dead letter
 *   nothing lost    what was accepted is delivered or a dead letter in the end
 *   never stuck     where no process can move, nothing is parked whose bookmark is there; when time
 *                   has passed, no row is left (and the graph of states has no cycle)
 */
#ifndef NODES
#define NODES 2
#endif
#ifndef FAULTS
#define FAULTS 2 /* answers lost, leases that expire, crashes of a node or of the server */
#endif
/* How often a bookmark is used up by something else than the stimulus. */
#ifndef RIVALS
#define RIVALS 1
#endif

/* How often an instance is run for another reason, and its mail comes with it. */
#ifndef ERRANDS
#define ERRANDS 1
#endif

/* 1: direct delivery reads the instance and claims it with its commit (a visit); 0: it claims first. */
#ifndef VISITS
#define VISITS 0
#endif

/* How many of the two instances ever wait. */
#ifndef INSTANCES
#define INSTANCES 2
#endif

#define ROWS 6 /* ids of the stimulus' row in its life: the first, and its successors */
#define NOBODY 0

/* What became of the stimulus, which is the value of its reservation too. */
#define ROW 1    /* accepted: rows of work stand for it */
#define DIRECT 2 /* delivered by its sender */

/* A row of work (struct pawl_work_row) that stands for the stimulus. Its index is its id. */
typedef Work {
    bool on;
    bool parked;     /* due_us = PAWL_TIME_NEVER */
    byte owner;
    byte disk_owner; /* what a crash of the server leaves: takes are not synced */
    bool look;       /* the row PAWL_WORK_RECHECK of a parked one, which nobody need own: doing it
                      * twice is doing it once */
};
Work row[ROWS];
byte ids = 1; /* the next id */
Work mail[2]; /* of each instance; its id is made of the stimulus' first id and the bookmark's */

typedef Instance {
    byte owner;
    byte disk_owner;
    bool bookmark;
    bool opening;       /* a commit that makes a bookmark has run WAKE and is not visible yet */
    bool sees[ROWS];    /* the rows that this WAKE found */
    bool sees_mail;
    byte got;           /* ghost: so often the stimulus reached it */
    bool dead           /* a dead letter of its mail */
};
Instance inst[2];

byte reserved;    /* the reservation of the stimulus' id: its value; 0: there is none */
byte became;      /* ghost: what its first commit made of it; 0: nothing yet */
byte told;        /* what the sender was told with PAWL_OK; 0: nothing */
byte dead;        /* dead letters of the stimulus itself */
bool expired;     /* stimulus_us have passed */
byte late_insert; /* a copy of the accepting commit is still on its way: 1 + what was found */
byte late_direct; /* a copy of the direct commit is: 1 + its instance. It goes with the claim that it
                   * was made under: what the fence and the revision would refuse is dropped at once */

#if VISITS
byte unchanged; /* 1 + the instance that was visited, as long as its revision is the one that was read */
#endif

bool lease[NODES + 1];
bool crashed;     /* node 1 has: it sends, and stays down */
byte faults = FAULTS;
byte rivals = RIVALS;
byte errands = ERRANDS;

#define IS_FREE(o) (o == NOBODY || o == me || !lease[o])
#define MATCHES_ANY (inst[0].bookmark || inst[1].bookmark)
#define FOUND (inst[0].bookmark + 2 * inst[1].bookmark)

/* What is synced is remembered only while the server may still crash. */
#define ON_DISK(what) (faults > 0 -> what : 0)
inline sync_all() {
    row[0].disk_owner = ON_DISK(row[0].owner); row[1].disk_owner = ON_DISK(row[1].owner);
    row[2].disk_owner = ON_DISK(row[2].owner); row[3].disk_owner = ON_DISK(row[3].owner);
    row[4].disk_owner = ON_DISK(row[4].owner); row[5].disk_owner = ON_DISK(row[5].owner);
    mail[0].disk_owner = ON_DISK(mail[0].owner); mail[1].disk_owner = ON_DISK(mail[1].owner);
    inst[0].disk_owner = ON_DISK(inst[0].owner); inst[1].disk_owner = ON_DISK(inst[1].owner)
}

inline end_row(x) {
    row[x].on = false; row[x].parked = false; row[x].owner = NOBODY
}

inline end_mail(x) {
    mail[x].on = false; mail[x].parked = false; mail[x].owner = NOBODY
}

/* A fault: the answer is lost. What is after this in the same step happened or did not. */
inline may_lose() {
    if
    :: happens = true; answered = true
    :: faults > 0 -> faults--; answered = false;
        if
        :: happens = true
        :: happens = false
        fi
    fi
}

/*
 * Rule 1, accept_event() of runtime/work/send.c: one commit of what the stimulus became, by what its
 * sender found, and a reservation of the stimulus' own id. Mail, for every bookmark found; a parked row
 * when none was found; a row that is still to be matched when looking failed. All of it nobody's.
 * A retry that meets the reservation reads in it which commit took (resolve_by_inserts() of
 * runtime/commit/commit.c); one that comes when the reservation has expired is refused by the store.
 */
#define NOT_LOOKED 4 /* of what was found; else a bit for each instance */
#ifdef DEFECT_RESEND
#define HAS_RESERVATION (row[0].on || row[1].on || mail[0].on || mail[1].on)
#else
#define HAS_RESERVATION (reserved != 0)
#endif
inline insert_first(found) {
    if
    :: !HAS_RESERVATION ->
        reserved = ROW; became = ROW;
        if
        :: found == NOT_LOOKED -> row[0].on = true
        :: found == 0 ->
            assert(ids < ROWS);
            row[ids].on = true; row[ids].parked = true; row[ids].look = true; ids++
        :: else -> mail[0].on = found & 1; mail[1].on = found >> 1
        fi;
        sync_all()
    :: else
    fi
}

/*
 * Rule 2, WAKE of stores/sql_statements.c: a commit that inserts a bookmark makes parked work that
 * matches it due; but not what a node has taken, which is about to become a dead letter.
 */
#ifdef DEFECT_WAKE
#define IS_WAKEABLE(w) (w.on && w.parked)
#else
#define IS_WAKEABLE(w) (w.on && w.parked && w.owner == NOBODY)
#endif
inline look_for_parked(x) {
    inst[x].sees[1] = IS_WAKEABLE(row[1]); inst[x].sees[2] = IS_WAKEABLE(row[2]);
    inst[x].sees[3] = IS_WAKEABLE(row[3]); inst[x].sees[4] = IS_WAKEABLE(row[4]);
    inst[x].sees[5] = IS_WAKEABLE(row[5]);
    inst[x].sees_mail = IS_WAKEABLE(mail[x])
}
inline wake_one(w, seen) {
    if
    :: seen && IS_WAKEABLE(w) -> w.parked = false
    :: else
    fi;
    seen = false
}
inline wake_parked(x) {
    wake_one(row[1], inst[x].sees[1]); wake_one(row[2], inst[x].sees[2]);
    wake_one(row[3], inst[x].sees[3]); wake_one(row[4], inst[x].sees[4]);
    wake_one(row[5], inst[x].sees[5]);
    wake_one(mail[x], inst[x].sees_mail)
}

/* A claim, or a commit, of the instance: what is late is refused from now on. Of a visit a claim refuses only
 * what arrives while it lasts, and every commit the rest. */
inline refuse_late(x) {
    if
    :: late_direct == x + 1 -> late_direct = 0
    :: else
    fi
}
inline is_claimed(x) {
#if !VISITS
    refuse_late(x)
#else
    skip
#endif
}
inline is_written(x) {
#if VISITS
    if
    :: unchanged == x + 1 -> unchanged = 0
    :: else
    fi
#else
    skip
#endif
}

/*
 * The one commit of direct delivery, guarded by the instance's owner, or after a visit by there being none and by the
 * revision (ADVANCE_VISITED of stores/sql_statements.c): the stimulus has its effect, the bookmark goes, the claim ends,
 * the reservation is made.
 */
#if VISITS
#ifdef DEFECT_VISIT_STALE
#define MAY_COMMIT(x, by) (inst[x].owner == NOBODY && !inst[x].opening)
#else
#define MAY_COMMIT(x, by) (inst[x].owner == NOBODY && unchanged == x + 1)
#endif
#define EFFECT_OF(x) true /* of the state that was read */
#else
#define MAY_COMMIT(x, by) (inst[x].owner == by)
#define EFFECT_OF(x) inst[x].bookmark
#endif
#ifdef DEFECT_DIRECT_SAME
#define DIRECT_VALUE ROW
#else
#define DIRECT_VALUE DIRECT
#endif
#ifdef DEFECT_DIRECT_UNRESERVED
#define MAY_RESERVE true
#define RESERVE
#else
#define MAY_RESERVE (reserved == 0)
#define RESERVE reserved = DIRECT_VALUE
#endif
inline apply_direct(x, by) {
    if
    :: MAY_COMMIT(x, by) && MAY_RESERVE ->
        RESERVE; became = DIRECT; is_written(x);
        if
        :: EFFECT_OF(x) ->
            assert(inst[x].bookmark && !inst[x].opening); /* else the state that was read is not the last */
            inst[x].got++;
            assert(inst[x].got == 1 && !inst[x].dead); /* nothing double */
            inst[x].bookmark = false
        :: else /* nothing waits for it: no effect */
        fi;
        inst[x].owner = NOBODY; late_direct = 0;
        sync_all()
    :: else
    fi
}

/* Rule 3, pawl__runtime_match(): looks for bookmarks, then one commit that ends the row, guarded by
 * its owner (pawl__runtime_finish_work()), and inserts what it became. */
inline match() {
    atomic { b0 = inst[0].bookmark; b1 = inst[1].bookmark }
    atomic {
        may_lose();
        d_step {
            did_park = false;
            if
            :: happens && row[k].on && row[k].owner == me ->
                end_row(k);
                if /* pawl__runtime_expand(): ADD, a row that is there stays */
                :: b0 && !mail[0].on -> mail[0].on = true
                :: else
                fi;
                if
                :: b1 && !mail[1].on -> mail[1].on = true
                :: else
                fi;
                if /* park(): under a new id, with a row that makes another look later */
                :: !b0 && !b1 ->
                    assert(ids < ROWS);
                    row[ids].on = true; row[ids].parked = true; row[ids].look = true;
                    did_park = answered; at = ids; ids++
                :: else
                fi;
                sync_all()
            :: else
            fi;
            b0 = false; b1 = false
        }
    }
    if /* pawl__runtime_recheck_soon() */
    :: did_park -> wake(at)
    :: else
    fi
}

/* Rule 4, wake(): a parked row whose bookmark is there ends, nobody's as it is, and its successor
 * is due. */
inline wake(which) {
    b0 = MATCHES_ANY;
    atomic {
        may_lose();
        d_step {
            if
            :: b0 && happens && row[which].on && row[which].owner == NOBODY ->
                end_row(which);
                assert(ids < ROWS);
                row[ids].on = true; ids++;
                sync_all()
            :: else
            fi;
            b0 = false; did_park = false; at = 0
        }
    }
}

/* Rule 5, expire(): a parked row that was taken because it has expired becomes a dead letter,
 * guarded by its owner. */
inline expire() {
    atomic {
        may_lose();
        if
        :: happens && row[k].on && row[k].owner == me -> d_step { end_row(k); dead++; sync_all() }
        :: else
        fi
    }
}
inline expire_mail() {
    atomic {
        may_lose();
        if
        :: happens && mail[k].on && mail[k].owner == me ->
            d_step { assert(inst[k].got == 0); end_mail(k); inst[k].dead = true; sync_all() }
        :: else
        fi
    }
}

/*
 * Rule 6, do_mail() and run_mail(): claims the instance, which tells the mail that is due; delivers
 * it when its bookmark is there, else parks it; both in the commit of the instance, guarded by
 * owner and fence. The mail's own owner plays no part.
 */
inline deliver() {
    atomic {
        if
        :: IS_FREE(inst[k].owner) && !inst[k].opening ->
            d_step {
                lease[me] = true; inst[k].owner = me; claimed = true; is_claimed(k);
                has = mail[k].on && !mail[k].parked }
            if
            :: faults > 0 -> sync_all()
            :: skip
            fi
        :: else
        fi
    }
    atomic {
        may_lose();
        d_step {
            if
            :: happens && claimed && inst[k].owner == me ->
                if
                :: has && inst[k].bookmark ->
                    inst[k].got++;
                    assert(inst[k].got == 1 && !inst[k].dead); /* nothing double */
                    inst[k].bookmark = false; end_mail(k)
                :: has && !inst[k].bookmark -> /* park_mail(): PUT */
                    mail[k].on = true; mail[k].parked = true; mail[k].owner = NOBODY
                :: else
                fi;
                inst[k].owner = NOBODY; refuse_late(k); is_written(k);
                sync_all()
            :: else
            fi;
            claimed = false; has = false
        }
    }
}

/*
 * Rule 10, direct delivery. The claim is tried: if another living node has the instance, nothing
 * happens. What was due for the instance before runs first, and may use the bookmark up (a rival);
 * then the claim ends. The committer sends again after a lost answer; what is refused then has taken
 * effect before if the reservation says so. The caller's deadline may end this with UNKNOWN. What failed
 * is noted, although the event is accepted in the end: else the node does not look for what is its own.
 */
#ifdef DEFECT_DIRECT_QUIET
bool quiet;
#define LOOKS_FOR(x) (inst[x].owner != me || me != 1 || !quiet)
#else
#define LOOKS_FOR(x) true
#endif
#ifdef DEFECT_DIRECT_BLIND
#define IS_WAITING true
#else
#define IS_WAITING inst[k].bookmark
#endif
inline deliver_directly() {
#if VISITS
    atomic {
        if
        :: inst[k].owner == NOBODY && !inst[k].opening && IS_WAITING && !(mail[k].on && !mail[k].parked) ->
            d_step { lease[me] = true; unchanged = k + 1; claimed = true; has = true }
        :: else
        fi
    }
#else
    atomic {
        if
        :: IS_FREE(inst[k].owner) && !inst[k].opening ->
            d_step { lease[me] = true; inst[k].owner = me; claimed = true; has = IS_WAITING }
            if
            :: faults > 0 -> sync_all()
            :: skip
            fi
        :: else
        fi
    }
    if /* after an unknown outcome, or a refusal, nothing more is written under the claim */
    :: atomic { claimed && has && rivals > 0 ->
        may_lose();
        if
        :: happens && inst[k].owner == me ->
            d_step { rivals--; inst[k].bookmark = false; has = IS_WAITING; sync_all() }
        :: else -> claimed = false
        fi;
        claimed = claimed && answered }
    :: skip
    fi;
#endif
    do
    :: atomic { !claimed -> break }
    :: atomic { claimed && has ->
        d_step {
            apply_direct(k, me);
            if
            :: became == DIRECT -> told = DIRECT
            :: else
            fi
        }
        break }
    :: atomic { claimed && has && faults > 0 -> faults--;
        if
        :: d_step { apply_direct(k, me) }                             /* no answer */
        :: skip                                                       /* lost itself */
        :: MAY_COMMIT(k, me) && MAY_RESERVE -> late_direct = k + 1
        fi;
        if
        :: skip /* sent again */
        :: break
        fi }
    :: atomic { claimed && !has ->
        may_lose();
        if
        :: happens && inst[k].owner == me -> d_step { inst[k].owner = NOBODY; sync_all() }
        :: else
        fi;
        break }
    od;
    atomic {
        claimed = false; has = false; happens = false; answered = false; k = 0;
#ifdef DEFECT_DIRECT_QUIET
        quiet = faults < FAULTS
#endif
    }
}

/* Rule 7, take: what is due and nobody living has, or is this node's and in nobody's hand; mail not
 * when another living node has its instance; what is parked only when it has expired. TAKE and
 * FREE_WORK of stores/sql_statements.c. */
#define CAN_TAKE(x) (row[x].on && IS_FREE(row[x].owner) && (!row[x].parked || expired))
#ifdef DEFECT_PARKED
#define CAN_TAKE_MAIL(x) (mail[x].on && (!mail[x].parked || (expired && mail[x].owner != me)) && \
    IS_FREE(mail[x].owner) && IS_FREE(inst[x].owner))
#else
#define CAN_TAKE_MAIL(x) (mail[x].on && IS_FREE(mail[x].owner) && \
    (mail[x].parked -> expired : IS_FREE(inst[x].owner)))
#endif
/* A take is not synced, unless the server happens to. */
inline take(owner_of) {
    d_step { lease[me] = true; owner_of = me }
    if
    :: faults > 0 -> sync_all()
    :: skip
    fi
}

/*
 * Rule 8, pawl__runtime_recheck(): looks for the bookmark of a parked row once more, when every
 * commit has ended that was under way when it was parked.
 */
#ifdef DEFECT_RECHECK
#define MAY_RECHECK true
#else
#define MAY_RECHECK (!inst[0].opening && !inst[1].opening)
#endif
#define MUST_RECHECK(x) (row[x].look && MAY_RECHECK)
inline recheck() {
    answered = true;
    if
    :: row[k].on && row[k].parked -> wake(k)
    :: else
    fi;
    atomic {
        if
        :: answered -> /* else it stays due */
            may_lose();
            if
            :: happens -> row[k].look = false
            :: else
            fi
        :: else
        fi
    }
}

#define IS_LEFT(x) (inst[x].owner != NOBODY && IS_FREE(inst[x].owner) && LOOKS_FOR(x))

/* A worker of a node. The first node is the one that sends, and does what is due afterwards. */
proctype node(byte me) {
    bool happens, answered, did_park, b0, b1, has, claimed;
    byte k, at, found;

    lease[me] = true;
    {
    if
    :: me != 1 -> goto end_idle
    :: me == 1 -> found = FOUND
    :: atomic { me == 1 && faults > 0 -> faults--; found = NOT_LOOKED }
    fi;
    if /* one bookmark alone, and chance */
    :: atomic { found == 1 || found == 2 -> k = found - 1 }
        deliver_directly();
        if
        :: told -> found = 0; goto end_idle
        :: !told                  /* with what it found */
        :: !told -> found = FOUND /* or it looks again */
        fi
    :: skip
    fi;
    /* Rule 9, the committer: sends again after a lost answer, until its deadline. A reservation that
     * a first try meets is that of direct delivery, whose outcome was unknown. */
    do
    :: atomic {
        d_step {
            if
            :: HAS_RESERVATION -> told = (has && reserved == ROW -> ROW : DIRECT)
            :: else -> insert_first(found); told = ROW
            fi;
            has = false
        }
        break }
    :: atomic { faults > 0 -> faults--; has = true; /* doubtful */
        if
        :: insert_first(found)
        :: skip
        :: late_insert = found + 1
        fi }
        if
        :: skip
        :: has = false; found = 0; goto end_idle /* PAWL_EUNKNOWN */
        fi
    od;
    if /* pawl__runtime_recheck_soon(): it is the first row that was parked */
    :: told == ROW && found == 0 -> wake(1)
    :: else -> found = 0
    fi;
end_idle:
    do
    :: atomic { CAN_TAKE(0) -> k = 0; goto taking }
    :: atomic { CAN_TAKE(1) -> k = 1; goto taking }
    :: atomic { CAN_TAKE(2) -> k = 2; goto taking }
    :: atomic { CAN_TAKE(3) -> k = 3; goto taking }
    :: atomic { CAN_TAKE(4) -> k = 4; goto taking }
    :: atomic { CAN_TAKE(5) -> k = 5; goto taking }
    :: atomic { CAN_TAKE_MAIL(0) -> k = 0; goto taking_mail }
    :: atomic { CAN_TAKE_MAIL(1) -> k = 1; goto taking_mail }
    :: atomic { MUST_RECHECK(1) -> k = 1; goto rechecking }
    :: atomic { MUST_RECHECK(2) -> k = 2; goto rechecking }
    :: atomic { MUST_RECHECK(3) -> k = 3; goto rechecking }
    :: atomic { MUST_RECHECK(4) -> k = 4; goto rechecking }
    :: atomic { MUST_RECHECK(5) -> k = 5; goto rechecking }
    /* An instance that was left claimed: pawl__runtime_do_runnable(), pawl__runtime_add_strays() */
    :: atomic { IS_LEFT(0) -> k = 0; goto delivering }
    :: atomic { IS_LEFT(1) -> k = 1; goto delivering }
    :: atomic { errands > 0 && IS_FREE(inst[0].owner) -> errands--; k = 0; goto delivering }
    :: d_step { !lease[me] -> lease[me] = true }
    od;
taking:
    atomic {
        if
        :: CAN_TAKE(k) -> take(row[k].owner)
        :: else -> goto done
        fi;
        has = row[k].parked /* as the take told it */
    }
    if
    :: has -> has = false; expire(); goto done
    :: else
    fi;
    match();
    goto done;
taking_mail:
    atomic {
        if
        :: CAN_TAKE_MAIL(k) -> take(mail[k].owner)
        :: else -> goto done
        fi;
        has = mail[k].parked
    }
#ifndef DEFECT_PARKED
    if
    :: has -> has = false; expire_mail(); goto done
    :: else
    fi;
#endif
delivering:
    deliver();
    goto done;
rechecking:
    recheck();
done:
    atomic { k = 0; happens = false; answered = false; has = false; goto end_idle }
    } unless { crashed && me == 1 };
    atomic { k = 0; at = 0; found = 0; claimed = false; happens = false; answered = false; has = false;
        did_park = false; b0 = false; b1 = false }
}

/*
 * Commits of instance x, by whoever may claim it: it makes its bookmark, in two steps, since where
 * transactions run side by side WAKE is done before the bookmark is seen; the row stays locked in
 * between. Or something else uses the bookmark up.
 */
#define MAY_RUN(x) ((inst[x].owner == NOBODY || !lease[inst[x].owner]) && !inst[x].opening)
#define LIVE(x) \
    :: d_step { plans[x] > 0 && !inst[x].bookmark && MAY_RUN(x) -> \
        plans[x]--; inst[x].owner = NOBODY; inst[x].opening = true; refuse_late(x); is_written(x); \
        look_for_parked(x); sync_all() } \
    :: d_step { inst[x].opening -> inst[x].opening = false; inst[x].bookmark = true; wake_parked(x) } \
    :: d_step { rivals > 0 && inst[x].bookmark && MAY_RUN(x) -> \
        rivals--; inst[x].owner = NOBODY; inst[x].bookmark = false; refuse_late(x); is_written(x); sync_all() }

inline forget_row(x) { row[x].owner = row[x].disk_owner }
inline forget_instance(x) {
    mail[x].owner = mail[x].disk_owner;
    if
    :: !inst[x].opening -> inst[x].owner = inst[x].disk_owner
    :: else
    fi;
    /* a commit that was under way is undone */
    inst[x].opening = false; inst[x].sees[1] = false; inst[x].sees[2] = false;
    inst[x].sees[3] = false; inst[x].sees[4] = false; inst[x].sees[5] = false;
    inst[x].sees_mail = false
}

#define NOT_STUCK(x) assert(!(row[x].on && row[x].parked && MATCHES_ANY))

/* Time and chance. */
active proctype world() {
    byte plans[2]; /* so often an instance will make its bookmark */
    bool soon;     /* the stimulus may expire while the rest goes on, not only afterwards */

    if
    :: plans[0] = 1; plans[1] = 0
    :: INSTANCES > 1 -> plans[0] = 1; plans[1] = 1
    :: plans[0] = 2; plans[1] = 0
    fi;
    if
    :: soon = true
    :: skip
    fi;
end_world:
    do
    LIVE(0)
    LIVE(1)
    :: d_step { faults > 0 && lease[1] -> faults--; lease[1] = false }
    :: d_step { faults > 0 && lease[2] -> faults--; lease[2] = false }
    :: d_step { faults > 0 && !crashed -> faults--; crashed = true }
    :: d_step { crashed && lease[1] -> lease[1] = false }
    /* The server crashes: takes and claims that were not synced are gone, and what was on its way. */
    :: d_step { faults > 0 -> faults--;
        forget_row(0); forget_row(1); forget_row(2); forget_row(3); forget_row(4); forget_row(5);
        forget_instance(0); forget_instance(1); late_insert = 0; late_direct = 0 }
    :: d_step { late_insert -> insert_first(late_insert - 1); late_insert = 0 }
    :: d_step { late_insert -> late_insert = 0 }
    :: d_step { late_direct -> apply_direct(late_direct - 1, 1); late_direct = 0 }
    :: d_step { late_direct -> late_direct = 0 }
    :: d_step { soon && !expired -> expired = true }
    :: atomic { timeout ->
        if
        :: !expired ->
            NOT_STUCK(1); NOT_STUCK(2); NOT_STUCK(3); NOT_STUCK(4); NOT_STUCK(5);
            assert(!(mail[0].on && mail[0].parked && inst[0].bookmark));
            assert(!(mail[1].on && mail[1].parked && inst[1].bookmark));
            expired = true
        :: else -> break
        fi }
    od;
    atomic {
        assert(!(row[0].on || row[1].on || row[2].on || row[3].on || row[4].on || row[5].on));
        assert(!mail[0].on && !mail[1].on);
        assert(inst[0].owner == NOBODY && inst[1].owner == NOBODY);
        assert(dead <= 1);
        assert(dead == 0 || inst[0].got + inst[1].got + inst[0].dead + inst[1].dead == 0);
        assert(!told || told == became); /* true outcomes */
        assert(!told || dead + inst[0].got + inst[1].got + inst[0].dead + inst[1].dead > 0)
    }
}

init {
    byte x;
    atomic {
        for (x : 1 .. NODES) { run node(x) }
    }
}
