/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who sent a request, and how it is reached: behind proxies that the server trusts it is what they
 * report (X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host), otherwise what the connection
 * says.
 *
 * Trusted are the addresses of options.trusted_proxies, and, if there are any, whoever comes by a
 * Unix-domain socket. Of a chain of addresses the last one counts that is not trusted: what stands
 * before it anybody can write.
 */
#ifndef PAWL_HTTP_CLIENT_H
#define PAWL_HTTP_CLIENT_H

#include "http/exchange.h"

struct pawl_client {
    struct pawl_peer peer; /* port 0: a proxy reported it without one */
    bool secure;           /* it speaks HTTPS */
};

void pawl__exchange_client(const struct pawl_exchange *exchange, struct pawl_client *out);

/*
 * Appends the URL that leads here, without a slash at its end: options.public_url, or the client's
 * scheme and the Host it named. For links in responses; nothing that decides may depend on a Host.
 */
void pawl__exchange_base_url(const struct pawl_exchange *exchange, struct pawl_buf *out);

#endif
