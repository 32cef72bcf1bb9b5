/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sender without keys: it sends events to instances that count them, and does not repeat what it
 * was not told about. What was accepted must be counted once; what ended with an unknown outcome
 * may be counted or not, and never twice. Its way to the store is its own, so that its answers can
 * get lost while others do what it has sent.
 */
#ifndef PAWL_TESTS_CHAOS_KEYLESS_H
#define PAWL_TESTS_CHAOS_KEYLESS_H

#include "pains/stage.h"

#include <stdatomic.h>

#define KEYLESS_INSTANCES 4

struct keyless {
    const char *uri; /* through its proxy, if it has one */
    int64_t lease_us;
    struct stage *client; /* publishes, starts and looks */
    _Atomic(bool) enough;
    /* Written by the sender, read by others when it has ended. */
    unsigned accepted[KEYLESS_INSTANCES];
    unsigned unknown[KEYLESS_INSTANCES];
    unsigned refused;  /* nothing happened: sent again */
    unsigned reopened; /* its node had lost its lease */
    struct pawl_error failure;
};

void keyless_publish(struct keyless *keyless);
/* For a thread: sends until `enough`. */
void keyless_send(void *arg);
/* Waits until everything that was accepted is counted; fails the test when one is counted twice. */
void keyless_check(struct keyless *keyless, unsigned patience_s);

#endif
