/* SPDX-License-Identifier: Apache-2.0 */
/* The contract on lock files. */
#include "contract/lock_suite.h"

#include <stdio.h>
#include <stdlib.h>

/* Removes the folder, as somebody does who tidies up. */
static void take_away(void *ctx, struct pawl_env *env, struct pawl_str name)
{
    char command[96];

    (void)env;
    (void)name;
    (void)snprintf(command, sizeof command, "rm -rf '%s/locks'", (const char *)ctx);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    struct lock_contract contract = {
        .title = "locks by files", .take_away = take_away, .workers = 100};
    char folder[] = "/tmp/pawl-contract-XXXXXX", command[64];
    int failed;

    if (!mkdtemp(folder))
        return 1;
    contract.ctx = folder;
    (void)snprintf(contract.uri, sizeof contract.uri, "file:%s/locks", folder);
    (void)snprintf(contract.down_uri, sizeof contract.down_uri, "file:/dev/null/locks");
    failed = lock_contract_main(&contract);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? failed : 1;
}
