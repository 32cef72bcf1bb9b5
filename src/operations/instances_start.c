/* SPDX-License-Identifier: Apache-2.0 */
/* Starting instances, and going on with one. */
#include "operations/instances_private.h"

#include "base/error.h"
#include "base/hash/sha256.h"
#include "base/json/builder.h"
#include "host/features.h"
#include "host/host.h"

/* Of a fingerprint: so many that two starts never have the same by chance. */
#define FINGERPRINT_DIGITS 32
/* What is asked for, as JSON, for its fingerprint. */
#define ASKED_BYTES_MAX ((size_t)128 << 20)

int op_client(const struct pawl_op *op, struct pawl_str instance_id,
              struct pawl_workflow_client **out)
{
    return pawl__workflow_runtime_client(pawl__host_get(op->host, PAWL_SLOT_RUNTIME), instance_id,
                                         out, op->err);
}

int op_add_state(const struct pawl_op *op, bool with_state, const struct pawl_left *left,
                 struct pawl_instance_result *result)
{
    struct pawl_instance_shown shown;
    struct pawl_str id = pawl__str(result->outcome.instance_id);
    int status;

    result->state = pawl__json_null();
    result->row = (struct pawl_instance_row){0};
    if (!with_state || result->outcome.refused)
        return PAWL_OK;
    if (left && left->is_known) {
        result->row = left->row;
        result->state = left->state;
        return PAWL_OK;
    }
    status = pawl__op_instance_show(op, id, true, &shown);
    if (status == PAWL_OK) {
        result->row = shown.row;
        result->state = shown.state;
    }
    return status;
}

/* By its version's id, unless the published one is meant: the cache knows that. */
static int choose_version(const struct pawl_op *op, const struct pawl_instance_start *request,
                          struct pawl_start *what)
{
    struct pawl_definition_row row;
    int status;

    if (what->definition_id.len == 0 && what->version_id.len == 0)
        return pawl__error_set(op->err, PAWL_EINVAL, "no definition to start is given");
    if (what->version_id.len > 0 || request->version.pick == PAWL_VERSIONS_DEFAULT ||
        request->version.pick == PAWL_VERSIONS_PUBLISHED)
        return PAWL_OK;
    status =
        pawl__definitions_find(op_definitions(op), what->definition_id, request->version.pick,
                               request->version.number, op->arena, &row, op->deadline_ns, op->err);
    if (status == PAWL_OK)
        what->version_id = row.id;
    return status;
}

static int check_object(const struct pawl_op *op, const struct pawl_json *value, const char *what)
{
    if (pawl__json_is(value, PAWL_JSON_OBJECT) || pawl__json_is(value, PAWL_JSON_NULL))
        return PAWL_OK;
    return pawl__error_set(op->err, PAWL_EINVAL, "%s must be an object, not %s", what,
                           pawl__json_type_name(value));
}

/* One that was there before, by its key, is as it stands now. */
static int tell_existing(const struct pawl_op *op, const struct pawl_start *what,
                         struct pawl_outcome *out)
{
    struct pawl_instance_shown shown;
    int status;

    if (what->instance_id.len > 0 && !pawl__str_is(what->instance_id, out->instance_id))
        return pawl__error_set(op->err, PAWL_ECONFLICT,
                               "the key %.*s was used for instance %s: use another key",
                               PAWL_STR_ARG(what->idempotency_key), out->instance_id);
    status = pawl__op_instance_show(op, pawl__str(out->instance_id), false, &shown);

    /* Its key is remembered longer than it may be kept. */
    if (status == PAWL_ENOTFOUND)
        return PAWL_OK;
    if (status == PAWL_OK) {
        (void)pawl__sub_status_parse(shown.row.sub_status, &out->sub_status);
        out->incident_count = shown.row.incident_count;
    }
    return status;
}

/*
 * What tells a start from another one with the same key: a hash of what runs, and with what. The
 * instance's id and whether it is waited for are not part of it: a caller may leave them out when
 * asking again. `many` is how many one call starts, or 0.
 */
static int fingerprint(const struct pawl_op *op, const struct pawl_instance_start *request,
                       uint32_t many, struct pawl_str *out)
{
    const struct pawl_start *what = &request->what;
    struct pawl_builder b = {.arena = op->arena};
    struct pawl_json asked = pawl__json_object();
    struct pawl_buf text;
    char digest[PAWL_SHA256_TEXT_SIZE];
    int status;

    pawl__build_text(&b, &asked, "definitionId", what->definition_id);
    pawl__build_text(&b, &asked, "versionId", what->version_id);
    pawl__build_int(&b, &asked, "pick", request->version.pick);
    pawl__build_int(&b, &asked, "number", request->version.number);
    pawl__build_text(&b, &asked, "correlationId", what->correlation_id);
    pawl__build_text(&b, &asked, "name", what->name);
    pawl__build_text(&b, &asked, "parentId", what->parent_id);
    pawl__build_text(&b, &asked, "triggerActivityId", what->trigger_activity_id);
    pawl__build_text(&b, &asked, "activityId", what->activity_id);
    pawl__build(&b, &asked, "input", what->input);
    pawl__build(&b, &asked, "variables", what->variables);
    pawl__build_int(&b, &asked, "many", many);
    if (b.status != PAWL_OK)
        return pawl__error_code(op->err, b.status);
    pawl__buf_init(&text, &op_env(op)->alloc, ASKED_BYTES_MAX);
    pawl__json_write(&text, &asked, 0);
    status = text.status;
    if (status == PAWL_OK) {
        pawl__sha256_text(pawl__buf_peek(&text), PAWL_HEX_LOWER, digest);
        *out = pawl__arena_str(op->arena, pawl__str_make(digest, FINGERPRINT_DIGITS));
        status = out->ptr ? PAWL_OK : pawl__arena_status(op->arena);
    }
    pawl__buf_release(&text);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(op->err, status);
}

int op_start(const struct pawl_op *op, const struct pawl_instance_start *request, bool unattended,
             struct pawl_left *left, struct pawl_outcome *out)
{
    struct pawl_workflow_client *client = NULL;
    struct pawl_start what = request->what;
    struct pawl_outcome outcome = {0};
    int status = check_object(op, &what.input, "inputs");

    what.unattended = unattended;
    what.left = left;
    if (status == PAWL_OK)
        status = check_object(op, &what.variables, "variables");
    if (status == PAWL_OK && what.idempotency_key.len > 0 && what.fingerprint.len == 0)
        status = fingerprint(op, request, 0, &what.fingerprint);
    if (status == PAWL_OK)
        status = choose_version(op, request, &what);
    if (status == PAWL_OK)
        status = op_client(op, what.instance_id, &client);
    if (status == PAWL_OK)
        status = request->detached ? pawl__workflow_client_create(client, &what, &outcome,
                                                                  op->deadline_ns, op->err)
                                   : pawl__workflow_client_create_and_run(client, &what, &outcome,
                                                                          op->deadline_ns, op->err);
    pawl__workflow_client_close(client);
    if (status == PAWL_OK && outcome.existed)
        status = tell_existing(op, &what, &outcome);
    if (status == PAWL_OK)
        *out = outcome;
    return status;
}

int op_tell_begun(const struct pawl_op *op, const char *instance_id, int status)
{
    return pawl__error_after_commit(op->err, status, "instance %s was started", instance_id);
}

int pawl__op_instance_start(const struct pawl_op *op, const struct pawl_instance_start *request,
                            struct pawl_instance_result *out)
{
    struct pawl_instance_result result;
    struct pawl_left left = {.arena = op->arena};
    int status = op_start(op, request, false, request->with_state ? &left : NULL, &result.outcome);

    if (status == PAWL_OK)
        status = op_tell_begun(op, result.outcome.instance_id,
                               op_add_state(op, request->with_state, &left, &result));
    if (status == PAWL_OK)
        *out = result;
    return status;
}

/* One of many: each has a key of its own, so that a second call makes those that lack. */
static int dispatch_one(const struct pawl_op *op, struct pawl_instance_start *each,
                        struct pawl_str key, uint32_t number, struct pawl_str *id)
{
    char *room = pawl__arena_alloc(op->arena, PAWL_INSTANCE_ID_MAX + 1); /* before it is made */
    struct pawl_outcome outcome;
    int status;

    if (!room)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    if (key.len > 0) {
        each->what.idempotency_key =
            pawl__str(pawl__arena_printf(op->arena, "many:%u:%.*s", number, PAWL_STR_ARG(key)));
        if (each->what.idempotency_key.len == 0)
            return pawl__error_code(op->err, pawl__arena_status(op->arena));
    }
    status = op_start(op, each, true, NULL, &outcome);
    if (status == PAWL_OK && outcome.refused)
        return pawl__error_set(op->err, PAWL_ECONFLICT,
                               "the activation strategy allows no more instances than the "
                               "%u that were created",
                               number);
    if (status != PAWL_OK)
        return status;
    *id = pawl__str_make(room, strlen(outcome.instance_id));
    memcpy(room, outcome.instance_id, id->len + 1);
    return PAWL_OK;
}

int pawl__op_instances_dispatch(const struct pawl_op *op, const struct pawl_instance_start *request,
                                uint32_t number, struct pawl_str **ids, uint32_t *count)
{
    struct pawl_instance_start each = *request;
    struct pawl_str *made;
    uint32_t made_count = 0;
    int status = PAWL_OK;

    *count = 0;
    if (number > PAWL_DISPATCH_MAX)
        return pawl__error_set(op->err, PAWL_EINVAL, "at most %u instances at a time, not %u",
                               PAWL_DISPATCH_MAX, number);
    if (request->what.instance_id.len > 0)
        return pawl__error_set(op->err, PAWL_EINVAL,
                               "an id is for one instance only, not for several");
    made = pawl__arena_alloc_array(op->arena, (size_t)number + 1, sizeof *made);
    if (!made)
        return pawl__error_code(op->err, pawl__arena_status(op->arena));
    each.detached = true;
    if (request->what.idempotency_key.len > 0)
        status = fingerprint(op, &each, number, &each.what.fingerprint);
    while (made_count < number && status == PAWL_OK) {
        status =
            dispatch_one(op, &each, request->what.idempotency_key, made_count, &made[made_count]);
        made_count += status == PAWL_OK;
    }
    *ids = made;
    *count = made_count;
    return status;
}

int pawl__op_instance_resume(const struct pawl_op *op, struct pawl_str instance_id,
                             const struct pawl_run *request, bool with_state,
                             struct pawl_instance_result *out)
{
    struct pawl_workflow_client *client = NULL;
    struct pawl_instance_result result = {.outcome = {.existed = false}};
    int status = check_object(op, &request->input, "inputs");

    if (status == PAWL_OK)
        status = check_object(op, &request->variables, "variables");
    if (status == PAWL_OK)
        status = op_client(op, instance_id, &client);
    if (status == PAWL_OK)
        status =
            pawl__workflow_client_run(client, request, &result.outcome, op->deadline_ns, op->err);
    pawl__workflow_client_close(client);
    if (status == PAWL_OK)
        status = pawl__error_after_commit(op->err, op_add_state(op, with_state, NULL, &result),
                                          "instance %.*s was resumed", PAWL_STR_ARG(instance_id));
    if (status == PAWL_OK)
        *out = result;
    return status;
}
