/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions from a folder. A file that cannot be read or parsed is told and stops no other. */
#include "host/folder_provider.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json/json.h"
#include "os/file.h"

/* Names of a folder; a file's document. */
#define BYTES_MAX ((size_t)256 << 20)

struct folder {
    struct pawl_definition_provider base;
    struct pawl_env *env;
    const char *path; /* behind the struct */
};

static bool is_definition(struct pawl_str name)
{
    static const char suffix[] = ".json";
    size_t len = sizeof suffix - 1;

    return name.len > len && name.ptr[0] != '.' &&
           pawl__str_is(pawl__str_slice(name, name.len - len, SIZE_MAX), suffix);
}

static int read_file(struct folder *folder, const char *path, pawl_definition_visitor visit,
                     pawl_unreadable_visitor unreadable, void *ctx, struct pawl_error *err)
{
    struct pawl_error why = PAWL_ERROR_INIT;
    struct pawl_arena arena;
    struct pawl_json definition;
    struct pawl_buf text;
    int status;

    pawl__arena_init(&arena, &folder->env->alloc, BYTES_MAX);
    pawl__buf_init(&text, &folder->env->alloc, PAWL_FOLDER_FILE_MAX);
    status = pawl__file_read_regular(path, &text, &why);
    if (status == PAWL_OK)
        status = pawl__json_parse(&arena, pawl__buf_peek(&text), NULL, &definition, NULL, &why);
    if (status == PAWL_OK && !pawl__json_is(&definition, PAWL_JSON_OBJECT))
        status = pawl__error_set(&why, PAWL_EPARSE, "%s: a definition is a JSON object", path);
    if (status == PAWL_OK) {
        status = visit(ctx, path, &definition, err);
    } else if (status == PAWL_ENOMEM) {
        (void)pawl__error_code(err, status);
    } else {
        unreadable(ctx, path, &why);
        status = PAWL_OK;
    }
    pawl__buf_release(&text);
    pawl__arena_release(&arena);
    return status;
}

static int visit_folder(struct pawl_definition_provider *provider, pawl_definition_visitor visit,
                        pawl_unreadable_visitor unreadable, void *ctx, struct pawl_error *err)
{
    struct folder *folder = (struct folder *)(void *)provider;
    struct pawl_arena arena;
    struct pawl_str *names;
    size_t count = 0;
    int status;

    pawl__arena_init(&arena, &folder->env->alloc, BYTES_MAX);
    status = pawl__folder_list(folder->path, &arena, &names, &count, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        const char *path;

        if (!is_definition(names[i]))
            continue;
        path = pawl__arena_printf(&arena, "%s/%s", folder->path, names[i].ptr);
        status = path ? read_file(folder, path, visit, unreadable, ctx, err)
                      : pawl__error_code(err, pawl__arena_status(&arena));
    }
    pawl__arena_release(&arena);
    return status;
}

static void close_folder(struct pawl_definition_provider *provider)
{
    struct folder *folder = (struct folder *)(void *)provider;

    pawl__free(&folder->env->alloc, folder, sizeof *folder + strlen(folder->path) + 1);
}

int pawl__folder_provider_new(struct pawl_env *env, const char *path,
                              struct pawl_definition_provider **out, struct pawl_error *err)
{
    size_t size = strlen(path) + 1;
    struct folder *folder = pawl__alloc_zeroed(&env->alloc, sizeof *folder + size);

    if (!folder)
        return pawl__error_code(err, PAWL_ENOMEM);
    memcpy(folder + 1, path, size);
    folder->base = (struct pawl_definition_provider){"folder", visit_folder, close_folder};
    folder->env = env;
    folder->path = (const char *)(folder + 1);
    *out = &folder->base;
    return PAWL_OK;
}
