/* SPDX-License-Identifier: Apache-2.0 */
/* The process around pawl__cli_main(): signals, the environment, the standard streams. */
#include "cli/command.h"
#include "os/process.h"

#include <errno.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_env *env = NULL;
    int code;

    /* A reader that went away is an error of the write, which is reported as such. */
    pawl__process_ignore_sigpipe();
    if (pawl_system_env_open(&env, &err) != PAWL_OK) {
        (void)fprintf(stderr, "pawl: %s\n", err.msg);
        return pawl__cli_exit_of(err.code);
    }
    code = pawl__cli_main(env, stdout, stderr, argc, argv);
    pawl_system_env_close(env);
    /* Some file systems say only now that what was written has no room. */
    if (fclose(stdout) != 0 && code == PAWL_CLI_EXIT_OK) {
        (void)fprintf(stderr, "pawl: cannot write to standard output: %s\n",
                      strerrordesc_np(errno));
        code = PAWL_CLI_EXIT_FATAL;
    }
    return code;
}
