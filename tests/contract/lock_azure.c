/* SPDX-License-Identifier: Apache-2.0 */
/* The contract on leases of Azure blobs, on Azurite. */
#include "contract/lock_suite.h"
#include "locks/azure_private.h"
#include "servers/azurite.h"

#include <stdio.h>

/* Breaks the lease, as an administrator does. */
static void take_away(void *ctx, struct pawl_env *env, struct pawl_str name)
{
    const char *uri = ctx;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_lock_provider *provider;
    struct azure_call call;

    assert_ok(pawl__azure_locks_open(env, pawl__str(uri), NULL, &provider, &err), &err);
    pawl__azure_call_init(&call, (struct azure_locks *)provider, "PUT", "comp=lease");
    assert_ok(pawl__azure_call_path(&call, &name, &err), &err);
    pawl__azure_call_header(&call, "x-ms-lease-action", "break");
    pawl__azure_call_header(&call, "x-ms-lease-break-period", "0");
    assert_ok(pawl__azure_call(&call, PAWL_FOREVER, &err), &err);
    assert_int_equal(call.http, 202);
    pawl__azure_call_release(&call);
    provider->ops->close(provider);
}

int main(void)
{
    struct lock_contract contract = {.title = "leases of Azure blobs",
                                     .ttl_ms = PAWL_AZURE_LEASE_MS_MIN,
                                     .take_away = take_away,
                                     .workers = 8,
                                     .repeats = 300};
    struct test_azurite server;
    int failed;

    test_azurite_start(&server, false);
    (void)test_azurite_uri(&server, "contract", "create=on", contract.uri, sizeof contract.uri);
    (void)snprintf(contract.down_uri, sizeof contract.down_uri,
                   "azure://127.0.0.1:1/devstoreaccount1/locks?http=on");
    contract.ctx = contract.uri;
    failed = lock_contract_main(&contract);
    test_azurite_stop(&server);
    return failed;
}
