/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statements that only PostgreSQL has: those that take many rows at once. The others come from
 * sql.h, with which these share the tables, the indexes and the verdict 'pawl.ok'.
 */
#include "base/buf.h"
#include "stores/postgres.h"
#include "stores/sql_text.h"

#define NOW "(SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint)"
#define TENANT PAWL_SQL_TENANT_POSTGRES
/* Locks of our own: 'pawl' in the first of two numbers, which no lock by one number meets. */
#define LOCK_SPACE "1885435756"

#define LOCK(table)                                                                                \
    "SELECT 1 FROM " table " WHERE " TENANT " AND id = ANY ($1) ORDER BY id FOR UPDATE"
/*
 * Most of the time nothing is parked. When something is, waiters are notified by the same
 * transaction. Each bookmark is looked up by itself, which OFFSET 0 sees to, with and without its
 * correlation and its instance: by the index of what waits, of which only the rows that match are
 * read. (Of a comparison with = ANY only the first column of the index would be used.)
 */
#define WAKE(condition)                                                                            \
    "WITH woken AS (UPDATE pawl_work AS w SET due_us = " NOW " WHERE w." TENANT                    \
    " AND w.id = ANY (ARRAY(SELECT p.id FROM unnest($1, $2, $3, $4, $5, $6) AS b(id, hash, "       \
    "correlation, instance, activity, member) CROSS JOIN LATERAL unnest(ARRAY['', "                \
    "b.correlation]) AS "                                                                          \
    "c(correlation) CROSS JOIN LATERAL unnest(ARRAY['', b.instance]) AS i(instance) CROSS JOIN "   \
    "LATERAL (SELECT q.id FROM pawl_work AS q WHERE q." TENANT " AND q.hash = b.hash AND q.hash "  \
    "<> '' AND q.correlation_id = c.correlation AND q.instance_id = i.instance AND "               \
    "q.activity_instance_id IN ('', b.activity) AND q.due_us = " PAWL_SQL_NEVER                    \
    " OFFSET 0) AS p WHERE " condition ")) "                                                       \
    "AND w.due_us " PAWL_SQL_IS_POSTGRES " " PAWL_SQL_NEVER                                        \
    " AND w.owner = 0 RETURNING 1) SELECT "                                                        \
    "pg_notify('pawl', '') FROM "                                                                  \
    "(SELECT 1 FROM woken LIMIT 1) AS one"
/* For statements that need the same moment twice. */
#define CLOCK "WITH c AS MATERIALIZED (SELECT " NOW " AS now) "
#define ALIVE(incarnation)                                                                         \
    "EXISTS (SELECT 1 FROM pawl_nodes AS n WHERE n." TENANT " AND n.incarnation = " incarnation    \
    " AND n.lease_us > " NOW ")"
/* As in sql_statements.c: a dead node's, if `$2` itself is alive. */
#define LEFT_BEHIND "(NOT " ALIVE("i.owner") " AND " ALIVE("$2") ")"
#define CLAIMED                                                                                    \
    "UPDATE pawl_instances AS i SET owner = $2, fence = greatest(fence, $3) + 1, "                 \
    "takeovers = takeovers + "                                                                     \
    "(CASE WHEN owner IN (0, $2) THEN 0 ELSE 1 END) "

/* Of those, what is nobody's, or already `$2`'s, or a dead node's. */
#define UNOWNED                                                                                    \
    "WHERE i." TENANT " AND i.id = ANY ($1) AND (i.owner = 0 OR i.owner = $2 OR " LEFT_BEHIND ")"

/* {} stands for the columns, each with its table's letter. */
static const struct {
    enum pawl_table table;
    char letter;
    const char *format;
} formats[PG_OWN_COUNT] = {
    [PG_LOCK_INSTANCES] = {PAWL_TABLE_INSTANCES, 0, LOCK("pawl_instances")},
    [PG_LOCK_WORK] = {PAWL_TABLE_WORK, 0, LOCK("pawl_work")},
    /* In the order of the locks, so that two who want the same ones do not wait for each other. */
    [PG_LOCK_KEYS] = {PAWL_TABLE_RESERVATIONS, 0,
                      "SELECT count(pg_advisory_xact_lock(" LOCK_SPACE
                      ", k.h)) FROM (SELECT DISTINCT "
                      "hashtext(u) AS h FROM unnest($1) AS u ORDER BY 1) AS k"},
    /* No row is made for a look at it: a commit that is dropped leaves nothing behind. */
    [PG_STAMP_CHECK] = {PAWL_TABLE_STAMPS, 0,
                        "SELECT set_config('pawl.ok', CASE WHEN ($3 = 1 OR " PAWL_SQL_OK ") AND "
                        "coalesce((SELECT value FROM pawl_stamps WHERE " TENANT " AND name = "
                        "$1 FOR UPDATE), 0) = $2 THEN '1' ELSE '0' END, true)"},
    [PG_STAMP] =
        {PAWL_TABLE_STAMPS, 0,
         "INSERT INTO pawl_stamps (tenant_id, name, value) SELECT '', $1, $2 + 1 WHERE " PAWL_SQL_OK
         " ON CONFLICT (tenant_id, name) DO UPDATE SET value = excluded.value"},
    [PG_HOLD] = {PAWL_TABLE_NODES, 0,
                 "SELECT CASE WHEN " PAWL_SQL_OK " THEN set_config('pawl.held', " PAWL_SQL_MEMBERS
                 " || ',' || $1, true) END"},
    [PG_WAKE] = {PAWL_TABLE_WORK, 0, WAKE(PAWL_SQL_IS_HELD("b.member"))},
    [PG_WAKE_LATE] = {PAWL_TABLE_WORK, 0,
                      WAKE("EXISTS (SELECT 1 FROM pawl_bookmarks AS k WHERE k." TENANT
                           " AND k.id = b.id AND k.hash " PAWL_SQL_IS_POSTGRES " b.hash "
                           "AND k.correlation_id " PAWL_SQL_IS_POSTGRES " b.correlation "
                           "AND k.instance_id " PAWL_SQL_IS_POSTGRES " b.instance OFFSET 0)")},
    [PG_MAIL_LEFT] = {PAWL_TABLE_WORK, 0,
                      "SELECT v.member, w.id FROM unnest($1, $2, $3) AS v(member, id, most) CROSS "
                      "JOIN LATERAL (SELECT q.id FROM pawl_work AS q WHERE q." TENANT
                      " AND q.instance_id = v.id AND q.instance_id <> '' AND q.due_us <= " NOW
                      " ORDER BY q.due_us, q.id LIMIT v.most) AS w"},
    [PG_NOTIFY] = {PAWL_TABLE_WORK, 0,
                   "SELECT set_config('synchronous_commit', 'off', true), pg_notify('pawl', '')"},
    [PG_MAY_SCAN] = {PAWL_TABLE_WORK, 0,
                     "SELECT set_config('enable_seqscan', 'on', true), "
                     "set_config('enable_bitmapscan', 'on', true), "
                     "set_config('plan_cache_mode', 'auto', true)"},
    [PG_PATIENT] = {PAWL_TABLE_NODES, 0, "SELECT set_config('lock_timeout', '0', true)"},
    /* Behind what the user calls it: the tables, since a database may have several stores, and the
     * nodes. Set once per session. */
    [PG_NAME_SESSION] = {PAWL_TABLE_NODES, 0,
                         "SELECT set_config('application_name', left(regexp_replace("
                         "current_setting('application_name'), '/[0-9]+:[0-9,]+$', ''), "
                         "63 - octet_length(t.t)) || t.t, false) FROM (SELECT CASE WHEN $1 = '' "
                         "THEN '' ELSE '/' || 'pawl_nodes'::regclass::oid || ':' || $1 END AS t) "
                         "AS t"},
    /*
     * A session whose client has stopped with half of a batch sent counts as active and waits for
     * its client: no timeout of the server ends it before PostgreSQL 17, and it keeps its locks.
     * One that is in no transaction holds up nobody. Who is not allowed to end it leaves it.
     */
    [PG_END_DEAD] =
        {PAWL_TABLE_NODES, 0,
         "SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity AS a WHERE "
         "a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.xact_start "
         "< clock_timestamp() - $1 * interval '1 microsecond' AND a.application_name ~ "
         "('/' || 'pawl_nodes'::regclass::oid || ':[0-9,]+$') AND "
         "pg_has_role(a.usesysid, 'USAGE') AND NOT EXISTS (SELECT 1 FROM pawl_nodes AS "
         "n WHERE n." TENANT " AND n.lease_us > " NOW " AND n.incarnation::text = ANY "
         "(string_to_array(substring(a.application_name FROM '[0-9,]+$'), ',')))"},
    /* Not LOCK TABLE, which no pipeline may begin with and which renewals would wait for. */
    [PG_JOIN_LOCK] = {PAWL_TABLE_NODES, 0, "SELECT pg_advisory_xact_lock(1885435757, 2)"},
    [PG_JOIN] = {PAWL_TABLE_NODES, 0,
                 CLOCK ", s AS (INSERT INTO pawl_stamps (tenant_id, name, value) SELECT '', "
                       "'" PAWL_STAMP_INCARNATIONS "', coalesce(max(incarnation), 0) + 1 FROM "
                       "pawl_nodes WHERE " TENANT " ON CONFLICT (tenant_id, name) DO UPDATE SET "
                       "value = greatest(pawl_stamps.value + 1, excluded.value) RETURNING value) "
                       "INSERT INTO pawl_nodes (tenant_id, id, incarnation, joined_us, lease_us, "
                       "info) SELECT '', $1, s.value, c.now, c.now + $3, $2 FROM c, s ON CONFLICT "
                       "(tenant_id, id) DO UPDATE SET incarnation = excluded.incarnation, "
                       "joined_us = excluded.joined_us, lease_us = excluded.lease_us, info = "
                       "excluded.info RETURNING incarnation, joined_us"},
    [PG_RENEW] = {PAWL_TABLE_NODES, 0,
                  CLOCK ", o AS MATERIALIZED (SELECT lease_us FROM pawl_nodes WHERE " TENANT " "
                        "AND id = $1 AND incarnation = $2 FOR UPDATE) UPDATE pawl_nodes AS n SET "
                        "lease_us = c.now + $4, info = $3 FROM c, o WHERE n." TENANT " AND n.id "
                        "= $1 AND n.incarnation = $2 RETURNING o.lease_us, c.now"},
    [PG_CLAIM] = {PAWL_TABLE_INSTANCES, 'i', CLAIMED UNOWNED " RETURNING {}"},
    [PG_CLAIM_MATCH] = {PAWL_TABLE_INSTANCES, 'i',
                        CLAIMED UNOWNED
                        " AND EXISTS (SELECT 1 FROM pawl_bookmarks AS b WHERE b." TENANT
                        " AND b.instance_id = i.id AND b.hash " PAWL_SQL_IS_POSTGRES
                        " $4) RETURNING {}"},
    [PG_TRY_LOCKS] = {PAWL_TABLE_INSTANCES, 0,
                      "SELECT set_config('pawl.locked', (SELECT coalesce(array_agg(u.n), "
                      "ARRAY[]::bigint[]) FROM unnest($1) WITH ORDINALITY AS u(key, n) WHERE u.key "
                      "= 0 OR pg_try_advisory_lock(u.key))::text, true)"},
    [PG_CLAIM_LOCKED] = {PAWL_TABLE_INSTANCES, 'i',
                         CLAIMED
                         "WHERE i." TENANT " AND i.id = ANY ($1) AND (i.owner = $2 OR CASE "
                         "WHEN i.owner = 0 THEN array_position($1, i.id) "
                         "= ANY (current_setting('pawl.locked')::bigint[]) ELSE " LEFT_BEHIND
                         " END) RETURNING {}"},
    [PG_UNLOCK] = {PAWL_TABLE_INSTANCES, 0,
                   "SELECT count(pg_advisory_unlock(k)) FROM unnest($1) AS k"},
    [PG_CLAIM_BUSY] = {PAWL_TABLE_INSTANCES, 'i',
                       "SELECT {} FROM pawl_instances AS i WHERE i." TENANT " AND i.id = ANY "
                       "($1) AND i.owner <> $2"},
    [PG_CLAIM_MAIL] = {PAWL_TABLE_WORK, 'w',
                       "SELECT {} FROM pawl_instances AS i CROSS JOIN LATERAL (SELECT * FROM "
                       "pawl_work AS m WHERE m." TENANT " AND m.instance_id = i.id AND "
                       "m.instance_id <> '' AND m.due_us <= " NOW " ORDER BY m.due_us, m.id LIMIT "
                       "$3) AS w WHERE i." TENANT " AND i.id = ANY ($1) AND i.owner = $2 "
                       "ORDER BY w.instance_id, w.due_us, w.id"},
};

static uint64_t all_columns(enum pawl_table table)
{
    return ((uint64_t)1 << pawl_table_info(table)->column_count) - 1;
}

static void write_columns(struct pawl_buf *buf, enum pawl_table table, char letter,
                          uint64_t columns)
{
    const struct pawl_table_info *info = pawl_table_info(table);
    const char *comma = "";

    for (uint32_t i = 0; i < info->column_count; i++)
        if (columns >> i & 1) {
            pawl__buf_printf(buf, "%s%c.%s", comma, letter, info->columns[i].name);
            comma = ", ";
        }
}

static int make(struct pawl_postgres *pg, enum pg_own own, struct pawl_buf *buf)
{
    const char *format = formats[own].format, *hole = strstr(format, "{}");
    struct pawl_str text;

    pawl__buf_clear(buf);
    pg->own_columns[own] = hole ? all_columns(formats[own].table) : 0;
    if (own == PG_CLAIM_BUSY)
        pg->own_columns[own] &= ~((uint64_t)1 << pawl_table_column(PAWL_TABLE_INSTANCES, "state"));
    if (hole) {
        pawl__buf_append(buf, format, (size_t)(hole - format));
        write_columns(buf, formats[own].table, formats[own].letter, pg->own_columns[own]);
        format = hole + 2;
    }
    pawl__buf_text(buf, format);
    if (buf->status != PAWL_OK)
        return buf->status;
    text = pawl__arena_str(&pg->texts, pawl__buf_peek(buf));
    pg->own[own] = text.ptr;
    return text.ptr ? PAWL_OK : pawl__arena_status(&pg->texts);
}

int pawl__pg_texts_make(struct pawl_postgres *pg)
{
    struct pawl_buf buf;
    int status = PAWL_OK;

    pawl__buf_init(&buf, &pg->env->alloc, (size_t)16 << 10);
    for (int own = 0; own < PG_OWN_COUNT && status == PAWL_OK; own++)
        status = make(pg, (enum pg_own)own, &buf);
    pawl__buf_release(&buf);
    return status;
}
