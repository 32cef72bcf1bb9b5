/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl store backup|restore`: a whole store into one file, and back into any backend. */
#include "cli/store.h"

#include "base/error.h"
#include "cli/command/output.h"
#include "operations/store.h"
#include "os/process.h"

/* ---- progress ---------------------------------------------------------------------------- */

static void show_progress(void *ctx, const struct pawl_backup_counts *so_far)
{
    struct pawl_cli *cli = ctx;
    char size[PAWL_CLI_SIZE_TEXT];

    pawl__cli_print(&cli->err, "\r%ju rows, %s\033[K", (uintmax_t)so_far->row_count,
                    pawl__cli_size_text(so_far->size_bytes, size));
    pawl__cli_flush(&cli->err);
}

/* Only where a person looks. */
static struct pawl_backup_options with_progress(struct pawl_cli *cli)
{
    struct pawl_backup_options options = {.plain = false};

    if (pawl__fd_is_terminal(fileno(cli->err.file))) {
        options.progress = show_progress;
        options.progress_ctx = cli;
    }
    return options;
}

static void end_progress(struct pawl_cli *cli, const struct pawl_backup_options *options)
{
    if (options->progress)
        pawl__cli_print(&cli->err, "\r\033[K");
}

static void put_summary(struct pawl_cli *cli, struct pawl_str name, const char *did,
                        const struct pawl_backup_counts *counts)
{
    char size[PAWL_CLI_SIZE_TEXT];

    cli->changed = true;
    pawl__cli_write_safe(&cli->out, name);
    pawl__cli_print(&cli->out, "  %s, %ju rows, %s\n", did, (uintmax_t)counts->row_count,
                    pawl__cli_size_text(counts->size_bytes, size));
}

/* ---- backup ------------------------------------------------------------------------------ */

/* URI FILE, or FILE alone for the store of --store: the file is the last. */
static const char *file_operand(const struct pawl_cli *cli)
{
    return cli->args.operands[cli->args.operand_count - 1];
}

static size_t uri_operand(const struct pawl_cli *cli)
{
    return cli->args.operand_count > 1 ? 0 : cli->args.operand_count;
}

static int backup_body(struct pawl_cli *cli, const struct pawl_op *op, struct pawl_str uri)
{
    struct pawl_backup_options options = with_progress(cli);
    const char *path = file_operand(cli);
    struct pawl_store_copied copied;
    int status;

    options.plain = pawl__cli_flag(&cli->args, "plain");
    status = pawl__op_store_backup(op, uri, path, &options, &copied);
    end_progress(cli, &options);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, op->err, pawl__cli_store_hint(status));
    put_summary(cli, pawl__str(path), "written", &copied.counts);
    return PAWL_CLI_EXIT_OK;
}

static int run_backup(struct pawl_cli *cli)
{
    return pawl__cli_with_store(cli, uri_operand(cli), backup_body);
}

static const struct pawl_cli_option backup_options[] = {
    {.name = "plain", .kind = PAWL_CLI_FLAG, .help = "Do not compress"},
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_store_backup = {
    .name = "backup",
    .summary = "Write a consistent copy of a whole store to a file",
    .operands = "[URI] FILE",
    .help = "Nodes may keep working meanwhile. The file gets its name when it is complete.\n"
            "It can be restored into a store of any backend.\n",
    .options = backup_options,
    .run = run_backup,
};

/* ---- restore ----------------------------------------------------------------------------- */

static const char *restore_hint(int code)
{
    switch (code) {
    case PAWL_ECONFLICT:
        return "name a store that does not exist yet: restoring creates it";
    case PAWL_ENOTFOUND:
        return "check the path of the file, and that the store can be created";
    case PAWL_EPARSE:
        return "'pawl store backup FILE' writes backups";
    default:
        return NULL;
    }
}

static int restore_body(struct pawl_cli *cli, const struct pawl_op *op, struct pawl_str uri)
{
    struct pawl_backup_options options = with_progress(cli);
    struct pawl_store_copied copied;
    int status = pawl__op_store_restore(op, uri, file_operand(cli), &options, &copied);

    end_progress(cli, &options);
    if (status != PAWL_OK)
        return pawl__cli_fail(cli, op->err, restore_hint(status));
    put_summary(cli, copied.shown, "restored", &copied.counts);
    return PAWL_CLI_EXIT_OK;
}

static int run_restore(struct pawl_cli *cli)
{
    return pawl__cli_with_store(cli, uri_operand(cli), restore_body);
}

const struct pawl_cli_command pawl__cli_store_restore = {
    .name = "restore",
    .summary = "Fill an empty store from a backup",
    .operands = "[URI] FILE",
    .help = "The file is checked before anything is written. The store is created if it does not\n"
            "exist, and must be empty; its backend may differ from that of the backup.\n",
    .run = run_restore,
};
