/* SPDX-License-Identifier: Apache-2.0 */
/* TLS: proper clients, and clients with wrong names, old protocols, garbage, half and slow
 * handshakes. The clients are OpenSSL's own. */
#include "http/file.h"
#include "os/memory_network.h"
#include "unit/http/serving.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

struct identity {
    char folder[32], certificate[64], key[64];
};

/* ---- certificates ------------------------------------------------------------------------ */

static void write_pem(const char *path, X509 *certificate, EVP_PKEY *key)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    if (certificate)
        assert_int_equal(PEM_write_X509(file, certificate), 1);
    else
        assert_int_equal(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
    assert_int_equal(fclose(file), 0);
}

/* A certificate of its own for this name. */
static void write_identity(struct identity *identity, const char *name)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    X509_NAME *subject = X509_get_subject_name(certificate);
    X509_EXTENSION *extension;
    char text[64];

    assert_non_null(key);
    (void)snprintf(text, sizeof text, "DNS:%s", name);
    assert_int_equal(X509_set_version(certificate, 2), 1);
    assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1), 1);
    assert_non_null(X509_gmtime_adj(X509_getm_notBefore(certificate), -3600));
    assert_non_null(X509_gmtime_adj(X509_getm_notAfter(certificate), 86400));
    assert_int_equal(X509_set_pubkey(certificate, key), 1);
    assert_int_equal(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                                (const unsigned char *)name, -1, -1, 0),
                     1);
    assert_int_equal(X509_set_issuer_name(certificate, subject), 1);
    extension = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, text);
    assert_non_null(extension);
    assert_int_equal(X509_add_ext(certificate, extension, -1), 1);
    X509_EXTENSION_free(extension);
    assert_true(X509_sign(certificate, key, EVP_sha256()) > 0);
    write_pem(identity->certificate, certificate, NULL);
    write_pem(identity->key, NULL, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

static void make_identity(struct identity *identity, const char *name)
{
    (void)snprintf(identity->folder, sizeof identity->folder, "/tmp/pawl-test-XXXXXX");
    assert_non_null(mkdtemp(identity->folder));
    (void)snprintf(identity->certificate, sizeof identity->certificate, "%s/cert",
                   identity->folder);
    (void)snprintf(identity->key, sizeof identity->key, "%s/key", identity->folder);
    write_identity(identity, name);
}

static void remove_identity(const struct identity *identity)
{
    assert_int_equal(unlink(identity->certificate), 0);
    assert_int_equal(unlink(identity->key), 0);
    assert_int_equal(rmdir(identity->folder), 0);
}

/* ---- server and client ------------------------------------------------------------------- */

static void start_secure(struct serving *s, const struct identity *identity)
{
    assert_ok(pawl__server_new(s->env, &s->options, &s->server, &s->err), &s->err);
    assert_ok(pawl__server_secure(s->server, identity->certificate, identity->key, &s->err),
              &s->err);
    assert_ok(pawl__server_listen(s->server, "127.0.0.1:0", &s->err), &s->err);
    s->port = pawl__server_port(s->server, 0);
    assert_ok(pawl__server_start(s->server, &s->err), &s->err);
}

struct secure_client {
    struct client c; /* its socket, and what it read plainly */
    SSL_CTX *context;
    SSL *ssl;
};

static void secure_open(struct secure_client *c, struct serving *s, const struct identity *trusted,
                        const char *name)
{
    const struct timeval most = {.tv_sec = 120}; /* only a hang takes so long */
    char host[64];

    client_open(&c->c, s);
    c->context = SSL_CTX_new(TLS_client_method());
    assert_non_null(c->context);
    if (trusted) {
        assert_int_equal(SSL_CTX_load_verify_locations(c->context, trusted->certificate, NULL), 1);
        SSL_CTX_set_verify(c->context, SSL_VERIFY_PEER, NULL);
    }
    c->ssl = SSL_new(c->context);
    (void)snprintf(host, sizeof host, "%s", name);
    assert_int_equal(SSL_set_tlsext_host_name(c->ssl, host), 1);
    if (trusted)
        assert_int_equal(SSL_set1_host(c->ssl, name), 1);
    (void)setsockopt(c->c.socket.fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    (void)fcntl(c->c.socket.fd, F_SETFL, 0); /* it may wait */
    assert_int_equal(SSL_set_fd(c->ssl, c->c.socket.fd), 1);
}

static void secure_close(struct secure_client *c)
{
    SSL_free(c->ssl);
    SSL_CTX_free(c->context);
    client_close(&c->c);
    ERR_clear_error();
}

/* Asks, and reads until the response is complete. Its status; 0: the connection ended. */
static int secure_ask(struct secure_client *c, const char *request)
{
    char bytes[16384];
    int got, status;

    assert_int_equal(SSL_write(c->ssl, request, (int)strlen(request)), (int)strlen(request));
    while (answer_length(&c->c, false) == 0) {
        got = SSL_read(c->ssl, bytes, sizeof bytes);
        if (got <= 0)
            return 0;
        pawl__buf_append(&c->c.in, bytes, (size_t)got);
    }
    status = status_of(pawl__buf_peek(&c->c.in));
    pawl__buf_clear(&c->c.in);
    return status;
}

static void assert_serves(struct serving *s, const struct identity *identity)
{
    struct secure_client c;

    secure_open(&c, s, identity, "pawl.test");
    assert_int_equal(SSL_connect(c.ssl), 1);
    assert_int_equal(secure_ask(&c, GET("/hello")), 200);
    secure_close(&c);
}

/* ---- proper clients ---------------------------------------------------------------------- */

static void requests_are_answered_over_tls(void **state)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    struct identity identity;
    struct serving s;

    (void)state;
    make_identity(&identity, "pawl.test");
    serving_open(&s);
    start_secure(&s, &identity);
    for (size_t i = 0; i < 2; i++) {
        struct secure_client c;

        secure_open(&c, &s, &identity, "pawl.test");
        assert_int_equal(SSL_set_min_proto_version(c.ssl, versions[i]), 1);
        assert_int_equal(SSL_set_max_proto_version(c.ssl, versions[i]), 1);
        assert_int_equal(SSL_connect(c.ssl), 1);
        assert_int_equal(SSL_version(c.ssl), versions[i]);
        for (int j = 0; j < 3; j++)
            assert_int_equal(secure_ask(&c, j % 2 ? GET("/loop") : GET("/hello")), 200);
        assert_int_equal(
            secure_ask(&c, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok"), 200);
        assert_int_equal(
            secure_ask(&c, "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), 200);
        assert_int_equal(SSL_read(c.ssl, &(char){0}, 1), 0);
        assert_int_equal(SSL_get_error(c.ssl, 0), SSL_ERROR_ZERO_RETURN); /* a proper end */
        secure_close(&c);
    }
    serving_close(&s);
    remove_identity(&identity);
}

static void large_bodies_go_both_ways_over_tls(void **state)
{
    const size_t size = (size_t)4 << 20;
    struct identity identity;
    struct serving s;
    struct secure_client c;
    char head[128], bytes[16384], *body = malloc(size);
    size_t got = 0;

    (void)state;
    assert_non_null(body);
    for (size_t i = 0; i < size; i++)
        body[i] = (char)('a' + i % 26);
    make_identity(&identity, "pawl.test");
    serving_open(&s);
    start_secure(&s, &identity);
    secure_open(&c, &s, &identity, "pawl.test");
    assert_int_equal(SSL_connect(c.ssl), 1);
    (void)snprintf(head, sizeof head,
                   "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", size);
    assert_true(SSL_write(c.ssl, head, (int)strlen(head)) > 0);
    assert_int_equal(SSL_write(c.ssl, body, (int)size), (int)size);
    while (answer_length(&c.c, false) == 0) {
        int count = SSL_read(c.ssl, bytes, sizeof bytes);

        assert_true(count > 0);
        pawl__buf_append(&c.c.in, bytes, (size_t)count);
    }
    got = c.c.in.len;
    assert_memory_equal(c.c.in.ptr + got - size, body, size);
    pawl__buf_clear(&c.c.in);
    assert_int_equal(secure_ask(&c, GET("/big")), 200);
    secure_close(&c);
    free(body);
    serving_close(&s);
    remove_identity(&identity);
}

static void serve_from_folder(struct pawl_exchange *exchange, void *ctx)
{
    struct serving *s = ctx;

    pawl__exchange_respond_file(exchange, (const char *)(const void *)s->parked[0],
                                pawl__exchange_parameter(exchange, "path"));
}

/* The loop sends these, and waits for a client that reads slowly. */
static void responses_in_pieces_are_sent_over_tls(void **state)
{
    static const struct pawl_route routes[] = {
        {.method = "GET", .path = "/{path*}", .handle = serve_from_folder}};
    const size_t size = (size_t)3 << 20;
    struct identity identity;
    struct serving s;
    struct secure_client c;
    char path[64], bytes[16384], *content = malloc(size);
    FILE *file;

    (void)state;
    assert_non_null(content);
    for (size_t i = 0; i < size; i++)
        content[i] = (char)(i * 31 + i / 257);
    make_identity(&identity, "pawl.test");
    (void)snprintf(path, sizeof path, "%s/big", identity.folder);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    serving_open(&s);
    s.options.routes = routes;
    s.options.route_count = 1;
    s.parked[0] = (struct pawl_exchange *)(void *)identity.folder;
    start_secure(&s, &identity);
    secure_open(&c, &s, &identity, "pawl.test");
    assert_int_equal(SSL_connect(c.ssl), 1);
    for (int round = 0; round < 2; round++) {
        assert_true(SSL_write(c.ssl, GET("/big"), (int)strlen(GET("/big"))) > 0);
        while (answer_length(&c.c, false) == 0) {
            int count = SSL_read(c.ssl, bytes, round == 0 ? 777 : sizeof bytes);

            assert_true(count > 0);
            pawl__buf_append(&c.c.in, bytes, (size_t)count);
        }
        assert_memory_equal(c.c.in.ptr + c.c.in.len - size, content, size);
        pawl__buf_clear(&c.c.in);
    }
    secure_close(&c);
    s.parked[0] = NULL;
    serving_close(&s);
    assert_int_equal(unlink(path), 0);
    free(content);
    remove_identity(&identity);
}

static void only_http_1_1_is_negotiated(void **state)
{
    static const unsigned char both[] = "\x02h2\x08http/1.1", other[] = "\x02h2";
    const unsigned char *chosen;
    unsigned int len;
    struct identity identity;
    struct serving s;
    struct secure_client c;

    (void)state;
    make_identity(&identity, "pawl.test");
    serving_open(&s);
    start_secure(&s, &identity);
    secure_open(&c, &s, &identity, "pawl.test");
    assert_int_equal(SSL_set_alpn_protos(c.ssl, both, sizeof both - 1), 0);
    assert_int_equal(SSL_connect(c.ssl), 1);
    SSL_get0_alpn_selected(c.ssl, &chosen, &len);
    assert_int_equal(len, 8);
    assert_memory_equal(chosen, "http/1.1", 8);
    assert_int_equal(secure_ask(&c, GET("/hello")), 200);
    secure_close(&c);
    secure_open(&c, &s, &identity, "pawl.test");
    assert_int_equal(SSL_set_alpn_protos(c.ssl, other, sizeof other - 1), 0);
    assert_int_not_equal(SSL_connect(c.ssl), 1);
    secure_close(&c);
    serving_close(&s);
    remove_identity(&identity);
}

static void a_new_certificate_is_for_new_connections(void **state)
{
    struct identity first, second;
    struct serving s;
    struct secure_client c;

    (void)state;
    make_identity(&first, "pawl.test");
    make_identity(&second, "pawl.test");
    serving_open(&s);
    start_secure(&s, &first);
    secure_open(&c, &s, &first, "pawl.test");
    assert_int_equal(SSL_connect(c.ssl), 1);
    assert_int_equal(secure_ask(&c, GET("/hello")), 200);
    /* What cannot be used changes nothing. */
    assert_code(pawl__server_secure(s.server, second.certificate, first.key, &s.err), PAWL_EINVAL);
    assert_code(pawl__server_secure(s.server, "/nowhere", first.key, &s.err), PAWL_EINVAL);
    assert_non_null(strstr(s.err.msg, "/nowhere"));
    assert_serves(&s, &first);
    assert_ok(pawl__server_secure(s.server, second.certificate, second.key, &s.err), &s.err);
    assert_serves(&s, &second);
    assert_int_equal(secure_ask(&c, GET("/hello")), 200); /* the old one goes on */
    secure_close(&c);
    serving_close(&s);
    remove_identity(&first);
    remove_identity(&second);
}

/* ---- others ------------------------------------------------------------------------------ */

static void a_client_that_expects_another_name_leaves(void **state)
{
    struct identity identity;
    struct serving s;
    struct secure_client c;

    (void)state;
    make_identity(&identity, "pawl.test");
    serving_open(&s);
    start_secure(&s, &identity);
    secure_open(&c, &s, &identity, "other.test");
    assert_int_not_equal(SSL_connect(c.ssl), 1);
    assert_int_equal(SSL_get_verify_result(c.ssl), X509_V_ERR_HOSTNAME_MISMATCH);
    secure_close(&c);
    await_connections(&s, 0);
    assert_serves(&s, &identity);
    serving_close(&s);
    remove_identity(&identity);
}

static void old_protocols_get_an_alert(void **state)
{
    struct identity identity;
    struct serving s;
    struct secure_client c;

    (void)state;
    make_identity(&identity, "pawl.test");
    serving_open(&s);
    start_secure(&s, &identity);
    secure_open(&c, &s, NULL, "pawl.test");
    SSL_set_security_level(c.ssl, 0);
    assert_int_equal(SSL_set_cipher_list(c.ssl, "ALL:@SECLEVEL=0"), 1);
    assert_int_equal(SSL_set_min_proto_version(c.ssl, TLS1_VERSION), 1);
    assert_int_equal(SSL_set_max_proto_version(c.ssl, TLS1_1_VERSION), 1);
    assert_int_not_equal(SSL_connect(c.ssl), 1);
    assert_int_equal(ERR_GET_REASON(ERR_peek_error()), SSL_R_TLSV1_ALERT_PROTOCOL_VERSION);
    secure_close(&c);
    await_connections(&s, 0);
    assert_serves(&s, &identity);
    serving_close(&s);
    remove_identity(&identity);
}

static void garbage_is_no_handshake(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } inputs[] = {
        {GET("/hello"), sizeof GET("/hello") - 1},
        {"\x16\x03\x01\xff\xff\x01", 6},
        {"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", 10},
        {"\x17\x03\x03\x00\x02hi", 7},
        {"\x80\x2e\x01\x00\x02", 5},
        {"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16},
    };
    struct identity identity;
    struct serving s;

    (void)state;
    make_identity(&identity, "pawl.test");
    serving_open(&s);
    s.options.limits.head_ms = 300; /* some of it could go on */
    start_secure(&s, &identity);
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        struct client c;

        client_open(&c, &s);
        client_send_bytes(&c, inputs[i].bytes, inputs[i].size);
        while (client_read(&c))
            continue;
        assert_null(strstr(pawl__buf_cstr(&c.in), "HTTP/1.1 200"));
        client_close(&c);
    }
    await_connections(&s, 0);
    serving_close(&s);
    serving_open(&s);
    start_secure(&s, &identity);
    assert_serves(&s, &identity);
    serving_close(&s);
    remove_identity(&identity);
}

/* What a client says first, to be cut anywhere. */
static size_t client_hello(char *to, size_t size)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(context);
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    int got;

    SSL_set_bio(ssl, in, out);
    (void)SSL_connect(ssl);
    got = BIO_read(out, to, (int)size);
    SSL_free(ssl);
    SSL_CTX_free(context);
    ERR_clear_error();
    assert_true(got > 0);
    return (size_t)got;
}

static void half_handshakes_leave_nothing(void **state)
{
    struct identity identity;
    struct serving s;
    char hello[2048];
    size_t size = client_hello(hello, sizeof hello);

    (void)state;
    make_identity(&identity, "pawl.test");
    serving_open(&s);
    start_secure(&s, &identity);
    for (size_t at = 0; at <= size; at += 1 + at / 8) {
        struct client c;

        client_open(&c, &s);
        client_send_bytes(&c, hello, at);
        if (at % 2 == 1) {
            const struct linger now = {.l_onoff = 1};

            (void)setsockopt(c.socket.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        }
        client_close(&c);
    }
    assert_serves(&s, &identity);
    await_connections(&s, 0);
    serving_close(&s);
    remove_identity(&identity);
}

static void slow_handshakes_are_dropped(void **state)
{
    struct identity identity;
    struct serving s;
    struct client slow[8];
    char hello[2048];
    size_t size = client_hello(hello, sizeof hello);

    (void)state;
    make_identity(&identity, "pawl.test");
    serving_open(&s);
    s.options.limits.head_ms = 1000;
    start_secure(&s, &identity);
    for (int i = 0; i < 8; i++) {
        client_open(&slow[i], &s);
        client_send_bytes(&slow[i], hello, size * (size_t)i / 8);
    }
    for (int i = 0; i < 8; i++) {
        while (client_read(&slow[i]))
            continue;
        client_close(&slow[i]);
    }
    await_connections(&s, 0);
    serving_close(&s);
    remove_identity(&identity);
}

static void a_cut_connection_is_noticed_while_a_request_is_in_hand(void **state)
{
    struct identity identity;
    struct serving s;
    struct secure_client c;

    (void)state;
    make_identity(&identity, "pawl.test");
    serving_open(&s);
    start_secure(&s, &identity);
    secure_open(&c, &s, &identity, "pawl.test");
    assert_int_equal(SSL_connect(c.ssl), 1);
    assert_true(SSL_write(c.ssl, GET("/park"), (int)strlen(GET("/park"))) > 0);
    await_count(&s, &s.parked_count, 1);
    secure_close(&c);
    await_count(&s, &s.gone_count, 1);
    respond_parked(&s, 0);
    await_connections(&s, 0);
    assert_serves(&s, &identity);
    serving_close(&s);
    remove_identity(&identity);
}

/* ---- on the network in memory ------------------------------------------------------------ */

/* Moves what one side has for the other, so many bytes at a time. Whether anything moved. */
static bool exchange_bytes(struct pawl_memory_network *network, int fd, BIO *in, BIO *out,
                           size_t step)
{
    char bytes[4096];
    size_t got = 0;
    int count = BIO_read(out, bytes, (int)step);
    bool moved = count > 0;

    if (count > 0)
        assert_code(
            pawl__memory_network_send(network, fd, pawl__str_make(bytes, (size_t)count), INT64_MIN),
            PAWL_OK);
    if (pawl__memory_network_receive(network, fd, bytes, step, INT64_MIN, &got) == PAWL_OK &&
        got > 0) {
        assert_int_equal(BIO_write(in, bytes, (int)got), (int)got);
        moved = true;
    }
    return moved;
}

/* A client on that network, which is moved by hand, and the server's loop. */
struct simulated {
    struct pawl_memory_network *network;
    SSL_CTX *context;
    SSL *ssl;
    BIO *in, *out;
    int fd, listener;
    bool asked;
    char text[1024];
};

static void simulated_open(struct simulated *c, struct serving *s, const struct identity *identity,
                           size_t window)
{
    memset(c, 0, sizeof *c);
    serving_open(s);
    assert_code(pawl__memory_network_new(s->env, &c->network), PAWL_OK);
    assert_code(pawl__memory_network_listen(c->network, &c->listener), PAWL_OK);
    s->options.poller = pawl__memory_network_poller(c->network);
    assert_ok(pawl__server_new(s->env, &s->options, &s->server, &s->err), &s->err);
    assert_ok(pawl__server_secure(s->server, identity->certificate, identity->key, &s->err),
              &s->err);
    assert_ok(pawl__server_listen_descriptor(s->server, c->listener, &s->err), &s->err);
    assert_code(pawl__memory_network_connect(c->network, c->listener, &c->fd), PAWL_OK);
    pawl__memory_network_window(c->network, c->fd, window); /* the server is blocked often */
    c->context = SSL_CTX_new(TLS_client_method());
    c->ssl = SSL_new(c->context);
    c->in = BIO_new(BIO_s_mem());
    c->out = BIO_new(BIO_s_mem());
    SSL_set_bio(c->ssl, c->in, c->out);
    SSL_set_connect_state(c->ssl);
}

/* One step of both sides. true: the response is there. */
static bool simulated_step(struct simulated *c, struct serving *s, size_t step)
{
    int64_t deadline_ns = INT64_MIN;
    int got = 0;

    if (SSL_do_handshake(c->ssl) == 1 && !c->asked)
        c->asked = SSL_write(c->ssl, GET("/loop"), (int)strlen(GET("/loop"))) > 0;
    if (c->asked)
        got = SSL_read(c->ssl, c->text, sizeof c->text - 1);
    /* Nothing moved: perhaps a thread is busy with the handshake; it wakes the loop. */
    if (!exchange_bytes(c->network, c->fd, c->in, c->out, step))
        deadline_ns = pawl_env_monotonic_ns(s->env) + 1000000;
    assert_code(pawl__server_turn(s->server, deadline_ns), PAWL_OK);
    return got > 0;
}

static void simulated_close(struct simulated *c, struct serving *s, bool abort)
{
    pawl__memory_network_hang_up(c->network, c->fd, abort);
    for (int i = 0; i < 3; i++)
        assert_code(pawl__server_turn(s->server, INT64_MIN), PAWL_OK);
    SSL_free(c->ssl);
    SSL_CTX_free(c->context);
    pawl__server_close(s->server);
    pawl__memory_network_free(c->network);
    s->server = NULL;
    serving_close(s);
    ERR_clear_error();
}

static void every_cut_of_the_bytes_works(void **state)
{
    static const size_t steps[] = {1, 2, 3, 7, 100, 4096};
    struct identity identity;
    struct serving s;

    (void)state;
    make_identity(&identity, "pawl.test");
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct simulated c;
        int turn = 0;

        simulated_open(&c, &s, &identity, steps[i]);
        while (!simulated_step(&c, &s, steps[i]))
            assert_true(turn++ < 100000);
        assert_memory_equal(c.text, "HTTP/1.1 200 OK", 15);
        simulated_close(&c, &s, false);
    }
    remove_identity(&identity);
}

static int64_t processor_ns(clockid_t clock)
{
    struct timespec used;

    assert_int_equal(clock_gettime(clock, &used), 0);
    return used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
}

/* Many clients that begin together do not keep the loop from others: other threads have the work.
 * The clients cost nothing here, as they all send the same bytes. */
static void handshakes_do_not_run_on_the_loop(void **state)
{
    enum { CLIENTS = 200 };
    struct identity identity;
    struct serving s;
    struct simulated c;
    char hello[2048], byte;
    size_t size = client_hello(hello, sizeof hello), got;
    int64_t loop_ns, all_ns;
    int fds[CLIENTS], begun = 0;

    (void)state;
    make_identity(&identity, "pawl.test");
    simulated_open(&c, &s, &identity, 4096);
    for (int i = 0; i < CLIENTS; i++) {
        assert_code(pawl__memory_network_connect(c.network, c.listener, &fds[i]), PAWL_OK);
        assert_code(
            pawl__memory_network_send(c.network, fds[i], pawl__str_make(hello, size), INT64_MIN),
            PAWL_OK);
    }
    loop_ns = processor_ns(CLOCK_THREAD_CPUTIME_ID);
    all_ns = processor_ns(CLOCK_PROCESS_CPUTIME_ID);
    while (begun < CLIENTS) {
        assert_code(
            pawl__server_turn(s.server, pawl_env_monotonic_ns(s.env) + INT64_C(60000000000)),
            PAWL_OK);
        for (int i = 0; i < CLIENTS; i++) {
            if (fds[i] < 0 || pawl__memory_network_receive(c.network, fds[i], &byte, 1, INT64_MIN,
                                                           &got) != PAWL_OK)
                continue;
            fds[i] = -1;
            begun++;
        }
    }
    loop_ns = processor_ns(CLOCK_THREAD_CPUTIME_ID) - loop_ns;
    all_ns = processor_ns(CLOCK_PROCESS_CPUTIME_ID) - all_ns;
    print_message("%d handshakes: the loop has %lld of %lld us\n", CLIENTS,
                  (long long)loop_ns / 1000, (long long)all_ns / 1000);
    assert_true(loop_ns < all_ns / 2);
    simulated_close(&c, &s, true);
    remove_identity(&identity);
}

static void hang_ups_at_every_step_leave_nothing(void **state)
{
    struct identity identity;
    struct serving s;
    bool complete = false;

    (void)state;
    make_identity(&identity, "pawl.test");
    for (int turns = 0; !complete; turns++) {
        struct simulated c;

        simulated_open(&c, &s, &identity, 97);
        for (int i = 0; i < turns && !complete; i++)
            complete = simulated_step(&c, &s, 97);
        simulated_close(&c, &s, turns % 2 == 0);
    }
    remove_identity(&identity);
}

static int secure_and_close(struct test_allocator *alloc, void *arg)
{
    struct serving *s = arg;
    const struct identity *identity = (const struct identity *)(const void *)s->parked[0];
    struct pawl_allocator before = s->env->alloc;
    struct pawl_server *server;
    int status;

    s->env->alloc = alloc->base;
    status = pawl__server_new(s->env, &s->options, &server, NULL);
    if (status == PAWL_OK) {
        status = pawl__server_secure(server, identity->certificate, identity->key, NULL);
        pawl__server_close(server);
    }
    s->env->alloc = before;
    return status;
}

static void securing_without_memory_fails(void **state)
{
    struct identity identity;
    struct serving s;

    (void)state;
    make_identity(&identity, "pawl.test");
    serving_open(&s);
    s.parked[0] = (struct pawl_exchange *)(void *)&identity;
    test_sweep_allocations(secure_and_close, &s, 100);
    s.parked[0] = NULL;
    serving_close(&s);
    remove_identity(&identity);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_answered_over_tls),
        cmocka_unit_test(large_bodies_go_both_ways_over_tls),
        cmocka_unit_test(responses_in_pieces_are_sent_over_tls),
        cmocka_unit_test(only_http_1_1_is_negotiated),
        cmocka_unit_test(a_new_certificate_is_for_new_connections),
        cmocka_unit_test(a_client_that_expects_another_name_leaves),
        cmocka_unit_test(old_protocols_get_an_alert),
        cmocka_unit_test(garbage_is_no_handshake),
        cmocka_unit_test(half_handshakes_leave_nothing),
        cmocka_unit_test(slow_handshakes_are_dropped),
        cmocka_unit_test(a_cut_connection_is_noticed_while_a_request_is_in_hand),
        cmocka_unit_test(every_cut_of_the_bytes_works),
        cmocka_unit_test(handshakes_do_not_run_on_the_loop),
        cmocka_unit_test(hang_ups_at_every_step_leave_nothing),
        cmocka_unit_test(securing_without_memory_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
