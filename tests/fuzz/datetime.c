/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is either refused with a message or read as a value that is written and read back. */
#include "base/time/datetime.h"
#include "base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_str text = pawl__str_make((const char *)data, size);
    struct pawl_error err = PAWL_ERROR_INIT;
    struct pawl_datetime value, again;
    char written[PAWL_DATETIME_TEXT_SIZE];
    size_t length;

    if (pawl__datetime_parse(text, &value, &err) != PAWL_OK) {
        PAWL_ASSERT(err.code == PAWL_EPARSE && err.msg[0] != '\0');
        return 0;
    }
    length = pawl__datetime_format(value, written);
    PAWL_ASSERT(pawl__datetime_parse(pawl__str_make(written, length), &again, NULL) == PAWL_OK);
    PAWL_ASSERT(again.ticks == value.ticks && again.kind == value.kind);
    PAWL_ASSERT(again.offset_minutes == value.offset_minutes);
    PAWL_ASSERT(pawl__datetime_compare(value, again) == 0);
    length = pawl__datetime_format_fixed(value, written);
    PAWL_ASSERT(pawl__datetime_parse(pawl__str_make(written, length), &again, NULL) == PAWL_OK);
    PAWL_ASSERT(again.ticks == value.ticks);
    if (pawl__datetime_to_offset(value, -300, &again, NULL) == PAWL_OK)
        PAWL_ASSERT(pawl__datetime_difference(value, again) == 0);
    return 0;
}
