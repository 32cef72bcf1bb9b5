/* SPDX-License-Identifier: Apache-2.0 */
/* Text of C programs; see text.h. */
#include "base/json/text.h"

#include "base/error.h"

/* Far above what fits. */
#define TEXT_BYTES_MAX ((size_t)1 << 30)

int pawl__text_check_utf8(const char *text, const char *what, struct pawl_error *err)
{
    struct pawl_str whole = pawl__str(text ? text : "");

    if (pawl__utf8_valid(whole))
        return PAWL_OK;
    return pawl__error_set(err, PAWL_EINVAL, "%s is not UTF-8: byte %zu is wrong", what,
                           pawl__utf8_valid_prefix(whole));
}

int pawl__json_text_read(struct pawl_arena *arena, const char *json, const char *what,
                         struct pawl_json *out, struct pawl_error *err)
{
    int status;

    if (!json || !*json) {
        *out = pawl__json_null();
        return PAWL_OK;
    }
    status = pawl__text_check_utf8(json, what, err);
    if (status != PAWL_OK)
        return status;
    status = pawl__json_parse(arena, pawl__str(json), NULL, out, NULL, err);
    return status == PAWL_OK ? PAWL_OK : pawl__error_prefix(err, status, "%s", what);
}

int pawl__json_text_write(struct pawl_arena *arena, const struct pawl_json *value, const char **out)
{
    struct pawl_str text = {NULL, 0};
    struct pawl_buf buf;
    int status;

    pawl__buf_init(&buf, arena->alloc, TEXT_BYTES_MAX);
    pawl__json_write(&buf, value, PAWL_JSON_ESCAPE_MINIMAL);
    status = buf.status;
    if (status == PAWL_OK) {
        text = pawl__arena_str(arena, pawl__buf_peek(&buf));
        status = text.ptr ? PAWL_OK : pawl__arena_status(arena);
    }
    pawl__buf_release(&buf);
    if (status == PAWL_OK)
        *out = text.ptr;
    return status;
}
