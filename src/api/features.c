/* SPDX-License-Identifier: Apache-2.0 */
/* What this server is and has. */
#include "api/items.h"
#include "views/catalogs.h"

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

static void show_root(struct api_call *call, const void *request)
{
    (void)request;
    pawl__buf_text(pawl__exchange_out(call->exchange), "Pawl is up; /health/ready says how.\n");
    pawl__exchange_add_field(call->exchange, "Content-Type", "text/plain");
    api_respond_status(call, 200);
}

/* ---- features ------------------------------------------------------------------------------- */

struct feature_request {
    struct pawl_str name;
};

static const struct api_field feature_fields[] = {
    API_FIELD(struct feature_request, name, "name", API_TEXT, API_IN_PATH),
};

static void list_features(struct api_call *call, const void *request)
{
    struct pawl_builder b = {.arena = &call->arena};

    (void)request;
    api_respond_items(call, &b, pawl__view_features(&b));
}

static void show_feature(struct api_call *call, const void *data)
{
    const struct feature_request *request = data;
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json all = pawl__view_features(&b);

    for (uint32_t i = 0; i < pawl__json_len(&all); i++) {
        const struct pawl_json *one = pawl__json_at(&all, i);

        if (pawl__str_equal(pawl__json_str(pawl__json_get_text(one, "fullName")), request->name)) {
            api_respond(call, &b, one);
            return;
        }
    }
    api_respond_status(call, 404);
}

/* ---- resilience ----------------------------------------------------------------------------- */

/* Strategies of retries are written into activities; none has a name here. */
static void list_strategies(struct api_call *call, const void *request)
{
    pawl__buf_text(pawl__exchange_out(call->exchange), "{\"items\":[],\"count\":0}");
    pawl__exchange_add_field(call->exchange, "Content-Type", "application/json; charset=utf-8");
    api_respond_status(call, 200);
    (void)request;
}

/* Pawl keeps no record of single attempts. */
static void list_retries(struct api_call *call, const void *request)
{
    struct pawl_builder b = {.arena = &call->arena};
    struct pawl_json out = pawl__json_object();

    (void)request;
    pawl__build(&b, &out, "items", pawl__json_array());
    pawl__build_int(&b, &out, "totalCount", 0);
    pawl__build(&b, &out, "links", pawl__json_array());
    api_respond(call, &b, &out);
}

static const struct api_endpoint endpoints[] = {
    {.method = "GET", .path = "/", .handle = show_root, .summary = "Whether the server is up"},
    {.method = "GET",
     .path = API_ELSA "/features/installed",
     .permission = "read:installed-features read:*",
     .handle = list_features,
     .summary = "Features of Elsa that are installed",
     .result = "Features"},
    {.method = "GET",
     .path = API_ELSA "/features/installed/{name}",
     .permission = "read:installed-features read:*",
     .handle = show_feature,
     API_FIELDS(struct feature_request, feature_fields),
     .summary = "One feature by its full name",
     .result = "Feature"},
    {.method = "GET",
     .path = API_ELSA "/resilience/strategies",
     .permission = "read:resilience read:resilience:strategies read:*",
     .handle = list_strategies,
     .summary = "Strategies of retries that have a name: none",
     .result = "Items"},
    {.method = "GET",
     .path = API_ELSA "/resilience/retries/{id}",
     .permission = "read:resilience read:resilience:retries read:*",
     .handle = list_retries,
     .summary = "Attempts of an execution of an activity: none are kept",
     .result = "Items"},
    {.method = "GET",
     .path = API_ELSA "/package/version",
     .handle = show_version,
     .summary = "The version of Elsa whose API this is",
     .result = "PackageVersion"},
};
const struct api_family api_features = API_FAMILY("Features", endpoints);
