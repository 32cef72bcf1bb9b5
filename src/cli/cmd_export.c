/* SPDX-License-Identifier: Apache-2.0 */
/* `pawl export INSTANCE`: an instance in the form in which Elsa exports one. */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/command/listing.h"
#include "cli/command/output.h"
#include "operations/instances.h"
#include "os/file.h"

#define OUTPUT_MAX ((size_t)256 << 20)

/* Undelivered mail is not exported: warn the user who moves an instance. */
static void warn_of_mail(struct pawl_cli *cli, uint64_t count)
{
    if (count > 0)
        pawl__cli_print(&cli->err,
                        "warning: %ju piece%s of mail for %s %s undelivered and not in the "
                        "export; 'pawl why' shows them\n",
                        (uintmax_t)count, count == 1 ? "" : "s", cli->args.operands[0],
                        count == 1 ? "is" : "are");
}

static const char *hint_of(int status)
{
    switch (status) {
    case PAWL_ENOTFOUND:
        return "'pawl ps --all' lists the instances";
    case PAWL_EBUSY:
        return "'pawl why' says what it is doing";
    case PAWL_ELIMIT:
        return "'--no-log --no-records' leaves out its history; 'pawl journal' prints the log";
    default:
        return pawl__cli_session_hint(status);
    }
}

static int write_file(const char *path, struct pawl_buf *json, mode_t mode, struct pawl_error *err)
{
    pawl__buf_byte(json, '\n');
    if (json->status != PAWL_OK)
        return pawl__error_code(err, json->status);
    return pawl__file_write(path, pawl__buf_peek(json), mode, err);
}

static int write_out(struct pawl_cli *cli, struct pawl_buf *json, struct pawl_error *err)
{
    int code = PAWL_CLI_EXIT_OK;

    pawl__buf_byte(json, '\n');
    if (json->status == PAWL_OK) {
        pawl__cli_write(&cli->out, pawl__buf_peek(json));
    } else {
        (void)pawl__error_code(err, json->status);
        code = pawl__cli_fail(cli, err, json->status == PAWL_ELIMIT ? hint_of(PAWL_ELIMIT) : NULL);
    }
    pawl__buf_release(json);
    return code;
}

static int body(struct pawl_cli_session *session, struct pawl_error *err)
{
    struct pawl_cli *cli = session->cli;
    const char *path = pawl__cli_text(&cli->args, "output", "-");
    struct pawl_op op = pawl__cli_session_op(session, err);
    const struct pawl_instance_export parts = {
        .bookmarks = !pawl__cli_flag(&cli->args, "no-bookmarks"),
        .activity_records = !pawl__cli_flag(&cli->args, "no-records"),
        .log_records = !pawl__cli_flag(&cli->args, "no-log"),
    };
    struct pawl_json exported;
    struct pawl_buf json;
    uint64_t mail_left = 0;
    int status = pawl__op_instance_export(&op, pawl__str(cli->args.operands[0]), &parts, &exported,
                                          &mail_left);

    if (status != PAWL_OK)
        return pawl__cli_fail(cli, err, hint_of(status));
    warn_of_mail(cli, mail_left);
    /* Elsewhere the document is the same to the byte as what was imported. */
    if (strcmp(path, "-") == 0 && cli->out.terminal)
        return pawl__cli_print_json(cli, &exported, 0);
    pawl__buf_init(&json, &cli->env->alloc, OUTPUT_MAX);
    pawl__json_write(&json, &exported, PAWL_JSON_ESCAPE_MINIMAL);
    if (strcmp(path, "-") == 0)
        return write_out(cli, &json, err);
    status = write_file(
        path, &json,
        (mode_t)pawl__configuration_number(&session->configuration, PAWL_SETTING_ID_FILE_MODE),
        err);
    pawl__buf_release(&json);
    if (status != PAWL_OK)
        return pawl__cli_fail(
            cli, err, status == PAWL_ELIMIT ? hint_of(status) : pawl__cli_read_hint(status));
    pawl__cli_print(&cli->err, "exported %s to %s\n", cli->args.operands[0], path);
    return PAWL_CLI_EXIT_OK;
}

static int run(struct pawl_cli *cli)
{
    return pawl__cli_in_look(cli, body);
}

static const struct pawl_cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = PAWL_CLI_TEXT,
     .arg = "FILE",
     .help = "Write to FILE, completely or not at all; '-' is standard output (default)"},
    {.name = "no-bookmarks", .kind = PAWL_CLI_FLAG, .help = "Without its stored bookmarks"},
    {.name = "no-records", .kind = PAWL_CLI_FLAG, .help = "Without its activity records"},
    {.name = "no-log", .kind = PAWL_CLI_FLAG, .help = "Without its execution log"},
    PAWL_CLI_CONFIGURE_OPTIONS,
    {.name = NULL},
};

const struct pawl_cli_command pawl__cli_export = {
    .name = "export",
    .summary = "Print an instance in Elsa's export format",
    .operands = "INSTANCE",
    .help =
        "JSON with its state, bookmarks, activity records and log, for 'pawl import' or Elsa's\n"
        "own import. The instance is not changed: if it is to continue elsewhere, cancel or\n"
        "delete it here. Its definition is needed there too: 'pawl definitions show'.\n",
    .options = options,
    .run = run,
};
