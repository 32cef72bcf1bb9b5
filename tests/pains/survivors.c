/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that die or stand still at the worst moment, as processes: between the end of a child and
 * its parent's, during the first burst of an instance, and again and again while events arrive.
 */
#include "cluster/places.h"
#include "pains/stage.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of nodes that die: long enough to get as far as that on a busy machine. Those who look on have
 * the usual one. */
#define VICTIM_LEASE_US INT64_C(4000000)
/* Of nodes that lose theirs again and again. */
#define LEASE_US INT64_C(1000000)
#define MS_PER_LEASE 1000

/* ---- a process that ends itself ------------------------------------------------------------ */

struct victim {
    struct stage_options options;
    const char *line;     /* this line, after its commit, … */
    const char *activity; /* … or the end of this one, before its commit, */
    int signal_number;    /* … sends this to itself */
    bool hit;
};

static int on_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    struct victim *victim = ctx;

    (void)instance_id;
    if (!victim->line || victim->hit || !pawl__str_is(text, victim->line))
        return PAWL_OK;
    victim->hit = true;
    (void)kill(getpid(), victim->signal_number);
    return PAWL_OK;
}

static void on_logged(void *ctx, struct pawl_str instance_id, const struct pawl_workflow *workflow,
                      const struct pawl_log_record *record)
{
    struct victim *victim = ctx;

    (void)instance_id;
    (void)workflow;
    if (!victim->activity || victim->hit || !pawl__str_is(record->event, "Completed") ||
        !pawl__str_is(record->activity_id, victim->activity))
        return;
    victim->hit = true;
    (void)kill(getpid(), victim->signal_number);
}

/* Runs `body` on a node of its own. The test has no threads at this moment. */
static pid_t run_victim(struct victim *victim, int (*body)(struct stage *stage))
{
    pid_t pid = fork();
    struct stage stage;

    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    victim->options.hooks =
        (struct pawl_runtime_hooks){.line = on_line, .logged = on_logged, .ctx = victim};
    if (stage_try_open(&stage, &victim->options) != PAWL_OK || body(&stage) != PAWL_OK)
        _exit(1);
    stage_close(&stage);
    _exit(0);
}

static void await_signal(pid_t pid, int signal_number)
{
    int status;

    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    if (signal_number == SIGSTOP)
        assert_true(WIFSTOPPED(status));
    else
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signal_number);
}

/* ---- between a child's end and its parent's ------------------------------------------------- */

#define PARENT                                                                                     \
    DEFINITION("parent", COUNTER,                                                                  \
               "{'id':'x','type':'Elsa.DispatchWorkflow','waitForCompletion':" RIG_INPUT(          \
                   "Boolean", "Literal",                                                           \
                   "true") ",'workflowDefinitionId':" TEXT("child") "}," COUNT("c"))
#define WAITING_CHILD DEFINITION("child", "", RIG_EVENT("e", "Go") "," RIG_WRITE("w", "child ends"))

static int end_child(struct stage *stage)
{
    struct pawl_worked worked;
    int status = stage_send(stage, "Go", NULL, NULL);

    return status == PAWL_OK
               ? pawl__runtime_drain(stage->runtime, &worked, stage_later(stage), &stage->err)
               : status;
}

/* Its line comes after the commit that ends the child, and before anybody looks at the parent. */
static void wake_parent(const struct place *place, int signal_number)
{
    char uri[PLACE_URI_MAX];
    const struct stage_options options = {.uri = place_fresh(place, uri), .node = "b"};
    struct victim victim = {.options = {.uri = uri, .lease_us = VICTIM_LEASE_US},
                            .line = "child ends",
                            .signal_number = signal_number};
    struct stage stage;
    int status;
    pid_t pid;

    stage_open(&stage, &options);
    stage_publish(&stage, WAITING_CHILD);
    stage_publish(&stage, PARENT);
    stage_start(&stage, "parent", "parent");
    stage_drain(&stage);
    assert_int_equal(stage_count(&stage, PAWL_TABLE_BOOKMARKS), 2);
    stage_close(&stage);
    pid = run_victim(&victim, end_child);
    await_signal(pid, signal_number);

    stage_open(&stage, &options);
    assert_string_equal(stage_sub_status(&stage, "parent"), "Suspended");
    stage_settle(&stage, true);
    assert_string_equal(stage_sub_status(&stage, "parent"), "Finished");
    if (signal_number == SIGSTOP) {
        assert_int_equal(kill(pid, SIGCONT), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        stage_settle(&stage, true);
    }
    assert_string_equal(stage_name(&stage, "parent"), "1");
    assert_int_equal(stage_count(&stage, PAWL_TABLE_INSTANCES), 2);
    assert_int_equal(stage_count(&stage, PAWL_TABLE_DEAD_LETTERS), 0);
    stage_close(&stage);
}

static void a_parent_goes_on_when_the_node_dies_after_its_child_ended_on_sqlite(void **state)
{
    wake_parent(&((const struct places *)*state)->sqlite, SIGKILL);
}

static void a_parent_goes_on_when_the_node_dies_after_its_child_ended_on_postgres(void **state)
{
    wake_parent(&((const struct places *)*state)->postgres, SIGKILL);
}

static void a_parent_goes_on_when_the_node_stands_still_after_its_child_ended(void **state)
{
    wake_parent(&((const struct places *)*state)->postgres, SIGSTOP);
}

/* ---- during the first burst ---------------------------------------------------------------- */

static int create_and_run(struct stage *stage)
{
    struct pawl_start start = {.definition_id = pawl__str("d"), .instance_id = pawl__str("i")};
    struct pawl_worked worked;
    int status;

    start.input = stage_json(stage, "{'Order':'A-7'}");
    status = pawl__runtime_create(stage->runtime, &start, NULL, stage_later(stage), &stage->err);
    return status == PAWL_OK
               ? pawl__runtime_drain(stage->runtime, &worked, stage_later(stage), &stage->err)
               : status;
}

static void begin_again(const struct place *place)
{
    char uri[PLACE_URI_MAX];
    const struct stage_options options = {.uri = place_fresh(place, uri), .node = "b"};
    struct victim victim = {.options = {.uri = uri, .lease_us = VICTIM_LEASE_US},
                            .activity = "n",
                            .signal_number = SIGKILL};
    struct stage stage;

    stage_open(&stage, &options);
    stage_publish(&stage,
                  DEFINITION("d", "'inputs':[{'name':'Order','type':'String'}],",
                             RIG_WRITE("w", "x") ",{'id':'n','type':'Elsa.SetName','value':" LIQUID(
                                 "{{ Input.Order }}") "}"));
    stage_close(&stage);
    await_signal(run_victim(&victim, create_and_run), SIGKILL);

    stage_open(&stage, &options);
    assert_string_equal(stage_sub_status(&stage, "i"), "Pending");
    stage_settle(&stage, true);
    assert_string_equal(stage_sub_status(&stage, "i"), "Finished");
    assert_string_equal(stage_name(&stage, "i"), "A-7");
    assert_int_equal(stage_count(&stage, PAWL_TABLE_INSTANCES), 1);
    stage_close(&stage);
}

static void an_instance_whose_first_burst_died_begins_again_with_its_input(void **state)
{
    begin_again(&((const struct places *)*state)->sqlite);
    begin_again(&((const struct places *)*state)->postgres);
}

/* ---- again and again ----------------------------------------------------------------------- */

#define NODES 3u
#define INSTANCES 120u
#define ROUNDS 5u

static void instance_id(char *out, size_t size, unsigned number)
{
    (void)snprintf(out, size, "i%u", number);
}

/* All get their first event, then all their second, … */
static int send_rounds(struct stage *stage)
{
    int status = PAWL_OK;

    for (unsigned i = 0; i < ROUNDS * INSTANCES && status == PAWL_OK; i++) {
        char id[16], key[24];
        struct pawl_stimulus to = {0};

        instance_id(id, sizeof id, i % INSTANCES);
        (void)snprintf(key, sizeof key, "%u", i);
        to.instance_id = pawl__str(id);
        to.idempotency_key = pawl__str(key);
        status = pawl__runtime_send_event(stage->runtime, pawl__str("Go"), NULL, &to, NULL,
                                          stage_later(stage), &stage->err);
    }
    return status;
}

/* Works until somebody ends it. */
static int work_on(struct stage *stage)
{
    const struct pawl_pool_options threads = {.workers = 2};
    struct pawl_pool *pool;
    int status = pawl__pool_open(stage->env, stage->runtime, &threads, &pool, &stage->err);

    if (status != PAWL_OK)
        return status;
    for (;;)
        (void)poll(NULL, 0, -1);
}

static pid_t start_node(const char *uri, unsigned number)
{
    static const char *const names[NODES] = {"n0", "n1", "n2"};
    struct victim node = {.options = {.uri = uri, .node = names[number], .lease_us = LEASE_US}};

    return run_victim(&node, work_on);
}

static bool has_ended(pid_t pid)
{
    int status;

    if (waitpid(pid, &status, WNOHANG) == 0)
        return false;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    return true;
}

/* One is killed and comes back, the next stands still for longer than its lease, and so on. */
static void disturb(pid_t *nodes, const char *uri, unsigned turn)
{
    pid_t *node = &nodes[turn % NODES];

    if (turn % 2 == 0) {
        assert_int_equal(kill(*node, SIGKILL), 0);
        assert_int_equal(waitpid(*node, NULL, 0), *node);
        *node = start_node(uri, turn % NODES);
        (void)poll(NULL, 0, MS_PER_LEASE / 5);
    } else {
        assert_int_equal(kill(*node, SIGSTOP), 0);
        (void)poll(NULL, 0, MS_PER_LEASE * 3 / 2);
        assert_int_equal(kill(*node, SIGCONT), 0);
    }
}

static void check_all(struct stage *stage)
{
    for (unsigned i = 0; i < INSTANCES; i++) {
        char id[16];

        instance_id(id, sizeof id, i);
        assert_string_equal(stage_name(stage, id), "5");
        assert_string_equal(stage_sub_status(stage, id), "Suspended");
    }
    assert_int_equal(stage_count(stage, PAWL_TABLE_BOOKMARKS), INSTANCES);
    assert_int_equal(stage_count(stage, PAWL_TABLE_DEAD_LETTERS), 0);
}

static void no_event_is_lost_while_three_nodes_die_and_stand_still(void **state)
{
    const struct places *places = *state;
    char uri[PLACE_URI_MAX], id[16];
    const struct stage_options options = {.uri = place_fresh(&places->postgres, uri)};
    struct victim sender = {.options = {.uri = uri, .node = "sender"}};
    unsigned turns = 0, least = stage_size(6, 60);
    pid_t nodes[NODES], sending;
    struct stage stage;

    stage_open(&stage, &options);
    stage_publish(&stage, COUNTING("d"));
    for (unsigned i = 0; i < INSTANCES; i++) {
        instance_id(id, sizeof id, i);
        stage_start(&stage, "d", id);
    }
    stage_close(&stage);
    for (unsigned i = 0; i < NODES; i++)
        nodes[i] = start_node(uri, i);
    sending = run_victim(&sender, send_rounds);
    for (bool sent = false; !sent || turns < least; turns++) {
        disturb(nodes, uri, turns);
        sent = sent || has_ended(sending);
    }
    for (unsigned i = 0; i < NODES; i++) {
        assert_int_equal(kill(nodes[i], SIGKILL), 0);
        assert_int_equal(waitpid(nodes[i], NULL, 0), nodes[i]);
    }
    stage_open(&stage, &options);
    stage_settle(&stage, true);
    check_all(&stage);
    stage_close(&stage);
    print_message("# %u times a node was killed or stood still\n", turns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parent_goes_on_when_the_node_dies_after_its_child_ended_on_sqlite),
        cmocka_unit_test(a_parent_goes_on_when_the_node_dies_after_its_child_ended_on_postgres),
        cmocka_unit_test(a_parent_goes_on_when_the_node_stands_still_after_its_child_ended),
        cmocka_unit_test(an_instance_whose_first_burst_died_begins_again_with_its_input),
        cmocka_unit_test(no_event_is_lost_while_three_nodes_die_and_stand_still),
    };

    return cmocka_run_group_tests(tests, places_set_up, places_tear_down);
}
