/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to every endpoint of the API, made up from its table: methods, paths, queries and bodies
 * of the right and of the wrong types, several one behind the other, on a host with a store in
 * memory. Each byte of an input is a choice. Whatever is sent, there is a response, well formed,
 * and none says that the server failed.
 */
#include "fuzz/fuzz.h"

#include "api/endpoint.h"
#include "api/private.h"
#include "host/configuration.h"
#include "host/features.h"
#include "host/host.h"
#include "http/zip.h"
#include "os/memory_network.h"

#include <string.h>

#define KEY "the-key-of-the-fuzzer"
#define REQUESTS_MAX 6
#define TEXT_MAX ((size_t)1 << 20)
#define RECEIVED_MAX ((size_t)64 << 20)
/* What is stored adds up: after so many inputs there is a new store. */
#define INPUTS_PER_STORE 500
#define HANG_NS (INT64_C(120) * 1000000000)

/* ---- a host, an API, a server without threads -------------------------------------------------
 */

struct place {
    struct pawl_env *env;
    struct pawl_configuration configuration;
    struct pawl_host *host;
    struct pawl_api *api;
    struct pawl_route *routes;
    struct pawl_memory_network *network;
    struct pawl_server *server;
    int listener;
    unsigned inputs;
};

static void set(struct place *place, enum pawl_setting_id id, const char *value)
{
    FUZZ_DEMAND(pawl__configuration_set(&place->configuration, id, pawl__str(value),
                                        PAWL_ORIGIN_OPTION, "fuzz", NULL) == PAWL_OK);
}

/* The API's own server is not started: its routes are served here, on the loop. */
static void open_server(struct place *place)
{
    struct pawl_server_options options = {.ctx = place->api,
                                          .admit = pawl__guard_admit,
                                          .arrive = pawl__guard_arrive,
                                          .limits = pawl__server_limits()};
    struct pawl_error err = PAWL_ERROR_INIT;

    FUZZ_DEMAND(pawl__api_routes_new(&place->env->alloc, &place->routes, &options.route_count) ==
                PAWL_OK);
    for (size_t i = 0; i < options.route_count; i++)
        place->routes[i].flags |= PAWL_ROUTE_ON_LOOP;
    options.routes = place->routes;
    FUZZ_DEMAND(pawl__memory_network_new(place->env, &place->network) == PAWL_OK);
    FUZZ_DEMAND(pawl__memory_network_listen(place->network, &place->listener) == PAWL_OK);
    options.poller = pawl__memory_network_poller(place->network);
    FUZZ_DEMAND(pawl__server_new(place->env, &options, &place->server, &err) == PAWL_OK);
    FUZZ_DEMAND(pawl__server_listen_descriptor(place->server, place->listener, &err) == PAWL_OK);
}

static void open_place(struct place *place)
{
    struct pawl_error err = PAWL_ERROR_INIT;

    *place = (struct place){.inputs = 0};
    FUZZ_DEMAND(pawl_system_env_open(&place->env, &err) == PAWL_OK);
    pawl__configuration_init(&place->configuration, &place->env->alloc);
    set(place, PAWL_SETTING_ID_STORE, "memory:");
    set(place, PAWL_SETTING_ID_ADMIN_API_KEY, KEY);
    FUZZ_DEMAND(pawl__host_new(place->env, &place->configuration, &place->host, &err) == PAWL_OK);
    pawl__host_set_surroundings(place->host, &(struct pawl_surroundings){.transient = true});
    FUZZ_DEMAND(pawl__host_compose(place->host, &err) == PAWL_OK);
    FUZZ_DEMAND(pawl__host_start(place->host, &err) == PAWL_OK);
    FUZZ_DEMAND(pawl__api_open(place->env, place->host, NULL, &place->api, &err) == PAWL_OK);
    open_server(place);
}

static void close_place(struct place *place)
{
    pawl__server_close(place->server);
    pawl__memory_network_free(place->network);
    pawl__api_routes_free(&place->env->alloc, place->routes);
    pawl__api_close(place->api);
    pawl__host_free(place->host);
    pawl__configuration_release(&place->configuration);
    pawl_system_env_close(place->env);
}

/* ---- requests out of choices ------------------------------------------------------------------
 */

struct choices {
    const uint8_t *data;
    size_t size, at;
};

static uint32_t choose(struct choices *c, uint32_t below)
{
    return c->at < c->size ? c->data[c->at++] % below : 0;
}

#define SEQUENCE "{\"id\":\"s\",\"type\":\"Elsa.Sequence\",\"version\":1,\"activities\":["
static const char *const texts[] = {"a",         "b",           "nope",     "",    "Latest",
                                    "1",         "a/b",         "\xc3\xa9", "..",  "true",
                                    "Workflow1", "Workflow1:s", "*",        "a,b", "Json"};
static const char *const values[] = {"null",
                                     "true",
                                     "0",
                                     "-1",
                                     "1",
                                     "2147483648",
                                     "1e99",
                                     "\"\"",
                                     "\"a\"",
                                     "\"5\"",
                                     "[]",
                                     "[\"a\"]",
                                     "[\"a\",\"b\",\"nope\",\"a\"]",
                                     "[null]",
                                     "{}",
                                     "{\"a\":1}",
                                     "[[[[[[[[]]]]]]]]",
                                     "\"2026-01-02T03:04:05Z\"",
                                     "\"Published\"",
                                     "{\"filter\":{\"eventNames\":[]}}"};
static const char *const definitions[] = {
    "{}",
    "{\"definitionId\":\"a\",\"name\":\"A\",\"root\":" SEQUENCE "]}}",
    "{\"definitionId\":\"b\",\"id\":\"b1\",\"name\":\"B\",\"options\":{\"usableAsActivity\":true},"
    "\"root\":" SEQUENCE "{\"id\":\"w\",\"type\":\"Elsa.WriteLine\"}]}}",
    "{\"definitionId\":\"a\",\"root\":" SEQUENCE "{\"id\":\"c\",\"type\":\"B\",\"version\":1}]}}",
    "{\"definitionId\":\"a\",\"root\":{\"id\":\"e\",\"type\":\"Elsa.Event\",\"eventName\":{"
    "\"typeName\":\"String\",\"expression\":{\"type\":\"Literal\",\"value\":\"Go\"}}}}",
    "{\"root\":" SEQUENCE "{\"id\":\"x\",\"type\":\"Nope\"},{\"id\":\"x\",\"type\":\"Nope\"}]}}",
    "{\"definitionId\":\"b\",\"variables\":[{\"name\":\"v\",\"typeName\":\"Int32\",\"value\":\"x\"}"
    "]}",
    "{\"definitionId\":\"a\",\"root\":{\"id\":\"f\",\"type\":\"Elsa.Flowchart\",\"activities\":[{"
    "\"id\":\"w\",\"type\":\"Elsa.WriteLine\"}],\"connections\":[{\"source\":{\"activity\":\"w\"},"
    "\"target\":{\"activity\":\"nope\"}}]}}",
    "{\"options\":{\"incidentStrategyType\":\"Nope\"}}",
};
#define ONE_OF(c, list) ((list)[choose(c, sizeof(list) / sizeof(list)[0])])

/* Some bytes of the input as they are. */
static void put_bytes(struct choices *c, struct pawl_buf *out)
{
    size_t count = choose(c, 64);

    if (count > c->size - c->at)
        count = c->size - c->at;
    if (count > 0)
        pawl__buf_append(out, (const char *)c->data + c->at, count);
    c->at += count;
}

static void put_encoded(struct pawl_buf *out, const char *text)
{
    for (; *text; text++)
        pawl__buf_printf(out, "%%%02X", (unsigned char)*text);
}

static void put_value(struct choices *c, struct pawl_buf *out, enum api_type type)
{
    if (choose(c, 4) == 3) {
        pawl__buf_text(out, ONE_OF(c, values));
    } else if (type == API_TEXT || type == API_TEXT_OR_NUMBER) {
        pawl__buf_printf(out, "\"%s\"", ONE_OF(c, texts));
    } else if (type == API_TEXTS) {
        pawl__buf_printf(out, "[\"%s\",\"%s\"]", ONE_OF(c, texts), ONE_OF(c, texts));
    } else if (type == API_NUMBER) {
        pawl__buf_int(out, (int64_t)choose(c, 8) - 2);
    } else if (type == API_BOOL) {
        pawl__buf_text(out, choose(c, 2) ? "true" : "false");
    } else {
        pawl__buf_text(out, ONE_OF(c, definitions));
    }
}

static void put_path(struct choices *c, struct pawl_buf *out, const char *path)
{
    for (; *path; path++) {
        if (*path != '{') {
            pawl__buf_byte(out, *path);
            continue;
        }
        put_encoded(out, ONE_OF(c, texts));
        path = strchr(path, '}');
    }
}

static void put_query(struct choices *c, struct pawl_buf *out, const struct api_endpoint *endpoint)
{
    char separator = '?';

    for (size_t i = 0; i < endpoint->field_count; i++) {
        if ((endpoint->fields[i].flags & API_IN_PATH) || choose(c, 2))
            continue;
        pawl__buf_byte(out, separator);
        pawl__buf_printf(out, "%s=", endpoint->fields[i].name);
        put_encoded(out, choose(c, 2) ? ONE_OF(c, texts) : ONE_OF(c, values));
        separator = '&';
    }
}

static void put_fields(struct choices *c, struct pawl_buf *out, const struct api_endpoint *endpoint)
{
    bool is_first = true;

    pawl__buf_byte(out, '{');
    for (size_t i = 0; i < endpoint->field_count; i++) {
        const struct api_field *field = &endpoint->fields[i];

        if ((field->flags & API_IN_PATH) || choose(c, 4) == 3)
            continue;
        pawl__buf_printf(out, "%s\"%s\":", is_first ? "" : ",", field->name);
        if (field->type == API_CHOICE && choose(c, 4))
            pawl__buf_printf(out, "\"%s\"", field->words[0]);
        else
            put_value(c, out, field->type);
        is_first = false;
    }
    pawl__buf_byte(out, '}');
}

static void put_form(struct choices *c, struct pawl_buf *out)
{
    const char *definition = ONE_OF(c, definitions);
    struct pawl_zip_file file = {pawl__str("a.json"), pawl__str(definition)};
    uint32_t kind = choose(c, 4);

    pawl__buf_printf(out, "--B\r\nContent-Disposition: form-data; name=f; filename=%s\r\n\r\n",
                     kind < 2 ? "a.zip" : "a.json");
    if (kind == 0)
        FUZZ_DEMAND(pawl__zip_write(&file, 1, out, NULL) == PAWL_OK);
    else if (kind == 2)
        pawl__buf_text(out, definition);
    else
        put_bytes(c, out);
    pawl__buf_text(out, "\r\n--B--\r\n");
}

static void put_body(struct choices *c, struct pawl_buf *out, const struct api_endpoint *endpoint)
{
    if (choose(c, 8) == 7)
        put_bytes(c, out);
    else if (endpoint->content && strcmp(endpoint->content, API_CONTENT_FILES) == 0)
        put_form(c, out);
    else if (endpoint->body == API_BODY_RAW)
        pawl__buf_text(out, ONE_OF(c, definitions));
    else
        put_fields(c, out, endpoint);
}

static const struct api_endpoint *choose_endpoint(struct choices *c)
{
    size_t count = 0, chosen;

    for (size_t i = 0; i < api_family_count; i++)
        count += api_families[i]->count;
    chosen = (choose(c, 256) * 256 + choose(c, 256)) % count;
    for (size_t i = 0;; i++) {
        if (chosen < api_families[i]->count)
            return &api_families[i]->endpoints[chosen];
        chosen -= api_families[i]->count;
    }
}

/* One that stops the node would leave nothing to ask. */
static bool is_left_out(const struct api_endpoint *endpoint)
{
    return strstr(endpoint->path, "/admin/") || (endpoint->flags & PAWL_ROUTE_NO_DEADLINE);
}

static void put_request(struct choices *c, struct pawl_buf *out,
                        const struct api_endpoint *endpoint)
{
    bool is_form = endpoint->content && strcmp(endpoint->content, API_CONTENT_FILES) == 0;
    struct pawl_buf body;

    pawl__buf_init(&body, out->alloc, TEXT_MAX);
    pawl__buf_printf(out, "%s ", endpoint->method);
    put_path(c, out, endpoint->path);
    put_query(c, out, endpoint);
    pawl__buf_text(out, " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
    if (choose(c, 16) != 15)
        pawl__buf_text(out, "Authorization: ApiKey " KEY "\r\n");
    if (endpoint->body != API_BODY_IGNORED && choose(c, 8) != 7) {
        pawl__buf_printf(out, "Content-Type: %s\r\n",
                         is_form ? "multipart/form-data; boundary=B" : "application/json");
        put_body(c, &body, endpoint);
    }
    pawl__buf_printf(out, "Content-Length: %zu\r\n\r\n", body.len);
    pawl__buf_str(out, pawl__buf_peek(&body));
    pawl__buf_release(&body);
}

/* ---- responses --------------------------------------------------------------------------------
 */

/* The status; 0: it is not complete. */
static int status_of(struct pawl_str received)
{
    const char *end = received.len > 0 ? strstr(received.ptr, "\r\n\r\n") : NULL;
    const char *length = end ? strcasestr(received.ptr, "\r\ncontent-length:") : NULL;
    size_t head = end ? (size_t)(end - received.ptr) + 4 : 0;
    unsigned long body = length && length < end ? strtoul(length + 17, NULL, 10) : 0;

    if (!end || received.len < head + body)
        return 0;
    FUZZ_DEMAND(pawl__str_starts(received, pawl__str("HTTP/1.1 ")));
    FUZZ_DEMAND(received.len == head + body);
    return atoi(received.ptr + 9);
}

static int exchange(struct place *place, struct pawl_str request, struct pawl_buf *received)
{
    int64_t give_up_ns = pawl_env_monotonic_ns(place->env) + HANG_NS;
    int client, status;

    FUZZ_DEMAND(pawl__memory_network_connect(place->network, place->listener, &client) == PAWL_OK);
    pawl__memory_network_window(place->network, client, RECEIVED_MAX);
    while (request.len > 0) {
        struct pawl_str piece = pawl__str_slice(request, 0, 4096);

        if (pawl__memory_network_send(place->network, client, piece, INT64_MIN) != PAWL_OK)
            break;
        request = pawl__str_slice(request, piece.len, request.len);
        FUZZ_DEMAND(pawl__server_turn(place->server, INT64_MIN) == PAWL_OK);
    }
    do {
        char bytes[4096];
        size_t got = 0;

        FUZZ_DEMAND(pawl__server_turn(place->server, INT64_MIN) == PAWL_OK);
        while (pawl__memory_network_receive(place->network, client, bytes, sizeof bytes, INT64_MIN,
                                            &got) == PAWL_OK &&
               got > 0)
            pawl__buf_append(received, bytes, got);
        (void)pawl__buf_cstr(received);
        status = status_of(pawl__buf_peek(received));
        FUZZ_DEMAND(pawl_env_monotonic_ns(place->env) < give_up_ns);
    } while (status == 0);
    pawl__memory_network_hang_up(place->network, client, false);
    FUZZ_DEMAND(pawl__server_turn(place->server, INT64_MIN) == PAWL_OK);
    return status;
}

/* A workflow that faults is 500 with its state, as in Elsa. */
static bool may_say_500(const struct api_endpoint *endpoint)
{
    return strstr(endpoint->path, "/execute") != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct place place;
    struct choices c = {data, size, 0};
    struct pawl_buf request, received;

    if (place.host && place.inputs++ >= INPUTS_PER_STORE) {
        close_place(&place);
        place.host = NULL;
    }
    if (!place.host)
        open_place(&place);
    pawl__buf_init(&request, &place.env->alloc, TEXT_MAX);
    pawl__buf_init(&received, &place.env->alloc, RECEIVED_MAX);
    for (int i = 0; i < REQUESTS_MAX && c.at < c.size; i++) {
        const struct api_endpoint *endpoint = choose_endpoint(&c);
        int status;

        if (is_left_out(endpoint))
            continue;
        pawl__buf_clear(&request);
        pawl__buf_clear(&received);
        put_request(&c, &request, endpoint);
        status = exchange(&place, pawl__buf_peek(&request), &received);
        if (status >= 500 && !may_say_500(endpoint))
            (void)fprintf(stderr, "%s\n%s\n", pawl__buf_cstr(&request), pawl__buf_cstr(&received));
        FUZZ_DEMAND(status >= 200 && (status < 500 || may_say_500(endpoint)));
    }
    pawl__buf_release(&request);
    pawl__buf_release(&received);
    return 0;
}
