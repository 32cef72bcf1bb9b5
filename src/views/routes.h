/* SPDX-License-Identifier: Apache-2.0 */
/* Views of the routes of workflows. */
#ifndef PAWL_VIEWS_ROUTES_H
#define PAWL_VIEWS_ROUTES_H

#include "operations/routes.h"
#include "views/view.h"

/* method, path, definitionId?, activityId?, waiting, authorize, policy?, isSigned, curl: a command
 * that sends such a request to the server at `address`, "http://127.0.0.1:5001". */
struct pawl_json pawl__view_route(struct pawl_builder *b, const struct pawl_endpoint_route *route,
                                  struct pawl_str address);

#endif
