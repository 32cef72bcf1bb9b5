/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Endpoints: routes of the API that read a request, call one operation and write one view.
 *
 * An endpoint is data: where it is, who may use it, the fields of its request, and the function
 * that handles it. Routes, the reading of requests and the OpenAPI document are made from it. Each
 * family of endpoints has a file with its handlers and, at the end, its table; endpoints.c lists
 * the tables.
 *
 *     struct rename_request {
 *         struct pawl_str id, name;
 *     };
 *
 *     static const struct api_field rename_fields[] = {
 *         API_FIELD(struct rename_request, id, "id", API_TEXT, API_IN_PATH),
 *         API_FIELD(struct rename_request, name, "name", API_TEXT, API_REQUIRED),
 *     };
 *
 *     static void rename_thing(struct api_call *call, const void *data)
 *     {
 *         const struct rename_request *request = data;
 *         …
 *     }
 *
 * A field is looked for in the body, then in the query, then in the path; what comes later wins,
 * as in Elsa. Names compare without case. What cannot be read is refused with 400 and the name of
 * the field, and the handler is not called.
 */
#ifndef PAWL_API_ENDPOINT_H
#define PAWL_API_ENDPOINT_H

#include "base/json/json.h"
#include "http/route.h"

#include <stddef.h>

struct api_call;

/* What a field is, and what the request's struct has for it. */
enum api_type {
    API_TEXT,   /* struct pawl_str; ptr NULL: not given or null */
    API_TEXTS,  /* struct pawl_texts; texts NULL: not given. In a query: repeated, or "a,b" */
    API_NUMBER, /* struct api_number: a whole number, also as a text */
    API_BOOL,   /* int: 0, 1, or -1: not given */
    API_CHOICE, /* int: the index in `words`, -1: not given. Any case, or the index as a number */
    API_TEXT_OR_NUMBER, /* struct pawl_str: versionOptions */
    API_OBJECT,         /* const struct pawl_json *, an object; NULL: not given or null */
    API_ARRAY,          /* const struct pawl_json *, an array; NULL likewise */
    API_ANY             /* const struct pawl_json *; NULL: not given */
};

/* A text that was not given is an empty one. */
static inline struct pawl_str api_given(struct pawl_str text)
{
    return text.ptr ? text : pawl__str("");
}

struct api_number {
    bool is_given;
    int64_t value; /* 0 when not given */
};

#define API_REQUIRED 1u /* not given, null or "": 400 */
#define API_IN_PATH 2u  /* a parameter of the path */
#define API_IN_QUERY 4u /* of the query, also where others are in a body; for the document */

struct api_field {
    const char *name;
    enum api_type type;
    uint32_t flags;
    size_t offset;
    const char *const *words; /* of a choice, ended by NULL */
    const char *type_name;    /* of a choice, as messages name it */
};

#define API_FIELD(request, member, name_, type_, flags_)                                           \
    {                                                                                              \
        .name = (name_), .type = (type_), .flags = (flags_), .offset = offsetof(request, member)   \
    }
#define API_FIELD_CHOICE(request, member, name_, words_, type_name_)                               \
    {                                                                                              \
        .name = (name_), .type = API_CHOICE, .offset = offsetof(request, member),                  \
        .words = (words_), .type_name = (type_name_)                                               \
    }

enum api_body {
    API_BODY_IGNORED,  /* whatever is sent is not looked at */
    API_BODY_OPTIONAL, /* JSON, or nothing without a content type */
    API_BODY_LENIENT,  /* JSON where its content type says so and it is not empty, else ignored */
    API_BODY_REQUIRED, /* 415 without a JSON content type; 400 when empty */
    API_BODY_RAW       /* the handler reads it: files */
};

/* A form with files. */
#define API_CONTENT_FILES "@files"
/* Of a result: a file. */
#define API_RESULT_FILE "@file"

struct api_endpoint {
    const char *method;
    const char *path;       /* as of struct pawl_route */
    const char *permission; /* one of these words will do; API_SIGNED_IN, …; NULL: none is needed */
    void (*handle)(struct api_call *call, const void *request);
    enum api_body body;
    const struct api_field *fields;
    size_t field_count;
    size_t request_size; /* of the struct that the fields are in */
    const char *content; /* of API_BODY_RAW: the name of the document, or API_CONTENT_FILES */
    const char *summary; /* what it does, in one line */
    const char *result;  /* the name of the document that it returns, API_RESULT_FILE; NULL: none */
    uint64_t body_bytes_max;
    int64_t deadline_ms;
    uint32_t flags; /* PAWL_ROUTE_… */
};

#define API_FIELDS(request, table)                                                                 \
    .fields = (table), .field_count = sizeof(table) / sizeof(table)[0],                            \
    .request_size = sizeof(request)

struct api_family {
    const char *name; /* a tag in the document */
    const struct api_endpoint *endpoints;
    size_t count;
};

#define API_FAMILY(name_, table)                                                                   \
    {                                                                                              \
        .name = (name_), .endpoints = (table), .count = sizeof(table) / sizeof(table)[0]           \
    }

/* Each is at the end of the file of its name. */
extern const struct api_family api_alterations;
extern const struct api_family api_dashboard;
extern const struct api_family api_definitions_bulk;
extern const struct api_family api_definitions_change;
extern const struct api_family api_definitions_export;
extern const struct api_family api_definitions_list;
extern const struct api_family api_definitions_save;
extern const struct api_family api_definitions_show;
extern const struct api_family api_descriptors;
extern const struct api_family api_events;
extern const struct api_family api_execute;
extern const struct api_family api_features;
extern const struct api_family api_instances;
extern const struct api_family api_instances_files;
extern const struct api_family api_instances_list;
extern const struct api_family api_journal;
extern const struct api_family api_letters;
extern const struct api_family api_links;
extern const struct api_family api_openapi;
extern const struct api_family api_own;
extern const struct api_family api_own_cluster;
extern const struct api_family api_probe;
extern const struct api_family api_runtime;
extern const struct api_family api_scripting;
extern const struct api_family api_workflows;

extern const struct api_family *const api_families[];
extern const size_t api_family_count;

/* The handler of all endpoints' routes: reads the request, calls the endpoint's own. */
void api_enter(struct pawl_exchange *exchange, void *ctx);

/* Reads a request by its fields into a struct in the call's arena. false: it was refused. */
bool api_bind(struct api_call *call, const struct api_endpoint *endpoint, void **out);

/*
 * For handlers that respond later, on another thread: the call lives until a further api_finish(),
 * which is called after the response.
 */
void api_keep(struct api_call *call);
void api_finish(struct api_call *call);

#endif
