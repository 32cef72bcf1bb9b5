/* SPDX-License-Identifier: Apache-2.0 */
/* How many connections each address has. Of IPv6 the first half counts: one client has all of it.
 */
#include "base/alloc.h"
#include "http/private.h"

#include <string.h>

static void make_key(const struct pawl_peer *peer, unsigned char key[16])
{
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    memcpy(key, peer->address, 16);
    if (memcmp(key, mapped, sizeof mapped) != 0)
        memset(key + 8, 0, 8);
}

static struct peer_entry **bucket_of(struct peers *peers, const unsigned char key[16])
{
    uint64_t hash = pawl__siphash(peers->seed, pawl__str_make((const char *)key, 16));

    return &peers->buckets[hash % PEER_BUCKETS];
}

int pawl__peers_add(struct peers *peers, const struct pawl_peer *peer, uint32_t max,
                    struct peer_entry **out)
{
    struct peer_entry **bucket, *entry;
    unsigned char key[16];

    *out = NULL;
    if (peer->local || max == 0)
        return PAWL_OK;
    make_key(peer, key);
    bucket = bucket_of(peers, key);
    for (entry = *bucket; entry && memcmp(entry->key, key, sizeof key) != 0;)
        entry = entry->next;
    if (entry && entry->count >= max)
        return PAWL_ELIMIT;
    if (!entry) {
        entry = pawl__alloc_zeroed(peers->alloc, sizeof *entry);
        if (!entry)
            return PAWL_ENOMEM;
        memcpy(entry->key, key, sizeof key);
        entry->next = *bucket;
        *bucket = entry;
    }
    entry->count++;
    *out = entry;
    return PAWL_OK;
}

void pawl__peers_remove(struct peers *peers, struct peer_entry *entry)
{
    struct peer_entry **at;

    if (!entry || --entry->count > 0)
        return;
    for (at = bucket_of(peers, entry->key); *at != entry;)
        at = &(*at)->next;
    *at = entry->next;
    pawl__free(peers->alloc, entry, sizeof *entry);
}
