/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of `pawl run` share. */
#ifndef PAWL_CLI_RUN_H
#define PAWL_CLI_RUN_H

#include "cli/definitions.h"
#include "cli/output.h"
#include "engine/engine.h"
#include "os/interrupt.h"
#include "runtime/memory.h"

struct run_file {
    struct pawl_cli_definition file;
    struct pawl_memory_definition *definition;
};

struct run {
    struct pawl_cli *cli;
    struct pawl_engine engine;
    struct pawl_memory memory;
    struct pawl_interrupt *interrupt; /* NULL: not listening */
    struct run_file *files;           /* one per operand; the first is run */
    struct pawl_memory_instance *entry;
    struct pawl_json input;
    size_t next_event;
    size_t activity_count;
    bool as_json;
    bool trace;
    bool simulated; /* --now: the clock jumps from timer to timer */

    struct pawl_arena lines_arena; /* --json: lines are kept until the end */
    struct pawl_json lines;
    bool lines_lost; /* out of memory */
};

/* One step of an activity, for --trace. */
void pawl__run_trace(struct run *run, const struct pawl_memory_instance *instance,
                     const struct pawl_log_record *record);
/* Where a definition will not do what it says: the first few places. */
void pawl__run_show_problems(struct run *run, const struct pawl_cli_definition *file,
                             const struct pawl_problems *problems);
/* That a timer is waited for, for --trace. */
void pawl__run_show_wait(struct run *run, int64_t due);
/* How it ended, and what it waits for; answers the exit code. */
int pawl__run_report(struct run *run);

#endif
