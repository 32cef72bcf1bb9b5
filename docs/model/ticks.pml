/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recurring trigger: its ticks, the starts that they make and that may fail, and operators who
 * index the definition again and replay dead letters.
 *
 * Occurrences are numbered; the model ends when the chain of ticks has reached number TICKS. A tick
 * that is made anew, from the time of the day instead of its predecessor, begins another phase: an
 * interval that is counted from another moment. So two chains are two rows in different phases.
 *
 * Checked:
 *   one chain       there is never more than one tick of the trigger
 *   never stuck     where no process can move, there is one tick, and it is number TICKS
 *   nothing double  an occurrence starts at most one instance
 *   nothing lost    an occurrence has started its instance or has a dead letter
 */
#ifndef NODES
#define NODES 2
#endif
#ifndef FAULTS
#define FAULTS 2 /* answers lost, leases that expire, crashes of a node or of the server */
#endif
#ifndef FAILURES
#define FAILURES 3 /* starts that fail, by the workflow's own fault */
#endif
#ifndef OPERATORS
#define OPERATORS 1
#endif
#define TICKS 2
#define PHASES 3
#define ATTEMPTS 2 /* options.attempts_max */
#define NOBODY 0

/* Rows of work of kind PAWL_WORK_TICK, one per phase. */
typedef Tick { bool on; byte number; byte attempts; byte owner, disk_owner; bool dead };
Tick tick[PHASES];
/* Rows of kind PAWL_WORK_START, by phase and number. */
typedef Start { bool on; byte attempts; byte owner, disk_owner; byte ran; bool dead };
#define STARTS (PHASES * TICKS)
Start start[STARTS];
#define START_OF(p) ((p) * TICKS + tick[p].number)

byte phases; /* begun so far */
byte stamp;  /* of definitions: moves with every commit that changes one */
bool lease[NODES + 1];
bool crashed;
byte faults = FAULTS, failures = FAILURES;

#define IS_FREE(o) (o == NOBODY || o == me || !lease[o])
#define COUNT (tick[0].on + tick[1].on + tick[2].on)

inline sync_all() {
    d_step {
        for (at : 0 .. PHASES - 1) { tick[at].disk_owner = (faults > 0 -> tick[at].owner : 0) }
        for (at : 0 .. STARTS - 1) { start[at].disk_owner = (faults > 0 -> start[at].owner : 0) }
        at = 0
    }
}

inline may_lose() {
    if
    :: happens = true
    :: faults > 0 -> faults--; happens = true
    :: faults > 0 -> faults--; happens = false
    fi
}

/* plan_tick() of runtime/definitions/triggers.c: a tick that has no predecessor. */
inline begin_phase(from) {
    assert(phases < PHASES);
    tick[phases].on = true; tick[phases].number = from; tick[phases].attempts = 0;
    phases++;
    assert(COUNT == 1); /* one chain */
}

/*
 * Rule 1, pawl__runtime_do_tick(): one commit ends the tick, guarded by its owner, and makes the
 * next one, under an id made of trigger and time, and the start that it means, as a row of its own.
 * The next tick does not depend on what becomes of the start.
 */
inline do_tick(p) {
    atomic {
        may_lose();
        if
        :: happens && tick[p].on && tick[p].owner == me ->
            d_step {
                assert(!start[START_OF(p)].on);
                start[START_OF(p)].on = true;
                tick[p].number++; tick[p].owner = NOBODY;
                sync_all()
            }
        :: else
        fi
    }
}

/* As it was: the commit that starts the instance makes the next tick; a start that fails puts the
 * tick off, and in the end makes a dead letter of it. */
inline do_tick_and_start(p) {
    if
    :: fails = false
    :: atomic { failures > 0 -> failures--; fails = true }
    fi;
    atomic {
        may_lose();
        if
        :: happens && tick[p].on && tick[p].owner == me ->
            d_step {
                tick[p].owner = NOBODY;
                if
                :: !fails -> start[START_OF(p)].ran++; tick[p].number++; tick[p].attempts = 0
                :: fails && tick[p].attempts + 1 < ATTEMPTS -> tick[p].attempts++
                :: else -> tick[p].on = false; tick[p].dead = true; tick[p].attempts = 0
                fi;
                sync_all()
            }
        :: else
        fi;
        fails = false
    }
}

/*
 * Rule 2, pawl__runtime_do_start(): the instance appears in the commit that ends the start, guarded
 * by its owner. One that fails is put off and becomes a dead letter (fail_work()).
 */
inline do_start(q) {
    if
    :: fails = false
    :: atomic { failures > 0 -> failures--; fails = true }
    fi;
    atomic {
        may_lose();
        if
        :: happens && start[q].on && start[q].owner == me ->
            d_step {
                start[q].owner = NOBODY;
                if
                :: !fails -> start[q].on = false; start[q].ran++; assert(start[q].ran == 1)
                :: fails && start[q].attempts + 1 < ATTEMPTS -> start[q].attempts++
                :: else -> start[q].on = false; start[q].dead = true; start[q].attempts = 0
                fi;
                sync_all()
            }
        :: else
        fi;
        fails = false
    }
}

/* Rule 3, take: as in stimulus.pml. Not synced, unless the server happens to. */
#define CAN_TICK(p) (tick[p].on && tick[p].number < TICKS && IS_FREE(tick[p].owner))
#define CAN_START(q) (start[q].on && IS_FREE(start[q].owner))
inline take(owner_of) {
    lease[me] = true; owner_of = me;
    if
    :: faults > 0 -> sync_all()
    :: skip
    fi
}

proctype node(byte me) {
    bool happens, fails;
    byte k, at;

    lease[me] = true;
    {
end_idle:
    do
    :: atomic { CAN_TICK(0) -> k = 0; goto ticking }
    :: atomic { CAN_TICK(1) -> k = 1; goto ticking }
    :: atomic { CAN_TICK(2) -> k = 2; goto ticking }
    :: atomic { CAN_START(0) -> k = 0; goto starting }
    :: atomic { CAN_START(1) -> k = 1; goto starting }
    :: atomic { CAN_START(2) -> k = 2; goto starting }
    :: atomic { CAN_START(3) -> k = 3; goto starting }
    :: atomic { CAN_START(4) -> k = 4; goto starting }
    :: atomic { CAN_START(5) -> k = 5; goto starting }
    :: d_step { !lease[me] -> lease[me] = true }
    od;
ticking:
    atomic {
        if
        :: CAN_TICK(k) -> take(tick[k].owner)
        :: else -> goto done
        fi
    }
#ifdef DEFECT_TICK
    do_tick_and_start(k);
#else
    do_tick(k);
#endif
    goto done;
starting:
    atomic {
        if
        :: CAN_START(k) -> take(start[k].owner)
        :: else -> goto done
        fi
    }
    do_start(k);
done:
    atomic { k = 0; happens = false; goto end_idle }
    } unless { crashed && me == 1 };
    atomic { k = 0; at = 0; happens = false; fails = false }
}

/*
 * An operator indexes the definition again, once, and replays each dead letter, once.
 *
 * Rule 4, plan_kept() of runtime/definitions/triggers.c: a trigger that has no tick gets one, in a
 * commit that is dropped when a definition has changed since the look (the stamp).
 * Rule 5, replay() of runtime/work/letters.c: the dead letter of a start becomes a start again;
 * that of a tick, which an earlier version may have left, becomes the start that it meant, and never
 * a tick. A reservation lets each letter be replayed once.
 */
proctype operator() {
    byte seen, p, q, at;
    bool none;
    bool indexes = true;

end_operator:
    do
    :: d_step { indexes -> indexes = false; seen = stamp; none = COUNT == 0 }
        atomic {
            if
            :: none && stamp == seen -> stamp++; begin_phase(0); sync_all()
            :: else
            fi;
            none = false; seen = 0
        }
    :: atomic {
        if
        :: tick[0].dead -> p = 0
        :: tick[1].dead -> p = 1
        :: tick[2].dead -> p = 2
        fi;
        tick[p].dead = false;
#ifdef DEFECT_TICK
        begin_phase(tick[p].number);
#else
        assert(!start[START_OF(p)].on);
        start[START_OF(p)].on = true;
#endif
        sync_all();
        p = 0 }
    :: atomic {
        if
        :: start[0].dead -> q = 0
        :: start[1].dead -> q = 1
        :: start[2].dead -> q = 2
        :: start[3].dead -> q = 3
        :: start[4].dead -> q = 4
        :: start[5].dead -> q = 5
        fi;
        start[q].dead = false; start[q].on = true;
        sync_all();
        q = 0 }
    od
}

/* Time and chance. */
active proctype world() {
    byte at;

end_world:
    do
    :: d_step { faults > 0 && lease[1] -> faults--; lease[1] = false }
    :: d_step { faults > 0 && lease[2] -> faults--; lease[2] = false }
    :: d_step { faults > 0 && !crashed -> faults--; crashed = true }
    :: d_step { crashed && lease[1] -> lease[1] = false }
    :: d_step { faults > 0 -> faults--; /* the server forgets takes that were not synced */
        for (at : 0 .. PHASES - 1) { tick[at].owner = tick[at].disk_owner }
        for (at : 0 .. STARTS - 1) { start[at].owner = start[at].disk_owner }
        at = 0 }
    :: atomic { timeout -> break }
    od;
    atomic {
        assert(COUNT == 1);
        for (at : 0 .. PHASES - 1) {
            assert(!tick[at].on || tick[at].number == TICKS)
        }
        for (at : 0 .. STARTS - 1) {
            assert(!start[at].on && start[at].ran <= 1);
#ifndef DEFECT_TICK
            assert(at % TICKS >= tick[at / TICKS].number || start[at].ran == 1 || start[at].dead)
#endif
        }
    }
}

init {
    byte x;
    atomic {
        if
        :: begin_phase(0)
#if !defined(DEFECT_TICK) && OPERATORS > 0
        /* What an earlier version left: a tick that was given up, and no other. */
        :: tick[0].dead = true; phases = 1
#endif
        fi;
        for (x : 1 .. NODES) { run node(x) }
#if OPERATORS > 0
        for (x : 1 .. OPERATORS) { run operator() }
#endif
    }
}
