/* SPDX-License-Identifier: Apache-2.0 */
/* The families of endpoints, and the way from a route to its endpoint. */
#include "api/endpoint.h"

#include "api/private.h"
#include "base/alloc.h"

/* clang-format off */
const struct api_family *const api_families[] = {
    &api_alterations,
    &api_dashboard,
    &api_definitions_bulk,
    &api_definitions_change,
    &api_definitions_export,
    &api_definitions_list,
    &api_definitions_save,
    &api_definitions_show,
    &api_descriptors,
    &api_events,
    &api_execute,
    &api_features,
    &api_instances,
    &api_instances_files,
    &api_instances_list,
    &api_journal,
    &api_letters,
    &api_links,
    &api_openapi,
    &api_own,
    &api_own_cluster,
    &api_probe,
    &api_runtime,
    &api_scripting,
    &api_workflows,
};
/* clang-format on */
const size_t api_family_count = sizeof api_families / sizeof api_families[0];

void api_keep(struct api_call *call)
{
    (void)atomic_fetch_add(&call->users, 1);
}

void api_finish(struct api_call *call)
{
    const struct pawl_allocator *alloc = &call->api->env->alloc;

    if (atomic_fetch_sub(&call->users, 1) > 1)
        return;
    api_end(call);
    pawl__free(alloc, call, sizeof *call);
}

void api_enter(struct pawl_exchange *exchange, void *ctx)
{
    struct pawl_api *api = ctx;
    const struct api_endpoint *endpoint = pawl__exchange_route(exchange)->about;
    struct api_call *call = pawl__alloc(&api->env->alloc, sizeof *call);
    void *request;

    if (!call) {
        pawl__exchange_refuse(exchange, 503, "There is no memory left; try again later.");
        return;
    }
    api_begin(call, exchange, ctx);
    if (api_bind(call, endpoint, &request))
        endpoint->handle(call, request);
    api_finish(call);
}
