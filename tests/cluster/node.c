/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scenario as a program: a node of its own, which can kill itself at a chosen call.
 *
 *     node STORE [--node ID] [--lease MS] [--before N | --after N] [--start | --finish]
 *                [--account] [--hold ACTIVITY] [--patience S] [--url URL] [--locks URI]
 *
 *     --before N    SIGKILL right before the Nth durable call (apply, claim, take, lease)
 *     --after N     SIGKILL right after it took effect
 *     --locks URI   it is one node of several, whose locks are there. Calls that try, wait for and
 *                   release locks count as durable ones; it always dies right before them: right
 *                   after them is before what follows
 *     --cut N       with a store in SQLite: cuts the power at the Nth call that changes a file
 *                   (power/disk.h), and dies; 0: only counts those calls
 *     --manner M    what the disk then does with what was not synced: 0, 1 or 2
 *     --start       only publish and start main; the exit code is that of this call
 *     --finish      only do what is due until nothing is left
 *     --account     print the account at the end, after a line "--"
 *     --hold ID     stop before the commit in which this activity of main completes: writes
 *                   "held\n", waits for a byte on standard input
 *
 *     --url URL     of the server outside; without it nothing is sent and nothing cancelled
 *
 * Lines that workflows write are printed as "line TEXT", keys of what was accepted as "accepted
 * KEY", and at the end "calls N", and with --cut "disk N". The exit code is 0, or the error's code
 * as a positive number, or 100 for wrong arguments.
 */
#include "cluster/scenario.h"

#include "base/error.h"
#include "power/disk.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ACCOUNT_BYTES_MAX ((size_t)1 << 20)
#define EXIT_USAGE 100

struct node {
    struct scenario_options options;
    atomic_uint calls;
    unsigned crash_at; /* 0: never */
    bool after;
    struct disk_cut cut;
    bool has_disk;
    bool start;
    bool finish;
    bool account;
    const char *hold;
    bool held;
};

/* At once and whole: the next moment may not come. */
static void say(const char *text, size_t len)
{
    ssize_t written = write(STDOUT_FILENO, text, len);

    (void)written;
}

static int on_line(void *ctx, struct pawl_str instance_id, struct pawl_str text)
{
    char line[256];
    int len = snprintf(line, sizeof line, "line %.*s\n", PAWL_STR_ARG(text));

    (void)ctx;
    (void)instance_id;
    say(line, (size_t)len);
    return PAWL_OK;
}

static void on_accepted(void *ctx, const char *kind, const char *key)
{
    char line[128];
    int len = snprintf(line, sizeof line, "accepted %s:%s\n", kind, key);

    (void)ctx;
    say(line, (size_t)len);
}

/* The machine is gone; its disk has what it has. */
static void lose_power(void)
{
    disk_power_on();
    (void)kill(getpid(), SIGKILL);
}

static void on_logged(void *ctx, struct pawl_str instance_id, struct pawl_str activity_id,
                      struct pawl_str event)
{
    struct node *node = ctx;
    char byte;

    if (!node->hold || node->held || !pawl__str_is(instance_id, SCENARIO_MAIN_ID) ||
        !pawl__str_is(activity_id, node->hold) || !pawl__str_is(event, "Completed"))
        return;
    node->held = true;
    say("held\n", 5);
    while (read(STDIN_FILENO, &byte, 1) < 0)
        continue;
}

static bool decide(void *ctx, enum pawl_store_call call, enum pawl_store_fault *how)
{
    struct node *node = ctx;

    if (call != PAWL_STORE_CALL_APPLY && call != PAWL_STORE_CALL_CLAIM &&
        call != PAWL_STORE_CALL_TAKE && call != PAWL_STORE_CALL_LEASE)
        return false;
    if (atomic_fetch_add(&node->calls, 1) + 1 != node->crash_at)
        return false;
    *how = node->after ? PAWL_STORE_FAULT_CRASH_AFTER : PAWL_STORE_FAULT_CRASH;
    return true;
}

static void decide_lock(void *ctx, enum pawl_lock_call call, struct pawl_lock_fault_order *order)
{
    struct node *node = ctx;

    (void)order;
    if (call != PAWL_LOCK_CALL_TRY && call != PAWL_LOCK_CALL_WAIT &&
        call != PAWL_LOCK_CALL_RELEASE && call != PAWL_LOCK_CALL_TICKET)
        return;
    if (atomic_fetch_add(&node->calls, 1) + 1 == node->crash_at)
        (void)kill(getpid(), SIGKILL);
}

static int crash(void *ctx, enum pawl_store_call call)
{
    (void)ctx;
    (void)call;
    (void)kill(getpid(), SIGKILL);
    return PAWL_ESTOPPED;
}

/* ---- arguments ----------------------------------------------------------------------------- */

static bool read_flag(struct node *node, const char *flag)
{
    if (strcmp(flag, "--start") == 0)
        node->start = true;
    else if (strcmp(flag, "--finish") == 0)
        node->finish = true;
    else if (strcmp(flag, "--account") == 0)
        node->account = true;
    else
        return false;
    return true;
}

static bool read_option(struct node *node, const char *option, const char *value)
{
    if (strcmp(option, "--node") == 0) {
        node->options.node = value;
    } else if (strcmp(option, "--url") == 0) {
        node->options.url = value;
    } else if (strcmp(option, "--locks") == 0) {
        node->options.locks = value;
    } else if (strcmp(option, "--hold") == 0) {
        node->hold = value;
    } else if (strcmp(option, "--lease") == 0) {
        node->options.lease_us = strtoll(value, NULL, 10) * 1000;
    } else if (strcmp(option, "--patience") == 0) {
        node->options.patience_ns = strtoll(value, NULL, 10) * 1000000000;
    } else if (strcmp(option, "--cut") == 0) {
        node->has_disk = true;
        node->cut.at = node->cut.seed = strtoull(value, NULL, 10);
    } else if (strcmp(option, "--manner") == 0) {
        node->cut.manner = (enum disk_manner)(atoi(value) % DISK_MANNERS);
    } else if (strcmp(option, "--before") == 0 || strcmp(option, "--after") == 0) {
        node->crash_at = (unsigned)strtoul(value, NULL, 10);
        node->after = option[2] == 'a';
    } else {
        return false;
    }
    return true;
}

static bool read_arguments(struct node *node, int argc, char **argv)
{
    if (argc < 2)
        return false;
    node->options.store = argv[1];
    for (int i = 2; i < argc; i++) {
        if (read_flag(node, argv[i]))
            continue;
        if (i + 1 == argc || !read_option(node, argv[i], argv[i + 1]))
            return false;
        i++;
    }
    return true;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static int drive(const struct node *node, struct scenario *scenario, struct pawl_error *err)
{
    int status;

    if (node->finish)
        return scenario_finish(scenario, err);
    if (!node->start)
        return scenario_drive(scenario, err);
    status = scenario_publish(scenario, err);
    return status == PAWL_OK ? scenario_start_main(scenario, err) : status;
}

static int print_account(struct scenario *scenario, struct pawl_error *err)
{
    struct pawl_env *env;
    struct pawl_buf buf;
    int status = pawl_system_env_open(&env, err);

    if (status != PAWL_OK)
        return status;
    pawl__buf_init(&buf, &env->alloc, ACCOUNT_BYTES_MAX);
    status = scenario_account(scenario, &buf, err);
    if (status == PAWL_OK) {
        say("--\n", 3);
        say(pawl__buf_peek(&buf).ptr, pawl__buf_peek(&buf).len);
    }
    pawl__buf_release(&buf);
    pawl_system_env_close(env);
    return status;
}

int main(int argc, char **argv)
{
    struct node node = {
        .options = {.node = "a", .line = on_line, .logged = on_logged, .accepted = on_accepted},
        .cut = {.happens = lose_power}};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct scenario *scenario = NULL;
    char line[64];
    int status, len;

    node.options.ctx = &node;
    node.options.faults = (struct pawl_store_fault_hooks){decide, crash, &node};
    node.options.lock_faults = (struct pawl_lock_fault_hooks){decide_lock, &node};
    if (!read_arguments(&node, argc, argv)) {
        (void)fprintf(stderr, "node: wrong arguments; see node.c\n");
        return EXIT_USAGE;
    }
    if (node.has_disk) {
        disk_install();
        disk_begin(&node.cut);
    }
    status = scenario_open(&node.options, &scenario, &err);
    if (status == PAWL_OK)
        status = drive(&node, scenario, &err);
    if (status != PAWL_OK)
        (void)fprintf(stderr, "node %s: %s\n", node.options.node, err.msg);
    if (scenario && node.account) {
        /* Also of one that hangs: it shows what is left. */
        int told = print_account(scenario, &err);

        if (told != PAWL_OK)
            (void)fprintf(stderr, "node %s: no account: %s\n", node.options.node, err.msg);
        status = status == PAWL_OK ? told : status;
    }
    scenario_close(scenario);
    len = snprintf(line, sizeof line, "calls %u\n", atomic_load(&node.calls));
    say(line, (size_t)len);
    len = snprintf(line, sizeof line, "disk %llu\n", (unsigned long long)disk_calls());
    if (node.has_disk)
        say(line, (size_t)len);
    return -status;
}
