/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reply to the request of a burst, as part of a commit (docs/design/0018-http-endpoints.md).
 *
 * The commit that has the reply decides. Where the receiver is this node the reply leaves after it,
 * and no row is written; for another node's the commit inserts a row. A request with a key has its
 * reply stored, for whoever sends it again.
 */
#include "base/error.h"
#include "base/http_message.h"
#include "engine/builder.h"
#include "runtime/bytes.h"
#include "runtime/instance/making.h"
#include "runtime/node/replies.h"
#include "runtime/task.h"

/* How long the reply to a request with a key is kept: a day. */
#define KEY_US INT64_C(86400000000)
/* Of a reply that is kept for its key. Of a larger one it is kept that there was one. */
#define KEPT_BYTES_MAX ((size_t)1 << 20)

/* Processor time that a reply waits for the rest of its burst: what a client asks for next is then
 * there, such as the next endpoint, and it is one commit. */
#define REPLY_NS INT64_C(5000000)

/* Not by the time of day: a node that stands still must not tear apart what belongs together. */
bool pawl__run_is_reply_late(void *ctx)
{
    struct runtime_run *run = ctx;
    int64_t now_ns = pawl_env_processor_ns(run->runtime->env);

    if (run->replied_ns == 0)
        run->replied_ns = now_ns;
    if (now_ns - run->replied_ns < REPLY_NS)
        return false;
    run->replied_ns = 0;
    return true;
}

static const struct pawl_json *request_of(const struct making *m)
{
    const struct pawl_json *request =
        m->run->burst ? pawl__burst_input(m->run->burst, PAWL_HTTP_REQUEST_INPUT) : NULL;

    return pawl__json_is(request, PAWL_JSON_OBJECT) ? request : NULL;
}

bool pawl__making_has_request(const struct making *m)
{
    const struct pawl_json *request = request_of(m);

    return request && !pawl__json_true(pawl__json_get_text(request, PAWL_HTTP_REPLIED));
}

/* What is kept; `reply` NULL: it is too large. */
static struct pawl_str kept_text(struct making *m, const struct pawl_json *request,
                                 const struct pawl_json *reply)
{
    const struct pawl_json *demands = pawl__json_get_text(request, PAWL_HTTP_DEMANDS);
    struct pawl_builder b = {.arena = m->arena};
    struct pawl_json kept = pawl__json_object();

    pawl__build_text(&b, &kept, PAWL_HTTP_FINGERPRINT,
                     runtime_text(request, PAWL_HTTP_FINGERPRINT));
    if (demands)
        pawl__build(&b, &kept, PAWL_HTTP_DEMANDS, *demands);
    if (reply)
        pawl__build(&b, &kept, PAWL_HTTP_REPLY, *reply);
    pawl__making_fail(m, b.status);
    return pawl__making_text(m, &kept);
}

/* For whoever sends the same request again. */
static void keep_reply(struct making *m, const struct pawl_json *request,
                       const struct pawl_json *reply)
{
    struct pawl_str key = runtime_text(request, PAWL_HTTP_KEY);
    struct pawl_reservation_row row = {.expires_us = m->now_us + KEY_US};

    if (key.len == 0)
        return;
    row.key = pawl__reply_kept_key(m->arena, key);
    row.value = kept_text(m, request, reply);
    if (row.value.len > KEPT_BYTES_MAX)
        row.value = kept_text(m, request, NULL);
    if (row.key.len == 0)
        pawl__making_fail(m, pawl__arena_status(m->arena));
    /* The first one counts. */
    pawl__runtime_change(&m->changes, PAWL_CHANGE_ADD, PAWL_TABLE_RESERVATIONS, &row);
}

void pawl__making_reply(struct making *m, const struct pawl_json *reply)
{
    const struct pawl_json *request = request_of(m);
    struct pawl_str address = runtime_text(request, PAWL_HTTP_REPLY_TO);

    keep_reply(m, request, reply);
    switch (pawl__replies_way(m->run->runtime, address)) {
    case PAWL_REPLY_HERE:
        m->reply_to = address;
        m->reply = reply;
        break;
    case PAWL_REPLY_ELSEWHERE:
        pawl__reply_add_row(m->run->runtime, &m->changes, address, reply, m->now_us);
        break;
    case PAWL_REPLY_NOBODY:
        break;
    }
}

/* ---- without a reply ----------------------------------------------------------------------- */

static bool is_timeout(struct pawl_str type)
{
    return pawl__str_is(type, "OperationCanceledException") ||
           pawl__str_is(type, "TaskCanceledException") || pawl__str_is(type, "TimeoutException");
}

/* By what went wrong, as Elsa does it. */
static int64_t status_of(const struct making *m)
{
    const struct pawl_json *incidents = pawl__json_get_text(&m->state, "incidents");
    bool is_bad = false;

    for (uint32_t i = 0; i < pawl__json_len(incidents); i++) {
        struct pawl_str type =
            runtime_text(pawl__json_get_text(pawl__json_at(incidents, i), "exception"), "type");

        if (is_timeout(type))
            return 408;
        is_bad |= pawl__str_is(type, "HttpBadRequestException");
    }
    if (is_bad)
        return 400;
    if (pawl__json_len(incidents) > 0 || pawl__str_is(m->row.sub_status, "Cancelled"))
        return 500;
    return 200;
}

void pawl__making_end_request(struct making *m)
{
    struct pawl_builder b = {.arena = m->arena};
    struct pawl_json *reply;

    if (!m->over || !pawl__making_has_request(m) || m->changes.status != PAWL_OK)
        return;
    reply = pawl__arena_alloc(m->arena, sizeof *reply);
    if (!reply) {
        pawl__making_fail(m, pawl__arena_status(m->arena));
        return;
    }
    *reply = pawl__json_object();
    pawl__build_int(&b, reply, PAWL_HTTP_STATUS, status_of(m));
    pawl__making_fail(m, b.status);
    if (b.status == PAWL_OK)
        pawl__making_reply(m, reply);
}

void pawl__making_send_reply(struct making *m)
{
    if (m->reply_to.len > 0)
        pawl__replies_deliver(m->run->runtime, m->reply_to, m->reply);
    m->reply_to = pawl__str("");
}

/* ---- requests that nobody takes ------------------------------------------------------------ */

struct runtime_refusal {
    struct runtime_refusal *next;
    struct pawl_str address;
};

static int make_refusal(struct pawl_arena *arena, struct pawl_json *reply)
{
    struct pawl_builder b = {.arena = arena};

    *reply = pawl__json_object();
    pawl__build_int(&b, reply, PAWL_HTTP_STATUS, 404);
    return b.status;
}

/* Nothing was done for it: who sends the request again, later, may use its key. */
static void free_key(struct runtime_run *run, struct runtime_changes *changes,
                     const struct pawl_work_row *mail, const struct pawl_json *request)
{
    struct pawl_str key = runtime_text(request, PAWL_HTTP_KEY);
    struct pawl_reservation_row row = {.instance_id = pawl__str("")};

    /* Not when it is about to expire: whoever purges it then must not meet a new one. */
    if (key.len == 0 || pawl__runtime_now_us(run) >= mail->created_us + KEY_US / 2)
        return;
    row.key = pawl__str(
        pawl__arena_printf(changes->arena, RUNTIME_STIMULUS_KEY "%.*s", PAWL_STR_ARG(key)));
    if (row.key.len == 0)
        changes->status = pawl__arena_status(changes->arena);
    else
        pawl__runtime_change(changes, PAWL_CHANGE_DELETE, PAWL_TABLE_RESERVATIONS, &row);
}

int pawl__runtime_refuse_request(struct runtime_run *run, struct runtime_changes *changes,
                                 const struct pawl_work_row *mail, bool *is_request)
{
    struct runtime_refusal *refusal;
    const struct pawl_json *request;
    struct pawl_json payload, reply;
    int status;

    *is_request = false;
    if (!pawl__str_is(mail->kind, PAWL_WORK_RESUME) || mail->hash.len == 0)
        return PAWL_OK;
    status =
        pawl__runtime_json_read(run->runtime, &run->arena, mail->payload, &payload, run->task->err);
    if (status != PAWL_OK)
        return status;
    request = pawl__json_get_text(pawl__json_get_text(&payload, "input"), PAWL_HTTP_REQUEST_INPUT);
    if (!pawl__json_true(pawl__json_get_text(&payload, RUNTIME_IS_REQUEST)) ||
        !pawl__json_is(request, PAWL_JSON_OBJECT))
        return PAWL_OK;
    *is_request = true;
    refusal = pawl__arena_alloc(&run->arena, sizeof *refusal);
    if (!refusal || make_refusal(&run->arena, &reply) != PAWL_OK)
        return pawl__error_code(run->task->err, pawl__arena_status(&run->arena));
    *refusal = (struct runtime_refusal){.next = run->refusals,
                                        .address = runtime_text(request, PAWL_HTTP_REPLY_TO)};
    pawl__runtime_delete_work(changes, mail->id);
    free_key(run, changes, mail, request);
    if (pawl__replies_way(run->runtime, refusal->address) == PAWL_REPLY_ELSEWHERE)
        pawl__reply_add_row(run->runtime, changes, refusal->address, &reply,
                            pawl__runtime_now_us(run));
    else
        run->refusals = refusal;
    return PAWL_OK;
}

void pawl__runtime_send_refusals(struct runtime_run *run)
{
    struct pawl_json reply;

    if (!run->refusals || make_refusal(&run->arena, &reply) != PAWL_OK)
        return;
    for (struct runtime_refusal *at = run->refusals; at; at = at->next)
        pawl__replies_deliver(run->runtime, at->address, &reply);
    run->refusals = NULL;
}
