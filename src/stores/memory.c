/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory store: the reference of what a store does. This file has the database and its
 * connections, leases, waiting, and what looks at all rows; memory_apply.c, memory_claim.c and
 * memory_find.c have the rest, memory_tables.c the rows.
 *
 * One mutex and one condition, both of the database's environment: in a simulation the database is
 * a separate machine that continues when a node stops. A node's own environment is checked at the
 * beginning and at the end of each call. Calls wait only for that mutex, so their deadlines do
 * not matter, save that of wait().
 */
#include "base/alloc.h"
#include "base/error.h"
#include "stores/memory_private.h"

#include <stdio.h>

/* How long a node that was stopped while it waited may take to notice: the condition is not its. */
#define WAIT_SLICE_NS INT64_C(250000000)

/* ---- calls -------------------------------------------------------------------------------- */

static int stopped(struct pawl_error *err)
{
    return pawl__error_set(err, PAWL_ESTOPPED, "the memory store's node or database was stopped");
}

int pawl__memdb_enter(struct memdb_store *store, struct pawl_error *err)
{
    struct pawl_memory_database *db = store->database;

    if (pawl_env_sleep_until(store->env, INT64_MIN) != PAWL_OK ||
        pawl_mutex_lock(db->env, db->mutex) != PAWL_OK)
        return stopped(err);
    pawl__memdb_look_at_clock(db);
    return PAWL_OK;
}

int pawl__memdb_leave(struct memdb_store *store, int status, struct pawl_error *err)
{
    struct pawl_memory_database *db = store->database;

    pawl_mutex_unlock(db->env, db->mutex);
    if (pawl_env_sleep_until(store->env, INT64_MIN) != PAWL_OK)
        return stopped(err);
    return status;
}

int64_t pawl__memdb_now_us(const struct pawl_memory_database *db)
{
    return pawl_env_wall_ns(db->env) / 1000;
}

void pawl__memdb_signal(struct pawl_memory_database *db)
{
    db->signals++;
    pawl_cond_broadcast(db->env, db->changed);
}

static int memory_status(struct pawl_store *base, struct pawl_store_status *out,
                         int64_t deadline_ns, struct pawl_error *err)
{
    struct memdb_store *store = memdb_cast(base);
    struct pawl_store_status status = {.schema = PAWL_STORE_SCHEMA};
    int result = pawl__memdb_enter(store, err);

    (void)deadline_ns;
    if (result != PAWL_OK)
        return result;
    status.now_us = pawl__memdb_now_us(store->database);
    result = pawl__memdb_leave(store, PAWL_OK, err);
    if (result != PAWL_OK)
        return result;
    (void)snprintf(status.backend, sizeof status.backend, "memory");
    (void)snprintf(status.server, sizeof status.server, "this process");
    (void)snprintf(status.location, sizeof status.location, "memory:");
    *out = status;
    return PAWL_OK;
}

/* ---- leases ------------------------------------------------------------------------------- */

/* Replaces a row, or adds it. */
static int put_row(struct pawl_memory_database *db, enum pawl_table table, struct memdb_row *old,
                   const void *data, struct pawl_error *err)
{
    struct memdb_changes changes = {.db = db};
    struct memdb_row *row = pawl__memdb_row_new(db, table, data);
    int status;

    if (!row)
        return pawl__error_code(err, PAWL_ENOMEM);
    if (old)
        pawl__memdb_remove(&changes, old);
    status = pawl__memdb_insert(&changes, row);
    if (status != PAWL_OK) {
        pawl__memdb_row_free(db, row);
        pawl__memdb_undo_changes(&changes);
        return pawl__error_code(err, status);
    }
    pawl__memdb_keep_changes(&changes);
    return PAWL_OK;
}

/* The stamp of the newest incarnation. */
static int put_newest(struct pawl_memory_database *db, int64_t incarnation, struct pawl_error *err)
{
    const struct pawl_stamp_row stamp = {.name = pawl__str(PAWL_STAMP_INCARNATIONS),
                                         .value = incarnation};
    struct memdb_row *old = pawl__memdb_first(db, PAWL_TABLE_STAMPS, 0, &stamp);

    return put_row(db, PAWL_TABLE_STAMPS, old, &stamp, err);
}

static int64_t lease_end(int64_t now_us, int64_t ttl_us)
{
    return ttl_us > PAWL_TIME_NEVER - now_us ? PAWL_TIME_NEVER : now_us + ttl_us;
}

static void forget_nodes(struct pawl_memory_database *db, const struct pawl_node_row *but,
                         int64_t before_us)
{
    struct memdb_changes changes = {.db = db};
    struct pawl_list_link *link = pawl__list_first(&db->tables[PAWL_TABLE_NODES].rows);

    while (link) {
        struct memdb_row *row = PAWL_CONTAINER(link, struct memdb_row, link);
        const struct pawl_node_row *node = row->data;

        link = link->next == &db->tables[PAWL_TABLE_NODES].rows.head ? NULL : link->next;
        if (node->lease_us < before_us && !pawl__str_equal(node->id, but->id))
            pawl__memdb_remove(&changes, row);
    }
    pawl__memdb_keep_changes(&changes);
}

static int join(struct pawl_memory_database *db, struct pawl_lease *lease, struct memdb_row *old,
                struct pawl_node_row *node, struct pawl_error *err)
{
    int status;

    node->incarnation = db->incarnations + 1;
    node->joined_us = lease->now_us;
    node->lease_us = lease_end(lease->now_us, lease->ttl_us);
    node->info = lease->info;
    /* One that was counted and not given is left out. */
    status = put_newest(db, node->incarnation, err);
    if (status != PAWL_OK)
        return status;
    lease->incarnation = ++db->incarnations;
    status = put_row(db, PAWL_TABLE_NODES, old, node, err);
    if (status != PAWL_OK)
        return status;
    forget_nodes(db, node, lease->now_us - PAWL_NODE_FORGET_US);
    return PAWL_OK;
}

static bool owns_any(const struct pawl_memory_database *db, int64_t incarnation)
{
    const struct memdb_row *row;

    PAWL_LIST_FOR_EACH (row, &db->active, active) {
        if (memdb_instance_data(row)->owner == incarnation)
            return true;
    }
    return false;
}

static void remove_row(struct pawl_memory_database *db, struct memdb_row *row)
{
    struct memdb_changes changes = {.db = db};

    pawl__memdb_remove(&changes, row);
    pawl__memdb_keep_changes(&changes);
}

static int renew_or_leave(struct pawl_memory_database *db, struct pawl_lease *lease,
                          struct memdb_row *old, struct pawl_node_row *node, struct pawl_error *err)
{
    bool superseded = !old || node->incarnation != lease->incarnation;

    if (superseded && lease->kind == PAWL_LEASE_LEAVE)
        return PAWL_OK; /* it had left when the other one joined */
    if (superseded)
        return pawl__error_set(err, PAWL_ECONFLICT,
                               "node %.*s is no longer incarnation %lld: another one has joined "
                               "under its id; join again or end",
                               PAWL_STR_ARG(lease->node_id), (long long)lease->incarnation);
    if (lease->kind == PAWL_LEASE_LEAVE) {
        ((struct pawl_node_row *)old->data)->lease_us = lease->now_us;
        if (!owns_any(db, lease->incarnation))
            remove_row(db, old);
        pawl__memdb_signal(db);
        return PAWL_OK;
    }
    lease->lapsed = node->lease_us <= lease->now_us;
    node->lease_us = lease_end(lease->now_us, lease->ttl_us);
    node->info = lease->info;
    return put_row(db, PAWL_TABLE_NODES, old, node, err);
}

static int memory_lease(struct pawl_store *base, struct pawl_lease *lease, int64_t deadline_ns,
                        struct pawl_error *err)
{
    struct memdb_store *store = memdb_cast(base);
    struct pawl_memory_database *db = store->database;
    struct pawl_lease answer = *lease;
    struct pawl_arena scratch;
    struct pawl_node_row node = {0};
    struct memdb_row *old;
    int status = pawl__memdb_enter(store, err);

    (void)deadline_ns;
    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&scratch, &db->env->alloc, MEMDB_SCRATCH_BYTES_MAX);
    node.id = pawl__memdb_clean(&scratch, lease->node_id);
    if (!node.id.ptr) {
        status = pawl__error_code(err, PAWL_ENOMEM);
        goto out;
    }
    old = pawl__memdb_first(db, PAWL_TABLE_NODES, 0, &node);
    if (old)
        node = *(const struct pawl_node_row *)old->data;
    answer.now_us = pawl__memdb_now_us(db);
    answer.lapsed = false;
    if (lease->kind == PAWL_LEASE_JOIN)
        status = join(db, &answer, old, &node, err);
    else
        status = renew_or_leave(db, &answer, old, &node, err);
out:
    pawl__arena_release(&scratch);
    status = pawl__memdb_leave(store, status, err);
    if (status == PAWL_OK)
        *lease = answer;
    return status;
}

/* ---- waiting ------------------------------------------------------------------------------ */

/* Until something changed, the deadline of the database's clock or the end of a slice. */
static int wait_slice(struct memdb_store *store, struct pawl_wake *wake, int64_t deadline_ns,
                      struct pawl_error *err)
{
    struct pawl_memory_database *db = store->database;
    int64_t slice_ns = deadline_ns, now_ns = pawl_env_monotonic_ns(db->env);
    uint64_t signals;
    int status = pawl__memdb_enter(store, err);

    if (status != PAWL_OK)
        return status;
    if (store->env != db->env && deadline_ns > now_ns + WAIT_SLICE_NS)
        slice_ns = now_ns + WAIT_SLICE_NS;
    while (db->signals == wake->seen && status == PAWL_OK)
        status = pawl_cond_wait(db->env, db->changed, db->mutex, slice_ns);
    signals = db->signals;
    status = pawl__memdb_leave(store, signals != wake->seen ? PAWL_OK : status, err);
    if (status == PAWL_OK)
        wake->seen = signals;
    return status;
}

static int memory_wait(struct pawl_store *base, struct pawl_wake *wake, int64_t deadline_ns,
                       struct pawl_error *err)
{
    struct memdb_store *store = memdb_cast(base);
    struct pawl_env *env = store->database->env;
    int64_t skew_ns;
    int status;

    /* The deadline is one of the node's clock. */
    if (deadline_ns != PAWL_FOREVER && env != store->env) {
        skew_ns = pawl_env_monotonic_ns(env) - pawl_env_monotonic_ns(store->env);
        if (__builtin_add_overflow(deadline_ns, skew_ns, &deadline_ns))
            deadline_ns = skew_ns > 0 ? PAWL_FOREVER : INT64_MIN;
    }
    do
        status = wait_slice(store, wake, deadline_ns, err);
    while (status == PAWL_ETIMEDOUT && pawl_env_monotonic_ns(env) < deadline_ns);
    if (status == PAWL_ETIMEDOUT)
        return pawl__error_set(err, PAWL_ETIMEDOUT, "nothing became due until the deadline");
    return status == PAWL_ESTOPPED ? stopped(err) : status;
}

/* ---- everything --------------------------------------------------------------------------- */

struct copied {
    size_t counts[PAWL_TABLE_COUNT];
    char *rows[PAWL_TABLE_COUNT];
};

static int copy_all(struct pawl_memory_database *db, struct pawl_arena *arena, struct copied *out)
{
    for (uint32_t i = 0; i < PAWL_TABLE_COUNT; i++) {
        const struct memdb_table *table = &db->tables[i];
        const struct memdb_row *row;

        out->rows[i] = pawl__arena_alloc_array(arena, table->row_count, table->info->row_size);
        if (!out->rows[i])
            return pawl__arena_status(arena);
        PAWL_LIST_FOR_EACH (row, &table->rows, link) {
            int status = pawl__memdb_copy_out(
                arena, row, false, out->rows[i] + out->counts[i]++ * table->info->row_size);

            if (status != PAWL_OK)
                return status;
        }
    }
    return PAWL_OK;
}

/* The visitor may take its time and may write: it sees a copy, without the mutex. */
static int memory_snapshot(struct pawl_store *base, pawl_row_visitor visit, void *ctx,
                           int64_t deadline_ns, struct pawl_error *err)
{
    struct memdb_store *store = memdb_cast(base);
    struct pawl_arena arena;
    struct copied copied = {0};
    int status = pawl__memdb_enter(store, err);

    (void)deadline_ns;
    if (status != PAWL_OK)
        return status;
    pawl__arena_init(&arena, &store->env->alloc, MEMDB_SCRATCH_BYTES_MAX);
    status = copy_all(store->database, &arena, &copied);
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    status = pawl__memdb_leave(store, status, err);
    for (uint32_t i = 0; i < PAWL_TABLE_COUNT; i++)
        for (size_t n = 0; n < copied.counts[i] && status == PAWL_OK; n++)
            status = visit(ctx, (enum pawl_table)i,
                           copied.rows[i] + n * pawl_table_info((enum pawl_table)i)->row_size, err);
    pawl__arena_release(&arena);
    return status;
}

static int load_one(struct memdb_changes *changes, enum pawl_table table, const void *data,
                    struct pawl_error *err)
{
    struct memdb_row *row = pawl__memdb_row_new(changes->db, table, data);
    int status = row ? pawl__memdb_insert(changes, row) : PAWL_ENOMEM;

    if (status != PAWL_OK)
        pawl__memdb_row_free(changes->db, row);
    if (status == PAWL_EEXISTS)
        return pawl__error_set(err, PAWL_EEXISTS,
                               "table %s already has a row with this key; load into an empty store",
                               pawl_table_info(table)->name);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

static int memory_load(struct pawl_store *base, enum pawl_table table, const void *rows,
                       size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    struct memdb_store *store = memdb_cast(base);
    struct pawl_memory_database *db = store->database;
    struct memdb_changes changes = {.db = db};
    int status = pawl__memdb_enter(store, err);

    (void)deadline_ns;
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = load_one(&changes, table,
                          (const char *)rows + i * pawl_table_info(table)->row_size, err);
    if (status != PAWL_OK) {
        pawl__memdb_undo_changes(&changes);
        return pawl__memdb_leave(store, status, err);
    }
    for (size_t i = 0; table == PAWL_TABLE_NODES && i < count; i++)
        if (((const struct pawl_node_row *)rows)[i].incarnation > db->incarnations)
            db->incarnations = ((const struct pawl_node_row *)rows)[i].incarnation;
    for (size_t i = 0; table == PAWL_TABLE_STAMPS && i < count; i++) {
        const struct pawl_stamp_row *stamp = &((const struct pawl_stamp_row *)rows)[i];

        if (pawl__str_is(stamp->name, PAWL_STAMP_INCARNATIONS) && stamp->value > db->incarnations)
            db->incarnations = stamp->value;
    }
    pawl__memdb_keep_changes(&changes);
    pawl__memdb_signal(db);
    return pawl__memdb_leave(store, PAWL_OK, err);
}

static int memory_check(struct pawl_store *base, pawl_finding_visitor visit, void *ctx,
                        int64_t deadline_ns, struct pawl_error *err)
{
    struct memdb_store *store = memdb_cast(base);
    int status = pawl__memdb_enter(store, err);

    (void)deadline_ns;
    if (status != PAWL_OK)
        return status;
    pawl__memdb_tables_check(store->database, visit, ctx);
    return pawl__memdb_leave(store, PAWL_OK, err);
}

/* ---- databases and connections ------------------------------------------------------------ */

int pawl__memory_database_new(struct pawl_env *env, struct pawl_memory_database **out,
                              struct pawl_error *err)
{
    struct pawl_memory_database *db = pawl__alloc_zeroed(&env->alloc, sizeof *db);
    int status;

    if (!db)
        return pawl__error_code(err, PAWL_ENOMEM);
    db->env = env;
    pawl__list_init(&db->unsynced);
    pawl__memdb_tables_init(db);
    status = pawl_env_entropy(env, &db->seed, sizeof db->seed, err);
    if (status == PAWL_OK) {
        status = pawl_mutex_new(env, "memory store", &db->mutex);
        if (status == PAWL_OK)
            status = pawl_cond_new(env, "memory store", &db->changed);
        if (status != PAWL_OK)
            (void)pawl__error_code(err, status);
    }
    if (status != PAWL_OK) {
        pawl__memory_database_free(db);
        return status;
    }
    *out = db;
    return PAWL_OK;
}

void pawl__memory_database_free(struct pawl_memory_database *database)
{
    struct pawl_env *env;

    if (!database)
        return;
    env = database->env;
    pawl__memdb_synced(database);
    pawl__memdb_tables_release(database);
    pawl_cond_free(env, database->changed);
    pawl_mutex_free(env, database->mutex);
    pawl__free(&env->alloc, database, sizeof *database);
}

static void memory_close(struct pawl_store *base)
{
    struct memdb_store *store = memdb_cast(base);

    if (store->owns_database)
        pawl__memory_database_free(store->database);
    pawl__free(&store->env->alloc, store, sizeof *store);
}

static const struct pawl_store_ops memory_ops = {
    .version = PAWL_STORE_VERSION,
    .close = memory_close,
    .status = memory_status,
    .lease = memory_lease,
    .claim = pawl__memdb_claim,
    .apply = pawl__memdb_apply,
    .take = pawl__memdb_take,
    .find = pawl__memdb_find,
    .wait = memory_wait,
    .snapshot = memory_snapshot,
    .load = memory_load,
    .check = memory_check,
};

int pawl__memory_store_open(struct pawl_memory_database *database, struct pawl_env *env,
                            struct pawl_store **out, struct pawl_error *err)
{
    struct memdb_store *store = pawl__alloc_zeroed(&env->alloc, sizeof *store);

    if (!store)
        return pawl__error_code(err, PAWL_ENOMEM);
    store->base =
        (struct pawl_store){.ops = &memory_ops, .caps = PAWL_STORE_CAP_VISITS, .name = "memory"};
    store->database = database;
    store->env = env;
    *out = &store->base;
    return PAWL_OK;
}

int pawl__memory_store_new(struct pawl_env *env, struct pawl_store **out, struct pawl_error *err)
{
    struct pawl_memory_database *database = NULL;
    int status = pawl__memory_database_new(env, &database, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__memory_store_open(database, env, out, err);
    if (status != PAWL_OK) {
        pawl__memory_database_free(database);
        return status;
    }
    memdb_cast(*out)->owns_database = true;
    return PAWL_OK;
}
