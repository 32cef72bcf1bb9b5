/* SPDX-License-Identifier: Apache-2.0 */
/* See results.h. */
#include "results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    (void)fprintf(file, "  }");
}

/* ---- the file ------------------------------------------------------------------------------ */

#define MEMBER ",\n  \"distributed\": "
#define FILE_BYTES_MAX 65536

/* What the file has, "" when there is none. */
static void read_file(const char *path, char text[FILE_BYTES_MAX])
{
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, FILE_BYTES_MAX - 1, file) : 0;

    text[length] = '\0';
    if (file)
        (void)fclose(file);
}

static FILE *begin_file(const char *path, char *temporary, size_t size)
{
    FILE *file;

    if (snprintf(temporary, size, "%s.new", path) >= (int)size)
        bench_fail(path, "too long");
    file = fopen(temporary, "w");
    if (!file)
        bench_fail(temporary, "cannot be written");
    return file;
}

static void end_file(FILE *file, const char *temporary, const char *path)
{
    if (fclose(file) != 0 || rename(temporary, path) != 0)
        bench_fail(path, "cannot be written");
}

/* It comes last, and another program writes it. */
void results_write(const struct results *results, const char *path)
{
    static char before[FILE_BYTES_MAX];
    char temporary[400];
    const char *member;
    FILE *file;

    read_file(path, before);
    member = strstr(before, MEMBER);
    file = begin_file(path, temporary, sizeof temporary);
    (void)fprintf(file, "{\n");
    for (int workload = 0; workload < RESULTS_WORKLOADS; workload++)
        write_workload(file, results, workload);
    write_footprint(file, results);
    (void)fprintf(file, "%s", member ? member : "\n}\n");
    end_file(file, temporary, path);
}

void results_write_distributed(const char *json, const char *path)
{
    static char before[FILE_BYTES_MAX];
    char temporary[400], *end;
    FILE *file;

    read_file(path, before);
    end = strstr(before, MEMBER);
    if (!end)
        end = strstr(before, "\n}\n");
    if (!end)
        bench_fail(path, "is not what bench-store writes: run that first");
    *end = '\0';
    file = begin_file(path, temporary, sizeof temporary);
    (void)fprintf(file, "%s" MEMBER "%s\n}\n", before, json);
    end_file(file, temporary, path);
}
