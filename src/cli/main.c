/* SPDX-License-Identifier: Apache-2.0 */
/* The process around pawl__cli_main(): signals, the environment, the standard streams. */
#include "base/alloc.h"
#include "base/buf.h"
#include "cli/command/command.h"
#include "host/process.h"
#include "host/uri.h"
#include "os/process.h"

#include <errno.h>
#include <string.h>

/* Of one argument; a longer one is no URI. */
#define URI_MAX ((size_t)64 << 10)

/*
 * Everybody on the machine may read the arguments of a process: a password in one of them is
 * replaced there, and `copies` keeps what was given. That it can be read until then is why a file
 * or a variable is the better place for it.
 */
static void hide_passwords(struct pawl_env *env, int argc, char **argv, char **copies)
{
    for (int i = 0; i < argc; i++) {
        size_t len = strlen(argv[i]);
        char *value = strncmp(argv[i], "--", 2) == 0 ? strchr(argv[i], '=') : NULL;
        struct pawl_buf masked;

        copies[i] = argv[i];
        value = value ? value + 1 : argv[i];
        pawl__buf_init(&masked, &env->alloc, URI_MAX);
        pawl__uri_mask(&masked, pawl__str(value));
        if (masked.status == PAWL_OK &&
            !pawl__str_equal(pawl__buf_peek(&masked), pawl__str(value))) {
            char *copy = pawl__alloc(&env->alloc, len + 1);

            if (copy) {
                memcpy(copy, argv[i], len + 1);
                copies[i] = copy;
                (void)snprintf(value, len + 1 - (size_t)(value - argv[i]), "%s",
                               pawl__buf_cstr(&masked));
                memset(value + strlen(value), 0, (size_t)(argv[i] + len - value) - strlen(value));
            }
        }
        pawl__buf_release(&masked);
    }
}

static int run(struct pawl_env *env, int argc, char **argv)
{
    size_t size = ((size_t)argc + 1) * sizeof(char *) + ((size_t)argc + 1) * sizeof(size_t);
    char **given = pawl__alloc_zeroed(&env->alloc, size);
    size_t *lengths;
    int code;

    if (!given)
        return pawl__cli_main(env, stdout, stderr, argc, argv);
    lengths = (size_t *)(void *)(given + argc + 1);
    for (int i = 0; i < argc; i++)
        lengths[i] = strlen(argv[i]) + 1;
    hide_passwords(env, argc, argv, given);
    code = pawl__cli_main(env, stdout, stderr, argc, given);
    for (int i = 0; i < argc; i++)
        if (given[i] != argv[i])
            pawl__free(&env->alloc, given[i], lengths[i]);
    pawl__free(&env->alloc, given, size);
    return code;
}

int main(int argc, char **argv)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_env *env = NULL;
    int code;

    /* A reader that went away is an error of the write, which is reported as such. */
    pawl__process_ignore_write_signals();
    pawl__process_return_large_memory();
    pawl__host_tune_process();
    if (pawl_system_env_open(&env, &err) != PAWL_OK) {
        (void)fprintf(stderr, "pawl: %s\n", err.msg);
        return pawl__cli_exit_of(err.code);
    }
    code = run(env, argc, argv);
    pawl_system_env_close(env);
    /* Some file systems say only now that what was written has no room. */
    if (fclose(stdout) != 0 && code == PAWL_CLI_EXIT_OK) {
        (void)fprintf(stderr, "pawl: cannot write to standard output: %s\n",
                      strerrordesc_np(errno));
        code = PAWL_CLI_EXIT_FATAL;
    }
    return code;
}
