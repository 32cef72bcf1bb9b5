/* SPDX-License-Identifier: Apache-2.0 */
/* Reads redis://[user:password@]host[:port][/database][,host…], see providers.h. */
#include "base/error.h"
#include "base/hex.h"
#include "locks/redis_private.h"

#define DEFAULT_PORT 6379
#define FORM "write redis://user:password@host:port/database,host:port,…"

static int wrong(struct pawl_error *err, const char *what)
{
    /* Never what was written: it may have a password. */
    return pawl__error_set(err, PAWL_EINVAL, "the URI of the Redis locks %s; " FORM, what);
}

/* With %XX decoded. false: too long, malformed, or a NUL. */
static bool decode(struct pawl_str from, char *to, size_t size)
{
    size_t length = 0;

    for (size_t i = 0; i < from.len; i++) {
        char byte = from.ptr[i];

        if (byte == '%') {
            if (i + 2 >= from.len || !pawl__hex_decode(pawl__str_slice(from, i + 1, i + 3), &byte))
                return false;
            i += 2;
        }
        if (byte == 0 || length + 1 >= size)
            return false;
        to[length++] = byte;
    }
    to[length] = 0;
    return true;
}

static bool read_number(struct pawl_str digits, uint32_t max, uint32_t *out)
{
    uint32_t value = 0;

    if (digits.len == 0 || digits.len > 9)
        return false;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9')
            return false;
        value = value * 10 + (uint32_t)(digits.ptr[i] - '0');
    }
    *out = value;
    return value <= max;
}

static int read_login(struct pawl_str text, struct redis_address *out, struct pawl_error *err)
{
    size_t colon = pawl__str_find(text, ':', 0);

    /* user:password, or :password for servers without users. */
    if (colon == SIZE_MAX)
        return wrong(err, "has a user without a password");
    if (!decode(pawl__str_slice(text, 0, colon), out->user, sizeof out->user))
        return wrong(err, "has a user that is not readable");
    if (!decode(pawl__str_slice(text, colon + 1, SIZE_MAX), out->password, sizeof out->password))
        return wrong(err, "has a password that is not readable (write % as %25, @ as %40)");
    return PAWL_OK;
}

static int read_host(struct pawl_str text, struct redis_address *out, struct pawl_error *err)
{
    struct pawl_str host = text, port = pawl__str("");
    uint32_t number = DEFAULT_PORT;
    size_t end;

    if (text.len > 0 && text.ptr[0] == '[') { /* [::1]:6379 */
        end = pawl__str_find(text, ']', 0);
        if (end == SIZE_MAX)
            return wrong(err, "has a '[' without its ']'");
        host = pawl__str_slice(text, 1, end);
        port = pawl__str_slice(text, end + 1, SIZE_MAX);
        if (port.len > 0 && port.ptr[0] != ':')
            return wrong(err, "has something between ']' and the port");
    } else {
        end = pawl__str_find(text, ':', 0);
        if (end != SIZE_MAX) {
            host = pawl__str_slice(text, 0, end);
            port = pawl__str_slice(text, end, SIZE_MAX);
        }
    }
    if (host.len == 0 || !decode(host, out->host, sizeof out->host))
        return wrong(err, "has no readable host");
    if (port.len > 0 &&
        (!read_number(pawl__str_slice(port, 1, SIZE_MAX), 65535, &number) || number == 0))
        return wrong(err, "has a port that is not a number from 1 to 65535");
    out->port = (uint16_t)number;
    return PAWL_OK;
}

static int read_node(struct pawl_str text, struct redis_address *out, bool *has_login,
                     bool *has_database, struct pawl_error *err)
{
    size_t at = SIZE_MAX, slash;
    int status = PAWL_OK;

    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '@')
            at = i;
    *has_login = at != SIZE_MAX;
    if (*has_login) {
        status = read_login(pawl__str_slice(text, 0, at), out, err);
        text = pawl__str_slice(text, at + 1, SIZE_MAX);
    }
    slash = pawl__str_find(text, '/', 0);
    *has_database = slash != SIZE_MAX && slash + 1 < text.len;
    if (status == PAWL_OK && *has_database &&
        !read_number(pawl__str_slice(text, slash + 1, SIZE_MAX), 1000000, &out->database))
        status = wrong(err, "has a database that is not a number");
    if (status == PAWL_OK)
        status = read_host(pawl__str_slice(text, 0, slash), out, err);
    return status;
}

/* What one node was not given it has from the first that was. */
static void inherit(struct redis_uri *uri, const bool *has_login, const bool *has_database)
{
    size_t login = 0, database = 0;

    while (login < uri->node_count && !has_login[login])
        login++;
    while (database < uri->node_count && !has_database[database])
        database++;
    for (size_t i = 0; i < uri->node_count; i++) {
        if (!has_login[i] && login < uri->node_count) {
            memcpy(uri->nodes[i].user, uri->nodes[login].user, sizeof uri->nodes[i].user);
            memcpy(uri->nodes[i].password, uri->nodes[login].password,
                   sizeof uri->nodes[i].password);
        }
        if (!has_database[i] && database < uri->node_count)
            uri->nodes[i].database = uri->nodes[database].database;
    }
}

static bool is_twice(const struct redis_uri *uri)
{
    for (size_t i = 0; i < uri->node_count; i++)
        for (size_t j = 0; j < i; j++)
            if (uri->nodes[i].port == uri->nodes[j].port &&
                strcmp(uri->nodes[i].host, uri->nodes[j].host) == 0)
                return true;
    return false;
}

int pawl__redis_uri_read(struct pawl_str uri, struct redis_uri *out, struct pawl_error *err)
{
    bool has_login[REDIS_NODES_MAX], has_database[REDIS_NODES_MAX];
    struct pawl_str rest = pawl__str_slice(uri, strlen("redis://"), SIZE_MAX);
    size_t from = 0;

    memset(out, 0, sizeof *out);
    if (pawl__str_equal_nocase(pawl__str_slice(uri, 0, strlen("rediss:")), pawl__str("rediss:")))
        return pawl__error_set(err, PAWL_EUNSUPPORTED,
                               "rediss:// (TLS) is not supported: put a TLS tunnel such as stunnel "
                               "before the server and use redis://");
    if (!pawl__str_equal_nocase(pawl__str_slice(uri, 0, strlen("redis://")), pawl__str("redis://")))
        return wrong(err, "does not begin with redis://");
    if (pawl__str_find(rest, '?', 0) != SIZE_MAX)
        return wrong(err, "has a query ('?…'), but there are no options");
    for (;;) {
        size_t comma = pawl__str_find(rest, ',', from);
        int status;

        if (out->node_count == REDIS_NODES_MAX)
            return wrong(err, "names too many servers (at most 15)");
        status = read_node(pawl__str_slice(rest, from, comma), &out->nodes[out->node_count],
                           &has_login[out->node_count], &has_database[out->node_count], err);
        if (status != PAWL_OK)
            return status;
        out->node_count++;
        if (comma == SIZE_MAX)
            break;
        from = comma + 1;
    }
    if (is_twice(out))
        return wrong(err, "names a server twice: it would have two votes");
    inherit(out, has_login, has_database);
    return PAWL_OK;
}
