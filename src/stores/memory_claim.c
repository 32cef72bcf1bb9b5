/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claiming instances and taking due work from the memory store. Results are copied first, with the
 * new owner in the copies; the rows themselves change only when nothing can fail any more.
 */
#include "base/error.h"
#include "stores/memory_private.h"

/* ---- the clock ---------------------------------------------------------------------------- */

static struct pawl_node_row *node_data(const struct memdb_row *row)
{
    return row->data;
}

static bool waits_for_clock(const struct pawl_work_row *work)
{
    bool is_tick = pawl__str_is(work->kind, PAWL_STORE_TICK);

    if (work->due_us == PAWL_TIME_NEVER)
        return false;
    return work->due_us <= work->created_us || (work->attempts > 0 && !is_tick) ||
           (!is_tick && !pawl__str_is(work->kind, PAWL_STORE_TIMER));
}

static void move_work_back(struct pawl_memory_database *db, int64_t now_us, int64_t before_us)
{
    struct memdb_row *first = pawl__memdb_ordered_after(db, MEMDB_BY_DUE, now_us), *row, *next;
    int64_t last_us = 0;

    for (row = first; row; row = memdb_ordered_next(row, MEMDB_BY_DUE))
        if (waits_for_clock(memdb_work_data(row)))
            last_us = memdb_work_data(row)->due_us;
    for (row = first; row; row = next) {
        next = memdb_ordered_next(row, MEMDB_BY_DUE);
        if (waits_for_clock(memdb_work_data(row)))
            pawl__memdb_set_due(db, row, before_us - (last_us - memdb_work_data(row)->due_us));
    }
}

void pawl__memdb_look_at_clock(struct pawl_memory_database *db)
{
    int64_t now_ns = pawl_env_monotonic_ns(db->env), now_us = pawl__memdb_now_us(db);
    struct memdb_row *row;

    if (pawl__store_clock_is_back(&db->clock, now_us, now_ns)) {
        move_work_back(db, now_us, pawl__store_clock_before_us(&db->clock, now_us, now_ns));
        PAWL_LIST_FOR_EACH (row, &db->tables[PAWL_TABLE_INSTANCES].rows, link)
            if (memdb_instance_data(row)->retry_us > now_us &&
                memdb_instance_data(row)->retry_us < PAWL_TIME_NEVER)
                memdb_instance_data(row)->retry_us = now_us;
        PAWL_LIST_FOR_EACH (row, &db->tables[PAWL_TABLE_NODES].rows, link)
            if (node_data(row)->lease_us > now_us + PAWL_CLOCK_LEASE_US)
                node_data(row)->lease_us = now_us + PAWL_CLOCK_LEASE_US;
        pawl__memdb_signal(db);
    }
    pawl__store_clock_saw(&db->clock, now_us, pawl_env_monotonic_ns(db->env));
}

/* ---- claims ------------------------------------------------------------------------------- */

/* Of work: oldest due first, then by id. */
static int compare_due(const void *ctx, const void *a, const void *b)
{
    const struct pawl_work_row *x = a, *y = b;

    (void)ctx;
    if (x->due_us != y->due_us)
        return x->due_us < y->due_us ? -1 : 1;
    return pawl__str_compare(x->id, y->id);
}

static int copy_work(struct pawl_arena *arena, const struct memdb_row *const *rows, size_t count,
                     const struct pawl_work_row **out)
{
    struct pawl_work_row *copies = pawl__arena_alloc_array(arena, count, sizeof *copies);

    if (!copies)
        return pawl__arena_status(arena);
    for (size_t i = 0; i < count; i++) {
        int status = pawl__memdb_copy_out(arena, rows[i], false, &copies[i]);

        if (status != PAWL_OK)
            return status;
    }
    *out = copies;
    return PAWL_OK;
}

static int collect_mail(const struct pawl_memory_database *db, int64_t now_us,
                        struct pawl_arena *arena, struct pawl_claim *claim)
{
    const struct memdb_row *rows[PAWL_CLAIM_MAIL_MAX];
    struct memdb_firsts firsts = {
        .rows = rows, .room = PAWL_CLAIM_MAIL_MAX, .compare = compare_due};
    const struct pawl_work_row probe = {.instance_id = claim->row.id};
    uint32_t index = pawl__memdb_index_of(&db->tables[PAWL_TABLE_WORK],
                                          pawl_table_column(PAWL_TABLE_WORK, "instance_id"));
    const struct memdb_row *row;

    for (row = pawl__memdb_first(db, PAWL_TABLE_WORK, index, &probe); row;
         row = pawl__memdb_next(db, row, index, &probe))
        if (memdb_work_data(row)->due_us <= now_us)
            pawl__memdb_firsts_offer(&firsts, row);
    pawl__memdb_firsts_sort(&firsts);
    claim->mail_count = firsts.count;
    return copy_work(arena, rows, firsts.count, &claim->mail);
}

/* Whether it has the bookmark that the claim asks for, if it asks for one. */
static bool has_bookmark(const struct pawl_memory_database *db, struct pawl_str id,
                         struct pawl_str hash)
{
    const struct pawl_bookmark_row probe = {.instance_id = id};
    uint32_t index = pawl__memdb_index_of(&db->tables[PAWL_TABLE_BOOKMARKS],
                                          pawl_table_column(PAWL_TABLE_BOOKMARKS, "instance_id"));
    const struct memdb_row *row;

    if (hash.len == 0)
        return true;
    for (row = pawl__memdb_first(db, PAWL_TABLE_BOOKMARKS, index, &probe); row;
         row = pawl__memdb_next(db, row, index, &probe))
        if (pawl__str_equal(memdb_bookmark_data(row)->hash, hash))
            return true;
    return false;
}

static bool is_idle(const struct pawl_instance_row *row)
{
    return row->owner == 0 && row->runnable == 0 && row->takeovers == 0 && row->retry_us == 0 &&
           row->cancel_requested == 0 && !pawl__str_is(row->status, "Finished") &&
           row->state.len <= PAWL_VISIT_BYTES_MAX;
}

static int fill_visit(const struct pawl_memory_database *db, int64_t owner, int64_t now_us,
                      struct pawl_arena *arena, struct pawl_claim *claim)
{
    struct pawl_str id = pawl__memdb_clean(arena, claim->id);
    struct pawl_str hash = pawl__memdb_clean(arena, claim->hash);
    struct pawl_instance_row copy;
    const struct memdb_row *row;
    bool granted;
    int status;

    if (!id.ptr || !hash.ptr)
        return pawl__arena_status(arena);
    row = pawl__memdb_instance(db, id);
    granted = row && is_idle(memdb_instance_data(row)) && has_bookmark(db, id, hash);
    claim->row = (struct pawl_instance_row){.id = id};
    status = granted ? collect_mail(db, now_us, arena, claim) : PAWL_OK;
    granted = granted && claim->mail_count == 0;
    if (status == PAWL_OK && granted)
        status = pawl__memdb_copy_out(arena, row, false, &copy);
    if (status == PAWL_OK)
        pawl__store_fill_visit(claim, owner, granted ? &copy : NULL);
    return status;
}

/*
 * Whether `owner` may take over what `holder` has: holder is nobody, itself or dead. When the clock
 * has jumped, all leases are expired until they are renewed. So a node whose own lease is expired
 * takes nothing over; otherwise live nodes would take instances from each other.
 */
static bool may_take_over(const struct pawl_memory_database *db, int64_t owner, int64_t holder,
                          int64_t now_us)
{
    if (holder == 0 || holder == owner)
        return true;
    return !pawl__memdb_is_alive(db, holder, now_us) && pawl__memdb_is_alive(db, owner, now_us);
}

/* Fills in `claim` as if it were granted; `*row` is the row to change, or NULL. */
static int fill_claim(const struct pawl_memory_database *db, int64_t owner, int64_t now_us,
                      struct pawl_arena *arena, struct pawl_claim *claim, struct memdb_row **row)
{
    const int64_t seen_fence = claim->seen_fence;
    struct pawl_str id = pawl__memdb_clean(arena, claim->id);
    struct pawl_str hash = pawl__memdb_clean(arena, claim->hash);
    struct pawl_instance_row *held;
    int status;

    claim->row = (struct pawl_instance_row){0};
    claim->mail = NULL;
    claim->mail_count = 0;
    *row = NULL;
    if (!id.ptr || !hash.ptr)
        return pawl__arena_status(arena);
    *row = pawl__memdb_instance(db, id);
    claim->status = PAWL_ENOTFOUND;
    if (!*row)
        return PAWL_OK;
    held = memdb_instance_data(*row);
    claim->status = PAWL_OK;
    if (!may_take_over(db, owner, held->owner, now_us) || !has_bookmark(db, id, hash))
        claim->status = PAWL_EBUSY;
    status = pawl__memdb_copy_out(arena, *row, false, &claim->row);
    if (status != PAWL_OK)
        return status;
    if (claim->status == PAWL_EBUSY) {
        claim->row.state = pawl__str("");
        *row = NULL;
        return PAWL_OK;
    }
    claim->row.takeovers += held->owner != 0 && held->owner != owner;
    claim->row.owner = owner;
    claim->row.fence = (held->fence > seen_fence ? held->fence : seen_fence) + 1;
    return collect_mail(db, now_us, arena, claim);
}

int pawl__memdb_claim(struct pawl_store *base, int64_t owner, struct pawl_claim *claims,
                      size_t count, struct pawl_arena *arena, int64_t *now_us, int64_t deadline_ns,
                      struct pawl_error *err)
{
    struct memdb_store *store = memdb_cast(base);
    struct pawl_memory_database *db = store->database;
    struct memdb_row *rows[PAWL_STORE_BATCH_MAX];
    struct pawl_claim *answers;
    int64_t now;
    int status;

    (void)deadline_ns;
    status = pawl__store_check_claims(claims, count, err);
    if (status != PAWL_OK)
        return status;
    answers = pawl__arena_alloc_array(arena, count, sizeof *answers);
    if (!answers)
        return pawl__error_code(err, pawl__arena_status(arena));
    status = pawl__memdb_enter(store, err);
    if (status != PAWL_OK)
        return status;
    now = pawl__memdb_now_us(db);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        answers[i] = claims[i];
        rows[i] = NULL;
        status = claims[i].visits ? fill_visit(db, owner, now, arena, &answers[i])
                                  : fill_claim(db, owner, now, arena, &answers[i], &rows[i]);
    }
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        if (!rows[i])
            continue;
        pawl__memdb_note_unsynced(db, rows[i]);
        memdb_instance_data(rows[i])->takeovers = answers[i].row.takeovers;
        memdb_instance_data(rows[i])->owner = owner;
        memdb_instance_data(rows[i])->fence = answers[i].row.fence;
        pawl__memdb_instance_moved(db, rows[i]);
    }
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    status = pawl__memdb_leave(store, status, err);
    if (status != PAWL_OK)
        return status;
    memcpy(claims, answers, count * sizeof *answers);
    *now_us = now;
    return PAWL_OK;
}

/* ---- taking ------------------------------------------------------------------------------- */

struct taking {
    const struct pawl_memory_database *db;
    const struct pawl_take *take;
    struct pawl_str kind; /* clean */
    int64_t now_us;
    struct memdb_row **rows; /* room for take->limit */
    size_t count;
};

static bool is_wanted(const struct taking *t, const struct pawl_work_row *work)
{
    if (t->kind.len > 0 && !pawl__str_equal(t->kind, work->kind))
        return false;
    return (t->take->part_from == 0 && t->take->part_to == 0) ||
           (work->part >= t->take->part_from && work->part < t->take->part_to);
}

/* Of what the taker itself has there is nothing to be taken. */
static bool is_left(const struct taking *t, int64_t holder)
{
    return holder == 0 ||
           (holder != t->take->owner && may_take_over(t->db, t->take->owner, holder, t->now_us));
}

static bool is_put_off(const struct taking *t, const struct memdb_row *instance)
{
    const struct pawl_instance_row *row = memdb_instance_data(instance);

    return row->retry_us > t->now_us && row->cancel_requested == 0;
}

static bool is_listed(const struct pawl_take *take, struct pawl_str definition_id)
{
    for (size_t i = 0; i < take->definition_count; i++)
        if (pawl__str_equal(take->definitions[i], definition_id))
            return true;
    return false;
}

/* Mail is of the definition of its instance, unless the take says otherwise of its kind. */
static bool is_unshared(const struct pawl_take *take, struct pawl_str kind)
{
    for (size_t i = 0; i < take->unshared_kind_count; i++)
        if (pawl__str_equal(take->unshared_kinds[i], kind))
            return true;
    return false;
}

/* Whether the take is about the definition that it is of, if any. */
static bool is_of_share(const struct taking *t, const struct pawl_work_row *work)
{
    const struct memdb_row *instance = NULL;
    bool listed;

    if (t->take->definition_count == 0)
        return true;
    if (work->instance_id.len > 0 && !is_unshared(t->take, work->kind))
        instance = pawl__memdb_instance(t->db, work->instance_id);
    listed = is_listed(t->take, work->definition_id) ||
             (instance && is_listed(t->take, memdb_instance_data(instance)->definition_id));
    return listed == t->take->only;
}

/* Nobody has it, or a dead node; no other one will find it as mail of an instance that it has, and
 * its instance is not put off. */
static bool is_free(const struct taking *t, const struct pawl_work_row *work)
{
    const struct memdb_row *instance;

    if (!is_left(t, work->owner))
        return false;
    /* Nobody finds what is parked. */
    if (work->instance_id.len == 0 || work->due_us == PAWL_TIME_NEVER)
        return true;
    instance = pawl__memdb_instance(t->db, work->instance_id);
    if (instance && is_put_off(t, instance))
        return false;
    return !instance ||
           may_take_over(t->db, t->take->owner, memdb_instance_data(instance)->owner, t->now_us);
}

/* Due ones in their order, then the parked ones that have expired, in theirs. */
static int choose_work(struct taking *t, struct pawl_arena *scratch)
{
    struct memdb_firsts expired = {.compare = compare_due};
    struct memdb_row *row = pawl__memdb_ordered_first(t->db, MEMDB_BY_DUE);

    for (; row && t->count < t->take->limit && memdb_work_data(row)->due_us <= t->now_us;
         row = memdb_ordered_next(row, MEMDB_BY_DUE))
        if (is_wanted(t, memdb_work_data(row)) && is_of_share(t, memdb_work_data(row)) &&
            is_free(t, memdb_work_data(row)))
            t->rows[t->count++] = row;
    expired.room = t->take->limit - t->count;
    expired.rows = pawl__arena_alloc_array(scratch, expired.room, sizeof expired.rows[0]);
    if (!expired.rows)
        return pawl__arena_status(scratch);
    for (row = pawl__memdb_ordered_first(t->db, MEMDB_BY_EXPIRY);
         row && expired.room > 0 && memdb_work_data(row)->expires_us <= t->now_us;
         row = memdb_ordered_next(row, MEMDB_BY_EXPIRY))
        if (memdb_work_data(row)->due_us == PAWL_TIME_NEVER && is_wanted(t, memdb_work_data(row)) &&
            is_free(t, memdb_work_data(row)))
            pawl__memdb_firsts_offer(&expired, row);
    pawl__memdb_firsts_sort(&expired);
    for (size_t i = 0; i < expired.count; i++)
        t->rows[t->count++] = pawl__memdb_work(t->db, memdb_work_data(expired.rows[i])->id);
    return PAWL_OK;
}

static int64_t next_due(const struct taking *t)
{
    const struct memdb_row *row = pawl__memdb_ordered_after(t->db, MEMDB_BY_DUE, t->now_us);

    for (; row && memdb_work_data(row)->due_us != PAWL_TIME_NEVER;
         row = memdb_ordered_next(row, MEMDB_BY_DUE))
        if (is_wanted(t, memdb_work_data(row)))
            return memdb_work_data(row)->due_us;
    return PAWL_TIME_NEVER;
}

static int collect_runnable(const struct taking *t, struct pawl_arena *arena,
                            struct pawl_taken *out)
{
    struct pawl_str *ids = pawl__arena_alloc_array(arena, t->take->limit, sizeof *ids);
    const struct memdb_row *row;
    uint32_t skip = t->take->runnable_skip;

    if (!ids)
        return pawl__arena_status(arena);
    out->runnable = ids;
    PAWL_LIST_FOR_EACH (row, &t->db->active, active) {
        if (out->runnable_count == t->take->limit)
            break;
        if (memdb_instance_data(row)->retry_us > t->now_us ||
            !is_left(t, memdb_instance_data(row)->owner))
            continue;
        if (t->take->definition_count > 0 &&
            is_listed(t->take, memdb_instance_data(row)->definition_id) != t->take->only)
            continue;
        if (skip > 0 && skip--)
            continue;
        ids[out->runnable_count] = pawl__arena_str(arena, memdb_instance_data(row)->id);
        if (!ids[out->runnable_count++].ptr)
            return pawl__arena_status(arena);
    }
    return PAWL_OK;
}

static int fill_take(struct taking *t, struct pawl_arena *arena, struct pawl_taken *out)
{
    struct pawl_work_row *copies;
    int status;

    t->kind = pawl__memdb_clean(arena, t->take->kind);
    t->rows = pawl__arena_alloc_array(arena, t->take->limit, sizeof t->rows[0]);
    copies = NULL;
    if (!t->kind.ptr || !t->rows)
        return pawl__arena_status(arena);
    status = choose_work(t, arena);
    if (status != PAWL_OK)
        return status;
    copies = pawl__arena_alloc_array(arena, t->count, sizeof *copies);
    if (!copies)
        return pawl__arena_status(arena);
    for (size_t i = 0; i < t->count; i++) {
        status = pawl__memdb_copy_out(arena, t->rows[i], false, &copies[i]);
        if (status != PAWL_OK)
            return status;
        copies[i].takeovers += copies[i].owner != 0 && copies[i].owner != t->take->owner;
        copies[i].owner = t->take->owner;
    }
    out->work = copies;
    out->work_count = t->count;
    out->now_us = t->now_us;
    out->next_due_us = next_due(t);
    return collect_runnable(t, arena, out);
}

int pawl__memdb_take(struct pawl_store *base, const struct pawl_take *take,
                     struct pawl_arena *arena, struct pawl_taken *out, int64_t deadline_ns,
                     struct pawl_error *err)
{
    struct memdb_store *store = memdb_cast(base);
    struct pawl_taken answer = {0};
    struct taking t = {.db = store->database, .take = take};
    int status;

    (void)deadline_ns;
    if (take->limit > PAWL_STORE_ROWS_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "%u rows of work at once; %d are allowed",
                               take->limit, PAWL_STORE_ROWS_MAX);
    if (take->definition_count > PAWL_TAKE_DEFINITIONS_MAX ||
        take->unshared_kind_count > PAWL_TAKE_KINDS_MAX ||
        (take->definition_count > 0 && take->kind.len > 0))
        return pawl__error_set(err, PAWL_ELIMIT, "%zu definitions in a take, or with a kind",
                               take->definition_count);
    status = pawl__memdb_enter(store, err);
    if (status != PAWL_OK)
        return status;
    t.now_us = pawl__memdb_now_us(store->database);
    status = fill_take(&t, arena, &answer);
    for (size_t i = 0; i < t.count && status == PAWL_OK; i++) {
        pawl__memdb_note_unsynced(store->database, t.rows[i]);
        memdb_work_data(t.rows[i])->takeovers = answer.work[i].takeovers;
        memdb_work_data(t.rows[i])->owner = take->owner;
    }
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    status = pawl__memdb_leave(store, status, err);
    if (status == PAWL_OK)
        *out = answer;
    return status;
}
