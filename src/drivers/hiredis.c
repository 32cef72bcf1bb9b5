/* SPDX-License-Identifier: Apache-2.0 */
/* Redis, see hiredis.h. This is the only file that includes <hiredis/hiredis.h>. */
#include "drivers/hiredis.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "os/library.h"

#include <hiredis/hiredis.h>
#include <stdio.h>

/* Names of 64 KB, 256 of them in a batch, and their values. */
#define OUT_BYTES_MAX ((size_t)64 << 20)
#define READ_BYTES 16384

#define HIREDIS_FUNCTIONS(X)                                                                       \
    X(freeReplyObject)                                                                             \
    X(redisReaderCreate) X(redisReaderFeed) X(redisReaderFree) X(redisReaderGetReply)

#define MEMBER(function) __typeof__(function) *function;
struct hiredis_functions {
    HIREDIS_FUNCTIONS(MEMBER)
};
#undef MEMBER

#define SYMBOL(function) PAWL_LIBRARY_SYMBOL(hiredis_functions, function),
static const struct pawl_library_symbol symbols[] = {HIREDIS_FUNCTIONS(SYMBOL)};
#undef SYMBOL

/* Its structures differ between versions: only the one that was built for will do. */
#define TEXT_OF(word) #word
#define SONAME(version) "libhiredis.so." TEXT_OF(version)
static const struct pawl_library_need need = {{SONAME(HIREDIS_SONAME)},
                                              HIREDIS_MAJOR == 0 ? "libhiredis0.14" : "libhiredis",
                                              symbols,
                                              sizeof symbols / sizeof symbols[0]};

struct pawl_hiredis {
    const struct pawl_allocator *alloc;
    struct pawl_library library;
    struct hiredis_functions call;
};

struct pawl_redis_conn {
    struct pawl_hiredis *lib;
    struct pawl_socket socket;
    redisReader *reader;
    redisReply *last;    /* the last reply, borrowed by the caller */
    struct pawl_buf out; /* queued and not sent */
    size_t sent_count;   /* of `out` */
};

/* ---- library ----------------------------------------------------------------------------- */

int pawl__hiredis_open(const struct pawl_allocator *alloc, struct pawl_hiredis **out,
                       struct pawl_error *err)
{
    struct pawl_hiredis *lib = pawl__alloc_zeroed(alloc, sizeof *lib);
    int status;

    if (!lib)
        return pawl__error_code(err, PAWL_ENOMEM);
    lib->alloc = alloc;
    status = pawl__library_open(&need, &lib->call, &lib->library, err);
    if (status == PAWL_OK)
        *out = lib;
    else
        pawl__free(alloc, lib, sizeof *lib);
    return status;
}

void pawl__hiredis_close(struct pawl_hiredis *lib)
{
    if (!lib)
        return;
    pawl__library_close(&lib->library);
    pawl__free(lib->alloc, lib, sizeof *lib);
}

/* ---- errors ------------------------------------------------------------------------------ */

struct word_code {
    const char *word; /* an error's first */
    int code;
    const char *hint;
};

static const struct word_code word_codes[] = {
    {"NOAUTH", PAWL_EPERM, "; give redis://user:password@host"},
    {"WRONGPASS", PAWL_EPERM, "; check user and password of the URI"},
    {"NOPERM", PAWL_EPERM, "; let the server's ACL allow it to this user"},
    {"DENIED", PAWL_EPERM, ""},
    {"WRONGTYPE", PAWL_EINVAL, "; something else than a lock is stored under this name"},
    {"MOVED", PAWL_EUNSUPPORTED, "; a Redis Cluster is no lock service: name single servers"},
    {"ASK", PAWL_EUNSUPPORTED, "; a Redis Cluster is no lock service: name single servers"},
    {"CROSSSLOT", PAWL_EUNSUPPORTED, "; a Redis Cluster is no lock service: name single servers"},
    {"READONLY", PAWL_EUNAVAILABLE, "; this is a replica, give the primary's address"},
    {"OOM", PAWL_EUNAVAILABLE, "; the server's memory is full"},
    {"LOADING", PAWL_EUNAVAILABLE, ""},
    {"BUSY", PAWL_EUNAVAILABLE, ""},
    {"MASTERDOWN", PAWL_EUNAVAILABLE, ""},
    {"CLUSTERDOWN", PAWL_EUNAVAILABLE, ""},
    {"TRYAGAIN", PAWL_EUNAVAILABLE, ""},
    {"MISCONF", PAWL_EUNAVAILABLE, "; look into the server's log"},
    {"NOREPLICAS", PAWL_EUNAVAILABLE, ""},
    {"NOSCRIPT", PAWL_ENOTFOUND, ""},
};

int pawl__redis_reply_error(const struct pawl_redis_reply *reply, struct pawl_error *err)
{
    struct pawl_str word = pawl__str_slice(reply->text, 0, pawl__str_find(reply->text, ' ', 0));
    struct word_code found = {"", PAWL_EINTERNAL, ""};

    for (size_t i = 0; i < sizeof word_codes / sizeof word_codes[0]; i++)
        if (pawl__str_is(word, word_codes[i].word))
            found = word_codes[i];
    if (reply->type != PAWL_REDIS_ERROR)
        return pawl__error_set(err, PAWL_EINTERNAL, "Redis: an unexpected reply");
    /* Its first words for a password that is missing or wrong begin with ERR in older versions. */
    if (pawl__str_starts(reply->text, pawl__str("ERR max number of clients")))
        found = (struct word_code){"", PAWL_EUNAVAILABLE, "; raise maxclients"};
    else if (pawl__str_starts(reply->text, pawl__str("ERR invalid password")) ||
             pawl__str_starts(reply->text, pawl__str("ERR AUTH")))
        found = (struct word_code){"", PAWL_EPERM, "; check user and password of the URI"};
    else if (pawl__str_starts(reply->text, pawl__str("ERR DB index")))
        found = (struct word_code){"", PAWL_EINVAL, "; check the number behind the host's '/'"};
    return pawl__error_set(err, found.code, "Redis: %.*s%s",
                           (int)(reply->text.len < 200 ? reply->text.len : 200), reply->text.ptr,
                           found.hint);
}

static int broken(struct pawl_redis_conn *conn, int code, struct pawl_error *err)
{
    if (code == PAWL_EUNAVAILABLE)
        return pawl__error_set(err, code, "Redis: %s",
                               conn->reader->err ? conn->reader->errstr
                                                 : "the server closed the connection");
    return pawl__error_prefix(err, code, "Redis");
}

/* ---- connecting -------------------------------------------------------------------------- */

static int log_in(struct pawl_redis_conn *conn, const struct pawl_redis_target *target,
                  const struct pawl_socket_wait *wait, struct pawl_error *err)
{
    struct pawl_redis_reply reply;
    char number[16];
    size_t commands = 1;
    int status = PAWL_OK;

    (void)snprintf(number, sizeof number, "%u", (unsigned)target->database);
    if (target->password.len > 0) {
        const struct pawl_str auth[] = {pawl__str("AUTH"),
                                        target->user.len > 0 ? target->user : target->password,
                                        target->password};

        status = pawl__redis_queue(conn, auth, target->user.len > 0 ? 3 : 2);
        commands++;
    }
    if (status == PAWL_OK) /* also shows whether a password is wanted */
        status =
            pawl__redis_queue(conn, (struct pawl_str[]){pawl__str("SELECT"), pawl__str(number)}, 2);
    if (status == PAWL_OK && target->client_name) {
        status = pawl__redis_queue(conn,
                                   (struct pawl_str[]){pawl__str("CLIENT"), pawl__str("SETNAME"),
                                                       pawl__str(target->client_name)},
                                   3);
        commands++;
    }
    if (status != PAWL_OK)
        return pawl__error_code(err, status);
    status = pawl__redis_flush(conn, wait, err);
    for (size_t i = 0; i < commands && status == PAWL_OK; i++) {
        status = pawl__redis_receive(conn, wait, &reply, err);
        /* A name is only for people: a server that knows none will do. */
        if (status == PAWL_OK && reply.type == PAWL_REDIS_ERROR &&
            !(target->client_name && i + 1 == commands))
            status = pawl__redis_reply_error(&reply, err);
    }
    return status;
}

int pawl__redis_connect(struct pawl_hiredis *lib, const struct pawl_redis_target *target,
                        const struct pawl_socket_wait *wait, struct pawl_redis_conn **out,
                        struct pawl_error *err)
{
    struct pawl_redis_conn *conn = pawl__alloc_zeroed(lib->alloc, sizeof *conn);
    int status;

    if (!conn)
        return pawl__error_code(err, PAWL_ENOMEM);
    conn->lib = lib;
    conn->socket.fd = -1;
    pawl__buf_init(&conn->out, lib->alloc, OUT_BYTES_MAX);
    conn->reader = lib->call.redisReaderCreate();
    if (!conn->reader)
        status = pawl__error_code(err, PAWL_ENOMEM);
    else if (target->host[0] == '/')
        status = pawl__socket_connect_unix(target->host, wait, &conn->socket, err);
    else
        status = pawl__socket_connect(target->host, target->port, wait, &conn->socket, err);
    if (status == PAWL_OK) {
        pawl__socket_keepalive(&conn->socket, target->silent_ms);
        status = log_in(conn, target, wait, err);
    }
    if (status == PAWL_OK) {
        *out = conn;
        return PAWL_OK;
    }
    (void)pawl__error_prefix(err, status, "%s port %u", target->host, (unsigned)target->port);
    pawl__redis_disconnect(conn);
    return status;
}

void pawl__redis_disconnect(struct pawl_redis_conn *conn)
{
    if (!conn)
        return;
    if (conn->last)
        conn->lib->call.freeReplyObject(conn->last);
    if (conn->reader)
        conn->lib->call.redisReaderFree(conn->reader);
    pawl__socket_close(&conn->socket);
    pawl__buf_release(&conn->out);
    pawl__free(conn->lib->alloc, conn, sizeof *conn);
}

int pawl__redis_fd(const struct pawl_redis_conn *conn)
{
    return conn->socket.fd;
}

/* ---- commands ---------------------------------------------------------------------------- */

int pawl__redis_queue(struct pawl_redis_conn *conn, const struct pawl_str *words, size_t count)
{
    size_t before = conn->out.len;
    int status;

    pawl__buf_printf(&conn->out, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) {
        pawl__buf_printf(&conn->out, "$%zu\r\n", words[i].len);
        pawl__buf_str(&conn->out, words[i]);
        pawl__buf_append(&conn->out, "\r\n", 2);
    }
    status = conn->out.status;
    if (status != PAWL_OK) { /* half a command would break the commands after it */
        conn->out.len = before;
        conn->out.status = PAWL_OK;
    }
    return status;
}

int pawl__redis_flush(struct pawl_redis_conn *conn, const struct pawl_socket_wait *wait,
                      struct pawl_error *err)
{
    size_t written = 0;
    int status;

    if (pawl__redis_is_flushed(conn))
        return PAWL_OK;
    status = pawl__socket_write(&conn->socket, conn->out.ptr + conn->sent_count,
                                conn->out.len - conn->sent_count, wait, &written, err);
    conn->sent_count += written;
    if (pawl__redis_is_flushed(conn)) {
        pawl__buf_clear(&conn->out);
        conn->sent_count = 0;
    }
    return status == PAWL_OK ? PAWL_OK : pawl__error_prefix(err, status, "Redis");
}

bool pawl__redis_is_flushed(const struct pawl_redis_conn *conn)
{
    return conn->sent_count == conn->out.len;
}

/* ---- answers ----------------------------------------------------------------------------- */

int pawl__redis_read(struct pawl_redis_conn *conn, struct pawl_env *env, struct pawl_error *err)
{
    const struct pawl_socket_wait now = {env, NULL, INT64_MIN};
    char bytes[READ_BYTES];
    size_t got = 0;
    int status = pawl__socket_read(&conn->socket, bytes, sizeof bytes, &now, &got, err);

    if (status == PAWL_ETIMEDOUT)
        return PAWL_OK;
    if (status != PAWL_OK)
        return pawl__error_prefix(err, status, "Redis");
    if (got == 0)
        return broken(conn, PAWL_EUNAVAILABLE, err);
    if (conn->lib->call.redisReaderFeed(conn->reader, bytes, got) != REDIS_OK)
        return broken(conn, PAWL_EUNAVAILABLE, err);
    return PAWL_OK;
}

static struct pawl_redis_reply view(const redisReply *reply)
{
    struct pawl_redis_reply out = {.type = PAWL_REDIS_NIL, .text = pawl__str("")};

    switch (reply->type) {
    case REDIS_REPLY_INTEGER:
        out.type = PAWL_REDIS_INT;
        out.integer = reply->integer;
        break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
        out.type = reply->type == REDIS_REPLY_STRING   ? PAWL_REDIS_TEXT
                   : reply->type == REDIS_REPLY_STATUS ? PAWL_REDIS_STATUS
                                                       : PAWL_REDIS_ERROR;
        out.text = pawl__str_make(reply->str, reply->len);
        break;
    case REDIS_REPLY_ARRAY:
        out.type = PAWL_REDIS_ARRAY;
        out.count = reply->elements;
        out.elements = (const void *)reply->element;
        break;
    default:
        break;
    }
    return out;
}

struct pawl_redis_reply pawl__redis_element(const struct pawl_redis_reply *array, size_t at)
{
    redisReply *const *elements = array->elements;

    if (array->type != PAWL_REDIS_ARRAY || at >= array->count || !elements[at])
        return (struct pawl_redis_reply){.type = PAWL_REDIS_NIL, .text = pawl__str("")};
    return view(elements[at]);
}

int pawl__redis_next(struct pawl_redis_conn *conn, struct pawl_redis_reply *out,
                     struct pawl_error *err)
{
    void *reply = NULL;

    if (conn->last)
        conn->lib->call.freeReplyObject(conn->last);
    conn->last = NULL;
    if (conn->lib->call.redisReaderGetReply(conn->reader, &reply) != REDIS_OK)
        return broken(conn, PAWL_EUNAVAILABLE, err);
    if (!reply)
        return PAWL_EBUSY;
    conn->last = reply;
    *out = view(conn->last);
    return PAWL_OK;
}

int pawl__redis_receive(struct pawl_redis_conn *conn, const struct pawl_socket_wait *wait,
                        struct pawl_redis_reply *out, struct pawl_error *err)
{
    for (;;) {
        int status = pawl__redis_next(conn, out, err);

        if (status != PAWL_EBUSY)
            return status;
        status = pawl__socket_wait_foreign(conn->socket.fd, PAWL_SOCKET_READABLE, wait);
        if (status != PAWL_OK)
            return pawl__error_set(err, status, "Redis: no answer: %s", pawl_error_text(status));
        status = pawl__redis_read(conn, wait->env, err);
        if (status != PAWL_OK)
            return status;
    }
}
