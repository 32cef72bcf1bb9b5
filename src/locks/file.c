/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks by flock(): one file per name in one folder, named as .NET's library names it.
 *
 * A lock ends with the process that holds it; there is no lease. It is also lost when its file or
 * folder is removed or moved, since the next one locks another file: renewals look for that, and so
 * does the release. Files are not unlinked by us, so that tokens keep growing; others may unlink
 * them (.NET does, at every release), which locking notices. A new file's first token is the time
 * in microseconds: greater than any that a file of the same name gave before it was unlinked, as
 * long as the clock is not set back.
 *
 * Who was refused is woken by inotify when the holder's descriptor is closed, by release or by
 * death. Asking must not look like that: what is opened after a first refusal is opened for reading
 * only, and closing it wakes nobody. Holders that got their lock this way open it for writing once
 * more.
 *
 * Grants: place is the locked descriptor + 1, or REFUSED; bound is the second descriptor's box.
 */
#include "os/file.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "locks/file_text.h"
#include "locks/names.h"
#include "locks/notifier.h"
#include "locks/providers.h"
#include "os/lock_file.h"

#include <stdio.h>

#define FOLDER_MAX 3968 /* so that a path with a file name stays below 4096 */
#define PATH_SIZE (FOLDER_MAX + 1 + PAWL_LOCK_FILE_NAME_SIZE)
/* place of a grant that was refused before: ask quietly. */
#define REFUSED UINT64_MAX
/* Names watched at a time; more are polled. */
#define WATCHES_MAX 4096

struct watched {
    uint64_t id;
    struct watched *next;
    size_t name_len;
    char name[];
};

struct file_locks {
    struct pawl_lock_provider base; /* first: a provider is cast to this */
    struct pawl_env *env;
    const struct pawl_log *log;
    size_t folder_len;
    char folder[FOLDER_MAX + 1];
    struct pawl_lock_notifier notifier;
    bool is_listened;    /* listen() was called; set before the first attempt */
    const char *network; /* the file system is one; NULL: it is not */
    uint32_t flags;      /* of every lock file: PAWL_LOCK_FILE_SHARED, _THOROUGH */

    struct pawl_mutex *mutex; /* guards all below */
    struct pawl_file_watch *watch;
    bool watch_failed; /* waits are polls */
    struct watched *watched;
    size_t watched_count;
};

static struct file_locks *cast(struct pawl_lock_provider *provider)
{
    return (struct file_locks *)(void *)provider;
}

static void path_of(const struct file_locks *locks, struct pawl_str name, char out[PATH_SIZE])
{
    memcpy(out, locks->folder, locks->folder_len);
    out[locks->folder_len] = '/';
    pawl__lock_name_file(name, out + locks->folder_len + 1);
}

/* ---- waking ------------------------------------------------------------------------------ */

static struct watched *take_watched(struct file_locks *locks, uint64_t id)
{
    struct watched **at = &locks->watched;

    while (*at && (*at)->id != id)
        at = &(*at)->next;
    if (*at) {
        struct watched *found = *at;

        *at = found->next;
        locks->watched_count--;
        return found;
    }
    return NULL;
}

static void free_watched(struct file_locks *locks, struct watched *watched)
{
    pawl__free(&locks->env->alloc, watched, sizeof *watched + watched->name_len);
}

static void changed(void *ctx, uint64_t id)
{
    struct file_locks *locks = ctx;
    struct watched *watched = NULL;

    if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK)
        return;
    if (id != PAWL_FILE_WATCH_ANY)
        watched = take_watched(locks, id);
    pawl_mutex_unlock(locks->env, locks->mutex);
    if (watched)
        pawl__lock_notifier_wake(&locks->notifier,
                                 pawl__str_make(watched->name, watched->name_len));
    else if (id == PAWL_FILE_WATCH_ANY)
        pawl__lock_notifier_wake(&locks->notifier, pawl__str(""));
    if (watched)
        free_watched(locks, watched);
}

/* Under the mutex, so that the event does not come before its name is noted. */
static void watch_file(struct file_locks *locks, const char *path, struct pawl_str name)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct watched *watched, *same;
    uint64_t id;

    if (!locks->watch && !locks->watch_failed &&
        pawl__file_watch_open(locks->env, changed, locks, &locks->watch, &err) != PAWL_OK) {
        locks->watch_failed = true;
        pawl_log(locks->log, PAWL_LOG_WARN, "lock files are not watched; waits take longer",
                 pawl_log_error("error", &err));
    }
    if (!locks->watch || locks->watched_count >= WATCHES_MAX)
        return;
    watched = pawl__alloc_zeroed(&locks->env->alloc, sizeof *watched + name.len);
    if (!watched)
        return;
    watched->name_len = name.len;
    if (name.len > 0)
        memcpy(watched->name, name.ptr, name.len);
    if (pawl__file_watch_add(locks->watch, path, &id, NULL) != PAWL_OK) {
        free_watched(locks, watched);
        return;
    }
    same = take_watched(locks, id); /* it was watched already */
    if (same)
        free_watched(locks, same);
    watched->id = id;
    watched->next = locks->watched;
    locks->watched = watched;
    locks->watched_count++;
}

static int file_listen(struct pawl_lock_provider *provider,
                       const struct pawl_lock_listener *listener, struct pawl_error *err)
{
    struct file_locks *locks = cast(provider);

    locks->is_listened = true;
    return pawl__lock_notifier_open(&locks->notifier, listener, err);
}

static void file_unlisten(struct pawl_lock_provider *provider)
{
    pawl__lock_notifier_close(&cast(provider)->notifier);
}

/* ---- attempts ---------------------------------------------------------------------------- */

/* The descriptor for writing of a lock that was had by a quiet one. */
struct second {
    int fd;
};

static int make_folder(struct file_locks *locks, struct pawl_error *err)
{
    return pawl__folder_make(locks->folder, locks->flags & PAWL_LOCK_FILE_SHARED ? 0777 : 0700,
                             err);
}

/* The folder may have been deleted meanwhile. */
static int lock_file(struct file_locks *locks, const char *path, uint32_t flags, int *fd,
                     struct pawl_error *err)
{
    int status;

    flags |= locks->flags;
    status = pawl__lock_file_take(path, flags, fd, err);
    for (int tries = 0; status == PAWL_ENOTFOUND && tries < 1000; tries++) {
        status = make_folder(locks, err);
        if (status == PAWL_OK || status == PAWL_ENOTFOUND)
            status = pawl__lock_file_take(path, flags, fd, err);
    }
    return status;
}

static int poll_file(struct file_locks *locks, const char *path, struct pawl_lock_grant *grant,
                     int *fd, struct pawl_error *err)
{
    struct second *second;
    int status = lock_file(locks, path, PAWL_LOCK_FILE_QUIET, fd, err);

    if (status == PAWL_EBUSY) { /* watch it, then look again: it may have gone in between */
        if (pawl_mutex_lock(locks->env, locks->mutex) != PAWL_OK)
            return pawl__error_code(err, PAWL_ESTOPPED);
        watch_file(locks, path, grant->name);
        pawl_mutex_unlock(locks->env, locks->mutex);
        status = lock_file(locks, path, PAWL_LOCK_FILE_QUIET, fd, err);
    }
    if (status != PAWL_OK)
        return status;
    second = pawl__alloc_zeroed(&locks->env->alloc, sizeof *second);
    status = second ? pawl__lock_file_open(path, locks->flags, *fd, &second->fd, err)
                    : pawl__error_code(err, PAWL_ENOMEM);
    if (status != PAWL_OK) {
        pawl__free(&locks->env->alloc, second, sizeof *second);
        pawl__lock_file_give(*fd);
        return status;
    }
    grant->bound = second;
    return PAWL_OK;
}

static void unlock_file(struct file_locks *locks, struct pawl_lock_grant *grant)
{
    struct second *second = grant->bound;

    if (grant->place && grant->place != REFUSED)
        pawl__lock_file_give((int)grant->place - 1);
    if (second) {
        pawl__lock_file_close(second->fd);
        pawl__free(&locks->env->alloc, second, sizeof *second);
    }
    grant->place = 0;
    grant->bound = NULL;
}

static int next_token(struct file_locks *locks, const char *path, struct pawl_lock_grant *grant,
                      struct pawl_error *err)
{
    const struct second *second = grant->bound;
    int fd = second ? second->fd : (int)grant->place - 1;
    struct pawl_lock_text text;
    char bytes[PAWL_LOCK_TEXT_SIZE];
    size_t len;
    int status = pawl__lock_file_read(fd, bytes, sizeof bytes, &len, err);

    if (status != PAWL_OK)
        return status;
    if (pawl__lock_text_parse(pawl__str_make(bytes, len), &text) != PAWL_OK ||
        text.token == UINT64_MAX)
        return pawl__error_set(err, PAWL_ECORRUPT,
                               "%s is not a lock file: remove it once nobody "
                               "holds the lock",
                               path);
    text.since_us = pawl_env_wall_ns(locks->env) / 1000;
    text.token = text.token ? text.token + 1 : (uint64_t)text.since_us;
    (void)snprintf(text.owner, sizeof text.owner, "%s", grant->owner);
    pawl__lock_text_write(&text, bytes);
    status = pawl__lock_file_write(fd, pawl__str_make(bytes, sizeof bytes), err);
    if (status == PAWL_OK)
        grant->token = text.token;
    return status;
}

static int file_try(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                    int64_t deadline_ns, struct pawl_error *err)
{
    struct file_locks *locks = cast(provider);
    char path[PATH_SIZE];
    int status, fd = -1;

    (void)deadline_ns;
    path_of(locks, grant->name, path);
    status = grant->place == REFUSED ? PAWL_EBUSY : lock_file(locks, path, 0, &fd, err);
    if (status == PAWL_EBUSY && locks->is_listened)
        status = poll_file(locks, path, grant, &fd, err);
    if (status == PAWL_EBUSY) {
        grant->place = locks->is_listened ? REFUSED : 0;
        return pawl__error_set(err, PAWL_EBUSY, "another process holds the lock");
    }
    if (status != PAWL_OK)
        return status;
    grant->place = (uint64_t)fd + 1;
    grant->valid_until_ns = PAWL_FOREVER;
    if (grant->flags & PAWL_LOCK_WANT_TOKEN)
        status = next_token(locks, path, grant, err);
    if (status != PAWL_OK)
        unlock_file(locks, grant);
    return status;
}

/* PAWL_OK, PAWL_ENOTFOUND, or why it cannot be said. */
static int check_held(struct file_locks *locks, const struct pawl_lock_grant *grant)
{
    char path[PATH_SIZE];
    bool there = false;
    int status;

    path_of(locks, grant->name, path);
    status = pawl__lock_file_is_there(path, (int)grant->place - 1, &there, NULL);
    return status == PAWL_OK && !there ? PAWL_ENOTFOUND : status;
}

static int file_renew(struct pawl_lock_provider *provider, struct pawl_lock_grant *const *grants,
                      size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    (void)deadline_ns;
    (void)err;
    for (size_t i = 0; i < count; i++)
        grants[i]->status = check_held(cast(provider), grants[i]);
    return PAWL_OK;
}

static int file_release(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                        int64_t deadline_ns, struct pawl_error *err)
{
    int status;

    (void)deadline_ns;
    if (!grant->place || grant->place == REFUSED)
        return pawl__error_set(err, PAWL_ENOTFOUND, "the lock is not held");
    status = check_held(cast(provider), grant);
    unlock_file(cast(provider), grant);
    return status == PAWL_ENOTFOUND
               ? pawl__error_set(err, PAWL_ENOTFOUND, "the lock file was removed or moved")
               : PAWL_OK;
}

static void file_abandon(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant)
{
    unlock_file(cast(provider), grant); /* asks nobody either */
}

/* ---- looking ----------------------------------------------------------------------------- */

static int file_status(struct pawl_lock_provider *provider, struct pawl_lock_status *out,
                       int64_t deadline_ns, struct pawl_error *err)
{
    struct file_locks *locks = cast(provider);
    int status = make_folder(locks, err);

    (void)deadline_ns;
    if (status != PAWL_OK)
        return status;
    *out = (struct pawl_lock_status){.ttl_ms = 0};
    (void)snprintf(out->server, sizeof out->server, "files of this host");
    if (locks->network)
        (void)snprintf(out->warning, sizeof out->warning,
                       "the folder is on %s: whether other hosts see its locks depends on the "
                       "server, waits are polls, and tokens may not survive its crash",
                       locks->network);
    return PAWL_OK;
}

static int file_map(struct pawl_lock_provider *provider, struct pawl_str name, char *out,
                    size_t size, struct pawl_error *err)
{
    char path[PATH_SIZE];

    path_of(cast(provider), name, path);
    if ((size_t)snprintf(out, size, "%s", path) >= size)
        return pawl__error_set(err, PAWL_ELIMIT, "the path of the lock file is too long");
    return PAWL_OK;
}

static void describe(const struct pawl_lock_file_view *view, struct pawl_lock_holder *out)
{
    struct pawl_lock_text text;
    bool known;
    char pid[32];

    out->held = view->held;
    known = pawl__lock_text_parse(pawl__str_make(view->text, view->text_len), &text) == PAWL_OK &&
            text.token > 0;
    if (known)
        out->token = text.token;
    if (!view->held)
        return;
    if (view->pid)
        (void)snprintf(out->owner, sizeof out->owner, "pid %ld", view->pid);
    (void)snprintf(pid, sizeof pid, "_%ld_", view->pid);
    if (known && view->pid &&
        strstr(text.owner, pid)) { /* it is that one's, not an earlier one's */
        (void)snprintf(out->owner, sizeof out->owner, "%s", text.owner);
        out->since_us = text.since_us;
    }
}

static int file_inspect(struct pawl_lock_provider *provider, struct pawl_str name,
                        struct pawl_lock_holder *out, int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_lock_file_view view;
    char path[PATH_SIZE];
    int status;

    (void)deadline_ns;
    path_of(cast(provider), name, path);
    status = pawl__lock_file_view(path, &view, err);
    if (status != PAWL_OK && status != PAWL_ENOTFOUND)
        return status;
    *out = (struct pawl_lock_holder){.remaining_ms = -1};
    (void)snprintf(out->key, sizeof out->key, "%s", path);
    if (status == PAWL_OK)
        describe(&view, out);
    return PAWL_OK;
}

static int list_names(struct file_locks *locks, struct pawl_str *names, size_t count, size_t limit,
                      int (*each)(void *ctx, const struct pawl_lock_holder *holder), void *ctx)
{
    struct pawl_lock_holder *holder = pawl__alloc(&locks->env->alloc, sizeof *holder);

    if (!holder)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < count && limit > 0; i++) {
        struct pawl_lock_file_view view;

        if (!pawl__str_ends(names[i], pawl__str(".lock")))
            continue;
        *holder = (struct pawl_lock_holder){.remaining_ms = -1};
        if ((size_t)snprintf(holder->key, sizeof holder->key, "%s/%.*s", locks->folder,
                             PAWL_STR_ARG(names[i])) >= sizeof holder->key ||
            pawl__lock_file_view(holder->key, &view, NULL) != PAWL_OK || !view.held)
            continue;
        describe(&view, holder);
        limit--;
        if (each(ctx, holder) != 0)
            break;
    }
    pawl__free(&locks->env->alloc, holder, sizeof *holder);
    return PAWL_OK;
}

static int file_list(struct pawl_lock_provider *provider, size_t limit,
                     int (*each)(void *ctx, const struct pawl_lock_holder *holder), void *ctx,
                     int64_t deadline_ns, struct pawl_error *err)
{
    struct file_locks *locks = cast(provider);
    struct pawl_arena arena;
    struct pawl_str *names;
    size_t count;
    int status;

    (void)deadline_ns;
    pawl__arena_init(&arena, &locks->env->alloc, (size_t)64 << 20);
    status = pawl__folder_list(locks->folder, &arena, &names, &count, err);
    if (status == PAWL_OK) {
        status = list_names(locks, names, count, limit, each, ctx);
        if (status != PAWL_OK)
            (void)pawl__error_code(err, status);
    }
    pawl__arena_release(&arena);
    return status == PAWL_ENOTFOUND ? PAWL_OK : status;
}

/* ---- making ------------------------------------------------------------------------------ */

static void file_close(struct pawl_lock_provider *provider)
{
    struct file_locks *locks = cast(provider);

    pawl__file_watch_close(locks->watch);
    pawl__lock_notifier_release(&locks->notifier);
    while (locks->watched) {
        struct watched *watched = locks->watched;

        locks->watched = watched->next;
        free_watched(locks, watched);
    }
    pawl_mutex_free(locks->env, locks->mutex);
    pawl__free(&locks->env->alloc, locks, sizeof *locks);
}

static const struct pawl_lock_provider_ops file_ops = {
    .version = PAWL_LOCK_VERSION,
    .caps = PAWL_LOCK_CAP_HOST | PAWL_LOCK_CAP_WAKE | PAWL_LOCK_CAP_TOKEN |
            PAWL_LOCK_CAP_TOKEN_DURABLE | PAWL_LOCK_CAP_INSPECT | PAWL_LOCK_CAP_PROBE,
    .close = file_close,
    .listen = file_listen,
    .unlisten = file_unlisten,
    .status = file_status,
    .map = file_map,
    .try_ = file_try,
    .renew = file_renew,
    .release = file_release,
    .abandon = file_abandon,
    .inspect = file_inspect,
    .list = file_list,
};

int pawl__file_locks_open(struct pawl_env *env, struct pawl_str folder,
                          const struct pawl_lock_provider_options *options,
                          struct pawl_lock_provider **out, struct pawl_error *err)
{
    struct file_locks *locks;
    int status;

    while (folder.len > 1 && folder.ptr[folder.len - 1] == '/')
        folder.len--;
    if (folder.len == 0 || folder.len > FOLDER_MAX || pawl__str_find(folder, '\0', 0) != SIZE_MAX)
        return pawl__error_set(err, PAWL_EINVAL,
                               "the folder of lock files has a path of 1 to %d bytes, not %zu",
                               FOLDER_MAX, folder.len);
    locks = pawl__alloc_zeroed(&env->alloc, sizeof *locks);
    if (!locks)
        return pawl__error_code(err, PAWL_ENOMEM);
    locks->env = env;
    locks->log = options ? options->log : NULL;
    locks->flags = options && options->is_shared ? PAWL_LOCK_FILE_SHARED : 0;
    locks->base = (struct pawl_lock_provider){.ops = &file_ops, .kind = "file"};
    memcpy(locks->folder, folder.ptr, folder.len);
    locks->folder_len = folder.len;
    status = pawl_mutex_new(env, "lock files", &locks->mutex);
    if (status != PAWL_OK)
        (void)pawl__error_code(err, status);
    else
        status = pawl__lock_notifier_init(&locks->notifier, env, err);
    if (status == PAWL_OK)
        status = make_folder(locks, err);
    if (status == PAWL_OK) {
        locks->network = pawl__folder_network(locks->folder);
        if (locks->network)
            locks->flags |= PAWL_LOCK_FILE_THOROUGH;
        *out = &locks->base;
        return PAWL_OK;
    }
    pawl__lock_notifier_release(&locks->notifier);
    pawl_mutex_free(env, locks->mutex);
    pawl__free(&env->alloc, locks, sizeof *locks);
    return status;
}
