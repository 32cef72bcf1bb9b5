/* SPDX-License-Identifier: Apache-2.0 */
/* Starting, resuming, cancelling, deleting an instance, and waiting for its end. */
#include "embed/embed.h"

#include "base/alloc.h"
#include "base/error.h"
#include "operations/waits.h"

#include <string.h>

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
    enum pawl_sub_status status = PAWL_SUB_EXECUTING;

    (void)pawl__sub_status_parse(name, &status);
    return (enum pawl_instance_status)status;
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

void pawl__embed_outcome(const struct pawl_outcome *outcome, struct pawl_instance_outcome *out)
{
    if (!out)
        return;
    *out = (struct pawl_instance_outcome){
        .status = (enum pawl_instance_status)outcome->sub_status,
        .incident_count = outcome->incident_count,
        .bookmark_count = outcome->bookmark_count,
        .existed = outcome->existed,
        .refused = outcome->refused,
    };
    memcpy(out->instance_id, outcome->instance_id, sizeof out->instance_id);
}

/* ---- starting and resuming ----------------------------------------------------------------- */

static int check_start(const struct pawl *pawl, const struct pawl_start_options *start,
                       struct pawl_error *err)
{
    const struct embed_text texts[] = {
        {start->definition_id, "the definition's id"},
        {start->correlation_id, "the correlation id"},
        {start->name, "the instance's name"},
        {start->idempotency_key, "the idempotency key"},
        {start->version_id, "the version's id"},
        {start->activity_id, "the activity's id"},
        {start->parent_id, "the parent's id"},
    };
    int status = pawl__embed_check(pawl, err);

    if (status == PAWL_OK && !(start->version_id && *start->version_id))
        status = pawl__embed_check_text(pawl, start->definition_id, "the definition's id", err);
    if (status == PAWL_OK && start->instance_id && *start->instance_id)
        status = pawl__embed_check_instance(pawl, start->instance_id, err);
    return status == PAWL_OK ? pawl__embed_check_texts(texts, sizeof texts / sizeof texts[0], err)
                             : status;
}

int pawl_instance_start(struct pawl *pawl, const struct pawl_start_options *start,
                        struct pawl_instance_outcome *out, struct pawl_error *err)
{
    struct pawl_error why = PAWL_ERROR_INIT;
    struct pawl_instance_start request;
    struct pawl_instance_result result;
    struct embed_call call;
    int status;

    if (!start)
        return pawl__error_set(err, PAWL_EINVAL, "nothing says what to start");
    status = check_start(pawl, start, err);
    /* That a key was used is a failure on the way, and none to the caller. */
    if (status == PAWL_OK)
        status = pawl__embed_begin(&call, pawl, &why);
    if (status != PAWL_OK)
        return status;
    request = (struct pawl_instance_start){
        .what = {.definition_id = pawl__str(start->definition_id),
                 .version_id = pawl__str(start->version_id),
                 .instance_id = pawl__str(start->instance_id),
                 .correlation_id = pawl__str(start->correlation_id),
                 .name = pawl__str(start->name),
                 .parent_id = pawl__str(start->parent_id),
                 .activity_id = pawl__str(start->activity_id),
                 .idempotency_key = pawl__str(start->idempotency_key),
                 .judged = start->judged != 0},
        .detached = start->detached != 0,
    };
    status = pawl__embed_version(start->version, PAWL_VERSIONS_PUBLISHED, &request.version, &why);
    if (status == PAWL_OK)
        status = pawl__embed_parse_object(&call.arena, start->input, "the input",
                                          &request.what.input, &why);
    if (status == PAWL_OK)
        status = pawl__embed_parse_object(&call.arena, start->variables, "the variables",
                                          &request.what.variables, &why);
    if (status == PAWL_OK)
        status = pawl__op_instance_start(&call.op, &request, &result);
    status = pawl__embed_end(&call, status);
    if (status == PAWL_OK)
        pawl__embed_outcome(&result.outcome, out);
    else if (err)
        *err = why;
    return status;
}

int pawl_instance_resume(struct pawl *pawl, const char *instance_id, const char *bookmark_id,
                         const char *input, struct pawl_instance_outcome *out,
                         struct pawl_error *err)
{
    struct pawl_run run = {.bookmark_id = pawl__str(bookmark_id)};
    struct pawl_instance_result result;
    struct embed_call call;
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK)
        status = pawl__text_check_utf8(bookmark_id, "the bookmark's id", err);
    if (status == PAWL_OK)
        status = pawl__embed_begin(&call, pawl, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__embed_parse_object(&call.arena, input, "the input", &run.input, err);
    if (status == PAWL_OK)
        status = pawl__op_instance_resume(&call.op, pawl__str(instance_id), &run, false, &result);
    if (status == PAWL_OK)
        pawl__embed_outcome(&result.outcome, out);
    return pawl__embed_end(&call, status);
}

/* ---- ending -------------------------------------------------------------------------------- */

int pawl_instance_cancel(struct pawl *pawl, const char *instance_id, struct pawl_error *err)
{
    struct embed_call call;
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK)
        status = pawl__embed_begin(&call, pawl, err);
    if (status != PAWL_OK)
        return status;
    return pawl__embed_end(&call,
                           pawl__op_instance_cancel(&call.op, pawl__str(instance_id), false, NULL));
}

int pawl_instance_delete(struct pawl *pawl, const char *instance_id, struct pawl_error *err)
{
    struct embed_call call;
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK)
        status = pawl__embed_begin(&call, pawl, err);
    if (status != PAWL_OK)
        return status;
    return pawl__embed_end(&call, pawl__op_instance_delete(&call.op, pawl__str(instance_id)));
}

/* ---- waiting ------------------------------------------------------------------------------- */

/* What has ended waits for nothing: it has no bookmarks. */
static void copy_row(const struct pawl_instance_row *row, struct pawl_instance_outcome *out)
{
    *out = (struct pawl_instance_outcome){
        .status = pawl__embed_status(row->sub_status),
        .incident_count = row->incident_count,
    };
    memcpy(out->instance_id, row->id.ptr, row->id.len);
}

int pawl_instance_wait(struct pawl *pawl, const char *instance_id, int64_t timeout_ms,
                       struct pawl_instance_outcome *out, struct pawl_error *err)
{
    struct pawl_instance_row row;
    struct embed_call call;
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK)
        status = pawl__embed_begin(&call, pawl, err);
    if (status != PAWL_OK)
        return status;
    call.op.deadline_ns = pawl__embed_after_ms(pawl, timeout_ms);
    status = pawl__op_instance_wait(&call.op, pawl__str(instance_id), PAWL_WAIT_ENDED, !pawl->duty,
                                    &row);
    if (status == PAWL_OK && out)
        copy_row(&row, out);
    return pawl__embed_end(&call, status);
}

/* A wait under way, with the program's completion. */
struct waiting {
    struct pawl_env *env; /* the struct pawl may be one of a caller, and closed before */
    void (*done)(void *ctx, int status, const struct pawl_instance_outcome *outcome,
                 const struct pawl_error *err);
    void *ctx;
};

static void pass_end(void *ctx, int status, const struct pawl_instance_result *result,
                     const struct pawl_error *err)
{
    static const struct pawl_error none = PAWL_ERROR_INIT;
    struct pawl_instance_outcome outcome;
    struct waiting *waiting = ctx;

    if (result)
        pawl__embed_outcome(&result->outcome, &outcome);
    waiting->done(waiting->ctx, status, result ? &outcome : NULL, err ? err : &none);
    pawl__free(&waiting->env->alloc, waiting, sizeof *waiting);
}

int pawl_instance_await(struct pawl *pawl, const char *instance_id, int64_t timeout_ms,
                        void (*done)(void *ctx, int status,
                                     const struct pawl_instance_outcome *outcome,
                                     const struct pawl_error *err),
                        void *ctx, struct pawl_error *err)
{
    struct waiting *waiting;
    struct embed_call call;
    int status = pawl__embed_check_instance(pawl, instance_id, err);

    if (status == PAWL_OK && !done)
        status = pawl__error_set(err, PAWL_EINVAL, "no function to call is given");
    if (status == PAWL_OK)
        status = pawl__embed_begin(&call, pawl, err);
    if (status != PAWL_OK)
        return status;
    waiting = pawl__alloc_zeroed(&pawl->env->alloc, sizeof *waiting);
    if (!waiting)
        return pawl__embed_end(&call, pawl__error_code(err, PAWL_ENOMEM));
    *waiting = (struct waiting){.env = pawl->env, .done = done, .ctx = ctx};
    call.op.deadline_ns = pawl__embed_after_ms(pawl, timeout_ms);
    status = pawl__op_instance_await(&call.op, pawl__str(instance_id), PAWL_WAIT_ENDED, false,
                                     pass_end, waiting, NULL);
    status = pawl__embed_end(&call, status);
    if (status != PAWL_OK)
        pawl__free(&pawl->env->alloc, waiting, sizeof *waiting);
    return status;
}
