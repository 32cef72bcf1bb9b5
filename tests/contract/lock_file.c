/* SPDX-License-Identifier: Apache-2.0 */
/* The contract on lock files. */
#include "contract/lock_suite.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    struct lock_contract contract = {.title = "locks by files", .workers = 100};
    char folder[] = "/tmp/pawl-contract-XXXXXX", command[64];
    int failed;

    if (!mkdtemp(folder))
        return 1;
    (void)snprintf(contract.uri, sizeof contract.uri, "file:%s/locks", folder);
    (void)snprintf(contract.down_uri, sizeof contract.down_uri, "file:/dev/null/locks");
    failed = lock_contract_main(&contract);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? failed : 1;
}
