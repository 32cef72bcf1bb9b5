/* SPDX-License-Identifier: Apache-2.0 */
/* The provider on Azure blobs, on Azurite: what is its own and not in the contract suite. */
#include "locks/azure.h"

#include "base/base64.h"
#include "base/hash/hmac.h"
#include "lib/test.h"
#include "locks/azure_private.h"
#include "os/shifted_env.h"
#include "servers/azurite.h"
#include "servers/http.h"

#include <stdio.h>
#include <stdlib.h>

#define MS INT64_C(1000000)

struct fixture {
    struct test_azurite server;
    struct pawl_env *env;
    struct pawl_lock_provider *a, *b; /* two processes; their leases outlast any stall */
    struct pawl_lock_provider *brief; /* with the shortest leases there are */
    /* Held from the beginning, and renewed by nobody: over by the time of their case. */
    struct pawl_lock_grant paused, unwanted;
    unsigned owner_count;
    struct pawl_error err;
};

static int64_t soon(struct fixture *f)
{
    return pawl_env_monotonic_ns(f->env) + 120000 * MS; /* only a hang exceeds it */
}

static struct pawl_lock_provider *open_at(struct fixture *f, const char *container,
                                          const char *options)
{
    struct pawl_lock_provider *provider = NULL;
    char uri[400];

    (void)test_azurite_uri(&f->server, container, options, uri, sizeof uri);
    assert_ok(pawl__azure_locks_open(f->env, pawl__str(uri), NULL, &provider, &f->err), &f->err);
    return provider;
}

static struct pawl_lock_grant grant_for(struct fixture *f, const char *name, uint32_t flags)
{
    struct pawl_lock_grant grant = {.name = pawl__str(name), .flags = flags};

    (void)snprintf(grant.owner, sizeof grant.owner, "host_1_%032x", ++f->owner_count);
    return grant;
}

static int try_lock(struct fixture *f, struct pawl_lock_provider *p, struct pawl_lock_grant *grant)
{
    return p->ops->try_(p, grant, soon(f), &f->err);
}

static int open_server(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (!f)
        return -1;
    *state = f;
    assert_ok(pawl_system_env_open(&f->env, &f->err), &f->err);
    test_azurite_start(&f->server, false);
    f->a = open_at(f, "locks", "create=on&lease=60");
    f->b = open_at(f, "locks", "lease=60");
    f->brief = open_at(f, "locks", "create=on&lease=15");
    f->paused = grant_for(f, "paused", 0);
    f->unwanted = grant_for(f, "unwanted", 0);
    assert_ok(try_lock(f, f->brief, &f->paused), &f->err);
    assert_ok(try_lock(f, f->brief, &f->unwanted), &f->err);
    return 0;
}

static int close_server(void **state)
{
    struct fixture *f = *state;

    f->a->ops->close(f->a);
    f->b->ops->close(f->b);
    f->brief->ops->close(f->brief);
    test_azurite_stop(&f->server);
    pawl_system_env_close(f->env);
    free(f);
    return 0;
}

static int release(struct fixture *f, struct pawl_lock_provider *p, struct pawl_lock_grant *grant)
{
    return p->ops->release(p, grant, soon(f), &f->err);
}

static int renew(struct fixture *f, struct pawl_lock_provider *p, struct pawl_lock_grant *grant)
{
    struct pawl_lock_grant *const grants[] = {grant};

    assert_ok(p->ops->renew(p, grants, 1, soon(f), &f->err), &f->err);
    return grant->status;
}

/* A request of an administrator's, or of somebody else's. */
static int ask(struct fixture *f, const char *method, const char *query, const char *name,
               const char *header, const char *value, const char *header2, const char *value2)
{
    struct pawl_str text = pawl__str(name ? name : "");
    struct azure_call call;
    int http;

    pawl__azure_call_init(&call, (struct azure_locks *)f->a, method, query);
    assert_ok(pawl__azure_call_path(&call, name ? &text : NULL, &f->err), &f->err);
    if (header)
        pawl__azure_call_header(&call, header, value);
    if (header2)
        pawl__azure_call_header(&call, header2, value2);
    assert_ok(pawl__azure_call(&call, soon(f), &f->err), &f->err);
    http = call.http;
    pawl__azure_call_release(&call);
    return http;
}

static int break_lease(struct fixture *f, const char *name)
{
    return ask(f, "PUT", "comp=lease", name, "x-ms-lease-action", "break",
               "x-ms-lease-break-period", "0");
}

/* ---- leases ------------------------------------------------------------------------------- */

static void a_lease_is_held_by_one_and_free_after_release(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant mine = grant_for(f, "one", 0), other = grant_for(f, "one", 0);
    int64_t before_ns = pawl_env_monotonic_ns(f->env);

    assert_ok(try_lock(f, f->a, &mine), &f->err);
    assert_true(mine.valid_until_ns > before_ns + 59000 * MS);
    assert_true(mine.valid_until_ns < pawl_env_monotonic_ns(f->env) + 60000 * MS);
    assert_code(try_lock(f, f->b, &other), PAWL_EBUSY);
    assert_code(try_lock(f, f->a, &other), PAWL_EBUSY);
    assert_int_equal(renew(f, f->a, &mine), PAWL_OK);
    assert_ok(release(f, f->a, &mine), &f->err);
    assert_code(release(f, f->a, &mine), PAWL_ENOTFOUND);
    assert_ok(try_lock(f, f->b, &other), &f->err);
    assert_code(release(f, f->a, &mine), PAWL_ENOTFOUND); /* not the next holder's */
    assert_code(try_lock(f, f->a, &mine), PAWL_EBUSY);
    assert_ok(release(f, f->b, &other), &f->err);
}

static void an_attempt_that_is_repeated_finds_its_own_lease(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant mine = grant_for(f, "twice", 0);

    assert_ok(try_lock(f, f->a, &mine), &f->err);
    assert_ok(try_lock(f, f->a, &mine), &f->err);
    assert_ok(release(f, f->a, &mine), &f->err);
}

static void names_of_all_kinds_are_locks(void **state)
{
    struct fixture *f = *state;
    char longest[2001] = "", segments[601] = "";
    const char *names[] = {"",
                           "it's 100% & more?#+",
                           "\xe6\xbc\xa2 \xf0\x9f\x98\x80",
                           "Case",
                           "case",
                           "a/b/c",
                           "trailing/",
                           "dot.",
                           longest,
                           segments};

    memset(longest, 'x', 2000);
    for (int i = 0; i < 300; i++)
        memcpy(segments + 2 * i, "s/", 2);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct pawl_lock_grant mine = grant_for(f, names[i], PAWL_LOCK_WANT_TOKEN);
        struct pawl_lock_grant other = grant_for(f, names[i], 0);
        struct pawl_lock_holder holder;

        if (try_lock(f, f->a, &mine) != PAWL_OK)
            fail_msg("'%.50s': %s", names[i], f->err.msg);
        assert_code(try_lock(f, f->b, &other), PAWL_EBUSY);
        assert_ok(f->b->ops->inspect(f->b, mine.name, &holder, soon(f), &f->err), &f->err);
        assert_true(holder.held);
        assert_string_equal(holder.owner, mine.owner);
        assert_true(holder.token == mine.token);
        assert_ok(release(f, f->a, &mine), &f->err);
    }
}

static void a_name_that_leaves_the_container_is_refused(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant mine = grant_for(f, "../other/blob", 0);
    char key[64];

    assert_code(try_lock(f, f->a, &mine), PAWL_EINVAL);
    assert_code(f->a->ops->map(f->a, mine.name, key, sizeof key, &f->err), PAWL_EINVAL);
}

static void a_lease_that_is_broken_is_lost(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant mine = grant_for(f, "broken", 0), other = grant_for(f, "broken", 0);

    assert_ok(try_lock(f, f->a, &mine), &f->err);
    assert_int_equal(break_lease(f, "broken"), 202);
    assert_int_equal(renew(f, f->a, &mine), PAWL_ENOTFOUND);
    assert_ok(try_lock(f, f->b, &other), &f->err);
    assert_int_equal(renew(f, f->a, &mine), PAWL_ENOTFOUND);
    assert_code(release(f, f->a, &mine), PAWL_ENOTFOUND);
    assert_int_equal(renew(f, f->b, &other), PAWL_OK); /* untouched by the release */
    assert_ok(release(f, f->b, &other), &f->err);
}

static void a_lease_that_ended_while_its_holder_was_paused_is_lost(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant other = grant_for(f, "paused", 0);
    int status;

    /* Nobody has renewed, as if this process stood still; the other asks until the lease is over.
     */
    while ((status = try_lock(f, f->b, &other)) == PAWL_EBUSY)
        (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + 100 * MS);
    assert_int_equal(status, PAWL_OK);
    assert_true(pawl_env_monotonic_ns(f->env) >=
                f->paused.valid_until_ns); /* never told too late */
    assert_int_equal(renew(f, f->brief, &f->paused), PAWL_ENOTFOUND);
    assert_code(release(f, f->brief, &f->paused), PAWL_ENOTFOUND);
    assert_ok(release(f, f->b, &other), &f->err);
    /* One that ended and that nobody took is still the holder's, and renewable. */
    assert_int_equal(renew(f, f->brief, &f->unwanted), PAWL_OK);
    assert_ok(release(f, f->brief, &f->unwanted), &f->err);
}

static void a_container_that_is_deleted_loses_the_lock(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = open_at(f, "doomed", "create=on");
    struct pawl_lock_provider *strict = open_at(f, "doomed", "");
    struct pawl_lock_grant mine = grant_for(f, "x", 0), other = grant_for(f, "x", 0);
    struct pawl_lock_status status;
    struct fixture doomed = *f;

    doomed.a = p;
    assert_ok(try_lock(f, p, &mine), &f->err);
    assert_int_equal(ask(&doomed, "DELETE", "restype=container", NULL, NULL, NULL, NULL, NULL),
                     202);
    assert_int_equal(renew(f, p, &mine), PAWL_ENOTFOUND);
    assert_code(release(f, p, &mine), PAWL_ENOTFOUND);
    assert_code(try_lock(f, strict, &other), PAWL_ENOTFOUND);
    assert_non_null(strstr(f->err.msg, "?create=on"));
    assert_code(strict->ops->status(strict, &status, soon(f), &f->err), PAWL_ENOTFOUND);
    assert_ok(try_lock(f, p, &other), &f->err); /* made again */
    assert_ok(release(f, p, &other), &f->err);
    strict->ops->close(strict);
    p->ops->close(p);
}

static void a_leased_container_and_blobs_of_other_kinds_do_not_hinder(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant mine = grant_for(f, "page", PAWL_LOCK_WANT_TOKEN);
    struct pawl_lock_grant append = grant_for(f, "append", 0);

    assert_int_equal(
        ask(f, "PUT", "", "page", "x-ms-blob-type", "PageBlob", "x-ms-blob-content-length", "512"),
        201);
    assert_int_equal(ask(f, "PUT", "", "append", "x-ms-blob-type", "AppendBlob", NULL, NULL), 201);
    assert_int_equal(ask(f, "PUT", "comp=lease&restype=container", NULL, "x-ms-lease-action",
                         "acquire", "x-ms-lease-duration", "15"),
                     201);
    assert_ok(try_lock(f, f->a, &mine), &f->err);
    assert_ok(try_lock(f, f->a, &append), &f->err);
    assert_ok(release(f, f->a, &mine), &f->err);
    assert_ok(release(f, f->a, &append), &f->err);
    assert_int_equal(ask(f, "PUT", "comp=lease&restype=container", NULL, "x-ms-lease-action",
                         "break", "x-ms-lease-break-period", "0"),
                     202);
}

static void the_lease_guards_writes_to_the_blob(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant mine = grant_for(f, "guarded", 0);
    char guid[AZURE_GUID_SIZE];

    assert_ok(try_lock(f, f->a, &mine), &f->err);
    assert_ok(pawl__azure_guid(mine.owner, guid, &f->err), &f->err);
    assert_int_equal(ask(f, "PUT", "comp=metadata", "guarded", "x-ms-meta-a", "b", NULL, NULL),
                     412);
    assert_int_equal(
        ask(f, "PUT", "comp=metadata", "guarded", "x-ms-meta-a", "b", "x-ms-lease-id", guid), 200);
    assert_ok(release(f, f->a, &mine), &f->err);
}

/* ---- tokens ------------------------------------------------------------------------------- */

static void tokens_grow_also_when_the_blob_was_deleted(void **state)
{
    struct fixture *f = *state;
    uint64_t last = 0;

    for (int i = 0; i < 6; i++) {
        struct pawl_lock_provider *p = i % 2 ? f->b : f->a;
        struct pawl_lock_grant mine = grant_for(f, "token", PAWL_LOCK_WANT_TOKEN);

        assert_ok(try_lock(f, p, &mine), &f->err);
        assert_true(mine.token > last);
        last = mine.token;
        assert_ok(release(f, p, &mine), &f->err);
        if (i == 3) {
            /* The clock of tokens has seconds. */
            int64_t second = (int64_t)(last / 1000000);

            assert_int_equal(ask(f, "DELETE", "", "token", NULL, NULL, NULL, NULL), 202);
            while (pawl_env_wall_ns(f->env) / 1000000000 <= second + 1)
                (void)!pawl_env_sleep_until(f->env, pawl_env_monotonic_ns(f->env) + 50 * MS);
        }
    }
}

static void metadata_of_others_is_kept(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant mine = grant_for(f, "meta", 0), other;
    struct pawl_str name = pawl__str("meta");
    struct azure_call call;

    assert_ok(try_lock(f, f->a, &mine), &f->err);
    assert_ok(release(f, f->a, &mine), &f->err);
    assert_int_equal(
        ask(f, "PUT", "comp=metadata", "meta", "x-ms-meta-project", "apollo", NULL, NULL), 200);
    other = grant_for(f, "meta", PAWL_LOCK_WANT_TOKEN);
    assert_ok(try_lock(f, f->a, &other), &f->err);
    pawl__azure_call_init(&call, (struct azure_locks *)f->a, "HEAD", "");
    assert_ok(pawl__azure_call_path(&call, &name, &f->err), &f->err);
    assert_ok(pawl__azure_call(&call, soon(f), &f->err), &f->err);
    assert_string_equal(pawl__azure_meta(&call, "project"), "apollo");
    assert_string_equal(pawl__azure_meta(&call, "holder"), other.owner);
    pawl__azure_call_release(&call);
    assert_ok(release(f, f->a, &other), &f->err);
}

static int show_key(void *ctx, const struct pawl_lock_holder *holder)
{
    char *out = ctx;

    (void)snprintf(out + strlen(out), 200 - strlen(out), "%s;", holder->key);
    return 0;
}

static void what_is_held_is_listed(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = open_at(f, "listed", "create=on");
    struct pawl_lock_grant one = grant_for(f, "a<&>'b", 0), two = grant_for(f, "two", 0);
    struct pawl_lock_grant gone = grant_for(f, "gone", 0);
    struct pawl_lock_status status;
    char keys[200] = "";

    assert_ok(try_lock(f, p, &one), &f->err);
    assert_ok(try_lock(f, p, &two), &f->err);
    assert_ok(try_lock(f, p, &gone), &f->err);
    assert_ok(release(f, p, &gone), &f->err);
    assert_ok(p->ops->list(p, 10, show_key, keys, soon(f), &f->err), &f->err);
    assert_string_equal(keys, "a<&>'b;two;");
    keys[0] = 0;
    assert_ok(p->ops->list(p, 1, show_key, keys, soon(f), &f->err), &f->err);
    assert_string_equal(keys, "a<&>'b;");
    assert_ok(p->ops->status(p, &status, soon(f), &f->err), &f->err);
    assert_non_null(strstr(status.server, "Azurite"));
    assert_non_null(strstr(status.warning, "not encrypted"));
    assert_true(status.ttl_ms == 30000);
    assert_ok(release(f, p, &one), &f->err);
    assert_ok(release(f, p, &two), &f->err);
    p->ops->close(p);
}

static void many_leases_are_renewed_at_a_time(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant grants[40], *all[40];
    char names[40][16];

    for (int i = 0; i < 40; i++) {
        (void)snprintf(names[i], sizeof names[i], "many-%d", i);
        grants[i] = grant_for(f, names[i], 0);
        all[i] = &grants[i];
        assert_ok(try_lock(f, f->a, all[i]), &f->err);
    }
    assert_int_equal(break_lease(f, "many-7"), 202);
    assert_ok(f->a->ops->renew(f->a, all, 40, soon(f), &f->err), &f->err);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(grants[i].status, i == 7 ? PAWL_ENOTFOUND : PAWL_OK);
        (void)release(f, f->a, all[i]);
    }
}

/* ---- trouble ------------------------------------------------------------------------------ */

static void a_service_that_is_down_is_unavailable_and_one_that_is_silent_unknown(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant mine = grant_for(f, "trouble", 0), held = grant_for(f, "kept", 0);
    int64_t until_ns;

    assert_ok(try_lock(f, f->a, &held), &f->err);
    test_program_pause(&f->server.program);
    assert_code(f->a->ops->try_(f->a, &mine, pawl_env_monotonic_ns(f->env) + 100 * MS, &f->err),
                PAWL_EUNKNOWN);
    until_ns = held.valid_until_ns;
    {
        struct pawl_lock_grant *const grants[] = {&held};

        assert_ok(
            f->a->ops->renew(f->a, grants, 1, pawl_env_monotonic_ns(f->env) + 100 * MS, &f->err),
            &f->err);
    }
    assert_int_equal(pawl_error_class(held.status), PAWL_CLASS_UNKNOWN); /* nobody knows */
    assert_true(held.valid_until_ns == until_ns);
    test_program_continue(&f->server.program);
    /* The attempt may have come through: releasing it makes sure. */
    assert_true(release(f, f->a, &mine) != PAWL_EUNKNOWN);
    assert_int_equal(renew(f, f->a, &held), PAWL_OK);
    test_azurite_crash(&f->server);
    assert_code(try_lock(f, f->b, &mine), PAWL_EUNAVAILABLE);
}

static void a_wrong_key_is_refused_with_what_to_check(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = open_at(f, "locks", "key=d3Jvbmc%3D");
    struct pawl_lock_grant mine = grant_for(f, "x", 0);

    assert_code(try_lock(f, p, &mine), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "check account and key"));
    p->ops->close(p);
}

static void a_clock_that_is_wrong_is_named_by_how_much(void **state)
{
    static const struct test_http_route routes[] = {
        {.method = PAWL_STR_LIT(""),
         .path = PAWL_STR_LIT("/devstoreaccount1/locks/x"),
         .status = 403,
         .content_type = PAWL_STR_LIT("application/xml"),
         .headers = PAWL_STR_LIT("x-ms-error-code: AuthenticationFailed\r\n"
                                 "Date: Mon, 16 Nov 2026 10:00:00 GMT\r\n"),
         .body = PAWL_STR_LIT("<Error><Code>AuthenticationFailed</Code></Error>")}};
    struct fixture *f = *state;
    struct test_http *server = test_http_start(routes, 1);
    struct pawl_lock_provider *provider = NULL;
    struct pawl_lock_grant mine = grant_for(f, "x", 0);
    struct pawl_shifted_env env;
    char uri[200];
    int64_t server_s = 0;

    assert_true(pawl__azure_date_parse(pawl__str("Mon, 16 Nov 2026 10:00:00 GMT"), &server_s));
    pawl__shifted_env_init(&env, f->env);
    env.wall_shift_ns = (server_s + 1201) * 1000 * MS - pawl_env_wall_ns(f->env);
    (void)snprintf(uri, sizeof uri, "azure://%s/devstoreaccount1/locks?http=1",
                   test_http_url(server) + strlen("http://"));
    assert_ok(pawl__azure_locks_open(&env.base, pawl__str(uri), NULL, &provider, &f->err), &f->err);
    assert_code(try_lock(f, provider, &mine), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "ahead of the service's"));
    assert_non_null(strstr(f->err.msg, " 120"));
    provider->ops->close(provider);
    test_http_stop(server);
}

static void a_certificate_is_verified_and_can_be_trusted_by_name(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_provider *p = NULL;
    struct pawl_lock_status status;
    struct test_azurite secure;
    char uri[300];

    test_azurite_start(&secure, true);
    (void)snprintf(uri, sizeof uri, "azure://127.0.0.1:%u/devstoreaccount1/locks?create=on",
                   (unsigned)secure.port);
    assert_ok(pawl__azure_locks_open(f->env, pawl__str(uri), NULL, &p, &f->err), &f->err);
    assert_code(p->ops->status(p, &status, soon(f), &f->err), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "?trust="));
    p->ops->close(p);
    (void)test_azurite_uri(&secure, "locks", "create=on", uri, sizeof uri);
    assert_ok(pawl__azure_locks_open(f->env, pawl__str(uri), NULL, &p, &f->err), &f->err);
    assert_ok(p->ops->status(p, &status, soon(f), &f->err), &f->err);
    assert_string_equal(status.warning, "");
    p->ops->close(p);
    test_azurite_stop(&secure);
}

/* ---- URIs --------------------------------------------------------------------------------- */

static const char *no_variables(const char *name)
{
    (void)name;
    return NULL;
}

static const char *some_variables(const char *name)
{
    if (strcmp(name, "AZURE_STORAGE_CONNECTION_STRING") == 0)
        return "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=a2V5;"
               "EndpointSuffix=core.example";
    return strcmp(name, "AZURE_STORAGE_KEY") == 0 ? "c2VjcmV0" : NULL;
}

static void uris_and_connection_strings_name_a_container(void **state)
{
    static const struct {
        const char *uri, *origin, *base, *container, *account, *sas;
        size_t key_len;
    } good[] = {
        {"azure://acme/locks?key=a2V5", "https://acme.blob.core.windows.net", "", "locks", "acme",
         "", 3},
        {"azure://acme.blob.example.com/locks/?key=a2V5", "https://acme.blob.example.com", "",
         "locks", "acme", "", 3},
        {"azure://127.0.0.1:7/devstoreaccount1/locks?http=1", "http://127.0.0.1:7",
         "/devstoreaccount1", "locks", "devstoreaccount1", "", 64},
        {"azure://acme/locks?sv=2021&sig=a%2Bb%3D&lease=20", "https://acme.blob.core.windows.net",
         "", "locks", "acme", "sv=2021&sig=a%2Bb%3D", 0},
        {"azure://acme/locks?sas=%3Fsv%3D2021%26sig%3Da%252Bb",
         "https://acme.blob.core.windows.net", "", "locks", "acme", "sv=2021&sig=a%2Bb", 0},
        {"azure:///locks?connection=UseDevelopmentStorage%3Dtrue", "http://127.0.0.1:10000",
         "/devstoreaccount1", "locks", "devstoreaccount1", "", 64},
        {"azure:///"
         "locks?connection=BlobEndpoint%3Dhttp%3A%2F%2F127.0.0.1%3A9%2Facc%2F%3BAccountName%"
         "3Dacc%3BAccountKey%3Da2V5",
         "http://127.0.0.1:9", "/acc", "locks", "acc", "", 3},
    };
    struct pawl_arena arena;
    struct azure_place place;
    struct fixture *f = *state;

    pawl__arena_init(&arena, &f->env->alloc, (size_t)1 << 20);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_ok(
            pawl__azure_place_read(pawl__str(good[i].uri), no_variables, &arena, &place, &f->err),
            &f->err);
        assert_string_equal(place.origin, good[i].origin);
        assert_string_equal(place.base_path, good[i].base);
        assert_string_equal(place.container, good[i].container);
        assert_string_equal(place.account, good[i].account);
        assert_string_equal(place.sas, good[i].sas);
        assert_int_equal(place.key_len, good[i].key_len);
    }
    assert_ok(pawl__azure_place_read(pawl__str("azure:///locks"), some_variables, &arena, &place,
                                     &f->err),
              &f->err);
    assert_string_equal(place.origin, "https://acme.blob.core.example");
    assert_int_equal(place.key_len, 3);
    assert_ok(pawl__azure_place_read(pawl__str("azure://acme/locks"), some_variables, &arena,
                                     &place, &f->err),
              &f->err);
    assert_int_equal(place.key_len, 6);
    pawl__arena_release(&arena);
}

static void wrong_uris_and_leases_are_refused_with_what_to_write(void **state)
{
    static const struct {
        const char *uri, *word;
    } wrong[] = {
        {"azure:acme/locks", "//"},
        {"azure://acme/locks", "AZURE_STORAGE_KEY"},
        {"azure://acme/?key=a2V5", "container"},
        {"azure://acme/lo%20cks?key=a2V5", "container"},
        {"azure://acme/locks?key=not-base64!", "base64"},
        {"azure://acme/locks?kee=a2V5", "kee"},
        {"azure://user:pass@acme/locks", "?key="},
        {"azure://acme/locks?key=a2V5&lease=14", "15 to 60"},
        {"azure://acme/locks?key=a2V5&lease=61", "15 to 60"},
        {"azure:///locks?key=a2V5", "account"},
        {"azure:///locks?connection=AccountKey%3Da2V5", "AccountName"},
    };
    static const struct pawl_lock_provider_options leases[] = {
        {.ttl_ms = 14000}, {.ttl_ms = 61000}, {.ttl_ms = 20500}};
    struct fixture *f = *state;
    struct pawl_lock_provider *p = NULL;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_code(pawl__azure_locks_open(f->env, pawl__str(wrong[i].uri), NULL, &p, &f->err),
                    PAWL_EINVAL);
        if (!strstr(f->err.msg, wrong[i].word))
            fail_msg("%s: %s", wrong[i].uri, f->err.msg);
        assert_null(strstr(f->err.msg, "a2V5"));
    }
    for (size_t i = 0; i < sizeof leases / sizeof leases[0]; i++) {
        assert_code(pawl__azure_locks_open(f->env, pawl__str("azure://acme/locks?key=a2V5"),
                                           &leases[i], &p, &f->err),
                    PAWL_EINVAL);
        assert_non_null(strstr(f->err.msg, "15 to 60"));
    }
}

static void dates_are_written_and_read_as_http_has_them(void **state)
{
    char text[AZURE_DATE_SIZE];
    int64_t seconds = 0;

    (void)state;
    pawl__azure_date_format(INT64_C(1794823200) * 1000 * MS, text);
    assert_string_equal(text, "Mon, 16 Nov 2026 10:00:00 GMT");
    assert_true(pawl__azure_date_parse(pawl__str(text), &seconds));
    assert_true(seconds == 1794823200);
    pawl__azure_date_format(0, text);
    assert_string_equal(text, "Thu, 01 Jan 1970 00:00:00 GMT");
    assert_false(pawl__azure_date_parse(pawl__str("Mon, 31 Feb 2026 10:00:00 GMT"), &seconds));
    assert_false(pawl__azure_date_parse(pawl__str("yesterday"), &seconds));
}

/* ---- a shared access signature -------------------------------------------------------------- */

/* The parameters of an account signature for the emulator, made by what Azure's documents say. */
static void make_sas(struct azure_locks *locks, char *out, size_t size)
{
    static const char expiry[] = "2099-01-01T00:00:00Z";
    unsigned char digest[PAWL_SHA256_BYTES];
    char text[300], encoded[48], escaped[160] = "";

    (void)snprintf(text, sizeof text,
                   "devstoreaccount1\nrwdlac\nb\nsco\n\n%s\n\nhttp,https\n%s\n\n", expiry,
                   AZURE_VERSION);
    pawl__hmac_sha256(pawl__str_make((const char *)locks->place.key, locks->place.key_len),
                      pawl__str(text), digest);
    pawl__base64_encode(digest, sizeof digest, encoded);
    encoded[44] = 0;
    for (const char *c = encoded; *c; c++)
        (void)snprintf(escaped + strlen(escaped), sizeof escaped - strlen(escaped),
                       *c == '+' || *c == '/' || *c == '=' ? "%%%02X" : "%c", *c);
    (void)snprintf(out, size,
                   "sv=%s&ss=b&srt=sco&sp=rwdlac&se=2099-01-01T00%%3A00%%3A00Z"
                   "&spr=http%%2Chttps&sig=%s",
                   AZURE_VERSION, escaped);
}

static void a_shared_access_signature_does_instead_of_the_key(void **state)
{
    struct fixture *f = *state;
    struct pawl_lock_grant mine = grant_for(f, "by sas", PAWL_LOCK_WANT_TOKEN);
    struct pawl_lock_grant other = grant_for(f, "by sas", 0);
    struct pawl_lock_provider *p;
    char sas[400];

    make_sas((struct azure_locks *)f->a, sas, sizeof sas);
    p = open_at(f, "locks", sas);
    assert_ok(try_lock(f, p, &mine), &f->err);
    assert_code(try_lock(f, f->b, &other), PAWL_EBUSY);
    assert_int_equal(renew(f, p, &mine), PAWL_OK);
    assert_ok(release(f, p, &mine), &f->err);
    p->ops->close(p);
    /* One that is forged. */
    sas[strlen(sas) - 5] = sas[strlen(sas) - 5] == 'A' ? 'B' : 'A';
    p = open_at(f, "locks", sas);
    assert_code(try_lock(f, p, &mine), PAWL_EPERM);
    assert_non_null(strstr(f->err.msg, "signature"));
    p->ops->close(p);
}

/* ---- memory ------------------------------------------------------------------------------- */

static int open_and_lock(struct test_allocator *alloc, void *arg)
{
    struct fixture *f = arg;
    struct pawl_lock_provider *provider = NULL;
    struct pawl_lock_grant grant = grant_for(f, "swept", PAWL_LOCK_WANT_TOKEN);
    struct pawl_lock_grant *const grants[] = {&grant};
    struct pawl_shifted_env env;
    char uri[300];
    int status;

    pawl__shifted_env_init(&env, f->env);
    env.base.alloc = alloc->base;
    (void)test_azurite_uri(&f->server, "locks", "", uri, sizeof uri);
    status = pawl__azure_locks_open(&env.base, pawl__str(uri), NULL, &provider, &f->err);
    if (status != PAWL_OK)
        return status;
    status = provider->ops->try_(provider, &grant, soon(f), &f->err);
    if (status == PAWL_OK)
        status = provider->ops->renew(provider, grants, 1, soon(f), &f->err);
    if (status == PAWL_OK)
        status = grant.status;
    if (status == PAWL_OK)
        status = provider->ops->release(provider, &grant, soon(f), &f->err);
    provider->ops->close(provider);
    /* What it took is given back with memory. */
    (void)f->a->ops->release(f->a, &grant, soon(f), NULL);
    /* An answer for which there was no memory is no answer. */
    return status == PAWL_EUNKNOWN || status == PAWL_EUNAVAILABLE ? PAWL_ENOMEM : status;
}

static void running_out_of_memory_is_an_error(void **state)
{
    test_sweep_allocations(open_and_lock, *state, 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lease_is_held_by_one_and_free_after_release),
        cmocka_unit_test(an_attempt_that_is_repeated_finds_its_own_lease),
        cmocka_unit_test(names_of_all_kinds_are_locks),
        cmocka_unit_test(a_name_that_leaves_the_container_is_refused),
        cmocka_unit_test(a_lease_that_is_broken_is_lost),
        cmocka_unit_test(a_container_that_is_deleted_loses_the_lock),
        cmocka_unit_test(a_leased_container_and_blobs_of_other_kinds_do_not_hinder),
        cmocka_unit_test(the_lease_guards_writes_to_the_blob),
        cmocka_unit_test(tokens_grow_also_when_the_blob_was_deleted),
        cmocka_unit_test(metadata_of_others_is_kept),
        cmocka_unit_test(what_is_held_is_listed),
        cmocka_unit_test(many_leases_are_renewed_at_a_time),
        cmocka_unit_test(a_wrong_key_is_refused_with_what_to_check),
        cmocka_unit_test(a_clock_that_is_wrong_is_named_by_how_much),
        cmocka_unit_test(a_certificate_is_verified_and_can_be_trusted_by_name),
        cmocka_unit_test(uris_and_connection_strings_name_a_container),
        cmocka_unit_test(wrong_uris_and_leases_are_refused_with_what_to_write),
        cmocka_unit_test(dates_are_written_and_read_as_http_has_them),
        cmocka_unit_test(a_shared_access_signature_does_instead_of_the_key),
        cmocka_unit_test(running_out_of_memory_is_an_error),
        cmocka_unit_test(a_lease_that_ended_while_its_holder_was_paused_is_lost),
        /* The last: the service is gone afterwards. */
        cmocka_unit_test(a_service_that_is_down_is_unavailable_and_one_that_is_silent_unknown),
    };

    return cmocka_run_group_tests_name("locks/azure", tests, open_server, close_server);
}
