/* SPDX-License-Identifier: Apache-2.0 */
/* The cases with other processes, and the run of all; see lock_suite.h. */
#include "contract/lock_suite.h"

#include "host/lock_uri.h"
#include "locks/check.h"
#include "locks/locks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS INT64_C(1000000)
#define FILES "/proc/self/fd"
#define THREADS "/proc/self/task"

/* ---- another process ----------------------------------------------------------------------- */

void lock_holder_start(struct lock_holder *holder, const char *uri, int64_t ttl_ms)
{
    int to[2], from[2];
    char ttl[24];

    (void)snprintf(ttl, sizeof ttl, "%lld", (long long)ttl_ms);
    assert_int_equal(pipe2(to, O_CLOEXEC), 0);
    assert_int_equal(pipe2(from, O_CLOEXEC), 0);
    holder->pid = fork();
    assert_true(holder->pid >= 0);
    if (holder->pid == 0) {
        (void)dup2(to[0], 0);
        (void)dup2(from[1], 1);
        (void)execl(LOCK_HOLDER, LOCK_HOLDER, uri, ttl, (char *)NULL);
        _exit(127);
    }
    (void)close(to[0]);
    (void)close(from[1]);
    holder->to = to[1];
    holder->from = from[0];
}

void lock_holder_tell(struct lock_holder *holder, const char *line)
{
    char text[4096];
    int len = snprintf(text, sizeof text, "%s\n", line);

    assert_int_equal(write(holder->to, text, (size_t)len), len);
}

const char *lock_holder_hear(struct lock_holder *holder)
{
    static char text[1024];
    size_t len = 0;

    while (len < sizeof text - 1) {
        ssize_t got = read(holder->from, text + len, 1);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || text[len] == '\n')
            break;
        len++;
    }
    text[len] = '\0';
    return text;
}

const char *lock_holder_ask(struct lock_holder *holder, const char *line)
{
    lock_holder_tell(holder, line);
    return lock_holder_hear(holder);
}

void lock_holder_signal(struct lock_holder *holder, int signal_number)
{
    assert_int_equal(kill(holder->pid, signal_number), 0);
}

void lock_holder_end(struct lock_holder *holder)
{
    int status;

    (void)close(holder->to);
    (void)close(holder->from);
    assert_int_equal(waitpid(holder->pid, &status, 0), holder->pid);
}

/* ---- the stage ----------------------------------------------------------------------------- */

struct stage {
    struct lock_contract *contract;
    struct pawl_env *env;
    struct pawl_error err;
    int64_t ttl_ms; /* of leases of providers that are opened now */
    size_t number;  /* of a case of the library */
    size_t threads; /* entries of THREADS before anything was started */
};

static int open_by_uri(void *ctx, struct pawl_lock_provider **out, struct pawl_error *err)
{
    struct stage *stage = ctx;
    struct lock_contract *contract = stage->contract;
    struct pawl_lock_provider_options options = {.ttl_ms = stage->ttl_ms};

    if (contract->open)
        return contract->open(contract->ctx, stage->ttl_ms, out, err);
    return pawl__lock_open_uri(stage->env, pawl__str(contract->uri), &options, out, err);
}

static struct pawl_locks *open_locks(struct stage *stage)
{
    struct pawl_lock_provider *provider;
    struct pawl_locks *locks;

    assert_ok(open_by_uri(stage, &provider, &stage->err), &stage->err);
    assert_ok(pawl__locks_new(stage->env, provider, NULL, &locks, &stage->err), &stage->err);
    return locks;
}

static void needs_processes(const struct stage *stage)
{
    if (!stage->contract->uri[0])
        skip();
}

static uint64_t token_of(const char *answer)
{
    assert_int_equal(strncmp(answer, "held ", 5), 0);
    return strtoull(answer + 5, NULL, 10);
}

/* ---- cases --------------------------------------------------------------------------------- */

/* A machine may stand still for longer than a short lease: only the cases that wait for the end of
 * one, and say no to this, have that. */
#define SHORT_LEASE_MS 5000
#define LONG_LEASE_MS 60000

static void use_long_lease(struct stage *stage)
{
    if (stage->ttl_ms > 0 && stage->ttl_ms <= SHORT_LEASE_MS)
        stage->ttl_ms = LONG_LEASE_MS;
}

static void case_of_the_library(void **state)
{
    struct stage *stage = *state;
    struct pawl_lock_check check = {
        .env = stage->env, .open = open_by_uri, .ctx = stage, .workers = stage->contract->workers};
    struct pawl_lock_check_result result;

    use_long_lease(stage);
    pawl__lock_check_run(&check, stage->number, &result);
    if (result.outcome == PAWL_LOCK_CHECK_SKIPPED && stage->ttl_ms != stage->contract->ttl_ms) {
        stage->ttl_ms = stage->contract->ttl_ms;
        pawl__lock_check_run(&check, stage->number, &result);
    }
    if (result.outcome == PAWL_LOCK_CHECK_SKIPPED)
        skip();
    if (result.outcome == PAWL_LOCK_CHECK_FAILED)
        fail_msg("%s", result.detail);
    if (result.detail[0])
        print_message("# %s\n", result.detail);
}

static void processes_exclude_each_other(void **state)
{
    struct stage *stage = *state;
    struct lock_holder one, two;

    needs_processes(stage);
    use_long_lease(stage);
    lock_holder_start(&one, stage->contract->uri, stage->ttl_ms);
    lock_holder_start(&two, stage->contract->uri, stage->ttl_ms);
    (void)token_of(lock_holder_ask(&one, "take between-processes"));
    assert_string_equal(lock_holder_ask(&two, "take between-processes"), "busy");
    lock_holder_tell(&two, "wait between-processes");
    assert_string_equal(lock_holder_ask(&one, "give"), "given");
    (void)token_of(lock_holder_hear(&two));
    assert_string_equal(lock_holder_ask(&one, "take between-processes"), "busy");
    assert_string_equal(lock_holder_ask(&two, "give"), "given");
    lock_holder_end(&one);
    lock_holder_end(&two);
}

/* One that holds a lock and one that waits for it, in processes of their own. */
struct pair {
    struct lock_holder one, two;
    const char *name;
    uint64_t token; /* of one */
};

static void start_pair(struct stage *stage, struct pair *pair, const char *name)
{
    char line[64];

    pair->name = name;
    lock_holder_start(&pair->one, stage->contract->uri, stage->contract->ttl_ms);
    lock_holder_start(&pair->two, stage->contract->uri, stage->contract->ttl_ms);
    (void)snprintf(line, sizeof line, "take %s", name);
    pair->token = token_of(lock_holder_ask(&pair->one, line));
    (void)snprintf(line, sizeof line, "wait %s", name);
    lock_holder_tell(&pair->two, line);
}

static void finish_pair(struct pair *pair)
{
    uint64_t token = token_of(lock_holder_hear(&pair->two));

    assert_true(token > pair->token || (pair->token == 0 && token == 0));
    assert_string_equal(lock_holder_ask(&pair->two, "give"), "given");
    lock_holder_end(&pair->two);
}

/* At the same time: where a lease must end first, that takes long. */
static void processes_that_exit_or_are_killed_let_go(void **state)
{
    struct stage *stage = *state;
    struct pair exits, killed;

    needs_processes(stage);
    start_pair(stage, &exits, "left-behind");
    start_pair(stage, &killed, "left-by-a-kill");
    lock_holder_signal(&killed.one, SIGKILL);
    lock_holder_end(&exits.one);
    lock_holder_end(&killed.one);
    finish_pair(&exits);
    finish_pair(&killed);
}

static void a_process_that_stood_still_knows_that_it_lost(void **state)
{
    struct stage *stage = *state;
    struct pawl_lock_provider *provider;
    struct pair pair;
    uint64_t token;
    bool leases;

    needs_processes(stage);
    assert_ok(open_by_uri(stage, &provider, &stage->err), &stage->err);
    leases = pawl_lock_caps(provider) & PAWL_LOCK_CAP_LEASE;
    provider->ops->close(provider);
    if (!leases)
        skip();
    start_pair(stage, &pair, "paused");
    assert_string_equal(lock_holder_ask(&pair.one, "state"), "held");
    lock_holder_signal(&pair.one, SIGSTOP);
    token = token_of(lock_holder_hear(&pair.two));
    assert_true(token > pair.token || (pair.token == 0 && token == 0));
    lock_holder_signal(&pair.one, SIGCONT);
    assert_string_equal(lock_holder_ask(&pair.one, "state"), "lost");
    assert_string_equal(lock_holder_ask(&pair.two, "state"), "held");
    assert_string_equal(lock_holder_ask(&pair.one, "give"), "lost");
    assert_string_equal(lock_holder_ask(&pair.one, "take paused"), "busy");
    assert_string_equal(lock_holder_ask(&pair.two, "give"), "given");
    lock_holder_end(&pair.one);
    lock_holder_end(&pair.two);
}

/* ---- losses -------------------------------------------------------------------------------- */

struct bell {
    struct pawl_env *env;
    struct pawl_mutex *mutex;
    struct pawl_cond *cond;
    int rung;
};

static void ring(void *ctx)
{
    struct bell *bell = ctx;

    if (pawl_mutex_lock(bell->env, bell->mutex) != PAWL_OK)
        return;
    bell->rung++;
    pawl_cond_broadcast(bell->env, bell->cond);
    pawl_mutex_unlock(bell->env, bell->mutex);
}

static void wait_for_bell(struct bell *bell)
{
    assert_ok(pawl_mutex_lock(bell->env, bell->mutex), NULL);
    while (bell->rung == 0)
        assert_ok(pawl_cond_wait(bell->env, bell->cond, bell->mutex, PAWL_FOREVER), NULL);
    pawl_mutex_unlock(bell->env, bell->mutex);
}

static void lose(struct stage *stage, bool ask_before)
{
    struct pawl_locks *locks;
    struct pawl_lock lock = {0}, other = {0};
    struct bell bell = {.env = stage->env};

    if (!stage->contract->take_away)
        skip();
    locks = open_locks(stage);
    assert_ok(pawl_mutex_new(stage->env, "bell", &bell.mutex), NULL);
    assert_ok(pawl_cond_new(stage->env, "bell", &bell.cond), NULL);
    assert_ok(pawl__locks_try(locks, pawl__str("taken-away"), 0, &lock, &stage->err), &stage->err);
    assert_ok(pawl__locks_try(locks, pawl__str("another"), 0, &other, &stage->err), &stage->err);
    if (ask_before)
        assert_ok(pawl__lock_on_lost(locks, lock, ring, &bell, &stage->err), &stage->err);
    assert_int_equal(pawl__lock_state(locks, lock), PAWL_LOCK_HELD);
    stage->contract->take_away(stage->contract->ctx, stage->env, pawl__str("taken-away"));
    while (!ask_before && pawl__lock_state(locks, lock) != PAWL_LOCK_LOST)
        assert_ok(pawl_env_sleep_until(stage->env, pawl_env_monotonic_ns(stage->env) + 5 * MS),
                  NULL);
    if (!ask_before)
        assert_ok(pawl__lock_on_lost(locks, lock, ring, &bell, &stage->err), &stage->err);
    wait_for_bell(&bell);
    assert_int_equal(pawl__lock_state(locks, lock), PAWL_LOCK_LOST);
    assert_code(pawl__locks_release(locks, lock, &stage->err), PAWL_ENOTFOUND);
    assert_int_equal(bell.rung, 1);
    assert_ok(pawl__locks_acquire(locks, pawl__str("taken-away"), 0, PAWL_FOREVER, NULL, &lock,
                                  &stage->err),
              &stage->err);
    assert_ok(pawl__locks_release(locks, lock, &stage->err), &stage->err);
    pawl__locks_free(locks); /* and the other one with it, lost or not */
    pawl_cond_free(stage->env, bell.cond);
    pawl_mutex_free(stage->env, bell.mutex);
}

static void a_lock_that_is_taken_away_is_reported(void **state)
{
    lose(*state, true);
}

static void a_loss_is_reported_to_who_asks_later(void **state)
{
    lose(*state, false);
}

static void a_service_that_is_down_is_not_a_lock_that_is_held(void **state)
{
    struct stage *stage = *state;
    struct pawl_lock_provider_options options = {.ttl_ms = stage->contract->ttl_ms};
    struct pawl_lock_provider *provider;
    struct pawl_locks *locks;
    struct pawl_lock lock;
    int status;

    if (!stage->contract->down_uri[0])
        skip();
    status = pawl__lock_open_uri(stage->env, pawl__str(stage->contract->down_uri), &options,
                                 &provider, &stage->err);
    if (status == PAWL_OK) {
        assert_ok(pawl__locks_new(stage->env, provider, NULL, &locks, &stage->err), &stage->err);
        status = pawl__locks_try(locks, pawl__str("x"), 0, &lock, &stage->err);
        pawl__locks_free(locks);
    }
    assert_true(status != PAWL_OK && status != PAWL_EBUSY && status != PAWL_ETIMEDOUT);
    assert_true(stage->err.msg[0] != '\0');
}

/* ---- leaks --------------------------------------------------------------------------------- */

static size_t count_entries(const char *path)
{
    DIR *folder = opendir(path);
    size_t count = 0;

    while (folder && readdir(folder))
        count++;
    if (folder)
        (void)closedir(folder);
    return count;
}

/* A thread that was joined may be listed for another moment. */
static void assert_entries(struct stage *stage, const char *path, size_t expected)
{
    for (int i = 0; i < 2000 && count_entries(path) != expected; i++)
        assert_ok(pawl_env_sleep_until(stage->env, pawl_env_monotonic_ns(stage->env) + MS), NULL);
    assert_int_equal(count_entries(path), expected);
}

/* What a busy machine does not answer in time, or answers too late, is asked again. */
static bool is_passing(int status)
{
    return status == PAWL_EUNKNOWN || status == PAWL_EUNAVAILABLE;
}

static void take_and_give(struct stage *stage, struct pawl_locks *locks)
{
    int64_t until_ns = pawl_env_monotonic_ns(stage->env) + 120000 * MS;
    struct pawl_lock lock;
    int status;

    do
        status =
            pawl__locks_acquire(locks, pawl__str("leak"), 0, until_ns, NULL, &lock, &stage->err);
    while (is_passing(status) && pawl_env_monotonic_ns(stage->env) < until_ns);
    assert_ok(status, &stage->err);
    status = pawl__locks_release(locks, lock, &stage->err);
    if (!is_passing(status) && status != PAWL_ENOTFOUND)
        assert_ok(status, &stage->err);
}

/* Fewer than what leaks even if it is one of a hundred times. */
#define CONNECTIONS_LATE 3

static void nothing_leaks(void **state)
{
    struct stage *stage = *state;
    int repeats = stage->contract->repeats ? stage->contract->repeats : 10000;
    size_t files, held_files, held_threads;
    struct pawl_locks *locks;

    assert_entries(stage, THREADS, stage->threads);
    files = count_entries(FILES);
    locks = open_locks(stage);
    take_and_give(stage, locks);
    held_files = count_entries(FILES);
    held_threads = count_entries(THREADS);
    for (int i = 0; i < repeats; i++)
        take_and_give(stage, locks);
    /* A connection that was still being made at first is no leak. */
    assert_true(count_entries(FILES) < held_files + CONNECTIONS_LATE);
    assert_entries(stage, THREADS, held_threads);
    pawl__locks_free(locks);
    assert_entries(stage, FILES, files);
    assert_entries(stage, THREADS, stage->threads);
}

/* ---- providers that come and go ------------------------------------------------------------ */

#define COMERS_MAX 8

struct comer {
    struct stage *stage;
    struct pawl_thread *thread;
    struct pawl_error err; /* what its last round said */
    int status;            /* the first failure ends it */
    unsigned rounds, grants;
};

/* Once around: as `pawl lock` does, it frees what listens first and closes the provider after. */
static int come_and_go(struct comer *comer, struct pawl_error *err)
{
    struct pawl_env *env = comer->stage->env;
    const struct pawl_locks_options options = {.borrow = true, .poll_ms_max = 20};
    struct pawl_lock_provider *provider;
    struct pawl_locks *locks;
    struct pawl_lock lock;
    int status = open_by_uri(comer->stage, &provider, err);

    if (status != PAWL_OK)
        return status;
    status = pawl__locks_new(env, provider, &options, &locks, err);
    if (status == PAWL_OK) {
        int64_t until_ns = pawl_env_monotonic_ns(env) + 120000 * MS;

        do /* a busy machine may have no answer in time: that is asked again */
            status =
                pawl__locks_acquire(locks, pawl__str("come and go"), 0, until_ns, NULL, &lock, err);
        while (is_passing(status) && pawl_env_monotonic_ns(env) < until_ns);
        comer->grants += status == PAWL_OK;
        if (status == PAWL_OK)
            status = pawl__locks_release(locks, lock, err);
        if (status == PAWL_ENOTFOUND) /* nor is a lease that ended meanwhile what is looked for */
            status = PAWL_OK;
        pawl__locks_free(locks);
    }
    provider->ops->close(provider);
    return status;
}

static void keep_coming(void *arg)
{
    struct comer *comer = arg;

    for (unsigned i = 0; i < comer->rounds && comer->status == PAWL_OK; i++)
        comer->status = come_and_go(comer, &comer->err);
}

static void short_lived_providers_contend_and_end(void **state)
{
    struct stage *stage = *state;
    uint32_t workers = stage->contract->workers;
    size_t count = workers > 8 ? COMERS_MAX : 4;
    struct comer comers[COMERS_MAX] = {{0}};

    for (size_t i = 0; i < count; i++) {
        comers[i] =
            (struct comer){.stage = stage, .err = PAWL_ERROR_INIT, .rounds = workers > 8 ? 25 : 4};
        assert_ok(pawl_thread_start(stage->env, "comer", keep_coming, &comers[i], &comers[i].thread,
                                    &stage->err),
                  &stage->err);
    }
    for (size_t i = 0; i < count; i++)
        pawl_thread_join(stage->env, comers[i].thread);
    for (size_t i = 0; i < count; i++) {
        assert_ok(comers[i].status, &comers[i].err);
        assert_int_equal(comers[i].grants, comers[i].rounds);
    }
    assert_entries(stage, THREADS, stage->threads);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

/* Entries of THREADS when nothing of ours runs. A sanitizer starts a thread with the first one. */
static size_t count_threads(struct pawl_env *env)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_thread *thread;
    size_t least = SIZE_MAX;

    if (pawl_thread_start(env, "first", do_nothing, NULL, &thread, &err) != PAWL_OK)
        return 0;
    pawl_thread_join(env, thread);
    for (int i = 0; i < 50; i++) {
        size_t count = count_entries(THREADS);

        least = count < least ? count : least;
        (void)!pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + MS);
    }
    return least;
}

/* ---- all ----------------------------------------------------------------------------------- */

#define CASES_MAX 64

int lock_contract_main(struct lock_contract *contract)
{
    static struct stage stages[CASES_MAX];
    static const struct {
        const char *name;
        CMUnitTestFunction run;
    } more[] = {
        {"processes exclude each other", processes_exclude_each_other},
        {"processes that exit or are killed let go", processes_that_exit_or_are_killed_let_go},
        {"a process that stood still knows that it lost",
         a_process_that_stood_still_knows_that_it_lost},
        {"a lock that is taken away is reported", a_lock_that_is_taken_away_is_reported},
        {"a loss is reported to who asks later", a_loss_is_reported_to_who_asks_later},
        {"a service that is down is not a lock that is held",
         a_service_that_is_down_is_not_a_lock_that_is_held},
        {"nothing leaks, however often", nothing_leaks},
        {"short-lived providers contend and end", short_lived_providers_contend_and_end},
    };
    struct CMUnitTest tests[CASES_MAX] = {{0}};
    size_t count = 0, library = pawl__lock_check_count(), threads;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_env *env;
    int failed;

    if (pawl_system_env_open(&env, &err) != PAWL_OK)
        return 1;
    (void)signal(SIGPIPE, SIG_IGN);
    threads = count_threads(env);
    for (; count < library + sizeof more / sizeof more[0] && count < CASES_MAX; count++) {
        bool ours = count < library;

        stages[count] = (struct stage){.contract = contract,
                                       .env = env,
                                       .ttl_ms = contract->ttl_ms,
                                       .number = count,
                                       .threads = threads};
        tests[count] = (struct CMUnitTest){
            .name = ours ? pawl__lock_check_title(count) : more[count - library].name,
            .test_func = ours ? case_of_the_library : more[count - library].run,
            .initial_state = &stages[count]};
    }
    failed = _cmocka_run_group_tests(contract->title, tests, count, NULL, NULL);
    pawl_system_env_close(env);
    return failed;
}
