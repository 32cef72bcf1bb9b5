/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of other tenants; see tenant.h. */
#include "runtime/tenant.h"

#include "base/error.h"

/* Of a name that somebody made up: so much is repeated. */
#define NAME_MAX 64

int pawl__tenant_check(const struct pawl_json *document, const char *what, struct pawl_error *err)
{
    const struct pawl_json *tenant = pawl__json_is(document, PAWL_JSON_OBJECT)
                                         ? pawl__json_get_nocase(document, pawl__str("tenantId"))
                                         : NULL;
    struct pawl_str name = pawl__json_str(tenant);

    if (pawl__json_type(tenant) == PAWL_JSON_NULL)
        return PAWL_OK;
    if (!pawl__json_is(tenant, PAWL_JSON_STRING))
        return pawl__error_set(err, PAWL_EPARSE, "the tenantId of %s is %s, not a string", what,
                               pawl__json_type_name(tenant));
    if (name.len == 0 || pawl__str_is(name, "*"))
        return PAWL_OK;
    return pawl__error_set(err, PAWL_EUNSUPPORTED,
                           "%s is of tenant '%.*s', and this store is of the default tenant: each "
                           "tenant has a store of its own. Import it into that tenant's store, "
                           "without the tenantId",
                           what, (int)(name.len < NAME_MAX ? name.len : NAME_MAX), name.ptr);
}

int pawl__tenant_check_all(const struct pawl_json *documents, const char *what,
                           struct pawl_error *err)
{
    int status = PAWL_OK;

    if (pawl__json_is(documents, PAWL_JSON_OBJECT))
        documents = pawl__json_get_text(documents, "$values");
    if (!pawl__json_is(documents, PAWL_JSON_ARRAY))
        return PAWL_OK;
    for (uint32_t i = 0; i < pawl__json_len(documents) && status == PAWL_OK; i++)
        status = pawl__tenant_check(pawl__json_at(documents, i), what, err);
    return status;
}
