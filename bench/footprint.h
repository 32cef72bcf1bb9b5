/* SPDX-License-Identifier: Apache-2.0 */
/*
 * W4: what a `pawl worker` takes. Its resident memory when it is ready and has nothing to do; the
 * same process's after it has started FOOTPRINT_INSTANCES instances, all of which wait for an
 * event; and how long one that begins with these in the store takes from its start to the line that
 * says that it is ready.
 */
#ifndef PAWL_BENCH_FOOTPRINT_H
#define PAWL_BENCH_FOOTPRINT_H

#include "harness.h"

#define FOOTPRINT_INSTANCES 10000u

struct footprint {
    double idle_rss_kb;
    double suspended_rss_kb;
    double ready_ms; /* the middle of several */
};

/* `uri` as the program takes it; the node is on the same store, which nobody else uses. The program
 * is the one of the build folder that this one is in. */
void footprint_measure(struct bench_node *node, const char *uri, struct footprint *out);

#endif
