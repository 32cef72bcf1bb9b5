/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the name of a lock to what a server is asked for, as .NET's DistributedLock library derives
 * it, so that nodes of either kind exclude each other. Pure functions; 336 recorded names with the
 * keys that the library computed hold them to it.
 *
 * Lengths there count UTF-16 units. Where the derived name differs from the given one or is too
 * long, base64 of SHA-512 of the name ends it, so that different names stay different. A name that
 * is not UTF-8, which the library cannot have, is derived with U+FFFD in place of each malformed
 * byte and counts as different, too.
 *
 * Every name is valid, even the empty one, except Azure's that would leave their container.
 */
#ifndef PAWL_LOCKS_NAMES_H
#define PAWL_LOCKS_NAMES_H

#include "base/str.h"

#include <pawl/error.h>

/* ---- file -------------------------------------------------------------------------------- */

/* 27 units of three bytes, 32 characters of hash, ".lock", NUL. */
#define PAWL_LOCK_FILE_NAME_SIZE 120

/* The name of the file in its folder. */
void pawl__lock_name_file(struct pawl_str name, char out[PAWL_LOCK_FILE_NAME_SIZE]);

/* ---- postgres ---------------------------------------------------------------------------- */

/* An advisory lock is known by 64 bits or by two halves; the two never collide. */
struct pawl_pg_lock_key {
    bool pair;
    int64_t key;  /* !pair */
    int32_t a, b; /* pair */
};

/*
 * ASCII of up to 9 characters becomes a pair, 16 hexadecimal digits a key, 8 and 8 with a comma
 * between them a pair; everything else the beginning of its SHA-1.
 */
void pawl__lock_name_postgres(struct pawl_str name, struct pawl_pg_lock_key *out);

/* "5341647807707390374" or "-641786185,-1". */
#define PAWL_PG_LOCK_KEY_TEXT_SIZE 32
void pawl__lock_name_postgres_text(const struct pawl_pg_lock_key *key,
                                   char out[PAWL_PG_LOCK_KEY_TEXT_SIZE]);

/* ---- redis ------------------------------------------------------------------------------- */

/* The key is the name, byte for byte; declared here for completeness. */
static inline struct pawl_str pawl__lock_name_redis(struct pawl_str name)
{
    return name;
}

/* ---- sqlserver --------------------------------------------------------------------------- */

#define PAWL_SQLSERVER_LOCK_UNITS_MAX 255
/* As UTF-8 with its NUL. */
#define PAWL_SQLSERVER_LOCK_NAME_SIZE (3 * PAWL_SQLSERVER_LOCK_UNITS_MAX + 1)

/* The resource of sp_getapplock. Returns its units; cutting may leave half of a pair at an end. */
size_t pawl__lock_name_sqlserver(struct pawl_str name, uint16_t out[PAWL_SQLSERVER_LOCK_UNITS_MAX]);
/* The same as UTF-8 with U+FFFD for such a half. Returns its bytes, without the NUL. */
size_t pawl__lock_name_sqlserver_text(struct pawl_str name,
                                      char out[PAWL_SQLSERVER_LOCK_NAME_SIZE]);

/* ---- azure ------------------------------------------------------------------------------- */

#define PAWL_AZURE_LOCK_UNITS_MAX 1024
#define PAWL_AZURE_LOCK_UNITS_MAX_EMULATOR 256
/* As UTF-8, and percent-encoded, both with a NUL. */
#define PAWL_AZURE_LOCK_NAME_SIZE (3 * PAWL_AZURE_LOCK_UNITS_MAX + 1)
#define PAWL_AZURE_LOCK_PATH_SIZE (9 * PAWL_AZURE_LOCK_UNITS_MAX + 1)

/* The name of the blob as the library computes it, at most `units_max` (one of the two above)
 * long. Returns its bytes, without the NUL. */
size_t pawl__lock_name_azure(struct pawl_str name, size_t units_max,
                             char out[PAWL_AZURE_LOCK_NAME_SIZE]);
/*
 * What its client then asks for: percent-encoded, below the container, without a slash in front.
 * Leading slashes are dropped, "." and ".." are followed. PAWL_EINVAL: that would leave the
 * container or name nothing.
 */
PAWL_MUST_CHECK int pawl__lock_name_azure_path(struct pawl_str name, size_t units_max,
                                               char out[PAWL_AZURE_LOCK_PATH_SIZE],
                                               struct pawl_error *err);

#endif
