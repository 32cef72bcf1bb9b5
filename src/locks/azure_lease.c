/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking, renewing and giving back leases; see azure.h.
 *
 *     acquire -> 201 held
 *             -> 409 held by another
 *             -> 404 no blob: create it, retry; no container: create it if allowed, retry
 *
 * The lease id is the owner's, so asking twice is the same as asking once.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "locks/azure_private.h"

#include <inttypes.h>
#include <stdio.h>

#define US_PER_S 1000000
/* To release a useless lease. */
#define AMENDS_NS INT64_C(5000000000)

static struct azure_locks *locks_of(struct pawl_lock_provider *provider)
{
    return (struct azure_locks *)provider;
}

/* ---- requests ----------------------------------------------------------------------------- */

/* PUT blob?comp=lease; `id_header` is where the lease id goes. */
static int prepare_lease(struct azure_call *call, struct azure_locks *locks,
                         const struct pawl_lock_grant *grant, const char *action,
                         const char *id_header, struct pawl_error *err)
{
    char guid[AZURE_GUID_SIZE], seconds[24];
    int status;

    pawl__azure_call_init(call, locks, "PUT", "comp=lease");
    status = pawl__azure_guid(grant->owner, guid, err);
    if (status == PAWL_OK)
        status = pawl__azure_call_path(call, &grant->name, err);
    if (status != PAWL_OK)
        return status;
    pawl__azure_call_header(call, "x-ms-lease-action", action);
    pawl__azure_call_header(call, id_header, guid);
    if (strcmp(action, "acquire") == 0) {
        (void)snprintf(seconds, sizeof seconds, "%" PRId64, locks->ttl_ms / 1000);
        pawl__azure_call_header(call, "x-ms-lease-duration", seconds);
    }
    return PAWL_OK;
}

/* Makes the blob; one that is there stays. */
static int make_blob(struct azure_locks *locks, const struct pawl_lock_grant *grant,
                     int64_t deadline_ns, struct pawl_error *err)
{
    struct azure_call call;
    int status;

    pawl__azure_call_init(&call, locks, "PUT", "");
    status = pawl__azure_call_path(&call, &grant->name, err);
    if (status == PAWL_OK) {
        pawl__azure_call_header(&call, "x-ms-blob-type", "BlockBlob");
        pawl__azure_call_header(&call, "If-None-Match", "*");
        status = pawl__azure_call(&call, deadline_ns, err);
    }
    /* 409 and 412: another process created it first, and may have leased it. */
    if (status == PAWL_OK && call.http != 201 && call.http != 412 &&
        !(call.http == 409 && strcmp(call.code, "BlobAlreadyExists") == 0))
        status = pawl__azure_refusal(&call, "creating a blob", err);
    pawl__azure_call_release(&call);
    return status == PAWL_EUNKNOWN ? PAWL_EUNAVAILABLE : status;
}

static int make_container(struct azure_locks *locks, int64_t deadline_ns, struct pawl_error *err)
{
    struct azure_call call;
    int status;

    pawl__azure_call_init(&call, locks, "PUT", "restype=container");
    status = pawl__azure_call_path(&call, NULL, err);
    if (status == PAWL_OK)
        status = pawl__azure_call(&call, deadline_ns, err);
    if (status == PAWL_OK && call.http != 201 &&
        !(call.http == 409 && strcmp(call.code, "ContainerAlreadyExists") == 0))
        status = pawl__azure_refusal(&call, "creating the container", err);
    pawl__azure_call_release(&call);
    return status == PAWL_EUNKNOWN ? PAWL_EUNAVAILABLE : status;
}

/* ---- acquiring ---------------------------------------------------------------------------- */

enum missing { MISSING_NOTHING, MISSING_BLOB, MISSING_CONTAINER };

/* One request. PAWL_ENOTFOUND: *missing says what was not there. */
static int acquire(struct azure_locks *locks, struct pawl_lock_grant *grant, int64_t deadline_ns,
                   enum missing *missing, struct pawl_error *err)
{
    struct azure_call call;
    int status = prepare_lease(&call, locks, grant, "acquire", "x-ms-proposed-lease-id", err);

    *missing = MISSING_NOTHING;
    if (status == PAWL_OK)
        status = pawl__azure_call(&call, deadline_ns, err);
    if (status == PAWL_OK && call.http == 201) {
        grant->valid_until_ns = pawl__lock_valid_until(call.sent_ns, locks->ttl_ms);
    } else if (status == PAWL_OK && call.http == 409 && pawl__azure_is_lease_code(&call)) {
        status = PAWL_EBUSY;
    } else if (status == PAWL_OK) {
        status = pawl__azure_refusal(&call, "acquiring a lease", err);
        if (call.http == 404)
            *missing =
                strcmp(call.code, "ContainerNotFound") == 0 ? MISSING_CONTAINER : MISSING_BLOB;
    }
    pawl__azure_call_release(&call);
    return status;
}

/* With everything made that is missing. */
static int acquire_made(struct azure_locks *locks, struct pawl_lock_grant *grant,
                        int64_t deadline_ns, struct pawl_error *err)
{
    enum missing missing;
    int status = acquire(locks, grant, deadline_ns, &missing, err);

    if (missing == MISSING_CONTAINER && locks->place.create) {
        status = make_container(locks, deadline_ns, err);
        missing = MISSING_BLOB;
    } else if (missing == MISSING_CONTAINER) {
        return status;
    } else if (missing == MISSING_BLOB) {
        status = PAWL_OK;
    }
    if (missing != MISSING_BLOB || status != PAWL_OK)
        return status;
    status = make_blob(locks, grant, deadline_ns, err);
    if (status == PAWL_OK)
        status = acquire(locks, grant, deadline_ns, &missing, err);
    /* Created and gone again: another process uses it that deletes blobs on release. */
    return missing == MISSING_BLOB && status == PAWL_ENOTFOUND ? PAWL_EBUSY : status;
}

/* ---- tokens ------------------------------------------------------------------------------- */

static uint64_t read_token(const char *text)
{
    uint64_t value = 0;

    for (; text && *text >= '0' && *text <= '9' && value < UINT64_MAX / 20; text++)
        value = value * 10 + (uint64_t)(*text - '0');
    return value;
}

/* What others keep in the blob's metadata stays; setting it sets all of it. */
static void keep_meta(const struct azure_call *from, struct azure_call *to)
{
    size_t at = 0;

    while (at < from->meta.len) {
        const char *name = from->meta.ptr + at, *value = name + strlen(name) + 1;
        char header[128];

        at = (size_t)(value - from->meta.ptr) + strlen(value) + 1;
        if (strcmp(name, "fence") == 0 || strcmp(name, "holder") == 0)
            continue;
        (void)snprintf(header, sizeof header, "x-ms-meta-%.100s", name);
        pawl__azure_call_header(to, header, value);
    }
}

static int write_token(struct azure_locks *locks, const struct pawl_lock_grant *grant,
                       const struct azure_call *old, uint64_t token, int64_t deadline_ns,
                       struct pawl_error *err)
{
    struct azure_call call;
    char guid[AZURE_GUID_SIZE], text[24];
    int status = pawl__azure_guid(grant->owner, guid, err);

    pawl__azure_call_init(&call, locks, "PUT", "comp=metadata");
    if (status == PAWL_OK)
        status = pawl__azure_call_path(&call, &grant->name, err);
    (void)snprintf(text, sizeof text, "%" PRIu64, token);
    pawl__azure_call_header(&call, "x-ms-lease-id", guid);
    pawl__azure_call_header(&call, "x-ms-meta-fence", text);
    pawl__azure_call_header(&call, "x-ms-meta-holder", grant->owner);
    keep_meta(old, &call);
    if (status == PAWL_OK)
        status = pawl__azure_call(&call, deadline_ns, err);
    if (status == PAWL_OK && call.http != 200)
        status = pawl__azure_refusal(&call, "writing a token", err);
    pawl__azure_call_release(&call);
    return status;
}

/*
 * Under the lease: the counter in the metadata and one more. A blob that has none begins at the
 * service's time in microseconds, so that one which was deleted and created again continues above
 * what it gave before.
 */
static int take_token(struct azure_locks *locks, struct pawl_lock_grant *grant, int64_t deadline_ns,
                      struct pawl_error *err)
{
    struct azure_call call;
    uint64_t token = 0;
    int status;

    pawl__azure_call_init(&call, locks, "HEAD", "");
    status = pawl__azure_call_path(&call, &grant->name, err);
    if (status == PAWL_OK)
        status = pawl__azure_call(&call, deadline_ns, err);
    if (status == PAWL_OK && call.http != 200)
        status = pawl__azure_refusal(&call, "reading a token", err);
    if (status == PAWL_OK) {
        token = read_token(pawl__azure_meta(&call, "fence")) + 1;
        if (token == 1 && call.date_s > 0)
            token = (uint64_t)call.date_s * US_PER_S;
        status = write_token(locks, grant, &call, token, deadline_ns, err);
    }
    if (status == PAWL_OK)
        grant->token = token;
    pawl__azure_call_release(&call);
    return status;
}

/* ---- operations --------------------------------------------------------------------------- */

/* PAWL_OK or PAWL_ENOTFOUND: not held now. */
static int release_lease(struct azure_locks *locks, const struct pawl_lock_grant *grant,
                         int64_t deadline_ns, struct pawl_error *err)
{
    struct azure_call call;
    int status = prepare_lease(&call, locks, grant, "release", "x-ms-lease-id", err);

    if (status == PAWL_OK)
        status = pawl__azure_call(&call, deadline_ns, err);
    if (status == PAWL_OK && call.http != 200) {
        bool gone = call.http == 404 || (call.http == 409 && pawl__azure_is_lease_code(&call)) ||
                    (call.http == 412 && pawl__azure_is_lease_code(&call));

        status = gone ? pawl__error_set(err, PAWL_ENOTFOUND, "the lease was no longer held (%s)",
                                        call.code)
                      : pawl__azure_refusal(&call, "releasing a lease", err);
    }
    pawl__azure_call_release(&call);
    return status;
}

int pawl__azure_try_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                       int64_t deadline_ns, struct pawl_error *err)
{
    struct azure_locks *locks = locks_of(provider);
    int status = acquire_made(locks, grant, deadline_ns, err);
    int64_t now_ns;

    if (status != PAWL_OK)
        return status;
    if (grant->flags & PAWL_LOCK_WANT_TOKEN)
        status = take_token(locks, grant, deadline_ns, err);
    now_ns = pawl_env_monotonic_ns(locks->env);
    if (status == PAWL_OK && now_ns >= grant->valid_until_ns)
        status = pawl__error_set(err, PAWL_EUNAVAILABLE,
                                 "Azure Storage: the lease was granted too late to be useful");
    if (status == PAWL_OK)
        return PAWL_OK;
    /* Not to be used: it is released, or at worst expires. */
    if (release_lease(locks, grant, now_ns + AMENDS_NS, NULL) == PAWL_EUNKNOWN)
        return PAWL_EUNKNOWN;
    return status == PAWL_EUNKNOWN ? PAWL_EUNAVAILABLE : status;
}

static int renewed(struct azure_locks *locks, struct azure_call *call,
                   struct pawl_lock_grant *grant, struct pawl_error *err)
{
    if (call->http == 200) {
        grant->valid_until_ns = pawl__lock_valid_until(call->sent_ns, locks->ttl_ms);
        return PAWL_OK;
    }
    if (call->http == 404 || (call->http == 409 && pawl__azure_is_lease_code(call)) ||
        (call->http == 412 && pawl__azure_is_lease_code(call)))
        return PAWL_ENOTFOUND;
    return pawl__azure_refusal(call, "renewing a lease", err);
}

int pawl__azure_renew_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *const *grants,
                         size_t count, int64_t deadline_ns, struct pawl_error *err)
{
    struct azure_locks *locks = locks_of(provider);
    struct azure_call *calls = pawl__alloc_zeroed(&locks->env->alloc, count * sizeof *calls + 1);

    if (!calls)
        return pawl__error_code(err, PAWL_ENOMEM);
    for (size_t i = 0; i < count; i++) {
        grants[i]->status =
            prepare_lease(&calls[i], locks, grants[i], "renew", "x-ms-lease-id", err);
        if (grants[i]->status == PAWL_OK)
            grants[i]->status = pawl__azure_call_begin(&calls[i], err);
    }
    for (size_t i = 0; i < count; i++) {
        if (calls[i].begun)
            grants[i]->status = pawl__azure_call_wait(&calls[i], deadline_ns, err);
        if (grants[i]->status == PAWL_OK)
            grants[i]->status = renewed(locks, &calls[i], grants[i], err);
        pawl__azure_call_release(&calls[i]);
    }
    pawl__free(&locks->env->alloc, calls, count * sizeof *calls + 1);
    return PAWL_OK;
}

int pawl__azure_release_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant,
                           int64_t deadline_ns, struct pawl_error *err)
{
    int status = release_lease(locks_of(provider), grant, deadline_ns, err);

    return status == PAWL_EUNKNOWN ? PAWL_EUNAVAILABLE : status;
}

void pawl__azure_abandon_op(struct pawl_lock_provider *provider, struct pawl_lock_grant *grant)
{
    (void)provider;
    (void)grant; /* its lease ends */
}
