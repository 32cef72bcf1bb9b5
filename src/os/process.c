/* SPDX-License-Identifier: Apache-2.0 */
/* Standard streams and signals; see process.h. */
#include "os/process.h"

#include <signal.h>
#include <unistd.h>

void pawl__process_ignore_sigpipe(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
}

bool pawl__fd_is_terminal(int fd)
{
    return isatty(fd) == 1;
}
