/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is refused or read; what is read is written and read back; the readers agree. */
#include "base/time/duration.h"
#include "base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_written(int64_t ticks)
{
    char text[PAWL_DURATION_TEXT_SIZE];
    size_t length = pawl__duration_format(ticks, text);
    int64_t again = 0;

    PAWL_ASSERT(length < sizeof text && text[length] == '\0');
    PAWL_ASSERT(pawl__duration_parse_constant(pawl__str(text), &again, NULL) == PAWL_OK);
    PAWL_ASSERT(again == ticks);
    PAWL_ASSERT(pawl__duration_parse(pawl__str(text), &again, NULL) == PAWL_OK);
    PAWL_ASSERT(again == ticks);
    length = pawl__duration_format_human(ticks, text);
    PAWL_ASSERT(length < sizeof text && text[length] == '\0');
    /* Rounding up the largest values may pass the range. */
    if (ticks < INT64_MAX - PAWL_TICKS_PER_DAY && ticks > INT64_MIN + PAWL_TICKS_PER_DAY)
        PAWL_ASSERT(pawl__duration_parse_human(pawl__str(text), &again, NULL) == PAWL_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pawl_str text = pawl__str_make((const char *)data, size);
    struct pawl_error err = PAWL_ERROR_INIT;
    int64_t lenient = 0, constant = 0, human = 0;
    int status = pawl__duration_parse(text, &lenient, &err);

    PAWL_ASSERT(status == PAWL_OK || (err.code == status && err.msg[0] != '\0'));
    if (status == PAWL_OK)
        check_written(lenient);
    if (pawl__duration_parse_constant(text, &constant, NULL) == PAWL_OK)
        PAWL_ASSERT(status == PAWL_OK && constant == lenient);
    if (pawl__duration_parse_human(text, &human, NULL) == PAWL_OK)
        check_written(human);
    return 0;
}
