/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies of workflows that are files: several as an archive, a part of one, nothing of one that
 * the client has (RFC 9110). Conditions hold for GET and HEAD alone.
 */
#include "api/workflows.h"

#include "api/endpoint.h"
#include "base/alloc.h"
#include "base/http_message.h"
#include "http/file.h"
#include "http/zip.h"

#include <stdio.h>

/* ---- content ------------------------------------------------------------------------------- */

/* Appends the archive of the reply's files. */
static int write_archive(struct api_call *call, const struct pawl_json *files, struct pawl_buf *out)
{
    uint32_t count = pawl__json_len(files);
    struct pawl_zip_file *list = pawl__arena_alloc_array(&call->arena, count, sizeof *list);
    int status = list ? PAWL_OK : pawl__arena_status(&call->arena);

    for (uint32_t i = 0; i < count && status == PAWL_OK; i++) {
        const struct pawl_json *file = pawl__json_at(files, i);
        struct pawl_buf content;

        pawl__buf_init(&content, out->alloc, PAWL_ZIP_BYTES_MAX);
        api_workflow_body(&content, file);
        list[i].name = pawl__json_str(pawl__json_get_text(file, PAWL_HTTP_FILE_NAME));
        list[i].content = pawl__arena_str(&call->arena, pawl__buf_peek(&content));
        status = content.status != PAWL_OK ? content.status : call->arena.status;
        pawl__buf_release(&content);
    }
    return status == PAWL_OK ? pawl__zip_write(list, count, out, &call->err) : status;
}

/* ---- conditions ---------------------------------------------------------------------------- */

static struct pawl_str header(const struct pawl_json *reply, const char *name)
{
    const struct pawl_json *headers = pawl__json_get_text(reply, PAWL_HTTP_HEADERS);

    for (uint32_t i = 0; i < pawl__json_len(headers); i++) {
        const struct pawl_json *pair = pawl__json_at(headers, i);

        if (pawl__str_equal_nocase(pawl__json_str(pawl__json_at(pair, 0)), pawl__str(name)))
            return pawl__json_str(pawl__json_at(pair, 1));
    }
    return pawl__str("");
}

static struct pawl_str without_weakness(struct pawl_str tag)
{
    return pawl__str_starts(tag, pawl__str("W/")) ? pawl__str_slice(tag, 2, tag.len) : tag;
}

/* A list of tags, or "*". `weak`: a weak one counts as well. */
static bool has_tag(struct pawl_str list, struct pawl_str tag, bool weak)
{
    for (size_t at = 0; at <= list.len;) {
        size_t comma = pawl__str_find(list, ',', at);
        struct pawl_str item = pawl__str_trim(pawl__str_slice(list, at, comma));

        if (pawl__str_is(item, "*") ||
            (tag.len > 0 && (weak ? pawl__str_equal(without_weakness(item), without_weakness(tag))
                                  : pawl__str_equal(item, tag))))
            return true;
        if (comma == SIZE_MAX)
            break;
        at = comma + 1;
    }
    return false;
}

/* 200, or what is sent in its place. */
static int judge(struct api_call *call, struct pawl_str tag)
{
    struct pawl_str match = pawl__exchange_field(call->exchange, "if-match");
    struct pawl_str none = pawl__exchange_field(call->exchange, "if-none-match");

    if (match.ptr && !has_tag(match, tag, false))
        return 412;
    return none.ptr && has_tag(none, tag, true) ? 304 : 200;
}

/* ---- parts --------------------------------------------------------------------------------- */

/* Leaves the part that was asked for in `out`. The status. */
static int cut(struct api_call *call, struct pawl_str tag, struct pawl_buf *out)
{
    struct pawl_str range = pawl__exchange_field(call->exchange, "range");
    struct pawl_str unless = pawl__exchange_field(call->exchange, "if-range");
    struct pawl_range part;
    uint64_t size_bytes = out->len;
    char text[96];

    if (!range.ptr || (unless.ptr && (tag.len == 0 || !pawl__str_equal(unless, tag))))
        return 200;
    switch (pawl__range_parse(range, size_bytes, &part)) {
    case PAWL_RANGE_NONE:
        return 200;
    case PAWL_RANGE_UNSATISFIED:
        (void)snprintf(text, sizeof text, "bytes */%llu", (unsigned long long)size_bytes);
        pawl__exchange_add_field(call->exchange, "Content-Range", text);
        pawl__buf_clear(out);
        return 416;
    case PAWL_RANGE_PART:
        break;
    }
    (void)snprintf(text, sizeof text, "bytes %llu-%llu/%llu", (unsigned long long)part.first,
                   (unsigned long long)(part.first + part.length - 1),
                   (unsigned long long)size_bytes);
    pawl__exchange_add_field(call->exchange, "Content-Range", text);
    memmove(out->ptr, out->ptr + part.first, (size_t)part.length);
    out->len = (size_t)part.length;
    return 206;
}

/* "text/plain; charset=utf-8" without what follows the type, as Elsa has it. */
static void add_type(struct api_call *call, struct pawl_str name)
{
    struct pawl_str type = pawl__str(pawl__file_type(name));

    type = pawl__arena_str(&call->arena, pawl__str_slice(type, 0, pawl__str_find(type, ';', 0)));
    if (type.ptr)
        pawl__exchange_add_field(call->exchange, "Content-Type", type.ptr);
}

/* ---- the whole ----------------------------------------------------------------------------- */

int api_workflow_file(struct api_call *call, const struct pawl_json *reply)
{
    struct pawl_buf *out = pawl__exchange_out(call->exchange);
    const struct pawl_json *files = pawl__json_get_text(reply, PAWL_HTTP_FILES);
    struct pawl_str tag = header(reply, "ETag");
    struct pawl_str method = pawl__exchange_method(call->exchange);
    int status = 200;

    if (header(reply, "Content-Type").len == 0)
        add_type(call, pawl__json_str(pawl__json_get_text(reply, PAWL_HTTP_FILE_NAME)));
    if (pawl__str_is(method, "GET") || pawl__str_is(method, "HEAD"))
        status = judge(call, tag);
    if (status != 200)
        return status;
    if (!files)
        api_workflow_body(out, reply);
    else if (write_archive(call, files, out) != PAWL_OK)
        return 500;
    if (out->status == PAWL_OK && header(reply, "Accept-Ranges").len > 0 &&
        pawl__str_is(method, "GET"))
        status = cut(call, tag, out);
    return status;
}
