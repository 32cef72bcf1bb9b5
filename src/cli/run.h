/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of `pawl run` share. */
#ifndef PAWL_CLI_RUN_H
#define PAWL_CLI_RUN_H

#include "cli/command/output.h"
#include "cli/session/definitions.h"
#include "cli/session/scratch.h"
#include "operations/instances.h"
#include "operations/trial.h"
#include "os/interrupt.h"

struct run {
    struct pawl_cli *cli;
    struct pawl_cli_scratch scratch;
    struct pawl_interrupt *interrupt;  /* NULL: not listening */
    struct pawl_cli_definition *files; /* one per operand; the first is run */
    struct pawl_trial_definition *definitions;
    struct pawl_json input;
    size_t next_event;
    size_t activity_count;
    bool as_json;
    bool trace;
    bool simulated; /* --now: the clock jumps from timer to timer */
    int64_t now_ns; /* where it begins */
    bool cancelling;
    struct pawl_error failure; /* of a burst that could not be run; code 0: none */

    char entry_id[PAWL_INSTANCE_ID_MAX + 1]; /* "": nothing was logged yet */
    struct pawl_arena entry_arena;
    struct pawl_json entry_state; /* as last looked at, in that arena */
    bool entry_is_final;
    int64_t next_due_us; /* PAWL_TIME_NEVER: time alone brings nothing */

    struct pawl_arena lines_arena; /* --json: lines are kept until the end */
    struct pawl_json lines;
    bool lines_lost; /* out of memory */
};

/* One step of an activity, for --trace. */
void pawl__run_trace(struct run *run, const struct pawl_trace *step);
/* Where a definition will not do what it says: the first few places. */
void pawl__run_show_problems(struct run *run, const struct pawl_cli_definition *file,
                             const struct pawl_problems *problems);
/* That a timer is waited for, for --trace. */
void pawl__run_show_wait(struct run *run, int64_t due_us);
/* Prints how it ended and what it waits for; returns the exit code. */
int pawl__run_report(struct run *run);

#endif
