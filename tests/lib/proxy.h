/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TCP proxy on loopback between what is tested and a real server, which it can be cut off from:
 *
 *     TEST_PROXY_PASS   bytes go through, at once or after a delay
 *     TEST_PROXY_HANG   connections stay open, no byte goes through in either direction; what was
 *                       held goes on when it passes again
 *     TEST_PROXY_MUTE   what the server says is held, what is said to it goes through: requests
 *                       take effect, their answers do not come
 *     TEST_PROXY_CUT    connections are ended, new ones too
 *
 * One thread of its own. Whatever goes wrong while it starts fails the test.
 */
#ifndef PAWL_TESTS_LIB_PROXY_H
#define PAWL_TESTS_LIB_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum test_proxy_manner { TEST_PROXY_PASS, TEST_PROXY_HANG, TEST_PROXY_MUTE, TEST_PROXY_CUT };

struct test_proxy;

/* To 127.0.0.1:`port`. */
struct test_proxy *test_proxy_start(uint16_t port);
void test_proxy_stop(struct test_proxy *proxy); /* NULL allowed */

/* Where to connect to. */
uint16_t test_proxy_port(const struct test_proxy *proxy);

/* When it returns it is so: nothing passes that should not. */
void test_proxy_set(struct test_proxy *proxy, enum test_proxy_manner manner);
/* What the server says arrives so much later. */
void test_proxy_delay(struct test_proxy *proxy, int delay_ms);
/*
 * From now on each connection passes so many bytes more from its client and holds the rest, as a
 * client does that stands still in the middle of a request. What the server says passes.
 * SIZE_MAX: no limit; what was held goes on.
 */
void test_proxy_limit(struct test_proxy *proxy, size_t bytes);
/* Waits until a connection holds something because of the limit; fails the test after 30 s. */
void test_proxy_await_held(struct test_proxy *proxy);
/* The same for so long at the most; returns whether one does. */
bool test_proxy_holds_within(struct test_proxy *proxy, int timeout_ms);
/* Ends all connections there are now; new ones pass. */
void test_proxy_cut_now(struct test_proxy *proxy);

/* Connections that were made through it so far. */
size_t test_proxy_count(struct test_proxy *proxy);

#endif
