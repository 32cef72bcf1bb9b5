/* SPDX-License-Identifier: Apache-2.0 */
/* Who sent a request; see client.h. */
#include "http/client.h"

#include "http/private.h"
#include "os/address.h"

static bool is_trusted(const struct pawl_exchange *exchange, const struct pawl_peer *peer)
{
    const struct pawl_addresses *trusted = exchange->server->options.trusted_proxies;

    if (!trusted || trusted->count == 0)
        return false;
    return peer->local || pawl__addresses_have(trusted, peer->address);
}

/* The last field of that name: a proxy adds its own behind others. */
static struct pawl_str last_field(const struct pawl_exchange *exchange, const char *name)
{
    struct pawl_str found = pawl__str_make(NULL, 0), field, value;

    for (size_t i = 0; i < pawl__exchange_field_count(exchange); i++) {
        pawl__exchange_field_at(exchange, i, &field, &value);
        if (pawl__str_equal_nocase(field, pawl__str(name)))
            found = value;
    }
    return found;
}

static struct pawl_str last_item(struct pawl_str list)
{
    size_t at = list.len;

    while (at > 0 && list.ptr[at - 1] != ',')
        at--;
    return pawl__str_trim(pawl__str_slice(list, at, list.len));
}

/* Goes back along the addresses of one field. false: one is not an address, or is not trusted. */
static bool follow(const struct pawl_exchange *exchange, struct pawl_str list,
                   struct pawl_client *client)
{
    size_t end = list.len;

    for (;;) {
        size_t at = end;
        struct pawl_peer peer;

        while (at > 0 && list.ptr[at - 1] != ',')
            at--;
        if (!pawl__peer_parse(pawl__str_trim(pawl__str_slice(list, at, end)), &peer))
            return false;
        client->peer = peer;
        if (!is_trusted(exchange, &peer))
            return false;
        if (at == 0)
            return true;
        end = at - 1;
    }
}

void pawl__exchange_client(const struct pawl_exchange *exchange, struct pawl_client *out)
{
    struct pawl_str scheme, name, value;
    bool goes_on = true;

    *out = (struct pawl_client){.peer = exchange->peer, .secure = exchange->secure};
    if (!is_trusted(exchange, &exchange->peer))
        return;
    for (size_t i = pawl__exchange_field_count(exchange); i > 0 && goes_on; i--) {
        pawl__exchange_field_at(exchange, i - 1, &name, &value);
        if (pawl__str_equal_nocase(name, pawl__str("x-forwarded-for")))
            goes_on = follow(exchange, value, out);
    }
    scheme = last_field(exchange, "x-forwarded-proto");
    if (scheme.ptr)
        out->secure = pawl__str_equal_nocase(last_item(scheme), pawl__str("https"));
}

/* A host as it may stand in a URL: letters, digits, "-._:[]". */
static bool is_host(struct pawl_str host)
{
    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!plain && (c == '\0' || !strchr("-._:[]", c)))
            return false;
    }
    return host.len > 0 && host.len < 256;
}

void pawl__exchange_base_url(const struct pawl_exchange *exchange, struct pawl_buf *out)
{
    const char *url = exchange->server->options.public_url;
    struct pawl_str host = pawl__exchange_field(exchange, "host"), forwarded;
    struct pawl_client client;

    if (url && *url) {
        struct pawl_str text = pawl__str(url);

        while (text.len > 0 && text.ptr[text.len - 1] == '/')
            text.len--;
        pawl__buf_str(out, text);
        return;
    }
    pawl__exchange_client(exchange, &client);
    forwarded = last_field(exchange, "x-forwarded-host");
    if (forwarded.ptr && is_trusted(exchange, &exchange->peer))
        host = last_item(forwarded);
    pawl__buf_text(out, client.secure ? "https://" : "http://");
    pawl__buf_str(out, host.ptr && is_host(host) ? host : pawl__str("localhost"));
}
