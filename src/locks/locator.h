/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a provider's URI: scheme://user:password@host:port/path?option=value&…, each decoded
 * (%41 is A) and NUL-terminated. Options are asked for by name; what nobody asked for is an error
 * that names it, so that a misspelt one is not passed over.
 */
#ifndef PAWL_LOCKS_LOCATOR_H
#define PAWL_LOCKS_LOCATOR_H

#include "base/arena.h"
#include "base/str.h"

#define PAWL_LOCATOR_OPTIONS_MAX 32
#define PAWL_LOCATOR_BYTES_MAX 8192

struct pawl_locator_option {
    const char *name, *value;
    bool used;
};

struct pawl_locator {
    const char *user, *password; /* "": none */
    const char *host;            /* of [::1] without the brackets; "": none */
    uint16_t port;               /* 0: none */
    const char *path;            /* behind the slash; "": none */
    struct pawl_locator_option options[PAWL_LOCATOR_OPTIONS_MAX];
    size_t option_count;
};

/*
 * Reads `uri`, whose scheme the caller knows; the texts are in `arena`. PAWL_EINVAL says what is
 * wrong, without a password; PAWL_ELIMIT: too long, too many options; PAWL_ENOMEM.
 */
PAWL_MUST_CHECK int pawl__locator_parse(struct pawl_str uri, struct pawl_arena *arena,
                                        struct pawl_locator *out, struct pawl_error *err);

/* The value of an option; NULL when it does not exist. It counts as used. */
const char *pawl__locator_option(struct pawl_locator *locator, const char *name);
/* The same as a number from `least` to `most`; `usual` when it does not exist. PAWL_EINVAL. */
PAWL_MUST_CHECK int pawl__locator_number(struct pawl_locator *locator, const char *name,
                                         int64_t least, int64_t most, int64_t usual, int64_t *out,
                                         struct pawl_error *err);
/* The same as on or off (1 or 0, yes or no, true or false). PAWL_EINVAL. */
PAWL_MUST_CHECK int pawl__locator_switch(struct pawl_locator *locator, const char *name, bool usual,
                                         bool *out, struct pawl_error *err);
/* PAWL_EINVAL: there is an option that was not asked for. `known` lists those that are. */
PAWL_MUST_CHECK int pawl__locator_finish(const struct pawl_locator *locator, const char *known,
                                         struct pawl_error *err);

#endif
