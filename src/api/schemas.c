/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas of documents; see schemas.h. Those of others are objects, and nothing is said of them. */
#include "api/schemas.h"

#include <string.h>

/* clang-format off */
#define TEXT "{\"type\":\"string\"}"
#define TIME "{\"type\":\"string\",\"format\":\"date-time\"}"
#define NUMBER "{\"type\":\"integer\"}"
#define FLAG "{\"type\":\"boolean\"}"
#define OBJECT "{\"type\":\"object\"}"
#define LIST(item) "{\"type\":\"array\",\"items\":" item "}"
#define REF(name) "{\"$ref\":\"#/components/schemas/" name "\"}"
#define MEMBER(name, schema) "\"" name "\":" schema
#define SCHEMA(members) "{\"type\":\"object\",\"properties\":{" members "}}"

#define PARTS                                                                                      \
    MEMBER("id", TEXT) "," MEMBER("definitionId", TEXT) "," MEMBER("name", TEXT) ","               \
    MEMBER("description", TEXT) "," MEMBER("createdAt", TIME) "," MEMBER("version", NUMBER) ","    \
    MEMBER("toolVersion", TEXT) "," MEMBER("isReadonly", FLAG) "," MEMBER("isLatest", FLAG) ","    \
    MEMBER("isPublished", FLAG)
#define CONTENT                                                                                    \
    MEMBER("variables", LIST(OBJECT)) "," MEMBER("inputs", LIST(OBJECT)) ","                       \
    MEMBER("outputs", LIST(OBJECT)) "," MEMBER("outcomes", LIST(TEXT)) ","                         \
    MEMBER("customProperties", OBJECT) "," MEMBER("options", OBJECT)

const struct api_schema api_schemas[] = {
    {"Problem", SCHEMA(MEMBER("statusCode", NUMBER) "," MEMBER("message", TEXT) ","
        MEMBER("errors", "{\"type\":\"object\",\"additionalProperties\":" LIST(TEXT) "}"))},
    {"Link", SCHEMA(MEMBER("href", TEXT) "," MEMBER("rel", TEXT) "," MEMBER("method", TEXT))},
    {"Activity", "{\"type\":\"object\",\"required\":[\"type\"],\"properties\":{"
        MEMBER("id", TEXT) "," MEMBER("nodeId", TEXT) "," MEMBER("name", "{\"type\":[\"string\",\"null\"]}") ","
        MEMBER("type", TEXT) "," MEMBER("version", NUMBER) "," MEMBER("customProperties", OBJECT) ","
        MEMBER("metadata", OBJECT) "}}"},
    {"WorkflowDefinition", SCHEMA(MEMBER("links", LIST(REF("Link"))) "," PARTS "," CONTENT ","
        MEMBER("isSystem", FLAG) "," MEMBER("root", REF("Activity")))},
    {"WorkflowDefinitionModel", SCHEMA(PARTS "," CONTENT "," MEMBER("root", REF("Activity")))},
    {"WorkflowDefinitionSummary", SCHEMA(PARTS "," MEMBER("providerName", TEXT) ","
        MEMBER("materializerName", TEXT))},
    {"WorkflowDefinitionList", SCHEMA(MEMBER("items", LIST(REF("WorkflowDefinitionSummary"))) ","
        MEMBER("totalCount", NUMBER) "," MEMBER("links", LIST(REF("Link"))))},
    {"WorkflowDefinitions", SCHEMA(MEMBER("items", LIST(REF("WorkflowDefinition"))) ","
        MEMBER("count", NUMBER))},
    {"WorkflowDefinitionSaved", SCHEMA(MEMBER("workflowDefinition", REF("WorkflowDefinition")) ","
        MEMBER("alreadyPublished", FLAG) "," MEMBER("consumingWorkflowCount", NUMBER) ","
        MEMBER("validationErrors", LIST(TEXT)))},
    {"StoredWorkflowDefinitions", LIST(SCHEMA(PARTS "," CONTENT "," MEMBER("stringData", TEXT)))},
    {"ConsumingWorkflowDefinitions", SCHEMA(MEMBER("consumingWorkflowDefinitionIds", LIST(TEXT)))},
    {"AffectedWorkflows", SCHEMA(MEMBER("affectedWorkflows", LIST(TEXT)))},
    {"RefreshedWorkflowDefinitions", SCHEMA(MEMBER("refreshed", LIST(TEXT)) ","
        MEMBER("notFound", LIST(TEXT)))},
    {"PublishedWorkflowDefinitions", SCHEMA(MEMBER("published", LIST(TEXT)) ","
        MEMBER("alreadyPublished", LIST(TEXT)) "," MEMBER("notFound", LIST(TEXT)) ","
        MEMBER("skipped", LIST(TEXT)) "," MEMBER("updatedConsumers", LIST(TEXT)) ","
        MEMBER("failed", LIST(TEXT)) "," MEMBER("warnings", OBJECT))},
    {"RetractedWorkflowDefinitions", SCHEMA(MEMBER("retracted", LIST(TEXT)) ","
        MEMBER("alreadyRetracted", LIST(TEXT)) "," MEMBER("skipped", LIST(TEXT)) ","
        MEMBER("notPublished", LIST(TEXT)) "," MEMBER("notFound", LIST(TEXT)))},
    {"ActivityNode", SCHEMA(MEMBER("nodeId", TEXT) "," MEMBER("port", TEXT) ","
        MEMBER("activity", REF("Activity")))},
    {"PathSegments", SCHEMA(MEMBER("childNode", REF("ActivityNode")) ","
        MEMBER("container", REF("ActivityNode")) "," MEMBER("pathSegments", LIST(OBJECT)))},
    {"IsNameUnique", SCHEMA(MEMBER("isUnique", FLAG))},
    {"Count", SCHEMA(MEMBER("count", NUMBER))},
    {"Deleted", SCHEMA(MEMBER("deleted", NUMBER))},
    {"PackageVersion", SCHEMA(MEMBER("packageVersion", TEXT))},
};
/* clang-format on */
const size_t api_schema_count = sizeof api_schemas / sizeof api_schemas[0];

bool api_schema_find(const char *name)
{
    for (size_t i = 0; i < api_schema_count; i++) {
        if (strcmp(api_schemas[i].name, name) == 0)
            return true;
    }
    return false;
}
