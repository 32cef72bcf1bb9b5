/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations for scripts; see typescript.h. */
#include "views/typescript.h"

static const char functions[] =
    "declare function getWorkflowDefinitionId(): string;\n"
    "declare function getWorkflowDefinitionVersionId(): string;\n"
    "declare function getWorkflowDefinitionVersion(): number;\n"
    "declare function getWorkflowInstanceId(): string;\n"
    "declare function getCorrelationId(): string;\n"
    "declare function setCorrelationId(value: string): void;\n"
    "declare function getWorkflowInstanceName(): string;\n"
    "declare function setWorkflowInstanceName(value: string): void;\n"
    "declare function setVariable(name: string, value: any): void;\n"
    "declare function getVariable(name: string): any;\n"
    "declare function getInput(name: string): any;\n"
    "declare function getOutputFrom(activityId: string, outputName?: string): any;\n"
    "declare function getLastResult(): any;\n"
    "declare function createEventTriggerUrl(eventName: string, lifetime?: any): string;\n"
    "declare function isNullOrWhiteSpace(value: string): boolean;\n"
    "declare function isNullOrEmpty(value: string): boolean;\n"
    "declare function parseGuid(value: string): string;\n"
    "declare function getShortGuid(): string;\n"
    "declare function getGuid(): string;\n"
    "declare function getGuidString(): string;\n"
    "declare function toJson(value: any): string;\n"
    "declare function bytesToString(value: Uint8Array): string;\n"
    "declare function bytesFromString(value: string): Uint8Array;\n"
    "declare function bytesToBase64(value: Uint8Array): string;\n"
    "declare function bytesFromBase64(value: string): Uint8Array;\n"
    "declare function stringFromBase64(value: string): string;\n"
    "declare function stringToBase64(value: string): string;\n";

/* What a script sees of a type. */
static const char *type_of(struct pawl_str alias)
{
    static const char *const numbers[] = {"Int16",  "Int32",  "Int64",   "Long",
                                          "Single", "Double", "Decimal", NULL};
    static const char *const texts[] = {"String", "Guid", "TimeSpan", NULL};

    for (size_t i = 0; numbers[i]; i++) {
        if (pawl__str_equal_nocase(alias, pawl__str(numbers[i])))
            return "number";
    }
    for (size_t i = 0; texts[i]; i++) {
        if (pawl__str_equal_nocase(alias, pawl__str(texts[i])))
            return "string";
    }
    if (pawl__str_equal_nocase(alias, pawl__str("Boolean")))
        return "boolean";
    if (pawl__str_equal_nocase(alias, pawl__str("ByteArray")))
        return "Uint8Array";
    return "any";
}

/* Letters, digits and '_', and no digit first: what else is a name cannot be declared. */
static bool is_name(struct pawl_str text)
{
    if (text.len == 0 || (text.ptr[0] >= '0' && text.ptr[0] <= '9'))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_'))
            return false;
    }
    return true;
}

/* "firstName" -> "FirstName", for the names of functions. */
static void put_capitalised(struct pawl_buf *out, struct pawl_str name)
{
    char first = name.ptr[0];

    pawl__buf_byte(out, first >= 'a' && first <= 'z' ? (char)(first - 'a' + 'A') : first);
    pawl__buf_str(out, pawl__str_slice(name, 1, name.len));
}

static struct pawl_str text_of(const struct pawl_json *object, const char *key)
{
    return pawl__json_str(pawl__json_get_text(object, key));
}

static void put_getter(struct pawl_buf *out, struct pawl_str name, const char *type)
{
    pawl__buf_text(out, "declare function get");
    put_capitalised(out, name);
    pawl__buf_text(out, "(): ");
    pawl__buf_text(out, type);
    pawl__buf_text(out, ";\n");
}

static void put_setter(struct pawl_buf *out, struct pawl_str name, const char *type)
{
    pawl__buf_text(out, "declare function set");
    put_capitalised(out, name);
    pawl__buf_text(out, "(value: ");
    pawl__buf_text(out, type);
    pawl__buf_text(out, "): void;\n");
}

static void put_variables(struct pawl_buf *out, const struct pawl_json *list)
{
    pawl__buf_text(out, "declare class WorkflowVariables {\n");
    for (uint32_t i = 0; i < pawl__json_len(list); i++) {
        const struct pawl_json *one = pawl__json_at(list, i);

        if (!is_name(text_of(one, "name")))
            continue;
        pawl__buf_text(out, "    ");
        pawl__buf_str(out, text_of(one, "name"));
        pawl__buf_text(out, ": ");
        pawl__buf_text(out, type_of(text_of(one, "typeName")));
        pawl__buf_text(out, ";\n");
    }
    pawl__buf_text(out, "}\ndeclare var variables: WorkflowVariables;\n");
}

void pawl__view_typescript(struct pawl_buf *out, const struct pawl_json *definition)
{
    const struct pawl_json *inputs = pawl__json_get_text(definition, "inputs");
    const struct pawl_json *variables = pawl__json_get_text(definition, "variables");

    pawl__buf_text(out, functions);
    for (uint32_t i = 0; i < pawl__json_len(inputs); i++) {
        const struct pawl_json *one = pawl__json_at(inputs, i);

        if (is_name(text_of(one, "name")))
            put_getter(out, text_of(one, "name"), type_of(text_of(one, "type")));
    }
    for (uint32_t i = 0; i < pawl__json_len(variables); i++) {
        const struct pawl_json *one = pawl__json_at(variables, i);
        const char *type = type_of(text_of(one, "typeName"));

        if (!is_name(text_of(one, "name")))
            continue;
        put_getter(out, text_of(one, "name"), type);
        put_setter(out, text_of(one, "name"), type);
    }
    put_variables(out, variables);
}
