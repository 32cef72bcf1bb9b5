/* SPDX-License-Identifier: Apache-2.0 */
/* From a lock service's URI to the provider it names. */
#ifndef PAWL_HOST_LOCK_URI_H
#define PAWL_HOST_LOCK_URI_H

#include "base/str.h"
#include "locks/providers.h"

/*
 * memory:            in this process
 * file:DIR           files of a folder; a DIR alone is the same
 * sqlite:FILE        rows of a database file
 * sqlserver://…      application locks of SQL Server; locks/sqlserver.h has its options
 * azure://…          leases of Azure blobs; locks/azure.h has its options
 * postgres://…       advisory locks of a server's database
 * redis://…          keys of a server, or of the majority of several
 *
 * PAWL_EINVAL: no such kind, or the part after the colon is not valid; else the result of opening
 * it. `options` NULL: the defaults.
 */
PAWL_MUST_CHECK int pawl__lock_open_uri(struct pawl_env *env, struct pawl_str uri,
                                        const struct pawl_lock_provider_options *options,
                                        struct pawl_lock_provider **out, struct pawl_error *err);

/* The kind that a URI names, without opening anything: "file". PAWL_EINVAL as above. */
PAWL_MUST_CHECK int pawl__lock_uri_kind(struct pawl_str uri, const char **out,
                                        struct pawl_error *err);

#endif
