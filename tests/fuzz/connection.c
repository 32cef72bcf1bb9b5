/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection of the server, without threads: bytes in pieces, cut where the input says, on the
 * network in memory. However they are cut, the server sees the same requests and sends the same
 * answers; what it sends is well formed; afterwards nothing is left.
 *
 * The input: a byte that chooses the cuts, then what the client sends.
 */
#include "fuzz/fuzz.h"
#include "http/server.h"
#include "http/stream.h"
#include "os/memory_network.h"

#include <string.h>

#define SENT_MAX ((size_t)1 << 20)

/* What handlers saw and what the client got, in one run. */
struct run {
    struct pawl_buf seen, received;
};

static void handle(struct pawl_exchange *exchange, void *ctx)
{
    struct run *run = ctx;
    struct pawl_str name, value;

    pawl__buf_str(&run->seen, pawl__exchange_method(exchange));
    pawl__buf_str(&run->seen, pawl__exchange_path(exchange));
    pawl__buf_str(&run->seen, pawl__exchange_query(exchange));
    pawl__buf_str(&run->seen, pawl__exchange_parameter(exchange, "rest"));
    FUZZ_DEMAND(pawl__utf8_valid(pawl__exchange_parameter(exchange, "rest")));
    for (size_t i = 0; i < pawl__exchange_field_count(exchange); i++) {
        pawl__exchange_field_at(exchange, i, &name, &value);
        FUZZ_DEMAND(name.len > 0);
        FUZZ_DEMAND(!memchr(value.ptr, '\n', value.len) && !memchr(value.ptr, '\r', value.len));
        pawl__buf_str(&run->seen, name);
        pawl__buf_byte(&run->seen, ':');
        pawl__buf_str(&run->seen, value);
    }
    pawl__buf_str(&run->seen, pawl__exchange_body(exchange));
    if (pawl__exchange_path(exchange).len % 2) { /* in pieces */
        FUZZ_DEMAND(pawl__exchange_begin(exchange, 200, 6) == PAWL_OK);
        FUZZ_DEMAND(pawl__exchange_write(exchange, pawl__str("ans")) == PAWL_OK);
        FUZZ_DEMAND(pawl__exchange_write(exchange, pawl__str("wer")) == PAWL_OK);
        pawl__exchange_end(exchange, true);
        return;
    }
    pawl__buf_text(pawl__exchange_out(exchange), "answer");
    pawl__exchange_respond(exchange, 200);
}

static const struct pawl_route routes[] = {
    {.method = "GET", .path = "/{rest*}", .handle = handle, .flags = PAWL_ROUTE_ON_LOOP},
    {.method = "POST", .path = "/{rest*}", .handle = handle, .flags = PAWL_ROUTE_ON_LOOP},
    {.method = "PUT", .path = "/a/{rest}", .handle = handle, .flags = PAWL_ROUTE_ON_LOOP},
};

static void receive(struct pawl_memory_network *network, int client, struct run *run)
{
    char bytes[4096];
    size_t got = 1;

    while (pawl__memory_network_receive(network, client, bytes, sizeof bytes, INT64_MIN, &got) ==
               PAWL_OK &&
           got > 0)
        pawl__buf_append(&run->received, bytes, got);
}

/* Turns until some of them bring nothing more. */
static void settle(struct pawl_server *server, struct pawl_memory_network *network, int client,
                   struct run *run)
{
    size_t before;

    do {
        before = run->received.len;
        for (int i = 0; i < 4; i++)
            FUZZ_DEMAND(pawl__server_turn(server, INT64_MIN) == PAWL_OK);
        receive(network, client, run);
    } while (run->received.len > before);
}

static void send_all(struct pawl_server *server, struct pawl_memory_network *network, int client,
                     struct pawl_str bytes, size_t step, struct run *run)
{
    while (bytes.len > 0) {
        struct pawl_str piece = pawl__str_slice(bytes, 0, step);

        if (pawl__memory_network_send(network, client, piece, INT64_MIN) != PAWL_OK)
            break; /* it has hung up, or reads no more */
        bytes = pawl__str_slice(bytes, piece.len, bytes.len);
        settle(server, network, client, run);
    }
    pawl__memory_network_end(network, client);
    settle(server, network, client, run);
}

static void serve(struct pawl_env *env, struct pawl_str bytes, size_t step, struct run *run)
{
    struct pawl_server_options options = {
        .routes = routes, .route_count = 3, .ctx = run, .limits = pawl__server_limits()};
    struct pawl_memory_network *network;
    struct pawl_server *server;
    struct pawl_error err;
    int listener, client;

    pawl__buf_init(&run->seen, &env->alloc, SENT_MAX * 64);
    pawl__buf_init(&run->received, &env->alloc, SENT_MAX * 64);
    FUZZ_DEMAND(pawl__memory_network_new(env, &network) == PAWL_OK);
    FUZZ_DEMAND(pawl__memory_network_listen(network, &listener) == PAWL_OK);
    options.poller = pawl__memory_network_poller(network);
    options.limits.head_bytes_max = 512;
    options.limits.target_bytes_max = 128;
    options.limits.body_bytes_max = 256;
    FUZZ_DEMAND(pawl__server_new(env, &options, &server, &err) == PAWL_OK);
    FUZZ_DEMAND(pawl__server_listen_descriptor(server, listener, &err) == PAWL_OK);
    FUZZ_DEMAND(pawl__memory_network_connect(network, listener, &client) == PAWL_OK);
    pawl__memory_network_window(network, client, SENT_MAX * 64);
    send_all(server, network, client, bytes, step, run);
    pawl__server_close(server);
    pawl__memory_network_free(network);
}

/*
 * Heads of answers, each with its length, one behind the other. Returns where a refusal stands that
 * ends the connection: of a request that is wrong twice, and too large besides, what is found first
 * depends on the cuts.
 */
static size_t check_answers(struct pawl_str all)
{
    size_t at = 0;

    while (at < all.len) {
        struct pawl_str rest = pawl__str_slice(all, at, all.len);
        size_t end = 0, body = 0;
        bool closes = false;

        FUZZ_DEMAND(pawl__str_starts(rest, pawl__str("HTTP/1.1 ")));
        while (end + 4 <= rest.len && memcmp(rest.ptr + end, "\r\n\r\n", 4) != 0)
            end++;
        FUZZ_DEMAND(end + 4 <= rest.len);
        for (size_t i = 0; i + 16 < end; i++) {
            if (memcmp(rest.ptr + i, "Content-Length: ", 16) == 0)
                body = strtoul(rest.ptr + i + 16, NULL, 10);
            closes = closes || memcmp(rest.ptr + i, "Connection: clos", 16) == 0;
        }
        FUZZ_DEMAND(end + 4 + body <= rest.len);
        if (closes && rest.ptr[9] == '4')
            return at;
        at += end + 4 + body;
    }
    return at;
}

/* Answers without what differs from one run to the next: the date. */
static void drop_dates(struct pawl_buf *buf)
{
    for (size_t i = 0; i + 37 <= buf->len; i++) {
        if (memcmp(buf->ptr + i, "\r\nDate: ", 8) == 0)
            memset(buf->ptr + i + 8, '-', 29);
    }
}

static bool same(struct pawl_buf *a, struct pawl_buf *b)
{
    return pawl__str_equal(pawl__buf_peek(a), pawl__buf_peek(b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_env *env;
    struct pawl_error err;
    struct run whole, pieces;
    struct pawl_str bytes = pawl__str_make((const char *)data + 1, size > 0 ? size - 1 : 0);

    if (size < 2 || size > 4096) /* what fits into a window: sent in one piece */
        return 0;
    FUZZ_DEMAND(pawl_system_env_open(&env, &err) == PAWL_OK);
    serve(env, bytes, bytes.len, &whole);
    serve(env, bytes, 1 + data[0] % 16, &pieces);
    FUZZ_DEMAND(same(&whole.seen, &pieces.seen));
    drop_dates(&whole.received);
    drop_dates(&pieces.received);
    if (!memmem(bytes.ptr, bytes.len, "HEAD", 4)) { /* whose answers have no body */
        size_t end = check_answers(pawl__buf_peek(&whole.received));

        FUZZ_DEMAND(end == check_answers(pawl__buf_peek(&pieces.received)));
        FUZZ_DEMAND((end < whole.received.len) == (end < pieces.received.len));
        whole.received.len = pieces.received.len = end;
        FUZZ_DEMAND(same(&whole.received, &pieces.received));
    }
    pawl__buf_release(&whole.seen);
    pawl__buf_release(&whole.received);
    pawl__buf_release(&pieces.seen);
    pawl__buf_release(&pieces.received);
    pawl_system_env_close(env);
    return 0;
}
