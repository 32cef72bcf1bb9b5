/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of IP addresses; see address.h. All are kept as IPv6, so that there is one comparison. */
#include "os/address.h"

#include "base/error.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
/* The well-known prefix by which IPv6-only networks reach IPv4. */
static const unsigned char translated[12] = {0, 0x64, 0xff, 0x9b};

static const struct {
    const char *word;
    const char *ranges[6];
} words[] = {
    {"loopback", {"127.0.0.0/8", "0.0.0.0/8", "::1", "::"}},
    {"private", {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"}},
    {"link-local", {"169.254.0.0/16", "fe80::/10"}},
    {"multicast", {"224.0.0.0/4", "255.255.255.255", "ff00::/8"}},
};

/* As 16 bytes; *is_v4 says how many of them were written. */
static bool read_address(struct pawl_str text, unsigned char out[16], bool *is_v4)
{
    char copy[INET6_ADDRSTRLEN];

    if (text.len == 0 || text.len >= sizeof copy || memchr(text.ptr, 0, text.len))
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    *is_v4 = inet_pton(AF_INET, copy, out + 12) == 1;
    if (*is_v4) {
        memcpy(out, mapped, sizeof mapped);
        return true;
    }
    return inet_pton(AF_INET6, copy, out) == 1;
}

/* A number of up to three digits; 255, which no prefix has, if it is not one. */
static uint8_t read_bits(struct pawl_str text)
{
    unsigned value = 0;

    if (text.len == 0 || text.len > 3)
        return 255;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return 255;
        value = value * 10 + (unsigned)(text.ptr[i] - '0');
    }
    return value <= 128 ? (uint8_t)value : 255;
}

static bool read_range(struct pawl_str text, struct pawl_address_range *out)
{
    size_t slash = pawl__str_find(text, '/', 0);
    bool is_v4;

    if (!read_address(pawl__str_slice(text, 0, slash), out->bytes, &is_v4))
        return false;
    out->bits = 128;
    if (slash == SIZE_MAX)
        return true;
    out->bits = read_bits(pawl__str_slice(text, slash + 1, text.len));
    if (out->bits > (is_v4 ? 32 : 128))
        return false;
    if (is_v4)
        out->bits = (uint8_t)(out->bits + 96);
    return true;
}

static int add_range(struct pawl_addresses *set, struct pawl_str text, struct pawl_error *err)
{
    if (set->count == PAWL_ADDRESSES_MAX)
        return pawl__error_set(err, PAWL_ELIMIT, "a list of addresses has at most %d ranges",
                               PAWL_ADDRESSES_MAX);
    if (!read_range(text, &set->ranges[set->count]))
        return pawl__error_set(err, PAWL_EPARSE,
                               "'%.*s' is not a range of addresses: expected 10.0.0.0/8, fc00::/7, "
                               "loopback, private, link-local or multicast",
                               PAWL_STR_ARG(text));
    set->count++;
    return PAWL_OK;
}

static int add_item(struct pawl_addresses *set, struct pawl_str item, struct pawl_error *err)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        int status = PAWL_OK;

        if (!pawl__str_is(item, words[i].word))
            continue;
        for (size_t k = 0; words[i].ranges[k] && status == PAWL_OK; k++)
            status = add_range(set, pawl__str(words[i].ranges[k]), err);
        return status;
    }
    return add_range(set, item, err);
}

static bool is_between(char byte)
{
    return byte == ',' || byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

int pawl__addresses_parse(struct pawl_str text, struct pawl_addresses *out, struct pawl_error *err)
{
    struct pawl_addresses set = {.count = 0};
    size_t from = 0;
    int status = PAWL_OK;

    while (from < text.len && status == PAWL_OK) {
        size_t to = from;

        while (to < text.len && !is_between(text.ptr[to]))
            to++;
        if (to > from)
            status = add_item(&set, pawl__str_slice(text, from, to), err);
        from = to + 1;
    }
    if (status == PAWL_OK)
        *out = set;
    return status;
}

static bool range_has(const struct pawl_address_range *range, const unsigned char address[16])
{
    size_t whole = range->bits / 8;
    unsigned rest = range->bits % 8u;

    if (memcmp(range->bytes, address, whole) != 0)
        return false;
    return rest == 0 || (unsigned)(range->bytes[whole] ^ address[whole]) >> (8u - rest) == 0;
}

static bool set_has(const struct pawl_addresses *set, const unsigned char address[16])
{
    unsigned char plain[16];

    memcpy(plain, address, sizeof plain);
    if (memcmp(plain, translated, sizeof translated) == 0)
        memcpy(plain, mapped, sizeof mapped);
    for (uint32_t i = 0; i < set->count; i++) {
        if (range_has(&set->ranges[i], plain) || range_has(&set->ranges[i], address))
            return true;
    }
    return false;
}

bool pawl__addresses_have_text(const struct pawl_addresses *set, const char *address)
{
    unsigned char bytes[16];
    bool is_v4;

    return read_address(pawl__str(address), bytes, &is_v4) && set_has(set, bytes);
}

bool pawl__addresses_have(const struct pawl_addresses *set, const unsigned char address[16])
{
    return set_has(set, address);
}

bool pawl__address_parse(struct pawl_str text, unsigned char out[16])
{
    bool is_v4;

    return read_address(text, out, &is_v4);
}

/* Whether the set forbids it; true also for an address of unknown kind. */
static bool denies(const struct pawl_addresses *set, const void *sockaddr, uint32_t size_bytes)
{
    unsigned char address[16];
    struct sockaddr_in6 v6;
    struct sockaddr_in v4;
    sa_family_t family;

    if (set->count == 0)
        return false;
    if (size_bytes < sizeof family + offsetof(struct sockaddr, sa_family))
        return true;
    memcpy(&family, (const char *)sockaddr + offsetof(struct sockaddr, sa_family), sizeof family);
    if (family == AF_INET && size_bytes >= sizeof v4) {
        memcpy(&v4, sockaddr, sizeof v4);
        memcpy(address, mapped, sizeof mapped);
        memcpy(address + 12, &v4.sin_addr, 4);
    } else if (family == AF_INET6 && size_bytes >= sizeof v6) {
        memcpy(&v6, sockaddr, sizeof v6);
        memcpy(address, &v6.sin6_addr, 16);
    } else {
        return true;
    }
    return set_has(set, address);
}

int pawl__addresses_open_socket(const struct pawl_addresses *denied_set, int family, int type,
                                int protocol, const void *sockaddr, uint32_t size_bytes,
                                bool *denied)
{
    *denied = denies(denied_set, sockaddr, size_bytes);
    return *denied ? -1 : socket(family, type | SOCK_CLOEXEC, protocol);
}
