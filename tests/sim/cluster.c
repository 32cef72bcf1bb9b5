/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at simulated clusters:
 *
 *     cluster --seed N [--verbose]          one run, and all that happened in it
 *     cluster --seeds N [--from M] [--go-on]    many, until one fails, or to the end
 *     --bug NAME                                plants one; a wrong name lists them
 *     --nodes N --seconds N --calm --distributed --delivery direct|rows
 *     --features N    what else goes on, bits as src/sim/cluster.h has them; by seed if not given
 */
#include "sim/cluster.h"
#include "activities/activities.h"
#include "expressions/expressions.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    if (new_size > 0)
        return realloc(ptr, new_size);
    free(ptr);
    return NULL;
}

static void print_line(void *ctx, const char *line)
{
    (void)fprintf(ctx, "%s\n", line);
}

static enum pawl_cluster_bug bug_by_name(const char *name)
{
    static const char *const names[PAWL_CLUSTER_BUG_COUNT] = {
        "none",         "edge-only",     "split",      "twice",     "age",        "locked",
        "lock-waits",   "lost-state",    "read-only",  "wakes-all", "mail-stays", "untold",
        "never-yields", "cancel-unseen", "sent-twice", "ticks-end", "wrong-class"};

    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
        if (strcmp(name, names[i]) == 0)
            return (enum pawl_cluster_bug)i;
    }
    (void)fprintf(stderr, "cluster: no bug \"%s\"; there are:", name);
    for (int i = 1; i < PAWL_CLUSTER_BUG_COUNT; i++)
        (void)fprintf(stderr, " %s", names[i]);
    (void)fprintf(stderr, "\n");
    exit(2);
}

#define N(value) ((unsigned long long)(value))

static void print_report(const struct pawl_cluster_options *options,
                         const struct pawl_cluster_report *report)
{
    (void)printf("seed %llu: %llu steps, trace %016llx\n", N(options->seed), N(report->step_count),
                 N(report->trace_hash));
    (void)printf("  clients: %llu started, %llu sent, %llu cancelled, %llu deleted, %llu retried\n",
                 N(report->started), N(report->sent), N(report->cancelled), N(report->deleted),
                 N(report->retried));
    (void)printf(
        "  server: %llu instances, %llu commits, %llu events delivered, %llu applied, %llu "
        "ticks, %llu singletons, %llu children, %llu dead letters\n",
        N(report->instances), N(report->commits), N(report->delivered), N(report->applied),
        N(report->ticks), N(report->singles), N(report->children), N(report->dead));
    (void)printf("  nodes: %llu boots, %llu crashes, %llu drains, %llu pauses, %llu clock shifts, "
                 "%llu calls failed, %llu answers lost\n",
                 N(report->boots), N(report->crashes), N(report->drains), N(report->pauses),
                 N(report->shifts), N(report->failed), N(report->lost));
    if (options->distributed)
        (void)printf(
            "  locks: %llu calls failed, %llu granted to anybody, %llu lost, %llu outages\n",
            N(report->lock_failed), N(report->lock_twice), N(report->lock_lost),
            N(report->lock_outages));
}

static uint64_t number(const char *text)
{
    return strtoull(text, NULL, 10);
}

static uint64_t read_options(int argc, char **argv, struct pawl_cluster_options *options,
                             bool *go_on)
{
    static const struct option names[] = {
        {"seed", required_argument, NULL, 's'},
        {"seeds", required_argument, NULL, 'c'},
        {"from", required_argument, NULL, 's'},
        {"bug", required_argument, NULL, 'b'},
        {"nodes", required_argument, NULL, 'n'},
        {"seconds", required_argument, NULL, 't'},
        {"calm", no_argument, NULL, 'q'},
        {"verbose", no_argument, NULL, 'v'},
        {"go-on", no_argument, NULL, 'g'},
        {"distributed", no_argument, NULL, 'd'},
        {"features", required_argument, NULL, 'f'},
        {"delivery", required_argument, NULL, 'w'},
        {NULL, 0, NULL, 0},
    };
    uint64_t count = 1;
    int option;

    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (option == 's')
            options->seed = number(optarg);
        else if (option == 'c')
            count = number(optarg);
        else if (option == 'b')
            options->bug = bug_by_name(optarg);
        else if (option == 'n')
            options->nodes = (uint32_t)number(optarg);
        else if (option == 't')
            options->seconds = (uint32_t)number(optarg);
        else if (option == 'q')
            options->calm = true;
        else if (option == 'd')
            options->distributed = true;
        else if (option == 'f')
            options->features = (uint32_t)number(optarg);
        else if (option == 'w')
            options->delivery =
                strcmp(optarg, "rows") == 0 ? PAWL_CLUSTER_ROWS : PAWL_CLUSTER_DIRECT;
        else if (option == 'g')
            *go_on = true;
        else if (option == 'v')
            options->say = print_line;
        else
            exit(2);
    }
    options->say_ctx = stdout;
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    return count;
}

int main(int argc, char **argv)
{
    const struct pawl_allocator alloc = {resize, NULL};
    struct pawl_cluster_options options = {0};
    struct pawl_cluster_report report;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_engine engine;
    bool go_on = false;
    uint64_t count = read_options(argc, argv, &options, &go_on), failed = 0;

    pawl__engine_init(&engine, &alloc, (struct pawl_hash_seed){1, 2});
    if (pawl__activities_register(&engine) != PAWL_OK ||
        pawl__expressions_register(&engine) != PAWL_OK)
        return 2;
    options.engine = &engine;
    for (uint64_t i = 0; i < count && (failed == 0 || go_on); i++, options.seed++) {
        int status = pawl__cluster_run(&alloc, &options, &report, &err);

        if (count == 1)
            print_report(&options, &report);
        if (status != PAWL_OK)
            (void)printf("%s: %s\n", pawl_error_name(status), err.msg);
        failed += status != PAWL_OK;
    }
    if (count > 1)
        (void)printf("%llu seeds failed\n", N(failed));
    pawl__engine_release(&engine);
    return failed == 0 ? 0 : 1;
}
