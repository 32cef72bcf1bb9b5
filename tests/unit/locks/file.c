/* SPDX-License-Identifier: Apache-2.0 */
/* Locks by flock(): what is particular to files. What all providers do is in tests/contract. */
#include "lib/test.h"
#include "locks/file_text.h"
#include "locks/names.h"
#include "locks/providers.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct fixture {
    struct pawl_env *env;
    char folder[64];
    struct pawl_lock_provider *a, *b;
    struct pawl_error err;
};

/* Takes the place of the C library's: fails as a file system would that has no locks. */
static int flock_errno;

int flock(int fd, int operation)
{
    if (flock_errno && operation != LOCK_UN) {
        errno = flock_errno;
        return -1;
    }
    return (int)syscall(SYS_flock, fd, operation);
}

static int open_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/pawl-file-locks-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    assert_ok(pawl__file_locks_open(f->env, pawl__str(f->folder), NULL, &f->a, &f->err), &f->err);
    assert_ok(pawl__file_locks_open(f->env, pawl__str(f->folder), NULL, &f->b, &f->err), &f->err);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;
    char command[128];

    f->a->ops->close(f->a);
    f->b->ops->close(f->b);
    pawl_system_env_close(f->env);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static struct pawl_lock_grant grant_for(const char *name, uint32_t flags)
{
    struct pawl_lock_grant grant = {.name = pawl__str(name), .flags = flags};

    (void)snprintf(grant.owner, sizeof grant.owner, "host_%d_x", (int)getpid());
    return grant;
}

static int take(struct fixture *f, struct pawl_lock_provider *provider,
                struct pawl_lock_grant *grant)
{
    return provider->ops->try_(provider, grant, PAWL_FOREVER, &f->err);
}

static int give(struct fixture *f, struct pawl_lock_provider *provider,
                struct pawl_lock_grant *grant)
{
    return provider->ops->release(provider, grant, PAWL_FOREVER, &f->err);
}

static const char *path_for(struct fixture *f, const char *name, char out[256])
{
    char file[PAWL_LOCK_FILE_NAME_SIZE];

    pawl__lock_name_file(pawl__str(name), file);
    (void)snprintf(out, 256, "%s/%s", f->folder, file);
    return out;
}

static void one_provider_keeps_the_other_out(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant first = grant_for("x", 0), second = grant_for("x", 0);
    struct pawl_lock_grant other = grant_for("X", 0);

    assert_ok(take(f, f->a, &first), &f->err);
    assert_true(first.valid_until_ns == PAWL_FOREVER);
    assert_code(take(f, f->b, &second), PAWL_EBUSY);
    assert_ok(take(f, f->b, &other), &f->err);
    assert_ok(give(f, f->a, &first), &f->err);
    assert_code(give(f, f->a, &first), PAWL_ENOTFOUND);
    assert_ok(take(f, f->b, &second), &f->err);
    assert_ok(give(f, f->b, &second), &f->err);
    assert_ok(give(f, f->b, &other), &f->err);
}

/* What .NET's library does at every release, and an operator may do by hand. */
static void a_file_that_was_unlinked_while_it_was_locked_is_not_a_lock(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant first = grant_for("x", PAWL_LOCK_WANT_TOKEN);
    struct pawl_lock_grant second = grant_for("x", PAWL_LOCK_WANT_TOKEN);
    struct pawl_lock_grant third = grant_for("x", 0);
    char path[256];

    assert_ok(take(f, f->a, &first), &f->err);
    assert_int_equal(unlink(path_for(f, "x", path)), 0);
    assert_ok(take(f, f->b, &second), &f->err);
    assert_true(second.token > first.token);
    assert_code(give(f, f->a, &first), PAWL_ENOTFOUND); /* it was lost */
    assert_code(take(f, f->a, &third), PAWL_EBUSY);
    assert_ok(give(f, f->b, &second), &f->err);
}

/* A backup by hard links keeps the file alive after its name is gone. */
static void a_file_that_has_another_name_is_not_the_lock_either(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant first = grant_for("x", 0), second = grant_for("x", 0);
    char path[256], copy[300];
    int stray;

    assert_ok(take(f, f->a, &first), &f->err);
    assert_ok(give(f, f->a, &first), &f->err);
    (void)snprintf(copy, sizeof copy, "%s.copy", path_for(f, "x", path));
    assert_int_equal(link(path, copy), 0);
    assert_ok(take(f, f->a, &first), &f->err); /* two names, and one is the right one */
    assert_code(take(f, f->b, &second), PAWL_EBUSY);
    assert_ok(give(f, f->a, &first), &f->err);
    assert_int_equal(unlink(path), 0);
    stray = open(copy, O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(stray, LOCK_EX | LOCK_NB), 0); /* who has locked the old one */
    assert_ok(take(f, f->a, &first), &f->err);            /* is not in the way */
    assert_ok(give(f, f->a, &first), &f->err);
    assert_int_equal(close(stray), 0);
    assert_int_equal(unlink(copy), 0);
}

static void tokens_grow_over_releases_and_reopening(void **state)
{
    struct fixture *f = *state;
    uint64_t last = 0;

    for (int i = 0; i < 20; i++) {
        struct pawl_lock_grant grant = grant_for("x", PAWL_LOCK_WANT_TOKEN);

        assert_ok(take(f, i % 2 ? f->a : f->b, &grant), &f->err);
        assert_true(grant.token > last);
        last = grant.token;
        assert_ok(give(f, i % 2 ? f->a : f->b, &grant), &f->err);
    }
}

static void a_file_with_something_else_in_it_gives_no_token(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant plain = grant_for("x", 0), token = grant_for("x", PAWL_LOCK_WANT_TOKEN);
    char path[256];
    FILE *file = fopen(path_for(f, "x", path), "w");

    assert_non_null(file);
    assert_true(fputs("pawl-lock 1 12z owner 1\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_code(take(f, f->a, &token), PAWL_ECORRUPT);
    assert_ok(take(f, f->a, &plain), &f->err); /* and it was not left locked */
    assert_ok(give(f, f->a, &plain), &f->err);
}

/* ---- waking ------------------------------------------------------------------------------ */

struct ear {
    struct pawl_env *env;
    struct pawl_mutex *mutex;
    struct pawl_cond *cond;
    int woken;
};

static void hear(void *ctx, struct pawl_str name)
{
    struct ear *ear = ctx;

    assert_true(pawl__str_is(name, "x"));
    assert_code(pawl_mutex_lock(ear->env, ear->mutex), PAWL_OK);
    ear->woken++;
    pawl_cond_broadcast(ear->env, ear->cond);
    pawl_mutex_unlock(ear->env, ear->mutex);
}

static int woken(struct ear *ear)
{
    int count;

    assert_code(pawl_mutex_lock(ear->env, ear->mutex), PAWL_OK);
    count = ear->woken;
    pawl_mutex_unlock(ear->env, ear->mutex);
    return count;
}

static void wait_for(struct ear *ear, int count)
{
    assert_code(pawl_mutex_lock(ear->env, ear->mutex), PAWL_OK);
    while (ear->woken < count)
        assert_code(pawl_cond_wait(ear->env, ear->cond, ear->mutex, PAWL_FOREVER), PAWL_OK);
    pawl_mutex_unlock(ear->env, ear->mutex);
}

static void listen_to(struct fixture *f, struct ear *ear)
{
    struct pawl_lock_listener listener = {.wake = hear, .ctx = ear};

    *ear = (struct ear){.env = f->env};
    assert_ok(pawl_mutex_new(f->env, "ear", &ear->mutex), NULL);
    assert_ok(pawl_cond_new(f->env, "ear", &ear->cond), NULL);
    assert_ok(f->b->ops->listen(f->b, &listener, &f->err), &f->err);
}

static void stop_listening(struct fixture *f, struct ear *ear)
{
    f->b->ops->close(f->b);
    assert_ok(pawl__file_locks_open(f->env, pawl__str(f->folder), NULL, &f->b, &f->err), &f->err);
    pawl_cond_free(f->env, ear->cond);
    pawl_mutex_free(f->env, ear->mutex);
}

static void a_release_wakes_who_was_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant first = grant_for("x", 0), second = grant_for("x", 0);
    struct ear ear;

    listen_to(f, &ear);
    for (int i = 1; i <= 10; i++) {
        assert_ok(take(f, f->a, &first), &f->err);
        assert_code(take(f, f->b, &second), PAWL_EBUSY);
        assert_code(take(f, f->b, &second), PAWL_EBUSY);
        assert_int_equal(woken(&ear), i - 1); /* asking alone wakes nobody */
        assert_ok(give(f, f->a, &first), &f->err);
        wait_for(&ear, i);
        assert_ok(take(f, f->b, &second), &f->err);
        assert_ok(give(f, f->b, &second), &f->err);
        second = grant_for("x", 0);
    }
    stop_listening(f, &ear);
}

static void the_death_of_a_holder_wakes_who_was_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant second = grant_for("x", 0);
    struct ear ear;
    int ready[2], status;
    char byte;
    pid_t child;

    listen_to(f, &ear);
    assert_int_equal(pipe(ready), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct pawl_lock_grant first = grant_for("x", 0);

        if (f->a->ops->try_(f->a, &first, PAWL_FOREVER, NULL) != PAWL_OK ||
            write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            (void)pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_code(take(f, f->b, &second), PAWL_EBUSY);
    assert_int_equal(kill(child, SIGKILL), 0);
    wait_for(&ear, 1);
    assert_ok(take(f, f->b, &second), &f->err);
    assert_ok(give(f, f->b, &second), &f->err);
    assert_int_equal(waitpid(child, &status, 0), child);
    (void)close(ready[0]);
    (void)close(ready[1]);
    stop_listening(f, &ear);
}

/* A process that was forked and executed nothing has the descriptor, too. */
static void a_forked_child_does_not_keep_what_its_parent_released(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant first = grant_for("x", 0), second = grant_for("x", 0);
    int status, hold[2];
    pid_t child;

    assert_int_equal(pipe(hold), 0);
    assert_ok(take(f, f->a, &first), &f->err);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char byte;

        (void)close(hold[1]);
        _exit(read(hold[0], &byte, 1) == 0 ? 0 : 1); /* until the parent is done */
    }
    assert_ok(give(f, f->a, &first), &f->err);
    assert_ok(take(f, f->b, &second), &f->err);
    assert_ok(give(f, f->b, &second), &f->err);
    (void)close(hold[1]);
    (void)close(hold[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- unlinking by others ------------------------------------------------------------------- */

#define RACERS 8
#define RACES 4000

struct track {
    _Atomic(int) inside, violations, done;
};

static int race(struct fixture *f, struct track *track)
{
    char path[256];

    (void)path_for(f, "race", path);
    for (int i = 0; i < RACES;) {
        struct pawl_lock_grant grant = grant_for("race", 0);
        int status = f->a->ops->try_(f->a, &grant, PAWL_FOREVER, NULL);

        if (status == PAWL_EBUSY) {
            (void)sched_yield();
            continue;
        }
        if (status != PAWL_OK)
            return 1;
        if (atomic_fetch_add(&track->inside, 1) != 0)
            atomic_fetch_add(&track->violations, 1);
        if (i % 16 == 0)
            (void)sched_yield(); /* others get a chance to do it wrong */
        atomic_fetch_sub(&track->inside, 1);
        if (i % 8) /* as .NET's library does when it releases */
            (void)unlink(path);
        if (f->a->ops->release(f->a, &grant, PAWL_FOREVER, NULL) !=
            (i % 8 ? PAWL_ENOTFOUND : PAWL_OK))
            return 1;
        i++;
    }
    atomic_fetch_add(&track->done, 1);
    return 0;
}

static void unlinking_lets_nobody_in_beside_the_holder(void **state)
{
    struct fixture *f = *state;
    struct track *track =
        mmap(NULL, sizeof *track, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pids[RACERS];

    assert_true(track != MAP_FAILED);
    for (int i = 0; i < RACERS; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0)
            _exit(race(f, track));
    }
    for (int i = 0; i < RACERS; i++)
        assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
    assert_int_equal(atomic_load(&track->done), RACERS);
    assert_int_equal(atomic_load(&track->violations), 0);
    (void)munmap(track, sizeof *track);
}

/* ---- errors are neither busy nor granted --------------------------------------------------- */

static void what_cannot_be_opened_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant grant = grant_for("x", 0);
    struct pawl_lock_provider *none;
    char path[256];

    assert_int_equal(mkdir(path_for(f, "x", path), 0700), 0);
    assert_code(take(f, f->a, &grant), PAWL_EINVAL);
    assert_non_null(strstr(f->err.msg, path));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink("/dev/full/x", path), 0);
    assert_true(take(f, f->a, &grant) != PAWL_OK);
    assert_true(f->err.code != PAWL_EBUSY);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof path, "%s/file", f->folder);
    assert_true(close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) == 0);
    assert_code(pawl__file_locks_open(f->env, pawl__str(path), NULL, &none, &f->err), PAWL_EINVAL);
}

/* EMFILE here; ENOSPC, EIO and ENOLCK take the same way. */
static void no_more_descriptors_is_not_busy(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant grant = grant_for("x", 0);
    int fds[4096], count = 0;

    while (count < 4096 && (fds[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        count++;
    if (count < 4096)
        assert_code(take(f, f->a, &grant), PAWL_EUNAVAILABLE);
    while (count > 0)
        (void)close(fds[--count]);
    assert_ok(take(f, f->a, &grant), &f->err);
    assert_ok(give(f, f->a, &grant), &f->err);
}

static void a_file_system_that_cannot_lock_grants_nothing(void **state)
{
    static const struct {
        int errnum, code;
    } cases[] = {
        {ENOLCK, PAWL_EIO},    {EIO, PAWL_EIO},         {EOPNOTSUPP, PAWL_EUNSUPPORTED},
        {ENOMEM, PAWL_ENOMEM}, {EBADF, PAWL_EINTERNAL}, {ENOSPC, PAWL_EUNAVAILABLE},
        {EINVAL, PAWL_EINVAL},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pawl_lock_grant grant = grant_for("x", 0);
        int status;

        flock_errno = cases[i].errnum;
        status = take(f, f->a, &grant);
        flock_errno = 0;
        assert_true(status != PAWL_OK && status != PAWL_EBUSY);
        assert_code(status, cases[i].code);
        assert_non_null(strstr(f->err.msg, "cannot lock"));
    }
}

/* Reserved, blank, dotted and longest names are all files of their own. */
static void any_name_is_a_file_of_its_own(void **state)
{
    static char longest[PAWL_LOCK_NAME_MAX];
    static const char *const names[] = {"",     ".",   "..", " ",   "  ",  "\t",  "a.",
                                        "a",    "A",   "a ", "CON", "con", "nul", "a/b",
                                        "a\\b", "a:b", "~",  "-",   "*",   "a\n", "LPT1.lock"};
    enum { COUNT = sizeof names / sizeof names[0] };
    struct pawl_lock_grant grants[COUNT + 1];
    struct fixture *f = *state;

    memset(longest, 'n', sizeof longest);
    for (size_t i = 0; i <= COUNT; i++) {
        grants[i] = grant_for(i < COUNT ? names[i] : "", 0);
        if (i == COUNT)
            grants[i].name = pawl__str_make(longest, sizeof longest);
        assert_ok(take(f, f->a, &grants[i]), &f->err);
    }
    for (size_t i = 0; i <= COUNT; i++)
        assert_ok(give(f, f->a, &grants[i]), &f->err);
}

#define TIDIERS 6

struct tidying {
    struct fixture *f;
    _Atomic(unsigned) next;
    _Atomic(int) wrong, ended;
};

static void take_own(void *arg)
{
    struct tidying *tidying = arg;
    struct pawl_lock_provider *provider = tidying->f->a;
    char name[16];

    (void)snprintf(name, sizeof name, "t%u", atomic_fetch_add(&tidying->next, 1));
    for (int i = 0; i < 100; i++) {
        struct pawl_lock_grant grant = grant_for(name, 0);
        int status = provider->ops->try_(provider, &grant, PAWL_FOREVER, NULL);

        if (status == PAWL_OK)
            status = provider->ops->release(provider, &grant, PAWL_FOREVER, NULL);
        if (status != PAWL_OK && status != PAWL_ENOTFOUND) /* removed while it was held */
            atomic_fetch_add(&tidying->wrong, 1);
    }
    atomic_fetch_add(&tidying->ended, 1);
}

static void a_folder_that_is_removed_all_the_time_is_no_error(void **state)
{
    struct fixture *f = *state;
    struct tidying tidying = {.f = f};
    struct pawl_thread *threads[TIDIERS];
    char command[160];

    (void)snprintf(command, sizeof command, "rm -rf '%s' 2>/dev/null; true", f->folder);
    for (int i = 0; i < TIDIERS; i++)
        assert_ok(pawl_thread_start(f->env, "tidier", take_own, &tidying, &threads[i], &f->err),
                  &f->err);
    while (atomic_load(&tidying.ended) < TIDIERS)
        assert_int_equal(system(command), 0);
    for (int i = 0; i < TIDIERS; i++)
        pawl_thread_join(f->env, threads[i]);
    assert_int_equal(atomic_load(&tidying.wrong), 0);
}

static void a_folder_that_goes_away_is_made_again(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant grant = grant_for("x", 0);
    char path[256];

    assert_ok(take(f, f->a, &grant), &f->err);
    assert_ok(give(f, f->a, &grant), &f->err);
    assert_int_equal(unlink(path_for(f, "x", path)), 0);
    assert_int_equal(rmdir(f->folder), 0);
    assert_ok(take(f, f->a, &grant), &f->err);
    assert_ok(give(f, f->a, &grant), &f->err);
}

/* ---- losing ------------------------------------------------------------------------------ */

static int look_at(struct fixture *f, struct pawl_lock_provider *provider,
                   struct pawl_lock_grant *grant)
{
    struct pawl_lock_grant *grants[] = {grant};

    assert_ok(provider->ops->renew(provider, grants, 1, PAWL_FOREVER, &f->err), &f->err);
    return grant->status;
}

static void a_folder_that_is_removed_loses_what_is_held(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant first = grant_for("x", 0), second = grant_for("x", 0);
    char path[256];

    assert_ok(take(f, f->a, &first), &f->err);
    assert_code(look_at(f, f->a, &first), PAWL_OK);
    assert_int_equal(unlink(path_for(f, "x", path)), 0);
    assert_int_equal(rmdir(f->folder), 0);
    assert_code(look_at(f, f->a, &first), PAWL_ENOTFOUND);
    assert_ok(take(f, f->b, &second), &f->err);
    assert_code(look_at(f, f->a, &first), PAWL_ENOTFOUND); /* also when there is another one */
    assert_code(look_at(f, f->b, &second), PAWL_OK);
    assert_code(give(f, f->a, &first), PAWL_ENOTFOUND);
    assert_ok(give(f, f->b, &second), &f->err);
}

static void a_folder_that_is_moved_loses_what_is_held(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant grant = grant_for("x", 0);
    char away[80];

    (void)snprintf(away, sizeof away, "%s.away", f->folder);
    assert_ok(take(f, f->a, &grant), &f->err);
    assert_int_equal(rename(f->folder, away), 0);
    assert_code(look_at(f, f->a, &grant), PAWL_ENOTFOUND);
    assert_int_equal(rename(away, f->folder), 0); /* nobody was let in meanwhile */
    assert_code(look_at(f, f->a, &grant), PAWL_OK);
    assert_ok(give(f, f->a, &grant), &f->err);
}

/* ---- what others may have put there -------------------------------------------------------- */

static void a_planted_symbolic_link_is_not_followed(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant grant = grant_for("x", PAWL_LOCK_WANT_TOKEN);
    char path[256], victim[128];

    (void)snprintf(victim, sizeof victim, "%s/victim", f->folder);
    assert_int_equal(symlink(victim, path_for(f, "x", path)), 0);
    assert_code(take(f, f->a, &grant), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "symbolic link"));
    assert_int_equal(access(victim, F_OK), -1); /* nothing was made or written elsewhere */
    assert_int_equal(unlink(path), 0);
}

static void a_planted_pipe_is_refused_and_blocks_nobody(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant grant = grant_for("x", 0);
    char path[256];

    assert_int_equal(mkfifo(path_for(f, "x", path), 0600), 0);
    assert_code(take(f, f->a, &grant), PAWL_EINVAL);
    assert_int_equal(unlink(path), 0);
}

static void a_file_of_a_stranger_is_refused_unless_locks_are_shared(void **state)
{
    const struct pawl_lock_provider_options options = {.is_shared = true};
    struct fixture *f = *state;
    struct pawl_lock_grant grant = grant_for("x", 0);
    struct pawl_lock_provider *shared;
    char path[256];

    if (geteuid() != 0)
        skip(); /* only root can make one */
    assert_ok(take(f, f->a, &grant), &f->err);
    assert_ok(give(f, f->a, &grant), &f->err);
    assert_int_equal(chown(path_for(f, "x", path), 12345, 12345), 0);
    assert_code(take(f, f->a, &grant), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "lock.shared"));
    assert_ok(pawl__file_locks_open(f->env, pawl__str(f->folder), &options, &shared, &f->err),
              &f->err);
    assert_ok(take(f, shared, &grant), &f->err);
    assert_ok(give(f, shared, &grant), &f->err);
    shared->ops->close(shared);
    assert_int_equal(chown(f->folder, 12345, 12345), 0); /* the folder's owner is no stranger */
    assert_ok(take(f, f->a, &grant), &f->err);
    assert_ok(give(f, f->a, &grant), &f->err);
}

static unsigned mode_of(const char *path)
{
    struct stat info;

    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 0777u;
}

static void lock_files_are_private_unless_they_are_shared(void **state)
{
    const struct pawl_lock_provider_options options = {.is_shared = true};
    struct fixture *f = *state;
    struct pawl_lock_grant grant = grant_for("x", 0);
    mode_t mask = umask(022);
    struct pawl_lock_provider *shared;
    char path[256];

    assert_ok(take(f, f->a, &grant), &f->err);
    assert_int_equal(mode_of(path_for(f, "x", path)), 0600);
    assert_ok(give(f, f->a, &grant), &f->err);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(f->folder), 0);
    assert_ok(take(f, f->a, &grant), &f->err);
    assert_int_equal(mode_of(f->folder), 0700);
    assert_ok(give(f, f->a, &grant), &f->err);
    assert_int_equal(unlink(path), 0);
    assert_ok(pawl__file_locks_open(f->env, pawl__str(f->folder), &options, &shared, &f->err),
              &f->err);
    assert_ok(take(f, shared, &grant), &f->err);
    assert_int_equal(mode_of(path), 0644);
    assert_ok(give(f, shared, &grant), &f->err);
    shared->ops->close(shared);
    (void)umask(mask);
}

/* ---- looking ----------------------------------------------------------------------------- */

static int count_one(void *ctx, const struct pawl_lock_holder *holder)
{
    assert_true(holder->held);
    ++*(int *)ctx;
    return 0;
}

static void shows_who_holds_a_lock(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant grant = grant_for("x", PAWL_LOCK_WANT_TOKEN), plain = grant_for("y", 0);
    struct pawl_lock_holder holder;
    char path[256];
    int count = 0;

    assert_ok(f->b->ops->inspect(f->b, pawl__str("x"), &holder, PAWL_FOREVER, &f->err), &f->err);
    assert_false(holder.held);
    assert_ok(take(f, f->a, &grant), &f->err);
    assert_ok(take(f, f->a, &plain), &f->err);
    assert_ok(f->b->ops->inspect(f->b, pawl__str("x"), &holder, PAWL_FOREVER, &f->err), &f->err);
    assert_true(holder.held);
    assert_string_equal(holder.key, path_for(f, "x", path));
    assert_string_equal(holder.owner, grant.owner);
    assert_true(holder.token == grant.token);
    assert_true(holder.since_us > 0);
    assert_ok(f->b->ops->list(f->b, 100, count_one, &count, PAWL_FOREVER, &f->err), &f->err);
    assert_int_equal(count, 2);
    assert_ok(give(f, f->a, &plain), &f->err);
    assert_ok(give(f, f->a, &grant), &f->err);
    assert_ok(f->b->ops->inspect(f->b, pawl__str("x"), &holder, PAWL_FOREVER, &f->err), &f->err);
    assert_false(holder.held);
    assert_true(holder.token == grant.token);
}

static void reads_only_what_it_writes(void **state)
{
    static const char *const wrong[] = {" ",
                                        "pawl-lock",
                                        "pawl-lock 2 1 a 1",
                                        "pawl-lock 1 x a 1",
                                        "pawl-lock 1 1 a",
                                        "pawl-lock 1 1  1",
                                        "pawl-lock 1 18446744073709551616 a 1",
                                        "pawl-lock 1 1 a 9223372036854775808"};
    struct pawl_lock_text text = {.token = 42, .owner = "me", .since_us = 7}, back;
    char bytes[PAWL_LOCK_TEXT_SIZE];

    (void)state;
    pawl__lock_text_write(&text, bytes);
    assert_code(pawl__lock_text_parse(pawl__str_make(bytes, sizeof bytes), &back), PAWL_OK);
    assert_true(back.token == 42 && back.since_us == 7);
    assert_string_equal(back.owner, "me");
    assert_code(pawl__lock_text_parse(pawl__str(""), &back), PAWL_OK);
    assert_true(back.token == 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_code(pawl__lock_text_parse(pawl__str(wrong[i]), &back), PAWL_ECORRUPT);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(one_provider_keeps_the_other_out),
        CASE(a_file_that_was_unlinked_while_it_was_locked_is_not_a_lock),
        CASE(a_file_that_has_another_name_is_not_the_lock_either),
        CASE(tokens_grow_over_releases_and_reopening),
        CASE(a_file_with_something_else_in_it_gives_no_token),
        CASE(a_release_wakes_who_was_refused),
        CASE(the_death_of_a_holder_wakes_who_was_refused),
        CASE(a_forked_child_does_not_keep_what_its_parent_released),
        CASE(unlinking_lets_nobody_in_beside_the_holder),
        CASE(what_cannot_be_opened_is_an_error),
        CASE(no_more_descriptors_is_not_busy),
        CASE(a_file_system_that_cannot_lock_grants_nothing),
        CASE(any_name_is_a_file_of_its_own),
        CASE(a_folder_that_goes_away_is_made_again),
        CASE(a_folder_that_is_removed_all_the_time_is_no_error),
        CASE(a_folder_that_is_removed_loses_what_is_held),
        CASE(a_folder_that_is_moved_loses_what_is_held),
        CASE(a_planted_symbolic_link_is_not_followed),
        CASE(a_planted_pipe_is_refused_and_blocks_nobody),
        CASE(a_file_of_a_stranger_is_refused_unless_locks_are_shared),
        CASE(lock_files_are_private_unless_they_are_shared),
        CASE(shows_who_holds_a_lock),
        cmocka_unit_test(reads_only_what_it_writes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
