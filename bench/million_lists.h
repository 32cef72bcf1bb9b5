/* SPDX-License-Identifier: Apache-2.0 */
/* For million.c: how long the lists take that people look at. */
#ifndef PAWL_BENCH_MILLION_LISTS_H
#define PAWL_BENCH_MILLION_LISTS_H

#include <pawl/ext/env.h>
#include <pawl/ext/store.h>

#include <stdbool.h>

/* Makes a copy of a suspended instance into one of the mixture that lists are measured on; whether
 * it still waits. Even ones are left as they are. */
bool lists_mix(struct pawl_instance_row *row, unsigned number);

/* First pages with their totals, by every order and filter; whether all were quick enough. */
bool lists_measure(struct pawl_env *env, struct pawl_store *store);

#endif
