/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of commits made by chance, over so few rows that their members get in each other's way.
 * One seed makes one batch, with rows that are there before it; ids begin with the seed, so that
 * one database may have the batches of many seeds.
 */
#ifndef PAWL_TESTS_CONTRACT_RANDOM_BATCH_H
#define PAWL_TESTS_CONTRACT_RANDOM_BATCH_H

#include "contract/suite.h"

#define RANDOM_MEMBERS_MAX 5
/* Of a long commit; others have six at the most. */
#define RANDOM_CHANGES_MAX 40
#define RANDOM_IDS_MAX 80

/* All times that are not the store's clock are before the first or after the second. */
#define RANDOM_PAST_US INT64_C(1000000)
#define RANDOM_LATER_US (INT64_C(1) << 60)

/* Rows of one table: those that are there before, and all keys (of their first column) that the
 * batch may use. */
struct random_table {
    enum pawl_table table;
    struct pawl_datum ids[RANDOM_IDS_MAX];
    size_t id_count;
    char *rows;
    size_t row_count;
};

/* As many as one find_many() reads. */
#define RANDOM_TABLES PAWL_STORE_QUERIES_MAX

struct random_member {
    struct pawl_instance_row row;
    struct pawl_change changes[RANDOM_CHANGES_MAX];
    struct pawl_str done[2];
    struct pawl_commit commit;
};

struct random_batch {
    uint64_t seed;
    struct random_table tables[RANDOM_TABLES];
    struct random_member members[RANDOM_MEMBERS_MAX];
    size_t count;
};

/* In the arena of `t`. */
struct random_batch *make_random_batch(struct contract *t, uint64_t seed);
/* What it is, for whoever reads the report of a failed test. */
void print_random_batch(const struct random_batch *batch);
/* The columns of a row that are not "" or 0. */
void print_row(enum pawl_table table, const void *row);

#endif
