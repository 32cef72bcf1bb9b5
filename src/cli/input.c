/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the files that commands are given. */
#include "cli/output.h"

#include "base/error.h"
#include "os/errno.h"

#include <errno.h>

/* Far above any definition; what is larger is not meant for this tool. */
#define READ_MAX ((size_t)64 << 20)

static int read_all(struct pawl_cli *cli, FILE *file, const char *name, struct pawl_str *out,
                    struct pawl_error *err)
{
    struct pawl_buf buf;
    int status = PAWL_OK;

    pawl__buf_init(&buf, &cli->env->alloc, READ_MAX);
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
    *out = pawl__arena_str(&cli->arena, pawl__buf_peek(&buf));
    if (buf.status != PAWL_OK || !out->ptr)
        status = pawl__error_set(err, PAWL_ENOMEM, "cannot read %s: out of memory", name);
out:
    pawl__buf_release(&buf);
    return status;
}

int pawl__cli_read(struct pawl_cli *cli, const char *path, struct pawl_str *out,
                   struct pawl_error *err)
{
    FILE *file;
    int status;

    if (strcmp(path, "-") == 0)
        return read_all(cli, stdin, "standard input", out, err);
    file = fopen(path, "rbe");
    if (!file)
        return pawl__os_error(err, errno, "cannot read %s", path);
    status = read_all(cli, file, path, out, err);
    (void)fclose(file); /* nothing was written to it */
    if (status == PAWL_OK)
        pawl_log(&cli->log, PAWL_LOG_DEBUG, "file read", pawl_log_text("path", path),
                 pawl_log_uint("bytes", out->len));
    return status;
}
