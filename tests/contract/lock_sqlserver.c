/* SPDX-License-Identifier: Apache-2.0 */
/* The contract on application locks of SQL Server, by the double. */
#include "contract/lock_suite.h"
#include "servers/tds.h"

#include <stdio.h>

/* Ends the session, as an administrator's KILL does. */
static void take_away(void *ctx, struct pawl_env *env, struct pawl_str name)
{
    struct test_tds *server = ctx;
    char spid[16];

    (void)env;
    (void)snprintf(spid, sizeof spid, "%s", test_tds_tell(server, "held %.*s", PAWL_STR_ARG(name)));
    (void)test_tds_tell(server, "kill %s", spid);
}

int main(void)
{
    struct lock_contract contract = {
        .title = "locks of SQL Server", .take_away = take_away, .workers = 32};
    struct test_tds server;
    int failed;

    test_tds_start(&server, TEST_TDS_PLAIN);
    (void)test_tds_uri(&server, "", contract.uri, sizeof contract.uri);
    (void)snprintf(contract.down_uri, sizeof contract.down_uri,
                   "sqlserver://sa:x@127.0.0.1:1/locks?encrypt=off");
    contract.ctx = &server;
    failed = lock_contract_main(&contract);
    test_tds_stop(&server);
    return failed;
}
