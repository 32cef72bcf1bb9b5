/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of all commands; see output.h. Standard output and standard error go through here only, so
 * it is decided here, and nowhere else, which characters reach a terminal.
 */
#include "cli/command/output.h"

#include "base/assert.h"
#include "base/error.h"
#include "cli/command/format.h"
#include "cli/command/help.h"
#include "os/process.h"
#include "os/socket.h"

#include <errno.h>
#include <stdlib.h>

/* The first failure is the one with the reason; later ones follow from it. */
static void note_failure(struct pawl_cli_stream *stream)
{
    if (ferror(stream->file) && stream->error == 0)
        stream->error = errno ? errno : EIO;
}

/* The last of what was said, for when nobody could read it. */
static void remember(struct pawl_cli_stream *stream, const char *bytes, size_t len)
{
    size_t room = sizeof stream->tail, keep = stream->tail_len;

    if (len >= room) {
        bytes += len - room;
        len = room;
    }
    if (keep > room - len) {
        memmove(stream->tail, stream->tail + keep - (room - len), room - len);
        keep = room - len;
    }
    memcpy(stream->tail + keep, bytes, len);
    stream->tail_len = keep + len;
}

/* Bytes as they are. The file's lock also guards what is remembered. */
static void put(void *ctx, const char *bytes, size_t len)
{
    struct pawl_cli_stream *stream = ctx;

    if (len == 0)
        return;
    flockfile(stream->file);
    if (!stream->is_kept)
        remember(stream, bytes, len);
    (void)fwrite(bytes, 1, len, stream->file);
    note_failure(stream);
    funlockfile(stream->file);
}

void pawl__cli_flush(struct pawl_cli_stream *stream)
{
    (void)fflush(stream->file);
    note_failure(stream);
}

/* Most bytes of most texts. */
static bool is_plain(char c)
{
    return c >= ' ' && c <= '~';
}

/* Text of which no control character is written but those in `allowed`. */
static void put_escaped(struct pawl_cli_stream *stream, struct pawl_str text, const char *allowed)
{
    size_t at = 0;

    while (at < text.len) {
        char bytes[PAWL_PRINTABLE_MAX];
        size_t start = at;

        while (at < text.len &&
               (is_plain(text.ptr[at]) || (text.ptr[at] && strchr(allowed, text.ptr[at]))))
            at++;
        put(stream, text.ptr + start, at - start);
        if (at < text.len)
            put(stream, bytes, pawl__printable_next(text, &at, false, bytes));
    }
}

void pawl__cli_write(struct pawl_cli_stream *stream, struct pawl_str data)
{
    if (stream->terminal)
        put_escaped(stream, data, "\n\t");
    else
        put(stream, data.ptr, data.len);
}

bool pawl__cli_write_line(struct pawl_cli_stream *stream, struct pawl_str data)
{
    bool written;

    flockfile(stream->file);
    pawl__cli_write(stream, data);
    put(stream, "\n", 1);
    pawl__cli_flush(stream);
    written = stream->error == 0;
    funlockfile(stream->file);
    return written;
}

/*
 * So many bytes go into a pipe that has room without a wait: PIPE_BUF. poll() says of no file how
 * many bytes it takes.
 */
#define PIECE_BYTES ((size_t)4096)

/* A terminal gets all at once: a character must not be cut before it is escaped. */
static int write_pieces(struct pawl_cli_stream *stream, struct pawl_str line,
                        const struct pawl_socket_wait *wait)
{
    int fd = fileno(stream->file); /* -1: memory */
    size_t most = stream->terminal ? SIZE_MAX : PIECE_BYTES, at = 0;
    bool written = true;

    while (at < line.len && written) {
        size_t len = line.len - at < most ? line.len - at : most;
        int status = fd < 0 ? PAWL_OK : pawl__socket_wait_foreign(fd, PAWL_SOCKET_WRITABLE, wait);

        if (status != PAWL_OK)
            return status;
        flockfile(stream->file);
        stream->is_kept = true;
        pawl__cli_write(stream, pawl__str_slice(line, at, at + len));
        pawl__cli_flush(stream);
        stream->is_kept = false;
        written = stream->error == 0;
        stream->left_kept = stream->left_kept || !written;
        funlockfile(stream->file);
        at += len;
    }
    return written ? PAWL_OK : PAWL_EIO;
}

int pawl__cli_write_kept(struct pawl_cli *cli, struct pawl_cli_stream *stream,
                         struct pawl_mutex *mutex, struct pawl_str data)
{
    const struct pawl_socket_wait wait = {.env = cli->env, .deadline_ns = PAWL_FOREVER};
    struct pawl_buf line;
    int status;

    pawl__buf_init(&line, &cli->env->alloc, data.len + 1);
    pawl__buf_append(&line, data.ptr, data.len);
    pawl__buf_byte(&line, '\n');
    status = line.status;
    if (status == PAWL_OK)
        status = pawl_mutex_lock(cli->env, mutex);
    if (status == PAWL_OK) {
        status = write_pieces(stream, pawl__buf_peek(&line), &wait);
        pawl_mutex_unlock(cli->env, mutex);
    }
    pawl__buf_release(&line);
    return status;
}

void pawl__cli_write_own(struct pawl_cli_stream *stream, const char *text)
{
    put(stream, text, strlen(text));
}

void pawl__cli_write_safe(struct pawl_cli_stream *stream, struct pawl_str text)
{
    put_escaped(stream, text, "");
}

/* ---- styles ------------------------------------------------------------------------------- */

static const char *const styles[] = {
    [PAWL_CLI_PLAIN] = "\033[0m",  [PAWL_CLI_BOLD] = "\033[1m",   [PAWL_CLI_DIM] = "\033[2m",
    [PAWL_CLI_RED] = "\033[1;31m", [PAWL_CLI_GREEN] = "\033[32m",
};

const char *pawl__cli_style(const struct pawl_cli_stream *stream, enum pawl_cli_style style)
{
    return stream->color ? styles[style] : "";
}

/* By its address, which no data has: the same bytes from elsewhere are none. */
static bool is_style(const char *text)
{
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++)
        if (text == styles[i])
            return true;
    return false;
}

static void put_argument(void *ctx, const char *text, size_t len)
{
    if (is_style(text))
        put(ctx, text, len);
    else
        put_escaped(ctx, pawl__str_make(text, len), "");
}

void pawl__cli_print(struct pawl_cli_stream *stream, const char *format, ...)
{
    struct pawl_cli_format to = {.own = put, .argument = put_argument, .ctx = stream};

    va_start(to.args, format);
    pawl__cli_format(&to, format);
    va_end(to.args);
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value && value[0] != '\0';
}

void pawl__cli_colors(struct pawl_cli_stream *stream, const char *when)
{
    const char *term = getenv("TERM");

    stream->terminal = pawl__fd_is_terminal(fileno(stream->file));
    if (strcmp(when, "auto") == 0)
        stream->color =
            stream->terminal && !is_set("NO_COLOR") && term && strcmp(term, "dumb") != 0;
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

int pawl__cli_partly(struct pawl_error *err, uint64_t done_count)
{
    enum pawl_error_class class = pawl_error_class(err->code);

    if (done_count == 0 || (class != PAWL_CLASS_TRANSIENT && class != PAWL_CLASS_UNKNOWN))
        return err->code;
    (void)pawl__error_prefix(err, err->code, "%ju %s done; the same again goes on with the rest",
                             (uintmax_t)done_count, done_count == 1 ? "was" : "were");
    err->code = PAWL_EUNKNOWN;
    return PAWL_EUNKNOWN;
}

int pawl__cli_fail(struct pawl_cli *cli, const struct pawl_error *err, const char *hint)
{
    put_message(cli, err->msg);
    if (hint)
        put_hint(cli, hint);
    return pawl__cli_exit_of(err->code);
}

/*
 * What JSON leaves as it is and a terminal obeys (DEL, C1, marks that turn the direction of text)
 * is written as \uXXXX, which says the same: such characters are inside of strings only.
 */
static void put_json(struct pawl_cli_stream *stream, struct pawl_str json)
{
    size_t at = 0;

    while (at < json.len) {
        char bytes[PAWL_PRINTABLE_MAX];
        size_t start = at, len;

        PAWL_ASSERT(json.ptr);
        while (at < json.len && (is_plain(json.ptr[at]) || json.ptr[at] == '\n'))
            at++;
        put(stream, json.ptr + start, at - start);
        if (at == json.len)
            break;
        start = at;
        len = pawl__printable_next(json, &at, false, bytes);
        if (bytes[0] == '\\' && bytes[1] == 'x')
            pawl__cli_write_own(stream, json.ptr[start] == 0x7F ? "\\u007f" : "\\ufffd");
        else
            put(stream, bytes, len);
    }
}

int pawl__cli_write_json(struct pawl_cli *cli, struct pawl_buf *json)
{
    struct pawl_error err;
    int code = PAWL_CLI_EXIT_OK;

    pawl__buf_byte(json, '\n');
    if (json->status == PAWL_OK) {
        put_json(&cli->out, pawl__buf_peek(json));
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
        return "the output is incomplete; check where it is sent";
    }
}

static void put_output_failure(struct pawl_cli *cli)
{
    const char *reason = strerrordesc_np(cli->out.error);
    char message[160];

    (void)snprintf(message, sizeof message, "cannot write to standard output: %s",
                   reason ? reason : "unknown error");
    put_message(cli, message);
}

/* It was done, whether or not the output was read: it must not be repeated. */
static int report_unread(struct pawl_cli *cli, int code)
{
    struct pawl_str tail = pawl__str_make(cli->out.tail, cli->out.tail_len);

    put_output_failure(cli);
    if (cli->out.left_kept)
        put_hint(cli,
                 "lines of workflows that could not be written are kept: a worker writes them");
    put_hint(cli, "it was done, do not repeat it; what could not be written:");
    put_escaped(&cli->err, tail, "\n\t");
    if (tail.len > 0 && tail.ptr[tail.len - 1] != '\n')
        pawl__cli_write_own(&cli->err, "\n");
    return code == PAWL_CLI_EXIT_OK ? PAWL_CLI_EXIT_UNREAD : code;
}

int pawl__cli_finish(struct pawl_cli *cli, int code)
{
    pawl__cli_flush(&cli->out);
    if (cli->out.error == 0)
        return code;
    if (cli->changed)
        return report_unread(cli, code);
    put_output_failure(cli);
    put_hint(cli, output_hint(cli->out.error));
    return PAWL_CLI_EXIT_FATAL;
}
