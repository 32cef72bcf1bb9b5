/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For LD_PRELOAD: the process it is loaded into has a wall clock that is wrong by as many seconds
 * as the file WRONG_CLOCK says, an int64_t that may change at any time. All other clocks are right.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *wrong_by_s;

__attribute__((constructor)) static void look(void)
{
    const char *path = getenv("WRONG_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *map = fd >= 0 ? mmap(NULL, sizeof *wrong_by_s, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

    if (map == MAP_FAILED)
        _exit(126); /* a test that thinks the clock is wrong must not run with a right one */
    wrong_by_s = map;
    (void)close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    long status = syscall(SYS_clock_gettime, clock, out);

    if (status == 0 && wrong_by_s && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        out->tv_sec += *wrong_by_s;
    return (int)status;
}
