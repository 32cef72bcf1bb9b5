/* SPDX-License-Identifier: Apache-2.0 */
/* One request by libcurl: its options, its callbacks, and how its end is reported. */
#include "drivers/curl_private.h"

#include "base/alloc.h"
#include "base/error.h"
#include "os/errno.h"
#include "os/file.h"
#include "os/socket.h"

#include <errno.h>
#include <string.h>

/* Headers of an answer, all together; a server that sends more is not answering. */
#define HEADER_BYTES_MAX ((size_t)1 << 20)
#define HEADERS_MAX 1000u

/* ---- what may be sent -------------------------------------------------------------------- */

/* Of methods and names of headers. */
static bool is_token(struct pawl_str text)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!letter && !(c >= '0' && c <= '9') && (c == 0 || !strchr(others, c)))
            return false;
    }
    return text.len > 0;
}

/* A line end would begin another header. */
static bool is_line(struct pawl_str text)
{
    return text.len == 0 || (!memchr(text.ptr, '\r', text.len) &&
                             !memchr(text.ptr, '\n', text.len) && !memchr(text.ptr, 0, text.len));
}

/*
 * What says where a message ends, and what becomes of its connection, is the driver's alone. With
 * one of these a request could hide another in its body, whose answer the next request on the
 * connection would get.
 */
static bool is_framing(struct pawl_str name)
{
    static const char *const names[] = {
        "Connection", "Content-Length", "Keep-Alive",        "Proxy-Connection",
        "TE",         "Trailer",        "Transfer-Encoding", "Upgrade"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (pawl__str_equal_nocase(name, pawl__str(names[i])))
            return true;
    return false;
}

static int check(const struct pawl_http_request *request, struct pawl_error *err)
{
    if (!is_token(request->method))
        return pawl__error_set(err, PAWL_EINVAL, "'%.*s' is not an HTTP method",
                               PAWL_STR_ARG(request->method));
    if (request->url.len == 0 || !is_line(request->url))
        return pawl__error_set(err, PAWL_EINVAL, "'%.*s' is no URL", PAWL_STR_ARG(request->url));
    for (size_t i = 0; i < request->header_count; i++) {
        if (!is_token(request->headers[i].name) || !is_line(request->headers[i].value))
            return pawl__error_set(err, PAWL_EINVAL,
                                   "the header '%.*s' has a name or a value that HTTP does not "
                                   "allow",
                                   PAWL_STR_ARG(request->headers[i].name));
        if (is_framing(request->headers[i].name))
            return pawl__error_set(err, PAWL_EINVAL,
                                   "the header '%.*s' cannot be set: it follows from the body and "
                                   "the connection; leave it out",
                                   PAWL_STR_ARG(request->headers[i].name));
    }
    return PAWL_OK;
}

/* ---- headers that go out ----------------------------------------------------------------- */

static bool add_line(struct curl_transfer *transfer, const char *line)
{
    struct curl_slist *list =
        line ? transfer->driver->call.curl_slist_append(transfer->headers_out, line) : NULL;

    if (list)
        transfer->headers_out = list;
    return list != NULL;
}

static bool has_header(const struct pawl_http_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (pawl__str_equal_nocase(request->headers[i].name, pawl__str(name)))
            return true;
    }
    return false;
}

/* libcurl has headers of its own for bodies, which nobody asked for: "Name:" takes them away. */
static bool add_headers(struct curl_transfer *transfer, const struct pawl_http_request *request)
{
    bool ok = has_header(request, "Expect") || add_line(transfer, "Expect:");

    if (!has_header(request, "Content-Type"))
        ok = ok && add_line(transfer, "Content-Type:");
    for (size_t i = 0; i < request->header_count && ok; i++) {
        const struct pawl_http_header *header = &request->headers[i];
        /* An empty value needs the other spelling, or the header is left out. */
        const char *line =
            header->value.len > 0
                ? pawl__arena_printf(&transfer->arena, "%.*s: %.*s", PAWL_STR_ARG(header->name),
                                     PAWL_STR_ARG(header->value))
                : pawl__arena_printf(&transfer->arena, "%.*s;", PAWL_STR_ARG(header->name));

        ok = add_line(transfer, line);
    }
    return ok;
}

/* ---- life -------------------------------------------------------------------------------- */

static bool copy_request(struct curl_transfer *transfer, const struct pawl_http_request *request)
{
    struct pawl_arena *arena = &transfer->arena;

    transfer->method = pawl__arena_str(arena, request->method).ptr;
    transfer->url = pawl__arena_str(arena, request->url).ptr;
    transfer->body = pawl__arena_str(arena, request->body);
    transfer->has_body = request->has_body;
    transfer->scope = pawl__arena_str(arena, request->scope);
    return transfer->method && transfer->url && transfer->body.ptr && transfer->scope.ptr &&
           add_headers(transfer, request);
}

int pawl__curl_transfer_new(struct curl_driver *driver, const struct pawl_http_request *request,
                            struct curl_transfer **out, struct pawl_error *err)
{
    const struct pawl_allocator *alloc = &driver->env->alloc;
    struct curl_transfer *transfer;
    int status = check(request, err);

    if (status != PAWL_OK)
        return status;
    transfer = pawl__alloc_zeroed(alloc, sizeof *transfer);
    if (!transfer)
        return pawl__error_code(err, PAWL_ENOMEM);
    transfer->driver = driver;
    pawl__arena_init(&transfer->arena, alloc, SIZE_MAX / 2);
    pawl__buf_init(&transfer->body_in, alloc, driver->options.response_bytes_max);
    if (!copy_request(transfer, request)) {
        pawl__curl_transfer_free(transfer);
        return pawl__error_code(err, PAWL_ENOMEM);
    }
    *out = transfer;
    return PAWL_OK;
}

void pawl__curl_transfer_free(struct curl_transfer *transfer)
{
    const struct curl_functions *call = &transfer->driver->call;
    const struct pawl_allocator *alloc = &transfer->driver->env->alloc;

    if (transfer->easy)
        call->curl_easy_cleanup(transfer->easy);
    if (transfer->pool)
        pawl__curl_pool_forget_sockets(transfer->pool, transfer);
    pawl__curl_pool_release(transfer->pool);
    call->curl_slist_free_all(transfer->headers_out); /* NULL allowed */
    pawl__buf_release(&transfer->body_in);
    pawl__arena_release(&transfer->arena);
    pawl__free(alloc, transfer, sizeof *transfer);
}

/* ---- what libcurl calls back for --------------------------------------------------------- */

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx)
{
    struct curl_transfer *transfer = ctx;
    size_t len = size * count;

    pawl__buf_append(&transfer->body_in, bytes, len);
    if (transfer->body_in.status == PAWL_OK)
        return len;
    transfer->is_too_large = transfer->body_in.status == PAWL_ELIMIT;
    return len + 1; /* "not all was taken": ends it, also for 0 bytes */
}

static bool add_header(struct curl_transfer *transfer, struct pawl_str name, struct pawl_str value)
{
    if (transfer->header_count == transfer->header_cap) {
        size_t cap = transfer->header_cap ? transfer->header_cap * 2 : 16;
        struct pawl_http_header *grown =
            pawl__arena_alloc_array(&transfer->arena, cap, sizeof *grown);

        if (!grown)
            return false;
        if (transfer->header_count > 0)
            memcpy(grown, transfer->headers, transfer->header_count * sizeof *grown);
        transfer->headers = grown;
        transfer->header_cap = cap;
    }
    name = pawl__arena_str(&transfer->arena, name);
    value = pawl__arena_str(&transfer->arena, value);
    if (!name.ptr || !value.ptr)
        return false;
    transfer->headers[transfer->header_count++] = (struct pawl_http_header){name, value};
    return true;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *ctx)
{
    struct curl_transfer *transfer = ctx;
    struct pawl_str line = pawl__str_make(bytes, size * count);
    size_t colon = pawl__str_find(line, ':', 0);

    /* A status line: of a redirect's target, or behind "100 Continue". What came before has ended.
     */
    if (pawl__str_starts(line, pawl__str("HTTP/"))) {
        transfer->header_count = 0;
        pawl__buf_clear(&transfer->body_in);
        return line.len;
    }
    if (colon == SIZE_MAX || colon == 0)
        return line.len;
    transfer->header_bytes += line.len;
    if (transfer->header_count == HEADERS_MAX || transfer->header_bytes > HEADER_BYTES_MAX) {
        transfer->is_too_large = true;
        return 0;
    }
    return add_header(transfer, pawl__str_slice(line, 0, colon),
                      pawl__str_trim(pawl__str_slice(line, colon + 1, line.len)))
               ? line.len
               : 0;
}

static curl_socket_t on_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct curl_transfer *transfer = ctx;
    bool denied;
    int fd = pawl__addresses_open_socket(&transfer->driver->options.deny, address->family,
                                         address->socktype, address->protocol, &address->addr,
                                         address->addrlen, &denied);

    (void)purpose;
    transfer->is_denied = transfer->is_denied || denied;
    if (fd < 0) {
        if (!denied && pawl_error_class(pawl__os_code(errno)) == PAWL_CLASS_TRANSIENT)
            transfer->shortage = errno;
        return CURL_SOCKET_BAD;
    }
    if (transfer->pool && !pawl__curl_pool_add_socket(transfer->pool, transfer, fd)) {
        pawl__socket_close_descriptor(fd);
        transfer->shortage = ENOMEM;
        return CURL_SOCKET_BAD;
    }
    return fd;
}

/*
 * Of a pool: perhaps long after the request that opened it, and, where libcurl takes its time to
 * shut a connection down, after the pool is gone. So it is given the driver, which outlives both.
 */
static int on_pool_close(void *ctx, curl_socket_t fd)
{
    struct curl_driver *driver = ctx;

    pawl__curl_pools_remove_socket(driver, fd);
    pawl__socket_close_descriptor(fd);
    return 0;
}

/*
 * A connection is there, and the request not yet sent. Bytes that wait to be read are no answer to
 * it: a server or a proxy sent more than it was asked for, or is closing. libcurl 7.88 would take
 * them for the answer.
 */
static int on_connection(void *ctx, char *remote, char *local, int remote_port, int local_port)
{
    const struct pawl_socket_ends ends = {local, remote, local_port, remote_port};
    struct curl_transfer *transfer = ctx;

    transfer->shortage = 0; /* another address did */
    transfer->is_unclean =
        transfer->pool && !pawl__curl_pool_is_clean(transfer->pool, transfer, &ends);
    return transfer->is_unclean ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* ---- options ----------------------------------------------------------------------------- */

#define SET(transfer, option, value)                                                               \
    do {                                                                                           \
        CURLcode code_ =                                                                           \
            (transfer)->driver->call.curl_easy_setopt((transfer)->easy, (option), (value));        \
        if ((transfer)->refused == CURLE_OK)                                                       \
            (transfer)->refused = code_;                                                           \
    } while (0)

static void set_limits(struct curl_transfer *transfer)
{
    const struct pawl_curl_options *options = &transfer->driver->options;
    bool secure = pawl__str_equal_nocase(pawl__str_slice(pawl__str(transfer->url), 0, 6),
                                         pawl__str("https:"));

    SET(transfer, CURLOPT_NOSIGNAL, 1L);
    SET(transfer, CURLOPT_PROXY, "");
    SET(transfer, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(transfer, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
    SET(transfer, CURLOPT_FOLLOWLOCATION, 1L);
    SET(transfer, CURLOPT_MAXREDIRS, (long)PAWL_CURL_REDIRECTS);
    SET(transfer, CURLOPT_TIMEOUT_MS, (long)(options->timeout_ns / 1000000));
    SET(transfer, CURLOPT_CONNECTTIMEOUT_MS, (long)(options->connect_ns / 1000000));
    SET(transfer, CURLOPT_SSL_VERIFYPEER, 1L);
    SET(transfer, CURLOPT_SSL_VERIFYHOST, 2L);
    if (options->ca_file)
        SET(transfer, CURLOPT_CAINFO, options->ca_file);
}

static void set_method(struct curl_transfer *transfer)
{
    struct pawl_str method = pawl__str(transfer->method);
    bool is_post = pawl__str_is(method, "POST");

    if (pawl__str_is(method, "HEAD") && !transfer->has_body) {
        SET(transfer, CURLOPT_NOBODY, 1L);
        return;
    }
    /* POST as libcurl's own becomes GET behind a redirect, as it should; others stay. */
    if (transfer->has_body || is_post) {
        SET(transfer, CURLOPT_POST, 1L);
        SET(transfer, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)transfer->body.len);
        SET(transfer, CURLOPT_POSTFIELDS, transfer->body.ptr);
    }
    if (!is_post && (transfer->has_body || !pawl__str_is(method, "GET")))
        SET(transfer, CURLOPT_CUSTOMREQUEST, transfer->method);
}

static void set_callbacks(struct curl_transfer *transfer)
{
    SET(transfer, CURLOPT_PRIVATE, transfer);
    SET(transfer, CURLOPT_ERRORBUFFER, transfer->text);
    SET(transfer, CURLOPT_WRITEFUNCTION, on_body);
    SET(transfer, CURLOPT_WRITEDATA, transfer);
    SET(transfer, CURLOPT_HEADERFUNCTION, on_header);
    SET(transfer, CURLOPT_HEADERDATA, transfer);
    SET(transfer, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(transfer, CURLOPT_OPENSOCKETDATA, transfer);
    SET(transfer, CURLOPT_PREREQFUNCTION, on_connection);
    SET(transfer, CURLOPT_PREREQDATA, transfer);
}

/* Those of its scope; or one that nobody else had or gets. */
static void set_connections(struct curl_transfer *transfer)
{
    SET(transfer, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    transfer->pool = pawl__curl_pool_acquire(transfer->driver, transfer->scope);
    if (transfer->pool) {
        SET(transfer, CURLOPT_SHARE, pawl__curl_pool_share(transfer->pool));
        SET(transfer, CURLOPT_CLOSESOCKETFUNCTION, on_pool_close);
        SET(transfer, CURLOPT_CLOSESOCKETDATA, transfer->driver);
        return;
    }
    SET(transfer, CURLOPT_FRESH_CONNECT, 1L);
    SET(transfer, CURLOPT_FORBID_REUSE, 1L);
}

static CURLcode add(struct curl_transfer *transfer)
{
    struct curl_driver *driver = transfer->driver;

    if (transfer->refused != CURLE_OK)
        return transfer->refused;
    if (driver->call.curl_multi_add_handle(driver->multi, transfer->easy) != CURLM_OK)
        return CURLE_OUT_OF_MEMORY;
    transfer->is_active = true;
    driver->active++;
    return CURLE_OK;
}

void pawl__curl_transfer_remove(struct curl_transfer *transfer)
{
    struct curl_driver *driver = transfer->driver;

    if (!transfer->is_active)
        return;
    (void)driver->call.curl_multi_remove_handle(driver->multi, transfer->easy);
    transfer->is_active = false;
    driver->active--;
}

/* Its connection was of no use: once more, with a new one. */
static bool leave_connection(struct curl_transfer *transfer)
{
    if (!transfer->is_unclean || transfer->is_restarted)
        return false;
    transfer->is_unclean = false;
    transfer->is_restarted = true;
    return true;
}

/*
 * libcurl returns the same code for an unknown host and for a failed allocation while it reads the
 * resolver's answer. A second attempt tells them apart: it succeeds, or fails earlier with
 * CURLE_OUT_OF_MEMORY.
 */
static bool look_up_again(struct curl_transfer *transfer)
{
    bool again = !transfer->is_looked_up_again;

    transfer->is_looked_up_again = true;
    return again;
}

static int64_t time_left_ms(const struct curl_transfer *transfer)
{
    const struct curl_driver *driver = transfer->driver;
    int64_t spent_ns = pawl_env_monotonic_ns(driver->env) - transfer->begun_ns;

    return (driver->options.timeout_ns - spent_ns) / 1000000;
}

bool pawl__curl_transfer_restart(struct curl_transfer *transfer, CURLcode *code)
{
    int64_t left_ms = time_left_ms(transfer);
    long sent_bytes = 0;
    bool again = false;

    (void)transfer->driver->call.curl_easy_getinfo(transfer->easy, CURLINFO_REQUEST_SIZE,
                                                   &sent_bytes);
    if (sent_bytes > 0 || left_ms <= 0)
        return false;
    if (*code == CURLE_ABORTED_BY_CALLBACK)
        again = leave_connection(transfer);
    else if (*code == CURLE_COULDNT_RESOLVE_HOST)
        again = look_up_again(transfer);
    if (!again)
        return false;
    transfer->text[0] = 0;
    SET(transfer, CURLOPT_FRESH_CONNECT, 1L);
    SET(transfer, CURLOPT_TIMEOUT_MS, (long)left_ms); /* it would begin anew */
    *code = add(transfer);
    return *code == CURLE_OK;
}

CURLcode pawl__curl_transfer_begin(struct curl_transfer *transfer)
{
    struct curl_driver *driver = transfer->driver;

    transfer->begun_ns = pawl_env_monotonic_ns(driver->env);
    transfer->easy = driver->call.curl_easy_init();
    if (!transfer->easy)
        return CURLE_OUT_OF_MEMORY;
    set_callbacks(transfer);
    SET(transfer, CURLOPT_URL, transfer->url);
    SET(transfer, CURLOPT_HTTPHEADER, transfer->headers_out);
    set_limits(transfer);
    set_method(transfer);
    set_connections(transfer);
    return add(transfer);
}

/* ---- its end ----------------------------------------------------------------------------- */

/* What libcurl says in words alone: that it could not begin a thread, and of OpenSSL's memory. */
static bool says_shortage(const char *text)
{
    return strstr(text, "thread failed to start") || strstr(text, "malloc failure");
}

/*
 * What this process lacked for a request that failed, as an errno value; 0: nothing. Looking up a
 * name and reading certificates take descriptors as well, and their codes do not tell: whether
 * there are any is looked at.
 */
static int shortage_of(const struct curl_transfer *transfer, CURLcode code)
{
    int errnum, now;

    switch ((int)code) {
    case CURLE_OK:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_FILESIZE_EXCEEDED:
        return 0;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT:
    case CURLE_UNRECOVERABLE_POLL:
        errnum = ENOMEM;
        break;
    case CURLE_COULDNT_CONNECT:
        return transfer->shortage;
    default:
        errnum = says_shortage(transfer->text) ? ENOMEM : 0;
    }
    now = pawl__file_shortage();
    return now != 0 ? now : errnum;
}

/* What a code means when something may have been sent. */
static enum pawl_http_end end_of(const struct curl_transfer *transfer, CURLcode code, bool sent)
{
    if (transfer->is_too_large)
        return PAWL_HTTP_TOO_LARGE;
    if (transfer->shortage != 0)
        return sent ? PAWL_HTTP_LOST : PAWL_HTTP_NO_ROOM;
    switch ((int)code) {
    case CURLE_OK:
        return PAWL_HTTP_ANSWERED;
    case CURLE_OPERATION_TIMEDOUT:
        return PAWL_HTTP_TIMED_OUT;
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_FILESIZE_EXCEEDED:
        return PAWL_HTTP_TOO_LARGE;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        /* Behind a redirect it is the server's doing. */
        return sent ? PAWL_HTTP_DENIED : PAWL_HTTP_INVALID;
    case CURLE_COULDNT_CONNECT:
        return transfer->is_denied ? PAWL_HTTP_DENIED : PAWL_HTTP_CONNECT;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
        return PAWL_HTTP_CONNECT;
    default:
        return sent ? PAWL_HTTP_LOST : PAWL_HTTP_CONNECT;
    }
}

static int error_code(enum pawl_http_end end, bool sent)
{
    switch (end) {
    case PAWL_HTTP_TIMED_OUT:
        return sent ? PAWL_EUNKNOWN : PAWL_ETIMEDOUT;
    case PAWL_HTTP_LOST:
        return PAWL_EUNKNOWN;
    case PAWL_HTTP_TOO_LARGE:
        return PAWL_ELIMIT;
    case PAWL_HTTP_DENIED:
        return PAWL_EPERM;
    case PAWL_HTTP_INVALID:
        return PAWL_EINVAL;
    case PAWL_HTTP_CANCELLED:
        return PAWL_ECANCELLED;
    case PAWL_HTTP_NO_ROOM: /* describe() knows better */
    case PAWL_HTTP_ANSWERED:
    case PAWL_HTTP_CONNECT:
    default:
        return PAWL_EUNAVAILABLE;
    }
}

/* Without the query of the URL, where people put secrets. */
static void describe(const struct curl_transfer *transfer, struct pawl_http_answer *answer,
                     const char *what)
{
    struct pawl_str url = pawl__str(transfer->url);

    url = pawl__str_slice(url, 0, pawl__str_find(url, '?', 0));
    url = pawl__str_slice(url, 0, 200);
    if (answer->end == PAWL_HTTP_NO_ROOM)
        (void)pawl__os_error(&answer->error, transfer->shortage, "%s %.*s", transfer->method,
                             PAWL_STR_ARG(url));
    else
        (void)pawl__error_set(&answer->error, error_code(answer->end, answer->sent), "%s %.*s: %s",
                              transfer->method, PAWL_STR_ARG(url), what);
}

/* libcurl says how long it tried ("… after 3 ms: …"). The text becomes part of the instance's
 * state, which must not depend on that. */
static void cut_duration(char *text)
{
    char *begin = strstr(text, " after "), *end;

    if (!begin)
        return;
    for (end = begin + strlen(" after "); *end >= '0' && *end <= '9'; end++)
        continue;
    if (strncmp(end, " ms", 3) == 0 || strncmp(end, " milliseconds", 13) == 0) {
        end += strcspn(end + 1, " :") + 1;
        memmove(begin, end, strlen(end) + 1);
    }
}

static const char *reason(struct curl_transfer *transfer, enum pawl_http_end end, CURLcode code)
{
    if (transfer->is_too_large)
        return "the response is larger than the limit";
    if (end == PAWL_HTTP_DENIED && transfer->is_denied)
        return "the configuration forbids requests to this address (http.deny)";
    if (transfer->is_unclean)
        return "the server sent more on the connection than was requested";
    cut_duration(transfer->text);
    return transfer->text[0] ? transfer->text : transfer->driver->call.curl_easy_strerror(code);
}

void pawl__curl_transfer_end(struct curl_transfer *transfer, CURLcode code)
{
    const struct curl_functions *call = &transfer->driver->call;
    struct pawl_http_answer answer = {.end = PAWL_HTTP_CONNECT};
    long sent_bytes = 0, status = 0;
    char *url = NULL;

    if (transfer->easy) {
        (void)call->curl_easy_getinfo(transfer->easy, CURLINFO_REQUEST_SIZE, &sent_bytes);
        (void)call->curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
        (void)call->curl_easy_getinfo(transfer->easy, CURLINFO_EFFECTIVE_URL, &url);
    }
    answer.sent = sent_bytes > 0;
    transfer->shortage = shortage_of(transfer, code);
    answer.end = end_of(transfer, code, answer.sent);
    if (answer.end == PAWL_HTTP_ANSWERED) {
        answer.status = (int)status;
        answer.url = pawl__str(url);
        answer.headers = transfer->headers;
        answer.header_count = transfer->header_count;
        answer.body = pawl__buf_peek(&transfer->body_in);
    } else {
        describe(transfer, &answer, reason(transfer, answer.end, code));
    }
    transfer->done(transfer->ctx, &answer);
}

void pawl__curl_transfer_give_up(struct curl_transfer *transfer)
{
    struct pawl_http_answer answer = {.end = PAWL_HTTP_CANCELLED};
    long sent_bytes = 0;

    if (transfer->easy)
        (void)transfer->driver->call.curl_easy_getinfo(transfer->easy, CURLINFO_REQUEST_SIZE,
                                                       &sent_bytes);
    answer.sent = sent_bytes > 0;
    describe(transfer, &answer, "given up");
    transfer->done(transfer->ctx, &answer);
}
