/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at simulated runs:
 *
 *     sim --seed N [--verbose]          one run, and all that happened in it
 *     sim --seeds N [--from M]          many, until one fails
 *     --bug skip-revision|steal|acknowledge-early|fence-alone    plants one
 *     --nodes N --workers N --instances N --seconds N --calm
 */
#include "sim/sim.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

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

static enum pawl_sim_bug bug_by_name(const char *name)
{
    if (strcmp(name, "skip-revision") == 0)
        return PAWL_SIM_BUG_SKIP_REVISION;
    if (strcmp(name, "steal") == 0)
        return PAWL_SIM_BUG_STEAL;
    if (strcmp(name, "acknowledge-early") == 0)
        return PAWL_SIM_BUG_ACKNOWLEDGE_EARLY;
    if (strcmp(name, "fence-alone") == 0)
        return PAWL_SIM_BUG_FENCE_ALONE;
    (void)fprintf(
        stderr, "sim: no bug \"%s\": skip-revision, steal, acknowledge-early, fence-alone\n", name);
    exit(2);
}

static void print_report(const struct pawl_sim_options *options,
                         const struct pawl_sim_report *report)
{
    (void)printf("seed %llu: %llu steps, trace %016llx\n", (unsigned long long)options->seed,
                 (unsigned long long)report->step_count, (unsigned long long)report->trace_hash);
    (void)printf("  told: %llu acknowledged, %llu refused, %llu unknown\n",
                 (unsigned long long)report->acknowledged, (unsigned long long)report->refused,
                 (unsigned long long)report->unknown);
    (void)printf("  server: %llu claims granted, %llu commits applied\n",
                 (unsigned long long)report->granted, (unsigned long long)report->applied);
    (void)printf("  faults: %llu crashes, %llu pauses, %llu clock shifts, %llu calls failed, "
                 "%llu answers lost\n",
                 (unsigned long long)report->crashes, (unsigned long long)report->pauses,
                 (unsigned long long)report->shifts, (unsigned long long)report->failed,
                 (unsigned long long)report->lost);
}

static uint64_t number(const char *text)
{
    return strtoull(text, NULL, 10);
}

static uint64_t read_options(int argc, char **argv, struct pawl_sim_options *options)
{
    static const struct option names[] = {
        {"seed", required_argument, NULL, 's'},
        {"seeds", required_argument, NULL, 'c'},
        {"from", required_argument, NULL, 's'},
        {"bug", required_argument, NULL, 'b'},
        {"nodes", required_argument, NULL, 'n'},
        {"workers", required_argument, NULL, 'w'},
        {"instances", required_argument, NULL, 'i'},
        {"seconds", required_argument, NULL, 't'},
        {"calm", no_argument, NULL, 'q'},
        {"verbose", no_argument, NULL, 'v'},
        {NULL, 0, NULL, 0},
    };
    uint64_t count = 1;
    int option;

    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (option) {
        case 's':
            options->seed = number(optarg);
            break;
        case 'c':
            count = number(optarg);
            break;
        case 'b':
            options->bug = bug_by_name(optarg);
            break;
        case 'n':
            options->nodes = (uint32_t)number(optarg);
            break;
        case 'w':
            options->workers = (uint32_t)number(optarg);
            break;
        case 'i':
            options->instances = (uint32_t)number(optarg);
            break;
        case 't':
            options->seconds = (uint32_t)number(optarg);
            break;
        case 'q':
            options->calm = true;
            break;
        case 'v':
            options->say = print_line;
            options->say_ctx = stdout;
            break;
        default:
            exit(2);
        }
    }
    return count;
}

int main(int argc, char **argv)
{
    const struct pawl_allocator alloc = {resize, NULL};
    struct pawl_sim_options options = {0};
    struct pawl_sim_report report;
    struct pawl_error err = PAWL_ERROR_INIT;
    uint64_t count = read_options(argc, argv, &options);
    int status = PAWL_OK;

    for (uint64_t i = 0; i < count && status == PAWL_OK; i++) {
        status = pawl__sim_run(&alloc, &options, &report, &err);
        if (count == 1 || status != PAWL_OK)
            print_report(&options, &report);
        if (status != PAWL_OK)
            (void)printf("%s: %s\n", pawl_error_name(status), err.msg);
        options.seed++;
    }
    return status == PAWL_OK ? 0 : 1;
}
