/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commands say: data to standard output, talk to standard error, errors in one style.
 *
 *     pawl run: cannot read order.json: No such file or directory
 *     hint: check the path; '-' reads standard input
 *
 * Nothing here fails: a write that did is remembered and reported at the end of the run.
 */
#ifndef PAWL_CLI_COMMAND_OUTPUT_H
#define PAWL_CLI_COMMAND_OUTPUT_H

#include "cli/command/command.h"

/*
 * Formatted. The format is ours and written as it is; of the texts in it every control character is
 * escaped, line ends and marks that turn the direction of text too, but for the styles of
 * pawl__cli_style().
 */
void pawl__cli_print(struct pawl_cli_stream *stream, const char *format, ...) PAWL_PRINTF(2, 3);
/* Data for programs: byte for byte, but on a terminal with control characters escaped (line ends
 * and tabs stay). */
void pawl__cli_write(struct pawl_cli_stream *stream, struct pawl_str data);
/* A text of ours as it is, with line ends. Never for data. */
void pawl__cli_write_own(struct pawl_cli_stream *stream, const char *text);
/* Lets what was written so far go out, so that both streams are in order on a terminal. */
void pawl__cli_flush(struct pawl_cli_stream *stream);
/* Data, a line end, and all of it is flushed: what other threads write is not between them. False:
 * this, or something before it, could not be written. */
bool pawl__cli_write_line(struct pawl_cli_stream *stream, struct pawl_str data);
/*
 * The same for a line that somebody keeps until it is written, one at a time under `mutex`. Waits
 * for a reader without the stream's lock, until the environment is stopped: PAWL_ESTOPPED, perhaps
 * with a part of the line written. PAWL_EIO, PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__cli_write_kept(struct pawl_cli *cli, struct pawl_cli_stream *stream,
                                         struct pawl_mutex *mutex, struct pawl_str data);
/* Text of unknown origin as one line, with every control character escaped. */
void pawl__cli_write_safe(struct pawl_cli_stream *stream, struct pawl_str text);

/*
 * Prints a JSON document and a newline, with what a terminal obeys as \\uXXXX, and releases the
 * buffer. Returns EXIT_OK, or reports the buffer's failure and returns its exit code.
 */
int pawl__cli_write_json(struct pawl_cli *cli, struct pawl_buf *json);

/* The escape sequence that begins (PLAIN: ends) a style, or "" where colours are off. */
const char *pawl__cli_style(const struct pawl_cli_stream *stream, enum pawl_cli_style style);

/*
 * Decides about colours: "always", "never", or "auto": on a terminal, unless NO_COLOR is set and
 * not empty, or TERM is "dumb" or unset.
 */
void pawl__cli_colors(struct pawl_cli_stream *stream, const char *when);

/* "pawl run" for the path of a run. Lives in the arena. */
const char *pawl__cli_path_text(struct pawl_cli *cli);

/*
 * Reports an error, with a hint on the second line unless `hint` is NULL, and returns the exit
 * code of its class.
 */
int pawl__cli_fail(struct pawl_cli *cli, const struct pawl_error *err, const char *hint);

/* Of an error behind other things that were done: its code is PAWL_EUNKNOWN then, because the exit
 * codes of others say that nothing was changed. Returns its code. */
int pawl__cli_partly(struct pawl_error *err, uint64_t done_count);

/* Reports a wrong command line, with the usage and where to find more. Returns EXIT_USAGE. */
int pawl__cli_fail_usage(struct pawl_cli *cli, const struct pawl_error *err);

/*
 * Flushes `out`, and reports what could not be written. `code`, or EXIT_FATAL in its place; of a
 * command that has changed something (`cli->changed`) EXIT_UNREAD, with the end of what it said on
 * standard error.
 */
int pawl__cli_finish(struct pawl_cli *cli, int code);

/*
 * Reads a whole file; "-" is standard input. *out lives in `arena`. The message names the file
 * and what the system said; pawl__cli_read_hint() knows what to do about it.
 */
PAWL_MUST_CHECK int pawl__cli_read(struct pawl_cli *cli, struct pawl_arena *arena, const char *path,
                                   struct pawl_str *out, struct pawl_error *err);
/* The same of a value's file: PAWL_EINVAL when it is a pipe or anything else but a file. */
PAWL_MUST_CHECK int pawl__cli_read_regular(struct pawl_cli *cli, struct pawl_arena *arena,
                                           const char *path, struct pawl_str *out,
                                           struct pawl_error *err);

/* What to do about an error of reading or parsing a file; NULL when the message says it all. */
const char *pawl__cli_read_hint(int code);

/* How messages call a file operand: itself, or "standard input". */
const char *pawl__cli_file_name(const char *path);

#endif
