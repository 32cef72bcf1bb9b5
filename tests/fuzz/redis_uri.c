/* SPDX-License-Identifier: Apache-2.0 */
/* Any URI is refused with a message or names servers that can be asked. */
#include "base/assert.h"
#include "locks/redis_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_error err = PAWL_ERROR_INIT;
    struct redis_uri uri;
    int status = pawl__redis_uri_read(pawl__str_make((const char *)data, size), &uri, &err);

    PAWL_ASSERT(status == PAWL_OK || (err.code == status && err.msg[0] != '\0'));
    if (status != PAWL_OK)
        return 0;
    PAWL_ASSERT(uri.node_count >= 1 && uri.node_count <= REDIS_NODES_MAX);
    for (size_t i = 0; i < uri.node_count; i++) {
        PAWL_ASSERT(uri.nodes[i].host[0] != '\0' && uri.nodes[i].port != 0);
        PAWL_ASSERT(memchr(uri.nodes[i].password, 0, sizeof uri.nodes[i].password));
    }
    return 0;
}
