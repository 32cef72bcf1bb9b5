/* SPDX-License-Identifier: Apache-2.0 */
/* Standard streams and signals; see process.h. */
#include "os/process.h"

#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

void pawl__process_ignore_write_signals(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
}

void pawl__process_return_large_memory(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 2 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
}

void pawl__process_host_name(char *out, size_t size_bytes)
{
    /* Cut or not, POSIX promises no NUL at the end. */
    if (gethostname(out, size_bytes) != 0 || (out[size_bytes - 1] = '\0', out[0] == '\0'))
        (void)snprintf(out, size_bytes, "localhost");
}

/* What the account of a user takes, far above what is usual. */
#define ACCOUNT_BYTES_MAX 4096

void pawl__process_user_name(char *out, size_t size_bytes)
{
    char bytes[ACCOUNT_BYTES_MAX];
    struct passwd account, *found = NULL;

    if (getpwuid_r(geteuid(), &account, bytes, sizeof bytes, &found) == 0 && found &&
        found->pw_name[0])
        (void)snprintf(out, size_bytes, "%s", found->pw_name);
    else
        (void)snprintf(out, size_bytes, "%lu", (unsigned long)geteuid());
}

long pawl__process_id(void)
{
    return (long)getpid();
}

/* More than a cpu_set_t knows: the system says how many there are at all. */
unsigned pawl__process_core_count(void)
{
    cpu_set_t set;
    long online;

    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

const char *pawl__process_variable(const char *name)
{
    return getenv(name);
}

bool pawl__fd_is_terminal(int fd)
{
    return isatty(fd) == 1;
}
