/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sending a stimulus: looked up, then made durable with all that it becomes, in one commit.
 *
 *     it names an instance that waits for it and is idle -> delivered by this thread
 *     its sender has found the bookmark, whose instance is idle -> the same
 *     else a look for triggers and bookmarks:
 *       one bookmark, nothing to start, an idle instance -> delivered by this thread
 *       anything else                                    -> a commit with a row for each target, or
 *                                                           one that parks
 *       the look failed                                  -> a commit with the stimulus itself,
 *                                                           matched by a worker
 *
 * Each of these commits inserts a reservation of the stimulus' id, so that one of them takes effect
 * and once, however often they are sent and whatever became of their answers. Its value says which
 * it was: who finds another's knows that its own did not and never will.
 */
#include "runtime/work/private.h"

#include "base/error.h"
#include "base/hash/checksum.h"
#include "base/stimuli.h"
#include "engine/builder.h"
#include "engine/context.h"
#include "runtime/bytes.h"
#include "runtime/instance/private.h"
#include "runtime/task.h"

#include <inttypes.h>

/* How long a caller's idempotency key is remembered: a day. */
#define KEY_US INT64_C(86400000000)
/* Of a stimulus: its id, its key, what it did. */
#define RESERVATIONS_MAX 3u

/* ---- what a keyed one did ------------------------------------------------------------------- */

/* A reservation of its own: that of the key is never changed, which tells whose commit made it. */
static struct pawl_str record_key(struct runtime_task *task, struct pawl_str stimulus_id)
{
    return pawl__str(pawl__arena_printf(&task->arena, "sent:%.*s", PAWL_STR_ARG(stimulus_id)));
}

static int make_record(struct runtime_task *task, const struct pawl_work_row *stimulus,
                       const struct pawl_sent *sent, struct pawl_reservation_row *record)
{
    struct pawl_builder b = {.arena = &task->arena};
    struct pawl_json did = pawl__json_object();

    *record = (struct pawl_reservation_row){
        .key = record_key(task, stimulus->name),
        .expires_us = stimulus->created_us + KEY_US,
    };
    pawl__build_int(&b, &did, "started", sent->started);
    pawl__build_int(&b, &did, "resumed", sent->resumed);
    pawl__build_bool(&b, &did, "parked", sent->parked);
    if (b.status == PAWL_OK)
        record->value = pawl__runtime_json_text(&task->arena, &did);
    if (b.status != PAWL_OK || record->key.len == 0 || !record->value.ptr)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    return PAWL_OK;
}

int pawl__runtime_record_sent(struct runtime_task *task, const struct pawl_work_row *stimulus,
                              struct runtime_match *match)
{
    struct pawl_reservation_row record;
    int status = make_record(task, stimulus, &match->sent, &record);

    if (status == PAWL_OK)
        pawl__runtime_change(&match->changes, PAWL_CHANGE_ADD, PAWL_TABLE_RESERVATIONS, &record);
    return status;
}

static int find_reservation(struct runtime_task *task, struct pawl_str key, struct pawl_str *value)
{
    const struct pawl_condition condition = {
        .column = pawl_table_column(PAWL_TABLE_RESERVATIONS, "key"), .value = {.text = key}};
    const struct pawl_query query = {
        .table = PAWL_TABLE_RESERVATIONS, .conditions = &condition, .condition_count = 1};
    struct pawl_rows rows;
    int status;

    *value = pawl__str("");
    if (key.len == 0)
        return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    status = pawl_store_find(task->runtime->store, &query, &task->arena, &rows, task->deadline_ns,
                             task->err);
    if (status == PAWL_OK && rows.count > 0)
        *value = ((const struct pawl_reservation_row *)rows.rows)->value;
    return status;
}

/*
 * A payload up to its traceparent, which pawl__runtime_stimulus_payload() writes last, and without
 * the brace behind it; one that has none likewise. Whoever sends an event again does so in another
 * trace.
 */
static struct pawl_str without_trace(struct pawl_str payload)
{
    static const char member[] = "\"" RUNTIME_TRACEPARENT "\":\"";
    size_t len = sizeof member - 1 + PAWL_TRACEPARENT_SIZE - 1 + 2;

    if (payload.len > len &&
        memcmp(payload.ptr + payload.len - len, member, sizeof member - 1) == 0) {
        payload.len -= len;
        return payload.ptr[payload.len - 1] == ',' ? pawl__str_slice(payload, 0, payload.len - 1)
                                                   : payload;
    }
    return pawl__str_slice(payload, 0, payload.len > 0 ? payload.len - 1 : 0);
}

/* What the reservation of a key says: the stimulus by its id, and a checksum of all that was sent
 * with it. ptr NULL: the arena's status. */
static struct pawl_str key_value(struct runtime_task *task, const struct pawl_work_row *row)
{
    const struct pawl_str parts[] = {row->hash, row->correlation_id, row->activity_instance_id,
                                     without_trace(row->payload)};
    const char *value;
    size_t len = 1;
    char *all;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        len += parts[i].len + 1;
    all = pawl__arena_alloc(&task->arena, len);
    if (!all)
        return pawl__str_make(NULL, 0);
    len = 0;
    /* As text, never packed: what one version of a library packs another may pack differently. */
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].len > 0)
            memcpy(all + len, parts[i].ptr, parts[i].len);
        len += parts[i].len;
        if (i + 1 == sizeof parts / sizeof parts[0])
            all[len++] = '}';
        all[len++] = '\n';
    }
    value = pawl__arena_printf(&task->arena, "%.*s %016" PRIx64, PAWL_STR_ARG(row->id),
                               pawl__checksum(pawl__str_make(all, len)));
    return value ? pawl__str(value) : pawl__str_make(NULL, 0);
}

/* `before` and `now` are such values; one where the first wins, or of an older version, has no
 * checksum. */
static bool is_same_event(struct pawl_str before, struct pawl_str now, struct pawl_str *id)
{
    size_t at = 0, sum = 0;

    while (at < before.len && before.ptr[at] != ' ')
        at++;
    while (sum < now.len && now.ptr[sum] != ' ')
        sum++;
    *id = pawl__str_slice(before, 0, at);
    return at == before.len || pawl__str_equal(pawl__str_slice(before, at, before.len),
                                               pawl__str_slice(now, sum, now.len));
}

/* What the stimulus with this id did; nothing yet, while it is not matched. */
static int read_record(struct runtime_task *task, struct pawl_str id, struct pawl_sent *sent)
{
    struct pawl_str value = pawl__str("");
    struct pawl_json did;
    int64_t started = 0, resumed = 0;
    int status = PAWL_OK;

    if (id.len > 0)
        status = find_reservation(task, record_key(task, id), &value);
    if (status == PAWL_OK)
        status = pawl__runtime_json_read(task->runtime, &task->arena, value, &did, task->err);
    if (status != PAWL_OK)
        return status;
    (void)pawl__json_to_int(pawl__json_get_text(&did, "started"), &started);
    (void)pawl__json_to_int(pawl__json_get_text(&did, "resumed"), &resumed);
    *sent = (struct pawl_sent){
        .started = (uint32_t)started,
        .resumed = (uint32_t)resumed,
        .parked = pawl__json_true(pawl__json_get_text(&did, "parked")),
        .was_sent = true,
    };
    return PAWL_OK;
}

/* Of one that was sent with this key before; or, after an outcome that was unknown, of itself. */
static int read_sent(struct runtime_task *task, const struct pawl_reservation_row *key,
                     struct pawl_sent *sent)
{
    struct pawl_str before, id;
    int status = find_reservation(task, key->key, &before);
    bool is_own;

    sent->was_sent = true;
    if (status == PAWL_OK && !is_same_event(before, key->value, &id))
        return pawl__error_set(task->err, PAWL_ECONFLICT,
                               "another event was sent with this key within the last day: this one "
                               "was not sent. Use a key for one event alone");
    if (status == PAWL_OK)
        status = read_record(task, id, sent);
    is_own = status == PAWL_OK && pawl__str_equal(before, key->value);
    sent->was_settled = is_own;
    sent->was_sent = !is_own;
    return status;
}

static struct pawl_str reserved_key(struct runtime_task *task, struct pawl_str key)
{
    return pawl__str(
        pawl__arena_printf(&task->arena, RUNTIME_STIMULUS_KEY "%.*s", PAWL_STR_ARG(key)));
}

/* ---- accepting ----------------------------------------------------------------------------- */

/* A stimulus that is being sent. */
struct sending {
    struct runtime_task *task;
    struct pawl_work_row *row; /* as it would be stored */
    const struct runtime_stimulus *stimulus;
    struct pawl_str key; /* the caller's; "": none */
    bool detached;       /* for a worker */
    bool first_wins;     /* see struct pawl_stimulus */
    bool has_tried;      /* to deliver it */
    bool is_unsure;      /* whether that took effect */
    struct runtime_match match;
    struct pawl_reservation_row reservations[RESERVATIONS_MAX];
    size_t reservation_count;
    size_t reservation_max; /* that are committed; 0: all */
};

/* What its commit inserts, which is of this kind. The first one is that of its id. */
static int make_reservations(struct sending *s, const char *kind, int64_t expires_us)
{
    struct runtime_task *task = s->task;

    s->reservation_count = 0;
    s->reservations[s->reservation_count++] = (struct pawl_reservation_row){
        .key = pawl__str(pawl__arena_printf(&task->arena, "commit:%.*s", PAWL_STR_ARG(s->row->id))),
        .value = pawl__str(kind),
        .expires_us = expires_us,
    };
    if (s->key.len > 0)
        s->reservations[s->reservation_count++] = (struct pawl_reservation_row){
            .key = reserved_key(task, s->key),
            .value = s->first_wins ? s->row->id : key_value(task, s->row),
            .expires_us =
                (expires_us > s->row->created_us ? expires_us : s->row->created_us) + KEY_US,
        };
    for (size_t i = 0; i < s->reservation_count; i++)
        if (s->reservations[i].key.len == 0 || !s->reservations[i].value.ptr)
            return pawl__error_code(task->err, pawl__arena_status(&task->arena));
    return PAWL_OK;
}

/* The mail that it would be to an instance of which nothing is known. */
static struct pawl_work_row blind_row(struct sending *s)
{
    const struct pawl_bookmark_row nothing = {.instance_id = s->stimulus->instance_id,
                                              .id = pawl__str("")};

    return pawl__runtime_resume_row(s->task, s->row, &nothing);
}

/*
 * On this thread, if there is one bookmark that waits for it and nobody runs its instance. `target`
 * NULL: the claim of the instance it is for finds out, which saves the look; a guard's locks are
 * not taken for that.
 */
static int deliver(struct sending *s, const struct pawl_bookmark_row *target)
{
    const struct pawl_sent sent = {.resumed = 1};
    struct runtime_task *task = s->task;
    struct pawl_error *err = task->err, why = PAWL_ERROR_INIT;
    struct runtime_direct direct;
    int status;

    if (s->has_tried || s->detached || !pawl__runtime_may_deliver(task->runtime, task->deadline_ns))
        return PAWL_EBUSY;
    task->err = &why; /* what it fails with is not what the call fails with */
    direct = (struct runtime_direct){.mail = target ? pawl__runtime_resume_row(task, s->row, target)
                                                    : blind_row(s),
                                     .is_blind = !target,
                                     .input = s->stimulus->input,
                                     .is_request = s->stimulus->is_request,
                                     .reservations = s->reservations,
                                     .traceparent = s->stimulus->traceparent};
    status = direct.mail.id.len > 0 ? make_reservations(s, "direct", 0) : PAWL_ENOMEM;
    if (status == PAWL_OK && s->key.len > 0)
        status = make_record(task, s->row, &sent, &s->reservations[s->reservation_count++]);
    if (status == PAWL_OK)
        status = pawl__runtime_note_reached(task, direct.mail.instance_id, direct.mail.id, false);
    direct.reservation_count = s->reservation_count;
    if (status == PAWL_OK && task->reach)
        direct.reached = &task->reach->items[task->reach->count - 1];
    if (status == PAWL_OK) {
        s->has_tried = true;
        status = pawl__runtime_deliver(task, &direct);
        s->is_unsure = direct.is_unsure;
    }
    task->err = err;
    if (status == PAWL_OK)
        s->match.sent = sent;
    else if (task->reach)
        task->reach->count = 0;
    return status;
}

/* To the instance that it names, before anything is looked up. Not with more conditions: one that
 * is claimed in vain is released, with a commit. */
static int deliver_blind(struct sending *s)
{
    if (s->stimulus->instance_id.len == 0 || s->row->hash.len == 0 ||
        s->row->correlation_id.len > 0 || s->row->activity_instance_id.len > 0 ||
        s->task->runtime->options.guard)
        return PAWL_EBUSY;
    return deliver(s, NULL);
}

/* To the bookmark that its sender has found. */
static int deliver_to_known(struct sending *s, const struct pawl_stimulus *stimulus)
{
    struct pawl_bookmark_row known;

    if (!stimulus || stimulus->bookmark_id.len == 0 || stimulus->instance_id.len == 0)
        return PAWL_EBUSY;
    known = (struct pawl_bookmark_row){.id = stimulus->bookmark_id,
                                       .instance_id = stimulus->instance_id,
                                       .created_us = stimulus->bookmark_created_us};
    return deliver(s, &known);
}

static int deliver_to_target(struct sending *s)
{
    const struct pawl_bookmark_row *target = pawl__runtime_only_target(&s->match);

    return target ? deliver(s, target) : PAWL_EBUSY;
}

/* What it becomes; or, when that could not be found out, the stimulus itself, for a worker. */
static int make_rows(struct sending *s, int looked)
{
    struct runtime_match *match = &s->match;
    struct runtime_task *task = s->task;

    if (looked == PAWL_OK)
        looked = pawl__runtime_expand(task, s->row, s->stimulus, match);
    if (looked == PAWL_OK && s->stimulus->is_keyed)
        return pawl__runtime_record_sent(task, s->row, match);
    if (looked == PAWL_OK)
        return PAWL_OK;
    if (task->arena.status != PAWL_OK)
        return looked;
    *match = (struct runtime_match){.changes = {.arena = &task->arena}};
    if (task->reach)
        task->reach->count = 0;
    looked = pawl__runtime_stimulus_payload(&task->arena, s->stimulus, &s->row->payload);
    if (looked != PAWL_OK)
        return pawl__error_code(task->err, looked);
    pawl__runtime_change(&match->changes, PAWL_CHANGE_INSERT, PAWL_TABLE_WORK, s->row);
    return PAWL_OK;
}

/* *expired: that of the reservations has passed, by the store's clock; nothing was stored. */
static int commit_rows(struct sending *s, bool *expired, struct pawl_error *err)
{
    struct runtime_changes all = {.arena = &s->task->arena};
    struct pawl_commit commit = {.kind = PAWL_COMMIT_PLAIN};
    struct runtime_task *task = s->task;

    for (size_t i = 0; i < s->reservation_count; i++)
        pawl__runtime_change(&all, PAWL_CHANGE_INSERT, PAWL_TABLE_RESERVATIONS,
                             &s->reservations[i]);
    for (size_t i = 0; i < s->match.changes.count; i++)
        pawl__runtime_change(&all, s->match.changes.items[i].kind, s->match.changes.items[i].table,
                             s->match.changes.items[i].row);
    if (all.status == PAWL_OK)
        all.status = s->match.changes.status;
    if (all.status != PAWL_OK)
        return pawl__error_code(err, all.status);
    commit.changes = all.items;
    commit.change_count = all.count;
    /* A delivery that failed may have used up all the time: what was begun is finished. */
    all.status = pawl__runtime_commit(
        task->runtime, &commit,
        s->has_tried ? pawl__runtime_commit_deadline(task) : task->deadline_ns, err);
    *expired = all.status != PAWL_OK && commit.has_expired;
    return all.status;
}

/* With reservations that say so. If the store's clock was set forward, once more with its time. */
static int reserve_and_commit(struct sending *s, const char *what, int64_t deadline_ns,
                              struct pawl_error *err)
{
    bool expired = true;
    int status = PAWL_OK;

    /* What may have been delivered is not tried with a new time: the reservation that would tell
     * may have been deleted by the same step of the clock. */
    for (int tries = 0; tries < (s->is_unsure ? 1 : 2) && expired; tries++) {
        int64_t now_us = 0;

        expired = false;
        status = pawl__runtime_clock(s->task->runtime, &now_us, deadline_ns, err);
        if (status == PAWL_OK)
            status = make_reservations(
                s, what, pawl__runtime_last_try_us(s->task->runtime, now_us, deadline_ns));
        if (s->reservation_max > 0 && s->reservation_count > s->reservation_max)
            s->reservation_count = s->reservation_max;
        if (status == PAWL_OK)
            status = commit_rows(s, &expired, err);
    }
    return status;
}

/* Why it was not stored, for its sender. */
static int explain(const struct sending *s, int status, const struct pawl_error *why)
{
    if (s->is_unsure)
        return pawl__error_set(s->task->err, PAWL_EUNKNOWN,
                               "the event may have been delivered, or not: %.200s", why->msg);
    if (s->task->err)
        *s->task->err = *why;
    return status;
}

static int store_event(struct sending *s, int looked)
{
    struct runtime_task *task = s->task;
    struct pawl_error *err = task->err, why = PAWL_ERROR_INIT;
    int status;

    task->err = &why; /* which is nothing to tell when it is stored after all */
    status = make_rows(s, looked);
    if (status == PAWL_OK)
        status = reserve_and_commit(s, "row", pawl__runtime_commit_deadline(task), &why);
    task->err = err;
    if (status == PAWL_EEXISTS && s->key.len > 0) {
        task->err = &why;
        status = read_sent(task, &s->reservations[1], &s->match.sent); /* sent before */
        task->err = err;
        return status == PAWL_OK ? PAWL_OK : explain(s, status, &why);
    }
    if (status == PAWL_EEXISTS) {
        s->match.sent = (struct pawl_sent){.resumed = 1, .was_settled = true};
        return PAWL_OK;
    }
    if (status != PAWL_OK)
        return explain(s, status, &why);
    if (s->match.sent.parked)
        pawl__runtime_recheck_soon(task, &s->match.parked, s->stimulus);
    return PAWL_OK;
}

static int check_sizes(struct runtime_task *task, const struct pawl_work_row *row,
                       const struct runtime_stimulus *stimulus, struct pawl_str key)
{
    int status;

    if (row->correlation_id.len > PAWL_CORRELATION_ID_MAX)
        return pawl__error_set(task->err, PAWL_EINVAL,
                               "a correlation id has at most %u bytes, not %zu",
                               PAWL_CORRELATION_ID_MAX, row->correlation_id.len);
    if (stimulus->instance_id.len > PAWL_INSTANCE_ID_MAX)
        return pawl__error_set(task->err, PAWL_EINVAL, "an instance id has at most %d bytes",
                               PAWL_INSTANCE_ID_MAX);
    status = pawl__runtime_check_input(task, "an event", &stimulus->input);
    return status == PAWL_OK && key.len > 0 ? pawl__runtime_check_key(task, key) : status;
}

/* Of one that was sent before with its key there is nothing to look for. *sent: that it was. */
static int find_sent(struct sending *s, bool *sent)
{
    struct pawl_str before;
    int status;

    *sent = false;
    if (s->key.len == 0)
        return PAWL_OK;
    status = pawl__runtime_stimulus_payload(&s->task->arena, s->stimulus, &s->row->payload);
    if (status != PAWL_OK)
        return pawl__error_code(s->task->err, status);
    status = make_reservations(s, "row", 0);
    if (status == PAWL_OK)
        status = find_reservation(s->task, s->reservations[1].key, &before);
    *sent = status == PAWL_OK && before.len > 0;
    return *sent ? read_sent(s->task, &s->reservations[1], &s->match.sent) : status;
}

/* A request does not wait for its bookmark: its client is there now. */
static int refuse_request(const struct sending *s, int looked, const struct pawl_error *why)
{
    if (looked == PAWL_OK)
        return pawl__error_set(s->task->err, PAWL_ENOTFOUND, "nobody waits for this request");
    if (s->task->err)
        *s->task->err = *why;
    return looked;
}

/*
 * A request that may have been delivered and that nothing waits for now: its reservation alone says
 * which. Inserted, no delivery can take effect any more. It is never stored to run later.
 */
static int settle_request(struct sending *s, int looked, const struct pawl_error *why)
{
    struct runtime_task *task = s->task;
    struct pawl_error lost = PAWL_ERROR_INIT;
    int status;

    s->match = (struct runtime_match){.changes = {.arena = &task->arena}};
    s->reservation_max = 1; /* not its key: sent again it may run */
    status = reserve_and_commit(s, "none", task->deadline_ns, &lost);
    s->reservation_max = 0;
    if (status == PAWL_EEXISTS) {
        s->match.sent = (struct pawl_sent){.resumed = 1, .was_settled = true};
        return PAWL_OK;
    }
    return status == PAWL_OK ? refuse_request(s, looked, why) : explain(s, status, &lost);
}

/*
 * Of what was not delivered at once. An attempt may have used up the time: what was begun is
 * finished all the same, as mail of its instance, so that what its sender sends next comes behind.
 */
static int look_and_store(struct sending *s)
{
    struct runtime_task *task = s->task;
    struct pawl_error *err = task->err, why = PAWL_ERROR_INIT;
    int64_t deadline_ns = task->deadline_ns;
    int looked, status = PAWL_OK;

    if (s->has_tried)
        task->deadline_ns = pawl__runtime_commit_deadline(task);
    task->err = &why;
    looked = pawl__runtime_look(task, s->row, s->stimulus, &s->match);
    task->err = err;
    if (s->stimulus->is_request && (looked != PAWL_OK || s->match.bookmarks.count == 0))
        status = s->is_unsure ? settle_request(s, looked, &why) : refuse_request(s, looked, &why);
    else if (looked != PAWL_OK || deliver_to_target(s) != PAWL_OK)
        status = store_event(s, looked);
    task->deadline_ns = deadline_ns;
    return status;
}

static int accept_event(struct runtime_task *task, struct pawl_work_row *row,
                        const struct runtime_stimulus *parsed, const struct pawl_stimulus *stimulus,
                        struct pawl_sent *sent)
{
    struct sending s = {.task = task,
                        .row = row,
                        .stimulus = parsed,
                        .key = stimulus ? stimulus->idempotency_key : pawl__str(""),
                        .detached = stimulus && stimulus->detached,
                        .first_wins = stimulus && stimulus->first_wins};
    bool is_sent = false;
    int status = check_sizes(task, row, parsed, s.key);

    if (status == PAWL_OK)
        status = pawl__runtime_clock(task->runtime, &row->created_us, task->deadline_ns, task->err);
    row->due_us = row->created_us;
    task->reach = stimulus ? stimulus->reach : NULL;
    if (status == PAWL_OK)
        status = find_sent(&s, &is_sent);
    if (status == PAWL_OK && !is_sent && deliver_blind(&s) != PAWL_OK &&
        deliver_to_known(&s, stimulus) != PAWL_OK)
        status = look_and_store(&s);
    if (status == PAWL_OK)
        *sent = s.match.sent;
    return status;
}

/* ---- sending ------------------------------------------------------------------------------- */

static int new_row(struct runtime_task *task, struct pawl_str hash,
                   const struct pawl_stimulus *stimulus, struct pawl_work_row *row)
{
    *row = (struct pawl_work_row){
        .id = pawl__runtime_new_id(task->runtime, &task->arena),
        .kind = pawl__str(PAWL_WORK_STIMULUS),
        .hash = hash,
        .correlation_id = stimulus ? stimulus->correlation_id : pawl__str(""),
        .activity_instance_id = stimulus ? stimulus->activity_instance_id : pawl__str(""),
        .part = pawl__runtime_part(hash),
        .expires_us = PAWL_TIME_NEVER,
    };
    row->name = row->id;
    return row->id.ptr ? PAWL_OK
                       : pawl__error_code(task->err, pawl__arena_status(&task->arena) == PAWL_OK
                                                         ? PAWL_ESTOPPED
                                                         : pawl__arena_status(&task->arena));
}

int pawl__runtime_sent_before(struct runtime_task *task, const struct pawl_stimulus *stimulus,
                              struct pawl_sent *sent)
{
    const struct runtime_stimulus parsed = {.instance_id = stimulus->instance_id,
                                            .after = pawl__str(""),
                                            .input = stimulus->input,
                                            .is_keyed = true,
                                            .is_request = stimulus->is_request};
    struct sending s = {.task = task,
                        .stimulus = &parsed,
                        .key = stimulus->idempotency_key,
                        .first_wins = stimulus->first_wins};
    struct pawl_work_row row;
    bool is_sent = false;
    int status = new_row(task, stimulus->hash, stimulus, &row);

    s.row = &row;
    if (status == PAWL_OK)
        status = find_sent(&s, &is_sent);
    if (status == PAWL_OK && !is_sent)
        return pawl__error_set(task->err, PAWL_ENOTFOUND, "nothing was sent with the key %.*s",
                               PAWL_STR_ARG(stimulus->idempotency_key));
    if (status == PAWL_OK)
        *sent = s.match.sent;
    return status;
}

static int send_hashed(struct runtime_task *task, struct pawl_str hash, struct pawl_json input,
                       const struct pawl_stimulus *stimulus, struct pawl_sent *out)
{
    const struct runtime_stimulus parsed = {
        .instance_id = stimulus ? stimulus->instance_id : pawl__str(""),
        .after = pawl__str(""),
        .input = input,
        .is_keyed = stimulus && stimulus->idempotency_key.len > 0,
        .is_request = stimulus && stimulus->is_request,
        .traceparent =
            stimulus ? pawl__arena_str(&task->arena, stimulus->traceparent) : pawl__str(""),
    };
    struct pawl_sent sent = {0};
    struct pawl_work_row row;
    int status = new_row(task, hash, stimulus, &row);

    if (status == PAWL_OK)
        status = accept_event(task, &row, &parsed, stimulus, &sent);
    if (status == PAWL_OK && out)
        *out = sent;
    return status;
}

int pawl__runtime_send(struct pawl_runtime *runtime, const struct pawl_stimulus *stimulus,
                       struct pawl_sent *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct runtime_task task;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    status = send_hashed(&task, stimulus->hash, stimulus->input, stimulus, out);
    pawl__runtime_task_release(&task, status);
    return status;
}

/* The hash that those who wait for the event have, and the input that it brings them. */
static int event_stimulus(struct pawl_runtime *runtime, struct pawl_arena *arena,
                          struct pawl_str name, struct pawl_json payload, struct pawl_str *hash,
                          struct pawl_json *input)
{
    struct pawl_builder b = {.arena = arena};
    struct pawl_json stimulus = pawl__event_stimulus(&b, name);
    char text[PAWL_SHA256_TEXT_SIZE];

    *input = pawl__json_object();
    if (pawl__json_is(&payload, PAWL_JSON_NULL)) {
        /* Elsa sends an empty Dictionary<string, object>. */
        payload = pawl__json_object();
        pawl__build_text(&b, &payload, "_type", pawl__str("ObjectMap"));
    }
    pawl__build(&b, input, PAWL_STIMULUS_EVENT_INPUT, payload);
    b.status =
        pawl__built_stimulus_hash(&b, &runtime->env->alloc, PAWL_STIMULUS_EVENT, &stimulus, text);
    if (b.status != PAWL_OK)
        return b.status;
    *hash = pawl__arena_str(arena, pawl__str(text));
    return hash->ptr ? PAWL_OK : pawl__arena_status(arena);
}

int pawl__runtime_event_row(struct pawl_runtime *runtime, struct pawl_arena *arena,
                            const struct pawl_json *event, struct pawl_work_row *row)
{
    struct runtime_stimulus stimulus = {.instance_id = runtime_text(event, "instanceId"),
                                        .after = pawl__str("")};
    struct pawl_str hash;
    int status = event_stimulus(runtime, arena, runtime_text(event, PAWL_STIMULUS_EVENT_NAME),
                                runtime_member(event, "payload"), &hash, &stimulus.input);

    if (status != PAWL_OK)
        return status;
    *row = (struct pawl_work_row){
        .id = pawl__runtime_new_id(runtime, arena),
        .kind = pawl__str(PAWL_WORK_STIMULUS),
        .hash = hash,
        .correlation_id = runtime_text(event, "correlationId"),
        .part = pawl__runtime_part(hash),
        .expires_us = PAWL_TIME_NEVER,
    };
    if (!row->id.ptr)
        return pawl__arena_status(arena);
    row->name = row->id;
    return pawl__runtime_stimulus_payload(arena, &stimulus, &row->payload);
}

int pawl__runtime_send_event(struct pawl_runtime *runtime, struct pawl_str name,
                             const struct pawl_json *payload, const struct pawl_stimulus *stimulus,
                             struct pawl_sent *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct runtime_task task;
    struct pawl_json input;
    struct pawl_str hash;
    int status;

    pawl__runtime_task_init(&task, runtime, deadline_ns, err);
    status = event_stimulus(runtime, &task.arena, name, payload ? *payload : pawl__json_null(),
                            &hash, &input);
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    else
        status = send_hashed(&task, hash, input, stimulus, out);
    pawl__runtime_task_release(&task, status);
    return status;
}
