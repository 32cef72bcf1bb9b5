/* SPDX-License-Identifier: Apache-2.0 */
/* The line in a lock file; see file_text.h. */
#include "locks/file_text.h"

#include "base/assert.h"

#include <inttypes.h>
#include <stdio.h>

/* The next word; *pos moves behind the blank that ends it. */
static struct pawl_str word(struct pawl_str bytes, size_t *pos)
{
    size_t end = pawl__str_find(bytes, ' ', *pos);
    struct pawl_str found = pawl__str_slice(bytes, *pos, end);

    *pos = end < bytes.len ? end + 1 : bytes.len;
    return found;
}

static bool number(struct pawl_str digits, uint64_t most, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < digits.len; i++) {
        unsigned digit = (unsigned)(digits.ptr[i] - '0');

        if (digit > 9 || *out > (most - digit) / 10)
            return false;
        *out = *out * 10 + digit;
    }
    return digits.len > 0;
}

int pawl__lock_text_parse(struct pawl_str bytes, struct pawl_lock_text *out)
{
    struct pawl_lock_text text = {.token = 0};
    struct pawl_str owner;
    uint64_t since;
    size_t pos = 0;

    if (bytes.len == 0) {
        *out = text;
        return PAWL_OK;
    }
    bytes = pawl__str_slice(bytes, 0, pawl__str_find(bytes, '\n', 0));
    if (!pawl__str_is(word(bytes, &pos), "pawl-lock") || !pawl__str_is(word(bytes, &pos), "1") ||
        !number(word(bytes, &pos), UINT64_MAX, &text.token))
        return PAWL_ECORRUPT;
    owner = word(bytes, &pos);
    if (owner.len == 0 || owner.len >= sizeof text.owner ||
        pawl__str_find(owner, '\0', 0) != SIZE_MAX || !number(word(bytes, &pos), INT64_MAX, &since))
        return PAWL_ECORRUPT;
    memcpy(text.owner, owner.ptr, owner.len);
    text.since_us = (int64_t)since;
    *out = text;
    return PAWL_OK;
}

void pawl__lock_text_write(const struct pawl_lock_text *text, char out[PAWL_LOCK_TEXT_SIZE])
{
    int len = snprintf(out, PAWL_LOCK_TEXT_SIZE, "pawl-lock 1 %020" PRIu64 " %s %" PRId64 "\n",
                       text->token, text->owner, text->since_us);

    PAWL_ASSERT(len > 0 && len < PAWL_LOCK_TEXT_SIZE);
    memset(out + len, ' ', PAWL_LOCK_TEXT_SIZE - (size_t)len);
}
