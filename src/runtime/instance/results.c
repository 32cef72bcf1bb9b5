/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the result that an instance awaits among its mail, behind that of others and behind more
 * mail than a claim returns, and puts it first.
 */
#include "runtime/instance/private.h"

#include "base/error.h"
#include "runtime/bytes.h"
#include "runtime/task.h"

/* How many results that name no effect are looked at behind the mail of a claim. */
#define BEHIND_MAX 16

/* What is known of the result that is awaited. */
struct results {
    struct pawl_str ids[2]; /* of the rows that have it, unless it came from a dead letter */
    size_t count;
    struct pawl_str effect;
    struct pawl_str child; /* "": it is no child's */
};

static int add_result(struct runtime_run *run, struct results *results, struct pawl_str of)
{
    const char *id;

    if (of.len == 0)
        return PAWL_OK;
    id = pawl__arena_printf(&run->arena, "%.*s/feed", PAWL_STR_ARG(of));
    if (!id)
        return pawl__error_code(run->task->err, pawl__arena_status(&run->arena));
    results->ids[results->count++] = pawl__str(id);
    return PAWL_OK;
}

/* A result has the id of the child that it is of, or of the work: of a request, or of a child that
 * could not be started. The work has that of the effect, but what was put off, has failed or was
 * replayed by an operator has a new one. */
static int expect_results(struct runtime_run *run, struct results *results)
{
    const struct pawl_json *section = pawl__json_get_text(&run->state, "pawl");
    const struct pawl_json *awaited = pawl__json_get_text(section, "awaited");
    int status;

    results->effect = runtime_text(awaited, "id");
    status = add_result(run, results, results->effect);
    results->child = runtime_text(pawl__json_get_text(awaited, "data"), "instanceId");
    return status == PAWL_OK ? add_result(run, results, results->child) : status;
}

static bool is_feed(const struct pawl_work_row *mail)
{
    return pawl__str_is(mail->kind, PAWL_WORK_FEED);
}

/* Not what is awaited, as it says itself: by its name, if it is a request's, else by the child that
 * it is of. */
static bool is_result_of_another_effect(struct runtime_run *run, const struct pawl_work_row *mail,
                                        const struct results *results)
{
    struct pawl_json told;
    struct pawl_str child;

    if (mail->name.len > 0)
        return !pawl__str_equal(mail->name, results->effect);
    if (pawl__runtime_json_read(run->runtime, &run->arena, mail->payload, &told, NULL) != PAWL_OK)
        return false; /* whoever is fed with it finds out */
    child = runtime_text(&told, "workflowInstanceId");
    return child.len > 0 && !pawl__str_equal(child, results->child);
}

static const struct pawl_work_row *find_result(struct runtime_run *run,
                                               const struct pawl_work_row *mail, size_t count,
                                               const struct results *results)
{
    for (size_t k = 0; k < results->count; k++)
        for (size_t i = 0; i < count; i++)
            if (is_feed(&mail[i]) && pawl__str_equal(mail[i].id, results->ids[k]))
                return &mail[i];
    for (size_t i = 0; i < count; i++)
        if (is_feed(&mail[i]) && !is_result_of_another_effect(run, &mail[i], results))
            return &mail[i];
    return NULL;
}

/* Behind more mail than a claim returns: those with that text in a column; "": any. */
static int find_feeds_behind(struct runtime_run *run, const char *column, struct pawl_str text,
                             uint32_t limit, struct pawl_rows *out)
{
    const struct pawl_condition conditions[] = {
        {.column = pawl_table_column(PAWL_TABLE_WORK, "instance_id"),
         .value = {.text = run->row.id}},
        {.column = pawl_table_column(PAWL_TABLE_WORK, "kind"),
         .value = {.text = pawl__str(PAWL_WORK_FEED)}},
        {.column = pawl_table_column(PAWL_TABLE_WORK, "due_us"),
         .compare = PAWL_LE,
         .value = {.integer = run->now_us}},
        {.column = pawl_table_column(PAWL_TABLE_WORK, column), .value = {.text = text}},
    };
    const struct pawl_query query = {.table = PAWL_TABLE_WORK,
                                     .conditions = conditions,
                                     .condition_count = text.len > 0 ? 4 : 3,
                                     .limit = limit};

    return pawl_store_find(run->runtime->store, &query, &run->arena, out, run->task->deadline_ns,
                           run->task->err);
}

/* By its id; by the effect that it names, as responses do; or among those that name none. */
static int find_result_behind(struct runtime_run *run, const struct results *results,
                              const struct pawl_work_row **out)
{
    struct pawl_rows rows = {0};
    int status = PAWL_OK;

    for (size_t i = 0; i < results->count && status == PAWL_OK && rows.count == 0; i++)
        status = find_feeds_behind(run, "id", results->ids[i], 1, &rows);
    if (status == PAWL_OK && rows.count == 0 && results->effect.len > 0)
        status = find_feeds_behind(run, "name", results->effect, 1, &rows);
    if (status == PAWL_OK && rows.count == 0)
        status = find_feeds_behind(run, "id", pawl__str(""), BEHIND_MAX, &rows);
    if (status == PAWL_OK)
        *out = find_result(run, rows.rows, rows.count, results);
    return status;
}

static int put_first(struct runtime_run *run, const struct pawl_work_row *first)
{
    struct pawl_work_row *mail =
        pawl__arena_alloc_array(&run->arena, run->mail_count + 1, sizeof *mail);
    size_t count = 0;

    if (!mail)
        return pawl__error_code(run->task->err, pawl__arena_status(&run->arena));
    mail[count++] = *first;
    for (size_t i = 0; i < run->mail_count; i++)
        if (&run->mail[i] != first)
            mail[count++] = run->mail[i];
    run->mail = mail;
    run->mail_count = count;
    return PAWL_OK;
}

int pawl__runtime_put_feed_first(struct runtime_run *run)
{
    struct pawl_rows behind = {0};
    int status = PAWL_OK;

    if (run->row.runnable != 2)
        return PAWL_OK;
    for (size_t i = 0; i < run->mail_count; i++)
        if (is_feed(&run->mail[i]))
            return put_first(run, &run->mail[i]);
    if (run->mail_count == PAWL_CLAIM_MAIL_MAX)
        status = find_feeds_behind(run, "id", pawl__str(""), 1, &behind);
    return status == PAWL_OK && behind.count > 0 ? put_first(run, behind.rows) : status;
}

/* Another child's result waits behind it, and is dropped with the mail that means nothing. */
int pawl__runtime_put_result_first(struct runtime_run *run, bool *found)
{
    struct results results = {.count = 0};
    const struct pawl_work_row *result = NULL;
    int status = expect_results(run, &results);

    PAWL_ASSERT(run->loaded && run->row.runnable == 2);
    if (status == PAWL_OK)
        result = find_result(run, run->mail, run->mail_count, &results);
    if (status == PAWL_OK && !result && run->mail_count >= PAWL_CLAIM_MAIL_MAX)
        status = find_result_behind(run, &results, &result);
    *found = result != NULL;
    return result && result != run->mail ? put_first(run, result) : status;
}
