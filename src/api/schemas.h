/* SPDX-License-Identifier: Apache-2.0 */
/* Documents that endpoints name, described: JSON Schema, as the OpenAPI document has it. */
#ifndef PAWL_API_SCHEMAS_H
#define PAWL_API_SCHEMAS_H

#include <stdbool.h>
#include <stddef.h>

struct api_schema {
    const char *name, *json;
};

extern const struct api_schema api_schemas[];
extern const size_t api_schema_count;

bool api_schema_find(const char *name);

#endif
