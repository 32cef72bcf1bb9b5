/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk whose power can be cut, under SQLite: a VFS that passes everything on to the system's, and
 * remembers of each file what it had when it was last synced and what was written since.
 *
 * After the cut every call fails, as if the machine were gone. When the power is on again, a file
 * has what was synced, and of the rest all, nothing, or any part: sectors of 512 bytes, one by one,
 * so that pages are torn and later writes are there without earlier ones. A file that was never
 * synced may be missing, and one that was deleted without a sync of its folder may be back.
 *
 * Files are those that SQLite opens by name: databases, write-ahead logs, rollback journals. Shared
 * memory beside them goes with the power. One disk per process; safe for threads.
 */
#ifndef PAWL_TESTS_POWER_DISK_H
#define PAWL_TESTS_POWER_DISK_H

#include <stdbool.h>
#include <stdint.h>

enum disk_manner { DISK_LOSES_ALL, DISK_KEEPS_SOME, DISK_KEEPS_ALL, DISK_MANNERS };

/* What the calls are that can be the last: writes, truncations, syncs, deletions. */
struct disk_cut {
    uint64_t at; /* the first is 1; 0: never */
    enum disk_manner manner;
    uint64_t seed;
    /* Called once, in the call that is the last, on its thread. NULL allowed. */
    void (*happens)(void);
};

/* Makes it SQLite's default. Before any database is opened. */
void disk_install(void);
/* Forgets all files, none of which is open, counts from 0 and cuts as this says. */
void disk_begin(const struct disk_cut *cut);
/* Counted calls since then. */
uint64_t disk_calls(void);
bool disk_is_cut(void);
/* The next counted call is the last. */
void disk_cut_next(enum disk_manner manner);
/* After the cut: writes what has survived into the files. None is used any more. */
void disk_power_on(void);

#endif
