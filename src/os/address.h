/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of IP addresses, and sockets that are only opened towards addresses outside of one.
 *
 * A set is written as a list of "10.0.0.0/8", "192.0.2.1", "fc00::/7" and the words
 *
 *     loopback     127.0.0.0/8, ::1, and "this host": 0.0.0.0/8, ::
 *     private      10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7
 *     link-local   169.254/16 (where clouds answer questions about themselves), fe80::/10
 *     multicast    224/4, 255.255.255.255, ff00::/8
 *
 * apart by commas or spaces. An IPv4 address is also meant when it comes dressed as IPv6
 * (::ffff:10.0.0.1, 64:ff9b::10.0.0.1).
 */
#ifndef PAWL_OS_ADDRESS_H
#define PAWL_OS_ADDRESS_H

#include <pawl/error.h>
#include <pawl/str.h>

#include <stdbool.h>
#include <stdint.h>

/* Ranges of one set; a word takes several. */
#define PAWL_ADDRESSES_MAX 256

struct pawl_address_range {
    unsigned char bytes[16]; /* IPv4 as ::ffff:a.b.c.d */
    uint8_t bits;            /* of `bytes` that count, 0 to 128 */
};

struct pawl_addresses {
    struct pawl_address_range ranges[PAWL_ADDRESSES_MAX];
    uint32_t count;
};

/* PAWL_EPARSE names what is not understood; PAWL_ELIMIT. "" is the empty set. */
PAWL_MUST_CHECK int pawl__addresses_parse(struct pawl_str text, struct pawl_addresses *out,
                                          struct pawl_error *err);

/* By a numeric address as text; false if it is not one. */
bool pawl__addresses_have_text(const struct pawl_addresses *set, const char *address);

/* By its 16 bytes, IPv4 as ::ffff:a.b.c.d. */
bool pawl__addresses_have(const struct pawl_addresses *set, const unsigned char address[16]);

/* A numeric address, IPv4 as ::ffff:a.b.c.d. false: it is not one. */
bool pawl__address_parse(struct pawl_str text, unsigned char out[16]);

/*
 * Opens a socket for a client library that is about to connect it to `sockaddr` (a struct sockaddr
 * of `size_bytes`). -1: the system gave none, or (*denied) the set has that address. What is
 * neither IPv4 nor IPv6 is denied when the set is not empty.
 */
int pawl__addresses_open_socket(const struct pawl_addresses *denied_set, int family, int type,
                                int protocol, const void *sockaddr, uint32_t size_bytes,
                                bool *denied);

#endif
