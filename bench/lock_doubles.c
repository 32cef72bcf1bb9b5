/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of SQL Server and of Azure, on the double and on Azurite: what acquiring and releasing
 * costs through front end and provider, against two calls of the client library that do the bare
 * minimum of the same, in turns in one run: sp_getapplock and sp_releaseapplock by db-lib,
 * acquiring and releasing a lease by libcurl with a shared access signature. The servers are no
 * measure of Microsoft's; the ratios are of what stands in front of them.
 *
 *     bench-lock-doubles [SECONDS [ROUNDS]]
 */
#include "base/base64.h"
#include "base/hash/hmac.h"
#include "base/str.h"
#include "lock_bench.h"
#include "locks/azure_private.h"
#include "locks/locks.h"
#include "locks/sqlserver.h"
#include "servers/azurite.h"
#include "servers/tds.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* First. */
#include <sybfront.h>

#include <sybdb.h>

struct bed {
    struct pawl_env *env;
    struct test_tds tds;
    struct test_azurite azurite;
    DBPROCESS *process;
    CURL *curl;
    char url[600];
    struct curl_slist *acquire, *release;
    struct pawl_locks *sqlserver, *azure;
};

/* ---- floors -------------------------------------------------------------------------------- */

static void call_bare(DBPROCESS *process, const char *procedure, bool takes)
{
    static BYTE name[] = "bare", mode[] = "Exclusive", owner[] = "Session";
    DBINT timeout = 0;
    RETCODE more;

    (void)dbrpcinit(process, procedure, 0);
    (void)dbrpcparam(process, "@Resource", 0, SYBVARCHAR, -1, 4, name);
    (void)dbrpcparam(process, "@LockOwner", 0, SYBVARCHAR, -1, 7, owner);
    if (takes) {
        (void)dbrpcparam(process, "@LockMode", 0, SYBVARCHAR, -1, 9, mode);
        (void)dbrpcparam(process, "@LockTimeout", 0, SYBINT4, -1, -1, (BYTE *)(void *)&timeout);
    }
    if (dbrpcsend(process) == FAIL || dbsqlok(process) == FAIL)
        bench_fail("SQL Server", procedure);
    while ((more = dbresults(process)) == SUCCEED)
        while (dbnextrow(process) != NO_MORE_ROWS)
            continue;
    if (more == FAIL || dbretstatus(process) < 0)
        bench_fail("SQL Server", procedure);
}

static void bare_sqlserver(void *ctx, unsigned thread, uint64_t round)
{
    struct bed *bed = ctx;

    (void)thread;
    (void)round;
    call_bare(bed->process, "sp_getapplock", true);
    call_bare(bed->process, "sp_releaseapplock", false);
}

static void put_bare(struct bed *bed, struct curl_slist *headers, long expected)
{
    long status = 0;

    (void)curl_easy_setopt(bed->curl, CURLOPT_HTTPHEADER, headers);
    if (curl_easy_perform(bed->curl) != CURLE_OK)
        bench_fail("Azurite", "no answer");
    (void)curl_easy_getinfo(bed->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != expected)
        bench_fail("Azurite", "refused");
}

static void bare_azure(void *ctx, unsigned thread, uint64_t round)
{
    struct bed *bed = ctx;

    (void)thread;
    (void)round;
    put_bare(bed, bed->acquire, 201);
    put_bare(bed, bed->release, 200);
}

/* ---- ours ---------------------------------------------------------------------------------- */

LOCK_BENCH_ONCE(lock_sqlserver, sqlserver, 0)
LOCK_BENCH_ONCE(lock_sqlserver_token, sqlserver, PAWL_LOCK_WANT_TOKEN)
LOCK_BENCH_ONCE(lock_azure, azure, 0)
LOCK_BENCH_ONCE(lock_azure_token, azure, PAWL_LOCK_WANT_TOKEN)

static const struct lock_bench_row rows[] = {
    {"double: get and release, db-lib", bare_sqlserver, -1, 0},
    {"sqlserver", lock_sqlserver, 0, LOCK_BENCH_RATIO_MAX},
    {"sqlserver, with a token", lock_sqlserver_token, 0, 0},
    {"Azurite: acquire and release, libcurl", bare_azure, -1, 0},
    {"azure", lock_azure, 3, LOCK_BENCH_RATIO_MAX},
    {"azure, with a token", lock_azure_token, 3, 0},
};

/* ---- bed ----------------------------------------------------------------------------------- */

static void open_sqlserver(struct bed *bed)
{
    struct pawl_lock_provider *provider = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;
    char uri[256], server[32];
    LOGINREC *login;

    test_tds_start(&bed->tds, TEST_TDS_PLAIN);
    /* By itself, before ours sets db-lib up for the process. */
    (void)setenv("TDSVER", "7.4", 1);
    (void)dbinit();
    login = dblogin();
    (void)dbsetlname(login, TEST_TDS_USER, DBSETUSER);
    (void)dbsetlname(login, TEST_TDS_PASSWORD, DBSETPWD);
    (void)snprintf(server, sizeof server, "127.0.0.1:%u", (unsigned)bed->tds.port);
    bed->process = tdsdbopen(login, server, 1);
    if (!bed->process)
        bench_fail("db-lib", "no connection");
    dbloginfree(login);
    bench_need(pawl__sqlserver_locks_open(bed->env,
                                          pawl__str(test_tds_uri(&bed->tds, "", uri, sizeof uri)),
                                          &provider, &err),
               &err, "sqlserver");
    bed->sqlserver = lock_bench_open(bed->env, provider, NULL);
}

/* A shared access signature for the account, as Azure's documents say. */
static void sign_url(struct bed *bed, const struct azure_place *place)
{
    static const char text[] = "devstoreaccount1\nrwdlac\nb\nsco\n\n2099-01-01T00:00:00Z\n\n"
                               "http,https\n" AZURE_VERSION "\n\n";
    unsigned char digest[PAWL_SHA256_BYTES];
    char encoded[48], *escaped;

    pawl__hmac_sha256(pawl__str_make((const char *)place->key, place->key_len), pawl__str(text),
                      digest);
    pawl__base64_encode(digest, sizeof digest, encoded);
    escaped = curl_easy_escape(bed->curl, encoded, 44);
    (void)snprintf(bed->url, sizeof bed->url,
                   "%s%s/bench/bare?comp=lease&sv=%s&ss=b&srt=sco&sp=rwdlac"
                   "&se=2099-01-01T00%%3A00%%3A00Z&spr=http%%2Chttps&sig=%s",
                   place->origin, place->base_path, AZURE_VERSION, escaped);
    curl_free(escaped);
}

static size_t swallow(char *bytes, size_t size, size_t count, void *ctx)
{
    (void)bytes;
    (void)ctx;
    return size * count;
}

static void open_azure(struct bed *bed)
{
    static const char id[] = "00000000-0000-0000-0000-000000000001";
    struct pawl_lock_grant grant = {.name = pawl__str("bare"),
                                    .owner = "h_1_00000000000000000000000000000001"};
    struct pawl_lock_provider *provider = NULL;
    struct pawl_error err = PAWL_ERROR_INIT;
    char uri[256], header[80];

    test_azurite_start(&bed->azurite, false);
    (void)test_azurite_uri(&bed->azurite, "bench", "create=on", uri, sizeof uri);
    bench_need(pawl__azure_locks_open(bed->env, pawl__str(uri), NULL, &provider, &err), &err,
               "azure");
    /* The blob that the floor leases. */
    bench_need(provider->ops->try_(provider, &grant, PAWL_FOREVER, &err), &err, "azure");
    bench_need(provider->ops->release(provider, &grant, PAWL_FOREVER, &err), &err, "azure");
    bed->curl = curl_easy_init();
    sign_url(bed, &((struct azure_locks *)provider)->place);
    (void)curl_easy_setopt(bed->curl, CURLOPT_URL, bed->url);
    (void)curl_easy_setopt(bed->curl, CURLOPT_CUSTOMREQUEST, "PUT");
    (void)curl_easy_setopt(bed->curl, CURLOPT_POSTFIELDS, "");
    (void)curl_easy_setopt(bed->curl, CURLOPT_WRITEFUNCTION, swallow);
    (void)snprintf(header, sizeof header, "x-ms-proposed-lease-id: %s", id);
    bed->acquire = curl_slist_append(NULL, "x-ms-lease-action: acquire");
    bed->acquire = curl_slist_append(bed->acquire, "x-ms-lease-duration: 30");
    bed->acquire = curl_slist_append(bed->acquire, header);
    (void)snprintf(header, sizeof header, "x-ms-lease-id: %s", id);
    bed->release = curl_slist_append(NULL, "x-ms-lease-action: release");
    bed->release = curl_slist_append(bed->release, header);
    bed->azure = lock_bench_open(bed->env, provider, NULL);
}

static void close_bed(struct bed *bed)
{
    pawl__locks_free(bed->sqlserver);
    pawl__locks_free(bed->azure);
    dbclose(bed->process);
    curl_slist_free_all(bed->acquire);
    curl_slist_free_all(bed->release);
    curl_easy_cleanup(bed->curl);
    test_tds_stop(&bed->tds);
    test_azurite_stop(&bed->azurite);
    pawl_system_env_close(bed->env);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.3;
    unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 7;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct bed bed = {.env = NULL};
    int failed;

    bench_need(pawl_system_env_open(&bed.env, &err), &err, "environment");
    open_sqlserver(&bed);
    open_azure(&bed);
    failed = lock_bench_run(bed.env, rows, sizeof rows / sizeof rows[0], &bed, seconds, rounds);
    close_bed(&bed);
    return failed;
}
