/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of the group committer: what goes out together, and what became of it. The life of a
 * commit and the invariants are in committer_private.h.
 */
#include "runtime/commit/committer_private.h"

#include "base/error.h"
#include "resilience/backoff.h"
#include "runtime/commit/commit.h"

#include <string.h>

/* Between tries, while the store answers that it cannot: doubled up to the second. */
#define RETRY_NS_MIN (INT64_C(5) * 1000000)
#define RETRY_NS_MAX (INT64_C(1000) * 1000000)

/* ---- keys: what batches may not share ---------------------------------------------------- */

static bool collides(const struct pawl_committer *c, const struct ticket *ticket)
{
    for (size_t i = 0; i < pawl__ticket_key_count(ticket); i++)
        if (pawl__map_has(&c->busy, pawl__ticket_key(ticket, i)))
            return true;
    return false;
}

static void unlock_keys(struct pawl_committer *c, const struct ticket *ticket)
{
    for (size_t i = 0; i < pawl__ticket_key_count(ticket); i++) {
        const struct ticket *other = pawl__map_remove(&c->busy, pawl__ticket_key(ticket, i));

        PAWL_ASSERT(!other || other == ticket); /* NULL: there was no memory for it */
    }
}

static int lock_keys(struct pawl_committer *c, struct ticket *ticket)
{
    for (size_t i = 0; i < pawl__ticket_key_count(ticket); i++) {
        int status = pawl__map_put(&c->busy, pawl__ticket_key(ticket, i), ticket);

        if (status != PAWL_OK) {
            unlock_keys(c, ticket);
            return status;
        }
    }
    return PAWL_OK;
}

/* ---- results, holding the mutex ---------------------------------------------------------- */

/* Whether a caller waits for it. */
static bool complete_ticket(struct pawl_committer *c, struct ticket *ticket)
{
    if (ticket->state == TICKET_ABANDONED) {
        PAWL_ASSERT(c->bytes >= ticket->arena.held_bytes);
        c->bytes -= ticket->arena.held_bytes;
        pawl__ticket_move(ticket, TICKET_SPARE);
        pawl__ticket_put_away(c, ticket);
        return false;
    }
    pawl__ticket_move(ticket, TICKET_ANSWERED);
    return true;
}

/* Wakes the callers of the tickets that settle_batch() has left in the batch. False: stopped. */
static bool wake_callers(struct sender *sender)
{
    struct pawl_committer *c = sender->committer;
    size_t count = sender->count;

    pawl_mutex_unlock(c->env, c->mutex);
    for (size_t i = 0; i < count; i++)
        pawl_cond_signal(c->env, sender->tickets[i]->answered);
    if (sender->landed && c->options.landed)
        c->options.landed(c->options.landed_ctx);
    sender->landed = false;
    if (pawl_mutex_lock(c->env, c->mutex) != PAWL_OK)
        return false;
    sender->count = 0;
    for (size_t i = 0; i < count; i++) {
        PAWL_ASSERT(sender->tickets[i]->lent);
        sender->tickets[i]->lent = false;
        if (sender->tickets[i]->left)
            pawl__ticket_put_away(c, sender->tickets[i]);
    }
    return true;
}

/* ---- the threads: what to send ----------------------------------------------------------- */

/* Whether it may join the batch as it is now. */
static bool may_join(struct sender *sender, const struct ticket *ticket, int64_t now_ns)
{
    /* Too late: its caller is about to take it off. */
    if (ticket->deadline_ns <= now_ns || collides(sender->committer, ticket))
        return false;
    if (ticket->retry_ns <= now_ns)
        return true;
    if (ticket->retry_ns < sender->wake_ns)
        sender->wake_ns = ticket->retry_ns;
    return false;
}

/* Holding the mutex. Fills the batch with all that can be sent now. */
static void fill_batch(struct sender *sender)
{
    struct pawl_committer *c = sender->committer;
    struct pawl_list_link *link = c->queue.head.next;
    int64_t now_ns = pawl_env_monotonic_ns(c->env);
    bool more = false;

    sender->count = 0;
    sender->wake_ns = PAWL_FOREVER;
    while (link != &c->queue.head && !more) {
        struct ticket *ticket = PAWL_CONTAINER(link, struct ticket, link);

        link = link->next;
        if (!may_join(sender, ticket, now_ns))
            continue;
        /* What is busy goes by itself. */
        if (sender->count == c->options.batch_max ||
            (sender->count > 0 && (ticket->busy_count > 0 || sender->tickets[0]->busy_count > 0))) {
            more = true;
            continue;
        }
        if (lock_keys(c, ticket) != PAWL_OK) {
            pawl__list_remove(&ticket->link);
            ticket->status = pawl__error_code(&ticket->error, PAWL_ENOMEM);
            if (ticket->doubtful)
                ticket->status = pawl__ticket_give_up(ticket, PAWL_ENOMEM, &ticket->error);
            if (complete_ticket(c, ticket))
                pawl_cond_signal(c->env, ticket->answered);
            continue;
        }
        pawl__list_remove(&ticket->link);
        pawl__ticket_move(ticket, TICKET_SENT);
        sender->commits[sender->count] = &ticket->commit;
        sender->tickets[sender->count++] = ticket;
    }
    if (more && c->options.threads > 1)
        pawl_cond_signal(c->env, c->work);
}

/* Holding the mutex, until there is a batch. False: there will be none any more. */
static bool await_batch(struct sender *sender)
{
    struct pawl_committer *c = sender->committer;

    for (;;) {
        int64_t wake_ns = PAWL_FOREVER;

        if (!pawl__list_empty(&c->queue) && !c->leading) {
            if (pawl_env_monotonic_ns(c->env) >= c->retry_at_ns) {
                fill_batch(sender);
                if (sender->count > 0)
                    return true;
                wake_ns = sender->wake_ns;
            } else {
                wake_ns = c->retry_at_ns;
            }
        }
        if (c->ending && c->callers == 0)
            return false;
        if (pawl_cond_wait(c->env, c->work, c->mutex, wake_ns) == PAWL_ESTOPPED)
            return false;
    }
}

/* Not past what any of them waits for. */
static int64_t apply_deadline_ns(const struct sender *sender)
{
    struct pawl_committer *c = sender->committer;
    int64_t now_ns = pawl_env_monotonic_ns(c->env), last_ns = INT64_MIN;
    int64_t most_ns = now_ns > PAWL_FOREVER - c->options.apply_ns_max
                          ? PAWL_FOREVER
                          : now_ns + c->options.apply_ns_max;

    for (size_t i = 0; i < sender->count; i++)
        if (sender->tickets[i]->deadline_ns > last_ns)
            last_ns = sender->tickets[i]->deadline_ns;
    return last_ns < most_ns ? last_ns : most_ns;
}

/* ---- the threads: what became of it ------------------------------------------------------ */

static void set_answer(struct ticket *ticket, int status, const struct pawl_error *error)
{
    ticket->again = false;
    ticket->status = status;
    if (error)
        ticket->error = *error;
    if (status != PAWL_OK && ticket->error.msg[0] == '\0') /* whatever the store said of it */
        (void)pawl__error_code(&ticket->error, status);
}

static void set_again(struct ticket *ticket, int status, const struct pawl_error *error)
{
    ticket->again = true;
    ticket->retry_ns = 0;
    ticket->status = status;
    ticket->error = *error;
}

/* One that was refused after a try whose answer was lost. */
static void judge_refused(struct sender *sender, struct ticket *ticket, int64_t deadline_ns)
{
    struct pawl_error error = PAWL_ERROR_INIT;
    enum pawl_error_class error_class;
    int outcome, status;

    pawl__arena_reset(&sender->arena);
    status = pawl__commit_resolve(sender->committer->store, &ticket->commit, &sender->arena,
                                  deadline_ns, &outcome, &error);
    error_class = pawl_error_class(status);
    if (error_class == PAWL_CLASS_TRANSIENT || error_class == PAWL_CLASS_UNKNOWN) {
        set_again(ticket, status, &error);
    } else if (status != PAWL_OK) {
        (void)pawl__error_set(&error, PAWL_EUNKNOWN,
                              "the commit's answer was lost and it cannot be looked up (%s): read "
                              "before going on",
                              pawl_error_text(status));
        set_answer(ticket, PAWL_EUNKNOWN, &error);
    } else if (outcome == PAWL_EUNKNOWN) {
        (void)pawl__error_set(&error, PAWL_EUNKNOWN,
                              "the commit's answer was lost and others have written since: read "
                              "before going on");
        set_answer(ticket, PAWL_EUNKNOWN, &error);
    } else {
        ticket->applied = true;
        ticket->commit.status = outcome;
        if (outcome == PAWL_OK)
            ticket->commit.error = (struct pawl_error)PAWL_ERROR_INIT;
        set_answer(ticket, outcome, &ticket->commit.error);
    }
}

/* The apply() went well: the answer is each one's own. Memory is not waited for: whoever gives some
 * back may be waiting for this. */
static void judge_one(struct sender *sender, struct ticket *ticket, int64_t deadline_ns)
{
    int status = ticket->commit.status;
    enum pawl_error_class error_class = pawl_error_class(status);

    if (error_class == PAWL_CLASS_UNKNOWN)
        ticket->doubtful = true;
    if (error_class == PAWL_CLASS_UNKNOWN) {
        set_again(ticket, status, &ticket->commit.error);
    } else if (error_class == PAWL_CLASS_TRANSIENT && status != PAWL_ENOMEM) {
        struct pawl_env *env = sender->committer->env;

        set_again(ticket, status, &ticket->commit.error);
        ticket->retry_ns = pawl_env_monotonic_ns(env) +
                           pawl__backoff_ns(env, RETRY_NS_MIN, RETRY_NS_MAX, ticket->busy_count);
        ticket->busy_count++;
    } else if (status != PAWL_OK && ticket->doubtful) {
        judge_refused(sender, ticket, deadline_ns);
    } else {
        ticket->applied = true;
        set_answer(ticket, status, &ticket->commit.error);
    }
}

/* The apply() failed as a whole. */
static void judge_failed(struct ticket *ticket, int status, const struct pawl_error *error)
{
    struct pawl_error unknown = PAWL_ERROR_INIT;
    enum pawl_error_class error_class = pawl_error_class(status);

    if (error_class == PAWL_CLASS_UNKNOWN)
        ticket->doubtful = true;
    if (error_class == PAWL_CLASS_UNKNOWN || error_class == PAWL_CLASS_TRANSIENT) {
        set_again(ticket, status, error);
    } else if (ticket->doubtful || status == PAWL_ESTOPPED) {
        /* A node that stops does not see what its last call did. */
        (void)pawl__error_set(&unknown, PAWL_EUNKNOWN,
                              "the commit was sent and its answer lost: read before going on (%s)",
                              error->msg);
        set_answer(ticket, PAWL_EUNKNOWN, &unknown);
    } else {
        set_answer(ticket, status, error);
    }
}

/*
 * Holding the mutex: hands the results out, and queues the rest again, in front and in order. What
 * stays in the batch are tickets whose callers are still to be woken.
 */
static void settle_batch(struct sender *sender, int status)
{
    struct pawl_committer *c = sender->committer;
    size_t first = sender->count; /* of those to be woken, which gather at the end */
    bool again = false, later = false;

    c->counts.applies++;
    c->counts.unknown += pawl_error_class(status) == PAWL_CLASS_UNKNOWN;
    if (sender->count > c->counts.largest)
        c->counts.largest = sender->count;
    for (size_t i = sender->count; i-- > 0;) {
        struct ticket *ticket = sender->tickets[i];

        unlock_keys(c, ticket);
        if (ticket->again && ticket->state != TICKET_ABANDONED) {
            pawl__ticket_move(ticket, TICKET_QUEUED);
            pawl__list_push_front(&c->queue, &ticket->link);
            again = again || ticket->retry_ns == 0;
            later = later || ticket->retry_ns != 0;
            continue;
        }
        c->counts.commits += !ticket->again && ticket->status == PAWL_OK;
        c->counts.dropped += ticket->applied && ticket->status != PAWL_OK;
        if (complete_ticket(c, ticket)) {
            ticket->lent = true;
            sender->tickets[--first] = ticket;
        } else {
            sender->landed = true;
        }
    }
    sender->count -= first;
    memmove(sender->tickets, sender->tickets + first, sender->count * sizeof(struct ticket *));
    if (again) {
        c->retry_at_ns = pawl_env_monotonic_ns(c->env) +
                         pawl__backoff_ns(c->env, RETRY_NS_MIN, RETRY_NS_MAX, c->failures);
        c->failures++;
    } else {
        c->failures = 0;
    }
    /* Another thread may have nothing to wait for but this. */
    if (later && c->options.threads > 1)
        pawl_cond_signal(c->env, c->work);
    /* Keys that are free now: this thread looks at the queue itself before it waits. */
}

/* Holding the mutex: sends the batch, and settles it. False: stopped, the mutex is not held; the
 * callers learn it from their own waits. */
static bool send_batch(struct sender *sender)
{
    struct pawl_committer *c = sender->committer;
    struct pawl_error error = PAWL_ERROR_INIT;
    int64_t deadline_ns = apply_deadline_ns(sender);
    int status;

    c->sending++;
    pawl_mutex_unlock(c->env, c->mutex);
    status = pawl_store_apply(c->store, sender->commits, sender->count, deadline_ns, &error);
    for (size_t i = 0; i < sender->count; i++) {
        if (status == PAWL_OK)
            judge_one(sender, sender->tickets[i], deadline_ns);
        else
            judge_failed(sender->tickets[i], status, &error);
    }
    if (pawl_mutex_lock(c->env, c->mutex) != PAWL_OK)
        return false;
    c->sending--;
    settle_batch(sender, status);
    return true;
}

void pawl__sender_run(void *arg)
{
    struct sender *sender = arg;
    struct pawl_committer *c = sender->committer;

    if (pawl_mutex_lock(c->env, c->mutex) != PAWL_OK)
        return;
    while (await_batch(sender))
        if (!send_batch(sender) || !wake_callers(sender))
            return;
    pawl_mutex_unlock(c->env, c->mutex);
}

/* ---- a caller who is alone ------------------------------------------------------------------- */

/* Without another caller nothing else is queued; what callers who have left had sent may still be
 * on its way. */
bool pawl__committer_may_lead(const struct pawl_committer *c, const struct ticket *ticket)
{
    int64_t now_ns;

    if (!c->options.leads || c->callers != 1 || c->leading || c->sending > 0)
        return false;
    now_ns = pawl_env_monotonic_ns(c->env);
    return now_ns >= c->retry_at_ns && now_ns < ticket->deadline_ns;
}

bool pawl__committer_lead(struct pawl_committer *c)
{
    struct sender *sender = &c->senders[c->options.threads];

    fill_batch(sender);
    if (sender->count > 0) {
        c->leading = true;
        if (!send_batch(sender))
            return false;
        c->leading = false;
        c->counts.led++;
        /* Its own ticket, whose caller needs no signal. */
        PAWL_ASSERT(sender->count <= 1 && !sender->landed);
        if (sender->count == 1)
            sender->tickets[0]->lent = false;
        sender->count = 0;
    }
    if (!pawl__list_empty(&c->queue))
        pawl_cond_signal(c->env, c->work);
    return true;
}
