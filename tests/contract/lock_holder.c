/* SPDX-License-Identifier: Apache-2.0 */
/* A process that holds locks as it is told on its standard input; see lock_suite.h. */
#include "base/str.h"
#include "host/lock_uri.h"
#include "locks/locks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pawl_env *env;
static struct pawl_locks *locks;
static struct pawl_lock lock;

static void answer(const char *text)
{
    (void)printf("%s\n", text);
    (void)fflush(stdout);
}

static void take(const char *name, bool wait)
{
    bool tokens = pawl_lock_caps(pawl__locks_provider(locks)) & PAWL_LOCK_CAP_TOKEN;
    uint32_t flags = tokens ? PAWL_LOCK_WANT_TOKEN : 0;
    struct pawl_error err = PAWL_ERROR_INIT;
    char text[32];
    int status;

    do /* what a busy machine does not answer in time is asked again */
        status = wait ? pawl__locks_acquire(locks, pawl__str(name), flags, PAWL_FOREVER, NULL,
                                            &lock, &err)
                      : pawl__locks_try(locks, pawl__str(name), flags, &lock, &err);
    while (status == PAWL_EUNKNOWN || status == PAWL_EUNAVAILABLE);
    if (status == PAWL_OK) {
        (void)snprintf(text, sizeof text, "held %" PRIu64, pawl__lock_token(locks, lock));
        answer(text);
    } else {
        answer(status == PAWL_EBUSY ? "busy" : err.msg);
    }
}

static void give(void)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    int status = pawl__locks_release(locks, lock, &err);

    answer(status == PAWL_OK ? "given" : status == PAWL_ENOTFOUND ? "lost" : err.msg);
}

static void tell_state(void)
{
    static const char *const names[] = {"gone", "held", "suspect", "lost"};

    answer(names[pawl__lock_state(locks, lock)]);
}

int main(int argc, char **argv)
{
    struct pawl_lock_provider_options options = {.ttl_ms =
                                                     argc > 2 ? strtol(argv[2], NULL, 10) : 0};
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock_provider *provider;
    char line[4096];

    if (argc < 3 || pawl_system_env_open(&env, &err) != PAWL_OK ||
        pawl__lock_open_uri(env, pawl__str(argv[1]), &options, &provider, &err) != PAWL_OK ||
        pawl__locks_new(env, provider, NULL, &locks, &err) != PAWL_OK) {
        (void)fprintf(stderr, "lock-holder: %s\n", err.msg);
        return 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "take ", 5) == 0)
            take(line + 5, false);
        else if (strncmp(line, "wait ", 5) == 0)
            take(line + 5, true);
        else if (strcmp(line, "give") == 0)
            give();
        else if (strcmp(line, "state") == 0)
            tell_state();
    }
    _exit(0); /* without a word to anybody */
}
