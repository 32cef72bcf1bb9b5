/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on nodes, pauses, counts and whole stores. */
#include "operations/nodes.h"
#include "host/duty.h"
#include "host/features.h"
#include "operations/desk.h"
#include "operations/instances.h"
#include "operations/locks.h"
#include "operations/statistics.h"
#include "operations/stimuli.h"
#include "operations/store.h"
#include "operations/why.h"
#include "runtime/node/pause.h"
#include "runtime/runtime.h"
#include "views/locks.h"
#include "views/nodes.h"
#include "views/statistics.h"
#include "views/store.h"
#include "views/why.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What a node knows of pauses may be somewhat old. */
static void await_paused(struct desk *desk, bool paused)
{
    struct pawl_runtime *node = pawl__host_node(desk->host);

    while ((pawl__runtime_check_paused(node, desk->op.deadline_ns, NULL) != PAWL_OK) != paused) {
        assert_true(pawl_env_monotonic_ns(desk->env) < desk->op.deadline_ns);
        assert_int_equal(
            pawl_env_sleep_until(desk->env, pawl_env_monotonic_ns(desk->env) + 5000000), PAWL_OK);
    }
}

static struct pawl_str own_id(struct desk *desk)
{
    return pawl__str(pawl__runtime_node_id(pawl__host_node(desk->host)));
}

static struct pawl_node_list list_nodes(struct desk *desk, bool with_instances)
{
    const struct pawl_node_query query = {.with_instances = with_instances};
    struct pawl_node_list out = {.nodes = NULL};

    assert_ok(pawl__op_nodes_list(&desk->op, &query, &out), &desk->err);
    return out;
}

static struct pawl_str text_of(struct desk *desk, const struct pawl_json *value)
{
    struct pawl_str out;
    struct pawl_buf buf;

    pawl__buf_init(&buf, &desk->env->alloc, (size_t)1 << 20);
    pawl__json_write(&buf, value, PAWL_JSON_ESCAPE_MINIMAL);
    assert_int_equal(buf.status, PAWL_OK);
    out = pawl__arena_str(&desk->arena, pawl__buf_peek(&buf));
    pawl__buf_release(&buf);
    return out;
}

static void a_node_is_listed_with_what_it_told(struct desk *desk)
{
    struct pawl_node_list nodes = list_nodes(desk, true);
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_json view;

    assert_int_equal(nodes.count, 1);
    assert_true(pawl__str_equal(nodes.nodes[0].row->id, own_id(desk)));
    assert_int_equal(nodes.nodes[0].state, PAWL_NODE_ALIVE);
    assert_true(nodes.nodes[0].left_us > 0);
    assert_int_equal(nodes.nodes[0].pid, getpid());
    assert_int_equal(nodes.nodes[0].runs, 0);
    assert_true(pawl__str_is(nodes.nodes[0].runtime, "local"));
    view = pawl__view_node(&b, &nodes.nodes[0], true);
    assert_int_equal(b.status, PAWL_OK);
    assert_string_equal(pawl__json_str(pawl__json_get_text(&view, "state")).ptr, "alive");
    assert_non_null(pawl__json_get_text(&view, "instances"));
    assert_null(pawl__json_get_text(&view, "pause"));
}

static struct pawl_pause pause_it(struct desk *desk, struct pawl_str node_id, const char *reason)
{
    struct pawl_pause out = {.since_us = 0};

    assert_ok(pawl__op_node_pause(&desk->op, node_id, pawl__str(reason), &out), &desk->err);
    return out;
}

static int start(struct desk *desk, const char *id)
{
    const struct pawl_start what = {.definition_id = pawl__str("ends"),
                                    .instance_id = pawl__str(id)};
    struct pawl_outcome outcome;

    return pawl__runtime_start(pawl__host_node(desk->host), &what, &outcome, desk->op.deadline_ns,
                               &desk->err);
}

static void a_second_pause_leaves_the_first_as_it_is(struct desk *desk)
{
    struct pawl_pause first = pause_it(desk, pawl__str(""), "maintenance"), second;
    struct pawl_cluster_status status;
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_json view;

    second = pause_it(desk, pawl__str(""), "other");
    assert_int_equal(second.since_us, first.since_us);
    assert_true(pawl__str_is(second.reason, "maintenance"));
    assert_true(pawl__str_is(second.by, "test"));
    assert_true(first.since_us > 0);
    assert_ok(pawl__op_cluster_status(&desk->op, &status), &desk->err);
    assert_non_null(status.pause);
    assert_false(status.is_accepting);
    view = pawl__view_status(&b, &status);
    assert_non_null(strstr(text_of(desk, &view).ptr,
                           "{\"state\":{\"reason\":\"AdministrativePause\",\"isAcceptingNewWork\":"
                           "false,\"pausedAt\":\""));
    assert_non_null(strstr(text_of(desk, &view).ptr,
                           "\"pauseReasonText\":\"maintenance\",\"pauseRequestedBy\":\"test\""));
    assert_ok(pawl__op_node_unpause(&desk->op, pawl__str("")), &desk->err);
    assert_code(pawl__op_node_unpause(&desk->op, pawl__str("")), PAWL_ENOTFOUND);
    assert_ok(pawl__op_cluster_status(&desk->op, &status), &desk->err);
    assert_null(status.pause);
    assert_true(status.is_accepting);
}

static uint64_t count_finished(struct desk *desk)
{
    struct pawl_str finished = pawl__str("Finished");
    struct pawl_instance_query query = PAWL_INSTANCE_QUERY_ALL;
    struct pawl_instance_list out;

    query.sub_statuses = &finished;
    query.sub_status_count = 1;
    query.page.total_only = true;
    assert_ok(pawl__op_instances_list(&desk->op, &query, &out), &desk->err);
    return out.page.total;
}

/* Whether of the cluster or of the node alone. */
static void check_pause(struct desk *desk, struct pawl_str node_id)
{
    const struct pawl_start what = {.definition_id = pawl__str("ends"),
                                    .instance_id = pawl__str("later")};
    struct pawl_node_list nodes;
    struct pawl_outcome outcome;

    desk_publish(desk, desk_ends);
    assert_ok(start(desk, "before"), &desk->err);
    (void)pause_it(desk, node_id, "why not");
    await_paused(desk, true);
    assert_code(start(desk, "refused"), PAWL_EUNAVAILABLE);
    assert_non_null(strstr(desk->err.msg, "paused by test, why not"));
    /* What need not be run now is kept. */
    assert_ok(pawl__runtime_create(pawl__host_node(desk->host), &what, &outcome,
                                   desk->op.deadline_ns, &desk->err),
              &desk->err);
    desk_drain(desk);
    assert_int_equal(count_finished(desk), 1);
    nodes = list_nodes(desk, false);
    assert_int_equal(nodes.count, 1);
    assert_int_equal(nodes.nodes[0].state, PAWL_NODE_PAUSED);
    assert_true(nodes.nodes[0].left_us > 0);
    assert_ok(pawl__op_node_unpause(&desk->op, node_id), &desk->err);
    await_paused(desk, false);
    desk_drain(desk);
    assert_int_equal(count_finished(desk), 2);
    assert_ok(start(desk, "after"), &desk->err);
}

/* An operator's retry runs activities as any start does; setting a value runs none. */
static void a_pause_refuses_to_retry(struct desk *desk)
{
    static const char *const begin[] = {"[{\"type\":\"Retry\"}]",
                                        "[{\"type\":\"ScheduleActivity\",\"activityId\":\"f\"}]"};
    struct pawl_instance_altered altered;
    struct pawl_outcome outcome;
    struct pawl_json list;

    desk_publish(desk, desk_faults);
    (void)desk_start(desk, "faults", "f", NULL, NULL);
    (void)pause_it(desk, pawl__str(""), "maintenance");
    await_paused(desk, true);
    assert_code(pawl__op_instance_retry(&desk->op, pawl__str("f"), NULL, 0, &outcome),
                PAWL_EUNAVAILABLE);
    for (size_t i = 0; i < 2; i++) {
        assert_ok(
            pawl__json_parse(&desk->arena, pawl__str(begin[i]), NULL, &list, NULL, &desk->err),
            &desk->err);
        assert_code(pawl__op_instance_alter(&desk->op, pawl__str("f"), &list, false, &altered),
                    PAWL_EUNAVAILABLE);
    }
    assert_ok(pawl__op_node_unpause(&desk->op, pawl__str("")), &desk->err);
    await_paused(desk, false);
    assert_ok(pawl__op_instance_retry(&desk->op, pawl__str("f"), NULL, 0, &outcome), &desk->err);
    assert_int_equal(outcome.incident_count, 2);
}

/* Work that a pause holds is not done, and that is said. */
static void draining_a_paused_node_says_that_work_is_left(struct desk *desk)
{
    const struct pawl_start what = {.definition_id = pawl__str("ends")};
    struct pawl_outcome outcome;
    struct pawl_worked worked;

    desk_publish(desk, desk_ends);
    (void)pause_it(desk, pawl__str(""), "maintenance");
    await_paused(desk, true);
    assert_ok(pawl__op_drain(&desk->op, &worked), &desk->err);
    assert_ok(pawl__runtime_create(pawl__host_node(desk->host), &what, &outcome,
                                   desk->op.deadline_ns, &desk->err),
              &desk->err);
    assert_code(pawl__op_drain(&desk->op, &worked), PAWL_EUNAVAILABLE);
    assert_true(worked.is_paused);
    assert_non_null(strstr(desk->err.msg, "maintenance"));
    assert_ok(pawl__op_node_unpause(&desk->op, pawl__str("")), &desk->err);
    await_paused(desk, false);
    assert_ok(pawl__op_drain(&desk->op, &worked), &desk->err);
    assert_false(worked.is_paused);
    assert_int_equal(count_finished(desk), 1);
}

static void why_says_that_a_pause_holds_its_mail(struct desk *desk)
{
    const struct pawl_send_request request = {.name = pawl__str("Go"),
                                              .instance_id = pawl__str("w")};
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_send_result sent;
    struct pawl_json view;
    struct pawl_why why;

    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "w", NULL, NULL);
    (void)pause_it(desk, pawl__str(""), "maintenance");
    await_paused(desk, true);
    assert_ok(pawl__op_event_send(&desk->op, &request, &sent), &desk->err);
    assert_ok(pawl__op_instance_why(&desk->op, pawl__str("w"), &why), &desk->err);
    assert_non_null(why.pause);
    assert_int_equal(why.mail[0].because, PAWL_WHY_PAUSED);
    assert_int_equal(why.advice, PAWL_ADVISE_UNPAUSE | PAWL_ADVISE_CANCEL);
    view = pawl__view_why(&b, &why, " --store s");
    assert_non_null(strstr(text_of(desk, &view).ptr,
                           "the cluster is paused by test: maintenance: it is delivered when"));
    assert_non_null(strstr(text_of(desk, &view).ptr, "\"command\":\"pawl unpause --store s\""));
}

#define HOUR_US INT64_C(3600000000)

/* Another node; when its lease is short, it is over when this returns. */
static void join_node(struct desk *desk, const char *id, bool stays, int64_t ttl_us)
{
    struct pawl_store *store = pawl__host_store(desk->host);
    struct pawl_lease lease = {
        .kind = PAWL_LEASE_JOIN,
        .node_id = pawl__str(id),
        .ttl_us = ttl_us,
        .info = pawl__str(stays ? "{\"stays\":true}" : "{\"stays\":false}"),
    };
    struct pawl_store_status about = {.now_us = 0};

    assert_ok(pawl_store_lease(store, &lease, desk->op.deadline_ns, &desk->err), &desk->err);
    while (ttl_us < HOUR_US && about.now_us <= lease.now_us + ttl_us)
        assert_ok(pawl_store_status(store, &about, desk->op.deadline_ns, &desk->err), &desk->err);
}

static void nodes_that_work_are_those_that_stay_and_live(struct desk *desk)
{
    struct pawl_overview seen;
    struct pawl_pause pause;
    size_t working = 99;

    assert_ok(pawl__op_nodes_working(&desk->op, &working), &desk->err);
    assert_int_equal(working, 0); /* this one is a command */
    join_node(desk, "worker", true, HOUR_US);
    join_node(desk, "command", false, HOUR_US);
    join_node(desk, "gone", true, 1);
    assert_ok(pawl__op_nodes_working(&desk->op, &working), &desk->err);
    assert_int_equal(working, 1);
    assert_ok(pawl__op_overview(&desk->op, 0, &seen), &desk->err);
    assert_int_equal(seen.nodes.count, 3);
    assert_ok(pawl__op_node_pause(&desk->op, pawl__str("worker"), pawl__str(""), &pause),
              &desk->err);
    assert_ok(pawl__op_nodes_working(&desk->op, &working), &desk->err);
    assert_int_equal(working, 0);
}

static void the_total_of_nodes_counts_those_that_are_shown(struct desk *desk)
{
    struct pawl_node_query query = {.page = {.limit = 1, .with_total = true}};
    struct pawl_node_list list;

    join_node(desk, "a-gone", true, 1);
    join_node(desk, "b-gone", true, 1);
    join_node(desk, "z-alive", true, HOUR_US);
    assert_ok(pawl__op_nodes_list(&desk->op, &query, &list), &desk->err);
    assert_int_equal(list.page.total, 2);
    query.page.limit = 0;
    assert_ok(pawl__op_nodes_list(&desk->op, &query, &list), &desk->err);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.page.total, 2);
    query.with_gone = true;
    assert_ok(pawl__op_nodes_list(&desk->op, &query, &list), &desk->err);
    assert_int_equal(list.page.total, 4);
    query = (struct pawl_node_query){.page = {.total_only = true}};
    assert_ok(pawl__op_nodes_list(&desk->op, &query, &list), &desk->err);
    assert_int_equal(list.page.total, 2);
}

static void a_paused_cluster_begins_nothing(struct desk *desk)
{
    check_pause(desk, pawl__str(""));
}

static void a_paused_node_begins_nothing(struct desk *desk)
{
    check_pause(desk, own_id(desk));
}

static void a_pause_of_another_node_is_none_of_this_ones(struct desk *desk)
{
    struct pawl_pause out;

    assert_code(pawl__op_node_pause(&desk->op, pawl__str("nobody"), pawl__str(""), &out),
                PAWL_ENOTFOUND);
    desk_publish(desk, desk_ends);
    /* One whose process is gone may come back under its name, and is paused then. */
    assert_ok(pawl__pause_begin(pawl__host_store(desk->host), NULL,
                                &(struct pawl_pause){.node_id = pawl__str("other"),
                                                     .by = pawl__str("x"),
                                                     .reason = pawl__str("")},
                                &desk->arena, &out, desk->op.deadline_ns, &desk->err),
              &desk->err);
    assert_ok(start(desk, "one"), &desk->err);
    assert_ok(start(desk, "two"), &desk->err);
    assert_int_equal(list_nodes(desk, false).nodes[0].state, PAWL_NODE_ALIVE);
}

static void await_finished(struct desk *desk, uint64_t count)
{
    while (count_finished(desk) < count) {
        assert_true(pawl_env_monotonic_ns(desk->env) < desk->op.deadline_ns);
        assert_int_equal(
            pawl_env_sleep_until(desk->env, pawl_env_monotonic_ns(desk->env) + 5000000), PAWL_OK);
    }
}

static void workers_stand_still_while_the_cluster_is_paused(struct desk *desk)
{
    struct pawl_pool_counts counts;
    struct pawl_duty *duty;

    desk_publish(desk, desk_ends);
    (void)pause_it(desk, pawl__str(""), "");
    await_paused(desk, true);
    assert_ok(pawl__duty_open(desk->host, 2, NULL, &duty, &desk->err), &desk->err);
    for (int i = 0; i < 5; i++) {
        const struct pawl_start what = {.definition_id = pawl__str("ends")};
        struct pawl_outcome outcome;

        assert_ok(pawl__runtime_create(pawl__host_node(desk->host), &what, &outcome,
                                       desk->op.deadline_ns, &desk->err),
                  &desk->err);
    }
    for (int i = 0; i < 200; i++) {
        pawl__duty_counts(duty, &counts);
        assert_int_equal(counts.done, 0);
        assert_int_equal(count_finished(desk), 0);
    }
    assert_ok(pawl__op_node_unpause(&desk->op, pawl__str("")), &desk->err);
    await_finished(desk, 5);
    pawl__duty_close(duty);
}

static void a_node_has_a_worker_for_each_processor(struct desk *desk)
{
    struct pawl_duty *duty;
    cpu_set_t set;

    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_ok(pawl__duty_open(desk->host, PAWL_DUTY_AUTO, NULL, &duty, &desk->err), &desk->err);
    assert_int_equal(pawl__duty_workers(duty), CPU_COUNT(&set));
    pawl__duty_close(duty);
}

static void an_overview_counts_what_there_is(struct desk *desk)
{
    const struct pawl_count_query all = {0};
    struct pawl_definition_counts_list by_definition;
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_overview seen;
    struct pawl_sent sent;
    struct pawl_json view;

    desk_publish(desk, desk_waits);
    desk_publish(desk, desk_ends);
    desk_publish(desk, desk_faults);
    for (int i = 0; i < 3; i++)
        (void)desk_start(desk, "waits", NULL, NULL, NULL);
    (void)desk_start(desk, "ends", NULL, NULL, NULL);
    (void)desk_start(desk, "faults", NULL, NULL, NULL);
    desk_drain(desk);
    assert_ok(pawl__runtime_send_event(pawl__host_node(desk->host), pawl__str("Nobody"), NULL,
                                       &(struct pawl_stimulus){.hash = pawl__str("")}, &sent,
                                       desk->op.deadline_ns, &desk->err),
              &desk->err);
    assert_ok(pawl__op_overview(&desk->op, 0, &seen), &desk->err);
    assert_int_equal(seen.instances[PAWL_COUNTED_SUSPENDED], 3);
    assert_int_equal(seen.instances[PAWL_COUNTED_FINISHED], 1);
    assert_int_equal(seen.instances[PAWL_COUNTED_FAULTED], 1);
    assert_int_equal(seen.instances[PAWL_COUNTED_PENDING], 0);
    assert_int_equal(seen.work.due, 0);
    assert_int_equal(seen.work.parked, 1);
    assert_int_equal(seen.work.oldest_due_us, 0);
    assert_int_equal(seen.nodes.count, 1);
    assert_null(seen.pause);
    assert_true(seen.started_per_second < 0);
    assert_ok(pawl__op_overview(&desk->op, seen.now_us - 3600000000, &seen), &desk->err);
    assert_true(seen.started_per_second > 0 && seen.changed_per_second > 0);
    view = pawl__view_overview(&b, &seen);
    assert_int_equal(b.status, PAWL_OK);
    assert_non_null(strstr(text_of(desk, &view).ptr, "\"Suspended\":3,\"Finished\":1"));
    assert_ok(pawl__op_count_by_definition(&desk->op, &all, &by_definition), &desk->err);
    assert_int_equal(by_definition.count, 3);
    assert_true(pawl__str_is(by_definition.rows[2].definition_id, "waits"));
    assert_int_equal(by_definition.rows[2].instances[PAWL_COUNTED_SUSPENDED], 3);
    assert_int_equal(by_definition.rows[0].instances[PAWL_COUNTED_SUSPENDED], 0);
}

/* Looks at the counts by definition; returns how many queries that took. */
static int look_at_counts(struct desk *desk, const struct pawl_count_query *query,
                          uint64_t suspended)
{
    struct pawl_definition_counts_list counts;
    int before = atomic_load(&desk->finds);

    assert_ok(pawl__op_count_by_definition(&desk->op, query, &counts), &desk->err);
    assert_int_equal(counts.count, 2);
    assert_int_equal(counts.rows[1].instances[PAWL_COUNTED_SUSPENDED], suspended);
    return atomic_load(&desk->finds) - before;
}

static void counts_by_definition_that_were_slow_are_kept(struct desk *desk)
{
    const struct pawl_count_query all = {0}, since_ever = {.from_us = 1};
    const int counts = 2 * PAWL_COUNTED_COUNT;

    desk_publish(desk, desk_ends);
    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", NULL, NULL, NULL);
    assert_int_equal(look_at_counts(desk, &all, 1), 1 + counts);
    assert_int_equal(look_at_counts(desk, &all, 1), 1 + counts);
    desk->find_ns = PAWL_COUNTS_SLOW_NS;
    assert_int_equal(look_at_counts(desk, &all, 1), 1 + counts);
    desk->find_ns = 0;
    (void)desk_start(desk, "waits", NULL, NULL, NULL);
    assert_int_equal(look_at_counts(desk, &all, 1), 1);
    assert_int_equal(look_at_counts(desk, &since_ever, 2), 1 + counts);
    pawl__clock_env_advance(desk->clock, PAWL_COUNTS_SLOW_NS * counts * PAWL_COUNTS_SHARE);
    assert_int_equal(look_at_counts(desk, &all, 2), 1 + counts);
}

static void count_finding(void *ctx, const char *text)
{
    (void)text;
    ++*(unsigned *)ctx;
}

static void a_store_is_looked_at_checked_and_copied(struct desk *desk)
{
    char folder[] = "/tmp/pawl-operations-XXXXXX", path[64], uri[64];
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_store_info info, copy;
    struct pawl_store_checked checked;
    struct pawl_store_copied copied;
    struct pawl_store_init made;
    struct pawl_json view;
    unsigned findings = 0;

    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/backup", folder);
    (void)snprintf(uri, sizeof uri, "sqlite:%s/copy.db", folder);
    desk_publish(desk, desk_waits);
    (void)desk_start(desk, "waits", "w", NULL, NULL);
    assert_ok(pawl__op_store_info(&desk->op, pawl__str(""), &info), &desk->err);
    assert_int_equal(info.counts[PAWL_TABLE_INSTANCES].rows, 1);
    assert_int_equal(info.node_count, 1);
    assert_true(info.is_complete);
    view = pawl__view_store_info(&b, &info);
    assert_int_equal(b.status, PAWL_OK);
    assert_non_null(strstr(text_of(desk, &view).ptr, "\"isComplete\":true"));
    assert_ok(pawl__op_store_check(&desk->op, pawl__str(""), count_finding, &findings, &checked),
              &desk->err);
    assert_int_equal(findings, 0);
    assert_int_equal(checked.findings, 0);
    assert_true(checked.rows > 0);
    assert_ok(pawl__op_store_backup(&desk->op, pawl__str(""), path, NULL, &copied), &desk->err);
    assert_true(copied.counts.row_count > 0);
    assert_code(pawl__op_store_info(&desk->op, pawl__str(uri), &copy), PAWL_ENOTFOUND);
    assert_ok(pawl__op_store_restore(&desk->op, pawl__str(uri), path, NULL, &copied), &desk->err);
    assert_ok(pawl__op_store_info(&desk->op, pawl__str(uri), &copy), &desk->err);
    assert_int_equal(copy.counts[PAWL_TABLE_INSTANCES].rows, 1);
    assert_code(pawl__op_store_restore(&desk->op, pawl__str(uri), path, NULL, &copied),
                PAWL_ECONFLICT);
    assert_ok(pawl__op_store_init(&desk->op, pawl__str(uri), &made), &desk->err);
    assert_int_equal(made.made, PAWL_STORE_WAS_THERE);
    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s/copy.db", folder);
    (void)unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

static void locks_of_a_service_are_listed(struct desk *desk)
{
    char folder[] = "/tmp/pawl-operations-XXXXXX", uri[64];
    struct pawl_builder b = {.arena = &desk->arena};
    struct pawl_lock_list locks;
    struct pawl_lock_holder holder;
    struct pawl_json view;
    int64_t now_us;

    assert_non_null(mkdtemp(folder));
    (void)snprintf(uri, sizeof uri, "file:%s", folder);
    assert_ok(pawl__op_locks_list(&desk->op, pawl__str(uri), 0, &locks), &desk->err);
    assert_int_equal(locks.count, 0);
    assert_false(locks.has_more);
    assert_ok(pawl__op_lock_show(&desk->op, pawl__str(uri), pawl__str("x"), &holder, &now_us),
              &desk->err);
    assert_false(holder.held);
    view = pawl__view_lock(&b, &holder);
    assert_non_null(strstr(text_of(desk, &view).ptr, "\"isHeld\":false"));
    assert_code(pawl__op_locks_list(&desk->op, pawl__str("gopher:x"), 0, &locks), PAWL_EINVAL);
    assert_code(pawl__op_locks_check(&desk->op, pawl__str("memory:"), NULL, NULL, NULL),
                PAWL_EINVAL);
    (void)rmdir(folder);
}

static void a_probe_says_that_the_store_can_be_written_to(struct desk *desk)
{
    struct pawl_cluster_status before, after;

    assert_ok(pawl__op_cluster_status(&desk->op, &before), &desk->err);
    assert_ok(pawl__op_cluster_probe(&desk->op, pawl__str("probe")), &desk->err);
    assert_ok(pawl__op_cluster_status(&desk->op, &after), &desk->err);
    assert_int_equal(before.incarnation, after.incarnation);
    assert_true(after.is_accepting);
}

const struct desk_test node_tests[] = {
    DESK_TEST(a_node_is_listed_with_what_it_told),
    DESK_TEST(a_second_pause_leaves_the_first_as_it_is),
    DESK_TEST(a_paused_cluster_begins_nothing),
    DESK_TEST(a_pause_refuses_to_retry),
    DESK_TEST(draining_a_paused_node_says_that_work_is_left),
    DESK_TEST(why_says_that_a_pause_holds_its_mail),
    DESK_TEST(nodes_that_work_are_those_that_stay_and_live),
    DESK_TEST(the_total_of_nodes_counts_those_that_are_shown),
    DESK_TEST(a_paused_node_begins_nothing),
    DESK_TEST(a_pause_of_another_node_is_none_of_this_ones),
    DESK_TEST(workers_stand_still_while_the_cluster_is_paused),
    DESK_TEST(a_node_has_a_worker_for_each_processor),
    DESK_TEST(an_overview_counts_what_there_is),
    {.name = "counts_by_definition_that_were_slow_are_kept",
     .run = counts_by_definition_that_were_slow_are_kept,
     .own_clock = true},
    DESK_TEST(a_store_is_looked_at_checked_and_copied),
    DESK_TEST(a_probe_says_that_the_store_can_be_written_to),
    DESK_TEST(locks_of_a_service_are_listed),
    {.name = NULL},
};
