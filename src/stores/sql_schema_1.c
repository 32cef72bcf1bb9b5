/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version 1 of the schema, word for word as it was released. It never changes: what comes later is
 * a version of its own (sql_schema.c), made from what pawl_table_info() and the indexes say of it.
 */
#include "stores/sql_text.h"

/* clang-format off */
static const char *const sqlite[] = {
    "CREATE TABLE pawl_schema (version INTEGER NOT NULL, minimum_reader INTEGER NOT NULL, "
     "written_by TEXT NOT NULL, applied_us INTEGER NOT NULL, PRIMARY KEY (version)) STRICT",
    "CREATE TABLE pawl_instances (tenant_id TEXT NOT NULL, id TEXT NOT NULL, definition_id TEXT "
     "NOT NULL, version_id TEXT NOT NULL, version INTEGER NOT NULL, parent_id TEXT NOT NULL, "
     "status TEXT NOT NULL, sub_status TEXT NOT NULL, correlation_id TEXT NOT NULL, name TEXT NOT "
     "NULL, incident_count INTEGER NOT NULL, is_system INTEGER NOT NULL, created_us INTEGER NOT "
     "NULL, updated_us INTEGER NOT NULL, finished_us INTEGER NOT NULL, owner INTEGER NOT NULL, "
     "fence INTEGER NOT NULL, revision INTEGER NOT NULL, revision_fence INTEGER NOT NULL, "
     "cancel_requested INTEGER NOT NULL, runnable INTEGER NOT NULL, state BLOB NOT NULL, counts "
     "BLOB NOT NULL, PRIMARY KEY (tenant_id, id)) STRICT",
    "CREATE TABLE pawl_bookmarks (tenant_id TEXT NOT NULL, id TEXT NOT NULL, instance_id TEXT "
     "NOT NULL, name TEXT NOT NULL, hash TEXT NOT NULL, activity_id TEXT NOT NULL, "
     "activity_instance_id TEXT NOT NULL, correlation_id TEXT NOT NULL, created_us INTEGER NOT "
     "NULL, payload BLOB NOT NULL, metadata BLOB NOT NULL, PRIMARY KEY (tenant_id, id)) STRICT",
    "CREATE TABLE pawl_work (tenant_id TEXT NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, "
     "instance_id TEXT NOT NULL, bookmark_id TEXT NOT NULL, hash TEXT NOT NULL, correlation_id "
     "TEXT NOT NULL, activity_instance_id TEXT NOT NULL, name TEXT NOT NULL, part INTEGER NOT "
     "NULL, created_us INTEGER NOT NULL, due_us INTEGER NOT NULL, expires_us INTEGER NOT NULL, "
     "attempts INTEGER NOT NULL, attempted_us INTEGER NOT NULL, owner INTEGER NOT NULL, error "
     "TEXT NOT NULL, payload BLOB NOT NULL, PRIMARY KEY (tenant_id, id)) STRICT",
    "CREATE TABLE pawl_reservations (tenant_id TEXT NOT NULL, key TEXT NOT NULL, instance_id "
     "TEXT NOT NULL, value TEXT NOT NULL, expires_us INTEGER NOT NULL, PRIMARY KEY (tenant_id, "
     "key)) STRICT",
    "CREATE TABLE pawl_journal (tenant_id TEXT NOT NULL, instance_id TEXT NOT NULL, "
     "first_sequence INTEGER NOT NULL, count INTEGER NOT NULL, from_us INTEGER NOT NULL, to_us "
     "INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (tenant_id, instance_id, first_sequence)) "
     "STRICT",
    "CREATE TABLE pawl_definitions (tenant_id TEXT NOT NULL, id TEXT NOT NULL, definition_id "
     "TEXT NOT NULL, version INTEGER NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL, "
     "provider TEXT NOT NULL, is_latest INTEGER NOT NULL, is_published INTEGER NOT NULL, "
     "is_readonly INTEGER NOT NULL, is_system INTEGER NOT NULL, usable_as_activity INTEGER NOT "
     "NULL, revision INTEGER NOT NULL, created_us INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY "
     "KEY (tenant_id, id)) STRICT",
    "CREATE TABLE pawl_triggers (tenant_id TEXT NOT NULL, id TEXT NOT NULL, definition_id TEXT "
     "NOT NULL, version_id TEXT NOT NULL, name TEXT NOT NULL, activity_id TEXT NOT NULL, hash "
     "TEXT NOT NULL, payload BLOB NOT NULL, PRIMARY KEY (tenant_id, id)) STRICT",
    "CREATE TABLE pawl_settings (tenant_id TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT "
     "NULL, PRIMARY KEY (tenant_id, key)) STRICT",
    "CREATE TABLE pawl_dead_letters (tenant_id TEXT NOT NULL, id TEXT NOT NULL, work_id TEXT NOT "
     "NULL, kind TEXT NOT NULL, instance_id TEXT NOT NULL, bookmark_id TEXT NOT NULL, hash TEXT "
     "NOT NULL, correlation_id TEXT NOT NULL, activity_instance_id TEXT NOT NULL, name TEXT NOT "
     "NULL, reason TEXT NOT NULL, created_us INTEGER NOT NULL, dead_us INTEGER NOT NULL, attempts "
     "INTEGER NOT NULL, attempted_us INTEGER NOT NULL, can_replay INTEGER NOT NULL, replayed_us "
     "INTEGER NOT NULL, replayed_id TEXT NOT NULL, error TEXT NOT NULL, payload BLOB NOT NULL, "
     "PRIMARY KEY (tenant_id, id)) STRICT",
    "CREATE TABLE pawl_nodes (tenant_id TEXT NOT NULL, id TEXT NOT NULL, incarnation INTEGER NOT "
     "NULL, joined_us INTEGER NOT NULL, lease_us INTEGER NOT NULL, info TEXT NOT NULL, PRIMARY "
     "KEY (tenant_id, id)) STRICT",
    "CREATE TABLE pawl_stamps (tenant_id TEXT NOT NULL, name TEXT NOT NULL, value INTEGER NOT "
     "NULL, PRIMARY KEY (tenant_id, name)) STRICT",
    "CREATE INDEX pawl_instances_definition ON pawl_instances (tenant_id, definition_id, "
     "created_us)",
    "CREATE INDEX pawl_instances_correlation ON pawl_instances (tenant_id, correlation_id) WHERE "
     "correlation_id <> ''",
    "CREATE INDEX pawl_instances_parent ON pawl_instances (tenant_id, parent_id) WHERE parent_id "
     "<> ''",
    "CREATE INDEX pawl_instances_status ON pawl_instances (tenant_id, status, created_us)",
    "CREATE INDEX pawl_instances_sub_status ON pawl_instances (tenant_id, sub_status, created_us)",
    "CREATE INDEX pawl_instances_created ON pawl_instances (tenant_id, created_us)",
    "CREATE INDEX pawl_instances_updated ON pawl_instances (tenant_id, updated_us)",
    "CREATE INDEX pawl_instances_owned ON pawl_instances (tenant_id, owner) WHERE owner <> 0",
    "CREATE INDEX pawl_instances_runnable ON pawl_instances (tenant_id, owner) WHERE runnable <> "
     "0",
    "CREATE INDEX pawl_bookmarks_hash ON pawl_bookmarks (tenant_id, hash, id)",
    "CREATE INDEX pawl_bookmarks_correlation ON pawl_bookmarks (tenant_id, hash, correlation_id, "
     "id) WHERE correlation_id <> ''",
    "CREATE INDEX pawl_bookmarks_instance ON pawl_bookmarks (tenant_id, instance_id)",
    "CREATE INDEX pawl_work_due ON pawl_work (tenant_id, due_us) WHERE due_us < "
     "9223372036854775807",
    "CREATE INDEX pawl_work_kind ON pawl_work (tenant_id, kind, due_us) WHERE due_us < "
     "9223372036854775807",
    "CREATE INDEX pawl_work_expires ON pawl_work (tenant_id, expires_us) WHERE expires_us < "
     "9223372036854775807",
    "CREATE INDEX pawl_work_instance ON pawl_work (tenant_id, instance_id, due_us) WHERE "
     "instance_id <> ''",
    "CREATE INDEX pawl_work_parked ON pawl_work (tenant_id, hash) WHERE due_us = "
     "9223372036854775807",
    "CREATE INDEX pawl_reservations_instance ON pawl_reservations (tenant_id, instance_id) WHERE "
     "instance_id <> ''",
    "CREATE INDEX pawl_reservations_expires ON pawl_reservations (tenant_id, expires_us) WHERE "
     "expires_us < 9223372036854775807",
    "CREATE UNIQUE INDEX pawl_definitions_version ON pawl_definitions (tenant_id, definition_id, "
     "version)",
    "CREATE INDEX pawl_definitions_published ON pawl_definitions (tenant_id, definition_id, "
     "is_published)",
    "CREATE UNIQUE INDEX pawl_triggers_activity ON pawl_triggers (tenant_id, definition_id, "
     "hash, activity_id)",
    "CREATE INDEX pawl_triggers_hash ON pawl_triggers (tenant_id, hash)",
    "CREATE UNIQUE INDEX pawl_dead_letters_work ON pawl_dead_letters (tenant_id, work_id)",
    "CREATE INDEX pawl_dead_letters_dead ON pawl_dead_letters (tenant_id, dead_us)",
    "CREATE INDEX pawl_dead_letters_instance ON pawl_dead_letters (tenant_id, instance_id) WHERE "
     "instance_id <> ''",
    "CREATE UNIQUE INDEX pawl_nodes_incarnation ON pawl_nodes (tenant_id, incarnation)",
    "ANALYZE sqlite_schema",
    "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('pawl_instances', "
     "'sqlite_autoindex_pawl_instances_1', '1000000 1000000 1'), ('pawl_bookmarks', "
     "'sqlite_autoindex_pawl_bookmarks_1', '1000000 1000000 1'), ('pawl_work', "
     "'sqlite_autoindex_pawl_work_1', '1000000 1000000 1'), ('pawl_reservations', "
     "'sqlite_autoindex_pawl_reservations_1', '1000000 1000000 1'), ('pawl_journal', "
     "'sqlite_autoindex_pawl_journal_1', '1000000 1000000 10 1'), ('pawl_definitions', "
     "'sqlite_autoindex_pawl_definitions_1', '1000000 1000000 1'), ('pawl_triggers', "
     "'sqlite_autoindex_pawl_triggers_1', '1000000 1000000 1'), ('pawl_settings', "
     "'sqlite_autoindex_pawl_settings_1', '1000000 1000000 1'), ('pawl_dead_letters', "
     "'sqlite_autoindex_pawl_dead_letters_1', '1000000 1000000 1'), ('pawl_nodes', "
     "'sqlite_autoindex_pawl_nodes_1', '1000000 1000000 1'), ('pawl_stamps', "
     "'sqlite_autoindex_pawl_stamps_1', '1000000 1000000 1'), ('pawl_instances', "
     "'pawl_instances_definition', '1000000 1000000 1000 2'), ('pawl_instances', "
     "'pawl_instances_correlation', '1000000 1000000 10'), ('pawl_instances', "
     "'pawl_instances_parent', '1000000 1000000 10'), ('pawl_instances', 'pawl_instances_status', "
     "'1000000 1000000 400000 2'), ('pawl_instances', 'pawl_instances_sub_status', '1000000 "
     "1000000 200000 2'), ('pawl_instances', 'pawl_instances_created', '1000000 1000000 2'), "
     "('pawl_instances', 'pawl_instances_updated', '1000000 1000000 2'), ('pawl_instances', "
     "'pawl_instances_owned', '1000 1000 100'), ('pawl_instances', 'pawl_instances_runnable', "
     "'1000 1000 100'), ('pawl_bookmarks', 'pawl_bookmarks_hash', '1000000 1000000 1000 1'), "
     "('pawl_bookmarks', 'pawl_bookmarks_correlation', '1000000 1000000 1000 10 1'), "
     "('pawl_bookmarks', 'pawl_bookmarks_instance', '1000000 1000000 10'), ('pawl_work', "
     "'pawl_work_due', '1000000 1000000 10'), ('pawl_work', 'pawl_work_kind', '1000000 1000000 "
     "100000 2'), ('pawl_work', 'pawl_work_expires', '1000000 1000000 10'), ('pawl_work', "
     "'pawl_work_instance', '1000000 1000000 10 2'), ('pawl_work', 'pawl_work_parked', '1000000 "
     "1000000 10'), ('pawl_reservations', 'pawl_reservations_instance', '1000000 1000000 10'), "
     "('pawl_reservations', 'pawl_reservations_expires', '1000000 1000000 10'), "
     "('pawl_definitions', 'pawl_definitions_version', '1000000 1000000 10 1'), "
     "('pawl_definitions', 'pawl_definitions_published', '1000000 1000000 10 5'), "
     "('pawl_triggers', 'pawl_triggers_activity', '1000000 1000000 10 2 1'), ('pawl_triggers', "
     "'pawl_triggers_hash', '1000000 1000000 10'), ('pawl_dead_letters', "
     "'pawl_dead_letters_work', '1000000 1000000 1'), ('pawl_dead_letters', "
     "'pawl_dead_letters_dead', '1000000 1000000 10'), ('pawl_dead_letters', "
     "'pawl_dead_letters_instance', '1000000 1000000 10'), ('pawl_nodes', "
     "'pawl_nodes_incarnation', '1000000 1000000 1')",
    "ANALYZE sqlite_schema",
};
static const char *const postgres[] = {
    "CREATE TABLE pawl_schema (version bigint NOT NULL, minimum_reader bigint NOT NULL, "
     "written_by text COLLATE \"C\" NOT NULL, applied_us bigint NOT NULL, PRIMARY KEY (version))",
    "CREATE TABLE pawl_instances (tenant_id text COLLATE \"C\" NOT NULL, id text COLLATE \"C\" "
     "NOT NULL, definition_id text COLLATE \"C\" NOT NULL, version_id text COLLATE \"C\" NOT "
     "NULL, version bigint NOT NULL, parent_id text COLLATE \"C\" NOT NULL, status text COLLATE "
     "\"C\" NOT NULL, sub_status text COLLATE \"C\" NOT NULL, correlation_id text COLLATE \"C\" "
     "NOT NULL, name text COLLATE \"C\" NOT NULL, incident_count bigint NOT NULL, is_system "
     "bigint NOT NULL, created_us bigint NOT NULL, updated_us bigint NOT NULL, finished_us bigint "
     "NOT NULL, owner bigint NOT NULL, fence bigint NOT NULL, revision bigint NOT NULL, "
     "revision_fence bigint NOT NULL, cancel_requested bigint NOT NULL, runnable bigint NOT NULL, "
     "state bytea NOT NULL, counts bytea NOT NULL, PRIMARY KEY (id, tenant_id))",
    "CREATE TABLE pawl_bookmarks (tenant_id text COLLATE \"C\" NOT NULL, id text COLLATE \"C\" "
     "NOT NULL, instance_id text COLLATE \"C\" NOT NULL, name text COLLATE \"C\" NOT NULL, hash "
     "text COLLATE \"C\" NOT NULL, activity_id text COLLATE \"C\" NOT NULL, activity_instance_id "
     "text COLLATE \"C\" NOT NULL, correlation_id text COLLATE \"C\" NOT NULL, created_us bigint "
     "NOT NULL, payload bytea NOT NULL, metadata bytea NOT NULL, PRIMARY KEY (id, tenant_id))",
    "CREATE TABLE pawl_work (tenant_id text COLLATE \"C\" NOT NULL, id text COLLATE \"C\" NOT "
     "NULL, kind text COLLATE \"C\" NOT NULL, instance_id text COLLATE \"C\" NOT NULL, "
     "bookmark_id text COLLATE \"C\" NOT NULL, hash text COLLATE \"C\" NOT NULL, correlation_id "
     "text COLLATE \"C\" NOT NULL, activity_instance_id text COLLATE \"C\" NOT NULL, name text "
     "COLLATE \"C\" NOT NULL, part bigint NOT NULL, created_us bigint NOT NULL, due_us bigint NOT "
     "NULL, expires_us bigint NOT NULL, attempts bigint NOT NULL, attempted_us bigint NOT NULL, "
     "owner bigint NOT NULL, error text COLLATE \"C\" NOT NULL, payload bytea NOT NULL, PRIMARY "
     "KEY (id, tenant_id))",
    "CREATE TABLE pawl_reservations (tenant_id text COLLATE \"C\" NOT NULL, key text COLLATE "
     "\"C\" NOT NULL, instance_id text COLLATE \"C\" NOT NULL, value text COLLATE \"C\" NOT NULL, "
     "expires_us bigint NOT NULL, PRIMARY KEY (key, tenant_id))",
    "CREATE TABLE pawl_journal (tenant_id text COLLATE \"C\" NOT NULL, instance_id text COLLATE "
     "\"C\" NOT NULL, first_sequence bigint NOT NULL, count bigint NOT NULL, from_us bigint NOT "
     "NULL, to_us bigint NOT NULL, data bytea NOT NULL, PRIMARY KEY (instance_id, first_sequence, "
     "tenant_id))",
    "CREATE TABLE pawl_definitions (tenant_id text COLLATE \"C\" NOT NULL, id text COLLATE \"C\" "
     "NOT NULL, definition_id text COLLATE \"C\" NOT NULL, version bigint NOT NULL, name text "
     "COLLATE \"C\" NOT NULL, description text COLLATE \"C\" NOT NULL, provider text COLLATE "
     "\"C\" NOT NULL, is_latest bigint NOT NULL, is_published bigint NOT NULL, is_readonly bigint "
     "NOT NULL, is_system bigint NOT NULL, usable_as_activity bigint NOT NULL, revision bigint "
     "NOT NULL, created_us bigint NOT NULL, data bytea NOT NULL, PRIMARY KEY (id, tenant_id))",
    "CREATE TABLE pawl_triggers (tenant_id text COLLATE \"C\" NOT NULL, id text COLLATE \"C\" "
     "NOT NULL, definition_id text COLLATE \"C\" NOT NULL, version_id text COLLATE \"C\" NOT "
     "NULL, name text COLLATE \"C\" NOT NULL, activity_id text COLLATE \"C\" NOT NULL, hash text "
     "COLLATE \"C\" NOT NULL, payload bytea NOT NULL, PRIMARY KEY (id, tenant_id))",
    "CREATE TABLE pawl_settings (tenant_id text COLLATE \"C\" NOT NULL, key text COLLATE \"C\" "
     "NOT NULL, value bytea NOT NULL, PRIMARY KEY (key, tenant_id))",
    "CREATE TABLE pawl_dead_letters (tenant_id text COLLATE \"C\" NOT NULL, id text COLLATE "
     "\"C\" NOT NULL, work_id text COLLATE \"C\" NOT NULL, kind text COLLATE \"C\" NOT NULL, "
     "instance_id text COLLATE \"C\" NOT NULL, bookmark_id text COLLATE \"C\" NOT NULL, hash text "
     "COLLATE \"C\" NOT NULL, correlation_id text COLLATE \"C\" NOT NULL, activity_instance_id "
     "text COLLATE \"C\" NOT NULL, name text COLLATE \"C\" NOT NULL, reason text COLLATE \"C\" "
     "NOT NULL, created_us bigint NOT NULL, dead_us bigint NOT NULL, attempts bigint NOT NULL, "
     "attempted_us bigint NOT NULL, can_replay bigint NOT NULL, replayed_us bigint NOT NULL, "
     "replayed_id text COLLATE \"C\" NOT NULL, error text COLLATE \"C\" NOT NULL, payload bytea "
     "NOT NULL, PRIMARY KEY (id, tenant_id))",
    "CREATE TABLE pawl_nodes (tenant_id text COLLATE \"C\" NOT NULL, id text COLLATE \"C\" NOT "
     "NULL, incarnation bigint NOT NULL, joined_us bigint NOT NULL, lease_us bigint NOT NULL, "
     "info text COLLATE \"C\" NOT NULL, PRIMARY KEY (id, tenant_id))",
    "CREATE TABLE pawl_stamps (tenant_id text COLLATE \"C\" NOT NULL, name text COLLATE \"C\" "
     "NOT NULL, value bigint NOT NULL, PRIMARY KEY (name, tenant_id))",
    "CREATE INDEX pawl_instances_definition ON pawl_instances (definition_id, created_us)",
    "CREATE INDEX pawl_instances_correlation ON pawl_instances (correlation_id) WHERE "
     "correlation_id <> ''",
    "CREATE INDEX pawl_instances_parent ON pawl_instances (parent_id) WHERE parent_id <> ''",
    "CREATE INDEX pawl_instances_status ON pawl_instances (status, created_us)",
    "CREATE INDEX pawl_instances_sub_status ON pawl_instances (sub_status, created_us)",
    "CREATE INDEX pawl_instances_created ON pawl_instances (created_us)",
    "CREATE INDEX pawl_instances_updated ON pawl_instances (updated_us)",
    "CREATE INDEX pawl_instances_owned ON pawl_instances (owner) WHERE owner <> 0",
    "CREATE INDEX pawl_instances_runnable ON pawl_instances (owner) WHERE runnable <> 0",
    "CREATE INDEX pawl_bookmarks_hash ON pawl_bookmarks (hash, id)",
    "CREATE INDEX pawl_bookmarks_correlation ON pawl_bookmarks (hash, correlation_id, id) WHERE "
     "correlation_id <> ''",
    "CREATE INDEX pawl_bookmarks_instance ON pawl_bookmarks (instance_id)",
    "CREATE INDEX pawl_work_due ON pawl_work (due_us) WHERE due_us < 9223372036854775807",
    "CREATE INDEX pawl_work_kind ON pawl_work (kind, due_us) WHERE due_us < 9223372036854775807",
    "CREATE INDEX pawl_work_expires ON pawl_work (expires_us) WHERE expires_us < "
     "9223372036854775807",
    "CREATE INDEX pawl_work_instance ON pawl_work (instance_id, due_us) WHERE instance_id <> ''",
    "CREATE INDEX pawl_work_parked ON pawl_work (hash) WHERE due_us = 9223372036854775807",
    "CREATE INDEX pawl_reservations_instance ON pawl_reservations (instance_id) WHERE "
     "instance_id <> ''",
    "CREATE INDEX pawl_reservations_expires ON pawl_reservations (expires_us) WHERE expires_us < "
     "9223372036854775807",
    "CREATE UNIQUE INDEX pawl_definitions_version ON pawl_definitions (definition_id, version, "
     "tenant_id)",
    "CREATE INDEX pawl_definitions_published ON pawl_definitions (definition_id, is_published)",
    "CREATE UNIQUE INDEX pawl_triggers_activity ON pawl_triggers (definition_id, hash, "
     "activity_id, tenant_id)",
    "CREATE INDEX pawl_triggers_hash ON pawl_triggers (hash)",
    "CREATE UNIQUE INDEX pawl_dead_letters_work ON pawl_dead_letters (work_id, tenant_id)",
    "CREATE INDEX pawl_dead_letters_dead ON pawl_dead_letters (dead_us)",
    "CREATE INDEX pawl_dead_letters_instance ON pawl_dead_letters (instance_id) WHERE "
     "instance_id <> ''",
    "CREATE UNIQUE INDEX pawl_nodes_incarnation ON pawl_nodes (incarnation, tenant_id)",
};
/* clang-format on */

const char *const *pawl__sql_first_schema(enum pawl_sql_dialect dialect, size_t *count)
{
    *count = dialect == PAWL_SQL_SQLITE ? sizeof sqlite / sizeof sqlite[0]
                                        : sizeof postgres / sizeof postgres[0];
    return dialect == PAWL_SQL_SQLITE ? sqlite : postgres;
}
