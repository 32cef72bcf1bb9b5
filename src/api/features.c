/* SPDX-License-Identifier: Apache-2.0 */
/* What this server is and has. */
#include "api/endpoint.h"
#include "api/private.h"

/* The version of Elsa whose API this is: clients ask before they rely on something. */
#define ELSA_VERSION "3.8.0"

static void show_version(struct api_call *call, const void *request)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object();

    (void)request;
    pawl__build_name(&b, &out, "packageVersion", ELSA_VERSION);
    api_respond(call, &b, &out);
}

static const struct api_endpoint endpoints[] = {
    {.method = "GET",
     .path = API_ELSA "/package/version",
     .handle = show_version,
     .summary = "The version of Elsa whose API this is",
     .result = "PackageVersion"},
};
const struct api_family api_features = API_FAMILY("Features", endpoints);
