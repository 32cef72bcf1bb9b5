/* SPDX-License-Identifier: Apache-2.0 */
/* Static files with ranges, compression, and who asks, on real sockets. */
#include "http/file.h"
#include "http/client.h"
#include "os/address.h"
#include "unit/http/serving.h"

#include <sys/stat.h>
#include <unistd.h>

#define BIG_FILE_BYTES ((size_t)3 << 20)

struct world {
    struct serving s;
    char root[32];
};

static void serve_file(struct pawl_exchange *exchange, void *ctx)
{
    pawl__exchange_add_field(exchange, "Cache-Control", "no-cache");
    pawl__exchange_respond_file(exchange, ((struct world *)ctx)->root,
                                pawl__exchange_parameter(exchange, "path"));
}

static void serve_text(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_str type = pawl__exchange_parameter(exchange, "type");

    (void)ctx;
    for (int i = 0; i < 1000; i++)
        pawl__buf_text(pawl__exchange_out(exchange), "the same again and again, ");
    pawl__exchange_add_field(exchange, "Content-Type",
                             pawl__str_is(type, "json")    ? "application/json; charset=utf-8"
                             : pawl__str_is(type, "image") ? "image/png"
                                                           : "text/plain");
    if (pawl__str_is(type, "tagged"))
        pawl__exchange_add_field(exchange, "ETag", "\"x\"");
    pawl__exchange_respond(exchange, 200);
}

static void serve_who(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_buf *out = pawl__exchange_out(exchange);
    struct pawl_client client;
    char text[PAWL_PEER_TEXT_SIZE];

    (void)ctx;
    pawl__exchange_client(exchange, &client);
    client.peer.port = client.peer.port < 1024 ? client.peer.port : 9; /* a client's own varies */
    pawl__buf_text(out, pawl__peer_text(&client.peer, text));
    pawl__buf_text(out, client.secure ? " secure " : " plain ");
    pawl__exchange_base_url(exchange, out);
    pawl__exchange_respond(exchange, 200);
}

static const struct pawl_route routes[] = {
    {.method = "GET", .path = "/files/{path*}", .handle = serve_file},
    {.method = "GET", .path = "/text/{type}", .handle = serve_text},
    {.method = "GET", .path = "/who", .handle = serve_who},
};

static void put_file(struct world *w, const char *name, const char *bytes, size_t size)
{
    char path[96];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", w->root, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void path_of(struct world *w, const char *name, char *out, size_t size)
{
    (void)snprintf(out, size, "%s/%s", w->root, name);
}

static void open_world(struct world *w)
{
    char path[96];

    serving_open(&w->s);
    w->s.options.routes = routes;
    w->s.options.route_count = sizeof routes / sizeof routes[0];
    (void)snprintf(w->root, sizeof w->root, "/tmp/pawl-test-XXXXXX");
    assert_non_null(mkdtemp(w->root));
    put_file(w, "a.txt", "0123456789", 10);
    put_file(w, "empty", "", 0);
    put_file(w, ".hidden", "secret", 6);
    path_of(w, "folder", path, sizeof path);
    assert_int_equal(mkdir(path, 0700), 0);
    put_file(w, "folder/page.HTML", "<p>", 3);
    path_of(w, "link", path, sizeof path);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    path_of(w, "pipe", path, sizeof path);
    assert_int_equal(mkfifo(path, 0600), 0);
}

static void close_world(struct world *w)
{
    static const char *const names[] = {"a.txt", "empty", ".hidden", "folder/page.HTML",
                                        "link",  "pipe",  "big.bin"};
    char path[96];

    serving_close(&w->s);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_of(w, names[i], path, sizeof path);
        (void)unlink(path);
    }
    path_of(w, "folder", path, sizeof path);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(w->root), 0);
}

static int ask_with(struct world *w, const char *path, const char *fields, char *text, size_t size)
{
    char request[512];

    (void)snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", path, fields);
    return ask(&w->s, request, text, size);
}

static void files_have_types_and_validators(void **state)
{
    struct world w;
    char text[1024], fields[256], *at;

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    assert_int_equal(ask_with(&w, "/files/a.txt", "", text, sizeof text), 200);
    assert_non_null(strstr(text, "Content-Length: 10\r\n"));
    assert_non_null(strstr(text, "Content-Type: text/plain; charset=utf-8\r\n"));
    assert_non_null(strstr(text, "Cache-Control: no-cache\r\n"));
    assert_non_null(strstr(text, "X-Content-Type-Options: nosniff\r\n"));
    assert_non_null(strstr(text, "\r\n\r\n0123456789"));
    at = strstr(text, "ETag: ");
    assert_non_null(at);
    (void)snprintf(fields, sizeof fields, "If-None-Match: \"zz\", W/%.*s\r\n",
                   (int)strcspn(at + 6, "\r"), at + 6);
    assert_int_equal(ask_with(&w, "/files/a.txt", fields, text, sizeof text), 304);
    assert_null(strstr(text, "Content-Length"));
    at = strstr(text, "Last-Modified: ");
    assert_non_null(at);
    (void)snprintf(fields, sizeof fields, "If-Modified-Since: %.*s\r\n",
                   (int)strcspn(at + 15, "\r"), at + 15);
    assert_int_equal(ask_with(&w, "/files/a.txt", fields, text, sizeof text), 304);
    assert_int_equal(
        ask_with(&w, "/files/a.txt", "If-None-Match: \"other\"\r\n", text, sizeof text), 200);
    assert_int_equal(ask_with(&w, "/files/empty", "", text, sizeof text), 200);
    assert_non_null(strstr(text, "Content-Length: 0\r\n"));
    assert_non_null(strstr(text, "Content-Type: application/octet-stream\r\n"));
    assert_int_equal(ask_with(&w, "/files/folder/page.HTML", "", text, sizeof text), 200);
    assert_non_null(strstr(text, "Content-Type: text/html"));
    close_world(&w);
}

static void nothing_outside_can_be_reached(void **state)
{
    static const char *const paths[] = {
        "/files/",
        "/files/nothing",
        "/files/folder",
        "/files/folder/",
        "/files/.hidden",
        "/files/link",
        "/files/pipe",
        "/files/../a.txt",
        "/files/%2e%2e/%2e%2e/etc/passwd",
        "/files/folder/../../etc/passwd",
        "/files//etc/passwd",
        "/files/%2Fetc%2Fpasswd",
        "/files/folder%2F..%2Fa.txt",
        "/files/./a.txt",
        "/files/a.txt/",
        "/files/a.txt/x",
    };
    struct world w;
    char text[1024];

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        int status = ask_with(&w, paths[i], "", text, sizeof text);

        if (status != 404)
            fail_msg("%s: %d\n%s", paths[i], status, text);
        assert_null(strstr(text, "root:"));
    }
    assert_int_equal(ask_with(&w, "/files/a.txt%00.png", "", text, sizeof text), 400);
    close_world(&w);
}

struct range_case {
    const char *field;
    int status;
    const char *range, *body;
};

static void ranges_are_sent(void **state)
{
    static const struct range_case cases[] = {
        {"bytes=0-3", 206, "bytes 0-3/10", "0123"},
        {"bytes=4-", 206, "bytes 4-9/10", "456789"},
        {"bytes=-3", 206, "bytes 7-9/10", "789"},
        {"bytes=-30", 206, "bytes 0-9/10", "0123456789"},
        {"bytes=9-99999999999999999999999", 206, "bytes 9-9/10", "9"},
        {"bytes=8-10", 206, "bytes 8-9/10", "89"},
        {"bytes=10-", 416, "bytes */10", NULL},
        {"bytes=-0", 416, "bytes */10", NULL},
        {"bytes=3-2", 200, NULL, "0123456789"},
        {"bytes=0-1,3-4", 200, NULL, "0123456789"},
        {"bytes=a-b", 200, NULL, "0123456789"},
        {"bytes=-", 200, NULL, "0123456789"},
        {"lines=1-2", 200, NULL, "0123456789"},
    };
    struct world w;
    char text[1024], fields[256], *at;

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[96];

        (void)snprintf(fields, sizeof fields, "Range: %s\r\n", cases[i].field);
        assert_int_equal(ask_with(&w, "/files/a.txt", fields, text, sizeof text), cases[i].status);
        (void)snprintf(expected, sizeof expected, "Content-Range: %s\r\n",
                       cases[i].range ? cases[i].range : "");
        assert_true((strstr(text, expected) != NULL) == (cases[i].range != NULL));
        if (cases[i].body)
            assert_string_equal(strstr(text, "\r\n\r\n") + 4, cases[i].body);
    }
    assert_int_equal(ask_with(&w, "/files/empty", "Range: bytes=0-\r\n", text, sizeof text), 416);
    at = strstr(text, "ETag: ");
    assert_non_null(at);
    assert_int_equal(ask_with(&w, "/files/a.txt", "Range: bytes=0-1\r\nIf-Range: \"old\"\r\n", text,
                              sizeof text),
                     200);
    at = strstr(text, "ETag: ");
    (void)snprintf(fields, sizeof fields, "Range: bytes=0-1\r\nIf-Range: %.*s\r\n",
                   (int)strcspn(at + 6, "\r"), at + 6);
    assert_int_equal(ask_with(&w, "/files/a.txt", fields, text, sizeof text), 206);
    close_world(&w);
}

static void a_large_file_is_sent_in_pieces(void **state)
{
    struct world w;
    struct client c;
    struct pawl_buf keep;
    struct pawl_str answer;
    char *bytes = malloc(BIG_FILE_BYTES), text[1024];

    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < BIG_FILE_BYTES; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    open_world(&w);
    put_file(&w, "big.bin", bytes, BIG_FILE_BYTES);
    serving_start(&w.s);
    client_open(&c, &w.s);
    pawl__buf_init(&keep, &w.s.alloc.base, BIG_BYTES);
    client_send(&c, "HEAD /files/big.bin HTTP/1.1\r\nHost: x\r\n\r\n");
    answer = client_answer_to(&c, &keep, true);
    assert_int_equal(status_of(answer), 200);
    assert_non_null(strstr(keep.ptr, "Content-Length: 3145728\r\n"));
    client_send(&c, GET("/files/big.bin"));
    answer = client_answer_to(&c, &keep, false);
    assert_int_equal(status_of(answer), 200);
    assert_memory_equal(answer.ptr + answer.len - BIG_FILE_BYTES, bytes, BIG_FILE_BYTES);
    client_send(&c, GET("/files/a.txt"));
    answer = client_answer_to(&c, &keep, false);
    assert_int_equal(status_of(answer), 200);
    client_send(&c, GET("/files/big.bin")); /* and leaves */
    assert_true(client_read(&c));
    client_close(&c);
    pawl__buf_release(&keep);
    assert_int_equal(ask_with(&w, "/files/a.txt", "", text, sizeof text), 200);
    free(bytes);
    close_world(&w);
}

/* ---- compression ------------------------------------------------------------------------- */

static void large_texts_are_compressed_for_those_who_accept_it(void **state)
{
    static const struct {
        const char *path, *accept;
        bool packed, varies;
    } cases[] = {
        {"/text/plain", "Accept-Encoding: gzip\r\n", true, true},
        {"/text/json", "Accept-Encoding: br, gzip;q=0.5\r\n", true, true},
        {"/text/json", "Accept-Encoding: *\r\n", true, true},
        {"/text/json", "", false, true},
        {"/text/json", "Accept-Encoding: gzip;q=0\r\n", false, true},
        {"/text/json", "Accept-Encoding: gzip;q=0, *\r\n", false, true},
        {"/text/json", "Accept-Encoding: br\r\n", false, true},
        {"/text/image", "Accept-Encoding: gzip\r\n", false, false},
        {"/text/tagged", "Accept-Encoding: gzip\r\n", false, false},
        {"/who", "Accept-Encoding: gzip\r\n", false, false},
    };
    struct world w;
    char text[32768];

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(ask_with(&w, cases[i].path, cases[i].accept, text, sizeof text), 200);
        assert_true((strstr(text, "Content-Encoding: gzip\r\n") != NULL) == cases[i].packed);
        assert_true((strstr(text, "Vary: Accept-Encoding\r\n") != NULL) == cases[i].varies);
        if (cases[i].packed)
            assert_true(strtoul(strstr(text, "Content-Length: ") + 16, NULL, 10) < 1000);
        else if (cases[i].varies)
            assert_non_null(strstr(text, "Content-Length: 26000\r\n"));
    }
    close_world(&w);
    open_world(&w);
    w.s.options.limits.compress_bytes_min = 0;
    serving_start(&w.s);
    assert_int_equal(ask_with(&w, "/text/json", "Accept-Encoding: gzip\r\n", text, sizeof text),
                     200);
    assert_null(strstr(text, "Content-Encoding"));
    close_world(&w);
}

static void what_is_compressed_can_be_unpacked(void **state)
{
    struct world w;
    struct client c;
    struct pawl_buf keep;
    struct pawl_str answer, body;
    char path[96], command[256];
    FILE *file;

    (void)state;
    open_world(&w);
    serving_start(&w.s);
    client_open(&c, &w.s);
    pawl__buf_init(&keep, &w.s.alloc.base, BIG_BYTES);
    client_send(&c, "GET /text/plain HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n");
    answer = client_answer_to(&c, &keep, false);
    body = pawl__str_slice(answer, (size_t)(strstr(answer.ptr, "\r\n\r\n") - answer.ptr) + 4,
                           answer.len);
    put_file(&w, "big.bin", body.ptr, body.len);
    path_of(&w, "big.bin", path, sizeof path);
    (void)snprintf(command, sizeof command, "gzip -dc <%s | wc -c", path);
    file = popen(command, "r");
    assert_non_null(file);
    assert_non_null(fgets(command, sizeof command, file));
    assert_int_equal(strtol(command, NULL, 10), 26000);
    assert_int_equal(pclose(file), 0);
    pawl__buf_release(&keep);
    client_close(&c);
    close_world(&w);
}

/* ---- who asks ---------------------------------------------------------------------------- */

struct who_case {
    const char *fields, *seen;
};

static void assert_who(struct world *w, const struct who_case *cases, size_t count)
{
    char text[1024];

    for (size_t i = 0; i < count; i++) {
        assert_int_equal(ask_with(w, "/who", cases[i].fields, text, sizeof text), 200);
        assert_string_equal(strstr(text, "\r\n\r\n") + 4, cases[i].seen);
    }
}

static void proxies_count_if_they_are_trusted(void **state)
{
    static const struct who_case stranger[] = {
        {"", "127.0.0.1:9 plain http://x"},
        {"X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil\r\n",
         "127.0.0.1:9 plain http://x"},
    };
    static const struct who_case trusted[] = {
        {"", "127.0.0.1:9 plain http://x"},
        {"X-Forwarded-For: 192.0.2.7\r\n", "192.0.2.7:0 plain http://x"},
        {"X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\n",
         "192.0.2.7:0 secure https://x"},
        {"X-Forwarded-For: 1.1.1.1, 192.0.2.7, 10.1.2.3\r\n", "192.0.2.7:0 plain http://x"},
        {"X-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 10.0.0.9\r\n", "1.1.1.1:0 plain http://x"},
        {"X-Forwarded-For: 10.0.0.8, 10.0.0.9\r\n", "10.0.0.8:0 plain http://x"},
        {"X-Forwarded-For: 1.1.1.1, nonsense\r\n", "127.0.0.1:9 plain http://x"},
        {"X-Forwarded-For: [2001:db8::1]:443\r\n", "[2001:db8::1]:443 plain http://x"},
        {"X-Forwarded-For: 2001:db8::2\r\n", "[2001:db8::2]:0 plain http://x"},
        {"X-Forwarded-Proto: https\r\nX-Forwarded-Host: pawl.example:8443\r\n",
         "127.0.0.1:9 secure https://pawl.example:8443"},
        {"X-Forwarded-Host: a/b\r\n", "127.0.0.1:9 plain http://localhost"},
    };
    static const struct who_case public[] = {
        {"X-Forwarded-Host: other\r\n", "127.0.0.1:9 plain https://pawl.example/base"},
    };
    struct pawl_addresses proxies;
    struct world w;

    (void)state;
    assert_code(pawl__addresses_parse(pawl__str("loopback 10.0.0.0/8"), &proxies, NULL), PAWL_OK);
    open_world(&w);
    serving_start(&w.s);
    assert_who(&w, stranger, sizeof stranger / sizeof stranger[0]);
    close_world(&w);
    open_world(&w);
    w.s.options.trusted_proxies = &proxies;
    serving_start(&w.s);
    assert_who(&w, trusted, sizeof trusted / sizeof trusted[0]);
    close_world(&w);
    open_world(&w);
    w.s.options.public_url = "https://pawl.example/base/";
    serving_start(&w.s);
    assert_who(&w, public, 1);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_have_types_and_validators),
        cmocka_unit_test(nothing_outside_can_be_reached),
        cmocka_unit_test(ranges_are_sent),
        cmocka_unit_test(a_large_file_is_sent_in_pieces),
        cmocka_unit_test(large_texts_are_compressed_for_those_who_accept_it),
        cmocka_unit_test(what_is_compressed_can_be_unpacked),
        cmocka_unit_test(proxies_count_if_they_are_trusted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
