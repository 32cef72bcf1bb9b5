/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elsa Studio under /studio/: the files of its package from a folder, and the shell around them
 * from the program (docs/design/0020-studio.md).
 *
 *   /studio/shell/NAME                     a file of the shell
 *   /studio/, /studio/workflows/…          the shell's page, which shows what the path names
 *   /studio/index.html                     the same: the page of the package has no policy
 *   /studio/_framework/…, _content/…, …    a file of the package
 *
 * All of it is public: it has nothing of the store. What a page does there needs a session.
 */
#include "api/private.h"
#include "base/error.h"
#include "http/file.h"
#include "os/served_file.h"
#include "studio/assets.h"

/*
 * What the package cannot do without, and nothing more: WebAssembly, the two inline scripts of its
 * editor and its lists (by hashes, which another version of the package may change), styles that
 * components write into elements, pictures and fonts inside style sheets, workers that Monaco
 * makes.
 */
static const char policy[] =
    "default-src 'none'; "
    "script-src 'self' 'wasm-unsafe-eval' 'sha256-snlP1jz0gjwc5cTz9ErZcliXuCK63+Mmf68RRCeptgc=' "
    "'sha256-vu6sQrKXQHR4Yn3FMMihA/9TxxfIXnCxKwvLrTPJ5ts='; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self'; worker-src 'self' blob:; manifest-src 'self'; base-uri 'self'; "
    "form-action 'none'; frame-ancestors 'none'";

/* ---- the folder ----------------------------------------------------------------------------- */

int pawl__studio_check(const char *folder, struct pawl_error *err)
{
    struct pawl_served_file file;

    if (!folder[0])
        return PAWL_OK;
    if (pawl__served_file_open(folder, pawl__str("_framework/blazor.webassembly.js"), &file,
                               NULL) != PAWL_OK)
        return pawl__error_set(err, PAWL_EINVAL,
                               "the setting studio.folder: '%s' has no "
                               "_framework/blazor.webassembly.js; 'make studio' fetches Elsa "
                               "Studio and prints the folder",
                               folder);
    pawl__served_file_close(&file);
    return PAWL_OK;
}

/* "dotnet.runtime.v06hirbjsv.js": the name changes with the content. */
static bool has_fingerprint(struct pawl_str path)
{
    size_t end = path.len, at;

    if (!pawl__str_starts(path, pawl__str("_framework/")))
        return false;
    while (end > 0 && path.ptr[end - 1] != '.')
        end--;
    if (end < 2)
        return false;
    for (at = end - 1; at > 0 && path.ptr[at - 1] != '.'; at--) {
        char c = path.ptr[at - 1];

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')))
            return false;
    }
    return at > 0 && end - 1 - at == 10;
}

/* ---- the shell ------------------------------------------------------------------------------ */

static const struct pawl_asset *find_asset(struct pawl_str name)
{
    for (size_t i = 0; i < pawl__studio_asset_count; i++)
        if (pawl__str_is(name, pawl__studio_assets[i].name))
            return &pawl__studio_assets[i];
    return NULL;
}

static void respond_asset(struct pawl_exchange *exchange, const struct pawl_asset *asset)
{
    pawl__exchange_add_field(exchange, "Cache-Control", "no-cache");
    pawl__exchange_add_field(exchange, "ETag", asset->tag);
    pawl__exchange_add_field(exchange, "Content-Security-Policy", policy);
    if (pawl__str_is(pawl__exchange_field(exchange, "if-none-match"), asset->tag)) {
        pawl__exchange_respond(exchange, 304);
        return;
    }
    pawl__exchange_add_field(exchange, "Content-Type", pawl__file_type(pawl__str(asset->name)));
    pawl__buf_append(pawl__exchange_out(exchange), (const char *)asset->bytes, asset->size_bytes);
    pawl__exchange_respond(exchange, 200);
}

void pawl__api_studio(struct pawl_exchange *exchange, void *ctx)
{
    const struct pawl_api *api = ctx;
    struct pawl_str path = pawl__exchange_parameter(exchange, "path");
    const struct pawl_str shell = pawl__str("shell/");
    const struct pawl_asset *asset = NULL;

    if (!api->studio_folder[0]) {
        pawl__exchange_refuse(exchange, 404,
                              "Elsa Studio is not served here; see 'pawl serve --studio DIR'.");
        return;
    }
    if (path.len == 0 || pawl__str_is(path, "index.html") ||
        pawl__str_starts(path, pawl__str("workflows")))
        asset = find_asset(pawl__str("index.html"));
    else if (pawl__str_starts(path, shell))
        asset = find_asset(pawl__str_slice(path, shell.len, path.len));
    if (asset) {
        respond_asset(exchange, asset);
        return;
    }
    pawl__exchange_respond_packed_file(exchange, api->studio_folder, path,
                                       has_fingerprint(path) ? "public, max-age=31536000, immutable"
                                                             : "no-cache");
}
