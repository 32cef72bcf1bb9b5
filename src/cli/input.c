/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the files that commands are given. */
#include "cli/output.h"

#include "base/error.h"
#include "os/errno.h"

#include <errno.h>

/* Far above any definition; what is larger is not meant for this tool. */
#define READ_MAX ((size_t)64 << 20)

static int read_all(struct pawl_arena *arena, FILE *file, const char *name, struct pawl_str *out,
                    struct pawl_error *err)
{
    struct pawl_str whole;
    struct pawl_buf buf;
    int status = PAWL_OK;

    pawl__buf_init(&buf, arena->alloc, READ_MAX);
    while (!feof(file) && buf.status == PAWL_OK) {
        char bytes[16384];
        size_t count = fread(bytes, 1, sizeof bytes, file);

        if (ferror(file)) {
            status = pawl__os_error(err, errno, "cannot read %s", name);
            goto out;
        }
        pawl__buf_append(&buf, bytes, count);
    }
    if (buf.status == PAWL_ELIMIT) {
        status = pawl__error_set(err, PAWL_ELIMIT, "cannot read %s: it is larger than %zu MB", name,
                                 READ_MAX >> 20);
        goto out;
    }
    whole = pawl__arena_str(arena, pawl__buf_peek(&buf));
    if (buf.status == PAWL_OK && whole.ptr)
        *out = whole;
    else
        status = pawl__error_set(err, PAWL_ENOMEM, "cannot read %s: out of memory", name);
out:
    pawl__buf_release(&buf);
    return status;
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

int pawl__cli_read(struct pawl_cli *cli, struct pawl_arena *arena, const char *path,
                   struct pawl_str *out, struct pawl_error *err)
{
    FILE *file;
    int status;

    if (strcmp(path, "-") == 0)
        return read_all(arena, stdin, pawl__cli_file_name(path), out, err);
    file = fopen(path, "rbe");
    if (!file)
        return pawl__os_error(err, errno, "cannot read %s", path);
    status = read_all(arena, file, path, out, err);
    (void)fclose(file); /* nothing was written to it */
    if (status == PAWL_OK)
        pawl_log(&cli->log, PAWL_LOG_DEBUG, "file read", pawl_log_text("path", path),
                 pawl_log_uint("bytes", out->len));
    return status;
}
