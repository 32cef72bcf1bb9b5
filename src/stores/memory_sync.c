/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the memory store forgets when its server crashes, for simulations.
 *
 * Commits are durable when apply() returns. Claims and takes need not be: a server may lose those
 * that no commit has followed, the newest first, as a log that was not flushed to the disk loses
 * its end. So each is noted as the row was before it, until a commit makes all of them durable.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "stores/memory_private.h"

void pawl__memory_database_set_forgetful(struct pawl_memory_database *database)
{
    database->forgetful = true;
}

void pawl__memdb_note_unsynced(struct pawl_memory_database *db, const struct memdb_row *row)
{
    struct pawl_str id = row->table == PAWL_TABLE_INSTANCES ? memdb_instance_data(row)->id
                                                            : memdb_work_data(row)->id;
    struct memdb_unsynced *note;

    if (!db->forgetful)
        return;
    note = pawl__alloc_zeroed(&db->env->alloc, sizeof *note + id.len);
    if (!note)
        return;
    note->table = row->table;
    if (row->table == PAWL_TABLE_INSTANCES) {
        note->owner = memdb_instance_data(row)->owner;
        note->fence = memdb_instance_data(row)->fence;
        note->takeovers = memdb_instance_data(row)->takeovers;
    } else {
        note->owner = memdb_work_data(row)->owner;
        note->takeovers = memdb_work_data(row)->takeovers;
    }
    memcpy(note + 1, id.ptr, id.len);
    note->id = pawl__str_make((const char *)(note + 1), id.len);
    pawl__list_push_back(&db->unsynced, &note->link);
}

static void free_note(struct pawl_memory_database *db, struct memdb_unsynced *note)
{
    pawl__list_remove(&note->link);
    pawl__free(&db->env->alloc, note, sizeof *note + note->id.len);
}

void pawl__memdb_synced(struct pawl_memory_database *db)
{
    while (!pawl__list_empty(&db->unsynced))
        free_note(db, PAWL_CONTAINER(db->unsynced.head.next, struct memdb_unsynced, link));
}

static void undo(struct pawl_memory_database *db, const struct memdb_unsynced *note)
{
    struct memdb_row *row = note->table == PAWL_TABLE_INSTANCES ? pawl__memdb_instance(db, note->id)
                                                                : pawl__memdb_work(db, note->id);

    PAWL_ASSERT(row); /* whatever removed it was a commit */
    if (note->table == PAWL_TABLE_INSTANCES) {
        memdb_instance_data(row)->owner = note->owner;
        memdb_instance_data(row)->fence = note->fence;
        memdb_instance_data(row)->takeovers = note->takeovers;
        pawl__memdb_instance_moved(db, row);
    } else {
        memdb_work_data(row)->owner = note->owner;
        memdb_work_data(row)->takeovers = note->takeovers;
    }
}

int pawl__memory_database_crash(struct pawl_memory_database *database, uint32_t keep,
                                pawl_forgotten_visitor visit, void *ctx)
{
    uint32_t count = 0;
    const struct memdb_unsynced *note;
    int status = pawl_mutex_lock(database->env, database->mutex);

    if (status != PAWL_OK)
        return status;
    PAWL_LIST_FOR_EACH (note, &database->unsynced, link)
        count++;
    for (; count > keep; count--) {
        struct memdb_unsynced *newest =
            PAWL_CONTAINER(database->unsynced.head.prev, struct memdb_unsynced, link);

        undo(database, newest);
        visit(ctx, newest->table, newest->id, newest->owner, newest->fence);
        free_note(database, newest);
    }
    pawl__memdb_synced(database);
    pawl_mutex_unlock(database->env, database->mutex);
    return PAWL_OK;
}
