/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl store init|info|check`, and opening stores for all of `pawl store`. */
#include "cli/commands.h"

#include "base/datetime.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/configure.h"
#include "cli/output.h"
#include "cli/store.h"
#include "host/backup.h"
#include "host/store_check.h"
#include "host/store_uri.h"
#include "host/uri.h"

#define OUTPUT_MAX ((size_t)64 << 20)
#define NODES_MAX 1000
/* For what is quick where a server answers at all. */
#define QUICK_NS_MAX INT64_C(30000000000)

/* ---- opening ----------------------------------------------------------------------------- */

int pawl__cli_open_store(struct pawl_cli *cli, size_t operand, uint32_t flags,
                         struct pawl_store **out, const char **shown, struct pawl_error *err)
{
    struct pawl_configuration configuration;
    struct pawl_store_options options = {.flags = flags};
    struct pawl_str uri, copy = {NULL, 0};
    struct pawl_buf masked;
    int status = pawl__cli_configure(cli, &configuration, err);

    if (status != PAWL_OK)
        return status;
    uri = operand < cli->args.operand_count
              ? pawl__str(cli->args.operands[operand])
              : pawl__str(pawl__configuration_text(&configuration, PAWL_SETTING_ID_STORE));
    options.connections =
        (uint32_t)pawl__configuration_number(&configuration, PAWL_SETTING_ID_STORE_CONNECTIONS);
    options.file_mode =
        (uint32_t)pawl__configuration_number(&configuration, PAWL_SETTING_ID_FILE_MODE);
    pawl__buf_init(&masked, &cli->env->alloc, PAWL_CONFIGURATION_BYTES_MAX);
    pawl__uri_mask(&masked, uri);
    if (masked.status == PAWL_OK)
        copy = pawl__arena_str(&cli->arena, pawl__buf_peek(&masked));
    if (copy.ptr)
        status = pawl__host_open_store(cli->env, uri, &options, out, err);
    else
        status = pawl__error_code(err, PAWL_ENOMEM);
    if (status == PAWL_OK) {
        PAWL_ASSERT(*out);
        *shown = copy.ptr;
    }
    pawl__buf_release(&masked);
    pawl__configuration_release(&configuration);
    return status;
}

int pawl__cli_file_mode(struct pawl_cli *cli, uint32_t *out, struct pawl_error *err)
{
    struct pawl_configuration configuration;
    int status = pawl__cli_configure(cli, &configuration, err);

    if (status != PAWL_OK)
        return status;
    *out = (uint32_t)pawl__configuration_number(&configuration, PAWL_SETTING_ID_FILE_MODE);
    pawl__configuration_release(&configuration);
    return PAWL_OK;
}

const char *pawl__cli_store_hint(int code)
{
    switch (code) {
    case PAWL_ENOTFOUND:
        return "'pawl store init URI' makes a store";
    case PAWL_EINVAL:
        return "'pawl store --help' shows what a URI looks like";
    case PAWL_EPARSE:
        return "'pawl help settings' lists the settings and what they may be";
    default:
        return NULL;
    }
}

const char *pawl__cli_size_text(uint64_t size_bytes, char out[PAWL_CLI_SIZE_TEXT])
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    double size = (double)size_bytes;
    size_t unit = 0;

    while (size >= 1024 && unit < sizeof units / sizeof units[0] - 1) {
        size /= 1024;
        unit++;
    }
    (void)snprintf(out, PAWL_CLI_SIZE_TEXT, "%.*f %s", unit > 0 ? 1 : 0, size, units[unit]);
    return out;
}

static int64_t soon_ns(struct pawl_cli *cli)
{
    return pawl_env_monotonic_ns(cli->env) + QUICK_NS_MAX;
}

/* ---- init -------------------------------------------------------------------------------- */

static const char *init_hint(int code)
{
    return code == PAWL_ENOTFOUND ? "check the path, and that its folder or database is there"
                                  : pawl__cli_store_hint(code);
}

static int run_init(struct pawl_cli *cli)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_store_status about;
    struct pawl_store *store = NULL;
    const char *shown = "", *done = "is initialised already";
    int code, status = pawl__cli_open_store(cli, 0, 0, &store, &shown, &err);

    if (status == PAWL_ENOTFOUND || status == PAWL_ECONFLICT) {
        done = status == PAWL_ENOTFOUND ? "initialised" : "brought up to date";
        err = (struct pawl_error)PAWL_ERROR_INIT;
        status = pawl__cli_open_store(cli, 0, PAWL_STORE_OPEN_CREATE, &store, &shown, &err);
    }
    if (status == PAWL_OK)
        status = pawl_store_status(store, &about, soon_ns(cli), &err);
    if (status != PAWL_OK) {
        code = pawl__cli_fail(cli, &err, init_hint(status));
    } else {
        pawl__cli_write_safe(&cli->out, pawl__str(shown));
        pawl__cli_print(&cli->out, "  %s, schema %jd\n", done, (intmax_t)about.schema);
        cli->changed = true;
        code = PAWL_CLI_EXIT_OK;
    }
    pawl_store_close(store);
    return code;
}

static const struct pawl_cli_command init = {
    .name = "init",
    .summary = "Make the tables of a store, or bring them up to date",
    .operands = "[URI]",
    .help = "Says what it did; running it again changes nothing.\n",
    .run = run_init,
};

/* ---- info -------------------------------------------------------------------------------- */

struct info {
    struct pawl_store_status status;
    uint64_t counts[PAWL_TABLE_COUNT];
    const struct pawl_node_row *nodes;
    size_t node_count;
    bool complete; /* no restore was cut short */
};

static int collect(struct pawl_cli *cli, struct pawl_store *store, struct info *info,
                   struct pawl_error *err)
{
    struct pawl_query nodes = {.table = PAWL_TABLE_NODES, .limit = NODES_MAX};
    struct pawl_rows rows;
    int status = pawl_store_status(store, &info->status, soon_ns(cli), err);

    for (unsigned i = 0; i < PAWL_TABLE_COUNT && status == PAWL_OK; i++) {
        struct pawl_query query = {.table = (enum pawl_table)i, .flags = PAWL_QUERY_COUNT};

        status = pawl_store_find(store, &query, &cli->arena, &rows, soon_ns(cli), err);
        if (status == PAWL_OK)
            info->counts[i] = rows.total;
    }
    if (status == PAWL_OK)
        status = pawl_store_find(store, &nodes, &cli->arena, &rows, soon_ns(cli), err);
    if (status != PAWL_OK)
        return status;
    info->nodes = rows.rows;
    info->node_count = rows.count;
    status = pawl__backup_check_complete(cli->env, store, err);
    info->complete = status == PAWL_OK;
    return status == PAWL_ECONFLICT ? PAWL_OK : status;
}

static void put_field(struct pawl_cli_stream *to, const char *name, const char *value)
{
    pawl__cli_print(to, "%-16s", name);
    pawl__cli_write_safe(to, pawl__str(value));
    pawl__cli_print(to, "\n");
}

static void print_nodes(struct pawl_cli_stream *to, const struct info *info)
{
    for (size_t i = 0; i < info->node_count; i++) {
        const struct pawl_node_row *node = &info->nodes[i];
        int64_t left_us = node->lease_us - info->status.now_us;
        char text[PAWL_DURATION_TEXT_SIZE];

        (void)pawl__duration_format_human((left_us < 0 ? -left_us : left_us) * 10, text);
        pawl__cli_print(to, "%-16s", "node");
        pawl__cli_write_safe(to, node->id);
        pawl__cli_print(to, "  incarnation %jd, lease %s %s\n", (intmax_t)node->incarnation,
                        left_us > 0 ? "for another" : "over since", text);
    }
}

static void print_info(struct pawl_cli *cli, const struct info *info, const char *shown)
{
    struct pawl_cli_stream *to = &cli->out;
    char size[PAWL_CLI_SIZE_TEXT];

    put_field(to, "store", shown);
    put_field(to, "backend", info->status.backend);
    put_field(to, "server", info->status.server);
    put_field(to, "location", info->status.location);
    pawl__cli_print(to, "%-16s%jd\n", "schema", (intmax_t)info->status.schema);
    put_field(to, "size",
              info->status.size_bytes > 0
                  ? pawl__cli_size_text((uint64_t)info->status.size_bytes, size)
                  : "-");
    if (!info->complete)
        put_field(to, "restore", "not finished: the content is incomplete");
    pawl__cli_print(to, "rows\n");
    for (unsigned i = 0; i < PAWL_TABLE_COUNT; i++)
        pawl__cli_print(to, "  %-14s%ju\n", pawl_table_info((enum pawl_table)i)->name,
                        (uintmax_t)info->counts[i]);
    print_nodes(to, info);
}

static void write_time(struct pawl_json_writer *json, const char *key, int64_t time_us)
{
    char text[PAWL_DATETIME_TEXT_SIZE];

    pawl__json_write_key_text(json, key);
    if (time_us > INT64_MAX / 1000 || time_us < INT64_MIN / 1000) {
        pawl__json_write_null(json);
        return;
    }
    (void)pawl__datetime_format(pawl__datetime_from_unix_ns(time_us * 1000), text);
    pawl__json_write_string_text(json, text);
}

static void write_text(struct pawl_json_writer *json, const char *key, const char *text)
{
    pawl__json_write_key_text(json, key);
    pawl__json_write_string_text(json, text);
}

static void write_integer(struct pawl_json_writer *json, const char *key, int64_t value)
{
    pawl__json_write_key_text(json, key);
    pawl__json_write_int(json, value);
}

static int write_info(struct pawl_cli *cli, const struct info *info, const char *shown)
{
    struct pawl_json_writer json;
    struct pawl_buf buf;

    pawl__buf_init(&buf, &cli->env->alloc, OUTPUT_MAX);
    pawl__json_writer_init(&json, &buf, PAWL_JSON_ESCAPE_MINIMAL, 2);
    pawl__json_write_begin_object(&json);
    write_text(&json, "store", shown);
    write_text(&json, "backend", info->status.backend);
    write_text(&json, "server", info->status.server);
    write_text(&json, "location", info->status.location);
    write_integer(&json, "schema", info->status.schema);
    write_integer(&json, "sizeBytes", info->status.size_bytes);
    write_time(&json, "now", info->status.now_us);
    pawl__json_write_key_text(&json, "complete");
    pawl__json_write_bool(&json, info->complete);
    pawl__json_write_key_text(&json, "rows");
    pawl__json_write_begin_object(&json);
    for (unsigned i = 0; i < PAWL_TABLE_COUNT; i++)
        write_integer(&json, pawl_table_info((enum pawl_table)i)->name, (int64_t)info->counts[i]);
    pawl__json_write_end_object(&json);
    pawl__json_write_key_text(&json, "nodes");
    pawl__json_write_begin_array(&json);
    for (size_t i = 0; i < info->node_count; i++) {
        pawl__json_write_begin_object(&json);
        pawl__json_write_key_text(&json, "id");
        pawl__json_write_string(&json, info->nodes[i].id);
        write_integer(&json, "incarnation", info->nodes[i].incarnation);
        write_time(&json, "joined", info->nodes[i].joined_us);
        write_time(&json, "lease", info->nodes[i].lease_us);
        pawl__json_write_end_object(&json);
    }
    pawl__json_write_end_array(&json);
    pawl__json_write_end_object(&json);
    return pawl__cli_write_json(cli, &buf);
}

static int run_info(struct pawl_cli *cli)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_store *store = NULL;
    struct info info = {.node_count = 0};
    const char *shown = "";
    int code, status = pawl__cli_open_store(cli, 0, PAWL_STORE_OPEN_READ, &store, &shown, &err);

    if (status == PAWL_OK)
        status = collect(cli, store, &info, &err);
    if (status != PAWL_OK) {
        code = pawl__cli_fail(cli, &err, pawl__cli_store_hint(status));
    } else if (pawl__cli_flag(&cli->args, "json")) {
        code = write_info(cli, &info, shown);
    } else {
        print_info(cli, &info, shown);
        code = PAWL_CLI_EXIT_OK;
    }
    pawl_store_close(store);
    return code;
}

static const struct pawl_cli_option info_options[] = {
    {.name = "json", .kind = PAWL_CLI_FLAG, .help = "Print one JSON object"},
    {.name = NULL},
};

static const struct pawl_cli_command info_command = {
    .name = "info",
    .summary = "Show what a store is, how much is in it, and its nodes",
    .operands = "[URI]",
    .options = info_options,
    .run = run_info,
};

/* ---- check ------------------------------------------------------------------------------- */

static void print_finding(void *ctx, const char *text)
{
    struct pawl_cli *cli = ctx;

    pawl__cli_write_safe(&cli->out, pawl__str(text));
    pawl__cli_print(&cli->out, "\n");
}

static int run_check(struct pawl_cli *cli)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_store *store = NULL;
    uint64_t count = 0, rows = 0;
    const char *shown = "";
    int code, status = pawl__cli_open_store(cli, 0, PAWL_STORE_OPEN_READ, &store, &shown, &err);

    if (status == PAWL_OK)
        status = pawl__store_check(cli->env, store, print_finding, cli, &count, &rows, &err);
    if (status != PAWL_OK) {
        code = pawl__cli_fail(cli, &err, pawl__cli_store_hint(status));
    } else {
        pawl__cli_flush(&cli->out);
        pawl__cli_write_safe(&cli->err, pawl__str(shown));
        pawl__cli_print(&cli->err, "  %ju row%s, %ju finding%s\n", (uintmax_t)rows,
                        rows == 1 ? "" : "s", (uintmax_t)count, count == 1 ? "" : "s");
        code = count == 0 ? PAWL_CLI_EXIT_OK : PAWL_CLI_EXIT_FAILED;
    }
    pawl_store_close(store);
    return code;
}

static const struct pawl_cli_command check = {
    .name = "check",
    .summary = "Check a store: its files, and what must hold between its rows",
    .operands = "[URI]",
    .help = "Prints a line per finding; the exit code is 1 when there is any. Nodes may go on\n"
            "working meanwhile.\n",
    .run = run_check,
};

static const struct pawl_cli_command *const commands[] = {
    &init, &info_command, &check, &pawl__cli_store_backup, &pawl__cli_store_restore, NULL,
};

static const struct pawl_cli_option options[] = {
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_store = {
    .name = "store",
    .summary = "Make, look at, check, back up and restore stores",
    .help = "URI is memory:, sqlite:PATH (a PATH alone is the same) or\n"
            "postgres://user:password@host:port/database. Where it may be left out it is the\n"
            "setting 'store'.\n",
    .options = options,
    .commands = commands,
};
