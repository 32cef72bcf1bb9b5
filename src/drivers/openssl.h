/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's side of TLS 1.2 and 1.3 by OpenSSL, which is loaded when the first context is
 * opened.
 *
 * A context is a certificate with its key; an identity of the server. A session is one connection:
 * it reads and writes encrypted bytes by two functions of its owner's, which never wait, and gives
 * and takes plain ones. Whatever returns PAWL_EBUSY is called again when the connection has become
 * readable or writable.
 *
 * A context is for any thread; a session is used by one at a time. Sessions keep what they need of
 * their context, which may be closed before them. OpenSSL's memory comes from malloc.
 */
#ifndef PAWL_DRIVERS_OPENSSL_H
#define PAWL_DRIVERS_OPENSSL_H

#include "base/str.h"

#include <pawl/ext/env.h>

struct pawl_tls_context;
struct pawl_tls;

/*
 * Reads PEM files: a certificate with those that issued it behind it, and its private key.
 * PAWL_EMISSING: OpenSSL is not installed. PAWL_EINVAL: a file cannot be read or is not what it
 * should be, or the key is not the certificate's. PAWL_ENOMEM. `alloc` is borrowed.
 */
PAWL_MUST_CHECK int pawl__tls_context_open(const struct pawl_allocator *alloc,
                                           const char *certificate_path, const char *key_path,
                                           struct pawl_tls_context **out, struct pawl_error *err);
void pawl__tls_context_close(struct pawl_tls_context *context); /* NULL allowed */

/* Both as those of a poller: PAWL_EBUSY when nothing can be moved now. */
struct pawl_tls_transport {
    int (*read)(void *ctx, void *to, size_t size_bytes, size_t *got);
    int (*write)(void *ctx, struct pawl_str bytes, size_t *written);
};

/* Borrows `transport` and `ctx` for the session's life. PAWL_ENOMEM. */
PAWL_MUST_CHECK int pawl__tls_new(struct pawl_tls_context *context,
                                  const struct pawl_tls_transport *transport, void *ctx,
                                  struct pawl_tls **out);
void pawl__tls_free(struct pawl_tls *tls); /* NULL allowed */

/* PAWL_OK: done. PAWL_EBUSY. PAWL_EUNAVAILABLE: it failed; the client was told why. */
PAWL_MUST_CHECK int pawl__tls_handshake(struct pawl_tls *tls);
/* *got 0: the client has ended, properly or not. PAWL_EBUSY, PAWL_EUNAVAILABLE. */
PAWL_MUST_CHECK int pawl__tls_read(struct pawl_tls *tls, void *to, size_t size_bytes, size_t *got);
/*
 * Takes some of two pieces in a row; they are encrypted and perhaps not sent yet, see
 * pawl__tls_flush(). PAWL_EBUSY: nothing was taken. PAWL_EUNAVAILABLE.
 */
PAWL_MUST_CHECK int pawl__tls_write(struct pawl_tls *tls, struct pawl_str first,
                                    struct pawl_str second, size_t *written);
/* Sends what was taken. PAWL_EBUSY: not all. PAWL_EUNAVAILABLE. */
PAWL_MUST_CHECK int pawl__tls_flush(struct pawl_tls *tls);
/* Says that nothing more will be sent, if it can. */
void pawl__tls_end(struct pawl_tls *tls);

/* "TLSv1.3"; borrowed for the session's life. */
const char *pawl__tls_version(const struct pawl_tls *tls);

#endif
