/* SPDX-License-Identifier: Apache-2.0 */
/* The server's limits as the settings server.* have them. */
#include "api/private.h"
#include "host/host.h"

#define NS_PER_MS INT64_C(1000000)

static int64_t number(const struct pawl_configuration *configuration, enum pawl_setting_id id)
{
    return pawl__configuration_number(configuration, id);
}

/* At least one: a setting may be finer than a millisecond. */
static int64_t milliseconds(const struct pawl_configuration *configuration, enum pawl_setting_id id)
{
    int64_t ms = number(configuration, id) / NS_PER_MS;

    return ms > 0 ? ms : 1;
}

struct pawl_server_limits pawl__api_limits(const struct pawl_configuration *c)
{
    struct pawl_server_limits limits = pawl__server_limits();

    limits.connections_max = (uint32_t)number(c, PAWL_SETTING_ID_SERVER_CONNECTIONS);
    limits.connections_per_address_max =
        (uint32_t)number(c, PAWL_SETTING_ID_SERVER_CONNECTIONS_ADDRESS);
    limits.head_bytes_max = (uint32_t)number(c, PAWL_SETTING_ID_SERVER_HEAD_MAX);
    limits.target_bytes_max = (uint32_t)number(c, PAWL_SETTING_ID_SERVER_TARGET_MAX);
    limits.body_bytes_max = (uint64_t)number(c, PAWL_SETTING_ID_SERVER_BODY_MAX);
    limits.bodies_bytes_max = (uint64_t)number(c, PAWL_SETTING_ID_SERVER_BODIES_MAX);
    limits.response_bytes_max = (uint64_t)number(c, PAWL_SETTING_ID_SERVER_RESPONSE_MAX);
    limits.replies_bytes_max = (uint64_t)number(c, PAWL_SETTING_ID_SERVER_REPLIES_MAX);
    limits.stream_bytes_max = (uint64_t)number(c, PAWL_SETTING_ID_SERVER_STREAM_MAX);
    limits.queue_max = (uint32_t)number(c, PAWL_SETTING_ID_SERVER_QUEUE);
    limits.threads_max = (uint32_t)number(c, PAWL_SETTING_ID_SERVER_THREADS);
    limits.rate_bytes_min = (uint32_t)number(c, PAWL_SETTING_ID_SERVER_RATE_MIN);
    limits.head_ms = milliseconds(c, PAWL_SETTING_ID_SERVER_HEAD_TIMEOUT);
    limits.body_ms = milliseconds(c, PAWL_SETTING_ID_SERVER_BODY_TIMEOUT);
    limits.request_ms = milliseconds(c, PAWL_SETTING_ID_SERVER_REQUEST_TIMEOUT);
    limits.send_ms = milliseconds(c, PAWL_SETTING_ID_SERVER_SEND_TIMEOUT);
    limits.idle_ms = milliseconds(c, PAWL_SETTING_ID_SERVER_IDLE_TIMEOUT);
    limits.heartbeat_ms = milliseconds(c, PAWL_SETTING_ID_SERVER_HEARTBEAT);
    if (!number(c, PAWL_SETTING_ID_SERVER_COMPRESSION))
        limits.compress_bytes_min = 0;
    return limits;
}
