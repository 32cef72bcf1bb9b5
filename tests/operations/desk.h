/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A started host on an empty store, and an operation on it: what each test of operations begins
 * with. Every test runs on a store in memory, on SQLite and on a PostgreSQL server that the program
 * starts.
 */
#ifndef PAWL_TESTS_OPERATIONS_DESK_H
#define PAWL_TESTS_OPERATIONS_DESK_H

#include "lib/test.h"

#include "host/configuration.h"
#include "host/host.h"
#include "operations/operation.h"
#include "os/clock_env.h"
#include "stores/stores.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#define DESK_NO_FAULT INT_MAX

struct desk {
    struct pawl_env *system;
    struct pawl_env *env; /* the system's, or the one with the test's own clock */
    struct pawl_configuration configuration;
    struct pawl_host *host;
    struct pawl_arena arena; /* until the end of the test */
    struct pawl_error err;
    struct pawl_op op; /* with a deadline that only a hang exceeds */
    struct pawl_service_decorator faults;
    struct pawl_store *store;          /* below what loses answers */
    atomic_int lost_applies;           /* so many calls of apply() from now on have no answer */
    atomic_bool is_dropped;            /* and no effect either */
    void (*losing)(struct desk *desk); /* called as each of them is made; NULL: nothing */
    /* After so many more commits the store cannot be asked for rows; negative: never. */
    atomic_int commits_before_failure;
    /* After so many more calls the store fails, for one call, or for all but commits until this is
     * DESK_NO_FAULT again; negative then. Of the first of them the answer alone may be lost. */
    atomic_int calls_before_fault;
    atomic_bool fault_is_once, fault_is_lost;
    pthread_t thread;        /* of the test: */
    atomic_int finds_failed; /* so many of its next queries fail */
    atomic_int finds;        /* its queries so far */
    /* Of a test with its own clock: each of them takes as long as this. */
    struct pawl_clock_env *clock;
    int64_t find_ns;
};

struct desk_test {
    const char *name;
    void (*run)(struct desk *desk);
    const char *setting; /* "name=value"; NULL: none */
    bool memory_only;    /* skipped on others */
    bool own_clock;      /* which only the test advances */
};

/* clang-format off */
#define DESK_TEST(function) {#function, function, NULL, false, false}
/* clang-format on */

/* One list per file, ended by a name that is NULL. */
extern const struct desk_test definition_tests[], definition_change_tests[],
    definition_model_tests[], definition_recording_tests[], instance_tests[], instance_one_tests[],
    audit_tests[], identity_tests[], journal_tests[], node_tests[], operator_tests[],
    stored_tests[], trial_tests[], wait_tests[], work_tests[];

/* Publishes a definition, given as JSON. */
void desk_publish(struct desk *desk, const char *json);
/* Starts an instance of it and runs its first burst; texts NULL: none. Returns its id. */
struct pawl_str desk_start(struct desk *desk, const char *definition_id, const char *instance_id,
                           const char *correlation_id, const char *name);
/* Writes a state that cannot be read to an instance that nobody runs. */
void desk_damage(struct desk *desk, const char *instance_id);
/* Does what is due until nothing is. */
void desk_drain(struct desk *desk);

/* A definition that waits for the event Go, one that writes a line and ends, one that faults. */
extern const char desk_waits[], desk_ends[], desk_faults[];

#endif
