/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the store's contract share: a fixture, and short words for the usual steps. */
#ifndef PAWL_TESTS_CONTRACT_SUITE_H
#define PAWL_TESTS_CONTRACT_SUITE_H

#include "contract/store.h"
#include "lib/test.h"

#include "base/arena.h"

#define SECOND_US INT64_C(1000000)
#define HOUR_US (3600 * SECOND_US)

/* Two nodes, `a` and `b`, with living leases, each with a connection to one empty database. */
struct contract {
    const struct contract_backend *backend;
    struct pawl_env *env;
    void *database;
    struct pawl_store *a;
    struct pawl_store *b;
    int64_t node_a; /* incarnations */
    int64_t node_b;
    struct pawl_arena arena; /* for whatever a test needs until its end */
    struct pawl_error err;
};

/* What a backend must have for a test to make sense. */
enum contract_need { CONTRACT_NEEDS_NOTHING, CONTRACT_NEEDS_DURABLE, CONTRACT_NEEDS_POISON };

struct contract_test {
    const char *name;
    void (*run)(struct contract *t);
    enum contract_need need;
};

/* clang-format off */
#define CONTRACT_TEST(function) {#function, function, CONTRACT_NEEDS_NOTHING}
#define CONTRACT_TEST_IF(need, function) {#function, function, CONTRACT_NEEDS_##need}
/* clang-format on */

/* One list per file, ended by a name that is NULL. */
extern const struct contract_test contract_commits[];
extern const struct contract_test contract_random[];
extern const struct contract_test contract_changes[];
extern const struct contract_test contract_claims[];
extern const struct contract_test contract_visits[];
extern const struct contract_test contract_takes[];
extern const struct contract_test contract_queries[];
extern const struct contract_test contract_nodes[];
extern const struct contract_test contract_whole[];
extern const struct contract_test contract_tables[];
extern const struct contract_test contract_lists[];

/* A minute from now: only a store that hangs meets it. */
int64_t soon_ns(struct contract *t);
/* The store's clock. */
int64_t now_us(struct contract *t);

/* Text in the test's arena. */
struct pawl_str text(struct contract *t, const char *format, ...) PAWL_PRINTF(2, 3);

/* Rows with something in every column, derived from the id. */
struct pawl_instance_row some_instance(struct contract *t, struct pawl_str id);
struct pawl_bookmark_row some_bookmark(struct contract *t, struct pawl_str id,
                                       struct pawl_str instance_id, const char *hash);
/* Due at `due_us`, of no instance, kind "start", never expiring. */
struct pawl_work_row some_work(struct contract *t, struct pawl_str id, int64_t due_us);
struct pawl_definition_row some_definition(struct contract *t, const char *id,
                                           const char *definition_id, int64_t version);
struct pawl_trigger_row some_trigger(struct contract *t, const char *id, const char *hash);
struct pawl_dead_letter_row some_dead_letter(struct contract *t, const char *id,
                                             const char *work_id);
struct pawl_journal_row some_journal(struct contract *t, struct pawl_str instance_id,
                                     int64_t first_sequence);

/* A row of any table with something in every column, different for each number. Its instance_id, if
 * it has one, is the given one. In the test's arena. */
void *any_row(struct contract *t, enum pawl_table table, int number, struct pawl_str instance_id);

/* Applies one commit; the call must be answered with PAWL_OK. Answers the commit's status. */
int apply_one(struct contract *t, struct pawl_store *store, struct pawl_commit *commit);
/* Applies a PLAIN commit of one change. */
int change_one(struct contract *t, enum pawl_change_kind kind, enum pawl_table table,
               const void *row);
void insert(struct contract *t, enum pawl_table table, const void *row);

/* Creates an instance that nobody owns. */
struct pawl_str create_instance(struct contract *t, const char *id);
/* Claims it; the call must be answered with PAWL_OK. */
struct pawl_claim claim_one(struct contract *t, struct pawl_store *store, int64_t owner,
                            struct pawl_str id);
/* Creates it and claims it for node a; answers the row as claimed. */
struct pawl_instance_row claimed_instance(struct contract *t, const char *id);

/* A new incarnation of a node; with ttl_us 0 it is dead at once. */
int64_t join(struct contract *t, struct pawl_store *store, const char *node_id, int64_t ttl_us);
void leave(struct contract *t, struct pawl_store *store, const char *node_id, int64_t incarnation);

/* Takes for node a or whichever `owner`: all parts, all kinds. */
struct pawl_taken take_some(struct contract *t, struct pawl_store *store, int64_t owner,
                            uint32_t limit);

/* Rows of a table where the column `name` is `value`; "" for `name`: all. */
struct pawl_rows find_where(struct contract *t, enum pawl_table table, const char *name,
                            struct pawl_str value);
uint64_t count_all(struct contract *t, enum pawl_table table);
/* The row of an instance; the test fails when there is none. */
const struct pawl_instance_row *instance_row(struct contract *t, struct pawl_str id);

/*
 * All rows of all tables as text, one line each, sorted; long values by length and hash. In the
 * test's arena. Two stores with the same rows give the same text.
 */
const char *dump(struct contract *t, struct pawl_store *store);

/*
 * 64 claimed instances advance in one call, each with a bookmark; `spoil` makes one of them wrong.
 * That one is dropped with `status` (1: whichever failure); nothing that it wrote is there, and all
 * that the others wrote is.
 */
void check_dropped_alone(struct contract *t,
                         void (*spoil)(struct contract *t, struct pawl_commit *commit,
                                       struct pawl_instance_row *row),
                         int status);

/* Equal in every column, told by name. */
#define assert_same_row(table, a, b) check_same_row((table), (a), (b), __FILE__, __LINE__)
void check_same_row(enum pawl_table table, const void *a, const void *b, const char *file,
                    int line);

#define assert_same_str(a, b) check_same_str((a), (b), __FILE__, __LINE__)
void check_same_str(struct pawl_str a, struct pawl_str b, const char *file, int line);

#endif
