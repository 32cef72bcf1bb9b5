/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the files that commands are given. */
#include "cli/command/output.h"

#include "base/error.h"
#include "os/errno.h"
#include "os/file.h"

#include <errno.h>

/* Far above any definition; what is larger is not meant for this tool. */
#define READ_MAX ((size_t)64 << 20)

static int read_stdin(struct pawl_buf *buf, struct pawl_error *err)
{
    while (!feof(stdin) && buf->status == PAWL_OK) {
        char bytes[16384];
        size_t count = fread(bytes, 1, sizeof bytes, stdin);

        if (ferror(stdin))
            return pawl__os_error(err, errno, "cannot read standard input");
        pawl__buf_append(buf, bytes, count);
    }
    if (buf->status != PAWL_OK)
        return pawl__error_set(err, buf->status, "cannot read standard input: %s",
                               buf->status == PAWL_ELIMIT ? "it is too large" : "out of memory");
    return PAWL_OK;
}

const char *pawl__cli_file_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

const char *pawl__cli_read_hint(int code)
{
    switch (code) {
    case PAWL_EPARSE:
        return "JSON has no comments and no trailing commas, and all strings are in double quotes";
    case PAWL_ENOTFOUND:
    case PAWL_EINVAL:
        return "check the path; '-' reads standard input";
    default:
        return NULL;
    }
}

static int read_whole(struct pawl_cli *cli, struct pawl_arena *arena, const char *path,
                      int (*read)(const char *path, struct pawl_buf *out, struct pawl_error *err),
                      struct pawl_str *out, struct pawl_error *err)
{
    struct pawl_str whole;
    struct pawl_buf buf;
    int status;

    pawl__buf_init(&buf, arena->alloc, READ_MAX);
    if (strcmp(path, "-") == 0)
        status = read_stdin(&buf, err);
    else
        status = read(path, &buf, err);
    if (status != PAWL_OK)
        goto out;
    whole = pawl__arena_str(arena, pawl__buf_peek(&buf));
    if (!whole.ptr) {
        status = pawl__error_set(err, arena->status, "cannot read %s: %s",
                                 pawl__cli_file_name(path), pawl_error_text(arena->status));
        goto out;
    }
    *out = whole;
    pawl_log(&cli->log, PAWL_LOG_DEBUG, "file read", pawl_log_text("path", path),
             pawl_log_uint("bytes", out->len));
out:
    pawl__buf_release(&buf);
    return status;
}

int pawl__cli_read(struct pawl_cli *cli, struct pawl_arena *arena, const char *path,
                   struct pawl_str *out, struct pawl_error *err)
{
    return read_whole(cli, arena, path, pawl__file_read, out, err);
}

int pawl__cli_read_regular(struct pawl_cli *cli, struct pawl_arena *arena, const char *path,
                           struct pawl_str *out, struct pawl_error *err)
{
    return read_whole(cli, arena, path, pawl__file_read_regular, out, err);
}
