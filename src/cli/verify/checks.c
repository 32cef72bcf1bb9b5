/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of `pawl verify-cluster` on nodes that are left alone; see verify.h. */
#include "cli/verify/verify.h"

#include "base/error.h"
#include "cli/verify/text.h"
#include "operations/stimuli.h"

#include <stdio.h>

#define RESUMES 40u
#define TIMERS 40u
/* A published version is used everywhere within this, and somewhat later where nodes have no time:
 * so often it is tried whether none of the old version is started any more. */
#define SEEN_NS INT64_C(1000000000)
#define SEEN_TRIES 20
#define TRAFFIC_NS INT64_C(30000000)

/* ---- concurrent resume ----------------------------------------------------------------------- */

/* The bookmark of an event, by the event and by name: nodes and this process want it at once. */
static int resume_twice(struct verify *verify, void *ctx, const struct pawl_instance_row *row,
                        struct pawl_error *err)
{
    struct pawl_op op = verify_op(verify, err);
    struct pawl_run run = {.input = pawl__json_null()};
    struct pawl_send_request request = {.instance_id = row->id};
    struct pawl_instance_result result;
    struct pawl_instance_shown shown;
    struct pawl_send_result sent;
    const struct pawl_json *bookmark;
    char event[VERIFY_ID_SIZE];
    int status = pawl__op_instance_show(&op, row->id, true, &shown);

    (void)ctx;
    (void)snprintf(event, sizeof event, "%s-Go", verify->prefix);
    request.name = pawl__str(event);
    if (status == PAWL_OK)
        status = pawl__op_event_send(&op, &request, &sent);
    if (status != PAWL_OK)
        return status;
    bookmark = pawl__json_at(pawl__json_get_text(&shown.state, "bookmarks"), 0);
    if (!bookmark)
        return PAWL_OK;
    run.bookmark_id = pawl__json_str(pawl__json_get_text(bookmark, "id"));
    status = pawl__op_instance_resume(&op, row->id, &run, false, &result);
    /* A lock service that takes too long is a race that this process lost: the event was accepted,
     * and nodes deliver it. Whether it ran once is looked at below. */
    if (status != PAWL_OK && (pawl_error_class(status) == PAWL_CLASS_TRANSIENT ||
                              pawl_error_class(status) == PAWL_CLASS_UNKNOWN)) {
        *err = (struct pawl_error)PAWL_ERROR_INIT;
        return PAWL_OK;
    }
    return status;
}

static int check_resume(struct verify *verify, struct verify_finding *finding,
                        struct pawl_error *err)
{
    uint64_t wrong = 0;
    int status = verify_define(
        verify, VERIFY_DEFINITION("resume", "", VERIFY_EVENT("e", "@-Go") "," VERIFY_BODY), err);

    for (uint32_t i = 0; i < RESUMES && status == PAWL_OK; i++)
        status = verify_create(verify, "resume", NULL, err);
    if (status == PAWL_OK)
        status = verify_await(verify, "resume", "Suspended", RESUMES, err);
    if (status == PAWL_OK)
        status = verify_each(verify, "resume", resume_twice, NULL, err);
    if (status == PAWL_OK)
        status = verify_await(verify, "resume", "Finished", RESUMES, err);
    if (status == PAWL_OK)
        status = verify_wrong(verify, "resume", 1, &wrong, err);
    verify_say(finding, wrong == 0,
               "%u instances, each resumed by an event and by a call at once: %llu did not run "
               "exactly once",
               RESUMES, (unsigned long long)wrong);
    return status;
}

const struct verify_check verify_resume = {"concurrent resume", check_resume};

/* ---- timers ---------------------------------------------------------------------------------- */

struct lateness {
    int64_t most_us;
};

static int note_lateness(struct verify *verify, void *ctx, const struct pawl_instance_row *row,
                         struct pawl_error *err)
{
    struct lateness *late = ctx;
    int64_t us = row->finished_us - row->created_us - VERIFY_SLEEP_US;

    (void)verify;
    (void)err;
    if (us > late->most_us)
        late->most_us = us;
    return PAWL_OK;
}

static int check_timer(struct verify *verify, struct verify_finding *finding,
                       struct pawl_error *err)
{
    struct lateness late = {0};
    uint64_t wrong = 0;
    int status = verify_define(
        verify, VERIFY_DEFINITION("timer", "", VERIFY_SLEEP("d") "," VERIFY_BODY), err);

    for (uint32_t i = 0; i < TIMERS && status == PAWL_OK; i++)
        status = verify_create(verify, "timer", NULL, err);
    if (status == PAWL_OK)
        status = verify_await(verify, "timer", "Finished", TIMERS, err);
    if (status == PAWL_OK)
        status = verify_wrong(verify, "timer", 1, &wrong, err);
    if (status == PAWL_OK)
        status = verify_each(verify, "timer", note_lateness, &late, err);
    verify_say(finding, wrong == 0,
               "%u timers: %llu did not fire exactly once, the latest ended %lld ms after its time",
               TIMERS, (unsigned long long)wrong, (long long)(late.most_us / 1000));
    return status;
}

const struct verify_check verify_timer = {"timers fire once", check_timer};

/* ---- publishing ------------------------------------------------------------------------------ */

/* Which version of a child is executed is up to what the node that runs its parent knows. */
static int start_parent(struct verify *verify, struct pawl_error *err)
{
    verify->meanwhile_ns = pawl_env_monotonic_ns(verify->session.cli->env) + TRAFFIC_NS;
    return verify_create(verify, "parent", NULL, err);
}

static int is_past(struct verify *verify, void *ctx, bool *done, struct pawl_error *err)
{
    (void)err;
    *done = pawl_env_monotonic_ns(verify->session.cli->env) >= *(const int64_t *)ctx;
    return PAWL_OK;
}

static int keep_starting(struct verify *verify, int64_t span_ns, struct pawl_error *err)
{
    int64_t until_ns = pawl_env_monotonic_ns(verify->session.cli->env) + span_ns;
    int status;

    verify->meanwhile = start_parent;
    status = verify_wait(verify, "time", VERIFY_PATIENCE_NS, is_past, &until_ns, err);
    verify->meanwhile = NULL;
    return status;
}

struct versions {
    int64_t published_us;
    uint64_t old, new;
    int64_t last_old_us; /* after publishing; 0: none */
};

static int note_version(struct verify *verify, void *ctx, const struct pawl_instance_row *row,
                        struct pawl_error *err)
{
    struct versions *seen = ctx;

    (void)verify;
    (void)err;
    if (row->created_us <= seen->published_us)
        return PAWL_OK;
    seen->old += row->version == 1;
    seen->new += row->version == 2;
    if (row->version == 1 && row->created_us - seen->published_us > seen->last_old_us)
        seen->last_old_us = row->created_us - seen->published_us;
    return PAWL_OK;
}

/* Starts children for a while. *quiet: none of those was of the old version. */
static int look_for_old_versions(struct verify *verify, struct versions *seen, bool *quiet,
                                 struct pawl_error *err)
{
    uint64_t parents = 0;
    int64_t began_us = 0;
    int status = verify_now(verify, &began_us, err);

    if (status == PAWL_OK)
        status = keep_starting(verify, SEEN_NS, err);
    if (status == PAWL_OK)
        status = verify_count(verify, "parent", NULL, &parents, err);
    if (status == PAWL_OK)
        status = verify_await(verify, "parent", "Finished", parents, err);
    *seen = (struct versions){.published_us = seen->published_us};
    if (status == PAWL_OK)
        status = verify_each(verify, "child", note_version, seen, err);
    *quiet = status == PAWL_OK && seen->published_us + seen->last_old_us <= began_us;
    return status;
}

static int check_publish(struct verify *verify, struct verify_finding *finding,
                         struct pawl_error *err)
{
    struct versions seen = {0};
    bool quiet = false;
    int status = verify_define(verify, VERIFY_DEFINITION("child", "", VERIFY_BODY), err);

    if (status == PAWL_OK)
        status = verify_define(verify,
                               VERIFY_DEFINITION("parent", "", VERIFY_CHILD("c", "@-child")), err);
    if (status == PAWL_OK)
        status = keep_starting(verify, SEEN_NS, err);
    if (status == PAWL_OK)
        status =
            verify_define(verify, VERIFY_DEFINITION("child", "", VERIFY_BODY "," VERIFY_MORE), err);
    if (status == PAWL_OK)
        status = verify_now(verify, &seen.published_us, err);
    for (int tries = 0; status == PAWL_OK && !quiet && tries < SEEN_TRIES; tries++)
        status = look_for_old_versions(verify, &seen, &quiet, err);
    verify_say(finding, seen.new > 0 && quiet,
               "%llu children started after a new version was published, %llu of the old one, the "
               "last of those %lld ms after",
               (unsigned long long)seen.old + (unsigned long long)seen.new,
               (unsigned long long)seen.old, (long long)(seen.last_old_us / 1000));
    return status;
}

const struct verify_check verify_publish = {"publish seen everywhere", check_publish};
