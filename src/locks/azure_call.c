/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request to the service and its answer, by the HTTP executor, which has a thread of its own:
 * begin() hands it over, wait() sleeps until the answer was noted by that thread.
 */
#include "base/base64.h"
#include "base/error.h"
#include "base/hash/hmac.h"
#include "locks/azure_private.h"

#include <stdio.h>

#define TEXT_MAX ((size_t)64 << 10)
/* Of a request's path and headers; a path has 9 KB at the most, and metadata of others 8. */
#define KEPT_MAX ((size_t)20 << 10)
#define BODY_MAX ((size_t)4 << 20)
/* A larger clock difference is reported; the service refuses at 15 minutes. */
#define SKEW_S 300
#define NS_PER_S INT64_C(1000000000)

void pawl__azure_call_init(struct azure_call *call, struct azure_locks *locks, const char *method,
                           const char *query)
{
    memset(call, 0, sizeof *call);
    call->locks = locks;
    call->request.method = method;
    call->request.query = query;
    call->request.path = "";
    call->request.has_body = strcmp(method, "PUT") == 0;
    pawl__buf_init(&call->text, &locks->env->alloc, TEXT_MAX);
    pawl__buf_init(&call->meta, &locks->env->alloc, AZURE_META_BYTES_MAX);
    pawl__buf_init(&call->body, &locks->env->alloc, BODY_MAX);
    /* What headers point to must not move: all of it is asked for at once. */
    (void)pawl__buf_reserve(&call->text, KEPT_MAX);
}

void pawl__azure_call_release(struct azure_call *call)
{
    pawl__buf_release(&call->text);
    pawl__buf_release(&call->meta);
    pawl__buf_release(&call->body);
}

/* A copy that stays where it is; "" when there is no room, which shows in begin(). */
static const char *keep(struct azure_call *call, struct pawl_str text)
{
    const char *at;

    if (call->text.len + text.len + 1 > KEPT_MAX) {
        call->text.status = call->text.status == PAWL_OK ? PAWL_ELIMIT : call->text.status;
        return "";
    }
    if (call->text.status != PAWL_OK)
        return "";
    at = call->text.ptr + call->text.len;
    pawl__buf_str(&call->text, text);
    pawl__buf_byte(&call->text, 0);
    return at;
}

int pawl__azure_call_path(struct azure_call *call, const struct pawl_str *name,
                          struct pawl_error *err)
{
    const struct azure_place *place = &call->locks->place;
    char blob[PAWL_AZURE_LOCK_PATH_SIZE], path[PAWL_AZURE_LOCK_PATH_SIZE + 300];
    int status = PAWL_OK;

    blob[0] = 0;
    if (name)
        status = pawl__lock_name_azure_path(*name,
                                            place->is_emulator ? PAWL_AZURE_LOCK_UNITS_MAX_EMULATOR
                                                               : PAWL_AZURE_LOCK_UNITS_MAX,
                                            blob, err);
    if (status != PAWL_OK)
        return status;
    (void)snprintf(path, sizeof path, "/%s%s%s", place->container, name ? "/" : "", blob);
    call->request.path = keep(call, pawl__str(path));
    return PAWL_OK;
}

void pawl__azure_call_header(struct azure_call *call, const char *name, const char *value)
{
    struct azure_request *request = &call->request;

    if (request->header_count == AZURE_HEADERS_MAX) {
        call->text.status = PAWL_ELIMIT;
        return;
    }
    request->headers[request->header_count].name = pawl__str(keep(call, pawl__str(name)));
    request->headers[request->header_count].value = pawl__str(keep(call, pawl__str(value)));
    request->header_count++;
}

/* ---- the answer, on the executor's thread -------------------------------------------------- */

static void copy_header(const struct pawl_http_header *header, const char *name, char *out,
                        size_t size)
{
    if (pawl__str_equal_nocase(header->name, pawl__str(name)))
        (void)snprintf(out, size, "%.*s",
                       (int)(header->value.len < size ? header->value.len : size - 1),
                       header->value.ptr);
}

static void note_meta(struct azure_call *call, const struct pawl_http_header *header)
{
    static const char prefix[] = "x-ms-meta-";
    size_t length = sizeof prefix - 1;

    if (header->name.len <= length ||
        !pawl__str_equal_nocase(pawl__str_slice(header->name, 0, length), pawl__str(prefix)))
        return;
    for (size_t i = length; i < header->name.len; i++) {
        char c = header->name.ptr[i];

        pawl__buf_byte(&call->meta, c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
    }
    pawl__buf_byte(&call->meta, 0);
    pawl__buf_str(&call->meta, header->value);
    pawl__buf_byte(&call->meta, 0);
}

static void note_response(void *ctx, const struct pawl_http_answer *answer)
{
    struct azure_call *call = ctx;
    struct azure_locks *locks = call->locks;
    bool locked;

    call->sent = answer->sent;
    call->error = answer->error;
    if (answer->end == PAWL_HTTP_ANSWERED) {
        call->http = answer->status;
        for (size_t i = 0; i < answer->header_count; i++) {
            const struct pawl_http_header *header = &answer->headers[i];

            copy_header(header, "x-ms-error-code", call->code, sizeof call->code);
            copy_header(header, "x-ms-lease-state", call->lease_state, sizeof call->lease_state);
            copy_header(header, "x-ms-lease-status", call->lease_status, sizeof call->lease_status);
            copy_header(header, "Server", call->server, sizeof call->server);
            if (pawl__str_equal_nocase(header->name, pawl__str("Date")))
                (void)pawl__azure_date_parse(header->value, &call->date_s);
            note_meta(call, header);
        }
        pawl__buf_str(&call->body, answer->body);
    }
    /* In an environment that is stopped nobody waits any more but cancel(). */
    locked = pawl_mutex_lock(locks->env, locks->mutex) == PAWL_OK;
    call->done = true;
    if (locked) {
        pawl_cond_broadcast(locks->env, locks->ended);
        pawl_mutex_unlock(locks->env, locks->mutex);
    }
}

/* ---- sending ------------------------------------------------------------------------------ */

static void sign(struct azure_call *call)
{
    const struct azure_place *place = &call->locks->place;
    unsigned char digest[PAWL_SHA256_BYTES];
    char encoded[48] = "", value[160];
    struct pawl_buf text;

    if (*place->sas)
        return;
    pawl__buf_init(&text, &call->locks->env->alloc, TEXT_MAX);
    pawl__azure_string_to_sign(place, &call->request, &text);
    if (text.status != PAWL_OK) {
        call->text.status = text.status;
    } else {
        pawl__hmac_sha256(pawl__str_make((const char *)place->key, place->key_len),
                          pawl__buf_peek(&text), digest);
        pawl__base64_encode(digest, sizeof digest, encoded);
        encoded[pawl__base64_len(sizeof digest)] = 0;
        (void)snprintf(value, sizeof value, "SharedKey %.90s:%s", place->account, encoded);
        pawl__azure_call_header(call, "Authorization", value);
    }
    pawl__buf_release(&text);
}

static int submit(struct azure_call *call, struct pawl_error *err)
{
    const struct azure_place *place = &call->locks->place;
    const struct azure_request *request = &call->request;
    struct pawl_http_request http = {.method = pawl__str(request->method),
                                     .headers = request->headers,
                                     .header_count = request->header_count,
                                     .body = pawl__str(""),
                                     .has_body = request->has_body};
    struct pawl_buf url;
    int status;

    pawl__buf_init(&url, &call->locks->env->alloc, TEXT_MAX);
    pawl__buf_printf(&url, "%s%s%s%s%s%s%s", place->origin, place->base_path, request->path,
                     *request->query || *place->sas ? "?" : "", request->query,
                     *request->query && *place->sas ? "&" : "", place->sas);
    http.url = pawl__buf_peek(&url);
    status = url.status != PAWL_OK ? pawl__error_code(err, url.status)
                                   : pawl_http_submit(call->locks->http, &http, note_response, call,
                                                      &call->ticket, err);
    pawl__buf_release(&url);
    return status;
}

int pawl__azure_call_begin(struct azure_call *call, struct pawl_error *err)
{
    char date[AZURE_DATE_SIZE];
    int status;

    pawl__azure_date_format(pawl_env_wall_ns(call->locks->env), date);
    pawl__azure_call_header(call, "x-ms-date", date);
    pawl__azure_call_header(call, "x-ms-version", AZURE_VERSION);
    sign(call);
    if (call->text.status != PAWL_OK)
        return pawl__error_code(err, call->text.status);
    call->sent_ns = pawl_env_monotonic_ns(call->locks->env);
    status = submit(call, err);
    call->begun = status == PAWL_OK;
    return status == PAWL_EBUSY ? PAWL_EUNAVAILABLE : status;
}

/* ---- the end ------------------------------------------------------------------------------ */

static bool mentions(const char *text, const char *word)
{
    return strstr(text, word) != NULL;
}

/* No answer: not sent is not done. */
static int transport_error(const struct azure_call *call, bool late, struct pawl_error *err)
{
    const char *what = call->error.msg;

    if (late)
        return pawl__error_set(err, call->sent ? PAWL_EUNKNOWN : PAWL_ETIMEDOUT,
                               "Azure Storage at %s: no reply in time", call->locks->place.origin);
    if (!call->sent && (mentions(what, "certificate") || mentions(what, "SSL")))
        return pawl__error_set(
            err, PAWL_EPERM,
            "Azure Storage at %s: its certificate is not trusted (%.200s). Trust "
            "it by name with ?trust=FILE.pem",
            call->locks->place.origin, what);
    return pawl__error_set(err, call->sent ? PAWL_EUNKNOWN : PAWL_EUNAVAILABLE,
                           "Azure Storage: %.400s", what);
}

int pawl__azure_call_wait(struct azure_call *call, int64_t deadline_ns, struct pawl_error *err)
{
    struct azure_locks *locks = call->locks;
    bool late = false;
    int status = pawl_mutex_lock(locks->env, locks->mutex);

    if (status == PAWL_OK) {
        while (!call->done && status == PAWL_OK)
            status = pawl_cond_wait(locks->env, locks->ended, locks->mutex, deadline_ns);
        late = !call->done;
        pawl_mutex_unlock(locks->env, locks->mutex);
    }
    /* After this it is noted, and the executor does not touch the call any more. */
    pawl_http_cancel(locks->http, call->ticket);
    if (call->http == 0)
        return status == PAWL_ESTOPPED ? pawl__error_code(err, status)
                                       : transport_error(call, late, err);
    if (call->meta.status != PAWL_OK || call->body.status != PAWL_OK)
        return pawl__error_code(err, call->meta.status != PAWL_OK ? call->meta.status
                                                                  : call->body.status);
    return PAWL_OK;
}

int pawl__azure_call(struct azure_call *call, int64_t deadline_ns, struct pawl_error *err)
{
    int status = pawl__azure_call_begin(call, err);

    return status == PAWL_OK ? pawl__azure_call_wait(call, deadline_ns, err) : status;
}

/* ---- refusals ----------------------------------------------------------------------------- */

static int code_of(const struct azure_call *call)
{
    if (call->http == 401 || call->http == 403)
        return PAWL_EPERM;
    if (call->http == 404)
        return PAWL_ENOTFOUND;
    if (call->http == 408 || call->http == 429 || call->http >= 500 ||
        strcmp(call->code, "ContainerBeingDeleted") == 0)
        return PAWL_EUNAVAILABLE;
    return PAWL_EINVAL;
}

/* A signature is refused when the clocks differ; that is worth more than "denied". */
static int skew_error(const struct azure_call *call, struct pawl_error *err)
{
    int64_t now_s = pawl_env_wall_ns(call->locks->env) / NS_PER_S;
    int64_t skew_s = now_s - call->date_s;

    if (call->date_s == 0 || (skew_s < SKEW_S && skew_s > -SKEW_S))
        return PAWL_OK;
    return pawl__error_set(err, PAWL_EPERM,
                           "Azure Storage refuses the signature (%s): this machine's clock is %lld "
                           "seconds %s the service's, and 15 minutes are allowed. Set the clock",
                           call->code, (long long)(skew_s < 0 ? -skew_s : skew_s),
                           skew_s < 0 ? "behind" : "ahead of");
}

int pawl__azure_refusal(const struct azure_call *call, const char *what, struct pawl_error *err)
{
    const struct azure_place *place = &call->locks->place;
    char text[200] = "";
    size_t at = 0;
    int code = code_of(call);

    if (code == PAWL_EPERM && skew_error(call, err) != PAWL_OK)
        return PAWL_EPERM;
    (void)pawl__azure_xml_next(pawl__buf_peek(&call->body), "Message", &at, text, sizeof text);
    text[strcspn(text, "\r\n")] = 0;
    if (strcmp(call->code, "ContainerNotFound") == 0)
        return pawl__error_set(
            err, code,
            "Azure Storage has no container '%s' in the account '%s': create it, or "
            "have it created with ?create=on",
            place->container, place->account);
    return pawl__error_set(
        err, code, "Azure Storage at %s, %s: HTTP %d %s%s%s%s", place->origin, what, call->http,
        call->code, *text ? ": " : "", text,
        code == PAWL_EPERM ? (*place->sas ? "; may the signature do this, and is it still valid?"
                                          : "; check account and key of the lock's URI")
                           : "");
}

const char *pawl__azure_meta(const struct azure_call *call, const char *name)
{
    size_t at = 0;

    while (at < call->meta.len) {
        const char *found = call->meta.ptr + at, *value = found + strlen(found) + 1;

        if (strcmp(found, name) == 0)
            return value;
        at = (size_t)(value - call->meta.ptr) + strlen(value) + 1;
    }
    return NULL;
}

bool pawl__azure_is_lease_code(const struct azure_call *call)
{
    return strncmp(call->code, "Lease", 5) == 0;
}

int pawl__azure_guid(const char *owner, char out[AZURE_GUID_SIZE], struct pawl_error *err)
{
    size_t length = strlen(owner), to = 0;
    const char *digits = owner + length - 32;

    for (size_t i = 0; length >= 32 && i < 32; i++) {
        char c = digits[i];

        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
            length = 0;
        if (i == 8 || i == 12 || i == 16 || i == 20)
            out[to++] = '-';
        out[to++] = c;
    }
    if (length < 32)
        return pawl__error_set(err, PAWL_EINVAL, "an owner ends in 32 hexadecimal digits, not '%s'",
                               owner);
    out[to] = 0;
    return PAWL_OK;
}
