/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compression of large responses, by the thread that responds. What has an ETag, an encoding or a
 * type that is compressed already is sent as it is, and so is what the loop responds.
 */
#include "drivers/zlib.h"
#include "http/private.h"

/* The first value of a field that was added; ptr NULL. */
static struct pawl_str added_field(const struct pawl_exchange *exchange, const char *name)
{
    struct pawl_str fields = pawl__buf_peek(&exchange->fields_out);
    size_t at = 0;

    while (at < fields.len) {
        size_t end = pawl__str_find(fields, '\n', at);
        struct pawl_str line = pawl__str_slice(fields, at, end);
        size_t colon = pawl__str_find(line, ':', 0);

        if (pawl__str_equal_nocase(pawl__str_slice(line, 0, colon), pawl__str(name)))
            return pawl__str_trim(pawl__str_slice(line, colon + 1, line.len));
        at = end == SIZE_MAX ? fields.len : end + 1;
    }
    return pawl__str_make(NULL, 0);
}

static bool has_text(struct pawl_str type)
{
    static const char *const others[] = {"application/json", "application/problem+json",
                                         "application/javascript", "application/xml",
                                         "image/svg+xml"};
    struct pawl_str plain = pawl__str_trim(pawl__str_slice(type, 0, pawl__str_find(type, ';', 0)));

    if (pawl__str_starts(plain, pawl__str("text/")))
        return !pawl__str_is(plain, "text/event-stream");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (pawl__str_equal_nocase(plain, pawl__str(others[i])))
            return true;
    }
    return false;
}

bool pawl__accepts_coding(struct pawl_str list, const char *coding)
{
    size_t at = 0;
    bool any = false;

    while (list.ptr && at <= list.len) {
        size_t comma = pawl__str_find(list, ',', at);
        struct pawl_str item = pawl__str_slice(list, at, comma);
        size_t semicolon = pawl__str_find(item, ';', 0);
        struct pawl_str name = pawl__str_trim(pawl__str_slice(item, 0, semicolon)), weight;
        bool refused;

        weight = semicolon == SIZE_MAX
                     ? pawl__str("")
                     : pawl__str_trim(pawl__str_slice(item, semicolon + 1, item.len));
        refused = pawl__str_is(weight, "q=0") || pawl__str_is(weight, "q=0.0") ||
                  pawl__str_is(weight, "q=0.00") || pawl__str_is(weight, "q=0.000");
        if (pawl__str_equal_nocase(name, pawl__str(coding)))
            return !refused;
        any = any || (pawl__str_is(name, "*") && !refused);
        if (comma == SIZE_MAX)
            break;
        at = comma + 1;
    }
    return any;
}

/* The server's; loaded by the first thread that needs it. NULL: there is none. */
static struct pawl_zlib *get_zlib(struct pawl_server *server)
{
    struct pawl_zlib *zlib = atomic_load(&server->zlib), *fresh = NULL;
    int status;

    if (zlib || atomic_load(&server->zlib_missing))
        return zlib;
    status = pawl__zlib_open(&server->env->alloc, &fresh, NULL);
    if (status != PAWL_OK) {
        /* What this process lacks for the moment says nothing about the library. */
        if (status == PAWL_EMISSING)
            atomic_store(&server->zlib_missing, true);
        return NULL;
    }
    if (atomic_compare_exchange_strong(&server->zlib, &zlib, fresh))
        return fresh;
    pawl__zlib_close(fresh);
    return zlib;
}

void pawl__compress_close(struct pawl_server *server)
{
    pawl__zlib_close(atomic_load(&server->zlib));
}

static bool is_worth_it(const struct pawl_exchange *exchange)
{
    const struct pawl_server_limits *limits = &exchange->server->limits;
    const struct pawl_route *route = exchange->match.route;

    return limits->compress_bytes_min > 0 && exchange->out.len >= limits->compress_bytes_min &&
           exchange->out.status == PAWL_OK && exchange->fields_out.status == PAWL_OK && route &&
           !(route->flags & PAWL_ROUTE_ON_LOOP) &&
           has_text(added_field(exchange, "content-type")) &&
           !added_field(exchange, "content-encoding").ptr && !added_field(exchange, "etag").ptr;
}

void pawl__compress_response(struct pawl_exchange *exchange)
{
    struct pawl_server *server = exchange->server;
    struct pawl_zlib *zlib;
    struct pawl_buf packed;

    if (!is_worth_it(exchange))
        return;
    pawl__exchange_add_field(exchange, "Vary", "Accept-Encoding");
    zlib = pawl__accepts_coding(pawl__exchange_field(exchange, "accept-encoding"), "gzip")
               ? get_zlib(server)
               : NULL;
    if (!zlib)
        return;
    /* No room for one that does not become smaller. */
    pawl__buf_init(&packed, &server->env->alloc, exchange->out.len);
    if (pawl__zlib_gzip(zlib, pawl__buf_peek(&exchange->out), &packed) == PAWL_OK) {
        pawl__buf_release(&exchange->out);
        exchange->out = packed;
        pawl__exchange_add_field(exchange, "Content-Encoding", "gzip");
    } else {
        pawl__buf_release(&packed);
    }
}
