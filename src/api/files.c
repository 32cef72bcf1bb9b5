/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are sent and received; see files.h. */
#include "api/files.h"

#include "base/error.h"
#include "http/multipart.h"

#include <stdio.h>

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* ---- names ------------------------------------------------------------------------------------
 */

const char *api_encode(struct pawl_arena *arena, struct pawl_str text)
{
    static const char digits[] = "0123456789ABCDEF";
    char *out = pawl__arena_alloc(arena, text.len * 3 + 1);
    size_t len = 0;

    if (!out)
        return NULL;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (is_letter_or_digit((char)c) || c == '-' || c == '_' || c == '.' || c == '~') {
            out[len++] = (char)c;
        } else {
            out[len++] = '%';
            out[len++] = digits[c >> 4];
            out[len++] = digits[c & 15];
        }
    }
    out[len] = '\0';
    return out;
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

struct pawl_str api_slug(struct pawl_arena *arena, struct pawl_str text)
{
    char *out = pawl__arena_alloc(arena, text.len * 2 + 1);
    size_t len = 0;

    if (!out)
        return pawl__str_make(NULL, 0);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool follows_word = i > 0 && is_letter_or_digit(text.ptr[i - 1]);
        bool begins_word = i + 1 < text.len && text.ptr[i + 1] >= 'a' && text.ptr[i + 1] <= 'z';

        if (is_upper(c) && follows_word && (!is_upper(text.ptr[i - 1]) || begins_word))
            out[len++] = '-';
        if (is_upper(c))
            out[len++] = (char)(c - 'A' + 'a');
        else if (is_letter_or_digit(c) || (unsigned char)c >= 0x80 || (c == '.' && follows_word))
            out[len++] = c;
        else
            out[len++] = '-';
    }
    return pawl__str_make(out, len);
}

const char *api_file_name(const char *name)
{
    for (char *c = (char *)(uintptr_t)name; c && *c; c++) {
        if ((unsigned char)*c < 0x20 || strchr("/\\:*?\"<>|\x7f", *c))
            *c = '-';
    }
    return name;
}

/* ---- sending ----------------------------------------------------------------------------------
 */

/* attachment; filename=NAME; filename*=UTF-8''NAME */
static const char *disposition_of(struct pawl_arena *arena, const char *name)
{
    const char *encoded = api_encode(arena, pawl__str(name));
    struct pawl_str plain = pawl__arena_str(arena, pawl__str(name));
    bool is_token = true;

    if (!encoded || !plain.ptr)
        return NULL;
    for (size_t i = 0; i < plain.len; i++) {
        char *c = (char *)(uintptr_t)plain.ptr + i;

        if (!is_letter_or_digit(*c) && *c != '-' && *c != '_' && *c != '.') {
            is_token = is_token && (unsigned char)*c >= 0x80;
            if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f || *c == '"' || *c == '\\')
                *c = '_';
        }
    }
    return is_token ? pawl__arena_printf(arena, "attachment; filename=%s; filename*=UTF-8''%s",
                                         plain.ptr, encoded)
                    : pawl__arena_printf(arena, "attachment; filename=\"%s\"; filename*=UTF-8''%s",
                                         plain.ptr, encoded);
}

static void respond_file(struct api_call *call, const char *name)
{
    const char *disposition = disposition_of(&call->arena, name);

    if (!disposition) {
        api_fail(call, PAWL_ENOMEM);
        return;
    }
    pawl__exchange_add_field(call->exchange, "Content-Type", "application/octet-stream");
    pawl__exchange_add_field(call->exchange, "Content-Disposition", disposition);
    pawl__exchange_add_field(call->exchange, "Cache-Control", "no-store");
    pawl__exchange_respond(call->exchange, 200);
}

void api_send_file(struct api_call *call, const char *name, struct pawl_str content)
{
    pawl__buf_str(pawl__exchange_out(call->exchange), content);
    respond_file(call, name);
}

void api_send_zip(struct api_call *call, const char *name, const struct pawl_zip_file *files,
                  size_t count)
{
    int status = pawl__zip_write(files, count, pawl__exchange_out(call->exchange), &call->err);

    if (status == PAWL_OK)
        respond_file(call, name);
    else
        api_fail(call, status);
}

/* ---- receiving --------------------------------------------------------------------------------
 */

static bool ends_with(struct pawl_str name, const char *ending)
{
    size_t len = strlen(ending);

    return name.len > len && pawl__str_equal_nocase(pawl__str_slice(name, name.len - len, name.len),
                                                    pawl__str(ending));
}

static bool refuse_file(struct api_call *call, const char *key, struct pawl_str name,
                        const char *detail)
{
    char text[600];

    name = pawl__utf8_cut(name, 200);
    (void)snprintf(text, sizeof text, "%.*s: %s", PAWL_STR_ARG(name), detail);
    api_refuse(call, 400, key, text);
    return false;
}

static bool add_json(struct api_call *call, struct pawl_str name, struct pawl_str text,
                     struct api_files *files)
{
    struct pawl_json_place place = {0};
    struct api_file *file = &files->items[files->count];
    int status;

    if (files->count == PAWL_ZIP_FILES_MAX)
        return refuse_file(call, "generalErrors", name, "There are more than 1000 files.");
    status = pawl__json_parse(&call->arena, text, NULL, &file->json, &place, &call->err);
    if (status == PAWL_ENOMEM) {
        api_fail(call, status);
        return false;
    }
    if (status != PAWL_OK)
        return refuse_file(call, "serializerErrors", name, call->err.msg);
    if (!pawl__json_is(&file->json, PAWL_JSON_OBJECT))
        return refuse_file(call, "serializerErrors", name, "It must be a JSON object.");
    file->name = name;
    files->count++;
    return true;
}

static bool add_archive(struct api_call *call, const struct pawl_part *part,
                        struct api_files *files)
{
    struct pawl_zip zip;
    int status = pawl__zip_read(part->content, &call->arena, &zip, &call->err);

    if (status == PAWL_EPARSE || status == PAWL_ELIMIT)
        return refuse_file(call, "generalErrors", part->file_name, call->err.msg);
    if (status != PAWL_OK) {
        api_fail(call, status);
        return false;
    }
    for (size_t i = 0; i < zip.count; i++) {
        if (ends_with(zip.files[i].name, ".json") &&
            !add_json(call, zip.files[i].name, zip.files[i].content, files))
            return false;
    }
    return true;
}

static bool add_part(struct api_call *call, const struct pawl_part *part, struct api_files *files)
{
    if (!part->file_name.ptr)
        return true;
    if (ends_with(part->file_name, ".json"))
        return add_json(call, part->file_name, part->content, files);
    if (ends_with(part->file_name, ".zip"))
        return add_archive(call, part, files);
    return refuse_file(call, "generalErrors", part->file_name,
                       "Files are .json, or .zip with such files.");
}

bool api_receive_files(struct api_call *call, struct api_files *out)
{
    struct pawl_str type = pawl__exchange_field(call->exchange, "content-type");
    struct api_files files = {.items = pawl__arena_alloc_array(&call->arena, PAWL_ZIP_FILES_MAX + 1,
                                                               sizeof *files.items)};
    struct pawl_multipart form;
    struct pawl_part part;
    int status;

    if (!files.items) {
        api_fail(call, PAWL_ENOMEM);
        return false;
    }
    if (!type.ptr ||
        pawl__multipart_open(type, pawl__exchange_body(call->exchange), &form) != PAWL_OK) {
        api_respond_status(call, 415);
        return false;
    }
    while ((status = pawl__multipart_next(&form, &call->arena, &part)) == PAWL_OK) {
        if (!add_part(call, &part, &files))
            return false;
    }
    if (status == PAWL_EPARSE || status == PAWL_ELIMIT) {
        api_refuse(call, 400, "generalErrors",
                   status == PAWL_EPARSE ? "The form is not well formed."
                                         : "The form has too many parts, or one with a long head.");
        return false;
    }
    if (status != PAWL_ENOTFOUND) {
        api_fail(call, status);
        return false;
    }
    *out = files;
    return true;
}
