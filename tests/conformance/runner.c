/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a conformance suite and counts.
 *
 *     conformance FOLDER [--case ID]… [--area AREA] [--reopen] [--every N]
 *                 [--store memory|sqlite|postgres|postgres://…] [--distributed] [--verbose] [--tap]
 *
 * --reopen commits after every activity and goes on from what was stored. --store sqlite keeps each
 * case in a file, --store postgres in a server that it starts (or at that address, in a schema that
 * it makes and removes); there a new node goes on after every step. --every N runs each Nth case,
 * beginning elsewhere for each commit (PAWL_TEST_ROTATION).
 *
 * --distributed runs each case on the runtime of a cluster, and then on that of one node: what the
 * instances of a case are exported as must be the same to the byte, with their journals.
 *
 * Prints `ok ID`, `not ok ID - why` or `not run ID - what is missing` for each case, then a table
 * by area, and ends with `N passed, N failed, N skipped`. Exits 1 when a case failed, 2 when the
 * suite cannot be read, 77 when the folder does not exist (meson takes that for a skip).
 */
#include "base/error.h"
#include "conformance/case.h"
#include "lib/test.h"
#include "os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AREAS_MAX 256
#define STATES_MAX ((size_t)1 << 30)

struct area {
    struct pawl_str name;
    unsigned counts[3]; /* by verdict */
};

struct options {
    const char *folder;
    const char *cases[64];
    size_t case_count;
    const char *area; /* NULL: all */
    struct manner manner;
    const char *store;
    unsigned every;
    bool distributed;
    bool tap;
};

struct tally {
    struct area areas[AREAS_MAX];
    size_t area_count;
    unsigned number;
};

static bool is_store(const char *name)
{
    return strcmp(name, "memory") == 0 || strcmp(name, "sqlite") == 0 ||
           strcmp(name, "postgres") == 0 || strncmp(name, "postgres://", 11) == 0;
}

static bool parse(int argc, char **argv, struct options *options)
{
    *options = (struct options){.store = "memory", .every = 1};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--case") == 0 && i + 1 < argc && options->case_count < 64)
            options->cases[options->case_count++] = argv[++i];
        else if (strcmp(argv[i], "--area") == 0 && i + 1 < argc)
            options->area = argv[++i];
        else if (strcmp(argv[i], "--reopen") == 0)
            options->manner.reopen = true;
        else if (strcmp(argv[i], "--store") == 0 && i + 1 < argc && is_store(argv[i + 1]))
            options->store = argv[++i];
        else if (strcmp(argv[i], "--every") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0)
            options->every = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--distributed") == 0)
            options->distributed = true;
        else if (strcmp(argv[i], "--verbose") == 0)
            options->manner.verbose = true;
        else if (strcmp(argv[i], "--tap") == 0)
            options->tap = true;
        else if (argv[i][0] != '-' && !options->folder)
            options->folder = argv[i];
        else
            return false;
    }
    return options->folder != NULL;
}

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

static bool is_wanted(const struct options *options, const struct pawl_json *json)
{
    if (options->area && !pawl__str_is(text_of(json, "area"), options->area))
        return false;
    for (size_t i = 0; i < options->case_count; i++) {
        if (pawl__str_is(text_of(json, "id"), options->cases[i]))
            return true;
    }
    return options->case_count == 0;
}

static void count(struct tally *tally, struct pawl_str area, enum verdict verdict)
{
    size_t i = 0;

    while (i < tally->area_count && !pawl__str_equal(tally->areas[i].name, area))
        i++;
    if (i == AREAS_MAX)
        i--;
    else if (i == tally->area_count)
        tally->areas[tally->area_count++].name = area;
    tally->areas[i].counts[verdict]++;
}

static void report(const struct options *options, struct tally *tally, const struct pawl_json *json,
                   enum verdict verdict, const char *why)
{
    struct pawl_str id = text_of(json, "id");

    count(tally, text_of(json, "area"), verdict);
    tally->number++;
    if (options->tap)
        printf("%s %u - %.*s%s%s\n", verdict == CASE_FAILED ? "not ok" : "ok", tally->number,
               PAWL_STR_ARG(id), verdict == CASE_NOT_RUN ? " # SKIP needs " : "",
               verdict == CASE_NOT_RUN ? why : "");
    else if (verdict == CASE_PASSED)
        printf("ok %.*s\n", PAWL_STR_ARG(id));
    else
        printf("%s %.*s - %s\n", verdict == CASE_FAILED ? "not ok" : "not run", PAWL_STR_ARG(id),
               why);
    if (options->tap && verdict == CASE_FAILED)
        printf("# %s\n", why);
    (void)fflush(stdout);
}

static unsigned total(const struct tally *tally, enum verdict verdict)
{
    unsigned sum = 0;

    for (size_t i = 0; i < tally->area_count; i++)
        sum += tally->areas[i].counts[verdict];
    return sum;
}

static void print_table(const struct options *options, const struct tally *tally)
{
    const char *lead = options->tap ? "# " : "";

    printf("%s\n%s%-28s %7s %7s %7s\n", lead, lead, "area", "passed", "failed", "not yet");
    for (size_t i = 0; i < tally->area_count; i++)
        printf("%s%-28.*s %7u %7u %7u\n", lead, PAWL_STR_ARG(tally->areas[i].name),
               tally->areas[i].counts[CASE_PASSED], tally->areas[i].counts[CASE_FAILED],
               tally->areas[i].counts[CASE_NOT_RUN]);
    if (options->tap)
        printf("1..%u\n", tally->number);
    printf("%s%u passed, %u failed, %u skipped\n", lead, total(tally, CASE_PASSED),
           total(tally, CASE_FAILED), total(tally, CASE_NOT_RUN));
}

/* On the cluster's runtime, then on one node's: the states must be the same. */
static int run_both(const struct options *options, struct suite *suite,
                    const struct pawl_json *json, enum verdict *verdict, const char **why)
{
    struct manner manner = options->manner;
    enum verdict alone;
    struct pawl_buf cluster, node;
    const char *ignored;
    int status;

    pawl__buf_init(&cluster, suite->alloc, STATES_MAX);
    pawl__buf_init(&node, suite->alloc, STATES_MAX);
    manner.distributed = true;
    manner.states = &cluster;
    status = case_run(suite, json, &manner, verdict, why);
    manner.distributed = false;
    manner.states = &node;
    if (status == PAWL_OK && *verdict == CASE_PASSED)
        status = case_run(suite, json, &manner, &alone, &ignored);
    if (status == PAWL_OK && *verdict == CASE_PASSED &&
        (cluster.status != PAWL_OK || node.status != PAWL_OK ||
         !pawl__str_equal(pawl__buf_peek(&cluster), pawl__buf_peek(&node)))) {
        *verdict = CASE_FAILED;
        *why = "the instances differ from those of one node";
    }
    pawl__buf_release(&cluster);
    pawl__buf_release(&node);
    return status;
}

static int run_suite(const struct options *options, struct suite *suite, struct tally *tally)
{
    unsigned seen = 0, first = (unsigned)(test_rotation() % options->every);

    if (options->every > 1)
        printf("# each %uth case from number %u\n", options->every, first);
    for (uint32_t i = 0; i < pawl__json_len(&suite->cases); i++) {
        const struct pawl_json *json = pawl__json_at(&suite->cases, i);
        enum verdict verdict;
        const char *why;
        int status;

        if (!is_wanted(options, json) || seen++ % options->every != first)
            continue;
        status = options->distributed ? run_both(options, suite, json, &verdict, &why)
                                      : case_run(suite, json, &options->manner, &verdict, &why);
        if (status != PAWL_OK)
            return status;
        report(options, tally, json, verdict, why);
    }
    return PAWL_OK;
}

/* ---- where cases are kept ---------------------------------------------------------------- */

struct place {
    char folder[64]; /* "": none */
    char file[80];
    struct case_postgres postgres;
};

/* A folder for the files of this run. */
static int make_folder(struct place *place, struct pawl_error *err)
{
    const char *above = test_fast_folder();

    (void)snprintf(place->folder, sizeof place->folder, "%s/pawl-conformance-XXXXXX", above);
    if (!mkdtemp(place->folder)) {
        place->folder[0] = '\0';
        return pawl__error_set(err, PAWL_EIO, "no folder can be made in %s", above);
    }
    (void)snprintf(place->file, sizeof place->file, "%s/case.db", place->folder);
    return PAWL_OK;
}

static int place_open(struct place *place, struct options *options,
                      const struct pawl_allocator *alloc, struct pawl_error *err)
{
    const char *uri = strchr(options->store, ':') ? options->store : "";
    int status;

    *place = (struct place){.folder = ""};
    if (strcmp(options->store, "memory") == 0)
        return PAWL_OK;
    options->manner.reopen_node = true;
    if (strcmp(options->store, "sqlite") == 0) {
        options->manner.store_file = place->file;
        return make_folder(place, err);
    }
    status = case_postgres_open(&place->postgres, uri, alloc, err);
    if (status == PAWL_OK)
        options->manner.postgres = &place->postgres;
    return status;
}

static void place_close(struct place *place, struct options *options)
{
    if (place->folder[0] != '\0')
        (void)rmdir(place->folder);
    if (options->manner.postgres)
        case_postgres_close(&place->postgres);
    options->manner.postgres = NULL;
    options->manner.store_file = NULL;
}

/* ---- main -------------------------------------------------------------------------------- */

static int run_folder(struct options *options, const struct pawl_allocator *alloc,
                      struct tally *tally, struct pawl_error *err)
{
    struct suite suite;
    struct place place;
    int status = suite_open(&suite, options->folder, alloc, err);

    if (status != PAWL_OK)
        return status;
    status = place_open(&place, options, alloc, err);
    if (status == PAWL_OK)
        status = run_suite(options, &suite, tally);
    if (status == PAWL_OK)
        print_table(options, tally);
    place_close(&place, options);
    suite_close(&suite);
    return status;
}

int main(int argc, char **argv)
{
    struct tally tally = {.area_count = 0};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct test_allocator alloc;
    struct options options;
    bool there = false;
    int status;

    if (!parse(argc, argv, &options)) {
        fprintf(stderr,
                "usage: %s FOLDER [--case ID] [--area AREA] [--reopen] [--every N] "
                "[--store memory|sqlite|postgres|postgres://...] [--distributed] [--verbose] "
                "[--tap]\n",
                argv[0]);
        return 2;
    }
    if (pawl__file_exists(options.folder, &there, &err) == PAWL_OK && !there) {
        printf(options.tap ? "1..0 # SKIP there is no %s\n" : "there is no %s\n", options.folder);
        return options.tap ? 0 : 77;
    }
    test_allocator_init(&alloc);
    status = run_folder(&options, &alloc.base, &tally, &err);
    if (status != PAWL_OK) {
        fprintf(stderr, "%s: %s\n", options.folder, err.code ? err.msg : pawl_error_text(status));
        return 2;
    }
    if (alloc.live_count > 0)
        fprintf(stderr, "%zu allocations were not freed\n", alloc.live_count);
    return total(&tally, CASE_FAILED) > 0 || alloc.live_count > 0;
}
