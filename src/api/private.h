/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of src/api share: what every handler is given, and the table of routes. */
#ifndef PAWL_API_PRIVATE_H
#define PAWL_API_PRIVATE_H

#include "api/api.h"
#include "api/lane.h"
#include "api/limiter.h"
#include "base/json/builder.h"
#include "base/trace_context.h"
#include "operations/directory.h"
#include "os/address.h"

#include <stdatomic.h>

#define NS_PER_S INT64_C(1000000000)

/*
 * In `permission` of a route: any caller who is known; one with a token that gets new ones; one
 * whose token in the query opens a socket, because browsers send no other credential with that.
 */
#define API_SIGNED_IN ""
#define API_REFRESH "@refresh"
#define API_SOCKET "@socket"
/* Likewise of the hub, where the id of a connection is a credential too. */
#define API_HUB "@hub"
/* Of workflows: anybody; who it is tells the endpoint, which may demand somebody known. */
#define API_ENDPOINT "@endpoint"
/* Where workflows are endpoints, unless the setting endpoints.path says otherwise. */
#define API_WORKFLOWS "/workflows/{path*}"
/* Whether a route needs to know who its caller is. */
static inline bool api_needs_caller(const char *permission)
{
    return permission && strcmp(permission, API_ENDPOINT) != 0;
}
/* Of metrics: everybody, where the setting metrics.public says so. */
#define API_METRICS "read:metrics"

/* Names of the cookies of pages. */
#define API_SESSION_COOKIE "pawl_session"
#define API_CSRF_COOKIE "pawl_csrf"
#define API_CSRF_FIELD "X-CSRF-Token"

/* Requests for readiness that wait for a look that another one has begun. */
#define API_PROBES_MAX 256u
struct api_probes {
    bool looking;
    uint32_t count;
    struct pawl_exchange *waiting[API_PROBES_MAX];
};

struct pawl_api {
    struct pawl_env *env;
    struct pawl_host *host;
    const struct pawl_log *log;
    struct pawl_server *server;
    struct pawl_route *routes;
    size_t route_count;
    char endpoints_base[256]; /* of the setting endpoints.path: "/workflows" */
    char endpoints_path[272]; /* the same as a route */
    struct pawl_addresses trusted_proxies;
    atomic_bool draining;
    struct api_probes probes; /* health.c; guarded by `mutex` */
    struct pawl_lane *lane;
    struct pawl_hub *hub;
    struct pawl_limiter *logins; /* by name, by address */
    struct pawl_limiter *rates;  /* by caller */
    struct pawl_limit rate;
    struct pawl_limiter *strangers; /* by address, at endpoints */
    struct pawl_limit stranger_rate;
    bool metrics_public;
    struct pawl_str admin_key, origins; /* of the settings */
    const char *studio_folder;          /* the same; "": Studio is not served */

    /* Who may do what (guard.c). */
    struct pawl_mutex *mutex; /* guards what follows; nothing else is locked under it */
    struct pawl_cond *changed;
    struct pawl_thread *thread; /* looks for changes */
    struct pawl_directory *directory;
    int64_t checked_ns, read_ns; /* when it was current for certain, when it was read */
    int64_t looks_asked, looks_done;
    bool stopping;
};

struct pawl_configuration;
struct pawl_server_limits pawl__api_limits(const struct pawl_configuration *configuration);

/* What is known of a request before its handler: the exchange's owner, in its arena. */
struct api_request {
    struct pawl_bearer *bearer; /* NULL: the route needs no permission */
    /* Its span, and whose it is in; not set: the request is in no trace. */
    struct pawl_trace_context span;
    unsigned char parent_id[8];
    struct pawl_str trace_state; /* of the caller; "": none */
};
/* NULL: nothing is. */
struct api_request *api_request_of(const struct pawl_exchange *exchange);
/* Makes it where there is none; NULL: out of memory. */
struct api_request *api_request_make(struct pawl_exchange *exchange);
struct pawl_client;
/* Whom tries and requests of strangers are counted for: the client, not a proxy that is trusted. Of
 * IPv6 the first half: one client has all of it. In *client. */
struct pawl_str api_client_address(const struct pawl_exchange *exchange,
                                   struct pawl_client *client);

/* Where Elsa's API and Pawl's own are. */
#define API_ELSA "/elsa/api"
#define API_PAWL "/pawl/api"

/* ---- who may do what (guard.c) ------------------------------------------------------------- */

/* Reads the directory and starts the thread that keeps it current. */
PAWL_MUST_CHECK int pawl__guard_open(struct pawl_api *api, struct pawl_error *err);
void pawl__guard_close(struct pawl_api *api); /* zeroed: allowed */
/* After a change of this node: the next request is decided by what holds now. */
void pawl__guard_refresh(struct pawl_api *api);
/* struct pawl_server_options: admit, arrive. */
int pawl__guard_admit(void *ctx, struct pawl_exchange *exchange, const char **detail);
int pawl__guard_arrive(void *ctx, struct pawl_exchange *exchange);
/* Fields of every response. */
extern const char pawl__guard_fields[];
/* Whether a token opens a connection to the hub now. RIGHT: *out, in the arena, is whose it is. */
enum pawl_credential pawl__guard_check_hub_token(struct pawl_api *api, struct pawl_str token,
                                                 struct pawl_arena *arena,
                                                 struct pawl_bearer **out);
/* Whether somebody is still there and may do this, as of now. */
bool pawl__guard_allows(struct pawl_api *api, const struct pawl_bearer *bearer,
                        const char *permission);

/* ---- a request in a handler (call.c) -------------------------------------------------------- */

struct api_call {
    struct pawl_api *api;
    struct pawl_exchange *exchange;
    const struct pawl_bearer *caller; /* NULL: the route needs no permission */
    struct pawl_arena arena;
    struct pawl_error err;
    struct pawl_op op;
    atomic_int users; /* the handler's thread, and whoever responds later: api_keep() */
    char actor[256];
    char traceparent[PAWL_TRACEPARENT_SIZE];
};

/* The exchange is responded to before the end. */
void api_begin(struct api_call *call, struct pawl_exchange *exchange, void *ctx);
void api_end(struct api_call *call);
/* The body, as a JSON object; null, and a missing one if `optional`, is an empty one. false: it was
 * refused. */
bool api_body(struct api_call *call, bool optional, struct pawl_json *out);
/* Whether there is a body, and its content type says that it is JSON. */
bool api_has_json(const struct api_call *call);
/* The field Idempotency-Key; "": none. */
struct pawl_str api_idempotency_key(const struct api_call *call);
/* A member of the body, whatever the case of its key. */
const struct pawl_json *api_member(const struct pawl_json *object, const char *key);
/* A text or null; anything else is refused, and false. */
bool api_text(struct api_call *call, const struct pawl_json *body, const char *key,
              struct pawl_str *out);
bool api_texts(struct api_call *call, const struct pawl_json *body, const char *key,
               struct pawl_texts *out);
/* Responses. */
void api_respond(struct api_call *call, const struct pawl_builder *b, const struct pawl_json *json);
void api_respond_with(struct api_call *call, int status, const struct pawl_builder *b,
                      const struct pawl_json *json);
#define API_JSON "application/json"
/* Of some, Elsa says it so. */
#define API_JSON_UTF8 "application/json; charset=utf-8"
void api_respond_as(struct api_call *call, int status, const char *content_type,
                    const struct pawl_builder *b, const struct pawl_json *json);
void api_respond_status(struct api_call *call, int status); /* without a body */
/* What Elsa sends for what is wrong with a request: {statusCode, message, errors}. Faults with the
 * same key stand side by side. */
struct api_fault {
    const char *key, *detail; /* neighbours of one key are in one list */
};
void api_refuse_all(struct api_call *call, int status, const struct api_fault *faults,
                    size_t count);
void api_refuse(struct api_call *call, int status, const char *key, const char *detail);
/*
 * A JSON pointer "/root/activities/0" as Elsa names such a place: "root.activities[0]", behind
 * `prefix` if that is not "". NULL: no memory.
 */
const char *api_path(struct pawl_arena *arena, const char *pointer, const char *prefix);
/* By the code of an operation that failed, with call->err. */
void api_fail(struct api_call *call, int code);

/* Whether the folder of Studio, if there is one, has what a browser needs (studio.c). */
PAWL_MUST_CHECK int pawl__studio_check(const char *folder, struct pawl_error *err);

/* Which trace a request belongs to, when its head has arrived (trace.c). */
void pawl__api_trace_arrive(struct pawl_api *api, struct pawl_exchange *exchange);
/* Its span, when it was responded to. */
void pawl__api_trace_end(struct pawl_api *api, const struct pawl_exchange *exchange, int status,
                         int64_t duration_ns);

/* struct pawl_server_options: observe. */
void pawl__api_observe(void *ctx, const struct pawl_exchange *exchange, int status,
                       int64_t duration_ns);

/* ---- handlers ------------------------------------------------------------------------------- */

#define API_HANDLER(name) void pawl__api_##name(struct pawl_exchange *exchange, void *ctx)
API_HANDLER(health_live);
API_HANDLER(health_ready);
API_HANDLER(metrics);
API_HANDLER(login);
API_HANDLER(refresh_token);
API_HANDLER(application_create);
API_HANDLER(users_list);
API_HANDLER(user_create);
API_HANDLER(user_update);
API_HANDLER(user_delete);
API_HANDLER(roles_list);
API_HANDLER(role_create);
API_HANDLER(role_update);
API_HANDLER(role_delete);
API_HANDLER(role_impact);
API_HANDLER(secret_hash);
API_HANDLER(socket_token);
API_HANDLER(sign_in_link);
API_HANDLER(sign_in_page);
API_HANDLER(sign_in);
API_HANDLER(sign_out);
API_HANDLER(session_begin);
API_HANDLER(studio);
API_HANDLER(hub_negotiate);
API_HANDLER(hub_get);
API_HANDLER(hub_post);
API_HANDLER(hub_delete);
#undef API_HANDLER

#endif
