/* SPDX-License-Identifier: Apache-2.0 */
/* Static files; see file.h. */
#include "http/file.h"

#include "base/alloc.h"
#include "http/private.h"
#include "http/stream.h"
#include "os/served_file.h"

#include <stdio.h>

#define PIECE_BYTES ((size_t)32 << 10)

/* ---- types ------------------------------------------------------------------------------- */

struct file_type {
    const char *ending, *type;
};

static const struct file_type types[] = {
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".json", "application/json"},
    {".map", "application/json"},
    {".txt", "text/plain; charset=utf-8"},
    {".md", "text/plain; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".jpg", "image/jpeg"},
    {".jpeg", "image/jpeg"},
    {".gif", "image/gif"},
    {".webp", "image/webp"},
    {".ico", "image/x-icon"},
    {".wasm", "application/wasm"},
    {".woff", "font/woff"},
    {".woff2", "font/woff2"},
    {".ttf", "font/ttf"},
    {".webmanifest", "application/manifest+json"},
    {".pdf", "application/pdf"},
    {".zip", "application/zip"},
    {".xml", "application/xml"},
};

const char *pawl__file_type(struct pawl_str name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t len = strlen(types[i].ending);

        if (name.len > len &&
            pawl__str_equal_nocase(pawl__str_slice(name, name.len - len, name.len),
                                   pawl__str(types[i].ending)))
            return types[i].type;
    }
    return "application/octet-stream";
}

/* ---- ranges ------------------------------------------------------------------------------ */

/* Digits to a number, which stops at the largest. false: something else. */
static bool read_number(struct pawl_str text, uint64_t *out)
{
    uint64_t value = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        value =
            value > (UINT64_MAX - 9) / 10 ? UINT64_MAX : value * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *out = value;
    return text.len > 0;
}

enum pawl_range_result pawl__range_parse(struct pawl_str field, uint64_t size_bytes,
                                         struct pawl_range *out)
{
    static const char unit[] = "bytes=";
    struct pawl_str range = pawl__str_trim(pawl__str_slice(field, sizeof unit - 1, field.len));
    size_t dash = pawl__str_find(range, '-', 0);
    struct pawl_str from = pawl__str_slice(range, 0, dash), to;
    uint64_t first = 0, last = UINT64_MAX;

    if (!pawl__str_equal_nocase(pawl__str_slice(field, 0, sizeof unit - 1), pawl__str(unit)) ||
        dash == SIZE_MAX || pawl__str_find(range, ',', 0) != SIZE_MAX)
        return PAWL_RANGE_NONE;
    to = pawl__str_slice(range, dash + 1, range.len);
    if ((from.len > 0 && !read_number(from, &first)) || (to.len > 0 && !read_number(to, &last)) ||
        from.len + to.len == 0 || (from.len > 0 && last < first))
        return PAWL_RANGE_NONE;
    if (from.len == 0) { /* the last so many */
        if (last == 0 || size_bytes == 0)
            return PAWL_RANGE_UNSATISFIED;
        first = last < size_bytes ? size_bytes - last : 0;
        last = size_bytes - 1;
    }
    if (first >= size_bytes)
        return PAWL_RANGE_UNSATISFIED;
    *out = (struct pawl_range){.first = first,
                               .length = (last < size_bytes ? last + 1 : size_bytes) - first};
    return PAWL_RANGE_PART;
}

/* ---- what the client has ------------------------------------------------------------------ */

struct validators {
    char etag[48];
    char modified[PAWL_HTTP_DATE_SIZE];
};

static void make_validators(const struct pawl_served_file *file, struct validators *out)
{
    (void)snprintf(out->etag, sizeof out->etag, "\"%llx-%llx\"",
                   (unsigned long long)file->modified_ns, (unsigned long long)file->size_bytes);
    pawl__response_date(file->modified_ns, out->modified);
}

/* A list of tags, or "*"; a weak one counts as well. */
static bool has_tag(struct pawl_str list, const char *etag)
{
    size_t at = 0;

    while (at <= list.len) {
        size_t comma = pawl__str_find(list, ',', at);
        struct pawl_str item = pawl__str_trim(pawl__str_slice(list, at, comma));

        if (pawl__str_starts(item, pawl__str("W/")))
            item = pawl__str_slice(item, 2, item.len);
        if (pawl__str_is(item, etag) || pawl__str_is(item, "*"))
            return true;
        if (comma == SIZE_MAX)
            break;
        at = comma + 1;
    }
    return false;
}

/* A date counts only if it is the one that was sent: clients return it as it is. */
static bool is_unchanged(const struct pawl_exchange *exchange, const struct validators *validators)
{
    struct pawl_str tags = pawl__exchange_field(exchange, "if-none-match");
    struct pawl_str since = pawl__exchange_field(exchange, "if-modified-since");

    if (tags.ptr)
        return has_tag(tags, validators->etag);
    return since.ptr && pawl__str_is(since, validators->modified);
}

static enum pawl_range_result choose_range(const struct pawl_exchange *exchange,
                                           const struct validators *validators, uint64_t size_bytes,
                                           struct pawl_range *out)
{
    struct pawl_str range = pawl__exchange_field(exchange, "range");
    struct pawl_str unless = pawl__exchange_field(exchange, "if-range");

    *out = (struct pawl_range){.length = size_bytes};
    if (!range.ptr || (unless.ptr && !pawl__str_is(unless, validators->etag) &&
                       !pawl__str_is(unless, validators->modified)))
        return PAWL_RANGE_NONE;
    return pawl__range_parse(range, size_bytes, out);
}

/* ---- sending ----------------------------------------------------------------------------- */

struct sending {
    struct pawl_served_file file;
    struct pawl_range left;
};

/* Ends the stream when all is written, when the client is gone, or when the file was cut. */
static void go_on(struct pawl_exchange *exchange, void *ctx)
{
    struct sending *sending = ctx;
    struct pawl_server *server = exchange->server;
    size_t most = server->limits.stream_bytes_max / 2 < PIECE_BYTES
                      ? (size_t)(server->limits.stream_bytes_max / 2)
                      : PIECE_BYTES;
    int status = PAWL_OK;

    while (sending->left.length > 0 && status == PAWL_OK) {
        char piece[PIECE_BYTES];
        size_t got = 0, size = sending->left.length < most ? (size_t)sending->left.length : most;

        status = pawl__served_file_read(&sending->file, sending->left.first, piece, size, &got);
        if (status == PAWL_OK && got < size)
            status = PAWL_EIO;
        if (status == PAWL_OK)
            status = pawl__exchange_write(exchange, pawl__str_make(piece, got));
        if (status == PAWL_OK) {
            sending->left.first += got;
            sending->left.length -= got;
        }
    }
    if (status == PAWL_EBUSY) {
        pawl__exchange_when_writable(exchange, go_on, sending);
        return;
    }
    pawl__served_file_close(&sending->file);
    pawl__free(&server->env->alloc, sending, sizeof *sending);
    pawl__exchange_end(exchange, status == PAWL_OK);
}

/* `caching` NULL: its Cache-Control, if any, is the caller's. */
static void refuse(struct pawl_exchange *exchange, int status, const char *detail,
                   const char *caching)
{
    if (caching)
        pawl__exchange_add_field(exchange, "Cache-Control", "no-store");
    pawl__exchange_refuse(exchange, status, detail);
}

/* Takes the file. */
static void send_pieces(struct pawl_exchange *exchange, struct pawl_served_file *file, int status,
                        struct pawl_range range, const char *caching)
{
    const struct pawl_allocator *alloc = &exchange->server->env->alloc;
    struct sending *sending = pawl__alloc_zeroed(alloc, sizeof *sending);
    size_t before = exchange->fields_out.len;

    if (caching)
        pawl__exchange_add_field(exchange, "Cache-Control", caching);
    if (!sending || pawl__exchange_begin(exchange, status, range.length) != PAWL_OK) {
        pawl__free(alloc, sending, sizeof *sending);
        pawl__served_file_close(file);
        exchange->fields_out.len = before;
        refuse(exchange, 503, pawl__request_refusal_detail(503), caching);
        return;
    }
    sending->file = *file;
    sending->left = range;
    if (exchange->without_body) { /* HEAD: nothing is read */
        sending->left.length = 0;
        exchange->stream->left = 0;
    }
    go_on(exchange, sending);
}

static void respond_range(struct pawl_exchange *exchange, struct pawl_served_file *file,
                          const struct validators *validators, const char *caching)
{
    struct pawl_range range;
    char text[96];

    switch (choose_range(exchange, validators, file->size_bytes, &range)) {
    case PAWL_RANGE_UNSATISFIED:
        (void)snprintf(text, sizeof text, "bytes */%llu", (unsigned long long)file->size_bytes);
        pawl__served_file_close(file);
        pawl__exchange_add_field(exchange, "Content-Range", text);
        refuse(exchange, 416, "The file does not have these bytes.", caching);
        return;
    case PAWL_RANGE_PART:
        (void)snprintf(text, sizeof text, "bytes %llu-%llu/%llu", (unsigned long long)range.first,
                       (unsigned long long)(range.first + range.length - 1),
                       (unsigned long long)file->size_bytes);
        pawl__exchange_add_field(exchange, "Content-Range", text);
        send_pieces(exchange, file, 206, range, caching);
        return;
    case PAWL_RANGE_NONE:
        send_pieces(exchange, file, 200, range, caching);
        return;
    }
}

/* Takes the file, which has this type. */
static void respond_opened(struct pawl_exchange *exchange, struct pawl_served_file *file,
                           const char *type, const char *caching)
{
    struct validators validators;

    make_validators(file, &validators);
    pawl__exchange_add_field(exchange, "ETag", validators.etag);
    pawl__exchange_add_field(exchange, "Last-Modified", validators.modified);
    if (is_unchanged(exchange, &validators)) {
        pawl__served_file_close(file);
        if (caching)
            pawl__exchange_add_field(exchange, "Cache-Control", caching);
        pawl__exchange_respond(exchange, 304);
        return;
    }
    pawl__exchange_add_field(exchange, "Content-Type", type);
    pawl__exchange_add_field(exchange, "X-Content-Type-Options", "nosniff");
    pawl__exchange_add_field(exchange, "Accept-Ranges", "bytes");
    respond_range(exchange, file, &validators, caching);
}

static void respond_plain(struct pawl_exchange *exchange, const char *root,
                          struct pawl_str relative, const char *caching)
{
    struct pawl_served_file file;
    int status = pawl__served_file_open(root, relative, &file, NULL);

    if (status == PAWL_OK)
        respond_opened(exchange, &file, pawl__file_type(relative), caching);
    else
        refuse(exchange, status == PAWL_ENOTFOUND ? 404 : 503,
               status == PAWL_ENOTFOUND ? "There is nothing at this path."
                                        : pawl__request_refusal_detail(503),
               caching);
}

void pawl__exchange_respond_file(struct pawl_exchange *exchange, const char *root,
                                 struct pawl_str relative)
{
    respond_plain(exchange, root, relative, NULL);
}

/* ---- packed ------------------------------------------------------------------------------ */

struct packing {
    const char *coding, *ending;
};

/* The smaller first. */
static const struct packing packings[] = {{"br", ".br"}, {"gzip", ".gz"}};

void pawl__exchange_respond_packed_file(struct pawl_exchange *exchange, const char *root,
                                        struct pawl_str relative, const char *caching)
{
    struct pawl_str accepted = pawl__exchange_field(exchange, "accept-encoding");
    struct pawl_arena *arena = pawl__exchange_arena(exchange);

    pawl__exchange_add_field(exchange, "Vary", "Accept-Encoding");
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++) {
        struct pawl_served_file file;
        const char *name;

        if (!pawl__accepts_coding(accepted, packings[i].coding))
            continue;
        name = pawl__arena_printf(arena, "%.*s%s", PAWL_STR_ARG(relative), packings[i].ending);
        if (!name || pawl__served_file_open(root, pawl__str(name), &file, NULL) != PAWL_OK)
            continue;
        pawl__exchange_add_field(exchange, "Content-Encoding", packings[i].coding);
        respond_opened(exchange, &file, pawl__file_type(relative), caching);
        return;
    }
    respond_plain(exchange, root, relative, caching);
}
