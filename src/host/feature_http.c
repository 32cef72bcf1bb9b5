/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that workflows send, as a feature: libcurl, with the limits of the configuration. */
#include "base/error.h"
#include "drivers/curl.h"
#include "host/features.h"

static int build_http(struct pawl_host *host, void *ctx, void **service, struct pawl_error *err)
{
    const struct pawl_configuration *configuration = pawl__host_configuration(host);
    struct pawl_curl_options options = {
        .timeout_ns = pawl__configuration_number(configuration, PAWL_SETTING_ID_HTTP_TIMEOUT),
        .response_bytes_max =
            (size_t)pawl__configuration_number(configuration, PAWL_SETTING_ID_HTTP_RESPONSE_MAX),
    };
    struct pawl_env *outside = pawl__host_surroundings(host)->outside;
    struct pawl_http_executor *executor = NULL;
    int status = pawl__addresses_parse(
        pawl__str(pawl__configuration_text(configuration, PAWL_SETTING_ID_HTTP_DENY)),
        &options.deny, err);

    (void)ctx;
    if (status != PAWL_OK)
        return pawl__error_prefix(err, status, "the setting http.deny");
    status = pawl__curl_open(outside ? outside : pawl__host_env(host), &options, &executor, err);
    if (status == PAWL_OK)
        *service = executor;
    return status;
}

static void close_http(void *ctx, void *service)
{
    (void)ctx;
    pawl_http_close(service);
}

static const struct pawl_service_factory curl = {"curl", build_http, close_http, NULL};

static int apply_http(struct pawl_host *host, struct pawl_error *err)
{
    return pawl__host_fill(host, PAWL_SLOT_HTTP, &curl, err);
}

const struct pawl_feature pawl__feature_http = {"http", apply_http};
