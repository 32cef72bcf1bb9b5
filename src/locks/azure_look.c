/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds a lock, as far as Azure reports it; see azure.h. */
#include "base/error.h"
#include "locks/azure_private.h"

#include <stdio.h>

/* Blobs per page of a list. */
#define PAGE "500"
#define PAGES_MAX 10000

static struct azure_locks *locks_of(struct pawl_lock_provider *provider)
{
    return (struct azure_locks *)provider;
}

int pawl__azure_status_op(struct pawl_lock_provider *provider, struct pawl_lock_status *out,
                          int64_t deadline_ns, struct pawl_error *err)
{
    struct azure_locks *locks = locks_of(provider);
    struct azure_call call;
    int status;

    *out = (struct pawl_lock_status){.ttl_ms = locks->ttl_ms};
    pawl__azure_call_init(&call, locks, "GET", "restype=container");
    status = pawl__azure_call_path(&call, NULL, err);
    if (status == PAWL_OK)
        status = pawl__azure_call(&call, deadline_ns, err);
    /* A container that will be made is not missing. */
    if (status == PAWL_OK && call.http != 200 && !(call.http == 404 && locks->place.create))
        status = pawl__azure_refusal(&call, "looking at the container", err);
    (void)snprintf(out->server, sizeof out->server, "Azure Storage (%.90s)",
                   *call.server ? call.server : "no name");
    if (locks->place.is_plain)
        (void)snprintf(out->warning, sizeof out->warning,
                       "the connection is not encrypted (http): anybody on the way can use what is "
                       "signed or read a shared access signature");
    pawl__azure_call_release(&call);
    return status == PAWL_EUNKNOWN ? PAWL_EUNAVAILABLE : status;
}

/* Of a blob; a lease id lets it succeed only for that lease. */
static int read_blob(struct azure_call *call, struct azure_locks *locks,
                     const struct pawl_str *name, const char *lease_id, int64_t deadline_ns,
                     struct pawl_error *err)
{
    int status;

    pawl__azure_call_init(call, locks, "HEAD", "");
    status = pawl__azure_call_path(call, name, err);
    if (lease_id)
        pawl__azure_call_header(call, "x-ms-lease-id", lease_id);
    if (status == PAWL_OK)
        status = pawl__azure_call(call, deadline_ns, err);
    return status == PAWL_EUNKNOWN ? PAWL_EUNAVAILABLE : status;
}

static uint64_t read_fence(const char *text)
{
    uint64_t value = 0;

    for (; text && *text >= '0' && *text <= '9' && value < UINT64_MAX / 20; text++)
        value = value * 10 + (uint64_t)(*text - '0');
    return value;
}

/* The metadata has who took the last token; whether that is who holds the lease now is a question
 * that the service answers. */
static int find_holder(struct azure_locks *locks, const struct pawl_str *name, const char *holder,
                       struct pawl_lock_holder *out, int64_t deadline_ns, struct pawl_error *err)
{
    char guid[AZURE_GUID_SIZE];
    struct azure_call call;
    int status;

    if (!holder || pawl__azure_guid(holder, guid, NULL) != PAWL_OK)
        return PAWL_OK;
    status = read_blob(&call, locks, name, guid, deadline_ns, err);
    if (status == PAWL_OK && call.http == 200)
        (void)snprintf(out->owner, sizeof out->owner, "%s", holder);
    pawl__azure_call_release(&call);
    return status;
}

int pawl__azure_inspect_op(struct pawl_lock_provider *provider, struct pawl_str name,
                           struct pawl_lock_holder *out, int64_t deadline_ns,
                           struct pawl_error *err)
{
    struct azure_locks *locks = locks_of(provider);
    struct azure_call call;
    int status;

    *out = (struct pawl_lock_holder){.remaining_ms = -1};
    status = provider->ops->map(provider, name, out->key, sizeof out->key, err);
    if (status != PAWL_OK)
        return status;
    status = read_blob(&call, locks, &name, NULL, deadline_ns, err);
    if (status == PAWL_OK && call.http == 404 && strcmp(call.code, "ContainerNotFound") != 0) {
        pawl__azure_call_release(&call);
        return PAWL_OK;
    }
    if (status == PAWL_OK && call.http != 200)
        status = pawl__azure_refusal(&call, "looking at a blob", err);
    if (status == PAWL_OK) {
        out->held =
            strcmp(call.lease_state, "leased") == 0 || strcmp(call.lease_state, "breaking") == 0;
        out->token = read_fence(pawl__azure_meta(&call, "fence"));
        if (out->held)
            status =
                find_holder(locks, &name, pawl__azure_meta(&call, "holder"), out, deadline_ns, err);
    }
    pawl__azure_call_release(&call);
    return status;
}

/* ---- lists -------------------------------------------------------------------------------- */

struct listing {
    size_t left;
    int (*each)(void *ctx, const struct pawl_lock_holder *holder);
    void *ctx;
    bool over;
};

static void show(struct listing *listing, struct pawl_str xml)
{
    struct pawl_lock_holder holder;
    struct azure_listed blob;
    size_t at = 0;

    while (!listing->over && pawl__azure_xml_blob(xml, &at, &blob)) {
        if (!blob.is_leased)
            continue;
        holder = (struct pawl_lock_holder){.held = true, .remaining_ms = -1, .token = blob.fence};
        (void)snprintf(holder.key, sizeof holder.key, "%s", blob.name);
        listing->over = listing->each(listing->ctx, &holder) != 0 || --listing->left == 0;
    }
}

/* Percent-encodes what is not plain. */
static void append_encoded(struct pawl_buf *out, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";

    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            c == '-' || c == '.' || c == '_') {
            pawl__buf_byte(out, (char)c);
        } else {
            pawl__buf_byte(out, '%');
            pawl__buf_byte(out, digits[c >> 4]);
            pawl__buf_byte(out, digits[c & 15]);
        }
    }
}

/* One page, from `marker`, which becomes the next one's ("" at the end). */
static int list_page(struct azure_locks *locks, char *marker, size_t marker_size,
                     struct listing *listing, int64_t deadline_ns, struct pawl_error *err)
{
    struct azure_call call;
    struct pawl_buf query;
    size_t at = 0;
    int status;

    pawl__buf_init(&query, &locks->env->alloc, (size_t)16 << 10);
    pawl__buf_text(&query, "comp=list&include=metadata");
    if (*marker) {
        pawl__buf_text(&query, "&marker=");
        append_encoded(&query, marker);
    }
    pawl__buf_text(&query, "&maxresults=" PAGE "&restype=container");
    pawl__azure_call_init(&call, locks, "GET", pawl__buf_cstr(&query));
    status = query.status == PAWL_OK ? pawl__azure_call_path(&call, NULL, err)
                                     : pawl__error_code(err, query.status);
    if (status == PAWL_OK)
        status = pawl__azure_call(&call, deadline_ns, err);
    if (status == PAWL_OK && call.http != 200)
        status = pawl__azure_refusal(&call, "listing the container", err);
    *marker = 0;
    if (status == PAWL_OK) {
        show(listing, pawl__buf_peek(&call.body));
        (void)pawl__azure_xml_next(pawl__buf_peek(&call.body), "NextMarker", &at, marker,
                                   marker_size);
    }
    pawl__azure_call_release(&call);
    pawl__buf_release(&query);
    return status == PAWL_EUNKNOWN ? PAWL_EUNAVAILABLE : status;
}

int pawl__azure_list_op(struct pawl_lock_provider *provider, size_t limit,
                        int (*each)(void *ctx, const struct pawl_lock_holder *holder), void *ctx,
                        int64_t deadline_ns, struct pawl_error *err)
{
    struct azure_locks *locks = locks_of(provider);
    struct listing listing = {limit, each, ctx, limit == 0};
    char marker[PAWL_LOCK_KEY_MAX] = "";
    int status = PAWL_OK;

    for (int pages = 0; pages < PAGES_MAX && !listing.over && status == PAWL_OK; pages++) {
        status = list_page(locks, marker, sizeof marker, &listing, deadline_ns, err);
        if (!*marker)
            break;
    }
    return status;
}
