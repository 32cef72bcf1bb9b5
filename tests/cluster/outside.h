/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the scenario talks to: a server for its requests, and what must be true of them afterwards.
 */
#ifndef PAWL_TESTS_CLUSTER_OUTSIDE_H
#define PAWL_TESTS_CLUSTER_OUTSIDE_H

#include "servers/http.h"

/* Answers all but SCENARIO_HELD_PATH, which is never answered. */
struct test_http *outside_start(void);
/*
 * Each request was sent at least once (the one that is never answered is cancelled, and may have
 * been before), none more than twice, and every time with the same key; different ones with
 * different keys. Ends the server. Answers how many were repeated.
 */
unsigned outside_end(struct test_http *server, const char *what);

#endif
