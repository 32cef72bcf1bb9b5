/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of a lock file once a token was issued: one line,
 *
 *     pawl-lock 1 00000000000000000042 HOST_PID_… 1763286715000000
 *
 * the last token, who got it, and when (microseconds since 1970). Blanks follow up to a constant
 * length: a file whose length does not change is synced much faster. An empty file is what others,
 * and we without tokens, leave.
 */
#ifndef PAWL_LOCKS_FILE_TEXT_H
#define PAWL_LOCKS_FILE_TEXT_H

#include "base/str.h"

#include <pawl/ext/lock.h>

#define PAWL_LOCK_TEXT_SIZE 256

struct pawl_lock_text {
    uint64_t token; /* 0: none yet */
    char owner[PAWL_LOCK_OWNER_SIZE];
    int64_t since_us;
};

/* The empty text is one without a token. PAWL_ECORRUPT: it is something else. */
PAWL_MUST_CHECK int pawl__lock_text_parse(struct pawl_str bytes, struct pawl_lock_text *out);
/* All of `out`, without a NUL. */
void pawl__lock_text_write(const struct pawl_lock_text *text, char out[PAWL_LOCK_TEXT_SIZE]);

#endif
