/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsing and writing a workflow-like document, compared in one run with cJSON and Jansson: the
 * rounds of all three alternate, so that whatever else the machine does hits all of them, and the
 * best round of each counts. What is allocated is freed within the measured time. Fails when
 * parsing or writing is not at least REQUIRED_RATIO times as fast as cJSON. With arguments it
 * measures those files instead.
 */
#include "base/json/json.h"

#include <pawl/ext/env.h>

#include <cjson/cJSON.h>
#include <jansson.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define REQUIRED_RATIO 3.0
#define ROUNDS 60
#define ROUND_BYTES ((size_t)400 << 10) /* each round goes through about so much text */
#define BYTES_MAX ((size_t)64 << 20)

/* ---- an allocator that counts ----------------------------------------------------------- */

static void *resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    size_t *count = ctx;

    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    ++*count;
    return realloc(ptr, new_size);
}

/* ---- the document ----------------------------------------------------------------------- */

static void write_input(struct pawl_json_writer *writer, const char *name, const char *type,
                        const char *value)
{
    pawl__json_write_key_text(writer, name);
    pawl__json_write_begin_object(writer);
    pawl__json_write_key_text(writer, "typeName");
    pawl__json_write_string_text(writer, "String");
    pawl__json_write_key_text(writer, "expression");
    pawl__json_write_begin_object(writer);
    pawl__json_write_key_text(writer, "type");
    pawl__json_write_string_text(writer, type);
    pawl__json_write_key_text(writer, "value");
    pawl__json_write_string_text(writer, value);
    pawl__json_write_end_object(writer);
    pawl__json_write_key_text(writer, "memoryReference");
    pawl__json_write_begin_object(writer);
    pawl__json_write_key_text(writer, "id");
    pawl__json_write_string_text(writer, "6f2c1a8e9b34d705:input-1");
    pawl__json_write_end_object(writer);
    pawl__json_write_end_object(writer);
}

static void write_designer(struct pawl_json_writer *writer, int number)
{
    pawl__json_write_key_text(writer, "metadata");
    pawl__json_write_begin_object(writer);
    pawl__json_write_key_text(writer, "displayText");
    pawl__json_write_string_text(writer, number % 3 ? "Notify the customer"
                                                    : "Prüfung der Bestellung – März");
    pawl__json_write_key_text(writer, "designer");
    pawl__json_write_begin_object(writer);
    pawl__json_write_key_text(writer, "position");
    pawl__json_write_begin_object(writer);
    pawl__json_write_key_text(writer, "x");
    pawl__json_write_double(writer, -240.5 + number * 37.25);
    pawl__json_write_key_text(writer, "y");
    pawl__json_write_double(writer, 80 + number * 12.125);
    pawl__json_write_end_object(writer);
    pawl__json_write_key_text(writer, "size");
    pawl__json_write_begin_object(writer);
    pawl__json_write_key_text(writer, "width");
    pawl__json_write_double(writer, 203.453125);
    pawl__json_write_key_text(writer, "height");
    pawl__json_write_int(writer, 50);
    pawl__json_write_end_object(writer);
    pawl__json_write_end_object(writer);
    pawl__json_write_end_object(writer);
}

static void write_activity(struct pawl_json_writer *writer, int number)
{
    char id[32];

    (void)snprintf(id, sizeof id, "%016llx", 0x9E3779B97F4A7C15ULL * (unsigned)(number + 1));
    pawl__json_write_begin_object(writer);
    pawl__json_write_key_text(writer, "id");
    pawl__json_write_string_text(writer, id);
    pawl__json_write_key_text(writer, "nodeId");
    pawl__json_write_string_text(writer, "Workflow1:Flowchart1:a81d3f2290bb61c4");
    pawl__json_write_key_text(writer, "name");
    pawl__json_write_string_text(writer, "WriteLine1");
    pawl__json_write_key_text(writer, "type");
    pawl__json_write_string_text(writer, "Elsa.WriteLine");
    pawl__json_write_key_text(writer, "version");
    pawl__json_write_int(writer, 1 + number % 4);
    write_input(writer, "text", "JavaScript",
                "const order = getVariable('Order');\n"
                "return `Order \"${order.id}\" for ${order.customer} is ${order.total} €`;");
    write_input(writer, "target", "Literal", "https://example.org/api/orders?state=open&page=2");
    pawl__json_write_key_text(writer, "customProperties");
    pawl__json_write_begin_object(writer);
    pawl__json_write_key_text(writer, "canStartWorkflow");
    pawl__json_write_bool(writer, number == 0);
    pawl__json_write_key_text(writer, "runAsynchronously");
    pawl__json_write_bool(writer, false);
    pawl__json_write_key_text(writer, "retryAfterSeconds");
    pawl__json_write_int(writer, 86400 * (number + 1));
    pawl__json_write_key_text(writer, "mergeMode");
    pawl__json_write_null(writer);
    pawl__json_write_end_object(writer);
    write_designer(writer, number);
    pawl__json_write_end_object(writer);
}

/* About `size` bytes of it. */
static void make_document(struct pawl_buf *out, size_t size)
{
    struct pawl_json_writer writer;

    pawl__json_writer_init(&writer, out, PAWL_JSON_ESCAPE_MINIMAL, 0);
    pawl__json_write_begin_object(&writer);
    pawl__json_write_key_text(&writer, "definitionId");
    pawl__json_write_string_text(&writer, "order-fulfilment");
    pawl__json_write_key_text(&writer, "createdAt");
    pawl__json_write_string_text(&writer, "2026-03-14T09:26:53.5897932+00:00");
    pawl__json_write_key_text(&writer, "isPublished");
    pawl__json_write_bool(&writer, true);
    pawl__json_write_key_text(&writer, "root");
    pawl__json_write_begin_object(&writer);
    pawl__json_write_key_text(&writer, "type");
    pawl__json_write_string_text(&writer, "Elsa.Flowchart");
    pawl__json_write_key_text(&writer, "activities");
    pawl__json_write_begin_array(&writer);
    for (int i = 0; out->len < size; i++)
        write_activity(&writer, i);
    pawl__json_write_end_array(&writer);
    pawl__json_write_end_object(&writer);
    pawl__json_write_end_object(&writer);
}

/* ---- the contestants -------------------------------------------------------------------- */

struct bench {
    struct pawl_allocator alloc;
    size_t allocation_count;
    struct pawl_buf text;
    struct pawl_arena arena; /* of `value` */
    struct pawl_json value;
    cJSON *cjson;
    json_t *jansson;
};

static void demand(int holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "bench/json: %s failed\n", what);
    exit(2);
}

static void pawl_parse(struct bench *bench)
{
    struct pawl_arena arena;
    struct pawl_json value;

    pawl__arena_init(&arena, &bench->alloc, BYTES_MAX);
    demand(pawl__json_parse(&arena, pawl__buf_peek(&bench->text), NULL, &value, NULL, NULL) ==
               PAWL_OK,
           "pawl parse");
    pawl__arena_release(&arena);
}

static void pawl_write_as(struct bench *bench, enum pawl_json_escape escape)
{
    struct pawl_buf out;

    pawl__buf_init(&out, &bench->alloc, BYTES_MAX);
    pawl__json_write(&out, &bench->value, escape);
    demand(out.status == PAWL_OK && out.len > 0, "pawl write");
    pawl__buf_release(&out);
}

static void pawl_write(struct bench *bench)
{
    pawl_write_as(bench, PAWL_JSON_ESCAPE_MINIMAL);
}

static void pawl_write_html(struct bench *bench)
{
    pawl_write_as(bench, PAWL_JSON_ESCAPE_HTML);
}

static void pawl_read(struct bench *bench)
{
    struct pawl_arena arena;
    struct pawl_json_reader reader;
    enum pawl_json_event event;
    struct pawl_json value;

    pawl__arena_init(&arena, &bench->alloc, BYTES_MAX);
    pawl__json_reader_init(&reader, &arena, pawl__buf_peek(&bench->text), NULL);
    do {
        demand(pawl__json_reader_next(&reader, &event, &value, NULL) == PAWL_OK, "pawl read");
    } while (event != PAWL_JSON_EVENT_END);
    pawl__arena_release(&arena);
}

static void cjson_parse(struct bench *bench)
{
    cJSON *value = cJSON_ParseWithLength(bench->text.ptr, bench->text.len);

    demand(value != NULL, "cJSON parse");
    cJSON_Delete(value);
}

static void cjson_write(struct bench *bench)
{
    char *text = cJSON_PrintUnformatted(bench->cjson);

    demand(text != NULL, "cJSON write");
    cJSON_free(text);
}

static void jansson_parse(struct bench *bench)
{
    json_t *value = json_loadb(bench->text.ptr, bench->text.len, 0, NULL);

    demand(value != NULL, "Jansson parse");
    json_decref(value);
}

static void jansson_write(struct bench *bench)
{
    char *text = json_dumps(bench->jansson, JSON_COMPACT);

    demand(text != NULL, "Jansson write");
    free(text);
}

enum { PARSE, PARSE_CJSON, PARSE_JANSSON, READ, WRITE, WRITE_HTML, WRITE_CJSON, WRITE_JANSSON };

static const struct contestant {
    const char *name;
    void (*run)(struct bench *bench);
    int rival; /* whom to compare with */
} contestants[] = {
    [PARSE] = {"parse: pawl", pawl_parse, PARSE_CJSON},
    [PARSE_CJSON] = {"parse: cJSON", cjson_parse, PARSE_CJSON},
    [PARSE_JANSSON] = {"parse: Jansson", jansson_parse, PARSE_CJSON},
    [READ] = {"parse: pawl, pull reader", pawl_read, PARSE_CJSON},
    [WRITE] = {"write: pawl", pawl_write, WRITE_CJSON},
    [WRITE_HTML] = {"write: pawl, HTML escapes", pawl_write_html, WRITE_CJSON},
    [WRITE_CJSON] = {"write: cJSON", cjson_write, WRITE_CJSON},
    [WRITE_JANSSON] = {"write: Jansson", jansson_write, WRITE_CJSON},
};

#define CONTESTANTS (sizeof contestants / sizeof contestants[0])

/* ---- measuring -------------------------------------------------------------------------- */

static double now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double time_us(struct bench *bench, const struct contestant *contestant, size_t repeat)
{
    double start = now_us();

    for (size_t i = 0; i < repeat; i++)
        contestant->run(bench);
    return (now_us() - start) / (double)repeat;
}

static size_t count_allocations(struct bench *bench, const struct contestant *contestant)
{
    bench->allocation_count = 0;
    contestant->run(bench);
    return bench->allocation_count;
}

static int run(struct bench *bench)
{
    size_t repeat = ROUND_BYTES / bench->text.len + 1;
    double best[CONTESTANTS];
    int slow = 0;

    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < CONTESTANTS; i++) {
            double us = time_us(bench, &contestants[i], repeat);

            if (round == 0 || us < best[i])
                best[i] = us;
        }
    }
    (void)printf("%zu bytes, best of %d rounds of %zu\n", bench->text.len, ROUNDS, repeat);
    (void)printf("  %-28s %10s %10s %12s\n", "", "us", "MB/s", "x cJSON");
    for (size_t i = 0; i < CONTESTANTS; i++) {
        double ratio = best[contestants[i].rival] / best[i];

        (void)printf("  %-28s %10.2f %10.0f %12.2f\n", contestants[i].name, best[i],
                     (double)bench->text.len / best[i], ratio);
        if ((i == PARSE || i == WRITE) && ratio < REQUIRED_RATIO)
            slow = 1;
    }
    (void)printf("  allocations: %zu to parse, %zu to write\n\n",
                 count_allocations(bench, &contestants[PARSE]),
                 count_allocations(bench, &contestants[WRITE]));
    return slow;
}

static void read_file(struct pawl_buf *out, const char *path)
{
    FILE *file = fopen(path, "rb");
    char piece[4096];
    size_t count;

    demand(file != NULL, path);
    while ((count = fread(piece, 1, sizeof piece, file)) > 0)
        pawl__buf_append(out, piece, count);
    (void)fclose(file);
}

/* A made-up document of about that size or, when there is a path, that file. */
static int bench_document(size_t size, const char *path)
{
    struct bench bench = {.alloc = {.resize = resize}};
    int slow;

    bench.alloc.ctx = &bench.allocation_count;
    pawl__buf_init(&bench.text, &bench.alloc, BYTES_MAX);
    if (path)
        read_file(&bench.text, path);
    else
        make_document(&bench.text, size);
    demand(bench.text.status == PAWL_OK && bench.text.len > 0, "making the document");
    pawl__arena_init(&bench.arena, &bench.alloc, BYTES_MAX);
    demand(pawl__json_parse(&bench.arena, pawl__buf_peek(&bench.text), NULL, &bench.value, NULL,
                            NULL) == PAWL_OK,
           "parsing the document");
    bench.cjson = cJSON_ParseWithLength(bench.text.ptr, bench.text.len);
    bench.jansson = json_loadb(bench.text.ptr, bench.text.len, 0, NULL);
    demand(bench.cjson && bench.jansson, "parsing the document elsewhere");
    slow = run(&bench);
    json_decref(bench.jansson);
    cJSON_Delete(bench.cjson);
    pawl__arena_release(&bench.arena);
    pawl__buf_release(&bench.text);
    return slow;
}

int main(int argc, char **argv)
{
    int slow = 0;

    if (argc == 1) {
        slow |= bench_document(10000, NULL);
        slow |= bench_document(200000, NULL);
    }
    for (int i = 1; i < argc; i++)
        slow |= bench_document(0, argv[i]);
    if (slow)
        (void)fprintf(stderr, "slower than %.1f times cJSON\n", REQUIRED_RATIO);
    return slow;
}
