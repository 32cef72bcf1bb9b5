/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl nodes`, `pawl pause` and `pawl unpause`: the nodes of a store, and what they may begin. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "operations/nodes.h"
#include "os/process.h"
#include "views/nodes.h"

/* ---- showing -------------------------------------------------------------------------------- */

static int show_instances(struct pawl_cli *cli, struct pawl_builder *b,
                          const struct pawl_json *rows)
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

            pawl__view_text(b, &one, "node", pawl__json_str(pawl__json_get_text(node, "id")));
            pawl__build_append(b, &out, one);
        }
    }
    return pawl__cli_table(cli, &out, columns);
}

static int show_nodes(struct pawl_cli *cli, const struct pawl_json *rows)
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

    return pawl__cli_table(cli, rows, columns);
}

static void print_pause(struct pawl_cli_stream *to, const struct pawl_pause *pause)
{
    char time[PAWL_CLI_TIME_TEXT];

    if (pause->node_id.len > 0) {
        pawl__cli_print(to, "node ");
        pawl__cli_write_safe(to, pause->node_id);
    } else {
        pawl__cli_print(to, "the cluster");
    }
    pawl__cli_print(to, " is paused since %s UTC", pawl__cli_time_text(pause->since_us, time));
    if (pause->by.len > 0) {
        pawl__cli_print(to, " by ");
        pawl__cli_write_safe(to, pause->by);
    }
    if (pause->reason.len > 0) {
        pawl__cli_print(to, ": ");
        pawl__cli_write_safe(to, pause->reason);
    }
    pawl__cli_print(to, "\n");
}

/* All of them: a pause of the cluster, or of a node that is gone, holds for those to come. */
static void print_pauses(struct pawl_cli *cli, const struct pawl_node_list *nodes)
{
    for (size_t i = 0; i < nodes->pause_count; i++)
        print_pause(&cli->err, &nodes->pauses[i]);
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static struct pawl_json make_row(struct pawl_builder *b, const struct pawl_node_shown *node,
                                 bool as_json, bool with_instances)
{
    struct pawl_json row = pawl__view_node(b, node, with_instances);
    char span[PAWL_CLI_SPAN_TEXT];

    if (!as_json)
        pawl__view_text(
            b, &row, "lease",
            pawl__str(pawl__arena_printf(b->arena, node->left_us > 0 ? "%s left" : "over for %s",
                                         pawl__cli_span_text(node->left_us, span))));
    return row;
}

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    bool as_json = pawl__cli_flag(&cli->args, "json");
    const struct pawl_node_query query = {
        .with_gone = pawl__cli_flag(&cli->args, "all"),
        .with_instances = as_json || pawl__cli_flag(&cli->args, "instances"),
        .page = {.limit = (uint32_t)pawl__cli_number(&cli->args, "limit", 1000),
                 .after = pawl__str(pawl__cli_text(&cli->args, "after", ""))},
    };
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_json rows = pawl__json_array();
    struct pawl_node_list nodes;
    int status = pawl__op_nodes_list(&op, &query, &nodes);

    for (size_t i = 0; status == PAWL_OK && i < nodes.count; i++)
        pawl__build_append(&b, &rows, make_row(&b, &nodes.nodes[i], as_json, query.with_instances));
    if (status == PAWL_OK && b.status != PAWL_OK)
        status = pawl__error_code(err, b.status);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, pawl__cli_session_hint(status));
    if (nodes.page.next.len > 0)
        pawl__cli_print(&cli->err, "there are more: --after %s\n", nodes.page.next.ptr);
    if (as_json)
        return pawl__cli_print_json(cli, &rows, 2);
    print_pauses(cli, &nodes);
    if (nodes.count == 0) {
        pawl__cli_print(&cli->err, "no nodes: 'pawl worker' starts one\n");
        return PAWL_CLI_EXIT_OK;
    }
    return query.with_instances ? show_instances(cli, &b, &rows) : show_nodes(cli, &rows);
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
    {.name = "limit",
     .letter = 'n',
     .kind = PAWL_CLI_NUMBER,
     .arg = "COUNT",
     .help = "Show at most COUNT, by id (default 1000)",
     .min = 1,
     .max = PAWL_PAGE_ROWS_MAX},
    {.name = "after",
     .kind = PAWL_CLI_TEXT,
     .arg = "CURSOR",
     .help = "Continue where the previous list ended",
     .may_be_empty = true},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print JSON, with the instances of each"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_nodes = {
    .name = "nodes",
    .summary = "Show the nodes of a store, their leases and what each runs",
    .help =
        "RUNS are instances that the node has claimed, WORK is work that it has taken and not\n"
        "done. A node whose lease has expired is gone: others take over what it had, and it is\n"
        "shown only while something is left. One whose state is 'stuck'\n"
        "has threads whose step does not return ('step.deadline'): it continues with others,\n"
        "and needs a restart. One that is 'paused' takes no new work ('pawl pause').\n",
    .options = options,
    .run = run,
};

/* ---- pausing -------------------------------------------------------------------------------- */

static struct pawl_str node_operand(const struct pawl_cli *cli)
{
    return pawl__str(cli->args.operand_count > 0 ? cli->args.operands[0] : "");
}

/* Who is the user of this machine's, unless --by says another. */
static struct pawl_op operation(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    struct pawl_op op = pawl__cli_session_op(session, err);
    const char *by = pawl__cli_text(&cli->args, "by", NULL);

    if (by)
        op.actor = pawl__str(by);
    return op;
}

static int pause_body(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = operation(session, err);
    struct pawl_builder b = {.arena = &cli->arena};
    struct pawl_pause pause;
    struct pawl_json view;
    int status = pawl__op_node_pause(&op, node_operand(cli),
                                     pawl__str(pawl__cli_text(&cli->args, "reason", "")), &pause);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err,
                              status == PAWL_ENOTFOUND ? "'pawl nodes' lists them"
                                                       : pawl__cli_session_hint(status));
    cli->changed = true;
    if (!pawl__cli_flag(&cli->args, "json")) {
        print_pause(&cli->out, &pause);
        return PAWL_CLI_EXIT_OK;
    }
    view = pawl__view_pause(&b, &pause);
    return pawl__cli_print_json(cli, &view, 2);
}

static int run_pause(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, pause_body);
}

static int unpause_body(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const struct pawl_op op = pawl__cli_session_op(session, err);
    int status = pawl__op_node_unpause(&op, node_operand(cli));

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err,
                              status == PAWL_ENOTFOUND ? "'pawl nodes' shows what is paused"
                                                       : pawl__cli_session_hint(status));
    cli->changed = true;
    return PAWL_CLI_EXIT_OK;
}

static int run_unpause(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, unpause_body);
}

static const struct pawl_cli_option pause_options[] = {
    {.name = "reason",
     .kind = PAWL_CLI_TEXT,
     .arg = "TEXT",
     .help = "The reason, shown to others",
     .may_be_empty = true},
    {.name = "by", .kind = PAWL_CLI_TEXT, .arg = "NAME", .help = "Your name, shown to others"},
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print JSON"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_pause = {
    .name = "pause",
    .summary = "Pause all nodes of a store, or one: they take no new work",
    .operands = "[NODE]",
    .help =
        "Within a second no node begins anything new, whether it runs now or is started later;\n"
        "with NODE ('pawl nodes' lists them) only that one. A paused node keeps its lease and\n"
        "finishes what it has begun. Events sent meanwhile are kept for later; commands that\n"
        "must run now ('pawl start', 'pawl resume') are refused with exit code 4. Cancelling\n"
        "and deleting still work. 'pawl unpause' ends the pause; a restart does not.\n",
    .options = pause_options,
    .run = run_pause,
};

static const struct pawl_cli_option unpause_options[] = {
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_unpause = {
    .name = "unpause",
    .summary = "End a pause",
    .operands = "[NODE]",
    .help = "Ends the pause of the store, or with NODE that of the node.\n",
    .options = unpause_options,
    .run = run_unpause,
};
