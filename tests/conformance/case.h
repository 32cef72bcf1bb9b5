/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One conformance case: definitions in, steps, observed behaviour out. The format is described in
 * cases/README.md.
 */
#ifndef PAWL_TESTS_CONFORMANCE_CASE_H
#define PAWL_TESTS_CONFORMANCE_CASE_H

#include "conformance/postgres.h"
#include "expressions/javascript/javascript.h"
#include "lib/clock.h"
#include "runtime/runtime.h"
#include "servers/http.h"

/* A folder with cases.json, definitions/ and perhaps journals.json. */
struct suite {
    const char *folder;
    const struct pawl_allocator *alloc;
    struct pawl_arena arena;
    struct pawl_json cases;
    struct pawl_json journals; /* null: none */
    struct pawl_env *env;
    struct pawl_javascript *javascript; /* for cases without settings of their own */
};

PAWL_MUST_CHECK int suite_open(struct suite *suite, const char *folder,
                               const struct pawl_allocator *alloc, struct pawl_error *err);
void suite_close(struct suite *suite);
/* A file of it, in `folder` ("definitions/"). PAWL_ENOTFOUND, PAWL_EPARSE, PAWL_ENOMEM. */
PAWL_MUST_CHECK int suite_read(const struct suite *suite, struct pawl_arena *arena,
                               const char *folder, struct pawl_str name, struct pawl_json *out,
                               struct pawl_error *err);

enum verdict {
    CASE_PASSED,
    CASE_FAILED,
    CASE_NOT_RUN,
};

/* How to run it. */
struct manner {
    bool reopen;      /* after every single activity, everything goes through its stored form */
    bool reopen_node; /* and after every step, another node goes on */
    bool verbose;     /* prints the journal beside the expected one */
    bool distributed; /* whatever touches an instance does so under its lock */
    struct pawl_buf *states;        /* where all instances are written at the end; NULL: nowhere */
    const char *store_file;         /* an SQLite file of its own for each case; NULL: no file */
    struct case_postgres *postgres; /* NULL, and no file: a store in memory */
};

/* An instance as the store has it. */
struct seen {
    struct pawl_str id;
    struct pawl_str definition_id;
    struct pawl_str version_id;
    struct pawl_json state;
    bool is_final;
    bool has_journal; /* what follows was read */
    struct pawl_json log;
    struct pawl_json records;
};

/* A case while it runs; what concerns the node is node.c's. */
struct running {
    const struct suite *suite;
    const struct pawl_json *json;
    struct pawl_arena arena; /* definitions of the case, and what comparing needs */
    struct pawl_engine engine;
    struct pawl_javascript *javascript; /* with the case's own settings; NULL: the suite's */
    const struct manner *manner;
    struct test_clock *clock;
    struct pawl_env *env;                  /* with that clock */
    struct pawl_memory_database *database; /* NULL: the store is another */
    struct pawl_store *store;
    struct pawl_runtime *runtime;
    struct pawl_locks *locks; /* NULL: one node */
    struct pawl_guard *guard;
    struct pawl_http_executor *http; /* NULL: the case sends nothing */
    struct test_http *stub;          /* NULL: none */
    uint64_t seed;
    bool keep_invalid;
    int64_t next_due_us;                     /* when time alone makes something happen */
    char entry_id[PAWL_INSTANCE_ID_MAX + 1]; /* "": none was started */
    bool alter_succeeded;                    /* the last alteration */
    struct pawl_graph *entry_graph;          /* NULL: not looked at yet */
    struct pawl_publication *published;      /* one per definition of the case */
    struct pawl_arena seen_arena;            /* of the instances as last looked at */
    struct seen *seen;
    size_t seen_count;
    bool stale;               /* something was done since */
    struct pawl_json printed; /* array of texts */
    struct pawl_json lines;   /* the same split into lines; see expect_lines.c */
    uint32_t lines_from;      /* out of how many texts it was made */
    struct pawl_buf why;      /* the first thing that is not as expected */
};

/*
 * Runs one case. *why is what differs, or what is missing; it lives in the suite's arena. An error
 * of the driver itself is a failure of the case too; only running out of memory is an error.
 */
PAWL_MUST_CHECK int case_run(struct suite *suite, const struct pawl_json *json,
                             const struct manner *manner, enum verdict *verdict, const char **why);

/* The first feature that the case requires and that is not there; NULL when nothing is missing. */
const char *case_missing(const struct pawl_engine *engine, const struct pawl_json *json);

/* The engine with everything that there is. */
PAWL_MUST_CHECK int conformance_engine(struct pawl_engine *engine,
                                       const struct pawl_allocator *alloc,
                                       struct pawl_javascript *javascript);

#endif
