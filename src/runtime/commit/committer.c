/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The group committer as its users see it: handing in and waiting, beginning and end. What its
 * threads do is in committer_send.c, the life of a commit and the invariants are in
 * committer_private.h.
 */
#include "runtime/commit/committer_private.h"

#include "base/alloc.h"
#include "base/error.h"
#include "runtime/commit/commit.h"

#define THREADS_MAX 64
#define THREADS_DEFAULT 1
#define BATCH_DEFAULT 128
#define QUEUE_DEFAULT 4096
#define QUEUE_MAX ((uint32_t)1 << 20)
#define APPLY_NS_DEFAULT (INT64_C(10) * 1000000000)

/* A commit is one transaction in memory: beyond this it is a bug of whoever made it. */
#define COMMIT_BYTES_MAX ((size_t)256 << 20)
/* What all tickets hold together; more is PAWL_EBUSY, as too many tickets are. */
#define QUEUE_BYTES_MAX ((size_t)512 << 20)
/* Answers of lookups: rows that one commit writes. */
#define RESOLVE_BYTES_MAX COMMIT_BYTES_MAX

/* Tickets kept for reuse, and what one may hold while it is. */
#define SPARE_TICKETS_MAX 256
#define SPARE_BYTES_MAX ((size_t)64 << 10)

/* ---- tickets ----------------------------------------------------------------------------- */

static struct ticket *ticket_new(struct pawl_env *env)
{
    struct ticket *ticket = pawl__alloc_zeroed(&env->alloc, sizeof *ticket);

    if (!ticket)
        return NULL;
    if (pawl_cond_new(env, "answered", &ticket->answered) != PAWL_OK) {
        pawl__free(&env->alloc, ticket, sizeof *ticket);
        return NULL;
    }
    pawl__arena_init(&ticket->arena, &env->alloc, COMMIT_BYTES_MAX);
    return ticket;
}

static void ticket_free(struct pawl_env *env, struct ticket *ticket)
{
    if (!ticket)
        return;
    pawl__arena_release(&ticket->arena);
    pawl_cond_free(env, ticket->answered);
    pawl__free(&env->alloc, ticket, sizeof *ticket);
}

void pawl__ticket_put_away(struct pawl_committer *c, struct ticket *ticket)
{
    PAWL_ASSERT(!pawl__list_linked(&ticket->link));
    if (c->spare_count >= SPARE_TICKETS_MAX) {
        ticket_free(c->env, ticket);
        return;
    }
    if (ticket->arena.held_bytes > SPARE_BYTES_MAX)
        pawl__arena_release(&ticket->arena);
    else
        pawl__arena_reset(&ticket->arena);
    pawl__list_push_front(&c->spare, &ticket->link);
    c->spare_count++;
}

/* The answer of one that is given up while it waits, by its deadline or a stop. */
int pawl__ticket_give_up(const struct ticket *ticket, int code, struct pawl_error *err)
{
    if (ticket->doubtful)
        return pawl__error_set(err, PAWL_EUNKNOWN,
                               "the commit was sent and its answer lost, and until the deadline "
                               "nobody could be asked: read before going on (%s)",
                               ticket->error.msg);
    if (code == PAWL_ESTOPPED)
        return pawl__error_set(err, code, "the commit was not sent: stopping");
    if (ticket->status != PAWL_OK)
        return pawl__error_set(err, PAWL_EUNAVAILABLE,
                               "the commit could not be sent until its deadline; try again (%s)",
                               ticket->error.msg);
    return pawl__error_set(err, PAWL_ETIMEDOUT,
                           "the commit's deadline came while it waited to be sent; try again");
}

/* ---- the callers ------------------------------------------------------------------------- */

/* Holding the mutex: the caller leaves, with or without a ticket that was counted. */
static void leave_caller(struct pawl_committer *c)
{
    PAWL_ASSERT(c->callers > 0);
    if (--c->callers == 0 && c->ending) {
        pawl_cond_broadcast(c->env, c->idle);
        pawl_cond_broadcast(c->env, c->work);
    }
}

/* Counts the caller in and gives it a ticket, NULL when it has to make one. */
static int enter_caller(struct pawl_committer *c, struct ticket **ticket, struct pawl_error *err)
{
    int status = pawl_mutex_lock(c->env, c->mutex);

    if (status != PAWL_OK)
        return pawl__error_set(err, status, "the commit was not sent: stopping");
    if (c->ending) {
        status = pawl__error_set(err, PAWL_ESTOPPED, "the commit was not sent: ending");
    } else if (c->callers >= c->options.queue_max || c->bytes > QUEUE_BYTES_MAX) {
        status = pawl__error_set(err, PAWL_EBUSY,
                                 "%u commits (%zu bytes) wait for the store already; try later",
                                 c->callers, c->bytes);
    } else {
        *ticket = PAWL_CONTAINER(pawl__list_pop_front(&c->spare), struct ticket, link);
        c->spare_count -= *ticket != NULL;
        c->callers++;
    }
    pawl_mutex_unlock(c->env, c->mutex);
    return status;
}

static int fill_ticket(struct pawl_committer *c, const struct pawl_commit *commit,
                       int64_t deadline_ns, struct ticket **ticket, struct pawl_error *err)
{
    struct ticket *t = *ticket ? *ticket : ticket_new(c->env);
    int status;

    *ticket = t;
    if (!t)
        return pawl__error_code(err, PAWL_ENOMEM);
    t->doubtful = t->again = t->applied = t->lent = t->left = false;
    t->deadline_ns = deadline_ns;
    t->retry_ns = 0;
    t->busy_count = 0;
    t->status = PAWL_OK;
    t->error = (struct pawl_error)PAWL_ERROR_INIT;
    status = pawl__commit_copy(commit, &t->arena, &t->commit);
    if (status == PAWL_ELIMIT)
        return pawl__error_set(err, status, "a commit may have %zu bytes at the most",
                               COMMIT_BYTES_MAX);
    return status == PAWL_OK ? PAWL_OK : pawl__error_code(err, status);
}

/* What the committer did to its copy, for the caller. */
static int collect(const struct ticket *ticket, struct pawl_commit *commit, struct pawl_error *err)
{
    if (ticket->applied) {
        commit->status = ticket->commit.status;
        commit->cancel_requested = ticket->commit.cancel_requested;
        commit->has_mail = ticket->commit.has_mail;
        commit->has_expired = ticket->commit.has_expired;
        commit->error = ticket->commit.error;
    }
    if (ticket->status == PAWL_OK)
        return PAWL_OK;
    if (ticket->error.code == ticket->status)
        return pawl__error_set(err, ticket->status, "%s", ticket->error.msg);
    return pawl__error_set(err, ticket->status, "the commit was dropped: %s",
                           pawl_error_text(ticket->status));
}

/* Holding the mutex. The ticket is not the caller's any more afterwards. */
static int await_answer(struct pawl_committer *c, struct ticket *ticket, struct pawl_commit *commit,
                        struct pawl_error *err)
{
    int status = PAWL_OK;

    while (ticket->state != TICKET_ANSWERED && status == PAWL_OK)
        status = pawl_cond_wait(c->env, ticket->answered, c->mutex, ticket->deadline_ns);
    if (ticket->state == TICKET_ANSWERED) {
        status = collect(ticket, commit, err);
    } else if (ticket->state == TICKET_SENT) {
        pawl__ticket_move(ticket, TICKET_ABANDONED);
        return pawl__error_set(err, PAWL_EUNKNOWN,
                               "the commit was sent and not answered until %s: read before going "
                               "on",
                               status == PAWL_ESTOPPED ? "the stop" : "its deadline");
    } else {
        pawl__list_remove(&ticket->link);
        status = pawl__ticket_give_up(ticket, status, err);
    }
    PAWL_ASSERT(c->bytes >= ticket->arena.held_bytes);
    c->bytes -= ticket->arena.held_bytes;
    pawl__ticket_move(ticket, TICKET_SPARE);
    if (ticket->lent)
        ticket->left = true;
    else
        pawl__ticket_put_away(c, ticket);
    return status;
}

/* Holding the mutex, which it releases: queues the ticket, sends it or has it sent, and waits. */
static int send_ticket(struct pawl_committer *c, struct ticket *ticket, struct pawl_commit *commit,
                       struct pawl_error *err)
{
    int status;

    c->bytes += ticket->arena.held_bytes;
    pawl__ticket_move(ticket, TICKET_QUEUED);
    pawl__list_push_back(&c->queue, &ticket->link);
    if (!pawl__committer_may_lead(c, ticket)) {
        if (!c->leading)
            pawl_cond_signal(c->env, c->work);
    } else if (!pawl__committer_lead(c)) {
        return pawl__error_set(err, PAWL_EUNKNOWN,
                               "the commit was sent and not answered until the stop: read before "
                               "going on");
    }
    status = await_answer(c, ticket, commit, err);
    leave_caller(c);
    pawl_mutex_unlock(c->env, c->mutex);
    return status;
}

int pawl__committer_commit(struct pawl_committer *committer, struct pawl_commit *commit,
                           int64_t deadline_ns, struct pawl_error *err)
{
    struct pawl_committer *c = committer;
    struct ticket *ticket = NULL;
    int status = enter_caller(c, &ticket, err);
    int filled;

    if (status != PAWL_OK)
        return status;
    filled = fill_ticket(c, commit, deadline_ns, &ticket, err);
    status = pawl_mutex_lock(c->env, c->mutex);
    if (status != PAWL_OK) {
        ticket_free(c->env, ticket);
        return filled != PAWL_OK
                   ? filled
                   : pawl__error_set(err, status, "the commit was not sent: stopping");
    }
    if (filled == PAWL_OK)
        return send_ticket(c, ticket, commit, err);
    if (ticket)
        pawl__ticket_put_away(c, ticket);
    leave_caller(c);
    pawl_mutex_unlock(c->env, c->mutex);
    return filled;
}

void pawl__committer_counts(struct pawl_committer *committer, struct pawl_committer_counts *out)
{
    int status = pawl_mutex_lock(committer->env, committer->mutex);

    /* In a stopped environment nobody counts any more. */
    *out = committer->counts;
    if (status == PAWL_OK)
        pawl_mutex_unlock(committer->env, committer->mutex);
}

/* ---- beginning and end ------------------------------------------------------------------- */

static struct pawl_committer_options complete(const struct pawl_committer_options *options)
{
    struct pawl_committer_options all = options ? *options : (struct pawl_committer_options){0};

    if (all.threads == 0)
        all.threads = THREADS_DEFAULT;
    if (all.batch_max == 0)
        all.batch_max = BATCH_DEFAULT;
    if (all.queue_max == 0)
        all.queue_max = QUEUE_DEFAULT;
    if (all.apply_ns_max <= 0)
        all.apply_ns_max = APPLY_NS_DEFAULT;
    return all;
}

/* `runs`: it has a thread. */
static int sender_init(struct pawl_committer *c, struct sender *sender, bool runs,
                       struct pawl_error *err)
{
    const struct pawl_allocator *alloc = &c->env->alloc;
    size_t size_bytes = c->options.batch_max * sizeof(void *);
    int status;

    sender->committer = c;
    pawl__arena_init(&sender->arena, alloc, RESOLVE_BYTES_MAX);
    sender->tickets = pawl__alloc(alloc, size_bytes);
    sender->commits = pawl__alloc(alloc, size_bytes);
    if (!sender->tickets || !sender->commits)
        return pawl__error_code(err, PAWL_ENOMEM);
    if (!runs)
        return PAWL_OK;
    status = pawl_thread_start(c->env, "committer", pawl__sender_run, sender, &sender->thread, err);
    c->started += status == PAWL_OK;
    return status;
}

static void sender_release(struct pawl_committer *c, struct sender *sender)
{
    const struct pawl_allocator *alloc = &c->env->alloc;
    size_t size_bytes = c->options.batch_max * sizeof(void *);

    /* Only a thread or a leader that was stopped has left some. */
    for (size_t i = 0; i < sender->count; i++)
        ticket_free(c->env, sender->tickets[i]);
    pawl__free(alloc, sender->tickets, size_bytes);
    pawl__free(alloc, sender->commits, size_bytes);
    pawl__arena_release(&sender->arena);
}

/* Lets the callers that wait get their results, and stops the threads. */
static void begin_end(struct pawl_committer *c)
{
    int status = pawl_mutex_lock(c->env, c->mutex);

    if (status != PAWL_OK)
        return;
    c->ending = true;
    pawl_cond_broadcast(c->env, c->work);
    while (c->callers > 0 && status == PAWL_OK)
        status = pawl_cond_wait(c->env, c->idle, c->mutex, PAWL_FOREVER);
    pawl_mutex_unlock(c->env, c->mutex);
}

void pawl__committer_free(struct pawl_committer *committer)
{
    struct pawl_committer *c = committer;
    struct pawl_list_link *link;

    if (!c)
        return;
    if (c->started > 0)
        begin_end(c);
    for (uint32_t i = 0; i < c->started; i++)
        pawl_thread_join(c->env, c->senders[i].thread);
    for (uint32_t i = 0; c->senders && i <= c->options.threads; i++)
        if (c->senders[i].committer)
            sender_release(c, &c->senders[i]);
    while ((link = pawl__list_pop_front(&c->spare)))
        ticket_free(c->env, PAWL_CONTAINER(link, struct ticket, link));
    pawl__map_release(&c->busy);
    pawl_cond_free(c->env, c->idle);
    pawl_cond_free(c->env, c->work);
    pawl_mutex_free(c->env, c->mutex);
    pawl__free(&c->env->alloc, c->senders, (c->options.threads + 1) * sizeof *c->senders);
    pawl__free(&c->env->alloc, c, sizeof *c);
}

int pawl__committer_new(struct pawl_env *env, struct pawl_store *store,
                        const struct pawl_committer_options *options, struct pawl_committer **out,
                        struct pawl_error *err)
{
    const struct pawl_committer_options all = complete(options);
    struct pawl_committer *c;
    struct pawl_hash_seed seed;
    int status;

    if (all.threads > THREADS_MAX || all.batch_max > PAWL_STORE_BATCH_MAX ||
        all.queue_max > QUEUE_MAX)
        return pawl__error_set(err, PAWL_EINVAL,
                               "a committer has at most %d threads, %d commits in a batch and %u "
                               "that wait",
                               THREADS_MAX, PAWL_STORE_BATCH_MAX, QUEUE_MAX);
    status = pawl_env_entropy(env, &seed, sizeof seed, err);
    if (status != PAWL_OK)
        return status;
    c = pawl__alloc_zeroed(&env->alloc, sizeof *c);
    if (!c)
        return pawl__error_code(err, PAWL_ENOMEM);
    c->env = env;
    c->store = store;
    c->options = all;
    pawl__list_init(&c->queue);
    pawl__list_init(&c->spare);
    pawl__map_init(&c->busy, &env->alloc, seed);
    c->senders = pawl__alloc_zeroed(&env->alloc, (all.threads + 1) * sizeof *c->senders);
    if (!c->senders || pawl_mutex_new(env, "committer", &c->mutex) != PAWL_OK ||
        pawl_cond_new(env, "work", &c->work) != PAWL_OK ||
        pawl_cond_new(env, "idle", &c->idle) != PAWL_OK)
        status = pawl__error_code(err, PAWL_ENOMEM);
    if (status == PAWL_OK)
        status = sender_init(c, &c->senders[all.threads], false, err);
    for (uint32_t i = 0; i < all.threads && status == PAWL_OK; i++)
        status = sender_init(c, &c->senders[i], true, err);
    if (status != PAWL_OK) {
        pawl__committer_free(c);
        return status;
    }
    *out = c;
    return PAWL_OK;
}
