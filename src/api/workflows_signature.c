/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Endpoints that take signed requests alone (base/signature.h). The body is checked byte for byte
 * as it came, before anything else is done with it. What cannot be checked is refused.
 */
#include "api/workflows.h"

#include "api/endpoint.h"
#include "base/log.h"
#include "base/signature.h"
#include "host/host.h"

/* Of the setting: "github=abc stripe=def". ptr NULL: there is none of that name. */
static struct pawl_str secret_of(const struct api_call *call, struct pawl_str name)
{
    struct pawl_str all = pawl__str(pawl__configuration_text(
        pawl__host_configuration(call->op.host), PAWL_SETTING_ID_ENDPOINTS_SECRETS));

    for (size_t at = 0; at < all.len;) {
        size_t end = pawl__str_find(all, ' ', at);
        struct pawl_str item = pawl__str_slice(all, at, end);
        size_t equals = pawl__str_find(item, '=', 0);

        if (equals != SIZE_MAX && equals + 1 < item.len &&
            pawl__str_equal(pawl__str_slice(item, 0, equals), name))
            return pawl__str_slice(item, equals + 1, item.len);
        if (end == SIZE_MAX)
            break;
        at = end + 1;
    }
    return pawl__str_make(NULL, 0);
}

static struct pawl_str field(struct api_call *call, struct pawl_str name)
{
    struct pawl_str copy = pawl__arena_str(&call->arena, name), value = {NULL, 0};

    if (copy.len > 0)
        value = pawl__exchange_field(call->exchange, copy.ptr);
    return value.ptr ? value : pawl__str("");
}

/* The one who made the definition learns why, the sender does not. */
static bool refuse_rule(struct api_call *call, const struct pawl_endpoint *endpoint,
                        const char *why)
{
    if (call->api->log)
        pawl_log(call->api->log, PAWL_LOG_ERROR, "a signed request cannot be checked",
                 pawl_log_str("path", endpoint->template.ptr, endpoint->template.len),
                 pawl_log_text("why", why));
    pawl__exchange_refuse(call->exchange, 500,
                          "The signature of this request cannot be checked: ask the operator.");
    return false;
}

bool api_workflow_is_signed(struct api_call *call, const struct pawl_endpoint *endpoint)
{
    struct pawl_signature_rule rule;
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_signed what;
    struct pawl_str key;

    if (pawl__json_is(&endpoint->signature, PAWL_JSON_NULL))
        return true;
    if (pawl__signature_rule_read(&endpoint->signature, &rule, &err) != PAWL_OK)
        return refuse_rule(call, endpoint, err.msg);
    key = secret_of(call, rule.secret);
    if (!key.ptr)
        return refuse_rule(call, endpoint,
                           "endpoints.secrets has no secret of the name that the signature has");
    what = (struct pawl_signed){
        .code = field(call, rule.header),
        .timestamp = field(call, rule.timestamp_header),
        .body = pawl__exchange_body(call->exchange),
        .now_s = pawl_env_wall_ns(call->api->env) / INT64_C(1000000000),
    };
    switch (pawl__signature_check(&rule, key, &what, &call->api->env->alloc)) {
    case PAWL_SIGNATURE_GOOD:
        return true;
    case PAWL_SIGNATURE_MISSING:
        pawl__exchange_refuse(call->exchange, 401, "The request is not signed.");
        return false;
    case PAWL_SIGNATURE_WRONG:
        pawl__exchange_refuse(call->exchange, 401, "The signature of the request is wrong.");
        return false;
    case PAWL_SIGNATURE_STALE:
        pawl__exchange_refuse(call->exchange, 401,
                              "The signature of the request is too old, or of the future.");
        return false;
    case PAWL_SIGNATURE_NO_MEMORY:
        break;
    }
    api_fail(call, PAWL_ENOMEM);
    return false;
}
