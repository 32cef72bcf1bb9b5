/* SPDX-License-Identifier: Apache-2.0 */
/* Views of the routes of workflows; see routes.h. */
#include "views/routes.h"

#include "base/buf.h"

#define CURL_BYTES_MAX ((size_t)16 << 10)

/* A name for each parameter: "/orders/{id:int}" is asked for as "/orders/ID". */
static void write_path(struct pawl_buf *out, struct pawl_str path)
{
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];

        if (c != '{') {
            pawl__buf_byte(out, c);
            continue;
        }
        for (i++; i < path.len && !strchr(":=?}", path.ptr[i]); i++) {
            c = path.ptr[i];
            if (c != '*')
                pawl__buf_byte(out, c >= 'a' && c <= 'z' ? (char)(c & ~0x20) : c);
        }
        while (i < path.len && path.ptr[i] != '}')
            i++;
    }
}

static bool has_body(struct pawl_str method)
{
    return pawl__str_is(method, "POST") || pawl__str_is(method, "PUT") ||
           pawl__str_is(method, "PATCH");
}

static void write_curl(struct pawl_buf *out, const struct pawl_endpoint_route *route,
                       struct pawl_str address)
{
    pawl__buf_text(out, "curl");
    if (!pawl__str_is(route->method, "GET"))
        pawl__buf_printf(out, " -X %.*s", PAWL_STR_ARG(route->method));
    if (route->authorize || route->policy.len > 0)
        pawl__buf_text(out, " -H 'Authorization: ApiKey KEY'");
    if (has_body(route->method))
        pawl__buf_text(out, " -H 'Content-Type: application/json' -d '{}'");
    pawl__buf_printf(out, " '%.*s", PAWL_STR_ARG(address));
    write_path(out, route->path);
    if (route->definition_id.len == 0)
        pawl__buf_text(out, "?correlationId=ID");
    pawl__buf_byte(out, '\'');
}

struct pawl_json pawl__view_route(struct pawl_builder *b, const struct pawl_endpoint_route *route,
                                  struct pawl_str address)
{
    struct pawl_json out = pawl__json_object();
    struct pawl_buf curl;

    pawl__buf_init(&curl, b->arena->alloc, CURL_BYTES_MAX);
    write_curl(&curl, route, address);
    pawl__view_text(b, &out, "method", route->method);
    pawl__view_text(b, &out, "path", route->path);
    pawl__view_optional(b, &out, "definitionId", route->definition_id);
    pawl__view_optional(b, &out, "activityId", route->activity_id);
    pawl__build_int(b, &out, "waiting", (int64_t)route->waiting);
    pawl__build_bool(b, &out, "authorize", route->authorize);
    pawl__view_optional(b, &out, "policy", route->policy);
    pawl__build_bool(b, &out, "isSigned", route->is_signed);
    pawl__view_text(b, &out, "curl", pawl__arena_str(b->arena, pawl__buf_peek(&curl)));
    if (b->status == PAWL_OK && curl.status != PAWL_OK)
        b->status = curl.status;
    pawl__buf_release(&curl);
    return out;
}
