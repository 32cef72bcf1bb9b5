/* SPDX-License-Identifier: Apache-2.0 */
/* Why an instance stands where it stands; see why.h. What it waits for is in why_waits.c. */
#include "operations/why.h"

#include "base/error.h"
#include "operations/instances_private.h"
#include "operations/nodes_private.h"
#include "operations/query.h"
#include "operations/why_private.h"
#include "runtime/node/pause.h"
#include "runtime/runtime.h"

/* ---- reading -------------------------------------------------------------------------------- */

static int find_owned(struct why *why, enum pawl_table table, const char *order,
                      struct pawl_rows *rows)
{
    struct op_query query;

    op_query_init(&query, table, order, false);
    op_with_bytes(&query);
    query.query.flags |= PAWL_QUERY_TOTAL;
    op_where_text(&query, "instance_id", PAWL_EQ, why->out.row.id);
    return op_find_all(why->op, &query, PAWL_WHY_ROWS_MAX, rows);
}

static int read_all(struct why *why, struct pawl_str id)
{
    struct op_query nodes;
    struct pawl_error unreadable;
    /* Of one whose state cannot be read the rest still tells. */
    int status = op_show_readable(why->op, id, &why->out.row, &why->state, &unreadable);

    if (status == PAWL_OK)
        status = find_owned(why, PAWL_TABLE_BOOKMARKS, "created_us", &why->bookmarks);
    if (status == PAWL_OK)
        status = find_owned(why, PAWL_TABLE_WORK, "due_us", &why->work);
    if (status == PAWL_OK)
        status = find_owned(why, PAWL_TABLE_DEAD_LETTERS, "dead_us", &why->letters);
    op_query_init(&nodes, PAWL_TABLE_NODES, NULL, false);
    op_with_bytes(&nodes);
    if (status == PAWL_OK)
        status = op_find_all(why->op, &nodes, 0, &why->nodes);
    if (status == PAWL_OK)
        status = op_now(why->op, &why->out.now_us);
    return status;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

/* The node with this incarnation; NULL: it is gone. */
static const struct pawl_node_row *node_of(const struct why *why, int64_t incarnation)
{
    const struct pawl_node_row *nodes = why->nodes.rows;

    for (size_t i = 0; i < why->nodes.count; i++) {
        if (nodes[i].incarnation == incarnation)
            return &nodes[i];
    }
    return NULL;
}

static bool is_alive(const struct why *why, int64_t incarnation)
{
    const struct pawl_node_row *node = node_of(why, incarnation);

    return node && node->lease_us > why->out.now_us;
}

/* Counts those that could go on with it; else what keeps them from it. */
static int set_able(struct why *why)
{
    const struct pawl_node_row *nodes = why->nodes.rows;
    const struct pawl_op *op = why->op;
    const struct pawl_pause *pauses;
    size_t count;
    int status =
        pawl__pauses_find(op_store(op), op->arena, &pauses, &count, op->deadline_ns, op->err);

    if (status != PAWL_OK)
        return status;
    why->out.pause = pawl__pause_of(pauses, count, pawl__str(""));
    for (size_t i = 0; i < why->nodes.count && !why->out.pause; i++) {
        struct pawl_json told = pawl__json_null();

        if (nodes[i].lease_us <= why->out.now_us ||
            (pawl__json_parse(op->arena, nodes[i].info, NULL, &told, NULL, NULL) == PAWL_OK &&
             !op_node_stays(&told)))
            continue;
        why->out.nodes += !pawl__pause_of(pauses, count, nodes[i].id);
    }
    for (size_t i = 0; i < why->nodes.count && !why->out.pause && why->out.nodes == 0; i++) {
        if (nodes[i].lease_us > why->out.now_us)
            why->out.pause = pawl__pause_of(pauses, count, nodes[i].id);
    }
    return PAWL_OK;
}

static int set_nodes(struct why *why)
{
    const struct pawl_node_row *node = node_of(why, why->out.row.owner);

    why->out.holder = node ? node->id : pawl__str("");
    why->out.holder_lease_us = node ? node->lease_us : 0;
    why->out.is_held = is_alive(why, why->out.row.owner);
    return set_able(why);
}

/* ---- mail ----------------------------------------------------------------------------------- */

static const char *kind_text(struct pawl_str kind)
{
    static const struct {
        const char *kind, *text;
    } kinds[] = {
        {PAWL_WORK_RESUME, "an event or a result for it"},
        {PAWL_WORK_TIMER, "a timer"},
        {PAWL_WORK_CHILD, "the end of a child"},
        {PAWL_WORK_FEED, "a result that it waits for"},
        {PAWL_WORK_JOB, "an activity in the background"},
        {PAWL_WORK_RUN, "a retry after a failure"},
        {PAWL_WORK_CANCEL, "its cancellation, with its children"},
        {PAWL_WORK_CANCEL_ONE, "its cancellation"},
        {PAWL_WORK_START, "the start of a child"},
        {PAWL_WORK_CALL, "a call of an activity of the host"},
        {PAWL_WORK_TASK, "a task for the host"},
        {PAWL_WORK_HTTP, "a request"},
        {PAWL_WORK_CONSOLE, "a line of output"},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (pawl__str_is(kind, kinds[i].kind))
            return kinds[i].text;
    }
    return "work";
}

static enum pawl_why_because because(const struct why *why, const struct pawl_work_row *work)
{
    if (pawl__runtime_keeps_mail(&why->out.row, work))
        return PAWL_WHY_KEPT;
    if (work->due_us == PAWL_TIME_NEVER)
        return PAWL_WHY_PARKED;
    if (work->due_us > why->out.now_us)
        return work->attempts > 0 ? PAWL_WHY_FAILED : PAWL_WHY_LATER;
    if (pawl__str_is(why->out.row.status, "Finished"))
        return PAWL_WHY_OVER;
    if (why->out.row.retry_us > why->out.now_us)
        return PAWL_WHY_WITH_TROUBLE;
    if (why->out.is_held)
        return PAWL_WHY_BUSY;
    if (work->owner != 0 && is_alive(why, work->owner))
        return PAWL_WHY_TAKEN;
    if (why->out.pause)
        return PAWL_WHY_PAUSED;
    return why->out.nodes == 0 ? PAWL_WHY_NO_NODE : PAWL_WHY_DUE;
}

/* A timer of a bookmark that has not failed is told with its bookmark. */
static bool is_told(const struct why *why, const struct pawl_work_row *work)
{
    const struct pawl_bookmark_row *bookmarks = why->bookmarks.rows;

    if (!pawl__str_is(work->kind, PAWL_WORK_TIMER) || work->attempts > 0)
        return false;
    for (size_t i = 0; i < why->bookmarks.count; i++) {
        if (pawl__str_equal(bookmarks[i].id, work->bookmark_id))
            return true;
    }
    return false;
}

static int set_mail(struct why *why)
{
    const struct pawl_work_row *work = why->work.rows;
    struct pawl_arena *arena = why->op->arena;
    struct pawl_why_mail *mail = pawl__arena_alloc_array(arena, why->work.count + 1, sizeof *mail);

    if (!mail)
        return pawl__error_code(why->op->err, pawl__arena_status(arena));
    for (size_t i = 0; i < why->work.count; i++) {
        if (!is_told(why, &work[i]))
            mail[why->out.mail_count++] = (struct pawl_why_mail){.row = &work[i],
                                                                 .what = kind_text(work[i].kind),
                                                                 .because = because(why, &work[i])};
    }
    why->out.mail = mail;
    return PAWL_OK;
}

static int set_letters(struct why *why)
{
    const struct pawl_dead_letter_row *rows = why->letters.rows;
    struct pawl_arena *arena = why->op->arena;
    struct pawl_why_letter *letters =
        pawl__arena_alloc_array(arena, why->letters.count + 1, sizeof *letters);

    if (!letters)
        return pawl__error_code(why->op->err, pawl__arena_status(arena));
    for (size_t i = 0; i < why->letters.count; i++) {
        if (rows[i].replayed_us == 0)
            letters[why->out.letter_count++] =
                (struct pawl_why_letter){.row = &rows[i], .what = kind_text(rows[i].kind)};
    }
    why->out.letters = letters;
    why->out.letter_total = why->letters.total;
    return PAWL_OK;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static enum pawl_why_standing standing(const struct pawl_why *why)
{
    if (pawl__str_is(why->row.status, "Finished"))
        return PAWL_WHY_ENDED;
    if (why->is_held)
        return PAWL_WHY_RUNNING;
    if (why->row.retry_us != 0)
        return PAWL_WHY_PUT_OFF;
    if (why->row.runnable != 0)
        return PAWL_WHY_INTERRUPTED;
    if (why->wait_count > 0)
        return PAWL_WHY_WAITING;
    if (why->mail_count > 0)
        return PAWL_WHY_MAIL;
    return why->letter_count > 0 ? PAWL_WHY_GIVEN_UP : PAWL_WHY_IDLE;
}

static unsigned advice(const struct pawl_why *why)
{
    bool running = pawl__str_is(why->row.status, "Running");
    unsigned out = 0;

    if (why->letter_total > 0)
        out |= PAWL_ADVISE_LETTERS;
    if (pawl__str_is(why->row.sub_status, "Faulted"))
        out |= PAWL_ADVISE_JOURNAL;
    if (running && why->pause)
        out |= PAWL_ADVISE_UNPAUSE; /* what is to be run now is refused until then */
    else if (running && why->row.retry_us != 0)
        out |= PAWL_ADVISE_RETRY;
    else if (running && !why->is_held && (why->row.runnable != 0 || why->wait_count == 0))
        out |= PAWL_ADVISE_RESUME;
    if (running && (!why->row.cancel_requested || why->row.retry_us != 0))
        out |= PAWL_ADVISE_CANCEL;
    if (!running && why->row.trouble.len > 0)
        out |= PAWL_ADVISE_DELETE;
    return out;
}

int pawl__op_instance_why(const struct pawl_op *op, struct pawl_str instance_id,
                          struct pawl_why *out)
{
    struct why why = {.op = op};
    const struct pawl_json *incidents;
    int status = read_all(&why, instance_id);

    if (status != PAWL_OK)
        return status;
    status = set_nodes(&why);
    if (status == PAWL_OK)
        status = op_why_waits(&why);
    if (status == PAWL_OK)
        status = set_mail(&why);
    if (status == PAWL_OK)
        status = set_letters(&why);
    if (status != PAWL_OK)
        return status;
    incidents = pawl__json_get_text(&why.state, "incidents");
    if (pawl__json_len(incidents) > 0)
        why.out.incident = pawl__json_at(incidents, pawl__json_len(incidents) - 1);
    why.out.standing = standing(&why.out);
    why.out.advice = advice(&why.out);
    *out = why.out;
    return PAWL_OK;
}
