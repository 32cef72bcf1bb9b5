/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl store backup|restore`: a whole store into one file, and back into any backend. */
#include "cli/store.h"

#include "base/error.h"
#include "cli/output.h"
#include "host/backup.h"
#include "os/process.h"
#include "stores/stores.h"

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

static void put_summary(struct pawl_cli *cli, const char *name, const char *did,
                        const struct pawl_backup_counts *counts)
{
    char size[PAWL_CLI_SIZE_TEXT];

    cli->changed = true;
    pawl__cli_write_safe(&cli->out, pawl__str(name));
    pawl__cli_print(&cli->out, "  %s, %ju rows, %s\n", did, (uintmax_t)counts->row_count,
                    pawl__cli_size_text(counts->size_bytes, size));
}

/* ---- backup ------------------------------------------------------------------------------ */

static int run_backup(struct pawl_cli *cli)
{
    struct pawl_backup_options options = with_progress(cli);
    const char *path = cli->args.operands[1], *shown = "";
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_backup_counts counts;
    struct pawl_store *store = NULL;
    int code = PAWL_CLI_EXIT_OK;
    int status = pawl__cli_open_store(cli, 0, PAWL_STORE_OPEN_READ, &store, &shown, &err);

    options.plain = pawl__cli_flag(&cli->args, "plain");
    if (status == PAWL_OK)
        status = pawl__cli_file_mode(cli, &options.file_mode, &err);
    if (status == PAWL_OK) {
        status = pawl__backup_write(cli->env, store, path, &options, &counts, &err);
        end_progress(cli, &options);
    }
    if (status == PAWL_OK)
        put_summary(cli, path, "written", &counts);
    else
        code = pawl__cli_fail(cli, &err, pawl__cli_store_hint(store ? PAWL_OK : status));
    pawl_store_close(store);
    return code;
}

static const struct pawl_cli_option backup_options[] = {
    {.name = "plain", .kind = PAWL_CLI_FLAG, .help = "Do not compress"},
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_store_backup = {
    .name = "backup",
    .summary = "Write a whole store, as of one moment, into a file",
    .operands = "URI FILE",
    .help = "Nodes may go on working meanwhile. The file appears under its name when it is whole.\n"
            "It can be restored into a store of any backend.\n",
    .options = backup_options,
    .run = run_backup,
};

/* ---- restore ----------------------------------------------------------------------------- */

static const char *restore_hint(int code)
{
    switch (code) {
    case PAWL_ECONFLICT:
        return "name a store that is not there yet: restoring makes it";
    case PAWL_ENOTFOUND:
        return "check the path of the file, and that the store can be made";
    case PAWL_EPARSE:
        return "'pawl store backup URI FILE' writes backups";
    default:
        return NULL;
    }
}

static int run_restore(struct pawl_cli *cli)
{
    struct pawl_backup_options options = with_progress(cli);
    const char *path = cli->args.operands[1], *shown = "";
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_backup_counts counts;
    struct pawl_store *store = NULL;
    int code = PAWL_CLI_EXIT_OK, status;

    /* A file that is no backup must not leave a new store behind. */
    status = pawl__backup_verify(cli->env, path, &err);
    if (status == PAWL_OK)
        status = pawl__cli_open_store(cli, 0, PAWL_STORE_OPEN_CREATE, &store, &shown, &err);
    if (status == PAWL_OK) {
        status = pawl__backup_restore(cli->env, store, path, &options, &counts, &err);
        end_progress(cli, &options);
    }
    if (status == PAWL_OK)
        put_summary(cli, shown, "restored", &counts);
    else
        code = pawl__cli_fail(cli, &err, restore_hint(status));
    pawl_store_close(store);
    return code;
}

const struct pawl_cli_command pawl__cli_store_restore = {
    .name = "restore",
    .summary = "Fill an empty store from a backup",
    .operands = "URI FILE",
    .help = "The file is checked before anything is written. The store is made when it is not\n"
            "there, and must be empty; its backend may be another than that of the backup.\n",
    .run = run_restore,
};
