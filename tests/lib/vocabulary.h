/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small vocabulary for tests that load graphs and run nothing: the names, inputs, outputs and
 * ports of the usual activities, without functions but for loading.
 */
#ifndef PAWL_TESTS_LIB_VOCABULARY_H
#define PAWL_TESTS_LIB_VOCABULARY_H

#include "engine/engine.h"

/* PAWL_ENOMEM. The engine is initialised by it and released by the caller either way. */
int vocabulary_init(struct pawl_engine *engine, const struct pawl_allocator *alloc);

/* Everything built in instead, and JavaScript and Liquid by name. */
int vocabulary_init_built_in(struct pawl_engine *engine, const struct pawl_allocator *alloc);

#endif
