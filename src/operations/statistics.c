/* SPDX-License-Identifier: Apache-2.0 */
/* Counting; see statistics.h. */
#include "operations/statistics.h"

#include "base/error.h"
#include "base/hash/sha256.h"
#include "base/hex.h"
#include "host/host.h"
#include "operations/query.h"
#include "runtime/node/pause.h"

#include <string.h>

const char *pawl__counted_name(enum pawl_counted counted)
{
    static const char *const names[] = {
        [PAWL_COUNTED_PENDING] = "Pending",     [PAWL_COUNTED_EXECUTING] = "Executing",
        [PAWL_COUNTED_SUSPENDED] = "Suspended", [PAWL_COUNTED_FINISHED] = "Finished",
        [PAWL_COUNTED_CANCELLED] = "Cancelled", [PAWL_COUNTED_FAULTED] = "Faulted",
    };

    return names[counted];
}

/* ---- instances ------------------------------------------------------------------------------ */

static void where_time(struct op_query *query, const struct pawl_count_query *when)
{
    if (when && when->from_us != 0)
        op_where_int(query, "created_us", PAWL_GE, when->from_us);
    if (when && when->to_us != 0)
        op_where_int(query, "created_us", PAWL_LT, when->to_us);
}

/* definition_id "": of all. */
static int count_statuses(const struct pawl_op *op, struct pawl_str definition_id,
                          const struct pawl_count_query *when, uint64_t out[PAWL_COUNTED_COUNT])
{
    int status = PAWL_OK;

    for (unsigned i = 0; i < PAWL_COUNTED_COUNT && status == PAWL_OK; i++) {
        struct op_query query;

        op_query_init(&query, PAWL_TABLE_INSTANCES, NULL, false);
        op_where_given(&query, "definition_id", definition_id);
        op_where_text(&query, "sub_status", PAWL_EQ,
                      pawl__str(pawl__counted_name((enum pawl_counted)i)));
        where_time(&query, when);
        status = op_count(op, &query, &out[i]);
    }
    return status;
}

/* By their times: an index tells, however many there are. */
static int count_rate(const struct pawl_op *op, const char *column, int64_t since_us,
                      int64_t now_us, double *out)
{
    struct op_query query;
    uint64_t count = 0;
    int status;

    *out = -1;
    if (since_us == 0 || now_us <= since_us)
        return PAWL_OK;
    op_query_init(&query, PAWL_TABLE_INSTANCES, NULL, false);
    op_where_int(&query, column, PAWL_GT, since_us);
    status = op_count(op, &query, &count);
    if (status == PAWL_OK)
        *out = (double)count / ((double)(now_us - since_us) / 1e6);
    return status;
}

/* ---- work ----------------------------------------------------------------------------------- */

static int find_oldest(const struct pawl_op *op, int64_t now_us, struct pawl_work_counts *out)
{
    const struct pawl_work_row *oldest;
    struct op_query query;
    struct pawl_rows rows;
    int status;

    op_query_init(&query, PAWL_TABLE_WORK, "due_us", false);
    op_where_int(&query, "due_us", PAWL_LT, PAWL_TIME_NEVER);
    status = op_find_all(op, &query, 1, &rows);
    if (status != PAWL_OK || rows.count == 0)
        return status;
    oldest = rows.rows;
    /* Cancellations are due since ever: then what counts is when they were asked for. */
    if (oldest->due_us <= now_us)
        out->oldest_due_us =
            oldest->due_us > oldest->created_us ? oldest->due_us : oldest->created_us;
    else
        out->next_due_us = oldest->due_us;
    return PAWL_OK;
}

/* Work that is due from..to, both included. */
static int count_due(const struct pawl_op *op, int64_t from_us, int64_t to_us, uint64_t *out)
{
    struct op_query query;

    op_query_init(&query, PAWL_TABLE_WORK, NULL, false);
    op_where_int(&query, "due_us", PAWL_GE, from_us);
    op_where_int(&query, "due_us", PAWL_LE, to_us);
    return op_count(op, &query, out);
}

static int count_work(const struct pawl_op *op, int64_t now_us, struct pawl_work_counts *out)
{
    struct op_query query;
    int status = count_due(op, INT64_MIN, now_us, &out->due);

    if (status == PAWL_OK)
        status = find_oldest(op, now_us, out);
    if (status == PAWL_OK)
        status = count_due(op, now_us + 1, PAWL_TIME_NEVER - 1, &out->later);
    if (status == PAWL_OK)
        status = count_due(op, PAWL_TIME_NEVER, PAWL_TIME_NEVER, &out->parked);
    op_query_init(&query, PAWL_TABLE_DEAD_LETTERS, NULL, false);
    op_where_int(&query, "replayed_us", PAWL_EQ, 0);
    if (status == PAWL_OK)
        status = op_count(op, &query, &out->dead_letters);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Nodes that are gone are neither read nor counted. */
static int find_nodes(const struct pawl_op *op, struct pawl_overview *to)
{
    const struct pawl_node_query query = {.without_gone = true,
                                          .page = {.limit = PAWL_PAGE_ROWS_MAX}};
    int status = pawl__op_nodes_list(op, &query, &to->nodes);

    if (status == PAWL_OK)
        to->pause = pawl__pause_of(to->nodes.pauses, to->nodes.pause_count, pawl__str(""));
    return status;
}

/* What is counted of a store, without what is of one moment. */
struct counted {
    uint64_t instances[PAWL_COUNTED_COUNT];
    uint64_t set_aside;
    struct pawl_work_counts work;
    int64_t at_us;
};

/* How long the old counts are good enough for others while one counts anew. */
#define COUNTING_NS INT64_C(60000000000)

static int count_store(const struct pawl_op *op, const void *what, void *to)
{
    const int64_t now_us = *(const int64_t *)what;
    struct counted *out = to;
    struct op_query query;
    int status = count_statuses(op, pawl__str(""), NULL, out->instances);

    op_query_init(&query, PAWL_TABLE_INSTANCES, NULL, false);
    op_where_int(&query, "retry_us", PAWL_EQ, PAWL_TIME_NEVER);
    if (status == PAWL_OK)
        status = op_count(op, &query, &out->set_aside);
    if (status == PAWL_OK)
        status = count_work(op, now_us, &out->work);
    out->at_us = now_us;
    return status;
}

/*
 * The counts under this key: those that the host keeps, or else counted now and kept if that was
 * slow. `count` fills what it is given.
 */
typedef int count_fn(const struct pawl_op *op, const void *what, void *out);

static int find_counts(const struct pawl_op *op, struct pawl_str key, count_fn *count,
                       const void *what, void *out, size_t size)
{
    struct pawl_memo *memo = pawl__host_counts(op->host);
    int64_t begun_ns = pawl_env_monotonic_ns(op_env(op)), took_ns;
    int status;

    if (pawl__memo_get(memo, key, out, size, COUNTING_NS))
        return PAWL_OK;
    memset(out, 0, size);
    status = count(op, what, out);
    took_ns = pawl_env_monotonic_ns(op_env(op)) - begun_ns;
    pawl__memo_put(memo, key, out, size,
                   status == PAWL_OK && took_ns >= PAWL_COUNTS_SLOW_NS ? took_ns * PAWL_COUNTS_SHARE
                                                                       : 0);
    return status;
}

int pawl__op_overview(const struct pawl_op *op, int64_t since_us, struct pawl_overview *out)
{
    struct pawl_overview seen = {.pause = NULL};
    struct counted counted;
    int status = op_now(op, &seen.now_us);

    if (status == PAWL_OK)
        status = find_counts(op, pawl__str("overview"), count_store, &seen.now_us, &counted,
                             sizeof counted);
    if (status != PAWL_OK)
        return status;
    memcpy(seen.instances, counted.instances, sizeof seen.instances);
    seen.set_aside = counted.set_aside;
    seen.work = counted.work;
    seen.counted_us = counted.at_us;
    status = count_rate(op, "created_us", since_us, seen.now_us, &seen.started_per_second);
    if (status == PAWL_OK)
        status = count_rate(op, "updated_us", since_us, seen.now_us, &seen.changed_per_second);
    if (status == PAWL_OK)
        status = find_nodes(op, &seen);
    if (status == PAWL_OK)
        *out = seen;
    return status;
}

/* ---- by definition -------------------------------------------------------------------------- */

/* A page of definitions, and of when their instances are counted. */
struct counted_page {
    const struct pawl_definition_row *rows;
    size_t count;
    const struct pawl_count_query *query;
    int64_t now_us;
};

struct counted_definitions {
    int64_t at_us;
    uint64_t instances[PAWL_COUNT_PAGE_MAX][PAWL_COUNTED_COUNT];
};
_Static_assert(sizeof(struct counted_definitions) <= PAWL_MEMO_BYTES_MAX, "a page is remembered");

static int count_page(const struct pawl_op *op, const void *what, void *to)
{
    const struct counted_page *page = what;
    struct counted_definitions *out = to;
    int status = PAWL_OK;

    out->at_us = page->now_us;
    for (size_t i = 0; i < page->count && status == PAWL_OK; i++)
        status = count_statuses(op, page->rows[i].definition_id, page->query, out->instances[i]);
    return status;
}

/* Names the counts: which definitions, in which order, and of which time. */
static void name_page(const struct counted_page *page, char key[PAWL_SHA256_TEXT_SIZE])
{
    unsigned char digest[PAWL_SHA256_BYTES];
    struct pawl_sha256 sha;

    pawl__sha256_init(&sha);
    pawl__sha256_update(&sha, &page->query->from_us, sizeof page->query->from_us);
    pawl__sha256_update(&sha, &page->query->to_us, sizeof page->query->to_us);
    for (size_t i = 0; i < page->count; i++) {
        struct pawl_str id = page->rows[i].definition_id;

        pawl__sha256_update(&sha, &id.len, sizeof id.len);
        pawl__sha256_update(&sha, id.ptr, id.len);
    }
    pawl__sha256_final(&sha, digest);
    pawl__hex_encode(digest, sizeof digest, PAWL_HEX_LOWER, key);
    key[PAWL_SHA256_TEXT_SIZE - 1] = '\0';
}

static int find_definitions(const struct pawl_op *op, const struct pawl_page_request *page,
                            struct pawl_rows *rows, struct pawl_page *out)
{
    struct op_query asked;

    if (page->limit > PAWL_COUNT_PAGE_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "a page has at most %u definitions, not %u",
                               PAWL_COUNT_PAGE_MAX, page->limit);
    op_query_init(&asked, PAWL_TABLE_DEFINITIONS, "name", false);
    op_where_int(&asked, "is_published", PAWL_EQ, 1);
    return op_find_page(op, &asked, page, rows, out);
}

int pawl__op_count_by_definition(const struct pawl_op *op, const struct pawl_count_query *query,
                                 struct pawl_definition_counts_list *out)
{
    struct pawl_definition_counts_list found = {.rows = NULL};
    struct counted_page page = {.query = query};
    struct counted_definitions *counted;
    struct pawl_definition_counts *rows;
    struct pawl_rows definitions = {0};
    char key[PAWL_SHA256_TEXT_SIZE];
    int status = find_definitions(op, &query->page, &definitions, &found.page);

    if (status == PAWL_OK)
        status = op_now(op, &page.now_us);
    if (status != PAWL_OK)
        return status;
    page.rows = definitions.rows;
    page.count = definitions.count;
    counted = pawl__arena_alloc(op->arena, sizeof *counted);
    rows = pawl__arena_alloc_array(op->arena, page.count + 1, sizeof *rows);
    if (!counted || !rows)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    name_page(&page, key);
    status = find_counts(op, pawl__str(key), count_page, &page, counted, sizeof *counted);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < page.count; i++) {
        rows[i] =
            (struct pawl_definition_counts){page.rows[i].definition_id, page.rows[i].name, {0}};
        memcpy(rows[i].instances, counted->instances[i], sizeof rows[i].instances);
    }
    found.rows = rows;
    found.count = page.count;
    found.counted_us = counted->at_us;
    *out = found;
    return PAWL_OK;
}
