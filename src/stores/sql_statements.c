/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The named statements, as templates (sql_text.h) in both dialects. What each reads and returns is
 * said in sql.h.
 *
 * Predicates that look superfluous, such as instance_id <> '' beside instance_id = …, are those of
 * the partial indexes: neither database uses such an index unless the query says it too.
 */
#include "stores/clock.h"
#include "stores/sql_text.h"
#include "stores/stores.h"

/* clang-format off */
#define ALIVE(incarnation)                                                                         \
    "EXISTS (SELECT 1 FROM pawl_nodes AS n WHERE n.{tenant} AND n.incarnation "              \
    "= " incarnation " AND n.lease_us > {now})"
/* What a dead node has is there for those whose own lease is valid. When the clock has jumped none
 * is: nodes that live would take from each other what they run, and it would look as if it killed
 * them. */
#define LEFT_BY(owner) "(NOT " ALIVE(owner) " AND " ALIVE("{owner}") ")"

/* The last guard of a member: writes the instance, and so locks it. */
#define GUARD_WITH(statement)                                                                      \
    "WITH m AS (" statement " RETURNING cancel_requested) "                                        \
    "SELECT set_config('pawl.ok', CASE WHEN EXISTS (SELECT 1 FROM m) THEN '1' ELSE '0' END, true)" \
    ", coalesce((SELECT cancel_requested FROM m), 0), CASE WHEN EXISTS (SELECT 1 FROM m) THEN "    \
    "set_config('pawl.held', " PAWL_SQL_MEMBERS " || ',' || {member}, true) END"
/* Guards of many members. ABSENT_MANY bars those whose reservation there is, or is too late: each is
 * looked up by itself, which LIMIT 1 sees to. */
#define ABSENT_MANY                                                                                \
    "SELECT set_config('pawl.barred', '0' || coalesce(string_agg(',' || b.member, ''), ''), "      \
    "true), coalesce(string_agg(',' || b.member, '') FILTER (WHERE b.present IS NULL), '') "       \
    "FROM (SELECT v.member, r.present, {.expires_us} <= {now} AS expired{rows} "                   \
    "LEFT JOIN LATERAL (SELECT true AS present FROM {table} WHERE {tenant} AND {keyed} LIMIT 1) "  \
    "AS r ON true) AS b WHERE b.present OR b.expired"
#define NOT_BARRED(member)                                                                         \
    member " <> ALL ((SELECT string_to_array(coalesce(nullif(current_setting('pawl.barred', "      \
    "true), ''), '0'), ',')::bigint[])::bigint[])"
#define PLAIN_MANY                                                                                 \
    "SELECT set_config('pawl.held', " PAWL_SQL_MEMBERS " || coalesce((SELECT string_agg(',' || "   \
    "u.member, '') FROM unnest({members}) AS u(member) WHERE " NOT_BARRED("u.member") "), ''), "   \
    "true)"
#define GUARD_MANY(statement)                                                                      \
    "WITH m AS (" statement " AND " NOT_BARRED("v.member") " RETURNING v.member, "                 \
    "cancel_requested) SELECT set_config('pawl.held', " PAWL_SQL_MEMBERS                           \
    " || coalesce((SELECT string_agg(',' || m.member, '') FROM m), ''), true), "                   \
    "coalesce((SELECT string_agg(',' || m.member, '') FROM m WHERE m.cancel_requested <> 0), '')"

#define MINE                                                                                       \
    "{tenant} AND id = {.id} AND owner {is} {.owner} AND fence = {.fence} "                     \
    "AND revision = {.revision} AND {.owner} <> 0"
#define STEP                                                                                       \
    "owner = {owner}, revision = revision + 1, revision_fence = fence, revision_owner = {.owner}"
/* A step was taken: whatever stood in its way before has ended. */
#define PROGRESS "takeovers = 0, failures = 0, retry_us = 0, trouble = '', alone = 0"

#define CREATE "INSERT INTO pawl_instances (tenant_id, {all}) "
#define CREATE_END " ON CONFLICT DO NOTHING"
/* That one is there already is rare: only then it is asked which. */
#define CREATE_MANY                                                                                \
    "WITH m AS (" CREATE "SELECT '', {created}{each} WHERE " NOT_BARRED("v.member") CREATE_END     \
    " RETURNING id) "                                                                              \
    "SELECT set_config('pawl.held', " PAWL_SQL_MEMBERS                                             \
    " || CASE WHEN (SELECT count(*) FROM m) = cardinality({.id}) THEN {listed} ELSE "              \
    "(SELECT coalesce(string_agg(',' || u.member, ''), '') FROM unnest({.id}, {members}) AS "      \
    "u(id, member) WHERE u.id IN (SELECT id FROM m)) END, true)"
#define ADVANCE_OF(rows)                                                                           \
    "UPDATE pawl_instances SET " STEP ", " PROGRESS ", {advanced}" rows " WHERE " MINE
#define ADVANCE ADVANCE_OF("")
/* Claims it as well: nobody has it, and nobody had it since it was read. */
#define ADVANCE_VISITED_OF(rows)                                                                   \
    "UPDATE pawl_instances SET owner = {owner}, fence = {.fence}, revision = revision + 1, "       \
    "revision_fence = {.fence}, revision_owner = {.owner}, " PROGRESS ", {advanced}" rows " WHERE " \
    "{tenant} AND id = {.id} AND owner = 0 AND fence < {.fence} AND revision = {.revision} "       \
    "AND updated_us {is} {value} AND {.owner} <> 0"
#define ADVANCE_VISITED ADVANCE_VISITED_OF("")
#define NOT_RESERVED                                                                               \
    "NOT EXISTS (SELECT 1 FROM pawl_reservations WHERE {tenant} AND key = {text}) "                \
    "AND {limit} > {now}"
#define REOPEN                                                                                     \
    "UPDATE pawl_instances SET " STEP ", " PROGRESS ", cancel_requested = 0, {advanced} WHERE " MINE
#define KEEP "UPDATE pawl_instances SET " STEP " WHERE " MINE
#define TROUBLE                                                                                    \
    "failures = {.failures}, retry_us = {.retry_us}, trouble = {.trouble}, alone = {.alone}"
#define SET_ASIDE "UPDATE pawl_instances SET " STEP ", " TROUBLE " WHERE " MINE
#define END                                                                                        \
    "UPDATE pawl_instances SET " STEP ", " TROUBLE ", takeovers = 0, status = {.status}, "         \
    "sub_status = {.sub_status}, runnable = {.runnable}, updated_us = {.updated_us}, "             \
    "finished_us = {.finished_us} WHERE " MINE
#define REMOVE "DELETE FROM pawl_instances WHERE " MINE
#define CANCEL "UPDATE pawl_instances SET cancel_requested = 1 WHERE {tenant} AND id = {.id}"
/* The row is another node's, which may hold it for long: it is not waited for. Returns whether
 * there is such an instance, too. */
#define CANCEL_POSTGRES                                                                            \
    "WITH l AS MATERIALIZED (SELECT 1 FROM pawl_instances WHERE {tenant} AND id = {.id} FOR UPDATE " \
    "SKIP LOCKED), m AS (" CANCEL " AND EXISTS (SELECT 1 FROM l) AND " PAWL_SQL_HELD               \
    " RETURNING 1) SELECT set_config('pawl.ok', CASE WHEN EXISTS (SELECT 1 FROM m) THEN '1' ELSE " \
    "'0' END, true), (SELECT count(*) FROM pawl_instances WHERE {tenant} AND id = {.id})"

#define DONE "DELETE FROM pawl_work WHERE {tenant} AND id = {id} AND owner = {owner}"
#define STAMP                                                                                      \
    "UPDATE pawl_stamps SET value = value + 1 WHERE {tenant} AND name = {text} "             \
    "AND value = {value}"
#define STAMP_ENSURE                                                                               \
    "INSERT INTO pawl_stamps (tenant_id, name, value) VALUES ('', {text}, 0) ON CONFLICT DO "      \
    "NOTHING"
#define WAKE                                                                                       \
    "UPDATE pawl_work SET due_us = {now} WHERE {tenant} AND hash = {.hash} "                 \
    "AND hash <> '' AND correlation_id IN ('', {.correlation_id}) "                                \
    "AND instance_id IN ('', {.instance_id}) "                                                     \
    "AND activity_instance_id IN ('', {.activity_instance_id}) "                                   \
    "AND owner = 0 AND due_us = {never}"
#define MAIL                                                                                       \
    "FROM pawl_work WHERE {tenant} AND instance_id = {id} AND instance_id <> '' "            \
    "AND due_us <= {now} ORDER BY due_us, id LIMIT {limit}"

#define CLAIM                                                                                      \
    "UPDATE pawl_instances SET owner = {owner}, "                                                  \
    "fence = (CASE WHEN fence > {value} THEN fence ELSE {value} END) + 1, "                        \
    "takeovers = takeovers + (CASE WHEN owner IN (0, {owner}) THEN 0 ELSE 1 END) WHERE {tenant} "  \
    "AND id = {id} AND (owner = 0 OR owner = {owner} OR " LEFT_BY("pawl_instances.owner") ")"
#define CLAIM_LOOK "SELECT {columns} FROM pawl_instances WHERE {tenant} AND id = {id}"

/* What a visit is granted. */
#define VISIT                                                                                      \
    "SELECT {columns} FROM pawl_instances AS i WHERE i.{tenant} AND i.id = {id} AND i.owner = 0 "  \
    "AND i.runnable = 0 AND i.takeovers = 0 AND i.retry_us = 0 AND i.cancel_requested = 0 "        \
    "AND i.status <> 'Finished' AND length(i.state) <= {limit} "                                   \
    "AND EXISTS (SELECT 1 FROM pawl_bookmarks AS b WHERE b.{tenant} "                              \
    "AND b.instance_id = {id} AND b.hash {is} {text}) "                                               \
    "AND NOT EXISTS (SELECT 1 FROM pawl_work AS w WHERE w.{tenant} "                               \
    "AND w.instance_id = {id} AND w.instance_id <> '' AND w.due_us <= {now})"
/* Always a row, with the time: a statement of its own for that would cost the server 10 us. */
#define VISIT_POSTGRES                                                                             \
    "SELECT v.*, n.now FROM (SELECT {now} AS now) AS n LEFT JOIN (" VISIT ") AS v ON true"

/* Work of these parts that nobody has, or a dead node. */
#define FREE_WORK                                                                                  \
    "w.part >= {from} AND w.part < {to} AND (w.owner = 0 OR " LEFT_BY("w.owner") ")"
/* Of what is due: whose instance can be claimed, since another owner finds it itself; and whose
 * instance is not put off, or is to be cancelled. */
#define NOT_FOUND_BY_OWNER                                                                         \
    " AND (w.instance_id = '' OR (SELECT 1 FROM pawl_instances AS i "                              \
    "WHERE i.{tenant} AND i.id = w.instance_id AND ((i.retry_us > {now} AND i.cancel_requested = " \
    "0) OR (i.owner NOT IN (0, {owner}) AND NOT " LEFT_BY("i.owner") ")) LIMIT 1) IS NULL)"
/* Of what has expired: that is parked. Written so that no index is chosen by it: the one of parked
 * work would be read from end to end. */
#define PARKED " AND +w.due_us {is} {never}"
#define LATE_WORK(column, kind, more)                                                              \
    "SELECT w.id, w.due_us FROM pawl_work AS w WHERE w.{tenant} " kind "AND w." column       \
    " <= {now} AND w." column " < {never} AND " FREE_WORK more " ORDER BY w." column               \
    " LIMIT {limit}"
#define DUE_WORK(kind) LATE_WORK("due_us", kind, NOT_FOUND_BY_OWNER)
#define EXPIRED_WORK(kind) LATE_WORK("expires_us", kind, PARKED)
#define OF_KIND "AND w.kind = {text} "
/* Of definitions in a JSON array, or of others. Mail is of the definition of its instance, but for
 * the kinds that the take names. */
#define IN_SQLITE(list) "IN (SELECT value FROM json_each(" list "))"
#define IN_POSTGRES(list) "IN (SELECT jsonb_array_elements_text(" list "::jsonb))"
#define LISTED_SQLITE IN_SQLITE("{text}")
#define LISTED_POSTGRES IN_POSTGRES("{text}")
#define OF_SHARE(listed, unshared)                                                                 \
    " AND (w.definition_id " listed " OR (w.instance_id <> '' AND NOT w.kind " unshared " "        \
    "AND EXISTS (SELECT 1 FROM pawl_instances AS s WHERE s.{tenant} "                              \
    "AND s.id = w.instance_id AND s.definition_id " listed "))) = ({only} = 1)"
#define SHARED_WORK(listed, unshared)                                                              \
    LATE_WORK("due_us", "", NOT_FOUND_BY_OWNER OF_SHARE(listed, unshared))

/* A row that a dead node had is taken over; rows of living ones are not free. */
#define TAKEN                                                                                      \
    "owner = {owner}, takeovers = takeovers + (CASE WHEN owner IN (0, {owner}) THEN 0 ELSE 1 END)"
#define TAKE_SQLITE(due, expired)                                                                  \
    "UPDATE pawl_work SET " TAKEN " WHERE {tenant} AND id IN (SELECT id FROM ("        \
    "SELECT * FROM (" due ") UNION "                                                               \
    "SELECT * FROM (" expired ")) ORDER BY due_us, id LIMIT {limit}) "                             \
    "RETURNING {columns}"
/* What another take holds at this moment is passed over, not waited for. */
#define TAKE_POSTGRES(due, expired)                                                                \
    "WITH d AS MATERIALIZED (" due " FOR UPDATE OF w SKIP LOCKED), "                               \
    "e AS MATERIALIZED (" expired " FOR UPDATE OF w SKIP LOCKED) "                                 \
    "UPDATE pawl_work SET " TAKEN " WHERE {tenant} AND id = ANY (ARRAY("               \
    "SELECT u.id FROM (SELECT * FROM d UNION SELECT * FROM e) AS u "                               \
    "ORDER BY u.due_us, u.id LIMIT {limit})) RETURNING {columns}"

/* Nobody's, by the index of those that are ready; and whatever a dead node has. */
#define READY                                                                                      \
    "SELECT i.id FROM pawl_instances AS i WHERE i.{tenant} AND i.runnable <> 0 AND i.owner = 0 "   \
    "AND i.retry_us <= {now}"
#define LEFT_ALONE                                                                                 \
    "SELECT i.id FROM pawl_instances AS i WHERE i.{tenant} AND i.owner <> 0 "                      \
    "AND i.retry_us <= {now} AND " LEFT_BY("i.owner")
/* In the order of the indexes, so that what a node skips is the same each time. */
#define RUNNABLE(more) READY more " UNION ALL " LEFT_ALONE more " LIMIT {limit} OFFSET {value}"
#define INSTANCE_OF_SHARE(listed) " AND (i.definition_id " listed ") = ({only} = 1)"

#define NEXT_DUE(kind)                                                                             \
    "SELECT w.due_us FROM pawl_work AS w WHERE w.{tenant} " kind "AND w.due_us > {now} "     \
    "AND w.due_us < {never} AND w.part >= {from} AND w.part < {to} ORDER BY w.due_us LIMIT 1"

/* The newest incarnation is kept apart from the nodes' rows, which go. Rows that are newer were
 * loaded, or written before there was this stamp. */
#define NEWEST "(SELECT coalesce(max(incarnation), 0) FROM pawl_nodes WHERE {tenant})"
#define INCARNATE                                                                                  \
    "INSERT INTO pawl_stamps (tenant_id, name, value) SELECT '', '" PAWL_STAMP_INCARNATIONS "', "  \
    NEWEST " + 1 WHERE true ON CONFLICT (tenant_id, name) DO UPDATE SET value = "                   \
    "max(pawl_stamps.value + 1, excluded.value)"
#define JOIN                                                                                       \
    "INSERT INTO pawl_nodes (tenant_id, id, incarnation, joined_us, lease_us, info) "              \
    "SELECT '', {id}, value, {now}, {now} + {value}, {text} "                                      \
    "FROM pawl_stamps WHERE {tenant} AND name = '" PAWL_STAMP_INCARNATIONS "' "                    \
    "ON CONFLICT (tenant_id, id) DO UPDATE SET "                                                   \
    "incarnation = excluded.incarnation, joined_us = excluded.joined_us, "                         \
    "lease_us = excluded.lease_us, info = excluded.info RETURNING incarnation, joined_us"
#define THIS_NODE "WHERE {tenant} AND id = {id} AND incarnation = {owner}"
#define RENEW "UPDATE pawl_nodes SET lease_us = {now} + {value}, info = {text} " THIS_NODE
#define FORGET                                                                                     \
    "DELETE FROM pawl_nodes WHERE {tenant} AND id <> {id} AND lease_us < {now} - {value}"
#define LEAVE "UPDATE pawl_nodes SET lease_us = {now} " THIS_NODE
#define LEAVE_ROW                                                                                  \
    "DELETE FROM pawl_nodes " THIS_NODE " AND NOT EXISTS (SELECT 1 FROM pawl_instances AS i "      \
    "WHERE i.{tenant} AND i.owner = {owner} AND i.owner <> 0)"

/* Work that is no timer, or that is due again after a failure; what it is due by keeps its order. A
 * tick that failed is found by its time. */
#define WAITS_FOR_CLOCK                                                                            \
    "w.{tenant} AND w.due_us > {now} AND w.due_us < {never} AND (w.due_us <= w.created_us OR "      \
    "w.kind NOT IN ('" PAWL_STORE_TIMER "', '" PAWL_STORE_TICK "') OR "                            \
    "(w.attempts > 0 AND w.kind <> '" PAWL_STORE_TICK "'))"
#define BACK_WORK(locked)                                                                          \
    "UPDATE pawl_work SET due_us = {value} + due_us - (SELECT max(w.due_us) FROM pawl_work AS w "  \
    "WHERE " WAITS_FOR_CLOCK ") WHERE {tenant} AND id IN (SELECT w.id FROM pawl_work AS w WHERE "  \
    WAITS_FOR_CLOCK locked ")"
#define BACK_INSTANCES(locked)                                                                     \
    "UPDATE pawl_instances SET retry_us = {now} WHERE {tenant} AND id IN (SELECT i.id FROM "       \
    "pawl_instances AS i WHERE i.{tenant} AND i.retry_us <> 0 AND i.retry_us > {now} AND "         \
    "i.retry_us < {never}" locked ")"
#define BACK_NODES                                                                                 \
    "UPDATE pawl_nodes SET lease_us = {now} + {value} WHERE {tenant} AND lease_us > {now} + {value}"

/* In order outside: inside, the index of ids would look as good as that of instances. */
#define FIND_WAITING                                                                               \
    "SELECT {columns} FROM (SELECT {columns} FROM pawl_bookmarks WHERE {tenant} AND "              \
    "instance_id = {id} AND instance_id <> '' AND hash {is} {text} OFFSET 0) AS waiting "          \
    "ORDER BY id LIMIT {limit}"

#define ALL PAWL_SQL_COLUMNS_ALL
#define BRIEF PAWL_SQL_COLUMNS_BRIEF
#define BOTH(text) text, text

static const struct pawl_sql_template templates[PAWL_SQL_NAME_COUNT] = {
    [PAWL_SQL_NOW] = {PAWL_TABLE_NODES, 0, NULL, "SELECT {now}"},
    [PAWL_SQL_SCHEMA] = {PAWL_TABLE_NODES, 0, BOTH(
        "SELECT version, minimum_reader, written_by FROM pawl_schema ORDER BY version DESC LIMIT 1")},
    [PAWL_SQL_LIVING] = {PAWL_TABLE_NODES, 0, BOTH(
        "SELECT id FROM pawl_nodes WHERE {tenant} AND lease_us > {now} LIMIT 1")},
    [PAWL_SQL_SCHEMA_ADD] = {PAWL_TABLE_NODES, 0, BOTH(
        "INSERT INTO pawl_schema (version, minimum_reader, written_by, applied_us) "
        "VALUES ({value}, {limit}, {text}, {now})")},

    [PAWL_SQL_MEMBER] = {PAWL_TABLE_INSTANCES, 0, NULL,
        "SELECT set_config('pawl.ok', '1', true)"},
    [PAWL_SQL_DONE_CHECK] = {PAWL_TABLE_WORK, 0, NULL, PAWL_SQL_GUARD(
        "EXISTS (SELECT 1 FROM pawl_work WHERE {tenant} AND id = {id} AND owner = {owner} "
        "FOR UPDATE)")},
    [PAWL_SQL_DONE] = {PAWL_TABLE_WORK, 0, DONE, DONE " AND " PAWL_SQL_OK},
    [PAWL_SQL_STAMP_ENSURE] = {PAWL_TABLE_STAMPS, 0, STAMP_ENSURE, NULL},
    [PAWL_SQL_STAMP] = {PAWL_TABLE_STAMPS, 0, STAMP, NULL},
    [PAWL_SQL_CREATE] = {PAWL_TABLE_INSTANCES, 0, CREATE "VALUES ('', {created})" CREATE_END,
        GUARD_WITH(CREATE "SELECT '', {created} WHERE " PAWL_SQL_HELD CREATE_END)},
    [PAWL_SQL_ADVANCE] = {PAWL_TABLE_INSTANCES, 0, ADVANCE,
        GUARD_WITH(ADVANCE " AND " PAWL_SQL_HELD)},
    [PAWL_SQL_ADVANCE_VISITED] = {PAWL_TABLE_INSTANCES, 0, ADVANCE_VISITED,
        GUARD_WITH(ADVANCE_VISITED " AND " PAWL_SQL_HELD)},
    [PAWL_SQL_ADVANCE_VISITED_ONCE] = {PAWL_TABLE_INSTANCES, 0, NULL,
        GUARD_WITH(ADVANCE_VISITED " AND " NOT_RESERVED)},
    [PAWL_SQL_ABSENT_MANY] = {PAWL_TABLE_RESERVATIONS, 0, NULL, ABSENT_MANY},
    [PAWL_SQL_PLAIN_MANY] = {PAWL_TABLE_INSTANCES, 0, NULL, PLAIN_MANY},
    [PAWL_SQL_CREATE_MANY] = {PAWL_TABLE_INSTANCES, 0, NULL, CREATE_MANY},
    [PAWL_SQL_ADVANCE_MANY] = {PAWL_TABLE_INSTANCES, 0, NULL,
        GUARD_MANY(ADVANCE_OF("{rows}") " AND {any key}")},
    [PAWL_SQL_ADVANCE_VISITED_MANY] = {PAWL_TABLE_INSTANCES, 0, NULL,
        GUARD_MANY(ADVANCE_VISITED_OF("{rows}") " AND {any key}")},
    [PAWL_SQL_KEEP] = {PAWL_TABLE_INSTANCES, 0, KEEP,
        GUARD_WITH(KEEP " AND " PAWL_SQL_HELD)},
    [PAWL_SQL_SET_ASIDE] = {PAWL_TABLE_INSTANCES, 0, SET_ASIDE,
        GUARD_WITH(SET_ASIDE " AND " PAWL_SQL_HELD)},
    [PAWL_SQL_END] = {PAWL_TABLE_INSTANCES, 0, END,
        GUARD_WITH(END " AND " PAWL_SQL_HELD)},
    [PAWL_SQL_REOPEN] = {PAWL_TABLE_INSTANCES, 0, REOPEN,
        GUARD_WITH(REOPEN " AND " PAWL_SQL_HELD)},
    [PAWL_SQL_REMOVE] = {PAWL_TABLE_INSTANCES, 0, REMOVE,
        GUARD_WITH(REMOVE " AND " PAWL_SQL_HELD)},
    [PAWL_SQL_CANCEL] = {PAWL_TABLE_INSTANCES, 0, CANCEL, CANCEL_POSTGRES},
    [PAWL_SQL_PARKED] = {PAWL_TABLE_BOOKMARKS, 0,
        "SELECT 1 FROM pawl_work WHERE {tenant} AND hash = {.hash} AND due_us = {never} LIMIT 1",
        NULL},
    [PAWL_SQL_WAKE] = {PAWL_TABLE_BOOKMARKS, 0, WAKE, NULL},
    [PAWL_SQL_MAIL_LEFT] = {PAWL_TABLE_WORK, 0, NULL, "SELECT id " MAIL},
    [PAWL_SQL_AFTERWARDS] = {PAWL_TABLE_INSTANCES, 0,
        "SELECT cancel_requested, EXISTS (SELECT 1 FROM pawl_work AS w WHERE w.{tenant} "
        "AND w.instance_id = {.id} AND w.instance_id <> '' AND w.due_us <= {now}) "
        "FROM pawl_instances WHERE {tenant} AND id = {.id}", NULL},

    [PAWL_SQL_CLAIM] = {PAWL_TABLE_INSTANCES, ALL, CLAIM, CLAIM " RETURNING {columns}"},
    [PAWL_SQL_VISIT] = {PAWL_TABLE_INSTANCES, ALL, VISIT, VISIT_POSTGRES},
    [PAWL_SQL_CLAIMED] = {PAWL_TABLE_INSTANCES, ALL, CLAIM_LOOK, NULL},
    [PAWL_SQL_CLAIM_MATCH] = {PAWL_TABLE_BOOKMARKS, 0,
        "SELECT 1 FROM pawl_bookmarks WHERE {tenant} AND instance_id = {id} AND hash = {text} LIMIT 1",
        NULL},
    [PAWL_SQL_CLAIM_LOOK] = {PAWL_TABLE_INSTANCES,
        ~((uint64_t)1 << 20) /* all but the state */, BOTH(CLAIM_LOOK)},
    [PAWL_SQL_CLAIM_HAS_MAIL] = {PAWL_TABLE_WORK, 0,
        "SELECT 1 FROM pawl_work WHERE {tenant} AND instance_id = {id} AND instance_id <> '' "
        "AND due_us <= {now} LIMIT 1", NULL},
    [PAWL_SQL_CLAIM_MAIL] = {PAWL_TABLE_WORK, ALL, BOTH("SELECT {columns} " MAIL)},

    [PAWL_SQL_FIND_WORK] = {PAWL_TABLE_WORK, BRIEF, NULL,
        "SELECT {columns} FROM pawl_work WHERE {tenant} AND id = {id} LIMIT {limit}"},
    [PAWL_SQL_FIND_WAITING] = {PAWL_TABLE_BOOKMARKS, BRIEF, NULL, FIND_WAITING},

    [PAWL_SQL_TAKE] = {PAWL_TABLE_WORK, ALL, TAKE_SQLITE(DUE_WORK(""), EXPIRED_WORK("")),
        TAKE_POSTGRES(DUE_WORK(""), EXPIRED_WORK(""))},
    [PAWL_SQL_TAKE_KIND] = {PAWL_TABLE_WORK, ALL,
        TAKE_SQLITE(DUE_WORK(OF_KIND), EXPIRED_WORK(OF_KIND)),
        TAKE_POSTGRES(DUE_WORK(OF_KIND), EXPIRED_WORK(OF_KIND))},
    [PAWL_SQL_TAKE_SHARE] = {PAWL_TABLE_WORK, ALL,
        TAKE_SQLITE(SHARED_WORK(LISTED_SQLITE, IN_SQLITE("{kinds}")), EXPIRED_WORK("")),
        TAKE_POSTGRES(SHARED_WORK(LISTED_POSTGRES, IN_POSTGRES("{kinds}")), EXPIRED_WORK(""))},
    [PAWL_SQL_RUNNABLE] = {PAWL_TABLE_INSTANCES, 0, BOTH(RUNNABLE(""))},
    [PAWL_SQL_RUNNABLE_SHARE] = {PAWL_TABLE_INSTANCES, 0,
        RUNNABLE(INSTANCE_OF_SHARE(LISTED_SQLITE)),
        RUNNABLE(INSTANCE_OF_SHARE(LISTED_POSTGRES))},
    [PAWL_SQL_NEXT_DUE] = {PAWL_TABLE_WORK, 0, BOTH(NEXT_DUE(""))},
    [PAWL_SQL_NEXT_DUE_KIND] = {PAWL_TABLE_WORK, 0, BOTH(NEXT_DUE(OF_KIND))},

    [PAWL_SQL_INCARNATE] = {PAWL_TABLE_STAMPS, 0, INCARNATE, NULL},
    [PAWL_SQL_JOIN] = {PAWL_TABLE_NODES, 0, JOIN, NULL},
    [PAWL_SQL_LEASE_LOOK] = {PAWL_TABLE_NODES, 0,
        BOTH("SELECT lease_us, {now} FROM pawl_nodes " THIS_NODE)},
    [PAWL_SQL_RENEW] = {PAWL_TABLE_NODES, 0, BOTH(RENEW)},
    [PAWL_SQL_FORGET] = {PAWL_TABLE_NODES, 0, BOTH(FORGET)},
    [PAWL_SQL_LEAVE] = {PAWL_TABLE_NODES, 0, BOTH(LEAVE)},
    [PAWL_SQL_LEAVE_ROW] = {PAWL_TABLE_NODES, 0, BOTH(LEAVE_ROW)},

    [PAWL_SQL_BACK_WORK] = {PAWL_TABLE_WORK, 0, BACK_WORK(""),
        BACK_WORK(" FOR UPDATE OF w SKIP LOCKED")},
    [PAWL_SQL_BACK_INSTANCES] = {PAWL_TABLE_INSTANCES, 0, BACK_INSTANCES(""),
        BACK_INSTANCES(" FOR UPDATE OF i SKIP LOCKED")},
    [PAWL_SQL_BACK_NODES] = {PAWL_TABLE_NODES, 0, BOTH(BACK_NODES)},
};
/* clang-format on */

const struct pawl_sql_template *pawl__sql_template(enum pawl_sql_name name)
{
    PAWL_ASSERT((unsigned)name < PAWL_SQL_NAME_COUNT);
    return &templates[name];
}
