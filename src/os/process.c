/* SPDX-License-Identifier: Apache-2.0 */
/* Standard streams and signals; see process.h. */
#include "os/process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void pawl__process_ignore_sigpipe(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
}

void pawl__process_host_name(char *out, size_t size_bytes)
{
    /* Cut or not, POSIX promises no NUL at the end. */
    if (gethostname(out, size_bytes) != 0 || (out[size_bytes - 1] = '\0', out[0] == '\0'))
        (void)snprintf(out, size_bytes, "localhost");
}

long pawl__process_id(void)
{
    return (long)getpid();
}

const char *pawl__process_variable(const char *name)
{
    return getenv(name);
}

bool pawl__fd_is_terminal(int fd)
{
    return isatty(fd) == 1;
}
