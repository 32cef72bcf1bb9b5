/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets and readiness of systemd, without its library; see activation.h. */
#include "os/activation.h"

#include "base/error.h"
#include "os/errno.h"
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_FD 3 /* behind the standard streams */

/* A decimal number of the environment; 0: not set, or no number. */
static long variable_number(const char *name)
{
    const char *text = pawl__process_variable(name);
    char *end;
    long value;

    if (!text || *text < '0' || *text > '9')
        return 0;
    errno = 0;
    value = strtol(text, &end, 10);
    return errno == 0 && *end == '\0' ? value : 0;
}

static int adopt(int fd, struct pawl_error *err)
{
    int listening = 0;
    socklen_t length = sizeof listening;

    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) != 0)
        return pawl__os_error(err, errno, "descriptor %d of LISTEN_FDS", fd);
    if (!listening)
        return pawl__error_set(err, PAWL_EINVAL,
                               "descriptor %d of LISTEN_FDS does not listen; the socket unit needs "
                               "ListenStream= and Accept=no",
                               fd);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
        return pawl__os_error(err, errno, "descriptor %d of LISTEN_FDS", fd);
    return PAWL_OK;
}

int pawl__activation_sockets(int *out, size_t max, size_t *count, struct pawl_error *err)
{
    long fds = variable_number("LISTEN_FDS");
    int status = PAWL_OK;

    *count = 0;
    if (fds <= 0 || variable_number("LISTEN_PID") != pawl__process_id())
        return PAWL_OK;
    if ((unsigned long)fds > max)
        return pawl__error_set(err, PAWL_ELIMIT, "LISTEN_FDS is %ld; at most %zu are taken", fds,
                               max);
    for (int i = 0; i < (int)fds && status == PAWL_OK; i++) {
        status = adopt(FIRST_FD + i, err);
        out[i] = FIRST_FD + i;
    }
    if (status == PAWL_OK)
        *count = (size_t)fds;
    return status;
}

bool pawl__activation_notify(const char *state)
{
    const char *path = pawl__process_variable("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = path ? strlen(path) : 0;
    bool sent;
    int fd;

    if (length < 2 || length >= sizeof address.sun_path || (*path != '/' && *path != '@'))
        return false;
    memcpy(address.sun_path, path, length);
    if (*path == '@')
        address.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) >= 0;
    (void)close(fd);
    return sent;
}

size_t pawl__activation_raise_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    if (limit.rlim_cur < limit.rlim_max) {
        rlim_t before = limit.rlim_cur;

        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            limit.rlim_cur = before;
    }
    return limit.rlim_cur;
}
