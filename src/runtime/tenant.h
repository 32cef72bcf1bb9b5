/* SPDX-License-Identifier: Apache-2.0 */
/* Tenants: a store is one tenant's, the default one, which is called "". */
#ifndef PAWL_RUNTIME_TENANT_H
#define PAWL_RUNTIME_TENANT_H

#include "base/json/json.h"

#include <pawl/error.h>

/*
 * Whether a document, which is `what` ("the definition", …), may be stored: its tenantId, however
 * that is spelled, is missing, null, "" or "*", which is every tenant's. PAWL_EUNSUPPORTED: it is
 * of another tenant; PAWL_EPARSE: not a string. What is not an object has no tenant.
 */
PAWL_MUST_CHECK int pawl__tenant_check(const struct pawl_json *document, const char *what,
                                       struct pawl_error *err);
/* Each member of an array, or of what stands for one ("$values"). NULL allowed. */
PAWL_MUST_CHECK int pawl__tenant_check_all(const struct pawl_json *documents, const char *what,
                                           struct pawl_error *err);

#endif
