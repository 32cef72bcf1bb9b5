/* SPDX-License-Identifier: Apache-2.0 */
/* Output of all commands; see output.h. Standard output and standard error go through here only. */
#include "cli/output.h"

#include "base/error.h"
#include "cli/help.h"
#include "os/process.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

/* The first failure is the one with the reason; later ones follow from it. */
static void note_failure(struct pawl_cli_stream *stream)
{
    if (ferror(stream->file) && stream->error == 0)
        stream->error = errno ? errno : EIO;
}

void pawl__cli_print(struct pawl_cli_stream *stream, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vfprintf(stream->file, format, args);
    va_end(args);
    note_failure(stream);
}

void pawl__cli_flush(struct pawl_cli_stream *stream)
{
    (void)fflush(stream->file);
    note_failure(stream);
}

void pawl__cli_write(struct pawl_cli_stream *stream, struct pawl_str bytes)
{
    if (bytes.len > 0)
        (void)fwrite(bytes.ptr, 1, bytes.len, stream->file);
    note_failure(stream);
}

void pawl__cli_write_safe(struct pawl_cli_stream *stream, struct pawl_str text)
{
    size_t at = 0;

    while (at < text.len) {
        char bytes[PAWL_PRINTABLE_MAX];
        size_t len = pawl__printable_next(text, &at, false, bytes);

        pawl__cli_write(stream, pawl__str_make(bytes, len));
    }
}

const char *pawl__cli_style(const struct pawl_cli_stream *stream, enum pawl_cli_style style)
{
    if (!stream->color)
        return "";
    switch (style) {
    case PAWL_CLI_PLAIN:
        return "\033[0m";
    case PAWL_CLI_BOLD:
        return "\033[1m";
    case PAWL_CLI_DIM:
        return "\033[2m";
    case PAWL_CLI_RED:
        return "\033[1;31m";
    case PAWL_CLI_GREEN:
        return "\033[32m";
    }
    return "";
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value && value[0] != '\0';
}

void pawl__cli_colors(struct pawl_cli_stream *stream, const char *when)
{
    const char *term = getenv("TERM");

    if (strcmp(when, "auto") == 0)
        stream->color = pawl__fd_is_terminal(fileno(stream->file)) && !is_set("NO_COLOR") && term &&
                        strcmp(term, "dumb") != 0;
    else
        stream->color = strcmp(when, "always") == 0;
}

const char *pawl__cli_path_text(struct pawl_cli *cli)
{
    const char *text = cli->args.path[0]->name;

    for (size_t i = 1; i < cli->args.path_len && text; i++)
        text = pawl__arena_printf(&cli->arena, "%s %s", text, cli->args.path[i]->name);
    return text ? text : cli->args.path[0]->name;
}

/* "pawl run: message", after all data, so that both are in order where they share a terminal. */
static void put_message(struct pawl_cli *cli, const char *message)
{
    struct pawl_cli_stream *to = &cli->err;

    pawl__cli_flush(&cli->out);
    pawl__cli_print(to, "%s%s:%s ", pawl__cli_style(to, PAWL_CLI_RED), pawl__cli_path_text(cli),
                    pawl__cli_style(to, PAWL_CLI_PLAIN));
    pawl__cli_write_safe(to, pawl__str(message));
    pawl__cli_print(to, "\n");
}

static void put_hint(struct pawl_cli *cli, const char *hint)
{
    struct pawl_cli_stream *to = &cli->err;

    pawl__cli_print(to, "%shint:%s ", pawl__cli_style(to, PAWL_CLI_BOLD),
                    pawl__cli_style(to, PAWL_CLI_PLAIN));
    pawl__cli_write_safe(to, pawl__str(hint));
    pawl__cli_print(to, "\n");
}

int pawl__cli_fail(struct pawl_cli *cli, const struct pawl_error *err, const char *hint)
{
    put_message(cli, err->msg);
    if (hint)
        put_hint(cli, hint);
    return pawl__cli_exit_of(err->code);
}

int pawl__cli_write_json(struct pawl_cli *cli, struct pawl_buf *json)
{
    struct pawl_error err;
    int code = PAWL_CLI_EXIT_OK;

    pawl__buf_byte(json, '\n');
    if (json->status == PAWL_OK) {
        pawl__cli_write(&cli->out, pawl__buf_peek(json));
    } else {
        (void)pawl__error_set(&err, json->status, "cannot write the JSON document: %s",
                              pawl_error_text(json->status));
        code = pawl__cli_fail(cli, &err, NULL);
    }
    pawl__buf_release(json);
    return code;
}

int pawl__cli_fail_usage(struct pawl_cli *cli, const struct pawl_error *err)
{
    const struct pawl_cli_command *command = pawl__cli_named(&cli->args);
    char hint[128];

    if (err->code != PAWL_EINVAL)
        return pawl__cli_fail(cli, err, NULL);
    put_message(cli, err->msg);
    pawl__cli_help_usage(cli, &cli->err, cli->args.path, cli->args.path_len);
    (void)snprintf(hint, sizeof hint, "'%s --help' lists %s", pawl__cli_path_text(cli),
                   command->commands ? "the commands" : "the options");
    put_hint(cli, hint);
    return PAWL_CLI_EXIT_USAGE;
}

static const char *output_hint(int errnum)
{
    switch (errnum) {
    case EPIPE:
        return "the program that read it ended before all was written";
    case ENOSPC:
    case EDQUOT:
        return "the output is incomplete; make room and run it again";
    default:
        return "the output is incomplete; see where it is sent to";
    }
}

int pawl__cli_finish(struct pawl_cli *cli, int code)
{
    const char *reason;
    char message[160];

    pawl__cli_flush(&cli->out);
    if (cli->out.error == 0)
        return code;
    reason = strerrordesc_np(cli->out.error);
    (void)snprintf(message, sizeof message, "cannot write to standard output: %s",
                   reason ? reason : "unknown error");
    put_message(cli, message);
    put_hint(cli, output_hint(cli->out.error));
    return PAWL_CLI_EXIT_FATAL;
}
