/* SPDX-License-Identifier: Apache-2.0 */
/* What the files azure*.c share. */
#ifndef PAWL_LOCKS_AZURE_PRIVATE_H
#define PAWL_LOCKS_AZURE_PRIVATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "locks/azure.h"
#include "locks/names.h"

#include <pawl/ext/http.h>

/* Of the service's interface; it has all of leases, and emulators know it. */
#define AZURE_VERSION "2021-12-02"
#define AZURE_KEY_BYTES_MAX 256
#define AZURE_HEADERS_MAX 24
#define AZURE_GUID_SIZE 37

/* ---- where (azure_uri.c) ------------------------------------------------------------------ */

/* All texts are NUL-terminated and live in an arena. */
struct azure_place {
    const char *account;
    const char *origin;    /* "https://host:port" */
    const char *base_path; /* "" or "/account" */
    const char *container;
    const char *sas; /* "sv=…&sig=…"; "": the key */
    unsigned char key[AZURE_KEY_BYTES_MAX];
    size_t key_len;
    const char *ca_file; /* NULL: the system's */
    bool is_plain;       /* http */
    bool create;
    bool is_emulator;
    int64_t lease_s; /* 0: not said */
};

/* `variable` gives the environment's. PAWL_EINVAL says what is wrong, and no secret. */
PAWL_MUST_CHECK int pawl__azure_place_read(struct pawl_str uri,
                                           const char *(*variable)(const char *name),
                                           struct pawl_arena *arena, struct azure_place *out,
                                           struct pawl_error *err);

/* ---- signing (azure_sign.c) --------------------------------------------------------------- */

/* "Mon, 16 Nov 2026 10:00:00 GMT" with its NUL. */
#define AZURE_DATE_SIZE 30
void pawl__azure_date_format(int64_t wall_ns, char out[AZURE_DATE_SIZE]);
/* Reads a header "Date" as seconds since 1970; false: it is not a date. */
bool pawl__azure_date_parse(struct pawl_str text, int64_t *out_s);

struct azure_request {
    const char *method;
    const char *path;  /* "/container/blob", percent-encoded; without the base path */
    const char *query; /* "comp=lease"; "": none. In the order of names, nothing to encode */
    struct pawl_http_header headers[AZURE_HEADERS_MAX]; /* of the caller; x-ms-… in lower case */
    size_t header_count;
    bool has_body; /* which is empty */
};

/* Appends what SharedKey signs. Sorts the headers. */
void pawl__azure_string_to_sign(const struct azure_place *place, struct azure_request *request,
                                struct pawl_buf *out);

/* ---- answers (azure_xml.c) ---------------------------------------------------------------- */

/* The decoded text of the first <NAME>…</NAME> at or behind *at, which moves behind it; cut to
 * `size`. false: there is none. */
bool pawl__azure_xml_next(struct pawl_str xml, const char *name, size_t *at, char *out,
                          size_t size);

/* One blob of a list. */
struct azure_listed {
    char name[PAWL_LOCK_KEY_MAX];
    bool is_leased;
    char holder[PAWL_LOCK_OWNER_SIZE];
    uint64_t fence;
};
/* The next blob at or behind *at. */
bool pawl__azure_xml_blob(struct pawl_str xml, size_t *at, struct azure_listed *out);

/* ---- calls (azure_call.c) ----------------------------------------------------------------- */

#define AZURE_META_BYTES_MAX 8192

struct azure_locks {
    struct pawl_lock_provider base; /* first */
    struct pawl_env *env;
    struct pawl_arena arena; /* has `place` */
    struct azure_place place;
    struct pawl_http_executor *http;
    int64_t ttl_ms;
    struct pawl_mutex *mutex; /* guards `done` of calls */
    struct pawl_cond *ended;
};

/* A request and what came back. */
struct azure_call {
    struct azure_locks *locks;
    struct azure_request request;
    struct pawl_buf text; /* what the request's headers and path point to */
    uint64_t ticket;
    int64_t sent_ns; /* before it was */
    bool begun;

    bool done; /* the rest is written, and the executor no longer uses it */
    int http;  /* the status; 0: no answer */
    bool sent;
    struct pawl_error error; /* of no answer */
    char code[80];           /* x-ms-error-code */
    char server[100], lease_state[16], lease_status[16];
    int64_t date_s;       /* the server's clock; 0: none */
    struct pawl_buf meta; /* x-ms-meta-…: name NUL value NUL */
    struct pawl_buf body;
};

void pawl__azure_call_init(struct azure_call *call, struct azure_locks *locks, const char *method,
                           const char *query);
void pawl__azure_call_release(struct azure_call *call);
/* Sets the path: of the blob of a lock, or (name NULL) of the container. PAWL_EINVAL: no blob can
 * have this name. */
PAWL_MUST_CHECK int pawl__azure_call_path(struct azure_call *call, const struct pawl_str *name,
                                          struct pawl_error *err);
/* Both are copied. What does not fit shows in begin(). */
void pawl__azure_call_header(struct azure_call *call, const char *name, const char *value);

/* Sends it; then wait() is called once, if this answered PAWL_OK. */
PAWL_MUST_CHECK int pawl__azure_call_begin(struct azure_call *call, struct pawl_error *err);
/*
 * PAWL_OK: answered, `http` and `code` say how. PAWL_EUNAVAILABLE and the like: it never got there.
 * PAWL_EUNKNOWN: perhaps.
 */
PAWL_MUST_CHECK int pawl__azure_call_wait(struct azure_call *call, int64_t deadline_ns,
                                          struct pawl_error *err);
PAWL_MUST_CHECK int pawl__azure_call(struct azure_call *call, int64_t deadline_ns,
                                     struct pawl_error *err);

/* An unexpected response, as an error. */
int pawl__azure_refusal(const struct azure_call *call, const char *what, struct pawl_error *err);
/* The metadata of this name; NULL: none. */
const char *pawl__azure_meta(const struct azure_call *call, const char *name);
bool pawl__azure_is_lease_code(const struct azure_call *call);

/* The lease id of an owner: the 32 digits at its end as a GUID. PAWL_EINVAL: it has none. */
PAWL_MUST_CHECK int pawl__azure_guid(const char *owner, char out[AZURE_GUID_SIZE],
                                     struct pawl_error *err);

/* ---- for the table ------------------------------------------------------------------------ */

int pawl__azure_try_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                       int64_t deadline_ns, struct pawl_error *err);
int pawl__azure_renew_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *const *grants,
                         size_t count, int64_t deadline_ns, struct pawl_error *err);
int pawl__azure_release_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                           int64_t deadline_ns, struct pawl_error *err);
void pawl__azure_abandon_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant);
int pawl__azure_status_op(struct pawl_lock_provider *provider, struct pawl_lock_status *out,
                          int64_t deadline_ns, struct pawl_error *err);
int pawl__azure_inspect_op(struct pawl_lock_provider *provider, struct pawl_str name,
                           struct pawl_lock_holder *out, int64_t deadline_ns,
                           struct pawl_error *err);
int pawl__azure_list_op(struct pawl_lock_provider *provider, size_t limit,
                        int (*each)(void *ctx, const struct pawl_lock_holder *holder), void *ctx,
                        int64_t deadline_ns, struct pawl_error *err);

#endif
