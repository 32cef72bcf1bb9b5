/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floors: what a database alone can do on this machine, written directly against its library.
 * One repetition inserts rows of 1 KB in one transaction that is durable when it returns.
 */
#ifndef PAWL_BENCH_FLOOR_H
#define PAWL_BENCH_FLOOR_H

#include "harness.h"

#define FLOOR_ROW_BYTES 1024
#define FLOOR_BATCH_MAX 64u

struct floor_sqlite;
struct floor_postgres;

/* WAL, synchronous=FULL, one writer. */
struct floor_sqlite *floor_sqlite_open(const char *path);
void floor_sqlite_close(struct floor_sqlite *floor);
/* Transactions of `batch` rows. */
void floor_sqlite_measure(struct floor_sqlite *floor, struct pawl_env *env, unsigned batch,
                          double seconds, struct bench_rate *out);

/* A table of its own in the database that `uri` names; synchronous_commit is on. */
struct floor_postgres *floor_postgres_open(const char *uri, unsigned connections);
void floor_postgres_close(struct floor_postgres *floor);
/* The same on `clients` connections at a time, a thread each. */
void floor_postgres_measure(struct floor_postgres *floor, struct pawl_env *env, unsigned clients,
                            unsigned batch, double seconds, struct bench_rate *out);

#endif
