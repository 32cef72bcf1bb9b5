/* SPDX-License-Identifier: Apache-2.0 */
/* Starting, resuming, cancelling, deleting an instance, and waiting for its end. */
#include "embed/embed.h"

#include "base/error.h"

#include <stdio.h>

/* Between looks at an instance that somebody else runs: from, doubled, to. */
#define LOOK_MS_MIN 1
#define LOOK_MS_MAX 100

_Static_assert((int)PAWL_INSTANCE_PENDING == (int)PAWL_SUB_PENDING &&
                   (int)PAWL_INSTANCE_EXECUTING == (int)PAWL_SUB_EXECUTING &&
                   (int)PAWL_INSTANCE_SUSPENDED == (int)PAWL_SUB_SUSPENDED &&
                   (int)PAWL_INSTANCE_FINISHED == (int)PAWL_SUB_FINISHED &&
                   (int)PAWL_INSTANCE_CANCELLED == (int)PAWL_SUB_CANCELLED &&
                   (int)PAWL_INSTANCE_FAULTED == (int)PAWL_SUB_FAULTED &&
                   (int)PAWL_INSTANCE_INTERRUPTED == (int)PAWL_SUB_INTERRUPTED,
               "statuses are told as they are");
_Static_assert(PAWL_INSTANCE_ID_SIZE == PAWL_INSTANCE_ID_MAX + 1, "ids fit");

const char *pawl_instance_status_name(enum pawl_instance_status status)
{
    if ((unsigned)status > PAWL_INSTANCE_INTERRUPTED)
        return "?";
    return pawl__sub_status_name((enum pawl_sub_status)status);
}

int pawl_instance_status_is_final(enum pawl_instance_status status)
{
    return pawl__sub_status_is_final((enum pawl_sub_status)status) ? 1 : 0;
}

enum pawl_instance_status pawl__embed_status(struct pawl_str name)
{
    for (unsigned i = 0; i <= PAWL_INSTANCE_INTERRUPTED; i++) {
        if (pawl__str_is(name, pawl__sub_status_name((enum pawl_sub_status)i)))
            return (enum pawl_instance_status)i;
    }
    return PAWL_INSTANCE_EXECUTING;
}

int pawl__embed_check_instance(const struct pawl *pawl, const char *instance_id,
                               struct pawl_error *err)
{
    int status = pawl__embed_check_text(pawl, instance_id, "the instance's id", err);

    if (status == PAWL_OK && strlen(instance_id) >= PAWL_INSTANCE_ID_SIZE)
        status = pawl__error_set(err, PAWL_EINVAL, "an instance's id has at most %d bytes",
                                 PAWL_INSTANCE_ID_SIZE - 1);
    return status;
}

static void answer(const struct pawl_outcome *outcome, struct pawl_instance_outcome *out)
{
    if (!out)
        return;
    *out = (struct pawl_instance_outcome){
        .status = (enum pawl_instance_status)outcome->sub_status,
        .incident_count = outcome->incident_count,
        .bookmark_count = outcome->bookmark_count,
        .existed = outcome->existed,
    };
    memcpy(out->instance_id, outcome->instance_id, sizeof out->instance_id);
}

/* ---- starting and resuming ----------------------------------------------------------------- */

static int check_start(const struct pawl *pawl, const struct pawl_start_options *start,
                       struct pawl_error *err)
{
    int status = pawl__embed_check(pawl, err);

    if (status == PAWL_OK && !start)
        status = pawl__error_set(err, PAWL_EINVAL, "nothing says what to start");
    if (status == PAWL_OK)
        status = pawl__embed_check_text(pawl, start->definition_id, "the definition's id", err);
    if (status == PAWL_OK && start->instance_id && *start->instance_id)
        status = pawl__embed_check_instance(pawl, start->instance_id, err);
    if (status == PAWL_OK)
        status = pawl__embed_check_utf8(start->correlation_id, "the correlation id", err);
    if (status == PAWL_OK)
        status = pawl__embed_check_utf8(start->name, "the instance's name", err);
    if (status == PAWL_OK)
        status = pawl__embed_check_utf8(start->idempotency_key, "the idempotency key", err);
    return status;
}

int pawl_instance_start(struct pawl *pawl, const struct pawl_start_options *start,
                        struct pawl_instance_outcome *out, struct pawl_error *err)
{
    struct pawl_outcome outcome = {0};
    struct pawl_arena arena;
    struct pawl_start what;
    int status = check_start(pawl, start, err);

    if (status != PAWL_OK)
        return status;
    what = (struct pawl_start){
        .definition_id = pawl__str(start->definition_id),
        .instance_id = pawl__str(start->instance_id),
        .correlation_id = pawl__str(start->correlation_id),
        .name = pawl__str(start->name),
        .idempotency_key = pawl__str(start->idempotency_key),
    };
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    status = pawl__embed_parse_object(&arena, start->input, "the input", &what.input, err);
    if (status == PAWL_OK) {
        int64_t deadline_ns = pawl__embed_deadline(pawl);

        status = start->detached
                     ? pawl__runtime_create(pawl->runtime, &what, &outcome, deadline_ns, err)
                     : pawl__runtime_start(pawl->runtime, &what, &outcome, deadline_ns, err);
    }
    pawl__arena_release(&arena);
    if (status == PAWL_OK)
        answer(&outcome, out);
    return status;
}

int pawl_instance_resume(struct pawl *pawl, const char *instance_id, const char *bookmark_id,
                         const char *input, struct pawl_instance_outcome *out,
                         struct pawl_error *err)
{
    struct pawl_run run = {.bookmark_id = pawl__str(bookmark_id)};
    struct pawl_outcome outcome = {0};
    struct pawl_arena arena;
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK)
        status = pawl__embed_check_utf8(bookmark_id, "the bookmark's id", err);
    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    status = pawl__embed_parse_object(&arena, input, "the input", &run.input, err);
    if (status == PAWL_OK)
        status = pawl__runtime_run(pawl->runtime, pawl__str(instance_id), &run, &outcome,
                                   pawl__embed_deadline(pawl), err);
    pawl__arena_release(&arena);
    if (status == PAWL_OK)
        answer(&outcome, out);
    return status;
}

int pawl_instance_cancel(struct pawl *pawl, const char *instance_id, struct pawl_error *err)
{
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK)
        status = pawl__runtime_cancel(pawl->runtime, pawl__str(instance_id),
                                      pawl__embed_deadline(pawl), err);
    return status;
}

int pawl_instance_delete(struct pawl *pawl, const char *instance_id, struct pawl_error *err)
{
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK)
        status = pawl__runtime_delete(pawl->runtime, pawl__str(instance_id),
                                      pawl__embed_deadline(pawl), err);
    return status;
}

/* ---- waiting ------------------------------------------------------------------------------- */

/* One look: how the instance is, and whether it has ended. */
static int look(struct pawl *pawl, const char *instance_id, struct pawl_instance_outcome *out,
                struct pawl_error *err)
{
    struct pawl_condition condition = {.column =
                                           pawl_table_column(PAWL_TABLE_BOOKMARKS, "instance_id"),
                                       .value = {.text = pawl__str(instance_id)}};
    const struct pawl_query bookmarks = {.table = PAWL_TABLE_BOOKMARKS,
                                         .flags = PAWL_QUERY_COUNT,
                                         .conditions = &condition,
                                         .condition_count = 1};
    struct pawl_instance_row row;
    struct pawl_rows rows = {0};
    struct pawl_arena arena;
    int status;

    pawl__arena_init(&arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    status = pawl__runtime_show(pawl->runtime, pawl__str(instance_id), &arena, &row, NULL,
                                pawl__embed_deadline(pawl), err);
    if (status == PAWL_OK)
        status = pawl_store_find(pawl->store, &bookmarks, &arena, &rows, pawl__embed_deadline(pawl),
                                 err);
    if (status == PAWL_OK) {
        *out = (struct pawl_instance_outcome){
            .status = pawl__embed_status(row.sub_status),
            .incident_count = row.incident_count,
            .bookmark_count = (int64_t)rows.total,
        };
        (void)snprintf(out->instance_id, sizeof out->instance_id, "%s", instance_id);
    }
    pawl__arena_release(&arena);
    return status;
}

/* Until there may be something new to see: does work, or sleeps. */
static int pass_time(struct pawl *pawl, struct pawl_work_done *done, int64_t *pause_ms,
                     struct pawl_error *err)
{
    int status = PAWL_OK;

    done->count = 0;
    done->next_due_ms = INT64_MAX;
    if (!pawl->duty)
        status = pawl_work(pawl, 0, done, err);
    if (status != PAWL_OK || done->count > 0) {
        *pause_ms = LOOK_MS_MIN;
        return status;
    }
    /* Whoever else may run it tells nobody that it ended: so no wait is long. */
    status = pawl_work_wait(pawl, done, *pause_ms, err);
    if (*pause_ms < LOOK_MS_MAX)
        *pause_ms *= 2;
    return status == PAWL_ETIMEDOUT ? PAWL_OK : status;
}

int pawl_instance_wait(struct pawl *pawl, const char *instance_id, int64_t timeout_ms,
                       struct pawl_instance_outcome *out, struct pawl_error *err)
{
    struct pawl_work_done done = {0};
    struct pawl_instance_outcome seen = {0};
    int64_t until_ns, pause_ms = LOOK_MS_MIN;
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status != PAWL_OK)
        return status;
    until_ns = pawl__embed_after_ms(pawl, timeout_ms);
    for (;;) {
        status = look(pawl, instance_id, &seen, err);
        if (status != PAWL_OK || pawl_instance_status_is_final(seen.status))
            break;
        if (pawl_env_monotonic_ns(pawl->env) >= until_ns)
            return pawl__error_set(err, PAWL_ETIMEDOUT, "instance %s is still %s after %lld ms",
                                   instance_id, pawl_instance_status_name(seen.status),
                                   (long long)timeout_ms);
        status = pass_time(pawl, &done, &pause_ms, err);
        if (status != PAWL_OK)
            break;
    }
    if (status == PAWL_OK && out)
        *out = seen;
    return status;
}
