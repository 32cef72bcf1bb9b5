/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims, fences, leases and commits of instances: one writer, whoever dies, pauses or forgets.
 *
 * NODES nodes run INSTANCES instances of STEPS commits each; the last commit releases the claim.
 * README.md says what is left out and why. Every rule names the function that implements it.
 *
 * Checked:
 *   one writer    a commit that takes effect belongs to the claim that the store granted last, and
 *                 writes the step that follows the one that is stored
 *   true outcomes a commit reported as done was done, and it was that one; a commit reported as
 *                 refused was not done and never will be
 *   never stuck   where no process can move, every instance has ended and nobody owns it
 *                 (and the graph of states has no cycle: see README.md)
 */
#ifndef NODES
#define NODES 2
#endif
#ifndef INSTANCES
#define INSTANCES 2
#endif
#ifndef STEPS
#define STEPS 2
#endif
/*
 * Faults that one run may have, of any kinds: an answer that is lost or late (of a claim or of a
 * commit), a lease that expires while its node goes on, a node that crashes, a server that crashes
 * and forgets what was not synced, a load that fails after the claim.
 */
#ifndef FAULTS
#define FAULTS 2
#endif

#define INCARNATIONS (NODES + FAULTS)
#define KEEP 15 /* of a commit's step: the state stays as it is */
#define TAGS 16 /* claims of one incarnation, at the most */

/* Outcomes, as in <pawl/error.h>. */
#define OK 0
#define ECONFLICT 1
#define EUNKNOWN 2

/* A row of the table of instances: struct pawl_instance_row. */
typedef Row {
    byte owner;          /* incarnation; 0: nobody */
    byte fence;
    byte revision;
    byte revision_fence;
    byte revision_owner;
    byte step;           /* stands for the state */
    byte granted;        /* ghost: which claim the store granted last */
    /* What a crash of the server leaves of claims. Commits are synced, and all that came before. */
    byte disk_owner;
    byte disk_fence;
    byte disk_granted
};
Row row[INSTANCES];

/* The table of nodes: whose lease has not expired, by the store's clock. */
bool lease[INCARNATIONS + 1];
byte joined; /* incarnations issued */

/* A commit whose sender waits no longer and that is still on its way to the store. */
typedef Late {
    bool on;
    byte sender, i, owner, fence, revision, step, granted;
    bool release;
    bool current; /* ghost: its sender is still to learn what became of it */
    bool refused  /* ghost: its sender was told that it did not happen */
};
Late late;

bool crashed[NODES];
byte down; /* the incarnation of a node that stays down; 0: none does */
byte faults = FAULTS;
bool took[NODES]; /* ghost: the commit that the node is about to hear of has taken effect */

#ifdef DEFECT_LOOK
bool noted[NODES]; /* runtime->stray_ns is set */
#define NOTE(n, what) noted[n] = what
#else
bool noted[NODES]; /* likewise; it stays set: a node that ever failed looks once per lease */
#define NOTE(n, what) noted[n] = noted[n] || (what)
#endif
#define LOOKS(n) noted[n]

#define IS_ALIVE(incarnation) lease[incarnation]
#define IS_ENDED(x) (row[x].step == STEPS)

inline sync_one(x) {
    row[x].disk_owner = row[x].owner;
    row[x].disk_fence = row[x].fence;
    row[x].disk_granted = row[x].granted
}

inline sync_all() {
    sync_one(0);
#if INSTANCES > 1
    sync_one(1)
#endif
}

inline forget_one(x) {
    row[x].owner = row[x].disk_owner;
    row[x].fence = row[x].disk_fence;
    row[x].granted = row[x].disk_granted
}

inline forget_late() {
    late.on = false; late.sender = 0; late.i = 0; late.owner = 0; late.fence = 0; late.revision = 0;
    late.step = 0; late.granted = 0; late.release = 0; late.current = 0; late.refused = 0
}

/*
 * Rule 1, the guard: a commit takes effect where owner, fence and revision are those of the claim.
 * check_owner() and advance() of stores/memory_apply.c; MINE and STEP of stores/sql_statements.c.
 */
#ifdef DEFECT_OWNER
#define OWNER_MATCHES(x, by) true
#else
#define OWNER_MATCHES(x, by) (row[x].owner == by && by != 0)
#endif
inline apply(x, by, under, from, to, releases, with, happened, result) {
    if
    :: OWNER_MATCHES(x, by) && row[x].fence == under && row[x].revision == from ->
        assert(row[x].granted == with); /* one writer */
        row[x].revision = from + 1;
        row[x].revision_fence = under;
        row[x].revision_owner = by;
        if
        :: to != KEEP ->
            assert(to == row[x].step + 1); /* no step is lost, none is done again */
            row[x].step = to
        :: else
        fi;
        if
        :: releases -> row[x].owner = 0
        :: else
        fi;
        sync_all();
        happened = true;
        result = OK
    :: else -> result = ECONFLICT
    fi
}

/*
 * Rule 2, the claim: owner and fence + 1, when nobody has it, the claimer has it, or its owner's
 * node is dead and the claimer's is not: here it renews its lease first. Not synced, unless the
 * server happens to. CLAIM of stores/sql_statements.c, pawl__memdb_claim() of
 * stores/memory_claim.c.
 * A node states the greatest fence that it was ever granted and gets a greater one: so no two
 * claims have the same owner and the same fence, also when the server forgot the first.
 */
#ifdef DEFECT_REISSUE
#define NEXT_FENCE(x) row[x].fence + 1
#else
#define NEXT_FENCE(x) (row[x].fence > most -> row[x].fence : most) + 1
#endif
#define IS_CLAIMABLE(x) (!IS_ENDED(x) && \
    (row[x].owner == 0 || !IS_ALIVE(row[x].owner) || (row[x].owner == me && LOOKS(n))))

/*
 * Rule 3, the outcome of a commit that was refused after an answer was lost. resolve_advance() of
 * runtime/commit/commit.c: the revision that would be ours, and who wrote it under which fence.
 */
#ifdef DEFECT_FENCE
#define IS_OURS(x) (row[x].revision_fence == f)
#else
#define IS_OURS(x) (row[x].revision_fence == f && row[x].revision_owner == me)
#endif
inline resolve() {
    if
    :: row[i].revision <= r -> out = ECONFLICT
    :: row[i].revision > r && IS_OURS(i) -> out = OK
    :: row[i].revision == r + 1 && !IS_OURS(i) -> out = ECONFLICT
    :: else -> out = EUNKNOWN
    fi
}

/*
 * Rule 4, the committer: sends, and after a lost answer sends the same again; what is then refused
 * is looked up. judge_one(), judge_failed() and judge_refused() of runtime/commit/committer_send.c. A
 * caller's deadline may end this at any time with UNKNOWN (await_answer() of runtime/commit/committer.c);
 * what was sent may still take effect then.
 */
inline commit(to_step, and_release) {
    do
    :: atomic { /* sent, applied and answered; others may do anything before that */
        d_step { apply(i, me, f, r, to_step, and_release, g, took[n], out) }
        if
        :: out == OK || !doubtful -> break
        :: else
        fi }
        d_step { resolve() }
        break
    :: atomic { faults > 0 -> faults--;
        if
        :: d_step { apply(i, me, f, r, to_step, and_release, g, took[n], out) } /* no answer */
        :: skip                                                                 /* lost itself */
        :: !late.on ->
            d_step {
                late.on = true; late.sender = n; late.i = i; late.owner = me; late.fence = f;
                late.revision = r; late.step = to_step; late.release = and_release;
                late.granted = g; late.current = true }
        fi;
        doubtful = true; out = EUNKNOWN }
    :: atomic { doubtful -> out = EUNKNOWN; break } /* the deadline */
    od;
    atomic {
        assert(out != OK || took[n]);         /* what was reported as done was done */
        assert(out != ECONFLICT || !took[n]); /* what was reported as refused was not */
        if
        :: late.on && late.sender == n && late.current ->
            late.current = false; late.refused = out == ECONFLICT
        :: else
        fi;
        doubtful = false; took[n] = false
    }
}

/* One worker of one node: pawl__runtime_run_instance() and what it calls. */
proctype node(byte n) {
    byte me;            /* the incarnation */
    byte most;          /* fence that it was granted */
    byte claims;        /* ghost: so many were granted */
    byte i, f, r, g, s; /* in hand: instance, fence, revision, ghost, step */
    byte out;
    bool doubtful;

    /* PAWL_LEASE_JOIN: an incarnation that was never issued before. Synced. */
join:
    atomic { joined++; me = joined; lease[me] = true; most = 0; claims = 0 }
    {
    /*
     * Rule 5: a node claims what is unfinished and nobody living has (RUNNABLE of
     * stores/sql_statements.c, pawl__runtime_do_runnable()), and what is its own and in nobody's
     * hand (pawl__runtime_add_strays()). It looks for the latter soon after its first failure, and
     * once per lease from then on.
     */
end_idle:
    do
    :: atomic { IS_CLAIMABLE(0) -> i = 0; break }
#if INSTANCES > 1
    :: atomic { IS_CLAIMABLE(1) -> i = 1; break }
#endif
#ifdef DEFECT_LOOK
    :: d_step { noted[n] && row[0].owner != me && row[INSTANCES - 1].owner != me -> noted[n] = false }
#endif
    :: d_step { !lease[me] -> lease[me] = true } /* keep() of runtime/node/keeper.c */
    od;
    /* pawl__runtime_may_begin() renews a lease that expired; then pawl__runtime_claim(). */
    atomic {
        if
        :: !IS_CLAIMABLE(i) -> i = 0; goto end_idle /* PAWL_EBUSY */
        :: else
        fi;
        d_step {
            lease[me] = true;
            row[i].owner = me;
            row[i].fence = NEXT_FENCE(i);
            claims++;
            assert(claims < TAGS);
            row[i].granted = me * TAGS + claims;
            NOTE(n, false)
        }
        if
        :: faults > 0 -> sync_all()
        :: skip
        fi;
        if
        :: d_step {
            f = row[i].fence; most = f; r = row[i].revision; g = row[i].granted; s = row[i].step }
        :: faults > 0 -> faults--; NOTE(n, true); i = 0; goto end_idle /* no answer */
        fi
    }
    /* Rule 6, load() and pawl__runtime_let_go(): what was not loaded is never written. */
    if
    :: skip
    :: atomic { faults > 0 -> faults-- }
#ifdef DEFECT_LOAD
        commit(0, true);
#else
        commit(KEEP, true);
#endif
        goto left
    fi;
#ifdef DEFECT_RELEASE
    commit(KEEP, true);
    r = r + 1;
#endif
    /* run_burst(): each step is committed before the next begins; the last one releases. */
    do
    :: commit(s + 1, s + 1 == STEPS);
        if
        :: out == OK && s + 1 < STEPS -> d_step { s++; r++ }
        :: else -> break
        fi
    od;
    /* Rule 7, let_go(): after an unknown outcome nothing more is written under this fence. */
#ifdef DEFECT_LETGO
    if
    :: out == EUNKNOWN -> commit(KEEP, true)
    :: else
    fi;
#endif
left:
    /* pawl__runtime_task_release() notes the failure. */
    atomic { NOTE(n, out != OK); i = 0; f = 0; r = 0; g = 0; s = 0; out = 0; goto end_idle }
    } unless { crashed[n] };
    atomic {
        i = 0; f = 0; r = 0; g = 0; s = 0; out = 0; doubtful = false; took[n] = false;
        noted[n] = false;
        if
        :: late.on && late.sender == n -> late.current = false
        :: else
        fi;
        if
        :: !down -> down = me; me = 0; most = 0; claims = 0
        :: lease[me] = false; crashed[n] = false; goto join
        fi
    }
}

/* Time and chance. */
active proctype world() {
    byte out;
end_world:
    do
    /* A pause: a lease expires, and its node, which does not notice, goes on later. That of a node
     * that is down expires by itself. */
    :: d_step { faults > 0 && lease[1] -> faults--; lease[1] = false }
    :: d_step { faults > 0 && lease[2] -> faults--; lease[2] = false }
#if NODES > 2
    :: d_step { faults > 0 && lease[3] -> faults--; lease[3] = false }
#endif
    :: d_step { lease[down] -> lease[down] = false }
    :: d_step { faults > 0 && !crashed[0] && !down -> faults--; crashed[0] = true }
    :: d_step { faults > 0 && !crashed[1] && !down -> faults--; crashed[1] = true }
    /* The server crashes: what was on its way is gone, and what was not synced. */
    :: d_step { faults > 0 ->
        faults--;
        forget_one(0);
#if INSTANCES > 1
        forget_one(1);
#endif
        forget_late() }
    /* What its sender gave up arrives, or does not. */
    :: d_step { late.on ->
        if
        :: late.current -> apply(late.i, late.owner, late.fence, late.revision, late.step,
            late.release, late.granted, took[late.sender], out)
        :: else -> apply(late.i, late.owner, late.fence, late.revision, late.step, late.release,
            late.granted, out, out);
            assert(out != OK || !late.refused)
        fi;
        out = 0;
        forget_late() }
    :: d_step { late.on -> forget_late() }
    :: atomic { timeout ->
        assert(IS_ENDED(0) && row[0].owner == 0);
        assert(IS_ENDED(INSTANCES - 1) && row[INSTANCES - 1].owner == 0);
        break }
    od
}

init {
    byte x;
    atomic {
        for (x : 0 .. INSTANCES - 1) {
            row[x].fence = 1; row[x].revision = 1; row[x].disk_fence = 1
        }
        for (x : 0 .. NODES - 1) { run node(x) }
    }
}
