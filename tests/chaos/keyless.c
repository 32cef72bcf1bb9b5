/* SPDX-License-Identifier: Apache-2.0 */
/* A sender without keys, see keyless.h. */
#include "chaos/keyless.h"

#include "lib/test.h"

#include <stdlib.h>

#define PAUSE_NS INT64_C(10000000)
#define LOOK_NS INT64_C(200000000)
/* Looks at counts that do not change any more. */
#define STILL_LOOKS 15

static void name_instance(unsigned number, char *out, size_t size)
{
    (void)snprintf(out, size, "keyless-%u", number);
}

void keyless_publish(struct keyless *k)
{
    stage_publish(k->client, COUNTING("keyless"));
    for (unsigned i = 0; i < KEYLESS_INSTANCES; i++) {
        char id[32];

        name_instance(i, id, sizeof id);
        stage_start(k->client, "keyless", id);
    }
}

/* ---- sending ------------------------------------------------------------------------------- */

static bool nap(struct stage *stage, int64_t span_ns)
{
    return pawl_env_sleep_until(stage->env, pawl_env_monotonic_ns(stage->env) + span_ns) == PAWL_OK;
}

/* false: its node is not of use any more. */
static bool send_one(struct keyless *k, struct stage *stage, unsigned number)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_stimulus stimulus = {0};
    char id[32];
    int status;

    name_instance(number, id, sizeof id);
    stimulus.instance_id = pawl__str(id);
    status = pawl__runtime_send_event(stage->runtime, pawl__str("Go"), NULL, &stimulus, NULL,
                                      pawl_env_monotonic_ns(stage->env) + 20 * SECOND, &err);
    if (status == PAWL_OK) {
        k->accepted[number]++;
        return true;
    }
    if (status == PAWL_ESTOPPED) {
        k->refused++;
        return false;
    }
    switch (pawl_error_class(status)) {
    case PAWL_CLASS_UNKNOWN:
        k->unknown[number]++;
        return true;
    case PAWL_CLASS_TRANSIENT:
        k->refused++;
        return true;
    case PAWL_CLASS_CALLER:
    case PAWL_CLASS_DEFINITE:
    case PAWL_CLASS_FATAL:
    case PAWL_CLASS_NONE:
        break;
    }
    k->failure = err;
    k->failure.code = status;
    return false;
}

void keyless_send(void *arg)
{
    struct keyless *k = arg;
    const struct stage_options options = {
        .uri = k->uri, .node = "keyless-sender", .lease_us = k->lease_us};
    struct pawl_env *env = k->client->env;
    bool of_use = false;
    struct stage stage;

    for (unsigned i = 0; !k->enough && k->failure.code == 0; i++) {
        if (!of_use) {
            /* Its way to the store may be closed at the moment. */
            of_use = stage_try_open(&stage, &options) == PAWL_OK;
            k->reopened += of_use;
            if (!of_use) {
                stage_close(&stage);
                if (pawl_env_sleep_until(env, pawl_env_monotonic_ns(env) + LOOK_NS) != PAWL_OK)
                    return;
                continue;
            }
        }
        of_use = send_one(k, &stage, i % KEYLESS_INSTANCES) && nap(&stage, PAUSE_NS);
        if (!of_use)
            stage_close(&stage);
    }
    if (of_use)
        stage_close(&stage);
}

/* ---- checking ------------------------------------------------------------------------------ */

static unsigned counted(struct keyless *k, unsigned number)
{
    char id[32];

    name_instance(number, id, sizeof id);
    pawl__arena_reset(&k->client->arena);
    return (unsigned)strtoul(stage_name(k->client, id), NULL, 10);
}

static unsigned count_all(struct keyless *k, unsigned counts[KEYLESS_INSTANCES], bool *all)
{
    unsigned sum = 0;

    *all = true;
    for (unsigned i = 0; i < KEYLESS_INSTANCES; i++) {
        counts[i] = counted(k, i);
        sum += counts[i];
        *all &= counts[i] >= k->accepted[i];
    }
    return sum;
}

void keyless_check(struct keyless *k, unsigned patience_s)
{
    int64_t give_up_ns = pawl_env_monotonic_ns(k->client->env) + (int64_t)patience_s * SECOND;
    unsigned counts[KEYLESS_INSTANCES], before = 0, still = 0, accepted = 0, unknown = 0, sum;
    bool all = false;

    assert_ok(k->failure.code, &k->failure);
    /* Until nothing more comes: one that is counted twice may be late. */
    while (!all || still < STILL_LOOKS) {
        sum = count_all(k, counts, &all);
        still = sum == before ? still + 1 : 0;
        before = sum;
        if (pawl_env_monotonic_ns(k->client->env) > give_up_ns || !nap(k->client, LOOK_NS))
            break;
    }
    for (unsigned i = 0; i < KEYLESS_INSTANCES; i++) {
        accepted += k->accepted[i];
        unknown += k->unknown[i];
        if (counts[i] < k->accepted[i] || counts[i] > k->accepted[i] + k->unknown[i])
            fail_msg("keyless-%u counted %u events; %u were accepted, %u are unknown", i, counts[i],
                     k->accepted[i], k->unknown[i]);
    }
    print_message("# without keys: %u accepted, %u unknown, %u refused, %u counted; sender opened "
                  "%u times\n",
                  accepted, unknown, k->refused, before, k->reopened);
    assert_true(accepted > 0);
}
