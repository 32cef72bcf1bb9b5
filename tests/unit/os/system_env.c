/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/test.h"
#include "unit/os/bounded_queue.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct pawl_env *open_env(void)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_env *env = NULL;

    assert_ok(pawl_system_env_open(&env, &err), &err);
    return env;
}

static struct pawl_thread *start(struct pawl_env *env, const char *name, void (*run)(void *arg),
                                 void *arg)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_thread *thread = NULL;

    assert_ok(pawl_thread_start(env, name, run, arg, &thread, &err), &err);
    return thread;
}

static void the_queue_program_runs(void **state)
{
    struct pawl_env *env = open_env();
    struct queue_program q;

    (void)state;
    assert_ok(queue_init(&q, env, 500), NULL);
    assert_ok(queue_start(&q), NULL);
    queue_join(&q);
    assert_int_equal(q.consumed, 1000);
    assert_int_equal(q.sum, 1000 * 999 / 2);
    queue_release(&q);
    pawl_system_env_close(env);
}

static void clocks_run_and_deadlines_are_of_the_monotonic_one(void **state)
{
    struct pawl_env *env = open_env();
    int64_t before_ns = pawl_env_monotonic_ns(env);
    struct pawl_mutex *mutex = NULL;
    struct pawl_cond *cond = NULL;

    (void)state;
    assert_true(before_ns > 0);
    assert_true(pawl_env_wall_ns(env) > INT64_C(1700000000) * 1000000000);
    assert_ok(pawl_env_sleep_until(env, before_ns - 1), NULL);
    assert_ok(pawl_env_sleep_until(env, INT64_MIN), NULL);
    assert_ok(pawl_env_sleep_until(env, before_ns + 2000000), NULL);
    assert_true(pawl_env_monotonic_ns(env) >= before_ns + 2000000);
    assert_ok(pawl_mutex_new(env, "m", &mutex), NULL);
    assert_ok(pawl_cond_new(env, "c", &cond), NULL);
    assert_ok(pawl_mutex_lock(env, mutex), NULL);
    assert_code(pawl_cond_wait(env, cond, mutex, before_ns), PAWL_ETIMEDOUT);
    before_ns = pawl_env_monotonic_ns(env);
    assert_code(pawl_cond_wait(env, cond, mutex, before_ns + 2000000), PAWL_ETIMEDOUT);
    assert_true(pawl_env_monotonic_ns(env) >= before_ns + 2000000);
    pawl_mutex_unlock(env, mutex); /* error-checking: aborts unless the wait gave it back */
    pawl_cond_free(env, cond);
    pawl_mutex_free(env, mutex);
    pawl_system_env_close(env);
}

static void entropy_fills_exactly_what_was_asked_for(void **state)
{
    enum { SIZE = 100000 }; /* more than one getrandom call is bound to give */
    struct pawl_env *env = open_env();
    unsigned char *bytes = calloc(2, SIZE + 1);

    (void)state;
    assert_non_null(bytes);
    assert_ok(pawl_env_entropy(env, bytes, SIZE, NULL), NULL);
    assert_int_equal(bytes[SIZE], 0);
    assert_ok(pawl_env_entropy(env, bytes + SIZE + 1, SIZE, NULL), NULL);
    assert_memory_not_equal(bytes, bytes + SIZE + 1, SIZE);
    assert_memory_not_equal(bytes + SIZE - 32, bytes + SIZE + 1 + SIZE - 32, 32);
    assert_ok(pawl_env_entropy(env, bytes, 0, NULL), NULL);
    free(bytes);
    pawl_system_env_close(env);
}

static void memory_grows_shrinks_and_goes(void **state)
{
    struct pawl_env *env = open_env();
    char *ptr = env->alloc.resize(env->alloc.ctx, NULL, 0, 10);

    (void)state;
    assert_non_null(ptr);
    memcpy(ptr, "123456789", 10);
    ptr = env->alloc.resize(env->alloc.ctx, ptr, 10, 100000);
    assert_non_null(ptr);
    assert_string_equal(ptr, "123456789");
    assert_null(env->alloc.resize(env->alloc.ctx, ptr, 100000, 0));
    pawl_system_env_close(env);
}

struct seen {
    char name[16];
    bool term_blocked, segv_blocked;
};

static void look_at_yourself(void *arg)
{
    struct seen *seen = arg;
    sigset_t set;

    (void)pthread_getname_np(pthread_self(), seen->name, sizeof seen->name);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &set);
    seen->term_blocked = sigismember(&set, SIGTERM) == 1;
    seen->segv_blocked = sigismember(&set, SIGSEGV) == 1;
}

static void threads_have_names_and_leave_signals_to_the_main_thread(void **state)
{
    struct pawl_env *env = open_env();
    struct seen seen = {{0}, false, false};
    sigset_t set;

    (void)state;
    pawl_thread_join(env, start(env, "a-name-longer-than-15", look_at_yourself, &seen));
    assert_string_equal(seen.name, "a-name-longer-t");
    assert_true(seen.term_blocked);
    assert_false(seen.segv_blocked);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &set), 0);
    assert_int_equal(sigismember(&set, SIGTERM), 0);
    pawl_system_env_close(env);
}

/* ---- stopping ---------------------------------------------------------------------------- */

/* Threads in every kind of wait; each says when it is about to begin. */
struct waiters {
    struct pawl_env *env;
    struct pawl_mutex *mutex, *busy;
    struct pawl_cond *never, *arrived;
    int arrived_count;
    int wait_status, sleep_status, lock_status;
};

static void arrive(struct waiters *w)
{
    if (pawl_mutex_lock(w->env, w->mutex) != PAWL_OK)
        return;
    w->arrived_count++;
    pawl_cond_broadcast(w->env, w->arrived);
    pawl_mutex_unlock(w->env, w->mutex);
}

static void wait_for_ever(void *arg)
{
    struct waiters *w = arg;

    if (pawl_mutex_lock(w->env, w->mutex) != PAWL_OK)
        return;
    w->arrived_count++;
    pawl_cond_broadcast(w->env, w->arrived);
    do {
        w->wait_status = pawl_cond_wait(w->env, w->never, w->mutex, PAWL_FOREVER);
    } while (w->wait_status == PAWL_OK);
    pawl_mutex_unlock(w->env, w->mutex);
}

static void sleep_for_ever(void *arg)
{
    struct waiters *w = arg;

    arrive(w);
    w->sleep_status = pawl_env_sleep_until(w->env, PAWL_FOREVER);
}

static void lock_what_is_busy(void *arg)
{
    struct waiters *w = arg;

    arrive(w);
    w->lock_status = pawl_mutex_lock(w->env, w->busy);
    if (w->lock_status == PAWL_OK)
        pawl_mutex_unlock(w->env, w->busy);
}

static void open_waiters(struct waiters *w)
{
    *w = (struct waiters){.env = open_env()};
    assert_ok(pawl_mutex_new(w->env, "m", &w->mutex), NULL);
    assert_ok(pawl_mutex_new(w->env, "busy", &w->busy), NULL);
    assert_ok(pawl_cond_new(w->env, "never", &w->never), NULL);
    assert_ok(pawl_cond_new(w->env, "arrived", &w->arrived), NULL);
}

static void close_waiters(struct waiters *w)
{
    pawl_cond_free(w->env, w->arrived);
    pawl_cond_free(w->env, w->never);
    pawl_mutex_free(w->env, w->busy);
    pawl_mutex_free(w->env, w->mutex);
    pawl_system_env_close(w->env);
}

static void wait_for_arrivals(struct waiters *w, int count)
{
    assert_ok(pawl_mutex_lock(w->env, w->mutex), NULL);
    while (w->arrived_count < count)
        assert_ok(pawl_cond_wait(w->env, w->arrived, w->mutex, PAWL_FOREVER), NULL);
    pawl_mutex_unlock(w->env, w->mutex);
}

/* Many rounds: each stop meets the waiters at another point of beginning to wait. */
static void stop_ends_every_wait(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct waiters w;
        struct pawl_thread *threads[3];

        open_waiters(&w);
        assert_ok(pawl_mutex_lock(w.env, w.busy), NULL);
        threads[0] = start(w.env, "waiter", wait_for_ever, &w);
        threads[1] = start(w.env, "sleeper", sleep_for_ever, &w);
        threads[2] = start(w.env, "locker", lock_what_is_busy, &w);
        wait_for_arrivals(&w, 3);
        pawl_system_env_stop(w.env);
        pawl_mutex_unlock(w.env, w.busy);
        for (int i = 0; i < 3; i++)
            pawl_thread_join(w.env, threads[i]);
        assert_code(w.wait_status, PAWL_ESTOPPED);
        assert_code(w.sleep_status, PAWL_ESTOPPED);
        assert_code(w.lock_status, PAWL_ESTOPPED);
        close_waiters(&w);
    }
}

static void after_stop_every_further_wait_is_refused(void **state)
{
    struct waiters w;
    struct pawl_thread *thread = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;

    (void)state;
    open_waiters(&w);
    assert_ok(pawl_mutex_lock(w.env, w.mutex), NULL);
    pawl_system_env_stop(w.env);
    assert_code(pawl_cond_wait(w.env, w.never, w.mutex, PAWL_FOREVER), PAWL_ESTOPPED);
    assert_code(pawl_cond_wait(w.env, w.never, w.mutex, 0), PAWL_ESTOPPED);
    pawl_mutex_unlock(w.env, w.mutex);
    assert_code(pawl_mutex_lock(w.env, w.mutex), PAWL_ESTOPPED);
    assert_code(pawl_env_sleep_until(w.env, 0), PAWL_ESTOPPED);
    assert_code(pawl_env_sleep_until(w.env, PAWL_FOREVER), PAWL_ESTOPPED);
    assert_code(pawl_thread_start(w.env, "late", sleep_for_ever, &w, &thread, &err), PAWL_ESTOPPED);
    assert_null(thread);
    assert_non_null(strstr(err.msg, "\"late\""));
    pawl_system_env_stop(w.env); /* once more changes nothing */
    close_waiters(&w);
}

static void stop_while_the_queue_program_runs_unwinds_it(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        struct pawl_env *env = open_env();
        struct queue_program q;

        assert_ok(queue_init(&q, env, 1000000000), NULL);
        assert_ok(queue_start(&q), NULL);
        pawl_system_env_stop(env);
        queue_join(&q);
        queue_release(&q);
        pawl_system_env_close(env);
    }
}

static void stop_of_one_environment_leaves_another_alone(void **state)
{
    struct pawl_env *other = open_env();
    struct waiters w;
    struct queue_program q;
    struct pawl_thread *sleeper;

    (void)state;
    open_waiters(&w);
    sleeper = start(w.env, "sleeper", sleep_for_ever, &w);
    assert_ok(queue_init(&q, other, 200), NULL);
    assert_ok(queue_start(&q), NULL);
    pawl_system_env_stop(w.env);
    pawl_thread_join(w.env, sleeper);
    queue_join(&q);
    assert_int_equal(q.consumed, 400);
    assert_code(pawl_env_sleep_until(w.env, 0), PAWL_ESTOPPED);
    assert_ok(pawl_env_sleep_until(other, 0), NULL);
    queue_release(&q);
    pawl_system_env_close(other);
    close_waiters(&w);
}

/* ---- misuse ------------------------------------------------------------------------------ */

static void unlock_what_is_not_held(struct pawl_env *env, struct pawl_mutex *mutex)
{
    pawl_mutex_unlock(env, mutex);
}

static void lock_twice(struct pawl_env *env, struct pawl_mutex *mutex)
{
    (void)!pawl_mutex_lock(env, mutex);
    (void)!pawl_mutex_lock(env, mutex);
}

static void close_with_a_mutex_left(struct pawl_env *env, struct pawl_mutex *mutex)
{
    (void)mutex;
    pawl_system_env_close(env);
}

/*
 * Runs `misuse` in a child process and demands that it aborts. ThreadSanitizer may be the first to
 * notice: it then ends the child with an exit code of its own.
 */
static void assert_aborts(void (*misuse)(struct pawl_env *env, struct pawl_mutex *mutex))
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit no_core = {0, 0};
        struct pawl_env *env = NULL;
        struct pawl_mutex *mutex = NULL;

        (void)setrlimit(RLIMIT_CORE, &no_core);
        (void)signal(SIGABRT, SIG_DFL);
        (void)close(STDERR_FILENO);
        if (pawl_system_env_open(&env, NULL) == PAWL_OK &&
            pawl_mutex_new(env, "m", &mutex) == PAWL_OK)
            misuse(env, mutex);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
#if defined(__SANITIZE_THREAD__)
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        return;
#endif
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void misuse_is_noticed(void **state)
{
    (void)state;
    assert_aborts(unlock_what_is_not_held);
    assert_aborts(lock_twice);
    assert_aborts(close_with_a_mutex_left);
    pawl_system_env_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_queue_program_runs),
        cmocka_unit_test(clocks_run_and_deadlines_are_of_the_monotonic_one),
        cmocka_unit_test(entropy_fills_exactly_what_was_asked_for),
        cmocka_unit_test(memory_grows_shrinks_and_goes),
        cmocka_unit_test(threads_have_names_and_leave_signals_to_the_main_thread),
        cmocka_unit_test(stop_ends_every_wait),
        cmocka_unit_test(after_stop_every_further_wait_is_refused),
        cmocka_unit_test(stop_while_the_queue_program_runs_unwinds_it),
        cmocka_unit_test(stop_of_one_environment_leaves_another_alone),
        cmocka_unit_test(misuse_is_noticed),
    };

    return cmocka_run_group_tests_name("os/system_env", tests, NULL, NULL);
}
