/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks by leases of Azure blobs, as .NET's DistributedLock library has them.
 *
 *     azure://ACCOUNT/CONTAINER                  https://ACCOUNT.blob.core.windows.net/CONTAINER
 *     azure://HOST[:PORT]/CONTAINER              an account's own host: its first label is the name
 *     azure://HOST[:PORT]/ACCOUNT/CONTAINER      the account in the path, as emulators have it
 *     azure:///CONTAINER?connection=…            all the rest from a connection string
 *
 *     key=BASE64           the account's key; or
 *     sv=…&sig=…, sas=…    a shared access signature, as in its URL, or encoded once more
 *     connection=…         a connection string
 *     lease=SECONDS        15 to 60
 *     create=on|off        make the container when it is missing; off
 *     http=on|off          without TLS; off
 *     trust=FILE           a certificate or authority (PEM) to trust instead of the system's
 *
 * Without a credential in the URI those of Azure's own tools are used: AZURE_STORAGE_KEY,
 * AZURE_STORAGE_SAS_TOKEN and AZURE_STORAGE_CONNECTION_STRING; for the emulator's account
 * devstoreaccount1 its published key.
 *
 * A lock is a blob with a lease whose id is the owner's GUID, so that an attempt that is repeated
 * finds its own lease. The blob is made if it is missing and stays, with the last token and its
 * owner in its metadata. The server cannot wait: a refused caller polls.
 *
 * Not run on Microsoft's service by our own tests: see docs/locks.md.
 */
#ifndef PAWL_LOCKS_AZURE_H
#define PAWL_LOCKS_AZURE_H

#include "locks/providers.h"

#define PAWL_AZURE_LEASE_MS_MIN 15000
#define PAWL_AZURE_LEASE_MS_MAX 60000

/*
 * Reads the URI, does not connect. `options` may be NULL; its ttl_ms counts when the URI has no
 * lease. PAWL_EINVAL: URI, lease, or no credential anywhere.
 */
PAWL_MUST_CHECK int pawl__azure_locks_open(struct pawl_env *env, struct pawl_str uri,
                                           const struct pawl_lock_provider_options *options,
                                           struct pawl_lock_provider **out, struct pawl_error *err);

#endif
