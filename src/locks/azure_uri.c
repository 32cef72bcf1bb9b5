/* SPDX-License-Identifier: Apache-2.0 */
/* From a URI, a connection string or the environment to a container and its credential. */
#include "base/base64.h"
#include "base/error.h"
#include "locks/azure_private.h"
#include "locks/locator.h"

#include <stdio.h>

#define KNOWN_OPTIONS "key, sas (or sv=…&sig=…), connection, lease, create, http, trust"
#define SUFFIX "core.windows.net"
#define TEXT_MAX ((size_t)16 << 10)

/* The account of the emulator and its key are published by its makers, and the same everywhere. */
#define EMULATOR_ACCOUNT "devstoreaccount1"
#define EMULATOR_KEY                                                                               \
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
#define EMULATOR_ORIGIN "http://127.0.0.1:10000"

struct reading {
    struct pawl_arena *arena;
    struct azure_place *place;
    struct pawl_error *err;
};

static int no_memory(struct reading *r)
{
    return pawl__error_code(r->err, PAWL_ENOMEM);
}

static int set_key(struct reading *r, struct pawl_str text)
{
    size_t length = pawl__base64_decode(text, NULL);

    if (length == SIZE_MAX || length == 0 || length > AZURE_KEY_BYTES_MAX)
        return pawl__error_set(r->err, PAWL_EINVAL,
                               "the account key for the lock's URI is not base64 as the portal "
                               "shows it; write '+' in a URI as %%2B");
    r->place->key_len = pawl__base64_decode(text, r->place->key);
    return PAWL_OK;
}

/* A leading '?' is dropped: people copy it along. */
static int set_sas(struct reading *r, struct pawl_str text)
{
    if (text.len > 0 && text.ptr[0] == '?')
        text = pawl__str_slice(text, 1, text.len);
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || (unsigned char)text.ptr[i] > '~' ||
            text.ptr[i] == '#')
            return pawl__error_set(
                r->err, PAWL_EINVAL,
                "the shared access signature has characters that are not allowed in a URL");
    r->place->sas = pawl__arena_str(r->arena, text).ptr;
    return r->place->sas ? PAWL_OK : no_memory(r);
}

/* ---- shared access signatures in the URI itself ------------------------------------------- */

/* The parameters of one, whatever its kind; those of ours have other names. */
static bool is_sas_name(struct pawl_str name)
{
    static const char *const names[] = {"sv",    "ss",    "srt",   "sp",   "se",   "st",
                                        "spr",   "sig",   "sr",    "si",   "sip",  "ses",
                                        "skoid", "sktid", "skt",   "ske",  "sks",  "skv",
                                        "sdd",   "saoid", "suoid", "scid", "rscc", "rscd"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (pawl__str_is(name, names[i]))
            return true;
    return false;
}

/* Unchanged, so that nothing has to be encoded again. */
static int take_sas(struct reading *r, struct pawl_str uri, struct pawl_locator *locator)
{
    size_t question = pawl__str_find(uri, '?', 0), at = question + 1;
    struct pawl_buf sas;
    int status = PAWL_OK;

    for (size_t i = 0; i < locator->option_count; i++)
        if (is_sas_name(pawl__str(locator->options[i].name)))
            locator->options[i].used = true;
    if (question == SIZE_MAX)
        return PAWL_OK;
    pawl__buf_init(&sas, r->arena->alloc, TEXT_MAX);
    while (at < uri.len) {
        size_t end = pawl__str_find(uri, '&', at);
        struct pawl_str part = pawl__str_slice(uri, at, end);

        if (is_sas_name(pawl__str_slice(part, 0, pawl__str_find(part, '=', 0)))) {
            if (sas.len > 0)
                pawl__buf_byte(&sas, '&');
            pawl__buf_str(&sas, part);
        }
        at = end == SIZE_MAX ? uri.len : end + 1;
    }
    if (sas.status != PAWL_OK)
        status = pawl__error_code(r->err, sas.status);
    else if (sas.len > 0)
        status = set_sas(r, pawl__buf_peek(&sas));
    pawl__buf_release(&sas);
    return status;
}

/* ---- connection strings ------------------------------------------------------------------- */

/* The value of NAME in "Name=value;Name=value"; "": there is none. */
static struct pawl_str connection_part(struct pawl_str text, const char *name)
{
    size_t at = 0;

    while (at < text.len) {
        size_t end = pawl__str_find(text, ';', at);
        struct pawl_str part = pawl__str_slice(text, at, end);
        size_t equals = pawl__str_find(part, '=', 0);

        if (equals != SIZE_MAX &&
            pawl__str_equal_nocase(pawl__str_trim(pawl__str_slice(part, 0, equals)),
                                   pawl__str(name)))
            return pawl__str_trim(pawl__str_slice(part, equals + 1, part.len));
        at = end == SIZE_MAX ? text.len : end + 1;
    }
    return pawl__str("");
}

/* "http://127.0.0.1:10000/devstoreaccount1" */
static int set_endpoint(struct reading *r, struct pawl_str url)
{
    bool plain = pawl__str_starts(url, pawl__str("http://"));
    size_t host = plain ? 7 : 8, slash;

    if (!plain && !pawl__str_starts(url, pawl__str("https://")))
        return pawl__error_set(
            r->err, PAWL_EINVAL,
            "the BlobEndpoint of the connection string is not an http or https URL");
    while (url.len > host && url.ptr[url.len - 1] == '/')
        url.len--;
    slash = pawl__str_find(url, '/', host);
    r->place->is_plain = plain;
    r->place->origin = pawl__arena_str(r->arena, pawl__str_slice(url, 0, slash)).ptr;
    r->place->base_path = slash == SIZE_MAX
                              ? ""
                              : pawl__arena_str(r->arena, pawl__str_slice(url, slash, url.len)).ptr;
    if (!r->place->origin || !r->place->base_path)
        return no_memory(r);
    if (url.len <= host)
        return pawl__error_set(r->err, PAWL_EINVAL,
                               "the BlobEndpoint of the connection string has no host");
    return PAWL_OK;
}

static int set_usual_endpoint(struct reading *r, struct pawl_str text)
{
    struct pawl_str suffix = connection_part(text, "EndpointSuffix");
    bool plain = pawl__str_is(connection_part(text, "DefaultEndpointsProtocol"), "http");

    if (suffix.len == 0)
        suffix = pawl__str(SUFFIX);
    r->place->is_plain = plain;
    r->place->base_path = "";
    r->place->origin = pawl__arena_printf(r->arena, "http%s://%s.blob.%.*s", plain ? "" : "s",
                                          r->place->account, PAWL_STR_ARG(suffix));
    return r->place->origin ? PAWL_OK : no_memory(r);
}

static int use_emulator(struct reading *r)
{
    r->place->account = EMULATOR_ACCOUNT;
    r->place->origin = EMULATOR_ORIGIN;
    r->place->base_path = "/" EMULATOR_ACCOUNT;
    r->place->is_plain = true;
    return set_key(r, pawl__str(EMULATOR_KEY));
}

static int use_connection(struct reading *r, struct pawl_str text)
{
    struct pawl_str account = connection_part(text, "AccountName");
    struct pawl_str endpoint = connection_part(text, "BlobEndpoint");
    struct pawl_str key = connection_part(text, "AccountKey");
    struct pawl_str sas = connection_part(text, "SharedAccessSignature");
    int status;

    if (pawl__str_equal_nocase(connection_part(text, "UseDevelopmentStorage"), pawl__str("true")))
        return use_emulator(r);
    if (account.len == 0 && (endpoint.len == 0 || sas.len == 0))
        return pawl__error_set(r->err, PAWL_EINVAL,
                               "the connection string has no AccountName (nor a BlobEndpoint with "
                               "a SharedAccessSignature)");
    r->place->account = pawl__arena_str(r->arena, account).ptr;
    if (!r->place->account)
        return no_memory(r);
    status = endpoint.len > 0 ? set_endpoint(r, endpoint) : set_usual_endpoint(r, text);
    if (status == PAWL_OK && sas.len > 0)
        status = set_sas(r, sas);
    else if (status == PAWL_OK && key.len > 0)
        status = set_key(r, key);
    return status;
}

/* ---- hosts -------------------------------------------------------------------------------- */

/* azure://account, azure://account.blob.core.windows.net, azure://127.0.0.1:10000/account */
static int use_host(struct reading *r, const struct pawl_locator *locator, const char *account)
{
    bool has_dot = strchr(locator->host, '.') || strchr(locator->host, ':');
    const char *brackets = strchr(locator->host, ':') ? "[]" : "";
    char port[8] = "";

    if (locator->port)
        (void)snprintf(port, sizeof port, ":%u", (unsigned)locator->port);
    if (account) {
        r->place->account = account;
        r->place->base_path = pawl__arena_printf(r->arena, "/%s", account);
    } else {
        struct pawl_str host = pawl__str(locator->host);

        r->place->account =
            pawl__arena_str(r->arena, pawl__str_slice(host, 0, pawl__str_find(host, '.', 0))).ptr;
        r->place->base_path = "";
    }
    r->place->origin = pawl__arena_printf(
        r->arena, "http%s://%.1s%s%s%s%s", r->place->is_plain ? "" : "s", brackets, locator->host,
        *brackets ? "]" : "", account || has_dot || locator->port ? "" : ".blob." SUFFIX, port);
    return r->place->account && r->place->base_path && r->place->origin ? PAWL_OK : no_memory(r);
}

static int check_word(struct reading *r, const char *text, const char *what)
{
    for (const char *c = text; *c; c++)
        if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') && !(*c >= '0' && *c <= '9') &&
            *c != '-' && *c != '$' && *c != '_')
            return pawl__error_set(r->err, PAWL_EINVAL,
                                   "'%.60s' in the lock's URI is not a valid Azure %s", text, what);
    if (!*text)
        return pawl__error_set(r->err, PAWL_EINVAL,
                               "the lock's URI has no %s: write azure://ACCOUNT/CONTAINER", what);
    return PAWL_OK;
}

/* "container" or "account/container" */
static int split_path(struct reading *r, const char *path, const char **account)
{
    struct pawl_str text = pawl__str(path);
    size_t slash;

    while (text.len > 0 && text.ptr[text.len - 1] == '/')
        text.len--;
    slash = pawl__str_find(text, '/', 0);
    *account = NULL;
    if (slash != SIZE_MAX) {
        *account = pawl__arena_str(r->arena, pawl__str_slice(text, 0, slash)).ptr;
        if (!*account)
            return no_memory(r);
        text = pawl__str_slice(text, slash + 1, text.len);
    }
    r->place->container = pawl__arena_str(r->arena, text).ptr;
    if (!r->place->container)
        return no_memory(r);
    if (*account && check_word(r, *account, "account") != PAWL_OK)
        return PAWL_EINVAL;
    return check_word(r, r->place->container, "container");
}

/* ---- credentials -------------------------------------------------------------------------- */

static bool has_credential(const struct azure_place *place)
{
    return place->key_len > 0 || *place->sas;
}

/* What the URI has not said; NULL and "" are the same. */
static int use_variables(struct reading *r, const char *(*variable)(const char *name))
{
    const char *key = variable ? variable("AZURE_STORAGE_KEY") : NULL;
    const char *sas = variable ? variable("AZURE_STORAGE_SAS_TOKEN") : NULL;

    if (key && *key)
        return set_key(r, pawl__str(key));
    if (sas && *sas)
        return set_sas(r, pawl__str(sas));
    if (strcmp(r->place->account, EMULATOR_ACCOUNT) == 0)
        return set_key(r, pawl__str(EMULATOR_KEY));
    return pawl__error_set(r->err, PAWL_EINVAL,
                           "there is no credential for the storage account '%.60s': put ?key= (the "
                           "account's key) or a shared access signature (?sv=…&sig=…) into the "
                           "lock's URI, or set AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or "
                           "AZURE_STORAGE_CONNECTION_STRING",
                           r->place->account);
}

static int read_options(struct reading *r, struct pawl_str uri, struct pawl_locator *locator)
{
    const char *key = pawl__locator_option(locator, "key");
    const char *sas = pawl__locator_option(locator, "sas");
    int status = take_sas(r, uri, locator);

    r->place->ca_file = pawl__locator_option(locator, "trust");
    if (status == PAWL_OK && sas)
        status = set_sas(r, pawl__str(sas));
    if (status == PAWL_OK && key)
        status = set_key(r, pawl__str(key));
    if (status == PAWL_OK)
        status = pawl__locator_switch(locator, "create", false, &r->place->create, r->err);
    if (status == PAWL_OK)
        status = pawl__locator_switch(locator, "http", false, &r->place->is_plain, r->err);
    if (status == PAWL_OK)
        status =
            pawl__locator_number(locator, "lease", PAWL_AZURE_LEASE_MS_MIN / 1000,
                                 PAWL_AZURE_LEASE_MS_MAX / 1000, 0, &r->place->lease_s, r->err);
    return status;
}

int pawl__azure_place_read(struct pawl_str uri, const char *(*variable)(const char *name),
                           struct pawl_arena *arena, struct azure_place *out,
                           struct pawl_error *err)
{
    struct reading r = {arena, out, err};
    struct pawl_locator locator;
    const char *connection, *account = NULL;
    int status = pawl__locator_parse(uri, arena, &locator, err);

    *out = (struct azure_place){.account = "", .sas = ""};
    if (status != PAWL_OK)
        return status;
    if (*locator.user || *locator.password)
        return pawl__error_set(err, PAWL_EINVAL,
                               "the lock's URI has a user; Azure takes the key by ?key=");
    connection = pawl__locator_option(&locator, "connection");
    status = read_options(&r, uri, &locator);
    if (status == PAWL_OK)
        status = pawl__locator_finish(&locator, KNOWN_OPTIONS, err);
    if (status == PAWL_OK)
        status = split_path(&r, locator.path, &account);
    if (status != PAWL_OK)
        return status;
    if (!*locator.host && !connection && variable)
        connection = variable("AZURE_STORAGE_CONNECTION_STRING");
    if (connection)
        status = use_connection(&r, pawl__str(connection));
    else if (*locator.host)
        status = use_host(&r, &locator, account);
    else
        status = pawl__error_set(err, PAWL_EINVAL,
                                 "the lock's URI has no account: write azure://ACCOUNT/CONTAINER, "
                                 "or azure:///CONTAINER with AZURE_STORAGE_CONNECTION_STRING set");
    if (status == PAWL_OK && !has_credential(out))
        status = use_variables(&r, variable);
    out->is_emulator = status == PAWL_OK && strcmp(out->origin, EMULATOR_ORIGIN) == 0 &&
                       strcmp(out->account, EMULATOR_ACCOUNT) == 0;
    return status;
}
