/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of requests that name addresses and parts of files: who a trusted proxy says is there,
 * sets of addresses, Range. A part lies within its file; an address that is written reads as the
 * same.
 */
#include "fuzz/fuzz.h"
#include "http/file.h"
#include "os/address.h"
#include "os/poller.h"

static void read_range(struct pawl_str text, uint64_t size_bytes)
{
    struct pawl_range range;

    if (pawl__range_parse(text, size_bytes, &range) != PAWL_RANGE_PART)
        return;
    FUZZ_DEMAND(range.length > 0 && range.length <= size_bytes);
    FUZZ_DEMAND(range.first <= size_bytes - range.length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pawl_addresses set;
    struct pawl_str text = pawl__str_make((const char *)data, size);
    struct pawl_peer peer, same;
    char written[PAWL_PEER_TEXT_SIZE];
    unsigned char address[16];

    read_range(text, 0);
    read_range(text, 1000);
    read_range(text, UINT64_MAX);
    if (pawl__addresses_parse(text, &set, NULL) == PAWL_OK) {
        FUZZ_DEMAND(set.count <= PAWL_ADDRESSES_MAX);
        for (uint32_t i = 0; i < set.count; i++)
            FUZZ_DEMAND(pawl__addresses_have(&set, set.ranges[i].bytes));
    }
    (void)pawl__address_parse(text, address);
    if (!pawl__peer_parse(text, &peer))
        return 0;
    FUZZ_DEMAND(pawl__peer_parse(pawl__str(pawl__peer_text(&peer, written)), &same));
    FUZZ_DEMAND(memcmp(peer.address, same.address, sizeof peer.address) == 0);
    FUZZ_DEMAND(peer.port == same.port);
    return 0;
}
