/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutual exclusion while processes die and stand still.
 *
 *     chaos-locks URI SECONDS [TTL_MS [PROCESSES [--broken]]]
 *
 * Processes take a few locks over and over, with fences where the service has them. Each writes to
 * a log of its own when it got a lock, and from time to time that it still believed to hold it: it
 * reads the clock, asks pawl__lock_valid(), and if so notes the time it read. So the time from the
 * first to the last note of a grant is time in which the process could have written somewhere. All
 * clocks are CLOCK_BOOTTIME of one machine. Meanwhile processes are killed and replaced, or stopped
 * for up to three times the lease. In the end no two grants of a name may overlap, and fences must
 * grow with the time of the grant.
 *
 * --broken: the processes do not ask whether they still hold what they hold; the check must fail
 * then, or it would find nothing at all. Speaks TAP.
 */
#include "locks/locks.h"
#include "base/str.h"
#include "host/lock_uri.h"
#include "lib/test.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS INT64_C(1000000)
#define NAMES 3
#define PROCESSES_MAX 64

enum kind { GRANTED = 1, VALID, LOST, RELEASED, FAILED };

struct note {
    uint32_t kind;
    uint32_t name;
    uint64_t fence;
    int64_t at_ns;
};

/* ---- a process ----------------------------------------------------------------------------- */

struct worker {
    struct pawl_env *env;
    struct pawl_locks *locks;
    int log_fd;
    uint64_t random;
    bool broken;
    int64_t ttl_ms;
};

static int64_t now(struct worker *w)
{
    return pawl_env_monotonic_ns(w->env);
}

static void write_note(struct worker *w, enum kind kind, uint32_t name, uint64_t fence, int64_t at)
{
    struct note note = {(uint32_t)kind, name, fence, at};

    if (write(w->log_fd, &note, sizeof note) != (ssize_t)sizeof note)
        _exit(3);
}

static void hold(struct worker *w, uint32_t name, struct pawl_lock lock)
{
    uint64_t fence = pawl__lock_token(w->locks, lock);
    int64_t at = now(w);
    /* Mostly short, sometimes longer than the lease. */
    uint64_t most = test_random(&w->random) % 8 ? 10 : (uint64_t)w->ttl_ms * 2;
    int64_t until = at + (int64_t)(test_random(&w->random) % (most + 1)) * MS;

    write_note(w, GRANTED, name, fence, at);
    do {
        at = now(w);
        if (!w->broken && !pawl__lock_valid(w->locks, lock)) {
            write_note(w, LOST, name, fence, at);
            break;
        }
        write_note(w, VALID, name, fence, at);
        if (pawl_env_sleep_until(w->env, at + MS) != PAWL_OK)
            _exit(4);
    } while (at < until);
}

static void work(struct worker *w)
{
    bool tokens = pawl_lock_caps(pawl__locks_provider(w->locks)) & PAWL_LOCK_CAP_TOKEN;
    struct pawl_error err = PAWL_ERROR_INIT;

    for (;;) {
        uint32_t number = (uint32_t)(test_random(&w->random) % NAMES);
        struct pawl_lock lock;
        char name[32];
        int status;

        (void)snprintf(name, sizeof name, "chaos-%u", number);
        status = pawl__locks_acquire(w->locks, pawl__str(name), tokens ? PAWL_LOCK_WANT_TOKEN : 0,
                                     now(w) + 2000 * MS, NULL, &lock, &err);
        if (status == PAWL_OK) {
            hold(w, number, lock);
            status = pawl__locks_release(w->locks, lock, &err);
            write_note(w, status == PAWL_OK || status == PAWL_ENOTFOUND ? RELEASED : FAILED, number,
                       0, now(w));
        } else if (status != PAWL_ETIMEDOUT) {
            write_note(w, FAILED, number, 0, now(w));
            (void)!pawl_env_sleep_until(w->env, now(w) + 10 * MS);
        }
    }
}

static int run_worker(const char *uri, int64_t ttl_ms, const char *log, uint64_t seed, bool broken)
{
    struct pawl_lock_provider_options options = {.ttl_ms = ttl_ms};
    struct pawl_locks_options more = {.poll_ms_max = 50};
    struct worker w = {.random = seed, .broken = broken, .ttl_ms = ttl_ms};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock_provider *provider;

    w.log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (w.log_fd < 0 || pawl_system_env_open(&w.env, &err) != PAWL_OK)
        return 1;
    while (pawl__lock_open_uri(w.env, pawl__str(uri), &options, &provider, &err) != PAWL_OK)
        (void)!pawl_env_sleep_until(w.env, now(&w) + 20 * MS);
    if (pawl__locks_new(w.env, provider, &more, &w.locks, &err) != PAWL_OK)
        return 1;
    work(&w);
    return 0;
}

/* ---- chaos --------------------------------------------------------------------------------- */

struct chaos {
    const char *uri, *program;
    int64_t ttl_ms;
    bool broken;
    char folder[64];
    struct pawl_env *env;
    uint64_t random;
    unsigned processes, started, kills, stops;
    pid_t pids[PROCESSES_MAX];
    int64_t continue_ns[PROCESSES_MAX]; /* 0: it is not stopped */
};

static void start(struct chaos *c, unsigned i)
{
    char log[128], ttl[24], seed[24];

    (void)snprintf(log, sizeof log, "%s/log-%u", c->folder, c->started++);
    (void)snprintf(ttl, sizeof ttl, "%" PRId64, c->ttl_ms);
    (void)snprintf(seed, sizeof seed, "%" PRIu64, test_random(&c->random));
    c->continue_ns[i] = 0;
    c->pids[i] = fork();
    if (c->pids[i] == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)execl(c->program, c->program, "--worker", c->uri, ttl, log, seed,
                    c->broken ? "broken" : "sound", (char *)NULL);
        _exit(127);
    }
}

static void end(struct chaos *c, unsigned i)
{
    (void)kill(c->pids[i], SIGKILL); /* of a stopped one, too */
    (void)waitpid(c->pids[i], NULL, 0);
}

static void disturb(struct chaos *c, int64_t now_ns)
{
    unsigned i = (unsigned)(test_random(&c->random) % c->processes);

    if (c->continue_ns[i])
        return;
    if (test_random(&c->random) % 2) {
        end(c, i);
        start(c, i);
        c->kills++;
        return;
    }
    (void)kill(c->pids[i], SIGSTOP);
    c->stops++;
    c->continue_ns[i] =
        now_ns + (int64_t)(test_random(&c->random) % (uint64_t)(3 * c->ttl_ms)) * MS;
}

static void rage(struct chaos *c, int seconds)
{
    int64_t now_ns = pawl_env_monotonic_ns(c->env), until = now_ns + seconds * 1000 * MS;

    for (unsigned i = 0; i < c->processes; i++)
        start(c, i);
    while ((now_ns = pawl_env_monotonic_ns(c->env)) < until) {
        (void)!pawl_env_sleep_until(c->env, now_ns + 30 * MS);
        disturb(c, now_ns);
        for (unsigned i = 0; i < c->processes; i++) {
            if (!c->continue_ns[i] || c->continue_ns[i] > now_ns)
                continue;
            (void)kill(c->pids[i], SIGCONT);
            c->continue_ns[i] = 0;
        }
    }
    for (unsigned i = 0; i < c->processes; i++)
        end(c, i);
}

/* ---- judging ------------------------------------------------------------------------------- */

struct grant {
    uint32_t name;
    uint64_t fence;
    int64_t from_ns, to_ns;
};

struct record {
    struct grant *grants;
    size_t count, cap;
    size_t granted[NAMES], lost, failed;
};

static void add(struct record *r, const struct note *note)
{
    if (r->count == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 1024;
        r->grants = realloc(r->grants, r->cap * sizeof *r->grants);
        if (!r->grants)
            exit(1);
    }
    r->grants[r->count++] = (struct grant){note->name, note->fence, note->at_ns, note->at_ns};
    r->granted[note->name % NAMES]++;
}

/* A process has one grant at a time; a note that was cut off by its death is none. */
static void read_log(struct record *r, const char *path)
{
    FILE *file = fopen(path, "re");
    struct note note;

    if (!file)
        exit(1);
    while (fread(&note, sizeof note, 1, file) == 1) {
        if (note.kind == GRANTED)
            add(r, &note);
        else if (note.kind == VALID)
            r->grants[r->count - 1].to_ns = note.at_ns;
        r->lost += note.kind == LOST;
        r->failed += note.kind == FAILED;
    }
    (void)fclose(file);
}

static int by_time(const void *a, const void *b)
{
    const struct grant *x = a, *y = b;

    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static void judge(struct record *r, size_t *overlaps, size_t *fences)
{
    const struct grant *longest = NULL;
    uint64_t last = 0;

    qsort(r->grants, r->count, sizeof *r->grants, by_time);
    for (size_t i = 0; i < r->count; i++) {
        const struct grant *grant = &r->grants[i];

        if (!longest || longest->name != grant->name) {
            longest = NULL;
            last = 0;
        }
        if (longest && grant->from_ns < longest->to_ns && ++*overlaps <= 5)
            printf("# chaos-%u: fence %" PRIu64 " from %" PRId64 ", fence %" PRIu64
                   " still at %" PRId64 "\n",
                   grant->name, grant->fence, grant->from_ns, longest->fence, longest->to_ns);
        if (grant->fence && grant->fence <= last && ++*fences <= 5)
            printf("# chaos-%u: fence %" PRIu64 " after %" PRIu64 "\n", grant->name, grant->fence,
                   last);
        last = grant->fence > last ? grant->fence : last;
        if (!longest || grant->to_ns > longest->to_ns)
            longest = grant;
    }
}

static int report(struct chaos *c, int seconds)
{
    struct record r = {.count = 0};
    size_t overlaps = 0, fences = 0, each = SIZE_MAX;

    for (unsigned i = 0; i < c->started; i++) {
        char path[128];

        (void)snprintf(path, sizeof path, "%s/log-%u", c->folder, i);
        if (access(path, R_OK) == 0) /* it may have died before it made one */
            read_log(&r, path);
    }
    judge(&r, &overlaps, &fences);
    for (size_t i = 0; i < NAMES; i++)
        each = r.granted[i] < each ? r.granted[i] : each;
    printf("# %d s, %u processes, %u killed, %u stopped: %zu grants, %zu lost, %zu calls failed\n",
           seconds, c->processes, c->kills, c->stops, r.count, r.lost, r.failed);
    printf("%s 1 - no two hold a lock at a time (%zu)\n",
           (overlaps == 0) == !c->broken ? "ok" : "not ok", overlaps);
    printf("%s 2 - fences grow (%zu)\n", fences == 0 || c->broken ? "ok" : "not ok", fences);
    printf("%s 3 - every lock was granted again and again (%zu)\n", each >= 3 ? "ok" : "not ok",
           each);
    printf("1..3\n");
    free(r.grants);
    return (overlaps == 0) == !c->broken && (fences == 0 || c->broken) && each >= 3 ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct chaos c = {.program = "/proc/self/exe", .random = (uint64_t)getpid()};
    int seconds, failed;
    char command[128];

    if (argc == 7 && strcmp(argv[1], "--worker") == 0)
        return run_worker(argv[2], strtol(argv[3], NULL, 10), argv[4], strtoull(argv[5], NULL, 10),
                          strcmp(argv[6], "broken") == 0);
    if (argc < 3) {
        (void)fprintf(stderr, "usage: chaos-locks URI SECONDS [TTL_MS [PROCESSES [--broken]]]\n");
        return 2;
    }
    seconds = (int)strtol(argv[2], NULL, 10);
    c.uri = argv[1];
    c.ttl_ms = argc > 3 ? strtol(argv[3], NULL, 10) : 500;
    c.processes = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 16;
    c.broken = argc > 5;
    (void)snprintf(c.folder, sizeof c.folder, "/tmp/pawl-chaos-XXXXXX");
    if (c.processes > PROCESSES_MAX || !mkdtemp(c.folder) ||
        pawl_system_env_open(&c.env, &err) != PAWL_OK)
        return 1;
    rage(&c, seconds);
    failed = report(&c, seconds);
    pawl_system_env_close(c.env);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", c.folder);
    return system(command) == 0 ? failed : 1;
}
