/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that a case's workflows send: who sends them, and the server that gets them. */
#ifndef PAWL_TESTS_CONFORMANCE_STUB_H
#define PAWL_TESTS_CONFORMANCE_STUB_H

#include "conformance/case.h"

/* Before the node is opened, if the case needs it. Failures are noted. */
bool stub_open(struct running *run);
/* After the node was closed. */
void stub_close(struct running *run);
/* The case's input, with the stub's address as StubUrl. */
struct pawl_json stub_input(struct running *run);

bool expect_stub_requests(struct running *run, const struct pawl_json *list);

#endif
