/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inotify on lock files: one thread that reads what the system noticed; see lock_file.h. Watches
 * are for one event each, so nothing has to be removed.
 */
#include "base/alloc.h"
#include "os/errno.h"
#include "os/lock_file.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

struct pawl_file_watch {
    struct pawl_env *env;
    void (*changed)(void *ctx, uint64_t id);
    void *ctx;
    int inotify_fd;
    int end_fd;
    struct pawl_thread *thread;
};

static void pass_on(struct pawl_file_watch *watch, const char *events, size_t len)
{
    struct inotify_event event;

    for (size_t at = 0; at + sizeof event <= len; at += sizeof event + event.len) {
        memcpy(&event, events + at, sizeof event);
        if (event.mask & IN_Q_OVERFLOW)
            watch->changed(watch->ctx, PAWL_FILE_WATCH_ANY);
        else if (!(event.mask & IN_IGNORED))
            watch->changed(watch->ctx, (uint64_t)event.wd);
    }
}

static void read_events(void *arg)
{
    struct pawl_file_watch *watch = arg;
    struct pollfd fds[] = {{.fd = watch->inotify_fd, .events = POLLIN},
                           {.fd = watch->end_fd, .events = POLLIN}};
    char events[4096];

    for (;;) {
        ssize_t got;

        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return;
        if (fds[1].revents)
            return;
        got = fds[0].revents ? read(watch->inotify_fd, events, sizeof events) : 0;
        if (got > 0)
            pass_on(watch, events, (size_t)got);
    }
}

static void free_parts(struct pawl_file_watch *watch)
{
    if (watch->inotify_fd >= 0)
        (void)close(watch->inotify_fd);
    if (watch->end_fd >= 0)
        (void)close(watch->end_fd);
    pawl__free(&watch->env->alloc, watch, sizeof *watch);
}

int pawl__file_watch_open(struct pawl_env *env, void (*changed)(void *ctx, uint64_t id), void *ctx,
                          struct pawl_file_watch **out, struct pawl_error *err)
{
    struct pawl_file_watch *watch = pawl__alloc_zeroed(&env->alloc, sizeof *watch);
    int status = PAWL_OK;

    if (!watch)
        return pawl__os_error(err, ENOMEM, "cannot watch files");
    *watch = (struct pawl_file_watch){.env = env, .changed = changed, .ctx = ctx};
    watch->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    watch->end_fd = eventfd(0, EFD_CLOEXEC);
    if (watch->inotify_fd < 0 || watch->end_fd < 0)
        status = pawl__os_error(err, errno, "cannot watch files");
    if (status == PAWL_OK)
        status = pawl_thread_start(env, "lock-files", read_events, watch, &watch->thread, err);
    if (status == PAWL_OK)
        *out = watch;
    else
        free_parts(watch);
    return status;
}

void pawl__file_watch_close(struct pawl_file_watch *watch)
{
    const uint64_t one = 1;
    ssize_t written;

    if (!watch)
        return;
    written = write(watch->end_fd, &one, sizeof one); /* a counter at 0 always takes it */
    (void)written;
    pawl_thread_join(watch->env, watch->thread);
    free_parts(watch);
}

int pawl__file_watch_add(struct pawl_file_watch *watch, const char *path, uint64_t *id,
                         struct pawl_error *err)
{
    int wd =
        inotify_add_watch(watch->inotify_fd, path,
                          IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONESHOT);

    if (wd < 0)
        return pawl__os_error(err, errno, "cannot watch the lock file %s", path);
    *id = (uint64_t)wd;
    return PAWL_OK;
}
