/* SPDX-License-Identifier: Apache-2.0 */
/* Records of what operators changed: making them, and looking for them; see audit.h, record.h. */
#include "operations/audit.h"

#include "base/error.h"
#include "base/hex.h"
#include "base/json/text.h"
#include "operations/query.h"
#include "operations/record.h"

#include <string.h>

/* ---- making --------------------------------------------------------------------------------- */

#define RESULT_OK "ok"

#define ID_TIME_BYTES 7

/*
 * Microseconds, then randomness: records of one node that a store's clock gives the same time are
 * listed in the order in which they were made.
 */
static int make_id(const struct pawl_op *op, struct op_record *record)
{
    unsigned char bytes[(PAWL_UUID_HEX_SIZE - 1) / 2];
    int status = pawl_env_entropy(op_env(op), bytes, sizeof bytes, op->err);
    uint64_t us = (uint64_t)pawl_env_wall_ns(op_env(op)) / 1000;

    for (int i = ID_TIME_BYTES; i-- > 0; us >>= 8)
        bytes[i] = (unsigned char)us;
    if (status == PAWL_OK)
        pawl__hex_encode(bytes, sizeof bytes, PAWL_HEX_LOWER, record->id);
    return status;
}

int op_record_begin(const struct pawl_op *op, struct op_record *record, const char *action,
                    const char *kind, struct pawl_str target)
{
    int status = PAWL_OK;

    *record = (struct op_record){.by = op->record};
    if (op->record)
        return PAWL_OK;
    if (op->request_id.len > PAWL_REQUEST_ID_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "the id of a request has at most %u bytes",
                               PAWL_REQUEST_ID_MAX);
    if (op->request_id.len == 0)
        status = make_id(op, record);
    record->own.row = (struct pawl_audit_row){
        .id = op->request_id.len > 0 ? op->request_id : pawl__str(record->id),
        .actor = op->actor,
        .door = op->door,
        .action = pawl__str(action),
        .kind = pawl__str(kind),
        .target = target,
        .result = pawl__str(RESULT_OK),
        .data = pawl__str(""),
    };
    record->by = &record->own;
    return status;
}

int op_record_asked(const struct pawl_op *op, struct op_record *record,
                    const struct pawl_builder *b, const struct pawl_json *asked)
{
    struct pawl_builder own = {.arena = op->arena, .status = b->status};
    struct pawl_json size = pawl__json_object();
    const char *text = "";

    if (record->by != &record->own || record->own.is_stored)
        return PAWL_OK;
    if (own.status == PAWL_OK)
        own.status = pawl__json_text_write(op->arena, asked, &text);
    if (own.status == PAWL_OK && strlen(text) > OP_RECORD_BYTES_MAX) {
        pawl__build_int(&own, &size, "bytes", (int64_t)strlen(text));
        if (own.status == PAWL_OK)
            own.status = pawl__json_text_write(op->arena, &size, &text);
    }
    if (own.status != PAWL_OK)
        return pawl__error_code(op->err, own.status);
    record->own.row.data = pawl__str(text);
    return PAWL_OK;
}

/* ---- ending --------------------------------------------------------------------------------- */

static int find_record(const struct pawl_op *op, struct pawl_str id, struct pawl_rows *rows)
{
    struct op_query query;

    op_query_init(&query, PAWL_TABLE_AUDIT, NULL, false);
    op_with_bytes(&query);
    op_where_text(&query, "id", PAWL_EQ, id);
    return op_find_all(op, &query, 1, rows);
}

static bool is_same(const struct pawl_audit_row *one, const struct pawl_audit_row *other)
{
    return pawl__str_equal(one->actor, other->actor) &&
           pawl__str_equal(one->action, other->action) && pawl__str_equal(one->kind, other->kind) &&
           pawl__str_equal(one->target, other->target);
}

static int tell_another(const struct pawl_op *op, const struct pawl_audit_row *found)
{
    return pawl__error_set(op->err, PAWL_ECONFLICT,
                           "request %.*s was another one, '%.*s' of %.*s '%.*s': every request has "
                           "an id of its own",
                           PAWL_STR_ARG(found->id), PAWL_STR_ARG(found->action),
                           PAWL_STR_ARG(found->kind), PAWL_STR_ARG(found->target));
}

/* A request for many that ended half-way may be sent again: it goes on, and so does its count. */
int op_record_begin_many(const struct pawl_op *op, struct op_record *record, const char *action,
                         const char *kind)
{
    const struct pawl_audit_row *found;
    struct pawl_rows rows = {0};
    int status = op_record_begin(op, record, action, kind, pawl__str(""));

    if (status != PAWL_OK || op->record || op->request_id.len == 0)
        return status;
    status = find_record(op, op->request_id, &rows);
    if (status != PAWL_OK || rows.count == 0)
        return status;
    found = rows.rows;
    if (!is_same(&record->own.row, found))
        return tell_another(op, found);
    record->own.row = *found;
    record->own.is_stored = true;
    return PAWL_OK;
}

/* Nothing was changed: because the request had its effect before? */
static int tell_repeated(const struct pawl_op *op, const struct op_record *record,
                         bool has_no_result, int status)
{
    const struct pawl_audit_row *own = &record->own.row, *found;
    struct pawl_error why = op->err ? *op->err : (struct pawl_error)PAWL_ERROR_INIT;
    struct pawl_rows rows = {0};
    int looked = find_record(op, own->id, &rows);

    if (looked != PAWL_OK)
        return looked;
    if (rows.count == 0) {
        if (op->err)
            *op->err = why;
        return status;
    }
    found = rows.rows;
    if (!is_same(own, found))
        return tell_another(op, found);
    if (has_no_result)
        return PAWL_OK;
    return pawl__error_set(op->err, PAWL_ECONFLICT,
                           "request %.*s was done before, and is not done again",
                           PAWL_STR_ARG(own->id));
}

int op_record_end(const struct pawl_op *op, const struct op_record *record, bool has_no_result,
                  int status)
{
    /* Whoever began it tells. */
    if (status == PAWL_OK || record->by != &record->own)
        return status;
    if (pawl_error_class(status) == PAWL_CLASS_UNKNOWN)
        return pawl__error_prefix(op->err, status, "request %.*s",
                                  PAWL_STR_ARG(record->own.row.id));
    if (op->request_id.len > 0 && !record->own.is_stored &&
        (status == PAWL_ENOTFOUND || status == PAWL_EEXISTS || status == PAWL_ECONFLICT))
        return tell_repeated(op, record, has_no_result, status);
    return status;
}

/* ---- looking -------------------------------------------------------------------------------- */

int pawl__op_audit_list(const struct pawl_op *op, const struct pawl_audit_query *query,
                        struct pawl_audit_list *out)
{
    static const char *const orders[] = {
        [PAWL_AUDIT_BY_TIME] = "created_us",
        [PAWL_AUDIT_BY_ACTOR] = "actor",
        [PAWL_AUDIT_BY_TARGET] = "target",
    };
    struct pawl_audit_list found = {.count = 0};
    struct pawl_rows rows = {0};
    struct op_query asked;
    int status;

    op_query_init(&asked, PAWL_TABLE_AUDIT, orders[query->sort], query->sort == PAWL_AUDIT_BY_TIME);
    op_where_given(&asked, "actor", query->actor);
    op_where_given(&asked, "door", query->door);
    op_where_given(&asked, "action", query->action);
    op_where_given(&asked, "kind", query->kind);
    op_where_given(&asked, "target", query->target);
    if (query->from_us != 0)
        op_where_int(&asked, "created_us", PAWL_GE, query->from_us);
    if (query->until_us != 0)
        op_where_int(&asked, "created_us", PAWL_LT, query->until_us);
    status = op_find_page(op, &asked, &query->page, &rows, &found.page);
    if (status != PAWL_OK)
        return status;
    found.rows = rows.rows;
    found.count = rows.count;
    *out = found;
    return PAWL_OK;
}

int pawl__op_audit_show(const struct pawl_op *op, struct pawl_str request_id,
                        struct pawl_audit_row *out)
{
    struct pawl_rows rows = {0};
    int status = find_record(op, request_id, &rows);

    if (status != PAWL_OK)
        return status;
    if (rows.count == 0)
        return pawl__error_set(op->err, PAWL_ENOTFOUND,
                               "there is no record of request %.*s: it has changed nothing",
                               PAWL_STR_ARG(request_id));
    *out = *(const struct pawl_audit_row *)rows.rows;
    return PAWL_OK;
}
