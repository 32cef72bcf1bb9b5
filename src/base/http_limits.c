/* SPDX-License-Identifier: Apache-2.0 */
/* What an endpoint accepts; see http_limits.h. */
#include "base/http_limits.h"

#include "base/http_message.h"

enum { REQUEST_SIZE, FILE_SIZE, EXTENSION, TYPE };

const struct pawl_http_excess pawl__http_excesses[] = {
    [REQUEST_SIZE] = {413, "ExposeRequestTooLargeOutcome", "Request too large",
                      "The request is larger than this endpoint accepts."},
    [FILE_SIZE] = {413, "ExposeFileTooLargeOutcome", "File too large",
                   "A file is larger than this endpoint accepts."},
    [EXTENSION] = {415, "ExposeInvalidFileExtensionOutcome", "Invalid file extension",
                   "A file has an extension that this endpoint does not accept."},
    [TYPE] = {415, "ExposeInvalidFileMimeTypeOutcome", "Invalid file MIME type",
              "A file is of a type that this endpoint does not accept."},
    {0, NULL, NULL, NULL},
};

static int64_t number_of(const struct pawl_json *object, const char *name, int64_t otherwise)
{
    int64_t value = otherwise;

    (void)pawl__json_to_int(pawl__json_get_text(object, name), &value);
    return value;
}

static struct pawl_str text_of(const struct pawl_json *object, const char *name)
{
    return pawl__json_str(pawl__json_get_text(object, name));
}

/* With or without the dot, in any case. */
static bool has_extension(struct pawl_str name, const struct pawl_json *list)
{
    size_t dot = name.len;
    struct pawl_str extension;

    while (dot > 0 && name.ptr[dot - 1] != '.')
        dot--;
    extension = dot > 0 ? pawl__str_slice(name, dot, name.len) : pawl__str("");
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        struct pawl_str wanted = pawl__str_trim(pawl__json_str(pawl__json_at(list, i)));

        if (wanted.len > 0 && wanted.ptr[0] == '.')
            wanted = pawl__str_slice(wanted, 1, wanted.len);
        if (wanted.len > 0 && pawl__str_equal_nocase(extension, wanted))
            return true;
    }
    return false;
}

static bool has_type(struct pawl_str type, const struct pawl_json *list)
{
    type = pawl__str_trim(pawl__str_slice(type, 0, pawl__str_find(type, ';', 0)));
    for (uint32_t i = 0; i < pawl__json_len(list); i++)
        if (pawl__str_equal_nocase(type, pawl__str_trim(pawl__json_str(pawl__json_at(list, i)))))
            return true;
    return false;
}

static bool is_accepted(const struct pawl_json *file, const struct pawl_json *limits, int limit)
{
    const struct pawl_json *allowed = pawl__json_get_text(limits, PAWL_HTTP_LIMIT_ALLOWED);
    const struct pawl_json *types = pawl__json_get_text(limits, PAWL_HTTP_LIMIT_TYPES);

    switch (limit) {
    case FILE_SIZE:
        return number_of(file, PAWL_HTTP_SIZE, 0) <=
               number_of(limits, PAWL_HTTP_LIMIT_FILE_SIZE, INT64_MAX);
    case EXTENSION:
        return (pawl__json_len(allowed) == 0 ||
                has_extension(text_of(file, PAWL_HTTP_FILE_NAME), allowed)) &&
               !has_extension(text_of(file, PAWL_HTTP_FILE_NAME),
                              pawl__json_get_text(limits, PAWL_HTTP_LIMIT_BLOCKED));
    default:
        return pawl__json_len(types) == 0 || has_type(text_of(file, PAWL_HTTP_CONTENT_TYPE), types);
    }
}

const struct pawl_http_excess *pawl__http_exceeds(const struct pawl_json *request,
                                                  const struct pawl_json *limits)
{
    const struct pawl_json *files = pawl__json_get_text(request, PAWL_HTTP_FILES);

    if (number_of(request, PAWL_HTTP_SIZE, 0) >
        number_of(limits, PAWL_HTTP_LIMIT_REQUEST_SIZE, INT64_MAX))
        return &pawl__http_excesses[REQUEST_SIZE];
    for (int limit = FILE_SIZE; limit <= TYPE; limit++)
        for (uint32_t i = 0; i < pawl__json_len(files); i++)
            if (!is_accepted(pawl__json_at(files, i), limits, limit))
                return &pawl__http_excesses[limit];
    return NULL;
}

bool pawl__http_has_outcome(const struct pawl_json *limits, const struct pawl_http_excess *excess)
{
    const struct pawl_json *outcomes = pawl__json_get_text(limits, PAWL_HTTP_LIMIT_OUTCOMES);

    for (uint32_t i = 0; i < pawl__json_len(outcomes); i++)
        if (pawl__str_is(pawl__json_str(pawl__json_at(outcomes, i)), excess->outcome))
            return true;
    return false;
}
