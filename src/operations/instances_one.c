/* SPDX-License-Identifier: Apache-2.0 */
/* One instance: looking at it, cancelling, deleting, exporting, importing; and work that is due. */
#include "operations/instances_private.h"

#include "base/error.h"
#include "runtime/node/pause.h"

/* ---- looking -------------------------------------------------------------------------------- */

static int check_id(const struct pawl_op *op, struct pawl_str instance_id)
{
    return instance_id.len > 0 ? PAWL_OK
                               : pawl__error_set(op->err, PAWL_EINVAL, "no instance is given");
}

/* PAWL_EINVAL where a client would mean a new instance. */
static int client_of(const struct pawl_op *op, struct pawl_str instance_id,
                     struct pawl_workflow_client **out)
{
    int status = check_id(op, instance_id);

    return status == PAWL_OK ? op_client(op, instance_id, out) : status;
}

/* A client whose changes are recorded. */
static int acting_client(const struct pawl_op *op, struct pawl_str instance_id, const char *action,
                         struct op_record *record, struct pawl_workflow_client **out)
{
    int status = client_of(op, instance_id, out);

    if (status == PAWL_OK)
        status = op_record_begin(op, record, action, "instance", instance_id);
    if (status == PAWL_OK)
        (*out)->by = record->by;
    return status;
}

static int read_row(const struct pawl_op *op, struct pawl_str instance_id, struct pawl_json *state,
                    struct pawl_instance_row *row)
{
    struct pawl_workflow_client *client = NULL;
    int status = client_of(op, instance_id, &client);

    if (status == PAWL_OK)
        status =
            pawl__workflow_client_show(client, op->arena, row, state, op->deadline_ns, op->err);
    pawl__workflow_client_close(client);
    return status;
}

/* Whether it is about the bytes of the state, and not about asking for them. */
static bool is_of_state(int status)
{
    enum pawl_error_class class = pawl_error_class(status);

    return status != PAWL_OK && status != PAWL_ENOTFOUND && status != PAWL_EINVAL &&
           status != PAWL_ESTOPPED && class != PAWL_CLASS_TRANSIENT && class != PAWL_CLASS_UNKNOWN;
}

int op_show_readable(const struct pawl_op *op, struct pawl_str instance_id,
                     struct pawl_instance_row *row, struct pawl_json *state,
                     struct pawl_error *unreadable)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_op quiet = *op;
    int status;

    quiet.err = &err;
    status = read_row(&quiet, instance_id, state, row);
    *unreadable = (struct pawl_error)PAWL_ERROR_INIT;
    if (is_of_state(status)) {
        *state = pawl__json_null();
        *unreadable = err;
        return read_row(op, instance_id, NULL, row);
    }
    if (status != PAWL_OK && op->err)
        *op->err = err;
    return status;
}

int pawl__op_instance_show(const struct pawl_op *op, struct pawl_str instance_id, bool with_state,
                           struct pawl_instance_shown *out)
{
    struct pawl_instance_shown shown = {.state = pawl__json_null(), .unreadable = PAWL_ERROR_INIT};
    int status =
        with_state ? op_show_readable(op, instance_id, &shown.row, &shown.state, &shown.unreadable)
                   : read_row(op, instance_id, NULL, &shown.row);

    if (status != PAWL_OK)
        return status;
    shown.row.state = shown.row.counts = pawl__str("");
    *out = shown;
    return PAWL_OK;
}

int pawl__op_instance_exists(const struct pawl_op *op, struct pawl_str instance_id, bool *out)
{
    struct pawl_workflow_client *client = NULL;
    int status = client_of(op, instance_id, &client);

    if (status == PAWL_OK)
        status = pawl__workflow_client_exists(client, out, op->deadline_ns, op->err);
    pawl__workflow_client_close(client);
    return status;
}

/* ---- ending --------------------------------------------------------------------------------- */

int pawl__op_instance_cancel(const struct pawl_op *op, struct pawl_str instance_id,
                             bool only_itself, struct pawl_instance_row *row)
{
    struct pawl_workflow_client *client = NULL;
    struct pawl_instance_row now;
    struct op_record record;
    int status = acting_client(op, instance_id, "cancel", &record, &client);

    if (status == PAWL_OK) {
        status = only_itself ? pawl__workflow_client_cancel_one(client, op->deadline_ns, op->err)
                             : pawl__workflow_client_cancel(client, op->deadline_ns, op->err);
        status = op_record_end(op, &record, true, status);
    }
    /* Stored: who asks for no row is told so, whatever may be read. */
    if (status == PAWL_OK && row)
        status = pawl__error_after_commit(
            op->err,
            pawl__workflow_client_show(client, op->arena, &now, NULL, op->deadline_ns, op->err),
            "the cancellation of %.*s was requested", PAWL_STR_ARG(instance_id));
    pawl__workflow_client_close(client);
    if (status == PAWL_OK && row)
        *row = now;
    return status;
}

int pawl__op_instance_delete(const struct pawl_op *op, struct pawl_str instance_id)
{
    struct pawl_workflow_client *client = NULL;
    struct op_record record;
    int status = acting_client(op, instance_id, "delete", &record, &client);

    if (status == PAWL_OK)
        status = op_record_end(op, &record, true,
                               pawl__workflow_client_delete(client, op->deadline_ns, op->err));
    pawl__workflow_client_close(client);
    return status;
}

/* ---- moving --------------------------------------------------------------------------------- */

/* Timers are in the export, as bookmarks. */
static int count_mail(const struct pawl_op *op, struct pawl_str instance_id, uint64_t *count)
{
    struct op_query query;

    op_query_init(&query, PAWL_TABLE_WORK, NULL, false);
    op_where_text(&query, "instance_id", PAWL_EQ, instance_id);
    op_where_text(&query, "kind", PAWL_NE, pawl__str(PAWL_WORK_TIMER));
    return op_count(op, &query, count);
}

int pawl__op_instance_export(const struct pawl_op *op, struct pawl_str instance_id,
                             const struct pawl_instance_export *parts, struct pawl_json *out,
                             uint64_t *mail_left)
{
    struct pawl_workflow_client *client = NULL;
    struct pawl_json exported;
    uint64_t mail = 0;
    int status = client_of(op, instance_id, &client);

    if (status == PAWL_OK)
        status = pawl__workflow_client_export(client, parts, op->arena, &exported, op->deadline_ns,
                                              op->err);
    pawl__workflow_client_close(client);
    if (status == PAWL_OK && mail_left)
        status = count_mail(op, instance_id, &mail);
    if (status != PAWL_OK)
        return status;
    *out = exported;
    if (mail_left)
        *mail_left = mail;
    return PAWL_OK;
}

static const struct pawl_json *state_of(const struct pawl_json *exported)
{
    return pawl__json_get_nocase(exported, pawl__str("WorkflowState"));
}

bool pawl__op_instance_is_export(const struct pawl_json *document)
{
    return state_of(document) != NULL;
}

static struct pawl_str exported_id(const struct pawl_json *exported)
{
    return pawl__json_str(pawl__json_get_nocase(state_of(exported), pawl__str("id")));
}

static int refuse_document(const struct pawl_op *op)
{
    return pawl__error_set(op->err, PAWL_EPARSE,
                           "this is not an exported instance: its 'WorkflowState' must have an id");
}

int pawl__op_instance_import(const struct pawl_op *op, const struct pawl_json *exported,
                             struct pawl_outcome *out)
{
    struct pawl_workflow_client *client = NULL;
    struct pawl_str id = exported_id(exported);
    struct pawl_outcome outcome;
    struct op_record record;
    int status;

    if (id.len == 0)
        return refuse_document(op);
    status = acting_client(op, id, "import", &record, &client);
    if (status == PAWL_OK)
        status = op_record_end(
            op, &record, false,
            pawl__workflow_client_import(client, exported, &outcome, op->deadline_ns, op->err));
    pawl__workflow_client_close(client);
    if (status == PAWL_OK)
        *out = outcome;
    return status;
}

/* Whether the instance that is there is what the document says: nothing would have to be taken
 * over. */
static bool is_imported(const struct pawl_op *op, const struct pawl_json *document)
{
    const struct pawl_instance_export parts = {.bookmarks = false};
    struct pawl_json there;
    int status = pawl__op_instance_export(op, exported_id(document), &parts, &there, NULL);

    return status == PAWL_OK && pawl__json_equal(state_of(document), state_of(&there));
}

int pawl__op_instances_import(const struct pawl_op *op, const struct pawl_json *exported,
                              struct pawl_bulk_result *out)
{
    struct pawl_bulk_result result = {.error = PAWL_ERROR_INIT};
    struct pawl_op each = *op;
    struct op_record record;
    int status;

    for (uint32_t i = 0; i < pawl__json_len(exported); i++) {
        if (exported_id(pawl__json_at(exported, i)).len == 0)
            return refuse_document(op);
    }
    status = op_record_begin_many(op, &record, "import", "instance");
    if (status != PAWL_OK)
        return status;
    each.record = record.by;
    for (uint32_t i = 0; i < pawl__json_len(exported); i++) {
        struct pawl_error err = PAWL_ERROR_INIT;
        struct pawl_outcome outcome;

        each.err = &err;
        status = pawl__op_instance_import(&each, pawl__json_at(exported, i), &outcome);
        if (status == PAWL_EEXISTS) {
            each.err = NULL; /* keeps the message of the refusal */
            if (is_imported(&each, pawl__json_at(exported, i)))
                status = PAWL_OK;
        }
        result.done += status == PAWL_OK;
        if (status != PAWL_OK && result.failed++ == 0)
            result.error = err;
    }
    *out = result;
    return PAWL_OK;
}

/* ---- work ----------------------------------------------------------------------------------- */

int pawl__op_work(const struct pawl_op *op, uint32_t limit, struct pawl_worked *out)
{
    return pawl__runtime_work(op_runtime(op), limit, out, op->deadline_ns, op->err);
}

/* Whether there is work that is due, or an instance that could go on, and that no node has. */
static int find_due(const struct pawl_op *op, bool *out)
{
    struct pawl_rows work = {0}, runnable = {0};
    struct op_query query;
    int64_t now_us;
    int status = op_now(op, &now_us);

    if (status != PAWL_OK)
        return status;
    op_query_init(&query, PAWL_TABLE_WORK, "due_us", false);
    op_where_int(&query, "due_us", PAWL_LE, now_us);
    op_where_int(&query, "owner", PAWL_EQ, 0);
    status = op_find_all(op, &query, 1, &work);
    op_query_init(&query, PAWL_TABLE_INSTANCES, NULL, false);
    op_where_int(&query, "runnable", PAWL_NE, 0);
    op_where_int(&query, "owner", PAWL_EQ, 0);
    op_where_int(&query, "retry_us", PAWL_LE, now_us);
    if (status == PAWL_OK && work.count == 0)
        status = op_find_all(op, &query, 1, &runnable);
    if (status == PAWL_OK)
        *out = work.count + runnable.count > 0;
    return status;
}

int pawl__op_drain(const struct pawl_op *op, struct pawl_worked *out)
{
    struct pawl_error why = PAWL_ERROR_INIT;
    bool is_due = false;
    int status = pawl__runtime_drain(op_runtime(op), out, op->deadline_ns, op->err);

    if (status != PAWL_OK ||
        pawl__runtime_check_paused(op_runtime(op), op->deadline_ns, &why) == PAWL_OK)
        return status;
    status = find_due(op, &is_due);
    out->is_paused = is_due;
    if (status == PAWL_OK && is_due)
        return pawl__error_set(op->err, PAWL_EUNAVAILABLE, "work is due and was not done: %s",
                               why.msg);
    return status;
}

int pawl__op_work_wait(const struct pawl_op *op, uint64_t *seen)
{
    struct pawl_wake wake = {.seen = *seen};
    int status = pawl_store_wait(op_store(op), &wake, op->deadline_ns, op->err);

    if (status == PAWL_OK)
        *seen = wake.seen;
    return status;
}
