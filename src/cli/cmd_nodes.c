/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl nodes`: the nodes of a store, their leases, and what each is running. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/listing.h"
#include "cli/output.h"

/* Instances that are told of each node. */
#define INSTANCES_MAX 100u

struct nodes {
    struct pawl_cli_session *session;
    struct pawl_builder b;
    int64_t now_us;
    bool all;
    struct pawl_error *err;
};

/* ---- what one has in hand ------------------------------------------------------------------- */

static int add_instances(struct nodes *nodes, const struct pawl_node_row *node,
                         struct pawl_json *one, uint64_t *held)
{
    struct pawl_json out = pawl__json_array();
    struct pawl_cli_list list;
    struct pawl_rows rows;
    int status;

    pawl__cli_list_all(&list, PAWL_TABLE_INSTANCES, NULL, PAWL_QUERY_BRIEF | PAWL_QUERY_TOTAL);
    list.query.limit = INSTANCES_MAX;
    pawl__cli_list_int(&list, "owner", PAWL_EQ, node->incarnation);
    status = pawl__cli_list_find(nodes->session, &list, nodes->b.arena, &rows, nodes->err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        const struct pawl_instance_row *row = &((const struct pawl_instance_row *)rows.rows)[i];
        struct pawl_json instance = pawl__json_object();

        pawl__cli_put(&nodes->b, &instance, "id", row->id);
        pawl__cli_put(&nodes->b, &instance, "definitionId", row->definition_id);
        pawl__cli_put(&nodes->b, &instance, "subStatus", row->sub_status);
        pawl__cli_put_time(&nodes->b, &instance, "updatedAt", row->updated_us);
        pawl__build_append(&nodes->b, &out, instance);
    }
    if (status != PAWL_OK)
        return status;
    pawl__build_int(&nodes->b, one, "runs", (int64_t)rows.total);
    pawl__build(&nodes->b, one, "instances", out);
    *held += rows.total;
    return PAWL_OK;
}

static int add_work(struct nodes *nodes, const struct pawl_node_row *node, struct pawl_json *one,
                    uint64_t *held)
{
    struct pawl_cli_list list;
    uint64_t total = 0;
    int status;

    pawl__cli_list_all(&list, PAWL_TABLE_WORK, NULL, 0);
    pawl__cli_list_int(&list, "owner", PAWL_EQ, node->incarnation);
    status = pawl__cli_list_count(nodes->session, &list, nodes->b.arena, &total, nodes->err);
    pawl__build_int(&nodes->b, one, "work", (int64_t)total);
    *held += total;
    return status;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

/* Members of the JSON that it told, where it told any. */
static int add_told(struct nodes *nodes, const struct pawl_node_row *node, struct pawl_json *one)
{
    static const char *const texts[] = {"host", "version", "runtime", "locks"};
    struct pawl_json told;
    int64_t pid = 0, stuck = 0;

    if (pawl__json_parse(nodes->b.arena, node->info, NULL, &told, NULL, NULL) != PAWL_OK)
        told = pawl__json_object();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        pawl__cli_put(&nodes->b, one, texts[i],
                      pawl__json_str(pawl__json_get_text(&told, texts[i])));
    (void)pawl__json_to_int(pawl__json_get_text(&told, "pid"), &pid);
    pawl__build(&nodes->b, one, "pid", pid > 0 ? pawl__json_int(pid) : pawl__json_null());
    (void)pawl__json_to_int(pawl__json_get_text(&told, "stuck"), &stuck);
    pawl__build_int(&nodes->b, one, "stuck", stuck);
    if (stuck > 0 && node->lease_us > nodes->now_us)
        pawl__build_name(&nodes->b, one, "state", "stuck");
    return nodes->b.status;
}

static int add_node(struct nodes *nodes, const struct pawl_node_row *node, struct pawl_json *rows)
{
    bool alive = node->lease_us > nodes->now_us;
    int64_t left_us = node->lease_us - nodes->now_us;
    struct pawl_json one = pawl__json_object();
    char span[PAWL_CLI_SPAN_TEXT];
    uint64_t held = 0;
    int status;

    pawl__cli_put(&nodes->b, &one, "id", node->id);
    pawl__build_name(&nodes->b, &one, "state", alive ? "alive" : "gone");
    pawl__build_int(&nodes->b, &one, "incarnation", node->incarnation);
    pawl__cli_put_time(&nodes->b, &one, "joinedAt", node->joined_us);
    pawl__cli_put_time(&nodes->b, &one, "leaseEndsAt", node->lease_us);
    pawl__cli_put(&nodes->b, &one, "lease",
                  pawl__str(pawl__arena_printf(nodes->b.arena, alive ? "%s left" : "over for %s",
                                               pawl__cli_span_text(left_us, span))));
    status = add_told(nodes, node, &one);
    if (status == PAWL_OK)
        status = add_work(nodes, node, &one, &held);
    if (status == PAWL_OK)
        status = add_instances(nodes, node, &one, &held);
    /* One that is gone and left something is worth seeing: somebody should have taken it. */
    if (status == PAWL_OK && (alive || held > 0 || nodes->all))
        pawl__build_append(&nodes->b, rows, one);
    return status;
}

static int find(struct nodes *nodes, struct pawl_json *out)
{
    struct pawl_cli_list list;
    struct pawl_rows rows = {.count = 0};
    int status = pawl__cli_store_now(nodes->session, &nodes->now_us, nodes->err);

    pawl__cli_list_all(&list, PAWL_TABLE_NODES, NULL, 0);
    if (status == PAWL_OK)
        status = pawl__cli_list_find(nodes->session, &list, nodes->b.arena, &rows, nodes->err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++)
        status = add_node(nodes, &((const struct pawl_node_row *)rows.rows)[i], out);
    if (status == PAWL_OK && nodes->b.status != PAWL_OK)
        status = pawl__error_code(nodes->err, nodes->b.status);
    return status;
}

/* ---- showing -------------------------------------------------------------------------------- */

static int show_instances(struct nodes *nodes, const struct pawl_json *rows)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "NODE", .key = "node"},
        {.title = "INSTANCE", .key = "id"},
        {.title = "DEFINITION", .key = "definitionId"},
        {.title = "STATUS", .key = "subStatus"},
        {.title = "UPDATED", .key = "updatedAt", .is_time = true},
        {.title = NULL},
    };
    struct pawl_json out = pawl__json_array();

    for (uint32_t i = 0; i < pawl__json_len(rows); i++) {
        const struct pawl_json *node = pawl__json_at(rows, i);
        const struct pawl_json *instances = pawl__json_get_text(node, "instances");

        for (uint32_t j = 0; j < pawl__json_len(instances); j++) {
            struct pawl_json one = *pawl__json_at(instances, j);

            pawl__cli_put(&nodes->b, &one, "node", pawl__json_str(pawl__json_get_text(node, "id")));
            pawl__build_append(&nodes->b, &out, one);
        }
    }
    return pawl__cli_table(nodes->session->cli, &out, columns);
}

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    static const struct pawl_cli_column columns[] = {
        {.title = "NODE", .key = "id"},
        {.title = "STATE", .key = "state"},
        {.title = "LEASE", .key = "lease"},
        {.title = "RUNS", .key = "runs"},
        {.title = "WORK", .key = "work"},
        {.title = "RUNTIME", .key = "runtime"},
        {.title = "LOCKS", .key = "locks"},
        {.title = "HOST", .key = "host"},
        {.title = "PID", .key = "pid"},
        {.title = "VERSION", .key = "version"},
        {.title = "JOINED", .key = "joinedAt", .is_time = true},
        {.title = NULL},
    };
    struct pawl_cli *cli = session->cli;
    struct nodes nodes = {.session = session,
                          .b = {.arena = &cli->arena},
                          .all = pawl__cli_flag(&cli->args, "all"),
                          .err = err};
    struct pawl_json rows = pawl__json_array();
    int status = find(&nodes, &rows);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, pawl__cli_session_hint(status));
    if (pawl__cli_flag(&cli->args, "json"))
        return pawl__cli_print_json(cli, &rows, 2);
    if (pawl__json_len(&rows) == 0) {
        pawl__cli_print(&cli->err, "no nodes: 'pawl worker' starts one\n");
        return PAWL_CLI_EXIT_OK;
    }
    if (pawl__cli_flag(&cli->args, "instances"))
        return show_instances(&nodes, &rows);
    return pawl__cli_table(cli, &rows, columns);
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, body);
}

static const struct pawl_cli_option options[] = {
    {.name = "all", .letter = 'a', .kind = PAWL_CLI_FLAG, .help = "Also nodes that are gone"},
    {.name = "instances",
     .letter = 'i',
     .kind = PAWL_CLI_FLAG,
     .help = "Show the instances that each is running"},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print JSON, with the instances of each"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_nodes = {
    .name = "nodes",
    .summary = "Show the nodes of a store, their leases and what each runs",
    .help =
        "RUNS are instances that the node has claimed, WORK is what it has taken and not done. A\n"
        "node whose lease is over is gone: what it had is taken over by the others, and it is\n"
        "shown only while something is left. One whose state is 'stuck'\n"
        "has threads whose step does not return ('step.deadline'): it works on with others,\n"
        "and needs a restart.\n",
    .options = options,
    .run = run,
};
