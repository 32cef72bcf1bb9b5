/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a ticket: which state may follow which, the one function that moves it, and what must
 * hold of all tickets of a committer whenever its mutex is free. The picture is in
 * committer_private.h.
 */
#include "runtime/commit/committer_private.h"

#include "base/error.h"

#include <stdio.h>

#define BIT(state) (1u << (unsigned)(state))

/* clang-format off */
static const unsigned allowed[] = {
    [TICKET_SPARE]     = BIT(TICKET_QUEUED),
    [TICKET_QUEUED]    = BIT(TICKET_SENT) | BIT(TICKET_ANSWERED) | BIT(TICKET_SPARE),
    [TICKET_SENT]      = BIT(TICKET_QUEUED) | BIT(TICKET_ANSWERED) | BIT(TICKET_ABANDONED),
    [TICKET_ABANDONED] = BIT(TICKET_SPARE),
    [TICKET_ANSWERED]  = BIT(TICKET_SPARE),
};
/* clang-format on */

bool pawl__ticket_may_move(enum ticket_state from, enum ticket_state to)
{
    return allowed[from] & BIT(to);
}

void pawl__ticket_move(struct ticket *ticket, enum ticket_state to)
{
    PAWL_ASSERT(pawl__ticket_may_move(ticket->state, to));
    ticket->state = to;
}

size_t pawl__ticket_key_count(const struct ticket *ticket)
{
    return ticket->commit.done_count + (ticket->commit.instance ? 1 : 0);
}

struct pawl_str pawl__ticket_key(const struct ticket *ticket, size_t i)
{
    return i < ticket->commit.done_count ? ticket->commit.done[i] : ticket->commit.instance->id;
}

/* ---- what must hold ---------------------------------------------------------------------- */

static bool report(char *why, size_t size, const char *what)
{
    (void)snprintf(why, size, "committer: %s", what);
    return false;
}

/* Its keys are busy, and with it. */
static bool has_its_keys(const struct pawl_committer *c, const struct ticket *ticket)
{
    for (size_t i = 0; i < pawl__ticket_key_count(ticket); i++)
        if (pawl__map_get(&c->busy, pawl__ticket_key(ticket, i)) != ticket)
            return false;
    return true;
}

static bool is_on_its_way(const struct ticket *ticket)
{
    return ticket->state == TICKET_SENT || ticket->state == TICKET_ABANDONED;
}

static bool check(const struct pawl_committer *c, char *why, size_t size)
{
    const struct ticket *ticket;
    struct pawl_map_entry *entry;
    uint32_t spare = 0;

    PAWL_LIST_FOR_EACH (ticket, &c->queue, link) {
        if (ticket->state != TICKET_QUEUED)
            return report(why, size, "a ticket in the queue is not queued");
    }
    PAWL_LIST_FOR_EACH (ticket, &c->spare, link) {
        spare++;
        if (ticket->state != TICKET_SPARE || ticket->lent)
            return report(why, size, "a spare ticket is in use");
    }
    if (spare != c->spare_count)
        return report(why, size, "spare tickets are not counted");
    PAWL_MAP_FOR_EACH (entry, &c->busy) {
        if (!is_on_its_way(entry->value))
            return report(why, size, "a key is busy with a ticket that is not on its way");
        if (!has_its_keys(c, entry->value))
            return report(why, size, "two tickets on their way share a key");
    }
    return true;
}

bool pawl__committer_check_invariants(const struct pawl_committer *committer,
                                      bool (*is_free)(const struct pawl_mutex *mutex), char *why,
                                      size_t size)
{
    return !is_free(committer->mutex) || check(committer, why, size);
}
