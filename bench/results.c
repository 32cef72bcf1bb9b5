/* SPDX-License-Identifier: Apache-2.0 */
/* See results.h. */
#include "results.h"

#include <stdio.h>
#include <stdlib.h>

static const unsigned levels[RESULTS_LEVELS] = {1, 16, 64};
static const char *const stores[2] = {"sqlite", "postgres"};
static const char *const workloads[RESULTS_WORKLOADS] = {"w1", "w1s", "w2", "w3"};

int results_level(unsigned threads)
{
    for (int i = 0; i < RESULTS_LEVELS; i++)
        if (levels[i] == threads)
            return i;
    return -1;
}

static void write_number(FILE *file, const char *name, double value, const char *end)
{
    if (value > 0)
        (void)fprintf(file, "\"%s\": %.*f%s", name, value < 100 ? 2 : 0, value, end);
    else
        (void)fprintf(file, "\"%s\": null%s", name, end);
}

static void write_result(FILE *file, const struct result *r)
{
    (void)fprintf(file, "{");
    write_number(file, "per_s", r->per_s, ", ");
    write_number(file, "floor_per_s", r->floor_per_s, ", ");
    write_number(file, "p50_us", r->p50_us, ", ");
    write_number(file, "p99_us", r->p99_us, "}");
}

static void write_workload(FILE *file, const struct results *results, int workload)
{
    (void)fprintf(file, "  \"%s\": {\n", workloads[workload]);
    for (int store = 0; store < 2; store++) {
        (void)fprintf(file, "    \"%s\": {\n", stores[store]);
        for (int level = 0; level < RESULTS_LEVELS; level++) {
            (void)fprintf(file, "      \"c%u\": ", levels[level]);
            write_result(file, &results->of[workload][store][level]);
            (void)fprintf(file, "%s\n", level + 1 < RESULTS_LEVELS ? "," : "");
        }
        (void)fprintf(file, "    }%s\n", store == 0 ? "," : "");
    }
    (void)fprintf(file, "  },\n");
}

static void write_footprint(FILE *file, const struct results *results)
{
    (void)fprintf(file, "  \"w4\": {\n");
    for (int store = 0; store < 2; store++) {
        const struct footprint *f = &results->footprint[store];

        (void)fprintf(file, "    \"%s\": {", stores[store]);
        write_number(file, "idle_rss_kb", f->idle_rss_kb, ", ");
        write_number(file, "suspended_rss_kb", f->suspended_rss_kb, ", ");
        write_number(file, "ready_ms", f->ready_ms, store == 0 ? "},\n" : "}\n");
    }
    (void)fprintf(file, "  }\n");
}

void results_write(const struct results *results, const char *path)
{
    char temporary[400];
    FILE *file;

    if (snprintf(temporary, sizeof temporary, "%s.new", path) >= (int)sizeof temporary)
        bench_fail(path, "too long");
    file = fopen(temporary, "w");
    if (!file)
        bench_fail(temporary, "cannot be written");
    (void)fprintf(file, "{\n");
    for (int workload = 0; workload < RESULTS_WORKLOADS; workload++)
        write_workload(file, results, workload);
    write_footprint(file, results);
    (void)fprintf(file, "}\n");
    if (fclose(file) != 0 || rename(temporary, path) != 0)
        bench_fail(path, "cannot be written");
}
