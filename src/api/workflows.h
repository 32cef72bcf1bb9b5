/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to workflows: what workflows.c and those beside it share. */
#ifndef PAWL_API_WORKFLOWS_H
#define PAWL_API_WORKFLOWS_H

#include "api/private.h"
#include "http/query.h"
#include "operations/endpoints.h"

/* The path behind the base path, as it came. */
struct pawl_str api_workflow_path(const struct api_call *call);

/*
 * The request as a workflow gets it (base/http_message.h). PAWL_EINVAL: its form cannot be read;
 * call->err says why. PAWL_ELIMIT, PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int api_workflow_request(struct api_call *call, const struct pawl_query *query,
                                         struct pawl_json *out);

/* Whether "name=value" is a cookie of the server's own pages: workflows neither get nor set them. */
bool api_is_own_cookie(struct pawl_str cookie);

/* Appends the body of a reply, or the content of one of its files. */
void api_workflow_body(struct pawl_buf *out, const struct pawl_json *reply);

/* workflows_signature.c: whether the request is signed as the endpoint demands. false: it was
 * refused. */
bool api_workflow_is_signed(struct api_call *call, const struct pawl_endpoint *endpoint);

/* workflows_file.c: writes a reply that is a file, as the client asked for it. The status. */
int api_workflow_file(struct api_call *call, const struct pawl_json *reply);

#endif
