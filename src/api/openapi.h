/* SPDX-License-Identifier: Apache-2.0 */
/* The API as a document: OpenAPI 3.1, made from the table of routes. */
#ifndef PAWL_API_OPENAPI_H
#define PAWL_API_OPENAPI_H

#include "base/json/json.h"
#include "http/route.h"

/* One value; failures are the status of the writer's buffer. */
void pawl__api_openapi_write(struct pawl_json_writer *json, const struct pawl_route *routes,
                             size_t count);

/* What a route does, in one line; "": nothing is known. */
const char *pawl__api_summary(const struct pawl_route *route);
/* The family of a route: "Workflow definitions". */
const char *pawl__api_tag(const struct pawl_route *route);

#endif
