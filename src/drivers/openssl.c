/* SPDX-License-Identifier: Apache-2.0 */
/* TLS by OpenSSL 3, see openssl.h. This is the only file that includes <openssl/...>. */
#include "drivers/openssl.h"

#include "base/alloc.h"
#include "base/error.h"
#include "os/errno.h"
#include "os/library.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdatomic.h>
#include <string.h>

/* The most that goes into one record. */
#define RECORD_BYTES 16384

/* clang-format off */
#define OPENSSL_FUNCTIONS(X)                                                                       \
    X(BIO_ctrl) X(BIO_free) X(BIO_new) X(BIO_read_ex) X(BIO_s_mem) X(BIO_write_ex)                  \
    X(ERR_clear_error) X(ERR_peek_error) X(ERR_reason_error_string)                                \
    X(SSL_CTX_check_private_key) X(SSL_CTX_ctrl) X(SSL_CTX_free) X(SSL_CTX_new)                    \
    X(SSL_CTX_set_alpn_select_cb) X(SSL_CTX_set_cipher_list) X(SSL_CTX_set_default_passwd_cb)      \
    X(SSL_CTX_set_options) X(SSL_CTX_use_PrivateKey_file) X(SSL_CTX_use_certificate_chain_file)    \
    X(SSL_accept) X(SSL_free) X(SSL_get_error) X(SSL_get_version) X(SSL_new) X(SSL_read_ex)        \
    X(SSL_set_bio) X(SSL_shutdown) X(SSL_write_ex) X(TLS_server_method)
/* clang-format on */

#define MEMBER(function) __typeof__(function) *function;
struct openssl_functions {
    OPENSSL_FUNCTIONS(MEMBER)
};
#undef MEMBER

#define SYMBOL(function) PAWL_LIBRARY_SYMBOL(openssl_functions, function),
static const struct pawl_library_symbol symbols[] = {OPENSSL_FUNCTIONS(SYMBOL)};
#undef SYMBOL

/* Those of libcrypto are found too: libssl depends on it. */
static const struct pawl_library_need need = {
    {"libssl.so.3"}, "libssl3", symbols, sizeof symbols / sizeof symbols[0]};

struct pawl_tls_context {
    const struct pawl_allocator *alloc;
    atomic_uint references; /* its owner's, and one of each session */
    struct pawl_library library;
    struct openssl_functions call;
    SSL_CTX *ssl;
};

struct pawl_tls {
    struct pawl_tls_context *context;
    SSL *ssl;
    BIO *in, *out; /* encrypted bytes on their way; they are the SSL's */
    const struct pawl_tls_transport *transport;
    void *ctx;
    bool established;
    bool ended;  /* the transport has no more to read */
    bool broken; /* after an error OpenSSL must not be called for this session any more */
};

/* ---- context ----------------------------------------------------------------------------- */

static void unref(struct pawl_tls_context *context)
{
    if (atomic_fetch_sub(&context->references, 1) > 1)
        return;
    if (context->ssl)
        context->call.SSL_CTX_free(context->ssl);
    pawl__library_close(&context->library);
    pawl__free(context->alloc, context, sizeof *context);
}

void pawl__tls_context_close(struct pawl_tls_context *context)
{
    if (context)
        unref(context);
}

/* "http/1.1", or nothing when the client names no protocol at all. */
static int select_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                           const unsigned char *in, unsigned int in_len, void *arg)
{
    static const unsigned char ours[] = "http/1.1";

    (void)ssl;
    (void)arg;
    for (unsigned int at = 0; at < in_len && in_len - at > in[at]; at += 1U + in[at]) {
        if (in[at] != sizeof ours - 1 || memcmp(in + at + 1, ours, sizeof ours - 1) != 0)
            continue;
        *out = in + at + 1;
        *out_len = in[at];
        return SSL_TLSEXT_ERR_OK;
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* A key with a password cannot be read: nobody is there to type it. */
static int no_password(char *to, int size, int writing, void *arg)
{
    (void)to;
    (void)size;
    (void)writing;
    (void)arg;
    return 0;
}

static int fail(struct pawl_tls_context *context, const char *what, const char *path,
                struct pawl_error *err)
{
    unsigned long code = context->call.ERR_peek_error();
    const char *reason = context->call.ERR_reason_error_string(code);

    context->call.ERR_clear_error();
    if (ERR_SYSTEM_ERROR(code)) {
        (void)pawl__os_error(err, ERR_GET_REASON(code), "%s %s cannot be read", what, path);
        if (err)
            err->code = PAWL_EINVAL;
        return PAWL_EINVAL;
    }
    return pawl__error_set(err, PAWL_EINVAL, "%s %s cannot be used: %s", what, path,
                           reason ? reason : "unknown reason");
}

static int read_files(struct pawl_tls_context *context, const char *certificate_path,
                      const char *key_path, struct pawl_error *err)
{
    const struct openssl_functions *call = &context->call;

    call->ERR_clear_error();
    if (call->SSL_CTX_use_certificate_chain_file(context->ssl, certificate_path) != 1)
        return fail(context, "the certificate", certificate_path, err);
    if (call->SSL_CTX_use_PrivateKey_file(context->ssl, key_path, SSL_FILETYPE_PEM) != 1)
        return fail(context, "the key", key_path, err);
    if (call->SSL_CTX_check_private_key(context->ssl) != 1)
        return fail(context, "the key", key_path, err);
    return PAWL_OK;
}

/*
 * Sessions are resumed by tickets, which cost the server no memory; nothing is renegotiated. Idle
 * sessions keep no buffers.
 */
static bool configure(struct pawl_tls_context *context)
{
    const struct openssl_functions *call = &context->call;
    const long mode = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                      SSL_MODE_RELEASE_BUFFERS;

    (void)call->SSL_CTX_ctrl(context->ssl, SSL_CTRL_MODE, mode, NULL);
    (void)call->SSL_CTX_ctrl(context->ssl, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, NULL);
    (void)call->SSL_CTX_set_options(context->ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                                      SSL_OP_CIPHER_SERVER_PREFERENCE);
    call->SSL_CTX_set_alpn_select_cb(context->ssl, select_protocol, NULL);
    call->SSL_CTX_set_default_passwd_cb(context->ssl, no_password);
    return call->SSL_CTX_ctrl(context->ssl, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL) ==
               1 &&
           call->SSL_CTX_set_cipher_list(context->ssl, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1;
}

int pawl__tls_context_open(const struct pawl_allocator *alloc, const char *certificate_path,
                           const char *key_path, struct pawl_tls_context **out,
                           struct pawl_error *err)
{
    struct pawl_tls_context *context = pawl__alloc_zeroed(alloc, sizeof *context);
    int status;

    if (!context)
        return pawl__error_code(err, PAWL_ENOMEM);
    context->alloc = alloc;
    atomic_init(&context->references, 1);
    status = pawl__library_open(&need, &context->call, &context->library, err);
    if (status == PAWL_OK) {
        context->ssl = context->call.SSL_CTX_new(context->call.TLS_server_method());
        status = context->ssl && configure(context)
                     ? read_files(context, certificate_path, key_path, err)
                     : pawl__error_code(err, PAWL_ENOMEM);
    }
    if (status == PAWL_OK)
        *out = context;
    else
        unref(context);
    return status;
}

/* ---- transport --------------------------------------------------------------------------- */

/* Sends what is encrypted. PAWL_EBUSY: not all. */
int pawl__tls_flush(struct pawl_tls *tls)
{
    const struct openssl_functions *call = &tls->context->call;
    char *bytes = NULL;
    long pending;

    while ((pending = call->BIO_ctrl(tls->out, BIO_CTRL_INFO, 0, &bytes)) > 0) {
        char sent[RECORD_BYTES];
        size_t written = 0, count = (size_t)pending < sizeof sent ? (size_t)pending : sizeof sent;
        int status = tls->transport->write(tls->ctx, pawl__str_make(bytes, count), &written);

        if (status != PAWL_OK)
            return status;
        (void)call->BIO_read_ex(tls->out, sent, written, &count); /* they are not needed again */
    }
    return PAWL_OK;
}

/* Reads what comes. PAWL_EBUSY: nothing has. */
static int fill(struct pawl_tls *tls)
{
    char bytes[RECORD_BYTES];
    size_t got = 0;
    int status = tls->transport->read(tls->ctx, bytes, sizeof bytes, &got);

    if (status != PAWL_OK)
        return status;
    if (got == 0) {
        tls->ended = true;
        return PAWL_EUNAVAILABLE;
    }
    return tls->context->call.BIO_write_ex(tls->in, bytes, got, &got) == 1 ? PAWL_OK
                                                                           : PAWL_EUNAVAILABLE;
}

/*
 * After a call of OpenSSL that returned `result`. PAWL_OK: it may be called again. Alerts are sent
 * in any case.
 */
static int go_on(struct pawl_tls *tls, int result)
{
    int reason = tls->context->call.SSL_get_error(tls->ssl, result);
    int flushed = pawl__tls_flush(tls);

    if (reason == SSL_ERROR_WANT_READ)
        return flushed == PAWL_OK || flushed == PAWL_EBUSY ? fill(tls) : flushed;
    if (reason == SSL_ERROR_ZERO_RETURN)
        tls->ended = true;
    tls->broken = true;
    return PAWL_EUNAVAILABLE;
}

/* ---- sessions ---------------------------------------------------------------------------- */

int pawl__tls_new(struct pawl_tls_context *context, const struct pawl_tls_transport *transport,
                  void *ctx, struct pawl_tls **out)
{
    const struct openssl_functions *call = &context->call;
    struct pawl_tls *tls = pawl__alloc_zeroed(context->alloc, sizeof *tls);

    if (!tls)
        return PAWL_ENOMEM;
    tls->context = context;
    tls->transport = transport;
    tls->ctx = ctx;
    tls->ssl = call->SSL_new(context->ssl);
    tls->in = call->BIO_new(call->BIO_s_mem());
    tls->out = call->BIO_new(call->BIO_s_mem());
    if (!tls->ssl || !tls->in || !tls->out) {
        call->SSL_free(tls->ssl);
        (void)call->BIO_free(tls->in);
        (void)call->BIO_free(tls->out);
        pawl__free(context->alloc, tls, sizeof *tls);
        return PAWL_ENOMEM;
    }
    /* An empty one means that more will come, not an end. */
    (void)call->BIO_ctrl(tls->in, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, NULL);
    call->SSL_set_bio(tls->ssl, tls->in, tls->out);
    (void)atomic_fetch_add(&context->references, 1);
    *out = tls;
    return PAWL_OK;
}

void pawl__tls_free(struct pawl_tls *tls)
{
    struct pawl_tls_context *context;

    if (!tls)
        return;
    context = tls->context;
    context->call.SSL_free(tls->ssl);
    pawl__free(context->alloc, tls, sizeof *tls);
    unref(context);
}

int pawl__tls_handshake(struct pawl_tls *tls)
{
    const struct openssl_functions *call = &tls->context->call;
    int result, status = PAWL_OK;

    if (tls->broken)
        return PAWL_EUNAVAILABLE;
    while (!tls->established && status == PAWL_OK) {
        call->ERR_clear_error();
        result = call->SSL_accept(tls->ssl);
        tls->established = result == 1;
        if (!tls->established)
            status = go_on(tls, result);
    }
    return status == PAWL_OK ? pawl__tls_flush(tls) : status;
}

int pawl__tls_read(struct pawl_tls *tls, void *to, size_t size_bytes, size_t *got)
{
    const struct openssl_functions *call = &tls->context->call;
    int status = PAWL_OK;

    while (status == PAWL_OK && !tls->broken) {
        call->ERR_clear_error();
        if (call->SSL_read_ex(tls->ssl, to, size_bytes, got) == 1)
            return PAWL_OK;
        status = go_on(tls, 0);
    }
    if (!tls->ended)
        return tls->broken ? PAWL_EUNAVAILABLE : status;
    *got = 0;
    return PAWL_OK;
}

/* One record of the two: a small response is not sent as two. */
static int write_record(struct pawl_tls *tls, struct pawl_str first, struct pawl_str second,
                        size_t *written)
{
    char record[RECORD_BYTES];
    size_t begin = first.len < sizeof record ? first.len : sizeof record;
    size_t rest = second.len < sizeof record - begin ? second.len : sizeof record - begin;

    if (begin > 0)
        memcpy(record, first.ptr, begin);
    if (rest > 0)
        memcpy(record + begin, second.ptr, rest);
    tls->context->call.ERR_clear_error();
    if (tls->context->call.SSL_write_ex(tls->ssl, record, begin + rest, written) == 1)
        return PAWL_OK;
    tls->broken = true;
    return PAWL_EUNAVAILABLE;
}

int pawl__tls_write(struct pawl_tls *tls, struct pawl_str first, struct pawl_str second,
                    size_t *written)
{
    int status = tls->broken ? PAWL_EUNAVAILABLE : pawl__tls_flush(tls);

    *written = 0;
    if (status == PAWL_OK && first.len + second.len > 0)
        status = write_record(tls, first, second, written);
    if (status == PAWL_OK)
        status = pawl__tls_flush(tls);
    return status == PAWL_EBUSY && *written > 0 ? PAWL_OK : status;
}

void pawl__tls_end(struct pawl_tls *tls)
{
    if (tls->broken || !tls->established)
        return;
    tls->context->call.ERR_clear_error();
    (void)tls->context->call.SSL_shutdown(tls->ssl);
    tls->broken = true;
    (void)!pawl__tls_flush(tls);
}

const char *pawl__tls_version(const struct pawl_tls *tls)
{
    return tls->context->call.SSL_get_version(tls->ssl);
}
