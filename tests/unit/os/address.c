/* SPDX-License-Identifier: Apache-2.0 */
#include "os/address.h"
#include "lib/test.h"

#include <netinet/in.h>
#include <unistd.h>

static struct pawl_addresses set_of(const char *text)
{
    struct pawl_addresses set;
    struct pawl_error err = PAWL_ERROR_INIT;

    assert_ok(pawl__addresses_parse(pawl__str(text), &set, &err), &err);
    return set;
}

static void a_range_ends_where_its_prefix_says(void **state)
{
    struct pawl_addresses set = set_of("172.16.0.0/12, 192.0.2.7 fc00::/7");

    (void)state;
    assert_true(pawl__addresses_have_text(&set, "172.16.0.0"));
    assert_true(pawl__addresses_have_text(&set, "172.31.255.255"));
    assert_false(pawl__addresses_have_text(&set, "172.32.0.0"));
    assert_false(pawl__addresses_have_text(&set, "172.15.255.255"));
    assert_true(pawl__addresses_have_text(&set, "192.0.2.7"));
    assert_false(pawl__addresses_have_text(&set, "192.0.2.8"));
    assert_true(pawl__addresses_have_text(&set, "fdff::1"));
    assert_false(pawl__addresses_have_text(&set, "fe00::1"));
    assert_false(pawl__addresses_have_text(&set, "localhost"));
}

static void words_stand_for_ranges(void **state)
{
    struct pawl_addresses set = set_of("loopback,private,link-local,multicast");
    static const char *const inside[] = {"127.0.0.1",  "127.9.9.9",       "::1",     "0.0.0.0",
                                         "::",         "10.1.2.3",        "fd00::1", "192.168.1.1",
                                         "100.64.0.1", "169.254.169.254", "fe80::1", "224.0.0.1",
                                         "ff02::1",    "255.255.255.255"};

    (void)state;
    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++)
        assert_true(pawl__addresses_have_text(&set, inside[i]));
    assert_false(pawl__addresses_have_text(&set, "198.51.100.1"));
    assert_false(pawl__addresses_have_text(&set, "2001:db8::1"));
}

static void ipv4_in_the_clothes_of_ipv6_is_seen(void **state)
{
    struct pawl_addresses set = set_of("10.0.0.0/8");

    (void)state;
    assert_true(pawl__addresses_have_text(&set, "::ffff:10.0.0.1"));
    assert_true(pawl__addresses_have_text(&set, "64:ff9b::10.0.0.1"));
    assert_false(pawl__addresses_have_text(&set, "64:ff9b::11.0.0.1"));
}

static void all_of_ipv4_is_not_all_of_ipv6(void **state)
{
    struct pawl_addresses set = set_of("0.0.0.0/0");

    (void)state;
    assert_true(pawl__addresses_have_text(&set, "198.51.100.1"));
    assert_false(pawl__addresses_have_text(&set, "2001:db8::1"));
    set = set_of("::/0");
    assert_true(pawl__addresses_have_text(&set, "2001:db8::1"));
}

static void what_is_no_range_is_named(void **state)
{
    static const char *const wrong[] = {"10.0.0.0/33",  "10.0.0/8", "fc00::/129", "/8",
                                        "10.0.0.0/",    "lopback",  "1.2.3.4/-1", "::1/0x8",
                                        "10.0.0.0/8/8", "300.1.1.1"};
    struct pawl_addresses set = set_of("10.0.0.0/8");

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct pawl_error err = PAWL_ERROR_INIT;

        assert_code(pawl__addresses_parse(pawl__str(wrong[i]), &set, &err), PAWL_EPARSE);
        assert_non_null(strstr(err.msg, wrong[i]));
    }
    assert_int_equal(set.count, 1);
}

static void a_list_has_an_end(void **state)
{
    char text[PAWL_ADDRESSES_MAX * 8 + 16] = "";
    struct pawl_addresses set;

    (void)state;
    for (int i = 0; i <= PAWL_ADDRESSES_MAX; i++)
        memcpy(text + (size_t)i * 8, "1.1.1.1,", 8);
    text[sizeof text - 1] = 0;
    assert_code(pawl__addresses_parse(pawl__str(text), &set, NULL), PAWL_ELIMIT);
}

static void a_denied_address_gets_no_socket(void **state)
{
    struct pawl_addresses set = set_of("loopback"), none = set_of("");
    struct sockaddr_in to = {.sin_family = AF_INET};
    bool denied;
    int fd;

    (void)state;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(
        pawl__addresses_open_socket(&set, AF_INET, SOCK_STREAM, 0, &to, sizeof to, &denied), -1);
    assert_true(denied);
    fd = pawl__addresses_open_socket(&none, AF_INET, SOCK_STREAM, 0, &to, sizeof to, &denied);
    assert_true(fd >= 0);
    assert_false(denied);
    (void)close(fd);
    assert_int_equal(pawl__addresses_open_socket(&set, AF_INET, SOCK_STREAM, 0, &to, 1, &denied),
                     -1);
    assert_true(denied);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_ends_where_its_prefix_says),
        cmocka_unit_test(words_stand_for_ranges),
        cmocka_unit_test(ipv4_in_the_clothes_of_ipv6_is_seen),
        cmocka_unit_test(all_of_ipv4_is_not_all_of_ipv6),
        cmocka_unit_test(what_is_no_range_is_named),
        cmocka_unit_test(a_list_has_an_end),
        cmocka_unit_test(a_denied_address_gets_no_socket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
