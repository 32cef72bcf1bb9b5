/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pawl json check|format|get`: the JSON that Pawl itself reads and writes, for people: strict,
 * with places in messages, and with every number as it was written.
 */
#include "cli/commands.h"

#include "base/error.h"
#include "base/json/json.h"
#include "cli/command/output.h"

#define INDENT_DEFAULT 2
#define INDENT_MAX 8
#define OUTPUT_MAX ((size_t)512 << 20)

/* Reads and parses; an error names the file. */
static int load(struct pawl_cli *cli, struct pawl_arena *arena, const char *path,
                struct pawl_json *out, struct pawl_error *err)
{
    struct pawl_str text;
    int status = pawl__cli_read(cli, arena, path, &text, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__json_parse(arena, text, NULL, out, NULL, err);
    if (status != PAWL_OK)
        return pawl__error_prefix(err, status, "%s", pawl__cli_file_name(path));
    return PAWL_OK;
}

static int show(struct pawl_cli *cli, const struct pawl_json *value, uint8_t indent)
{
    struct pawl_json_writer json;
    struct pawl_buf buf;

    pawl__buf_init(&buf, &cli->env->alloc, OUTPUT_MAX);
    pawl__json_writer_init(&json, &buf, PAWL_JSON_ESCAPE_MINIMAL, indent);
    pawl__json_write_value(&json, value);
    return pawl__cli_write_json(cli, &buf);
}

/* ---- check ------------------------------------------------------------------------------ */

static int check_file(struct pawl_cli *cli, struct pawl_arena *arena, const char *path)
{
    struct pawl_json value;
    struct pawl_error err;

    if (load(cli, arena, path, &value, &err) != PAWL_OK)
        return pawl__cli_fail(cli, &err, pawl__cli_read_hint(err.code));
    pawl__cli_write_safe(&cli->out, pawl__str(pawl__cli_file_name(path)));
    pawl__cli_print(&cli->out, ": valid\n");
    return PAWL_CLI_EXIT_OK;
}

/* All files, whatever the first ones are like: the highest code counts. */
static int run_check(struct pawl_cli *cli)
{
    struct pawl_arena arena; /* one file at a time, however many there are */
    int worst = PAWL_CLI_EXIT_OK;

    pawl__arena_init(&arena, &cli->env->alloc, cli->arena.max_bytes);
    for (size_t i = 0; i < cli->args.operand_count; i++) {
        int code = check_file(cli, &arena, cli->args.operands[i]);

        worst = code > worst ? code : worst;
        pawl__arena_reset(&arena);
    }
    pawl__arena_release(&arena);
    return worst;
}

static const struct pawl_cli_command check = {
    .name = "check",
    .summary = "Check that files are valid JSON",
    .operands = "FILE...",
    .help =
        "Strict: RFC 8259, UTF-8, no comments, no trailing commas. An error has line, column and\n"
        "JSON pointer. '-' is standard input.\n",
    .run = run_check,
};

/* ---- format ----------------------------------------------------------------------------- */

static int run_format(struct pawl_cli *cli)
{
    uint8_t indent = (uint8_t)pawl__cli_number(&cli->args, "indent", INDENT_DEFAULT);
    struct pawl_json value;
    struct pawl_error err;

    if (load(cli, &cli->arena, cli->args.operands[0], &value, &err) != PAWL_OK)
        return pawl__cli_fail(cli, &err, pawl__cli_read_hint(err.code));
    return show(cli, &value, indent);
}

static const struct pawl_cli_option format_options[] = {
    {.name = "indent",
     .letter = 'i',
     .kind = PAWL_CLI_NUMBER,
     .arg = "N",
     .help = "Spaces per level, 0 to 8; 0 writes one line (default 2)",
     .min = 0,
     .max = INDENT_MAX},
    {.name = NULL},
};

static const struct pawl_cli_command format = {
    .name = "format",
    .summary = "Print a JSON document, indented",
    .operands = "FILE",
    .help = "Keeps the order of members, duplicate keys, and the spelling of numbers.\n",
    .options = format_options,
    .run = run_format,
};

/* ---- get -------------------------------------------------------------------------------- */

static int run_get(struct pawl_cli *cli)
{
    const char *pointer = cli->args.operands[0], *path = cli->args.operands[1];
    struct pawl_json *found;
    struct pawl_json value;
    struct pawl_error err;

    if (pointer[0] != '\0' && pointer[0] != '/') {
        (void)pawl__error_set(&err, PAWL_EINVAL,
                              "'%s' is not a JSON pointer: it must begin with '/'", pointer);
        return pawl__cli_fail_usage(cli, &err);
    }
    if (load(cli, &cli->arena, path, &value, &err) != PAWL_OK)
        return pawl__cli_fail(cli, &err, pawl__cli_read_hint(err.code));
    found = pawl__json_find(&value, pawl__str(pointer));
    if (!found) {
        (void)pawl__error_set(&err, PAWL_ENOTFOUND, "%s has nothing at %s",
                              pawl__cli_file_name(path), pointer);
        return pawl__cli_fail(cli, &err,
                              "array elements count from 0; '~1' stands for '/' in a key");
    }
    if (!pawl__cli_flag(&cli->args, "raw") || !pawl__json_is(found, PAWL_JSON_STRING))
        return show(cli, found, INDENT_DEFAULT);
    pawl__cli_write(&cli->out, pawl__json_str(found));
    pawl__cli_print(&cli->out, "\n");
    return PAWL_CLI_EXIT_OK;
}

static const struct pawl_cli_option get_options[] = {
    {.name = "raw",
     .letter = 'r',
     .kind = PAWL_CLI_FLAG,
     .help = "Print a string without quotes and escapes"},
    {.name = NULL},
};

static const struct pawl_cli_command get = {
    .name = "get",
    .summary = "Print the part of a JSON document that a pointer names",
    .operands = "POINTER FILE",
    .operands_may_be_empty = true, /* the POINTER "" is the whole document */
    .help = "POINTER is a JSON pointer (RFC 6901): '/root/activities/0/id'; '' is the whole "
            "document.\n",
    .options = get_options,
    .run = run_get,
};

static const struct pawl_cli_command *const commands[] = {&check, &format, &get, NULL};

const struct pawl_cli_command pawl__cli_json = {
    .name = "json",
    .summary = "Check, format or query JSON files",
    .commands = commands,
};
