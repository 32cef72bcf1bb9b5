/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of identity: reading them, and changing them under their stamp; see
 * identity_private.h. */
#include "base/error.h"
#include "operations/identity_private.h"
#include "operations/record.h"

#define TRIES_MAX 20
#define CHANGES_DEFAULT 40u
#define DATA_BYTES_MAX ((size_t)256 << 10)

/* ---- texts ---------------------------------------------------------------------------------- */

bool pawl__texts_have(const struct pawl_texts *texts, struct pawl_str text)
{
    for (size_t i = 0; i < texts->count; i++)
        if (pawl__str_equal(texts->texts[i], text))
            return true;
    return false;
}

bool pawl__permissions_have(const struct pawl_texts *permissions, struct pawl_str permission)
{
    return pawl__texts_have(permissions, pawl__str("*")) ||
           pawl__texts_have(permissions, permission);
}

bool pawl__permissions_allow(const struct pawl_texts *permissions, const char *wanted)
{
    struct pawl_str left = pawl__str(wanted);

    if (left.len == 0)
        return true;
    while (left.len > 0) {
        size_t end = pawl__str_find(left, ' ', 0);

        if (pawl__permissions_have(permissions, pawl__str_slice(left, 0, end)))
            return true;
        left = end == SIZE_MAX ? pawl__str("") : pawl__str_slice(left, end + 1, left.len);
    }
    return false;
}

int identity_texts(struct pawl_arena *arena, const struct pawl_json *array, struct pawl_texts *out)
{
    uint32_t len = pawl__json_is(array, PAWL_JSON_ARRAY) ? pawl__json_len(array) : 0;
    struct pawl_str *texts = pawl__arena_alloc_array(arena, (size_t)len + 1, sizeof *texts);
    struct pawl_texts found = {texts, 0};

    if (!texts)
        return pawl__arena_status(arena);
    for (uint32_t i = 0; i < len && found.count < PAWL_IDENTITY_TEXTS_MAX; i++) {
        struct pawl_str text = pawl__json_str(pawl__json_at(array, i));

        if (text.len > 0 && !pawl__texts_have(&found, text))
            texts[found.count++] = text;
    }
    *out = found;
    return PAWL_OK;
}

struct pawl_json identity_array(struct pawl_arena *arena, const struct pawl_texts *texts,
                                int *status)
{
    struct pawl_json array = pawl__json_array();

    for (size_t i = 0; i < texts->count && *status == PAWL_OK; i++) {
        struct pawl_json text;

        *status = pawl__json_string_copy(arena, texts->texts[i], &text);
        if (*status == PAWL_OK)
            *status = pawl__json_append(arena, &array, text);
    }
    return array;
}

/* ---- rows ----------------------------------------------------------------------------------- */

int identity_find(const struct pawl_op *op, const char *kind, const char *column,
                  struct pawl_str value, const struct pawl_document_row **found)
{
    struct pawl_rows rows = {0};
    struct op_query query;
    int status;

    op_query_init(&query, PAWL_TABLE_DOCUMENTS, NULL, false);
    op_with_bytes(&query);
    op_where_text(&query, "kind", PAWL_EQ, pawl__str(kind));
    op_where_text(&query, column, PAWL_EQ, value);
    status = op_find_all(op, &query, 1, &rows);
    if (status == PAWL_OK)
        *found = rows.count > 0 ? rows.rows : NULL;
    return status;
}

int identity_get(const struct pawl_op *op, const char *kind, struct pawl_str id_or_name,
                 const struct pawl_document_row **found)
{
    int status = identity_find(op, kind, "id", id_or_name, found);

    if (status == PAWL_OK && !*found)
        status = identity_find(op, kind, "name", id_or_name, found);
    if (status == PAWL_OK && !*found)
        status = pawl__error_set(op->err, PAWL_ENOTFOUND, "there is no %s '%.*s'", kind,
                                 PAWL_STR_ARG(id_or_name));
    return status;
}

int identity_find_all(const struct pawl_op *op, const char *kind,
                      const struct pawl_document_row **rows, size_t *count)
{
    struct pawl_rows found = {0};
    struct op_query query;
    int64_t now_us;
    int status = op_now(op, &now_us);

    if (status != PAWL_OK)
        return status;
    op_query_init(&query, PAWL_TABLE_DOCUMENTS, NULL, false);
    op_with_bytes(&query);
    op_where_text(&query, "kind", PAWL_EQ, pawl__str(kind));
    op_where_int(&query, "expires_us", PAWL_GT, now_us);
    status = op_find_all(op, &query, PAWL_STORE_ROWS_MAX, &found);
    if (status == PAWL_OK) {
        *rows = found.rows;
        *count = found.count;
    }
    return status;
}

int identity_read(const struct pawl_op *op, const struct pawl_document_row *row,
                  struct pawl_json *data)
{
    int status = pawl__json_parse(op->arena, row->data, NULL, data, NULL, NULL);

    if (status == PAWL_OK || status == PAWL_ENOMEM)
        return status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, status);
    return pawl__error_set(op->err, PAWL_ECORRUPT, "the %.*s '%.*s' of the store cannot be read",
                           PAWL_STR_ARG(row->kind), PAWL_STR_ARG(row->id));
}

int identity_write(const struct pawl_op *op, const struct pawl_json *data, struct pawl_str *out)
{
    struct pawl_buf buf;
    int status;

    pawl__buf_init(&buf, op->arena->alloc, DATA_BYTES_MAX);
    pawl__json_write(&buf, data, PAWL_JSON_ESCAPE_MINIMAL);
    status = buf.status;
    if (status == PAWL_OK) {
        *out = pawl__arena_str(op->arena, pawl__buf_peek(&buf));
        status = out->ptr ? PAWL_OK : pawl__arena_status(op->arena);
    }
    pawl__buf_release(&buf);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, status);
}

int identity_make_id(const struct pawl_op *op, char out[IDENTITY_ID_SIZE])
{
    unsigned char bytes[(IDENTITY_ID_SIZE - 1) / 2];
    int status = pawl_env_entropy(op_env(op), bytes, sizeof bytes, op->err);

    if (status == PAWL_OK) {
        pawl__hex_encode(bytes, sizeof bytes, PAWL_HEX_LOWER, out);
        out[IDENTITY_ID_SIZE - 1] = '\0';
    }
    return status;
}

int identity_random(const struct pawl_op *op, size_t bytes, struct pawl_str *out)
{
    char *text = pawl__arena_alloc(op->arena, 3 * bytes + 1);
    int status;

    if (!text)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    status = pawl_env_entropy(op_env(op), text + 2 * bytes, bytes, op->err);
    if (status != PAWL_OK)
        return status;
    pawl__hex_encode(text + 2 * bytes, bytes, PAWL_HEX_LOWER, text);
    text[2 * bytes] = '\0';
    *out = pawl__str_make(text, 2 * bytes);
    return PAWL_OK;
}

/* ---- checks --------------------------------------------------------------------------------- */

int identity_check_name(const struct pawl_op *op, struct pawl_str name)
{
    if (name.len > PAWL_IDENTITY_NAME_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "a name has at most %u bytes",
                               PAWL_IDENTITY_NAME_MAX);
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] < 0x20 || name.ptr[i] == 0x7f)
            return pawl__error_set(op->err, PAWL_EINVAL, "a name has no control characters");
    return PAWL_OK;
}

int identity_check_permissions(const struct pawl_op *op, const struct pawl_texts *permissions,
                               const struct pawl_texts *grantor)
{
    for (size_t i = 0; grantor && i < permissions->count; i++)
        if (!pawl__permissions_have(grantor, permissions->texts[i]))
            return pawl__error_set(op->err, PAWL_EPERM,
                                   "the permission %.*s can only be given by one who has it",
                                   PAWL_STR_ARG(permissions->texts[i]));
    return PAWL_OK;
}

int identity_check_roles(const struct pawl_op *op, const struct pawl_texts *roles,
                         const struct pawl_texts *grantor)
{
    int status = PAWL_OK;

    for (size_t i = 0; i < roles->count && status == PAWL_OK; i++) {
        const struct pawl_document_row *row = NULL;
        struct pawl_texts permissions;
        struct pawl_json data;

        status = identity_find(op, KIND_ROLE, "id", roles->texts[i], &row);
        if (status == PAWL_OK && !row)
            status = pawl__error_set(op->err, PAWL_EPERM, "there is no role '%.*s'",
                                     PAWL_STR_ARG(roles->texts[i]));
        if (status == PAWL_OK)
            status = identity_read(op, row, &data);
        if (status == PAWL_OK)
            status =
                identity_texts(op->arena, pawl__json_get_text(&data, "permissions"), &permissions);
        if (status == PAWL_OK)
            status = identity_check_permissions(op, &permissions, grantor);
    }
    return status;
}

int identity_permissions(const struct pawl_op *op, const struct pawl_texts *roles,
                         const struct pawl_texts *more, struct pawl_texts *out)
{
    struct pawl_json all = pawl__json_array();
    int status = PAWL_OK;

    if (more)
        all = identity_array(op->arena, more, &status);
    for (size_t i = 0; i < roles->count && status == PAWL_OK; i++) {
        const struct pawl_document_row *row = NULL;
        struct pawl_json data = pawl__json_null();
        const struct pawl_json *permissions;

        status = identity_find(op, KIND_ROLE, "id", roles->texts[i], &row);
        if (status == PAWL_OK && row)
            status = identity_read(op, row, &data);
        permissions = pawl__json_get_text(&data, "permissions");
        for (uint32_t j = 0; status == PAWL_OK && j < pawl__json_len(permissions); j++)
            status = pawl__json_append(op->arena, &all, *pawl__json_at(permissions, j));
    }
    if (status == PAWL_OK)
        status = identity_texts(op->arena, &all, out);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, status);
}

/* ---- changes -------------------------------------------------------------------------------- */

int identity_stamp(const struct pawl_op *op, int64_t *out)
{
    struct pawl_rows rows = {0};
    struct op_query query;
    int status;

    op_query_init(&query, PAWL_TABLE_STAMPS, NULL, false);
    op_where_text(&query, "name", PAWL_EQ, pawl__str(IDENTITY_STAMP));
    status = op_find_all(op, &query, 1, &rows);
    if (status == PAWL_OK)
        *out = rows.count > 0 ? ((const struct pawl_stamp_row *)rows.rows)->value : 0;
    return status;
}

void identity_plan_add(struct identity_plan *plan, enum pawl_change_kind kind,
                       const struct pawl_document_row *row)
{
    PAWL_ASSERT(plan->count < plan->room);
    plan->rows[plan->count] = *row;
    plan->changes[plan->count] =
        (struct pawl_change){kind, PAWL_TABLE_DOCUMENTS, &plan->rows[plan->count]};
    plan->count++;
}

/* Commits a plan with its record. A commit without an answer is looked for by its record. */
static int commit(const struct pawl_op *op, struct op_record *record, int64_t stamp,
                  struct identity_plan *plan)
{
    struct pawl_audit_row row;
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN,
                                 .changes = plan->changes,
                                 .change_count = plan->count + 1,
                                 .stamp = pawl__str(IDENTITY_STAMP),
                                 .stamp_value = stamp};
    struct pawl_commit *commits[] = {&commit};
    bool stored = false;
    int status;

    plan->changes[plan->count] =
        pawl__audit_change(record->by, (int64_t)plan->count, plan->now_us, &row);
    status = pawl_store_apply(op_store(op), commits, 1, op->deadline_ns, op->err);
    if (pawl_error_class(status) == PAWL_CLASS_UNKNOWN &&
        pawl__audit_is_stored(op_store(op), &row, op->arena, &stored, op->deadline_ns, NULL) ==
            PAWL_OK &&
        stored)
        status = PAWL_OK;
    pawl__audit_settle(record->by, &row, status == PAWL_OK ? commit.status : status);
    if (status != PAWL_OK || stored || commit.status == PAWL_OK)
        return status;
    if (commit.status == PAWL_ECONFLICT)
        return commit.status;
    return pawl__error_set(op->err, commit.status, "%s: %s",
                           commit.status == PAWL_EEXISTS ? "there is one of that id or name"
                                                         : "the store refused the change",
                           commit.error.msg);
}

static int attempt(const struct pawl_op *op, const struct identity_change *change,
                   struct op_record *record, struct identity_plan *plan)
{
    int64_t stamp;
    int status = identity_stamp(op, &stamp);

    plan->count = 0;
    if (status == PAWL_OK)
        status = op_now(op, &plan->now_us);
    if (status == PAWL_OK)
        status = change->plan(op, change->ctx, plan);
    if (status == PAWL_OK && plan->count > 0)
        status = commit(op, record, stamp, plan);
    return status;
}

/* Names, roles and permissions; never a password. */
static int record_asked(const struct pawl_op *op, const struct identity_change *change,
                        struct op_record *record)
{
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_json asked = pawl__json_object();

    op_build_given(&b, &asked, "name", pawl__arena_str(op->arena, change->name));
    for (size_t i = 0; i < 2; i++)
        if (change->keys[i])
            pawl__build(&b, &asked, change->keys[i],
                        identity_array(op->arena, &change->lists[i], &b.status));
    return pawl__json_len(&asked) > 0 ? op_record_asked(op, record, &b, &asked) : PAWL_OK;
}

int identity_change(const struct pawl_op *op, const struct identity_change *change)
{
    struct identity_plan plan = {.room = change->room > 0 ? change->room : CHANGES_DEFAULT};
    struct op_record record;
    int status = op_record_begin(op, &record, change->action, change->kind, change->target);

    if (status == PAWL_OK)
        status = record_asked(op, change, &record);
    if (status != PAWL_OK)
        return status;
    plan.changes = pawl__arena_alloc_array(op->arena, plan.room + 1, sizeof *plan.changes);
    plan.rows = pawl__arena_alloc_array(op->arena, plan.room, sizeof *plan.rows);
    if (!plan.changes || !plan.rows)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    status = PAWL_ECONFLICT;
    for (int tries = 0; status == PAWL_ECONFLICT && tries < TRIES_MAX; tries++)
        status = attempt(op, change, &record, &plan);
    if (status == PAWL_ECONFLICT)
        status =
            pawl__error_set(op->err, PAWL_EBUSY, "identity is being changed by others: try again");
    return op_record_end(op, &record, change->has_no_result, status);
}
