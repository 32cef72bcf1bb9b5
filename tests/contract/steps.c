/* SPDX-License-Identifier: Apache-2.0 */
/* The words of suite.h: rows to begin with, and the usual calls with their checks. */
#include "contract/suite.h"

#include <stdio.h>
#include <stdlib.h>

int64_t soon_ns(struct contract *t)
{
    return pawl_env_monotonic_ns(t->env) + 60 * INT64_C(1000000000);
}

int64_t now_us(struct contract *t)
{
    struct pawl_store_status status;

    assert_ok(pawl_store_status(t->a, &status, soon_ns(t), &t->err), &t->err);
    return status.now_us;
}

struct pawl_str text(struct contract *t, const char *format, ...)
{
    char buffer[256];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    assert_in_range(len, 0, sizeof buffer - 1);
    return pawl__arena_str(&t->arena, pawl__str_make(buffer, (size_t)len));
}

/* ---- rows -------------------------------------------------------------------------------- */

struct pawl_instance_row some_instance(struct contract *t, struct pawl_str id)
{
    return (struct pawl_instance_row){
        .id = id,
        .definition_id = pawl__str("order"),
        .version_id = pawl__str("order-v3"),
        .version = 3,
        .parent_id = pawl__str("parent"),
        .status = pawl__str("Running"),
        .sub_status = pawl__str("Suspended"),
        .correlation_id = text(t, "correlation-%.*s", PAWL_STR_ARG(id)),
        .name = text(t, "name-%.*s", PAWL_STR_ARG(id)),
        .incident_count = 2,
        .is_system = 1,
        .created_us = 1000,
        .updated_us = 2000,
        .finished_us = 3000,
        .state = text(t, "{\"id\":\"%.*s\"}", PAWL_STR_ARG(id)),
        .counts = pawl__str("{\"a\":1}"),
    };
}

struct pawl_bookmark_row some_bookmark(struct contract *t, struct pawl_str id,
                                       struct pawl_str instance_id, const char *hash)
{
    return (struct pawl_bookmark_row){
        .id = id,
        .instance_id = instance_id,
        .name = pawl__str("Elsa.Event"),
        .hash = text(t, "%s", hash),
        .activity_id = pawl__str("activity"),
        .activity_instance_id = pawl__str("execution"),
        .correlation_id = pawl__str("correlation"),
        .created_us = 4000,
        .payload = pawl__str("{\"eventName\":\"e\"}"),
        .metadata = pawl__str("{}"),
    };
}

struct pawl_work_row some_work(struct contract *t, struct pawl_str id, int64_t due_us)
{
    return (struct pawl_work_row){
        .id = id,
        .kind = pawl__str("start"),
        .name = text(t, "work-%.*s", PAWL_STR_ARG(id)),
        .part = 7,
        .created_us = 5000,
        .due_us = due_us,
        .expires_us = PAWL_TIME_NEVER,
        .attempts = 1,
        .attempted_us = 6000,
        .error = pawl__str("not yet"),
        .payload = pawl__str("{\"x\":1}"),
        .definition_id = pawl__str("order"),
    };
}

struct pawl_definition_row some_definition(struct contract *t, const char *id,
                                           const char *definition_id, int64_t version)
{
    return (struct pawl_definition_row){
        .id = text(t, "%s", id),
        .definition_id = text(t, "%s", definition_id),
        .version = version,
        .name = pawl__str("Order"),
        .description = pawl__str("What is ordered"),
        .provider = pawl__str("Json"),
        .is_latest = 1,
        .is_published = 1,
        .revision = 4,
        .created_us = 7000,
        .data = pawl__str("{\"root\":{}}"),
    };
}

struct pawl_trigger_row some_trigger(struct contract *t, const char *id, const char *hash)
{
    return (struct pawl_trigger_row){
        .id = text(t, "%s", id),
        .definition_id = pawl__str("order"),
        .version_id = pawl__str("order-v3"),
        .name = pawl__str("Elsa.Event"),
        .activity_id = pawl__str("activity"),
        .hash = text(t, "%s", hash),
        .payload = pawl__str("{}"),
    };
}

struct pawl_dead_letter_row some_dead_letter(struct contract *t, const char *id,
                                             const char *work_id)
{
    return (struct pawl_dead_letter_row){
        .id = text(t, "%s", id),
        .work_id = text(t, "%s", work_id),
        .kind = pawl__str("stimulus"),
        .instance_id = pawl__str("instance"),
        .hash = pawl__str("hash"),
        .reason = pawl__str("Expired"),
        .created_us = 8000,
        .dead_us = 9000,
        .attempts = 3,
        .can_replay = 1,
        .error = pawl__str("nobody waited for it"),
        .payload = pawl__str("{}"),
    };
}

struct pawl_journal_row some_journal(struct contract *t, struct pawl_str instance_id,
                                     int64_t first_sequence)
{
    return (struct pawl_journal_row){
        .instance_id = instance_id,
        .first_sequence = first_sequence,
        .count = 10,
        .from_us = first_sequence * 100,
        .to_us = first_sequence * 100 + 99,
        .data = text(t, "records from %d", (int)first_sequence),
    };
}

void *any_row(struct contract *t, enum pawl_table table, int number, struct pawl_str instance_id)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    char *row = pawl__arena_alloc_zeroed(&t->arena, info->row_size);

    assert_non_null(row);
    for (uint32_t i = 0; i < info->column_count; i++) {
        const struct pawl_column *column = &info->columns[i];
        int64_t integer = INT64_C(1000000) * (i + 1) + number;
        struct pawl_str value = text(t, "%s %d of %s", column->name, number, info->name);

        if (strcmp(column->name, "instance_id") == 0)
            value = instance_id;
        if (strcmp(column->name, "expires_us") == 0)
            integer = PAWL_TIME_NEVER - number;
        if (column->type == PAWL_COLUMN_BYTES)
            value = text(t, "%c%c bytes %d", 0, 0xFF, number);
        if (column->type == PAWL_COLUMN_INT)
            memcpy(row + column->offset, &integer, sizeof integer);
        else
            memcpy(row + column->offset, &value, sizeof value);
    }
    return row;
}

/* ---- commits ----------------------------------------------------------------------------- */

int apply_one(struct contract *t, struct pawl_store *store, struct pawl_commit *commit)
{
    assert_ok(pawl_store_apply(store, &commit, 1, soon_ns(t), &t->err), &t->err);
    return commit->status;
}

int change_one(struct contract *t, enum pawl_change_kind kind, enum pawl_table table,
               const void *row)
{
    const struct pawl_change change = {.kind = kind, .table = table, .row = row};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN, .changes = &change, .change_count = 1};

    return apply_one(t, t->a, &commit);
}

void insert(struct contract *t, enum pawl_table table, const void *row)
{
    assert_code(change_one(t, PAWL_CHANGE_INSERT, table, row), PAWL_OK);
}

struct pawl_str create_instance(struct contract *t, const char *id)
{
    struct pawl_str copy = text(t, "%s", id);
    struct pawl_instance_row row = some_instance(t, copy);
    struct pawl_commit commit = {
        .kind = PAWL_COMMIT_CREATE, .flags = PAWL_COMMIT_RELEASE, .instance = &row};

    assert_code(apply_one(t, t->a, &commit), PAWL_OK);
    return copy;
}

struct pawl_claim claim_one(struct contract *t, struct pawl_store *store, int64_t owner,
                            struct pawl_str id)
{
    struct pawl_claim claim = {.id = id};
    int64_t now;

    assert_ok(pawl_store_claim(store, owner, &claim, 1, &t->arena, &now, soon_ns(t), &t->err),
              &t->err);
    return claim;
}

struct pawl_instance_row claimed_instance(struct contract *t, const char *id)
{
    struct pawl_claim claim = claim_one(t, t->a, t->node_a, create_instance(t, id));

    assert_code(claim.status, PAWL_OK);
    return claim.row;
}

/* ---- nodes and work ---------------------------------------------------------------------- */

int64_t join(struct contract *t, struct pawl_store *store, const char *node_id, int64_t ttl_us)
{
    struct pawl_lease lease = {.kind = PAWL_LEASE_JOIN,
                               .node_id = text(t, "%s", node_id),
                               .ttl_us = ttl_us,
                               .info = pawl__str("{\"pid\":1}")};

    assert_ok(pawl_store_lease(store, &lease, soon_ns(t), &t->err), &t->err);
    assert_true(lease.incarnation > 0);
    return lease.incarnation;
}

void leave(struct contract *t, struct pawl_store *store, const char *node_id, int64_t incarnation)
{
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_LEAVE, .node_id = text(t, "%s", node_id), .incarnation = incarnation};

    assert_ok(pawl_store_lease(store, &lease, soon_ns(t), &t->err), &t->err);
}

struct pawl_taken take_some(struct contract *t, struct pawl_store *store, int64_t owner,
                            uint32_t limit)
{
    const struct pawl_take take = {.owner = owner, .limit = limit};
    struct pawl_taken taken;

    assert_ok(pawl_store_take(store, &take, &t->arena, &taken, soon_ns(t), &t->err), &t->err);
    return taken;
}

/* ---- looking ----------------------------------------------------------------------------- */

struct pawl_rows find_where(struct contract *t, enum pawl_table table, const char *name,
                            struct pawl_str value)
{
    struct pawl_condition condition = {.compare = PAWL_EQ, .value = {.text = value}};
    struct pawl_query query = {.table = table, .limit = PAWL_STORE_ROWS_MAX};
    struct pawl_rows rows;

    if (name[0] != '\0') {
        condition.column = pawl_table_column(table, name);
        query.conditions = &condition;
        query.condition_count = 1;
    }
    assert_ok(pawl_store_find(t->b, &query, &t->arena, &rows, soon_ns(t), &t->err), &t->err);
    return rows;
}

uint64_t count_all(struct contract *t, enum pawl_table table)
{
    const struct pawl_query query = {.table = table, .flags = PAWL_QUERY_COUNT};
    struct pawl_rows rows;

    assert_ok(pawl_store_find(t->b, &query, &t->arena, &rows, soon_ns(t), &t->err), &t->err);
    assert_int_equal(rows.count, 0);
    return rows.total;
}

const struct pawl_instance_row *instance_row(struct contract *t, struct pawl_str id)
{
    struct pawl_rows rows = find_where(t, PAWL_TABLE_INSTANCES, "id", id);

    assert_int_equal(rows.count, 1);
    return rows.rows;
}

/* ---- comparing --------------------------------------------------------------------------- */

void check_same_str(struct pawl_str a, struct pawl_str b, const char *file, int line)
{
    if (pawl__str_equal(a, b))
        return;
    print_error("\"%.*s\" (%zu bytes), expected \"%.*s\" (%zu bytes)\n",
                (int)(a.len < 200 ? a.len : 200), a.ptr, a.len, (int)(b.len < 200 ? b.len : 200),
                b.ptr, b.len);
    _fail(file, line);
}

static struct pawl_str text_of(const void *row, const struct pawl_column *column)
{
    return *(const struct pawl_str *)(const void *)((const char *)row + column->offset);
}

static int64_t int_of(const void *row, const struct pawl_column *column)
{
    return *(const int64_t *)(const void *)((const char *)row + column->offset);
}

void check_same_row(enum pawl_table table, const void *a, const void *b, const char *file, int line)
{
    const struct pawl_table_info *info = pawl_table_info(table);

    for (uint32_t i = 0; i < info->column_count; i++) {
        const struct pawl_column *column = &info->columns[i];
        bool same = column->type == PAWL_COLUMN_INT
                        ? int_of(a, column) == int_of(b, column)
                        : pawl__str_equal(text_of(a, column), text_of(b, column));

        if (same)
            continue;
        if (column->type == PAWL_COLUMN_INT)
            print_error("%s.%s: %lld, expected %lld\n", info->name, column->name,
                        (long long)int_of(a, column), (long long)int_of(b, column));
        else
            print_error("%s.%s: \"%.*s\", expected \"%.*s\"\n", info->name, column->name,
                        PAWL_STR_ARG(text_of(a, column)), PAWL_STR_ARG(text_of(b, column)));
        _fail(file, line);
    }
}

/* ---- dumps ------------------------------------------------------------------------------- */

struct dump {
    char **lines;
    size_t count;
    size_t room;
};

static uint64_t fnv(struct pawl_str s)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < s.len; i++)
        hash = (hash ^ (unsigned char)s.ptr[i]) * UINT64_C(1099511628211);
    return hash;
}

static void print_value(FILE *out, const void *row, const struct pawl_column *column)
{
    struct pawl_str value;

    fprintf(out, " %s=", column->name);
    if (column->type == PAWL_COLUMN_INT) {
        fprintf(out, "%lld", (long long)int_of(row, column));
        return;
    }
    value = text_of(row, column);
    if (!value.ptr)
        value = pawl__str("");
    fprintf(out, "%zu:", value.len);
    if (value.len > 100 || memchr(value.ptr, '\0', value.len))
        fprintf(out, "#%016llx", (unsigned long long)fnv(value));
    else
        fprintf(out, "%.*s", PAWL_STR_ARG(value));
}

static int add_line(void *ctx, enum pawl_table table, const void *row, struct pawl_error *err)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    struct dump *dump = ctx;
    char *line = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&line, &len);

    (void)err;
    assert_non_null(out);
    fputs(info->name, out);
    for (uint32_t i = 0; i < info->column_count; i++)
        print_value(out, row, &info->columns[i]);
    assert_int_equal(fclose(out), 0);
    if (dump->count == dump->room) {
        dump->room = dump->room ? dump->room * 2 : 64;
        dump->lines = realloc(dump->lines, dump->room * sizeof *dump->lines);
        assert_non_null(dump->lines);
    }
    dump->lines[dump->count++] = line;
    return PAWL_OK;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

const char *dump(struct contract *t, struct pawl_store *store)
{
    struct dump all = {0};
    size_t size = 1;
    char *joined, *to;

    assert_ok(pawl_store_snapshot(store, add_line, &all, soon_ns(t), &t->err), &t->err);
    if (all.count > 0)
        qsort(all.lines, all.count, sizeof *all.lines, compare_lines);
    for (size_t i = 0; i < all.count; i++)
        size += strlen(all.lines[i]) + 1;
    joined = to = pawl__arena_alloc(&t->arena, size);
    assert_non_null(joined);
    for (size_t i = 0; i < all.count; i++) {
        to += sprintf(to, "%s\n", all.lines[i]);
        free(all.lines[i]);
    }
    *to = '\0';
    free(all.lines);
    return joined;
}
