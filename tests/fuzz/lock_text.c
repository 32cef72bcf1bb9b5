/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes in a lock file are refused or read; what is read is written and read back. */
#include "base/assert.h"
#include "locks/file_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_lock_text text, again;
    char bytes[PAWL_LOCK_TEXT_SIZE];

    if (pawl__lock_text_parse(pawl__str_make((const char *)data, size), &text) != PAWL_OK)
        return 0;
    if (text.owner[0] == '\0')
        return 0; /* an empty file */
    pawl__lock_text_write(&text, bytes);
    PAWL_ASSERT(pawl__lock_text_parse(pawl__str_make(bytes, sizeof bytes), &again) == PAWL_OK);
    PAWL_ASSERT(again.token == text.token && again.since_us == text.since_us);
    PAWL_ASSERT(strcmp(again.owner, text.owner) == 0);
    return 0;
}
