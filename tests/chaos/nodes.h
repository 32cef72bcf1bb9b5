/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes as an operator runs them: `pawl worker --distributed`, a process each, with its log in a
 * file. They end with this process. Nothing here is for more than one thread at a time per node.
 */
#ifndef PAWL_TESTS_CHAOS_NODES_H
#define PAWL_TESTS_CHAOS_NODES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NODE_URI_MAX 512

struct node {
    char name[16];
    char store[NODE_URI_MAX];
    char lock[NODE_URI_MAX];
    char log[160];
    char clock[160]; /* a file for wrong_clock.c; "": its clock is right */
    const char *lease;
    pid_t pid;         /* 0: it does not run */
    int64_t log_begin; /* how long its log was when it was started */
    bool paused;
    /* How often it ended in a way that nobody asked for: by itself, or by SIGTERM with a status
     * that is not 0. */
    unsigned surprises;
};

/* Answers false when it cannot be started. */
bool node_start(struct node *node);
void node_kill(struct node *node);  /* at once, and waits for it */
void node_stop(struct node *node);  /* asks it to end, and waits; kills one that does not */
void node_pause(struct node *node); /* SIGSTOP */
void node_continue(struct node *node);
/* From now on its wall clock is wrong by this; false: it cannot be set. */
bool node_set_clock(const struct node *node, int64_t wrong_by_s);
/* Whether it still runs; one that has ended by itself is noted as ended. */
bool node_runs(struct node *node);
/* The last lines of its log, for a report. */
void node_show_log(const struct node *node);

#endif
