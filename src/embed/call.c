/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of a call: checks of arguments, texts in and out, how lists end; see embed.h. */
#include "embed/embed.h"

#include "base/alloc.h"
#include "base/error.h"
#include "os/process.h"

#define NS_PER_MS INT64_C(1000000)
/* A string that is returned to the caller; the size of its block is stored before it. */
#define TEXT_HEAD 16u

/* ---- checks -------------------------------------------------------------------------------- */

int pawl__embed_check(const struct pawl *pawl, struct pawl_error *err)
{
    if (!pawl)
        return pawl__error_set(err, PAWL_EINVAL, "no struct pawl was given: open one first");
    if (pawl->process_id != pawl__process_id())
        return pawl__error_set(err, PAWL_EINVAL,
                               "this struct pawl was opened before a fork, and belongs to the "
                               "parent: open another one in this process");
    return PAWL_OK;
}

int pawl__embed_check_text(const struct pawl *pawl, const char *text, const char *what,
                           struct pawl_error *err)
{
    int status = pawl__embed_check(pawl, err);

    if (status == PAWL_OK && (!text || !*text))
        status = pawl__error_set(err, PAWL_EINVAL, "%s was not given", what);
    return status == PAWL_OK ? pawl__text_check_utf8(text, what, err) : status;
}

int64_t pawl__embed_after_ms(const struct pawl *pawl, int64_t timeout_ms)
{
    int64_t now_ns = pawl_env_monotonic_ns(pawl->env);

    if (timeout_ms <= 0)
        return now_ns;
    return timeout_ms > (PAWL_FOREVER - now_ns) / NS_PER_MS ? PAWL_FOREVER
                                                            : now_ns + timeout_ms * NS_PER_MS;
}

int pawl__embed_check_json(char **json, struct pawl_error *err)
{
    return json ? PAWL_OK
                : pawl__error_set(err, PAWL_EINVAL, "there is nowhere to put the JSON text");
}

int pawl__embed_check_texts(const struct embed_text *texts, size_t count, struct pawl_error *err)
{
    int status = PAWL_OK;

    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        status = pawl__text_check_utf8(texts[i].text, texts[i].what, err);
    return status;
}

int pawl__embed_version(int64_t version, enum pawl_version_pick usual,
                        struct pawl_version_options *out, struct pawl_error *err)
{
    switch (version) {
    case 0:
        *out = (struct pawl_version_options){.pick = usual};
        return PAWL_OK;
    case PAWL_VERSION_LATEST:
        *out = (struct pawl_version_options){.pick = PAWL_VERSIONS_LATEST};
        return PAWL_OK;
    case PAWL_VERSION_PUBLISHED:
        *out = (struct pawl_version_options){.pick = PAWL_VERSIONS_PUBLISHED};
        return PAWL_OK;
    default:
        *out = (struct pawl_version_options){PAWL_VERSIONS_NUMBER, version};
        return version > 0
                   ? PAWL_OK
                   : pawl__error_set(err, PAWL_EINVAL, "versions are numbered from 1, not %jd",
                                     (intmax_t)version);
    }
}

/* ---- texts --------------------------------------------------------------------------------- */

int pawl__embed_parse_object(struct pawl_arena *arena, const char *json, const char *what,
                             struct pawl_json *out, struct pawl_error *err)
{
    struct pawl_json value;
    int status = pawl__json_text_read(arena, json && *json ? json : "{}", what, &value, err);

    if (status != PAWL_OK)
        return status;
    if (!pawl__json_is(&value, PAWL_JSON_OBJECT))
        return pawl__error_set(err, PAWL_EINVAL, "%s is not a JSON object but %s: write {…}", what,
                               pawl__json_type_name(&value));
    *out = value;
    return PAWL_OK;
}

/* Ends a text that begins with room for its head, for the caller to keep; or releases it. */
static int keep_text(struct pawl_buf *buf, char **out, struct pawl_error *err)
{
    (void)pawl__buf_cstr(buf);
    if (buf->status != PAWL_OK) {
        int status = pawl__error_code(err, buf->status);

        pawl__buf_release(buf);
        return status;
    }
    memcpy(buf->ptr, &buf->cap, sizeof buf->cap);
    *out = buf->ptr + TEXT_HEAD;
    return PAWL_OK;
}

static void begin_text(struct pawl *pawl, struct pawl_buf *buf)
{
    static const char head[TEXT_HEAD] = {0};

    pawl__buf_init(buf, &pawl->env->alloc, EMBED_BYTES_MAX);
    pawl__buf_append(buf, head, sizeof head);
}

void pawl_text_free(struct pawl *pawl, char *text)
{
    size_t size;

    if (!pawl || !text)
        return;
    memcpy(&size, text - TEXT_HEAD, sizeof size);
    pawl__free(&pawl->env->alloc, text - TEXT_HEAD, size);
}

/* ---- calls --------------------------------------------------------------------------------- */

static int64_t deadline_of(const struct pawl *pawl)
{
    int64_t now_ns = pawl_env_monotonic_ns(pawl->env);

    return now_ns > PAWL_FOREVER - pawl->wait_ns ? PAWL_FOREVER : now_ns + pawl->wait_ns;
}

int pawl__embed_begin(struct embed_call *call, struct pawl *pawl, struct pawl_error *err)
{
    int status = pawl__embed_check(pawl, err);

    if (status != PAWL_OK)
        return status;
    call->pawl = pawl;
    pawl__arena_init(&call->arena, &pawl->env->alloc, EMBED_BYTES_MAX);
    call->op = (struct pawl_op){.host = pawl->host,
                                .arena = &call->arena,
                                .deadline_ns = deadline_of(pawl),
                                .err = err,
                                .log = pawl->options.log,
                                .actor = pawl__str(pawl->actor),
                                .request_id = pawl__str(pawl->request_id),
                                .door = pawl__str("c")};
    return PAWL_OK;
}

int pawl__embed_end(struct embed_call *call, int status)
{
    pawl__arena_release(&call->arena);
    return status;
}

int pawl__embed_end_json(struct embed_call *call, int status, const struct pawl_builder *b,
                         const struct pawl_json *value, char **json)
{
    if (status == PAWL_OK && b && b->status != PAWL_OK)
        status = pawl__error_code(call->op.err, b->status);
    if (status == PAWL_OK && json) {
        struct pawl_buf buf;

        begin_text(call->pawl, &buf);
        pawl__json_write(&buf, value, PAWL_JSON_ESCAPE_MINIMAL);
        status = keep_text(&buf, json, call->op.err);
    }
    return pawl__embed_end(call, status);
}

int pawl__embed_end_bulk(struct embed_call *call, int status, const struct pawl_bulk_result *result,
                         uint64_t *count)
{
    if (count)
        *count = status == PAWL_OK ? result->done : 0;
    if (status == PAWL_OK && result->error.code != PAWL_OK) {
        status = result->error.code;
        if (call->op.err)
            *call->op.err = result->error;
    }
    return pawl__embed_end(call, status);
}

/* ---- lists --------------------------------------------------------------------------------- */

struct pawl_page_request pawl__embed_page(uint32_t limit, const char *after, bool has_row,
                                          const struct pawl_list_end *end)
{
    return (struct pawl_page_request){.limit = limit,
                                      .after = pawl__str(after),
                                      .with_total = end != NULL,
                                      .total_only = !has_row};
}

const char *pawl__embed_str(struct embed_call *call, struct pawl_str text)
{
    return pawl__arena_str(&call->arena, text).ptr;
}

int pawl__embed_check_memory(struct embed_call *call)
{
    return call->arena.status == PAWL_OK ? PAWL_OK
                                         : pawl__error_code(call->op.err, call->arena.status);
}

int pawl__embed_end_list(struct embed_call *call, int status, const struct pawl_page *page,
                         struct pawl_list_end *end)
{
    char *next = NULL;

    if (status == EMBED_STOP)
        status = PAWL_OK;
    if (status == PAWL_OK && end && page->next.len > 0) {
        struct pawl_buf buf;

        begin_text(call->pawl, &buf);
        pawl__buf_append(&buf, page->next.ptr, page->next.len);
        status = keep_text(&buf, &next, call->op.err);
    }
    if (status == PAWL_OK && end)
        *end = (struct pawl_list_end){.total = page->total, .next = next};
    return pawl__embed_end(call, status);
}
